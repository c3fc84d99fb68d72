//! From histories to the report: positions become times and run ids, numbers become the schema's fields.

use std::collections::HashMap;

use jiff::Timestamp;

use super::model::{
    Bracket, Changepoint, Comparison, Complaint, EvidenceCounts, Failures, Fix, Input, Measure, Permutation,
    Rate, Report, SCHEMA, Test, Window,
};
use crate::history::{Failure, Histories, History, State};
use crate::model::RunMeta;
use crate::window::{self, Analysis, Axis, Cut, Failed, FailureKind, Order, RateCut, Source};

/// What only the reader of the files knows.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Files and archive members that were opened or should have been.
    pub files: u64,
    /// Of those, the ones of no known kind and the ones that could not be read.
    pub unrecognised_files: u64,
    /// Everything that could not be read as it should.
    pub complaints: Vec<crate::model::Complaint>,
}

/// Analyses every test and puts the report together. `split_at`: runs that start before it are the
/// old window, all others the new one.
pub fn assemble(histories: &Histories, facts: Facts, split_at: Option<Timestamp>) -> Report {
    let complaint = |complaint: crate::model::Complaint| Complaint {
        path: complaint.path,
        line: complaint.line,
        code: complaint.code,
        text: complaint.text,
    };
    Report {
        schema: SCHEMA,
        input: Input {
            files: facts.files,
            runs: histories.distinct_runs(),
            executions: histories.executions(),
            unrecognised_files: facts.unrecognised_files,
            complaints: facts.complaints.into_iter().map(complaint).collect(),
        },
        tests: histories.tests.iter().map(|test| one_test(test, &histories.runs, split_at)).collect(),
    }
}

/// One test's report.
fn one_test(history: &History, runs: &[RunMeta], split_at: Option<Timestamp>) -> Test {
    let totals = history.totals();
    let counts = history.failure_counts();
    let evidence =
        EvidenceCounts { e1: totals.executed.saturating_sub(history.e3), e2: history.e2, e3: history.e3 };
    // Where passes are counted but not listed, "executed" misses them and no rate can be formed.
    let open = evidence.e2 > 0;
    let mut test = Test {
        suite: history.id.suite.clone(),
        test: history.id.test.clone(),
        executed: totals.executed,
        failed: totals.failed,
        flaky: totals.flaky,
        skipped: totals.skipped,
        unknown: totals.unknown,
        rate_bracket: open.then(|| Bracket {
            low: totals.failed as f64 / (totals.executed + evidence.e2).max(1) as f64,
            high: if totals.executed == 0 { 1.0 } else { totals.failed as f64 / totals.executed as f64 },
        }),
        evidence,
        rate: None,
        failures: Failures {
            order: counts.order,
            order_suspected: counts.order_suspected,
            lost_or_extra: counts.lost_or_extra,
            other: counts.other,
        },
        windows: Vec::new(),
        changepoints: Vec::new(),
        comparison: None,
        fix: Fix { clean_runs_needed_95: None, clean_runs_seen: 0 },
        verdict: "",
        why: String::new(),
    };
    let trace = Trace::new(history, runs);
    let analysis = trace.analyse(split_at);
    test.verdict = analysis.verdict.as_str();
    test.why.clone_from(&analysis.why);
    if totals.executed > 0 {
        fill(&mut test, &trace, &analysis, split_at, open);
    }
    test
}

