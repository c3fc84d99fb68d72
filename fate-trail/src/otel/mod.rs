//! Trails as OpenTelemetry signals: instruments, spans and log records, through the API crate alone.
//!
//! A library must not decide where telemetry goes. Everything here takes a provider from the binary and
//! installs nothing: no subscriber, no provider, no propagator, no panic hook. With the API's no-op
//! providers all of it does nothing.
//!
//! - feature `otel-metrics`: [`Instruments`], fed by hub states and finished trails.
//! - feature `otel-traces`: [`Tracing`], a live span for each turn, spans for waits and deferrals built
//!   afterwards from the finished trail, and [`Origin`], the context that travels with a message.
//! - feature `otel-logs`: [`StageLogs`], one named record for each stage.
//!
//! Names, units and attributes are listed in `docs/opentelemetry.md`.

#[cfg(feature = "otel-logs")]
mod logs;
#[cfg(feature = "otel-metrics")]
mod metrics;
pub mod names;
mod naming;
#[cfg(feature = "otel-traces")]
mod origin;
#[cfg(feature = "otel-traces")]
mod traces;

pub use crate::phases::{Phase, PhaseKind, phases};
#[cfg(feature = "otel-logs")]
pub use logs::StageLogs;
#[cfg(feature = "otel-metrics")]
pub use metrics::{HubPicture, Instruments, MAX_OBSERVED};
pub use naming::Naming;
#[cfg(feature = "otel-traces")]
pub use origin::{Cause, MAX_HOPS, Origin};
#[cfg(feature = "otel-traces")]
pub use traces::{HubTracing, Relation, SendSpan, Traced, Tracing, TurnSpan};

use opentelemetry::InstrumentationScope;

/// The instrumentation scope of everything in this module.
pub(crate) fn scope() -> InstrumentationScope {
    InstrumentationScope::builder(names::SCOPE)
        .with_version(env!("CARGO_PKG_VERSION"))
        .with_schema_url(names::SCHEMA_URL)
        .build()
}

/// Microseconds since the Unix epoch as the API's time; the epoch itself for what lies before it.
#[cfg(any(feature = "otel-traces", feature = "otel-logs"))]
pub(crate) fn system_time(micros: i64) -> std::time::SystemTime {
    let since = std::time::Duration::from_micros(u64::try_from(micros).unwrap_or(0));
    std::time::SystemTime::UNIX_EPOCH + since
}
