//! The ratio of two rates with an interval: what a p-value near 1 leaves open.

use super::special::{beta_inc, increasing_root, ln_beta, logistic};

/// Nodes of one quadrature; only extremely uneven pairs of counts reach it.
const NODES_MAX: usize = 2048;

/// Densities below e^−this of their peak are left out.
const TAIL: f64 = 36.0;

/// Median and equal-tailed interval of later rate over earlier rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Posterior median.
    pub median: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// A Beta posterior on a grid of logits.
struct Posterior {
    a: f64,
    b: f64,
    /// Rates.
    nodes: Vec<f64>,
    /// Probability at each node; they sum to 1.
    weights: Vec<f64>,
}

impl Posterior {
    /// Jeffreys posterior of k failures in n runs: Beta(k+½, n−k+½).
    fn parameters(k: u64, n: u64) -> (f64, f64) {
        (k.min(n) as f64 + 0.5, n.saturating_sub(k) as f64 + 0.5)
    }

    fn width((a, b): (f64, f64)) -> f64 {
        ((a + b) / (a * b)).sqrt()
    }

    /// The trapezoid rule in t = logit of the rate. The density in t is analytic and falls off
    /// exponentially on both sides, so the error shrinks exponentially with the step.
    fn new((a, b): (f64, f64), step: f64) -> Self {
        let scale = ln_beta(a, b);
        let softplus = |t: f64| {
            if t > 0.0 { t + (-t).exp().ln_1p() } else { t.exp().ln_1p() }
        };
        let ln_density = |t: f64| a * t - (a + b) * softplus(t) - scale;
        let mode = (a / b).ln();
        let floor = ln_density(mode) - TAIL;
        let reach = |sign: f64| {
            let mut distance = Self::width((a, b));
            while ln_density(mode + sign * distance) > floor {
                distance *= 1.25;
            }
            distance
        };
        let (left, right) = (reach(-1.0), reach(1.0));
        let count = (((left + right) / step).ceil() as usize).clamp(16, NODES_MAX);
        let step = (left + right) / count as f64;
        let at = |i: usize| mode - left + step * i as f64;
        let nodes = (0..=count).map(|i| logistic(at(i))).collect();
        let density: Vec<f64> = (0..=count).map(|i| ln_density(at(i)).exp()).collect();
        let sum: f64 = density.iter().sum();
        Posterior { a, b, nodes, weights: density.iter().map(|d| d / sum).collect() }
    }

    /// P(other ≤ factor · self), for factor ≤ 1: the argument never passes 1, where the other's
    /// distribution function would have a kink.
    fn other_below(&self, other: &Posterior, factor: f64) -> f64 {
        let terms = self.nodes.iter().zip(&self.weights);
        terms.map(|(x, w)| w * beta_inc(other.a, other.b, factor * x)).sum()
    }
}

/// Ratio of the rate k2/n2 (later) to k1/n1 (earlier) under independent Jeffreys priors, with an
/// equal-tailed interval of the given level.
///
/// The quadrature is deterministic. Probabilities are exact to 1e-8 unless the counts are so
/// uneven (nothing against ten thousands) that the grid is capped; then to about 1e-3.
pub fn jeffreys_ratio(k1: u64, n1: u64, k2: u64, n2: u64, level: f64) -> Ratio {
    let (earlier, later) = (Posterior::parameters(k1, n1), Posterior::parameters(k2, n2));
    // Fine enough for the narrower of the two, and never coarser than the logistic function itself.
    let step = (Posterior::width(earlier).min(Posterior::width(later)) / 2.0).min(0.5);
    let (earlier, later) = (Posterior::new(earlier, step), Posterior::new(later, step));
    let at_most = |ln_ratio: f64| {
        let ratio = ln_ratio.exp();
        if ratio <= 1.0 {
            earlier.other_below(&later, ratio)
        } else {
            1.0 - later.other_below(&earlier, 1.0 / ratio)
        }
    };
    let quantile = |p: f64| increasing_root(|ln_ratio| at_most(ln_ratio) - p, -80.0, 80.0, 1e-9).exp();
    let tail = (1.0 - level) / 2.0;
    Ratio { median: quantile(0.5), low: quantile(tail), high: quantile(1.0 - tail) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
    }

    #[test]
    fn ratio_has_its_golden_values() {
        let ratio = jeffreys_ratio(6, 628, 3, 337, 0.95);
        near(ratio.median, 0.96, 0.005);
        near(ratio.low, 0.22, 0.005);
        near(ratio.high, 3.47, 0.005);
    }

    #[test]
    fn ratio_of_swapped_windows_is_the_inverse() {
        for (k1, n1, k2, n2) in [(6, 628, 3, 337), (0, 40, 7, 90), (5, 6, 6, 6), (0, 1, 1, 1)] {
            let (there, back) = (jeffreys_ratio(k1, n1, k2, n2, 0.9), jeffreys_ratio(k2, n2, k1, n1, 0.9));
            near(there.median * back.median, 1.0, 1e-6);
            near(there.low * back.high, 1.0, 1e-6);
        }
    }

    #[test]
    fn ratio_of_equal_counts_has_median_one() {
        for (k, n) in [(0, 5), (3, 3), (4, 1000), (10_000, 1_000_000)] {
            near(jeffreys_ratio(k, n, k, n, 0.95).median, 1.0, 1e-6);
        }
    }

    /// With one run each and opposite results both posteriors are arcsine-like; a plain midpoint sum
    /// over quantiles, written independently, gives the same.
    #[test]
    fn ratio_agrees_with_a_sum_over_quantiles() {
        use crate::stats::special::beta_inc_inv;
        for (k1, n1, k2, n2) in [(1_u64, 20_u64, 4_u64, 30_u64), (2, 3, 3, 3)] {
            let ratio = jeffreys_ratio(k1, n1, k2, n2, 0.95);
            let beta = |k: u64, n: u64| (k as f64 + 0.5, (n - k) as f64 + 0.5);
            let ((a1, b1), (a2, b2)) = (beta(k1, n1), beta(k2, n2));
            let cells = 4000;
            let below = |r: f64| {
                let at = |i: i32| beta_inc_inv(a1, b1, (f64::from(i) + 0.5) / f64::from(cells));
                (0..cells).map(|i| beta_inc(a2, b2, r * at(i))).sum::<f64>() / f64::from(cells)
            };
            near(below(ratio.low), 0.025, 2e-4);
            near(below(ratio.median), 0.5, 2e-4);
            near(below(ratio.high), 0.975, 2e-4);
        }
    }

    #[test]
    fn ratio_stays_finite_for_uneven_counts() {
        let ratio = jeffreys_ratio(0, 1_000_000, 100_000, 1_000_000, 0.95);
        assert!(
            ratio.low > 1e4
                && ratio.high.is_finite()
                && ratio.low < ratio.median
                && ratio.median < ratio.high
        );
    }
}
