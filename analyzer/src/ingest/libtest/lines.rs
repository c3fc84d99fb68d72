//! The lines that Rust's test harness and cargo write, recognised one by one.

use std::sync::LazyLock;

use memchr::memmem::{Finder, FinderRev};

use crate::model::Outcome;

/// A test's line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TestLine<'a> {
    /// The path, without `- should panic` and the like.
    pub(super) path: &'a str,
    /// `None` where the outcome does not stand on this line: the test writes to the console
    /// itself, and the outcome follows what it writes.
    pub(super) outcome: Option<Outcome>,
    pub(super) seconds: Option<f64>,
    /// What stands behind the path where no outcome does.
    pub(super) rest: &'a str,
}

// Looked for in every line of any log; building a searcher takes longer than searching a line.
static DOTS: LazyLock<FinderRev<'static>> = LazyLock::new(|| FinderRev::new(" ... "));
static RESULT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("test result: "));

/// Suffixes of a path that say how the test is run, not which it is.
const MANNERS: &[&str] = &[" - should panic", " - compile fail", " - compile"];

/// `test a::b ... ok`; also behind text that a test left without a line end, and before text that
/// the test itself writes.
pub(super) fn test(text: &str) -> Option<TestLine<'_>> {
    let split = DOTS.rfind(text).map(|at| (&text[..at], &text[at + DOTS.needle().len()..]));
    let (head, tail) = split.or_else(|| Some((text.strip_suffix(" ...")?, "")))?;
    if let Some(path) = glued_path(head)
        && let Some((outcome, seconds)) = outcome(tail)
    {
        return Some(TestLine { path, outcome: Some(outcome), seconds, rest: "" });
    }
    let (path, rest) = text.strip_prefix("test ")?.split_once(" ...")?;
    let path = plain_path(path)?;
    Some(TestLine { path, outcome: None, seconds: None, rest })
}

/// The path behind the last `test ` of the text before ` ... `. Paths of documentation tests hold
/// blanks (`src/lib.rs - order (line 7)`), so the one that begins the line is preferred.
fn glued_path(head: &str) -> Option<&str> {
    if let Some(path) = head.strip_prefix("test ").and_then(plain_path) {
        return Some(path);
    }
    let (_, path) = head.rsplit_once("test ")?;
    plain_path(path).filter(|path| !path.contains(' '))
}

fn plain_path(path: &str) -> Option<&str> {
    let manner = MANNERS.iter().find_map(|manner| path.strip_suffix(manner));
    let path = manner.unwrap_or(path);
    let documentation = path.contains(" - ") || path.ends_with(')');
    (!path.is_empty() && (documentation || !path.contains(' '))).then_some(path)
}

/// `ok`, `FAILED`, `ignored, reason`, `bench: …`, with a time behind it or not.
pub(super) fn outcome(text: &str) -> Option<(Outcome, Option<f64>)> {
    let text = text.trim();
    if text.starts_with("bench:") {
        return Some((Outcome::Passed, None));
    }
    if text == "ignored" || text.starts_with("ignored, ") {
        return Some((Outcome::Skipped, None));
    }
    let (word, seconds) = match text.split_once(" <") {
        Some((word, time)) => (word, time.strip_suffix("s>")?.trim().parse().ok()),
        None => (text, None),
    };
    match word {
        "ok" => Some((Outcome::Passed, seconds)),
        "FAILED" => Some((Outcome::Failed, seconds)),
        "FAILED (time limit exceeded)" => Some((Outcome::TimedOut, seconds)),
        _ => None,
    }
}

/// The outcome at the end of a line that a test did not end itself: `half a lineok`.
pub(super) fn glued_outcome(text: &str) -> Option<Outcome> {
    let text = text.trim_end();
    if text.ends_with("FAILED") {
        Some(Outcome::Failed)
    } else if text.ends_with("ignored") {
        Some(Outcome::Skipped)
    } else {
        text.ends_with("ok").then_some(Outcome::Passed)
    }
}

/// `     Running unittests src/lib.rs (target/debug/deps/fate_hub-0123456789abcdef)`, the same
/// without the source (before 1.57), a quoted command (`cargo test -v`), `   Doc-tests fate_hub`: the
/// suite.
pub(super) fn binary(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(package) = text.strip_prefix("Doc-tests ") {
        return (!package.contains(' ')).then(|| format!("doc {package}"));
    }
    let rest = text.strip_prefix("Running ")?;
    let path = match rest.rfind(" (") {
        Some(at) => rest[at + 2..].strip_suffix(')')?,
        None => rest.trim_matches('`').split(' ').next()?,
    };
    let file = path.rsplit(['/', '\\']).next()?;
    let file = file.strip_suffix(".exe").unwrap_or(file);
    let (name, hash) = file.rsplit_once('-')?;
    let hashed = hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    (hashed && !name.is_empty()).then(|| name.to_owned())
}

/// `running 6 tests`: how many.
pub(super) fn running(text: &str) -> Option<u64> {
    let (number, rest) = text.strip_prefix("running ")?.split_once(' ')?;
    matches!(rest.trim_end(), "test" | "tests").then(|| number.parse().ok())?
}

/// Numbers of a summary line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Totals {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) ignored: u64,
}

