//! Instruments: exact counts and depths from hub states, durations from finished trails.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{AsyncInstrument, Counter, Histogram, Meter, MeterProvider};

use super::{Naming, names};
use crate::phases::{PhaseKind, phases};
use crate::trail::Trail;
use crate::{Fate, stage};

/// Kinds of hubs that gauges are kept for; more are left out of them and counted as lost.
pub const MAX_OBSERVED: usize = 1024;

/// Bucket bounds of the histograms, in seconds. The conventions begin at 5 ms, which is longer than
/// most turns of a hub; a view of the binary's own SDK may replace them.
const SECONDS: [f64; 17] = [
    0.000_01, 0.000_05, 0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    10.0, 60.0,
];

/// One hub at one moment, as the gauges need it; counts are totals since the hub was made.
#[derive(Clone, Debug, Default)]
pub struct HubPicture {
    /// Name of the hub.
    pub hub: String,
    /// Deliveries in the main queue.
    pub main: u64,
    /// Deliveries in the deferred queue.
    pub deferred: u64,
    /// Age of the oldest in the main queue.
    pub main_oldest: Option<Duration>,
    /// Age of the oldest in the deferred queue.
    pub deferred_oldest: Option<Duration>,
    /// Age of the running turn.
    pub turn: Option<Duration>,
    /// Closed gates and how long each has been closed.
    pub closed_gates: Vec<(String, Duration)>,
    /// Deliveries accepted.
    pub posted: u64,
    /// Deliveries whose turn has ended.
    pub turns: u64,
    /// Turns that the arrival barrier put back.
    pub requeues: u64,
}

/// What the callbacks read of one kind of hubs: atomics and attributes that never change.
struct Slot {
    plain: Vec<KeyValue>,
    queues: [Vec<KeyValue>; 2],
    size: [AtomicI64; 2],
    oldest: [AtomicU64; 2],
    gates: AtomicI64,
    active: AtomicI64,
    age: AtomicU64,
}

/// Slots are only ever added, so that a callback needs no lock.
struct Slots {
    slots: Box<[OnceLock<Slot>]>,
    used: AtomicUsize,
}

impl Slots {
    fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().take(self.used.load(Ordering::Acquire)).filter_map(OnceLock::get)
    }
}

/// Sums over the hubs of one kind.
#[derive(Default)]
struct Sums {
    size: [i64; 2],
    oldest: [Duration; 2],
    gates: i64,
    active: i64,
    age: Duration,
}

/// What was seen of each hub last, to tell what is new.
#[derive(Default)]
struct Before {
    places: HashMap<Vec<(String, String)>, Option<usize>>,
    hubs: HashMap<String, HubPicture>,
}

/// All instruments of hubs. Built once; clones share them.
#[derive(Clone)]
pub struct Instruments(Arc<Inner>);

struct Inner {
    naming: Naming,
    slots: Arc<Slots>,
    before: Mutex<Before>,
    process: Histogram<f64>,
    wait: Histogram<f64>,
    gate_closed: Histogram<f64>,
    consumed: Counter<u64>,
    sent: Counter<u64>,
    deferrals: Counter<u64>,
    requeues: Counter<u64>,
    dropped: Counter<u64>,
}

impl Instruments {
    /// Instruments of a provider's meter.
    pub fn new(provider: &dyn MeterProvider, naming: Naming) -> Self {
        let meter = provider.meter_with_scope(super::scope());
        let slots = Arc::new(Slots {
            slots: (0..MAX_OBSERVED).map(|_| OnceLock::new()).collect(),
            used: AtomicUsize::new(0),
        });
        observables(&meter, &slots);
        Instruments(Arc::new(Inner {
            naming,
            slots,
            before: Mutex::default(),
            process: seconds(
                &meter,
                names::PROCESS_DURATION,
                "Time from leaving the queue to the turn's end.",
            ),
            wait: seconds(&meter, names::WAIT_DURATION, "Time in a queue before a turn."),
            gate_closed: seconds(&meter, names::GATE_CLOSED_DURATION, "Time a gate was closed."),
            consumed: counter(&meter, names::CONSUMED, "{message}", "Deliveries whose turn has ended."),
            sent: counter(&meter, names::SENT, "{message}", "Deliveries accepted."),
            deferrals: counter(&meter, names::DEFERRALS, "{deferral}", "Turns parked behind closed gates."),
            requeues: counter(&meter, names::REQUEUES, "{requeue}", "Turns put back by the arrival barrier."),
            dropped: counter(
                &meter,
                names::OBSERVER_DROPPED,
                "{event}",
                "What observation had to leave out.",
            ),
        }))
    }

