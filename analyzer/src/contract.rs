//! The contract of stage tokens, kept for logs: every token that a log holds must be in a pinned list.
//!
//! The list is what a crate's own test pins (`fate_trail::pin_stages!`), or the registry's golden copy:
//! one token a line, with a since-version and a fate behind tabs, `#` before a remark.

use std::collections::BTreeMap;
use std::io::{self, Write};

use fate_trail::scrub::scrub_line;
use fate_trail::stage::REGISTRY;

use crate::limits::CONTRACT_TOKENS_MAX;

/// Tokens that are promised.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    tokens: Vec<String>,
}

impl Baseline {
    /// Reads a pinned list.
    ///
    /// # Errors
    /// With a sentence for a person, where the list is empty or a line is no token.
    pub fn read(text: &str) -> Result<Baseline, String> {
        let mut tokens: Vec<String> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_end();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let token = line.split('\t').next().unwrap_or("");
            let number = number + 1;
            let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
            if token.is_empty() || !token.bytes().all(plain) {
                return Err(format!(
                    "line {number}: `{token}` is no token; a line reads `token<TAB>since<TAB>fate`, where a token is an ASCII word such as `orders.reserved` or `TURN_START`"
                ));
            }
            if tokens.iter().any(|known| known == token) {
                return Err(format!("line {number}: `{token}` stands there twice"));
            }
            tokens.push(token.to_owned());
        }
        if tokens.is_empty() {
            return Err("it pins no token, so every log would fail".to_owned());
        }
        Ok(Baseline { tokens })
    }

    /// The same list with the stages that this build registers.
    #[must_use]
    pub fn with_registry(mut self) -> Baseline {
        for spec in REGISTRY {
            if !self.pins(spec.token) {
                self.tokens.push(spec.token.to_owned());
            }
        }
        self
    }

    /// True where the token is promised.
    pub fn pins(&self, token: &str) -> bool {
        self.tokens.iter().any(|known| known == token)
    }

    /// The pinned token that is spelled most alike, if any is alike at all: for a slip of the pen or a
    /// renaming.
    pub fn alike(&self, token: &str) -> Option<&str> {
        let worth = token.chars().count().min(ALIKE_CHARS_MAX) / 3;
        let near = self.tokens.iter().filter(|known| known.len().abs_diff(token.len()) <= worth);
        let near = near.map(|known| (distance(known, token), known));
        let (_, known) = near.filter(|(edits, _)| *edits <= worth).min_by_key(|(edits, _)| *edits)?;
        Some(known)
    }
}

/// Characters of a token that are compared; what a log holds may be of any length.
const ALIKE_CHARS_MAX: usize = 64;

/// The Levenshtein distance: single characters put in, left out or replaced.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(ALIKE_CHARS_MAX).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(ALIKE_CHARS_MAX).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// Where a token was seen.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Seen {
    /// Stages with it.
    pub count: u64,
    /// Path of the file of the first one.
    pub path: String,
    /// Its line, from 1.
    pub line: u64,
}

/// The tokens of some logs.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    seen: BTreeMap<String, Seen>,
    /// Trails that were read.
    pub trails: u64,
    /// Different tokens beyond [`CONTRACT_TOKENS_MAX`], each time they were met.
    pub surplus: u64,
}

impl Tokens {
    /// Counts the stages of a trail and of its replies.
    pub fn add(&mut self, path: &str, line: u64, trail: &fate_trail::Trail) {
        self.trails += 1;
        let replies = trail.replies.iter().flat_map(|reply| &reply.stages);
        for stage in trail.stages.iter().chain(replies) {
            if let Some(seen) = self.seen.get_mut(&stage.token) {
                seen.count += 1;
            } else if self.seen.len() < CONTRACT_TOKENS_MAX {
                let seen = Seen { count: 1, path: path.to_owned(), line };
                self.seen.insert(stage.token.clone(), seen);
            } else {
                self.surplus += 1;
            }
        }
    }

    /// Adds what a later file holds.
    pub fn merge(&mut self, later: Tokens) {
        self.trails += later.trails;
        self.surplus += later.surplus;
        for (token, seen) in later.seen {
            if let Some(known) = self.seen.get_mut(&token) {
                known.count += seen.count;
            } else if self.seen.len() < CONTRACT_TOKENS_MAX {
                self.seen.insert(token, seen);
            } else {
                self.surplus += seen.count;
            }
        }
    }

    /// Different tokens.
    pub fn distinct(&self) -> usize {
        self.seen.len()
    }

    /// Tokens that are not pinned, sorted.
    pub fn unpinned<'a>(&'a self, baseline: &Baseline) -> Vec<(&'a str, &'a Seen)> {
        let unpinned = self.seen.iter().filter(|(token, _)| !baseline.pins(token));
        unpinned.map(|(token, seen)| (token.as_str(), seen)).collect()
    }
}

