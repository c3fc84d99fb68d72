//! Warning rules in words: pure functions over what was observed of one hub and a clock.
//!
//! Times are microseconds of the observer's own monotonic clock. Nothing here reads a clock, so the
//! same rules run live, over a recording and in a test.

use std::collections::VecDeque;

use super::{Gate, HubState, STALE_MICROS};

/// A turn without progress is wedged after this long (µs) …
pub const WEDGED_MICROS: u64 = 5_000_000;
/// … and critical after this long (µs).
pub const WEDGED_CRITICAL_MICROS: u64 = 30_000_000;
/// A delivery may be in neither queue, without a handler, for this long (µs).
pub const BETWEEN_MICROS: u64 = 1_000_000;
/// A gate may stay closed from the start, with deliveries parked behind it, for this long (µs) …
pub const GATE_MICROS: u64 = 10_000_000;
/// … and is critical after this long (µs).
pub const GATE_CRITICAL_MICROS: u64 = 60_000_000;
/// Distance of the samples that show whether the deferred queue grows (µs).
pub const SAMPLE_MICROS: u64 = 1_000_000;
/// Steps between samples that are looked at, and …
pub const GROWTH_STEPS: usize = 6;
/// … how many of them must rise.
pub const GROWTH_RISES: usize = 5;

/// A rule, by the name that is written on command lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// The running turn makes no progress.
    WedgedTurn,
    /// A delivery was taken from its queue and has no handler yet.
    BetweenQueues,
    /// A gate has been closed since the hub started, and deliveries wait for it.
    GateNeverOpened,
    /// The deferred queue rises sample by sample and no gate opens.
    DeferredGrowing,
    /// Nothing was heard of the process; everything else about it is old.
    Stale,
}

impl Rule {
    /// All rules, in the order of help texts.
    pub const ALL: [Rule; 5] =
        [Rule::WedgedTurn, Rule::BetweenQueues, Rule::GateNeverOpened, Rule::DeferredGrowing, Rule::Stale];

    /// The name on command lines and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Rule::WedgedTurn => "wedged-turn",
            Rule::BetweenQueues => "between-queues",
            Rule::GateNeverOpened => "gate-never-opened",
            Rule::DeferredGrowing => "deferred-growing",
            Rule::Stale => "stale",
        }
    }

    /// The rule of that name.
    pub fn from_name(name: &str) -> Option<Rule> {
        Rule::ALL.into_iter().find(|rule| rule.as_str() == name)
    }

    /// One line on when it raises, for help texts.
    pub fn meaning(self) -> &'static str {
        match self {
            Rule::WedgedTurn => "the running turn made no progress for 5 s (critical: 30 s)",
            Rule::BetweenQueues => "a delivery was in neither queue and had no handler for 1 s",
            Rule::GateNeverOpened => {
                "a gate was closed since the hub started, with deliveries waiting for it, for 10 s \
                 (critical: 60 s)"
            }
            Rule::DeferredGrowing => {
                "the deferred queue rose in 5 of 6 samples a second apart and no gate opened"
            }
            Rule::Stale => "nothing was heard of the process for 3 s",
        }
    }

    /// True if one look at a hub is not enough to decide the rule.
    pub fn needs_samples(self) -> bool {
        self == Rule::DeferredGrowing
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Somebody should look.
    Warn,
    /// Nothing moves any more.
    Critical,
}

impl Severity {
    /// The word shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Warn => "warning",
            Severity::Critical => "critical",
        }
    }
}

/// A rule that holds of a hub now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Which rule.
    pub rule: Rule,
    /// How bad.
    pub severity: Severity,
    /// Name of the hub.
    pub hub: String,
    /// For how long it has been the case, µs before the time of asking.
    pub for_micros: u64,
    /// One sentence with the evidence.
    pub text: String,
}

/// What was observed of one hub, as far as the rules need it.
#[derive(Clone, Debug, Default)]
pub struct History {
    state: HubState,
    /// When `state` arrived.
    at: u64,
    /// When the running turn was last seen to move; below zero if before the clock's start.
    progress: i64,
    /// Deferred depth, a sample each [`SAMPLE_MICROS`], oldest first.
    samples: VecDeque<u64>,
    sampled: u64,
    /// When the growth was noticed and how high the queue went since.
    growing: Option<(u64, u64)>,
}

