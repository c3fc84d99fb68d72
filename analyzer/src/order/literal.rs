//! Printed lists taken apart: nested brackets, quotes, escapes, cut marks; in one pass.

use std::borrow::Cow;

use super::element;
use crate::limits;

/// Nested brackets that are followed; a deeper value is no list to us.
const DEPTH_MAX: usize = 128;

/// How a printer writes strings inside lists.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Quotes {
    /// Always quoted, inner quotes escaped (Rust, Python, JSON, xUnit).
    Escaped,
    /// Always quoted, nothing escaped (FluentAssertions and its relatives).
    Raw,
}

/// A list as it stands in a text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct List<'a> {
    /// The elements as printed, trimmed, without marks of a cut.
    pub(super) items: Vec<Cow<'a, str>>,
    /// True where the printer left something out.
    pub(super) cut: bool,
    /// True where unquoted text made the split a guess.
    pub(super) loose: bool,
    /// The opening bracket.
    pub(super) open: char,
    /// Offset behind the closing bracket.
    pub(super) end: usize,
}

impl List<'_> {
    /// The elements in their form.
    pub(super) fn elements(&self) -> Vec<String> {
        self.items.iter().map(|item| element::clean(item)).collect()
    }
}

/// Takes the list apart whose opening bracket (`[`, `{` or `(`) stands at `at`. `None` where
/// there is no bracket or it is never closed.
pub(super) fn parse_at(text: &str, at: usize, quotes: Quotes) -> Option<List<'_>> {
    let bytes = text.as_bytes();
    let open = *bytes.get(at)?;
    let mut stack = vec![closer(open)?];
    let mut list = List { items: Vec::new(), cut: false, loose: false, open: char::from(open), end: 0 };
    let mut scan = Scan { text, quotes, no_single: false };
    let mut start = at + 1;
    let mut i = start;
    while let Some(&byte) = bytes.get(i) {
        match byte {
            b'"' => i = scan.string(i)?,
            b'\'' => i = scan.single(i),
            b'[' | b'{' | b'(' => {
                if stack.len() >= DEPTH_MAX {
                    return None;
                }
                stack.push(closer(byte)?);
                i += 1;
            }
            b']' | b'}' | b')' => {
                if stack.pop() != Some(byte) {
                    return None;
                }
                if stack.is_empty() {
                    push(&mut list, text[start..i].trim(), true);
                    list.end = i + 1;
                    return Some(list);
                }
                i += 1;
            }
            b',' if stack.len() == 1 => {
                push(&mut list, text[start..i].trim(), false);
                start = i + 1;
                i = start;
            }
            _ => i += 1,
        }
    }
    None
}

/// Offset behind the quoted string that opens at `at`, inner quotes escaped.
pub(super) fn string_end(text: &str, at: usize) -> Option<usize> {
    let quote = *text.as_bytes().get(at)?;
    Scan { text, quotes: Quotes::Escaped, no_single: false }.closing(at, quote)
}

fn closer(open: u8) -> Option<u8> {
    match open {
        b'[' => Some(b']'),
        b'{' => Some(b'}'),
        b'(' => Some(b')'),
        _ => None,
    }
}

/// Adds one element; marks of a cut are noted instead. A trailing comma leaves nothing behind.
fn push<'a>(list: &mut List<'a>, item: &'a str, last: bool) {
    if item.is_empty() && last {
        return;
    }
    if list.items.len() > limits::SEQUENCE_MAX {
        list.cut = true;
        return;
    }
    match cut_mark(item) {
        CutMark::None => list.items.push(Cow::Borrowed(item)),
        CutMark::Whole => list.cut = true,
        CutMark::Part => {
            list.cut = true;
            list.items.push(Cow::Borrowed(item));
        }
    }
}

enum CutMark {
    None,
    /// The element is nothing but the mark.
    Whole,
    /// The element itself was shortened.
    Part,
}

