//! The black box: trails that somebody will ask for later, kept although many newer ones followed.
//!
//! Half of it keeps the first ones, which say how a trouble began; the other half the worst ones:
//! most often put back, then slowest. The rest is counted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::entry::RawTrail;

/// Counts of the black box: `interesting = held + displaced + missed`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct BlackBoxStatus {
    /// Trails that the box should have: failed, dropped or refused, put back by the arrival
    /// barrier, or slow.
    pub interesting: u64,
    /// Trails that it has.
    pub held: usize,
    /// Trails that were less bad than all those kept.
    pub displaced: u64,
    /// Trails that ended while somebody else held the box; a delivery never waits for it.
    pub missed: u64,
}

/// A trail by how bad it is, then by when it came.
#[derive(Debug)]
struct Ranked {
    requeues: usize,
    took: u32,
    came: u64,
    raw: RawTrail,
}

impl Ranked {
    fn key(&self) -> (usize, u32, Reverse<u64>) {
        (self.requeues, self.took, Reverse(self.came))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

#[derive(Debug)]
pub(crate) struct BlackBox {
    capacity: usize,
    first: Vec<Ranked>,
    /// The least bad one is on top.
    worst: BinaryHeap<Reverse<Ranked>>,
    put: u64,
    displaced: u64,
}

/// Bytes of one trail in the box, for the memory bound.
pub(crate) const BOXED_BYTES: usize = size_of::<Ranked>();

impl BlackBox {
    pub(crate) fn new(capacity: usize) -> Self {
        BlackBox { capacity, first: Vec::new(), worst: BinaryHeap::new(), put: 0, displaced: 0 }
    }

    fn halves(&self) -> (usize, usize) {
        (self.capacity - self.capacity / 2, self.capacity / 2)
    }

    /// Takes all the memory now, so that no later [`put`](BlackBox::put) allocates.
    pub(crate) fn reserve(&mut self) {
        let (first, worst) = self.halves();
        self.first.reserve_exact(first.saturating_sub(self.first.len()));
        self.worst.reserve_exact((worst + 1).saturating_sub(self.worst.len()));
    }

    pub(crate) fn put(&mut self, raw: RawTrail, requeues: usize, took: u32) {
        let (first, worst) = self.halves();
        let ranked = Ranked { requeues, took, came: self.put, raw };
        self.put += 1;
        if self.first.len() < first {
            self.first.push(ranked);
            return;
        }
        self.worst.push(Reverse(ranked));
        if self.worst.len() > worst {
            self.worst.pop();
            self.displaced += 1;
        }
    }

    /// Copies of what is kept, in the order in which it came.
    pub(crate) fn copy(&self) -> Vec<RawTrail> {
        let worst = self.worst.iter().map(|Reverse(ranked)| ranked);
        let mut all: Vec<&Ranked> = self.first.iter().chain(worst).collect();
        all.sort_unstable_by_key(|ranked| ranked.came);
        all.into_iter().map(|ranked| ranked.raw.clone()).collect()
    }

    pub(crate) fn status(&self, missed: u64) -> BlackBoxStatus {
        BlackBoxStatus {
            interesting: self.put + missed,
            held: self.first.len() + self.worst.len(),
            displaced: self.displaced,
            missed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::DeliveryId;

    #[test]
    fn the_first_and_the_worst_stay() {
        let mut kept = BlackBox::new(4);
        kept.reserve();
        for (id, requeues, took) in
            [(0, 0, 5), (1, 0, 1), (2, 0, 9), (3, 1, 2), (4, 0, 3), (5, 0, 9), (6, 3, 0)]
        {
            kept.put(RawTrail::new(DeliveryId::number(id), 0), requeues, took);
        }
        let ids: Vec<String> = kept.copy().iter().map(|raw| raw.id.to_string()).collect();
        assert_eq!(ids, ["0", "1", "3", "6"]);
        let status = kept.status(2);
        assert_eq!((status.interesting, status.held, status.displaced, status.missed), (9, 4, 3, 2));
    }

    #[test]
    fn a_box_of_nothing_only_counts() {
        let mut kept = BlackBox::new(0);
        kept.put(RawTrail::new(DeliveryId::number(1), 0), 0, 0);
        assert_eq!((kept.copy().len(), kept.status(0).displaced), (0, 1));
    }
}
