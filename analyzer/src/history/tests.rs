//! Histories from small tables: one line a result, so that a case reads as what CI reported.

use super::*;
use crate::ingest::{FileReport, Format, Section, Wrapper};
use crate::model::{Evidence, Flags, RunKey, TestResult, Unlisted};
use crate::order::{OrderClass, Side};

/// `A,B,C>B,C,A` as a finding with labelled sides; `!` before it makes it inexact.
pub(crate) fn finding(text: &str) -> OrderFinding {
    let exact = !text.starts_with('!');
    let (expected, observed) = text.trim_start_matches('!').split_once('>').expect("expected>observed");
    let list = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
    let (expected, observed) = (list(expected), list(observed));
    let ranks: Option<Vec<u32>> =
        observed.iter().map(|name| expected.iter().position(|one| one == name).map(|at| at as u32)).collect();
    let kind = if ranks.is_some() { OrderKind::Permutation } else { OrderKind::LostOrExtra };
    let (class, side) = (OrderClass::Full, Side::Label);
    OrderFinding { kind, expected, observed, ranks, class, exact, ambiguous: false, side, split: None }
}

/// A result of `suite/test` (split at the first slash).
pub(crate) fn result(name: &str, outcome: Outcome, try_number: u32, order: Option<&str>) -> TestResult {
    let (suite, test) = name.split_once('/').expect("suite/test");
    TestResult {
        id: TestId { suite: suite.into(), test: test.into() },
        outcome,
        evidence: Evidence::E1,
        try_number,
        seconds: None,
        started_at: None,
        line: 1,
        failure: outcome.not_passed().then(|| "Expected order".to_owned()),
        order: order.map(finding),
        flags: Flags::default(),
    }
}

/// Builds from lines `run[/job] file outcome[#try] suite/test [order]`; a line `run file total suite passed`
/// adds a suite total. A file named `*.log` is a `dotnet test` console.
fn build(table: &str) -> Histories {
    let mut files: Vec<(String, FileReport)> = Vec::new();
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let path = format!("{}/{}", words[0], words[1]);
        let at = files.iter().position(|(_, file)| file.path == path).unwrap_or_else(|| {
            let format = if words[1].ends_with(".log") { Format::VstestConsole } else { Format::Trx };
            let sections = vec![Section { format, dialect: None, wrapper: Wrapper::None }];
            files.push((words[0].to_owned(), FileReport { path, sections, ..FileReport::default() }));
            files.len() - 1
        });
        if words[2] == "total" {
            let total =
                Unlisted { suite: words[3].trim_matches('-').into(), passed: words[4].parse().unwrap() };
            files[at].1.unlisted.push(total);
            continue;
        }
        let (outcome, try_number) = words[2].split_once('#').unwrap_or((words[2], "1"));
        let outcome = match outcome {
            "pass" => Outcome::Passed,
            "fail" => Outcome::Failed,
            "error" => Outcome::Errored,
            "skip" => Outcome::Skipped,
            _ => Outcome::Unknown,
        };
        files[at].1.results.push(result(
            words[3],
            outcome,
            try_number.parse().unwrap(),
            words.get(4).copied(),
        ));
    }
    let mut builder = Builder::new();
    for (run, file) in &files {
        let (run_id, job) = run.split_once('/').unwrap_or((run, ""));
        let key = RunKey { run_id: run_id.into(), attempt: 1, job: job.into(), shard: String::new() };
        builder.add(file, &RunMeta { key, ..RunMeta::default() });
    }
    builder.finish(None)
}

/// `suite/test executed failed flaky skipped unknown | kinds | E2` of every test.
fn counts(histories: &Histories) -> Vec<String> {
    let one = |test: &History| {
        let (t, f) = (test.totals(), test.failure_counts());
        assert_eq!(t.executed + t.skipped + t.unknown, test.executions.len() as u64);
        assert_eq!(f.order + f.order_suspected + f.lost_or_extra + f.other, t.failed);
        format!(
            "{}/{} {} {} {} {} {} | {} {} {} {} | {}",
            test.id.suite,
            test.id.test,
            t.executed,
            t.failed,
            t.flaky,
            t.skipped,
            t.unknown,
            f.order,
            f.order_suspected,
            f.lost_or_extra,
            f.other,
            test.e2
        )
    };
    histories.tests.iter().map(one).collect()
}

#[track_caller]
fn check(table: &str, expected: &[&str]) -> Histories {
    let histories = build(table);
    assert_eq!(counts(&histories), expected, "{table}");
    histories
}

