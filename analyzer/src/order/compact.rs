//! JUnit 4's compacted strings undone: `expected:<...ab[c]d...> but was:<...ab[x]d...>`.

/// One operand without the marks of the compaction.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Plain {
    /// The text; without the marks of what was left out.
    pub(super) text: String,
    /// True where a common end was left out.
    pub(super) cut: bool,
}

/// Undoes the compaction of both operands. `None` where the text does not look compacted: an
/// opening bracket must stand in the longest common prefix and a closing one in the longest common
/// suffix. Brackets around everything, or after nothing but brackets, are taken for those of a
/// list unless the caller knows (`strings`) that two strings were compared.
pub(super) fn undo(expected: &str, observed: &str, strings: bool) -> Option<(Plain, Plain)> {
    let prefix = common_prefix(expected, observed);
    let open = expected[..prefix].rfind('[')?;
    let (rest_e, rest_a) = (&expected[open + 1..], &observed[open + 1..]);
    let suffix = common_suffix(rest_e, rest_a);
    let close = rest_e[rest_e.len() - suffix..].find(']')?;
    let head = &expected[..open];
    let tail = &rest_e[rest_e.len() - suffix + close + 1..];
    let cut = head.starts_with("...") || tail.ends_with("...");
    let listlike = !cut && head.bytes().all(|b| b == b'[') && (head.is_empty() == tail.is_empty());
    if listlike && !strings {
        return None;
    }
    let undone = |rest: &str| {
        let middle = &rest[..rest.len() - tail.len() - 1];
        let head = head.strip_prefix("...").unwrap_or(head);
        let tail = tail.strip_suffix("...").unwrap_or(tail);
        Plain { text: format!("{head}{middle}{tail}"), cut }
    };
    Some((undone(rest_e), undone(rest_a)))
}

/// Bytes of the longest common prefix, at a character boundary of both.
fn common_prefix(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(x, y)| x == y).map(|(x, _)| x.len_utf8()).sum()
}

fn common_suffix(a: &str, b: &str) -> usize {
    a.chars().rev().zip(b.chars().rev()).take_while(|(x, y)| x == y).map(|(x, _)| x.len_utf8()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(expected: &str, observed: &str, strings: bool) -> Option<(String, String, bool)> {
        undo(expected, observed, strings).map(|(e, a)| (e.text, a.text, e.cut || a.cut))
    }

    #[test]
    fn brackets_and_dots_go() {
        let own = |e: &str, a: &str, cut| Some((e.to_owned(), a.to_owned(), cut));
        assert_eq!(texts("ab[c]d", "ab[x]d", false), own("abcd", "abxd", false));
        assert_eq!(texts("...b[c]d...", "...b[]d...", false), own("bcd", "bd", true));
        assert_eq!(texts("[[a, b], c]", "[[b, a], c]", true), own("[a, b, c]", "[b, a, c]", false));
        assert_eq!(texts("x=[1]&y", "x=[2]&y", false), own("x=1&y", "x=2&y", false));
    }

    #[test]
    fn lists_are_left_alone() {
        assert_eq!(texts("[a, b]", "[b, a]", false), None);
        assert_eq!(texts("[[a, b], c]", "[[b, a], c]", false), None);
        assert_eq!(texts("[a, b, c]", "[b, a, c]", false), None);
        assert_eq!(texts("5", "6", true), None);
        assert_eq!(texts("", "", true), None);
    }
}
