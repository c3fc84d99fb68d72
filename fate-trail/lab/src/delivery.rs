//! A whole delivery through a real hub without a runtime: posted, taken, handled, ended, all on the
//! calling thread.

use std::sync::Arc;

use fate_hub::core::probe::NoProbe;
use fate_hub::core::{Core, Drained, Handler, Outcome, Progress, Setup, Turn};
use fate_trail::{Recorder, Storage};

/// Turns of one drain.
const BATCH: usize = 1 << 30;

/// A handler that only looks at its message.
#[derive(Debug)]
pub struct Look;

impl Handler for Look {
    type Message = u64;
    type Unpacked = ();

    fn unpack(&self, _: &u64) -> Result<(), String> {
        Ok(())
    }

    fn handle(&self, message: u64, (): (), _: &Turn<'_>) -> Progress {
        std::hint::black_box(message);
        Progress::Done(Outcome::Handled)
    }
}

/// A hub whose trails live in `S`.
pub struct Line<S: Storage>(Arc<Core<Look, S>>);

impl<S: Storage> Line<S> {
    /// A hub that records to `recorder`.
    ///
    /// # Panics
    /// Never: the hub's name is a good one.
    pub fn new(recorder: &Recorder) -> Self {
        let setup = Setup::new("orders").recorder(recorder.clone());
        Line(Core::new(setup, Look, NoProbe, Box::new(|| {})).expect("a hub with a name"))
    }

    /// Posts that many messages, one after the other, each handled before the next comes.
    pub fn deliver(&self, times: u64) {
        for message in 0..times {
            self.post(message);
            self.drain();
        }
    }

    /// Posts one message and lets it wait.
    ///
    /// # Panics
    /// If the hub is dead, which nobody here makes it.
    pub fn post(&self, message: u64) {
        self.0.post(message).expect("a hub that lives");
    }

    /// Handles what waits.
    ///
    /// # Panics
    /// If something is left, which no handler here does.
    pub fn drain(&self) {
        assert_eq!(self.0.drain(BATCH), Drained::Idle);
    }
}
