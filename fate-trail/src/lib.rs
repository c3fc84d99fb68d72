//! Stable stage tokens, an always-on recorder and one-line fate trails.

pub mod clock;
pub mod contract;
mod entry;
mod id;
mod level;
pub mod limits;
#[cfg(feature = "live")]
pub mod live;
mod names;
mod recorder;
pub mod scrub;
pub mod stage;
mod sync;
pub mod text;
pub mod time;
mod trail;
pub mod wait;

pub use clock::{Clock, ManualClock, SystemClock};
pub use entry::Entry;
pub use id::DeliveryId;
pub use names::{GateSetId, HubId, SymbolId};
pub use recorder::{
    Drained, Handle, Inline, Off, Recorder, RecorderConfig, RingRecord, RingStatus, Status, Storage,
    StoreStatus,
};
pub use stage::{Fate, StageId};
pub use trail::{Gap, Level, Reply, Stage, Trail};
