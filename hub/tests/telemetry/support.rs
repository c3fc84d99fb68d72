//! What the tests share: providers that keep everything in memory, and a hub to look at.

use std::time::Duration;

use fate_hub::otel::{Telemetry, TelemetryConfig};
use fate_hub::{Builder, Hub, Registry};
use fate_trail::otel::{Naming, Relation, StageLogs, Tracing};
use fate_trail::{Recorder, RecorderConfig};
use opentelemetry::Value;
use opentelemetry_sdk::logs::{InMemoryLogExporter, SdkLoggerProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};

/// No look is taken by itself; tests ask for theirs.
pub(crate) const NEVER: Duration = Duration::from_secs(3600);

/// Providers in memory, and telemetry that goes to them.
pub(crate) struct Bench {
    pub(crate) registry: Registry,
    pub(crate) recorder: Recorder,
    pub(crate) telemetry: Telemetry,
    pub(crate) tracer: SdkTracerProvider,
    pub(crate) spans: InMemorySpanExporter,
    pub(crate) logs: InMemoryLogExporter,
    // Dropping it would end its exporter.
    pub(crate) logger: SdkLoggerProvider,
}

impl Bench {
    pub(crate) fn new(relation: Relation) -> Self {
        let (spans, logs) = (InMemorySpanExporter::default(), InMemoryLogExporter::default());
        let tracer = SdkTracerProvider::builder().with_simple_exporter(spans.clone()).build();
        let logger = SdkLoggerProvider::builder().with_simple_exporter(logs.clone()).build();
        let (registry, recorder) = (Registry::new(), Recorder::new(RecorderConfig::default()));
        let config = TelemetryConfig {
            tracing: Some(Tracing::new(&tracer, relation, Naming::default())),
            logs: Some(StageLogs::new(&logger)),
            every: NEVER,
            ..TelemetryConfig::default()
        };
        let telemetry = Telemetry::start(config, &registry, &recorder).expect("a thread");
        Bench { registry, recorder, telemetry, tracer, spans, logs, logger }
    }

    /// A hub whose deliveries are recorded, listed and said.
    pub(crate) fn hub<M: Send + 'static>(&self, name: &str) -> Builder<M> {
        Hub::builder(name).recorder(&self.recorder).registry(&self.registry).telemetry(&self.telemetry)
    }

    /// Everything that has ended.
    pub(crate) fn said(&self) -> Vec<SpanData> {
        self.telemetry.flush();
        self.spans.get_finished_spans().expect("spans in memory")
    }
}

/// Spans of that name, in the order of their end.
pub(crate) fn named<'a>(spans: &'a [SpanData], name: &str) -> Vec<&'a SpanData> {
    spans.iter().filter(|span| span.name == name).collect()
}

/// The only span of that name.
pub(crate) fn only<'a>(spans: &'a [SpanData], name: &str) -> &'a SpanData {
    let found = named(spans, name);
    let names: Vec<_> = spans.iter().map(|span| &span.name).collect();
    assert_eq!(found.len(), 1, "spans called {name:?} among {names:?}");
    found[0]
}

/// An attribute as text.
pub(crate) fn attribute(span: &SpanData, key: &str) -> Option<String> {
    let found = span.attributes.iter().find(|pair| pair.key.as_str() == key);
    found.map(|pair| match &pair.value {
        Value::String(text) => text.to_string(),
        other => other.to_string(),
    })
}
