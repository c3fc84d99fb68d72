//! Small helpers for text of a given width.

use ratatui::style::Style;
use ratatui::text::Span;

/// Width of a text on the screen, in cells.
pub(super) fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// Cuts a text to `cells` and marks the cut.
pub(super) fn fit(text: &str, cells: usize) -> String {
    if width(text) <= cells {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let mut buffer = [0; 4];
        let wide = width(c.encode_utf8(&mut buffer));
        if used + wide + 1 > cells {
            break;
        }
        used += wide;
        out.push(c);
    }
    if cells > 0 {
        out.push('~');
    }
    out
}

/// A cell of a table, exactly `cells` wide, on the left or on the right.
pub(super) fn cell(text: &str, cells: usize, right: bool, style: Style) -> Span<'static> {
    let text = fit(text, cells);
    let fill = " ".repeat(cells.saturating_sub(width(&text)));
    Span::styled(if right { fill + &text } else { text + &fill }, style)
}

/// A count in at most six characters: `318`, `99999`, `123k`, `4.5M`.
pub(super) fn count(n: u64) -> String {
    match n {
        0..=99_999 => n.to_string(),
        100_000..=999_999 => format!("{}k", n / 1_000),
        1_000_000..=99_999_999 => format!("{}.{}M", n / 1_000_000, n % 1_000_000 / 100_000),
        100_000_000..=99_999_999_999 => format!("{}M", n / 1_000_000),
        _ => ">99G".to_owned(),
    }
}

/// `1 hub`, `2 hubs`.
pub(super) fn plural(n: usize, word: &str) -> String {
    match (n, word.strip_suffix("ss")) {
        (1, _) => format!("1 {word}"),
        (n, Some(_)) => format!("{n} {word}es"),
        (n, None) => format!("{n} {word}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_cells() {
        assert_eq!(fit("orders/7", 8), "orders/7");
        assert_eq!(fit("orders/7", 5), "orde~");
        assert_eq!(fit("日本語", 4), "日~");
        assert_eq!(fit("abc", 0), "");
        for cells in 0..9 {
            assert_eq!(width(&cell("日本語x", cells, true, Style::new()).content), cells);
        }
    }

    #[test]
    fn counts_stay_short() {
        for (n, text) in [(0, "0"), (99_999, "99999"), (123_456, "123k"), (4_560_000, "4.5M")] {
            assert_eq!(count(n), text);
        }
        assert!(count(u64::MAX).len() <= 6);
        assert_eq!(plural(1, "process"), "1 process");
        assert_eq!(plural(2, "process"), "2 processes");
        assert_eq!(plural(0, "hub"), "0 hubs");
    }
}
