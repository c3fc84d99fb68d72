//! TRX, the result file of Visual Studio's test platform, in its 2006 and 2010 namespaces.

use std::collections::HashMap;

use super::xml::{Document, Tag};
use super::{Collector, Format, ansi, identity, time};
use crate::complaint;
use crate::model::{Counts, Evidence, Flags, Outcome, TestId, TestResult};

/// An open element, as far as it matters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Element {
    Result,
    ErrorInfo,
    /// Text goes to the failure.
    Failure,
    /// Text goes to the output of the test.
    Output,
    UnitTest,
    RunInfos,
    /// Text goes to what the run says about itself.
    RunText,
    Other,
}

/// One `UnitTestResult`.
#[derive(Debug, Default)]
struct Entry {
    line: u64,
    test_id: String,
    name: String,
    outcome: String,
    seconds: Option<f64>,
    started_at: Option<jiff::Timestamp>,
    failure: String,
    output: String,
    truncated: bool,
    repaired: bool,
    /// It holds results of its own, so it is the fold of its data rows.
    rows: bool,
    /// One of those did not pass.
    row_not_passed: bool,
}

/// What `TestDefinitions` says of one test.
#[derive(Debug, Default)]
struct Definition {
    class: String,
    suite: String,
    name: String,
}

/// Reads one document. Rows are named at its end, because the definitions usually stand there.
pub(crate) struct Trx {
    open: Vec<Element>,
    results: Vec<Entry>,
    done: Vec<Entry>,
    definition: Option<(String, Definition)>,
    definitions: HashMap<String, Definition>,
    run_outcome: Option<(String, u64)>,
    run_text: String,
}

impl Trx {
    /// A reader for one document.
    pub(crate) fn new() -> Trx {
        Trx {
            open: Vec::new(),
            results: Vec::new(),
            done: Vec::new(),
            definition: None,
            definitions: HashMap::new(),
            run_outcome: None,
            run_text: String::new(),
        }
    }

    fn start_result(&mut self, tag: &Tag<'_>, out: &mut Collector) {
        if let Some(parent) = self.results.last_mut() {
            parent.rows = true;
        }
        let mut entry = Entry { line: tag.line, ..Entry::default() };
        let mut stamp = None;
        tag.attributes(|key, value| {
            entry.repaired |= value.repaired;
            match key {
                "testId" => entry.test_id = value.text.into_owned(),
                "testName" => entry.name = value.text.into_owned(),
                "outcome" => entry.outcome = value.text.into_owned(),
                "duration" => entry.seconds = time::clock_seconds(&value.text),
                "startTime" => stamp = Some(value.text.into_owned()),
                _ => {}
            }
        });
        entry.started_at = stamp.and_then(|s| time::stated(&s, tag.line, out));
        self.results.push(entry);
    }

    fn start_definition(&mut self, tag: &Tag<'_>) {
        let mut id = String::new();
        let mut definition = Definition::default();
        tag.attributes(|key, value| match key {
            "id" => id = value.text.into_owned(),
            "name" => definition.name = value.text.into_owned(),
            "storage" => definition.suite = assembly(&value.text),
            _ => {}
        });
        self.definition = Some((id, definition));
    }

    fn test_method(&mut self, tag: &Tag<'_>) {
        let Some((_, definition)) = &mut self.definition else {
            return;
        };
        tag.attributes(|key, value| match key {
            // The assembly-qualified name of older runners: only the class identifies the test.
            "className" => definition.class = value.text.split(',').next().unwrap_or("").trim().to_owned(),
            // `storage` is lower-cased by the runner, the code base is not.
            "codeBase" if !value.text.trim().is_empty() => definition.suite = assembly(&value.text),
            _ => {}
        });
    }

    fn summary(&mut self, tag: &Tag<'_>) {
        self.run_outcome = tag.attribute("outcome").map(|outcome| (outcome, tag.line));
    }

    fn identify(&self, entry: &Entry) -> TestId {
        let Some(definition) = self.definitions.get(&entry.test_id) else {
            return TestId { suite: String::new(), test: identity::test_name("", &entry.name) };
        };
        let name = if entry.name.trim().is_empty() { &definition.name } else { &entry.name };
        TestId { suite: definition.suite.clone(), test: identity::test_name(&definition.class, name) }
    }

    /// A run can fail although no test did: the host crashed, or set-up of the assembly failed.
    fn complain_about_the_run(&self, out: &mut Collector) {
        let Some((outcome, line)) = &self.run_outcome else {
            return;
        };
        let failed = ["Failed", "Error", "Aborted", "Timeout", "Disconnected"].contains(&outcome.as_str());
        if !failed || self.done.iter().any(|e| outcome_of(&e.outcome).not_passed()) {
            return;
        }
        let said: String =
            self.run_text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect();
        let said = if said.is_empty() { String::new() } else { format!(": {said}") };
        out.complain(
            *line,
            complaint::RUN_FAILED,
            format!("the run ended as {outcome} although no test failed, so tests may be missing{said}"),
        );
    }
}

