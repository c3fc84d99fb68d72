//! Small logs of our own in every shape the runners have had.

use super::*;
use crate::ingest::FileReport;
use crate::ingest::console::testing::{counted, read, rows};
use crate::model::Evidence;

fn report(text: &str) -> FileReport {
    read(&mut Vstest::default(), text)
}

const START: &str = "Test run for C:\\w\\bin\\Orders.Tests.dll (.NETCoreApp,Version=v8.0)\nVSTest version 17.11.1 (x64)\n\nStarting test execution, please wait...\nA total of 1 test files matched the specified pattern.\n";

#[test]
fn a_failure_reported_twice_counts_once() {
    let text = format!(
        "{START}[xUnit.net 00:00:01.42]     Orders.Tests.Fifo.Order [FAIL]\n[xUnit.net 00:00:01.42]       Assert.Equal() Failure: Collections differ\n  Failed Orders.Tests.Fifo.Order [45 ms]\n  Error Message:\n   Assert.Equal() Failure: Collections differ\n           ↓ (pos 0)\nExpected: [\"A\", \"B\", \"C\"]\nActual:   [\"B\", \"C\", \"A\"]\n           ↑ (pos 0)\n  Stack Trace:\n     at Orders.Tests.Fifo.Order() in x.cs:line 9\n  Standard Output Messages:\n Processing order: A, B\n\n  Skipped Orders.Tests.Fifo.Later [1 ms]\n\nFailed!  - Failed:     1, Passed:     7, Skipped:     1, Total:     9, Duration: 1 s - Orders.Tests.dll (net8.0)\n"
    );
    let report = report(&text);
    assert_eq!(counted(&report), "9 = 7 + 1 failed + 0 errored + 1 skipped + 0 unknown");
    assert_eq!(
        rows(&report),
        ["failed Orders.Tests/Orders.Tests.Fifo.Order", "skipped Orders.Tests/Orders.Tests.Fifo.Later"]
    );
    assert_eq!((report.unlisted[0].suite.as_str(), report.unlisted[0].passed), ("Orders.Tests", 7));
    assert_eq!(report.evidence, Some(Evidence::E2));
    let failure = report.results[0].failure.as_deref().expect("text");
    assert!(failure.starts_with("Assert.Equal() Failure") && failure.contains("     at Orders"));
    assert!(!failure.contains("Processing"));
    assert_eq!(crate::order::recover(failure).and_then(|f| f.ranks), Some(vec![1, 2, 0]));
    assert_eq!(report.results[0].seconds, Some(0.045));
}

#[test]
fn every_summary_shape_gives_the_same_counts() {
    for summary in [
        "Failed!  - Failed:     1, Passed:     2, Skipped:     3, Total:     6, Duration: 3 ms - Orders.Tests.dll (net8.0)",
        "Total tests: 6. Passed: 2. Failed: 1. Skipped: 3.\nTest Run Failed.\nTest execution time: 1.2 Seconds",
        "Test Run Failed.\nTotal tests: 6\n     Passed: 2\n     Failed: 1\n    Skipped: 3\n Total time: 1.2 Seconds",
    ] {
        let report = report(&format!("{START}{summary}\n"));
        assert_eq!(counted(&report), "6 = 2 + 1 failed + 0 errored + 3 skipped + 0 unknown", "{summary}");
        assert_eq!(report.unlisted.len(), 1, "{summary}");
        assert!(report.complaints.is_empty(), "{summary}");
    }
}

#[test]
fn listed_passes_are_evidence_of_the_tests_themselves() {
    for line in
        ["  Passed A.B [1 ms]", "  √ A.B [1ms]", "  V A.B [1ms]", "  \u{fffd} A.B [< 1ms]", "Passed   A.B"]
    {
        let report =
            report(&format!("{START}{line}\n\nTest Run Successful.\nTotal tests: 1\n     Passed: 1\n"));
        assert_eq!(rows(&report), ["passed Orders.Tests/A.B"], "{line}");
        assert_eq!(report.evidence, Some(Evidence::E1), "{line}");
        assert!(report.unlisted.is_empty(), "{line}");
    }
}

