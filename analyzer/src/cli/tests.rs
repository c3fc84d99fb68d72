//! Commands run in this process against files of their own.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

use serde_json::Value;

use super::*;

/// What one command did.
pub(super) struct Done {
    pub(super) code: u8,
    pub(super) out: String,
    pub(super) err: String,
}

pub(super) fn command(args: &[&str]) -> Done {
    command_in(args, |_| {})
}

fn command_in(args: &[&str], prepare: impl FnOnce(&mut Io<'_>)) -> Done {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = {
        let mut io = Io::new(&mut out, &mut err);
        prepare(&mut io);
        run(std::iter::once("fate-analyzer").chain(args.iter().copied()).map(OsString::from), &mut io)
    };
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Done { code, out: text(out), err: text(err) }
}

fn junit(test: &str, passed: bool) -> String {
    let body = if passed { "" } else { "<failure message=\"no\">no</failure>" };
    format!(
        "<testsuites><testsuite name=\"Shop\"><testcase classname=\"Fifo\" name=\"{test}\">{body}</testcase></testsuite></testsuites>"
    )
}

pub(super) fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(path, text).expect("a file");
    }
    dir
}

pub(super) fn text(path: &Path) -> &str {
    path.to_str().expect("a temporary path in UTF-8")
}

fn json(done: &Done) -> Value {
    serde_json::from_str(&done.out).expect("standard output is one JSON document and nothing else")
}

#[test]
fn help_and_version_go_to_standard_output() {
    for args in [&["--help"][..], &["report", "--help"], &["inspect", "-h"], &["--version"]] {
        let done = command(args);
        assert_eq!((done.code, done.err.as_str()), (exit::OK, ""), "{args:?}");
        assert!(!done.out.is_empty());
    }
}

#[test]
fn wrong_arguments_are_usage() {
    let dir = folder(&[("x.xml", &junit("a", true))]);
    let path = text(dir.path());
    for args in [
        &[][..],
        &["report"],
        &["no-such-command"],
        &["report", path, "--format", "html"],
        &["report", path, "--split-at", "yesterday"],
        &["report", path, "--floor", "101"],
        &["report", path, "--floor", "NaN"],
        &["report", path, "--test", "["],
        &["inspect", path, "--color", "sometimes"],
    ] {
        let done = command(args);
        assert_eq!((done.code, done.out.as_str()), (exit::USAGE, ""), "{args:?}");
        assert!(!done.err.is_empty(), "{args:?} says why");
    }
}

#[cfg(not(feature = "table"))]
#[test]
fn export_says_what_it_lacks() {
    let done = command(&["export", "x", "--to", "t.parquet"]);
    assert_eq!(done.code, exit::USAGE);
    assert!(done.err.contains("feature `table`"), "{}", done.err);
}

#[cfg(feature = "table")]
#[test]
fn export_writes_a_table_and_nothing_to_standard_output() {
    let dir = folder(&[("1/1/unit/a.xml", &junit("a", true)), ("1/2/unit/a.xml", &junit("a", false))]);
    let path = text(dir.path());
    let table = dir.path().join("rows.csv");
    let done = command(&["export", path, "--to", text(&table)]);
    assert_eq!((done.code, done.out.as_str()), (exit::OK, ""), "{}", done.err);
    assert!(done.err.contains("wrote 2 rows"), "{}", done.err);
    let rows = std::fs::read_to_string(&table).expect("a table");
    assert_eq!(rows.lines().count(), 3, "a header and two rows");
    let done = command(&["export", path, "--to", text(&dir.path().join("rows.xlsx"))]);
    assert_eq!((done.code, done.out.as_str()), (exit::USAGE, ""));
}

#[test]
fn inspect_shows_each_file_as_json() {
    let dir = folder(&[("a.xml", &junit("a", false)), ("b.txt", "nothing of interest\n"), ("c.xml", "")]);
    let done = command(&["inspect", text(dir.path()), "--format", "json"]);
    assert_eq!(done.code, exit::OK);
    let seen = json(&done);
    assert_eq!(seen["schema"], "fate-inspect/1");
    let file = &seen["files"][0];
    assert!(file["path"].as_str().is_some_and(|path| path.ends_with("/a.xml")));
    assert_eq!(file["sections"][0]["format"], "junit");
    assert_eq!(file["sections"][0]["wrapper"], "none");
    assert_eq!((&file["total"], &file["failed"], &file["evidence"]), (&1.into(), &1.into(), &"E1".into()));
    assert_eq!(file["complaints"], Value::Array(vec![]));
    for (at, code) in [(1, "unrecognised"), (2, "empty")] {
        let file = &seen["files"][at];
        assert_eq!(file["sections"], Value::Array(vec![]));
        assert_eq!(file["total"], Value::Null, "not determined is null, never 0");
        assert_eq!(file["complaints"].as_array().map(Vec::len), Some(1));
        assert_eq!(file["complaints"][0]["code"], code);
    }
}

