//! Where between two failures a change of permutation is placed on the run axis.

/// Executed runs before a boundary, with the least and the greatest number the failures allow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Boundary {
    /// Executed runs before it, which is also the index of the first run after it.
    pub executed_old: usize,
    /// Least number.
    pub low: usize,
    /// Greatest number.
    pub high: usize,
}

impl Boundary {
    /// A boundary that is known, not inferred.
    pub fn exact(executed_old: usize) -> Self {
        Boundary { executed_old, low: executed_old, high: executed_old }
    }

    /// The midpoint between the last old failing run `last_old` and the first new one `first_new`
    /// (0-based executed indices). Passing runs do not tell on which side they lie, so more than the
    /// bracket cannot be known; the midpoint has half the error of either end, and at equal rates it
    /// does not bias a comparison of the two sides.
    ///
    /// `None` unless `last_old < first_new`: inside one run nothing can be placed.
    pub fn between(last_old: usize, first_new: usize) -> Option<Self> {
        if last_old >= first_new {
            return None;
        }
        let low = last_old + 1;
        Some(Boundary { executed_old: low + (first_new - low) / 2, low, high: first_new })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_13_the_midpoint_with_its_bracket() {
        let boundary = Boundary::between(599, 659).unwrap();
        assert_eq!((boundary.executed_old, 965 - boundary.executed_old), (629, 336));
        assert_eq!((boundary.low, boundary.high), (600, 659));
    }

    #[test]
    fn neighbouring_failures_leave_one_place_and_one_run_none() {
        assert_eq!(Boundary::between(4, 5), Some(Boundary::exact(5)));
        assert_eq!(Boundary::between(0, 2).map(|b| b.executed_old), Some(1));
        assert_eq!(Boundary::between(5, 5), None);
        assert_eq!(Boundary::between(6, 5), None);
    }
}
