//! Manifests `runs.ndjson` and `runs.csv`: one line for each file, folder or glob, saying which run it is.

use jiff::Timestamp;
use serde_json::Value;

use super::matching::{Matching, MatchingBuilder};
use super::parse_time;
use crate::ingest::decode_whole;
use crate::model::Complaint;
use crate::source::{MEMBER_SEPARATOR, ManifestText};
use crate::{complaint, limits};

/// Columns that mean something.
const COLUMNS: [&str; 9] =
    ["path", "run_id", "attempt", "job", "shard", "started_at", "commit", "branch", "conclusion"];

/// What one line says about a run; `None` = not said.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Record {
    /// The CI system's id of the run.
    pub run_id: Option<String>,
    /// Rerun by CI, 1-based.
    pub attempt: Option<u32>,
    /// Name of the job.
    pub job: Option<String>,
    /// Name or number of the shard.
    pub shard: Option<String>,
    /// Start of the run.
    pub started_at: Option<Timestamp>,
    /// Commit under test.
    pub commit: Option<String>,
    /// Branch under test.
    pub branch: Option<String>,
    /// CI's own conclusion.
    pub conclusion: Option<String>,
}

impl Record {
    /// Takes from `other` what is not known yet.
    pub(super) fn fill_from(&mut self, other: &Record) {
        fn fill<T: Clone>(have: &mut Option<T>, give: &Option<T>) {
            if have.is_none() {
                have.clone_from(give);
            }
        }
        fill(&mut self.run_id, &other.run_id);
        fill(&mut self.attempt, &other.attempt);
        fill(&mut self.job, &other.job);
        fill(&mut self.shard, &other.shard);
        fill(&mut self.started_at, &other.started_at);
        fill(&mut self.commit, &other.commit);
        fill(&mut self.branch, &other.branch);
        fill(&mut self.conclusion, &other.conclusion);
    }
}

/// One manifest, read.
#[derive(Clone, Debug, Default)]
pub struct Manifest {
    base: String,
    records: Vec<Record>,
    matching: Matching,
}

impl Manifest {
    /// Reads a manifest; lines that cannot be used are complained about and left out.
    pub fn read(text: &ManifestText) -> (Manifest, Vec<Complaint>) {
        let mut reader = Reader::new(&text.path);
        // Windows PowerShell redirects in UTF-16, spreadsheets save with a byte order mark.
        let bytes = decode_whole(&text.bytes);
        if text.path.ends_with(".csv") {
            reader.csv(&bytes);
        } else {
            reader.ndjson(&bytes);
        }
        reader.finish()
    }

    /// The folder the manifest stands in, with its closing separator; `""` for the current one.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Fills what the manifest says about the file shown as `path`. Of several lines that match,
    /// the first that has a field gives it.
    pub(super) fn fill(&self, path: &str, record: &mut Record) {
        let Some(relative) = path.strip_prefix(&self.base) else { return };
        for line in self.matching.lines(relative) {
            record.fill_from(&self.records[line]);
        }
    }
}

struct Reader<'a> {
    path: &'a str,
    manifest: Manifest,
    paths: MatchingBuilder,
    complaints: Vec<Complaint>,
    dropped: u64,
    unknown_keys: Vec<String>,
    naive: Option<(u64, u64)>,
}

/// A line that is not used, and why.
type Unusable = String;

