//! What a recorder keeps beside the trails themselves: who is recorded at all, who may listen, what is
//! kept for later; and that every count adds up.

use std::sync::Arc;
use std::time::Duration;

use fate_trail::stage::{
    ENQUEUED, HANDLER_EXIT, HANDLER_FAULT, POSTED, REQUEUED_IN_ARRIVAL_ORDER, StageId, TURN_START,
};
use fate_trail::{
    DeliveryId, Fate, Handle, Inline, ManualClock, Policy, Recorder, RecorderConfig, Start, Storage,
};

/// A recorder without a reader thread: the test reads when it wants to.
fn recorder(change: impl FnOnce(&mut RecorderConfig)) -> Recorder {
    let mut config = RecorderConfig { read_interval: None, ..RecorderConfig::default() };
    change(&mut config);
    Recorder::new(config)
}

fn deliver<S: Storage>(recorder: &Recorder, id: u64, stages: &[StageId]) {
    let hub = recorder.hub("h");
    let mut trail = S::begin(recorder, id);
    for stage in stages {
        trail.stamp(recorder, hub, *stage, 0);
    }
    trail.finish(recorder);
}

const WELL: [StageId; 3] = [ENQUEUED, TURN_START, HANDLER_EXIT];

#[test]
fn a_policy_says_who_gets_a_trail() {
    let wanted = |policy: Policy, start: Start| {
        let recorder = recorder(|config| config.policy = policy);
        let handle = Handle::start(&recorder, start);
        let inline = Inline::start(&recorder, start);
        assert_eq!(handle.is_live(), inline.is_live());
        let live = handle.is_live();
        handle.finish(&recorder);
        inline.finish(&recorder);
        let status = recorder.status();
        assert_eq!((status.finished.recorded, status.in_flight), (2 * u64::from(live), 0));
        live
    };
    let (seven, eight) = (Start::new(7), Start::new(8));
    assert!(wanted(Policy::All, seven));
    assert!(!wanted(Policy::Awaited, seven));
    assert!(wanted(Policy::Awaited, seven.awaited(true)));
    let only_seven = Policy::Matching(Arc::new(|id: &DeliveryId| *id == DeliveryId::number(7)));
    assert!(wanted(only_seven.clone(), seven) && !wanted(only_seven, eight.awaited(true)));
    let broken = Policy::Matching(Arc::new(|_: &DeliveryId| panic!("a rule that fails")));
    assert!(!wanted(broken, seven), "a recorder never fails outward");
}

#[test]
fn a_start_can_bring_its_own_time() {
    let clock = Arc::new(ManualClock::new(0));
    let recorder = recorder(|config| config.clock = clock.clone());
    let posted = recorder.now();
    clock.advance(500);
    let mut trail = Handle::start(&recorder, Start::new(1).at(posted));
    trail.stamp_at(&recorder, recorder.hub("h"), POSTED, 0, Some(posted));
    trail.stamp_timed(&recorder, recorder.hub("h"), ENQUEUED, 0);
    let view = trail.view(&recorder).expect("live");
    assert_eq!((view.at, view.stages[1].offset), (Some(0), Some(500)));
    trail.finish(&recorder);
}

#[test]
fn a_slow_subscriber_loses_only_its_own() {
    let recorder = recorder(|_| {});
    deliver::<Handle>(&recorder, 0, &WELL);
    let quick = recorder.subscribe(1000).expect("room");
    let slow = recorder.subscribe(4).expect("room");
    for id in 1..=10 {
        deliver::<Handle>(&recorder, id, &WELL);
        recorder.pump();
        let subjects: Vec<u64> = quick.take().iter().map(|record| record.subject).collect();
        assert_eq!(subjects, [id; 3]);
    }
    let status = quick.status();
    assert_eq!((status.offered, status.delivered, status.dropped, status.lost), (30, 30, 0, 0));
    assert_eq!(slow.status().dropped, 26);
    let newest: Vec<u64> = slow.take().iter().map(|record| record.subject).collect();
    assert_eq!(newest, [9, 10, 10, 10]);
    for subscriber in [&quick, &slow] {
        let status = subscriber.status();
        assert_eq!(status.offered, status.delivered + status.dropped + status.waiting);
    }
    let rings = recorder.status().rings;
    assert_eq!(rings.recorded, rings.drained + rings.lost + rings.waiting);
    assert_eq!(rings.recorded, 33);
}

#[test]
fn a_subscriber_knows_what_the_rings_lost() {
    let recorder = recorder(|config| config.ring_slots = 8);
    let subscriber = recorder.subscribe(1000).expect("room");
    (0..10).for_each(|id| deliver::<Handle>(&recorder, id, &WELL));
    recorder.pump();
    let status = subscriber.status();
    assert_eq!((status.waiting, status.lost), (7, 23), "30 stages through a ring of 8");
}

#[test]
fn subscribers_are_bounded_and_end_with_their_recorder() {
    let recorder = recorder(|_| {});
    let mut held: Vec<_> =
        (0..fate_trail::limits::SUBSCRIBERS).map(|_| recorder.subscribe(1).expect("room")).collect();
    assert!(recorder.subscribe(1).is_none());
    held.pop();
    let last = recorder.subscribe(1).expect("one has gone");
    deliver::<Handle>(&recorder, 1, &WELL);
    recorder.pump();
    drop(recorder);
    assert!(last.is_closed());
    assert_eq!(last.wait(Duration::from_secs(60)).len(), 1, "what waits can still be taken");
    assert!(last.wait(Duration::from_secs(60)).is_empty(), "and a closed one does not wait");
}

