//! The list of complaint codes: what each means and whether the file it names counts as damaged.
//!
//! A complaint never stops the rest. Its text says what is wrong, which rule it breaks and what to
//! do; its path and line say where.

use crate::model::Complaint;

/// One code of the list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Code {
    /// The code as it stands in JSON and on standard error; never renamed.
    pub code: &'static str,
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// True where the file counts as damaged against `--floor`.
    pub damaging: bool,
}

/// A file without a single byte.
pub const EMPTY: &str = "empty";
/// A file that cannot be opened or read.
pub const UNREADABLE: &str = "unreadable";
/// Neither a file nor a folder: a pipe, a socket, a device.
pub const NOT_A_FILE: &str = "not-a-file";
/// A symbolic link that leads back to a folder above it.
pub const SYMLINK_LOOP: &str = "symlink-loop";
/// A glob that no file matches.
pub const NO_MATCH: &str = "no-match";
/// An argument that is no valid glob.
pub const BAD_GLOB: &str = "bad-glob";
/// Compressed data that breaks off or does not unpack.
pub const DAMAGED_ARCHIVE: &str = "damaged-archive";
/// An archive without a file in it.
pub const EMPTY_ARCHIVE: &str = "empty-archive";
/// An archive or a compressed file inside an archive.
pub const NESTED_ARCHIVE: &str = "nested-archive";
/// A member that is encrypted or packed by a method that is not read.
pub const UNSUPPORTED_MEMBER: &str = "unsupported-member";
/// A limit of [`crate::limits`] stopped the reading.
pub const LIMIT: &str = "limit";
/// A document that ends before it is complete; what stands before is counted.
pub const TRUNCATED: &str = "truncated";
/// Nothing in the file is of a known format.
pub const UNRECOGNISED: &str = "unrecognised";
/// The file names no run and nothing else does.
pub const RUN_UNKNOWN: &str = "run-unknown";
/// A time without offset, read as UTC.
pub const NAIVE_TIME: &str = "naive-time";
/// A line of a manifest that is not used.
pub const MANIFEST_LINE: &str = "manifest-line";
/// A key of a manifest that has no meaning here.
pub const MANIFEST_KEY: &str = "manifest-key";
/// A value of a manifest that is not used; the rest of its line is.
pub const MANIFEST_VALUE: &str = "manifest-value";
/// A file that is no text.
pub const BINARY: &str = "binary";
/// An XML document that is no test report of a known format.
pub const FOREIGN_XML: &str = "foreign-xml";
/// A document that stops being XML; what stands before is counted.
pub const XML_SYNTAX: &str = "xml-syntax";
/// An end tag that closes nothing; read over.
pub const XML_MISMATCH: &str = "xml-mismatch";
/// Elements nested deeper than any report's; what stands before is counted.
pub const XML_TOO_DEEP: &str = "xml-too-deep";
/// One tag that is longer than the limit; what stands before is counted.
pub const XML_TOO_LONG: &str = "xml-too-long";
/// Text beside the document in an XML file; not read.
pub const XML_TRAILING: &str = "xml-trailing";
/// Output of a test that is longer than the limit; its middle is skipped.
pub const TEXT_TOO_LONG: &str = "text-too-long";
/// Bytes that are invalid in the file's encoding.
pub const INVALID_BYTES: &str = "invalid-bytes";
/// A test listed more than once without a mark of which try passed.
pub const ATTEMPTS_UNKNOWN: &str = "attempts-unknown";
/// A run that failed although no test did.
pub const RUN_FAILED: &str = "run-failed";
/// A test run began and has no summary: a crash, a time limit, or a log that was cut.
pub const RUN_UNFINISHED: &str = "run-unfinished";
/// More complaints than are kept.
pub const MORE: &str = "more";

/// Complaints of a reader of formats that a fault of the source explains already.
pub(crate) const FOLLOWS_FROM_FAULT: [&str; 5] =
    [UNREADABLE, TRUNCATED, UNRECOGNISED, XML_SYNTAX, XML_MISMATCH];

