//! Which tests the user asked for.

use globset::{Glob, GlobMatcher};

use crate::model::TestId;

/// A glob over test names. It matches `test` or `suite/test`; `*` crosses dots, colons and slashes.
#[derive(Clone, Debug)]
pub struct TestFilter(GlobMatcher);

impl TestFilter {
    /// Reads a glob.
    ///
    /// # Errors
    /// What is wrong with the pattern, in words for the person who typed it.
    pub fn new(pattern: &str) -> Result<Self, String> {
        Glob::new(pattern)
            .map(|glob| Self(glob.compile_matcher()))
            .map_err(|error| format!("--test is no glob: {error}; quote special characters as in `[[]1]`"))
    }

    /// True where the glob matches the test's name, alone or behind its suite.
    pub fn matches(&self, id: &TestId) -> bool {
        self.0.is_match(&id.test) || self.0.is_match(format!("{}/{}", id.suite, id.test))
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
        assert!(TestFilter::new("[").unwrap_err().contains("--test is no glob"));
    }
}
