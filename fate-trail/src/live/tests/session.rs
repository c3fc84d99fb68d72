//! Both state machines, alone and against each other.

use super::super::*;
use super::{hub, running};

fn hello() -> Hello {
    Hello {
        protocol: PROTOCOL.into(),
        version: VERSION.to_string(),
        boot: "b1".into(),
        product: "fate-hub 0.1.0".into(),
        ..Hello::default()
    }
}

fn wanted(hubs: &[&str]) -> Wanted {
    let hubs = hubs.iter().map(|&h| h.to_owned()).collect();
    Wanted { product: "fate-tui 0.1.0".into(), hubs, rate: 0 }
}

pub(super) fn piece(line: &str) -> LinePiece {
    LinePiece::Line(line.trim_end().as_bytes().to_vec())
}

fn send(frame: &Frame) -> LinePiece {
    piece(&encode(frame).unwrap())
}

/// A pair that has said hello and subscribed.
fn attached(hubs: &[&str]) -> (ServerSession, ClientSession) {
    let (mut server, mut client) = (ServerSession::new(&hello()), ClientSession::new(wanted(hubs)));
    server.piece(&piece(&client.opening()));
    let events = pump(&mut server, &mut client);
    assert!(matches!(events[..], [ClientEvent::Attached(..)]), "{events:?}");
    (server, client)
}

/// Carries lines both ways until nothing moves.
pub(super) fn pump(server: &mut ServerSession, client: &mut ClientSession) -> Vec<ClientEvent> {
    let mut events = Vec::new();
    while let Some(line) = server.next_line() {
        assert!(line.len() <= MAX_CHUNK + 1, "a line of {} bytes", line.len());
        let step = client.piece(&piece(&line));
        events.extend(step.events);
        step.send.iter().for_each(|line| server.piece(&piece(line)));
    }
    events
}

#[test]
fn a_picture_comes_first_and_then_only_changes() {
    let (mut server, mut client) = attached(&[]);
    assert!(server.wants_picture());
    server.picture(1, 0, &[hub("a", 1), hub("b", 2)]);
    let events = pump(&mut server, &mut client);
    assert_eq!(events, [ClientEvent::Snapshot(vec![hub("a", 1), hub("b", 2)])]);
    server.picture(2, 100_000, &[hub("a", 1), hub("b", 3)]);
    let events = pump(&mut server, &mut client);
    assert_eq!(events, [ClientEvent::State(Box::new(hub("b", 3)))]);
    server.picture(3, 200_000, &[hub("b", 3)]);
    assert_eq!(pump(&mut server, &mut client), [ClientEvent::Removed("a".into())]);
    assert_eq!(client.counts(), Counts::default());
}

#[test]
fn the_newest_state_wins_and_waits_only_once() {
    let (mut server, mut client) = attached(&[]);
    server.picture(1, 0, &[hub("a", 0)]);
    pump(&mut server, &mut client);
    for n in 1..1000 {
        server.picture(1 + n, n * 100_000, &[hub("a", n)]);
    }
    assert_eq!(pump(&mut server, &mut client), [ClientEvent::State(Box::new(hub("a", 999)))]);
}

#[test]
fn at_most_ten_states_a_second() {
    let (mut server, mut client) = attached(&[]);
    server.picture(1, 0, &[hub("a", 0)]);
    pump(&mut server, &mut client);
    let mut sent = 0;
    for ms in 1..=1000 {
        server.picture(1 + ms, ms * 1000, &[hub("a", ms)]);
        sent += pump(&mut server, &mut client).len();
    }
    assert_eq!(sent, 10);
}

#[test]
fn ages_are_refreshed_once_a_second() {
    let (mut server, mut client) = attached(&[]);
    server.picture(1, 0, &[running("a", 0)]);
    pump(&mut server, &mut client);
    server.picture(2, 900_000, &[running("a", 1)]);
    assert!(pump(&mut server, &mut client).is_empty());
    server.picture(3, 1_000_000, &[running("a", 1)]);
    assert_eq!(pump(&mut server, &mut client).len(), 1);
}

#[test]
fn only_subscribed_hubs_are_shown() {
    let (mut server, mut client) = attached(&["orders/*"]);
    server.picture(1, 0, &[hub("orders/1", 0), hub("billing", 0)]);
    let events = pump(&mut server, &mut client);
    assert_eq!(events, [ClientEvent::Snapshot(vec![hub("orders/1", 0)])]);
    server.picture(2, 2_000_000, &[hub("billing", 9)]);
    assert_eq!(pump(&mut server, &mut client), [ClientEvent::Removed("orders/1".into())]);
}

#[test]
fn a_big_fleet_travels_in_chunks() {
    let (mut server, mut client) = attached(&[]);
    let fleet: Vec<_> = (0..5000).map(|n| hub(&format!("hub/{n:0>100}"), n)).collect();
    server.picture(1, 0, &fleet);
    let mut lines = 0;
    let mut events = Vec::new();
    while let Some(line) = server.next_line() {
        lines += 1;
        assert!(line.len() <= MAX_CHUNK, "{} bytes", line.len());
        events.extend(client.piece(&piece(&line)).events);
    }
    assert!(lines > 4, "{lines} chunks");
    assert_eq!(events, [ClientEvent::Snapshot(fleet)]);
}

