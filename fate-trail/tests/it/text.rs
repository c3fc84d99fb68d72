//! Trail text: the documented examples, the round trip, and hostile input.

use fate_trail::text::{self, Form, Value};
use fate_trail::{Gap, Reply, Stage, Trail};
use proptest::prelude::*;

const GRAMMAR: &str = include_str!("../../docs/trail-text.md");

/// The lines of all fenced blocks of a kind, block by block.
fn blocks(kind: &str) -> Vec<Vec<&'static str>> {
    let mut found = Vec::new();
    let mut lines = GRAMMAR.lines();
    while let Some(line) = lines.next() {
        let Some(label) = line.strip_prefix("```").filter(|label| !label.is_empty()) else {
            continue;
        };
        let block = lines.by_ref().take_while(|line| *line != "```").collect();
        if label == kind {
            found.push(block);
        }
    }
    found
}

#[test]
fn the_documented_trails_read_and_write_back_the_same() {
    let examples: Vec<&str> = blocks("trail").concat();
    assert_eq!(examples.len(), 7);
    for line in examples {
        let trail = text::parse(line).unwrap_or_else(|error| panic!("{line}\n{error}"));
        assert_eq!(text::write(&trail), line);
    }
}

#[test]
fn the_documented_log_lines_read_as_documented() {
    let (logs, expected) = (blocks("log"), blocks("reads-as"));
    assert_eq!((logs.len(), expected.len()), (2, 2));
    for (line, expected) in logs.concat().into_iter().zip(expected.concat()) {
        let found: Vec<String> = text::find(line).map(|f| text::write(&f.trail)).collect();
        assert_eq!(found, [expected], "in {line}");
    }
}

#[test]
fn the_documented_version_is_the_code_s() {
    assert!(GRAMMAR.contains(&format!("Grammar version **{}**", text::GRAMMAR_VERSION)));
}

#[test]
fn a_line_may_hold_several_trails() {
    let line = r#"{"a":"fate 1 A@h(+0.000)\nfate 2 B@h(+1.000) || x","b":"fate 3 C@h(+?)"}"#;
    let ids: Vec<String> = text::find(line).map(|found| found.trail.id).collect();
    assert_eq!(ids, ["1", "2", "3"]);
}

#[test]
fn ordinary_log_lines_hold_no_trail() {
    for line in [
        "",
        "it was fate",
        "fate of the order: unknown",
        "fate 7",
        "ERROR@worker something failed",
        "RECEIVED order from bob@example.com",
        "mail USER@HOST.COM → ADMIN@HOST.COM",
        "POST /api/v1/FATE@x (+3ms)",
        "DEFERRED until later -> see NOTES",
        "info: 12 (+4ms) → 13 (+5ms)",
        "cc -DENQUEUED=1 a.c -> a.o",
    ] {
        assert_eq!(text::find(line).next(), None, "{line}");
    }
}

#[test]
fn the_form_is_told() {
    let form = |line| text::find(line).next().map(|found| found.form);
    assert_eq!(form("x fate 1 A@h(+?)"), Some(Form::Canonical));
    assert_eq!(form("x ENQUEUED@h(+1ms) → TURN_START@h(+2ms)"), Some(Form::Dialect));
}

#[test]
fn an_arrow_form_without_times_needs_two_stages() {
    let line = "AWAITING → POSTED target=portal/x → RECEIVED@client/1 → ENQUEUED@client/1";
    let found: Vec<_> = text::find(line).collect();
    assert_eq!(
        text::write(&found[0].trail),
        "fate - AWAITING@-(+?) | POSTED@-(+?) target=portal/x | RECEIVED@client/1(+?) | ENQUEUED@client/1(+?)"
    );
    let at_in_detail = "REPLY_REFUSED_SHUTTING_DOWN parent=mesh/x@Dispose@host/1(+3ms)";
    let found: Vec<_> = text::find(at_in_detail).collect();
    assert_eq!(
        text::write(&found[0].trail),
        "fate - REPLY_REFUSED_SHUTTING_DOWN@host/1(+3.000) parent=mesh/x%40Dispose"
    );
}

#[test]
fn parse_says_what_is_wrong_and_where() {
    let cases = [
        ("", 0, "starts with `fate <id> `"),
        ("hello", 0, "starts with `fate <id> `"),
        ("fate 7", 0, "starts with `fate <id> `"),
        ("  fate 7 nothing", 9, "a stage reads"),
        ("fate 7 A@h(+x)", 10, "is followed by"),
        ("fate 7 A@h(+?) and noise", 15, "is followed by"),
        ("fate 7 A@h(+?) | ", 15, "is followed by"),
    ];
    for (line, at, rule) in cases {
        let error = text::parse(line).expect_err(line);
        assert_eq!(error.at(), at, "{line}: {error}");
        assert!(error.to_string().contains(rule), "{line}: {error}");
    }
    let long = format!("fate 7 A@h(+?) k={}", "x".repeat(fate_trail::limits::TRAIL_BYTES));
    assert!(text::parse(&long).expect_err("too long").to_string().contains("262144 bytes"));
}

