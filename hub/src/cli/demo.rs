//! The hubs of the demo. Each shows one thing that an engineer wants to recognise on the screen.

use std::sync::Mutex;
use std::time::Duration;

use fate_trail::Recorder;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::Instrument as _;

use super::chance::Chance;
use crate::core::probe::{Point, Probe};
use crate::otel::Telemetry;
use crate::{Context, Envelope, Gate, Hub, Kind, Registry, SpawnError};

/// How long the warehouse waits for its first inventory: its gate is overdue by then.
const INVENTORY: Duration = Duration::from_secs(25);

/// An invoice that takes longer is worth a warning in the log.
const SLOW_INVOICE: Duration = Duration::from_secs(1);

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// An order for the catalog, whose stock gate closes now and then.
struct Reserve;
/// An invoice; now and then one takes far too long.
struct Invoice {
    takes: Duration,
}
/// A price request; there are very many.
struct Quote;
/// A tick that posts the next one.
struct Tick;
/// A parcel for the warehouse, which is not ready for a long time.
struct Parcel;
/// A large document, slow to unpack.
struct Document;

/// The running demo.
pub(super) struct Demo {
    traffic: JoinSet<()>,
    hubs: Vec<Disposer>,
}

/// Ends one hub, whatever its messages are.
type Disposer = Box<dyn Fn() -> futures::Ending + Send + Sync>;

mod futures {
    use std::future::Future;
    use std::pin::Pin;

    /// Ready when a hub has ended.
    pub(super) type Ending = Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// What every part of the demo needs.
struct Stage<'a> {
    seed: u64,
    place: Place<'a>,
    demo: Demo,
}

/// Where the demo's hubs are listed, recorded and said.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) registry: &'a Registry,
    pub(super) recorder: &'a Recorder,
    pub(super) telemetry: Option<&'a Telemetry>,
}

impl Demo {
    /// Starts hubs and traffic on the current runtime.
    pub(super) fn start(seed: u64, place: Place<'_>) -> Result<Demo, SpawnError> {
        let demo = Demo { traffic: JoinSet::new(), hubs: Vec::new() };
        let mut stage = Stage { seed, place, demo };
        let pricing = stage.pricing()?;
        stage.catalog(&pricing)?;
        stage.billing()?;
        stage.ticker()?;
        stage.warehouse()?;
        stage.archive()?;
        Ok(stage.demo)
    }

    /// How many hubs there are.
    pub(super) fn hubs(&self) -> usize {
        self.hubs.len()
    }

    /// Ends traffic and hubs; a turn that is still running after `limit` is left to the runtime.
    pub(super) async fn end(mut self, limit: Duration) {
        self.traffic.abort_all();
        let endings: Vec<_> = self.hubs.iter().map(|dispose| dispose()).collect();
        let all = async {
            for ending in endings {
                ending.await;
            }
        };
        let _ = timeout(limit, all).await;
    }
}

