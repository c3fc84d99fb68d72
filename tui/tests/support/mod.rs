//! A fleet in a known state, and hubs that are not there.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use fate_trail::live::{
    ClientEvent, Counts, Gate, Heartbeat, Hello, HubState, LineBuffer, MANIFEST_SCHEMA, MAX_LINE, Manifest,
    PROTOCOL, Running, ServerSession, VERSION, Version,
};
use fate_tui::{App, Found, Io, Message, Report, Theme, update};

/// One second, µs.
pub(crate) const S: u64 = 1_000_000;

/// 2026-11-30T12:04:31Z, µs.
pub(crate) const WALL: i64 = 1_796_040_271_000_000;

pub(crate) fn hello(boot: &str) -> Hello {
    Hello {
        protocol: PROTOCOL.into(),
        version: VERSION.to_string(),
        boot: boot.into(),
        product: "fate-hub 0.1.0".into(),
        name: "demo".into(),
        pid: 4711,
        started: "2026-11-30T12:00:00.000000Z".into(),
        ..Hello::default()
    }
}

fn turn(kind: &str, delivery: &str, age: u64) -> Option<Running> {
    Some(Running {
        delivery: delivery.into(),
        type_name: kind.into(),
        age_us: age,
        last_stage: "HANDLER_ENTER".into(),
    })
}

/// A hub that hangs, one with a delivery in neither queue, a closed gate, a busy and an idle one.
pub(crate) fn fleet() -> Vec<HubState> {
    let gate = |name: &str, closed_us, holding| Gate {
        name: name.into(),
        closed: closed_us > 0,
        closed_us,
        holding,
        never_opened: Some(closed_us > 50 * S),
    };
    vec![
        HubState {
            hub: "orders/7".into(),
            main: 318,
            main_oldest_us: Some(41 * S),
            deferred: 12,
            deferred_oldest_us: Some(40 * S),
            running: turn("Initialize", "d-19f3", 41 * S),
            gates: vec![gate("init", 62 * S, 12), gate("stock", 0, 0)],
            turns: 88_123,
            posted: 88_454,
            ..HubState::default()
        },
        HubState {
            hub: "archive".into(),
            main: 2,
            main_oldest_us: Some(S),
            running: turn("Document", "archive#67", 2 * S),
            between: 1,
            between_us: Some(2 * S),
            turns: 12,
            ..HubState::default()
        },
        HubState {
            hub: "catalog".into(),
            deferred: 57,
            deferred_oldest_us: Some(22 * S),
            gates: vec![gate("stock", 22 * S, 57)],
            turns: 900,
            requeues: 3,
            ..HubState::default()
        },
        HubState {
            hub: "billing".into(),
            main: 1,
            main_oldest_us: Some(3000),
            running: turn("Invoice", "billing#80", 3000),
            turns: 2_104_412,
            ..HubState::default()
        },
        HubState { hub: "a-hub-with-a-name-that-is-far-too-long/日本語/42".into(), ..HubState::default() },
    ]
}

/// A program that is attached to one process with that fleet.
pub(crate) fn attached(theme: Theme) -> App {
    let mut app = App::new(100 * S, WALL, theme, "/run/user/1000/fate-trail".into());
    let found = Found { name: "demo".into(), pid: 4711, ..Found::default() };
    update(&mut app, Message::Found(vec![found], None));
    let events = vec![
        ClientEvent::Attached(Box::new(hello("5f0c2a9e41d7b386")), Version { major: 1, minor: 0 }),
        ClientEvent::Snapshot(fleet()),
        ClientEvent::Heartbeat(Heartbeat { wall_us: WALL as u64, ..Heartbeat::default() }),
    ];
    update(&mut app, Message::Report(0, Report::Events(events, Counts::default())));
    app
}

/// A terminal of 24 lines and 80 columns that only looks.
pub(crate) fn emulator() -> vt100::Parser {
    vt100::Parser::new(cells(24), cells(80), 0)
}

/// A number of lines or columns.
pub(crate) fn cells(n: u16) -> std::num::NonZero<u16> {
    std::num::NonZero::new(n).unwrap()
}

/// What a run wrote.
#[derive(Clone, Default)]
pub(crate) struct Sink(Arc<Mutex<Vec<u8>>>);

impl Sink {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs the program without a terminal: exit code, output, complaints.
pub(crate) fn run(args: &[&str]) -> (u8, String, String) {
    let (out, err) = (Sink::default(), Sink::default());
    let mut io = Io { out: Box::new(out.clone()), err: Box::new(err.clone()), interactive: false };
    let args = std::iter::once("fate-tui").chain(args.iter().copied());
    let code = fate_tui::run(args.map(Into::into), &mut io);
    (code, out.text(), err.text())
}

/// A folder that only we may enter.
pub(crate) fn private() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o700)).unwrap();
    dir
}

/// A socket with its manifest in `folder`.
pub(crate) fn listen(folder: &Path, name: &str) -> (UnixListener, PathBuf) {
    let socket = folder.join(format!("4711-{name}.sock"));
    let manifest =
        Manifest { schema: MANIFEST_SCHEMA.into(), name: name.into(), pid: 4711, ..Manifest::default() };
    let text = serde_json::to_string(&manifest).unwrap();
    std::fs::write(socket.with_extension("json"), text).unwrap();
    (UnixListener::bind(&socket).unwrap(), socket)
}

/// A process that greets every client with `hello` and shows it `states`. It serves until the test
/// ends.
pub(crate) fn serve(folder: &Path, name: &str, hello: Hello, states: Vec<HubState>) -> PathBuf {
    let (listener, socket) = listen(folder, name);
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut session = ServerSession::new(&hello);
            let mut lines = LineBuffer::new(MAX_LINE);
            let mut bytes = [0; 4096];
            loop {
                if session.wants_picture() {
                    session.picture(1, 0, &states);
                }
                let gone = std::iter::from_fn(|| session.next_line())
                    .any(|l| stream.write_all(l.as_bytes()).is_err());
                match stream.read(&mut bytes) {
                    Ok(count @ 1..) if !gone && !session.is_over() => {
                        let mut pieces = Vec::new();
                        lines.feed(&bytes[..count], &mut pieces);
                        pieces.iter().for_each(|piece| session.piece(piece));
                    }
                    _ => break,
                }
            }
        }
    });
    socket
}
