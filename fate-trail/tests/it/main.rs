//! What the crate promises, looked at from outside.

mod contract;
mod recorder;
mod text;
