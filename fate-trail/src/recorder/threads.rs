//! What each thread has of its own in one recorder: a ring, free slots and counters, so that a
//! stamp shares nothing with other threads; and what the readers of all rings have seen.

use std::cell::RefCell;

use super::free::Stash;
use super::ring::{Ring, RingRecord};
use super::slab::Slab;
use crate::limits::THREADS;
use crate::sync::{Arc, AtomicU64, Mutex, Ordering, Weak, fence};

/// Recorders that one thread keeps things for.
const RECORDERS_A_THREAD: usize = 64;

thread_local! {
    /// This thread's parts, by the recorder's number. Few, so a list is searched fastest.
    static MINE: RefCell<Vec<Local>> = const { RefCell::new(Vec::new()) };
}

/// One thread's part of one recorder.
#[derive(Debug)]
struct Local {
    recorder: u64,
    shared: Arc<Shared>,
    /// Records written into the ring.
    written: u64,
    stash: Stash,
    slab: Weak<Slab>,
}

impl Drop for Local {
    /// The thread ends: its free slots go to the others.
    fn drop(&mut self) {
        if let Some(slab) = self.slab.upgrade() {
            slab.flush(&mut self.stash);
        }
    }
}

/// What others may read of a thread's part. The thread alone writes.
#[derive(Debug)]
struct Shared {
    ring: Option<Ring>,
    counts: Counts,
}

