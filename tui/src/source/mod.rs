//! Where states come from: finding hub processes and staying attached to them.

mod backoff;
mod connection;
mod discover;

pub(crate) use connection::{Leash, attach_once, keep_attached};
pub use discover::Found;
pub(crate) use discover::{Where, find};

use fate_trail::live::{ClientEvent, Counts, Wanted};

/// Number of a hub process within one run of this program.
pub type TargetId = usize;

/// What a connection has to say about its process.
#[derive(Clone, Debug)]
pub enum Report {
    /// Events of a session, in order, and what the session had to ignore so far.
    Events(Vec<ClientEvent>, Counts),
    /// The connection is gone, for this reason; it will be tried again.
    Down(String),
    /// It will not be tried again, because it cannot help.
    GivenUp(String),
    /// The process has ended; it will not be tried again unless it is found again.
    Ended(String),
}

/// Name and version of this program, as hubs see it.
pub(crate) fn product() -> String {
    format!("fate-tui {}", env!("CARGO_PKG_VERSION"))
}

/// What to subscribe to at a process: everything if its own name matches, else the globs as they
/// are, for the process to match against its hubs.
pub(crate) fn wanted(found: &Found, globs: &[String]) -> Wanted {
    let by_process = globs.iter().any(|glob| fate_trail::live::glob_matches(glob, &found.name));
    let hubs = if by_process { Vec::new() } else { globs.to_vec() };
    Wanted { product: product(), hubs, rate: 0 }
}
