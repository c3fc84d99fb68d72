//! The inspection as a person wants to read it in a terminal.

use std::io::{self, Write};

use fate_trail::scrub::scrub_line;

use super::{Inspection, Seen, SeenOrder};

/// Elements of a sequence that are shown.
const ELEMENTS: usize = 12;
/// Orders, trails and complaints of one file that are shown, each.
const SHOWN: usize = 20;

/// Writes one block for each file. Everything that came from a file is scrubbed.
///
/// # Errors
/// Where `out` cannot be written.
pub fn text(inspection: &Inspection<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (at, file) in inspection.files.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        block(file, out)?;
    }
    Ok(())
}

fn block(file: &Seen<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", scrub_line(file.path))?;
    for section in &file.sections {
        let dialect = section.dialect.map(|name| format!(" ({name})")).unwrap_or_default();
        let wrapper =
            if section.wrapper == "none" { String::new() } else { format!(" in {} lines", section.wrapper) };
        writeln!(out, "  format     {}{dialect}{wrapper}", section.format)?;
    }
    if file.sections.is_empty() {
        writeln!(out, "  format     none known")?;
    } else {
        writeln!(out, "  counts     {}", counts(file))?;
    }
    for order in file.orders.iter().take(SHOWN) {
        writeln!(out, "  order      {} at line {}", scrub_line(order.test), order.line)?;
        writeln!(out, "             {}", sequences(order))?;
    }
    more(file.orders.len(), "orders", out)?;
    for trail in file.trails.iter().take(SHOWN) {
        let last = trail.last.as_deref().unwrap_or("no stage");
        writeln!(
            out,
            "  trail      {} at line {}: {} stages, last {}",
            scrub_line(trail.id),
            trail.line,
            trail.stages,
            scrub_line(last)
        )?;
    }
    more(file.trails.len(), "trails", out)?;
    for own in file.complaints.iter().take(SHOWN) {
        let line = if own.line == 0 { String::new() } else { format!("line {}: ", own.line) };
        writeln!(out, "  complaint  {line}{}: {}", own.code, scrub_line(own.text))?;
    }
    more(file.complaints.len(), "complaints", out)
}

fn more(all: usize, what: &str, out: &mut dyn Write) -> io::Result<()> {
    match all.saturating_sub(SHOWN) {
        0 => Ok(()),
        rest => writeln!(out, "             … and {rest} more {what}; --format json lists them"),
    }
}

/// `12 tests: 10 passed, 1 failed, 1 skipped (E1)`; what the file does not determine is `?`.
fn counts(file: &Seen<'_>) -> String {
    let number = |value: Option<u64>| value.map_or_else(|| "?".to_owned(), |n| n.to_string());
    let mut parts =
        vec![format!("{} passed", number(file.passed)), format!("{} failed", number(file.failed))];
    for (value, name) in [
        (file.errored, "errored"),
        (file.skipped, "skipped"),
        (file.unknown, "unknown"),
        (file.flaky, "flaky"),
    ] {
        if value != Some(0) {
            parts.push(format!("{} {name}", number(value)));
        }
    }
    let evidence = file.evidence.map(|grade| format!(" ({grade})")).unwrap_or_default();
    format!("{} tests: {}{evidence}", number(file.total), parts.join(", "))
}

fn sequences(order: &SeenOrder<'_>) -> String {
    let ranks = order.ranks.map_or_else(String::new, |ranks| format!(", ranks {}", list(ranks)));
    let split = order.split.map(|split| format!(", split as {split}")).unwrap_or_default();
    let ambiguous = if order.ambiguous { ", equal elements" } else { "" };
    let exact = if order.exact { "" } else { ", not exact" };
    format!(
        "{}: observed {}; expected {} (class {}, side {}{ranks}{split}{ambiguous}{exact})",
        order.kind,
        list(order.observed),
        list(order.expected),
        order.class,
        order.side
    )
}

fn list<T: ToString>(elements: &[T]) -> String {
    let mut parts: Vec<String> =
        elements.iter().take(ELEMENTS).map(|element| scrub_line(&element.to_string()).into_owned()).collect();
    if elements.len() > ELEMENTS {
        parts.push(format!("… {} more", elements.len() - ELEMENTS));
    }
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}
