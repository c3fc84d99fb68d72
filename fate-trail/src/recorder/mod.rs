//! The recorder: always on, bounded, and unable to hurt the program it watches.

mod black_box;
mod finished;
mod free;
mod hub_events;
#[cfg(all(test, fate_loom))]
mod model;
mod policy;
mod render;
mod ring;
mod slab;
mod status;
mod storage;
mod store;
mod subscribe;
mod threads;
mod waits;
mod words;

use std::fmt;
use std::time::Duration;

use crate::clock::{self, Clock, TscClock};
use crate::entry::{Entry, RawTrail};
use crate::id::DeliveryId;
use crate::limits::{
    BOXED_TRAILS, FINISHED_TRAILS, HUB_ENTRIES, HUB_VALUES, IN_FLIGHT, READ_INTERVAL_MILLIS, RING_SLOTS,
    SLOW_MICROS, STASH_SLOTS, THREADS,
};
use crate::names::{GateSetId, HubId, Names, SymbolId};
use crate::stage::{PUT_BACK, StageId};
use crate::sync::{Arc, AtomicBool, AtomicU64, Mutex, OnceLock, Ordering};
use crate::text::Value;
use crate::trail::Trail;

use black_box::BlackBox;
use hub_events::{HubEvent, HubEvents};
use slab::{Ending, Key};

pub use black_box::BlackBoxStatus;
pub use policy::Policy;
pub use ring::{RingEnd, RingRecord};
pub use status::Status;
pub use storage::{Handle, Inline, Off, Start, Storage};
pub use store::StoreStatus;
pub use subscribe::{Subscription, SubscriptionStatus};
pub use threads::{Drained, RingStatus};
pub use waits::{StageWait, WaitTimeout};

/// Numbers recorders, so that a thread finds its ring of each.
static RECORDERS: AtomicU64 = AtomicU64::new(0);

/// The recorder of the process, once somebody has set it or asked for it.
static GLOBAL: OnceLock<Recorder> = OnceLock::new();

/// What a recorder records and how large it may grow.
#[derive(Clone)]
pub struct RecorderConfig {
    /// Where times come from: by default the fastest clock that can be relied on.
    pub clock: Arc<dyn Clock>,
    /// Which deliveries get a trail.
    pub policy: Policy,
    /// Deliveries followed at once; a further one goes without a trail and is counted.
    pub in_flight: usize,
    /// Finished trails kept for readers.
    pub finished: usize,
    /// Hub-level stages kept, over all hubs.
    pub hub_entries: usize,
    /// Records in each thread's ring; 0 for no rings.
    pub ring_slots: usize,
    /// Whether the end of each trail is written into the ring of the thread that ends it: one more
    /// record for each delivery, and what an [`Assembler`](crate::assemble::Assembler) needs.
    pub ring_ends: bool,
    /// Interesting trails kept beside the newest ones.
    pub boxed: usize,
    /// Microseconds from first to last stage from which a trail is interesting.
    pub slow: u32,
    /// How often the reader thread of subscribers looks into the rings; `None` for no thread.
    pub read_interval: Option<Duration>,
}

impl Default for RecorderConfig {
    fn default() -> Self {
        RecorderConfig {
            clock: clock::best(),
            policy: Policy::All,
            in_flight: IN_FLIGHT,
            finished: FINISHED_TRAILS,
            hub_entries: HUB_ENTRIES,
            ring_slots: RING_SLOTS,
            ring_ends: false,
            boxed: BOXED_TRAILS,
            slow: SLOW_MICROS,
            read_interval: Some(Duration::from_millis(READ_INTERVAL_MILLIS)),
        }
    }
}

