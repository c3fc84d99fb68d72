//! What the adapters add to a *tell*, side by side with the bare library in interleaved rounds:
//! `cargo run --release -p fate-trail-lab --bin adapters`.

use std::hint::black_box;
use std::time::Duration;

use fate_trail::carry::{Carried, Mailbox};
use fate_trail::{Policy, Recorder, RecorderConfig};
use fate_trail_lab::adapters;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// Messages of one round.
const TELLS: u64 = 20_000;
/// Rounds of each variant; the first is not counted.
const ROUNDS: usize = 31;
/// Places of every bounded queue, so that all libraries wait for room alike.
const PLACES: usize = 64;
/// What every handler does with a message: so many steps of a small generator, about a hundred
/// nanoseconds. `0` measures the bare hand-over.
const WORK: [u32; 2] = [0, 64];

fn handle(message: u64, work: u32) -> u64 {
    (0..work).fold(message, |x, _| black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1)))
}

/// One way to tell [`TELLS`] messages and wait until all are handled.
struct Variant<'a> {
    name: &'static str,
    round: Box<dyn FnMut(u32) -> Duration + 'a>,
}

fn main() {
    let all = Recorder::new(RecorderConfig::default());
    let awaited = Recorder::new(RecorderConfig { policy: Policy::Awaited, ..RecorderConfig::default() });
    let (all, awaited) = (Mailbox::named(&all, "bench"), Mailbox::named(&awaited, "bench"));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    println!(
        "processor time of a tell in nanoseconds, and its ratio to the bare library (p25–p75 of {} rounds)",
        ROUNDS - 1
    );
    println!("{:<15}{:>5}{:>9}{:>26}{:>26}", "library", "work", "bare", "policy awaited", "policy all");
    let makers: [(Plain, Traced); 5] = [
        (alone_bare, alone_traced),
        (kameo_bare, kameo_traced),
        (ractor_bare, ractor_traced),
        (tower_bare, tower_traced),
        (channel_bare, channel_traced),
    ];
    for (bare, traced) in makers {
        let mut variants = [bare(&runtime), traced(&runtime, awaited), traced(&runtime, all)];
        for work in WORK {
            compare(&mut variants, work);
        }
    }
    println!("{}", all.recorder().status());
}

/// Makes the variant of the bare library.
type Plain = for<'a> fn(&'a Runtime) -> Variant<'a>;

/// Makes the variant of a library whose messages carry trails to that mailbox.
type Traced = for<'a> fn(&'a Runtime, &'static Mailbox) -> Variant<'a>;

/// Takes turns, so that what else the machine does falls on all, and compares within each round.
fn compare(variants: &mut [Variant<'_>; 3], work: u32) {
    let mut times: [Vec<f64>; 3] = Default::default();
    let mut ratios: [Vec<f64>; 3] = Default::default();
    for round in 0..ROUNDS {
        let mut taken = [0.0; 3];
        for turn in 0..3 {
            let at = (round + turn) % 3;
            taken[at] = (variants[at].round)(work).as_secs_f64() / TELLS as f64 * 1e9;
        }
        if round > 0 {
            for at in 0..3 {
                times[at].push(taken[at]);
                ratios[at].push(taken[at] / taken[0]);
            }
        }
    }
    let [bare, ..] = &mut times;
    print!("{:<15}{work:>5}{:>9.1}", variants[0].name, quantile(bare, 50));
    for at in 1..3 {
        let ratios = &mut ratios[at];
        let (low, ratio, high) = (quantile(ratios, 25), quantile(ratios, 50), quantile(ratios, 75));
        print!("{:>26}", format!(" {:.1} = {ratio:.2} ({low:.2}–{high:.2})", quantile(&mut times[at], 50)));
    }
    println!();
}

fn quantile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) * percent / 100]
}

/// Runs one round on the runtime and measures it.
fn timed(runtime: &Runtime, round: impl Future<Output = ()>) -> Duration {
    runtime.block_on(async {
        let start = given();
        round.await;
        given() - start
    })
}

/// The processor time of this thread, on which the whole runtime runs.
fn given() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.try_into().expect("a time since the thread began")
}

/// Counts handled messages and says when the last of a round is done.
struct Counter {
    left: u64,
    done: mpsc::UnboundedSender<()>,
}

