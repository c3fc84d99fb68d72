//! Bytes of any encoding become valid UTF-8: byte order marks, UTF-16, Latin-1, invalid bytes.
//!
//! Everything after this stage may rely on valid UTF-8; what had to be replaced shows as U+FFFD
//! and is reported, because a replaced byte can change an element of a sequence.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

/// Bytes that must be there before the encoding is decided.
const DETECT_BYTES: usize = 4096;

/// How the bytes of the file are read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
    /// ISO 8859-1 and Windows-1252, which differ in control characters only.
    Latin1,
}

/// A reader that yields valid UTF-8 whatever the bytes beneath are. A read error ends the stream
/// and is kept for [`Decoder::error`], so that what was read before it still counts.
pub(crate) struct Decoder<'a> {
    inner: &'a mut dyn BufRead,
    encoding: Option<Encoding>,
    /// Undecoded bytes: before the encoding is known, then the unfinished end of a character.
    raw: Vec<u8>,
    out: Vec<u8>,
    pos: usize,
    eof: bool,
    bytes: u64,
    replaced: bool,
    error: Option<io::Error>,
}

impl<'a> Decoder<'a> {
    /// Decodes `inner`.
    pub(crate) fn new(inner: &'a mut dyn BufRead) -> Decoder<'a> {
        Decoder {
            inner,
            encoding: None,
            raw: Vec::new(),
            out: Vec::new(),
            pos: 0,
            eof: false,
            bytes: 0,
            replaced: false,
            error: None,
        }
    }

    /// True where bytes read so far were invalid in the file's encoding and were replaced.
    pub(crate) fn replaced(&self) -> bool {
        self.replaced
    }

    /// Bytes read from the source so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The error that ended the stream early, if one did.
    pub(crate) fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// The text from the current position on, at least `want` bytes of it unless the file is
    /// shorter.
    pub(crate) fn peek(&mut self, want: usize) -> &[u8] {
        while self.out.len() - self.pos < want && !self.eof {
            self.decode_more();
        }
        &self.out[self.pos..]
    }

    fn decode_more(&mut self) {
        if self.pos == self.out.len() {
            self.out.clear();
            self.pos = 0;
        }
        match self.inner.fill_buf() {
            Ok([]) => self.eof = true,
            Ok(chunk) => {
                let n = chunk.len();
                self.raw.extend_from_slice(chunk);
                self.inner.consume(n);
                self.bytes += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => return,
            Err(e) => {
                self.error = Some(e);
                self.eof = true;
            }
        }
        let encoding = match self.encoding {
            Some(encoding) => encoding,
            None if self.raw.len() < DETECT_BYTES && !self.eof => return,
            None => {
                let (encoding, mark) = detect(&self.raw);
                self.raw.drain(..mark);
                self.encoding = Some(encoding);
                encoding
            }
        };
        match encoding {
            Encoding::Utf8 => self.decode_utf8(),
            Encoding::Utf16Le => self.decode_utf16(u16::from_le_bytes),
            Encoding::Utf16Be => self.decode_utf16(u16::from_be_bytes),
            Encoding::Latin1 => self.decode_latin1(),
        }
    }

    fn decode_utf8(&mut self) {
        let mut rest = self.raw.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.out.extend_from_slice(text.as_bytes());
                    rest = &[];
                    break;
                }
                Err(e) => {
                    let (valid, after) = rest.split_at(e.valid_up_to());
                    self.out.extend_from_slice(valid);
                    let skip = match e.error_len() {
                        Some(n) => n,
                        None if self.eof => after.len(),
                        // The character may go on in the next block.
                        None => {
                            rest = after;
                            break;
                        }
                    };
                    self.out.extend_from_slice("\u{FFFD}".as_bytes());
                    self.replaced = true;
                    rest = &after[skip..];
                }
            }
        }
        let left = rest.len();
        let done = self.raw.len() - left;
        self.raw.drain(..done);
    }

    fn decode_utf16(&mut self, unit: fn([u8; 2]) -> u16) {
        let mut units: Vec<u16> = self.raw.chunks_exact(2).map(|b| unit([b[0], b[1]])).collect();
        if !self.eof && units.last().is_some_and(|u| (0xD800..0xDC00).contains(u)) {
            units.pop();
        }
        let mut utf8 = [0; 4];
        for c in char::decode_utf16(units.iter().copied()) {
            let c = c.unwrap_or_else(|_| {
                self.replaced = true;
                char::REPLACEMENT_CHARACTER
            });
            self.out.extend_from_slice(c.encode_utf8(&mut utf8).as_bytes());
        }
        self.raw.drain(..units.len() * 2);
        if self.eof && !self.raw.is_empty() {
            self.raw.clear();
            self.replaced = true;
            self.out.extend_from_slice("\u{FFFD}".as_bytes());
        }
    }

    fn decode_latin1(&mut self) {
        let mut utf8 = [0; 4];
        for &b in &self.raw {
            let c =
                if (0x80..0xA0).contains(&b) { WINDOWS_1252[usize::from(b - 0x80)] } else { char::from(b) };
            self.out.extend_from_slice(c.encode_utf8(&mut utf8).as_bytes());
        }
        self.raw.clear();
    }
}

