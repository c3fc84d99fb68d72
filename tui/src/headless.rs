//! Looks at every hub process once, without a terminal: what `snapshot` and `hubs` stand on.

use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use fate_trail::clock::{Clock, SystemClock};
use fate_trail::live::{ByeReason, ClientEvent, MAX_NAME, glob_matches};
use fate_trail::scrub::scrub_to;

use crate::source::{Leash, Report, TargetId, Where, attach_once, find, wanted};
use crate::world::{Row, World};
use crate::{Exit, Io};

/// A process that shows no picture within this time cannot be attached.
const PATIENCE: Duration = Duration::from_secs(5);

/// Samples are taken at least this often while observing.
const STEP: Duration = Duration::from_millis(250);

/// Reports that wait for the collecting thread.
const QUEUE: usize = 1024;

/// What was seen.
#[derive(Debug)]
pub(crate) struct Collected {
    /// All hubs.
    pub world: World,
    /// What went wrong, one line each.
    pub complaints: Vec<String>,
    /// A process speaks another major version.
    pub mismatch: bool,
    /// Processes that showed a picture.
    pub attached: usize,
    /// Something that was asked for is there and did not show itself.
    pub missing: bool,
}

/// What [`collect`] saw, where at least one process could be attached. Complaints, and why there was
/// nobody, have been written to `io.err`.
///
/// # Errors
/// The exit code of a command that has nobody to ask.
pub(crate) fn attached(place: &Where, observe: Duration, io: &mut Io) -> Result<Collected, Exit> {
    let seen = match collect(place, observe) {
        Ok(seen) => seen,
        Err(why) => {
            let _ = writeln!(io.err, "fate-tui: {why}");
            return Err(Exit::CannotAttach);
        }
    };
    for complaint in &seen.complaints {
        let _ = writeln!(io.err, "fate-tui: {complaint}");
    }
    if seen.attached > 0 {
        return Ok(seen);
    }
    if seen.mismatch {
        return Err(Exit::Protocol);
    }
    let _ = writeln!(io.err, "fate-tui: {}", nobody(place, &seen));
    Err(Exit::CannotAttach)
}

/// Why there is nothing to show, and what to do.
fn nobody(place: &Where, seen: &Collected) -> String {
    let start = "start one that serves the live protocol, for example: cargo hub run";
    match seen.world.targets.len() {
        0 => format!("no hub process found in {}; {start}", place.folder().display()),
        n => format!("none of {n} hub processes could be attached; {start}"),
    }
}

