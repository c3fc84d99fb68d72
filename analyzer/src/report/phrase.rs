//! What the text and the Markdown report say in the same words.
//!
//! Everything that came from a log (names, run ids, commits) goes through `show`, which makes it
//! safe for the place where it is printed.

use std::collections::HashSet;

use super::model::{Changepoint, Comparison, Fix, Input, Permutation, Test, Window};
use super::number;

/// Makes text from a log safe for one kind of output.
pub(crate) type Show<'a> = &'a dyn Fn(&str) -> String;

/// Stable tests, and tests that never executed, that are listed one by one; more become one line.
const LISTED_MAX: usize = 5;
/// Permutations of one window that are printed, the most seen first.
pub(crate) const PERMUTATIONS_SHOWN: usize = 10;
/// Names of one permutation that are printed; of a longer one the beginning.
const ELEMENTS_SHOWN: usize = 12;
/// Characters of a commit id that are printed.
const COMMIT_CHARS: usize = 12;

/// Tests that are of interest by themselves: failed, and not only by something other than order.
pub(crate) fn has_order(test: &Test) -> bool {
    test.failures.order + test.failures.order_suspected + test.failures.lost_or_extra > 0
}

/// Distinct permutations over all windows.
pub(crate) fn permutations(test: &Test) -> u64 {
    let seen = test.windows.iter().flat_map(|window| &window.permutations);
    seen.map(|permutation| permutation.ranks.as_slice()).collect::<HashSet<_>>().len() as u64
}

/// Order of tests in a report for people: the more interesting verdict first, then more failures, then by name.
pub(crate) fn by_interest(tests: &[Test]) -> Vec<&Test> {
    const RANK: [&str; 8] = [
        "mixed",
        "window",
        "unordered",
        "undecided",
        "single-reorder-strong",
        "single-reorder-consistent",
        "insufficient",
        "not-order",
    ];
    let mut sorted: Vec<&Test> = tests.iter().collect();
    sorted.sort_by_cached_key(|test| {
        let rank = RANK.iter().position(|word| *word == test.verdict).unwrap_or(RANK.len());
        (test.failed == 0, !has_order(test), rank, std::cmp::Reverse(test.failed), &test.suite, &test.test)
    });
    sorted
}

/// Takes out the tests that `is_one` names, if they are more than [`LISTED_MAX`].
pub(crate) fn take_many<'a>(tests: &mut Vec<&'a Test>, is_one: impl Fn(&Test) -> bool) -> Vec<&'a Test> {
    if tests.iter().filter(|test| is_one(test)).count() <= LISTED_MAX {
        return Vec::new();
    }
    let (taken, rest) = tests.iter().copied().partition(|test| is_one(test));
    *tests = rest;
    taken
}

/// `Read 12 files: 10 runs, 40 executions of 4 tests.` and what was not read.
pub(crate) fn input(input: &Input, tests: usize) -> String {
    let mut text = format!(
        "Read {}: {}, {} of {}.",
        number::of(input.files, "file"),
        number::of(input.runs, "run"),
        number::of(input.executions, "execution"),
        number::of(tests as u64, "test"),
    );
    match input.unrecognised_files {
        0 => {}
        1 => text.push_str(" 1 file was not recognised or could not be read."),
        n => text.push_str(&format!(" {} files were not recognised or could not be read.", number::count(n))),
    }
    text
}

/// `Complaints: 3 run-unknown, 1 truncated.`; `None` without any.
pub(crate) fn complaints(input: &Input) -> Option<String> {
    let mut by_code: Vec<(&str, u64)> = Vec::new();
    for complaint in &input.complaints {
        match by_code.iter_mut().find(|(code, _)| *code == complaint.code) {
            Some((_, count)) => *count += 1,
            None => by_code.push((complaint.code, 1)),
        }
    }
    by_code.sort_by_key(|&(code, count)| (std::cmp::Reverse(count), code));
    let parts: Vec<String> =
        by_code.iter().map(|&(code, count)| format!("{} {code}", number::count(count))).collect();
    (!parts.is_empty()).then(|| format!("Complaints: {}.", parts.join(", ")))
}

