//! Each rule: raise, hold, clear.

use super::super::*;
use super::{hub, running};

const S: u64 = 1_000_000;

fn rules(history: &History, now: u64) -> Vec<(Rule, Severity)> {
    history.warnings(now).into_iter().map(|w| (w.rule, w.severity)).collect()
}

#[test]
fn names_are_unique_and_found() {
    for rule in Rule::ALL {
        assert_eq!(Rule::from_name(rule.as_str()), Some(rule));
        assert!(!rule.meaning().is_empty());
    }
    assert_eq!(Rule::from_name("wedged"), None);
}

#[test]
fn wedged_turn_raises_holds_and_clears() {
    let mut history = History::new(100 * S, running("a", 2));
    assert!(rules(&history, 102 * S).is_empty());
    assert_eq!(rules(&history, 103 * S), [(Rule::WedgedTurn, Severity::Warn)]);
    history.observe(110 * S, running("a", 12));
    assert_eq!(rules(&history, 110 * S), [(Rule::WedgedTurn, Severity::Warn)]);
    assert_eq!(rules(&history, 128 * S), [(Rule::WedgedTurn, Severity::Critical)]);
    let text = &history.warnings(128 * S)[0].text;
    assert_eq!(
        text,
        "Initialize d-1 has made no progress for 30.0s, last stage HANDLER_ENTER; 3 wait behind it"
    );
    let mut moved = running("a", 30);
    moved.running.as_mut().unwrap().last_stage = "ANSWERED".into();
    history.observe(129 * S, moved);
    assert!(rules(&history, 130 * S).is_empty(), "progress clears");
    history.observe(131 * S, hub("a", 0));
    assert!(rules(&history, 200 * S).is_empty(), "an idle hub is not wedged");
}

#[test]
fn a_turn_that_replaced_another_is_as_old_as_it_says() {
    let mut history = History::new(100 * S, running("a", 50));
    let mut next = running("a", 1);
    next.running.as_mut().unwrap().delivery = "d-2".into();
    history.observe(110 * S, next);
    assert!(rules(&history, 113 * S).is_empty());
    assert_eq!(rules(&history, 114 * S), [(Rule::WedgedTurn, Severity::Warn)]);
}

#[test]
fn a_turn_older_than_the_observer_s_clock_is_as_old_as_it_says() {
    let history = History::new(5, running("a", 41));
    assert_eq!(history.without_progress(5), 41 * S);
    assert_eq!(rules(&history, 5), [(Rule::WedgedTurn, Severity::Critical)]);
}

#[test]
fn absurd_numbers_overflow_nothing() {
    let mut state = running("a", 1);
    state.running.as_mut().unwrap().age_us = u64::MAX;
    (state.main, state.deferred, state.between_us) = (u64::MAX, u64::MAX, Some(u64::MAX));
    let gate = Gate { closed: true, closed_us: u64::MAX, holding: 1, ..Gate::default() };
    state.gates.push(Gate { never_opened: Some(true), ..gate });
    let mut history = History::new(S, state.clone());
    state.between = 1;
    assert_eq!(history.warnings(2 * S).len(), 2);
    history.observe(u64::MAX / 4, state);
    assert_eq!(history.warnings(u64::MAX / 4 + S).len(), 2);
}

#[test]
fn between_queues_raises_and_clears_and_is_no_wedge() {
    let mut state = running("a", 0);
    state.between = 1;
    state.between_us = Some(200_000);
    let mut history = History::new(0, state);
    assert!(rules(&history, S / 2).is_empty());
    assert_eq!(rules(&history, S), [(Rule::BetweenQueues, Severity::Warn)]);
    assert_eq!(rules(&history, 40 * S), [(Rule::BetweenQueues, Severity::Critical)]);
    assert!(history.warnings(S)[0].text.contains("in neither queue"));
    history.observe(41 * S, running("a", 1));
    assert!(rules(&history, 41 * S).is_empty());
}

#[test]
fn gate_never_opened_needs_a_backlog() {
    let gate =
        Gate { name: "init".into(), closed: true, closed_us: 9 * S, holding: 2, never_opened: Some(true) };
    let with = |gate: Gate| History::new(0, HubState { gates: vec![gate], ..hub("a", 0) });
    let history = with(gate.clone());
    assert!(rules(&history, S - 1).is_empty());
    assert_eq!(rules(&history, S), [(Rule::GateNeverOpened, Severity::Warn)]);
    assert_eq!(rules(&history, 51 * S), [(Rule::GateNeverOpened, Severity::Critical)]);
    for quiet in [
        Gate { holding: 0, ..gate.clone() },
        Gate { closed: false, ..gate.clone() },
        Gate { never_opened: Some(false), ..gate.clone() },
        Gate { never_opened: None, ..gate },
    ] {
        assert!(rules(&with(quiet), 100 * S).is_empty());
    }
}

fn deferred(depth: u64, closed: bool) -> HubState {
    let gate = Gate { name: "stock".into(), closed, ..Gate::default() };
    HubState { deferred: depth, gates: vec![gate], ..hub("a", 0) }
}

#[test]
fn deferred_growing_raises_and_clears_at_half() {
    let mut history = History::new(0, deferred(10, true));
    for n in 1..6 {
        history.observe(n * S, deferred(10 + n, true));
        assert!(rules(&history, n * S).is_empty(), "after {n} s");
    }
    history.observe(6 * S, deferred(16, true));
    history.observe(7 * S, deferred(17, true));
    assert_eq!(rules(&history, 7 * S), [(Rule::DeferredGrowing, Severity::Warn)]);
    assert!(history.warnings(7 * S)[0].text.contains("closed gate stock: 17"));
    history.observe(60 * S, deferred(10, true));
    assert_eq!(rules(&history, 60 * S), [(Rule::DeferredGrowing, Severity::Warn)], "holds");
    history.observe(61 * S, deferred(8, true));
    assert!(rules(&history, 61 * S).is_empty(), "below half the peak");
}

#[test]
fn deferred_growing_is_quiet_when_a_gate_opens_or_depth_stands_still() {
    let mut history = History::new(0, deferred(0, true));
    for n in 1..20 {
        history.observe(n * S, deferred(n, n % 3 != 0));
        assert!(rules(&history, n * S).is_empty());
    }
    let mut history = History::new(0, deferred(5, true));
    for n in 1..20 {
        history.sample(n * S);
        assert!(rules(&history, n * S).is_empty());
    }
}

#[test]
fn stale_after_three_seconds() {
    assert_eq!(stale("a", 3 * S - 1), None);
    assert_eq!(stale("a", 3 * S).map(|w| w.rule), Some(Rule::Stale));
}

#[test]
fn durations_stay_short() {
    for (micros, text) in [
        (0, "0ms"),
        (3_400, "3ms"),
        (999_999, "999ms"),
        (41_234_567, "41.2s"),
        (99_999_999, "99.9s"),
        (725 * S, "12m05s"),
        (11_220 * S, "3h07m"),
        (86_400 * 99 * S + 3600 * S, "99d01h"),
        (u64::MAX, ">99d"),
    ] {
        assert_eq!(sentence_of_duration(micros), text);
        assert!(text.len() <= 6);
    }
}
