//! The runs guard: do equal orders come in blocks?

use super::special::{ln_gamma, normal_cdf};

/// Most labels for which the distribution of the number of runs is summed exactly; beyond, its
/// normal approximation is used, which is then off by less than 0.01.
pub const EXACT_MAX: usize = 2_000;

/// Probabilities below this are dropped while summing.
const NEGLIGIBLE: f64 = 1e-17;

/// Number of blocks of equal neighbouring labels.
pub fn runs<T: PartialEq>(labels: &[T]) -> usize {
    labels.chunk_by(|a, b| a == b).count()
}

/// P(R ≤ r): the probability that labels with these class totals, in random order, form at most
/// `r` blocks. Small values mean that equal labels stick together.
///
/// Exact up to [`EXACT_MAX`] labels: classes are inserted one after the other, and the number of
/// equal neighbours after each follows from hypergeometric choices of the gaps (all terms are
/// positive, so nothing cancels). Beyond, the normal approximation with continuity correction
/// (Barton and David 1957).
pub fn at_most(totals: &[usize], r: usize) -> f64 {
    let mut totals: Vec<usize> = totals.iter().copied().filter(|&n| n > 0).collect();
    totals.sort_unstable_by(|a, b| b.cmp(a));
    let all: usize = totals.iter().sum();
    if r >= all {
        return 1.0;
    }
    if r < totals.len() {
        return 0.0;
    }
    if all > EXACT_MAX {
        return approximate(&totals, r);
    }
    let choose = Choose::new(all + 1);
    let mut length = totals[0];
    // equal[e] = probability that e neighbouring pairs are equal.
    let mut equal = vec![0.0; all];
    equal[length - 1] = 1.0;
    for &total in &totals[1..] {
        equal = insert(&equal, length, total, &choose);
        length += total;
    }
    equal.iter().enumerate().filter(|(e, _)| all - e <= r).map(|(_, p)| p).sum::<f64>().min(1.0)
}

/// Puts `total` equal labels at random into a sequence of `length` others.
fn insert(equal: &[f64], length: usize, total: usize, choose: &Choose) -> Vec<f64> {
    let mut next = vec![0.0; equal.len()];
    let gaps = length + 1;
    for blocks in 1..=total.min(gaps) {
        let ways =
            choose.ln(total - 1, blocks - 1) + choose.ln(gaps, blocks) - choose.ln(length + total, total);
        let in_blocks = ways.exp();
        if in_blocks < NEGLIGIBLE {
            continue;
        }
        for (e, mass) in equal.iter().enumerate().filter(|(_, mass)| **mass * in_blocks >= NEGLIGIBLE) {
            // `broken` of the blocks stand inside a pair that was equal: hypergeometric, summed
            // outwards from the likely value by ratios, because the terms fall on both sides.
            let (least, most) = (blocks.saturating_sub(gaps - e), blocks.min(e));
            let likely = (blocks * e / gaps).clamp(least, most);
            let ways = choose.ln(e, likely) + choose.ln(gaps - e, blocks - likely) - choose.ln(gaps, blocks);
            let peak = mass * in_blocks * ways.exp();
            let up = |broken: usize| {
                let stay = (broken + 1) * (gaps - e + broken + 1 - blocks);
                ((e - broken) * (blocks - broken)) as f64 / stay as f64
            };
            let after = |broken: usize| e - broken + total - blocks;
            next[after(likely)] += peak;
            let mut term = peak;
            for broken in likely..most {
                term *= up(broken);
                next[after(broken + 1)] += term;
                if term < NEGLIGIBLE {
                    break;
                }
            }
            let mut term = peak;
            for broken in (least..likely).rev() {
                term /= up(broken);
                next[after(broken)] += term;
                if term < NEGLIGIBLE {
                    break;
                }
            }
        }
    }
    next
}

/// ln of binomial coefficients from a table of ln i!.
struct Choose(Vec<f64>);

impl Choose {
    fn new(most: usize) -> Self {
        Choose((0..=most).map(|i| ln_gamma(i as f64 + 1.0)).collect())
    }

