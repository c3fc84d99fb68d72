//! The hub on tokio: a thin shell that turns wake-ups into polls of one task per hub.
//!
//! A [`Hub`] handle posts, opens and closes gates from anywhere. Its one task takes turns through
//! the [core](crate::core) and polls the handler's future; it gives way after
//! [`DRAIN_BATCH`](crate::limits::DRAIN_BATCH) turns, and it gives way to the back of the run
//! queue, where any worker can take it up.

mod handler;
mod pump;
mod watched;

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use fate_trail::{DeliveryId, Handle, Recorder, Storage};
use tokio::sync::watch;

use crate::core::fault::{Fault, Sound};
use crate::core::probe::{NoProbe, Probe};
use crate::core::{Core, Envelope, Gate, Handler, Kind, Outcome, Refused, Setup, SetupError};
use crate::observe::{Observe, Registry, Snapshot};
use handler::{AsyncHandler, WakeCell};
use pump::Pump;
use watched::Watch;

/// A running hub for messages of type `M`. Clones are handles to the same hub.
///
/// The hub lives until [`dispose`](Hub::dispose) or until its runtime shuts down; dropping the
/// handles does not end it.
pub struct Hub<M> {
    ops: Arc<dyn Ops<M>>,
}

impl<M> Clone for Hub<M> {
    fn clone(&self) -> Self {
        Self { ops: Arc::clone(&self.ops) }
    }
}

impl<M: Send + 'static> Hub<M> {
    /// Describes a hub, to be started by [`Builder::spawn`].
    pub fn builder(name: impl Into<String>) -> Builder<M> {
        Builder {
            setup: Setup::new(name),
            registry: None,
            #[cfg(feature = "otel")]
            telemetry: None,
            probe: NoProbe,
            kinds: PhantomData,
        }
    }

    /// The hub's name.
    pub fn name(&self) -> &str {
        self.ops.name()
    }

    /// Posts a message, or an [`Envelope`] with a kind or an id of its own. Never waits.
    ///
    /// # Errors
    /// Gives the message back if the hub is disposed of.
    pub fn post(&self, envelope: impl Into<Envelope<M>>) -> Result<DeliveryId, Refused<M>> {
        self.ops.post(envelope.into())
    }

    /// Opens a gate; see [`Core::open_gate`]. `false` if there is none of that name, or it is open.
    pub fn open_gate(&self, name: &str) -> bool {
        self.ops.open_gate(name)
    }

    /// Closes a gate again; see [`Core::close_gate`]. `false` if there is none of that name, or it
    /// is closed.
    pub fn close_gate(&self, name: &str) -> bool {
        self.ops.close_gate(name)
    }

    /// Ends the hub at once: what is queued or parked ends as dropped. The future is ready when the
    /// running handler, if any, has ended too; it need not be awaited, and a handler must not await
    /// it for its own hub, since it would wait for itself.
    pub fn dispose(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut finished = self.ops.dispose();
        async move {
            // An error means that the hub is gone altogether, which is as finished as can be.
            let _ = finished.wait_for(|finished| *finished).await;
        }
    }

    /// The hub at this instant.
    pub fn snapshot(&self) -> Snapshot {
        self.ops.snapshot()
    }

    /// The hub as observers see it.
    pub fn observer(&self) -> Arc<dyn Observe> {
        self.ops.observer()
    }
}

impl<M> std::fmt::Debug for Hub<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hub").field("name", &self.ops.name()).finish_non_exhaustive()
    }
}

/// Why a hub could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnError {
    /// It cannot be made as it was described.
    Setup(SetupError),
    /// No tokio runtime is current.
    NoRuntime,
}

impl std::fmt::Display for SpawnError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Setup(error) => error.fmt(f),
            Self::NoRuntime => f.write_str(
                "no tokio runtime is current: start the hub in async code, or enter a runtime first",
            ),
        }
    }
}

impl std::error::Error for SpawnError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Setup(error) => Some(error),
            Self::NoRuntime => None,
        }
    }
}

impl From<SetupError> for SpawnError {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}

/// What a handler knows about its turn besides the message.
#[derive(Debug)]
pub struct Context<M> {
    /// The hub the turn runs at; posting to it queues behind this turn.
    pub hub: Hub<M>,
    /// Id of the delivery.
    pub id: DeliveryId,
    /// Kind of the delivery.
    pub kind: Kind,
    /// Arrival sequence of the delivery at this hub, from 1.
    pub sequence: u64,
}

/// A hub before it runs.
pub struct Builder<M, S = Handle, F = Sound, P = NoProbe> {
    setup: Setup<M>,
    registry: Option<Registry>,
    #[cfg(feature = "otel")]
    telemetry: Option<crate::otel::Link>,
    probe: P,
    kinds: PhantomData<fn() -> (S, F)>,
}

