//! The lines that `dotnet test` and `vstest.console` write, recognised one by one, in all the
//! shapes they have had.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::model::Outcome;

// Looked for in every line of any log; building a searcher takes longer than searching a line.
static ERROR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(": error TESTERROR:"));

/// A line that reports one test.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reported<'a> {
    pub(super) outcome: Outcome,
    pub(super) name: &'a str,
    pub(super) seconds: Option<f64>,
    /// False where other output could look the same: the line needs company to be believed.
    pub(super) certain: bool,
    /// Written by Microsoft.Testing.Platform.
    pub(super) platform: bool,
}

/// Numbers of a summary, of which the words may give only some.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Totals {
    /// `None` also where the total is printed as `Unknown`.
    pub(super) total: Option<u64>,
    pub(super) passed: Option<u64>,
    pub(super) failed: Option<u64>,
    pub(super) skipped: Option<u64>,
}

/// `  Passed Name [12 ms]` (since 16.8), `  √ Name [12ms]` (16.0 to 16.7), `Passed   Name` (15),
/// `passed Name (12ms)` (Microsoft.Testing.Platform).
pub(super) fn reported(text: &str) -> Option<Reported<'_>> {
    if let Some(rest) = text.strip_prefix("  ") {
        let (word, rest) = rest.split_once(' ')?;
        let outcome = word_outcome(word).or_else(|| symbol_outcome(word))?;
        let (name, seconds, certain) = match bracketed(rest, '[', ']') {
            Some((name, seconds)) => (name, Some(seconds), true),
            None => (rest.trim_end(), None, false),
        };
        return (!name.is_empty() && !name.starts_with(' ')).then_some(Reported {
            outcome,
            name,
            seconds,
            certain,
            platform: false,
        });
    }
    let (word, rest) = text.split_once(' ')?;
    if let Some(outcome) = word_outcome(word) {
        let name = rest.strip_prefix(' ')?.trim();
        let reported = Reported { outcome, name, seconds: None, certain: false, platform: false };
        return (!name.is_empty()).then_some(reported);
    }
    let outcome = match word {
        "passed" => Outcome::Passed,
        "failed" => Outcome::Failed,
        "skipped" => Outcome::Skipped,
        _ => return None,
    };
    let (name, seconds) = bracketed(rest, '(', ')')?;
    Some(Reported { outcome, name, seconds: Some(seconds), certain: true, platform: true })
}

fn word_outcome(word: &str) -> Option<Outcome> {
    match word {
        "Passed" => Some(Outcome::Passed),
        "Failed" => Some(Outcome::Failed),
        "Skipped" => Some(Outcome::Skipped),
        _ => None,
    }
}

/// The check mark of 16.x is `V` where the console has no `√`; read in a wrong code page it is
/// one character that is not ASCII.
fn symbol_outcome(word: &str) -> Option<Outcome> {
    let mut chars = word.chars();
    match (chars.next()?, chars.next()) {
        ('X', None) => Some(Outcome::Failed),
        ('!', None) => Some(Outcome::Skipped),
        ('V', None) => Some(Outcome::Passed),
        (c, None) if !c.is_ascii() => Some(Outcome::Passed),
        _ => None,
    }
}

/// A name followed by a duration in brackets.
fn bracketed(text: &str, open: char, close: char) -> Option<(&str, f64)> {
    let text = text.trim_end().strip_suffix(close)?;
    let at = text.rfind(open)?;
    let name = text[..at].strip_suffix(' ')?;
    duration(&text[at + open.len_utf8()..]).map(|seconds| (name, seconds))
}

/// `12 ms`, `12ms`, `< 1 ms`, `1 m 3 s`, `2s 123ms`, `1 h`: seconds. Less than a millisecond is 0.
pub(super) fn duration(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('<') {
        return duration(rest).map(|_| 0.0);
    }
    let mut seconds = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',')?;
        let number: f64 = rest[..digits].replace(',', ".").parse().ok()?;
        let unit_text = rest[digits..].trim_start();
        let end = unit_text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(unit_text.len());
        let unit = match &unit_text[..end] {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        seconds += number * unit;
        rest = unit_text[end..].trim_start();
    }
    (!text.is_empty()).then_some(seconds)
}

/// `Test run for C:\x\Orders.Tests.dll (.NETCoreApp,Version=v8.0)`: the path.
pub(super) fn run_for(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix("Test run for ")?;
    let end = rest.rfind("(.NET").or_else(|| rest.rfind('('))?;
    let path = rest[..end].trim_end();
    (!path.is_empty()).then_some(path)
}

