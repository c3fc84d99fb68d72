//! From a running hub to what its users see: trails through a log into the analyzer, and state through the
//! socket into the terminal client.

use fate_hub::live::{LiveConfig, LiveServer};
use fate_hub::{Envelope, Gate, Hub, Kind, Registry};
use fate_tests::run;
use fate_trail::{Recorder, RecorderConfig, text};
use serde_json::Value;
use std::fmt::Write as _;
use tokio::sync::oneshot;

const ANALYZER: &str = env!("CARGO_BIN_EXE_shim-analyzer");
const TUI: &str = env!("CARGO_BIN_EXE_shim-tui");

/// Lets three orders run through a hub whose gate is closed at first, and returns its trails.
async fn trails_of_a_gated_hub() -> Vec<fate_trail::Trail> {
    let recorder = Recorder::new(RecorderConfig::default());
    let (handled, mut order) = tokio::sync::mpsc::unbounded_channel();
    let hub = Hub::builder("orders/7")
        .gate(Gate::closed("ready"))
        .recorder(&recorder)
        .spawn(move |_, order: &'static str| {
            let handled = handled.clone();
            async move { handled.send(order).expect("the test listens") }
        })
        .expect("a hub");
    for order in ["A", "B", "C"] {
        hub.post(order).expect("the hub accepts");
    }
    assert!(hub.open_gate("ready"));
    let mut seen = Vec::new();
    while seen.len() < 3 {
        seen.push(order.recv().await.expect("the hub handles"));
    }
    assert_eq!(seen, ["A", "B", "C"]);
    hub.dispose().await;
    recorder.finished()
}

#[test]
fn a_hubs_trails_are_found_in_a_log() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    let trails = runtime.block_on(trails_of_a_gated_hub());
    assert_eq!(trails.len(), 3);
    let mut log = String::from(
        "running 1 test\ntest orders::keeps_order ... FAILED\n\nfailures:\n\n---- orders::keeps_order stdout ----\n",
    );
    for trail in &trails {
        let _ = writeln!(log, "2026-09-06T14:00:00.1234567Z   note: {}", text::write(trail));
    }
    log.push_str("\n\nfailures:\n    orders::keeps_order\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("log.txt");
    std::fs::write(&path, log).expect("a log");
    let output = run(ANALYZER, &["inspect", "--format", "json", path.to_str().expect("a plain path")]);
    let seen: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = seen["files"][0]["trails"].as_array().expect("trails");
    assert_eq!(found.len(), 3, "{seen}");
    for (found, trail) in found.iter().zip(&trails) {
        assert_eq!(found["id"], trail.id.as_str());
        assert_eq!(found["stages"], trail.stages.len());
    }
}

/// What the hub of the next test is asked to do.
enum Job {
    /// Wait behind the closed gate.
    Order,
    /// Hold the turn: say that it runs, then wait to be let go.
    Hold(oneshot::Sender<()>, oneshot::Receiver<()>),
}

#[test]
fn a_hub_behind_its_socket_is_seen_by_the_terminal_client() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let registry = Registry::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    let mut config = LiveConfig::new("orders");
    // The server makes the folder, so that its mode is the server's business.
    let directory = folder.path().join("live");
    config.directory = Some(directory.clone());
    let server = LiveServer::start(config, registry.clone()).expect("a server");

    let (entered, running) = oneshot::channel();
    let (release, held) = oneshot::channel();
    let hub = runtime.block_on(async {
        let hub = Hub::builder("orders/7")
            .gate(Gate::closed("ready"))
            .registry(&registry)
            .spawn(|_, job: Job| async {
                if let Job::Hold(entered, held) = job {
                    let _ = entered.send(());
                    let _ = held.await;
                }
            })
            .expect("a hub");
        for _ in 0..3 {
            hub.post(Job::Order).expect("the hub accepts");
        }
        hub.post(Envelope::new(Job::Hold(entered, held)).kind(Kind::Initialize)).expect("the hub accepts");
        hub.post(Job::Order).expect("the hub accepts");
        running.await.expect("the turn runs");
        hub
    });

    let directory = directory.to_str().expect("a plain path");
    let output = run(TUI, &["snapshot", "--format", "json", "--dir", directory]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let seen: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(seen["schema"], "fate-snapshot/1");
    let hubs = seen["hubs"].as_array().expect("hubs");
    assert_eq!(hubs.len(), 1, "{seen}");
    let state = &hubs[0];
    assert_eq!(state["hub"], "orders/7");
    assert_eq!(state["boot"], server.boot());
    assert_eq!((&state["main"], &state["deferred"], &state["between"]), (&1.into(), &3.into(), &0.into()));
    assert_eq!(state["running"]["last_stage"], "HANDLER_ENTER");
    assert_eq!((&state["gates"][0]["name"], &state["gates"][0]["closed"]), (&"ready".into(), &true.into()));
    assert_eq!(state["gates"][0]["holding"], 3);

    let table = run(TUI, &["snapshot", "--dir", directory]);
    assert!(String::from_utf8_lossy(&table.stdout).contains("orders/7"));

    release.send(()).expect("the turn waits");
    runtime.block_on(hub.dispose());
    drop(server);
    let gone = run(TUI, &["snapshot", "--dir", directory]);
    assert_eq!(gone.status.code(), Some(3), "nobody is left to attach to");
}
