//! From the counts of a window to one verdict word and one plain sentence why.

/// The verdict on a window or on a test.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Verdict {
    /// Executed, and nothing failed.
    Stable,
    /// Failures, none of them an order.
    NotOrder,
    /// Too few exact orders to say anything.
    Insufficient,
    /// All exact orders agree; a single fixed reorder fits, a skewed window is not excluded.
    SingleReorderConsistent,
    /// All of at least 29 exact orders agree.
    SingleReorderStrong,
    /// Several orders mixed in time: a race window.
    Window,
    /// Orders that are more than one displaced element: nothing orders them.
    Unordered,
    /// Several orders, but a stray one or an unseen change would explain them.
    Undecided,
    /// For a test only: the permutation changed, judge each window by itself.
    Mixed,
}

impl Verdict {
    /// The word of the report.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Stable => "stable",
            Verdict::NotOrder => "not-order",
            Verdict::Insufficient => "insufficient",
            Verdict::SingleReorderConsistent => "single-reorder-consistent",
            Verdict::SingleReorderStrong => "single-reorder-strong",
            Verdict::Window => "window",
            Verdict::Unordered => "unordered",
            Verdict::Undecided => "undecided",
            Verdict::Mixed => "mixed",
        }
    }
}