/// `Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5, Duration: 1 s - X.dll (net8.0)`
/// as numbers and assembly.
pub(super) fn one_line_summary(text: &str) -> Option<(Totals, &str)> {
    let text = text.trim();
    let (word, rest) = text.split_once('!')?;
    if !matches!(word, "Passed" | "Failed" | "Skipped" | "Aborted") {
        return None;
    }
    let rest = rest.trim_start().strip_prefix("- ")?;
    let (numbers, tail) = rest.split_once(", Duration:").unwrap_or((rest, ""));
    let mut totals = Totals::default();
    for pair in numbers.split(',') {
        number(&mut totals, pair.split_once(':')?)?;
    }
    let assembly = tail.split_once(" - ").map_or("", |(_, assembly)| assembly.trim());
    let assembly = assembly.rfind(" (").map_or(assembly, |at| &assembly[..at]);
    totals.total.is_some().then_some((totals, assembly))
}

/// `Test summary: total: 3, failed: 1, succeeded: 2, skipped: 0, duration: 1.2s` of MSBuild's
/// terminal logger: one line for all assemblies.
pub(super) fn logger_summary(text: &str) -> Option<Totals> {
    let numbers = text.trim().strip_prefix("Test summary: ")?;
    let mut totals = Totals::default();
    for pair in numbers.split(", ") {
        let _ = number(&mut totals, pair.split_once(':')?);
    }
    totals.total.is_some().then_some(totals)
}

/// What stands behind `error TESTERROR:` of MSBuild's terminal logger; the test may follow on the
/// next line.
pub(super) fn logger_error(text: &str) -> Option<&str> {
    ERROR.find(text.as_bytes()).map(|at| text[at + ERROR.needle().len()..].trim())
}

/// `Orders.Tests.Fifo.Order (45ms): Error Message: no`: the test and the start of its message.
pub(super) fn logger_failure(text: &str) -> Option<(Reported<'_>, &str)> {
    let (head, message) = text.split_once(": Error Message:")?;
    let (name, seconds) = bracketed(head.trim(), '(', ')')?;
    let outcome = Outcome::Failed;
    let seconds = Some(seconds);
    Some((Reported { outcome, name, seconds, certain: true, platform: true }, message))
}

/// `Total tests: 3. Passed: 1. Failed: 2. Skipped: 0.` (15), or only `Total tests: 3` with the
/// other numbers on lines of their own (16), which [`detail`] reads.
pub(super) fn total_tests(text: &str) -> Option<Totals> {
    let rest = text.trim().strip_prefix("Total tests:")?;
    let mut totals = Totals::default();
    let mut parts = rest.trim().trim_end_matches('.').split(". ");
    let first = parts.next()?.trim();
    match first.parse() {
        Ok(total) => totals.total = Some(total),
        Err(_) if first == "Unknown" => {}
        Err(_) => return None,
    }
    for part in parts {
        number(&mut totals, part.split_once(':')?)?;
    }
    Some(totals)
}

/// `     Passed: 3` below a total; false where the line is something else.
pub(super) fn detail(totals: &mut Totals, text: &str) -> bool {
    let Some((word, value)) = text.split_once(": ") else {
        return false;
    };
    text.starts_with(' ') && number(totals, (word, value)).is_some()
}

/// `Running tests from bin/Orders.Tests.dll (net8.0|x64)` of Microsoft.Testing.Platform: the path.
pub(super) fn platform_run(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("Running tests from ")?;
    Some(rest.rfind(" (").map_or(rest, |at| &rest[..at]).trim())
}

/// `Test run summary: Failed! - x/Orders.Tests.dll (net8.0|x64)` of Microsoft.Testing.Platform:
/// the path, `""` where several assemblies ran. The numbers follow on lines of their own.
pub(super) fn platform_summary(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("Test run summary: ")?;
    let tail = rest.split_once(" - ").map_or("", |(_, tail)| tail.trim());
    Some(tail.rfind(" (").map_or(tail, |at| &tail[..at]))
}

fn number(totals: &mut Totals, (word, value): (&str, &str)) -> Option<()> {
    let value = Some(value.trim().trim_end_matches('.').parse().ok()?);
    match word.trim() {
        "Total" | "total" => totals.total = value,
        "Passed" | "succeeded" => totals.passed = value,
        "Failed" | "failed" => totals.failed = value,
        "Skipped" | "skipped" => totals.skipped = value,
        _ => return None,
    }
    Some(())
}

