//! The recorder: always on, bounded, and unable to hurt the program it watches.

mod hub_events;
mod render;
mod ring;
mod slab;
mod status;
mod storage;
mod store;
mod threads;

use std::fmt;

use crate::clock::{Clock, SystemClock};
use crate::entry::{Entry, RawTrail};
use crate::limits::{FINISHED_TRAILS, HUB_ENTRIES, HUB_VALUES, IN_FLIGHT, RING_SLOTS};
use crate::names::{GateSetId, HubId, Names, SymbolId};
use crate::stage::StageId;
use crate::sync::{Arc, AtomicBool, AtomicU64, Mutex, Ordering};
use crate::text::Value;
use crate::trail::Trail;

use hub_events::{HubEvent, HubEvents};

pub use ring::RingRecord;
pub use status::Status;
pub use storage::{Handle, Inline, Off, Storage};
pub use store::StoreStatus;
pub use threads::{Drained, RingStatus};

/// Numbers recorders, so that a thread finds its ring of each.
static RECORDERS: AtomicU64 = AtomicU64::new(0);

/// How large a recorder may grow. Every field is a limit; none can be switched off by accident.
#[derive(Clone)]
pub struct RecorderConfig {
    /// Where times come from.
    pub clock: Arc<dyn Clock>,
    /// Deliveries followed at once; a further one goes without a trail and is counted.
    pub in_flight: usize,
    /// Finished trails kept for readers.
    pub finished: usize,
    /// Hub-level stages kept, over all hubs.
    pub hub_entries: usize,
    /// Records in each thread's ring; 0 for no rings.
    pub ring_slots: usize,
}

impl Default for RecorderConfig {
    fn default() -> Self {
        RecorderConfig {
            clock: Arc::new(SystemClock::new()),
            in_flight: IN_FLIGHT,
            finished: FINISHED_TRAILS,
            hub_entries: HUB_ENTRIES,
            ring_slots: RING_SLOTS,
        }
    }
}

impl fmt::Debug for RecorderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecorderConfig")
            .field("clock", &self.clock.kind())
            .field("in_flight", &self.in_flight)
            .field("finished", &self.finished)
            .field("hub_entries", &self.hub_entries)
            .field("ring_slots", &self.ring_slots)
            .finish()
    }
}

/// What [`Recorder::finished_after`] found.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Finished {
    /// Finished trails, oldest first.
    pub trails: Vec<Trail>,
    /// The position behind them.
    pub next: u64,
    /// Trails between the position and the oldest one here that were overwritten or taken before.
    pub lost: u64,
}

/// A cheap handle to one recorder; clones share it.
#[derive(Clone)]
pub struct Recorder(Arc<Inner>);

struct Inner {
    on: AtomicBool,
    number: u64,
    config: RecorderConfig,
    /// What both clocks showed at one moment.
    anchor: (u64, i64),
    hubs: Names,
    /// Symbols and gate sets, as encoded values.
    symbols: Names,
    slab: slab::Slab,
    finished: Mutex<store::Bounded<RawTrail>>,
    hub_events: Mutex<HubEvents>,
    rings: threads::Rings,
    untracked: AtomicU64,
    stale: AtomicU64,
}

impl Recorder {
    /// A recorder that is on.
    pub fn new(config: RecorderConfig) -> Self {
        let recorder = Recorder::silent(config);
        recorder.set_on(true);
        recorder
    }

    /// A recorder that is off and may be switched on later.
    pub fn off() -> Self {
        Recorder::silent(RecorderConfig::default())
    }

    fn silent(config: RecorderConfig) -> Self {
        let anchor = (config.clock.now_micros(), config.clock.wall_micros());
        Recorder(Arc::new(Inner {
            on: AtomicBool::new(false),
            number: RECORDERS.fetch_add(1, Ordering::Relaxed),
            anchor,
            hubs: Names::new(),
            symbols: Names::new(),
            slab: slab::Slab::new(config.in_flight),
            finished: Mutex::new(store::Bounded::new(config.finished)),
            hub_events: Mutex::new(HubEvents::new(config.hub_entries)),
            rings: threads::Rings::new(config.ring_slots),
            untracked: AtomicU64::new(0),
            stale: AtomicU64::new(0),
            config,
        }))
    }

