//! The table of hubs. Which columns stand depends on the width alone.

use fate_trail::live::{Rule, sentence_of_duration};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use super::text::{cell, count};
use crate::app::{App, Shown};
use crate::theme::Theme;
use crate::world::{HISTORY_SECONDS, Row, TargetState, World};

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Hub,
    Turn,
    Age,
    Main,
    Deferred,
    Oldest,
    Gates,
    Rate,
    Requeues,
    History,
    Process,
}

/// In the order of the screen: heading, width in cells, right-aligned, and the place in the order in
/// which columns are given up (1 goes last).
const COLUMNS: [(Column, &str, u16, bool, u8); 11] = [
    (Column::Hub, "HUB", 14, false, 1),
    (Column::Turn, "TURN", 12, false, 5),
    (Column::Age, "AGE", 6, true, 2),
    (Column::Main, "MAIN", 6, true, 3),
    (Column::Deferred, "DEF", 6, true, 4),
    (Column::Oldest, "OLDEST", 6, true, 7),
    (Column::Gates, "GATES", 5, true, 6),
    (Column::Rate, "TURN/s", 7, true, 8),
    (Column::Requeues, "REQ", 5, true, 9),
    (Column::History, "60s", 12, false, 10),
    (Column::Process, "PROCESS", 14, false, 11),
];

/// Widest that hub and turn become when there is room to spare.
const WIDEST_NAME: u16 = 40;

/// Cells before the first column: pointer, severity, space.
const MARGIN: u16 = 3;

