//! The exact p-value of the permutation scan, without enumerating arrangements.
//!
//! T depends only on how many failures of each class lie left of the place, so the random order is
//! a walk over the lattice of such count vectors. A walk that reaches T is counted and ends there.

use crate::stats::special::ln_gamma;

/// Most lattice points summed with three classes or more. Above, the two rarest classes are merged
/// until it holds or two classes are left.
const STATES_MAX: f64 = 2e6;
/// Most lattice points summed with two classes. Above, the p-value is bounded from above by the sum
/// over places (Boole's inequality).
const PAIR_STATES_MAX: f64 = 3e7;
/// Terms of a tail below this share of its first term are left out.
const NEGLIGIBLE: f64 = 1e-17;

/// T as a function of the left counts, from tables of h(x) = x ln x.
pub(super) struct Statistic {
    totals: Vec<usize>,
    /// For each class, h(l) + h(n−l) − h(n) by l.
    class: Vec<Vec<f64>>,
    /// h(j) + h(k−j) − h(k) by j.
    all: Vec<f64>,
}

impl Statistic {
    pub(super) fn new(totals: &[usize]) -> Self {
        let h = |x: usize| if x == 0 { 0.0 } else { x as f64 * (x as f64).ln() };
        let table = |n: usize| -> Vec<f64> { (0..=n).map(|l| h(l) + h(n - l) - h(n)).collect() };
        Statistic {
            totals: totals.to_vec(),
            class: totals.iter().map(|&n| table(n)).collect(),
            all: table(totals.iter().sum()),
        }
    }

    pub(super) fn of(&self, left: &[usize]) -> f64 {
        let gained: f64 = self.class.iter().zip(left).map(|(table, &l)| table[l]).sum();
        gained - self.all[left.iter().sum::<usize>()]
    }
}

fn states(totals: &[usize]) -> f64 {
    totals.iter().map(|&n| n as f64 + 1.0).product()
}

/// Merges the two rarest classes until the lattice has at most [`STATES_MAX`] points or two classes
/// are left. Gives the totals, the new class of each old one, and whether anything was merged.
///
/// Decided on totals alone, so the p-value of the merged classes is exact.
pub(super) fn merge(totals: &[usize]) -> (Vec<usize>, Vec<usize>, bool) {
    let mut groups: Vec<(usize, Vec<usize>)> =
        totals.iter().enumerate().map(|(i, &n)| (n, vec![i])).collect();
    // Rarest last; of equal totals the lower class number counts as the more frequent one.
    groups.sort_by_key(|(n, members)| (std::cmp::Reverse(*n), members[0]));
    let mut product = states(totals);
    let mut merged = false;
    while product > STATES_MAX && groups.len() > 2 {
        let (Some((n, members)), Some((m, mut others))) = (groups.pop(), groups.pop()) else { break };
        others.extend(members);
        let place = groups.partition_point(|(total, _)| *total >= n + m);
        groups.insert(place, (n + m, others));
        product = states(&groups.iter().map(|(n, _)| *n).collect::<Vec<_>>());
        merged = true;
    }
    let mut map = vec![0; totals.len()];
    for (new, (_, members)) in groups.iter().enumerate() {
        members.iter().for_each(|&old| map[old] = new);
    }
    (groups.into_iter().map(|(n, _)| n).collect(), map, merged)
}

/// P(max_j T_j ≥ `limit`) when all orders of the failures are equally likely, and whether it is only
/// an upper bound.
pub(super) fn p_at_least(statistic: &Statistic, limit: f64) -> (f64, bool) {
    let totals = &statistic.totals;
    match totals.len() {
        0 | 1 => (1.0, false),
        2 if states(totals) <= PAIR_STATES_MAX => (pair(statistic, limit).min(1.0), false),
        2 => (pair_bound(statistic, limit).min(1.0), true),
        _ => (dense(statistic, limit).min(1.0), false),
    }
}

/// Three classes or more, on an array over the whole lattice.
///
/// Classes of equal totals are interchangeable: only vectors that fall within each such group are
/// visited. Raising the first of equal counts keeps that order, so no sorting is needed; the weight
/// is multiplied by how many classes would lead to the same vector.
fn dense(statistic: &Statistic, limit: f64) -> f64 {
    let totals = &statistic.totals;
    let k: usize = totals.iter().sum();
    let mut strides = vec![1; totals.len()];
    for i in (0..totals.len() - 1).rev() {
        strides[i] = strides[i + 1] * (totals[i + 1] + 1);
    }
    let mut mass = vec![0.0; strides[0] * (totals[0] + 1)];
    let mut left = vec![0; totals.len()];
    let mut p = 0.0;
    mass[0] = 1.0;
    for point in 0..mass.len() {
        let here = mass[point];
        if here > 0.0 {
            let mut rest = point;
            for (count, stride) in left.iter_mut().zip(&strides) {
                *count = rest / stride;
                rest %= stride;
            }
            let placed: usize = left.iter().sum();
            if placed > 0 && placed < k && statistic.of(&left) >= limit {
                p += here;
                continue;
            }
            let mut class = 0;
            while class < totals.len() {
                let same = (class..totals.len())
                    .take_while(|&i| totals[i] == totals[class] && left[i] == left[class])
                    .count();
                let open = totals[class] - left[class];
                if open > 0 {
                    mass[point + strides[class]] += here * (same * open) as f64 / (k - placed) as f64;
                }
                class += same;
            }
        }
    }
    p
}

