//! JUnit XML in every common dialect.
//!
//! Test cases are counted, header attributes never: they count reruns, skip what they dislike, or
//! were written before the run ended. What a test case says is in its child elements.

mod case;
mod dialect;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

pub(crate) use self::case::append;
use self::case::{Case, Kind, Problem};
use self::dialect::Signs;
use super::xml::{Document, Tag};
use super::{Collector, Format, identity, time};
use crate::complaint;
use crate::limits;
use crate::model::{Counts, Evidence, Flags, Outcome, TestId, TestResult};

/// Where text of an open element belongs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Sink {
    Nowhere,
    Body,
    ProblemOutput,
    Out,
    Err,
}

/// One open element.
#[derive(Debug)]
enum Element {
    Suite,
    Case,
    Other,
}

/// Reads one document.
pub(crate) struct Junit {
    signs: Signs,
    open: Vec<(Element, Sink)>,
    /// Names of the open suites, outermost first.
    suites: Vec<String>,
    /// The open test cases, outermost first; some producers nest them.
    cases: Vec<Case>,
    tally: Tally,
    tries: HashMap<TestId, Tries>,
}

/// What is known of earlier test cases with the same identity.
#[derive(Debug, Default)]
struct Tries {
    last: u32,
    last_passed: bool,
    cases: u32,
    /// Rows of cases that say nothing at all.
    silent: Vec<usize>,
}

#[derive(Debug, Default)]
struct Tally {
    passed: u64,
    failed: u64,
    errored: u64,
    skipped: u64,
    unknown: u64,
    flaky: u64,
}

impl Junit {
    /// A reader for one document.
    pub(crate) fn new() -> Junit {
        Junit {
            signs: Signs::default(),
            open: Vec::new(),
            suites: Vec::new(),
            cases: Vec::new(),
            tally: Tally::default(),
            tries: HashMap::new(),
        }
    }

    fn start_suite(&mut self, tag: &Tag<'_>, out: &mut Collector) {
        if tag.name() == "testsuites" {
            self.signs.suites(tag);
        } else {
            self.signs.suite(tag, self.open.is_empty() && tag.name() == "testsuite");
        }
        let mut name = String::new();
        let mut stamp = None;
        tag.attributes(|key, value| match key {
            "name" => name = value.text.into_owned(),
            "timestamp" => stamp = Some(value.text.into_owned()),
            _ => {}
        });
        if let Some(at) = stamp.and_then(|s| time::stated(&s, tag.line, out)) {
            out.time(at);
        }
        self.suites.push(name);
    }

    fn start_case(&mut self, tag: &Tag<'_>, out: &mut Collector) {
        let mut case = Case { line: tag.line, ..Case::default() };
        let mut stamp = None;
        tag.attributes(|key, value| {
            self.signs.case(key, &value.text);
            case.repaired |= value.repaired;
            match key {
                "name" => case.name = value.text.into_owned(),
                "classname" => case.class = value.text.into_owned(),
                "class" if case.class.is_empty() => case.class = value.text.into_owned(),
                "status" => case.status = value.text.into_owned(),
                "result" => case.result = value.text.into_owned(),
                "time" => case.seconds = time::seconds(&value.text),
                "timestamp" => stamp = Some(value.text.into_owned()),
                _ => {}
            }
        });
        case.started_at = stamp.and_then(|s| time::stated(&s, tag.line, out));
        self.cases.push(case);
    }

    /// An element inside a test case: what it means and where its text goes.
    fn start_inside(&mut self, tag: &Tag<'_>, out: &mut Collector) -> Sink {
        let Some(parent) = self.open.last().map(|(_, sink)| *sink) else {
            return Sink::Nowhere;
        };
        match (tag.name(), parent) {
            ("system-out" | "system-err", Sink::Body) => Sink::ProblemOutput,
            ("system-out", Sink::Nowhere) => Sink::Out,
            ("system-err", Sink::Nowhere) => Sink::Err,
            (name, Sink::Nowhere) => match Kind::of(name) {
                Some(kind) => self.start_problem(kind, tag, out),
                None => Sink::Nowhere,
            },
            // `<stackTrace>` of a rerun, or markup that a producer forgot to escape.
            _ => parent,
        }
    }

