//! Logs and trails join: the delivery's id on everything that a handler says, through any layer.

use std::io::Write;
use std::sync::{Arc, Mutex};

use fate_hub::Envelope;
use fate_trail::layer::{FIELD, stamped};
use fate_trail::otel::{Relation, names};
use fate_trail::{DeliveryId, layer};
use opentelemetry::logs::{AnyValue, Severity};
use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry_appender_tracing::layer::OpenTelemetryTracingBridge;
use opentelemetry_sdk::logs::SdkLogRecord;
use tracing::Instrument as _;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};

use crate::support::{Bench, attribute, only};

/// A writer that keeps what it was given.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Paper {
    fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().expect("no panic").clone()).expect("UTF-8");
        text.lines().map(str::to_owned).collect()
    }
}

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A plain text layer onto paper.
fn text<S>(paper: &Paper) -> impl tracing_subscriber::Layer<S> + use<S>
where
    S: tracing::Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
{
    let paper = paper.clone();
    tracing_subscriber::fmt::layer().without_time().with_ansi(false).with_writer(move || paper.clone())
}

fn log_attribute(record: &SdkLogRecord, key: &str) -> Option<String> {
    record.attributes_iter().find(|(name, _)| name.as_str() == key).map(|(_, value)| match value {
        AnyValue::String(text) => text.to_string(),
        other => format!("{other:?}"),
    })
}

/// Text log, spans of `tracing-opentelemetry` and log records in one subscriber, each of them wrapped.
#[tokio::test]
async fn text_spans_and_records_of_a_handler_carry_its_trails_id() {
    let (bench, paper) = (Bench::new(Relation::Auto), Paper::default());
    let spans = tracing_opentelemetry::layer().with_tracer(bench.tracer.tracer("app"));
    let subscriber = tracing_subscriber::registry()
        .with(stamped(text(&paper)))
        .with(stamped(spans.with_filter(filter_fn(|about| !about.is_event()))))
        .with(stamped(OpenTelemetryTracingBridge::new(&bench.logger).with_filter(LevelFilter::INFO)));
    let _default = tracing::subscriber::set_default(subscriber);
    let hub = bench
        .hub("orders/7")
        .spawn(|_, ()| {
            let work = async {
                tokio::task::yield_now().await;
                tracing::info!(items = 3, "packed");
                // Found behind the wrapper, or the attribute would go nowhere.
                tracing::Span::current().set_attribute("colour", "red");
                assert!(tracing::Span::current().context().span().span_context().is_valid());
                let elsewhere = async { tracing::info!("elsewhere") }.in_current_span();
                tokio::spawn(elsewhere).await.map_err(|_| "it ends")
            };
            work.instrument(tracing::info_span!("pack"))
        })
        .expect("a hub");
    hub.post(Envelope::new(()).id("A")).expect("the hub accepts");
    while hub.snapshot().turns < 1 {
        tokio::task::yield_now().await;
    }
    hub.dispose().await;
    tracing::info!("outside");

    let lines = paper.lines();
    let line = |word: &str| {
        let found = lines.iter().find(|line| line.contains(word));
        found.unwrap_or_else(|| panic!("no {word:?} in {lines:#?}"))
    };
    assert!(line("packed").contains("items=3") && line("packed").contains("fate.trail=\"A\""), "{lines:#?}");
    assert!(line("elsewhere").contains("fate.trail=\"A\""), "a span keeps the id on other tasks");
    assert!(!line("outside").contains("fate.trail"));

    let said = bench.said();
    let (turn, span) = (only(&said, "process orders"), only(&said, "pack"));
    assert_eq!(span.parent_span_id, turn.span_context.span_id(), "nested under the live turn");
    assert_eq!(attribute(span, FIELD).as_deref(), Some("A"));
    assert_eq!(attribute(span, "colour").as_deref(), Some("red"));

    let records = bench.logs.get_emitted_logs().expect("records in memory");
    let record = records
        .iter()
        .find(|data| matches!(data.record.body(), Some(AnyValue::String(text)) if text.as_str() == "packed"))
        .expect("the handler's record");
    assert_eq!(log_attribute(&record.record, FIELD).as_deref(), Some("A"));
    assert_eq!(log_attribute(&record.record, "items").as_deref(), Some("Int(3)"));
    let trace = record.record.trace_context().expect("a trace context");
    assert_eq!((trace.trace_id, trace.span_id), (span.span_context.trace_id(), span.span_context.span_id()));
}