/// Trails that began and ended.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Counts {
    /// One more begun. Only one thread writes a thread's counts; those that are shared are written
    /// at the end of threads alone, so a lost count is a trail begun by a thread that was ending.
    pub(crate) fn begin(&self) {
        self.begun.store(self.begun.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// One more ended.
    pub(crate) fn end(&self) {
        self.ended.store(self.ended.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    fn add(&self, other: &Counts) {
        self.begun.fetch_add(other.begun.load(Ordering::Relaxed), Ordering::Relaxed);
        self.ended.fetch_add(other.ended.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Trails on their way, as far as these counts know.
    fn open(&self) -> i64 {
        let (begun, ended) = (self.begun.load(Ordering::Relaxed), self.ended.load(Ordering::Relaxed));
        begun.wrapping_sub(ended) as i64
    }
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
    /// Stages that no ring took, because their thread has none.
    pub unattached: u64,
}

#[derive(Debug)]
pub(crate) struct Threads {
    number: u64,
    ring_slots: usize,
    slab: Weak<Slab>,
    /// Of threads whose part is gone or that never had one.
    others: Counts,
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
    shared: Arc<Shared>,
    next: u64,
}

impl Reader {
    /// Only this reader still holds the part, so its thread has ended.
    fn is_orphan(&self) -> bool {
        let orphan = Arc::strong_count(&self.shared) == 1;
        // Pairs with the release of the thread's own reference, so that its last records are seen.
        fence(Ordering::Acquire);
        orphan
    }

    fn head(&self) -> u64 {
        self.shared.ring.as_ref().map_or(0, Ring::head)
    }
}

impl Threads {
    /// `number` tells recorders apart; `ring_slots` is the size of each ring, 0 for none.
    pub(crate) fn new(number: u64, ring_slots: usize, slab: &Arc<Slab>) -> Self {
        Threads {
            number,
            ring_slots,
            slab: Arc::downgrade(slab),
            others: Counts::default(),
            unattached: AtomicU64::new(0),
            all: Mutex::new(All::default()),
        }
    }

    /// Bytes of the parts of as many threads as may have one.
    pub(crate) fn bytes(&self) -> usize {
        let ring = if self.ring_slots == 0 { 0 } else { Ring::bytes(self.ring_slots) };
        THREADS * (ring + size_of::<Local>() + size_of::<Shared>())
    }

    /// Gives the calling thread its part if it has none yet. Allocates once for each thread.
    pub(crate) fn attach(&self) {
        // During a thread's end its list may be gone; then it stays unattached and is counted.
        let _ = MINE.try_with(|mine| {
            let mut mine = mine.try_borrow_mut().ok()?;
            self.place(&mut mine)
        });
    }

    /// Where the calling thread's part stands in its list; made if there is none.
    #[inline]
    fn place(&self, mine: &mut Vec<Local>) -> Option<usize> {
        match mine.iter().position(|local| local.recorder == self.number) {
            Some(place) => Some(place),
            None => self.make(mine),
        }
    }

    /// `None` where the thread or the recorder has as many parts as allowed.
    #[cold]
    fn make(&self, mine: &mut Vec<Local>) -> Option<usize> {
        // Parts whose recorder is gone have no other owner.
        mine.retain(|local| Arc::strong_count(&local.shared) > 1);
        if mine.len() >= RECORDERS_A_THREAD {
            return None;
        }
        let slab = Weak::clone(&self.slab);
        let shared = self.register()?;
        mine.push(Local { recorder: self.number, shared, written: 0, stash: Stash::default(), slab });
        Some(mine.len() - 1)
    }

    fn register(&self) -> Option<Arc<Shared>> {
        let ring = (self.ring_slots > 0).then(|| Ring::new(self.ring_slots));
        let shared = Arc::new(Shared { ring, counts: Counts::default() });
        let mut all = self.all.lock();
        if all.readers.len() >= THREADS {
            let orphan = all.readers.iter().position(Reader::is_orphan)?;
            let gone = all.readers.remove(orphan);
            let head = gone.head();
            all.gone += head;
            all.lost += head - gone.next;
            self.others.add(&gone.shared.counts);
        }
        all.readers.push(Reader { shared: shared.clone(), next: 0 });
        Some(shared)
    }

    /// Works once with the calling thread's free slots and counts, made on their first use. A thread
    /// that can have none of its own works with what it then hands to all.
    #[inline]
    pub(crate) fn work<R>(&self, slab: &Slab, mut work: impl FnMut(&mut Stash, &Counts) -> R) -> R {
        let mut done = None;
        let _ = MINE.try_with(|mine| {
            let mut mine = mine.try_borrow_mut().ok()?;
            let place = self.place(&mut mine)?;
            let Local { shared, stash, .. } = mine.get_mut(place)?;
            done = Some(work(stash, &shared.counts));
            Some(())
        });
        match done {
            Some(done) => done,
            None => self.work_without(slab, work),
        }
    }

    #[cold]
    fn work_without<R>(&self, slab: &Slab, mut work: impl FnMut(&mut Stash, &Counts) -> R) -> R {
        let (mut stash, counts) = (Stash::default(), Counts::default());
        let done = work(&mut stash, &counts);
        slab.flush(&mut stash);
        self.others.add(&counts);
        done
    }

    /// Writes into the calling thread's ring; never allocates, never waits.
    #[inline]
    pub(crate) fn push(&self, record: RingRecord) {
        if self.ring_slots == 0 {
            return;
        }
        let written = MINE.try_with(|mine| {
            let mut mine = mine.try_borrow_mut().ok()?;
            let local = mine.iter_mut().find(|local| local.recorder == self.number)?;
            local.shared.ring.as_ref()?.push(local.written, record);
            local.written += 1;
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
            if let Some(ring) = &reader.shared.ring {
                let (next, lost) = ring.read(reader.next, &mut drained.records);
                reader.next = next;
                drained.lost += lost;
            }
            if orphan {
                all.gone += reader.next;
                self.others.add(&reader.shared.counts);
            }
            !orphan
        });
        all.drained += drained.records.len() as u64;
        all.lost += drained.lost;
        drained
    }

    /// Trails that have begun and not ended.
    pub(crate) fn open(&self) -> u64 {
        let all = self.all.lock();
        let own: i64 = all.readers.iter().map(|reader| reader.shared.counts.open()).sum();
        // Threads are asked one after the other, so a trail may be seen to end and not to begin.
        u64::try_from(self.others.open() + own).unwrap_or(0)
    }

    pub(crate) fn status(&self) -> RingStatus {
        let all = self.all.lock();
        let heads = all.readers.iter().map(Reader::head);
        let waiting = all.readers.iter().map(|reader| reader.head().saturating_sub(reader.next));
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
