//! The golden lines that producers in any language must print: what stands in the file is what this
//! crate writes, reads and ranks, and what every emitter prints.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use fate_trail::limits::{HEAD_ENTRIES, TAIL_ENTRIES};
use fate_trail::text::{self, Value};
use fate_trail::{Gap, Level, Reply, Stage, Trail};

/// One case of the golden lines.
pub(crate) struct Case {
    pub(crate) level: String,
    pub(crate) about: String,
    pub(crate) trail: Trail,
    pub(crate) line: String,
}

pub(crate) fn golden_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/data/contract/lines.txt")
}

pub(crate) fn cases() -> Vec<Case> {
    read(&fs::read_to_string(golden_file()).expect("the golden lines"))
}

fn read(file: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        // The expected line is taken as it is; everything else has its own escapes.
        if let (Some(case), Some(expected)) = (cases.last_mut(), line.strip_prefix("line\t")) {
            case.line = expected.to_owned();
            continue;
        }
        let fields: Vec<String> = line.split('\t').map(unescape).collect();
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        if let ["case", level, about] = fields[..] {
            let [level, about] = [level, about].map(str::to_owned);
            cases.push(Case { level, about, trail: Trail::default(), line: String::new() });
            continue;
        }
        step(&mut cases.last_mut().expect("a case first").trail, &fields);
    }
    for case in &mut cases {
        case.trail.gap = keep(&mut case.trail.stages);
        for reply in &mut case.trail.replies {
            reply.gap = keep(&mut reply.stages);
        }
    }
    cases
}

fn step(trail: &mut Trail, fields: &[&str]) {
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("a number in {fields:?}"));
    match *fields {
        ["id", id] => trail.id = id.to_owned(),
        ["at", at] => trail.at = Some(at.parse().expect("microseconds")),
        ["stage", offset, token, hub] => {
            let offset = (offset != "?").then(|| number(offset));
            stages(trail).push(Stage { offset, ..Stage::new(token, hub) });
        }
        ["detail", key, ref elements @ ..] => {
            last(trail).details.push((key.to_owned(), Value::list(elements)));
        }
        ["atleast", key, value] => {
            last(trail).details.push((key.to_owned(), Value::at_least(number(value))));
        }
        ["reply", value] => {
            let number = value.parse().expect("the number of the reply");
            trail.replies.push(Reply { number, ..Reply::default() });
        }
        ["verdict", verdict] => trail.verdict = Some(verdict.to_owned()),
        _ => panic!("no such step: {fields:?}"),
    }
}

fn stages(trail: &mut Trail) -> &mut Vec<Stage> {
    match trail.replies.last_mut() {
        Some(reply) => &mut reply.stages,
        None => &mut trail.stages,
    }
}

fn last(trail: &mut Trail) -> &mut Stage {
    stages(trail).last_mut().expect("a detail stands behind its stage")
}

/// Drops the middle as a recorder does.
fn keep(stages: &mut Vec<Stage>) -> Option<Gap> {
    let missing = stages.len().saturating_sub(HEAD_ENTRIES + TAIL_ENTRIES);
    if missing > 0 {
        stages.drain(HEAD_ENTRIES..HEAD_ENTRIES + missing);
    }
    (missing > 0).then_some(Gap { after: HEAD_ENTRIES, count: missing as u64 })
}

fn unescape(field: &str) -> String {
    let mut out = String::new();
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('\\') => '\\',
                other => panic!("`\\{other:?}` is no escape, in {field}"),
            },
            c => c,
        });
    }
    out
}

/// With `FATE_BLESS=1`, writes the lines of cases that have none yet; never changes one.
#[test]
fn golden_lines_are_what_this_crate_writes() {
    let mut missing = String::new();
    for case in cases() {
        let written = text::write(&case.trail);
        if case.line.is_empty() {
            writeln!(missing, "{}", case.about).expect("a string");
            continue;
        }
        assert_eq!(written, case.line, "{}", case.about);
    }
    if !missing.is_empty() && std::env::var("FATE_BLESS").is_ok_and(|value| value == "1") {
        return bless();
    }
    assert_eq!(missing, "", "cases without a line; write them with FATE_BLESS=1 and read what it wrote");
}

