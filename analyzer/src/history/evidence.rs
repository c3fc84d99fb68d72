//! Totals that count passes nothing lists: a test may have run in such a run, nobody says so.

use std::collections::{HashMap, HashSet};

use super::alias::{last_segment, suites_match};
use super::pack::Hidden;
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

/// Sets [`History::e2`]: runs that do not report the test itself and have an open total that may
/// count it. That is a total of the test's own named suite, or one where a name is missing, if
/// output with such a total is known to hide the test when it passes.
pub(super) fn add_totals(tests: &mut [History], totals: &[Total], hides: &HashSet<Hidden>) {
    if totals.is_empty() {
        return;
    }
    let mut runs: HashMap<&str, Vec<u32>> = HashMap::new();
    for (run, suite) in open_totals(tests, totals) {
        runs.entry(suite).or_default().push(run);
    }
    let mut hidden: HashMap<&str, Vec<&[Box<str>]>> = HashMap::new();
    for Hidden { test, totals } in hides {
        hidden.entry(test).or_default().push(totals);
    }
    for test in tests {
        let id = &test.id;
        let mut suites: Vec<&str> = Vec::new();
        if !id.suite.is_empty() {
            suites.push(&id.suite);
        }
        // A console may have printed the method without its class.
        for name in [id.test.as_str(), last_segment(&id.test)] {
            let known = hidden.get(name).into_iter().flatten().copied().flatten().map(|suite| &**suite);
            suites.extend(known.filter(|suite| runs.contains_key(suite) && suites_match(suite, &id.suite)));
        }
        let mut found: Vec<u32> =
            suites.iter().filter_map(|suite| runs.get(suite)).flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        test.e2 = missing(&found, &test.executions);
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
