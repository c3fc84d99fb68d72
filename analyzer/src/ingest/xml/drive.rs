//! Turns the parser's events into calls of a [`Document`], whatever state the document is in.

use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::source::Source;
use super::tag::{Tag, resolve};
use super::{Document, document_for};
use crate::complaint;
use crate::ingest::Collector;
use crate::limits;

/// Reads all documents of `input`, which begins at line `first_line` of the file, and complains
/// about what is wrong with them.
pub(crate) fn read_documents(input: &mut dyn BufRead, first_line: u64, out: &mut Collector) {
    let mut reader = Reader::from_reader(Source::new(input, first_line));
    let config = reader.config_mut();
    // Broken nesting and stray ampersands are handled below, where they can be complained about
    // and read over.
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut driver = Driver::default();
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        reader.get_mut().next_token();
        let line = reader.get_ref().line();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Eof) => break,
            Ok(event) => driver.event(event, line, out),
            Err(error) => {
                driver.broken(&buffer, line, &error, out);
                break;
            }
        }
        if driver.stop {
            break;
        }
    }
    let source = reader.get_mut();
    let (line, refused, dropped) = (source.line(), source.refused(), source.dropped());
    // Trails may stand anywhere, also behind the place where reading stopped.
    while let Ok(chunk) = source.fill_buf()
        && !chunk.is_empty()
    {
        let n = chunk.len();
        source.next_token();
        source.consume(n);
    }
    for found in source.take_trails() {
        out.trail(found.line, found.trail);
    }
    driver.end(line, refused, dropped, out);
}

#[derive(Default)]
struct Driver {
    document: Option<Box<dyn Document>>,
    /// The open elements: where each name ends in `names`, and its line.
    open: Vec<(usize, u64)>,
    names: String,
    documents: u32,
    /// Reading stopped before the end, and why was said.
    given_up: bool,
    /// Said once for each document.
    mismatch_said: bool,
    stop: bool,
}

impl Driver {
    fn event(&mut self, event: Event<'_>, line: u64, out: &mut Collector) {
        match event {
            Event::Start(start) => self.start(&start, line, out),
            Event::Empty(start) => {
                self.start(&start, line, out);
                if !self.stop {
                    self.close(true, out);
                }
            }
            Event::End(end) => self.end_tag(end.local_name().into_inner(), line, out),
            Event::Text(text) => {
                if self.document.is_none() {
                    self.trailing(&text, line, out);
                }
                self.text(&text);
            }
            Event::CData(text) => self.text(&text),
            Event::GeneralRef(reference) => match resolve(&reference) {
                Some(c) => self.text(c.encode_utf8(&mut [0; 4])),
                None => {
                    self.text("&");
                    self.text(&reference);
                    self.text(";");
                }
            },
            _ => {}
        }
    }

    fn start(&mut self, start: &BytesStart<'_>, line: u64, out: &mut Collector) {
        let tag = Tag::new(start, line);
        if self.open.len() >= limits::XML_DEPTH_MAX {
            out.complain(
                line,
                complaint::XML_TOO_DEEP,
                format!(
                    "elements are nested more than {} deep, which no test report does; the file is read up to here",
                    limits::XML_DEPTH_MAX
                ),
            );
            self.given_up = true;
            self.stop = true;
            return;
        }
        if self.open.is_empty() {
            let Some(document) = document_for(tag.name()) else {
                self.foreign(&tag, out);
                return;
            };
            self.document = Some(document);
            self.documents += 1;
            self.mismatch_said = false;
        }
        self.names.push_str(tag.name());
        self.open.push((self.names.len(), line));
        if let Some(document) = &mut self.document {
            document.start(&tag, out);
        }
    }

    fn foreign(&mut self, tag: &Tag<'_>, out: &mut Collector) {
        let name = shown(tag.name());
        out.complain(
            tag.line,
            complaint::FOREIGN_XML,
            format!(
                "the document's root element is <{name}>, and only JUnit XML (<testsuites>, <testsuite>) and \
                 TRX (<TestRun>) are read; leave this file out or convert it"
            ),
        );
        self.given_up = true;
        self.stop = true;
    }

