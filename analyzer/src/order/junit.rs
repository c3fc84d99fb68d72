//! JUnit 5 and JUnit 4: `expected: <[A, B]> but was: <[B, A]>`, with a message before it or not.
//! Elements are written bare, so one that holds `, ` makes the split a guess.

use super::compact;
use super::judge::{Operand, Operands, Printer, first_mismatch, judge, operand};
use super::text::Excerpt;
use super::{OrderClass, OrderFinding, OrderKind, Side};

/// What Java assertions print: named sides, bare strings.
pub(super) const PRINTER: Printer =
    Printer { side: Side::Label, class: OrderClass::Full, quotes: None, ordered: &['['] };

/// JUnit 5: `[message ==> ]expected: <…> but was: <…>`.
pub(super) fn five(excerpt: &Excerpt<'_>) -> Option<OrderFinding> {
    let (expected, observed) = operands(excerpt.rest(), "expected: <", "> but was: <")?;
    judge(&Operands {
        expected: operand(expected, None),
        observed: operand(observed, None),
        printer: PRINTER,
    })
}

/// JUnit 4: `[message ]expected:<…> but was:<…>`. Two strings are compacted: their common ends may
/// be shortened and what differs stands in brackets of its own.
pub(super) fn four(excerpt: &Excerpt<'_>) -> Option<OrderFinding> {
    let (expected, observed) = operands(excerpt.rest(), "expected:<", "> but was:<")?;
    if excerpt.before().contains("arrays first differed at element ") {
        return None; // read from there
    }
    let strings = excerpt.before().contains("ComparisonFailure");
    let printed = judge(&Operands {
        expected: operand(expected, None),
        observed: operand(observed, None),
        printer: PRINTER,
    });
    let proven = printed.as_ref().is_some_and(|f| f.kind == OrderKind::Permutation);
    if proven && !strings {
        return printed;
    }
    match compact::undo(expected, observed, strings) {
        Some((e, a)) => judge(&Operands { expected: side(&e), observed: side(&a), printer: PRINTER }),
        None => printed,
    }
}

/// What stood in a compacted string; a shortened one is a text of which parts are missing.
fn side(plain: &compact::Plain) -> Operand<'_> {
    if plain.cut {
        return Operand::Text { text: plain.text.clone(), cut: true };
    }
    operand(&plain.text, None)
}

/// `iterable contents differ at index [0], expected: <A> but was: <B>` and JUnit 4's
/// `arrays first differed at element [0]; expected:<A> but was:<B>`: one mismatch, no sequence.
pub(super) fn index(excerpt: &Excerpt<'_>) -> Option<OrderFinding> {
    let text = excerpt.rest();
    let line = text.lines().next()?;
    let (expected, observed) = if line.contains("expected: <") {
        operands(text, "expected: <", "> but was: <")?
    } else {
        operands(text, "expected:<", "> but was:<")?
    };
    let (expected, observed) = match compact::undo(expected, observed, false) {
        Some((e, a)) => (e.text, a.text),
        None => (expected.to_owned(), observed.to_owned()),
    };
    first_mismatch(&expected, &observed, Side::Label)
}

/// The two operands between `open`, `between` and the closing `>`.
fn operands<'a>(text: &'a str, open: &str, between: &str) -> Option<(&'a str, &'a str)> {
    let start = text.find(open)? + open.len();
    let middle = start + text[start..].find(between)?;
    let rest = &text[middle + between.len()..];
    let expected = &text[start..middle];
    let line = rest.find('\n').map_or(rest, |n| &rest[..n]);
    let end = match line.rfind('>') {
        Some(end) if !expected.contains('\n') => end,
        _ => closing(rest)?,
    };
    Some((expected, &rest[..end]))
}

/// Where a value of several lines ends: at the first `>` that ends a line and is followed by the
/// end, an empty line, a stack frame or a log tag; at the first `>` at a line's end otherwise.
fn closing(rest: &str) -> Option<usize> {
    let mut fallback = None;
    let mut offset = 0;
    let mut lines = rest.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let body = line.trim_end();
        if body.ends_with('>') {
            let end = offset + body.len() - 1;
            fallback = fallback.or(Some(end));
            let next = lines.peek().map_or("", |next| next.trim());
            let frame = ["at ", "[", "Caused by", "Error:", "..."].iter().any(|f| next.starts_with(f));
            if next.is_empty() || frame {
                return Some(end);
            }
        }
        offset += line.len();
    }
    fallback
}
