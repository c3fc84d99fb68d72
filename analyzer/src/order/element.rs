//! The form of one element: trimmed; a quoted string without its quotes and escapes; white space
//! between tokens as compact printers write it, so that pretty and compact prints agree.

/// Brings one printed element into its form.
pub(super) fn clean(raw: &str) -> String {
    let text = raw.trim();
    match unquote(text) {
        Some(inner) => inner,
        None if text.contains(['\n', '\t']) => collapse(text),
        None => text.to_owned(),
    }
}

/// The content of a text that is one quoted string and nothing else, with its escapes resolved.
/// Python's `u` prefix is dropped with the quotes.
pub(super) fn unquote(text: &str) -> Option<String> {
    let text = match text.as_bytes() {
        [b'u', b'\'' | b'"', ..] => &text[1..],
        _ => text,
    };
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    Some(unescape(inner))
}

/// Resolves the escapes that Rust, Python, Java, C# and JSON share; an unknown escape stays.
pub(super) fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let (known, used) = escape(tail);
        match known {
            Some(c) => out.push(c),
            None => {
                out.push('\\');
                out.push_str(&tail[..used]);
            }
        }
        rest = &tail[used..];
    }
    out.push_str(rest);
    out
}

/// The character that the escape after a backslash stands for, and the bytes it takes.
fn escape(tail: &str) -> (Option<char>, usize) {
    let Some(first) = tail.chars().next() else {
        return (None, 0);
    };
    let simple = |c| (Some(c), first.len_utf8());
    match first {
        'n' => simple('\n'),
        'r' => simple('\r'),
        't' => simple('\t'),
        '0' => simple('\0'),
        '"' | '\'' | '\\' | '/' => simple(first),
        'u' if tail[1..].starts_with('{') => match tail.find('}') {
            Some(end) if end <= 8 => (code(&tail[2..end]), end + 1),
            _ => (None, first.len_utf8()),
        },
        'u' => fixed(tail, 4),
        'U' => fixed(tail, 8),
        'x' => fixed(tail, 2),
        _ => (None, first.len_utf8()),
    }
}

/// An escape with a fixed number of hexadecimal digits.
fn fixed(tail: &str, digits: usize) -> (Option<char>, usize) {
    match tail.get(1..1 + digits).and_then(code) {
        Some(c) => (Some(c), 1 + digits),
        None => (None, 1),
    }
}

fn code(hex: &str) -> Option<char> {
    u32::from_str_radix(hex, 16).ok().and_then(char::from_u32)
}

/// Writes a pretty-printed value as a compact printer would: runs of white space outside quotes
/// become one blank, none stands inside `(` and `[`, and the last comma before a bracket goes.
fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut quote = None;
    let mut escaped = false;
    let mut gap = false;
    for c in text.chars() {
        if let Some(q) = quote {
            out.push(c);
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == q {
                quote = None;
            }
            continue;
        }
        if c.is_whitespace() {
            gap = true;
            continue;
        }
        if gap && matches!(c, ')' | ']' | '}') {
            if out.ends_with(',') {
                out.pop();
            }
            gap = c == '}' && !out.ends_with('{');
        }
        if gap && !out.ends_with(['(', '[']) {
            out.push(' ');
        }
        gap = false;
        if c == '"' {
            quote = Some(c);
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_trimmed_and_a_string_loses_quotes_and_escapes() {
        for (raw, form) in [
            (" A ", "A"),
            ("\"A\"", "A"),
            ("'it\\'s'", "it's"),
            ("u'x'", "x"),
            (r#""a\n\t\u{1F980}\u00e9\x41""#, "a\n\t🦀éA"),
            (r#""C:\q""#, r"C:\q"),
            ("\"", "\""),
            ("Key { text: \"x\" }", "Key { text: \"x\" }"),
            (
                "Key {\n    text: \"a  b\",\n    list: [\n        1,\n        2,\n    ],\n}",
                "Key { text: \"a  b\", list: [1, 2] }",
            ),
            ("Pair(\n    1,\n    \"x\",\n)", "Pair(1, \"x\")"),
            ("Unit {\n}", "Unit {}"),
        ] {
            assert_eq!(clean(raw), form, "{raw}");
        }
    }

    #[test]
    fn broken_escapes_stay_as_they_are() {
        for text in [r"\u{", r"\u{110000}", r"\uD800", r"\x", r"\xg1", r"\é", "\\"] {
            assert_eq!(unescape(text), text);
        }
    }
}
