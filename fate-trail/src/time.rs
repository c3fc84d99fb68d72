//! RFC 3339 times in UTC with microseconds, by hand because the crate depends on nothing.
//!
//! Day numbers follow Howard Hinnant's `days_from_civil` and `civil_from_days`
//! (<https://howardhinnant.github.io/date_algorithms.html>), in the proleptic Gregorian calendar.

use std::fmt;

const MICROS_A_DAY: i64 = 86_400_000_000;
/// 0000-01-01T00:00:00Z.
const FIRST: i64 = -62_167_219_200_000_000;
/// 9999-12-31T23:59:59.999999Z.
const LAST: i64 = 253_402_300_799_999_999;

/// A moment in microseconds since the Unix epoch that displays as `2026-09-06T14:00:00.000000Z`.
/// RFC 3339 has years 0000 to 9999 only; a moment outside is shown as the nearest one inside.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Rfc3339(pub i64);

impl fmt::Display for Rfc3339 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.clamp(FIRST, LAST);
        let (year, month, day) = civil_from_days(micros.div_euclid(MICROS_A_DAY));
        let of_day = micros.rem_euclid(MICROS_A_DAY);
        let (seconds, fraction) = (of_day / 1_000_000, of_day % 1_000_000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:06}Z")
    }
}

/// The text of a moment in microseconds since the Unix epoch; see [`Rfc3339`].
pub fn format(micros: i64) -> String {
    Rfc3339(micros).to_string()
}

/// Reads an RFC 3339 time, with any number of fraction digits (those past microseconds are cut)
/// and any offset, into microseconds since the Unix epoch. A space or `t` may stand for `T`.
/// `None` for anything else. A leap second counts as the first moment of the next minute.
pub fn parse(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let (year, rest) = digits(bytes, 4)?;
    let (month, rest) = digits(after(rest, b"-")?, 2)?;
    let (day, rest) = digits(after(rest, b"-")?, 2)?;
    let (hour, rest) = digits(after(rest, b"Tt ")?, 2)?;
    let (minute, rest) = digits(after(rest, b":")?, 2)?;
    let (second, rest) = digits(after(rest, b":")?, 2)?;
    let (fraction, rest) = match after(rest, b".,") {
        Some(rest) => fraction(rest)?,
        None => (0, rest),
    };
    let offset = offset_minutes(rest)?;
    let in_range = (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !in_range {
        return None;
    }
    let seconds = (hour * 60 + minute - offset) * 60 + second;
    Some(days_from_civil(year, month, day) * MICROS_A_DAY + seconds * 1_000_000 + fraction)
}

/// The rest behind one byte of the set.
fn after<'a>(bytes: &'a [u8], set: &[u8]) -> Option<&'a [u8]> {
    let (first, rest) = bytes.split_first()?;
    set.contains(first).then_some(rest)
}

/// Exactly that many digits.
fn digits(bytes: &[u8], count: usize) -> Option<(i64, &[u8])> {
    let (head, rest) = bytes.split_at_checked(count)?;
    let mut value = 0;
    for byte in head {
        value = value * 10 + i64::from(byte.is_ascii_digit().then(|| byte - b'0')?);
    }
    Some((value, rest))
}

/// Fraction digits as microseconds.
fn fraction(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let count = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    if count == 0 {
        return None;
    }
    let (micros, _) = digits(bytes, count.min(6))?;
    let missing = 6 - count.min(6);
    let scale = 10_i64.pow(u32::try_from(missing).unwrap_or(0));
    Some((micros * scale, &bytes[count..]))
}

/// `Z` or `±hh:mm` up to the end, in minutes east of UTC.
fn offset_minutes(bytes: &[u8]) -> Option<i64> {
    if matches!(bytes, b"Z" | b"z") {
        return Some(0);
    }
    let sign = if after(bytes, b"+").is_some() { 1 } else { -1 };
    let (hours, rest) = digits(after(bytes, b"+-")?, 2)?;
    let (minutes, rest) = digits(after(rest, b":")?, 2)?;
    (rest.is_empty() && hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month, day of a number of days since 1970-01-01.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_moments_read_and_write() {
        let cases = [
            ("1970-01-01T00:00:00.000000Z", 0),
            ("2026-09-06T14:00:00.000000Z", 1_788_703_200_000_000),
            ("2000-02-29T23:59:59.999999Z", 951_868_799_999_999),
            ("1969-12-31T23:59:59.000001Z", -999_999),
            ("0000-01-01T00:00:00.000000Z", FIRST),
            ("9999-12-31T23:59:59.999999Z", LAST),
        ];
        for (text, micros) in cases {
            assert_eq!(format(micros), text);
            assert_eq!(parse(text), Some(micros), "{text}");
        }
    }

    #[test]
    fn offsets_and_fractions_are_understood() {
        let same = parse("2026-09-06T14:00:00Z");
        for text in
            ["2026-09-06T16:00:00+02:00", "2026-09-06t08:30:00.0000009-05:30", "2026-09-06 14:00:00,000z"]
        {
            assert_eq!(parse(text), same, "{text}");
        }
        assert_eq!(parse("2026-12-31T23:59:60Z"), parse("2027-01-01T00:00:00Z"));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "2026-09-06",
            "2026-09-06T14:00Z",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-09-06T24:00:00Z",
            "2026-09-06T14:00:00",
            "2026-09-06T14:00:00.Z",
            "2026-09-06T14:00:00Z ",
            "2026-09-06T14:00:00+0200",
            "2026-09-06T14:00:00+02:00x",
            "2026-09-06T14:00:00+24:00",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_moment_survives(micros in FIRST..=LAST) {
            prop_assert_eq!(parse(&format(micros)), Some(micros));
        }

        #[test]
        fn any_text_is_answered(text in ".{0,40}", micros in any::<i64>()) {
            let _ = parse(&text);
            prop_assert_eq!(format(micros).len(), 27);
        }
    }
}
