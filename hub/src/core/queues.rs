//! Everything the turn lock **T** guards: both queues, the arrival sequence, the event number, the
//! drain state, and what observers may see.
//!
//! The invariant, checked in debug builds after every change: `main` is strictly ascending by
//! sequence, `deferred` is too, and every entry of `deferred` is older than every entry of `main`.
//! Nothing here calls user code, logs or probes; the recorder may write.

use std::collections::VecDeque;

use fate_trail::{DeliveryId, stage};

use super::envelope::{Kind, Origin};
use super::fault::Fault;
use super::handler::Outcome;
use crate::limits::{FULL_CHECK, MAX_PARKED};
use crate::observe::RunLevel;

/// A delivery with its place in the order of arrival.
pub(super) struct Queued<M, S> {
    /// Issued under T at the post, never again: it travels through deferral and requeueing.
    pub(super) sequence: u64,
    pub(super) id: DeliveryId,
    pub(super) kind: Kind,
    pub(super) type_name: &'static str,
    /// As received: nothing between the post and the handler changes it.
    pub(super) message: M,
    pub(super) trail: S,
    /// Clock reading at the post, µs.
    pub(super) posted_at: u64,
    /// What its span is tied to.
    pub(super) origin: Origin,
    /// An opening has released it: it is not gated again and is older than anything still parked.
    pub(super) released: bool,
}

/// Who may take the next turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pump {
    /// Nothing to do, nobody woken.
    Idle,
    /// Somebody was woken and will drain.
    Scheduled,
    /// A drain is running turns.
    Draining,
    /// A turn is pending; its completion schedules the next drain.
    Suspended,
}

/// The turn that left the queue last and has not ended.
pub(super) struct Current<S> {
    /// Tells this turn from every other of the hub.
    pub(super) ticket: u64,
    pub(super) id: DeliveryId,
    pub(super) type_name: &'static str,
    pub(super) started_at: u64,
    /// A handler has it; before that, the delivery is in neither queue.
    pub(super) entered: bool,
    /// Told before the handler's start had returned.
    pub(super) outcome: Option<Outcome>,
    /// Present while the turn is pending.
    pub(super) trail: Option<S>,
}

impl<S> Current<S> {
    /// The stage that marked the turn's progress last.
    pub(super) fn last_stage(&self) -> &'static str {
        let stage = if self.entered { stage::HANDLER_ENTER } else { stage::TURN_START };
        stage.token()
    }
}

/// A gate as observers see it; the gate lock guards the decision, this is its mirror.
#[derive(Clone, Copy, Debug)]
pub(super) struct GateView {
    /// Clock reading at the closing, µs; `None` while open.
    pub(super) closed_at: Option<u64>,
    /// It has been open at some time since the hub was made.
    pub(super) opened: bool,
}

impl GateView {
    pub(super) fn open(&mut self) {
        *self = Self { closed_at: None, opened: true };
    }

    pub(super) fn close(&mut self, now: u64) {
        self.closed_at = Some(now);
    }
}

/// What parking a turn came to.
pub(super) enum Parked<M, S> {
    /// It waits in the deferred queue.
    Yes,
    /// Older work lay ahead in the main queue: it went back in place instead.
    Requeued,
    /// The backlog is full.
    Full(Queued<M, S>),
    /// The hub is dead.
    Dead(Queued<M, S>),
}

/// What the arrival barrier said.
pub(super) enum Barrier<M, S> {
    /// Nothing older waits: the turn has the handler.
    Enter(Queued<M, S>),
    /// It went back in place.
    Requeued,
    /// The hub is dead.
    Dead(Queued<M, S>),
}

/// The state under T.
pub(super) struct Queues<M, S> {
    main: VecDeque<Queued<M, S>>,
    deferred: VecDeque<Queued<M, S>>,
    sequence: u64,
    events: u64,
    tickets: u64,
    pub(super) pump: Pump,
    pub(super) current: Option<Current<S>>,
    pub(super) level: RunLevel,
    pub(super) gates: Vec<GateView>,
    pub(super) turns: u64,
    pub(super) requeues: u64,
    pub(super) dropped: u64,
}

impl<M, S> Queues<M, S> {
    pub(super) fn new(gates: Vec<GateView>, level: RunLevel) -> Self {
        Self {
            main: VecDeque::new(),
            deferred: VecDeque::new(),
            sequence: 0,
            events: 0,
            tickets: 0,
            pump: Pump::Idle,
            current: None,
            level,
            gates,
            turns: 0,
            requeues: 0,
            dropped: 0,
        }
    }

    /// The hub's next event number: gap-free, because it is only taken here, under T.
    pub(super) fn event(&mut self) -> u64 {
        self.events += 1;
        self.events
    }

