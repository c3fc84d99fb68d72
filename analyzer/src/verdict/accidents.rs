//! How many accidents would explain a series of orders without a race window.
//!
//! An accident is a stray order (mis-extracted, or from somewhere else) or an unseen change.

use crate::stats::special::binomial_at_least;

/// Share of failures whose order may be a stray one.
const STRAY_SHARE: f64 = 0.02;

/// Probability below which that many strays are not believed.
const STRAY_LEVEL: f64 = 0.05;

/// The cheapest explanation so far for each order that could be the true one now.
///
/// Dynamic programme over the failures: keeping the true order is free, a change costs one, a
/// failure that shows another order than the true one costs one.
#[derive(Clone, Debug, Default)]
pub(super) struct Accidents {
    /// By label; labels are small dense numbers.
    cost: Vec<u64>,
    /// Least cost of the failures before the last one; what a label never seen would start from.
    cheapest: u64,
}

impl Accidents {
    /// For labels 0…kinds−1.
    pub(super) fn new(kinds: usize) -> Self {
        Accidents { cost: vec![0; kinds], cheapest: 0 }
    }

    /// Takes one more failure and gives the least number of accidents that explain all so far.
    pub(super) fn add(&mut self, label: usize) -> u64 {
        // At the first failure all costs are 0, so the change is never cheaper than keeping.
        let change = self.cheapest + 1;
        for (true_order, cost) in self.cost.iter_mut().enumerate() {
            *cost = (*cost).min(change) + u64::from(true_order != label);
        }
        self.cheapest = self.cost.iter().copied().min().unwrap_or(0);
        self.cheapest
    }
}

/// Least number of accidents that explain `labels` (dense, 0…kinds−1).
pub(super) fn cost(labels: &[usize], kinds: usize) -> u64 {
    let mut accidents = Accidents::new(kinds);
    labels.iter().fold(0, |_, &label| accidents.add(label))
}

/// Least m with P(Bin(k, 0.02) ≥ m) ≤ 0.05: fewer accidents than this may be strays.
pub fn accidents_min(k: u64) -> u64 {
    (1..=k).find(|&m| binomial_at_least(k, STRAY_SHARE, m) <= STRAY_LEVEL).unwrap_or(k + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> u64 {
        let labels: Vec<usize> = text.bytes().map(|byte| usize::from(byte - b'A')).collect();
        cost(&labels, 26)
    }

    #[test]
    fn golden_costs() {
        assert_eq!(of("ABABABAB"), 4);
        assert_eq!(of("CCA"), 1);
        assert_eq!(of("CAC"), 1);
        assert_eq!(of("ABC"), 2);
        assert_eq!(of("AABBA"), 2);
        assert_eq!(of("PPPPQQQQ"), 1);
        assert_eq!(of("PPPPPQQQQQPPPPP"), 2);
        assert_eq!(of("PPPZPPPPPP"), 1);
        assert_eq!(of("PPPPPYPPPPPPZPPPPP"), 2);
        assert_eq!(of("AAAA"), 0);
        assert_eq!(of(""), 0);
    }

    /// Every sequence of true orders, one by one.
    #[test]
    fn the_cost_is_the_cheapest_explanation() {
        let kinds = 3;
        for code in 0..3_usize.pow(6) {
            let labels: Vec<usize> = (0..6).map(|i| code / 3_usize.pow(i) % kinds).collect();
            let cheapest = (0..3_usize.pow(6))
                .map(|truth| {
                    let truth: Vec<usize> = (0..6).map(|i| truth / 3_usize.pow(i) % kinds).collect();
                    let changes = truth.windows(2).filter(|pair| pair[0] != pair[1]).count();
                    changes + truth.iter().zip(&labels).filter(|(t, x)| t != x).count()
                })
                .min()
                .unwrap_or(0);
            assert_eq!(cost(&labels, kinds), cheapest as u64, "{labels:?}");
        }
    }

    #[test]
    fn golden_least_numbers_of_accidents() {
        for (first, last, least) in [(3, 18, 2), (19, 41, 3), (42, 69, 4), (70, 99, 5), (100, 100, 6)] {
            for k in first..=last {
                assert_eq!(accidents_min(k), least, "k = {k}");
            }
        }
    }
}
