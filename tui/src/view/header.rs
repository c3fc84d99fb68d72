//! The first two lines and the last: how fresh and complete the picture is, the worst thing in
//! words, and the keys.

use fate_trail::live::{Severity, sentence_of_duration};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::text::{count, fit, plural, width};
use crate::app::{App, Mode, Shown};
use crate::keys::BINDINGS;
use crate::world::{TargetState, World};

/// Below this width the first line says the same in fewer words.
const NARROW: u16 = 70;

/// From this delay on the lag is marked, µs.
const LATE_MICROS: u64 = 2_000_000;

fn clock(wall: i64) -> String {
    // RFC 3339: the time stands between the `T` and the fraction.
    let text = fate_trail::time::format(wall);
    format!("{}Z", text.get(11..19).unwrap_or("--:--:--"))
}

/// The word for the state of the whole picture, and how bad it is.
fn headline(app: &App) -> (String, Option<Severity>) {
    let world = app.shown_world();
    if let Some(frozen) = &app.frozen {
        let behind = app.world.now.saturating_sub(frozen.now);
        return (format!("PAUSED {} behind", sentence_of_duration(behind)), Some(Severity::Warn));
    }
    if world.targets.is_empty() {
        return ("NOTHING FOUND".to_owned(), Some(Severity::Warn));
    }
    if !world.targets.iter().any(crate::Target::is_live) {
        let connecting = world.targets.iter().any(|t| t.state == TargetState::Connecting);
        let word = if connecting { "ATTACHING" } else { "LOST" };
        return (word.to_owned(), Some(Severity::Critical).filter(|_| !connecting));
    }
    ("LIVE".to_owned(), None)
}

/// First line.
pub(super) fn draw(app: &App, rows: &[Shown], frame: &mut Frame<'_>, area: Rect) {
    let (world, theme) = (app.shown_world(), app.theme);
    let (word, severity) = headline(app);
    let style = if severity.is_none() { theme.ok() } else { theme.severity(severity) };
    let live = world.targets.iter().filter(|t| t.is_live()).count();
    let hubs = world.rows.values().filter(|row| row.gone.is_none()).count();
    let counted = |severity| rows.iter().flat_map(|r| &r.warnings).filter(|w| w.severity == severity).count();
    let (critical, warn) = (counted(Severity::Critical), counted(Severity::Warn));
    let (lag, lost) = (world.lag(), world.lost());
    let mark = |bad: bool| if bad { theme.warn() } else { Style::new() };
    let narrow = area.width < NARROW;
    let fleet = match narrow {
        true => plural(hubs, "hub"),
        false => format!("{} in {}", plural(hubs, "hub"), plural(live, "process")),
    };
    let mut spans = vec![
        Span::styled(format!(" {word} "), style),
        Span::raw(format!(" {fleet}")),
        Span::styled(format!("  lag {}", sentence_of_duration(lag)), mark(lag > LATE_MICROS)),
        Span::styled(format!("  lost {}", count(lost)), mark(lost > 0)),
        Span::raw(" "),
    ];
    let text = |glyph, n, words: String| match narrow {
        true => format!(" {glyph}{n} "),
        false => format!(" {glyph} {words} "),
    };
    if critical > 0 {
        let words = format!("{critical} critical");
        spans.push(Span::styled(text("X", critical, words), theme.critical()));
    }
    if warn > 0 {
        spans.push(Span::styled(text("!", warn, plural(warn, "warning")), theme.warn()));
    }
    let newer: u64 = world.targets.iter().map(|t| t.counts.unknown_kinds).sum();
    if newer > 0 {
        spans.push(Span::styled(format!(" hub speaks newer: {newer} frames ignored "), theme.dim()));
    }
    let line = Line::from(spans);
    let time = clock(world.wall);
    let used = line.width();
    frame.render_widget(Paragraph::new(line), area);
    let at = usize::from(area.width).saturating_sub(time.len() + 1);
    if used + 1 < at {
        let x = area.x + u16::try_from(at).unwrap_or(0);
        let place = Rect::new(x, area.y, area.width - (x - area.x), 1);
        frame.render_widget(Paragraph::new(time), place);
    }
}

/// The worst warning in words, else what is wrong with a process, else nothing.
pub(super) fn worst_text(app: &App, rows: &[Shown]) -> Option<(Option<Severity>, String)> {
    let world = app.shown_world();
    let worst = rows
        .iter()
        .flat_map(|row| &row.warnings)
        .max_by_key(|w| (w.severity, std::cmp::Reverse(w.rule), w.for_micros));
    let critical = worst.filter(|w| w.severity == Severity::Critical);
    if let (None, Some(trouble)) = (critical, trouble(world)) {
        return Some((Some(Severity::Warn), trouble));
    }
    let worst = worst?;
    let text = format!("{}: {} ({})", worst.hub, worst.text, worst.rule.as_str());
    Some((Some(worst.severity), text))
}

fn trouble(world: &World) -> Option<String> {
    let shown = |id| world.rows.keys().any(|(of, _)| *of == id);
    let lost = world.targets.iter().find_map(|target| match &target.state {
        TargetState::GivenUp(why) => Some(format!("{} cannot be attached: {why}", target.label())),
        _ => None,
    });
    lost.or_else(|| {
        world.targets.iter().enumerate().find_map(|(id, target)| match &target.state {
            // As long as its last state is still on the screen.
            TargetState::Down(why) if shown(id) => {
                Some(format!("{} is lost: {why}; trying again", target.label()))
            }
            TargetState::Ended if shown(id) => Some(format!("{} has ended", target.label())),
            _ => None,
        })
    })
}

/// Second line.
pub(super) fn draw_worst(app: &App, rows: &[Shown], frame: &mut Frame<'_>, area: Rect) {
    let theme = app.theme;
    let cells = usize::from(area.width).saturating_sub(3);
    let line = match worst_text(app, rows) {
        Some((severity, text)) => Line::styled(
            format!(" {} {}", theme.glyph(severity), fit(&text, cells)),
            theme.severity(severity),
        ),
        None if app.shown_world().rows.is_empty() => Line::default(),
        None => Line::styled("   no warnings", theme.dim()),
    };
    frame.render_widget(Paragraph::new(line), area);
}

/// Last line.
pub(super) fn draw_footer(app: &App, rows: &[Shown], frame: &mut Frame<'_>, area: Rect) {
    let theme = app.theme;
    let mut spans = Vec::new();
    if app.mode == Mode::Filter {
        spans.push(Span::styled(" filter: ", theme.accent()));
        spans.push(Span::raw(app.filter.clone()));
        spans.push(Span::styled(" ", Style::new().add_modifier(ratatui::style::Modifier::REVERSED)));
        spans.push(Span::styled("  Enter keeps it, Esc drops it", theme.dim()));
    } else {
        if !app.filter.is_empty() {
            let text = format!(" filter {}: {} shown ", fit(&app.filter, 20), rows.len());
            spans.push(Span::styled(text, theme.warn()));
        }
        for binding in BINDINGS.iter().filter(|binding| !binding.word.is_empty()) {
            let key = binding.shown.split(' ').next().unwrap_or_default();
            spans.push(Span::styled(format!(" {key} "), theme.accent()));
            spans.push(Span::raw(format!("{} ", binding.word)));
        }
        let sorted = format!("{} ", app.sort.as_str());
        let used: usize = spans.iter().map(Span::width).sum();
        if used + width(&sorted) < usize::from(area.width) {
            let gap = usize::from(area.width) - used - width(&sorted);
            spans.push(Span::styled(" ".repeat(gap) + &sorted, theme.dim()));
        }
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}
