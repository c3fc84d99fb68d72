//! Waiting for a stage in text: a literal match that cannot be fooled by longer names.
//!
//! `text.contains("ENQUEUED@host/1")` is also true for `ENQUEUED@host/12` and for
//! `MY_ENQUEUED@host/1`. These functions match whole names, in a trail's text or in a whole log.
//!
//! A test that has the recorder at hand waits for the stage itself:
//! [`Recorder::wait_for`](crate::Recorder::wait_for).
//!
//! ```
//! use std::time::Duration;
//! use fate_trail::stage::{ENQUEUED, pack};
//! use fate_trail::{Handle, Recorder, RecorderConfig, Storage};
//!
//! let recorder = Recorder::new(RecorderConfig::default());
//! let hub = recorder.hub("host/1");
//! let queued = recorder.wait_for(ENQUEUED, hub); // before the act
//! # let act = recorder.clone();
//! std::thread::spawn(move || {
//!     let mut trail = Handle::begin(&act, 7);
//!     trail.stamp(&act, hub, ENQUEUED, pack(ENQUEUED, &[1]));
//!     trail.finish(&act);
//! });
//! queued.wait(1, Duration::from_secs(10)).unwrap(); // or `queued.await`
//! ```

use crate::stage::StageId;
use crate::text::escape;

/// True where the text holds that stage at exactly that hub. `token` may be one that this build
/// does not know. The hub is given as it is, not percent-encoded.
pub fn contains_stage(text: &str, token: &str, hub: &str) -> bool {
    find_stage(text, token, hub).is_some()
}

/// As [`contains_stage`], for a registered stage.
pub fn contains(text: &str, stage: StageId, hub: &str) -> bool {
    contains_stage(text, stage.token(), hub)
}

/// Byte offset of the token of the first match.
pub fn find_stage(text: &str, token: &str, hub: &str) -> Option<usize> {
    let mut wanted = String::with_capacity(token.len() + hub.len() + 1);
    escape::push_word(&mut wanted, token);
    wanted.push('@');
    escape::push_word(&mut wanted, hub);
    let mut from = 0;
    while let Some(found) = text[from..].find(&wanted) {
        let start = from + found;
        let end = start + wanted.len();
        if is_start(text[..start].chars().next_back()) && is_end(text[end..].chars().next()) {
            return Some(start);
        }
        // `wanted` starts with an ASCII character, so the next byte starts a character.
        from = start + 1;
    }
    None
}

/// A token starts where no name goes on.
fn is_start(before: Option<char>) -> bool {
    before.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '%' | '-')))
}

/// A hub ends at the parenthesis of its time. Without a time it ends where no name could go on; a
/// full stop may end a sentence but also continue a name, so it does not count.
fn is_end(after: Option<char>) -> bool {
    after.is_none_or(|c| c == '(' || c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '&' | ',' | ')'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::ENQUEUED;

    #[test]
    fn whole_names_match() {
        let line = "x fate 7 POSTED@host/12(+0.000) | ENQUEUED@host/12(+0.001) n=1";
        assert!(contains(line, ENQUEUED, "host/12"));
        assert!(contains("seen ENQUEUED@host/12", ENQUEUED, "host/12"));
        assert!(contains("a → ENQUEUED@host/12 → b", ENQUEUED, "host/12"));
        assert_eq!(find_stage(line, "POSTED", "host/12"), Some(9));
    }

    #[test]
    fn longer_names_do_not() {
        let line = "ENQUEUED@host/12(+0.001) | RE_ENQUEUED@host/1(+0.002) | ENQUEUED@host/1.b(+?)";
        assert!(!contains(line, ENQUEUED, "host/1"));
        assert!(!contains(line, ENQUEUED, "host"));
        assert!(!contains(line, ENQUEUED, ""));
    }

    #[test]
    fn a_later_match_is_found_behind_a_longer_name() {
        let line = "ENQUEUED@host/12(+0.001) | ENQUEUED@host/1(+0.002)";
        assert_eq!(find_stage(line, "ENQUEUED", "host/1"), Some(27));
    }

    #[test]
    fn names_are_matched_in_their_encoded_form() {
        assert!(contains("ENQUEUED@a%20b(+?)", ENQUEUED, "a b"));
    }
}