/// Writes what the analysis found into the test.
fn fill(test: &mut Test, trace: &Trace<'_>, analysis: &Analysis, split_at: Option<Timestamp>, open: bool) {
    let rated = |found: Option<window::Rate>| found.filter(|_| !open).map(rate);
    test.rate = rated(analysis.whole.rate);
    test.windows = analysis
        .windows
        .iter()
        .map(|found| Window { rate: rated(found.rate), ..one_window(trace, found) })
        .collect();
    let mut points: Vec<(usize, Changepoint)> = analysis
        .cuts
        .iter()
        .map(|cut| (cut.executed_old, permutation_change(trace, cut, split_at)))
        .collect();
    if !open {
        points.extend(analysis.rate_cuts.iter().map(|cut| (cut.executed_old, rate_change(trace, cut))));
        test.comparison = analysis.comparison.map(|found| Comparison {
            fisher_two_sided: found.fisher_two_sided,
            ratio: found.ratio,
            ratio_low: found.ratio_low,
            ratio_high: found.ratio_high,
            reading: found.reading.as_str(),
        });
        test.fix.clean_runs_needed_95 = analysis.clean_runs_needed_95;
    }
    points.sort_by_key(|&(position, _)| position);
    test.changepoints = points.into_iter().map(|(_, point)| point).collect();
    test.fix.clean_runs_seen = analysis.clean_runs_seen as u64;
}

fn rate(found: window::Rate) -> Rate {
    Rate { value: found.value, low: found.low, high: found.high, method: "wilson", level: 0.95 }
}

/// The executed runs of one test, and for each permutation the failure that shows it.
struct Trace<'a> {
    /// Index into `runs` of each executed run.
    executed: Vec<u32>,
    times: Vec<Option<i64>>,
    failed: Vec<Failed>,
    orders: Vec<Order>,
    ranks: Vec<Vec<u32>>,
    /// By label: the first failure that saw it.
    shown: Vec<&'a Failure>,
    runs: &'a [RunMeta],
}

impl<'a> Trace<'a> {
    fn new(history: &'a History, runs: &'a [RunMeta]) -> Self {
        let mut trace = Trace {
            executed: Vec::with_capacity(history.executions.len()),
            times: Vec::with_capacity(history.executions.len()),
            failed: Vec::new(),
            orders: Vec::new(),
            ranks: Vec::new(),
            shown: Vec::new(),
            runs,
        };
        let mut failures = history.failures.as_slice();
        let mut run_ids: HashMap<&str, u32> = HashMap::new();
        let mut labels: HashMap<&[u32], u32> = HashMap::new();
        for (index, execution) in history.executions.iter().enumerate() {
            let (own, rest) = failures
                .split_at(failures.iter().take_while(|failure| failure.execution as usize == index).count());
            failures = rest;
            if execution.state != State::Executed {
                continue;
            }
            let at = trace.executed.len();
            let run = &runs[execution.run as usize];
            trace.executed.push(execution.run);
            trace.times.push(run.started_at.map(Timestamp::as_microsecond));
            if execution.failed {
                let kind = own.iter().map(Failure::kind).min().unwrap_or(FailureKind::Other);
                trace.failed.push(Failed { at, kind });
            }
            for failure in own {
                let Some(finding) = &failure.finding else { continue };
                let Some(ranks) = &finding.ranks else { continue };
                let next = run_ids.len() as u32;
                let run_id = *run_ids.entry(run.key.run_id.as_str()).or_insert(next);
                let label = *labels.entry(ranks).or_insert_with(|| {
                    trace.ranks.push(ranks.clone());
                    trace.shown.push(failure);
                    trace.ranks.len() as u32 - 1
                });
                trace.orders.push(Order { at, run: run_id, label, exact: finding.exact });
            }
        }
        trace
    }

    fn analyse(&self, split_at: Option<Timestamp>) -> Analysis {
        window::analyse(&Axis {
            executed: self.executed.len(),
            times: &self.times,
            failed: &self.failed,
            orders: &self.orders,
            ranks: &self.ranks,
            split_at: split_at.map(Timestamp::as_microsecond),
        })
    }

    /// The run of an executed index.
    fn run(&self, at: usize) -> Option<&'a RunMeta> {
        self.executed.get(at).map(|&run| &self.runs[run as usize])
    }

    /// The start of the run of an executed index, as text.
    fn time(&self, at: usize) -> Option<String> {
        self.run(at)?.started_at.map(|time| time.to_string())
    }

    /// The id of the run of an executed index.
    fn run_id(&self, at: usize) -> Option<String> {
        self.run(at).map(|run| run.key.run_id.clone())
    }

    /// The commit of the run of an executed index.
    fn commit(&self, at: usize) -> Option<String> {
        self.run(at)?.commit.clone()
    }
}

