//! Complaints on standard error: the first few of each code, then how many more there are.

use std::io;

use super::Io;
use crate::complaint;
use crate::limits::COMPLAINTS_SHOWN_MAX;
use crate::model::Complaint;

/// Prints one line for each complaint, in the order of `all`, until a code has had its share. A
/// complaint that every file of a folder shares (`run-unknown`) is one line with a count.
pub(super) fn print<'c>(all: impl IntoIterator<Item = &'c Complaint>, io: &mut Io<'_>) -> io::Result<()> {
    if io.quiet {
        return Ok(());
    }
    let mut codes: Vec<(&'static str, usize)> = Vec::new();
    for complaint in all {
        let at = codes.iter().position(|(code, _)| *code == complaint.code).unwrap_or_else(|| {
            codes.push((complaint.code, 0));
            codes.len() - 1
        });
        codes[at].1 += 1;
        if codes[at].1 <= share(complaint.code) {
            writeln!(io.err, "{}", complaint::one_line(complaint))?;
        }
    }
    for (code, count) in codes {
        if count > share(code) {
            writeln!(io.err, "… and {} more {code}; `report --format json` lists all", count - share(code))?;
        }
    }
    Ok(())
}

/// How many are printed. What all files of one producer share is said once.
fn share(code: &str) -> usize {
    if [complaint::RUN_UNKNOWN, complaint::NAIVE_TIME].contains(&code) { 1 } else { COMPLAINTS_SHOWN_MAX }
}
