//! One turn at a time, each with exactly one end: pending turns, panics, bounds and the end of a hub.

mod support;

use std::thread;

use fate_hub::core::fault::Sound;
use fate_hub::core::probe::Point;
use fate_hub::core::{Drained, Gate, Kind, Outcome};
use fate_hub::limits::MAX_PARKED;
use fate_hub::{Observe, RunLevel};
use support::{Bench, Job, tokens};

fn open_hub() -> Bench {
    Bench::<Sound>::with(Vec::new())
}

#[test]
fn one_wake_serves_all_posts_until_the_drain_is_over() {
    let bench = open_hub();
    assert_eq!(bench.drain(), Drained::NotWanted, "nobody asked");
    bench.post(Job::Note("A"));
    bench.post(Job::Note("B"));
    assert_eq!(bench.wakes(), 1);
    assert_eq!(bench.drain(), Drained::Idle);
    assert_eq!(bench.drain(), Drained::NotWanted);
    bench.post(Job::Note("C"));
    assert_eq!(bench.wakes(), 2);
}

#[test]
fn a_batch_leaves_the_rest_for_the_next_drain() {
    let bench = open_hub();
    for name in ["A", "B", "C"] {
        bench.post(Job::Note(name));
    }
    assert_eq!(bench.core.drain(2), Drained::More);
    assert_eq!(bench.ran(), ["A", "B"]);
    assert_eq!(bench.wakes(), 1, "the drainer itself goes on");
    assert_eq!(bench.core.step(), Drained::Idle);
    assert_eq!(bench.ran(), ["A", "B", "C"]);
}

#[test]
fn a_pending_turn_holds_the_hub_and_reschedules_it_exactly_once() {
    let bench = open_hub();
    bench.post(Job::Hold("A"));
    bench.post(Job::Note("B"));
    assert_eq!(bench.drain(), Drained::Pending);
    assert_eq!(bench.drain(), Drained::NotWanted, "the turn goes on");
    let running = bench.core.snapshot().running.expect("A is running");
    assert_eq!(
        (running.delivery.as_str(), running.kind.as_str(), running.last_stage),
        ("A", "Job", "HANDLER_ENTER")
    );
    bench.release();
    assert_eq!(bench.wakes(), 2);
    assert_eq!(bench.drain(), Drained::Idle);
    assert_eq!(bench.ran(), ["A", "B"]);
}

#[test]
fn a_completion_that_comes_before_the_start_returns_is_not_lost() {
    let bench = open_hub();
    bench.post(Job::EndEarly("A"));
    bench.post(Job::Note("B"));
    assert_eq!(bench.drain(), Drained::Idle, "one drain runs both");
    assert_eq!(bench.ran(), ["A", "B"]);
    assert_eq!(bench.wakes(), 1);
    assert_eq!(bench.tokens("A").last().unwrap(), "HANDLER_EXIT");
}

#[test]
fn a_completion_ends_its_own_turn_and_no_other() {
    let bench = open_hub();
    bench.post(Job::Hold("A"));
    assert_eq!(bench.drain(), Drained::Pending);
    let late = bench.core.handler().held.lock().unwrap().remove(0);
    thread::scope(|threads| {
        threads.spawn(|| assert!(late.done(Outcome::Failed("no stock".into()))));
    });
    let trail = bench.trail("A");
    let fault = trail.stages.last().unwrap();
    assert_eq!(fault.token, "HANDLER_FAULT");
    assert_eq!(fault.detail("error").unwrap().elements().next().unwrap(), "no stock");
}

#[test]
fn turns_that_nobody_ends_end_by_themselves() {
    let bench = open_hub();
    bench.post(Job::LetGo);
    bench.post(Job::Forgetful);
    bench.post(Job::Note("after"));
    assert_eq!(bench.drain(), Drained::Idle);
    assert_eq!(bench.tokens("LetGo").last().unwrap(), "HANDLER_CANCELLED");
    assert_eq!(bench.tokens("Forgetful").last().unwrap(), "HANDLER_FAULT");
    assert_eq!(bench.ran(), ["LetGo", "Forgetful", "after"]);
}