    /// Takes a look at all hubs: sets the gauges and counts what is new since the last look. A hub
    /// that is not among them any more leaves the gauges.
    pub fn observe(&self, hubs: &[HubPicture]) {
        let inner = &*self.0;
        let mut before = inner.before.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sums: HashMap<usize, Sums> = HashMap::new();
        for picture in hubs {
            let attributes = inner.naming.attributes(&picture.hub);
            inner.count(&attributes, before.hubs.get(&picture.hub), picture);
            match inner.place(&mut before, attributes) {
                Some(at) => sums.entry(at).or_default().add(picture),
                None => self.lost("kinds", 1),
            }
        }
        for (at, slot) in inner.slots.iter().enumerate() {
            slot.set(&sums.remove(&at).unwrap_or_default());
        }
        before.hubs = hubs.iter().map(|picture| (picture.hub.clone(), picture.clone())).collect();
    }

    /// Takes the durations of a finished trail.
    pub fn trail(&self, trail: &Trail) {
        let inner = &*self.0;
        let failed = match trail.fate() {
            Fate::Failed => Some("handler"),
            Fate::Dropped | Fate::Shed | Fate::Refused => Some("dropped"),
            Fate::Handled | Fate::Answered | Fate::Open => None,
        };
        let cancelled = trail.last_stage().and_then(crate::Stage::id) == Some(stage::HANDLER_CANCELLED);
        let failed = if cancelled { Some("cancelled") } else { failed };
        for phase in phases(trail) {
            let mut attributes = inner.naming.attributes(&phase.hub);
            let length = Duration::from_micros(phase.micros()).as_secs_f64();
            match phase.kind {
                PhaseKind::Turn => {
                    attributes.push(KeyValue::new(names::OPERATION_NAME, "process"));
                    attributes.extend(failed.map(|kind| KeyValue::new(names::ERROR_TYPE, kind)));
                    inner.process.record(length, &attributes);
                }
                PhaseKind::Main | PhaseKind::Barrier => {
                    attributes.push(KeyValue::new(names::QUEUE_NAME, "main"));
                    inner.wait.record(length, &attributes);
                }
                PhaseKind::Deferred => {
                    attributes.push(KeyValue::new(names::QUEUE_NAME, "deferred"));
                    inner.wait.record(length, &attributes);
                    attributes.pop();
                    let gates = phase.gates.map(|gates| gates.decoded().into_owned()).unwrap_or_default();
                    attributes.push(KeyValue::new(names::GATE_NAME, gates));
                    inner.deferrals.add(1, &attributes);
                }
                PhaseKind::Attempt => {}
            }
        }
    }

    /// Counts what observation had to leave out, with a reason of few values.
    pub fn lost(&self, reason: &'static str, count: u64) {
        self.0.dropped.add(count, &[KeyValue::new(names::REASON, reason)]);
    }
}

impl Inner {
    /// Counts what happened at a hub since it was seen last. Zero is counted too, so that a series
    /// exists before the first event.
    fn count(&self, attributes: &[KeyValue], before: Option<&HubPicture>, now: &HubPicture) {
        let since = |of: fn(&HubPicture) -> u64| of(now).saturating_sub(before.map_or(0, of));
        let with = |operation| {
            let mut attributes = attributes.to_vec();
            attributes.push(KeyValue::new(names::OPERATION_NAME, operation));
            attributes
        };
        self.sent.add(since(|hub| hub.posted), &with("send"));
        self.consumed.add(since(|hub| hub.turns), &with("process"));
        self.requeues.add(since(|hub| hub.requeues), attributes);
        for (gate, closed) in before.iter().flat_map(|hub| &hub.closed_gates) {
            if now.closed_gates.iter().all(|(name, _)| name != gate) {
                let mut attributes = attributes.to_vec();
                attributes.push(KeyValue::new(names::GATE_NAME, gate.clone()));
                self.gate_closed.record(closed.as_secs_f64(), &attributes);
            }
        }
    }

    /// The slot of an attribute set; `None` where all are taken.
    fn place(&self, before: &mut Before, attributes: Vec<KeyValue>) -> Option<usize> {
        let key = attributes.iter().map(|pair| (pair.key.to_string(), pair.value.to_string())).collect();
        *before.places.entry(key).or_insert_with(|| {
            let at = self.slots.used.load(Ordering::Relaxed);
            let slot = self.slots.slots.get(at)?;
            if slot.set(Slot::new(attributes)).is_err() {
                return None;
            }
            self.slots.used.store(at + 1, Ordering::Release);
            Some(at)
        })
    }
}

