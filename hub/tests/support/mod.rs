//! A hub core whose handler writes down what it ran and ends turns when the test says so.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};

use fate_hub::core::fault::{Fault, Sound};
use fate_hub::core::probe::Parking;
use fate_hub::core::{
    Completion, Core, Drained, Envelope, Gate, Handler, Kind, Outcome, Progress, Setup, Turn,
};
use fate_trail::{DeliveryId, Handle, Recorder, Stage, StageId, Trail};

/// More turns than any test here posts.
pub const ALL: usize = 1_000_000;

/// What a test posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Written down and done.
    Note(&'static str),
    /// The same by number.
    Number(u64),
    /// Written down; goes on until [`Bench::release`].
    Hold(&'static str),
    /// Ends its turn before it says that the turn is pending.
    EndEarly(&'static str),
    /// Says that it is pending and lets the right to end the turn go.
    LetGo,
    /// Says that it is pending and never asks for the right to end the turn.
    Forgetful,
    /// Panics in the handler.
    Panic,
    /// Panics while it is read.
    PanicUnread,
    /// Cannot be read.
    Garbled,
}

impl Job {
    pub fn label(self) -> String {
        match self {
            Job::Note(name) | Job::Hold(name) | Job::EndEarly(name) => name.to_owned(),
            Job::Number(number) => number.to_string(),
            other => format!("{other:?}"),
        }
    }
}

/// The handler: its log is a plain std mutex, which no lock of the hub depends on.
#[derive(Default)]
pub struct Journal {
    pub ran: Mutex<Vec<String>>,
    pub sequences: Mutex<Vec<u64>>,
    pub held: Mutex<Vec<Completion>>,
    pub read: Mutex<Vec<String>>,
}

impl Handler for Journal {
    type Message = Job;
    type Unpacked = ();

    fn unpack(&self, job: &Job) -> Result<(), String> {
        self.read.lock().unwrap().push(job.label());
        match job {
            Job::Garbled => Err("not a job".to_owned()),
            Job::PanicUnread => panic!("cannot even look at it"),
            _ => Ok(()),
        }
    }

    fn handle(&self, job: Job, (): (), turn: &Turn<'_>) -> Progress {
        self.ran.lock().unwrap().push(job.label());
        if turn.kind() == Kind::Ordinary {
            self.sequences.lock().unwrap().push(turn.sequence());
        }
        match job {
            Job::Hold(_) => {
                let completion = turn.completion();
                self.held.lock().unwrap().push(completion);
                Progress::Pending
            }
            Job::EndEarly(_) => {
                assert!(turn.completion().done(()));
                Progress::Pending
            }
            Job::LetGo => {
                drop(turn.completion());
                Progress::Pending
            }
            Job::Forgetful => Progress::Pending,
            Job::Panic => panic!("the handler gave up"),
            _ => Progress::Done(Outcome::Handled),
        }
    }
}

pub type TestCore<F> = Core<Journal, Handle, F, Parking>;

/// One core under test.
pub struct Bench<F: Fault = Sound> {
    pub core: Arc<TestCore<F>>,
    pub parking: Parking,
    pub recorder: Recorder,
    wakes: Arc<AtomicUsize>,
    drainer: Arc<Mutex<Option<Thread>>>,
}

impl<F: Fault> Bench<F> {
    /// A hub with the gate `ready`, closed, that admits jobs that hold.
    pub fn gated() -> Self {
        let ready = Gate::closed("ready").admitting(|_, job| matches!(job, Job::Hold(_)));
        Self::with(vec![ready])
    }

    pub fn with(gates: Vec<Gate<Job>>) -> Self {
        let parking = Parking::new();
        let recorder = recorder();
        let mut setup = Setup::new("orders/7").recorder(recorder.clone());
        for gate in gates {
            setup = setup.gate(gate);
        }
        let wakes = Arc::new(AtomicUsize::new(0));
        let woken = Arc::clone(&wakes);
        let drainer = Arc::new(Mutex::new(None::<Thread>));
        let asleep = Arc::clone(&drainer);
        let core = Core::new(
            setup,
            Journal::default(),
            parking.clone(),
            Box::new(move || {
                woken.fetch_add(1, Ordering::SeqCst);
                if let Some(thread) = asleep.lock().unwrap().as_ref() {
                    thread.unpark();
                }
            }),
        )
        .expect("names are fit and unique");
        Self { core, parking, recorder, wakes, drainer }
    }

    /// Makes this thread the one that wake-ups reach, and drains after each until `done`. Whoever
    /// makes `done` true unparks the thread.
    pub fn drain_until(&self, done: impl Fn() -> bool) {
        *self.drainer.lock().unwrap() = Some(thread::current());
        loop {
            let _ = self.drain();
            if done() {
                break;
            }
            thread::park();
        }
    }

    pub fn post(&self, job: Job) -> DeliveryId {
        self.post_as(Kind::Ordinary, job)
    }

    pub fn post_as(&self, kind: Kind, job: Job) -> DeliveryId {
        let envelope = Envelope::new(job).kind(kind).id(job.label().as_str());
        self.core.post(envelope).expect("the hub is alive")
    }

    /// Posts under a number of the test's own.
    pub fn post_called(&self, id: u64, kind: Kind, job: Job) {
        let envelope = Envelope::new(job).kind(kind).id(id);
        self.core.post(envelope).expect("the hub is alive");
    }

    /// Runs what there is to run, as far as it goes.
    pub fn drain(&self) -> Drained {
        self.core.drain(ALL)
    }

    /// Ends the turn that holds the hub.
    pub fn release(&self) {
        let held = self.core.handler().held.lock().unwrap().remove(0);
        assert!(held.done(()), "the held turn had not ended");
    }

    /// What ran, oldest first.
    pub fn ran(&self) -> Vec<String> {
        self.core.handler().ran.lock().unwrap().clone()
    }

    pub fn wakes(&self) -> usize {
        self.wakes.load(Ordering::SeqCst)
    }

    /// The finished trail of a delivery.
    pub fn trail(&self, id: &str) -> Trail {
        let mut found: Vec<Trail> =
            self.recorder.finished().into_iter().filter(|trail| trail.id == id).collect();
        assert_eq!(found.len(), 1, "one finished trail of {id}");
        found.remove(0)
    }

    /// The last stage of every finished trail; fails where two trails have the same id.
    pub fn ends(&self) -> BTreeMap<String, &'static str> {
        let mut ends = BTreeMap::new();
        for trail in self.recorder.finished() {
            let terminal = trail.stages.iter().filter_map(Stage::id).filter(|id| id.spec().fate.is_some());
            let terminal: Vec<StageId> = terminal.collect();
            assert_eq!(terminal.len(), 1, "one end: {trail}");
            let last = trail.stages.last().and_then(Stage::id);
            assert_eq!(last, Some(terminal[0]), "and nothing after it: {trail}");
            let before = ends.insert(trail.id.clone(), terminal[0].token());
            assert_eq!(before, None, "one trail: {trail}");
        }
        ends
    }

    /// The hub's own trail.
    pub fn hub_trail(&self) -> Trail {
        let mut own = self.recorder.hub_trails();
        assert_eq!(own.len(), 1, "one hub, one trail of its own");
        own.remove(0)
    }

    /// The tokens of a finished trail.
    pub fn tokens(&self, id: &str) -> Vec<String> {
        tokens(&self.trail(id))
    }
}

pub fn tokens(trail: &Trail) -> Vec<String> {
    trail.stages.iter().map(|stage| stage.token.clone()).collect()
}

/// A recorder that keeps every trail of a test.
pub fn recorder() -> Recorder {
    let config = fate_trail::RecorderConfig { finished: 1 << 16, ..fate_trail::RecorderConfig::default() };
    Recorder::new(config)
}
