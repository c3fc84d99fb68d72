//! Records in any order, lost, twice and too many; and replies.

use proptest::prelude::*;

use super::*;
use crate::recorder::{Handle, Inline, RecorderConfig, Storage};
use crate::stage::{DEFERRED, ENQUEUED, POSTED, TURN_START};
use crate::trail::Gap;

fn recorder() -> Recorder {
    let config = RecorderConfig { ring_ends: true, read_interval: None, ..RecorderConfig::default() };
    Recorder::new(config)
}

/// Stamps that many stages, the third of them without a clock, and finishes.
fn deliver<S: Storage>(recorder: &Recorder, id: &str, stages: u64) {
    let hub = recorder.hub("h");
    let mut trail = S::begin(recorder, id);
    for i in 0..stages {
        let stage = [POSTED, ENQUEUED, TURN_START, DEFERRED][i as usize % 4];
        if i == 2 { trail.stamp(recorder, hub, stage, i) } else { trail.stamp_timed(recorder, hub, stage, i) }
    }
    trail.finish(recorder);
}

fn lines(mut trails: Vec<Trail>) -> Vec<String> {
    trails.sort_by(|a, b| a.id.cmp(&b.id));
    trails.iter().map(Trail::to_string).collect()
}

#[test]
fn trails_come_out_as_the_recorder_has_them() {
    let recorder = recorder();
    for (i, id) in ["7", "orders#8", "a rather long text as an id", "9"].iter().enumerate() {
        deliver::<Handle>(&recorder, id, 3 + 6 * i as u64);
        deliver::<Inline>(&recorder, &format!("{id}i"), 300 * i as u64);
    }
    let mut assembler = Assembler::new(&recorder);
    let trails = assembler.drained(&recorder.drain_rings());
    assert_eq!(trails, recorder.finished());
    let status = assembler.status();
    assert_eq!((status.begun, status.whole, status.open, status.ignored), (8, 8, 0, 0));
}

#[test]
fn missing_records_are_one_gap_at_their_place() {
    let recorder = recorder();
    let cases: [(u64, &[u32], Option<Gap>); 6] = [
        (5, &[2], Some(Gap { after: 2, count: 1 })),
        (5, &[0], Some(Gap { after: 0, count: 1 })),
        (5, &[4], Some(Gap { after: 4, count: 1 })),
        (6, &[1, 3], Some(Gap { after: 1, count: 3 })),
        (20, &[12], Some(Gap { after: 4, count: 9 })),
        (20, &[7], Some(Gap { after: 4, count: 6 })),
    ];
    for (stages, missing, gap) in cases {
        deliver::<Handle>(&recorder, "7", stages);
        let mut assembler = Assembler::new(&recorder);
        let drained = recorder.drain_rings();
        let gone = |record: &&RingRecord| record.end().is_some() || !missing.contains(&record.position);
        drained.records.iter().filter(gone).for_each(|record| assembler.push(record));
        assembler.settle();
        assert_eq!(assembler.take(), [], "what is missing may be in the next reading");
        assembler.settle();
        let trails = assembler.take();
        assert_eq!((trails[0].gap, trails[0].id.as_str()), (gap, "7"), "{stages} without {missing:?}");
        let known = recorder.take_finished().remove(0);
        assert_eq!(trails[0].at, known.at);
        assert!(trails[0].stages.iter().all(|stage| known.stages.contains(stage)));
        assert!(trails[0].to_string().contains("gap="));
    }
}

#[test]
fn a_ring_that_was_overrun_gives_what_is_left_of_a_trail() {
    let config = RecorderConfig { ring_ends: true, ring_slots: 8, ..RecorderConfig::default() };
    let recorder = Recorder::new(config);
    deliver::<Handle>(&recorder, "7", 10);
    let mut assembler = Assembler::new(&recorder);
    let drained = recorder.drain_rings();
    assert_eq!(assembler.drained(&drained), []);
    let trails = assembler.drained(&Drained::default());
    assert_eq!((trails[0].stages.len(), trails[0].gap.map(|gap| gap.count)), (6, Some(4)));
    let status = assembler.status();
    assert_eq!((status.lost, status.broken, status.records), (4, 1, 7));
}

#[test]
fn a_trail_without_an_end_comes_out_last_and_says_that_its_id_is_unknown() {
    let recorder = recorder();
    let mut trail = Handle::begin(&recorder, "a");
    trail.stamp(&recorder, recorder.hub("h"), ENQUEUED, 1);
    let mut assembler = Assembler::new(&recorder);
    assert_eq!(assembler.drained(&recorder.drain_rings()), []);
    let trails = assembler.finish();
    assert!(trails[0].to_string().starts_with("fate ~"), "{}", trails[0]);
    trail.finish(&recorder);
}

#[test]
fn the_oldest_go_where_there_are_too_many_and_are_counted() {
    let recorder = recorder();
    let mut assembler = Assembler::with_capacity(&recorder, 2);
    let mut begun = Vec::new();
    for id in 0..5u64 {
        let mut trail = Handle::begin(&recorder, id);
        trail.stamp(&recorder, recorder.hub("h"), ENQUEUED, id);
        begun.push(trail);
    }
    assert_eq!(assembler.drained(&recorder.drain_rings()).len(), 3);
    let status = assembler.status();
    assert_eq!((status.evicted, status.open, status.begun), (3, 2, 5));
    assert_eq!(status.begun, status.whole + status.broken + status.open as u64);
    begun.into_iter().for_each(|trail| trail.finish(&recorder));
}

