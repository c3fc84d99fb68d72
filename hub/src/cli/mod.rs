//! The `fate-hub` program: a demo of several hubs that are worth looking at.

mod chance;
mod demo;
mod otlp;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use fate_trail::otel::Relation;
use fate_trail::{Recorder, RecorderConfig};
use tokio::signal::unix::{SignalKind, signal};

use crate::Registry;
use crate::live::{ByeReason, LiveConfig, LiveServer};
use crate::otel::Telemetry;

/// Exit code of a command line that makes no sense.
const USAGE: u8 = 2;

/// Exit code when the demo cannot be served.
const CANNOT_SERVE: u8 = 3;

/// Threads of the demo's hubs. One of the hubs holds a thread now and then, on purpose.
const WORKERS: usize = 3;

/// How long the demo's hubs may take to end.
const END: Duration = Duration::from_secs(1);

/// How long the last telemetry may take; an endpoint that is down does not keep the program.
const LAST_TELEMETRY: Duration = Duration::from_secs(2);

/// Where a run of the program writes, so that a test or another program can stand in.
pub struct Io {
    /// Results.
    pub out: Box<dyn Write>,
    /// Everything else.
    pub err: Box<dyn Write + Send>,
}

impl Io {
    /// The streams of this process.
    pub fn standard() -> Self {
        Io { out: Box::new(std::io::stdout()), err: Box::new(std::io::stderr()) }
    }
}

impl std::fmt::Debug for Io {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Io").finish_non_exhaustive()
    }
}

#[derive(Debug, Parser)]
#[command(
    name = "fate-hub",
    bin_name = "fate-hub",
    version,
    about = "Demo hubs that serve the live protocol",
    after_help = "Exit codes: 0 ok, 2 usage, 3 cannot serve."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run several hubs worth looking at, until TERM, INT or the given time
    Run(RunArgs),
}

#[derive(Debug, Args)]
struct RunArgs {
    /// Serve at this socket and write no manifest [default: a socket in $FATE_LIVE_DIR,
    /// $XDG_RUNTIME_DIR/fate-trail or /tmp/fate-trail-UID, with a manifest beside it]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Folder for socket and manifest
    #[arg(long, value_name = "FOLDER", conflicts_with = "socket")]
    dir: Option<PathBuf>,
    /// Name of the process
    #[arg(long, value_name = "NAME", default_value = "demo")]
    name: String,
    /// End after so many seconds
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Seed of the traffic: which messages come when, and how long they take
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Export traces, metrics and logs to this OTLP endpoint, such as http://127.0.0.1:4318
    #[arg(long, value_name = "ENDPOINT", value_parser = otlp::endpoint)]
    otlp: Option<String>,
    /// How a turn's span is tied to the one that sent its message: nested, linked, or nested for
    /// requests and linked for self-posts, timers and released deliveries
    #[arg(long, value_name = "HOW", default_value = "auto", requires = "otlp")]
    otlp_relation: Tie,
}

/// The choices of [`Relation`] on the command line.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Tie {
    Auto,
    Parent,
    Link,
}

impl From<Tie> for Relation {
    fn from(tie: Tie) -> Self {
        match tie {
            Tie::Auto => Relation::Auto,
            Tie::Parent => Relation::Parent,
            Tie::Link => Relation::Link,
        }
    }
}

