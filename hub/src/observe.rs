//! What an observer may see of a hub: one consistent snapshot, and a list of the hubs alive.
//!
//! Taking a snapshot holds the turn lock for as long as it takes to copy a few numbers; it never
//! waits for a handler, a gate decision or another observer.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use fate_trail::Recorder;

/// Most hubs one [`Registry`] lists; further ones run as usual but are not listed.
pub const MAX_LISTED_HUBS: usize = 4096;

/// Where a hub stands in its life; it only ever moves down this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunLevel {
    /// At least one gate has been closed since the hub was made.
    Starting,
    /// No gate is closed, or the last closed one has been opened once.
    Started,
    /// Disposed: nothing is accepted and nothing that was queued will run.
    Dead,
}

impl RunLevel {
    /// The word shown to people and written into snapshots.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Started => "started",
            Self::Dead => "dead",
        }
    }
}

/// The turn that is running, or the delivery that has left the queue and has no handler yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// Id of the delivery, as in its trail.
    pub delivery: String,
    /// Type name of the message.
    pub kind: String,
    /// Time since the turn was taken from the queue.
    pub age: Duration,
    /// Token of the last stage that marked progress of this turn, such as `HANDLER_ENTER`.
    pub last_stage: &'static str,
}

/// One gate as an observer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateState {
    /// The name it was declared with.
    pub name: String,
    /// Whether it is closed now.
    pub closed: bool,
    /// How long it has been closed; zero while open.
    pub closed_for: Duration,
    /// Whether it has been closed ever since the hub was made.
    pub never_opened: bool,
    /// Parked deliveries that wait for this gate, among others perhaps; zero while open.
    pub holding: usize,
}

/// One hub at one instant; every number was read inside the same critical section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Name of the hub.
    pub hub: String,
    /// Turns waiting in the main queue.
    pub main: usize,
    /// Turns parked in the deferred queue until the last gate opens.
    pub deferred: usize,
    /// The turn that was taken last and has not ended.
    pub running: Option<Running>,
    /// Deliveries in neither queue and without a handler: 0 or 1, because one turn runs at a time.
    pub between: usize,
    /// Every declared gate, in the order of declaration.
    pub gates: Vec<GateState>,
    /// Deliveries whose turn has ended for good, whatever their fate.
    pub turns: u64,
    /// Turns that the arrival barrier has put back into the queue.
    pub requeues: u64,
    /// Age of the oldest delivery in the main queue, counted from its post.
    pub oldest_main: Option<Duration>,
    /// Age of the oldest delivery in the deferred queue, counted from its post.
    pub oldest_deferred: Option<Duration>,
    /// Deliveries accepted since the hub was made.
    pub posted: u64,
    /// Deliveries dropped because the parked backlog was full.
    pub dropped: u64,
    /// Where the hub stands in its life.
    pub run_level: RunLevel,
}

/// Something whose state can be looked at from outside: a hub.
pub trait Observe: Send + Sync {
    /// Name of the hub; does not change.
    fn name(&self) -> &str;
    /// The hub at this instant. Cheap, and never waits for user code.
    fn snapshot(&self) -> Snapshot;
    /// Where its trails go.
    fn recorder(&self) -> &Recorder;
}

/// The hubs of a process that an observer may list. Clones share the list.
///
/// It holds hubs weakly: being listed keeps no hub alive.
#[derive(Clone, Default)]
pub struct Registry {
    hubs: Arc<Mutex<Vec<Listed>>>,
}

/// A hub in the list.
struct Listed {
    hub: Weak<dyn Observe>,
    name: String,
    /// 1 for the first hub of its name, and never another while the hub is there: an observer tells
    /// hubs apart by it, so it must not pass from one to the next when one ends.
    number: u64,
}

impl Registry {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lists a hub; `false` if [`MAX_LISTED_HUBS`] are listed already.
    pub fn add(&self, hub: &Arc<dyn Observe>) -> bool {
        let mut hubs = self.hubs.lock().unwrap_or_else(PoisonError::into_inner);
        hubs.retain(|listed| listed.hub.strong_count() > 0);
        if hubs.len() >= MAX_LISTED_HUBS {
            return false;
        }
        let name = hub.name().to_owned();
        let number = hubs.iter().filter(|listed| listed.name == name).map(|listed| listed.number).max();
        hubs.push(Listed { hub: Arc::downgrade(hub), name, number: number.unwrap_or(0) + 1 });
        true
    }

    /// The hubs that are still there, in the order they were added.
    pub fn hubs(&self) -> Vec<Arc<dyn Observe>> {
        let hubs = self.hubs.lock().unwrap_or_else(PoisonError::into_inner);
        hubs.iter().filter_map(|listed| listed.hub.upgrade()).collect()
    }

    /// As [`Registry::hubs`], and which of the hubs of its name each one is.
    #[cfg(feature = "live")]
    pub(crate) fn numbered(&self) -> Vec<(Arc<dyn Observe>, u64)> {
        let hubs = self.hubs.lock().unwrap_or_else(PoisonError::into_inner);
        hubs.iter().filter_map(|listed| Some((listed.hub.upgrade()?, listed.number))).collect()
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("hubs", &self.hubs().len()).finish()
    }
}
