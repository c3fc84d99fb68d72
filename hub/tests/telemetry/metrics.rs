//! Instruments: names, units, kinds and values, and callbacks that nothing can stop.

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::time::Duration;

use fate_hub::otel::{Telemetry, TelemetryConfig};
use fate_hub::{Envelope, Gate, Hub, Kind, Registry};
use fate_trail::otel::{HubPicture, Instruments, MAX_OBSERVED, Naming};
use fate_trail::{Recorder, RecorderConfig};
use opentelemetry::KeyValue;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData, ScopeMetrics};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};

use crate::support::NEVER;

/// Everything that is said in one collection: by instrument its unit and kind, by instrument and
/// attributes its value (of a histogram: its count).
#[derive(Debug, Default)]
struct Collected {
    instruments: BTreeMap<String, (String, &'static str)>,
    values: BTreeMap<String, f64>,
}

struct Meters {
    provider: SdkMeterProvider,
    exporter: InMemoryMetricExporter,
}

impl Meters {
    fn new() -> Self {
        let exporter = InMemoryMetricExporter::default();
        let reader = PeriodicReader::builder(exporter.clone()).with_interval(NEVER).build();
        Meters { provider: SdkMeterProvider::builder().with_reader(reader).build(), exporter }
    }

    fn collect(&self) -> Collected {
        self.exporter.reset();
        self.provider.force_flush().expect("the reader lives");
        let mut collected = Collected::default();
        for resource in self.exporter.get_finished_metrics().expect("metrics in memory") {
            for metric in resource.scope_metrics().flat_map(ScopeMetrics::metrics) {
                let kind = collected.data(metric.name(), metric.data());
                collected.instruments.insert(metric.name().to_owned(), (metric.unit().to_owned(), kind));
            }
        }
        collected
    }
}

impl Collected {
    fn data(&mut self, name: &str, data: &AggregatedMetrics) -> &'static str {
        match data {
            AggregatedMetrics::F64(MetricData::Gauge(gauge)) => {
                gauge.data_points().for_each(|point| self.put(name, point.attributes(), point.value()));
                "gauge"
            }
            AggregatedMetrics::I64(MetricData::Sum(sum)) => {
                sum.data_points().for_each(|point| self.put(name, point.attributes(), point.value() as f64));
                if sum.is_monotonic() { "counter" } else { "up-down" }
            }
            AggregatedMetrics::U64(MetricData::Sum(sum)) => {
                sum.data_points().for_each(|point| self.put(name, point.attributes(), point.value() as f64));
                if sum.is_monotonic() { "counter" } else { "up-down" }
            }
            AggregatedMetrics::F64(MetricData::Histogram(histogram)) => {
                for point in histogram.data_points() {
                    self.put(name, point.attributes(), point.count() as f64);
                }
                "histogram"
            }
            other => panic!("{name} is none of ours: {other:?}"),
        }
    }

    fn put<'a>(&mut self, name: &str, attributes: impl Iterator<Item = &'a KeyValue>, value: f64) {
        let mut shown: Vec<_> = attributes
            .filter(|pair| pair.key.as_str() != "messaging.system")
            .map(|pair| format!("{}={}", pair.key, pair.value))
            .collect();
        shown.sort();
        self.values.insert(format!("{name} {}", shown.join(" ")), value);
    }

    fn value(&self, key: &str) -> f64 {
        *self.values.get(key).unwrap_or_else(|| panic!("no {key:?} in {:#?}", self.values))
    }
}

/// What the hub of the first test is asked to do.
enum Job {
    Order,
    /// Holds the turn: says that it runs, then waits to be let go.
    Hold(tokio::sync::oneshot::Sender<()>, tokio::sync::oneshot::Receiver<()>),
}

#[tokio::test]
async fn instruments_have_their_names_units_kinds_and_values() {
    let (meters, registry) = (Meters::new(), Registry::new());
    let recorder = Recorder::new(RecorderConfig::default());
    let config = TelemetryConfig {
        instruments: Some(Instruments::new(&meters.provider, Naming::default())),
        every: NEVER,
        ..TelemetryConfig::default()
    };
    let telemetry = Telemetry::start(config, &registry, &recorder).expect("a thread");
    let hub = Hub::builder("orders/7")
        .gate(Gate::closed("stock"))
        .recorder(&recorder)
        .registry(&registry)
        .telemetry(&telemetry)
        .spawn(|_, job: Job| async {
            if let Job::Hold(entered, held) = job {
                let _ = entered.send(());
                let _ = held.await;
            }
        })
        .expect("a hub");
    let ((entered, running), (release, held)) =
        (tokio::sync::oneshot::channel(), tokio::sync::oneshot::channel());
    hub.post(Job::Order).expect("the hub accepts");
    hub.post(Job::Order).expect("the hub accepts");
    hub.post(Envelope::new(Job::Hold(entered, held)).kind(Kind::Heartbeat)).expect("the hub accepts");
    hub.post(Job::Order).expect("the hub accepts");
    running.await.expect("the turn runs");
    telemetry.flush();
    while_busy(&meters.collect());

    hub.open_gate("stock");
    release.send(()).expect("the turn waits");
    while hub.snapshot().turns < 4 {
        tokio::task::yield_now().await;
    }
    hub.dispose().await;
    telemetry.flush();
    at_rest(&meters.collect());
}

