//! From PATH arguments to the sorted list of files to open, before any of them is opened.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use walkdir::WalkDir;

use super::open::cannot_open;
use super::{MANIFEST_NAMES, Place, STDIN};
use crate::{complaint, limits};

/// One file to open, or the reason why one cannot be.
#[derive(Debug)]
pub(super) struct Entry {
    /// Position in the result.
    pub(super) index: usize,
    pub(super) place: Place,
    /// Bytes on disk, 0 where unknown.
    pub(super) size: u64,
    pub(super) what: What,
}

/// What an entry is.
#[derive(Debug)]
pub(super) enum What {
    File(PathBuf),
    Stdin,
    Bad { code: &'static str, text: String },
}

impl Entry {
    /// The folder of [`Place::below`], for members of this archive.
    pub(super) fn folder_below(&self) -> &str {
        self.place.below.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

/// Expands the arguments. The same file is listed once, under the first argument that names it.
pub(super) fn find(paths: &[OsString]) -> Vec<Entry> {
    let mut finder = Finder { entries: Vec::new(), seen: HashSet::new(), full: false };
    for path in paths {
        finder.argument(path);
    }
    for (index, entry) in finder.entries.iter_mut().enumerate() {
        entry.index = index;
    }
    finder.entries
}

struct Finder {
    entries: Vec<Entry>,
    seen: HashSet<PathBuf>,
    full: bool,
}

impl Finder {
    fn argument(&mut self, argument: &OsStr) {
        if argument == STDIN {
            if self.seen.insert(PathBuf::from(STDIN)) {
                self.push(place(Path::new(argument), None), 0, What::Stdin);
            }
            return;
        }
        let path = Path::new(argument);
        match std::fs::metadata(path) {
            Ok(meta) if meta.is_dir() => {
                self.folder(path, None);
            }
            Ok(_) => {
                self.manifests_of(path.parent().unwrap_or(Path::new("")));
                self.file(path, None);
            }
            Err(error) => match argument.to_str().filter(|text| is_glob(text)) {
                Some(pattern) if error.kind() == io::ErrorKind::NotFound => self.glob(pattern),
                _ => self.bad(path, complaint::UNREADABLE, cannot_open(&error)),
            },
        }
    }

    /// Everything below a folder, sorted; with a glob, only what it matches.
    fn folder(&mut self, root: &Path, glob: Option<&GlobMatcher>) -> usize {
        let mut matched = 0;
        let walk = WalkDir::new(root)
            .follow_links(true)
            .max_depth(limits::FOLDER_DEPTH_MAX)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry.file_name()));
        for entry in walk {
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) if is_manifest(entry.file_name()) && glob.is_none() => {
                    self.file(entry.path(), Some(root));
                }
                Ok(entry) => match glob {
                    None => self.file(entry.path(), Some(root)),
                    Some(glob) => matched += usize::from(self.globbed(glob, entry.path(), root)),
                },
                Err(error) => self.walk_error(&error, root),
            }
            if self.full {
                break;
            }
        }
        matched
    }

    /// Takes a file below `root` if the glob matches it.
    fn globbed(&mut self, glob: &GlobMatcher, path: &Path, root: &Path) -> bool {
        let here = root == Path::new(".");
        let path = if here { path.strip_prefix(root).unwrap_or(path) } else { path };
        let root = if here { Path::new("") } else { root };
        let hit = matches(glob, path);
        if hit {
            self.manifests_between(root, path);
            self.file(path, Some(root));
        }
        hit
    }

    fn walk_error(&mut self, error: &walkdir::Error, root: &Path) {
        let path = error.path().unwrap_or(root).to_owned();
        if let Some(above) = error.loop_ancestor() {
            let text = format!(
                "the link leads back to {}, which is being read already; it is not followed",
                above.display()
            );
            return self.bad(&path, complaint::SYMLINK_LOOP, text);
        }
        let text = error.io_error().map_or_else(|| error.to_string(), cannot_open);
        self.bad(&path, complaint::UNREADABLE, text);
    }

    fn glob(&mut self, pattern: &str) {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        let path = Path::new(pattern);
        let glob = match GlobBuilder::new(pattern).literal_separator(true).build() {
            Ok(glob) => glob.compile_matcher(),
            Err(error) => {
                let text = format!(
                    "no file has this name and it is no valid glob: {}; quote the characters * ? [ {{ with [ ]",
                    error.kind()
                );
                return self.bad(path, complaint::BAD_GLOB, text);
            }
        };
        let root: PathBuf = path.components().take_while(|part| !is_glob_part(part)).collect();
        let walked = if root.as_os_str().is_empty() { Path::new(".") } else { root.as_path() };
        if self.folder(walked, Some(&glob)) == 0 {
            self.bad(
                path,
                complaint::NO_MATCH,
                "no file matches the glob; * stays inside one folder, ** crosses folders",
            );
        }
    }

    /// Manifests in the folders from `root` down to `file`.
    fn manifests_between(&mut self, root: &Path, file: &Path) {
        let folders: Vec<&Path> =
            file.ancestors().skip(1).take_while(|folder| folder.starts_with(root)).collect();
        for folder in folders.into_iter().rev() {
            self.manifests_of(folder);
        }
    }

    fn manifests_of(&mut self, folder: &Path) {
        for name in MANIFEST_NAMES {
            let path = folder.join(name);
            if path.is_file() {
                self.file(&path, None);
            }
        }
    }

    fn file(&mut self, path: &Path, root: Option<&Path>) {
        let meta = match std::fs::metadata(path) {
            Ok(meta) => meta,
            Err(error) => return self.bad(path, complaint::UNREADABLE, cannot_open(&error)),
        };
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if !self.seen.insert(real) {
            return;
        }
        if !meta.is_file() {
            let text = "neither a file nor a folder: a pipe, a socket or a device is never opened; pipe its content in as `-`";
            return self.bad(path, complaint::NOT_A_FILE, text);
        }
        self.push(place(path, root), meta.len(), What::File(path.to_owned()));
    }

    fn bad(&mut self, path: &Path, code: &'static str, text: impl Into<String>) {
        self.push(place(path, None), 0, What::Bad { code, text: text.into() });
    }

    fn push(&mut self, place: Place, size: u64, what: What) {
        if self.full {
            return;
        }
        if self.entries.len() >= limits::FILES_MAX {
            self.full = true;
            let text = format!(
                "more than {} files; those behind this one are not read, name fewer folders",
                limits::FILES_MAX
            );
            let what = What::Bad { code: complaint::LIMIT, text };
            self.entries.push(Entry { index: 0, place, size: 0, what });
            return;
        }
        self.entries.push(Entry { index: 0, place, size, what });
    }
}

fn place(path: &Path, root: Option<&Path>) -> Place {
    let below = root.and_then(|root| path.strip_prefix(root).ok()).map(slashes).unwrap_or_default();
    Place { path: slashes(path), below }
}

/// The path as text with `/` between its parts, on every platform.
fn slashes(path: &Path) -> String {
    let text = path.to_string_lossy();
    if std::path::MAIN_SEPARATOR == '/' {
        text.into_owned()
    } else {
        text.replace(std::path::MAIN_SEPARATOR, "/")
    }
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().first() == Some(&b'.')
}

fn is_manifest(name: &OsStr) -> bool {
    MANIFEST_NAMES.iter().any(|manifest| name == *manifest)
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

fn is_glob_part(part: &Component<'_>) -> bool {
    part.as_os_str().to_str().is_some_and(is_glob)
}

/// A glob matches a file, or a folder with everything below it.
fn matches(glob: &GlobMatcher, path: &Path) -> bool {
    path.ancestors().take_while(|part| !part.as_os_str().is_empty()).any(|part| glob.is_match(part))
}
