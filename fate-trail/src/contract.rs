//! The append-only check: a golden copy of the tokens that may only grow at its end.
//!
//! Other crates use it for tokens of their own, which contain a dot (`orders.reserved`):
//!
//! ```
//! use fate_trail::contract::{self, Row};
//!
//! let golden = "orders.reserved\t1.0\t-\norders.paid\t1.0\thandled\n";
//! let rows = [
//!     Row { token: "orders.reserved", since: "1.0", fate: "-" },
//!     Row { token: "orders.paid", since: "1.0", fate: "handled" },
//! ];
//! contract::check(golden, &rows).unwrap();
//! contract::check_application_tokens(rows.iter().map(|row| row.token)).unwrap();
//! ```
//!
//! In a test, [`pin_stages!`](crate::pin_stages) does all of it in one line for stages that
//! [`application_stages!`](crate::application_stages) declares; [`check_file`] is for any other table. Both
//! read a golden copy and, with `FATE_BLESS=1`, append what is new. CI does the same for logs with
//! `fate-analyzer contract check`.

use std::fmt;
use std::path::Path;

use crate::stage::{ApplicationStage, Fate, REGISTRY, StageSpec};

/// Set to `1`, lets [`check_file`] append new tokens to the golden copy.
pub const BLESS: &str = "FATE_BLESS";

/// One line of a golden copy: token, since-version and fate (`-` where the stage is not terminal),
/// separated by tabs.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Row<'a> {
    /// The stable spelling.
    pub token: &'a str,
    /// Version that first had it.
    pub since: &'a str,
    /// Fate that it seals, or `-`.
    pub fate: &'a str,
}

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\t{}\t{}", self.token, self.since, self.fate)
    }
}

/// The registry's own rows.
pub fn registry_rows() -> Vec<Row<'static>> {
    REGISTRY.iter().map(row).collect()
}

fn row(spec: &StageSpec) -> Row<'static> {
    Row { token: spec.token, since: spec.since, fate: spec.fate.map_or("-", Fate::as_str) }
}

