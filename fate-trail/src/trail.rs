//! The owned trail: one delivery's stages in order, as read from a recorder or from text.

use std::fmt;

use crate::level::Breach;
use crate::stage::{Fate, StageId};
use crate::text::Value;

/// One delivery's way, or a hub's own events (id `hub`).
///
/// `Display` writes the one-line text form of [`crate::text`].
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Trail {
    /// Id of the delivery; `hub` for a hub's own trail; empty where the text did not say.
    pub id: String,
    /// When the first stage was recorded, in microseconds since the Unix epoch.
    pub at: Option<i64>,
    /// The stages that were kept, oldest first.
    pub stages: Vec<Stage>,
    /// Stages that were not kept.
    pub gap: Option<Gap>,
    /// What became of the replies, where the producer followed them.
    pub replies: Vec<Reply>,
    /// One sentence for a person.
    pub verdict: Option<String>,
}

/// The way of one reply, recorded on the trail of its request.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Reply {
    /// 1 for the first reply.
    pub number: u32,
    /// The stages that were kept; offsets count from the first stage of the request.
    pub stages: Vec<Stage>,
    /// Stages that were not kept.
    pub gap: Option<Gap>,
}

/// One stage of a trail.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Stage {
    /// The token; one that this build does not know is kept as it was read.
    pub token: String,
    /// The hub after the `@`; empty where the text did not say.
    pub hub: String,
    /// Microseconds since the trail's first stage; `None` where no clock was read.
    pub offset: Option<u64>,
    /// What the stage carried, in order.
    pub details: Vec<(String, Value)>,
}

/// Stages missing in the middle of a trail.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Gap {
    /// How many of the kept stages come before it.
    pub after: usize,
    /// How many are missing.
    pub count: u64,
}

/// How much a producer records; see `docs/trail-text.md`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Level {
    /// Not even the ends of the way.
    L0,
    /// Posted, dequeued, entered, exited, dropped.
    L1,
    /// And the depths of the queues.
    L2,
    /// And deferral, gates and the hub's event numbers.
    L3,
}

impl Stage {
    /// A stage without details and without a clock reading.
    pub fn new(token: impl Into<String>, hub: impl Into<String>) -> Self {
        Stage { token: token.into(), hub: hub.into(), ..Stage::default() }
    }

    /// The same stage at that many microseconds after the first one.
    #[must_use]
    pub fn at(mut self, micros: u64) -> Self {
        self.offset = Some(micros);
        self
    }

    /// The same stage with one more detail.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.details.push((key.into(), value.into()));
        self
    }

    /// The stage's registry entry; `None` for a token of an application or of a newer build.
    pub fn id(&self) -> Option<StageId> {
        StageId::from_token(&self.token)
    }

    /// The first detail of that key.
    pub fn detail(&self, key: &str) -> Option<&Value> {
        self.details.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// The first detail of that key as an exact number; `None` also for a lower bound.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.detail(key)?.as_number()
    }
}

impl Trail {
    /// An empty trail of that id.
    pub fn new(id: impl Into<String>) -> Self {
        Trail { id: id.into(), ..Trail::default() }
    }

    /// The fate of the last stage that has one; [`Fate::Open`] where none has.
    pub fn fate(&self) -> Fate {
        self.stages.iter().rev().find_map(|stage| stage.id()?.spec().fate).unwrap_or(Fate::Open)
    }

    /// The newest stage.
    pub fn last_stage(&self) -> Option<&Stage> {
        self.stages.last()
    }

    /// What most often is wrong with a trail that stops here; `None` where nothing is, and where
    /// the last stage is not in the registry.
    pub fn likely_cause(&self) -> Option<&'static str> {
        let cause = self.last_stage()?.id()?.spec().likely_cause;
        (!cause.is_empty()).then_some(cause)
    }

    /// True where no stage is missing and no number is only a lower bound.
    pub fn lossless(&self) -> bool {
        let whole = |stages: &[Stage], gap: &Option<Gap>| {
            gap.is_none()
                && stages.iter().flat_map(|stage| &stage.details).all(|(_, value)| !value.is_lower_bound())
        };
        whole(&self.stages, &self.gap) && self.replies.iter().all(|r| whole(&r.stages, &r.gap))
    }

    /// True where every stage that is stamped under the hub's turn lock carries its exact event
    /// number `n`, and there is at least one: what an inversion can be proved from.
    pub fn has_n(&self) -> bool {
        crate::level::has_n(self)
    }

    /// The highest level that this trail shows its producer to conform to.
    pub fn conforms(&self) -> Level {
        crate::level::of(self)
    }

    /// The first rule that this trail breaks of that level and of those below it. A producer
    /// conforms at a level where none of its trails breaks a rule of it; see `docs/trail-text.md`.
    pub fn breach(&self, level: Level) -> Option<Breach> {
        crate::level::breach(self, level)
    }
}

impl fmt::Display for Trail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::text::write_to(self, f)
    }
}

impl std::str::FromStr for Trail {
    type Err = crate::text::ParseError;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        crate::text::parse(line)
    }
}
