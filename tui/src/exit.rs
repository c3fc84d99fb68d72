//! Exit codes of the program.

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Ok,
    /// The command line makes no sense.
    Usage,
    /// No hub process could be attached.
    CannotAttach,
    /// A hub process speaks another major version of the protocol.
    Protocol,
    /// A rule named by `--fail-on` holds.
    RuleHit,
    /// A thread of the program panicked; the terminal was restored and the message printed.
    Crash,
}

impl Exit {
    /// The number a shell sees.
    pub fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Usage => 2,
            Exit::CannotAttach => 3,
            Exit::Protocol => 4,
            Exit::RuleHit => 5,
            Exit::Crash => 101,
        }
    }
}
