//! Hamcrest: `Expected: is <[A, B]>` above `     but: was <[B, A]>`.

use super::judge::{Operand, Operands, Printer, judge, suspected};
use super::literal::{self, Quotes};
use super::text::Excerpt;
use super::{OrderClass, OrderFinding, Side, element, junit};

/// Reads from `Expected: ` on; needs the `but: ` line below it.
pub(super) fn read(excerpt: &Excerpt<'_>) -> Option<OrderFinding> {
    let text = excerpt.rest().strip_prefix("Expected: ")?;
    let but = text.match_indices("but: ").find(|&(n, _)| {
        let before = text[..n].trim_end_matches([' ', '\t']);
        before.ends_with('\n') || before.len() + 4 <= n
    })?;
    let expected = text[..but.0].trim();
    let below = &text[but.0 + but.1.len()..];
    let observed = below.split("\n\tat ").next()?.lines().next()?.trim();
    if expected.contains("in any order") {
        return None;
    }
    if let Some(list) = expected.strip_prefix("iterable containing ") {
        return containing(list, observed);
    }
    let value = |text: &'_ str| -> Option<(String, bool)> {
        let bare = strip_words(text);
        match bare.strip_prefix('<').and_then(|b| b.strip_suffix('>')) {
            Some(inner) => Some((inner.to_owned(), true)),
            None => bare.starts_with(['[', '"']).then(|| (bare.to_owned(), false)),
        }
    };
    let (e, bare_e) = value(expected)?;
    let (a, bare_a) = value(observed.strip_prefix("was ")?)?;
    let quotes = (!(bare_e && bare_a)).then_some(Quotes::Escaped);
    let printer = Printer { quotes, ..junit::PRINTER };
    judge(&Operands { expected: printed(&e, bare_e), observed: printed(&a, bare_a), printer })
}

/// `is`, `equal to` and the like say nothing about the value.
fn strip_words(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(rest) = ["is ", "equal to ", "equalTo "].iter().find_map(|word| text.strip_prefix(word)) {
        text = rest.trim_start();
    }
    text
}

/// A value in angle brackets is a `toString`, any other one is quoted; elements of an array stand
/// in angle brackets of their own.
fn printed(text: &str, bare: bool) -> Operand<'_> {
    if bare {
        return super::judge::operand(text, None);
    }
    match literal::parse_at(text, 0, Quotes::Escaped).filter(|list| list.end == text.len()) {
        Some(mut list) => {
            for item in &mut list.items {
                *item = angle(item).to_owned().into();
            }
            Operand::List(list)
        }
        None => super::judge::operand(text, Some(Quotes::Escaped)),
    }
}

/// One level of angle brackets off.
fn angle(item: &str) -> &str {
    item.strip_prefix('<').and_then(|i| i.strip_suffix('>')).unwrap_or(item)
}

/// `contains(..)` shows what was expected and the first element that did not match. It is
/// suspected to be an order where that element was expected in another place.
fn containing(list: &str, observed: &str) -> Option<OrderFinding> {
    let list = literal::parse_plain(list)?;
    let expected: Vec<String> = list.items.iter().map(|item| element::clean(angle(item))).collect();
    let (_, seen) = observed.strip_prefix("item ")?.split_once(": was ")?;
    let seen = element::clean(angle(seen.trim()));
    expected.contains(&seen).then(|| suspected(expected.clone(), vec![seen], OrderClass::First, Side::Label))
}
