//! The GPU's view of memory: a bus with physical addresses.

use emulator::memory::SharedWords;
use std::ops::Range;
use std::sync::atomic::AtomicU64;

/// Memory that the GPU reads and writes. Other bus masters may access it at the same time.
pub trait Bus: Send + Sync {
    /// Address ranges with memory.
    fn ram(&self) -> Vec<Range<u64>>;

    /// Copies bytes out; `false` if some of them are not in memory.
    fn read(&self, address: u64, to: &mut [u8]) -> bool;

    /// Copies bytes in; `false` if some of them are not in memory.
    fn write(&self, address: u64, from: &[u8]) -> bool;

    /// Whether memory at an address equals these bytes.
    fn equals(&self, address: u64, bytes: &[u8]) -> bool {
        let mut copy = vec![0; bytes.len()];
        self.read(address, &mut copy) && copy == bytes
    }
}

/// Memory that is one mapping in this process at one physical address: a slice of atomic words, which may be written
/// concurrently.
#[derive(Debug)]
pub struct Ram<W> {
    base: u64,
    words: W,
}

impl<W: AsRef<[AtomicU64]> + Send + Sync> Ram<W> {
    /// Memory at a physical address.
    pub fn new(base: u64, words: W) -> Self {
        Self { base, words }
    }

    fn place(&self, address: u64, length: usize) -> Option<(SharedWords<'_>, usize)> {
        let words = SharedWords(self.words.as_ref());
        let start = usize::try_from(address.checked_sub(self.base)?).ok()?;
        let end = start.checked_add(length)?;
        (end <= words.size()).then_some((words, start))
    }
}

impl Ram<Vec<AtomicU64>> {
    /// Zeroed memory owned by this object; `size` in bytes is rounded up to whole words.
    pub fn zeroed(base: u64, size: usize) -> Self {
        let words = std::iter::repeat_with(AtomicU64::default)
            .take(size.div_ceil(8))
            .collect();
        Self::new(base, words)
    }
}

impl<W: AsRef<[AtomicU64]> + Send + Sync> Bus for Ram<W> {
    fn ram(&self) -> Vec<Range<u64>> {
        let size = SharedWords(self.words.as_ref()).size() as u64;
        std::iter::once(self.base..self.base.saturating_add(size)).collect()
    }

    fn read(&self, address: u64, to: &mut [u8]) -> bool {
        let Some((words, start)) = self.place(address, to.len()) else {
            return false;
        };
        words.read(start, to);
        true
    }

    fn write(&self, address: u64, from: &[u8]) -> bool {
        let Some((words, start)) = self.place(address, from.len()) else {
            return false;
        };
        words.write(start, from);
        true
    }

    fn equals(&self, address: u64, bytes: &[u8]) -> bool {
        self.place(address, bytes.len())
            .is_some_and(|(words, start)| words.equals(start, bytes))
    }
}
