//! Makes text that came from a log or a socket safe to show.
//!
//! A log line can carry terminal escapes that recolour, retitle or paste, and bidirectional
//! controls that show one thing and mean another. Nothing is removed silently: each such character
//! becomes a visible escape such as `\u{1b}`.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::limits::SHOWN_CHARS;

/// What takes the place of the end of a text that was cut.
const CUT: char = '…';

/// The text with every control character made visible: C0 (tab and line breaks too), DEL, C1, and
/// the characters that reorder or hide text. Escape sequences lose their first byte and so their
/// power; the rest of them stays readable. Borrows where nothing had to change.
pub fn scrub(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hazard) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        push(&mut out, c);
    }
    Cow::Owned(out)
}

/// As [`scrub`], and at most [`SHOWN_CHARS`] characters of the input.
pub fn scrub_line(text: &str) -> Cow<'_, str> {
    scrub_to(text, SHOWN_CHARS)
}

/// As [`scrub`], and at most `max` characters of the input; what was cut shows as `…`.
pub fn scrub_to(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        None => scrub(text),
        Some((end, _)) => {
            let mut out = scrub(&text[..end]).into_owned();
            out.push(CUT);
            Cow::Owned(out)
        }
    }
}

/// One cell of a Markdown table: scrubbed, on one line, and with every character that Markdown or
/// HTML would interpret written as an entity, so that it shows what the log said and no more.
pub fn markdown_cell(text: &str) -> String {
    let scrubbed = scrub_line(text);
    let mut out = String::with_capacity(scrubbed.len() + 8);
    for c in scrubbed.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' | '#' | '!' | '$' | '@' | '{' | '}' => {
                // Writing to a String cannot fail.
                let _ = write!(out, "&#{};", u32::from(c));
            }
            // A scheme that a renderer would turn into a link.
            ':' => out.push_str("&#58;"),
            c => out.push(c),
        }
    }
    out
}

/// True for a character that must not reach a terminal or a page as it is.
pub fn is_hazard(c: char) -> bool {
    c.is_control()
        || matches!(c,
        // Soft hyphen, Arabic letter mark, Mongolian vowel separator: invisible or reordering.
        '\u{ad}' | '\u{61c}' | '\u{180e}'
        // Zero-width characters, marks, line and paragraph separators, embeddings, overrides.
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        // Word joiner, invisible operators, isolates, deprecated format characters.
        | '\u{2060}'..='\u{206f}'
        // Byte order mark, interlinear annotation, tags.
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn push(out: &mut String, c: char) {
    match c {
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        c if is_hazard(c) => {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_text_is_borrowed() {
        for text in ["", "ENQUEUED@orders/7(+0.000)", "Bestellung für 东京 ✓"] {
            assert!(matches!(scrub(text), Cow::Borrowed(t) if t == text));
        }
    }

    #[test]
    fn what_a_terminal_would_obey_becomes_visible() {
        let cases = [
            ("a\tb\r\n", "a\\tb\\r\\n"),
            ("\u{1b}[31mred\u{1b}[0m", "\\u{1b}[31mred\\u{1b}[0m"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("\u{7f}", "\\u{7f}"),
            ("user\u{202e}txt.exe", "user\\u{202e}txt.exe"),
            ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
            ("\u{feff}x", "\\u{feff}x"),
        ];
        for (text, shown) in cases {
            assert_eq!(scrub(text), shown);
        }
    }

    #[test]
    fn long_lines_are_cut_visibly() {
        assert_eq!(scrub_to("abcdef", 3), "abc…");
        assert_eq!(scrub_to("abc", 3), "abc");
        assert_eq!(scrub_line(&"x".repeat(10_000)).chars().count(), SHOWN_CHARS + 1);
    }

    #[test]
    fn a_cell_stays_one_cell() {
        assert_eq!(
            markdown_cell("a|b <script> [x](http://e) `c`\n"),
            "a&#124;b &lt;script&gt; &#91;x&#93;(http&#58;//e) &#96;c&#96;&#92;n"
        );
    }

    proptest! {
        #[test]
        fn nothing_hazardous_comes_out(text in any::<String>()) {
            prop_assert!(!scrub(&text).chars().any(is_hazard));
            let cell = markdown_cell(&text);
            prop_assert!(!cell.contains(['|', '<', '>', '`', '\n']));
        }
    }
}
