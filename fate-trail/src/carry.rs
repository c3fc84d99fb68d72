//! Trails through somebody else's queue: a message that carries its trail, from the sender to its handler.
//!
//! Where a hub of this project stamps its own stages, any other queue (an actor's mailbox, a channel, a
//! buffer in front of a service) takes a [`Carried`] message instead of the bare one:
//!
//! ```
//! use fate_trail::carry::{Carried, Mailbox};
//! use fate_trail::{Level, Recorder, RecorderConfig};
//!
//! let recorder = Recorder::new(RecorderConfig::default());
//! let orders: &'static Mailbox = Mailbox::named(&recorder, "orders");
//!
//! let (sender, receiver) = std::sync::mpsc::channel();
//! sender.send(Carried::new(orders, 7, "a nut")).unwrap();
//!
//! let (message, turn) = receiver.recv().unwrap().enter();
//! assert_eq!(message, "a nut");
//! drop(turn); // the handler returned
//!
//! let trail = &recorder.finished()[0];
//! assert!(trail.to_string().contains("POSTED@orders(+0.000) target=orders | TURN_START@orders(+?)"));
//! assert_eq!(trail.conforms(), Level::L1);
//! ```
//!
//! That is conformance level L1. A message that no handler took ends as dropped, a handler that panics as
//! failed, whoever drops them.

use crate::id::DeliveryId;
use crate::names::HubId;
use crate::recorder::{Handle, Recorder, Storage};
use crate::stage::{
    DROPPED_SHUTTING_DOWN, HANDLER_ENTER, HANDLER_EXIT, HANDLER_FAULT, NO_DETAILS, POSTED, StageId,
    TURN_START, pack,
};

/// A queue of somebody else's code, as one hub of one recorder.
#[derive(Debug)]
pub struct Mailbox {
    recorder: Recorder,
    hub: HubId,
    /// Packed details of the stages that every message has.
    posted: u64,
    processed: u64,
    closed: u64,
}

impl Mailbox {
    /// A mailbox that lives as long as the process: messages in it refer to it, and a counted reference
    /// would be contended by sender and receiver for every one. Make it once for each queue.
    pub fn named(recorder: &Recorder, hub: &str) -> &'static Mailbox {
        let symbol = |text: &str| u64::from(recorder.symbol(text));
        Box::leak(Box::new(Mailbox {
            recorder: recorder.clone(),
            hub: recorder.hub(hub),
            posted: pack(POSTED, &[symbol(hub)]),
            processed: pack(HANDLER_EXIT, &[symbol("processed")]),
            closed: pack(DROPPED_SHUTTING_DOWN, &[symbol("closed")]),
        }))
    }

    /// The recorder that the trails go to.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }
}

/// A message and its trail, which begins with `POSTED`. Dropped as it is, it ends as dropped.
#[derive(Debug)]
pub struct Carried<M> {
    message: M,
    way: Way,
}

impl<M> Carried<M> {
    /// Posts a message: begins its trail.
    pub fn new(mailbox: &'static Mailbox, id: impl Into<DeliveryId>, message: M) -> Self {
        let mut trail = Handle::begin(&mailbox.recorder, id);
        // The first stage stands at the trail's start, whatever time is given.
        trail.stamp_at(&mailbox.recorder, mailbox.hub, POSTED, mailbox.posted, Some(0));
        let way = Way { mailbox, trail: Some(trail), end: DROPPED_SHUTTING_DOWN, value: mailbox.closed };
        Carried { message, way }
    }

    /// Takes the message out of its queue for its handler. Dropping the turn is the handler's end.
    pub fn enter(self) -> (M, Turn) {
        let Carried { message, mut way } = self;
        // How deep the queue is and which event of it this is, only the queue could tell.
        way.stamp(TURN_START, NO_DETAILS);
        way.stamp(HANDLER_ENTER, NO_DETAILS);
        (way.end, way.value) = (HANDLER_EXIT, way.mailbox.processed);
        (message, Turn { way })
    }

