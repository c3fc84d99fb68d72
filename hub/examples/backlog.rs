//! A backlog behind a gate, once in a sound hub and once with a restore at the wrong end:
//! `cargo run -p fate-hub --example backlog`.

use std::error::Error;

use fate_hub::core::fault::{Fault, RestoreAppends, Sound};
use fate_hub::{Envelope, Gate, Hub};
use fate_trail::{Recorder, RecorderConfig, Trail};
use tokio::sync::{mpsc, oneshot};

enum Job {
    Order(&'static str),
    /// Holds the hub until the sender is used: the gate opens while the hub is busy.
    Busy(oneshot::Receiver<()>),
}

async fn run<F: Fault>() -> Result<(Vec<&'static str>, Vec<Trail>), Box<dyn Error>> {
    let recorder = Recorder::new(RecorderConfig::default());
    let (tell, mut told) = mpsc::unbounded_channel();
    let hub = Hub::builder("orders")
        .gate(Gate::closed("ready").admitting(|_, job| matches!(job, Job::Busy(_))))
        .recorder(&recorder)
        .fault::<F>()
        .spawn(move |_turn, job| {
            let tell = tell.clone();
            async move {
                let name = match job {
                    Job::Order(name) => name,
                    Job::Busy(until) => {
                        tell.send("busy").map_err(|_| "nobody listens")?;
                        return until.await.map_err(|_| "never released");
                    }
                };
                tell.send(name).map_err(|_| "nobody listens")
            }
        })?;

    let (release, until) = oneshot::channel();
    hub.post(Envelope::new(Job::Order("A")).id("A"))?;
    hub.post(Envelope::new(Job::Busy(until)).id("busy"))?;
    told.recv().await; // A is parked by now, and the hub is busy.
    hub.post(Envelope::new(Job::Order("B")).id("B"))?;
    hub.post(Envelope::new(Job::Order("C")).id("C"))?;
    hub.open_gate("ready");
    release.send(()).map_err(|()| "the busy turn is gone")?;

    let mut order = Vec::new();
    while order.len() < 3 {
        order.extend(told.recv().await);
    }
    hub.dispose().await;
    Ok((order, recorder.finished()))
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async {
        let (order, trails) = run::<Sound>().await?;
        println!("sound: {}", order.join(", "));
        for trail in trails {
            println!("  {trail}");
        }
        let (order, _) = run::<RestoreAppends>().await?;
        println!("restored at the wrong end: {}", order.join(", "));
        Ok(())
    })
}
