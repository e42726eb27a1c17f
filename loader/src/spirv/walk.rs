//! Iteration over the instructions of a module held as words.

use crate::{Error, Result};

/// One instruction, borrowed from the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// Opcode, the low half of the first word; may be unknown.
    pub opcode: u16,
    /// All words of the instruction, the first included.
    pub words: &'a [u32],
    /// Position of the first word in the module, counted in words from the header's first.
    pub position: usize,
}

impl<'a> Instruction<'a> {
    /// The words behind the first.
    pub fn operands(&self) -> &'a [u32] {
        &self.words[1..]
    }
}

/// Iterator over a module's instructions; ends after the first error.
#[derive(Clone, Debug)]
pub struct Instructions<'a> {
    words: &'a [u32],
    at: usize,
}

/// The instructions of a module given with its five-word header.
///
/// A module shorter than its header has no instructions; checking the header is another's work.
pub fn instructions(words: &[u32]) -> Instructions<'_> {
    Instructions {
        words,
        at: super::HEADER_WORDS.min(words.len()),
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Result<Instruction<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let position = self.at;
        let rest = &self.words[position..];
        let first = *rest.first()?;
        let (length, opcode) = ((first >> 16) as usize, first as u16);
        if length == 0 || length > rest.len() {
            self.at = self.words.len();
            let message = format!(
                "instruction with opcode {opcode} says {length} words, {} are left",
                rest.len()
            );
            return Some(Err(Error::invalid("spirv", message, position as u64 * 4)));
        }
        self.at += length;
        Some(Ok(Instruction {
            opcode,
            words: &rest[..length],
            position,
        }))
    }
}

/// The words of a module given as bytes of either order, told apart by the magic number.
///
/// # Errors
/// Invalid when the bytes are no whole words or begin with no magic number.
pub fn to_words(bytes: &[u8]) -> Result<Vec<u32>> {
    if !bytes.len().is_multiple_of(4) {
        let message = format!("{} bytes are no whole words", bytes.len());
        return Err(Error::invalid("spirv", message, bytes.len() as u64));
    }
    let words = |read: fn([u8; 4]) -> u32| bytes.chunks_exact(4).map(|c| read([c[0], c[1], c[2], c[3]])).collect();
    match bytes.first_chunk() {
        Some(magic) if u32::from_le_bytes(*magic) == super::MAGIC => Ok(words(u32::from_le_bytes)),
        Some(magic) if u32::from_be_bytes(*magic) == super::MAGIC => Ok(words(u32::from_be_bytes)),
        _ => Err(Error::invalid("spirv", "does not begin with the magic number", 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_and_stops_at_a_bad_length() {
        let words = [crate::spirv::MAGIC, 0x10500, 0, 1, 0, 0x0002_0011, 1, 0x0000_0013];
        let all: Vec<_> = instructions(&words).collect();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].as_ref().unwrap().opcode, 17);
        assert_eq!(all[0].as_ref().unwrap().operands(), [1]);
        assert_eq!(all[1].as_ref().unwrap_err().offset(), Some(28));
    }
}
