//! Subscribers: each has a bounded queue of its own, filled by the one reader of the rings. A slow
//! one loses its own oldest records, and counts them; it holds up neither the others nor a stamp.

use std::collections::VecDeque;
use std::thread;
use std::time::Duration;

use super::{Inner, Recorder, RingRecord};
use crate::limits::SUBSCRIBERS;
use crate::sync::{Arc, AtomicBool, Condvar, Mutex, Ordering, Weak};

/// Records for one subscriber, in the order in which its reader saw them: each thread's in order,
/// threads one after the other. Ends with its last clone.
#[derive(Debug)]
pub struct Subscription {
    queue: Arc<Queue>,
}

/// Counts of one subscriber: `offered = delivered + dropped + waiting`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SubscriptionStatus {
    /// Records that were read from the rings since it subscribed.
    pub offered: u64,
    /// Records that it took.
    pub delivered: u64,
    /// Records that it was too slow for.
    pub dropped: u64,
    /// Records that wait for it.
    pub waiting: u64,
    /// Records that the rings lost before they were read; every subscriber misses these.
    pub lost: u64,
}

#[derive(Debug)]
struct Queue {
    capacity: usize,
    state: Mutex<State>,
    ready: Condvar,
}

#[derive(Debug, Default)]
struct State {
    records: VecDeque<RingRecord>,
    offered: u64,
    delivered: u64,
    dropped: u64,
    lost: u64,
    closed: bool,
}

impl Subscription {
    /// Takes what waits, without waiting.
    pub fn take(&self) -> Vec<RingRecord> {
        self.queue.state.lock().take()
    }

    /// Takes what waits; where nothing does, waits for the next records, for that long at most.
    pub fn wait(&self, limit: Duration) -> Vec<RingRecord> {
        let guard = self.queue.state.lock();
        let done = |state: &mut State| !state.records.is_empty() || state.closed;
        self.queue.ready.wait_until(guard, limit, done).take()
    }

    /// True once the recorder is gone; what waits can still be taken.
    pub fn is_closed(&self) -> bool {
        self.queue.state.lock().closed
    }

    /// The counts at this moment.
    pub fn status(&self) -> SubscriptionStatus {
        let state = self.queue.state.lock();
        SubscriptionStatus {
            offered: state.offered,
            delivered: state.delivered,
            dropped: state.dropped,
            waiting: state.records.len() as u64,
            lost: state.lost,
        }
    }
}

impl State {
    fn take(&mut self) -> Vec<RingRecord> {
        let records: Vec<RingRecord> = self.records.drain(..).collect();
        self.delivered += records.len() as u64;
        records
    }
}

impl Queue {
    fn offer(&self, records: &[RingRecord], lost: u64) {
        let mut state = self.state.lock();
        state.offered += records.len() as u64;
        state.lost += lost;
        // The newest stay, as everywhere else.
        let newest = &records[records.len().saturating_sub(self.capacity)..];
        let surplus = (state.records.len() + newest.len()).saturating_sub(self.capacity);
        state.records.drain(..surplus);
        state.records.extend(newest);
        state.dropped += (surplus + records.len() - newest.len()) as u64;
        self.ready.notify_all();
    }
}

/// All subscribers of a recorder and whether a thread reads for them.
#[derive(Debug, Default)]
pub(super) struct Subscribers {
    queues: Mutex<Vec<Weak<Queue>>>,
    reading: AtomicBool,
}

impl Subscribers {
    /// The queues that somebody still holds; forgets the others.
    fn live(&self) -> Vec<Arc<Queue>> {
        let mut queues = self.queues.lock();
        queues.retain(|queue| queue.strong_count() > 0);
        queues.iter().filter_map(Weak::upgrade).collect()
    }
}

impl Drop for Subscribers {
    fn drop(&mut self) {
        for queue in self.live() {
            queue.state.lock().closed = true;
            queue.ready.notify_all();
        }
    }
}

impl Recorder {
    /// Subscribes to the stages of all threads from now on; at most `capacity` records wait.
    /// `None` where there are [`SUBSCRIBERS`] already.
    ///
    /// The first subscriber starts the reader thread, unless
    /// [`RecorderConfig::read_interval`](super::RecorderConfig::read_interval) is `None`; the last one
    /// to go ends it.
    pub fn subscribe(&self, capacity: usize) -> Option<Subscription> {
        let subscribers = &self.0.subscribers;
        // What was recorded before is not for the new one.
        self.pump();
        let state = Mutex::new(State { records: VecDeque::with_capacity(capacity), ..State::default() });
        let queue = Arc::new(Queue { capacity, state, ready: Condvar::default() });
        let mut queues = subscribers.queues.lock();
        queues.retain(|queue| queue.strong_count() > 0);
        if queues.len() >= SUBSCRIBERS {
            return None;
        }
        queues.push(Arc::downgrade(&queue));
        drop(queues);
        if let Some(interval) = self.0.config.read_interval {
            self.start_reader(interval);
        }
        Some(Subscription { queue })
    }

    /// Reads the rings once and hands the records to every subscriber. What the reader thread does
    /// at its interval; for whoever drives the reading itself.
    pub fn pump(&self) {
        pump(&self.0);
    }

    fn start_reader(&self, interval: Duration) {
        if self.0.subscribers.reading.swap(true, Ordering::AcqRel) {
            return;
        }
        let recorder = Arc::downgrade(&self.0);
        let read = move || read_until_nobody_listens(&recorder, interval);
        let started = thread::Builder::new().name("fate-trail-reader".to_owned()).spawn(read);
        if started.is_err() {
            // Out of threads: the next subscriber tries again, and `pump` still works.
            self.0.subscribers.reading.store(false, Ordering::Release);
        }
    }
}

fn pump(inner: &Inner) {
    let drained = inner.threads.drain();
    for queue in inner.subscribers.live() {
        queue.offer(&drained.records, drained.lost);
    }
}

fn read_until_nobody_listens(recorder: &Weak<Inner>, interval: Duration) {
    while let Some(inner) = recorder.upgrade() {
        pump(&inner);
        if inner.subscribers.live().is_empty() {
            inner.subscribers.reading.store(false, Ordering::Release);
            // Whoever subscribed between the look and the store saw a reader and started none.
            if inner.subscribers.live().is_empty() || inner.subscribers.reading.swap(true, Ordering::AcqRel) {
                return;
            }
        }
        drop(inner);
        thread::park_timeout(interval);
    }
}