/// `9 of 965 runs failed: 0.93 % (0.49–1.76), about 1 in 107.` and what else the counts say.
pub(crate) fn counts(test: &Test) -> String {
    let mut text = format!("{} of {} runs failed", number::count(test.failed), number::count(test.executed));
    if let Some(rate) = &test.rate {
        text.push_str(&format!(": {}", number::rate(rate.value, rate.low, rate.high)));
        if let Some(n) = number::one_in(rate.value) {
            text.push_str(&format!(", about 1 in {n}"));
        }
    } else if let Some(bracket) = &test.rate_bracket {
        text.push_str(&format!(
            "; the rate is not determined, it lies between {} % and {} %",
            number::percent(bracket.low),
            number::percent(bracket.high)
        ));
    }
    text.push('.');
    let mut also = Vec::new();
    for (count, what) in [
        (test.flaky, "turned green on a later try"),
        (test.skipped, "skipped"),
        (test.unknown, "without an outcome"),
    ] {
        if count > 0 {
            also.push(format!("{} {what}", number::count(count)));
        }
    }
    if !also.is_empty() {
        text.push_str(&format!(" Also: {}.", also.join(", ")));
    }
    text
}

/// `9 order, 1 other`: the kinds of failure that occurred.
pub(crate) fn kinds(test: &Test) -> String {
    let failures = &test.failures;
    [
        (failures.order, "proven order"),
        (failures.order_suspected, "suspected order"),
        (failures.lost_or_extra, "lost or extra elements"),
        (failures.other, "other"),
    ]
    .iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{} {what}", number::count(*count)))
    .collect::<Vec<_>>()
    .join(", ")
}

/// `628 runs (600–659), 6 failed: 0.96 % (0.44–2.07), about 1 in 105`.
pub(crate) fn window_counts(window: &Window) -> String {
    let mut text = number::of(window.executed, "run");
    if window.executed_low != window.executed_high {
        text.push_str(&format!(
            " (between {} and {})",
            number::count(window.executed_low),
            number::count(window.executed_high)
        ));
    }
    text.push_str(&format!(", {} failed", number::count(window.failed)));
    if let Some(rate) = &window.rate {
        text.push_str(&format!(": {}", number::rate(rate.value, rate.low, rate.high)));
        if let Some(n) = number::one_in(rate.value) {
            text.push_str(&format!(", about 1 in {n}"));
        }
    }
    text
}

/// `from … to …` of a window.
pub(crate) fn span(from: Option<&str>, to: Option<&str>) -> String {
    match (from, to) {
        (Some(from), Some(to)) if from == to => from.to_owned(),
        (Some(from), Some(to)) => format!("{from} to {to}"),
        (Some(from), None) => format!("{from} to an unknown time"),
        (None, Some(to)) => format!("an unknown time to {to}"),
        (None, None) => "start times unknown".to_owned(),
    }
}

/// `B, C, A`; of a long sequence the beginning and its length. Ranks where the names were not kept.
pub(crate) fn observed(permutation: &Permutation, show: Show<'_>) -> String {
    if permutation.observed.is_empty() {
        let ranks: Vec<String> = permutation.ranks.iter().map(u32::to_string).collect();
        return format!("ranks {}", elements(&ranks, show));
    }
    elements(&permutation.observed, show)
}

/// A sequence, comma-separated.
pub(crate) fn elements(names: &[String], show: Show<'_>) -> String {
    let shown: Vec<String> = names.iter().take(ELEMENTS_SHOWN).map(|name| show(name)).collect();
    let more = names.len().saturating_sub(ELEMENTS_SHOWN);
    let tail = if more > 0 { format!(", … ({more} more)") } else { String::new() };
    format!("{}{tail}", shown.join(", "))
}

/// One change point in a sentence.
pub(crate) fn change(point: &Changepoint, show: Show<'_>) -> String {
    let at = point.at.as_deref().unwrap_or("an unknown time");
    let mut text = match (point.of, point.source) {
        ("rate", _) => format!("The rate changed ({}) at {at}", bayes(point.bf.value())),
        (_, "given") => return given(point, at),
        _ if point.cuts_window => {
            format!("The permutation changed ({}); the windows meet at {at}", scan_p(point.p.value()))
        }
        _ => format!(
            "The scan by itself finds that the permutation changed ({}) at {at}",
            scan_p(point.p.value())
        ),
    };
    if let (Some(low), Some(high)) = (&point.low, &point.high) {
        text.push_str(&format!(", 95 % interval {low} to {high}"));
    }
    text.push_str(&format!(", after {}.", number::of(point.executed_before, "run")));
    let place = |run: &Option<String>, commit: &Option<String>| {
        run.as_ref().map(|run| match commit {
            Some(commit) => {
                let short: String = commit.chars().take(COMMIT_CHARS).collect();
                format!("run {} (commit {})", show(run), show(&short))
            }
            None => format!("run {}", show(run)),
        })
    };
    let before = place(&point.run_before, &point.commit_before);
    let after = place(&point.run_after, &point.commit_after);
    if let (Some(before), Some(after)) = (before, after) {
        let what = if point.of == "rate" { "run" } else { "failure" };
        text.push_str(&format!(" Last old {what}: {before}; first new {what}: {after}."));
    }
    text
}