/// Marks that printers leave: `...`, `…`, three middle dots, `…12 more…`, and the last two glued
/// to a shortened string.
fn cut_mark(item: &str) -> CutMark {
    let dots = |s: &str| s.starts_with("...") || s.starts_with('…') || s.starts_with("···");
    let tail = |s: &str| s.ends_with("...") || s.ends_with('…') || s.ends_with("···");
    if item.starts_with(['"', '\'']) {
        return if tail(item) { CutMark::Part } else { CutMark::None };
    }
    let bare = item.trim_matches(['.', '…', '·']);
    if dots(item) && (bare.is_empty() || bare.ends_with(" more") || bare.ends_with(" more elements")) {
        return CutMark::Whole;
    }
    if dots(item) || tail(item) { CutMark::Part } else { CutMark::None }
}

/// Finds the ends of strings.
struct Scan<'a> {
    text: &'a str,
    quotes: Quotes,
    /// No `'` follows: remembered, so that a text full of apostrophes is still read in one pass.
    no_single: bool,
}

impl Scan<'_> {
    /// Offset behind the double-quoted string that opens at `at`.
    fn string(&self, at: usize) -> Option<usize> {
        match self.quotes {
            Quotes::Escaped => self.closing(at, b'"'),
            Quotes::Raw => self.raw_closing(at),
        }
    }

    /// Offset behind the single-quoted string that opens at `at`; behind the quote alone where it
    /// is an apostrophe.
    fn single(&mut self, at: usize) -> usize {
        let before = self.text.as_bytes()[at - 1];
        let opens = matches!(before, b'[' | b'{' | b'(' | b',' | b'=' | b':' | b' ' | b'\n' | b'b' | b'u');
        if self.quotes == Quotes::Raw || !opens || self.no_single {
            return at + 1;
        }
        match self.closing(at, b'\'') {
            Some(end) => end,
            None => {
                self.no_single = true;
                at + 1
            }
        }
    }

    fn closing(&self, at: usize, quote: u8) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut i = at + 1;
        loop {
            i += memchr::memchr2(quote, b'\\', bytes.get(i..)?)?;
            if bytes[i] == quote {
                return Some(i + 1);
            }
            i += 2;
        }
    }

    /// In a list whose strings are not escaped, a quote closes only before `,` or a bracket.
    fn raw_closing(&self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut i = at + 1;
        loop {
            i += memchr::memchr(b'"', bytes.get(i..)?)?;
            let next = bytes[i + 1..].iter().find(|b| !b.is_ascii_whitespace());
            if matches!(next, Some(b',' | b'}' | b']' | b')')) {
                return Some(i + 1);
            }
            if self.text[i + 1..].starts_with(['…', '·']) {
                return Some(i + 1);
            }
            i += 1;
        }
    }
}

/// Takes a whole operand apart that a printer without quotes wrote (`[A, B, C]` of Java). Elements
/// are separated by `, `; an element that holds a blank, or brackets that do not match, make the
/// split a guess. A list of quoted strings is read as such.
pub(super) fn parse_plain(operand: &str) -> Option<List<'_>> {
    let text = operand.trim();
    if !(text.starts_with('[') && text.ends_with(']') && text.len() >= 2) {
        return None;
    }
    let body = &text[1..text.len() - 1];
    if body.trim_start().starts_with(['"', '\'']) {
        let quoted = parse_at(text, 0, Quotes::Escaped).filter(|list| list.end == text.len());
        if quoted.is_some() {
            return quoted;
        }
    }
    let mut list = List { items: Vec::new(), cut: false, loose: false, open: '[', end: text.len() };
    let spaced = split_nested(body, true);
    let pieces = match spaced {
        Some(pieces) if pieces.len() > 1 => pieces,
        Some(pieces) => split_nested(body, false).unwrap_or(pieces),
        None => {
            list.loose = true;
            body.split(", ").collect()
        }
    };
    let count = pieces.len();
    for (n, piece) in pieces.into_iter().enumerate() {
        push(&mut list, piece.trim(), n + 1 == count);
    }
    list.loose |= list.items.iter().any(|item| !item.contains(['[', '{', '(']) && item.contains(' '));
    Some(list)
}

