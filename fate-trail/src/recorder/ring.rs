//! One thread's ring of records: always writable, overwriting the oldest, with an exact count of
//! what its reader missed.
//!
//! The words are atomics, so a read that races with a write yields stale or mixed numbers, never
//! undefined behaviour; the reader then throws away every record whose place was or may have been
//! written to meanwhile. The fence before the words pairs with the reader's fence behind its copy:
//! whoever saw a word of a write also sees that all writes before it were published.

use crate::entry::Entry;
use crate::sync::{AtomicU64, Ordering, fence};

/// One stamped stage as it passes through a ring.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RingRecord {
    /// The stage.
    pub entry: Entry,
    /// Which delivery: [`crate::DeliveryId::key`]. Records of several threads are merged by this
    /// and `position`, never by time.
    pub subject: u64,
    /// The stage's position on its trail, from 0.
    pub position: u64,
}

/// Words of one record.
const WORDS: usize = 4;
/// Bytes of one record, for the memory bound.
pub(crate) const RECORD_BYTES: usize = WORDS * size_of::<u64>();

#[derive(Debug)]
pub(crate) struct Ring {
    slots: Box<[[AtomicU64; WORDS]]>,
    /// Records ever published.
    head: AtomicU64,
}

impl Ring {
    /// A ring of that many records, rounded up to a power of two, at least 2.
    pub(crate) fn new(slots: usize) -> Self {
        let slots = slots.max(2).next_power_of_two();
        Ring {
            slots: (0..slots).map(|_| std::array::from_fn(|_| AtomicU64::new(0))).collect(),
            head: AtomicU64::new(0),
        }
    }

    /// Writes a record. Only the ring's own thread calls this.
    pub(crate) fn push(&self, record: RingRecord) {
        let head = self.head.load(Ordering::Relaxed);
        fence(Ordering::Release);
        let [stage, value] = record.entry.to_words();
        let words = [stage, value, record.subject, record.position];
        for (slot, word) in self.slot(head).iter().zip(words) {
            slot.store(word, Ordering::Relaxed);
        }
        self.head.store(head.wrapping_add(1), Ordering::Release);
    }

    /// Records ever published.
    pub(crate) fn head(&self) -> u64 {
        self.head.load(Ordering::Acquire)
    }

    /// Copies what was published at or behind `from` and is still whole. Answers the position to
    /// go on from and how many were lost; copied + lost = next − from, exactly.
    pub(crate) fn read(&self, from: u64, out: &mut Vec<RingRecord>) -> (u64, u64) {
        let head = self.head();
        let start = from.max(self.oldest_whole(head));
        let copied_from = out.len();
        for position in start..head {
            let [a, b, subject, step] = self.slot(position);
            out.push(RingRecord {
                entry: Entry::from_words([a.load(Ordering::Relaxed), b.load(Ordering::Relaxed)]),
                subject: subject.load(Ordering::Relaxed),
                position: step.load(Ordering::Relaxed),
            });
        }
        fence(Ordering::Acquire);
        let whole = self.oldest_whole(self.head.load(Ordering::Relaxed)).clamp(start, head);
        let torn = usize::try_from(whole - start).unwrap_or(usize::MAX);
        out.drain(copied_from..copied_from + torn);
        (head, whole - from)
    }

    /// The oldest position that no write can be changing when `head` records are published: the
    /// next write goes to the place of the one before it.
    fn oldest_whole(&self, head: u64) -> u64 {
        (head + 1).saturating_sub(self.slots.len() as u64)
    }

    fn slot(&self, position: u64) -> &[AtomicU64; WORDS] {
        // The length is a power of two.
        &self.slots[position as usize & (self.slots.len() - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(i: u64) -> RingRecord {
        RingRecord {
            entry: Entry { stage: i as u16, hub: !i as u16, time: i as u32, value: i.wrapping_mul(3) },
            subject: i.wrapping_mul(5),
            position: i,
        }
    }

    #[test]
    fn a_record_is_32_bytes() {
        assert_eq!(RECORD_BYTES, 32);
    }

    #[test]
    fn what_fits_is_read_once_and_in_order() {
        let ring = Ring::new(8);
        (0..5).for_each(|i| ring.push(record(i)));
        let mut out = Vec::new();
        assert_eq!(ring.read(0, &mut out), (5, 0));
        assert_eq!(out, (0..5).map(record).collect::<Vec<_>>());
        assert_eq!(ring.read(5, &mut out), (5, 0));
        assert_eq!(out.len(), 5);
    }

    #[test]
    fn what_was_overwritten_is_counted() {
        let ring = Ring::new(8);
        (0..20).for_each(|i| ring.push(record(i)));
        let mut out = Vec::new();
        // One place is always open to the next write, so 7 of 8 are certain.
        assert_eq!(ring.read(2, &mut out), (20, 11));
        assert_eq!(out, (13..20).map(record).collect::<Vec<_>>());
    }

    #[test]
    fn a_racing_reader_sees_whole_records_and_exact_losses() {
        const WRITES: u64 = 200_000;
        let ring = Ring::new(64);
        let (mut next, mut lost, mut seen) = (0, 0, 0);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| (0..WRITES).for_each(|i| ring.push(record(i))));
            let mut out = Vec::new();
            loop {
                let done = writer.is_finished();
                out.clear();
                let (to, missed) = ring.read(next, &mut out);
                for (read, i) in out.iter().zip(to - out.len() as u64..) {
                    assert_eq!(*read, record(i));
                }
                seen += out.len() as u64;
                lost += missed;
                next = to;
                if done {
                    break;
                }
            }
        });
        assert_eq!(seen + lost, WRITES);
    }
}
