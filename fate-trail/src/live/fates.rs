//! Finished trails on their way to one client: a bounded queue that gives up its oldest and says so.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{FateFrame, FateGap, MAX_FATE_BYTES, MAX_FATES, MAX_TRAIL};
use crate::recorder::Finished;
use crate::trail::Trail;

/// Finished trails of a process as its server tells all clients of them, each line made once.
#[derive(Clone, Debug, Default)]
pub struct FateBatch {
    /// Number of the last trail before the batch.
    after: u64,
    /// Trails behind it that were lost before anybody read them.
    lost: u64,
    fates: Vec<Fate>,
}

#[derive(Clone, Debug)]
struct Fate {
    line: Arc<str>,
    hubs: Vec<String>,
}

impl FateBatch {
    /// What a recorder gave for that position; see [`crate::Recorder::finished_after`]. Trails are
    /// numbered by their position, from 1.
    pub fn new(after: u64, finished: &Finished) -> Self {
        FateBatch { after, lost: finished.lost, fates: finished.trails.iter().map(Fate::new).collect() }
    }
}

impl Fate {
    fn new(trail: &Trail) -> Self {
        let replies = trail.replies.iter().flat_map(|reply| &reply.stages);
        let mut hubs: Vec<String> = trail.stages.iter().chain(replies).map(|s| s.hub.clone()).collect();
        hubs.sort_unstable();
        hubs.dedup();
        Fate { line: crate::text::write(trail).into(), hubs }
    }
}

/// A stretch of the numbers, up to `to`: a trail and those before it that the client does not want,
/// or a loss.
#[derive(Debug)]
struct Item {
    to: u64,
    line: Option<Arc<str>>,
    lost: u64,
}

/// The queue of one client.
#[derive(Debug, Default)]
pub(super) struct Fates {
    items: VecDeque<Item>,
    lines: usize,
    bytes: usize,
    /// The last number that was handed out or passed by; `None` before anything was offered.
    last: Option<u64>,
}

/// The next thing to tell a client.
pub(super) enum Next {
    Fate(FateFrame),
    Gap(FateGap),
}

impl Fates {
    /// Takes a batch; `wants` says which hubs the client looks at.
    pub(super) fn offer(&mut self, batch: &FateBatch, wants: impl Fn(&str) -> bool) {
        self.last.get_or_insert(batch.after);
        let first = batch.after.saturating_add(batch.lost);
        if batch.lost > 0 {
            self.push(Item { to: first, line: None, lost: batch.lost });
        }
        for (fate, to) in batch.fates.iter().zip(first.saturating_add(1)..) {
            if !fate.hubs.iter().any(|hub| wants(hub)) && !fate.hubs.is_empty() {
                continue;
            }
            // A trail that no frame holds is lost as well.
            let fits = fate.line.len() <= MAX_TRAIL;
            let line = fits.then(|| Arc::clone(&fate.line));
            self.push(Item { to, line, lost: u64::from(!fits) });
        }
    }

    fn push(&mut self, item: Item) {
        self.lines += usize::from(item.line.is_some());
        self.bytes += item.line.as_ref().map_or(0, |line| line.len());
        self.items.push_back(item);
        self.merge_back();
        while self.lines > MAX_FATES || self.bytes > MAX_FATE_BYTES {
            self.give_up_oldest();
        }
    }

    /// Two losses in a row are one.
    fn merge_back(&mut self) {
        let count = self.items.len();
        if count >= 2 && self.items.range(count - 2..).all(|item| item.line.is_none()) {
            if let (Some(newer), Some(older)) = (self.items.pop_back(), self.items.back_mut()) {
                older.to = newer.to;
                older.lost = older.lost.saturating_add(newer.lost);
            }
        }
    }

    /// Turns the oldest trail into a loss, joined with what was lost beside it.
    fn give_up_oldest(&mut self) {
        let mut gap = Item { to: 0, line: None, lost: 0 };
        while let Some(item) = self.items.pop_front() {
            gap.to = item.to;
            gap.lost = gap.lost.saturating_add(item.lost);
            if let Some(line) = item.line {
                self.lines -= 1;
                self.bytes -= line.len();
                gap.lost = gap.lost.saturating_add(1);
                break;
            }
        }
        if let Some(behind) = self.items.front_mut().filter(|item| item.line.is_none()) {
            behind.lost = behind.lost.saturating_add(gap.lost);
        } else {
            self.items.push_front(gap);
        }
    }

    pub(super) fn next(&mut self, boot: &str) -> Option<Next> {
        let item = self.items.pop_front()?;
        let before = self.last.replace(item.to).unwrap_or(0);
        let boot = boot.to_owned();
        let Some(line) = item.line else {
            let from = before.saturating_add(1);
            return Some(Next::Gap(FateGap { boot, from, to: item.to, count: item.lost }));
        };
        self.lines -= 1;
        self.bytes -= line.len();
        let passed = item.to.saturating_sub(before).saturating_sub(1);
        Some(Next::Fate(FateFrame { boot, seq: item.to, passed, trail: line.to_string() }))
    }
}
