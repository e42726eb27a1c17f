//! The GP's (vertex processor's) instruction: 128 bits, every one of them in a field.
//!
//! The rows are those of docs/spec/mali/gp.md, section 2 (evidence: Mesa emits and decodes them, the lima project's
//! notes name them, recorded programs contain them). Decoding is lossless: fields keep their bits, known or not.

pub mod flow;
pub mod ops;
mod parse;
mod print;
pub mod random;
pub mod source;

pub use crate::vector::Component;
pub use ops::{AccOp, ComplexOp, MulOp, PassOp};
pub use parse::{assemble, assemble_statements};
pub use print::{Options, disassemble, rows};
pub use source::{Age, LoadOffset, Operand, Source, Stored, UNITS, Unit};

use super::field::{Fields, fields};
use ops::Takes;

/// Words per instruction; word 0 holds bits 0 to 31.
pub const WORDS: usize = 4;

fields! {
    /// One instruction, field by field.
    pub struct Instruction, 128 bits {
        /// Source of mul0's first operand.
        mul0_a: Source, 0, 5;
        /// Source of mul0's second operand; [`Source::IDENTITY`] means 1.0.
        mul0_b: Source, 5, 5;
        /// Source of mul1's first operand.
        mul1_a: Source, 10, 5;
        /// Source of mul1's second operand; [`Source::IDENTITY`] means 1.0.
        mul1_b: Source, 15, 5;
        /// Negates mul0's result.
        mul0_negate: bool, 20, 1;
        /// Negates mul1's result.
        mul1_negate: bool, 21, 1;
        /// Source of acc0's first operand.
        acc0_a: Source, 22, 5;
        /// Source of acc0's second operand; [`Source::IDENTITY`] means 0.0.
        acc0_b: Source, 27, 5;
        /// Source of acc1's first operand.
        acc1_a: Source, 32, 5;
        /// Source of acc1's second operand; [`Source::IDENTITY`] means 0.0.
        acc1_b: Source, 37, 5;
        /// Negates acc0's first operand.
        acc0_a_negate: bool, 42, 1;
        /// Negates acc0's second operand.
        acc0_b_negate: bool, 43, 1;
        /// Negates acc1's first operand.
        acc1_a_negate: bool, 44, 1;
        /// Negates acc1's second operand.
        acc1_b_negate: bool, 45, 1;
        /// Vec4 of the uniform and temporary memory to load.
        load_address: u16, 46, 9;
        /// Offset added to the load address.
        load_offset: LoadOffset, 55, 3;
        /// Index of the first register port's load.
        register0_address: u16, 58, 4;
        /// Whether the first register port reads attributes.
        register0_is_attribute: bool, 62, 1;
        /// Index of the second register port's load.
        register1_address: u16, 63, 4;
        /// Stores x and y to the temporary at address register 0.
        store0_temporary: bool, 67, 1;
        /// Stores z and w to the temporary at address register 0.
        store1_temporary: bool, 68, 1;
        /// Branch if the pass unit's result is not zero.
        branch: bool, 69, 1;
        /// Whether the branch target is below 256 (the target's ninth bit, inverted).
        branch_target_low: bool, 70, 1;
        /// Unit whose result is stored in x.
        store0_x: Stored, 71, 3;
        /// Unit whose result is stored in y.
        store0_y: Stored, 74, 3;
        /// Unit whose result is stored in z.
        store1_z: Stored, 77, 3;
        /// Unit whose result is stored in w.
        store1_w: Stored, 80, 3;
        /// Operation of acc0 and acc1.
        acc_op: AccOp, 83, 3;
        /// Operation of the complex unit.
        complex_op: ComplexOp, 86, 4;
        /// Destination register or varying of x and y.
        store0_address: u16, 90, 4;
        /// Whether x and y go to a varying.
        store0_varying: bool, 94, 1;
        /// Destination register or varying of z and w.
        store1_address: u16, 95, 4;
        /// Whether z and w go to a varying.
        store1_varying: bool, 99, 1;
        /// Operation of mul0 and mul1.
        mul_op: MulOp, 100, 3;
        /// Operation of the pass unit.
        pass_op: PassOp, 103, 3;
        /// Source of the complex unit.
        complex_source: Source, 106, 5;
        /// Source of the pass unit.
        pass_source: Source, 111, 5;
        /// 0 in most instructions, [`flags::TEMPORARY`] with a store to a temporary, [`flags::BRANCH`] with a branch; meaning
        /// unknown.
        flags: u16, 116, 4;
        /// Low eight bits of the branch target, an instruction index.
        branch_target: u16, 120, 8;
    }
}

