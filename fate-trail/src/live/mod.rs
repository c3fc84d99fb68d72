//! The live protocol `fate-live` 1.0: frames, line codec, both session state machines, warning rules.
//!
//! One JSON object per line, each way. Nothing in here opens a socket, reads a clock or starts a
//! thread: a program feeds lines and times in and gets lines and events out, so a live hub, a
//! recording and a test all walk through the same code.
//!
//! ```text
//!   client                                hub
//!     |<------------- hello --------------|   either side speaks first: who and which version
//!     |-------------- hello ------------->|
//!     |------------ subscribe ----------->|   which hubs, how often
//!     |<---- snapshot … snapshot(last) ---|   everything as of one sequence number
//!     |<--- state, state, heartbeat … ----|   latest wins per hub; a heartbeat each second
//!     |<--------------- bye --------------|   always with a reason
//! ```

mod client;
mod codec;
mod discovery;
mod frame;
mod glob;
pub mod rules;
mod server;
mod version;

pub use client::{ClientEvent, ClientSession, Counts, Step, Wanted};
pub use codec::{CodecError, Decoded, LineBuffer, LinePiece, decode, encode};
pub use discovery::{DirectoryError, MANIFEST_SCHEMA, Manifest, check_private, directory};
pub use frame::{
    Bye, ByeReason, Frame, Gap, Gate, Heartbeat, Hello, HubState, Removed, Running, SnapshotChunk,
    StateFrame, Subscribe,
};
pub use glob::glob_matches;
pub use rules::{History, Rule, Severity, Warning, sentence_of_duration, stale};
pub use server::ServerSession;
pub use version::{Refusal, VERSION, Version, agree};

/// Name of the protocol; the first thing either side says.
pub const PROTOCOL: &str = "fate-live";

/// Largest line that is ever written or accepted, in bytes without its newline.
pub const MAX_LINE: usize = 1024 * 1024;

/// Largest snapshot chunk, in bytes; a bigger fleet travels in several chunks.
pub const MAX_CHUNK: usize = 256 * 1024;

/// Largest line a hub accepts from a client, in bytes: clients only say hello and subscribe.
pub const MAX_REQUEST: usize = 64 * 1024;

/// Longest text of a single field after scrubbing, in characters.
pub const MAX_TEXT: usize = 1024;

/// Longest name (hub, gate, type, delivery, stage) in a state, in characters.
pub const MAX_NAME: usize = 200;

/// Most gates that one hub's state lists; the rest is counted in `gates_omitted`.
pub const MAX_GATES: usize = 200;

/// Most hubs that one client keeps of one process; further ones are counted as dropped.
pub const MAX_HUBS: usize = 10_000;

/// Largest number in a state: 2^53, the last integer that every reader of JSON keeps exactly. Sums of
/// a few such numbers do not overflow.
pub const MAX_NUMBER: u64 = 1 << 53;

/// Most globs in one subscription.
pub const MAX_GLOBS: usize = 64;

/// State frames per second and hub, at most.
pub const MAX_RATE: u32 = 10;

/// Lines that make no sense before a session is given up.
pub const MAX_BAD_LINES: u64 = 16;

/// A heartbeat is sent this often, in microseconds.
pub const HEARTBEAT_MICROS: u64 = 1_000_000;

/// A process that said nothing for this long is stale, in microseconds.
pub const STALE_MICROS: u64 = 3_000_000;

#[cfg(test)]
mod tests;
