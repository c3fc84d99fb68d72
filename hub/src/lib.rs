//! An actor-style message hub that keeps arrival order through gates, deferral and restore.

mod observe;

pub use observe::{GateState, MAX_LISTED_HUBS, Observe, Registry, RunLevel, Running, Snapshot};
