//! The report as a person wants to read it in a terminal: the table, then each interesting test in words.

mod layout;
mod style;
mod table;

use fate_trail::scrub::scrub_line;

use self::layout::{push_line, wrap};
pub use self::style::Style;
use self::style::Tone;
use super::model::{Report, Test, Window};
use super::{number, phrase};

/// Lines of the table; more tests are counted in one line.
const TABLE_MAX: usize = 50;
/// Tests that are told in words; more are named with the way to see them.
const DETAILS_MAX: usize = 12;
/// Columns of prose, however wide the terminal is.
const PROSE_MAX: usize = 100;
/// The narrowest terminal that is laid out for.
const WIDTH_MIN: usize = 40;

/// The report for a terminal. Ends with a line break; has no escape sequence unless `style.colour`.
pub fn render(report: &Report, style: Style) -> String {
    let style = Style { width: style.width.max(WIDTH_MIN), ..style };
    let mut out = String::new();
    let prose = style.width.min(PROSE_MAX);
    wrap(&mut out, &phrase::input(&report.input, report.tests.len()), prose, "", "");
    if report.tests.is_empty() {
        let hint = "Nothing was counted: no file reports the outcome of a test. `fate-analyzer inspect PATH` shows \
                    what was seen in each file.";
        wrap(&mut out, hint, prose, "", "");
    } else {
        out.push('\n');
        push_table(&mut out, report, style);
        push_details(&mut out, report, style);
    }
    if let Some(complaints) = phrase::complaints(&report.input) {
        out.push('\n');
        wrap(&mut out, &format!("{complaints} Each with its place in the JSON report."), prose, "", "  ");
    }
    out
}

/// The table, and a line for each kind of test that is not in it.
fn push_table(out: &mut String, report: &Report, style: Style) {
    let mut listed = phrase::by_interest(&report.tests);
    let stable = phrase::take_many(&mut listed, |test| test.failed == 0 && test.executed > 0);
    let idle = phrase::take_many(&mut listed, |test| test.executed == 0);
    let hidden = listed.len().saturating_sub(TABLE_MAX);
    listed.truncate(TABLE_MAX);
    if !listed.is_empty() {
        table::push(out, &listed, style);
    }
    let more = |count: usize| number::of(count as u64, if listed.is_empty() { "test" } else { "more test" });
    if hidden > 0 {
        push_line(
            out,
            &style.paint(Tone::Quiet, &format!("… and {}; --format json lists all", more(hidden))),
        );
    }
    if !stable.is_empty() {
        let executions: u64 = stable.iter().map(|test| test.executed).sum();
        let text =
            format!("{} without a failure in {}", more(stable.len()), number::of(executions, "execution"));
        push_line(out, &format!("{text}: {}", style.verdict("stable")));
    }
    if !idle.is_empty() {
        push_line(out, &format!("{} never executed: skipped, or without an outcome", more(idle.len())));
    }
    if listed.iter().any(|test| test.rate_bracket.is_some()) {
        let text = "* passes are counted but not listed, so only bounds of the rate are known";
        push_line(out, &style.paint(Tone::Quiet, text));
    }
}

/// Each test with an order failure in words.
fn push_details(out: &mut String, report: &Report, style: Style) {
    let sorted = phrase::by_interest(&report.tests);
    let told: Vec<&Test> = sorted.iter().copied().filter(|test| phrase::has_order(test)).collect();
    for test in told.iter().take(DETAILS_MAX) {
        push_test(out, test, style);
    }
    let prose = style.width.min(PROSE_MAX);
    if told.len() > DETAILS_MAX {
        let more = number::of((told.len() - DETAILS_MAX) as u64, "more test");
        out.push('\n');
        wrap(
            out,
            &format!("{more} with order failures: see them with --test GLOB or --format json."),
            prose,
            "",
            "",
        );
    }
    if told.is_empty() && report.tests.iter().any(|test| test.failed > 0) {
        out.push('\n');
        wrap(out, "No failure shows an order, so there is nothing to say about reordering.", prose, "", "");
    }
}

