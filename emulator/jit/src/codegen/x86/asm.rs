//! An encoder of the few instruction forms that compiled programs need: vector instructions with VEX prefixes for 256
//! bits and EVEX prefixes for 512, moves and loops of general registers. Tests decode every byte of it with another
//! crate's decoder.

use crate::isa::Isa;

/// A general register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum Gpr {
    Rax = 0,
    Rcx = 1,
    Rdx = 2,
    Rbx = 3,
    Rsp = 4,
    Rsi = 6,
    Rdi = 7,
    R8 = 8,
    R9 = 9,
    R10 = 10,
    R11 = 11,
}

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mem {
    /// Where it is counted from.
    pub base: Gpr,
    /// Bytes from there.
    pub disp: i32,
}

/// The operand that may be in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rm {
    /// A vector register.
    Reg(u8),
    /// As many bytes as the operand has.
    Full(Mem),
    /// One number for all lanes; EVEX only, but for the instruction that does just that.
    Each(Mem),
}

/// An instruction's opcode: mandatory prefix (0 none, 1 66, 2 F3), map (1 0F, 2 0F38, 3 0F3A), W, byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Op {
    prefix: u8,
    map: u8,
    wide: bool,
    byte: u8,
    /// The memory operand has half a register's bytes.
    half: bool,
}

const fn op(prefix: u8, map: u8, byte: u8) -> Op {
    Op {
        prefix,
        map,
        wide: false,
        byte,
        half: false,
    }
}

/// Opcodes by their mnemonics.
#[allow(missing_docs)]
pub(super) mod code {
    use super::{Op, op};

    pub(crate) const MOVUPS_LOAD: Op = op(0, 1, 0x10);
    pub(crate) const MOVUPS_STORE: Op = op(0, 1, 0x11);
    pub(crate) const MOVAPS: Op = op(0, 1, 0x28);
    pub(crate) const MOVD_LOAD: Op = op(1, 1, 0x6e);
    pub(crate) const MOVMSKPS: Op = op(0, 1, 0x50);
    pub(crate) const SQRTPS: Op = op(0, 1, 0x51);
    pub(crate) const ANDPS: Op = op(0, 1, 0x54);
    pub(crate) const XORPS: Op = op(0, 1, 0x57);
    pub(crate) const ADDPS: Op = op(0, 1, 0x58);
    pub(crate) const MULPS: Op = op(0, 1, 0x59);
    pub(crate) const CVTDQ2PS: Op = op(0, 1, 0x5b);
    pub(crate) const SUBPS: Op = op(0, 1, 0x5c);
    pub(crate) const MINPS: Op = op(0, 1, 0x5d);
    pub(crate) const DIVPS: Op = op(0, 1, 0x5e);
    pub(crate) const MAXPS: Op = op(0, 1, 0x5f);
    pub(crate) const MXCSR: Op = op(0, 1, 0xae);
    pub(crate) const CMPPS: Op = op(0, 1, 0xc2);
    pub(crate) const CVTTPS2DQ: Op = op(2, 1, 0x5b);
    pub(crate) const SHIFT_IMMEDIATE: Op = op(1, 1, 0x72);
    pub(crate) const PAND: Op = op(1, 1, 0xdb);
    pub(crate) const POR: Op = op(1, 1, 0xeb);
    pub(crate) const PADDD: Op = op(1, 1, 0xfe);
    pub(crate) const PSIGNW: Op = op(1, 2, 0x09);
    pub(crate) const CVTPH2PS: Op = Op {
        half: true,
        ..op(1, 2, 0x13)
    };
    pub(crate) const PERMPS: Op = op(1, 2, 0x16);
    pub(crate) const BROADCASTSS: Op = op(1, 2, 0x18);
    pub(crate) const PTESTMW: Op = Op {
        wide: true,
        ..op(1, 2, 0x26)
    };
    pub(crate) const MASKMOVPS_STORE: Op = op(1, 2, 0x2e);
    pub(crate) const PMINUD: Op = op(1, 2, 0x3b);
    pub(crate) const BLENDMPS: Op = op(1, 2, 0x65);
    pub(crate) const PGATHERDD: Op = op(1, 2, 0x90);
    pub(crate) const FMADD132PS: Op = op(1, 2, 0x98);
    pub(crate) const FMADD213PS: Op = op(1, 2, 0xa8);
    pub(crate) const FMSUB132PS: Op = op(1, 2, 0x9a);
    pub(crate) const FMADD231PS: Op = op(1, 2, 0xb8);
    pub(crate) const FMSUB231PS: Op = op(1, 2, 0xba);
    pub(crate) const PERMILPS: Op = op(1, 3, 0x04);
    pub(crate) const ROUNDPS: Op = op(1, 3, 0x08);
    pub(crate) const PINSRD: Op = op(1, 3, 0x22);
    pub(crate) const INSERTI128: Op = op(1, 3, 0x38);
    pub(crate) const CVTPS2PH: Op = Op {
        half: true,
        ..op(1, 3, 0x1d)
    };
    pub(crate) const PTERNLOGD: Op = op(1, 3, 0x25);
    pub(crate) const BLENDVPS: Op = op(1, 3, 0x4a);
}