fn bless() {
    let file = fs::read_to_string(golden_file()).expect("the golden lines");
    let mut lines = read(&file).into_iter().map(|case| text::write(&case.trail));
    let blessed = file.split_inclusive('\n').map(|line| {
        let Some(rest) = line.strip_prefix("line\t") else {
            return line.to_owned();
        };
        let written = lines.next().expect("one line for each case");
        if rest.trim_end().is_empty() { format!("line\t{written}\n") } else { line.to_owned() }
    });
    fs::write(golden_file(), blessed.collect::<String>()).expect("written");
}

#[test]
fn golden_lines_read_back_as_what_was_recorded() {
    for case in cases() {
        assert_eq!(text::parse(&case.line).as_ref(), Ok(&case.trail), "{}", case.about);
    }
}

#[test]
fn golden_lines_have_the_level_they_are_listed_under() {
    for case in cases() {
        let level = case.trail.conforms();
        assert_eq!(format!("{level:?}"), case.level, "{}\n{}", case.about, case.line);
        for reached in [Level::L1, Level::L2, Level::L3].into_iter().filter(|reached| *reached <= level) {
            assert_eq!(case.trail.breach(reached), None, "{}", case.about);
        }
    }
}

#[test]
fn a_breach_names_the_stage_and_the_rule() {
    let breach = |line: &str, level| {
        let trail: Trail = line.parse().expect(line);
        trail.breach(level).map(|breach| breach.to_string()).unwrap_or_default()
    };
    let cases = [
        ("fate 1 gap=0", Level::L1, "no L1 at stage 1: a trail has at least one stage"),
        ("fate 1 TURN_START@h(+?)", Level::L3, "no L1 at stage 1: a trail starts with"),
        ("fate 1 POSTED@h(+?) | HANDLER_EXIT@h(+?)", Level::L1, "no L1 at stage 2: `HANDLER_EXIT` comes"),
        ("fate 1 POSTED@h(+?) | HANDLER_ENTER@h(+?)", Level::L1, "no L1 at stage 2: `HANDLER_ENTER` comes"),
        ("fate hub ENQUEUED@h(+?)", Level::L1, "no L1 at stage 1: the trail of a hub"),
        ("fate 1 ENQUEUED@h(+?) | TURN_START@h(+?)", Level::L1, ""),
        ("fate 1 ENQUEUED@h(+?) | TURN_START@h(+?)", Level::L2, "no L2 at stage 1: `MAIN_DEPTH` follows"),
        ("fate 1 POSTED@h(+?) | TURN_START@h(+?)", Level::L3, "no L3 at stage 2: a stage that is stamped"),
        ("fate 1 POSTED@h(+?) | DEFERRED@h(+?) n=1", Level::L3, "no L3 at stage 2: `DEFERRED` names"),
        ("fate 1 POSTED@h(+?) | gap=2 | HANDLER_EXIT@h(+?)", Level::L3, ""),
        ("fate 1 POSTED@h(+?) | DROPPED_STORM_BREAKER@h(+?)", Level::L3, ""),
    ];
    for (line, level, said) in cases {
        let found = breach(line, level);
        assert!(found.starts_with(said) && found.is_empty() == said.is_empty(), "{line}: {found}");
    }
}

#[test]
fn every_level_has_lines_and_every_rule_of_the_grammar_is_used() {
    let cases = cases();
    for level in ["L0", "L1", "L2", "L3"] {
        assert!(cases.iter().any(|case| case.level == level), "no line of {level}");
    }
    for part in [" || ", " <- reply#1 ", "gap=", "(+?)", "%", "+ ", ",", " at=", "fate - ", "@-("] {
        assert!(cases.iter().any(|case| case.line.contains(part)), "no line with `{part}`");
    }
}
