//! The end of the line: an HTTP server that decodes OTLP and keeps what arrived.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

/// Bytes of one request that are read.
const REQUEST_BYTES: u64 = 64 * 1024 * 1024;

/// What a compressed body begins with; some collectors compress whatever they are told.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Everything that has arrived.
#[derive(Debug, Default)]
pub(crate) struct Arrived {
    pub(crate) spans: Vec<Span>,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) records: Vec<LogRecord>,
    pub(crate) services: Vec<String>,
    /// What was no OTLP.
    pub(crate) foreign: Vec<String>,
}

/// A receiver on a free loopback port; its threads end with the process.
#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    shared: Arc<(Mutex<Arrived>, Condvar)>,
}

impl Receiver {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let receiver =
            Receiver { address: listener.local_addr().expect("its address"), shared: Arc::default() };
        let serving = receiver.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                std::thread::spawn(move || serving.serve(&stream));
            }
        });
        receiver
    }

    /// Waits until `enough` has arrived, at most `limit`.
    pub(crate) fn wait(&self, limit: Duration, enough: impl Fn(&Arrived) -> bool) -> Result<(), String> {
        let (arrived, changed) = &*self.shared;
        let until = Instant::now() + limit;
        let mut guard = arrived.lock().expect("no panic");
        while !enough(&guard) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let names: std::collections::BTreeSet<_> =
                    guard.spans.iter().map(|span| &span.name).collect();
                let metrics: std::collections::BTreeSet<_> =
                    guard.metrics.iter().map(|one| &one.name).collect();
                let (records, foreign) = (guard.records.len(), guard.foreign.first());
                return Err(format!(
                    "{records} records, spans {names:?}, metrics {metrics:?}, foreign {foreign:?}"
                ));
            }
            guard = changed.wait_timeout(guard, left).expect("no panic").0;
        }
        Ok(())
    }

    /// What has arrived so far.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Arrived) -> T) -> T {
        read(&self.shared.0.lock().expect("no panic"))
    }

    /// Answers requests on one connection until it ends.
    fn serve(&self, stream: &TcpStream) {
        let mut reader = BufReader::new(stream);
        while let Some((path, body)) = request(&mut reader) {
            self.take(&path, &body);
            let answer =
                "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
            if (&mut &*stream).write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }

    fn take(&self, path: &str, body: &[u8]) {
        let mut arrived = self.shared.0.lock().expect("no panic");
        if let Err(why) = arrived.take(path, body) {
            arrived.foreign.push(format!("{path}, {} bytes: {why}", body.len()));
        }
        self.shared.1.notify_all();
    }
}

impl Arrived {
    fn take(&mut self, path: &str, body: &[u8]) -> Result<(), String> {
        let arrived = self;
        let foreign = |error: prost::DecodeError| error.to_string();
        match path {
            "/v1/traces" => {
                for resource in ExportTraceServiceRequest::decode(body).map_err(foreign)?.resource_spans {
                    let attributes =
                        resource.resource.map(|resource| resource.attributes).unwrap_or_default();
                    arrived.services.extend(text(&attributes, "service.name"));
                    arrived.spans.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
                }
            }
            "/v1/metrics" => {
                let request = ExportMetricsServiceRequest::decode(body).map_err(foreign)?;
                let scopes = request.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics);
                arrived.metrics.extend(scopes.flat_map(|scope| scope.metrics));
            }
            "/v1/logs" => {
                let request = ExportLogsServiceRequest::decode(body).map_err(foreign)?;
                let scopes = request.resource_logs.into_iter().flat_map(|resource| resource.scope_logs);
                arrived.records.extend(scopes.flat_map(|scope| scope.log_records));
            }
            _ => return Err("no path of OTLP".to_owned()),
        }
        Ok(())
    }
}

/// Path and body of the next request; `None` at the end of the connection.
fn request(reader: &mut BufReader<&TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut chunked) = (0, false);
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let header = line.trim_end().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        chunked |= header.starts_with("transfer-encoding:") && header.contains("chunked");
    }
    assert!(!chunked, "a body of known length");
    let mut body = Vec::new();
    reader.take(u64::min(length, REQUEST_BYTES)).read_to_end(&mut body).ok()?;
    if body.starts_with(&GZIP) {
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(&*body).take(REQUEST_BYTES).read_to_end(&mut plain).ok()?;
        body = plain;
    }
    Some((path, body))
}

/// An attribute as text.
pub(crate) fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    let value = attributes.iter().find(|pair| pair.key == key)?.value.as_ref()?.value.as_ref()?;
    Some(match value {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    })
}
