//! One test from its executed runs to windows, change points and verdicts.

use super::boundary::Boundary;
use super::{
    Analysis, Axis, Comparison, Cut, CutBy, FailureKind, Order, PermutationCount, Rate, RateCut, Reading,
    Source, Window, permutation, rate,
};
use crate::stats::fisher::{freeman_halton, two_sided};
use crate::stats::interval::wilson;
use crate::stats::plan::{clean_runs, other_share_bound, posterior_single};
use crate::stats::ratio::jeffreys_ratio;
use crate::stats::shape::Displacement;
use crate::verdict::{Evidence, Side, Verdict, judge, mixed_why};
use std::collections::{BTreeMap, BTreeSet};

/// Level of every interval of the report.
pub const LEVEL: f64 = 0.95;
/// Fisher's p from which two rates may be called different.
const DIFFERENT_LEVEL: f64 = 0.05;

/// One independent observation: an exact order, once for each (run id, permutation).
#[derive(Clone, Copy)]
struct Seen {
    at: usize,
    label: u32,
}

/// The axis with what the analysis needs again and again.
struct Series<'a> {
    axis: &'a Axis<'a>,
    seen: Vec<Seen>,
    /// Place of each label in the lexicographic order of the rank vectors: a numbering that does
    /// not depend on when an order was first seen, as the exactness of the scan demands.
    rank_place: Vec<u32>,
}

/// Analyses one test.
///
/// # Panics
/// If the axis breaks its contract (an index out of range, slices not sorted, a label without
/// ranks, or `times` of another length than `executed`).
pub fn analyse(axis: &Axis<'_>) -> Analysis {
    check(axis);
    let series = Series::new(axis);
    let (cuts, bounds, changes) = cut(&series);
    let windows: Vec<Window> =
        bounds.windows(2).map(|pair| series.window(pair[0].0, pair[1].0, pair[0].1)).collect();
    let whole = series.window(Boundary::exact(0), Boundary::exact(axis.executed), CutBy::Start);
    let (verdict, why) = match mixed(&series, &cuts, changes) {
        Some(why) => (Verdict::Mixed, why),
        None => (whole.verdict, whole.why.clone()),
    };
    Analysis {
        comparison: compare(&windows),
        rate_cuts: rate_cuts(axis),
        clean_runs_seen: axis.executed - axis.failed.last().map_or(0, |failed| failed.at + 1),
        clean_runs_needed_95: clean_runs(axis.failed.len() as u64, axis.executed as u64, LEVEL),
        windows,
        cuts,
        whole,
        verdict,
        why,
    }
}

fn check(axis: &Axis<'_>) {
    assert!(axis.times.is_empty() || axis.times.len() == axis.executed, "one time for each executed run");
    assert!(axis.failed.is_sorted_by(|a, b| a.at < b.at), "failed executions are sorted, each once");
    assert!(axis.failed.last().is_none_or(|failed| failed.at < axis.executed), "failures are executed runs");
    assert!(axis.orders.is_sorted_by_key(|order| order.at), "orders are sorted by run");
    assert!(axis.orders.last().is_none_or(|order| order.at < axis.executed), "orders are executed runs");
    assert!(axis.orders.iter().all(|order| (order.label as usize) < axis.ranks.len()), "labels have ranks");
}

impl<'a> Series<'a> {
    fn new(axis: &'a Axis<'a>) -> Self {
        let mut known = BTreeSet::new();
        let exact = axis.orders.iter().filter(|order| order.exact);
        let seen = exact
            .filter(|order| known.insert((order.run, order.label)))
            .map(|order| Seen { at: order.at, label: order.label })
            .collect();
        let mut by_ranks: Vec<u32> = (0..axis.ranks.len() as u32).collect();
        by_ranks.sort_by_key(|&label| &axis.ranks[label as usize]);
        let mut rank_place = vec![0; by_ranks.len()];
        for (place, &label) in by_ranks.iter().enumerate() {
            rank_place[label as usize] = place as u32;
        }
        Series { axis, seen, rank_place }
    }

    /// The observations whose runs lie in `start..end`.
    fn seen_in(&self, start: usize, end: usize) -> &[Seen] {
        &self.seen[self.seen.partition_point(|s| s.at < start)..self.seen.partition_point(|s| s.at < end)]
    }

    /// The proven orders whose runs lie in `start..end`.
    fn orders_in(&self, start: usize, end: usize) -> &[Order] {
        let orders = self.axis.orders;
        &orders[orders.partition_point(|o| o.at < start)..orders.partition_point(|o| o.at < end)]
    }