    fn ln(&self, n: usize, k: usize) -> f64 {
        self.0[n] - self.0[k] - self.0[n - k]
    }
}

/// Normal approximation to [`at_most`]. The number of equal neighbours is a sum of k−1 indicators;
/// its mean and variance follow from the probabilities that one pair of neighbours is equal, that
/// two pairs that share a label both are, and that two pairs that share none both are.
fn approximate(totals: &[usize], r: usize) -> f64 {
    let k = totals.iter().sum::<usize>() as f64;
    let falling = |n: f64, times: u32| (0..times).map(|i| n - f64::from(i)).product::<f64>();
    let sum = |times: u32| totals.iter().map(|&n| falling(n as f64, times)).sum::<f64>();
    let (two, three, four) = (sum(2), sum(3), sum(4));
    let pair = two / falling(k, 2);
    // Two pairs of neighbours share a label (k−2 such) or do not ((k−2)(k−3)/2 such).
    let sharing = three / falling(k, 3);
    let squares: f64 = totals.iter().map(|&n| falling(n as f64, 2).powi(2)).sum();
    let apart = (four + two * two - squares) / falling(k, 4);
    let mean = (k - 1.0) * pair;
    let second = mean + 2.0 * (k - 2.0) * sharing + (k - 2.0) * (k - 3.0) * apart;
    let deviation = (second - mean * mean).max(0.0).sqrt();
    let equal_at_least = k - r as f64;
    if deviation == 0.0 {
        return if mean >= equal_at_least { 1.0 } else { 0.0 };
    }
    normal_cdf((mean - equal_at_least + 0.5) / deviation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Every arrangement, one by one.
    fn by_enumeration(totals: &[usize]) -> BTreeMap<usize, u64> {
        fn go(left: &mut [usize], last: usize, blocks: usize, out: &mut BTreeMap<usize, u64>) {
            if left.iter().all(|&n| n == 0) {
                *out.entry(blocks).or_default() += 1;
                return;
            }
            for class in 0..left.len() {
                if left[class] > 0 {
                    left[class] -= 1;
                    go(left, class, blocks + usize::from(class != last), out);
                    left[class] += 1;
                }
            }
        }
        let mut out = BTreeMap::new();
        go(&mut totals.to_vec(), usize::MAX, 0, &mut out);
        out
    }

    #[test]
    fn runs_are_counted() {
        assert_eq!(runs::<u32>(&[]), 0);
        assert_eq!(runs(&[3, 3, 3]), 1);
        assert_eq!(runs(&[1, 2, 2, 1]), 3);
    }

    #[test]
    fn the_distribution_equals_enumeration() {
        for totals in
            [vec![5, 3], vec![3, 3, 3], vec![4, 2, 1, 1], vec![1; 7], vec![2, 2, 2, 2], vec![7, 0, 2]]
        {
            let table = by_enumeration(&totals);
            let all: u64 = table.values().sum();
            let mut below = 0;
            for r in 0..=totals.iter().sum::<usize>() {
                below += table.get(&r).copied().unwrap_or(0);
                let expected = below as f64 / all as f64;
                assert!((at_most(&totals, r) - expected).abs() < 1e-12, "{totals:?} at {r}");
            }
        }
    }

    #[test]
    fn the_golden_block_is_unlikely() {
        // Five, five of another, five again: 15 of 3 003 arrangements.
        assert!((at_most(&[10, 5], 3) - 15.0 / 3003.0).abs() < 1e-13);
    }

    #[test]
    fn the_approximation_continues_the_exact_sum() {
        for totals in [vec![1000, 1000], vec![900, 600, 500], vec![1900, 60, 40]] {
            let all = totals.iter().sum::<usize>();
            assert_eq!(all, EXACT_MAX);
            let middle = (0..all).find(|&r| approximate(&totals, r) > 0.5).unwrap_or(all);
            for r in [middle - 34, middle - 8, middle + 20] {
                let (exact, close) = (at_most(&totals, r), approximate(&totals, r));
                assert!((exact - close).abs() < 0.01, "{totals:?} at {r}: {exact} and {close}");
            }
        }
        assert!(at_most(&[5000, 5000], 2) < 1e-9);
    }
}
