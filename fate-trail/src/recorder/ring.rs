//! One thread's ring of records: stages as words and back.

use super::words::{Sound, WordRing};
use crate::entry::Entry;

/// One stamped stage as it passes through a ring.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RingRecord {
    /// The stage. Its time counts from the trail's own start.
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
pub(crate) struct Ring(WordRing<WORDS>);

impl Ring {
    /// A ring of that many records, rounded up to a power of two, at least 2.
    pub(crate) fn new(slots: usize) -> Self {
        Ring(WordRing::new(slots))
    }

    /// Bytes of a ring of that many records.
    pub(crate) fn bytes(slots: usize) -> usize {
        slots.max(2).next_power_of_two() * RECORD_BYTES
    }

    /// Writes the record after the `head` that were written before. Only the ring's own thread calls
    /// this, and counts for itself.
    #[inline]
    pub(crate) fn push(&self, head: u64, record: RingRecord) {
        let [stage, value] = record.entry.to_words();
        self.0.push::<Sound>(head, [stage, value, record.subject, record.position]);
    }

    /// Records ever published.
    pub(crate) fn head(&self) -> u64 {
        self.0.head()
    }

    /// Copies what was published at or behind `from` and is still whole. Answers the position to
    /// go on from and how many were lost; copied + lost = next − from, exactly.
    pub(crate) fn read(&self, from: u64, out: &mut Vec<RingRecord>) -> (u64, u64) {
        self.0.read::<Sound, _>(from, out, |[stage, value, subject, position]| RingRecord {
            entry: Entry::from_words([stage, value]),
            subject,
            position,
        })
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
        (0..5).for_each(|i| ring.push(i, record(i)));
        let mut out = Vec::new();
        assert_eq!(ring.read(0, &mut out), (5, 0));
        assert_eq!(out, (0..5).map(record).collect::<Vec<_>>());
        assert_eq!(ring.read(5, &mut out), (5, 0));
        assert_eq!(out.len(), 5);
    }

    #[test]
    fn what_was_overwritten_is_counted() {
        let ring = Ring::new(8);
        (0..20).for_each(|i| ring.push(i, record(i)));
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
            let writer = scope.spawn(|| (0..WRITES).for_each(|i| ring.push(i, record(i))));
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
