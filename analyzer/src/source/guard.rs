//! Readers that count, stop at a limit and remember why they stopped.
//!
//! The code above them sees an ordinary [`io::Error`]; what is wrong is kept in the [`Meter`], in
//! words for the user, so that one bad place gives exactly one complaint.

use std::cell::{Cell, RefCell};
use std::io::{self, Read};
use std::rc::Rc;

use super::{Options, Progress};
use crate::complaint;

/// Why a file could not be read to its end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Fault {
    pub(super) code: &'static str,
    pub(super) text: String,
}

/// Counts of one file on disk and the first fault since it was last asked for.
#[derive(Debug)]
pub(super) struct Meter {
    options: Options,
    packed: Cell<u64>,
    unpacked: Cell<u64>,
    fault: RefCell<Option<Fault>>,
    stopped: Cell<bool>,
    /// Bytes of the current member that were handed out.
    member: Cell<u64>,
    /// Bytes that may be read before the next member starts; `None` inside a member.
    between: Cell<Option<u64>>,
}

impl Meter {
    pub(super) fn new(options: &Options) -> Rc<Meter> {
        Rc::new(Meter {
            options: *options,
            packed: Cell::new(0),
            unpacked: Cell::new(0),
            fault: RefCell::new(None),
            stopped: Cell::new(false),
            member: Cell::new(0),
            between: Cell::new(None),
        })
    }

    /// Sets the packed size where it is known beforehand and reading does not pass the counter.
    pub(super) fn set_packed(&self, bytes: u64) {
        self.packed.set(bytes);
    }

    /// True where nothing more may be read from the file on disk.
    pub(super) fn stopped(&self) -> bool {
        self.stopped.get()
    }

    pub(super) fn options(&self) -> Options {
        self.options
    }

    /// Bounds what may be read until the next member starts, `None` for no bound.
    pub(super) fn set_between(&self, bytes: Option<u64>) {
        self.between.set(bytes);
    }

    /// Bytes of the last member that were handed out.
    pub(super) fn member_read(&self) -> u64 {
        self.member.get()
    }

    /// True where a fault waits to be taken.
    pub(super) fn has_fault(&self) -> bool {
        self.fault.borrow().is_some()
    }

    /// The first fault since the last call.
    pub(super) fn take_fault(&self) -> Option<Fault> {
        self.fault.borrow_mut().take()
    }

    pub(super) fn set_fault(&self, code: &'static str, text: String) {
        self.fault.borrow_mut().get_or_insert(Fault { code, text });
    }

    /// Notes an error of a reader below; a fault that is already known explains it.
    fn note(&self, what: &str, error: &io::Error) {
        if error.kind() != io::ErrorKind::Interrupted {
            let text = format!(
                "{what} cannot be read further: {error}; fetch it again, what could be read before is counted"
            );
            self.set_fault(complaint::DAMAGED_ARCHIVE, text);
        }
    }

    /// Counts unpacked bytes against the limits of the whole file on disk.
    fn unpack(&self, bytes: u64) -> io::Result<()> {
        let unpacked = self.unpacked.get().saturating_add(bytes);
        self.unpacked.set(unpacked);
        let options = &self.options;
        let allowed = self.packed.get().saturating_mul(options.ratio_max).max(options.ratio_free);
        let broken = if unpacked > options.archive_unpacked_max {
            format!("unpacks to more than {} bytes", options.archive_unpacked_max)
        } else if unpacked > allowed {
            format!("unpacks to more than {} bytes for each packed byte", options.ratio_max)
        } else {
            return Ok(());
        };
        self.stopped.set(true);
        let text = format!(
            "{broken}, as only a decompression bomb does; nothing behind this place is read, unpack it yourself if it is sound"
        );
        self.set_fault(complaint::LIMIT, text.clone());
        Err(io::Error::other(text))
    }
}

/// Counts the bytes that come from disk.
pub(super) struct Packed<'a, R> {
    pub(super) inner: R,
    pub(super) meter: Rc<Meter>,
    pub(super) progress: &'a dyn Progress,
}

impl<R: Read> Read for Packed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                let text = format!("cannot be read further: {error}; what stands before it is counted");
                self.meter.set_fault(complaint::UNREADABLE, text);
            }
        })?;
        self.meter.packed.set(self.meter.packed.get().saturating_add(count as u64));
        self.progress.read(count as u64);
        Ok(count)
    }
}

/// Counts what comes out of a decoder against the limits of the whole file on disk.
pub(super) struct Unpacked<R> {
    pub(super) inner: R,
    pub(super) meter: Rc<Meter>,
    /// Names the compression in a complaint: `the gzip data`.
    pub(super) what: &'static str,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer).inspect_err(|error| self.meter.note(self.what, error))?;
        self.meter.unpack(count as u64)?;
        Ok(count)
    }
}

/// Stands below a tar reader, which keeps names and headers whole in memory however long they claim
/// to be, and bounds what it reads between members.
pub(super) struct Between<R> {
    pub(super) inner: R,
    pub(super) meter: Rc<Meter>,
}

impl<R: Read> Read for Between<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        if let Some(left) = self.meter.between.get() {
            let Some(left) = left.checked_sub(count as u64) else {
                let text = "a name or header is longer than any real one; nothing behind this place is read, pack the archive again";
                self.meter.set_fault(complaint::LIMIT, text.to_owned());
                return Err(io::Error::other(text));
            };
            self.meter.between.set(Some(left));
        }
        Ok(count)
    }
}

/// Counts one file or member against its own limit and sees that it is complete.
pub(super) struct Member<R> {
    inner: R,
    meter: Rc<Meter>,
    read: u64,
    expected: Option<u64>,
    limited: bool,
}

impl<R: Read> Member<R> {
    /// `expected` is the size the archive states; `limited` is false for a plain file on disk.
    pub(super) fn new(inner: R, meter: &Rc<Meter>, expected: Option<u64>, limited: bool) -> Member<R> {
        meter.member.set(0);
        Member { inner, meter: Rc::clone(meter), read: 0, expected, limited }
    }
}

impl<R: Read> Read for Member<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer).inspect_err(|error| self.meter.note("the member", error))?;
        self.read = self.read.saturating_add(count as u64);
        self.meter.member.set(self.read);
        if count == 0 && !buffer.is_empty() && self.expected.is_some_and(|size| self.read < size) {
            let text = format!(
                "the archive breaks off after {} of the member's {} bytes; fetch it again, what stands before is counted",
                self.read,
                self.expected.unwrap_or_default()
            );
            self.meter.set_fault(complaint::DAMAGED_ARCHIVE, text.clone());
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        if self.limited && self.read > self.meter.options.unpacked_max {
            let text = format!(
                "unpacks to more than {} bytes, the limit for one file; the rest of it is not read",
                self.meter.options.unpacked_max
            );
            self.meter.set_fault(complaint::LIMIT, text.clone());
            return Err(io::Error::other(text));
        }
        Ok(count)
    }
}
