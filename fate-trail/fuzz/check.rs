//! What holds for any bytes whatever; the fuzz targets and the property tests of the crate share it.

use fate_trail::limits::TRAIL_BYTES;
use fate_trail::{Level, Trail, scrub, text, wait};

/// Stages of a trail that are waited for, each by a search from the start of its line.
const WAITS: usize = 16;

/// Bytes as a log line: nothing panics, what is read can be written, reads the same again, and is found where it stands.
pub(crate) fn text(bytes: &[u8]) {
    for found in text::find_bytes(bytes) {
        let trail = &found.trail;
        let line = reads_back(trail);
        // Not with `assert_eq`, whose message would be as long as the trail.
        assert!(trail.breach(trail.conforms()).is_none(), "{line:.500}");
        assert!(trail.conforms() == Level::L0 || !trail.stages.is_empty(), "{line:.500}");
        for stage in trail.stages.iter().take(WAITS) {
            assert!(wait::contains_stage(&line, &stage.token, &stage.hub), "{stage:?} in {line:.500}");
        }
        let _ = (trail.fate(), trail.likely_cause(), trail.lossless(), trail.has_n());
    }
    let lossy = String::from_utf8_lossy(bytes);
    if let Ok(trail) = text::parse(&lossy) {
        reads_back(&trail);
    }
    assert!(!scrub::scrub(&lossy).chars().any(scrub::is_hazard));
}

/// The line of a trail, which reads as that trail unless the grammar's own spelling made it too long.
fn reads_back(trail: &Trail) -> String {
    let line = text::write(trail);
    assert!(line.bytes().all(|b| b == b' ' || b.is_ascii_graphic()), "{line:.500}");
    assert!(line.len() > TRAIL_BYTES || text::parse(&line).as_ref() == Ok(trail), "{line:.500}");
    line
}
