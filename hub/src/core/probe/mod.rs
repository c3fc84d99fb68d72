//! Named points of a turn and of an opening, so that a test decides *when*, never *what*.

mod parking;

pub use parking::{PARK_LIMIT, Parked, Parking};

/// Where a thread is when it tells the probe. Listed in the order a turn or an opening meets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// A turn left the main queue; its delivery is in neither queue from here on.
    Popped,
    /// The message was unpacked.
    Unpacked,
    /// The lock-free look at the gates is over, whatever it said.
    GateFastRead,
    /// A closed gate was seen; the gate lock is about to be taken.
    GateLockWait,
    /// The last gate is being opened; the parked turns are still parked. Gate lock held.
    RestoreBegin,
    /// The parked turns are back in the main queue. Gate lock held.
    RestoreEnd,
    /// The gate is out of the set of closed gates. Gate lock held.
    GateRemoved,
    /// The gate decision is over; the arrival barrier comes next.
    Barrier,
    /// The turn is about to call its handler.
    HandlerEnter,
}

/// Told where each thread of a hub is; may block there.
///
/// Called without any lock or under the gate lock, as each [`Point`] says, and never under the
/// turn lock: a snapshot or a post goes through while a thread is held at a point.
pub trait Probe: Send + Sync + 'static {
    /// The calling thread has reached `point`.
    fn at(&self, point: Point);
}

/// Watches nothing and costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    #[inline(always)]
    fn at(&self, _point: Point) {}
}