    /// Whether new trails are recorded: one relaxed load.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.0.on.load(Ordering::Relaxed)
    }

    /// Switches recording of new trails and hub-level stages on or off. Trails that have begun go
    /// on to their end.
    pub fn set_on(&self, on: bool) {
        if on {
            // Taken here, so that no stamp allocates.
            self.0.finished.lock().reserve();
            self.0.hub_events.lock().reserve();
        }
        self.0.on.store(on, Ordering::Relaxed);
    }

    /// The monotonic clock in microseconds, for [`Storage::stamp_at`].
    pub fn now(&self) -> u64 {
        self.0.config.clock.now_micros()
    }

    /// A reading of [`Recorder::now`] in microseconds since the Unix epoch.
    pub fn wall(&self, now: u64) -> i64 {
        let (monotonic, wall) = self.0.anchor;
        let signed = |micros: u64| i64::try_from(micros).unwrap_or(i64::MAX);
        wall.saturating_add(signed(now).saturating_sub(signed(monotonic)))
    }

    /// Interns a hub's name. May allocate; call it when the hub is made.
    pub fn hub(&self, name: &str) -> HubId {
        HubId(self.0.hubs.intern(name))
    }

    /// Interns a set of gate names, in any order and with repetitions. May allocate; call it when
    /// a gate changes.
    pub fn gate_set<T: AsRef<str>>(&self, gates: &[T]) -> GateSetId {
        let mut gates: Vec<&str> = gates.iter().map(AsRef::as_ref).collect();
        gates.sort_unstable();
        gates.dedup();
        GateSetId(self.0.symbols.intern(Value::list(gates).encoded()))
    }

    /// Interns a text such as a type's name. May allocate the first time that it sees a text.
    pub fn symbol(&self, text: &str) -> SymbolId {
        SymbolId(self.0.symbols.intern(Value::text(text).encoded()))
    }

    /// Gives the calling thread its ring, so that its stamps reach [`Recorder::drain_rings`].
    /// [`Storage::begin`] and [`Storage::finish`] do so too; a thread that only stamps should ask.
    pub fn attach_thread(&self) {
        if self.is_on() {
            self.0.rings.attach(self.0.number);
        }
    }

    /// Stamps a hub-level stage, with one value for each of its details and a known time or none.
    /// Does not allocate; holds a lock of its own for a few stores.
    pub fn hub_stamp(&self, hub: HubId, stage: StageId, values: &[u64], now: Option<u64>) {
        if !self.is_on() {
            return;
        }
        let mut event = HubEvent { stage, hub, time: now, values: [0; HUB_VALUES] };
        for (slot, value) in event.values.iter_mut().zip(values) {
            *slot = *value;
        }
        self.0.hub_events.lock().push(event);
    }

    /// Copies of the finished trails, oldest first.
    pub fn finished(&self) -> Vec<Trail> {
        // Texts are made outside the lock, so that a reader holds up nobody.
        let raw: Vec<RawTrail> = self.0.finished.lock().iter().cloned().collect();
        raw.iter().map(|raw| self.render(raw)).collect()
    }

    /// Copies of the trails that finished after a position: 0 at first, then [`Finished::next`] of the
    /// call before. Readers with a position of their own do not disturb each other.
    pub fn finished_after(&self, position: u64) -> Finished {
        let (raw, next, lost) = {
            let store = self.0.finished.lock();
            let (raw, next, lost) = store.after(position);
            (raw.cloned().collect::<Vec<RawTrail>>(), next, lost)
        };
        Finished { trails: raw.iter().map(|raw| self.render(raw)).collect(), next, lost }
    }

    /// Takes the finished trails, oldest first.
    pub fn take_finished(&self) -> Vec<Trail> {
        let raw = self.0.finished.lock().take();
        raw.iter().map(|raw| self.render(raw)).collect()
    }

    /// Each hub's own trail, with the id `hub`, in the order of their oldest kept stage. Stages that
    /// were overwritten show as a gap at the start.
    pub fn hub_trails(&self) -> Vec<Trail> {
        // Texts are made outside the lock, so that a reader holds up nobody.
        let (events, lost) = self.0.hub_events.lock().copy();
        self.render_hubs(&events, &lost)
    }

    /// Takes what the threads' rings hold, each record once. For one reader.
    pub fn drain_rings(&self) -> Drained {
        self.0.rings.drain()
    }

    fn slab(&self) -> &slab::Slab {
        &self.0.slab
    }

    fn ring(&self, entry: Entry, subject: u64, position: u32) {
        let position = u64::from(position);
        self.0.rings.push(self.0.number, RingRecord { entry, subject, position });
    }

    fn finished_with(&self, raw: RawTrail) {
        self.attach_thread();
        self.0.finished.lock().push(raw);
    }

    fn count_untracked(&self) {
        self.0.untracked.fetch_add(1, Ordering::Relaxed);
    }

    fn count_stale(&self) {
        self.0.stale.fetch_add(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("on", &self.is_on())
            .field("config", &self.0.config)
            .finish_non_exhaustive()
    }
}