#[test]
fn old_blocks_without_durations() {
    let text = format!(
        "{START}Failed   Orders.Tests.Fifo.Order\nError Message:\n Assert.Fail failed.\nStack Trace:\n   at X\n\nTotal tests: 1. Passed: 0. Failed: 1. Skipped: 0.\n"
    );
    let report = report(&text);
    assert_eq!(rows(&report), ["failed Orders.Tests/Orders.Tests.Fifo.Order"]);
    assert!(report.results[0].failure.as_deref().is_some_and(|t| t.contains("Assert.Fail")));
}

#[test]
fn runs_of_several_assemblies_are_summed_and_told_apart() {
    let text = "Test run for /w/A.Tests.dll (.NETCoreApp,Version=v8.0)\nTest run for /w/B.Tests.dll (.NETCoreApp,Version=v8.0)\nStarting test execution, please wait...\nStarting test execution, please wait...\n  Failed B.Tests.X.Y [1 ms]\n  Error Message:\n   no\n  Failed A.Tests.X.Y [1 ms]\n  Error Message:\n   no\n  Failed Named freely [1 ms]\n  Error Message:\n   no\n\nFailed!  - Failed:     2, Passed:     1, Skipped:     0, Total:     3, Duration: 1 ms - B.Tests.dll (net8.0)\n\nFailed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5, Duration: 1 ms - A.Tests.dll (net8.0)\n";
    let report = report(text);
    assert_eq!(counted(&report), "8 = 5 + 3 failed + 0 errored + 0 skipped + 0 unknown");
    assert_eq!(
        rows(&report),
        ["failed B.Tests/B.Tests.X.Y", "failed A.Tests/A.Tests.X.Y", "failed /Named freely"]
    );
}

#[test]
fn a_crashed_host_leaves_unknown_tests_and_no_passes() {
    let text = format!(
        "{START}  Passed A.First [1 ms]\nThe active test run was aborted. Reason: Test host process crashed\nThe test running when the crash occurred: \nOrders.Tests.Fifo.Hangs\n\nThis test may, or may not be the source of the crash.\n\nTest Run Aborted.\nTotal tests: Unknown\n     Passed: 1\n Total time: 2 Seconds\n"
    );
    let report = report(&text);
    assert_eq!(
        rows(&report),
        ["passed Orders.Tests/A.First", "unknown Orders.Tests/Orders.Tests.Fifo.Hangs"]
    );
    assert_eq!(counted(&report), "? = 1 + 0 failed + 0 errored + 0 skipped + ? unknown");
}

#[test]
fn a_killed_run_has_no_passes() {
    let text = format!("{START}  Failed A.B [1 ms]\n  Error Message:\n   no\n");
    let report = report(&text);
    assert_eq!(counted(&report), "? = ? + 1 failed + ? errored + ? skipped + ? unknown");
    assert_eq!(report.complaints[0].code, "run-unfinished");
}

#[test]
fn a_failure_that_only_the_adapter_reported_is_kept() {
    let text = format!(
        "{START}[xUnit.net 00:00:01.42]     A.B [FAIL]\n[xUnit.net 00:00:01.42]       Assert.Equal() Failure: Collections differ\n[xUnit.net 00:00:01.42]       Expected: [1, 2]\n[xUnit.net 00:00:01.42]       Actual:   [2, 1]\n[xUnit.net 00:00:01.43]     A.C [SKIP]\n\nTest Run Failed.\nTotal tests: 2\n     Failed: 1\n    Skipped: 1\n"
    );
    let report = report(&text);
    assert_eq!(rows(&report), ["failed Orders.Tests/A.B", "skipped Orders.Tests/A.C"]);
    let failure = report.results[0].failure.as_deref().expect("text");
    assert_eq!(crate::order::recover(failure).and_then(|f| f.ranks), Some(vec![1, 0]));
}

#[test]
fn the_same_test_failing_twice_is_two_tries() {
    let block = "[xUnit.net 00:00:01.42]     A.B [FAIL]\n  Failed A.B [1 ms]\n  Error Message:\n   no\n";
    let report =
        report(&format!("{START}{block}{block}\nTotal tests: 2. Passed: 0. Failed: 2. Skipped: 0.\n"));
    let tries: Vec<u32> = report.results.iter().map(|r| r.try_number).collect();
    assert_eq!(tries, [1, 2]);
}

