//! The analysis of whole tests: the golden story, named times, repetitions and odd inputs.

use super::*;
use crate::stats::rng::Rng;
use crate::verdict::Verdict;

/// Rank vectors of B,C,A; C,A,B; B,A,C against A,B,C.
fn ranks() -> Vec<Vec<u32>> {
    vec![vec![1, 2, 0], vec![2, 0, 1], vec![1, 0, 2]]
}

/// A history whose failures are given as (executed index, label), each of a run of its own.
struct Story {
    executed: usize,
    times: Vec<Option<i64>>,
    failed: Vec<Failed>,
    orders: Vec<Order>,
    ranks: Vec<Vec<u32>>,
}

impl Story {
    fn new(executed: usize, seen: &[(usize, u32)]) -> Self {
        let order = |&(at, label): &(usize, u32)| Order { at, run: at as u32, label, exact: true };
        Story {
            executed,
            // One run a minute.
            times: (0..executed as i64).map(|i| Some(i * 60)).collect(),
            failed: seen.iter().map(|&(at, _)| Failed { at, kind: FailureKind::Order }).collect(),
            orders: seen.iter().map(order).collect(),
            ranks: ranks(),
        }
    }

    fn analyse(&self, split_at: Option<i64>) -> Analysis {
        analyse(&Axis {
            executed: self.executed,
            times: &self.times,
            failed: &self.failed,
            orders: &self.orders,
            ranks: &self.ranks,
            split_at,
        })
    }
}

/// Nine failures in 965 runs; the last old failing run is 599, the first new one 659.
fn golden() -> Story {
    let old = [60, 170, 260, 390, 500, 599].map(|at| (at, 0));
    let new = [(659, 1), (800, 2), (900, 1)];
    Story::new(965, &[&old[..], &new[..]].concat())
}

#[test]
fn the_story_is_cut_where_the_permutation_changes() {
    let analysis = golden().analyse(None);
    assert_eq!(analysis.verdict, Verdict::Mixed);
    let [before, after] = &analysis.windows[..] else { panic!("two windows") };
    assert_eq!((before.executed(), before.executed_low, before.executed_high), (629, 600, 659));
    assert_eq!((after.executed(), after.executed_low, after.executed_high), (336, 306, 365));
    assert_eq!((before.failed, before.distinct, before.verdict), (6, 1, Verdict::SingleReorderConsistent));
    assert_eq!((after.failed, after.distinct, after.verdict), (3, 2, Verdict::Undecided));
    assert_eq!((before.cut_by, after.cut_by), (CutBy::Start, CutBy::Permutation));
    assert!((before.posterior_single.unwrap() - 0.778).abs() < 5e-4);
    assert!((before.other_share_bound.unwrap() - 0.393).abs() < 5e-4);
    assert_eq!(after.posterior_single, None);
    let [cut] = &analysis.cuts[..] else { panic!("one change") };
    assert!((cut.p.unwrap() - 6.0 / 252.0).abs() < 1e-12 && cut.source == Source::Scan);
    // Gaps 4 to 8: from the start of the fourth failure to the start of the ninth.
    assert_eq!(cut.interval, Some((390, 900)));
    assert_eq!((cut.last_old, cut.first_new), (Some(599), Some(659)));
    assert!(analysis.rate_cuts.is_empty());
    let comparison = analysis.comparison.unwrap();
    assert_eq!(comparison.reading, Reading::NotDistinguishable);
    assert_eq!(comparison.reading.as_str(), "not distinguishable");
    assert_eq!((analysis.clean_runs_needed_95, analysis.clean_runs_seen), (Some(320), 64));
    let counts: Vec<(u32, usize)> = after.permutations.iter().map(|p| (p.label, p.count)).collect();
    assert_eq!(counts, [(1, 2), (2, 1)]);
    assert_eq!((after.permutations[0].first, after.permutations[0].last), (659, 900));
}

#[test]
fn runs_without_a_start_may_be_on_either_side_of_a_named_time() {
    let mut story = golden();
    story.times[945..].fill(None);
    let analysis = story.analyse(Some(628 * 60));
    let [before, after] = &analysis.windows[..] else { panic!("two windows") };
    assert_eq!((before.executed(), before.executed_low, before.executed_high), (628, 628, 648));
    assert_eq!((after.executed(), after.executed_low, after.executed_high), (337, 317, 337));
}