impl<M, S, F, P> Builder<M, S, F, P>
where
    M: Send + 'static,
    S: Storage,
    F: Fault,
    P: Probe,
{
    /// Declares a gate.
    #[must_use]
    pub fn gate(mut self, gate: Gate<M>) -> Self {
        self.setup = self.setup.gate(gate);
        self
    }

    /// Where the trails go; without it nothing is recorded.
    #[must_use]
    pub fn recorder(mut self, recorder: &Recorder) -> Self {
        self.setup = self.setup.recorder(recorder.clone());
        self
    }

    /// Lists the hub for observers.
    #[must_use]
    pub fn registry(mut self, registry: &Registry) -> Self {
        self.registry = Some(registry.clone());
        self
    }

    /// Says the hub's deliveries as telemetry. Its trails must go to the recorder, and it must be listed
    /// in the registry, that the telemetry was started with.
    #[cfg(feature = "otel")]
    #[must_use]
    pub fn telemetry(mut self, telemetry: &crate::otel::Telemetry) -> Self {
        self.telemetry = Some(telemetry.link());
        self
    }

    /// Keeps the trails of deliveries elsewhere than in the recorder.
    pub fn storage<T: Storage>(self) -> Builder<M, T, F, P> {
        self.with(|probe| probe)
    }

    /// Puts a defect in, to see it fail.
    pub fn fault<D: Fault>(self) -> Builder<M, S, D, P> {
        self.with(|probe| probe)
    }

    /// Lets a test hold threads at named points.
    pub fn probe<Q: Probe>(self, probe: Q) -> Builder<M, S, F, Q> {
        self.with(|_| probe)
    }

    fn with<T, D, Q>(self, probe: impl FnOnce(P) -> Q) -> Builder<M, T, D, Q> {
        Builder {
            setup: self.setup,
            registry: self.registry,
            #[cfg(feature = "otel")]
            telemetry: self.telemetry,
            probe: probe(self.probe),
            kinds: PhantomData,
        }
    }

    /// Starts the hub on the current tokio runtime. The handler is called for one message at a
    /// time; its turn lasts until the future it returned ends. It returns `()` or a `Result`, whose
    /// error ends the turn as failed, as a panic does.
    ///
    /// The handler must not block its thread: blocking work belongs into `spawn_blocking`.
    ///
    /// # Errors
    /// If a name is unfit, gates clash, or no runtime is current.
    pub fn spawn<Run, Fut>(self, run: Run) -> Result<Hub<M>, SpawnError>
    where
        Run: Fn(Context<M>, M) -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Into<Outcome>,
    {
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| SpawnError::NoRuntime)?;
        let waker = Arc::new(WakeCell::default());
        let wake = Arc::clone(&waker);
        #[cfg(feature = "otel")]
        let watch = Watch::new(self.telemetry.map(|link| link.hub(self.setup.name())));
        #[cfg(not(feature = "otel"))]
        let watch = Watch::default();
        let core = Core::<_, S, F, P>::new(
            self.setup,
            AsyncHandler::new(run, watch.clone()),
            self.probe,
            Box::new(move || wake.wake()),
        )?;
        let shell = Arc::new(Shell { core, waker, watch, finished: watch::Sender::new(false) });
        let ops: Arc<dyn Ops<M>> = Arc::clone(&shell) as _;
        shell.core.handler().attach(&ops);
        if let Some(registry) = &self.registry {
            registry.add(&ops.observer());
        }
        runtime.spawn(Pump { shell });
        Ok(Hub { ops })
    }
}

impl<M, S, F, P> std::fmt::Debug for Builder<M, S, F, P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("setup", &self.setup).finish_non_exhaustive()
    }
}

/// What a handle can do, without the types that only the hub's maker knows.
pub(crate) trait Ops<M>: Send + Sync {
    fn name(&self) -> &str;
    fn post(&self, envelope: Envelope<M>) -> Result<DeliveryId, Refused<M>>;
    fn open_gate(&self, name: &str) -> bool;
    fn close_gate(&self, name: &str) -> bool;
    fn dispose(&self) -> watch::Receiver<bool>;
    fn snapshot(&self) -> Snapshot;
    fn observer(&self) -> Arc<dyn Observe>;
}

/// A core with what its task needs.
pub(crate) struct Shell<H: Handler, S: Storage, F: Fault, P: Probe> {
    pub(crate) core: Arc<Core<H, S, F, P>>,
    pub(crate) waker: Arc<WakeCell>,
    pub(crate) watch: Watch,
    pub(crate) finished: watch::Sender<bool>,
}

impl<H, S, F, P> Ops<H::Message> for Shell<H, S, F, P>
where
    H: Handler,
    S: Storage,
    F: Fault,
    P: Probe,
{
    fn name(&self) -> &str {
        self.core.name()
    }

    fn post(&self, envelope: Envelope<H::Message>) -> Result<DeliveryId, Refused<H::Message>> {
        self.watch.post(envelope, |envelope| self.core.post(envelope))
    }

    fn open_gate(&self, name: &str) -> bool {
        self.core.open_gate(name)
    }

    fn close_gate(&self, name: &str) -> bool {
        self.core.close_gate(name)
    }

    fn dispose(&self) -> watch::Receiver<bool> {
        self.core.dispose();
        // The task may be asleep with nothing to run; it ends itself once it sees the hub dead.
        self.waker.wake();
        self.finished.subscribe()
    }

    fn snapshot(&self) -> Snapshot {
        self.core.snapshot()
    }

    fn observer(&self) -> Arc<dyn Observe> {
        Arc::clone(&self.core) as Arc<dyn Observe>
    }
}
