//! The newest finished trails, without a lock: a wheel of keys that a finishing delivery swaps its
//! own into, and gets back the one it displaced.
//!
//! A key that was taken out has exactly one owner, so a slot is returned exactly once, whether a
//! newer trail or a reader took it off. Each trail has a rank, from 0, and its place is the rank's
//! remainder; a place also tells the rank of what was taken there. So a reader knows a trail that is
//! still on its way in from one that is gone.

use super::slab::{Key, Slab};
use super::store::StoreStatus;
use crate::entry::RawTrail;
use crate::sync::{AtomicU64, Ordering};

#[derive(Debug)]
pub(crate) struct Wheel {
    places: Box<[AtomicU64]>,
    /// Trails ever put in.
    recorded: AtomicU64,
    taken: AtomicU64,
}

/// What a reader found at the place of a rank.
enum Found {
    Trail(Box<RawTrail>),
    Gone,
    /// It has its rank and is not there yet.
    OnItsWay,
}

/// What stands at the place of a trail that a reader took.
fn taken(rank: u64) -> u64 {
    (rank + 1) << 32
}

impl Wheel {
    pub(crate) fn new(capacity: usize) -> Self {
        Wheel {
            places: (0..capacity).map(|_| AtomicU64::new(0)).collect(),
            recorded: AtomicU64::new(0),
            taken: AtomicU64::new(0),
        }
    }

    /// Puts a trail in; answers the one that had to go for it.
    #[inline]
    pub(crate) fn push(&self, slab: &Slab, key: Key) -> Option<Key> {
        let rank = self.recorded.fetch_add(1, Ordering::Relaxed);
        slab.set_rank(key, rank);
        match self.place(rank) {
            Some(place) => Key::from_word(place.swap(key.to_word(), Ordering::AcqRel)),
            // A store of capacity 0 keeps nothing.
            None => Some(key),
        }
    }

    /// Copies of the trails from a rank on, oldest first; the rank to go on from; and how many of
    /// those in between are gone.
    pub(crate) fn after(&self, slab: &Slab, rank: u64) -> (Vec<RawTrail>, u64, u64) {
        let recorded = self.recorded.load(Ordering::Acquire);
        let oldest = recorded.saturating_sub(self.places.len() as u64);
        let start = rank.max(oldest).min(recorded);
        let (mut trails, mut lost) = (Vec::new(), start.saturating_sub(rank));
        for rank in start..recorded {
            match self.look(slab, rank) {
                Found::Trail(raw) => trails.push(*raw),
                Found::Gone => lost += 1,
                Found::OnItsWay => return (trails, rank, lost),
            }
        }
        (trails, recorded, lost)
    }

    fn look(&self, slab: &Slab, rank: u64) -> Found {
        let Some(place) = self.place(rank) else {
            return Found::Gone;
        };
        let word = place.load(Ordering::Acquire);
        let Some(key) = Key::from_word(word) else {
            return if word == taken(rank) { Found::Gone } else { Found::OnItsWay };
        };
        let there = slab.rank(key);
        match slab.read(key) {
            Some(raw) if there == rank => Found::Trail(Box::new(raw)),
            Some(_) if there < rank => Found::OnItsWay,
            // A newer one has displaced it.
            _ => Found::Gone,
        }
    }

    /// Takes the trails out, oldest first; whoever calls this owns their slots.
    pub(crate) fn take(&self, slab: &Slab) -> Vec<Key> {
        let recorded = self.recorded.load(Ordering::Acquire);
        let mut keys = Vec::new();
        for rank in recorded.saturating_sub(self.places.len() as u64)..recorded {
            let Some(place) = self.place(rank) else {
                continue;
            };
            let word = place.load(Ordering::Acquire);
            let Some(key) = Key::from_word(word).filter(|key| slab.rank(*key) == rank) else {
                continue;
            };
            // The generation is part of the word, so a slot that came back is another one.
            if place.compare_exchange(word, taken(rank), Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                keys.push(key);
            }
        }
        self.taken.fetch_add(keys.len() as u64, Ordering::Relaxed);
        keys
    }

    /// While trails are finishing, one that is on its way in counts as overwritten.
    pub(crate) fn status(&self) -> StoreStatus {
        let taken = self.taken.load(Ordering::Relaxed);
        let holds = |place: &&AtomicU64| Key::from_word(place.load(Ordering::Relaxed)).is_some();
        let held = self.places.iter().filter(holds).count();
        let recorded = self.recorded.load(Ordering::Relaxed);
        let overwritten = recorded.saturating_sub(taken + held as u64);
        StoreStatus { recorded, overwritten, taken, held }
    }

    fn place(&self, rank: u64) -> Option<&AtomicU64> {
        let index = rank.checked_rem(self.places.len() as u64)?;
        self.places.get(usize::try_from(index).ok()?)
    }
}
