//! Hostile and ordinary inputs, each with its one complaint.

mod archives;
mod folders;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::Path;

use tempfile::TempDir;

use super::{Gathered, Options, Quiet, gather};

/// Reads every file to text.
fn read_with(paths: &[&Path], stdin: &[u8], options: &Options) -> Gathered<String> {
    let paths: Vec<OsString> = paths.iter().map(|path| path.as_os_str().to_owned()).collect();
    let mut stdin = stdin;
    gather(&paths, &mut stdin, options, &Quiet, &|_, reader| {
        let mut bytes = Vec::new();
        let _ = reader.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn read(paths: &[&Path]) -> Gathered<String> {
    read_with(paths, b"", &Options::default())
}

/// One line for each file: its path below `root`, then its text or its complaint's code or both.
fn shown(root: &Path, gathered: &Gathered<String>) -> Vec<String> {
    let root = format!("{}/", root.display());
    gathered
        .files
        .iter()
        .map(|file| {
            let path = file.place.path.strip_prefix(&root).unwrap_or(&file.place.path).to_owned();
            let text = file.value.as_deref().map(|text| format!(" = {text}")).unwrap_or_default();
            let code = file.fault.as_ref().map(|fault| {
                assert_eq!(fault.path, file.place.path);
                assert!(fault.text.len() > 10, "{}", fault.text);
                format!(" ! {}", fault.code)
            });
            format!("{path}{text}{}", code.unwrap_or_default())
        })
        .collect()
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn write(root: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
    std::fs::write(path, bytes).expect("a file");
}

fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        // `append_data` refuses the names a hostile archive has.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        builder.append(&header, *bytes).expect("a member");
    }
    builder.into_inner().expect("a tar")
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("written");
    encoder.finish().expect("finished")
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).expect("a member");
        writer.write_all(bytes).expect("written");
    }
    writer.finish().expect("a zip").into_inner()
}

/// Bytes that do not pack.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Letters, so that it is text of no archive.
        b'a' + (state % 26) as u8
    })
    .take(count)
    .collect()
}

#[test]
fn helpers_pack_what_they_say() {
    let mut text = String::new();
    flate2::read::GzDecoder::new(&gz(b"x")[..]).read_to_string(&mut text).expect("gzip");
    assert_eq!(text, "x");
}