#[test]
fn a_named_time_gives_exact_counts_and_lists_the_scans_point_too() {
    let analysis = golden().analyse(Some(628 * 60));
    let [before, after] = &analysis.windows[..] else { panic!("two windows") };
    assert_eq!((before.executed(), before.executed_low, before.executed_high), (628, 628, 628));
    assert_eq!((after.executed(), after.executed_low, after.executed_high), (337, 337, 337));
    assert_eq!((before.failed, after.failed, after.cut_by), (6, 3, CutBy::Split));
    let [given, scan] = &analysis.cuts[..] else { panic!("two change points") };
    assert!((given.p.unwrap() - 1.0 / 84.0).abs() < 1e-12 && given.source == Source::Given);
    assert!((scan.p.unwrap() - 6.0 / 252.0).abs() < 1e-12 && scan.source == Source::Scan);
    assert!(given.cuts_window && !scan.cuts_window && given.interval.is_none());
    let comparison = analysis.comparison.unwrap();
    assert!((comparison.fisher_two_sided - 1.0).abs() < 1e-12);
    assert!((comparison.ratio - 0.96).abs() < 0.005);
    assert!((comparison.ratio_low - 0.22).abs() < 0.005 && (comparison.ratio_high - 3.47).abs() < 0.005);
    assert_eq!(analysis.verdict, Verdict::Mixed);
    assert!(analysis.why.contains("6 failures with 1 order"), "{}", analysis.why);
    // A run that starts at the very time is new.
    assert_eq!(golden().analyse(Some(627 * 60 + 1)).windows[0].executed(), 628);
    assert_eq!(golden().analyse(Some(627 * 60)).windows[0].executed(), 627);
}

#[test]
fn a_named_time_is_scanned_inside() {
    let seen: Vec<(usize, u32)> = (0..20).map(|i| (i * 10, u32::from(i >= 10))).collect();
    let analysis = Story::new(200, &seen).analyse(Some(50 * 60));
    let cuts: Vec<(Source, usize, bool)> =
        analysis.cuts.iter().map(|c| (c.source, c.executed_old, c.cuts_window)).collect();
    assert_eq!(cuts, [(Source::Given, 50, true), (Source::Scan, 95, true)]);
    assert_eq!(analysis.windows.len(), 3);
    assert_eq!((analysis.windows[1].executed_low, analysis.windows[1].executed_high), (41, 50));
}

#[test]
fn a_named_time_with_one_failure_on_a_side_is_no_change() {
    let seen: Vec<(usize, u32)> = (0..51).map(|at| (at, u32::from(at == 50))).collect();
    let analysis = Story::new(60, &seen).analyse(Some(50 * 60));
    assert!((analysis.cuts[0].p.unwrap() - 1.0 / 51.0).abs() < 1e-12);
    assert!(!analysis.cuts[0].accepted && analysis.verdict == Verdict::Undecided);
}

#[test]
fn a_named_time_outside_the_runs_cuts_nothing() {
    for time in [i64::MIN, 0, 965 * 60] {
        let analysis = golden().analyse(Some(time));
        assert_eq!(analysis.windows.len(), 2, "the scan cuts");
        let given = analysis.cuts.iter().find(|cut| cut.source == Source::Given).unwrap();
        assert!(!given.cuts_window && !given.accepted && given.p.is_none());
    }
    let mut undated = golden();
    undated.times.clear();
    assert_eq!(undated.analyse(Some(628 * 60)).windows.len(), 2);
}

#[test]
fn runs_without_a_time_are_not_before_any() {
    let mut story = golden();
    story.times[900..].fill(None);
    assert_eq!(story.analyse(Some(628 * 60)).windows[1].executed(), 337);
}

#[test]
fn the_same_order_under_one_run_id_is_one_observation() {
    let mut story = Story::new(100, &[(1, 0), (2, 0), (3, 0), (50, 1), (51, 1), (52, 1)]);
    story.orders[1].run = 1;
    story.orders[2].run = 1;
    let analysis = story.analyse(None);
    let window = &analysis.windows[0];
    assert_eq!((window.failed, window.observations, window.distinct), (6, 4, 2));
    let counts: Vec<(usize, usize)> = window.permutations.iter().map(|p| (p.count, p.observations)).collect();
    assert_eq!(counts, [(3, 3), (3, 1)]);
}

#[test]
fn a_repeated_order_stays_on_its_side_of_the_boundary() {
    let mut story = golden();
    // Another shard of the run that failed last before the change.
    story.orders.insert(6, Order { at: 640, run: 599, label: 0, exact: true });
    story.failed.insert(6, Failed { at: 640, kind: FailureKind::Order });
    let analysis = story.analyse(None);
    assert_eq!((analysis.cuts[0].executed_low, analysis.cuts[0].executed_high), (641, 659));
    assert_eq!(analysis.windows[0].failed, 7);
    assert_eq!(analysis.windows[0].observations, 6);
}

#[test]
fn two_orders_of_one_execution_are_no_two_places() {
    // The change would lie between two tries of run 50.
    let mut seen: Vec<(usize, u32)> = (46..=50).map(|at| (at, 0)).collect();
    seen.extend((50..=54).map(|at| (at, 1)));
    let mut story = Story::new(100, &seen);
    story.failed.dedup();
    let analysis = story.analyse(None);
    assert_eq!((analysis.windows.len(), analysis.cuts.len()), (1, 0));
}

