//! What the analyzer sees in each file, as text for a person or as `fate-inspect/1`.

mod text;

use std::io::{self, Write};

use serde::Serialize;

pub use text::text;

use crate::cli::{File, Loaded};
use crate::model::{Counts, Evidence, TestResult};
use crate::order::Split;

/// Name and version of the JSON; unstable until the first release.
pub const SCHEMA: &str = "fate-inspect/1";

/// Everything that was seen. Field names are a contract; `null` means not determined, never 0.
#[derive(Debug, Serialize)]
pub struct Inspection<'a> {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// In the order of the arguments.
    pub files: Vec<Seen<'a>>,
}

/// One file.
#[derive(Debug, Serialize)]
pub struct Seen<'a> {
    /// As given, `archive!member` inside an archive.
    pub path: &'a str,
    /// One for each (format, dialect, wrapper); empty where nothing was recognised.
    pub sections: Vec<SeenSection>,
    /// Sum of the following five.
    pub total: Option<u64>,
    /// Passed, flaky ones included.
    pub passed: Option<u64>,
    /// Failed, timed-out ones included.
    pub failed: Option<u64>,
    /// Errored.
    pub errored: Option<u64>,
    /// Skipped.
    pub skipped: Option<u64>,
    /// Reported without an outcome.
    pub unknown: Option<u64>,
    /// Passed after a failed try.
    pub flaky: Option<u64>,
    /// The weakest evidence among the counts, `E1` or `E2`.
    pub evidence: Option<&'static str>,
    /// What failures say about order.
    pub orders: Vec<SeenOrder<'a>>,
    /// Fate trails.
    pub trails: Vec<SeenTrail<'a>>,
    /// What could not be read.
    pub complaints: Vec<SeenComplaint<'a>>,
}

/// One stretch of a file in one format.
#[derive(Debug, Serialize)]
pub struct SeenSection {
    /// Format.
    pub format: &'static str,
    /// Producer's variety, if the format has several.
    pub dialect: Option<&'static str>,
    /// What CI put around the lines.
    pub wrapper: &'static str,
}

/// The order one failure saw.
#[derive(Debug, Serialize)]
pub struct SeenOrder<'a> {
    /// Suite of the test.
    pub suite: &'a str,
    /// The test.
    pub test: &'a str,
    /// 1-based line of the result.
    pub line: u64,
    /// `permutation`, `lost-or-extra` or `suspected`.
    pub kind: &'static str,
    /// Elements in expected order.
    pub expected: &'a [String],
    /// Elements in observed order.
    pub observed: &'a [String],
    /// Position in the expected order of each observed element; only for a permutation.
    pub ranks: Option<&'a [u32]>,
    /// How completely the text shows the sequences: `F H E W 1 0`.
    pub class: &'static str,
    /// True where the ranks are what the run saw, not a bound.
    pub exact: bool,
    /// True where equal elements made the ranks a convention.
    pub ambiguous: bool,
    /// How the expected side was decided.
    pub side: &'static str,
    /// How a single string was split into elements.
    pub split: Option<&'static str>,
}

/// One trail.
#[derive(Debug, Serialize)]
pub struct SeenTrail<'a> {
    /// 1-based line.
    pub line: u64,
    /// The delivery's id.
    pub id: &'a str,
    /// Number of stages.
    pub stages: usize,
    /// The last stage as `TOKEN@hub`.
    pub last: Option<String>,
}

/// One complaint; its path is the file's.
#[derive(Debug, Serialize)]
pub struct SeenComplaint<'a> {
    /// 1-based line, 0 for the file as a whole.
    pub line: u64,
    /// Code, see [`crate::complaint`].
    pub code: &'static str,
    /// What is wrong and what to do.
    pub text: &'a str,
}

impl<'a> Inspection<'a> {
    /// What was seen in all files.
    pub fn of(loaded: &'a Loaded) -> Inspection<'a> {
        Inspection { schema: SCHEMA, files: loaded.files.iter().map(seen).collect() }
    }
}

fn seen(file: &File) -> Seen<'_> {
    let report = &file.report;
    // A file of no known format determines nothing.
    let counts = if report.recognised() { report.counts } else { Counts::default() };
    Seen {
        path: &report.path,
        sections: report
            .sections
            .iter()
            .map(|section| SeenSection {
                format: section.format.as_str(),
                dialect: section.dialect,
                wrapper: section.wrapper.as_str(),
            })
            .collect(),
        total: counts.total,
        passed: counts.passed,
        failed: counts.failed,
        errored: counts.errored,
        skipped: counts.skipped,
        unknown: counts.unknown,
        flaky: counts.flaky,
        evidence: report.evidence.map(Evidence::as_str),
        orders: report.results.iter().filter_map(order).collect(),
        trails: report
            .trails
            .iter()
            .map(|found| SeenTrail {
                line: found.line,
                id: &found.trail.id,
                stages: found.trail.stages.len(),
                last: found.trail.stages.last().map(|stage| format!("{}@{}", stage.token, stage.hub)),
            })
            .collect(),
        complaints: report
            .complaints
            .iter()
            .map(|own| SeenComplaint { line: own.line, code: own.code, text: &own.text })
            .collect(),
    }
}

fn order(result: &TestResult) -> Option<SeenOrder<'_>> {
    use crate::order::OrderKind;
    let finding = result.order.as_ref()?;
    Some(SeenOrder {
        suite: &result.id.suite,
        test: &result.id.test,
        line: result.line,
        kind: match finding.kind {
            OrderKind::Permutation => "permutation",
            OrderKind::LostOrExtra => "lost-or-extra",
            OrderKind::Suspected => "suspected",
        },
        expected: &finding.expected,
        observed: &finding.observed,
        ranks: finding.ranks.as_deref(),
        class: finding.class.as_str(),
        exact: finding.exact,
        ambiguous: finding.ambiguous,
        side: finding.side.as_str(),
        split: finding.split.map(Split::as_str),
    })
}

/// Writes `fate-inspect/1`, one line break at the end.
///
/// # Errors
/// Where `out` cannot be written.
pub fn json(inspection: &Inspection<'_>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, inspection)?;
    writeln!(out)
}

#[cfg(test)]
mod tests;
