//! What is posted: a message, what kind of delivery it is, and how it is called in its trail.

use std::fmt;

use fate_trail::DeliveryId;

use crate::observe::RunLevel;

/// What a delivery is for the hub itself; decided by whoever posts it, never by its payload.
///
/// Every kind but [`Ordinary`](Kind::Ordinary) passes closed gates and skips the arrival barrier:
/// a hub whose shutdown, failure or awaited reply waits behind its own gate waits for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Takes part in arrival order and waits for closed gates.
    #[default]
    Ordinary,
    /// Moves the hub towards its end.
    Shutdown,
    /// Asks the hub to end.
    Dispose,
    /// Reports that another delivery failed.
    Failure,
    /// Initialises the hub; it is what opens gates.
    Initialize,
    /// Keeps a connection alive.
    Heartbeat,
    /// A reply that somebody at this hub awaits.
    AwaitedReply,
}

impl Kind {
    /// All kinds, in declaration order.
    pub const ALL: [Kind; 7] = [
        Kind::Ordinary,
        Kind::Shutdown,
        Kind::Dispose,
        Kind::Failure,
        Kind::Initialize,
        Kind::Heartbeat,
        Kind::AwaitedReply,
    ];

    /// Whether the kind passes closed gates and skips the arrival barrier.
    pub const fn is_exempt(self) -> bool {
        !matches!(self, Kind::Ordinary)
    }

    /// The word that trails carry as the reason of a bypass.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Ordinary => "ordinary",
            Kind::Shutdown => "shutdown",
            Kind::Dispose => "dispose",
            Kind::Failure => "failure",
            Kind::Initialize => "initialize",
            Kind::Heartbeat => "heartbeat",
            Kind::AwaitedReply => "awaited-reply",
        }
    }
}

/// Where a message comes from, as its trace tells; nothing at all without the feature `otel`.
#[cfg(feature = "otel")]
pub(crate) type Origin = Option<Box<fate_trail::otel::Origin>>;
/// Where a message comes from, as its trace tells; nothing at all without the feature `otel`.
#[cfg(not(feature = "otel"))]
pub(crate) type Origin = ();

/// A message on its way into a hub. A bare message is an ordinary envelope with a numbered id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope<M> {
    pub(crate) id: Option<DeliveryId>,
    pub(crate) kind: Kind,
    pub(crate) awaited: bool,
    pub(crate) message: M,
    pub(crate) origin: Origin,
}

impl<M> Envelope<M> {
    /// An ordinary envelope; the hub numbers it.
    pub fn new(message: M) -> Self {
        Self { id: None, kind: Kind::Ordinary, awaited: false, message, origin: Origin::default() }
    }

    /// The same under an id of the caller's, by which its trail can be found.
    #[must_use]
    pub fn id(mut self, id: impl Into<DeliveryId>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The same with the trace context of whoever sent it from elsewhere; without it a hub that is
    /// traced takes the context of the posting code.
    #[cfg(feature = "otel")]
    #[must_use]
    pub fn origin(mut self, origin: fate_trail::otel::Origin) -> Self {
        self.origin = Some(Box::new(origin));
        self
    }

    /// The same as another kind.
    #[must_use]
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// The same, with somebody waiting for its answer: where the recorder's policy is
    /// [`Awaited`](fate_trail::Policy::Awaited), only such deliveries have a trail.
    #[must_use]
    pub fn awaited(mut self) -> Self {
        self.awaited = true;
        self
    }
}

impl<M> From<M> for Envelope<M> {
    fn from(message: M) -> Self {
        Self::new(message)
    }
}

/// The hub did not take the delivery; the message comes back. Its trail says so too.
#[derive(Clone, PartialEq, Eq)]
pub struct Refused<M> {
    /// What was posted.
    pub message: M,
    /// Where the hub stood in its life.
    pub level: RunLevel,
    /// The hub.
    pub hub: String,
}

impl<M> fmt::Debug for Refused<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused").field("hub", &self.hub).field("level", &self.level).finish_non_exhaustive()
    }
}

impl<M> fmt::Display for Refused<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "hub {} is {} and accepts nothing: post before it is disposed of",
            self.hub,
            self.level.as_str()
        )
    }
}

impl<M> std::error::Error for Refused<M> {}
