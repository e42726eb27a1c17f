//! The instructions of 64-bit ARM for what graphs compute.

use super::asm::{Asm, Gpr, KEPT_BYTES, Mem, Three, Two, code};
use crate::call::Args;
use crate::codegen::emitter::{Address, BASES, Base, Emitter, Found, Machine};
use crate::graph::{Kind, Neighbour, Node, Value};
use crate::isa::Isa;
use std::mem::offset_of;

/// The register that holds the exponent bits of halves.
const EXPONENTS: u8 = 27;
/// Registers that hold nothing for long: four in a row, for tables.
const SPARE: [u8; 4] = [28, 29, 30, 31];
/// Rounds that are left, and lanes that are left to others.
const STEPS: Gpr = Gpr::X7;
const LEFT: Gpr = Gpr::X8;
/// Registers that hold nothing for long.
const NUMBERS: [Gpr; 4] = [Gpr::X9, Gpr::X10, Gpr::X11, Gpr::X12];
const TEXELS: Gpr = Gpr::X13;

/// The register of a base.
fn register(base: Base) -> Gpr {
    match base {
        Base::Args => Gpr::X0,
        Base::Rows => Gpr::X1,
        Base::Uniforms => Gpr::X2,
        Base::Inputs => Gpr::X3,
        Base::Pool => Gpr::X4,
        Base::Masks => Gpr::X5,
        Base::Words => Gpr::X6,
        Base::Stack => Gpr::Sp,
    }
}

fn mem(address: Address) -> Mem {
    let kept = if address.base == Base::Stack { KEPT_BYTES } else { 0 };
    Mem {
        base: register(address.base),
        offset: address.offset + kept,
    }
}

fn argument(offset: usize) -> Mem {
    mem(Address::of_argument(offset))
}

impl Machine for Asm {
    const CONSTANT: usize = 4;
    // An undefined instruction.
    const PADDING: u8 = 0;

    fn of(_: Isa) -> Self {
        Self::new()
    }

