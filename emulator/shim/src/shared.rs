//! Memory that other processes write while we read it: all of the shim's `unsafe` is here.
//!
//! A mapping is a row of atomic words. What the programs and other devices' threads do to it at the same time makes no
//! torn words and no undefined behaviour, only one value or the other, as on hardware; whoever wants to rely on an order
//! waits for a fence, whose message through the system orders the accesses. Nobody gets a reference to the bytes: they
//! are copied out once, and what was checked is what is used.

use emulator::memory::Backing;
use rustix::mm::{MapFlags, ProtFlags};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a word.
const WORD: usize = 8;

/// A file's bytes in our address space, shared with whoever maps the file too.
#[derive(Debug)]
pub struct Mapping {
    words: &'static [AtomicU64],
}

impl Mapping {
    /// Maps `length` bytes of a file that is sealed against shrinking; a multiple of the page.
    ///
    /// # Errors
    /// When the system has no room, or the length is none.
    pub fn new(file: &File, length: usize) -> io::Result<Self> {
        if length == 0 || !length.is_multiple_of(WORD) || file.metadata()?.len() < length as u64 {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping where the system likes; nothing that is there is touched.
        let start = unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, file, 0)? };
        // SAFETY: the mapping has `length` bytes at a page's begin, so the words are aligned; all values are valid.
        // The file has as many bytes, and cannot lose them, for it is sealed. They are there until `drop`, and
        // no reference leaves this value. All our accesses are atomic and of whole words; other processes' are outside
        // the language's memory model, as a device's are.
        let words = unsafe { std::slice::from_raw_parts(start.cast::<AtomicU64>(), length / WORD) };
        Ok(Self { words })
    }

    fn load(&self, word: usize) -> [u8; WORD] {
        self.words[word].load(Ordering::Relaxed).to_ne_bytes()
    }

    /// Writes part of a word, and leaves the rest as others have it.
    fn patch(&self, word: usize, at: usize, bytes: &[u8]) {
        let word = &self.words[word];
        let change = |old: u64| {
            let mut new = old.to_ne_bytes();
            new[at..at + bytes.len()].copy_from_slice(bytes);
            Some(u64::from_ne_bytes(new))
        };
        // The change is never refused.
        let _ = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }
}

/// The length of the part before the first whole word.
fn head(at: usize, length: usize) -> usize {
    (at.next_multiple_of(WORD) - at).min(length)
}

impl Backing for Mapping {
    fn size(&self) -> usize {
        self.words.len() * WORD
    }

    fn read(&self, at: usize, to: &mut [u8]) {
        let (first, rest) = to.split_at_mut(head(at, to.len()));
        if !first.is_empty() {
            first.copy_from_slice(&self.load(at / WORD)[at % WORD..][..first.len()]);
        }
        let start = at.div_ceil(WORD);
        let (whole, last) = rest.as_chunks_mut::<WORD>();
        for (to, word) in whole.iter_mut().zip(&self.words[start.min(self.words.len())..]) {
            *to = word.load(Ordering::Relaxed).to_ne_bytes();
        }
        if !last.is_empty() {
            last.copy_from_slice(&self.load(start + whole.len())[..last.len()]);
        }
    }

    fn equals(&self, at: usize, bytes: &[u8]) -> bool {
        if !at.is_multiple_of(WORD) {
            let mut copy = vec![0; bytes.len()];
            self.read(at, &mut copy);
            return copy == bytes;
        }
        let (whole, last) = bytes.as_chunks::<WORD>();
        let first = (at / WORD).min(self.words.len());
        // Blocks without a branch for each word.
        let same = whole
            .chunks(32)
            .zip(self.words[first..].chunks(32))
            .all(|(whole, words)| {
                let differences = whole.iter().zip(words);
                differences.fold(0, |differences, (have, word)| {
                    differences | word.load(Ordering::Relaxed) ^ u64::from_ne_bytes(*have)
                }) == 0
            });
        same && (last.is_empty() || self.load(first + whole.len())[..last.len()] == *last)
    }

    fn write(&self, at: usize, from: &[u8]) {
        let (first, rest) = from.split_at(head(at, from.len()));
        if !first.is_empty() {
            self.patch(at / WORD, at % WORD, first);
        }
        let start = at.div_ceil(WORD);
        let (whole, last) = rest.as_chunks::<WORD>();
        for (from, word) in whole.iter().zip(&self.words[start.min(self.words.len())..]) {
            word.store(u64::from_ne_bytes(*from), Ordering::Relaxed);
        }
        if !last.is_empty() {
            self.patch(start + whole.len(), 0, last);
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let start = self.words.as_ptr().cast_mut().cast();
        // SAFETY: this value's own mapping, of which no reference is left. An error would leave it there, no harm.
        let _ = unsafe { rustix::mm::munmap(start, self.size()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping() -> Mapping {
        let file = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let file = File::from(file);
        file.set_len(4096).unwrap();
        assert!(Mapping::new(&file, 8192).is_err(), "more than there is");
        assert!(Mapping::new(&file, 0).is_err());
        Mapping::new(&file, 4096).unwrap()
    }

    #[test]
    fn every_range_is_copied_to_the_byte() {
        let mapping = mapping();
        let mut model = vec![0u8; 4096];
        let mut value = 0u8;
        for base in [0, 4096 - 40] {
            for start in base..base + 20 {
                for length in 0..=20 {
                    let bytes: Vec<u8> = (0..length)
                        .map(|_| {
                            value = value.wrapping_mul(5).wrapping_add(3);
                            value
                        })
                        .collect();
                    mapping.write(start, &bytes);
                    model[start..start + length].copy_from_slice(&bytes);
                    let mut back = vec![0; length];
                    mapping.read(start, &mut back);
                    assert_eq!(back, bytes);
                    assert!(mapping.equals(start, &bytes));
                    if let Some(byte) = back.last_mut() {
                        *byte ^= 1;
                        assert!(!mapping.equals(start, &back));
                    }
                }
            }
        }
        let mut all = vec![0; 4096];
        mapping.read(0, &mut all);
        assert_eq!(all, model);
        mapping.write(4096, &[]);
        mapping.read(4096, &mut []);
    }

    #[test]
    #[should_panic(expected = "out of")]
    fn nothing_beyond_the_end() {
        mapping().read(4095, &mut [0; 2]);
    }

    #[test]
    fn neighbours_in_a_word_do_not_lose_each_others_bytes() {
        let mapping = mapping();
        std::thread::scope(|scope| {
            for at in 0..8 {
                let mapping = &mapping;
                scope.spawn(move || (1..=200).for_each(|value| mapping.write(at, &[value])));
            }
        });
        let mut bytes = [0; 8];
        mapping.read(0, &mut bytes);
        assert_eq!(bytes, [200; 8]);
    }
}
