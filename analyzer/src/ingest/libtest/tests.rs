//! Small logs of our own: the harness with and without capture, alive and dead.

use super::*;
use crate::ingest::FileReport;
use crate::ingest::console::testing::{counted, read, rows};

fn report(text: &str) -> FileReport {
    read(&mut Libtest::default(), text)
}

const HEADER: &str = "     Running unittests src/lib.rs (target/debug/deps/fate_hub-0123456789abcdef)\n\n";

#[test]
fn binaries_are_told_apart_and_summed() {
    let text = format!(
        "{HEADER}running 3 tests\ntest a::fifo ... FAILED\ntest a::lifo ... ignored, later\ntest a::ok ... ok\n\nfailures:\n\n---- a::fifo stdout ----\nsaid test x ... ok\n\nthread 'a::fifo' (9) panicked at src/a.rs:1:1:\nassertion `left == right` failed\n  left: [2, 1]\n right: [1, 2]\nnote: run with\n\n\nfailures:\n    a::fifo\n\ntest result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nerror: test failed, to rerun pass `--lib`\n   Doc-tests fate_hub\n\nrunning 1 test\ntest src/lib.rs - order (line 7) ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n\n"
    );
    let report = report(&text);
    assert_eq!(counted(&report), "4 = 2 + 1 failed + 0 errored + 1 skipped + 0 unknown");
    assert_eq!(
        rows(&report),
        [
            "failed fate_hub/a::fifo",
            "skipped fate_hub/a::lifo",
            "passed fate_hub/a::ok",
            "passed doc fate_hub/src/lib.rs - order (line 7)"
        ]
    );
    let failure = report.results[0].failure.as_deref().expect("text");
    assert_eq!(crate::order::recover(failure).and_then(|f| f.ranks), Some(vec![1, 0]));
    assert!(report.complaints.is_empty() && report.unlisted.is_empty());
    assert_eq!(report.evidence, Some(Evidence::E1));
}

#[test]
fn lines_glued_by_uncaptured_output() {
    let text = "running 5 tests\ntail without newlinetest t::a ... FAILED\ntest t::b ... hello\nmore\nok\ntest t::c ... half a lineok\ntest t::d ... \nthread 't::d' panicked at 'boom', x.rs:1\nFAILED\ntest t::e ... fine ok\n\nfailures:\n\nfailures:\n    t::a\n    t::d\n\ntest result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";
    let report = report(text);
    assert_eq!(
        rows(&report),
        ["failed /t::a", "passed /t::b", "passed /t::c", "failed /t::d", "passed /t::e"]
    );
    assert!(report.results[3].failure.as_deref().is_some_and(|text| text.contains("boom")));
}

#[test]
fn a_binary_that_dies_leaves_unknown_tests() {
    let text = format!(
        "{HEADER}running 4 tests\ntest a ... ok\ntest b ... FAILED\ntest c ... it ends with look\nerror: test failed, to rerun pass `--lib`\n\nCaused by:\n  process didn't exit successfully: `x` (signal: 6, SIGABRT: process abort signal)\n"
    );
    let report = report(&text);
    assert_eq!(counted(&report), "4 = 1 + 1 failed + 0 errored + 0 skipped + 2 unknown");
    assert_eq!(rows(&report), ["passed fate_hub/a", "failed fate_hub/b", "unknown fate_hub/c"]);
    assert_eq!((report.complaints[0].code, report.complaints[0].line), ("run-unfinished", 1));
}

#[test]
fn quiet_runs_list_failures_only() {
    let text = "\nrunning 5 tests\n..F.F\nfailures:\n\n---- a::b stdout ----\nx\n---- a::c stdout ----\ny\n\nfailures:\n    a::b\n    a::c\n\ntest result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let report = report(text);
    assert_eq!(rows(&report), ["failed /a::b", "failed /a::c"]);
    assert_eq!(report.unlisted[0].passed, 3);
    assert_eq!(report.evidence, Some(Evidence::E2));
}

#[test]
fn a_test_that_runs_tests_is_one_test() {
    let text = "running 1 test\ntest runs ... FAILED\n\nfailures:\n\n---- runs stdout ----\nrunning 2 tests\ntest inner ... ok\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\nthread 'runs' panicked at x.rs:1:1:\nno\n\n\nfailures:\n    runs\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
    let report = report(text);
    assert_eq!(rows(&report), ["failed /runs"]);
    assert_eq!(counted(&report), "1 = 0 + 1 failed + 0 errored + 0 skipped + 0 unknown");
}

#[test]
fn excerpts_determine_only_what_they_show() {
    for (text, counts) in [
        (
            "---- a::b stdout ----\nthread 'a::b' panicked at x.rs:1:1:\nno\n\n\nfailures:\n    a::b\n",
            "? = ? + 1 failed + ? errored + ? skipped + ? unknown",
        ),
        (
            "thread 'a::b' panicked at x.rs:1:1:\nno\nthread 'a::c' panicked at x.rs:2:1:\nno\n",
            "? = ? + 2 failed + ? errored + ? skipped + ? unknown",
        ),
        (
            "thread 'a::b' panicked at 'x', y.rs:1\nthread 'a::b' panicked at 'x', y.rs:1\n",
            "? = ? + ? failed + ? errored + ? skipped + ? unknown",
        ),
    ] {
        let report = report(text);
        assert_eq!(counted(&report), counts, "{text}");
        assert!(report.results.iter().all(|r| r.outcome == Outcome::Failed), "{text}");
    }
}

#[test]
fn panics_of_other_programs_are_not_ours() {
    for text in [
        "thread 'main' panicked at x.rs:1:1:\nno\n",
        "--- TRY 2 STDERR:  hub a::b ---\nthread 'a::b' panicked at x.rs:1:1:\nno\n",
        "---- stdout ----\nx\n---- end stdout ----\n",
        "test two words ... ok\nfailures:\n    x\n",
    ] {
        assert!(!report(text).recognised(), "{text}");
    }
}

#[test]
fn times_and_manners() {
    let text = "running 2 tests\ntest a - should panic ... ok <0.500s>\ntest b ... bench:       5 ns/iter (+/- 1)\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 1 measured; 7 filtered out; finished in 0.00s\n";
    let report = report(text);
    assert_eq!(rows(&report), ["passed /a", "passed /b"]);
    assert_eq!(report.results[0].seconds, Some(0.5));
    assert_eq!(counted(&report), "2 = 2 + 0 failed + 0 errored + 0 skipped + 0 unknown");
}

#[test]
fn behind_a_list_that_breaks_off_indented_lines_are_no_tests() {
    let list = "---- a::fifo stdout ----\nthread 'a::fifo' panicked at src/a.rs:1:1:\nno\n\nfailures:\n    a::fifo\n    quiet\n";
    for after in ["\n    Warnings\n", "Build succeeded.\n    a::other\n", "    0 Error(s)\n    a::other\n"] {
        let report = report(&format!("{list}{after}"));
        assert_eq!(rows(&report), ["failed /a::fifo", "failed /quiet"], "{after}");
    }
}
