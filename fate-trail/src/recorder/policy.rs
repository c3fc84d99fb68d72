//! Which deliveries get a trail.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::storage::Start;
use crate::id::DeliveryId;
use crate::sync::Arc;

/// Which deliveries get a trail. Decided once, when the trail would start; the others cost that
/// decision and carry an empty handle.
#[derive(Clone, Default)]
pub enum Policy {
    /// All of them.
    #[default]
    All,
    /// Those whose answer somebody awaits.
    Awaited,
    /// Those whose id the rule wants. It runs on the posting thread, so it must be quick; where it
    /// panics, the delivery gets no trail.
    Matching(Arc<dyn Fn(&DeliveryId) -> bool + Send + Sync>),
}

impl Policy {
    #[inline]
    pub(crate) fn wants(&self, start: &Start) -> bool {
        match self {
            Policy::All => true,
            Policy::Awaited => start.awaited,
            // A recorder never fails outward, not even where it was given a rule that does.
            Policy::Matching(rule) => catch_unwind(AssertUnwindSafe(|| rule(&start.id))).unwrap_or(false),
        }
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Policy::All => "all",
            Policy::Awaited => "awaited",
            Policy::Matching(_) => "matching",
        })
    }
}
