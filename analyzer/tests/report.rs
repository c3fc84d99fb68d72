//! Reports over made-up results, printed in all three forms and compared with `tests/golden`.
//! `FATE_BLESS=1 cargo test -p fate-analyzer --test report` writes the golden files anew.

use std::path::PathBuf;

use fate_analyzer::complaint;
use fate_analyzer::history::{Builder, Histories};
use fate_analyzer::ingest::{FileReport, Format, Section, Wrapper};
use fate_analyzer::model::{
    Complaint, Evidence, Flags, Outcome, RunKey, RunMeta, TestId, TestResult, Unlisted,
};
use fate_analyzer::order::{OrderClass, OrderFinding, OrderKind, Side};
use fate_analyzer::report::{Facts, Report, Style, assemble, json, markdown, text, write};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

/// A result of a test in suite `Plugins.Tests`.
fn result(test: &str, outcome: Outcome, order: Option<OrderFinding>) -> TestResult {
    TestResult {
        id: TestId { suite: "Plugins.Tests".into(), test: test.into() },
        outcome,
        evidence: Evidence::E1,
        try_number: 1,
        seconds: Some(0.012),
        started_at: None,
        line: 1,
        failure: outcome.not_passed().then(|| "Expected another order".to_owned()),
        order,
        flags: Flags::default(),
    }
}

/// What an assertion with labelled sides shows.
fn order(expected: &[&str], observed: &[&str]) -> OrderFinding {
    let own = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let ranks: Option<Vec<u32>> =
        observed.iter().map(|name| expected.iter().position(|one| one == name).map(|at| at as u32)).collect();
    OrderFinding {
        kind: if ranks.is_some() { OrderKind::Permutation } else { OrderKind::LostOrExtra },
        expected: own(expected),
        observed: own(observed),
        ranks,
        class: OrderClass::Full,
        exact: true,
        ambiguous: false,
        side: Side::Label,
        split: None,
    }
}

fn abc(observed: [&str; 3]) -> OrderFinding {
    order(&["A", "B", "C"], &observed)
}

/// Run number `index` of a job that runs every ten minutes.
fn run(index: usize) -> RunMeta {
    let first: Timestamp = "2026-09-02T06:00:00Z".parse().unwrap();
    RunMeta {
        key: RunKey {
            run_id: format!("{}", 5000 + index),
            attempt: 1,
            job: "unit".into(),
            shard: String::new(),
        },
        started_at: Some(first + SignedDuration::from_mins(10 * index as i64)),
        commit: Some(format!("{:08x}{:032x}", 0xabcd_0000_u64 + index as u64 / 5, 0)),
        branch: Some("main".into()),
        conclusion: None,
    }
}

fn file(path: &str, format: Format, results: Vec<TestResult>) -> FileReport {
    let sections = vec![Section { format, dialect: None, wrapper: Wrapper::None }];
    FileReport { path: path.into(), sections, results, ..FileReport::default() }
}

const BACKLOG: &str = "Plugins.Tests.ActivationBacklogFifoTest.BacklogRunsInArrivalOrder";

/// 965 executions and 9 failures: six `B, C, A` among the first 628, then `C, A, B` twice and
/// `B, A, C` once; twelve skipped runs; a neighbour that times out twice and eight that never fail.
fn backlog() -> Histories {
    let failures = [
        (40, ["B", "C", "A"]),
        (151, ["B", "C", "A"]),
        (260, ["B", "C", "A"]),
        (377, ["B", "C", "A"]),
        (512, ["B", "C", "A"]),
        (600, ["B", "C", "A"]),
        (671, ["C", "A", "B"]),
        (800, ["C", "A", "B"]),
        (944, ["B", "A", "C"]),
    ];
    let mut builder = Builder::new();
    for index in 0..977 {
        let mut results = Vec::new();
        if index % 81 == 80 {
            results.push(result(BACKLOG, Outcome::Skipped, None));
        } else {
            // Skipped runs do not count, so the story's positions are among the executed ones.
            let executed = index - index / 81;
            let seen = failures.iter().find(|(at, _)| *at == executed).map(|(_, seen)| abc(*seen));
            results.push(result(
                BACKLOG,
                if seen.is_some() { Outcome::Failed } else { Outcome::Passed },
                seen,
            ));
        }
        let slow = if index == 300 || index == 700 { Outcome::TimedOut } else { Outcome::Passed };
        results.push(result("Plugins.Tests.HeartbeatTest.KeepsTheSessionAlive", slow, None));
        for neighbour in 0..8 {
            results.push(result(
                &format!("Plugins.Tests.RouteTableTest.Case{neighbour}"),
                Outcome::Passed,
                None,
            ));
        }
        builder.add(&file(&format!("runs/{index}.trx"), Format::Trx, results), &run(index));
    }
    builder.finish(None)
}

