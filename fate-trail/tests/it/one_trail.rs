//! One trail, however it comes: from the recorder, from the rings, out of a log line and as a live
//! frame it is equal and prints the same line.

use std::sync::Arc;

use fate_trail::assemble::Assembler;
use fate_trail::stage::{self, StageId};
use fate_trail::{Drained, Handle, Inline, ManualClock, Recorder, RecorderConfig, Storage, Trail, text};
use proptest::prelude::*;

const STAGES: [StageId; 8] = [
    stage::ENQUEUED,
    stage::MAIN_DEPTH,
    stage::TURN_START,
    stage::DEFERRED,
    stage::REQUEUED_IN_ARRIVAL_ORDER,
    stage::HANDLER_ENTER,
    stage::HANDLER_EXIT,
    stage::SHED_AGGREGATE,
];

/// One stamp: which stage, what it carries, whether a clock is read, how long after the one before.
type Stamp = (usize, u64, bool, u64);

/// One delivery: its id, where its trail is kept and its stamps.
type Delivery = (String, bool, Vec<Stamp>);

fn deliveries() -> impl Strategy<Value = Vec<Delivery>> {
    let stamp = (0..STAGES.len(), any::<u64>(), any::<bool>(), 0..5_000_000u64);
    let id = prop_oneof!["[0-9]{1,9}", "[a-z]{1,8}#[0-9]{1,4}", "[ -~é]{1,40}"];
    let one = (id, any::<bool>(), prop::collection::vec(stamp, 1..30));
    // Ids of their own, as deliveries have them.
    prop::collection::vec(one, 1..6).prop_map(|mut all| {
        all.iter_mut().enumerate().for_each(|(i, one)| one.0.insert_str(0, &format!("{i}.")));
        all
    })
}

/// Stamps everything, by two threads in turn, so that each trail is spread over their rings.
fn record(recorder: &Recorder, clock: &ManualClock, deliveries: Vec<Delivery>) {
    let names = [recorder.hub("orders/1"), recorder.hub("a hub | with (odd) name")];
    recorder.gate_set(&["stock", "pay, later"]);
    recorder.symbol("proc essed");
    for (id, inline, stamps) in deliveries {
        if inline {
            spread(recorder, clock, names, Inline::begin(recorder, &id), &stamps);
        } else {
            spread(recorder, clock, names, Handle::begin(recorder, &id), &stamps);
        }
    }
}

fn spread<S: Storage>(
    recorder: &Recorder,
    clock: &ManualClock,
    names: [fate_trail::HubId; 2],
    mut trail: S,
    stamps: &[Stamp],
) {
    let half = stamps.len() / 2;
    let stamp = |trail: &mut S, part: &[Stamp]| {
        recorder.attach_thread();
        for (i, (at, value, timed, pause)) in part.iter().enumerate() {
            clock.advance(*pause);
            let (hub, stage) = (names[i % 2], STAGES[*at]);
            if *timed {
                trail.stamp_timed(recorder, hub, stage, *value);
            } else {
                trail.stamp(recorder, hub, stage, *value);
            }
        }
    };
    let other = std::thread::scope(|scope| scope.spawn(|| stamp(&mut trail, &stamps[..half])).join());
    other.expect("the thread ends well");
    stamp(&mut trail, &stamps[half..]);
    trail.finish(recorder);
}

fn from_log(trail: &Trail) -> Trail {
    let line = format!("12:00:01.250 INFO [orders] done: {trail}");
    text::find(&line).next().expect("a trail in the line").trail
}

#[cfg(feature = "live")]
fn from_live(trails: &[Trail]) -> Vec<Trail> {
    use fate_trail::live::{ClientEvent, ClientSession, FATES, FateBatch, Hello, LinePiece, PROTOCOL};
    let hello = Hello {
        protocol: PROTOCOL.into(),
        version: "1.0".into(),
        boot: "b".into(),
        features: vec![FATES.into()],
        ..Hello::default()
    };
    let mut server = fate_trail::live::ServerSession::new(&hello);
    let mut client = ClientSession::new(fate_trail::live::Wanted::default()).following_fates();
    let piece = |line: &str| LinePiece::Line(line.trim_end().as_bytes().to_vec());
    server.piece(&piece(&client.opening()));
    let mut out = Vec::new();
    let mut carry = |server: &mut fate_trail::live::ServerSession| {
        while let Some(line) = server.next_line() {
            let step = client.piece(&piece(&line));
            step.send.iter().for_each(|line| server.piece(&piece(line)));
            out.extend(step.events.into_iter().filter_map(|event| match event {
                ClientEvent::Fate(_, trail) => Some(*trail),
                _ => None,
            }));
        }
    };
    carry(&mut server);
    server.picture(1, 0, &[]);
    let finished = fate_trail::Finished { trails: trails.to_vec(), next: trails.len() as u64, lost: 0 };
    server.fates(&FateBatch::new(0, &finished));
    carry(&mut server);
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_trail_is_one_however_it_comes(deliveries in deliveries(), wall in 0i64..4_000_000_000_000_000) {
        let clock = Arc::new(ManualClock::new(wall));
        let recorder = Recorder::new(RecorderConfig {
            clock: clock.clone(),
            ring_ends: true,
            read_interval: None,
            ..RecorderConfig::default()
        });
        let subscription = recorder.subscribe(1 << 12).expect("room");
        record(&recorder, &clock, deliveries);
        recorder.pump();
        let known = recorder.take_finished();
        let lines: Vec<String> = known.iter().map(Trail::to_string).collect();

        let mut assembler = Assembler::new(&recorder);
        let mut rings = assembler.drained(&Drained { records: subscription.take(), lost: 0 });
        let place = |trail: &Trail| known.iter().position(|known| known.id == trail.id);
        rings.sort_by_key(place);
        prop_assert_eq!(&rings, &known);
        prop_assert_eq!(rings.iter().map(Trail::to_string).collect::<Vec<_>>(), lines.clone());

        let logs: Vec<Trail> = known.iter().map(from_log).collect();
        prop_assert_eq!(&logs, &known);
        prop_assert_eq!(logs.iter().map(Trail::to_string).collect::<Vec<_>>(), lines.clone());

        #[cfg(feature = "live")]
        {
            let live = from_live(&known);
            prop_assert_eq!(&live, &known);
            prop_assert_eq!(live.iter().map(Trail::to_string).collect::<Vec<_>>(), lines);
        }
    }
}
