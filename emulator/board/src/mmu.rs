//! Page tables: two levels of 1,024 entries each, pages of 4 KiB (docs/spec/mali/registers.md, section 3).

use crate::bus::Bus;
use emulator::memory::{Backing, PAGE};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Entries of a table.
const ENTRIES: usize = 1024;

/// Bits of an entry.
mod entry {
    pub(crate) const PRESENT: u32 = 1 << 0;
    pub(crate) const READ: u32 = 1 << 1;
    pub(crate) const WRITE: u32 = 1 << 2;
    pub(crate) const ADDRESS: u32 = !0xfff;
}

/// Physically contiguous pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Offset within the range.
    pub offset: u32,
    /// Its physical address.
    pub physical: u64,
}

/// Pages that are contiguous in the GPU's address space and have the same permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapped {
    /// Address of the first page.
    pub address: u32,
    /// Bytes.
    pub size: u32,
    /// Whether the GPU may write them.
    pub is_writable: bool,
    /// Their physical addresses.
    pub segments: Vec<Segment>,
}

impl Mapped {
    /// Physical addresses and lengths of a part.
    pub(crate) fn pieces(&self, at: usize, length: usize) -> impl Iterator<Item = (u64, usize)> {
        let segments = &self.segments;
        let mut next = segments
            .partition_point(|segment| segment.offset as usize <= at)
            .saturating_sub(1);
        let (mut at, end) = (at, at + length);
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let segment = segments.get(next)?;
            next += 1;
            let behind = segments.get(next).map_or(self.size, |segment| segment.offset) as usize;
            let length = behind.min(end) - at;
            let piece = (segment.physical + (at - segment.offset as usize) as u64, length);
            at += length;
            Some(piece)
        })
    }
}

/// An address space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tables {
    /// The mapped ranges, by address.
    pub mapped: Vec<Mapped>,
    /// Pages whose translation is outside memory.
    pub missing: BTreeSet<u32>,
    /// Physical addresses of the tables themselves.
    pub own: BTreeSet<u64>,
}

/// A table that is outside memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableError {
    /// Physical address of the table.
    pub physical: u32,
}

impl Tables {
    /// Reads the tables of a page directory.
    pub(crate) fn read(bus: &dyn Bus, directory: u32) -> Result<Self, TableError> {
        let ram = bus.ram();
        let mut tables = Self::default();
        tables.own.insert(u64::from(directory));
        let mut number = 0u32;
        for directory_entry in table(bus, directory)? {
            if directory_entry & entry::PRESENT == 0 {
                number += ENTRIES as u32;
                continue;
            }
            tables.own.insert(u64::from(directory_entry & entry::ADDRESS));
            for page_entry in table(bus, directory_entry & entry::ADDRESS)? {
                if page_entry & entry::PRESENT != 0 && page_entry & entry::READ != 0 {
                    tables.add(number * PAGE, page_entry, &ram);
                }
                number = number.wrapping_add(1);
            }
        }
        Ok(tables)
    }

    /// Physical addresses, for a unit with translation disabled.
    pub(crate) fn identity(bus: &dyn Bus) -> Self {
        let mut tables = Self::default();
        for range in bus.ram() {
            let page = u64::from(PAGE);
            let (start, end) = (range.start.next_multiple_of(page), range.end.min(1 << 32) / page * page);
            // The size of a full 4 GiB address space exceeds the type by one.
            let size = u32::try_from(end.saturating_sub(start)).unwrap_or(u32::MAX - (PAGE - 1));
            if size > 0 {
                tables.mapped.push(Mapped {
                    address: start as u32,
                    size,
                    is_writable: true,
                    segments: vec![Segment {
                        offset: 0,
                        physical: start,
                    }],
                });
            }
        }
        tables.mapped.sort_by_key(|mapped| mapped.address);
        tables
    }

