//! `snapshot`, `hubs` and `top` without a terminal, against hubs over real sockets.

mod support;

use std::io::Write;

use fate_trail::live::{Bye, ByeReason, Frame, Hello, HubState, encode};
use support::{fleet, hello, listen, private, run, serve};

#[test]
fn a_table_shows_hubs_gates_and_warnings() {
    let folder = private();
    serve(folder.path(), "demo", hello("b1"), fleet());
    let dir = folder.path().to_str().unwrap();
    let (code, out, err) = run(&["snapshot", "--dir", dir]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for text in [
        "HUB ",
        "orders/7",
        "Initialize  d-19f3",
        "gate init of orders/7: closed for 62.",
        "critical wedged-turn: orders/7: Initialize d-19f3 has made no progress for 41.",
        "warning between-queues: archive: Document archive#67 is in neither queue",
        "demo[4711]",
    ] {
        assert!(out.contains(text), "{text} in\n{out}");
    }
}

#[test]
fn json_keeps_to_its_schema() {
    let folder = private();
    serve(folder.path(), "demo", hello("b1"), fleet());
    let dir = folder.path().to_str().unwrap();
    let (code, out, _) = run(&["snapshot", "--dir", dir, "--format", "json", "orders/*"]);
    assert_eq!(code, 0);
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    let keys =
        |value: &serde_json::Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let sorted = |names: &[&str]| {
        let mut names: Vec<String> = names.iter().map(|&n| n.to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(keys(&value), sorted(&["schema", "hubs", "warnings"]));
    assert_eq!(value["schema"], "fate-snapshot/1");
    let hubs = value["hubs"].as_array().unwrap();
    assert_eq!(hubs.len(), 1, "only what the glob matches");
    let hub = &hubs[0];
    let names =
        ["hub", "boot", "main", "deferred", "running", "between", "gates", "turns", "requeues", "lost"];
    assert_eq!(keys(hub), sorted(&names));
    assert_eq!((&hub["hub"], &hub["boot"]), (&"orders/7".into(), &"b1".into()));
    assert_eq!((&hub["main"], &hub["deferred"], &hub["turns"]), (&318.into(), &12.into(), &88_123.into()));
    assert_eq!(keys(&hub["running"]), sorted(&["delivery", "type", "age_ms", "last_stage"]));
    assert_eq!(hub["running"]["type"], "Initialize");
    assert!(hub["running"]["age_ms"].as_u64().unwrap() >= 41_000);
    assert_eq!(keys(&hub["gates"][0]), sorted(&["name", "closed", "closed_ms", "holding"]));
    assert_eq!((&hub["gates"][1]["closed"], &hub["gates"][1]["closed_ms"]), (&false.into(), &0.into()));
    let warnings = value["warnings"].as_array().unwrap();
    assert_eq!(keys(&warnings[0]), sorted(&["rule", "hub", "since", "text"]));
    let rules: Vec<_> = warnings.iter().map(|w| w["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["wedged-turn", "gate-never-opened"]);
    assert!(fate_trail::time::parse(warnings[0]["since"].as_str().unwrap()).is_some());
}

#[test]
fn a_rule_is_an_exit_code() {
    let folder = private();
    serve(folder.path(), "demo", hello("b1"), fleet());
    let dir = folder.path().to_str().unwrap();
    let code = |rule, glob| run(&["snapshot", "--dir", dir, "--fail-on", rule, glob]).0;
    assert_eq!(code("wedged-turn", "*"), 5);
    assert_eq!(code("between-queues", "*"), 5);
    assert_eq!(code("gate-never-opened", "*"), 5);
    assert_eq!(code("wedged-turn", "billing"), 0);
    assert_eq!(code("stale", "*"), 0);
    assert_eq!(code("no-such-rule", "*"), 2);
}

#[test]
fn nobody_there_is_exit_3_and_says_where_it_looked() {
    let folder = private();
    let dir = folder.path().to_str().unwrap();
    let (code, out, err) = run(&["snapshot", "--dir", dir]);
    assert_eq!((code, out.as_str()), (3, ""));
    assert!(err.contains(dir) && err.contains("cargo hub run"), "{err}");
    assert_eq!(run(&["hubs", "--dir", dir]).0, 3);
    let (code, _, err) = run(&["snapshot", "--socket", "/nonexistent/x.sock"]);
    assert_eq!(code, 3, "{err}");
    std::fs::set_permissions(dir, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (code, _, err) = run(&["snapshot", "--dir", dir]);
    assert!(code == 3 && err.contains("chmod 700"), "{code} {err}");
}

#[test]
fn another_major_is_exit_4_and_names_both_and_the_side_to_upgrade() {
    for (version, upgrade) in [("2.0", "upgrade fate-tui"), ("0.9", "upgrade fate-hub 0.1.0")] {
        let folder = private();
        let hello = Hello { version: version.into(), ..hello("b1") };
        serve(folder.path(), "demo", hello, fleet());
        let (code, _, err) = run(&["snapshot", "--dir", folder.path().to_str().unwrap()]);
        assert_eq!(code, 4, "{err}");
        assert!(err.contains("1.0") && err.contains(version) && err.contains(upgrade), "{err}");
    }
}

#[test]
fn something_else_at_the_socket_is_exit_3() {
    let folder = private();
    let (listener, _) = listen(folder.path(), "demo");
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 \x1b[2JBad Request\r\n\r\n").unwrap();
    });
    let (code, _, err) = run(&["snapshot", "--dir", folder.path().to_str().unwrap()]);
    assert_eq!(code, 3);
    assert!(err.contains("no fate-live hub answers here") && !err.contains('\x1b'), "{err}");
}

#[test]
fn nothing_from_a_socket_reaches_the_terminal_unscrubbed() {
    let folder = private();
    let hostile = HubState { hub: "a\x1b[2J\u{202e}b".into(), ..HubState::default() };
    let mut greeting = hello("b1");
    greeting.name = "demo\x1b]0;title\x07".into();
    serve(folder.path(), "demo", greeting, vec![hostile]);
    let dir = folder.path().to_str().unwrap();
    for args in [
        &["snapshot", "--dir", dir][..],
        &["snapshot", "--dir", dir, "--format", "json"],
        &["hubs", "--dir", dir],
    ] {
        let (code, out, err) = run(args);
        assert_eq!(code, 0, "{err}");
        let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!out.contains(bad) && !err.contains(bad), "{out:?} {err:?}");
    }
}

#[test]
fn top_without_a_terminal_prints_one_snapshot_and_says_so() {
    let folder = private();
    serve(folder.path(), "demo", hello("b1"), fleet());
    let (code, out, err) = run(&["top", "--dir", folder.path().to_str().unwrap()]);
    assert_eq!(code, 0);
    assert!(out.contains("orders/7") && err.contains("not on a terminal"), "{err}");
    assert!(!out.contains('\x1b'));
}

#[test]
fn hubs_lists_processes_and_a_dead_one_is_a_complaint() {
    let folder = private();
    serve(folder.path(), "demo", hello("b1"), fleet());
    drop(listen(folder.path(), "dead"));
    let (code, out, err) = run(&["hubs", "--dir", folder.path().to_str().unwrap()]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("demo") && out.contains("orders/7") && out.contains("fate-hub 0.1.0"), "{out}");
    assert!(err.contains("dead[4711]: the process is gone"), "{err}");
}

#[test]
fn usage_errors_are_exit_2_and_help_is_none() {
    assert_eq!(run(&[]).0, 2);
    assert_eq!(run(&["replay"]).0, 2);
    let (code, out, _) = run(&["--help"]);
    assert!(code == 0 && out.contains("snapshot") && out.contains("5 rule hit"));
}

#[test]
fn a_name_that_matches_nothing_is_no_all_clear() {
    let folder = private();
    serve(folder.path(), "demo", hello("b1"), fleet());
    let dir = folder.path().to_str().unwrap();
    for args in [
        &["snapshot", "--dir", dir, "nosuch*"][..],
        &["snapshot", "--dir", dir, "--fail-on", "wedged-turn", "--format", "json", "nosuch*"],
        &["snapshot", "--dir", dir, "billing", "nosuch*"],
        &["hubs", "--dir", dir, "nosuch*"],
    ] {
        let (code, _, err) = run(args);
        assert_eq!(code, 3, "{args:?}: {err}");
        assert!(err.contains("no hub matches `nosuch*`") && !err.contains("`billing`"), "{err}");
    }
    assert_eq!(run(&["snapshot", "--dir", dir, "demo", "billing"]).0, 0, "a process's name is as good");
    assert_eq!(run(&["snapshot", "--dir", dir, "--fail-on", "wedged-turn", "orders/*", "nosuch*"]).0, 5);
}

#[test]
fn a_process_that_lives_and_cannot_be_looked_at_is_no_all_clear() {
    let folder = private();
    serve(folder.path(), "demo", hello("b1"), fleet());
    let (listener, _) = listen(folder.path(), "full");
    let full = Bye { reason: ByeReason::TooManyClients, text: "8 are attached".into(), boot: String::new() };
    let line = encode(&Frame::Bye(full)).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            stream.unwrap().write_all(line.as_bytes()).unwrap();
        }
    });
    let dir = folder.path().to_str().unwrap();
    let (code, out, err) = run(&["snapshot", "--dir", dir, "--fail-on", "stale"]);
    assert_eq!(code, 3, "{err}");
    assert!(out.contains("orders/7") && err.contains("8 are attached"), "{out}{err}");
    assert_eq!(run(&["hubs", "--dir", dir]).0, 3);
}
