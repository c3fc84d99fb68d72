//! Rows of all files become one history per test: its executions in run order, with what each failure saw.
//!
//! An execution is (run id, attempt, job, shard, suite, test); it counts once, however many tries it
//! took and however many files report it. Everything after this module (windows, change points,
//! verdicts, reports) sees only [`History`], whether the rows came from files or from a store.

mod alias;
mod build;
mod evidence;
mod filter;
mod merge;
mod natural;
mod pack;
mod row;
mod template;

use std::sync::Arc;

pub use build::Builder;
pub use filter::TestFilter;
pub use natural::natural_cmp;
pub use pack::{PackedFile, Packer};
pub use row::{Row, Rows};
pub use template::Template;

use crate::model::{Outcome, RunMeta, TestId};
use crate::order::{OrderFinding, OrderKind};
use crate::window::FailureKind;

/// All tests of one invocation, and the runs they were found in.
#[derive(Clone, Debug, Default)]
pub struct Histories {
    /// Runs in order: by (start, run id, attempt, job, shard), digits in names compared as numbers;
    /// runs without a start stand last.
    pub runs: Vec<RunMeta>,
    /// One for each test with a row, sorted by suite, then test.
    pub tests: Vec<History>,
    /// One for each try, sorted by test, run and try; what a table export writes.
    pub rows: Rows,
}

impl Histories {
    /// Distinct (run id, attempt), also those in which no test was reported; jobs and shards of one
    /// run are one run here.
    pub fn distinct_runs(&self) -> u64 {
        let mut keys: Vec<(&str, u32)> =
            self.runs.iter().map(|run| (run.key.run_id.as_str(), run.key.attempt)).collect();
        keys.sort_unstable();
        keys.dedup();
        keys.len() as u64
    }

    /// Executions of all tests, skipped and unknown ones included.
    pub fn executions(&self) -> u64 {
        self.tests.iter().map(|test| test.executions.len() as u64).sum()
    }
}

/// One test across all runs.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Which test.
    pub id: TestId,
    /// In run order.
    pub executions: Vec<Execution>,
    /// One for each failed try that tells something of its own: within one execution, tries that saw
    /// the same permutation are one. In execution order, then by try.
    pub failures: Vec<Failure>,
    /// Runs in which a total of the test's suite counts passes that nothing lists, and in which
    /// the test itself is not reported: it may have run there (evidence E2).
    pub e2: u64,
    /// Executions known by the colour of their job only (evidence E3).
    pub e3: u64,
}

/// How an execution counts.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum State {
    /// At least one try ran to an outcome.
    Executed,
    /// Reported, but not executed.
    Skipped,
    /// Named without an outcome.
    Unknown,
}

/// One (run id, attempt, job, shard) in which the test was reported. Eight bytes, because there are millions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Execution {
    /// Index into [`Histories::runs`].
    pub run: u32,
    /// How it counts.
    pub state: State,
    /// At least one try ran and did not pass.
    pub failed: bool,
    /// Failed, and a later try of the same execution passed.
    pub flaky: bool,
}

/// One failed try.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Index into [`History::executions`].
    pub execution: u32,
    /// Which try of the execution, 1-based.
    pub try_number: u32,
    /// Failed, errored or timed out.
    pub outcome: Outcome,
    /// The order it saw, if its text shows one; sides are decided over all failures of the test.
    pub finding: Option<Arc<OrderFinding>>,
    /// What its text looks like without the parts that vary.
    pub template: Option<Arc<Template>>,
}

/// Counts of a history; `executed + skipped + unknown` is the number of its executions.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Totals {
    /// Executions in which the test demonstrably ran.
    pub executed: u64,
    /// Of those, the ones with a try that did not pass.
    pub failed: u64,
    /// Of those, the ones that a later try turned green.
    pub flaky: u64,
    /// Reported, not executed.
    pub skipped: u64,
    /// Named without an outcome.
    pub unknown: u64,
}

/// Failed executions by [`FailureKind`]; the four sum to [`Totals::failed`].
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct FailureCounts {
    /// [`FailureKind::Order`].
    pub order: u64,
    /// [`FailureKind::OrderSuspected`].
    pub order_suspected: u64,
    /// [`FailureKind::LostOrExtra`].
    pub lost_or_extra: u64,
    /// [`FailureKind::Other`].
    pub other: u64,
}

impl Failure {
    /// What this try is evidence of. An order whose ranks are only a bound is suspected.
    pub fn kind(&self) -> FailureKind {
        match self.finding.as_deref() {
            None => FailureKind::Other,
            Some(finding) => match finding.kind {
                OrderKind::Permutation if finding.ranks.is_some() => FailureKind::Order,
                OrderKind::Permutation | OrderKind::Suspected => FailureKind::OrderSuspected,
                OrderKind::LostOrExtra => FailureKind::LostOrExtra,
            },
        }
    }
}

impl History {
    /// Counts each execution once.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for execution in &self.executions {
            match execution.state {
                State::Executed => totals.executed += 1,
                State::Skipped => totals.skipped += 1,
                State::Unknown => totals.unknown += 1,
            }
            totals.failed += u64::from(execution.failed);
            totals.flaky += u64::from(execution.flaky);
        }
        totals
    }

    /// Counts each failed execution once, under the strongest kind that one of its tries shows.
    pub fn failure_counts(&self) -> FailureCounts {
        let mut counts = FailureCounts::default();
        for group in self.failures.chunk_by(|a, b| a.execution == b.execution) {
            match group.iter().map(Failure::kind).min().unwrap_or(FailureKind::Other) {
                FailureKind::Order => counts.order += 1,
                FailureKind::OrderSuspected => counts.order_suspected += 1,
                FailureKind::LostOrExtra => counts.lost_or_extra += 1,
                FailureKind::Other => counts.other += 1,
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests;
