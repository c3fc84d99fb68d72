//! The drain: who runs turns, when it stops, and how a pending turn starts it again exactly once.

use fate_trail::Storage;

use super::Core;
use super::fault::Fault;
use super::handler::{Complete, Handler, Outcome, Source};
use super::probe::Probe;
use super::queues::Pump;
use crate::sync::Arc;

/// Why a drain stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "`More` asks for another drain"]
pub enum Drained {
    /// The main queue is empty; the next post or opening wakes.
    Idle,
    /// A turn is pending; its completion wakes.
    Pending,
    /// The batch is used up and there is more: nobody will be woken, drain again after giving
    /// other work a chance.
    More,
    /// Nobody had asked for a drain, or somebody else is draining. Nothing was done.
    NotWanted,
}

/// Where a turn has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Went {
    /// It ended, or went back to a queue: take the next. With the time, where it was read last.
    On(Option<u64>),
    /// It is pending: stop.
    Pending,
}

impl<H, S, F, P> Core<H, S, F, P>
where
    H: Handler,
    S: Storage,
    F: Fault,
    P: Probe,
{
    /// Runs up to `batch` turns, oldest first, until none is left or one is pending.
    ///
    /// To be called after each wake. A call that nobody asked for does nothing, so that at no time
    /// two threads run turns of one hub.
    pub fn drain(self: &Arc<Self>, batch: usize) -> Drained {
        {
            let mut queues = self.queues.lock();
            if queues.pump != Pump::Scheduled {
                return Drained::NotWanted;
            }
            queues.pump = Pump::Draining;
        }
        let mut read = None;
        for _ in 0..batch {
            // The end of one turn is the start of the next.
            let now = read.unwrap_or_else(|| self.recorder().now());
            let mut queues = self.queues.lock();
            queues.settle();
            let Some((queued, ticket)) = queues.pop::<F>(now) else {
                // In the same critical section as the look: a post after it sees nobody draining.
                queues.pump = Pump::Idle;
                return Drained::Idle;
            };
            let queued = self.start(&mut queues, queued, now);
            drop(queues);
            match self.run(queued, ticket) {
                Went::On(last) => read = last,
                Went::Pending => return Drained::Pending,
            }
        }
        let mut queues = self.queues.lock();
        queues.settle();
        if queues.main_len() == 0 {
            queues.pump = Pump::Idle;
            return Drained::Idle;
        }
        queues.pump = Pump::Scheduled;
        Drained::More
    }

    /// One turn: a drain with a batch of one.
    pub fn step(self: &Arc<Self>) -> Drained {
        self.drain(1)
    }

    /// Leaves a turn to its completion, unless that has come already.
    pub(super) fn suspend(&self, ticket: u64, trail: S) -> Went {
        let mut queues = self.queues.lock();
        let Some(current) = queues.current.as_mut().filter(|turn| turn.ticket == ticket) else {
            // Only this drain takes turns off, so the running one is always there.
            drop(queues);
            return Went::On(Some(self.stamper.ended(trail, &Outcome::Cancelled)));
        };
        if let Some(outcome) = current.outcome.take() {
            drop(queues);
            return Went::On(Some(self.stamper.ended(trail, &outcome)));
        }
        current.trail = Some(trail);
        queues.pump = Pump::Suspended;
        Went::Pending
    }
}

impl<H, S, F, P> Complete for Core<H, S, F, P>
where
    H: Handler,
    S: Storage,
    F: Fault,
    P: Probe,
{
    fn complete(&self, ticket: u64, outcome: Outcome) -> bool {
        let trail = {
            let mut queues = self.queues.lock();
            let suspended = queues.pump == Pump::Suspended;
            let Some(current) = queues.current.as_mut().filter(|turn| turn.ticket == ticket) else {
                return false;
            };
            if !suspended {
                // The handler's start has not returned yet; the drain finds the outcome there.
                let first = current.outcome.is_none();
                if first {
                    current.outcome = Some(outcome);
                }
                return first;
            }
            let Some(trail) = current.trail.take() else {
                return false;
            };
            trail
        };
        // The hub stays suspended while the end is written, so the trail is there before the next
        // turn starts.
        self.stamper.ended(trail, &outcome);
        let mut queues = self.queues.lock();
        queues.settle();
        queues.pump = Pump::Idle;
        let wanted = queues.schedule();
        drop(queues);
        if wanted {
            (self.wake)();
        }
        true
    }
}

/// Lends the core to a handler without counting references.
pub(super) struct Lend<'a, C>(pub(super) &'a Arc<C>);

impl<C: Complete + 'static> Source for Lend<'_, C> {
    fn complete(&self) -> Arc<dyn Complete> {
        Arc::clone(self.0) as Arc<dyn Complete>
    }
}
