//! Every limit of the analyzer in one place, each with its unit and its reason.

/// Bytes of one failure's text that are kept. Enough for two sequences of thousands of elements;
/// the rest is dropped and the result flagged `truncated`.
pub const FAILURE_TEXT_MAX: usize = 256 * 1024;

/// Bytes of one log line that are looked at; of a longer line the head and the tail are kept.
pub const LINE_MAX: usize = 1024 * 1024;

/// Elements of one recovered sequence. A longer list is suspected, not proven.
pub const SEQUENCE_MAX: usize = 10_000;

/// Depth of nested XML elements.
pub const XML_DEPTH_MAX: usize = 256;

/// Bytes of one XML token. The middle of longer text is dropped; a longer tag ends the document.
pub const XML_TOKEN_MAX: usize = 16 * 1024 * 1024;

/// Failures and reruns of one XML test case that are kept.
pub const PROBLEMS_PER_CASE_MAX: usize = 64;

/// Bytes of one XML document inside a log; a longer one is read as far as this.
pub const EMBEDDED_XML_MAX: usize = 64 * 1024 * 1024;

/// Bytes of one file that are examined to find out what it is.
pub const SNIFF_BYTES: usize = 64 * 1024;

/// Bytes that one file or archive member may unpack to.
pub const UNPACKED_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// Unpacked bytes for each packed byte; more is taken for a bomb.
pub const UNPACK_RATIO_MAX: u64 = 200;

/// Complaints kept for one file; the rest is counted in a last one.
pub const COMPLAINTS_PER_FILE_MAX: usize = 20;

const _: () = assert!(FAILURE_TEXT_MAX < LINE_MAX);
const _: () = assert!(SNIFF_BYTES <= LINE_MAX);
