//! The PP's (fragment processor's) instruction: a control word, then one field group for every unit it uses, packed
//! without gaps.
//! The rows are those of docs/spec/mali/pp.md, sections 2 and 5 to 14 (evidence: Mesa emits and decodes them, the lima
//! project's notes name them, recorded programs contain them). Decoding is lossless: fields keep their bits, and so do
//! the bits after the last unit.

pub mod access;
pub mod flow;
pub mod ops;
mod parse;
mod print;
pub mod random;
mod register;
mod units;

pub use crate::vector::{Component, Swizzle};
pub use ops::{
    AccOp, Alignment, BranchKind, Condition, LoadSource, Modifier, MulOp, SamplerKind, ScalarFunction, StoreMode,
    StoreTarget, VaryingKind, VectorFunction,
};
pub use parse::{assemble, assemble_statements};
pub use print::{Options, disassemble, rows};
pub use register::{Register, Scalar, ScalarSource, ScalarUnit, VectorSource, VectorUnit};

pub use units::{
    ALL, Branch, Combine, Constant, Control, FloatAcc, FloatMul, Form, LevelOfDetail, Load, Sampler, Store, Varying,
    VecAcc, VecMul,
};

use super::field::{Field, Fields};
use std::fmt;

/// Words of the longest instruction: all units and the control word.
pub const MAX_WORDS: usize = {
    let (mut bits, mut unit) = (0, 0);
    while unit < UNITS.len() {
        bits += UNITS[unit].1 as usize;
        unit += 1;
    }
    1 + bits.div_ceil(32)
};

/// Limit on the length of programs. The hardware's limit is unknown.
pub const MAX_PROGRAM_WORDS: usize = 1 << 15;

