//! Where times come from. A recorder takes a clock as a value, so that tests own the time.

mod tsc;

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::sync::{Arc, AtomicI64, AtomicU64, Ordering};

pub use tsc::TscClock;

/// A source of monotonic and of wall-clock time. Both in microseconds.
pub trait Clock: Send + Sync + 'static {
    /// Microseconds since a fixed, unspecified moment; never goes back.
    fn now_micros(&self) -> u64;

    /// Microseconds since the Unix epoch; may jump. Read once for each recorder, as an anchor.
    fn wall_micros(&self) -> i64;

    /// A word for status lines that says which clock this is.
    fn kind(&self) -> &'static str;

    /// The time stamp counter, where this clock is it: a recorder reads it without a virtual call.
    fn as_tsc(&self) -> Option<TscClock> {
        None
    }
}

/// The fastest clock that can be relied on here: the processor's time stamp counter where the kernel
/// keeps time by it and calls it constant and non-stop, the system clock anywhere else. Which one it
/// is stands in [`Status::clock`](crate::Status::clock), and [`explain`] says why.
pub fn best() -> Arc<dyn Clock> {
    match TscClock::new() {
        Ok(tsc) => Arc::new(tsc),
        Err(_) => Arc::new(SystemClock::new()),
    }
}

/// Which clock [`best`] chose and why, for a person.
pub fn explain() -> String {
    match TscClock::new() {
        Ok(_) => "tsc: the kernel keeps time by it and calls it constant and non-stop".to_owned(),
        Err(reason) => format!("system: {reason}"),
    }
}

/// The operating system's clocks.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// A clock whose monotonic zero is now.
    pub fn new() -> Self {
        SystemClock { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        SystemClock::new()
    }
}

impl Clock for SystemClock {
    fn now_micros(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn wall_micros(&self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |us| -us),
        }
    }

    fn kind(&self) -> &'static str {
        "system"
    }
}

/// A clock that moves only when it is told to.
#[derive(Debug)]
pub struct ManualClock {
    now: AtomicU64,
    epoch: AtomicI64,
}

impl ManualClock {
    /// A clock that stands at monotonic 0; `wall_micros` is what the wall shows at that moment.
    pub fn new(wall_micros: i64) -> Self {
        ManualClock { now: AtomicU64::new(0), epoch: AtomicI64::new(wall_micros) }
    }

    /// Moves both clocks on by that many microseconds.
    pub fn advance(&self, micros: u64) {
        self.now.fetch_add(micros, Ordering::Relaxed);
    }

    /// Moves the wall clock alone, as an operator who sets the time would.
    pub fn set_wall(&self, wall_micros: i64) {
        let now = i64::try_from(self.now_micros()).unwrap_or(i64::MAX);
        self.epoch.store(wall_micros.saturating_sub(now), Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now_micros(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    fn wall_micros(&self) -> i64 {
        let now = i64::try_from(self.now_micros()).unwrap_or(i64::MAX);
        self.epoch.load(Ordering::Relaxed).saturating_add(now)
    }

    fn kind(&self) -> &'static str {
        "manual"
    }
}