fn backlog_facts() -> Facts {
    Facts { files: 977, unrecognised_files: 0, complaints: Vec::new() }
}

/// The start of the first run of the new window.
fn switch() -> Timestamp {
    run(628 + 628 / 80).started_at.unwrap()
}

/// Everything that is awkward: totals only, a partial order, lost elements, hostile names, runs
/// without times, a test that never ran.
fn awkward() -> Histories {
    let mut builder = Builder::new();
    for index in 0..30 {
        let mut console = file(&format!("{index}/log.txt"), Format::VstestConsole, Vec::new());
        console.unlisted.push(Unlisted { suite: "Plugins.Tests".into(), passed: 20 });
        if index % 10 == 3 {
            let seen = order(&["1", "2", "3"], &["2", "1", "3"]);
            console.results.push(result("Totals.Only", Outcome::Failed, Some(seen)));
        }
        builder.add(&console, &run(index));
    }
    for index in 0..40 {
        let hostile = "Hostile.\u{1b}[31mRed\u{202e}(x: \"a|b\", <img src=x>, `c`)";
        let mut results = vec![result("Never.Runs", Outcome::Skipped, None)];
        let seen = match index {
            5 | 25 => Some(order(&["first", "second\u{7}"], &["second\u{7}", "first"])),
            7 => Some(order(&["first", "second"], &["first", "third"])),
            9 => Some(OrderFinding {
                kind: OrderKind::Suspected,
                ranks: None,
                exact: false,
                class: OrderClass::First,
                ..order(&["first"], &["first"])
            }),
            _ => None,
        };
        results.push(result(hostile, if seen.is_some() { Outcome::Failed } else { Outcome::Passed }, seen));
        let long: Vec<String> = (0..40).map(|at| format!("msg-{at:02}")).collect();
        let long: Vec<&str> = long.iter().map(String::as_str).collect();
        let mut swapped = long.clone();
        swapped.swap(3, 30);
        let failed = index % 4 == 1;
        let seen = failed.then(|| order(&long, &swapped));
        results.push(result("Long.Sequence", if failed { Outcome::Failed } else { Outcome::Passed }, seen));
        for one in &mut results {
            one.id.suite = "Other.Tests".into();
        }
        let mut meta = run(index);
        (meta.started_at, meta.commit) = (None, None);
        meta.key.job = "other".into();
        builder.add(&file(&format!("{index}/other.trx"), Format::Trx, results), &meta);
    }
    builder.finish(None)
}

fn awkward_facts() -> Facts {
    let complaint =
        |path: &str, line, code, text: &str| Complaint { path: path.into(), line, code, text: text.into() };
    Facts {
        files: 72,
        unrecognised_files: 2,
        complaints: vec![
            complaint("a.bin", 0, "unrecognised", "no known format"),
            complaint("b\u{1b}[2J.trx", 17, "truncated", "the file ends inside an element"),
            complaint("c.bin", 0, "unrecognised", "no known format"),
        ],
    }
}

/// The golden file `name`, or the new content where blessing was asked for.
#[track_caller]
fn golden(name: &str, actual: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("FATE_BLESS").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    if expected != actual {
        let line = expected.lines().zip(actual.lines()).position(|(a, b)| a != b);
        let line = line.unwrap_or(expected.lines().count().min(actual.lines().count()));
        panic!(
            "{} differs at line {}:\n- {}\n+ {}\nFATE_BLESS=1 writes it anew",
            path.display(),
            line + 1,
            expected.lines().nth(line).unwrap_or("(end)"),
            actual.lines().nth(line).unwrap_or("(end)"),
        );
    }
}

/// All three forms against their golden files; nothing hazardous may stand in any of them.
#[track_caller]
fn golden_report(name: &str, report: &Report) {
    let forms = [
        ("txt", text::render(report, Style::default())),
        ("md", markdown::render(report)),
        ("json", json::render(report)),
    ];
    for (extension, text) in &forms {
        let hazard = text.chars().find(|&c| c != '\n' && fate_trail::scrub::is_hazard(c));
        assert_eq!(hazard, None, "{name}.{extension}");
        golden(&format!("{name}.{extension}"), text);
    }
}

