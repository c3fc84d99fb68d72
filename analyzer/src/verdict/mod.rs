//! From the counts of a window to one verdict word and one plain sentence why.
//!
//! The table of words, its constants and its error rates stand in `docs/verdicts.md`.

mod accidents;
mod outlook;
mod why;

pub use accidents::accidents_min;
pub use outlook::Outlook;

use crate::stats::plan::{other_share_bound, posterior_single};
use crate::stats::runs;
use crate::stats::shape::Displacement;

/// Fewest exact orders that allow any word.
pub const ORDERS_MIN: usize = 3;
/// Fewest equal orders that are consistent with one single reorder.
pub const SINGLE_MIN: usize = 6;
/// Fewest equal orders that leave other orders less than a tenth.
pub const STRONG_MIN: usize = 29;
/// Below this probability of so few blocks, equal orders stick together.
pub const BLOCKS_LEVEL: f64 = 0.05;

/// The verdict on a window or on a test.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Verdict {
    /// Executed, and nothing failed.
    Stable,
    /// Failures, none of them an order.
    NotOrder,
    /// Too few exact orders to say anything.
    Insufficient,
    /// All exact orders agree; a single fixed reorder fits, a skewed window is not excluded.
    SingleReorderConsistent,
    /// All of at least 29 exact orders agree.
    SingleReorderStrong,
    /// Several orders mixed in time: a race window.
    Window,
    /// Orders that are more than one displaced element: nothing orders them.
    Unordered,
    /// Several orders, but a stray one or an unseen change would explain them.
    Undecided,
    /// For a test only: the permutation changed, judge each window by itself.
    Mixed,
}

impl Verdict {
    /// The word of the report.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Stable => "stable",
            Verdict::NotOrder => "not-order",
            Verdict::Insufficient => "insufficient",
            Verdict::SingleReorderConsistent => "single-reorder-consistent",
            Verdict::SingleReorderStrong => "single-reorder-strong",
            Verdict::Window => "window",
            Verdict::Unordered => "unordered",
            Verdict::Undecided => "undecided",
            Verdict::Mixed => "mixed",
        }
    }
}

/// What one window holds, as far as the verdict needs it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Executed runs.
    pub executed: usize,
    /// Failed executions.
    pub failed: usize,
    /// Failed executions that look like an order failure without an exact order.
    pub suspected: usize,
    /// Failed executions that lost, duplicated or invented elements.
    pub lost_or_extra: usize,
    /// The exact orders in run order, one for each independent observation, as dense numbers 0…D−1.
    pub labels: Vec<usize>,
    /// Their shapes.
    pub displacement: Displacement,
}

impl Evidence {
    /// D, the number of distinct orders.
    pub fn distinct(&self) -> usize {
        self.labels.iter().max().map_or(0, |most| most + 1)
    }

    /// How often each order was observed.
    pub fn totals(&self) -> Vec<usize> {
        let mut totals = vec![0; self.distinct()];
        self.labels.iter().for_each(|&label| totals[label] += 1);
        totals
    }
}

/// A verdict with its sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The word.
    pub verdict: Verdict,
    /// Why, and what to do, in one sentence without a final stop, a time or a name.
    pub why: String,
    /// For [`Verdict::Undecided`]: what further failures would decide.
    pub outlook: Option<Outlook>,
}

/// What was computed on the way to a verdict about several orders.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mixture {
    /// Least number of accidents that explain the orders.
    accidents: u64,
    /// Number of accidents from which they are not believed.
    accidents_min: u64,
    /// Probability of so few blocks of equal orders.
    blocks_p: f64,
}

impl Mixture {
    fn of(labels: &[usize], totals: &[usize]) -> Self {
        Mixture {
            accidents: accidents::cost(labels, totals.len()),
            accidents_min: accidents_min(labels.len() as u64),
            blocks_p: runs::at_most(totals, runs::runs(labels)),
        }
    }

    fn is_window(self) -> bool {
        self.accidents >= self.accidents_min && self.blocks_p > BLOCKS_LEVEL
    }
}

/// Judges one window.
///
/// A window that was never executed is `insufficient`, not `stable`; so is one whose failures look
/// like order failures but show no exact order.
pub fn judge(evidence: &Evidence) -> Judgement {
    let k = evidence.labels.len();
    let plain = |verdict, why| Judgement { verdict, why, outlook: None };
    if evidence.executed == 0 {
        return plain(Verdict::Insufficient, why::never_executed());
    }
    if evidence.failed == 0 {
        return plain(Verdict::Stable, why::stable(evidence));
    }
    if k == 0 && evidence.suspected == 0 {
        return plain(Verdict::NotOrder, why::not_order(evidence));
    }
    let distinct = evidence.distinct();
    if k < ORDERS_MIN {
        return plain(Verdict::Insufficient, why::too_few(evidence));
    }
    if distinct == 1 {
        let (posterior, bound) = (posterior_single(k as u64), other_share_bound(k as u64, 0.95));
        return match k {
            _ if k < SINGLE_MIN => plain(Verdict::Insufficient, why::too_few_equal(k)),
            _ if k < STRONG_MIN => plain(
                Verdict::SingleReorderConsistent,
                why::single(k, posterior, bound, Some(STRONG_MIN - k)),
            ),
            _ => plain(Verdict::SingleReorderStrong, why::single(k, posterior, bound, None)),
        };
    }
    let totals = evidence.totals();
    if evidence.displacement.rejected() {
        return plain(Verdict::Unordered, why::unordered(&totals, evidence.displacement));
    }
    let mixture = Mixture::of(&evidence.labels, &totals);
    if mixture.is_window() {
        return plain(Verdict::Window, why::window(&totals, mixture));
    }
    let outlook = Outlook::of(&evidence.labels, &totals);
    let why = why::undecided(&totals, mixture, outlook);
    Judgement { verdict: Verdict::Undecided, why, outlook: Some(outlook) }
}

/// One side of an accepted change, for the sentence of a `mixed` test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// Independent exact observations of an order.
    pub observations: usize,
    /// Distinct ones among them.
    pub distinct: usize,
    /// The verdict on that side alone.
    pub verdict: Verdict,
}

/// The sentence for a test whose permutation changed: `p` of the clearest change, its two sides, and
/// how many accepted changes there are.
pub fn mixed_why(p: f64, before: Side, after: Side, changes: usize) -> String {
    why::mixed(p, before, after, changes)
}

#[cfg(test)]
mod tests;
