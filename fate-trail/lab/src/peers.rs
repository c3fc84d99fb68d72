//! What the recorder is compared with: a bare reading of the counter, a queue under a lock, and two
//! libraries that record something.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use fastrace::collector::{Config, Reporter, SpanContext, SpanRecord};
use fastrace::prelude::*;
use tracing_subscriber::layer::SubscriberExt;

/// Items that the queue under the lock holds before it forgets the oldest.
const QUEUE: usize = 8192;

/// One bare reading of the time stamp counter; of nothing where there is none.
pub fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction reads a register that every x86-64 processor has, and touches no memory.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// A bounded queue of 32-byte records behind a lock.
#[derive(Debug, Default)]
pub struct Locked(Mutex<VecDeque<[u64; 4]>>);

impl Locked {
    /// Appends a record and forgets the oldest where the queue is full.
    pub fn push(&self, record: [u64; 4]) {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.len() == QUEUE {
            queue.pop_front();
        }
        queue.push_back(record);
    }
}

/// Throws away what it is given.
struct Nowhere;

impl Reporter for Nowhere {
    fn report(&mut self, _: Vec<SpanRecord>) {}
}

/// Makes `fastrace` record; its collector throws the spans away.
pub fn start_fastrace() {
    fastrace::set_reporter(Nowhere, Config::default());
}

/// A root span with six events, as `fastrace` records one delivery.
pub fn fastrace_delivery() {
    let root = Span::root("delivery", SpanContext::random());
    for name in ["enqueued", "depth", "start", "enter", "exit", "end"] {
        root.add_event(Event::new(name));
    }
}

/// A layer that does nothing.
struct Nothing;

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Nothing {}

/// Runs `work` where `tracing` events reach a layer that does nothing.
pub fn with_nothing_layer(work: impl FnOnce()) {
    tracing::subscriber::with_default(tracing_subscriber::registry().with(Nothing), work);
}

/// One `tracing` event with three numbers.
pub fn tracing_event(n: u64) {
    tracing::info!(n, depth = 1, seq = n);
}