impl Document for Trx {
    fn start(&mut self, tag: &Tag<'_>, out: &mut Collector) {
        let parent = self.open.last().copied().unwrap_or(Element::Other);
        let inside = !self.results.is_empty();
        let element = match tag.name() {
            "UnitTestResult" => {
                self.start_result(tag, out);
                Element::Result
            }
            "ErrorInfo" if inside => Element::ErrorInfo,
            "Message" | "StackTrace" if parent == Element::ErrorInfo => Element::Failure,
            "StdOut" | "StdErr" | "DebugTrace" | "Message" if inside => Element::Output,
            "UnitTest" => {
                self.start_definition(tag);
                Element::UnitTest
            }
            "TestMethod" => {
                self.test_method(tag);
                Element::Other
            }
            "ResultSummary" => {
                self.summary(tag);
                Element::Other
            }
            "RunInfos" => Element::RunInfos,
            "Text" => Element::RunText,
            "Times" => {
                if let Some(at) = tag.attribute("start").and_then(|s| time::stated(&s, tag.line, out)) {
                    out.time(at);
                }
                Element::Other
            }
            _ if matches!(parent, Element::Failure | Element::Output) => parent,
            _ => Element::Other,
        };
        if element == Element::Failure
            && let Some(entry) = self.results.last_mut()
            && !entry.failure.is_empty()
        {
            entry.failure.push('\n');
        }
        self.open.push(element);
    }

    fn text(&mut self, text: &str) {
        let to = match (self.open.last(), self.results.last_mut()) {
            (Some(Element::Failure), Some(entry)) => {
                entry.truncated |= super::junit::append(&mut entry.failure, text);
                return;
            }
            (Some(Element::Output), Some(entry)) => &mut entry.output,
            (Some(Element::RunText), _) => &mut self.run_text,
            _ => return,
        };
        super::junit::append(to, text);
    }

    fn end(&mut self, whole: bool, _: &mut Collector) {
        match self.open.pop() {
            Some(Element::Result) => {
                let Some(mut entry) = self.results.pop() else {
                    return;
                };
                entry.truncated |= !whole;
                entry.repaired |= ansi::clean(&mut entry.failure) | ansi::clean(&mut entry.output);
                if let Some(parent) = self.results.last_mut() {
                    parent.row_not_passed |= entry.row_not_passed || outcome_of(&entry.outcome).not_passed();
                }
                self.done.push(entry);
            }
            Some(Element::UnitTest) => {
                if let Some((id, definition)) = self.definition.take() {
                    self.definitions.insert(id, definition);
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Collector) {
        out.section(Format::Trx, None);
        out.counts(&counts(&self.done), Evidence::E1);
        self.complain_about_the_run(out);
        self.done.sort_by_key(|entry| entry.line);
        for entry in std::mem::take(&mut self.done) {
            let outcome = outcome_of(&entry.outcome);
            // The parent of data rows only folds them; as a row of its own it would count twice.
            if entry.rows && (entry.row_not_passed || !outcome.not_passed()) {
                continue;
            }
            let failed = outcome.not_passed();
            let result = TestResult {
                id: self.identify(&entry),
                outcome,
                evidence: Evidence::E1,
                try_number: 1,
                seconds: entry.seconds,
                started_at: entry.started_at,
                line: entry.line,
                failure: (failed || !entry.failure.is_empty()).then_some(entry.failure),
                order: None,
                flags: Flags {
                    truncated: entry.truncated,
                    repaired: entry.repaired,
                    attempts_unknown: false,
                },
            };
            out.result_with_outputs(result, &[entry.output]);
        }
    }
}

/// What an outcome word of TRX counts as (`Microsoft.TestPlatform` `TestOutcome`). A word that is
/// not known is never read as passed.
fn outcome_of(word: &str) -> Outcome {
    match word {
        "Passed" | "PassedButRunAborted" | "Warning" | "Completed" => Outcome::Passed,
        "Failed" => Outcome::Failed,
        "Timeout" => Outcome::TimedOut,
        "Error" | "NotRunnable" => Outcome::Errored,
        "NotExecuted" | "Aborted" | "Inconclusive" | "Disconnected" | "Pending" | "InProgress" => {
            Outcome::Skipped
        }
        _ => Outcome::Unknown,
    }
}

/// Counts every `UnitTestResult`, those with inner results too, as the file's own counters do.
fn counts(entries: &[Entry]) -> Counts {
    let (mut passed, mut failed, mut errored, mut skipped, mut unknown) = (0, 0, 0, 0, 0);
    for entry in entries {
        *match outcome_of(&entry.outcome) {
            Outcome::Passed => &mut passed,
            Outcome::Failed | Outcome::TimedOut => &mut failed,
            Outcome::Errored => &mut errored,
            Outcome::Skipped => &mut skipped,
            Outcome::Unknown => &mut unknown,
        } += 1;
    }
    Counts {
        total: Some(entries.len() as u64),
        passed: Some(passed),
        failed: Some(failed),
        errored: Some(errored),
        skipped: Some(skipped),
        unknown: Some(unknown),
        flaky: Some(0),
    }
}

/// The assembly's name out of its path.
fn assembly(path: &str) -> String {
    let file = path.trim().rsplit(['/', '\\']).next().unwrap_or("");
    identity::suite_name(file)
}
