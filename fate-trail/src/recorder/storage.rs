//! Where a delivery's trail lives while the delivery is on its way.
//!
//! It is a type parameter of the envelope, because the size of a queued message decides how fast a
//! long backlog is: [`Handle`] adds 8 bytes, [`Inline`] the whole trail, [`Off`] nothing.

use std::fmt;

use super::slab::Key;
use super::{Recorder, RingRecord};
use crate::entry::{Entry, NO_TIME, RawTrail, offset};
use crate::id::DeliveryId;
use crate::names::HubId;
use crate::stage::StageId;
use crate::trail::Trail;

/// What a recorder is told when a trail starts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Start {
    /// What the trail is about.
    pub id: DeliveryId,
    /// A reading of [`Recorder::now`]; `None` to read the clock.
    pub now: Option<u64>,
    /// Somebody waits for an answer to this delivery.
    pub awaited: bool,
}

impl Start {
    /// Of a delivery that nobody awaits, now.
    pub fn new(id: impl Into<DeliveryId>) -> Self {
        Start { id: id.into(), now: None, awaited: false }
    }

    /// The same at a time that was read already.
    #[must_use]
    pub fn at(mut self, now: u64) -> Self {
        self.now = Some(now);
        self
    }

    /// The same, awaited by somebody.
    #[must_use]
    pub fn awaited(mut self, awaited: bool) -> Self {
        self.awaited = awaited;
        self
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Handle {}
    impl Sealed for super::Inline {}
    impl Sealed for super::Off {}
}

/// A place for the trail of one delivery.
///
/// Stamping never allocates, logs, waits or fails, so it may be done inside a short critical
/// section; [`start`](Storage::start) and [`finish`](Storage::finish) may allocate the first time that
/// a thread or a deeper backlog comes, and belong outside. Every value must be finished, or a [`Handle`]'s slot stays taken.
pub trait Storage: sealed::Sealed + fmt::Debug + Send + Sync + Sized + 'static {
    /// False for [`Off`], so that callers can leave out work that only feeds a trail.
    const RECORDS: bool;

    /// Starts a trail. Nothing is recorded while the recorder is off, or where its
    /// [`Policy`](super::Policy) does not want the delivery.
    fn start(recorder: &Recorder, start: Start) -> Self;

    /// Starts a trail of a delivery that nobody awaits; reads the clock once.
    fn begin(recorder: &Recorder, id: impl Into<DeliveryId>) -> Self {
        Self::start(recorder, Start::new(id))
    }

    /// Stamps a stage with a known time: a reading of [`Recorder::now`], or `None` for a stage
    /// that is ordered by its counter alone. `value` comes from [`crate::stage::pack`].
    fn stamp_at(&mut self, recorder: &Recorder, hub: HubId, stage: StageId, value: u64, now: Option<u64>);

    /// Stamps a stage without reading a clock; its text shows `(+?)`.
    fn stamp(&mut self, recorder: &Recorder, hub: HubId, stage: StageId, value: u64) {
        self.stamp_at(recorder, hub, stage, value, None);
    }

    /// Reads the clock and stamps a stage.
    fn stamp_timed(&mut self, recorder: &Recorder, hub: HubId, stage: StageId, value: u64) {
        if self.is_live() {
            let now = recorder.now();
            self.stamp_at(recorder, hub, stage, value, Some(now));
        }
    }

    /// True where stamps are kept.
    fn is_live(&self) -> bool;

    /// The trail so far; `None` where none is kept.
    fn view(&self, recorder: &Recorder) -> Option<Trail>;

    /// Ends the trail and moves it to the recorder's finished ones.
    fn finish(self, recorder: &Recorder);
}

/// The trail is in the recorder; the delivery carries 8 bytes.
#[derive(Debug)]
#[must_use = "a trail that is not finished keeps its slot"]
pub struct Handle(Key);

/// The index that no slab has.
const NOWHERE: Key = Key { index: u32::MAX, generation: 0 };

