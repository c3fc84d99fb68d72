//! The tests that look at the workspace as a whole.

mod cli;
mod contract;
mod end_to_end;
mod layering;
mod main_job;
mod tidy;
