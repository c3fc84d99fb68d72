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
use crate::names::{HubId, SymbolId};
use crate::recorder::{Handle, Recorder, Start, Storage};
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
    #[inline]
    pub fn new(mailbox: &'static Mailbox, id: impl Into<DeliveryId>, message: M) -> Self {
        if mailbox.recorder.ignores(false) {
            return Carried { message, way: Way { mailbox, trail: Handle::of_nothing(), end: End::Lost } };
        }
        Carried::start(mailbox, Start::new(id), message)
    }

    /// Posts a message whose answer somebody awaits, or whose start was measured already. A recorder with
    /// the policy [`Policy::Awaited`](crate::Policy) follows such messages alone; any other then costs
    /// little more than one relaxed load.
    #[inline(never)]
    pub fn start(mailbox: &'static Mailbox, start: Start, message: M) -> Self {
        let mut trail = Handle::start(&mailbox.recorder, start);
        // The first stage stands at the trail's start, whatever time is given.
        trail.stamp_at(&mailbox.recorder, mailbox.hub, POSTED, mailbox.posted, Some(0));
        Carried { message, way: Way { mailbox, trail, end: End::Lost } }
    }

    /// Takes the message out of its queue for its handler. Dropping the turn is the handler's end.
    #[inline]
    pub fn enter(self) -> (M, Turn) {
        let Carried { message, mut way } = self;
        if way.trail.is_live() {
            way.enter();
        }
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
        self.way.end = End::Failed(self.way.mailbox.recorder.symbol(error));
    }
}

/// A trail that is finished wherever it ends.
#[derive(Debug)]
struct Way {
    mailbox: &'static Mailbox,
    trail: Handle,
    /// What the trail ends with if nothing else happens.
    end: End,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Lost,
    Processed,
    Failed(SymbolId),
}

impl Way {
    #[inline]
    fn stamp(&mut self, stage: StageId, value: u64) {
        self.trail.stamp(&self.mailbox.recorder, self.mailbox.hub, stage, value);
    }

    #[inline(never)]
    fn enter(&mut self) {
        // How deep the queue is and which event of it this is, only the queue could tell.
        self.stamp(TURN_START, NO_DETAILS);
        self.stamp(HANDLER_ENTER, NO_DETAILS);
        self.end = End::Processed;
    }

    #[inline(never)]
    fn finish(&mut self, mut trail: Handle) {
        let Mailbox { recorder, hub, .. } = self.mailbox;
        if matches!(self.end, End::Processed) && std::thread::panicking() {
            self.end = End::Failed(recorder.symbol("panic"));
        }
        let (stage, value) = match self.end {
            End::Lost => (DROPPED_SHUTTING_DOWN, self.mailbox.closed),
            End::Processed => (HANDLER_EXIT, self.mailbox.processed),
            End::Failed(error) => (HANDLER_FAULT, pack(HANDLER_FAULT, &[error.into()])),
        };
        trail.stamp_timed(recorder, *hub, stage, value);
        trail.finish(recorder);
    }
}

impl Drop for Way {
    #[inline]
    fn drop(&mut self) {
        if self.trail.is_live() {
            let trail = std::mem::replace(&mut self.trail, Handle::of_nothing());
            self.finish(trail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use crate::recorder::{Policy, RecorderConfig};
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
    fn a_message_grows_by_three_words() {
        assert!(size_of::<Carried<u64>>() <= 32, "{}", size_of::<Carried<u64>>());
    }

    #[test]
    fn a_tell_that_nobody_awaits_has_no_trail_where_the_policy_says_so() {
        let config = RecorderConfig { policy: Policy::Awaited, ..RecorderConfig::default() };
        let mailbox = Mailbox::named(&Recorder::new(config), "h");
        drop(Carried::new(mailbox, 1, "told").enter());
        assert_eq!(mailbox.recorder().finished(), []);
        drop(Carried::start(mailbox, Start::new(2).awaited(true), "asked").enter());
        assert!(ends(mailbox).contains("HANDLER_EXIT@h(+"));
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
