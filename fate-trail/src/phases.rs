//! What a delivery spent its time on, read off its trail: the one reading that people, reports and
//! telemetry share. Where no clock was read there is no time, which is not a time of 0.

use crate::stage::{self, StageId};
use crate::text::Value;
use crate::trail::{Stage, Trail};

/// What a delivery was doing.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum PhaseKind {
    /// Waiting in the main queue for its first turn.
    Main,
    /// Parked behind closed gates, and waiting for the turn after it.
    Deferred,
    /// Put back by the arrival barrier, and waiting for the turn after it.
    Barrier,
    /// Taken from the queue, up to a gate decision or a barrier that sent it back.
    Attempt,
    /// Taken from the queue and handled.
    Turn,
}

/// One stretch of a trail. The phases of a trail without a gap follow each other without a hole.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Phase {
    /// What it was.
    pub kind: PhaseKind,
    /// The hub it happened at.
    pub hub: String,
    /// Its start, in microseconds since the trail's first stage.
    pub start: u64,
    /// Its end, on the same scale.
    pub end: u64,
    /// The gates it waited for; for [`PhaseKind::Deferred`] alone.
    pub gates: Option<Value>,
    /// True where a clock was read at both ends. Else an end stands where the nearest reading before
    /// it does, so that the phases of a trail join without a hole.
    pub read: bool,
}

impl Phase {
    /// Its length in microseconds as it stands on the scale of the trail, read or not.
    pub fn micros(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Its length in microseconds; `None` where no clock was read at one of its ends.
    pub fn known(&self) -> Option<u64> {
        self.read.then(|| self.micros())
    }
}

/// Where the time of one delivery went, in microseconds; each the sum over all stretches of its
/// kind. `None` where there was no such stretch, where one of them has an end without a clock
/// reading, and where the trail has a gap, which may have swallowed another.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Times {
    /// Waiting in the main queue, put back there by the arrival barrier included.
    pub main: Option<u64>,
    /// Parked behind closed gates and restored, up to the next turn.
    pub deferred: Option<u64>,
    /// In no queue and in no handler: from `TURN_START` to the decision about the turn, which is the
    /// next `DEFERRED`, `REQUEUED_IN_ARRIVAL_ORDER`, `HANDLER_ENTER` or terminal stage.
    pub between: Option<u64>,
    /// In the handler: from `HANDLER_ENTER` to the next stage that seals a fate.
    pub handler: Option<u64>,
    /// From the first stage to the last; known also across a gap.
    pub whole: Option<u64>,
}

impl Trail {
    /// The phases of the delivery, in order; see [`phases`].
    pub fn phases(&self) -> Vec<Phase> {
        phases(self)
    }

    /// Where its time went.
    pub fn times(&self) -> Times {
        let whole = self.stages.first().zip(self.stages.last()).and_then(|(a, b)| took(a, b));
        if self.gap.is_some() {
            return Times { whole, ..Times::default() };
        }
        let sum = |begins: &[StageId], ends| total(stretches(&self.stages, begins, ends));
        Times {
            main: sum(&[stage::ENQUEUED, stage::REQUEUED_IN_ARRIVAL_ORDER], starts),
            deferred: sum(&[stage::DEFERRED], starts),
            between: sum(&[stage::TURN_START], decides),
            handler: sum(&[stage::HANDLER_ENTER], seals),
            whole,
        }
    }

    /// Microseconds from each kept stage to the one after it. `None` where no clock was read at one
    /// of the two, where a gap lies between them, and for the last stage.
    pub fn stage_times(&self) -> Vec<Option<u64>> {
        let broken = |at: usize| self.gap.is_some_and(|gap| gap.count > 0 && gap.after == at + 1);
        let next = |at: usize| self.stages.get(at + 1).filter(|_| !broken(at));
        self.stages.iter().enumerate().map(|(at, stage)| took(stage, next(at)?)).collect()
    }
}

fn took(from: &Stage, to: &Stage) -> Option<u64> {
    Some(to.offset?.saturating_sub(from.offset?))
}

/// The sum; `None` for none and where one is unknown.
fn total(lengths: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    let mut sum = None;
    for length in lengths {
        sum = Some(length?.saturating_add(sum.unwrap_or(0)));
    }
    sum
}

/// From each stage of those kinds to the next one that ends it; one that nothing ended is left out.
fn stretches(
    stages: &[Stage],
    begins: &[StageId],
    ends: fn(StageId) -> bool,
) -> impl Iterator<Item = Option<u64>> {
    stages.iter().enumerate().filter(|(_, from)| from.id().is_some_and(|id| begins.contains(&id))).filter_map(
        move |(at, from)| {
            let end = stages[at + 1..].iter().find(|stage| stage.id().is_some_and(ends))?;
            Some(took(from, end))
        },
    )
}

fn starts(id: StageId) -> bool {
    id == stage::TURN_START || seals(id)
}

fn decides(id: StageId) -> bool {
    [stage::DEFERRED, stage::REQUEUED_IN_ARRIVAL_ORDER, stage::HANDLER_ENTER].contains(&id) || seals(id)
}

fn seals(id: StageId) -> bool {
    id.spec().fate.is_some()
}

