//! Records jobs and the memory they see, as [`loader::trace`] has them.

use crate::memory::{Memory, PAGE};
use loader::trace::{Pipe, Record, Trace};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes a recording: buffer objects, pages that changed since the last job, and jobs.
pub struct Recorder<W> {
    out: W,
    /// Written when the next job comes, so that the last picture is in memory at the end of the recording although the
    /// driver frees its objects.
    waiting: Vec<u8>,
    /// The bytes of every object as the recording has them, up to the last that is not zero.
    known: BTreeMap<u32, Vec<u8>>,
}

impl<W: Write> Recorder<W> {
    /// A recording of a GPU: 1 for a Mali-400, 2 for a Mali-450, and its number of pixel processors.
    ///
    /// # Errors
    /// When the head cannot be written.
    pub fn new(mut out: W, gpu: u32, pps: u32) -> io::Result<Self> {
        let head = Trace {
            gpu,
            pps,
            records: Vec::new(),
        };
        out.write_all(&head.write())?;
        Ok(Self {
            out,
            waiting: Vec::new(),
            known: BTreeMap::new(),
        })
    }

    /// A buffer object got an address. A heap is written by jobs alone and is not compared.
    pub fn created(&mut self, address: u32, size: u32, flags: u32, is_heap: bool) {
        Record::Buffer { address, size, flags }.write(&mut self.waiting);
        if !is_heap {
            self.known.insert(address, Vec::new());
        }
    }

    /// The buffer object at an address is gone.
    pub fn freed(&mut self, address: u32) {
        self.known.remove(&address);
        Record::Free { address }.write(&mut self.waiting);
    }

    /// A job is about to run: writes the pages that changed, then the job.
    ///
    /// # Errors
    /// When they cannot be written; the recording goes on with the next job.
    pub fn submitted(
        &mut self,
        memory: &Memory,
        pipe: Pipe,
        frame: Vec<u32>,
        objects: Vec<(u32, u32)>,
    ) -> io::Result<()> {
        let mut out = std::mem::take(&mut self.waiting);
        for (address, bytes) in memory.objects() {
            let Some(known) = self.known.get_mut(&address) else {
                continue;
            };
            for (at, page) in bytes.chunks(PAGE as usize).enumerate() {
                let start = at * PAGE as usize;
                if !same(known.get(start..).unwrap_or(&[]), page) {
                    let address = address + start as u32;
                    Record::Page { address, bytes: page }.write(&mut out);
                    put(known, start, page);
                }
            }
        }
        Record::Submit { pipe, frame, objects }.write(&mut out);
        self.out.write_all(&out)
    }

    /// A job has run: takes over what the memory says it wrote, and nothing else, since the program may have written for
    /// the next job in the meantime.
    pub fn done(&mut self, memory: &Memory) {
        for &(address, length) in memory.writes() {
            let Some((start, known)) = self.known.range_mut(..=address).next_back() else {
                continue;
            };
            let offset = address - start;
            // Not where the address is in an object behind this one, a heap.
            let inside = memory.length_up_to(*start, offset + length) == offset + length;
            if let (true, Ok(bytes)) = (inside, memory.bytes(address, length)) {
                put(known, offset as usize, &bytes);
            }
        }
    }
}

/// Puts bytes to a place of what is known.
fn put(known: &mut Vec<u8>, start: usize, bytes: &[u8]) {
    if let Some(last) = bytes.iter().rposition(|byte| *byte != 0) {
        known.resize(known.len().max(start + last + 1), 0);
    }
    let end = known.len().min(start + bytes.len());
    if let Some(place) = known.get_mut(start..end) {
        place.copy_from_slice(&bytes[..end - start]);
    }
}

/// Whether a page is as it is known; what is not known is zero.
fn same(known: &[u8], page: &[u8]) -> bool {
    let length = known.len().min(page.len());
    known[..length] == page[..length] && page[length..].iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_ends_with_what_is_not_zero() {
        let mut known = Vec::new();
        put(&mut known, 4, &[1, 2, 0, 0]);
        assert_eq!(known, [0, 0, 0, 0, 1, 2]);
        put(&mut known, 5, &[0, 0, 0]);
        assert_eq!(known, [0, 0, 0, 0, 1, 0]);
        put(&mut known, 100, &[0; 8]);
        assert_eq!(known.len(), 6);
        put(&mut known, 2, &[7]);
        assert_eq!(known, [0, 0, 7, 0, 1, 0]);
    }
}
