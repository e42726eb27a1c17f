//! Cleanup on signals and timeouts: temporary files are removed and child processes killed.

#[cfg(unix)]
#[path = "cleanup/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "cleanup/windows.rs"]
mod system;
#[cfg(not(any(unix, windows)))]
#[path = "cleanup/none.rs"]
mod system;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

#[cfg(target_os = "linux")]
pub(crate) use system::SIGNALS;
pub(crate) use system::leave;

/// Files that do not outlive the process.
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn temporary() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is removed if the process ends early; unregistered on drop.
#[derive(Debug)]
pub(crate) struct Temporary(PathBuf);

impl Temporary {
    /// Registers a file.
    pub(crate) fn register(path: &Path) -> Self {
        clean_up_on_signals();
        temporary().insert(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        temporary().remove(&self.0);
    }
}

/// Installs signal handlers that clean up and then end the process by the signal's default action; once per process.
pub(crate) fn clean_up_on_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if let Err(error) = system::on_signals(clean_up) {
            crate::cli::log::message(format_args!("skrymir: cannot handle signals: {error}"));
        }
    });
}

/// Removes the registered files and kills the child processes. The lock is kept, so that no file is registered afterwards.
fn clean_up() {
    let files = temporary();
    for file in files.iter() {
        let _ = std::fs::remove_file(file);
    }
    system::kill_children();
    std::mem::forget(files);
}

/// A time limit for work that cannot be cancelled, such as a driver's compiler: the process exits when it expires. Drop
/// it to cancel the limit.
#[derive(Debug)]
pub(crate) struct Limit {
    _done: Sender<()>,
}

impl Limit {
    /// Starts a limit; on expiry the process prints `what` took too long and exits with 2.
    pub(crate) fn start(time: Duration, what: String) -> Self {
        let report = move || {
            crate::cli::log::message(format_args!(
                "skrymir: {what} took longer than {} s (--timeout)",
                time.as_secs()
            ));
        };
        Self::with_exit(time, 2, report)
    }

    /// Starts a limit; on expiry the process calls `report` and exits with `code`.
    pub(crate) fn with_exit(time: Duration, code: i32, report: impl FnOnce() + Send + 'static) -> Self {
        let (done, over) = channel();
        std::thread::spawn(move || {
            if over.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                report();
                clean_up();
                // Without destructors: the work still runs and may hold locks that they take.
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
    fn files_are_registered_until_dropped() {
        let path = Path::new("a file that is nowhere");
        let file = Temporary::register(path);
        assert!(temporary().contains(path));
        drop(file);
        assert!(!temporary().contains(path));
    }

    #[test]
    fn a_dropped_limit_does_not_expire() {
        drop(Limit::start(Duration::from_millis(1_000), "a test".into()));
        drop(Limit::start(Duration::MAX, "a test".into()));
        std::thread::sleep(Duration::from_millis(1_200));
    }
}