impl Counter {
    fn new() -> (Counter, mpsc::UnboundedReceiver<()>) {
        let (done, receiver) = mpsc::unbounded_channel();
        (Counter { left: TELLS, done }, receiver)
    }

    fn handle(&mut self, (message, work): (u64, u32)) {
        black_box(handle(message, work));
        self.left -= 1;
        if self.left == 0 {
            self.left = TELLS;
            let _ = self.done.send(());
        }
    }
}

impl kameo::Actor for Counter {
    type Args = Counter;
    type Error = std::convert::Infallible;

    async fn on_start(counter: Counter, _: kameo::actor::ActorRef<Self>) -> Result<Self, Self::Error> {
        Ok(counter)
    }
}

impl kameo::message::Message<(u64, u32)> for Counter {
    type Reply = ();

    async fn handle(&mut self, message: (u64, u32), _: &mut kameo::message::Context<Self, ()>) {
        Counter::handle(self, message);
    }
}

impl adapters::kameo::Handles<(u64, u32)> for Counter {
    async fn handle(&mut self, message: (u64, u32)) -> Result<(), String> {
        Counter::handle(self, message);
        Ok(())
    }
}

fn kameo_bare(runtime: &Runtime) -> Variant<'_> {
    use kameo::actor::Spawn;
    let (counter, mut done) = Counter::new();
    let _inside = runtime.enter();
    let actor = Counter::spawn_with_mailbox(counter, kameo::mailbox::bounded(PLACES));
    let round = move |work| {
        timed(runtime, async {
            for id in 0..TELLS {
                actor.tell((id, work)).await.expect("told");
            }
            done.recv().await;
        })
    };
    Variant { name: "kameo", round: Box::new(round) }
}

fn kameo_traced<'a>(runtime: &'a Runtime, mailbox: &'static Mailbox) -> Variant<'a> {
    use kameo::actor::Spawn;
    let (counter, mut done) = Counter::new();
    let _inside = runtime.enter();
    let actor =
        adapters::kameo::Traced::<Counter>::spawn_with_mailbox(counter, kameo::mailbox::bounded(PLACES));
    let round = move |work| {
        timed(runtime, async {
            for id in 0..TELLS {
                adapters::kameo::tell(&actor, mailbox, id, (id, work)).await.expect("told");
            }
            done.recv().await;
        })
    };
    Variant { name: "kameo", round: Box::new(round) }
}

/// An actor of ractor, whose mailbox has no bound.
struct Bare;

impl ractor::Actor for Bare {
    type Msg = (u64, u32);
    type State = Counter;
    type Arguments = Counter;

    async fn pre_start(
        &self,
        _: ractor::ActorRef<Self::Msg>,
        counter: Counter,
    ) -> Result<Counter, ractor::ActorProcessingErr> {
        Ok(counter)
    }

    async fn handle(
        &self,
        _: ractor::ActorRef<Self::Msg>,
        message: Self::Msg,
        counter: &mut Counter,
    ) -> Result<(), ractor::ActorProcessingErr> {
        counter.handle(message);
        Ok(())
    }
}

struct Carrying;

impl ractor::Actor for Carrying {
    type Msg = Carried<(u64, u32)>;
    type State = Counter;
    type Arguments = Counter;

    async fn pre_start(
        &self,
        _: ractor::ActorRef<Self::Msg>,
        counter: Counter,
    ) -> Result<Counter, ractor::ActorProcessingErr> {
        Ok(counter)
    }

    async fn handle(
        &self,
        _: ractor::ActorRef<Self::Msg>,
        message: Self::Msg,
        counter: &mut Counter,
    ) -> Result<(), ractor::ActorProcessingErr> {
        let (message, turn) = message.enter();
        counter.handle(message);
        adapters::ractor::end(turn, Ok(()))
    }
}

fn ractor_bare(runtime: &Runtime) -> Variant<'_> {
    let (counter, mut done) = Counter::new();
    let (actor, _) = runtime.block_on(<Bare as ractor::Actor>::spawn(None, Bare, counter)).expect("spawned");
    let round = move |work| {
        timed(runtime, async {
            for id in 0..TELLS {
                actor.send_message((id, work)).expect("sent");
                if id % PLACES as u64 == 0 {
                    tokio::task::yield_now().await;
                }
            }
            done.recv().await;
        })
    };
    Variant { name: "ractor", round: Box::new(round) }
}

