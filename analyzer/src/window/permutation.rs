//! Permutation change points: where along the failures of one test the observed order changes.
//!
//! Only failures count, in run order, one label for each distinct permutation. The statistic is the
//! gain in log-likelihood of two multinomials over one; its p-value is exact under exchangeability.

use super::{highest_set, lattice};
use crate::stats::special::ln_gamma;

/// Fewest failures that are scanned.
pub const FAILURES_MIN: usize = 4;
/// Largest p that is accepted as a change.
pub const P_MAX: f64 = 0.025;
/// Fewest failures on each side of an accepted change.
pub const SIDE_MIN: usize = 2;
/// Statistics closer than this are equal.
pub const TIE: f64 = 1e-9;
/// Most cuts reported for one series; a series with more is not a sequence of changes.
pub const CUTS_MAX: usize = 64;
/// Coverage of the interval of a change.
const COVERAGE: f64 = 0.95;

/// The most likely place of one change in a series, whether or not it is accepted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// Failures before it.
    pub j: usize,
    /// The statistic T.
    pub t: f64,
    /// p-value of the greatest T over all places.
    pub p: f64,
    /// True where rare classes were merged or `p` is an upper bound.
    pub coarse: bool,
}

/// An accepted change. Failures are counted from 1: gap g lies between failures g and g+1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Failures before it (the gap it lies in).
    pub j: usize,
    /// The statistic T in the segment in which it was found.
    pub t: f64,
    /// Its p-value there.
    pub p: f64,
    /// See [`Peak::coarse`].
    pub coarse: bool,
    /// First gap of the 95 % interval.
    pub low: usize,
    /// Last gap of the 95 % interval.
    pub high: usize,
}

/// Labels as class numbers 0… (by label), and the total of each class.
///
/// Which classes are merged must not depend on the order of the failures; labels number
/// permutations, so breaking ties by label does not.
fn classes(labels: &[u32]) -> (Vec<usize>, Vec<usize>) {
    let mut known: Vec<u32> = labels.to_vec();
    known.sort_unstable();
    known.dedup();
    let classes: Vec<usize> = labels.iter().map(|label| known.partition_point(|x| x < label)).collect();
    let mut totals = vec![0; known.len()];
    classes.iter().for_each(|&class| totals[class] += 1);
    (classes, totals)
}

/// The best place of one change among `labels`, with its p-value. `None` for less than two failures.
///
/// T_j = Σᵢ [h(lᵢ) + h(nᵢ−lᵢ) − h(nᵢ)] − [h(j) + h(k−j) − h(k)] with h(x) = x ln x; the greatest T_j
/// wins, of equal ones the one nearest the middle, then the earliest.
pub fn peak(labels: &[u32]) -> Option<Peak> {
    let k = labels.len();
    if k < 2 {
        return None;
    }
    let (mut series, totals) = classes(labels);
    let (totals, map, merged) = lattice::merge(&totals);
    series.iter_mut().for_each(|class| *class = map[*class]);
    let statistic = lattice::Statistic::new(&totals);
    let mut left = vec![0; totals.len()];
    let gains: Vec<f64> = series[..k - 1]
        .iter()
        .map(|&class| {
            left[class] += 1;
            statistic.of(&left)
        })
        .collect();
    let t = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let places = gains.iter().enumerate().filter(|(_, gain)| **gain >= t - TIE).map(|(i, _)| i + 1);
    let j = places.min_by_key(|&j| ((2 * j).abs_diff(k), j))?;
    let (p, bound) = lattice::p_at_least(&statistic, t - TIE);
    Some(Peak { j, t, p, coarse: merged || bound })
}

/// True where a peak of `k` failures is a change.
pub fn accepted(peak: &Peak, k: usize) -> bool {
    k >= FAILURES_MIN && peak.p <= P_MAX && peak.j >= SIDE_MIN && k - peak.j >= SIDE_MIN
}

/// All changes in a series: the best place is cut if accepted, then both sides are scanned again
/// with the same constants. `may_cut(j)` can forbid a cut after the j-th failure (two failures of
/// one run are no two places in time).
pub fn scan(labels: &[u32], may_cut: impl Fn(usize) -> bool) -> Vec<Change> {
    let mut found: Vec<Change> = Vec::new();
    let mut open = vec![(0, labels.len())];
    while let Some((start, end)) = open.pop() {
        if end - start < FAILURES_MIN || found.len() >= CUTS_MAX {
            continue;
        }
        let Some(peak) = peak(&labels[start..end]) else { continue };
        let j = start + peak.j;
        if !accepted(&peak, end - start) || !may_cut(j) {
            continue;
        }
        found.push(Change { j, t: peak.t, p: peak.p, coarse: peak.coarse, low: j, high: j });
        open.push((j, end));
        open.push((start, j));
    }
    found.sort_unstable_by_key(|change| change.j);
    let bounds: Vec<usize> =
        std::iter::once(0).chain(found.iter().map(|c| c.j)).chain(std::iter::once(labels.len())).collect();
    for (change, around) in found.iter_mut().zip(bounds.windows(3)) {
        let (low, high) = interval(&labels[around[0]..around[2]], change.j - around[0]);
        (change.low, change.high) = (around[0] + low, around[0] + high);
    }
    found
}

