//! Stable stage tokens, an always-on recorder and one-line fate trails.

mod trail;
pub use trail::Trail;
