//! Signals and child processes on Unix.

use rustix::process::{Pid, Signal, getpid, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

/// Signals that end a command.
pub const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Runs `work` on a signal, then ends the process by the signal's default action.
///
/// # Errors
/// When no handler can be installed.
pub fn on_signals(work: fn()) -> std::io::Result<()> {
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
pub fn kill_children() {
    for child in children_of(getpid()) {
        let _ = kill_process(child, Signal::KILL);
    }
}

/// Ends the process without destructors.
pub fn leave(code: i32) -> ! {
    low_level::exit(code)
}

/// The children of a process, zombies included, where the kernel lists them.
pub fn children_of(process: Pid) -> Vec<Pid> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", process.as_raw_nonzero()));
    let tasks = tasks.into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let numbers = |list: String| -> Vec<i32> { list.split_whitespace().filter_map(|word| word.parse().ok()).collect() };
    lists.flat_map(numbers).filter_map(Pid::from_raw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_found() {
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let pid = Pid::from_child(&child);
        assert!(children_of(getpid()).contains(&pid));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!children_of(getpid()).contains(&pid));
    }
}
