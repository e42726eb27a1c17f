//! The instructions of x86 for what graphs compute.

use super::asm::{Asm, Gpr, Masked, Mem, Op, Rm, code};
use crate::call::{Args, ROUNDINGS, Rounding};
use crate::codegen::emitter::{Address, BASES, Base, Emitter, Found, Machine};
use crate::graph::{Kind, Neighbour, Node, Value};
use crate::isa::Isa;
use std::mem::offset_of;

/// Exponent bits of two halves.
const HALF_EXPONENTS: u32 = 0x7c00_7c00;

/// The register that holds [`HALF_EXPONENTS`], with EVEX; with speculative roundings it holds nothing for long.
const EXPONENTS: u8 = 31;
/// The register that holds 1.0, with EVEX.
const ONE: u8 = 30;
/// The register that holds nothing for long, with VEX.
const SPARE: u8 = 15;

/// What a float is multiplied by to have the bits that a half has, by [`Emitter::split`].
const PARTS: [f32; 2] = [8191.0, 8192.0];
/// A little more than 2^-112: the product with half a denormal is none, and has a bit too many; with the smallest normal
/// half it is the smallest normal float, and a bit.
const TO_UNDERFLOW: u32 = 15 << 23 | 1;
/// MXCSR's default, no exception flag set; and its flags of an invalid operation,
/// an overflow and an underflow.
const FLOATS: u32 = 0x1f80;
const NOTED: i32 = 0x19;
/// The mask register that holds nothing for long.
const SPARE_MASK: u8 = 7;

/// The register of a base. Those that are there most often have numbers that take a byte less.
fn register(base: Base) -> Gpr {
    match base {
        Base::Args => Gpr::Rdi,
        Base::Rows => Gpr::R9,
        Base::Uniforms => Gpr::Rdx,
        Base::Inputs => Gpr::Rcx,
        Base::Pool => Gpr::Rsi,
        Base::Masks => Gpr::R10,
        Base::Words => Gpr::R11,
        Base::Stack => Gpr::Rsp,
    }
}

fn mem(address: Address) -> Mem {
    Mem {
        base: register(address.base),
        disp: address.offset as i32,
    }
}

fn rm(found: Found) -> Rm {
    match found {
        Found::Full(address) => Rm::Full(mem(address)),
        Found::Each(address) => Rm::Each(mem(address)),
    }
}

/// Lanes of [`SPARE_MASK`], and zero in the others.
fn zero_elsewhere() -> Masked {
    Masked {
        by: SPARE_MASK,
        zero: true,
    }
}

impl Machine for Asm {
    const CONSTANT: usize = 1;
    // A breakpoint.
    const PADDING: u8 = 0xcc;

    fn of(isa: Isa) -> Self {
        Self::new(isa)
    }