#[track_caller]
fn contains_all(text: &str, parts: &[&str]) {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(joined.contains(part), "missing {part:?} in:\n{text}");
    }
}

#[test]
fn the_backlog_story_is_told_in_every_form() {
    let report = assemble(&backlog(), backlog_facts(), None);
    golden_report("backlog", &report);
    contains_all(
        &text::render(&report, Style::default()),
        &[
            "9 of 965",
            "0.93 % (0.49–1.76)",
            "about 1 in 107",
            "single-reorder-consistent",
            "undecided",
            "The permutation changed (p = 0.0238)",
            "not distinguishable, ratio 0.",
            "clean runs needed 320",
            "mixed",
            "6 × B, C, A",
            "2 × C, A, B",
            "1 × B, A, C",
        ],
    );
    let test = report.tests.iter().find(|test| test.test == BACKLOG).unwrap();
    let [old, new] = test.windows.as_slice() else { panic!("two windows, not {}", test.windows.len()) };
    assert_eq!(old.executed + new.executed, 965);
    assert!((old.executed_low..=old.executed_high).contains(&628), "{old:?}");
    assert!((new.executed_low..=new.executed_high).contains(&337), "{new:?}");
    let point = test.changepoints.iter().find(|point| point.of == "permutation").unwrap();
    let time = |text: &Option<String>| text.as_ref().unwrap().parse::<Timestamp>().unwrap();
    assert!((time(&point.low)..=time(&point.high)).contains(&switch()), "{point:?}");
}

#[test]
fn a_given_time_makes_the_counts_exact() {
    let report = assemble(&backlog(), backlog_facts(), Some(switch()));
    golden_report("backlog-split", &report);
    contains_all(
        &text::render(&report, Style::default()),
        &["628 runs, 6 failed", "337 runs, 3 failed", "p = 1/84", "not distinguishable, ratio 0.22–3.47"],
    );
}

#[test]
fn awkward_input_is_told_honestly_and_shown_safely() {
    let report = assemble(&awkward(), awkward_facts(), None);
    golden_report("awkward", &report);
    let test = |name: &str| report.tests.iter().find(|test| test.test == name).unwrap();
    let open = test("Totals.Only");
    assert_eq!((open.executed, open.failed, open.evidence.e2), (3, 3, 27));
    assert!(open.rate.is_none() && open.comparison.is_none() && open.fix.clean_runs_needed_95.is_none());
    let bracket = open.rate_bracket.as_ref().unwrap();
    assert_eq!((bracket.low, bracket.high), (0.1, 1.0));
    assert!(test("Never.Runs").windows.is_empty());
}

#[test]
fn nothing_is_said_about_nothing() {
    golden_report("empty", &assemble(&Histories::default(), Facts::default(), None));
}

#[test]
fn the_text_fits_its_terminal_and_colour_is_only_colour() {
    for report in [assemble(&backlog(), backlog_facts(), None), assemble(&awkward(), awkward_facts(), None)] {
        let wide = text::render(&report, Style { width: 120, colour: false });
        for columns in [40, 60, 80, 100, 120] {
            let text = text::render(&report, Style { width: columns, colour: false });
            // Table rows need what their numbers need; prose must fit. A single word may stick out.
            for line in text.lines().filter(|line| line.starts_with("  ") && line.contains(". ")) {
                assert!(line.chars().count() <= columns || columns < 80, "{columns}: {line}");
            }
        }
        let painted = text::render(&report, Style { width: 120, colour: true });
        assert!(painted.contains("\u{1b}["));
        let mut plain = String::new();
        let mut rest = painted.as_str();
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            plain.push_str(before);
            rest = &after[after.find('m').unwrap() + 1..];
        }
        assert_eq!(plain + rest, wide);
    }
}

#[test]
fn markdown_stays_under_its_limit_and_counts_what_it_leaves_out() {
    let mut builder = Builder::new();
    for index in 0..4 {
        let failing = |test: usize| {
            let name = format!("Some.Quite.Long.Namespace.Of.Tests.Class{test:04}.KeepsTheOrder|OfMessages");
            result(&name, Outcome::Failed, Some(abc(["B", "C", "A"])))
        };
        builder
            .add(&file(&format!("{index}.trx"), Format::Trx, (0..900).map(failing).collect()), &run(index));
    }
    let report = assemble(&builder.finish(None), Facts { files: 4, ..Facts::default() }, None);
    let text = markdown::render(&report);
    assert!(text.len() <= markdown::BYTES_MAX, "{} bytes", text.len());
    let listed = text.lines().filter(|line| line.starts_with("| Some")).count();
    let told = text.lines().filter(|line| line.starts_with("### Some")).count();
    assert!(listed > 100 && told > 10, "{listed} listed, {told} told");
    let stated = format!("{} lines of the table and {} sections", 900 - listed, 900 - told);
    assert!(text.contains(&stated), "{stated} in {}", text.lines().last().unwrap());
}

