//! Members of tar and zip archives, one at a time, straight from the stream.

use std::io::{Read, Seek};
use std::rc::Rc;

use tar::EntryType;
use zip::result::ZipError;

use super::find::Entry;
use super::guard::{Between, Member, Meter, Unpacked};
use super::open::file;
use super::{MEMBER_SEPARATOR, Options, Place, Sink};
use crate::{complaint, limits};

/// Every regular member of a tar.
pub(super) fn tar<T>(
    entry: &Entry,
    source: impl Read,
    options: &Options,
    meter: &Rc<Meter>,
    sink: &mut Sink<'_, T>,
) {
    let before = sink.files.len() + sink.manifests.len();
    let mut archive = tar::Archive::new(Between { inner: source, meter: Rc::clone(meter) });
    meter.set_between(Some(limits::TAR_HEADERS_MAX));
    let members = match archive.entries() {
        Ok(members) => members,
        Err(error) => return sink.fault(entry.place.clone(), complaint::DAMAGED_ARCHIVE, broken(&error)),
    };
    // A member that breaks off explains why there is no next one.
    let mut explained = false;
    for (count, member) in members.enumerate() {
        meter.set_between(None);
        if count as u64 >= options.entries_max {
            return sink.fault(entry.place.clone(), complaint::LIMIT, too_many(options.entries_max));
        }
        let member = match member {
            Ok(member) => member,
            Err(error) => {
                let fault = meter.take_fault();
                if !explained {
                    let (code, text) = fault
                        .map_or_else(|| (complaint::DAMAGED_ARCHIVE, broken(&error)), |f| (f.code, f.text));
                    sink.fault(entry.place.clone(), code, text);
                }
                return;
            }
        };
        let place = member_place(entry, &String::from_utf8_lossy(&member.path_bytes()));
        let size = member.size();
        let mut left = size;
        match member.header().entry_type() {
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                let stated = (member.header().entry_type() != EntryType::GNUSparse).then_some(size);
                file(place, Member::new(member, meter, stated, true), meter, true, sink);
                explained = sink.files.last().and_then(|last| last.fault.as_ref()).is_some_and(|fault| {
                    [complaint::DAMAGED_ARCHIVE, complaint::UNREADABLE].contains(&fault.code)
                });
                left = size.saturating_sub(meter.member_read());
            }
            EntryType::Directory | EntryType::XGlobalHeader | EntryType::XHeader => {}
            _ => sink.fault(place, complaint::NOT_A_FILE, NOT_A_MEMBER),
        }
        if meter.stopped() {
            return;
        }
        meter.set_between(Some(left.saturating_add(limits::TAR_HEADERS_MAX)));
    }
    empty(entry, before, sink);
}

/// Every file of a zip, in the order of its directory.
pub(super) fn zip<T>(
    entry: &Entry,
    source: impl Read + Seek,
    size: u64,
    options: &Options,
    meter: &Rc<Meter>,
    sink: &mut Sink<'_, T>,
) {
    meter.set_packed(size);
    let before = sink.files.len() + sink.manifests.len();
    let mut archive = match zip::ZipArchive::new(source) {
        Ok(archive) => archive,
        Err(error) => return sink.fault(entry.place.clone(), complaint::DAMAGED_ARCHIVE, broken(&error)),
    };
    for index in 0..archive.len() {
        if index as u64 >= options.entries_max {
            return sink.fault(entry.place.clone(), complaint::LIMIT, too_many(options.entries_max));
        }
        let raw = match archive.by_index_raw(index) {
            Ok(member) => String::from_utf8_lossy(member.name_raw()).into_owned(),
            Err(_) => format!("#{index}"),
        };
        let place = member_place(entry, &raw);
        match archive.by_index(index) {
            Ok(member) if member.is_dir() => {}
            Ok(member) if member.is_symlink() => sink.fault(place, complaint::NOT_A_FILE, NOT_A_MEMBER),
            Ok(member) => {
                let stated = Some(member.size());
                let unpacked = Unpacked { inner: member, meter: Rc::clone(meter), what: "the member" };
                file(place, Member::new(unpacked, meter, stated, true), meter, true, sink);
            }
            Err(error) => {
                let code = match error {
                    ZipError::UnsupportedArchive(_)
                    | ZipError::InvalidPassword
                    | ZipError::CompressionMethodNotSupported(_) => complaint::UNSUPPORTED_MEMBER,
                    _ => complaint::DAMAGED_ARCHIVE,
                };
                sink.fault(
                    place,
                    code,
                    format!("the member cannot be unpacked: {error}; unpack it yourself and name the folder"),
                );
            }
        }
        if meter.stopped() {
            return;
        }
    }
    empty(entry, before, sink);
}

const NOT_A_MEMBER: &str =
    "the member is a link, a pipe or a device, which is never followed; pack the file itself";

fn too_many(limit: u64) -> String {
    format!("the archive has more than {limit} members; those behind are not read, split it")
}

fn broken(error: &impl std::fmt::Display) -> String {
    format!("the archive cannot be read further: {error}; fetch it again, what stands before is counted")
}

/// Complains about an archive that gave nothing at all.
fn empty<T>(entry: &Entry, before: usize, sink: &mut Sink<'_, T>) {
    if sink.files.len() + sink.manifests.len() == before {
        sink.fault(
            entry.place.clone(),
            complaint::EMPTY_ARCHIVE,
            "the archive holds no file, so it says nothing; was it packed before the job wrote?",
        );
    }
}

/// `archive!member`; the member's name is text to show, never a path to open.
fn member_place(entry: &Entry, name: &str) -> Place {
    let name = name.replace('\\', "/");
    let name = name.trim_start_matches("./");
    let below = match (entry.folder_below(), name) {
        ("", name) => name.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    };
    Place { path: format!("{}{MEMBER_SEPARATOR}{name}", entry.place.path), below }
}
