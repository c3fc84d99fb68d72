//! Rate change points: where along the executed runs the share of failures changes.

use super::highest_set;

/// Mean Bayes factor from which a change is reported.
pub const BAYES_FACTOR_MIN: f64 = 20.0;
/// Fewest failures of a segment that is scanned.
pub const FAILURES_MIN: usize = 2;
/// Most changes reported for one test.
pub const CUTS_MAX: usize = 64;
/// Pseudo-failures of the prior Beta(a, b); b keeps its mean at the rate of the segment.
const PRIOR_FAILURES: f64 = 0.5;
/// Coverage of the interval of a change.
const COVERAGE: f64 = 0.95;

/// The evidence for one change of the rate in one segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// Runs before the most likely place, 1…n−1.
    pub s: usize,
    /// Mean Bayes factor over all places.
    pub mean: f64,
    /// ln of the Bayes factor with s runs on the left, for s = 1…n−1.
    pub ln_factors: Vec<f64>,
}

/// A reported change; `low` and `high` are the least and greatest number of runs before it in the
/// hull of the 95 % set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Runs before it.
    pub s: usize,
    /// Mean Bayes factor of the segment in which it was found; infinite where it cannot be expressed.
    pub bf: f64,
    /// See above.
    pub low: usize,
    /// See above.
    pub high: usize,
}

/// Bayes factors for a change after each of n−1 runs. `failed` holds the 0-based places of the
/// failures in a segment of `n` runs, ascending. `None` where nothing can change: less than two
/// failures, or no pass.
///
/// BF_s = B(a+f, b+s−f)·B(a+k−f, b+n−s−k+f) / [B(a+k, b+n−k)·B(a, b)] with f failures in the first
/// s runs, a = ½, b = ½(n−k)/k (Beta-Bernoulli marginal likelihoods). Neighbouring factors differ by
/// a quotient near 1, so their logarithms are summed without a gamma function: O(n), error below 1e-9.
pub fn factors(failed: &[usize], n: usize) -> Option<Scan> {
    let k = failed.len();
    if k < FAILURES_MIN || k >= n {
        return None;
    }
    let a = PRIOR_FAILURES;
    let b = PRIOR_FAILURES * (n - k) as f64 / k as f64;
    // Parameters of the left and the right posterior with nothing on the left yet; BF_0 = 1.
    let (mut left_a, mut left_b) = (a, b);
    let (mut right_a, mut right_b) = (a + k as f64, b + (n - k) as f64);
    let mut ln_factor = 0.0;
    let mut next_failure = failed.iter().copied().peekable();
    let mut ln_factors = Vec::with_capacity(n - 1);
    for run in 0..n - 1 {
        let (left_sum, right_sum) = (left_a + left_b, right_a + right_b - 1.0);
        let quotient = if next_failure.next_if_eq(&run).is_some() {
            right_a -= 1.0;
            left_a += 1.0;
            (left_a - 1.0) / left_sum * (right_sum / right_a)
        } else {
            right_b -= 1.0;
            left_b += 1.0;
            (left_b - 1.0) / left_sum * (right_sum / right_b)
        };
        ln_factor += quotient.ln();
        ln_factors.push(ln_factor);
    }
    let top = ln_factors.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = ln_factors.iter().map(|x| (x - top).exp()).sum();
    let mean = (top + (sum / (n - 1) as f64).ln()).exp();
    let s = 1 + ln_factors.iter().position(|&x| x >= top - 1e-9)?;
    Some(Scan { s, mean, ln_factors })
}

