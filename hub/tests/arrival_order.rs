//! Handlers run in arrival order, whatever an opening gate does meanwhile. Every interleaving here
//! is forced: threads are held at named points and let go; nothing waits for time to pass.

mod support;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use fate_hub::core::fault::{Fault, NoBarrier, RemoveBeforeRestore, RestoreAppends, Sound};
use fate_hub::core::probe::Point;
use fate_hub::core::{Drained, Gate, Kind};
use support::{Bench, Job};

/// A is parked; a turn that the gate admits holds the loop while B and C arrive and the gate opens.
fn backlog_and_later_arrivals<F: Fault>() -> Vec<String> {
    let bench = Bench::<F>::gated();
    bench.post(Job::Note("A"));
    assert_eq!(bench.drain(), Drained::Idle);
    assert_eq!(bench.core.snapshot().deferred, 1, "A is parked");

    bench.post(Job::Hold("blocker"));
    assert_eq!(bench.drain(), Drained::Pending, "the blocker holds the loop");
    bench.post(Job::Note("B"));
    bench.post(Job::Note("C"));
    assert!(bench.core.open_gate("ready"));
    assert_eq!(bench.ran(), ["blocker"], "nothing ran beside the blocker");

    bench.release();
    assert_eq!(bench.drain(), Drained::Idle);
    bench.ran().split_off(1)
}

#[test]
fn deferred_turns_resume_ahead_of_later_arrivals() {
    assert_eq!(backlog_and_later_arrivals::<Sound>(), ["A", "B", "C"]);
    // Taking the barrier or the order of the opening away does not bring this defect back.
    assert_eq!(backlog_and_later_arrivals::<NoBarrier>(), ["A", "B", "C"]);
    assert_eq!(backlog_and_later_arrivals::<RemoveBeforeRestore>(), ["A", "B", "C"]);
}

#[test]
fn a_restore_that_appends_runs_the_oldest_last() {
    assert_eq!(backlog_and_later_arrivals::<RestoreAppends>(), ["B", "C", "A"]);
}

/// The restore at the wrong end with everything else in force.
struct AppendsUnderBarrier;

impl Fault for AppendsUnderBarrier {
    const RESTORE_APPENDS: bool = true;
}

#[test]
fn the_barrier_alone_does_not_repair_a_restore_that_appends() {
    assert_eq!(backlog_and_later_arrivals::<AppendsUnderBarrier>(), ["B", "A", "C"]);
}

/// Where the opening stands while the running turn decides.
#[derive(Clone, Copy, Debug)]
enum Window {
    /// The turn has left the queue; the opener is held right after the gate is gone. In a sound hub
    /// the backlog is back by then; where the gate goes first it is still parked.
    GateGone,
    /// The turn has seen a closed gate; the opener holds the gate lock, the turn waits for it.
    LockWait,
    /// The whole opening fits between the turn's leaving the queue and its look at the gates.
    OpenedMeanwhile,
}

/// A is parked and B's turn is in neither queue while the gate opens on another thread.
fn running_turn_and_opening_gate<F: Fault>(window: Window) -> Bench<F> {
    let bench = Bench::<F>::gated();
    bench.post(Job::Note("A"));
    assert_eq!(bench.drain(), Drained::Idle);
    bench.post(Job::Note("B"));

    thread::scope(|threads| {
        let turn_at = match window {
            Window::LockWait => Point::GateFastRead,
            Window::GateGone | Window::OpenedMeanwhile => Point::Popped,
        };
        let turn = bench.parking.arm(turn_at);
        let turns = threads.spawn(|| bench.drain());
        turn.wait();
        let seen = bench.core.snapshot();
        assert_eq!((seen.main, seen.deferred, seen.between), (0, 1, 1));

        match window {
            Window::GateGone => {
                let opener = bench.parking.arm(Point::GateRemoved);
                threads.spawn(|| assert!(bench.core.open_gate("ready")));
                opener.wait();
                drop(turn);
                // The turn needs no lock that the held opener has: it comes to its end.
                assert_eq!(turns.join().expect("the drain ends"), Drained::Idle);
            }
            Window::LockWait => {
                let opener = bench.parking.arm(Point::RestoreBegin);
                let waiting = bench.parking.arm(Point::GateLockWait);
                threads.spawn(|| assert!(bench.core.open_gate("ready")));
                // Where the gate goes before the restore, it is gone by now; the turn saw it closed.
                opener.wait();
                drop(turn);
                waiting.wait();
            }
            Window::OpenedMeanwhile => assert!(bench.core.open_gate("ready")),
        }
    });
    // What the opener restored after the turn had ended, if anything.
    let _ = bench.drain();
    bench
}