fn ractor_traced<'a>(runtime: &'a Runtime, mailbox: &'static Mailbox) -> Variant<'a> {
    let (counter, mut done) = Counter::new();
    let (actor, _) =
        runtime.block_on(<Carrying as ractor::Actor>::spawn(None, Carrying, counter)).expect("spawned");
    let round = move |work| {
        timed(runtime, async {
            for id in 0..TELLS {
                adapters::ractor::send(&actor, mailbox, id, (id, work)).expect("sent");
                if id % PLACES as u64 == 0 {
                    tokio::task::yield_now().await;
                }
            }
            done.recv().await;
        })
    };
    Variant { name: "ractor", round: Box::new(round) }
}

/// No queue at all: what the adapters add, whatever the library.
fn alone_bare(runtime: &Runtime) -> Variant<'_> {
    let round = move |work| {
        timed(runtime, async move {
            for id in 0..TELLS {
                black_box(handle(black_box(id), work));
            }
        })
    };
    Variant { name: "no queue", round: Box::new(round) }
}

fn alone_traced<'a>(runtime: &'a Runtime, mailbox: &'static Mailbox) -> Variant<'a> {
    let round = move |work| {
        timed(runtime, async move {
            for id in 0..TELLS {
                let (message, turn) = black_box(Carried::new(mailbox, id, id)).enter();
                black_box(handle(message, work));
                drop(turn);
            }
        })
    };
    Variant { name: "no queue", round: Box::new(round) }
}

async fn serve((message, work): (u64, u32)) -> Result<u64, std::convert::Infallible> {
    Ok(black_box(handle(message, work)))
}

/// Calls a service [`TELLS`] times, with at most [`PLACES`] answers outstanding.
async fn call_all<S, R>(service: &mut S, work: u32)
where
    S: tower::Service<(u64, u32), Response = R>,
    S::Error: std::fmt::Debug,
{
    use tower::ServiceExt;
    let mut answers = Vec::with_capacity(PLACES);
    for id in 0..TELLS {
        answers.push(service.ready().await.expect("ready").call((id, work)));
        if answers.len() == PLACES {
            for answer in answers.drain(..) {
                black_box(answer.await.expect("answered"));
            }
        }
    }
    for answer in answers {
        black_box(answer.await.expect("answered"));
    }
}

fn tower_bare(runtime: &Runtime) -> Variant<'_> {
    let _inside = runtime.enter();
    let mut service = tower::buffer::Buffer::new(tower::service_fn(serve), PLACES);
    let round = move |work| timed(runtime, call_all(&mut service, work));
    Variant { name: "tower buffer", round: Box::new(round) }
}

fn tower_traced<'a>(runtime: &'a Runtime, mailbox: &'static Mailbox) -> Variant<'a> {
    let _inside = runtime.enter();
    let buffered = tower::buffer::Buffer::new(adapters::tower::Enter(tower::service_fn(serve)), PLACES);
    let mut service = adapters::tower::post(buffered, mailbox, |request: &(u64, u32)| request.0);
    let round = move |work| timed(runtime, call_all(&mut service, work));
    Variant { name: "tower buffer", round: Box::new(round) }
}

fn channel_bare(runtime: &Runtime) -> Variant<'_> {
    let round = move |work| {
        timed(runtime, async move {
            let (sender, mut receiver) = mpsc::channel(PLACES);
            let handler = tokio::spawn(async move {
                while let Some(message) = receiver.recv().await {
                    black_box(handle(message, work));
                }
            });
            for id in 0..TELLS {
                sender.send(id).await.expect("sent");
            }
            drop(sender);
            handler.await.expect("handled");
        })
    };
    Variant { name: "tokio channel", round: Box::new(round) }
}

fn channel_traced<'a>(runtime: &'a Runtime, mailbox: &'static Mailbox) -> Variant<'a> {
    let round = move |work| {
        timed(runtime, async move {
            let (sender, mut receiver) = adapters::tokio_channel::channel(mailbox, PLACES);
            let handler = tokio::spawn(async move {
                while let Some((message, turn)) = receiver.recv().await {
                    black_box(handle(message, work));
                    drop(turn);
                }
            });
            for id in 0..TELLS {
                sender.send(id, id).await.expect("sent");
            }
            drop(sender);
            handler.await.expect("handled");
        })
    };
    Variant { name: "tokio channel", round: Box::new(round) }
}
