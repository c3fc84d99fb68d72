//! The table of costs in `fate-trail/README.md`: `cargo run --release -p fate-trail-lab --bin ratios`.

use std::hint::black_box;

use fate_trail::stage::{ENQUEUED, HANDLER_ENTER, HANDLER_EXIT, MAIN_DEPTH, POSTED, UNPACKED};
use fate_trail::{Handle, Inline, Off, Recorder, RecorderConfig, Storage};
use fate_trail_lab::delivery::Line;
use fate_trail_lab::peers;
use fate_trail_lab::rounds::{Case, run, table};

/// Rounds of each table.
const ROUNDS: usize = 25;
/// Times that a small thing is done in a round.
const SMALL: u64 = 200_000;
/// Deliveries of a round.
const DELIVERIES: u64 = 50_000;
/// Deliveries of the long backlog, and its rounds.
const BACKLOG: u64 = 1_000_000;
const BACKLOG_ROUNDS: usize = 5;

fn recorder(ring_slots: usize) -> Recorder {
    Recorder::new(RecorderConfig { ring_slots, ..RecorderConfig::default() })
}

/// Keeps the compiler from leaving a reading out.
fn ignore(reading: u64) {
    black_box(reading);
}

fn with_rings() -> Recorder {
    Recorder::new(RecorderConfig::default())
}

/// Stamps stages of one trail that lives as long as the case.
fn stamps<'a>(name: &str, recorder: &'a Recorder, timed: bool) -> Case<'a> {
    let hub = recorder.hub("orders");
    let mut trail = Handle::begin(recorder, 1);
    Case::new(name, move |times| {
        for n in 0..times {
            if timed {
                trail.stamp_timed(recorder, hub, ENQUEUED, n);
            } else {
                trail.stamp(recorder, hub, ENQUEUED, n);
            }
        }
    })
}

fn six_stages(recorder: &Recorder, times: u64) {
    let hub = recorder.hub("orders");
    for id in 0..times {
        let mut trail = Handle::begin(recorder, id);
        for stage in [POSTED, ENQUEUED, MAIN_DEPTH, UNPACKED, HANDLER_ENTER] {
            trail.stamp(recorder, hub, stage, id);
        }
        trail.stamp_timed(recorder, hub, HANDLER_EXIT, 0);
        trail.finish(recorder);
    }
}

fn building_blocks() -> String {
    let (level0, level1) = (recorder(0), with_rings());
    let queue = peers::Locked::default();
    let cases = vec![
        Case::new("one TSC read", |times| (0..times).for_each(|_| ignore(peers::counter()))),
        Case::new("the recorder's clock", |times| (0..times).for_each(|_| ignore(level1.now()))),
        stamps("a stage without a clock, level 0", &level0, false),
        stamps("a stage without a clock, levels 0 and 1 (adds the ring write)", &level1, false),
        stamps("a stage with a clock, levels 0 and 1", &level1, true),
        Case::new("a push into a queue under an uncontended mutex", |times| {
            (0..times).for_each(|n| queue.push([n; 4]));
        }),
        Case::new("a `tracing` event, layer that does nothing", |times| {
            peers::with_nothing_layer(|| (0..times).for_each(peers::tracing_event));
        }),
    ];
    table("one TSC read", &run(ROUNDS, SMALL, cases))
}

fn whole_trails() -> String {
    let recorder = with_rings();
    peers::start_fastrace();
    let cases = vec![
        Case::new("a whole trail of 6 stages", |times| six_stages(&recorder, times)),
        Case::new("`fastrace`: a root span with 6 events", |times| {
            (0..times).for_each(|_| peers::fastrace_delivery());
        }),
    ];
    table("a whole trail of 6 stages", &run(ROUNDS, DELIVERIES, cases))
}

fn deliveries() -> String {
    let off = Recorder::off();
    let (level0, level1, watched, stalled) = (recorder(0), with_rings(), with_rings(), with_rings());
    // One that takes what comes, and one that never does.
    let taking = watched.subscribe(1 << 16);
    let never = stalled.subscribe(1 << 10);
    let (bare, silent) = (Line::<Off>::new(&off), Line::<Handle>::new(&off));
    let (handle0, inline0) = (Line::<Handle>::new(&level0), Line::<Inline>::new(&level0));
    let (handle1, inline1) = (Line::<Handle>::new(&level1), Line::<Inline>::new(&level1));
    let (observed, ignored) = (Line::<Handle>::new(&watched), Line::<Handle>::new(&stalled));
    let cases = vec![
        Case::new("`Off`", |times| bare.deliver(times)),
        Case::new("`Handle`, recorder off", |times| silent.deliver(times)),
        Case::new("`Handle`, level 0", |times| handle0.deliver(times)),
        Case::new("`Inline`, level 0", |times| inline0.deliver(times)),
        Case::new("`Handle`, levels 0 and 1 (the default)", |times| handle1.deliver(times)),
        Case::new("`Inline`, levels 0 and 1", |times| inline1.deliver(times)),
        Case::new("`Handle`, levels 0 and 1, a subscriber", |times| {
            observed.deliver(times);
            drop(taking.as_ref().map(fate_trail::Subscription::take));
        }),
        Case::new("`Handle`, levels 0 and 1, a stalled subscriber", |times| ignored.deliver(times)),
    ];
    let text = table("`Off`", &run(ROUNDS, DELIVERIES, cases));
    drop(never);
    text
}

fn backlogs() -> String {
    let (one, two, three) = (with_rings(), with_rings(), with_rings());
    let (bare, handle, inline) =
        (Line::<Off>::new(&one), Line::<Handle>::new(&two), Line::<Inline>::new(&three));
    fn fill_and_drain<S: Storage>(line: &Line<S>, times: u64) {
        (0..times).for_each(|message| line.post(message));
        line.drain();
    }
    let cases = vec![
        Case::new("`Off`", |times| fill_and_drain(&bare, times)),
        Case::new("`Handle`", |times| fill_and_drain(&handle, times)),
        Case::new("`Inline`", |times| fill_and_drain(&inline, times)),
    ];
    table("`Off`", &run(BACKLOG_ROUNDS, BACKLOG, cases))
}

fn main() {
    println!("clock: {}\n", fate_trail::clock::explain());
    println!("One stage:\n\n{}", building_blocks());
    println!("One trail:\n\n{}", whole_trails());
    println!("One delivery through a hub, from the post to the end of its turn:\n\n{}", deliveries());
    println!("A backlog of one million, filled and drained:\n\n{}", backlogs());
    println!(
        "Bytes that a trail adds to a queued message: `Off` {}, `Handle` {}, `Inline` {}",
        size_of::<Off>(),
        size_of::<Handle>(),
        size_of::<Inline>()
    );
}
