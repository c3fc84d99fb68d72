//! Exact tests on tables of counts: Fisher's for 2×2, Freeman and Halton's for r×c.

use super::special::ln_gamma;

/// Two probabilities that differ by less than this share count as equal, so that rounding cannot
/// drop a table that is exactly as likely as the observed one.
const TIE: f64 = 1e-7;

/// Tables that [`freeman_halton`] will visit; above, the rarest rows are merged.
pub const TABLES_MAX: u64 = 2_000_000;

/// The direction of a one-sided test.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// The second rate is lower.
    Decrease,
    /// The second rate is higher.
    Increase,
}

/// Hypergeometric weights of every possible count in the second group given the margins, relative
/// to the most likely one (no gamma function, hence no rounding of large numbers).
struct Hypergeometric {
    /// Least possible count.
    first: u64,
    weights: Vec<f64>,
}

impl Hypergeometric {
    fn new(k1: u64, n1: u64, k2: u64, n2: u64) -> Self {
        let failed = k1 + k2;
        let first = failed.saturating_sub(n1);
        let last = failed.min(n2);
        // P(x+1)/P(x) = (failed−x)(n2−x) / ((x+1)(n1−failed+x+1))
        let up = |x: u64| {
            let stay = (x + 1) as f64 * (n1 + x + 1 - failed) as f64;
            (failed - x) as f64 * (n2 - x) as f64 / stay
        };
        let mode = ((failed + 1) as f64 * (n2 + 1) as f64 / (n1 + n2 + 2) as f64).floor() as u64;
        let mode = mode.clamp(first, last);
        let mut weights = vec![0.0; (last - first + 1) as usize];
        let at = |x: u64| (x - first) as usize;
        weights[at(mode)] = 1.0;
        for x in mode..last {
            weights[at(x + 1)] = weights[at(x)] * up(x);
        }
        for x in (first..mode).rev() {
            weights[at(x)] = weights[at(x + 1)] / up(x);
        }
        Hypergeometric { first, weights }
    }

    fn share(&self, keep: impl Fn(u64, f64) -> bool) -> f64 {
        let kept: f64 =
            (self.first..).zip(&self.weights).filter(|(x, w)| keep(*x, **w)).map(|(_, w)| w).sum();
        (kept / self.weights.iter().sum::<f64>()).min(1.0)
    }
}

/// Fisher's exact test for k1 of n1 against k2 of n2, two-sided: the probability of all tables with
/// the same margins that are at most as likely as the observed one.
///
/// Each k is capped at its n. 1 where one of the groups is empty.
pub fn two_sided(k1: u64, n1: u64, k2: u64, n2: u64) -> f64 {
    let (k1, k2) = (k1.min(n1), k2.min(n2));
    let table = Hypergeometric::new(k1, n1, k2, n2);
    let observed = table.weights[(k2 - table.first) as usize];
    table.share(|_, weight| weight <= observed * (1.0 + TIE))
}

/// Fisher's exact test against one direction, named before looking at the data.
pub fn one_sided(k1: u64, n1: u64, k2: u64, n2: u64, direction: Direction) -> f64 {
    let (k1, k2) = (k1.min(n1), k2.min(n2));
    let table = Hypergeometric::new(k1, n1, k2, n2);
    table.share(|x, _| match direction {
        Direction::Decrease => x <= k2,
        Direction::Increase => x >= k2,
    })
}

/// The result of [`freeman_halton`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    /// The p-value.
    pub p: f64,
    /// True where the table was too large and rows or columns were merged, rarest first; p is then
    /// exact for the coarser table.
    pub coarse: bool,
}

/// Freeman and Halton's exact test (1951) of independence in a table of counts: the probability of
/// all tables with the same margins that are at most as likely as the observed one.
///
/// `rows` are equally long. If the tables to visit may be more than [`TABLES_MAX`], the two rarest
/// rows are merged, then the two rarest columns, until they are not or 2×2 is left. Margins alone
/// decide that, so the test stays exact. p is 1 where less than two rows or columns hold anything.
pub fn freeman_halton(rows: &[Vec<u64>]) -> Exact {
    let mut rows = occupied(rows);
    let mut coarse = false;
    let columns_of = |rows: &[Vec<u64>]| rows.first().map_or(0, Vec::len);
    while tables_bound(&rows) > TABLES_MAX as f64 && (rows.len() > 2 || columns_of(&rows) > 2) {
        coarse = true;
        if rows.len() > 2 {
            merge_rarest(&mut rows);
        } else {
            rows = transposed(&rows);
            merge_rarest(&mut rows);
            rows = transposed(&rows);
        }
    }
    let columns = columns_of(&rows);
    if rows.len() < 2 || columns < 2 {
        return Exact { p: 1.0, coarse };
    }
    if rows.len() == 2 && columns == 2 {
        let (n1, n2) = (rows[0][0] + rows[1][0], rows[0][1] + rows[1][1]);
        return Exact { p: two_sided(rows[0][0], n1, rows[0][1], n2), coarse };
    }
    Exact { p: Tables::new(&rows).p(), coarse }
}

