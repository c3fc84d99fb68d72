//! Takes the results of one file after another and packs them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::evidence::Total;
use super::filter::TestFilter;
use super::row::{Detail, Packed, Rows};
use super::{Histories, History, Template, alias, evidence, merge, natural_cmp};
use crate::ingest::{FileReport, Format};
use crate::model::{Outcome, RunKey, RunMeta, TestId, TestResult};
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

/// Collects rows. Memory: 40 bytes a row plus each distinct name, run and failure text once.
#[derive(Debug, Default)]
pub struct Builder {
    runs: Vec<RunMeta>,
    run_index: HashMap<RunKey, u32>,
    tests: HashMap<TestId, u32>,
    facts: Vec<FileFacts>,
    totals: Vec<Total>,
    findings: HashSet<Arc<OrderFinding>>,
    finding_bytes: usize,
    templates: HashSet<Arc<Template>>,
    rows: Rows,
}

impl Builder {
    /// An empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what one file said, under the run it belongs to.
    pub fn add(&mut self, file: &FileReport, run: &RunMeta) {
        if file.results.is_empty() && file.unlisted.is_empty() {
            return;
        }
        let run = self.run(run);
        let index = self.facts.len() as u32;
        self.rows.files.push(file.path.clone());
        self.facts.push(FileFacts {
            console: file.sections.iter().any(|section| section.format == Format::VstestConsole),
        });
        for result in &file.results {
            let test = self.test(&result.id);
            let (detail, cut) = self.detail(result);
            let mut row = Packed::new(result, run, test, index, detail);
            if cut {
                row.set_truncated();
            }
            self.rows.packed.push(row);
        }
        for total in file.unlisted.iter().filter(|total| total.passed > 0) {
            let listed = file
                .results
                .iter()
                .filter(|result| result.outcome == Outcome::Passed && result.id.suite == total.suite)
                .count() as u64;
            self.totals.push(Total {
                run,
                suite: total.suite.as_str().into(),
                passed: total.passed + listed,
            });
        }
    }

    /// Rows so far, before reports of the same try are merged.
    pub fn rows(&self) -> usize {
        self.rows.packed.len()
    }

    /// Sorts, merges and counts: one history for each test that `filter` lets through.
    pub fn finish(mut self, filter: Option<&TestFilter>) -> Histories {
        self.findings.clear();
        self.templates.clear();
        self.run_index.clear();
        let mut ids = vec![TestId::default(); self.tests.len()];
        for (id, index) in self.tests.drain() {
            ids[index as usize] = id;
        }
        let rows = &mut self.rows;
        alias::unify(&ids, &self.facts, &mut rows.packed);
        sort_runs(&mut self.runs, &mut rows.packed, &mut self.totals);
        let ids = sort_tests(ids, &mut rows.packed);
        rows.packed.sort_by_key(|row| (row.test, row.run, row.try_number, row.file));
        let mut tests = merge::histories(ids, rows);
        evidence::add_totals(&mut tests, &self.totals);
        // Only now, because what explains a suite's total is the passes of all its tests.
        if let Some(filter) = filter {
            keep(filter, &mut tests, &mut rows.packed);
        }
        Histories { runs: self.runs, tests, rows: self.rows }
    }

    /// The index of a run; what several files know of the same run is put together.
    fn run(&mut self, meta: &RunMeta) -> u32 {
        let Some(&index) = self.run_index.get(&meta.key) else {
            let index = self.runs.len() as u32;
            self.run_index.insert(meta.key.clone(), index);
            self.runs.push(meta.clone());
            return index;
        };
        let known = &mut self.runs[index as usize];
        // Times inside files differ from file to file; the run began with the earliest.
        known.started_at = match (known.started_at, meta.started_at) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        for (known, new) in [
            (&mut known.commit, &meta.commit),
            (&mut known.branch, &meta.branch),
            (&mut known.conclusion, &meta.conclusion),
        ] {
            if known.is_none() {
                known.clone_from(new);
            }
        }
        index
    }

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
        self.rows.details.push(Detail { finding, template });
        (Some(self.rows.details.len() as u32 - 1), cut)
    }
}

/// Puts the runs in their order and renumbers the rows.
fn sort_runs(runs: &mut Vec<RunMeta>, rows: &mut [Packed], totals: &mut [Total]) {
    let mut order: Vec<u32> = (0..runs.len() as u32).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&runs[a as usize], &runs[b as usize]);
        (a.started_at.is_none(), a.started_at)
            .cmp(&(b.started_at.is_none(), b.started_at))
            .then_with(|| natural_cmp(&a.key.run_id, &b.key.run_id))
            .then_with(|| a.key.attempt.cmp(&b.key.attempt))
            .then_with(|| natural_cmp(&a.key.job, &b.key.job))
            .then_with(|| natural_cmp(&a.key.shard, &b.key.shard))
    });
    let rank = inverse(&order);
    for row in rows {
        row.run = rank[row.run as usize];
    }
    for total in totals {
        total.run = rank[total.run as usize];
    }
    *runs = order.iter().map(|&index| std::mem::take(&mut runs[index as usize])).collect();
}

/// Sorts the tests that have rows by suite and name, drops spellings that have none, and renumbers the rows.
fn sort_tests(mut ids: Vec<TestId>, rows: &mut [Packed]) -> Vec<TestId> {
    let mut used = vec![false; ids.len()];
    for row in rows.iter() {
        used[row.test as usize] = true;
    }
    let mut order: Vec<u32> = (0..ids.len() as u32).filter(|&index| used[index as usize]).collect();
    order.sort_by(|&a, &b| ids[a as usize].cmp(&ids[b as usize]));
    let mut rank = vec![0; ids.len()];
    for (new, &old) in order.iter().enumerate() {
        rank[old as usize] = new as u32;
    }
    for row in rows {
        row.test = rank[row.test as usize];
    }
    order.iter().map(|&index| std::mem::take(&mut ids[index as usize])).collect()
}

/// Drops the tests that the filter rejects, with their rows.
fn keep(filter: &TestFilter, tests: &mut Vec<History>, rows: &mut Vec<Packed>) {
    let mut kept = 0;
    let rank: Vec<Option<u32>> = tests
        .iter()
        .map(|test| {
            filter.matches(&test.id).then(|| {
                kept += 1;
                kept - 1
            })
        })
        .collect();
    let mut index = 0;
    tests.retain(|_| {
        index += 1;
        rank[index - 1].is_some()
    });
    rows.retain_mut(|row| {
        let new = rank[row.test as usize];
        row.test = new.unwrap_or(row.test);
        new.is_some()
    });
}

/// For each old index its new one.
fn inverse(order: &[u32]) -> Vec<u32> {
    let mut rank = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        rank[old as usize] = new as u32;
    }
    rank
}
