//! Everything that hub processes reported, as one value; nothing in here does input or output.

use std::collections::{BTreeMap, VecDeque};

use fate_trail::live::{
    ClientEvent, Counts, HEARTBEAT_MICROS, Hello, History, HubState, Severity, Warning, stale,
};

use crate::source::{Found, Report, TargetId};

/// Seconds of history that a hub's row keeps.
pub(crate) const HISTORY_SECONDS: usize = 60;

/// Seconds over which turns per second are averaged.
const RATE_SECONDS: u64 = 5;

/// A hub of a process that is gone stays on the screen for this long, µs.
const KEEP_GONE_MICROS: u64 = 60_000_000;

/// How a process is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetState {
    /// No picture yet.
    Connecting,
    /// States arrive.
    Live,
    /// The connection is lost and tried again; the reason.
    Down(String),
    /// It cannot be talked to; the reason.
    GivenUp(String),
    /// The process has ended.
    Ended,
}

/// One hub process.
#[derive(Clone, Debug)]
pub struct Target {
    /// What was found.
    pub found: Found,
    /// How it is doing.
    pub state: TargetState,
    /// Its last hello.
    pub hello: Option<Hello>,
    /// When it was last heard, µs.
    pub heard: u64,
    /// Delay of its last heartbeat, µs.
    pub delay: u64,
    /// Trails and events it lost, as it says itself, since this program attached …
    pub lost: u64,
    /// … and what stood on its counter then.
    lost_before: Option<u64>,
    /// Losses announced by gap frames that its counter does not contain yet.
    pub gaps: u64,
    /// What its sessions had to ignore.
    pub counts: Counts,
    /// How often another start of the process took the place of this one.
    pub restarts: u64,
}

/// One hub.
#[derive(Clone, Debug)]
pub struct Row {
    /// What the rules look at.
    pub history: History,
    /// Boot id of its process.
    pub boot: String,
    /// Waiting deliveries, one sample a second, oldest first; `None` where nothing was heard.
    pub waiting: VecDeque<Option<u64>>,
    /// Turns and time, one sample a second, for the rate.
    turns: VecDeque<(u64, u64)>,
    /// Since when the hub is gone, µs, if it is.
    pub gone: Option<u64>,
}

/// Names a row: the process and the hub.
pub type RowKey = (TargetId, String);

/// All processes and hubs.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// The processes, in the order they were found.
    pub targets: Vec<Target>,
    /// Their hubs.
    pub rows: BTreeMap<RowKey, Row>,
    /// Monotonic time of this picture, µs.
    pub now: u64,
    /// Wall clock of this picture, µs since the epoch.
    pub wall: i64,
    sampled: u64,
}

impl World {
    /// An empty world at a time.
    pub fn new(now: u64, wall: i64) -> Self {
        World { now, wall, sampled: now, ..World::default() }
    }

    /// Adds a process that was found and returns its number; one that is known keeps its own.
    pub fn add(&mut self, found: Found) -> (TargetId, bool) {
        if let Some(known) = self.targets.iter().position(|t| t.found.socket == found.socket) {
            // A process that ended and is there again has to be attached again.
            let target = &mut self.targets[known];
            let again = target.state == TargetState::Ended;
            if again {
                target.state = TargetState::Connecting;
                target.found = found;
            }
            return (known, again);
        }
        let target = Target {
            found,
            state: TargetState::Connecting,
            hello: None,
            heard: self.now,
            delay: 0,
            lost: 0,
            lost_before: None,
            gaps: 0,
            counts: Counts::default(),
            restarts: 0,
        };
        // A long night sees many processes come and go: once the hubs of one that ended are
        // forgotten, its place is taken again.
        let free = (0..self.targets.len()).find(|&id| self.is_forgotten(id));
        match free {
            Some(id) => {
                self.targets[id] = target;
                (id, true)
            }
            None => {
                self.targets.push(target);
                (self.targets.len() - 1, true)
            }
        }
    }

    /// True for a process that has ended and has no hub left on the screen.
    fn is_forgotten(&self, id: TargetId) -> bool {
        let mut hubs = self.rows.range((id, String::new())..);
        self.targets[id].state == TargetState::Ended
            && hubs.next().is_none_or(|((target, _), _)| *target != id)
    }

