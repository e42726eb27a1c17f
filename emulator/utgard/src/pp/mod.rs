//! The PP's (fragment processor's) instruction: a control word, then one field group for every unit it uses, packed
//! without gaps.
//!
//! The rows are those of facts/mali/pp.md, sections 2 and 5 to 14 (evidence: Mesa emits and decodes them, the lima
//! project's notes name them, recorded programs hold them). Nothing is lost: fields are kept as the bits are, and so
//! are the bits behind the last unit.

pub mod access;
pub mod flow;
pub mod ops;
mod parse;
mod print;
pub mod random;

pub use parse::{assemble, assemble_statements};
pub use print::{Options, disassemble};

use super::field::{Field, Fields, fields};
use std::fmt;

/// Words of the longest instruction: all units, 551 bits, and the control word.
pub const MAX_WORDS: usize = 19;

fields! {
    /// The first word of an instruction.
    pub struct Control, 32 bits {
        /// Words of the instruction, this one included.
        length: u32, 0, 5;
        /// Ends the program behind this instruction.
        stop: u32, 5, 1;
        /// The four fragments of a quad wait for each other; set with a sampler or a derivative.
        sync: u32, 6, 1;
        /// Which units follow, in the order of [`UNITS`].
        units: u32, 7, 12;
        /// Length of the next instruction in memory, a hint.
        next_length: u32, 19, 6;
        /// Whether to fetch ahead, a hint: set in all but the last instruction.
        prefetch: u32, 25, 1;
        /// Zero in every program seen.
        unknown: u32, 26, 6;
    }
}

fields! {
    /// The varying unit: interpolates an input, or moves a register to the sampler.
    pub struct Varying, 34 bits {
        /// What is loaded, see [`ops::VARYING`].
        kind: u32, 0, 4;
        /// Zero in every program seen.
        unknown4: u32, 4, 1;
        /// Unit of the index: 0 a float, 1 a vec2, 3 a vec4; in register kinds bit 1 is set for a normalisation.
        alignment: u32, 5, 2;
        /// Zero in every program seen.
        unknown7: u32, 7, 3;
        /// Register of the offset, 15 for none; in register kinds the source.
        register: u32, 10, 4;
        /// Negates a register source.
        negate: u32, 14, 1;
        /// Absolute value of a register source.
        absolute: u32, 15, 1;
        /// Component of the offset register; in register kinds the low bits of the swizzle.
        component: u32, 16, 2;
        /// Index in units of the alignment; in register kinds the high bits of the swizzle.
        index: u32, 18, 6;
        /// Register that is written, 15 for none.
        destination: u32, 24, 4;
        /// Components that are written.
        mask: u32, 28, 4;
        /// Zero in every program seen.
        unknown32: u32, 32, 2;
    }
}

fields! {
    /// The sampler: a texture look-up at the varying unit's result.
    pub struct Sampler, 62 bits {
        /// Scalar register of the level or bias.
        lod: u32, 0, 6;
        /// Scalar register that is added to the index.
        offset: u32, 6, 6;
        /// Zero in every program seen.
        unknown12: u32, 12, 5;
        /// The register is the level itself, not a bias.
        explicit_lod: u32, 17, 1;
        /// The register of the level counts.
        lod_enable: u32, 18, 1;
        /// Zero in every program seen.
        unknown19: u32, 19, 5;
        /// 0 for most textures, 31 for cube maps.
        kind: u32, 24, 5;
        /// The offset register counts.
        offset_enable: u32, 29, 1;
        /// Which texture descriptor.
        index: u32, 30, 12;
        /// [`Sampler::CONSTANT`] in every program seen.
        constant: u32, 42, 20;
    }
}

