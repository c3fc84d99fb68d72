//! Python's unittest: `Lists differ: [..] != [..]` and the ndiff below it.

use super::judge::{Operand, Operands, Printer, first_mismatch, judge, suspected};
use super::literal::{self, List, Quotes};
use super::text::Excerpt;
use super::{OrderClass, OrderFinding, OrderKind, Side};

const SEPARATOR: &str = " != ";

/// Reads from `Lists differ: ` on. The sides are not named: the second argument is assumed to be
/// the expected one.
pub(super) fn read(excerpt: &Excerpt<'_>) -> Option<OrderFinding> {
    if excerpt.before().contains("FAILED ") {
        return None; // a line of pytest's summary, cut to the width of a terminal
    }
    let text = excerpt.rest();
    let (header, below) = text.split_once('\n').unwrap_or((text, ""));
    let values = &header[header.find(": ")? + 2..];
    if let Some((first, second)) = whole(values) {
        return verdict(first, second, OrderClass::Full);
    }
    let (minus, plus) = rebuild(below);
    let sides = (listed(&minus), listed(&plus));
    if let (Some(first), Some(second)) = sides {
        return verdict(first, second, OrderClass::Hunks);
    }
    let mut lines = below.lines();
    let mut doubt = None;
    while let Some(line) = lines.next() {
        if line.contains(" list contains ") && line.contains(" additional element") {
            let mut finding =
                doubt.unwrap_or_else(|| suspected(Vec::new(), Vec::new(), OrderClass::First, Side::Assumed));
            finding.kind = OrderKind::LostOrExtra;
            return Some(finding);
        }
        if line.starts_with("First differing element ") {
            let (first, second) = (lines.next()?, lines.next()?);
            doubt = first_mismatch(second, first, Side::Assumed);
        } else if line.starts_with(['-', '+']) {
            break;
        }
    }
    doubt
}

fn verdict(first: List<'_>, second: List<'_>, class: OrderClass) -> Option<OrderFinding> {
    judge(&Operands {
        expected: Operand::List(second),
        observed: Operand::List(first),
        printer: Printer { side: Side::Assumed, class, quotes: Some(Quotes::Escaped), ordered: &['[', '('] },
    })
}

/// Both lists of the header line, if neither is abbreviated.
fn whole(values: &str) -> Option<(List<'_>, List<'_>)> {
    let first = literal::parse_at(values, 0, Quotes::Escaped)?;
    let rest = values.get(first.end..)?;
    let at = first.end + rest.starts_with(SEPARATOR).then_some(SEPARATOR.len())?;
    let second = literal::parse_at(values, at, Quotes::Escaped)?;
    let abbreviated = |t: &str| t.contains(" chars]") || t.contains("...");
    (!abbreviated(&values[..second.end])).then_some((first, second))
}

fn listed(side: &str) -> Option<List<'_>> {
    literal::parse_at(side, side.find(['[', '('])?, Quotes::Escaped)
}

/// Rebuilds both texts from an ndiff: `- ` first, `+ ` second, two blanks both, `? ` hints. The
/// diff begins where a marker is followed by a bracket and ends at the first foreign line.
fn rebuild(below: &str) -> (String, String) {
    let mut sides = (String::new(), String::new());
    let mut begun = false;
    for line in below.lines() {
        let (marker, rest) = match line.get(..2) {
            Some(marker @ ("- " | "+ " | "  " | "? ")) => (marker, &line[2..]),
            _ if line.trim().is_empty() => continue,
            _ if begun => break,
            _ => continue,
        };
        if !begun {
            begun = rest.starts_with(['[', '(']) && marker != "? ";
            if !begun {
                continue;
            }
        }
        if marker != "+ " && marker != "? " {
            sides.0.push_str(rest);
            sides.0.push('\n');
        }
        if marker != "- " && marker != "? " {
            sides.1.push_str(rest);
            sides.1.push('\n');
        }
    }
    sides
}
