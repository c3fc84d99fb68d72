//! Delivers messages with full trails on a thread that has forbidden itself system calls, and says how
//! many. Then it makes one, to show that the seal holds: the process ends as killed.

use std::io::{Write, stdout};

use fate_trail::{Handle, Inline, Recorder, RecorderConfig, Storage};
use fate_trail_lab::delivery::Line;

/// Deliveries before the seal: the thread's ring, its slots and the queue are there after them.
const WARM: u64 = 10_000;
const SEALED: u64 = 200_000;

fn main() -> std::io::Result<()> {
    let recorder = Recorder::new(RecorderConfig { read_interval: None, ..RecorderConfig::default() });
    let handle = Line::<Handle>::new(&recorder);
    let inline = Line::<Inline>::new(&recorder);
    let hub = recorder.hub("direct");
    let both = |times| {
        handle.deliver(times);
        inline.deliver(times);
        for id in 0..times {
            let mut trail = Handle::begin(&recorder, id);
            trail.stamp_timed(&recorder, hub, fate_trail::stage::HANDLER_FAULT, 0);
            trail.finish(&recorder);
        }
    };
    both(WARM);
    // The first line makes its buffer.
    println!("warm {} clock={}", recorder.status().finished.recorded, recorder.status().clock);
    fate_trail_lab::seal::seal()?;
    both(SEALED);
    println!("sealed {}", recorder.status().finished.recorded - 3 * WARM);
    stdout().flush()?;
    // Any system call will do.
    println!("not sealed: this process is {}", std::process::id());
    Ok(())
}
