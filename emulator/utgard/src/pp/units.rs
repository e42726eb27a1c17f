//! The fields of the control word and of each unit, and their combined meaning.

use super::ops::{
    AccOp, Alignment, BranchKind, Condition, LoadSource, Modifier, MulOp, SamplerKind, ScalarFunction, StoreMode,
    StoreTarget, VaryingKind, VectorFunction,
};
use super::register::{Register, Scalar, ScalarSource, ScalarUnit, VectorSource, VectorUnit};
use crate::field::{Code, fields};
use crate::vector::{Component, Swizzle};

fields! {
    /// The first word of an instruction.
    pub struct Control, 32 bits {
        /// Words of the instruction, this one included.
        length: u32, 0, 5;
        /// Ends the program after this instruction.
        stop: bool, 5, 1;
        /// Synchronises the four fragments of a quad; set with a sampler or a derivative.
        sync: bool, 6, 1;
        /// The units that follow, in the order of their bits.
        units: u32, 7, 12;
        /// Length of the next instruction in memory, a hint.
        next_length: u32, 19, 6;
        /// Prefetch hint: set in all but the last instruction.
        prefetch: bool, 25, 1;
        /// Zero in every program seen.
        unknown: u32, 26, 6;
    }
}

fields! {
    /// The varying unit: interpolates an input, or moves a register to the sampler.
    pub struct Varying, 34 bits {
        /// Kind of the load.
        kind: VaryingKind, 0, 4;
        /// Zero in every program seen.
        unknown4: u32, 4, 1;
        /// Unit of the index; in register kinds [`Alignment::Vec4`] goes with a normalisation.
        alignment: Alignment, 5, 2;
        /// Zero in every program seen.
        unknown7: u32, 7, 3;
        /// Register of the offset, [`Register::NONE`] for none; in register kinds the source.
        register: Register, 10, 4;
        /// Negates a register source.
        negate: bool, 14, 1;
        /// Absolute value of a register source.
        absolute: bool, 15, 1;
        /// Component of the offset register; in register kinds the low bits of the swizzle.
        component: u32, 16, 2;
        /// Destination register, [`Register::NONE`] for none.
        index: u32, 18, 6;
        /// Register that is written, [`Register::NONE`] for none.
        destination: Register, 24, 4;
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
        lod: Scalar, 0, 6;
        /// Scalar register that is added to the index.
        offset: Scalar, 6, 6;
        /// Zero in every program seen.
        unknown12: u32, 12, 5;
        /// Whether the register is the level rather than a bias.
        explicit_lod: bool, 17, 1;
        /// Whether the level register is used.
        lod_enable: bool, 18, 1;
        /// Zero in every program seen.
        unknown19: u32, 19, 5;
        /// Shape of the texture.
        kind: SamplerKind, 24, 5;
        /// Whether the offset register is used.
        offset_enable: bool, 29, 1;
        /// Index of the texture descriptor.
        index: u32, 30, 12;
        /// [`Sampler::CONSTANT`] in every program seen.
        constant: u32, 42, 20;
    }
}

fields! {
    /// A load from the uniforms or from the fragment's temporaries.
    pub struct Load, 41 bits {
        /// Source of the load.
        source: LoadSource, 0, 2;
        /// Zero in every program seen.
        unknown2: u32, 2, 8;
        /// Unit of the index.
        alignment: Alignment, 10, 2;
        /// Zero in every program seen.
        unknown12: u32, 12, 6;
        /// Scalar register that is added to the index.
        offset: Scalar, 18, 6;
        /// Whether the offset register is used.
        offset_enable: bool, 24, 1;
        /// Index in units of the alignment, signed.
        index: u32, 25, 16;
    }
}

