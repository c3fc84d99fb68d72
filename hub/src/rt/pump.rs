//! The hub's one task: polls the pending turn, then drains, then sleeps until it is woken.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Task, Poll, Waker};

use fate_trail::Storage;

use super::Shell;
use crate::core::fault::Fault;
use crate::core::probe::Probe;
use crate::core::{Drained, Handler};
use crate::limits::DRAIN_BATCH;

/// A handler whose pending turn the hub's task carries on.
pub(crate) trait Polled: Handler {
    /// Polls the pending turn, if any, and ends it when its future does. `false` while it goes on.
    fn poll_pending(&self, waker: &Waker) -> bool;
    /// Drops the pending turn's future; the turn ends as cancelled.
    fn cancel(&self);
}

/// Runs one hub until it is dead and its last turn has ended.
pub(crate) struct Pump<H, S, F, P>
where
    H: Polled,
    S: Storage,
    F: Fault,
    P: Probe,
{
    pub(crate) shell: Arc<Shell<H, S, F, P>>,
}

impl<H, S, F, P> Future for Pump<H, S, F, P>
where
    H: Polled,
    S: Storage,
    F: Fault,
    P: Probe,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<()> {
        let shell = &self.shell;
        // Before looking for work, so that work that comes after the look wakes this task again.
        shell.waker.register(task.waker());
        if !shell.core.handler().poll_pending(task.waker()) {
            return Poll::Pending;
        }
        match shell.core.drain(DRAIN_BATCH) {
            // A task that wakes itself while it runs goes to the back of the queue.
            Drained::More => task.waker().wake_by_ref(),
            Drained::Pending => {}
            Drained::Idle | Drained::NotWanted => {
                if shell.core.is_finished() {
                    return Poll::Ready(());
                }
            }
        }
        Poll::Pending
    }
}

impl<H, S, F, P> Drop for Pump<H, S, F, P>
where
    H: Polled,
    S: Storage,
    F: Fault,
    P: Probe,
{
    /// The hub ended, or its runtime shuts down with turns outstanding: they all get a fate.
    fn drop(&mut self) {
        self.shell.core.dispose();
        self.shell.core.handler().cancel();
        self.shell.finished.send_replace(true);
    }
}
