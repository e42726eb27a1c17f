//! Signals and child processes on Unix.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

/// Signals that end a command.
pub(crate) const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Runs `work` on a signal, then ends the process by the signal's default action.
///
/// # Errors
/// When no handler can be installed.
pub(crate) fn on_signals(work: fn()) -> std::io::Result<()> {
    let mut signals = Signals::new(SIGNALS)?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            work();
            let _ = low_level::emulate_default_handler(signal);
        }
    });
    Ok(())
}

/// Kills the child processes.
pub(crate) fn kill_children() {
    // Only Linux lists them.
    #[cfg(target_os = "linux")]
    for child in gles::children_of(rustix::process::getpid()) {
        let _ = rustix::process::kill_process(child, rustix::process::Signal::KILL);
    }
}

/// Ends the process without destructors.
pub(crate) fn leave(code: i32) -> ! {
    low_level::exit(code)
}
