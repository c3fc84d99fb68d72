//! How the details of a stage share the one 64-bit value of an entry.

use super::{Detail, StageId};

/// The packed value of a stage whose details its producer does not know: none is shown. No packed details
/// look like that, short of an event number that counts to the last of 64 bits.
pub const NO_DETAILS: u64 = u64::MAX;

/// Packs values into an entry's 64 bits, in the order of the stage's details, the first in the
/// lowest bits. A value that is too large becomes the field's maximum (*this or more*); a missing
/// one is 0; surplus ones are ignored. Never fails and never allocates.
#[inline]
pub fn pack(stage: StageId, values: &[u64]) -> u64 {
    let mut packed = 0;
    let mut shift = 0;
    for (detail, value) in stage.spec().details.iter().zip(values) {
        let value = (*value).min(max_of(detail));
        // A hub-level stage may be wider than the word; what does not fit is left out.
        packed |= value.checked_shl(shift).unwrap_or(0);
        shift += u32::from(detail.bits);
    }
    packed
}

/// One detail read back.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Unpacked {
    /// Which one.
    pub detail: &'static Detail,
    /// The number.
    pub value: u64,
    /// True where a number filled its field, so that the true one may be larger.
    pub saturated: bool,
}

/// The inverse of [`pack`], one item for each detail of the stage; none for [`NO_DETAILS`].
pub fn unpack(stage: StageId, packed: u64) -> impl Iterator<Item = Unpacked> {
    let mut shift = 0;
    let details = if packed == NO_DETAILS { &[] } else { stage.spec().details };
    details.iter().map(move |detail| {
        let value = packed.checked_shr(shift).unwrap_or(0) & max_of(detail);
        shift += u32::from(detail.bits);
        read(detail, value)
    })
}

/// Interprets the number of a detail that has a word of its own.
pub(crate) fn read(detail: &'static Detail, value: u64) -> Unpacked {
    Unpacked {
        detail,
        value,
        // One-bit numbers are flags: 1 is their value, not a bound.
        saturated: detail.kind == super::DetailKind::Number && detail.bits > 1 && value >= max_of(detail),
    }
}

/// Largest number that the field holds.
#[inline]
fn max_of(detail: &Detail) -> u64 {
    if detail.bits >= 64 { u64::MAX } else { (1 << detail.bits) - 1 }
}
