//! Where one history is cut: permutation change points, rate change points, given times, and the windows between them.
//!
//! Everything here works on *executed indices*: the executions of one test in which the test
//! demonstrably ran, sorted by run order and counted from 0. Nothing knows files, runs or formats.
//! The rules, their sources and their error rates stand in `docs/verdicts.md`.

mod analyse;
pub mod boundary;
mod credible;
mod lattice;
pub mod permutation;
pub mod rate;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use analyse::{LEVEL, analyse};
use credible::highest_set;

use crate::verdict::Verdict;

/// One test's executed runs and what its failures saw; the input of the analysis.
///
/// All slices are sorted by `at`; equal `at` keep the order in which the tries ran.
#[derive(Clone, Copy, Debug)]
pub struct Axis<'a> {
    /// Number of executed runs; every `at` below is smaller.
    pub executed: usize,
    /// Start of each executed run (any unit, the same as `split_at`), `None` where unknown; unknown
    /// ones stand last. Either empty (no time known at all) or of length `executed`.
    pub times: &'a [Option<i64>],
    /// The failed executions, each once.
    pub failed: &'a [Failed],
    /// The proven orders; an execution whose tries saw several orders appears several times.
    pub orders: &'a [Order],
    /// Rank vector of each label used in `orders`, by label; different labels have different ranks.
    pub ranks: &'a [Vec<u32>],
    /// A time the user named: runs that start before it are old, all others new.
    pub split_at: Option<i64>,
}

/// One failed execution.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Failed {
    /// 0-based executed index.
    pub at: usize,
    /// What its failure is evidence of; the first that applies to any of its tries.
    pub kind: FailureKind,
}

/// What a failure is evidence of.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum FailureKind {
    /// Equal multisets in another order, proven by the text.
    Order,
    /// An order failure is said or likely, but the text does not prove it.
    OrderSuspected,
    /// Elements were lost, duplicated or extra.
    LostOrExtra,
    /// Anything else.
    Other,
}

/// One proven order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Order {
    /// 0-based executed index of the failing run.
    pub at: usize,
    /// Interned run id. The same permutation seen again under one run id is one observation.
    pub run: u32,
    /// Interned rank vector, an index into [`Axis::ranks`].
    pub label: u32,
    /// True where the ranks are exactly what the run saw; others are counted, never tested.
    pub exact: bool,
}

/// What opened a window.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CutBy {
    /// The first executed run.
    Start,
    /// A permutation change point found by the scan.
    Permutation,
    /// The time the user named.
    Split,
}

impl CutBy {
    /// The spelling of the report.
    pub fn as_str(self) -> &'static str {
        match self {
            CutBy::Start => "start",
            CutBy::Permutation => "permutation",
            CutBy::Split => "split",
        }
    }
}

/// Where a change point comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Source {
    /// Found by the scan.
    Scan,
    /// Named by the user.
    Given,
}

impl Source {
    /// The spelling of the report.
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Scan => "scan",
            Source::Given => "given",
        }
    }
}

/// A share of failed runs with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Failed over executed.
    pub value: f64,
    /// Lower end of the Wilson interval.
    pub low: f64,
    /// Upper end of the Wilson interval.
    pub high: f64,
}

/// One permutation inside one window.
#[derive(Clone, Debug, PartialEq)]
pub struct PermutationCount {
    /// The label, an index into [`Axis::ranks`].
    pub label: u32,
    /// Failed executions that saw it.
    pub count: usize,
    /// Independent observations among them: one for each run id. Only exact ones.
    pub observations: usize,
    /// Executed index of the first of them.
    pub first: usize,
    /// Executed index of the last of them.
    pub last: usize,
    /// False where every one of them is inexact.
    pub exact: bool,
}

