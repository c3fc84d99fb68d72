//! Console output of `dotnet test` and `vstest.console`.
//!
//! At the usual verbosity only failed and skipped tests are listed; passes are known from the
//! summary alone (evidence E2). The xUnit adapter reports a failure before the runner prints its
//! block: one failure, counted once. What a crashed host was running is unknown, never passed.

mod lines;
mod runs;

use std::collections::{HashMap, VecDeque};

use lines::{Adapter, Reported, Totals};
use runs::Runs;

use super::console::{self, Place, Text, Tries};
use super::{Collector, Format, Line, LineReader, identity};
use crate::model::{Outcome, TestId, TestResult};

/// Reads the format.
#[derive(Debug, Default)]
pub(crate) struct Vstest {
    runs: Runs,
    tries: Tries,
    /// The test whose lines follow.
    block: Option<Block>,
    /// The adapter's reports in their order; `None` where a block confirmed one.
    adapter: Vec<Option<AdapterReport>>,
    /// Which of them, by name, are not confirmed yet.
    waiting: HashMap<String, VecDeque<usize>>,
    /// A summary whose numbers stand on lines of their own, with the assembly.
    totals: Option<(Totals, String)>,
    /// Names of the tests that a crash interrupted follow.
    victims: bool,
    /// The runner is Microsoft.Testing.Platform.
    platform: bool,
    /// MSBuild's terminal logger announced a failed test.
    announced: bool,
    seen: bool,
    last: Place,
}

/// A test and what the runner prints below its line.
#[derive(Debug)]
struct Block {
    outcome: Outcome,
    name: String,
    seconds: Option<f64>,
    certain: bool,
    place: Place,
    part: Part,
    message: Text,
    stack: Text,
    output: Text,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    Head,
    Message,
    Stack,
    Output,
    /// Microsoft.Testing.Platform: the message follows without a label.
    Bare,
}

/// A failure that the xUnit adapter reported.
#[derive(Debug)]
struct AdapterReport {
    outcome: Outcome,
    name: String,
    suite: String,
    place: Place,
    text: Text,
}

impl LineReader for Vstest {
    fn line(&mut self, line: &Line<'_>, out: &mut Collector) {
        self.last = Place::of(line);
        let text = line.text;
        if self.in_totals(text, out) {
            return;
        }
        if let Some(said) = lines::adapter(text) {
            self.found(out);
            self.adapter_line(&said, line);
            return;
        }
        if self.summary(text, out) || self.header(line, out) || self.logged(line, out) {
            return;
        }
        if self.victims {
            self.victim(text, line, out);
        } else if let Some(reported) = self.believable(text) {
            self.close_block(out);
            self.block = Some(Block::new(&reported, Place::of(line)));
        } else if let Some(block) = &mut self.block
            && !block.take(text)
        {
            self.close_block(out);
        }
    }

    fn end(&mut self, out: &mut Collector) {
        self.close_totals(out);
        self.close_block(out);
        self.close_adapter(out);
        if self.seen {
            self.runs.end(out);
            self.runs.end_of_excerpt(self.last, out);
        }
    }
}

impl Vstest {
    fn found(&mut self, out: &mut Collector) {
        if !self.seen {
            self.seen = true;
            out.section(Format::VstestConsole, None);
        }
    }