    /// Deliveries accepted so far.
    pub(super) fn posted(&self) -> u64 {
        self.sequence
    }

    pub(super) fn main_len(&self) -> usize {
        self.main.len()
    }

    pub(super) fn deferred_len(&self) -> usize {
        self.deferred.len()
    }

    /// Post time of the oldest entry of each queue. The front of a queue is its oldest.
    pub(super) fn oldest(&self) -> (Option<u64>, Option<u64>) {
        (
            self.main.front().map(|queued| queued.posted_at),
            self.deferred.front().map(|queued| queued.posted_at),
        )
    }

    /// Appends a new delivery with the largest sequence ever issued. `stamp` writes its trail
    /// inside the same critical section, given event number, depth and sequence.
    pub(super) fn push<F: Fault>(
        &mut self,
        make: impl FnOnce(u64) -> Queued<M, S>,
        stamp: impl FnOnce(&mut S, u64, usize, u64),
    ) {
        self.sequence += 1;
        let mut queued = make(self.sequence);
        let n = self.event();
        stamp(&mut queued.trail, n, self.main.len() + 1, self.sequence);
        self.main.push_back(queued);
        self.check::<F>();
    }

    /// Claims the drain if nobody has it and there is work; the caller then wakes the drainer.
    #[must_use]
    pub(super) fn schedule(&mut self) -> bool {
        let claim = self.pump == Pump::Idle && !self.main.is_empty();
        if claim {
            self.pump = Pump::Scheduled;
        }
        claim
    }

    /// The last turn is over for good, or went back to a queue and was taken off already.
    pub(super) fn settle(&mut self) {
        if self.current.take().is_some() {
            self.turns += 1;
        }
    }

    /// Takes the oldest turn. From here until it is parked, requeued or handled, the delivery is
    /// in neither queue.
    pub(super) fn pop<F: Fault>(&mut self, now: u64) -> Option<(Queued<M, S>, u64)> {
        let queued = self.main.pop_front()?;
        self.tickets += 1;
        self.current = Some(Current {
            ticket: self.tickets,
            id: queued.id,
            type_name: queued.type_name,
            started_at: now,
            entered: false,
            outcome: None,
            trail: None,
        });
        self.check::<F>();
        Some((queued, self.tickets))
    }

    /// Turns in `main` that are older than `sequence`; they stand at its front.
    fn older_than(&self, sequence: u64) -> usize {
        match self.main.front() {
            Some(head) if head.sequence < sequence => {
                self.main.partition_point(|queued| queued.sequence < sequence)
            }
            _ => 0,
        }
    }

    /// Puts the running turn back where its sequence belongs, as it was received.
    ///
    /// Nothing else can consume the queue meanwhile: the running turn itself holds the drain.
    fn requeue<F: Fault>(
        &mut self,
        mut queued: Queued<M, S>,
        older: usize,
        stamp: impl FnOnce(&mut S, u64, usize),
    ) {
        let n = self.event();
        stamp(&mut queued.trail, n, older);
        self.main.insert(older, queued);
        self.current = None;
        self.requeues += 1;
        self.check::<F>();
    }

    /// Parks the running turn with its original sequence.
    ///
    /// A gate that was opened and closed again while this turn was on its way may have left older
    /// released work in `main`: then the turn goes back behind it, or the queues would cross.
    pub(super) fn park<F: Fault>(
        &mut self,
        mut queued: Queued<M, S>,
        stamp: impl FnOnce(&mut S, u64, usize, usize),
        stamp_requeue: impl FnOnce(&mut S, u64, usize),
    ) -> Parked<M, S> {
        if self.level >= RunLevel::Dead {
            return Parked::Dead(queued);
        }
        let older = self.older_than(queued.sequence);
        if F::BARRIER && older > 0 {
            self.requeue::<F>(queued, older, stamp_requeue);
            return Parked::Requeued;
        }
        if self.deferred.len() >= MAX_PARKED {
            self.dropped += 1;
            return Parked::Full(queued);
        }
        let n = self.event();
        stamp(&mut queued.trail, n, self.deferred.len() + 1, self.main.len());
        self.deferred.push_back(queued);
        self.current = None;
        self.check::<F>();
        Parked::Yes
    }

    /// The arrival barrier and the entry into the handler, in one critical section.
    ///
    /// Under FIFO the head is younger than the running turn. An older head means that a restore
    /// happened behind this turn's back, and it must wait for what it would overtake.
    pub(super) fn enter<F: Fault>(
        &mut self,
        mut queued: Queued<M, S>,
        stamp: impl FnOnce(&mut S, u64),
        stamp_requeue: impl FnOnce(&mut S, u64, usize),
    ) -> Barrier<M, S> {
        if self.level >= RunLevel::Dead {
            return Barrier::Dead(queued);
        }
        let ordered = !queued.kind.is_exempt() && !queued.released;
        let older = self.older_than(queued.sequence);
        if F::BARRIER && ordered && older > 0 {
            self.requeue::<F>(queued, older, stamp_requeue);
            return Barrier::Requeued;
        }
        let n = self.event();
        stamp(&mut queued.trail, n);
        if let Some(current) = &mut self.current {
            current.entered = true;
        }
        Barrier::Enter(queued)
    }

