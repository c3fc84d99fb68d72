//! Text of Rust's built-in test harness, as `cargo test` prints it.
//!
//! The same test path can exist in several binaries, so cargo's header names the suite. Output of
//! a test that is not captured glues to the harness's own: a line may hold the end of one and the
//! beginning of the other. A binary that dies leaves no summary; what it had not reported is
//! unknown.

mod binary;
mod lines;

use std::collections::HashMap;

use binary::Binary;

use super::console::{self, Place, Text, Tries};
use super::{Collector, Format, Line, LineReader};
use crate::model::{Counts, Evidence, Outcome, TestId};

/// Panics outside of any test run that are kept.
const LOOSE_MAX: usize = 1_000;

/// Reads the format.
#[derive(Debug, Default)]
pub(crate) struct Libtest {
    /// The suite that the last header named, and its line.
    header: Option<(String, u64)>,
    binary: Option<Binary>,
    tries: Tries,
    /// Between `failures:` and the end of its list or sections.
    failures: bool,
    /// Panics seen while no harness was: an excerpt of a log.
    loose: Vec<Loose>,
    seen: bool,
    foreign: bool,
}

/// A panic of a thread that is named like a test.
#[derive(Debug)]
struct Loose {
    path: String,
    place: Place,
    text: Text,
}

impl LineReader for Libtest {
    fn line(&mut self, line: &Line<'_>, out: &mut Collector) {
        let text = line.text;
        if self.binary.as_mut().is_some_and(|binary| binary.written(text)) {
            return;
        }
        // A failed test that runs tests itself prints such lines too.
        let quoted = self.failures && self.binary.as_ref().is_some_and(Binary::in_section);
        if let Some(suite) = lines::binary(text) {
            self.close(None, out);
            self.header = Some((suite, line.number));
        } else if quoted {
            self.other(line, out);
        } else if let Some(count) = lines::running(text) {
            self.close(None, out);
            self.open(line, out).announced = Some(count);
        } else if let Some(totals) = lines::summary(text) {
            self.open(line, out);
            self.close(Some(&totals), out);
        } else if lines::gave_up(text) {
            self.close(None, out);
        } else if let Some(said) = lines::test(text).filter(|_| !self.failures) {
            self.open(line, out).test(&said, Place::of(line));
        } else {
            self.other(line, out);
        }
    }

    fn end(&mut self, out: &mut Collector) {
        self.close(None, out);
        if !self.seen && !self.foreign {
            self.excerpt(out);
        }
    }
}

impl Libtest {
    /// The binary that is running; a log that begins in the middle has no header for it.
    fn open(&mut self, line: &Line<'_>, out: &mut Collector) -> &mut Binary {
        self.seen = true;
        out.section(Format::Libtest, None);
        let header = &self.header;
        self.binary.get_or_insert_with(|| match header {
            Some((suite, number)) => Binary::new(suite, *number),
            None => Binary::new("", line.number),
        })
    }

    fn close(&mut self, totals: Option<&lines::Totals>, out: &mut Collector) {
        self.failures = false;
        if let Some(binary) = self.binary.take()
            && (totals.is_some() || !binary.is_empty())
        {
            binary.close(totals, &mut self.tries, out);
        }
    }

    /// Lines that are not a test's own: sections, the list of failures, panics, their text.
    fn other(&mut self, line: &Line<'_>, out: &mut Collector) {
        let text = line.text;
        let running = self.binary.is_some();
        if let Some(path) = lines::section(text).filter(|path| running || is_path(path)) {
            self.failures = true;
            self.open(line, out).begin_text(path);
            return;
        }
        if text.trim_end() == "failures:" && (self.binary.is_some() || self.seen) {
            self.failures = true;
            if let Some(binary) = &mut self.binary {
                binary.end_text();
            }
            return;
        }
        let panic = lines::panicked(text);
        let Some(binary) = &mut self.binary else {
            self.loose_line(panic, line);
            return;
        };
        binary.foreign(text);
        if self.failures {
            // Four blanks and a path: an entry of the list that closes the failures.
            match text.strip_prefix("    ").filter(|path| !path.starts_with(' ') && !path.is_empty()) {
                Some(path) if binary.lists(path) => binary.failed(path, Place::of(line)),
                _ => {
                    binary.leaves_list();
                    binary.push_text(text);
                }
            }
        } else {
            if let Some(path) = panic {
                binary.begin_panic(path);
            }
            binary.push_text(text);
        }
    }

    fn loose_line(&mut self, panic: Option<&str>, line: &Line<'_>) {
        let text = line.text;
        self.foreign |=
            text.contains("nextest") || text.starts_with("--- TRY ") || text.starts_with("--- STD");
        if self.seen || self.foreign {
            return;
        }
        if let Some(path) = panic
            && self.loose.len() < LOOSE_MAX
        {
            let (path, place) = (path.to_owned(), Place::of(line));
            self.loose.push(Loose { path, place, text: Text::default() });
        }
        if let Some(loose) = self.loose.last_mut() {
            loose.text.push(text);
        }
    }

    /// A text that holds panics of tests and nothing of the harness: each test failed. A test that
    /// panicked twice ran twice, and how its tries count is not determined.
    fn excerpt(&mut self, out: &mut Collector) {
        let mut failed = 0_u64;
        let mut times: HashMap<String, u32> = HashMap::new();
        for mut loose in std::mem::take(&mut self.loose) {
            if !is_path(&loose.path) {
                continue;
            }
            out.section(Format::Libtest, None);
            failed += 1;
            *times.entry(loose.path.clone()).or_default() += 1;
            let id = TestId { suite: String::new(), test: loose.path };
            let mut result = console::result(id, Outcome::Failed, loose.place, &mut self.tries);
            result.flags.truncated |= loose.text.full();
            result.failure = loose.text.take();
            out.result(result);
        }
        if failed > 0 {
            let once = times.values().all(|&n| n == 1);
            out.counts(&Counts { failed: once.then_some(failed), ..Counts::default() }, Evidence::E1);
        }
    }
}

/// True for a name that only a test has: a path with modules, or a documentation test.
fn is_path(name: &str) -> bool {
    name.contains("::") || name.contains(" (line ")
}

#[cfg(test)]
mod tests;
