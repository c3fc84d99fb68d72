//! A trail that is being put together: as many stages as a trail keeps, whatever order they come in.

use crate::entry::Entry;
use crate::limits::{HEAD_ENTRIES, TAIL_ENTRIES, TRAIL_ENTRIES};
use crate::recorder::{Recorder, RingEnd};
use crate::trail::{Gap, Trail};

/// What became of a record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Put {
    /// It was new.
    New,
    /// It was there already.
    Twice,
    /// It cannot be of this trail: another one has the same id.
    OfAnother,
}

#[derive(Debug)]
pub(super) struct Open {
    /// Number of birth.
    pub(super) born: u64,
    head: [Option<Entry>; HEAD_ENTRIES],
    /// The newest of the others, by position.
    tail: Vec<(u32, Entry)>,
    /// Stages that came, kept or not.
    seen: u32,
    end: Option<RingEnd>,
}

impl Open {
    pub(super) fn new(born: u64) -> Self {
        Open { born, head: [None; HEAD_ENTRIES], tail: Vec::new(), seen: 0, end: None }
    }

    pub(super) fn put(&mut self, position: u32, entry: Entry) -> Put {
        if self.end.is_some_and(|end| end.count < RingEnd::MANY && position >= end.count) {
            return Put::OfAnother;
        }
        if let Some(there) = self.at(position) {
            return if there == entry { Put::Twice } else { Put::OfAnother };
        }
        match self.head.get_mut(position as usize) {
            Some(slot) => *slot = Some(entry),
            None => {
                let at = self.tail.partition_point(|(before, _)| *before < position);
                self.tail.insert(at, (position, entry));
                if self.tail.len() > TAIL_ENTRIES {
                    self.tail.remove(0);
                }
            }
        }
        self.seen = self.seen.saturating_add(1);
        Put::New
    }

    pub(super) fn end(&mut self, end: RingEnd) -> Put {
        match self.end {
            Some(there) if there == end => Put::Twice,
            Some(_) => Put::OfAnother,
            None if end.count < RingEnd::MANY && self.reach() > end.count => Put::OfAnother,
            None => {
                self.end = Some(end);
                Put::New
            }
        }
    }

    /// True once it has ended and every stage before its end came.
    pub(super) fn is_whole(&self) -> bool {
        self.end.is_some_and(|end| self.seen == self.count(end))
    }

    /// Its stages in order, and one gap from the first to the last that is missing.
    pub(super) fn trail(&self, key: u64, recorder: &Recorder) -> Trail {
        let count = self.end.map_or(self.reach(), |end| self.count(end));
        let (head, tail) = if count as usize > TRAIL_ENTRIES {
            (HEAD_ENTRIES as u32, TAIL_ENTRIES as u32)
        } else {
            (count, count)
        };
        let before: Vec<Entry> = (0..head).map_while(|position| self.at(position)).collect();
        let kept = before.len() as u32;
        let oldest = count.saturating_sub(tail).max(kept);
        let mut behind: Vec<Entry> = (oldest..count).rev().map_while(|position| self.at(position)).collect();
        behind.reverse();
        let missing = count - kept - behind.len() as u32;
        Trail {
            id: self.end.map_or_else(|| format!("~{key:016x}"), |end| end.id.to_string()),
            at: self.end.map(|end| recorder.wall(end.base(recorder.now()))),
            gap: (missing > 0).then_some(Gap { after: before.len(), count: u64::from(missing) }),
            stages: before.into_iter().chain(behind).map(|entry| recorder.entry(entry)).collect(),
            ..Trail::default()
        }
    }

    /// Stages of the trail up to the newest one that came.
    fn reach(&self) -> u32 {
        let in_head = self.head.iter().rposition(Option::is_some).map_or(0, |at| at as u32 + 1);
        self.tail.last().map_or(in_head, |(position, _)| position.saturating_add(1))
    }

    /// Stages that were stamped: as the end says, or as far as is known where it cannot say.
    fn count(&self, end: RingEnd) -> u32 {
        if end.count < RingEnd::MANY { end.count } else { self.reach().max(RingEnd::MANY) }
    }

    fn at(&self, position: u32) -> Option<Entry> {
        match self.head.get(position as usize) {
            Some(entry) => *entry,
            None => {
                let at = self.tail.binary_search_by_key(&position, |(position, _)| *position).ok()?;
                Some(self.tail[at].1)
            }
        }
    }
}
