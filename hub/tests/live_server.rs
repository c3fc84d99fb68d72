//! The live server over a real socket in a folder of its own: attach, bad input, slow readers,
//! leftovers of dead processes.
#![cfg(feature = "live")]

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use fate_hub::live::{ByeReason, HubState, LiveConfig, LiveServer, Source};
use fate_trail::live::{
    Bye, ClientEvent, ClientSession, LineBuffer, LinePiece, MAX_LINE, MAX_REQUEST, Manifest, Wanted,
};
use fate_trail::stage::{ENQUEUED, HANDLER_EXIT};
use fate_trail::{Finished, Handle, Recorder, RecorderConfig, Storage, Trail};

/// Upper bound of every wait of these tests; none of them waits that long unless it fails.
const LIMIT: Duration = Duration::from_secs(30);

/// A folder that only we may enter, removed at the end.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fate-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
        Folder(path)
    }

    fn config(&self) -> LiveConfig {
        let mut config = LiveConfig::new("test");
        config.directory = Some(self.0.clone());
        // Patience bounds how long a test may be held up, not what it observes.
        config.patience = LIMIT;
        config.introduction = LIMIT;
        config.grace = LIMIT;
        config
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Hubs that change with every picture, and a count of the pictures.
#[derive(Clone, Default)]
struct Changing {
    hubs: usize,
    pictures: Arc<AtomicU64>,
}

impl Source for Changing {
    fn states(&self) -> Vec<HubState> {
        let n = self.pictures.fetch_add(1, Ordering::SeqCst);
        let name = |i| format!("hub/{i:0>150}");
        (0..self.hubs).map(|i| HubState { hub: name(i), main: n, ..HubState::default() }).collect()
    }
}

/// No hubs, and a recorder whose trails can be followed.
struct Followed(Recorder);

impl Source for Followed {
    fn states(&self) -> Vec<HubState> {
        Vec::new()
    }

    fn fates(&self, after: u64) -> Option<Finished> {
        Some(self.0.finished_after(after))
    }
}

struct Client {
    stream: UnixStream,
    session: ClientSession,
    lines: LineBuffer,
}

impl Client {
    fn attach(socket: &Path) -> Self {
        Client::attach_to(socket, &[])
    }

    fn attach_to(socket: &Path, hubs: &[&str]) -> Self {
        let hubs = hubs.iter().map(|&hub| hub.to_owned()).collect();
        Client::begin(socket, ClientSession::new(Wanted { product: "test 1".into(), hubs, rate: 0 }))
    }

    fn begin(socket: &Path, session: ClientSession) -> Self {
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream.set_write_timeout(Some(LIMIT)).unwrap();
        // A full house closes the connection before it reads anything.
        let _ = stream.write_all(session.opening().as_bytes());
        Client { stream, session, lines: LineBuffer::new(MAX_LINE) }
    }

    /// Events of the next read; none at the end of the stream.
    fn step(&mut self) -> Option<Vec<ClientEvent>> {
        let mut bytes = [0; 65536];
        let count = self.stream.read(&mut bytes).expect("the server answers in time");
        if count == 0 {
            return None;
        }
        let mut pieces = Vec::new();
        self.lines.feed(&bytes[..count], &mut pieces);
        let mut events = Vec::new();
        for piece in &pieces {
            assert!(matches!(piece, LinePiece::Line(_)), "no line is too long");
            let step = self.session.piece(piece);
            events.extend(step.events);
            step.send.iter().for_each(|line| self.stream.write_all(line.as_bytes()).unwrap());
        }
        Some(events)
    }

    /// Reads until an event fits.
    fn until<T>(&mut self, fits: impl Fn(&ClientEvent) -> Option<T>) -> T {
        loop {
            let events = self.step().expect("the event comes before the end of the stream");
            if let Some(found) = events.iter().find_map(&fits) {
                return found;
            }
        }
    }

    fn snapshot(&mut self) -> Vec<HubState> {
        self.until(|event| match event {
            ClientEvent::Snapshot(hubs) => Some(hubs.clone()),
            _ => None,
        })
    }

    fn bye(&mut self) -> Bye {
        self.until(|event| match event {
            ClientEvent::Bye(bye) => Some(bye.clone()),
            _ => None,
        })
    }
}

fn source(hubs: usize) -> Changing {
    Changing { hubs, ..Changing::default() }
}

#[test]
fn a_client_attaches_and_sees_states_and_heartbeats() {
    let folder = Folder::new("attach");
    let server = LiveServer::start(folder.config(), source(2)).unwrap();
    let mut client = Client::attach(server.socket());
    assert_eq!(client.snapshot().len(), 2);
    client.until(|e| matches!(e, ClientEvent::State(_)).then_some(()));
    client.until(|e| matches!(e, ClientEvent::Heartbeat(_)).then_some(()));
    assert_eq!(client.session.boot(), server.boot());
    let stopping = std::thread::spawn(move || drop(server));
    assert_eq!(client.bye().reason, ByeReason::Shutdown);
    stopping.join().unwrap();
}

#[test]
fn nothing_is_read_from_hubs_while_nobody_watches() {
    let folder = Folder::new("idle");
    let source = source(1);
    let pictures = Arc::clone(&source.pictures);
    let server = LiveServer::start(folder.config(), source).unwrap();
    // Connected, but not subscribed: several rounds of the server pass while it refuses garbage.
    let mut stream = UnixStream::connect(server.socket()).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream.write_all(b"garbage\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(pictures.load(Ordering::SeqCst), 0);
    Client::attach(server.socket()).snapshot();
    assert!(pictures.load(Ordering::SeqCst) > 0);
}

#[test]
fn socket_and_manifest_are_private_and_removed() {
    let folder = Folder::new("files");
    let server = LiveServer::start(folder.config(), source(0)).unwrap();
    let socket = server.socket().to_owned();
    let manifest = socket.with_extension("json");
    let mode = |path: &Path| std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&socket), mode(&manifest)), (0o600, 0o600));
    let read: Manifest = serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
    assert_eq!((read.boot.as_str(), read.pid), (server.boot(), std::process::id()));
    assert_eq!(read.socket, socket);
    drop(server);
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_folder_that_others_can_enter_is_refused() {
    let folder = Folder::new("open");
    std::fs::set_permissions(&folder.0, PermissionsExt::from_mode(0o755)).unwrap();
    let error = LiveServer::start(folder.config(), source(0)).unwrap_err().to_string();
    assert!(error.contains("755") && error.contains("chmod 700"), "{error}");
}

