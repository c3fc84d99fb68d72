//! Finding hub processes by the manifests beside their sockets.

use std::io::Read;
use std::path::{Path, PathBuf};

use fate_trail::live::{MANIFEST_SCHEMA, MAX_NAME, Manifest, check_private, directory, glob_matches};
use fate_trail::scrub::scrub_to;

/// Largest manifest that is read, in bytes.
const MAX_MANIFEST: u64 = 64 * 1024;

/// Most processes that are looked at in one folder.
const MAX_PROCESSES: usize = 256;

/// Where to look.
#[derive(Clone, Debug, Default)]
pub(crate) struct Where {
    /// Names of hubs or processes; empty means all.
    pub globs: Vec<String>,
    /// The folder, if not the usual one.
    pub directory: Option<PathBuf>,
    /// These sockets and no others.
    pub sockets: Vec<PathBuf>,
}

/// A hub process that may be there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Name of the process.
    pub name: String,
    /// Its process id, 0 if unknown.
    pub pid: u32,
    /// Its start, RFC 3339, or empty.
    pub started: String,
    /// Its socket.
    pub socket: PathBuf,
}

impl Where {
    /// The folder that is looked into.
    pub(crate) fn folder(&self) -> PathBuf {
        self.directory
            .clone()
            .unwrap_or_else(|| directory(|name| std::env::var_os(name), rustix::process::geteuid().as_raw()))
    }

    /// True if a hub of this name in a process of that name is asked for.
    pub(crate) fn wants(&self, process: &str, hub: &str) -> bool {
        self.globs.is_empty() || self.globs.iter().any(|g| glob_matches(g, process) || glob_matches(g, hub))
    }
}

/// The processes that a folder or the given sockets name, oldest first. A folder that is not there
/// is an empty one; manifests that cannot be read are complaints in the second list.
///
/// # Errors
/// The folder exists but is not private: whoever else may write there could pose as a hub.
pub(crate) fn find(place: &Where) -> Result<(Vec<Found>, Vec<String>), String> {
    if !place.sockets.is_empty() {
        let found = place.sockets.iter().map(|socket| Found {
            name: shown(&socket.file_stem().unwrap_or_default().to_string_lossy()),
            socket: socket.clone(),
            ..Found::default()
        });
        return Ok((found.collect(), Vec::new()));
    }
    let folder = place.folder();
    if !folder.exists() {
        return Ok((Vec::new(), Vec::new()));
    }
    check_private(&folder, rustix::process::geteuid().as_raw()).map_err(|e| e.to_string())?;
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut manifests: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    manifests.sort();
    let (mut found, mut complaints) = (Vec::new(), Vec::new());
    if manifests.len() > MAX_PROCESSES {
        let surplus = manifests.len() - MAX_PROCESSES;
        complaints.push(format!("{}: {surplus} more processes are not shown", folder.display()));
        manifests.truncate(MAX_PROCESSES);
    }
    for path in manifests {
        match read(&path) {
            Ok(process) => found.push(process),
            Err(why) => complaints.push(format!("{}: {why}", shown(&path.to_string_lossy()))),
        }
    }
    found.sort_by(|a, b| (&a.started, a.pid).cmp(&(&b.started, b.pid)));
    Ok((found, complaints))
}

fn read(path: &Path) -> Result<Found, String> {
    let file = std::fs::File::open(path).map_err(|e| e.to_string())?;
    let mut text = Vec::new();
    file.take(MAX_MANIFEST).read_to_end(&mut text).map_err(|e| e.to_string())?;
    let manifest: Manifest =
        serde_json::from_slice(&text).map_err(|e| shown(&format!("no manifest of a hub process: {e}")))?;
    if manifest.schema != MANIFEST_SCHEMA {
        let schema = shown(&manifest.schema);
        return Err(format!("a manifest of schema `{schema}`, {MANIFEST_SCHEMA} is understood"));
    }
    // The socket stands beside its manifest; a path written inside could lead anywhere.
    Ok(Found {
        name: shown(&manifest.name),
        pid: manifest.pid,
        started: shown(&manifest.started),
        socket: path.with_extension("sock"),
    })
}

fn shown(text: &str) -> String {
    scrub_to(text, MAX_NAME).into_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn private() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o700)).unwrap();
        dir
    }

    fn at(dir: &Path) -> Where {
        Where { directory: Some(dir.to_owned()), ..Where::default() }
    }

    #[test]
    fn manifests_are_read_and_bad_ones_complained_about() {
        let dir = private();
        let manifest = Manifest {
            schema: MANIFEST_SCHEMA.into(),
            name: "demo\u{1b}[2J".into(),
            pid: 7,
            socket: "/etc/passwd".into(),
            ..Manifest::default()
        };
        let text = serde_json::to_string(&manifest).unwrap();
        std::fs::write(dir.path().join("7-demo.json"), text).unwrap();
        std::fs::write(dir.path().join("8-x.json"), "{").unwrap();
        std::fs::write(dir.path().join("7-demo.sock"), "").unwrap();
        let (found, complaints) = find(&at(dir.path())).unwrap();
        assert_eq!(found.len(), 1);
        assert!(!found[0].name.contains('\u{1b}'));
        assert_eq!(found[0].socket, dir.path().join("7-demo.sock"), "beside the manifest");
        assert_eq!(complaints.len(), 1);
    }

    #[test]
    fn an_open_folder_is_refused_and_a_missing_one_is_empty() {
        let dir = private();
        assert_eq!(find(&at(&dir.path().join("none"))), Ok((vec![], vec![])));
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
        assert!(find(&at(dir.path())).unwrap_err().contains("chmod 700"));
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path(), &link).unwrap();
        assert!(find(&at(&link)).unwrap_err().contains("symlink"));
    }

    #[test]
    fn globs_match_processes_and_hubs() {
        let place = Where { globs: vec!["demo".into(), "orders/*".into()], ..Where::default() };
        assert!(place.wants("demo", "x") && place.wants("other", "orders/1"));
        assert!(!place.wants("other", "billing"));
    }
}
