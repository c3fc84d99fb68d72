//! Where the trails of deliveries on their way are kept: a growing, never shrinking set of slots,
//! addressed by index and generation, so that a queued delivery carries 8 bytes.
//!
//! A slot has one writer, the owner of its handle; after that the store of finished trails owns it,
//! until a newer trail takes its place there. So a trail is written once and never copied while
//! nobody reads. Whoever reads a slot it does not own looks at the generation again afterwards.

use super::free::{FreeStack, Links, Slots, Stash};
use super::ring::RingRecord;
use crate::entry::{Entry, RawTrail, place};
use crate::id::DeliveryId;
use crate::limits::{CHUNK_SLOTS, TRAIL_ENTRIES};
use crate::stage::marks_of;
use crate::sync::modelled::{AtomicU32, AtomicU64, fence};
use crate::sync::{OnceLock, Ordering};

/// Bits of the number of stages in a slot's state; above them stand its marks.
const COUNT_BITS: u32 = 24;
const COUNT_MAX: u64 = (1 << COUNT_BITS) - 1;
const MARK_MASK: u64 = 0xff << COUNT_BITS;

/// Index and generation of a slot.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Key {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl Key {
    /// The key as one word that is never 0.
    pub(crate) fn to_word(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index + 1)
    }

    pub(crate) fn from_word(word: u64) -> Option<Key> {
        Some(Key { index: (word as u32).checked_sub(1)?, generation: (word >> 32) as u32 })
    }
}

/// One trail. The first cache line holds what its start and its end touch, the next ones its first
/// stages: most trails touch three.
#[derive(Debug)]
#[repr(C, align(64))]
struct Slot {
    /// Generation in the high half, then 8 bits of marks and the number of stamped stages.
    state: AtomicU64,
    base: AtomicU64,
    subject: AtomicU64,
    id: [AtomicU64; 3],
    /// Where the trail stands among the finished ones, once it is finished.
    rank: AtomicU64,
    links: Links,
    entries: [[AtomicU64; 2]; TRAIL_ENTRIES],
}

/// Bytes of one slot, for the memory bound.
pub(crate) const SLOT_BYTES: usize = size_of::<Slot>();

#[derive(Debug)]
pub(crate) struct Slab {
    chunks: Box<[OnceLock<Box<[Slot]>>]>,
    free: FreeStack,
    /// Slots handed out at least once.
    fresh: AtomicU32,
    capacity: u32,
}

/// How a trail stands when it ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    /// What its stages stand for, together.
    pub(crate) marks: u8,
    /// Microseconds from its first stage to its last, as far as a clock was read there.
    pub(crate) took: u32,
}

impl Slots for Slab {
    #[inline]
    fn links(&self, index: u32) -> Option<&Links> {
        Some(&self.slot(index)?.links)
    }
}

impl Slab {
    /// A slab that grows up to that many slots.
    pub(crate) fn new(capacity: usize) -> Self {
        let capacity = capacity.min(u32::MAX as usize / 2);
        Slab {
            chunks: (0..capacity.div_ceil(CHUNK_SLOTS)).map(|_| OnceLock::new()).collect(),
            free: FreeStack::new(),
            fresh: AtomicU32::new(0),
            capacity: u32::try_from(capacity).unwrap_or(0),
        }
    }

    /// Bytes of all slots, were all of them in use.
    pub(crate) fn bytes(&self) -> usize {
        self.chunks.len() * CHUNK_SLOTS * SLOT_BYTES
    }

    /// Takes a slot and starts a trail in it; `None` where the slab is full.
    /// The only place that allocates.
    #[inline]
    pub(crate) fn take(&self, stash: &mut Stash, id: DeliveryId, base: u64) -> Option<Key> {
        let index = stash.pop(&self.free, self).or_else(|| self.take_fresh())?;
        let slot = self.slot(index)?;
        let generation = generation_of(slot.state.load(Ordering::Relaxed));
        // Pairs with the fence of a reader that does not own the slot: whoever saw a word of this
        // trail also sees that the one before it is over.
        fence(Ordering::Release);
        for (word, value) in slot.id.iter().zip(id.words()) {
            word.store(value, Ordering::Relaxed);
        }
        slot.subject.store(id.key(), Ordering::Relaxed);
        slot.base.store(base, Ordering::Relaxed);
        Some(Key { index, generation })
    }

