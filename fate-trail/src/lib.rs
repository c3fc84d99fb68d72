//! Stable stage tokens, an always-on recorder and one-line fate trails.
//!
//! A message hub hands each delivery from stage to stage: queued, popped, deferred, run. This crate
//! records those stages and prints them as one line that people, test suites and tools can rely on:
//!
//! ```text
//! fate 7 at=2026-09-06T14:00:00.000000Z ENQUEUED@orders(+0.000) n=1 | TURN_START@orders(+0.310) n=2 depth=0
//! ```
//!
//! # Promise
//!
//! - **Tokens are an interface.** The registry in [`stage`] only grows, and a golden copy proves it;
//!   [`contract`] offers the same check for an application's own tokens.
//! - **Text is an interface.** The grammar (`docs/trail-text.md`) has a version. [`text::write()`]
//!   keeps to it; [`text::find`] reads trails out of any log line, in linear time, without failing.
//! - **The recorder never hurts its host.** It is bounded, it counts what it lost, it has no error
//!   to return, and a stamp neither allocates nor waits for anybody.
//!
//! # Example
//!
//! ```
//! use fate_trail::stage::{ENQUEUED, HANDLER_ENTER, HANDLER_EXIT, TURN_START, pack};
//! use fate_trail::{Fate, Handle, Recorder, RecorderConfig, Storage};
//!
//! let recorder = Recorder::new(RecorderConfig::default());
//! let hub = recorder.hub("orders");
//!
//! // The handle travels with the message: 8 bytes.
//! let mut trail = Handle::begin(&recorder, "7");
//! trail.stamp_timed(&recorder, hub, ENQUEUED, pack(ENQUEUED, &[1]));
//! trail.stamp_timed(&recorder, hub, TURN_START, pack(TURN_START, &[2, 0]));
//! // A stage that is ordered by its counter needs no clock.
//! trail.stamp(&recorder, hub, HANDLER_ENTER, pack(HANDLER_ENTER, &[3]));
//! let state = recorder.symbol("processed");
//! trail.stamp_timed(&recorder, hub, HANDLER_EXIT, pack(HANDLER_EXIT, &[state.into()]));
//! trail.finish(&recorder);
//!
//! let trails = recorder.take_finished();
//! let line = trails[0].to_string();
//! assert!(line.starts_with("fate 7 at=") && line.contains("ENQUEUED@orders(+0.000) n=1"));
//!
//! // Elsewhere, out of a log:
//! let log = format!("12:00:01 INFO {line}");
//! let found = fate_trail::text::find(&log).next().unwrap();
//! assert_eq!(found.trail, trails[0]);
//! assert_eq!(found.trail.fate(), Fate::Handled);
//! ```
//!
//! # Cost
//!
//! | situation | cost |
//! | --- | --- |
//! | storage [`Off`] | none: zero bytes, calls compile to nothing |
//! | recorder off | one relaxed load for each delivery, one comparison for each stage |
//! | stage without a clock | a few relaxed stores into the trail and into the thread's ring |
//! | stage with a clock | the same, and one clock reading, which is most of it |
//! | start and end of a trail | a slot from the thread's own stash, and one swap; nothing is copied |
//! | reading | all formatting: texts exist only where somebody reads |
//!
//! # Limits
//!
//! All are named in [`limits`] or set in [`RecorderConfig`]. A trail keeps its first four and its last
//! ten stages and counts the gap. [`Recorder::status`] tells the losses and the memory that a
//! recorder can never exceed; memory for trails on their way is taken only as it is needed.
//!
//! # Features
//!
//! - none by default; the crate then depends on the standard library alone.
//! - `live`: frames and session state machines of the live protocol, without sockets. Brings serde
//!   and serde_json.
//! - `otel-metrics`, `otel-traces`, `otel-logs`: trails as OpenTelemetry signals. Bring the API crate.
//! - `tracing`: the id of the current delivery on spans and events. Brings tracing-subscriber.

pub mod assemble;
pub mod carry;
pub mod clock;
pub mod contract;
mod entry;
mod id;
#[cfg(feature = "tracing")]
pub mod layer;
mod level;
pub mod limits;
#[cfg(feature = "live")]
pub mod live;
mod names;
#[cfg(any(feature = "otel-logs", feature = "otel-metrics", feature = "otel-traces"))]
pub mod otel;
mod phases;
mod recorder;
pub mod scrub;
pub mod stage;
mod sync;
pub mod text;
pub mod time;
mod trail;
pub mod wait;

pub use clock::{Clock, ManualClock, SystemClock, TscClock};
pub use entry::Entry;
pub use id::{DeliveryId, IdPrefix};
pub use level::Breach;
pub use names::{GateSetId, HubId, SymbolId};
pub use phases::{Phase, PhaseKind, Times, phases};
pub use recorder::{
    BlackBoxStatus, Drained, Finished, Handle, Inline, Off, Policy, Recorder, RecorderConfig, RingEnd,
    RingRecord, RingStatus, StageWait, Start, Status, Storage, StoreStatus, Subscription, SubscriptionStatus,
    WaitTimeout,
};
pub use stage::{Fate, StageId};
pub use trail::{Gap, Level, Reply, Stage, Trail};

/// The examples of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
