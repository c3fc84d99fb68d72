//! Log records: one for each stage of a finished trail, at the time of the stage.

use std::fmt;
use std::time::SystemTime;

use opentelemetry::logs::{AnyValue, LogRecord, Logger, LoggerProvider, Severity};
use opentelemetry::trace::SpanContext;

use super::{names, system_time};
use crate::stage::Fate;
use crate::trail::{Stage, Trail};

/// One record as it is handed to a logger.
struct Said<'a> {
    trail: &'a Trail,
    stage: &'a Stage,
    time: Option<SystemTime>,
    severity: Severity,
    span: Option<&'a SpanContext>,
}

/// Hides the logger's type.
trait Say: Send + Sync {
    fn say(&self, said: &Said<'_>);
}

struct With<L>(L);

impl<L: Logger + Send + Sync> Say for With<L> {
    fn say(&self, said: &Said<'_>) {
        if !self.0.event_enabled(said.severity, names::SCOPE, Some(names::STAGE_EVENT)) {
            return;
        }
        let mut record = self.0.create_log_record();
        record.set_event_name(names::STAGE_EVENT);
        record.set_target(names::SCOPE);
        if let Some(time) = said.time {
            record.set_timestamp(time);
        }
        record.set_severity_number(said.severity);
        record.set_severity_text(said.severity.name());
        record.set_body(AnyValue::from(format!("{}@{}", said.stage.token, said.stage.hub)));
        record.add_attribute(names::TRAIL, said.trail.id.clone());
        record.add_attribute(names::STAGE, said.stage.token.clone());
        record.add_attribute(names::HUB, said.stage.hub.clone());
        for (key, value) in &said.stage.details {
            let value = match value.as_number().and_then(|number| i64::try_from(number).ok()) {
                Some(number) => AnyValue::Int(number),
                None => AnyValue::from(value.decoded().into_owned()),
            };
            record.add_attribute(format!("fate.detail.{key}"), value);
        }
        if let Some(span) = said.span {
            record.set_trace_context(span.trace_id(), span.span_id(), Some(span.trace_flags()));
        }
        self.0.emit(record);
    }
}

/// Writes finished trails as log records named `fate.stage`. Clones share the logger.
#[derive(Clone)]
pub struct StageLogs(std::sync::Arc<dyn Say>);

impl StageLogs {
    /// Records that go to a provider.
    pub fn new<P>(provider: &P) -> Self
    where
        P: LoggerProvider,
        P::Logger: Send + Sync + 'static,
    {
        StageLogs(std::sync::Arc::new(With(provider.logger_with_scope(super::scope()))))
    }

    /// Writes one trail. `span` is the span of its turn; a trail whose turn was not sampled is left
    /// out as a whole, because half a trail tells nothing.
    pub fn trail(&self, trail: &Trail, span: Option<&SpanContext>) {
        if span.is_some_and(|span| !span.is_sampled()) {
            return;
        }
        let mut last = trail.at;
        for stage in &trail.stages {
            // A stage without a reading of its own came no earlier than the one before it.
            let own = stage.offset.and_then(|offset| i64::try_from(offset).ok());
            last = trail.at.zip(own).map(|(at, offset)| at.saturating_add(offset)).or(last);
            let severity = match stage.id().and_then(|id| id.spec().fate) {
                Some(Fate::Failed) => Severity::Error,
                Some(Fate::Refused | Fate::Dropped | Fate::Shed) => Severity::Warn,
                _ => Severity::Info,
            };
            self.0.say(&Said { trail, stage, time: last.map(system_time), severity, span });
        }
    }
}

impl fmt::Debug for StageLogs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StageLogs").finish_non_exhaustive()
    }
}
