//! Hostile texts: no panic, no quadratic time, and nothing proven that does not add up.

use crate::order::*;
use proptest::prelude::*;

/// Bytes of a long text: more than the stretch that one assertion may take.
const LONG: usize = 2 * crate::limits::FAILURE_TEXT_MAX;

/// Pieces that assertions are made of, so that arbitrary texts reach the inner branches.
const PIECES: &[&str] = &[
    "Assert.Equal() Failure",
    "Expected: ",
    "Actual: ",
    "Expected collection {",
    "} to equal {",
    " to be equal to {",
    ", but {",
    "} differs at index ",
    " to contain items {",
    "} in order",
    "Lists differ: ",
    " != ",
    "assert [",
    " == ",
    "Full diff:",
    "E       ",
    "At index 0 diff: ",
    "assertion `left == right` failed",
    "left: ",
    "right: ",
    "expected: <",
    "> but was: <",
    "expected:<",
    "> but was:<",
    "Expecting:",
    "but was: ",
    "to be equal to:",
    "     but: was ",
    "iterable containing [",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "\"",
    "'",
    "\\",
    ", ",
    ",",
    "\n",
    "...",
    "…",
    "···",
    "A",
    "B",
    "é",
    "<a>",
    "</a>",
    "&",
    "\u{1b}[",
    "Diff < left / right > :",
    "<",
    ">",
    "Assert.AreEqual failed. Expected:<",
    ">. Actual:<",
    ">.",
    "- [",
    "+ [",
    "  ",
    "u'",
    "\\u{",
];

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,400}") {
        let _ = recover(&text);
    }

    #[test]
    fn broken_assertions_never_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        if let Some(finding) = recover(&pieces.concat()) {
            let proven = finding.kind == OrderKind::Permutation;
            prop_assert_eq!(finding.ranks.is_some(), proven);
            if let Some(ranks) = finding.ranks {
                let back: Vec<String> = ranks.iter().map(|&r| finding.expected[r as usize].clone()).collect();
                prop_assert_eq!(&back, &finding.observed);
                prop_assert_ne!(&finding.expected, &finding.observed);
            }
        }
    }

    #[test]
    fn a_printed_permutation_comes_back(
        order in Just((0u32..12).collect::<Vec<u32>>()).prop_shuffle(),
        names in prop::collection::hash_set("[\\PC&&[^\"\\\\]]{0,12}", 12),
    ) {
        let names: Vec<String> = names.into_iter().collect();
        let observed: Vec<String> = order.iter().map(|&r| names[r as usize].clone()).collect();
        let text = format!("assertion `left == right` failed\n  left: {observed:?}\n right: {names:?}\n");
        let identity = order.windows(2).all(|w| w[0] < w[1]);
        let ranks = recover(&text).and_then(|f| f.ranks);
        prop_assert_eq!(ranks, (!identity).then_some(order));
    }
}

/// Steps grow with the text, not with its square: a long text that is all beginnings
/// would take hours otherwise, and the test would not end.
#[test]
fn a_long_text_of_beginnings_ends() {
    for piece in PIECES {
        let _ = recover(&piece.repeat(LONG / piece.len()));
    }
    for (head, piece) in [
        ("Assert.Equal() Failure\nExpected: [", "'"),
        ("Expected collection {", "\"x"),
        ("assertion `left == right` failed\n  left: [", "("),
        ("expected: <", ">\n"),
        ("expected: <[", "[a, "),
        ("Expecting:\n", "to be equal to:\n"),
        ("E assert ['", "\\'"),
    ] {
        let _ = recover(&format!("{head}{}", piece.repeat(LONG / piece.len())));
    }
}