#[test]
fn inspect_is_degraded_only_where_nothing_is_recognised() {
    let dir = folder(&[("b.txt", "nothing\n"), ("c.txt", "nothing\n")]);
    let done = command(&["inspect", text(dir.path())]);
    assert_eq!(done.code, exit::DEGRADED);
    assert!(done.out.contains("none known") && done.err.contains("no file is of a known format"));
    assert_eq!(command(&["inspect", text(&dir.path().join("missing"))]).code, exit::DEGRADED);
}

#[test]
fn standard_input_is_a_file() {
    let done = command_in(&["inspect", "-", "--format", "json"], |io| {
        io.input = Box::new(io::Cursor::new(junit("a", true).into_bytes()));
    });
    assert_eq!(json(&done)["files"][0]["path"], "-");
    assert_eq!(json(&done)["files"][0]["passed"], 1);
}

#[test]
fn report_counts_runs_by_their_manifest() {
    let manifest = "{\"path\":\"1.xml\",\"run_id\":\"1\"}\n{\"path\":\"2.xml\",\"run_id\":\"2\"}\n";
    let dir =
        folder(&[("1.xml", &junit("a", true)), ("2.xml", &junit("a", false)), ("runs.ndjson", manifest)]);
    let done = command(&["report", text(dir.path()), "--format", "json"]);
    assert_eq!((done.code, done.err.as_str()), (exit::OK, ""));
    let report = json(&done);
    assert_eq!(report["schema"], "fate-report/1");
    assert_eq!((&report["input"]["files"], &report["input"]["runs"]), (&2.into(), &2.into()));
    assert_eq!((&report["tests"][0]["executed"], &report["tests"][0]["failed"]), (&2.into(), &1.into()));
}

