//! What the tests of the whole share: where things are, how a golden file is compared.
//!
//! `fate-tests` depends on every crate of the workspace and nothing depends on it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder of the workspace.
///
/// # Panics
/// If this package has been moved out of it.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ stands in the workspace").to_owned()
}

/// Every file of the workspace whose name ends with one of `endings`, sorted, as paths relative to it.
/// Build output and version control are left out.
///
/// # Panics
/// If a folder of the workspace cannot be listed.
pub fn files(endings: &[&str]) -> Vec<PathBuf> {
    let root = workspace();
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("folder of the workspace") {
            let path = entry.expect("entry of the workspace").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "target" && name != ".git" {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path.strip_prefix(&root).expect("below the workspace").to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Compares `made` with the golden file `name` of this package, or writes it under `FATE_BLESS=1`.
///
/// # Panics
/// If the two differ, with the first differing line.
pub fn golden(name: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name);
    if std::env::var_os("FATE_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, made).expect("golden file is writable");
        return;
    }
    let kept = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; FATE_BLESS=1 writes it", path.display()));
    if kept == made {
        return;
    }
    let line = kept.lines().zip(made.lines()).take_while(|(left, right)| left == right).count();
    panic!(
        "tests/golden/{name} differs at line {}:\n  kept: {:?}\n  made: {:?}\nFATE_BLESS=1 writes it anew; read the change",
        line + 1,
        kept.lines().nth(line),
        made.lines().nth(line),
    );
}

/// Runs a program to its end without a terminal and without colour.
///
/// # Panics
/// If it cannot be started.
pub fn run(program: &str, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .current_dir(workspace())
        .env("NO_COLOR", "1")
        .env_remove("CLICOLOR_FORCE")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{program} does not start: {error}"))
}
