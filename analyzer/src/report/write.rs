//! `--out DIR`: each report file appears whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Report, Style, json, markdown, text};

/// Columns of `report.txt`, which has no terminal to ask.
const FILE_WIDTH: usize = 100;

/// Makes the folder `dir` if it is missing, and sees that files can be written there.
///
/// # Errors
/// The path that cannot be written, why, and what to do.
pub fn prepare(dir: &Path) -> Result<(), String> {
    fs::create_dir_all(dir).map_err(|error| refused(dir, &error))?;
    let probe = dir.join(format!("report.{}.part", std::process::id()));
    // Left by a killed process of the same id.
    let _ = fs::remove_file(&probe);
    File::create_new(&probe).and_then(|_| fs::remove_file(&probe)).map_err(|error| refused(dir, &error))
}

fn refused(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}; name a folder with --out that can be written to", path.display())
}

/// Writes `report.json`, `report.md` and `report.txt` into `dir`, which is made if it is missing.
/// Returns their paths.
///
/// # Errors
/// The path that could not be written, why, and what to do.
pub fn reports(report: &Report, dir: &Path) -> Result<Vec<PathBuf>, String> {
    prepare(dir)?;
    let style = Style { width: FILE_WIDTH, colour: false };
    let files = [
        ("report.json", json::render(report)),
        ("report.md", markdown::render(report)),
        ("report.txt", text::render(report, style)),
    ];
    let mut written = Vec::with_capacity(files.len());
    for (name, text) in files {
        let path = dir.join(name);
        atomically(&path, |file| file.write_all(text.as_bytes())).map_err(|error| refused(&path, &error))?;
        written.push(path);
    }
    Ok(written)
}

/// Lets `fill` write a file of another name in the same folder, then renames it to `path`. A file
/// that is already there is replaced in one step; nothing is left behind on an error.
///
/// # Errors
/// Of the file system, or what `fill` returns.
pub fn atomically(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::other("the path names no file"))?;
    let mut temporary = name.to_owned();
    temporary.push(format!(".{}.part", std::process::id()));
    let temporary = path.with_file_name(temporary);
    // Left by a killed process of the same id; a new file is insisted on, so that no link is followed.
    let _ = fs::remove_file(&temporary);
    let result = File::create_new(&temporary).and_then(|mut file| {
        fill(&mut file)?;
        file.sync_all()
    });
    let result = result.and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_cannot_be_written_to_is_known_beforehand() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        for place in [&file, &file.join("below")] {
            assert!(prepare(place).unwrap_err().starts_with("cannot write "), "{}", place.display());
        }
        prepare(&dir.path().join("a/b")).unwrap();
        assert_eq!(fs::read_dir(dir.path().join("a/b")).unwrap().count(), 0, "the probe is gone");
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report.txt");
        atomically(&path, |file| file.write_all(b"old")).unwrap();
        let error = atomically(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("disk full"))
        });
        assert_eq!(error.unwrap_err().to_string(), "disk full");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        atomically(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
