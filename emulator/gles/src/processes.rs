//! The descendants of a program, which end with it.

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};
use std::collections::HashSet;
use std::process::Child;
use std::time::{Duration, Instant};

/// Signals to end processes with, and the time limit for each.
const STEPS: [(Signal, Duration); 2] = [
    (Signal::TERM, Duration::from_secs(3)),
    (Signal::KILL, Duration::from_secs(2)),
];

/// Makes this process the reaper of its descendants: orphans become its children, whatever their session.
pub fn adopt() {
    // Linux always succeeds; qemu's user mode may fail, and orphans are then not found.
    let _ = set_child_subreaper(Some(getpid()));
}

/// Ends a program and its descendants.
pub fn end(child: &mut Child) {
    if let Ok(None) = child.try_wait() {
        end_all(HashSet::from([Pid::from_child(child)]));
    }
    let _ = child.wait();
}

/// Ends and reaps the remaining descendants.
pub fn end_adopted() {
    end_all(children_of(getpid()).into_iter().collect());
    reap(&[]);
}

/// Reaps zombies among the adopted processes, except `own`, which the caller waits for.
pub fn reap(own: &[&Child]) {
    let own: Vec<Pid> = own.iter().map(|child| Pid::from_child(child)).collect();
    for child in children_of(getpid()) {
        if !own.contains(&child) {
            let _ = waitpid(Some(child), WaitOptions::NOHANG);
        }
    }
}

/// Ends processes and their descendants, including those started meanwhile.
fn end_all(mut all: HashSet<Pid>) {
    for (signal, timeout) in STEPS {
        let last = Instant::now() + timeout;
        let mut signalled = HashSet::new();
        while Instant::now() < last {
            // The id of a process that is not a descendant any more may have been reused.
            let ours = with_descendants(HashSet::from([getpid()]));
            all.retain(|process| ours.contains(process));
            all = with_descendants(all);
            let living: Vec<Pid> = all.iter().copied().filter(|process| lives(*process)).collect();
            if living.is_empty() {
                return;
            }
            for process in living {
                if signalled.insert(process) {
                    let _ = kill_process(process, signal);
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Processes and their descendants.
fn with_descendants(mut all: HashSet<Pid>) -> HashSet<Pid> {
    let mut open: Vec<Pid> = all.iter().copied().collect();
    while let Some(process) = open.pop() {
        open.extend(children_of(process).into_iter().filter(|child| all.insert(*child)));
    }
    all
}

/// Whether a process still runs; zombies do not.
fn lives(process: Pid) -> bool {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).unwrap_or_default();
    // The state follows the name, which may contain any characters.
    let state = text.rsplit(") ").next().and_then(|rest| rest.chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
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
