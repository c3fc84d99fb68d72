//! The program as a good sender of telemetry: SDK, exporters, subscriber and a bounded end.
//!
//! OTLP goes as protobuf over plain HTTP/1.1 from the SDK's own threads, through a blocking client. There
//! is no runtime in it that a shutdown could wait for, and no TLS: a collector on the same machine carries
//! it on.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use fate_trail::layer::stamped;
use fate_trail::otel::{Instruments, Naming, Relation, StageLogs, Tracing};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_appender_tracing::layer::OpenTelemetryTracingBridge;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{ExporterBuildError, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::logs::{self, SdkLoggerProvider};
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{self, SdkTracerProvider};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};

use crate::otel::TelemetryConfig;

/// Longest time of one request, answer included.
const REQUEST: Duration = Duration::from_secs(3);

/// Distance of two exports of spans and of logs.
const EXPORT: Duration = Duration::from_secs(1);

/// Distance of two exports of metrics: a depth that is a minute old helps nobody.
const METRICS: Duration = Duration::from_secs(10);

/// Spans, and log records, that wait for their export; more are dropped by the SDK.
const QUEUE: usize = 16_384;

/// Bytes of an answer that are read.
const ANSWER: u64 = 64 * 1024;

/// The providers of this process.
pub(super) struct Otlp {
    spans: SdkTracerProvider,
    metrics: SdkMeterProvider,
    logs: SdkLoggerProvider,
    client: Arc<Client>,
}

impl Otlp {
    /// Providers that send to an [`endpoint`], such as `http://127.0.0.1:4318`.
    pub(super) fn start(base: &str, name: &str) -> Result<Otlp, String> {
        let client = Arc::new(Client::new());
        let resource = Resource::builder()
            .with_service_name("fate-hub")
            .with_attribute(opentelemetry::KeyValue::new("service.instance.id", name.to_owned()))
            .with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let failed = |error: ExporterBuildError| format!("--otlp {base}: {error}");
        Ok(Otlp {
            spans: spans(base, &client, &resource).map_err(failed)?,
            metrics: metrics(base, &client, &resource).map_err(failed)?,
            logs: self::logs(base, &client, &resource).map_err(failed)?,
            client,
        })
    }

    /// What hubs are told to say.
    pub(super) fn config(&self, relation: Relation) -> TelemetryConfig {
        let naming = Naming::default();
        TelemetryConfig {
            tracing: Some(Tracing::new(&self.spans, relation, naming)),
            instruments: Some(Instruments::new(&self.metrics, naming)),
            logs: Some(StageLogs::new(&self.logs)),
            ..TelemetryConfig::default()
        }
    }

