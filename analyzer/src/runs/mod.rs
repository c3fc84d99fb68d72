//! Which run a file belongs to: manifest, folder layout, CI variables, times inside the file; first that applies, field by field.
//!
//! A file of which nothing tells the run is a run of its own, named by its path. Fields that one
//! file of a run knows serve the other files of the same run and attempt.

mod ci;
mod layout;
mod manifest;
mod matching;
mod time;

use std::collections::HashMap;

use jiff::Timestamp;

pub use ci::CiRun;
pub use layout::layout;
pub use manifest::{Manifest, Record};
pub use time::{Parsed, TimeError, parse_time};

use crate::model::{RunKey, RunMeta};
use crate::source::Place;

/// Where a start time came from; the first known one of a run and attempt stands for all its files.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum TimeFrom {
    Manifest,
    Ci,
    File,
}

/// What is known of the run of one file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Resolved {
    /// The run.
    pub meta: RunMeta,
    /// False where nothing names the run, so that the file is a run of its own.
    pub known: bool,
    time_from: TimeFrom,
}

impl Resolved {
    /// True where the run's start is the earliest time inside the file, because nothing better gave one.
    pub fn time_is_from_file(&self) -> bool {
        self.time_from == TimeFrom::File
    }
}

/// Says for each file which run it belongs to.
#[derive(Clone, Debug, Default)]
pub struct Resolver {
    manifests: Vec<Manifest>,
    ci: Option<CiRun>,
}

impl Resolver {
    /// `ci` is the CI run this process is part of, if its files are to be read as that run's own.
    pub fn new(mut manifests: Vec<Manifest>, ci: Option<CiRun>) -> Resolver {
        // The manifest nearest to a file speaks first; equal ones in the order they were found.
        manifests.sort_by_key(|manifest| std::cmp::Reverse(manifest.base().len()));
        Resolver { manifests, ci }
    }

    /// Resolves the run of the file at `place`; `started_at` is the earliest time inside the file.
    pub fn resolve(&self, place: &Place, started_at: Option<Timestamp>) -> Resolved {
        let mut record = Record::default();
        for manifest in &self.manifests {
            manifest.fill(&place.path, &mut record);
        }
        let mut time_from = TimeFrom::Manifest;
        if let Some((run_id, attempt, job)) = layout(&place.below) {
            let same = record.run_id.as_ref().is_none_or(|known| known == run_id);
            record.run_id.get_or_insert_with(|| run_id.to_owned());
            if same {
                record.attempt.get_or_insert(attempt);
            }
            record.job.get_or_insert_with(|| job.to_owned());
        }
        if let Some(ci) = self.ci.as_ref().filter(|ci| ci.speaks_for(&record)) {
            if record.started_at.is_none() {
                time_from = TimeFrom::Ci;
            }
            record.fill_from(ci.record());
        }
        if record.started_at.is_none() {
            time_from = TimeFrom::File;
            record.started_at = started_at;
        }
        let known = record.run_id.is_some();
        let key = RunKey {
            run_id: record.run_id.unwrap_or_else(|| place.path.clone()),
            attempt: record.attempt.unwrap_or(1),
            job: record.job.unwrap_or_default(),
            shard: record.shard.unwrap_or_default(),
        };
        let meta = RunMeta {
            key,
            started_at: record.started_at,
            commit: record.commit,
            branch: record.branch,
            conclusion: record.conclusion,
        };
        Resolved { meta, known, time_from }
    }
}

/// The run of each file, in the order of the files.
///
/// Within one run and attempt a start time, commit, branch or conclusion that only some files know
/// serves all; of several start times the best source's earliest stands.
pub fn unify(files: Vec<Resolved>) -> Vec<RunMeta> {
    let mut shared: HashMap<(String, u32), Resolved> = HashMap::new();
    for file in &files {
        let key = (file.meta.key.run_id.clone(), file.meta.key.attempt);
        shared.entry(key).and_modify(|known| share(known, file)).or_insert_with(|| file.clone());
    }
    let whole = |key: RunKey| match shared.get(&(key.run_id.clone(), key.attempt)) {
        Some(known) => RunMeta { key, ..known.meta.clone() },
        None => RunMeta { key, ..RunMeta::default() },
    };
    files.into_iter().map(|file| whole(file.meta.key)).collect()
}

fn share(known: &mut Resolved, file: &Resolved) {
    let (meta, new) = (&mut known.meta, &file.meta);
    if let Some(time) = new.started_at {
        let better = match meta.started_at {
            None => true,
            Some(old) => (file.time_from, time) < (known.time_from, old),
        };
        if better {
            meta.started_at = Some(time);
            known.time_from = file.time_from;
        }
    }
    for (have, give) in [
        (&mut meta.commit, &new.commit),
        (&mut meta.branch, &new.branch),
        (&mut meta.conclusion, &new.conclusion),
    ] {
        if have.is_none() {
            have.clone_from(give);
        }
    }
}

#[cfg(test)]
mod tests;
