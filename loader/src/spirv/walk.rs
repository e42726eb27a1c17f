//! Iteration over the instructions of a module, held as words or as the file's bytes in either order; nothing is copied.

use crate::{Error, Result};

/// Words in any representation.
pub trait Words: Copy {
    /// Number of words.
    fn count(self) -> usize;

    /// The word at a position; `None` past the end.
    fn word(self, at: usize) -> Option<u32>;

    /// A range of words; `None` if it ends past the end.
    fn part(self, from: usize, to: usize) -> Option<Self>;

    /// `N` words at a position; `None` if they end past the end.
    #[inline]
    fn chunk<const N: usize>(self, at: usize) -> Option<[u32; N]> {
        let part = self.part(at, at + N)?;
        Some(std::array::from_fn(|i| part.word(i).unwrap_or_default()))
    }
}

impl Words for &[u32] {
    #[inline]
    fn count(self) -> usize {
        self.len()
    }

    #[inline]
    fn word(self, at: usize) -> Option<u32> {
        self.get(at).copied()
    }

    #[inline]
    fn part(self, from: usize, to: usize) -> Option<Self> {
        self.get(from..to)
    }
}

/// Words as bytes of a file, in either byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes<'a> {
    words: &'a [[u8; 4]],
    big: bool,
}

impl<'a> Bytes<'a> {
    /// A module's bytes; the magic number gives their order.
    ///
    /// # Errors
    /// Invalid if the bytes are not whole words or lack the magic number.
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        let (words, rest) = bytes.as_chunks();
        if !rest.is_empty() {
            let message = format!("{} bytes are not whole words", bytes.len());
            return Err(Error::invalid("spirv", message, bytes.len() as u64));
        }
        match words.first() {
            Some(magic) if u32::from_le_bytes(*magic) == super::MAGIC => Ok(Self { words, big: false }),
            Some(magic) if u32::from_be_bytes(*magic) == super::MAGIC => Ok(Self { words, big: true }),
            _ => Err(Error::invalid("spirv", "does not begin with the magic number", 0)),
        }
    }

    /// Little-endian words without a check of the magic number; bytes after the last whole word are ignored.
    pub fn little_endian(bytes: &'a [u8]) -> Self {
        let (words, big) = (bytes.as_chunks().0, false);
        Self { words, big }
    }

    /// Whether the most significant byte of a word comes first.
    pub fn is_big_endian(self) -> bool {
        self.big
    }

    /// The instructions after the header.
    pub fn instructions(self) -> Instructions<Self> {
        Instructions {
            words: self,
            at: super::HEADER_WORDS.min(self.count()),
        }
    }

    /// All words, in host order.
    pub fn to_vec(self) -> Vec<u32> {
        let read = if self.big {
            u32::from_be_bytes
        } else {
            u32::from_le_bytes
        };
        self.words.iter().map(|word| read(*word)).collect()
    }
}

impl Words for Bytes<'_> {
    #[inline]
    fn count(self) -> usize {
        self.words.len()
    }

    #[inline]
    fn word(self, at: usize) -> Option<u32> {
        let word = *self.words.get(at)?;
        Some(if self.big {
            u32::from_be_bytes(word)
        } else {
            u32::from_le_bytes(word)
        })
    }

    #[inline]
    fn part(self, from: usize, to: usize) -> Option<Self> {
        let (words, big) = (self.words.get(from..to)?, self.big);
        Some(Self { words, big })
    }
}

/// A module's words: in host order, or as the bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// Words in host order.
    Words(&'a [u32]),
    /// Bytes of either order.
    Bytes(Bytes<'a>),
}

impl<'a> From<&'a [u32]> for Source<'a> {
    fn from(words: &'a [u32]) -> Self {
        Self::Words(words)
    }
}

impl<'a> From<&'a Vec<u32>> for Source<'a> {
    fn from(words: &'a Vec<u32>) -> Self {
        Self::Words(words)
    }
}

impl<'a> From<Bytes<'a>> for Source<'a> {
    fn from(bytes: Bytes<'a>) -> Self {
        Self::Bytes(bytes)
    }
}

