//! The wrapper: any layer, called with spans and events that carry the trail's id.

use std::any::TypeId;
use std::fmt;

use tracing_core::span::{Attributes, Id, Record};
use tracing_core::subscriber::Interest;
use tracing_core::{Dispatch, Event, LevelFilter, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::callsite::extended;
use super::current;
use super::owned::Copies;
use crate::id::DeliveryId;

/// Wraps a layer so that it sees the current delivery's id; several layers may each be wrapped.
///
/// Filters go inside or outside, as they like: `stamped(layer.with_filter(filter))`.
pub fn stamped<L>(layer: L) -> Stamped<L> {
    Stamped { inner: layer }
}

/// A layer that is called with one more field. See [`stamped`].
pub struct Stamped<L> {
    inner: L,
}

/// What a span remembers.
struct MadeFor(DeliveryId);

impl<L> fmt::Debug for Stamped<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stamped").finish_non_exhaustive()
    }
}

/// The id that a span or one of its ancestors was made for.
fn inherited<S>(span: Option<&Id>, ctx: &Context<'_, S>) -> Option<DeliveryId>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    // A span has its parent's id if it has any, so the nearest one tells.
    ctx.span(span?)?.extensions().get::<MadeFor>().map(|made| made.0)
}

impl<L, S> Layer<S> for Stamped<L>
where
    L: Layer<S>,
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, ctx: Context<'_, S>) {
        let parent = match attributes.parent() {
            None if attributes.is_contextual() => ctx.current_span().id().cloned(),
            parent => parent.cloned(),
        };
        let delivery = current().or_else(|| inherited(parent.as_ref(), &ctx));
        let Some(delivery) = delivery else {
            return self.inner.on_new_span(attributes, id, ctx);
        };
        if let Some(span) = ctx.span(id) {
            span.extensions_mut().replace(MadeFor(delivery));
        }
        let Some(metadata) = extended(attributes.metadata()) else {
            return self.inner.on_new_span(attributes, id, ctx);
        };
        let mut copies = Copies::new(attributes.metadata().fields().len());
        attributes.record(&mut copies);
        let text = delivery.to_string();
        let values = copies.and(&text);
        let values = metadata.fields().value_set_all(&values);
        let stamped = if attributes.is_contextual() {
            Attributes::new(metadata, &values)
        } else if let Some(parent) = attributes.parent() {
            Attributes::child_of(parent.clone(), metadata, &values)
        } else {
            Attributes::new_root(metadata, &values)
        };
        self.inner.on_new_span(&stamped, id, ctx);
    }

    fn on_event(&self, event: &Event<'_>, ctx: Context<'_, S>) {
        let delivery = current().or_else(|| {
            let span = ctx.event_span(event)?.id();
            inherited(Some(&span), &ctx)
        });
        let Some((delivery, metadata)) = delivery.zip(extended(event.metadata())) else {
            return self.inner.on_event(event, ctx);
        };
        let mut copies = Copies::new(event.metadata().fields().len());
        event.record(&mut copies);
        let text = delivery.to_string();
        let values = copies.and(&text);
        let values = metadata.fields().value_set_all(&values);
        let stamped = if event.is_contextual() {
            Event::new(metadata, &values)
        } else {
            Event::new_child_of(event.parent().cloned(), metadata, &values)
        };
        self.inner.on_event(&stamped, ctx);
    }

    fn on_register_dispatch(&self, subscriber: &Dispatch) {
        self.inner.on_register_dispatch(subscriber);
    }

    fn on_layer(&mut self, subscriber: &mut S) {
        self.inner.on_layer(subscriber);
    }

    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        self.inner.register_callsite(metadata)
    }

    fn enabled(&self, metadata: &Metadata<'_>, ctx: Context<'_, S>) -> bool {
        self.inner.enabled(metadata, ctx)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        self.inner.max_level_hint()
    }

    fn on_record(&self, span: &Id, values: &Record<'_>, ctx: Context<'_, S>) {
        self.inner.on_record(span, values, ctx);
    }

    fn on_follows_from(&self, span: &Id, follows: &Id, ctx: Context<'_, S>) {
        self.inner.on_follows_from(span, follows, ctx);
    }

    fn event_enabled(&self, event: &Event<'_>, ctx: Context<'_, S>) -> bool {
        self.inner.event_enabled(event, ctx)
    }

    fn on_enter(&self, id: &Id, ctx: Context<'_, S>) {
        self.inner.on_enter(id, ctx);
    }

    fn on_exit(&self, id: &Id, ctx: Context<'_, S>) {
        self.inner.on_exit(id, ctx);
    }

    fn on_close(&self, id: Id, ctx: Context<'_, S>) {
        self.inner.on_close(id, ctx);
    }

    fn on_id_change(&self, old: &Id, new: &Id, ctx: Context<'_, S>) {
        self.inner.on_id_change(old, new, ctx);
    }

    /// Whoever looks for the wrapped layer must find it, or per-layer filters and the span extension
    /// trait of `tracing-opentelemetry` stop working.
    ///
    /// # Safety
    /// The contract is that the pointer is valid for as long as `self` is and points to a value of
    /// the asked type. Ours is `self` for our own type; any other answer is the inner layer's, which
    /// lives exactly as long as we do. Nothing is dereferenced here.
    #[allow(unsafe_code, reason = "the trait's only way to be found behind a wrapper; argued above")]
    unsafe fn downcast_raw(&self, id: TypeId) -> Option<*const ()> {
        if id == TypeId::of::<Self>() {
            return Some(std::ptr::from_ref(self).cast());
        }
        // SAFETY: the caller keeps the trait's contract, and the inner layer lives inside `self`.
        unsafe { self.inner.downcast_raw(id) }
    }
}