/// Writes what was found, for a person, and answers whether every token is pinned.
///
/// # Errors
/// Those of `out`.
pub fn write(tokens: &Tokens, baseline: &Baseline, name: &str, out: &mut dyn Write) -> io::Result<bool> {
    let unpinned = tokens.unpinned(baseline);
    let name = scrub_line(name);
    if unpinned.is_empty() && tokens.surplus == 0 {
        writeln!(out, "{} tokens on {} trails, all pinned in {name}", tokens.distinct(), tokens.trails)?;
        return Ok(true);
    }
    for (token, seen) in &unpinned {
        let (token, path) = (scrub_line(token), scrub_line(&seen.path));
        writeln!(out, "`{token}` is not pinned; {} times, first at {path}:{}", seen.count, seen.line)?;
        if let Some(alike) = baseline.alike(&token) {
            writeln!(out, "    pinned and alike: `{alike}`; was it renamed?")?;
        }
    }
    if tokens.surplus > 0 {
        writeln!(
            out,
            "and {} stages whose tokens were not kept, beyond {CONTRACT_TOKENS_MAX} different ones",
            tokens.surplus
        )?;
    }
    writeln!(
        out,
        "\nStage tokens are an interface: suites wait for them and old logs contain them. If a token was renamed, give it\n\
         its old name back; if it is new and meant to stay, declare it at the end of the application's stages and let\n\
         the test that pins them bless {name} with FATE_BLESS=1."
    )?;
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# the shop\norders.reserved\t1.0\t-\norders.paid\t1.0\tanswered\r\n\nENQUEUED\n";

    fn tokens(lines: &[&str]) -> Tokens {
        let mut tokens = Tokens::default();
        for (i, line) in lines.iter().enumerate() {
            tokens.add("a.log", i as u64 + 1, &line.parse().expect(line));
        }
        tokens
    }

    fn said(tokens: &Tokens, list: &str) -> (bool, String) {
        let mut out = Vec::new();
        let baseline = Baseline::read(list).expect("a list");
        let good = write(tokens, &baseline, "stages.txt", &mut out).expect("a vector");
        (good, String::from_utf8(out).expect("UTF-8"))
    }

    #[test]
    fn pinned_tokens_pass_and_others_are_named_with_their_place() {
        let good = ["fate 1 ENQUEUED@h(+?) | orders.paid@h(+?)", "fate 2 orders.reserved@h(+?)"];
        let (passed, text) = said(&tokens(&good), LIST);
        assert!(passed && text == "3 tokens on 2 trails, all pinned in stages.txt\n", "{text}");

        let bad = [
            "fate 1 ENQUEUED@h(+?)",
            "fate 2 orders.payed@h(+?)",
            "fate 3 ENQUEUED@h(+?) <- reply#1 orders.payed@h(+?) | Q@h(+?)",
        ];
        let (passed, text) = said(&tokens(&bad), LIST);
        assert!(!passed);
        assert!(
            text.contains(
                "`orders.payed` is not pinned; 2 times, first at a.log:2\n    pinned and alike: `orders.paid`"
            ),
            "{text}"
        );
        assert!(
            text.contains("`Q` is not pinned; 1 times, first at a.log:3\n`orders"),
            "nothing is like it: {text}"
        );
        assert!(text.contains("FATE_BLESS=1"), "{text}");
    }

    #[test]
    fn the_registry_may_count_as_pinned() {
        let trails = tokens(&["fate 1 TURN_START@h(+?)"]);
        let baseline = Baseline::read(LIST).expect("a list");
        assert_eq!(trails.unpinned(&baseline).len(), 1);
        assert_eq!(trails.unpinned(&baseline.with_registry()), []);
    }

    #[test]
    fn a_list_that_is_none_says_why() {
        let cases = [
            ("", "pins no token"),
            ("# only a remark\n", "pins no token"),
            ("a.b\n\na b\t1.0\n", "line 3: `a b` is no token"),
            ("größe.x\n", "line 1"),
            ("\t1.0\n", "line 1"),
            ("a.b\t1\na.b\t2\n", "line 2: `a.b` stands there twice"),
        ];
        for (text, expected) in cases {
            let error = Baseline::read(text).expect_err(text);
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn hostile_tokens_are_bounded_and_scrubbed() {
        let mut many = Tokens::default();
        let mut trail = fate_trail::Trail::new("1");
        trail.stages =
            (0..CONTRACT_TOKENS_MAX + 7).map(|i| fate_trail::Stage::new(format!("x.{i}"), "h")).collect();
        trail.stages.insert(0, fate_trail::Stage::new("\u{1b}]0;x\u{7}", "h"));
        many.add("a.log", 1, &trail);
        assert_eq!((many.distinct(), many.surplus), (CONTRACT_TOKENS_MAX, 8));
        let (passed, text) = said(&many, LIST);
        assert!(!passed && text.contains("and 8 stages whose tokens were not kept"));
        assert!(!text.contains('\u{1b}'));
        let mut both = many.clone();
        both.merge(many);
        assert_eq!((both.distinct(), both.surplus, both.trails), (CONTRACT_TOKENS_MAX, 16, 2));
    }

    #[test]
    fn distances_are_those_of_levenshtein() {
        for (a, b, edits) in [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("paid", "payed", 2)] {
            assert_eq!((distance(a, b), distance(b, a)), (edits, edits), "{a} {b}");
        }
    }
}