    /// The message alone; its trail ends as dropped. For senders that get it back from a closed queue.
    pub fn into_inner(self) -> M {
        self.message
    }
}

/// The time in which the handler of one message runs. Its end stamps `HANDLER_EXIT`, or
/// `HANDLER_FAULT` while a panic unwinds.
#[derive(Debug)]
#[must_use = "dropping it is the end of the handler"]
pub struct Turn {
    way: Way,
}

impl Turn {
    /// Stamps a stage of the application's own, without reading a clock.
    pub fn stamp(&mut self, stage: StageId, value: u64) {
        self.way.stamp(stage, value);
    }

    /// Ends the trail with `HANDLER_FAULT` and the error's name.
    pub fn fail(mut self, error: &str) {
        let symbol = self.way.mailbox.recorder.symbol(error);
        (self.way.end, self.way.value) = (HANDLER_FAULT, pack(HANDLER_FAULT, &[symbol.into()]));
    }
}

/// A trail that is finished wherever it ends.
#[derive(Debug)]
struct Way {
    mailbox: &'static Mailbox,
    trail: Option<Handle>,
    /// What the trail ends with if nothing else happens, and its details.
    end: StageId,
    value: u64,
}

impl Way {
    fn stamp(&mut self, stage: StageId, value: u64) {
        if let Some(trail) = &mut self.trail {
            trail.stamp(&self.mailbox.recorder, self.mailbox.hub, stage, value);
        }
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        let Some(mut trail) = self.trail.take() else {
            return;
        };
        let Mailbox { recorder, hub, .. } = self.mailbox;
        if self.end == HANDLER_EXIT && std::thread::panicking() {
            let symbol = recorder.symbol("panic");
            (self.end, self.value) = (HANDLER_FAULT, pack(HANDLER_FAULT, &[symbol.into()]));
        }
        trail.stamp_timed(recorder, *hub, self.end, self.value);
        trail.finish(recorder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use crate::recorder::RecorderConfig;
    use crate::sync::Arc;

    fn mailbox() -> &'static Mailbox {
        let clock = Arc::new(ManualClock::new(0));
        Mailbox::named(&Recorder::new(RecorderConfig { clock, ..RecorderConfig::default() }), "h")
    }

    fn ends(mailbox: &Mailbox) -> String {
        let trails = mailbox.recorder().take_finished();
        assert_eq!(trails.len(), 1);
        let line = trails[0].to_string();
        line.split_once(" | ").map_or(line.clone(), |(_, rest)| rest.to_owned())
    }

    #[test]
    fn every_end_is_told() {
        let mailbox = mailbox();
        drop(Carried::new(mailbox, 1, "lost"));
        assert_eq!(ends(mailbox), "DROPPED_SHUTTING_DOWN@h(+0.000) run_level=closed");
        assert_eq!(Carried::new(mailbox, 1, "back").into_inner(), "back");
        assert_eq!(ends(mailbox), "DROPPED_SHUTTING_DOWN@h(+0.000) run_level=closed");

        let turn = "TURN_START@h(+?) | HANDLER_ENTER@h(+?) | ";
        drop(Carried::new(mailbox, 2, ()).enter());
        assert_eq!(ends(mailbox), format!("{turn}HANDLER_EXIT@h(+0.000) state=processed"));
        Carried::new(mailbox, 3, ()).enter().1.fail("IOException");
        assert_eq!(ends(mailbox), format!("{turn}HANDLER_FAULT@h(+0.000) error=IOException"));
        let handler = std::thread::spawn(move || {
            let _turn = Carried::new(mailbox, 4, ()).enter().1;
            panic!("the handler's own");
        });
        assert!(handler.join().is_err());
        assert_eq!(ends(mailbox), format!("{turn}HANDLER_FAULT@h(+0.000) error=panic"));
        assert_eq!(mailbox.recorder().status().in_flight, 0);
    }
}
