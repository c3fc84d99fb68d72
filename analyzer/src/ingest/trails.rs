//! Finds fate trails in any file, whatever else the file holds.

use std::io::BufRead;

use memchr::memmem;

use super::FoundTrail;
use super::decode::Decoder;
use crate::limits;

/// Besides the `@` of its stages a trail shows at least one of these: a head, an offset, or what
/// separates stages, plain or escaped for XML or JSON. Looking for them is much cheaper than
/// parsing.
const MARKS: [&[u8]; 7] = [b"(+", b"fate ", b" | ", b"->", b"=>", b"&", b"\\u"];

/// Arrows beyond ASCII begin with this byte in UTF-8.
const ARROW_LEAD: u8 = 0xE2;

/// Hands over every trail of a file with its 1-based line, and reads nothing else of it: for questions that only
/// trails answer. What cannot be decoded is passed over.
pub fn each_trail(input: &mut dyn BufRead, each: &mut dyn FnMut(u64, fate_trail::Trail)) {
    let mut decoder = Decoder::new(input);
    let mut search = Search::new(1);
    loop {
        // A decoder keeps its error; to the search it is the end.
        let block = decoder.fill_buf().unwrap_or(&[]);
        let size = block.len();
        if size == 0 {
            search.end();
        }
        search.block(block);
        decoder.consume(size);
        search.take().into_iter().for_each(|found| each(found.line, found.trail));
        if size == 0 {
            return;
        }
    }
}

/// The trails of one line.
pub(crate) fn in_line(line: u64, text: &str, found: &mut Vec<FoundTrail>) {
    if may_hold(text.as_bytes()) {
        found.extend(fate_trail::text::find(text).map(|found| FoundTrail { line, trail: found.trail }));
    }
}

fn may_hold(line: &[u8]) -> bool {
    memchr::memchr(b'@', line).is_some()
        && (memchr::memchr(ARROW_LEAD, line).is_some()
            || MARKS.iter().any(|mark| memmem::find(line, mark).is_some()))
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
        if memchr::memchr(b'@', whole).is_some() {
            for (number, line) in whole[1..].split(|&b| b == b'\n').enumerate() {
                if may_hold(line) {
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
        if may_hold(&self.partial) {
            in_line(self.line, &String::from_utf8_lossy(&self.partial), &mut self.found);
        }
        self.partial.clear();
    }

    /// What was found since the last call.
    pub(crate) fn take(&mut self) -> Vec<FoundTrail> {
        std::mem::take(&mut self.found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAIL: &str =
        "fate 7 at=2026-09-06T14:00:00.000000Z ENQUEUED@orders(+0.000) n=1 | HANDLER_ENTER@orders(+1.500)";

    fn lines_of(text: &str, block: usize) -> Vec<u64> {
        let mut search = Search::new(1);
        for block in text.as_bytes().chunks(block) {
            search.block(block);
        }
        search.end();
        search.take().iter().map(|found| found.line).collect()
    }

    #[test]
    fn trails_are_found_at_their_lines_however_the_blocks_fall() {
        let text = format!("a@b\n<system-out>{TRAIL}\nx\n\nnoise {TRAIL}\n{TRAIL}");
        for block in [1, 2, 7, 64, 1000] {
            assert_eq!(lines_of(&text, block), [2, 5, 6], "block {block}");
        }
    }

    #[test]
    fn the_arrow_form_is_found_plain_and_escaped() {
        for text in
            ["ENQUEUED@orders/7 → HANDLER_ENTER@orders/7", "ENQUEUED@orders/7 -&gt; HANDLER_ENTER@orders/7"]
        {
            assert_eq!(lines_of(text, 5), [1], "{text}");
        }
        assert!(lines_of("mail x@example.org (+1)", 5).is_empty());
    }
}