#[track_caller]
fn straddling<F: Fault>(window: Window, expected: [&str; 2]) -> Bench<F> {
    let bench = running_turn_and_opening_gate::<F>(window);
    assert_eq!(bench.ran(), expected, "{window:?}");
    bench
}

#[test]
fn opening_a_gate_must_not_let_a_running_turn_overtake_the_backlog() {
    for window in [Window::GateGone, Window::LockWait, Window::OpenedMeanwhile] {
        let bench = straddling::<Sound>(window, ["A", "B"]);
        assert_eq!(bench.core.snapshot().requeues, 1, "{window:?}");
        // B was read again, from the message as it was received.
        let read = bench.core.handler().read.lock().unwrap().clone();
        assert_eq!(read, ["A", "B", "A", "B"], "{window:?}");
    }
}

#[test]
fn without_the_barrier_a_running_turn_overtakes_in_every_window() {
    straddling::<NoBarrier>(Window::GateGone, ["B", "A"]);
    straddling::<NoBarrier>(Window::LockWait, ["B", "A"]);
    straddling::<NoBarrier>(Window::OpenedMeanwhile, ["B", "A"]);
}

#[test]
fn removing_the_gate_before_the_restore_blinds_the_barrier() {
    straddling::<RemoveBeforeRestore>(Window::GateGone, ["B", "A"]);
    // The barrier still catches what waits for the lock or comes after the opening.
    straddling::<RemoveBeforeRestore>(Window::LockWait, ["A", "B"]);
    straddling::<RemoveBeforeRestore>(Window::OpenedMeanwhile, ["A", "B"]);
}

#[test]
fn a_requeued_turn_goes_back_in_place_among_younger_ones() {
    let bench = Bench::<Sound>::gated();
    for name in ["A", "B"] {
        bench.post(Job::Note(name));
    }
    assert_eq!(bench.drain(), Drained::Idle);
    for name in ["C", "D", "E"] {
        bench.post(Job::Note(name));
    }
    thread::scope(|threads| {
        let turn = bench.parking.arm(Point::Popped);
        threads.spawn(|| bench.drain());
        turn.wait();
        assert!(bench.core.open_gate("ready"));
    });
    assert_eq!(bench.ran(), ["A", "B", "C", "D", "E"]);
    let requeued = bench.trail("C");
    let stage = requeued
        .stages
        .iter()
        .find(|stage| stage.token == "REQUEUED_IN_ARRIVAL_ORDER")
        .expect("the barrier fired");
    assert_eq!(stage.number("behind"), Some(2));
}

#[test]
fn exempt_kinds_pass_closed_gates_and_skip_the_barrier() {
    for kind in Kind::ALL.into_iter().filter(|kind| kind.is_exempt()) {
        let bench = Bench::<Sound>::with(vec![Gate::closed("ready")]);
        bench.post(Job::Note("A"));
        bench.post_as(kind, Job::Note("passes"));
        assert_eq!(bench.drain(), Drained::Idle);
        assert_eq!(bench.ran(), ["passes"], "{kind:?}");

        // In neither queue while A is restored: an older head is there, and it goes on all the same.
        bench.post_as(kind, Job::Note("skips"));
        thread::scope(|threads| {
            let turn = bench.parking.arm(Point::Popped);
            threads.spawn(|| bench.drain());
            turn.wait();
            assert!(bench.core.open_gate("ready"));
        });
        assert_eq!(bench.ran(), ["passes", "skips", "A"], "{kind:?}");
        assert_eq!(bench.core.snapshot().requeues, 0, "{kind:?}");
    }
}

#[test]
fn an_admitted_turn_passes_the_gate_but_not_the_barrier() {
    let bench = Bench::<Sound>::gated();
    bench.post(Job::Note("A"));
    assert_eq!(bench.drain(), Drained::Idle);
    bench.post(Job::Hold("admitted"));
    thread::scope(|threads| {
        let turn = bench.parking.arm(Point::Popped);
        threads.spawn(|| bench.drain());
        turn.wait();
        assert!(bench.core.open_gate("ready"));
    });
    assert_eq!(bench.ran(), ["A", "admitted"]);
    bench.release();
}