    fn add(&mut self, address: u32, page_entry: u32, ram: &[Range<u64>]) {
        let physical = u64::from(page_entry & entry::ADDRESS);
        let is_there = |range: &Range<u64>| range.start <= physical && physical + u64::from(PAGE) <= range.end;
        if !ram.iter().any(is_there) {
            self.missing.insert(address);
            return;
        }
        let is_writable = page_entry & entry::WRITE != 0;
        if let Some(last) = self.mapped.last_mut()
            && last.address.checked_add(last.size) == Some(address)
            && last.is_writable == is_writable
            // The range's size must fit 32 bits.
            && last.size < u32::MAX - 2 * PAGE
        {
            let offset = last.size;
            let goes_on = last
                .segments
                .last()
                .is_some_and(|segment| segment.physical + u64::from(offset - segment.offset) == physical);
            if !goes_on {
                last.segments.push(Segment { offset, physical });
            }
            last.size += PAGE;
            return;
        }
        self.mapped.push(Mapped {
            address,
            size: PAGE,
            is_writable,
            segments: vec![Segment { offset: 0, physical }],
        });
    }
}

fn table(bus: &dyn Bus, physical: u32) -> Result<Vec<u32>, TableError> {
    let mut bytes = vec![0; 4 * ENTRIES];
    if !bus.read(u64::from(physical), &mut bytes) {
        return Err(TableError { physical });
    }
    let words = bytes.as_chunks::<4>().0.iter();
    Ok(words.map(|word| u32::from_le_bytes(*word)).collect())
}

/// State shared by a space's mappings: whether they may be used, and the first violation.
#[derive(Debug)]
pub(crate) struct Gate {
    /// The job was cancelled: its further writes are discarded.
    pub is_closed: AtomicBool,
    /// Address of the first write without permission, or [`Gate::NONE`].
    violation: AtomicU64,
}

impl Gate {
    const NONE: u64 = u64::MAX;

    /// An open gate.
    pub(crate) fn new() -> Self {
        Self {
            is_closed: AtomicBool::new(false),
            violation: AtomicU64::new(Self::NONE),
        }
    }

    /// Takes the first write without permission since the last call.
    pub(crate) fn take_violation(&self) -> Option<u32> {
        u32::try_from(self.violation.swap(Self::NONE, Ordering::Relaxed)).ok()
    }
}

/// A range of the address space, in guest memory.
pub(crate) struct Paged {
    bus: Arc<dyn Bus>,
    mapped: Mapped,
    gate: Arc<Gate>,
}

impl Paged {
    /// A range on a bus.
    pub(crate) fn new(bus: Arc<dyn Bus>, mapped: Mapped, gate: Arc<Gate>) -> Self {
        Self { bus, mapped, gate }
    }
}

impl Backing for Paged {
    fn size(&self) -> usize {
        self.mapped.size as usize
    }

    fn read(&self, at: usize, to: &mut [u8]) {
        let mut rest = to;
        for (physical, length) in self.mapped.pieces(at, rest.len()) {
            let (part, behind) = rest.split_at_mut(length);
            // Memory that disappeared since the tables were read reads as zero.
            if !self.bus.read(physical, part) {
                part.fill(0);
            }
            rest = behind;
        }
    }

    fn write(&self, at: usize, from: &[u8]) {
        if self.gate.is_closed.load(Ordering::Acquire) {
            return;
        }
        if !self.mapped.is_writable {
            let address = u64::from(self.mapped.address) + at as u64;
            let none = Gate::NONE;
            let _ = (self.gate.violation).compare_exchange(none, address, Ordering::Relaxed, Ordering::Relaxed);
            return;
        }
        let mut rest = from;
        for (physical, length) in self.mapped.pieces(at, rest.len()) {
            let (part, behind) = rest.split_at(length);
            self.bus.write(physical, part);
            rest = behind;
        }
    }