#[test]
fn a_trail_that_is_too_long_is_cut_and_said_so() {
    let long = format!("fate 7 A@h(+?) k={} | B@h(+?)", "x".repeat(300_000));
    let found: Vec<_> = text::find(&long).collect();
    assert!(!found[0].complete);
    assert_eq!(found[0].trail.id, "7");
    assert!(text::find("fate 7 A@h(+?)").all(|found| found.complete));
}

#[test]
fn values_keep_lists_and_texts_apart() {
    let list = Value::list(["a,b", "c"]);
    assert_eq!(list.encoded(), "a%2Cb,c");
    assert_eq!(list.elements().collect::<Vec<_>>(), ["a,b", "c"]);
    assert_eq!(Value::text("a,b").elements().collect::<Vec<_>>(), ["a,b"]);
    assert_eq!(Value::from(7).as_number(), Some(7));
    assert_eq!((Value::at_least(7).as_number(), Value::at_least(7).is_lower_bound()), (None, true));
    assert_eq!(Value::text("").as_number(), None);
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[A-Za-z0-9_./-]{0,12}",
        1 => any::<String>(),
        1 => Just("-".to_owned()),
        1 => "[ |@=(),%<>&\"'\\\\→⇒↩#+?-]{0,8}",
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any_text().prop_map(|text| Value::text(&text)),
        prop::collection::vec(any_text(), 0..4).prop_map(Value::list),
        any::<u64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::at_least),
    ]
}

prop_compose! {
    fn any_stage()(
        token in any_text(),
        hub in any_text(),
        offset in prop::option::of(any::<u32>().prop_map(u64::from)),
        details in prop::collection::vec((any_text(), any_value()), 0..4),
    ) -> Stage {
        Stage { token, hub, offset, details }
    }
}

fn any_body() -> impl Strategy<Value = (Vec<Stage>, Option<Gap>)> {
    prop::collection::vec(any_stage(), 0..6).prop_flat_map(|stages| {
        let gap = (0..=stages.len(), 1u64..).prop_map(|(after, count)| Gap { after, count });
        (Just(stages), prop::option::of(gap))
    })
}

prop_compose! {
    fn any_trail()(
        id in any_text(),
        // Years 0000 to 9999, which RFC 3339 can write.
        at in prop::option::of(-62_167_219_200_000_000i64..=253_402_300_799_999_999),
        (stages, gap) in any_body(),
        replies in prop::collection::vec((any::<u32>(), any_body()), 0..3),
        verdict in prop::option::of(any_text()),
    ) -> Trail {
        let replies = replies
            .into_iter()
            .map(|(number, (stages, gap))| Reply { number, stages, gap })
            .collect();
        Trail { id, at, stages, gap, replies, verdict }
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_back_the_same(trail in any_trail()) {
        let line = text::write(&trail);
        prop_assert!(line.bytes().all(|b| b == b' ' || b.is_ascii_graphic()), "{line}");
        let read = text::parse(&line);
        prop_assert_eq!(read.as_ref(), Ok(&trail), "{}", line);
    }

    #[test]
    fn it_is_found_wherever_it_stands(
        trail in any_trail(),
        before in "[ a-z:0-9\\[\\]]{0,20}",
        wrap in 0usize..4,
    ) {
        let line = text::write(&trail);
        let escaped = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let json = line.replace('\\', "\\\\").replace('"', "\\\"").replace('<', "\\u003c");
        let log = match wrap {
            0 => format!("{before} {line}"),
            1 => format!("{before} {line}\r\n"),
            2 => format!("<out time=\"1\">{escaped}</out>"),
            _ => format!("{{\"msg\":\"{json}\",\"n\":1}}"),
        };
        let found: Vec<Trail> = text::find(&log).map(|found| found.trail).collect();
        prop_assert_eq!(&found, &[trail], "{}", log);
        let bytes: Vec<Trail> = text::find_bytes(log.as_bytes()).map(|found| found.trail).collect();
        prop_assert_eq!(found, bytes);
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = text::find_bytes(&bytes).count();
    }

    #[test]
    fn any_trail_like_text_is_answered(
        parts in prop::collection::vec(
            prop_oneof![
                Just("fate "), Just("7 "), Just("at="), Just("ENQUEUED"), Just("RECEIVED "), Just("@"),
                Just("h"), Just("(+"), Just("1.5"), Just("?"), Just("ms"), Just(")"), Just(" "),
                Just("|"), Just("||"), Just("→"), Just(" → "), Just(" ⇒ "), Just(" <- "), Just("reply#1"),
                Just(" ↩ reply#1: "), Just("k=v"), Just("gap=3"), Just("%2"), Just("%41"), Just("&gt;"),
                Just("\\u2192"), Just("\\"), Just("\n"), Just("\""), Just("[a, b]"), Just("…"), Just("é"),
            ],
            0..60,
        ),
    ) {
        let line = parts.concat();
        for found in text::find(&line) {
            // What was read can be written, and then reads the same.
            let written = text::write(&found.trail);
            let read = text::parse(&written);
            prop_assert_eq!(read.as_ref(), Ok(&found.trail), "{} in {}", written, line);
        }
        let _ = text::parse(&line);
    }
}
