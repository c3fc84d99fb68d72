//! What surrounds a send and each poll of a handler, for those who watch: the id of the running
//! delivery for logs (feature `tracing`) and its spans (feature `otel`). Without them: nothing.

use fate_trail::DeliveryId;
#[cfg(feature = "tracing")]
use fate_trail::layer;

use crate::core::{Envelope, Outcome, Refused, Turn};
#[cfg(feature = "otel")]
use {crate::otel::HubLink, fate_trail::otel::TurnSpan, opentelemetry::ContextGuard};

/// How one hub is watched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    #[cfg(feature = "otel")]
    link: Option<HubLink>,
}

impl Watch {
    #[cfg(feature = "otel")]
    pub(super) fn new(link: Option<HubLink>) -> Self {
        Watch { link }
    }

    /// Posts, inside the span of the send.
    #[cfg(feature = "otel")]
    pub(super) fn post<M>(
        &self,
        mut envelope: Envelope<M>,
        post: impl FnOnce(Envelope<M>) -> Result<DeliveryId, Refused<M>>,
    ) -> Result<DeliveryId, Refused<M>> {
        let Some(tracing) = self.link.as_ref().and_then(HubLink::tracing) else {
            return post(envelope);
        };
        if envelope.origin.is_some() {
            // Somebody else's span is the send.
            return post(envelope);
        }
        let span = tracing.send();
        envelope.origin = Some(Box::new(span.origin()));
        let posted = post(envelope);
        match &posted {
            Ok(id) => span.accepted(id),
            Err(_) => span.refused("refused"),
        }
        posted
    }

    /// Posts.
    #[cfg(not(feature = "otel"))]
    #[allow(clippy::unused_self, reason = "the traced twin uses it")]
    pub(super) fn post<M>(
        &self,
        envelope: Envelope<M>,
        post: impl FnOnce(Envelope<M>) -> Result<DeliveryId, Refused<M>>,
    ) -> Result<DeliveryId, Refused<M>> {
        post(envelope)
    }

    /// Begins a turn.
    #[cfg_attr(not(feature = "tracing"), allow(unused_variables, clippy::unused_self, reason = "no watcher"))]
    pub(super) fn begin(&self, turn: &Turn<'_>) -> Around {
        Around {
            #[cfg(feature = "tracing")]
            id: turn.id(),
            #[cfg(feature = "otel")]
            link: self.link.clone(),
            #[cfg(feature = "otel")]
            span: self
                .link
                .as_ref()
                .and_then(HubLink::tracing)
                .map(|tracing| tracing.turn(&turn.id().to_string(), turn.origin.as_deref(), turn.released())),
        }
    }
}

/// What surrounds one turn.
pub(super) struct Around {
    #[cfg(feature = "tracing")]
    id: DeliveryId,
    #[cfg(feature = "otel")]
    link: Option<HubLink>,
    #[cfg(feature = "otel")]
    span: Option<TurnSpan>,
}

impl Around {
    /// Makes the turn the current one of this thread, for one poll.
    #[cfg_attr(not(feature = "tracing"), allow(clippy::unused_self, reason = "no watcher"))]
    pub(super) fn enter(&self) -> Entered {
        Entered {
            #[cfg(feature = "otel")]
            _span: self.span.as_ref().map(TurnSpan::attach),
            #[cfg(feature = "tracing")]
            _delivery: layer::enter(self.id),
        }
    }

    /// The turn is over.
    #[cfg_attr(not(feature = "otel"), allow(unused_variables, reason = "no watcher"))]
    pub(super) fn end(self, outcome: &Outcome) {
        #[cfg(feature = "otel")]
        if let Some(link) = &self.link {
            let error = match outcome {
                Outcome::Handled => None,
                Outcome::Failed(why) => Some(("handler", why.as_str())),
                Outcome::Cancelled => Some(("cancelled", "the handler was dropped before it ended")),
            };
            link.ended(self.id, self.span.and_then(|span| span.end(error)));
        }
    }
}

/// While it lives, the turn is the current one of this thread.
pub(super) struct Entered {
    #[cfg(feature = "otel")]
    _span: Option<ContextGuard>,
    #[cfg(feature = "tracing")]
    _delivery: layer::Scope,
}
