//! Every limit of the hub, by name and with its reason.

/// Deliveries one hub parks at most while gates are closed; one more is dropped, visibly.
///
/// A gate that never opens must not eat the memory of the process.
pub const MAX_PARKED: usize = 512;

/// Turns one drain runs before it lets other tasks have the thread.
pub const DRAIN_BATCH: usize = 64;

/// Gates one hub may declare.
pub const MAX_GATES: usize = 64;

/// Bytes of a hub's, a gate's or a delivery's name.
pub const MAX_NAME_BYTES: usize = 256;

/// Bytes of an error or panic text that are kept for the trail.
pub const MAX_REASON_BYTES: usize = 200;

/// Queue entries up to which a debug build checks the whole invariant after every change; longer
/// queues are checked at their ends, so that a long backlog does not make tests quadratic.
pub const FULL_CHECK: usize = 128;
