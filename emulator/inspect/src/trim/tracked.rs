//! A buffer object that notes which of its bytes a job reads before it writes them.

use emulator::memory::Backing;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Reads that are longer are looked at once the job is over: of a program the GPU reads more than there is.
const LONG: usize = 64;

/// Bytes that are not needed between needed ones, up to which a page goes on: another page's head is no shorter.
const GAP: usize = 12;

/// An object that the GPU's memory holds and we do.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<Object>>);

/// The object behind it.
pub fn lock(shared: &Shared) -> MutexGuard<'_, Object> {
    // Its bytes and marks are whole at every step.
    shared.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of a buffer object, and what a kept job did to them.
pub struct Object {
    /// GPU address.
    pub address: u32,
    bytes: Vec<u8>,
    /// What the trimmed recording has there.
    trimmed: Vec<u8>,
    /// What was there when the job began, once the job has written.
    before: Option<Vec<u8>>,
    /// For each byte whether the job read it first, and whether it wrote it.
    marks: Vec<u8>,
    /// Long reads of bytes that nobody had written yet.
    long: BTreeSet<(usize, usize)>,
    tracking: bool,
    /// A kept job read or wrote it.
    pub touched: bool,
}

const READ: u8 = 1;
const WRITTEN: u8 = 2;

impl Object {
    /// An object of zero bytes.
    pub fn shared(address: u32, size: u32) -> Shared {
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

    /// Bytes it has.
    pub fn size(&self) -> u32 {
        self.bytes.len() as u32
    }

    /// A kept job begins.
    pub fn begin(&mut self) {
        self.tracking = true;
    }

    fn read(&mut self, at: usize, to: &mut [u8]) {
        to.copy_from_slice(&self.bytes[at..at + to.len()]);
        if self.tracking && !to.is_empty() {
            self.touched = true;
            // What is written later must not hide what is read now.
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

    /// The job is over: what it needs and the trimmed recording lacks, as addresses and bytes. `programs` are those
    /// that it may have run, each with its end.
    pub fn end(&mut self, programs: &BTreeMap<u32, u32>) -> Vec<(u32, Vec<u8>)> {
        self.tracking = false;
        let long = std::mem::take(&mut self.long);
        if self.marks.is_empty() && long.is_empty() {
            return Vec::new();
        }
        // The long reads were all before the first write.
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

/// Begins and ends of runs of places; those that are near each other go together.
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
    fn only_what_is_read_first_is_needed() {
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
        // What is there already is not needed again, unless it has changed.
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
    fn programs_end_where_they_end() {
        let shared = Object::shared(0x1000, 400);
        shared.write(0, &[7; 400]);
        lock(&shared).begin();
        shared.read(8, &mut [0; 392]);
        let pages = lock(&shared).end(&BTreeMap::from([(0x1008, 0x1020)]));
        assert_eq!(pages, [(0x1008, vec![7; 24])]);
    }
}
