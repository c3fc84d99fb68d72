//! One test, several spellings: a format that names no suite, a console that prints the method alone.
//!
//! Two rules, both careful: a wrong merge would mix two tests and is worse than a test listed twice.
//! 1. `""` matches any suite: with one named suite for the same test name it is that one; with several,
//!    a run's own reports decide.
//! 2. A method name that a `dotnet test` console prints without its class is the one test of that run
//!    whose class-qualified name ends in it, provided no single file ever reports both.

use std::collections::{HashMap, HashSet};

use super::pack::FileFacts;
use super::row::Packed;
use crate::model::{Outcome, TestId};

/// Renumbers rows so that every spelling of one test has one index.
pub(super) fn unify(ids: &[TestId], files: &[FileFacts], rows: &mut [Packed]) {
    unify_suites(ids, rows);
    if files.iter().any(|file| file.console) {
        unify_short_names(ids, files, rows);
    }
}

/// Rule 1.
fn unify_suites(ids: &[TestId], rows: &mut [Packed]) {
    let mut order: Vec<u32> = (0..ids.len() as u32).collect();
    let key = |index: u32| {
        let id = &ids[index as usize];
        (id.test.as_str(), id.suite.as_str())
    };
    order.sort_unstable_by(|&a, &b| key(a).cmp(&key(b)));
    let mut sole: HashMap<u32, u32> = HashMap::new();
    let mut several: HashMap<u32, &[u32]> = HashMap::new();
    for group in order.chunk_by(|&a, &b| key(a).0 == key(b).0) {
        let unnamed = ids[group[0] as usize].suite.is_empty();
        match group {
            [unnamed_id, named] if unnamed => {
                sole.insert(*unnamed_id, *named);
            }
            [unnamed_id, named @ ..] if unnamed && !named.is_empty() => {
                several.insert(*unnamed_id, named);
            }
            _ => {}
        }
    }
    if !several.is_empty() {
        let present = presence(rows, &several.values().flat_map(|named| named.iter().copied()).collect());
        for row in rows.iter_mut() {
            let Some(named) = several.get(&row.test) else { continue };
            row.test = best_in_run(row, named, &present).unwrap_or(row.test);
        }
    }
    if !sole.is_empty() {
        for row in rows {
            row.test = *sole.get(&row.test).unwrap_or(&row.test);
        }
    }
}

/// For (run, test): which outcomes were reported, one bit each.
type Presence = HashMap<(u32, u32), u8>;

/// Where the given tests are reported.
fn presence(rows: &[Packed], tests: &HashSet<u32>) -> Presence {
    let mut present = Presence::new();
    for row in rows.iter().filter(|row| tests.contains(&row.test)) {
        *present.entry((row.run, row.test)).or_default() |= bit(row.outcome);
    }
    present
}

/// Of the candidates that the row's run reports, the first with the same outcome, else the first.
fn best_in_run(row: &Packed, candidates: &[u32], present: &Presence) -> Option<u32> {
    let reported = || candidates.iter().copied().filter(|&test| present.contains_key(&(row.run, test)));
    reported().find(|&test| present[&(row.run, test)] & bit(row.outcome) != 0).or_else(|| reported().next())
}

fn bit(outcome: Outcome) -> u8 {
    1 << outcome as u8
}

/// Rule 2.
fn unify_short_names(ids: &[TestId], files: &[FileFacts], rows: &mut [Packed]) {
    let mut short: HashSet<u32> = HashSet::new();
    let mut used: HashSet<u32> = HashSet::new();
    for row in rows.iter() {
        used.insert(row.test);
        let test = &ids[row.test as usize].test;
        if files[row.file as usize].console && last_segment(test) == test {
            short.insert(row.test);
        }
    }
    let names: HashSet<&str> = short.iter().map(|&index| ids[index as usize].test.as_str()).collect();
    let mut long: HashMap<&str, Vec<u32>> = HashMap::new();
    for &index in &used {
        let test = ids[index as usize].test.as_str();
        let last = last_segment(test);
        if last != test && names.contains(last) {
            long.entry(last).or_default().push(index);
        }
    }
    let mut candidates: HashMap<u32, Vec<u32>> = HashMap::new();
    for &index in &short {
        let id = &ids[index as usize];
        let mut found: Vec<u32> = long.get(id.test.as_str()).cloned().unwrap_or_default();
        found.retain(|&other| suites_match(&id.suite, &ids[other as usize].suite));
        found.sort_unstable();
        if !found.is_empty() {
            candidates.insert(index, found);
        }
    }
    if !candidates.is_empty() {
        drop_neighbours(rows, &mut candidates);
        apply(rows, &candidates);
    }
}

/// Takes out every candidate that one file reports beside the short name: there they are two tests.
fn drop_neighbours(rows: &[Packed], candidates: &mut HashMap<u32, Vec<u32>>) {
    let wanted: HashSet<u32> =
        candidates.iter().flat_map(|(&short, long)| long.iter().copied().chain([short])).collect();
    let in_file: HashSet<(u32, u32)> =
        rows.iter().filter(|row| wanted.contains(&row.test)).map(|row| (row.test, row.file)).collect();
    let mut files: HashMap<u32, Vec<u32>> = HashMap::new();
    for &(test, file) in &in_file {
        files.entry(test).or_default().push(file);
    }
    for (short, long) in candidates {
        long.retain(|&other| files[short].iter().all(|&file| !in_file.contains(&(other, file))));
    }
}

/// Renumbers: everywhere where the one candidate is proven by a run that has both, else run by run.
fn apply(rows: &mut [Packed], candidates: &HashMap<u32, Vec<u32>>) {
    let present = presence(rows, &candidates.values().flatten().copied().collect());
    let in_run = |row: &Packed, long: &[u32]| {
        let mut found = long.iter().copied().filter(|&test| present.contains_key(&(row.run, test)));
        found.next().filter(|_| found.next().is_none())
    };
    let proven: HashSet<u32> = rows
        .iter()
        .filter(|row| {
            candidates.get(&row.test).is_some_and(|long| long.len() == 1 && in_run(row, long).is_some())
        })
        .map(|row| row.test)
        .collect();
    for row in rows {
        let Some(long) = candidates.get(&row.test) else { continue };
        let target = if proven.contains(&row.test) { Some(long[0]) } else { in_run(row, long) };
        row.test = target.unwrap_or(row.test);
    }
}

/// True where two suites may be the same.
pub(super) fn suites_match(a: &str, b: &str) -> bool {
    a.is_empty() || b.is_empty() || a == b
}

/// The method with its arguments: what follows the last `.`, `+` or `:` before the first parenthesis.
pub(super) fn last_segment(test: &str) -> &str {
    let head = test.find('(').unwrap_or(test.len());
    test[..head].rfind(['.', '+', ':']).map_or(test, |at| &test[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_segment_keeps_its_arguments() {
        assert_eq!(last_segment("Ns.Outer+Inner.Works(x: \"a.b\")"), "Works(x: \"a.b\")");
        assert_eq!(last_segment("Works(1.5)"), "Works(1.5)");
        assert_eq!(last_segment("a::b"), "b");
        assert_eq!(last_segment("(x.y)"), "(x.y)");
    }
}
