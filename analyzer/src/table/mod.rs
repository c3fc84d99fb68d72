//! The only modules that import polars: rows as a table, exported as Parquet or CSV.
