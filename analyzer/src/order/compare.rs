//! Two sequences compared as orders: equal multisets give a rank vector, anything else does not.

use std::collections::HashMap;

use super::OrderKind;
use crate::limits;

/// Compares what was expected with what was observed.
///
/// Returns the kind, the ranks and whether the ranks are a convention. Ranks exist only for
/// [`OrderKind::Permutation`]: for each observed element its 0-based position in the expected
/// order, so `B, C, A` against `A, B, C` is `[1, 2, 0]`. Where an element occurs several times
/// its k-th observed occurrence takes the k-th expected position, and the third value is true.
///
/// Sequences that are equal as printed are no order failure: whatever differed is not visible, so
/// they are [`OrderKind::Suspected`] without ranks. So are sequences of more than
/// [`limits::SEQUENCE_MAX`] elements, which are not compared.
pub fn compare(expected: &[String], observed: &[String]) -> (OrderKind, Option<Vec<u32>>, bool) {
    if expected.len() > limits::SEQUENCE_MAX || observed.len() > limits::SEQUENCE_MAX {
        return (OrderKind::Suspected, None, false);
    }
    if expected.len() != observed.len() {
        return (OrderKind::LostOrExtra, None, false);
    }
    if expected == observed {
        return (OrderKind::Suspected, None, false);
    }
    match ranks(expected, observed) {
        Some((ranks, repeated)) => (OrderKind::Permutation, Some(ranks), repeated),
        None => (OrderKind::LostOrExtra, None, false),
    }
}

/// Ranks of `observed` in `expected` and whether an element occurs twice; `None` where the
/// multisets differ. Both must have the same length.
fn ranks(expected: &[String], observed: &[String]) -> Option<(Vec<u32>, bool)> {
    // Positions of each element, last first, so that `pop` hands out the earliest.
    let mut positions: HashMap<&str, Vec<u32>> = HashMap::with_capacity(expected.len());
    for (position, element) in expected.iter().enumerate().rev() {
        let position = u32::try_from(position).ok()?;
        positions.entry(element).or_default().push(position);
    }
    let repeated = positions.len() < expected.len();
    let ranks = observed
        .iter()
        .map(|element| positions.get_mut(element.as_str())?.pop())
        .collect::<Option<Vec<u32>>>()?;
    Some((ranks, repeated))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn ranks_are_positions_in_the_expected_order() {
        for (expected, observed, ranks, repeated) in [
            ("A B C", "B C A", Some(vec![1, 2, 0]), false),
            ("A B C", "C A B", Some(vec![2, 0, 1]), false),
            ("A B C", "B A C", Some(vec![1, 0, 2]), false),
            ("A B A", "A A B", Some(vec![0, 2, 1]), true),
            ("A B A", "B A A", Some(vec![1, 0, 2]), true),
        ] {
            let got = compare(&list(expected), &list(observed));
            assert_eq!(got, (OrderKind::Permutation, ranks, repeated), "{observed}");
        }
    }

    #[test]
    fn other_multisets_are_lost_or_extra() {
        for (expected, observed) in [("A B C", "A B"), ("A B", "A C"), ("A A B", "A B B"), ("A", "")] {
            let got = compare(&list(expected), &list(observed));
            assert_eq!(got, (OrderKind::LostOrExtra, None, false), "{observed}");
        }
    }

    #[test]
    fn what_is_printed_alike_is_not_an_order() {
        let got = compare(&list("A B"), &list("A B"));
        assert_eq!(got, (OrderKind::Suspected, None, false));
    }

    #[test]
    fn a_list_beyond_the_limit_proves_nothing() {
        let long: Vec<String> = (0..=limits::SEQUENCE_MAX).map(|n| n.to_string()).collect();
        let turned: Vec<String> = long.iter().rev().cloned().collect();
        assert_eq!(compare(&long, &turned).0, OrderKind::Suspected);
    }
}