#[test]
fn the_reader_thread_hands_over_what_is_stamped() {
    let recorder = Recorder::new(RecorderConfig {
        read_interval: Some(Duration::from_millis(1)),
        ..RecorderConfig::default()
    });
    for round in 0..3 {
        // Each time the last subscriber goes, the thread ends; each time one comes, it starts.
        let subscriber = recorder.subscribe(100).expect("room");
        deliver::<Handle>(&recorder, round, &WELL);
        let mut seen = Vec::new();
        while seen.len() < 3 {
            seen.extend(subscriber.wait(Duration::from_secs(60)));
        }
        assert!(seen.iter().all(|record| record.subject == round));
    }
}

#[test]
fn the_black_box_keeps_what_went_wrong_among_many_that_went_well() {
    let clock = Arc::new(ManualClock::new(0));
    let recorder = recorder(|config| {
        config.clock = clock.clone();
        config.finished = 4;
        config.slow = 1000;
    });
    deliver::<Handle>(&recorder, 1, &[ENQUEUED, HANDLER_FAULT]);
    deliver::<Inline>(&recorder, 2, &[ENQUEUED, REQUEUED_IN_ARRIVAL_ORDER, HANDLER_EXIT]);
    let mut slow = Handle::begin(&recorder, 3);
    slow.stamp_timed(&recorder, recorder.hub("h"), ENQUEUED, 0);
    clock.advance(1000);
    slow.stamp_timed(&recorder, recorder.hub("h"), HANDLER_EXIT, 0);
    slow.finish(&recorder);
    (10..100).for_each(|id| deliver::<Handle>(&recorder, id, &WELL));
    let boxed = recorder.black_box();
    let ids: Vec<&str> = boxed.iter().map(|trail| trail.id.as_str()).collect();
    assert_eq!(ids, ["1", "2", "3"]);
    assert_eq!(boxed[0].fate(), Fate::Failed);
    let status = recorder.status().black_box;
    assert_eq!(status.interesting, status.held as u64 + status.displaced + status.missed);
    assert_eq!((status.interesting, status.held), (3, 3));
}

/// `recorded = overwritten + taken + held`, and every finished delivery is among the recorded, with
/// four threads at work and a reader in between.
#[test]
fn no_finished_trail_is_lost_or_seen_twice() {
    const EACH: u64 = 5_000;
    let recorder = recorder(|config| config.finished = 64);
    let mut seen = std::collections::HashSet::new();
    std::thread::scope(|scope| {
        let work = |thread: u64| {
            let recorder = recorder.clone();
            move || (0..EACH).for_each(|i| deliver::<Handle>(&recorder, thread << 32 | i, &WELL))
        };
        let threads: Vec<_> = (0..4).map(|thread| scope.spawn(work(thread))).collect();
        while !threads.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            for trail in recorder.take_finished() {
                assert_eq!(trail.stages.len(), 3, "{trail}");
                assert!(seen.insert(trail.id), "taken twice");
            }
            for trail in recorder.finished() {
                assert_eq!((trail.stages.len(), trail.fate()), (3, Fate::Handled), "{trail}");
            }
        }
    });
    let status = recorder.status();
    assert_eq!(status.finished.recorded, 4 * EACH);
    assert_eq!(status.finished.taken, seen.len() as u64);
    let kept = status.finished.taken + status.finished.held as u64;
    assert_eq!(status.finished.recorded, kept + status.finished.overwritten);
    assert_eq!((status.in_flight, status.untracked, status.stale), (0, 0, 0));
}

#[test]
fn a_reader_with_a_position_sees_each_trail_once_and_knows_what_it_missed() {
    let recorder = recorder(|config| config.finished = 3);
    let read = |position| {
        let found = recorder.finished_after(position);
        let ids: Vec<String> = found.trails.into_iter().map(|trail| trail.id).collect();
        (ids.join(","), found.next, found.lost)
    };
    let finish = |ids: std::ops::Range<u64>| ids.for_each(|id| deliver::<Handle>(&recorder, id, &WELL));
    finish(0..2);
    assert_eq!(read(0), ("0,1".into(), 2, 0));
    assert_eq!(read(2), (String::new(), 2, 0));
    finish(2..7);
    assert_eq!(read(2), ("4,5,6".into(), 7, 2));
    recorder.take_finished();
    finish(7..8);
    assert_eq!(read(6), ("7".into(), 8, 1), "what another reader took is gone");
    assert_eq!(read(99), (String::new(), 8, 0), "a position of another recorder starts anew");
}

#[test]
fn stages_in_the_rings_are_those_of_the_trails() {
    let recorder = recorder(|_| {});
    (0..100).for_each(|id| deliver::<Handle>(&recorder, id, &WELL));
    let drained = recorder.drain_rings();
    let handled = drained.records.iter().filter(|record| record.entry.stage == HANDLER_EXIT.index());
    let trails = recorder.take_finished();
    assert_eq!(handled.count(), trails.iter().filter(|trail| trail.fate() == Fate::Handled).count());
    assert_eq!(drained.records.len(), trails.iter().map(|trail| trail.stages.len()).sum::<usize>());
}

#[test]
fn a_process_has_one_recorder_that_is_off_until_somebody_sets_it() {
    let mine = recorder(|_| {});
    // The only test of this process that touches it.
    assert!(mine.clone().set_global().is_ok());
    deliver::<Handle>(Recorder::global(), 1, &WELL);
    assert_eq!(mine.finished().len(), 1);
    assert!(recorder(|_| {}).set_global().is_err(), "it is set once");
}