impl fmt::Debug for RecorderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecorderConfig")
            .field("clock", &self.clock.kind())
            .field("policy", &self.policy)
            .field("in_flight", &self.in_flight)
            .field("finished", &self.finished)
            .field("hub_entries", &self.hub_entries)
            .field("ring_slots", &self.ring_slots)
            .field("ring_ends", &self.ring_ends)
            .field("boxed", &self.boxed)
            .field("slow", &self.slow)
            .field("read_interval", &self.read_interval)
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
    config: RecorderConfig,
    /// The configured clock, where it is the counter: read without a virtual call.
    tsc: Option<TscClock>,
    /// What both clocks showed at one moment.
    anchor: (u64, i64),
    hubs: Names,
    /// Symbols and gate sets, as encoded values.
    symbols: Names,
    slab: Arc<slab::Slab>,
    finished: finished::Wheel,
    boxed: Mutex<BlackBox>,
    box_missed: AtomicU64,
    hub_events: Mutex<HubEvents>,
    threads: threads::Threads,
    subscribers: subscribe::Subscribers,
    waits: waits::Waits,
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

    /// The recorder of the process: the one that [`Recorder::set_global`] was given, else one that is
    /// off. For code that cannot be handed a recorder as a value.
    pub fn global() -> &'static Recorder {
        GLOBAL.get_or_init(Recorder::off)
    }

    /// Makes this the recorder of the process.
    ///
    /// # Errors
    /// Gives it back if there is one already, or if [`Recorder::global`] was asked before.
    pub fn set_global(self) -> Result<(), Recorder> {
        GLOBAL.set(self)
    }

    fn silent(config: RecorderConfig) -> Self {
        let anchor = (config.clock.now_micros(), config.clock.wall_micros());
        // Every trail that a store or a thread's stash holds is a slot that no delivery can have.
        let slots = config.in_flight + config.finished + THREADS * STASH_SLOTS;
        let slab = Arc::new(slab::Slab::new(slots));
        let number = RECORDERS.fetch_add(1, Ordering::Relaxed);
        Recorder(Arc::new(Inner {
            on: AtomicBool::new(false),
            anchor,
            tsc: config.clock.as_tsc(),
            hubs: Names::new(),
            symbols: Names::new(),
            threads: threads::Threads::new(number, config.ring_slots, &slab),
            slab,
            finished: finished::Wheel::new(config.finished),
            boxed: Mutex::new(BlackBox::new(config.boxed)),
            box_missed: AtomicU64::new(0),
            hub_events: Mutex::new(HubEvents::new(config.hub_entries)),
            subscribers: subscribe::Subscribers::default(),
            waits: waits::Waits::default(),
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
            self.0.boxed.lock().reserve();
            self.0.hub_events.lock().reserve();
        }
        self.0.on.store(on, Ordering::Relaxed);
    }

    /// The monotonic clock in microseconds, for [`Storage::stamp_at`].
    #[inline]
    pub fn now(&self) -> u64 {
        match &self.0.tsc {
            Some(tsc) => tsc.now_micros(),
            None => self.0.config.clock.now_micros(),
        }
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
            self.0.threads.attach();
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
        self.0.waits.stamped(stage.index(), hub.index());
    }

    /// Copies of the finished trails, oldest first. One that a newer trail displaces meanwhile is left
    /// out; no delivery waits for the reader.
    pub fn finished(&self) -> Vec<Trail> {
        let (raw, ..) = self.0.finished.after(self.slab(), 0);
        raw.iter().map(|raw| self.render(raw)).collect()
    }

    /// Copies of the trails that finished after a position: 0 at first, then [`Finished::next`] of the
    /// call before. Readers with a position of their own do not disturb each other.
    pub fn finished_after(&self, position: u64) -> Finished {
        let (raw, next, lost) = self.0.finished.after(self.slab(), position);
        Finished { trails: raw.iter().map(|raw| self.render(raw)).collect(), next, lost }
    }

    /// Takes the finished trails, oldest first.
    pub fn take_finished(&self) -> Vec<Trail> {
        let slab = self.slab();
        let taken = self.0.finished.take(slab);
        let raw: Vec<RawTrail> = taken.iter().filter_map(|key| slab.read(*key)).collect();
        for key in taken {
            self.0.threads.work(slab, |stash, _| slab.give_back(stash, key));
        }
        raw.iter().map(|raw| self.render(raw)).collect()
    }

    /// Copies of the interesting trails, oldest first: those that failed or were dropped, were put
    /// back by the arrival barrier, or were slow. The first ones and the worst ones are kept.
    pub fn black_box(&self) -> Vec<Trail> {
        let raw = self.0.boxed.lock().copy();
        raw.iter().map(|raw| self.render(raw)).collect()
    }

    /// Each hub's own trail, with the id `hub`, in the order of their oldest kept stage. Stages that
    /// were overwritten show as a gap at the start.
    pub fn hub_trails(&self) -> Vec<Trail> {
        // Texts are made outside the lock, so that a reader holds up nobody.
        let (events, lost) = self.0.hub_events.lock().copy();
        self.render_hubs(&events, &lost)
    }

    /// Takes what the threads' rings hold, each record once. For one reader: what it takes, no
    /// [subscriber](Recorder::subscribe) gets.
    pub fn drain_rings(&self) -> Drained {
        self.0.threads.drain()
    }

    fn slab(&self) -> &slab::Slab {
        &self.0.slab
    }

    /// True where no delivery gets a trail, whatever its id: asked before an id is made.
    #[inline]
    pub(crate) fn ignores(&self, awaited: bool) -> bool {
        !self.is_on() || !awaited && matches!(self.0.config.policy, Policy::Awaited)
    }

    fn waits(&self) -> &waits::Waits {
        &self.0.waits
    }

    /// Whether a delivery gets a trail.
    #[inline]
    fn wants(&self, start: &Start) -> bool {
        self.is_on() && self.0.config.policy.wants(start)
    }

    #[inline]
    fn ring(&self, record: RingRecord) {
        self.0.waits.stamped(record.entry.stage, record.entry.hub);
        self.0.threads.push(record);
    }

    /// A slot for a trail; `None`, and counted, where all are taken.
    #[inline]
    fn take(&self, id: DeliveryId, base: u64) -> Option<Key> {
        let slab = self.slab();
        let key = self.0.threads.work(slab, |stash, counts| {
            let key = slab.take(stash, id, base);
            if key.is_some() {
                counts.begin();
            }
            key
        });
        if key.is_none() {
            self.0.untracked.fetch_add(1, Ordering::Relaxed);
        }
        key
    }

    /// The end of a trail in a slot.
    #[inline]
    fn finish(&self, key: Key) {
        let slab = self.slab();
        let Some(ending) = slab.ending(key) else {
            self.count_stale();
            return;
        };
        if self.is_interesting(ending) {
            self.keep(slab.read(key));
        }
        // Read while the slot is still this delivery's.
        let end = if self.0.config.ring_ends { slab.read(key) } else { None };
        self.0.threads.work(slab, |stash, counts| {
            counts.end();
            if let Some(oldest) = self.0.finished.push(slab, key) {
                slab.give_back(stash, oldest);
            }
        });
        if let Some(raw) = end {
            self.ring_end(&raw);
        }
    }

    /// A trail begins that is kept in its delivery.
    fn begin_elsewhere(&self) {
        self.0.threads.work(self.slab(), |_, counts| counts.begin());
    }

    /// The end of a trail that was kept in its delivery.
    fn finish_elsewhere(&self, raw: &RawTrail) {
        if self.is_interesting(Ending { marks: raw.marks, took: raw.took() }) {
            self.keep(Some(raw.clone()));
        }
        let slab = self.slab();
        self.0.threads.work(slab, |stash, counts| {
            counts.end();
            let Some(key) = slab.adopt(stash, raw) else {
                self.0.untracked.fetch_add(1, Ordering::Relaxed);
                return;
            };
            if let Some(oldest) = self.0.finished.push(slab, key) {
                slab.give_back(stash, oldest);
            }
        });
        if self.0.config.ring_ends {
            self.ring_end(raw);
        }
    }

    fn ring_end(&self, raw: &RawTrail) {
        self.0.threads.push(RingEnd::of(raw.id, raw.count, raw.base).record());
    }

    #[inline]
    fn is_interesting(&self, ending: Ending) -> bool {
        ending.marks != 0 || ending.took >= self.0.config.slow
    }

    /// Puts a trail into the black box, unless somebody else holds the box right now.
    #[cold]
    fn keep(&self, raw: Option<RawTrail>) {
        let Some(raw) = raw else {
            return;
        };
        let put_back = |entry: &Entry| crate::stage::marks_of(entry.stage) & PUT_BACK != 0;
        let (requeues, took) = (raw.kept().filter(put_back).count(), raw.took());
        match self.0.boxed.try_lock() {
            Some(mut boxed) => boxed.put(raw, requeues, took),
            None => {
                self.0.box_missed.fetch_add(1, Ordering::Relaxed);
            }
        }
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
