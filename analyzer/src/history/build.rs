//! Takes the packed results of one file after another and makes histories of them.

use std::collections::{HashMap, HashSet};

use super::evidence::Total;
use super::filter::TestFilter;
use super::pack::{FileFacts, Hidden, PackedFile, Packer, Tables};
use super::row::{Packed, Rows};
use super::{Histories, History, alias, evidence, merge, natural_cmp};
use crate::ingest::FileReport;
use crate::model::{RunKey, RunMeta, TestId};

/// Collects rows and puts each under its run.
#[derive(Debug, Default)]
pub struct Builder {
    packer: Packer,
    runs: Vec<RunMeta>,
    run_index: HashMap<RunKey, u32>,
    facts: Vec<FileFacts>,
    totals: Vec<Total>,
    hides: HashSet<Hidden>,
    rows: Rows,
}

impl Builder {
    /// An empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// A collection of files that `packer` packed; files of another packer make nonsense of names.
    pub fn of(packer: Packer) -> Self {
        Self { packer, ..Self::default() }
    }

    /// Adds what one file said, under the run it belongs to.
    pub fn add(&mut self, file: &FileReport, run: &RunMeta) {
        let packed = self.packer.pack(file);
        self.add_packed(packed, run);
    }

    /// Adds what one file said, packed by the packer that this collection is [`Builder::of`].
    pub fn add_packed(&mut self, file: PackedFile, run: &RunMeta) {
        let says_nothing = file.rows.is_empty() && file.totals.is_empty();
        // A run of which something is known is a run of the input, also where the build broke before
        // any test; a file that only stands for itself is none.
        if says_nothing && run.key.run_id == file.path {
            return;
        }
        let run = self.run(run);
        if says_nothing {
            return;
        }
        let index = self.facts.len() as u32;
        self.rows.files.push(file.path);
        self.facts.push(file.facts);
        self.rows.packed.extend(file.rows.into_iter().map(|mut row| {
            (row.run, row.file) = (run, index);
            row
        }));
        self.hides.extend(file.hides);
        self.totals.extend(file.totals.into_iter().map(|(suite, passed)| Total { run, suite, passed }));
    }

    /// Sorts, merges and counts: one history for each test that `filter` lets through.
    pub fn finish(mut self, filter: Option<&TestFilter>) -> Histories {
        let Tables { tests, details, .. } = self.packer.into_tables();
        let mut ids = vec![TestId::default(); tests.len()];
        for (id, index) in tests {
            ids[index as usize] = id;
        }
        let rows = &mut self.rows;
        rows.details = details;
        alias::unify(&ids, &self.facts, &mut rows.packed);
        sort_runs(&mut self.runs, &mut rows.packed, &mut self.totals);
        let ids = sort_tests(ids, &mut rows.packed);
        rows.packed.sort_by_key(|row| (row.test, row.run, row.try_number, row.file));
        let mut tests = merge::histories(ids, rows);
        evidence::add_totals(&mut tests, &self.totals, &self.hides);
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
