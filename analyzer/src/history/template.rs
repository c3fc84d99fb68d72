//! What a failure text looks like without the parts that vary from run to run.
//!
//! Orders are recovered before this and from the untouched text: normalising first would destroy
//! exactly the permutation that the analyzer is about.

/// Characters of the text that are looked at and kept.
const TEXT_MAX: usize = 240;

/// A failure text with its numbers, ids and times replaced, and a short name for it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Template {
    /// FNV-1a (64 bit) of `text`; printed as sixteen hexadecimal digits.
    pub id: u64,
    /// The first line that says something, every run of digits and every hexadecimal id as `#`.
    pub text: Box<str>,
}

impl Template {
    /// The template of a failure text; `None` where the text says nothing.
    pub fn of(failure: &str) -> Option<Self> {
        let line = failure.lines().map(str::trim).find(|line| !line.is_empty())?;
        let mut text = String::with_capacity(line.len().min(TEXT_MAX));
        for word in line.split_inclusive(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')) {
            push_word(word, &mut text);
            if text.chars().count() >= TEXT_MAX {
                text = text.chars().take(TEXT_MAX).collect();
                break;
            }
        }
        Some(Self { id: fnv1a(text.as_bytes()), text: text.into_boxed_str() })
    }

    /// The id as rows and tables spell it.
    pub fn id_text(&self) -> String {
        format!("{:016x}", self.id)
    }
}

/// Appends one word with its separator; digits become `#`, a word that is one long hexadecimal id too.
fn push_word(word: &str, text: &mut String) {
    let body = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let hex = body.len() >= 8
        && body.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && body.bytes().any(|byte| byte.is_ascii_digit());
    if hex {
        text.push('#');
        text.push_str(&word[body.len()..]);
        return;
    }
    let mut in_digits = false;
    for c in word.chars() {
        let digit = c.is_ascii_digit();
        if !digit {
            text.push(c);
        } else if !in_digits {
            text.push('#');
        }
        in_digits = digit;
    }
}

/// FNV-1a, 64 bit (Fowler, Noll, Vo); stable across versions and machines, unlike the standard hasher.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ids_do_not_make_a_new_template() {
        let a = Template::of(
            "\n  Timeout after 1203 ms, request 4f1c9a22-77aa-4b0e-9d51-0a1b2c3d4e5f (run 17)\n at X",
        )
        .unwrap();
        let b =
            Template::of("Timeout after 9 ms, request 00000000-77aa-4b0e-9d51-0a1b2c3d4e5a (run 3)").unwrap();
        assert_eq!(&*a.text, "Timeout after # ms, request # (run #)");
        assert_eq!(a, b);
        assert_eq!(a.id_text().len(), 16);
        assert_ne!(a, Template::of("Deadlock after 9 ms").unwrap());
        assert_eq!(Template::of(" \n\t"), None);
    }

    #[test]
    fn fnv_is_the_published_function() {
        assert_eq!(fnv1a(b""), 0xcbf29ce484222325);
        assert_eq!(fnv1a(b"a"), 0xaf63dc4c8601ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x85944171f73967e8);
    }

    #[test]
    fn a_long_line_is_cut() {
        let template = Template::of(&"wörd ".repeat(10_000)).unwrap();
        assert_eq!(template.text.chars().count(), TEXT_MAX);
    }
}
