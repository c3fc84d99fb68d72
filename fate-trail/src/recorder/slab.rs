//! Where the trails of deliveries on their way are kept: a growing, never shrinking set of slots,
//! addressed by index and generation, so that a queued delivery carries 8 bytes.
//!
//! A slot has one writer, the owner of its handle. Taking and returning slots is lock-free: a stack
//! of free slots whose head carries a tag that grows with every change, so that a head which left
//! and came back is not mistaken for one that stayed.

use crate::entry::{Entry, RawTrail, place};
use crate::id::DeliveryId;
use crate::limits::{CHUNK_SLOTS, TRAIL_ENTRIES};
use crate::sync::{AtomicU32, AtomicU64, OnceLock, Ordering};

/// Index and generation of a slot.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Key {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// One trail. The first cache lines hold what every stamp touches.
#[derive(Debug)]
struct Slot {
    /// Generation in the high half, number of stamped stages in the low half.
    state: AtomicU64,
    base: AtomicU64,
    subject: AtomicU64,
    entries: [[AtomicU64; 2]; TRAIL_ENTRIES],
    id: [AtomicU64; 3],
    /// One more than the index of the next free slot; 0 at the end of the stack.
    next_free: AtomicU32,
}

/// Bytes of one slot, for the memory bound.
pub(crate) const SLOT_BYTES: usize = size_of::<Slot>();

#[derive(Debug)]
pub(crate) struct Slab {
    chunks: Box<[OnceLock<Box<[Slot]>>]>,
    /// Tag in the high half, one more than the index of the first free slot in the low half.
    free: AtomicU64,
    /// Slots handed out at least once.
    fresh: AtomicU32,
    capacity: u32,
    in_use: AtomicU32,
}

impl Slab {
    /// A slab that grows up to that many slots, rounded up to whole chunks.
    pub(crate) fn new(capacity: usize) -> Self {
        let chunks = capacity.div_ceil(CHUNK_SLOTS).min(u32::MAX as usize / CHUNK_SLOTS);
        Slab {
            chunks: (0..chunks).map(|_| OnceLock::new()).collect(),
            free: AtomicU64::new(0),
            fresh: AtomicU32::new(0),
            capacity: u32::try_from(chunks * CHUNK_SLOTS).unwrap_or(0),
            in_use: AtomicU32::new(0),
        }
    }

    pub(crate) fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Slots with an owner.
    pub(crate) fn in_use(&self) -> u32 {
        self.in_use.load(Ordering::Relaxed)
    }

    /// Takes a slot and starts a trail in it; `None` where the slab is full.
    /// The only place that allocates.
    pub(crate) fn take(&self, id: DeliveryId, base: u64) -> Option<Key> {
        let index = self.pop_free().or_else(|| self.take_fresh())?;
        let slot = self.slot(index)?;
        for (word, value) in slot.id.iter().zip(id.words()) {
            word.store(value, Ordering::Relaxed);
        }
        slot.subject.store(id.key(), Ordering::Relaxed);
        slot.base.store(base, Ordering::Relaxed);
        self.in_use.fetch_add(1, Ordering::Relaxed);
        let generation = generation_of(slot.state.load(Ordering::Relaxed));
        Some(Key { index, generation })
    }

    /// Appends a stage. `entry` gets the trail's first reading and tells whether it is the first
    /// stage. Answers subject and position for the thread's ring; `None` for a stale key.
    pub(crate) fn push(&self, key: Key, entry: impl FnOnce(u64, bool) -> Entry) -> Option<(Entry, u64, u32)> {
        let slot = self.slot(key.index)?;
        // The owner of the key is the only writer, so nothing changes between load and store.
        let state = slot.state.load(Ordering::Relaxed);
        if generation_of(state) != key.generation {
            return None;
        }
        let count = state as u32;
        let entry = entry(slot.base.load(Ordering::Relaxed), count == 0);
        let words = &slot.entries[place(count)];
        for (word, value) in words.iter().zip(entry.to_words()) {
            word.store(value, Ordering::Relaxed);
        }
        let next = u64::from(count.saturating_add(1));
        slot.state.store(state >> 32 << 32 | next, Ordering::Release);
        Some((entry, slot.subject.load(Ordering::Relaxed), count))
    }

    /// A copy of a trail; `None` for a stale key.
    pub(crate) fn read(&self, key: Key) -> Option<RawTrail> {
        let slot = self.slot(key.index)?;
        let state = slot.state.load(Ordering::Acquire);
        if generation_of(state) != key.generation {
            return None;
        }
        let words = [0, 1, 2].map(|i: usize| slot.id[i].load(Ordering::Relaxed));
        let base = slot.base.load(Ordering::Relaxed);
        let mut raw = RawTrail::new(DeliveryId::from_words(words), base);
        raw.count = state as u32;
        let used = TRAIL_ENTRIES.min(raw.count as usize);
        for (entry, words) in raw.entries.iter_mut().zip(&slot.entries).take(used) {
            let [head, value] = words;
            *entry = Entry::from_words([head.load(Ordering::Relaxed), value.load(Ordering::Relaxed)]);
        }
        Some(raw)
    }

