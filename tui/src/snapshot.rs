//! `fate-tui snapshot`: the state of all hubs once, as a table or as JSON, and rules as exit codes.

use std::io::{self, Write};
use std::time::Duration;

use fate_trail::live::{Rule, Warning, sentence_of_duration};
use serde::Serialize;

use crate::cli::Format;
use crate::headless::attached;
use crate::source::Where;
use crate::world::{Row, RowKey, World};
use crate::{Exit, Io};

/// How long to observe when a rule needs samples and the user did not say.
const SAMPLES: Duration = Duration::from_secs(7);

/// What the command line asks for.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub format: Format,
    pub fail_on: Vec<Rule>,
    pub observe: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Options { format: Format::Table, fail_on: Vec::new(), observe: None }
    }
}

/// Schema `fate-snapshot/1` (unstable): names are only added, never renamed.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    hubs: Vec<Hub<'a>>,
    warnings: Vec<Raised<'a>>,
}

#[derive(Debug, Serialize)]
struct Hub<'a> {
    hub: &'a str,
    boot: &'a str,
    main: u64,
    deferred: u64,
    running: Option<Running<'a>>,
    between: u64,
    gates: Vec<Gate<'a>>,
    turns: u64,
    requeues: u64,
    lost: u64,
}

#[derive(Debug, Serialize)]
struct Running<'a> {
    delivery: &'a str,
    #[serde(rename = "type")]
    type_name: &'a str,
    age_ms: u64,
    last_stage: &'a str,
}

#[derive(Debug, Serialize)]
struct Gate<'a> {
    name: &'a str,
    closed: bool,
    closed_ms: u64,
    holding: u64,
}

#[derive(Debug, Serialize)]
struct Raised<'a> {
    rule: &'static str,
    hub: &'a str,
    since: String,
    text: &'a str,
}

/// Prints one snapshot.
pub(crate) fn run(place: &Where, options: &Options, io: &mut Io) -> Exit {
    let needs = options.fail_on.iter().any(|rule| rule.needs_samples());
    let observe = options.observe.unwrap_or(if needs { SAMPLES } else { Duration::ZERO });
    let seen = match attached(place, observe, io) {
        Ok(seen) => seen,
        Err(exit) => return exit,
    };
    let rows = rows_of(place, &seen.world);
    let warnings: Vec<Warning> = rows.iter().flat_map(|(key, row)| seen.world.warnings(key, row)).collect();
    let printed = match options.format {
        Format::Json => json(&mut io.out, &seen.world, &rows, &warnings),
        Format::Table => table(&mut io.out, &seen.world, &rows, &warnings),
    };
    let printed = printed.and_then(|()| io.out.flush());
    let hit = warnings.iter().any(|warning| options.fail_on.contains(&warning.rule));
    let exit = seen.exit(printed, io);
    if hit { Exit::RuleHit } else { exit }
}

fn rows_of<'a>(place: &Where, world: &'a World) -> Vec<(&'a RowKey, &'a Row)> {
    let mut rows: Vec<_> = world
        .rows
        .iter()
        .filter(|((target, hub), row)| {
            let process = world.targets.get(*target).map(|t| t.found.name.as_str());
            row.gone.is_none() && place.wants(process.unwrap_or_default(), hub)
        })
        .collect();
    rows.sort_by(|a, b| (&a.0.1, a.0.0).cmp(&(&b.0.1, b.0.0)));
    rows
}

fn json(
    out: &mut dyn Write,
    world: &World,
    rows: &[(&RowKey, &Row)],
    warnings: &[Warning],
) -> io::Result<()> {
    let since = |micros: u64| {
        let micros = i64::try_from(micros).unwrap_or(i64::MAX);
        fate_trail::time::format(world.wall.saturating_sub(micros))
    };
    let hubs = rows.iter().map(|(_, row)| hub_of(world, row)).collect();
    let warnings = warnings
        .iter()
        .map(|w| Raised { rule: w.rule.as_str(), hub: &w.hub, since: since(w.for_micros), text: &w.text })
        .collect();
    let document = Document { schema: "fate-snapshot/1", hubs, warnings };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}

