//! The primitives and polygon lists of GP jobs; lists are found by the addresses of their blocks in memory.

use super::entries::Entries;
use super::geometry::Draw;
use crate::gpu::primitives::Primitives;
use std::sync::Arc;

/// Lists that are kept at most.
const MAX_LISTS: usize = 1 << 16;

/// Jobs whose lists are kept at most.
const MAX_JOBS: usize = 1 << 10;

/// Entries of lists whose allocations are kept from one job to the next.
const MOST_SPARE: usize = 1 << 20;

/// All primitives of a GP job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Geometry {
    /// The draws.
    pub draws: Vec<Draw>,
    /// The primitives, in the order they were drawn.
    pub primitives: Primitives,
}

/// The lists that one GP job has built.
#[derive(Debug)]
pub struct Built {
    /// The job's primitives.
    pub geometry: Arc<Geometry>,
    /// The address of each list's block.
    table: Table,
    /// For each block those that may touch it, in order.
    lists: Vec<Entries>,
}

impl Built {
    /// Lists of primitives, those of a block for each of these addresses.
    pub fn new(geometry: Geometry, addresses: Vec<u32>, mut lists: Vec<Entries>) -> Self {
        lists.resize_with(addresses.len(), Entries::default);
        Self {
            geometry: Arc::new(geometry),
            table: Table::new(addresses),
            lists,
        }
    }

    /// The list of the block at an address.
    fn list(&self, address: u32) -> Option<&Entries> {
        self.table.place(address).and_then(|at| self.lists.get(at))
    }
}

/// Addresses of blocks.
#[derive(Debug)]
struct Table {
    addresses: Vec<u32>,
    /// The distance between neighbours, as a power of two, if it is the same for all, as drivers have it.
    shift: Option<u32>,
    /// Otherwise the sorted addresses with their places, the last of equal ones first.
    sorted: Vec<(u32, usize)>,
}

impl Table {
    fn new(addresses: Vec<u32>) -> Self {
        let step = match addresses[..] {
            [first, second, ..] => second.wrapping_sub(first),
            _ => 1,
        };
        let is_even = step.is_power_of_two() && addresses.is_sorted_by(|a, b| b.wrapping_sub(*a) == step);
        let shift = is_even.then(|| step.trailing_zeros());
        let mut sorted = Vec::new();
        if shift.is_none() {
            sorted.extend(addresses.iter().copied().zip(0..));
            sorted.sort_unstable_by_key(|(address, at)| (*address, std::cmp::Reverse(*at)));
            sorted.dedup_by_key(|(address, _)| *address);
        }
        Self {
            addresses,
            shift,
            sorted,
        }
    }

    /// The place of an address.
    #[inline]
    fn place(&self, address: u32) -> Option<usize> {
        match self.shift {
            Some(shift) => {
                let at = (address.wrapping_sub(*self.addresses.first()?) >> shift) as usize;
                (self.addresses.get(at) == Some(&address)).then_some(at)
            }
            None => {
                let found = self.sorted.binary_search_by_key(&address, |(address, _)| *address);
                found.ok().map(|found| self.sorted[found].1)
            }
        }
    }

    /// Whether another one has all of these addresses.
    fn is_in(&self, other: &Self) -> bool {
        let is_there = |address: &u32| other.place(*address).is_some();
        self.addresses == other.addresses || self.addresses.iter().all(is_there)
    }
}

/// The lists of all jobs so far.
#[derive(Debug, Default)]
pub struct Lists {
    /// The newest last.
    jobs: Vec<Built>,
}

impl Lists {
    /// Adds a job's lists, in place of those at the same addresses, whose allocations are returned.
    pub fn put(&mut self, built: Built) -> Vec<Entries> {
        let kept: usize = self.jobs.iter().map(|job| job.lists.len()).sum();
        if kept + built.lists.len() > MAX_LISTS || self.jobs.len() >= MAX_JOBS {
            self.jobs.clear();
        }
        let replaced = self.jobs.extract_if(.., |job| job.table.is_in(&built.table));
        let spare = replaced.last().map(|job| job.lists).unwrap_or_default();
        self.jobs.push(built);
        few(spare)
    }

    /// The list of the block at an address, and what its primitives are of.
    #[inline]
    pub fn get(&self, address: u32) -> Option<(&Arc<Geometry>, &Entries)> {
        let mut jobs = self.jobs.iter().rev();
        jobs.find_map(|job| Some((&job.geometry, job.list(address)?)))
    }
}

/// The allocations of lists, up to a limit of entries.
fn few(mut lists: Vec<Entries>) -> Vec<Entries> {
    let mut room = 0;
    let many = lists.iter().position(|list| {
        room += list.room();
        room > MOST_SPARE
    });
    lists.truncate(many.unwrap_or(lists.len()));
    lists
}

#[cfg(test)]
mod tests {
    use super::super::entries::Entry;
    use super::*;

    /// Lists of a job, each with the number of its address and one for all.
    fn built(addresses: &[u32], of_all: u32) -> Built {
        let entry = |primitive| Entry {
            primitive,
            first: [0; 2],
            last: [0; 2],
        };
        let list = |at: u32| {
            let mut list = Entries::default();
            list.extend(0, &[entry(at), entry(of_all)]);
            list
        };
        let lists = (0..).zip(addresses).map(|(at, _)| list(at)).collect();
        Built::new(Geometry::default(), addresses.to_vec(), lists)
    }

    fn numbers(lists: &Lists, address: u32) -> Option<Vec<u32>> {
        let (_, list) = lists.get(address)?;
        Some(list.touching([0; 2]).collect())
    }

    /// Each address has the newest list of it, whether tables are even or not.
    #[test]
    fn the_newest_list_counts() {
        let mut lists = Lists::default();
        let first: Vec<u32> = (0..16).map(|at| 0x1000 + 0x200 * at).collect();
        assert!(lists.put(built(&first, 100)).is_empty());
        assert_eq!(numbers(&lists, 0x1400), Some(vec![2, 100]));
        for other in [0, 0x1001, 0xfff, 0x1000 + 0x200 * 16, 0x1100, u32::MAX] {
            assert_eq!(numbers(&lists, other), None, "{other:#x}");
        }
        // Some of the same, in another order; one twice, of which the last counts.
        assert!(lists.put(built(&[0x1400, 0x9000, 0x1200, 0x9000], 101)).is_empty());
        assert_eq!(numbers(&lists, 0x1400), Some(vec![0, 101]));
        assert_eq!(numbers(&lists, 0x1200), Some(vec![2, 101]));
        assert_eq!(numbers(&lists, 0x9000), Some(vec![3, 101]));
        assert_eq!(numbers(&lists, 0x1000), Some(vec![0, 100]));
        // The same as the first: that goes, and the other is behind it.
        assert_eq!(lists.put(built(&first, 102)).len(), 16);
        assert_eq!(numbers(&lists, 0x1400), Some(vec![2, 102]));
        assert_eq!(numbers(&lists, 0x9000), Some(vec![3, 101]));
        assert_eq!(lists.jobs.len(), 2);
    }

    /// The number of jobs that are kept has a limit.
    #[test]
    fn jobs_go_when_there_are_many() {
        let mut lists = Lists::default();
        for at in 0..3 * MAX_JOBS as u32 {
            lists.put(built(&[0x20 * at], at));
            assert_eq!(numbers(&lists, 0x20 * at), Some(vec![0, at]));
            assert!(lists.jobs.len() <= MAX_JOBS);
        }
    }
}
