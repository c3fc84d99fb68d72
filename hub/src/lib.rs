//! An actor-style message hub that keeps arrival order through gates, deferral and restore.

pub mod core;
pub mod limits;
mod observe;
pub mod rt;
pub mod sync;

pub use core::{Envelope, Gate, Kind, Outcome, Refused, SetupError};
pub use observe::{GateState, MAX_LISTED_HUBS, Observe, Registry, RunLevel, Running, Snapshot};
pub use rt::{Builder, Context, Hub};