impl History {
    /// Starts with a first state that arrived at `now`.
    pub fn new(now: u64, state: HubState) -> Self {
        let state = state.bounded();
        let mut history =
            History { at: now, progress: began(now, &state), sampled: now, state, ..History::default() };
        history.samples.push_back(history.state.deferred);
        history
    }

    /// The newest state, as it arrived.
    pub fn state(&self) -> &HubState {
        &self.state
    }

    /// Time since the newest state arrived, µs.
    pub fn since(&self, now: u64) -> u64 {
        now.saturating_sub(self.at)
    }

    /// Time since the running turn was last seen to move, µs.
    pub fn without_progress(&self, now: u64) -> u64 {
        signed(now).saturating_sub(self.progress).unsigned_abs()
    }

    /// Takes a newer state that arrived at `now`.
    pub fn observe(&mut self, now: u64, state: HubState) {
        let state = state.bounded();
        self.sample(now);
        let moved = match (&self.state.running, &state.running) {
            (Some(old), Some(new)) => {
                old.delivery != new.delivery
                    || old.last_stage != new.last_stage
                    || self.state.turns != state.turns
            }
            _ => true,
        };
        if moved {
            // A turn that began between two states began with its own age.
            let same = matches!((&self.state.running, &state.running),
                (Some(old), Some(new)) if old.delivery == new.delivery);
            self.progress = if same { signed(now) } else { began(now, &state) };
        }
        let opened = |old: &Gate| old.closed && state.gates.iter().any(|g| g.name == old.name && !g.closed);
        if self.state.gates.iter().any(opened) {
            self.samples.clear();
            self.growing = None;
        }
        self.state = state;
        self.at = now;
        self.note_growth(now);
    }

    /// Brings the samples up to `now`; call it also when no state arrives, because a hub that
    /// stands still sends nothing new.
    pub fn sample(&mut self, now: u64) {
        let mut due = now.saturating_sub(self.sampled) / SAMPLE_MICROS;
        self.sampled += due * SAMPLE_MICROS;
        due = due.min(GROWTH_STEPS as u64 + 1);
        for _ in 0..due {
            self.samples.push_back(self.state.deferred);
            if self.samples.len() > GROWTH_STEPS + 1 {
                self.samples.pop_front();
            }
        }
        self.note_growth(now);
    }

    fn note_growth(&mut self, now: u64) {
        let depth = self.state.deferred;
        if let Some((_, peak)) = &mut self.growing {
            *peak = (*peak).max(depth);
            if depth < peak.div_ceil(2) {
                self.growing = None;
                self.samples.clear();
            }
            return;
        }
        if self.samples.len() <= GROWTH_STEPS {
            return;
        }
        let rises = self.samples.iter().zip(self.samples.iter().skip(1)).filter(|(a, b)| a < b);
        if rises.count() >= GROWTH_RISES {
            let began = now.saturating_sub(GROWTH_STEPS as u64 * SAMPLE_MICROS);
            self.growing = Some((began, depth));
        }
    }

    /// Every rule that holds at `now`, worst first.
    pub fn warnings(&self, now: u64) -> Vec<Warning> {
        let waited = self.since(now);
        let mut found: Vec<Warning> = [
            wedged_turn(&self.state, waited, self.without_progress(now)),
            between_queues(&self.state, waited),
            deferred_growing(&self.state, self.growing.map(|(began, _)| now.saturating_sub(began))),
        ]
        .into_iter()
        .flatten()
        .chain(self.state.gates.iter().filter_map(|g| gate_never_opened(&self.state, g, waited)))
        .collect();
        found.sort_by_key(|w| (std::cmp::Reverse(w.severity), w.rule));
        found
    }
}

/// Raises when the running turn made no progress for [`WEDGED_MICROS`]. `waited`: µs since the state
/// arrived, `still`: µs since the turn was last seen to move.
pub fn wedged_turn(state: &HubState, waited: u64, still: u64) -> Option<Warning> {
    let turn = state.running.as_ref().filter(|_| state.between == 0)?;
    let age = turn.age_us + waited;
    let still = still.min(age);
    let severity = level(still, WEDGED_MICROS, WEDGED_CRITICAL_MICROS)?;
    let mut text = format!(
        "{} {} has made no progress for {}",
        turn.type_name,
        turn.delivery,
        sentence_of_duration(still)
    );
    if !turn.last_stage.is_empty() {
        text.push_str(&format!(", last stage {}", turn.last_stage));
    }
    text.push_str(&match (state.main, state.deferred) {
        (0, 0) => "; nothing waits behind it".to_owned(),
        (main, 0) => format!("; {main} wait behind it"),
        (main, deferred) => format!("; {main} wait behind it and {deferred} are deferred"),
    });
    Some(warning(Rule::WedgedTurn, severity, state, still, text))
}

