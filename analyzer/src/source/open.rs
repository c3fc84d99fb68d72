//! Opens one found file and hands on what is in it: the file itself or the members of an archive.
//!
//! What a file is, its first bytes say; the name only helps to complain about a file that is not
//! what it is called.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;
use std::sync::Mutex;

use flate2::bufread::MultiGzDecoder;

use super::find::{Entry, What};
use super::guard::{Member, Meter, Packed, Unpacked};
use super::{ManifestText, Options, Place, Sink, SourceFile, archive, is_manifest, zstd};
use crate::{complaint, limits};

/// Bytes read at a time from disk and from a decoder.
const BUFFER: usize = 128 * 1024;

/// What the first bytes say.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Plain,
    Gzip,
    Zstd,
    Zip,
    Tar,
}

/// Bytes of a tar header.
const TAR_BLOCK: usize = 512;

pub(super) fn kind(head: &[u8]) -> Kind {
    if head.starts_with(&[0x1f, 0x8b]) {
        Kind::Gzip
    } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) || is_skippable_frame(head) {
        Kind::Zstd
    } else if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        Kind::Zip
    } else if is_tar(head) {
        Kind::Tar
    } else {
        Kind::Plain
    }
}

/// RFC 8878 §3.1.2: sixteen magic numbers from 0x184D2A50, little-endian.
fn is_skippable_frame(head: &[u8]) -> bool {
    matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// True where the header's checksum holds, which every tar since Unix V7 has.
fn is_tar(head: &[u8]) -> bool {
    let Some(block) = head.get(..TAR_BLOCK) else { return false };
    let Ok(text) = std::str::from_utf8(&block[148..156]) else { return false };
    let Ok(stated) = u64::from_str_radix(text.trim_matches(['\0', ' ']), 8) else { return false };
    let sum: u64 = block.iter().map(|&byte| u64::from(byte)).sum();
    let own: u64 = block[148..156].iter().map(|&byte| u64::from(byte)).sum();
    stated == sum - own + 8 * u64::from(b' ')
}

/// What the name promises, if it promises anything.
fn promised(path: &str) -> Option<(Kind, &'static str)> {
    let lower = path.to_ascii_lowercase();
    let ends = |suffix: &str| lower.ends_with(suffix);
    if ends(".zip") {
        Some((Kind::Zip, "zip"))
    } else if ends(".gz") || ends(".tgz") {
        Some((Kind::Gzip, "gzip"))
    } else if ends(".zst") || ends(".tzst") {
        Some((Kind::Zstd, "zstd"))
    } else if ends(".tar") {
        Some((Kind::Tar, "tar"))
    } else {
        None
    }
}

/// True where the name says that a tar is inside the compression.
fn promises_tar(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    [".tar.gz", ".tgz", ".tar.zst", ".tzst"].iter().any(|suffix| lower.ends_with(suffix))
}

/// Reads the head and gives back a reader that starts with it again.
pub(super) fn peek<R: Read>(mut reader: R) -> (Vec<u8>, Option<io::Error>, R) {
    let mut head = Vec::new();
    let error = reader.by_ref().take(limits::SNIFF_BYTES as u64).read_to_end(&mut head).err();
    (head, error, reader)
}

/// Opens `entry`; everything it holds, good or bad, ends in `sink`.
pub(super) fn open<T>(
    entry: &Entry,
    stdin: &Mutex<&mut (dyn Read + Send)>,
    options: &Options,
    sink: &mut Sink<'_, T>,
) {
    match &entry.what {
        What::Bad { code, text } => sink.fault(entry.place.clone(), code, text.clone()),
        What::Stdin => {
            let mut stdin = stdin.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            stream(entry, &mut **stdin, options, sink);
        }
        What::File(path) => match File::open(path) {
            Ok(file) => stream(entry, file, options, sink),
            Err(error) => sink.fault(entry.place.clone(), complaint::UNREADABLE, cannot_open(&error)),
        },
    }
}

pub(super) fn cannot_open(error: &io::Error) -> String {
    format!("cannot be opened: {error}; check the path and its permissions")
}

/// Finds out what the bytes are and unpacks one layer.
fn stream<T>(entry: &Entry, source: impl Read, options: &Options, sink: &mut Sink<'_, T>) {
    let meter = Meter::new(options);
    let packed = Packed { inner: source, meter: Rc::clone(&meter), progress: sink.progress };
    let place = &entry.place;
    let (head, error, rest) = peek(packed);
    let kind = kind(&head);
    if let Some((promised, name)) = promised(&place.path)
        && promised != kind
        && !head.is_empty()
        && error.is_none()
    {
        let text =
            format!("the name says {name}, the first bytes do not; fetch it again or give it its right name");
        return sink.fault(place.clone(), complaint::DAMAGED_ARCHIVE, text);
    }
    let peeked = head.len() as u64;
    let all = Cursor::new(head).chain(Failed(error)).chain(BufReader::with_capacity(BUFFER, rest));
    match kind {
        Kind::Gzip => layer(
            entry,
            Unpacked { inner: MultiGzDecoder::new(all), meter: Rc::clone(&meter), what: "the gzip data" },
            &meter,
            sink,
        ),
        Kind::Zstd => layer(
            entry,
            Unpacked { inner: zstd::Frames::new(all), meter: Rc::clone(&meter), what: "the zstd data" },
            &meter,
            sink,
        ),
        Kind::Tar => archive::tar(entry, all, options, &meter, sink),
        Kind::Zip => match &entry.what {
            What::File(path) => match File::open(path) {
                Ok(file) => {
                    archive::zip(entry, BufReader::new(file), entry.size, options, &meter, sink);
                    sink.progress.read(entry.size.saturating_sub(peeked));
                }
                Err(error) => sink.fault(place.clone(), complaint::UNREADABLE, cannot_open(&error)),
            },
            _ => zip_of_stream(entry, all, options, &meter, sink),
        },
        Kind::Plain => file(place.clone(), Member::new(all, &meter, None, false), &meter, false, sink),
    }
}

/// What is inside a gzip or zstd layer: one file or a tar.
fn layer<T>(entry: &Entry, unpacked: impl Read, meter: &Rc<Meter>, sink: &mut Sink<'_, T>) {
    let (head, error, rest) = peek(unpacked);
    let place = &entry.place;
    let inner = kind(&head);
    let all = Cursor::new(head).chain(Failed(error)).chain(BufReader::with_capacity(BUFFER, rest));
    match inner {
        Kind::Tar => archive::tar(entry, all, &meter.options(), meter, sink),
        Kind::Plain if promises_tar(&place.path) && !meter.has_fault() => {
            let text = "the name says that a tar is inside, the first bytes do not; fetch it again or give it its right name";
            sink.fault(place.clone(), complaint::DAMAGED_ARCHIVE, text);
        }
        Kind::Plain => file(place.clone(), Member::new(all, meter, None, true), meter, false, sink),
        _ => sink.fault(place.clone(), complaint::NESTED_ARCHIVE, NESTED),
    }
}

/// A zip keeps its directory at the end, so a piped one is held whole.
fn zip_of_stream<T>(
    entry: &Entry,
    source: impl Read,
    options: &Options,
    meter: &Rc<Meter>,
    sink: &mut Sink<'_, T>,
) {
    let mut bytes = Vec::new();
    let limit = limits::ZIP_STDIN_MAX;
    if let Err(error) = source.take(limit + 1).read_to_end(&mut bytes) {
        let _ = meter.take_fault();
        return sink.fault(entry.place.clone(), complaint::UNREADABLE, cannot_open(&error));
    }
    if bytes.len() as u64 > limit {
        let text = format!("a piped zip archive may have {limit} bytes; save it and name the file instead");
        return sink.fault(entry.place.clone(), complaint::LIMIT, text);
    }
    let size = bytes.len() as u64;
    archive::zip(entry, Cursor::new(bytes), size, options, meter, sink);
}

pub(super) const NESTED: &str =
    "an archive or compressed file inside an archive is not opened; unpack the outer one and name the folder";

/// Hands one file or member to the reader of formats, or to the manifests.
pub(super) fn file<T>(
    place: Place,
    reader: impl Read,
    meter: &Rc<Meter>,
    member: bool,
    sink: &mut Sink<'_, T>,
) {
    let (head, error, rest) = peek(reader);
    let failed = error.is_some();
    if head.is_empty() {
        match meter.take_fault() {
            Some(fault) => sink.fault(place, fault.code, fault.text),
            None if failed => sink.fault(place, complaint::UNREADABLE, "cannot be read; fetch it again"),
            None => sink.fault(
                place,
                complaint::EMPTY,
                "the file has no bytes, so it says nothing; the job may have crashed before it wrote",
            ),
        }
        return;
    }
    if member && kind(&head) != Kind::Plain {
        return sink.fault(place, complaint::NESTED_ARCHIVE, NESTED);
    }
    let mut all = Cursor::new(head).chain(Failed(error)).chain(BufReader::with_capacity(BUFFER, rest));
    if is_manifest(&place.path) {
        return manifest(place, &mut all, meter, sink);
    }
    let value = (sink.read)(&place, &mut all);
    let fault = meter.take_fault().map(|fault| complaint::whole_file(&place.path, fault.code, fault.text));
    sink.files.push(SourceFile { place, value: Some(value), fault });
    sink.progress.file();
}

fn manifest<T>(place: Place, reader: &mut dyn BufRead, meter: &Rc<Meter>, sink: &mut Sink<'_, T>) {
    let mut bytes = Vec::new();
    let limit = limits::MANIFEST_BYTES_MAX;
    let result = reader.take(limit + 1).read_to_end(&mut bytes);
    let fault = meter.take_fault();
    if let Err(error) = result {
        let (code, text) =
            fault.map_or_else(|| (complaint::UNREADABLE, cannot_open(&error)), |f| (f.code, f.text));
        return sink.fault(place, code, text);
    }
    if bytes.len() as u64 > limit {
        return sink.fault(
            place,
            complaint::LIMIT,
            format!("a manifest may have {limit} bytes; split it over several folders"),
        );
    }
    sink.manifests.push(ManifestText { path: place.path, bytes });
}

/// Gives back, once, an error that a peek ran into.
pub(super) struct Failed(pub(super) Option<io::Error>);

impl Read for Failed {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

impl BufRead for Failed {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.take().map_or(Ok(&[]), Err)
    }

    fn consume(&mut self, _amount: usize) {}
}
