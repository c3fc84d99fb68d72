//! pytest's `assert left == right`: the one line where it is whole, the `Full diff` block where
//! it is not.

use super::judge::{Operand, Operands, Printer, first_mismatch, judge, operand};
use super::literal::{self, List, Quotes};
use super::text::Excerpt;
use super::{OrderClass, OrderFinding, OrderKind, Side};

const SEPARATOR: &str = " == ";

/// Reads from `assert ` on. The sides are not named: the right operand is assumed to be the
/// expected one.
pub(super) fn read(excerpt: &Excerpt<'_>) -> Option<OrderFinding> {
    if !reported(excerpt) {
        return None;
    }
    let text = excerpt.rest();
    let (line, below) = text.split_once('\n').unwrap_or((text, ""));
    let values = line.strip_prefix("assert ")?;
    if let Some((left, right)) = whole(values).or_else(|| whole(text.strip_prefix("assert ")?)) {
        return verdict(left, right, OrderClass::Full);
    }
    let details = Details::read(below);
    if let Some((plus, minus)) = &details.sides
        && let (Some(plus), Some(minus)) = (listed(plus), listed(minus))
    {
        let (left, right) = if details.plus_is_left(&plus, &minus) { (plus, minus) } else { (minus, plus) };
        return verdict(Operand::List(left), Operand::List(right), OrderClass::Hunks);
    }
    if !values.starts_with(['[', '(']) {
        return None;
    }
    let (left, right) = details.mismatch?;
    let mut finding = first_mismatch(right, left, Side::Assumed)?;
    if details.lengths_differ {
        finding.kind = OrderKind::LostOrExtra;
    }
    Some(finding)
}

/// True for a line on which pytest reports, false for the source code it quotes and for its short
/// summary: a report follows an `E`, or stands at the line's start in an XML message.
fn reported(excerpt: &Excerpt<'_>) -> bool {
    let before = excerpt.before();
    let error_only = before.is_empty() || (before.ends_with("Error: ") && !before.trim().contains(' '));
    error_only && (excerpt.prefix.is_empty() || excerpt.prefix.split_whitespace().any(|word| word == "E"))
}

fn verdict(left: Operand<'_>, right: Operand<'_>, class: OrderClass) -> Option<OrderFinding> {
    judge(&Operands {
        expected: right,
        observed: left,
        printer: Printer { side: Side::Assumed, class, quotes: Some(Quotes::Escaped), ordered: &['[', '('] },
    })
}

/// Both operands of the line, if neither is elided.
fn whole(values: &str) -> Option<(Operand<'_>, Operand<'_>)> {
    let (left, end) = value(values, 0)?;
    let rest = values.get(end..)?;
    let at = end + rest.starts_with(SEPARATOR).then_some(SEPARATOR.len())?;
    let (right, end) = value(values, at)?;
    // An elided text keeps exactly this mark, wherever it falls.
    (!values[..end].contains("...")).then_some((left, right))
}

/// One list or one string that begins at `at`, and the offset behind it.
fn value(text: &str, at: usize) -> Option<(Operand<'_>, usize)> {
    let quote = *text.as_bytes().get(at)?;
    if matches!(quote, b'"' | b'\'') {
        let end = literal::string_end(text, at)?;
        return Some((operand(&text[at..end], Some(Quotes::Escaped)), end));
    }
    let list = literal::parse_at(text, at, Quotes::Escaped)?;
    let end = list.end;
    Some((Operand::List(list), end))
}

fn listed(side: &str) -> Option<List<'_>> {
    literal::parse_at(side, side.find(['[', '(', '{'])?, Quotes::Escaped)
}

/// The explanation below the line.
#[derive(Debug, Default)]
struct Details<'a> {
    /// `At index 0 diff: 'B' != 'A'`: index, left, right.
    index: Option<usize>,
    mismatch: Option<(&'a str, &'a str)>,
    /// One side holds more elements than the other.
    lengths_differ: bool,
    /// Both texts of the `Full diff` block: `+` side, `-` side.
    sides: Option<(String, String)>,
    /// The block itself says that `+` is the left side.
    labelled: bool,
}

impl<'a> Details<'a> {
    fn read(below: &'a str) -> Details<'a> {
        let mut details = Details::default();
        let mut lines = below.lines();
        while let Some(line) = lines.next() {
            let words = line.trim_start();
            if let Some(rest) = words.strip_prefix("At index ") {
                let split = rest.split_once(" diff: ");
                details.index = split.and_then(|(n, _)| n.parse().ok());
                details.mismatch = split.and_then(|(_, pair)| pair.split_once(" != "));
            } else if words.contains(" contains ") && words.contains(" more item") {
                details.lengths_differ = true;
            } else if words.starts_with("Full diff:") {
                details.labelled = words.contains("-: missing in left");
                let indent = line.len() - words.len();
                details.sides = Some(rebuild(lines.by_ref(), indent));
                break;
            } else if words.starts_with("assert ") || words.starts_with('>') {
                break;
            }
        }
        details
    }

    /// Since pytest 5.4 `+` marks the left side, before that `-` did; the first mismatch tells.
    fn plus_is_left(&self, plus: &List<'_>, minus: &List<'_>) -> bool {
        let (false, Some(index), Some((left, _))) = (self.labelled, self.index, self.mismatch) else {
            return true;
        };
        let at = |list: &List<'_>| list.items.get(index).is_some_and(|item| item.trim() == left.trim());
        at(plus) || !at(minus)
    }
}

/// Rebuilds the `+` and the `-` side of a block whose lines are indented by `indent`.
fn rebuild<'a>(lines: impl Iterator<Item = &'a str>, indent: usize) -> (String, String) {
    let (mut plus, mut minus) = (String::new(), String::new());
    for line in lines {
        let Some(line) = line.get(indent..).filter(|_| line[..indent].trim().is_empty()) else {
            break;
        };
        let rest = line.get(2..).unwrap_or("");
        match line.as_bytes().first() {
            Some(b'+') => push(&mut plus, rest),
            Some(b'-') => push(&mut minus, rest),
            Some(b' ') => {
                push(&mut plus, rest);
                push(&mut minus, rest);
            }
            Some(b'?') => {}
            _ => break,
        }
    }
    (plus, minus)
}

fn push(side: &mut String, line: &str) {
    side.push_str(line);
    side.push('\n');
}
