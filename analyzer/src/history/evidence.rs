//! Totals that count passes nothing lists: a test may have run in such a run, nobody says so.

use std::collections::HashMap;

use super::alias::suites_match;
use super::{Execution, History, State};

/// One suite total of one file that counts more passes than are listed there.
#[derive(Clone, Debug)]
pub(super) struct Total {
    /// Index of the run.
    pub(super) run: u32,
    /// Suite of the total, `""` if unnamed.
    pub(super) suite: Box<str>,
    /// Passes that it counts, listed ones included.
    pub(super) passed: u64,
}

/// Sets [`History::e2`]: runs with an open total of the test's suite that do not report the test itself.
pub(super) fn add_totals(tests: &mut [History], totals: &[Total]) {
    if totals.is_empty() {
        return;
    }
    let open = open_totals(tests, totals);
    let mut runs_of_suite: HashMap<String, Vec<u32>> = HashMap::new();
    for test in tests {
        let runs = runs_of_suite.entry(test.id.suite.clone()).or_insert_with(|| {
            let of_suite = open.iter().filter(|(_, suite)| suites_match(suite, &test.id.suite));
            let mut runs: Vec<u32> = of_suite.map(|&(run, _)| run).collect();
            runs.sort_unstable();
            runs.dedup();
            runs
        });
        test.e2 = missing(runs, &test.executions);
    }
}

/// How many of the sorted runs have no execution.
fn missing(runs: &[u32], executions: &[Execution]) -> u64 {
    let reported =
        runs.iter().filter(|run| executions.binary_search_by_key(*run, |one| one.run).is_ok()).count();
    (runs.len() - reported) as u64
}

/// Totals (run, suite) that the listed passes of all files of the run do not explain. A console that
/// prints a total beside a results file that lists every test is explained by that file.
fn open_totals<'a>(tests: &[History], totals: &'a [Total]) -> Vec<(u32, &'a str)> {
    let mut counted: HashMap<(u32, &str), u64> = HashMap::new();
    for total in totals {
        *counted.entry((total.run, &*total.suite)).or_default() += total.passed;
    }
    let mut suites: HashMap<u32, Vec<&str>> = HashMap::new();
    for &(run, suite) in counted.keys() {
        suites.entry(run).or_default().push(suite);
    }
    let mut listed: HashMap<(u32, &str), u64> = HashMap::new();
    for test in tests {
        for execution in &test.executions {
            let passed = execution.state == State::Executed && (!execution.failed || execution.flaky);
            for suite in suites.get(&execution.run).into_iter().flatten().filter(|_| passed) {
                if suites_match(suite, &test.id.suite) {
                    *listed.entry((execution.run, suite)).or_default() += 1;
                }
            }
        }
    }
    counted.retain(|key, count| listed.get(key).copied().unwrap_or(0) < *count);
    counted.into_keys().collect()
}