impl Handle {
    /// A handle of no trail, for a place that must hold one.
    pub(crate) const fn of_nothing() -> Handle {
        Handle(NOWHERE)
    }
}

impl Storage for Handle {
    const RECORDS: bool = true;

    #[inline]
    fn start(recorder: &Recorder, start: Start) -> Self {
        if !recorder.wants(&start) {
            return Handle(NOWHERE);
        }
        let base = start.now.unwrap_or_else(|| recorder.now());
        Handle(recorder.take(start.id, base).unwrap_or(NOWHERE))
    }

    #[inline]
    fn stamp_at(&mut self, recorder: &Recorder, hub: HubId, stage: StageId, value: u64, now: Option<u64>) {
        if self.0 == NOWHERE {
            return;
        }
        let pushed = recorder.slab().push(self.0, |base, first| entry(hub, stage, value, now, base, first));
        match pushed {
            Some(record) => recorder.ring(record),
            None => recorder.count_stale(),
        }
    }

    #[inline]
    fn is_live(&self) -> bool {
        self.0 != NOWHERE
    }

    fn view(&self, recorder: &Recorder) -> Option<Trail> {
        Some(recorder.render(&recorder.slab().read(self.0)?))
    }

    #[inline]
    fn finish(self, recorder: &Recorder) {
        if self.0 != NOWHERE {
            recorder.finish(self.0);
        }
    }
}

/// The trail is in the delivery: no shared memory at all, for single deliveries of weight.
#[derive(Debug)]
pub struct Inline {
    raw: RawTrail,
    live: bool,
}

impl Storage for Inline {
    const RECORDS: bool = true;

    fn start(recorder: &Recorder, start: Start) -> Self {
        let live = recorder.wants(&start);
        let base = if live {
            recorder.begin_elsewhere();
            start.now.unwrap_or_else(|| recorder.now())
        } else {
            0
        };
        Inline { raw: RawTrail::new(start.id, base), live }
    }

    fn stamp_at(&mut self, recorder: &Recorder, hub: HubId, stage: StageId, value: u64, now: Option<u64>) {
        if !self.live {
            return;
        }
        let position = self.raw.count;
        let entry = entry(hub, stage, value, now, self.raw.base, position == 0);
        self.raw.push(entry);
        let (subject, start) = (self.raw.id.key(), self.raw.base as u32);
        recorder.ring(RingRecord { entry, subject, position, start });
    }

    fn is_live(&self) -> bool {
        self.live
    }

    fn view(&self, recorder: &Recorder) -> Option<Trail> {
        self.live.then(|| recorder.render(&self.raw))
    }

    fn finish(self, recorder: &Recorder) {
        if self.live {
            recorder.finish_elsewhere(&self.raw);
        }
    }
}

/// No trail. Every call compiles to nothing; what all costs are measured against.
#[derive(Debug)]
pub struct Off;

impl Storage for Off {
    const RECORDS: bool = false;

    fn start(_: &Recorder, _: Start) -> Self {
        Off
    }

    fn stamp_at(&mut self, _: &Recorder, _: HubId, _: StageId, _: u64, _: Option<u64>) {}

    fn is_live(&self) -> bool {
        false
    }

    fn view(&self, _: &Recorder) -> Option<Trail> {
        None
    }

    fn finish(self, _: &Recorder) {}
}

/// The first stage of a trail stands at its start, whatever the clock has done since.
#[inline]
fn entry(hub: HubId, stage: StageId, value: u64, now: Option<u64>, base: u64, first: bool) -> Entry {
    let time = match now {
        None => NO_TIME,
        Some(_) if first => 0,
        Some(now) => offset(base, now),
    };
    Entry { stage: stage.index(), hub: hub.index(), time, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_the_envelope_are_as_promised() {
        assert_eq!(size_of::<Handle>(), 8);
        assert_eq!(size_of::<Off>(), 0);
        assert!(size_of::<Inline>() <= 272, "{}", size_of::<Inline>());
    }
}
