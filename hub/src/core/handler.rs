//! What the core calls: unpack a message, start a turn, and be told later how it ended.

use std::cell::Cell;

use fate_trail::DeliveryId;

use super::envelope::{Kind, Origin};
use crate::sync::Arc;

/// How a turn ended, as its handler tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The handler did its work.
    Handled,
    /// The handler gave up; the text goes onto the trail, cut to
    /// [`MAX_REASON_BYTES`](crate::limits::MAX_REASON_BYTES).
    Failed(String),
    /// The handler was dropped before it ended.
    Cancelled,
}

impl From<()> for Outcome {
    fn from((): ()) -> Self {
        Self::Handled
    }
}

impl<E: std::fmt::Display> From<Result<(), E>> for Outcome {
    fn from(result: Result<(), E>) -> Self {
        match result {
            Ok(()) => Self::Handled,
            Err(error) => Self::Failed(error.to_string()),
        }
    }
}

/// What starting a turn came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The turn is over.
    Done(Outcome),
    /// The turn goes on elsewhere; its [`Completion`] will end it. No other turn runs until then.
    Pending,
}

/// The hub's own message handling. Called outside every lock, one turn at a time.
///
/// A panic in any of these ends the turn as failed; the hub goes on with the next one.
pub trait Handler: Send + Sync + 'static {
    /// What is posted and queued, and what is queued again if a turn has to wait once more.
    type Message: Send + 'static;
    /// What a turn makes of it before the gate decision; `()` where a message is ready as it is.
    type Unpacked;

    /// Reads the message. It stays as it was received, so that a turn that must wait again loses
    /// nothing; it is then read once more.
    ///
    /// # Errors
    /// The reason ends the turn as failed.
    fn unpack(&self, message: &Self::Message) -> Result<Self::Unpacked, String>;

    /// Starts a turn.
    fn handle(&self, message: Self::Message, unpacked: Self::Unpacked, turn: &Turn<'_>) -> Progress;

    /// What a message is called in snapshots.
    fn type_name(&self, _message: &Self::Message) -> &'static str {
        short_type_name::<Self::Message>()
    }
}

/// The last segment of a type's name: `Order` of `shop::model::Order`.
pub fn short_type_name<T>() -> &'static str {
    let full = std::any::type_name::<T>();
    let end = full.find('<').unwrap_or(full.len());
    match full[..end].rfind("::") {
        Some(at) => &full[at + 2..],
        None => full,
    }
}

/// The turn that a handler is started for.
pub struct Turn<'a> {
    pub(super) id: DeliveryId,
    pub(super) kind: Kind,
    pub(super) sequence: u64,
    /// What the turn's span is tied to.
    #[cfg_attr(not(feature = "otel"), allow(dead_code, reason = "read by the traced shell"))]
    pub(crate) origin: Origin,
    pub(super) released: bool,
    pub(super) ticket: u64,
    pub(super) source: &'a dyn Source,
    pub(super) taken: Cell<bool>,
}

impl Turn<'_> {
    /// Id of the delivery.
    pub fn id(&self) -> DeliveryId {
        self.id
    }

    /// Kind of the delivery.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Arrival sequence of the delivery at this hub, from 1.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Whether a gate had held the delivery back.
    pub fn released(&self) -> bool {
        self.released
    }

    /// The right to end this turn later; the handler returns [`Progress::Pending`]. Only the first
    /// end of a turn counts.
    pub fn completion(&self) -> Completion {
        self.taken.set(true);
        Completion { hub: self.source.complete(), ticket: self.ticket, used: false }
    }
}

impl std::fmt::Debug for Turn<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turn")
            .field("id", &self.id)
            .field("kind", &self.kind)
            .field("sequence", &self.sequence)
            .finish_non_exhaustive()
    }
}

/// Makes a counted reference only for the turns that need one.
pub(super) trait Source {
    fn complete(&self) -> Arc<dyn Complete>;
}

/// Ends pending turns.
pub(super) trait Complete: Send + Sync {
    fn complete(&self, ticket: u64, outcome: Outcome) -> bool;
}

/// The right to end one pending turn, from any thread. Dropped unused, the turn ends as cancelled:
/// no delivery can be left without a fate.
#[must_use = "dropping it ends the turn as cancelled"]
pub struct Completion {
    hub: Arc<dyn Complete>,
    ticket: u64,
    used: bool,
}

impl Completion {
    /// Ends the turn; the hub goes on. `false` if the turn had ended already.
    pub fn done(mut self, outcome: impl Into<Outcome>) -> bool {
        self.used = true;
        self.hub.complete(self.ticket, outcome.into())
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        if !self.used {
            self.hub.complete(self.ticket, Outcome::Cancelled);
        }
    }
}

impl std::fmt::Debug for Completion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Completion").field("turn", &self.ticket).finish_non_exhaustive()
    }
}
