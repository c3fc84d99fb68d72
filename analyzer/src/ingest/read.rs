//! Reads one file: finds out what it is and sends it the right way.

use std::io::BufRead;

use super::decode::Decoder;
use super::{Collector, FileReport, lines, xml};
use crate::complaint;
use crate::limits;

/// Share of characters that are no text, in percent, above which a file is taken for binary.
const BINARY_PERCENT: usize = 20;

/// Reads everything `input` says. `path` is only shown, never used to tell what the file is.
///
/// Nothing in the file makes this fail: what cannot be read is complained about in the report.
/// Memory is bounded by the limits in [`crate::limits`] and by the number of results.
pub fn read(input: &mut dyn BufRead, path: &str) -> FileReport {
    let mut out = Collector::new(path);
    let mut decoder = Decoder::new(input);
    let head = String::from_utf8_lossy(decoder.peek(limits::SNIFF_BYTES)).into_owned();
    match kind(&head) {
        Kind::Empty if decoder.error().is_none() => {
            let text = "the file is empty; the job may have ended before it was written";
            out.complain(0, complaint::EMPTY, text);
        }
        Kind::Empty => {}
        Kind::Binary => {
            out.complain(0, complaint::BINARY, "the file is no text, so it cannot be a log or a test report");
        }
        Kind::Xml => {
            xml::read_documents(&mut decoder, 1, &mut out);
        }
        Kind::Text => lines::read(&mut decoder, &mut out),
    }
    if let Some(error) = decoder.error() {
        let text =
            format!("reading stopped after {} bytes: {error}; what was read before counts", decoder.bytes());
        out.complain(0, complaint::UNREADABLE, text);
    }
    if decoder.replaced() && out.recognised() {
        out.complain(
            0,
            complaint::INVALID_BYTES,
            "bytes that are invalid in the file's encoding were read as U+FFFD",
        );
    }
    let complained = [
        complaint::EMPTY,
        complaint::BINARY,
        complaint::FOREIGN_XML,
        complaint::UNREADABLE,
        complaint::TRUNCATED,
    ]
    .iter()
    .any(|c| out.complained(c));
    if !out.recognised() && !complained {
        out.complain(
            0,
            complaint::UNRECOGNISED,
            "nothing in the file looks like a test report or a log of a known test runner; leave it out, or see \
             the list of formats",
        );
    }
    out.finish()
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Empty,
    Binary,
    Xml,
    Text,
}

/// Tells by its beginning what a file is.
fn kind(head: &str) -> Kind {
    if head.trim_matches(|c: char| c.is_whitespace() || c == '\0').is_empty() {
        return Kind::Empty;
    }
    let chars = head.chars().count();
    let odd = head
        .chars()
        .filter(|&c| {
            c == char::REPLACEMENT_CHARACTER
                || (c < ' ' && !matches!(c, '\t' | '\n' | '\r' | '\x08' | '\x0C' | '\x1B'))
        })
        .count();
    if odd * 100 > chars * BINARY_PERCENT {
        return Kind::Binary;
    }
    let start = head.trim_start();
    let ours = xml::root_of(start).is_some_and(|root| xml::document_for(root).is_some());
    if ours || start.starts_with("<?xml") || start.starts_with("<!DOCTYPE") || start.starts_with("<!--") {
        Kind::Xml
    } else {
        Kind::Text
    }
}
