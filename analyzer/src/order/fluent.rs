//! FluentAssertions and AwesomeAssertions: `Equal`, `ContainInOrder`, `BeInAscendingOrder`.

use std::collections::HashSet;

use super::judge::{Operand, Operands, Printer, judge, settled, suspected};
use super::literal::{self, List, Quotes};
use super::text::Excerpt;
use super::{OrderClass, OrderFinding, OrderKind, Side};

/// Places where the observed list may begin that are tried; a reason may hold such places too.
const CANDIDATES_MAX: usize = 16;

const PRINTER: Printer =
    Printer { side: Side::Label, class: OrderClass::Full, quotes: Some(Quotes::Raw), ordered: &['{'] };

/// `Expected x to be equal to {expected}[ because …], but {observed} differs at index 0.`
pub(super) fn equal(excerpt: &Excerpt<'_>) -> Option<OrderFinding> {
    if !excerpt.before().contains("Expected ") {
        return None;
    }
    let text = excerpt.rest();
    let expected = literal::parse_at(text, text.find('{')?, Quotes::Raw)?;
    let observed = observed_behind(text, expected.end)?;
    judge(&Operands {
        expected: Operand::List(expected),
        observed: Operand::List(observed),
        printer: PRINTER,
    })
}

/// The list behind the last `, but {` that the sentence goes on from as the assertion does. The
/// reason stands before it and is free text, so an earlier one may belong to the reason.
fn observed_behind(text: &str, from: usize) -> Option<List<'_>> {
    let sentence = text[from..].find("\n   at ").map_or(text, |n| &text[..from + n]);
    sentence[from..]
        .match_indices("but {")
        .take(CANDIDATES_MAX)
        .filter_map(|(n, words)| literal::parse_at(sentence, from + n + words.len() - 1, Quotes::Raw))
        .filter(|list| {
            let rest = &sentence[list.end..];
            rest.starts_with(" differs at index ") || rest.starts_with(" contains ")
        })
        .last()
}

/// `Expected x {observed} to contain items {expected} in order, but … did not appear`.
pub(super) fn contain_in_order(excerpt: &Excerpt<'_>) -> Option<OrderFinding> {
    let before = excerpt.before();
    let observed = literal::parse_at(before, before.find('{')?, Quotes::Raw)?;
    if !before.starts_with("Expected ") || observed.end != before.len() {
        return None;
    }
    let text = excerpt.rest();
    let expected = literal::parse_at(text, text.find('{')?, Quotes::Raw)?;
    if !text[expected.end..].starts_with(" in order") {
        return None;
    }
    let cut = expected.cut || observed.cut;
    let (expected, observed) = (expected.elements(), observed.elements());
    if cut {
        return super::judge::window(expected, observed, PRINTER);
    }
    let seen: HashSet<&String> = observed.iter().collect();
    let extra_only = expected.iter().all(|item| seen.contains(item));
    let finding = settled(expected.clone(), observed.clone(), PRINTER)?;
    if finding.kind == OrderKind::Permutation || !extra_only {
        return Some(finding);
    }
    // Extra elements are allowed between those that were asked for, so what failed is the order;
    // but the ranks of a longer sequence are not defined.
    Some(suspected(expected, observed, OrderClass::Full, Side::Label))
}

/// `Expected x to be in ascending order, but found {observed} where item at index 0 is in wrong
/// order`: the expected order follows from a comparison that the text does not show.
pub(super) fn sorted(excerpt: &Excerpt<'_>) -> Option<OrderFinding> {
    let text = excerpt.rest();
    let at = text.find("but found {")? + "but found ".len();
    let observed = literal::parse_at(text, at, Quotes::Raw)?;
    text[observed.end..]
        .starts_with(" where item at index ")
        .then(|| suspected(Vec::new(), observed.elements(), OrderClass::First, Side::Label))
}
