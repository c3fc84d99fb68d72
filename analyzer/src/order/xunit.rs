//! xUnit `Assert.Equal`: since 2.5 and in v3 `Collections differ`, before that a type name and
//! the first five elements.

use super::judge::{Operand, Operands, Printer, judge};
use super::literal::{self, Quotes};
use super::text::Excerpt;
use super::{OrderClass, OrderFinding, Side, element};

/// Bytes in which the next label must follow.
const LABEL_WITHIN: usize = 2_000;

/// Reads from `Assert.Equal() Failure` on: the two labelled values, expected first.
pub(super) fn read(excerpt: &Excerpt<'_>) -> Option<OrderFinding> {
    let text = excerpt.rest();
    let header = text.lines().next()?;
    if header.contains("Sets differ") || header.contains("Dictionaries differ") {
        return None;
    }
    let (expected, end) = labelled(text, 0, "Expected:")?;
    let (observed, _) = labelled(text, end, "Actual:")?;
    judge(&Operands {
        expected,
        observed,
        printer: Printer {
            side: Side::Label,
            class: OrderClass::Full,
            quotes: Some(Quotes::Escaped),
            ordered: &['['],
        },
    })
}

/// The value behind the first `label` after `from`, and the offset behind it.
fn labelled<'a>(text: &'a str, from: usize, label: &str) -> Option<(Operand<'a>, usize)> {
    let at = from + text[from..].find(label).filter(|&n| n <= LABEL_WITHIN)? + label.len();
    let start = at + (text[at..].len() - text[at..].trim_start().len());
    let line_end = text[start..].find('\n').map_or(text.len(), |n| start + n);
    let line = &text[start..line_end];
    let open = match line.as_bytes().first()? {
        b'[' => Some(start),
        b'"' => None,
        _ => line.find(" [").map(|n| start + n + 1),
    };
    if let Some(open) = open
        && let Some(list) = literal::parse_at(text, open, Quotes::Escaped)
    {
        let end = list.end;
        return Some((Operand::List(list), end));
    }
    // A message that lost its line breaks has the other label on the same line.
    let line = line.split("Actual:").next()?.trim();
    let bare = line.trim_matches(['·', '…']);
    let cut = bare.len() != line.len() || bare.ends_with("...");
    let bare = bare.trim_end_matches("...");
    let text = element::unquote(bare).unwrap_or_else(|| bare.to_owned());
    Some((Operand::Text { text, cut }, start + line.len()))
}