impl Source<'_> {
    /// The words, copied.
    pub fn to_vec(self) -> Vec<u32> {
        match self {
            Self::Words(words) => words.to_vec(),
            Self::Bytes(bytes) => bytes.to_vec(),
        }
    }
}

impl Words for Source<'_> {
    #[inline]
    fn count(self) -> usize {
        match self {
            Self::Words(words) => words.len(),
            Self::Bytes(bytes) => bytes.count(),
        }
    }

    #[inline]
    fn word(self, at: usize) -> Option<u32> {
        match self {
            Self::Words(words) => words.word(at),
            Self::Bytes(bytes) => bytes.word(at),
        }
    }

    #[inline]
    fn part(self, from: usize, to: usize) -> Option<Self> {
        Some(match self {
            Self::Words(words) => Self::Words(words.part(from, to)?),
            Self::Bytes(bytes) => Self::Bytes(bytes.part(from, to)?),
        })
    }
}

/// One instruction, borrowed from the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionIn<W> {
    /// Opcode, the low half of the first word; may be unknown.
    pub opcode: u16,
    /// All words of the instruction, the first included.
    pub words: W,
    /// Position of the first word in the module, counted in words from the header's first.
    pub position: usize,
}

impl<W: Words> InstructionIn<W> {
    /// An operand word, counted from the one after the first.
    #[inline]
    pub fn operand(&self, at: usize) -> Option<u32> {
        self.words.word(at + 1)
    }

    /// The first `N` operand words; `None` if there are fewer.
    #[inline]
    pub fn head<const N: usize>(&self) -> Option<[u32; N]> {
        self.words.chunk(1)
    }

    /// Number of words after the first.
    #[inline]
    pub fn operand_count(&self) -> usize {
        self.words.count().saturating_sub(1)
    }

    /// The operand words from one of them on.
    #[inline]
    pub fn tail(&self, from: usize) -> impl ExactSizeIterator<Item = u32> + use<W> {
        let words = self.words;
        (from + 1..words.count().max(from + 1)).map(move |at| words.word(at).unwrap_or_default())
    }
}

/// One instruction of a module held as words.
pub type Instruction<'a> = InstructionIn<&'a [u32]>;

impl<'a> Instruction<'a> {
    /// The words after the first.
    pub fn operands(&self) -> &'a [u32] {
        &self.words[1..]
    }
}

/// Iterator over a module's instructions; ends after the first error.
#[derive(Clone, Debug)]
pub struct Instructions<W> {
    words: W,
    at: usize,
}

/// The instructions of a module given with its five-word header.
///
/// A module shorter than its header has no instructions; the header is not checked here.
pub fn instructions(words: &[u32]) -> Instructions<&[u32]> {
    Instructions::of(words, super::HEADER_WORDS)
}

impl<W: Words> Instructions<W> {
    /// The instructions starting at word `from`.
    pub(super) fn of(words: W, from: usize) -> Self {
        let at = from.min(words.count());
        Self { words, at }
    }
}

impl<W: Words> Iterator for Instructions<W> {
    type Item = Result<InstructionIn<W>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let position = self.at;
        let first = self.words.word(position)?;
        let (length, opcode) = ((first >> 16) as usize, first as u16);
        match self.words.part(position, position + length) {
            Some(words) if length > 0 => {
                self.at += length;
                Some(Ok(InstructionIn {
                    opcode,
                    words,
                    position,
                }))
            }
            _ => Some(Err(self.bad_length(length, opcode))),
        }
    }
}

impl<W: Words> Instructions<W> {
    #[cold]
    fn bad_length(&mut self, length: usize, opcode: u16) -> Error {
        let (position, count) = (self.at, self.words.count());
        self.at = count;
        let left = count - position;
        let message = format!("instruction with opcode {opcode} has length {length}, but {left} words are left");
        Error::invalid("spirv", message, position as u64 * 4)
    }
}