    /// Appends a stage. `entry` gets the trail's first reading and tells whether it is the first
    /// stage. Answers what goes into the thread's ring; `None` for a stale key.
    #[inline]
    pub(crate) fn push(&self, key: Key, entry: impl FnOnce(u64, bool) -> Entry) -> Option<RingRecord> {
        let slot = self.slot(key.index)?;
        // The owner of the key is the only writer, so nothing changes between load and store.
        let state = slot.state.load(Ordering::Relaxed);
        if generation_of(state) != key.generation {
            return None;
        }
        let count = state & COUNT_MAX;
        let base = slot.base.load(Ordering::Relaxed);
        let entry = entry(base, count == 0);
        let words = &slot.entries[place(count as u32)];
        for (word, value) in words.iter().zip(entry.to_words()) {
            word.store(value, Ordering::Relaxed);
        }
        let marks = state & MARK_MASK | u64::from(marks_of(entry.stage)) << COUNT_BITS;
        let next = (count + 1).min(COUNT_MAX);
        slot.state.store(state >> 32 << 32 | marks | next, Ordering::Release);
        let subject = slot.subject.load(Ordering::Relaxed);
        Some(RingRecord { entry, subject, position: count as u32, start: base as u32 })
    }

    /// Writes a whole trail that was kept elsewhere.
    pub(crate) fn adopt(&self, stash: &mut Stash, raw: &RawTrail) -> Option<Key> {
        let key = self.take(stash, raw.id, raw.base)?;
        let slot = self.slot(key.index)?;
        for (words, entry) in slot.entries.iter().zip(&raw.entries) {
            for (word, value) in words.iter().zip(entry.to_words()) {
                word.store(value, Ordering::Relaxed);
            }
        }
        let count = u64::from(raw.count).min(COUNT_MAX);
        let state = u64::from(key.generation) << 32 | u64::from(raw.marks) << COUNT_BITS | count;
        slot.state.store(state, Ordering::Release);
        Some(key)
    }

    /// How the trail of a live key stands; `None` for a stale one. For its owner.
    #[inline]
    pub(crate) fn ending(&self, key: Key) -> Option<Ending> {
        let slot = self.slot(key.index)?;
        let state = slot.state.load(Ordering::Relaxed);
        if generation_of(state) != key.generation {
            return None;
        }
        let last = (state & COUNT_MAX).checked_sub(1);
        let took = last.map_or(0, |last| {
            let [head, value] = &slot.entries[place(last as u32)];
            let entry = Entry::from_words([head.load(Ordering::Relaxed), value.load(Ordering::Relaxed)]);
            entry.offset().map_or(0, |_| entry.time)
        });
        Some(Ending { marks: (state >> COUNT_BITS) as u8, took })
    }

    /// Notes where a trail stands among the finished ones. For its owner.
    #[inline]
    pub(crate) fn set_rank(&self, key: Key, rank: u64) {
        if let Some(slot) = self.slot(key.index) {
            slot.rank.store(rank, Ordering::Relaxed);
        }
    }

    /// Where a finished trail stands; of a stale key, anything.
    pub(crate) fn rank(&self, key: Key) -> u64 {
        self.slot(key.index).map_or(0, |slot| slot.rank.load(Ordering::Relaxed))
    }

    /// A copy of a trail; `None` for a key that was stale before the copy was whole.
    pub(crate) fn read(&self, key: Key) -> Option<RawTrail> {
        let slot = self.slot(key.index)?;
        let state = slot.state.load(Ordering::Acquire);
        if generation_of(state) != key.generation {
            return None;
        }
        let words = [0, 1, 2].map(|i: usize| slot.id[i].load(Ordering::Relaxed));
        let base = slot.base.load(Ordering::Relaxed);
        let mut raw = RawTrail::new(DeliveryId::from_words(words), base);
        raw.count = (state & COUNT_MAX) as u32;
        raw.marks = (state >> COUNT_BITS) as u8;
        let used = TRAIL_ENTRIES.min(raw.count as usize);
        for (entry, words) in raw.entries.iter_mut().zip(&slot.entries).take(used) {
            let [head, value] = words;
            *entry = Entry::from_words([head.load(Ordering::Relaxed), value.load(Ordering::Relaxed)]);
        }
        fence(Ordering::Acquire);
        (generation_of(slot.state.load(Ordering::Relaxed)) == key.generation).then_some(raw)
    }

    /// Returns a slot; its key is stale from now on. False for a key that was stale before.
    #[inline]
    pub(crate) fn give_back(&self, stash: &mut Stash, key: Key) -> bool {
        let Some(slot) = self.slot(key.index) else {
            return false;
        };
        if generation_of(slot.state.load(Ordering::Relaxed)) != key.generation {
            return false;
        }
        let generation = u64::from(key.generation.wrapping_add(1));
        slot.state.store(generation << 32, Ordering::Release);
        stash.push(&self.free, self, key.index);
        true
    }

