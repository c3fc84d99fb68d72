//! What a recorder says about itself: its clock, its losses and how large it can get.

use std::fmt;

use super::Recorder;
use super::black_box::{BOXED_BYTES, BlackBoxStatus};
use super::hub_events::{HubEvent, LOST_BYTES};
use super::ring::RECORD_BYTES;
use super::store::StoreStatus;
use super::threads::RingStatus;
use crate::limits::{NAME_BYTES, NAMES, SUBSCRIBER_RECORDS, SUBSCRIBERS};
use crate::sync::Ordering;

/// Bytes that a table spends on a name beside its text: the text's counters, its place in the list
/// and in the hash table at its lowest load.
const NAME_OVERHEAD_BYTES: usize = 112;

/// Counts and bounds of a recorder at one moment. `Display` is one line for a person.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Status {
    /// Whether it is on.
    pub on: bool,
    /// Which clock it reads.
    pub clock: &'static str,
    /// Bytes that it can never exceed, whatever happens, apart from small change for threads.
    pub memory_bound: u64,
    /// Trails that have begun and not ended.
    pub in_flight: u64,
    /// Deliveries that got no trail because too many were on their way.
    pub untracked: u64,
    /// Stamps through a handle of another recorder.
    pub stale: u64,
    /// Names that were refused because the table was full; they show as `?`.
    pub names_refused: u64,
    /// Finished trails.
    pub finished: StoreStatus,
    /// Interesting trails.
    pub black_box: BlackBoxStatus,
    /// Hub-level stages.
    pub hub_events: StoreStatus,
    /// The threads' rings.
    pub rings: RingStatus,
}

impl Recorder {
    /// Counts and bounds at this moment.
    pub fn status(&self) -> Status {
        let inner = &*self.0;
        Status {
            on: self.is_on(),
            clock: inner.config.clock.kind(),
            memory_bound: self.memory_bound(),
            in_flight: inner.threads.open(),
            untracked: inner.untracked.load(Ordering::Relaxed),
            stale: inner.stale.load(Ordering::Relaxed),
            names_refused: inner.hubs.refused() + inner.symbols.refused(),
            finished: inner.finished.status(),
            black_box: inner.boxed.lock().status(inner.box_missed.load(Ordering::Relaxed)),
            hub_events: inner.hub_events.lock().status(),
            rings: inner.threads.status(),
        }
    }

    /// Slots × size + stores × size + threads × size + both tables of names + queues of subscribers of
    /// the default capacity.
    fn memory_bound(&self) -> u64 {
        let config = &self.0.config;
        let bytes = self.0.slab.bytes()
            + config.finished * size_of::<u64>()
            + config.boxed.saturating_add(1) * BOXED_BYTES
            + config.hub_entries * size_of::<HubEvent>()
            + LOST_BYTES
            + self.0.threads.bytes()
            + SUBSCRIBERS * SUBSCRIBER_RECORDS * RECORD_BYTES
            + 2 * NAMES * (NAME_BYTES + NAME_OVERHEAD_BYTES);
        bytes as u64
    }
}

impl Status {
    /// Everything that was not kept, summed; 0 says that the record is whole.
    pub fn lost(&self) -> u64 {
        self.untracked + self.finished.overwritten + self.hub_events.overwritten
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "recorder {} clock={} memory<={} MiB in_flight={} finished={} overwritten={} \
             untracked={} interesting={} boxed={} hub_stages={} hub_overwritten={} rings={} ring_lost={} ring_unattached={} \
             names_refused={} stale={}",
            if self.on { "on" } else { "off" },
            self.clock,
            self.memory_bound.div_ceil(1 << 20),
            self.in_flight,
            self.finished.recorded,
            self.finished.overwritten,
            self.untracked,
            self.black_box.interesting,
            self.black_box.held,
            self.hub_events.recorded,
            self.hub_events.overwritten,
            self.rings.rings,
            self.rings.lost,
            self.rings.unattached,
            self.names_refused,
            self.stale,
        )
    }
}