#[test]
fn a_panicking_handler_ends_its_turn_as_failed_and_the_hub_goes_on() {
    let bench = open_hub();
    bench.post(Job::Panic);
    bench.post(Job::PanicUnread);
    bench.post(Job::Garbled);
    bench.post(Job::Note("after"));
    assert_eq!(bench.drain(), Drained::Idle, "the drain is free again");
    assert_eq!(bench.ran(), ["Panic", "after"]);
    let trail = bench.trail("Panic");
    let fault = trail.stages.last().unwrap();
    assert_eq!(fault.token, "HANDLER_FAULT");
    let error = fault.detail("error").unwrap().elements().next().unwrap();
    assert_eq!(error, "handler panicked: the handler gave up");
    assert_eq!(bench.tokens("PanicUnread").last().unwrap(), "HANDLER_FAULT");
    assert_eq!(bench.tokens("Garbled").last().unwrap(), "UNPACK_FAILED");
    assert_eq!(bench.core.snapshot().turns, 4);
}

#[test]
fn a_panicking_admission_rule_fails_the_turn_and_frees_the_gate() {
    let gate = Gate::closed("ready").admitting(|_, job| match job {
        Job::Panic => panic!("the rule gave up"),
        _ => false,
    });
    let bench = Bench::<Sound>::with(vec![gate]);
    bench.post(Job::Panic);
    bench.post(Job::Note("A"));
    assert_eq!(bench.drain(), Drained::Idle);
    assert_eq!(bench.tokens("Panic").last().unwrap(), "HANDLER_FAULT");
    assert!(bench.core.open_gate("ready"), "the gate lock is free");
    assert_eq!(bench.drain(), Drained::Idle);
    assert_eq!(bench.ran(), ["A"]);
}

#[test]
fn the_parked_backlog_is_bounded_and_what_exceeds_it_is_seen_to_drop() {
    let bench = Bench::<Sound>::with(vec![Gate::closed("ready")]);
    let all = MAX_PARKED as u64 + 2;
    for number in 1..=all {
        bench.post(Job::Number(number));
    }
    assert_eq!(bench.drain(), Drained::Idle);
    let seen = bench.core.snapshot();
    assert_eq!((seen.deferred, seen.dropped), (MAX_PARKED, 2));
    assert_eq!(seen.gates[0].holding, MAX_PARKED);
    let trail = bench.trail(&all.to_string());
    assert_eq!(trail.fate(), fate_trail::Fate::Dropped);
    let last = trail.stages.last().unwrap();
    assert_eq!(last.token, "DROPPED_GATE_STUCK");
    assert_eq!(last.number("depth"), Some(MAX_PARKED as u64));

    assert!(bench.core.open_gate("ready"));
    assert_eq!(bench.drain(), Drained::Idle);
    let expected: Vec<String> = (1..=MAX_PARKED).map(|number| number.to_string()).collect();
    assert_eq!(bench.ran(), expected);
}

#[test]
fn disposing_answers_what_is_queued_parked_and_between() {
    let bench = Bench::<Sound>::gated();
    bench.post(Job::Note("parked"));
    assert_eq!(bench.drain(), Drained::Idle);
    bench.post(Job::Note("between"));
    bench.post(Job::Note("queued"));
    thread::scope(|threads| {
        let turn = bench.parking.arm(Point::Popped);
        let drain = threads.spawn(|| bench.drain());
        turn.wait();
        assert!(bench.core.dispose());
        assert!(!bench.core.dispose(), "once");
        assert!(!bench.core.is_finished(), "a turn is under way");
        drop(turn);
        assert_eq!(drain.join().unwrap(), Drained::Idle);
    });
    assert!(bench.core.is_finished());
    for id in ["parked", "between", "queued"] {
        assert_eq!(bench.tokens(id).last().unwrap(), "NOT_PROCESSED_DISPOSING");
    }
    assert!(bench.ran().is_empty());

    let refused = bench.core.post(Job::Note("late")).expect_err("too late");
    assert_eq!(refused.message, Job::Note("late"));
    assert_eq!(refused.level, RunLevel::Dead);
    // A late opening finds nothing to restore, and wakes no dead hub to life.
    assert!(bench.core.open_gate("ready"));
    assert_eq!(bench.drain(), Drained::NotWanted);
    assert_eq!(bench.core.snapshot().run_level, RunLevel::Dead);
}

