//! An actor-style message hub that keeps arrival order through gates, deferral and restore, and
//! records what became of every delivery.
//!
//! A [`Hub`] handles one message at a time, in the order in which they arrived. A *gate* that is
//! closed parks the messages whose turn has come; when the last gate opens they are handled before
//! everything that arrived after them, even if the hub was busy meanwhile and even if one message
//! was on its way from the queue to its handler at that instant. Each delivery leaves a *trail* of
//! stable stages, and every accepted delivery reaches exactly one end.
//!
//! ```
//! use fate_hub::{Envelope, Gate, Hub};
//! use fate_trail::{Recorder, RecorderConfig};
//! use tokio::sync::mpsc;
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let recorder = Recorder::new(RecorderConfig::default());
//! let (tell, mut told) = mpsc::unbounded_channel();
//! let orders = Hub::builder("orders")
//!     .gate(Gate::closed("stock loaded"))
//!     .recorder(&recorder)
//!     .spawn(move |_turn, order: &'static str| {
//!         let tell = tell.clone();
//!         async move { tell.send(order).map_err(|_| "nobody listens") }
//!     })?;
//!
//! for order in ["A", "B", "C"] {
//!     orders.post(Envelope::new(order).id(order))?;
//! }
//! orders.open_gate("stock loaded");
//! assert_eq!(told.recv().await, Some("A"));
//! assert_eq!(told.recv().await, Some("B"));
//! assert_eq!(told.recv().await, Some("C"));
//! orders.dispose().await;
//!
//! let trail = recorder.finished()[0].to_string();
//! assert!(trail.starts_with("fate A at="));
//! assert!(trail.contains("ENQUEUED@orders("));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where things are
//!
//! - [`rt`]: the hub on tokio. [`Hub::builder`] describes one, [`Builder::spawn`] starts it.
//! - [`core`]: the turn engine without a runtime. Drive it yourself, or force an interleaving in a
//!   test with [`core::probe::Parking`].
//! - [`core::fault`]: the defects that the engine excludes, as types to be put in and seen to fail.
//! - [`Snapshot`], [`Observe`], [`Registry`]: what an observer sees of a hub.
//! - [`limits`]: every bound by name.
//! - feature `tracing`: the id of the running delivery on spans and events of its handler.
//! - feature `otel`: traces, metrics and logs through the OpenTelemetry API; brings no SDK.
//! - feature `live`: the state of all hubs over a unix socket.
//!
//! The contract and why it holds: `docs/arrival-order.md` in this crate's folder.

#[cfg(feature = "cli")]
pub mod cli;
pub mod core;
pub mod limits;
#[cfg(feature = "live")]
pub mod live;
mod observe;
#[cfg(feature = "otel")]
pub mod otel;
pub mod rt;
pub mod sync;

pub use core::{Envelope, Gate, Kind, Outcome, Refused, SetupError};
pub use observe::{GateState, MAX_LISTED_HUBS, Observe, Registry, RunLevel, Running, Snapshot};
pub use rt::{Builder, Context, Hub, SpawnError};

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
