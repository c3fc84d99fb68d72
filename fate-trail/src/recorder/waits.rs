//! Waiting for a stage at a hub, for tests: told by the stamp itself, so nobody polls and nobody sleeps.
//!
//! While nobody waits, a stamp pays one relaxed load of a word that does not change.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::Recorder;
use crate::names::HubId;
use crate::stage::StageId;
use crate::sync::{Arc, AtomicU64, Condvar, Mutex, Ordering};

/// Who waits at one recorder.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// Entries of the list, so that a stamp need not take its lock.
    count: AtomicU64,
    list: Mutex<Vec<Arc<Shared>>>,
}

#[derive(Debug)]
struct Shared {
    stage: StageId,
    hub: HubId,
    state: Mutex<State>,
    seen: Condvar,
}

#[derive(Debug, Default)]
struct State {
    seen: u64,
    wakers: Vec<Waker>,
}

impl Waits {
    /// A stage was stamped.
    #[inline]
    pub(crate) fn stamped(&self, stage: u16, hub: u16) {
        if self.count.load(Ordering::Relaxed) != 0 {
            self.tell(stage, hub);
        }
    }

    #[cold]
    fn tell(&self, stage: u16, hub: u16) {
        let is_it = |shared: &&Arc<Shared>| (shared.stage.index(), shared.hub.index()) == (stage, hub);
        // Whoever is woken may make or drop waits, so no lock is held by then.
        let waiting: Vec<Arc<Shared>> = self.list.lock().iter().filter(is_it).cloned().collect();
        for shared in waiting {
            let mut state = shared.state.lock();
            state.seen += 1;
            let wakers = std::mem::take(&mut state.wakers);
            drop(state);
            shared.seen.notify_all();
            wakers.into_iter().for_each(Waker::wake);
        }
    }
}

impl Recorder {
    /// Waits for a stage at a hub, from this call on: make it before the act that leads to the stage, then
    /// [`wait`](StageWait::wait) or `await` it. Whole names are compared, so `host/1` is not `host/12`.
    ///
    /// Sees what is stamped into a trail of this recorder, kept or not, and hub-level stages. For tests:
    /// while anybody waits, stamps take a lock.
    pub fn wait_for(&self, stage: StageId, hub: HubId) -> StageWait {
        let shared = Arc::new(Shared { stage, hub, state: Mutex::default(), seen: Condvar::default() });
        let waits = self.waits();
        let mut list = waits.list.lock();
        list.push(shared.clone());
        waits.count.store(list.len() as u64, Ordering::Relaxed);
        drop(list);
        StageWait { recorder: self.clone(), shared }
    }
}

/// A stage that somebody waits for; see [`Recorder::wait_for`]. As a future it ends with the first one.
#[derive(Debug)]
#[must_use = "it sees stages only while it is there"]
pub struct StageWait {
    recorder: Recorder,
    shared: Arc<Shared>,
}

impl StageWait {
    /// How often the stage was stamped since the wait began.
    pub fn seen(&self) -> u64 {
        self.shared.state.lock().seen
    }

    /// Blocks until the stage was stamped that many times, counted from the beginning of the wait.
    ///
    /// # Errors
    /// [`WaitTimeout`] where it was not in time.
    pub fn wait(&self, times: u64, timeout: Duration) -> Result<(), WaitTimeout> {
        let shared = &self.shared;
        let state = shared.seen.wait_until(shared.state.lock(), timeout, |state| state.seen >= times);
        if state.seen >= times {
            return Ok(());
        }
        let hub = self.recorder.hub_name(shared.hub);
        Err(WaitTimeout {
            stage: shared.stage,
            hub,
            seen: state.seen,
            times,
            timeout,
            on: self.recorder.is_on(),
        })
    }
}

impl Future for StageWait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.shared.state.lock();
        if state.seen > 0 {
            return Poll::Ready(());
        }
        if !state.wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
            state.wakers.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

impl Drop for StageWait {
    fn drop(&mut self) {
        let waits = self.recorder.waits();
        let mut list = waits.list.lock();
        list.retain(|other| !Arc::ptr_eq(other, &self.shared));
        waits.count.store(list.len() as u64, Ordering::Relaxed);
    }
}

