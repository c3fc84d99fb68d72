//! One row per try, packed: with a million executions every byte of a row is a megabyte.

use std::sync::Arc;

use super::{Histories, Template};
use crate::model::{Evidence, Outcome, RunMeta, TestId, TestResult};
use crate::order::OrderFinding;

/// `Packed::detail` of a row without one.
const NO_DETAIL: u32 = u32::MAX;
/// `Packed::at` of a row without a time of its own.
const NO_TIME: i64 = i64::MIN;

/// A row as it is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed {
    /// Start of the try in microseconds since 1970, [`NO_TIME`] if not reported.
    at: i64,
    /// Index of the run.
    pub(super) run: u32,
    /// Index of the test.
    pub(super) test: u32,
    /// Index of the file.
    pub(super) file: u32,
    /// 1-based line in the file, saturated.
    pub(super) line: u32,
    /// Index of the failure's detail, [`NO_DETAIL`] for none.
    detail: u32,
    /// Duration in seconds, NaN if not reported.
    seconds: f32,
    /// 1-based try, saturated.
    pub(super) try_number: u16,
    /// How it ended.
    pub(super) outcome: Outcome,
    /// How that is known.
    pub(super) evidence: Evidence,
    /// Bits of [`Flag`].
    flags: u8,
}

const _: () = assert!(size_of::<Packed>() == 40);

/// Bits of `Packed::flags`.
enum Flag {}

impl Flag {
    const TRUNCATED: u8 = 1;
    const REPAIRED: u8 = 2;
    const TRY_UNKNOWN: u8 = 4;
}

/// What a failed row carries beside its outcome.
#[derive(Clone, Debug, Default)]
pub(super) struct Detail {
    /// The order it saw.
    pub(super) finding: Option<Arc<OrderFinding>>,
    /// What its text looks like.
    pub(super) template: Option<Arc<Template>>,
}

impl Packed {
    /// Packs one result; `detail` is an index into the table of details. Run and file are set later.
    pub(super) fn new(result: &TestResult, test: u32, detail: Option<u32>) -> Self {
        let mut flags = 0;
        for (set, bit) in [
            (result.flags.truncated, Flag::TRUNCATED),
            (result.flags.repaired, Flag::REPAIRED),
            (result.flags.attempts_unknown, Flag::TRY_UNKNOWN),
        ] {
            flags |= if set { bit } else { 0 };
        }
        Self {
            at: result.started_at.map_or(NO_TIME, jiff::Timestamp::as_microsecond),
            run: 0,
            test,
            file: 0,
            line: u32::try_from(result.line).unwrap_or(u32::MAX),
            detail: detail.unwrap_or(NO_DETAIL),
            // f32 keeps seven digits, more than any runner prints.
            seconds: result.seconds.map_or(f32::NAN, |seconds| seconds as f32),
            try_number: u16::try_from(result.try_number).unwrap_or(u16::MAX),
            outcome: result.outcome,
            evidence: result.evidence,
            flags,
        }
    }

    /// Index of the detail, if there is one.
    pub(super) fn detail(&self) -> Option<usize> {
        (self.detail != NO_DETAIL).then_some(self.detail as usize)
    }

    /// Marks the row as having lost something to a limit.
    pub(super) fn set_truncated(&mut self) {
        self.flags |= Flag::TRUNCATED;
    }

    /// Takes over what `other`, a report of the same try from another file, knows better.
    /// `richer` says that the other's failure text shows more.
    pub(super) fn absorb(&mut self, other: &Self, richer: bool) {
        if richer {
            (self.file, self.line, self.detail) = (other.file, other.line, other.detail);
        }
        if self.outcome == Outcome::Unknown
            || (other.outcome != Outcome::Unknown && other.outcome > self.outcome)
        {
            self.outcome = other.outcome;
        }
        self.evidence = self.evidence.min(other.evidence);
        if self.seconds.is_nan() {
            self.seconds = other.seconds;
        }
        if self.at == NO_TIME {
            self.at = other.at;
        }
        self.flags |= other.flags;
    }
}

/// All rows of one invocation, sorted by test, run and try.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub(super) packed: Vec<Packed>,
    pub(super) details: Vec<Detail>,
    pub(super) files: Vec<String>,
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.packed.len()
    }

    /// True where nothing was reported.
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }
}

/// One try, unpacked for reading.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Its run.
    pub run: &'a RunMeta,
    /// Its test.
    pub id: &'a TestId,
    /// Which try of the execution, 1-based.
    pub try_number: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// How that is known.
    pub evidence: Evidence,
    /// Duration in seconds.
    pub seconds: Option<f64>,
    /// Start of the try where reported, else of the run; microseconds since 1970, UTC.
    pub at: Option<i64>,
    /// Path of the file that told most about it.
    pub file: &'a str,
    /// 1-based line there.
    pub line: u32,
    /// Template of the failure text.
    pub template: Option<&'a Template>,
    /// The order it saw.
    pub finding: Option<&'a OrderFinding>,
    /// Something was cut at a limit or by the end of the file.
    pub truncated: bool,
    /// Illegal bytes were replaced to read it.
    pub repaired: bool,
    /// The file hides which try it is.
    pub try_unknown: bool,
}

impl Histories {
    /// Every try, by test (suite, then name), run and try.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.rows.packed.iter().map(|packed| {
            let run = &self.runs[packed.run as usize];
            let detail = packed.detail().map(|index| &self.rows.details[index]);
            Row {
                run,
                id: &self.tests[packed.test as usize].id,
                try_number: u32::from(packed.try_number),
                outcome: packed.outcome,
                evidence: packed.evidence,
                seconds: (!packed.seconds.is_nan()).then(|| shortest(packed.seconds)),
                at: (packed.at != NO_TIME)
                    .then_some(packed.at)
                    .or_else(|| run.started_at.map(jiff::Timestamp::as_microsecond)),
                file: &self.rows.files[packed.file as usize],
                line: packed.line,
                template: detail.and_then(|detail| detail.template.as_deref()),
                finding: detail.and_then(|detail| detail.finding.as_deref()),
                truncated: packed.flags & Flag::TRUNCATED != 0,
                repaired: packed.flags & Flag::REPAIRED != 0,
                try_unknown: packed.flags & Flag::TRY_UNKNOWN != 0,
            }
        })
    }
}

/// The double with the same shortest decimal text, so that 0.012 does not become 0.012000000104.
fn shortest(seconds: f32) -> f64 {
    seconds.to_string().parse().unwrap_or_else(|_| f64::from(seconds))
}
