//! Chance from a seed: the same seed plays the same traffic.

use std::time::Duration;

/// SplitMix64: small, and good enough for the mood of a demo. Source: Steele, Lea, Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014.
#[derive(Clone, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    /// Chance for one purpose: different purposes under one seed do not run in step.
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        let mut chance = Chance(seed ^ purpose.wrapping_mul(0xd6e8_feb8_6659_fd93));
        chance.next();
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// A time from `low` to `high` milliseconds.
    pub(super) fn millis(&mut self, low: u64, high: u64) -> Duration {
        Duration::from_millis(self.between(low, high))
    }

    /// True once in `n` times.
    pub(super) fn once_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_replays_and_purposes_differ() {
        let draw = |seed, purpose| {
            let mut chance = Chance::new(seed, purpose);
            [(); 8].map(|()| chance.between(1, 1000))
        };
        assert_eq!(draw(1, 1), draw(1, 1));
        assert_ne!(draw(1, 1), draw(2, 1));
        assert_ne!(draw(1, 1), draw(1, 2));
        let mut chance = Chance::new(9, 9);
        assert!((0..1000).all(|_| (3..=5).contains(&chance.between(3, 5))));
    }
}
