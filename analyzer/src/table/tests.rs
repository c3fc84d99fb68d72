//! Tables read back: what was written is what the rows say.

use polars::prelude::{CsvReadOptions, ParquetReader, SerReader};

use super::*;
use crate::history::Builder;
use crate::ingest::FileReport;
use crate::model::{Evidence, Flags, Outcome, RunKey, RunMeta, TestId, TestResult};
use crate::order::{OrderClass, OrderFinding, OrderKind, Side};

/// Two runs: a failed try with an order and names that a table must quote, then a passed one.
fn histories() -> Histories {
    let order = OrderFinding {
        kind: OrderKind::Permutation,
        expected: vec!["A".into(), "B".into(), "C".into()],
        observed: vec!["B".into(), "C".into(), "A".into()],
        ranks: Some(vec![1, 2, 0]),
        class: OrderClass::Full,
        exact: true,
        ambiguous: false,
        side: Side::Label,
        split: None,
    };
    let result = |outcome: Outcome, order: Option<OrderFinding>| TestResult {
        id: TestId { suite: "S".into(), test: "Keeps(\"a,b\",\n\"é\")".into() },
        outcome,
        evidence: Evidence::E1,
        try_number: 1,
        seconds: Some(0.012),
        started_at: None,
        line: 7,
        failure: order.as_ref().map(|_| "Expected 3".to_owned()),
        order,
        flags: Flags::default(),
    };
    let mut builder = Builder::new();
    for (run_id, outcome, order) in [("9", Outcome::Failed, Some(order)), ("10", Outcome::Passed, None)] {
        let results = vec![result(outcome, order)];
        let file = FileReport { path: format!("{run_id}/a.trx"), results, ..FileReport::default() };
        let key = RunKey { run_id: run_id.into(), attempt: 1, ..RunKey::default() };
        let started_at = Some("2026-09-06T14:00:00Z".parse().unwrap());
        builder.add(&file, &RunMeta { key, started_at, commit: Some("c1".into()), ..RunMeta::default() });
    }
    builder.finish(None)
}

#[test]
fn the_schema_is_what_is_written() {
    let frame = frame::empty().unwrap();
    let written: Vec<(String, String)> =
        frame.schema().iter().map(|(name, dtype)| (name.to_string(), format!("{dtype:?}"))).collect();
    let stated: Vec<(String, String)> =
        COLUMNS.iter().map(|column| (column.name.to_owned(), column.dtype.to_owned())).collect();
    assert_eq!(written, stated);
}

#[test]
fn the_schema_is_documented() {
    let readme = include_str!("../../README.md");
    for column in COLUMNS {
        let line = format!("| `{}` | {} | {} |", column.name, column.dtype, column.meaning);
        assert!(readme.contains(&line), "README.md lacks: {line}");
    }
}

#[test]
fn parquet_reads_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rows.parquet");
    assert_eq!(export(&histories(), &path).unwrap(), 2);
    let frame = ParquetReader::new(File::open(&path).unwrap()).finish().unwrap();
    assert_eq!((frame.height(), frame.width()), (2, COLUMNS.len()));
    let cell = |name: &str, row: usize| frame.column(name).unwrap().get(row).unwrap().to_string();
    assert_eq!(cell("run_id", 0), "\"9\"");
    assert_eq!(cell("seconds", 0), "0.012");
    assert_eq!(cell("ranks", 0), "\"1,2,0\"");
    assert_eq!(cell("ranks", 1), "null");
    assert_eq!(cell("exact", 0), "true");
    assert_eq!(cell("time", 1), "\"2026-09-06T14:00:00Z\"");
    assert_eq!(frame.column("test").unwrap().str().unwrap().get(0), Some("Keeps(\"a,b\",\n\"é\")"));
}

#[test]
fn csv_reads_back_and_batches_make_one_table() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rows.csv");
    assert_eq!(export(&histories(), &path).unwrap(), 2);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("run_id,attempt,job,"), "{text}");
    let frame = CsvReadOptions::default()
        .with_has_header(true)
        .try_into_reader_with_file_path(Some(path))
        .unwrap()
        .finish()
        .unwrap();
    assert_eq!((frame.height(), frame.width()), (2, COLUMNS.len()));
    assert_eq!(frame.column("test").unwrap().str().unwrap().get(1), Some("Keeps(\"a,b\",\n\"é\")"));

    let mut heights = Vec::new();
    frame::batches(&histories(), 1, |batch| {
        heights.push(batch.height());
        Ok(())
    })
    .unwrap();
    assert_eq!(heights, [1, 1]);
}

#[test]
fn an_export_names_its_kind_by_its_extension() {
    let error = export(&histories(), Path::new("rows.xlsx")).unwrap_err();
    assert_eq!(error, "rows.xlsx: a table is written to a file named *.parquet or *.csv");
    let error = export(&histories(), Path::new("no/such/folder/rows.csv")).unwrap_err();
    assert!(error.starts_with("cannot write no/such/folder/rows.csv: "), "{error}");
}