impl BufRead for Decoder<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(self.peek(1))
    }

    fn consume(&mut self, n: usize) {
        self.pos = (self.pos + n).min(self.out.len());
    }
}

impl Read for Decoder<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let from = self.fill_buf()?;
        let n = from.len().min(to.len());
        to[..n].copy_from_slice(&from[..n]);
        self.consume(n);
        Ok(n)
    }
}

/// A small file held whole, decoded as [`Decoder`] would: UTF-8 without its byte order mark is given
/// back as it is, with whatever invalid bytes it has.
pub(crate) fn whole(bytes: &[u8]) -> Cow<'_, [u8]> {
    match detect(bytes) {
        (Encoding::Utf8, mark) => Cow::Borrowed(&bytes[mark..]),
        _ => {
            let mut source = bytes;
            let mut decoder = Decoder::new(&mut source);
            Cow::Owned(decoder.peek(usize::MAX).to_vec())
        }
    }
}

/// The encoding of a file that begins with `head`, and the length of its byte order mark.
fn detect(head: &[u8]) -> (Encoding, usize) {
    match head {
        [0xEF, 0xBB, 0xBF, ..] => return (Encoding::Utf8, 3),
        [0xFF, 0xFE, ..] => return (Encoding::Utf16Le, 2),
        [0xFE, 0xFF, ..] => return (Encoding::Utf16Be, 2),
        // UTF-16 whose mark was lost: two ASCII characters.
        [a, 0, b, 0, ..] if *a != 0 && *b != 0 => return (Encoding::Utf16Le, 0),
        [0, a, 0, b, ..] if *a != 0 && *b != 0 => return (Encoding::Utf16Be, 0),
        _ => {}
    }
    if declares_latin1(head) { (Encoding::Latin1, 0) } else { (Encoding::Utf8, 0) }
}

/// True where an XML declaration names an encoding of the Latin-1 family. Any other declared
/// encoding is ignored: producers write `utf-16` over UTF-8 bytes.
fn declares_latin1(head: &[u8]) -> bool {
    if !head.starts_with(b"<?xml") {
        return false;
    }
    let end = memchr::memchr(b'>', head).unwrap_or(head.len());
    let declaration = String::from_utf8_lossy(&head[..end]).to_ascii_lowercase();
    declaration.split_once("encoding").is_some_and(|(_, value)| {
        let value = value.trim_start_matches([' ', '=', '"', '\'']);
        ["iso-8859-1", "latin1", "latin-1", "windows-1252", "cp1252"]
            .iter()
            .any(|name| value.strip_prefix(name).is_some_and(|rest| rest.starts_with(['"', '\''])))
    })
}

/// Windows-1252, 0x80 to 0x9F; the five unassigned bytes stay control characters.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that hands out `step` bytes at a time, so that characters straddle blocks.
    fn decode(bytes: &[u8], step: usize) -> (String, bool) {
        let mut source = io::BufReader::with_capacity(step, bytes);
        let mut decoder = Decoder::new(&mut source);
        let mut text = String::new();
        decoder.read_to_string(&mut text).expect("valid UTF-8 by contract");
        (text, decoder.replaced())
    }

    #[test]
    fn marks_are_removed_and_utf16_is_read_in_both_orders() {
        let text = "a\u{1F980}ß\r\n";
        let units: Vec<u16> = text.encode_utf16().collect();
        let little: Vec<u8> = [0xFEFF].iter().chain(&units).flat_map(|u: &u16| u.to_le_bytes()).collect();
        let big: Vec<u8> = [0xFEFF].iter().chain(&units).flat_map(|u: &u16| u.to_be_bytes()).collect();
        let marked = [&[0xEF, 0xBB, 0xBF], text.as_bytes()].concat();
        for step in [1, 2, 3, 7, 64] {
            for bytes in [&little, &big, &marked] {
                assert_eq!(decode(bytes, step), (text.to_owned(), false), "step {step}");
            }
        }
    }

    #[test]
    fn invalid_bytes_are_replaced_and_reported() {
        for step in [1, 2, 64] {
            assert_eq!(decode(b"ok \xFB Passed", step), ("ok \u{FFFD} Passed".to_owned(), true));
            assert_eq!(decode(b"cut \xE2\x82", step), ("cut \u{FFFD}".to_owned(), true));
            assert_eq!(decode("fine €".as_bytes(), step), ("fine €".to_owned(), false));
        }
        // Half a UTF-16 unit and a lone surrogate.
        assert_eq!(decode(&[0xFF, 0xFE, b'a', 0, 0], 64), ("a\u{FFFD}".to_owned(), true));
        assert_eq!(decode(&[0xFF, 0xFE, 0, 0xD8, b'a', 0], 64), ("\u{FFFD}a".to_owned(), true));
    }

    #[test]
    fn a_declared_latin1_is_read_as_windows_1252_and_other_declarations_are_ignored() {
        let (text, replaced) = decode(b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xFC\x80</a>", 5);
        assert!(text.ends_with("<a>ü€</a>") && !replaced, "{text}");
        let (text, replaced) = decode("<?xml version=\"1.0\" encoding=\"utf-16\"?><a>ü</a>".as_bytes(), 5);
        assert!(text.ends_with("<a>ü</a>") && !replaced, "{text}");
    }
}
