//! The table of verdicts, its golden examples, and error rates by simulation.

use super::*;
use crate::stats::rng::Rng;

/// Letters are orders; every failure is an exact order of three elements.
fn evidence(text: &str) -> Evidence {
    let mut kinds: Vec<u8> = text.bytes().collect();
    kinds.sort_unstable();
    kinds.dedup();
    let labels: Vec<usize> = text.bytes().map(|byte| kinds.partition_point(|&k| k < byte)).collect();
    Evidence { executed: 1000, failed: labels.len(), labels, ..Evidence::default() }
}

fn verdict(text: &str) -> Verdict {
    judge(&evidence(text)).verdict
}

#[test]
fn golden_examples_of_windows() {
    let p = |n: usize| "P".repeat(n);
    let cases = [
        ("BBBBBB".to_owned(), Verdict::SingleReorderConsistent),
        ("CCA".to_owned(), Verdict::Undecided),
        ("CAC".to_owned(), Verdict::Undecided),
        ("FFFFFFF".to_owned(), Verdict::SingleReorderConsistent),
        ("ABCAB".to_owned(), Verdict::Window),
        ("PPPPQQQQ".to_owned(), Verdict::Undecided),
        ("ABABABAB".to_owned(), Verdict::Window),
        ("PPPPPQQQQQPPPPP".to_owned(), Verdict::Undecided),
        ("PPPZPPPPPP".to_owned(), Verdict::Undecided),
        ("QQQQQQQQQQ".to_owned(), Verdict::SingleReorderConsistent),
        ("ABC".to_owned(), Verdict::Window),
        ("AABBA".to_owned(), Verdict::Window),
        (format!("{}Z{}", p(14), p(15)), Verdict::Undecided),
        (format!("{}Y{}Z{}", p(5), p(6), p(5)), Verdict::Window),
        (format!("{}Y{}Z{}", p(5), p(6), p(6)), Verdict::Undecided),
    ];
    for (text, expected) in cases {
        assert_eq!(verdict(&text), expected, "{text}");
    }
}

#[test]
fn the_runs_guard_has_its_golden_value() {
    let all = evidence("PPPPPQQQQQPPPPP");
    let mixture = Mixture::of(&all.labels, &all.totals());
    assert!((mixture.blocks_p - 0.0050).abs() < 5e-5);
    assert_eq!((mixture.accidents, mixture.accidents_min), (2, 2));
    assert!(judge(&all).why.contains("p = 0.0050"), "{}", judge(&all).why);
}

#[test]
fn equal_orders_climb_from_insufficient_to_strong() {
    for (k, expected) in [
        (1, Verdict::Insufficient),
        (2, Verdict::Insufficient),
        (5, Verdict::Insufficient),
        (6, Verdict::SingleReorderConsistent),
        (28, Verdict::SingleReorderConsistent),
        (29, Verdict::SingleReorderStrong),
    ] {
        assert_eq!(verdict(&"A".repeat(k)), expected, "k = {k}");
    }
    assert_eq!(verdict("AB"), Verdict::Insufficient);
}

#[test]
fn without_an_order_the_failures_decide() {
    let none = Evidence { executed: 50, ..Evidence::default() };
    assert_eq!(judge(&none).verdict, Verdict::Stable);
    assert_eq!(judge(&Evidence { failed: 4, ..none.clone() }).verdict, Verdict::NotOrder);
    let lost = judge(&Evidence { failed: 4, lost_or_extra: 3, ..none.clone() });
    assert!(lost.verdict == Verdict::NotOrder && lost.why.contains("3 lost"), "{}", lost.why);
    let hidden = judge(&Evidence { failed: 4, suspected: 2, ..none });
    assert!(hidden.verdict == Verdict::Insufficient && hidden.why.contains("2 look like"), "{}", hidden.why);
    assert_eq!(judge(&Evidence::default()).verdict, Verdict::Insufficient);
}

#[test]
fn shuffles_are_unordered_before_they_are_a_window() {
    let mut all = evidence("ABCD");
    (0..4).for_each(|_| all.displacement.add(&[4, 2, 0, 3, 1]));
    assert_eq!(judge(&all).verdict, Verdict::Unordered);
    let mut all = evidence("ABCD");
    (0..4).for_each(|_| all.displacement.add(&[4, 0, 1, 2, 3]));
    assert_eq!(judge(&all).verdict, Verdict::Window);
}