impl Sums {
    fn add(&mut self, hub: &HubPicture) {
        let sizes = [(hub.main, hub.main_oldest), (hub.deferred, hub.deferred_oldest)];
        for (at, (size, oldest)) in sizes.into_iter().enumerate() {
            self.size[at] = self.size[at].saturating_add(signed(size));
            self.oldest[at] = self.oldest[at].max(oldest.unwrap_or_default());
        }
        self.gates = self.gates.saturating_add(signed(hub.closed_gates.len() as u64));
        self.active += i64::from(hub.turn.is_some());
        self.age = self.age.max(hub.turn.unwrap_or_default());
    }
}

impl Slot {
    fn new(attributes: Vec<KeyValue>) -> Self {
        let queue = |name: &'static str| {
            let mut attributes = attributes.clone();
            attributes.push(KeyValue::new(names::QUEUE_NAME, name));
            attributes
        };
        Slot {
            queues: [queue("main"), queue("deferred")],
            plain: attributes,
            size: Default::default(),
            oldest: Default::default(),
            gates: AtomicI64::new(0),
            active: AtomicI64::new(0),
            age: AtomicU64::new(0),
        }
    }

    fn set(&self, sums: &Sums) {
        for at in 0..2 {
            self.size[at].store(sums.size[at], Ordering::Relaxed);
            self.oldest[at].store(micros(sums.oldest[at]), Ordering::Relaxed);
        }
        self.gates.store(sums.gates, Ordering::Relaxed);
        self.active.store(sums.active, Ordering::Relaxed);
        self.age.store(micros(sums.age), Ordering::Relaxed);
    }
}

/// Registers the callbacks. They read atomics and nothing else: a panic in one would end the reader
/// of the whole process and with it every metric.
fn observables(meter: &Meter, slots: &Arc<Slots>) {
    let up_down = |name, unit, text, observe: fn(&Slot, &dyn AsyncInstrument<i64>)| {
        let slots = Arc::clone(slots);
        meter
            .i64_observable_up_down_counter(name)
            .with_unit(unit)
            .with_description(text)
            .with_callback(move |to| slots.iter().for_each(|slot| observe(slot, to)))
            .build();
    };
    let age = |name, text, observe: fn(&Slot, &dyn AsyncInstrument<f64>)| {
        let slots = Arc::clone(slots);
        meter
            .f64_observable_gauge(name)
            .with_unit("s")
            .with_description(text)
            .with_callback(move |to| slots.iter().for_each(|slot| observe(slot, to)))
            .build();
    };
    up_down(names::QUEUE_SIZE, "{message}", "Deliveries in a queue.", |slot, to| {
        for (size, attributes) in slot.size.iter().zip(&slot.queues) {
            to.observe(size.load(Ordering::Relaxed), attributes);
        }
    });
    up_down(names::GATE_CLOSED, "{gate}", "Gates that are closed.", |slot, to| {
        to.observe(slot.gates.load(Ordering::Relaxed), &slot.plain);
    });
    up_down(names::TURN_ACTIVE, "{turn}", "Turns that are running.", |slot, to| {
        to.observe(slot.active.load(Ordering::Relaxed), &slot.plain);
    });
    age(names::QUEUE_OLDEST_AGE, "Age of the oldest delivery in a queue.", |slot, to| {
        for (oldest, attributes) in slot.oldest.iter().zip(&slot.queues) {
            to.observe(secs(oldest.load(Ordering::Relaxed)), attributes);
        }
    });
    age(names::TURN_AGE, "Age of the longest running turn.", |slot, to| {
        to.observe(secs(slot.age.load(Ordering::Relaxed)), &slot.plain);
    });
}

fn seconds(meter: &Meter, name: &'static str, text: &'static str) -> Histogram<f64> {
    meter.f64_histogram(name).with_unit("s").with_description(text).with_boundaries(SECONDS.to_vec()).build()
}

fn counter(meter: &Meter, name: &'static str, unit: &'static str, text: &'static str) -> Counter<u64> {
    meter.u64_counter(name).with_unit(unit).with_description(text).build()
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn secs(micros: u64) -> f64 {
    Duration::from_micros(micros).as_secs_f64()
}

impl fmt::Debug for Instruments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instruments").field("kinds", &self.0.slots.used).finish_non_exhaustive()
    }
}
