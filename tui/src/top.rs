//! `fate-tui top`: threads that wait for keys, signals, processes and states, and the one loop that
//! updates and draws. The loop never waits for anything but its own channel.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use crossterm::event::Event;
use fate_trail::clock::{Clock, SystemClock};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};

use crate::app::{App, Effect, Message, update};
use crate::source::{Where, find, keep_attached, wanted};
use crate::terminal::{self, PanicGuard, ScreenWriter};
use crate::theme::{ColorChoice, Theme};
use crate::{Exit, Io, view};

/// Messages that wait for the loop; whoever sends more has to wait, down to the hubs.
const QUEUE: usize = 1024;

/// Messages taken before the screen is drawn at the latest.
const BATCH: usize = 512;

/// Ages on the screen advance this often.
const TICK: Duration = Duration::from_millis(250);

/// Shortest time between two drawings that nobody pressed a key for.
const DRAW_EVERY: Duration = Duration::from_millis(100);

/// A slow terminal gets a rest of so many times what the last drawing took.
const REST: u32 = 4;

/// New processes are looked for this often.
const LOOK_EVERY: Duration = Duration::from_secs(1);

type Screen = Terminal<CrosstermBackend<ScreenWriter>>;

/// Watches until the user has had enough.
pub(crate) fn run(place: &Where, color: ColorChoice, io: &mut Io) -> Exit {
    if let Err(why) = find(place) {
        let _ = writeln!(io.err, "fate-tui: {why}");
        return Exit::CannotAttach;
    }
    let theme = Theme::choose(color, |name| std::env::var(name).ok());
    // The terminal library keeps a second opinion on NO_COLOR; ours has taken everything into
    // account already.
    crossterm::style::force_color_output(theme.color);
    let (send, receive) = mpsc::sync_channel(QUEUE);
    let stop = Arc::new(AtomicBool::new(false));
    let guard = {
        let (send, stop) = (send.clone(), Arc::clone(&stop));
        PanicGuard::install(move || {
            stop.store(true, Ordering::SeqCst);
            // The loop looks at the flag as well, should the queue be full.
            let _ = send.try_send(Message::Stop);
        })
    };
    let result = watch_signals(&send, &stop)
        .and_then(|()| terminal::enter())
        .and_then(|()| Watch::new(place, theme, send, stop)?.run(&receive));
    drop(guard);
    match result {
        _ if PanicGuard::panicked() => Exit::Crash,
        Ok(()) => Exit::Ok,
        Err(error) => {
            let _ = writeln!(io.err, "fate-tui: the terminal failed: {error}");
            Exit::CannotAttach
        }
    }
}

/// TERM, INT and HUP end the loop; a second one ends the process even if the loop hangs. TSTP, when it
/// is not the key but a signal from outside, must give the terminal back as well.
fn watch_signals(send: &SyncSender<Message>, stop: &Arc<AtomicBool>) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGCONT])?;
    let (send, stop) = (send.clone(), Arc::clone(stop));
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if let SIGTSTP | SIGCONT = signal {
                let message = if signal == SIGTSTP { Message::Suspend } else { Message::Continue };
                let _ = send.try_send(message);
                continue;
            }
            if stop.swap(true, Ordering::SeqCst) {
                terminal::leave_without_waiting();
                std::process::exit(128 + signal);
            }
            let _ = send.try_send(Message::Stop);
        }
    });
    Ok(())
}

/// The loop and what it needs.
struct Watch {
    app: App,
    screen: Screen,
    clock: SystemClock,
    send: SyncSender<Message>,
    stop: Arc<AtomicBool>,
    globs: Vec<String>,
    next_draw: Instant,
}

impl Watch {
    fn new(
        place: &Where,
        theme: Theme,
        send: SyncSender<Message>,
        stop: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        let clock = SystemClock::new();
        let folder = place.folder().display().to_string();
        let app = App::new(clock.now_micros(), clock.wall_micros(), theme, folder);
        let screen = Terminal::new(CrosstermBackend::new(ScreenWriter::default()))?;
        read_keys(send.clone());
        look_for_processes(place.clone(), send.clone());
        let (globs, next_draw) = (place.globs.clone(), Instant::now());
        Ok(Watch { app, screen, clock, send, stop, globs, next_draw })
    }