/// Lanes that are written: all, or those of a mask register, others kept or zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Masked {
    /// Mask register; 0 for all lanes.
    pub by: u8,
    /// Other lanes become zero.
    pub zero: bool,
}

/// Machine code in the making.
#[derive(Clone, Debug)]
pub(crate) struct Asm {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What may be used.
    pub isa: Isa,
    /// Where the state of floating point is put that is looked at in the end, if it is.
    pub floats: Option<Mem>,
    /// Where the size of the stack frame stands.
    frame: usize,
    /// Where distances to the end stand that are not known yet.
    to_end: Vec<usize>,
}

/// A bit of a register's number as prefixes have it.
fn inverted(bit: u8) -> u8 {
    !bit & 1
}

/// The fourth bits of three registers' numbers, where a prefix of several bytes has them.
fn high_bits(reg: u8, index: u8, base: Gpr) -> u8 {
    inverted(reg >> 3) << 7 | inverted(index >> 3) << 6 | inverted(base as u8 >> 3) << 5
}

/// Bits of an EVEX vector length.
const LONG: u8 = 2;
const MIDDLE: u8 = 1;

impl Asm {
    /// Nothing yet.
    pub(crate) fn new(isa: Isa) -> Self {
        Self {
            bytes: Vec::with_capacity(2048),
            isa,
            floats: None,
            frame: 0,
            to_end: Vec::new(),
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Register and memory operand; `scale` is the unit of short distances.
    fn mod_rm(&mut self, reg: u8, rm: Rm, scale: i32) {
        let reg = (reg & 7) << 3;
        match rm {
            Rm::Reg(rm) => self.bytes.push(0xc0 | reg | rm & 7),
            Rm::Full(mem) | Rm::Each(mem) => {
                let base = mem.base as u8 & 7;
                let short = (mem.disp % scale == 0)
                    .then_some(mem.disp / scale)
                    .and_then(|disp| i8::try_from(disp).ok());
                self.bytes.push(if short.is_some() { 0x40 } else { 0x80 } | reg | base);
                if base == Gpr::Rsp as u8 {
                    self.bytes.push(0x24);
                }
                match short {
                    Some(disp) => self.bytes.push(disp as u8),
                    None => self.put(&mem.disp.to_le_bytes()),
                }
            }
        }
    }

    fn vex(&mut self, op: Op, long: bool, reg: u8, second: u8, rm: Rm) {
        let high = match rm {
            Rm::Reg(rm) => rm >> 3,
            Rm::Full(mem) | Rm::Each(mem) => mem.base as u8 >> 3,
        };
        let first = inverted(reg >> 3) << 7 | 1 << 6 | inverted(high) << 5 | op.map;
        let third = u8::from(op.wide) << 7 | (!second & 15) << 3 | u8::from(long) << 2 | op.prefix;
        // What a byte less has no room for.
        if high & 1 == 0 && op.map == 1 && !op.wide {
            self.put(&[0xc5, first & 0x80 | third, op.byte]);
        } else {
            self.put(&[0xc4, first, third, op.byte]);
        }
        self.mod_rm(reg, rm, 1);
    }

    fn evex(&mut self, op: Op, length: u8, reg: u8, second: u8, rm: Rm, masked: Masked) {
        let (x, b, each) = match rm {
            Rm::Reg(rm) => (rm >> 4, rm >> 3, false),
            Rm::Full(mem) => (0, mem.base as u8 >> 3, false),
            Rm::Each(mem) => (0, mem.base as u8 >> 3, op != code::BROADCASTSS),
        };
        let first = inverted(reg >> 3) << 7 | inverted(x) << 6 | inverted(b) << 5 | inverted(reg >> 4) << 4 | op.map;
        let third = u8::from(op.wide) << 7 | (!second & 15) << 3 | 4 | op.prefix;
        let fourth =
            u8::from(masked.zero) << 7 | length << 5 | u8::from(each) << 4 | inverted(second >> 4) << 3 | masked.by;
        self.put(&[0x62, first, third, fourth, op.byte]);
        let scale = match rm {
            Rm::Each(_) => 4,
            _ => (16 << length) >> u8::from(op.half),
        };
        self.mod_rm(reg, rm, scale);
    }

    /// A vector instruction of full length: result, first operand, second operand.
    pub(crate) fn vector(&mut self, op: Op, to: u8, a: u8, b: Rm) {
        self.vector_masked(op, to, a, b, Masked::default());
    }

    /// The same for some lanes; EVEX only.
    pub(crate) fn vector_masked(&mut self, op: Op, to: u8, a: u8, b: Rm, masked: Masked) {
        if self.isa.evex() {
            self.evex(op, LONG, to, a, b, masked);
        } else {
            debug_assert!(masked == Masked::default());
            self.vex(op, true, to, a, b);
        }
    }

    /// A vector instruction with a byte behind it.
    pub(crate) fn vector_immediate(&mut self, op: Op, to: u8, a: u8, b: Rm, immediate: u8) {
        self.vector(op, to, a, b);
        self.bytes.push(immediate);
    }

    /// Shifts every lane's bits: to the left or to the right.
    pub(crate) fn shift(&mut self, to: u8, from: u8, left: bool, bits: u8) {
        // The result's register stands where the first operand's does.
        self.vector(code::SHIFT_IMMEDIATE, if left { 6 } else { 2 }, to, Rm::Reg(from));
        self.bytes.push(bits);
    }

    /// A 128-bit instruction with a VEX prefix.
    pub(crate) fn half_vector(&mut self, op: Op, to: u8, a: u8, b: Rm) {
        self.vex(op, false, to, a, b);
    }

    /// Tests words of a register of half length: EVEX only.
    pub(crate) fn test_words(&mut self, mask: u8, a: u8, b: u8) {
        self.evex(code::PTESTMW, MIDDLE, mask, a, Rm::Reg(b), Masked::default());
    }

    /// Words of 32 bits at `base + 4 * index`, those of a mask register, which is cleared; EVEX only.
    pub(crate) fn gather(&mut self, to: u8, base: Gpr, index: u8, mask: u8) {
        let op = code::PGATHERDD;
        let first = high_bits(to, index, base) | inverted(to >> 4) << 4 | op.map;
        let fourth = LONG << 5 | inverted(index >> 4) << 3 | mask;
        self.put(&[0x62, first, 0x7d, fourth, op.byte]);
        self.fours(to, base, index);
    }

    /// A 128-bit instruction with a VEX prefix whose second operand is the word of 32 bits at `base + 4 * index`.
    pub(crate) fn with_word(&mut self, op: Op, to: u8, a: u8, base: Gpr, index: Gpr) {
        let first = high_bits(to, index as u8, base) | op.map;
        self.put(&[0xc4, first, (!a & 15) << 3 | op.prefix, op.byte]);
        self.fours(to, base, index as u8);
    }

    /// A register, and a place in memory whose index counts fours. There is no distance, in a byte of its own.
    fn fours(&mut self, reg: u8, base: Gpr, index: u8) {
        self.put(&[0x44 | (reg & 7) << 3, 0x80 | (index & 7) << 3 | base as u8 & 7, 0]);
    }

    /// A mask register from two bytes in memory.
    pub(crate) fn mask_load(&mut self, mask: u8, from: Mem) {
        self.vex(op(0, 1, 0x90), false, mask, 0, Rm::Full(from));
    }

    /// A mask register to two bytes in memory.
    pub(crate) fn mask_store(&mut self, to: Mem, mask: u8) {
        self.vex(op(0, 1, 0x91), false, mask, 0, Rm::Full(to));
    }

    /// All lanes.
    pub(crate) fn mask_all(&mut self, mask: u8) {
        // Not exclusive or of a register and itself.
        self.vex(op(0, 1, 0x46), true, mask, mask, Rm::Reg(mask));
    }

    /// The bits of a mask, in a general register.
    pub(crate) fn mask_bits(&mut self, to: Gpr, mask: u8) {
        self.vex(op(0, 1, 0x93), false, to as u8, 0, Rm::Reg(mask));
    }

    /// The signs of the lanes as bits, in a general register; VEX.
    pub(crate) fn signs(&mut self, to: Gpr, from: u8) {
        self.vex(code::MOVMSKPS, true, to as u8, 0, Rm::Reg(from));
    }

    /// A prefix for 64 bits, or for 32 where registers are high ones.
    fn rex(&mut self, wide: bool, reg: u8, rm: u8) {
        let rex = 0x40 | u8::from(wide) << 3 | (reg >> 3) << 2 | rm >> 3;
        if rex != 0x40 {
            self.bytes.push(rex);
        }
    }

    /// Loads 64 bits.
    pub(crate) fn load(&mut self, to: Gpr, from: Mem) {
        self.rex(true, to as u8, from.base as u8);
        self.bytes.push(0x8b);
        self.mod_rm(to as u8, Rm::Full(from), 1);
    }

    /// Loads 32 bits.
    pub(crate) fn load_short(&mut self, to: Gpr, from: Mem) {
        self.rex(false, to as u8, from.base as u8);
        self.bytes.push(0x8b);
        self.mod_rm(to as u8, Rm::Full(from), 1);
    }

    /// Sets bits of 32 in memory.
    pub(crate) fn or_to(&mut self, to: Mem, from: Gpr) {
        self.rex(false, from as u8, to.base as u8);
        self.bytes.push(0x09);
        self.mod_rm(from as u8, Rm::Full(to), 1);
    }

    /// One of the operations of a register and a number: 0 add, 4 and, 5 subtract, 6 exclusive or.
    fn immediate(&mut self, wide: bool, extension: u8, to: Gpr, value: i32) {
        self.rex(wide, 0, to as u8);
        self.put(&[0x81, 0xc0 | extension << 3 | to as u8 & 7]);
        self.put(&value.to_le_bytes());
    }

    /// Adds to 64 bits.
    pub(crate) fn add(&mut self, to: Gpr, value: i32) {
        self.immediate(true, 0, to, value);
    }

    /// Leaves bits of 32.
    pub(crate) fn and(&mut self, to: Gpr, bits: i32) {
        self.immediate(false, 4, to, bits);
    }

    /// Shifts 32 bits of one of the first eight registers to the left.
    pub(crate) fn shift_left(&mut self, register: Gpr, bits: u8) {
        self.put(&[0xc1, 0xe0 | register as u8 & 7, bits]);
    }

    /// Sets the state of floating point.
    pub(crate) fn set_floats(&mut self, from: Mem) {
        self.vex(code::MXCSR, false, 2, 0, Rm::Full(from));
    }

    /// Stores the state of floating point.
    pub(crate) fn get_floats(&mut self, to: Mem) {
        self.vex(code::MXCSR, false, 3, 0, Rm::Full(to));
    }

    /// Flips bits of 32.
    pub(crate) fn flip(&mut self, to: Gpr, bits: i32) {
        self.immediate(false, 6, to, bits);
    }

    /// Counts 32 bits down and goes to a place already passed unless they are zero.
    pub(crate) fn count_down(&mut self, register: Gpr, target: usize) {
        self.immediate(false, 5, register, 1);
        let distance = target as i64 - (self.bytes.len() as i64 + 6);
        self.put(&[0x0f, 0x85]);
        self.put(&(distance as i32).to_le_bytes());
    }

    /// A stack frame at a multiple of 64, of a size that is not known yet.
    pub(crate) fn enter(&mut self) {
        // push rbp; mov rbp, rsp; push rbx
        self.put(&[0x55, 0x48, 0x89, 0xe5, 0x53]);
        self.immediate(true, 4, Gpr::Rsp, -64);
        self.immediate(true, 5, Gpr::Rsp, 0);
        self.frame = self.bytes.len() - 4;
    }

    /// The size of the stack frame: a multiple of 64.
    pub(crate) fn set_frame(&mut self, bytes: i32) {
        self.bytes[self.frame..self.frame + 4].copy_from_slice(&bytes.to_le_bytes());
    }

    /// Goes to the end unless the last result was zero.
    pub(crate) fn leave_unless_zero(&mut self) {
        self.put(&[0x0f, 0x85, 0, 0, 0, 0]);
        self.to_end.push(self.bytes.len());
    }

    /// Back to the caller.
    pub(crate) fn leave(&mut self) {
        let end = self.bytes.len();
        for from in std::mem::take(&mut self.to_end) {
            self.bytes[from - 4..from].copy_from_slice(&((end - from) as i32).to_le_bytes());
        }
        // vzeroupper; mov rbx, [rbp - 8]; mov rsp, rbp; pop rbp; ret
        self.put(&[0xc5, 0xf8, 0x77, 0x48, 0x8b, 0x5d, 0xf8, 0x48, 0x89, 0xec, 0x5d, 0xc3]);
    }
}
