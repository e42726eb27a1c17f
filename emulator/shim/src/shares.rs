//! Limits on the objects of each process, so that all processes can allocate some.

use rustix::process::{Resource, getrlimit};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Descriptors reserved for the server, for connections and for waits.
const OWN: usize = 128;

/// Limit on objects, whatever the descriptor limit: each is mapped, and Linux allows 65,530 mappings.
const MOST: usize = 60_000;

/// Objects that a process may hold in the last part of the capacity.
const FEW: usize = 64;

/// Handles on objects, by process.
#[derive(Debug)]
pub struct Shares {
    held: Mutex<HashMap<u32, usize>>,
    room: usize,
}

impl Default for Shares {
    fn default() -> Self {
        let open = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let open = usize::try_from(open).unwrap_or(usize::MAX);
        Self::new(open.saturating_sub(OWN).clamp(256, MOST))
    }
}

impl Shares {
    fn new(room: usize) -> Self {
        let held = Mutex::default();
        Self { held, room }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<u32, usize>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes another handle for a process, if allowed: at most three quarters of all, and only a few of the last
    /// eighth.
    pub fn take(&self, process: u32) -> bool {
        let mut held = self.held();
        let all: usize = held.values().sum();
        let own = held.entry(process).or_default();
        let room = if *own < FEW {
            self.room
        } else {
            self.room - self.room / 8
        };
        let fits = *own < self.room / 4 * 3 && all < room;
        *own += usize::from(fits);
        fits
    }

    /// Number of handles of a process.
    #[cfg(test)]
    pub fn held_by(&self, process: u32) -> usize {
        self.held().get(&process).copied().unwrap_or(0)
    }

    /// Returns handles of a process.
    pub fn give(&self, process: u32, count: usize) {
        let mut held = self.held();
        if let Some(own) = held.get_mut(&process) {
            *own = own.saturating_sub(count);
            if *own == 0 {
                held.remove(&process);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greedy_processes_leave_capacity() {
        let shares = Shares::new(800);
        let greedy = |process| (0..10_000).filter(|_| shares.take(process)).count();
        assert_eq!(greedy(1), 600);
        assert_eq!(greedy(2), 100, "the last eighth is not for those that hold much");
        assert_eq!(greedy(3), FEW);
        assert!(greedy(4) > 0 && !shares.take(1));
        shares.give(1, 600);
        assert!(greedy(5) > 100, "returned handles are available");
    }
}
