//! The thread that looks at hubs and reads finished trails.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use fate_trail::otel::{HubPicture, Traced};
use fate_trail::{Recorder, Trail};

use super::{MAX_WAITING, TelemetryConfig, Told};
use crate::{Observe, Registry, RunLevel, Snapshot};

/// Ended turns after which finished trails are read without waiting for the next look; well below the
/// number of finished trails that a recorder keeps by default.
const READ_AFTER: usize = 64;

/// Looks that an ended turn waits for its trail.
const PATIENCE: u64 = 3;

pub(super) struct Worker {
    config: TelemetryConfig,
    registry: Registry,
    recorder: Recorder,
    lost: Arc<AtomicU64>,
    /// Hubs that were not dead at the last look; held until their last numbers have been seen.
    alive: Vec<Arc<dyn Observe>>,
    /// Ended turns whose trail has not been read, with the look they came in.
    waiting: HashMap<String, (Traced, u64)>,
    looks: u64,
    ended: usize,
    position: u64,
    untracked: u64,
}

impl Worker {
    pub(super) fn new(
        config: TelemetryConfig,
        registry: Registry,
        recorder: Recorder,
        lost: Arc<AtomicU64>,
    ) -> Self {
        Worker {
            config,
            registry,
            recorder,
            lost,
            alive: Vec::new(),
            waiting: HashMap::new(),
            looks: 0,
            ended: 0,
            position: 0,
            untracked: 0,
        }
    }

    /// Works until it is told to stop or nobody is left to tell it anything.
    pub(super) fn run(mut self, told: &Receiver<Told>) {
        let mut next = Instant::now() + self.config.every;
        loop {
            match told.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(Told::Ended(id, traced)) => {
                    self.ended += 1;
                    if let Some(traced) = traced.filter(|_| self.waiting.len() < MAX_WAITING) {
                        self.waiting.insert(id.to_string(), (traced, self.looks));
                    }
                    if self.ended >= READ_AFTER {
                        self.read();
                    }
                }
                Ok(Told::Flush(answer)) => {
                    self.look();
                    // Whoever asked may have gone.
                    let _ = answer.send(());
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.look();
                    next = Instant::now() + self.config.every;
                }
                Ok(Told::Stop) | Err(RecvTimeoutError::Disconnected) => {
                    self.look();
                    return;
                }
            }
        }
    }

    /// All hubs, and all trails that have finished.
    fn look(&mut self) {
        self.looks += 1;
        if let Some(instruments) = &self.config.instruments {
            let mut pictures = Vec::new();
            self.alive.clear();
            for hub in self.registry.hubs() {
                let snapshot = hub.snapshot();
                if snapshot.run_level != RunLevel::Dead {
                    self.alive.push(hub);
                }
                pictures.push(picture(snapshot));
            }
            add_up(&mut pictures);
            instruments.observe(&pictures);
            let lost = self.lost.swap(0, Ordering::Relaxed);
            instruments.lost("queue", lost);
            let untracked = self.recorder.status().untracked;
            instruments.lost("untracked", untracked.saturating_sub(self.untracked));
            self.untracked = untracked;
        }
        self.read();
        let looks = self.looks;
        self.waiting.retain(|_, (_, came)| looks - *came < PATIENCE);
    }

    /// The trails that have finished since the last time.
    fn read(&mut self) {
        self.ended = 0;
        let finished = self.recorder.finished_after(self.position);
        self.position = finished.next;
        if let Some(instruments) = &self.config.instruments {
            instruments.lost("overwritten", finished.lost);
        }
        for trail in &finished.trails {
            self.say(trail);
        }
    }

    fn say(&mut self, trail: &Trail) {
        let traced = self.waiting.remove(&trail.id).map(|(traced, _)| traced);
        if let Some(instruments) = &self.config.instruments {
            instruments.trail(trail);
        }
        if let Some(traced) = &traced {
            traced.after(trail);
        }
        if let Some(logs) = &self.config.logs {
            logs.trail(trail, traced.as_ref().map(Traced::span_context));
        }
    }
}

/// Hubs of one name count as one, or their totals would seem to jump to and fro.
fn add_up(pictures: &mut Vec<HubPicture>) {
    pictures.sort_by(|left, right| left.hub.cmp(&right.hub));
    pictures.dedup_by(|next, kept| {
        let same = next.hub == kept.hub;
        if same {
            kept.main += next.main;
            kept.deferred += next.deferred;
            kept.main_oldest = kept.main_oldest.max(next.main_oldest);
            kept.deferred_oldest = kept.deferred_oldest.max(next.deferred_oldest);
            kept.turn = kept.turn.max(next.turn);
            kept.closed_gates.append(&mut next.closed_gates);
            kept.posted += next.posted;
            kept.turns += next.turns;
            kept.requeues += next.requeues;
        }
        same
    });
}

fn picture(snapshot: Snapshot) -> HubPicture {
    let alive = snapshot.run_level != RunLevel::Dead;
    HubPicture {
        hub: snapshot.hub,
        main: snapshot.main as u64,
        deferred: snapshot.deferred as u64,
        main_oldest: snapshot.oldest_main,
        deferred_oldest: snapshot.oldest_deferred,
        turn: snapshot.running.map(|turn| turn.age),
        // A dead hub's gates hold nobody back.
        closed_gates: snapshot
            .gates
            .into_iter()
            .filter(|gate| gate.closed && alive)
            .map(|gate| (gate.name, gate.closed_for))
            .collect(),
        posted: snapshot.posted,
        turns: snapshot.turns,
        requeues: snapshot.requeues,
    }
}