#[test]
fn an_assembly_without_tests_is_no_unfinished_run() {
    let text = format!(
        "{START}No test is available in C:\\w\\bin\\Orders.Tests.dll. Make sure that test discoverer & executors are registered.\n"
    );
    let report = report(&text);
    assert!(report.complaints.is_empty() && report.recognised());
    assert_eq!(counted(&report), "0 = 0 + 0 failed + 0 errored + 0 skipped + 0 unknown");
}

#[test]
fn an_assembly_that_does_not_load_is_a_failure_named_by_it() {
    let text = format!(
        "{START}Failed to load the test assembly C:\\w\\bin\\Orders.Tests.dll\n  Failed C:\\w\\bin\\Orders.Tests.dll\n  Error Message:\n   no such file\n\nFailed!  - Failed:     1, Passed:     0, Skipped:     0, Total:     1, Duration: < 1 ms - Orders.Tests.dll (net8.0)\n"
    );
    let report = report(&text);
    assert_eq!(rows(&report), ["failed Orders.Tests/Orders.Tests"]);
    assert_eq!(counted(&report), "1 = 0 + 1 failed + 0 errored + 0 skipped + 0 unknown");
}

#[test]
fn the_testing_platform() {
    let text = "Running tests from bin/Debug/net8.0/Orders.Tests.dll (net8.0|x64)\nfailed Orders.Tests.Fifo.Order (43ms)\n  Assert.Equal() Failure: Collections differ\n  Expected: [1, 2]\n  Actual:   [2, 1]\n    at X\nskipped Orders.Tests.Later (0ms)\n\nTest run summary: Failed! - bin/Debug/net8.0/Orders.Tests.dll (net8.0|x64)\n  total: 4\n  failed: 1\n  succeeded: 2\n  skipped: 1\n  duration: 301ms\n";
    let report = report(text);
    assert_eq!(counted(&report), "4 = 2 + 1 failed + 0 errored + 1 skipped + 0 unknown");
    assert_eq!(
        rows(&report),
        ["failed Orders.Tests/Orders.Tests.Fifo.Order", "skipped Orders.Tests/Orders.Tests.Later"]
    );
    let failure = report.results[0].failure.as_deref().expect("text");
    assert_eq!(crate::order::recover(failure).and_then(|f| f.ranks), Some(vec![1, 0]));
}

#[test]
fn the_terminal_logger_of_msbuild() {
    let text = "  Orders.Tests test failed with 1 error(s) (1.2s)\n    /w/Fifo.cs(9): error TESTERROR: \n      Orders.Tests.Fifo.Order (45ms): Error Message: Assert.Equal() Failure: Collections differ\n      Expected: [1, 2]\n      Actual:   [2, 1]\n      Stack Trace:\n         at X\n    /w/Fifo.cs(10): error TESTERROR: Orders.Tests.Fifo.Other (1ms): Error Message: no\n\nTest summary: total: 4, failed: 2, succeeded: 1, skipped: 1, duration: 1.2s\n";
    let report = report(text);
    assert_eq!(counted(&report), "4 = 1 + 2 failed + 0 errored + 1 skipped + 0 unknown");
    assert_eq!(rows(&report), ["failed /Orders.Tests.Fifo.Order", "failed /Orders.Tests.Fifo.Other"]);
    assert_eq!(report.results[0].order.as_ref().and_then(|f| f.ranks.clone()), Some(vec![1, 0]));
}

#[test]
fn other_output_is_not_ours() {
    for text in [
        "failed to fetch (30s)\nFailed   \n  Failed to connect\n  X marks [the spot]\n",
        "Passed! - all good\nTotal tests: many\n  Passed on [1 ms]\n",
        "  Failed something odd [12 ms]x\n",
    ] {
        let report = report(text);
        assert!(!report.recognised() && report.results.is_empty(), "{text}: {report:?}");
    }
}