#[test]
fn a_turn_on_its_way_past_open_gates_does_not_enter_a_dead_hub() {
    let bench = open_hub();
    bench.post(Job::Note("A"));
    thread::scope(|threads| {
        let turn = bench.parking.arm(Point::Barrier);
        threads.spawn(|| bench.drain());
        turn.wait();
        assert!(bench.core.dispose());
    });
    assert!(bench.ran().is_empty());
    assert_eq!(bench.tokens("A").last().unwrap(), "NOT_PROCESSED_DISPOSING");
}

#[test]
fn disposing_lets_the_running_handler_end() {
    let bench = open_hub();
    bench.post(Job::Hold("A"));
    assert_eq!(bench.drain(), Drained::Pending);
    assert!(bench.core.dispose());
    assert!(!bench.core.is_finished());
    bench.release();
    assert!(bench.core.is_finished());
    assert_eq!(bench.tokens("A").last().unwrap(), "HANDLER_EXIT");
}

#[test]
fn a_snapshot_needs_nothing_that_a_held_opener_has() {
    let bench = Bench::<Sound>::gated();
    bench.post(Job::Note("A"));
    assert_eq!(bench.drain(), Drained::Idle);
    thread::scope(|threads| {
        let opener = bench.parking.arm(Point::RestoreEnd);
        threads.spawn(|| bench.core.open_gate("ready"));
        opener.wait();
        // The gate lock is taken; observers and posters go on.
        let seen = Observe::snapshot(&*bench.core);
        assert_eq!((seen.main, seen.deferred), (1, 0));
        assert!(seen.gates[0].closed, "restored first, removed after");
        bench.post(Job::Note("B"));
        assert_eq!(bench.core.snapshot().main, 2);
    });
    assert_eq!(bench.drain(), Drained::Idle);
    assert_eq!(bench.core.snapshot().run_level, RunLevel::Started);
}

/// Wherever a thread is held, it holds no turn lock: posts and snapshots go through.
#[test]
fn no_point_is_under_the_turn_lock() {
    let of_a_turn = [
        Point::Popped,
        Point::Unpacked,
        Point::GateFastRead,
        Point::GateLockWait,
        Point::Barrier,
        Point::HandlerEnter,
    ];
    let of_an_opening = [Point::RestoreBegin, Point::RestoreEnd, Point::GateRemoved];
    for point in of_a_turn.into_iter().chain(of_an_opening) {
        let bench = Bench::<Sound>::gated();
        bench.post(Job::Hold("admitted"));
        thread::scope(|threads| {
            let held = bench.parking.arm(point);
            if of_an_opening.contains(&point) {
                threads.spawn(|| bench.core.open_gate("ready"));
            } else {
                threads.spawn(|| bench.drain());
            }
            held.wait();
            bench.post(Job::Note("meanwhile"));
            assert_eq!(bench.core.snapshot().posted, 2, "{point:?}");
        });
    }
}

