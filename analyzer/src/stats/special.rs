//! Special functions: log-gamma, incomplete beta and its inverse, normal distribution, binomial tails.
//!
//! Absolute error below 1e-10 for arguments up to 10⁶.

use std::f64::consts::{PI, SQRT_2};

/// Stirling's series is used from here on; below, the argument is shifted up.
const STIRLING_FROM: f64 = 10.0;

/// Terms of the continued fraction of the incomplete beta function. It needs about the square
/// root of the larger parameter; this serves parameters up to 10⁸.
const FRACTION_TERMS_MAX: usize = 20_000;

/// Steps of a bracketed search; each at least halves the bracket every second time.
const ROOT_STEPS_MAX: usize = 200;

/// ln Γ(x) − [(x−½) ln x − x + ½ ln 2π] for x ≥ 10: the tail of Stirling's series
/// (Abramowitz and Stegun 6.1.41). The first term left out is below 3e-17.
fn stirling_tail(x: f64) -> f64 {
    const C: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    let square = 1.0 / (x * x);
    C.iter().rev().fold(0.0, |sum, c| sum * square + c) / x
}

/// ln Γ(x) for x > 0; NaN otherwise.
pub fn ln_gamma(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return f64::NAN;
    }
    let (mut shifted, mut product) = (x, 1.0);
    while shifted < STIRLING_FROM {
        product *= shifted;
        shifted += 1.0;
    }
    (shifted - 0.5) * shifted.ln() - shifted + 0.5 * (2.0 * PI).ln() + stirling_tail(shifted)
        - f64::ln(product)
}

/// ln B(a, b) for a, b > 0; NaN otherwise.
///
/// For a large parameter the leading terms are cancelled on paper, not in floating point
/// (Didonato and Morris 1992, algorithm 708).
pub fn ln_beta(a: f64, b: f64) -> f64 {
    let (small, large) = if a <= b { (a, b) } else { (b, a) };
    if large < STIRLING_FROM {
        return ln_gamma(small) + ln_gamma(large) - ln_gamma(small + large);
    }
    let sum = small + large;
    let tails = stirling_tail(large) - stirling_tail(sum);
    let rest = -(large - 0.5) * (small / large).ln_1p();
    if small < STIRLING_FROM {
        return ln_gamma(small) + small - small * sum.ln() + rest + tails;
    }
    0.5 * (2.0 * PI).ln() - 0.5 * small.ln()
        + small * (small / sum).ln()
        + rest
        + tails
        + stirling_tail(small)
}

/// ln of x^a (1−x)^b / B(a, b), for 0 < x < 1.
fn ln_beta_power(a: f64, b: f64, x: f64) -> f64 {
    a * x.ln() + b * (-x).ln_1p() - ln_beta(a, b)
}