    fn isa(&self) -> Isa {
        self.isa
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    fn begin(emitter: &mut Emitter<'_, Self>) {
        let speculates = emitter.rounding != Rounding::Exact;
        let stay: &[(u8, u32)] = match emitter.machine.isa.evex() {
            true if speculates => &[(ONE, 1f32.to_bits())],
            true => &[(ONE, 1f32.to_bits()), (EXPONENTS, HALF_EXPONENTS)],
            false => &[],
        };
        let constants: Vec<Rm> = stay.iter().map(|(_, bits)| rm(emitter.constant(*bits))).collect();
        let floats = speculates.then(|| [mem(emitter.words(&[FLOATS])), mem(emitter.scratch())]);
        let asm = &mut emitter.machine;
        asm.enter();
        for (base, offset) in BASES {
            asm.load(register(base), mem(Address::of_argument(offset)));
        }
        asm.load_short(Gpr::R8, mem(Address::of_argument(offset_of!(Args, steps))));
        for ((register, _), constant) in stay.iter().zip(constants) {
            asm.vector(code::BROADCASTSS, *register, 0, constant);
        }
        if let Some([floats, place]) = floats {
            asm.set_floats(floats);
            asm.floats = Some(place);
        }
    }

    fn frame(&mut self, bytes: usize) {
        self.set_frame(bytes as i32);
    }

    fn end(&mut self, words: usize, masks: usize, start: usize) {
        self.add(Gpr::R9, words as i32);
        self.add(Gpr::R11, words as i32);
        self.add(Gpr::R10, masks as i32);
        self.count_down(Gpr::R8, start);
        if let Some(place) = self.floats {
            self.get_floats(place);
            self.load_short(Gpr::Rax, place);
            self.and(Gpr::Rax, NOTED);
            self.shift_left(Gpr::Rax, ROUNDINGS as u8);
            self.or_to(mem(Address::of_argument(offset_of!(Args, left))), Gpr::Rax);
        }
        self.leave();
    }

    fn constant(&mut self, _: u8, _: u32) -> bool {
        false
    }

    fn load_from(&mut self, to: u8, mask: bool, from: Found) {
        match from {
            Found::Full(from) if mask => self.mask_load(to, mem(from)),
            Found::Full(_) => self.vector(code::MOVUPS_LOAD, to, 0, rm(from)),
            Found::Each(_) => self.vector(code::BROADCASTSS, to, 0, rm(from)),
        }
    }

    fn store_to(&mut self, to: Address, from: u8, mask: bool) {
        if mask {
            self.mask_store(mem(to), from);
        } else {
            self.vector(code::MOVUPS_STORE, from, 0, Rm::Full(mem(to)));
        }
    }

    fn store_some(&mut self, to: Address, from: u8, by: Address) {
        let to = Rm::Full(mem(to));
        if self.isa.evex() {
            self.mask_load(SPARE_MASK, mem(by));
            let masked = Masked {
                by: SPARE_MASK,
                zero: false,
            };
            self.vector_masked(code::MOVUPS_STORE, from, 0, to, masked);
        } else {
            self.vector(code::MOVUPS_LOAD, SPARE, 0, Rm::Full(mem(by)));
            self.vector(code::MASKMOVPS_STORE, from, SPARE, to);
        }
    }

    fn guard(&mut self, mask: u8) {
        if self.isa.evex() {
            self.mask_bits(Gpr::Rax, mask);
            self.flip(Gpr::Rax, 0xffff);
        } else {
            self.signs(Gpr::Rax, mask);
            self.flip(Gpr::Rax, 0xff);
        }
        self.or_to(mem(Address::of_argument(offset_of!(Args, left))), Gpr::Rax);
        // The rest of the results would not be used.
        self.leave_unless_zero();
    }

    fn compute(emitter: &mut Emitter<'_, Self>, value: Value, kind: Kind, [a, b, c]: [Value; 3], copy: usize) {
        match kind {
            Kind::Add => emitter.binary(code::ADDPS, value, [a, b], true, copy),
            Kind::Mul => emitter.binary(code::MULPS, value, [a, b], true, copy),
            Kind::Sub => emitter.binary(code::SUBPS, value, [a, b], false, copy),
            Kind::Div => emitter.binary(code::DIVPS, value, [a, b], false, copy),
            Kind::Min => emitter.binary(code::MINPS, value, [a, b], false, copy),
            Kind::Max => emitter.binary(code::MAXPS, value, [a, b], false, copy),
            Kind::AddInt => emitter.binary(code::PADDD, value, [a, b], true, copy),
            Kind::AndBits => emitter.binary(code::PAND, value, [a, b], true, copy),
            Kind::OrBits => emitter.binary(code::POR, value, [a, b], true, copy),
            Kind::Gt => emitter.compare(0x1e, value, [a, b], copy),
            Kind::Ge => emitter.compare(0x1d, value, [a, b], copy),
            Kind::Eq => emitter.compare(0, value, [a, b], copy),
            Kind::Ne => emitter.compare(4, value, [a, b], copy),
            Kind::Sqrt => emitter.unary(code::SQRTPS, None, value, a, copy),
            Kind::Floor => emitter.unary(code::ROUNDPS, Some(9), value, a, copy),
            Kind::Trunc => emitter.unary(code::ROUNDPS, Some(11), value, a, copy),
            Kind::ToInt => emitter.unary(code::CVTTPS2DQ, None, value, a, copy),
            Kind::ToFloat => emitter.unary(code::CVTDQ2PS, None, value, a, copy),
            Kind::Permute(from) => emitter.unary(code::PERMILPS, Some(order(from)), value, a, copy),
            Kind::Abs => emitter.with_literal(code::ANDPS, 0x7fff_ffff, value, a, copy),
            Kind::Neg => emitter.with_literal(code::XORPS, 0x8000_0000, value, a, copy),
            Kind::ShiftLeft(bits) | Kind::ShiftRight(bits) => {
                let from = emitter.register(a, copy);
                let to = emitter.result(value, copy);
                emitter
                    .machine
                    .shift(to, from, matches!(kind, Kind::ShiftLeft(_)), bits);
            }
            Kind::Move => {
                let from = emitter.register(a, copy);
                let to = emitter.result(value, copy);
                emitter.machine.vector(code::MOVAPS, to, 0, Rm::Reg(from));
            }
            Kind::Select => emitter.select(value, [a, b, c], copy),
            Kind::Fused => emitter.fused(value, [a, b, c], copy),
            Kind::RoundHalf if emitter.rounding != Rounding::Exact => emitter.speculative_round(value, a, copy),
            Kind::RoundHalf => emitter.round(value, a, copy),
            Kind::HalfUnit => emitter.half_unit(value, a, copy),
            Kind::OrThree => emitter.ternary(0xfe, value, [a, b, c], copy),
            Kind::AndOr => emitter.ternary(0xea, value, [a, b, c], copy),
            Kind::Unit => emitter.unit(value, a, copy),
            Kind::Gather(texture) => emitter.gather(texture, value, a, copy),
            Kind::Lookup(table) => emitter.lookup(table, value, a, copy),
        }
    }
}

/// The lanes of a quad that its lanes get.
fn order(from: Neighbour) -> u8 {
    match from {
        Neighbour::Left => 0b10_10_00_00,
        Neighbour::Right => 0b11_11_01_01,
        Neighbour::Upper => 0b01_00_01_00,
        Neighbour::Lower => 0b11_10_11_10,
    }
}

impl Asm {
    /// The register that holds nothing for long where roundings are speculative.
    fn for_speculation(&self) -> u8 {
        if self.isa.evex() { EXPONENTS } else { SPARE }
    }
}

impl Emitter<'_, Asm> {
    /// A value as an operand that may be in memory.
    fn operand(&mut self, value: Value, copy: usize) -> Rm {
        if self.held(value, copy).is_none() && !self.in_mask(value) {
            // What is used again is loaded once, if that evicts no value.
            let loads = self.is_worth_a_register(value, copy);
            let found = match self.node(value) {
                Node::Const(bits) if self.ends(value, copy) => self.literal(bits),
                _ => rm(self.locate(value, copy)),
            };
            if !loads && (self.machine.isa.evex() || matches!(found, Rm::Full(_))) {
                return found;
            }
        }
        Rm::Reg(self.register(value, copy))
    }

