//! AssertJ: the forms that show whole lists, and the one that says in words that only the order
//! differs.

use super::judge::{Operand, Operands, Printer, first_mismatch, judge};
use super::literal::{self, Quotes};
use super::text::Excerpt;
use super::{OrderClass, OrderFinding, OrderKind, Side, junit};

/// Sentences between the two lists that ask for an order, and whether the observed list may hold
/// more than what was asked for.
const DEMANDS: &[(&str, bool)] = &[
    ("to contain exactly (and in same order):", false),
    ("to contain exactly:", false),
    ("to be equal to:", false),
    ("to contain sequence:", true),
    ("to contain subsequence:", true),
];

/// `Expecting actual:` list, a demand, list, `but …`.
pub(super) fn read(excerpt: &Excerpt<'_>) -> Option<OrderFinding> {
    let text = excerpt.rest();
    let values = &text[text.find(':')? + 1..];
    let (at, demand, more) = DEMANDS
        .iter()
        .filter_map(|&(demand, more)| values.find(demand).map(|at| (at, demand, more)))
        .min()?;
    let expected = section(&values[at + demand.len()..]);
    let finding = judge(&Operands {
        expected: printed(&expected),
        observed: printed(values[..at].trim()),
        printer: printer(),
    })?;
    (!more || finding.kind == OrderKind::Permutation).then_some(finding)
}

/// `expected: list` above ` but was: list`.
pub(super) fn equal(excerpt: &Excerpt<'_>) -> Option<OrderFinding> {
    let text = excerpt.rest().strip_prefix("expected: ")?;
    let (expected, rest) = text.split_once("\n but was: ")?;
    let observed = section(rest);
    judge(&Operands { expected: printed(expected.trim()), observed: printed(&observed), printer: printer() })
}

/// `… same elements but not in the same order, at index 0 actual element was:` one element,
/// `whereas expected element was:` one element: said, but not shown.
pub(super) fn same_elements(excerpt: &Excerpt<'_>) -> Option<OrderFinding> {
    let text = excerpt.rest();
    let (head, tail) = text.split_once("whereas expected element was:")?;
    let observed = head.split_once("element was:")?.1;
    let expected = section(tail);
    first_mismatch(angle(expected.trim()), angle(observed.trim()), Side::Label)
}

fn printer() -> Printer {
    Printer { class: OrderClass::Full, ..junit::PRINTER }
}

/// The lines of one value: up to an empty line, the rest of the sentence or a stack frame.
fn section(text: &str) -> String {
    let ends = ["but ", "but:", "when comparing", "at ", "Caused by", "to be ", "elements not found"];
    let mut lines = Vec::new();
    for line in text.trim_start().lines() {
        let words = line.trim();
        if words.is_empty() || ends.iter().any(|end| words.starts_with(end)) {
            break;
        }
        lines.push(line);
    }
    lines.join("\n")
}

fn angle(text: &str) -> &str {
    text.strip_prefix('<').and_then(|t| t.strip_suffix('>')).unwrap_or(text)
}

/// Strings are quoted, other elements are a bare `toString`; old versions put angle brackets
/// around a value.
fn printed(text: &str) -> Operand<'_> {
    let text = angle(text.trim());
    if text.starts_with("[\"") || text.starts_with('"') {
        let list = literal::parse_at(text, 0, Quotes::Escaped).filter(|list| list.end == text.len());
        return list.map_or_else(|| super::judge::operand(text, Some(Quotes::Escaped)), Operand::List);
    }
    super::judge::operand(text, None)
}