/// Every code.
pub const CODES: &[Code] = &[
    code(EMPTY, "the file has no bytes", true),
    code(UNREADABLE, "the file cannot be opened or read", true),
    code(NOT_A_FILE, "neither a file nor a folder", true),
    code(SYMLINK_LOOP, "a symbolic link leads back to a folder above it", false),
    code(NO_MATCH, "no file matches the glob", true),
    code(BAD_GLOB, "the argument is no valid glob", true),
    code(DAMAGED_ARCHIVE, "compressed data breaks off or does not unpack", true),
    code(EMPTY_ARCHIVE, "the archive holds no file", true),
    code(NESTED_ARCHIVE, "an archive or compressed file inside an archive is not opened", true),
    code(UNSUPPORTED_MEMBER, "the member is encrypted or packed by an unknown method", true),
    code(LIMIT, "a limit stopped the reading", true),
    code(TRUNCATED, "the document ends before it is complete", true),
    code(UNRECOGNISED, "nothing in the file is of a known format", true),
    code(RUN_UNKNOWN, "nothing says which run the file belongs to; it counts as its own", false),
    code(NAIVE_TIME, "a time without offset was read as UTC", false),
    code(MANIFEST_LINE, "a line of a manifest is not used", false),
    code(MANIFEST_KEY, "a key of a manifest has no meaning here", false),
    code(MANIFEST_VALUE, "a value of a manifest is not used", false),
    code(BINARY, "the file is no text", true),
    code(FOREIGN_XML, "the XML document is no test report of a known format", true),
    code(XML_SYNTAX, "the document stops being XML", true),
    code(XML_MISMATCH, "an end tag closes no open element", true),
    code(XML_TOO_DEEP, "elements are nested too deep", true),
    code(XML_TOO_LONG, "one tag is longer than the limit", true),
    code(XML_TRAILING, "text outside the XML document is not read", false),
    code(TEXT_TOO_LONG, "a text is longer than the limit and was cut", false),
    code(INVALID_BYTES, "invalid bytes were read as U+FFFD", false),
    code(ATTEMPTS_UNKNOWN, "the file hides which try passed", false),
    code(RUN_FAILED, "the run failed outside its tests", false),
    code(RUN_UNFINISHED, "a test run has no summary, so unlisted tests are unknown", false),
    code(MORE, "more complaints than are kept", false),
];

const fn code(code: &'static str, meaning: &'static str, damaging: bool) -> Code {
    Code { code, meaning, damaging }
}

/// True where `code` marks the file it names as damaged.
pub fn is_damaging(code: &str) -> bool {
    CODES.iter().any(|known| known.code == code && known.damaging)
}

/// A complaint about `path` as a whole.
pub fn whole_file(path: &str, code: &'static str, text: impl Into<String>) -> Complaint {
    Complaint { path: path.to_owned(), line: 0, code, text: text.into() }
}

/// One line for a terminal or a log: `path:line: code: text`, scrubbed.
pub fn one_line(complaint: &Complaint) -> String {
    let place = match complaint.line {
        0 => complaint.path.clone(),
        line => format!("{}:{line}", complaint.path),
    };
    let text = format!("{place}: {}: {}", complaint.code, complaint.text);
    fate_trail::scrub::scrub_line(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_kebab_case() {
        for (at, known) in CODES.iter().enumerate() {
            assert!(known.code.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{}", known.code);
            assert!(CODES[..at].iter().all(|other| other.code != known.code), "{} twice", known.code);
        }
    }

    #[test]
    fn every_code_is_listed() {
        let named = regex::Regex::new(r#"\npub const [A-Z_]+: &str = "([a-z-]+)";"#).expect("a pattern");
        let codes: Vec<&str> = named
            .captures_iter(include_str!("complaint.rs"))
            .filter_map(|found| found.get(1))
            .map(|code| code.as_str())
            .collect();
        assert_eq!(codes.len(), CODES.len());
        assert!(codes.iter().all(|code| CODES.iter().any(|known| known.code == *code)));
    }

    #[test]
    fn a_line_says_where_and_what() {
        let complaint = Complaint { path: "a.tar!m".into(), line: 3, code: MANIFEST_LINE, text: "x".into() };
        assert_eq!(one_line(&complaint), "a.tar!m:3: manifest-line: x");
        assert_eq!(one_line(&whole_file("p", EMPTY, "y")), "p: empty: y");
    }
}
