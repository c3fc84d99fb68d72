//! Versions of the protocol: which ones talk to each other, and what to say when they do not.

use std::fmt;
use std::str::FromStr;

use super::PROTOCOL;

/// The version this build speaks.
pub const VERSION: Version = Version { major: 1, minor: 0 };

/// `major.minor`. Equal majors understand each other and use the lower minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Raised when an old peer would misread a frame.
    pub major: u32,
    /// Raised when frames or fields are added.
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for Version {
    type Err = ();

    /// Reads `major.minor`; anything else is refused without a reason, the caller knows the text.
    fn from_str(text: &str) -> Result<Self, ()> {
        let (major, minor) = text.split_once('.').ok_or(())?;
        let number = |part: &str| {
            let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            if digits { part.parse().map_err(|_| ()) } else { Err(()) }
        };
        Ok(Version { major: number(major)?, minor: number(minor)? })
    }
}

/// Why two sides cannot talk. Its text names both versions and the side to upgrade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The peer speaks another protocol altogether.
    OtherProtocol {
        /// The name the peer gave.
        peer: String,
    },
    /// The peer's version is no `major.minor`.
    NoVersion {
        /// The text the peer gave.
        peer: String,
    },
    /// The majors differ.
    OtherMajor {
        /// Version of this side.
        own: Version,
        /// Version of the peer.
        peer: Version,
        /// What this side is called in the message, for example `fate-tui`.
        own_name: String,
        /// What the peer is called in the message, for example `fate-hub 0.1.0`.
        peer_name: String,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::OtherProtocol { peer } => {
                write!(f, "the peer speaks `{peer}`, not `{PROTOCOL}`: is this the right socket?")
            }
            Refusal::NoVersion { peer } => {
                write!(f, "the peer's {PROTOCOL} version `{peer}` is not `major.minor`")
            }
            Refusal::OtherMajor { own, peer, own_name, peer_name } => {
                let older = if own < peer { own_name } else { peer_name };
                write!(
                    f,
                    "{own_name} speaks {PROTOCOL} {own}, {peer_name} speaks {PROTOCOL} {peer}: \
                     different majors do not understand each other; upgrade {older}"
                )
            }
        }
    }
}

impl std::error::Error for Refusal {}

/// Decides whether `own` can talk to a peer that announced `protocol` and `version`.
///
/// Returns the lower of both versions.
///
/// # Errors
/// Another protocol, an unreadable version or another major.
pub fn agree(
    own: Version,
    own_name: &str,
    protocol: &str,
    version: &str,
    peer_name: &str,
) -> Result<Version, Refusal> {
    if protocol != PROTOCOL {
        return Err(Refusal::OtherProtocol { peer: protocol.to_owned() });
    }
    let peer: Version = version.parse().map_err(|()| Refusal::NoVersion { peer: version.to_owned() })?;
    if peer.major != own.major {
        return Err(Refusal::OtherMajor {
            own,
            peer,
            own_name: own_name.to_owned(),
            peer_name: peer_name.to_owned(),
        });
    }
    Ok(own.min(peer))
}
