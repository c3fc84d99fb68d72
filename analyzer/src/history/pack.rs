//! What one file said, packed while it is read, so that no file's texts outlive its reading.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::Template;
use super::alias::suites_match;
use super::row::{Detail, Packed};
use crate::ingest::{FileReport, Format};
use crate::model::{Outcome, TestId, TestResult};
use crate::order::OrderFinding;

/// Bytes of recovered sequences that are kept. Equal findings are stored once, so this is reached
/// only where thousands of failures each show thousands of names of their own; beyond it the ranks
/// are kept and the names are not, and the row says `truncated`.
const FINDING_BYTES_MAX: usize = 256 * 1024 * 1024;

/// What later steps need to know of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileFacts {
    /// Console output of a runner that may print methods without their class.
    pub(super) console: bool,
}

/// One file's rows, without their run, which is known only when all manifests are.
#[derive(Clone, Debug, Default)]
pub struct PackedFile {
    pub(super) path: String,
    pub(super) facts: FileFacts,
    pub(super) rows: Vec<Packed>,
    /// Suite and passes of each total that counts more passes than it lists; listed ones included.
    pub(super) totals: Vec<(Box<str>, u64)>,
    /// Total's suite and test's name, where the file reports the test and lists no pass of its suite:
    /// output of this kind shows the test when it fails and hides it when it passes.
    pub(super) hides: Vec<(Box<str>, Box<str>)>,
}

/// Packs the results of files, also from several threads at a time. Memory: 40 bytes a row plus
/// each distinct name and failure text once.
#[derive(Debug, Default)]
pub struct Packer(Mutex<Tables>);

/// Names, orders and failure texts, each distinct one once.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) tests: HashMap<TestId, u32>,
    pub(super) details: Vec<Detail>,
    findings: HashSet<Arc<OrderFinding>>,
    finding_bytes: usize,
    templates: HashSet<Arc<Template>>,
}

impl Packer {
    /// Packs what one file said.
    pub fn pack(&self, file: &FileReport) -> PackedFile {
        let mut packed = PackedFile {
            path: file.path.clone(),
            facts: FileFacts {
                console: file.sections.iter().any(|section| section.format == Format::VstestConsole),
            },
            rows: Vec::with_capacity(file.results.len()),
            totals: Vec::new(),
            hides: hidden(file),
        };
        for total in file.unlisted.iter().filter(|total| total.passed > 0) {
            let of_suite =
                |result: &&TestResult| result.outcome == Outcome::Passed && result.id.suite == total.suite;
            let listed = file.results.iter().filter(of_suite).count() as u64;
            packed.totals.push((total.suite.as_str().into(), total.passed + listed));
        }
        // A panic elsewhere cannot leave the tables half written.
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for result in &file.results {
            let test = tables.test(&result.id);
            let (detail, cut) = tables.detail(result);
            let mut row = Packed::new(result, test, detail);
            if cut {
                row.set_truncated();
            }
            packed.rows.push(row);
        }
        packed
    }

    /// The tables, when all files are packed.
    pub(super) fn into_tables(self) -> Tables {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the file's totals hide, see [`PackedFile::hides`].
fn hidden(file: &FileReport) -> Vec<(Box<str>, Box<str>)> {
    if file.unlisted.is_empty() {
        return Vec::new();
    }
    let passes = file.results.iter().filter(|result| result.outcome == Outcome::Passed);
    let listed: HashSet<&str> = passes.map(|result| result.id.suite.as_str()).collect();
    let mut hidden = Vec::new();
    for result in file.results.iter().filter(|result| !listed.contains(result.id.suite.as_str())) {
        for total in file.unlisted.iter().filter(|total| suites_match(&total.suite, &result.id.suite)) {
            hidden.push((total.suite.as_str().into(), result.id.test.as_str().into()));
        }
    }
    hidden
}

impl Tables {
    /// The index of a test.
    fn test(&mut self, id: &TestId) -> u32 {
        if let Some(&index) = self.tests.get(id) {
            return index;
        }
        let index = self.tests.len() as u32;
        self.tests.insert(id.clone(), index);
        index
    }

    /// Keeps what a failed result tells; true in the second place where names had to be dropped.
    fn detail(&mut self, result: &TestResult) -> (Option<u32>, bool) {
        if !result.outcome.not_passed() || (result.order.is_none() && result.failure.is_none()) {
            return (None, false);
        }
        let mut cut = false;
        let finding = result.order.as_ref().map(|finding| {
            if let Some(known) = self.findings.get(finding) {
                return Arc::clone(known);
            }
            let bytes: usize = finding
                .expected
                .iter()
                .chain(&finding.observed)
                .map(|text| text.len() + size_of::<String>())
                .sum();
            let mut finding = finding.clone();
            if self.finding_bytes + bytes > FINDING_BYTES_MAX {
                cut = true;
                (finding.expected, finding.observed) = (Vec::new(), Vec::new());
            } else {
                self.finding_bytes += bytes;
            }
            let finding = Arc::new(finding);
            self.findings.insert(Arc::clone(&finding));
            finding
        });
        let template = result.failure.as_deref().and_then(Template::of).map(|template| {
            if let Some(known) = self.templates.get(&template) {
                return Arc::clone(known);
            }
            let template = Arc::new(template);
            self.templates.insert(Arc::clone(&template));
            template
        });
        self.details.push(Detail { finding, template });
        (Some(self.details.len() as u32 - 1), cut)
    }
}