    /// Lets time pass: takes the samples that are due and forgets hubs that are long gone.
    pub fn tick(&mut self, now: u64, wall: i64) {
        self.now = self.now.max(now);
        self.wall = wall;
        let now = self.now;
        // After a suspension the missing seconds are holes, as many as the history is long.
        let due = (now.saturating_sub(self.sampled) / 1_000_000).min(HISTORY_SECONDS as u64 + 1);
        for step in 0..due {
            let last = step + 1 == due;
            for ((target, _), row) in &mut self.rows {
                let live = self.targets.get(*target).is_some_and(Target::is_live);
                row.sample(now, live && last && row.gone.is_none());
            }
        }
        self.sampled += now.saturating_sub(self.sampled) / 1_000_000 * 1_000_000;
        self.rows.retain(|_, row| row.gone.is_none_or(|at| now < at + KEEP_GONE_MICROS));
    }

    /// Takes what a connection reported at the current time. An unknown process is ignored.
    pub fn report(&mut self, id: TargetId, report: Report) {
        let Some(target) = self.targets.get_mut(id) else { return };
        match report {
            Report::Down(why) => {
                target.state = TargetState::Down(why);
                self.leave(id, None);
            }
            Report::GivenUp(why) => {
                target.state = TargetState::GivenUp(why);
                self.leave(id, None);
            }
            Report::Ended(_) => {
                target.state = TargetState::Ended;
                self.leave(id, None);
            }
            Report::Events(events, counts) => {
                target.counts = counts;
                target.heard = self.now;
                events.into_iter().for_each(|event| self.event(id, event));
            }
        }
    }

    fn event(&mut self, id: TargetId, event: ClientEvent) {
        let (now, wall) = (self.now, self.wall);
        let Some(target) = self.targets.get_mut(id) else { return };
        match event {
            ClientEvent::Attached(hello, _) => {
                let other = target.hello.as_ref().is_some_and(|old| old.boot != hello.boot);
                target.restarts += u64::from(other);
                if target.hello.is_none() || other {
                    (target.lost, target.lost_before, target.gaps) = (0, None, 0);
                }
                target.hello = Some(*hello);
            }
            ClientEvent::Snapshot(states) => {
                target.state = TargetState::Live;
                let boot = target.hello.as_ref().map(|h| h.boot.clone()).unwrap_or_default();
                self.leave(id, Some(&states));
                states.into_iter().for_each(|state| self.state(id, &boot, state));
            }
            ClientEvent::State(state) => {
                let boot = target.hello.as_ref().map(|h| h.boot.clone()).unwrap_or_default();
                self.state(id, &boot, *state);
            }
            ClientEvent::Removed(hub) => {
                if let Some(row) = self.rows.get_mut(&(id, hub)) {
                    row.gone = Some(now);
                }
            }
            ClientEvent::Heartbeat(beat) => {
                let wall = u64::try_from(wall).unwrap_or(0);
                target.delay = wall.saturating_sub(beat.wall_us);
                let before = *target.lost_before.get_or_insert(beat.lost);
                target.lost = beat.lost.saturating_sub(before);
                target.gaps = 0;
            }
            ClientEvent::Gap(gap) => target.gaps = target.gaps.saturating_add(gap.count),
            // The connection reports its end by itself.
            ClientEvent::Bye(_) | ClientEvent::Refused(_) | ClientEvent::Broken(_) => {}
            // Trails are not asked for here.
            ClientEvent::Fate(..) | ClientEvent::FateGap(_) => {}
        }
    }

    fn state(&mut self, id: TargetId, boot: &str, state: HubState) {
        let now = self.now;
        let key = (id, state.hub.clone());
        match self.rows.get_mut(&key) {
            // Another start of the process is another hub: nothing of the old one is carried over.
            Some(row) if row.boot == boot => {
                row.gone = None;
                row.history.observe(now, state);
            }
            _ => {
                self.rows.insert(key, Row::new(now, boot.to_owned(), state));
            }
        }
    }

    /// Marks the hubs of a process as gone, except those in `but`.
    fn leave(&mut self, id: TargetId, but: Option<&[HubState]>) {
        let now = self.now;
        let still = |hub: &str| but.is_some_and(|states| states.iter().any(|s| s.hub == hub));
        for ((_, hub), row) in self.rows.range_mut((id, String::new())..(id + 1, String::new())) {
            if !still(hub) {
                row.gone.get_or_insert(now);
            }
        }
    }