    /// Makes spans and events of handlers part of it. Spans go to the span layer and events to the log
    /// bridge, so that nothing is said twice; and only those of this program, so that no request of the
    /// exporter is said at all.
    pub(super) fn subscribe(&self) -> Result<(), String> {
        let ours = |target: &str| target.starts_with("fate_hub");
        let spans = tracing_opentelemetry::layer()
            .with_tracer(self.spans.tracer("fate-hub"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(filter_fn(move |about| about.is_span() && ours(about.target())));
        let events = OpenTelemetryTracingBridge::new(&self.logs)
            .with_filter(filter_fn(move |about| about.is_event() && ours(about.target())));
        let subscriber = tracing_subscriber::registry().with(stamped(spans)).with(stamped(events));
        tracing::subscriber::set_global_default(subscriber).map_err(|error| format!("--otlp: {error}"))
    }

    /// Sends what is left and ends within `limit`, whatever the endpoint does. Says what went wrong, if
    /// anything did.
    pub(super) fn shutdown(self, limit: Duration) -> Option<String> {
        let Otlp { spans, metrics, logs, client } = self;
        let (tell, told) = mpsc::channel();
        // On a thread of its own: the SDK's shutdown of metrics knows no timeout. If it is still waiting
        // then, the end of the process ends it.
        let ending = std::thread::Builder::new().name("fate-otlp-end".to_owned()).spawn(move || {
            let ended = [
                spans.shutdown_with_timeout(limit),
                logs.shutdown_with_timeout(limit),
                metrics.shutdown_with_timeout(limit),
            ];
            // Nobody listens any more once the limit has passed.
            let _ = tell.send(ended.into_iter().all(|ended| ended.is_ok()));
        });
        let in_time = ending.is_ok() && told.recv_timeout(limit).is_ok();
        client.complaint(in_time, limit)
    }
}

/// Reads an endpoint from the command line; it comes back without a slash at its end.
pub(super) fn endpoint(text: &str) -> Result<String, String> {
    let base = text.trim_end_matches('/');
    match base.strip_prefix("http://") {
        Some(place) if !place.is_empty() && !place.starts_with([':', '/']) => Ok(base.to_owned()),
        _ => {
            Err("an endpoint is http://HOST:PORT, for example http://127.0.0.1:4318; for TLS or gRPC run a \
                  collector on this machine and let it carry the telemetry on"
                .to_owned())
        }
    }
}

fn spans(
    base: &str,
    client: &Arc<Client>,
    resource: &Resource,
) -> Result<SdkTracerProvider, ExporterBuildError> {
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_shared_http_client(Arc::clone(client) as _)
        .with_endpoint(format!("{base}/v1/traces"))
        .with_timeout(REQUEST)
        .build()?;
    let batch =
        trace::BatchConfigBuilder::default().with_scheduled_delay(EXPORT).with_max_queue_size(QUEUE).build();
    let processor = trace::BatchSpanProcessor::builder(exporter).with_batch_config(batch).build();
    Ok(SdkTracerProvider::builder().with_span_processor(processor).with_resource(resource.clone()).build())
}

fn metrics(
    base: &str,
    client: &Arc<Client>,
    resource: &Resource,
) -> Result<SdkMeterProvider, ExporterBuildError> {
    let exporter = opentelemetry_otlp::MetricExporter::builder()
        .with_http()
        .with_shared_http_client(Arc::clone(client) as _)
        .with_endpoint(format!("{base}/v1/metrics"))
        .with_timeout(REQUEST)
        .build()?;
    let reader = PeriodicReader::builder(exporter).with_interval(METRICS).build();
    Ok(SdkMeterProvider::builder().with_reader(reader).with_resource(resource.clone()).build())
}

fn logs(
    base: &str,
    client: &Arc<Client>,
    resource: &Resource,
) -> Result<SdkLoggerProvider, ExporterBuildError> {
    let exporter = opentelemetry_otlp::LogExporter::builder()
        .with_http()
        .with_shared_http_client(Arc::clone(client) as _)
        .with_endpoint(format!("{base}/v1/logs"))
        .with_timeout(REQUEST)
        .build()?;
    let batch =
        logs::BatchConfigBuilder::default().with_scheduled_delay(EXPORT).with_max_queue_size(QUEUE).build();
    let processor = logs::BatchLogProcessor::builder(exporter).with_batch_config(batch).build();
    Ok(SdkLoggerProvider::builder().with_log_processor(processor).with_resource(resource.clone()).build())
}

/// A blocking HTTP client that remembers what failed.
#[derive(Debug)]
struct Client {
    agent: ureq::Agent,
    sent: AtomicU64,
    failed: AtomicU64,
    last: Mutex<String>,
}

impl Client {
    fn new() -> Self {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(REQUEST))
            .http_status_as_error(false)
            .max_redirects(0)
            .build()
            .new_agent();
        Client { agent, sent: AtomicU64::new(0), failed: AtomicU64::new(0), last: Mutex::default() }
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let request = Request::from_parts(head, body.to_vec());
        let (head, mut body) = self.agent.run(request)?.into_parts();
        let body = body.with_config().limit(ANSWER).read_to_vec()?;
        Ok(Response::from_parts(head, Bytes::from(body)))
    }

    fn count(&self, answer: &Result<Response<Bytes>, HttpError>) {
        let wrong = match answer {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("the endpoint answered {}", answer.status())),
            Err(error) => Some(error.to_string()),
        };
        self.sent.fetch_add(1, Ordering::Relaxed);
        if let Some(wrong) = wrong {
            self.failed.fetch_add(1, Ordering::Relaxed);
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = wrong;
        }
    }

    /// One sentence for whoever reads the terminal; nothing if all went well.
    fn complaint(&self, in_time: bool, limit: Duration) -> Option<String> {
        let (sent, failed) = (self.sent.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed));
        let late = if in_time {
            String::new()
        } else {
            format!("gave up after {} s with telemetry left; ", limit.as_secs())
        };
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let why = if last.is_empty() { String::new() } else { format!(": {last}") };
        (failed > 0 || !in_time).then(|| {
            fate_trail::scrub::scrub(&format!("otlp: {late}{failed} of {sent} requests failed{why}"))
                .into_owned()
        })
    }
}

/// Written out as the attribute of the trait's own crate would, to do without that crate.
impl HttpClient for Client {
    fn send_bytes<'life, 'future>(
        &'life self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'future>>
    where
        'life: 'future,
        Self: 'future,
    {
        Box::pin(async move {
            // Blocks the SDK's own export thread, as it is meant to.
            let answer = self.send(request);
            self.count(&answer);
            answer
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_plain_http_and_the_error_says_so() {
        assert_eq!(endpoint("http://127.0.0.1:4318/").as_deref(), Ok("http://127.0.0.1:4318"));
        assert_eq!(endpoint("http://collector/otlp").as_deref(), Ok("http://collector/otlp"));
        for wrong in ["https://collector:4318", "127.0.0.1:4318", "http://", "http://:4318", "grpc://x"] {
            let error = endpoint(wrong).expect_err("not an endpoint of ours");
            assert!(error.contains("http://HOST:PORT"), "{error}");
        }
    }

    #[test]
    fn a_complaint_names_what_went_wrong_last() {
        let client = Client::new();
        assert_eq!(client.complaint(true, END), None);
        client.count(&Err("refused\u{1b}[2J".into()));
        let text = client.complaint(false, END).expect("something went wrong");
        assert!(
            text.starts_with("otlp: gave up after 2 s") && text.contains("1 of 1 requests failed"),
            "{text}"
        );
        assert!(!text.contains('\u{1b}'), "scrubbed");
    }

    const END: Duration = Duration::from_secs(2);
}