/// Runs the program with `args` (the first is the program's own name) and returns its exit code:
/// 0 ok, 2 usage, 3 cannot serve.
pub fn run(args: impl IntoIterator<Item = OsString>, io: &mut Io) -> u8 {
    let Command::Run(args) = match Cli::try_parse_from(args) {
        Ok(cli) => cli.command,
        Err(error) => {
            let text = error.render();
            let to: &mut dyn Write = if error.use_stderr() { &mut io.err } else { &mut io.out };
            // A reader that went away does not change what happened.
            let _ = write!(to, "{text}");
            return if error.use_stderr() { USAGE } else { 0 };
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_name("fate-hub")
        .enable_all()
        .build();
    let served = match runtime {
        Ok(runtime) => {
            let exporting = args.otlp.as_deref().map(|endpoint| otlp::Otlp::start(endpoint, &args.name));
            exporting.transpose().and_then(|exporting| {
                let served = runtime.block_on(serve(&args, exporting.as_ref(), io));
                // A turn that never ends does not keep the process.
                runtime.shutdown_timeout(END);
                // Outside the runtime, whose threads must not be blocked, and after all turns.
                if let Some(complaint) = exporting.and_then(|exporting| exporting.shutdown(LAST_TELEMETRY)) {
                    let _ = writeln!(io.err, "fate-hub: {complaint}");
                }
                served
            })
        }
        Err(error) => Err(format!("no runtime: {error}")),
    };
    match served {
        Ok(()) => 0,
        Err(why) => {
            let _ = writeln!(io.err, "fate-hub: {why}");
            CANNOT_SERVE
        }
    }
}

async fn serve(args: &RunArgs, exporting: Option<&otlp::Otlp>, io: &mut Io) -> Result<(), String> {
    // Before anything can be left behind: from here on a signal is a request.
    let hear = |kind| signal(kind).map_err(|error| format!("no signal handler: {error}"));
    let (mut term, mut int) = (hear(SignalKind::terminate())?, hear(SignalKind::interrupt())?);
    let mut hup = hear(SignalKind::hangup())?;

    let registry = Registry::new();
    let recorder = Recorder::new(RecorderConfig::default());
    let telemetry = match exporting {
        Some(exporting) => {
            exporting.subscribe()?;
            let config = exporting.config(args.otlp_relation.into());
            let started = Telemetry::start(config, &registry, &recorder);
            Some(started.map_err(|error| format!("no thread for telemetry: {error}"))?)
        }
        None => None,
    };
    let place = demo::Place { registry: &registry, recorder: &recorder, telemetry: telemetry.as_ref() };
    let demo = demo::Demo::start(args.seed, place).map_err(|e| e.to_string())?;
    let goodbyes = Arc::new(Mutex::new(Vec::new()));
    let mut config = LiveConfig::new(&args.name);
    config.socket.clone_from(&args.socket);
    config.directory.clone_from(&args.dir);
    config.on_goodbye = Some({
        let goodbyes = Arc::clone(&goodbyes);
        Arc::new(move |reason, text: &str| {
            if reason != ByeReason::Shutdown {
                let line = format!("fate-hub: a client was sent away: {text}");
                goodbyes.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }
        })
    });
    let server = LiveServer::start(config, (registry, recorder)).map_err(|e| e.to_string())?;
    announce(args, &server, &demo, io);

    let limit = args.seconds.map(Duration::from_secs);
    let over = async {
        match limit {
            Some(limit) => tokio::time::sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
        _ = hup.recv() => {}
        () = over => {}
    }
    drop(server);
    for line in goodbyes.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let _ = writeln!(io.err, "{line}");
    }
    demo.end(END).await;
    // Takes a last look; it does not wait for the endpoint.
    drop(telemetry);
    Ok(())
}

fn announce(args: &RunArgs, server: &LiveServer, demo: &demo::Demo, io: &mut Io) {
    let socket = server.socket().display();
    let watch = if args.socket.is_some() {
        format!("fate-tui top --socket {socket}")
    } else if let Some(dir) = &args.dir {
        format!("fate-tui top --dir {}", dir.display())
    } else {
        "fate-tui top   (from the sources: cargo tui top)".to_owned()
    };
    // Whoever started the demo and reads nothing still wants it to run.
    let _ = writeln!(
        io.out,
        "{} hubs, seed {}, listening at {socket}\nwatch them:  {watch}\nstop them:   Ctrl-C",
        demo.hubs(),
        args.seed
    )
    .and_then(|()| io.out.flush());
}
