//! The server's thread: accept, read, take pictures, write. One runtime, one thread, nothing shared
//! with the threads that run turns.

use std::io;
use std::os::unix::net::UnixListener as StdListener;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fate_trail::clock::{Clock, SystemClock};
use fate_trail::live::{ByeReason, FateBatch, Gap, Heartbeat, Hello, LineBuffer, MAX_REQUEST, ServerSession};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::{LiveConfig, NEWEST, Source};

/// Bytes per read; clients have little to say.
const READ: usize = 8 * 1024;

/// Pause after an `accept` that failed, most often for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// What the tasks of the server share.
pub(super) struct Server {
    config: LiveConfig,
    hello: Hello,
    source: Box<dyn Source>,
    clock: SystemClock,
}

impl Server {
    pub(super) fn new(config: LiveConfig, hello: Hello, source: Box<dyn Source>, clock: SystemClock) -> Self {
        Server { config, hello, source, clock }
    }
}

/// One attached client.
struct Client {
    session: Mutex<ServerSession>,
    /// There may be something to write.
    wake: Notify,
}

impl Client {
    fn with<T>(&self, act: impl FnOnce(&mut ServerSession) -> T) -> T {
        act(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Runs until `stopped` says so. Reports through `ready` whether it has started.
pub(super) fn run(
    server: Server,
    listener: StdListener,
    stopped: watch::Receiver<bool>,
    ready: &SyncSender<io::Result<()>>,
) {
    let started = tokio::runtime::Builder::new_current_thread().enable_all().build().and_then(|runtime| {
        let _inside = runtime.enter();
        let listener = UnixListener::from_std(listener)?;
        Ok((runtime, listener))
    });
    match started {
        Ok((runtime, listener)) => {
            // The starting thread waits for this; it cannot have gone away.
            let _ = ready.send(Ok(()));
            runtime.block_on(serve(server, listener, stopped));
        }
        Err(error) => {
            let _ = ready.send(Err(error));
        }
    }
}

async fn serve(server: Server, listener: UnixListener, mut stopped: watch::Receiver<bool>) {
    let Server { config, hello, source, clock } = server;
    let mut clients: Vec<Arc<Client>> = Vec::new();
    let mut tasks: JoinSet<()> = JoinSet::new();
    let mut pictures = interval(config.every);
    pictures.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut painter = Painter { seq: 0, beat: None, lost: source.lost(), told: None };
    loop {
        tokio::select! {
            _ = stopped.changed() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    // Those whose task has ended hold no other reference.
                    clients.retain(|client| Arc::strong_count(client) > 1);
                    if let Some(client) = admit(&config, &hello, clients.len(), &stream) {
                        clients.push(Arc::clone(&client));
                        tasks.spawn(attend(client, stream, config.clone()));
                    }
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            _ = pictures.tick() => {
                while tasks.try_join_next().is_some() {}
                clients.retain(|client| Arc::strong_count(client) > 1);
                painter.paint(&config, source.as_ref(), &clock, &clients);
            }
        }
    }
    for client in &clients {
        client.with(|session| session.close(ByeReason::Shutdown, "the process stops serving"));
        client.wake.notify_one();
    }
    let all = async { while tasks.join_next().await.is_some() {} };
    // Whoever does not read has had its chance; dropping the tasks closes their sockets.
    let _ = timeout(config.grace, all).await;
}

/// Lets a client in, or says why not.
fn admit(config: &LiveConfig, hello: &Hello, attached: usize, stream: &UnixStream) -> Option<Arc<Client>> {
    let own = rustix::process::geteuid().as_raw();
    // Another user is not even answered.
    if !stream.peer_cred().is_ok_and(|peer| peer.uid() == own) {
        return None;
    }
    let mut session = ServerSession::new(hello);
    if attached >= config.max_clients {
        let text = format!("{attached} clients are attached, which is the most");
        session.close(ByeReason::TooManyClients, &text);
        if let Some(told) = &config.on_goodbye {
            told(ByeReason::TooManyClients, &text);
        }
        // A new socket takes a short line at once, or the client does not learn the reason.
        if let Some(line) = session.next_line() {
            let _ = stream.try_write(line.as_bytes());
        }
        return None;
    }
    Some(Arc::new(Client { session: Mutex::new(session), wake: Notify::new() }))
}

/// Takes pictures of all hubs and offers them to every client.
struct Painter {
    seq: u64,
    beat: Option<Instant>,
    lost: u64,
    /// Position of the last finished trail that was read, while somebody follows them.
    told: Option<u64>,
}

impl Painter {
    fn paint(
        &mut self,
        config: &LiveConfig,
        source: &dyn Source,
        clock: &SystemClock,
        clients: &[Arc<Client>],
    ) {
        let wanting = |client: &&Arc<Client>| client.with(|session| session.wants_picture());
        let clients: Vec<_> = clients.iter().filter(wanting).collect();
        if clients.is_empty() {
            return;
        }
        let states = source.states();
        let (before, lost) = (self.seq, source.lost());
        self.seq += 1;
        let now = clock.now_micros();
        let beats = self.beat.is_none_or(|at| at.elapsed() >= config.heartbeat);
        if beats {
            self.beat = Some(Instant::now());
        }
        let beat = Heartbeat {
            boot: String::new(),
            seq: self.seq,
            wall_us: u64::try_from(clock.wall_micros()).unwrap_or(0),
            mono_us: now,
            lost,
        };
        let gap = (lost > self.lost).then(|| Gap {
            boot: String::new(),
            from: before,
            to: self.seq,
            count: lost - self.lost,
            reason: "recorder-full".to_owned(),
        });
        self.lost = lost;
        for client in &clients {
            client.with(|session| {
                session.picture(self.seq, now, &states);
                if let Some(gap) = &gap {
                    session.gap(gap.clone());
                }
                if beats {
                    session.heartbeat(beat.clone());
                }
            });
        }
        self.tell_fates(source, &clients);
        clients.iter().for_each(|client| client.wake.notify_one());
    }

    /// Offers the trails that finished since the picture before to whoever follows them.
    fn tell_fates(&mut self, source: &dyn Source, clients: &[&Arc<Client>]) {
        if !clients.iter().any(|client| client.with(|session| session.follows_fates())) {
            self.told = None;
            return;
        }
        // The first to follow begins here, not with what was there before.
        let told = self.told.or_else(|| source.fates(NEWEST).map(|newest| newest.next));
        let Some((told, finished)) = told.and_then(|told| Some((told, source.fates(told)?))) else {
            return;
        };
        self.told = Some(finished.next);
        let batch = FateBatch::new(told, &finished);
        clients.iter().for_each(|client| client.with(|session| session.fates(&batch)));
    }
}

/// Reads and writes for one client until its session is over.
async fn attend(client: Arc<Client>, stream: UnixStream, config: LiveConfig) {
    let (mut reader, mut writer) = stream.into_split();
    let mut lines = LineBuffer::new(MAX_REQUEST);
    let introduced_by = Instant::now() + config.introduction;
    loop {
        if !write_all(&client, &mut writer, &config).await {
            break;
        }
        if client.with(|session| session.is_over()) {
            break;
        }
        let introduced = client.with(|session| session.wants_picture());
        tokio::select! {
            () = client.wake.notified() => {}
            open = read_some(&client, &mut reader, &mut lines) => if !open { break },
            () = tokio::time::sleep_until(introduced_by), if !introduced => {
                let text = format!("no subscription within {} ms", config.introduction.as_millis());
                client.with(|session| session.close(ByeReason::Protocol, &text));
            }
        }
    }
    let reason = client.with(|session| session.reason().cloned());
    if let (Some((reason, text)), Some(told)) = (reason, &config.on_goodbye) {
        // A slow client has been announced when it was found out.
        if reason != ByeReason::SlowClient {
            told(reason, &text);
        }
    }
}

/// False if the client has gone.
async fn read_some(client: &Client, reader: &mut OwnedReadHalf, lines: &mut LineBuffer) -> bool {
    let mut bytes = [0; READ];
    let count = match reader.read(&mut bytes).await {
        Ok(0) | Err(_) => return false,
        Ok(count) => count,
    };
    let mut pieces = Vec::new();
    lines.feed(&bytes[..count], &mut pieces);
    client.with(|session| {
        pieces.iter().for_each(|piece| session.piece(piece));
        // A line that is too long already need not end before it is refused.
        if lines.is_skipping() {
            session.close(ByeReason::Protocol, &format!("a line of more than {MAX_REQUEST} bytes"));
        }
    });
    true
}

/// Writes every line that waits. False if the connection is over.
async fn write_all(client: &Client, writer: &mut OwnedWriteHalf, config: &LiveConfig) -> bool {
    while let Some(line) = client.with(ServerSession::next_line) {
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            match timeout(config.patience, writer.write(rest)).await {
                Ok(Ok(0) | Err(_)) => return false,
                Ok(Ok(count)) => rest = &rest[count..],
                Err(_) => {
                    part_with_slow(client, writer, rest, config).await;
                    return false;
                }
            }
        }
    }
    true
}

/// Tells a client that takes nothing why it is disconnected, should it read again within the grace:
/// the line it was in the middle of, then the goodbye.
async fn part_with_slow(client: &Client, writer: &mut OwnedWriteHalf, rest: &[u8], config: &LiveConfig) {
    let text = format!("nothing was read for {} ms; attach again", config.patience.as_millis());
    let bye = client.with(|session| {
        session.close(ByeReason::SlowClient, &text);
        session.next_line()
    });
    if let Some(told) = &config.on_goodbye {
        told(ByeReason::SlowClient, &text);
    }
    let last = async {
        writer.write_all(rest).await?;
        writer.write_all(bye.unwrap_or_default().as_bytes()).await
    };
    // Too late is too late: the connection ends either way.
    let _ = timeout(config.grace, last).await;
}
