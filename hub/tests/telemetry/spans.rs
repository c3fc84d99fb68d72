//! Spans: names, kinds, ties and times.

use std::collections::HashMap;
use std::time::SystemTime;

use fate_hub::{Context, Envelope, Gate, Kind};
use fate_trail::otel::{Cause, MAX_HOPS, Origin, PhaseKind, Relation, names, phases};
use opentelemetry::trace::{SpanId, SpanKind, Status, TraceContextExt, Tracer, TracerProvider};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SpanData;
use tokio::sync::mpsc;

use crate::support::{Bench, attribute, named, only};

/// One hub asks another: the send of the inner message is made during the outer turn.
async fn request(relation: Relation) -> Vec<SpanData> {
    let bench = Bench::new(relation);
    let (tell, mut told) = mpsc::unbounded_channel();
    let back = bench
        .hub("stock/9")
        .spawn(move |_, ()| {
            let told = tell.send(());
            async move { told.map_err(|_| "nobody waits") }
        })
        .expect("a hub");
    let inner = back.clone();
    let front = bench
        .hub("orders/7")
        .spawn(move |_, ()| {
            let posted = inner.post(Envelope::new(()).id("inner"));
            async move { posted.map(drop).map_err(|_| "refused") }
        })
        .expect("a hub");
    front.post(Envelope::new(()).id("outer")).expect("the hub accepts");
    told.recv().await.expect("the inner message is handled");
    front.dispose().await;
    back.dispose().await;
    bench.said()
}

#[tokio::test]
async fn a_request_is_nested_under_the_turn_that_made_it() {
    let spans = request(Relation::Auto).await;
    let (outer, inner) = (only(&spans, "process orders"), only(&spans, "process stock"));
    let send = only(&spans, "send stock");
    assert_eq!(send.parent_span_id, outer.span_context.span_id());
    assert_eq!(inner.parent_span_id, send.span_context.span_id());
    assert_eq!(inner.span_context.trace_id(), outer.span_context.trace_id());
    assert_eq!((&send.span_kind, &inner.span_kind), (&SpanKind::Producer, &SpanKind::Consumer));
    let wait = only(&spans, "wait stock");
    assert_eq!((&wait.span_kind, wait.parent_span_id), (&SpanKind::Internal, send.span_context.span_id()));
    for (key, value) in [
        (names::MESSAGING_SYSTEM, "fate"),
        (names::DESTINATION_TEMPLATE, "stock"),
        (names::OPERATION_NAME, "process"),
        (names::OPERATION_TYPE, "process"),
        (names::MESSAGE_ID, "inner"),
        (names::RELATION, "parent"),
        (names::HOPS, "1"),
    ] {
        assert_eq!(attribute(inner, key).as_deref(), Some(value), "{key}");
    }
    assert_eq!(attribute(inner, names::ERROR_TYPE), None);
    assert_eq!(inner.instrumentation_scope.name(), names::SCOPE);
    assert_eq!(inner.instrumentation_scope.schema_url(), Some(names::SCHEMA_URL));
}

#[tokio::test]
async fn a_message_that_nobody_caused_is_linked() {
    let spans = request(Relation::Auto).await;
    let (send, turn) = (only(&spans, "send orders"), only(&spans, "process orders"));
    assert_eq!(turn.parent_span_id, SpanId::INVALID);
    assert_ne!(turn.span_context.trace_id(), send.span_context.trace_id());
    let links: Vec<_> = turn.links.iter().map(|link| link.span_context.span_id()).collect();
    assert_eq!(links, [send.span_context.span_id()]);
    assert_eq!(attribute(turn, names::RELATION).as_deref(), Some("link"));
    let wait = only(&spans, "wait orders");
    assert_eq!(wait.parent_span_id, turn.span_context.span_id(), "under its turn, in the turn's trace");
}

#[tokio::test]
async fn the_knob_nests_or_links_everything() {
    let nested = request(Relation::Parent).await;
    for (send, turn) in [("send orders", "process orders"), ("send stock", "process stock")] {
        let (send, turn) = (only(&nested, send), only(&nested, turn));
        assert_eq!(turn.parent_span_id, send.span_context.span_id());
        assert!(turn.links.is_empty());
    }
    let linked = request(Relation::Link).await;
    for (send, turn) in [("send orders", "process orders"), ("send stock", "process stock")] {
        let (send, turn) = (only(&linked, send), only(&linked, turn));
        assert_eq!(turn.parent_span_id, SpanId::INVALID);
        assert_eq!(turn.links.iter().next().map(|link| &link.span_context), Some(&send.span_context));
    }
}

