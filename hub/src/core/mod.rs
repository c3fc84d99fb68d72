//! The turn engine: one turn at a time in arrival order, through gates, deferral and restore.
//!
//! There is no runtime in it. [`Core::post`], [`Core::open_gate`] and [`Core::close_gate`] may be
//! called from any thread; when there is something to run and nobody runs it, the *wake* callback
//! is called once, and whoever it reaches calls [`Core::drain`]. What a turn does is behind the
//! [`Handler`] trait, which says at once that the turn is done or that it is pending and will be
//! ended by its [`Completion`].
//!
//! Two locks, always in this order. **G**, the gate lock, guards gate decisions; admission rules
//! and probes may run under it. **T**, the turn lock, guards both queues, the arrival sequence and
//! the drain; no user code, logging or probe runs under it, the recorder alone may write there.
//! `docs/arrival-order.md` beside this crate's source has the contract and the reasoning.

mod dispatch;
mod envelope;
pub mod fault;
mod gates;
mod handler;
pub mod probe;
mod pump;
mod queues;
mod stamp;

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use fate_trail::{DeliveryId, GateSetId, Handle, IdPrefix, Recorder, Start, Storage, SymbolId};

pub(crate) use dispatch::{panic_outcome, quietly};
pub use envelope::{Envelope, Kind, Refused};
pub use gates::{Admission, Gate, SetupError};
pub use handler::{Completion, Handler, Outcome, Progress, Turn, short_type_name};
pub use pump::Drained;

use crate::observe::{GateState, Observe, RunLevel, Running, Snapshot};
use crate::sync::{Arc, AtomicU64, AtomicUsize, Mutex, Ordering};
use fault::{Fault, Sound};
use gates::Gates;
use probe::{NoProbe, Point, Probe};
use queues::{GateView, Queued, Queues};
use stamp::Stamper;

/// How a hub is made: its name, its gates, and where its trails and times come from.
pub struct Setup<M> {
    name: String,
    gates: Vec<Gate<M>>,
    recorder: Option<Recorder>,
}

impl<M> Setup<M> {
    /// A hub without gates that records nothing.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), gates: Vec::new(), recorder: None }
    }

    /// The hub's name.
    #[cfg(feature = "otel")]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Declares a gate. Gates cannot be added later, only opened and closed.
    #[must_use]
    pub fn gate(mut self, gate: Gate<M>) -> Self {
        self.gates.push(gate);
        self
    }

    /// Where the trails go, and where times come from.
    #[must_use]
    pub fn recorder(mut self, recorder: Recorder) -> Self {
        self.recorder = Some(recorder);
        self
    }
}

impl<M> fmt::Debug for Setup<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup").field("name", &self.name).field("gates", &self.gates).finish_non_exhaustive()
    }
}

/// Called when a drain is wanted; must not call back into the hub's `drain` itself.
pub type Wake = Box<dyn Fn() + Send + Sync>;

/// One hub. `S` is where a delivery's trail lives, `F` a defect to show, `P` who may hold a thread.
pub struct Core<H: Handler, S: Storage = Handle, F: Fault = Sound, P: Probe = NoProbe> {
    name: Arc<str>,
    /// Of the ids that the hub gives.
    prefix: IdPrefix,
    handler: H,
    probe: P,
    wake: Wake,
    stamper: Stamper,
    gate_names: Vec<String>,
    gate_symbols: Vec<SymbolId>,
    /// How many gates are closed; written under G, read without it by every turn.
    closed: AtomicUsize,
    posts: AtomicU64,
    /// The gate lock, G.
    gates: Mutex<Gates<H::Message, GateSetId>>,
    /// The turn lock, T.
    queues: Mutex<Queues<H::Message, S>>,
    fault: PhantomData<fn() -> F>,
}

