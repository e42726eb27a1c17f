//! An encoder of the few instruction forms of 64-bit ARM that compiled programs need. Every instruction is a word. Tests
//! decode each form with another crate's decoder.

/// A general register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum Gpr {
    X0 = 0,
    X1 = 1,
    X2 = 2,
    X3 = 3,
    X4 = 4,
    X5 = 5,
    X6 = 6,
    X7 = 7,
    X8 = 8,
    X9 = 9,
    X10 = 10,
    X11 = 11,
    X12 = 12,
    X13 = 13,
    X14 = 14,
    /// The stack pointer.
    Sp = 31,
}

/// The register for the far part of addresses; nothing else is in it.
const FAR: Gpr = Gpr::X14;

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mem {
    /// Where it is counted from.
    pub base: Gpr,
    /// Bytes from there, a multiple of those that are loaded or stored.
    pub offset: usize,
}

/// An instruction of two vectors and a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Three(u32);

/// An instruction of a vector and a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Two(u32);

/// A load or a store: the word and the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access(u32, usize);

/// Opcodes by their mnemonics; floats and whole numbers are four of 32 bits unless a name says something else.
#[allow(missing_docs)]
pub(super) mod code {
    use super::{Access, Three, Two};

    pub(crate) const AND_LOW: Three = Three(0x0e20_1c00);
    /// Of four halves.
    pub(crate) const CMTST_HALVES: Three = Three(0x0e60_8c00);
    pub(crate) const AND: Three = Three(0x4e20_1c00);
    pub(crate) const FMLA: Three = Three(0x4e20_cc00);
    pub(crate) const FADD: Three = Three(0x4e20_d400);
    pub(crate) const FCMEQ: Three = Three(0x4e20_e400);
    pub(crate) const TRN1: Three = Three(0x4e80_2800);
    pub(crate) const TRN2: Three = Three(0x4e80_6800);
    pub(crate) const ADD: Three = Three(0x4ea0_8400);
    pub(crate) const MUL: Three = Three(0x4ea0_9c00);
    pub(crate) const ORR: Three = Three(0x4ea0_1c00);
    pub(crate) const FSUB: Three = Three(0x4ea0_d400);
    /// Of pairs.
    pub(crate) const ZIP1_PAIRS: Three = Three(0x4ec0_3800);
    pub(crate) const ZIP2_PAIRS: Three = Three(0x4ec0_7800);
    pub(crate) const FMUL: Three = Three(0x6e20_dc00);
    pub(crate) const FCMGE: Three = Three(0x6e20_e400);
    pub(crate) const FDIV: Three = Three(0x6e20_fc00);
    pub(crate) const BSL: Three = Three(0x6e60_1c00);
    pub(crate) const BIT: Three = Three(0x6ea0_1c00);
    pub(crate) const UMIN: Three = Three(0x6ea0_6c00);
    pub(crate) const FCMGT: Three = Three(0x6ea0_e400);
    pub(crate) const BIF: Three = Three(0x6ee0_1c00);
    /// Of the 64 bytes of four registers from the first one on.
    pub(crate) const TBL4: Three = Three(0x4e00_6000);

    pub(crate) const FCVTN: Two = Two(0x0e21_6800);
    pub(crate) const FCVTL: Two = Two(0x0e21_7800);
    /// The first lane to all.
    pub(crate) const DUP: Two = Two(0x4e04_0400);
    pub(crate) const FRINTM: Two = Two(0x4e21_9800);
    pub(crate) const SCVTF: Two = Two(0x4e21_d800);
    pub(crate) const FRINTZ: Two = Two(0x4ea1_9800);
    pub(crate) const FCVTZS: Two = Two(0x4ea1_b800);
    pub(crate) const FABS: Two = Two(0x4ea0_f800);
    pub(crate) const NOT: Two = Two(0x6e20_5800);
    pub(crate) const FNEG: Two = Two(0x6ea0_f800);
    pub(crate) const FSQRT: Two = Two(0x6ea1_f800);
    /// The smallest lane.
    pub(crate) const UMINV: Two = Two(0x6eb1_a800);