fn hub_of<'a>(world: &World, row: &'a Row) -> Hub<'a> {
    let state = row.state();
    let waited = row.history.since(world.now);
    Hub {
        hub: &state.hub,
        boot: &row.boot,
        main: state.main,
        deferred: state.deferred,
        running: state.running.as_ref().map(|turn| Running {
            delivery: &turn.delivery,
            type_name: &turn.type_name,
            age_ms: (turn.age_us + waited) / 1000,
            last_stage: &turn.last_stage,
        }),
        between: state.between,
        gates: state
            .gates
            .iter()
            .map(|gate| Gate {
                name: &gate.name,
                closed: gate.closed,
                closed_ms: if gate.closed { (gate.closed_us + waited) / 1000 } else { 0 },
                holding: gate.holding,
            })
            .collect(),
        turns: state.turns,
        requeues: state.requeues,
        lost: state.lost,
    }
}

fn table(
    out: &mut dyn Write,
    world: &World,
    rows: &[(&RowKey, &Row)],
    warnings: &[Warning],
) -> io::Result<()> {
    let heading = [
        "HUB", "TURN", "DELIVERY", "AGE", "MAIN", "DEF", "NEITHER", "OLDEST", "GATES", "TURNS", "REQ",
        "PROCESS",
    ];
    let mut lines: Vec<Vec<String>> = vec![heading.map(str::to_owned).to_vec()];
    lines.extend(rows.iter().map(|(key, row)| cells(world, key, row)));
    print_columns(out, &lines)?;
    for (key, row) in rows {
        let closed = row.state().gates.iter().filter(|gate| gate.closed);
        for gate in closed {
            let for_ = sentence_of_duration(gate.closed_us + row.history.since(world.now));
            let holding = gate.holding;
            writeln!(out, "gate {} of {}: closed for {for_}, holding {holding}", gate.name, key.1)?;
        }
    }
    if world.lost() > 0 {
        writeln!(out, "lost: {} events; what is shown may be incomplete", world.lost())?;
    }
    for warning in warnings {
        let (severity, rule) = (warning.severity.as_str(), warning.rule.as_str());
        writeln!(out, "{severity} {rule}: {}: {}", warning.hub, warning.text)?;
    }
    if warnings.is_empty() {
        writeln!(out, "no warnings")?;
    }
    Ok(())
}

fn cells(world: &World, key: &RowKey, row: &Row) -> Vec<String> {
    let state = row.state();
    let waited = row.history.since(world.now);
    let turn = state.running.as_ref();
    let dash = || "-".to_owned();
    let closed = state.gates.iter().filter(|gate| gate.closed).count();
    vec![
        state.hub.clone(),
        turn.map_or_else(dash, |t| t.type_name.clone()),
        turn.map_or_else(dash, |t| t.delivery.clone()),
        turn.map_or_else(dash, |t| sentence_of_duration(t.age_us + waited)),
        state.main.to_string(),
        state.deferred.to_string(),
        state.between.to_string(),
        row.oldest(world.now).map_or_else(dash, sentence_of_duration),
        if state.gates.is_empty() { dash() } else { format!("{closed}/{}", state.gates.len()) },
        state.turns.to_string(),
        state.requeues.to_string(),
        world.targets.get(key.0).map_or_else(dash, crate::Target::label),
    ]
}

/// Prints rows as columns, two spaces apart, without blanks at the end of a line.
pub(crate) fn print_columns(out: &mut dyn Write, lines: &[Vec<String>]) -> io::Result<()> {
    let width = |text: &str| ratatui::text::Span::raw(text).width();
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let widest: Vec<usize> = (0..columns)
        .map(|i| lines.iter().filter_map(|line| line.get(i)).map(|t| width(t)).max().unwrap_or(0))
        .collect();
    for line in lines {
        let mut text = String::new();
        for (cell, widest) in line.iter().zip(&widest) {
            text.push_str(cell);
            text.push_str(&" ".repeat(widest - width(cell) + 2));
        }
        writeln!(out, "{}", text.trim_end())?;
    }
    Ok(())
}
