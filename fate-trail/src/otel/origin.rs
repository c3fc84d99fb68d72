//! The trace context that travels with a message, inside a process and between processes.

use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry::trace::{SpanContext, TraceContextExt};

/// Hops after which a turn is linked instead of nested, so that a hub that posts to itself for ever
/// does not make one trace without end.
pub const MAX_HOPS: u32 = 64;

/// Carries the number of hops beside the propagator's own headers.
const HOPS_HEADER: &str = "fate-hops";

/// Why a message was sent, as far as its trace tells.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Cause {
    /// Somebody else was at work: another hub's turn, a server's request, another process.
    Request,
    /// The hub posted to itself.
    SelfPost,
    /// Nobody was at work: a timer, or a start.
    Timer,
}

/// Where a message comes from: the span that sent it, why, and how far from the trace's first post.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Origin {
    pub(super) context: SpanContext,
    pub(super) cause: Cause,
    pub(super) hops: u32,
}

impl Origin {
    /// The span that sent the message.
    pub fn span_context(&self) -> &SpanContext {
        &self.context
    }

    /// Why it was sent.
    pub fn cause(&self) -> Cause {
        self.cause
    }

    /// Posts since the trace's first one.
    pub fn hops(&self) -> u32 {
        self.hops
    }

    /// Writes the context into the headers of a message that leaves the process.
    pub fn inject(&self, propagator: &dyn TextMapPropagator, headers: &mut dyn Injector) {
        let context = Context::new().with_remote_span_context(self.context.clone());
        propagator.inject_context(&context, headers);
        headers.set(HOPS_HEADER, self.hops.to_string());
    }

    /// Reads the context from the headers of a message that came in. `None` where there is none; a
    /// number of hops that makes no sense counts as the most, which only cuts the trace.
    pub fn extract(propagator: &dyn TextMapPropagator, headers: &dyn Extractor) -> Option<Origin> {
        let context = propagator.extract_with_context(&Context::new(), headers);
        let context = context.span().span_context().clone();
        let hops = headers.get(HOPS_HEADER).map_or(0, |text| text.parse().unwrap_or(MAX_HOPS));
        context.is_valid().then(|| Origin { context, cause: Cause::Request, hops: hops.min(MAX_HOPS) })
    }
}
