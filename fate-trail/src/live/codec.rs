//! Lines to frames and back, with limits; whatever comes in is hostile until it went through here.

use std::fmt;

use serde_json::Value;

use super::{Frame, MAX_LINE, MAX_TEXT, MAX_TRAIL};
use crate::scrub;

/// What one line turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Decoded {
    /// A frame, and how many of its fields this version does not know.
    Frame(Box<Frame>, u64),
    /// A frame of a kind that this version does not know: to be ignored and counted.
    Unknown(String),
}

/// Why a line is no frame, or a frame no line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodecError {
    /// Not one JSON object with a text field `kind`.
    NotAFrame(String),
    /// A known kind with a field that is missing or of the wrong type.
    BadFrame(String),
    /// The line is longer than allowed.
    TooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodecError::NotAFrame(why) => write!(f, "not a frame: {why}"),
            CodecError::BadFrame(why) => write!(f, "a damaged frame: {why}"),
            CodecError::TooLong { bytes, limit } => {
                write!(f, "a line of {bytes} bytes; at most {limit} are allowed")
            }
        }
    }
}

impl std::error::Error for CodecError {}

/// Writes a frame as one line, newline included.
///
/// # Errors
/// [`CodecError::TooLong`] if the line exceeds [`MAX_LINE`].
pub fn encode(frame: &Frame) -> Result<String, CodecError> {
    let mut line = match serde_json::to_string(frame) {
        Ok(line) => line,
        Err(error) => return Err(CodecError::BadFrame(error.to_string())),
    };
    if line.len() > MAX_LINE {
        return Err(CodecError::TooLong { bytes: line.len(), limit: MAX_LINE });
    }
    line.push('\n');
    Ok(line)
}

/// Reads one line (newline optional). Every text in it is scrubbed and capped here, once, so that
/// nothing behind this function has to think of terminals.
///
/// # Errors
/// The line is too long, no JSON object, or a frame with a broken field.
pub fn decode(line: &[u8]) -> Result<Decoded, CodecError> {
    if line.len() > MAX_LINE {
        return Err(CodecError::TooLong { bytes: line.len(), limit: MAX_LINE });
    }
    let mut sent: Value =
        serde_json::from_slice(line).map_err(|e| CodecError::NotAFrame(scrubbed(&e.to_string())))?;
    // A trail is longer than any other text.
    let is_fate = sent.get("kind").and_then(Value::as_str) == Some("fate");
    let trail = sent.get_mut("trail").filter(|_| is_fate).map(Value::take);
    clean(&mut sent);
    if let (Some(trail), Some(place)) = (trail, sent.get_mut("trail")) {
        *place = match trail {
            Value::String(line) => Value::String(scrub::scrub_to(&line, MAX_TRAIL).into_owned()),
            _ => Value::Null,
        };
    }
    let kind = sent.get("kind").and_then(Value::as_str).map(str::to_owned);
    let Some(kind) = kind else {
        return Err(CodecError::NotAFrame("no text field `kind`".to_owned()));
    };
    if !Frame::KINDS.contains(&kind.as_str()) {
        return Ok(Decoded::Unknown(kind));
    }
    let bad = |e: serde_json::Error| CodecError::BadFrame(scrubbed(&format!("{kind}: {e}")));
    let frame = <Frame as serde::Deserialize>::deserialize(&sent).map_err(bad)?;
    // Whatever does not come back when the frame is written again was not understood.
    let known = serde_json::to_value(&frame).map_err(bad)?;
    Ok(Decoded::Frame(Box::new(frame), unknown_fields(&sent, &known)))
}

/// Counts the object fields in `sent` that `known` has not.
fn unknown_fields(sent: &Value, known: &Value) -> u64 {
    match (sent, known) {
        (Value::Object(sent), Value::Object(known)) => {
            sent.iter().map(|(key, value)| known.get(key).map_or(1, |k| unknown_fields(value, k))).sum()
        }
        (Value::Array(sent), Value::Array(known)) => {
            sent.iter().zip(known).map(|(s, k)| unknown_fields(s, k)).sum()
        }
        _ => 0,
    }
}

/// Scrubs every text value. Keys are left alone: an unknown key is counted, never shown.
fn clean(value: &mut Value) {
    match value {
        Value::String(text) => *text = scrubbed(text),
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(fields) => fields.values_mut().for_each(clean),
        _ => {}
    }
}

fn scrubbed(text: &str) -> String {
    scrub::scrub_to(text, MAX_TEXT).into_owned()
}

/// Cuts a byte stream into lines without ever holding more than one line of the allowed length.
#[derive(Debug)]
pub struct LineBuffer {
    limit: usize,
    bytes: Vec<u8>,
    /// Bytes of an over-long line that were thrown away so far; `None` while a line is in order.
    skipping: Option<usize>,
}

/// One piece of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinePiece {
    /// A line without its newline.
    Line(Vec<u8>),
    /// A line that was longer than the limit and has been thrown away.
    TooLong {
        /// Its length in bytes.
        bytes: usize,
    },
}

impl LineBuffer {
    /// A buffer that accepts lines of up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        LineBuffer { limit, bytes: Vec::new(), skipping: None }
    }

    /// Takes what a read returned and hands out every line that it completes. A `\r` before the
    /// newline and empty lines are dropped.
    pub fn feed(&mut self, mut input: &[u8], out: &mut Vec<LinePiece>) {
        while let Some(end) = input.iter().position(|&b| b == b'\n') {
            let (head, tail) = input.split_at(end);
            input = &tail[1..];
            self.take(head);
            if let Some(bytes) = self.skipping.take() {
                out.push(LinePiece::TooLong { bytes });
                self.bytes.clear();
                continue;
            }
            let mut line = std::mem::take(&mut self.bytes);
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            if !line.is_empty() {
                out.push(LinePiece::Line(line));
            }
        }
        self.take(input);
    }

    /// True while an over-long line is still being thrown away.
    pub fn is_skipping(&self) -> bool {
        self.skipping.is_some()
    }

    fn take(&mut self, part: &[u8]) {
        if let Some(bytes) = &mut self.skipping {
            *bytes += part.len();
        } else if self.bytes.len() + part.len() > self.limit {
            self.skipping = Some(self.bytes.len() + part.len());
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(part);
        }
    }
}
