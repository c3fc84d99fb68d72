//! Rules of the source itself that no compiler checks.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a source folder") {
        let path = entry.expect("a folder entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The core must run unchanged under a model checker, which sees only what goes through `sync`.
#[test]
fn the_core_synchronises_through_the_facade_alone() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/core");
    let files = sources(&core);
    assert!(files.len() >= 8, "the core is here: {files:?}");
    let forbidden = ["std::sync", "std::thread", "thread_local", "Instant", "tokio"];
    for file in files {
        let text = fs::read_to_string(&file).expect("readable source");
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            for word in forbidden {
                assert!(
                    !code.contains(word),
                    "{}:{}: {word} in the core: use crate::sync, or keep it in the shell",
                    file.display(),
                    number + 1,
                );
            }
        }
    }
}