#[test]
fn what_an_opening_released_is_not_gated_again() {
    let bench = Bench::<Sound>::gated();
    bench.post(Job::Note("A"));
    assert_eq!(bench.drain(), Drained::Idle);
    assert!(bench.core.open_gate("ready"));
    assert!(!bench.core.open_gate("ready"), "it is open");
    assert!(bench.core.close_gate("ready"));
    assert!(!bench.core.close_gate("ready"), "it is closed");
    bench.post(Job::Note("B"));
    assert_eq!(bench.drain(), Drained::Idle);
    assert_eq!(bench.ran(), ["A"], "A was released, B waits");
    assert!(bench.core.open_gate("ready"));
    assert_eq!(bench.drain(), Drained::Idle);
    assert_eq!(bench.ran(), ["A", "B"]);
}

/// Without a look at the queue before parking, B would be parked while the older A waits in main.
#[test]
fn a_gate_closed_again_does_not_park_a_turn_ahead_of_released_ones() {
    let bench = Bench::<Sound>::gated();
    bench.post(Job::Note("A"));
    assert_eq!(bench.drain(), Drained::Idle);
    bench.post(Job::Note("B"));
    thread::scope(|threads| {
        let turn = bench.parking.arm(Point::Popped);
        threads.spawn(|| bench.drain());
        turn.wait();
        assert!(bench.core.open_gate("ready"));
        assert!(bench.core.close_gate("ready"));
    });
    assert_eq!(bench.ran(), ["A"]);
    assert_eq!(bench.core.snapshot().deferred, 1, "B is parked behind A");
    assert!(bench.core.open_gate("ready"));
    assert_eq!(bench.drain(), Drained::Idle);
    assert_eq!(bench.ran(), ["A", "B"]);
}

#[test]
fn only_the_last_gate_restores() {
    let bench = Bench::<Sound>::with(vec![Gate::closed("schema"), Gate::closed("data")]);
    bench.post(Job::Note("A"));
    assert_eq!(bench.drain(), Drained::Idle);
    assert!(bench.core.open_gate("data"));
    assert!(!bench.core.open_gate("no such gate"));
    assert_eq!(bench.core.snapshot().deferred, 1);
    assert!(bench.core.open_gate("schema"));
    assert_eq!(bench.drain(), Drained::Idle);
    assert_eq!(bench.ran(), ["A"]);
    let deferred = &bench.trail("A").stages[3];
    assert_eq!(deferred.token, "DEFERRED");
    let gates = deferred.detail("gates").expect("the gates it waited for");
    assert_eq!(gates.to_string(), "data,schema");
}

#[test]
fn a_post_from_a_turn_lands_behind_it_and_everything_queued() {
    let bench = Bench::<Sound>::with(Vec::new());
    bench.post(Job::Hold("first"));
    bench.post(Job::Note("second"));
    assert_eq!(bench.drain(), Drained::Pending);
    bench.post(Job::Note("posted by first"));
    bench.release();
    assert_eq!(bench.drain(), Drained::Idle);
    assert_eq!(bench.ran(), ["first", "second", "posted by first"]);
}

/// Openers, closers, posters and one drainer without any hold: the order must not depend on luck.
#[test]
fn ordinary_turns_start_in_arrival_order_under_real_threads() {
    const POSTERS: u64 = 2;
    const EACH: u64 = 2_000;
    let bench = Bench::<Sound>::with(vec![Gate::closed("ready")]);
    let busy = &AtomicU64::new(POSTERS);
    thread::scope(|threads| {
        let drainer = thread::current();
        for poster in 0..POSTERS {
            let (bench, drainer) = (&bench, drainer.clone());
            threads.spawn(move || {
                for number in 0..EACH {
                    bench.post(Job::Number(poster * EACH + number));
                    // Often enough that the backlog never comes near its bound.
                    match number % 16 {
                        0 => bench.core.open_gate("ready"),
                        8 => bench.core.close_gate("ready"),
                        _ => false,
                    };
                }
                busy.fetch_sub(1, Ordering::SeqCst);
                drainer.unpark();
            });
        }
        bench.drain_until(|| busy.load(Ordering::SeqCst) == 0);
    });
    bench.core.open_gate("ready");
    let _ = bench.drain();

    let seen = bench.core.snapshot();
    let ran = bench.core.handler().sequences.lock().unwrap().clone();
    assert!(ran.is_sorted(), "handlers start in arrival order");
    assert_eq!(ran.len() as u64 + seen.dropped, POSTERS * EACH);
    assert_eq!((seen.main, seen.deferred, seen.between), (0, 0, 0));
}
