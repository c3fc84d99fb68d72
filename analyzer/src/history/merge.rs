//! From sorted rows to histories: reports of one try become one row, tries become one execution.

use std::collections::HashSet;
use std::sync::Arc;

use super::row::{Detail, Packed, Rows};
use super::{Execution, Failure, History, State};
use crate::model::{Outcome, TestId};
use crate::order::{OrderFinding, OrderKind, Side};

/// Builds one history for each id; `rows` are sorted by (test, run, try, file) and hold no other
/// test. Merged rows are compacted in place.
pub(super) fn histories(ids: Vec<TestId>, rows: &mut Rows) -> Vec<History> {
    let mut tests = Vec::with_capacity(ids.len());
    let (mut read, mut write) = (0, 0);
    let mut merged = Vec::new();
    for (index, id) in ids.into_iter().enumerate() {
        let end = read + rows.packed[read..].iter().take_while(|row| row.test == index as u32).count();
        decide_sides(&rows.packed[read..end], &mut rows.details);
        let mut history = History { id, ..History::default() };
        while read < end {
            let run = rows.packed[read].run;
            let next = read + rows.packed[read..end].iter().take_while(|row| row.run == run).count();
            merged.clear();
            for tries in rows.packed[read..next].chunk_by(|a, b| a.try_number == b.try_number) {
                merge_reports(tries, &rows.details, &mut merged);
            }
            add_execution(&mut history, &merged, &rows.details);
            rows.packed[write..write + merged.len()].copy_from_slice(&merged);
            write += merged.len();
            read = next;
        }
        history.executions.shrink_to_fit();
        tests.push(history);
    }
    rows.packed.truncate(write);
    tests
}

/// Lets all failures of one test decide together which side was expected.
fn decide_sides(rows: &[Packed], details: &mut [Detail]) {
    let places: Vec<usize> = rows.iter().filter_map(Packed::detail).collect();
    let known = |finding: &OrderFinding| !finding.expected.is_empty() || !finding.observed.is_empty();
    let mut distinct: Vec<Arc<OrderFinding>> = Vec::new();
    let mut index = std::collections::HashMap::new();
    for &place in &places {
        if let Some(finding) = details[place].finding.as_ref().filter(|finding| known(finding)) {
            index.entry(Arc::as_ptr(finding)).or_insert_with(|| {
                distinct.push(Arc::clone(finding));
                distinct.len() - 1
            });
        }
    }
    if distinct.iter().all(|finding| finding.side != Side::Assumed) {
        return;
    }
    let mut decided: Vec<OrderFinding> =
        distinct.iter().map(|finding| OrderFinding::clone(finding)).collect();
    crate::order::decide_sides(&mut decided.iter_mut().collect::<Vec<_>>());
    let decided: Vec<Arc<OrderFinding>> = decided.into_iter().map(Arc::new).collect();
    for place in places {
        let Some(finding) = &mut details[place].finding else { continue };
        if let Some(&at) = index.get(&Arc::as_ptr(finding)) {
            *finding = Arc::clone(&decided[at]);
        }
    }
}

/// Merges the reports of one try number in one execution, which are sorted by file. The k-th
/// report that one file gives of a try and the k-th that another gives are the same, unless they
/// contradict each other: then two jobs without a name ran the test, and both stay.
fn merge_reports(reports: &[Packed], details: &[Detail], merged: &mut Vec<Packed>) {
    let start = merged.len();
    let mut last_file: Vec<u32> = Vec::with_capacity(1);
    let mut file = None;
    // Rows before this one have their report of the file already: a file may hold a test 100,000 times.
    let mut open = start;
    for report in reports {
        if file.replace(report.file) != Some(report.file) {
            open = start;
        }
        while last_file.get(open - start) == Some(&report.file) {
            open += 1;
        }
        let same = (open..merged.len())
            .find(|&at| last_file[at - start] != report.file && agree(&merged[at], report, details));
        if let Some(at) = same {
            let richer = richness(report, details) > richness(&merged[at], details);
            merged[at].absorb(report, richer);
            last_file[at - start] = report.file;
        } else {
            merged.push(*report);
            last_file.push(report.file);
        }
    }
}

/// True where two reports can be of one try.
fn agree(a: &Packed, b: &Packed, details: &[Detail]) -> bool {
    let outcomes = a.outcome == b.outcome
        || a.outcome == Outcome::Unknown
        || b.outcome == Outcome::Unknown
        || (a.outcome.not_passed() && b.outcome.not_passed());
    outcomes
        && match (exact_ranks(a, details), exact_ranks(b, details)) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        }
}

/// The permutation that a row proves.
fn exact_ranks<'a>(row: &Packed, details: &'a [Detail]) -> Option<&'a [u32]> {
    let finding = details[row.detail()?].finding.as_ref()?;
    finding.ranks.as_deref().filter(|_| finding.exact)
}

/// How much a row's failure text shows; more is better.
fn richness(row: &Packed, details: &[Detail]) -> u8 {
    let Some(detail) = row.detail().map(|index| &details[index]) else { return 0 };
    match detail.finding.as_deref() {
        None => 1,
        Some(finding) if finding.kind == OrderKind::Suspected => 2,
        Some(finding) if !finding.exact => 3,
        Some(_) => 4,
    }
}

/// Counts the tries of one execution once and keeps what its failures saw.
fn add_execution(history: &mut History, tries: &[Packed], details: &[Detail]) {
    let Some(first) = tries.first() else { return };
    let failed_at = tries.iter().filter(|row| row.outcome.not_passed()).map(|row| row.try_number).min();
    let passed_at = tries.iter().filter(|row| row.outcome == Outcome::Passed).map(|row| row.try_number).max();
    let state = if tries.iter().any(|row| row.outcome.executed()) {
        State::Executed
    } else if tries.iter().any(|row| row.outcome == Outcome::Skipped) {
        State::Skipped
    } else {
        State::Unknown
    };
    let execution = history.executions.len() as u32;
    history.executions.push(Execution {
        run: first.run,
        state,
        failed: failed_at.is_some(),
        flaky: matches!((failed_at, passed_at), (Some(failed), Some(passed)) if passed > failed),
    });
    let mut seen: HashSet<&[u32]> = HashSet::new();
    for row in tries.iter().filter(|row| row.outcome.not_passed()) {
        let detail = row.detail().map(|index| &details[index]);
        let ranks = detail.and_then(|detail| detail.finding.as_ref()?.ranks.as_deref());
        if ranks.is_none_or(|ranks| seen.insert(ranks)) {
            let detail = detail.cloned().unwrap_or_default();
            history.failures.push(Failure {
                execution,
                try_number: u32::from(row.try_number),
                outcome: row.outcome,
                finding: detail.finding,
                template: detail.template,
            });
        }
    }
}
