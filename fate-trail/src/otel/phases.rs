//! What a delivery spent its time on, read off its finished trail.

use crate::stage;
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
}

impl Phase {
    /// Its length in microseconds.
    pub fn micros(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
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
        if let Some(mut ended) = open.take() {
            ended.end = now.max(ended.start);
            if returned && ended.kind == PhaseKind::Turn {
                ended.kind = PhaseKind::Attempt;
            }
            found.push(ended);
        }
        open = next.map(|kind| begin(kind, stage, now));
    }
    found
}

fn begin(kind: PhaseKind, stage: &Stage, now: u64) -> Phase {
    let gates = if kind == PhaseKind::Deferred { stage.detail("gates").cloned() } else { None };
    Phase { kind, hub: stage.hub.clone(), start: now, end: now, gates }
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
    fn a_trail_without_clock_readings_has_no_phases() {
        assert!(of("fate 7 ENQUEUED@orders(+?) | TURN_START@orders(+?)").is_empty());
    }
}
