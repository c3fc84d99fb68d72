//! What the readers of console formats share: bounded texts, try numbers, counts of what is listed.

use std::collections::HashMap;

use crate::complaint;
use crate::limits;
use crate::model::{Counts, Evidence, Flags, Outcome, TestId, TestResult};

use super::{Collector, Line};

/// Where a result stands and what is wrong with that line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// 1-based line.
    pub(super) line: u64,
    /// Marks of the line.
    pub(super) flags: Flags,
}

impl Place {
    /// The place of `line`.
    pub(super) fn of(line: &Line<'_>) -> Place {
        let flags = Flags { truncated: line.truncated, repaired: line.repaired, ..Flags::default() };
        Place { line: line.number, flags }
    }
}

/// A text that grows line by line and stops at [`limits::FAILURE_TEXT_MAX`].
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    text: String,
    full: bool,
}

impl Text {
    /// Adds a line; once the limit is reached nothing more is added.
    pub(super) fn push(&mut self, line: &str) {
        self.full |= self.text.len() + line.len() >= limits::FAILURE_TEXT_MAX;
        if !self.full {
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    /// True where lines were left out.
    pub(super) fn full(&self) -> bool {
        self.full
    }

    /// The text without empty lines at its end; `None` where nothing is left.
    pub(super) fn take(&mut self) -> Option<String> {
        let text = std::mem::take(&mut self.text);
        let text = text.trim_end();
        (!text.trim().is_empty()).then(|| text.to_owned())
    }
}

/// Numbers the tries of every test of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Tries(HashMap<TestId, u32>);

impl Tries {
    /// The number of the next try of `id`, 1-based.
    pub(super) fn next(&mut self, id: &TestId) -> u32 {
        let number = self.0.entry(id.clone()).or_insert(0);
        *number = number.saturating_add(1);
        *number
    }
}

/// How many tests of each outcome a run listed by name.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Listed {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
    pub(super) unknown: u64,
}

impl Listed {
    /// Counts one more.
    pub(super) fn add(&mut self, outcome: Outcome) {
        let count = match outcome {
            Outcome::Passed => &mut self.passed,
            Outcome::Failed | Outcome::Errored | Outcome::TimedOut => &mut self.failed,
            Outcome::Skipped => &mut self.skipped,
            Outcome::Unknown => &mut self.unknown,
        };
        *count += 1;
    }

    /// All that were listed.
    pub(super) fn total(&self) -> u64 {
        self.passed + self.failed + self.skipped + self.unknown
    }

    /// What a run without a summary determines: the numbers of which it lists at least one. What
    /// else ran, and how it ended, is not known.
    pub(super) fn unfinished(&self) -> Counts {
        let seen = |n: u64| (n > 0).then_some(n);
        Counts {
            failed: seen(self.failed),
            skipped: seen(self.skipped),
            unknown: seen(self.unknown),
            ..Counts::default()
        }
    }
}

/// The counts of a run with a summary: no console format here tells errors from failures, or says
/// that a test passed on a later try.
pub(super) fn summary(passed: u64, failed: u64, skipped: u64) -> Counts {
    Counts {
        total: Some(passed + failed + skipped),
        passed: Some(passed),
        failed: Some(failed),
        errored: Some(0),
        skipped: Some(skipped),
        unknown: Some(0),
        flaky: Some(0),
    }
}

/// A result that the console listed.
pub(super) fn result(id: TestId, outcome: Outcome, place: Place, tries: &mut Tries) -> TestResult {
    TestResult {
        try_number: tries.next(&id),
        id,
        outcome,
        evidence: Evidence::E1,
        seconds: None,
        started_at: None,
        line: place.line,
        failure: None,
        order: None,
        flags: place.flags,
    }
}

/// Complains about a run that began and has no end in the file.
pub(super) fn complain_unfinished(out: &mut Collector, line: u64, suite: &str) {
    let name = if suite.is_empty() { "a test run".to_owned() } else { format!("the test run of {suite}") };
    out.complain(
        line,
        complaint::RUN_UNFINISHED,
        format!(
            "{name} has no summary, so tests that are not listed are not counted as passed; \
             look for a crash, a time limit or a log that was cut"
        ),
    );
}

/// Small texts through one reader, for the tests of all console formats.
#[cfg(test)]
pub(super) mod testing {
    use super::super::{FileReport, LineReader};
    use super::*;