/// Consecutive executed runs that are judged together. The windows of one test cover every
/// executed run once.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// First executed index.
    pub start: usize,
    /// One past the last executed index; `end - start` runs were executed.
    pub end: usize,
    /// What opened it.
    pub cut_by: CutBy,
    /// Least number of executed runs it may have, given where its boundaries can lie.
    pub executed_low: usize,
    /// Greatest number of executed runs it may have; equal to `executed_low` where both boundaries are exact.
    pub executed_high: usize,
    /// Failed executions.
    pub failed: usize,
    /// `None` only if nothing was executed.
    pub rate: Option<Rate>,
    /// Permutations seen, most observed first, then by first appearance.
    pub permutations: Vec<PermutationCount>,
    /// k: independent exact observations of an order.
    pub observations: usize,
    /// D: distinct exact permutations.
    pub distinct: usize,
    /// Sceptical posterior of one single reorder; `None` unless D = 1.
    pub posterior_single: Option<f64>,
    /// 95 % bound on the share of failures that other orders may have; `None` unless D = 1.
    pub other_share_bound: Option<f64>,
    /// The word.
    pub verdict: Verdict,
    /// One plain sentence why, without a time or a name in it.
    pub why: String,
}

impl Window {
    /// Executed runs in it.
    pub fn executed(&self) -> usize {
        self.end - self.start
    }
}

/// A permutation change point. All positions are executed indices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// Found or named.
    pub source: Source,
    /// Executed runs before it; also the index of the first new run. For a named time this may be
    /// 0 or all of them, and then no window is cut.
    pub executed_old: usize,
    /// Least `executed_old` that the failures allow.
    pub executed_low: usize,
    /// Greatest `executed_old` that the failures allow; for a named time it is greater than
    /// `executed_low` only by the runs whose start is unknown.
    pub executed_high: usize,
    /// The failing runs at whose starts the 95 % interval of the change begins and ends; `None` for a named time.
    pub interval: Option<(usize, usize)>,
    /// The last failing run before it and the first one after it, where there are such.
    pub last_old: Option<usize>,
    /// See `last_old`.
    pub first_new: Option<usize>,
    /// p of the scan, or Freeman-Halton p on the identities for a named time; `None` where nothing can be tested.
    pub p: Option<f64>,
    /// True where `p` is an upper bound or comes from merged classes (more classes than the exact sum can hold).
    pub coarse: bool,
    /// True where it counts as a change of permutation: p small enough and two failures on both sides.
    pub accepted: bool,
    /// True where a window begins at `executed_old`.
    pub cuts_window: bool,
}

/// A rate change point. It is reported and cuts no window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateCut {
    /// Executed runs before it; also the index of the first new run.
    pub executed_old: usize,
    /// Least `executed_old` in the 95 % set.
    pub executed_low: usize,
    /// Greatest `executed_old` in the 95 % set.
    pub executed_high: usize,
    /// Mean Bayes factor over all positions of the segment in which it was found; may be infinite.
    pub bf: f64,
}

/// How the rates of the last two windows compare.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reading {
    /// Neither direction is shown. Says nothing about equality.
    NotDistinguishable,
    /// The later rate is higher.
    Higher,
    /// The later rate is lower.
    Lower,
}

impl Reading {
    /// The spelling of the report.
    pub fn as_str(self) -> &'static str {
        match self {
            Reading::NotDistinguishable => "not distinguishable",
            Reading::Higher => "higher",
            Reading::Lower => "lower",
        }
    }
}

/// The last two windows against each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Fisher's exact test, two-sided.
    pub fisher_two_sided: f64,
    /// Posterior median of later rate over earlier rate (Jeffreys priors).
    pub ratio: f64,
    /// Lower end of its 95 % interval.
    pub ratio_low: f64,
    /// Upper end of its 95 % interval.
    pub ratio_high: f64,
    /// What may be said.
    pub reading: Reading,
}

/// Everything the analysis says about one test.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The windows, in run order; at least one.
    pub windows: Vec<Window>,
    /// Permutation change points, found and named, by position.
    pub cuts: Vec<Cut>,
    /// Rate change points, by position.
    pub rate_cuts: Vec<RateCut>,
    /// `None` with one window only.
    pub comparison: Option<Comparison>,
    /// All executions together, as one window.
    pub whole: Window,
    /// Consecutive clean runs after the last failed one.
    pub clean_runs_seen: usize,
    /// Clean runs after which the pooled rate is unlikely at 95 %; `None` if nothing failed.
    pub clean_runs_needed_95: Option<u64>,
    /// The word for the test.
    pub verdict: Verdict,
    /// One plain sentence why, without a time or a name in it.
    pub why: String,
}