#[test]
fn markdown_keeps_room_for_complaints_of_every_kind() {
    let complaints: Vec<Complaint> = complaint::CODES
        .iter()
        .map(|known| Complaint { path: "x".into(), line: 0, code: known.code, text: "y".into() })
        .collect();
    // Names of different lengths, so that some document ends close to the limit.
    for length in (1..400).step_by(40) {
        let failing = |test: usize| {
            let name = format!("{}{test}", "C".repeat(length));
            result(&name, Outcome::Failed, Some(abc(["B", "C", "A"])))
        };
        let mut builder = Builder::new();
        builder.add(&file("a.trx", Format::Trx, (0..150).map(failing).collect()), &run(0));
        let facts = Facts { files: 1, complaints: complaints.clone(), ..Facts::default() };
        let text = markdown::render(&assemble(&builder.finish(None), facts, None));
        assert!(text.len() <= markdown::BYTES_MAX, "{} bytes", text.len());
        assert!(text.contains("\nComplaints: ") && text.contains("_Omitted"));
    }
}

#[test]
fn the_out_folder_holds_all_three() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("a/b");
    let report = assemble(&awkward(), awkward_facts(), None);
    let written = write::reports(&report, &out).unwrap();
    let names: Vec<_> = written.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["report.json", "report.md", "report.txt"]);
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 3);
    assert_eq!(std::fs::read_to_string(&written[0]).unwrap(), json::render(&report));
    let blocked = dir.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    assert!(write::reports(&report, &blocked).unwrap_err().starts_with("cannot write "));
}

/// The keys of the first object that stands at this depth, in their order.
fn keys(json: &str, depth: usize) -> Vec<&str> {
    let indent = " ".repeat(depth);
    json.lines()
        .skip_while(|line| !line.strip_prefix(&indent).is_some_and(|rest| rest.starts_with('"')))
        .take_while(|line| line.starts_with(&indent))
        .filter_map(|line| line[depth..].strip_prefix('"')?.split_once('"').map(|(key, _)| key))
        .collect()
}

#[test]
fn json_keeps_the_names_and_their_order() {
    let text = json::render(&assemble(&backlog(), backlog_facts(), None));
    assert_eq!(keys(&text, 2), ["schema", "input", "tests"]);
    assert_eq!(keys(&text, 4), ["files", "runs", "executions", "unrecognised_files", "complaints"]);
    let test = "suite test executed failed flaky skipped unknown evidence rate_bracket rate failures windows \
                changepoints comparison fix verdict why";
    assert_eq!(keys(&text, 6), test.split_whitespace().collect::<Vec<_>>());
    let windows = &text[text.find("\"windows\"").unwrap()..];
    let window = "from to cut_by executed executed_low executed_high failed rate permutations distinct \
                  posterior_single other_share_bound verdict observations why";
    assert_eq!(keys(windows, 10), window.split_whitespace().collect::<Vec<_>>());
    let permutation = "ranks observed expected count first last exact first_run last_run";
    let permutations = &windows[windows.find("\"permutations\"").unwrap()..];
    assert_eq!(keys(permutations, 14), permutation.split_whitespace().collect::<Vec<_>>());
    let points = &text[text.find("\"changepoints\": [\n").unwrap()..];
    let point = "of source at low high p run_before run_after commit_before commit_after executed_before accepted \
                 cuts_window";
    assert_eq!(keys(points, 10), point.split_whitespace().collect::<Vec<_>>());
    assert!(text.contains("\"evidence\": {\n        \"E1\": 965,\n        \"E2\": 0,\n        \"E3\": 0\n"));
}