#[test]
fn an_execution_counts_once_however_many_tries_it_took() {
    check(
        "1 a.trx fail#1 S/T
         1 a.trx pass#2 S/T
         2 a.trx pass S/T
         3 a.trx skip S/T
         4 a.trx what S/T
         5 a.trx pass#1 S/T
         5 a.trx error#2 S/T",
        &["S/T 3 2 1 1 1 | 0 0 0 2 | 0"],
    );
}

#[test]
fn the_same_try_in_several_files_is_one() {
    let histories = check(
        "1 run.log fail S/T A,B,C>B,C,A
         1 a.trx fail S/T A,B,C>B,C,A
         1 b.xml error S/T
         2 run.log what S/T
         2 a.trx pass S/T",
        &["S/T 2 1 0 0 0 | 1 0 0 0 | 0"],
    );
    assert_eq!(histories.rows.len(), 2);
    assert_eq!(histories.tests[0].failures.len(), 1);
    let outcomes: Vec<Outcome> = histories.rows().map(|row| row.outcome).collect();
    assert_eq!(outcomes, [Outcome::Errored, Outcome::Passed]);
    assert_eq!(histories.rows().next().unwrap().file, "1/run.log", "the first file that shows most is named");
}

#[test]
fn contradicting_reports_of_one_try_stay_apart_but_count_once() {
    let histories = check(
        "1 a.trx fail S/T A,B,C>B,C,A
         1 b.trx fail S/T A,B,C>C,A,B
         1 c.trx pass S/T",
        &["S/T 1 1 0 0 0 | 1 0 0 0 | 0"],
    );
    assert_eq!((histories.rows.len(), histories.tests[0].failures.len()), (3, 2));
}

#[test]
fn tries_that_saw_the_same_order_are_one_failure() {
    let histories = check(
        "1 a.trx fail#1 S/T A,B,C>B,C,A
         1 a.trx fail#2 S/T X,Y,Z>Y,Z,X
         1 a.trx fail#3 S/T A,B,C>C,A,B",
        &["S/T 1 1 0 0 0 | 1 0 0 0 | 0"],
    );
    let ranks: Vec<_> =
        histories.tests[0].failures.iter().map(|f| f.finding.as_ref().unwrap().ranks.clone()).collect();
    assert_eq!(ranks, [Some(vec![1, 2, 0]), Some(vec![2, 0, 1])]);
}

#[test]
fn an_unnamed_suite_is_any_suite() {
    check(
        "1 run.log pass /Ns.C.T
         1 a.trx pass S/Ns.C.T
         2 run.log fail /Ns.C.T",
        &["S/Ns.C.T 2 1 0 0 0 | 0 0 0 1 | 0"],
    );
    // Two suites have the test: a run's own reports decide, by outcome where they can.
    check(
        "1 run.log pass /T
         1 run.log fail /T
         1 a.trx pass S1/T
         1 b.trx fail S2/T
         2 run.log pass /T",
        &["/T 1 0 0 0 0 | 0 0 0 0 | 0", "S1/T 1 0 0 0 0 | 0 0 0 0 | 0", "S2/T 1 1 0 0 0 | 0 0 0 1 | 0"],
    );
}

#[test]
fn a_method_name_of_a_console_is_the_qualified_test() {
    check(
        "1 run.log fail S/Keeps(1.5)
         1 a.trx fail S/Ns.C.Keeps(1.5)
         2 run.log pass S/Keeps(1.5)",
        &["S/Ns.C.Keeps(1.5) 2 1 0 0 0 | 0 0 0 1 | 0"],
    );
    // Two classes have the method: nothing is guessed, unless the run has only one of them.
    check(
        "1 run.log pass S/Keeps
         1 a.trx pass S/A.Keeps
         1 a.trx pass S/B.Keeps
         2 run.log pass S/Keeps
         2 a.trx pass S/B.Keeps",
        &[
            "S/A.Keeps 1 0 0 0 0 | 0 0 0 0 | 0",
            "S/B.Keeps 2 0 0 0 0 | 0 0 0 0 | 0",
            "S/Keeps 1 0 0 0 0 | 0 0 0 0 | 0",
        ],
    );
    // One file that reports both has two tests; so has a format that always prints the class.
    for file in ["run.log", "a.trx"] {
        let table = format!("1 {file} pass S/Keeps\n1 {file} pass S/A.Keeps\n1 b.trx pass S/A.Keeps");
        assert_eq!(build(&table).tests.len(), 2, "{table}");
    }
}

