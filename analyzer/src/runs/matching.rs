//! Which lines of a manifest speak about a file: by name, by folder or by glob.

use std::collections::HashMap;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::source::MEMBER_SEPARATOR;

/// The separator of archive members as a folder of its own, so that `*` does not cross it.
const MEMBER_FOLDER: &str = "/!/";

/// Paths of the lines of one manifest, ready to be asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Matching {
    /// Files and folders by name; most lines are that, and a million of them cost one look-up for
    /// each folder of a path.
    named: HashMap<String, Vec<usize>>,
    globs: GlobSet,
    /// For each glob, the line it stands for.
    of_glob: Vec<usize>,
}

/// Why a path of a manifest is no use.
pub(super) type Reason = String;

#[derive(Debug)]
pub(super) struct MatchingBuilder {
    named: HashMap<String, Vec<usize>>,
    globs: GlobSetBuilder,
    of_glob: Vec<usize>,
}

impl Default for MatchingBuilder {
    fn default() -> MatchingBuilder {
        MatchingBuilder { named: HashMap::new(), globs: GlobSetBuilder::new(), of_glob: Vec::new() }
    }
}

impl MatchingBuilder {
    /// Adds the path of line `index`.
    pub(super) fn add(&mut self, path: &str, index: usize) -> Result<(), Reason> {
        let path = path.replace('\\', "/");
        let path = path.strip_prefix("./").unwrap_or(&path);
        if path.is_empty() {
            return Err("the path is empty; name a file, a folder or a glob".into());
        }
        if path.starts_with('/') || path.split(['/', MEMBER_SEPARATOR]).any(|part| part == "..") {
            return Err(format!(
                "the path `{path}` leaves the folder of the manifest; put the manifest above it"
            ));
        }
        let path = separate_members(path);
        let path = path.trim_end_matches('/');
        let folder = ["/**/*", "/**", "/*"].iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path);
        if path == "." {
            self.named.entry(String::new()).or_default().push(index);
        } else if folder.contains(['*', '?', '[', '{']) || path == "*" {
            self.glob(path, index)?;
        } else {
            self.named.entry(folder.to_owned()).or_default().push(index);
        }
        Ok(())
    }

    /// A glob matches a file, or a folder with everything below it.
    fn glob(&mut self, path: &str, index: usize) -> Result<(), Reason> {
        for text in [path.to_owned(), format!("{path}/**")] {
            let glob: Glob = GlobBuilder::new(&text)
                .literal_separator(true)
                .build()
                .map_err(|error| format!("`{path}` is no valid glob: {}", error.kind()))?;
            self.globs.add(glob);
            self.of_glob.push(index);
        }
        Ok(())
    }

    pub(super) fn build(self) -> Result<Matching, Reason> {
        let globs = self
            .globs
            .build()
            .map_err(|error| format!("the globs together are too large: {}", error.kind()))?;
        Ok(Matching { named: self.named, globs, of_glob: self.of_glob })
    }
}

impl Matching {
    /// Lines that speak about `path` (relative to the manifest), in their order.
    pub(super) fn lines(&self, path: &str) -> Vec<usize> {
        let path = separate_members(path);
        let mut lines: Vec<usize> =
            self.globs.matches(&path).into_iter().filter_map(|at| self.of_glob.get(at).copied()).collect();
        let mut part = path.as_str();
        loop {
            if let Some(named) = self.named.get(part) {
                lines.extend_from_slice(named);
            }
            if part.is_empty() {
                break;
            }
            part = part.rsplit_once('/').map_or("", |(folder, _)| folder);
        }
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}

/// `a.tar!m/x` as `a.tar/!/m/x`; the `!` of a glob's `[!x]` stays.
fn separate_members(path: &str) -> String {
    let mut out = String::with_capacity(path.len() + 4);
    let mut before = ' ';
    for c in path.chars() {
        if c == MEMBER_SEPARATOR && before != '[' {
            out.push_str(MEMBER_FOLDER);
        } else {
            out.push(c);
        }
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matching(paths: &[&str]) -> Matching {
        let mut builder = MatchingBuilder::default();
        for (index, path) in paths.iter().enumerate() {
            builder.add(path, index).expect(path);
        }
        builder.build().expect("builds")
    }

    #[test]
    fn files_folders_and_globs() {
        let m = matching(&["17/x.log", "17", "18/**", "*/junit.xml", "run-?/a", "./19/"]);
        assert_eq!(m.lines("17/x.log"), [0, 1]);
        assert_eq!(m.lines("17/deep/y.log"), [1]);
        assert_eq!(m.lines("170/x.log"), [0usize; 0]);
        assert_eq!(m.lines("18/a/b"), [2]);
        assert_eq!(m.lines("18/junit.xml"), [2, 3]);
        assert_eq!(m.lines("a/b/junit.xml"), [0usize; 0], "* stays inside one folder");
        assert_eq!(m.lines("run-1/a/b.log"), [4], "a glob of a folder covers what is below");
        assert_eq!(m.lines("19/z"), [5]);
    }

    #[test]
    fn members_of_archives() {
        let m = matching(&["logs.tar!17/**", "logs.tar", "*.zip!a.xml", "*.log", "[!x]*.txt"]);
        assert_eq!(m.lines("logs.tar!17/x.log"), [0, 1]);
        assert_eq!(m.lines("logs.tar!18/x.log"), [1]);
        assert_eq!(m.lines("q.zip!a.xml"), [2]);
        assert_eq!(m.lines("q.zip!b.log"), [0usize; 0], "* does not look into archives");
        assert_eq!(m.lines("a.txt"), [4]);
        assert_eq!(m.lines("x.txt"), [0usize; 0]);
    }

    #[test]
    fn paths_that_leave_the_folder_are_refused() {
        for path in ["", "/abs", "../x", "a/../../x", "a.tar!../x", "a[/x"] {
            assert!(MatchingBuilder::default().add(path, 0).is_err(), "{path}");
        }
    }
}
