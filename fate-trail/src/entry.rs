//! One stamped stage in 16 bytes, and which of many a trail keeps.

use crate::id::DeliveryId;
use crate::limits::{HEAD_ENTRIES, TAIL_ENTRIES, TRAIL_ENTRIES};
use crate::stage::marks_of;

/// The time of an entry that took no clock reading.
pub(crate) const NO_TIME: u32 = u32::MAX;

/// One stage of a trail as it is recorded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Entry {
    /// Index of the stage in the registry.
    pub stage: u16,
    /// Index of the hub's name in the recorder.
    pub hub: u16,
    /// Microseconds since the first stage; `u32::MAX` where no clock was read. Saturates one
    /// below, after about 71 minutes.
    pub time: u32,
    /// The details, packed as the registry says.
    pub value: u64,
}

impl Entry {
    /// What fills the places that are not yet used.
    pub(crate) const EMPTY: Entry = Entry { stage: 0, hub: 0, time: NO_TIME, value: 0 };

    #[inline]
    pub(crate) fn to_words(self) -> [u64; 2] {
        let head = u64::from(self.stage) | u64::from(self.hub) << 16 | u64::from(self.time) << 32;
        [head, self.value]
    }

    #[inline]
    pub(crate) fn from_words([head, value]: [u64; 2]) -> Self {
        // Each cast keeps exactly the bits of its field.
        Entry { stage: head as u16, hub: (head >> 16) as u16, time: (head >> 32) as u32, value }
    }

    /// The offset in microseconds, if a clock was read.
    pub fn offset(&self) -> Option<u64> {
        (self.time != NO_TIME).then_some(u64::from(self.time))
    }
}

/// Microseconds since the start as an entry has them.
#[inline]
pub(crate) fn offset(base: u64, now: u64) -> u32 {
    u32::try_from(now.saturating_sub(base)).unwrap_or(NO_TIME).min(NO_TIME - 1)
}

/// The place of the stage that is the `position`-th of its trail, counted from 0.
#[inline]
pub(crate) fn place(position: u32) -> usize {
    let position = position as usize;
    if position < HEAD_ENTRIES { position } else { HEAD_ENTRIES + (position - HEAD_ENTRIES) % TAIL_ENTRIES }
}

/// A trail as it is recorded: a copy that nobody writes to any more.
#[derive(Clone, Debug)]
pub(crate) struct RawTrail {
    pub(crate) id: DeliveryId,
    /// Monotonic microseconds of the first stage.
    pub(crate) base: u64,
    /// Stages stamped, kept or not.
    pub(crate) count: u32,
    /// What its stages stand for, together.
    pub(crate) marks: u8,
    pub(crate) entries: [Entry; TRAIL_ENTRIES],
}

impl RawTrail {
    pub(crate) fn new(id: DeliveryId, base: u64) -> Self {
        RawTrail { id, base, count: 0, marks: 0, entries: [Entry::EMPTY; TRAIL_ENTRIES] }
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        self.entries[place(self.count)] = entry;
        self.marks |= marks_of(entry.stage);
        self.count = self.count.saturating_add(1);
    }

    /// The kept entries, oldest first.
    pub(crate) fn kept(&self) -> impl Iterator<Item = Entry> {
        let head = self.count.min(HEAD_ENTRIES as u32);
        let tail = self.count.saturating_sub(TAIL_ENTRIES as u32).max(head);
        (0..head).chain(tail..self.count).map(|p| self.entries[place(p)])
    }

    /// Microseconds from the first stage to the last, as far as a clock was read there.
    pub(crate) fn took(&self) -> u32 {
        let last = self.count.checked_sub(1).map(|last| self.entries[place(last)]);
        last.and_then(|entry| entry.offset().map(|_| entry.time)).unwrap_or(0)
    }

    /// Stages between the head and the tail that were overwritten.
    pub(crate) fn missing(&self) -> u32 {
        self.count.saturating_sub(TRAIL_ENTRIES as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_entry_is_16_bytes() {
        assert_eq!(size_of::<Entry>(), 16);
    }

    #[test]
    fn times_saturate_below_the_mark_of_no_reading() {
        assert_eq!(offset(5, 3), 0);
        assert_eq!(offset(5, 12), 7);
        assert_eq!(offset(0, u64::from(u32::MAX)), u32::MAX - 1);
        assert_eq!(offset(0, u64::MAX), u32::MAX - 1);
    }

    proptest! {
        #[test]
        fn words_carry_every_entry(stage: u16, hub: u16, time: u32, value: u64) {
            let entry = Entry { stage, hub, time, value };
            prop_assert_eq!(Entry::from_words(entry.to_words()), entry);
        }

        #[test]
        fn first_four_and_last_ten_are_kept(count in 0u32..100) {
            let mut raw = RawTrail::new(DeliveryId::number(1), 0);
            for i in 0..count {
                raw.push(Entry { value: u64::from(i), ..Entry::EMPTY });
            }
            let kept: Vec<u64> = raw.kept().map(|e| e.value).collect();
            let expected: Vec<u64> = (0..u64::from(count))
                .filter(|i| *i < 4 || *i + 10 >= u64::from(count))
                .collect();
            prop_assert_eq!(&kept, &expected);
            prop_assert_eq!(raw.missing() as usize, count as usize - kept.len());
        }
    }
}
