//! The ordering cases of the corpus of real texts, where it is there: `FATE_CORPUS`, or a folder
//! `shared/corpus` beside the workspace. Its manifest says what is to come out.

use std::path::PathBuf;

use crate::order::*;

/// Folders whose texts hold assertions of the families that are read here.
const FOLDERS: &[&str] = &[
    "cargo-text/",
    "gha-maven/",
    "gradle-console/iss-loculus",
    "java-assertion/",
    "mstest-console/",
    "pytest-console/",
    "sbt-console/",
    "surefire-console/",
    "surefire-txt/",
    "travis-unittest/",
    "unittest-console/",
    "xunit-console/",
];

fn corpus() -> Option<PathBuf> {
    let root = match std::env::var_os("FATE_CORPUS") {
        Some(root) => PathBuf::from(root),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"),
    };
    root.join("MANIFEST.tsv").is_file().then_some(root)
}

/// A cell holds a JSON list; one that begins with `?` is not determined by the text.
fn cell(text: &str) -> Option<Vec<String>> {
    serde_json::from_str(text).ok()
}

#[test]
fn ordering_cases_of_the_corpus() {
    let Some(root) = corpus() else {
        eprintln!("no corpus: set FATE_CORPUS to its folder");
        return;
    };
    let manifest = std::fs::read_to_string(root.join("MANIFEST.tsv")).expect("readable manifest");
    let mut wrong = Vec::new();
    let mut seen = 0;
    for row in manifest.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let (path, ordering) = (cells[0], cells[15]);
        let single = ordering == "negative" || ordering == "yes" || ordering == "partial";
        if !single || !FOLDERS.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        seen += 1;
        let bytes = std::fs::read(root.join(path)).expect("readable case");
        let got = recover(&String::from_utf8_lossy(&bytes));
        let proven = got.as_ref().is_some_and(|f| f.kind == OrderKind::Permutation);
        let right = match (ordering, cell(cells[16]), cell(cells[17])) {
            ("yes", Some(expected), Some(observed)) => {
                proven && got.as_ref().is_some_and(|f| f.expected == expected && f.observed == observed)
            }
            ("yes", _, _) => got.as_ref().is_some_and(|f| f.kind == OrderKind::Suspected),
            ("partial", _, _) => !proven && got.is_some(),
            _ => got.as_ref().is_none_or(|f| f.kind == OrderKind::LostOrExtra),
        };
        if !right {
            wrong.push(format!("{path} ({ordering}): {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen >= 20, "the manifest names only {seen} cases of these families");
}
