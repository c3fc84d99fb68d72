//! Colours and glyphs: six slots of the sixteen-colour set, or none at all.

use clap::ValueEnum;
use fate_trail::live::Severity;
use ratatui::style::{Color, Modifier, Style};

/// What the user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// Colours unless NO_COLOR is set or TERM is dumb.
    Auto,
    /// Colours in any case.
    Always,
    /// No colours.
    Never,
}

/// How things look. Without colours nothing but attributes is ever set: the terminal library
/// answers a colour under NO_COLOR with a full reset, which would take bold and reverse with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Whether colours are used.
    pub color: bool,
    /// Whether only ASCII is drawn.
    pub ascii: bool,
}

impl Theme {
    /// Decides from the user's wish and the environment.
    pub(crate) fn choose(choice: ColorChoice, variable: impl Fn(&str) -> Option<String>) -> Theme {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let dumb = set("TERM").is_some_and(|term| term == "dumb");
        let color = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => set("NO_COLOR").is_none() && !dumb,
        };
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
        let utf8 = locale.is_some_and(|l| {
            let l = l.to_ascii_lowercase();
            l.contains("utf-8") || l.contains("utf8")
        });
        Theme { color, ascii: dumb || !utf8 }
    }

    fn with(self, color: Color, plain: Modifier) -> Style {
        if self.color { Style::new().fg(color) } else { Style::new().add_modifier(plain) }
    }

    /// All is well.
    pub fn ok(self) -> Style {
        self.with(Color::Green, Modifier::empty())
    }

    /// Beside the point.
    pub fn dim(self) -> Style {
        self.with(Color::DarkGray, Modifier::DIM)
    }

    /// Headings and keys.
    pub fn accent(self) -> Style {
        self.with(Color::Cyan, Modifier::BOLD)
    }

    /// Somebody should look.
    pub fn warn(self) -> Style {
        self.with(Color::Yellow, Modifier::BOLD)
    }

    /// Nothing moves any more: reverse as well, in colour or not.
    pub fn critical(self) -> Style {
        self.with(Color::Red, Modifier::BOLD).add_modifier(Modifier::REVERSED | Modifier::BOLD)
    }

    /// The style of a severity; `None` is all well.
    pub fn severity(self, severity: Option<Severity>) -> Style {
        match severity {
            Some(Severity::Critical) => self.critical(),
            Some(Severity::Warn) => self.warn(),
            None => Style::new(),
        }
    }

    /// A selected row.
    pub fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::UNDERLINED | Modifier::BOLD)
    }

    /// One character for a severity, so that nothing depends on colour.
    pub fn glyph(self, severity: Option<Severity>) -> &'static str {
        match severity {
            Some(Severity::Critical) => "X",
            Some(Severity::Warn) => "!",
            None => " ",
        }
    }

    /// The mark of the selected row.
    pub fn pointer(self) -> &'static str {
        if self.ascii { ">" } else { "▸" }
    }

    /// A bar of a history, `level` from 0 (nothing) to 8 (full); `None` is a time nobody saw.
    pub fn bar(self, level: Option<u8>) -> char {
        const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        const ASCII: [char; 9] = [' ', '_', '_', '.', '-', '-', '=', '=', '#'];
        match level {
            None => {
                if self.ascii {
                    ':'
                } else {
                    '┊'
                }
            }
            Some(level) => {
                let level = usize::from(level.min(8));
                if self.ascii { ASCII[level] } else { BLOCKS[level] }
            }
        }
    }

    /// Separates two remarks on one line.
    pub fn dot(self) -> &'static str {
        if self.ascii { " | " } else { " · " }
    }

    /// The mark of a number that rises.
    pub fn rising(self) -> &'static str {
        if self.ascii { "^" } else { "↑" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn theme(choice: ColorChoice, pairs: &[(&str, &str)]) -> Theme {
        Theme::choose(choice, |name| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
    }

    #[test]
    fn the_environment_decides_unless_the_user_does() {
        let utf8 = ("LANG", "C.UTF-8");
        assert_eq!(theme(ColorChoice::Auto, &[utf8]), Theme { color: true, ascii: false });
        assert!(!theme(ColorChoice::Auto, &[utf8, ("NO_COLOR", "1")]).color);
        assert!(theme(ColorChoice::Auto, &[utf8, ("NO_COLOR", "")]).color);
        assert!(theme(ColorChoice::Always, &[("NO_COLOR", "1")]).color);
        assert!(!theme(ColorChoice::Never, &[]).color);
        let dumb = theme(ColorChoice::Auto, &[utf8, ("TERM", "dumb")]);
        assert_eq!(dumb, Theme { color: false, ascii: true });
        assert!(theme(ColorChoice::Auto, &[("LANG", "C")]).ascii);
        assert!(!theme(ColorChoice::Auto, &[("LANG", "C"), ("LC_ALL", "de_DE.utf8")]).ascii);
    }

    #[test]
    fn without_colour_no_style_has_a_colour() {
        let theme = Theme { color: false, ascii: false };
        let severities = [None, Some(Severity::Warn), Some(Severity::Critical)];
        let styles = [theme.ok(), theme.dim(), theme.accent(), theme.warn(), theme.selected()];
        for style in styles.into_iter().chain(severities.map(|s| theme.severity(s))) {
            assert_eq!((style.fg, style.bg, style.underline_color), (None, None, None));
        }
    }
}