#[test]
fn a_shuffled_order_is_listed_by_its_beginning() {
    let mut builder = Builder::new();
    let names: Vec<String> = (0..5).map(|at| format!("m{at}")).collect();
    for index in 0..60 {
        // Every rotation and swap that 60 small steps give: many distinct orders of five.
        let mut seen = names.clone();
        seen.rotate_left(index % 4 + 1);
        seen.swap(index % 5, (index / 4) % 5);
        let expected: Vec<&str> = names.iter().map(String::as_str).collect();
        let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
        let results = vec![result("Shuffled", Outcome::Failed, Some(order(&expected, &seen)))];
        builder.add(&file(&format!("{index}.trx"), Format::Trx, results), &run(index));
    }
    let report = assemble(&builder.finish(None), Facts::default(), None);
    let distinct = report.tests[0].windows[0].permutations.len();
    assert!(distinct > 10, "{distinct}");
    let more = format!("… and {} other permutations", distinct - 10);
    assert!(text::render(&report, Style::default()).contains(&more));
    assert!(markdown::render(&report).contains(&more));
}

proptest! {
    /// Whatever is reported, in whatever order of files: the counts of the parts are the counts of
    /// the whole, and nothing that a terminal or a page would obey comes out.
    #[test]
    fn the_parts_add_up_and_nothing_hazardous_is_printed(
        rows in prop::collection::vec((0..12_usize, 0..3_usize, 0..3_usize, 0..6_usize, 1..3_u32, 0..5_usize), 0..80),
        name in "\\PC{0,8}|[\u{0}-\u{1f}\u{7f}-\u{9f}\u{202e}|<`\\[]{1,6}",
        split in prop::option::of(0..12_usize),
    ) {
        let orders = [["B", "C", "A"], ["C", "A", "B"], ["B", "A", "C"]];
        let outcomes = [
            Outcome::Passed, Outcome::Failed, Outcome::Errored, Outcome::Skipped, Outcome::TimedOut, Outcome::Unknown,
        ];
        let mut builder = Builder::new();
        for (index, &(at, test, source, outcome, try_number, seen)) in rows.iter().enumerate() {
            let seen = orders.get(seen).map(|seen| order(&["A", "B", "C"], seen));
            let mut one = result(&format!("{name}{test}"), outcomes[outcome], seen);
            one.try_number = try_number;
            let format = [Format::VstestConsole, Format::Trx, Format::Junit][source];
            builder.add(&file(&format!("{name}/{index}"), format, vec![one]), &run(at));
        }
        let histories = builder.finish(None);
        let report = assemble(&histories, Facts::default(), split.map(|at| run(at).started_at.unwrap()));
        let mut executions = 0;
        for test in &report.tests {
            let sum = |of: fn(&fate_analyzer::report::model::Window) -> u64| test.windows.iter().map(of).sum::<u64>();
            prop_assert_eq!(sum(|window| window.executed), test.executed);
            prop_assert_eq!(sum(|window| window.failed), test.failed);
            let kinds = &test.failures;
            prop_assert_eq!(kinds.order + kinds.order_suspected + kinds.lost_or_extra + kinds.other, test.failed);
            prop_assert!(test.flaky <= test.failed && test.failed <= test.executed);
            prop_assert!(test.windows.iter().all(|w| w.executed_low <= w.executed && w.executed <= w.executed_high));
            executions += test.executed + test.skipped + test.unknown;
        }
        prop_assert_eq!(executions, report.input.executions);
        prop_assert!(histories.rows().len() as u64 >= executions);
        for text in [text::render(&report, Style::default()), markdown::render(&report), json::render(&report)] {
            prop_assert!(!text.chars().any(|c| c != '\n' && fate_trail::scrub::is_hazard(c)), "{}", text);
        }
        serde_json::from_str::<serde_json::Value>(&json::render(&report)).unwrap();
    }
}

/// A million executions: counted, not sampled, and within the time of an ordinary test.
#[test]
fn a_million_executions_are_no_trouble() {
    let names: Vec<String> = (0..1000).map(|test| format!("Ns.Class{}.Case{test}", test / 10)).collect();
    let mut builder = Builder::new();
    for index in 0..1000 {
        let results = names
            .iter()
            .enumerate()
            .map(|(test, name)| {
                let failed = test == 7 && index % 100 == 50;
                let seen = failed.then(|| abc(["B", "C", "A"]));
                result(name, if failed { Outcome::Failed } else { Outcome::Passed }, seen)
            })
            .collect();
        builder.add(&file(&format!("{index}.trx"), Format::Trx, results), &run(index));
    }
    let histories = builder.finish(None);
    assert_eq!(histories.executions(), 1_000_000);
    let report = assemble(&histories, Facts { files: 1000, ..Facts::default() }, None);
    let test = report.tests.iter().find(|test| test.failed > 0).unwrap();
    assert_eq!((test.executed, test.failed, test.verdict), (1000, 10, "single-reorder-consistent"));
    assert_eq!(report.input.runs, 1000);
}
