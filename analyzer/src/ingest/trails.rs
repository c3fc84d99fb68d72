//! Finds fate trails in any file, whatever else the file holds.

use memchr::memmem;

use super::FoundTrail;
use crate::limits;

/// Every stage of a trail shows its offset as `(+1.234)` or `(+?)`; a line without this cannot
/// hold one, and this is quick to look for.
const MARK: &[u8] = b"(+";

/// The trails of one line.
pub(crate) fn in_line(line: u64, text: &str, found: &mut Vec<FoundTrail>) {
    if memmem::find(text.as_bytes(), MARK).is_some() {
        found.extend(find(text).map(|trail| FoundTrail { line, trail }));
    }
}

fn find(_: &str) -> std::iter::Empty<fate_trail::Trail> {
    std::iter::empty()
}

/// Looks for trails in a stream of blocks whose lines may straddle them.
#[derive(Debug)]
pub(crate) struct Search {
    line: u64,
    /// The line that the last block left unfinished, as far as it is kept.
    partial: Vec<u8>,
    found: Vec<FoundTrail>,
}

impl Search {
    /// A search whose first line is `line`.
    pub(crate) fn new(line: u64) -> Search {
        Search { line, partial: Vec::new(), found: Vec::new() }
    }

    /// Searches the next block of the stream.
    pub(crate) fn block(&mut self, block: &[u8]) {
        let Some(last) = memchr::memrchr(b'\n', block) else {
            self.keep(block);
            return;
        };
        let first = memchr::memchr(b'\n', block).unwrap_or(last);
        self.keep(&block[..first]);
        self.end();
        self.line += 1;
        let (whole, tail) = block[first..].split_at(last + 1 - first);
        if memmem::find(whole, MARK).is_some() {
            for (number, line) in whole[1..].split(|&b| b == b'\n').enumerate() {
                if memmem::find(line, MARK).is_some() {
                    in_line(self.line + number as u64, &String::from_utf8_lossy(line), &mut self.found);
                }
            }
        }
        self.line += memchr::memchr_iter(b'\n', &whole[1..]).count() as u64;
        self.keep(tail);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = limits::LINE_MAX.saturating_sub(self.partial.len());
        self.partial.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// The stream is over: its last line needs no line end.
    pub(crate) fn end(&mut self) {
        if memmem::find(&self.partial, MARK).is_some() {
            in_line(self.line, &String::from_utf8_lossy(&self.partial), &mut self.found);
        }
        self.partial.clear();
    }

    /// What was found since the last call.
    pub(crate) fn take(&mut self) -> Vec<FoundTrail> {
        std::mem::take(&mut self.found)
    }
}
