//! Trail text: one trail on one line, so that a search of a log returns evidence and verdict
//! together.
//!
//! ```text
//! fate 7 at=2026-09-06T14:00:00.000000Z ENQUEUED@orders(+0.000) n=1 | MAIN_DEPTH@orders(+?) depth=1 seq=1 || open
//! ```
//!
//! The grammar with examples is in `docs/trail-text.md`. [`write()`] follows it to the letter;
//! [`find`] and [`parse`] read more than that: noise around a trail, XML and JSON escapes, and the
//! arrow form of the system that the idea comes from. All of them take time linear in the input.

mod cursor;
mod dialect;
mod error;
pub(crate) mod escape;
mod find;
mod parse;
mod unescape;
mod value;
mod write;

pub use error::{ParseError, ParseErrorKind};
pub use find::{Find, Form, Found, find, find_bytes, may_contain};
pub use parse::parse;
pub use value::Value;
pub use write::{write, write_to};

/// Version of the grammar. The minor grows when a reader of the older one would lose something,
/// the major when it would read something wrongly.
pub const GRAMMAR_VERSION: &str = "1.0";