    /// A constant as an operand, past the values.
    fn literal(&mut self, bits: u32) -> Rm {
        if self.machine.isa.evex() {
            return rm(self.constant(bits));
        }
        Rm::Full(mem(self.eight(bits)))
    }

    /// A number for all lanes as an operand, past the values.
    fn each(&mut self, each: Rm) -> Rm {
        if self.machine.isa.evex() {
            return each;
        }
        self.machine.vector(code::BROADCASTSS, SPARE, 0, each);
        Rm::Reg(SPARE)
    }

    fn binary(&mut self, op: Op, value: Value, [mut a, mut b]: [Value; 2], commutes: bool, copy: usize) {
        if commutes && self.held(a, copy).is_none() && self.held(b, copy).is_some() {
            std::mem::swap(&mut a, &mut b);
        }
        let first = self.register(a, copy);
        let second = self.operand(b, copy);
        let to = self.result(value, copy);
        self.machine.vector(op, to, first, second);
    }

    fn compare(&mut self, how: u8, value: Value, [a, b]: [Value; 2], copy: usize) {
        let first = self.register(a, copy);
        let second = self.operand(b, copy);
        let to = self.result(value, copy);
        self.machine.vector_immediate(code::CMPPS, to, first, second, how);
    }

    fn unary(&mut self, op: Op, immediate: Option<u8>, value: Value, a: Value, copy: usize) {
        let from = self.operand(a, copy);
        let to = self.result(value, copy);
        self.machine.vector(op, to, 0, from);
        self.machine.bytes.extend(immediate);
    }

