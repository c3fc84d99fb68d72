//! The command line: raw arguments, one function for each command, exit codes.
//!
//! Standard output carries only the chosen format; progress and complaints go to standard error.

mod args;
mod complaints;
mod contract;
mod io;
mod load;
mod progress;
mod report;

use std::ffi::OsString;
use std::io::ErrorKind;

use clap::Parser;
use clap::error::ErrorKind as Usage;

pub use io::Io;
pub use load::{File, Loaded, load};

use crate::exit;
use args::{Args, Command};

/// Why a command ended without a result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The arguments make no sense together; the text is for the person who typed them.
    Usage(String),
    /// Writing failed; a closed pipe ends the command quietly.
    Write(std::io::Error),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::Write(error)
    }
}

/// What a command gives: its exit code, or why there is none.
type Outcome = Result<u8, Failure>;

/// Runs one command line, `args` beginning with the program's name, and returns its exit code
/// (see [`crate::exit`]). Reads and writes only through `io` and the files that the arguments name.
pub fn run(args: impl IntoIterator<Item = OsString>, io: &mut Io<'_>) -> u8 {
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => return usage(&error, io),
    };
    io.quiet = args.quiet;
    io.set_color(args.color);
    let outcome = match &args.command {
        Command::Report(command) => report::run(command, io),
        Command::Inspect(command) => inspect(command, io),
        Command::Export(command) => export(command, io),
        Command::Contract(args::Contract::Check(command)) => contract::check(command, io),
    };
    finish(outcome.and_then(|code| Ok(io.out.flush().map(|()| code)?)), io)
}

fn usage(error: &clap::Error, io: &mut Io<'_>) -> u8 {
    let text = error.render();
    let asked = matches!(error.kind(), Usage::DisplayHelp | Usage::DisplayVersion);
    // Nobody can be told that telling failed.
    let _ =
        if asked { write!(io.out, "{text}").and_then(|()| io.out.flush()) } else { write!(io.err, "{text}") };
    if asked { exit::OK } else { exit::USAGE }
}

fn finish(outcome: Outcome, io: &mut Io<'_>) -> u8 {
    match outcome {
        Ok(code) => code,
        Err(Failure::Usage(text)) => {
            let _ = writeln!(io.err, "error: {}", fate_trail::scrub::scrub_line(&text));
            exit::USAGE
        }
        // Whoever read our output has seen enough.
        Err(Failure::Write(error)) if error.kind() == ErrorKind::BrokenPipe => exit::OK,
        Err(Failure::Write(error)) => {
            let _ = writeln!(
                io.err,
                "error: the result cannot be written: {error}; check the place and its free space"
            );
            exit::DEGRADED
        }
    }
}

fn inspect(command: &args::Inspect, io: &mut Io<'_>) -> Outcome {
    let loaded = load(&command.paths, None, None, io);
    let inspection = crate::inspect::Inspection::of(&loaded);
    match command.format {
        args::InspectFormat::Text => crate::inspect::text(&inspection, &mut *io.out)?,
        args::InspectFormat::Json => crate::inspect::json(&inspection, &mut *io.out)?,
    }
    // Complaints about files stand in the inspection; runs are none of its business.
    let rest = loaded.complaints.iter().filter(|complaint| complaint.code != crate::complaint::RUN_UNKNOWN);
    complaints::print(rest, io)?;
    let recognised = loaded.files.iter().any(File::recognised);
    if !recognised {
        writeln!(io.err, "no file is of a known format")?;
    }
    Ok(if recognised { exit::OK } else { exit::DEGRADED })
}

#[cfg(feature = "table")]
fn export(command: &args::Export, io: &mut Io<'_>) -> Outcome {
    report::export(command, io)
}

#[cfg(not(feature = "table"))]
fn export(_command: &args::Export, _io: &mut Io<'_>) -> Outcome {
    let text = "this fate-analyzer was built without the feature `table`, which writes tables; build it with `--features table`";
    Err(Failure::Usage(text.to_owned()))
}

#[cfg(test)]
mod tests;
