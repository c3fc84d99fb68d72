//! Highest-weight sets over places.

/// Weights closer than this share are equal.
const TIE: f64 = 1e-9;

/// Hull (first, last index) of the smallest set of places that holds `coverage` of the total
/// weight, ties with the last one taken included. The weights are given as logarithms, unnormalised.
///
/// (0, 0) for no place at all.
pub(super) fn highest_set(ln_weights: &[f64], coverage: f64) -> (usize, usize) {
    let top = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut order: Vec<usize> = (0..ln_weights.len()).collect();
    order.sort_by(|&i, &j| ln_weights[j].total_cmp(&ln_weights[i]).then(i.cmp(&j)));
    let total: f64 = ln_weights.iter().map(|w| (w - top).exp()).sum();
    let (mut low, mut high) = (order.first().copied().unwrap_or(0), order.first().copied().unwrap_or(0));
    let (mut held, mut last) = (0.0, f64::INFINITY);
    for place in order {
        let weight = ln_weights[place];
        if held >= coverage * total && weight < last - TIE {
            break;
        }
        held += (weight - top).exp();
        last = last.min(weight);
        low = low.min(place);
        high = high.max(place);
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_is_smallest_and_takes_ties() {
        let ln = |weights: &[f64]| weights.iter().map(|w| w.ln()).collect::<Vec<_>>();
        assert_eq!(highest_set(&ln(&[0.01, 0.96, 0.03]), 0.95), (1, 1));
        assert_eq!(highest_set(&ln(&[0.02, 0.94, 0.04]), 0.95), (1, 2));
        assert_eq!(highest_set(&ln(&[0.03, 0.94, 0.03]), 0.95), (0, 2));
        assert_eq!(highest_set(&ln(&[0.5, 0.0, 0.0, 0.5]), 0.95), (0, 3));
        assert_eq!(highest_set(&[], 0.95), (0, 0));
    }
}