impl Stage<'_> {
    /// Adds a hub to those that end with the demo.
    fn keep<M: Send + 'static>(&mut self, hub: &Hub<M>) {
        let hub = hub.clone();
        self.demo.hubs.push(Box::new(move || Box::pin(hub.dispose())));
    }

    fn builder<M: Send + 'static>(&self, name: &str) -> crate::Builder<M> {
        let builder = Hub::builder(name).recorder(self.place.recorder).registry(self.place.registry);
        match self.place.telemetry {
            Some(telemetry) => builder.telemetry(telemetry),
            None => builder,
        }
    }

    /// A gate that opens and closes: while it is closed the deferred queue grows, and what it
    /// releases runs ahead of later arrivals. Each order asks another hub for its price.
    fn catalog(&mut self, pricing: &Hub<Quote>) -> Result<(), SpawnError> {
        let pricing = pricing.clone();
        let hub =
            self.builder("catalog").gate(Gate::open("stock")).spawn(move |_: Context<Reserve>, _| {
                // Refused only when the demo ends.
                let _ = pricing.post(Quote);
                sleep(Duration::from_millis(15))
            })?;
        self.keep(&hub);
        let (gate, mut chance) = (hub.clone(), Chance::new(self.seed, 1));
        self.demo.traffic.spawn(async move {
            loop {
                sleep(chance.millis(6_000, 14_000)).await;
                gate.close_gate("stock");
                sleep(chance.millis(5_000, 12_000)).await;
                gate.open_gate("stock");
            }
        });
        let mut chance = Chance::new(self.seed, 2);
        self.demo.traffic.spawn(async move {
            while hub.post(Reserve).is_ok() {
                sleep(chance.millis(20, 180)).await;
            }
        });
        Ok(())
    }

    /// A slow handler: one invoice in 120 takes long enough to be called wedged, and on average it keeps up.
    fn billing(&mut self) -> Result<(), SpawnError> {
        let hub = self.builder("billing").spawn(|_: Context<Invoice>, invoice: Invoice| {
            // Logs like any handler, and knows nothing of trails.
            let charge = async move {
                if invoice.takes > SLOW_INVOICE {
                    tracing::warn!(takes_ms = millis(invoice.takes), "the bank is slow today");
                }
                sleep(invoice.takes).await;
                tracing::info!(takes_ms = millis(invoice.takes), "charged");
            };
            charge.instrument(tracing::info_span!("charge"))
        })?;
        self.keep(&hub);
        let mut chance = Chance::new(self.seed, 3);
        self.demo.traffic.spawn(async move {
            loop {
                let slow = chance.once_in(120);
                let takes = if slow { chance.millis(7_000, 12_000) } else { chance.millis(20, 160) };
                if hub.post(Invoice { takes }).is_err() {
                    return;
                }
                sleep(chance.millis(100, 400)).await;
            }
        });
        Ok(())
    }

    /// A busy hub: bursts of short turns.
    fn pricing(&mut self) -> Result<Hub<Quote>, SpawnError> {
        let hub =
            self.builder("pricing/eu-1").spawn(|_: Context<Quote>, _| sleep(Duration::from_millis(1)))?;
        self.keep(&hub);
        let pricing = hub.clone();
        let mut chance = Chance::new(self.seed, 4);
        self.demo.traffic.spawn(async move {
            loop {
                for _ in 0..chance.between(5, 60) {
                    if hub.post(Quote).is_err() {
                        return;
                    }
                }
                sleep(chance.millis(50, 150)).await;
            }
        });
        Ok(pricing)
    }

    /// A hub that lives on what it posts to itself.
    fn ticker(&mut self) -> Result<(), SpawnError> {
        let hub = self.builder("ticker").spawn(|context: Context<Tick>, _| async move {
            sleep(Duration::from_millis(200)).await;
            // Refused only when the hub ends, and then nobody waits for the next tick.
            let _ = context.hub.post(Tick);
        })?;
        self.keep(&hub);
        let _ = hub.post(Tick);
        Ok(())
    }

    /// A gate that stays closed from the start for longer than anybody likes.
    fn warehouse(&mut self) -> Result<(), SpawnError> {
        let hub = self.builder("warehouse/7").gate(Gate::closed("inventory")).spawn(
            |context: Context<Parcel>, _| async move {
                sleep(Duration::from_millis(40)).await;
                if context.kind == Kind::Initialize {
                    context.hub.open_gate("inventory");
                }
            },
        )?;
        self.keep(&hub);
        let first = hub.clone();
        self.demo.traffic.spawn(async move {
            sleep(INVENTORY).await;
            let _ = first.post(Envelope::new(Parcel).kind(Kind::Initialize));
        });
        let mut chance = Chance::new(self.seed, 5);
        self.demo.traffic.spawn(async move {
            while hub.post(Parcel).is_ok() {
                sleep(chance.millis(300, 900)).await;
            }
        });
        Ok(())
    }

    /// Documents that are slow to unpack: meanwhile the delivery is in neither queue and no
    /// handler has it.
    fn archive(&mut self) -> Result<(), SpawnError> {
        let hub = self
            .builder("archive")
            .probe(SlowUnpack(Mutex::new(Chance::new(self.seed, 6))))
            .spawn(|_: Context<Document>, _| sleep(Duration::from_millis(30)))?;
        self.keep(&hub);
        let mut chance = Chance::new(self.seed, 7);
        self.demo.traffic.spawn(async move {
            while hub.post(Document).is_ok() {
                sleep(chance.millis(400, 1_200)).await;
            }
        });
        Ok(())
    }
}

/// Makes unpacking slow: it holds the hub's thread, as a decoder of a large document would.
struct SlowUnpack(Mutex<Chance>);

impl Probe for SlowUnpack {
    fn at(&self, point: Point) {
        if point != Point::Popped {
            return;
        }
        let takes = {
            let mut chance = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if chance.once_in(12) { chance.millis(2_000, 4_000) } else { chance.millis(1, 40) }
        };
        std::thread::sleep(takes);
    }
}
