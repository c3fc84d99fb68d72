//! Every interleaving of the lock-free parts, by loom; and the proof that it would see a hole: each
//! step of the protocol taken out in turn must be found.
//!
//! `RUSTFLAGS="--cfg fate_loom" cargo test -p fate-trail --release --lib model`

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::sync::Arc;

use super::free::{FreeStack, Links, Slots};
use super::words::{Defect, Sound, WordRing};

/// Records that the writer of a model writes into a ring of two.
const WRITES: u64 = 3;

/// Runs a model over every interleaving; answers how many there were, or how many it took until one
/// failed.
fn explore(model: impl Fn() + Send + Sync + 'static) -> Result<usize, usize> {
    let runs = std::sync::Arc::new(AtomicUsize::new(0));
    let counted = runs.clone();
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 10_000;
    let outcome = catch_unwind(AssertUnwindSafe(move || {
        builder.check(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            model();
        });
    }));
    let runs = runs.load(Ordering::Relaxed);
    if outcome.is_ok() { Ok(runs) } else { Err(runs) }
}

/// A writer that laps a reader, which reads twice meanwhile and once afterwards.
fn lapped<D: Defect>() {
    let ring = Arc::new(WordRing::<2>::new(2));
    let writer = {
        let ring = ring.clone();
        loom::thread::spawn(move || (1..=WRITES).for_each(|i| ring.push::<D>(i - 1, [i, !i])))
    };
    let (mut next, mut lost, mut seen) = (0, 0, 0);
    let mut read = || {
        let mut out = Vec::new();
        let (to, missed) = ring.read::<D, _>(next, &mut out, |words| words);
        for (words, position) in out.iter().zip(to - out.len() as u64..) {
            assert_eq!(*words, [position + 1, !(position + 1)], "record {position}");
        }
        assert_eq!(to - next, out.len() as u64 + missed, "recorded = drained + overwritten");
        seen += out.len() as u64;
        lost += missed;
        next = to;
    };
    read();
    read();
    writer.join().expect("the writer ends");
    read();
    assert_eq!(seen + lost, WRITES);
}

macro_rules! defects {
    ($($name:ident $step:ident;)*) => { $(
        struct $name;
        impl Defect for $name {
            const $step: bool = true;
        }
    )* };
}

defects! {
    HeadFirst HEAD_FIRST;
    UnfencedWrite UNFENCED_WRITE;
    RelaxedHead RELAXED_HEAD;
    OneLook ONE_LOOK;
    UnfencedRead UNFENCED_READ;
    LateWrap LATE_WRAP;
}

#[test]
fn a_ring_is_whole_in_every_interleaving() {
    let runs = explore(lapped::<Sound>).expect("no interleaving breaks the ring");
    eprintln!("ring: {runs} interleavings");
}

#[test]
fn a_ring_with_any_step_taken_out_is_found() {
    let mutants: [(&str, fn()); 6] = [
        ("head before slot", lapped::<HeadFirst>),
        ("no fence before the words", lapped::<UnfencedWrite>),
        ("head published without release", lapped::<RelaxedHead>),
        ("no second look at the head", lapped::<OneLook>),
        ("no fence before the second look", lapped::<UnfencedRead>),
        ("wrap compared one too late", lapped::<LateWrap>),
    ];
    for (name, model) in mutants {
        let runs = explore(model).expect_err(name);
        eprintln!("ring, {name}: found in interleaving {runs}");
    }
}

struct Three([Links; 3]);

impl Slots for Three {
    fn links(&self, index: u32) -> Option<&Links> {
        self.0.get(index as usize)
    }
}

/// Two threads that take and return bundles; nobody may hold what somebody else holds.
fn contended<const TAGGED: bool>() {
    let slots = Arc::new((FreeStack::new(), Three(std::array::from_fn(|_| Links::new()))));
    for first in 1..=3 {
        slots.0.push::<TAGGED>(&slots.1, first);
    }
    let other = {
        let slots = slots.clone();
        loom::thread::spawn(move || {
            let (stack, links) = &*slots;
            let one = stack.pop::<TAGGED>(links);
            let two = stack.pop::<TAGGED>(links);
            if let Some(one) = one {
                stack.push::<TAGGED>(links, one);
            }
            two
        })
    };
    let (stack, links) = &*slots;
    let mine = stack.pop::<TAGGED>(links);
    let theirs = other.join().expect("the thread ends");
    let mut held: Vec<u32> = mine.into_iter().chain(theirs).collect();
    held.extend(std::iter::from_fn(|| stack.pop::<TAGGED>(links)).take(4));
    held.sort_unstable();
    assert_eq!(held, [1, 2, 3], "each slot has one owner");
}

#[test]
fn a_free_slot_has_one_owner_in_every_interleaving() {
    let runs = explore(contended::<true>).expect("no interleaving breaks the stack");
    eprintln!("free slots: {runs} interleavings");
    let runs = explore(contended::<false>).expect_err("a head without a tag");
    eprintln!("free slots, head without a tag: found in interleaving {runs}");
}
