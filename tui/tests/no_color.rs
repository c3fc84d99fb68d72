//! Under NO_COLOR the terminal library answers every colour with a full reset. A screen drawn by
//! our own theme must keep bold and reverse all the same; an emulator looks at the real bytes.
//! Alone in its binary, because the switch is global to the process.

mod support;

use fate_tui::{Theme, view};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

#[test]
fn bold_and_reverse_survive_no_color() {
    crossterm::style::force_color_output(false);
    let mut app = support::attached(Theme { color: false, ascii: false });
    let mut bytes = Vec::new();
    {
        let viewport = Viewport::Fixed(Rect::new(0, 0, 80, 24));
        let mut terminal =
            Terminal::with_options(CrosstermBackend::new(&mut bytes), TerminalOptions { viewport }).unwrap();
        terminal.draw(|frame| view::draw(&mut app, frame)).unwrap();
    }
    let mut emulator = support::emulator();
    emulator.process(&bytes);
    let glyph = emulator.screen().cell(3, 1).unwrap();
    assert_eq!(glyph.contents(), "X");
    assert!(glyph.inverse() && glyph.bold());
    for row in 0..24 {
        for column in 0..80 {
            let cell = emulator.screen().cell(row, column).unwrap();
            assert_eq!((cell.fgcolor(), cell.bgcolor()), (vt100::Color::Default, vt100::Color::Default));
        }
    }
}
