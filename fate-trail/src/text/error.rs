//! Why a text is no trail.

use std::fmt;

/// What was wrong, where, and what would be right.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ParseError {
    kind: ParseErrorKind,
    at: usize,
}

/// The broken rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Neither `fate <id> ` nor a stage stands at the start.
    NoStart,
    /// No stage where one must be.
    NoStage,
    /// More text behind the end of the trail.
    TrailingText,
    /// Longer than [`crate::limits::TRAIL_BYTES`].
    TooLong,
}

impl ParseError {
    pub(crate) fn new(kind: ParseErrorKind, at: usize) -> Self {
        ParseError { kind, at }
    }

    /// The broken rule.
    pub fn kind(&self) -> ParseErrorKind {
        self.kind
    }

    /// Byte offset in the text, after XML and JSON escapes were undone.
    pub fn at(&self) -> usize {
        self.at
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = match self.kind {
            ParseErrorKind::NoStart => {
                "a trail starts with `fate <id> `; to search a log line use `text::find`"
            }
            ParseErrorKind::NoStage => {
                "a stage reads `TOKEN@hub(+1.234)` or `TOKEN@hub(+?)`, and `gap=7` stands for \
                 stages that were not kept"
            }
            ParseErrorKind::TrailingText => {
                "a stage is followed by ` key=value`, ` | `, ` <- reply#1 `, ` || verdict` or the \
                 end of the line; to search a log line use `text::find`"
            }
            ParseErrorKind::TooLong => {
                return write!(
                    f,
                    "trail text of more than {} bytes; split the trail or raise the limit",
                    crate::limits::TRAIL_BYTES
                );
            }
        };
        write!(f, "no trail text at byte {}: {rule}", self.at)
    }
}

impl std::error::Error for ParseError {}
