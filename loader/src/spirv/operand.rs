//! Typed operands of an instruction, by the grammar.
//!
//! Total: after an unknown opcode or enumerant the operands are raw words; a malformed instruction ends with a
//! [`Fault`].

use super::grammar::{Grammar, Quantifier, Row, Rule, Shape};
use super::ids::Ids;
use super::op;
use super::walk::{Bytes, InstructionIn, Words};
use std::collections::HashMap;

/// Memory operands that have an operand of their own.
pub(crate) const ALIGNED: u32 = 0x2;
pub(crate) const AVAILABLE: u32 = 0x8;
pub(crate) const VISIBLE: u32 = 0x10;

/// Words of a memory access: the mask and its operands.
pub(crate) fn access_words(mask: u32) -> usize {
    1 + (mask & (ALIGNED | AVAILABLE | VISIBLE)).count_ones() as usize
}

/// Type of a literal number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumberType {
    /// Not a number, or unknown.
    #[default]
    None,
    /// Unsigned integer of a width in bits.
    Unsigned(u16),
    /// Signed integer of a width in bits.
    Signed(u16),
    /// Float of a width in bits.
    Float(u16),
}

impl NumberType {
    /// Width in bits; 32 if unknown.
    pub fn width(self) -> u16 {
        match self {
            Self::None => 32,
            Self::Unsigned(width) | Self::Signed(width) | Self::Float(width) => width,
        }
    }

    /// Number of words in a literal.
    pub fn words(self) -> usize {
        usize::from(self.width()).div_ceil(32).max(1)
    }
}

/// State from earlier instructions that later operands depend on: types of numbers, imported sets.
#[derive(Clone, Debug)]
pub struct Context {
    numbers: Ids<NumberType>,
    sets: HashMap<u32, Option<usize>>,
}

impl Context {
    /// For a module held as words with its header.
    pub fn new(words: &[u32]) -> Self {
        Self::over(words)
    }

    /// For a module held as bytes.
    pub fn of(bytes: Bytes<'_>) -> Self {
        Self::over(bytes)
    }

    fn over(words: impl Words) -> Self {
        Self {
            numbers: Ids::new(words.count(), words.word(3).unwrap_or(0), NumberType::None),
            sets: HashMap::new(),
        }
    }

    /// For a module of about this many ids.
    pub fn with_room(ids: usize) -> Self {
        Self {
            numbers: Ids::new(ids, u32::MAX, NumberType::None),
            sets: HashMap::new(),
        }
    }

    /// Records an instruction; must be called before the following ones are read.
    #[inline]
    pub fn note<W: Words>(&mut self, grammar: &Grammar, row: Option<&Row>, instruction: &InstructionIn<W>) {
        let words = instruction.words;
        let word = |at| words.word(at).unwrap_or(0);
        match (instruction.opcode, words.count()) {
            (op::TYPE_INT, 4..) => {
                let width = word(2).min(0xffff) as u16;
                let kind = if word(3) == 0 {
                    NumberType::Unsigned(width)
                } else {
                    NumberType::Signed(width)
                };
                self.numbers.set(word(1), kind);
            }
            (op::TYPE_FLOAT, 3..) => self.numbers.set(word(1), NumberType::Float(word(2).min(0xffff) as u16)),
            (op::EXT_INST_IMPORT, 3..) => {
                let name = words.part(2, words.count()).and_then(string_in);
                let set = name.and_then(|(name, _)| grammar.set(&name));
                self.sets.entry(word(1)).or_insert(set);
            }
            (_, 3..) if row.is_some_and(|r| r.has_type && r.has_result) => {
                let number = self.numbers.get(word(1));
                if number != NumberType::None {
                    self.numbers.set(word(2), number);
                }
            }
            _ => {}
        }
    }

    /// The number type of a type, or of an id's value.
    pub fn number(&self, id: u32) -> NumberType {
        self.numbers.get(id)
    }

    /// The set that an id imports: `None` if the id imports nothing, `Some(None)` if the set is unknown.
    pub fn set(&self, id: u32) -> Option<Option<usize>> {
        self.sets.get(&id).copied()
    }
}

/// Why an instruction does not match the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Index of the word within the instruction.
    pub at: usize,
    /// What is wrong.
    pub why: &'static str,
}

/// One operand.
#[derive(Clone, Copy, Debug)]
pub struct OperandIn<'g, W> {
    /// Index of the kind in the grammar; `u16::MAX` for raw words.
    pub kind: u16,
    /// Its shape.
    pub shape: &'g Shape,
    /// Its words.
    pub words: W,
    /// The type of a literal number.
    pub number: NumberType,
    /// Index of the word within the instruction.
    pub at: usize,
}

