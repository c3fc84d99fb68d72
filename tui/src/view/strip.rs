//! The selected hub in sentences: what it is doing, what waits, and which gates hold what.

use fate_trail::live::{Gate, sentence_of_duration};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Paragraph, Wrap};

use super::text::{fit, plural};
use crate::app::{App, Shown};
use crate::theme::Theme;
use crate::world::{Row, RowKey, World};

/// Lines of the strip with its rule, on low screens: what the hub does …
pub(super) const HEIGHT_LOW: u16 = 2;
/// … on small ones: what waits, gates and process as well …
pub(super) const HEIGHT: u16 = 5;
/// … and on tall ones: every warning and every gate has a line.
pub(super) const HEIGHT_TALL: u16 = 11;

/// Draws the strip.
pub(super) fn draw(app: &App, rows: &[Shown], frame: &mut Frame<'_>, area: Rect) {
    let (world, theme) = (app.shown_world(), app.theme);
    let mut block = Block::new().borders(Borders::TOP).border_style(theme.dim());
    if theme.ascii {
        let line = ratatui::symbols::border::Set { horizontal_top: "-", ..Default::default() };
        block = block.border_set(line);
    }
    let Some(shown) = rows.get(app.position(rows)) else {
        frame.render_widget(block, area);
        return;
    };
    let Some(row) = world.rows.get(&shown.key) else { return };
    // The ages of a hub that is gone stand still.
    let now = row.gone.unwrap_or(world.now);
    let cells = usize::from(area.width);
    let room = usize::from(area.height.saturating_sub(1));
    let mut lines =
        vec![Line::styled(fit(&doing(world, &shown.key, row), cells), theme.severity(shown.severity()))];
    let waits = waiting(theme, now, row);
    lines.push(Line::raw(fit(&waits, cells)));
    let gates = &row.state().gates;
    if room >= usize::from(HEIGHT_TALL - 1) {
        for warning in shown.warnings.iter().take(3) {
            let style = theme.severity(Some(warning.severity));
            let glyph = theme.glyph(Some(warning.severity));
            let text = format!("{glyph} {}: {}", warning.rule.as_str(), warning.text);
            lines.push(Line::styled(fit(&text, cells), style));
        }
        let left = room.saturating_sub(lines.len() + 1);
        lines.push(Line::styled(head_of(row), theme.accent()));
        let mut ordered: Vec<&Gate> = gates.iter().collect();
        ordered.sort_by_key(|gate| !gate.closed);
        for gate in ordered.into_iter().take(left) {
            let style = if gate.closed { theme.warn() } else { theme.ok() };
            let text = format!("  {}", of_gate(now, row, gate));
            lines.push(Line::styled(fit(&text, cells), style));
        }
    } else {
        let listed: Vec<String> = gates.iter().map(|gate| of_gate(now, row, gate)).collect();
        lines.push(Line::raw(if listed.is_empty() {
            "no gates".to_owned()
        } else {
            fit(&format!("gates: {}", listed.join(theme.dot())), cells)
        }));
        lines.push(Line::styled(fit(&of_process(world, &shown.key, row), cells), theme.dim()));
    }
    frame.render_widget(Paragraph::new(lines).block(block).wrap(Wrap { trim: false }), area);
}

fn head_of(row: &Row) -> String {
    let state = row.state();
    let gates = state.gates.len();
    format!(
        "{}; {} so far, {} accepted, {} put back in arrival order",
        if gates == 0 { "no gates".to_owned() } else { plural(gates, "gate") },
        plural(usize::try_from(state.turns).unwrap_or(usize::MAX), "turn"),
        state.posted,
        state.requeues,
    )
}

/// What the hub does right now, in one sentence.
pub(crate) fn doing(world: &World, key: &RowKey, row: &Row) -> String {
    let (state, hub) = (row.state(), &key.1);
    let waited = row.history.since(world.now);
    if let Some(gone) = row.gone {
        let ago = sentence_of_duration(world.now.saturating_sub(gone));
        return format!("{hub} has been gone for {ago}; what is shown is its last state");
    }
    let Some(turn) = &state.running else {
        return match (state.main, state.deferred) {
            (0, 0) => format!("{hub} is idle: nothing runs and nothing waits"),
            (0, held) => {
                let closed = state.gates.iter().filter(|gate| gate.closed);
                let names: Vec<&str> = closed.map(|gate| gate.name.as_str()).collect();
                let behind = match names.len() {
                    0 => "a gate".to_owned(),
                    1 => format!("gate `{}`", names[0]),
                    _ => format!("the gates {}", names.join(", ")),
                };
                format!("{hub}: nothing runs, {held} deferred wait for {behind} to open")
            }
            (main, _) => format!("{hub}: no turn at this moment, {main} in the main queue"),
        };
    };
    let who = format!("{} {}", turn.type_name, turn.delivery);
    let age = sentence_of_duration(turn.age_us + waited);
    if state.between > 0 {
        return format!("{hub}: {who} is in neither queue, taken out {age} ago, no handler yet");
    }
    let still = row.history.without_progress(world.now);
    let progress = if still >= 1_000_000 {
        format!(", no progress for {}", sentence_of_duration(still))
    } else {
        String::new()
    };
    format!("{hub}: turn {who}, running for {age}, last stage {}{progress}", turn.last_stage)
}

/// What waits, and how long.
fn waiting(theme: Theme, now: u64, row: &Row) -> String {
    let state = row.state();
    let waited = row.history.since(now);
    let part = |queue: &str, n: u64, age: Option<u64>| match age.filter(|_| n > 0) {
        Some(age) => format!("{queue} {n} (oldest {})", sentence_of_duration(age + waited)),
        None => format!("{queue} {n}"),
    };
    [
        part("main", state.main, state.main_oldest_us),
        part("deferred", state.deferred, state.deferred_oldest_us),
        part("in neither queue", state.between, state.between_us),
    ]
    .join(theme.dot())
}

fn of_gate(now: u64, row: &Row, gate: &Gate) -> String {
    if !gate.closed {
        return format!("{} open", gate.name);
    }
    let closed = gate.closed_us + row.history.since(now);
    let never = if gate.never_opened == Some(true) { ", never opened yet" } else { "" };
    format!("{} closed for {}, holding {}{never}", gate.name, sentence_of_duration(closed), gate.holding)
}

fn of_process(world: &World, key: &RowKey, row: &Row) -> String {
    let Some(target) = world.targets.get(key.0) else { return String::new() };
    let restarts = match target.restarts {
        0 => String::new(),
        n => format!(", restarted {n} times while watched"),
    };
    let state = row.state();
    format!(
        "{} boot {}{restarts}, {} turns, {} put back in arrival order",
        target.label(),
        row.boot.get(..8).unwrap_or(&row.boot),
        state.turns,
        state.requeues
    )
}