    /// The rules that hold of a row, worst first. A silent process makes all else about it old, and
    /// a hub that is gone has no warnings of its own.
    pub fn warnings(&self, key: &RowKey, row: &Row) -> Vec<Warning> {
        if row.gone.is_some() {
            return Vec::new();
        }
        let silent = self.silence(key.0);
        let mut found = row.history.warnings(self.now);
        found.extend(stale(&key.1, silent));
        found
    }

    /// For how long nothing was heard of a process, µs.
    pub fn silence(&self, id: TargetId) -> u64 {
        self.targets.get(id).map_or(0, |t| self.now.saturating_sub(t.heard))
    }

    /// The worst delay over all live processes, µs: what its last heartbeat took, or how much
    /// longer than a heartbeat it has been silent.
    pub fn lag(&self) -> u64 {
        let late = |t: &Target| {
            let overdue = self.now.saturating_sub(t.heard).saturating_sub(HEARTBEAT_MICROS);
            t.delay.max(overdue)
        };
        self.targets.iter().filter(|t| t.is_live()).map(late).max().unwrap_or(0)
    }

    /// Everything known to be lost.
    pub fn lost(&self) -> u64 {
        self.targets
            .iter()
            .map(|t| t.lost.saturating_add(t.gaps).saturating_add(t.counts.hubs_dropped))
            .fold(0, u64::saturating_add)
    }
}

impl Target {
    /// True if states arrive.
    pub fn is_live(&self) -> bool {
        self.state == TargetState::Live
    }

    /// Name and process id, for example `demo[4711]`.
    pub fn label(&self) -> String {
        let hello = self.hello.as_ref();
        let name = hello.map(|h| h.name.as_str()).filter(|n| !n.is_empty());
        let pid = hello.map_or(self.found.pid, |h| h.pid);
        format!("{}[{pid}]", name.unwrap_or(&self.found.name))
    }
}

impl Row {
    fn new(now: u64, boot: String, state: HubState) -> Self {
        let history = History::new(now, state);
        let state = history.state();
        let turns = VecDeque::from([(now, state.turns)]);
        let waiting = VecDeque::from([Some(state.main + state.deferred)]);
        Row { history, boot, waiting, turns, gone: None }
    }

    /// The newest state.
    pub fn state(&self) -> &HubState {
        self.history.state()
    }

    fn sample(&mut self, now: u64, seen: bool) {
        let state = self.history.state();
        let (waiting, turns) = (state.main.saturating_add(state.deferred), state.turns);
        self.waiting.push_back(seen.then_some(waiting));
        if self.waiting.len() > HISTORY_SECONDS {
            self.waiting.pop_front();
        }
        if seen {
            self.history.sample(now);
            self.turns.push_back((now, turns));
            if self.turns.len() as u64 > RATE_SECONDS + 1 {
                self.turns.pop_front();
            }
        }
    }

    /// Turns per second over the last few seconds; `None` before there are two samples.
    pub fn turns_per_second(&self) -> Option<f64> {
        let (first, last) = (self.turns.front()?, self.turns.back()?);
        let micros = last.0.checked_sub(first.0).filter(|&m| m > 0)?;
        #[expect(clippy::cast_precision_loss, reason = "a rate is shown with one decimal")]
        let rate = last.1.saturating_sub(first.1) as f64 * 1e6 / micros as f64;
        Some(rate)
    }

    /// True if clearly more deliveries wait than five seconds ago, and not fewer than a second ago: a
    /// backlog that is being worked off does not rise.
    pub fn is_rising(&self) -> bool {
        let mut seen = self.waiting.iter().rev().take(6).flatten();
        match (seen.next(), seen.next(), seen.next_back()) {
            (Some(&now), Some(&before), Some(&then)) => now >= before && now > then + then / 5 + 4,
            _ => false,
        }
    }

    /// Age of the oldest waiting delivery at `now`, µs.
    pub fn oldest(&self, now: u64) -> Option<u64> {
        let state = self.history.state();
        let oldest = state.main_oldest_us.max(state.deferred_oldest_us)?;
        Some(oldest + self.history.since(now))
    }
}

/// The worst severity among warnings.
pub(crate) fn worst(warnings: &[Warning]) -> Option<Severity> {
    warnings.iter().map(|warning| warning.severity).max()
}
