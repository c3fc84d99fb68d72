//! The synchronisation primitives of the crate. Nothing else names `std::sync`, so that a model
//! checker can take their place in one spot.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering, fence};
pub(crate) use std::sync::{Arc, OnceLock, Weak};

use std::sync::{MutexGuard, PoisonError, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::time::Duration;

/// What the lock-free parts are made of: the standard library's atomics, or the model checker's
/// under `--cfg fate_loom`. In such a build only the models may run.
pub(crate) mod modelled {
    #[cfg(fate_loom)]
    pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, fence};
    #[cfg(not(fate_loom))]
    pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, fence};
}

/// A mutex whose poison is ignored: what it guards is valid after every single store, and a
/// recorder must not fail because some other thread panicked.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Mutex(std::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock, if nobody holds it.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// Waiting for a condition guarded by a [`Mutex`].
#[derive(Debug, Default)]
pub(crate) struct Condvar(std::sync::Condvar);

impl Condvar {
    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }

    /// Waits until `done` holds or `limit` has passed.
    pub(crate) fn wait_until<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Duration,
        mut done: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        let waited = self.0.wait_timeout_while(guard, limit, |value| !done(value));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A read-write lock whose poison is ignored, for the same reason.
#[derive(Debug, Default)]
pub(crate) struct RwLock<T>(std::sync::RwLock<T>);

impl<T> RwLock<T> {
    pub(crate) const fn new(value: T) -> Self {
        RwLock(std::sync::RwLock::new(value))
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
