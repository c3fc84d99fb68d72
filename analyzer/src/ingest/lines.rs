//! The line path: a log line by line, with the CI wrapper and terminal escapes taken off, handed
//! to every console format; XML documents that stand in the log are read as XML.

use std::borrow::Cow;
use std::io::BufRead;

use memchr::{memchr, memchr2};

use super::decode::Decoder;
use super::embedded::Embedded;
use super::libtest::Libtest;
use super::vstest::Vstest;
use super::xunit::XunitConsole;
use super::{Collector, Line, LineReader, Wrapper, ansi, trails, wrapper};
use crate::limits;

/// The console formats, in no particular order: each takes only what is its own.
fn readers() -> Vec<Box<dyn LineReader>> {
    vec![Box::<Vstest>::default(), Box::<XunitConsole>::default(), Box::<Libtest>::default()]
}

/// Reads a whole log.
pub(crate) fn read(decoder: &mut Decoder<'_>, out: &mut Collector) {
    let head = String::from_utf8_lossy(decoder.peek(limits::SNIFF_BYTES));
    let wrapper = wrapper::detect(&head);
    // A file whose lines all end in carriage returns: in any other they rewrite a line.
    let mut line_end =
        if memchr(b'\n', head.as_bytes()).is_none() && head.contains('\r') { b'\r' } else { b'\n' };
    drop(head);
    out.set_wrapper(wrapper);
    let mut log =
        Log { readers: readers(), embedded: Embedded::default(), wrapper, found: Vec::new(), stamped: false };
    let mut bytes = Vec::new();
    let mut number = 0;
    loop {
        let begun = line_end;
        let Some(truncated) = next_line(decoder, &mut line_end, &mut bytes) else { break };
        // What looked like lines was one, rewritten all the time.
        number = if line_end == begun { number + 1 } else { 1 };
        // Only a line whose middle was dropped may be cut inside a character.
        let raw = std::str::from_utf8(&bytes).map_or_else(|_| String::from_utf8_lossy(&bytes), Cow::Borrowed);
        log.line(number, &raw, truncated, decoder.replaced(), out);
    }
    log.end(out);
}

struct Log {
    readers: Vec<Box<dyn LineReader>>,
    embedded: Embedded,
    wrapper: Wrapper,
    found: Vec<super::FoundTrail>,
    /// The first stamp, which is the earliest, was seen.
    stamped: bool,
}

impl Log {
    fn line(&mut self, number: u64, raw: &str, truncated: bool, replaced: bool, out: &mut Collector) {
        let (stamp, content) = match self.wrapper {
            Wrapper::Actions => {
                wrapper::unwrap_actions(raw).map_or((None, raw), |(stamp, text)| (Some(stamp), text))
            }
            Wrapper::None => (None, raw),
        };
        let content = content.trim_end_matches('\r');
        // A progress display rewrites its line; what a terminal shows in the end is what counts.
        let content = content.rsplit_once('\r').map_or(content, |(_, last)| last);
        let plain = without_nuls(content);
        let plain = ansi::strip(&plain);
        let text = if stamp.is_some() { wrapper::strip_marker(&plain) } else { &plain };
        if !self.stamped
            && let Some(time) = stamp.and_then(|stamp| stamp.parse().ok())
        {
            out.time(time);
            self.stamped = true;
        }
        trails::in_line(number, text, &mut self.found);
        for found in self.found.drain(..) {
            out.trail(found.line, found.trail);
        }
        let repaired = content.contains('\0') || (replaced && text.contains(char::REPLACEMENT_CHARACTER));
        let line = Line { number, text, truncated, repaired };
        if self.embedded.takes(number, text, out) {
            return;
        }
        for (number, text) in self.embedded.give_back() {
            let line = Line { number, text: &text, ..line };
            for reader in &mut self.readers {
                reader.line(&line, out);
            }
        }
        for reader in &mut self.readers {
            reader.line(&line, out);
        }
    }

