//! The recorder from outside: what is kept, what is counted, and that nothing is invented.

use std::sync::Arc;

use fate_trail::stage::{
    DEFERRED, ENQUEUED, GATE_DRAIN, HANDLER_ENTER, HANDLER_EXIT, HANDLER_FAULT, MAIN_DEPTH, POSTED,
    TURN_START, UNPACKED, pack,
};
use fate_trail::{
    Fate, Gap, Handle, Inline, Level, ManualClock, Off, Recorder, RecorderConfig, Storage, Trail, TscClock,
};

/// 2026-09-06T14:00:00Z.
const START: i64 = 1_788_703_200_000_000;

fn manual() -> (Arc<ManualClock>, Recorder) {
    let clock = Arc::new(ManualClock::new(START));
    let config = RecorderConfig { clock: clock.clone(), ..RecorderConfig::default() };
    (clock, Recorder::new(config))
}

/// One whole delivery: queued, deferred, run.
fn journey<S: Storage>(clock: &ManualClock, recorder: &Recorder) -> S {
    let hub = recorder.hub("orders/7");
    let gates = recorder.gate_set(&["schema", "data", "data"]);
    let mut trail = S::begin(recorder, "orders/7-42");
    trail.stamp_timed(recorder, hub, ENQUEUED, pack(ENQUEUED, &[3]));
    trail.stamp(recorder, hub, MAIN_DEPTH, pack(MAIN_DEPTH, &[1, 2_000_000]));
    clock.advance(1_234);
    trail.stamp_timed(recorder, hub, TURN_START, pack(TURN_START, &[4, 70_000]));
    trail.stamp(recorder, hub, DEFERRED, pack(DEFERRED, &[5, gates.into()]));
    clock.advance(7);
    let exit = recorder.symbol("processed, well");
    trail.stamp_timed(recorder, hub, HANDLER_EXIT, pack(HANDLER_EXIT, &[exit.into()]));
    trail
}

const JOURNEY: &str = "fate orders/7-42 at=2026-09-06T14:00:00.000000Z ENQUEUED@orders/7(+0.000) n=3 \
    | MAIN_DEPTH@orders/7(+?) depth=1 seq=2000000 | TURN_START@orders/7(+1.234) n=4 depth=65535+ \
    | DEFERRED@orders/7(+?) n=5 gates=data,schema | HANDLER_EXIT@orders/7(+1.241) \
    state=processed%2C%20well";

#[test]
fn a_handle_and_an_inline_trail_say_the_same() {
    let (clock, recorder) = manual();
    let handle = journey::<Handle>(&clock, &recorder);
    let view = handle.view(&recorder).expect("a live trail");
    assert_eq!(view.to_string(), JOURNEY);
    handle.finish(&recorder);

    let (clock, recorder) = manual();
    let inline = journey::<Inline>(&clock, &recorder);
    assert_eq!(inline.view(&recorder).expect("a live trail"), view);
    inline.finish(&recorder);
    assert_eq!(recorder.finished(), [view]);
}

#[test]
fn off_keeps_nothing() {
    let (clock, recorder) = manual();
    let trail = journey::<Off>(&clock, &recorder);
    assert!(!trail.is_live());
    assert_eq!(trail.view(&recorder), None);
    trail.finish(&recorder);
    assert_eq!(recorder.finished(), []);
}

#[test]
fn a_recorder_that_is_off_keeps_nothing_until_it_is_switched_on() {
    let recorder = Recorder::off();
    let clock = ManualClock::new(START);
    journey::<Handle>(&clock, &recorder).finish(&recorder);
    journey::<Inline>(&clock, &recorder).finish(&recorder);
    recorder.hub_stamp(recorder.hub("h"), GATE_DRAIN, &[1], None);
    let status = recorder.status();
    assert!(!status.on && recorder.finished().is_empty() && recorder.hub_trails().is_empty());
    assert_eq!((status.untracked, status.lost(), status.in_flight), (0, 0, 0));

    recorder.set_on(true);
    let begun = journey::<Handle>(&clock, &recorder);
    recorder.set_on(false);
    begun.finish(&recorder);
    assert_eq!(recorder.finished().len(), 1, "what has begun goes on to its end");
}

