//! Free slots: a stack of bundles that all threads share, and each thread's own stash before it.
//!
//! A thread takes and returns slots in its stash, a chain that nobody else touches. Only when the
//! stash runs empty or over does a whole bundle move, by one compare-and-swap. The head of the
//! shared stack carries a tag that grows with every change, so that a head which left and came back
//! is not mistaken for one that stayed.

use crate::sync::Ordering;
use crate::sync::modelled::{AtomicU32, AtomicU64};

/// Slots of one bundle; a stash holds up to two.
pub(crate) const BUNDLE: u32 = 16;

/// The two links of a slot. Both are one more than an index; 0 ends a chain.
#[derive(Debug)]
pub(crate) struct Links {
    /// The next slot of the same bundle; its owner alone uses it.
    next: AtomicU32,
    /// The next bundle of the stack, where this slot is the first of one.
    below: AtomicU32,
}

impl Links {
    pub(crate) fn new() -> Self {
        Links { next: AtomicU32::new(0), below: AtomicU32::new(0) }
    }
}

/// Where slots are found by index.
pub(crate) trait Slots {
    fn links(&self, index: u32) -> Option<&Links>;
}

/// The shared stack. Its words: the tag in the high half, one more than an index in the low half.
#[derive(Debug)]
pub(crate) struct FreeStack {
    head: AtomicU64,
}

impl FreeStack {
    pub(crate) fn new() -> Self {
        FreeStack { head: AtomicU64::new(0) }
    }

    /// Adds a bundle; `first` is one more than the index of its first slot.
    #[inline]
    pub(crate) fn push<const TAGGED: bool>(&self, slots: &impl Slots, first: u32) {
        let Some(links) = first.checked_sub(1).and_then(|index| slots.links(index)) else {
            return;
        };
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            links.below.store(head as u32, Ordering::Relaxed);
            let new = next_tag::<TAGGED>(head) | u64::from(first);
            match self.head.compare_exchange(head, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return,
                Err(seen) => head = seen,
            }
        }
    }

    /// Takes a bundle; one more than the index of its first slot.
    pub(crate) fn pop<const TAGGED: bool>(&self, slots: &impl Slots) -> Option<u32> {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let first = head as u32;
            let below = slots.links(first.checked_sub(1)?)?.below.load(Ordering::Relaxed);
            let new = next_tag::<TAGGED>(head) | u64::from(below);
            match self.head.compare_exchange(head, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(first),
                Err(seen) => head = seen,
            }
        }
    }
}

/// The tag of the next head, in place. Without a tag the model checker finds a slot with two owners.
fn next_tag<const TAGGED: bool>(head: u64) -> u64 {
    if TAGGED { (head >> 32).wrapping_add(1) << 32 } else { 0 }
}

/// One thread's free slots: a chain in use, and a whole bundle behind it.
#[derive(Debug, Default)]
pub(crate) struct Stash {
    first: u32,
    len: u32,
    reserve: u32,
}

impl Stash {
    /// A free slot of the stash, or of the next bundle.
    #[inline]
    pub(crate) fn pop(&mut self, stack: &FreeStack, slots: &impl Slots) -> Option<u32> {
        if self.first == 0 {
            self.first =
                if self.reserve == 0 { stack.pop::<true>(slots)? } else { std::mem::take(&mut self.reserve) };
            // A bundle of a thread that ended may be shorter; then the next one just fills earlier.
            self.len = BUNDLE;
        }
        let index = self.first - 1;
        self.first = slots.links(index)?.next.load(Ordering::Relaxed);
        self.len = self.len.saturating_sub(1);
        Some(index)
    }

    /// Takes a slot back.
    #[inline]
    pub(crate) fn push(&mut self, stack: &FreeStack, slots: &impl Slots, index: u32) {
        if self.len >= BUNDLE {
            stack.push::<true>(slots, self.reserve);
            (self.reserve, self.first, self.len) = (self.first, 0, 0);
        }
        let Some(links) = slots.links(index) else {
            return;
        };
        links.next.store(self.first, Ordering::Relaxed);
        self.first = index + 1;
        self.len += 1;
    }

    /// Hands everything to the other threads.
    pub(crate) fn flush(&mut self, stack: &FreeStack, slots: &impl Slots) {
        stack.push::<true>(slots, std::mem::take(&mut self.first));
        stack.push::<true>(slots, std::mem::take(&mut self.reserve));
        self.len = 0;
    }
}
