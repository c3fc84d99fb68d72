//! Names with numbers in them, compared as people read them: `9` before `10`.

use std::cmp::Ordering;

/// Compares two names part by part; runs of digits as numbers of any length, all else as bytes.
/// Total: names that differ only in leading zeros are put in order by their bytes.
pub fn natural_cmp(a: &str, b: &str) -> Ordering {
    let (mut x, mut y) = (a.as_bytes(), b.as_bytes());
    while let (Some(&p), Some(&q)) = (x.first(), y.first()) {
        if p.is_ascii_digit() && q.is_ascii_digit() {
            let (m, rest_x) = digits(x);
            let (n, rest_y) = digits(y);
            let order = m.len().cmp(&n.len()).then_with(|| m.cmp(n));
            if order.is_ne() {
                return order;
            }
            (x, y) = (rest_x, rest_y);
        } else {
            if p != q {
                return p.cmp(&q);
            }
            (x, y) = (&x[1..], &y[1..]);
        }
    }
    x.len().cmp(&y.len()).then_with(|| a.cmp(b))
}

/// The leading digits without leading zeros, and what follows.
fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let zeros = text[..end].iter().position(|&byte| byte != b'0').unwrap_or(end);
    (&text[zeros..end], &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn digits_compare_as_numbers() {
        let mut names = ["r10", "r9", "r09", "18446744073709551617", "2", "", "a1b10", "a1b9", "a"];
        names.sort_by(|a, b| natural_cmp(a, b));
        assert_eq!(names, ["", "2", "18446744073709551617", "a", "a1b9", "a1b10", "r09", "r9", "r10"]);
    }

    proptest! {
        #[test]
        fn is_a_total_order(a in "[a0-9]{0,6}", b in "[a0-9]{0,6}", c in "[a0-9]{0,6}") {
            prop_assert_eq!(natural_cmp(&a, &b), natural_cmp(&b, &a).reverse());
            prop_assert_eq!(natural_cmp(&a, &b).is_eq(), a == b);
            if natural_cmp(&a, &b).is_le() && natural_cmp(&b, &c).is_le() {
                prop_assert!(natural_cmp(&a, &c).is_le());
            }
        }
    }
}