/// `test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out; …`. What was
/// measured ran to its end and counts as passed; what was filtered out did not run.
pub(super) fn summary(text: &str) -> Option<Totals> {
    let at = RESULT.find(text.as_bytes())?;
    let (_, numbers) = text[at + RESULT.needle().len()..].split_once(". ")?;
    let mut totals = Totals::default();
    let mut any = false;
    for part in numbers.split(';') {
        let Some((number, word)) = part.trim().split_once(' ') else {
            continue;
        };
        let Ok(number) = number.parse::<u64>() else {
            continue;
        };
        match word {
            "passed" | "measured" => totals.passed = totals.passed.saturating_add(number),
            "failed" => totals.failed = number,
            "ignored" => totals.ignored = number,
            _ => continue,
        }
        any = true;
    }
    any.then_some(totals)
}

/// `---- a::b stdout ----`: the path.
pub(super) fn section(text: &str) -> Option<&str> {
    let inner = text.trim_end().strip_prefix("---- ")?.strip_suffix(" ----")?;
    inner.strip_suffix(" stdout").or_else(|| inner.strip_suffix(" stderr"))
}

/// `thread 'a::b' panicked at …`, `thread 'a::b' (1234) panicked at …`: the thread's name.
pub(super) fn panicked(text: &str) -> Option<&str> {
    let (name, rest) = text.trim_start().strip_prefix("thread '")?.split_once('\'')?;
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(id) => id.split_once(')')?.1.trim_start(),
        None => rest,
    };
    rest.starts_with("panicked at ").then_some(name)
}

/// Cargo's words after a binary that did not succeed.
pub(super) fn gave_up(text: &str) -> bool {
    text.starts_with("error: test failed, to rerun pass ")
        || text.starts_with("error: process didn't exit successfully: ")
        || text.starts_with("error: could not execute process ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_a_test_line() {
        for (text, path, outcome, seconds) in [
            ("test a::b ... ok", "a::b", Some(Outcome::Passed), None),
            ("test a::b - should panic ... FAILED", "a::b", Some(Outcome::Failed), None),
            ("test a ... ignored, needs a network", "a", Some(Outcome::Skipped), None),
            ("test a ... ok <0.250s>", "a", Some(Outcome::Passed), Some(0.25)),
            ("test b ... bench:      1,234 ns/iter (+/- 5)", "b", Some(Outcome::Passed), None),
            ("test a ... FAILED (time limit exceeded)", "a", Some(Outcome::TimedOut), None),
            (
                "test src/lib.rs - order (line 7) ... ok",
                "src/lib.rs - order (line 7)",
                Some(Outcome::Passed),
                None,
            ),
            (
                "test src/lib.rs - x (line 9) - compile fail ... ok",
                "src/lib.rs - x (line 9)",
                Some(Outcome::Passed),
                None,
            ),
            ("no line endtest a::b ... FAILED", "a::b", Some(Outcome::Failed), None),
            ("test a::b ... hello", "a::b", None, None),
            ("test a::b ...", "a::b", None, None),
            ("test a::b ... wait ... ok", "a::b", None, None),
        ] {
            let said = test(text).map(|t| (t.path, t.outcome, t.seconds));
            assert_eq!(said, Some((path, outcome, seconds)), "{text}");
        }
        for other in
            ["test two words ... ok", "testing ... ok", "test a::b has been running for over 60 seconds", ""]
        {
            assert_eq!(test(other), None, "{other}");
        }
    }

    #[test]
    fn headers_name_the_binary_without_path_and_hash() {
        for (text, suite) in [
            (
                "     Running unittests src/lib.rs (target/debug/deps/fate_hub-0123456789abcdef)",
                Some("fate_hub"),
            ),
            ("     Running tests\\a.rs (target\\debug\\deps\\a-0123456789abcdef.exe)", Some("a")),
            ("     Running target/debug/deps/old-0123456789abcdef", Some("old")),
            ("     Running `/x/target/debug/deps/v-0123456789abcdef --nocapture`", Some("v")),
            ("   Doc-tests fate_hub", Some("doc fate_hub")),
            ("     Running `target/debug/demo`", None),
            ("Running 3 tests", None),
        ] {
            assert_eq!(binary(text).as_deref(), suite, "{text}");
        }
    }

    #[test]
    fn summaries_and_counts() {
        let text = "test result: FAILED. 2 passed; 4 failed; 3 ignored; 1 measured; 9 filtered out; finished in 0.01s";
        assert_eq!(summary(text), Some(Totals { passed: 3, failed: 4, ignored: 3 }));
        assert_eq!(summary("test result: fine"), None);
        assert_eq!(running("running 1 test"), Some(1));
        assert_eq!(running("running 12 tests"), Some(12));
        assert_eq!(running("running x tests"), None);
    }

    #[test]
    fn panics_of_both_styles() {
        assert_eq!(panicked("thread 'a::b' panicked at src/x.rs:1:1:"), Some("a::b"));
        assert_eq!(panicked("thread 'a::b' (77) panicked at src/x.rs:1:1:"), Some("a::b"));
        assert_eq!(panicked("thread 'a' panicked at 'boom', src/x.rs:1"), Some("a"));
        assert_eq!(panicked("thread 'a' waits"), None);
        assert_eq!(section("---- a::b stdout ----"), Some("a::b"));
        assert_eq!(section("---- x ----"), None);
    }
}
