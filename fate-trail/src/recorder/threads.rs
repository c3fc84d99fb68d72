//! The rings of all threads of one recorder: who has one, and what their reader has seen.

use std::cell::RefCell;

use super::ring::{Ring, RingRecord};
use crate::limits::RINGS;
use crate::sync::{Arc, AtomicU64, Mutex, Ordering, fence};

/// Recorders that one thread keeps a ring for.
const RECORDERS_A_THREAD: usize = 64;

thread_local! {
    /// This thread's rings, by the recorder's number. Few, so a list is searched fastest.
    static MINE: RefCell<Vec<(u64, Arc<Ring>)>> = const { RefCell::new(Vec::new()) };
}

/// What [`crate::Recorder::drain_rings`] hands over.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Drained {
    /// Records of all threads, thread by thread, each thread's in order.
    pub records: Vec<RingRecord>,
    /// Records that were overwritten before they were drained, since the last call.
    pub lost: u64,
}

/// Sums over all rings of a recorder. `recorded = drained + lost + waiting`, once writers rest.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RingStatus {
    /// Rings that exist.
    pub rings: usize,
    /// Records ever written.
    pub recorded: u64,
    /// Records handed to a reader.
    pub drained: u64,
    /// Records overwritten before a reader came, as far as a reader has noticed.
    pub lost: u64,
    /// Records written and not yet drained or noticed to be lost.
    pub waiting: u64,
    /// Stages that no ring took, because their thread was not attached.
    pub unattached: u64,
}

#[derive(Debug)]
pub(crate) struct Rings {
    slots: usize,
    unattached: AtomicU64,
    all: Mutex<All>,
}

#[derive(Debug, Default)]
struct All {
    readers: Vec<Reader>,
    /// Records of rings that are gone.
    gone: u64,
    drained: u64,
    lost: u64,
}

#[derive(Debug)]
struct Reader {
    ring: Arc<Ring>,
    next: u64,
}

impl Reader {
    /// Only this reader still holds the ring, so its thread has ended.
    fn is_orphan(&self) -> bool {
        let orphan = Arc::strong_count(&self.ring) == 1;
        // Pairs with the release of the thread's own reference, so that its last records are seen.
        fence(Ordering::Acquire);
        orphan
    }
}

impl Rings {
    pub(crate) fn new(slots: usize) -> Self {
        Rings { slots, unattached: AtomicU64::new(0), all: Mutex::new(All::default()) }
    }

    /// Gives the calling thread its ring if it has none yet. Allocates once for each thread.
    pub(crate) fn attach(&self, recorder: u64) {
        if self.slots == 0 {
            return;
        }
        // During a thread's end its list may be gone; then it stays unattached and is counted.
        let _ = MINE.try_with(|mine| {
            let Ok(mut mine) = mine.try_borrow_mut() else {
                return;
            };
            if mine.iter().any(|(number, _)| *number == recorder) {
                return;
            }
            // Rings whose recorder is gone have no other owner.
            mine.retain(|(_, ring)| Arc::strong_count(ring) > 1);
            if mine.len() >= RECORDERS_A_THREAD {
                return;
            }
            if let Some(ring) = self.register() {
                mine.push((recorder, ring));
            }
        });
    }

    /// A new ring; `None` where as many threads as allowed have one.
    fn register(&self) -> Option<Arc<Ring>> {
        let ring = Arc::new(Ring::new(self.slots));
        let mut all = self.all.lock();
        if all.readers.len() >= RINGS {
            let orphan = all.readers.iter().position(Reader::is_orphan)?;
            let gone = all.readers.remove(orphan);
            let head = gone.ring.head();
            all.gone += head;
            all.lost += head - gone.next;
        }
        all.readers.push(Reader { ring: ring.clone(), next: 0 });
        Some(ring)
    }

    /// Writes into the calling thread's ring; never allocates, never waits.
    pub(crate) fn push(&self, recorder: u64, record: RingRecord) {
        if self.slots == 0 {
            return;
        }
        let written = MINE.try_with(|mine| {
            let mine = mine.try_borrow().ok()?;
            let (_, ring) = mine.iter().find(|(number, _)| *number == recorder)?;
            ring.push(record);
            Some(())
        });
        if !matches!(written, Ok(Some(()))) {
            self.unattached.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn drain(&self) -> Drained {
        let mut drained = Drained::default();
        let mut guard = self.all.lock();
        let all = &mut *guard;
        all.readers.retain_mut(|reader| {
            // Asked first: a thread that ends during the read may still have written.
            let orphan = reader.is_orphan();
            let (next, lost) = reader.ring.read(reader.next, &mut drained.records);
            reader.next = next;
            drained.lost += lost;
            if orphan {
                all.gone += next;
            }
            !orphan
        });
        all.drained += drained.records.len() as u64;
        all.lost += drained.lost;
        drained
    }

    pub(crate) fn status(&self) -> RingStatus {
        let all = self.all.lock();
        let heads = all.readers.iter().map(|reader| reader.ring.head());
        let waiting = all.readers.iter().map(|reader| reader.ring.head().saturating_sub(reader.next));
        RingStatus {
            rings: all.readers.len(),
            recorded: all.gone + heads.sum::<u64>(),
            drained: all.drained,
            lost: all.lost,
            waiting: waiting.sum(),
            unattached: self.unattached.load(Ordering::Relaxed),
        }
    }
}
