//! The table at the top: one line a test.

use super::layout::{pad, push_line, tail, width};
use super::style::{Style, Tone};
use crate::report::model::Test;
use crate::report::{number, phrase};

/// Where fewer names than one in this many do not fit beside their numbers, those are shortened;
/// else every name stands on a line of its own.
const SHORTENED_ONE_IN: usize = 4;

const HEAD: [&str; 6] = ["executed", "failed", "rate (95 %)", "1 in", "permutations", "verdict"];

/// Appends the table of the given tests.
pub(super) fn push(out: &mut String, tests: &[&Test], style: Style) {
    let names: Vec<String> =
        tests.iter().map(|test| fate_trail::scrub::scrub(&test.test).into_owned()).collect();
    let rows: Vec<[String; 6]> = tests.iter().map(|test| cells(test)).collect();
    let mut widths = HEAD.map(width);
    for row in &rows {
        for (column, cell) in row.iter().enumerate() {
            widths[column] = widths[column].max(width(cell));
        }
    }
    let numbers: usize = widths.iter().map(|columns| columns + 2).sum();
    let longest = names.iter().map(|name| width(name)).max().unwrap_or(0).max(width("test"));
    let left = style.width.saturating_sub(numbers);
    let too_long = names.iter().filter(|name| width(name) > left).count();
    let stacked = left < width("test") || too_long * SHORTENED_ONE_IN > names.len();
    let name_width = if stacked { 0 } else { longest.min(left) };

    let head = format!("{}{}", if stacked { "" } else { "test" }, line(&HEAD.map(str::to_owned), &widths));
    let head =
        if stacked { head } else { format!("test{}{}", pad("test", name_width), &head["test".len()..]) };
    push_line(out, &style.paint(Tone::Quiet, head.trim_end()));
    for (test, (name, row)) in tests.iter().zip(names.iter().zip(&rows)) {
        let mut cells = line(row, &widths);
        if style.colour {
            let end = cells.trim_end().len() - test.verdict.len();
            cells = format!("{}{}", &cells[..end], style.verdict(test.verdict));
        }
        if stacked {
            push_line(out, &tail(name, style.width));
            push_line(out, &cells);
        } else {
            let name = tail(name, name_width);
            push_line(out, &format!("{name}{}{cells}", pad(&name, name_width)));
        }
    }
}

/// The cells of one test, without its name.
fn cells(test: &Test) -> [String; 6] {
    let (rate, one_in) = match (&test.rate, &test.rate_bracket) {
        (Some(rate), _) => {
            (number::rate(rate.value, rate.low, rate.high), number::one_in(rate.value).unwrap_or_default())
        }
        (None, Some(bracket)) => {
            let rate = format!("{}–{} % *", number::percent(bracket.low), number::percent(bracket.high));
            (rate, String::new())
        }
        (None, None) => (String::new(), String::new()),
    };
    let distinct = if test.failed == 0 { String::new() } else { number::count(phrase::permutations(test)) };
    [
        number::count(test.executed),
        number::count(test.failed),
        rate,
        one_in,
        distinct,
        test.verdict.to_owned(),
    ]
}

/// One line of cells: numbers right-aligned, the verdict left-aligned, two blanks before each.
fn line(cells: &[String; 6], widths: &[usize; 6]) -> String {
    let mut text = String::new();
    for (column, cell) in cells.iter().enumerate() {
        let fill = pad(cell, widths[column]);
        text.push_str("  ");
        if column == cells.len() - 1 {
            text.push_str(cell);
        } else {
            text.push_str(&fill);
            text.push_str(cell);
        }
    }
    text
}
