//! Stable stage tokens, an always-on recorder and one-line fate trails.

pub mod clock;
mod level;
pub mod limits;
#[cfg(feature = "live")]
pub mod live;
pub mod scrub;
pub mod stage;
mod sync;
pub mod text;
pub mod time;
mod trail;
pub mod wait;

pub use stage::{Fate, StageId};
pub use trail::{Gap, Level, Reply, Stage, Trail};
