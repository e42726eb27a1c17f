//! `--watch`: runs a command's work again when a file that it reads changes.

use crate::cli::log::{message, note};
use crate::cli::outcome::{Failure, Outcome};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Interval between checks of the files.
pub(crate) const INTERVAL: Duration = Duration::from_millis(150);

/// Files, and what they contained when they were last read.
pub(crate) struct Files {
    paths: Vec<PathBuf>,
    seen: Option<Vec<Vec<u8>>>,
    looked: Option<Instant>,
}

impl Files {
    /// The files of a command with a flag, not read yet.
    ///
    /// # Errors
    /// Trouble when one of them is standard input.
    pub(crate) fn new(flag: &str, files: &[&Path]) -> Outcome<Self> {
        if files.contains(&Path::new("-")) {
            return Err(Failure::usage(format_args!("{flag}: standard input does not change")));
        }
        Ok(Self {
            paths: files.iter().map(|path| path.to_path_buf()).collect(),
            seen: None,
            looked: None,
        })
    }

    /// Whether their contents are others than at the last call; no within [`INTERVAL`] of the last reading.
    pub(crate) fn changed(&mut self) -> bool {
        if self.looked.is_some_and(|looked| looked.elapsed() < INTERVAL) {
            return false;
        }
        // A file that is being replaced may be missing: the next check reads it.
        let now: Option<Vec<Vec<u8>>> = self.paths.iter().map(|file| std::fs::read(file).ok()).collect();
        self.looked = Some(Instant::now());
        let changed = now.is_some() && now != self.seen;
        if changed {
            self.seen = now;
        }
        changed
    }
}

/// Runs the work now and at each change of a file's contents, until the process ends. A failure is printed; earlier
/// output stays.
///
/// # Errors
/// Trouble when one of the files is standard input.
pub(crate) fn run_on_change(files: &[&Path], mut work: impl FnMut() -> Outcome) -> Outcome {
    let mut files = Files::new("--watch", files)?;
    loop {
        if files.changed() {
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
