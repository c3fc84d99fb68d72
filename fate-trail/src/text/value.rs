//! The value of one detail, kept as the text form spells it.

use std::borrow::Cow;
use std::fmt;

use super::escape;

/// What stands after the `=` of a detail: a text, a number or a list of texts.
///
/// It is kept percent-encoded, so that a comma inside an element and a comma between elements stay
/// different, and so that `Display` is always safe to print.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Value(String);

impl Value {
    /// One text; anything in it is encoded where it must be.
    pub fn text(text: &str) -> Self {
        let mut out = String::with_capacity(text.len());
        escape::push_plain(&mut out, text);
        Value(out)
    }

    /// A list. One element is the same as [`Value::text`] of it, and none the same as `""`.
    pub fn list<T: AsRef<str>>(elements: impl IntoIterator<Item = T>) -> Self {
        let mut out = String::new();
        for (i, element) in elements.into_iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            escape::push_plain(&mut out, element.as_ref());
        }
        Value(out)
    }

    /// A number that is known only to be at least this large; prints with a trailing `+`.
    pub fn at_least(number: u64) -> Self {
        Value(format!("{number}+"))
    }

    /// Reads an encoded value; what is not well encoded is encoded anew.
    pub fn from_encoded(encoded: &str) -> Self {
        if encoded.bytes().all(|byte| escape::is_plain(byte) || byte == b',') {
            return Value(encoded.to_owned());
        }
        Value::list(encoded.split(',').map(escape::decode))
    }

    /// The encoded form: printable ASCII without spaces.
    pub fn encoded(&self) -> &str {
        &self.0
    }

    /// The elements, decoded; one where the value is no list.
    pub fn elements(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.0.split(',').map(escape::decode)
    }

    /// The whole value decoded, as a person would write it. Not safe to print unscrubbed.
    pub fn decoded(&self) -> Cow<'_, str> {
        escape::decode(&self.0)
    }

    /// The value as an exact number; `None` for a text and for a lower bound.
    pub fn as_number(&self) -> Option<u64> {
        // `+5` would parse as a number, but is none in the grammar.
        self.0.bytes().all(|b| b.is_ascii_digit()).then(|| self.0.parse().ok())?
    }

    /// True for a number that says *this or more*.
    pub fn is_lower_bound(&self) -> bool {
        self.0
            .strip_suffix('+')
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::text(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::text(&text)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Value(number.to_string())
    }
}

/// Compares with the encoded form.
impl PartialEq<str> for Value {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

/// Compares with the encoded form.
impl PartialEq<&str> for Value {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}
