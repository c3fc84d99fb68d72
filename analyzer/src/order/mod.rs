//! Order recovery: from the text of a failed assertion to the permutation it saw.
//!
//! The canonical form is the rank vector of the observed sequence in terms of the expected one
//! (`B, C, A` against `A, B, C` is `[1, 2, 0]`), because element names differ from run to run and
//! ranks do not. Only equal multisets are an order; everything else is lost, extra or suspected.
//!
//! One file for each assertion family knows how that family prints; `judge` alone decides what
//! two sequences prove, so that no family can be more generous than another.

mod assertj;
mod compact;
mod compare;
mod element;
mod finding;
mod fluent;
mod hamcrest;
mod house;
mod judge;
mod junit;
mod literal;
mod mstest;
mod pytest;
mod rust;
mod sides;
mod split;
mod text;
mod unittest;
mod xml;
mod xunit;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use regex::Regex;

pub use compare::compare;
pub use finding::{OrderClass, OrderFinding, OrderKind, Side, Split};
pub use sides::decide_sides;

use text::Excerpt;

/// Assertions that are looked at in one text. Each costs at most one pass over a bounded stretch,
/// so a text made of nothing but beginnings of assertions is still read in linear time.
const ANCHORS_MAX: usize = 64;

/// A family reads the text from its anchor on; `None` where it says nothing about order.
type Family = fn(&Excerpt<'_>) -> Option<OrderFinding>;

/// Words that begin an assertion's text, and who reads it. Where two begin at the same place the
/// earlier entry wins.
const FAMILIES: &[(&str, Family)] = &[
    (r"Assert\.Equal\(\) Failure", xunit::read),
    (r"Expected collection \{", house::read),
    (r" to be equal to \{", fluent::equal),
    (r" to contain (?:items )?\{", fluent::contain_in_order),
    (r" to be in (?:ascending|descending) order", fluent::sorted),
    (r"(?:Lists|Sequences|Tuples) differ: ", unittest::read),
    (r#"(?-u:\b)assert [\[({'"]"#, pytest::read),
    (r"assertion `left == right` failed", rust::read),
    (r"assertion failed: `\(left == right\)`", rust::read),
    (r"(?:iterable|array) contents differ at index ", junit::index),
    (r"arrays first differed at element ", junit::index),
    (r"expected: <", junit::five),
    (r"expected:<", junit::four),
    (r"expected: ", assertj::equal),
    (r"Expected: ", hamcrest::read),
    (r"Expecting(?: actual)?:", assertj::read),
    (r"same elements but not in the same order", assertj::same_elements),
    (r"Assert\.AreEqual failed\. Expected:<", mstest::equal),
    (r"CollectionAssert\.AreEqual failed\.", mstest::collection),
];

/// One expression for all anchors, each in a group of its own.
static ANCHORS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let groups: Vec<String> = FAMILIES.iter().map(|(pattern, _)| format!("({pattern})")).collect();
    Regex::new(&groups.join("|")).ok()
});

/// Recovers the order that a failure saw from the text of the failure.
///
/// The assertions of the text are tried in the order in which they stand. The first one whose
/// sequences are complete decides: [`OrderKind::Permutation`] or [`OrderKind::LostOrExtra`]. An
/// order that is only suspected is returned where no later assertion of the text proves one.
/// `None` means that the text says nothing about order. At most 64 assertions are tried, each in
/// at most [`crate::limits::FAILURE_TEXT_MAX`] bytes; never panics, linear in the text.
pub fn recover(text: &str) -> Option<OrderFinding> {
    let anchors = ANCHORS.as_ref()?;
    let text = text::plain(text);
    let mut doubt = None;
    let mut at = 0;
    for _ in 0..ANCHORS_MAX {
        let Some(found) = anchors.captures_at(&text, at) else {
            break;
        };
        let Some((start, family, end)) = which(&found) else {
            break;
        };
        at = end;
        match family(&Excerpt::new(&text, start)) {
            Some(finding) if finding.kind != OrderKind::Suspected => return Some(finding),
            Some(finding) => doubt = doubt.or(Some(finding)),
            None => {}
        }
    }
    doubt
}

/// Start, family and end of a match.
fn which(found: &regex::Captures<'_>) -> Option<(usize, Family, usize)> {
    FAMILIES.iter().enumerate().find_map(|(n, &(_, family))| {
        let group = found.get(n + 1)?;
        Some((group.start(), family, group.end()))
    })
}
