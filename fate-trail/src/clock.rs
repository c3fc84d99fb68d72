//! Where times come from. A recorder takes a clock as a value, so that tests own the time.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::sync::{AtomicI64, AtomicU64, Ordering};

/// A source of monotonic and of wall-clock time. Both in microseconds.
pub trait Clock: Send + Sync + 'static {
    /// Microseconds since a fixed, unspecified moment; never goes back.
    fn now_micros(&self) -> u64;

    /// Microseconds since the Unix epoch; may jump. Read once for each recorder, as an anchor.
    fn wall_micros(&self) -> i64;

    /// A word for status lines that says which clock this is.
    fn kind(&self) -> &'static str;
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