macro_rules! vector {
    ($(#[$meta:meta])* $name:ident of $op:ty, $bits:literal $(, $(#[$last_meta:meta])* $last:ident: $bit:literal)?) => {
        fields! {
            $(#[$meta])*
            pub struct $name, $bits bits {
                /// First operand's register.
                a: Register, 0, 4;
                /// First operand's swizzle, two bits a component.
                a_swizzle: Swizzle, 4, 8;
                /// Absolute value of the first operand.
                a_absolute: bool, 12, 1;
                /// Negates the first operand, after its absolute value.
                a_negate: bool, 13, 1;
                /// Second operand's register.
                b: Register, 14, 4;
                /// Second operand's swizzle.
                b_swizzle: Swizzle, 18, 8;
                /// Absolute value of the second operand.
                b_absolute: bool, 26, 1;
                /// Negates the second operand, after its absolute value.
                b_negate: bool, 27, 1;
                /// Destination register.
                destination: Register, 28, 4;
                /// Write mask.
                mask: u32, 32, 4;
                /// Modifier of the result.
                modifier: Modifier, 36, 2;
                /// Operation.
                op: $op, 38, 5;
                $($(#[$last_meta])* $last: bool, $bit, 1;)?
            }
        }

        impl $name {
            /// The unit with an operation.
            pub fn new(op: $op, unit: VectorUnit) -> Self {
                Self {
                    a: unit.a.register,
                    a_swizzle: unit.a.swizzle,
                    a_absolute: unit.a.absolute,
                    a_negate: unit.a.negate,
                    b: unit.b.register,
                    b_swizzle: unit.b.swizzle,
                    b_absolute: unit.b.absolute,
                    b_negate: unit.b.negate,
                    destination: unit.destination,
                    mask: unit.mask,
                    modifier: unit.modifier,
                    op,
                    $($last: false,)?
                }
            }

            /// All fields except the operation.
            #[inline]
            pub fn unit(&self) -> VectorUnit {
                VectorUnit {
                    a: VectorSource {
                        register: self.a,
                        swizzle: self.a_swizzle,
                        absolute: self.a_absolute,
                        negate: self.a_negate,
                    },
                    b: VectorSource {
                        register: self.b,
                        swizzle: self.b_swizzle,
                        absolute: self.b_absolute,
                        negate: self.b_negate,
                    },
                    destination: self.destination,
                    mask: self.mask,
                    modifier: self.modifier,
                }
            }
        }
    };
}

macro_rules! scalar {
    ($(#[$meta:meta])* $name:ident of $op:ty, $bits:literal $(, $(#[$last_meta:meta])* $last:ident: $bit:literal)?) => {
        fields! {
            $(#[$meta])*
            pub struct $name, $bits bits {
                /// First operand's scalar register.
                a: Scalar, 0, 6;
                /// Absolute value of the first operand.
                a_absolute: bool, 6, 1;
                /// Negates the first operand, after its absolute value.
                a_negate: bool, 7, 1;
                /// Second operand's scalar register.
                b: Scalar, 8, 6;
                /// Absolute value of the second operand.
                b_absolute: bool, 14, 1;
                /// Negates the second operand, after its absolute value.
                b_negate: bool, 15, 1;
                /// Destination scalar register.
                destination: Scalar, 16, 6;
                /// Whether it is written.
                write: bool, 22, 1;
                /// Modifier of the result.
                modifier: Modifier, 23, 2;
                /// Operation.
                op: $op, 25, 5;
                $($(#[$last_meta])* $last: bool, $bit, 1;)?
            }
        }

        impl $name {
            /// The unit with an operation.
            pub fn new(op: $op, unit: ScalarUnit) -> Self {
                Self {
                    a: unit.a.scalar,
                    a_absolute: unit.a.absolute,
                    a_negate: unit.a.negate,
                    b: unit.b.scalar,
                    b_absolute: unit.b.absolute,
                    b_negate: unit.b.negate,
                    destination: unit.destination,
                    write: unit.write,
                    modifier: unit.modifier,
                    op,
                    $($last: false,)?
                }
            }

            /// All fields except the operation.
            #[inline]
            pub fn unit(&self) -> ScalarUnit {
                ScalarUnit {
                    a: ScalarSource {
                        scalar: self.a,
                        absolute: self.a_absolute,
                        negate: self.a_negate,
                    },
                    b: ScalarSource {
                        scalar: self.b,
                        absolute: self.b_absolute,
                        negate: self.b_negate,
                    },
                    destination: self.destination,
                    write: self.write,
                    modifier: self.modifier,
                }
            }
        }
    };
}

vector!(
    /// The vec4 multiplier.
    VecMul of MulOp, 43
);

scalar!(
    /// The scalar multiplier.
    FloatMul of MulOp, 30
);

vector!(
    /// The vec4 adder.
    VecAcc of AccOp, 44,
    /// The first operand is the vec4 multiplier's result.
    a_is_mul: 43
);

scalar!(
    /// The scalar adder.
    FloatAcc of AccOp, 31,
    /// The first operand is the scalar multiplier's result.
    a_is_mul: 30
);

fields! {
    /// The combine unit: scalar functions, and a scalar times a vector. The rows are those of a scalar by a scalar;
    /// with vectors the same bits are a swizzle, a mask and a register: see [`Combine::form`].
    pub struct Combine, 30 bits {
        /// Whether the result is a vector.
        vector: bool, 0, 1;
        /// Whether there is a second operand.
        b_enable: bool, 1, 1;
        /// Operation, from a table in [`Combine::form`].
        op: u32, 2, 4;
        /// Absolute value of the second operand.
        b_absolute: bool, 6, 1;
        /// Negates the second operand.
        b_negate: bool, 7, 1;
        /// Second operand's scalar register.
        b: Scalar, 8, 6;
        /// Absolute value of the first operand.
        a_absolute: bool, 14, 1;
        /// Negates the first operand.
        a_negate: bool, 15, 1;
        /// First operand's scalar register.
        a: Scalar, 16, 6;
        /// Modifier of the result.
        modifier: Modifier, 22, 2;
        /// Destination scalar register.
        destination: Scalar, 24, 6;
    }
}

fields! {
    /// A store to the fragment's temporaries, or a read of the tile buffer.
    pub struct Store, 41 bits {
        /// Target of the store or read.
        target: StoreTarget, 0, 2;
        /// Store, or read of the tile buffer.
        read: StoreMode, 2, 2;
        /// Scalar register to store; for vectors and a read's destination, only the upper four bits are used.
        source: Scalar, 4, 6;
        /// Unit of the index.
        alignment: Alignment, 10, 2;
        /// Zero in every program seen.
        unknown12: u32, 12, 6;
        /// Scalar register that is added to the index.
        offset: Scalar, 18, 6;
        /// Whether the offset register is used.
        offset_enable: bool, 24, 1;
        /// Index in units of the alignment, signed.
        index: u32, 25, 16;
    }
}

fields! {
    /// A branch, or the end of the fragment.
    pub struct Branch, 73 bits {
        /// What it does.
        kind: BranchKind, 0, 4;
        /// Second operand's scalar register.
        b: Scalar, 4, 6;
        /// First operand's scalar register.
        a: Scalar, 10, 6;
        /// When it is taken.
        condition: Condition, 16, 3;
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

/// Components of all.
pub const ALL: u32 = 15;

impl Varying {
    /// The swizzle of a register kind.
    pub fn swizzle(&self) -> Swizzle {
        Swizzle((self.component | self.index << 2) as u8)
    }

    /// The scalar that is added to the index of an input.
    pub fn offset(&self) -> Option<Scalar> {
        (self.register != Register::NONE).then_some(Scalar((self.register.code() << 2 | self.component) as u8))
    }

    /// The register that is written.
    pub fn written(&self) -> Option<Register> {
        (self.destination != Register::NONE).then_some(self.destination)
    }
}

/// How the sampler chooses a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelOfDetail {
    /// By the distance between the coordinates of neighbours.
    Implicit,
    /// By that, and a scalar register added to it.
    Bias(Scalar),
    /// A scalar register.
    Explicit(Scalar),
}

impl Sampler {
    /// How the level is chosen.
    pub fn level(&self) -> LevelOfDetail {
        match (self.lod_enable, self.explicit_lod) {
            (false, _) => LevelOfDetail::Implicit,
            (true, false) => LevelOfDetail::Bias(self.lod),
            (true, true) => LevelOfDetail::Explicit(self.lod),
        }
    }

    /// The scalar that is added to the texture's number.
    pub fn offset(&self) -> Option<Scalar> {
        self.offset_enable.then_some(self.offset)
    }

    /// The texture is a cube map.
    pub fn is_cube(&self) -> bool {
        self.kind == SamplerKind::Cube
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

    /// The scalar that is added to the index.
    pub fn offset(&self) -> Option<Scalar> {
        self.offset_enable.then_some(self.offset)
    }
}

impl Store {
    /// The index as a number.
    pub fn signed_index(&self) -> i32 {
        signed(self.index, 16)
    }

    /// The scalar that is added to the index.
    pub fn offset(&self) -> Option<Scalar> {
        self.offset_enable.then_some(self.offset)
    }

    /// The scalar that is stored, or the first of those that are.
    pub fn first(&self) -> Scalar {
        if self.alignment.is_vector() {
            self.source.register().component(Component::X)
        } else {
            self.source
        }
    }

    /// It reads the tile buffer.
    pub fn reads_tile(&self) -> bool {
        self.read == StoreMode::ReadTile
    }
}

impl Branch {
    /// The one that ends the fragment without output, as known programs have it.
    pub fn discard() -> Self {
        Self {
            kind: BranchKind::Discard,
            condition: Condition::Always,
            unknown19: 15,
            ..Self::default()
        }
    }

    /// It ends the fragment.
    pub fn is_discard(&self) -> bool {
        self.kind == BranchKind::Discard
    }

    /// Never goes on behind itself.
    pub fn always(&self) -> bool {
        self.condition == Condition::Always
    }

    /// It may go to its target.
    pub fn may_go(&self) -> bool {
        self.kind == BranchKind::Branch && self.condition != Condition::Never
    }

    /// The target as a number of words.
    pub fn signed_target(&self) -> i32 {
        signed(self.target, 27)
    }
}

/// What the combine unit computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A function of a scalar.
    Scalar(ScalarFunction),
    /// The last part of an arc tangent, of a vector.
    AtanPart2(VectorSource),
    /// A vector of scalars.
    Vector(VectorFunction),
    /// A scalar times a vector.
    Scale(VectorSource),
}

impl Combine {
    /// What it computes: the same bits are a function's number or a vector's swizzle.
    pub fn form(&self) -> Form {
        match (self.vector, self.b_enable) {
            (false, false) => Form::Scalar(ScalarFunction::from_code(self.op)),
            (false, true) => Form::AtanPart2(self.b_vector()),
            (true, false) => Form::Vector(VectorFunction::from_code(self.op)),
            (true, true) => Form::Scale(self.b_vector()),
        }
    }

    /// Sets what it computes.
    pub fn set_form(&mut self, form: Form) {
        (self.vector, self.b_enable) = match form {
            Form::Scalar(_) => (false, false),
            Form::AtanPart2(_) => (false, true),
            Form::Vector(_) => (true, false),
            Form::Scale(_) => (true, true),
        };
        match form {
            Form::Scalar(function) => self.op = function.code(),
            Form::Vector(function) => self.op = function.code(),
            Form::AtanPart2(vector) | Form::Scale(vector) => self.set_b_vector(vector),
        }
    }

    /// The first operand.
    pub fn a_source(&self) -> ScalarSource {
        ScalarSource {
            scalar: self.a,
            absolute: self.a_absolute,
            negate: self.a_negate,
        }
    }

    /// The second operand as a scalar.
    pub fn b_source(&self) -> ScalarSource {
        ScalarSource {
            scalar: self.b,
            absolute: self.b_absolute,
            negate: self.b_negate,
        }
    }

    /// The second operand as a vector.
    fn b_vector(&self) -> VectorSource {
        let low = self.op | self.b_absolute.code() << 4 | self.b_negate.code() << 5;
        VectorSource {
            register: self.b.register(),
            swizzle: Swizzle((low | (self.b.code() & 3) << 6) as u8),
            ..VectorSource::default()
        }
    }

    fn set_b_vector(&mut self, vector: VectorSource) {
        let swizzle = vector.swizzle.code();
        (self.op, self.b_absolute, self.b_negate) = (swizzle & 15, swizzle & 16 != 0, swizzle & 32 != 0);
        self.b = Scalar((vector.register.code() << 2 | swizzle >> 6) as u8);
    }

    /// The destination as a vector: register and mask.
    pub fn destination_vector(&self) -> (Register, u32) {
        let mask = self.modifier.code() | (self.destination.code() & 3) << 2;
        (self.destination.register(), mask)
    }

    /// Sets the destination to a vector.
    pub fn set_destination_vector(&mut self, register: Register, mask: u32) {
        self.modifier = Modifier::from_code(mask & 3);
        self.destination = Scalar((register.code() << 2 | mask >> 2 & 3) as u8);
    }
}
