//! `fate-report/1` as data. Names and their order are a contract: names may be added, none is
//! renamed or dropped; unknown is `null`, never 0; times are RFC 3339 in UTC with `Z`.

use serde::{Serialize, Serializer};

/// The schema's name.
pub const SCHEMA: &str = "fate-report/1";

/// A whole report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What was read.
    pub input: Input,
    /// Every test with a row, sorted by suite, then test.
    pub tests: Vec<Test>,
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Input {
    /// Files and archive members that were opened or should have been.
    pub files: u64,
    /// Distinct (run id, attempt).
    pub runs: u64,
    /// Distinct (run id, attempt, job, shard, suite, test).
    pub executions: u64,
    /// Files of no kind that is known, and files that could not be read.
    pub unrecognised_files: u64,
    /// What could not be read as it should.
    pub complaints: Vec<Complaint>,
}

/// One complaint.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Complaint {
    /// Path as given, `archive!member` inside an archive.
    pub path: String,
    /// 1-based line, 0 for the file as a whole.
    pub line: u64,
    /// Stable short code.
    pub code: &'static str,
    /// What is wrong, the broken rule and the remedy.
    pub text: String,
}

/// One test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Test {
    /// Its suite, `""` if unknown.
    pub suite: String,
    /// Its name.
    pub test: String,
    /// Executions in which it demonstrably ran.
    pub executed: u64,
    /// Of those, the ones with a try that did not pass.
    pub failed: u64,
    /// Of those, the ones that a later try turned green.
    pub flaky: u64,
    /// Reported, not executed.
    pub skipped: u64,
    /// Named without an outcome.
    pub unknown: u64,
    /// How the executions are known.
    pub evidence: EvidenceCounts,
    /// Where `rate` is null because passes are not listed: between which bounds it lies.
    pub rate_bracket: Option<Bracket>,
    /// Failed over executed.
    pub rate: Option<Rate>,
    /// Failed executions by what they are evidence of.
    pub failures: Failures,
    /// Windows in run order; they cover every execution once. Empty where nothing was executed.
    pub windows: Vec<Window>,
    /// Where the permutation or the rate changed, in run order.
    pub changepoints: Vec<Changepoint>,
    /// The last two windows against each other.
    pub comparison: Option<Comparison>,
    /// What would prove a fix.
    pub fix: Fix,
    /// The word.
    pub verdict: &'static str,
    /// One sentence a person can act on.
    pub why: String,
}

/// Executions by evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EvidenceCounts {
    /// The test itself reported an outcome.
    #[serde(rename = "E1")]
    pub e1: u64,
    /// A total of its suite counts passes that are not listed.
    #[serde(rename = "E2")]
    pub e2: u64,
    /// Only the colour of the job is known.
    #[serde(rename = "E3")]
    pub e3: u64,
}

/// Bounds of a rate that is not determined.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bracket {
    /// Failed over everything that may have been executed.
    #[serde(serialize_with = "rounded")]
    pub low: f64,
    /// Failed over what demonstrably was.
    #[serde(serialize_with = "rounded")]
    pub high: f64,
}

/// A rate with its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// Failed over executed.
    #[serde(serialize_with = "rounded")]
    pub value: f64,
    /// Lower end.
    #[serde(serialize_with = "rounded")]
    pub low: f64,
    /// Upper end.
    #[serde(serialize_with = "rounded")]
    pub high: f64,
    /// `wilson`.
    pub method: &'static str,
    /// 0.95.
    pub level: f64,
}

/// Failed executions by what they are evidence of; the four sum to `failed`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Failures {
    /// Equal multisets in another order, proven by the text.
    pub order: u64,
    /// An order failure is said or likely; the text does not prove it.
    pub order_suspected: u64,
    /// Elements were lost, duplicated or extra.
    pub lost_or_extra: u64,
    /// Anything else.
    pub other: u64,
}

/// Consecutive executions that are judged together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Window {
    /// Start of its first execution.
    pub from: Option<String>,
    /// Start of its last execution.
    pub to: Option<String>,
    /// `start`, `permutation` or `split`.
    pub cut_by: &'static str,
    /// Executions.
    pub executed: u64,
    /// Least number it can have, given where its boundaries can lie; equal to `executed_high` where they are exact.
    pub executed_low: u64,
    /// Greatest number it can have.
    pub executed_high: u64,
    /// Failed ones.
    pub failed: u64,
    /// Null where the test's rate is.
    pub rate: Option<Rate>,
    /// Most seen first.
    pub permutations: Vec<Permutation>,
    /// Distinct exact permutations.
    pub distinct: u64,
    /// Null unless `distinct` is 1.
    #[serde(serialize_with = "rounded_option")]
    pub posterior_single: Option<f64>,
    /// Null unless `distinct` is 1.
    #[serde(serialize_with = "rounded_option")]
    pub other_share_bound: Option<f64>,
    /// The word.
    pub verdict: &'static str,
    /// Independent exact observations: one for each (run id, permutation).
    pub observations: u64,
    /// One sentence why.
    pub why: String,
}

