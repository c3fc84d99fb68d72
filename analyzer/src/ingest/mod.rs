//! From the bytes of one file to its results: decode, find out what it is, strip the CI wrapper,
//! read every section, list every complaint.

mod ansi;
mod collect;
mod console;
mod decode;
mod embedded;
mod identity;
mod junit;
mod libtest;
mod line;
mod lines;
mod read;
mod time;
mod trails;
mod trx;
mod vstest;
mod wrapper;
mod xml;
mod xunit;

#[cfg(test)]
mod tests;

pub use read::read;
pub use trails::each_trail;

pub(crate) use collect::Collector;
pub(crate) use decode::whole as decode_whole;
pub(crate) use line::{Line, LineReader};

use crate::model::{Complaint, Counts, Evidence, TestResult, Unlisted};

/// A format a section is written in. The names are a contract of `inspect`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Format {
    /// JUnit XML in any dialect.
    Junit,
    /// Visual Studio test results.
    Trx,
    /// Console output of `dotnet test` (VSTest).
    VstestConsole,
    /// Console output of the xUnit runners.
    XunitConsole,
    /// Text of Rust's built-in test harness.
    Libtest,
}

impl Format {
    /// The spelling of `inspect`.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Junit => "junit",
            Format::Trx => "trx",
            Format::VstestConsole => "vstest-console",
            Format::XunitConsole => "xunit-console",
            Format::Libtest => "libtest",
        }
    }
}

/// What CI put around the lines.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Wrapper {
    /// Nothing.
    #[default]
    None,
    /// GitHub Actions: a UTC stamp before every line, `##[…]` markers.
    Actions,
}

impl Wrapper {
    /// The spelling of `inspect`.
    pub fn as_str(self) -> &'static str {
        match self {
            Wrapper::None => "none",
            Wrapper::Actions => "actions",
        }
    }
}

/// One stretch of a file in one format.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Section {
    /// Format.
    pub format: Format,
    /// Which producer's variety, where the format has several.
    pub dialect: Option<&'static str>,
    /// What stood around it.
    pub wrapper: Wrapper,
}

/// A fate trail found in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundTrail {
    /// 1-based line.
    pub line: u64,
    /// The trail.
    pub trail: fate_trail::Trail,
}

/// Everything one file said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileReport {
    /// Path as given, `archive!member` inside an archive.
    pub path: String,
    /// Sections in the order in which they stand, one for each (format, dialect, wrapper).
    pub sections: Vec<Section>,
    /// One for each try that the file reports.
    pub results: Vec<TestResult>,
    /// Passes that a summary counts and no line lists.
    pub unlisted: Vec<Unlisted>,
    /// The file's own counts: summary lines for consoles, elements for XML.
    pub counts: Counts,
    /// The weakest evidence among those counts; `None` where nothing was counted.
    pub evidence: Option<Evidence>,
    /// Trails.
    pub trails: Vec<FoundTrail>,
    /// Earliest time that the file itself states.
    pub started_at: Option<jiff::Timestamp>,
    /// What could not be read.
    pub complaints: Vec<Complaint>,
}

impl FileReport {
    /// True where at least one section was found; a file of an unknown kind is `unrecognised`.
    pub fn recognised(&self) -> bool {
        !self.sections.is_empty()
    }
}
