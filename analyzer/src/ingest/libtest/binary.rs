//! One test binary while its output is read: what it announced, what it listed, what it printed.

use std::collections::HashMap;

use super::super::Collector;
use super::super::console::{self, Listed, Place, Text, Tries};
use super::lines::{self, Totals};
use crate::model::{Counts, Evidence, Outcome, TestId, TestResult};

/// A test binary between its header and its summary.
#[derive(Debug, Default)]
pub(super) struct Binary {
    pub(super) suite: String,
    /// Line of the header.
    pub(super) line: u64,
    /// `running N tests`.
    pub(super) announced: Option<u64>,
    rows: Vec<Row>,
    by_path: HashMap<String, usize>,
    /// The test that is writing to the console itself, and its last line.
    writing: Option<(usize, String)>,
    texts: HashMap<String, Text>,
    /// Whose text is being collected.
    reading: Option<String>,
    /// A test's own line was seen, so every test has one.
    lists_tests: bool,
    list: FailureList,
}

/// The list of failed tests that closes the failures: one path a line, four blanks before it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum FailureList {
    /// `failures:` was the last heading, or none was.
    #[default]
    Ahead,
    /// An entry was the last line.
    Open,
    /// Another line followed. In a log that broke off, indented lines of other programs may come.
    Over,
}

/// A test that was listed.
#[derive(Debug)]
struct Row {
    path: String,
    /// `None` while the test runs.
    outcome: Option<Outcome>,
    seconds: Option<f64>,
    place: Place,
}

impl Binary {
    /// A binary of `suite` whose header stands at `line`.
    pub(super) fn new(suite: &str, line: u64) -> Binary {
        Binary { suite: suite.to_owned(), line, ..Binary::default() }
    }

    /// True where nothing was said of any test.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.texts.is_empty() && self.announced.is_none()
    }

    /// A test's line. A test may be named twice only where one line announces it and another one
    /// says how it ended.
    pub(super) fn test(&mut self, said: &lines::TestLine<'_>, place: Place) {
        self.settle();
        self.reading = None;
        self.lists_tests = true;
        let n = self.rows.len();
        self.rows.push(Row {
            path: said.path.to_owned(),
            outcome: said.outcome,
            seconds: said.seconds,
            place,
        });
        self.by_path.insert(said.path.to_owned(), n);
        if said.outcome.is_none() {
            self.writing = Some((n, said.rest.to_owned()));
        }
    }

    /// A line while a test writes to the console: an outcome on its own ends the test.
    pub(super) fn written(&mut self, text: &str) -> bool {
        let Some((n, _)) = &self.writing else {
            return false;
        };
        if let Some((outcome, seconds)) = lines::outcome(text) {
            let row = &mut self.rows[*n];
            (row.outcome, row.seconds) = (Some(outcome), seconds);
            self.writing = None;
            return true;
        }
        false
    }

    /// A line that the harness did not write.
    pub(super) fn foreign(&mut self, text: &str) {
        if let Some((_, last)) = &mut self.writing
            && !text.trim().is_empty()
        {
            text.clone_into(last);
        }
    }

    /// The harness goes on: a test that was writing has ended on its last line, whose end says how.
    fn settle(&mut self) {
        if let Some((n, last)) = self.writing.take() {
            self.rows[n].outcome = lines::glued_outcome(&last);
        }
    }

    /// The text of `path` begins; it may come in several parts.
    pub(super) fn begin_text(&mut self, path: &str) {
        self.settle();
        self.texts.entry(path.to_owned()).or_default();
        self.reading = Some(path.to_owned());
    }

    /// A panic of a thread that is named `path`, on the console.
    pub(super) fn begin_panic(&mut self, path: &str) {
        self.texts.entry(path.to_owned()).or_default();
        self.reading = Some(path.to_owned());
    }

    /// True inside the printed output of a failed test.
    pub(super) fn in_section(&self) -> bool {
        self.reading.is_some()
    }

    /// True where `path` can be an entry of the harness's list of failures.
    pub(super) fn lists(&self, path: &str) -> bool {
        let known = self.by_path.contains_key(path) || self.texts.contains_key(path);
        let plain = !path.contains(' ') || path.contains(" (line ");
        self.reading.is_none() && self.list != FailureList::Over && (known || (plain && !self.lists_tests))
    }

    /// A line of the text that is being collected.
    pub(super) fn push_text(&mut self, text: &str) {
        if let Some(path) = &self.reading
            && let Some(collected) = self.texts.get_mut(path)
        {
            collected.push(text);
        }
    }

    /// The text that is being collected ends.
    pub(super) fn end_text(&mut self) {
        self.settle();
        self.reading = None;
        self.list = FailureList::Ahead;
    }

    /// A line among the failures that is no entry of their list.
    pub(super) fn leaves_list(&mut self) {
        if self.list == FailureList::Open {
            self.list = FailureList::Over;
        }
    }

    /// `path` stands in the harness's list of failures: it failed, whatever was made of its line.
    pub(super) fn failed(&mut self, path: &str, place: Place) {
        self.list = FailureList::Open;
        match self.by_path.get(path) {
            Some(&n) => {
                let outcome = &mut self.rows[n].outcome;
                if !outcome.is_some_and(Outcome::not_passed) {
                    *outcome = Some(Outcome::Failed);
                }
            }
            None => {
                self.by_path.insert(path.to_owned(), self.rows.len());
                let row = Row { path: path.to_owned(), outcome: Some(Outcome::Failed), seconds: None, place };
                self.rows.push(row);
            }
        }
    }

    /// Hands everything over: rows as results, and the counts of the summary. Without a summary
    /// the binary was killed or the log cut, and what it did not list is unknown.
    pub(super) fn close(mut self, totals: Option<&Totals>, tries: &mut Tries, out: &mut Collector) {
        if totals.is_some() {
            self.settle();
        }
        let mut listed = Listed::default();
        for row in std::mem::take(&mut self.rows) {
            let outcome = row.outcome.unwrap_or(Outcome::Unknown);
            listed.add(outcome);
            let result = self.result(row, outcome, tries);
            out.result(result);
        }
        match totals {
            Some(totals) => {
                let unlisted = totals.passed.saturating_sub(listed.passed);
                out.unlisted(&self.suite, unlisted);
                let evidence = if unlisted > 0 { Evidence::E2 } else { Evidence::E1 };
                out.counts(&console::summary(totals.passed, totals.failed, totals.ignored), evidence);
            }
            None => {
                out.counts(&self.unfinished(&listed), Evidence::E1);
                console::complain_unfinished(out, self.line, &self.suite);
            }
        }
    }

    fn result(&mut self, row: Row, outcome: Outcome, tries: &mut Tries) -> TestResult {
        let text = self.texts.remove(&row.path);
        let id = TestId { suite: self.suite.clone(), test: row.path };
        let mut result = console::result(id, outcome, row.place, tries);
        result.seconds = row.seconds;
        if outcome.not_passed()
            && let Some(mut text) = text
        {
            result.flags.truncated |= text.full();
            result.failure = text.take();
        }
        result
    }

    /// Counts without a summary: the harness says beforehand how many tests it runs, so the rest
    /// of them is unknown; without that, only what is listed is determined.
    fn unfinished(&self, listed: &Listed) -> Counts {
        let Some(announced) = self.announced else {
            return listed.unfinished();
        };
        let unknown = announced.saturating_sub(listed.passed + listed.failed + listed.skipped);
        let mut counts = console::summary(listed.passed, listed.failed, listed.skipped);
        counts.unknown = Some(unknown);
        counts.total = Some(listed.passed + listed.failed + listed.skipped + unknown);
        counts
    }
}
