//! Spans: one for each send, one live for each turn, and those for waits and deferrals afterwards.
//!
//! Nothing keeps a span open while a delivery waits: a parked delivery has no span at all until its
//! trail is finished, and then its waits are built with the times of the trail.

use std::fmt;
use std::sync::Arc;

use opentelemetry::trace::{
    Link, Span, SpanBuilder, SpanContext, SpanKind, Status, TraceContextExt, Tracer, TracerProvider,
};
use opentelemetry::{Context, ContextGuard, KeyValue};

use super::names;
use super::origin::{Cause, MAX_HOPS, Origin};
use super::{Naming, system_time};
use crate::phases::{Phase, PhaseKind, phases};
use crate::trail::Trail;

/// How the span of a turn is tied to the span that sent its message.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Relation {
    /// Nested for what another hub or process asked for; linked for self-posts, timers and
    /// deliveries that a gate had held back.
    #[default]
    Auto,
    /// Nested always: the readable waterfall, for backends that show links poorly.
    Parent,
    /// Linked always: each turn is the root of its own trace, as the conventions have it.
    Link,
}

/// Starts a span and gives it back inside its parent's context; hides the tracer's type.
trait Start: Send + Sync {
    fn start(&self, builder: SpanBuilder, parent: &Context) -> Context;
}

impl<T> Start for T
where
    T: Tracer + Send + Sync,
    T::Span: Span + Send + Sync + 'static,
{
    fn start(&self, builder: SpanBuilder, parent: &Context) -> Context {
        let span = self.build_with_context(builder, parent);
        parent.with_span(span)
    }
}

/// Makes the spans of hubs. Clones share everything.
#[derive(Clone)]
pub struct Tracing {
    tracer: Arc<dyn Start>,
    relation: Relation,
    naming: Naming,
}

impl fmt::Debug for Tracing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracing").field("relation", &self.relation).finish_non_exhaustive()
    }
}

/// What a turn leaves in the context for the posts made during it.
#[derive(Debug)]
struct InTurn {
    hub: Arc<str>,
    hops: u32,
}

impl Tracing {
    /// Spans that go to a provider; with [`opentelemetry::global::tracer_provider`] to whatever the
    /// binary has installed.
    pub fn new<P>(provider: &P, relation: Relation, naming: Naming) -> Self
    where
        P: TracerProvider,
        P::Tracer: Send + Sync + 'static,
        <P::Tracer as Tracer>::Span: Send + Sync + 'static,
    {
        Tracing { tracer: Arc::new(provider.tracer_with_scope(super::scope())), relation, naming }
    }

    /// What one hub needs, made once.
    pub fn hub(&self, name: &str) -> HubTracing {
        HubTracing {
            tracing: self.clone(),
            hub: Arc::from(name),
            kind: self.naming.kind(name).to_owned(),
            attributes: self.naming.attributes(name),
        }
    }
}

/// The spans of one hub.
#[derive(Clone, Debug)]
pub struct HubTracing {
    tracing: Tracing,
    hub: Arc<str>,
    kind: String,
    attributes: Vec<KeyValue>,
}

impl HubTracing {
    /// Starts the span of a send to this hub, in the current context. Its [`Origin`] goes with the
    /// message.
    pub fn send(&self) -> SendSpan {
        let current = Context::current();
        let (cause, hops) = match current.get::<InTurn>() {
            Some(turn) if turn.hub == self.hub => (Cause::SelfPost, turn.hops.saturating_add(1)),
            Some(turn) => (Cause::Request, turn.hops.saturating_add(1)),
            None if current.span().span_context().is_valid() => (Cause::Request, 0),
            None => (Cause::Timer, 0),
        };
        let context = self.start("send", SpanKind::Producer, &current, Vec::new(), Vec::new());
        let origin = Origin { context: context.span().span_context().clone(), cause, hops };
        SendSpan { context, origin }
    }

    /// Starts the live span of a turn. `released` says that a gate had held the delivery back.
    pub fn turn(&self, id: &str, origin: Option<&Origin>, released: bool) -> TurnSpan {
        let tie = self.tie(origin, released);
        let hops = origin.map_or(0, |origin| if tie.nested { origin.hops } else { 0 });
        let mut extra = vec![KeyValue::new(names::HOPS, i64::from(hops))];
        if origin.is_some() {
            extra.push(KeyValue::new(names::RELATION, if tie.nested { "parent" } else { "link" }));
        }
        let context = self.start("process", SpanKind::Consumer, &tie.parent, tie.links, extra);
        let span = context.span();
        if span.is_recording() {
            span.set_attribute(KeyValue::new(names::MESSAGE_ID, id.to_owned()));
        }
        let own = span.span_context().clone();
        let parent =
            if tie.nested { tie.parent } else { Context::new().with_remote_span_context(own.clone()) };
        let context = context.with_value(InTurn { hub: Arc::clone(&self.hub), hops });
        TurnSpan { context, traced: Some(Traced { hub: self.clone(), own, parent }) }
    }

    fn tie(&self, origin: Option<&Origin>, released: bool) -> Tie {
        let Some(origin) = origin.filter(|origin| origin.context.is_valid()) else {
            return Tie { nested: false, parent: Context::new(), links: Vec::new() };
        };
        let wanted = match self.tracing.relation {
            Relation::Parent => true,
            Relation::Link => false,
            Relation::Auto => origin.cause == Cause::Request && !released,
        };
        if wanted && origin.hops < MAX_HOPS {
            let parent = Context::new().with_remote_span_context(origin.context.clone());
            return Tie { nested: true, parent, links: Vec::new() };
        }
        let link = Link::with_context(origin.context.clone());
        Tie { nested: false, parent: Context::new(), links: vec![link] }
    }

