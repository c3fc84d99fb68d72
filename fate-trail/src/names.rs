//! Interned names: an entry of a trail has room for an index, not for a text.

use std::collections::HashMap;

use crate::id::fnv1a;
use crate::limits::{NAME_BYTES, NAMES};
use crate::sync::{Arc, AtomicU64, Ordering, RwLock};

/// What stands for a name when the table is full, and for a detail that was not given.
pub(crate) const UNKNOWN: &str = "?";

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name(pub(crate) u16);

        impl $name {
            /// The index, as the value of a detail has it. 0 stands for the name `?`.
            pub const fn index(self) -> u16 {
                self.0
            }
        }

        impl From<$name> for u64 {
            fn from(id: $name) -> u64 {
                u64::from(id.0)
            }
        }
    };
}

index! {
    /// A hub's name, interned in one recorder.
    HubId
}
index! {
    /// A set of gate names, interned in one recorder.
    GateSetId
}
index! {
    /// A text such as a type name, interned in one recorder.
    SymbolId
}

/// A bounded table of texts. Lookups of known texts share a lock; nothing is ever removed.
#[derive(Debug)]
pub(crate) struct Names {
    table: RwLock<Table>,
    refused: AtomicU64,
}

#[derive(Debug)]
struct Table {
    by_text: HashMap<Arc<str>, u16>,
    texts: Vec<Arc<str>>,
}

impl Names {
    pub(crate) fn new() -> Self {
        let unknown: Arc<str> = Arc::from(UNKNOWN);
        Names {
            table: RwLock::new(Table {
                by_text: HashMap::from([(unknown.clone(), 0)]),
                texts: vec![unknown],
            }),
            refused: AtomicU64::new(0),
        }
    }

    /// The index of a text; 0 and one more refusal where the table is full.
    pub(crate) fn intern(&self, text: &str) -> u16 {
        let shortened;
        let text = if text.len() <= NAME_BYTES {
            text
        } else {
            shortened = shorten(text);
            &shortened
        };
        let known = self.table.read();
        if let Some(index) = known.by_text.get(text) {
            return *index;
        }
        drop(known);
        let mut table = self.table.write();
        if let Some(index) = table.by_text.get(text) {
            return *index;
        }
        if table.texts.len() >= NAMES {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return 0;
        }
        let index = u16::try_from(table.texts.len()).unwrap_or(0);
        let text: Arc<str> = Arc::from(text);
        table.texts.push(text.clone());
        table.by_text.insert(text, index);
        index
    }

    /// The text of an index; `?` for one that this table never gave out.
    pub(crate) fn text(&self, index: u16) -> Arc<str> {
        let table = self.table.read();
        match table.texts.get(usize::from(index)) {
            Some(text) => text.clone(),
            None => Arc::from(UNKNOWN),
        }
    }

    /// How often a name was refused because the table was full.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

/// A long text cut to the limit, with its hash so that two of them stay apart.
fn shorten(text: &str) -> String {
    let tail = format!("~{:016x}", fnv1a(text.as_bytes()));
    let end = (0..=NAME_BYTES - tail.len()).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    format!("{}{tail}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_index() {
        let names = Names::new();
        let first = names.intern("orders/7");
        assert_eq!(names.intern("orders/7"), first);
        assert_ne!(names.intern("orders/70"), first);
        assert_eq!(&*names.text(first), "orders/7");
        assert_eq!(&*names.text(9999), UNKNOWN);
    }

    #[test]
    fn a_full_table_refuses_and_counts() {
        let names = Names::new();
        for i in 1..NAMES {
            assert_ne!(names.intern(&i.to_string()), 0);
        }
        assert_eq!(names.intern("one too many"), 0);
        assert_eq!(names.refused(), 1);
        assert_ne!(names.intern("17"), 0, "known names stay known");
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let names = Names::new();
        let long = "x".repeat(1000);
        let (a, b) = (names.intern(&format!("{long}a")), names.intern(&format!("{long}b")));
        assert_ne!(a, b);
        assert_eq!(names.text(a).len(), NAME_BYTES);
    }
}
