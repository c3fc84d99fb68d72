//! The report as Markdown for a job summary or a comment: bounded, and inert whatever a log contains.

use fate_trail::scrub::markdown_cell;

use super::model::{Report, Test, Window};
use super::{number, phrase};

/// Bytes of the whole document: what one comment on the large forges takes.
pub const BYTES_MAX: usize = 65_535;
/// Bytes of it that the table may take, so that there is room for words.
const TABLE_BYTES_MAX: usize = BYTES_MAX / 2;
/// Bytes kept free for saying what was left out, beside the complaints.
const CLOSING_BYTES: usize = 256;

/// The report, at most [`BYTES_MAX`] bytes; what does not fit is counted at the end.
pub fn render(report: &Report) -> String {
    let mut out =
        format!("## Message order report\n\n{}\n\n", phrase::input(&report.input, report.tests.len()));
    let sorted = phrase::by_interest(&report.tests);
    let mut omitted = 0;
    if sorted.is_empty() {
        out.push_str("Nothing was counted: no file reports the outcome of a test.\n");
    } else {
        omitted += push_table(&mut out, &sorted);
    }
    let complaints = phrase::complaints(&report.input).map_or_else(String::new, |text| format!("\n{text}\n"));
    let room = BYTES_MAX.saturating_sub(CLOSING_BYTES + complaints.len());
    let mut untold = 0;
    for test in sorted.iter().filter(|test| phrase::has_order(test)) {
        let section = section(test);
        if out.len() + section.len() <= room {
            out.push_str(&section);
        } else {
            untold += 1;
        }
    }
    if omitted + untold > 0 {
        out.push_str(&format!(
            "\n_Omitted to stay under 65,535 bytes: {} of the table and {}. `report.json` holds everything._\n",
            number::of(omitted, "line"),
            number::of(untold, "section"),
        ));
    }
    out.push_str(&complaints);
    out
}

/// The table; returns how many of its lines found no room.
fn push_table(out: &mut String, sorted: &[&Test]) -> u64 {
    out.push_str("| test | executed | failed | rate (95 %) | 1 in | permutations | verdict |\n|:--|--:|--:|:--|--:|--:|:--|\n");
    let mut listed = sorted.to_vec();
    let stable = phrase::take_many(&mut listed, |test| test.failed == 0 && test.executed > 0);
    let idle = phrase::take_many(&mut listed, |test| test.executed == 0);
    let mut omitted = 0;
    for test in listed {
        let line = table_line(test);
        if out.len() + line.len() <= TABLE_BYTES_MAX {
            out.push_str(&line);
        } else {
            omitted += 1;
        }
    }
    if !stable.is_empty() {
        let executed = number::count(stable.iter().map(|test| test.executed).sum());
        let tests = number::of(stable.len() as u64, "stable test");
        out.push_str(&format!("| _{tests}_ | {executed} | 0 | | | | stable |\n"));
    }
    if !idle.is_empty() {
        let tests = number::of(idle.len() as u64, "test");
        out.push_str(&format!("| _{tests} never executed_ | 0 | 0 | | | | insufficient |\n"));
    }
    omitted
}

fn table_line(test: &Test) -> String {
    let rate = match (&test.rate, &test.rate_bracket) {
        (Some(rate), _) => number::rate(rate.value, rate.low, rate.high),
        (None, Some(bracket)) => {
            format!("between {} % and {} %", number::percent(bracket.low), number::percent(bracket.high))
        }
        (None, None) => String::new(),
    };
    let one_in = test.rate.as_ref().and_then(|rate| number::one_in(rate.value)).unwrap_or_default();
    format!(
        "| {} | {} | {} | {rate} | {one_in} | {} | {} |\n",
        markdown_cell(&test.test),
        number::count(test.executed),
        number::count(test.failed),
        if test.failed == 0 { String::new() } else { number::count(phrase::permutations(test)) },
        test.verdict
    )
}

/// One test in words.
fn section(test: &Test) -> String {
    let show: phrase::Show<'_> = &|text| markdown_cell(text);
    let suite = if test.suite.is_empty() { String::new() } else { format!(" ({})", show(&test.suite)) };
    let mut out = format!("\n### {}{suite}\n\n", show(&test.test));
    out.push_str(&format!("**{}**: {}.\n\n", test.verdict, test.why));
    out.push_str(&format!("{} Failures: {}.\n\n", phrase::counts(test), phrase::kinds(test)));
    out.push_str(
        "| window | runs | failed | rate (95 %) | observed | verdict |\n|:--|--:|--:|:--|:--|:--|\n",
    );
    for window in &test.windows {
        out.push_str(&window_line(window, show));
    }
    out.push('\n');
    for window in test.windows.iter().filter(|_| test.windows.len() > 1) {
        out.push_str(&format!("- {}: {}.\n", window.verdict, window.why));
    }
    for point in &test.changepoints {
        out.push_str(&format!("- {}\n", phrase::change(point, show)));
    }
    let sentences = [test.comparison.as_ref().map(phrase::comparison), phrase::fix(&test.fix)];
    for sentence in sentences.into_iter().flatten() {
        out.push_str(&format!("- {sentence}\n"));
    }
    for tip in phrase::tips(test) {
        out.push_str(&format!("- _{tip}_\n"));
    }
    out
}

fn window_line(window: &Window, show: phrase::Show<'_>) -> String {
    let bracket = if window.executed_low == window.executed_high {
        String::new()
    } else {
        format!(" ({}–{})", number::count(window.executed_low), number::count(window.executed_high))
    };
    let rate =
        window.rate.as_ref().map(|rate| number::rate(rate.value, rate.low, rate.high)).unwrap_or_default();
    let shown = window.permutations.iter().take(phrase::PERMUTATIONS_SHOWN);
    let mut seen: Vec<String> = shown
        .map(|seen| format!("{} × {}", number::count(seen.count), phrase::observed(seen, show)))
        .collect();
    let hidden = window.permutations.len().saturating_sub(phrase::PERMUTATIONS_SHOWN);
    if hidden > 0 {
        seen.push(format!("… and {}", number::of(hidden as u64, "other permutation")));
    }
    format!(
        "| {} | {}{bracket} | {} | {rate} | {} | {} |\n",
        phrase::span(window.from.as_deref(), window.to.as_deref()),
        number::count(window.executed),
        number::count(window.failed),
        seen.join("<br>"),
        window.verdict
    )
}
