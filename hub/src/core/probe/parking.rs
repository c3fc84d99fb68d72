//! A probe that holds the next thread at a named point until the test lets it go.

use std::time::Duration;

use super::{Point, Probe};
use crate::sync::{Arc, Condvar, Mutex};

/// How long a test waits for a thread to reach a point before it says that it never did.
pub const PARK_LIMIT: Duration = Duration::from_secs(30);

/// Holds threads at points. Clones share the points.
///
/// ```
/// use fate_hub::core::probe::{Parking, Point, Probe};
///
/// let parking = Parking::new();
/// let popped = parking.arm(Point::Popped);
/// std::thread::scope(|threads| {
///     let probe = parking.clone();
///     threads.spawn(move || probe.at(Point::Popped)); // stops here
///     popped.wait();
///     drop(popped); // goes on; a failed assertion would drop it as well
/// });
/// ```
#[derive(Clone, Debug, Default)]
pub struct Parking {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    orders: Mutex<Orders>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Orders {
    issued: u64,
    open: Vec<Order>,
}

/// One thread to be held: armed, then reached by a thread, then gone.
#[derive(Debug)]
struct Order {
    ticket: u64,
    point: Point,
    reached: bool,
}

impl Parking {
    /// A probe that holds nobody until it is armed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Holds the next thread that reaches `point`, and only that one, until the guard goes.
    pub fn arm(&self, point: Point) -> Parked {
        let mut orders = self.shared.orders.lock();
        let ticket = orders.issued;
        orders.issued += 1;
        orders.open.push(Order { ticket, point, reached: false });
        Parked { shared: Arc::clone(&self.shared), ticket, point }
    }
}

impl Probe for Parking {
    fn at(&self, point: Point) {
        let mut orders = self.shared.orders.lock();
        let Some(order) = orders.open.iter_mut().find(|order| order.point == point && !order.reached) else {
            return;
        };
        order.reached = true;
        let ticket = order.ticket;
        self.shared.changed.notify_all();
        let (_orders, released) = self
            .shared
            .changed
            .wait_until(orders, PARK_LIMIT, |orders| !orders.open.iter().any(|order| order.ticket == ticket));
        assert!(
            released,
            "held at {point:?} for {PARK_LIMIT:?}: keep the guard no longer than the test needs"
        );
    }
}

/// Keeps one thread at its point; dropping it, also by a failed assertion, lets the thread go on.
#[derive(Debug)]
#[must_use = "dropping the guard releases the thread at once"]
pub struct Parked {
    shared: Arc<Shared>,
    ticket: u64,
    point: Point,
}

impl Parked {
    /// Waits until a thread stands at the point.
    ///
    /// # Panics
    /// If none gets there within [`PARK_LIMIT`].
    pub fn wait(&self) {
        let orders = self.shared.orders.lock();
        let (_orders, reached) = self.shared.changed.wait_until(orders, PARK_LIMIT, |orders| {
            orders.open.iter().any(|order| order.ticket == self.ticket && order.reached)
        });
        assert!(reached, "no thread reached {:?} within {PARK_LIMIT:?}", self.point);
    }

    /// Whether a thread has reached the point so far.
    pub fn reached(&self) -> bool {
        let orders = self.shared.orders.lock();
        orders.open.iter().any(|order| order.ticket == self.ticket && order.reached)
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        let mut orders = self.shared.orders.lock();
        orders.open.retain(|order| order.ticket != self.ticket);
        self.shared.changed.notify_all();
    }
}
