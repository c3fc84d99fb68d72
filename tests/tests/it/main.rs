//! The tests that look at the workspace as a whole.

mod layering;
mod tidy;
