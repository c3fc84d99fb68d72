//! Socket and manifest of a process: a private folder, no stranger's socket, nothing left behind.

use std::fmt;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use fate_trail::live::{DirectoryError, Hello, MANIFEST_SCHEMA, Manifest, check_private, directory};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketType};

use super::LiveConfig;

/// Most files of the folder that are looked at when a process starts.
const MAX_SWEEP: usize = 1024;

/// Longest part of a file name that comes from the name of the process.
const MAX_FILE_NAME: usize = 48;

/// Why a process cannot serve where it wants to.
#[derive(Debug)]
pub enum PlaceError {
    /// The folder is not private.
    Directory(DirectoryError),
    /// Another process answers at the socket.
    InUse(PathBuf),
    /// Something that is no socket of ours stands where the socket should be.
    Occupied(PathBuf),
    /// The operating system refuses.
    System(PathBuf, io::Error),
}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlaceError::Directory(error) => error.fmt(f),
            PlaceError::InUse(path) => write!(
                f,
                "{}: another process serves this socket; stop it or choose another path",
                path.display()
            ),
            PlaceError::Occupied(path) => write!(
                f,
                "{}: not a socket of this user, so it is left alone; choose another path",
                path.display()
            ),
            PlaceError::System(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for PlaceError {}

/// The files of one server.
#[derive(Debug)]
pub(super) struct Place {
    socket: PathBuf,
    manifest: Option<PathBuf>,
    /// Inode of the socket, so that only our own is ever removed.
    inode: u64,
}

impl Place {
    /// Binds the socket and writes the manifest beside it.
    pub(super) fn take(config: &LiveConfig, hello: &Hello) -> Result<(Place, UnixListener), PlaceError> {
        let uid = rustix::process::geteuid().as_raw();
        let (socket, manifest) = match &config.socket {
            Some(socket) => (socket.clone(), None),
            None => {
                let folder =
                    config.directory.clone().unwrap_or_else(|| directory(|name| std::env::var_os(name), uid));
                private(&folder, uid)?;
                sweep(&folder, uid);
                let stem = format!("{}-{}", hello.pid, file_name(&config.name));
                (folder.join(format!("{stem}.sock")), Some(folder.join(format!("{stem}.json"))))
            }
        };
        let system = |error| PlaceError::System(socket.clone(), error);
        clear(&socket, uid)?;
        let listener = UnixListener::bind(&socket).map_err(system)?;
        // The folder is the gate; the mode of the socket is a second one.
        fs::set_permissions(&socket, Permissions::from_mode(0o600)).map_err(system)?;
        listener.set_nonblocking(true).map_err(system)?;
        let inode = fs::symlink_metadata(&socket).map_err(system)?.ino();
        let place = Place { socket: socket.clone(), manifest, inode };
        if let Some(path) = &place.manifest
            && let Err(error) = write_manifest(path, &socket, hello)
        {
            let path = path.clone();
            place.leave();
            return Err(PlaceError::System(path, error));
        }
        Ok((place, listener))
    }

    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Removes what [`Place::take`] made. What is not there any more, or is not ours, is left.
    pub(super) fn leave(&self) {
        if let Some(manifest) = &self.manifest {
            let _ = fs::remove_file(manifest);
        }
        if fs::symlink_metadata(&self.socket).is_ok_and(|meta| meta.ino() == self.inode) {
            let _ = fs::remove_file(&self.socket);
        }
    }
}

fn private(folder: &Path, uid: u32) -> Result<(), PlaceError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| PlaceError::System(folder.to_owned(), error))?;
    check_private(folder, uid).map_err(PlaceError::Directory)
}

/// Removes what processes left behind that were killed. A manifest is written only once its socket
/// answers, so one whose socket refuses belongs to the dead. What cannot be removed is left.
fn sweep(folder: &Path, uid: u32) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for manifest in entries.take(MAX_SWEEP).filter_map(|entry| entry.ok().map(|e| e.path())) {
        if manifest.extension().is_some_and(|ext| ext == "json") {
            let socket = manifest.with_extension("sock");
            if socket.exists() && clear(&socket, uid).is_ok() {
                let _ = fs::remove_file(&manifest);
            }
        }
    }
}

/// Removes a socket that a dead process of ours left behind, and nothing else: a socket at which
/// somebody answers belongs to somebody.
fn clear(socket: &Path, uid: u32) -> Result<(), PlaceError> {
    let meta = match fs::symlink_metadata(socket) {
        Ok(meta) => meta,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(PlaceError::System(socket.to_owned(), error)),
    };
    if !meta.file_type().is_socket() || meta.uid() != uid {
        return Err(PlaceError::Occupied(socket.to_owned()));
    }
    match knock(socket) {
        // A process that is stopped or busy lets its callers queue; a full queue is a sign of life.
        Ok(()) | Err(Errno::AGAIN | Errno::INPROGRESS) => Err(PlaceError::InUse(socket.to_owned())),
        Err(Errno::CONNREFUSED) => {
            fs::remove_file(socket).map_err(|error| PlaceError::System(socket.to_owned(), error))
        }
        Err(error) => Err(PlaceError::System(socket.to_owned(), error.into())),
    }
}

/// Connects without waiting, and hangs up.
fn knock(socket: &Path) -> Result<(), Errno> {
    let address = SocketAddrUnix::new(socket)?;
    let caller = net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::ioctl_fionbio(&caller, true)?;
    net::connect(&caller, &address)
}

fn write_manifest(path: &Path, socket: &Path, hello: &Hello) -> io::Result<()> {
    let manifest = Manifest {
        schema: MANIFEST_SCHEMA.to_owned(),
        name: hello.name.clone(),
        pid: hello.pid,
        boot: hello.boot.clone(),
        socket: socket.to_owned(),
        started: hello.started.clone(),
        product: hello.product.clone(),
        protocol: hello.protocol.clone(),
        version: hello.version.clone(),
    };
    // Written aside and renamed, so that nobody ever reads half of it.
    let aside = path.with_extension("new");
    let written = (|| {
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
        serde_json::to_writer(&mut file, &manifest)?;
        file.write_all(b"\n")?;
        fs::rename(&aside, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&aside);
    }
    written
}

/// The name of the process as part of a file name.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    let name: String = name.chars().take(MAX_FILE_NAME).map(plain).collect();
    if name.is_empty() { "hub".to_owned() } else { name }
}
