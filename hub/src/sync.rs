//! The only synchronisation the core may use, so that one source runs on real threads and, later,
//! under a model checker.
//!
//! The subset is small on purpose: a lock without poison in its API, a condition variable, atomics
//! and `Arc`. A test forbids `std::sync` anywhere else under `core`.

use std::time::Duration;

pub use std::sync::Arc;
pub use std::sync::MutexGuard;
pub use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Mutual exclusion without poisoning: a panic while the lock is held releases it and nothing else.
///
/// The core catches panics of user code itself and keeps its invariant by construction, so a
/// poisoned lock would only turn one failed turn into a dead hub.
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A lock around `value`.
    pub fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// Waits for the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Waiting for a condition guarded by a [`Mutex`].
#[derive(Debug, Default)]
pub struct Condvar(std::sync::Condvar);

impl Condvar {
    /// A condition nobody waits for yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Wakes every waiter.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }

    /// Waits until `done` holds. Gives the guard back, and whether it holds: `false` says that
    /// `limit` passed first.
    pub fn wait_until<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Duration,
        mut done: impl FnMut(&mut T) -> bool,
    ) -> (MutexGuard<'a, T>, bool) {
        let (guard, wait) = self
            .0
            .wait_timeout_while(guard, limit, |value| !done(value))
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        (guard, !wait.timed_out())
    }
}