/// Attaches to everything that `place` names, waits for the first picture of each and then observes
/// for `observe` more.
///
/// # Errors
/// The folder of the sockets cannot be trusted.
fn collect(place: &Where, observe: Duration) -> Result<Collected, String> {
    let clock = SystemClock::new();
    let (found, complaints) = find(place)?;
    let world = World::new(clock.now_micros(), clock.wall_micros());
    let mut seen = Collected { world, complaints, mismatch: false, attached: 0, missing: false };
    let (send, receive) = mpsc::sync_channel(QUEUE);
    let mut waiting: HashSet<TargetId> = HashSet::new();
    let mut leashes = Vec::new();
    for process in found {
        let wanted = wanted(&process, &place.globs);
        let (id, _) = seen.world.add(process.clone());
        waiting.insert(id);
        let send = send.clone();
        let leash = Arc::new(Leash::default());
        leashes.push(Arc::clone(&leash));
        std::thread::spawn(move || {
            let forward = |events, counts| send.send((id, Report::Events(events, counts))).is_ok();
            let patience = PATIENCE.max(observe);
            if let Err(report) = attach_once(&process, wanted, patience, &leash, forward) {
                // The collecting side may have seen enough already.
                let _ = send.send((id, report));
            }
        });
    }
    drop(send);

    let start = Instant::now();
    let mut until = start + PATIENCE;
    let mut complete = waiting.is_empty();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || (complete && observe.is_zero()) {
            break;
        }
        match receive.recv_timeout(left.min(STEP)) {
            Ok((id, report)) => {
                seen.world.tick(clock.now_micros(), clock.wall_micros());
                seen.take(id, report, &mut waiting);
            }
            Err(RecvTimeoutError::Timeout) => {
                seen.world.tick(clock.now_micros(), clock.wall_micros());
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if waiting.is_empty() && !complete {
            complete = true;
            until = Instant::now() + observe;
        }
    }
    leashes.iter().for_each(|leash| leash.cut());
    for id in waiting {
        if let Some(target) = seen.world.targets.get(id) {
            seen.missing = true;
            let seconds = PATIENCE.as_secs();
            seen.complaints.push(format!("{}: no picture within {seconds} s", target.label()));
        }
    }
    seen.note_unmatched(place);
    Ok(seen)
}

impl Collected {
    /// A name that matches nothing is an answer of its own: an alarm that watches a hub which is not
    /// there, or whose name was mistyped, must not stay silent.
    fn note_unmatched(&mut self, place: &Where) {
        if self.attached == 0 {
            return;
        }
        for glob in &place.globs {
            let matches = |id: TargetId, hub: &str| {
                let process = self.world.targets.get(id).map(|t| t.found.name.as_str());
                glob_matches(glob, hub) || process.is_some_and(|name| glob_matches(glob, name))
            };
            let live = |row: &Row| row.gone.is_none();
            if !self.world.rows.iter().any(|((id, hub), row)| live(row) && matches(*id, hub)) {
                self.missing = true;
                self.complaints.push(format!("no hub matches `{}`", scrub_to(glob, MAX_NAME)));
            }
        }
    }

    /// The code of a look that saw what it saw and wrote `printed`; rules come on top.
    pub(crate) fn exit(&self, printed: io::Result<()>, io: &mut Io) -> Exit {
        match printed {
            // A reader that closed the pipe (`| head`) has seen what it wanted.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let _ = writeln!(io.err, "fate-tui: the output could not be written: {error}");
                Exit::CannotAttach
            }
            _ if self.mismatch => Exit::Protocol,
            _ if self.missing => Exit::CannotAttach,
            _ => Exit::Ok,
        }
    }
    fn take(&mut self, id: TargetId, report: Report, waiting: &mut HashSet<TargetId>) {
        match &report {
            Report::Events(events, _) => {
                for event in events {
                    match event {
                        ClientEvent::Snapshot(_) if waiting.remove(&id) => self.attached += 1,
                        ClientEvent::Refused(_) => self.mismatch = true,
                        ClientEvent::Bye(bye) if bye.reason == ByeReason::Version => {
                            self.mismatch = true;
                        }
                        _ => {}
                    }
                }
            }
            Report::Down(why) | Report::GivenUp(why) | Report::Ended(why) => {
                // One that died and left its files behind hides nothing; one that lives and cannot be
                // looked at may hide anything.
                let unseen = waiting.remove(&id);
                self.missing |= unseen && !matches!(report, Report::Ended(_));
                let label = self.world.targets.get(id).map(crate::Target::label);
                self.complaints.push(format!("{}: {why}", label.unwrap_or_default()));
            }
        }
        self.world.report(id, report);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A full disk.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn output_that_is_lost_is_no_success_unless_the_reader_left() {
        let seen = Collected {
            world: World::new(0, 0),
            complaints: Vec::new(),
            mismatch: false,
            attached: 1,
            missing: false,
        };
        let mut io = Io { out: Box::new(Full), err: Box::new(io::sink()), interactive: false };
        let printed = writeln!(io.out, "{{}}");
        assert_eq!(seen.exit(printed, &mut io), Exit::CannotAttach);
        assert_eq!(seen.exit(Err(io::ErrorKind::BrokenPipe.into()), &mut io), Exit::Ok);
    }
}