#[test]
fn losses_and_heartbeats_are_merged_while_they_wait() {
    let (mut server, mut client) = attached(&[]);
    server.picture(1, 0, &[]);
    pump(&mut server, &mut client);
    for n in 2..5 {
        let reason = "recorder-full".to_owned();
        server.gap(Gap { boot: String::new(), from: n, to: n, count: 10, reason });
        server.heartbeat(Heartbeat { seq: n, ..Heartbeat::default() });
    }
    let events = pump(&mut server, &mut client);
    let [ClientEvent::Gap(gap), ClientEvent::Heartbeat(beat)] = &events[..] else { panic!("{events:?}") };
    assert_eq!((gap.from, gap.to, gap.count, beat.seq), (2, 4, 30, 4));
}

#[test]
fn another_major_is_refused_by_both_sides() {
    let mut client = ClientSession::new(wanted(&[]));
    let step = client.piece(&send(&Frame::Hello(Hello { version: "2.0".into(), ..hello() })));
    let [ClientEvent::Refused(refusal)] = &step.events[..] else { panic!("{step:?}") };
    assert!(refusal.to_string().ends_with("upgrade fate-tui 0.1.0"), "{refusal}");
    assert!(client.is_over() && step.send.is_empty());

    let mut server = ServerSession::new(&hello());
    let peer = Hello { version: "2.0".into(), product: "fate-tui 9".into(), ..hello() };
    server.piece(&send(&Frame::Hello(peer)));
    let lines: Vec<_> = std::iter::from_fn(|| server.next_line()).collect();
    assert!(lines.last().unwrap().contains(r#""reason":"version""#), "{lines:?}");
    assert!(lines.last().unwrap().contains("upgrade fate-hub"), "{lines:?}");
    assert!(server.is_over());
}

#[test]
fn a_newer_minor_is_understood() {
    let mut client = ClientSession::new(wanted(&[]));
    let step = client.piece(&send(&Frame::Hello(Hello { version: "1.7".into(), ..hello() })));
    assert!(matches!(&step.events[..], [ClientEvent::Attached(_, v)] if *v == VERSION));
    client.piece(&piece(r#"{"kind":"weather","boot":"b1"}"#));
    assert_eq!(client.counts().unknown_kinds, 1);
}

#[test]
fn two_starts_of_a_process_are_never_blended() {
    let (mut server, mut client) = attached(&[]);
    server.picture(1, 0, &[hub("a", 1)]);
    pump(&mut server, &mut client);
    let other = StateFrame { boot: "b2".into(), seq: 9, hub: hub("a", 77) };
    assert!(client.piece(&send(&Frame::State(other))).events.is_empty());
    assert_eq!(client.counts().other_boot, 1);
    let mut fresh = ServerSession::new(&Hello { boot: "b2".into(), ..hello() });
    fresh.piece(&piece(&client.opening()));
    let subscribe = Subscribe { boot: "b1".into(), ..Subscribe::default() };
    fresh.piece(&send(&Frame::Subscribe(subscribe)));
    assert!(!fresh.wants_picture());
}

#[test]
fn older_states_are_dropped() {
    let (mut server, mut client) = attached(&[]);
    server.picture(5, 0, &[hub("a", 1)]);
    pump(&mut server, &mut client);
    let old = |seq, name| Frame::State(StateFrame { boot: "b1".into(), seq, hub: hub(name, 9) });
    for (seq, name) in [(5, "a"), (4, "a"), (5, "new")] {
        assert!(client.piece(&send(&old(seq, name))).events.is_empty());
    }
    assert_eq!(client.counts().outdated, 3);
    assert_eq!(client.piece(&send(&old(6, "new"))).events.len(), 1);
}

#[test]
fn garbage_ends_a_session_with_a_reason() {
    let mut client = ClientSession::new(wanted(&[]));
    let step = client.piece(&piece("HTTP/1.1 400 Bad Request"));
    assert!(matches!(&step.events[..], [ClientEvent::Broken(_)]), "{step:?}");

    let (mut server, mut client) = attached(&[]);
    for _ in 0..MAX_BAD_LINES {
        server.piece(&piece("\u{1b}[2J"));
        client.piece(&piece("nonsense"));
    }
    assert_eq!(client.counts().bad_lines, MAX_BAD_LINES);
    assert!(client.is_over());
    assert_eq!(server.reason().map(|r| r.0), Some(ByeReason::Protocol));
    let (mut server, _) = attached(&[]);
    server.piece(&LinePiece::TooLong { bytes: MAX_REQUEST + 1 });
    assert_eq!(server.reason().map(|r| r.0), Some(ByeReason::Protocol));
}

#[test]
fn a_full_house_says_goodbye_before_hello() {
    let mut server = ServerSession::new(&hello());
    server.close(ByeReason::TooManyClients, "8 clients are attached");
    let mut client = ClientSession::new(wanted(&[]));
    let events = pump(&mut server, &mut client);
    assert!(matches!(&events[..], [ClientEvent::Bye(b)] if b.reason == ByeReason::TooManyClients));
}

#[test]
fn a_hub_with_an_overlong_name_comes_changes_and_goes_under_one_name() {
    // The second one is within the limit until its characters are made visible.
    for name in ["x".repeat(MAX_NAME + 50), "\u{1b}".repeat(MAX_NAME / 2)] {
        let (mut server, mut client) = attached(&[]);
        server.picture(1, 0, &[hub(&name, 1)]);
        let events = pump(&mut server, &mut client);
        let [ClientEvent::Snapshot(states)] = &events[..] else { panic!("{events:?}") };
        let shown = states[0].hub.clone();
        server.picture(2, 100_000, &[hub(&name, 2)]);
        assert_eq!(pump(&mut server, &mut client), [ClientEvent::State(Box::new(hub(&shown, 2)))]);
        server.picture(3, 200_000, &[]);
        assert_eq!(pump(&mut server, &mut client), [ClientEvent::Removed(shown)]);
        assert_eq!(client.counts(), Counts::default());
    }
}
