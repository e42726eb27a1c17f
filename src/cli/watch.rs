//! `--watch`: runs a command's work again when a file that it reads changes.

use crate::cli::log::{message, note};
use crate::cli::outcome::{Failure, Outcome};
use std::path::Path;
use std::time::Duration;

/// Interval between checks of the files.
pub(crate) const INTERVAL: Duration = Duration::from_millis(150);

/// Runs the work now and at each change of a file's contents, until the process ends. A failure is printed; earlier
/// output stays.
///
/// # Errors
/// Trouble when one of the files is standard input.
pub(crate) fn run_on_change(files: &[&Path], mut work: impl FnMut() -> Outcome) -> Outcome {
    if files.contains(&Path::new("-")) {
        return Err(Failure::usage("--watch: standard input does not change"));
    }
    let mut seen = None;
    loop {
        // A file that is being replaced may be missing: the next check reads it.
        let now: Option<Vec<Vec<u8>>> = files.iter().map(|file| std::fs::read(file).ok()).collect();
        if now.is_some() && now != seen {
            seen = now;
            match work() {
                Ok(()) => note("skrymir: written"),
                Err(failure) => message(format_args!(
                    "skrymir: {failure}\nskrymir: what was written before stays"
                )),
            }
        }
        std::thread::sleep(INTERVAL);
    }
}