    /// A reported test, where the line can be believed: with a duration in the runner's own form
    /// always once a run is known, else only a failure, which [`Block`] drops if no message follows.
    fn believable<'a>(&self, text: &'a str) -> Option<Reported<'a>> {
        let reported = lines::reported(text)?;
        if reported.platform {
            return self.platform.then_some(reported);
        }
        let running = !self.runs.is_empty();
        let failed = reported.outcome == Outcome::Failed;
        let plain = !reported.name.split('(').next().unwrap_or("").trim_end().contains(' ');
        let believable = if reported.certain { running || failed } else { failed || (running && plain) };
        believable.then_some(reported)
    }

    /// Header lines: a run opens, finds nothing, or breaks off.
    fn header(&mut self, line: &Line<'_>, out: &mut Collector) -> bool {
        let text = line.text.trim();
        if let Some(path) = lines::run_for(line.text) {
            self.close_block(out);
            self.found(out);
            self.runs.open(path, line.number);
        } else if let Some(path) = lines::platform_run(text) {
            self.close_block(out);
            self.found(out);
            self.platform = true;
            self.runs.open(path, line.number);
        } else if text == "Starting test execution, please wait..." {
            self.found(out);
            if self.runs.is_empty() {
                self.runs.open("", line.number);
            }
        } else if let Some(rest) = text.strip_prefix("No test is available in ") {
            self.close_block(out);
            let path = rest.split(". Make sure").next().unwrap_or(rest);
            self.runs.close_empty(path.split_inclusive(".dll").next().unwrap_or(path).trim());
        } else if text.starts_with("No test matches the given testcase filter") {
            self.close_block(out);
            let path = text.rsplit(" in ").next().unwrap_or("");
            self.runs.close_empty(path.trim());
        } else if text.starts_with("The active test run was aborted")
            || text.starts_with("The active Test Run was aborted")
        {
            self.close_block(out);
        } else if text.starts_with("The test running when the crash occurred")
            || text.starts_with("The tests running when the crash occurred")
        {
            self.close_block(out);
            self.victims = true;
        } else {
            return matches!(text, "Test Run Successful." | "Test Run Failed." | "Test Run Aborted.")
                && self.run_ended(out);
        }
        true
    }

    /// A failure that MSBuild's terminal logger reports: an error of the build, with the test and
    /// its message behind it or on the next line.
    fn logged(&mut self, line: &Line<'_>, out: &mut Collector) -> bool {
        let error = lines::logger_error(line.text);
        if error.is_some() {
            self.close_block(out);
        }
        let words = match error {
            Some(words) => words,
            None if std::mem::take(&mut self.announced) => line.text.trim(),
            None => return false,
        };
        if let Some((reported, message)) = lines::logger_failure(words) {
            let mut block = Block::new(&reported, Place::of(line));
            block.message.push(message);
            self.block = Some(block);
            return true;
        }
        self.announced = error.is_some();
        error.is_some()
    }

    fn run_ended(&mut self, out: &mut Collector) -> bool {
        self.close_block(out);
        self.victims = false;
        self.found(out);
        true
    }

    /// A test that was running when the host crashed.
    fn victim(&mut self, text: &str, line: &Line<'_>, out: &mut Collector) {
        let name = text.trim();
        if name.is_empty() {
            self.victims = false;
            return;
        }
        self.found(out);
        let id = TestId { suite: self.runs.suite_of(name), test: name.to_owned() };
        self.runs.list(name, Outcome::Unknown);
        out.result(console::result(id, Outcome::Unknown, Place::of(line), &mut self.tries));
    }

    /// A summary on one line, or the first line of a longer one.
    fn summary(&mut self, text: &str, out: &mut Collector) -> bool {
        if let Some((totals, assembly)) = lines::one_line_summary(text) {
            self.close_run(assembly, &totals, out);
        } else if let Some(totals) = lines::total_tests(text) {
            if totals.passed.is_some() || totals.failed.is_some() {
                self.close_run("", &totals, out);
            } else {
                self.close_block(out);
                self.totals = Some((totals, String::new()));
            }
        } else if let Some(totals) = lines::logger_summary(text) {
            self.close_run("", &totals, out);
            self.runs.close_all();
        } else if let Some(path) = lines::platform_summary(text) {
            self.close_block(out);
            self.totals = Some((Totals::default(), path.to_owned()));
        } else {
            return false;
        }
        true
    }

    /// Takes a line of a summary that has several; the first other line closes it.
    fn in_totals(&mut self, text: &str, out: &mut Collector) -> bool {
        let Some((totals, _)) = &mut self.totals else {
            return false;
        };
        if lines::detail(totals, text) {
            return true;
        }
        self.close_totals(out);
        false
    }

    fn close_totals(&mut self, out: &mut Collector) {
        if let Some((totals, path)) = self.totals.take() {
            self.close_run(&path, &totals, out);
        }
    }

    fn close_run(&mut self, path: &str, totals: &Totals, out: &mut Collector) {
        self.close_block(out);
        self.found(out);
        self.victims = false;
        self.close_adapter(out);
        self.runs.close(path, totals, out);
        if self.platform && path.is_empty() {
            self.runs.close_all(); // one summary for all assemblies
        }
    }

    fn adapter_line(&mut self, said: &Adapter<'_>, line: &Line<'_>) {
        match *said {
            Adapter::Reported(outcome, name) => {
                if !self.runs.adapter(name) {
                    let suite = self.runs.suite_of(name);
                    let (name, place) = (name.to_owned(), Place::of(line));
                    let waiting = self.waiting.entry(name.clone()).or_default();
                    waiting.push_back(self.adapter.len());
                    self.adapter.push(Some(AdapterReport {
                        outcome,
                        name,
                        suite,
                        place,
                        text: Text::default(),
                    }));
                }
            }
            Adapter::Text(body) => {
                if let Some(Some(report)) = self.adapter.last_mut() {
                    report.text.push(body.strip_prefix("       ").unwrap_or(body));
                }
            }
        }
    }

    /// What only the adapter reported: its block was lost, or never written.
    fn close_adapter(&mut self, out: &mut Collector) {
        self.waiting.clear();
        for mut report in std::mem::take(&mut self.adapter).into_iter().flatten() {
            self.runs.list(&report.name, report.outcome);
            let id = TestId { suite: report.suite, test: report.name };
            let mut result = console::result(id, report.outcome, report.place, &mut self.tries);
            result.flags.truncated |= report.text.full();
            result.failure = report.text.take().filter(|_| report.outcome == Outcome::Failed);
            out.result(result);
        }
    }

    fn close_block(&mut self, out: &mut Collector) {
        let Some(block) = self.block.take() else {
            return;
        };
        if block.outcome == Outcome::Failed && !block.certain && block.part == Part::Head {
            return; // other output that began with the same word
        }
        self.found(out);
        if self.runs.block(&block.name)
            && let Some(twin) = self.waiting.get_mut(&block.name).and_then(VecDeque::pop_front)
        {
            self.adapter[twin] = None;
        }
        let name = test_of(&block.name);
        let id = TestId { suite: self.runs.suite_of(&name), test: name };
        self.runs.list(&block.name, block.outcome);
        let result = console::result(id, block.outcome, block.place, &mut self.tries);
        let (result, output) = block.finish(result);
        out.result_with_outputs(result, &output);
    }
}