/// What the xUnit adapter says inside `dotnet test`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Adapter<'a> {
    /// `Name [FAIL]`, `Name [SKIP]`.
    Reported(Outcome, &'a str),
    /// Anything else, without the clock.
    Text(&'a str),
}

/// `[xUnit.net 00:00:01.23]     Name [FAIL]` and the lines below it.
pub(super) fn adapter(text: &str) -> Option<Adapter<'_>> {
    let rest = text.trim_start().strip_prefix("[xUnit.net ")?;
    let (_, body) = rest.split_once(']')?;
    let words = body.trim();
    for (mark, outcome) in [(" [FAIL]", Outcome::Failed), (" [SKIP]", Outcome::Skipped)] {
        if let Some(name) = words.strip_suffix(mark) {
            return Some(Adapter::Reported(outcome, name));
        }
    }
    Some(Adapter::Text(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_a_reported_test() {
        for (text, outcome, name, seconds, certain) in [
            ("  Passed A.B.C [12 ms]", Outcome::Passed, "A.B.C", Some(0.012), true),
            ("  Failed A.B(x: \"[1 s]\") [1 m 3 s]", Outcome::Failed, "A.B(x: \"[1 s]\")", Some(63.0), true),
            ("  Skipped A [< 1 ms]", Outcome::Skipped, "A", Some(0.0), true),
            ("  √ A [3ms]", Outcome::Passed, "A", Some(0.003), true),
            ("  \u{fffd} A [1s 500ms]", Outcome::Passed, "A", Some(1.5), true),
            ("  V A [1h]", Outcome::Passed, "A", Some(3600.0), true),
            ("  X A b c [3ms]", Outcome::Failed, "A b c", Some(0.003), true),
            ("  ! A", Outcome::Skipped, "A", None, false),
            ("Failed   A.B", Outcome::Failed, "A.B", None, false),
            ("failed A.B (1s 2ms)", Outcome::Failed, "A.B", Some(1.002), true),
        ] {
            let platform = text.starts_with('f');
            assert_eq!(
                reported(text),
                Some(Reported { outcome, name, seconds, certain, platform }),
                "{text}"
            );
        }
        for other in [
            "Failed to load x",
            "   Passed A [1 ms]",
            "  Error Message:",
            "  a b [1 ms]",
            "  Passed",
            "",
            "  ",
        ] {
            assert_eq!(reported(other), None, "{other}");
        }
    }

    #[test]
    fn every_shape_of_a_summary() {
        let all = |total, passed, failed, skipped| Totals {
            total: Some(total),
            passed: Some(passed),
            failed: Some(failed),
            skipped: Some(skipped),
        };
        assert_eq!(
            one_line_summary(
                "Failed!  - Failed:     1, Passed:     2, Skipped:     3, Total:     6, Duration: < 1 ms - a-b.dll (net8.0)"
            ),
            Some((all(6, 2, 1, 3), "a-b.dll"))
        );
        assert_eq!(total_tests("Total tests: 6. Passed: 2. Failed: 1. Skipped: 3."), Some(all(6, 2, 1, 3)));
        let mut totals = total_tests("Total tests: 6").expect("a total");
        for line in ["     Passed: 2", "     Failed: 1", "    Skipped: 3"] {
            assert!(detail(&mut totals, line), "{line}");
        }
        assert_eq!(totals, all(6, 2, 1, 3));
        assert!(!detail(&mut totals, " Total time: 1.2 Seconds"));
        assert_eq!(total_tests("Total tests: Unknown"), Some(Totals::default()));
        assert_eq!(total_tests("Total tests: many"), None);
        assert_eq!(one_line_summary("Passed! - all good"), None);
        assert_eq!(platform_summary("Test run summary: Failed! - bin/X.dll (net8.0|x64)"), Some("bin/X.dll"));
    }

    #[test]
    fn headers_and_adapter_lines() {
        assert_eq!(
            run_for("Test run for C:\\a (b)\\X.dll (.NETCoreApp,Version=v8.0)"),
            Some("C:\\a (b)\\X.dll")
        );
        assert_eq!(run_for("Test run for /a/X.dll(.NETFramework,Version=v4.7)"), Some("/a/X.dll"));
        assert_eq!(
            adapter("[xUnit.net 00:00:01.23]     A.B(s: \"]\") [FAIL]"),
            Some(Adapter::Reported(Outcome::Failed, "A.B(s: \"]\")"))
        );
        assert_eq!(adapter("[xUnit.net 00:00:01.23]       text"), Some(Adapter::Text("       text")));
        assert_eq!(adapter("xUnit.net"), None);
    }
}
