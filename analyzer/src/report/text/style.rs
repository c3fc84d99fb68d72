//! Colour, where it is wanted.

/// How the text is printed; the caller knows the terminal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Style {
    /// Columns of the terminal.
    pub width: usize,
    /// True for ANSI colours.
    pub colour: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self { width: 100, colour: false }
    }
}

/// What a piece of text is, from which its colour follows.
#[derive(Clone, Copy)]
pub(super) enum Tone {
    Heading,
    Quiet,
    Good,
    Doubt,
    Bad,
}

impl Style {
    /// The text in the tone's colour.
    pub(super) fn paint(self, tone: Tone, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Heading => "1",
            Tone::Quiet => "2",
            Tone::Good => "32",
            Tone::Doubt => "33",
            Tone::Bad => "31",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// A verdict word in its colour.
    pub(super) fn verdict(self, word: &str) -> String {
        let tone = match word {
            "stable" => Tone::Good,
            "window" | "unordered" | "mixed" | "single-reorder-strong" => Tone::Bad,
            _ => Tone::Doubt,
        };
        self.paint(tone, word)
    }
}
