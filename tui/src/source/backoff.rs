//! How long to wait before the next attempt to attach.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// Shortest wait between two attempts.
const SHORTEST: Duration = Duration::from_millis(250);
/// Longest wait between two attempts.
const LONGEST: Duration = Duration::from_secs(5);

/// Waits that double from 0.25 s to 5 s, each shortened by up to half at random, so that many
/// viewers of one restarted process do not all come back at once.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
    random: RandomState,
    drawn: u64,
}

impl Backoff {
    pub(crate) fn new() -> Self {
        Backoff { next: SHORTEST, random: RandomState::new(), drawn: 0 }
    }

    /// After a session that worked the next wait is short again.
    pub(crate) fn reset(&mut self) {
        self.next = SHORTEST;
    }

    /// The next wait; each is longer than the one before, up to the longest.
    pub(crate) fn next(&mut self) -> Duration {
        let full = self.next;
        self.next = (full * 2).min(LONGEST);
        self.drawn += 1;
        let mut hasher = self.random.build_hasher();
        hasher.write_u64(self.drawn);
        // 0.5 to 1.0, in steps of a 2000th.
        let share = 1000 + u32::try_from(hasher.finish() % 1001).unwrap_or(0);
        (full * share / 2000).max(SHORTEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_the_longest_and_start_over() {
        let mut backoff = Backoff::new();
        assert_eq!(backoff.next(), SHORTEST, "the first attempt after a loss comes soon");
        for _ in 0..100 {
            let wait = backoff.next();
            assert!(wait >= SHORTEST && wait <= LONGEST, "{wait:?}");
        }
        let late: Vec<_> = (0..20).map(|_| backoff.next()).collect();
        assert!(late.iter().all(|&wait| wait >= LONGEST / 2), "{late:?}");
        assert!(late.iter().any(|&wait| wait != late[0]), "they are jittered");
        backoff.reset();
        assert_eq!(backoff.next(), SHORTEST);
    }
}