macro_rules! units {
    ($($(#[$meta:meta])* $field:ident: $type:ty, $text:literal;)*) => {
        /// One instruction.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct Instruction {
            /// The first word; its length and units are recomputed from the fields below on encoding.
            pub control: Control,
            $($(#[$meta])* pub $field: Option<$type>,)*
            /// Bits between the last unit and the end of the word; zero in every program seen.
            pub padding: u32,
        }

        /// The units: name in text, bits, fields; in the order of their bits in the control word and of their fields.
        pub const UNITS: &[(&str, u32, &[Field])] = &[$(($text, <$type>::BITS, <$type>::FIELDS)),*];

        impl Instruction {
            #[inline(always)]
            fn take(control: Control, stream: &mut Stream) -> Self {
                let mut unit = 0;
                $(
                    let present = control.units >> unit & 1 == 1;
                    let $field = present.then(|| <$type>::from_bits(stream.take(<$type>::BITS)));
                    unit += 1;
                )*
                debug_assert_eq!(unit, UNITS.len());
                Self { control, $($field,)* padding: stream.rest() }
            }

            fn present(&self) -> u32 {
                let (mut units, mut unit) = (0, 0);
                $(units |= u32::from(self.$field.is_some()) << unit; unit += 1;)*
                debug_assert_eq!(unit, UNITS.len());
                units
            }

            fn append(&self, stream: &mut Packer) {
                $(if let Some(unit) = &self.$field {
                    stream.put(unit.to_bits(), <$type>::BITS);
                })*
            }

            /// Bits of a unit by its index in [`UNITS`].
            pub fn unit(&self, number: usize) -> Option<u128> {
                let bits = [$(self.$field.as_ref().map(<$type>::to_bits)),*];
                *bits.get(number)?
            }

            /// Sets a unit by its index in [`UNITS`]; other indices are ignored.
            pub fn set_unit(&mut self, number: usize, bits: u128) {
                let mut unit = 0;
                $(
                    if number == unit {
                        self.$field = Some(<$type>::from_bits(bits));
                    }
                    unit += 1;
                )*
                debug_assert_eq!(unit, UNITS.len());
            }
        }
    };
}

units! {
    /// Varying unit.
    varying: Varying, "varying";
    /// Sampler.
    sampler: Sampler, "sampler";
    /// Load of a uniform or temporary.
    load: Load, "load";
    /// Vec4 multiplier.
    vec_mul: VecMul, "vec_mul";
    /// Scalar multiplier.
    float_mul: FloatMul, "float_mul";
    /// Vec4 adder.
    vec_acc: VecAcc, "vec_acc";
    /// Scalar adder.
    float_acc: FloatAcc, "float_acc";
    /// Combine unit.
    combine: Combine, "combine";
    /// Store of a temporary, or tile buffer read.
    store: Store, "store";
    /// Branch or discard.
    branch: Branch, "branch";
    /// First constants.
    const0: Constant, "const0";
    /// Second constants.
    const1: Constant, "const1";
}

/// Why words are not an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// There are no words.
    Empty,
    /// The length in the control word differs from that of its units.
    Length {
        /// The length in the control word.
        says: u32,
        /// The length of its units.
        needs: u32,
    },
    /// The words end within the instruction.
    Truncated {
        /// Length of the instruction in words.
        needs: u32,
        /// Available words.
        has: u32,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "no instruction"),
            Self::Length { says, needs } => write!(f, "length {says}, but the units take {needs} words"),
            Self::Truncated { needs, has } => write!(f, "{needs} words long, but {has} are left"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// Instruction length in words for every set of units.
static LENGTHS: [u8; 1 << UNITS.len()] = {
    let mut lengths = [0; 1 << UNITS.len()];
    let mut units = 0;
    while units < lengths.len() {
        let (mut bits, mut unit) = (0, 0);
        while unit < UNITS.len() {
            bits += UNITS[unit].1 * (units as u32 >> unit & 1);
            unit += 1;
        }
        lengths[units] = 1 + bits.div_ceil(32) as u8;
        units += 1;
    }
    lengths
};

/// Length in words of an instruction with these units (one bit each).
#[inline]
pub fn words_of_units(units: u32) -> u32 {
    u32::from(LENGTHS[units as usize % LENGTHS.len()])
}

impl Instruction {
    /// Whether an adder reads the scalar multiplier's result.
    pub fn reads_product(&self) -> bool {
        let product = |op: AccOp| op.row().product;
        self.vec_acc.is_some_and(|unit| product(unit.op))
            || self.float_acc.is_some_and(|unit| unit.a_is_mul || product(unit.op))
    }

    /// Whether it depends on the other fragments of the quad: textures and derivatives.
    pub fn needs_quad(&self) -> bool {
        let quad = |op: AccOp| op.row().quad;
        self.sampler.is_some()
            || self.vec_acc.is_some_and(|unit| quad(unit.op))
            || self.float_acc.is_some_and(|unit| quad(unit.op))
    }

    /// Decodes the first instruction of `words`; its length is [`Instruction::words`].
    ///
    /// # Errors
    /// If the length contradicts the units, or the words end early. Everything else is a valid instruction.
    #[inline(always)]
    pub fn decode(words: &[u32]) -> Result<Self, DecodeError> {
        let first = words.first().ok_or(DecodeError::Empty)?;
        let control = Control::from_bits(u128::from(*first));
        let (says, needs) = (control.length, words_of_units(control.units));
        if says != needs {
            return Err(DecodeError::Length { says, needs });
        }
        let has = words.len() as u32;
        let body = words
            .get(1..needs as usize)
            .ok_or(DecodeError::Truncated { needs, has })?;
        Ok(Self::take(control, &mut Stream::new(body)))
    }

    /// Length of the instruction in words.
    pub fn words(&self) -> u32 {
        words_of_units(self.present())
    }

    /// The control word with updated length and units.
    fn control_word(&self) -> u32 {
        let units = self.present();
        let length = words_of_units(units);
        Control {
            length,
            units,
            ..self.control
        }
        .to_bits() as u32
    }

    /// Appends the instruction's words.
    pub fn encode(&self, words: &mut Vec<u32>) {
        words.push(self.control_word());
        let mut stream = Packer {
            words,
            bits: 0,
            filled: 0,
        };
        self.append(&mut stream);
        stream.finish(self.padding);
    }
}

/// Reads bits from the low end of words.
struct Stream {
    /// The words, zero-padded so that any field can be read.
    words: [u32; MAX_WORDS + 4],
    length: u32,
    at: u32,
}

impl Stream {
    #[inline]
    fn new(words: &[u32]) -> Self {
        let mut padded = [0; MAX_WORDS + 4];
        let length = words.len().min(MAX_WORDS);
        padded[..length].copy_from_slice(&words[..length]);
        Self {
            words: padded,
            length: length as u32,
            at: 0,
        }
    }

    #[inline(always)]
    fn take(&mut self, bits: u32) -> u128 {
        let (first, shift) = ((self.at / 32) as usize, self.at % 32);
        self.at += bits;
        let word = |at: usize| u64::from(self.words.get(first + at).copied().unwrap_or(0));
        let low = word(0) | word(1) << 32;
        let high = word(2) | word(3) << 32;
        // With a shift of 64 or more, the upper words do not contribute to the field.
        let merged = low >> shift | high.checked_shl(64 - shift).unwrap_or(0);
        if bits <= 64 {
            return u128::from(merged & (u64::MAX >> (64 - bits)));
        }
        u128::from(merged) | u128::from(high >> shift & ((1 << (bits - 64)) - 1)) << 64
    }

    /// The rest of the last word.
    fn rest(&self) -> u32 {
        let last = self.length.checked_sub(1).map_or(0, |last| self.words[last as usize]);
        if self.at.is_multiple_of(32) {
            0
        } else {
            last >> (self.at % 32)
        }
    }
}

/// Appends bits to words.
struct Packer<'a> {
    words: &'a mut Vec<u32>,
    bits: u128,
    filled: u32,
}

impl Packer<'_> {
    fn put(&mut self, bits: u128, count: u32) {
        self.bits |= bits << self.filled;
        self.filled += count;
        while self.filled >= 32 {
            self.words.push(self.bits as u32);
            self.bits >>= 32;
            self.filled -= 32;
        }
    }

    fn finish(self, padding: u32) {
        if self.filled > 0 {
            self.words.push(self.bits as u32 | padding << self.filled);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::every_bit_once;

    #[test]
    fn the_rows_are_every_bit_once() {
        every_bit_once::<Control>();
        every_bit_once::<Varying>();
        every_bit_once::<Sampler>();
        every_bit_once::<Load>();
        every_bit_once::<VecMul>();
        every_bit_once::<FloatMul>();
        every_bit_once::<VecAcc>();
        every_bit_once::<FloatAcc>();
        every_bit_once::<Combine>();
        every_bit_once::<Store>();
        every_bit_once::<Branch>();
        every_bit_once::<Constant>();
    }

    #[test]
    fn lengths_follow_from_the_units() {
        for units in 0..1 << UNITS.len() {
            let bits: u32 = UNITS
                .iter()
                .enumerate()
                .map(|(unit, row)| row.1 * (units >> unit & 1))
                .sum();
            assert_eq!(words_of_units(units), 1 + bits.div_ceil(32));
        }
        assert_eq!(words_of_units(u32::MAX) as usize, MAX_WORDS);
        assert_eq!(MAX_WORDS, 19);
    }

    #[test]
    fn every_bit_of_a_stream_survives() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..20_000 {
            let units = random.u32(..1 << UNITS.len());
            let length = words_of_units(units);
            let control = Control {
                length,
                units,
                ..Control::from_bits(u128::from(random.u32(..)))
            };
            let mut words = vec![control.to_bits() as u32];
            words.extend((1..length).map(|_| random.u32(..)));
            let mut again = Vec::new();
            Instruction::decode(&words).unwrap().encode(&mut again);
            assert_eq!(words, again);
        }
    }

    #[test]
    fn wrong_lengths_are_named() {
        assert_eq!(Instruction::decode(&[]), Err(DecodeError::Empty));
        assert_eq!(
            Instruction::decode(&[2]),
            Err(DecodeError::Length { says: 2, needs: 1 })
        );
        let words = [Control {
            length: 3,
            units: 1,
            ..Default::default()
        }
        .to_bits() as u32];
        assert_eq!(
            Instruction::decode(&words),
            Err(DecodeError::Truncated { needs: 3, has: 1 })
        );
    }
}