/// One operand of a module held as words.
pub type Operand<'a, 'g> = OperandIn<'g, &'a [u32]>;

/// Iterator over the operands of an instruction held as words.
pub type Operands<'a, 'g, 'c> = OperandsIn<'g, 'c, &'a [u32]>;

const PENDING: usize = 48;

/// Iterator over an instruction's operands; ends after a fault.
#[derive(Debug)]
pub struct OperandsIn<'g, 'c, W> {
    grammar: &'g Grammar,
    context: &'c Context,
    opcode: u16,
    words: W,
    at: usize,
    rules: &'g [Rule],
    pending: [u16; PENDING],
    depth: usize,
    raw: bool,
    set: Option<usize>,
}

/// Iterates over an instruction's operands.
pub fn operands<'g, 'c, W: Words>(
    grammar: &'g Grammar,
    context: &'c Context,
    row: Option<&'g Row>,
    instruction: &InstructionIn<W>,
) -> OperandsIn<'g, 'c, W> {
    OperandsIn {
        grammar,
        context,
        opcode: instruction.opcode,
        words: instruction.words,
        at: 1,
        rules: row.map_or(&[], |row| &row.operands),
        pending: [0; PENDING],
        depth: 0,
        raw: row.is_none(),
        set: None,
    }
}

impl<'g, W: Words> Iterator for OperandsIn<'g, '_, W> {
    type Item = Result<OperandIn<'g, W>, Fault>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let left = self.words.count() - self.at;
            if self.raw {
                let word = self.words.part(self.at, self.at + 1)?;
                return Some(Ok(self.take(u16::MAX, &Shape::Raw, word, NumberType::None)));
            }
            let kind = if self.depth > 0 {
                self.depth -= 1;
                self.pending[self.depth]
            } else {
                let Some(rule) = self.rules.first() else {
                    return if left == 0 {
                        None
                    } else {
                        self.fault("more words than the instruction has operands")
                    };
                };
                match rule.quantifier {
                    Quantifier::One => self.rules = &self.rules[1..],
                    _ if left == 0 => return None,
                    Quantifier::Optional => self.rules = &self.rules[1..],
                    Quantifier::Many => {}
                }
                rule.kind
            };
            let shape = self.grammar.shape(kind);
            if let Shape::Composite(parts) = shape {
                if !self.push(parts.iter().rev().copied()) {
                    return self.fault("too many operands in one");
                }
                continue;
            }
            let Some(first) = self.words.part(self.at, self.at + 1) else {
                return self.fault("the instruction ends before its last operand");
            };
            // Most operands are ids: without a call.
            if matches!(shape, Shape::Id | Shape::ResultType | Shape::Result) {
                return Some(Ok(self.take(kind, shape, first, NumberType::None)));
            }
            let word = first.word(0).unwrap_or_default();
            return self.operand(kind, shape, word);
        }
    }
}