    fn run(&mut self, receive: &Receiver<Message>) -> io::Result<()> {
        let mut next_tick = Instant::now();
        loop {
            if self.stop.load(Ordering::SeqCst) {
                return Ok(());
            }
            let until = if self.app.dirty { self.next_draw.min(next_tick) } else { next_tick };
            let wait = until.saturating_duration_since(Instant::now());
            match receive.recv_timeout(wait) {
                Ok(first) => {
                    let (now, wall) = (self.clock.now_micros(), self.clock.wall_micros());
                    self.app.world.tick(now, wall);
                    let rest = std::iter::from_fn(|| receive.try_recv().ok()).take(BATCH);
                    let batch: Vec<Message> = std::iter::once(first).chain(rest).collect();
                    for message in batch {
                        if self.handle(message)? {
                            return Ok(());
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if Instant::now() >= next_tick {
                next_tick = Instant::now() + TICK;
                self.handle(Message::Tick(self.clock.now_micros(), self.clock.wall_micros()))?;
            }
            if self.app.dirty && Instant::now() >= self.next_draw {
                self.draw()?;
            }
        }
    }

    /// True if the program ends.
    fn handle(&mut self, message: Message) -> io::Result<bool> {
        let pressed = matches!(message, Message::Key(_) | Message::Resize);
        let was_dirty = self.app.dirty;
        for effect in update(&mut self.app, message) {
            match effect {
                Effect::Quit => return Ok(true),
                Effect::Attach(id) => self.attach(id),
                Effect::Redraw => self.redraw()?,
                Effect::Suspend => self.suspend()?,
                Effect::Retake => self.retake()?,
            }
        }
        self.app.dirty |= was_dirty;
        if pressed {
            self.next_draw = Instant::now();
        }
        Ok(false)
    }

    fn draw(&mut self) -> io::Result<()> {
        let started = Instant::now();
        let app = &mut self.app;
        self.screen.draw(|frame| view::draw(app, frame))?;
        self.app.dirty = false;
        let rest = started.elapsed() * REST;
        self.next_draw = Instant::now() + DRAW_EVERY.max(rest);
        Ok(())
    }

    /// Clears the screen and draws all of it, without asking the terminal where its cursor is: one
    /// that does not answer would hold us up for seconds.
    fn redraw(&mut self) -> io::Result<()> {
        let size = self.screen.size()?;
        self.screen.resize(Rect::new(0, 0, size.width, size.height))?;
        self.app.dirty = true;
        Ok(())
    }

    fn suspend(&mut self) -> io::Result<()> {
        terminal::leave();
        signal_hook::low_level::emulate_default_handler(SIGTSTP)?;
        self.retake()
    }

    /// After a stop that nobody could prepare for, the shell has left modes of its own.
    fn retake(&mut self) -> io::Result<()> {
        terminal::leave();
        terminal::enter()?;
        self.redraw()
    }

    fn attach(&self, id: usize) {
        let Some(target) = self.app.world.targets.get(id) else { return };
        let (found, send) = (target.found.clone(), self.send.clone());
        let wanted = wanted(&found, &self.globs);
        std::thread::spawn(move || {
            keep_attached(&found, &wanted, |report| send.send(Message::Report(id, report)).is_ok());
        });
    }
}

/// Keys and resizes, one thread that only waits. It ends with the process.
fn read_keys(send: SyncSender<Message>) {
    std::thread::spawn(move || {
        loop {
            let message = match crossterm::event::read() {
                Ok(Event::Key(key)) => Message::Key(key),
                Ok(Event::Resize(..)) => Message::Resize,
                Ok(_) => continue,
                Err(_) => Message::Stop,
            };
            let last = matches!(message, Message::Stop);
            if send.send(message).is_err() || last {
                return;
            }
        }
    });
}

/// Looks into the folder again and again, so that a process that starts later is seen as well.
fn look_for_processes(place: Where, send: SyncSender<Message>) {
    std::thread::spawn(move || {
        loop {
            let message = match find(&place) {
                Ok((found, complaints)) => Message::Found(found, complaints.into_iter().next()),
                Err(trouble) => Message::Found(Vec::new(), Some(trouble)),
            };
            if send.send(message).is_err() {
                return;
            }
            std::thread::sleep(LOOK_EVERY);
        }
    });
}