    fn with_literal(&mut self, op: Op, bits: u32, value: Value, a: Value, copy: usize) {
        let from = self.register(a, copy);
        let literal = self.literal(bits);
        let to = self.result(value, copy);
        self.machine.vector(op, to, from, literal);
    }

    fn select(&mut self, value: Value, [mask, yes, no]: [Value; 3], copy: usize) {
        let by = self.register(mask, copy);
        if !self.machine.isa.evex() {
            let no = self.register(no, copy);
            let yes = self.operand(yes, copy);
            let to = self.result(value, copy);
            return self.machine.vector_immediate(code::BLENDVPS, to, no, yes, by << 4);
        }
        if self.node(no) == Node::Const(0) {
            let yes = self.operand(yes, copy);
            let op = match yes {
                Rm::Each(_) => code::BROADCASTSS,
                _ => code::MOVUPS_LOAD,
            };
            let to = self.result(value, copy);
            return self.machine.vector_masked(op, to, 0, yes, Masked { by, zero: true });
        }
        let no = self.register(no, copy);
        let yes = self.operand(yes, copy);
        let to = self.result(value, copy);
        self.machine
            .vector_masked(code::BLENDMPS, to, no, yes, Masked { by, zero: false });
    }

    /// a * b + c: the result takes the place of an operand.
    fn fused(&mut self, value: Value, [mut a, mut b, c]: [Value; 3], copy: usize) {
        if !self.machine.isa.fma() {
            let (first, second) = (self.register(a, copy), self.operand(b, copy));
            self.machine.vector(code::MULPS, SPARE, first, second);
            let third = self.operand(c, copy);
            let to = self.result(value, copy);
            return self.machine.vector(code::ADDPS, to, SPARE, third);
        }
        if a != b && a != c && !self.dies(a, copy) && self.dies(b, copy) {
            std::mem::swap(&mut a, &mut b);
        }
        if !self.dies(a, copy) && self.dies(c, copy) && c != a && c != b {
            let (first, third) = (self.register(a, copy), self.register(c, copy));
            let second = self.operand(b, copy);
            self.machine.vector(code::FMADD231PS, third, first, second);
            return self.rename(c, value, copy);
        }
        if self.held(a, copy).is_none() && self.held(b, copy).is_some() {
            std::mem::swap(&mut a, &mut b);
        }
        let first = self.register(a, copy);
        if self.held(b, copy).is_none() && self.dies(a, copy) && a != b && a != c && b != c {
            let third = self.register(c, copy);
            let second = self.operand(b, copy);
            self.machine.vector(code::FMADD132PS, first, third, second);
            return self.rename(a, value, copy);
        }
        let second = self.register(b, copy);
        let third = self.operand(c, copy);
        if self.dies(a, copy) && a != b && a != c {
            self.machine.vector(code::FMADD213PS, first, second, third);
            return self.rename(a, value, copy);
        }
        // None of them may be lost.
        let to = self.alloc(value, copy);
        self.machine.vector(code::MOVAPS, to, 0, Rm::Reg(first));
        self.machine.vector(code::FMADD213PS, to, second, third);
    }

