//! The test runs that are open in a log: which assembly a test belongs to, what each run listed.

use std::collections::HashMap;

use super::super::console::{self, Listed, Place};
use super::super::{Collector, identity};
use super::lines::Totals;
use crate::model::{Counts, Evidence, Outcome};

/// Runs that are open at once; further ones are counted, but their tests are not told apart.
const OPEN_MAX: usize = 1_000;

/// One run of one assembly, or of several where the runner was given several.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    suite: String,
    line: u64,
    listed: Listed,
}

/// All open runs. Assemblies that run in parallel write into each other's output.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    open: Vec<Run>,
    /// What was listed while it was not clear whose it was.
    shared: Listed,
    /// Failures by name: in blocks, in lines of the adapter.
    failures: HashMap<String, (u32, u32)>,
}

impl Runs {
    /// Opens a run of the assembly at `path`, `""` where it is not named.
    pub(super) fn open(&mut self, path: &str, line: u64) {
        if self.open.len() >= OPEN_MAX {
            return;
        }
        let suite = identity::suite_name(path);
        self.open.push(Run { suite, line, listed: Listed::default() });
    }

    /// True where no run is open.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The assembly of a test that is reported now: the only open one, else the open one whose
    /// name begins the test's name; `""` where neither decides.
    pub(super) fn suite_of(&self, test: &str) -> String {
        self.index_of(test).map_or_else(String::new, |n| self.open[n].suite.clone())
    }

    fn index_of(&self, test: &str) -> Option<usize> {
        let first = self.open.first()?;
        if self.open.iter().all(|run| run.suite == first.suite) {
            return Some(0);
        }
        let begins = |run: &Run| {
            test.strip_prefix(&*run.suite).is_some_and(|rest| !run.suite.is_empty() && rest.starts_with('.'))
        };
        (0..self.open.len()).filter(|&n| begins(&self.open[n])).max_by_key(|&n| self.open[n].suite.len())
    }

    /// Counts a test that was reported.
    pub(super) fn list(&mut self, test: &str, outcome: Outcome) {
        match self.index_of(test) {
            Some(n) => self.open[n].listed.add(outcome),
            None => self.shared.add(outcome),
        }
    }

    /// Notes a failure's block; true where the adapter reported the same failure before.
    pub(super) fn block(&mut self, name: &str) -> bool {
        let seen = self.failures.entry(name.to_owned()).or_default();
        seen.0 += 1;
        seen.1 >= seen.0
    }

    /// Notes the adapter's line of a failure; true where its block was seen before.
    pub(super) fn adapter(&mut self, name: &str) -> bool {
        let seen = self.failures.entry(name.to_owned()).or_default();
        seen.1 += 1;
        seen.0 >= seen.1
    }

    /// Takes the run of `path` (by its assembly; the oldest where it is not named) off the list.
    fn take(&mut self, path: &str) -> Run {
        let suite = identity::suite_name(path);
        let found = self.open.iter().position(|run| !suite.is_empty() && run.suite == suite);
        let position = match found {
            Some(position) => Some(position),
            None => self.open.iter().position(|run| run.suite.is_empty() || suite.is_empty()),
        };
        let mut run = position.map_or_else(Run::default, |n| self.open.remove(n));
        if !suite.is_empty() {
            run.suite = suite;
        }
        run
    }

    /// Closes a run that found no tests.
    pub(super) fn close_empty(&mut self, path: &str) {
        self.take(path);
        self.settle();
    }

    /// Closes a run with its summary: counts it, and notes the passes that it did not list.
    pub(super) fn close(&mut self, path: &str, totals: &Totals, out: &mut Collector) {
        let run = self.take(path);
        let sum = |totals: &Totals| {
            let skipped = totals.skipped.unwrap_or(0);
            let failed = totals.failed.unwrap_or(0);
            let passed = match (totals.passed, totals.total) {
                (Some(passed), _) => passed,
                (None, Some(total)) => total.saturating_sub(failed).saturating_sub(skipped),
                (None, None) => 0,
            };
            (passed, failed, skipped)
        };
        let (passed, failed, skipped) = sum(totals);
        let lent = passed.saturating_sub(run.listed.passed).min(self.shared.passed);
        self.shared.passed -= lent;
        let unlisted = passed.saturating_sub(run.listed.passed + lent);
        out.unlisted(&run.suite, unlisted);
        let evidence = if unlisted > 0 { Evidence::E2 } else { Evidence::E1 };
        let mut counts = console::summary(passed, failed, skipped);
        if run.listed.unknown > 0 {
            counts.unknown = Some(run.listed.unknown);
            counts.total = counts.total.map(|total| total + run.listed.unknown);
        }
        if totals.total.is_none() {
            // The runner itself does not know how many there were.
            counts = Counts { total: None, unknown: None, ..counts };
        }
        out.counts(&counts, evidence);
        self.settle();
    }

    /// Closes whatever is open: a summary spoke for all.
    pub(super) fn close_all(&mut self) {
        self.open.clear();
        self.settle();
    }

    /// Forgets what was shared once nothing is open any more.
    fn settle(&mut self) {
        if self.open.is_empty() {
            self.shared = Listed::default();
            self.failures.clear();
        }
    }

    /// The file is over: every run that is still open has no summary.
    pub(super) fn end(&mut self, out: &mut Collector) {
        let shared = std::mem::take(&mut self.shared);
        for (n, mut run) in std::mem::take(&mut self.open).into_iter().enumerate() {
            if n == 0 {
                run.listed.passed += shared.passed;
                run.listed.failed += shared.failed;
                run.listed.skipped += shared.skipped;
                run.listed.unknown += shared.unknown;
            }
            out.counts(&run.listed.unfinished(), Evidence::E1);
            console::complain_unfinished(out, run.line, &run.suite);
        }
    }

    /// What was listed outside any run; a log that begins in the middle of one.
    pub(super) fn end_of_excerpt(&mut self, place: Place, out: &mut Collector) {
        if self.shared.total() > 0 {
            out.counts(&self.shared.unfinished(), Evidence::E1);
            console::complain_unfinished(out, place.line, "");
            self.shared = Listed::default();
        }
    }
}