#[test]
fn a_dead_socket_is_replaced_and_a_living_one_is_not() {
    let folder = Folder::new("stale");
    let path = folder.0.join("own.sock");
    // A listener that is gone leaves its file behind, as a crash does.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let config = || LiveConfig { socket: Some(path.clone()), ..folder.config() };
    let server = LiveServer::start(config(), source(1)).unwrap();
    let error = LiveServer::start(config(), source(1)).unwrap_err().to_string();
    assert!(error.contains("another process"), "{error}");
    assert_eq!(Client::attach(server.socket()).snapshot().len(), 1, "the first one still serves");
    drop(server);
    std::fs::write(&path, "precious").unwrap();
    assert!(LiveServer::start(config(), source(1)).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
}

/// A stopped process accepts nobody, so its callers queue until the queue is full; whoever then
/// knocks and waits is stopped as well.
#[test]
fn a_process_that_accepts_nobody_holds_up_no_other_start() {
    use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketType};
    let folder = Folder::new("full");
    let path = folder.0.join("1-stopped.sock");
    let address = SocketAddrUnix::new(&path).unwrap();
    let listener = net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    net::bind(&listener, &address).unwrap();
    net::listen(&listener, 0).unwrap();
    std::fs::write(path.with_extension("json"), "{}").unwrap();
    let mut callers = Vec::new();
    loop {
        let caller = net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        rustix::io::ioctl_fionbio(&caller, true).unwrap();
        if net::connect(&caller, &address).is_err() {
            break;
        }
        callers.push(caller);
    }
    // The sweep knocks at it, and so does a start at its own socket.
    let server = LiveServer::start(folder.config(), source(0)).unwrap();
    assert!(path.exists() && server.socket().exists());
    let error = LiveServer::start(LiveConfig { socket: Some(path.clone()), ..folder.config() }, source(0));
    assert!(error.unwrap_err().to_string().contains("another process"));
}