/// All rate changes among `n` runs of which those at `failed` (0-based, ascending) failed: the most
/// likely place is cut if the mean factor reaches [`BAYES_FACTOR_MIN`], then both sides are scanned.
pub fn scan(failed: &[usize], n: usize) -> Vec<Change> {
    let mut found = Vec::new();
    let mut open = vec![(0, n)];
    while let Some((start, end)) = open.pop() {
        if found.len() >= CUTS_MAX {
            break;
        }
        let inside = failed.partition_point(|&at| at < start)..failed.partition_point(|&at| at < end);
        let places: Vec<usize> = failed[inside].iter().map(|at| at - start).collect();
        let Some(scan) = factors(&places, end - start) else { continue };
        if scan.mean < BAYES_FACTOR_MIN {
            continue;
        }
        let (low, high) = highest_set(&scan.ln_factors, COVERAGE);
        let s = start + scan.s;
        found.push(Change { s, bf: scan.mean, low: start + low + 1, high: start + high + 1 });
        open.push((s, end));
        open.push((start, s));
    }
    found.sort_unstable_by_key(|change| change.s);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;
    use crate::stats::special::ln_beta;

    /// Positions counted from 1, as people count runs.
    fn places(runs: impl IntoIterator<Item = usize>) -> Vec<usize> {
        runs.into_iter().map(|run| run - 1).collect()
    }

    fn near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
    }

    #[test]
    fn golden_11_nine_of_965_shows_no_change() {
        let failed = places([60, 170, 260, 390, 500, 600, 660, 800, 900]);
        let scan_ = factors(&failed, 965).unwrap();
        near(scan_.mean, 0.5416, 5e-5);
        near(scan_.ln_factors[627].exp(), 0.4048, 5e-5);
        assert!(scan(&failed, 965).is_empty());
    }

    #[test]
    fn golden_12_changes_in_a_thousand_runs() {
        let cases: [(Vec<usize>, f64, Option<usize>); 4] = [
            ((550..=950).step_by(50).collect(), 23.58, Some(549)),
            ((25..=475).step_by(50).collect(), 29.13, Some(475)),
            ([150, 420, 700].into_iter().chain(996..=1000).collect(), 133.6, Some(995)),
            ((50..=950).step_by(100).collect(), 0.5030, None),
        ];
        for (runs, mean, cut) in cases {
            let failed = places(runs);
            near(factors(&failed, 1000).unwrap().mean / mean, 1.0, 5e-4);
            let found = scan(&failed, 1000);
            assert_eq!(found.first().map(|c| c.s), cut, "{failed:?}");
            for change in found {
                assert!(change.low <= change.s && change.s <= change.high);
            }
        }
    }

    #[test]
    fn factors_follow_their_closed_form() {
        let seed = 0x5eed_0004;
        let mut rng = Rng::new(seed);
        let n = 400;
        let failed: Vec<usize> = (0..n).filter(|_| rng.unit() < 0.05).collect();
        let k = failed.len() as f64;
        let (a, b) = (0.5, 0.5 * (n as f64 - k) / k);
        let scan = factors(&failed, n).unwrap();
        for s in 1..n {
            let f = failed.iter().filter(|&&at| at < s).count() as f64;
            let (left, right) = (s as f64, (n - s) as f64);
            let closed = ln_beta(a + f, b + left - f) + ln_beta(a + k - f, b + right - k + f)
                - ln_beta(a + k, b + n as f64 - k)
                - ln_beta(a, b);
            assert!((scan.ln_factors[s - 1] - closed).abs() < 1e-9, "s = {s} (seed {seed:#x})");
        }
    }

    #[test]
    fn nothing_to_scan_is_no_change() {
        assert!(factors(&[], 100).is_none());
        assert!(factors(&[7], 100).is_none());
        assert!(factors(&[0, 1, 2], 3).is_none());
        assert!(scan(&[], 0).is_empty());
        assert_eq!(factors(&[0, 1], 3).unwrap().ln_factors.len(), 2);
    }

    #[test]
    fn false_alarms_are_rare_at_a_steady_rate() {
        let seed = 0x5eed_0005;
        let mut rng = Rng::new(seed);
        let rounds = 300;
        let alarms = (0..rounds)
            .filter(|_| {
                let failed: Vec<usize> = (0..500).filter(|_| rng.unit() < 0.02).collect();
                !scan(&failed, 500).is_empty()
            })
            .count();
        // Below 0.5 % in the long run; five of 300 has probability 0.02 there.
        assert!(alarms < 6, "{alarms} of {rounds} (seed {seed:#x})");
    }

    #[test]
    fn a_million_runs_are_scanned_and_an_overwhelming_change_stays_in_range() {
        let failed: Vec<usize> = (500_000..1_000_000).step_by(10).collect();
        let found = scan(&failed, 1_000_000);
        assert_eq!(found.len(), 1);
        assert!(found[0].bf > 1e300 && (499_990..=500_001).contains(&found[0].s));
    }
}
