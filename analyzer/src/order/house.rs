//! The form `Expected collection {actual} to equal {expected} because …`: the actual side stands
//! first, at most ten items are shown, strings are quoted and not escaped.
//!
//! The reason is free text and quotes orders of other days; nothing behind the expected list is
//! ever read.

use std::borrow::Cow;

use super::judge::{Operand, Operands, Printer, judge};
use super::literal::{self, List, Quotes};
use super::text::Excerpt;
use super::{OrderClass, OrderFinding, Side};

/// What stands between the two lists.
const BETWEEN: &str = " to equal {";

/// Reads from `Expected collection {` on.
pub(super) fn read(excerpt: &Excerpt<'_>) -> Option<OrderFinding> {
    let text = excerpt.rest();
    let open = text.find('{')?;
    let (observed, expected) = strict(text, open).or_else(|| guessed(text, open))?;
    judge(&Operands {
        expected: Operand::List(expected),
        observed: Operand::List(observed),
        printer: Printer {
            side: Side::Label,
            class: OrderClass::Full,
            quotes: Some(Quotes::Raw),
            ordered: &['{'],
        },
    })
}

/// Both lists by their brackets.
fn strict(text: &str, open: usize) -> Option<(List<'_>, List<'_>)> {
    let observed = literal::parse_at(text, open, Quotes::Raw)?;
    let rest = text.get(observed.end..)?;
    if !rest.starts_with(BETWEEN) {
        return None;
    }
    let at = observed.end + BETWEEN.len() - 1;
    let expected = literal::parse_at(text, at, Quotes::Raw)?;
    Some((observed, expected))
}

/// Both lists by the words between them, for strings that hold quotes and brackets. What follows
/// the expected list is cut off at the first end that the form allows.
fn guessed(text: &str, open: usize) -> Option<(List<'_>, List<'_>)> {
    let line = text.lines().next()?;
    let between = line.find("} to equal {")?;
    let observed = quoted(line.get(open + 1..between)?)?;
    let rest = &line[between + "}".len() + BETWEEN.len()..];
    let end = ["\"} because ", "\"}.", "\"},"].iter().filter_map(|end| rest.find(end)).min();
    let end = match end {
        Some(end) => end + 1,
        None => rest.trim_end().strip_suffix('}')?.len(),
    };
    Some((observed, quoted(&rest[..end])?))
}

/// Quoted strings separated by `", "`.
fn quoted(body: &str) -> Option<List<'_>> {
    let inner = body.trim().strip_prefix('"')?.strip_suffix('"')?;
    let items = inner.split("\", \"").map(|item| Cow::Owned(format!("\"{item}\""))).collect();
    Some(List { items, cut: false, loose: true, open: '{', end: 0 })
}