    fn isa(&self) -> Isa {
        Isa::Neon
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    fn begin(emitter: &mut Emitter<'_, Self>) {
        let asm = &mut emitter.machine;
        asm.enter();
        for (base, offset) in BASES {
            asm.access(code::LDR_X, register(base) as u8, argument(offset));
        }
        asm.access(code::LDR_W, STEPS as u8, argument(offset_of!(Args, steps)));
        asm.zero(LEFT);
        asm.upper_bytes_of(EXPONENTS, 0x7c);
    }

    fn frame(&mut self, bytes: usize) {
        self.set_frame(bytes);
    }

    fn end(&mut self, words: usize, masks: usize, start: usize) {
        self.add(register(Base::Rows), words);
        self.add(register(Base::Words), words);
        self.add(register(Base::Masks), masks);
        self.count_down(STEPS, start);
        self.access(code::STR_W, LEFT as u8, argument(offset_of!(Args, left)));
        self.leave();
    }

    fn constant(&mut self, to: u8, bits: u32) -> bool {
        self.constant(to, bits)
    }

    fn load_from(&mut self, to: u8, _: bool, from: Found) {
        match from {
            Found::Full(from) => self.access(code::LDR_Q, to, mem(from)),
            Found::Each(from) => {
                self.access(code::LDR_S, to, mem(from));
                self.two(code::DUP, to, to);
            }
        }
    }

    fn store_to(&mut self, to: Address, from: u8, _: bool) {
        self.access(code::STR_Q, from, mem(to));
    }

    fn store_some(&mut self, to: Address, from: u8, by: Address) {
        let [mask, have, ..] = SPARE;
        self.access(code::LDR_Q, mask, mem(by));
        self.access(code::LDR_Q, have, mem(to));
        self.three(code::BIT, have, from, mask);
        self.access(code::STR_Q, have, mem(to));
    }

    fn guard(&mut self, mask: u8) {
        let ([spare, ..], [bits, ..]) = (SPARE, NUMBERS);
        self.two(code::UMINV, spare, mask);
        self.lane(bits, spare, 0);
        self.or_not(LEFT, bits);
    }

    fn compute(emitter: &mut Emitter<'_, Self>, value: Value, kind: Kind, [a, b, c]: [Value; 3], copy: usize) {
        match kind {
            Kind::Add => emitter.binary(code::FADD, value, [a, b], copy),
            Kind::Sub => emitter.binary(code::FSUB, value, [a, b], copy),
            Kind::Mul => emitter.binary(code::FMUL, value, [a, b], copy),
            Kind::Div => emitter.binary(code::FDIV, value, [a, b], copy),
            Kind::AddInt => emitter.binary(code::ADD, value, [a, b], copy),
            Kind::AndBits => emitter.binary(code::AND, value, [a, b], copy),
            Kind::OrBits => emitter.binary(code::ORR, value, [a, b], copy),
            Kind::Gt => emitter.binary(code::FCMGT, value, [a, b], copy),
            Kind::Ge => emitter.binary(code::FCMGE, value, [a, b], copy),
            Kind::Eq => emitter.binary(code::FCMEQ, value, [a, b], copy),
            Kind::Ne => {
                let to = emitter.binary(code::FCMEQ, value, [a, b], copy);
                emitter.machine.two(code::NOT, to, to);
                to
            }
            // Permutations of a value and itself.
            Kind::Permute(from) => emitter.binary(permutation(from), value, [a, a], copy),
            Kind::Move => emitter.binary(code::ORR, value, [a, a], copy),
            Kind::Min => emitter.extreme(value, [a, b], true, copy),
            Kind::Max => emitter.extreme(value, [a, b], false, copy),
            Kind::Sqrt => emitter.unary(code::FSQRT, value, a, copy),
            Kind::Floor => emitter.unary(code::FRINTM, value, a, copy),
            Kind::Trunc => emitter.unary(code::FRINTZ, value, a, copy),
            Kind::Abs => emitter.unary(code::FABS, value, a, copy),
            Kind::Neg => emitter.unary(code::FNEG, value, a, copy),
            Kind::ToInt => emitter.unary(code::FCVTZS, value, a, copy),
            Kind::ToFloat => emitter.unary(code::SCVTF, value, a, copy),
            Kind::ShiftLeft(bits) => {
                let [from, to] = emitter.pair(value, a, copy);
                emitter.machine.shift_left(to, from, bits);
                to
            }
            Kind::ShiftRight(bits) => {
                let [from, to] = emitter.pair(value, a, copy);
                emitter.machine.shift_right(to, from, bits);
                to
            }
            Kind::Select => emitter.select(value, [a, b, c], copy),
            Kind::Fused => emitter.fused(value, [a, b, c], copy),
            Kind::RoundHalf => emitter.round(value, a, copy),
            Kind::Unit | Kind::HalfUnit | Kind::OrThree | Kind::AndOr => {
                unreachable!("noted for machines with mask registers only")
            }
            Kind::Gather(texture) => emitter.gather(texture, value, a, copy),
            Kind::Lookup(table) => emitter.lookup(table, value, a, copy),
        };
    }
}

/// The order of lanes in which all of a quad has a column or a row.
fn permutation(from: Neighbour) -> Three {
    match from {
        Neighbour::Left => code::TRN1,
        Neighbour::Right => code::TRN2,
        Neighbour::Upper => code::ZIP1_PAIRS,
        Neighbour::Lower => code::ZIP2_PAIRS,
    }
}

impl Asm {
    /// `yes` where the mask says so, `no` elsewhere; the result's register may be any of theirs.
    fn choose(&mut self, to: u8, mask: u8, yes: u8, no: u8) {
        if to == no {
            return self.three(code::BIT, to, yes, mask);
        }
        if to == yes {
            return self.three(code::BIF, to, no, mask);
        }
        if to != mask {
            self.three(code::ORR, to, mask, mask);
        }
        self.three(code::BSL, to, yes, no);
    }
}

/// Each gives the result's register.
impl Emitter<'_, Asm> {
    /// The registers of an operand and of the result.
    fn pair(&mut self, value: Value, a: Value, copy: usize) -> [u8; 2] {
        [self.register(a, copy), self.result(value, copy)]
    }

    fn unary(&mut self, op: Two, value: Value, a: Value, copy: usize) -> u8 {
        let [from, to] = self.pair(value, a, copy);
        self.machine.two(op, to, from);
        to
    }

