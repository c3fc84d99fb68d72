//! `fate-tui hubs`: which hub processes can be attached, and which hubs they have.

use std::io::{self, Write};
use std::time::Duration;

use crate::headless::{Collected, attached};
use crate::snapshot::print_columns;
use crate::source::Where;
use crate::{Exit, Io};

/// Hub names that are listed for one process; more are counted.
const LISTED: usize = 12;

/// Lists them.
pub(crate) fn run(place: &Where, io: &mut Io) -> Exit {
    let seen = match attached(place, Duration::ZERO, io) {
        Ok(seen) => seen,
        Err(exit) => return exit,
    };
    let printed = print(&mut io.out, &seen, place);
    seen.exit(printed, io)
}

fn print(out: &mut dyn Write, seen: &Collected, place: &Where) -> io::Result<()> {
    let heading = ["PROCESS", "PID", "BOOT", "STARTED", "PRODUCT", "HUBS"];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    for (id, target) in seen.world.targets.iter().enumerate() {
        let Some(hello) = target.hello.as_ref().filter(|_| target.is_live()) else { continue };
        let hubs: Vec<&str> = seen
            .world
            .rows
            .keys()
            .filter(|(of, hub)| *of == id && place.wants(&target.found.name, hub))
            .map(|(_, hub)| hub.as_str())
            .collect();
        let mut names = hubs.iter().take(LISTED).copied().collect::<Vec<_>>().join(" ");
        if hubs.len() > LISTED {
            names.push_str(&format!(" and {} more", hubs.len() - LISTED));
        }
        lines.push(vec![
            hello.name.clone(),
            hello.pid.to_string(),
            hello.boot.chars().take(8).collect(),
            hello.started.clone(),
            hello.product.clone(),
            names,
        ]);
    }
    print_columns(out, &lines)?;
    out.flush()
}