#[test]
fn what_killed_processes_left_is_swept_and_the_living_keep_theirs() {
    let folder = Folder::new("sweep");
    let dead = folder.0.join("1-dead.sock");
    drop(std::os::unix::net::UnixListener::bind(&dead).unwrap());
    std::fs::write(dead.with_extension("json"), "{}").unwrap();
    let living = folder.0.join("2-living.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&living).unwrap();
    std::fs::write(living.with_extension("json"), "{}").unwrap();
    let server = LiveServer::start(folder.config(), source(0)).unwrap();
    assert!(!dead.exists() && !dead.with_extension("json").exists());
    assert!(living.exists() && living.with_extension("json").exists());
    assert!(server.socket().exists());
}

#[test]
fn a_restart_has_another_boot_id() {
    let folder = Folder::new("restart");
    let path = folder.0.join("own.sock");
    let config = || LiveConfig { socket: Some(path.clone()), ..folder.config() };
    let boot = || {
        let server = LiveServer::start(config(), source(1)).unwrap();
        let mut client = Client::attach(server.socket());
        client.snapshot();
        client.session.boot().to_owned()
    };
    assert_ne!(boot(), boot());
}

fn refused(text: &[u8], name: &str) -> String {
    let folder = Folder::new(name);
    let server = LiveServer::start(folder.config(), source(1)).unwrap();
    let mut stream = UnixStream::connect(server.socket()).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    // The server may close before it has taken everything.
    let _ = stream.write_all(text);
    let mut answer = Vec::new();
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        answer.extend_from_slice(&bytes[..count]);
    }
    assert_eq!(Client::attach(server.socket()).snapshot().len(), 1, "others are served as before");
    String::from_utf8(answer).unwrap()
}

