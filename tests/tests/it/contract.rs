//! Interfaces that others wait for as literal text: stage tokens and trail text.

use fate_trail::contract;
use fate_trail::text;

/// The registry of this build against the golden copy, as a crate outside would check it.
#[test]
fn fate_stage_tokens_are_a_contract() {
    let golden = fate_fixtures::data_dir().join("contract/stages.txt");
    if let Err(error) = contract::check_file(&golden, &contract::registry_rows()) {
        panic!("{error}");
    }
}

/// The literal that suites wait for: nothing stands between the token and its hub.
#[test]
fn a_stage_renders_as_token_at_hub() {
    let line = "fate orders/7#1 at=2026-09-06T14:00:00.000000Z ENQUEUED@orders/7(+0.000) n=1 | MAIN_DEPTH@orders/7(+?) depth=1 seq=1 || open";
    let trail = text::parse(line).expect("a line of the documented form");
    let written = text::write(&trail);
    assert!(written.contains(" ENQUEUED@orders/7("), "{written}");
    assert_eq!(written, line);
}