/// Values of the instruction's `flags` in known programs.
pub mod flags {
    /// With a store to a temporary.
    pub const TEMPORARY: u16 = 12;
    /// With a branch.
    pub const BRANCH: u16 = 13;
}

/// Destination of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The temporary at address register 0.
    Temporary,
    /// An output.
    Varying(u16),
    /// A register.
    Register(u16),
}

impl Instruction {
    /// Decodes four words; every pattern is an instruction.
    #[inline]
    pub fn decode(words: [u32; WORDS]) -> Self {
        Self::from_bits(words.iter().rev().fold(0, |bits, word| bits << 32 | u128::from(*word)))
    }

    /// Encodes the instruction.
    pub fn encode(&self) -> [u32; WORDS] {
        let bits = self.to_bits();
        std::array::from_fn(|word| (bits >> (32 * word)) as u32)
    }

    /// The no-op as compilers write it.
    pub const NOP_WORDS: [u32; WORDS] = [0xad4a_d6b5, 0x0380_02b5, 0x0007_ff80, 0x000a_d500];

    /// The decoded no-op.
    pub fn nop() -> Self {
        Self::decode(Self::NOP_WORDS)
    }

    /// For each component, the stored value and its destination.
    pub fn stores(&self) -> [(Stored, Target); 4] {
        let target = |temporary: bool, varying: bool, address: u16| match (temporary, varying) {
            (true, _) => Target::Temporary,
            (_, true) => Target::Varying(address),
            _ => Target::Register(address),
        };
        let first = target(self.store0_temporary, self.store0_varying, self.store0_address);
        let second = target(self.store1_temporary, self.store1_varying, self.store1_address);
        [
            (self.store0_x, first),
            (self.store0_y, first),
            (self.store1_z, second),
            (self.store1_w, second),
        ]
    }

    /// The operations of the adders, both by [`Instruction::acc_op`].
    pub fn sums(&self) -> [Option<Sum>; 2] {
        let sum = |a: Source, b: Source, a_negate, b_negate| {
            a.is_used().then(|| Sum {
                a,
                b: b.into(),
                a_negate,
                b_negate,
            })
        };
        [
            sum(self.acc0_a, self.acc0_b, self.acc0_a_negate, self.acc0_b_negate),
            sum(self.acc1_a, self.acc1_b, self.acc1_a_negate, self.acc1_b_negate),
        ]
    }

    /// The products of the multipliers that multiply.
    pub fn products(&self) -> [Option<Product>; 2] {
        let product =
            |a: Source, b: Source, negate| (a.is_used() && b.is_used()).then(|| Product { a, b: b.into(), negate });
        [
            product(self.mul0_a, self.mul0_b, self.mul0_negate),
            product(self.mul1_a, self.mul1_b, self.mul1_negate),
        ]
    }

    /// Whether each unit of [`UNITS`] is active.
    pub fn busy(&self) -> [bool; 6] {
        let [mul0, mul1] = self.products().map(|product| product.is_some());
        [
            self.acc0_a.is_used(),
            self.acc1_a.is_used(),
            mul0,
            mul1 && self.mul_op.row().takes != Takes::Both,
            self.complex_source.is_used(),
            self.pass_source.is_used(),
        ]
    }

    /// Whether a unit is active.
    pub fn is_busy(&self, unit: Unit) -> bool {
        self.busy()[unit.index()]
    }

    /// Whether it writes address registers.
    pub fn writes_addresses(&self) -> bool {
        self.complex_source.is_used() && self.complex_op.row().addresses
    }

