//! Conformance levels: how much of a delivery's way a producer records.

use std::fmt;

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

/// The id of a hub's own trail.
pub(crate) const HUB_TRAIL: &str = "hub";

/// A rule of a level that a trail does not keep.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Breach {
    /// The level whose rule it is.
    pub level: Level,
    /// Which of the trail's kept stages breaks it, from 0; 0 also for a trail without any.
    pub at: usize,
    /// The rule, as a sentence without a full stop.
    pub rule: &'static str,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no {:?} at stage {}: {}", self.level, self.at + 1, self.rule)
    }
}

pub(crate) fn has_n(trail: &Trail) -> bool {
    let mut numbered = trail.stages.iter().filter(|s| is_numbered(s)).peekable();
    numbered.peek().is_some() && numbered.all(|stage| stage.number("n").is_some())
}

fn is_numbered(stage: &Stage) -> bool {
    stage.id().is_some_and(|id| NUMBERED.contains(&id))
}

pub(crate) fn of(trail: &Trail) -> Level {
    match breach(trail, Level::L3) {
        Some(Breach { level: Level::L1, .. }) => Level::L0,
        Some(Breach { level: Level::L2, .. }) => Level::L1,
        // A trail on which nothing is queued shows no depths, and one without numbers no numbers.
        _ if !is_queued(trail) => Level::L1,
        Some(_) => Level::L2,
        None if !has_n(trail) => Level::L2,
        None => Level::L3,
    }
}

fn is_queued(trail: &Trail) -> bool {
    let queues = |s: &Stage| s.id().is_some_and(|id| [stage::ENQUEUED, stage::DEFERRED].contains(&id));
    trail.id == HUB_TRAIL || trail.stages.iter().any(queues)
}

/// The first breach of the lowest level that is broken, up to `level`.
pub(crate) fn breach(trail: &Trail, level: Level) -> Option<Breach> {
    let rules: [(Level, Rules); 3] = [(Level::L1, ends), (Level::L2, depths), (Level::L3, numbers)];
    rules.iter().filter(|(of, _)| *of <= level).find_map(|(level, rule)| {
        let (at, rule) = rule(trail)?;
        Some(Breach { level: *level, at, rule })
    })
}

/// The rules of one level: which kept stage of a trail breaks one, and which.
type Rules = fn(&Trail) -> Option<(usize, &'static str)>;

/// L1: an intake first; a handler is left only after it was entered and entered only in a turn.
/// A trail that stops early is no fault of its producer, so missing later stages do not count.
fn ends(trail: &Trail) -> Option<(usize, &'static str)> {
    let Some(first) = trail.stages.first() else {
        return Some((0, "a trail has at least one stage"));
    };
    if trail.id == HUB_TRAIL {
        let foreign = |s: &Stage| s.id().is_some_and(|id| id.spec().scope != Scope::Hub);
        let at = trail.stages.iter().position(foreign)?;
        return Some((at, "the trail of a hub holds hub-level stages such as `GATE_DRAIN` only"));
    }
    let begun = [stage::AWAITING, stage::POSTED, stage::RECEIVED, stage::ENQUEUED];
    if !first.id().is_some_and(|id| begun.contains(&id)) {
        return Some((0, "a trail starts with `AWAITING`, `POSTED`, `RECEIVED` or `ENQUEUED`"));
    }
    // A gap may have swallowed what the later stages ask for.
    if trail.gap.is_some() {
        return None;
    }
    let place = |id: StageId| trail.stages.iter().position(|s| s.token == id.token());
    let without = |later, earlier| place(later).filter(|_| place(earlier).is_none());
    without(stage::HANDLER_EXIT, stage::HANDLER_ENTER)
        .map(|at| (at, "`HANDLER_EXIT` comes with `HANDLER_ENTER`"))
        .or_else(|| {
            let at = without(stage::HANDLER_ENTER, stage::TURN_START)?;
            Some((at, "`HANDLER_ENTER` comes with `TURN_START`"))
        })
}

/// L2: each queueing is followed by its depth.
fn depths(trail: &Trail) -> Option<(usize, &'static str)> {
    let at_gap = trail.gap.map(|gap| gap.after);
    trail.stages.iter().enumerate().find_map(|(i, stage)| {
        let (depth, rule) = match stage.id()? {
            stage::ENQUEUED => (stage::MAIN_DEPTH, "`MAIN_DEPTH` follows `ENQUEUED`"),
            stage::DEFERRED => (stage::DEFERRED_DEPTH, "`DEFERRED_DEPTH` follows `DEFERRED`"),
            _ => return None,
        };
        // The depth is stamped right after, so only the end or a gap may stand in its place.
        let next = trail.stages.get(i + 1)?;
        (at_gap != Some(i + 1) && next.token != depth.token()).then_some((i, rule))
    })
}

/// L3: event numbers, and a deferral names its gates.
fn numbers(trail: &Trail) -> Option<(usize, &'static str)> {
    trail.stages.iter().enumerate().find_map(|(i, stage)| {
        if is_numbered(stage) && stage.number("n").is_none() {
            return Some((i, "a stage that is stamped under the turn lock carries its exact `n`"));
        }
        let gateless = stage.id() == Some(stage::DEFERRED) && stage.detail("gates").is_none();
        gateless.then_some((i, "`DEFERRED` names its `gates`"))
    })
}
