//! From PATH arguments to what every file said and which run it belongs to; every command begins here.

use std::ffi::OsString;

use super::Io;
use super::progress::Bar;
use crate::history::{PackedFile, Packer};
use crate::ingest::{self, FileReport};
use crate::model::{Complaint, RunMeta};
use crate::runs::{self, CiRun, Manifest, Resolver};
use crate::source::{self, Gathered, SourceFile};
use crate::{complaint, limits};

/// One file, read.
#[derive(Clone, Debug)]
pub struct File {
    /// What it said; empty but for its path where it could not be read at all. Without results
    /// and trails where the results are `packed`.
    pub report: FileReport,
    /// Its results, where a packer was given.
    pub packed: Option<PackedFile>,
    /// Which run it belongs to.
    pub run: RunMeta,
    /// True where it could not be read at all or not to its end.
    pub damaged: bool,
}

impl File {
    /// True where at least one known format was found in it.
    pub fn recognised(&self) -> bool {
        self.report.recognised()
    }
}

/// Everything the arguments gave.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// In the order of the arguments, sorted inside a folder; manifests are not among them.
    pub files: Vec<File>,
    /// What is complained about beside the complaints in [`File::report`]: manifests, unknown runs.
    pub complaints: Vec<Complaint>,
}

impl Loaded {
    /// Files of no known format or not wholly readable; what `--floor` counts.
    pub fn lost(&self) -> usize {
        self.files.iter().filter(|file| file.damaged || !file.recognised()).count()
    }

    /// All complaints, file by file, then those about runs; at most [`limits::COMPLAINTS_MAX`],
    /// then one that counts the rest.
    pub fn all_complaints(&self) -> Vec<Complaint> {
        let every = || self.files.iter().flat_map(|file| &file.report.complaints).chain(&self.complaints);
        let mut all: Vec<Complaint> = every().take(limits::COMPLAINTS_MAX).cloned().collect();
        let rest = every().count() - all.len();
        if rest > 0 {
            all.push(complaint::whole_file("", complaint::MORE, format!("{rest} more complaints")));
        }
        all
    }
}

/// Reads all files of `paths` and resolves their runs. `ci` is the CI run that files without a run
/// of their own belong to. With a `packer`, results are packed as soon as their file is read.
pub fn load(paths: &[OsString], ci: Option<CiRun>, packer: Option<&Packer>, io: &mut Io<'_>) -> Loaded {
    let bar = Bar::new(io.err_is_terminal && !io.quiet);
    let gathered =
        source::gather(paths, &mut *io.input, &source::Options::default(), &bar, &|place, reader| {
            let mut report = ingest::read(reader, &place.path);
            let packed = packer.map(|packer| packer.pack(&report));
            if packed.is_some() {
                (report.results, report.trails) = (Vec::new(), Vec::new());
            }
            (report, packed)
        });
    bar.clear();
    resolve(gathered, ci)
}

/// Puts what the source, the readers and the manifests say together.
fn resolve(gathered: Gathered<(FileReport, Option<PackedFile>)>, ci: Option<CiRun>) -> Loaded {
    let mut complaints = Vec::new();
    let mut manifests = Vec::new();
    for text in &gathered.manifests {
        let (manifest, about) = Manifest::read(text);
        manifests.push(manifest);
        complaints.extend(about);
    }
    let resolver = Resolver::new(manifests, ci);
    let mut resolved = Vec::with_capacity(gathered.files.len());
    let mut files = Vec::with_capacity(gathered.files.len());
    for source in gathered.files {
        let place = source.place.clone();
        let (mut report, packed, damaged) = said(source);
        let run = resolver.resolve(&place, report.started_at);
        if !run.time_is_from_file() {
            // How the file writes its times changes nothing where the run's start is known better.
            report.complaints.retain(|own| own.code != complaint::NAIVE_TIME);
        }
        if !run.known && report.recognised() {
            complaints.push(complaint::whole_file(&place.path, complaint::RUN_UNKNOWN, RUN_UNKNOWN));
        }
        resolved.push(run);
        files.push((report, packed, damaged));
    }
    let files = files
        .into_iter()
        .zip(runs::unify(resolved))
        .map(|((report, packed, damaged), run)| File { report, packed, run, damaged })
        .collect();
    Loaded { files, complaints }
}

const RUN_UNKNOWN: &str = "nothing says which run the file belongs to, so it counts as a run of its own; write a runs.ndjson beside it, lay folders out as <run-id>/<attempt>/<job>/, or say --ci-run inside CI";

/// What a file said, with the one complaint that explains why it said no more.
fn said(source: SourceFile<(FileReport, Option<PackedFile>)>) -> (FileReport, Option<PackedFile>, bool) {
    let path = source.place.path;
    let (mut report, packed) =
        source.value.unwrap_or_else(|| (FileReport { path: path.clone(), ..FileReport::default() }, None));
    if let Some(fault) = source.fault {
        // What the reader of formats says of the broken place only repeats the fault.
        report.complaints.retain(|own| !complaint::FOLLOWS_FROM_FAULT.contains(&own.code));
        report.complaints.insert(0, fault);
    } else if !report.recognised() && report.complaints.is_empty() {
        report.complaints.push(complaint::whole_file(&path, complaint::UNRECOGNISED, UNRECOGNISED));
    }
    let damaged = report.complaints.iter().any(|own| complaint::is_damaging(own.code));
    (report, packed, damaged)
}

const UNRECOGNISED: &str = "nothing in the file is of a known format, so nothing was counted; leave it out, or see the list of formats in the README";
