//! Finished trails between the two sessions: who gets them, in what numbers, and what loss looks like.

use super::super::*;
use super::session::{piece, pump};
use crate::{Finished, Stage, Trail};

fn hello(features: &[&str]) -> Hello {
    let features = features.iter().map(|&feature| feature.to_owned()).collect();
    let (protocol, version) = (PROTOCOL.to_owned(), VERSION.to_string());
    Hello { protocol, version, boot: "b1".into(), features, ..Hello::default() }
}

/// A pair that has its picture.
fn attached(features: &[&str], hubs: &[&str], follows: bool) -> (ServerSession, ClientSession) {
    let hubs = hubs.iter().map(|&hub| hub.to_owned()).collect();
    let client = ClientSession::new(Wanted { hubs, ..Wanted::default() });
    let mut client = if follows { client.following_fates() } else { client };
    let mut server = ServerSession::new(&hello(features));
    server.piece(&piece(&client.opening()));
    pump(&mut server, &mut client);
    server.picture(1, 0, &[]);
    pump(&mut server, &mut client);
    (server, client)
}

fn trail(id: u64, hub: &str) -> Trail {
    Trail { stages: vec![Stage::new("ENQUEUED", hub).at(0).with("n", id)], ..Trail::new(id.to_string()) }
}

fn offer(server: &mut ServerSession, after: u64, lost: u64, trails: Vec<Trail>) {
    let next = after + lost + trails.len() as u64;
    server.fates(&FateBatch::new(after, &Finished { trails, next, lost }));
}

/// Numbers of trails, and stretches of gaps with their counts.
fn told(events: &[ClientEvent]) -> Vec<String> {
    let tell = |event: &ClientEvent| match event {
        ClientEvent::Fate(seq, trail) => format!("{seq}:{}", trail.id),
        ClientEvent::FateGap(gap) => format!("{}-{} lost {}", gap.from, gap.to, gap.count),
        other => format!("{other:?}"),
    };
    events.iter().map(tell).collect()
}

#[test]
fn only_who_asks_and_is_offered_gets_trails() {
    for (features, follows, gets) in
        [(&[FATES][..], true, true), (&[FATES], false, false), (&[], true, false), (&["else"], true, false)]
    {
        let (mut server, mut client) = attached(features, &[], follows);
        assert_eq!(server.follows_fates(), gets, "{features:?} {follows}");
        offer(&mut server, 5, 0, vec![trail(1, "a")]);
        let events = pump(&mut server, &mut client);
        assert_eq!(told(&events), if gets { vec!["6:1"] } else { vec![] });
        assert_eq!(client.counts(), Counts::default());
    }
}

#[test]
fn trails_of_other_hubs_are_passed_over_without_a_hole() {
    let (mut server, mut client) = attached(&[FATES], &["orders/*"], true);
    let all = ["x", "orders/1", "x", "x", "orders/2"];
    offer(&mut server, 0, 0, all.iter().zip(1..).map(|(hub, id)| trail(id, hub)).collect());
    offer(&mut server, 5, 0, vec![trail(6, "x")]);
    offer(&mut server, 6, 2, vec![trail(9, "x"), trail(10, "orders/1")]);
    let events = pump(&mut server, &mut client);
    assert_eq!(told(&events), ["2:2", "5:5", "6-8 lost 2", "10:10"]);
}

#[test]
fn a_slow_client_gets_the_newest_and_one_gap() {
    let (mut server, mut client) = attached(&[FATES], &[], true);
    let surplus = 10;
    let most = MAX_FATES as u64;
    for id in 1..=most + surplus {
        // A loss in the middle, which the gap reaches.
        let lost = u64::from(id == 5);
        let after = id - 1 + u64::from(id > 5);
        offer(&mut server, after, lost, vec![trail(id, "a")]);
    }
    let events = pump(&mut server, &mut client);
    assert_eq!(events.len(), MAX_FATES + 1);
    let told = told(&events);
    assert_eq!(told[..2], [format!("1-{} lost {}", surplus + 1, surplus + 1), format!("{}:11", surplus + 2)]);
    assert_eq!(told.last(), Some(&format!("{}:{}", most + surplus + 1, most + surplus)));
    assert_eq!(client.counts(), Counts::default());
}

#[test]
fn trails_are_bounded_by_their_bytes_too() {
    let (mut server, mut client) = attached(&[FATES], &[], true);
    let long = |id: u64, bytes: usize| Trail { verdict: Some("x".repeat(bytes)), ..trail(id, "a") };
    let trails = (1..=20).map(|id| long(id, MAX_TRAIL - 200)).chain([long(21, MAX_TRAIL + 1)]).collect();
    offer(&mut server, 0, 0, trails);
    let events = pump(&mut server, &mut client);
    assert_eq!(told(&events)[0], "1-12 lost 12");
    assert_eq!(told(&events)[9..], ["21-21 lost 1"], "one that no frame holds");
    let ClientEvent::Fate(_, trail) = &events[1] else { panic!("{:?}", told(&events)) };
    assert_eq!(**trail, long(13, MAX_TRAIL - 200), "and none was cut");
}

#[test]
fn states_and_trails_take_turns() {
    let (mut server, mut client) = attached(&[FATES], &[], true);
    offer(&mut server, 0, 0, (1..=3).map(|id| trail(id, "a")).collect());
    server.picture(2, 200_000, &[super::hub("a", 1), super::hub("b", 1)]);
    let events = pump(&mut server, &mut client);
    let kinds: String =
        events.iter().map(|e| if matches!(e, ClientEvent::State(_)) { 's' } else { 'f' }).collect();
    assert_eq!(kinds, "sfsff");
}

#[test]
fn a_client_believes_no_hole_no_repetition_and_no_damaged_trail() {
    let (_, mut client) = attached(&[FATES], &[], true);
    let mut feed = |seq: u64, passed: u64, trail: &str| {
        let frame = FateFrame { boot: "b1".into(), seq, passed, trail: trail.to_owned() };
        told(&client.piece(&piece(&encode(&Frame::Fate(frame)).unwrap())).events)
    };
    assert_eq!(feed(4, 0, "fate 7 ENQUEUED@a(+?)"), ["4:7"]);
    assert_eq!(feed(9, 1, "fate 8 ENQUEUED@a(+?)"), ["5-7 lost 3", "9:8"], "a loss nobody told of");
    assert!(feed(9, 0, "fate 8 ENQUEUED@a(+?)").is_empty());
    assert_eq!(feed(10, 0, "no trail\u{1b}[2J"), ["10-10 lost 1"]);
    assert!(feed(3, 7, "fate 8 ENQUEUED@a(+?)").is_empty());
    assert_eq!((client.counts().outdated, client.counts().bad_lines), (1, 2));
    let (_, mut other) = attached(&[FATES], &[], false);
    let unasked = FateFrame { boot: "b1".into(), seq: 1, ..FateFrame::default() };
    assert!(other.piece(&piece(&encode(&Frame::Fate(unasked)).unwrap())).events.is_empty());
    assert_eq!(other.counts().bad_lines, 1);
}