    /// Returns a slot; its key is stale from now on. False for a key that was stale before.
    pub(crate) fn give_back(&self, key: Key) -> bool {
        let Some(slot) = self.slot(key.index) else {
            return false;
        };
        let state = slot.state.load(Ordering::Relaxed);
        if generation_of(state) != key.generation {
            return false;
        }
        let generation = u64::from(key.generation.wrapping_add(1));
        slot.state.store(generation << 32, Ordering::Release);
        self.in_use.fetch_sub(1, Ordering::Relaxed);
        let mut head = self.free.load(Ordering::Relaxed);
        loop {
            slot.next_free.store(head as u32, Ordering::Relaxed);
            let new = next_tag(head) | u64::from(key.index + 1);
            match self.free.compare_exchange_weak(head, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(seen) => head = seen,
            }
        }
    }

    fn pop_free(&self) -> Option<u32> {
        let mut head = self.free.load(Ordering::Acquire);
        loop {
            let index = (head as u32).checked_sub(1)?;
            let next = self.slot(index)?.next_free.load(Ordering::Relaxed);
            let new = next_tag(head) | u64::from(next);
            match self.free.compare_exchange_weak(head, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(index),
                Err(seen) => head = seen,
            }
        }
    }

    fn take_fresh(&self) -> Option<u32> {
        let index = self
            .fresh
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
                (next < self.capacity).then_some(next + 1)
            })
            .ok()?;
        self.chunks
            .get(index as usize / CHUNK_SLOTS)?
            .get_or_init(|| (0..CHUNK_SLOTS).map(|_| Slot::new()).collect());
        Some(index)
    }

    fn slot(&self, index: u32) -> Option<&Slot> {
        let index = index as usize;
        self.chunks.get(index / CHUNK_SLOTS)?.get()?.get(index % CHUNK_SLOTS)
    }
}

impl Slot {
    fn new() -> Self {
        Slot {
            state: AtomicU64::new(0),
            base: AtomicU64::new(0),
            subject: AtomicU64::new(0),
            entries: std::array::from_fn(|_| [AtomicU64::new(0), AtomicU64::new(0)]),
            id: std::array::from_fn(|_| AtomicU64::new(0)),
            next_free: AtomicU32::new(0),
        }
    }
}

fn generation_of(state: u64) -> u32 {
    (state >> 32) as u32
}

/// The tag of the next head, in place.
fn next_tag(head: u64) -> u64 {
    (head >> 32).wrapping_add(1) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(value: u64) -> impl FnOnce(u64, bool) -> Entry {
        move |_, _| Entry { value, ..Entry::EMPTY }
    }

    #[test]
    fn a_slot_is_reused_and_its_old_key_is_stale() {
        let slab = Slab::new(1);
        let old = slab.take(DeliveryId::number(1), 10).expect("room");
        assert!(slab.push(old, entry(5)).is_some());
        let raw = slab.read(old).expect("live");
        assert_eq!((raw.base, raw.count, raw.entries[0].value), (10, 1, 5));
        assert!(slab.give_back(old));
        let new = slab.take(DeliveryId::number(2), 20).expect("room");
        assert_eq!(new.index, old.index);
        assert!(slab.push(old, entry(6)).is_none());
        assert!(slab.read(old).is_none());
        assert!(!slab.give_back(old));
        assert_eq!(slab.read(new).expect("live").count, 0);
        assert_eq!(slab.in_use(), 1);
    }

    #[test]
    fn a_full_slab_refuses_until_a_slot_comes_back() {
        let slab = Slab::new(CHUNK_SLOTS);
        let keys: Vec<Key> =
            (0..CHUNK_SLOTS as u64).map(|i| slab.take(DeliveryId::number(i), 0).expect("room")).collect();
        assert!(slab.take(DeliveryId::number(9), 0).is_none());
        assert!(slab.give_back(keys[3]));
        assert!(slab.take(DeliveryId::number(9), 0).is_some());
    }

    #[test]
    fn threads_never_share_a_slot() {
        let slab = Slab::new(4 * CHUNK_SLOTS);
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let slab = &slab;
                scope.spawn(move || {
                    for round in 0..2000 {
                        let id = DeliveryId::number(thread << 32 | round);
                        let keys: Vec<Key> = (0..3).map(|_| slab.take(id, thread).expect("room")).collect();
                        for key in &keys {
                            assert!(slab.push(*key, entry(round)).is_some());
                        }
                        for key in keys {
                            let raw = slab.read(key).expect("mine");
                            assert_eq!((raw.id, raw.base, raw.count), (id, thread, 1));
                            assert!(slab.give_back(key));
                        }
                    }
                });
            }
        });
        assert_eq!(slab.in_use(), 0);
    }
}
