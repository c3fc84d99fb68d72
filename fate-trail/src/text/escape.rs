//! Percent-encoding of names, values and verdicts, so that a trail is one line of printable ASCII
//! that XML and JSON writers leave as it is.

use std::borrow::Cow;

/// Stands for an empty name, which the text could not show.
pub(crate) const EMPTY: &str = "-";

/// True for a byte that a name may show as it is. Beside the characters that the grammar uses,
/// those that XML or JSON would escape are encoded too.
pub(crate) fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(
            byte,
            b'(' | b')' | b'@' | b'=' | b'|' | b',' | b'%' | b'"' | b'&' | b'\'' | b'<' | b'>' | b'\\'
        )
}

/// Appends a name: an id, a token, a hub or a key. The empty name is `-`.
pub(crate) fn push_word(out: &mut String, word: &str) {
    match word {
        "" => out.push_str(EMPTY),
        // The name that is a lone dash must not read back as the empty one.
        EMPTY => push_byte(out, b'-'),
        word => push_plain(out, word),
    }
}

/// Appends text with every byte encoded that is not plain.
pub(crate) fn push_plain(out: &mut String, text: &str) {
    for byte in text.bytes() {
        if is_plain(byte) {
            out.push(char::from(byte));
        } else {
            push_byte(out, byte);
        }
    }
}

/// Appends a verdict: as a name, but single spaces inside and some punctuation stay readable.
pub(crate) fn push_verdict(out: &mut String, verdict: &str) {
    if verdict.is_empty() || verdict == EMPTY {
        return push_word(out, verdict);
    }
    let last = verdict.len() - 1;
    for (i, byte) in verdict.bytes().enumerate() {
        let readable = match byte {
            b' ' => i != 0 && i != last,
            b'(' | b')' | b'@' | b'=' | b',' => true,
            byte => is_plain(byte),
        };
        if readable {
            out.push(char::from(byte));
        } else {
            push_byte(out, byte);
        }
    }
}

fn push_byte(out: &mut String, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(char::from(HEX[usize::from(byte >> 4)]));
    out.push(char::from(HEX[usize::from(byte & 15)]));
}

/// The inverse of [`push_word`]. A `%` that starts no valid code stays; bytes that are not UTF-8
/// become U+FFFD.
pub(crate) fn word(text: &str) -> Cow<'_, str> {
    if text == EMPTY {
        return Cow::Borrowed("");
    }
    decode(text)
}

/// Replaces every `%XX`.
pub(crate) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while let Some(&byte) = bytes.get(i) {
        let code =
            (byte == b'%').then(|| Some(hex(*bytes.get(i + 1)?)? << 4 | hex(*bytes.get(i + 2)?)?)).flatten();
        out.push(code.unwrap_or(byte));
        i += if code.is_some() { 3 } else { 1 };
    }
    Cow::Owned(match String::from_utf8(out) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|d| u8::try_from(d).ok())
}
