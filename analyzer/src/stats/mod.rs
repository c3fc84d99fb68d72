//! Statistics over plain numbers: intervals, exact tests, ratios. Every formula names its source.
//!
//! The functions are pure and deterministic; nothing here draws random numbers. What they are used
//! for, with limits and error rates, stands in `docs/verdicts.md`.

pub mod fisher;
pub mod interval;
pub mod plan;
pub mod ratio;
pub mod runs;
pub mod shape;
pub mod special;

#[cfg(test)]
pub(crate) mod rng;