/// The table without empty rows and columns.
fn occupied(rows: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let keep = |rows: &[Vec<u64>]| -> Vec<Vec<u64>> {
        rows.iter().filter(|row| row.iter().any(|&count| count > 0)).cloned().collect()
    };
    transposed(&keep(&transposed(&keep(rows))))
}

fn transposed(rows: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let columns = rows.first().map_or(0, Vec::len);
    (0..columns).map(|column| rows.iter().map(|row| row[column]).collect()).collect()
}

/// Merges the two rows with the smallest totals, ties by position.
fn merge_rarest(rows: &mut Vec<Vec<u64>>) {
    for _ in 0..2 {
        let rarest = (0..rows.len()).min_by_key(|&i| rows[i].iter().sum::<u64>());
        if let Some(index) = rarest {
            let row = rows.remove(index);
            rows.push(row);
        }
    }
    if let (Some(one), Some(other)) = (rows.pop(), rows.pop()) {
        rows.push(one.iter().zip(&other).map(|(a, b)| a + b).collect());
    }
}

/// An upper bound on the number of tables: every row but the largest spread freely over the columns.
fn tables_bound(rows: &[Vec<u64>]) -> f64 {
    let mut totals: Vec<u64> = rows.iter().map(|row| row.iter().sum()).collect();
    totals.sort_unstable();
    totals.pop();
    let columns = rows.first().map_or(0, Vec::len);
    let spreads = |total: u64| (1..columns).map(|i| (total + i as u64) as f64 / i as f64).product::<f64>();
    totals.iter().map(|&total| spreads(total)).product()
}

/// Walks all tables with given margins and sums the unlikely ones.
struct Tables {
    row_totals: Vec<u64>,
    column_totals: Vec<u64>,
    /// ln i!
    ln_factorial: Vec<f64>,
    /// ln of the numerator Π rᵢ! Π cⱼ! / N!.
    ln_margins: f64,
    /// Tables up to this ln of their probability are summed.
    limit: f64,
    p: f64,
}

impl Tables {
    fn new(observed: &[Vec<u64>]) -> Self {
        let mut row_totals: Vec<u64> = observed.iter().map(|row| row.iter().sum()).collect();
        // The last row is forced; making it the largest visits the fewest tables.
        row_totals.sort_unstable();
        let column_totals: Vec<u64> = transposed(observed).iter().map(|column| column.iter().sum()).collect();
        let all: u64 = row_totals.iter().sum();
        let ln_factorial: Vec<f64> = (0..=all).map(|i| ln_gamma(i as f64 + 1.0)).collect();
        let ln = |i: &u64| ln_factorial[*i as usize];
        let margins = row_totals.iter().map(ln).sum::<f64>() + column_totals.iter().map(ln).sum::<f64>();
        let ln_margins = margins - ln(&all);
        let limit = ln_margins - observed.iter().flatten().map(ln).sum::<f64>() + TIE;
        Tables { row_totals, column_totals, ln_factorial, ln_margins, limit, p: 0.0 }
    }

    fn p(mut self) -> f64 {
        let mut left = self.column_totals.clone();
        self.fill(0, 0, self.row_totals[0], &mut left, self.ln_margins);
        self.p.min(1.0)
    }

