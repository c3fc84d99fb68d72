//! What a failure text says about order.

/// How completely the two sequences are visible.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum OrderClass {
    /// Both sequences stand complete in the text.
    Full,
    /// Both are complete after rebuilding them from a diff.
    Hunks,
    /// Parts are elided, but the edit between the two is reconstructible.
    Elided,
    /// A window around the mismatch.
    Window,
    /// The first mismatch only.
    First,
    /// An order failure is said, no element is shown.
    Nothing,
}

impl OrderClass {
    /// The one-letter spelling of rows and JSON: `F H E W 1 0`.
    pub fn as_str(self) -> &'static str {
        match self {
            OrderClass::Full => "F",
            OrderClass::Hunks => "H",
            OrderClass::Elided => "E",
            OrderClass::Window => "W",
            OrderClass::First => "1",
            OrderClass::Nothing => "0",
        }
    }
}

/// How it was decided which of the two sequences was expected.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Side {
    /// The assertion names its sides.
    Label,
    /// One side is the same in every failure of the test, the other is not.
    NeverVaries,
    /// One side equals the order in which the elements were posted.
    PostingOrder,
    /// Nothing decides; the right operand is taken as expected.
    Assumed,
}

impl Side {
    /// The spelling of rows and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Side::Label => "label",
            Side::NeverVaries => "never-varies",
            Side::PostingOrder => "posting-order",
            Side::Assumed => "assumed",
        }
    }
}

/// How one differing string was split into elements.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Split {
    /// Entries of a JSON array or object.
    Json,
    /// Children of one XML element.
    Xml,
    /// `&`-separated query parameters.
    Query,
    /// Lines.
    Lines,
}

impl Split {
    /// The spelling of rows and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Split::Json => "json",
            Split::Xml => "xml",
            Split::Query => "query",
            Split::Lines => "lines",
        }
    }
}

/// What the comparison of the two sequences gives.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum OrderKind {
    /// Equal multisets in another order: a proven order failure.
    Permutation,
    /// The multisets differ: something was lost, duplicated or extra. Never an order.
    LostOrExtra,
    /// An order failure is said or likely, but the text does not prove it.
    Suspected,
}

/// The order that one failure saw.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct OrderFinding {
    /// What the comparison gave.
    pub kind: OrderKind,
    /// Elements in the expected order, as printed (trimmed; a quoted string without its quotes).
    pub expected: Vec<String>,
    /// Elements in the observed order.
    pub observed: Vec<String>,
    /// For each observed element its 0-based position in the expected order; `Some` only for
    /// [`OrderKind::Permutation`].
    pub ranks: Option<Vec<u32>>,
    /// How completely the text shows the sequences.
    pub class: OrderClass,
    /// True where the ranks are exactly what the run saw, not a bound.
    pub exact: bool,
    /// True where equal elements made the ranks a convention (k-th observed takes k-th expected).
    pub ambiguous: bool,
    /// How the expected side was decided.
    pub side: Side,
    /// How a single string was split, if it was.
    pub split: Option<Split>,
}
