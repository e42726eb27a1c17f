//! A buffer object that records the bytes that a job reads before it writes them.

use emulator::memory::Backing;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Longer reads are examined after the job: the GPU reads beyond a program's end.
const LONG: usize = 64;

/// Gap of unneeded bytes that does not split a page record, because another record's header is no shorter.
const GAP: usize = 12;

/// An object shared with the GPU's memory.
#[derive(Clone)]
pub(super) struct Shared(Arc<Mutex<Object>>);

/// Locks the object.
pub(super) fn lock(shared: &Shared) -> MutexGuard<'_, Object> {
    // Its bytes and marks are consistent at every step, so a poisoned lock is usable.
    shared.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A buffer object's bytes, and a kept job's accesses.
pub(super) struct Object {
    /// GPU address.
    pub address: u32,
    bytes: Vec<u8>,
    /// The contents in the trimmed recording.
    trimmed: Vec<u8>,
    /// The contents at the job's start, once the job has written.
    before: Option<Vec<u8>>,
    /// For each byte, whether the job read it first, and whether it wrote it.
    marks: Vec<u8>,
    /// Long reads of bytes that were not written before.
    long: BTreeSet<(usize, usize)>,
    tracking: bool,
    /// Whether a kept job read or wrote it.
    pub touched: bool,
}

const READ: u8 = 1;
const WRITTEN: u8 = 2;

impl Object {
    /// An object of zero bytes.
    pub(super) fn shared(address: u32, size: u32) -> Shared {
        let zeroes = vec![0; size as usize];
        Shared(Arc::new(Mutex::new(Self {
            address,
            trimmed: zeroes.clone(),
            marks: Vec::new(),
            bytes: zeroes,
            before: None,
            long: BTreeSet::new(),
            tracking: false,
            touched: false,
        })))
    }

    /// Its size in bytes.
    pub(super) fn size(&self) -> u32 {
        self.bytes.len() as u32
    }

    /// Begins a kept job.
    pub(super) fn begin(&mut self) {
        self.tracking = true;
    }

    fn read(&mut self, at: usize, to: &mut [u8]) {
        to.copy_from_slice(&self.bytes[at..at + to.len()]);
        if self.tracking && !to.is_empty() {
            self.touched = true;
            // Later writes must not hide this read.
            if to.len() > LONG && self.before.is_none() {
                self.long.insert((at, to.len()));
            } else {
                self.mark(at, to.len(), READ);
            }
        }
    }

    fn mark(&mut self, at: usize, length: usize, what: u8) {
        self.marks.resize(self.bytes.len(), 0);
        for mark in &mut self.marks[at..at + length] {
            if *mark & WRITTEN == 0 {
                *mark |= what;
            }
        }
    }

    fn write(&mut self, at: usize, from: &[u8]) {
        if self.tracking && !from.is_empty() {
            self.touched = true;
            self.before.get_or_insert_with(|| self.bytes.clone());
            self.mark(at, from.len(), WRITTEN);
        }
        self.bytes[at..at + from.len()].copy_from_slice(from);
    }

    /// Ends the job: returns the needed bytes that the trimmed recording lacks, with addresses. `programs` maps
    /// programs that it may have run to their ends.
    pub(super) fn end(&mut self, programs: &BTreeMap<u32, u32>) -> Vec<(u32, Vec<u8>)> {
        self.tracking = false;
        let long = std::mem::take(&mut self.long);
        if self.marks.is_empty() && long.is_empty() {
            return Vec::new();
        }
        // All long reads precede the first write.
        let mut marks = std::mem::take(&mut self.marks);
        marks.resize(self.bytes.len(), 0);
        for (at, length) in long {
            let address = self.address + at as u32;
            let end = programs
                .get(&address)
                .map_or(at + length, |end| (end - self.address) as usize);
            marks[at..end.min(at + length)]
                .iter_mut()
                .for_each(|mark| *mark |= READ);
        }
        let before = self.before.take();
        let before = before.as_ref().unwrap_or(&self.bytes);
        let lacks = |at: &usize| marks[*at] & READ != 0 && before[*at] != self.trimmed[*at];
        let pages = runs((0..before.len()).filter(lacks));
        let pages: Vec<(usize, Vec<u8>)> = pages
            .into_iter()
            .map(|(start, end)| (start, before[start..end].to_vec()))
            .collect();
        for (start, page) in &pages {
            self.trimmed[*start..*start + page.len()].copy_from_slice(page);
        }
        for (at, mark) in marks.iter().enumerate() {
            if mark & WRITTEN != 0 {
                self.trimmed[at] = self.bytes[at];
            }
        }
        let placed = |(start, page): (usize, Vec<u8>)| (self.address + start as u32, page);
        pages.into_iter().map(placed).collect()
    }
}

/// Runs of positions as (start, end); close ones are merged.
fn runs(places: impl Iterator<Item = usize>) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for at in places {
        match runs.last_mut() {
            Some((_, end)) if at <= *end + GAP => *end = at + 1,
            _ => runs.push((at, at + 1)),
        }
    }
    runs
}

impl Backing for Shared {
    fn size(&self) -> usize {
        lock(self).bytes.len()
    }

    fn read(&self, at: usize, to: &mut [u8]) {
        lock(self).read(at, to);
    }

    fn write(&self, at: usize, from: &[u8]) {
        lock(self).write(at, from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bytes_read_first_are_needed() {
        let shared = Object::shared(0x1000, 400);
        shared.write(0, &[7; 400]);
        lock(&shared).begin();
        let mut two = [0; 2];
        shared.read(10, &mut two);
        shared.write(100, &[9; 4]);
        shared.read(102, &mut two);
        shared.read(104, &mut two);
        let pages = lock(&shared).end(&BTreeMap::new());
        assert_eq!(pages, [(0x1000 + 10, vec![7; 2]), (0x1000 + 104, vec![7; 2])]);
        // Present bytes are needed again only if they changed.
        lock(&shared).begin();
        shared.read(10, &mut two);
        shared.read(100, &mut two);
        assert_eq!(lock(&shared).end(&BTreeMap::new()), []);
        shared.write(10, &[8]);
        lock(&shared).begin();
        shared.read(10, &mut two);
        assert_eq!(lock(&shared).end(&BTreeMap::new()), [(0x1000 + 10, vec![8])]);
    }

    #[test]
    fn program_ends_are_found() {
        let shared = Object::shared(0x1000, 400);
        shared.write(0, &[7; 400]);
        lock(&shared).begin();
        shared.read(8, &mut [0; 392]);
        let pages = lock(&shared).end(&BTreeMap::from([(0x1008, 0x1020)]));
        assert_eq!(pages, [(0x1008, vec![7; 24])]);
    }
}
