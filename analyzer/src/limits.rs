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

/// Unpacked bytes that are allowed at any ratio: small logs that repeat themselves pack very well.
pub const UNPACK_RATIO_FREE: u64 = 16 * 1024 * 1024;

/// Bytes that all members of one packed archive may unpack to together.
pub const ARCHIVE_UNPACKED_MAX: u64 = 64 * 1024 * 1024 * 1024;

/// Members of one archive that are read.
pub const ARCHIVE_ENTRIES_MAX: u64 = 1_000_000;

/// Bytes of all headers and long names before one member of a tar; they are held in memory.
pub const TAR_HEADERS_MAX: u64 = 1024 * 1024;

/// Bytes of a zip archive on standard input: its directory stands at the end, so it is held whole.
pub const ZIP_STDIN_MAX: u64 = 256 * 1024 * 1024;

/// Files taken from all PATHs together.
pub const FILES_MAX: usize = 5_000_000;

/// Depth of folders below a PATH.
pub const FOLDER_DEPTH_MAX: usize = 64;

/// Different stage tokens of all logs that `contract check` keeps.
pub const CONTRACT_TOKENS_MAX: usize = 1000;

/// Bytes of a list of pinned tokens; a larger file is no list.
pub const CONTRACT_LIST_BYTES_MAX: u64 = 1024 * 1024;

/// Bytes of one manifest; about a million runs.
pub const MANIFEST_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Complaints about one manifest; the rest is counted in a last one.
pub const MANIFEST_COMPLAINTS_MAX: usize = 20;

/// Files read at the same time.
pub const THREADS_MAX: usize = 8;

/// Complaints of one report; the rest is counted in a last one.
pub const COMPLAINTS_MAX: usize = 10_000;

/// Complaints with one code that are printed on standard error; the rest is counted in one line.
pub const COMPLAINTS_SHOWN_MAX: usize = 3;

/// Complaints kept for one file; the rest is counted in a last one.
pub const COMPLAINTS_PER_FILE_MAX: usize = 20;

const _: () = assert!(FAILURE_TEXT_MAX < LINE_MAX);
const _: () = assert!(SNIFF_BYTES <= LINE_MAX);
