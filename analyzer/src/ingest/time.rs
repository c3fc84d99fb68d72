//! Times as test reports write them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::Collector;
use crate::complaint;
use crate::runs::Parsed;

/// Reports stamped with a constant default (year 1, the epoch) say nothing about when they ran.
const EARLIEST_YEAR: i16 = 1990;

/// Reads RFC 3339 with or without seconds, offset or fraction, a bare date, and RFC 2822.
/// `None` for anything else and for the constant defaults of producers that know no time.
pub(crate) fn parse(text: &str) -> Option<Parsed> {
    let read = match crate::runs::parse_time(text) {
        Ok(parsed) => parsed,
        Err(_) => Parsed { at: jiff::fmt::rfc2822::parse(text.trim()).ok()?.timestamp(), naive: false },
    };
    (TimeZone::UTC.to_datetime(read.at).year() >= EARLIEST_YEAR).then_some(read)
}

/// Reads a time that stands at `line`; one without offset is complained about once per file.
pub(crate) fn stated(text: &str, line: u64, out: &mut Collector) -> Option<Timestamp> {
    let read = parse(text)?;
    if read.naive && !out.complained(complaint::NAIVE_TIME) {
        out.complain(
            line,
            complaint::NAIVE_TIME,
            format!(
                "the time {} has no offset and is read as UTC; let the producer write an offset or Z",
                text.trim()
            ),
        );
    }
    Some(read.at)
}

/// A duration in seconds: `1.5`, `1,234.5` with thousands separators, `0,045` with a decimal
/// comma, exponents. `None` for anything that is not a finite, non-negative number.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let value: f64 = if let Some((whole, fraction)) = text.split_once(',')
        && !text.contains('.')
        && (fraction.len() != 3 || whole.trim_start_matches('0').is_empty())
    {
        format!("{whole}.{fraction}").parse().ok()?
    } else {
        text.replace(',', "").parse().ok()?
    };
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// A duration written `hh:mm:ss.fffffff`, optionally with days before a dot or colon.
pub(crate) fn clock_seconds(text: &str) -> Option<f64> {
    let mut parts = text.trim().rsplit(':');
    let seconds: f64 = parts.next()?.parse().ok()?;
    let minutes: f64 = parts.next()?.parse().ok()?;
    let hours = parts.next()?;
    let (days, hours) = hours.split_once('.').unwrap_or(("0", hours));
    let (days, hours): (f64, f64) = (days.parse().ok()?, hours.parse().ok()?);
    let value = ((days * 24.0 + hours) * 60.0 + minutes) * 60.0 + seconds;
    (parts.next().is_none() && value.is_finite() && value >= 0.0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_producers_are_read() {
        let utc = |s: &str| s.parse::<Timestamp>().ok();
        for (text, want, naive) in [
            ("2024-01-09T07:50:12.664+00:00", "2024-01-09T07:50:12.664Z", false),
            ("2020-04-23T13:44:25.3601822+02:00", "2020-04-23T11:44:25.3601822Z", false),
            ("2013-05-24T10:23:58", "2013-05-24T10:23:58Z", true),
            ("2020-09-04T16:18:04.966371", "2020-09-04T16:18:04.966371Z", true),
            ("2024-01-09", "2024-01-09T00:00:00Z", true),
            ("Sat, 03 Dec 2022 23:10:07 GMT", "2022-12-03T23:10:07Z", false),
        ] {
            let read = parse(text);
            assert_eq!(read.map(|r| r.at), utc(want), "{text}");
            assert_eq!(read.map(|r| r.naive), Some(naive), "{text}");
        }
        for text in ["", "*", "0001-01-01T00:00:00Z", "1970-01-01T00:00:00", "noon"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn durations_of_all_producers_are_read() {
        for (text, want) in [
            ("1.5", Some(1.5)),
            ("1,234.5", Some(1234.5)),
            ("2,503", Some(2503.0)),
            ("0,045", Some(0.045)),
            ("12,25", Some(12.25)),
            ("1.7e-05", Some(1.7e-05)),
            ("*", None),
            ("-1", None),
            ("NaN", None),
        ] {
            assert_eq!(seconds(text), want, "{text}");
        }
        assert_eq!(clock_seconds("00:01:02.5"), Some(62.5));
        assert_eq!(clock_seconds("1.01:00:00"), Some(90_000.0));
        assert_eq!(clock_seconds("5"), None);
    }
}