    /// Hands every line of `text` to `reader`.
    pub(in super::super) fn read(reader: &mut dyn LineReader, text: &str) -> FileReport {
        let mut out = Collector::new("case");
        for (n, text) in text.lines().enumerate() {
            let number = n as u64 + 1;
            let line = Line { number, text, truncated: false, repaired: false };
            reader.line(&line, &mut out);
        }
        reader.end(&mut out);
        out.finish()
    }

    /// The file's counts in one line, `?` where undetermined.
    pub(in super::super) fn counted(report: &FileReport) -> String {
        let n = |n: Option<u64>| n.map_or_else(|| "?".to_owned(), |n| n.to_string());
        let c = &report.counts;
        format!(
            "{} = {} + {} failed + {} errored + {} skipped + {} unknown",
            n(c.total),
            n(c.passed),
            n(c.failed),
            n(c.errored),
            n(c.skipped),
            n(c.unknown)
        )
    }

    /// Outcome, suite and test of every result.
    pub(in super::super) fn rows(report: &FileReport) -> Vec<String> {
        let row = |r: &TestResult| format!("{} {}/{}", r.outcome.as_str(), r.id.suite, r.id.test);
        report.results.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::read;
    use crate::ingest::LineReader;
    use crate::ingest::libtest::Libtest;
    use crate::ingest::vstest::Vstest;
    use crate::ingest::xunit::XunitConsole;
    use proptest::prelude::*;

    /// Pieces that the lines of all readers are made of.
    const PIECES: &[&str] = &[
        "Test run for /w/A.dll (.NET)",
        "Starting test execution, please wait...",
        "  Failed A.B",
        "  Passed A.C",
        " [1 ms]",
        "  Error Message:",
        "  Stack Trace:",
        "[xUnit.net 00:00:01.23]",
        " A.B",
        " [FAIL]",
        "Total tests: ",
        "3",
        "     Passed: 2",
        "Passed!  - Failed: 0, Passed: 1, Total: 1, Duration: 1 s - A.dll (net8.0)",
        "The test running when the crash occurred:",
        "xUnit.net Console Runner v2",
        "  Starting:    A",
        "    A.B",
        " [STARTING]",
        "=== TEST EXECUTION SUMMARY ===",
        "   A  Total: 1, Failed: 1",
        "     Running x (deps/a-0123456789abcdef)",
        "running 3 tests",
        "test a ... ",
        "ok",
        "FAILED",
        "failures:",
        "---- a stdout ----",
        "    a",
        "thread 'a::b' panicked at ",
        "test result: ok. 1 passed; 0 failed;",
        ": error TESTERROR:",
        "é",
        "\n",
        "\n",
        "\n",
    ];

    proptest! {
        #[test]
        fn broken_logs_never_panic_and_never_invent_totals(
            pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60)
        ) {
            let text = pieces.concat();
            let readers: [&mut dyn LineReader; 3] =
                [&mut Vstest::default(), &mut XunitConsole::default(), &mut Libtest::default()];
            for reader in readers {
                let report = read(reader, &text);
                let c = &report.counts;
                if let (Some(total), Some(passed), Some(failed), Some(skipped), Some(unknown)) =
                    (c.total, c.passed, c.failed, c.skipped, c.unknown)
                {
                    prop_assert_eq!(total, passed + failed + skipped + unknown + c.errored.unwrap_or(0));
                }
                prop_assert!(report.recognised() || report.results.is_empty());
            }
        }
    }
}