#[test]
fn one_run_in_several_files_is_one() {
    let files = [
        ("17/1/unit/a.xml", junit("a", true)),
        ("17/1/unit/b.xml", junit("b", true)),
        ("17/2/unit/a.xml", junit("a", true)),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let dir = folder(&files);
    let report = json(&command(&["report", text(dir.path()), "--format", "json"]));
    assert_eq!(report["input"]["runs"], 2, "run 17, attempts 1 and 2");
    assert_eq!(report["input"]["executions"], 3);
}

#[test]
fn many_files_without_a_run_are_one_line_on_standard_error() {
    let files: Vec<(String, String)> = (0..30).map(|n| (format!("{n}.xml"), junit("a", true))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let dir = folder(&files);
    let done = command(&["report", text(dir.path()), "--format", "json"]);
    assert_eq!(done.code, exit::OK);
    assert_eq!(done.err.lines().count(), 2, "{}", done.err);
    assert!(done.err.contains("and 29 more run-unknown"), "{}", done.err);
    let report = json(&done);
    assert_eq!(report["input"]["runs"], 30);
    assert_eq!(report["input"]["complaints"].as_array().map(Vec::len), Some(30));
    assert_eq!(command(&["report", text(dir.path()), "-q"]).err, "");
}

#[test]
fn files_of_this_ci_run_are_one_run() {
    let dir = folder(&[("1.xml", &junit("a", true)), ("2.xml", &junit("b", true))]);
    let in_ci = |args: &[&str]| {
        command_in(args, |io| {
            for (name, value) in [("GITHUB_ACTIONS", "true"), ("GITHUB_RUN_ID", "17")] {
                io.env.insert(name.to_owned(), value.to_owned());
            }
        })
    };
    let path = text(dir.path());
    assert_eq!(json(&in_ci(&["report", path, "--format", "json", "--ci-run"]))["input"]["runs"], 1);
    assert_eq!(
        json(&in_ci(&["report", path, "--format", "json"]))["input"]["runs"],
        2,
        "only where it is said"
    );
    assert_eq!(command(&["report", path, "--ci-run"]).code, exit::USAGE, "outside CI");
}

#[test]
fn nothing_counted_and_too_much_lost_are_degraded() {
    let good = junit("a", true);
    let dir = folder(&[("good.xml", &good), ("foreign.txt", "nothing\n")]);
    let path = text(dir.path());
    let done = command(&["report", path]);
    assert_eq!(done.code, exit::DEGRADED, "one of two files is lost");
    assert!(done.err.contains("50.0 %"), "{}", done.err);
    assert!(!done.out.is_empty(), "the report is printed all the same");
    assert_eq!(command(&["report", path, "--floor", "50"]).code, exit::OK);
    assert_eq!(command(&["report", path, "--floor", "49.9%"]).code, exit::DEGRADED);
    assert_eq!(command(&["report", path, "--floor", "50", "--test", "other"]).code, exit::DEGRADED);
    assert_eq!(
        command(&["report", text(&dir.path().join("foreign.txt")), "--floor", "100"]).code,
        exit::DEGRADED
    );
    assert_eq!(command(&["report", text(&dir.path().join("*.trx")), "--floor", "100"]).code, exit::DEGRADED);
}

#[test]
fn a_truncated_file_counts_as_damaged_and_what_it_holds_counts() {
    let whole = junit("a", true);
    let cut = whole.replace("</testsuite></testsuites>", "<testcase name=\"b\"");
    let dir = folder(&[("cut.xml", &cut)]);
    let done = command(&["report", text(dir.path()), "--format", "json"]);
    assert_eq!(done.code, exit::DEGRADED);
    assert_eq!(json(&done)["tests"][0]["executed"], 1);
    let codes: Vec<Value> = json(&done)["input"]["complaints"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|c| c["code"].clone())
        .collect();
    assert_eq!(codes, ["truncated", "run-unknown"]);
}

#[test]
fn a_damaged_archive_is_one_complaint_about_the_member() {
    let mut builder = tar::Builder::new(Vec::new());
    let long = junit(&"a".repeat(300_000), true);
    for (name, text) in [("1.xml", junit("a", true)), ("2.xml", long)] {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        builder.append_data(&mut header, name, text.as_bytes()).expect("a member");
    }
    let bytes = builder.into_inner().expect("a tar");
    let dir = folder(&[]);
    std::fs::write(dir.path().join("logs.tar"), &bytes[..200_000]).expect("a file");
    let done = command(&["inspect", text(dir.path()), "--format", "json"]);
    let seen = json(&done);
    assert_eq!(seen["files"][0]["complaints"], Value::Array(vec![]));
    assert_eq!(seen["files"][1]["complaints"].as_array().map(Vec::len), Some(1), "{}", seen["files"][1]);
    assert_eq!(seen["files"][1]["complaints"][0]["code"], "damaged-archive");
}

#[test]
fn out_writes_all_three_and_standard_output_stays_the_chosen_one() {
    let dir = folder(&[("1/1/unit/a.xml", &junit("a", true))]);
    let out = dir.path().join("made/here");
    let done = command(&["report", text(dir.path()), "--format", "json", "--out", text(&out)]);
    assert_eq!(done.code, exit::OK);
    for name in ["report.json", "report.md", "report.txt"] {
        assert!(std::fs::read_to_string(out.join(name)).is_ok_and(|text| !text.is_empty()), "{name}");
    }
    assert_eq!(json(&done)["schema"], "fate-report/1");
    let file = dir.path().join("1/1/unit/a.xml");
    let done = command(&["report", text(dir.path()), "--out", text(&file)]);
    assert_eq!(done.code, exit::USAGE, "a file is no folder");
}

#[test]
fn hostile_names_reach_no_terminal() {
    let dir =
        folder(&[("a\u{1b}]0;owned\u{7}.txt", "nothing\n"), ("b\u{202e}.xml", &junit("\u{9b}31m", false))]);
    let path = text(dir.path());
    for args in [&["inspect", path][..], &["report", path], &["report", path, "--format", "markdown"]] {
        let done = command(args);
        for c in done.out.chars().chain(done.err.chars()) {
            assert!(c == '\n' || !fate_trail::scrub::is_hazard(c), "{c:?} in {args:?}");
        }
    }
}

#[test]
fn colour_is_decided_by_flag_then_environment_then_terminal() {
    let color = |flag: &str, terminal: bool, env: &[(&str, &str)]| {
        let mut seen = false;
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut io = Io::new(&mut out, &mut err);
        io.out_is_terminal = terminal;
        io.env = env.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        run(["a", "--color", flag, "inspect", "nowhere"].map(OsString::from), &mut io);
        seen |= io.color;
        seen
    };
    assert!(color("auto", true, &[]));
    assert!(!color("auto", false, &[]));
    assert!(!color("auto", true, &[("NO_COLOR", "1")]));
    assert!(color("auto", true, &[("NO_COLOR", "")]));
    assert!(color("always", false, &[("NO_COLOR", "1")]));
    assert!(!color("never", true, &[]));
}

/// A pipe whose reader has gone.
#[derive(Clone, Default)]
struct Closed(Rc<RefCell<usize>>);

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        *self.0.borrow_mut() += 1;
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let dir = folder(&[("1/1/unit/a.xml", &junit("a", true))]);
    for name in ["inspect", "report"] {
        let mut err = Vec::new();
        let closed = Closed::default();
        let code = {
            let mut io = Io::new(closed.clone(), &mut err);
            run(["a", name, text(dir.path())].map(OsString::from), &mut io)
        };
        assert_eq!((code, String::from_utf8_lossy(&err).as_ref()), (exit::OK, ""), "{name}");
        assert!(*closed.0.borrow() > 0);
    }
}

#[test]
fn a_naive_time_is_complained_of_only_where_it_is_used() {
    let report = junit("a", true).replace("name=\"Shop\"", "name=\"Shop\" timestamp=\"2026-09-01T10:00:00\"");
    let alone = folder(&[("run/x.xml", &report)]);
    assert!(command(&["report", text(alone.path())]).err.contains("naive-time"));
    let manifest = r#"{"path":"run/**","run_id":"17","started_at":"2026-09-01T09:59:00Z"}"#;
    let known = folder(&[("run/x.xml", &report), ("runs.ndjson", manifest)]);
    assert_eq!(command(&["report", text(known.path())]).err, "");
}
