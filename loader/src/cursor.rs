//! Bounds-checked little-endian reading over borrowed bytes.

use crate::{Error, Result};

/// A position in borrowed bytes. Every read is checked; errors name the format, the field and the offset.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    format: &'static str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `bytes`; `format` is the name errors carry.
    pub fn new(format: &'static str, bytes: &'a [u8]) -> Self {
        Self { format, bytes, at: 0 }
    }

    /// Byte offset from the start of the bytes.
    pub fn offset(&self) -> u64 {
        self.at as u64
    }

    /// Bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Whether everything has been read.
    pub fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    /// The next `n` bytes; `what` names them in the error.
    pub fn take(&mut self, n: usize, what: &str) -> Result<&'a [u8]> {
        if n > self.remaining() {
            return Err(self.short(n, what));
        }
        let taken = &self.bytes[self.at..self.at + n];
        self.at += n;
        Ok(taken)
    }

    /// The error of a read past the end, out of line so that inlined reads stay small.
    #[cold]
    #[inline(never)]
    fn short(&self, n: usize, what: &str) -> Error {
        let left = self.remaining();
        self.error(format!("{what} runs past end of file ({n} bytes needed, {left} left)"))
    }

    /// The next `count` records of `size` bytes each; checked before anything is allocated.
    pub fn records(&mut self, count: usize, size: usize, what: &str) -> Result<&'a [u8]> {
        match count.checked_mul(size) {
            Some(n) if n <= self.remaining() => self.take(n, what),
            _ => Err(self.error(format!(
                "{count} {what} of {size} bytes run past end of file ({} bytes left)",
                self.remaining()
            ))),
        }
    }

    /// Next byte.
    #[inline]
    pub fn u8(&mut self, what: &str) -> Result<u8> {
        Ok(self.array::<1>(what)?[0])
    }

    /// Next little-endian u16.
    #[inline]
    pub fn u16(&mut self, what: &str) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    /// Next little-endian u32.
    #[inline]
    pub fn u32(&mut self, what: &str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    /// Next `N` bytes as an array.
    #[inline]
    pub fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        match self.bytes[self.at..].first_chunk() {
            Some(taken) => {
                self.at += N;
                Ok(*taken)
            }
            None => Err(self.short(N, what)),
        }
    }

    /// An Invalid error at the current offset.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::invalid(self.format, message, self.offset())
    }
}
