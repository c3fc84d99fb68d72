//! The command lines as their users see them: help texts as golden files, exit codes as a table.

use fate_tests::{golden, run};
use std::fmt::Write as _;

const ANALYZER: &str = env!("CARGO_BIN_EXE_shim-analyzer");
const HUB: &str = env!("CARGO_BIN_EXE_shim-hub");
const TUI: &str = env!("CARGO_BIN_EXE_shim-tui");

#[test]
fn help_texts_are_golden() {
    let pages: [(&str, &str, &[&[&str]]); 3] = [
        (
            "help-analyzer.txt",
            ANALYZER,
            &[
                &["--help"],
                &["report", "--help"],
                &["inspect", "--help"],
                &["export", "--help"],
                &["contract", "check", "--help"],
            ],
        ),
        ("help-hub.txt", HUB, &[&["--help"], &["run", "--help"]]),
        (
            "help-tui.txt",
            TUI,
            &[&["--help"], &["top", "--help"], &["snapshot", "--help"], &["hubs", "--help"]],
        ),
    ];
    for (name, program, commands) in pages {
        let mut made = String::new();
        for arguments in commands {
            let output = run(program, arguments);
            assert_eq!(output.status.code(), Some(0), "{name} {arguments:?}");
            assert!(output.stderr.is_empty(), "help that was asked for belongs on standard output");
            let _ = writeln!(made, "$ {}\n{}", arguments.join(" "), String::from_utf8_lossy(&output.stdout));
        }
        golden(name, &made);
    }
}

/// Every exit code that this version can give, with a command line that gives it.
#[test]
fn exit_codes_are_the_documented_ones() {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let foreign = scratch.path().join("notes.txt");
    std::fs::write(&foreign, "a shopping list\nmilk\n").expect("a file");
    let foreign = foreign.to_str().expect("a plain path");
    let nobody = scratch.path().join("nobody.sock");
    let nobody = nobody.to_str().expect("a plain path");
    let fixture = "fixtures/data/activation-backlog";
    // The golden lines also hold two tokens of an application, which the registry does not have.
    let (tokens, golden_lines) = ("fixtures/data/contract/stages.txt", "fixtures/data/contract/lines.txt");
    let registered =
        std::fs::read_to_string(fate_tests::workspace().join(tokens)).expect("the registry's list");
    let pinned = scratch.path().join("pinned.txt");
    std::fs::write(&pinned, format!("{registered}orders.reserved\nwork.step\n")).expect("a list");
    let pinned = pinned.to_str().expect("a plain path");
    let table: &[(&str, &[&str], i32)] = &[
        (ANALYZER, &["report", fixture], 0),
        (ANALYZER, &["report", fixture, "--test", "*HeartbeatTest*", "--format", "json"], 0),
        (ANALYZER, &["inspect", fixture], 0),
        (ANALYZER, &[], 2),
        (ANALYZER, &["report"], 2),
        (ANALYZER, &["report", fixture, "--format", "yaml"], 2),
        (ANALYZER, &["report", fixture, "--split-at", "yesterday"], 2),
        (ANALYZER, &["report", fixture, "--test", "*no such test*"], 3),
        (ANALYZER, &["report", foreign], 3),
        (ANALYZER, &["report", fixture, "--floor", "0.5"], 3),
        (ANALYZER, &["inspect", foreign], 3),
        (ANALYZER, &["report", "no/such/folder"], 3),
        (ANALYZER, &["contract", "check", tokens, golden_lines], 1),
        (ANALYZER, &["contract", "check", pinned, golden_lines], 0),
        (ANALYZER, &["contract", "check", "no/such/list", golden_lines], 2),
        (ANALYZER, &["contract", "check", tokens, foreign], 3),
        (HUB, &[], 2),
        (HUB, &["run", "--seconds", "soon"], 2),
        (TUI, &["frobnicate"], 2),
        (TUI, &["snapshot", "--fail-on", "no-such-rule"], 2),
        (TUI, &["snapshot", "--socket", nobody], 3),
    ];
    let mut wrong = Vec::new();
    for (program, arguments, expected) in table {
        let output = run(program, arguments);
        if output.status.code() != Some(*expected) {
            wrong.push(format!(
                "{arguments:?}: {:?} instead of {expected}; standard error:\n{}",
                output.status,
                String::from_utf8_lossy(&output.stderr),
            ));
        }
        if *expected != 0 {
            assert!(!output.stderr.is_empty(), "{arguments:?} fails without a word");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
