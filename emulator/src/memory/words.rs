//! Memory that others write while it is read, as a row of atomic words: no torn words and no undefined behaviour, only one
//! value or the other, as on hardware.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a word.
const WORD: usize = size_of::<AtomicU64>();

/// Bytes that others read and write at the same time. They are copied in and out, so no reference to them exists.
///
/// Ranges must lie within; a range that does not is a panic.
#[derive(Clone, Copy, Debug)]
pub struct SharedWords<'a>(pub &'a [AtomicU64]);

impl SharedWords<'_> {
    /// How many bytes there are.
    pub fn size(&self) -> usize {
        self.0.len() * WORD
    }

    fn load(&self, word: usize) -> [u8; WORD] {
        self.0[word].load(Ordering::Relaxed).to_ne_bytes()
    }

    /// Writes part of a word, and leaves the rest as others have it.
    fn patch(&self, word: usize, at: usize, bytes: &[u8]) {
        let word = &self.0[word];
        let change = |old: u64| {
            let mut new = old.to_ne_bytes();
            new[at..at + bytes.len()].copy_from_slice(bytes);
            Some(u64::from_ne_bytes(new))
        };
        // The change is never refused.
        let _ = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }

    /// Copies bytes from `at` on out.
    pub fn read(&self, at: usize, to: &mut [u8]) {
        let (first, rest) = to.split_at_mut(head(at, to.len()));
        if !first.is_empty() {
            first.copy_from_slice(&self.load(at / WORD)[at % WORD..][..first.len()]);
        }
        let start = at.div_ceil(WORD);
        let (whole, last) = rest.as_chunks_mut::<WORD>();
        for (to, word) in whole.iter_mut().zip(&self.0[start.min(self.0.len())..]) {
            *to = word.load(Ordering::Relaxed).to_ne_bytes();
        }
        if !last.is_empty() {
            last.copy_from_slice(&self.load(start + whole.len())[..last.len()]);
        }
    }

    /// Whether the bytes from `at` on are these.
    pub fn equals(&self, at: usize, bytes: &[u8]) -> bool {
        if !at.is_multiple_of(WORD) {
            let mut copy = vec![0; bytes.len()];
            self.read(at, &mut copy);
            return copy == bytes;
        }
        let (whole, last) = bytes.as_chunks::<WORD>();
        let first = (at / WORD).min(self.0.len());
        // Blocks without a branch for each word.
        let same = whole.chunks(32).zip(self.0[first..].chunks(32)).all(|(whole, words)| {
            let differences = whole.iter().zip(words);
            differences.fold(0, |differences, (have, word)| {
                differences | word.load(Ordering::Relaxed) ^ u64::from_ne_bytes(*have)
            }) == 0
        });
        same && (last.is_empty() || self.load(first + whole.len())[..last.len()] == *last)
    }

    /// Copies bytes in from `at` on.
    pub fn write(&self, at: usize, from: &[u8]) {
        let (first, rest) = from.split_at(head(at, from.len()));
        if !first.is_empty() {
            self.patch(at / WORD, at % WORD, first);
        }
        let start = at.div_ceil(WORD);
        let (whole, last) = rest.as_chunks::<WORD>();
        for (from, word) in whole.iter().zip(&self.0[start.min(self.0.len())..]) {
            word.store(u64::from_ne_bytes(*from), Ordering::Relaxed);
        }
        if !last.is_empty() {
            self.patch(start + whole.len(), 0, last);
        }
    }
}

/// The length of the part before the first whole word.
fn head(at: usize, length: usize) -> usize {
    (at.next_multiple_of(WORD) - at).min(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zeroed() -> Vec<AtomicU64> {
        std::iter::repeat_with(AtomicU64::default).take(512).collect()
    }

    #[test]
    fn every_range_is_copied_to_the_byte() {
        let words = zeroed();
        let mapping = SharedWords(&words);
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
        SharedWords(&zeroed()).read(4095, &mut [0; 2]);
    }

    #[test]
    fn neighbours_in_a_word_do_not_lose_each_others_bytes() {
        let words = zeroed();
        let mapping = SharedWords(&words);
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
