//! Trails put together from the records of the threads' rings, and replies from trails of their own.
//!
//! A recorder hands out finished trails by itself; this is for whoever reads the stages as they are
//! stamped, through [`Recorder::subscribe`] or [`Recorder::drain_rings`], and wants the same trails.
//! Records are merged by delivery and position, never by time: threads are read one after the other,
//! clocks are read for few stages, and neither disturbs the result.
//!
//! ```
//! use fate_trail::assemble::Assembler;
//! use fate_trail::stage::{ENQUEUED, HANDLER_EXIT};
//! use fate_trail::{Handle, Recorder, RecorderConfig, Storage};
//!
//! let recorder = Recorder::new(RecorderConfig { ring_ends: true, ..RecorderConfig::default() });
//! let hub = recorder.hub("orders");
//! let mut trail = Handle::begin(&recorder, "7");
//! trail.stamp_timed(&recorder, hub, ENQUEUED, 1);
//! trail.stamp_timed(&recorder, hub, HANDLER_EXIT, 0);
//! trail.finish(&recorder);
//!
//! let mut assembler = Assembler::new(&recorder);
//! let trails = assembler.drained(&recorder.drain_rings());
//! assert_eq!(trails, recorder.take_finished());
//! ```

mod open;
mod replies;

use std::collections::{BTreeMap, HashMap};

use crate::limits::ASSEMBLING;
use crate::recorder::{Drained, Recorder, RingEnd, RingRecord};
use crate::trail::Trail;

use open::{Open, Put};

pub use replies::{Folded, fold};

/// Puts ring records together to trails. For a recorder whose
/// [`ring_ends`](crate::RecorderConfig::ring_ends) are written; without them no trail ends before
/// [`Assembler::finish`], and none has its id.
///
/// Where nothing was lost, a trail equals the recorder's own finished one. Where records are missing,
/// the stages from the first missing one to the last are one counted gap, so that two stages that
/// stand side by side always followed each other.
///
/// Holds on to the recorder, for its names and its clock.
#[derive(Debug)]
pub struct Assembler {
    recorder: Recorder,
    capacity: usize,
    open: HashMap<Key, Open>,
    /// By number of birth: whose it is. The oldest goes first.
    ages: BTreeMap<u64, Key>,
    born: u64,
    /// Ended and not whole: key and birth. The first have waited since the settling before.
    overdue: Vec<(Key, u64)>,
    waiting: Vec<(Key, u64)>,
    ready: Vec<Trail>,
    status: AssemblyStatus,
}

/// Which trail: the delivery's key and when the trail began.
type Key = (u64, u32);

/// Counts of an assembler. `begun = whole + broken + open`, and the evicted and reused are
/// among the broken.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct AssemblyStatus {
    /// Records that were taken in, ends included.
    pub records: u64,
    /// Records that the rings lost before they came here, as far as [`Assembler::drained`] was told.
    pub lost: u64,
    /// Trails of which at least one record came.
    pub begun: u64,
    /// Trails that came out as they were recorded.
    pub whole: u64,
    /// Trails that came out with records missing or before their end.
    pub broken: u64,
    /// Broken because there were too many at once.
    pub evicted: u64,
    /// Broken because another trail of the same id began in the same microsecond.
    pub reused: u64,
    /// Records that came twice; they were left out.
    pub ignored: u64,
    /// Trails that are being put together.
    pub open: usize,
}

impl Assembler {
    /// For that recorder's records, with room for [`ASSEMBLING`] trails at once.
    pub fn new(recorder: &Recorder) -> Self {
        Assembler::with_capacity(recorder, ASSEMBLING)
    }

    /// With room for that many trails at once, at least 1. Memory grows up to that, with the trails
    /// that are handed over and not taken yet on top.
    pub fn with_capacity(recorder: &Recorder, capacity: usize) -> Self {
        Assembler {
            recorder: recorder.clone(),
            capacity: capacity.max(1),
            open: HashMap::new(),
            ages: BTreeMap::new(),
            born: 0,
            overdue: Vec::new(),
            waiting: Vec::new(),
            ready: Vec::new(),
            status: AssemblyStatus::default(),
        }
    }