    fn binary(&mut self, op: Three, value: Value, [a, b]: [Value; 2], copy: usize) -> u8 {
        let (first, second) = (self.register(a, copy), self.register(b, copy));
        let to = self.result(value, copy);
        self.machine.three(op, to, first, second);
        to
    }

    /// a where it is less, or greater; b elsewhere, and with NaN and zeros of both signs. FMIN and FMAX are others.
    fn extreme(&mut self, value: Value, [a, b]: [Value; 2], least: bool, copy: usize) -> u8 {
        let (first, second) = (self.register(a, copy), self.register(b, copy));
        let to = self.result(value, copy);
        let mask = if to == first || to == second { SPARE[0] } else { to };
        let (greater, lesser) = if least { (second, first) } else { (first, second) };
        self.machine.three(code::FCMGT, mask, greater, lesser);
        self.machine.choose(to, mask, first, second);
        to
    }

    fn select(&mut self, value: Value, [mask, yes, no]: [Value; 3], copy: usize) -> u8 {
        if self.node(no) == Node::Const(0) {
            return self.binary(code::AND, value, [mask, yes], copy);
        }
        let [mask, yes, no] = [mask, yes, no].map(|value| self.register(value, copy));
        let to = self.result(value, copy);
        self.machine.choose(to, mask, yes, no);
        to
    }

    /// a * b + c: the result takes the place of c.
    fn fused(&mut self, value: Value, [a, b, c]: [Value; 3], copy: usize) -> u8 {
        let [first, second, third] = [a, b, c].map(|value| self.register(value, copy));
        let to = if self.dies(c, copy) && c != a && c != b {
            self.rename(c, value, copy);
            third
        } else {
            let to = self.alloc(value, copy);
            self.machine.three(code::ORR, to, third, third);
            to
        };
        self.machine.three(code::FMLA, to, first, second);
        to
    }

    /// To the nearest half, denormals to zero: those without an exponent.
    fn round(&mut self, value: Value, a: Value, copy: usize) -> u8 {
        let [from, to] = self.pair(value, a, copy);
        let [normal, ..] = SPARE;
        self.machine.two(code::FCVTN, to, from);
        self.machine.three(code::CMTST_HALVES, normal, to, EXPONENTS);
        self.machine.three(code::AND_LOW, to, to, normal);
        self.machine.two(code::FCVTL, to, to);
        to
    }

    /// Texels one by one: there are no gathers.
    fn gather(&mut self, texture: u8, value: Value, at: Value, copy: usize) -> u8 {
        let [at, to] = self.pair(value, at, copy);
        let ([numbers, ..], texture) = (SPARE, usize::from(texture));
        let last = Address::of_argument(offset_of!(Args, last) + 4 * texture);
        let texels = argument(offset_of!(Args, textures) + 8 * texture);
        let asm = &mut self.machine;
        asm.load_from(numbers, false, Found::Each(last));
        asm.three(code::UMIN, numbers, at, numbers);
        asm.access(code::LDR_X, TEXELS as u8, texels);
        for (lane, number) in (0..).zip(NUMBERS) {
            asm.lane(number, numbers, lane);
        }
        let [first, others @ ..] = NUMBERS;
        asm.load_indexed(to, TEXELS, first);
        for (lane, number) in (1..).zip(others) {
            asm.word_at(number, TEXELS, number);
            asm.load_lane(to, lane, number);
        }
        to
    }

    /// Numbers of entries become those of their bytes; one that is not there is zero.
    fn lookup(&mut self, table: u8, value: Value, at: Value, copy: usize) -> u8 {
        let table = self.table(table);
        let first = self.words(&[u32::from_le_bytes([0, 1, 2, 3]); 4]);
        let [at, to] = self.pair(value, at, copy);
        let [fours, bytes, ..] = SPARE;
        let asm = &mut self.machine;
        asm.bytes_of(fours, 4);
        asm.three(code::MUL, fours, at, fours);
        asm.access(code::LDR_Q, bytes, mem(first));
        asm.three(code::ADD, to, fours, bytes);
        for (number, register) in SPARE.into_iter().enumerate() {
            asm.access(code::LDR_Q, register, mem(table.plus(16 * number)));
        }
        asm.three(code::TBL4, to, SPARE[0], to);
        to
    }
}