    /// Whether it stores temporaries.
    pub fn stores_temporaries(&self) -> bool {
        self.store0_temporary || self.store1_temporary
    }

    /// Sources that the active units read, without constants.
    pub fn sources(&self) -> Vec<Source> {
        let [_, _, mul0, mul1, complex, pass] = self.busy();
        let mut sources = Vec::new();
        for sum in self.sums().into_iter().flatten() {
            sources.push(sum.a);
            if self.acc_op.operands() == 2 {
                sources.extend(sum.b.source());
            }
        }
        let all = [self.mul0_a, self.mul0_b, self.mul1_a, self.mul1_b];
        let [first, second] = self.products().map(|product| {
            product
                .into_iter()
                .flat_map(|product| [Some(product.a), product.b.source()])
        });
        match self.mul_op {
            // In these, the identity's number is the complex unit's result.
            MulOp::Complex1 => sources.extend(all.into_iter().filter(|_| mul0)),
            MulOp::Select => sources.extend(all.into_iter().take(3).filter(|_| mul0)),
            MulOp::Complex2 => {
                sources.extend(all.into_iter().take(2).filter(|_| mul0));
                sources.extend(second.flatten());
            }
            MulOp::Mul | MulOp::Undocumented(_) => {
                sources.extend(first.flatten());
                sources.extend(second.flatten().filter(|_| mul1));
            }
        }
        sources.extend(complex.then_some(self.complex_source));
        if pass {
            sources.push(self.pass_source);
            if self.pass_op == PassOp::Clamp {
                sources.extend(Source::LIMITS);
            }
        }
        sources
    }

    /// Sets the branch target, 0 to 511.
    pub fn set_target(&mut self, target: u16) {
        (self.branch_target, self.branch_target_low) = (target & 0xff, target < 256);
    }

    /// The branch target.
    pub fn target(&self) -> u16 {
        self.branch_target + if self.branch_target_low { 0 } else { 256 }
    }
}

/// An adder's operation; negation is applied to the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// First operand.
    pub a: Source,
    /// Second operand; ignored by unary operations.
    pub b: Operand,
    /// Whether the first operand is negated.
    pub a_negate: bool,
    /// Whether the second operand is negated.
    pub b_negate: bool,
}

/// A product of a multiplier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// First operand.
    pub a: Source,
    /// Second operand; a product with one copies the bits.
    pub b: Operand,
    /// Whether the result is negated.
    pub negate: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_survives() {
        crate::field::every_bit_once::<Instruction>();
        let mut random = 0x2545_f491_4f6c_dd1du64;
        for _ in 0..100_000 {
            let words = std::array::from_fn(|_| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                random as u32
            });
            assert_eq!(Instruction::decode(words).encode(), words);
        }
    }

    #[test]
    fn the_nop_is_idle_everywhere() {
        let nop = Instruction::decode(Instruction::NOP_WORDS);
        let sources = [
            nop.mul0_a, nop.mul0_b, nop.mul1_a, nop.mul1_b, nop.acc0_a, nop.acc0_b, nop.acc1_a, nop.acc1_b,
        ];
        assert_eq!(sources, [Source::Idle; 8]);
        assert_eq!([nop.complex_source, nop.pass_source], [Source::Idle; 2]);
        assert_eq!((nop.load_offset, nop.pass_op), (LoadOffset::Nothing, PassOp::Mov));
        assert!(nop.stores().iter().all(|(stored, _)| *stored == Stored::Nothing));
        assert_eq!(
            (nop.mul_op, nop.acc_op, nop.complex_op),
            (MulOp::Mul, AccOp::Add, ComplexOp::IDLE)
        );
        assert_eq!((nop.branch, nop.flags), (false, 0));
    }

    #[test]
    fn targets_have_nine_bits() {
        let near = Instruction {
            branch_target: 5,
            branch_target_low: true,
            ..Default::default()
        };
        let far = Instruction {
            branch_target_low: false,
            ..near
        };
        assert_eq!((near.target(), far.target()), (5, 261));
    }
}
