//! What a console format is handed: one line at a time, wrapper and colours already gone.

use super::Collector;

/// One line of a log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// 1-based number in the file.
    pub(crate) number: u64,
    /// The text without CI wrapper, terminal escapes and line end. A line longer than
    /// [`crate::limits::LINE_MAX`] holds its head and its tail.
    pub(crate) text: &'a str,
    /// True where the middle of the line was dropped.
    pub(crate) truncated: bool,
    /// True where bytes of the line were not valid in the file's encoding and were replaced.
    pub(crate) repaired: bool,
}

/// A console format. Every reader sees every line that is not part of an embedded XML document,
/// in file order; a reader that meets nothing of its own adds nothing, not even a section.
pub(crate) trait LineReader {
    /// Takes one line.
    fn line(&mut self, line: &Line<'_>, out: &mut Collector);

    /// The file is over: whatever is still open is closed as far as it is determined.
    fn end(&mut self, out: &mut Collector);
}