#[derive(Debug)]
struct Broken(&'static str, Option<Box<Broken>>);

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Broken {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.1.as_deref().map(|cause| cause as _)
    }
}

/// Says something of every kind.
fn say_everything() {
    let _scope = layer::enter(DeliveryId::new("orders/7-A"));
    let error = Broken("outer", Some(Box::new(Broken("inner", None))));
    let span = tracing::info_span!("span", empty = tracing::field::Empty, number = 1);
    span.record("empty", "filled later");
    let _entered = span.enter();
    tracing::info!(
        target: "somewhere",
        float = 1.5,
        signed = -3_i64,
        unsigned = u64::MAX,
        large = i128::MIN,
        larger = u128::MAX,
        truth = true,
        text = "a \"quoted\" text",
        debug = ?Some(1),
        display = %7,
        error = &error as &(dyn std::error::Error + 'static),
        "message {}",
        1
    );
    tracing::warn!(parent: None, "a root event");
    tracing::info!(fate.trail = "its own", "already there");
}

/// Every kind of value comes out as it went in.
#[test]
fn a_stamp_changes_nothing_but_adds_its_field() {
    let (plain, joined) = (Paper::default(), Paper::default());
    // Two text layers of one subscriber would share the text of a span's fields.
    tracing::subscriber::with_default(tracing_subscriber::registry().with(text(&plain)), say_everything);
    tracing::subscriber::with_default(
        tracing_subscriber::registry().with(stamped(text(&joined))),
        say_everything,
    );
    let (plain, joined) = (plain.lines(), joined.lines());
    assert_eq!(plain.len(), 3);
    for (plain, joined) in plain.iter().zip(&joined) {
        // The span's fields are printed too, and stamped once more.
        let without = joined.replace(" fate.trail=\"orders/7-A\"", "");
        assert_eq!(&without, plain);
    }
    assert_eq!(joined[0].matches("fate.trail").count(), 2, "the span's and the event's: {}", joined[0]);
    assert_eq!(joined[1].matches("fate.trail").count(), 1);
    assert_eq!(joined[2].matches("fate.trail=\"its own\"").count(), 1, "what is there already stays");
}

#[tokio::test]
async fn each_stage_is_a_named_record_at_its_own_time() {
    let bench = Bench::new(Relation::Auto);
    let hub = bench.hub("orders/7").spawn(|_, ()| async { Err::<(), _>("no stock") }).expect("a hub");
    hub.post(Envelope::new(()).id("A")).expect("the hub accepts");
    while hub.snapshot().turns < 1 {
        tokio::task::yield_now().await;
    }
    hub.dispose().await;
    let spans = bench.said();
    let turn = only(&spans, "process orders");
    let records = bench.logs.get_emitted_logs().expect("records in memory");
    let trail = &bench.recorder.finished()[0];
    let stages: Vec<_> =
        records.iter().map(|data| log_attribute(&data.record, names::STAGE).expect("a stage")).collect();
    let tokens: Vec<_> = trail.stages.iter().map(|stage| stage.token.clone()).collect();
    assert_eq!(stages, tokens);
    let mut times = Vec::new();
    for data in &records {
        assert_eq!(data.record.event_name(), Some(names::STAGE_EVENT));
        assert_eq!(log_attribute(&data.record, names::TRAIL).as_deref(), Some("A"));
        assert_eq!(log_attribute(&data.record, names::HUB).as_deref(), Some("orders/7"));
        let trace = data.record.trace_context().expect("a trace context");
        assert_eq!(trace.span_id, turn.span_context.span_id());
        times.push(data.record.timestamp().expect("a time"));
    }
    assert!(times.is_sorted(), "{times:?}");
    let last = &records.last().expect("records").record;
    assert_eq!(last.severity_number(), Some(Severity::Error));
    assert_eq!(log_attribute(last, "fate.detail.error").as_deref(), Some("no stock"));
}
