//! Serves the live protocol: an observer attaches over a unix socket and sees every hub listed.
//!
//! The server has a thread and a runtime of its own, so a process whose threads are all busy can
//! still be looked at. It reads hubs only while somebody has subscribed, takes one consistent
//! snapshot of each at most ten times a second, and never makes a turn wait: a client that reads too
//! slowly sees fewer states, and one that does not read at all is told so and disconnected. Clients that
//! ask for it also get the trails that finish, out of the recorder's own store of them.

mod place;
mod serve;
mod state;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fmt, io};

use fate_trail::clock::{Clock, SystemClock};
pub use fate_trail::live::{ByeReason, HubState};
use fate_trail::live::{FATES, Hello, MAX_RATE, PROTOCOL, VERSION};
use tokio::sync::watch;

pub use place::PlaceError;
pub use state::{Source, state_of};

use place::Place;

/// Most clients at a time.
pub const MAX_CLIENTS: usize = 8;

/// A position behind every trail: asked there, a source only tells where the next one will be.
const NEWEST: u64 = u64::MAX;

/// Called when a session ends that the server had to end: reason and text.
pub type OnGoodbye = Arc<dyn Fn(ByeReason, &str) + Send + Sync>;

/// How a process is served. Start from [`LiveConfig::new`].
#[derive(Clone)]
pub struct LiveConfig {
    /// Name of the process; becomes part of the socket's file name.
    pub name: String,
    /// Program and version that clients are shown.
    pub product: String,
    /// The folder of sockets and manifests, if not the usual one.
    pub directory: Option<PathBuf>,
    /// A socket of its own, without manifest; only who knows the path finds it.
    pub socket: Option<PathBuf>,
    /// Most clients at a time.
    pub max_clients: usize,
    /// Distance of two pictures of all hubs.
    pub every: Duration,
    /// Distance of two heartbeats.
    pub heartbeat: Duration,
    /// A client that takes no byte for this long is disconnected.
    pub patience: Duration,
    /// A client that has not said hello and subscribed by then is disconnected.
    pub introduction: Duration,
    /// How long the goodbye to a client may take.
    pub grace: Duration,
    /// Told about every session that the server ends.
    pub on_goodbye: Option<OnGoodbye>,
}

impl LiveConfig {
    /// The usual settings for a process of that name.
    pub fn new(name: &str) -> Self {
        LiveConfig {
            name: name.to_owned(),
            product: concat!("fate-hub ", env!("CARGO_PKG_VERSION")).to_owned(),
            directory: None,
            socket: None,
            max_clients: MAX_CLIENTS,
            every: Duration::from_secs(1) / MAX_RATE,
            heartbeat: Duration::from_secs(1),
            patience: Duration::from_secs(5),
            introduction: Duration::from_secs(5),
            grace: Duration::from_secs(1),
            on_goodbye: None,
        }
    }
}

impl fmt::Debug for LiveConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveConfig")
            .field("name", &self.name)
            .field("directory", &self.directory)
            .field("socket", &self.socket)
            .finish_non_exhaustive()
    }
}

/// Why a server did not start.
#[derive(Debug)]
pub enum LiveError {
    /// The folder or the socket cannot be used.
    Place(PlaceError),
    /// The thread or its runtime could not be started.
    Thread(io::Error),
}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiveError::Place(error) => error.fmt(f),
            LiveError::Thread(error) => write!(f, "the live server did not start: {error}"),
        }
    }
}

impl std::error::Error for LiveError {}

/// A running server. Dropping it says goodbye to every client and removes socket and manifest.
#[derive(Debug)]
pub struct LiveServer {
    place: Place,
    boot: String,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl LiveServer {
    /// Starts to serve `source`, most often a [`crate::Registry`].
    ///
    /// # Errors
    /// The folder is not private, another process serves the same socket, or no thread can be
    /// started.
    pub fn start(config: LiveConfig, source: impl Source) -> Result<Self, LiveError> {
        let clock = SystemClock::new();
        let mut hello = hello(&config, &clock);
        if source.fates(NEWEST).is_some() {
            hello.features.push(FATES.to_owned());
        }
        let (place, listener) = Place::take(&config, &hello).map_err(LiveError::Place)?;
        let boot = hello.boot.clone();
        let (stop, stopped) = watch::channel(false);
        let (ready, started) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("fate-live".to_owned())
            .spawn(move || {
                let server = serve::Server::new(config, hello, Box::new(source), clock);
                serve::run(server, listener, stopped, &ready);
            })
            .map_err(LiveError::Thread)?;
        let server = LiveServer { place, boot, stop, thread: Some(thread) };
        match started.recv() {
            Ok(Ok(())) => Ok(server),
            Ok(Err(error)) => Err(LiveError::Thread(error)),
            Err(_) => Err(LiveError::Thread(io::Error::other("its thread ended at once"))),
        }
    }

    /// The socket that clients connect to.
    pub fn socket(&self) -> &Path {
        self.place.socket()
    }

    /// Boot id: drawn anew at each start.
    pub fn boot(&self) -> &str {
        &self.boot
    }
}

impl Drop for LiveServer {
    fn drop(&mut self) {
        // Without a receiver the thread has ended already.
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported by the panic hook.
            let _ = thread.join();
        }
        self.place.leave();
    }
}

fn hello(config: &LiveConfig, clock: &SystemClock) -> Hello {
    let wall = clock.wall_micros();
    Hello {
        protocol: PROTOCOL.to_owned(),
        version: VERSION.to_string(),
        boot: boot_id(),
        product: config.product.clone(),
        features: Vec::new(),
        encodings: vec!["json".to_owned()],
        name: config.name.clone(),
        pid: std::process::id(),
        started: fate_trail::time::format(wall),
        wall_us: u64::try_from(wall).unwrap_or(0),
        mono_us: clock.now_micros(),
    }
}

/// 128 random bits in hexadecimal. The standard library seeds its hashers from the system's random
/// source; that is all that is needed to tell two starts apart.
fn boot_id() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let word = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", word(), word())
}