/// A hub that posts to itself until it has had `turns` turns.
async fn post_to_itself(relation: Relation, turns: u32) -> Vec<SpanData> {
    let bench = Bench::new(relation);
    let (tell, mut told) = mpsc::unbounded_channel();
    let hub = bench
        .hub("ticker")
        .spawn(move |turn: Context<u32>, left| {
            let tell = tell.clone();
            async move {
                match left {
                    0 => tell.send(()).map_err(|_| "nobody waits"),
                    left => turn.hub.post(left - 1).map(drop).map_err(|_| "refused"),
                }
            }
        })
        .expect("a hub");
    hub.post(turns - 1).expect("the hub accepts");
    told.recv().await.expect("the last turn");
    hub.dispose().await;
    bench.said()
}

#[tokio::test]
async fn after_64_hops_a_turn_is_linked_whatever_the_knob_says() {
    let spans = post_to_itself(Relation::Parent, 200).await;
    let turns = named(&spans, "process ticker");
    assert_eq!(turns.len(), 200);
    let mut traces: HashMap<_, u32> = HashMap::new();
    for turn in &turns {
        *traces.entry(turn.span_context.trace_id()).or_default() += 1;
        assert_eq!(
            turn.links.len(),
            usize::from(attribute(turn, names::RELATION).as_deref() == Some("link"))
        );
    }
    let mut sizes: Vec<_> = traces.into_values().collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [200 - 3 * MAX_HOPS, MAX_HOPS, MAX_HOPS, MAX_HOPS]);
    assert_eq!(turns.iter().filter(|turn| !turn.links.is_empty()).count(), 3);
}

#[tokio::test]
async fn a_self_post_is_linked_by_default() {
    let spans = post_to_itself(Relation::Auto, 5).await;
    let turns = named(&spans, "process ticker");
    assert!(turns.iter().all(|turn| turn.links.len() == 1 && turn.parent_span_id == SpanId::INVALID));
    // The send stands in the trace of the turn that made it, so the way back is one click.
    let sends = named(&spans, "send ticker");
    let inside = sends.iter().filter(|send| send.parent_span_id != SpanId::INVALID).count();
    assert_eq!((sends.len(), inside), (5, 4));
}

#[tokio::test]
async fn waits_and_deferrals_have_the_times_of_the_trail() {
    let bench = Bench::new(Relation::Auto);
    let (tell, mut told) = mpsc::unbounded_channel();
    let hub = bench
        .hub("orders/7")
        .gate(Gate::closed("stock"))
        .spawn(move |turn: Context<&str>, order| {
            if turn.kind == Kind::Initialize {
                turn.hub.open_gate("stock");
            }
            let told = tell.send(order);
            async move { told.map_err(|_| "nobody waits") }
        })
        .expect("a hub");
    // Asked for by another process, so it would be nested had no gate held it back.
    hub.post(Envelope::new("A").id("A").origin(remote())).expect("the hub accepts");
    hub.post(Envelope::new("opener").id("opener").kind(Kind::Initialize)).expect("the hub accepts");
    assert_eq!((told.recv().await, told.recv().await), (Some("opener"), Some("A")));
    hub.dispose().await;

    let spans: Vec<_> = bench.said().into_iter().filter(named_a).collect();
    let trail = bench.recorder.finished().into_iter().find(|trail| trail.id == "A").expect("its trail");
    let phases = phases(&trail);
    let at = trail.at.expect("a time");
    let time = |offset: u64| {
        let since = u64::try_from(at).expect("after 1970") + offset;
        SystemTime::UNIX_EPOCH + std::time::Duration::from_micros(since)
    };
    for (kind, name) in [(PhaseKind::Main, "wait orders"), (PhaseKind::Deferred, "deferral orders")] {
        let phase = phases.iter().find(|phase| phase.kind == kind).expect("a phase");
        let span = only(&spans, name);
        assert_eq!((span.start_time, span.end_time), (time(phase.start), time(phase.end)), "{name}");
    }
    let total: u64 = phases.iter().map(fate_trail::otel::Phase::micros).sum();
    assert_eq!(
        Some(total),
        trail.last_stage().and_then(|stage| stage.offset),
        "the phases are the whole way"
    );
    assert_eq!(attribute(only(&spans, "deferral orders"), names::GATE_NAME).as_deref(), Some("stock"));
    let turn = only(&spans, "process orders");
    assert_eq!(attribute(turn, names::RELATION).as_deref(), Some("link"), "a released deferral is linked");
}

