//! Values of a span or an event, copied so that they can be handed on together with one more.

use std::error::Error;
use std::fmt;

use tracing_core::Field;
use tracing_core::field::{DebugValue, Value, Visit, debug};

/// Copies of values by the index of their field.
pub(super) struct Copies {
    values: Vec<Option<Copied>>,
}

enum Copied {
    F64(f64),
    I64(i64),
    U64(u64),
    I128(i128),
    U128(u128),
    Bool(bool),
    Text(String),
    Bytes(Box<[u8]>),
    Error(Box<dyn Error + 'static>),
    Debug(DebugValue<Verbatim>),
}

impl Copies {
    pub(super) fn new(fields: usize) -> Self {
        Copies { values: (0..fields).map(|_| None).collect() }
    }

    /// The values in the order of their fields, and `last` behind them.
    pub(super) fn and<'a>(&'a self, last: &'a dyn Value) -> Vec<Option<&'a dyn Value>> {
        self.values.iter().map(|value| value.as_ref().map(Copied::value)).chain([Some(last)]).collect()
    }

    fn put(&mut self, field: &Field, value: Copied) {
        if let Some(place) = self.values.get_mut(field.index()) {
            *place = Some(value);
        }
    }
}

impl Copied {
    fn value(&self) -> &dyn Value {
        match self {
            Copied::F64(value) => value,
            Copied::I64(value) => value,
            Copied::U64(value) => value,
            Copied::I128(value) => value,
            Copied::U128(value) => value,
            Copied::Bool(value) => value,
            Copied::Text(value) => value,
            Copied::Bytes(value) => value,
            Copied::Error(value) => value,
            Copied::Debug(value) => value,
        }
    }
}

impl Visit for Copies {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, Copied::F64(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, Copied::I64(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, Copied::U64(value));
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.put(field, Copied::I128(value));
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.put(field, Copied::U128(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, Copied::Bool(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, Copied::Text(value.to_owned()));
    }

    fn record_bytes(&mut self, field: &Field, value: &[u8]) {
        self.put(field, Copied::Bytes(value.into()));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.put(field, Copied::Error(Box::new(Told::of(value, MAX_CAUSES))));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, Copied::Debug(debug(Verbatim(format!("{value:?}")))));
    }
}

/// A text whose debug form is the text itself.
struct Verbatim(String);

impl fmt::Debug for Verbatim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Causes of an error that are copied; an error that is its own cause must not hang a log line.
const MAX_CAUSES: usize = 32;

/// What an error and its causes said.
#[derive(Debug)]
struct Told {
    text: String,
    cause: Option<Box<Told>>,
}

impl Told {
    fn of(error: &(dyn Error + 'static), causes: usize) -> Self {
        let cause = error.source().filter(|_| causes > 0);
        Told { text: error.to_string(), cause: cause.map(|cause| Box::new(Told::of(cause, causes - 1))) }
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for Told {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}
