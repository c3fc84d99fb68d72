//! What further failures would turn `undecided` into a decision.

use super::Mixture;
use super::accidents::{Accidents, accidents_min};
use crate::stats::runs;
use crate::window::permutation;

/// Failures looked ahead.
const AHEAD_MAX: usize = 60;
/// Most failures from which a look ahead is tried; with more, the next report decides.
const SERIES_MAX: usize = 200;
/// Most lattice points of one scan while looking ahead.
const STATES_MAX: f64 = 50_000.0;

/// Further failures that would decide, `None` where none within `AHEAD_MAX` do (or the series is
/// too long to look ahead).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Outlook {
    /// Least number after which it is a window, if the two most frequent orders keep alternating.
    pub mixing: Option<usize>,
    /// Least number after which a change is accepted, if all show the latest order.
    pub settled: Option<usize>,
}

impl Outlook {
    /// Continues the series `labels` (dense numbers, with these totals) in both ways.
    pub(super) fn of(labels: &[usize], totals: &[usize]) -> Self {
        if labels.len() > SERIES_MAX || totals.len() < 2 {
            return Outlook::default();
        }
        Outlook { mixing: mixing(labels, totals), settled: settled(labels, totals) }
    }
}

fn mixing(labels: &[usize], totals: &[usize]) -> Option<usize> {
    let last = *labels.last()?;
    let mut by_count: Vec<usize> = (0..totals.len()).collect();
    by_count.sort_by_key(|&label| (std::cmp::Reverse(totals[label]), label));
    let pair = if by_count[0] == last { [by_count[1], by_count[0]] } else { [by_count[0], by_count[1]] };
    let mut accidents = Accidents::new(totals.len());
    labels.iter().for_each(|&label| {
        accidents.add(label);
    });
    let mut totals = totals.to_vec();
    let mut blocks = runs::runs(labels);
    for ahead in 1..=AHEAD_MAX {
        let label = pair[(ahead - 1) % 2];
        totals[label] += 1;
        blocks += 1;
        let mixture = Mixture {
            accidents: accidents.add(label),
            accidents_min: accidents_min((labels.len() + ahead) as u64),
            blocks_p: 1.0,
        };
        // The number of blocks costs most, so it is looked at last.
        if mixture.is_window()
            && (Mixture { blocks_p: runs::at_most(&totals, blocks), ..mixture }).is_window()
        {
            return Some(ahead);
        }
    }
    None
}

fn settled(labels: &[usize], totals: &[usize]) -> Option<usize> {
    let last = *labels.last()?;
    let states = |extra: usize| -> f64 {
        let total = |(label, n): (usize, &usize)| (n + if label == last { extra } else { 0 }) as f64 + 1.0;
        totals.iter().enumerate().map(total).product()
    };
    let mut series: Vec<u32> = labels.iter().map(|&label| label as u32).collect();
    for ahead in (1..=AHEAD_MAX).take_while(|&ahead| states(ahead) <= STATES_MAX) {
        series.push(last as u32);
        let peak = permutation::peak(&series)?;
        if permutation::accepted(&peak, series.len()) {
            return Some(ahead);
        }
    }
    None
}
