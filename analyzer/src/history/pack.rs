//! What one file said, packed while it is read, so that no file's texts outlive its reading.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
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

/// A test that a file reports without listing any pass of its suite, and the suites of the totals
/// that may count it: output of this kind shows the test when it fails and hides it when it passes.
/// All tests of one suite share the list, which in a log of many nameless tests is a long one.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Hidden {
    pub(super) test: Box<str>,
    pub(super) totals: Arc<[Box<str>]>,
}

/// One file's rows, without their run, which is known only when all manifests are.
#[derive(Clone, Debug, Default)]
pub struct PackedFile {
    pub(super) path: String,
    pub(super) facts: FileFacts,
    pub(super) rows: Vec<Packed>,
    /// Suite and passes of each total that counts more passes than it lists; listed ones included.
    pub(super) totals: Vec<(Box<str>, u64)>,
    /// What its totals hide.
    pub(super) hides: Vec<Hidden>,
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
            totals: totals(file),
            hides: hidden(file),
        };
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

/// Each suite with passes that nothing lists, and all its passes, see [`PackedFile::totals`].
fn totals(file: &FileReport) -> Vec<(Box<str>, u64)> {
    let mut passed: BTreeMap<&str, u64> = BTreeMap::new();
    for total in file.unlisted.iter().filter(|total| total.passed > 0) {
        let passed = passed.entry(&total.suite).or_default();
        *passed = passed.saturating_add(total.passed);
    }
    for result in file.results.iter().filter(|result| result.outcome == Outcome::Passed) {
        if let Some(passed) = passed.get_mut(result.id.suite.as_str()) {
            *passed = passed.saturating_add(1);
        }
    }
    passed.into_iter().map(|(suite, passed)| (suite.into(), passed)).collect()
}

/// What the file's totals hide, see [`PackedFile::hides`].
fn hidden(file: &FileReport) -> Vec<Hidden> {
    let totals: BTreeSet<&str> = file.unlisted.iter().map(|total| total.suite.as_str()).collect();
    if totals.is_empty() {
        return Vec::new();
    }
    let passes = file.results.iter().filter(|result| result.outcome == Outcome::Passed);
    let listed: HashSet<&str> = passes.map(|result| result.id.suite.as_str()).collect();
    let mut by_suite: HashMap<&str, Arc<[Box<str>]>> = HashMap::new();
    let mut hidden = Vec::new();
    for result in file.results.iter().filter(|result| !listed.contains(result.id.suite.as_str())) {
        let matching = by_suite.entry(&result.id.suite).or_insert_with(|| {
            totals
                .iter()
                .filter(|total| suites_match(total, &result.id.suite))
                .map(|&total| total.into())
                .collect()
        });
        if !matching.is_empty() {
            hidden.push(Hidden { test: result.id.test.as_str().into(), totals: Arc::clone(matching) });
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
