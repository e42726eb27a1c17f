//! `--watch`: a command's work again whenever a file it reads changes.

use crate::outcome::{Failure, Outcome};
use crate::say::{note, say};
use std::path::Path;
use std::time::Duration;

/// How often the files are looked at.
pub const WATCH_EVERY: Duration = Duration::from_millis(150);

/// Does the work now, and again whenever one of the files has other contents, until the process is ended. What the work
/// could not do is said, and what it wrote before stays.
///
/// # Errors
/// Trouble when one of the files is standard input, which does not change.
pub fn whenever_changed(files: &[&Path], mut work: impl FnMut() -> Outcome) -> Outcome {
    if files.contains(&Path::new("-")) {
        return Err(Failure::usage("--watch: standard input does not change"));
    }
    let mut seen = None;
    loop {
        // A file in the middle of being replaced is not there: the next look sees it whole.
        let now: Option<Vec<Vec<u8>>> = files.iter().map(|file| std::fs::read(file).ok()).collect();
        if now.is_some() && now != seen {
            seen = now;
            match work() {
                Ok(()) => note("skrymir: written"),
                Err(failure) => say(format_args!(
                    "skrymir: {failure}\nskrymir: what was written before stays"
                )),
            }
        }
        std::thread::sleep(WATCH_EVERY);
    }
}
