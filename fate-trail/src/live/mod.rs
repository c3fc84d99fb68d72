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
//!     |<----- fate, fate-gap, fate … -----|   finished trails, if both sides know and the client asked
//!     |<--------------- bye --------------|   always with a reason
//! ```

mod client;
mod codec;
mod discovery;
mod fates;
mod frame;
mod glob;
pub mod rules;
mod server;
mod version;

pub use client::{ClientEvent, ClientSession, Counts, Step, Wanted};
pub use codec::{CodecError, Decoded, LineBuffer, LinePiece, decode, encode};
pub use discovery::{DirectoryError, MANIFEST_SCHEMA, Manifest, check_private, directory};
pub use fates::FateBatch;
pub use frame::{
    Bye, ByeReason, FateFrame, FateGap, Frame, Gap, Gate, Heartbeat, Hello, HubState, Removed, Running,
    SnapshotChunk, StateFrame, Subscribe,
};
pub use glob::glob_matches;
pub use rules::{History, Rule, Severity, Warning, sentence_of_duration, stale};
pub use server::ServerSession;
pub use version::{Refusal, VERSION, Version, agree};

/// Name of the protocol; the first thing either side says.
pub const PROTOCOL: &str = "fate-live";

/// The ability to send, or to take, finished trails: a name among [`Hello::features`] of both sides.
pub const FATES: &str = "fate";

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

/// Longest trail in a fate frame, in bytes of its line; a longer one is lost.
pub const MAX_TRAIL: usize = 128 * 1024;

/// Most trails that wait for one client; the oldest then become a gap.
pub const MAX_FATES: usize = 1024;

/// Most bytes of trails that wait for one client.
pub const MAX_FATE_BYTES: usize = 1024 * 1024;

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

const _: () = {
    assert!(MAX_TRAIL < MAX_FATE_BYTES, "one trail always fits");
    // A JSON escape makes six bytes of one at most.
    assert!(MAX_TRAIL * 6 < MAX_LINE);
};
