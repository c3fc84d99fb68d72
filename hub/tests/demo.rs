//! The demo as a program: it says where it listens, serves, and leaves nothing behind.
#![cfg(feature = "cli")]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Upper bound of every wait; none takes that long unless it fails.
const LIMIT: Duration = Duration::from_secs(30);

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("fate-demo-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir(&path).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
    path
}

/// Starts the demo and reads where it listens.
fn start(folder: &Path, more: &[&str]) -> (Child, PathBuf) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fate-hub"))
        .args(["run", "--seed", "7", "--dir"])
        .arg(folder)
        .args(more)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let socket = line.trim_end().split_once("listening at ").expect("where it listens").1;
    assert!(line.starts_with("6 hubs, seed 7"), "{line}");
    (child, socket.into())
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn every_signal_ends_it_cleanly() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let folder = folder(&format!("signal-{}", signal.as_raw()));
        let (mut child, socket) = start(&folder, &[]);
        assert!(socket.exists());
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert_eq!(files(&folder), 0, "socket and manifest are gone");
        std::fs::remove_dir(&folder).unwrap();
    }
}

#[test]
fn its_time_is_up_and_watchers_are_told() {
    let folder = folder("time");
    let (mut child, socket) = start(&folder, &["--seconds", "1"]);
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let hello = r#"{"kind":"hello","protocol":"fate-live","version":"1.0"}"#;
    stream.write_all(format!("{hello}\n{{\"kind\":\"subscribe\"}}\n").as_bytes()).unwrap();
    let mut seen = String::new();
    stream.read_to_string(&mut seen).unwrap();
    for hub in ["catalog", "billing", "pricing/eu-1", "ticker", "warehouse/7", "archive"] {
        assert!(seen.contains(&format!(r#""hub":"{hub}""#)), "{hub} in {seen}");
    }
    assert!(seen.trim_end().lines().last().unwrap().contains(r#""reason":"shutdown""#), "{seen}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(files(&folder), 0);
    std::fs::remove_dir(&folder).unwrap();
}

#[test]
fn a_bad_command_line_is_exit_2_and_a_bad_place_exit_3() {
    let code = |args: &[&str]| {
        let program = env!("CARGO_BIN_EXE_fate-hub");
        Command::new(program).args(args).output().unwrap().status.code()
    };
    assert_eq!(code(&[]), Some(2));
    assert_eq!(code(&["run", "--seconds", "x"]), Some(2));
    assert_eq!(code(&["--help"]), Some(0));
    assert_eq!(code(&["run", "--socket", "/nonexistent/x.sock"]), Some(3));
}
