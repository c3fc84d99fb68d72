//! XML documents that stand in a log: captured from their first line until their root closes,
//! then read as a file of their own would be.

use super::{Collector, xml};
use crate::limits;

/// Roots whose documents are captured.
const ROOTS: &[&str] = &["testsuites", "testsuite", "TestRun"];

/// Lines between an XML declaration and the root element that are waited for.
const PROLOG_LINES_MAX: usize = 50;

/// Collects the lines of one document at a time.
#[derive(Debug, Default)]
pub(crate) struct Embedded {
    capture: Option<Capture>,
    returned: Vec<(u64, String)>,
}

#[derive(Debug)]
struct Capture {
    first_line: u64,
    text: String,
    lines: usize,
    /// Known once the root element was seen.
    root: Option<&'static str>,
    depth: u32,
    inside: Inside,
}

/// What the end of the captured text stands in.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Inside {
    #[default]
    Elements,
    Cdata,
    Comment,
}

impl Embedded {
    /// Looks at a line; true where it belongs to a document and no console format shall see it.
    pub(crate) fn takes(&mut self, number: u64, text: &str, out: &mut Collector) -> bool {
        if self.capture.is_none() {
            if !begins_document(text) {
                return false;
            }
            self.capture = Some(Capture {
                first_line: number,
                text: String::new(),
                lines: 0,
                root: None,
                depth: 0,
                inside: Inside::Elements,
            });
        }
        let Some(capture) = &mut self.capture else {
            return false;
        };
        let state = capture.push(text);
        match state {
            State::Open if capture.text.len() <= limits::EMBEDDED_XML_MAX => true,
            State::Open | State::Closed => {
                self.read(out);
                true
            }
            // The line that shows it is none of ours is handed on by the caller itself.
            State::NotOurs => {
                self.hand_back();
                self.returned.pop();
                false
            }
        }
    }

    /// Lines that were taken for a document and are none, to be read as console text.
    pub(crate) fn give_back(&mut self) -> Vec<(u64, String)> {
        std::mem::take(&mut self.returned)
    }

    /// The log is over: a document without end is read as far as it goes. If it holds no result,
    /// it may be no document at all, and its lines are handed back as well.
    pub(crate) fn end(&mut self, out: &mut Collector) {
        let Some(capture) = &self.capture else {
            return;
        };
        if capture.root.is_some() {
            let before = out.results_mut().len();
            xml::read_documents(&mut capture.text.as_bytes(), capture.first_line, out);
            if out.results_mut().len() > before {
                self.capture = None;
            }
        }
        self.hand_back();
    }

    fn read(&mut self, out: &mut Collector) {
        if let Some(capture) = self.capture.take() {
            xml::read_documents(&mut capture.text.as_bytes(), capture.first_line, out);
        }
    }

    fn hand_back(&mut self) {
        if let Some(capture) = self.capture.take() {
            let lines = capture.text.lines().zip(capture.first_line..);
            self.returned = lines.map(|(text, number)| (number, text.to_owned())).collect();
        }
    }
}

/// True where a document of ours may begin on this line.
fn begins_document(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("<?xml ") || opens(text).is_some()
}

/// The root of ours whose start tag `text` begins with.
fn opens(text: &str) -> Option<&'static str> {
    let rest = text.strip_prefix('<')?;
    ROOTS.iter().copied().find(|root| {
        rest.strip_prefix(root).is_some_and(|after| {
            after.is_empty() || after.starts_with(|c: char| c.is_whitespace() || c == '>' || c == '/')
        })
    })
}

enum State {
    Open,
    Closed,
    NotOurs,
}

impl Capture {
    fn push(&mut self, line: &str) -> State {
        self.text.push_str(line);
        self.text.push('\n');
        self.lines += 1;
        let mut rest = line;
        if self.root.is_none() {
            // The prolog is short, so looking at all of it again for each of its lines is cheap.
            match xml::root_of(&self.text) {
                Some(name) => match ROOTS.iter().find(|root| **root == name) {
                    Some(root) => {
                        self.root = Some(root);
                        let at = line.find(&format!("<{root}")).unwrap_or(0);
                        rest = &line[at..];
                    }
                    None => return State::NotOurs,
                },
                None if self.lines >= PROLOG_LINES_MAX => return State::NotOurs,
                None => return State::Open,
            }
        }
        let Some(root) = self.root else {
            return State::Open;
        };
        if self.follow(root, rest) { State::Closed } else { State::Open }
    }

    /// Follows the nesting of `root` through one line; true once the document is closed.
    fn follow(&mut self, root: &'static str, mut rest: &str) -> bool {
        loop {
            match self.inside {
                Inside::Cdata | Inside::Comment => {
                    let close = if self.inside == Inside::Cdata { "]]>" } else { "-->" };
                    let Some((_, after)) = rest.split_once(close) else {
                        return false;
                    };
                    self.inside = Inside::Elements;
                    rest = after;
                }
                Inside::Elements => {
                    let Some(at) = rest.find('<') else {
                        return false;
                    };
                    rest = &rest[at..];
                    if rest.starts_with("<![CDATA[") {
                        self.inside = Inside::Cdata;
                    } else if rest.starts_with("<!--") {
                        self.inside = Inside::Comment;
                    } else if opens(rest) == Some(root) {
                        let closed = rest.split('>').next().is_some_and(|tag| tag.ends_with('/'));
                        self.depth += u32::from(!closed);
                        if self.depth == 0 {
                            return true;
                        }
                    } else if rest.strip_prefix("</").and_then(|r| r.strip_prefix(root)).is_some_and(ends_tag)
                    {
                        self.depth = self.depth.saturating_sub(1);
                        if self.depth == 0 {
                            return true;
                        }
                    }
                    rest = &rest[1..];
                }
            }
        }
    }
}

fn ends_tag(after: &str) -> bool {
    after.trim_start().starts_with('>')
}
