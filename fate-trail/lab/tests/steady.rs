//! The steady state: no allocation and no system call from the post of a message to the end of its
//! turn, with full trails, rings and the black box on.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::process::Command;

use fate_trail::{Handle, Inline, Off, Recorder, RecorderConfig, Storage};
use fate_trail_lab::delivery::Line;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, and how often this thread asked it.
struct Counting;

// SAFETY: every call goes to the system's allocator as it came; the counter is a thread's own and needs no
// allocation and no destructor.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(7)))), 1);
}

fn delivering_allocates_nothing<S: Storage>() {
    let recorder = Recorder::new(RecorderConfig { read_interval: None, ..RecorderConfig::default() });
    let line = Line::<S>::new(&recorder);
    line.deliver(2_000);
    assert_eq!(allocations(|| line.deliver(20_000)), 0);
    // A backlog as deep as one before costs nothing new either.
    let backlog = || {
        (0..3_000).for_each(|message| line.post(message));
        line.drain();
    };
    backlog();
    assert_eq!(allocations(backlog), 0);
    let status = recorder.status();
    assert_eq!((status.untracked, status.stale, status.in_flight), (0, 0, 0));
    assert_eq!(status.finished.recorded, if S::RECORDS { 28_000 } else { 0 });
}

#[test]
fn a_delivery_with_a_handle_allocates_nothing() {
    delivering_allocates_nothing::<Handle>();
}

#[test]
fn a_delivery_with_an_inline_trail_allocates_nothing() {
    delivering_allocates_nothing::<Inline>();
}

#[test]
fn a_delivery_without_a_trail_allocates_nothing() {
    delivering_allocates_nothing::<Off>();
}

#[test]
fn failed_trails_allocate_nothing_either() {
    let recorder = Recorder::new(RecorderConfig { read_interval: None, ..RecorderConfig::default() });
    let hub = recorder.hub("h");
    let fail = |times: u64| {
        for id in 0..times {
            let mut trail = Handle::begin(&recorder, id);
            trail.stamp_timed(&recorder, hub, fate_trail::stage::HANDLER_FAULT, 0);
            trail.finish(&recorder);
        }
    };
    fail(10);
    assert_eq!(allocations(|| fail(5_000)), 0);
    assert_eq!(recorder.status().black_box.interesting, 5_010);
}

/// A process that forbids itself system calls lives through 600 000 deliveries and dies of its first call.
#[test]
fn a_delivery_makes_no_system_call() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let output = Command::new(env!("CARGO_BIN_EXE_sealed")).output().expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    // Where the kernel keeps time otherwise, reading the system's clock is a call of its own on some machines.
    if text.contains("clock=system") {
        return;
    }
    assert!(text.contains("sealed 600000"), "{output:?}");
    assert!(!text.contains("not sealed") && !output.status.success(), "the seal holds: {output:?}");
}
