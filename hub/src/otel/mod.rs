//! Hubs as telemetry: live spans on the turn's own path, everything else on a thread of its own.
//!
//! The turn path starts and ends spans and hands a few words to a bounded queue; it never waits. The
//! thread `fate-otel` looks at all hubs in fixed distances, reads finished trails, and makes from them
//! the gauges, the durations, the spans of waits and deferrals, and one log record for each stage. Where
//! all that goes is decided by the providers of the binary; this module only knows the API.

mod worker;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use fate_trail::otel::{HubTracing, Instruments, StageLogs, Traced, Tracing};
use fate_trail::{DeliveryId, Recorder};

use crate::Registry;
use worker::Worker;

/// Ended turns that wait for the thread; what comes while it is full is counted and left out.
pub const MAX_WAITING: usize = 8192;

/// What hubs are said as. Whatever is `None` is not said.
#[derive(Clone, Debug)]
pub struct TelemetryConfig {
    /// Spans of sends, turns, waits and deferrals.
    pub tracing: Option<Tracing>,
    /// Gauges, counters and histograms.
    pub instruments: Option<Instruments>,
    /// One log record for each stage.
    pub logs: Option<StageLogs>,
    /// Distance of two looks at the hubs; gauges are never older.
    pub every: Duration,
}

impl Default for TelemetryConfig {
    fn default() -> Self {
        TelemetryConfig { tracing: None, instruments: None, logs: None, every: Duration::from_secs(1) }
    }
}

/// Running telemetry of the hubs of one registry. Dropping it takes a last look and ends the thread.
#[derive(Debug)]
pub struct Telemetry {
    link: Link,
    thread: Option<JoinHandle<()>>,
}

/// What the thread is told.
enum Told {
    /// A turn is over.
    Ended(DeliveryId, Option<Traced>),
    /// Look now, and answer.
    Flush(SyncSender<()>),
    /// Take a last look and end.
    Stop,
}

impl Telemetry {
    /// Starts the thread. Hubs take part that are listed in `registry`, record into `recorder` and were
    /// built with [`telemetry`](crate::Builder::telemetry).
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(config: TelemetryConfig, registry: &Registry, recorder: &Recorder) -> io::Result<Self> {
        let (tell, told) = sync_channel(MAX_WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let link = Link { tracing: config.tracing.clone(), tell, lost: Arc::clone(&lost) };
        let worker = Worker::new(config, registry.clone(), recorder.clone(), lost);
        let thread =
            std::thread::Builder::new().name("fate-otel".to_owned()).spawn(move || worker.run(&told))?;
        Ok(Telemetry { link, thread: Some(thread) })
    }

    /// Takes a look now, and returns when everything that had ended before has been said.
    pub fn flush(&self) {
        let (tell, told) = sync_channel(1);
        if self.link.tell.send(Told::Flush(tell)).is_ok() {
            // An error means that the thread has ended, and then there is nothing to wait for.
            let _ = told.recv();
        }
    }

    pub(crate) fn link(&self) -> Link {
        self.link.clone()
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        if self.link.tell.send(Told::Stop).is_ok()
            && let Some(thread) = self.thread.take()
        {
            // A panic of the thread has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}

/// The way from hubs to the thread.
#[derive(Clone)]
pub(crate) struct Link {
    tracing: Option<Tracing>,
    tell: SyncSender<Told>,
    lost: Arc<AtomicU64>,
}

impl Link {
    /// The way of one hub.
    pub(crate) fn hub(self, name: &str) -> HubLink {
        HubLink(Arc::new((self.tracing.as_ref().map(|tracing| tracing.hub(name)), self)))
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("tracing", &self.tracing).finish_non_exhaustive()
    }
}

/// The way from one hub to the thread, and the hub's spans. Each turn holds a clone.
#[derive(Clone, Debug)]
pub(crate) struct HubLink(Arc<(Option<HubTracing>, Link)>);

impl HubLink {
    pub(crate) fn tracing(&self) -> Option<&HubTracing> {
        self.0.0.as_ref()
    }

    /// Hands over an ended turn; never waits.
    pub(crate) fn ended(&self, id: DeliveryId, traced: Option<Traced>) {
        let link = &self.0.1;
        if link.tell.try_send(Told::Ended(id, traced)).is_err() {
            link.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}
