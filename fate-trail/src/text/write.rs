//! The writer of trail text.

use std::fmt;

use super::escape;
use crate::time::Rfc3339;
use crate::trail::{Gap, Stage, Trail};

/// The one-line text form, without a line break. Printable ASCII only.
pub fn write(trail: &Trail) -> String {
    let mut out = String::with_capacity(64 + trail.stages.len() * 48);
    // Writing to a String cannot fail.
    let _ = write_to(trail, &mut out);
    out
}

/// As [`write()`], into any sink; the only error is the sink's own.
pub fn write_to(trail: &Trail, out: &mut impl fmt::Write) -> fmt::Result {
    out.write_str("fate ")?;
    word(out, &trail.id)?;
    if let Some(at) = trail.at {
        write!(out, " at={}", Rfc3339(at))?;
    }
    out.write_char(' ')?;
    body(out, &trail.stages, trail.gap)?;
    for reply in &trail.replies {
        write!(out, " <- reply#{} ", reply.number)?;
        body(out, &reply.stages, reply.gap)?;
    }
    if let Some(verdict) = &trail.verdict {
        let mut text = String::with_capacity(verdict.len());
        escape::push_verdict(&mut text, verdict);
        write!(out, " || {text}")?;
    }
    Ok(())
}

fn body(out: &mut impl fmt::Write, stages: &[Stage], gap: Option<Gap>) -> fmt::Result {
    let gap = gap.filter(|gap| gap.count > 0);
    if stages.is_empty() {
        // A body is never empty; a gap of nothing says so.
        return write!(out, "gap={}", gap.map_or(0, |gap| gap.count));
    }
    for (i, entry) in stages.iter().enumerate() {
        if i > 0 {
            out.write_str(" | ")?;
        }
        if let Some(gap) = gap.filter(|gap| gap.after == i) {
            write!(out, "gap={} | ", gap.count)?;
        }
        stage(out, entry)?;
    }
    match gap {
        Some(gap) if gap.after >= stages.len() => write!(out, " | gap={}", gap.count),
        _ => Ok(()),
    }
}

fn stage(out: &mut impl fmt::Write, stage: &Stage) -> fmt::Result {
    word(out, &stage.token)?;
    out.write_char('@')?;
    word(out, &stage.hub)?;
    match stage.offset {
        Some(micros) => write!(out, "(+{}.{:03})", micros / 1000, micros % 1000)?,
        None => out.write_str("(+?)")?,
    }
    for (key, value) in &stage.details {
        out.write_char(' ')?;
        word(out, key)?;
        write!(out, "={value}")?;
    }
    Ok(())
}

fn word(out: &mut impl fmt::Write, word: &str) -> fmt::Result {
    // Nearly every name is plain and goes out as it is.
    if !word.is_empty() && word != escape::EMPTY && word.bytes().all(escape::is_plain) {
        return out.write_str(word);
    }
    let mut encoded = String::with_capacity(word.len() + 8);
    escape::push_word(&mut encoded, word);
    out.write_str(&encoded)
}
