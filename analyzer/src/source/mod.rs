//! Where bytes come from: files, folders, globs, archives and standard input, opened one at a time and never trusted.
//!
//! Nothing is unpacked to disk and no name out of an archive is used as a path. Whatever cannot be
//! read becomes one complaint about that file, and the rest goes on. Files are read by several
//! threads; the result is in the order of the arguments and of the sorted names, whatever the
//! threads did.

mod archive;
mod find;
mod guard;
mod open;
mod zstd;

use std::ffi::OsString;
use std::io::{BufRead, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::limits;
use crate::model::Complaint;

/// Stands between the path of an archive and the name of a member.
pub const MEMBER_SEPARATOR: char = '!';

/// The argument and the shown path of standard input.
pub const STDIN: &str = "-";

/// File names that are manifests of runs, in order of precedence inside one folder.
pub const MANIFEST_NAMES: [&str; 2] = ["runs.ndjson", "runs.csv"];

/// Where a file stands.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Place {
    /// Path as given, `archive!member` inside an archive, `-` for standard input.
    pub path: String,
    /// What of the path lies below the PATH argument, joined by `/`; the names of archives are left
    /// out (`logs.tar!17/1/unit/x.log` gives `17/1/unit/x.log`). Empty for a file named itself.
    pub below: String,
}

/// One file that was looked at.
#[derive(Clone, Debug)]
pub struct SourceFile<T> {
    /// Where it stands.
    pub place: Place,
    /// What the reader made of it; `None` where it could not be read at all.
    pub value: Option<T>,
    /// Why it could not be read, or not to its end. At most one for each file.
    pub fault: Option<Complaint>,
}

/// A manifest of runs, whole.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ManifestText {
    /// Path as shown; its last part is one of [`MANIFEST_NAMES`].
    pub path: String,
    /// Its bytes, at most [`limits::MANIFEST_BYTES_MAX`].
    pub bytes: Vec<u8>,
}

/// Everything the PATH arguments gave.
#[derive(Clone, Debug)]
pub struct Gathered<T> {
    /// Files in the order of the arguments, sorted by name inside a folder, as they stand inside an
    /// archive. Manifests are not among them.
    pub files: Vec<SourceFile<T>>,
    /// Manifests, wherever they were found.
    pub manifests: Vec<ManifestText>,
}

/// Limits of one call; the defaults are those of [`limits`].
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Unpacked bytes of one file or member.
    pub unpacked_max: u64,
    /// Unpacked bytes of one archive.
    pub archive_unpacked_max: u64,
    /// Unpacked bytes for each packed byte.
    pub ratio_max: u64,
    /// Unpacked bytes that are free of the ratio.
    pub ratio_free: u64,
    /// Members of one archive.
    pub entries_max: u64,
    /// Files read at the same time; 0 = as many as there are cores, up to [`limits::THREADS_MAX`].
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            unpacked_max: limits::UNPACKED_MAX,
            archive_unpacked_max: limits::ARCHIVE_UNPACKED_MAX,
            ratio_max: limits::UNPACK_RATIO_MAX,
            ratio_free: limits::UNPACK_RATIO_FREE,
            entries_max: limits::ARCHIVE_ENTRIES_MAX,
            threads: 0,
        }
    }
}

/// Told how far the reading is. Called by several threads.
pub trait Progress: Sync {
    /// All files are found; together they have `bytes` on disk.
    fn found(&self, bytes: u64);
    /// `bytes` more were read from disk.
    fn read(&self, bytes: u64);
    /// One more file or member was read to its end.
    fn file(&self);
}

/// A progress that nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn found(&self, _bytes: u64) {}
    fn read(&self, _bytes: u64) {}
    fn file(&self) {}
}

/// Reads one file to a value. The reader starts at the first byte of the unpacked content and the
/// file has at least one byte; an error it returns is reported by the source.
pub type ReadFile<'a, T> = &'a (dyn Fn(&Place, &mut dyn BufRead) -> T + Sync);

/// Opens everything the arguments name and hands each file to `read`.
///
/// `stdin` is read where an argument is `-`. Never fails: what cannot be read is a
/// [`SourceFile::fault`].
pub fn gather<T: Send>(
    paths: &[OsString],
    stdin: &mut (dyn Read + Send),
    options: &Options,
    progress: &dyn Progress,
    read: ReadFile<'_, T>,
) -> Gathered<T> {
    let found = find::find(paths);
    progress.found(found.iter().map(|entry| entry.size).sum());
    let stdin = Mutex::new(stdin);
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        while let Some(entry) = found.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut sink = Sink { read, progress, files: Vec::new(), manifests: Vec::new() };
            open::open(entry, &stdin, options, &mut sink);
            let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            done.push((entry.index, sink.files, sink.manifests));
        }
    };
    let threads = threads(options).min(found.len());
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, ..)| *index);
    let mut gathered = Gathered { files: Vec::new(), manifests: Vec::new() };
    for (_, files, manifests) in done {
        gathered.files.extend(files);
        gathered.manifests.extend(manifests);
    }
    gathered
}

fn threads(options: &Options) -> usize {
    match options.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from).min(limits::THREADS_MAX),
        chosen => chosen,
    }
}

/// Takes what one argument's file gives: itself, or the members of an archive.
struct Sink<'a, T> {
    read: ReadFile<'a, T>,
    progress: &'a dyn Progress,
    files: Vec<SourceFile<T>>,
    manifests: Vec<ManifestText>,
}

impl<T> Sink<'_, T> {
    /// A file that gave nothing.
    fn fault(&mut self, place: Place, code: &'static str, text: impl Into<String>) {
        let fault = crate::complaint::whole_file(&place.path, code, text);
        self.files.push(SourceFile { place, value: None, fault: Some(fault) });
        self.progress.file();
    }
}

/// True where the last part of a shown path is the name of a manifest.
fn is_manifest(path: &str) -> bool {
    let name = path.rsplit(['/', std::path::MAIN_SEPARATOR, MEMBER_SEPARATOR]).next().unwrap_or(path);
    MANIFEST_NAMES.contains(&name)
}

#[cfg(test)]
mod tests;
