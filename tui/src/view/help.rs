//! The keys, made from the one table.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph, Wrap};

use super::text::cell;
use crate::keys::BINDINGS;
use crate::theme::Theme;

/// Cells for the keys of a row.
const KEYS: usize = 10;

/// Draws over the middle of the screen.
pub(super) fn draw(theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let mut lines: Vec<Line<'_>> = BINDINGS
        .iter()
        .map(|binding| {
            Line::from(vec![cell(binding.shown, KEYS, false, theme.accent()), Span::raw(binding.help)])
        })
        .collect();
    lines.push(Line::default());
    lines.extend([
        Line::styled("MAIN, DEF  deliveries in the main and in the deferred queue", theme.dim()),
        Line::styled("TURN       type of the running turn; ? in neither queue, no handler yet", theme.dim()),
        Line::styled("GATES      closed of all", theme.dim()),
        Line::styled("60s        waiting deliveries over a minute; gaps were not seen", theme.dim()),
    ]);
    let width = area.width.min(86);
    let height = area.height.min(u16::try_from(lines.len() + 2).unwrap_or(u16::MAX));
    let place =
        Rect::new(area.x + (area.width - width) / 2, area.y + (area.height - height) / 2, width, height);
    let mut block = Block::bordered().title(" keys (? or Esc closes) ");
    if theme.ascii {
        block = block.border_set(ASCII);
    } else {
        block = block.border_type(BorderType::Rounded);
    }
    frame.render_widget(Clear, place);
    let text = Paragraph::new(lines).block(block).wrap(Wrap { trim: false });
    frame.render_widget(text, place);
}

/// A frame without line-drawing characters.
const ASCII: ratatui::symbols::border::Set<'_> = ratatui::symbols::border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};