/// Regularised incomplete beta function I_x(a, b), the distribution function of Beta(a, b).
///
/// Continued fraction (Abramowitz and Stegun 26.5.8, evaluated by Lentz's method) on the side
/// on which it converges fast. `x` outside [0, 1] is clamped.
pub fn beta_inc(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = ln_beta_power(a, b, x).exp();
    if x <= (a + 1.0) / (a + b + 2.0) {
        (front * beta_fraction(a, b, x) / a).clamp(0.0, 1.0)
    } else {
        (1.0 - front * beta_fraction(b, a, 1.0 - x) / b).clamp(0.0, 1.0)
    }
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let nonzero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for term in 1..=FRACTION_TERMS_MAX {
        let m = term as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / nonzero(1.0 + even * d);
        c = nonzero(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / nonzero(1.0 + odd * d);
        c = nonzero(1.0 + odd / c);
        let step = d * c;
        value *= step;
        if (step - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The x with I_x(a, b) = p: the p-quantile of Beta(a, b). `p` outside [0, 1] is clamped.
///
/// Newton's method on the logit of x, kept inside a bracket by bisection.
pub fn beta_inc_inv(a: f64, b: f64, p: f64) -> f64 {
    if p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return 1.0;
    }
    // Beyond ±745 the logistic function is 0 or 1 in floating point.
    let (mut low, mut high) = (-745.0, 745.0);
    let mut t = (a / b).ln();
    for _ in 0..ROOT_STEPS_MAX {
        let x = logistic(t);
        let miss = beta_inc(a, b, x) - p;
        if miss == 0.0 {
            return x;
        }
        if miss > 0.0 {
            high = t;
        } else {
            low = t;
        }
        let slope = if x > 0.0 && x < 1.0 { ln_beta_power(a, b, x).exp() } else { 0.0 };
        let mut next = t - miss / slope;
        if !(next > low && next < high) {
            next = 0.5 * (low + high);
        }
        if (next - t).abs() < 1e-14 * t.abs().max(1.0) {
            return logistic(next);
        }
        t = next;
    }
    logistic(t)
}

/// 1 / (1 + e^−t) without overflow.
pub(crate) fn logistic(t: f64) -> f64 {
    if t >= 0.0 { 1.0 / (1.0 + (-t).exp()) } else { t.exp() / (1.0 + t.exp()) }
}

/// Where the increasing function `f` crosses 0 between `low` and `high`; the nearer end if it does not.
///
/// Ridders' method (1979): bracketed, and doubles the digits at each step near the end.
pub(crate) fn increasing_root(f: impl Fn(f64) -> f64, low: f64, high: f64, width: f64) -> f64 {
    let (mut low, mut high) = (low, high);
    let (mut f_low, mut f_high) = (f(low), f(high));
    if f_low >= 0.0 {
        return low;
    }
    if f_high <= 0.0 {
        return high;
    }
    for _ in 0..ROOT_STEPS_MAX {
        if high - low <= width {
            break;
        }
        let middle = 0.5 * (low + high);
        let f_middle = f(middle);
        if f_middle == 0.0 {
            return middle;
        }
        let guess = middle - (middle - low) * f_middle / (f_middle * f_middle - f_low * f_high).sqrt();
        let guess = guess.clamp(low, high);
        let f_guess = f(guess);
        for (x, fx) in [(middle, f_middle), (guess, f_guess)] {
            if fx < 0.0 && x > low {
                (low, f_low) = (x, fx);
            } else if fx >= 0.0 && x < high {
                (high, f_high) = (x, fx);
            }
        }
    }
    0.5 * (low + high)
}

/// Φ(z), the standard normal distribution function.
///
/// Near 0 its power series, outside the continued fraction of Mills' ratio (Abramowitz and Stegun
/// 26.2.11 and 26.2.14).
pub fn normal_cdf(z: f64) -> f64 {
    let density = (-0.5 * z * z).exp() / ((2.0 * PI).sqrt());
    if z.abs() < 5.0 {
        let (mut term, mut sum, mut odd) = (z, z, 1.0);
        while term.abs() > 1e-18 {
            odd += 2.0;
            term *= z * z / odd;
            sum += term;
        }
        return 0.5 + density * sum;
    }
    let size = z.abs();
    let ratio = (1..=60).rev().fold(size, |tail, i| size + f64::from(i) / tail);
    let tail = density / ratio;
    if z < 0.0 { tail } else { 1.0 - tail }
}

/// The z with Φ(z) = p, for 0 < p < 1; infinite at the ends.
pub fn normal_quantile(p: f64) -> f64 {
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    increasing_root(|z| normal_cdf(z) - p, -40.0 * SQRT_2, 40.0 * SQRT_2, 1e-14)
}

/// P(Bin(n, p) ≥ m), through the incomplete beta function (Abramowitz and Stegun 26.5.24).
pub fn binomial_at_least(n: u64, p: f64, m: u64) -> f64 {
    if m == 0 {
        return 1.0;
    }
    if m > n {
        return 0.0;
    }
    beta_inc(m as f64, (n - m + 1) as f64, p)
}

/// P(Bin(n, p) ≤ m).
pub fn binomial_at_most(n: u64, p: f64, m: u64) -> f64 {
    if m >= n {
        return 1.0;
    }
    beta_inc((n - m) as f64, (m + 1) as f64, 1.0 - p)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
    }

    #[test]
    fn ln_gamma_gives_factorials_and_half_integers() {
        let mut factorial: f64 = 1.0;
        for n in 1..=20_u32 {
            near(ln_gamma(f64::from(n)), factorial.ln(), 1e-12);
            factorial *= f64::from(n);
        }
        near(ln_gamma(0.5), 0.5 * PI.ln(), 1e-13);
        near(ln_gamma(1e-3), 6.907_178_885_383_853, 1e-12);
        near(ln_gamma(100.0), 359.134_205_369_575_4, 1e-10);
        assert!(ln_gamma(0.0).is_nan() && ln_gamma(-1.0).is_nan());
    }

    #[test]
    fn ln_beta_agrees_with_its_definition_on_both_sides_of_each_branch() {
        for a in [0.5, 3.0, 9.99, 10.0, 10.01, 40.0] {
            for b in [0.5, 9.99, 10.0, 55.5] {
                near(ln_beta(a, b), ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b), 1e-11);
                near(ln_beta(a, b), ln_beta(b, a), 0.0);
            }
        }
        // B(a, 1) = 1/a stays exact where the gammas are of the size of ten millions.
        near(ln_beta(1e6, 1.0), -(1e6_f64.ln()), 1e-10);
        near(ln_beta(1e6, 2.0), -(1e6_f64.ln() + 1_000_001_f64.ln()), 1e-10);
    }

    #[test]
    fn beta_inc_has_its_closed_forms() {
        for x in [1e-9, 0.1, 0.37, 0.5, 0.93, 1.0 - 1e-9] {
            near(beta_inc(1.0, 1.0, x), x, 1e-12);
            near(beta_inc(3.0, 1.0, x), x.powi(3), 1e-12);
            near(beta_inc(0.5, 0.5, x), 2.0 / PI * x.sqrt().asin(), 1e-11);
            near(beta_inc(7.5, 120.0, x) + beta_inc(120.0, 7.5, 1.0 - x), 1.0, 1e-11);
        }
        assert_eq!(beta_inc(2.0, 3.0, -1.0), 0.0);
        assert_eq!(beta_inc(2.0, 3.0, 2.0), 1.0);
    }

    #[test]
    fn beta_inc_is_the_binomial_sum_also_for_a_million_runs() {
        // Σ P(X = i) built by ratios from P(X = 0), independent of the continued fraction.
        for (n, p, m) in [(965_u64, 0.009_326, 9_u64), (1_000_000, 0.001, 1_010), (20, 0.9, 12)] {
            let mut term = (n as f64 * f64::ln_1p(-p)).exp();
            let mut at_most = term;
            for i in 0..m {
                term *= (n - i) as f64 / (i + 1) as f64 * p / (1.0 - p);
                at_most += term;
            }
            if term == 0.0 {
                continue;
            }
            near(binomial_at_most(n, p, m), at_most, 1e-10);
            near(binomial_at_least(n, p, m + 1), 1.0 - at_most, 1e-10);
        }
    }

    #[test]
    fn beta_inc_inv_undoes_beta_inc() {
        for (a, b) in [(0.5, 337.5), (9.5, 956.5), (1000.5, 10.5), (500_000.5, 499_000.5)] {
            for p in [1e-8, 0.025, 0.5, 0.975, 1.0 - 1e-8] {
                let x = beta_inc_inv(a, b, p);
                near(beta_inc(a, b, x), p, 1e-10);
            }
        }
        // Arcsine law: sin²(πp/2).
        near(beta_inc_inv(0.5, 0.5, 0.01), (PI * 0.005).sin().powi(2), 1e-13);
        near(beta_inc_inv(0.5, 0.5, 0.9999), (PI * 0.499_95).sin().powi(2), 1e-13);
        assert_eq!(beta_inc_inv(0.5, 9.0, 0.0), 0.0);
        assert_eq!(beta_inc_inv(0.5, 9.0, 1.0), 1.0);
    }

    #[test]
    fn normal_distribution_has_its_table_values() {
        near(normal_quantile(0.975), 1.959_963_984_540_054, 1e-12);
        near(normal_quantile(0.995), 2.575_829_303_548_901, 1e-12);
        near(normal_quantile(0.1), -1.281_551_565_544_600_4, 1e-12);
        near(normal_cdf(-6.0) / 9.865_876_450_376_98e-10, 1.0, 1e-10);
        near(normal_cdf(4.999_999) - normal_cdf(5.000_001), 0.0, 1e-11);
        near(normal_cdf(0.0), 0.5, 0.0);
    }

    #[test]
    fn binomial_tails_have_their_ends() {
        assert_eq!(binomial_at_least(5, 0.3, 0), 1.0);
        assert_eq!(binomial_at_least(5, 0.3, 6), 0.0);
        assert_eq!(binomial_at_most(5, 0.3, 5), 1.0);
        near(binomial_at_most(2, 0.9, 1), 0.19, 1e-14);
        near(binomial_at_least(3, 0.02, 2), 0.001_184, 1e-12);
    }
}
