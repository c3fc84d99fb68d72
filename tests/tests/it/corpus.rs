//! Compares what is read from real public logs and reports with counts that were worked out
//! independently of this code.
//!
//! The files are not part of the project. They are looked for in `FATE_CORPUS`, else in
//! `shared/corpus` beside the workspace; `MANIFEST.tsv` there lists them. Where the corpus is
//! absent this says so on stderr (past the test harness, which hides a passing test's output)
//! and passes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fate_analyzer::ingest::{self, FileReport};
use fate_analyzer::order::{OrderFinding, OrderKind};

/// Formats whose every file must come out right.
const COUNTED: &[&str] = &[
    "cargo-text",
    "gha-cargo",
    "gha-other",
    "gtest-xml",
    "junit-xml",
    "malformed",
    "nextest-junit",
    "surefire-xml",
    "trx",
    "vstest-console",
    "xunit-console",
];

/// Formats of which only the assertion text is ours.
const ORDERS_ONLY: &[&str] = &["java-assertion", "mstest-console"];

/// Files of a counted folder that hold a format of another kind.
const OTHER_KIND: &[(&str, &str)] = &[("malformed/al-invalid.xml", "an Allure 1 suite")];

/// One line of the manifest.
#[derive(Debug)]
struct Row {
    path: String,
    format: String,
    /// total, passed, failed, errored, skipped, flaky; `None` where the file does not say.
    counts: [Option<u64>; 6],
    ordering: String,
    expected: String,
    actual: String,
}

const COUNT_NAMES: [&str; 6] = ["total", "passed", "failed", "errored", "skipped", "flaky"];

fn corpus() -> Option<PathBuf> {
    let root = match std::env::var_os("FATE_CORPUS") {
        Some(root) => PathBuf::from(root),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"),
    };
    if root.join("MANIFEST.tsv").is_file() {
        return Some(root);
    }
    let _ = writeln!(io::stderr(), "ABSENT corpus: no MANIFEST.tsv in {}; set FATE_CORPUS", root.display());
    None
}

fn manifest(root: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(root.join("MANIFEST.tsv")).expect("the manifest is readable UTF-8");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split('\t').collect();
    let at =
        |name: &str| header.iter().position(|h| *h == name).unwrap_or_else(|| panic!("no column {name}"));
    let (path, format, ordering) = (at("local_path"), at("format"), at("ordering"));
    let (expected, actual) = (at("expected_sequence"), at("actual_sequence"));
    let counts = COUNT_NAMES.map(at);
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            Row {
                path: cells[path].to_owned(),
                format: cells[format].to_owned(),
                counts: counts.map(|c| cells[c].parse().ok()),
                ordering: cells[ordering].to_owned(),
                expected: cells[expected].to_owned(),
                actual: cells[actual].to_owned(),
            }
        })
        .collect()
}

/// Every file of the corpus, read once for all tests; `None` where there is no corpus.
static FILES: LazyLock<Option<Vec<(Row, FileReport)>>> = LazyLock::new(|| {
    let root = corpus()?;
    let read = |row: Row| {
        let report = read(&root, &row);
        (row, report)
    };
    Some(manifest(&root).into_iter().map(read).collect())
});

fn files() -> &'static [(Row, FileReport)] {
    FILES.as_deref().unwrap_or_default()
}

/// True for formats whose counts must be right.
fn is_counted(row: &Row) -> bool {
    COUNTED.contains(&row.format.as_str()) && !OTHER_KIND.iter().any(|(path, _)| *path == row.path)
}

fn read(root: &Path, row: &Row) -> FileReport {
    let file = File::open(root.join(&row.path)).unwrap_or_else(|e| panic!("{}: {e}", row.path));
    ingest::read(&mut BufReader::new(file), &row.path)
}

fn counted(report: &FileReport) -> [Option<u64>; 6] {
    let c = &report.counts;
    [c.total, c.passed, c.failed, c.errored, c.skipped, c.flaky]
}

/// Differences between what the manifest determines and what was read.
fn wrong_counts(row: &Row, report: &FileReport) -> String {
    let mut wrong = String::new();
    for ((name, want), got) in COUNT_NAMES.iter().zip(row.counts).zip(counted(report)) {
        if want.is_some() && want != got {
            let _ = write!(
                wrong,
                " {name}: {} instead of {}",
                got.map_or("null".to_owned(), |g| g.to_string()),
                want.unwrap_or(0)
            );
        }
    }
    wrong
}

