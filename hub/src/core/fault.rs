//! The defects this hub exists to exclude, as types that a test can put in.
//!
//! A fault is a type parameter of [`Core`](super::Core), not a feature: features are united across
//! a build, so a feature could change the hub of somebody who never asked for it. A hub made
//! without naming a fault is [`Sound`], and every check of a fault is a constant.

/// Which halves of the arrival-order rules are in force.
///
/// Implemented here and by whoever wants to see a further defect fail; a product never does.
pub trait Fault: Send + Sync + 'static {
    /// The restore puts the parked turns behind the waiting ones instead of ahead of them.
    const RESTORE_APPENDS: bool = false;
    /// The gate is removed before the parked turns are restored instead of after.
    const REMOVE_BEFORE_RESTORE: bool = false;
    /// A turn looks for older work ahead of it before it is handled or parked.
    const BARRIER: bool = true;
}

/// No fault: the hub that users get.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sound;
impl Fault for Sound {}

/// Parked turns are restored at the wrong end: three messages run as `B, C, A`.
///
/// The barrier is off as well, as it was where this defect lived: with it, the first turn that
/// would overtake notices, and the order is the less telling `B, A, C`.
#[derive(Clone, Copy, Debug, Default)]
pub struct RestoreAppends;
impl Fault for RestoreAppends {
    const RESTORE_APPENDS: bool = true;
    const BARRIER: bool = false;
}

/// The gate is gone while its backlog is still parked: a running turn sees no reason to wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct RemoveBeforeRestore;
impl Fault for RemoveBeforeRestore {
    const REMOVE_BEFORE_RESTORE: bool = true;
}

/// A turn taken from the queue before a restore runs ahead of what was restored.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoBarrier;
impl Fault for NoBarrier {
    const BARRIER: bool = false;
}
