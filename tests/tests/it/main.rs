//! The tests that look at the workspace as a whole.

mod cli;
mod contract;
mod corpus;
mod end_to_end;
mod layering;
mod main_job;
mod tidy;