/// The phases of one delivery, in order.
///
/// Stages under the hub's locks take no clock reading, so a turn that was deferred ends its attempt
/// where the attempt began. Stretches that a gap of the trail interrupts are left out.
pub fn phases(trail: &Trail) -> Vec<Phase> {
    let mut found = Vec::new();
    let mut open: Option<Phase> = None;
    for (at, stage) in trail.stages.iter().enumerate() {
        if trail.gap.is_some_and(|gap| gap.after == at) {
            open = None;
        }
        let Some(id) = stage.id() else { continue };
        let next = if id == stage::ENQUEUED {
            Some(PhaseKind::Main)
        } else if id == stage::TURN_START {
            Some(PhaseKind::Turn)
        } else if id == stage::DEFERRED {
            Some(PhaseKind::Deferred)
        } else if id == stage::REQUEUED_IN_ARRIVAL_ORDER {
            Some(PhaseKind::Barrier)
        } else if id.spec().fate.is_some() {
            None
        } else {
            continue;
        };
        let returned = matches!(next, Some(PhaseKind::Deferred | PhaseKind::Barrier));
        let Some(now) = stage.offset.or_else(|| open.as_ref().map(|open| open.start)) else {
            continue;
        };
        let read = stage.offset.is_some();
        if let Some(mut ended) = open.take() {
            ended.end = now.max(ended.start);
            ended.read &= read;
            if returned && ended.kind == PhaseKind::Turn {
                ended.kind = PhaseKind::Attempt;
            }
            found.push(ended);
        }
        open = next.map(|kind| begin(kind, stage, now, read));
    }
    found
}

fn begin(kind: PhaseKind, stage: &Stage, now: u64, read: bool) -> Phase {
    let gates = if kind == PhaseKind::Deferred { stage.detail("gates").cloned() } else { None };
    Phase { kind, hub: stage.hub.clone(), start: now, end: now, gates, read }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trail::Gap;

    fn of(line: &str) -> Vec<(PhaseKind, u64, u64)> {
        let trail: Trail = line.parse().expect("a trail");
        phases(&trail).iter().map(|phase| (phase.kind, phase.start, phase.end)).collect()
    }

    const DEFERRED: &str = "fate 7 at=2026-09-06T14:00:00.000000Z ENQUEUED@orders(+0.000) n=1 | \
        TURN_START@orders(+1.000) n=2 depth=0 | DEFERRED@orders(+?) n=3 gates=stock | \
        DEFERRED_DEPTH@orders(+?) depth=1 behind=0 | TURN_START@orders(+5.000) n=9 depth=0 | \
        DEFERRED_DRAINED@orders(+?) | REQUEUED_IN_ARRIVAL_ORDER@orders(+?) n=10 older=1 | \
        TURN_START@orders(+6.000) n=14 depth=0 | HANDLER_ENTER@orders(+?) n=15 | \
        HANDLER_EXIT@orders(+9.000) state=processed";

    #[test]
    fn a_deferral_and_a_requeue_add_up_to_the_whole_way() {
        use PhaseKind::{Attempt, Barrier, Deferred, Main, Turn};
        let phases = of(DEFERRED);
        let expected = [
            (Main, 0, 1000),
            (Attempt, 1000, 1000),
            (Deferred, 1000, 5000),
            (Attempt, 5000, 5000),
            (Barrier, 5000, 6000),
            (Turn, 6000, 9000),
        ];
        assert_eq!(phases, expected);
        assert_eq!(phases.iter().map(|(_, start, end)| end - start).sum::<u64>(), 9000);
    }

    #[test]
    fn what_a_gap_interrupts_is_left_out() {
        let mut trail: Trail = DEFERRED.parse().expect("a trail");
        trail.stages.drain(2..5);
        trail.gap = Some(Gap { after: 2, count: 3 });
        let kinds: Vec<_> = phases(&trail).iter().map(|phase| (phase.kind, phase.micros())).collect();
        assert_eq!(kinds, [(PhaseKind::Main, 1000), (PhaseKind::Turn, 3000)]);
    }

    #[test]
    fn what_no_clock_was_read_for_is_unknown_and_not_0() {
        let trail: Trail = DEFERRED.parse().expect("a trail");
        let known: Vec<_> = trail.phases().iter().map(Phase::known).collect();
        assert_eq!(known, [Some(1000), None, None, None, None, Some(3000)]);
        assert_eq!(trail.times(), Times { whole: Some(9000), ..Times::default() });
        assert_eq!(trail.stage_times()[..2], [Some(1000), None]);
        assert_eq!(trail.stage_times().last(), Some(&None), "nothing follows the last stage");
    }

    /// The same way with a clock read at every stage.
    fn read_throughout() -> Trail {
        let line = DEFERRED
            .replacen("DEFERRED@orders(+?)", "DEFERRED@orders(+1.250)", 1)
            .replacen("REQUEUED_IN_ARRIVAL_ORDER@orders(+?)", "REQUEUED_IN_ARRIVAL_ORDER@orders(+5.500)", 1)
            .replacen("HANDLER_ENTER@orders(+?)", "HANDLER_ENTER@orders(+6.125)", 1);
        line.parse().expect("a trail")
    }

    #[test]
    fn a_delivery_s_time_is_waited_parked_between_the_queues_or_handled() {
        let mut trail = read_throughout();
        let times = Times {
            main: Some(1000 + 500),
            deferred: Some(3750),
            between: Some(250 + 500 + 125),
            handler: Some(2875),
            whole: Some(9000),
        };
        assert_eq!(trail.times(), times);
        let parts = [times.main, times.deferred, times.between, times.handler];
        assert_eq!(parts.into_iter().map(Option::unwrap_or_default).sum::<u64>(), 9000);
        assert_eq!(trail.stage_times()[1], Some(250));
        trail.gap = Some(Gap { after: 2, count: 1 });
        assert_eq!(trail.times(), Times { whole: Some(9000), ..Times::default() });
        assert_eq!(trail.stage_times()[1], None, "a gap lies between");
    }

    #[test]
    fn a_trail_without_clock_readings_has_no_phases() {
        assert!(of("fate 7 ENQUEUED@orders(+?) | TURN_START@orders(+?)").is_empty());
    }
}
