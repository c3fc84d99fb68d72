//! The program against a real receiver, a receiver that never answers, and none.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fate_trail::otel::names;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;

use crate::receiver::{Arrived, Receiver, text};

const HUB: &str = env!("CARGO_BIN_EXE_fate-hub");

/// How long a test waits for what must arrive; only a failure takes so long.
const PATIENCE: Duration = Duration::from_secs(90);

/// The longest end that the program promises: a second for its turns twice, two for its telemetry.
const LONGEST_END: Duration = Duration::from_secs(4);

/// A process that ends with the test.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Self {
        Process(command.stdin(Stdio::null()).spawn().expect("the program starts"))
    }

    /// Asks it to end, waits, and gives what it wrote to standard error.
    fn end(mut self) -> (Option<i32>, String) {
        let asked = Command::new("kill").arg("-TERM").arg(self.0.id().to_string()).status();
        assert!(asked.expect("kill runs").success());
        let mut said = String::new();
        if let Some(mut errors) = self.0.stderr.take() {
            std::io::Read::read_to_string(&mut errors, &mut said).expect("UTF-8");
        }
        (self.0.wait().expect("it ends").code(), said)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The demo, exporting to `endpoint`, with its socket in `folder`.
fn demo(endpoint: &str, folder: &Folder) -> Command {
    let mut command = Command::new(HUB);
    command.args(["run", "--otlp", endpoint, "--dir"]).arg(folder.0.join("live"));
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// A folder that ends with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("fate-otlp-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A collector of another house between the program and the receiver, where `FATE_ROTEL` names it.
fn rotel(receiver: &Receiver, folder: &Folder) -> Option<(Process, String)> {
    let Some(program) = std::env::var_os("FATE_ROTEL") else {
        // A passing test's `eprintln!` is hidden.
        let _ = writeln!(
            std::io::stderr(),
            "ABSENT rotel (FATE_ROTEL names its program): sent to the test itself"
        );
        return None;
    };
    let port = || {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.local_addr().expect("its address")
    };
    let (http, grpc) = (port(), port());
    let process = Process::start(
        Command::new(program)
            .args(["start", "--exporter", "otlp", "--otlp-exporter-protocol", "http"])
            .args(["--otlp-exporter-compression", "none"])
            .arg("--otlp-exporter-endpoint")
            .arg(format!("http://{}", receiver.address))
            .args(["--otlp-http-endpoint", &http.to_string(), "--otlp-grpc-endpoint", &grpc.to_string()])
            .arg("--pid-file")
            .arg(folder.0.join("rotel.pid"))
            .arg("--log-file")
            .arg(folder.0.join("rotel.log"))
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    );
    Some((process, format!("http://{http}")))
}

fn has_span(arrived: &Arrived, name: &str) -> bool {
    arrived.spans.iter().any(|span| span.name == name)
}

/// The first span of that name for which `wanted` holds.
fn span<'a>(
    arrived: &'a Arrived,
    name: &str,
    wanted: impl Fn(&opentelemetry_proto::tonic::trace::v1::Span) -> bool,
) -> &'a opentelemetry_proto::tonic::trace::v1::Span {
    let found = arrived.spans.iter().find(|span| span.name == name && wanted(span));
    found.unwrap_or_else(|| panic!("no {name} as wanted among {} spans", arrived.spans.len()))
}

/// Whether everything has come that the next test looks at.
fn enough(arrived: &Arrived) -> bool {
    let spans = ["process pricing", "process catalog", "wait billing", "charge", "process ticker"];
    // A handler's own record, and the stages of trails.
    let records = ["fate.stage", "event"];
    spans.iter().all(|name| has_span(arrived, name))
        && records.iter().all(|name| arrived.records.iter().any(|record| record.event_name.starts_with(name)))
        && arrived.metrics.iter().any(|metric| metric.name == names::QUEUE_SIZE)
        && arrived.metrics.iter().any(|metric| metric.name == names::PROCESS_DURATION)
        && arrived.spans.iter().any(|span| span.name == "process pricing" && !span.parent_span_id.is_empty())
}

