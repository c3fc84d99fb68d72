//! One `<testcase>` while it is open, and what it says when it closes.

use jiff::Timestamp;

use crate::ingest::ansi;
use crate::ingest::collect::cut;
use crate::limits;
use crate::model::Outcome;

/// What a child element of a test case says about it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Failure,
    Error,
    Skipped,
    /// A failed try of a test that passed in the end.
    FlakyFailure,
    FlakyError,
    /// A further failed try of a test that never passed.
    RerunFailure,
    RerunError,
}

impl Kind {
    /// The kind that an element name stands for.
    pub(super) fn of(name: &str) -> Option<Kind> {
        Some(match name {
            "failure" => Kind::Failure,
            "error" => Kind::Error,
            "skipped" | "skip" | "ignored" | "disabled" | "pending" | "todo" => Kind::Skipped,
            "flakyFailure" => Kind::FlakyFailure,
            "flakyError" => Kind::FlakyError,
            "rerunFailure" => Kind::RerunFailure,
            "rerunError" => Kind::RerunError,
            _ => return None,
        })
    }

    fn outcome(self) -> Outcome {
        match self {
            Kind::Failure | Kind::FlakyFailure | Kind::RerunFailure => Outcome::Failed,
            Kind::Error | Kind::FlakyError | Kind::RerunError => Outcome::Errored,
            Kind::Skipped => Outcome::Skipped,
        }
    }
}

/// One such child.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) kind: Kind,
    pub(super) message: String,
    pub(super) type_name: String,
    pub(super) body: String,
    /// Output inside the child itself, where a rerun keeps its own.
    pub(super) output: String,
    pub(super) seconds: Option<f64>,
    pub(super) started_at: Option<Timestamp>,
}

impl Problem {
    pub(super) fn new(kind: Kind) -> Problem {
        Problem {
            kind,
            message: String::new(),
            type_name: String::new(),
            body: String::new(),
            output: String::new(),
            seconds: None,
            started_at: None,
        }
    }

    fn outcome(&self) -> Outcome {
        // nextest writes a time-out as a failure of its own type; no other mark is as firm.
        if self.type_name == "test timeout" { Outcome::TimedOut } else { self.kind.outcome() }
    }

    /// Message and body as one text; the message is left out where the body repeats it.
    fn text(&self) -> String {
        let message = self.message.trim();
        let body = self.body.trim_matches('\n');
        if message.is_empty() || body.contains(message) {
            body.to_owned()
        } else if body.trim().is_empty() {
            message.to_owned()
        } else {
            format!("{message}\n{body}")
        }
    }
}

/// One try, as a row will show it.
#[derive(Debug)]
pub(super) struct Try {
    pub(super) outcome: Outcome,
    pub(super) failure: Option<String>,
    /// Where else the order of a failure may stand: output of the try, then of the case.
    pub(super) outputs: Vec<String>,
    pub(super) seconds: Option<f64>,
    pub(super) started_at: Option<Timestamp>,
}

/// An open test case.
#[derive(Debug, Default)]
pub(super) struct Case {
    pub(super) line: u64,
    pub(super) name: String,
    pub(super) class: String,
    pub(super) status: String,
    pub(super) result: String,
    pub(super) seconds: Option<f64>,
    pub(super) started_at: Option<Timestamp>,
    pub(super) problems: Vec<Problem>,
    pub(super) out: String,
    pub(super) err: String,
    pub(super) truncated: bool,
    pub(super) repaired: bool,
    /// The document was cut inside this case.
    pub(super) open_ended: bool,
}

impl Case {
    /// What the case as a whole ended as: error over failure over skipped; a case that says
    /// nothing passed, unless it was cut off before it could say anything.
    pub(super) fn outcome(&self) -> Outcome {
        let has = |kind: Kind| self.problems.iter().find(|p| p.kind == kind);
        let failed = has(Kind::Error).or_else(|| has(Kind::Failure));
        if let Some(problem) = failed {
            return problem.outcome();
        }
        if has(Kind::Skipped).is_some() || self.marked_not_run() {
            return Outcome::Skipped;
        }
        if self.flaky() {
            return Outcome::Passed;
        }
        // Reruns without the first failure: it failed every time.
        if let Some(rerun) = self.problems.first() {
            return rerun.outcome();
        }
        if self.open_ended { Outcome::Unknown } else { Outcome::Passed }
    }