/// The words of a module given as bytes of either order, which the magic number gives.
///
/// # Errors
/// Invalid if the bytes are not whole words or lack the magic number.
pub fn to_words(bytes: &[u8]) -> Result<Vec<u32>> {
    Ok(Bytes::new(bytes)?.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv::Grammar;
    use crate::spirv::operand::{Context, operands};

    #[test]
    fn walks_and_stops_at_a_bad_length() {
        let words = [crate::spirv::MAGIC, 0x10500, 0, 1, 0, 0x0002_0011, 1, 0x0000_0013];
        let all: Vec<_> = instructions(&words).collect();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].as_ref().unwrap().opcode, 17);
        assert_eq!(all[0].as_ref().unwrap().operands(), [1]);
        assert_eq!(all[1].as_ref().unwrap_err().offset(), Some(28));
    }

    #[test]
    fn sources_are_words_or_bytes_of_either_order() {
        let words = vec![crate::spirv::MAGIC, 0x10500, 0, 9, 0, 0x0002_0011, 1];
        let little: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let big: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let [little, big] = [&little, &big].map(|bytes| Source::from(Bytes::new(bytes).unwrap()));
        for source in [Source::from(&words), Source::from(&words[..]), little, big] {
            assert_eq!((source.count(), source.to_vec()), (7, words.clone()));
            assert_eq!([3, 6, 7].map(|at| source.word(at)), [Some(9), Some(1), None]);
            let part = source.part(5, 7).unwrap();
            assert_eq!((part.count(), part.to_vec()), (2, vec![0x0002_0011, 1]));
            assert_eq!((part.word(0), part.word(2)), (Some(0x0002_0011), None));
            assert!(source.part(5, 8).is_none() && source.part(6, 5).is_none());
        }
    }

    /// Kind and words of every instruction's operands, as the grammar types them.
    fn typed<W: Words>(all: Instructions<W>, mut context: Context) -> Vec<(u16, u16, usize, Vec<Option<u32>>)> {
        let grammar = Grammar::builtin();
        let mut out = Vec::new();
        for instruction in all.map_while(Result::ok) {
            let row = grammar.row(instruction.opcode);
            context.note(grammar, row, &instruction);
            for operand in operands(grammar, &context, row, &instruction).flatten() {
                let words = (0..operand.words.count()).map(|at| operand.words.word(at)).collect();
                out.push((instruction.opcode, operand.kind, operand.at, words));
            }
        }
        out
    }

    #[test]
    fn both_byte_orders_give_the_same_as_words() {
        let text = "OpCapability Shader\n%1 = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel Logical GLSL450\n\
                    OpName %5 \"a longer name\"\n%2 = OpTypeInt 64 1\n%3 = OpConstant %2 -5\n%4 = OpTypeFloat 32\n\
                    %6 = OpConstant %4 0.5\n%5 = OpTypeStruct %2 %4\n!0x0002ffff !77\nOpDecorate %5 !4242 !1\n";
        let words = crate::spirv::asm::assemble(Grammar::builtin(), text, Default::default()).unwrap();
        let little: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let big: Vec<u8> = words.iter().flat_map(|w| w.to_be_bytes()).collect();
        let (little, big) = (Bytes::new(&little).unwrap(), Bytes::new(&big).unwrap());
        assert!(!little.is_big_endian() && big.is_big_endian());
        let wanted = typed(instructions(&words), Context::new(&words));
        assert_eq!(wanted.len(), 25, "{wanted:?}");
        assert!(
            wanted.iter().any(|row| row.0 == 0xffff && row.3 == [Some(77)]),
            "{wanted:?}"
        );
        assert_eq!(typed(little.instructions(), Context::of(little)), wanted);
        assert_eq!(typed(big.instructions(), Context::of(big)), wanted);
        assert_eq!(big.to_vec(), words);
    }

    #[test]
    fn any_bytes_walk_the_same_in_both_orders() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..3000 {
            let mut words = vec![crate::spirv::MAGIC, 0x10500, 0, 40, 0];
            for _ in 0..random.u32(..40) {
                // Mostly short lengths and known opcodes, sometimes anything.
                let word = random.u32(..);
                words.push(if word & 7 == 0 {
                    word
                } else {
                    ((word >> 8 & 7) << 16) | ((word >> 16) % 400)
                });
            }
            let big: Vec<u8> = words.iter().flat_map(|w| w.to_be_bytes()).collect();
            let big = Bytes::new(&big).unwrap();
            assert_eq!(
                typed(big.instructions(), Context::of(big)),
                typed(instructions(&words), Context::new(&words))
            );
        }
    }
}
