//! Drawing: a pure function of the program's state and the size of the screen.

mod fleet;
mod header;
mod help;
mod strip;
mod text;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::{Paragraph, Wrap};

use crate::app::{App, Mode, Shown};

/// Below this there is only one line: what is needed, and the worst warning.
const SMALLEST: (u16, u16) = (40, 10);

/// Below this height the strip is one sentence.
const LOW: u16 = 16;

/// From this height on there is room for a list of gates.
const TALL: u16 = 28;

/// Draws everything and notes how many rows fit.
pub fn draw(app: &mut App, frame: &mut Frame<'_>) {
    let area = frame.area();
    let rows = app.shown();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        tiny(app, &rows, frame, area);
        return;
    }
    let strip_height = match area.height {
        0..LOW => strip::HEIGHT_LOW,
        LOW..TALL => strip::HEIGHT,
        _ => strip::HEIGHT_TALL,
    };
    let line = |y, height| Rect::new(area.x, y, area.width, height);
    let strip_at = area.bottom() - 1 - strip_height;
    let table = line(area.y + 2, strip_at - area.y - 2);
    app.page = usize::from(table.height.saturating_sub(1)).max(1);

    header::draw(app, &rows, frame, line(area.y, 1));
    header::draw_worst(app, &rows, frame, line(area.y + 1, 1));
    fleet::draw(app, &rows, frame, table);
    strip::draw(app, &rows, frame, line(strip_at, strip_height));
    header::draw_footer(app, &rows, frame, line(area.bottom() - 1, 1));
    if app.mode == Mode::Help {
        help::draw(app.theme, frame, area);
    }
}

fn tiny(app: &App, rows: &[Shown], frame: &mut Frame<'_>, area: Rect) {
    let worst = header::worst_text(app, rows).map(|(_, text)| text).unwrap_or_default();
    let text = format!("{}x{} needed {worst}", SMALLEST.0, SMALLEST.1);
    frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
}
