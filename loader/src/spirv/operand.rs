//! The typed operands of an instruction, as the grammar has them.
//!
//! Total: an unknown opcode or enumerant gives raw words from there on, a broken instruction ends with a [`Fault`].

use super::grammar::{Grammar, Quantifier, Row, Rule, Shape};
use super::ids::Ids;
use super::op;
use super::walk::{Bytes, InstructionIn, Words};
use std::collections::HashMap;

/// How a number is written, from the type it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumberType {
    /// Not a number, or not known.
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
    /// Width in bits; 32 where not known.
    pub fn width(self) -> u16 {
        match self {
            Self::None => 32,
            Self::Unsigned(width) | Self::Signed(width) | Self::Float(width) => width,
        }
    }

    /// Words a literal takes.
    pub fn words(self) -> usize {
        usize::from(self.width()).div_ceil(32).max(1)
    }
}

/// What earlier instructions say about later operands: types of numbers, imported sets.
#[derive(Clone, Debug)]
pub struct Context {
    numbers: Ids<NumberType>,
    sets: HashMap<u32, Option<usize>>,
}

impl Context {
    /// For a module given with its header.
    pub fn new(words: &[u32]) -> Self {
        Self::over(words)
    }

    /// For a module given as bytes.
    pub fn of(bytes: Bytes<'_>) -> Self {
        Self::over(bytes)
    }

    fn over(words: impl Words) -> Self {
        Self {
            numbers: Ids::new(words.count(), words.word(3).unwrap_or(0), NumberType::None),
            sets: HashMap::new(),
        }
    }

    /// For a module of about so many ids.
    pub fn with_room(ids: usize) -> Self {
        Self {
            numbers: Ids::new(ids, u32::MAX, NumberType::None),
            sets: HashMap::new(),
        }
    }

    /// Takes in an instruction before those behind it are looked at.
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

    /// The number type of a type, or of the value of an id.
    pub fn number(&self, id: u32) -> NumberType {
        self.numbers.get(id)
    }

    /// The set an id imports: `None` if the id imports nothing, `Some(None)` if the set is not known.
    pub fn set(&self, id: u32) -> Option<Option<usize>> {
        self.sets.get(&id).copied()
    }
}

/// Why an instruction's words do not fit the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Word within the instruction.
    pub at: usize,
    /// What is wrong.
    pub why: &'static str,
}

/// One operand.
#[derive(Clone, Copy, Debug)]
pub struct OperandIn<'g, W> {
    /// Index of the kind in the grammar; `u16::MAX` for raw words.
    pub kind: u16,
    /// What it is.
    pub shape: &'g Shape,
    /// Its words.
    pub words: W,
    /// How its number is written, for literal numbers.
    pub number: NumberType,
    /// Word within the instruction.
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

/// The operands of an instruction.
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
            let Some(word) = self.words.word(self.at) else {
                return self.fault("the instruction ends before its last operand");
            };
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
                    return self.fault("a literal whose type is no number");
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
                    if !self.push(row.parameters.iter().rev().map(|r| r.kind)) {
                        return self.fault("too many parameters");
                    }
                    if row.parameters.last().is_some_and(|r| r.quantifier != Quantifier::One) {
                        self.depth -= row.parameters.len();
                        self.rules = &row.parameters;
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
                // Parameters follow from the lowest bit up: the stack takes them from the highest down.
                for bit in (0..32).rev().map(|n| 1 << n).filter(|bit| word & bit != 0) {
                    let row = table.value(bit);
                    let kinds = row.into_iter().flat_map(|r| r.parameters.iter().rev().map(|p| p.kind));
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

    /// Of an unknown enumerant's parameters nothing is known: raw words from here.
    fn unknown(&mut self) -> Option<Result<OperandIn<'g, W>, Fault>> {
        self.raw = true;
        let word = self.words.part(self.at, self.at + 1)?;
        Some(Ok(self.take(u16::MAX, &Shape::Raw, word, NumberType::None)))
    }

    /// The instruction an [`Shape::ExtInst`] operand just given stands for, where its set is known.
    pub fn ext_inst(&self, number: u32) -> Option<&'g Row> {
        self.grammar.sets[self.set?].row(number)
    }

    /// Words not given yet.
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

/// Words of a string that starts here; `None` if it does not end.
pub fn string_words(words: &[u32]) -> Option<usize> {
    string_words_in(words)
}

/// [`string_words`] of words held in any way.
#[inline]
pub fn string_words_in(words: impl Words) -> Option<usize> {
    let ends = |word: u32| word.wrapping_sub(0x0101_0101) & !word & 0x8080_8080 != 0;
    (0..words.count())
        .find(|at| words.word(*at).is_some_and(ends))
        .map(|at| at + 1)
}

/// The words of a string, with its end mark.
pub fn words_of_string(text: impl Into<Vec<u8>>) -> Vec<u32> {
    let mut bytes = text.into();
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
        .chunks_exact(4)
        .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
        .collect()
}

/// The string that starts here and the words it takes; bytes that are not UTF-8 become replacement characters.
pub fn string(words: &[u32]) -> Option<(String, usize)> {
    string_in(words)
}

/// [`string`] of words held in any way.
pub fn string_in(words: impl Words) -> Option<(String, usize)> {
    let length = string_words_in(words)?;
    let mut bytes: Vec<u8> = (0..length)
        .filter_map(|at| words.word(at))
        .flat_map(u32::to_le_bytes)
        .collect();
    bytes.truncate(bytes.iter().position(|b| *b == 0)?);
    Some((String::from_utf8_lossy(&bytes).into_owned(), length))
}
