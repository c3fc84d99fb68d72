//! The sentences: counts first, then what they mean, then what to do. No times, no names.

use super::{Evidence, Mixture, ORDERS_MIN, Outlook, SINGLE_MIN, Side};
use crate::stats::interval::wilson;
use crate::stats::shape::Displacement;

/// Most counts listed one by one.
const LISTED_MAX: usize = 6;

/// `1 failure`, `3 failures`.
fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn failures(n: usize) -> String {
    count(n, "failure", "failures")
}

fn orders(n: usize) -> String {
    count(n, "order", "different orders")
}

fn more(n: usize) -> String {
    count(n, "more failure", "more failures")
}

/// `(6, 2 and 1 times)`, most frequent first.
fn times(totals: &[usize]) -> String {
    let mut sorted = totals.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let shown: Vec<String> = sorted.iter().take(LISTED_MAX).map(usize::to_string).collect();
    if sorted.len() > LISTED_MAX {
        return format!("({}, … times)", shown.join(", "));
    }
    let (last, first) = shown.split_last().map_or(("", &[][..]), |(last, first)| (last.as_str(), first));
    if first.is_empty() {
        format!("({last} times)")
    } else {
        format!("({} and {last} times)", first.join(", "))
    }
}

/// A share as percent, one digit below ten.
fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value >= 9.95 { format!("{value:.0} %") } else { format!("{value:.2} %") }
}

pub(super) fn never_executed() -> String {
    "never executed, so nothing is known: look why it is skipped or not reported".to_owned()
}

pub(super) fn stable(evidence: &Evidence) -> String {
    let (_, high) = wilson(0, evidence.executed as u64, 0.95);
    let runs = count(evidence.executed, "executed run", "executed runs");
    format!("no failure in {runs}; a failure rate up to {} remains possible", percent(high))
}

pub(super) fn not_order(evidence: &Evidence) -> String {
    let failed = failures(evidence.failed);
    if evidence.lost_or_extra > 0 {
        let lost = evidence.lost_or_extra;
        return format!(
            "{failed}, none of them an order: {lost} lost, duplicated or invented elements; look for delivery that is dropped or repeated, not for a race in the order"
        );
    }
    format!(
        "{failed}, and none of them shows an order: read the failures, nothing says that the order is at fault"
    )
}

pub(super) fn too_few(evidence: &Evidence) -> String {
    let (k, failed) = (evidence.labels.len(), failures(evidence.failed));
    let missing = ORDERS_MIN - k;
    let hidden = if evidence.suspected > 0 {
        let looks = count(evidence.suspected, "looks like an order failure", "look like order failures");
        format!("; {looks} whose text does not show both sequences in full: let the test print them")
    } else {
        String::new()
    };
    let have =
        if k == 1 { "1 independent exact order".to_owned() } else { format!("{k} independent exact orders") };
    format!(
        "{failed} with {have}, at least {ORDERS_MIN} are needed for any verdict: {missing} more to collect{hidden}"
    )
}

pub(super) fn too_few_equal(k: usize) -> String {
    let missing = more(SINGLE_MIN - k);
    format!(
        "all {k} exact orders agree, but {SINGLE_MIN} are needed before a race window that mostly shows one order becomes unlikely: {missing} to collect"
    )
}

pub(super) fn single(k: usize, posterior: f64, bound: f64, to_strong: Option<usize>) -> String {
    let share = percent(bound);
    let next = match to_strong {
        Some(missing) => format!("; {} with the same order would make it strong", more(missing)),
        None => String::new(),
    };
    format!(
        "all {k} exact orders agree, as one fixed reorder would make them (posterior {posterior:.2}; other orders can have at most {share} of the failures): look for the one place that always delivers in this order{next}"
    )
}

pub(super) fn unordered(totals: &[usize], shape: Displacement) -> String {
    let k: usize = totals.iter().sum();
    let (seen, displaced, judged) = (orders(totals.len()), shape.displaced, shape.judged);
    format!(
        "{} saw {seen} and only {displaced} of {judged} are a single displaced element: nothing keeps these elements in order, so look for an unordered collection or for handlers that run at the same time",
        failures(k)
    )
}

pub(super) fn window(totals: &[usize], mixture: Mixture) -> String {
    let k: usize = totals.iter().sum();
    format!(
        "{} saw {} {}, mixed in time; {} strays or unseen changes would be needed to explain that, more than chance allows: a race window, so look for the moment in which a message can be overtaken, not for one wrong step",
        failures(k),
        orders(totals.len()),
        times(totals),
        mixture.accidents
    )
}

pub(super) fn undecided(totals: &[usize], mixture: Mixture, outlook: Outlook) -> String {
    let k: usize = totals.iter().sum();
    let explained = if mixture.accidents >= mixture.accidents_min {
        format!(
            "equal orders come in blocks (p = {}), so {} unseen changes would explain it",
            p_value(mixture.blocks_p),
            mixture.accidents
        )
    } else if mixture.accidents == 1 {
        "one stray order, or one unseen change, would explain it".to_owned()
    } else {
        format!("{} stray orders or unseen changes would explain it", mixture.accidents)
    };
    let mixing = outlook.mixing.map(|n| format!("{} that keep mixing them would make it a window", more(n)));
    let settled = outlook.settled.map(|n| format!("{} that all show the latest one a change", more(n)));
    let decide = match (mixing, settled) {
        (Some(mixing), Some(settled)) => format!("{mixing}, {settled}"),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => "collect more failures to decide".to_owned(),
    };
    format!("{} saw {} {}: {explained}; {decide}", failures(k), orders(totals.len()), times(totals))
}

pub(super) fn mixed(p: f64, before: Side, after: Side, changes: usize) -> String {
    let side = |side: Side| {
        format!("{} with {} ({})", failures(side.observations), orders(side.distinct), side.verdict.as_str())
    };
    let often = if changes > 1 { format!(" {changes} times, most clearly") } else { String::new() };
    format!(
        "the observed order changed{often} (p = {}): before it {}, after it {}; look for what changed there and judge each window by itself",
        p_value(p),
        side(before),
        side(after)
    )
}

/// A p-value with the digits a person needs.
pub(crate) fn p_value(p: f64) -> String {
    if p < 1e-4 { format!("{p:.1e}") } else { format!("{p:.4}") }
}
