//! Exit codes: a contract that scripts rely on.

/// Nothing tripped.
pub const OK: u8 = 0;
/// A gate tripped (only commands that gate).
pub const GATE: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// Nothing was counted, or more files than the floor allows are unrecognised or damaged.
pub const DEGRADED: u8 = 3;
/// A verdict was asked for and there is not enough data (only commands that gate).
pub const INCONCLUSIVE: u8 = 4;