    fn start(
        &self,
        operation: &'static str,
        kind: SpanKind,
        parent: &Context,
        links: Vec<Link>,
        extra: Vec<KeyValue>,
    ) -> Context {
        let mut attributes = self.attributes.clone();
        attributes.push(KeyValue::new(names::OPERATION_NAME, operation));
        attributes.push(KeyValue::new(names::OPERATION_TYPE, operation));
        attributes.extend(extra);
        let builder = SpanBuilder::from_name(format!("{operation} {}", self.kind))
            .with_kind(kind)
            .with_attributes(attributes)
            .with_links(links);
        self.tracing.tracer.start(builder, parent)
    }

    /// A span of a stretch that is over.
    fn past(&self, phase: &Phase, trail: &Trail, at: i64, parent: &Context) {
        let (operation, queue) = match phase.kind {
            PhaseKind::Main => ("wait", Some("main")),
            PhaseKind::Deferred => ("deferral", Some("deferred")),
            PhaseKind::Barrier => ("barrier", Some("main")),
            // The live span is the turn; an attempt that came to nothing is part of what follows.
            PhaseKind::Attempt | PhaseKind::Turn => return,
        };
        let mut attributes = self.attributes.clone();
        attributes.push(KeyValue::new(names::MESSAGE_ID, trail.id.clone()));
        attributes.extend(queue.map(|queue| KeyValue::new(names::QUEUE_NAME, queue)));
        let gates = phase.gates.as_ref().map(|gates| gates.decoded().into_owned());
        attributes.extend(gates.map(|gates| KeyValue::new(names::GATE_NAME, gates)));
        let time = |offset: u64| system_time(at.saturating_add(i64::try_from(offset).unwrap_or(i64::MAX)));
        let builder = SpanBuilder::from_name(format!("{operation} {}", self.kind))
            .with_kind(SpanKind::Internal)
            .with_start_time(time(phase.start))
            .with_attributes(attributes);
        let span = self.tracing.tracer.start(builder, parent);
        span.span().end_with_timestamp(time(phase.end));
    }
}

/// How a turn is tied to its send.
struct Tie {
    nested: bool,
    parent: Context,
    links: Vec<Link>,
}

/// The span of a send. It ends with [`accepted`](SendSpan::accepted), with
/// [`refused`](SendSpan::refused) or when it is dropped.
#[must_use = "it measures the send"]
pub struct SendSpan {
    context: Context,
    origin: Origin,
}

impl SendSpan {
    /// What goes with the message.
    pub fn origin(&self) -> Origin {
        self.origin.clone()
    }

    /// The hub took the message under this id.
    pub fn accepted(self, id: &dyn fmt::Display) {
        let span = self.context.span();
        if span.is_recording() {
            span.set_attribute(KeyValue::new(names::MESSAGE_ID, id.to_string()));
        }
        span.end();
    }

    /// The hub did not take it.
    pub fn refused(self, why: &'static str) {
        fail(&self.context, why, why);
        self.context.span().end();
    }
}

impl fmt::Debug for SendSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendSpan").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// The live span of a turn. Dropped without an end it ends as failed: its handler panicked or was
/// dropped.
#[must_use = "it measures the turn"]
pub struct TurnSpan {
    context: Context,
    traced: Option<Traced>,
}

impl TurnSpan {
    /// Makes the span current on this thread, for as long as the guard lives; once for each poll.
    pub fn attach(&self) -> ContextGuard {
        self.context.clone().attach()
    }

    /// The context of the turn.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Ends the span. `error` is the type of the failure and what was said about it.
    pub fn end(mut self, error: Option<(&'static str, &str)>) -> Option<Traced> {
        let traced = self.traced.take();
        if let Some((kind, text)) = error {
            fail(&self.context, kind, text);
        }
        self.context.span().end();
        traced
    }
}

impl Drop for TurnSpan {
    fn drop(&mut self) {
        if self.traced.is_some() {
            let kind = if std::thread::panicking() { "handler" } else { "cancelled" };
            fail(&self.context, kind, "the turn ended without an outcome");
            self.context.span().end();
        }
    }
}

impl fmt::Debug for TurnSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnSpan").field("span", self.context.span().span_context()).finish_non_exhaustive()
    }
}

fn fail(context: &Context, kind: &'static str, text: &str) {
    let span = context.span();
    if span.is_recording() {
        span.set_attribute(KeyValue::new(names::ERROR_TYPE, kind));
        span.set_status(Status::error(text.to_owned()));
    }
}

/// An ended turn, as the spans need it that are built from its trail.
#[derive(Clone)]
pub struct Traced {
    hub: HubTracing,
    own: SpanContext,
    parent: Context,
}

impl Traced {
    /// The turn's span.
    pub fn span_context(&self) -> &SpanContext {
        &self.own
    }

    /// Builds the spans of a finished trail that no live span was there for: waits, deferrals and
    /// returns by the barrier. They stand beside the turn's span where it is nested, and under it
    /// where it is linked. Nothing where the turn was not sampled.
    pub fn after(&self, trail: &Trail) {
        let Some(at) = trail.at.filter(|_| self.own.is_sampled()) else {
            return;
        };
        for phase in phases(trail).iter().filter(|phase| phase.hub == *self.hub.hub) {
            self.hub.past(phase, trail, at, &self.parent);
        }
    }
}

impl fmt::Debug for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traced").field("span", &self.own).finish_non_exhaustive()
    }
}
