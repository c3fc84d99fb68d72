//! One thread per hub process: connect, walk through the session, report, come back after a loss.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fate_trail::live::{ByeReason, ClientEvent, ClientSession, Counts, LineBuffer, MAX_LINE, Wanted};

use super::backoff::Backoff;
use super::{Found, Report};

/// A write to a hub that takes longer than this ends the connection.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// A hub that says nothing at all for this long is given up and attached anew; it is shown as
/// stale long before.
const SILENCE: Duration = Duration::from_secs(10);

/// Bytes per read.
const READ: usize = 64 * 1024;

/// Ends a session from another thread: what [`attach_once`] waits for comes to an end.
#[derive(Debug, Default)]
pub(crate) struct Leash(Mutex<(bool, Option<UnixStream>)>);

impl Leash {
    /// Ends the session, also one that has not begun.
    pub(crate) fn cut(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = true;
        if let Some(stream) = state.1.take() {
            // One that is closed already is as good.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// False if it has been cut.
    fn hold(&self, stream: &UnixStream) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.1 = stream.try_clone().ok();
        !state.0
    }
}

/// How a session ended.
enum End {
    /// Try again.
    Lost(String),
    /// Trying again cannot help.
    Final(String),
    /// The socket is not there (any more).
    Ended(String),
    /// The socket is there and nobody listens: its process was killed.
    Dead(String),
    /// Nobody listens to the reports any more, or enough was seen.
    Done,
}

/// Stays attached to `found` until `report` returns false or the process cannot be talked to. Blocks;
/// run it on a thread of its own.
pub(crate) fn keep_attached(found: &Found, wanted: &Wanted, mut report: impl FnMut(Report) -> bool) {
    let mut backoff = Backoff::new();
    // Nobody cuts this one: it is held until the program ends.
    let leash = Leash::default();
    loop {
        let mut attached = false;
        let mut forward = |events: Vec<ClientEvent>, counts: Counts| {
            attached |= events.iter().any(|e| matches!(e, ClientEvent::Attached(..)));
            report(Report::Events(events, counts))
        };
        let end = session(&found.socket, wanted.clone(), SILENCE, &leash, &mut forward);
        if attached {
            backoff.reset();
        }
        let go_on = match end {
            End::Lost(why) | End::Dead(why) => report(Report::Down(why)),
            End::Final(why) => {
                report(Report::GivenUp(why));
                false
            }
            // A socket that was named on the command line may come back; one that was found has
            // its process id in its name and will not.
            End::Ended(why) if found.pid == 0 => report(Report::Down(why)),
            End::Ended(why) => {
                report(Report::Ended(why));
                false
            }
            End::Done => false,
        };
        if !go_on {
            return;
        }
        std::thread::sleep(backoff.next());
    }
}

/// Attaches once and hands every event over until `report` returns false, the session ends or
/// nothing arrives for `patience`.
///
/// # Errors
/// Why the session ended before `report` had enough: [`Report::Ended`] if there is no process any
/// more, [`Report::Down`] if there is one that cannot be looked at.
pub(crate) fn attach_once(
    found: &Found,
    wanted: Wanted,
    patience: Duration,
    leash: &Leash,
    mut report: impl FnMut(Vec<ClientEvent>, Counts) -> bool,
) -> Result<(), Report> {
    match session(&found.socket, wanted, patience, leash, &mut report) {
        End::Done => Ok(()),
        End::Lost(why) | End::Final(why) => Err(Report::Down(why)),
        End::Ended(why) | End::Dead(why) => Err(Report::Ended(why)),
    }
}

fn session(
    socket: &Path,
    wanted: Wanted,
    silence: Duration,
    leash: &Leash,
    report: &mut dyn FnMut(Vec<ClientEvent>, Counts) -> bool,
) -> End {
    let mut stream = match connect(socket, silence) {
        Ok(stream) => stream,
        Err(_) if !socket.exists() => return End::Ended("the process has ended".to_owned()),
        Err(end) => return end,
    };
    if !leash.hold(&stream) {
        return End::Done;
    }
    let mut session = ClientSession::new(wanted);
    // A hub that is full says why and closes before it has read anything; so what it said is read
    // first, and a connection that is really broken shows itself there as well.
    let _ = stream.write_all(session.opening().as_bytes());
    let mut lines = LineBuffer::new(MAX_LINE);
    let mut bytes = vec![0; READ];
    let mut heard = Instant::now();
    loop {
        let count = match stream.read(&mut bytes) {
            Ok(0) => return End::Lost("the process closed the connection".to_owned()),
            Ok(count) => count,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return End::Lost(format!("nothing heard for {} s", silence.as_secs()));
            }
            Err(error) => return End::Lost(error.to_string()),
        };
        let mut pieces = Vec::new();
        lines.feed(&bytes[..count], &mut pieces);
        let (mut events, mut send) = (Vec::new(), String::new());
        for piece in &pieces {
            let step = session.piece(piece);
            events.extend(step.events);
            step.send.iter().for_each(|line| send.push_str(line));
        }
        // A peer that trickles bytes without ever completing a line is as good as silent.
        if pieces.is_empty() && heard.elapsed() > silence {
            return End::Lost("a line that never ends".to_owned());
        }
        if !pieces.is_empty() {
            heard = Instant::now();
        }
        let end = session.is_over().then(|| events.last().map(ending)).flatten();
        if !events.is_empty() && !report(events, session.counts()) {
            return End::Done;
        }
        if let Some(end) = end {
            return end;
        }
        let _ = stream.write_all(send.as_bytes());
    }
}