/// An assembly that could not be loaded is reported as a failed test that is named by its path.
fn test_of(name: &str) -> String {
    if name.ends_with(".dll") && name.contains(['/', '\\']) {
        identity::suite_name(name)
    } else {
        name.to_owned()
    }
}

impl Block {
    fn new(reported: &Reported<'_>, place: Place) -> Block {
        Block {
            outcome: reported.outcome,
            name: reported.name.to_owned(),
            seconds: reported.seconds,
            certain: reported.certain,
            place,
            part: if reported.platform { Part::Bare } else { Part::Head },
            message: Text::default(),
            stack: Text::default(),
            output: Text::default(),
        }
    }

    /// Takes a line below the test's own; false where the line is none of the block's.
    fn take(&mut self, text: &str) -> bool {
        let part = match text.trim() {
            "Error Message:" => Some(Part::Message),
            "Stack Trace:" => Some(Part::Stack),
            "Standard Output Messages:"
            | "Standard Error Messages:"
            | "Debug Traces Messages:"
            | "Additional Information Messages:" => Some(Part::Output),
            _ => None,
        };
        if let Some(part) = part {
            self.part = part;
            return true;
        }
        match self.part {
            Part::Head => return text.trim().is_empty() && self.certain,
            Part::Message => self.message.push(text),
            Part::Stack => self.stack.push(text),
            Part::Output => self.output.push(text),
            Part::Bare if text.starts_with(' ') || text.is_empty() => self.message.push(text),
            Part::Bare => return false,
        }
        true
    }

    /// Completes the result; the captured output comes beside it.
    fn finish(mut self, mut result: TestResult) -> (TestResult, Vec<String>) {
        result.seconds = self.seconds;
        result.flags.truncated |= self.message.full() || self.stack.full();
        if result.outcome == Outcome::Failed {
            let message = self.message.take().map(|text| {
                // The runner indents the first line only.
                text.strip_prefix("   ").map_or_else(|| text.clone(), str::to_owned)
            });
            let parts: Vec<String> = message.into_iter().chain(self.stack.take()).collect();
            result.failure = (!parts.is_empty()).then(|| parts.join("\n"));
        }
        (result, self.output.take().into_iter().collect())
    }
}

#[cfg(test)]
mod tests;
