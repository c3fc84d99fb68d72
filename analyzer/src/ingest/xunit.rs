//! Console output of xUnit's own runners, versions 2 and 3.

use std::collections::HashMap;

use super::console::{self, Listed, Place, Text, Tries};
use super::{Collector, Format, Line, LineReader, identity};
use crate::model::{Evidence, Outcome, TestId};

/// Assemblies that are open at once; further ones are counted by their summary alone.
const OPEN_MAX: usize = 1_000;

/// Reads the format.
#[derive(Debug, Default)]
pub(crate) struct XunitConsole {
    /// Assemblies that started, without a summary so far.
    open: Vec<Assembly>,
    tries: Tries,
    block: Option<Block>,
    /// A runner's banner was seen.
    running: bool,
    /// Below the heading of the totals.
    summary: bool,
}

#[derive(Debug, Default)]
struct Assembly {
    suite: String,
    line: u64,
    listed: Listed,
    /// Tests that started and did not end; only a verbose runner says so.
    started: HashMap<String, Place>,
}

/// A test and the lines below its own.
#[derive(Debug)]
struct Block {
    name: String,
    outcome: Outcome,
    place: Place,
    indent: usize,
    seconds: Option<f64>,
    text: Text,
    output: Text,
    in_output: bool,
}

/// What a line says of one test.
#[derive(Debug, PartialEq)]
enum Said<'a> {
    Ended(Outcome, &'a str, Option<f64>),
    Started(&'a str),
}

impl LineReader for XunitConsole {
    fn line(&mut self, line: &Line<'_>, out: &mut Collector) {
        let text = line.text;
        if is_banner(text) {
            self.close_block(out);
            self.running = true;
            self.summary = false;
            out.section(Format::XunitConsole, None);
            return;
        }
        if !self.running {
            return;
        }
        if let Some(name) = labelled(text, "Starting:") {
            if self.open.len() < OPEN_MAX {
                self.open.push(Assembly { suite: name, line: line.number, ..Assembly::default() });
            }
        } else if labelled(text, "Finished:").is_some() {
            self.close_block(out);
        } else if text.trim() == "=== TEST EXECUTION SUMMARY ===" {
            self.close_block(out);
            self.summary = true;
        } else if self.summary {
            if let Some((name, totals)) = summary(text) {
                self.close(name, &totals, out);
            }
        } else if let Some((indent, said)) = said(text) {
            self.close_block(out);
            self.test(indent, &said, line);
        } else if let Some(block) = &mut self.block {
            block.take(text);
        }
    }

    fn end(&mut self, out: &mut Collector) {
        self.close_block(out);
        for mut assembly in std::mem::take(&mut self.open) {
            let mut started: Vec<_> = std::mem::take(&mut assembly.started).into_iter().collect();
            started.sort_by_key(|(_, place)| place.line);
            for (name, place) in started {
                assembly.listed.add(Outcome::Unknown);
                let id = TestId { suite: assembly.suite.clone(), test: name };
                out.result(console::result(id, Outcome::Unknown, place, &mut self.tries));
            }
            out.counts(&assembly.listed.unfinished(), Evidence::E1);
            console::complain_unfinished(out, assembly.line, &assembly.suite);
        }
    }
}

impl XunitConsole {
    fn test(&mut self, indent: usize, said: &Said<'_>, line: &Line<'_>) {
        let place = Place::of(line);
        match *said {
            Said::Started(name) => {
                if let Some(assembly) = self.assembly_of(name) {
                    assembly.started.insert(name.to_owned(), place);
                }
            }
            // A verbose runner says of a failed test too that it finished.
            Said::Ended(Outcome::Passed, name, _) if !self.was_started(name) => {}
            Said::Ended(outcome, name, seconds) => {
                self.block = Some(Block {
                    name: name.to_owned(),
                    outcome,
                    place,
                    indent,
                    seconds,
                    text: Text::default(),
                    output: Text::default(),
                    in_output: false,
                });
            }
        }
    }

    fn was_started(&mut self, name: &str) -> bool {
        self.assembly_of(name).is_some_and(|a| a.started.contains_key(name))
    }

    /// The assembly of a test: the only open one, else the one whose name begins the test's name,
    /// else the one that started last.
    fn assembly_of(&mut self, test: &str) -> Option<&mut Assembly> {
        let begins = |a: &Assembly| test.strip_prefix(&*a.suite).is_some_and(|rest| rest.starts_with('.'));
        let named =
            (0..self.open.len()).filter(|&n| begins(&self.open[n])).max_by_key(|&n| self.open[n].suite.len());
        let n = named.or_else(|| self.open.len().checked_sub(1))?;
        self.open.get_mut(n)
    }

    fn close_block(&mut self, out: &mut Collector) {
        let Some(mut block) = self.block.take() else {
            return;
        };
        let mut suite = String::new();
        if let Some(assembly) = self.assembly_of(&block.name) {
            suite.clone_from(&assembly.suite);
            assembly.listed.add(block.outcome);
            assembly.started.remove(&block.name);
        }
        let id = TestId { suite, test: block.name };
        let mut result = console::result(id, block.outcome, block.place, &mut self.tries);
        result.seconds = block.seconds;
        result.flags.truncated |= block.text.full();
        if block.outcome == Outcome::Failed {
            result.failure = block.text.take();
        }
        let output: Vec<String> = block.output.take().into_iter().collect();
        out.result_with_outputs(result, &output);
    }

    fn close(&mut self, name: &str, totals: &Totals, out: &mut Collector) {
        let suite = identity::suite_name(name);
        let n = self.open.iter().position(|assembly| assembly.suite == suite);
        let assembly = n.map_or_else(Assembly::default, |n| self.open.remove(n));
        let skipped = totals.skipped + totals.not_run;
        let passed = totals.total.saturating_sub(totals.failed).saturating_sub(skipped);
        let unlisted = passed.saturating_sub(assembly.listed.passed);
        out.unlisted(&suite, unlisted);
        let evidence = if unlisted > 0 { Evidence::E2 } else { Evidence::E1 };
        out.counts(&console::summary(passed, totals.failed, skipped), evidence);
    }
}

impl Block {
    fn take(&mut self, text: &str) {
        let indent = text.len() - text.trim_start_matches(' ').len();
        let rest = text.get(indent.min(self.indent + 2)..).unwrap_or("");
        if rest.trim_end() == "Output:" {
            self.in_output = true;
        } else if self.in_output {
            self.output.push(rest);
        } else {
            self.text.push(rest);
        }
    }
}

/// `xUnit.net Console Runner v2.4.2 (64-bit .NET 5.0.9)`, `xUnit.net v3 In-Process Runner v1.0.0+…`.
fn is_banner(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("xUnit.net ") && text.contains(" Runner v")
}

/// `  Starting:    Orders.Tests (parallel test collections = on, …)`: the assembly.
fn labelled(text: &str, label: &str) -> Option<String> {
    let rest = text.strip_prefix("  ")?.strip_prefix(label)?.trim();
    let name = rest.rfind(" (").map_or(rest, |at| &rest[..at]);
    Some(identity::suite_name(name))
}

/// `    Name [FAIL]`, `[SKIP]`, `[PASS]`, `[STARTING]`, `[FINISHED] Time: 0.1s`, and the indent.
fn said(text: &str) -> Option<(usize, Said<'_>)> {
    let rest = text.trim_start_matches(' ');
    let indent = text.len() - rest.len();
    if !(2..=6).contains(&indent) {
        return None;
    }
    let rest = rest.trim_end();
    for (mark, outcome) in
        [(" [FAIL]", Outcome::Failed), (" [SKIP]", Outcome::Skipped), (" [PASS]", Outcome::Passed)]
    {
        if let Some(name) = rest.strip_suffix(mark) {
            return Some((indent, Said::Ended(outcome, name, None)));
        }
    }
    if let Some(name) = rest.strip_suffix(" [STARTING]") {
        return Some((indent, Said::Started(name)));
    }
    let (name, time) = rest.rsplit_once(" [FINISHED] Time: ")?;
    let seconds = time.strip_suffix('s').and_then(|s| s.replace(',', ".").parse().ok());
    Some((indent, Said::Ended(Outcome::Passed, name, seconds)))
}

#[derive(Debug, Default, PartialEq)]
struct Totals {
    total: u64,
    failed: u64,
    skipped: u64,
    not_run: u64,
}

/// `   Orders.Tests  Total: 3, Errors: 0, Failed: 1, Skipped: 0, Not Run: 0, Time: 0.1s`. Errors are
/// no tests (a fixture that could not be cleaned up); the grand total repeats the lines above it.
fn summary(text: &str) -> Option<(&str, Totals)> {
    let (name, numbers) = text.trim().split_once(" Total:")?;
    let mut totals = Totals::default();
    for (n, pair) in numbers.split(", ").enumerate() {
        let (word, value) = if n == 0 { ("Total", pair) } else { pair.split_once(':')? };
        let value = value.trim().parse().ok();
        match word.trim() {
            "Total" => totals.total = value?,
            "Failed" => totals.failed = value?,
            "Skipped" => totals.skipped = value?,
            "Not Run" => totals.not_run = value?,
            _ => {}
        }
    }
    Some((name.trim_end(), totals))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::console::testing::{counted, read, rows};

    const RUN: &str = "xUnit.net v3 In-Process Runner v1.0.0+abc (64-bit .NET 8.0.11)\n  Discovering: Orders.Tests\n  Discovered:  Orders.Tests\n  Starting:    Orders.Tests (parallel test collections = on)\n";

    #[test]
    fn a_run_with_failures_skips_and_a_summary() {
        let text = format!(
            "{RUN}    Orders.Tests.Fifo.Skips [SKIP]\n      not today\n    Orders.Tests.Fifo.Order(n: 1) [FAIL]\n      Assert.Equal() Failure: Collections differ\n                 ↓ (pos 0)\n      Expected: [\"A\", \"B\"]\n      Actual:   [\"B\", \"A\"]\n      Stack Trace:\n        x.cs(1,0): at X\n      Output:\n        said [FAIL] things\n  Finished:    Orders.Tests\n=== TEST EXECUTION SUMMARY ===\n   Orders.Tests  Total: 9, Errors: 1, Failed: 1, Skipped: 1, Not Run: 2, Time: 0.3s\n          -- \n   GRAND TOTAL: 9 1 1 1 2 0.3s\n"
        );
        let report = read(&mut XunitConsole::default(), &text);
        assert_eq!(counted(&report), "9 = 5 + 1 failed + 0 errored + 3 skipped + 0 unknown");
        assert_eq!(
            rows(&report),
            [
                "skipped Orders.Tests/Orders.Tests.Fifo.Skips",
                "failed Orders.Tests/Orders.Tests.Fifo.Order(n: 1)"
            ]
        );
        assert_eq!(report.unlisted[0].passed, 5);
        assert_eq!(report.evidence, Some(Evidence::E2));
        let failure = report.results[1].failure.as_deref().expect("text");
        let order = crate::order::recover(failure).expect("an order");
        assert_eq!(order.ranks, Some(vec![1, 0]));
        assert!(!failure.contains("said"));
    }

    #[test]
    fn a_run_that_breaks_off_counts_only_what_it_lists() {
        let text = format!(
            "{RUN}    A.B [STARTING]\n    A.B [FINISHED] Time: 0.01s\n    A.C [STARTING]\n    A.D [FAIL]\n      x\n"
        );
        let report = read(&mut XunitConsole::default(), &text);
        assert_eq!(
            rows(&report),
            ["passed Orders.Tests/A.B", "failed Orders.Tests/A.D", "unknown Orders.Tests/A.C"]
        );
        assert_eq!(counted(&report), "? = ? + 1 failed + ? errored + ? skipped + 1 unknown");
        assert_eq!(report.complaints[0].code, "run-unfinished");
    }

    #[test]
    fn text_without_a_runner_is_not_ours() {
        let report = read(&mut XunitConsole::default(), "    A [FAIL]\n  Starting:    X\n");
        assert!(!report.recognised());
    }
}