/// Splits at commas outside brackets, with `spaced` only where white space follows. `None` where
/// the brackets do not match.
fn split_nested(body: &str, spaced: bool) -> Option<Vec<&str>> {
    let bytes = body.as_bytes();
    let mut stack = Vec::new();
    let mut pieces = Vec::new();
    let mut start = 0;
    for (i, &byte) in bytes.iter().enumerate() {
        match byte {
            b'[' | b'{' | b'(' => {
                if stack.len() >= DEPTH_MAX {
                    return None;
                }
                stack.push(closer(byte)?);
            }
            b']' | b'}' | b')' if stack.pop() != Some(byte) => return None,
            b',' if stack.is_empty() => {
                let blank = bytes.get(i + 1).is_none_or(u8::is_ascii_whitespace);
                if blank || !spaced {
                    pieces.push(&body[start..i]);
                    start = i + 1;
                }
            }
            _ => {}
        }
    }
    if !stack.is_empty() {
        return None;
    }
    pieces.push(&body[start..]);
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(list: &List<'_>) -> Vec<String> {
        list.items.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn lists_with_nesting_quotes_and_escapes() {
        for (text, want) in [
            (r#"["A", "B"] tail"#, vec![r#""A""#, r#""B""#]),
            (r#"["a, b", "c\"]"]"#, vec![r#""a, b""#, r#""c\"]""#]),
            ("[[1, 2], [3]]", vec!["[1, 2]", "[3]"]),
            ("['it\\'s', 'x]']", vec!["'it\\'s'", "'x]'"]),
            ("[\n    \"A\",\n    \"B\",\n]", vec!["\"A\"", "\"B\""]),
            ("{Foo { a: 1 }, Bar('x', ')')}", vec!["Foo { a: 1 }", "Bar('x', ')')"]),
            ("[]", vec![]),
            ("[don't, can't]", vec!["don't", "can't"]),
            ("[\"\", \"A\"]", vec!["\"\"", "\"A\""]),
        ] {
            let list = parse_at(text, 0, Quotes::Escaped).expect(text);
            assert_eq!(items(&list), want, "{text}");
            assert!(!list.cut, "{text}");
        }
    }

    #[test]
    fn unescaped_quotes_close_before_a_separator_only() {
        let list = parse_at(r#"{"say "hi" now", "C:\"} to"#, 0, Quotes::Raw).expect("closed");
        assert_eq!(items(&list), [r#""say "hi" now""#, r#""C:\""#]);
    }

    #[test]
    fn marks_of_a_cut_are_seen() {
        for (text, kept) in [
            ("[···, \"A\", \"B\", ···]", 2),
            ("[1, 2, ...]", 2),
            ("{1, 2, …12 more…}", 2),
            ("{1, 2, …}", 2),
            ("[\"aaaa\"···, \"b\"]", 2),
            ("['a', 'b', ...'z']", 3),
        ] {
            let list = parse_at(text, 0, Quotes::Escaped).expect(text);
            assert!(list.cut, "{text}");
            assert_eq!(list.items.len(), kept, "{text}");
        }
        let whole = parse_at("[\"wait...\", \"go\"]", 0, Quotes::Escaped).expect("closed");
        assert!(!whole.cut, "dots inside a string are its own");
    }

    #[test]
    fn what_is_never_closed_is_no_list() {
        for text in ["[1, 2", "[\"a, b]", "[1, 2}", "x", "", "[(]", "['a', 'b"] {
            assert_eq!(parse_at(text, 0, Quotes::Escaped), None, "{text}");
        }
    }

    #[test]
    fn plain_lists_split_at_comma_and_blank() {
        for (text, want, loose) in [
            ("[A, B, C]", vec!["A", "B", "C"], false),
            ("[1,2,3]", vec!["1", "2", "3"], false),
            ("[1,5, 2,5]", vec!["1,5", "2,5"], false),
            ("[\"a, b\",\"c\"]", vec!["\"a, b\"", "\"c\""], false),
            ("[P(x, y), Q[1, 2]]", vec!["P(x, y)", "Q[1, 2]"], false),
            ("[New York, Rome]", vec!["New York", "Rome"], true),
            ("[a (, b]", vec!["a (", "b"], true),
        ] {
            let list = parse_plain(text).expect(text);
            assert_eq!(items(&list), want, "{text}");
            assert_eq!(list.loose, loose, "{text}");
        }
    }
}