    fn end(&mut self, out: &mut Collector) {
        self.embedded.end(out);
        for (number, text) in self.embedded.give_back() {
            let line = Line { number, text: &text, truncated: false, repaired: false };
            for reader in &mut self.readers {
                reader.line(&line, out);
            }
        }
        for reader in &mut self.readers {
            reader.end(out);
        }
    }
}

fn without_nuls(text: &str) -> Cow<'_, str> {
    if memchr(0, text.as_bytes()).is_some() {
        Cow::Owned(text.replace('\0', ""))
    } else {
        Cow::Borrowed(text)
    }
}

/// Reads the next line into `line`, without its `line_end`, which becomes a line feed at the first
/// line feed there is; `None` at the end of the file, else
/// whether the middle of the line was dropped because it is longer than [`limits::LINE_MAX`].
fn next_line(decoder: &mut Decoder<'_>, line_end: &mut u8, line: &mut Vec<u8>) -> Option<bool> {
    const HALF: usize = limits::LINE_MAX / 2;
    line.clear();
    let mut any = false;
    let mut dropped = false;
    loop {
        let chunk = decoder.fill_buf().unwrap_or(&[]);
        if chunk.is_empty() {
            break;
        }
        any = true;
        let end = if *line_end == b'\n' { memchr(b'\n', chunk) } else { memchr2(b'\r', b'\n', chunk) };
        if end.is_some_and(|end| chunk[end] == b'\n') {
            *line_end = b'\n';
        }
        let part = &chunk[..end.unwrap_or(chunk.len())];
        line.extend_from_slice(part);
        let used = part.len() + usize::from(end.is_some());
        decoder.consume(used);
        // Dropping moves the tail, so it waits until there is as much again to drop.
        if line.len() > 2 * limits::LINE_MAX {
            line.drain(HALF..line.len() - HALF);
            dropped = true;
        }
        if end.is_some() {
            break;
        }
    }
    if line.len() > limits::LINE_MAX {
        line.drain(HALF..line.len() - HALF);
        dropped = true;
    }
    any.then_some(dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<(String, bool)> {
        let mut source = std::io::BufReader::with_capacity(5, bytes);
        let mut decoder = Decoder::new(&mut source);
        let mut line = Vec::new();
        let mut all = Vec::new();
        while let Some(cut) = next_line(&mut decoder, &mut b'\n', &mut line) {
            all.push((String::from_utf8_lossy(&line).into_owned(), cut));
        }
        all
    }

    #[test]
    fn lines_straddle_blocks_and_the_last_needs_no_end() {
        let texts: Vec<String> = lines(b"one\n\ntwo two two\nthree").into_iter().map(|(l, _)| l).collect();
        assert_eq!(texts, ["one", "", "two two two", "three"]);
    }

    #[test]
    fn lines_may_all_end_in_carriage_returns() {
        let text = "running 2 tests\rtest a ... ok\rtest b ... ok\r\rtest result: ok. 2 passed; 0 failed; 0 ignored\r";
        let report = super::super::read(&mut text.as_bytes(), "case");
        assert_eq!((report.results.len(), report.results[1].line), (2, 3));
        let progress = format!("10 %\r100 %\r{}", text.replace('\r', "\r\n"));
        assert_eq!(super::super::read(&mut progress.as_bytes(), "case").results.len(), 2);
        let spinner = "10 %\r".repeat(limits::SNIFF_BYTES) + &progress;
        let report = super::super::read(&mut spinner.as_bytes(), "case");
        assert_eq!((report.results.len(), report.results[1].line), (2, 3));
    }

    #[test]
    fn of_an_endless_line_head_and_tail_stay() {
        let mut bytes = b"head".to_vec();
        bytes.resize(3 * limits::LINE_MAX, b'x');
        bytes.extend_from_slice(b"tail\nnext");
        let all = lines(&bytes);
        assert_eq!(all.len(), 2);
        assert!(all[0].1 && all[0].0.len() <= limits::LINE_MAX);
        assert!(all[0].0.starts_with("headx") && all[0].0.ends_with("xtail"));
        assert_eq!(all[1], ("next".to_owned(), false));
    }
}
