//! MSTest: `Assert.AreEqual` on texts and `CollectionAssert.AreEqual`.

use super::judge::{Operand, Operands, Printer, judge, suspected};
use super::text::Excerpt;
use super::{OrderClass, OrderFinding, Side};

const BETWEEN: &str = ">. Actual:<";

/// `Assert.AreEqual failed. Expected:<…>. Actual:<…>. message`
pub(super) fn equal(excerpt: &Excerpt<'_>) -> Option<OrderFinding> {
    let text = excerpt.rest();
    let start = text.find(":<")? + 2;
    let middle = start + text[start..].find(BETWEEN)?;
    let rest = &text[middle + BETWEEN.len()..];
    let end = rest
        .match_indices(">.")
        .map(|(n, _)| n)
        .find(|n| rest[n + 2..].chars().next().is_none_or(char::is_whitespace))?;
    judge(&Operands {
        expected: Operand::text(&text[start..middle]),
        observed: Operand::text(&rest[..end]),
        printer: Printer { side: Side::Label, class: OrderClass::Full, quotes: None, ordered: &['['] },
    })
}

/// `CollectionAssert.AreEqual failed. (Element at index 0 do not match.)`: no element is shown.
pub(super) fn collection(excerpt: &Excerpt<'_>) -> Option<OrderFinding> {
    let line = excerpt.rest().lines().next()?;
    line.contains("Element at index ")
        .then(|| suspected(Vec::new(), Vec::new(), OrderClass::Nothing, Side::Label))
}
