//! One turn, from the queue to its handler or back into a queue.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fate_trail::Storage;

use super::Core;
use super::fault::Fault;
use super::handler::{Handler, Outcome, Progress, Turn};
use super::probe::{Point, Probe};
use super::pump::{Lend, Went};
use super::queues::{Barrier, Parked, Queued, Queues};
use super::stamp::Stamper;
use crate::limits::MAX_PARKED;
use crate::observe::RunLevel;
use crate::sync::{Arc, Ordering};

impl<H, S, F, P> Core<H, S, F, P>
where
    H: Handler,
    S: Storage,
    F: Fault,
    P: Probe,
{
    /// Stamps the start of a turn; under T.
    pub(super) fn start(
        &self,
        queues: &mut Queues<H::Message, S>,
        mut queued: Queued<H::Message, S>,
        now: u64,
    ) -> Queued<H::Message, S> {
        let n = queues.event();
        self.stamper.turn_start(&mut queued.trail, n, queues.main_len(), now);
        queued
    }

    /// Takes a turn as far as it goes: read, gate decision, arrival barrier, handler.
    pub(super) fn run(self: &Arc<Self>, mut queued: Queued<H::Message, S>, ticket: u64) -> Went {
        self.probe.at(Point::Popped);
        if queued.released {
            self.stamper.drained(&mut queued.trail);
        }
        let read = catch_unwind(AssertUnwindSafe(|| self.handler.unpack(&queued.message)));
        let unpacked = match read {
            Ok(Ok(unpacked)) => unpacked,
            Ok(Err(reason)) => {
                self.stamper.unpack_failed(queued.trail, queued.type_name, &reason);
                discard(queued.message);
                return Went::On(None);
            }
            Err(panic) => {
                let now = self.stamper.ended(queued.trail, &panic_outcome("unpack", panic));
                discard(queued.message);
                return Went::On(Some(now));
            }
        };
        self.probe.at(Point::Unpacked);
        let Some(queued) = self.pass_gates(queued) else {
            discard(unpacked);
            return Went::On(None);
        };
        self.probe.at(Point::Barrier);
        let Some(queued) = self.pass_barrier(queued) else {
            discard(unpacked);
            return Went::On(None);
        };
        self.probe.at(Point::HandlerEnter);
        self.handle(queued, unpacked, ticket)
    }

    /// The gate decision. `None` if the turn does not go on.
    ///
    /// Exempt kinds are decided first and from the envelope: computing the exemption only where a
    /// gate was seen closed would leave it to the timing of an opening.
    fn pass_gates(&self, mut queued: Queued<H::Message, S>) -> Option<Queued<H::Message, S>> {
        let exempt = queued.kind.is_exempt();
        let closed = self.closed.load(Ordering::Acquire) > 0;
        self.probe.at(Point::GateFastRead);
        if !closed || queued.released {
            return Some(queued);
        }
        if exempt {
            self.stamper.bypass(&mut queued.trail, queued.kind);
            return Some(queued);
        }
        self.probe.at(Point::GateLockWait);
        self.decide_under_lock(queued)
    }

    /// A gate was seen closed: looks again under G, and parks the turn there if need be.
    fn decide_under_lock(&self, mut queued: Queued<H::Message, S>) -> Option<Queued<H::Message, S>> {
        let gates = self.gates.lock();
        if gates.closed_count() == 0 {
            return Some(queued);
        }
        let asked = catch_unwind(AssertUnwindSafe(|| gates.admitting(queued.kind, &queued.message)));
        match asked {
            Ok(Some(at)) => {
                self.stamper.admitted(&mut queued.trail, self.gate_symbols[at]);
                return Some(queued);
            }
            Ok(None) => {}
            Err(panic) => {
                drop(gates);
                self.stamper.ended(queued.trail, &panic_outcome("gate admission", panic));
                discard(queued.message);
                return None;
            }
        }
        let set = gates.closed_set;
        let parked = self.queues.lock().park::<F>(
            queued,
            |trail, n, depth, behind| self.stamper.deferred(trail, n, set, depth, behind),
            |trail, n, older| self.stamper.requeued(trail, n, older),
        );
        drop(gates);
        match parked {
            Parked::Yes | Parked::Requeued => {}
            Parked::Full(queued) => {
                self.stamper.backlog_full(queued.trail, MAX_PARKED);
                discard(queued.message);
            }
            Parked::Dead(queued) => bury(&self.stamper, queued),
        }
        None
    }

    /// The arrival barrier, met by every turn whatever its gate decision was: a turn that saw no
    /// gate may have been overtaken by a restore just as well as one that waited for the lock.
    fn pass_barrier(&self, queued: Queued<H::Message, S>) -> Option<Queued<H::Message, S>> {
        let barrier = self.queues.lock().enter::<F>(
            queued,
            |trail, n| self.stamper.handler_enter(trail, n),
            |trail, n, older| self.stamper.requeued(trail, n, older),
        );
        match barrier {
            Barrier::Enter(queued) => Some(queued),
            Barrier::Requeued => None,
            Barrier::Dead(queued) => {
                bury(&self.stamper, queued);
                None
            }
        }
    }

    /// Calls the handler and sees the turn to its end, or leaves it pending.
    fn handle(self: &Arc<Self>, queued: Queued<H::Message, S>, unpacked: H::Unpacked, ticket: u64) -> Went {
        let Queued { sequence, id, kind, message, trail, origin, released, .. } = queued;
        let lend = Lend(self);
        let taken = Cell::new(false);
        let turn = Turn { id, kind, sequence, origin, released, ticket, source: &lend, taken };
        let started = catch_unwind(AssertUnwindSafe(|| self.handler.handle(message, unpacked, &turn)));
        let outcome = match started {
            Ok(Progress::Pending) if turn.taken.get() => return self.suspend(ticket, trail),
            Ok(Progress::Pending) => Outcome::Failed(
                "handler: pending, but nobody took the turn's completion; take it first".to_owned(),
            ),
            Ok(Progress::Done(outcome)) => outcome,
            Err(panic) => panic_outcome("handler", panic),
        };
        Went::On(Some(self.stamper.ended(trail, &outcome)))
    }
}

/// Ends a delivery that a dead hub will not handle.
pub(super) fn bury<M, S: Storage>(stamper: &Stamper, queued: Queued<M, S>) {
    stamper.disposing(queued.trail, RunLevel::Dead);
    discard(queued.message);
}

/// Drops user data outside every lock.
fn discard<T>(data: T) {
    quietly(|| drop(data));
}

/// Does what may panic and has nobody to tell, but must not take the drain with it.
pub(crate) fn quietly(act: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(act)) {
        // What a panic carries is user data whose own drop may panic, and so on without end.
        std::mem::forget(panic);
    }
}

/// A panic as the end of a turn.
pub(crate) fn panic_outcome(place: &str, panic: Box<dyn Any + Send>) -> Outcome {
    let outcome = Outcome::Failed(format!("{place} panicked: {}", panic_text(&*panic)));
    discard(panic);
    outcome
}

/// What a panic said, as far as it is text.
fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without text")
}
