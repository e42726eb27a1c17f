//! How many objects each process may hold, so that one leaves room for the others.

use rustix::process::{Resource, getrlimit};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Descriptors that the server keeps for itself, for connections and for waits.
const OWN: usize = 128;

/// Objects at most, whatever the system lets be open: each is mapped, and Linux maps 65,530 pieces.
const MOST: usize = 60_000;

/// What a process may hold of the last part of the room, which is for those that hold little.
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

    /// One more handle for a process, if it may have one: not more than three quarters of all, and of the last eighth a few.
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

    /// Handles that a process has.
    #[cfg(test)]
    pub fn held_by(&self, process: u32) -> usize {
        self.held().get(&process).copied().unwrap_or(0)
    }

    /// Handles of a process are closed.
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
    fn the_greedy_leave_room_for_others() {
        let shares = Shares::new(800);
        let greedy = |process| (0..10_000).filter(|_| shares.take(process)).count();
        assert_eq!(greedy(1), 600);
        assert_eq!(greedy(2), 100, "the last eighth is not for those that hold much");
        assert_eq!(greedy(3), FEW);
        assert!(greedy(4) > 0 && !shares.take(1));
        shares.give(1, 600);
        assert!(greedy(5) > 100, "what is given back is there for others");
    }
}