    /// Fills cell (row, column) with every count that the margins allow. `rest` of the row is still
    /// to be placed, `left` is what the columns still take, `ln` the probability of the cells so far.
    fn fill(&mut self, row: usize, column: usize, rest: u64, left: &mut [u64], ln: f64) {
        if row + 1 == self.row_totals.len() {
            let ln = ln - left.iter().map(|&x| self.ln_factorial[x as usize]).sum::<f64>();
            if ln <= self.limit {
                self.p += ln.exp();
            }
            return;
        }
        let is_last = column + 1 == left.len();
        let room: u64 = left[column + 1..].iter().sum();
        for count in rest.saturating_sub(room)..=rest.min(left[column]) {
            left[column] -= count;
            let next = ln - self.ln_factorial[count as usize];
            if is_last {
                self.fill(row + 1, 0, self.row_totals[row + 1], left, next);
            } else {
                self.fill(row, column + 1, rest - count, left, next);
            }
            left[column] += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
    }

    #[test]
    fn fisher_has_its_golden_values() {
        near(two_sided(6, 628, 3, 337), 1.0, 1e-12);
        near(one_sided(6, 628, 3, 337, Direction::Decrease), 0.6111, 5e-5);
        near(one_sided(6, 628, 3, 337, Direction::Increase), 0.6619, 5e-5);
        near(one_sided(6, 628, 0, 337, Direction::Decrease), 0.0753, 5e-5);
        near(two_sided(6, 628, 0, 337), 0.0971, 5e-5);
        near(one_sided(6, 628, 9, 337, Direction::Increase), 0.040, 5e-4);
        near(two_sided(6, 6, 0, 3), 1.0 / 84.0, 1e-14);
        // With these run counts a decrease can first be shown by seven failures, an increase by three.
        near(one_sided(7, 628, 0, 337, Direction::Decrease), 0.049, 5e-4);
        near(one_sided(0, 628, 3, 337, Direction::Increase), 0.042, 5e-4);
    }

    #[test]
    fn fisher_gives_the_clean_runs_against_an_earlier_window() {
        // Least m with a one-sided p ≤ 0.05 for 0 of m.
        for (k, n, needed) in [(9, 965, 380), (6, 628, 406), (3, 337, 577)] {
            assert!(one_sided(k, n, 0, needed, Direction::Decrease) <= 0.05);
            assert!(one_sided(k, n, 0, needed - 1, Direction::Decrease) > 0.05);
        }
        assert!(two_sided(9, 965, 0, 461) <= 0.05 && two_sided(9, 965, 0, 460) > 0.05);
    }

    #[test]
    fn fisher_has_its_ends() {
        near(two_sided(0, 10, 0, 10), 1.0, 0.0);
        near(two_sided(3, 3, 0, 0), 1.0, 0.0);
        near(two_sided(10, 10, 0, 10), 2.0 / 184_756.0, 1e-14);
        near(two_sided(9_000, 1_000_000, 9_000, 1_000_000), 1.0, 1e-9);
        assert_eq!(two_sided(0, 1_000_000, 500_000, 1_000_000), 0.0);
    }

    #[test]
    fn freeman_halton_is_fisher_on_two_by_two() {
        for (a, b, c, d) in [(6, 0, 0, 3), (8, 2, 1, 5), (12, 5, 9, 4)] {
            let exact = freeman_halton(&[vec![a, b], vec![c, d]]);
            near(exact.p, two_sided(a, a + c, b, b + d), 1e-12);
            assert!(!exact.coarse);
        }
    }

    #[test]
    fn freeman_halton_has_its_golden_value_on_three_identities() {
        near(freeman_halton(&[vec![6, 0], vec![0, 2], vec![0, 1]]).p, 1.0 / 84.0, 1e-14);
    }

    /// All assignments of the column labels to the failures, counted one by one.
    fn by_permuting(rows: &[Vec<u64>]) -> f64 {
        let labels: Vec<usize> = rows
            .iter()
            .enumerate()
            .flat_map(|(i, row)| std::iter::repeat_n(i, row.iter().sum::<u64>() as usize))
            .collect();
        let sizes: Vec<u64> = transposed(rows).iter().map(|column| column.iter().sum()).collect();
        let fact = |n: u64| (1..=n).map(|i| i as f64).product::<f64>();
        let weight = |table: &[Vec<u64>]| 1.0 / table.iter().flatten().map(|&x| fact(x)).product::<f64>();
        fn go(
            labels: &[usize],
            left: &mut [u64],
            table: &mut Vec<Vec<u64>>,
            see: &mut dyn FnMut(&[Vec<u64>]),
        ) {
            let Some((&label, rest)) = labels.split_first() else {
                return see(table);
            };
            for column in 0..left.len() {
                if left[column] > 0 {
                    left[column] -= 1;
                    table[label][column] += 1;
                    go(rest, left, table, see);
                    table[label][column] -= 1;
                    left[column] += 1;
                }
            }
        }
        let observed = weight(rows);
        let (mut hits, mut all) = (0_u64, 0_u64);
        let mut table = vec![vec![0; sizes.len()]; rows.len()];
        go(&labels, &mut sizes.clone(), &mut table, &mut |table| {
            all += 1;
            hits += u64::from(weight(table) <= observed * (1.0 + 1e-9));
        });
        hits as f64 / all as f64
    }

    #[test]
    fn freeman_halton_equals_brute_force() {
        for rows in [
            vec![vec![3, 0], vec![1, 2], vec![0, 3]],
            vec![vec![2, 1, 0], vec![0, 2, 1], vec![1, 0, 3]],
            vec![vec![4, 1], vec![1, 1], vec![0, 1], vec![0, 2]],
            vec![vec![3, 1, 1], vec![0, 2, 2]],
        ] {
            near(freeman_halton(&rows).p, by_permuting(&rows), 1e-12);
        }
    }

    #[test]
    fn freeman_halton_drops_what_is_empty_and_merges_what_is_too_large() {
        near(freeman_halton(&[]).p, 1.0, 0.0);
        near(freeman_halton(&[vec![4, 9]]).p, 1.0, 0.0);
        near(freeman_halton(&[vec![4, 0], vec![2, 0]]).p, 1.0, 0.0);
        near(freeman_halton(&[vec![6, 0, 0], vec![0, 0, 0], vec![0, 0, 3]]).p, 1.0 / 84.0, 1e-14);
        let large = freeman_halton(&[vec![1500, 1540], vec![1020, 980], vec![990, 1010]]);
        assert!(large.coarse);
        near(large.p, two_sided(1500, 3510, 1540, 3530), 1e-9);
        let wide = freeman_halton(&[vec![500; 6], vec![500; 6], vec![500; 6]]);
        assert!(wide.coarse && wide.p > 0.99);
    }
}
