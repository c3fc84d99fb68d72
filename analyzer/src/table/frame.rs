//! Rows to columns.

use jiff::Timestamp;
use polars::prelude::{Column, DataFrame, NamedFrom, PolarsError, Series};

use crate::history::{Histories, Row};

/// A table of no rows: the schema.
pub(super) fn empty() -> Result<DataFrame, PolarsError> {
    of(&[])
}

/// Hands the rows to `write`, at most `rows` at a time.
pub(super) fn batches(
    histories: &Histories,
    rows: usize,
    mut write: impl FnMut(DataFrame) -> Result<(), PolarsError>,
) -> Result<(), PolarsError> {
    let mut all = histories.rows();
    let mut batch = Vec::with_capacity(rows.min(all.len()));
    loop {
        batch.clear();
        batch.extend(all.by_ref().take(rows));
        if batch.is_empty() {
            return Ok(());
        }
        write(of(&batch)?)?;
    }
}

/// The columns of the given rows, in the order of [`super::COLUMNS`].
fn of(rows: &[Row<'_>]) -> Result<DataFrame, PolarsError> {
    let columns = vec![
        text("run_id", rows, |row| Some(row.run.key.run_id.as_str())),
        number("attempt", rows, |row| row.run.key.attempt),
        text("job", rows, |row| Some(row.run.key.job.as_str())),
        text("shard", rows, |row| Some(row.run.key.shard.as_str())),
        text("suite", rows, |row| Some(row.id.suite.as_str())),
        text("test", rows, |row| Some(row.id.test.as_str())),
        number("try", rows, |row| row.try_number),
        text("outcome", rows, |row| Some(row.outcome.as_str())),
        column("seconds", rows.iter().map(|row| row.seconds).collect::<Vec<Option<f64>>>()),
        owned("time", rows, |row| {
            row.at.and_then(|at| Timestamp::from_microsecond(at).ok()).map(|at| at.to_string())
        }),
        text("commit", rows, |row| row.run.commit.as_deref()),
        text("branch", rows, |row| row.run.branch.as_deref()),
        text("evidence", rows, |row| Some(row.evidence.as_str())),
        text("file", rows, |row| Some(row.file)),
        number("line", rows, |row| row.line),
        owned("template", rows, |row| row.template.map(crate::history::Template::id_text)),
        owned("ranks", rows, |row| row.finding.and_then(|finding| finding.ranks.as_deref()).map(ranks)),
        text("class", rows, |row| row.finding.map(|finding| finding.class.as_str())),
        flag("exact", rows, |row| {
            row.finding.filter(|finding| finding.ranks.is_some()).map(|finding| finding.exact)
        }),
        text("side", rows, |row| row.finding.map(|finding| finding.side.as_str())),
        flag("truncated", rows, |row| Some(row.truncated)),
        flag("repaired", rows, |row| Some(row.repaired)),
        flag("ambiguous", rows, |row| row.finding.map(|finding| finding.ambiguous)),
        flag("try_unknown", rows, |row| Some(row.try_unknown)),
    ];
    DataFrame::new(rows.len(), columns)
}

/// `1,2,0`.
fn ranks(ranks: &[u32]) -> String {
    ranks.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

fn text<'a>(name: &str, rows: &[Row<'a>], value: impl Fn(&Row<'a>) -> Option<&'a str>) -> Column {
    column(name, rows.iter().map(value).collect::<Vec<Option<&str>>>())
}

fn owned(name: &str, rows: &[Row<'_>], value: impl Fn(&Row<'_>) -> Option<String>) -> Column {
    column(name, rows.iter().map(value).collect::<Vec<Option<String>>>())
}

fn number(name: &str, rows: &[Row<'_>], value: impl Fn(&Row<'_>) -> u32) -> Column {
    column(name, rows.iter().map(value).collect::<Vec<u32>>())
}

fn flag(name: &str, rows: &[Row<'_>], value: impl Fn(&Row<'_>) -> Option<bool>) -> Column {
    column(name, rows.iter().map(value).collect::<Vec<Option<bool>>>())
}

/// A column of any type that polars builds from a vector.
fn column<T, Phantom: ?Sized>(name: &str, values: T) -> Column
where
    Series: NamedFrom<T, Phantom>,
{
    Series::new(name.into(), values).into()
}
