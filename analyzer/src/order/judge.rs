//! From the two operands of an assertion to a finding: what they prove, what they suggest.

use super::literal::{self, List, Quotes};
use super::{OrderClass, OrderFinding, OrderKind, Side, Split, compare, element, split};

/// Values inside values that are followed to the one list that differs.
const DESCENT_MAX: usize = 32;

/// One side of an assertion.
#[derive(Clone, Debug)]
pub(super) enum Operand<'a> {
    /// A list.
    List(List<'a>),
    /// Anything else; a string has lost its quotes and escapes.
    Text { text: String, cut: bool },
}

impl Operand<'_> {
    /// A complete text.
    pub(super) fn text(text: impl Into<String>) -> Operand<'static> {
        Operand::Text { text: text.into(), cut: false }
    }
}

/// What is known of the printer, beyond its operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Printer {
    /// How the expected side was decided.
    pub(super) side: Side,
    /// The class of a complete print.
    pub(super) class: OrderClass,
    /// How strings inside lists are written; `None` where strings are not quoted at all.
    pub(super) quotes: Option<Quotes>,
    /// Brackets of ordered values; a map or a set in braces has no order.
    pub(super) ordered: &'static [char],
}

/// Everything a family hands over.
#[derive(Clone, Debug)]
pub(super) struct Operands<'a> {
    /// The expected side (the right operand where sides are not named).
    pub(super) expected: Operand<'a>,
    /// The observed side.
    pub(super) observed: Operand<'a>,
    /// The printer.
    pub(super) printer: Printer,
}

/// Judges two operands. `None` where they say nothing about order or loss.
pub(super) fn judge(operands: &Operands<'_>) -> Option<OrderFinding> {
    let printer = operands.printer;
    match (&operands.expected, &operands.observed) {
        (Operand::List(e), Operand::List(a)) => lists(e, a, printer, 0),
        (Operand::Text { text: e, cut: false }, Operand::Text { text: a, cut: false }) => {
            let (how, (expected, observed)) = split::split(e, a)?;
            let mut finding = settled(expected, observed, printer)?;
            finding.split = Some(how);
            Some(finding)
        }
        (Operand::Text { text: e, .. }, Operand::Text { text: a, .. }) => {
            let pair = (split::lines(e), split::lines(a));
            cut_lines(pair, printer)
        }
        _ => None,
    }
}

fn lists(e: &List<'_>, a: &List<'_>, printer: Printer, depth: usize) -> Option<OrderFinding> {
    if e.open != a.open && !(printer.ordered.contains(&e.open) && printer.ordered.contains(&a.open)) {
        return None;
    }
    let (expected, observed) = (e.elements(), a.elements());
    if e.cut || a.cut {
        return window(expected, observed, printer);
    }
    if expected == observed {
        return None;
    }
    let ordered = printer.ordered.contains(&e.open);
    let (kind, _, _) = compare(&expected, &observed);
    if kind != OrderKind::Permutation
        && depth < DESCENT_MAX
        && let Some(inner) = descend(e, a, printer, depth)
        && inner.kind == OrderKind::Permutation
    {
        return Some(inner);
    }
    let single = expected.len() <= 1 && observed.len() <= 1;
    if !ordered || (single && printer.quotes.is_none()) {
        return None;
    }
    let mut finding = settled(expected, observed, printer)?;
    finding.ambiguous |= e.loose || a.loose;
    Some(finding)
}

/// The lists inside the only two elements that differ: `Some([1, 2])`, `'key': [1, 2]`.
fn descend(e: &List<'_>, a: &List<'_>, printer: Printer, depth: usize) -> Option<OrderFinding> {
    let position = split::only_difference(&e.items, &a.items)?;
    let (left, right) = (&*e.items[position], &*a.items[position]);
    let open = |text: &str| text.find(['[', '{', '(']);
    let (at_e, at_a) = (open(left)?, open(right)?);
    if left[..at_e] != right[..at_a] {
        return None;
    }
    let quotes = printer.quotes.unwrap_or(Quotes::Escaped);
    let inner_e = literal::parse_at(left, at_e, quotes).filter(|l| l.end == left.len())?;
    let inner_a = literal::parse_at(right, at_a, quotes).filter(|l| l.end == right.len())?;
    lists(&inner_e, &inner_a, printer, depth + 1)
}

/// A finding from complete sequences; `None` where they are printed alike.
pub(super) fn settled(
    expected: Vec<String>,
    observed: Vec<String>,
    printer: Printer,
) -> Option<OrderFinding> {
    if expected == observed {
        return None;
    }
    let (kind, ranks, ambiguous) = compare(&expected, &observed);
    let exact = kind == OrderKind::Permutation;
    let class = printer.class;
    Some(OrderFinding {
        kind,
        expected,
        observed,
        ranks,
        class,
        exact,
        ambiguous,
        side: printer.side,
        split: None,
    })
}

/// A finding from cut sequences: suspected where a displaced element is seen on both sides,
/// nothing otherwise. The parts that are not shown may hold anything, so nothing is proven.
pub(super) fn window(expected: Vec<String>, observed: Vec<String>, printer: Printer) -> Option<OrderFinding> {
    let differing = |a: &[String], b: &[String]| -> std::collections::HashSet<String> {
        a.iter().enumerate().filter(|&(i, x)| b.get(i) != Some(x)).map(|(_, x)| x.clone()).collect()
    };
    let left = differing(&expected, &observed);
    let shared = differing(&observed, &expected).iter().any(|x| left.contains(x));
    if expected == observed || !shared {
        return None;
    }
    Some(suspected(expected, observed, OrderClass::Window, printer.side))
}

/// Lines of two shortened strings; the first and last, which may be parts of lines, are left out.
fn cut_lines((expected, observed): super::split::Pair, printer: Printer) -> Option<OrderFinding> {
    let inner = |lines: &[String]| match lines {
        [_, middle @ .., _] => middle.to_vec(),
        _ => Vec::new(),
    };
    let (expected, observed) = (inner(&expected), inner(&observed));
    if compare(&expected, &observed).0 != OrderKind::Permutation {
        return None;
    }
    let mut finding = suspected(expected, observed, OrderClass::Elided, printer.side);
    finding.split = Some(Split::Lines);
    Some(finding)
}

/// A finding that says or suggests an order failure without proving it.
pub(super) fn suspected(
    expected: Vec<String>,
    observed: Vec<String>,
    class: OrderClass,
    side: Side,
) -> OrderFinding {
    let (ranks, exact, ambiguous, split) = (None, false, false, None);
    let kind = OrderKind::Suspected;
    OrderFinding { kind, expected, observed, ranks, class, exact, ambiguous, side, split }
}

/// A finding from the first mismatch alone.
pub(super) fn first_mismatch(expected: &str, observed: &str, side: Side) -> Option<OrderFinding> {
    let (expected, observed) = (element::clean(expected), element::clean(observed));
    (expected != observed).then(|| suspected(vec![expected], vec![observed], OrderClass::First, side))
}

/// Reads a value that may be a list or a quoted string; `None` quotes mean that strings stand bare.
pub(super) fn operand(text: &str, quotes: Option<Quotes>) -> Operand<'_> {
    let text = text.trim();
    let list = match quotes {
        Some(quotes) => literal::parse_at(text, 0, quotes).filter(|l| l.end == text.len()),
        None => literal::parse_plain(text),
    };
    match list {
        Some(list) => Operand::List(list),
        None => Operand::text(element::unquote(text).unwrap_or_else(|| text.to_owned())),
    }
}
