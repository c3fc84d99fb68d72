//! Real and documented lines, damaged in every way that logs are damaged: what must hold for any bytes holds.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

#[path = "../../fuzz/check.rs"]
mod check;

/// Lines of each log of the public corpus that are damaged.
const LINES_A_LOG: usize = 40;
/// Bytes of such a line.
const LINE_BYTES: usize = 4096;

/// The seeds of the fuzzer: every documented and every golden line.
fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/text");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("the seeds").map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a seed")).collect()
}

/// What logs do to a line, and what an attacker would.
#[derive(Clone, Debug)]
enum Damage {
    Cut(prop::sample::Index),
    Drop(prop::sample::Index),
    Replace(prop::sample::Index, u8),
    Insert(prop::sample::Index, &'static str),
    /// The rest of the line once more, so that markers nest.
    Repeat(prop::sample::Index),
    /// Half of this line and half of another.
    Splice(prop::sample::Index, prop::sample::Index, prop::sample::Index),
    Escape,
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    let marks = prop::sample::select(vec![
        "fate ",
        "fate 7 ",
        " | ",
        " || ",
        " <- reply#1 ",
        " → ",
        " ⇒ ",
        " ↩ reply#1: ",
        "(+1.000)",
        "(+",
        "@",
        "=",
        "gap=9 | ",
        "%",
        "%4",
        "%00",
        "&#x",
        "&amp;",
        "\\u",
        "\\\"",
        "\u{1b}[31m",
        "\u{1b}",
        "\0",
        "\n",
        "\r",
        "\u{202e}",
        "…",
        "ENQUEUED@",
        "RECEIVED ",
        " at=",
        "18446744073709551616",
    ]);
    prop_oneof![
        at().prop_map(Damage::Cut),
        at().prop_map(Damage::Drop),
        (at(), any::<u8>()).prop_map(|(place, byte)| Damage::Replace(place, byte)),
        (at(), marks).prop_map(|(place, mark)| Damage::Insert(place, mark)),
        at().prop_map(Damage::Repeat),
        (at(), at(), at()).prop_map(|(a, other, b)| Damage::Splice(a, other, b)),
        Just(Damage::Escape),
    ]
}

fn apply(line: &mut Vec<u8>, damage: &Damage, seeds: &[Vec<u8>]) {
    let place = |index: &prop::sample::Index, line: &[u8]| index.index(line.len() + 1);
    match damage {
        Damage::Cut(at) => line.truncate(place(at, line)),
        Damage::Drop(at) if !line.is_empty() => drop(line.remove(at.index(line.len()))),
        Damage::Replace(at, byte) if !line.is_empty() => {
            let at = at.index(line.len());
            line[at] = *byte;
        }
        Damage::Drop(_) | Damage::Replace(..) => {}
        Damage::Insert(at, mark) => {
            let at = place(at, line);
            drop(line.splice(at..at, mark.bytes()));
        }
        Damage::Repeat(at) => line.extend_from_within(place(at, line)..),
        Damage::Splice(at, other, from) => {
            let other = &seeds[other.index(seeds.len())];
            line.truncate(place(at, line));
            line.extend_from_slice(&other[place(from, other)..]);
        }
        Damage::Escape => {
            let text = String::from_utf8_lossy(line).replace('&', "&amp;").replace('<', "&lt;");
            *line = text.replace('>', "&gt;").into_bytes();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn damaged_lines_keep_every_promise(
        seed in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 0..12),
    ) {
        let seeds = seeds();
        let mut line = seeds[seed.index(seeds.len())].clone();
        for damage in &damages {
            apply(&mut line, damage, &seeds);
        }
        check::text(&line);
    }
}

#[test]
fn every_seed_holds_a_trail() {
    let seeds = seeds();
    assert!(seeds.len() >= 36);
    for seed in seeds {
        assert!(fate_trail::text::find_bytes(&seed).next().is_some(), "{}", String::from_utf8_lossy(&seed));
        check::text(&seed);
    }
}

#[test]
fn megabyte_lines_of_anything_are_answered() {
    for pattern in
        ["fate 7 ENQUEUED@h(+0.000) ", "fate ", " | ", "\u{1b}[", "&amp;", "\\u2192", "ENQUEUED@h → ", "\0"]
    {
        let mut line = pattern.repeat((1 << 20) / pattern.len());
        line.push_str("fate 1 POSTED@h(+0.000)");
        check::text(line.as_bytes());
    }
    check::text(&vec![0xff; 1 << 20]);
}

/// Logs that nobody wrote for this reader; `FATE_CORPUS` or `../shared/corpus` beside the workspace.
#[test]
fn public_logs_keep_every_promise() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let corpus = std::env::var_os("FATE_CORPUS").map_or(workspace.join("../shared/corpus"), PathBuf::from);
    let mut folders = vec![corpus.clone()];
    let mut logs = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = fs::read(&path).unwrap_or_default();
            // Lines from all over the file, however many it has.
            let lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
            for line in lines.iter().step_by(lines.len().div_ceil(LINES_A_LOG).max(1)) {
                check::text(&line[..line.len().min(LINE_BYTES)]);
            }
            logs += 1;
        }
    }
    if logs == 0 {
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "ABSENT corpus");
    }
}
