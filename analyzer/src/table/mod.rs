//! The only modules that import polars: rows as a table, exported as Parquet or CSV.
//!
//! One row per try. [`COLUMNS`] is the schema, a contract like the report's: columns are added at
//! the end, none is renamed, retyped or dropped.

mod frame;

use std::fs::File;
use std::io;
use std::path::Path;

use polars::prelude::{CsvWriter, ParquetCompression, ParquetWriter, PolarsError, SerWriter};

use crate::history::Histories;
use crate::report::write::atomically;

/// Rows that become columns at a time; bounds the memory that an export takes on top of the rows.
const BATCH_ROWS: usize = 131_072;

/// A column: its name, its type in Parquet, what it holds and in which unit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Column {
    /// Name.
    pub name: &'static str,
    /// `String`, `UInt32`, `Float64` or `Boolean`.
    pub dtype: &'static str,
    /// Meaning, with the unit; "null" says when it is null.
    pub meaning: &'static str,
}

const fn column(name: &'static str, dtype: &'static str, meaning: &'static str) -> Column {
    Column { name, dtype, meaning }
}

/// The schema, in the order in which it is written. Rows are sorted by suite, test, run (start, then id), try.
pub const COLUMNS: [Column; 24] = [
    column("run_id", "String", "the CI system's id of the run; the file's path where none is known"),
    column("attempt", "UInt32", "rerun by CI, from 1"),
    column("job", "String", "name of the CI job, empty if unknown"),
    column("shard", "String", "shard, empty if unknown"),
    column("suite", "String", "assembly, binary or package, empty if unknown"),
    column("test", "String", "class and name with arguments; for libtest the path"),
    column("try", "UInt32", "repetition inside the run, from 1"),
    column("outcome", "String", "passed, failed, errored, skipped, timed_out or unknown"),
    column("seconds", "Float64", "duration in seconds; null if not reported"),
    column("time", "String", "start of the try, else of the run; RFC 3339, UTC; null if unknown"),
    column("commit", "String", "commit under test; null if unknown"),
    column("branch", "String", "branch under test; null if unknown"),
    column("evidence", "String", "E1 the test itself reported, E2 suite totals only, E3 job colour only"),
    column("file", "String", "the file that told most about the try, `archive!member` inside an archive"),
    column("line", "UInt32", "1-based line there"),
    column(
        "template",
        "String",
        "id of the failure text without its numbers, 16 hexadecimal digits; null if there is no text",
    ),
    column(
        "ranks",
        "String",
        "observed order as positions in the expected one, comma-separated; null if no order is proven",
    ),
    column("class", "String", "how completely the text shows the order: F H E W 1 0; null if it shows none"),
    column(
        "exact",
        "Boolean",
        "true where the ranks are what the run saw, false where they are a bound; null without ranks",
    ),
    column(
        "side",
        "String",
        "how the expected side was decided: label, never-varies, posting-order or assumed; null without an order",
    ),
    column("truncated", "Boolean", "something was cut at a limit or by the end of the file"),
    column("repaired", "Boolean", "illegal bytes were replaced to read it"),
    column("ambiguous", "Boolean", "equal elements made the ranks a convention; null without an order"),
    column("try_unknown", "Boolean", "the file hides which try it is"),
];

/// What a table can be written as.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Apache Parquet, zstd.
    Parquet,
    /// Comma-separated, UTF-8, with a header line; null is an empty field.
    Csv,
}

impl Kind {
    /// The kind that the path's extension names.
    ///
    /// # Errors
    /// In words, if it names none.
    pub fn of(path: &Path) -> Result<Self, String> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("parquet") => Ok(Kind::Parquet),
            Some("csv") => Ok(Kind::Csv),
            _ => Err(format!("{}: a table is written to a file named *.parquet or *.csv", path.display())),
        }
    }
}

/// Writes all rows to `path`, whole or not at all; returns how many.
///
/// # Errors
/// The path, what went wrong and what to do.
pub fn export(histories: &Histories, path: &Path) -> Result<u64, String> {
    let kind = Kind::of(path)?;
    atomically(path, |file| match kind {
        Kind::Parquet => parquet(histories, file).map_err(io::Error::other),
        Kind::Csv => csv(histories, file).map_err(io::Error::other),
    })
    .map_err(|error| {
        format!("cannot write {}: {error}; name a file with --to that can be written", path.display())
    })?;
    Ok(histories.rows.len() as u64)
}

fn parquet(histories: &Histories, file: &mut File) -> Result<(), PolarsError> {
    let mut writer = ParquetWriter::new(io::BufWriter::new(file))
        .with_compression(ParquetCompression::Zstd(None))
        .batched(frame::empty()?.schema())?;
    frame::batches(histories, BATCH_ROWS, |batch| writer.write_batch(&batch))?;
    writer.finish()?;
    Ok(())
}

fn csv(histories: &Histories, file: &mut File) -> Result<(), PolarsError> {
    let mut writer = CsvWriter::new(file).batched(frame::empty()?.schema())?;
    frame::batches(histories, BATCH_ROWS, |batch| writer.write_batch(&batch))?;
    writer.finish()
}

#[cfg(test)]
mod tests;
