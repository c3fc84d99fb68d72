//! Hub-level stages: what happened to a hub and not to one delivery.

use super::store::{Bounded, StoreStatus};
use crate::limits::{HUB_VALUES, NAMES};
use crate::names::HubId;
use crate::stage::StageId;

/// One hub-level stage as it is recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HubEvent {
    pub(crate) stage: StageId,
    pub(crate) hub: HubId,
    /// Monotonic microseconds.
    pub(crate) time: Option<u64>,
    pub(crate) values: [u64; HUB_VALUES],
}

/// The newest stages of all hubs, and for each hub how many of its own were overwritten.
#[derive(Debug)]
pub(crate) struct HubEvents {
    events: Bounded<HubEvent>,
    /// By the index of the hub's name.
    lost: Vec<u32>,
}

/// Bytes of the counters of one recorder, for the memory bound.
pub(crate) const LOST_BYTES: usize = NAMES * size_of::<u32>();

impl HubEvents {
    pub(crate) fn new(capacity: usize) -> Self {
        HubEvents { events: Bounded::new(capacity), lost: Vec::new() }
    }

    /// Takes all the memory now, so that no later [`push`](HubEvents::push) allocates.
    pub(crate) fn reserve(&mut self) {
        self.events.reserve();
        self.lost.resize(NAMES, 0);
    }

    pub(crate) fn push(&mut self, event: HubEvent) {
        let Some(oldest) = self.events.push(event) else {
            return;
        };
        if let Some(lost) = self.lost.get_mut(usize::from(oldest.hub.index())) {
            *lost = lost.saturating_add(1);
        }
    }

    /// Copies of the kept stages, oldest first, and of the losses by the index of the hub's name.
    pub(crate) fn copy(&self) -> (Vec<HubEvent>, Vec<u32>) {
        (self.events.iter().copied().collect(), self.lost.clone())
    }

    pub(crate) fn status(&self) -> StoreStatus {
        self.events.status()
    }
}
