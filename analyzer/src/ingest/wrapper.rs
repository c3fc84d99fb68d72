//! What a CI system puts around the lines of a log: stamps, columns, markers.

use super::Wrapper;
use crate::limits;

/// Length of `2024-05-06T07:08:09.1234567Z `.
const STAMP_LEN: usize = 29;

/// Decides by the first lines of a log what stands around them. GitHub Actions stamps every line,
/// so half of the lines is a low bar that lines cut at the start of an excerpt still pass, and one
/// that a program which prints such stamps now and then does not.
pub(crate) fn detect(head: &str) -> Wrapper {
    let (mut lines, mut stamped) = (0_u32, 0_u32);
    for line in head.get(..limits::SNIFF_BYTES).unwrap_or(head).lines().filter(|l| !l.trim().is_empty()) {
        lines += 1;
        stamped += u32::from(unwrap_actions(line).is_some());
    }
    if lines > 0 && stamped * 2 >= lines { Wrapper::Actions } else { Wrapper::None }
}

/// A line of a GitHub Actions log as stamp and text, or `None` where it has no stamp. The two tab
/// columns (job, step) that `gh run view --log` puts in front are skipped, and so is a byte order
/// mark before the stamp.
pub(crate) fn unwrap_actions(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix('\u{FEFF}').unwrap_or(line);
    if let Some(found) = split_stamp(line) {
        return Some(found);
    }
    let mut columns = line.splitn(3, '\t');
    let (_job, _step) = (columns.next()?, columns.next()?);
    let rest = columns.next()?;
    split_stamp(rest.strip_prefix('\u{FEFF}').unwrap_or(rest))
}

/// Splits `2024-05-06T07:08:09.1234567Z text`: UTC with exactly seven decimals. A line that is
/// nothing but a stamp has empty text.
fn split_stamp(line: &str) -> Option<(&str, &str)> {
    const SHAPE: &[u8; STAMP_LEN - 1] = b"0000-00-00T00:00:00.0000000Z";
    let bytes = line.as_bytes();
    let fits = bytes.len() >= SHAPE.len()
        && SHAPE.iter().zip(bytes).all(|(s, b)| if *s == b'0' { b.is_ascii_digit() } else { s == b });
    if !fits {
        return None;
    }
    let (stamp, text) = line.split_at(SHAPE.len());
    match text.strip_prefix(' ') {
        Some(text) => Some((stamp, text)),
        None if text.trim_end().is_empty() => Some((stamp, "")),
        None => None,
    }
}

/// `text` without a leading `##[…]` marker of GitHub Actions.
pub(crate) fn strip_marker(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("##[") else {
        return text;
    };
    match rest.split_once(']') {
        Some((
            "group" | "endgroup" | "error" | "warning" | "notice" | "command" | "debug" | "section",
            after,
        )) => after,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_seven_decimals_and_utc_are_a_stamp() {
        let stamp = "2024-05-06T07:08:09.1234567Z";
        assert_eq!(unwrap_actions("2024-05-06T07:08:09.1234567Z  two"), Some((stamp, " two")));
        assert_eq!(unwrap_actions("\u{FEFF}2024-05-06T07:08:09.1234567Z x"), Some((stamp, "x")));
        assert_eq!(unwrap_actions("2024-05-06T07:08:09.1234567Z"), Some((stamp, "")));
        assert_eq!(
            unwrap_actions("build\tRun tests\t2024-05-06T07:08:09.1234567Z a\tb"),
            Some((stamp, "a\tb"))
        );
        for plain in [
            "2024-05-06T07:08:09.123Z x",
            "2024-05-06T07:08:09.1234567+00:00 x",
            "2024-05-06T07:08:09.1234567Zx",
            "a\tb\tc",
            "",
        ] {
            assert_eq!(unwrap_actions(plain), None, "{plain}");
        }
    }

    #[test]
    fn a_log_is_wrapped_where_most_lines_are_stamped() {
        let stamped = "2024-05-06T07:08:09.1234567Z x\n";
        assert_eq!(detect(&stamped.repeat(3)), Wrapper::Actions);
        assert_eq!(detect(&format!("cut line\n\n{stamped}{stamped}")), Wrapper::Actions);
        assert_eq!(detect(&format!("{stamped}a\nb\nc\n")), Wrapper::None);
        assert_eq!(detect(""), Wrapper::None);
    }

    #[test]
    fn markers_go_and_other_brackets_stay() {
        assert_eq!(strip_marker("##[error]Failed A"), "Failed A");
        assert_eq!(strip_marker("##[group]Run x"), "Run x");
        assert_eq!(strip_marker("##[thing]x"), "##[thing]x");
        assert_eq!(strip_marker("# [error]"), "# [error]");
    }
}
