//! How hub processes are found: one private directory, one socket and one manifest per process.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Value of [`Manifest::schema`].
pub const MANIFEST_SCHEMA: &str = "fate-manifest/1";

/// What a hub process writes beside its socket, as `<pid>-<name>.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Always [`MANIFEST_SCHEMA`].
    pub schema: String,
    /// Name of the process, for example `demo`.
    pub name: String,
    /// Process id.
    pub pid: u32,
    /// Boot id of the process.
    pub boot: String,
    /// Path of the unix socket.
    pub socket: PathBuf,
    /// Start of the process, RFC 3339 UTC.
    pub started: String,
    /// Program and its version.
    pub product: String,
    /// Protocol name.
    pub protocol: String,
    /// Protocol version, `major.minor`.
    pub version: String,
}

/// Where sockets and manifests live: `$FATE_LIVE_DIR`, else `$XDG_RUNTIME_DIR/fate-trail`, else
/// `/tmp/fate-trail-<uid>`. Variables that are empty count as absent.
pub fn directory(variable: impl Fn(&str) -> Option<OsString>, uid: u32) -> PathBuf {
    let set = |name: &str| variable(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    set("FATE_LIVE_DIR")
        .or_else(|| set("XDG_RUNTIME_DIR").map(|dir| dir.join("fate-trail")))
        .unwrap_or_else(|| PathBuf::from(format!("/tmp/fate-trail-{uid}")))
}

/// Why a directory is not trusted.
#[derive(Debug)]
pub enum DirectoryError {
    /// It could not be looked at, most often because it does not exist.
    Unreadable(PathBuf, std::io::Error),
    /// It is a symlink, a file or something else.
    NotADirectory(PathBuf),
    /// Somebody else owns it.
    OtherOwner {
        /// The directory.
        path: PathBuf,
        /// Who owns it.
        owner: u32,
        /// Who should.
        expected: u32,
    },
    /// Others may enter it.
    TooOpen {
        /// The directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
}

impl fmt::Display for DirectoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DirectoryError::Unreadable(path, error) => {
                write!(f, "{}: {error}", path.display())
            }
            DirectoryError::NotADirectory(path) => {
                write!(f, "{}: not a directory of its own (a symlink or a file); remove it", path.display())
            }
            DirectoryError::OtherOwner { path, owner, expected } => write!(
                f,
                "{}: owned by user {owner}, expected {expected}; set FATE_LIVE_DIR to a \
                 directory of your own",
                path.display()
            ),
            DirectoryError::TooOpen { path, mode } => write!(
                f,
                "{}: permissions {mode:03o} let others in, 700 is required; run chmod 700 on it",
                path.display()
            ),
        }
    }
}

impl std::error::Error for DirectoryError {}

/// Checks that `path` is a real directory, owned by `uid` and closed to everybody else. The
/// directory is the gate that keeps others out: some systems ignore the mode of a socket.
///
/// # Errors
/// Says which of these does not hold.
#[cfg(unix)]
pub fn check_private(path: &Path, uid: u32) -> Result<(), DirectoryError> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::symlink_metadata(path).map_err(|e| DirectoryError::Unreadable(path.to_owned(), e))?;
    if !meta.file_type().is_dir() {
        return Err(DirectoryError::NotADirectory(path.to_owned()));
    }
    if meta.uid() != uid {
        let (path, owner) = (path.to_owned(), meta.uid());
        return Err(DirectoryError::OtherOwner { path, owner, expected: uid });
    }
    let mode = meta.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(DirectoryError::TooOpen { path: path.to_owned(), mode });
    }
    Ok(())
}

/// Without unix permissions there is nothing to check, and no socket to serve either.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub fn check_private(_path: &Path, _uid: u32) -> Result<(), DirectoryError> {
    Ok(())
}