    fn start_problem(&mut self, kind: Kind, tag: &Tag<'_>, out: &mut Collector) -> Sink {
        let Some(case) = self.cases.last_mut() else {
            return Sink::Nowhere;
        };
        if case.problems.len() >= limits::PROBLEMS_PER_CASE_MAX {
            case.truncated = true;
            return Sink::Nowhere;
        }
        let mut problem = Problem::new(kind);
        let mut stamp = None;
        tag.attributes(|key, value| {
            case.repaired |= value.repaired;
            match key {
                "message" => case.truncated |= append(&mut problem.message, &value.text),
                "type" => problem.type_name = value.text.into_owned(),
                "time" => problem.seconds = time::seconds(&value.text),
                "timestamp" => stamp = Some(value.text.into_owned()),
                _ => {}
            }
        });
        problem.started_at = stamp.and_then(|s| time::stated(&s, tag.line, out));
        case.problems.push(problem);
        if !matches!(kind, Kind::Failure | Kind::Error | Kind::Skipped) {
            self.signs.reruns();
        }
        Sink::Body
    }

    fn end_case(&mut self, whole: bool, out: &mut Collector) {
        let Some(mut case) = self.cases.pop() else {
            return;
        };
        case.open_ended = !whole;
        case.truncated |= !whole;
        let (outcome, flaky) = (case.outcome(), case.flaky());
        self.tally.add(outcome, flaky);
        let dialect = self.signs.dialect();
        let id = self.identify(&case, dialect);
        let silent = outcome == Outcome::Passed && case.problems.is_empty();
        let tries = case.tries();
        let mut number = self.first_try(&id, dialect);
        let first_row = out.results_mut().len();
        for one in tries {
            let result = TestResult {
                id: id.clone(),
                outcome: one.outcome,
                evidence: Evidence::E1,
                try_number: number,
                seconds: one.seconds,
                started_at: one.started_at,
                line: case.line,
                failure: one.failure,
                order: None,
                flags: Flags { truncated: case.truncated, repaired: case.repaired, attempts_unknown: false },
            };
            out.result_with_outputs(result, &one.outputs);
            number = number.saturating_add(1);
        }
        if !lists_tries(dialect) {
            return;
        }
        let seen = self.tries.entry(id).or_default();
        seen.last = number.saturating_sub(1);
        seen.last_passed = outcome == Outcome::Passed;
        seen.cases += 1;
        if silent && dialect == Some("pytest") {
            seen.silent.push(first_row);
        }
    }

    fn identify(&self, case: &Case, dialect: Option<&str>) -> TestId {
        let mut named = self.suites.iter().map(|s| s.trim()).filter(|s| !s.is_empty());
        match dialect {
            Some("nextest") => {
                let innermost = self.suites.last().map_or("", String::as_str);
                let binary = if case.class.is_empty() { innermost } else { &case.class };
                identity::nextest(binary, &case.name)
            }
            Some("libtest") => identity::libtest(&case.class, &case.name),
            _ => {
                let suite = match named.next() {
                    // Without a class only a file or a package tells equal names apart.
                    Some(constant) if case.class.is_empty() && identity::is_constant(constant) => {
                        named.next()
                    }
                    outermost => outermost,
                };
                let suite = suite.unwrap_or("");
                identity::junit(split_stamp(suite).unwrap_or(suite), &case.class, &case.name)
            }
        }
    }

    /// The number of the first try of a test case that may have been seen before: Go and nextest
    /// repeat a test by listing it again, Gradle does so for a retry after a failure. Elsewhere
    /// equal names are different tests that share a name.
    fn first_try(&self, id: &TestId, dialect: Option<&str>) -> u32 {
        match (self.tries.get(id), dialect) {
            (Some(seen), Some("gotestsum" | "go-junit-report" | "nextest")) => seen.last.saturating_add(1),
            (Some(seen), Some("gradle")) if !seen.last_passed => seen.last.saturating_add(1),
            _ => 1,
        }
    }

