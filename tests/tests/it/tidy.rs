//! House rules as tests: lengths, module headings, banned calls, paths that lead out of a clone.

use fate_tests::{files, workspace};
use std::fs;
use std::path::Path;

/// Lines of one source file.
const FILE_LINES_MAX: usize = 600;
/// Lines of one function, signature and closing brace included.
const FUNCTION_LINES_MAX: usize = 70;

fn sources() -> Vec<(String, String)> {
    let read = |path: &Path| fs::read_to_string(workspace().join(path)).expect("source file");
    files(&[".rs"]).iter().map(|path| (path.display().to_string(), read(path))).collect()
}

/// Fails with all offences at once, so that one run shows the whole work.
fn none(offences: &[String]) {
    assert!(offences.is_empty(), "{} offences:\n{}", offences.len(), offences.join("\n"));
}

#[test]
fn files_are_short_and_open_with_their_purpose() {
    let mut offences = Vec::new();
    for (path, text) in sources() {
        let lines = text.lines().count();
        if lines > FILE_LINES_MAX {
            offences
                .push(format!("{path}: {lines} lines, {FILE_LINES_MAX} allowed; split it by what it does"));
        }
        if !text.starts_with("//! ") {
            offences.push(format!("{path}: does not open with a `//!` line that says what it is for"));
        }
    }
    none(&offences);
}

#[test]
fn functions_are_short() {
    let mut offences = Vec::new();
    for (path, text) in sources() {
        for (line, length) in functions(&text) {
            if length > FUNCTION_LINES_MAX {
                offences.push(format!(
                    "{path}:{line}: a function of {length} lines, {FUNCTION_LINES_MAX} allowed"
                ));
            }
        }
    }
    none(&offences);
}

/// First line and length of each function. The code is formatted, so a function ends at the first
/// closing brace that stands as far in as its signature.
fn functions(text: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let is_function = code.split("fn ").next().is_some_and(|before| {
            before.len() < code.len()
                && before.split_whitespace().all(|word| {
                    word.starts_with("pub")
                        || ["async", "const", "unsafe", "extern", "in", "super)", "crate)"].contains(&word)
                })
        });
        if !is_function || code.ends_with(';') {
            continue;
        }
        let closing = format!("{}}}", &line[..line.len() - code.len()]);
        if code.ends_with('}') {
            continue;
        }
        if let Some(length) = lines[start..].iter().position(|line| **line == closing) {
            found.push((start + 1, length + 1));
        }
    }
    found
}

#[test]
fn the_function_ruler_measures() {
    let text = "fn one() {}\npub(crate) fn two(\n    a: u8,\n) {\n    a;\n}\nimpl X {\n    const fn three() {\n    }\n}\n";
    assert_eq!(functions(text), [(2, 5), (8, 2)]);
}

/// Marks of unfinished work, and calls that make a test depend on time or hide a failure. The words
/// are put together here so that this file does not accuse itself.
#[test]
fn nothing_is_left_unfinished_and_no_test_sleeps_or_is_ignored() {
    let anywhere = [
        (["#[", "ignore"].concat(), "a test runs or does not exist"),
        (["todo", "!("].concat(), "leave out what is not built"),
        (["unimplemented", "!("].concat(), "leave out what is not built"),
        (["FIX", "ME"].concat(), "fix it, or say in prose what is open"),
        (["XX", "X"].concat(), "fix it, or say in prose what is open"),
    ];
    let in_tests = [
        (["thread::", "sleep"].concat(), "wait for the condition, not for time"),
        (["time::", "sleep"].concat(), "wait for the condition, not for time"),
    ];
    let mut offences = Vec::new();
    for (path, text) in sources() {
        let mut testing = path.contains("tests");
        for (number, line) in text.lines().enumerate() {
            testing |= line.trim() == "#[cfg(test)]";
            let banned = anywhere.iter().chain(in_tests.iter().filter(|_| testing));
            offences.extend(
                banned
                    .filter(|(word, _)| line.contains(word.as_str()))
                    .map(|(word, remedy)| format!("{path}:{}: `{word}`: {remedy}", number + 1)),
            );
        }
    }
    none(&offences);
}

#[test]
fn no_tracked_text_leads_out_of_the_clone() {
    let roots = [["/wo", "rk/"].concat(), ["/ro", "ot/"].concat()];
    let mut offences = Vec::new();
    for path in files(&[".rs", ".md", ".toml", ".sh", "run", ".txt", ".ndjson"]) {
        let text = fs::read_to_string(workspace().join(&path)).expect("text file");
        for (number, line) in text.lines().enumerate() {
            if roots.iter().any(|root| line.contains(root.as_str())) {
                offences.push(format!("{}:{}: names a path of one machine", path.display(), number + 1));
            }
        }
    }
    none(&offences);
}

#[test]
fn the_readme_names_its_two_commands_and_shows_what_is_printed() {
    let readme = fs::read_to_string(workspace().join("README.md")).expect("README.md");
    for command in ["cargo verdict fixtures/data/activation-backlog", "tests/run"] {
        assert!(readme.contains(command), "README.md does not name `{command}`");
    }
    let verdict = fs::read_to_string(workspace().join("tests/golden/verdict.txt")).expect("golden file");
    assert!(
        readme.contains(&verdict),
        "README.md does not show what the command prints; see tests/golden/verdict.txt"
    );
}

/// Figures are copied by nobody's hand: what the measuring programs wrote stands in the README as it is.
#[test]
fn published_costs_are_what_the_runs_wrote() {
    let read = |path: &str| fs::read_to_string(workspace().join(path)).expect("a published table");
    let readme = read("fate-trail/README.md");
    for results in ["fate-trail/lab/results/ratios.md", "fate-trail/lab/results/adapters.txt"] {
        // The first line says what was measured where, which the README does in its own words.
        for line in read(results).lines().skip(1).filter(|line| !line.trim().is_empty()) {
            assert!(readme.contains(line), "fate-trail/README.md lacks a line of {results}:\n{line}");
        }
    }
}