impl<H, S, F, P> Core<H, S, F, P>
where
    H: Handler,
    S: Storage,
    F: Fault,
    P: Probe,
{
    /// Makes a hub.
    ///
    /// # Errors
    /// If a name is empty or too long, or gates are too many or called the same.
    pub fn new(setup: Setup<H::Message>, handler: H, probe: P, wake: Wake) -> Result<Arc<Self>, SetupError> {
        gates::check_name("hub", &setup.name)?;
        gates::check_gates(&setup.gates)?;
        let stamper = Stamper::new(setup.recorder.unwrap_or_else(Recorder::off), &setup.name);
        let now = stamper.recorder().now();
        let views: Vec<GateView> = setup
            .gates
            .iter()
            .map(|gate| GateView { closed_at: gate.closed.then_some(now), opened: !gate.closed })
            .collect();
        let gate_names: Vec<String> = setup.gates.iter().map(|gate| gate.name.clone()).collect();
        let gate_symbols = gate_names.iter().map(|name| stamper.symbol(name)).collect();
        let mut gates = Gates::new(setup.gates, stamper.gate_set(&[]));
        gates.closed_set = stamper.gate_set(&gates.closed_names());
        let closed = gates.closed_count();
        let level = if closed == 0 { RunLevel::Started } else { RunLevel::Starting };
        Ok(Arc::new(Self {
            prefix: IdPrefix::new(&setup.name),
            name: Arc::from(setup.name),
            handler,
            probe,
            wake,
            stamper,
            gate_names,
            gate_symbols,
            closed: AtomicUsize::new(closed),
            posts: AtomicU64::new(0),
            gates: Mutex::new(gates),
            queues: Mutex::new(Queues::new(views, level)),
            fault: PhantomData,
        }))
    }

    /// The hub's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The recorder its trails go to.
    pub fn recorder(&self) -> &Recorder {
        self.stamper.recorder()
    }

    /// What turns are started with.
    pub fn handler(&self) -> &H {
        &self.handler
    }

    /// Accepts a delivery at the end of the main queue. Gates are not asked here: whether it waits
    /// is decided when its turn comes.
    ///
    /// # Errors
    /// Gives the message back if the hub is dead.
    pub fn post(&self, envelope: impl Into<Envelope<H::Message>>) -> Result<DeliveryId, Refused<H::Message>> {
        let Envelope { id, kind, awaited, message, origin } = envelope.into();
        let number = self.posts.fetch_add(1, Ordering::Relaxed) + 1;
        let id = id.unwrap_or_else(|| DeliveryId::numbered(self.prefix, number));
        let type_name = self.handler.type_name(&message);
        // One reading for the queue and for the trail.
        let posted_at = self.recorder().now();
        let awaited = awaited || kind == Kind::AwaitedReply;
        let trail: S = self.stamper.begin(Start::new(id).at(posted_at).awaited(awaited));
        let mut queues = self.queues.lock();
        if queues.level >= RunLevel::Dead {
            let level = queues.level;
            drop(queues);
            self.stamper.refused(trail, level);
            return Err(Refused { message, level, hub: self.name.to_string() });
        }
        queues.push::<F>(
            |sequence| Queued {
                sequence,
                id,
                kind,
                type_name,
                message,
                trail,
                posted_at,
                origin,
                released: false,
            },
            |trail, n, depth, sequence| {
                self.stamper.enqueued(trail, n, depth, sequence, posted_at);
            },
        );
        let wanted = queues.schedule();
        drop(queues);
        if wanted {
            (self.wake)();
        }
        Ok(id)
    }

    /// Opens a gate. If it was the last closed one, the parked turns return to the main queue,
    /// ahead of everything that waits there, *before* the gate is gone: whoever sees no gate finds
    /// the queue in arrival order. `false` if there is no such gate or it is open.
    pub fn open_gate(&self, name: &str) -> bool {
        let mut gates = self.gates.lock();
        let Some(at) = gates.find(name, true) else {
            return false;
        };
        let last = gates.closed_count() == 1;
        if F::REMOVE_BEFORE_RESTORE {
            self.remove_gate(&mut gates, at);
        }
        if last {
            self.probe.at(Point::RestoreBegin);
            self.restore(at);
            self.probe.at(Point::RestoreEnd);
        }
        if !F::REMOVE_BEFORE_RESTORE {
            self.remove_gate(&mut gates, at);
        }
        let wanted = last && self.queues.lock().schedule();
        drop(gates);
        if wanted {
            (self.wake)();
        }
        true
    }

    /// Takes a gate out of the closed ones; under G.
    fn remove_gate(&self, gates: &mut Gates<H::Message, GateSetId>, at: usize) {
        gates.set(at, false);
        gates.closed_set = self.stamper.gate_set(&gates.closed_names());
        self.queues.lock().gates[at].open();
        // Release pairs with the turns' Acquire: who reads the new count finds what was restored.
        self.closed.store(gates.closed_count(), Ordering::Release);
        self.probe.at(Point::GateRemoved);
    }

    /// Brings the parked turns back; under G, so that nothing can be parked meanwhile.
    fn restore(&self, at: usize) {
        let now = self.recorder().now();
        let mut queues = self.queues.lock();
        // A dead hub has answered its parked turns; there is nothing to run any more.
        if queues.level >= RunLevel::Dead {
            return;
        }
        queues.level = RunLevel::Started;
        let (n, restored, behind) = queues.restore::<F>();
        self.stamper.gate_drain(n, self.gate_symbols[at], restored, behind, now);
    }

    /// Closes a gate again: turns that have not passed their gate decision wait for it, what an
    /// earlier opening released does not. `false` if there is no such gate or it is closed.
    pub fn close_gate(&self, name: &str) -> bool {
        let now = self.recorder().now();
        let mut gates = self.gates.lock();
        let Some(at) = gates.find(name, false) else {
            return false;
        };
        gates.set(at, true);
        gates.closed_set = self.stamper.gate_set(&gates.closed_names());
        self.queues.lock().gates[at].close(now);
        self.closed.store(gates.closed_count(), Ordering::Release);
        true
    }

    /// Ends the hub: nothing is accepted any more, and everything queued or parked ends at once
    /// as dropped. A running handler is left to end by itself; a turn that has not reached its
    /// handler will not. `false` if the hub was dead already.
    pub fn dispose(&self) -> bool {
        let mut queues = self.queues.lock();
        if queues.level >= RunLevel::Dead {
            return false;
        }
        let dead = queues.kill();
        drop(queues);
        for queued in dead {
            dispatch::bury(&self.stamper, queued);
        }
        true
    }

    /// Whether the hub is dead and its last turn has ended.
    pub fn is_finished(&self) -> bool {
        let queues = self.queues.lock();
        queues.level >= RunLevel::Dead && queues.current.is_none()
    }

    /// The hub at this instant, read in one critical section.
    pub fn snapshot(&self) -> Snapshot {
        let now = self.recorder().now();
        let age = |since: u64| Duration::from_micros(now.saturating_sub(since));
        // Under T numbers are copied, and every text is made outside: no turn waits for it.
        let mut views: Vec<GateView> = Vec::with_capacity(self.gate_names.len());
        let queues = self.queues.lock();
        views.extend_from_slice(&queues.gates);
        let deferred = queues.deferred_len();
        let (oldest_main, oldest_deferred) = queues.oldest();
        let current = queues.current.as_ref();
        let running = current.map(|turn| (turn.id, turn.type_name, turn.started_at, turn.last_stage()));
        let mut seen = Snapshot {
            hub: String::new(),
            main: queues.main_len(),
            deferred,
            running: None,
            between: usize::from(current.is_some_and(|turn| !turn.entered)),
            gates: Vec::new(),
            turns: queues.turns,
            requeues: queues.requeues,
            oldest_main: oldest_main.map(age),
            oldest_deferred: oldest_deferred.map(age),
            posted: queues.posted(),
            dropped: queues.dropped,
            run_level: queues.level,
        };
        drop(queues);
        seen.hub = self.name.to_string();
        seen.running = running.map(|(id, type_name, started_at, last_stage)| Running {
            delivery: id.to_string(),
            kind: type_name.to_owned(),
            age: age(started_at),
            last_stage,
        });
        let gate = |(name, view): (&String, &GateView)| GateState {
            name: name.clone(),
            closed: view.closed_at.is_some(),
            closed_for: view.closed_at.map(age).unwrap_or_default(),
            never_opened: !view.opened,
            holding: view.closed_at.map_or(0, |_| deferred),
        };
        seen.gates = self.gate_names.iter().zip(&views).map(gate).collect();
        seen
    }
}

impl<H, S, F, P> Observe for Core<H, S, F, P>
where
    H: Handler,
    S: Storage,
    F: Fault,
    P: Probe,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn snapshot(&self) -> Snapshot {
        Core::snapshot(self)
    }

    fn recorder(&self) -> &Recorder {
        Core::recorder(self)
    }
}

/// Whoever drives a core without a shell may let it go with work in its queues: that work ends too.
impl<H: Handler, S: Storage, F: Fault, P: Probe> Drop for Core<H, S, F, P> {
    fn drop(&mut self) {
        let dead = self.queues.lock().kill();
        for queued in dead {
            dispatch::bury(&self.stamper, queued);
        }
    }
}

impl<H: Handler, S: Storage, F: Fault, P: Probe> fmt::Debug for Core<H, S, F, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core").field("name", &self.name).finish_non_exhaustive()
    }
}

/// At most `max` bytes of `text`, cut between characters.
fn cut(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let end = (0..=max).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}
