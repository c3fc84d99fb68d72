//! Conformance levels: how much of a delivery's way a producer records.

use crate::stage::{self, Scope, StageId};
use crate::trail::{Level, Stage, Trail};

/// Stages that are stamped under the hub's turn lock and so carry `n`.
pub(crate) const NUMBERED: [StageId; 6] = [
    stage::ENQUEUED,
    stage::DEFERRED,
    stage::TURN_START,
    stage::REQUEUED_IN_ARRIVAL_ORDER,
    stage::GATE_DRAIN,
    stage::HANDLER_ENTER,
];

pub(crate) fn has_n(trail: &Trail) -> bool {
    let mut numbered = trail.stages.iter().filter(|s| is_numbered(s)).peekable();
    numbered.peek().is_some() && numbered.all(|stage| stage.number("n").is_some())
}

fn is_numbered(stage: &Stage) -> bool {
    stage.id().is_some_and(|id| NUMBERED.contains(&id))
}

pub(crate) fn of(trail: &Trail) -> Level {
    if !ends_are_there(trail) {
        return Level::L0;
    }
    if !depths_are_there(trail) {
        return Level::L1;
    }
    if has_n(trail) && gates_are_there(trail) { Level::L3 } else { Level::L2 }
}

/// L1: an intake first; a handler is left only after it was entered and entered only in a turn.
/// A trail that stops early is no fault of its producer, so missing later stages do not count.
fn ends_are_there(trail: &Trail) -> bool {
    let has = |id: StageId| trail.stages.iter().any(|s| s.token == id.token());
    if trail.id == "hub" {
        return trail.stages.iter().all(|s| s.id().is_none_or(|id| id.spec().scope == Scope::Hub))
            && !trail.stages.is_empty();
    }
    let begun = [stage::AWAITING, stage::POSTED, stage::RECEIVED, stage::ENQUEUED];
    let first_is_intake = trail.stages.first().and_then(Stage::id).is_some_and(|id| begun.contains(&id));
    // A gap may have swallowed what the later stages ask for.
    let implies = |later, earlier| !has(later) || has(earlier) || trail.gap.is_some();
    first_is_intake
        && implies(stage::HANDLER_EXIT, stage::HANDLER_ENTER)
        && implies(stage::HANDLER_ENTER, stage::TURN_START)
}

/// L2: each queueing is followed by its depth.
fn depths_are_there(trail: &Trail) -> bool {
    let depth_of = |stage: &Stage| match stage.id() {
        Some(stage::ENQUEUED) => Some(stage::MAIN_DEPTH),
        Some(stage::DEFERRED) => Some(stage::DEFERRED_DEPTH),
        _ => None,
    };
    let at_gap = trail.gap.map(|gap| gap.after);
    trail.stages.iter().enumerate().all(|(i, stage)| {
        let Some(depth) = depth_of(stage) else {
            return true;
        };
        // The depth is stamped right after, so only the end or a gap may stand in its place.
        i + 1 == trail.stages.len() || at_gap == Some(i + 1) || trail.stages[i + 1].token == depth.token()
    })
}

/// L3, beside `n`: a deferral names its gates.
fn gates_are_there(trail: &Trail) -> bool {
    trail
        .stages
        .iter()
        .filter(|stage| stage.id() == Some(stage::DEFERRED))
        .all(|stage| stage.detail("gates").is_some())
}
