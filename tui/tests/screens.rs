//! The main screen at five sizes: what stands on it, and that it needs no colour.

mod support;

use crossterm::event::{KeyCode, KeyEvent};
use fate_tui::{App, Message, Theme, update, view};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use support::{S, WALL, attached};

const SIZES: [(u16, u16); 5] = [(1, 1), (40, 10), (80, 24), (120, 30), (200, 50)];
const COLOUR: Theme = Theme { color: true, ascii: false };
const PLAIN: Theme = Theme { color: false, ascii: false };
const ASCII: Theme = Theme { color: false, ascii: true };

fn buffer(app: &mut App, (width, height): (u16, u16)) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| view::draw(app, frame)).unwrap();
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let mut out = String::new();
    for row in buffer.content.chunks(width) {
        let mut skip = 0;
        let mut line = String::new();
        for cell in row {
            // The second half of a wide character has no text of its own.
            if skip > 0 {
                skip -= 1;
                continue;
            }
            skip = ratatui::text::Span::raw(cell.symbol()).width().saturating_sub(1);
            line.push_str(cell.symbol());
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn press(app: &mut App, code: KeyCode) {
    update(app, Message::Key(KeyEvent::from(code)));
}

#[test]
fn the_fleet_at_every_size_is_the_same_with_and_without_colour() {
    for size in SIZES {
        let plain = text(&buffer(&mut attached(PLAIN), size));
        let colour = text(&buffer(&mut attached(COLOUR), size));
        assert_eq!(plain, colour, "{size:?}");
        insta::assert_snapshot!(format!("fleet_{}x{}", size.0, size.1), plain);
    }
}

#[test]
fn the_fleet_in_ascii() {
    for size in SIZES {
        let mut app = attached(ASCII);
        app.filter = "7".into();
        let text = text(&buffer(&mut app, size));
        assert!(text.is_ascii(), "{text}");
    }
    let mut app = attached(ASCII);
    app.filter = "7".into();
    press(&mut app, KeyCode::Char('?'));
    let text = text(&buffer(&mut app, (100, 30)));
    assert!(text.is_ascii(), "{text}");
}

#[test]
fn without_colour_no_cell_has_one_and_severity_still_shows() {
    for size in SIZES {
        let buffer = buffer(&mut attached(PLAIN), size);
        for cell in &buffer.content {
            assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset));
        }
    }
    for theme in [PLAIN, COLOUR] {
        let buffer = buffer(&mut attached(theme), (80, 24));
        let glyph = &buffer[(1, 3)];
        assert_eq!(glyph.symbol(), "X");
        assert!(glyph.modifier.contains(Modifier::REVERSED | Modifier::BOLD));
        assert_eq!(glyph.fg, if theme.color { Color::Red } else { Color::Reset });
    }
}

#[test]
fn help_shows_every_key() {
    let mut app = attached(PLAIN);
    press(&mut app, KeyCode::Char('?'));
    let text = text(&buffer(&mut app, (100, 30)));
    for binding in fate_tui::BINDINGS {
        assert!(text.contains(binding.shown) && text.contains(binding.help), "{binding:?}\n{text}");
    }
    for size in SIZES {
        buffer(&mut app, size);
    }
}

#[test]
fn an_empty_screen_says_where_it_looks_and_what_to_do() {
    let mut app = App::new(0, WALL, PLAIN, "/run/user/1000/fate-trail".into());
    insta::assert_snapshot!("empty_80x24", text(&buffer(&mut app, (80, 24))));
}

#[test]
fn every_size_from_nothing_up_is_drawn() {
    let mut app = attached(PLAIN);
    for code in ['j', '?', '?', ' ', '/', 'x'] {
        press(&mut app, KeyCode::Char(code));
        for width in 0..60 {
            for height in 0..20 {
                buffer(&mut app, (width, height));
            }
        }
    }
}

#[test]
fn the_selected_row_stays_on_the_screen() {
    let mut app = attached(PLAIN);
    for _ in 0..20 {
        press(&mut app, KeyCode::Down);
        let text = text(&buffer(&mut app, (40, 10)));
        assert!(text.contains('▸'), "{text}");
    }
    update(&mut app, Message::Tick(101 * S, WALL));
    press(&mut app, KeyCode::Home);
    let text = text(&buffer(&mut app, (40, 10)));
    assert!(text.contains("▸X orders/7"), "{text}");
}
