//! Tests of the protocol: codec and limits, both sessions against a golden transcript, the rules.

mod codec;
mod fates;
mod rules;
mod session;
mod transcript;

use super::{HubState, Running};

/// A hub with a few numbers in it.
pub(super) fn hub(name: &str, main: u64) -> HubState {
    HubState { hub: name.to_owned(), main, ..HubState::default() }
}

/// The same with a running turn of that age in seconds.
pub(super) fn running(name: &str, seconds: u64) -> HubState {
    let turn = Running {
        delivery: "d-1".to_owned(),
        type_name: "Initialize".to_owned(),
        age_us: seconds * 1_000_000,
        last_stage: "HANDLER_ENTER".to_owned(),
    };
    HubState { running: Some(turn), ..hub(name, 3) }
}
