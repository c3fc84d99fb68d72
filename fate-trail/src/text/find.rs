//! Finds every trail in a log line, whatever stands around it.

use std::borrow::Cow;

use super::cursor::{Cursor, steps};
use super::dialect;
use super::parse::{Parsed, headed};
use super::unescape::unescape;
use crate::limits::TRAIL_BYTES;
use crate::trail::Trail;

/// How a trail was written.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Form {
    /// As the grammar says, with a head `fate <id> `.
    Canonical,
    /// With arrows and without a head, as the system that the idea comes from writes it.
    Dialect,
}

/// One trail found in a line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Found {
    /// The trail.
    pub trail: Trail,
    /// How it was written.
    pub form: Form,
    /// False where it was cut at [`TRAIL_BYTES`].
    pub complete: bool,
}

/// Every trail in a line, from left to right. Never fails: what is no trail is passed over.
pub fn find(line: &str) -> Find<'_> {
    Find { text: if may_contain(line) { unescape(line) } else { Cow::Borrowed("") }, pos: 0 }
}

/// As [`find`], in bytes that may not be UTF-8.
pub fn find_bytes(line: &[u8]) -> Find<'_> {
    match String::from_utf8_lossy(line) {
        Cow::Borrowed(line) => find(line),
        Cow::Owned(line) => Find { text: Cow::Owned(unescape(&line).into_owned()), pos: 0 },
    }
}

/// False where a line surely holds no trail; much cheaper than [`find`].
pub fn may_contain(line: &str) -> bool {
    line.contains('@') || line.contains("fate ")
}

/// The iterator of [`find`].
#[derive(Clone, Debug)]
pub struct Find<'a> {
    text: Cow<'a, str>,
    pos: usize,
}

impl Iterator for Find<'_> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        loop {
            let start = next_start(&self.text, self.pos)?;
            let end = dialect::floor(&self.text, start + TRAIL_BYTES);
            let window = Cursor::new(&self.text[..end], start);
            match at_start(window) {
                Ok(parsed) => {
                    self.pos = parsed.end;
                    return Some(Found {
                        complete: parsed.end < end || end == self.text.len(),
                        trail: parsed.trail,
                        form: parsed.form,
                    });
                }
                Err(passed) => self.pos = passed,
            }
        }
    }
}

/// The trail that starts here, or where to go on.
fn at_start(at: Cursor<'_>) -> Result<Parsed, usize> {
    if let Ok(parsed) = headed(at) {
        return Ok(parsed);
    }
    match dialect::trail(at) {
        Some(parsed) if dialect::is_evident(&parsed.trail) => Ok(parsed),
        // No other trail starts inside what was read, so no byte is read over and over.
        Some(parsed) => Err(parsed.end),
        None => Err(at.pos + 1),
    }
}

/// The next place at or behind `from` where a trail may start.
fn next_start(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut before = from.checked_sub(1).and_then(|i| bytes.get(i)).copied();
    for (i, byte) in bytes.iter().enumerate().skip(from) {
        steps::add(1);
        // A structured log may name its field: `trail=fate 7 …`.
        let named = *byte == b'f' && before == Some(b'=');
        let fresh = named || before.is_none_or(|b| !continues_name(b));
        before = Some(*byte);
        if !fresh {
            continue;
        }
        let found = match byte {
            b'f' => bytes[i..].starts_with(b"fate ") || bytes[i..].starts_with(b"fate\t"),
            byte if byte.is_ascii_uppercase() => dialect::may_start(Cursor::new(text, i)),
            _ => false,
        };
        if found {
            return Some(i);
        }
    }
    None
}

/// A token does not start behind such a byte.
fn continues_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'%' | b'-' | b'@' | b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at a byte that reading may take on the worst of lines.
    const LOOKS_A_BYTE: usize = 24;

    #[test]
    fn the_worst_lines_take_linear_time() {
        let filler = "x ".repeat(600);
        let worst = [
            "fate ".to_owned(),
            "fate 7 ".to_owned(),
            "fate 7 A@".to_owned(),
            "fate 7 A@h(+1) | ".to_owned(),
            "fate 7 A@h(+1) || ".to_owned(),
            "fate 7 A@h(+1) <- reply#1 ".to_owned(),
            "RECEIVED ".to_owned(),
            "RECEIVED x ".to_owned(),
            "RECEIVED @ ".to_owned(),
            "RECEIVED@".to_owned(),
            "ABC@h ".to_owned(),
            "ABC@h → ".to_owned(),
            "ABC@h → RECEIVED ".to_owned(),
            "ABC@h(+1ms) → RECEIVED ".to_owned(),
            "RECEIVED x → y ".to_owned(),
            " ↩ ".to_owned(),
            "RECEIVED a@b ↩  ⇒ ".to_owned(),
            " ".to_owned(),
            "A".to_owned(),
            "@".to_owned(),
            format!("RECEIVED {filler}"),
            format!("ABC@h(+1ms) → RECEIVED {filler}"),
            format!("RECEIVED@h → {}", "y".repeat(1100)),
            format!("fate 7 A@h(+1) || {}", " ".repeat(999)),
            format!("@{}", "\\".repeat(1 << 15)),
            format!("@{}u12", "\\".repeat(1 << 15)),
            format!("@&{}", "amp;".repeat(1 << 13)),
            format!("@{}", "&amp".repeat(1 << 13)),
        ];
        for pattern in worst {
            let line = pattern.repeat(1 + (1 << 15) / pattern.len());
            steps::take();
            let _ = find(&line).count();
            let looks = steps::take() / line.len();
            assert!(looks <= LOOKS_A_BYTE, "{looks} looks a byte at {pattern:.60}");
        }
    }
}