    /// Permutation change points among the failures of the runs `start..end`.
    fn scan(&self, start: usize, end: usize) -> Vec<Cut> {
        let seen = self.seen_in(start, end);
        let labels: Vec<u32> = seen.iter().map(|s| self.rank_place[s.label as usize]).collect();
        let apart = |j: usize| seen[j - 1].at < seen[j].at;
        let changes = permutation::scan(&labels, apart);
        changes
            .into_iter()
            .filter_map(|change| {
                let first_new = seen[change.j].at;
                // The last order before it may be a repetition under a run id already counted.
                let last_old = self.orders_in(start, first_new).iter().rfind(|o| o.exact)?.at;
                let boundary = Boundary::between(last_old, first_new)?;
                Some(Cut {
                    source: Source::Scan,
                    executed_old: boundary.executed_old,
                    executed_low: boundary.low,
                    executed_high: boundary.high,
                    interval: Some((seen[change.low - 1].at, seen[change.high].at)),
                    last_old: Some(last_old),
                    first_new: Some(first_new),
                    p: Some(change.p),
                    coarse: change.coarse,
                    accepted: true,
                    cuts_window: true,
                })
            })
            .collect()
    }

    /// The change point that a named time makes, tested on the identities on both sides.
    fn given(&self, split_at: i64) -> Cut {
        let executed = self.axis.executed;
        let old = self.axis.times.partition_point(|time| time.is_some_and(|time| time < split_at));
        // Runs without a start stand last; any of them may have started before the time.
        let unknown = self.axis.times.len() - self.axis.times.partition_point(Option::is_some);
        let (left, right) = (self.seen_in(0, old), self.seen_in(old, executed));
        let mut table: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for (side, seen) in [left, right].into_iter().enumerate() {
            for one in seen {
                table.entry(self.rank_place[one.label as usize]).or_insert_with(|| vec![0, 0])[side] += 1;
            }
        }
        let testable = !left.is_empty() && !right.is_empty();
        let test = testable.then(|| freeman_halton(&table.into_values().collect::<Vec<_>>()));
        let enough = left.len().min(right.len()) >= permutation::SIDE_MIN;
        Cut {
            source: Source::Given,
            executed_old: old,
            executed_low: old,
            executed_high: old + unknown,
            interval: None,
            last_old: left.last().map(|s| s.at),
            first_new: right.first().map(|s| s.at),
            p: test.map(|exact| exact.p),
            coarse: test.is_some_and(|exact| exact.coarse),
            accepted: enough && test.is_some_and(|exact| exact.p <= permutation::P_MAX),
            cuts_window: old > 0 && old < executed,
        }
    }

    /// Everything about the runs between two boundaries.
    fn window(&self, from: Boundary, to: Boundary, cut_by: CutBy) -> Window {
        let (start, end) = (from.executed_old, to.executed_old);
        let evidence = self.evidence(start, end);
        let judged = judge(&evidence);
        let (k, distinct) = (evidence.labels.len(), evidence.distinct());
        let single = (distinct == 1).then_some(k as u64);
        Window {
            start,
            end,
            cut_by,
            executed_low: to.low.saturating_sub(from.high),
            executed_high: to.high.saturating_sub(from.low),
            failed: evidence.failed,
            rate: rate_of(evidence.failed, end - start),
            permutations: self.permutations(start, end),
            observations: k,
            distinct,
            posterior_single: single.map(posterior_single),
            other_share_bound: single.map(|k| other_share_bound(k, LEVEL)),
            verdict: judged.verdict,
            why: judged.why,
        }
    }

    fn evidence(&self, start: usize, end: usize) -> Evidence {
        let failed = self.axis.failed;
        let failed =
            &failed[failed.partition_point(|f| f.at < start)..failed.partition_point(|f| f.at < end)];
        let exact: BTreeSet<usize> =
            self.orders_in(start, end).iter().filter(|o| o.exact).map(|o| o.at).collect();
        let is_suspected = |kind, at: &usize| match kind {
            FailureKind::Order => !exact.contains(at),
            FailureKind::OrderSuspected => true,
            FailureKind::LostOrExtra | FailureKind::Other => false,
        };
        let mut dense = BTreeMap::new();
        let mut displacement = Displacement::default();
        let mut labels = Vec::new();
        for seen in self.seen_in(start, end) {
            let next = dense.len();
            labels.push(*dense.entry(seen.label).or_insert(next));
            displacement.add(&self.axis.ranks[seen.label as usize]);
        }
        Evidence {
            executed: end - start,
            failed: failed.len(),
            suspected: failed.iter().filter(|f| is_suspected(f.kind, &f.at)).count(),
            lost_or_extra: failed.iter().filter(|f| f.kind == FailureKind::LostOrExtra).count(),
            labels,
            displacement,
        }
    }

    fn permutations(&self, start: usize, end: usize) -> Vec<PermutationCount> {
        let mut found: BTreeMap<u32, PermutationCount> = BTreeMap::new();
        let mut counted = BTreeSet::new();
        for order in self.orders_in(start, end) {
            let entry = found.entry(order.label).or_insert(PermutationCount {
                label: order.label,
                count: 0,
                observations: 0,
                first: order.at,
                last: order.at,
                exact: false,
            });
            // Two tries of one execution that saw the same order are one execution.
            entry.count += usize::from(counted.insert((order.label, order.at)));
            entry.last = order.at;
            entry.exact |= order.exact;
        }
        for seen in self.seen_in(start, end) {
            if let Some(entry) = found.get_mut(&seen.label) {
                entry.observations += 1;
            }
        }
        let mut found: Vec<PermutationCount> = found.into_values().collect();
        found.sort_by_key(|p| {
            (std::cmp::Reverse(p.observations), std::cmp::Reverse(p.count), p.first, p.label)
        });
        found
    }
}

