//! The main job on the fixture: the numbers that the README promises, from logs alone.

use fate_tests::{golden, run};
use serde_json::Value;

const ANALYZER: &str = env!("CARGO_BIN_EXE_shim-analyzer");
const FIXTURE: &str = "fixtures/data/activation-backlog";
const BACKLOG: &str = "Plugins.Tests.Activation.ActivationBacklogFifoTest.BacklogRunsInArrivalOrder";

fn report(arguments: &[&str]) -> Value {
    let output = run(ANALYZER, &[&["-q", "report", FIXTURE, "--format", "json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("the report is JSON")
}

fn backlog(report: &Value) -> &Value {
    let tests = report["tests"].as_array().expect("tests");
    tests.iter().find(|test| test["test"] == BACKLOG).expect("the test of the story")
}

/// Numbers are compared as they would be printed with so many digits after the point.
#[track_caller]
fn close(value: &Value, expected: &str) {
    let digits = expected.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let number = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert_eq!(format!("{number:.digits$}"), expected);
}

#[test]
fn the_text_is_what_the_readme_shows() {
    let output = run(ANALYZER, &["-q", "report", FIXTURE]);
    golden("verdict.txt", &String::from_utf8_lossy(&output.stdout));
}

#[test]
fn the_story_is_found_in_its_logs() {
    let report = report(&[]);
    assert_eq!(report["schema"], "fate-report/1");
    // Every run of the manifest, also the ones whose build broke before any test.
    assert_eq!(report["input"]["runs"], 1_003);
    let test = backlog(&report);
    assert_eq!((&test["executed"], &test["failed"]), (&965.into(), &9.into()));
    assert_eq!(test["evidence"]["E1"], 965);
    close(&test["rate"]["value"], "0.00933");
    close(&test["rate"]["low"], "0.00491");
    close(&test["rate"]["high"], "0.01763");
    assert_eq!(test["failures"]["order"], 9);
    assert_eq!(test["fix"]["clean_runs_needed_95"], 320);
    assert_eq!(test["verdict"], "mixed");

    let windows = test["windows"].as_array().expect("windows");
    assert_eq!(windows.len(), 2);
    for (window, count, failed, distinct, verdict) in
        [(&windows[0], 628, 6, 1, "single-reorder-consistent"), (&windows[1], 337, 3, 2, "undecided")]
    {
        let bound = |name: &str| window[name].as_u64().expect("a count");
        assert!((bound("executed_low")..=bound("executed_high")).contains(&count), "{window}");
        assert_eq!((&window["failed"], &window["distinct"]), (&failed.into(), &distinct.into()));
        assert_eq!(window["verdict"], verdict);
    }
    assert_eq!(windows[0]["permutations"][0]["ranks"], serde_json::json!([1, 2, 0]));
    close(&windows[0]["posterior_single"], "0.778");
    close(&windows[0]["other_share_bound"], "0.393");
    assert_eq!(test["comparison"]["reading"], "not distinguishable");

    let change = &test["changepoints"][0];
    assert_eq!((&change["of"], &change["source"]), (&"permutation".into(), &"scan".into()));
    close(&change["p"], "0.0238");
    let switch = "2026-09-06T14:00:00Z";
    let time = |name: &str| change[name].as_str().expect("a time").to_owned();
    assert!(time("low").as_str() <= switch && switch <= time("high").as_str(), "{change}");
}

#[test]
fn a_given_time_makes_the_counts_exact() {
    let report = report(&["--split-at", "2026-09-06T14:00Z"]);
    let test = backlog(&report);
    let windows = test["windows"].as_array().expect("windows");
    let counts: Vec<_> = windows
        .iter()
        .map(|window| {
            assert_eq!(window["executed_low"], window["executed_high"], "the boundary is exact");
            (window["failed"].as_u64(), window["executed"].as_u64())
        })
        .collect();
    assert_eq!(counts, [(Some(6), Some(628)), (Some(3), Some(337))]);
    close(&test["comparison"]["ratio"], "0.96");
    close(&test["comparison"]["ratio_low"], "0.22");
    close(&test["comparison"]["ratio_high"], "3.47");
    close(&test["comparison"]["fisher_two_sided"], "1.00");
    let points = test["changepoints"].as_array().expect("change points");
    let by = |source: &str| points.iter().find(|point| point["source"] == source).expect("a change point");
    // 1/84, the exact p on the identities of 6 and 3 failures.
    close(&by("given")["p"], "0.011905");
    close(&by("scan")["p"], "0.0238");
}

/// The same run in a TRX file and in a log is one execution, and every format tells the same story.
#[test]
fn two_files_of_one_run_are_one_execution() {
    let report = report(&["--test", "*RouteTableTest*"]);
    let tests = report["tests"].as_array().expect("tests");
    assert_eq!(tests.len(), 1);
    assert_eq!(tests[0]["suite"], "Plugins.Tests");
    assert_eq!(tests[0]["executed"], 992);
}
