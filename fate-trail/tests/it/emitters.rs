//! The one-file emitters for other languages against the golden lines, each run by its own engine.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use fate_trail::text;

use crate::lines::{cases, golden_file};

fn emitters() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("emitters")
}

/// The standard output of a program; `None` where it is not installed.
fn run(engine: &str, command: &mut Command) -> Option<String> {
    let output = match command.output() {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Not `eprintln!`, which a passing test hides. `tests/run` counts these lines.
            let _ = writeln!(io::stderr(), "ABSENT {engine}");
            return None;
        }
        Err(error) => panic!("{command:?}: {error}"),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} ended with {}:\n{said}", output.status);
    Some(String::from_utf8(output.stdout).expect("trail text is ASCII"))
}

/// One printed line for each golden line, then one of a trail that was stamped with the emitter's own clocks.
fn assert_conforms(language: &str, printed: &str) {
    let mut printed = printed.lines();
    for case in cases() {
        assert_eq!(printed.next(), Some(case.line.as_str()), "{language}: {}", case.about);
    }
    let live = printed.next().expect("the live trail");
    let trail = text::parse(live).unwrap_or_else(|error| panic!("{language}: {live}\n{error}"));
    assert_eq!(text::write(&trail), live);
    let offsets: Vec<Option<u64>> = trail.stages.iter().map(|stage| stage.offset).collect();
    assert_eq!((trail.id.as_str(), offsets), ("live", vec![Some(0), None]), "{language}: {live}");
    assert_eq!(printed.next(), None, "{language} prints nothing else");
}

#[test]
fn the_python_emitter_prints_the_golden_lines() {
    let driver = emitters().join("conformance/drive.py");
    if let Some(printed) = run("python3", Command::new("python3").arg(driver).arg(golden_file())) {
        assert_conforms("Python", &printed);
    }
}

#[test]
fn the_javascript_emitter_prints_the_golden_lines() {
    let driver = emitters().join("conformance/drive.mjs");
    if let Some(printed) = run("node", Command::new("node").arg(driver).arg(golden_file())) {
        assert_conforms("JavaScript", &printed);
    }
}

#[test]
fn the_c_sharp_emitter_prints_the_golden_lines() {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fate-trail-drive.exe");
    let out = format!("-out:{}", program.display());
    let sources = ["FateTrail.cs", "conformance/Drive.cs"].map(|name| emitters().join(name));
    let built = run("mono-mcs", Command::new("mcs").arg("-warnaserror").arg(out).args(sources));
    if built.is_some() {
        let printed = run("mono-mcs", Command::new("mono").arg(program).arg(golden_file()));
        if let Some(printed) = printed {
            assert_conforms("C#", &printed);
        }
    }
}
