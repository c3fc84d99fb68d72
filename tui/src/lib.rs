//! Attach to live message hubs: queue depths, gates, the running turn and the delivery that is in
//! neither queue.
//!
//! [`run`] is the whole program. Inside, a [`World`] collects what hub processes report, [`App`]
//! adds what the user does to it, and [`view::draw`] turns both into a screen. All three are plain
//! functions of their input; sockets, threads, signals and the terminal stand around them.

mod app;
mod cli;
mod exit;
mod headless;
mod hubs;
mod keys;
mod snapshot;
mod source;
mod terminal;
mod theme;
mod top;
pub mod view;
mod world;

use std::ffi::OsString;
use std::io::{IsTerminal, Write};

pub use app::{App, Effect, Message, Mode, update};
pub use exit::Exit;
pub use keys::{Action, BINDINGS, Binding};
pub use source::{Found, Report, TargetId};
pub use terminal::{ENTER, LEAVE};
pub use theme::Theme;
pub use world::{Row, RowKey, Target, TargetState, World};

/// Where a run of the program reads and writes, so that a test or another program can stand in.
pub struct Io {
    /// Results.
    pub out: Box<dyn Write>,
    /// Everything else.
    pub err: Box<dyn Write>,
    /// True if both stdin and stdout are terminals; without that nothing is ever drawn.
    pub interactive: bool,
}

impl Io {
    /// The streams of this process.
    pub fn standard() -> Self {
        Io {
            out: Box::new(std::io::stdout()),
            err: Box::new(std::io::stderr()),
            interactive: std::io::stdout().is_terminal() && std::io::stdin().is_terminal(),
        }
    }
}

impl std::fmt::Debug for Io {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Io").field("interactive", &self.interactive).finish_non_exhaustive()
    }
}

/// Runs the program with `args` (the first is the program's own name) and returns its exit code:
/// 0 ok, 2 usage, 3 cannot attach, 4 protocol mismatch, 5 a rule of `--fail-on` holds.
pub fn run(args: impl IntoIterator<Item = OsString>, io: &mut Io) -> u8 {
    cli::run(args, io).code()
}