#[test]
fn a_suite_total_is_evidence_for_the_tests_it_does_not_list() {
    // A console that lists no passes: nobody says in which runs the test passed.
    check(
        "1 run.log fail S/T
         2 run.log total S 20
         4 run.log total Other 20
         5 run.log skip S/T
         5 run.log total S 20",
        &["S/T 1 1 0 1 0 | 0 0 0 1 | 1"],
    );
    // A results file beside it lists what the total counts.
    check(
        "1 run.log total S 2
         1 a.trx pass S/A
         1 a.trx pass S/B
         2 run.log fail S/A
         2 a.trx fail S/A",
        &["S/A 2 1 0 0 0 | 0 0 0 1 | 0", "S/B 1 0 0 0 0 | 0 0 0 0 | 0"],
    );
}

#[test]
fn a_total_without_a_name_counts_only_for_tests_that_such_output_hides() {
    // The failing run shows that the unnamed totals of this console are about the test.
    check(
        "1 run.log fail S/T
         1 run.log total - 19
         2 run.log total - 20",
        &["S/T 1 1 0 0 0 | 0 0 0 1 | 1"],
    );
    // Another tool's total in a run without the test says nothing about the test; nor does one in a
    // file that lists the passes of the test's suite.
    check(
        "1 a.trx fail S/T
         2 other.log total - 20
         3 run.log fail S/T
         3 run.log pass S/U
         3 run.log total - 20",
        &["S/T 2 2 0 0 0 | 0 0 0 2 | 0", "S/U 1 0 0 0 0 | 0 0 0 0 | 0"],
    );
}

