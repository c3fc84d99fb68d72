//! The text around an assertion: terminal escapes out, the prefix of every line (a stamp, a tag,
//! pytest's `E`) out, so that the families read what the library printed.

use std::borrow::Cow;

use crate::limits;

/// Bytes before an anchor, on its line, that are searched for a prefix.
const PREFIX_MAX: usize = 120;

/// The text from the start of an anchor's line on, without line prefixes, bounded.
#[derive(Clone, Debug)]
pub(super) struct Excerpt<'a> {
    /// From the start of the line on.
    pub(super) text: Cow<'a, str>,
    /// Offset of the anchor in `text`.
    pub(super) at: usize,
    /// The prefix that was taken off.
    pub(super) prefix: &'a str,
}

impl<'a> Excerpt<'a> {
    /// The excerpt for the anchor at byte `at` of `whole`.
    pub(super) fn new(whole: &'a str, at: usize) -> Excerpt<'a> {
        let floor = at.saturating_sub(limits::FAILURE_TEXT_MAX);
        let start = memchr::memrchr(b'\n', &whole.as_bytes()[floor..at]).map_or(floor, |n| floor + n + 1);
        let start = boundary(whole, start);
        let end = boundary(whole, whole.len().min(start.saturating_add(limits::FAILURE_TEXT_MAX)).max(at));
        let window = &whole[start..end];
        let prefix = prefix(&window[..at - start]);
        if prefix.is_empty() {
            return Excerpt { text: Cow::Borrowed(window), at: at - start, prefix };
        }
        let mut text = String::with_capacity(window.len());
        for (n, line) in window.split_inclusive('\n').enumerate() {
            let rest = if n == 0 { &line[prefix.len()..] } else { strip(line, prefix) };
            text.push_str(rest);
        }
        Excerpt { text: Cow::Owned(text), at: at - start - prefix.len(), prefix }
    }

    /// From the anchor on.
    pub(super) fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// What stands before the anchor on its line.
    pub(super) fn before(&self) -> &str {
        &self.text[..self.at]
    }
}

/// The nearest character boundary at or before `at`.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The part of a line's head that repeats on the following lines: stamps, tags in brackets,
/// pytest's `E`, indentation.
fn prefix(head: &str) -> &str {
    let mut end = 0;
    loop {
        let rest = &head[end..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let word = &rest[blank..];
        let word_len = word.find([' ', '\t']).unwrap_or(word.len());
        let first = &word[..word_len];
        let repeats = (first == "E" && word[word_len..].starts_with("  "))
            || (first == "|" && !word[word_len..].is_empty())
            || is_stamp(first)
            || is_tag(first);
        if !repeats || end + blank + word_len > PREFIX_MAX {
            return &head[..end + blank];
        }
        end += blank + word_len;
    }
}

/// `12:34:56`, `2026-01-01T00:00:00.1234567Z`, `12:34:56.789`.
fn is_stamp(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        && word.matches(':').count() >= 2
        && word.bytes().all(|b| b.is_ascii_digit() || b":-.TZ+,".contains(&b))
}

/// `[error]`, `[INFO]`, `[junit]`.
fn is_tag(word: &str) -> bool {
    word.strip_prefix('[')
        .and_then(|w| w.strip_suffix(']'))
        .is_some_and(|w| !w.is_empty() && w.len() <= 16 && w.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// Takes `prefix` off a line where the line begins alike: digits stand for any digits, and a
/// line that ends before the prefix does is blank. Other lines stay.
fn strip<'a>(line: &'a str, prefix: &str) -> &'a str {
    let (bytes, shape) = (line.as_bytes(), prefix.as_bytes());
    for (i, &want) in shape.iter().enumerate() {
        match bytes.get(i) {
            Some(&got) if got == want || (got.is_ascii_digit() && want.is_ascii_digit()) => {}
            None | Some(b'\r' | b'\n') if prefix[i..].trim().is_empty() => {
                return line[i..].trim_start_matches(' ');
            }
            _ => return line,
        }
    }
    &line[shape.len()..]
}

/// The text without terminal escapes (CSI and OSC), without carriage returns at line ends and
/// with no-break spaces as blanks.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(['\x1b', '\r', '\u{a0}']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => match chars.peek() {
                Some('[') => {
                    chars.next();
                    for c in chars.by_ref() {
                        if ('@'..='~').contains(&c) {
                            break;
                        }
                    }
                }
                Some(']') => {
                    let mut last = ' ';
                    for c in chars.by_ref() {
                        if c == '\x07' || (last == '\x1b' && c == '\\') || c == '\n' {
                            break;
                        }
                        last = c;
                    }
                }
                _ => {}
            },
            '\r' if chars.peek() == Some(&'\n') => {}
            '\u{a0}' => out.push(' '),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_taken_off_every_line() {
        for (text, want) in [
            ("E       X: a\nE         b\nE\nE       c", "X: a\n  b\n\nc"),
            ("08:42:17 X: a\n08:42:18 b\n", "X: a\nb\n"),
            ("[error] X: a\n[error] b\nc\n", "X: a\nb\nc\n"),
            ("   X: a\n   b\n c\n", "X: a\nb\n c\n"),
            ("X: a\nb", "X: a\nb"),
        ] {
            let excerpt = Excerpt::new(text, text.find('X').expect("anchor"));
            assert_eq!(excerpt.text, want);
            assert!(excerpt.rest().starts_with('X'));
        }
    }

    #[test]
    fn words_before_the_anchor_are_no_prefix() {
        let excerpt = Excerpt::new("[error] Test x failed: ANCHOR", 23);
        assert_eq!((excerpt.before(), excerpt.prefix), ("Test x failed: ", "[error] "));
    }

    #[test]
    fn escapes_and_carriage_returns_go() {
        assert_eq!(plain("\x1b[1;31mred\x1b[0m\r\n\x1b]8;;u\x1b\\link\u{a0}x"), "red\nlink x");
        assert_eq!(plain("\x1b"), "");
        assert_eq!(plain("\x1b["), "");
    }
}
