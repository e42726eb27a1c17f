//! Memory that other processes write while it is read; all of the shim's `unsafe` is here.
//!
//! A mapping is a slice of atomic words. Concurrent writes by programs and other devices' threads cause no torn words
//! and no undefined behaviour: a read returns one value or the other, as on hardware. Code that needs an order waits
//! for a fence, whose message through the kernel orders the accesses. References to the bytes are never handed out:
//! they are copied once, and the checked copy is used.

use emulator::memory::{Backing, SharedWords};
use rustix::mm::{MapFlags, ProtFlags};
use std::fs::File;
use std::io;
use std::sync::atomic::AtomicU64;

/// Bytes of a word.
const WORD: usize = 8;

/// A file's bytes in this address space, shared with all processes that map it.
#[derive(Debug)]
pub struct Mapping {
    words: &'static [AtomicU64],
}

impl Mapping {
    /// Maps `length` bytes of a file that is sealed against shrinking; a multiple of the page size.
    ///
    /// # Errors
    /// If the system has no memory, or the length is zero.
    pub fn new(file: &File, length: usize) -> io::Result<Self> {
        if length == 0 || !length.is_multiple_of(WORD) || file.metadata()?.len() < length as u64 {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address chosen by the system; existing mappings are not affected.
        let start = unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, file, 0)? };
        // SAFETY: the mapping has `length` bytes at a page boundary, so the words are aligned; all values are valid.
        // The file has that many bytes and cannot shrink, because it is sealed. They stay mapped until `drop`, and no
        // reference outlives this value. All our accesses are atomic whole words; those of other processes are outside
        // the language's memory model, like a device's.
        let words = unsafe { std::slice::from_raw_parts(start.cast::<AtomicU64>(), length / WORD) };
        Ok(Self { words })
    }

    fn shared(&self) -> SharedWords<'_> {
        SharedWords(self.words)
    }
}

impl Backing for Mapping {
    fn size(&self) -> usize {
        self.shared().size()
    }

    fn read(&self, at: usize, to: &mut [u8]) {
        self.shared().read(at, to);
    }

    fn equals(&self, at: usize, bytes: &[u8]) -> bool {
        self.shared().equals(at, bytes)
    }

    fn write(&self, at: usize, from: &[u8]) {
        self.shared().write(at, from);
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let start = self.words.as_ptr().cast_mut().cast();
        // SAFETY: this value's own mapping, to which no reference remains. On an error it stays mapped, which is
        // harmless.
        let _ = unsafe { rustix::mm::munmap(start, self.size()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_the_file() {
        let file = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let file = File::from(file);
        file.set_len(4096).unwrap();
        assert!(Mapping::new(&file, 8192).is_err(), "longer than the file");
        assert!(Mapping::new(&file, 0).is_err());
        let (one, other) = (Mapping::new(&file, 4096).unwrap(), Mapping::new(&file, 4096).unwrap());
        one.write(4093, &[1, 2, 3]);
        let mut bytes = [0; 3];
        other.read(4093, &mut bytes);
        assert_eq!(bytes, [1, 2, 3]);
        assert!(other.equals(4092, &[0, 1, 2, 3]) && !other.equals(4092, &[0, 1, 2, 4]));
    }
}