    /// True where a failed try was followed by a passed one and nothing calls that a failure.
    pub(super) fn flaky(&self) -> bool {
        let has = |kinds: &[Kind]| self.problems.iter().any(|p| kinds.contains(&p.kind));
        has(&[Kind::FlakyFailure, Kind::FlakyError]) && !has(&[Kind::Failure, Kind::Error, Kind::Skipped])
    }

    /// `status="notrun"` and its like say that a test was not run; nothing else in an attribute
    /// is believed.
    fn marked_not_run(&self) -> bool {
        let says = |value: &str| {
            ["notrun", "not run", "disabled", "skipped", "ignored", "pending", "suppressed"]
                .iter()
                .any(|word| value.eq_ignore_ascii_case(word))
        };
        says(&self.status) || says(&self.result)
    }

    /// The tries of this case in the order in which they ran: failed tries before the passed one,
    /// the failure before its reruns.
    pub(super) fn tries(&mut self) -> Vec<Try> {
        let outcome = self.outcome();
        self.clean();
        let problems = std::mem::take(&mut self.problems);
        let of = |kinds: &[Kind]| problems.iter().filter(|p| kinds.contains(&p.kind)).collect::<Vec<_>>();
        let mut tries = Vec::new();
        for problem in of(&[Kind::FlakyFailure, Kind::FlakyError]) {
            tries.push(self.one(problem.outcome(), &[problem]));
        }
        let main = of(&[Kind::Error, Kind::Failure]);
        let reruns = of(&[Kind::RerunFailure, Kind::RerunError]);
        if !main.is_empty() || reruns.is_empty() || outcome == Outcome::Skipped {
            let shown = if main.is_empty() { of(&[Kind::Skipped]) } else { main };
            tries.push(self.one(outcome, &shown));
        }
        for problem in reruns {
            tries.push(self.one(problem.outcome(), &[problem]));
        }
        tries
    }

    fn one(&self, outcome: Outcome, problems: &[&Problem]) -> Try {
        let text = problems.iter().map(|p| p.text()).filter(|t| !t.is_empty()).collect::<Vec<_>>().join("\n");
        let own = matches!(problems, [p] if !matches!(p.kind, Kind::Failure | Kind::Error | Kind::Skipped));
        let mut outputs: Vec<String> = problems.iter().map(|p| p.output.clone()).collect();
        if !own && outcome.not_passed() {
            outputs.extend([self.out.clone(), self.err.clone()]);
        }
        outputs.retain(|o| !o.trim().is_empty());
        let first = problems.first();
        // Rust's harness and others leave the child empty and the panic in the output.
        let text = if text.is_empty() { outputs.join("\n") } else { text };
        Try {
            outcome,
            failure: (outcome.not_passed() || !text.is_empty()).then_some(text),
            outputs,
            seconds: first.and_then(|p| p.seconds).or(if own { None } else { self.seconds }),
            started_at: first.and_then(|p| p.started_at).or(if own { None } else { self.started_at }),
        }
    }

    fn clean(&mut self) {
        let texts = self.problems.iter_mut().flat_map(|p| [&mut p.body, &mut p.output]);
        for text in texts.chain([&mut self.out, &mut self.err]) {
            self.repaired |= ansi::clean(text);
        }
    }
}

/// Appends `text` to `to` as far as there is room; true where something was left out.
pub(crate) fn append(to: &mut String, text: &str) -> bool {
    let room = limits::FAILURE_TEXT_MAX.saturating_sub(to.len());
    if text.len() <= room {
        to.push_str(text);
        return false;
    }
    let mut head = text[..floor_boundary(text, room)].to_owned();
    cut(&mut head, room);
    to.push_str(&head);
    true
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
