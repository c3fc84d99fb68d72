//! The program on a real pseudo-terminal, watched by an emulator: every way out gives the terminal
//! back.

mod support;

use std::fs::File;
use std::io::Read;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

/// Upper bound of every wait; none takes that long unless it fails.
const LIMIT: Duration = Duration::from_secs(30);

struct Session {
    child: Child,
    terminal: File,
    /// Held open so that the modes of the terminal can be read after the program has gone.
    other_end: File,
    output: Receiver<Vec<u8>>,
    emulator: vt100::Parser,
    _folder: tempfile::TempDir,
}

impl Session {
    /// Starts `top` on a fleet and waits until the fleet is on the screen.
    fn start() -> Self {
        let folder = support::private();
        support::serve(folder.path(), "demo", support::hello("b1"), support::fleet());
        let main = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&main).unwrap();
        unlockpt(&main).unwrap();
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&main, size).unwrap();
        let name = ptsname(&main, Vec::new()).unwrap();
        let other_end = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let end = || other_end.try_clone().unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_fate-tui"))
            .args(["top", "--dir"])
            .arg(folder.path())
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();
        let terminal = File::from(main);
        let (send, output) = channel();
        let mut reader = terminal.try_clone().unwrap();
        std::thread::spawn(move || {
            let mut bytes = [0; 65536];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if send.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let emulator = support::emulator();
        let mut session = Session { child, terminal, other_end, output, emulator, _folder: folder };
        session.until("the fleet", |screen| screen.contents().contains("orders/7"));
        assert!(session.emulator.screen().alternate_screen());
        assert!(session.emulator.screen().hide_cursor());
        session
    }

    fn until(&mut self, what: &str, seen: impl Fn(&vt100::Screen) -> bool) {
        while !seen(self.emulator.screen()) {
            let Ok(bytes) = self.output.recv_timeout(LIMIT) else {
                panic!("{what} did not appear on\n{}", self.emulator.screen().contents())
            };
            self.emulator.process(&bytes);
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until the program stands still. To continue it before would be lost on it: the stop
    /// that was still to come would then be for good.
    fn stands_still(&self) {
        let status = waitpid(Some(Pid::from_child(&self.child)), WaitOptions::UNTRACED).unwrap();
        assert!(status.is_some_and(|(_, status)| status.stopped()), "{status:?}");
    }

    /// The program has ended: the screen is the shell's again, and so are echo and line editing.
    fn ends_restored(mut self) -> Option<i32> {
        self.until("the main screen", |screen| !screen.alternate_screen() && !screen.hide_cursor());
        let code = self.child.wait().unwrap().code();
        let modes = tcgetattr(&self.other_end).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG));
        assert!(!self.emulator.screen().contents().contains("orders/7"), "nothing is left behind");
        code
    }
}

#[test]
fn signals_give_the_terminal_back() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let session = Session::start();
        session.signal(signal);
        assert_eq!(session.ends_restored(), Some(0), "{signal:?}");
    }
}

#[test]
fn a_stop_from_outside_gives_the_terminal_back_until_the_program_goes_on() {
    let mut session = Session::start();
    session.signal(Signal::TSTP);
    session.until("the main screen", |screen| !screen.alternate_screen() && !screen.hide_cursor());
    session.stands_still();
    session.signal(Signal::CONT);
    session.until("the fleet again", |screen| {
        screen.alternate_screen() && screen.contents().contains("orders/7")
    });
    session.signal(Signal::TERM);
    assert_eq!(session.ends_restored(), Some(0));
}

#[test]
fn a_stop_that_no_program_can_see_leaves_nothing_broken_once_it_goes_on() {
    let mut session = Session::start();
    session.signal(Signal::STOP);
    session.stands_still();
    // What a shell does to a terminal that a stopped program has left to it.
    let mut modes = tcgetattr(&session.other_end).unwrap();
    modes.local_modes |= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
    tcsetattr(&session.other_end, OptionalActions::Now, &modes).unwrap();
    session.emulator.process(b"\x1b[2J\x1b[?25h$ ");
    session.signal(Signal::CONT);
    session.until("the fleet again", |screen| screen.hide_cursor() && screen.contents().contains("orders/7"));
    let modes = tcgetattr(&session.other_end).unwrap().local_modes;
    assert!(!modes.intersects(LocalModes::ECHO | LocalModes::ICANON), "keys come one by one again");
    session.signal(Signal::TERM);
    assert_eq!(session.ends_restored(), Some(0));
}

#[test]
fn keys_are_heard_and_q_leaves() {
    use std::io::Write;
    let mut session = Session::start();
    session.terminal.write_all(b"?").unwrap();
    session.until("the help", |screen| screen.contents().contains("show or hide these keys"));
    session.terminal.write_all(b"?/bill").unwrap();
    session.until("the filter", |screen| {
        screen.contents().contains("filter: bill") && !screen.contents().contains("orders/7")
    });
    session.terminal.write_all(b"\x1b").unwrap();
    session.until("all hubs", |screen| screen.contents().contains("orders/7"));
    session.terminal.write_all(b"q").unwrap();
    assert_eq!(session.ends_restored(), Some(0));
}

#[test]
fn a_resize_is_followed() {
    let mut session = Session::start();
    let size = Winsize { ws_row: 10, ws_col: 40, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&session.terminal, size).unwrap();
    session.emulator.screen_mut().set_size(support::cells(10), support::cells(40));
    // Without a controlling terminal the kernel sends no signal, so the test does.
    session.signal(Signal::WINCH);
    session.until("the narrow table", |screen| {
        let text = screen.contents();
        text.contains("DEF") && !text.contains("OLDEST")
    });
    session.signal(Signal::TERM);
    assert_eq!(session.ends_restored(), Some(0));
}

#[test]
fn the_sequences_are_each_other_s_inverse() {
    let mut emulator = support::emulator();
    emulator.process(b"$ fate-tui top\r\n");
    emulator.process(fate_tui::ENTER.as_bytes());
    assert!(emulator.screen().alternate_screen() && emulator.screen().hide_cursor());
    // In the middle of a frame, with attributes set.
    emulator.process(b"\x1b[?2026h\x1b[7;1;31mX orders/7");
    emulator.process(fate_tui::LEAVE.as_bytes());
    let screen = emulator.screen();
    assert!(!screen.alternate_screen() && !screen.hide_cursor());
    assert_eq!(screen.contents(), "$ fate-tui top");
    assert!(!screen.inverse() && !screen.bold());
    assert_eq!(screen.fgcolor(), vt100::Color::Default);
}