fn ending(event: &ClientEvent) -> End {
    match event {
        ClientEvent::Refused(refusal) => End::Final(refusal.to_string()),
        ClientEvent::Bye(bye) if bye.reason == ByeReason::Version => End::Final(bye.text.clone()),
        ClientEvent::Bye(bye) => End::Lost(bye.text.clone()),
        ClientEvent::Broken(why) => End::Lost(why.clone()),
        _ => End::Lost("the session ended".to_owned()),
    }
}

fn connect(socket: &Path, silence: Duration) -> Result<UnixStream, End> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let place = |e: std::io::Error| match e.kind() {
        ErrorKind::ConnectionRefused => End::Dead("the process is gone (nobody listens)".to_owned()),
        _ => End::Lost(e.to_string()),
    };
    let meta = std::fs::symlink_metadata(socket).map_err(place)?;
    if !meta.file_type().is_socket() {
        return Err(End::Lost("not a socket".to_owned()));
    }
    let own = rustix::process::geteuid().as_raw();
    if meta.uid() != own {
        return Err(End::Lost(format!("the socket belongs to user {}, not to you ({own})", meta.uid())));
    }
    let stream = UnixStream::connect(socket).map_err(place)?;
    stream.set_read_timeout(Some(silence)).map_err(place)?;
    stream.set_write_timeout(Some(WRITE_TIMEOUT)).map_err(place)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use fate_trail::live::{Frame, Hello, PROTOCOL, VERSION, encode};

    use super::*;

    /// Takes one client, says hello as `boot` and goes away with its socket.
    fn live_once(socket: &Path, boot: &str) {
        let listener = UnixListener::bind(socket).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let hello = Hello {
            protocol: PROTOCOL.into(),
            version: VERSION.to_string(),
            boot: boot.into(),
            ..Hello::default()
        };
        stream.write_all(encode(&Frame::Hello(hello)).unwrap().as_bytes()).unwrap();
        drop(listener);
        std::fs::remove_file(socket).unwrap();
    }

    #[test]
    fn a_lost_process_is_attached_again_and_its_new_start_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("x.sock");
        let hub = {
            let socket = socket.clone();
            std::thread::spawn(move || ["b1", "b2"].iter().for_each(|boot| live_once(&socket, boot)))
        };
        let (mut boots, mut losses) = (Vec::new(), 0);
        keep_attached(&Found { socket, ..Found::default() }, &Wanted::default(), |report| {
            match report {
                Report::Events(events, _) => boots.extend(events.into_iter().filter_map(|e| match e {
                    ClientEvent::Attached(hello, _) => Some(hello.boot),
                    _ => None,
                })),
                Report::Down(_) => losses += 1,
                Report::GivenUp(why) | Report::Ended(why) => panic!("{why}"),
            }
            boots.len() < 2
        });
        assert_eq!(boots, ["b1", "b2"]);
        assert!(losses >= 1, "the loss is reported");
        hub.join().unwrap();
    }

    #[test]
    fn a_process_that_was_found_and_is_gone_has_ended() {
        let found = Found { pid: 7, socket: "/nonexistent/7-x.sock".into(), ..Found::default() };
        let mut reports = Vec::new();
        keep_attached(&found, &Wanted::default(), |report| {
            reports.push(report);
            true
        });
        assert!(matches!(reports[..], [Report::Ended(_)]), "{reports:?}");
    }
}