#[test]
fn runs_are_sorted_by_start_then_name_and_the_unknown_last() {
    let mut builder = Builder::new();
    for (id, start) in
        [("r10", None), ("r9", None), ("z", Some(10)), ("b", Some(20)), ("a10", Some(20)), ("a9", Some(20))]
    {
        let mut file = FileReport { path: id.into(), ..FileReport::default() };
        file.results.push(result("S/T", Outcome::Passed, 1, None));
        let started_at = start.map(|second| jiff::Timestamp::from_second(second).unwrap());
        let key = RunKey { run_id: id.into(), attempt: 1, ..RunKey::default() };
        builder.add(&file, &RunMeta { key, started_at, ..RunMeta::default() });
    }
    let histories = builder.finish(None);
    let order: Vec<&str> = histories.runs.iter().map(|run| run.key.run_id.as_str()).collect();
    assert_eq!(order, ["z", "a9", "a10", "b", "r9", "r10"]);
    let runs: Vec<u32> = histories.tests[0].executions.iter().map(|execution| execution.run).collect();
    assert_eq!(runs, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn what_files_know_of_one_run_is_put_together() {
    let mut builder = Builder::new();
    for (second, commit) in [(20, None), (10, Some("c1")), (30, Some("c2"))] {
        let mut file = FileReport { path: format!("{second}"), ..FileReport::default() };
        file.results.push(result("S/T", Outcome::Passed, 1, None));
        let mut meta =
            RunMeta { started_at: Some(jiff::Timestamp::from_second(second).unwrap()), ..RunMeta::default() };
        (meta.key.attempt, meta.commit) = (1, commit.map(str::to_owned));
        builder.add(&file, &meta);
    }
    let histories = builder.finish(None);
    assert_eq!(histories.runs.len(), 1);
    assert_eq!(histories.runs[0].started_at.unwrap().as_second(), 10);
    assert_eq!(histories.runs[0].commit.as_deref(), Some("c1"));
    assert_eq!((histories.distinct_runs(), histories.executions()), (1, 1));
}

#[test]
fn the_filter_takes_rows_with_their_tests_but_not_what_explains_a_total() {
    let table = "1 run.log total S 2\n1 a.trx pass S/A\n1 a.trx pass S/B\n2 run.log pass S/B";
    let mut builder = Builder::new();
    let all = build(table);
    assert_eq!(all.tests.len(), 2);
    for (run, path, results, totals) in
        [("1", "run.log", vec![], 2), ("1", "a.trx", vec!["S/A", "S/B"], 0), ("2", "run.log", vec!["S/B"], 0)]
    {
        let mut file = FileReport { path: path.into(), ..FileReport::default() };
        file.results = results.iter().map(|name| result(name, Outcome::Passed, 1, None)).collect();
        if totals > 0 {
            file.unlisted.push(Unlisted { suite: "S".into(), passed: totals });
        }
        builder.add(
            &file,
            &RunMeta { key: RunKey { run_id: run.into(), ..RunKey::default() }, ..RunMeta::default() },
        );
    }
    let histories = builder.finish(Some(&TestFilter::new("B").unwrap()));
    assert_eq!(counts(&histories), ["S/B 2 0 0 0 0 | 0 0 0 0 | 0"]);
    assert!(histories.rows().all(|row| row.id.test == "B"));
    assert_eq!(histories.rows.len(), 2);
}

#[test]
fn all_failures_of_a_test_decide_together_which_side_was_expected() {
    let mut builder = Builder::new();
    // The assertion prints the observed side on the right, which is where "expected" is assumed.
    for (run, left, right) in [("1", "A,B,C", "B,C,A"), ("2", "A,B,C", "C,A,B"), ("3", "A,B,C", "B,C,A")] {
        for file in ["a.trx", "b.xml"] {
            let assumed = OrderFinding { side: Side::Assumed, ..finding(&format!("{right}>{left}")) };
            let mut failed = result("S/T", Outcome::Failed, 1, None);
            failed.order = Some(assumed);
            let file =
                FileReport { path: format!("{run}/{file}"), results: vec![failed], ..FileReport::default() };
            let key = RunKey { run_id: run.into(), ..RunKey::default() };
            builder.add(&file, &RunMeta { key, ..RunMeta::default() });
        }
    }
    let histories = builder.finish(None);
    let decided: Vec<_> =
        histories.tests[0].failures.iter().map(|failure| failure.finding.clone().unwrap()).collect();
    assert_eq!(
        decided.iter().map(|f| f.ranks.clone().unwrap()).collect::<Vec<_>>(),
        [[1, 2, 0], [2, 0, 1], [1, 2, 0]]
    );
    assert!(
        decided
            .iter()
            .all(|finding| finding.side == Side::NeverVaries && finding.expected == ["A", "B", "C"])
    );
    assert!(histories.rows().all(|row| row.finding.unwrap().side == Side::NeverVaries));
}

/// One file with `count` results of one test under one run, made by `one`.
fn repeated(count: u32, one: impl Fn(u32) -> TestResult) -> Histories {
    let report = FileReport {
        path: "run/a.xml".into(),
        results: (0..count).map(one).collect(),
        ..FileReport::default()
    };
    let key = RunKey { run_id: "run".into(), attempt: 1, ..RunKey::default() };
    let mut builder = Builder::new();
    builder.add(&report, &RunMeta { key, ..RunMeta::default() });
    builder.finish(None)
}

/// Ten thousand times what a build without optimisation needs where work grows with the rows; far
/// less than it needs where each row looks at all others.
const REPEATED_SECONDS_MAX: u64 = 60;

#[test]
fn a_file_may_report_one_test_hundreds_of_thousands_of_times() {
    let start = std::time::Instant::now();
    let passes = repeated(300_000, |n| result("s/t", Outcome::Passed, n + 1, None));
    assert_eq!((passes.tests[0].totals().executed, passes.rows.len()), (1, 300_000));
    let orders = ["A,B,C>B,C,A", "A,B,C>B,A,C"];
    let failures = repeated(120_000, |n| result("s/t", Outcome::Failed, n + 1, Some(orders[n as usize % 2])));
    assert_eq!(failures.tests[0].failures.len(), 2, "one for each permutation");
    assert!(start.elapsed().as_secs() < REPEATED_SECONDS_MAX, "each row looks at all others");
}

#[test]
fn listed_passes_are_counted_once_beside_several_totals_of_their_suite() {
    // The console counts three passes and lists one; the results file lists all three, so T did not
    // run unseen.
    check(
        "1 run.log pass S/A
         1 run.log total S 1
         1 run.log total S 1
         1 a.trx pass S/A
         1 a.trx pass S/B
         1 a.trx pass S/C
         2 a.trx fail S/T",
        &[
            "S/A 1 0 0 0 0 | 0 0 0 0 | 0",
            "S/B 1 0 0 0 0 | 0 0 0 0 | 0",
            "S/C 1 0 0 0 0 | 0 0 0 0 | 0",
            "S/T 1 1 0 0 0 | 0 0 0 1 | 0",
        ],
    );
}

#[test]
fn a_log_of_thousands_of_nameless_tests_and_totals_stays_small() {
    const MANY: u32 = 3_000;
    let unlisted = |n: u32| Unlisted { suite: format!("S{}", n / 2), passed: 4 };
    let report = FileReport {
        path: "run.log".into(),
        results: (0..MANY).map(|n| result(&format!("/t{n}"), Outcome::Failed, 1, None)).collect(),
        unlisted: (0..MANY).map(unlisted).collect(),
        ..FileReport::default()
    };
    let packed = Packer::default().pack(&report);
    assert_eq!((packed.totals.len(), packed.hides.len()), (MANY as usize / 2, MANY as usize));
    let first = &packed.hides[0].totals;
    assert!(packed.hides.iter().all(|hidden| std::sync::Arc::ptr_eq(&hidden.totals, first)));
}