/// One test in words.
fn push_test(out: &mut String, test: &Test, style: Style) {
    let prose = style.width.min(PROSE_MAX);
    let show: phrase::Show<'_> = &|text| scrub_line(text).into_owned();
    let name = if test.suite.is_empty() {
        show(&test.test)
    } else {
        format!("{} ({})", show(&test.test), show(&test.suite))
    };
    out.push('\n');
    push_line(out, &style.paint(Tone::Heading, &name));
    wrap(out, &format!("{} Failures: {}.", phrase::counts(test), phrase::kinds(test)), prose, "  ", "  ");
    for point in &test.changepoints {
        wrap(out, &phrase::change(point, show), prose, "  ", "    ");
    }
    for (index, window) in test.windows.iter().enumerate() {
        push_window(out, index + 1, test.windows.len(), window, style);
    }
    out.push('\n');
    if let Some(comparison) = &test.comparison {
        wrap(out, &phrase::comparison(comparison), prose, "  ", "    ");
    }
    if let Some(fix) = phrase::fix(&test.fix) {
        wrap(out, &fix, prose, "  ", "    ");
    }
    let mut verdict = String::new();
    wrap(&mut verdict, &format!("Verdict: {}. {}", test.verdict, sentence(&test.why)), prose, "  ", "    ");
    out.push_str(&verdict.replacen(test.verdict, &style.verdict(test.verdict), 1));
    for tip in phrase::tips(test) {
        wrap(out, &format!("Tip: {tip}"), prose, "  ", "    ");
    }
}

/// One window: its counts, its permutations, its verdict.
fn push_window(out: &mut String, number: usize, windows: usize, window: &Window, style: Style) {
    let prose = style.width.min(PROSE_MAX);
    let show: phrase::Show<'_> = &|text| scrub_line(text).into_owned();
    let title = if windows == 1 { "All runs".to_owned() } else { format!("Window {number}") };
    let span = phrase::span(window.from.as_deref(), window.to.as_deref());
    out.push('\n');
    wrap(out, &format!("{title}, {span}: {}.", phrase::window_counts(window)), prose, "  ", "    ");
    for seen in window.permutations.iter().take(phrase::PERMUTATIONS_SHOWN) {
        let bound = if seen.exact { "" } else { " (a bound: the text shows only part)" };
        let when = match (&seen.first, &seen.last) {
            (None, None) => String::new(),
            (first, last) => phrase::span(first.as_deref(), last.as_deref()),
        };
        let text =
            format!("{:>4} × {}{bound}   {when}", number::count(seen.count), phrase::observed(seen, show));
        wrap_cells(out, &text, prose);
    }
    let hidden = window.permutations.len().saturating_sub(phrase::PERMUTATIONS_SHOWN);
    if hidden > 0 {
        push_line(out, &format!("         … and {}", number::of(hidden as u64, "other permutation")));
    }
    if let Some(seen) = window.permutations.iter().find(|seen| !seen.expected.is_empty()) {
        wrap(
            out,
            &format!("expected {}", phrase::elements(&seen.expected, show)),
            prose,
            "         ",
            "         ",
        );
    }
    // With one window the verdict on the test says the same.
    if windows > 1 {
        let mut verdict = String::new();
        wrap(&mut verdict, &format!("{}: {}.", window.verdict, window.why), prose, "    ", "      ");
        out.push_str(&verdict.replacen(window.verdict, &style.verdict(window.verdict), 1));
    }
}

/// Appends a line of cells, or the same wrapped where it does not fit.
fn wrap_cells(out: &mut String, text: &str, columns: usize) {
    if layout::width(text) + 4 <= columns {
        push_line(out, &format!("    {text}"));
    } else {
        wrap(out, text, columns, "    ", "           ");
    }
}

/// With a capital and a final stop.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return String::new() };
    first.to_uppercase().chain(chars).chain(['.']).collect()
}
