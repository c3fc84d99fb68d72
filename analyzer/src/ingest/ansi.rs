//! Terminal escapes and other control characters are taken out of text that is read as text.

use std::borrow::Cow;

const ESC: char = '\u{1B}';

/// `text` without terminal escape sequences: CSI (`ESC [ … letter`), OSC and other strings
/// (`ESC ] … BEL` or `ESC \`), and two-character escapes (ECMA-48, sections 5.3 to 5.6).
pub(crate) fn strip(text: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(0x1B, text.as_bytes()) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len());
    let (head, mut rest) = text.split_at(first);
    out.push_str(head);
    while let Some(after) = rest.strip_prefix(ESC) {
        let tail = skip_escape(after);
        let next = memchr::memchr(0x1B, tail.as_bytes()).unwrap_or(tail.len());
        out.push_str(&tail[..next]);
        rest = &tail[next..];
    }
    Cow::Owned(out)
}

/// What follows the escape sequence whose `ESC` stood before `after`.
fn skip_escape(after: &str) -> &str {
    let mut chars = after.chars();
    match chars.next() {
        Some('[') => {
            let body = chars.as_str();
            match body.find(|c: char| !(' '..='?').contains(&c)) {
                Some(end) if ('@'..='~').contains(&char_at(body, end)) => &body[end + 1..],
                // Not a control sequence after all: only its introducer is dropped.
                Some(end) => &body[end..],
                None => "",
            }
        }
        Some(']' | 'P' | '_' | '^' | 'X') => {
            let body = chars.as_str();
            match body.find(['\u{7}', ESC]) {
                Some(end) if body[end..].starts_with("\u{1B}\\") => &body[end + 2..],
                Some(end) if body[end..].starts_with('\u{7}') => &body[end + 1..],
                Some(end) => &body[end..],
                // An unterminated string would swallow the line: keep its text instead.
                None => body,
            }
        }
        Some(' '..='/') => {
            let body = chars.as_str();
            let end = body.find(|c: char| !(' '..='/').contains(&c)).unwrap_or(body.len());
            let mut rest = body[end..].chars();
            rest.next();
            rest.as_str()
        }
        Some('0'..='~') => chars.as_str(),
        _ => after,
    }
}

fn char_at(text: &str, at: usize) -> char {
    text[at..].chars().next().unwrap_or('\0')
}

/// Makes `text` fit to be searched and shown: escapes are stripped, line ends become `\n`,
/// remaining control characters become U+FFFD. True where a character was illegal in XML 1.0
/// (section 2.2), that is, where the text was repaired.
pub(crate) fn clean(text: &mut String) -> bool {
    let illegal = text.bytes().any(|b| b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r'));
    if !illegal && memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return false;
    }
    let plain = strip(text).replace("\r\n", "\n");
    *text = plain
        .chars()
        .map(|c| match c {
            '\r' => '\n',
            '\t' | '\n' => c,
            c if c < ' ' => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect();
    illegal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_go_and_text_stays() {
        for (from, to) in [
            ("plain", "plain"),
            ("\u{1B}[31;1mred\u{1B}[0m end", "red end"),
            ("\u{1B}]8;;http://x\u{1B}\\link\u{1B}]8;;\u{7}!", "link!"),
            ("a\u{1B}(Bb\u{1B}Mc", "abc"),
            ("cut \u{1B}[3", "cut "),
            ("cut \u{1B}", "cut "),
            ("\u{1B}]open text", "open text"),
            ("\u{1B}[é", "é"),
        ] {
            assert_eq!(strip(from), to, "{from:?}");
        }
    }

    #[test]
    fn cleaning_tells_repairs_from_line_ends() {
        let mut text = "a\r\nb\rc".to_owned();
        assert!(!clean(&mut text));
        assert_eq!(text, "a\nb\nc");
        let mut text = "\u{1B}[1mx\u{1B}[0m\u{8}\0".to_owned();
        assert!(clean(&mut text));
        assert_eq!(text, "x\u{FFFD}\u{FFFD}");
    }
}
