//! One thread's ring of records: stages as words and back.

use super::words::{Sound, WordRing};
use crate::entry::Entry;
use crate::id::DeliveryId;

/// One stamped stage as it passes through a ring; or, where [`RecorderConfig::ring_ends`] asks for
/// them, the end of a trail, which [`RingRecord::end`] reads and whose fields mean nothing else.
///
/// [`RecorderConfig::ring_ends`]: super::RecorderConfig::ring_ends
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RingRecord {
    /// The stage. Its time counts from the trail's own start.
    pub entry: Entry,
    /// Which delivery: [`crate::DeliveryId::key`]. Records of several threads are merged by this,
    /// `start` and `position`, never by time.
    pub subject: u64,
    /// The stage's position on its trail, from 0.
    pub position: u32,
    /// The low bits of the start of its trail, which tell two trails of one id apart.
    pub start: u32,
}

/// Stage index of a record that ends a trail; no stage has it.
const END: u64 = u16::MAX as u64;
/// Bits of the number of stages in an end; that many or more are the largest number.
const COUNT_BITS: u32 = 8;
/// Bits of the start in an end: what is above them, 12.7 days, comes from the reader's clock.
const START_BITS: u32 = 40;

/// The end of a trail as it passes through a ring: whose it was, and how to know it is whole.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RingEnd {
    /// What the trail was about.
    pub id: DeliveryId,
    /// Stages that were stamped; [`RingEnd::MANY`] where there were that many or more.
    pub count: u32,
    /// Monotonic microseconds of its start, as far as an end has bits for them.
    start: u64,
}

impl RingEnd {
    /// The largest number of stages that an end can tell.
    pub const MANY: u32 = (1 << COUNT_BITS) - 1;

    pub(crate) fn of(id: DeliveryId, count: u32, base: u64) -> Self {
        RingEnd { id, count: count.min(Self::MANY), start: base & ((1 << START_BITS) - 1) }
    }

    /// The low bits of its start, as its stages carry them.
    pub fn start(&self) -> u32 {
        self.start as u32
    }

    /// The newest time with those bits that is not after `now`.
    pub(crate) fn base(&self, now: u64) -> u64 {
        let turn = 1 << START_BITS;
        let base = now >> START_BITS << START_BITS | self.start;
        if base > now { base.checked_sub(turn).unwrap_or(base) } else { base }
    }

    pub(crate) fn record(self) -> RingRecord {
        let head = END | u64::from(self.count) << 16 | self.start << (16 + COUNT_BITS);
        let [value, subject, third] = self.id.words();
        RingRecord::from_words([head, value, subject, third])
    }
}

impl RingRecord {
    /// The end of a trail, where the record is one.
    pub fn end(&self) -> Option<RingEnd> {
        let [head, value, subject, third] = self.to_words();
        (u64::from(self.entry.stage) == END).then(|| RingEnd {
            id: DeliveryId::from_words([value, subject, third]),
            count: (head >> 16) as u32 & RingEnd::MANY,
            start: head >> (16 + COUNT_BITS),
        })
    }

    fn to_words(self) -> [u64; WORDS] {
        let [stage, value] = self.entry.to_words();
        [stage, value, self.subject, u64::from(self.position) | u64::from(self.start) << 32]
    }

    fn from_words([stage, value, subject, third]: [u64; WORDS]) -> Self {
        let entry = Entry::from_words([stage, value]);
        // Each cast keeps exactly the bits of its field.
        RingRecord { entry, subject, position: third as u32, start: (third >> 32) as u32 }
    }
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
        self.0.push::<Sound>(head, record.to_words());
    }

    /// Records ever published.
    pub(crate) fn head(&self) -> u64 {
        self.0.head()
    }

    /// Copies what was published at or behind `from` and is still whole. Answers the position to
    /// go on from and how many were lost; copied + lost = next − from, exactly.
    pub(crate) fn read(&self, from: u64, out: &mut Vec<RingRecord>) -> (u64, u64) {
        self.0.read::<Sound, _>(from, out, RingRecord::from_words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(i: u64) -> RingRecord {
        RingRecord {
            entry: Entry { stage: i as u16, hub: !i as u16, time: i as u32, value: i.wrapping_mul(3) },
            subject: i.wrapping_mul(5),
            position: i as u32,
            start: !i as u32,
        }
    }

    #[test]
    fn an_end_carries_whose_it_was_and_when_it_began() {
        for id in [7.into(), DeliveryId::new("orders#12"), DeliveryId::new("a text of 23 characters")] {
            for (count, base, now) in
                [(3, 5, 9), (254, 1 << 41, (1 << 41) + 7), (255, u64::from(u32::MAX), 1 << 60)]
            {
                let record = RingEnd::of(id, count, base).record();
                let end = record.end().expect("an end");
                assert_eq!((end.id, end.count), (id, count));
                assert_eq!(end.base(now.min(base + 1000)), base);
            }
        }
        assert_eq!(RingEnd::of(7.into(), 9999, 0).count, RingEnd::MANY);
        assert!(record(3).end().is_none());
    }

    #[test]
    fn a_start_before_the_turn_of_its_bits_is_found_after_it() {
        let base = (1 << START_BITS) - 3;
        assert_eq!(RingEnd::of(7.into(), 1, base).base(base + 10), base);
        assert_eq!(RingEnd::of(7.into(), 1, 5).base(2), 5, "a clock that went back");
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