/// Every instrument with its unit and kind, by name.
const INSTRUMENTS: [(&str, &str, &str); 13] = [
    ("fate.barrier.requeues", "{requeue}", "counter"),
    ("fate.delivery.deferrals", "{deferral}", "counter"),
    ("fate.gate.closed", "{gate}", "up-down"),
    ("fate.gate.closed.duration", "s", "histogram"),
    ("fate.observer.dropped", "{event}", "counter"),
    ("fate.queue.oldest_age", "s", "gauge"),
    ("fate.queue.size", "{message}", "up-down"),
    ("fate.queue.wait.duration", "s", "histogram"),
    ("fate.turn.active", "{turn}", "up-down"),
    ("fate.turn.age", "s", "gauge"),
    ("messaging.client.consumed.messages", "{message}", "counter"),
    ("messaging.client.sent.messages", "{message}", "counter"),
    ("messaging.process.duration", "s", "histogram"),
];

/// One turn is held, one delivery waits, two are parked.
fn while_busy(busy: &Collected) {
    let of = "messaging.destination.template=orders";
    assert_eq!(busy.value(&format!("fate.queue.size fate.queue.name=main {of}")), 1.0);
    assert_eq!(busy.value(&format!("fate.queue.size fate.queue.name=deferred {of}")), 2.0);
    assert_eq!(busy.value(&format!("fate.gate.closed {of}")), 1.0);
    assert_eq!(busy.value(&format!("fate.turn.active {of}")), 1.0);
    assert_eq!(
        busy.value(&format!("messaging.client.sent.messages {of} messaging.operation.name=send")),
        4.0
    );
    assert_eq!(
        busy.value(&format!("fate.barrier.requeues {of}")),
        0.0,
        "a series exists before its first event"
    );
    assert!(busy.value(&format!("fate.turn.age {of}")) >= 0.0);
}

/// All four have been handled.
fn at_rest(idle: &Collected) {
    let of = "messaging.destination.template=orders";
    for (key, value) in [
        ("fate.queue.size fate.queue.name=main", 0.0),
        ("fate.queue.oldest_age fate.queue.name=main", 0.0),
        ("fate.queue.wait.duration fate.queue.name=main", 4.0),
        ("fate.queue.wait.duration fate.queue.name=deferred", 2.0),
        ("fate.delivery.deferrals fate.gate.name=stock", 2.0),
        ("fate.gate.closed.duration fate.gate.name=stock", 1.0),
        ("fate.gate.closed", 0.0),
        ("fate.turn.active", 0.0),
        ("fate.turn.age", 0.0),
    ] {
        assert_eq!(idle.value(&format!("{key} {of}")), value, "{key}");
    }
    for operation in ["messaging.client.consumed.messages", "messaging.process.duration"] {
        assert_eq!(idle.value(&format!("{operation} {of} messaging.operation.name=process")), 4.0);
    }
    let seen: Vec<_> =
        idle.instruments.iter().map(|(name, (unit, kind))| (name.as_str(), unit.as_str(), *kind)).collect();
    assert_eq!(seen, INSTRUMENTS);
    assert!(documented(&seen), "docs/opentelemetry.md lists every instrument with its unit");
}

/// Whether each instrument has its row in the documentation.
fn documented(seen: &[(&str, &str, &str)]) -> bool {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fate-trail/docs/opentelemetry.md");
    let page = std::fs::read_to_string(path).expect("the page stands beside the library");
    seen.iter().all(|(name, unit, _)| {
        page.lines()
            .any(|line| line.starts_with(&format!("| `{name}` |")) && line.contains(&format!("`{unit}`")))
    })
}

/// A callback must not wait for a hub: an admission rule, user code, holds the gate lock while metrics are
/// collected.
#[test]
fn metrics_are_collected_while_a_hub_is_stuck_under_its_gate_lock() {
    let (meters, registry) = (Meters::new(), Registry::new());
    let recorder = Recorder::new(RecorderConfig::default());
    let config = TelemetryConfig {
        instruments: Some(Instruments::new(&meters.provider, Naming::default())),
        every: NEVER,
        ..TelemetryConfig::default()
    };
    let telemetry = Telemetry::start(config, &registry, &recorder).expect("a thread");
    let (entered, inside) = mpsc::channel();
    let (release, held) = mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("a runtime");
    let guard = runtime.enter();
    let hub = Hub::builder("orders/7")
        .gate(Gate::closed("stock").admitting(move |_, ()| {
            let _ = entered.send(());
            let _ = held.lock().expect("no panic").recv();
            false
        }))
        .recorder(&recorder)
        .registry(&registry)
        .telemetry(&telemetry)
        .spawn(|_, ()| async {})
        .expect("a hub");
    hub.post(()).expect("the hub accepts");
    inside.recv().expect("the rule is asked");
    telemetry.flush();
    let collected = meters.collect();
    assert_eq!(collected.value("fate.turn.active messaging.destination.template=orders"), 1.0);
    drop(release);
    runtime.block_on(hub.dispose());
    drop(guard);
}

#[test]
fn no_number_and_no_crowd_makes_a_callback_panic() {
    let meters = Meters::new();
    let instruments = Instruments::new(&meters.provider, Naming::default());
    let huge = |hub: String| HubPicture {
        hub,
        main: u64::MAX,
        deferred: u64::MAX,
        main_oldest: Some(Duration::MAX),
        deferred_oldest: Some(Duration::MAX),
        turn: Some(Duration::MAX),
        closed_gates: vec![("g".to_owned(), Duration::MAX)],
        posted: u64::MAX,
        turns: u64::MAX,
        requeues: u64::MAX,
    };
    let many: Vec<_> =
        (0..2 * MAX_OBSERVED).map(|at| huge(format!("kind{}/{at}", at % (MAX_OBSERVED + 76)))).collect();
    instruments.observe(&many);
    instruments.observe(&[]);
    instruments.observe(&[HubPicture { hub: String::new(), ..HubPicture::default() }]);
    let collected = meters.collect();
    assert_eq!(collected.value("fate.turn.active messaging.destination.template=kind0"), 0.0, "it has gone");
    assert!(collected.value("fate.observer.dropped fate.reason=kinds") >= 76.0);
}