/// A split that the user named.
fn given(point: &Changepoint, at: &str) -> String {
    let mut text = format!("Split as given at {at}, after {}: ", number::of(point.executed_before, "run"));
    text.push_str(&match point.p.value() {
        None => "nothing can be tested, because one side shows no proven order.".to_owned(),
        Some(p) => {
            let exact = number::fraction(p).map_or_else(
                || format!("p = {}", number::probability(p)),
                |fraction| format!("p = {fraction} = {}", number::probability(p)),
            );
            let reading = if point.accepted {
                "the two sides show different permutations"
            } else {
                "no difference is shown"
            };
            format!("{reading} ({exact} on the identities).")
        }
    });
    text
}

fn scan_p(p: Option<f64>) -> String {
    p.map_or_else(|| "p unknown".to_owned(), |p| format!("p = {}", number::probability(p)))
}

fn bayes(bf: Option<f64>) -> String {
    match bf {
        None => "Bayes factor unknown".to_owned(),
        Some(bf) if bf >= 1e6 => "Bayes factor above 1,000,000".to_owned(),
        Some(bf) => format!("Bayes factor {}", number::ratio(bf)),
    }
}

/// The comparison of the last two windows. Never says "unchanged".
pub(crate) fn comparison(found: &Comparison) -> String {
    format!(
        "Rate, last window against the one before: {}, ratio {}–{} (median {}, Fisher p = {}).",
        found.reading,
        number::ratio(found.ratio_low),
        number::ratio(found.ratio_high),
        number::ratio(found.ratio),
        number::probability(found.fisher_two_sided)
    )
}

/// What would prove a fix; `None` where nothing failed or no rate is known.
pub(crate) fn fix(fix: &Fix) -> Option<String> {
    let needed = fix.clean_runs_needed_95?;
    let seen = fix.clean_runs_seen;
    let rest = needed.saturating_sub(seen);
    let rest = if rest == 0 { "enough".to_owned() } else { format!("{} to go", number::count(rest)) };
    Some(format!(
        "To believe a fix: clean runs needed {} (95 %, at the rate of all runs), seen since the last failure {}, {rest}.",
        number::count(needed),
        number::count(seen)
    ))
}

/// How to get better evidence for this test, most useful first.
pub(crate) fn tips(test: &Test) -> Vec<String> {
    let mut tips = Vec::new();
    if test.evidence.e2 > 0 {
        tips.push(format!(
            "In {} only totals say what passed. Let the runner list every test: `dotnet test --logger trx` or \
             `--logger \"console;verbosity=normal\"`, `pytest --junitxml=…`, `cargo test` without `-q`.",
            number::of(test.evidence.e2, "run")
        ));
    }
    if test.failures.order_suspected > 0 {
        tips.push(format!(
            "{} an order, but the text does not show both sequences. Compare the whole sequences in one \
             assertion that prints them, and do not shorten failure messages.",
            if test.failures.order_suspected == 1 {
                "1 failure suggests".to_owned()
            } else {
                format!("{} failures suggest", number::count(test.failures.order_suspected))
            }
        ));
    }
    if test.windows.iter().any(|window| window.from.is_none() || window.to.is_none()) {
        tips.push(
            "Some runs have no start time, so their order is a guess. Put a `runs.ndjson` beside the logs with \
             `path`, `run_id` and `started_at`."
                .to_owned(),
        );
    }
    let by_time = test.windows.iter().any(|window| window.cut_by == "split");
    if !by_time && test.windows.iter().any(|window| window.executed_low != window.executed_high) {
        tips.push(
            "Failures alone place a change only between two failures. If you know when something changed, \
             `--split-at TIME` makes the counts of both windows exact."
                .to_owned(),
        );
    }
    tips
}
