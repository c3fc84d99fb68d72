//! The shape of one permutation: how many elements must be moved to restore it.

use super::special::binomial_at_most;

/// Share of failures in which a race window leaves all but one element in order.
const DISPLACED_SHARE: f64 = 0.9;

/// Below this probability of so few displaced orders the window explanation is rejected.
const DISPLACED_LEVEL: f64 = 0.05;

/// Shortest sequence whose shape says anything: of the five wrong orders of three elements, four
/// are one displaced element.
const DISPLACED_LENGTH_MIN: usize = 4;

/// Length of the longest increasing subsequence (patience sorting; Schensted 1961). O(n ln n).
pub fn longest_increasing(ranks: &[u32]) -> usize {
    let mut tops: Vec<u32> = Vec::new();
    for &rank in ranks {
        let pile = tops.partition_point(|&top| top < rank);
        if pile == tops.len() {
            tops.push(rank);
        } else {
            tops[pile] = rank;
        }
    }
    tops.len()
}

/// True where one element moved (or none): all others are in order.
pub fn is_one_displaced(ranks: &[u32]) -> bool {
    longest_increasing(ranks) + 1 >= ranks.len()
}

/// How many of some orders are one displaced element.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Displacement {
    /// Orders long enough to say anything (four elements or more).
    pub judged: u64,
    /// Those among them that are one displaced element.
    pub displaced: u64,
}

impl Displacement {
    /// Counts one order.
    pub fn add(&mut self, ranks: &[u32]) {
        if ranks.len() >= DISPLACED_LENGTH_MIN {
            self.judged += 1;
            self.displaced += u64::from(is_one_displaced(ranks));
        }
    }

    /// True where so few displaced orders are unlikely under a window: P(Bin(k, 0.9) ≤ d) ≤ 0.05.
    pub fn rejected(self) -> bool {
        self.judged > 0 && binomial_at_most(self.judged, DISPLACED_SHARE, self.displaced) <= DISPLACED_LEVEL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All permutations of 0..n, by Heap's algorithm.
    fn permutations(n: usize) -> Vec<Vec<u32>> {
        fn go(size: usize, items: &mut Vec<u32>, out: &mut Vec<Vec<u32>>) {
            if size <= 1 {
                out.push(items.clone());
                return;
            }
            for i in 0..size {
                go(size - 1, items, out);
                let other = if size.is_multiple_of(2) { i } else { 0 };
                items.swap(other, size - 1);
            }
        }
        let mut out = Vec::new();
        go(n, &mut (0..n as u32).collect(), &mut out);
        out
    }

    #[test]
    fn longest_increasing_of_known_orders() {
        assert_eq!(longest_increasing(&[]), 0);
        assert_eq!(longest_increasing(&[1, 2, 0]), 2);
        assert_eq!(longest_increasing(&[4, 3, 2, 1, 0]), 1);
        assert_eq!(longest_increasing(&[2, 0, 3, 1, 4]), 3);
    }

    #[test]
    fn one_displaced_element_has_the_known_number_of_orders() {
        // (n−1)² orders beside the right one.
        for n in 3..=6 {
            let displaced = permutations(n).iter().filter(|p| is_one_displaced(p)).count();
            assert_eq!(displaced, (n - 1) * (n - 1) + 1, "n = {n}");
        }
    }

    #[test]
    fn displacement_is_skipped_for_three_elements_and_rejects_shuffles() {
        let mut short = Displacement::default();
        for _ in 0..9 {
            short.add(&[2, 1, 0]);
        }
        assert!(!short.rejected());
        let count = |displaced: usize, shuffled: usize| {
            let mut counts = Displacement::default();
            (0..displaced).for_each(|_| counts.add(&[1, 2, 3, 4, 0]));
            (0..shuffled).for_each(|_| counts.add(&[4, 3, 2, 1, 0]));
            counts
        };
        // P(Bin(2, 0.9) ≤ 0) = 0.01; P(Bin(3, 0.9) ≤ 2) = 0.271; P(Bin(3, 0.9) ≤ 1) = 0.028.
        assert!(count(0, 2).rejected());
        assert!(!count(2, 1).rejected());
        assert!(count(1, 2).rejected());
        assert!(!count(12, 2).rejected());
        assert!(!Displacement::default().rejected());
    }
}
