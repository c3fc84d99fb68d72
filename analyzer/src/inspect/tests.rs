//! What `inspect` shows of files made for it.

use super::*;
use crate::ingest::{FileReport, Format, FoundTrail, Section, Wrapper};
use crate::model::{Complaint, Counts, Evidence, Flags, Outcome, RunMeta, TestId};
use crate::order::{OrderClass, OrderFinding, OrderKind, Side};

fn names(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn loaded() -> Loaded {
    let finding = OrderFinding {
        kind: OrderKind::Permutation,
        expected: names("A B C"),
        observed: names("B C A"),
        ranks: Some(vec![1, 2, 0]),
        class: OrderClass::Full,
        exact: true,
        ambiguous: false,
        side: Side::Label,
        split: None,
    };
    let result = TestResult {
        id: TestId { suite: "S".into(), test: "T.keeps\u{1b}[2J".into() },
        outcome: Outcome::Failed,
        evidence: Evidence::E1,
        try_number: 1,
        seconds: None,
        started_at: None,
        line: 7,
        failure: Some("…".into()),
        order: Some(finding),
        flags: Flags::default(),
    };
    let mut trail = fate_trail::Trail::new("d1");
    trail.stages.push(fate_trail::Stage::new("ENQUEUED", "orders/7"));
    let report = FileReport {
        path: "a.tar!x.log".into(),
        sections: vec![Section { format: Format::Junit, dialect: Some("pytest"), wrapper: Wrapper::Actions }],
        results: vec![result],
        counts: Counts {
            total: Some(1),
            failed: Some(1),
            passed: Some(0),
            errored: Some(0),
            skipped: None,
            ..Counts::default()
        },
        evidence: Some(Evidence::E1),
        trails: vec![FoundTrail { line: 9, trail }],
        complaints: vec![Complaint {
            path: "a.tar!x.log".into(),
            line: 3,
            code: "truncated",
            text: "t".into(),
        }],
        ..FileReport::default()
    };
    let file = File { report, packed: None, run: RunMeta::default(), damaged: true };
    Loaded { files: vec![file], complaints: Vec::new() }
}

#[test]
fn json_has_the_names_of_the_contract() {
    let mut out = Vec::new();
    json(&Inspection::of(&loaded()), &mut out).expect("written");
    let seen: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    let expected = serde_json::json!({
        "schema": "fate-inspect/1",
        "files": [{
            "path": "a.tar!x.log",
            "sections": [{"format": "junit", "dialect": "pytest", "wrapper": "actions"}],
            "total": 1, "passed": 0, "failed": 1, "errored": 0, "skipped": null, "unknown": null, "flaky": null,
            "evidence": "E1",
            "orders": [{"suite": "S", "test": "T.keeps\u{1b}[2J", "line": 7, "kind": "permutation",
                "expected": ["A", "B", "C"], "observed": ["B", "C", "A"], "ranks": [1, 2, 0],
                "class": "F", "exact": true, "ambiguous": false, "side": "label", "split": null}],
            "trails": [{"line": 9, "id": "d1", "stages": 1, "last": "ENQUEUED@orders/7"}],
            "complaints": [{"line": 3, "code": "truncated", "text": "t"}]
        }]
    });
    assert_eq!(seen, expected);
}

#[test]
fn text_says_the_same_to_a_person() {
    let mut out = Vec::new();
    text(&Inspection::of(&loaded()), &mut out).expect("written");
    let seen = String::from_utf8(out).expect("UTF-8");
    for part in [
        "a.tar!x.log\n",
        "format     junit (pytest) in actions lines\n",
        "1 tests: 0 passed, 1 failed, ? skipped",
        "(E1)",
        "at line 7",
        "permutation: observed B, C, A; expected A, B, C (class F, side label, ranks 1, 2, 0)",
        "d1 at line 9: 1 stages, last ENQUEUED@orders/7",
        "line 3: truncated: t",
    ] {
        assert!(seen.contains(part), "{part:?} in {seen}");
    }
    assert!(!seen.contains('\u{1b}'));
}
