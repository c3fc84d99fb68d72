//! What a command may touch of the outside: injected, so that tests run commands in their own process.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal, Read, Write};

use super::args::Color;

/// Streams and environment of one command.
pub struct Io<'a> {
    /// Standard output.
    pub out: Box<dyn Write + 'a>,
    /// Standard error.
    pub err: Box<dyn Write + 'a>,
    /// Standard input.
    pub input: Box<dyn Read + Send + 'a>,
    /// True where `out` is a terminal.
    pub out_is_terminal: bool,
    /// True where `err` is a terminal and progress may be drawn on the process's own standard error.
    pub err_is_terminal: bool,
    /// Environment variables.
    pub env: BTreeMap<String, String>,
    /// Whether `out` takes colours; set from the arguments.
    pub color: bool,
    /// No progress and no complaints; set from the arguments.
    pub quiet: bool,
}

impl<'a> Io<'a> {
    /// Streams that are no terminals, no input, an empty environment.
    pub fn new(out: impl Write + 'a, err: impl Write + 'a) -> Io<'a> {
        Io {
            out: Box::new(out),
            err: Box::new(err),
            input: Box::new(io::empty()),
            out_is_terminal: false,
            err_is_terminal: false,
            env: BTreeMap::new(),
            color: false,
            quiet: false,
        }
    }

    /// The streams and the environment of this process.
    pub fn system() -> Io<'static> {
        let (out, err) = (io::stdout(), io::stderr());
        Io {
            out_is_terminal: out.is_terminal(),
            err_is_terminal: err.is_terminal(),
            out: Box::new(BufWriter::new(out)),
            err: Box::new(err),
            input: Box::new(io::stdin()),
            env: std::env::vars_os()
                .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
            color: false,
            quiet: false,
        }
    }

    /// One environment variable.
    pub fn var(&self, name: &str) -> Option<String> {
        self.env.get(name).cloned()
    }

    /// Decides about colours; see <https://no-color.org>: set and not empty means none.
    pub(super) fn set_color(&mut self, color: Color) {
        let wanted = self.env.get("NO_COLOR").is_none_or(String::is_empty)
            && self.env.get("TERM").is_none_or(|term| term != "dumb");
        self.color = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => self.out_is_terminal && wanted,
        };
    }
}

impl std::fmt::Debug for Io<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Io")
            .field("out_is_terminal", &self.out_is_terminal)
            .field("err_is_terminal", &self.err_is_terminal)
            .field("color", &self.color)
            .field("quiet", &self.quiet)
            .finish_non_exhaustive()
    }
}