#[test]
fn one_id_twice_is_two_trails_and_a_record_twice_is_one() {
    for (apart, reused) in [(1, 0), (0, 1)] {
        let clock = std::sync::Arc::new(crate::ManualClock::new(0));
        let recorder = Recorder::new(RecorderConfig {
            ring_ends: true,
            clock: clock.clone(),
            ..RecorderConfig::default()
        });
        deliver::<Handle>(&recorder, "7", 3);
        let first = recorder.drain_rings();
        clock.advance(apart);
        deliver::<Handle>(&recorder, "7", 4);
        let second = recorder.drain_rings();
        let mut assembler = Assembler::new(&recorder);
        // The last one is what tells the two apart where they began in one microsecond.
        for record in [0, 0, 3] {
            assembler.push(&first.records[record]);
        }
        second.records.iter().rev().for_each(|record| assembler.push(record));
        let mut trails = assembler.take();
        assert_eq!((assembler.status().ignored, assembler.status().reused), (1, reused));
        trails.extend(assembler.finish());
        trails.sort_by_key(|trail| trail.stages.len());
        assert_eq!((trails[0].gap.map(|gap| gap.count), trails[0].stages.len()), (Some(2), 1));
        assert_eq!((trails[1].gap, trails[1].stages.len(), trails.len()), (None, 4, 2));
    }
}

#[test]
fn replies_stand_on_the_trail_of_their_request() {
    let line = |line: &str| -> Trail { line.parse().expect("a trail") };
    let request = "fate q at=2026-09-06T14:00:00.000000Z POSTED@a(+0.000) target=b | RESPONDED@b(+1.000)";
    let reply = "at=2026-09-06T14:00:00.001500Z POSTED@b(+0.000) target=a | CALLBACK_COMPLETED@a(+0.250)";
    let mut trails: Vec<Trail> = (1..=5).map(|i| line(&format!("fate q-r{i} {reply}"))).collect();
    trails.insert(1, line(request));
    trails.push(line("fate lone-r1 POSTED@b(+?)"));
    trails.push(line("fate q-r1-r1 POSTED@b(+?)"));
    let ask = |trail: &Trail| trail.id.rsplit_once("-r").map(|(request, _)| request.to_owned());
    let folded = fold(trails, ask);
    assert_eq!((folded.folded, folded.surplus, folded.apart), (3, 2, 2));
    assert_eq!(folded.trails.len(), 5);
    let expected = (1..=3).fold(request.to_owned(), |line, k| {
        format!("{line} <- reply#{k} POSTED@b(+1.500) target=a | CALLBACK_COMPLETED@a(+1.750)")
    });
    assert_eq!(folded.trails[0].to_string(), expected);
    let mut early = line(request);
    assert!(early.add_reply(&line("fate x at=2026-09-06T13:00:00.000000Z POSTED@b(+0.000)")));
    assert_eq!(early.replies[0].stages[0].offset, None, "clocks of two machines");
    assert!(!early.add_reply(&line(&format!("{request} || answered"))), "a verdict would be lost");
}

proptest! {
    /// Records of several trails in any order give each trail as the recorder has it; with some of
    /// them left out, every trail is a part of it and says how much is missing.
    #[test]
    fn order_does_not_matter_and_loss_is_told(
        (counts, order, gone) in prop::collection::vec(0u64..40, 1..6).prop_flat_map(|counts| {
            let records = counts.iter().sum::<u64>() as usize + counts.len();
            let order = Just((0..records).collect::<Vec<_>>()).prop_shuffle();
            (Just(counts), order, prop::collection::vec(any::<prop::sample::Index>(), 0..6))
        })
    ) {
        let recorder = recorder();
        for (i, count) in counts.iter().enumerate() {
            let id = format!("{i}-of-{count}");
            if i % 2 == 0 { deliver::<Handle>(&recorder, &id, *count) } else { deliver::<Inline>(&recorder, &id, *count) }
        }
        let records = recorder.drain_rings().records;
        let known = recorder.take_finished();
        let mut whole = Assembler::new(&recorder);
        order.iter().for_each(|at| whole.push(&records[*at]));
        prop_assert_eq!(lines(whole.take()), lines(known.clone()));

        let gone: Vec<usize> = gone.iter().map(|index| index.index(records.len())).collect();
        let left = order.iter().filter(|at| records[**at].end().is_some() || !gone.contains(at));
        let mut broken = Assembler::new(&recorder);
        left.for_each(|at| broken.push(&records[*at]));
        broken.settle();
        broken.settle();
        for trail in broken.take() {
            let own = known.iter().find(|known| known.id == trail.id).expect("one of ours");
            let count: u64 = trail.id.rsplit_once('-').and_then(|(_, count)| count.parse().ok()).expect("its count");
            let missing = trail.gap.map_or(0, |gap| gap.count);
            prop_assert_eq!(trail.stages.len() as u64 + missing, count);
            prop_assert!(trail.stages.iter().all(|stage| own.stages.contains(stage)));
            prop_assert_eq!(trail.at, own.at);
        }
        prop_assert_eq!(broken.status().open, 0);
    }
}