#[test]
fn inexact_and_suspected_orders_are_listed_but_not_tested() {
    let mut story = golden();
    story.orders.iter_mut().for_each(|order| order.exact = false);
    let analysis = story.analyse(None);
    assert_eq!(analysis.verdict, Verdict::Insufficient);
    assert_eq!((analysis.windows.len(), analysis.whole.observations, analysis.whole.distinct), (1, 0, 0));
    assert_eq!(analysis.whole.permutations.len(), 3);
    assert!(analysis.why.contains("9 look like order failures"), "{}", analysis.why);
}

#[test]
fn other_failures_count_in_the_rate_alone() {
    let mut story = golden();
    story.failed.push(Failed { at: 950, kind: FailureKind::Other });
    let analysis = story.analyse(None);
    assert_eq!((analysis.windows[1].failed, analysis.windows[1].observations), (4, 3));
    assert_eq!(analysis.clean_runs_seen, 14);
}

#[test]
fn rates_differ_only_where_test_and_interval_agree() {
    let reading = |old: usize, new: usize| {
        let seen: Vec<(usize, u32)> = (0..old).chain(100..100 + new).map(|at| (at, 0)).collect();
        Story::new(200, &seen).analyse(Some(100 * 60)).comparison.unwrap()
    };
    let near_miss = reading(0, 5);
    assert!(near_miss.fisher_two_sided > 0.05 && near_miss.ratio_low > 1.0, "{near_miss:?}");
    assert_eq!(near_miss.reading, Reading::NotDistinguishable);
    assert_eq!(reading(2, 20).reading, Reading::Higher);
    assert_eq!(reading(20, 2).reading, Reading::Lower);
}

#[test]
fn nothing_executed_nothing_failed_everything_failed() {
    let empty = Story::new(0, &[]).analyse(Some(5));
    assert_eq!((empty.verdict, empty.windows.len()), (Verdict::Insufficient, 1));
    assert!(empty.windows[0].rate.is_none() && empty.comparison.is_none());
    let clean = Story::new(40, &[]).analyse(None);
    assert_eq!(
        (clean.verdict, clean.clean_runs_needed_95, clean.clean_runs_seen),
        (Verdict::Stable, None, 40)
    );
    let seen: Vec<(usize, u32)> = (0..8).map(|at| (at, (at % 2) as u32)).collect();
    let broken = Story::new(8, &seen).analyse(None);
    assert_eq!((broken.verdict, broken.clean_runs_needed_95), (Verdict::Window, Some(1)));
}

#[test]
fn the_order_in_which_labels_were_interned_changes_nothing() {
    let story = golden();
    let mut renamed = golden();
    renamed.ranks.reverse();
    renamed.orders.iter_mut().for_each(|order| order.label = 2 - order.label);
    let (one, other) = (story.analyse(None), renamed.analyse(None));
    assert_eq!(one.cuts, other.cuts);
    assert_eq!(one.why, other.why);
}

/// Forty failures, no two alike: so many classes are merged, and merging those that were interned
/// one after the other, that is seen one after the other, would invent a change.
#[test]
fn classes_are_not_merged_by_when_they_were_first_seen() {
    let seen: Vec<(usize, u32)> = (0..40).map(|i| (i * 5, i as u32)).collect();
    let mut story = Story::new(200, &seen);
    story.ranks = (0..40).map(|i| vec![i * 17 % 40]).collect();
    assert!(story.analyse(None).cuts.is_empty());
    story.ranks = (0..40).map(|i| vec![i]).collect();
    assert!(!story.analyse(None).cuts.is_empty(), "orders that grow with time do change");
}

#[test]
fn windows_cover_every_run_once_whatever_the_input() {
    let seed = 0x5eed_0007;
    let mut rng = Rng::new(seed);
    for round in 0..150 {
        let executed = 1 + rng.below(120);
        let mut at = 0;
        let mut seen = Vec::new();
        while at < executed {
            let late = at * 2 > executed;
            seen.push((at, if late { rng.below(3) as u32 } else { 0 }));
            at += 1 + rng.below(6);
        }
        let story = Story::new(executed, &seen);
        let split = (rng.unit() < 0.5).then(|| rng.below(executed + 2) as i64 * 60);
        let analysis = story.analyse(split);
        let place = format!("round {round}, seed {seed:#x}");
        assert_eq!(analysis.windows.iter().map(Window::executed).sum::<usize>(), executed, "{place}");
        assert_eq!(analysis.windows.iter().map(|w| w.failed).sum::<usize>(), seen.len(), "{place}");
        for window in &analysis.windows {
            assert!(window.executed_low <= window.executed(), "{place}");
            assert!(window.executed() <= window.executed_high && window.executed_high <= executed, "{place}");
        }
        for cut in analysis.cuts.iter().filter(|cut| cut.source == Source::Scan) {
            let (low, high) = cut.interval.unwrap();
            assert!(low < cut.executed_old && cut.executed_old <= high, "{place}");
        }
    }
}
