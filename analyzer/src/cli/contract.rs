//! `contract check`: whether logs hold only tokens that are pinned.

use std::ffi::OsStr;

use super::args::ContractCheck;
use super::progress::Bar;
use super::{Failure, Io, Outcome, complaints};
use crate::contract::{self, Baseline, Tokens};
use crate::model::Complaint;
use crate::{complaint, exit, ingest, limits, source};

pub(super) fn check(command: &ContractCheck, io: &mut Io<'_>) -> Outcome {
    let baseline = read_baseline(&command.baseline)?;
    let baseline = if command.registry { baseline.with_registry() } else { baseline };
    let bar = Bar::new(io.err_is_terminal && !io.quiet);
    let options = source::Options::default();
    let gathered = source::gather(&command.files, &mut *io.input, &options, &bar, &|place, reader| {
        let mut tokens = Tokens::default();
        ingest::each_trail(reader, &mut |line, trail| tokens.add(&place.path, line, &trail));
        tokens
    });
    bar.clear();
    let mut tokens = Tokens::default();
    let mut faults: Vec<Complaint> = Vec::new();
    for file in gathered.files {
        tokens.merge(file.value.unwrap_or_default());
        faults.extend(file.fault);
    }
    complaints::print(&faults, io)?;
    if tokens.trails == 0 {
        writeln!(io.err, "no file holds a trail, so nothing was checked")?;
        return Ok(exit::DEGRADED);
    }
    let passed = contract::write(&tokens, &baseline, &command.baseline.to_string_lossy(), &mut *io.out)?;
    if !passed {
        writeln!(io.err, "some tokens are not pinned")?;
    }
    // What could not be read may hold anything.
    let damaged = faults.iter().any(|fault| complaint::is_damaging(fault.code));
    Ok(match passed {
        _ if damaged => exit::DEGRADED,
        true => exit::OK,
        false => exit::GATE,
    })
}

fn read_baseline(path: &OsStr) -> Result<Baseline, Failure> {
    let wrong = |why: String| Failure::Usage(format!("the list `{}`: {why}", path.to_string_lossy()));
    let size = std::fs::metadata(path).map_err(|error| wrong(format!("cannot be read: {error}")))?.len();
    if size > limits::CONTRACT_LIST_BYTES_MAX {
        let limit = limits::CONTRACT_LIST_BYTES_MAX;
        return Err(wrong(format!("has {size} bytes, {limit} allowed; is it a log? The list comes first")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    Baseline::read(&text).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use crate::cli::tests::{command, folder, text};
    use crate::exit;

    const LIST: &str = "orders.reserved\t1.0\t-\norders.paid\t1.0\tanswered\n";

    #[test]
    fn logs_are_held_to_the_list() {
        let dir = folder(&[
            ("stages.txt", LIST),
            ("good.log", "noise\nx fate 1 orders.reserved@h(+0.000) | orders.paid@h(+?)\n"),
            ("mixed.log", "fate 1 ENQUEUED@h(+0.000) | orders.paid@h(+?)\n"),
            ("bad.xml", "<testsuite><system-out>fate 1 orders.payed@h(+0.000)</system-out></testsuite>"),
            ("none.log", "no trail in here\n"),
        ]);
        let path = |name: &str| dir.path().join(name);
        let list = path("stages.txt");
        let check = |names: &[&str], more: &[&str]| {
            let files: Vec<_> = names.iter().map(|name| path(name)).collect();
            let files = files.iter().map(|file| text(file));
            let args: Vec<&str> = ["contract", "check", text(&list)].into_iter().chain(files).collect();
            command(&[&args, more].concat())
        };
        let done = check(&["good.log"], &[]);
        assert_eq!((done.code, done.err.as_str()), (exit::OK, ""));
        assert!(done.out.starts_with("2 tokens on 1 trails, all pinned in "), "{}", done.out);

        let done = check(&["good.log", "mixed.log"], &[]);
        assert_eq!(done.code, exit::GATE, "a registered stage is not in this list");
        assert_eq!(check(&["good.log", "mixed.log"], &["--registry"]).code, exit::OK);

        let done = check(&["bad.xml"], &["--registry"]);
        assert_eq!(done.code, exit::GATE);
        let place = format!("`orders.payed` is not pinned; 1 times, first at {}:1", text(&path("bad.xml")));
        assert!(done.out.contains(&place) && done.out.contains("alike: `orders.paid`"), "{}", done.out);

        let done = check(&["none.log"], &[]);
        assert_eq!((done.code, done.out.as_str()), (exit::DEGRADED, ""));
        assert!(done.err.contains("nothing was checked"), "{}", done.err);
        assert_eq!(
            check(&["good.log", "no-such.log"], &[]).code,
            exit::DEGRADED,
            "one file could not be read"
        );
        assert_eq!(check(&["bad.xml", "no-such.log"], &[]).code, exit::DEGRADED);
    }

    #[test]
    fn a_list_that_is_none_is_usage() {
        let dir = folder(&[
            ("good.log", "fate 1 a.b@h(+0.000)\n"),
            ("empty.txt", "\n"),
            ("log.txt", "12:00 hello\n"),
        ]);
        let log = dir.path().join("good.log");
        for list in ["empty.txt", "log.txt", "missing.txt"] {
            let list = dir.path().join(list);
            let done = command(&["contract", "check", text(&list), text(&log)]);
            assert_eq!((done.code, done.out.as_str()), (exit::USAGE, ""), "{}", done.err);
            assert!(done.err.contains("the list `"), "{}", done.err);
        }
        assert_eq!(command(&["contract", "check", text(&log)]).code, exit::USAGE, "no log given");
        assert_eq!(command(&["contract"]).code, exit::USAGE);
    }
}
