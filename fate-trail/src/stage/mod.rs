//! The stage registry: every point of a delivery's way that has a name, and what each name means.
//!
//! A token is an interface. Test suites wait for `ENQUEUED@orders/7` as literal text, and logs of
//! builds that were never linked with this crate must stay readable, so the table is append only:
//! no row is renamed, removed or moved. [`crate::contract`] holds the check.

mod application;
mod marks;
mod pack;
mod table;

use std::fmt;

pub use application::ApplicationStage;
pub(crate) use marks::{PUT_BACK, marks_of};
pub(crate) use pack::read;
pub use pack::{NO_DETAILS, Unpacked, pack, unpack};
pub use table::*;

/// How a delivery ended, as far as its trail tells.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Fate {
    /// A handler took it and returned.
    Handled,
    /// A reply was posted or arrived.
    Answered,
    /// It ended in an error that was or should have been reported.
    Failed,
    /// It was turned away by a rule before any handler saw it.
    Refused,
    /// It was discarded and counted.
    Dropped,
    /// It was discarded to protect an overloaded hub.
    Shed,
    /// No terminal stage was recorded.
    Open,
}

impl Fate {
    /// All fates, in the order of their declaration.
    pub const ALL: [Fate; 7] =
        [Fate::Handled, Fate::Answered, Fate::Failed, Fate::Refused, Fate::Dropped, Fate::Shed, Fate::Open];

    /// The lower-case word used in the golden copy and in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Fate::Handled => "handled",
            Fate::Answered => "answered",
            Fate::Failed => "failed",
            Fate::Refused => "refused",
            Fate::Dropped => "dropped",
            Fate::Shed => "shed",
            Fate::Open => "open",
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What kind of trail a stage belongs to.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Scope {
    /// Stamped on one delivery's trail; all its details share one `u64`.
    Delivery,
    /// Stamped on the hub's own trail (id `hub`); every detail has a word of its own.
    Hub,
}

/// What the number of a detail stands for.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum DetailKind {
    /// An unsigned number; a full field means *this or more* and prints with a trailing `+`.
    Number,
    /// Index of an interned set of gate names; prints as a comma-joined list.
    GateSet,
    /// Index of an interned text.
    Symbol,
}

/// One `key=value` that a stage carries.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Detail {
    /// Key in the text form.
    pub key: &'static str,
    /// Width in the entry's value, 1 to 64. The first detail of a stage has the lowest bits.
    pub bits: u8,
    /// What the number stands for.
    pub kind: DetailKind,
}

/// One row of the registry.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct StageSpec {
    /// The stable spelling: upper-case ASCII, digits and `_`.
    pub token: &'static str,
    /// Version of this crate that first had the token.
    pub since: &'static str,
    /// What happened when a delivery reaches the stage.
    pub meaning: &'static str,
    /// The fate it seals, where it is terminal.
    pub fate: Option<Fate>,
    /// Whose trail it stands on.
    pub scope: Scope,
    /// What it carries, in the order of the text form.
    pub details: &'static [Detail],
    /// What most often is wrong when this is the last stage seen; empty where nothing is.
    pub likely_cause: &'static str,
}

/// Index of a stage in [`REGISTRY`], or of an application's stage in this process.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct StageId(u16);

impl StageId {
    /// The stage's position in [`REGISTRY`], or past it for an application's stage.
    pub const fn index(self) -> u16 {
        self.0
    }

    /// The stage at a position of [`REGISTRY`], or an application's stage; `None` for any other index.
    pub fn from_index(index: u16) -> Option<StageId> {
        let registered = usize::from(index) < REGISTRY.len();
        (registered || application::known(index).is_some()).then_some(StageId(index))
    }

    /// The registry row.
    #[inline]
    pub fn spec(self) -> &'static StageSpec {
        REGISTRY.get(usize::from(self.0)).unwrap_or_else(|| application::spec(self.0))
    }

    /// The stable spelling.
    pub fn token(self) -> &'static str {
        self.spec().token
    }

    /// The stage of a token; `None` for one that this build does not know. An application's stage is
    /// known from its first [`ApplicationStage::id`] on.
    pub fn from_token(token: &str) -> Option<StageId> {
        // The table has some fifty rows and reading text is not the hot path.
        match REGISTRY.iter().position(|spec| spec.token == token) {
            Some(index) => u16::try_from(index).ok().map(StageId),
            None => application::from_token(token),
        }
    }
}

impl fmt::Debug for StageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.token())
    }
}

impl fmt::Display for StageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.token())
    }
}
