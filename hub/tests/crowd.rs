//! A crowd of threads against one hub: posting, opening, closing and disposing at will, with handlers
//! that panic, wait, post and open themselves. Whatever the schedule, every accepted delivery has
//! one end, the event numbers have no gap, and the order of arrival is kept.
//!
//! The scripts are drawn from a seed that a failure prints; `FATE_SEED` replays it and
//! `FATE_ROUNDS` asks for more rounds than a test run takes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use fate_hub::{Context, Envelope, Gate, Hub, Kind, RunLevel};
use fate_trail::{Fate, Recorder, RecorderConfig, Trail};
use tokio::runtime::{Builder, Runtime};

const GATES: [&str; 2] = ["data", "schema"];

/// Rounds of a plain test run.
const ROUNDS: u64 = 8;

#[derive(Clone, Copy, Debug)]
enum Job {
    Note,
    Panic,
    PanicLater,
    /// Panics with a payload that panics when it is dropped: in the call, in its future, later.
    Bomb(u64),
    Yield,
    Fail,
    Repost,
    Open(usize),
    Close(usize),
    Dispose,
}

/// Panics when it is dropped: as a panic's payload it strikes whoever throws it away.
struct DropBomb;

impl Drop for DropBomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a payload's own drop");
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn job(&mut self, disposes: bool) -> Job {
        match self.below(100) {
            0..2 => Job::Panic,
            2..4 => Job::PanicLater,
            4..6 => Job::Bomb(self.below(3)),
            6..20 => Job::Yield,
            20..24 => Job::Fail,
            24..34 => Job::Repost,
            34..38 => Job::Open(usize::from(self.below(2) == 1)),
            38..41 => Job::Close(usize::from(self.below(2) == 1)),
            41..42 if disposes => Job::Dispose,
            _ => Job::Note,
        }
    }

    fn kind(&mut self) -> Kind {
        if self.below(12) == 0 { Kind::Heartbeat } else { Kind::Ordinary }
    }
}

/// What the crowd has got the hub to accept.
#[derive(Default)]
struct Accepted {
    next: AtomicU64,
    ids: Mutex<BTreeSet<u64>>,
}

impl Accepted {
    fn post(&self, hub: &Hub<Job>, kind: Kind, job: Job) {
        // An odd id tells that the delivery is exempt from the order.
        let id = 2 * self.next.fetch_add(1, Ordering::Relaxed) + u64::from(kind.is_exempt());
        if hub.post(Envelope::new(job).kind(kind).id(id)).is_ok() {
            self.ids.lock().unwrap().insert(id);
        }
    }
}

async fn handle(turn: Context<Job>, job: Job, accepted: Arc<Accepted>) -> Result<(), String> {
    match job {
        Job::Note => {}
        Job::Panic => panic!("on purpose, by a test"),
        Job::PanicLater => {
            tokio::task::yield_now().await;
            panic!("on purpose, by a test");
        }
        Job::Bomb(wait) => {
            if wait > 1 {
                tokio::task::yield_now().await;
            }
            std::panic::panic_any(DropBomb)
        }
        Job::Yield => tokio::task::yield_now().await,
        Job::Fail => return Err(format!("reason {}", turn.sequence)),
        Job::Repost => {
            accepted.post(&turn.hub, Kind::Ordinary, Job::Note);
            tokio::task::yield_now().await;
            accepted.post(&turn.hub, Kind::Heartbeat, Job::Note);
        }
        Job::Open(gate) => drop(turn.hub.open_gate(GATES[gate])),
        Job::Close(gate) => drop(turn.hub.close_gate(GATES[gate])),
        Job::Dispose => drop(turn.hub.dispose()),
    }
    Ok(())
}

