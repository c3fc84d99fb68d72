//! The golden transcripts, played to both sides. Each stays as it is for good: a later version and an
//! ability that is added have files of their own, and the older ones are still played.

use proptest::prelude::*;

use super::super::*;
use crate::{Finished, Trail};

const V1_0: &str = include_str!("../transcripts/1.0.txt");
/// With finished trails.
const V1_0_FATE: &str = include_str!("../transcripts/1.0-fate.txt");

/// A line of the transcript: who speaks (`H`ub, `C`lient, `@` what the hub's own program does).
fn lines(text: &str) -> impl Iterator<Item = (char, &str)> {
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(|line| {
        let (who, rest) = line.split_once(' ').expect("speaker and text");
        (who.chars().next().expect("a speaker"), rest)
    })
}

fn piece(line: &str) -> LinePiece {
    LinePiece::Line(line.as_bytes().to_vec())
}

#[test]
fn the_client_answers_as_recorded() {
    client_answers(V1_0, |client| client);
    client_answers(V1_0_FATE, ClientSession::following_fates);
}

fn client_answers(text: &str, wish: fn(ClientSession) -> ClientSession) {
    let wanted = Wanted {
        product: "fate-tui 0.1.0".into(),
        hubs: vec!["orders/*".into(), "billing".into()],
        rate: 10,
    };
    let mut client = wish(ClientSession::new(wanted));
    let mut sent = vec![client.opening()];
    let mut events = 0;
    for (_, line) in lines(text).filter(|(who, _)| *who == 'H') {
        let step = client.piece(&piece(line));
        sent.extend(step.send);
        for event in &step.events {
            // A trail prints what travelled.
            let ClientEvent::Fate(_, trail) = event else { continue };
            assert!(line.contains(&format!(r#""trail":"{trail}""#)), "{trail}");
        }
        events += step.events.len();
    }
    let recorded: Vec<String> =
        lines(text).filter(|(who, _)| *who == 'C').map(|(_, line)| format!("{line}\n")).collect();
    assert_eq!(sent, recorded);
    assert_eq!(events, lines(text).filter(|(who, _)| *who == 'H').count());
    assert_eq!(client.counts(), Counts::default());
    assert!(client.is_over());
}

#[test]
fn the_hub_answers_as_recorded() {
    hub_answers(V1_0);
    hub_answers(V1_0_FATE);
}

fn hub_answers(text: &str) {
    let first = lines(text).find(|(who, _)| *who == 'H').expect("the hub's hello").1;
    let Ok(Decoded::Frame(frame, 0)) = decode(first.as_bytes()) else { panic!("{first}") };
    let Frame::Hello(hello) = *frame else { panic!("the first line is a hello") };
    let mut server = ServerSession::new(&hello);
    for (who, text) in lines(text) {
        match who {
            'H' => {
                let line = server.next_line().unwrap_or_default();
                assert_eq!(line.trim_end(), text);
            }
            'C' => server.piece(&piece(text)),
            _ => act(&mut server, text),
        }
    }
    assert!(server.is_over());
}

fn act(server: &mut ServerSession, text: &str) {
    let (what, rest) = text.split_once(' ').expect("an action and its values");
    let value: serde_json::Value = serde_json::from_str(rest).expect("values");
    let number = |key: &str| value[key].as_u64().unwrap_or_default();
    match what {
        "picture" => {
            let hubs: Vec<HubState> = serde_json::from_value(value["hubs"].clone()).expect("hubs");
            server.picture(number("seq"), number("now"), &hubs);
        }
        "heartbeat" => server.heartbeat(Heartbeat {
            seq: number("seq"),
            wall_us: number("wall"),
            mono_us: number("now"),
            ..Heartbeat::default()
        }),
        "gap" => server.gap(Gap {
            boot: String::new(),
            from: number("from"),
            to: number("to"),
            count: number("count"),
            reason: "recorder-full".into(),
        }),
        "fates" => {
            let trails: Vec<String> = serde_json::from_value(value["trails"].clone()).expect("trails");
            let trails: Vec<Trail> = trails.iter().map(|line| line.parse().expect("a trail")).collect();
            let next = number("after") + number("lost") + trails.len() as u64;
            let finished = Finished { trails, next, lost: number("lost") };
            server.fates(&FateBatch::new(number("after"), &finished));
        }
        "close" => server.close(ByeReason::Shutdown, value["text"].as_str().expect("a text")),
        other => panic!("unknown action {other}"),
    }
}

proptest! {
    /// Lines of a real session, damaged and in any order: neither side panics, and what the hub
    /// answers is always a line that the client can read.
    #[test]
    fn damaged_sessions_end_or_go_on(
        picks in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, any::<u16>(), any::<u8>()), 1..40)
    ) {
        let all: Vec<&str> = lines(V1_0).chain(lines(V1_0_FATE)).filter(|(who, _)| *who != '@').map(|(_, line)| line).collect();
        let mut client = ClientSession::new(Wanted::default()).following_fates();
        let mut server = ServerSession::new(&Hello {
            boot: "b".into(),
            features: vec![FATES.into()],
            ..Hello::default()
        });
        for (index, damage, at, byte) in picks {
            let mut bytes = index.get(&all).as_bytes().to_vec();
            let at = usize::from(at) % bytes.len();
            match damage {
                0 => {}
                1 => bytes[at] = byte,
                2 => bytes.truncate(at),
                _ => bytes.insert(at, byte),
            }
            client.piece(&LinePiece::Line(bytes.clone()));
            server.piece(&LinePiece::Line(bytes));
            server.picture(1, 0, &[HubState::default()]);
            server.fates(&FateBatch::new(3, &Finished { trails: vec![Trail::new("7")], next: 5, lost: 1 }));
            while let Some(line) = server.next_line() {
                prop_assert!(matches!(decode(line.trim_end().as_bytes()), Ok(Decoded::Frame(_, 0))));
            }
        }
    }
}