/// A stage that did not come in time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WaitTimeout {
    stage: StageId,
    hub: String,
    seen: u64,
    times: u64,
    timeout: Duration,
    on: bool,
}

impl fmt::Display for WaitTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WaitTimeout { stage, hub, seen, times, timeout, on } = self;
        write!(f, "`{stage}` was stamped {seen} times at hub `{hub}` within {timeout:?}, {times} awaited")?;
        if !on {
            return f.write_str("; the recorder is off, so nothing is stamped");
        }
        f.write_str("; a wait sees only what is stamped after it was made, so make it before the act")
    }
}

impl std::error::Error for WaitTimeout {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::{Handle, RecorderConfig, Storage};
    use crate::stage::{DEFERRED, ENQUEUED, GATE_DRAIN};

    /// Far more than any thread needs; only a failing test takes so long.
    const LONG: Duration = Duration::from_secs(60);

    fn post(recorder: &Recorder, hub: &str, stage: StageId) {
        let mut trail = Handle::begin(recorder, 1);
        trail.stamp(recorder, recorder.hub(hub), stage, 0);
        trail.finish(recorder);
    }

    #[test]
    fn a_wait_ends_with_its_stage_at_its_hub_and_no_other() {
        let recorder = Recorder::new(RecorderConfig::default());
        let wait = recorder.wait_for(ENQUEUED, recorder.hub("host/1"));
        post(&recorder, "host/12", ENQUEUED);
        post(&recorder, "host/1", DEFERRED);
        assert_eq!(wait.seen(), 0);
        std::thread::scope(|scope| {
            scope.spawn(|| (0..3).for_each(|_| post(&recorder, "host/1", ENQUEUED)));
            wait.wait(3, LONG).expect("stamped");
        });
        assert_eq!(wait.seen(), 3);
    }

    #[test]
    fn hub_level_stages_and_threads_without_a_ring_are_seen() {
        let recorder = Recorder::new(RecorderConfig { ring_slots: 0, ..RecorderConfig::default() });
        let hub = recorder.hub("h");
        let (drain, queued) = (recorder.wait_for(GATE_DRAIN, hub), recorder.wait_for(ENQUEUED, hub));
        recorder.hub_stamp(hub, GATE_DRAIN, &[1], None);
        post(&recorder, "h", ENQUEUED);
        assert_eq!((drain.seen(), queued.seen()), (1, 1));
    }

    #[test]
    fn a_wait_that_was_dropped_costs_nothing_any_more() {
        let recorder = Recorder::new(RecorderConfig::default());
        let (one, two) = [ENQUEUED, DEFERRED].map(|stage| recorder.wait_for(stage, recorder.hub("h"))).into();
        drop(one);
        assert_eq!(recorder.waits().count.load(Ordering::Relaxed), 1);
        post(&recorder, "h", DEFERRED);
        assert_eq!(two.seen(), 1);
        drop(two);
        assert_eq!(recorder.waits().count.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn what_did_not_come_is_told_with_its_remedy() {
        let recorder = Recorder::new(RecorderConfig::default());
        post(&recorder, "h", ENQUEUED);
        let wait = recorder.wait_for(ENQUEUED, recorder.hub("h"));
        let error = wait.wait(1, Duration::ZERO).expect_err("it came before").to_string();
        assert!(
            error.starts_with("`ENQUEUED` was stamped 0 times at hub `h` within 0ns, 1 awaited"),
            "{error}"
        );
        assert!(error.ends_with("make it before the act"), "{error}");
        recorder.set_on(false);
        let error = wait.wait(1, Duration::ZERO).expect_err("off").to_string();
        assert!(error.contains("the recorder is off"), "{error}");
    }

    #[test]
    fn a_future_is_woken_by_the_stamp() {
        struct Flag(AtomicU64);
        impl std::task::Wake for Flag {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let recorder = Recorder::new(RecorderConfig::default());
        let flag = Arc::new(Flag(AtomicU64::new(0)));
        let waker = Waker::from(flag.clone());
        let mut wait = std::pin::pin!(recorder.wait_for(ENQUEUED, recorder.hub("h")));
        for _ in 0..2 {
            assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        post(&recorder, "h", ENQUEUED);
        assert_eq!(flag.0.load(Ordering::Relaxed), 1, "woken once, however often it was polled");
        assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
    }
}
