//! The README shows what is printed: every block that begins with `$ fate-analyzer …` is run and compared.

use std::ffi::OsString;

use fate_analyzer::cli::{Io, run};

/// The blocks of the README that show a command and its output.
fn blocks(readme: &str) -> Vec<(&str, &str)> {
    readme
        .split("```\n")
        .filter_map(|block| block.strip_prefix("$ fate-analyzer ")?.split_once('\n'))
        .collect()
}

/// What the command prints, run as if in the folder of the workspace.
fn printed(command: &str) -> String {
    let data = fate_fixtures::data_dir();
    let words = command.split_whitespace().map(|word| match word.strip_prefix("fixtures/data/") {
        Some(below) => data.join(below).into_os_string(),
        None => OsString::from(word),
    });
    let mut out = Vec::new();
    let code = run(
        std::iter::once(OsString::from("fate-analyzer")).chain(words),
        &mut Io::new(&mut out, std::io::sink()),
    );
    assert_eq!(code, 0, "{command}");
    String::from_utf8(out).unwrap()
}

#[test]
fn every_command_prints_what_the_readme_shows() {
    let readme = include_str!("../README.md");
    let blocks = blocks(readme);
    assert!(blocks.len() >= 2, "the README shows its commands");
    for (command, shown) in blocks {
        let printed = printed(command);
        let mut rest = printed.as_str();
        for part in shown.split("[…]\n").filter(|part| !part.is_empty()) {
            let at = rest.find(part).unwrap_or_else(|| {
                panic!("`fate-analyzer {command}` does not print\n{part}\nbut\n{printed}");
            });
            rest = &rest[at + part.len()..];
        }
    }
}
