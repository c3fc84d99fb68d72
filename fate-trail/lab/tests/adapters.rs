//! Each adapter in its library: a handled, a failed and a lost message, and no adapter over sixty lines.

use std::path::Path;

use fate_trail::carry::{Carried, Mailbox};
use fate_trail::{Level, Recorder, RecorderConfig, Trail};
use fate_trail_lab::adapters;

/// Lines of one adapter, so that copying it stays an easy decision.
const ADAPTER_LINES_MAX: usize = 60;

fn mailbox(hub: &str) -> &'static Mailbox {
    Mailbox::named(&Recorder::new(RecorderConfig::default()), hub)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime")
}

/// What a trail says of its stages, without times.
fn stages(trail: &Trail) -> Vec<String> {
    let detail = |(key, value): &(String, _)| format!(" {key}={value}");
    let stage = |s: &fate_trail::Stage| s.token.clone() + &s.details.iter().map(detail).collect::<String>();
    trail.stages.iter().map(stage).collect()
}

/// Messages 1 (handled), 2 (failed) and 3 (never taken), in the order of their ends.
fn assert_three_ends(mailbox: &Mailbox, hub: &str, error: &str) {
    let mut trails = mailbox.recorder().take_finished();
    trails.sort_by(|a, b| a.id.cmp(&b.id));
    let posted = format!("POSTED target={hub}");
    let entered = [posted.as_str(), "TURN_START", "HANDLER_ENTER"];
    let failed = format!("HANDLER_FAULT error={error}");
    let expected = [
        [&entered[..], &["HANDLER_EXIT state=processed"]].concat(),
        [&entered[..], &[&failed]].concat(),
        vec![posted.as_str(), "DROPPED_SHUTTING_DOWN run_level=closed"],
    ];
    assert_eq!(trails.len(), 3, "{trails:#?}");
    for (trail, expected) in trails.iter().zip(expected) {
        assert_eq!(stages(trail), expected, "{trail}");
        assert_eq!((trail.conforms(), trail.stages[0].offset), (Level::L1, Some(0)), "{trail}");
        assert!(trail.stages.iter().all(|stage| stage.hub == hub), "{trail}");
    }
    assert_eq!(mailbox.recorder().status().in_flight, 0, "every trail has ended");
}

struct Orders;

impl adapters::kameo::Handles<bool> for Orders {
    async fn handle(&mut self, good: bool) -> Result<(), String> {
        if good { Ok(()) } else { Err("no stock".to_owned()) }
    }
}

#[test]
fn kameo() {
    use kameo::actor::Spawn;
    let mailbox = mailbox("kameo-orders");
    runtime().block_on(async {
        let actor = adapters::kameo::Traced::spawn(Orders);
        adapters::kameo::tell(&actor, mailbox, 1, true).await.expect("told");
        adapters::kameo::tell(&actor, mailbox, 2, false).await.expect("told");
        actor.stop_gracefully().await.expect("stopped");
        actor.wait_for_shutdown().await;
        let refused = adapters::kameo::tell(&actor, mailbox, 3, true).await;
        assert!(refused.is_err(), "the actor is gone");
    });
    assert_three_ends(mailbox, "kameo-orders", "no%20stock");
}

struct RactorOrders;

impl ractor::Actor for RactorOrders {
    type Msg = Carried<bool>;
    type State = ();
    type Arguments = ();

    async fn pre_start(
        &self,
        _: ractor::ActorRef<Carried<bool>>,
        (): (),
    ) -> Result<(), ractor::ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        _: ractor::ActorRef<Carried<bool>>,
        message: Carried<bool>,
        (): &mut (),
    ) -> Result<(), ractor::ActorProcessingErr> {
        let (good, turn) = message.enter();
        adapters::ractor::end(turn, if good { Ok(()) } else { Err("no stock".into()) })
    }
}

#[test]
fn ractor() {
    use ractor::Actor;
    let mailbox = mailbox("ractor-orders");
    runtime().block_on(async {
        let (actor, ended) = RactorOrders::spawn(None, RactorOrders, ()).await.expect("spawned");
        adapters::ractor::send(&actor, mailbox, 1, true).expect("sent");
        adapters::ractor::send(&actor, mailbox, 2, false).expect("sent");
        // The error of message 2 ends the actor.
        ended.await.expect("joined");
        drop(adapters::ractor::send(&actor, mailbox, 3, true));
        drop(actor);
    });
    assert_three_ends(mailbox, "ractor-orders", "no%20stock");
}

#[test]
fn tokio_channel() {
    let mailbox = mailbox("channel-orders");
    runtime().block_on(async {
        let (sender, mut receiver) = adapters::tokio_channel::channel(mailbox, 4);
        for id in 1..=3u64 {
            sender.send(id, "nuts").await.expect("sent");
        }
        let (value, turn) = receiver.recv().await.expect("a value");
        assert_eq!(value, "nuts");
        drop(turn);
        let (_, turn) = receiver.recv().await.expect("a value");
        turn.fail("no stock");
    });
    assert_three_ends(mailbox, "channel-orders", "no%20stock");
}

#[test]
fn tower() {
    use tower::{Service, ServiceExt};
    let mailbox = mailbox("tower-orders");
    runtime().block_on(async {
        let orders =
            tower::service_fn(|id: u64| async move { if id == 1 { Ok(id) } else { Err("no stock") } });
        let buffered = tower::buffer::Buffer::new(adapters::tower::Enter(orders), 4);
        let mut front = adapters::tower::post(buffered, mailbox, |id: &u64| *id);
        let answer = front.ready().await.expect("ready").call(1).await;
        assert_eq!(answer.expect("answered"), 1);
        let answer = front.ready().await.expect("ready").call(2).await;
        assert_eq!(answer.expect_err("refused").to_string(), "no stock");
        // The third is posted, and the runtime ends before the buffer's worker takes it.
        drop(front.ready().await.expect("ready").call(3));
    });
    assert_three_ends(mailbox, "tower-orders", "error%20response");
}

#[test]
fn adapters_are_short_enough_to_copy() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/adapters");
    let files = std::fs::read_dir(folder).expect("the adapters");
    let mut seen = 0;
    for file in files {
        let path = file.expect("a file").path();
        let lines = std::fs::read_to_string(&path).expect("text").lines().count();
        assert!(lines <= ADAPTER_LINES_MAX, "{}: {lines} lines", path.display());
        seen += 1;
    }
    assert_eq!(seen, 4);
}
