//! The processor's time stamp counter as a clock: a reading costs a third of the system clock's.
//!
//! It is used only where the kernel itself keeps time by it and calls it constant and non-stop;
//! then it runs at one rate, through sleep and frequency changes, and alike on all processors.
//!
//! This is the one module of the crate with `unsafe` code: the instruction has no safe form in the
//! oldest compiler that the crate promises to build with. It reads a register, touches no memory and
//! has no precondition but a processor with a counter, which every x86-64 has.
#![allow(unsafe_code)]

use std::time::{Duration, Instant};

use super::{Clock, SystemClock};
use crate::sync::OnceLock;

/// How long the counter is measured against the system clock, once for each process.
const CALIBRATION: Duration = Duration::from_millis(2);
/// Pairs of readings at either end of the measurement; the closest pair counts.
const PAIRS: u32 = 16;

/// The time stamp counter, its rate measured against the system clock. A reading is good to 50
/// parts per million of the time since the process asked first.
#[derive(Clone, Copy, Debug)]
pub struct TscClock {
    start: u64,
    /// Microseconds of one tick, times 2^64.
    rate: u64,
}

impl TscClock {
    /// The clock, or in plain words why it cannot be relied on here. Measures the rate when it is
    /// asked first, for two milliseconds.
    ///
    /// # Errors
    /// Where the kernel does not call the counter constant and non-stop, or keeps time otherwise.
    pub fn new() -> Result<Self, &'static str> {
        static MEASURED: OnceLock<Result<TscClock, &'static str>> = OnceLock::new();
        *MEASURED.get_or_init(|| {
            trusted()?;
            measure().ok_or("the counter's rate cannot be measured")
        })
    }
}

impl Clock for TscClock {
    #[inline]
    fn now_micros(&self) -> u64 {
        let ticks = counter().saturating_sub(self.start);
        // The high half of a product of two 64-bit numbers is one; the cast keeps all of it.
        ((u128::from(ticks) * u128::from(self.rate)) >> 64) as u64
    }

    fn wall_micros(&self) -> i64 {
        SystemClock::new().wall_micros()
    }

    fn kind(&self) -> &'static str {
        "tsc"
    }

    fn as_tsc(&self) -> Option<TscClock> {
        Some(*self)
    }
}

/// Whether the kernel relies on the counter itself.
fn trusted() -> Result<(), &'static str> {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let source = read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    judge(source.trim(), &read("/proc/cpuinfo"))
}

fn judge(source: &str, cpuinfo: &str) -> Result<(), &'static str> {
    if cfg!(not(target_arch = "x86_64")) {
        return Err("the processor is no x86-64");
    }
    if source != "tsc" {
        return Err("the kernel does not keep time by the counter");
    }
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let has = |wanted: &str| flags.split_ascii_whitespace().any(|flag| flag == wanted);
    if !has("constant_tsc") {
        return Err("the kernel does not call the counter constant");
    }
    if !has("nonstop_tsc") {
        return Err("the kernel does not call the counter non-stop");
    }
    Ok(())
}

fn measure() -> Option<TscClock> {
    let (start, began) = pair();
    while began.elapsed() < CALIBRATION {
        std::hint::spin_loop();
    }
    let (end, ended) = pair();
    let nanos = ended.duration_since(began).as_nanos();
    let ticks = u128::from(end.checked_sub(start)?);
    let rate = (nanos << 64).checked_div(ticks.checked_mul(1000)?)?;
    Some(TscClock { start, rate: u64::try_from(rate).ok()? })
}

/// A reading of the counter and one of the system clock that belong together: of several, the one
/// that the least time passed around.
fn pair() -> (u64, Instant) {
    let read = |_| {
        let before = counter();
        let now = Instant::now();
        let after = counter();
        (after.saturating_sub(before), before + after.saturating_sub(before) / 2, now)
    };
    let closest = (0..PAIRS).map(read).min_by_key(|(around, ..)| *around);
    closest.map_or_else(|| (counter(), Instant::now()), |(_, ticks, now)| (ticks, now))
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    // SAFETY: the instruction reads a register of the processor and nothing else; every x86-64
    // processor has it, and Linux leaves it readable unless a process forbids it to itself.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Never reached: elsewhere the counter is not trusted.
#[cfg(not(target_arch = "x86_64"))]
fn counter() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_kernel_relies_on_is_trusted() {
        let good = "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\n";
        assert_eq!(judge("tsc", good).is_ok(), cfg!(target_arch = "x86_64"));
        for (source, flags) in [
            ("kvm-clock", good),
            ("", good),
            ("tsc", ""),
            ("tsc", "flags\t\t: fpu tsc constant_tsc\n"),
            ("tsc", "flags\t\t: fpu tsc nonstop_tsc_s3 nonstop_tsc\n"),
        ] {
            assert!(judge(source, flags).is_err(), "{source} {flags}");
        }
    }

    #[test]
    fn the_rate_is_that_of_the_system_clock() {
        let Ok(clock) = TscClock::new() else {
            return;
        };
        let (from, began) = (clock.now_micros(), Instant::now());
        while began.elapsed() < Duration::from_millis(5) {
            assert!(clock.now_micros() >= from, "it never goes back");
        }
        // Read after the counter, so that a pause in between cannot fail the test from below.
        let counted = clock.now_micros() - from;
        let passed = u64::try_from(began.elapsed().as_micros()).expect("short");
        assert!(counted <= passed + 50, "{counted} µs counted while {passed} passed");
        assert!(counted >= 4_500, "{counted} µs counted in at least 5000");
    }
}
