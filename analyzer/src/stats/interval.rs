//! Intervals for a share k of n: Wilson, Jeffreys, Clopper-Pearson. All are (low, high) in 0…1.

use super::special::{beta_inc_inv, normal_quantile};

/// Wilson's score interval (Wilson 1927), the one shown beside a rate.
///
/// `level` is the coverage aimed at, such as 0.95. `k` is capped at `n`; without any run the
/// interval is (0, 1).
pub fn wilson(k: u64, n: u64, level: f64) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    let (failed, runs) = (k.min(n) as f64, n as f64);
    let z = normal_quantile(0.5 + level / 2.0);
    let (share, weight) = (failed / runs, z * z / runs);
    let centre = (share + weight / 2.0) / (1.0 + weight);
    let half = z / (1.0 + weight) * (share * (1.0 - share) / runs + weight / (4.0 * runs)).sqrt();
    // The ends are exact at 0 and n; rounding would leave 1e-19 there.
    let low = if k == 0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if k >= n { 1.0 } else { (centre + half).min(1.0) };
    (low, high)
}

/// Jeffreys' interval: equal tails of Beta(k+½, n−k+½), ends 0 and 1 at k = 0 and k = n
/// (Brown, Cai and DasGupta 2001).
pub fn jeffreys(k: u64, n: u64, level: f64) -> (f64, f64) {
    let k = k.min(n);
    let tail = (1.0 - level) / 2.0;
    let (a, b) = (k as f64 + 0.5, (n - k) as f64 + 0.5);
    let low = if k == 0 { 0.0 } else { beta_inc_inv(a, b, tail) };
    let high = if k == n { 1.0 } else { beta_inc_inv(a, b, 1.0 - tail) };
    (low, high)
}

/// Clopper and Pearson's interval (1934): never covers less than `level`, and is wider for it.
pub fn clopper_pearson(k: u64, n: u64, level: f64) -> (f64, f64) {
    let k = k.min(n);
    let tail = (1.0 - level) / 2.0;
    let (failed, passed) = (k as f64, (n - k) as f64);
    let low = if k == 0 { 0.0 } else { beta_inc_inv(failed, passed + 1.0, tail) };
    let high = if k == n { 1.0 } else { beta_inc_inv(failed + 1.0, passed, 1.0 - tail) };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;

    fn same(actual: (f64, f64), expected: (f64, f64)) {
        let near = |a: f64, b: f64| (a - b).abs() < 5.1e-7;
        assert!(near(actual.0, expected.0) && near(actual.1, expected.1), "{actual:?} is not {expected:?}");
    }

    #[test]
    fn wilson_has_its_golden_values() {
        same(wilson(9, 965, 0.95), (0.004914, 0.017630));
        same(wilson(6, 628, 0.95), (0.004386, 0.020686));
        same(wilson(3, 337, 0.95), (0.003032, 0.025842));
        same(wilson(0, 337, 0.95), (0.0, 0.011271));
        assert_eq!(wilson(0, 0, 0.95), (0.0, 1.0));
        assert_eq!(wilson(7, 7, 0.95).1, 1.0);
    }

    #[test]
    fn jeffreys_has_its_golden_values() {
        same(jeffreys(9, 965, 0.95), (0.004624, 0.016952));
        same(jeffreys(6, 628, 0.95), (0.003997, 0.019586));
        same(jeffreys(3, 337, 0.95), (0.002513, 0.023564));
        same(jeffreys(0, 337, 0.95), (0.0, 0.007421));
        assert_eq!(jeffreys(5, 5, 0.95).1, 1.0);
    }

    #[test]
    fn clopper_pearson_has_its_golden_values() {
        same(clopper_pearson(9, 965, 0.95), (0.004273, 0.017630));
        same(clopper_pearson(6, 628, 0.95), (0.003514, 0.020679));
        same(clopper_pearson(3, 337, 0.95), (0.001840, 0.025794));
        same(clopper_pearson(0, 337, 0.95), (0.0, 0.010887));
    }

    #[test]
    fn intervals_mirror_when_failures_and_passes_swap() {
        for interval in [wilson, jeffreys, clopper_pearson] {
            let (low, high) = interval(9, 965, 0.9);
            same(interval(956, 965, 0.9), (1.0 - high, 1.0 - low));
        }
    }

    /// Coverage at 1 % by simulation: the mean over run counts is near 95 % (single run counts
    /// swing, as for every interval over a discrete count).
    #[test]
    fn wilson_and_jeffreys_cover_a_rate_of_one_percent() {
        let seed = 0x5eed_0001;
        let mut rng = Rng::new(seed);
        for (name, interval) in
            [("wilson", wilson as fn(u64, u64, f64) -> (f64, f64)), ("jeffreys", jeffreys)]
        {
            let (mut covered, mut drawn) = (0_u32, 0_u32);
            for n in [300_u64, 500, 700, 1000] {
                let table: Vec<(f64, f64)> = (0..=60).map(|k| interval(k, n, 0.95)).collect();
                for _ in 0..1000 {
                    let k = (0..n).filter(|_| rng.unit() < 0.01).count().min(60);
                    covered += u32::from(table[k].0 <= 0.01 && 0.01 <= table[k].1);
                    drawn += 1;
                }
            }
            let share = f64::from(covered) / f64::from(drawn);
            assert!((0.93..=0.98).contains(&share), "{name} covers {share} (seed {seed:#x})");
        }
    }
}
