//! An endpoint that takes nothing: turns go on, memory stays, the end comes in time.

use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::time::Duration;

use fate_hub::otel::{MAX_WAITING, Telemetry, TelemetryConfig};
use fate_hub::{Hub, Registry};
use fate_trail::otel::{Naming, Relation, StageLogs, Tracing};
use fate_trail::{Recorder, RecorderConfig};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::logs::{LogBatch, LogExporter, SdkLoggerProvider};
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider, SpanData, SpanExporter,
};

use crate::support::NEVER;

/// How long a test waits for what must come at once; only a failure takes so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Holds whoever enters until it is opened, and tells that somebody has entered.
#[derive(Clone, Debug)]
struct Trap(Arc<(Mutex<(bool, bool)>, Condvar)>);

impl Trap {
    fn new() -> Self {
        Trap(Arc::new((Mutex::new((false, false)), Condvar::new())))
    }

    fn enter(&self) {
        let (state, changed) = &*self.0;
        let mut state = state.lock().expect("no panic");
        state.0 = true;
        changed.notify_all();
        drop(changed.wait_while(state, |(_, open)| !*open).expect("no panic"));
    }

    fn wait_for_prey(&self) {
        let (state, changed) = &*self.0;
        let state = state.lock().expect("no panic");
        let waited = changed.wait_timeout_while(state, PATIENCE, |(prey, _)| !*prey).expect("no panic");
        assert!(!waited.1.timed_out(), "nothing was exported");
    }

    fn is_shut(&self) -> bool {
        !self.0.0.lock().expect("no panic").1
    }

    fn open(&self) {
        self.0.0.lock().expect("no panic").1 = true;
        self.0.1.notify_all();
    }
}

impl SpanExporter for Trap {
    async fn export(&self, _: Vec<SpanData>) -> OTelSdkResult {
        self.enter();
        Ok(())
    }
}

impl LogExporter for Trap {
    async fn export(&self, _: LogBatch<'_>) -> OTelSdkResult {
        self.enter();
        Ok(())
    }
}

/// A runtime with a hub that answers through a channel, and the rest of what it needs.
struct Rig {
    trap: Trap,
    runtime: tokio::runtime::Runtime,
    hub: Hub<u32>,
    handled: mpsc::Receiver<u32>,
    telemetry: Option<Telemetry>,
}

impl Rig {
    fn new(config: TelemetryConfig, trap: &Trap) -> Self {
        let (registry, recorder) = (Registry::new(), Recorder::new(RecorderConfig::default()));
        let telemetry = Telemetry::start(config, &registry, &recorder).expect("a thread");
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("a runtime");
        let (tell, handled) = mpsc::channel();
        let guard = runtime.enter();
        let hub = Hub::builder("orders/7")
            .recorder(&recorder)
            .registry(&registry)
            .telemetry(&telemetry)
            .spawn(move |_, number| {
                let told = tell.send(number);
                async move { told.map_err(|_| "nobody waits") }
            })
            .expect("a hub");
        drop(guard);
        Rig { trap: trap.clone(), runtime, hub, handled, telemetry: Some(telemetry) }
    }

    /// Lets so many turns run, and waits for the last.
    fn turns(&self, count: u32) {
        for number in 0..count {
            self.hub.post(number).expect("the hub accepts");
        }
        for number in 0..count {
            assert_eq!(self.handled.recv_timeout(PATIENCE), Ok(number), "turns go on");
        }
    }

    fn end(mut self) {
        self.runtime.block_on(self.hub.dispose());
        drop(self.telemetry.take());
    }
}

impl Drop for Rig {
    /// A failed test must not wait for what is held.
    fn drop(&mut self) {
        self.trap.open();
    }
}

/// The exporter is held with its first batch, the SDK's queue is full after 16 spans, and a thousand turns
/// end all the same while it is held.
#[test]
fn an_exporter_that_hangs_holds_no_turn() {
    let trap = Trap::new();
    let batch = BatchConfigBuilder::default().with_max_queue_size(16).with_max_export_batch_size(8).build();
    let processor = BatchSpanProcessor::builder(trap.clone()).with_batch_config(batch).build();
    let tracer = SdkTracerProvider::builder().with_span_processor(processor).build();
    let rig = Rig::new(
        TelemetryConfig {
            tracing: Some(Tracing::new(&tracer, Relation::Auto, Naming::default())),
            every: NEVER,
            ..TelemetryConfig::default()
        },
        &trap,
    );
    rig.turns(16);
    trap.wait_for_prey();
    rig.turns(1_000);
    assert!(trap.is_shut(), "the turns ended while the exporter was held");
    trap.open();
    rig.end();
}

/// Worse: the thread of the telemetry itself is held, and its own queue overflows.
#[test]
fn telemetry_that_hangs_holds_no_turn() {
    let trap = Trap::new();
    let logger = SdkLoggerProvider::builder().with_simple_exporter(trap.clone()).build();
    let rig = Rig::new(
        TelemetryConfig { logs: Some(StageLogs::new(&logger)), every: NEVER, ..TelemetryConfig::default() },
        &trap,
    );
    rig.turns(200);
    trap.wait_for_prey();
    rig.turns(u32::try_from(MAX_WAITING).expect("a small number") + 1_000);
    assert!(trap.is_shut(), "the turns ended while the telemetry was held");
    trap.open();
    rig.end();
}

/// A shutdown from the only thread of a runtime finds no runtime that it would have to wait for.
#[tokio::test]
async fn a_shutdown_on_a_current_thread_runtime_ends() {
    let bench = crate::support::Bench::new(Relation::Auto);
    let hub = bench.hub("orders/7").spawn(|_, ()| async {}).expect("a hub");
    hub.post(()).expect("the hub accepts");
    hub.dispose().await;
    drop(bench.telemetry);
    bench.tracer.shutdown().expect("spans end");
    bench.logger.shutdown().expect("logs end");
}
