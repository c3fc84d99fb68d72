//! `report`: from files to histories to the report, in the format asked for.

use std::ffi::OsString;

use super::args::{Report, ReportFormat};
use super::load::{Loaded, load};
use super::{Failure, Io, Outcome, complaints};
use crate::history::{Builder, Histories, Packer, TestFilter};
use crate::report::{Facts, Style, assemble, json, markdown, text, write};
use crate::runs::CiRun;
use crate::{complaint, exit};

/// Columns where neither the terminal nor `COLUMNS` says how many there are.
const WIDTH: usize = 100;
/// Fewer columns than this print a table nobody can read.
const WIDTH_MIN: usize = 60;

/// Which files are read and which tests are kept; what `report` and `export` have in common.
struct Selection<'a> {
    paths: &'a [OsString],
    test: Option<&'a str>,
    ci_run: bool,
}

/// Reads everything and builds one history for each test.
fn histories(selection: &Selection<'_>, io: &mut Io<'_>) -> Result<(Loaded, Histories), Failure> {
    let filter = selection.test.map(TestFilter::new).transpose().map_err(Failure::Usage)?;
    let ci = if selection.ci_run {
        let found = CiRun::from_env(&|name| io.var(name));
        Some(found.ok_or_else(|| {
            Failure::Usage("--ci-run is for use inside CI, and no CI system's variables are set; write a runs.ndjson instead".to_owned())
        })?)
    } else {
        None
    };
    let packer = Packer::default();
    let mut loaded = load(selection.paths, ci, Some(&packer), io);
    let mut builder = Builder::of(packer);
    for file in &mut loaded.files {
        // A file that could not be opened is no run.
        if let Some(packed) = file.packed.take() {
            builder.add_packed(packed, &file.run);
        }
    }
    let histories = builder.finish(filter.as_ref());
    Ok((loaded, histories))
}

pub(super) fn run(command: &Report, io: &mut Io<'_>) -> Outcome {
    let selection =
        Selection { paths: &command.paths, test: command.test.as_deref(), ci_run: command.ci_run };
    if let Some(dir) = &command.out {
        // A folder that cannot be written to is said before hours of reading.
        write::prepare(dir).map_err(Failure::Usage)?;
    }
    let (loaded, histories) = histories(&selection, io)?;
    let mut all = loaded.all_complaints();
    if let Some(split) = command.split_at.filter(|split| split.naive) {
        let text = format!("the time gives no offset and was read as UTC: {}; add Z or the offset", split.at);
        all.push(complaint::whole_file("--split-at", complaint::NAIVE_TIME, text));
    }
    let facts = Facts {
        files: loaded.files.len() as u64,
        unrecognised_files: loaded.lost() as u64,
        complaints: all.clone(),
    };
    let report = assemble(&histories, facts, command.split_at.map(|split| split.at));
    complaints::print(&all, io)?;
    let printed = match command.format {
        ReportFormat::Text => text::render(&report, Style { width: width(io), colour: io.color }),
        ReportFormat::Json => json::render(&report),
        ReportFormat::Markdown => markdown::render(&report),
    };
    if let Some(dir) = &command.out {
        write::reports(&report, dir).map_err(Failure::Usage)?;
    }
    io.out.write_all(printed.as_bytes())?;
    io.out.flush()?;
    degraded(&selection, &loaded, histories.executions() > 0, command.floor, io)
}

/// `export`: one row for each try, to a table.
#[cfg(feature = "table")]
pub(super) fn export(command: &super::args::Export, io: &mut Io<'_>) -> Outcome {
    use crate::table;
    // A wrong name is said before hours of reading.
    table::Kind::of(&command.to).map_err(Failure::Usage)?;
    let selection =
        Selection { paths: &command.paths, test: command.test.as_deref(), ci_run: command.ci_run };
    let (loaded, histories) = histories(&selection, io)?;
    complaints::print(&loaded.all_complaints(), io)?;
    let rows = table::export(&histories, &command.to).map_err(Failure::Usage)?;
    if !io.quiet {
        writeln!(
            io.err,
            "wrote {rows} rows to {}",
            fate_trail::scrub::scrub_line(&command.to.to_string_lossy())
        )?;
    }
    degraded(&selection, &loaded, rows > 0, super::args::FLOOR, io)
}

fn width(io: &Io<'_>) -> usize {
    let columns = io.var("COLUMNS").and_then(|text| text.parse::<usize>().ok());
    columns.filter(|&columns| columns >= WIDTH_MIN).unwrap_or(WIDTH)
}

/// The exit code: 3 where nothing was counted or too many files were no use, and says so.
fn degraded(
    selection: &Selection<'_>,
    loaded: &Loaded,
    counted: bool,
    floor: f64,
    io: &mut Io<'_>,
) -> Outcome {
    let (lost, all) = (loaded.lost(), loaded.files.len());
    if !counted {
        let asked = if selection.test.is_some() { " that --test asks for" } else { "" };
        writeln!(io.err, "nothing was counted: no file reports a test{asked}")?;
        return Ok(exit::DEGRADED);
    }
    // Share in percent; both counts are far below 2^53.
    let share = 100.0 * lost as f64 / all.max(1) as f64;
    if share > floor {
        writeln!(
            io.err,
            "{lost} of {all} files ({share:.1} %) are unrecognised or damaged, more than the floor of {floor} %; look into them or raise --floor"
        )?;
        return Ok(exit::DEGRADED);
    }
    Ok(exit::OK)
}
