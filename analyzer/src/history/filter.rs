//! Which tests the user asked for.

use globset::{Glob, GlobMatcher};

use crate::model::TestId;

/// A glob over test names, or one name as a report prints it: names with arguments are full of
/// brackets, and whoever copies one means that test. It matches `test` or `suite/test`; `*` crosses
/// dots, colons and slashes.
#[derive(Clone, Debug)]
pub struct TestFilter {
    glob: GlobMatcher,
    name: String,
}

impl TestFilter {
    /// Reads a glob.
    ///
    /// # Errors
    /// What is wrong with the pattern, in words for the person who typed it.
    pub fn new(pattern: &str) -> Result<Self, String> {
        Glob::new(pattern)
            .map(|glob| Self { glob: glob.compile_matcher(), name: pattern.to_owned() })
            .map_err(|error| format!("--test is no glob: {error}; quote special characters as in `[[]1]`"))
    }

    /// True where the glob matches the test's name, alone or behind its suite, or is that name.
    pub fn matches(&self, id: &TestId) -> bool {
        let full = format!("{}/{}", id.suite, id.test);
        [&id.test, &full].into_iter().any(|name| *name == self.name || self.glob.is_match(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_test_or_suite_and_test() {
        let id = TestId { suite: "Orders.Tests".into(), test: "Shop.Fifo.Keeps(n: 3)".into() };
        for pattern in ["Shop.Fifo.Keeps(n: 3)", "*Fifo*", "Orders.Tests/*", "*/Shop.*"] {
            assert!(TestFilter::new(pattern).unwrap().matches(&id), "{pattern}");
        }
        for pattern in ["Fifo", "Orders.Tests", "Other/*"] {
            assert!(!TestFilter::new(pattern).unwrap().matches(&id), "{pattern}");
        }
        let id = TestId { suite: "s".into(), test: "C.t(n: [1, 2], s: {x}, ?)".into() };
        for pattern in [id.test.as_str(), "s/C.t(n: [1, 2], s: {x}, ?)"] {
            assert!(TestFilter::new(pattern).unwrap().matches(&id), "a name copied from a report: {pattern}");
        }
        assert!(TestFilter::new("[").unwrap_err().contains("--test is no glob"));
    }
}
