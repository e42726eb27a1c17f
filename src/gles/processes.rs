//! What a program has started, to the last grandchild: it ends with it.

use crate::ending::children_of;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};
use std::collections::HashSet;
use std::process::Child;
use std::time::{Duration, Instant};

/// A signal, and how long those have to be gone that got it: first programs are asked to end.
const STEPS: [(Signal, Duration); 2] = [
    (Signal::TERM, Duration::from_secs(3)),
    (Signal::KILL, Duration::from_secs(2)),
];

/// From now on processes whose parents are gone are this one's children, whatever session they have made for themselves.
pub fn adopt() {
    // Linux always lets it; qemu, between a program and Linux, may not: there they are not found again.
    let _ = set_child_subreaper(Some(getpid()));
}

/// Ends a program and what it has started.
pub fn end(child: &mut Child) {
    if let Ok(None) = child.try_wait() {
        end_all(HashSet::from([Pid::from_child(child)]));
    }
    let _ = child.wait();
}

/// Ends what is left when the programs have ended and were waited for: what they started and did not wait for.
pub fn end_adopted() {
    end_all(children_of(getpid()).into_iter().collect());
    bury(&[]);
}

/// Takes leave of adopted processes that have ended. `own` are others' to wait for.
pub fn bury(own: &[&Child]) {
    let own: Vec<Pid> = own.iter().map(|child| Pid::from_child(child)).collect();
    for child in children_of(getpid()) {
        if !own.contains(&child) {
            let _ = waitpid(Some(child), WaitOptions::NOHANG);
        }
    }
}

/// Ends processes and what they have started, and start while it goes on.
fn end_all(mut all: HashSet<Pid>) {
    for (signal, patience) in STEPS {
        let last = Instant::now() + patience;
        let mut told = HashSet::new();
        while Instant::now() < last {
            // A number that is not ours any more may be anybody's.
            let ours = with_descendants(HashSet::from([getpid()]));
            all.retain(|process| ours.contains(process));
            all = with_descendants(all);
            let living: Vec<Pid> = all.iter().copied().filter(|process| lives(*process)).collect();
            if living.is_empty() {
                return;
            }
            for process in living {
                if told.insert(process) {
                    let _ = kill_process(process, signal);
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Processes with their children and theirs.
fn with_descendants(mut all: HashSet<Pid>) -> HashSet<Pid> {
    let mut open: Vec<Pid> = all.iter().copied().collect();
    while let Some(process) = open.pop() {
        open.extend(children_of(process).into_iter().filter(|child| all.insert(*child)));
    }
    all
}

/// Whether a process runs still: one that has ended is listed until somebody has asked how.
fn lives(process: Pid) -> bool {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).unwrap_or_default();
    // Behind the name, which may have any characters.
    let state = text.rsplit(") ").next().and_then(|rest| rest.chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}
