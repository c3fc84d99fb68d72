//! Stages of an application's own: declared once, stamped like registered ones, and pinned by one line
//! in a test.

use super::{Detail, Fate, StageId, StageSpec};
use crate::limits::APPLICATION_STAGES;
use crate::sync::OnceLock;

/// First index of an application's stage; the registry grows towards it.
const BASE: usize = 1 << 15;

/// Every stage that was ever stamped, in the order of first use. Process-wide, because a token means the
/// same in every recorder.
static TABLE: [OnceLock<&'static StageSpec>; APPLICATION_STAGES] =
    [const { OnceLock::new() }; APPLICATION_STAGES];

/// Stands for stages beyond [`APPLICATION_STAGES`].
static SURPLUS: StageSpec = StageSpec {
    token: crate::names::UNKNOWN,
    since: "-",
    meaning: "A stage of an application that declares more of them than the table holds.",
    fate: None,
    scope: super::Scope::Delivery,
    details: &[],
    likely_cause: "",
};

const _: () = {
    assert!(super::REGISTRY_LEN < BASE, "registry and application stages share 16 bits");
    assert!(BASE + APPLICATION_STAGES < u16::MAX as usize, "an index has 16 bits");
};

/// A stage that an application declares; see [`application_stages!`](crate::application_stages).
#[derive(Debug)]
pub struct ApplicationStage {
    spec: StageSpec,
    id: OnceLock<StageId>,
}

impl ApplicationStage {
    /// A stage of the application's own, for a `static`.
    ///
    /// # Panics
    /// Where the token is no dotted ASCII word such as `orders.reserved`, or the details need more than
    /// 64 bits. In a `static` that is an error of compilation.
    pub const fn new(
        token: &'static str,
        since: &'static str,
        fate: Option<Fate>,
        details: &'static [Detail],
        meaning: &'static str,
    ) -> Self {
        assert!(
            is_dotted(token),
            "a token of an application is a dotted ASCII word such as `orders.reserved`"
        );
        assert!(bits(details) <= 64, "the details of a stage share 64 bits");
        let spec = StageSpec {
            token,
            since,
            meaning: meaning.trim_ascii(),
            fate,
            scope: super::Scope::Delivery,
            details,
            likely_cause: "",
        };
        ApplicationStage { spec, id: OnceLock::new() }
    }

    /// What was declared.
    pub const fn spec(&self) -> &StageSpec {
        &self.spec
    }

    /// The id to stamp and to [`pack`](super::pack) with. The first call takes a place in the process-wide
    /// table of [`APPLICATION_STAGES`]; beyond those, a stage is recorded as `?`.
    pub fn id(&'static self) -> StageId {
        *self.id.get_or_init(|| register(&self.spec))
    }
}

/// The id of a spec: that of the first one with its token.
fn register(spec: &'static StageSpec) -> StageId {
    let place = TABLE.iter().position(|slot| slot.get_or_init(|| spec).token == spec.token);
    id(place.unwrap_or(APPLICATION_STAGES))
}

fn id(place: usize) -> StageId {
    // The compile-time check above leaves room for every place and one more.
    StageId(u16::try_from(BASE + place).unwrap_or(u16::MAX))
}

/// What an index past the registry stands for.
pub(super) fn spec(index: u16) -> &'static StageSpec {
    known(index).unwrap_or(&SURPLUS)
}

/// The declared stage of an index; `None` where nothing has that index.
pub(super) fn known(index: u16) -> Option<&'static StageSpec> {
    let place = usize::from(index).checked_sub(BASE)?;
    if place == APPLICATION_STAGES { Some(&SURPLUS) } else { TABLE.get(place)?.get().copied() }
}

/// The id of a token that was stamped in this process.
pub(super) fn from_token(token: &str) -> Option<StageId> {
    let taken = TABLE.iter().map_while(OnceLock::get);
    let place = taken.into_iter().position(|spec| spec.token == token)?;
    Some(id(place))
}

const fn is_dotted(token: &str) -> bool {
    let bytes = token.as_bytes();
    let (mut i, mut dots, mut before) = (0, 0, b'.');
    while i < bytes.len() {
        let byte = bytes[i];
        if byte == b'.' && before == b'.' {
            return false;
        }
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')) {
            return false;
        }
        dots += (byte == b'.') as usize;
        before = byte;
        i += 1;
    }
    dots > 0 && before != b'.'
}