#[test]
fn undecided_says_the_counts_the_explanation_and_what_would_decide() {
    let judged = judge(&evidence("CCA"));
    // C, A, then C and A again: two accidents in five. Two of one, then twelve of the other: p = 0.022.
    assert_eq!(judged.outlook, Some(Outlook { mixing: Some(2), settled: Some(11) }));
    assert_eq!(verdict("CCACA"), Verdict::Window);
    assert_eq!(
        judged.why,
        "3 failures saw 2 different orders (2 and 1 times): one stray order, or one unseen change, would explain it; \
         2 more failures that keep mixing them would make it a window, 11 more failures that all show the latest one a change"
    );
    // Half of each, in two blocks: one more decides for a change.
    assert_eq!(judge(&evidence("PPPPQQQQ")).outlook.and_then(|o| o.settled), Some(1));
    // A single stray among many of another is never settled by more of those.
    assert_eq!(judge(&evidence("PPPZPPPPPP")).outlook.and_then(|o| o.settled), None);
}

#[test]
fn an_outlook_is_the_least_number_that_decides() {
    for text in ["CCA", "CAC", "PPPPQQQQ", "PPPZPPPPPP", "PPPPPQQQQQPPPPP", "AAAAAB"] {
        let Some(mixing) = judge(&evidence(text)).outlook.and_then(|o| o.mixing) else {
            panic!("{text} can be mixed")
        };
        let kinds: Vec<char> = text.chars().collect();
        let last = kinds[kinds.len() - 1];
        let other = *kinds.iter().find(|kind| **kind != last).unwrap();
        let ahead = |n: usize| -> String {
            let more: String = (0..n).map(|i| if i % 2 == 0 { other } else { last }).collect();
            format!("{text}{more}")
        };
        assert_eq!(verdict(&ahead(mixing)), Verdict::Window, "{text} and {mixing}");
        assert!((0..mixing).all(|n| verdict(&ahead(n)) != Verdict::Window), "{text}");
    }
}

#[test]
fn sentences_are_one_line_without_a_final_stop() {
    let texts = ["", "A", "AB", "AAAA", "AAAAAAA", "CCA", "ABCAB", "PPPPPQQQQQPPPPP", "ABCDEFGHIJ"];
    for text in texts {
        let why = judge(&evidence(text)).why;
        assert!(
            !why.is_empty() && !why.contains('\n') && !why.contains("  ") && !why.ends_with('.'),
            "{why}"
        );
    }
    let side = |observations, distinct, verdict| Side { observations, distinct, verdict };
    assert_eq!(
        mixed_why(
            6.0 / 252.0,
            side(6, 1, Verdict::SingleReorderConsistent),
            side(3, 2, Verdict::Undecided),
            1
        ),
        "the observed order changed (p = 0.0238): before it 6 failures with 1 order (single-reorder-consistent), \
         after it 3 failures with 2 different orders (undecided); look for what changed there and judge each window by itself"
    );
}

/// Error rates of the table, measured: see the table of error rates in the documentation.
#[test]
fn error_rates_hold() {
    let seed = 0x5eed_0006;
    let mut rng = Rng::new(seed);
    let rounds = 500;
    let mut share = |k: usize, draw: &dyn Fn(&mut Rng, usize) -> usize| -> f64 {
        let windows = (0..rounds)
            .filter(|_| {
                let raw: Vec<usize> = (0..k).map(|i| draw(&mut rng, i)).collect();
                let mut kinds = raw.clone();
                kinds.sort_unstable();
                kinds.dedup();
                let labels = raw.iter().map(|x| kinds.partition_point(|kind| kind < x)).collect();
                let all = Evidence { executed: 1000, failed: k, labels, ..Evidence::default() };
                judge(&all).verdict == Verdict::Window
            })
            .count();
        windows as f64 / f64::from(rounds)
    };
    let strays = |rng: &mut Rng, _: usize| if rng.unit() < 0.02 { 1 + rng.below(4) } else { 0 };
    for k in [3, 6, 10, 20] {
        let called = share(k, &strays);
        assert!(called <= 0.05, "{called} of single reorders with strays at k = {k} (seed {seed:#x})");
    }
    let even = |rng: &mut Rng, _: usize| rng.below(2);
    for (k, least) in [(5, 0.40), (10, 0.90), (20, 0.94)] {
        let called = share(k, &even);
        assert!(called >= least, "{called} of even windows at k = {k} (seed {seed:#x})");
    }
    let skewed = |rng: &mut Rng, _: usize| usize::from(rng.unit() < 0.1);
    let called = share(20, &skewed);
    assert!((0.22..=0.42).contains(&called), "{called} of 90/10 windows at k = 20 (seed {seed:#x})");
}
