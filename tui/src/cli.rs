//! The command line.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use fate_trail::live::Rule;

use crate::source::Where;
use crate::theme::ColorChoice;
use crate::{Exit, Io, hubs, snapshot, top};

/// Longest time `--observe` may take, seconds.
const MAX_OBSERVE: u64 = 3600;

#[derive(Debug, Parser)]
#[command(
    name = "fate-tui",
    bin_name = "fate-tui",
    version,
    about = "Watch live message hubs: queue depths, gates, the running turn and the delivery in neither queue",
    after_help = "Exit codes: 0 ok, 2 usage, 3 cannot attach, 4 protocol mismatch, 5 rule hit."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Watch a fleet of hubs, worst first; without a terminal it prints one snapshot
    Top(TopArgs),
    /// Print the state of all hubs once
    Snapshot(SnapshotArgs),
    /// List the hub processes that can be attached, and their hubs
    Hubs(WhereArgs),
}

#[derive(Debug, Args)]
struct WhereArgs {
    /// Names of hubs or hub processes; `*` and `?` stand for any characters [default: all]
    #[arg(value_name = "GLOB")]
    globs: Vec<String>,
    /// Folder with the sockets [default: $FATE_LIVE_DIR, $XDG_RUNTIME_DIR/fate-trail or /tmp/fate-trail-UID]
    #[arg(long, value_name = "FOLDER", conflicts_with = "socket")]
    dir: Option<PathBuf>,
    /// Attach to this socket alone; may be given several times
    #[arg(long, value_name = "PATH")]
    socket: Vec<PathBuf>,
}

#[derive(Debug, Args)]
struct TopArgs {
    #[command(flatten)]
    place: WhereArgs,
    /// Colours; NO_COLOR and TERM=dumb are respected
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto)]
    color: ColorChoice,
}

#[derive(Debug, Args)]
struct SnapshotArgs {
    #[command(flatten)]
    place: WhereArgs,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Exit with 5 if this rule holds of any hub; may be given several times: wedged-turn,
    /// between-queues, gate-never-opened, deferred-growing, stale, or any
    #[arg(long, value_name = "RULE", value_parser = rules)]
    fail_on: Vec<Rules>,
    /// Watch for so many seconds before judging; deferred-growing needs 7 and takes them by itself
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=MAX_OBSERVE))]
    observe: Option<u64>,
}

/// How a snapshot is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table, and the warnings in words.
    Table,
    /// One JSON document, schema fate-snapshot/1 (unstable).
    Json,
}

/// One `--fail-on`: a rule, or all of them.
#[derive(Clone, Copy, Debug)]
struct Rules(Option<Rule>);

fn rules(name: &str) -> Result<Rules, String> {
    if name == "any" {
        return Ok(Rules(None));
    }
    Rule::from_name(name).map(|rule| Rules(Some(rule))).ok_or_else(|| {
        let known: Vec<&str> = Rule::ALL.iter().map(|rule| rule.as_str()).collect();
        format!("no such rule; known are {} and any", known.join(", "))
    })
}

impl WhereArgs {
    fn place(self) -> Where {
        Where { globs: self.globs, directory: self.dir, sockets: self.socket }
    }
}

/// Parses and runs.
pub(crate) fn run(args: impl IntoIterator<Item = OsString>, io: &mut Io) -> Exit {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let text = error.render();
            // A reader that went away does not change what happened.
            let _ = if error.use_stderr() { write!(io.err, "{text}") } else { write!(io.out, "{text}") };
            return if error.use_stderr() { Exit::Usage } else { Exit::Ok };
        }
    };
    match cli.command {
        Command::Top(args) if io.interactive => top::run(&args.place.place(), args.color, io),
        Command::Top(args) => {
            let why = "fate-tui: not on a terminal, printing one snapshot instead of `top`";
            let _ = writeln!(io.err, "{why}");
            snapshot::run(&args.place.place(), &snapshot::Options::default(), io)
        }
        Command::Snapshot(args) => {
            let mut fail_on: Vec<Rule> = Vec::new();
            for rules in &args.fail_on {
                match rules.0 {
                    Some(rule) => fail_on.push(rule),
                    None => fail_on.extend(Rule::ALL),
                }
            }
            let options = snapshot::Options {
                format: args.format,
                fail_on,
                observe: args.observe.map(Duration::from_secs),
            };
            snapshot::run(&args.place.place(), &options, io)
        }
        Command::Hubs(args) => hubs::run(&args.place(), io),
    }
}
