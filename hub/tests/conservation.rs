//! Every accepted delivery ends exactly once and in the order that a plain model says, whatever the
//! script of posts, openings, closings and drains. A failure prints the script and the seed.

mod support;

use std::collections::{BTreeMap, VecDeque};

use fate_hub::core::fault::Sound;
use fate_hub::core::{Gate, Kind};
use fate_hub::limits::MAX_PARKED;
use proptest::prelude::*;
use support::{Bench, Job};

const GATES: [&str; 2] = ["data", "schema"];

#[derive(Clone, Copy, Debug)]
enum Op {
    /// Posts that many numbered messages.
    Post(u16),
    Exempt,
    /// One that panics, one that cannot be read.
    Bad,
    Open(usize),
    Close(usize),
    Drain(u16),
}

/// The hub as a few lines of lists: what runs, what waits, what is lost.
#[derive(Default)]
struct Model {
    main: VecDeque<Entry>,
    deferred: VecDeque<Entry>,
    closed: [bool; 2],
    ran: Vec<String>,
    ends: BTreeMap<String, &'static str>,
    dropped: u64,
    posted: u64,
}

#[derive(Clone, Copy)]
struct Entry {
    id: u64,
    job: Job,
    exempt: bool,
    released: bool,
}

impl Model {
    fn post(&mut self, job: Job, exempt: bool) -> u64 {
        self.posted += 1;
        let id = self.posted;
        self.main.push_back(Entry { id, job, exempt, released: false });
        id
    }

    fn open(&mut self, gate: usize) -> bool {
        let closed = std::mem::replace(&mut self.closed[gate], false);
        if closed && self.closed == [false; 2] {
            let mut restored = std::mem::take(&mut self.deferred);
            restored.iter_mut().for_each(|entry| entry.released = true);
            restored.append(&mut self.main);
            self.main = restored;
        }
        closed
    }

    fn close(&mut self, gate: usize) -> bool {
        !std::mem::replace(&mut self.closed[gate], true)
    }

    fn drain(&mut self, turns: usize) {
        for _ in 0..turns {
            let Some(entry) = self.main.pop_front() else { return };
            let end = match entry.job {
                Job::Garbled => "UNPACK_FAILED",
                _ if self.closed != [false; 2] && !entry.exempt && !entry.released => {
                    if self.deferred.len() < MAX_PARKED {
                        self.deferred.push_back(entry);
                        continue;
                    }
                    self.dropped += 1;
                    "DROPPED_GATE_STUCK"
                }
                job => {
                    self.ran.push(job.label());
                    if job == Job::Panic { "HANDLER_FAULT" } else { "HANDLER_EXIT" }
                }
            };
            self.ends.insert(entry.id.to_string(), end);
        }
    }
}

/// Applies one step to both and compares what can be seen.
fn apply(op: Op, bench: &Bench, model: &mut Model) {
    let post = |model: &mut Model, job: Job, kind: Kind| {
        let id = model.post(job, kind.is_exempt());
        bench.post_called(id, kind, job);
    };
    match op {
        Op::Post(count) => {
            for _ in 0..count {
                let job = Job::Number(model.posted + 1);
                post(model, job, Kind::Ordinary);
            }
        }
        Op::Exempt => post(model, Job::Note("exempt"), Kind::Heartbeat),
        Op::Bad => {
            post(model, Job::Panic, Kind::Ordinary);
            post(model, Job::Garbled, Kind::Ordinary);
        }
        Op::Open(gate) => assert_eq!(bench.core.open_gate(GATES[gate]), model.open(gate)),
        Op::Close(gate) => assert_eq!(bench.core.close_gate(GATES[gate]), model.close(gate)),
        Op::Drain(turns) => {
            let _ = bench.core.drain(turns.into());
            model.drain(turns.into());
        }
    }
    let seen = bench.core.snapshot();
    assert_eq!(seen.main, model.main.len(), "main after {op:?}");
    assert_eq!(seen.deferred, model.deferred.len(), "deferred after {op:?}");
    assert_eq!(seen.turns, model.ends.len() as u64, "ended after {op:?}");
    assert_eq!((seen.posted, seen.dropped, seen.between), (model.posted, model.dropped, 0));
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        4 => (1..5_u16).prop_map(Op::Post),
        1 => (200..400_u16).prop_map(Op::Post),
        2 => Just(Op::Exempt),
        1 => Just(Op::Bad),
        3 => (0..2_usize).prop_map(Op::Open),
        3 => (0..2_usize).prop_map(Op::Close),
        4 => (1..6_u16).prop_map(Op::Drain),
        1 => (200..1000_u16).prop_map(Op::Drain),
    ];
    prop::collection::vec(op, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_accepted_delivery_ends_exactly_once(script in ops()) {
        let bench = Bench::<Sound>::with(vec![Gate::closed(GATES[0]), Gate::closed(GATES[1])]);
        let mut model = Model { closed: [true; 2], ..Model::default() };
        for op in script {
            apply(op, &bench, &mut model);
        }
        for op in [Op::Open(0), Op::Open(1), Op::Drain(u16::MAX)] {
            apply(op, &bench, &mut model);
        }
        prop_assert_eq!(bench.ran(), model.ran.clone());
        prop_assert_eq!(bench.ends(), model.ends.clone());
        prop_assert_eq!(model.ends.len() as u64, model.posted);
    }
}
