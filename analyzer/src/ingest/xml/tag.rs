//! A start tag and its attributes; references in text and in attribute values.

use std::borrow::Cow;

use quick_xml::events::BytesStart;

use crate::ingest::ansi;

/// A start tag.
pub(crate) struct Tag<'a> {
    start: &'a BytesStart<'a>,
    /// 1-based line of its `<`.
    pub(crate) line: u64,
}

/// One attribute value, ready to be shown.
#[derive(Debug)]
pub(crate) struct Value<'a> {
    /// The text with references resolved.
    pub(crate) text: Cow<'a, str>,
    /// True where illegal characters were replaced.
    pub(crate) repaired: bool,
}

impl<'a> Tag<'a> {
    /// A tag that stands at `line`.
    pub(super) fn new(start: &'a BytesStart<'a>, line: u64) -> Tag<'a> {
        Tag { start, line }
    }

    /// The element's name without namespace prefix.
    pub(crate) fn name(&self) -> &'a str {
        self.start.local_name().into_inner()
    }

    /// Calls `each` with the local name and the value of every attribute that can be read. What
    /// cannot be read (no quotes, no value) is passed over, because one slip of a producer must
    /// not cost the test.
    pub(crate) fn attributes(&self, mut each: impl FnMut(&str, Value<'_>)) {
        let mut attributes = self.start.attributes();
        for attribute in attributes.with_checks(false).flatten() {
            let mut text = unescape(&attribute.value);
            let mut repaired = false;
            if text.bytes().any(|b| b < 0x20) {
                repaired = ansi::clean(text.to_mut());
            }
            each(attribute.key.local_name().into_inner(), Value { text, repaired });
        }
    }

    /// One attribute by its local name.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let mut found = None;
        self.attributes(|key, value| {
            if key == name && found.is_none() {
                found = Some(value.text.into_owned());
            }
        });
        found
    }
}

/// Resolves character references and the five predefined entities (XML 1.0, section 4.6).
/// Any other entity stays as it is written: a document type is never consulted, so nothing can
/// expand.
fn unescape(raw: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'&', raw.as_bytes()) else {
        return Cow::Borrowed(raw);
    };
    let mut out = String::with_capacity(raw.len());
    let (head, mut rest) = raw.split_at(first);
    out.push_str(head);
    while let Some(after) = rest.strip_prefix('&') {
        // The longest reference is `&#x10FFFF;`; more zeros than that are no one's.
        let end = after.bytes().take(12).position(|b| b == b';');
        rest = match end.and_then(|end| Some((resolve(&after[..end])?, end))) {
            Some((c, end)) => {
                out.push(c);
                &after[end + 1..]
            }
            None => {
                out.push('&');
                after
            }
        };
        let next = memchr::memchr(b'&', rest.as_bytes()).unwrap_or(rest.len());
        out.push_str(&rest[..next]);
        rest = &rest[next..];
    }
    Cow::Owned(out)
}

/// The character that `&name;` stands for, or `None` for an entity that is not predefined and for
/// a number that is no character. Control characters are passed on; they are dealt with where
/// text is cleaned.
pub(super) fn resolve(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_and_foreign_entities_stay() {
        for (raw, text) in [
            ("plain", "plain"),
            ("&lt;[A]&gt; &amp;&quot;&apos;", "<[A]> &\"'"),
            ("a&#10;b&#xA;c&#x1F980;", "a\nb\nc🦀"),
            ("&lol; &#xD800; &; & &é;", "&lol; &#xD800; &; & &é;"),
            ("tail&", "tail&"),
            ("&&amp;", "&&"),
        ] {
            assert_eq!(unescape(raw), text, "{raw}");
        }
    }
}
