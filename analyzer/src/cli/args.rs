//! The arguments of every command.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::runs::parse_time;

/// Says what is common to all PATH arguments.
const PATHS: &str = "Files, folders, globs, .zip .tar .tar.gz .tar.zst .gz .zst, or - for standard input";

/// What PATHs mean and how a run is known, printed below the long help.
const ABOUT_PATHS: &str = "\
PATH may be a file, a folder (read recursively, sorted; names that begin with a dot are left out),
a glob, a .zip, .tar, .tar.gz, .tar.zst, .gz or .zst file, or - for standard input. Archives are
read as they are; archives inside archives are not opened.

Which run a file belongs to is told, field by field, by the first that applies:
  1. a manifest runs.ndjson or runs.csv in a folder of the PATH, beside a file that is named, or in
     the archive; its columns are path, run_id, attempt, job, shard, started_at, commit, branch and
     conclusion; path is relative to the manifest and may be a file, a folder, a glob or members of
     an archive (logs.tar!17/**)
  2. folders <run-id>/<attempt>/<job>/... below PATH
  3. with --ci-run, the variables of the CI run that this command is part of
  4. the times inside the file
A file that nothing names a run for is a run of its own.

Exit codes: 0 done, 2 usage, 3 nothing was counted or too many files could not be read.";

const ABOUT_CONTRACT: &str = "\
BASELINE is the list that an application's own test pins (fate_trail::pin_stages!), or the registry's
golden copy. Every token of every trail in the FILEs, registered or not, must be in it.

Exit codes: 0 all are pinned, 1 some are not, 2 usage, 3 no trail was found or a file could not be read.";

/// Share of the files, in percent, above which a result is not to be trusted.
pub(super) const FLOOR: f64 = 10.0;

/// Reads CI logs and says whether an order failure is one fixed reorder or a race window.
#[derive(Debug, Parser)]
#[command(
    name = "fate-analyzer",
    bin_name = "fate-analyzer",
    version,
    about,
    propagate_version = true,
    disable_help_subcommand = true
)]
pub(super) struct Args {
    /// Colour on the terminal
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub(super) color: Color,
    /// No progress and no complaints on standard error
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// When colours are used; `auto` is on a terminal unless NO_COLOR is set.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Count the runs, recover the orders, give the verdict
    Report(Report),
    /// Show what is seen in each file
    Inspect(Inspect),
    /// Write one row for each try to a Parquet or CSV table
    Export(Export),
    /// Hold logs to a pinned list of stage tokens
    #[command(subcommand)]
    Contract(Contract),
}

#[derive(Debug, Subcommand)]
pub(super) enum Contract {
    /// Fail where a log holds a token that the list does not pin
    Check(ContractCheck),
}

#[derive(Debug, clap::Args)]
#[command(after_long_help = ABOUT_CONTRACT)]
pub(super) struct ContractCheck {
    /// The pinned tokens: one a line, since-version and fate behind tabs, # before a remark
    #[arg(value_name = "BASELINE")]
    pub(super) baseline: OsString,
    #[arg(required = true, value_name = "FILE", help = PATHS)]
    pub(super) files: Vec<OsString>,
    /// The stages that this program registers count as pinned too
    #[arg(long)]
    pub(super) registry: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_long_help = ABOUT_PATHS)]
pub(super) struct Report {
    #[arg(required = true, value_name = "PATH", help = PATHS)]
    pub(super) paths: Vec<OsString>,
    /// What to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ReportFormat::Text)]
    pub(super) format: ReportFormat,
    /// Also write report.json, report.md and report.txt to this folder
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Cut every test's runs at this time: RFC 3339, without seconds too, or a date
    #[arg(long, value_name = "TIME", value_parser = split_at)]
    pub(super) split_at: Option<SplitAt>,
    /// Only tests that match; compared with `test` and with `suite/test`
    #[arg(long, value_name = "GLOB")]
    pub(super) test: Option<String>,
    /// Exit with 3 if more than this share of the files is unrecognised or damaged, in percent
    #[arg(long, value_name = "PCT", default_value_t = FLOOR, value_parser = percent)]
    pub(super) floor: f64,
    /// Files that nothing names a run for belong to the CI run this command is part of
    #[arg(long)]
    pub(super) ci_run: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum ReportFormat {
    Text,
    Json,
    Markdown,
}

#[derive(Debug, clap::Args)]
#[command(after_long_help = ABOUT_PATHS)]
pub(super) struct Inspect {
    #[arg(required = true, value_name = "PATH", help = PATHS)]
    pub(super) paths: Vec<OsString>,
    /// What to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = InspectFormat::Text)]
    pub(super) format: InspectFormat,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum InspectFormat {
    Text,
    Json,
}

#[derive(Debug, clap::Args)]
#[command(after_long_help = ABOUT_PATHS)]
#[cfg_attr(not(feature = "table"), allow(dead_code))]
pub(super) struct Export {
    #[arg(required = true, value_name = "PATH", help = PATHS)]
    pub(super) paths: Vec<OsString>,
    /// The table to write; its name ends with .parquet or .csv
    #[arg(long, value_name = "FILE")]
    pub(super) to: PathBuf,
    /// Only tests that match; compared with `test` and with `suite/test`
    #[arg(long, value_name = "GLOB")]
    pub(super) test: Option<String>,
    /// Files that nothing names a run for belong to the CI run this command is part of
    #[arg(long)]
    pub(super) ci_run: bool,
}

/// A given change time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct SplitAt {
    pub(super) at: jiff::Timestamp,
    pub(super) naive: bool,
}

fn split_at(text: &str) -> Result<SplitAt, String> {
    let time = parse_time(text).map_err(|error| error.to_string())?;
    Ok(SplitAt { at: time.at, naive: time.naive })
}

fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value),
        _ => Err("is no share between 0 and 100 percent".to_owned()),
    }
}
