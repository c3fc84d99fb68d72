//! Where the readers of one file put what they find: results, counts, sections, complaints.

use super::{FileReport, Format, FoundTrail, Section, Wrapper};
use crate::complaint;
use crate::limits;
use crate::model::{Complaint, Counts, Evidence, TestResult, Unlisted};
use crate::order;

/// Collects everything one file says and keeps it bounded.
#[derive(Debug)]
pub(crate) struct Collector {
    report: FileReport,
    wrapper: Wrapper,
    counted: bool,
    complaints_dropped: u64,
}

impl Collector {
    /// An empty report for the file shown as `path`.
    pub(crate) fn new(path: &str) -> Collector {
        Collector {
            report: FileReport { path: path.to_owned(), ..FileReport::default() },
            wrapper: Wrapper::None,
            counted: false,
            complaints_dropped: 0,
        }
    }

    /// Sets what stands around the lines that follow.
    pub(crate) fn set_wrapper(&mut self, wrapper: Wrapper) {
        self.wrapper = wrapper;
    }

    /// Notes that the file holds `format`; saying it again changes nothing.
    pub(crate) fn section(&mut self, format: Format, dialect: Option<&'static str>) {
        let section = Section { format, dialect, wrapper: self.wrapper };
        if !self.report.sections.contains(&section) {
            self.report.sections.push(section);
        }
    }

    /// Adds one try of one test. The failure text is cut at its limit, and searched for an order
    /// if the try did not pass and no order was found yet.
    pub(crate) fn result(&mut self, result: TestResult) {
        self.result_with_outputs(result, &[]);
    }

    /// As [`Collector::result`]; if the failure text shows no order, it may stand in one of
    /// `outputs`, the output of the test.
    pub(crate) fn result_with_outputs(&mut self, mut result: TestResult, outputs: &[String]) {
        if let Some(text) = result.failure.as_mut()
            && cut(text, limits::FAILURE_TEXT_MAX)
        {
            result.flags.truncated = true;
        }
        if result.outcome.not_passed() && result.order.is_none() {
            let texts = result.failure.iter().chain(outputs);
            result.order = texts.filter(|t| !t.is_empty()).find_map(|text| order::recover(text));
        }
        if let Some(time) = result.started_at {
            self.time(time);
        }
        self.report.results.push(result);
    }

    /// The results so far, for a reader that learns later what an earlier line meant.
    pub(crate) fn results_mut(&mut self) -> &mut [TestResult] {
        &mut self.report.results
    }

    /// Adds totals to those of the file, number by number; a number that one part of the file
    /// does not determine is undetermined for the file.
    pub(crate) fn counts(&mut self, counts: &Counts, evidence: Evidence) {
        let own = &mut self.report.counts;
        if !self.counted {
            *own = *counts;
        } else {
            own.total = sum(own.total, counts.total);
            own.passed = sum(own.passed, counts.passed);
            own.failed = sum(own.failed, counts.failed);
            own.errored = sum(own.errored, counts.errored);
            own.skipped = sum(own.skipped, counts.skipped);
            own.unknown = sum(own.unknown, counts.unknown);
            own.flaky = sum(own.flaky, counts.flaky);
        }
        self.counted = true;
        self.report.evidence = self.report.evidence.max(Some(evidence));
    }

    /// Notes passes of `suite` that a summary counts and no line lists.
    pub(crate) fn unlisted(&mut self, suite: &str, passed: u64) {
        if passed > 0 {
            self.report.unlisted.push(Unlisted { suite: suite.to_owned(), passed });
        }
    }

    /// Notes a time that the file states; the earliest is kept.
    pub(crate) fn time(&mut self, time: jiff::Timestamp) {
        self.report.started_at = Some(self.report.started_at.map_or(time, |t| t.min(time)));
    }

    /// Adds a trail found at `line`.
    pub(crate) fn trail(&mut self, line: u64, trail: fate_trail::Trail) {
        self.report.trails.push(FoundTrail { line, trail });
    }

    /// Adds a complaint: `line` is 1-based, 0 for the file as a whole; `text` says what is wrong,
    /// which rule it breaks and what to do, without a final stop.
    pub(crate) fn complain(&mut self, line: u64, code: &'static str, text: impl Into<String>) {
        if self.report.complaints.len() + 1 >= limits::COMPLAINTS_PER_FILE_MAX {
            self.complaints_dropped += 1;
            return;
        }
        let path = self.report.path.clone();
        self.report.complaints.push(Complaint { path, line, code, text: text.into() });
    }

    /// True where a complaint with this code was made for the file.
    pub(crate) fn complained(&self, code: &str) -> bool {
        self.report.complaints.iter().any(|c| c.code == code)
    }

    /// True where some reader recognised something.
    pub(crate) fn recognised(&self) -> bool {
        self.report.recognised()
    }

    /// The finished report. A file in which nothing was counted has zeros and no evidence.
    pub(crate) fn finish(mut self) -> FileReport {
        if self.complaints_dropped > 0 {
            let text = format!("{} more complaints about this file are not listed", self.complaints_dropped);
            let path = self.report.path.clone();
            self.report.complaints.push(Complaint { path, line: 0, code: complaint::MORE, text });
        }
        if !self.counted {
            let zero = Some(0);
            self.report.counts = Counts {
                total: zero,
                passed: zero,
                failed: zero,
                errored: zero,
                skipped: zero,
                unknown: zero,
                flaky: zero,
            };
        }
        self.report
    }
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a?.checked_add(b?)
}

/// Cuts `text` to at most `max` bytes at a character boundary; true where something was cut.
pub(crate) fn cut(text: &mut String, max: usize) -> bool {
    if text.len() <= max {
        return false;
    }
    let mut end = max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    true
}