type Picked = Vec<(Column, &'static str, usize, bool)>;

/// The columns that fit, wide enough to fill the width.
fn pick(width: u16) -> Picked {
    let mut by_need = COLUMNS;
    by_need.sort_by_key(|column| column.4);
    let mut left = width.saturating_sub(MARGIN);
    let mut chosen = Vec::new();
    for column in by_need {
        let need = column.2 + u16::from(!chosen.is_empty());
        if need > left {
            // A column of less need never takes the place of one that did not fit.
            break;
        }
        left -= need;
        chosen.push(column.0);
    }
    let mut extra = left;
    let mut picked: Picked = Vec::new();
    for (column, heading, cells, right, _) in COLUMNS {
        if !chosen.contains(&column) {
            continue;
        }
        let wants = match column {
            Column::Hub | Column::Turn => WIDEST_NAME - cells,
            Column::History if extra > 30 => HISTORY_SECONDS as u16 - cells,
            _ => 0,
        };
        let share = match column {
            Column::Hub => extra.div_ceil(2),
            Column::Turn => extra.div_ceil(2),
            _ => extra,
        };
        let grown = wants.min(share);
        extra -= grown;
        picked.push((column, heading, usize::from(cells + grown), right));
    }
    picked
}

/// Draws heading and rows, scrolled so that the selected row is visible.
pub(super) fn draw(app: &App, rows: &[Shown], frame: &mut Frame<'_>, area: Rect) {
    let columns = pick(area.width);
    let theme = app.theme;
    let mut heading = vec![Span::raw(" ".repeat(usize::from(MARGIN)))];
    for (i, (_, name, cells, right)) in columns.iter().enumerate() {
        if i > 0 {
            heading.push(Span::raw(" "));
        }
        heading.push(cell(name, *cells, *right, theme.accent()));
    }
    let mut lines = vec![Line::from(heading)];
    if rows.is_empty() {
        frame.render_widget(Paragraph::new(lines), area);
        let below = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        frame.render_widget(Paragraph::new(nothing(app)).wrap(Wrap { trim: false }), below);
        return;
    }
    let at = app.position(rows);
    let first = at.saturating_sub(app.page.saturating_sub(1));
    let world = app.shown_world();
    for (i, shown) in rows.iter().enumerate().skip(first).take(app.page) {
        let Some(row) = world.rows.get(&shown.key) else { continue };
        lines.push(line(theme, world, shown, row, &columns, i == at));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn line(
    theme: Theme,
    world: &World,
    shown: &Shown,
    row: &Row,
    columns: &Picked,
    selected: bool,
) -> Line<'static> {
    let severity = shown.severity();
    let gone = row.gone.is_some();
    let glyph = if gone { "-" } else { theme.glyph(severity) };
    let glyph_style = if gone { theme.dim() } else { theme.severity(severity) };
    let pointer = if selected { theme.pointer() } else { " " };
    let mut spans = vec![Span::raw(pointer), Span::styled(glyph, glyph_style), Span::raw(" ")];
    for (i, &(column, _, cells, right)) in columns.iter().enumerate() {
        if i > 0 {
            spans.push(Span::raw(" "));
        }
        let (text, style) = content(theme, world, shown, row, column, cells);
        let style = if gone { theme.dim() } else { style };
        let style = if selected && column == Column::Hub { style.patch(theme.selected()) } else { style };
        spans.push(cell(&text, cells, right, style));
    }
    Line::from(spans)
}

/// Text and style of a cell.
fn content(
    theme: Theme,
    world: &World,
    shown: &Shown,
    row: &Row,
    column: Column,
    cells: usize,
) -> (String, Style) {
    // The ages of a hub that is gone stand still.
    let (state, now) = (row.state(), row.gone.unwrap_or(world.now));
    let plain = Style::new();
    let dash = || ("-".to_owned(), theme.dim());
    let waited = row.history.since(now);
    match column {
        Column::Hub => (shown.key.1.clone(), theme.severity(shown.severity())),
        Column::Turn => match &state.running {
            None => dash(),
            Some(turn) if state.between > 0 => {
                let long = shown.warnings.iter().any(|w| w.rule == Rule::BetweenQueues);
                (format!("?{}", turn.type_name), if long { theme.warn() } else { plain })
            }
            Some(turn) => (turn.type_name.clone(), plain),
        },
        Column::Age => match &state.running {
            None => dash(),
            Some(turn) => (sentence_of_duration(turn.age_us + waited), plain),
        },
        Column::Main => {
            let mark = if row.is_rising() && state.main >= state.deferred { theme.rising() } else { "" };
            (count(state.main) + mark, if state.main == 0 { theme.dim() } else { plain })
        }
        Column::Deferred => {
            let mark = if row.is_rising() && state.deferred > state.main { theme.rising() } else { "" };
            (count(state.deferred) + mark, if state.deferred == 0 { theme.dim() } else { plain })
        }
        Column::Oldest => match row.oldest(now) {
            Some(age) if state.main + state.deferred > 0 => (sentence_of_duration(age), plain),
            _ => dash(),
        },
        Column::Gates => {
            let closed = state.gates.iter().filter(|gate| gate.closed).count();
            let style = if closed > 0 { theme.warn() } else { plain };
            if state.gates.is_empty() {
                return dash();
            }
            (format!("{closed}/{}", state.gates.len() as u64 + state.gates_omitted), style)
        }
        Column::Rate => match row.turns_per_second() {
            Some(rate) if row.gone.is_none() => (format!("{rate:.1}"), plain),
            _ => dash(),
        },
        Column::Requeues => (count(state.requeues), if state.requeues == 0 { theme.dim() } else { plain }),
        Column::History => (bars(theme, row, cells), theme.ok()),
        Column::Process => {
            let Some(target) = world.targets.get(shown.key.0) else { return dash() };
            (target.label(), theme.dim())
        }
    }
}

/// Waiting deliveries over time, newest on the right, the highest value as a full bar. Several
/// seconds share a bar where there are fewer cells than seconds: the highest of them counts.
fn bars(theme: Theme, row: &Row, cells: usize) -> String {
    let per_bar = HISTORY_SECONDS.div_ceil(cells.max(1));
    let newest: Vec<Option<u64>> = row.waiting.iter().rev().copied().collect();
    let top = newest.iter().flatten().copied().max().unwrap_or(0).max(1);
    let level = |seen: &[Option<u64>]| {
        let highest = seen.iter().flatten().copied().max()?;
        // Rounded up, so that one waiting delivery shows.
        u8::try_from(highest.saturating_mul(8).div_ceil(top)).ok()
    };
    let mut text: Vec<char> = newest.chunks(per_bar).take(cells).map(|seen| theme.bar(level(seen))).collect();
    text.reverse();
    format!("{:>cells$}", text.into_iter().collect::<String>())
}

/// What to say instead of rows.
fn nothing(app: &App) -> Vec<Line<'static>> {
    let world = app.shown_world();
    if !app.filter.is_empty() && !world.rows.is_empty() {
        return vec![Line::raw(format!("   no hub matches `{}`; Esc drops the filter", app.filter))];
    }
    if world.targets.is_empty() {
        return vec![
            Line::raw(format!("   no hub process found: {}", app.place)),
            Line::raw("   start one that serves the live protocol, for example: cargo hub run"),
            Line::raw("   it appears here by itself"),
        ];
    }
    world
        .targets
        .iter()
        .map(|target| {
            Line::raw(match &target.state {
                TargetState::Connecting => format!("   {}: attaching", target.label()),
                TargetState::Live => format!("   {}: has no such hub", target.label()),
                TargetState::Down(why) => format!("   {}: {why}; trying again", target.label()),
                TargetState::GivenUp(why) => format!("   {}: {why}", target.label()),
                TargetState::Ended => format!("   {}: has ended", target.label()),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(width: u16) -> Vec<&'static str> {
        pick(width).iter().map(|column| column.1).collect()
    }

    #[test]
    fn columns_go_by_priority() {
        assert_eq!(names(40), ["HUB", "AGE", "MAIN", "DEF"]);
        assert_eq!(names(60), ["HUB", "TURN", "AGE", "MAIN", "DEF", "GATES"]);
        assert_eq!(names(80), ["HUB", "TURN", "AGE", "MAIN", "DEF", "OLDEST", "GATES", "TURN/s", "REQ"]);
        assert_eq!(names(120).len(), COLUMNS.len());
        for width in 0..300 {
            let used: usize = pick(width).iter().map(|c| c.2 + 1).sum();
            assert!(used <= usize::from(width.max(3)), "{width}: {used}");
        }
    }
}
