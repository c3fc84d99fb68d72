//! Rust's `assert_eq!` in all its prints, and pretty_assertions.
//!
//! The sides are not named (`left`, `right`): the right operand is assumed to be the expected one.

use std::borrow::Cow;

use super::judge::{Operand, Operands, Printer, judge, operand};
use super::literal::{self, List, Quotes};
use super::text::Excerpt;
use super::{OrderClass, OrderFinding, Side};

/// Bytes of a custom message that may stand before the values.
const MESSAGE_MAX: usize = 16 * 1024;

/// Reads from the words of the panic on.
pub(super) fn read(excerpt: &Excerpt<'_>) -> Option<OrderFinding> {
    let text = excerpt.rest();
    if let Some((left, right)) = diff_block(text) {
        return verdict(whole(&left), whole(&right), OrderClass::Hunks);
    }
    let at = left_label(text)?;
    let (left, end) = value(text, at)?;
    let gap = &text[end..];
    let right_at =
        gap.find("right: ").filter(|&n| gap[..n].trim_matches(['`', ',', ' ', '\n']).is_empty())?;
    let (right, _) = value(text, end + right_at + "right: ".len())?;
    verdict(left, right, OrderClass::Full)
}

fn verdict(left: Operand<'_>, right: Operand<'_>, class: OrderClass) -> Option<OrderFinding> {
    judge(&Operands {
        expected: right,
        observed: left,
        printer: Printer { side: Side::Assumed, class, quotes: Some(Quotes::Escaped), ordered: &['['] },
    })
}

/// Offset behind the first `left: ` that begins a line or an old one-line parenthesis.
fn left_label(text: &str) -> Option<usize> {
    text.match_indices("left: ")
        .take_while(|&(n, _)| n <= MESSAGE_MAX)
        .find(|&(n, _)| {
            let before = text[..n].trim_end_matches(' ');
            before.ends_with(['\n', '(']) || before.len() < n && before.ends_with("failed")
        })
        .map(|(n, label)| n + label.len())
}

/// The value at `at`: a list, a string, a value with a bracket somewhere on its first line, or
/// the rest of the line; and the offset behind it.
fn value(text: &str, at: usize) -> Option<(Operand<'_>, usize)> {
    let tick = usize::from(text[at..].starts_with('`'));
    let start = at + tick;
    let rest = &text[start..];
    if rest.starts_with('"') {
        let end = literal::string_end(text, start)?;
        return Some((operand(&text[start..end], Some(Quotes::Escaped)), end));
    }
    if let Some(list) = literal::parse_at(text, start, Quotes::Escaped) {
        let end = list.end;
        return Some((Operand::List(list), end));
    }
    let line_end = rest.find('\n').unwrap_or(rest.len());
    let head = rest[..line_end].find(['[', '(', '{', '"', '`', ',']);
    if let Some(n) = head.filter(|&n| matches!(rest.as_bytes()[n], b'[' | b'(' | b'{'))
        && let Some(inner) = literal::parse_at(text, start + n, Quotes::Escaped)
    {
        return Some((whole(&text[start..inner.end]), inner.end));
    }
    let end = if tick == 1 { rest[..line_end].find('`') } else { None }.unwrap_or(line_end);
    Some((Operand::text(rest[..end].trim_end()), start + end))
}

/// A value that is searched for the list that differs inside it, such as `Some([1, 2])`.
fn whole(text: &str) -> Operand<'_> {
    let text = text.trim();
    match operand(text, Some(Quotes::Escaped)) {
        Operand::Text { .. } if text.ends_with([']', ')', '}']) => Operand::List(List {
            items: vec![Cow::Borrowed(text)],
            cut: false,
            loose: false,
            open: '<',
            end: text.len(),
        }),
        other => other,
    }
}

/// Both sides of pretty_assertions' block: `<` marks lines of the left, `>` of the right.
fn diff_block(text: &str) -> Option<(String, String)> {
    let mut lines = text.lines();
    lines.by_ref().take(4).find(|line| line.contains("Diff < left / right > :"))?;
    let (mut left, mut right) = (String::new(), String::new());
    for line in lines {
        let mut chars = line.chars();
        match chars.next() {
            Some('<') => push(&mut left, chars.as_str()),
            Some('>') => push(&mut right, chars.as_str()),
            Some(' ') => {
                push(&mut left, chars.as_str());
                push(&mut right, chars.as_str());
            }
            _ => break,
        }
    }
    Some((left, right))
}

fn push(side: &mut String, line: &str) {
    side.push_str(line);
    side.push('\n');
}
