//! What stages stand for when a trail ends: a byte for each, so that a stamp only has to join them.

use super::table::{REGISTRY, REQUEUED_IN_ARRIVAL_ORDER};
use super::{Fate, application};

/// The delivery failed, was refused, dropped or shed.
pub(crate) const WENT_WRONG: u8 = 1;
/// The arrival barrier put the delivery back.
pub(crate) const PUT_BACK: u8 = 2;

static MARKS: [u8; ROWS] = marks();

const ROWS: usize = 256;

const _: () = assert!((REQUEUED_IN_ARRIVAL_ORDER.index() as usize) < ROWS);

const fn marks() -> [u8; ROWS] {
    let mut marks = [0; ROWS];
    let mut row = 0;
    while row < REGISTRY.len() && row < ROWS {
        marks[row] = of_fate(REGISTRY[row].fate);
        row += 1;
    }
    marks[REQUEUED_IN_ARRIVAL_ORDER.index() as usize] = PUT_BACK;
    marks
}

const fn of_fate(fate: Option<Fate>) -> u8 {
    match fate {
        Some(Fate::Failed | Fate::Refused | Fate::Dropped | Fate::Shed) => WENT_WRONG,
        _ => 0,
    }
}

/// What the stage of that index stands for.
#[inline]
pub(crate) fn marks_of(index: u16) -> u8 {
    match MARKS.get(usize::from(index)) {
        Some(marks) => *marks,
        None => of_fate(application::spec(index).fate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::{DROPPED_GATE_STUCK, HANDLER_EXIT, HANDLER_FAULT, SHED_AGGREGATE, StageId};

    #[test]
    fn every_stage_has_its_mark() {
        let mark = |stage: StageId| marks_of(stage.index());
        assert_eq!(mark(HANDLER_EXIT), 0);
        assert_eq!(mark(REQUEUED_IN_ARRIVAL_ORDER), PUT_BACK);
        for stage in [HANDLER_FAULT, DROPPED_GATE_STUCK, SHED_AGGREGATE] {
            assert_eq!(mark(stage), WENT_WRONG);
        }
        assert!(REGISTRY.len() <= ROWS);
    }
}
