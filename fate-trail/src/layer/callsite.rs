//! Descriptions of callsites with one more field.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use tracing_core::callsite::Identifier;
use tracing_core::field::FieldSet;
use tracing_core::{Kind, Metadata};

use super::FIELD;

/// Places in a program whose descriptions are extended; what is logged elsewhere goes unstamped.
///
/// Each is leaked once, some hundred bytes, because descriptions live for ever by contract.
pub const MAX_CALLSITES: usize = 16_384;

type Known = HashMap<Identifier, Option<&'static Metadata<'static>>>;

static KNOWN: LazyLock<RwLock<Known>> = LazyLock::new(RwLock::default);

/// The same description with [`FIELD`] as its last field. It keeps the callsite's identity, so that
/// whoever compares fields or callsites still finds them. `None` where the field is there already and
/// where the table is full.
pub(super) fn extended(metadata: &'static Metadata<'static>) -> Option<&'static Metadata<'static>> {
    let callsite = metadata.callsite();
    if let Some(known) = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&callsite) {
        return *known;
    }
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= MAX_CALLSITES {
        return None;
    }
    *known.entry(callsite).or_insert_with(|| extend(metadata))
}

fn extend(metadata: &'static Metadata<'static>) -> Option<&'static Metadata<'static>> {
    if metadata.fields().field(FIELD).is_some() {
        return None;
    }
    let names: Vec<&'static str> =
        metadata.fields().iter().map(|field| field.name()).chain([FIELD]).collect();
    let kind = if metadata.is_span() { Kind::SPAN } else { Kind::EVENT };
    Some(Box::leak(Box::new(Metadata::new(
        metadata.name(),
        metadata.target(),
        *metadata.level(),
        metadata.file(),
        metadata.line(),
        metadata.module_path(),
        FieldSet::new(Vec::leak(names), metadata.callsite()),
        kind,
    ))))
}