const fn bits(details: &[Detail]) -> u32 {
    let (mut i, mut sum) = (0, 0);
    while i < details.len() {
        sum += details[i].bits as u32;
        i += 1;
    }
    sum
}

/// Declares the stages of an application, one `static` for each and one list of all, to be pinned.
///
/// ```
/// use fate_trail::stage::pack;
/// use fate_trail::{Fate, Handle, Recorder, RecorderConfig, Storage};
///
/// fate_trail::application_stages! {
///     /// Every stage of the shop.
///     pub static STAGES;
///     /// Stock was set aside.
///     pub RESERVED = "orders.reserved", since "1.0", details [items Number 32, shelf Symbol 16];
///     /// The card was charged.
///     pub PAID = "orders.paid", since "1.1", fate Answered;
/// }
///
/// let recorder = Recorder::new(RecorderConfig::default());
/// let hub = recorder.hub("orders");
/// let shelf = recorder.symbol("A7");
/// let mut trail = Handle::begin(&recorder, "7");
/// trail.stamp_timed(&recorder, hub, RESERVED.id(), pack(RESERVED.id(), &[3, shelf.into()]));
/// trail.stamp(&recorder, hub, PAID.id(), 0);
/// trail.finish(&recorder);
///
/// let trail = &recorder.finished()[0];
/// assert!(trail.to_string().ends_with("orders.reserved@orders(+0.000) items=3 shelf=A7 | orders.paid@orders(+?)"));
/// assert_eq!(trail.fate(), Fate::Answered);
/// ```
///
/// In a test, one line pins them: see [`pin_stages!`](crate::pin_stages).
#[macro_export]
macro_rules! application_stages {
    (
        $(#[$all_doc:meta])*
        $all_vis:vis static $all:ident;
        $(
            $(#[doc = $meaning:literal])+
            $vis:vis $name:ident = $token:literal, since $since:literal
                $(, fate $fate:ident)?
                $(, details [$($key:ident $kind:ident $bits:literal),* $(,)?])?;
        )*
    ) => {
        $(
            $(#[doc = $meaning])+
            $vis static $name: $crate::stage::ApplicationStage = $crate::stage::ApplicationStage::new(
                $token,
                $since,
                $crate::application_stages!(@fate $($fate)?),
                &[$($($crate::stage::Detail {
                    key: stringify!($key),
                    bits: $bits,
                    kind: $crate::stage::DetailKind::$kind,
                }),*)?],
                concat!($($meaning),+),
            );
        )*
        $(#[$all_doc])*
        $all_vis static $all: &[&$crate::stage::ApplicationStage] = &[$(&$name),*];
    };
    (@fate) => { None };
    (@fate $fate:ident) => { Some($crate::Fate::$fate) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dotted_words_are_told_from_others() {
        for good in ["orders.reserved", "a.b.c", "Orders.v2.set-aside_1"] {
            assert!(is_dotted(good), "{good}");
        }
        for bad in ["", "reserved", ".a", "a.", "a..b", "a b.c", "a@b.c", "größe.x", "."] {
            assert!(!is_dotted(bad), "{bad}");
        }
    }

    #[test]
    fn a_token_has_one_id_whoever_declares_it() {
        static ONE: ApplicationStage = ApplicationStage::new("unit.one", "1.0", None, &[], " A stage. ");
        static SAME: ApplicationStage = ApplicationStage::new("unit.one", "1.0", None, &[], "");
        static OTHER: ApplicationStage =
            ApplicationStage::new("unit.other", "1.0", Some(Fate::Dropped), &[], "");
        assert_eq!(ONE.id(), SAME.id());
        assert_ne!(ONE.id(), OTHER.id());
        assert_eq!(StageId::from_token("unit.other"), Some(OTHER.id()));
        assert_eq!(StageId::from_index(OTHER.id().index()), Some(OTHER.id()));
        assert_eq!((ONE.id().token(), ONE.id().spec().meaning), ("unit.one", "A stage."));
        assert_eq!(StageId::from_token("unit.none"), None);
        assert_eq!(StageId::from_index(u16::MAX), None);
        assert_eq!(id(APPLICATION_STAGES).token(), "?", "a surplus stage says that it is one");
    }
}