#[test]
fn counts_agree_with_the_manifest() {
    let (ours, others): (Vec<_>, Vec<_>) = files().iter().partition(|(row, _)| is_counted(row));
    let wrong: Vec<String> = ours
        .iter()
        .map(|(row, report)| (&row.path, wrong_counts(row, report)))
        .filter(|(_, differences)| !differences.is_empty())
        .map(|(path, differences)| format!("{path}:{differences}"))
        .collect();
    let mut unsupported: BTreeMap<&str, u32> = BTreeMap::new();
    for (row, _) in others {
        let other = OTHER_KIND.iter().find(|(path, _)| *path == row.path).map(|(_, kind)| *kind);
        *unsupported.entry(other.unwrap_or(&row.format)).or_default() += 1;
    }
    let list: Vec<String> = unsupported.iter().map(|(format, files)| format!("{format} ({files})")).collect();
    if !ours.is_empty() {
        let _ = writeln!(
            io::stderr(),
            "corpus: {} files compared; not yet supported: {}",
            ours.len(),
            list.join(", ")
        );
    }
    assert!(
        wrong.is_empty(),
        "{} of {} files are counted wrongly:\n{}",
        wrong.len(),
        ours.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_format_that_is_not_supported_is_never_taken_for_another() {
    for (row, report) in files().iter().filter(|(row, _)| !is_counted(row)) {
        assert!(!report.recognised(), "{} is {} and was read as {:?}", row.path, row.format, report.sections);
        assert!(report.results.is_empty(), "{}: results without a section", row.path);
        assert_eq!(report.complaints.len(), 1, "{}: {:?}", row.path, report.complaints);
    }
}

#[test]
fn the_parts_add_up_to_the_total() {
    for (row, report) in files().iter().filter(|(row, _)| is_counted(row)) {
        let c = &report.counts;
        let parts = [c.passed, c.failed, c.errored, c.skipped, c.unknown];
        if let (Some(total), Some(sum)) = (c.total, parts.into_iter().sum::<Option<u64>>()) {
            assert_eq!(total, sum, "{}", row.path);
        }
    }
}

/// Reads `["a", "b"]`; `None` for a sequence that the manifest only describes.
fn sequence(cell: &str) -> Option<Vec<String>> {
    serde_json::from_str(cell).ok()
}

#[test]
fn orders_agree_with_the_manifest() {
    let ours = |row: &Row| is_counted(row) || ORDERS_ONLY.contains(&row.format.as_str());
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (row, report) in files().iter().filter(|(row, _)| ours(row)) {
        let findings = orders(row, report);
        let proven: Vec<_> = findings.iter().filter(|o| o.kind == OrderKind::Permutation).collect();
        compared += u32::from(row.ordering != "no");
        match (row.ordering.as_str(), sequence(&row.expected), sequence(&row.actual)) {
            ("yes", Some(expected), Some(actual)) => {
                let recovered = proven.iter().any(|o| o.expected == expected && o.observed == actual);
                wrong
                    .extend((!recovered).then(|| format!("{}: not recovered, found {findings:?}", row.path)));
            }
            // An order is said, but no whole sequence is shown.
            ("yes", ..) => {}
            (kind, ..) => {
                wrong.extend(
                    (!proven.is_empty()).then(|| format!("{}: {kind}, yet found {proven:?}", row.path)),
                );
            }
        }
    }
    if compared > 0 {
        let _ = writeln!(io::stderr(), "corpus: orders of {compared} files compared");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Orders of a file: those of its failures, or, where the file is an excerpt that holds nothing
/// but an assertion's text, the one of its whole text.
fn orders(row: &Row, report: &FileReport) -> Vec<OrderFinding> {
    if !ORDERS_ONLY.contains(&row.format.as_str()) {
        return report.results.iter().filter_map(|r| r.order.clone()).collect();
    }
    let root = corpus().expect("its files were just read");
    let text = std::fs::read_to_string(root.join(&row.path)).expect("an excerpt is UTF-8");
    fate_analyzer::order::recover(&text).into_iter().collect()
}