    fn equals(&self, at: usize, bytes: &[u8]) -> bool {
        let mut rest = bytes;
        self.mapped.pieces(at, bytes.len()).all(|(physical, length)| {
            let (part, behind) = rest.split_at(length);
            rest = behind;
            self.bus.equals(physical, part)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::Ram;

    const BASE: u64 = 0x4000_0000;

    fn put(bus: &dyn Bus, physical: u64, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(bus.write(physical, &bytes));
    }

    #[test]
    fn pages_are_mapped_by_the_tables() {
        let bus: Arc<dyn Bus> = Arc::new(Ram::zeroed(BASE, 0x10_0000));
        let (directory, level2) = (0x4000_0000, 0x4000_1000);
        put(&*bus, directory + 4 * 2, &[level2 as u32 | 1]);
        // Two contiguous pages, one elsewhere, one read-only, one outside memory, one without read permission.
        let pages = [
            0x4001_0007,
            0x4001_1007,
            0x4000_8007,
            0x4000_9003,
            0x9000_0007,
            0x4000_a005,
        ];
        put(&*bus, level2 + 4, &pages);
        let tables = Tables::read(&*bus, directory as u32).unwrap();
        let segments = vec![
            Segment {
                offset: 0,
                physical: 0x4001_0000,
            },
            Segment {
                offset: 0x2000,
                physical: 0x4000_8000,
            },
        ];
        let first = Mapped {
            address: 0x80_1000,
            size: 0x3000,
            is_writable: true,
            segments,
        };
        let segments = vec![Segment {
            offset: 0,
            physical: 0x4000_9000,
        }];
        let second = Mapped {
            address: 0x80_4000,
            size: 0x1000,
            is_writable: false,
            segments,
        };
        assert_eq!(tables.mapped, [first.clone(), second.clone()]);
        assert_eq!(tables.missing, BTreeSet::from([0x80_5000]));

        let gate = Arc::new(Gate::new());
        let paged = Paged::new(bus.clone(), first, gate.clone());
        let text: Vec<u8> = (0..=255).collect();
        paged.write(0x1f80, &text);
        let mut back = [0; 256];
        paged.read(0x1f80, &mut back);
        assert_eq!(back, *text);
        assert!(paged.equals(0x1f80, &text) && !paged.equals(0x1f81, &text));
        let mut part = [0; 128];
        assert!(bus.read(0x4001_1f80, &mut part) && part == text[..128]);
        assert!(bus.read(0x4000_8000, &mut part) && part == text[128..]);
        gate.is_closed.store(true, Ordering::Release);
        paged.write(0, &[9]);
        let mut byte = [7];
        paged.read(0, &mut byte);
        assert_eq!(byte, [0], "a cancelled job writes nothing");

        let gate = Arc::new(Gate::new());
        let read_only = Paged::new(bus, second, gate.clone());
        read_only.write(0x10, &[1]);
        read_only.write(0x20, &[1]);
        assert_eq!((gate.take_violation(), gate.take_violation()), (Some(0x80_4010), None));
    }

    #[test]
    fn tables_without_memory_are_an_error() {
        let bus = Ram::zeroed(BASE, 0x4000);
        assert_eq!(Tables::read(&bus, 0x1000), Err(TableError { physical: 0x1000 }));
        put(&bus, BASE, &[0x8000_0001]);
        assert_eq!(
            Tables::read(&bus, BASE as u32),
            Err(TableError { physical: 0x8000_0000 })
        );
    }

    #[test]
    fn without_paging_addresses_are_physical() {
        let tables = Tables::identity(&Ram::zeroed(BASE, 0x4000));
        let [mapped] = &tables.mapped[..] else {
            panic!("{tables:?}")
        };
        assert_eq!((mapped.address, mapped.size), (BASE as u32, 0x4000));
    }

    #[test]
    fn a_whole_address_space_of_one_page_fits() {
        let bus: Arc<dyn Bus> = Arc::new(Ram::zeroed(BASE, 0x4000));
        put(&*bus, BASE, &[BASE as u32 + 0x1001; ENTRIES]);
        put(&*bus, BASE + 0x1000, &[BASE as u32 + 0x2007; ENTRIES]);
        let tables = Tables::read(&*bus, BASE as u32).unwrap();
        let pages: u64 = tables
            .mapped
            .iter()
            .map(|mapped| u64::from(mapped.size) / u64::from(PAGE))
            .sum();
        assert_eq!(pages, 1 << 20);
    }
}