#[test]
fn garbage_is_answered_with_a_reason() {
    let answer = refused(b"GET / HTTP/1.1\r\n\r\n", "garbage");
    assert!(answer.contains(r#""reason":"protocol""#), "{answer}");
    let answer = refused(b"\x1b[2J\xff\xfe\n", "binary");
    assert!(!answer.contains('\x1b') && answer.contains(r#""kind":"bye""#), "{answer}");
}

#[test]
fn a_line_without_end_is_refused_before_it_ends() {
    let answer = refused(&vec![b'x'; MAX_REQUEST + 1], "endless");
    assert!(answer.contains(r#""reason":"protocol""#) && answer.contains("65536"), "{answer}");
}

#[test]
fn whoever_says_nothing_is_sent_away() {
    let folder = Folder::new("silent");
    let mut config = folder.config();
    config.introduction = Duration::from_millis(20);
    let server = LiveServer::start(config, source(1)).unwrap();
    let mut stream = UnixStream::connect(server.socket()).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("no subscription within 20 ms"), "{answer}");
}

#[test]
fn one_client_too_many_is_told_so() {
    let folder = Folder::new("full");
    let mut config = folder.config();
    config.max_clients = 2;
    let server = LiveServer::start(config, source(1)).unwrap();
    let mut clients = [Client::attach(server.socket()), Client::attach(server.socket())];
    clients.iter_mut().for_each(|client| drop(client.snapshot()));
    let bye = Client::attach(server.socket()).bye();
    assert_eq!(bye.reason, ByeReason::TooManyClients);
    drop(clients);
}

#[test]
fn a_client_that_reads_nothing_is_told_why_and_slows_nobody() {
    let folder = Folder::new("stalled");
    let (told, heard) = mpsc::channel();
    let mut config = folder.config();
    config.patience = Duration::from_millis(100);
    config.on_goodbye = Some(Arc::new(move |reason, _: &str| {
        let _ = told.send(reason);
    }));
    // More than any socket buffer holds, with every picture.
    let source = source(2000);
    let pictures = Arc::clone(&source.pictures);
    let server = LiveServer::start(config, source).unwrap();
    let mut stalled = Client::attach(server.socket());
    stalled.until(|e| matches!(e, ClientEvent::Attached(..)).then_some(()));
    // One hub of all, so that only its own reading decides and not how fast this machine is.
    let mut reader = Client::attach_to(server.socket(), &["*0001"]);
    reader.snapshot();
    assert_eq!(heard.recv_timeout(LIMIT), Ok(ByeReason::SlowClient));
    // The other one goes on seeing new pictures.
    let seen = pictures.load(Ordering::SeqCst);
    reader.until(|event| match event {
        ClientEvent::State(state) if state.main > seen => Some(()),
        _ => None,
    });
    // And who reads again at last learns what happened.
    assert_eq!(stalled.bye().reason, ByeReason::SlowClient);
    drop(server);
}

#[test]
fn hubs_of_one_name_keep_their_numbers_when_one_of_them_ends() {
    let registry = fate_hub::Registry::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _inside = runtime.enter();
    let hub = || fate_hub::Hub::<u64>::builder("session").registry(&registry).spawn(|_, _| async {}).unwrap();
    let mut hubs: Vec<_> = (0..3).map(|_| hub()).collect();
    hubs[2].post(7).unwrap();
    let names = |posted| -> Vec<String> {
        registry.states().into_iter().filter(|hub| hub.posted == posted).map(|hub| hub.hub).collect()
    };
    assert_eq!((names(0), names(1)), (vec!["session".into(), "session#2".into()], vec!["session#3".into()]));
    let ended = hubs.remove(0);
    runtime.block_on(ended.dispose());
    drop(ended);
    assert_eq!((names(0), names(1)), (vec!["session#2".into()], vec!["session#3".into()]));
}

/// Finishes a trail of that id.
fn deliver(recorder: &Recorder, id: u64) {
    let hub = recorder.hub("orders/7");
    let mut trail = Handle::begin(recorder, id);
    trail.stamp_timed(recorder, hub, ENQUEUED, id);
    trail.stamp_timed(recorder, hub, HANDLER_EXIT, 0);
    trail.finish(recorder);
}

#[test]
fn a_client_that_asks_follows_the_trails_that_finish() {
    const EACH: u64 = 700;
    let folder = Folder::new("fates");
    let recorder = Recorder::new(RecorderConfig { finished: 512, ..RecorderConfig::default() });
    deliver(&recorder, 0);
    let server = LiveServer::start(folder.config(), Followed(recorder.clone())).unwrap();
    let mut other = Client::attach(server.socket());
    let session = ClientSession::new(Wanted::default()).following_fates();
    let mut client = Client::begin(server.socket(), session);
    // The heartbeat follows the picture from which on the client follows, or a later one.
    client.until(|event| matches!(event, ClientEvent::Heartbeat(_)).then_some(()));
    // More at once than the recorder keeps: some are lost, and told of.
    (1..=EACH).for_each(|id| deliver(&recorder, id));
    let known = recorder.finished();
    let (mut next, mut lost, mut trails) = (2, 0, Vec::<Trail>::new());
    while next <= EACH + 1 {
        for event in client.step().expect("trails until the last") {
            match event {
                ClientEvent::Fate(seq, trail) => {
                    assert_eq!(seq, next);
                    next += 1;
                    trails.push(*trail);
                }
                ClientEvent::FateGap(gap) => {
                    assert_eq!(gap.from, next);
                    next = gap.to + 1;
                    lost += gap.count;
                }
                _ => {}
            }
        }
    }
    assert_eq!(trails.len() as u64 + lost, EACH);
    assert!(trails.ends_with(&known[known.len() - 100..]), "the very trails of the recorder");
    let quiet = |event: &ClientEvent| !matches!(event, ClientEvent::Fate(..) | ClientEvent::FateGap(_));
    let mut events = Vec::new();
    while !events.iter().any(|event| matches!(event, ClientEvent::Heartbeat(_))) {
        events.extend(other.step().expect("a heartbeat"));
    }
    assert!(events.iter().all(quiet), "who does not ask gets none");
    drop(client);
    drop(other);
    drop(server);
}
