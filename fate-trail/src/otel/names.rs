//! Names of instruments, spans and attributes: an interface, so they stand in one place.
//!
//! `messaging.*` follows the OpenTelemetry semantic conventions for messaging (status: development);
//! where there is no convention the name is `fate.*`.

/// Name of the instrumentation scope.
pub const SCOPE: &str = "fate-trail";
/// The version of the semantic conventions that `messaging.*` and `error.type` are taken from.
pub const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.44.0";
/// Value of [`MESSAGING_SYSTEM`].
pub const SYSTEM: &str = "fate";

/// Observable up-down counter, `{message}`.
pub const QUEUE_SIZE: &str = "fate.queue.size";
/// Observable gauge, `s`.
pub const QUEUE_OLDEST_AGE: &str = "fate.queue.oldest_age";
/// Histogram, `s`.
pub const PROCESS_DURATION: &str = "messaging.process.duration";
/// Histogram, `s`.
pub const WAIT_DURATION: &str = "fate.queue.wait.duration";
/// Counter, `{message}`.
pub const CONSUMED: &str = "messaging.client.consumed.messages";
/// Counter, `{message}`.
pub const SENT: &str = "messaging.client.sent.messages";
/// Counter, `{deferral}`.
pub const DEFERRALS: &str = "fate.delivery.deferrals";
/// Counter, `{requeue}`.
pub const REQUEUES: &str = "fate.barrier.requeues";
/// Observable up-down counter, `{gate}`.
pub const GATE_CLOSED: &str = "fate.gate.closed";
/// Histogram, `s`.
pub const GATE_CLOSED_DURATION: &str = "fate.gate.closed.duration";
/// Observable up-down counter, `{turn}`.
pub const TURN_ACTIVE: &str = "fate.turn.active";
/// Observable gauge, `s`.
pub const TURN_AGE: &str = "fate.turn.age";
/// Counter, `{event}`.
pub const OBSERVER_DROPPED: &str = "fate.observer.dropped";

/// Always [`SYSTEM`].
pub const MESSAGING_SYSTEM: &str = "messaging.system";
/// `send` or `process`.
pub const OPERATION_NAME: &str = "messaging.operation.name";
/// `send` or `process`; spans only.
pub const OPERATION_TYPE: &str = "messaging.operation.type";
/// The hub's kind: its name up to the first `/`.
pub const DESTINATION_TEMPLATE: &str = "messaging.destination.template";
/// The hub's name; only where asked for, because there may be many.
pub const DESTINATION_NAME: &str = "messaging.destination.name";
/// Id of the delivery; spans only.
pub const MESSAGE_ID: &str = "messaging.message.id";
/// What kind of failure; absent on success.
pub const ERROR_TYPE: &str = "error.type";
/// `main` or `deferred`.
pub const QUEUE_NAME: &str = "fate.queue.name";
/// Gate, or gates joined with commas.
pub const GATE_NAME: &str = "fate.gate.name";
/// Why something was lost.
pub const REASON: &str = "fate.reason";
/// `parent` or `link`: how a turn's span is tied to the send.
pub const RELATION: &str = "fate.relation";
/// Posts since the trace's first one.
pub const HOPS: &str = "fate.hops";
/// Id of the delivery whose trail says more; on log records, spans and events.
pub const TRAIL: &str = "fate.trail";
/// Stage token.
pub const STAGE: &str = "fate.stage";
/// Hub of a stage.
pub const HUB: &str = "fate.hub";
/// Name of the log record of a stage.
pub const STAGE_EVENT: &str = "fate.stage";
