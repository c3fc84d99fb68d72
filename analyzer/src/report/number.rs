//! Numbers as people read them.

/// A count with a comma between groups of three from 10,000 on.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 run`, `2 runs`.
pub(crate) fn of(value: u64, noun: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(value))
}

/// A share in percent without the sign: two decimals, or two significant digits below 0.1 %.
pub(crate) fn percent(share: f64) -> String {
    percent_like(share, share)
}

/// As [`percent`], with the number of decimals that `like` needs, so that an interval lines up with its value.
pub(crate) fn percent_like(share: f64, like: f64) -> String {
    let like = like * 100.0;
    let decimals =
        if like <= 0.0 || like >= 0.1 { 2 } else { (1.0 - like.log10().floor()).min(12.0) as usize };
    format!("{:.decimals$}", share * 100.0)
}

/// `0.93 % (0.49–1.76)`.
pub(crate) fn rate(value: f64, low: f64, high: f64) -> String {
    // A rate of 0 takes its precision from the upper end.
    let like = if value > 0.0 { value } else { high };
    format!("{} % ({}–{})", percent_like(value, like), percent_like(low, like), percent_like(high, like))
}

/// N of "about 1 in N"; `None` where nothing failed.
pub(crate) fn one_in(share: f64) -> Option<String> {
    if share <= 0.0 {
        return None;
    }
    let n = 1.0 / share;
    Some(if n >= 10.0 { count(n.round() as u64) } else { trimmed(n, 1) })
}

/// A probability: four decimals, fewer where they are zeros, an exponent below 0.0001.
pub(crate) fn probability(p: f64) -> String {
    if p > 0.0 && p < 1e-4 { format!("{p:.1e}") } else { at_least_two(format!("{p:.4}")) }
}

/// `1/84` where the probability is one over a whole number up to 9,999, as exact tests on few failures give.
pub(crate) fn fraction(p: f64) -> Option<String> {
    let n = (1.0 / p).round();
    let exact = (2.0..=9_999.0).contains(&n) && (p * n - 1.0).abs() < 1e-9;
    exact.then(|| format!("1/{n}"))
}

/// A ratio: two decimals below 10, one below 100, none from there on.
pub(crate) fn ratio(value: f64) -> String {
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.decimals$}")
}

/// With `decimals` decimals, zeros at the end dropped.
fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Drops zeros at the end, but keeps two decimals.
fn at_least_two(mut text: String) -> String {
    while text.ends_with('0') && text.len() - text.find('.').unwrap_or(0) > 3 {
        text.pop();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(965), "965");
        assert_eq!(count(9999), "9999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(of(1, "run"), "1 run");
        assert_eq!(of(0, "run"), "0 runs");
        assert_eq!(rate(0.009326, 0.004914, 0.017630), "0.93 % (0.49–1.76)");
        assert_eq!(rate(0.000021, 0.000001, 0.00013), "0.0021 % (0.0001–0.0130)");
        assert_eq!(rate(0.0, 0.0, 0.011271), "0.00 % (0.00–1.13)");
        assert_eq!(rate(0.0, 0.0, 0.000038), "0.0000 % (0.0000–0.0038)");
        assert_eq!(rate(1.0, 0.7, 1.0), "100.00 % (70.00–100.00)");
        assert_eq!(percent(0.393), "39.30");
    }

    #[test]
    fn one_in_n_and_probabilities() {
        assert_eq!(one_in(9.0 / 965.0).as_deref(), Some("107"));
        assert_eq!(one_in(0.4).as_deref(), Some("2.5"));
        assert_eq!(one_in(1.0).as_deref(), Some("1"));
        assert_eq!(one_in(0.0), None);
        assert_eq!(probability(0.023810), "0.0238");
        assert_eq!(probability(1.0), "1.00");
        assert_eq!(probability(0.05), "0.05");
        assert_eq!(probability(1.0825e-5), "1.1e-5");
        assert_eq!(probability(0.0), "0.00");
        assert_eq!(fraction(1.0 / 84.0).as_deref(), Some("1/84"));
        assert_eq!(fraction(0.0119), None);
        assert_eq!(fraction(1.0), None);
        assert_eq!(fraction(0.0), None);
        assert_eq!(ratio(0.2199), "0.22");
        assert_eq!(ratio(3.4712), "3.47");
        assert_eq!(ratio(12.34), "12.3");
        assert_eq!(ratio(1234.5), "1234");
    }
}