#[test]
fn a_trail_knows_its_fate_level_and_cause() {
    let (clock, recorder) = manual();
    let hub = recorder.hub("h");
    let stamp = |trail: &mut Handle, stages: &[_]| {
        for stage in stages {
            trail.stamp(&recorder, hub, *stage, pack(*stage, &[1]));
        }
    };
    let mut trail = Handle::begin(&recorder, 7);
    stamp(&mut trail, &[POSTED, ENQUEUED, MAIN_DEPTH, TURN_START]);
    let view = trail.view(&recorder).expect("live");
    assert_eq!((view.fate(), view.conforms()), (Fate::Open, Level::L3));
    assert!(view.likely_cause().expect("a cause").contains("between the queues"));
    stamp(&mut trail, &[HANDLER_ENTER, HANDLER_FAULT]);
    let view = trail.view(&recorder).expect("live");
    assert_eq!(view.fate(), Fate::Failed);
    assert!(view.has_n() && view.lossless());
    assert_eq!(view.last_stage().expect("a stage").token, "HANDLER_FAULT");
    trail.finish(&recorder);

    let level = |text: &str| text.parse::<Trail>().expect(text).conforms();
    assert_eq!(level("fate 1 TURN_START@h(+?) n=1"), Level::L0);
    assert_eq!(level("fate 1 POSTED@h(+?) | HANDLER_EXIT@h(+?)"), Level::L0);
    assert_eq!(level("fate 1 ENQUEUED@h(+?) | TURN_START@h(+?)"), Level::L1);
    assert_eq!(level("fate 1 ENQUEUED@h(+?) | MAIN_DEPTH@h(+?) depth=1"), Level::L2);
    assert_eq!(level("fate 1 ENQUEUED@h(+?) n=1"), Level::L3);
    assert_eq!(level("fate 1 ENQUEUED@h(+?) n=9+"), Level::L2);
    assert_eq!(level("fate hub GATE_DRAIN@h(+?) n=1 gate=a"), Level::L3);
    drop(clock);
}

#[test]
fn the_first_four_and_the_last_ten_stages_are_kept() {
    let (_, recorder) = manual();
    let hub = recorder.hub("h");
    let mut trail = Handle::begin(&recorder, 7);
    for us in 0..40 {
        trail.stamp(&recorder, hub, UNPACKED, pack(UNPACKED, &[0, us]));
    }
    let view = trail.view(&recorder).expect("live");
    let kept: Vec<u64> = view.stages.iter().filter_map(|stage| stage.number("us")).collect();
    assert_eq!(kept, [0, 1, 2, 3, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39]);
    assert!(view.to_string().contains("us=3 | gap=26 | UNPACKED@h(+?) type=? us=30"), "{view}");
    assert!(!view.lossless());
    trail.finish(&recorder);
}

#[test]
fn finished_trails_are_bounded_and_losses_counted() {
    let recorder = Recorder::new(RecorderConfig { finished: 3, ..RecorderConfig::default() });
    for id in 0..5 {
        Handle::begin(&recorder, id).finish(&recorder);
    }
    let ids = |trails: Vec<Trail>| trails.into_iter().map(|t| t.id).collect::<Vec<_>>();
    assert_eq!(ids(recorder.finished()), ["2", "3", "4"]);
    assert_eq!(ids(recorder.take_finished()), ["2", "3", "4"]);
    assert_eq!(ids(recorder.finished()), [""; 0]);
    let status = recorder.status().finished;
    assert_eq!((status.recorded, status.overwritten, status.taken, status.held), (5, 2, 3, 0));
}

#[test]
fn deliveries_beyond_the_limit_run_without_a_trail_and_are_counted() {
    let config = RecorderConfig { in_flight: 100, finished: 10, ..RecorderConfig::default() };
    let recorder = Recorder::new(config);
    // What the store and the stashes of threads do not use, deliveries may.
    let room = 100 + 10 + fate_trail::limits::THREADS * fate_trail::limits::STASH_SLOTS;
    let total = room as u64 + 6;
    let held: Vec<Handle> = (0..total).map(|id| Handle::begin(&recorder, id)).collect();
    let live = held.iter().filter(|handle| handle.is_live()).count();
    let status = recorder.status();
    assert_eq!((live, status.untracked, status.in_flight), (room, 6, room as u64));
    let hub = recorder.hub("h");
    for mut handle in held {
        handle.stamp_timed(&recorder, hub, POSTED, 0);
        handle.finish(&recorder);
    }
    let status = recorder.status();
    assert_eq!((status.in_flight, status.finished.recorded, status.stale), (0, room as u64, 0));
    assert!(Handle::begin(&recorder, 1).is_live(), "slots come back");
}

#[test]
fn a_handle_of_another_recorder_is_stale() {
    let one = Recorder::new(RecorderConfig::default());
    let other = Recorder::new(RecorderConfig::default());
    Handle::begin(&one, 1).finish(&one);
    let mut handle = Handle::begin(&one, 2);
    handle.stamp(&other, other.hub("h"), POSTED, 0);
    assert_eq!(handle.view(&other), None);
    assert_eq!((other.status().stale, one.status().stale), (1, 0));
    handle.finish(&one);
}

#[test]
fn a_hub_has_a_trail_of_its_own() {
    let (clock, recorder) = manual();
    let (a, b) = (recorder.hub("a"), recorder.hub("b"));
    let gate: u64 = recorder.symbol("data").into();
    recorder.hub_stamp(a, GATE_DRAIN, &[1, gate, 2, u64::MAX], Some(recorder.now()));
    recorder.hub_stamp(b, GATE_DRAIN, &[1, gate], None);
    clock.advance(500);
    recorder.hub_stamp(a, GATE_DRAIN, &[2, gate, 0, 0], Some(recorder.now()));
    let trails: Vec<String> = recorder.hub_trails().iter().map(ToString::to_string).collect();
    assert_eq!(
        trails,
        [
            "fate hub at=2026-09-06T14:00:00.000000Z GATE_DRAIN@a(+0.000) n=1 gate=data deferred=2 \
             behind=18446744073709551615+ | GATE_DRAIN@a(+0.500) n=2 gate=data deferred=0 behind=0",
            "fate hub GATE_DRAIN@b(+?) n=1 gate=data deferred=0 behind=0",
        ]
    );
}

