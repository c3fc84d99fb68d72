//! An async function as the core's handler: its future is polled inside the hub's own task.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context as Task, Poll, Waker};

use super::pump::Polled;
use super::watched::{Around, Watch};
use super::{Context, Hub, Ops};
use crate::core::{Completion, Handler, Outcome, Progress, Turn, panic_outcome, quietly};
use crate::sync::Mutex;

/// Wakes the hub's task from any thread.
#[derive(Debug, Default)]
pub(crate) struct WakeCell {
    waker: Mutex<Option<Waker>>,
}

impl WakeCell {
    /// Wakes the task. Before its first poll there is no need: that poll looks for work anyway.
    pub(crate) fn wake(&self) {
        let waker = self.waker.lock().clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Remembers whom to wake.
    pub(crate) fn register(&self, waker: &Waker) {
        let mut known = self.waker.lock();
        if !known.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *known = Some(waker.clone());
        }
    }
}

/// A function from message to future.
pub(crate) struct AsyncHandler<M, Run, Fut> {
    run: Run,
    watch: Watch,
    hub: OnceLock<Weak<dyn Ops<M>>>,
    slot: Mutex<Slot<Fut>>,
}

/// The running turn's future, in memory that is used again for every turn.
struct Slot<Fut> {
    future: Pin<Box<Option<Fut>>>,
    around: Option<Around>,
    completion: Option<Completion>,
    waker: Option<Waker>,
}

impl<M, Run, Fut> AsyncHandler<M, Run, Fut>
where
    Fut: Future,
    Fut::Output: Into<Outcome>,
{
    pub(crate) fn new(run: Run, watch: Watch) -> Self {
        let slot = Slot { future: Box::pin(None), around: None, completion: None, waker: None };
        Self { run, watch, hub: OnceLock::new(), slot: Mutex::new(slot) }
    }

    /// Tells the handler which hub it belongs to; weakly, since the hub owns it.
    pub(crate) fn attach(&self, hub: &Arc<dyn Ops<M>>) {
        // Called once, by the maker; a second call would change nothing.
        let _ = self.hub.set(Arc::downgrade(hub));
    }
}

impl<Fut> Slot<Fut>
where
    Fut: Future,
    Fut::Output: Into<Outcome>,
{
    /// Polls the future; when it ends or panics it is dropped.
    fn poll(&mut self) -> Poll<Outcome> {
        let mut task = Task::from_waker(self.waker.as_ref().unwrap_or(Waker::noop()));
        let Some(future) = self.future.as_mut().as_pin_mut() else {
            return Poll::Ready(Outcome::Cancelled);
        };
        let polled = {
            let _scope = self.around.as_ref().map(Around::enter);
            catch_unwind(AssertUnwindSafe(|| future.poll(&mut task).map(Into::into)))
        };
        let outcome = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(outcome)) => outcome,
            Err(panic) => panic_outcome("handler", panic),
        };
        self.clear(&outcome);
        Poll::Ready(outcome)
    }

    /// Drops the future and ends what surrounded it. What its own drop panics about is not the hub's
    /// end.
    fn clear(&mut self, outcome: &Outcome) {
        let around = self.around.take();
        {
            let _scope = around.as_ref().map(Around::enter);
            let future = &mut self.future;
            quietly(|| future.as_mut().set(None));
        }
        if let Some(around) = around {
            around.end(outcome);
        }
    }
}

impl<M, Run, Fut> Handler for AsyncHandler<M, Run, Fut>
where
    M: Send + 'static,
    Run: Fn(Context<M>, M) -> Fut + Send + Sync + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Into<Outcome>,
{
    type Message = M;
    type Unpacked = ();

    fn unpack(&self, _message: &M) -> Result<(), String> {
        Ok(())
    }

    fn handle(&self, message: M, (): (), turn: &Turn<'_>) -> Progress {
        let Some(ops) = self.hub.get().and_then(Weak::upgrade) else {
            // The hub's task owns the hub, so a turn without one is a turn during its end.
            return Progress::Done(Outcome::Cancelled);
        };
        let context =
            Context { hub: Hub { ops }, id: turn.id(), kind: turn.kind(), sequence: turn.sequence() };
        let around = self.watch.begin(turn);
        let future = {
            let _scope = around.enter();
            (self.run)(context, message)
        };
        let mut slot = self.slot.lock();
        slot.future.set(Some(future));
        slot.around = Some(around);
        match slot.poll() {
            Poll::Ready(outcome) => Progress::Done(outcome),
            Poll::Pending => {
                slot.completion = Some(turn.completion());
                Progress::Pending
            }
        }
    }
}

impl<M, Run, Fut> Polled for AsyncHandler<M, Run, Fut>
where
    M: Send + 'static,
    Run: Fn(Context<M>, M) -> Fut + Send + Sync + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Into<Outcome>,
{
    fn poll_pending(&self, waker: &Waker) -> bool {
        let mut slot = self.slot.lock();
        if !slot.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            slot.waker = Some(waker.clone());
        }
        if slot.completion.is_none() {
            return true;
        }
        let Poll::Ready(outcome) = slot.poll() else {
            return false;
        };
        let completion = slot.completion.take();
        drop(slot);
        if let Some(completion) = completion {
            completion.done(outcome);
        }
        true
    }

    fn cancel(&self) {
        let mut slot = self.slot.lock();
        slot.clear(&Outcome::Cancelled);
        let completion = slot.completion.take();
        drop(slot);
        drop(completion);
    }
}
