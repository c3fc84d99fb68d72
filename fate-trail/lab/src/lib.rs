//! Measurements and proofs of `fate-trail` that need other crates or a whole process of their own.
//!
//! They are a package apart so that the library's own tests build in seconds. Nothing here is
//! published, and nothing depends on it.

pub mod adapters;
pub mod delivery;
pub mod peers;
pub mod rounds;
pub mod seal;