    /// pytest's rerun plugin lists every try of a test, the failed ones as empty elements that
    /// look like passes: where a test is listed more than once, silence proves nothing.
    fn distrust_repeated_silence(&mut self, out: &mut Collector) {
        let mut first_line = None;
        for seen in self.tries.values().filter(|seen| seen.cases > 1) {
            for &row in &seen.silent {
                let Some(result) = out.results_mut().get_mut(row) else {
                    continue;
                };
                result.outcome = Outcome::Unknown;
                result.flags.attempts_unknown = true;
                self.tally.passed -= 1;
                self.tally.unknown += 1;
                first_line = Some(first_line.map_or(result.line, |l: u64| l.min(result.line)));
            }
        }
        if let Some(line) = first_line {
            out.complain(
                line,
                complaint::ATTEMPTS_UNKNOWN,
                "pytest lists a test more than once without saying which try passed, so those count as unknown; \
                 write a report log (--report-log) as well",
            );
        }
    }
}

impl Document for Junit {
    fn start(&mut self, tag: &Tag<'_>, out: &mut Collector) {
        let name = tag.name();
        let nowhere = self.open.last().is_none_or(|(_, sink)| *sink == Sink::Nowhere);
        let entry = if name == "testcase" && nowhere {
            self.start_case(tag, out);
            (Element::Case, Sink::Nowhere)
        } else if !self.cases.is_empty() {
            (Element::Other, self.start_inside(tag, out))
        } else if matches!(name, "testsuites" | "testsuite" | "testrun") {
            self.start_suite(tag, out);
            (Element::Suite, Sink::Nowhere)
        } else {
            if name == "property" {
                self.signs.property(&tag.attribute("name").unwrap_or_default());
            }
            (Element::Other, Sink::Nowhere)
        };
        self.open.push(entry);
    }

    fn text(&mut self, text: &str) {
        let (Some(case), Some((_, sink))) = (self.cases.last_mut(), self.open.last()) else {
            return;
        };
        let to = match sink {
            Sink::Nowhere => return,
            Sink::Out => &mut case.out,
            Sink::Err => &mut case.err,
            Sink::Body | Sink::ProblemOutput => match case.problems.last_mut() {
                Some(problem) if *sink == Sink::Body => &mut problem.body,
                Some(problem) => &mut problem.output,
                None => return,
            },
        };
        // Indentation between a child element and its CDATA section is no text of anyone's.
        if to.is_empty() && text.trim().is_empty() {
            return;
        }
        let cut = append(to, text);
        case.truncated |= cut && *sink == Sink::Body;
    }

    fn end(&mut self, whole: bool, out: &mut Collector) {
        match self.open.pop() {
            Some((Element::Case, _)) => self.end_case(whole, out),
            Some((Element::Suite, _)) => {
                self.suites.pop();
            }
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Collector) {
        if self.signs.dialect() == Some("pytest") {
            self.distrust_repeated_silence(out);
        }
        out.section(Format::Junit, self.signs.dialect());
        out.counts(&self.tally.counts(), Evidence::E1);
    }
}

impl Tally {
    fn add(&mut self, outcome: Outcome, flaky: bool) {
        let field = match outcome {
            Outcome::Passed => &mut self.passed,
            Outcome::Failed | Outcome::TimedOut => &mut self.failed,
            Outcome::Errored => &mut self.errored,
            Outcome::Skipped => &mut self.skipped,
            Outcome::Unknown => &mut self.unknown,
        };
        *field += 1;
        self.flaky += u64::from(flaky);
    }

    fn counts(&self) -> Counts {
        let total = self.passed + self.failed + self.errored + self.skipped + self.unknown;
        Counts {
            total: Some(total),
            passed: Some(self.passed),
            failed: Some(self.failed),
            errored: Some(self.errored),
            skipped: Some(self.skipped),
            unknown: Some(self.unknown),
            flaky: Some(self.flaky),
        }
    }
}

/// True for producers that list a test once for each of its tries.
fn lists_tries(dialect: Option<&str>) -> bool {
    matches!(dialect, Some("pytest" | "gradle" | "gotestsum" | "go-junit-report" | "nextest"))
}

/// `TestAcme-20251114214921` without its stamp; `None` for any other name.
fn split_stamp(suite: &str) -> Option<&str> {
    let (name, stamp) = suite.rsplit_once('-')?;
    (stamp.len() == 14 && stamp.bytes().all(|b| b.is_ascii_digit())).then_some(name)
}
