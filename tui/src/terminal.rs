//! The terminal: entered once, left on every way out, whoever takes it.
//!
//! Everything the program draws goes through one writer that checks, under a lock, whether the
//! screen is still ours. So a panic in any thread can give the terminal back at once, and a drawing
//! that was on its way can never paint over the shell afterwards.

use std::io::{self, Write};
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Enters the alternate screen and hides the cursor.
pub const ENTER: &str = "\x1b[?1049h\x1b[2J\x1b[?25l";

/// Ends a synchronized update, resets attributes, shows the cursor, leaves the alternate screen.
pub const LEAVE: &str = "\x1b[?2026l\x1b[0m\x1b[?25h\x1b[?1049l";

const BEGIN_UPDATE: &[u8] = b"\x1b[?2026h";
const END_UPDATE: &[u8] = b"\x1b[?2026l";

/// True while the screen is ours. Written only under [`SCREEN`].
static ACTIVE: AtomicBool = AtomicBool::new(false);

/// Whoever writes to the terminal holds this.
static SCREEN: Mutex<()> = Mutex::new(());

/// Set by the first panic of any thread.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// Takes the terminal.
///
/// # Errors
/// There is no terminal, or it went away.
pub(crate) fn enter() -> io::Result<()> {
    let _screen = SCREEN.lock().unwrap_or_else(PoisonError::into_inner);
    crossterm::terminal::enable_raw_mode()?;
    ACTIVE.store(true, Ordering::SeqCst);
    let mut out = io::stdout().lock();
    out.write_all(ENTER.as_bytes())?;
    out.flush()
}

/// Gives the terminal back; does nothing if it is not ours.
pub(crate) fn leave() {
    let _screen = SCREEN.lock().unwrap_or_else(PoisonError::into_inner);
    leave_now();
}

/// As [`leave`], without waiting for a drawing that hangs on a terminal nobody reads.
pub(crate) fn leave_without_waiting() {
    if let Ok(_screen) = SCREEN.try_lock() {
        leave_now();
    }
    let _ = crossterm::terminal::disable_raw_mode();
}

fn leave_now() {
    if ACTIVE.swap(false, Ordering::SeqCst) {
        let mut out = io::stdout().lock();
        // If the terminal is gone there is nobody to tell.
        let _ = out.write_all(LEAVE.as_bytes()).and_then(|()| out.flush());
        let _ = crossterm::terminal::disable_raw_mode();
    }
}

/// Collects a frame and writes it in one piece, as long as the screen is ours.
#[derive(Debug, Default)]
pub(crate) struct ScreenWriter {
    frame: Vec<u8>,
}

impl Write for ScreenWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.frame.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _screen = SCREEN.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.frame.is_empty() && ACTIVE.load(Ordering::SeqCst) {
            let mut out = io::stdout().lock();
            out.write_all(BEGIN_UPDATE)?;
            out.write_all(&self.frame)?;
            out.write_all(END_UPDATE)?;
            out.flush()?;
        }
        self.frame.clear();
        Ok(())
    }
}

type Hook = Arc<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// Restores the terminal before a panic is reported, and puts the old hook back when dropped.
pub(crate) struct PanicGuard {
    previous: Hook,
}

impl PanicGuard {
    /// Installs the hook. `stop` is called after the report and has to end the program's loop: a
    /// panic elsewhere must not leave a loop that goes on drawing.
    pub(crate) fn install(stop: impl Fn() + Send + Sync + 'static) -> Self {
        PANICKED.store(false, Ordering::SeqCst);
        let previous: Hook = Arc::from(std::panic::take_hook());
        let report = Arc::clone(&previous);
        std::panic::set_hook(Box::new(move |info| {
            PANICKED.store(true, Ordering::SeqCst);
            leave();
            report(info);
            stop();
        }));
        PanicGuard { previous }
    }

    /// True if a thread has panicked since the hook was installed.
    pub(crate) fn panicked() -> bool {
        PANICKED.load(Ordering::SeqCst)
    }
}

impl Drop for PanicGuard {
    fn drop(&mut self) {
        leave();
        // The hook cannot be exchanged while this thread panics; the process ends anyway.
        if !std::thread::panicking() {
            let previous = Arc::clone(&self.previous);
            std::panic::set_hook(Box::new(move |info| previous(info)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_any_thread_stops_the_loop_and_the_old_hook_comes_back() {
        let stopped = Arc::new(AtomicBool::new(false));
        let guard = {
            let stopped = Arc::clone(&stopped);
            PanicGuard::install(move || stopped.store(true, Ordering::SeqCst))
        };
        assert!(!PanicGuard::panicked());
        assert!(std::thread::spawn(|| panic!("on purpose, by a test")).join().is_err());
        assert!(PanicGuard::panicked() && stopped.swap(false, Ordering::SeqCst));
        drop(guard);
        assert!(std::thread::spawn(|| panic!("on purpose, by a test")).join().is_err());
        assert!(!stopped.load(Ordering::SeqCst));
    }

    #[test]
    fn nothing_is_drawn_once_the_screen_is_given_back() {
        // Were the screen ours, the bytes would now be on the terminal of whoever runs the test.
        let mut writer = ScreenWriter::default();
        writer.write_all(b"\x1b[31mX").unwrap();
        assert!(!ACTIVE.load(Ordering::SeqCst));
        writer.flush().unwrap();
        assert!(writer.frame.is_empty(), "dropped, not kept for later");
    }
}