    pub(crate) const STR_W: Access = Access(0xb900_0000, 4);
    pub(crate) const LDR_W: Access = Access(0xb940_0000, 4);
    pub(crate) const LDR_X: Access = Access(0xf940_0000, 8);
    pub(crate) const STR_D: Access = Access(0xfd00_0000, 8);
    pub(crate) const LDR_D: Access = Access(0xfd40_0000, 8);
    pub(crate) const LDR_S: Access = Access(0xbd40_0000, 4);
    pub(crate) const STR_Q: Access = Access(0x3d80_0000, 16);
    pub(crate) const LDR_Q: Access = Access(0x3dc0_0000, 16);
}

/// Machine code in the making.
#[derive(Clone, Debug)]
pub(crate) struct Asm {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Where the instructions are that the size of the stack frame stands in.
    frame: Vec<usize>,
}

/// Registers whose lower halves are the caller's.
const KEPT: std::ops::Range<u8> = 8..16;

/// Bytes of those on the stack, in front of the frame.
pub(super) const KEPT_BYTES: usize = 64;

impl Asm {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self {
            bytes: Vec::with_capacity(2048),
            frame: Vec::new(),
        }
    }

    fn put(&mut self, word: u32) {
        self.bytes.extend_from_slice(&word.to_le_bytes());
    }

    /// An instruction of a result and two operands.
    pub(crate) fn three(&mut self, op: Three, to: u8, a: u8, b: u8) {
        self.put(op.0 | u32::from(b) << 16 | u32::from(a) << 5 | u32::from(to));
    }

    /// An instruction of a result and an operand.
    pub(crate) fn two(&mut self, op: Two, to: u8, from: u8) {
        self.put(op.0 | u32::from(from) << 5 | u32::from(to));
    }

    /// Shifts every lane's bits to the left, by less than 32.
    pub(crate) fn shift_left(&mut self, to: u8, from: u8, bits: u8) {
        self.two(Two(0x4f00_5400 | (32 + u32::from(bits)) << 16), to, from);
    }

    /// Shifts every lane's bits to the right, by 1 to 32.
    pub(crate) fn shift_right(&mut self, to: u8, from: u8, bits: u8) {
        self.two(Two(0x6f00_0400 | (64 - u32::from(bits)) << 16), to, from);
    }

    /// One of the instructions with a byte in them: `how` says what becomes of it.
    fn byte(&mut self, how: u32, to: u8, byte: u8) {
        let byte = u32::from(byte);
        self.put(0x0f00_0400 | how | (byte >> 5) << 16 | (byte & 31) << 5 | u32::from(to));
    }

    /// Every byte becomes this one.
    pub(crate) fn bytes_of(&mut self, to: u8, byte: u8) {
        self.byte(0x4000_e000, to, byte);
    }

    /// The upper byte of every 16 bits becomes this one, the lower one zero.
    pub(crate) fn upper_bytes_of(&mut self, to: u8, byte: u8) {
        self.byte(0x4000_a000, to, byte);
    }

    /// A constant for every lane, if an instruction can have it in itself.
    pub(crate) fn constant(&mut self, to: u8, bits: u32) -> bool {
        for (flip, inverted) in [(0, 0), (u32::MAX, 0x2000_0000)] {
            for number in 0..4 {
                let byte = (bits ^ flip) >> (8 * number) & 0xff;
                if byte << (8 * number) == bits ^ flip {
                    self.byte(0x4000_0000 | inverted | number << 13, to, byte as u8);
                    return true;
                }
            }
        }
        // A float of few digits near 1: sign, the exponent's lowest bits, four digits.
        let exponent = bits >> 25 & 0x3f;
        let is_short = bits & 0x7_ffff == 0 && (exponent == 0x20 || exponent == 0x1f);
        if is_short {
            let byte = (bits >> 24 & 0x80) | (bits >> 19 & 0x7f);
            self.byte(0x4000_f000, to, byte as u8);
        }
        is_short
    }

    /// A lane in a general register.
    pub(crate) fn lane(&mut self, to: Gpr, from: u8, lane: u8) {
        self.put(0x0e04_3c00 | u32::from(lane) << 19 | u32::from(from) << 5 | to as u32);
    }

    /// A lane from memory, the others kept.
    pub(crate) fn load_lane(&mut self, to: u8, lane: u8, from: Gpr) {
        let lane = u32::from(lane);
        self.put(0x0d40_8000 | lane >> 1 << 30 | (lane & 1) << 12 | (from as u32) << 5 | u32::from(to));
    }

    /// Loads the first lane from `words` words behind an address; the others become zero.
    pub(crate) fn load_indexed(&mut self, to: u8, base: Gpr, words: Gpr) {
        self.put(0xbc60_5800 | (words as u32) << 16 | (base as u32) << 5 | u32::from(to));
    }

    /// Loads or stores a register of whichever kind the access is about.
    pub(crate) fn access(&mut self, access: Access, register: u8, mem: Mem) {
        let Access(op, size) = access;
        debug_assert!(mem.offset.is_multiple_of(size));
        let mem = if mem.offset / size < 4096 { mem } else { self.near(mem) };
        self.put(op | ((mem.offset / size) as u32) << 10 | (mem.base as u32) << 5 | u32::from(register));
    }

    /// The same place not as far from another register.
    fn near(&mut self, mem: Mem) -> Mem {
        let (mut pages, mut from) = (mem.offset >> 12, mem.base);
        while pages > 0 {
            let some = pages.min(4095);
            self.add_shifted(FAR, from, some as u32, true);
            (pages, from) = (pages - some, FAR);
        }
        Mem {
            base: FAR,
            offset: mem.offset & 0xfff,
        }
    }

    /// Adds a number of 12 bits, times 4096 if it counts `pages`.
    fn add_shifted(&mut self, to: Gpr, from: Gpr, number: u32, pages: bool) {
        self.put(0x9100_0000 | u32::from(pages) << 22 | number << 10 | (from as u32) << 5 | to as u32);
    }

    /// Adds less than 4096 to 64 bits.
    pub(crate) fn add(&mut self, to: Gpr, number: usize) {
        debug_assert!(number < 4096);
        self.add_shifted(to, to, number as u32, false);
    }

    /// The address `words` words behind another.
    pub(crate) fn word_at(&mut self, to: Gpr, base: Gpr, words: Gpr) {
        self.put(0x8b20_4800 | (words as u32) << 16 | (base as u32) << 5 | to as u32);
    }

    /// 32 bits become zero.
    pub(crate) fn zero(&mut self, to: Gpr) {
        self.put(0x5280_0000 | to as u32);
    }

    /// Sets those of 32 bits that another register has not.
    pub(crate) fn or_not(&mut self, to: Gpr, with: Gpr) {
        self.put(0x2a20_0000 | (with as u32) << 16 | (to as u32) << 5 | to as u32);
    }

    /// Counts 32 bits down and goes to a place already passed unless they are zero.
    pub(crate) fn count_down(&mut self, register: Gpr, target: usize) {
        let number = register as u32;
        self.put(0x5100_0400 | number << 5 | number);
        // Over the next one if it is zero: that one reaches further.
        self.put(0x3400_0040 | number);
        let distance = (target as i64 - self.bytes.len() as i64) / 4;
        self.put(0x1400_0000 | distance as u32 & 0x03ff_ffff);
    }

    /// A stack frame of a size that is not known yet, and in it the registers that are the caller's.
    pub(crate) fn enter(&mut self) {
        self.frame.push(self.bytes.len());
        self.put(0xd100_03ff);
        self.kept(code::STR_D);
    }

    /// Back to the caller.
    pub(crate) fn leave(&mut self) {
        self.kept(code::LDR_D);
        self.frame.push(self.bytes.len());
        self.put(0x9100_03ff);
        self.put(0xd65f_03c0);
    }

    fn kept(&mut self, access: Access) {
        for (register, number) in KEPT.zip(0..) {
            let place = Mem {
                base: Gpr::Sp,
                offset: 8 * number,
            };
            self.access(access, register, place);
        }
    }

    /// The size of the stack frame but for what is kept: a multiple of 16, with that below 4096.
    pub(crate) fn set_frame(&mut self, bytes: usize) {
        debug_assert!(bytes + KEPT_BYTES < 4096);
        let size = ((bytes + KEPT_BYTES) as u32) << 10;
        for at in &self.frame {
            let word = &mut self.bytes[*at..*at + 4];
            // The size stands in the second and third byte.
            word[1] |= size.to_le_bytes()[1];
            word[2] |= size.to_le_bytes()[2];
        }
    }
}