/// The text of a golden copy.
pub fn render(rows: &[Row<'_>]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

/// How a table differs from its golden copy.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ContractError {
    /// Only new tokens at the end: allowed once they are blessed.
    Appended(Vec<String>),
    /// Something that was promised is gone or different; each line names a token.
    Broken(Vec<String>),
    /// A token that breaks a rule of spelling; each line names one.
    Spelling(Vec<String>),
    /// The golden copy could not be read or written.
    File(String),
}

impl fmt::Display for ContractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (head, lines) = match self {
            ContractError::Appended(lines) => (
                "new tokens are not in the golden copy; if they are meant to stay for good, run the \
                 test again with FATE_BLESS=1 and commit the golden copy",
                lines,
            ),
            ContractError::Broken(lines) => (
                "stage tokens are an interface: suites wait for them and old logs contain them, so \
                 none is removed, renamed, moved or changed; add a new one at the end instead",
                lines,
            ),
            ContractError::Spelling(lines) => ("tokens break a rule of spelling", lines),
            ContractError::File(text) => return write!(f, "golden copy: {text}"),
        };
        write!(f, "{head}:")?;
        lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

impl std::error::Error for ContractError {}

/// Compares a table with its golden copy.
///
/// # Errors
/// [`ContractError::Broken`] where a golden row is missing, moved or changed,
/// [`ContractError::Appended`] where rows follow that the golden copy does not have.
pub fn check(golden: &str, current: &[Row<'_>]) -> Result<(), ContractError> {
    let golden: Vec<&str> = golden.lines().filter(|line| !line.is_empty()).collect();
    let broken = differences(&golden, current);
    if !broken.is_empty() {
        return Err(ContractError::Broken(broken));
    }
    let appended = &current[golden.len()..];
    if appended.is_empty() {
        return Ok(());
    }
    let lines = appended.iter().map(|row| format!("+ {row}"));
    Err(ContractError::Appended(lines.collect()))
}

/// As [`check`], with the golden copy in a file; with `FATE_BLESS=1` in the environment, new rows
/// at the end are appended to it. Broken promises are never blessed.
///
/// # Errors
/// Those of [`check`], and [`ContractError::File`].
pub fn check_file(path: &Path, current: &[Row<'_>]) -> Result<(), ContractError> {
    let bless = std::env::var_os(BLESS).is_some_and(|value| value == "1");
    check_file_with(path, current, bless)
}

/// [`check_file`] with the switch given.
fn check_file_with(path: &Path, current: &[Row<'_>], bless: bool) -> Result<(), ContractError> {
    let failed = |what: &str, error: std::io::Error| {
        ContractError::File(format!("{what} `{}`: {error}", path.display()))
    };
    let golden = match std::fs::read_to_string(path) {
        Ok(golden) => golden,
        // The first blessing makes the file.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && bless => String::new(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let text = format!(
                "there is none at `{}`; run the test again with FATE_BLESS=1 to make it, and commit it",
                path.display()
            );
            return Err(ContractError::File(text));
        }
        Err(error) => return Err(failed("cannot read", error)),
    };
    match check(&golden, current) {
        Err(ContractError::Appended(_)) if bless => {
            std::fs::write(path, render(current)).map_err(|error| failed("cannot write", error))
        }
        other => other,
    }
}

/// Checks the spelling of an application's stages and compares them with their golden copy, as
/// [`check_file`] does.
///
/// # Errors
/// Those of [`check_application_tokens`] and [`check_file`].
pub fn check_stages(path: &Path, stages: &[&ApplicationStage]) -> Result<(), ContractError> {
    let rows: Vec<Row<'_>> = stages.iter().map(|stage| row(stage.spec())).collect();
    check_application_tokens(rows.iter().map(|row| row.token))?;
    check_file(path, &rows)
}

/// Pins an application's stages in a test: compares them with a golden copy, whose path is given from the
/// folder of the crate's `Cargo.toml`. `FATE_BLESS=1` makes the copy and appends new tokens to it; a token
/// that was renamed, removed, moved or given another fate is never blessed.
///
/// ```no_run
/// fate_trail::application_stages! {
///     /// Every stage of the shop.
///     pub static STAGES;
///     /// Stock was set aside.
///     pub RESERVED = "orders.reserved", since "1.0";
/// }
///
/// // The body of a test:
/// fate_trail::pin_stages!("tests/stages.txt", STAGES);
/// ```
///
/// # Panics
/// With the differences and what to do about them.
#[macro_export]
macro_rules! pin_stages {
    ($path:literal, $stages:expr) => {
        $crate::contract::pin(concat!(env!("CARGO_MANIFEST_DIR"), "/", $path), $stages)
    };
}

/// What [`pin_stages!`](crate::pin_stages) does.
///
/// # Panics
/// Where [`check_stages`] fails.
#[track_caller]
pub fn pin(path: &str, stages: &[&ApplicationStage]) {
    if let Err(error) = check_stages(Path::new(path), stages) {
        panic!("{path}: {error}");
    }
}

/// One line for every golden row that is not what it was, and for every row that came between.
fn differences(golden: &[&str], current: &[Row<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    for (i, old) in golden.iter().enumerate() {
        let token = old.split('\t').next().unwrap_or("");
        let line = i + 1;
        let here = current.get(i);
        let elsewhere = current.iter().position(|row| row.token == token);
        match (here, elsewhere) {
            (Some(row), _) if row.to_string() == *old => {}
            (Some(row), _) if row.token == token => {
                lines.push(format!("`{token}` (line {line}) changed"));
                lines.push(format!("- {old}"));
                lines.push(format!("+ {row}"));
            }
            (_, Some(at)) => {
                let at = at + 1;
                lines.push(format!("`{token}` moved from line {line} to line {at}"));
            }
            (here, None) => {
                let new = here.filter(|row| !golden.iter().any(|old| starts_row(old, row.token)));
                lines.push(match new {
                    Some(row) => format!("`{token}` (line {line}) was renamed to `{}`", row.token),
                    None => format!("`{token}` (line {line}) was removed"),
                });
                lines.push(format!("- {old}"));
            }
        }
    }
    for (i, row) in current.iter().enumerate().take(golden.len()) {
        if !golden.iter().any(|old| starts_row(old, row.token)) {
            let line = i + 1;
            lines.push(format!("`{}` is new at line {line} and not at the end", row.token));
        }
    }
    lines
}

fn starts_row(row: &str, token: &str) -> bool {
    row.split('\t').next() == Some(token)
}

/// Checks the spelling of a registry: upper-case ASCII snake, unique, and no token that ends with
/// another, since `RESPONSE_POSTED@hub` contains the text `POSTED@hub` that somebody waits for.
///
/// # Errors
/// [`ContractError::Spelling`], naming every offender.
pub fn check_tokens<'a>(tokens: impl IntoIterator<Item = &'a str>) -> Result<(), ContractError> {
    let tokens: Vec<&str> = tokens.into_iter().collect();
    let shape = |token: &str| {
        let snake = token.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        let framed = token.starts_with(|c: char| c.is_ascii_uppercase()) && !token.ends_with('_');
        (!snake || !framed).then(|| format!("`{token}` is no upper-case ASCII word such as `TURN_START`"))
    };
    spelling(&tokens, &tokens, shape)
}

/// Checks the spelling of an application's tokens: printable ASCII with a dot inside, so that they
/// never meet a future stage, unique, and none that ends with another or with a registered stage.
///
/// # Errors
/// [`ContractError::Spelling`], naming every offender.
pub fn check_application_tokens<'a>(tokens: impl IntoIterator<Item = &'a str>) -> Result<(), ContractError> {
    let tokens: Vec<&str> = tokens.into_iter().collect();
    let shape = |token: &str| {
        let plain = token.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
        let dotted = token.contains('.') && token.split('.').all(|part| !part.is_empty());
        (!plain || !dotted).then(|| format!("`{token}` is no dotted ASCII word such as `orders.reserved`"))
    };
    let all: Vec<&str> = REGISTRY.iter().map(|spec| spec.token).chain(tokens.iter().copied()).collect();
    spelling(&tokens, &all, shape)
}

/// The common rules: each of `tokens` has the shape, and ends with none of `all` but itself.
fn spelling(
    tokens: &[&str],
    all: &[&str],
    shape: impl Fn(&str) -> Option<String>,
) -> Result<(), ContractError> {
    let mut lines: Vec<String> = tokens.iter().filter_map(|token| shape(token)).collect();
    for (i, token) in tokens.iter().enumerate() {
        if tokens[..i].contains(token) {
            lines.push(format!("`{token}` stands there twice"));
        }
        let ends = |other: &&&str| *other != token && token.ends_with(**other);
        if let Some(other) = all.iter().find(ends) {
            lines.push(format!(
                "`{token}` ends with `{other}`: who waits for `{other}@hub` would take it for that"
            ));
        }
    }
    if lines.is_empty() { Ok(()) } else { Err(ContractError::Spelling(lines)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: &str = "POSTED\t0.1\t-\nENQUEUED\t0.1\t-\nHANDLER_EXIT\t0.1\thandled\n";

    fn rows(golden: &str) -> Vec<Row<'_>> {
        golden
            .lines()
            .map(|line| {
                let mut fields = line.split('\t');
                let mut next = || fields.next().expect("three fields");
                Row { token: next(), since: next(), fate: next() }
            })
            .collect()
    }

    fn message(current: &str) -> String {
        check(GOLDEN, &rows(current)).expect_err("it differs").to_string()
    }

    #[test]
    fn the_same_table_passes() {
        assert_eq!(check(GOLDEN, &rows(GOLDEN)), Ok(()));
        assert_eq!(render(&rows(GOLDEN)), GOLDEN);
    }

    #[test]
    fn every_edit_is_named() {
        let cases = [
            (GOLDEN.replace("ENQUEUED", "QUEUED"), "`ENQUEUED` (line 2) was renamed to `QUEUED`"),
            (GOLDEN.replace("ENQUEUED\t0.1\t-\n", ""), "`ENQUEUED` (line 2) was removed"),
            (
                GOLDEN.replace("EXIT\t0.1", "EXIT\t0.2"),
                "`HANDLER_EXIT` (line 3) changed\n  - HANDLER_EXIT\t0.1\thandled\n  + HANDLER_EXIT\t0.2\thandled",
            ),
            (GOLDEN.replace("\thandled", "\t-"), "`HANDLER_EXIT` (line 3) changed"),
            (
                "ENQUEUED\t0.1\t-\nPOSTED\t0.1\t-\nHANDLER_EXIT\t0.1\thandled\n".to_owned(),
                "`POSTED` moved from line 1 to line 2",
            ),
            (format!("NEW\t0.2\t-\n{GOLDEN}"), "`NEW` is new at line 1 and not at the end"),
            (String::new(), "`POSTED` (line 1) was removed"),
        ];
        for (current, expected) in cases {
            let message = message(&current);
            assert!(message.contains(expected), "{expected:?} is not in:\n{message}");
        }
    }

    #[test]
    fn an_appended_token_asks_for_the_blessing() {
        let message = message(&format!("{GOLDEN}NEW\t0.2\t-\n"));
        assert!(message.contains("FATE_BLESS=1") && message.contains("+ NEW\t0.2\t-"), "{message}");
    }

    #[test]
    fn blessing_appends_and_never_mends() {
        let dir = std::env::temp_dir().join(format!("fate-contract-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a directory");
        let path = dir.join("stages.txt");
        let bless = |current: &str| check_file_with(&path, &rows(current), true);
        assert_eq!(bless(GOLDEN), Ok(()), "the first blessing makes the file");
        let longer = format!("{GOLDEN}NEW\t0.2\t-\n");
        assert!(check_file_with(&path, &rows(&longer), false).is_err());
        assert_eq!(bless(&longer), Ok(()));
        assert!(matches!(bless(GOLDEN), Err(ContractError::Broken(_))));
        assert_eq!(std::fs::read_to_string(&path).expect("the file"), longer);
        std::fs::remove_dir_all(&dir).expect("removed");
    }

    #[test]
    fn spelling_is_checked() {
        let wrong = |tokens: &[&str]| check_tokens(tokens.iter().copied()).expect_err("wrong").to_string();
        assert!(wrong(&["POSTED", "RESPONSE_POSTED"]).contains("`RESPONSE_POSTED` ends with `POSTED`"));
        assert!(wrong(&["POSTED", "POSTED"]).contains("twice"));
        for token in ["", "posted", "_X", "X_", "ORDERS.PAID", "GRÜN"] {
            assert!(wrong(&[token]).contains("no upper-case"), "{token}");
        }
        let wrong = |tokens: &[&str]| {
            check_application_tokens(tokens.iter().copied()).expect_err("wrong").to_string()
        };
        assert!(wrong(&["orders.ENQUEUED"]).contains("ends with `ENQUEUED`"));
        for token in ["paid", ".paid", "orders.", "a b.c", "a@b.c"] {
            assert!(wrong(&[token]).contains("no dotted"), "{token}");
        }
    }
}