    /// Hands the free slots of a stash to everybody.
    pub(crate) fn flush(&self, stash: &mut Stash) {
        stash.flush(&self.free, self);
    }

    fn take_fresh(&self) -> Option<u32> {
        let mut next = self.fresh.load(Ordering::Relaxed);
        loop {
            if next >= self.capacity {
                return None;
            }
            match self.fresh.compare_exchange(next, next + 1, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => break,
                Err(seen) => next = seen,
            }
        }
        self.chunks
            .get(next as usize / CHUNK_SLOTS)?
            .get_or_init(|| (0..CHUNK_SLOTS).map(|_| Slot::new()).collect());
        Some(next)
    }

    #[inline]
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
            rank: AtomicU64::new(0),
            links: Links::new(),
        }
    }
}

fn generation_of(state: u64) -> u32 {
    (state >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(value: u64) -> impl FnOnce(u64, bool) -> Entry {
        move |_, _| Entry { value, ..Entry::EMPTY }
    }

    #[test]
    fn a_slot_is_reused_and_its_old_key_is_stale() {
        let (slab, mut stash) = (Slab::new(1), Stash::default());
        let old = slab.take(&mut stash, DeliveryId::number(1), 10).expect("room");
        assert_eq!(Key::from_word(old.to_word()), Some(old));
        assert!(slab.push(old, entry(5)).is_some());
        let raw = slab.read(old).expect("live");
        assert_eq!((raw.base, raw.count, raw.entries[0].value), (10, 1, 5));
        assert!(slab.give_back(&mut stash, old));
        let new = slab.take(&mut stash, DeliveryId::number(2), 20).expect("room");
        assert_eq!(new.index, old.index);
        assert!(slab.push(old, entry(6)).is_none());
        assert!(slab.read(old).is_none() && slab.ending(old).is_none());
        assert!(!slab.give_back(&mut stash, old));
        assert_eq!(slab.read(new).expect("live").count, 0);
    }

    #[test]
    fn a_full_slab_refuses_until_a_slot_comes_back() {
        let (slab, mut stash) = (Slab::new(100), Stash::default());
        let keys: Vec<Key> =
            (0..100).map(|i| slab.take(&mut stash, DeliveryId::number(i), 0).expect("room")).collect();
        assert!(slab.take(&mut stash, DeliveryId::number(9), 0).is_none());
        assert!(slab.give_back(&mut stash, keys[3]));
        assert!(slab.take(&mut stash, DeliveryId::number(9), 0).is_some());
    }

    #[test]
    fn what_one_thread_gives_back_another_can_take() {
        let (slab, mut mine) = (Slab::new(64), Stash::default());
        let keys: Vec<Key> =
            (0..64).map(|i| slab.take(&mut mine, DeliveryId::number(i), 0).expect("room")).collect();
        let mut theirs = Stash::default();
        keys.iter().for_each(|key| assert!(slab.give_back(&mut theirs, *key)));
        // Up to two bundles stay in a stash; the rest is everybody's.
        let shared = std::iter::from_fn(|| slab.take(&mut mine, DeliveryId::number(1), 0)).count();
        assert_eq!(shared, 32);
        slab.flush(&mut theirs);
        assert_eq!(std::iter::from_fn(|| slab.take(&mut mine, DeliveryId::number(1), 0)).count(), 32);
    }

    #[test]
    fn threads_never_share_a_slot() {
        let slab = Slab::new(4 * CHUNK_SLOTS);
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let slab = &slab;
                scope.spawn(move || {
                    let mut stash = Stash::default();
                    for round in 0..2000 {
                        let id = DeliveryId::number(thread << 32 | round);
                        let keys: Vec<Key> =
                            (0..40).map(|_| slab.take(&mut stash, id, thread).expect("room")).collect();
                        for key in &keys {
                            assert!(slab.push(*key, entry(round)).is_some());
                        }
                        for key in keys {
                            let raw = slab.read(key).expect("mine");
                            assert_eq!((raw.id, raw.base, raw.count), (id, thread, 1));
                            assert!(slab.give_back(&mut stash, key));
                        }
                    }
                    slab.flush(&mut stash);
                });
            }
        });
        let mut stash = Stash::default();
        let all = std::iter::from_fn(|| slab.take(&mut stash, DeliveryId::number(1), 0)).count();
        assert_eq!(all, 4 * CHUNK_SLOTS, "no slot is lost");
    }
}
