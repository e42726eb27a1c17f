//! The GP's (vertex processor's) instruction: 128 bits, every one of them in a field.
//!
//! The rows are those of facts/mali/gp.md, section 2 (evidence: Mesa emits and decodes them, the lima project's notes
//! name them, recorded programs hold them). Nothing is lost: fields are kept as the bits are, whether or not what they
//! say is known.

pub mod flow;
pub mod ops;
mod parse;
mod print;
pub mod random;

pub use parse::{assemble, assemble_statements};
pub use print::{Options, disassemble};

use super::field::{Fields, fields};

/// Words of an instruction; word 0 holds bits 0 to 31.
pub const WORDS: usize = 4;

fields! {
    /// One instruction, field by field.
    pub struct Instruction of u16, 128 bits {
    /// Source of mul0's first operand.
    mul0_a: 0, 5;
    /// Source of mul0's second operand; 22 is the constant 1.0.
    mul0_b: 5, 5;
    /// Source of mul1's first operand.
    mul1_a: 10, 5;
    /// Source of mul1's second operand; 22 is the constant 1.0.
    mul1_b: 15, 5;
    /// Negates mul0's result.
    mul0_negate: 20, 1;
    /// Negates mul1's result.
    mul1_negate: 21, 1;
    /// Source of acc0's first operand.
    acc0_a: 22, 5;
    /// Source of acc0's second operand; 22 is the constant 0.0.
    acc0_b: 27, 5;
    /// Source of acc1's first operand.
    acc1_a: 32, 5;
    /// Source of acc1's second operand; 22 is the constant 0.0.
    acc1_b: 37, 5;
    /// Negates acc0's first operand.
    acc0_a_negate: 42, 1;
    /// Negates acc0's second operand.
    acc0_b_negate: 43, 1;
    /// Negates acc1's first operand.
    acc1_a_negate: 44, 1;
    /// Negates acc1's second operand.
    acc1_b_negate: 45, 1;
    /// Vec4 of the uniform and temporary memory that is loaded.
    load_address: 46, 9;
    /// What is added to the load address: 7 nothing, 1 to 3 an address register.
    load_offset: 55, 3;
    /// Index of the first register port's load.
    register0_address: 58, 4;
    /// Whether the first register port reads attributes.
    register0_is_attribute: 62, 1;
    /// Index of the second register port's load.
    register1_address: 63, 4;
    /// Stores x and y to the temporary at address register 0.
    store0_temporary: 67, 1;
    /// Stores z and w to the temporary at address register 0.
    store1_temporary: 68, 1;
    /// Jumps when the pass unit's result is not zero.
    branch: 69, 1;
    /// Whether the branch target is below 256 (the target's ninth bit, inverted).
    branch_target_low: 70, 1;
    /// Unit whose result is stored as x.
    store0_x: 71, 3;
    /// Unit whose result is stored as y.
    store0_y: 74, 3;
    /// Unit whose result is stored as z.
    store1_z: 77, 3;
    /// Unit whose result is stored as w.
    store1_w: 80, 3;
    /// Operation of acc0 and acc1.
    acc_op: 83, 3;
    /// Operation of the complex unit.
    complex_op: 86, 4;
    /// Register or varying that x and y are stored to.
    store0_address: 90, 4;
    /// Whether x and y go to a varying.
    store0_varying: 94, 1;
    /// Register or varying that z and w are stored to.
    store1_address: 95, 4;
    /// Whether z and w go to a varying.
    store1_varying: 99, 1;
    /// Operation of mul0 and mul1.
    mul_op: 100, 3;
    /// Operation of the pass unit.
    pass_op: 103, 3;
    /// Source of the complex unit.
    complex_source: 106, 5;
    /// Source of the pass unit.
    pass_source: 111, 5;
    /// 0 in most instructions, 12 with a store to a temporary, 13 with a branch; meaning unknown.
    flags: 116, 4;
    /// Low eight bits of the branch target, an instruction's number.
    branch_target: 120, 8;
    }
}

/// Where a store goes.
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
    /// Takes four words apart; total: every pattern is an instruction.
    #[inline]
    pub fn decode(words: [u32; WORDS]) -> Self {
        Self::from_bits(words.iter().rev().fold(0, |bits, word| bits << 32 | u128::from(*word)))
    }

    /// The words again.
    pub fn encode(&self) -> [u32; WORDS] {
        let bits = self.to_bits();
        std::array::from_fn(|word| (bits >> (32 * word)) as u32)
    }

    /// The instruction that does nothing, as compilers write it.
    pub const NOP_WORDS: [u32; WORDS] = [0xad4a_d6b5, 0x0380_02b5, 0x0007_ff80, 0x000a_d500];

    /// The instruction that does nothing, field by field.
    pub fn nop() -> Self {
        Self::decode(Self::NOP_WORDS)
    }

    /// For each component the unit whose result is stored (or [`ops::NO_STORE`]), and where it goes.
    pub fn stores(&self) -> [(u16, Target); 4] {
        let target = |temporary: u16, varying: u16, address: u16| match (temporary, varying) {
            (1, _) => Target::Temporary,
            (_, 1) => Target::Varying(address),
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

    /// Sets the instruction that a branch goes to, 0 to 511.
    pub fn set_target(&mut self, target: u16) {
        (self.branch_target, self.branch_target_low) = (target & 0xff, u16::from(target < 256));
    }

    /// The instruction that a branch goes to.
    pub fn target(&self) -> u16 {
        self.branch_target + if self.branch_target_low == 0 { 256 } else { 0 }
    }
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
        assert_eq!(sources, [21; 8]);
        assert_eq!(
            [nop.complex_source, nop.pass_source, nop.load_offset, nop.pass_op],
            [21, 21, 7, 2]
        );
        assert_eq!([nop.store0_x, nop.store0_y, nop.store1_z, nop.store1_w], [7; 4]);
        assert_eq!([nop.branch, nop.flags, nop.mul_op, nop.acc_op, nop.complex_op], [0; 5]);
    }

    #[test]
    fn targets_have_nine_bits() {
        let near = Instruction {
            branch_target: 5,
            branch_target_low: 1,
            ..Default::default()
        };
        let far = Instruction {
            branch_target_low: 0,
            ..near
        };
        assert_eq!((near.target(), far.target()), (5, 261));
    }
}
