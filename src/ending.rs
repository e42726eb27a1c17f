//! Commands that end early, by a signal or because their time is over, leave nothing behind: no temporary file, no child
//! process.

#[cfg(unix)]
#[path = "ending/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "ending/windows.rs"]
mod system;
#[cfg(not(any(unix, windows)))]
#[path = "ending/none.rs"]
mod system;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use system::leave;
#[cfg(unix)]
pub use system::{SIGNALS, children_of};

/// Files that are not to outlive the process.
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn temporary() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is taken away when the process is ended; forgotten on drop.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// Notes a file.
    pub fn note(path: &Path) -> Self {
        temporary().insert(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        temporary().remove(&self.0);
    }
}

/// From now on a signal takes away what is left, and then ends the process as it would have.
///
/// # Errors
/// Where the system does not let signals be waited for.
pub fn clean_up_on_signals() -> std::io::Result<()> {
    system::on_signals(take_away)
}

/// Removes the files noted and ends the process' children. Nothing may be noted any more: whoever holds the lock later
/// is ended with the process.
fn take_away() {
    let files = temporary();
    for file in files.iter() {
        let _ = std::fs::remove_file(file);
    }
    system::end_children();
    std::mem::forget(files);
}

/// A time limit of a piece of work that cannot be cancelled, such as a driver's compiler: when it is over, the process ends.
/// Dropped in time, nothing happens.
#[derive(Debug)]
pub struct Limit {
    _done: Sender<()>,
}

impl Limit {
    /// Starts the time; at its end the process reports what took too long, and exits with 2.
    pub fn start(time: Duration, what: String) -> Self {
        let report = move || {
            crate::say::say(format_args!(
                "skrymir: {what} took longer than {} s (--timeout)",
                time.as_secs()
            ));
        };
        Self::ending(time, 2, report)
    }

    /// Starts the time; at its end the process reports, and exits with this code.
    pub fn ending(time: Duration, code: i32, report: impl FnOnce() + Send + 'static) -> Self {
        let (done, over) = channel();
        std::thread::spawn(move || {
            if over.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                report();
                take_away();
                // Without destructors: the work still runs, and may hold locks that they want.
                system::leave(code);
            }
        });
        Self { _done: done }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noted_files_are_known_until_dropped() {
        let path = Path::new("a file that is nowhere");
        let noted = Temporary::note(path);
        assert!(temporary().contains(path));
        drop(noted);
        assert!(!temporary().contains(path));
    }

    #[test]
    fn work_in_time_ends_nothing() {
        drop(Limit::start(Duration::from_millis(1_000), "a test".into()));
        drop(Limit::start(Duration::MAX, "a test".into()));
        std::thread::sleep(Duration::from_millis(1_200));
    }
}