#[test]
fn spans_metrics_and_logs_arrive_at_a_real_receiver() {
    let (receiver, folder) = (Receiver::start(), Folder::new("arrive"));
    let collector = rotel(&receiver, &folder);
    let endpoint = match &collector {
        Some((_, endpoint)) => endpoint.clone(),
        None => format!("http://{}", receiver.address),
    };
    let hub = Process::start(&mut demo(&endpoint, &folder));
    let waited = receiver.wait(PATIENCE, enough);
    let (code, said) = hub.end();
    waited.unwrap_or_else(|seen| panic!("not all has arrived: {seen}; the program says: {said}"));
    assert_eq!(code, Some(0), "{said}");
    receiver.read(|arrived| {
        assert!(arrived.foreign.is_empty(), "{:?}", arrived.foreign);
        assert!(arrived.services.iter().all(|service| service == "fate-hub"));
        spans_are_right(arrived);
        metrics_are_right(arrived);
        records_are_right(arrived);
    });
}

fn spans_are_right(arrived: &Arrived) {
    let nested = span(arrived, "process pricing", |span| !span.parent_span_id.is_empty());
    assert_eq!(nested.kind(), SpanKind::Consumer);
    assert!(nested.links.is_empty());
    assert_eq!(text(&nested.attributes, names::DESTINATION_TEMPLATE).as_deref(), Some("pricing"));
    let send = span(arrived, "send pricing", |span| span.span_id == nested.parent_span_id);
    assert_eq!((send.kind(), &send.trace_id), (SpanKind::Producer, &nested.trace_id));
    let linked = span(arrived, "process ticker", |span| !span.links.is_empty());
    assert!(linked.parent_span_id.is_empty());
    let wait = span(arrived, "wait billing", |_| true);
    assert_eq!(wait.kind(), SpanKind::Internal);
    assert!(wait.start_time_unix_nano <= wait.end_time_unix_nano);
    let charge = span(arrived, "charge", |_| true);
    let turn = span(arrived, "process billing", |span| span.span_id == charge.parent_span_id);
    assert_eq!(text(&charge.attributes, names::TRAIL), text(&turn.attributes, names::MESSAGE_ID));
}

fn metrics_are_right(arrived: &Arrived) {
    let metric = |name: &str| {
        let found = arrived.metrics.iter().rev().find(|metric| metric.name == name);
        found.unwrap_or_else(|| panic!("no {name}"))
    };
    let (size, turn) = (metric(names::QUEUE_SIZE), metric(names::PROCESS_DURATION));
    assert_eq!((size.unit.as_str(), turn.unit.as_str()), ("{message}", "s"));
    assert!(matches!(&size.data, Some(Data::Sum(sum)) if !sum.is_monotonic));
    assert!(
        matches!(&turn.data, Some(Data::Histogram(turns)) if turns.data_points.iter().any(|p| p.count > 0))
    );
    assert!(matches!(&metric(names::CONSUMED).data, Some(Data::Sum(sum)) if sum.is_monotonic));
    assert!(matches!(&metric(names::QUEUE_OLDEST_AGE).data, Some(Data::Gauge(_))));
}

fn records_are_right(arrived: &Arrived) {
    let stage =
        arrived.records.iter().find(|record| record.event_name == names::STAGE_EVENT).expect("a stage");
    assert!(!stage.trace_id.is_empty() && stage.time_unix_nano > 0);
    let own = arrived.records.iter().find(|record| record.event_name.starts_with("event")).expect("an event");
    let trail = text(&own.attributes, names::TRAIL).expect("the handler's record is stamped");
    assert!(trail.starts_with("billing#"), "{trail}");
    let same = |record: &&opentelemetry_proto::tonic::logs::v1::LogRecord| {
        record.event_name == names::STAGE_EVENT
            && text(&record.attributes, names::TRAIL).as_ref() == Some(&trail)
    };
    assert!(arrived.records.iter().any(|record| same(&record)), "log and trail join on {trail}");
}

/// An endpoint that accepts and never answers, and one that refuses: the program ends in time, with code 0,
/// and says what went wrong.
#[test]
fn the_program_ends_in_time_with_an_endpoint_that_is_down() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let refusing = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.local_addr().expect("its address")
    };
    let folder = Folder::new("down");
    for address in [silent.local_addr().expect("its address"), refusing] {
        let started = Instant::now();
        let mut command = demo(&format!("http://{address}"), &folder);
        let output = command.args(["--seconds", "1"]).output().expect("the program runs");
        let took = started.elapsed();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("otlp: "), "{said}");
        // One second of running, and what it may take to start.
        assert!(took < Duration::from_secs(1) + LONGEST_END + Duration::from_secs(3), "{took:?}: {said}");
    }
}

#[test]
fn an_endpoint_that_cannot_be_is_a_usage_error() {
    let folder = Folder::new("usage");
    let output = demo("https://collector:4318", &folder).output().expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("http://HOST:PORT"), "{said}");
}