/// Hull of the smallest set of gaps that holds 95 % of the weight, for a series with one change in
/// gap `j`; ties are in, and so is `j`.
fn interval(labels: &[u32], j: usize) -> (usize, usize) {
    let (low, high) = highest_set(&ln_gap_weights(labels), COVERAGE);
    ((low + 1).min(j), (high + 1).max(j))
}

/// ln of the weight of each gap 1…k−1, up to a constant.
///
/// The weight of a gap is m(left)·m(right), m(c) = Π Γ(cᵢ+½)/Γ(½) · Γ(C/2)/Γ(N+C/2): the marginal
/// likelihood under a Dirichlet(½) prior over the C−1 classes seen and one unseen.
fn ln_gap_weights(labels: &[u32]) -> Vec<f64> {
    let (series, totals) = classes(labels);
    let k = series.len();
    let half = (totals.len() + 1) as f64 / 2.0;
    let mut left = vec![0_usize; totals.len()];
    // ln of the product over classes, moved along by Γ(c+3/2) = (c+½) Γ(c+½).
    let mut product = 0.0;
    let weight = |gap: usize| {
        let class = series[gap - 1];
        let right = totals[class] - left[class];
        product += (left[class] as f64 + 0.5).ln() - (right as f64 - 0.5).ln();
        left[class] += 1;
        product - ln_gamma(gap as f64 + half) - ln_gamma((k - gap) as f64 + half)
    };
    (1..k).map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;
    use crate::window::testing::labels;

    fn near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
    }

    fn changes(text: &str) -> Vec<Change> {
        scan(&labels(text), |_| true)
    }

    fn one(text: &str) -> Change {
        let found = changes(text);
        assert_eq!(found.len(), 1, "{text}");
        found[0]
    }

    #[test]
    fn golden_1_six_of_one_then_three_others() {
        for text in ["BBBBBBCCA", "BBBBBBCAC"] {
            let change = one(text);
            near(change.t, 5.7286, 5e-5);
            near(change.p, 6.0 / 252.0, 1e-12);
            assert_eq!((change.j, change.low, change.high), (6, 4, 8));
            assert!(!change.coarse);
        }
    }

    #[test]
    fn golden_2_seven_of_one_then_three_cyclic() {
        let change = one("FFFFFFFABCAB");
        near(change.t, 8.1503, 5e-5);
        near(change.p, 60.0 / 23_760.0, 1e-12);
        assert_eq!((change.j, change.low, change.high), (7, 6, 9));
    }

    #[test]
    fn golden_3_five_and_five_is_cut_four_and_four_is_not() {
        let change = one("PPPPPQQQQQ");
        near(change.p, 0.007937, 5e-7);
        assert_eq!((change.j, change.low, change.high), (5, 3, 7));
        assert!(changes("PPPPQQQQ").is_empty());
        near(peak(&labels("PPPPQQQQ")).unwrap().p, 0.028571, 5e-7);
    }

    #[test]
    fn golden_4_an_alternation_is_never_cut() {
        near(peak(&labels("ABABABAB")).unwrap().p, 1.0, 1e-12);
        assert!(changes("ABABABAB").is_empty());
    }

    #[test]
    fn golden_5_two_changes_are_found_by_recursion() {
        let found = changes("PPPPPQQQQQRRRRR");
        assert_eq!(found.iter().map(|c| c.j).collect::<Vec<_>>(), [5, 10]);
        near(found[0].p, 0.001990, 5e-7);
        near(found[1].p, 0.007937, 5e-7);
        assert!(found[0].high < 10 && found[1].low > 5, "intervals stay between the neighbouring cuts");
    }

    #[test]
    fn golden_6_there_and_back_is_a_blind_spot() {
        near(peak(&labels("PPPPPQQQQQPPPPP")).unwrap().p, 0.207459, 5e-7);
        assert!(changes("PPPPPQQQQQPPPPP").is_empty());
    }

    #[test]
    fn golden_7_uneven_sides() {
        let change = one(&format!("{}QQ", "P".repeat(12)));
        near(change.p, 0.021978, 5e-7);
        assert_eq!(change.j, 12);
        let text = format!("{}QQ", "P".repeat(11));
        near(peak(&labels(&text)).unwrap().p, 0.025641, 5e-7);
        assert!(changes(&text).is_empty());
        let text = format!("{}Q", "P".repeat(100));
        near(peak(&labels(&text)).unwrap().p, 0.019802, 5e-7);
        assert!(changes(&text).is_empty(), "a side of one failure is no change");
    }

    #[test]
    fn golden_8_a_stray_order_before_the_change() {
        let change = one(&format!("PPPZPPPPPP{}", "Q".repeat(10)));
        near(change.p, 1.0825e-5, 5e-10);
        assert_eq!((change.j, change.low, change.high), (10, 9, 11));
    }

    /// T by its definition, for one place.
    fn gain(labels: &[u32], j: usize) -> f64 {
        let h = |x: usize| if x == 0 { 0.0 } else { x as f64 * (x as f64).ln() };
        let k = labels.len();
        let mut sum = -(h(j) + h(k - j) - h(k));
        for class in 0..=labels.iter().copied().max().unwrap_or(0) {
            let all = labels.iter().filter(|&&x| x == class).count();
            let left = labels[..j].iter().filter(|&&x| x == class).count();
            sum += h(left) + h(all - left) - h(all);
        }
        sum
    }

    /// Share of all distinct arrangements of `labels` whose greatest T reaches that of `labels`.
    fn p_by_enumeration(labels: &[u32]) -> f64 {
        let best = |labels: &[u32]| (1..labels.len()).map(|j| gain(labels, j)).fold(0.0, f64::max);
        let observed = best(labels);
        let mut sorted = labels.to_vec();
        sorted.sort_unstable();
        let (mut hits, mut all) = (0_u64, 0_u64);
        loop {
            all += 1;
            hits += u64::from(best(&sorted) >= observed - 1e-9);
            // The next arrangement in lexicographic order.
            let Some(i) = (1..sorted.len()).rev().find(|&i| sorted[i - 1] < sorted[i]) else { break };
            let j = (i..sorted.len()).rev().find(|&j| sorted[j] > sorted[i - 1]).unwrap_or(i);
            sorted.swap(i - 1, j);
            sorted[i..].reverse();
        }
        hits as f64 / all as f64
    }

    #[test]
    fn gap_weights_follow_their_definition() {
        let series = labels("AABACBCC");
        let ln_m = |part: &[u32]| {
            let count = |class: u32| part.iter().filter(|&&x| x == class).count() as f64;
            let classes: f64 = (0..3).map(|class| ln_gamma(count(class) + 0.5) - ln_gamma(0.5)).sum();
            classes + ln_gamma(2.0) - ln_gamma(part.len() as f64 + 2.0)
        };
        let weights = ln_gap_weights(&series);
        for gap in 1..series.len() {
            let (left, right) = series.split_at(gap);
            let direct = ln_m(left) + ln_m(right) - ln_m(&series[..1]) - ln_m(&series[1..]);
            near(weights[gap - 1] - weights[0], direct, 1e-12);
        }
    }

    #[test]
    fn of_equal_places_the_one_nearest_the_middle_counts() {
        let peak = peak(&labels("AAAAA")).unwrap();
        assert_eq!((peak.j, peak.p, peak.t), (2, 1.0, 0.0));
        assert!(super::peak(&labels("A")).is_none());
    }

    #[test]
    fn the_p_value_equals_enumeration_of_all_arrangements() {
        let seed = 0x5eed_0002;
        let mut rng = Rng::new(seed);
        for round in 0..120 {
            let k = 2 + rng.below(7);
            let kinds = 1 + rng.below(4);
            let series: Vec<u32> = (0..k).map(|_| rng.below(kinds) as u32).collect();
            let (exact, brute) = (peak(&series).unwrap().p, p_by_enumeration(&series));
            assert!(
                (exact - brute).abs() < 1e-12,
                "{series:?}: {exact} and {brute} (seed {seed:#x}, round {round})"
            );
        }
    }

    #[test]
    fn false_alarms_stay_below_the_level() {
        let seed = 0x5eed_0003;
        let mut rng = Rng::new(seed);
        for weights in [&[0.5, 0.5][..], &[0.9, 0.1], &[1.0, 1.0, 1.0], &[0.6, 0.3, 0.1]] {
            for k in [6, 12, 20] {
                let rounds = 400;
                let alarms = (0..rounds)
                    .filter(|_| {
                        let series: Vec<u32> = (0..k).map(|_| rng.pick(weights) as u32).collect();
                        !scan(&series, |_| true).is_empty()
                    })
                    .count();
                // 2.5 % of 400 is 10; 20 and more has probability 0.003 at exactly 2.5 %.
                assert!(alarms < 20, "{alarms} of {rounds} at k = {k}, {weights:?} (seed {seed:#x})");
            }
        }
    }

    #[test]
    fn a_forbidden_place_is_not_cut() {
        assert!(scan(&labels("PPPPPQQQQQ"), |j| j != 5).is_empty());
    }

    #[test]
    fn large_series_stay_bounded() {
        let two: Vec<u32> = (0..4000).map(|i| u32::from(i >= 2000)).collect();
        let found = scan(&two, |_| true);
        assert_eq!(found.iter().map(|c| c.j).collect::<Vec<_>>(), [2000]);
        let mut rng = Rng::new(0x5eed_0008);
        let many: Vec<u32> = (0..3000).map(|_| rng.below(1000) as u32).collect();
        assert!(peak(&many).unwrap().coarse);
        assert!(scan(&many, |_| true).is_empty());
        let huge: Vec<u32> = (0..20_000).map(|i| u32::from(i >= 12_000)).collect();
        let peak = peak(&huge).unwrap();
        assert!(peak.coarse && peak.j == 12_000 && peak.p < 1e-12);
    }
}
