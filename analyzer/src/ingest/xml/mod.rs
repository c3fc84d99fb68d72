//! XML as a stream of three events: an element starts, text, an element ends. Everything that can
//! be wrong with a document (cut off, nested without end, entities, illegal characters) is dealt
//! with here, so that the readers of the formats see a well-formed tree.

mod drive;
mod source;
mod tag;

pub(crate) use drive::read_documents;
pub(crate) use tag::Tag;

use super::Collector;

/// A format in XML. The calls nest properly: every [`Document::start`] of an element is answered
/// by one [`Document::end`], also in a truncated file.
pub(crate) trait Document {
    /// An element starts. The first one is the root.
    fn start(&mut self, tag: &Tag<'_>, out: &mut Collector);

    /// Text of the innermost open element. One stretch of text arrives in any number of pieces;
    /// they are to be appended.
    fn text(&mut self, text: &str);

    /// The innermost open element ends; `whole` is false where the document was cut inside it.
    fn end(&mut self, whole: bool, out: &mut Collector);

    /// The root has ended.
    fn finish(&mut self, out: &mut Collector);
}

/// The reader for documents with the root element `root` (without namespace prefix), or `None`
/// for a kind of document that is no test report of ours.
pub(crate) fn document_for(root: &str) -> Option<Box<dyn Document>> {
    match root {
        "testsuites" | "testsuite" | "testrun" => Some(Box::new(super::junit::Junit::new())),
        "TestRun" => Some(Box::new(super::trx::Trx::new())),
        _ => None,
    }
}

/// The name of the root element of a document that begins with `head`; `None` where `head` is not
/// the beginning of a document, or ends before its root.
pub(crate) fn root_of(head: &str) -> Option<&str> {
    let mut rest = head.trim_start();
    loop {
        let after = rest.strip_prefix('<')?;
        rest = if let Some(comment) = after.strip_prefix("!--") {
            comment.split_once("-->")?.1
        } else if let Some(instruction) = after.strip_prefix('?') {
            instruction.split_once("?>")?.1
        } else if after.starts_with("!DOCTYPE") {
            let close = if after.split('>').next()?.contains('[') { "]>" } else { ">" };
            after.split_once(close)?.1
        } else {
            let end = after.find(|c: char| c.is_whitespace() || matches!(c, '/' | '>'))?;
            let name = &after[..end];
            let name = name.rsplit_once(':').map_or(name, |(_, local)| local);
            let named = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
            return named.then_some(name);
        }
        .trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::root_of;

    #[test]
    fn the_root_is_found_behind_any_prolog() {
        for (head, root) in [
            ("<testsuites/>", Some("testsuites")),
            ("\n<?xml version='1.0'?>\n<!-- <a> -->\n<testsuite name='x'>", Some("testsuite")),
            ("<!DOCTYPE a [<!ENTITY b 'c'>]>\n<TestRun id='1'>", Some("TestRun")),
            ("<!DOCTYPE html>\n<html>", Some("html")),
            ("<ns2:test-suite a='b'>", Some("test-suite")),
            ("<?xml version='1.0'?>", None),
            ("<13>Oct 1 host", None),
            ("text <a>", None),
            ("<testsu", None),
            ("", None),
        ] {
            assert_eq!(root_of(head), root, "{head}");
        }
    }
}