fn rate_of(failed: usize, executed: usize) -> Option<Rate> {
    let (low, high) = wilson(failed as u64, executed as u64, LEVEL);
    (executed > 0).then(|| Rate { value: failed as f64 / executed as f64, low, high })
}

/// Where a window begins or the last one ends, and what opened it.
type Bounds = Vec<(Boundary, CutBy)>;

/// All permutation change points by position, the boundaries of the windows, and how many changes
/// the test shows (a named time and the scan's point beside it are one).
///
/// Without a named time the scan cuts. With one, the time cuts and each side is scanned inside; what
/// the scan finds over the whole is then listed without cutting a window.
fn cut(series: &Series<'_>) -> (Vec<Cut>, Bounds, usize) {
    let executed = series.axis.executed;
    let whole = series.scan(0, executed);
    let found = whole.len();
    let given = series.axis.split_at.map(|time| series.given(time));
    let mut cuts = match given {
        Some(given) if given.cuts_window => {
            let mut inside = series.scan(0, given.executed_old);
            inside.extend(series.scan(given.executed_old, executed));
            let same = |a: &Cut, b: &Cut| a.first_new == b.first_new;
            let outside = whole.into_iter().filter(|cut| !inside.iter().any(|other| same(cut, other)));
            let outside: Vec<Cut> = outside.map(|cut| Cut { cuts_window: false, ..cut }).collect();
            inside.extend(outside);
            inside
        }
        _ => whole,
    };
    cuts.extend(given);
    cuts.sort_by_key(|cut| (cut.executed_old, cut.source == Source::Given));
    let mut bounds = vec![(Boundary::exact(0), CutBy::Start)];
    for cut in cuts.iter().filter(|cut| cut.cuts_window) {
        let boundary =
            Boundary { executed_old: cut.executed_old, low: cut.executed_low, high: cut.executed_high };
        bounds.push((boundary, if cut.source == Source::Given { CutBy::Split } else { CutBy::Permutation }));
    }
    bounds.push((Boundary::exact(executed), CutBy::Start));
    let confirmed = cuts.iter().filter(|cut| cut.cuts_window && cut.accepted).count();
    (cuts, bounds, found.max(confirmed))
}

/// The sentence of a test whose permutation changed, `None` if no change was accepted.
fn mixed(series: &Series<'_>, cuts: &[Cut], changes: usize) -> Option<String> {
    let accepted: Vec<&Cut> = cuts.iter().filter(|cut| cut.accepted).collect();
    let clearest = accepted.iter().min_by(|a, b| a.p.unwrap_or(1.0).total_cmp(&b.p.unwrap_or(1.0)))?;
    // Judged up to the neighbouring accepted changes of the same source, or to the ends.
    let peers = || accepted.iter().filter(|cut| cut.source == clearest.source).map(|cut| cut.executed_old);
    let start = peers().filter(|&at| at < clearest.executed_old).max().unwrap_or(0);
    let end = peers().filter(|&at| at > clearest.executed_old).min().unwrap_or(series.axis.executed);
    let side = |start: usize, end: usize| {
        let evidence = series.evidence(start, end);
        let verdict = judge(&evidence).verdict;
        Side { observations: evidence.labels.len(), distinct: evidence.distinct(), verdict }
    };
    let (before, after) = (side(start, clearest.executed_old), side(clearest.executed_old, end));
    Some(mixed_why(clearest.p.unwrap_or(1.0), before, after, changes))
}

fn compare(windows: &[Window]) -> Option<Comparison> {
    let [.., earlier, later] = windows else { return None };
    let counts = |window: &Window| (window.failed as u64, window.executed() as u64);
    let ((k1, n1), (k2, n2)) = (counts(earlier), counts(later));
    let fisher = two_sided(k1, n1, k2, n2);
    let ratio = jeffreys_ratio(k1, n1, k2, n2, LEVEL);
    // Both must agree, so that the sentence never contradicts one of the numbers beside it.
    let reading = match fisher <= DIFFERENT_LEVEL {
        true if ratio.low > 1.0 => Reading::Higher,
        true if ratio.high < 1.0 => Reading::Lower,
        _ => Reading::NotDistinguishable,
    };
    Some(Comparison {
        fisher_two_sided: fisher,
        ratio: ratio.median,
        ratio_low: ratio.low,
        ratio_high: ratio.high,
        reading,
    })
}

fn rate_cuts(axis: &Axis<'_>) -> Vec<RateCut> {
    let places: Vec<usize> = axis.failed.iter().map(|failed| failed.at).collect();
    let cut = |change: rate::Change| RateCut {
        executed_old: change.s,
        executed_low: change.low,
        executed_high: change.high,
        bf: change.bf,
    };
    rate::scan(&places, axis.executed).into_iter().map(cut).collect()
}
