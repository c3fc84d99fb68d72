//! Order recovery: from the text of a failed assertion to the permutation it saw.
//!
//! The canonical form is the rank vector of the observed sequence in terms of the expected one
//! (`B, C, A` against `A, B, C` is `[1, 2, 0]`), because element names differ from run to run and
//! ranks do not. Only equal multisets are an order; everything else is lost, extra or suspected.

mod finding;

pub use finding::{OrderClass, OrderFinding, OrderKind, Side, Split};