/// The context of a request that came from another process.
fn remote() -> Origin {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let headers = HashMap::from([("traceparent".to_owned(), parent.to_owned())]);
    Origin::extract(&TraceContextPropagator::new(), &headers).expect("a context")
}

/// Whether a span is about the delivery `A`.
fn named_a(span: &SpanData) -> bool {
    attribute(span, names::MESSAGE_ID).as_deref() == Some("A")
}

#[tokio::test]
async fn failures_show_as_failures() {
    let bench = Bench::new(Relation::Auto);
    let hub = bench
        .hub("orders/7")
        .spawn(|_, why: u8| {
            assert!(why != 1, "at once");
            async move {
                tokio::task::yield_now().await;
                assert!(why != 2, "later");
                Err::<(), _>("no stock")
            }
        })
        .expect("a hub");
    for why in 0..3 {
        hub.post(why).expect("the hub accepts");
    }
    // Disposing at once would drop them; a snapshot says when all three have ended.
    while hub.snapshot().turns < 3 {
        tokio::task::yield_now().await;
    }
    hub.dispose().await;
    assert!(hub.post(0).is_err());
    let spans = bench.said();
    let said: Vec<_> = named(&spans, "process orders")
        .iter()
        .map(|turn| (attribute(turn, names::ERROR_TYPE), turn.status.clone()))
        .collect();
    let handler = Some("handler".to_owned());
    assert!(said.iter().all(|(kind, _)| *kind == handler), "{said:?}");
    assert_eq!(said[0].1, Status::error("no stock"));
    assert_eq!(said[2].1, Status::error("handler panicked: later"));
    let sends = named(&spans, "send orders");
    assert_eq!(attribute(sends[3], names::ERROR_TYPE).as_deref(), Some("refused"));
}

#[test]
fn context_travels_between_processes() {
    let bench = Bench::new(Relation::Auto);
    let propagator = TraceContextPropagator::new();
    let tracer = bench.tracer.tracer("a server");
    let mut headers = HashMap::new();
    tracer.in_span("request", |context| {
        let sent = context.span().span_context().clone();
        opentelemetry::propagation::TextMapPropagator::inject_context(&propagator, &context, &mut headers);
        let origin = Origin::extract(&propagator, &headers).expect("a context");
        assert_eq!((origin.span_context().span_id(), origin.hops()), (sent.span_id(), 0));
        assert_eq!(origin.cause(), Cause::Request);
        headers.insert("fate-hops".to_owned(), "12".to_owned());
        let origin = Origin::extract(&propagator, &headers).expect("a context");
        let mut again = HashMap::new();
        origin.inject(&propagator, &mut again);
        assert_eq!(Origin::extract(&propagator, &again).as_ref(), Some(&origin));
        assert_eq!(origin.hops(), 12);
    });
    for hostile in ["-1", "", "9999999999999999999999", "1e3", "\u{1b}[2J"] {
        headers.insert("fate-hops".to_owned(), hostile.to_owned());
        assert_eq!(Origin::extract(&propagator, &headers).map(|origin| origin.hops()), Some(MAX_HOPS));
    }
    assert_eq!(Origin::extract(&propagator, &HashMap::new()), None);
}

#[tokio::test]
async fn a_message_from_elsewhere_is_nested_under_its_sender() {
    let bench = Bench::new(Relation::Auto);
    let hub = bench.hub("orders/7").spawn(|_, ()| async {}).expect("a hub");
    hub.post(Envelope::new(()).origin(remote())).expect("the hub accepts");
    while hub.snapshot().turns < 1 {
        tokio::task::yield_now().await;
    }
    hub.dispose().await;
    let spans = bench.said();
    let turn = only(&spans, "process orders");
    assert_eq!(turn.parent_span_id.to_string(), "b7ad6b7169203331");
    assert!(named(&spans, "send orders").is_empty(), "the send happened elsewhere");
}

/// A library installs nothing: what it did above went to the providers it was given.
#[tokio::test]
async fn nothing_global_is_installed() {
    request(Relation::Auto).await;
    let span = opentelemetry::global::tracer("anybody").start("span");
    assert!(!opentelemetry::trace::Span::span_context(&span).is_valid());
    let nobody = tracing::dispatcher::get_default(tracing::Dispatch::is::<tracing::subscriber::NoSubscriber>);
    assert!(nobody, "this thread has set no subscriber, so a global one would be seen here");
}