fields! {
    /// A load from the uniforms or from the fragment's temporaries.
    pub struct Load, 41 bits {
        /// 0 uniform, 3 temporary.
        source: u32, 0, 2;
        /// Zero in every program seen.
        unknown2: u32, 2, 8;
        /// Unit of the index: 0 a float, 1 a vec2, 2 a vec4.
        alignment: u32, 10, 2;
        /// Zero in every program seen.
        unknown12: u32, 12, 6;
        /// Scalar register that is added to the index.
        offset: u32, 18, 6;
        /// The offset register counts.
        offset_enable: u32, 24, 1;
        /// Index in units of the alignment, signed.
        index: u32, 25, 16;
    }
}

macro_rules! vector {
    ($(#[$meta:meta])* $name:ident, $bits:literal $(, $(#[$last_meta:meta])* $last:ident: $bit:literal)?) => {
        fields! {
            $(#[$meta])*
            pub struct $name, $bits bits {
                /// First operand's register.
                a: u32, 0, 4;
                /// First operand's swizzle, two bits a component.
                a_swizzle: u32, 4, 8;
                /// Absolute value of the first operand.
                a_absolute: u32, 12, 1;
                /// Negates the first operand, after its absolute value.
                a_negate: u32, 13, 1;
                /// Second operand's register.
                b: u32, 14, 4;
                /// Second operand's swizzle.
                b_swizzle: u32, 18, 8;
                /// Absolute value of the second operand.
                b_absolute: u32, 26, 1;
                /// Negates the second operand, after its absolute value.
                b_negate: u32, 27, 1;
                /// Register that is written.
                destination: u32, 28, 4;
                /// Components that are written.
                mask: u32, 32, 4;
                /// What is done to the result, see [`ops::MODIFIERS`].
                modifier: u32, 36, 2;
                /// Operation.
                op: u32, 38, 5;
                $($(#[$last_meta])* $last: u32, $bit, 1;)?
            }
        }
    };
}

macro_rules! scalar {
    ($(#[$meta:meta])* $name:ident, $bits:literal $(, $(#[$last_meta:meta])* $last:ident: $bit:literal)?) => {
        fields! {
            $(#[$meta])*
            pub struct $name, $bits bits {
                /// First operand's scalar register.
                a: u32, 0, 6;
                /// Absolute value of the first operand.
                a_absolute: u32, 6, 1;
                /// Negates the first operand, after its absolute value.
                a_negate: u32, 7, 1;
                /// Second operand's scalar register.
                b: u32, 8, 6;
                /// Absolute value of the second operand.
                b_absolute: u32, 14, 1;
                /// Negates the second operand, after its absolute value.
                b_negate: u32, 15, 1;
                /// Scalar register that is written.
                destination: u32, 16, 6;
                /// Whether it is.
                write: u32, 22, 1;
                /// What is done to the result, see [`ops::MODIFIERS`].
                modifier: u32, 23, 2;
                /// Operation.
                op: u32, 25, 5;
                $($(#[$last_meta])* $last: u32, $bit, 1;)?
            }
        }
    };
}

vector!(
    /// The vec4 multiplier.
    VecMul, 43
);

scalar!(
    /// The scalar multiplier.
    FloatMul, 30
);

vector!(
    /// The vec4 adder.
    VecAcc, 44,
    /// The first operand is the vec4 multiplier's result.
    a_is_mul: 43
);

scalar!(
    /// The scalar adder.
    FloatAcc, 31,
    /// The first operand is the scalar multiplier's result.
    a_is_mul: 30
);

fields! {
    /// The combine unit: scalar functions, and a scalar times a vector. The rows are those of a scalar by a scalar;
    /// with vectors the same bits are a swizzle, a mask and a register: see [`Combine::b_vector`].
    pub struct Combine, 30 bits {
        /// The result is a vector.
        vector: u32, 0, 1;
        /// There is a second operand.
        b_enable: u32, 1, 1;
        /// Operation.
        op: u32, 2, 4;
        /// Absolute value of the second operand.
        b_absolute: u32, 6, 1;
        /// Negates the second operand.
        b_negate: u32, 7, 1;
        /// Second operand's scalar register.
        b: u32, 8, 6;
        /// Absolute value of the first operand.
        a_absolute: u32, 14, 1;
        /// Negates the first operand.
        a_negate: u32, 15, 1;
        /// First operand's scalar register.
        a: u32, 16, 6;
        /// What is done to the result, see [`ops::MODIFIERS`].
        modifier: u32, 22, 2;
        /// Scalar register that is written.
        destination: u32, 24, 6;
    }
}

fields! {
    /// A store to the fragment's temporaries, or a read of the tile buffer.
    pub struct Store, 41 bits {
        /// 3 temporary or colour, 2 depth.
        target: u32, 0, 2;
        /// 0 for a store, 3 for a read of the tile buffer.
        read: u32, 2, 2;
        /// Scalar register that is stored; of a vector, and of a read's destination, the upper four bits count.
        source: u32, 4, 6;
        /// Unit of the index: 0 a float, 1 a vec2, 2 a vec4.
        alignment: u32, 10, 2;
        /// Zero in every program seen.
        unknown12: u32, 12, 6;
        /// Scalar register that is added to the index.
        offset: u32, 18, 6;
        /// The offset register counts.
        offset_enable: u32, 24, 1;
        /// Index in units of the alignment, signed.
        index: u32, 25, 16;
    }
}

fields! {
    /// A branch, or the end of the fragment.
    pub struct Branch, 73 bits {
        /// 0 branch, 3 discard.
        kind: u32, 0, 4;
        /// Second operand's scalar register.
        b: u32, 4, 6;
        /// First operand's scalar register.
        a: u32, 10, 6;
        /// Taken when the first operand is greater.
        greater: u32, 16, 1;
        /// Taken when the operands are equal.
        equal: u32, 17, 1;
        /// Taken when the first operand is less.
        less: u32, 18, 1;
        /// Zero in branches; 15 in known discards.
        unknown19: u32, 19, 22;
        /// Words from this instruction's control word to the target's, signed.
        target: u32, 41, 27;
        /// Length of the target instruction in words, a hint.
        target_length: u32, 68, 5;
    }
}

fields! {
    /// Four fp16 constants.
    pub struct Constant, 64 bits {
        /// First component.
        x: u16, 0, 16;
        /// Second component.
        y: u16, 16, 16;
        /// Third component.
        z: u16, 32, 16;
        /// Fourth component.
        w: u16, 48, 16;
    }
}

impl Constant {
    /// The four halves.
    pub fn halves(&self) -> [u16; 4] {
        [self.x, self.y, self.z, self.w]
    }
}

impl Sampler {
    /// What the sampler's upper bits are in every program seen; meaning unknown.
    pub const CONSTANT: u32 = 0x39001;
}

impl Varying {
    /// The swizzle of a register kind.
    pub fn swizzle(&self) -> u32 {
        self.component | self.index << 2
    }
}

/// Sign-extends the low `bits` of a value.
pub(crate) fn signed(value: u32, bits: u32) -> i32 {
    ((value << (32 - bits)) as i32) >> (32 - bits)
}

impl Load {
    /// The index as a number.
    pub fn signed_index(&self) -> i32 {
        signed(self.index, 16)
    }
}

impl Store {
    /// The index as a number.
    pub fn signed_index(&self) -> i32 {
        signed(self.index, 16)
    }
}

impl Branch {
    /// The three conditions as bits: greater, equal, less.
    pub fn condition(&self) -> u32 {
        self.greater | self.equal << 1 | self.less << 2
    }

    /// Never goes on behind itself.
    pub fn always(&self) -> bool {
        self.condition() == 7
    }

    /// The target as a number of words.
    pub fn signed_target(&self) -> i32 {
        signed(self.target, 27)
    }
}

impl Combine {
    /// The second operand as a vector: register and swizzle.
    pub fn b_vector(&self) -> (u32, u32) {
        let swizzle = self.op | self.b_absolute << 4 | self.b_negate << 5 | (self.b & 3) << 6;
        (self.b >> 2, swizzle)
    }

    /// Sets the second operand to a vector.
    pub fn set_b_vector(&mut self, register: u32, swizzle: u32) {
        (self.op, self.b_absolute, self.b_negate) = (swizzle & 15, swizzle >> 4 & 1, swizzle >> 5 & 1);
        self.b = register << 2 | swizzle >> 6 & 3;
    }

    /// The destination as a vector: register and mask.
    pub fn destination_vector(&self) -> (u32, u32) {
        (self.destination >> 2, self.modifier | (self.destination & 3) << 2)
    }

    /// Sets the destination to a vector.
    pub fn set_destination_vector(&mut self, register: u32, mask: u32) {
        (self.modifier, self.destination) = (mask & 3, register << 2 | mask >> 2 & 3);
    }
}

macro_rules! units {
    ($($(#[$meta:meta])* $field:ident: $type:ty, $text:literal;)*) => {
        /// One instruction.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct Instruction {
            /// The first word; its length and units are those of the fields below when the instruction is encoded.
            pub control: Control,
            $($(#[$meta])* pub $field: Option<$type>,)*
            /// Bits behind the last unit up to the word's end; zero in every program seen.
            pub padding: u32,
        }

        /// The units: name in texts, bits, fields; in the order of their bits in the control word and of their fields.
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

            /// Bits of a unit by its number in [`UNITS`].
            pub fn unit(&self, number: usize) -> Option<u128> {
                let bits = [$(self.$field.as_ref().map(<$type>::to_bits)),*];
                *bits.get(number)?
            }

            /// Sets a unit by its number in [`UNITS`]; other numbers change nothing.
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

/// Why words are no instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// There are no words.
    Empty,
    /// The length in the control word is not that of the units it names.
    Length {
        /// What the control word says.
        says: u32,
        /// What its units take.
        needs: u32,
    },
    /// The words end inside the instruction.
    Truncated {
        /// Words the instruction has.
        needs: u32,
        /// Words there are.
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

/// Words of an instruction for every set of units.
static LENGTHS: [u8; 1 << 12] = {
    const BITS: [u32; 12] = [34, 62, 41, 43, 30, 44, 31, 30, 41, 73, 64, 64];
    let mut lengths = [0; 1 << 12];
    let mut units = 0;
    while units < lengths.len() {
        let (mut bits, mut unit) = (0, 0);
        while unit < BITS.len() {
            bits += BITS[unit] * (units as u32 >> unit & 1);
            unit += 1;
        }
        lengths[units] = 1 + bits.div_ceil(32) as u8;
        units += 1;
    }
    lengths
};

/// Words that an instruction with these units (a bit each) takes.
#[inline]
pub fn words_of_units(units: u32) -> u32 {
    u32::from(LENGTHS[(units & 0xfff) as usize])
}

impl Instruction {
    /// Takes the first instruction of `words` apart; its length is in [`Instruction::words`].
    ///
    /// # Errors
    /// When the length disagrees with the units, or the words end early. Everything else is an instruction.
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

    /// Words of the instruction.
    pub fn words(&self) -> u32 {
        words_of_units(self.present())
    }

    /// The control word with length and units as they are.
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

/// Takes bits from the low end of words.
struct Stream {
    /// The words, and zeros behind them so that any field can be read.
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
        // A shift by 64 and more is none: then nothing of the upper words belongs to the field.
        let merged = low >> shift | high.checked_shl(64 - shift).unwrap_or(0);
        if bits <= 64 {
            return u128::from(merged & (u64::MAX >> (64 - bits)));
        }
        u128::from(merged) | u128::from(high >> shift & ((1 << (bits - 64)) - 1)) << 64
    }

    /// What is left of the last word.
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
        assert_eq!(words_of_units(0xfff) as usize, MAX_WORDS);
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
