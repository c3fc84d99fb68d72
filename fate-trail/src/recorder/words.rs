//! The ring under the ring: records of `W` words, always writable, overwriting the oldest, with an
//! exact count of what the reader missed.
//!
//! The words are atomics, so a read that races with a write yields stale or mixed numbers, never
//! undefined behaviour; the reader then throws away every record whose place was or may have been
//! written to meanwhile. The fence before the words pairs with the reader's fence behind its copy:
//! whoever saw a word of a write also sees that all writes before it were published.
//!
//! Each step of the protocol can be taken out by a [`Defect`], a type parameter, so that the model
//! checker can show that it finds the hole; the recorder itself only ever uses [`Sound`].

use crate::sync::Ordering;
use crate::sync::modelled::{AtomicU64, fence};

/// What is wrong with a ring. Constants, so that the sound one costs nothing.
pub(crate) trait Defect {
    /// The head is published before the words are written.
    const HEAD_FIRST: bool = false;
    /// The words are written without the fence before them.
    const UNFENCED_WRITE: bool = false;
    /// The head is published without release.
    const RELAXED_HEAD: bool = false;
    /// The reader does not look at the head again.
    const ONE_LOOK: bool = false;
    /// The reader looks again without the fence before it.
    const UNFENCED_READ: bool = false;
    /// The place that the next write goes to counts as whole.
    const LATE_WRAP: bool = false;
}

/// Nothing is wrong.
#[derive(Debug)]
pub(crate) struct Sound;

impl Defect for Sound {}

#[derive(Debug)]
pub(crate) struct WordRing<const W: usize> {
    slots: Box<[[AtomicU64; W]]>,
    /// Records ever published.
    head: AtomicU64,
}

impl<const W: usize> WordRing<W> {
    /// A ring of that many records, rounded up to a power of two, at least 2.
    pub(crate) fn new(slots: usize) -> Self {
        let slots = slots.max(2).next_power_of_two();
        WordRing {
            slots: (0..slots).map(|_| std::array::from_fn(|_| AtomicU64::new(0))).collect(),
            head: AtomicU64::new(0),
        }
    }

    /// Writes the record after the `head` that were written before. Only the ring's own thread calls
    /// this, and counts for itself.
    #[inline]
    pub(crate) fn push<D: Defect>(&self, head: u64, words: [u64; W]) {
        let publish = if D::RELAXED_HEAD { Ordering::Relaxed } else { Ordering::Release };
        if D::HEAD_FIRST {
            self.head.store(head.wrapping_add(1), publish);
        }
        if !D::UNFENCED_WRITE {
            fence(Ordering::Release);
        }
        for (slot, word) in self.slot(head).iter().zip(words) {
            slot.store(word, Ordering::Relaxed);
        }
        if !D::HEAD_FIRST {
            self.head.store(head.wrapping_add(1), publish);
        }
    }

    /// Records ever published.
    pub(crate) fn head(&self) -> u64 {
        self.head.load(Ordering::Acquire)
    }

    /// Copies what was published at or behind `from` and is still whole. Answers the position to
    /// go on from and how many were lost; copied + lost = next − from, exactly.
    pub(crate) fn read<D: Defect, T>(
        &self,
        from: u64,
        out: &mut Vec<T>,
        make: impl Fn([u64; W]) -> T,
    ) -> (u64, u64) {
        let head = self.head();
        let start = from.max(self.oldest_whole::<D>(head));
        let copied_from = out.len();
        for position in start..head {
            let slot = self.slot(position);
            out.push(make(std::array::from_fn(|word| slot[word].load(Ordering::Relaxed))));
        }
        if !D::UNFENCED_READ {
            fence(Ordering::Acquire);
        }
        let now = if D::ONE_LOOK { head } else { self.head.load(Ordering::Relaxed) };
        let whole = self.oldest_whole::<D>(now).clamp(start, head);
        let torn = usize::try_from(whole - start).unwrap_or(usize::MAX);
        out.drain(copied_from..copied_from + torn);
        (head, whole - from)
    }

    /// The oldest position that no write can be changing when `head` records are published: the
    /// next write goes to the place of the one before it.
    fn oldest_whole<D: Defect>(&self, head: u64) -> u64 {
        let open = if D::LATE_WRAP { 0 } else { 1 };
        (head + open).saturating_sub(self.slots.len() as u64)
    }

    #[inline]
    fn slot(&self, position: u64) -> &[AtomicU64; W] {
        // The length is a power of two.
        &self.slots[position as usize & (self.slots.len() - 1)]
    }
}
