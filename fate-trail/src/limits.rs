//! Every limit of the crate by name, with its unit and its reason.

/// Stages a trail keeps: the first [`HEAD_ENTRIES`] and the last [`TAIL_ENTRIES`].
pub const TRAIL_ENTRIES: usize = HEAD_ENTRIES + TAIL_ENTRIES;
/// Oldest stages kept; they say who sent what and when it was queued.
pub const HEAD_ENTRIES: usize = 4;
/// Newest stages kept; they say how it ended.
pub const TAIL_ENTRIES: usize = 10;

/// Finished trails a recorder keeps by default before it overwrites the oldest.
pub const FINISHED_TRAILS: usize = 512;
/// Deliveries a recorder follows at once by default; memory is taken in chunks, on demand.
pub const IN_FLIGHT: usize = 1 << 20;
/// Slots of the slab that are allocated at a time.
pub const CHUNK_SLOTS: usize = 1024;
/// Hub-level stages a recorder keeps by default, over all its hubs.
pub const HUB_ENTRIES: usize = 1024;
/// Details of one hub-level stage.
pub const HUB_VALUES: usize = 4;
/// Records in one thread's ring by default; 32 bytes each, so 256 KiB a thread.
pub const RING_SLOTS: usize = 8192;
/// Threads that have a ring and free slots of their own in a recorder, ended ones included whose
/// ring was not drained yet.
pub const THREADS: usize = 256;
/// Free slots that one thread may keep for itself.
pub const STASH_SLOTS: usize = 32;

/// Interesting trails a recorder keeps by default: the first half of them and the worst.
pub const BOXED_TRAILS: usize = 1024;
/// Time from the first stage to the last from which a trail is interesting by default, in
/// microseconds.
pub const SLOW_MICROS: u32 = 1_000_000;

/// Subscribers of a recorder's stages.
pub const SUBSCRIBERS: usize = 16;
/// Records that wait for one subscriber by default; 32 bytes each.
pub const SUBSCRIBER_RECORDS: usize = 1 << 16;
/// Milliseconds between two looks of the reader thread into the rings.
pub const READ_INTERVAL_MILLIS: u64 = 20;

/// Deliveries that an assembler puts together at once by default; about 400 bytes each.
pub const ASSEMBLING: usize = 1 << 16;
/// Replies that one trail carries; what became of further ones is counted.
pub const REPLIES: usize = 3;

/// Names of one kind (hubs, or gate sets and symbols) that a recorder interns.
pub const NAMES: usize = 16_384;
/// Bytes of one interned name; longer ones are cut.
pub const NAME_BYTES: usize = 256;

/// Stages of the process's applications that are recorded under their own token.
pub const APPLICATION_STAGES: usize = 1024;

/// Bytes of one trail in text form that the reader takes.
pub const TRAIL_BYTES: usize = 256 * 1024;
/// Bytes of one entry of the original's dialect, whose details may contain spaces.
pub const DIALECT_ENTRY_BYTES: usize = 1024;

/// Characters of a log line that [`crate::scrub::scrub_line`] shows.
pub const SHOWN_CHARS: usize = 4096;

const _: () = {
    assert!(NAMES < u16::MAX as usize, "an interned name has 16 bits");
    assert!(CHUNK_SLOTS.is_power_of_two());
    assert!(RING_SLOTS.is_power_of_two());
    assert!(IN_FLIGHT <= u32::MAX as usize / 2, "a slab index has 32 bits");
    assert!(DIALECT_ENTRY_BYTES <= TRAIL_BYTES);
};