    /// To the nearest half, denormals to zero: those without an exponent. With a product in front this takes a Zen 5 2.0
    /// cycles for sixteen lanes where there is enough to do beside it, a Zen 4 3.2; where roundings are speculative, the Zen 4
    /// takes 2.0.
    fn round(&mut self, value: Value, a: Value, copy: usize) {
        let from = self.register(a, copy);
        let to = self.result(value, copy);
        if self.machine.isa.evex() {
            self.machine.vector_immediate(code::CVTPS2PH, from, 0, Rm::Reg(to), 0);
            self.machine.test_words(SPARE_MASK, to, EXPONENTS);
            return self
                .machine
                .vector_masked(code::CVTPH2PS, to, 0, Rm::Reg(to), zero_elsewhere());
        }
        let exponents = self.literal(HALF_EXPONENTS);
        self.machine.vector_immediate(code::CVTPS2PH, from, 0, Rm::Reg(to), 0);
        self.machine.half_vector(code::PAND, SPARE, to, exponents);
        // Takes the sign of the exponent: none where there is none, and stays what it is elsewhere.
        self.machine.half_vector(code::PSIGNW, to, to, Rm::Reg(SPARE));
        self.machine.vector(code::CVTPH2PS, to, 0, Rm::Reg(to));
    }

    /// To the nearest half, if that is a normal one or zero and not too large. Other values raise flags of the processor,
    /// in products that are computed only for that.
    fn speculative_round(&mut self, value: Value, a: Value, copy: usize) {
        let from = self.register(a, copy);
        let to = self.result(value, copy);
        self.split(to, from);
        self.look(value, to);
    }

    /// Has the processor take note of what a half may not be.
    fn look(&mut self, value: Value, to: u8) {
        let (looks, spare) = (self.ranges.looks(value), self.machine.for_speculation());
        if looks.tiny {
            let tiny = self.literal(TO_UNDERFLOW);
            self.machine.vector(code::MULPS, spare, to, tiny);
        }
        if let Some(power) = looks.huge {
            let huge = self.literal(u32::from(255 - power) << 23);
            self.machine.vector(code::MULPS, spare, to, huge);
        }
    }

    /// From 0 to 1, then to the nearest half, which is right for all but denormals: to split it takes fewer of the units' time
    /// than to convert it there and back.
    fn half_unit(&mut self, value: Value, a: Value, copy: usize) {
        // Of a zero its sign is lost in any case.
        let within = self.ranges.within(a);
        let from = self.register(a, copy);
        let to = self.result(value, copy);
        let clamped = self.clamp(to, from, [!within.from_zero, !within.to_one]);
        self.split(to, clamped);
    }

    /// Not less than zero and not more than 1, as far as that is wanted; in which register it is.
    fn clamp(&mut self, to: u8, from: u8, [to_zero, to_one]: [bool; 2]) -> u8 {
        let mut at = from;
        if to_zero {
            // NaN becomes the second one.
            let zero = self.literal(0);
            self.machine.vector(code::MAXPS, to, at, zero);
            at = to;
        }
        if to_one {
            let one = match self.machine.isa.evex() {
                true => Rm::Reg(ONE),
                false => self.literal(1f32.to_bits()),
            };
            // Of what was not clamped there may be a zero whose sign would be taken for a bit.
            let op = if to_zero { code::PMINUD } else { code::MINPS };
            self.machine.vector(op, to, at, one);
            at = to;
        }
        at
    }

    /// The bits of a float that a half has: of 8191 times the float and of 8192 times it, the first is rounded to where those
    /// bits end, and so the difference is.
    fn split(&mut self, to: u8, from: u8) {
        let (from, spare) = self.for_splits(to, from);
        let [less, all] = PARTS.map(|number| self.literal(number.to_bits()));
        if to != from {
            self.machine.vector(code::MULPS, to, from, less);
            return self.machine.vector(code::FMSUB231PS, to, from, all);
        }
        self.machine.vector(code::MULPS, spare, from, less);
        self.machine.vector(code::FMSUB132PS, to, spare, all);
    }

    /// Where a float is that is to be split, and a register for a moment, which may not be its own.
    fn for_splits(&mut self, to: u8, from: u8) -> (u8, u8) {
        if !self.machine.isa.evex() || self.rounding != Rounding::Exact {
            return (from, self.machine.for_speculation());
        }
        // The operand's register is free now.
        if to != from {
            self.machine.vector(code::MOVAPS, to, 0, Rm::Reg(from));
        }
        (to, self.spare())
    }