/// One window without its rate.
fn one_window(trace: &Trace<'_>, found: &window::Window) -> Window {
    Window {
        from: trace.time(found.start),
        to: found.end.checked_sub(1).and_then(|last| trace.time(last)),
        cut_by: found.cut_by.as_str(),
        executed: found.executed() as u64,
        executed_low: found.executed_low as u64,
        executed_high: found.executed_high as u64,
        failed: found.failed as u64,
        rate: None,
        permutations: found.permutations.iter().map(|seen| permutation(trace, seen)).collect(),
        distinct: found.distinct as u64,
        posterior_single: found.posterior_single,
        other_share_bound: found.other_share_bound,
        verdict: found.verdict.as_str(),
        observations: found.observations as u64,
        why: found.why.clone(),
    }
}

fn permutation(trace: &Trace<'_>, seen: &window::PermutationCount) -> Permutation {
    let label = seen.label as usize;
    let finding = trace.shown.get(label).and_then(|failure| failure.finding.as_deref());
    Permutation {
        ranks: trace.ranks.get(label).cloned().unwrap_or_default(),
        observed: finding.map(|finding| finding.observed.clone()).unwrap_or_default(),
        expected: finding.map(|finding| finding.expected.clone()).unwrap_or_default(),
        count: seen.count as u64,
        first: trace.time(seen.first),
        last: trace.time(seen.last),
        exact: seen.exact,
        first_run: trace.run_id(seen.first).unwrap_or_default(),
        last_run: trace.run_id(seen.last).unwrap_or_default(),
    }
}

fn permutation_change(trace: &Trace<'_>, cut: &Cut, split_at: Option<Timestamp>) -> Changepoint {
    let given = cut.source == Source::Given;
    let given_at = split_at.filter(|_| given).map(|time| time.to_string());
    // A found change lies somewhere between two failing runs, a given one between two neighbours.
    let (before, after) = if given {
        (cut.executed_old.checked_sub(1), Some(cut.executed_old))
    } else {
        (cut.last_old, cut.first_new)
    };
    let interval = |end: fn((usize, usize)) -> usize| {
        given_at.clone().or_else(|| cut.interval.map(end).and_then(|at| trace.time(at)))
    };
    Changepoint {
        of: "permutation",
        source: cut.source.as_str(),
        at: given_at.clone().or_else(|| trace.time(cut.executed_old)),
        low: interval(|(low, _)| low),
        high: interval(|(_, high)| high),
        p: cut.p.into(),
        bf: Measure::Absent,
        run_before: before.and_then(|at| trace.run_id(at)),
        run_after: after.and_then(|at| trace.run_id(at)),
        commit_before: before.and_then(|at| trace.commit(at)),
        commit_after: after.and_then(|at| trace.commit(at)),
        executed_before: cut.executed_old as u64,
        accepted: cut.accepted,
        cuts_window: cut.cuts_window,
    }
}

fn rate_change(trace: &Trace<'_>, cut: &RateCut) -> Changepoint {
    let (before, after) = (cut.executed_old.checked_sub(1), cut.executed_old);
    Changepoint {
        of: "rate",
        source: Source::Scan.as_str(),
        at: trace.time(after),
        low: trace.time(cut.executed_low),
        high: trace.time(cut.executed_high),
        p: Measure::Absent,
        bf: Measure::Known(cut.bf),
        run_before: before.and_then(|at| trace.run_id(at)),
        run_after: trace.run_id(after),
        commit_before: before.and_then(|at| trace.commit(at)),
        commit_after: trace.commit(after),
        executed_before: cut.executed_old as u64,
        accepted: true,
        cuts_window: false,
    }
}