/// Two classes, row by row.
fn pair(statistic: &Statistic, limit: f64) -> f64 {
    let (rows, columns) = (statistic.totals[0], statistic.totals[1]);
    let k = rows + columns;
    let mut mass = vec![0.0; columns + 1];
    let mut p = 0.0;
    for u in 0..=rows {
        for v in 0..=columns {
            let placed = u + v;
            // The steps that lead here leave a place with `before` failures still to come.
            let before = (k - placed + 1) as f64;
            let mut here = if u > 0 { mass[v] * (rows - u + 1) as f64 / before } else { 0.0 };
            if v > 0 {
                here += mass[v - 1] * (columns - v + 1) as f64 / before;
            }
            if placed == 0 {
                here = 1.0;
            } else if placed < k {
                let t = statistic.class[0][u] + statistic.class[1][v] - statistic.all[placed];
                if t >= limit {
                    p += here;
                    here = 0.0;
                }
            }
            mass[v] = here;
        }
    }
    p
}

/// Σ_j P(T_j ≥ limit) for two classes. Each T_j grows on both sides of its expected count, so each
/// term is two hypergeometric tails.
fn pair_bound(statistic: &Statistic, limit: f64) -> f64 {
    let (rows, columns) = (statistic.totals[0], statistic.totals[1]);
    let k = rows + columns;
    let ln_factorial: Vec<f64> = (0..=k).map(|i| ln_gamma(i as f64 + 1.0)).collect();
    let ln_choose = |n: usize, x: usize| ln_factorial[n] - ln_factorial[x] - ln_factorial[n - x];
    let mut p = 0.0;
    for j in 1..k {
        let (least, most) = (j.saturating_sub(columns), j.min(rows));
        let centre = (j * rows / k).clamp(least, most);
        let t = |u: usize| statistic.class[0][u] + statistic.class[1][j - u] - statistic.all[j];
        let chance = |u: usize| (ln_choose(rows, u) + ln_choose(columns, j - u) - ln_choose(k, j)).exp();
        let tail = |counts: &mut dyn Iterator<Item = usize>| {
            let (mut sum, mut first) = (0.0, 0.0_f64);
            for u in counts {
                let term = chance(u);
                first = first.max(term);
                sum += term;
                if term <= first * NEGLIGIBLE {
                    break;
                }
            }
            sum
        };
        let above = centre + 1 + partition(most - centre, |i| t(centre + 1 + i) < limit);
        let below = partition(centre - least + 1, |i| t(centre - i) < limit);
        p += tail(&mut (above..=most)) + tail(&mut (least..centre + 1 - below).rev());
    }
    p
}

/// How many of the first `count` indices satisfy a predicate that holds for a prefix.
fn partition(count: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_small_lattices_and_stops_at_two_classes() {
        assert_eq!(merge(&[2, 6, 1]), (vec![6, 2, 1], vec![1, 0, 2], false));
        let (totals, map, merged) = merge(&[1000, 3000, 900, 3000]);
        assert!(merged && totals.len() == 2 && totals.iter().sum::<usize>() == 7900);
        assert_eq!(map[0], map[2], "the two rarest go together");
        // 3.9 million points; one and four make five: 2.4 million; two fours make eight: 0.9 million.
        let (totals, map, _) = merge(&[4, 40, 4, 10, 4, 6, 4, 1]);
        assert_eq!(totals, [40, 10, 8, 6, 5, 4]);
        assert_eq!(map, [5, 0, 2, 1, 2, 3, 4, 4]);
        let (totals, _, merged) = merge(&[1; 40]);
        assert!(merged && states(&totals) <= STATES_MAX && totals.iter().sum::<usize>() == 40);
    }

    #[test]
    fn both_sums_agree_on_two_classes_and_the_bound_is_above() {
        for totals in [[6, 3], [5, 5], [12, 2], [30, 9]] {
            let statistic = Statistic::new(&totals);
            let top = statistic.of(&[totals[0], 0]);
            for share in [0.2, 0.5, 0.8, 1.0] {
                let limit = top * share - 1e-9;
                let (rows, points) = (pair(&statistic, limit), dense(&statistic, limit));
                assert!((rows - points).abs() < 1e-13, "{totals:?} at {limit}");
                let bound = pair_bound(&statistic, limit);
                assert!(bound >= rows - 1e-12, "{totals:?} at {limit}: {bound} is below {rows}");
            }
        }
    }

    /// The bound is the sum of the single probabilities, written here without tails.
    #[test]
    fn the_bound_is_the_sum_over_places() {
        let statistic = Statistic::new(&[14, 9]);
        let choose = |n: usize, k: usize| (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>();
        for limit in [0.5, 2.0, 4.0, 9.0] {
            let mut sum = 0.0;
            for j in 1..23_usize {
                for u in j.saturating_sub(9)..=j.min(14) {
                    if statistic.of(&[u, j - u]) >= limit {
                        sum += choose(14, u) * choose(9, j - u) / choose(23, j);
                    }
                }
            }
            assert!((pair_bound(&statistic, limit) - sum).abs() < 1e-12 * sum.max(1.0));
        }
    }
}