    /// Text outside any document: white space, or something that does not belong here.
    fn trailing(&mut self, text: &str, line: u64, out: &mut Collector) {
        if !text.trim().is_empty() && !out.complained(complaint::XML_TRAILING) {
            let line = line
                + text.bytes().take_while(u8::is_ascii_whitespace).filter(|&b| b == b'\n').count() as u64;
            out.complain(
                line,
                complaint::XML_TRAILING,
                "text outside the XML document is not read; keep the report and the log in files of their own",
            );
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(document) = &mut self.document {
            document.text(text);
        }
    }

    fn end_tag(&mut self, name: &str, line: u64, out: &mut Collector) {
        let matched = (0..self.open.len()).rev().find(|&at| self.open_name(at) == name);
        if matched.is_none_or(|at| at + 1 != self.open.len()) && !self.mismatch_said {
            let want = self.innermost().map_or_else(
                || "no element is open".to_owned(),
                |(open, at)| format!("<{open}> of line {at} is open"),
            );
            out.complain(
                line,
                complaint::XML_MISMATCH,
                format!("</{}> closes nothing here: {want}; the rest is read as it best fits", shown(name)),
            );
            self.mismatch_said = true;
        }
        if let Some(at) = matched {
            while self.open.len() > at {
                let whole = self.open.len() == at + 1;
                self.close(whole, out);
            }
        }
    }

    fn open_name(&self, at: usize) -> &str {
        let start = at.checked_sub(1).and_then(|before| self.open.get(before)).map_or(0, |(end, _)| *end);
        self.open.get(at).and_then(|(end, _)| self.names.get(start..*end)).unwrap_or("")
    }

    /// The innermost open element, to be shown, and its line.
    fn innermost(&self) -> Option<(String, u64)> {
        let (_, line) = self.open.last()?;
        Some((shown(self.open_name(self.open.len() - 1)), *line))
    }

    fn close(&mut self, whole: bool, out: &mut Collector) {
        self.open.pop();
        self.names.truncate(self.open.last().map_or(0, |(end, _)| *end));
        if let Some(document) = &mut self.document {
            document.end(whole, out);
            if self.open.is_empty() {
                document.finish(out);
                self.document = None;
            }
        }
    }

    /// The parser gave up at `line`. Text that was begun still belongs to its element.
    fn broken(&mut self, buffer: &[u8], line: u64, error: &quick_xml::Error, out: &mut Collector) {
        if let Some(text) = buffer.strip_prefix(b"<![CDATA[") {
            self.text(&String::from_utf8_lossy(text));
        }
        let quick_xml::Error::Syntax(syntax) = error else {
            out.complain(line, complaint::UNREADABLE, format!("reading the XML failed: {error}"));
            self.given_up = true;
            return;
        };
        if *syntax == quick_xml::errors::SyntaxError::InvalidBangMarkup {
            out.complain(
                line,
                complaint::XML_SYNTAX,
                format!("this is not XML: {syntax}; results before this line are kept, the rest is not read"),
            );
            self.given_up = true;
        }
    }

    /// The input is over (or was given up): closes what is open and says what was lost.
    fn end(mut self, line: u64, refused: bool, dropped: u64, out: &mut Collector) {
        if refused {
            out.complain(
                line,
                complaint::XML_TOO_LONG,
                format!(
                    "one tag is longer than {} bytes, which no test report needs; the file is read up to here",
                    limits::XML_TOKEN_MAX
                ),
            );
            self.given_up = true;
        }
        if dropped > 0 {
            let text = format!(
                "{dropped} bytes of output were skipped, because one text is longer than {} bytes",
                limits::XML_TOKEN_MAX
            );
            out.complain(0, complaint::TEXT_TOO_LONG, text);
        }
        if let Some((name, at)) = self.innermost()
            && !self.given_up
        {
            let text = format!(
                "the file ends inside <{name}> of line {at}; results that were complete are kept, later ones are missing"
            );
            out.complain(line, complaint::TRUNCATED, text);
            self.given_up = true;
        }
        while !self.open.is_empty() {
            self.close(false, out);
        }
        if self.documents == 0 && !self.given_up {
            out.complain(
                line,
                complaint::TRUNCATED,
                "the file ends before the root element of its XML document",
            );
        }
    }
}

/// A name out of the file, short and safe to be shown.
fn shown(name: &str) -> String {
    let short: String = name.chars().take(60).collect();
    short.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}