/// Raises when a delivery has been in neither queue and without a handler for [`BETWEEN_MICROS`].
pub fn between_queues(state: &HubState, waited: u64) -> Option<Warning> {
    if state.between == 0 {
        return None;
    }
    let since = state.between_us? + waited;
    let severity = level(since, BETWEEN_MICROS, WEDGED_CRITICAL_MICROS)?;
    let who = state
        .running
        .as_ref()
        .map_or_else(|| "a delivery".to_owned(), |t| format!("{} {}", t.type_name, t.delivery));
    let text = format!(
        "{who} is in neither queue: taken out {} ago and no handler has it yet",
        sentence_of_duration(since)
    );
    Some(warning(Rule::BetweenQueues, severity, state, since, text))
}

/// Raises when `gate` has been closed since the hub started for [`GATE_MICROS`] and something waits
/// for it.
pub fn gate_never_opened(state: &HubState, gate: &Gate, waited: u64) -> Option<Warning> {
    if !gate.closed || gate.holding == 0 || gate.never_opened != Some(true) {
        return None;
    }
    let closed = gate.closed_us + waited;
    let severity = level(closed, GATE_MICROS, GATE_CRITICAL_MICROS)?;
    let text = format!(
        "gate `{}` has never been opened: closed for {} and holding {}",
        gate.name,
        sentence_of_duration(closed),
        gate.holding
    );
    Some(warning(Rule::GateNeverOpened, severity, state, closed, text))
}

/// Raises when the caller saw the deferred queue grow; `growing` is for how long, µs.
pub fn deferred_growing(state: &HubState, growing: Option<u64>) -> Option<Warning> {
    let since = growing?;
    let gates: Vec<&str> = state.gates.iter().filter(|g| g.closed).map(|g| g.name.as_str()).collect();
    let behind =
        if gates.is_empty() { String::new() } else { format!(" behind closed gate {}", gates.join(", ")) };
    let text = format!(
        "the deferred queue keeps growing{behind}: {} after {}",
        state.deferred,
        sentence_of_duration(since)
    );
    Some(warning(Rule::DeferredGrowing, Severity::Warn, state, since, text))
}

/// Raises when nothing was heard of a process for [`STALE_MICROS`]; `silent` is for how long, µs.
pub fn stale(hub: &str, silent: u64) -> Option<Warning> {
    (silent >= STALE_MICROS).then(|| Warning {
        rule: Rule::Stale,
        severity: Severity::Warn,
        hub: hub.to_owned(),
        for_micros: silent,
        text: format!("nothing heard for {}; what is shown is that old", sentence_of_duration(silent)),
    })
}

/// When the running turn of a state began.
fn began(now: u64, state: &HubState) -> i64 {
    let age = state.running.as_ref().map_or(0, |turn| turn.age_us);
    signed(now).saturating_sub(signed(age))
}

fn signed(micros: u64) -> i64 {
    i64::try_from(micros).unwrap_or(i64::MAX)
}

fn level(value: u64, warn: u64, critical: u64) -> Option<Severity> {
    match value {
        v if v >= critical => Some(Severity::Critical),
        v if v >= warn => Some(Severity::Warn),
        _ => None,
    }
}

fn warning(rule: Rule, severity: Severity, state: &HubState, since: u64, text: String) -> Warning {
    Warning { rule, severity, hub: state.hub.clone(), for_micros: since, text }
}

/// A duration as people say it, never wider than six characters: `3ms`, `41.2s`, `12m05s`, `3h07m`,
/// `5d03h`.
pub fn sentence_of_duration(micros: u64) -> String {
    let seconds = micros / 1_000_000;
    match seconds {
        0 => format!("{}ms", micros / 1000),
        1..=99 => format!("{}.{}s", seconds, micros % 1_000_000 / 100_000),
        100..=3599 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600..=86_399 => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
        86_400..=8_639_999 => format!("{}d{:02}h", seconds / 86_400, seconds % 86_400 / 3600),
        _ => ">99d".to_owned(),
    }
}
