//! Words into lines, cells into columns, with the widths that a terminal gives them.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Appends `text` in lines of at most `columns`, the first after `first`, the others after `rest`.
/// A word that is wider than a line stands alone and sticks out.
pub(super) fn wrap(out: &mut String, text: &str, columns: usize, first: &str, rest: &str) {
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if !empty && width(&line) + 1 + width(word) > columns {
            push_line(out, &line);
            line = rest.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    push_line(out, &line);
}

/// Appends a line without blanks at its end.
pub(super) fn push_line(out: &mut String, line: &str) {
    out.push_str(line.trim_end());
    out.push('\n');
}

/// The text in at most `columns`; of a longer one the end, because that is what tells tests apart.
pub(super) fn tail(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut used = 1;
    let mut start = text.len();
    for (at, c) in text.char_indices().rev() {
        used += c.width().unwrap_or(0);
        if used > columns {
            break;
        }
        start = at;
    }
    format!("…{}", &text[start..])
}

/// Blanks that fill `text` up to `columns`.
pub(super) fn pad(text: &str, columns: usize) -> String {
    " ".repeat(columns.saturating_sub(width(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_with_a_hanging_indent() {
        let mut out = String::new();
        wrap(&mut out, "one two  three averylongwordindeed x", 10, "- ", "  ");
        assert_eq!(out, "- one two\n  three\n  averylongwordindeed\n  x\n");
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(width("東京"), 4);
        assert_eq!(tail("abcdef", 4), "…def");
        assert_eq!(tail("東京東京", 6), "…東京");
        assert_eq!(tail("abc", 3), "abc");
        assert_eq!(pad("東", 4), "  ");
    }
}
