//! Undoes what XML and JSON writers and terminal colours do to a log line, so that a trail inside a
//! test report or a structured log reads as it was printed.

use std::borrow::Cow;

use super::cursor::steps;

/// Replaces entities (`&gt;`, `&#8594;`, `&#x2192;`, also escaped again as `&amp;gt;`) and JSON
/// escapes (`\u2192`, `\"`, `\n`, with one or more backslashes), and then removes the control
/// sequences of terminals (ECMA-48 CSI, such as colours). What is neither stays. Linear.
pub(crate) fn unescape(text: &str) -> Cow<'_, str> {
    match escapes(text) {
        Cow::Borrowed(text) => control_sequences(text),
        Cow::Owned(text) if text.contains(ESC) => Cow::Owned(control_sequences(&text).into_owned()),
        Cow::Owned(text) => Cow::Owned(text),
    }
}

const ESC: char = '\u{1b}';

/// Removes `ESC [`, parameters and intermediates (0x20 to 0x3F) and the final byte (0x40 to 0x7E).
fn control_sequences(text: &str) -> Cow<'_, str> {
    if !text.contains(ESC) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split(ESC);
    let mut out = String::with_capacity(text.len());
    out.push_str(parts.next().unwrap_or(""));
    for part in parts {
        let sequence = part.strip_prefix('[').and_then(|rest| {
            let body = rest.trim_start_matches(|c| matches!(c, ' '..='?'));
            body.strip_prefix(|c| matches!(c, '@'..='~'))
        });
        match sequence {
            Some(rest) => out.push_str(rest),
            None => {
                out.push(ESC);
                out.push_str(part);
            }
        }
    }
    Cow::Owned(out)
}

fn escapes(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '\\']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(['&', '\\']) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let (c, len) = if rest.starts_with('&') { entity(rest).unwrap_or(('&', 1)) } else { backslash(rest) };
        out.push(c);
        rest = &rest[len..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Longest entity: `&#x10FFFF;` without its ampersand.
const ENTITY_BYTES: usize = 9;

/// The character of an entity at the start of the text, and its length in bytes.
fn entity(text: &str) -> Option<(char, usize)> {
    let mut name_at = 1;
    while text[name_at..].starts_with("amp;") {
        name_at += 4;
    }
    steps::add(name_at);
    let window = text.as_bytes().get(name_at..)?;
    let end = window.iter().take(ENTITY_BYTES).position(|b| *b == b';');
    let named = end.and_then(|end| {
        let c = match &window[..end] {
            b"lt" => '<',
            b"gt" => '>',
            b"quot" => '"',
            b"apos" => '\'',
            [b'#', b'x' | b'X', hex @ ..] => code(hex, 16)?,
            [b'#', decimal @ ..] => code(decimal, 10)?,
            _ => return None,
        };
        Some((c, name_at + end + 1))
    });
    // `&amp;` with nothing behind it is an ampersand.
    named.or((name_at > 1).then_some(('&', name_at)))
}

/// The character of a JSON escape at the start of the text, and its length in bytes.
///
/// A run of backslashes is taken at once, whatever follows it: looking at it again from each of its
/// backslashes would make a line of them quadratic.
fn backslash(text: &str) -> (char, usize) {
    let slashes = text.bytes().take_while(|b| *b == b'\\').count();
    steps::add(slashes);
    let rest = text.as_bytes().get(slashes..).unwrap_or_default();
    match rest.first() {
        Some(b'"') => ('"', slashes + 1),
        Some(b'u') => {
            let unicode = rest.get(1..5).and_then(|digits| code(digits, 16));
            unicode.map_or(('\\', slashes), |c| (c, slashes + 5))
        }
        // A line break ends a trail. Only the two forms that serialisers write are taken, since
        // `\n` also occurs in Windows paths; there it costs no trail, as none has a backslash.
        Some(b'n') => ('\n', slashes + 1),
        Some(b'r') => ('\r', slashes + 1),
        Some(b't') => ('\t', slashes + 1),
        _ => ('\\', slashes),
    }
}

fn code(digits: &[u8], radix: u32) -> Option<char> {
    if digits.is_empty() {
        return None;
    }
    let mut value: u32 = 0;
    for digit in digits {
        let digit = char::from(*digit).to_digit(radix)?;
        value = value.checked_mul(radix)?.checked_add(digit)?;
    }
    char::from_u32(value)
}

#[cfg(test)]
mod tests {
    use super::unescape;
    use proptest::prelude::*;
    use std::borrow::Cow;

    #[test]
    fn escapes_of_reports_and_structured_logs_are_undone() {
        let cases = [
            (" -&gt; ", " -> "),
            (" &lt;- reply#1 ", " <- reply#1 "),
            (" &amp;lt;- ", " <- "),
            (" &#8594; &#x21d2; ", " → ⇒ "),
            (r" \u2192 \u21D2 -\u003e ", " → ⇒ -> "),
            (r" -\\u003e \\\\u2192 ", " -> → "),
            (r#"{"msg":"a\"b\nc"}"#, "{\"msg\":\"a\"b\nc\"}"),
            ("R&D; &unknown; &#; &#xZZ; \\x \\u12", "R&D; &unknown; &#; &#xZZ; \\x \\u12"),
            ("a &amp; b &amp;amp; c", "a & b & c"),
        ];
        for (escaped, plain) in cases {
            assert_eq!(unescape(escaped), plain);
        }
    }

    #[test]
    fn colours_are_removed_and_other_controls_stay() {
        let cases = [
            ("\u{1b}[32mfate 7\u{1b}[0m ", "fate 7 "),
            (r"\u001b[1;38;5;9mfate\u001b[0m", "fate"),
            ("\u{1b}]0;title\u{7}x", "\u{1b}]0;title\u{7}x"),
            ("\u{1b}[12", "\u{1b}[12"),
        ];
        for (coloured, plain) in cases {
            assert_eq!(unescape(coloured), plain);
        }
    }

    #[test]
    fn text_without_escapes_is_borrowed() {
        assert!(matches!(unescape("ENQUEUED@h(+0.000) → x"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn any_text_is_answered_and_never_grows(text in "[&#xampltg;\\\\u0-9a-f\"n→\u{1b}\\[]{0,200}") {
            prop_assert!(unescape(&text).len() <= text.len());
        }
    }
}
