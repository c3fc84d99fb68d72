//! The children of the one XML element that differs between two documents.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::split::Pair;
use crate::limits;

/// Nesting that is followed; a deeper document is not split.
const DEPTH_MAX: usize = limits::XML_DEPTH_MAX;

/// A document: its text and, for every element, where its start tag ends, where its end tag
/// begins, and its children. Indices are byte offsets.
pub(super) struct Document<'a> {
    text: &'a str,
    nodes: Vec<Node>,
    root: usize,
}

struct Node {
    /// From the first byte of the start tag to behind the end tag.
    span: (usize, usize),
    /// Behind the start tag; equals the end of the span for text and empty elements.
    inner: usize,
    children: Vec<usize>,
}

/// Reads a document with exactly one root element; `None` for anything else.
pub(super) fn parse(text: &str) -> Option<Document<'_>> {
    let text = text.trim();
    if !text.starts_with('<') || !text.ends_with('>') {
        return None;
    }
    let mut reader = Reader::from_str(text);
    let mut nodes: Vec<Node> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut root = None;
    loop {
        let from = usize::try_from(reader.buffer_position()).ok()?;
        let event = reader.read_event().ok()?;
        let to = usize::try_from(reader.buffer_position()).ok()?;
        let node = match event {
            Event::Start(_) | Event::Empty(_) => Node { span: (from, to), inner: to, children: Vec::new() },
            Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => {
                if text[from..to].trim().is_empty() {
                    continue;
                }
                if open.is_empty() {
                    return None;
                }
                Node { span: (from, to), inner: to, children: Vec::new() }
            }
            Event::End(_) => {
                let closed = open.pop()?;
                nodes[closed].span.1 = to;
                continue;
            }
            Event::Eof => break,
            _ => continue,
        };
        let index = nodes.len();
        nodes.push(node);
        match open.last() {
            Some(&parent) => nodes[parent].children.push(index),
            None if root.replace(index).is_some() => return None,
            None => {}
        }
        if matches!(event, Event::Start(_)) {
            if open.len() >= DEPTH_MAX {
                return None;
            }
            open.push(index);
        }
    }
    if !open.is_empty() {
        return None;
    }
    Some(Document { text, nodes, root: root? })
}

/// Children, as printed, of the innermost element that holds the whole difference.
pub(super) fn differing(expected: &Document<'_>, observed: &Document<'_>) -> Option<Pair> {
    let (mut e, mut a) = (expected.root, observed.root);
    loop {
        if expected.head(e) != observed.head(a) {
            return None;
        }
        let (left, right) = (&expected.nodes[e].children, &observed.nodes[a].children);
        let mut unequal = left.iter().zip(right).filter(|&(&l, &r)| expected.print(l) != observed.print(r));
        let first = unequal.next();
        match (first, unequal.next(), left.len() == right.len()) {
            (Some((&l, &r)), None, true) => (e, a) = (l, r),
            _ => return Some((expected.prints(left), observed.prints(right))),
        }
    }
}

impl Document<'_> {
    fn print(&self, node: usize) -> &str {
        let (from, to) = self.nodes[node].span;
        self.text[from..to].trim()
    }

    fn head(&self, node: usize) -> &str {
        &self.text[self.nodes[node].span.0..self.nodes[node].inner]
    }

    fn prints(&self, nodes: &[usize]) -> Vec<String> {
        nodes.iter().map(|&n| self.print(n).to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_differing_element_gives_its_children() {
        let e = parse("<?xml version=\"1.0\"?><r a=\"1\"><s/><t><u>1</u><v/></t></r>").expect("well-formed");
        let a = parse("<r a=\"1\"><s/><t><v/><u>1</u></t></r>").expect("well-formed");
        let (left, right) = differing(&e, &a).expect("same heads");
        assert_eq!(left, ["<u>1</u>", "<v/>"]);
        assert_eq!(right, ["<v/>", "<u>1</u>"]);
    }

    #[test]
    fn other_heads_and_other_texts_are_not_compared() {
        let root = |text| parse(text).expect("well-formed");
        assert_eq!(differing(&root("<a x=\"1\"/>"), &root("<a x=\"2\"/>")), None);
        for text in ["", "<a>", "<a/><b/>", "x<a/>", "<a></b>", "< 1 >", "<a/>x<b/>"] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
