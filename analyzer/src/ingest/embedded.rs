//! XML documents that stand in a log: captured from their first line until their root closes,
//! then read as a file of their own would be.

use super::{Collector, xml};
use crate::limits;

/// Roots whose documents are captured.
const ROOTS: &[&str] = &["testsuites", "testsuite", "TestRun"];

/// Elements that hold elements only, beside the roots.
const WITHOUT_TEXT: &[&str] = &["testsuite", "testcase", "Results", "UnitTestResult"];

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
    /// The last tag leaves the document where only further tags may stand, no text.
    between_tags: bool,
    /// Bytes and lines up to where the document surely goes; what follows may be the log again.
    sure: Option<(usize, usize)>,
}

/// What the end of the captured text stands in.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Inside {
    #[default]
    Elements,
    /// A tag, which may go on over several lines and hold `>` in its quotes.
    Tag {
        kind: TagKind,
        quote: Option<char>,
    },
    Cdata,
    Comment,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum TagKind {
    OpensRoot,
    ClosesRoot,
    /// An element that holds elements only.
    Opens,
    Closes,
    /// An element that may hold text, an instruction.
    Other,
}

impl Embedded {
    /// Looks at a line; true where it belongs to a document and no console format shall see it.
    pub(crate) fn takes(&mut self, number: u64, text: &str, out: &mut Collector) -> bool {
        if self.capture.is_none() {
            if !begins_document(text) {
                return false;
            }
            self.capture = Some(Capture::new(number));
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

    /// The log is over: a document without end is read as far as it goes, and what stands behind
    /// its last tag, where a report holds no text, is handed back. If it holds no result, it may be
    /// no document at all, and all its lines are handed back.
    pub(crate) fn end(&mut self, out: &mut Collector) {
        let Some(capture) = &mut self.capture else {
            return;
        };
        if capture.root.is_some() {
            let before = out.results_mut().len();
            let (end, lines) = capture.sure.unwrap_or((capture.text.len(), capture.lines));
            xml::read_documents(&mut &capture.text.as_bytes()[..end], capture.first_line, out);
            if out.results_mut().len() > before {
                capture.text.drain(..end);
                capture.first_line += lines as u64;
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
    fn new(first_line: u64) -> Capture {
        Capture {
            first_line,
            text: String::new(),
            lines: 0,
            root: None,
            depth: 0,
            inside: Inside::Elements,
            between_tags: false,
            sure: None,
        }
    }

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
        // A `<` in the middle of a line may be anyone's.
        let of_document = self.inside != Inside::Elements || line.trim_start().starts_with('<');
        if self.follow(root, rest) {
            return State::Closed;
        }
        if of_document {
            let whole = self.inside == Inside::Elements && self.between_tags;
            self.sure = whole.then_some((self.text.len(), self.lines));
        }
        State::Open
    }

    /// Follows the nesting of `root` through one line; true once the document is closed.
    fn follow(&mut self, root: &'static str, mut rest: &str) -> bool {
        loop {
            rest = match self.inside {
                Inside::Cdata | Inside::Comment => {
                    let close = if self.inside == Inside::Cdata { "]]>" } else { "-->" };
                    let Some((_, after)) = rest.split_once(close) else {
                        return false;
                    };
                    self.inside = Inside::Elements;
                    after
                }
                Inside::Elements => {
                    let Some(at) = rest.find('<') else {
                        return false;
                    };
                    let rest = &rest[at..];
                    if rest.starts_with("<![CDATA[") {
                        self.inside = Inside::Cdata;
                    } else if rest.starts_with("<!--") {
                        self.inside = Inside::Comment;
                    } else if let Some(kind) = tag_kind(rest, root) {
                        self.inside = Inside::Tag { kind, quote: None };
                    }
                    &rest[1..]
                }
                Inside::Tag { kind, quote: Some(quote) } => {
                    let Some((_, after)) = rest.split_once(quote) else {
                        return false;
                    };
                    self.inside = Inside::Tag { kind, quote: None };
                    after
                }
                Inside::Tag { kind, quote: None } => {
                    let Some(at) = rest.find(['"', '\'', '>']) else {
                        return false;
                    };
                    let (before, after) = rest.split_at(at);
                    if let Some(quote) = after.chars().next().filter(|&c| c != '>') {
                        self.inside = Inside::Tag { kind, quote: Some(quote) };
                    } else {
                        self.inside = Inside::Elements;
                        if self.tag_ends(kind, before.ends_with('/')) {
                            return true;
                        }
                    }
                    &after[1..]
                }
            };
        }
    }

    /// A tag is over, `empty` if it closed itself; true where the document is closed.
    fn tag_ends(&mut self, kind: TagKind, empty: bool) -> bool {
        self.between_tags = empty || kind != TagKind::Other;
        match kind {
            TagKind::OpensRoot if !empty => self.depth += 1,
            TagKind::ClosesRoot => self.depth = self.depth.saturating_sub(1),
            TagKind::OpensRoot => {}
            TagKind::Opens | TagKind::Closes | TagKind::Other => return false,
        }
        self.depth == 0
    }
}

/// What the tag that `text` begins with is; `None` for a `<` that begins no tag.
fn tag_kind(text: &str, root: &str) -> Option<TagKind> {
    let text = text.strip_prefix('<')?;
    let (text, closes) = text.strip_prefix('/').map_or((text, false), |text| (text, true));
    let end = text.find(|c: char| c.is_whitespace() || c == '>' || c == '/').unwrap_or(text.len());
    let name = &text[..end];
    if !name.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '?' | '!')) {
        return None;
    }
    Some(match closes {
        true if name == root => TagKind::ClosesRoot,
        true => TagKind::Closes,
        false if name == root => TagKind::OpensRoot,
        false if WITHOUT_TEXT.contains(&name) => TagKind::Opens,
        false => TagKind::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::FileReport;

    /// What the capture reads as XML, and which lines it leaves for the console formats.
    fn split(log: &str) -> (FileReport, Vec<(u64, String)>) {
        let mut out = Collector::new("case");
        let mut embedded = Embedded::default();
        let mut left = Vec::new();
        for (number, text) in (1..).zip(log.lines()) {
            let taken = embedded.takes(number, text, &mut out);
            left.extend(embedded.give_back());
            if !taken {
                left.push((number, text.to_owned()));
            }
        }
        embedded.end(&mut out);
        left.extend(embedded.give_back());
        (out.finish(), left)
    }

    const CASE: &str = "<testcase name=\"t\" classname=\"C\"/>";

    #[test]
    fn tags_over_several_lines_and_with_angles_in_quotes_are_followed() {
        for empty in [
            "<testsuite\n  name=\"none\"\n/>",
            "<testsuite name=\"a > b\"/>",
            "<testsuite name='it\n > \"' />",
        ] {
            let log = format!("<testsuite name=\"s\">\n{CASE}\n{empty}\n</testsuite>\ntest x ... ok");
            let (report, left) = split(&log);
            assert_eq!(report.results.len(), 1, "{empty}");
            let last = log.lines().count() as u64;
            assert_eq!(left, [(last, "test x ... ok".to_owned())], "{empty}");
            assert!(report.complaints.is_empty(), "{:?}", report.complaints);
        }
    }

    #[test]
    fn behind_a_document_that_breaks_off_the_log_goes_on() {
        let log =
            format!("log\n<testsuite name=\"s\">\n{CASE}\nrunning 1 test\nVec<String> a < b\ntest x ... ok");
        let (report, left) = split(&log);
        assert_eq!(report.results.len(), 1);
        assert_eq!(report.complaints[0].code, crate::complaint::TRUNCATED);
        let numbers: Vec<u64> = left.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [1, 4, 5, 6]);
    }

    #[test]
    fn text_of_an_element_that_breaks_off_is_not_the_log() {
        let log = format!("<testsuite name=\"s\">\n{CASE}\n<system-out>\ntest x ... ok");
        let (report, left) = split(&log);
        assert_eq!((report.results.len(), left.len()), (1, 0));
    }
}
