//! Times as people and manifests write them.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// A time that was read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Parsed {
    /// The instant.
    pub at: Timestamp,
    /// True where no offset was given, so that it was read as UTC (complaint `naive-time`).
    pub naive: bool,
}

/// Why a text is no time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TimeError(String);

impl std::fmt::Display for TimeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TimeError {}

/// Reads RFC 3339, also without seconds (`2026-09-06T14:00Z`) or offset, or a date (its midnight).
///
/// # Errors
/// Where the text is none of these or the instant does not exist.
pub fn parse_time(text: &str) -> Result<Parsed, TimeError> {
    let text = text.trim();
    let failed = || {
        TimeError(format!(
            "`{text}` is no time; write RFC 3339 such as 2026-09-06T14:00:00Z, 2026-09-06T14:00+02:00 or a date"
        ))
    };
    if !is_shaped(text) {
        return Err(failed());
    }
    let has_offset =
        text.get(10..).is_some_and(|rest| rest.ends_with(['Z', 'z']) || rest.contains(['+', '-']));
    if has_offset {
        let at = text.parse::<Timestamp>().map_err(|_| failed())?;
        return Ok(Parsed { at, naive: false });
    }
    let civil = if text.len() == 10 {
        text.parse::<Date>().map_err(|_| failed())?.at(0, 0, 0, 0)
    } else {
        text.parse::<DateTime>().map_err(|_| failed())?
    };
    let at = TimeZone::UTC.to_timestamp(civil).map_err(|_| failed())?;
    Ok(Parsed { at, naive: true })
}

/// `yyyy-mm-dd`, alone or followed by `T` or a blank and at least `hh:mm`, with nothing that RFC
/// 3339 does not know (week dates, zone names).
fn is_shaped(text: &str) -> bool {
    const DATE: &[u8] = b"dddd-dd-dd";
    let bytes = text.as_bytes();
    let like = |shape: &[u8], at: usize| {
        bytes.get(at..at + shape.len()).is_some_and(|part| {
            part.iter()
                .zip(shape)
                .all(|(byte, form)| if *form == b'd' { byte.is_ascii_digit() } else { byte == form })
        })
    };
    if !like(DATE, 0) {
        return false;
    }
    match bytes.get(DATE.len()) {
        None => true,
        Some(b'T' | b't' | b' ') => {
            like(b"dd:dd", DATE.len() + 1)
                && bytes[DATE.len() + 1..]
                    .iter()
                    .all(|byte| byte.is_ascii_digit() || b":.+-Zz".contains(byte))
        }
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, bool) {
        let parsed = parse_time(text).expect(text);
        (parsed.at.to_string(), parsed.naive)
    }

    #[test]
    fn rfc_3339_with_and_without_seconds() {
        assert_eq!(read("2026-09-06T14:00:00Z"), ("2026-09-06T14:00:00Z".into(), false));
        assert_eq!(read("2026-09-06T14:00Z"), ("2026-09-06T14:00:00Z".into(), false));
        assert_eq!(read("2026-09-06t14:00z"), ("2026-09-06T14:00:00Z".into(), false));
        assert_eq!(read("2026-09-06T16:00+02:00"), ("2026-09-06T14:00:00Z".into(), false));
        assert_eq!(read("2026-09-06 09:00:00.25-05:00"), ("2026-09-06T14:00:00.25Z".into(), false));
        assert_eq!(read("2026-09-06T14:00:00.1234567Z"), ("2026-09-06T14:00:00.1234567Z".into(), false));
    }

    #[test]
    fn without_offset_it_is_utc_and_said() {
        assert_eq!(read("2026-09-06T14:00"), ("2026-09-06T14:00:00Z".into(), true));
        assert_eq!(read(" 2026-09-06 14:00:01 "), ("2026-09-06T14:00:01Z".into(), true));
        assert_eq!(read("2026-09-06"), ("2026-09-06T00:00:00Z".into(), true));
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "yesterday",
            "2026",
            "2026-09",
            "2026-13-01",
            "2026-02-30T00:00Z",
            "2026-09-06T",
            "2026-09-06T14",
            "2026-W36-7",
            "2026-09-06T14:00[UTC]",
            "20260906T140000Z",
            "14:00",
            "2026-09-06T25:00Z",
            "1788703200",
        ] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
