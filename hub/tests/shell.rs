//! The tokio shell, end to end: async handlers, one turn at a time, and no delivery without a fate.

use std::sync::{Arc, Mutex};

use fate_hub::core::fault::{Fault, RestoreAppends, Sound};
use fate_hub::limits::DRAIN_BATCH;
use fate_hub::{Envelope, Gate, Hub, Kind, Registry, RunLevel, SpawnError};
use fate_trail::{Fate, Recorder, RecorderConfig};
use tokio::sync::{mpsc, oneshot};

/// What the tests post.
enum Job {
    Note(&'static str),
    /// Says that it has begun and goes on until it is told to end.
    Hold(&'static str, oneshot::Sender<()>, oneshot::Receiver<()>),
    PanicAtOnce,
    PanicLater,
    Fail,
    /// Opens the gate, posts to its own hub and ends.
    OpenAndPost(&'static str),
}

/// What has been handled, in order, as the test receives it.
type Seen = mpsc::UnboundedReceiver<&'static str>;

fn recorder() -> Recorder {
    Recorder::new(RecorderConfig::default())
}

/// A hub with a gate that admits whatever holds or opens.
fn hub<F: Fault>(recorder: &Recorder) -> (Hub<Job>, Seen) {
    let (note, seen) = mpsc::unbounded_channel();
    let admits = |_, job: &Job| matches!(job, Job::Hold(..) | Job::OpenAndPost(_));
    let hub = Hub::builder("orders/7")
        .gate(Gate::closed("ready").admitting(admits))
        .recorder(recorder)
        .fault::<F>()
        .spawn(move |turn, job| {
            let note = note.clone();
            async move {
                let name = match job {
                    Job::Note(name) => name,
                    Job::Hold(name, begun, end) => {
                        begun.send(()).map_err(|()| "nobody waits for the beginning")?;
                        end.await.map_err(|_| "nobody ends it")?;
                        name
                    }
                    Job::PanicAtOnce => panic!("at once"),
                    Job::PanicLater => {
                        tokio::task::yield_now().await;
                        panic!("later");
                    }
                    Job::Fail => return Err("no stock"),
                    Job::OpenAndPost(name) => {
                        turn.hub.open_gate("ready");
                        turn.hub.post(Job::Note("own post")).map_err(|_| "disposed")?;
                        name
                    }
                };
                note.send(name).map_err(|_| "nobody looks")
            }
        })
        .expect("a runtime is current and names are fit");
    (hub, seen)
}

fn hold(name: &'static str) -> (Job, oneshot::Receiver<()>, oneshot::Sender<()>) {
    let (begun, has_begun) = oneshot::channel();
    let (end, ended) = oneshot::channel();
    (Job::Hold(name, begun, ended), has_begun, end)
}

fn post(hub: &Hub<Job>, envelope: impl Into<Envelope<Job>>) {
    hub.post(envelope).expect("the hub is alive");
}

/// The order in which A, B and C are handled: A was parked, B and C came while the gate's opener
/// held the loop.
async fn order<F: Fault>() -> Vec<&'static str> {
    let (hub, mut seen) = hub::<F>(&recorder());
    post(&hub, Job::Note("A"));
    let (blocker, begun, end) = hold("blocker");
    post(&hub, blocker);
    begun.await.expect("the blocker was admitted behind the parked A");
    assert_eq!(hub.snapshot().deferred, 1);
    post(&hub, Job::Note("B"));
    post(&hub, Job::Note("C"));
    assert!(hub.open_gate("ready"));
    end.send(()).expect("the blocker waits");
    assert_eq!(seen.recv().await, Some("blocker"));
    let mut order = Vec::new();
    for _ in 0..3 {
        order.extend(seen.recv().await);
    }
    hub.dispose().await;
    order
}

#[tokio::test]
async fn parked_messages_are_handled_before_later_ones() {
    assert_eq!(order::<Sound>().await, ["A", "B", "C"]);
}

#[tokio::test]
async fn the_defect_shows_through_the_shell() {
    assert_eq!(order::<RestoreAppends>().await, ["B", "C", "A"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parked_messages_are_handled_before_later_ones_on_several_workers() {
    assert_eq!(order::<Sound>().await, ["A", "B", "C"]);
}

#[tokio::test]
async fn a_handler_may_open_its_own_gate_and_post_to_its_own_hub() {
    let (hub, mut seen) = hub::<Sound>(&recorder());
    post(&hub, Job::Note("parked"));
    post(&hub, Job::OpenAndPost("opener"));
    post(&hub, Job::Note("queued"));
    for expected in ["opener", "parked", "queued", "own post"] {
        assert_eq!(seen.recv().await, Some(expected));
    }
}

#[tokio::test]
async fn panics_and_errors_end_their_turn_as_failed_and_the_hub_goes_on() {
    let recorder = recorder();
    let (hub, mut seen) = hub::<Sound>(&recorder);
    hub.open_gate("ready");
    post(&hub, Envelope::new(Job::PanicAtOnce).id("at-once"));
    post(&hub, Envelope::new(Job::PanicLater).id("later"));
    post(&hub, Envelope::new(Job::Fail).id("fails"));
    post(&hub, Envelope::new(Job::Note("after")).id("after"));
    assert_eq!(seen.recv().await, Some("after"));
    hub.dispose().await;

    let trails = recorder.finished();
    let error = |id: &str| {
        let trail = trails.iter().find(|trail| trail.id == id).expect("a finished trail");
        assert_eq!(trail.fate(), Fate::Failed, "{trail}");
        let stage = trail.stages.last().expect("a trail has stages");
        let error = stage.detail("error").expect("a fault has its error");
        error.elements().next().expect("a text").into_owned()
    };
    assert_eq!(error("at-once"), "handler panicked: at once");
    assert_eq!(error("later"), "handler panicked: later");
    assert_eq!(error("fails"), "no stock");
    let after = trails.iter().find(|trail| trail.id == "after").expect("a finished trail");
    assert_eq!(after.fate(), Fate::Handled);
}

#[tokio::test]
async fn disposing_waits_for_the_running_handler_and_refuses_what_comes_later() {
    let recorder = recorder();
    let (hub, mut seen) = hub::<Sound>(&recorder);
    let (blocker, begun, end) = hold("blocker");
    post(&hub, blocker);
    post(&hub, Envelope::new(Job::Note("queued")).id("queued"));
    begun.await.expect("the blocker begins");
    let disposed = hub.dispose();
    assert_eq!(hub.snapshot().run_level, RunLevel::Dead);
    assert!(hub.post(Job::Note("late")).is_err());
    end.send(()).expect("the blocker waits");
    disposed.await;
    assert_eq!(seen.recv().await, Some("blocker"));
    hub.dispose().await;
    let fates: Vec<_> = recorder.finished().iter().map(|trail| (trail.id.clone(), trail.fate())).collect();
    assert!(fates.contains(&("queued".to_owned(), Fate::Dropped)), "{fates:?}");
}

#[test]
fn a_runtime_that_shuts_down_gives_every_delivery_a_fate() {
    let recorder = recorder();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let (job, begun, _end) = hold("never ended");
    let hub = runtime.block_on(async {
        let (hub, _seen) = hub::<Sound>(&recorder);
        post(&hub, Envelope::new(Job::Note("parked")).id("parked"));
        post(&hub, Envelope::new(job).id("running"));
        begun.await.expect("it begins");
        post(&hub, Envelope::new(Job::Note("queued")).id("queued"));
        hub
    });
    drop(runtime);
    let mut ends: Vec<(String, String)> = recorder
        .finished()
        .iter()
        .map(|trail| (trail.id.clone(), trail.stages.last().expect("stages").token.clone()))
        .collect();
    ends.sort();
    let expected = [
        ("parked", "NOT_PROCESSED_DISPOSING"),
        ("queued", "NOT_PROCESSED_DISPOSING"),
        ("running", "HANDLER_CANCELLED"),
    ];
    assert_eq!(ends, expected.map(|(id, end)| (id.to_owned(), end.to_owned())));
    assert!(hub.post(Job::Note("late")).is_err());
}

/// A busy hub gives way after a batch, so that another hub on the same thread has its turns.
#[tokio::test]
async fn a_busy_hub_lets_another_one_run() {
    let handled = Arc::new(Mutex::new(0_usize));
    let count = Arc::clone(&handled);
    let busy = Hub::builder("busy")
        .spawn(move |_, ()| {
            *count.lock().expect("no panic") += 1;
            async {}
        })
        .expect("a runtime is current");
    let (tell, told) = oneshot::channel();
    let tell = Mutex::new(Some(tell));
    let calm = Hub::builder("calm")
        .spawn(move |_, ()| {
            let handled = *handled.lock().expect("no panic");
            let tell = tell.lock().expect("no panic").take();
            async move { tell.ok_or("once")?.send(handled).map_err(|_| "nobody waits") }
        })
        .expect("a runtime is current");
    for _ in 0..10 * DRAIN_BATCH {
        busy.post(()).expect("alive");
    }
    calm.post(()).expect("alive");
    assert_eq!(told.await, Ok(DRAIN_BATCH));
}

#[tokio::test]
async fn a_registry_lists_hubs_and_keeps_none_alive() {
    let registry = Registry::new();
    let hub = Hub::builder("seen").registry(&registry).spawn(|_, ()| async {}).expect("a runtime");
    let names: Vec<String> = registry.hubs().iter().map(|hub| hub.name().to_owned()).collect();
    assert_eq!(names, ["seen"]);
    hub.dispose().await;
    drop(hub);
    assert!(registry.hubs().is_empty());
}

#[tokio::test]
async fn an_exempt_message_passes_the_closed_gate() {
    let (hub, mut seen) = hub::<Sound>(&recorder());
    post(&hub, Job::Note("parked"));
    post(&hub, Envelope::new(Job::Note("beat")).kind(Kind::Heartbeat));
    assert_eq!(seen.recv().await, Some("beat"));
    assert_eq!(hub.snapshot().deferred, 1);
}

#[test]
fn a_hub_needs_a_runtime_and_says_so() {
    let error = Hub::builder("lost").spawn(|_, ()| async {}).expect_err("no runtime");
    assert_eq!(error, SpawnError::NoRuntime);
    assert!(error.to_string().contains("enter a runtime"));
}
