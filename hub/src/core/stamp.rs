//! Where the core meets the recorder: which stage carries which details, in one place.

use fate_trail::stage::{self, StageId};
use fate_trail::{GateSetId, HubId, Recorder, Start, Storage, SymbolId};

use super::envelope::Kind;
use super::handler::Outcome;
use crate::limits::MAX_REASON_BYTES;
use crate::observe::RunLevel;

/// The recorder as one hub uses it.
pub(super) struct Stamper {
    recorder: Recorder,
    hub: HubId,
    /// What `HANDLER_EXIT` says, interned once.
    processed: SymbolId,
}

/// Stamps a stage that is ordered by its place or its number: no clock is read.
fn put<S: Storage>(stamper: &Stamper, trail: &mut S, stage: StageId, values: &[u64]) {
    // Asked first, so that a recorder that is off costs a comparison and no packing.
    if trail.is_live() {
        trail.stamp(&stamper.recorder, stamper.hub, stage, stage::pack(stage, values));
    }
}

/// Stamps a stage with the time. Reads the clock, so never under T.
fn put_timed<S: Storage>(stamper: &Stamper, trail: &mut S, stage: StageId, values: &[u64]) {
    trail.stamp_timed(&stamper.recorder, stamper.hub, stage, stage::pack(stage, values));
}

/// Stamps a stage with a time that was read before the lock was taken.
fn put_at<S: Storage>(stamper: &Stamper, trail: &mut S, stage: StageId, values: &[u64], now: u64) {
    if trail.is_live() {
        trail.stamp_at(&stamper.recorder, stamper.hub, stage, stage::pack(stage, values), Some(now));
    }
}

/// A count as a detail's number; packing saturates.
fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

impl Stamper {
    pub(super) fn new(recorder: Recorder, hub: &str) -> Self {
        let hub = recorder.hub(hub);
        let processed = recorder.symbol("processed");
        Self { recorder, hub, processed }
    }

    pub(super) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    pub(super) fn gate_set(&self, names: &[&str]) -> GateSetId {
        self.recorder.gate_set(names)
    }

    pub(super) fn symbol(&self, text: &str) -> SymbolId {
        self.recorder.symbol(text)
    }

    pub(super) fn begin<S: Storage>(&self, start: Start) -> S {
        S::start(&self.recorder, start)
    }

    /// A post that a dead hub turned away: in, and out again.
    pub(super) fn refused<S: Storage>(&self, mut trail: S, level: RunLevel) {
        if trail.is_live() {
            let level = self.level(level);
            put_timed(self, &mut trail, stage::RECEIVED, &[level]);
            put(self, &mut trail, stage::DROPPED_SHUTTING_DOWN, &[level]);
        }
        trail.finish(&self.recorder);
    }

    /// Under T.
    pub(super) fn enqueued<S: Storage>(&self, trail: &mut S, n: u64, depth: usize, sequence: u64, now: u64) {
        put_at(self, trail, stage::ENQUEUED, &[n], now);
        put(self, trail, stage::MAIN_DEPTH, &[wide(depth), sequence]);
    }

    /// Under T.
    pub(super) fn turn_start<S: Storage>(&self, trail: &mut S, n: u64, depth: usize, now: u64) {
        put_at(self, trail, stage::TURN_START, &[n, wide(depth)], now);
    }

    pub(super) fn drained<S: Storage>(&self, trail: &mut S) {
        put(self, trail, stage::DEFERRED_DRAINED, &[]);
    }

    pub(super) fn bypass<S: Storage>(&self, trail: &mut S, kind: Kind) {
        if trail.is_live() {
            let reason = self.symbol(kind.as_str()).into();
            put(self, trail, stage::GATE_BYPASS, &[reason]);
        }
    }

    pub(super) fn admitted<S: Storage>(&self, trail: &mut S, gate: SymbolId) {
        put(self, trail, stage::GATE_ADMITTED, &[gate.into()]);
    }

    /// Under T.
    pub(super) fn deferred<S: Storage>(
        &self,
        trail: &mut S,
        n: u64,
        gates: GateSetId,
        depth: usize,
        behind: usize,
    ) {
        put(self, trail, stage::DEFERRED, &[n, gates.into()]);
        put(self, trail, stage::DEFERRED_DEPTH, &[wide(depth), wide(behind)]);
    }

    /// Under T.
    pub(super) fn requeued<S: Storage>(&self, trail: &mut S, n: u64, older: usize) {
        put(self, trail, stage::REQUEUED_IN_ARRIVAL_ORDER, &[n, wide(older)]);
    }

    /// Under T.
    pub(super) fn handler_enter<S: Storage>(&self, trail: &mut S, n: u64) {
        put(self, trail, stage::HANDLER_ENTER, &[n]);
    }

    /// Under T, on the hub's own trail.
    pub(super) fn gate_drain(&self, n: u64, gate: SymbolId, restored: usize, behind: usize, now: u64) {
        self.recorder.hub_stamp(
            self.hub,
            stage::GATE_DRAIN,
            &[n, gate.into(), wide(restored), wide(behind)],
            Some(now),
        );
    }

    /// The end of a turn that had a handler. Answers the time of the end, for the start of the next
    /// turn: the clock is what a trail costs most.
    pub(super) fn ended<S: Storage>(&self, mut trail: S, outcome: &Outcome) -> u64 {
        let now = self.recorder.now();
        match outcome {
            Outcome::Handled => {
                put_at(self, &mut trail, stage::HANDLER_EXIT, &[self.processed.into()], now);
            }
            Outcome::Failed(reason) => {
                let error = self.reason(reason);
                put_at(self, &mut trail, stage::HANDLER_FAULT, &[error], now);
            }
            Outcome::Cancelled => put_at(self, &mut trail, stage::HANDLER_CANCELLED, &[], now),
        }
        trail.finish(&self.recorder);
        now
    }

    pub(super) fn unpack_failed<S: Storage>(&self, mut trail: S, type_name: &str, reason: &str) {
        let values = [self.symbol(type_name).into(), self.reason(reason)];
        put_timed(self, &mut trail, stage::UNPACK_FAILED, &values);
        trail.finish(&self.recorder);
    }

    pub(super) fn backlog_full<S: Storage>(&self, mut trail: S, depth: usize) {
        put_timed(self, &mut trail, stage::DROPPED_GATE_STUCK, &[wide(depth)]);
        trail.finish(&self.recorder);
    }

    pub(super) fn disposing<S: Storage>(&self, mut trail: S, level: RunLevel) {
        let level = self.level(level);
        put_timed(self, &mut trail, stage::NOT_PROCESSED_DISPOSING, &[level]);
        trail.finish(&self.recorder);
    }

    fn level(&self, level: RunLevel) -> u64 {
        self.symbol(level.as_str()).into()
    }

    fn reason(&self, text: &str) -> u64 {
        self.symbol(super::cut(text, MAX_REASON_BYTES)).into()
    }
}
