//! A bounded store that overwrites its oldest item and counts it.

use std::collections::VecDeque;

/// Counts of a bounded store that overwrites its oldest item: `recorded = held + overwritten + taken`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct StoreStatus {
    /// Items ever put in.
    pub recorded: u64,
    /// Items overwritten by newer ones.
    pub overwritten: u64,
    /// Items taken out by a reader.
    pub taken: u64,
    /// Items that are there now.
    pub held: usize,
}

/// A first-in first-out store of a fixed capacity that is allocated at once.
#[derive(Debug)]
pub(crate) struct Bounded<T> {
    items: VecDeque<T>,
    capacity: usize,
    recorded: u64,
    overwritten: u64,
}

impl<T> Bounded<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        Bounded { items: VecDeque::new(), capacity, recorded: 0, overwritten: 0 }
    }

    /// Takes all the memory now, so that no later [`push`](Bounded::push) allocates.
    pub(crate) fn reserve(&mut self) {
        self.items.reserve_exact(self.capacity - self.items.len());
    }

    /// Puts an item in and answers the one that had to go for it.
    pub(crate) fn push(&mut self, item: T) -> Option<T> {
        self.recorded += 1;
        if self.items.len() < self.capacity {
            self.items.push_back(item);
            return None;
        }
        self.overwritten += 1;
        let Some(oldest) = self.items.pop_front() else {
            // A store of capacity 0 keeps nothing.
            return Some(item);
        };
        self.items.push_back(item);
        Some(oldest)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    pub(crate) fn status(&self) -> StoreStatus {
        StoreStatus {
            recorded: self.recorded,
            overwritten: self.overwritten,
            taken: 0,
            held: self.items.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stay_and_the_rest_is_counted() {
        let mut store = Bounded::new(3);
        store.reserve();
        assert_eq!((0..5).filter_map(|i| store.push(i)).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(store.iter().copied().collect::<Vec<_>>(), [2, 3, 4]);
        let status = store.status();
        assert_eq!((status.recorded, status.overwritten, status.taken, status.held), (5, 2, 0, 3));
    }

    #[test]
    fn a_store_of_nothing_only_counts() {
        let mut store = Bounded::new(0);
        store.push(1);
        assert_eq!((store.status().overwritten, store.status().held), (1, 0));
    }
}