#[test]
fn hub_stages_are_bounded_and_losses_counted() {
    let recorder = Recorder::new(RecorderConfig { hub_entries: 2, ..RecorderConfig::default() });
    let (hub, other) = (recorder.hub("h"), recorder.hub("other"));
    recorder.hub_stamp(other, GATE_DRAIN, &[1], None);
    for n in 0..5 {
        recorder.hub_stamp(hub, GATE_DRAIN, &[n], None);
    }
    let trails = recorder.hub_trails();
    assert_eq!(trails.len(), 1, "nothing is left of the other hub");
    assert_eq!(trails[0].gap, Some(Gap { after: 0, count: 3 }));
    let kept: Vec<_> = trails[0].stages.iter().filter_map(|s| s.number("n")).collect();
    assert_eq!((kept, recorder.status().hub_events.overwritten), (vec![3, 4], 4));
}

#[test]
fn wall_time_follows_the_anchor_and_not_later_jumps() {
    let (clock, recorder) = manual();
    clock.advance(2_000_000);
    clock.set_wall(0);
    let trail = Handle::begin(&recorder, 1);
    assert_eq!(trail.view(&recorder).expect("live").at, Some(START + 2_000_000));
    trail.finish(&recorder);
}

#[test]
fn every_thread_s_stages_are_drained_or_counted() {
    let recorder = Recorder::new(RecorderConfig { ring_slots: 64, ..RecorderConfig::default() });
    let hub = recorder.hub("h");
    let work = &|thread: u64| {
        for i in 0..500 {
            let mut trail = Handle::begin(&recorder, thread << 32 | i);
            trail.stamp(&recorder, hub, POSTED, i);
            trail.stamp(&recorder, hub, ENQUEUED, i);
            trail.finish(&recorder);
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || work(thread))).collect();
        for thread in threads {
            // Only a join waits until the thread has let go of its ring; the scope's end does not.
            thread.join().expect("the thread ends well");
        }
    });
    let before = recorder.status().rings;
    assert_eq!((before.recorded, before.rings, before.unattached), (4000, 4, 0));
    let drained = recorder.drain_rings();
    // Each ring holds 64 records, of which 63 are certain.
    assert_eq!((drained.records.len(), drained.lost), (4 * 63, 4 * (1000 - 63)));
    for record in &drained.records {
        assert_eq!(record.subject & u64::from(u32::MAX), record.entry.value);
    }
    let after = recorder.status().rings;
    assert_eq!(after.recorded, after.drained + after.lost + after.waiting);
    assert_eq!((after.rings, after.waiting), (0, 0), "rings of ended threads go once drained");
    assert_eq!(recorder.drain_rings().records, []);
}

#[test]
fn a_thread_that_never_asked_for_a_ring_is_counted() {
    let recorder = Recorder::new(RecorderConfig::default());
    let hub = recorder.hub("h");
    let mut trail = Handle::begin(&recorder, 1);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            trail.stamp(&recorder, hub, POSTED, 0);
            recorder.attach_thread();
            trail.stamp(&recorder, hub, ENQUEUED, 0);
        });
    });
    let rings = recorder.status().rings;
    assert_eq!((rings.unattached, rings.recorded), (1, 1));
    assert_eq!(trail.view(&recorder).expect("live").stages.len(), 2, "the trail is whole");
    trail.finish(&recorder);
}

#[test]
fn the_memory_bound_is_computed_from_the_limits() {
    let bound = |config| Recorder::new(config).status().memory_bound;
    let small = RecorderConfig {
        in_flight: 1024,
        finished: 1,
        hub_entries: 1,
        ring_slots: 0,
        boxed: 1,
        ..RecorderConfig::default()
    };
    let base = bound(small.clone());
    let larger = |change: &dyn Fn(&mut RecorderConfig)| {
        let mut config = small.clone();
        change(&mut config);
        bound(config) - base
    };
    // Sizes of a slot, of a finished trail's key and slot, of a boxed trail, of a hub-level stage and
    // of 256 rings of 32-byte records.
    assert_eq!(larger(&|c| c.in_flight = 2048) / 1024, 320);
    assert_eq!(larger(&|c| c.finished = 1025) / 1024, 328);
    assert_eq!(larger(&|c| c.boxed = 11) / 10, 288);
    assert_eq!(larger(&|c| c.hub_entries = 11) / 10, 56);
    assert_eq!(larger(&|c| c.ring_slots = 8192), 256 * 8192 * 32);
    let text = Recorder::off().status().to_string();
    let clock = if TscClock::new().is_ok() { "tsc" } else { "system" };
    assert!(text.starts_with(&format!("recorder off clock={clock} memory<=")), "{text}");
    assert!(fate_trail::clock::explain().starts_with(&format!("{clock}: ")));
}