#[test]
fn trails_tell_the_way_and_number_every_step_without_gaps() {
    let bench = Bench::<Sound>::gated();
    bench.post(Job::Note("A"));
    assert_eq!(bench.drain(), Drained::Idle);
    bench.post(Job::Note("B"));
    thread::scope(|threads| {
        let turn = bench.parking.arm(Point::Popped);
        threads.spawn(|| bench.drain());
        turn.wait();
        assert!(bench.core.open_gate("ready"));
    });
    assert_eq!(
        bench.tokens("A"),
        [
            "ENQUEUED",
            "MAIN_DEPTH",
            "TURN_START",
            "DEFERRED",
            "DEFERRED_DEPTH",
            "TURN_START",
            "DEFERRED_DRAINED",
            "HANDLER_ENTER",
            "HANDLER_EXIT",
        ]
    );
    assert_eq!(
        bench.tokens("B"),
        [
            "ENQUEUED",
            "MAIN_DEPTH",
            "TURN_START",
            "REQUEUED_IN_ARRIVAL_ORDER",
            "TURN_START",
            "HANDLER_ENTER",
            "HANDLER_EXIT",
        ]
    );
    let hub = bench.hub_trail();
    assert_eq!(tokens(&hub), ["GATE_DRAIN"]);
    assert_eq!(hub.stages[0].number("deferred"), Some(1));
    assert_eq!(hub.stages[0].number("behind"), Some(0));

    let mut events: Vec<u64> = [bench.trail("A"), bench.trail("B"), hub]
        .iter()
        .flat_map(|trail| &trail.stages)
        .filter_map(|stage| stage.number("n"))
        .collect();
    events.sort_unstable();
    let gap_free: Vec<u64> = (1..=events.len() as u64).collect();
    assert_eq!(events, gap_free);
    assert_eq!(events.len(), 11);
}

#[test]
fn a_bypass_says_why_and_an_admission_says_by_whom() {
    let bench = Bench::<Sound>::gated();
    bench.post_as(Kind::Heartbeat, Job::Note("beat"));
    bench.post(Job::Hold("admitted"));
    assert_eq!(bench.drain(), Drained::Pending);
    bench.release();
    let beat = bench.trail("beat");
    let bypass = beat.stages.iter().find(|stage| stage.token == "GATE_BYPASS");
    let reason = bypass.and_then(|stage| stage.detail("reason")).unwrap();
    assert_eq!(reason.to_string(), "heartbeat");
    let admitted = bench.trail("admitted");
    let gate = admitted.stages.iter().find(|stage| stage.token == "GATE_ADMITTED");
    let gate = gate.and_then(|stage| stage.detail("gate")).unwrap();
    assert_eq!(gate.to_string(), "ready");
}

#[test]
fn a_core_that_is_let_go_ends_what_it_holds() {
    let bench = Bench::<Sound>::gated();
    bench.post(Job::Note("parked"));
    let _ = bench.drain();
    bench.post(Job::Note("waiting"));
    let recorder = bench.recorder.clone();
    assert_eq!((bench.core.snapshot().deferred, bench.core.snapshot().main), (1, 1));
    drop(bench);
    let ended: Vec<_> = recorder.finished().iter().map(|trail| (trail.id.clone(), tokens(trail))).collect();
    assert_eq!(ended.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["parked", "waiting"]);
    for (id, tokens) in ended {
        assert_eq!(tokens.last().map(String::as_str), Some("NOT_PROCESSED_DISPOSING"), "{id}");
    }
    assert_eq!(recorder.status().in_flight, 0);
}

#[test]
fn a_gate_is_never_opened_only_until_its_own_first_opening() {
    let gates = vec![Gate::closed("a"), Gate::closed("b"), Gate::open("c")];
    let bench = Bench::<Sound>::with(gates);
    let never = |bench: &Bench<Sound>| -> Vec<bool> {
        bench.core.snapshot().gates.iter().map(|gate| gate.never_opened).collect()
    };
    assert_eq!(never(&bench), [true, true, false]);
    // `b` keeps the hub starting; that must not make the others look as if they had never opened.
    bench.core.open_gate("a");
    bench.core.close_gate("a");
    bench.core.close_gate("c");
    assert_eq!(never(&bench), [false, true, false]);
}
