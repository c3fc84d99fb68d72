//! Folders, globs, links, pipes and what cannot be read.

use std::path::Path;

use super::*;

#[test]
fn a_folder_is_read_sorted_and_hidden_names_are_left_out() {
    let dir = folder();
    let root = dir.path();
    for name in ["b/2.log", "b/1.log", "a.log", "B.log", ".git/config", "b/.hidden"] {
        write(root, name, name);
    }
    let gathered = read(&[root]);
    assert_eq!(
        shown(root, &gathered),
        ["B.log = B.log", "a.log = a.log", "b/1.log = b/1.log", "b/2.log = b/2.log"]
    );
    assert_eq!(gathered.files[2].place.below, "b/1.log");
}

#[test]
fn arguments_keep_their_order_and_a_file_counts_once() {
    let dir = folder();
    let root = dir.path();
    write(root, "z/1.log", "1");
    write(root, "a/2.log", "2");
    let gathered = read(&[&root.join("z/1.log"), root, &root.join("z")]);
    assert_eq!(shown(root, &gathered), ["z/1.log = 1", "a/2.log = 2"]);
    assert_eq!(gathered.files[0].place.below, "", "a file that is named has nothing below it");
}

#[test]
fn the_order_does_not_depend_on_threads() {
    let dir = folder();
    let root = dir.path();
    for number in 0..40 {
        write(root, &format!("{number:02}.log"), number.to_string());
    }
    let one = read_with(&[root], b"", &Options { threads: 1, ..Options::default() });
    let many = read_with(&[root], b"", &Options { threads: 7, ..Options::default() });
    assert_eq!(one.files.len(), 40);
    assert_eq!(shown(root, &one), shown(root, &many));
}

#[test]
fn empty_missing_and_strange_files_are_one_complaint_each() {
    let dir = folder();
    let root = dir.path();
    write(root, "empty.log", "");
    write(root, "good.log", "good");
    let gathered = read(&[root, &root.join("missing.log")]);
    assert_eq!(shown(root, &gathered), ["empty.log ! empty", "good.log = good", "missing.log ! unreadable"]);
}

#[cfg(unix)]
#[test]
fn pipes_sockets_and_devices_are_never_opened() {
    let dir = folder();
    let root = dir.path();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).expect("a socket");
    std::os::unix::fs::symlink("/dev/zero", root.join("zero")).expect("a link");
    let made = std::process::Command::new("mkfifo").arg(root.join("fifo")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo works");
    write(root, "x.log", "x");
    let gathered = read(&[root]);
    assert_eq!(
        shown(root, &gathered),
        ["fifo ! not-a-file", "socket ! not-a-file", "x.log = x", "zero ! not-a-file"]
    );
    assert_eq!(shown(root, &read(&[&root.join("fifo")])), ["fifo ! not-a-file"]);
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_loops_are_said() {
    use std::os::unix::fs::symlink;
    let dir = folder();
    let root = dir.path();
    write(root, "logs/x.log", "x");
    symlink(root.join("logs"), root.join("logs/again")).expect("a link");
    symlink(root.join("nowhere"), root.join("dangling")).expect("a link");
    symlink(root.join("self"), root.join("self")).expect("a link");
    symlink(root.join("logs/x.log"), root.join("same.log")).expect("a link");
    let gathered = read(&[root]);
    assert_eq!(
        shown(root, &gathered),
        ["dangling ! unreadable", "logs/again ! symlink-loop", "logs/x.log = x", "self ! unreadable"],
        "same.log is the same file as logs/x.log"
    );
}

#[cfg(unix)]
#[test]
fn a_folder_without_permission_is_one_complaint() {
    use std::os::unix::fs::PermissionsExt;
    let dir = folder();
    let root = dir.path();
    write(root, "closed/x.log", "x");
    write(root, "open.log", "y");
    std::fs::set_permissions(root.join("closed"), std::fs::Permissions::from_mode(0o000)).expect("closed");
    // The superuser may read everything; then there is nothing to complain about.
    let allowed = std::fs::read_dir(root.join("closed")).is_ok();
    let gathered = read(&[root]);
    std::fs::set_permissions(root.join("closed"), std::fs::Permissions::from_mode(0o755)).expect("open");
    let first = if allowed { "closed/x.log = x" } else { "closed ! unreadable" };
    assert_eq!(shown(root, &gathered), [first, "open.log = y"]);
}

#[test]
fn globs_match_files_and_folders() {
    let dir = folder();
    let root = dir.path();
    for name in ["17/unit/x.log", "17/unit/y.txt", "18/unit/x.log", "x.log", "odd[1].log"] {
        write(root, name, name);
    }
    let glob = |pattern: &str| shown(root, &read(&[&root.join(pattern)]));
    assert_eq!(glob("*/unit/*.log"), ["17/unit/x.log = 17/unit/x.log", "18/unit/x.log = 18/unit/x.log"]);
    assert_eq!(glob("**/y.*"), ["17/unit/y.txt = 17/unit/y.txt"]);
    assert_eq!(glob("1[8-9]"), ["18/unit/x.log = 18/unit/x.log"], "a folder that matches is read");
    assert_eq!(glob("odd[1].log"), ["odd[1].log = odd[1].log"], "a file of that name goes before a glob");
    assert_eq!(glob("*.trx"), ["*.trx ! no-match"]);
    assert_eq!(glob("x[.log"), ["x[.log ! bad-glob"]);
}

#[test]
fn manifests_are_found_and_are_no_files() {
    let dir = folder();
    let root = dir.path();
    for name in ["runs.ndjson", "17/runs.csv", "17/x.log", "18/x.log"] {
        write(root, name, "x");
    }
    let manifests = |path: &Path| -> Vec<String> {
        let gathered = read(&[path]);
        assert!(gathered.files.iter().all(|file| file.place.path.ends_with("x.log")));
        let root = format!("{}/", root.display());
        gathered.manifests.iter().map(|text| text.path.replace(&root, "")).collect()
    };
    assert_eq!(manifests(root), ["17/runs.csv", "runs.ndjson"]);
    assert_eq!(manifests(&root.join("17/x.log")), ["17/runs.csv"], "beside a file that is named");
    assert_eq!(manifests(&root.join("*/x.log")), ["runs.ndjson", "17/runs.csv"]);
    assert_eq!(manifests(&root.join("18")), [""; 0]);
}

#[test]
fn standard_input_is_read_once() {
    let gathered = read_with(&[Path::new("-"), Path::new("-")], b"text", &Options::default());
    assert_eq!(shown(Path::new("/"), &gathered), ["- = text"]);
    let gathered = read_with(&[Path::new("-")], b"", &Options::default());
    assert_eq!(shown(Path::new("/"), &gathered), ["- ! empty"]);
    let gathered = read_with(&[Path::new("-")], &gz(&tar(&[("m", b"1")])), &Options::default());
    assert_eq!(shown(Path::new("/"), &gathered), ["-!m = 1"]);
    let gathered = read_with(&[Path::new("-")], &zip(&[("m", b"1")]), &Options::default());
    assert_eq!(shown(Path::new("/"), &gathered), ["-!m = 1"]);
}
