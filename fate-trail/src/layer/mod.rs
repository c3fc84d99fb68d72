//! The current delivery's trail id on every span and event that a `tracing` layer sees.
//!
//! Whoever runs a handler says so with [`enter`]; [`stamped`] wraps any layer, such as a formatter,
//! a log bridge or `tracing-opentelemetry`, and hands it spans and events with one more field,
//! [`FIELD`]. Handler code is not changed, and logs and trails join on that field.
//!
//! ```
//! use fate_trail::{DeliveryId, layer};
//! use tracing_subscriber::layer::SubscriberExt;
//! # use tracing_subscriber::Layer;
//! # struct Format;
//! # impl<S: tracing_core::Subscriber> Layer<S> for Format {}
//!
//! // The binary: any layer, wrapped.
//! let subscriber = tracing_subscriber::registry().with(layer::stamped(Format));
//! # let _ = subscriber;
//! // Around each poll of a handler; the hub of this project does it by itself.
//! {
//!     let _scope = layer::enter(DeliveryId::new("7"));
//!     assert_eq!(layer::current(), Some(DeliveryId::new("7")));
//! }
//! assert_eq!(layer::current(), None);
//! ```
//!
//! A span keeps the id under which it was made, so work that a handler moves to another task inside a
//! span keeps it too. Without a current delivery the wrapped layer is called as it is.
//!
//! # Cost
//!
//! Nothing but a look at a thread-local outside deliveries. Inside, one copy of the values of each
//! span and event, and one leaked description for each place in the program that has logged inside a
//! delivery, at most [`MAX_CALLSITES`].

mod callsite;
mod owned;
mod stamped;

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use crate::id::DeliveryId;

pub use callsite::MAX_CALLSITES;
pub use stamped::{Stamped, stamped};

/// The field that is added.
pub const FIELD: &str = "fate.trail";

thread_local! {
    static CURRENT: Cell<Option<DeliveryId>> = const { Cell::new(None) };
}

/// Makes a delivery the current one of this thread until the scope is dropped; scopes nest. An async
/// handler enters anew for each poll, because another task may run in between.
pub fn enter(id: DeliveryId) -> Scope {
    // During a thread's end there is no current delivery any more.
    let before = CURRENT.try_with(|current| current.replace(Some(id))).ok().flatten();
    Scope { before, here: PhantomData }
}

/// The delivery that this thread works on.
pub fn current() -> Option<DeliveryId> {
    CURRENT.try_with(Cell::get).ok().flatten()
}

/// While it lives, its delivery is the current one. Not to be moved to another thread.
#[must_use = "dropping it leaves the delivery"]
pub struct Scope {
    before: Option<DeliveryId>,
    here: PhantomData<*const ()>,
}

impl Drop for Scope {
    fn drop(&mut self) {
        let _ = CURRENT.try_with(|current| current.set(self.before));
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("before", &self.before).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_nest_and_end_with_a_panic() {
        let outer = enter(DeliveryId::number(1));
        let inner = std::panic::catch_unwind(|| {
            let _scope = enter(DeliveryId::number(2));
            assert_eq!(current(), Some(DeliveryId::number(2)));
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(inner.is_err());
        assert_eq!(current(), Some(DeliveryId::number(1)));
        drop(outer);
        assert_eq!(current(), None);
    }
}