impl<'g, W: Words> OperandsIn<'g, '_, W> {
    fn take(&mut self, kind: u16, shape: &'g Shape, words: W, number: NumberType) -> OperandIn<'g, W> {
        let at = self.at;
        self.at += words.count();
        OperandIn {
            kind,
            shape,
            words,
            number,
            at,
        }
    }

    #[cold]
    fn fault(&mut self, why: &'static str) -> Option<Result<OperandIn<'g, W>, Fault>> {
        let at = self.at;
        (self.at, self.raw) = (self.words.count(), true);
        Some(Err(Fault { at, why }))
    }

    fn push(&mut self, kinds: impl Iterator<Item = u16>) -> bool {
        for kind in kinds {
            let Some(slot) = self.pending.get_mut(self.depth) else {
                return false;
            };
            *slot = kind;
            self.depth += 1;
        }
        true
    }

    fn operand(&mut self, kind: u16, shape: &'g Shape, word: u32) -> Option<Result<OperandIn<'g, W>, Fault>> {
        let (mut length, mut number) = (1, NumberType::None);
        match shape {
            Shape::Integer if self.opcode == op::SWITCH => {
                number = self.context.number(self.words.word(1).unwrap_or(0));
                length = number.words();
            }
            Shape::ContextNumber => {
                number = self.context.number(self.words.word(1).unwrap_or(0));
                if number == NumberType::None {
                    return self.fault("a literal whose type is not a number");
                }
                length = number.words();
            }
            Shape::Float => number = NumberType::Float(32),
            Shape::String => match string_words_in(self.rest()) {
                Some(words) => length = words,
                None => return self.fault("a string without its closing zero"),
            },
            Shape::SpecOp => match self.grammar.row(word as u16).filter(|_| word <= 0xffff) {
                Some(row) if row.operands.len() >= 2 && row.has_type && row.has_result => {
                    self.rules = &row.operands[2..]
                }
                _ => self.raw = true,
            },
            Shape::ExtInst => {
                self.set = self
                    .words
                    .word(self.at - 1)
                    .and_then(|id| self.context.set(id))
                    .flatten();
                let row = self.set.and_then(|set| self.grammar.sets[set].row(word));
                if let Some(row) = row {
                    self.rules = &row.operands;
                }
            }
            Shape::Value => match self.grammar.kind(kind).and_then(|k| k.value(word)) {
                Some(row) => {
                    if !self.push(row.parameters().iter().rev().map(|r| r.kind)) {
                        return self.fault("too many parameters");
                    }
                    if row.parameters().last().is_some_and(|r| r.quantifier != Quantifier::One) {
                        self.depth -= row.parameters().len();
                        self.rules = row.parameters();
                    }
                }
                None => return self.unknown(),
            },
            Shape::Mask => {
                let Some(table) = self.grammar.kind(kind) else {
                    return self.fault("a kind without a table");
                };
                if (word == 0 && table.value(0).is_none()) || bits(word).any(|bit| table.value(bit).is_none()) {
                    return self.unknown();
                }
                // Parameters follow from the lowest bit up, so they are pushed from the highest down.
                for bit in (0..32).rev().map(|n| 1 << n).filter(|bit| word & bit != 0) {
                    let row = table.value(bit);
                    let kinds = row
                        .into_iter()
                        .flat_map(|r| r.parameters().iter().rev().map(|p| p.kind));
                    if !self.push(kinds) {
                        return self.fault("too many parameters");
                    }
                }
            }
            _ => {}
        }
        match self.words.part(self.at, self.at + length) {
            Some(words) => Some(Ok(self.take(kind, shape, words, number))),
            None => self.fault("a literal longer than its instruction"),
        }
    }

    /// An unknown enumerant's parameters are unknown: the rest is raw words.
    fn unknown(&mut self) -> Option<Result<OperandIn<'g, W>, Fault>> {
        self.raw = true;
        let word = self.words.part(self.at, self.at + 1)?;
        Some(Ok(self.take(u16::MAX, &Shape::Raw, word, NumberType::None)))
    }

    /// The instruction that an [`Shape::ExtInst`] operand refers to, if its set is known.
    pub fn ext_inst(&self, number: u32) -> Option<&'g Row> {
        self.grammar.sets[self.set?].row(number)
    }

    /// Words not yet consumed.
    pub fn rest(&self) -> W {
        self.words.part(self.at, self.words.count()).unwrap_or(self.words)
    }
}

/// The single bits of a mask, lowest first.
pub fn bits(mut word: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = word & word.wrapping_neg();
        word ^= bit;
        (bit != 0).then_some(bit)
    })
}

/// Number of words of the string that starts here; `None` if it is not terminated.
pub fn string_words(words: &[u32]) -> Option<usize> {
    string_words_in(words)
}

/// [`string_words`] for any representation of words.
#[inline]
pub fn string_words_in(words: impl Words) -> Option<usize> {
    let ends = |word: u32| word.wrapping_sub(0x0101_0101) & !word & 0x8080_8080 != 0;
    (0..words.count())
        .find(|at| words.word(*at).is_some_and(ends))
        .map(|at| at + 1)
}

/// A string as words, with its terminator.
pub fn words_of_string(text: impl Into<Vec<u8>>) -> Vec<u32> {
    let mut bytes = text.into();
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
        .chunks_exact(4)
        .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
        .collect()
}

/// The string that starts here, and its word count; invalid UTF-8 becomes replacement characters.
pub fn string(words: &[u32]) -> Option<(String, usize)> {
    string_in(words)
}

/// [`string`] for any representation of words.
pub fn string_in(words: impl Words) -> Option<(String, usize)> {
    let length = string_words_in(words)?;
    let mut bytes: Vec<u8> = (0..length)
        .filter_map(|at| words.word(at))
        .flat_map(u32::to_le_bytes)
        .collect();
    bytes.truncate(bytes.iter().position(|b| *b == 0)?);
    Some((String::from_utf8_lossy(&bytes).into_owned(), length))
}
