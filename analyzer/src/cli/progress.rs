//! A progress bar on standard error, drawn only where a person watches.

use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::source::Progress;

/// Redraws a second.
const RATE: u8 = 10;

/// Bytes of all files, files read, bytes a second.
pub(super) struct Bar {
    bar: ProgressBar,
    files: AtomicU64,
}

impl Bar {
    pub(super) fn new(shown: bool) -> Bar {
        let target =
            if shown { ProgressDrawTarget::stderr_with_hz(RATE) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let style = ProgressStyle::with_template(
            "{bar:30} {bytes}/{total_bytes} · {msg} · {binary_bytes_per_sec} · {eta} left",
        );
        if let Ok(style) = style {
            bar.set_style(style);
        }
        bar.set_message("looking for files");
        Bar { bar, files: AtomicU64::new(0) }
    }

    /// Takes the bar off the terminal.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Bar {
    fn found(&self, bytes: u64) {
        // The rate is that of reading, not of looking for files.
        self.bar.reset();
        self.bar.set_length(bytes);
    }

    fn read(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    fn file(&self) {
        let files = self.files.fetch_add(1, Ordering::Relaxed) + 1;
        if !self.bar.is_hidden() {
            self.bar.set_message(format!("{files} files"));
        }
    }
}
