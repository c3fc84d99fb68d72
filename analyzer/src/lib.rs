//! Reads CI logs, counts the runs in which a test demonstrably executed, recovers the order each
//! failure saw, and says by the number of distinct permutations whether it is one fixed reorder or
//! a race window.

pub mod cli;
pub mod complaint;
pub mod contract;
pub mod exit;
pub mod history;
pub mod ingest;
pub mod inspect;
pub mod limits;
pub mod model;
pub mod order;
pub mod report;
pub mod runs;
pub mod source;
pub mod stats;
pub mod verdict;
pub mod window;

#[cfg(feature = "table")]
pub mod table;

pub use cli::{Io, run};
