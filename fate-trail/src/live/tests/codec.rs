//! Codec, limits, globs, versions and the directory check.

use super::super::*;
use super::{hub, running};

fn decoded(line: &str) -> Result<Decoded, CodecError> {
    decode(line.as_bytes())
}

#[test]
fn a_frame_survives_the_wire() {
    let mut state = running("orders/7", 41);
    state.gates.push(Gate { name: "init".into(), closed: true, ..Gate::default() });
    let frame = Frame::State(StateFrame { boot: "b".into(), seq: u64::MAX, hub: state });
    let line = encode(&frame).unwrap();
    assert!(line.contains(r#""seq":"18446744073709551615""#), "ids travel as strings: {line}");
    assert_eq!(decoded(&line), Ok(Decoded::Frame(Box::new(frame), 0)));
}

#[test]
fn unknown_kinds_and_fields_are_counted() {
    assert_eq!(decoded(r#"{"kind":"weather","x":1}"#), Ok(Decoded::Unknown("weather".into())));
    let line = r#"{"kind":"state","boot":"b","seq":"1","new":[1],
        "hub":{"hub":"a","main":1,"deferred":0,"running":null,"between":0,
        "gates":[{"name":"g","closed":true,"closed_us":1,"holding":0,"opened_by":"x"}],
        "turns":0,"requeues":0}}"#;
    let Ok(Decoded::Frame(_, unknown)) = decoded(line) else { panic!("{:?}", decoded(line)) };
    assert_eq!(unknown, 2);
}

#[test]
fn an_unknown_reason_of_a_goodbye_is_still_a_goodbye() {
    let Ok(Decoded::Frame(frame, _)) = decoded(r#"{"kind":"bye","reason":"eclipse"}"#) else {
        panic!("a goodbye is read")
    };
    assert!(matches!(*frame, Frame::Bye(Bye { reason: ByeReason::Other, .. })));
}

#[test]
fn every_kind_is_listed() {
    let frames = [
        Frame::Hello(Hello::default()),
        Frame::Subscribe(Subscribe::default()),
        Frame::Snapshot(SnapshotChunk::default()),
        Frame::State(StateFrame::default()),
        Frame::Removed(Removed::default()),
        Frame::Heartbeat(Heartbeat::default()),
        Frame::Gap(Gap::default()),
        Frame::Bye(Bye { boot: String::new(), reason: ByeReason::Shutdown, text: String::new() }),
        Frame::Fate(FateFrame::default()),
        Frame::FateGap(FateGap::default()),
    ];
    let kinds: Vec<String> = frames
        .iter()
        .map(|f| serde_json::to_value(f).unwrap()["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, Frame::KINDS);
}

#[test]
fn escape_sequences_never_pass_the_codec() {
    let line = r#"{"kind":"bye","reason":"shutdown","text":"a\u001b[2Jb\u009b31m\u202e\u0007"}"#;
    let Ok(Decoded::Frame(frame, _)) = decoded(line) else { panic!("a goodbye is read") };
    let Frame::Bye(bye) = *frame else { panic!("a goodbye") };
    assert!(
        !bye.text.chars().any(|c| c.is_control() || c == '\u{202e}'),
        "nothing a terminal acts on is left: {:?}",
        bye.text
    );
    assert!(bye.text.contains('a') && bye.text.contains('b'));
}

#[test]
fn long_texts_are_cut() {
    let text = "x".repeat(5000);
    let line = format!(r#"{{"kind":"bye","reason":"shutdown","text":"{text}"}}"#);
    let Ok(Decoded::Frame(frame, _)) = decoded(&line) else { panic!("a goodbye is read") };
    let Frame::Bye(bye) = *frame else { panic!("a goodbye") };
    assert_eq!(bye.text.chars().count(), MAX_TEXT + 1);
}

#[test]
fn garbage_is_an_error_and_never_a_panic() {
    for line in ["", "x", "[]", "{}", "1", r#"{"kind":1}"#, r#"{"kind":"state"}"#, "{\"kind\""] {
        assert!(decoded(line).is_err(), "{line}");
    }
    assert!(decode(&[0xff, 0xfe, 0]).is_err());
    let deep = "[".repeat(100_000);
    assert!(decode(deep.as_bytes()).is_err());
    assert!(matches!(decode(&vec![b'x'; MAX_LINE + 1]), Err(CodecError::TooLong { .. })));
}

#[test]
fn lines_are_cut_at_any_byte_and_long_ones_are_thrown_away() {
    let stream = b"one\r\n\n0123456789\ntwo\n0123456789012345";
    for step in 1..stream.len() {
        let mut buffer = LineBuffer::new(8);
        let mut out = Vec::new();
        for part in stream.chunks(step) {
            buffer.feed(part, &mut out);
        }
        let expected = [
            LinePiece::Line(b"one".to_vec()),
            LinePiece::TooLong { bytes: 10 },
            LinePiece::Line(b"two".to_vec()),
        ];
        assert_eq!(out, expected, "in steps of {step}");
        assert!(buffer.is_skipping());
    }
}

#[test]
fn globs() {
    for (pattern, name, expected) in [
        ("*", "", true),
        ("*", "orders/7", true),
        ("orders*", "orders/7", true),
        ("orders/?", "orders/7", true),
        ("orders/?", "orders/12", false),
        ("*/7", "orders/7", true),
        ("*a*b", "xaxbxb", true),
        ("*a*b", "xaxbx", false),
        ("", "", true),
        ("", "x", false),
        ("billing", "billings", false),
    ] {
        assert_eq!(glob_matches(pattern, name), expected, "{pattern} on {name}");
    }
    assert!(!glob_matches(&"*a".repeat(50), &"a".repeat(49)));
}

#[test]
fn versions_name_the_side_to_upgrade() {
    let own: Version = "2.3".parse().unwrap();
    assert_eq!(agree(own, "tui", PROTOCOL, "2.1", "hub"), Ok(Version { major: 2, minor: 1 }));
    assert_eq!(agree(own, "tui", PROTOCOL, "2.9", "hub"), Ok(own));
    let text = agree(own, "tui", PROTOCOL, "1.9", "hub").unwrap_err().to_string();
    assert!(text.contains("2.3") && text.contains("1.9") && text.ends_with("upgrade hub"), "{text}");
    let text = agree(own, "tui", PROTOCOL, "3.0", "hub").unwrap_err().to_string();
    assert!(text.ends_with("upgrade tui"), "{text}");
    assert!(agree(own, "tui", "http", "2.0", "hub").is_err());
    for bad in ["", "1", "1.", ".1", "1.x", "+1.0", "1.0.0", "99999999999.0"] {
        assert!(agree(own, "tui", PROTOCOL, bad, "hub").is_err(), "{bad}");
    }
}

#[test]
fn states_are_bounded() {
    let mut state = hub(&"n".repeat(1000), 0);
    state.gates = vec![Gate { name: "ü".repeat(500), ..Gate::default() }; MAX_GATES + 5];
    let state = state.bounded();
    assert_eq!((state.gates.len(), state.gates_omitted), (MAX_GATES, 5));
    assert_eq!(state.hub.chars().count(), MAX_NAME + 1);
    assert_eq!(state.clone().bounded(), state, "bounding twice changes nothing");
    assert!(serde_json::to_string(&state).unwrap().len() < MAX_CHUNK);
}

#[test]
fn ages_alone_are_no_change() {
    let (a, mut b) = (running("a", 1), running("a", 2));
    assert!(a.same_but_ages(&b));
    b.main += 1;
    assert!(!a.same_but_ages(&b));
}

#[test]
fn the_directory_comes_from_the_environment() {
    let with = |pairs: &'static [(&str, &str)]| {
        directory(|n| pairs.iter().find(|(k, _)| *k == n).map(|(_, v)| v.into()), 7)
    };
    assert_eq!(with(&[]).to_str(), Some("/tmp/fate-trail-7"));
    assert_eq!(with(&[("XDG_RUNTIME_DIR", "/run/u")]).to_str(), Some("/run/u/fate-trail"));
    assert_eq!(with(&[("XDG_RUNTIME_DIR", "")]).to_str(), Some("/tmp/fate-trail-7"));
    let both = [("XDG_RUNTIME_DIR", "/run/u"), ("FATE_LIVE_DIR", "/x")];
    assert_eq!(
        directory(|n| both.iter().find(|(k, _)| *k == n).map(|(_, v)| v.into()), 7).to_str(),
        Some("/x")
    );
}