fn runtime(chance: &mut Chance) -> Runtime {
    let mut builder =
        if chance.below(3) == 0 { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    builder.worker_threads(2).build().expect("a runtime")
}

/// One hub and its crowd, to the end.
fn round(seed: u64) {
    let mut chance = Chance(seed);
    let recorder = Recorder::new(RecorderConfig {
        finished: 1 << 16,
        hub_entries: 1 << 16,
        ..RecorderConfig::default()
    });
    let accepted = Arc::new(Accepted::default());
    let runtime = runtime(&mut chance);
    let mine = Arc::clone(&accepted);
    let hub = {
        let _inside = runtime.enter();
        Hub::builder("crowd")
            .gate(Gate::closed(GATES[0]))
            .gate(Gate::closed(GATES[1]))
            .recorder(&recorder)
            .spawn(move |turn, job| {
                if matches!(job, Job::Bomb(0)) {
                    std::panic::panic_any(DropBomb);
                }
                handle(turn, job, Arc::clone(&mine))
            })
            .expect("names are fit")
    };
    let disposes = chance.below(3) == 0;
    let cut_short = chance.below(4) == 0;
    std::thread::scope(|scope| {
        for _ in 0..=chance.below(4) {
            let (hub, accepted) = (hub.clone(), Arc::clone(&accepted));
            let mut chance = Chance(chance.next());
            let count = 50 + chance.below(400);
            scope.spawn(move || {
                for _ in 0..count {
                    let (kind, job) = (chance.kind(), chance.job(disposes));
                    accepted.post(&hub, kind, job);
                }
            });
        }
        for _ in 0..=chance.below(2) {
            let hub = hub.clone();
            let mut chance = Chance(chance.next());
            scope.spawn(move || {
                for _ in 0..200 {
                    let gate = GATES[usize::from(chance.below(2) == 1)];
                    let _ = if chance.below(2) == 0 { hub.open_gate(gate) } else { hub.close_gate(gate) };
                    let seen = hub.snapshot();
                    assert!(seen.between <= 1);
                    std::thread::yield_now();
                }
            });
        }
        runtime.block_on(async {
            for _ in 0..chance.below(300) {
                tokio::task::yield_now().await;
            }
        });
    });
    if !cut_short {
        runtime.block_on(finish(&hub, disposes));
    }
    drop(runtime);
    assert_eq!(hub.snapshot().run_level, RunLevel::Dead, "its runtime has gone");
    check(&recorder, &accepted);
}

/// Opens the gates until nothing is left to run, and ends the hub.
async fn finish(hub: &Hub<Job>, disposes: bool) {
    loop {
        for gate in GATES {
            hub.open_gate(gate);
        }
        let seen = hub.snapshot();
        assert!(disposes || seen.run_level != RunLevel::Dead, "nobody has ended the hub");
        if seen.run_level == RunLevel::Dead || seen.main + seen.deferred == 0 && seen.running.is_none() {
            return hub.dispose().await;
        }
        tokio::task::yield_now().await;
    }
}

fn check(recorder: &Recorder, accepted: &Accepted) {
    let finished = recorder.finished();
    let status = recorder.status();
    assert_eq!((status.untracked, status.finished.overwritten), (0, 0), "the recorder kept all");
    assert_eq!(status.in_flight, 0, "no trail is left without an end");
    let mut by_id: BTreeMap<u64, &Trail> = BTreeMap::new();
    for trail in &finished {
        let id = trail.id.parse().expect("ids are numbers");
        assert!(by_id.insert(id, trail).is_none(), "two trails: {trail}");
        let ends = trail.stages.iter().filter(|stage| stage.id().is_some_and(|id| id.spec().fate.is_some()));
        assert_eq!(ends.count(), 1, "one end: {trail}");
        assert_ne!(trail.fate(), Fate::Open);
        let last = trail.last_stage().and_then(|stage| stage.id()?.spec().fate);
        assert!(last.is_some(), "nothing after the end: {trail}");
    }
    let accepted = accepted.ids.lock().unwrap();
    assert!(accepted.iter().all(|id| by_id.contains_key(id)), "every accepted delivery has a trail");
    numbers(recorder, &finished);
    order(&finished);
}

/// The event numbers of trails and hub together have no gap, but for stages that were not kept.
fn numbers(recorder: &Recorder, finished: &[Trail]) {
    let own = recorder.hub_trails();
    let missing: u64 = finished.iter().chain(&own).filter_map(|trail| Some(trail.gap?.count)).sum();
    let stages = finished.iter().chain(&own).flat_map(|trail| &trail.stages);
    let numbers: Vec<u64> = stages.filter_map(|stage| stage.number("n")).collect();
    let distinct: BTreeSet<u64> = numbers.iter().copied().collect();
    assert_eq!(distinct.len(), numbers.len(), "an event number was given twice");
    let highest = distinct.last().copied().unwrap_or(0);
    let holes = highest - distinct.len() as u64;
    assert!(holes <= missing, "{holes} event numbers are missing, {missing} stages were not kept");
}

/// Ordinary deliveries enter their handlers in the order of their arrival.
fn order(finished: &[Trail]) {
    let entered = finished.iter().filter_map(|trail| {
        let stage = |token| trail.stages.iter().find(|stage| stage.token == token);
        let exempt = trail.id.parse::<u64>().is_ok_and(|id| id % 2 == 1);
        let n = stage("HANDLER_ENTER")?.number("n")?;
        let sequence = stage("MAIN_DEPTH")?.number("seq")?;
        (!exempt).then_some((n, sequence, trail))
    });
    let mut entered: Vec<_> = entered.collect();
    entered.sort_by_key(|(n, ..)| *n);
    let mut newest = 0;
    for (_, sequence, trail) in entered {
        assert!(sequence > newest, "behind {newest}: {trail}");
        newest = sequence;
    }
}

#[test]
fn a_crowd_breaks_no_promise() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("FATE_SEED").unwrap_or(1);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let text = info.payload_as_str().unwrap_or("");
        if info.payload().is::<DropBomb>() || text.contains("on purpose") || text.contains("own drop") {
            return;
        }
        hook(info);
    }));
    for seed in first..first + number("FATE_ROUNDS").unwrap_or(ROUNDS) {
        if let Err(panic) = std::panic::catch_unwind(|| round(seed)) {
            eprintln!("replay with FATE_SEED={seed} FATE_ROUNDS=1");
            std::panic::resume_unwind(panic);
        }
    }
}
