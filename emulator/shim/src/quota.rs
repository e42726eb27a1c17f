//! What each process may hold of a server, so that some is left for the others.

use rustix::process::getrlimit;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// Descriptors of the server: one for each connection, buffer object, pending wait and exported fence.
    Descriptors,
    /// Bytes of buffer objects; an object that several processes hold counts for each.
    Memory,
    /// Connections, each of which has a thread or two.
    Connections,
    /// Sync objects.
    SyncObjects,
    /// Contexts.
    Contexts,
}

/// All resources, in their order.
const ALL: [Resource; 5] = [
    Resource::Descriptors,
    Resource::Memory,
    Resource::Connections,
    Resource::SyncObjects,
    Resource::Contexts,
];

const RESOURCES: usize = ALL.len();

/// Limits on a resource.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// What all processes hold together. The last eighth is for processes that hold little.
    all: u64,
    /// What one process holds.
    each: u64,
    /// What a process holds that still gets some of the last eighth.
    little: u64,
}

/// Descriptors that the server needs for itself.
const OWN: u64 = 128;

/// Limit on objects, whatever the descriptor limit: each is mapped, and Linux allows 65,530 mappings.
const MOST: u64 = 60_000;

/// The limits, in the order of [`Resource`].
fn limits() -> [Limits; RESOURCES] {
    let shared = |all: u64, little: u64| Limits {
        all,
        each: all / 4 * 3,
        little,
    };
    let descriptors = getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
    let system = rustix::system::sysinfo();
    let memory = (system.totalram as u64).saturating_mul(system.mem_unit.into());
    [
        shared(descriptors.saturating_sub(OWN).clamp(256, MOST), 64),
        shared(memory, 1 << 26),
        Limits {
            all: 1 << 12,
            each: 1 << 8,
            little: 1 << 4,
        },
        shared(1 << 18, 1 << 10),
        shared(1 << 16, 1 << 6),
    ]
}

type Amounts = [u64; RESOURCES];

#[derive(Debug, Default)]
struct Held {
    all: Amounts,
    by_process: HashMap<u32, Amounts>,
}

/// What every process holds.
#[derive(Debug)]
pub(crate) struct Quotas {
    limits: [Limits; RESOURCES],
    held: Mutex<Held>,
}

impl Default for Quotas {
    fn default() -> Self {
        Self {
            limits: limits(),
            held: Mutex::default(),
        }
    }
}

impl Quotas {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn release(&self, process: u32, resource: Resource, amount: u64) {
        let at = resource as usize;
        let mut held = self.held();
        held.all[at] -= amount;
        let Some(own) = held.by_process.get_mut(&process) else {
            return;
        };
        own[at] -= amount;
        if *own == [0; RESOURCES] {
            held.by_process.remove(&process);
        }
    }
}

#[cfg(test)]
impl Quotas {
    /// What a process holds.
    pub(crate) fn held_by(&self, process: u32) -> Vec<(Resource, u64)> {
        let own = self.held().by_process.get(&process).copied().unwrap_or_default();
        ALL.into_iter().zip(own).filter(|(_, amount)| *amount > 0).collect()
    }
}

/// A process that uses the server.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    quotas: Arc<Quotas>,
    process: u32,
}

impl Account {
    /// The account of a process.
    pub(crate) fn new(quotas: &Arc<Quotas>, process: u32) -> Self {
        let quotas = quotas.clone();
        Self { quotas, process }
    }

    /// Takes some of a resource for the process until the charge is dropped; nothing if that is more than it may hold.
    pub(crate) fn charge(&self, resource: Resource, amount: u64) -> Option<Charge> {
        let at = resource as usize;
        let Limits { all, each, little } = self.quotas.limits[at];
        let mut held = self.quotas.held();
        let sum = held.all[at].checked_add(amount)?;
        let own = held
            .by_process
            .get(&self.process)
            .map_or(0, |own| own[at])
            .checked_add(amount)?;
        let all = if own <= little { all } else { all - all / 8 };
        if own > each || sum > all {
            return None;
        }
        held.all[at] = sum;
        held.by_process.entry(self.process).or_default()[at] = own;
        drop(held);
        Some(Charge {
            account: self.clone(),
            resource,
            amount,
        })
    }

    /// Takes what a buffer object of `size` bytes needs.
    pub(crate) fn charge_object(&self, size: u32) -> Option<[Charge; 2]> {
        let descriptor = self.charge(Resource::Descriptors, 1)?;
        Some([descriptor, self.charge(Resource::Memory, u64::from(size))?])
    }
}

/// Some of a resource that a process holds; dropping it returns that.
#[derive(Debug)]
pub(crate) struct Charge {
    account: Account,
    resource: Resource,
    amount: u64,
}

impl Drop for Charge {
    fn drop(&mut self) {
        let Account { quotas, process } = &self.account;
        quotas.release(*process, self.resource, self.amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greedy_processes_leave_capacity() {
        let mut quotas = Quotas::default();
        quotas.limits[0] = Limits {
            all: 800,
            each: 600,
            little: 64,
        };
        let quotas = Arc::new(quotas);
        let take = |process| Account::new(&quotas, process).charge(Resource::Descriptors, 1);
        let greedy = |process| -> Vec<Charge> { std::iter::from_fn(|| take(process)).collect() };
        let first = greedy(1);
        assert_eq!(first.len(), 600);
        let second = greedy(2);
        assert_eq!(second.len(), 100, "the last eighth is not for those that hold much");
        let third = greedy(3);
        assert_eq!(third.len(), 64);
        assert!(take(4).is_some() && take(1).is_none());
        drop(first);
        assert!(greedy(5).len() > 100, "returned descriptors are available");
        drop((second, third));
        let held = quotas.held();
        assert!(held.all == [0; RESOURCES] && held.by_process.is_empty(), "{held:?}");
    }

    #[test]
    fn large_amounts_do_not_wrap() {
        let quotas = Arc::new(Quotas::default());
        let account = Account::new(&quotas, 1);
        let _some = account.charge(Resource::Memory, 4096).unwrap();
        assert!(account.charge(Resource::Memory, u64::MAX).is_none());
    }
}
