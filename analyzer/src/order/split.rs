//! One differing string taken apart: as JSON, as XML, as a query, as lines, in that order.
//!
//! The first form that fits both strings decides; a form that fits but shows no equal multisets
//! ends the search, because a coarser split of the same text would see moves that are none.

use serde::de::IgnoredAny;

use super::literal::{self, Quotes};
use super::{OrderKind, Split, compare, element, xml};

/// Containers inside containers that are followed to the one that differs.
const DESCENT_MAX: usize = 64;

/// Elements of the expected and of the observed string.
pub(super) type Pair = (Vec<String>, Vec<String>);

/// Splits both strings and returns the elements where they are the same in another order.
pub(super) fn split(expected: &str, observed: &str) -> Option<(Split, Pair)> {
    if is_json(expected) && is_json(observed) {
        return json(expected.trim(), observed.trim()).map(|pair| (Split::Json, pair));
    }
    if let (Some(e), Some(a)) = (xml::parse(expected), xml::parse(observed)) {
        return xml::differing(&e, &a).filter(moved).map(|pair| (Split::Xml, pair));
    }
    if let (Some(e), Some(a)) = (query(expected), query(observed)) {
        return Some((e, a)).filter(moved).map(|pair| (Split::Query, pair));
    }
    Some((lines(expected), lines(observed))).filter(moved).map(|pair| (Split::Lines, pair))
}

fn moved(pair: &Pair) -> bool {
    compare(&pair.0, &pair.1).0 == OrderKind::Permutation
}

/// True for the text of a JSON array or object.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['[', '{']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Entries of the innermost container that holds the whole difference.
fn json(expected: &str, observed: &str) -> Option<Pair> {
    let (mut e, mut a) = (expected, observed);
    for _ in 0..DESCENT_MAX {
        let left = entries(e)?;
        let right = entries(a)?;
        let pair = (left.iter().map(|t| form(t)).collect(), right.iter().map(|t| form(t)).collect());
        if moved(&pair) {
            return Some(pair);
        }
        let position = only_difference(&left, &right)?;
        let (key_e, value_e) = key_value(left[position]);
        let (key_a, value_a) = key_value(right[position]);
        if key_e != key_a {
            return None;
        }
        (e, a) = (value_e, value_a);
    }
    None
}

/// The entries of a JSON container as printed.
fn entries(text: &str) -> Option<Vec<&str>> {
    let list = literal::parse_at(text, 0, Quotes::Escaped)?;
    list.items
        .into_iter()
        .map(|item| match item {
            std::borrow::Cow::Borrowed(text) => Some(text),
            std::borrow::Cow::Owned(_) => None,
        })
        .collect()
}

/// A scalar element loses its quotes; `"key": value` is written without the blank, as most
/// printers do, so that two printers agree.
fn form(entry: &str) -> String {
    match key_value(entry) {
        ("", value) => element::clean(value),
        (key, value) => format!("{key}:{}", value.trim()),
    }
}

/// Key with its quotes and value of an object's entry; an array's element has no key.
fn key_value(entry: &str) -> (&str, &str) {
    let mut escaped = false;
    if !entry.starts_with('"') {
        return ("", entry);
    }
    for (i, byte) in entry.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => {
                let rest = entry[i + 1..].trim_start();
                return match rest.strip_prefix(':') {
                    Some(value) => (&entry[..=i], value.trim_start()),
                    None => ("", entry),
                };
            }
            _ => {}
        }
    }
    ("", entry)
}

/// The only position at which lists of equal length differ.
pub(super) fn only_difference<A: AsRef<str>>(expected: &[A], observed: &[A]) -> Option<usize> {
    if expected.len() != observed.len() {
        return None;
    }
    let mut differing = (0..expected.len()).filter(|&i| expected[i].as_ref() != observed[i].as_ref());
    let position = differing.next()?;
    differing.next().is_none().then_some(position)
}

/// Parameters of a query string; what stands before a `?` is no parameter.
fn query(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    if !text.contains('&') || text.contains(char::is_whitespace) {
        return None;
    }
    let (head, parameters) = text.split_once('?').unwrap_or(("", text));
    let head = (!head.is_empty()).then(|| head.to_owned());
    Some(head.into_iter().chain(parameters.split('&').map(str::to_owned)).collect())
}

/// Lines that are not empty.
pub(super) fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &str, observed: &str, want: Option<(Split, &[&str], &[&str])>) {
        let got = split(expected, observed);
        let want = want.map(|(how, e, a)| {
            let own = |l: &[&str]| l.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
            (how, (own(e), own(a)))
        });
        assert_eq!(got, want, "{expected} / {observed}");
    }

    #[test]
    fn json_entries_of_the_container_that_differs() {
        check(r#"["b","a"]"#, r#"["a","b"]"#, Some((Split::Json, &["b", "a"], &["a", "b"])));
        check(
            r#"{"n":1,"o":{"x":[1],"y":2}}"#,
            r#"{"n":1,"o":{"y":2,"x":[1]}}"#,
            Some((Split::Json, &["\"x\":[1]", "\"y\":2"], &["\"y\":2", "\"x\":[1]"])),
        );
        check(r#"{"a":{"v":1},"b":{"v":2}}"#, r#"{"a":{"v":2},"b":{"v":1}}"#, None);
    }

    #[test]
    fn json_that_shows_no_move_is_not_split_into_lines() {
        let e = "{\n\"a\":{\n\"v\":1\n},\n\"b\":{\n\"v\":2\n}\n}";
        let a = "{\n\"a\":{\n\"v\":2\n},\n\"b\":{\n\"v\":1\n}\n}";
        check(e, a, None);
    }

    #[test]
    fn xml_children_queries_and_lines() {
        check(
            "<r><p>1</p><q/></r>",
            "<r><q/><p>1</p></r>",
            Some((Split::Xml, &["<p>1</p>", "<q/>"], &["<q/>", "<p>1</p>"])),
        );
        check("a&b=1", "b=1&a", Some((Split::Query, &["a", "b=1"], &["b=1", "a"])));
        check("/p?a&b", "/p?b&a", Some((Split::Query, &["/p", "a", "b"], &["/p", "b", "a"])));
        check("x\ny\n", "y\nx\n", Some((Split::Lines, &["x", "y"], &["y", "x"])));
        check("x\ny", "x\nz", None);
        check("x y", "y x", None);
    }
}
