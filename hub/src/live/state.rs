//! What is served: hub snapshots as frames of the protocol.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use fate_trail::live::{Gate, HubState, Running};
use fate_trail::{Finished, Recorder};

use crate::{Observe, Registry, Snapshot};

/// Where the server gets its pictures from. Called on the server's thread, while at least one client
/// has subscribed; it must not wait for a turn to end.
pub trait Source: Send + 'static {
    /// The state of every hub at this moment, each name once.
    fn states(&self) -> Vec<HubState>;

    /// Trails and events that had to be dropped since the process started.
    fn lost(&self) -> u64 {
        0
    }

    /// The trails that finished after a position, for clients that follow them; `None` where there
    /// are none to follow. See [`Recorder::finished_after`].
    fn fates(&self, _after: u64) -> Option<Finished> {
        None
    }
}

impl Source for Registry {
    fn states(&self) -> Vec<HubState> {
        let hubs = self.numbered();
        let taken: HashSet<&str> = hubs.iter().map(|(hub, _)| hub.name()).collect();
        let shown = |(hub, number): &(Arc<dyn Observe>, u64)| {
            let mut state = state_of(&hub.snapshot());
            // Two hubs of one name would take turns on the screen; the second gets a number.
            if *number > 1 {
                state.hub = numbered(hub.name(), *number, &taken);
            }
            state
        };
        hubs.iter().map(shown).collect()
    }
}

/// A name for the `number`th hub called `name` that no hub has for its own.
fn numbered(name: &str, number: u64, taken: &HashSet<&str>) -> String {
    let mut shown = format!("{name}#{number}");
    while taken.contains(shown.as_str()) {
        shown.push('#');
    }
    shown
}

/// The hubs of a registry, and what their recorder could not keep.
impl Source for (Registry, Recorder) {
    fn states(&self) -> Vec<HubState> {
        self.0.states()
    }

    fn lost(&self) -> u64 {
        self.1.status().untracked
    }

    fn fates(&self, after: u64) -> Option<Finished> {
        Some(self.1.finished_after(after))
    }
}

/// One snapshot as the protocol says it.
pub fn state_of(snapshot: &Snapshot) -> HubState {
    let running = snapshot.running.as_ref();
    HubState {
        hub: snapshot.hub.clone(),
        run_level: snapshot.run_level.as_str().to_owned(),
        age_us: None,
        main: snapshot.main as u64,
        main_oldest_us: snapshot.oldest_main.map(micros),
        deferred: snapshot.deferred as u64,
        deferred_oldest_us: snapshot.oldest_deferred.map(micros),
        running: running.map(|turn| Running {
            delivery: turn.delivery.clone(),
            type_name: turn.kind.clone(),
            age_us: micros(turn.age),
            last_stage: turn.last_stage.to_owned(),
        }),
        between: snapshot.between as u64,
        // The delivery between the queues is the one whose turn was taken last.
        between_us: running.filter(|_| snapshot.between > 0).map(|turn| micros(turn.age)),
        gates: snapshot
            .gates
            .iter()
            .map(|gate| Gate {
                name: gate.name.clone(),
                closed: gate.closed,
                closed_us: micros(gate.closed_for),
                holding: gate.holding as u64,
                never_opened: Some(gate.never_opened),
            })
            .collect(),
        gates_omitted: 0,
        posted: snapshot.posted,
        turns: snapshot.turns,
        requeues: snapshot.requeues,
        lost: 0,
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
