//! Commands that end early, by a signal or because their time is over, leave nothing behind: no temporary file, no child
//! process.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What ends a command from outside.
pub const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

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
    let mut signals = Signals::new(SIGNALS)?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            take_away();
            let _ = low_level::emulate_default_handler(signal);
        }
    });
    Ok(())
}

/// Removes the files noted and ends the process' children. Nothing may be noted any more: whoever holds the lock later
/// is ended with the process.
fn take_away() {
    let files = temporary();
    for file in files.iter() {
        let _ = std::fs::remove_file(file);
    }
    for child in children() {
        let _ = rustix::process::kill_process(child, rustix::process::Signal::KILL);
    }
    std::mem::forget(files);
}

/// The processes that this one has started and that still run, where the system tells.
fn children() -> Vec<rustix::process::Pid> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let numbers = |list: String| -> Vec<i32> { list.split_whitespace().filter_map(|word| word.parse().ok()).collect() };
    lists
        .flat_map(numbers)
        .filter_map(rustix::process::Pid::from_raw)
        .collect()
}

/// The longest time that a piece of work may take. When it is over, the process ends with exit code 2 and says what
/// took too long; the work cannot be asked to stop, for it may be in a driver's compiler. Dropped in time, nothing
/// happens.
#[derive(Debug)]
pub struct Limit {
    _done: Sender<()>,
}

impl Limit {
    /// Starts the time.
    pub fn start(time: Duration, what: String) -> Self {
        let (done, over) = channel();
        std::thread::spawn(move || {
            if over.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                crate::say::say(format_args!(
                    "skrymir: {what} took longer than {} s (--patience)",
                    time.as_secs()
                ));
                take_away();
                // Without destructors: the work still runs, and may hold locks that they want.
                low_level::exit(2);
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
    fn children_are_found() {
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        assert!(children().contains(&pid));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!children().contains(&pid));
    }

    #[test]
    fn work_in_time_ends_nothing() {
        drop(Limit::start(Duration::from_millis(1_000), "a test".into()));
        drop(Limit::start(Duration::MAX, "a test".into()));
        std::thread::sleep(Duration::from_millis(1_200));
    }
}