    /// Takes what one reading of all rings gave, [settles](Assembler::settle), and hands out the
    /// trails that are done. What [`Subscription::take`](crate::Subscription::take) gives is whole
    /// readings as well.
    pub fn drained(&mut self, drained: &Drained) -> Vec<Trail> {
        self.status.lost += drained.lost;
        drained.records.iter().for_each(|record| self.push(record));
        self.settle();
        self.take()
    }

    /// Takes one record. Records may come in any order.
    pub fn push(&mut self, record: &RingRecord) {
        self.status.records += 1;
        match record.end() {
            Some(end) => self.end(end),
            None => self.stage(record),
        }
    }

    /// Says that all rings were read once more. A trail that had ended by the settling before and is
    /// still not whole will not become so: whatever its threads wrote before its end, this reading
    /// has found or found lost. It is handed out with a gap.
    pub fn settle(&mut self) {
        let overdue = std::mem::replace(&mut self.overdue, std::mem::take(&mut self.waiting));
        for (key, born) in overdue {
            if self.open.get(&key).is_some_and(|open| open.born == born) {
                self.close(key);
            }
        }
    }

    /// The trails that are done, in the order in which they became so.
    pub fn take(&mut self) -> Vec<Trail> {
        std::mem::take(&mut self.ready)
    }

    /// Every trail that is left, also those that have not ended, oldest first.
    pub fn finish(mut self) -> Vec<Trail> {
        while let Some((_, key)) = self.ages.pop_first() {
            self.close(key);
        }
        self.take()
    }

    /// The counts at this moment.
    pub fn status(&self) -> AssemblyStatus {
        AssemblyStatus { open: self.open.len(), ..self.status }
    }

    fn stage(&mut self, record: &RingRecord) {
        let key = (record.subject, record.start);
        let mut put = self.of(key).put(record.position, record.entry);
        if put == Put::OfAnother {
            put = self.reuse(key).put(record.position, record.entry);
        }
        self.after(key, put, false);
    }

    fn end(&mut self, end: RingEnd) {
        let key = (end.id.key(), end.start());
        let mut put = self.of(key).end(end);
        if put == Put::OfAnother {
            put = self.reuse(key).end(end);
        }
        self.after(key, put, true);
    }

    /// Closes a trail that has become whole; one that has ended and is not may still become so.
    fn after(&mut self, key: Key, put: Put, ended: bool) {
        if put != Put::New {
            self.status.ignored += 1;
            return;
        }
        let Some(open) = self.open.get(&key) else { return };
        if open.is_whole() {
            self.close(key);
        } else if ended {
            self.waiting.push((key, open.born));
        }
    }

    /// The trail of that key; begun, in the place of the oldest one if need be, where there is none.
    fn of(&mut self, key: Key) -> &mut Open {
        if !self.open.contains_key(&key) {
            if self.open.len() >= self.capacity {
                if let Some((_, oldest)) = self.ages.pop_first() {
                    self.status.evicted += 1;
                    self.close(oldest);
                }
            }
            self.born += 1;
            self.status.begun += 1;
            self.ages.insert(self.born, key);
        }
        let born = self.born;
        self.open.entry(key).or_insert_with(|| Open::new(born))
    }

    /// A new trail of a key whose old one can get no more.
    fn reuse(&mut self, key: Key) -> &mut Open {
        self.status.reused += 1;
        self.close(key);
        self.of(key)
    }

    fn close(&mut self, key: Key) {
        let Some(open) = self.open.remove(&key) else { return };
        self.ages.remove(&open.born);
        if open.is_whole() {
            self.status.whole += 1;
        } else {
            self.status.broken += 1;
        }
        self.ready.push(open.trail(key.0, &self.recorder));
    }
}

#[cfg(test)]
mod tests;
