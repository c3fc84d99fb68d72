//! Looks at every hub process once, without a terminal: what `snapshot` and `hubs` stand on.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use fate_trail::clock::{Clock, SystemClock};
use fate_trail::live::{ByeReason, ClientEvent};

use crate::source::{Leash, Report, TargetId, Where, attach_once, find, wanted};
use crate::world::World;

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
}

/// Attaches to everything that `place` names, waits for the first picture of each and then observes
/// for `observe` more.
///
/// # Errors
/// The folder of the sockets cannot be trusted.
pub(crate) fn collect(place: &Where, observe: Duration) -> Result<Collected, String> {
    let clock = SystemClock::new();
    let (found, complaints) = find(place)?;
    let world = World::new(clock.now_micros(), clock.wall_micros());
    let mut seen = Collected { world, complaints, mismatch: false, attached: 0 };
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
            if let Err(why) = attach_once(&process, wanted, patience, &leash, forward) {
                // The collecting side may have seen enough already.
                let _ = send.send((id, Report::Down(why)));
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
            let seconds = PATIENCE.as_secs();
            seen.complaints.push(format!("{}: no picture within {seconds} s", target.label()));
        }
    }
    Ok(seen)
}

impl Collected {
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
                waiting.remove(&id);
                let label = self.world.targets.get(id).map(crate::Target::label);
                self.complaints.push(format!("{}: {why}", label.unwrap_or_default()));
            }
        }
        self.world.report(id, report);
    }
}