    /// A bitwise function of three operands by its truth table; the result replaces the first if that is not used again.
    fn ternary(&mut self, table: u8, value: Value, [a, b, c]: [Value; 3], copy: usize) {
        let first = self.register(a, copy);
        let second = self.register(b, copy);
        let third = self.operand(c, copy);
        if self.dies(a, copy) && a != b && a != c {
            self.machine
                .vector_immediate(code::PTERNLOGD, first, second, third, table);
            return self.rename(a, value, copy);
        }
        let to = self.alloc(value, copy);
        self.machine.vector(code::MOVAPS, to, 0, Rm::Reg(first));
        self.machine.vector_immediate(code::PTERNLOGD, to, second, third, table);
    }

    /// From 0 to 1.
    fn unit(&mut self, value: Value, a: Value, copy: usize) {
        let from = self.register(a, copy);
        let within = self.ranges.within(a);
        let to = self.result(value, copy);
        if self.clamp(to, from, [!within.from_plus_zero, !within.to_one]) != to {
            self.machine.vector(code::MOVAPS, to, 0, Rm::Reg(from));
        }
    }

    fn gather(&mut self, texture: u8, value: Value, at: Value, copy: usize) {
        let at_register = self.register(at, copy);
        let last = Address::of_argument(offset_of!(Args, last) + 4 * usize::from(texture));
        let limit = self.each(Rm::Each(mem(last)));
        // The numbers stay until the words are there, in a register that is neither's.
        let to = self.alloc(value, copy);
        let spare = self.spare();
        self.machine.vector(code::PMINUD, spare, at_register, limit);
        let texels = Address::of_argument(offset_of!(Args, textures) + 8 * usize::from(texture));
        self.machine.load(Gpr::Rax, mem(texels));
        if !self.machine.isa.evex() {
            return self.one_by_one(to, Gpr::Rax, spare);
        }
        self.machine.vector(code::XORPS, to, to, Rm::Reg(to));
        self.machine.mask_all(SPARE_MASK);
        self.machine.gather(to, Gpr::Rax, spare, SPARE_MASK);
    }

    /// The words behind a base whose numbers a register has, without the instruction that gathers them: a Zen 3 takes 10 to
    /// 14 cycles for that, and 6 to 10 for this.
    fn one_by_one(&mut self, to: u8, base: Gpr, numbers: u8) {
        let place = self.scratch();
        self.machine.store_to(place, numbers, false);
        for (half, register) in [to, SPARE].into_iter().enumerate() {
            for lane in 0..4 {
                let number = place.plus(16 * half + 4 * lane);
                self.machine.load_short(Gpr::Rbx, mem(number));
                if lane == 0 {
                    self.machine.with_word(code::MOVD_LOAD, register, 0, base, Gpr::Rbx);
                } else {
                    self.machine.with_word(code::PINSRD, register, register, base, Gpr::Rbx);
                    self.machine.bytes.push(lane as u8);
                }
            }
        }
        self.machine
            .vector_immediate(code::INSERTI128, to, to, Rm::Reg(SPARE), 1);
    }

    fn lookup(&mut self, table: u8, value: Value, at: Value, copy: usize) {
        let place = self.table(table);
        let half = |number: usize| Rm::Full(mem(place.plus(32 * number)));
        let at = self.register(at, copy);
        if self.machine.isa.evex() {
            let to = self.result(value, copy);
            return self.machine.vector(code::PERMPS, to, at, half(0));
        }
        // Numbers from 8 on have a bit that becomes the sign.
        let to = self.alloc(value, copy);
        let high = self.spare();
        self.machine.vector(code::PERMPS, to, at, half(0));
        self.machine.vector(code::PERMPS, high, at, half(1));
        self.machine.shift(SPARE, at, true, 28);
        self.machine
            .vector_immediate(code::BLENDVPS, to, to, Rm::Reg(high), SPARE << 4);
    }
}