/// One permutation inside one window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Permutation {
    /// For each observed element its position in the expected order.
    pub ranks: Vec<u32>,
    /// Names as the first failure printed them.
    pub observed: Vec<String>,
    /// Names in the expected order, from the same failure.
    pub expected: Vec<String>,
    /// Failed executions that saw it.
    pub count: u64,
    /// Start of the first of them.
    pub first: Option<String>,
    /// Start of the last of them.
    pub last: Option<String>,
    /// False where the ranks are only a bound.
    pub exact: bool,
    /// Run id of the first of them.
    pub first_run: String,
    /// Run id of the last of them.
    pub last_run: String,
}

/// One change point. A `permutation` one has `p`, a `rate` one has `bf`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changepoint {
    /// `permutation` or `rate`.
    pub of: &'static str,
    /// `scan` or `given`.
    pub source: &'static str,
    /// Start of the first execution after it; for a given one the time as given.
    pub at: Option<String>,
    /// Where the 95 % interval of a found one begins; for a given one the time itself.
    pub low: Option<String>,
    /// Where it ends.
    pub high: Option<String>,
    /// Exact p of a permutation change.
    #[serde(skip_serializing_if = "Measure::absent")]
    pub p: Measure,
    /// Mean Bayes factor of a rate change.
    #[serde(skip_serializing_if = "Measure::absent")]
    pub bf: Measure,
    /// Run id of the last execution that shows the old behaviour: for a permutation the last failing one.
    pub run_before: Option<String>,
    /// Run id of the first execution that shows the new behaviour.
    pub run_after: Option<String>,
    /// Commit of `run_before`.
    pub commit_before: Option<String>,
    /// Commit of `run_after`.
    pub commit_after: Option<String>,
    /// Executions before it.
    pub executed_before: u64,
    /// True where `p` or `bf` passes its threshold (and, for a permutation, two failures stand on either side).
    pub accepted: bool,
    /// True where a window begins here.
    pub cuts_window: bool,
}

/// A number that belongs to one kind of entry only: absent, unknown (null) or known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// Not a property of this kind.
    Absent,
    /// Could not be computed.
    Unknown,
    /// The value.
    Known(f64),
}

impl Measure {
    fn absent(&self) -> bool {
        matches!(self, Measure::Absent)
    }

    /// The value, if known.
    pub fn value(self) -> Option<f64> {
        match self {
            Measure::Known(value) => Some(value),
            _ => None,
        }
    }
}

impl From<Option<f64>> for Measure {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Measure::Unknown, Measure::Known)
    }
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        rounded_option(&self.value(), serializer)
    }
}

/// The last two windows against each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Fisher's exact test, two-sided.
    #[serde(serialize_with = "rounded")]
    pub fisher_two_sided: f64,
    /// Posterior median of later rate over earlier rate.
    #[serde(serialize_with = "rounded")]
    pub ratio: f64,
    /// Lower end of its 95 % interval.
    #[serde(serialize_with = "rounded")]
    pub ratio_low: f64,
    /// Upper end.
    #[serde(serialize_with = "rounded")]
    pub ratio_high: f64,
    /// What may be said.
    pub reading: &'static str,
}

/// What would prove a fix; all executions pooled.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fix {
    /// Clean runs that the pooled rate would produce with 5 % probability only; null if nothing
    /// failed or the rate is not determined.
    pub clean_runs_needed_95: Option<u64>,
    /// Executions after the last failed one.
    pub clean_runs_seen: u64,
}

/// Significant digits of every number that is computed. Six are more than any of them deserves and
/// few enough to be the same on every machine.
const DIGITS: i32 = 6;
/// What an infinite number (a Bayes factor beyond range) is written as; JSON has no infinity.
const GREATEST: f64 = 1e300;

/// Rounds to `DIGITS` significant digits.
pub fn round(value: f64) -> f64 {
    if value == 0.0 || value.is_nan() {
        return value;
    }
    if value.is_infinite() {
        return GREATEST.copysign(value);
    }
    format!("{value:.*e}", DIGITS as usize - 1).parse().unwrap_or(value)
}

fn rounded<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    // NaN is written as null by serde_json.
    serializer.serialize_f64(round(*value))
}

fn rounded_option<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => rounded(value, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_kept() {
        assert_eq!(round(1.0 / 84.0), 0.0119048);
        assert_eq!(round(1.0825e-5), 1.0825e-5);
        assert_eq!(round(0.0), 0.0);
        assert_eq!(round(123_456_789.0), 123_457_000.0);
        assert_eq!(round(f64::INFINITY), 1e300);
    }

    #[test]
    fn a_measure_of_another_kind_is_left_out_and_an_unknown_one_is_null() {
        #[derive(Serialize)]
        struct Two {
            #[serde(skip_serializing_if = "Measure::absent")]
            p: Measure,
            #[serde(skip_serializing_if = "Measure::absent")]
            bf: Measure,
        }
        let text = |p, bf| serde_json::to_string(&Two { p, bf }).unwrap();
        assert_eq!(text(Measure::Unknown, Measure::Absent), r#"{"p":null}"#);
        assert_eq!(text(Measure::Absent, Measure::Known(20.5)), r#"{"bf":20.5}"#);
    }
}
