//! The plain values that every part of the analyzer speaks in: runs, tests, tries, outcomes, complaints.
//!
//! Nothing in here knows a file format, a statistic or a report; parsers produce these values and
//! everything after the parsers sees nothing else.

use crate::order::OrderFinding;

/// What one try of one test ended as.
///
/// The order of the variants is the order of severity used where several phases of one try
/// report different outcomes: the later variant of `Passed < Failed < Errored` wins.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Outcome {
    /// The test itself reported success.
    Passed,
    /// An assertion of the test did not hold.
    Failed,
    /// Something other than an assertion ended the try: an error in set-up, a crash of the test.
    Errored,
    /// Reported, but not executed: ignored, pending, disabled, inconclusive.
    Skipped,
    /// Ended by a time limit; counts as failed in totals.
    TimedOut,
    /// The file names the test but does not say how it ended; never read as passed.
    Unknown,
}

impl Outcome {
    /// True where the test demonstrably ran to an end of its own or was stopped while running.
    pub fn executed(self) -> bool {
        matches!(self, Outcome::Passed | Outcome::Failed | Outcome::Errored | Outcome::TimedOut)
    }

    /// True where the try ran and did not pass.
    pub fn not_passed(self) -> bool {
        matches!(self, Outcome::Failed | Outcome::Errored | Outcome::TimedOut)
    }

    /// The spelling used in rows and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Errored => "errored",
            Outcome::Skipped => "skipped",
            Outcome::TimedOut => "timed_out",
            Outcome::Unknown => "unknown",
        }
    }
}

/// How an outcome is known.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Evidence {
    /// The test itself was reported with an outcome.
    E1,
    /// Only totals of its suite were reported.
    E2,
    /// Only the colour of the job is known.
    E3,
}

impl Evidence {
    /// `E1`, `E2` or `E3`.
    pub fn as_str(self) -> &'static str {
        match self {
            Evidence::E1 => "E1",
            Evidence::E2 => "E2",
            Evidence::E3 => "E3",
        }
    }
}

/// Which run a result belongs to. `attempt` is a rerun by CI; a repetition inside a run is a *try*.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RunKey {
    /// The CI system's id of the run; for a file without one, its path.
    pub run_id: String,
    /// 1-based; 1 where nothing says otherwise.
    pub attempt: u32,
    /// Name of the CI job, `""` if unknown.
    pub job: String,
    /// Name or number of the shard, `""` if unknown.
    pub shard: String,
}

/// What is known of a run beside its key.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RunMeta {
    /// The key.
    pub key: RunKey,
    /// Start of the run in UTC, if any source gave it.
    pub started_at: Option<jiff::Timestamp>,
    /// Commit under test.
    pub commit: Option<String>,
    /// Branch under test.
    pub branch: Option<String>,
    /// CI's own conclusion (`success`, `failure`, …); shown, never counted.
    pub conclusion: Option<String>,
}

/// A test across all runs: suite and name as design rules of `docs/identity.md` fix them.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TestId {
    /// Assembly, binary or package without path, extension, framework or hash; `""` matches any.
    pub suite: String,
    /// Class, `.`, name with arguments; for libtest the path.
    pub test: String,
}

/// Marks on one result.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Flags {
    /// Something of the result was cut at a limit or by the end of the file.
    pub truncated: bool,
    /// Illegal bytes were replaced to read it.
    pub repaired: bool,
    /// The file hides which try this is.
    pub attempts_unknown: bool,
}

/// One try of one test as one file reported it.
#[derive(Clone, Debug, PartialEq)]
pub struct TestResult {
    /// Which test.
    pub id: TestId,
    /// How it ended.
    pub outcome: Outcome,
    /// How that is known.
    pub evidence: Evidence,
    /// Which try inside the run, 1-based.
    pub try_number: u32,
    /// Duration of the try in seconds, if reported.
    pub seconds: Option<f64>,
    /// Start of the try, if reported.
    pub started_at: Option<jiff::Timestamp>,
    /// 1-based line of the file where the result stands.
    pub line: u64,
    /// Text of the failure (message, then body), bounded by [`crate::limits::FAILURE_TEXT_MAX`].
    pub failure: Option<String>,
    /// The order the failure saw, if its text shows one.
    pub order: Option<OrderFinding>,
    /// Marks.
    pub flags: Flags,
}

/// Totals of one suite (or of one whole file) as a summary line gave them. `None` = not determined.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// Sum of the following five.
    pub total: Option<u64>,
    /// Passed, flaky ones included.
    pub passed: Option<u64>,
    /// Failed, timed-out ones included.
    pub failed: Option<u64>,
    /// Errored.
    pub errored: Option<u64>,
    /// Skipped, ignored, pending, inconclusive.
    pub skipped: Option<u64>,
    /// Reported without an outcome.
    pub unknown: Option<u64>,
    /// Passed after at least one failed try; contained in `passed`.
    pub flaky: Option<u64>,
}

/// Passes that a summary counts but no line lists.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unlisted {
    /// The suite whose summary it is, `""` if unnamed.
    pub suite: String,
    /// Passed tests that were counted but not listed.
    pub passed: u64,
}

/// Something that could not be read as it should; one bad place never costs the rest.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Complaint {
    /// Path as given by the user, `archive!member` inside an archive.
    pub path: String,
    /// 1-based line, 0 for the file as a whole.
    pub line: u64,
    /// Stable short code in kebab case, listed in [`crate::complaint`].
    pub code: &'static str,
    /// What is wrong, which rule it breaks and what to do, in one sentence without a final stop.
    pub text: String,
}