    /// Moves the parked turns ahead of the waiting ones. Returns event number, how many were
    /// restored and how many waited.
    pub(super) fn restore<F: Fault>(&mut self) -> (u64, usize, usize) {
        let (restored, behind) = (self.deferred.len(), self.main.len());
        let n = self.event();
        for queued in &mut self.deferred {
            queued.released = true;
        }
        if F::RESTORE_APPENDS {
            self.main.append(&mut self.deferred);
        } else {
            // At most `MAX_PARKED` moves, however long the main queue is.
            while let Some(queued) = self.deferred.pop_back() {
                self.main.push_front(queued);
            }
        }
        self.check::<F>();
        (n, restored, behind)
    }

    /// Empties both queues for good, oldest first. Moves no entry, however long the backlog is.
    pub(super) fn kill(&mut self) -> impl Iterator<Item = Queued<M, S>> + use<M, S> {
        self.level = RunLevel::Dead;
        let deferred = std::mem::take(&mut self.deferred);
        deferred.into_iter().chain(std::mem::take(&mut self.main))
    }

    /// The invariant, in debug builds of a sound hub.
    fn check<F: Fault>(&self) {
        let kept = F::BARRIER && !F::RESTORE_APPENDS;
        if cfg!(debug_assertions)
            && kept
            && let Err(broken) = self.invariant()
        {
            panic!("{broken}");
        }
    }

    /// The invariant: all of it up to [`FULL_CHECK`] entries, the ends of longer queues.
    fn invariant(&self) -> Result<(), String> {
        for (name, queue) in [("main", &self.main), ("deferred", &self.deferred)] {
            let len = queue.len();
            let ends = len > FULL_CHECK;
            for at in 1..len {
                if ends && at == FULL_CHECK / 2 {
                    break;
                }
                ascending(name, queue, at)?;
            }
            if ends {
                ascending(name, queue, len - 1)?;
            }
        }
        match (self.deferred.back(), self.main.front()) {
            (Some(parked), Some(head)) if parked.sequence >= head.sequence => Err(format!(
                "arrival order: parked {} is not older than the head {} of the main queue",
                parked.sequence, head.sequence
            )),
            _ => Ok(()),
        }
    }
}

/// Whether the entry at `at` is younger than the one before it.
fn ascending<M, S>(name: &str, queue: &VecDeque<Queued<M, S>>, at: usize) -> Result<(), String> {
    let (before, after) = (queue[at - 1].sequence, queue[at].sequence);
    if before < after {
        return Ok(());
    }
    Err(format!("arrival order: {name} queue has {before} before {after} at {at}"))
}

#[cfg(test)]
mod tests {
    use fate_trail::Off;

    use super::super::fault::Sound;
    use super::*;

    fn queues(count: u64) -> Queues<(), Off> {
        let mut queues = Queues::new(Vec::new(), RunLevel::Started);
        for number in 0..count {
            let make = |sequence| Queued {
                sequence,
                id: DeliveryId::number(number),
                kind: Kind::Ordinary,
                type_name: "()",
                message: (),
                trail: Off,
                posted_at: 0,
                origin: Origin::default(),
                released: false,
            };
            queues.push::<Sound>(make, |_, _, _, _| {});
        }
        queues
    }

    #[test]
    fn the_invariant_sees_a_crossed_queue_at_the_ends_of_a_long_one_too() {
        for count in [3, 4 * FULL_CHECK as u64] {
            let mut swapped = queues(count);
            assert_eq!(swapped.invariant(), Ok(()));
            let last = swapped.main.len() - 1;
            swapped.main.swap(last - 1, last);
            assert!(swapped.invariant().is_err(), "the end of {count}");
            swapped.main.swap(last - 1, last);
            swapped.main.swap(0, 1);
            assert!(swapped.invariant().is_err(), "the front of {count}");
        }
    }

    #[test]
    fn the_invariant_sees_a_parked_turn_that_is_younger_than_a_waiting_one() {
        let mut crossed = queues(3);
        let youngest = crossed.main.pop_back().unwrap();
        crossed.deferred.push_back(youngest);
        let broken = crossed.invariant().unwrap_err();
        assert!(broken.contains("parked 3 is not older than the head 1"), "{broken}");
    }
}