impl<'a> Reader<'a> {
    fn new(path: &'a str) -> Reader<'a> {
        let end = path.rfind(['/', MEMBER_SEPARATOR]).map_or(0, |at| at + 1);
        let manifest = Manifest { base: path[..end].to_owned(), ..Manifest::default() };
        Reader {
            path,
            manifest,
            paths: MatchingBuilder::default(),
            complaints: Vec::new(),
            dropped: 0,
            unknown_keys: Vec::new(),
            naive: None,
        }
    }

    fn complain(&mut self, line: u64, code: &'static str, text: String) {
        if self.complaints.len() < limits::MANIFEST_COMPLAINTS_MAX {
            self.complaints.push(Complaint { path: self.path.to_owned(), line, code, text });
        } else {
            self.dropped += 1;
        }
    }

    fn ndjson(&mut self, bytes: &[u8]) {
        for (at, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
            let number = at as u64 + 1;
            if line.trim_ascii().is_empty() {
                continue;
            }
            match serde_json::from_slice::<serde_json::Map<String, Value>>(line) {
                Ok(object) => {
                    let fields = object.into_iter().map(|(key, value)| (key, as_text(value)));
                    self.line(number, fields);
                }
                Err(error) => {
                    let text = format!(
                        "is no JSON object, one of which stands on each line: {}; the line is not used",
                        without_place(&error)
                    );
                    self.complain(number, complaint::MANIFEST_LINE, text);
                }
            }
        }
    }

    fn csv(&mut self, bytes: &[u8]) {
        let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(bytes);
        let header: Vec<String> = match reader.byte_headers() {
            Ok(header) => header.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
            Err(error) => {
                return self.complain(1, complaint::MANIFEST_LINE, format!("has no header line: {error}"));
            }
        };
        if !header.iter().any(|name| name == "path") {
            let text =
                "the header names no column `path`; without it no line says what it is about".to_owned();
            return self.complain(1, complaint::MANIFEST_LINE, text);
        }
        for record in reader.into_byte_records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    let line = error.position().map_or(0, csv::Position::line);
                    self.complain(line, complaint::MANIFEST_LINE, format!("is no CSV: {error}"));
                    continue;
                }
            };
            let number = record.position().map_or(0, csv::Position::line);
            if record.len() != header.len() {
                let text = format!(
                    "has {} cells where the header has {}; the line is not used, quote cells that hold commas",
                    record.len(),
                    header.len()
                );
                self.complain(number, complaint::MANIFEST_LINE, text);
                continue;
            }
            let cells = record.iter().map(|cell| Ok(Some(String::from_utf8_lossy(cell).into_owned())));
            self.line(number, header.iter().cloned().zip(cells));
        }
    }

    fn line(
        &mut self,
        number: u64,
        fields: impl Iterator<Item = (String, Result<Option<String>, Unusable>)>,
    ) {
        let mut record = Record::default();
        let mut path = None;
        for (key, value) in fields {
            if !COLUMNS.contains(&key.as_str()) {
                self.unknown_key(number, key);
                continue;
            }
            let value = match value {
                Ok(value) => value.filter(|text| !text.is_empty()),
                Err(what) => {
                    self.complain(
                        number,
                        complaint::MANIFEST_VALUE,
                        format!(
                            "`{key}` is {what} where a text or number is expected; the value is not used"
                        ),
                    );
                    continue;
                }
            };
            let Some(value) = value else { continue };
            if key == "path" {
                path = Some(value);
            } else if let Err(text) = self.field(number, &key, value, &mut record) {
                return self.complain(number, complaint::MANIFEST_LINE, text);
            }
        }
        let Some(path) = path else {
            let text = "has no `path`, so it does not say what it is about; the line is not used".to_owned();
            return self.complain(number, complaint::MANIFEST_LINE, text);
        };
        match self.paths.add(&path, self.manifest.records.len()) {
            Ok(()) => self.manifest.records.push(record),
            Err(reason) => {
                self.complain(number, complaint::MANIFEST_LINE, format!("{reason}; the line is not used"));
            }
        }
    }

    /// Takes one known field; an error makes the line unusable.
    fn field(&mut self, number: u64, key: &str, value: String, record: &mut Record) -> Result<(), Unusable> {
        match key {
            "run_id" => record.run_id = Some(value),
            "attempt" => match value.parse::<u32>() {
                Ok(attempt @ 1..) => record.attempt = Some(attempt),
                _ => {
                    return Err(format!(
                        "`attempt` is `{value}` where a whole number from 1 is expected; the line is not used"
                    ));
                }
            },
            "job" => record.job = Some(value),
            "shard" => record.shard = Some(value),
            "started_at" => match parse_time(&value) {
                Ok(time) => {
                    record.started_at = Some(time.at);
                    if time.naive {
                        let (first, count) = self.naive.unwrap_or((number, 0));
                        self.naive = Some((first, count + 1));
                    }
                }
                Err(error) => {
                    self.complain(
                        number,
                        complaint::MANIFEST_VALUE,
                        format!("`started_at`: {error}; the value is not used"),
                    );
                }
            },
            "commit" => record.commit = Some(value),
            "branch" => record.branch = Some(value),
            _ => record.conclusion = Some(value),
        }
        Ok(())
    }

    fn unknown_key(&mut self, number: u64, key: String) {
        if self.unknown_keys.contains(&key) || self.unknown_keys.len() > limits::MANIFEST_COMPLAINTS_MAX {
            return;
        }
        let text = format!("`{key}` is none of {}; lines with it are used without it", COLUMNS.join(", "));
        self.complain(number, complaint::MANIFEST_KEY, text);
        self.unknown_keys.push(key);
    }

    fn finish(mut self) -> (Manifest, Vec<Complaint>) {
        if let Some((first, count)) = self.naive {
            let text =
                format!("{count} of the times give no offset and were read as UTC; add Z or the offset");
            self.complain(first, complaint::NAIVE_TIME, text);
        }
        match std::mem::take(&mut self.paths).build() {
            Ok(matching) => self.manifest.matching = matching,
            Err(reason) => {
                self.complain(0, complaint::MANIFEST_LINE, format!("{reason}; the manifest is not used"));
                self.manifest.records.clear();
            }
        }
        if self.dropped > 0 {
            let text = format!("{} more complaints about this manifest", self.dropped);
            self.complaints.push(complaint::whole_file(self.path, complaint::MORE, text));
        }
        (self.manifest, self.complaints)
    }
}

/// A JSON value as the text of a cell; a number keeps its digits.
fn as_text(value: Value) -> Result<Option<String>, Unusable> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        Value::Number(number) => Ok(Some(number.to_string())),
        Value::Bool(_) => Err("a truth value".into()),
        Value::Array(_) => Err("a list".into()),
        Value::Object(_) => Err("an object".into()),
    }
}

/// The error without the parser's own `at line 1 column N`, which would contradict our line.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}
