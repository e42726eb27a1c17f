//! The writing of code for a graph: which value is in which register when, and the instructions for each.

use super::asm::{Asm, Gpr, Isa, Masked, Mem, Op, Rm, code};
use super::balance::Balance;
use super::call::{Args, Emitted, Needs, PLACES, Which};
use super::graph::{Effect, Graph, Kind, Node, Value};
use super::order::{Item, Order, operands};
use crate::exec::MAX_FRAGMENTS;
use crate::exec::lanes::{LANES, Row};
use std::mem::offset_of;

/// What goes to the stack at most, in bytes: no more than a page, for nobody looks whether there is more.
const MAX_STACK: usize = 56 * 64;

/// Exponent bits of two halves.
const HALF_EXPONENTS: u32 = 0x7c00_7c00;

/// The register that holds [`HALF_EXPONENTS`], with EVEX.
const EXPONENTS: u8 = 31;
/// The register that holds 1.0, with EVEX.
const ONE: u8 = 30;
/// Registers that hold nothing for long, and zero, with VEX.
const SPARE: u8 = 14;
const ZERO: u8 = 15;
/// The mask register that holds nothing for long.
const SPARE_MASK: u8 = 7;

/// Where a value is.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    register: Option<u8>,
    slot: Option<u16>,
}

/// Lanes of [`SPARE_MASK`], and zero in the others.
fn zero_elsewhere() -> Masked {
    Masked {
        by: SPARE_MASK,
        zero: true,
    }
}

/// Writes the code of a graph.
pub(super) struct Emitter<'a> {
    graph: &'a Graph,
    order: &'a Order,
    which: Which,
    copies: usize,
    asm: Asm,
    /// Number of the present item.
    at: u32,
    /// What vector registers and mask registers hold: a value and its copy.
    file: Vec<Option<(Value, usize)>>,
    masks: Vec<Option<(Value, usize)>>,
    /// Values of the present instruction.
    pinned: Vec<(Value, usize)>,
    places: Vec<Place>,
    pool: Vec<u32>,
    slots: u16,
    /// Those that hold nothing any more, and those that hold nothing once the present item is written.
    free_slots: Vec<u16>,
    done_slots: Vec<u16>,
    needs: Needs,
    /// Which operations go another way than their own.
    balance: Balance,
    /// Values that have the registers behind those of [`Emitter::file`].
    residents: Vec<Value>,
}

fn arg(offset: usize) -> Mem {
    Mem {
        base: Gpr::Rdi,
        disp: offset as i32,
    }
}

impl<'a> Emitter<'a> {
    /// Nothing is written yet. `which` and `copies` as for [`super::emit::emit`].
    pub fn new(graph: &'a Graph, order: &'a Order, isa: Isa, which: Which, copies: usize) -> Self {
        let residents = order.residents(graph, isa, copies);
        Self {
            graph,
            order,
            which,
            copies,
            asm: Asm::new(isa),
            at: 0,
            file: vec![None; isa.registers() - residents.len()],
            masks: vec![None; if isa.evex() { 7 } else { 0 }],
            pinned: Vec::new(),
            places: vec![Place::default(); graph.nodes.len() * copies],
            pool: vec![HALF_EXPONENTS; 4],
            slots: 0,
            free_slots: Vec::new(),
            done_slots: Vec::new(),
            needs: Needs {
                textures: graph.textures.clone(),
                ..Needs::default()
            },
            balance: Balance::of(graph, order, isa),
            residents,
        }
    }

    /// Bytes of a vector register.
    fn size(&self) -> usize {
        4 * self.asm.isa.lanes()
    }

    /// Bytes on the stack, a multiple of 64.
    fn stack(&self) -> usize {
        (usize::from(self.slots) * self.size()).next_multiple_of(64)
    }

    fn function(&mut self) {
        self.asm.enter(i32::MAX);
        for (register, offset) in [
            (Gpr::Rsi, offset_of!(Args, rows)),
            (Gpr::Rdx, offset_of!(Args, uniforms)),
            (Gpr::Rcx, offset_of!(Args, inputs)),
            (Gpr::R9, offset_of!(Args, pool)),
            (Gpr::R10, offset_of!(Args, masks)),
            (Gpr::R11, offset_of!(Args, words)),
        ] {
            self.asm.load(register, arg(offset));
        }
        self.asm.load_short(Gpr::R8, arg(offset_of!(Args, steps)));
        if self.asm.isa.evex() {
            let exponents = Rm::Each(self.constant(HALF_EXPONENTS));
            self.asm.vector(code::BROADCASTSS, EXPONENTS, 0, exponents);
            let one = Rm::Each(self.constant(1f32.to_bits()));
            self.asm.vector(code::BROADCASTSS, ONE, 0, one);
        } else {
            self.asm.vector(code::XORPS, ZERO, ZERO, Rm::Reg(ZERO));
        }
        for (number, value) in self.residents.clone().into_iter().enumerate() {
            let register = (self.file.len() + number) as u8;
            let from = self.leaf(self.node(value), 0);
            self.asm.vector(code::BROADCASTSS, register, 0, from);
            self.place(value, 0).register = Some(register);
        }
        let start = self.asm.bytes.len();
        let order = self.order;
        for (at, item) in order.items.iter().enumerate() {
            self.at = at as u32;
            for copy in 0..self.copies {
                match *item {
                    Item::Compute(value) => self.compute(value, copy),
                    Item::Effect(effect) => self.effect(effect, copy),
                }
                self.pinned.clear();
                self.free_slots.append(&mut self.done_slots);
            }
        }
        let bytes = (self.size() * self.copies) as i32;
        self.asm.add(Gpr::Rsi, bytes);
        self.asm.add(Gpr::R11, bytes);
        let mask = if self.asm.isa.evex() {
            2 * self.copies as i32
        } else {
            bytes
        };
        self.asm.add(Gpr::R10, mask);
        self.asm.count_down(Gpr::R8, start);
        self.asm.leave();
    }

    /// Writes it; nothing where the stack would not do.
    pub fn finish(mut self) -> Option<Emitted> {
        self.function();
        (self.stack() <= MAX_STACK).then(|| self.done())
    }

    fn done(mut self) -> Emitted {
        // The frame's size was not known in the beginning: it is the number behind the second of these bytes.
        let frame = self.stack() as i32;
        let at = self
            .asm
            .bytes
            .windows(4)
            .position(|bytes| bytes == i32::MAX.to_le_bytes());
        let at = at.unwrap_or_default();
        self.asm.bytes[at..at + 4].copy_from_slice(&frame.to_le_bytes());
        let pool = self.asm.bytes.len().next_multiple_of(64);
        self.asm.bytes.resize(pool, 0xcc);
        for word in &self.pool {
            self.asm.bytes.extend_from_slice(&word.to_le_bytes());
        }
        Emitted {
            pool,
            lanes: self.copies * self.asm.isa.lanes(),
            most: if self.which == Which::Tile {
                MAX_FRAGMENTS
            } else {
                LANES
            },
            mask_lanes: self.which == Which::Masked && !self.asm.isa.evex(),
            bytes: self.asm.bytes,
            needs: self.needs,
        }
    }

    /// Place of a constant.
    fn constant(&mut self, bits: u32) -> Mem {
        let at = self.pool.iter().position(|word| *word == bits).unwrap_or_else(|| {
            self.pool.push(bits);
            self.pool.len() - 1
        });
        Mem {
            base: Gpr::R9,
            disp: 4 * at as i32,
        }
    }

    /// Place of a row's lanes.
    fn row(&mut self, row: u16, copy: usize) -> Mem {
        let place = || PLACES.iter().position(|place| *place == row).unwrap_or(0);
        let row = match self.which {
            Which::Tile => 2 * place() as u16,
            _ => row,
        };
        let long = usize::from(self.which == Which::Tile);
        self.needs.rows = self.needs.rows.max(usize::from(row) + 1 + long);
        Mem {
            base: Gpr::Rsi,
            disp: (usize::from(row) * size_of::<Row>() + copy * self.size()) as i32,
        }
    }

    /// Place of the lanes' words.
    fn word(&self, copy: usize) -> Mem {
        Mem {
            base: Gpr::R11,
            disp: (copy * self.size()) as i32,
        }
    }

    /// Where a leaf is, and whether it is one number for all lanes.
    fn leaf(&mut self, node: Node, copy: usize) -> Rm {
        match node {
            Node::Const(bits) => Rm::Each(self.constant(bits)),
            Node::Uniform(at) => {
                self.needs.uniforms = self.needs.uniforms.max(usize::from(at) + 1);
                Rm::Each(Mem {
                    base: Gpr::Rdx,
                    disp: 4 * i32::from(at),
                })
            }
            Node::Input(offset) => Rm::Each(Mem {
                base: Gpr::Rcx,
                disp: i32::from(offset),
            }),
            Node::Largest(texture) => Rm::Each(arg(offset_of!(Args, largest) + 4 * usize::from(texture))),
            Node::Row(row) => Rm::Full(self.row(row, copy)),
            // Words are written last, where the destination is.
            Node::Destination => {
                self.needs.words = true;
                Rm::Full(self.word(copy))
            }
            Node::Op(..) => unreachable!("not a leaf"),
        }
    }

    fn slot(&self, slot: u16) -> Mem {
        Mem {
            base: Gpr::Rsp,
            disp: self.size() as i32 * i32::from(slot),
        }
    }

    fn node(&self, value: Value) -> Node {
        self.graph.nodes[value as usize]
    }

    fn place(&mut self, value: Value, copy: usize) -> &mut Place {
        let (value, copy) = self.one(value, copy);
        &mut self.places[value as usize * self.copies + copy]
    }

    /// A value and its copy; there is one of what is the same for all lanes.
    fn one(&self, value: Value, copy: usize) -> (Value, usize) {
        (value, if self.node(value).is_uniform() { 0 } else { copy })
    }

    /// Whether nobody uses a value behind the present item and copy.
    fn is_done(&self, value: Value, copy: usize) -> bool {
        let waits = self.node(value).is_uniform() && (copy + 1 < self.copies || self.residents.contains(&value));
        !waits && self.next_use(value).is_none()
    }

    /// Number of the item that uses a value next, after the present one.
    fn next_use(&self, value: Value) -> Option<u32> {
        let uses = &self.order.uses[value as usize];
        uses.get(uses.partition_point(|at| *at <= self.at)).copied()
    }

    /// Number of the item that uses a value next, the present one included: another copy may be waiting.
    fn use_from_here(&self, value: Value) -> u32 {
        let uses = &self.order.uses[value as usize];
        uses.get(uses.partition_point(|at| *at < self.at))
            .copied()
            .unwrap_or(u32::MAX)
    }

    fn in_mask(&self, value: Value) -> bool {
        self.asm.isa.evex() && matches!(self.node(value), Node::Op(kind, _) if kind.is_mask())
    }

    /// A register for a value of the present item; another value may have to make room.
    fn take(&mut self, value: Value, copy: usize) -> u8 {
        let mask = self.in_mask(value);
        // Mask register 0 means no mask.
        let first = usize::from(mask);
        let file = if mask { &self.masks } else { &self.file };
        let free = (first..file.len()).find(|at| file[*at].is_none());
        let register = free.unwrap_or_else(|| {
            let unpinned = |at: &usize| file[*at].is_some_and(|held| !self.pinned.contains(&held));
            let last_used = |at: &usize| file[*at].map_or(u32::MAX, |(value, _)| self.use_from_here(value));
            let furthest = (first..file.len()).filter(unpinned).max_by_key(last_used);
            furthest.unwrap_or(first)
        });
        self.evict(register as u8, mask);
        let one = self.one(value, copy);
        let file = if mask { &mut self.masks } else { &mut self.file };
        file[register] = Some(one);
        self.place(value, copy).register = Some(register as u8);
        self.pinned.push(one);
        register as u8
    }

    /// What a register holds goes to the stack if it is used again and cannot be had elsewhere.
    fn evict(&mut self, register: u8, mask: bool) {
        let file = if mask { &mut self.masks } else { &mut self.file };
        let Some((value, copy)) = file[usize::from(register)].take() else {
            return;
        };
        self.place(value, copy).register = None;
        let used = self.use_from_here(value) != u32::MAX;
        if self.node(value).is_leaf() || self.place(value, copy).slot.is_some() || !used {
            return;
        }
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        self.place(value, copy).slot = Some(slot);
        let to = self.slot(slot);
        if mask {
            self.asm.mask_store(to, register);
        } else {
            self.asm.vector(code::MOVUPS_STORE, register, 0, Rm::Full(to));
        }
    }

    /// The register a value is in, or is brought to.
    fn register(&mut self, value: Value, copy: usize) -> u8 {
        if let Some(register) = self.place(value, copy).register {
            let one = self.one(value, copy);
            self.pinned.push(one);
            return register;
        }
        let from = self.found(value, copy);
        let register = self.take(value, copy);
        match from {
            Rm::Full(from) if self.in_mask(value) => self.asm.mask_load(register, from),
            Rm::Full(_) => self.asm.vector(code::MOVUPS_LOAD, register, 0, from),
            _ => self.asm.vector(code::BROADCASTSS, register, 0, from),
        }
        register
    }

    /// Where in memory a value is.
    fn found(&mut self, value: Value, copy: usize) -> Rm {
        match (self.node(value), self.place(value, copy).slot) {
            (Node::Op(..), Some(slot)) => Rm::Full(self.slot(slot)),
            (Node::Op(..), None) => unreachable!("a value is used before it is there"),
            (leaf, _) => self.leaf(leaf, copy),
        }
    }

    /// A value as an operand that may be in memory.
    fn operand(&mut self, value: Value, copy: usize) -> Rm {
        if self.place(value, copy).register.is_none() && !self.in_mask(value) {
            let found = self.found(value, copy);
            // What is used again is loaded once, if that pushes nobody out.
            let loads = !self.is_done(value, copy) && self.file.contains(&None);
            if !loads && (self.asm.isa.evex() || matches!(found, Rm::Full(_))) {
                return found;
            }
        }
        Rm::Reg(self.register(value, copy))
    }

    /// A constant as an operand, past the values.
    fn literal(&mut self, bits: u32) -> Rm {
        let constant = Rm::Each(self.constant(bits));
        self.each(constant)
    }

    /// A number for all lanes as an operand, past the values.
    fn each(&mut self, each: Rm) -> Rm {
        if self.asm.isa.evex() {
            return each;
        }
        self.asm.vector(code::BROADCASTSS, SPARE, 0, each);
        Rm::Reg(SPARE)
    }

    /// The register of a result that no operand is needed for any more once it is written: operands that are used for the
    /// last time make room for it.
    fn result(&mut self, value: Value, copy: usize) -> u8 {
        self.release(value, copy);
        self.pinned.clear();
        self.take(value, copy)
    }

    /// Frees the registers of a value's operands that are not used any more.
    fn release(&mut self, value: Value, copy: usize) {
        for operand in operands(self.node(value)) {
            self.free(operand, copy);
        }
    }

    /// Frees a value's register if it is not used any more.
    fn free(&mut self, value: Value, copy: usize) {
        if !self.is_done(value, copy) {
            return;
        }
        let mask = self.in_mask(value);
        // An instruction that is still to be written may read it.
        let slot = self.place(value, copy).slot.take();
        self.done_slots.extend(slot);
        if let Some(register) = self.place(value, copy).register.take() {
            let file = if mask { &mut self.masks } else { &mut self.file };
            file[usize::from(register)] = None;
        }
    }

    /// Whether a value is in a register that nobody looks at again.
    fn dies(&mut self, value: Value, copy: usize) -> bool {
        self.is_done(value, copy) && self.place(value, copy).register.is_some()
    }

    fn compute(&mut self, value: Value, copy: usize) {
        let Node::Op(kind, [a, b, c]) = self.node(value) else {
            return;
        };
        match kind {
            Kind::Add | Kind::Sub if self.balance.other_way() => self.sum(kind, value, [a, b], copy),
            Kind::Add => self.binary(code::ADDPS, value, [a, b], true, copy),
            Kind::Mul => self.binary(code::MULPS, value, [a, b], true, copy),
            Kind::Sub => self.binary(code::SUBPS, value, [a, b], false, copy),
            Kind::Div => self.binary(code::DIVPS, value, [a, b], false, copy),
            Kind::Min => self.binary(code::MINPS, value, [a, b], false, copy),
            Kind::Max => self.binary(code::MAXPS, value, [a, b], false, copy),
            Kind::AddInt => self.binary(code::PADDD, value, [a, b], true, copy),
            Kind::AndBits => self.binary(code::PAND, value, [a, b], true, copy),
            Kind::OrBits => self.binary(code::POR, value, [a, b], true, copy),
            Kind::Gt => self.compare(0x1e, value, [a, b], copy),
            Kind::Ge => self.compare(0x1d, value, [a, b], copy),
            Kind::Eq => self.compare(0, value, [a, b], copy),
            Kind::Ne => self.compare(4, value, [a, b], copy),
            Kind::Sqrt => self.unary(code::SQRTPS, None, value, a, copy),
            Kind::Floor => self.unary(code::ROUNDPS, Some(9), value, a, copy),
            Kind::Trunc => self.unary(code::ROUNDPS, Some(11), value, a, copy),
            Kind::ToInt => self.unary(code::CVTTPS2DQ, None, value, a, copy),
            Kind::ToFloat => self.unary(code::CVTDQ2PS, None, value, a, copy),
            Kind::Permute(order) => self.unary(code::PERMILPS, Some(order), value, a, copy),
            Kind::Abs => self.with_literal(code::ANDPS, 0x7fff_ffff, value, a, copy),
            Kind::Neg => self.with_literal(code::XORPS, 0x8000_0000, value, a, copy),
            Kind::ShiftLeft(bits) | Kind::ShiftRight(bits) => {
                let from = self.register(a, copy);
                let to = self.result(value, copy);
                self.asm.shift(to, from, matches!(kind, Kind::ShiftLeft(_)), bits);
            }
            Kind::Move => {
                let from = self.register(a, copy);
                let to = self.result(value, copy);
                self.asm.vector(code::MOVAPS, to, 0, Rm::Reg(from));
            }
            Kind::Select => self.select(value, [a, b, c], copy),
            Kind::Fused => self.fused(value, [a, b, c], copy),
            Kind::RoundHalf => self.round(value, a, copy),
            Kind::HalfUnit => self.half_unit(value, a, copy),
            Kind::Unit => self.unit(value, a, copy),
            Kind::Gather(texture) => self.gather(texture, value, a, copy),
            Kind::Lookup(table) => self.lookup(table, value, a, copy),
        }
        self.release(value, copy);
    }

    fn binary(&mut self, op: Op, value: Value, [mut a, mut b]: [Value; 2], commutes: bool, copy: usize) {
        if commutes && self.place(a, copy).register.is_none() && self.place(b, copy).register.is_some() {
            std::mem::swap(&mut a, &mut b);
        }
        let first = self.register(a, copy);
        let second = self.operand(b, copy);
        let to = self.result(value, copy);
        self.asm.vector(op, to, first, second);
    }

    /// A sum or a difference as a product's with one, which is the same to the bit.
    fn sum(&mut self, kind: Kind, value: Value, [mut a, mut b]: [Value; 2], copy: usize) {
        if kind == Kind::Add && self.place(a, copy).register.is_none() && self.place(b, copy).register.is_some() {
            std::mem::swap(&mut a, &mut b);
        }
        let first = self.register(a, copy);
        let second = self.operand(b, copy);
        let to = self.result(value, copy);
        let (op, rest) = match (kind, second) {
            (Kind::Add, Rm::Reg(second)) if second == to => (code::FMADD213PS, Rm::Reg(first)),
            (_, Rm::Reg(second)) if second == to && second != first => (code::FNMADD213PS, Rm::Reg(first)),
            _ => {
                if to != first {
                    self.asm.vector(code::MOVAPS, to, 0, Rm::Reg(first));
                }
                let op = if kind == Kind::Add {
                    code::FMADD213PS
                } else {
                    code::FMSUB213PS
                };
                (op, second)
            }
        };
        self.asm.vector(op, to, ONE, rest);
    }

    fn compare(&mut self, how: u8, value: Value, [a, b]: [Value; 2], copy: usize) {
        let first = self.register(a, copy);
        let second = self.operand(b, copy);
        let to = self.result(value, copy);
        self.asm.vector_immediate(code::CMPPS, to, first, second, how);
    }

    fn unary(&mut self, op: Op, immediate: Option<u8>, value: Value, a: Value, copy: usize) {
        let from = self.operand(a, copy);
        let to = self.result(value, copy);
        self.asm.vector(op, to, 0, from);
        self.asm.bytes.extend(immediate);
    }

    fn with_literal(&mut self, op: Op, bits: u32, value: Value, a: Value, copy: usize) {
        let from = self.register(a, copy);
        let literal = self.literal(bits);
        let to = self.result(value, copy);
        self.asm.vector(op, to, from, literal);
    }

    fn select(&mut self, value: Value, [mask, yes, no]: [Value; 3], copy: usize) {
        let by = self.register(mask, copy);
        if !self.asm.isa.evex() {
            let no = self.register(no, copy);
            let yes = self.operand(yes, copy);
            let to = self.result(value, copy);
            return self.asm.vector_immediate(code::BLENDVPS, to, no, yes, by << 4);
        }
        if self.node(no) == Node::Const(0) {
            let yes = self.operand(yes, copy);
            let op = match yes {
                Rm::Each(_) => code::BROADCASTSS,
                _ => code::MOVUPS_LOAD,
            };
            let to = self.result(value, copy);
            return self.asm.vector_masked(op, to, 0, yes, Masked { by, zero: true });
        }
        let no = self.register(no, copy);
        let yes = self.operand(yes, copy);
        let to = self.result(value, copy);
        self.asm
            .vector_masked(code::BLENDMPS, to, no, yes, Masked { by, zero: false });
    }

    /// a * b + c: the result takes the place of an operand.
    fn fused(&mut self, value: Value, [mut a, mut b, c]: [Value; 3], copy: usize) {
        if !self.asm.isa.fma() {
            let (first, second) = (self.register(a, copy), self.operand(b, copy));
            self.asm.vector(code::MULPS, SPARE, first, second);
            let third = self.operand(c, copy);
            let to = self.result(value, copy);
            return self.asm.vector(code::ADDPS, to, SPARE, third);
        }
        if a != b && a != c && !self.dies(a, copy) && self.dies(b, copy) {
            std::mem::swap(&mut a, &mut b);
        }
        if !self.dies(a, copy) && self.dies(c, copy) && c != a && c != b {
            let (first, third) = (self.register(a, copy), self.register(c, copy));
            let second = self.operand(b, copy);
            self.asm.vector(code::FMADD231PS, third, first, second);
            return self.rename(c, value, copy);
        }
        let first = self.register(a, copy);
        let second = self.register(b, copy);
        let third = self.operand(c, copy);
        if self.dies(a, copy) && a != b && a != c {
            self.asm.vector(code::FMADD213PS, first, second, third);
            return self.rename(a, value, copy);
        }
        // None of them may be lost.
        let to = self.take(value, copy);
        self.asm.vector(code::MOVAPS, to, 0, Rm::Reg(first));
        self.asm.vector(code::FMADD213PS, to, second, third);
    }

    /// The register of a value that is done with holds another.
    fn rename(&mut self, old: Value, new: Value, copy: usize) {
        let register = self.place(old, copy).register.take();
        self.place(new, copy).register = register;
        if let Some(register) = register {
            self.file[usize::from(register)] = Some((new, copy));
        }
    }

    /// To the nearest half, denormals to zero: those without an exponent.
    fn round(&mut self, value: Value, a: Value, copy: usize) {
        let from = self.register(a, copy);
        let to = self.result(value, copy);
        if self.asm.isa.evex() {
            self.asm.vector_immediate(code::CVTPS2PH, from, 0, Rm::Reg(to), 0);
            self.asm.test_words(SPARE_MASK, to, EXPONENTS);
            return self
                .asm
                .vector_masked(code::CVTPH2PS, to, 0, Rm::Reg(to), zero_elsewhere());
        }
        let exponents = Rm::Full(self.constant(HALF_EXPONENTS));
        self.asm.vector_immediate(code::CVTPS2PH, from, 0, Rm::Reg(to), 0);
        self.asm.half_vector(code::PAND, SPARE, to, exponents);
        self.asm.half_vector(code::PCMPEQW, SPARE, SPARE, Rm::Reg(ZERO));
        self.asm.half_vector(code::PANDN, to, SPARE, Rm::Reg(to));
        self.asm.vector(code::CVTPH2PS, to, 0, Rm::Reg(to));
    }

    /// To the nearest half, then from 0 to 1. As whole numbers, halves that are negative or no numbers are more than infinity.
    fn half_unit(&mut self, value: Value, a: Value, copy: usize) {
        let from = self.register(a, copy);
        let to = self.result(value, copy);
        self.asm.vector_immediate(code::CVTPS2PH, from, 0, Rm::Reg(to), 0);
        self.asm.words_up_to(SPARE_MASK, to, EXPONENTS);
        self.asm
            .vector_masked(code::CVTPH2PS, to, 0, Rm::Reg(to), zero_elsewhere());
        let one = self.literal(1f32.to_bits());
        self.asm.vector(code::PMINUD, to, to, one);
    }

    /// From 0 to 1, in the same way.
    fn unit(&mut self, value: Value, a: Value, copy: usize) {
        let from = self.register(a, copy);
        let one = self.literal(1f32.to_bits());
        if !self.balance.has_time() {
            let zero = self.literal(0);
            let to = self.result(value, copy);
            self.asm.vector(code::MAXPS, to, from, zero);
            return self.asm.vector(code::MINPS, to, to, one);
        }
        let infinity = self.literal(f32::INFINITY.to_bits());
        self.asm.vector_immediate(code::PCMPUD, SPARE_MASK, from, infinity, 2);
        let to = self.result(value, copy);
        self.asm.vector_masked(code::PMINUD, to, from, one, zero_elsewhere());
    }

    fn gather(&mut self, texture: u8, value: Value, at: Value, copy: usize) {
        let at_register = self.register(at, copy);
        let last = arg(offset_of!(Args, last) + 4 * usize::from(texture));
        let limit = self.each(Rm::Each(last));
        // The numbers stay until the words are there, in a register that is neither's.
        let to = self.take(value, copy);
        let spare = self.spare();
        self.asm.vector(code::PMINUD, spare, at_register, limit);
        self.asm
            .load(Gpr::Rax, arg(offset_of!(Args, textures) + 8 * usize::from(texture)));
        self.asm.vector(code::XORPS, to, to, Rm::Reg(to));
        if self.asm.isa.evex() {
            self.asm.mask_all(SPARE_MASK);
            self.asm.gather(to, Gpr::Rax, spare, SPARE_MASK);
        } else {
            self.asm.vector(code::PCMPEQW, SPARE, SPARE, Rm::Reg(SPARE));
            self.asm.gather(to, Gpr::Rax, spare, SPARE);
        }
        self.file[usize::from(spare)] = None;
    }

    fn lookup(&mut self, table: u8, value: Value, at: Value, copy: usize) {
        let place = self.table(table);
        let half = |number: i32| {
            Rm::Full(Mem {
                disp: place.disp + 32 * number,
                ..place
            })
        };
        let at = self.register(at, copy);
        if self.asm.isa.evex() {
            let to = self.result(value, copy);
            return self.asm.vector(code::PERMPS, to, at, half(0));
        }
        // Numbers from 8 on have a bit that becomes the sign.
        let to = self.take(value, copy);
        let high = self.spare();
        self.asm.vector(code::PERMPS, to, at, half(0));
        self.asm.vector(code::PERMPS, high, at, half(1));
        self.asm.shift(SPARE, at, true, 28);
        self.asm
            .vector_immediate(code::BLENDVPS, to, to, Rm::Reg(high), SPARE << 4);
        self.file[usize::from(high)] = None;
    }

    /// Place of a table.
    fn table(&mut self, number: u8) -> Mem {
        let table = &self.graph.tables[usize::from(number)];
        let at = self.pool.windows(16).position(|words| words == table);
        let at = at.unwrap_or_else(|| {
            self.pool.extend_from_slice(table);
            self.pool.len() - 16
        });
        Mem {
            base: Gpr::R9,
            disp: 4 * at as i32,
        }
    }

    /// A register for a moment.
    fn spare(&mut self) -> u8 {
        // Held for no value: the caller gives it back before anybody asks.
        let free = self.file.iter().position(Option::is_none);
        let register = free.unwrap_or_else(|| {
            let unpinned = |at: &usize| self.file[*at].is_some_and(|held| !self.pinned.contains(&held));
            (0..self.file.len()).find(unpinned).unwrap_or(0)
        });
        self.evict(register as u8, false);
        register as u8
    }

    fn effect(&mut self, effect: Effect, copy: usize) {
        let value = effect.value();
        match effect {
            Effect::Store(row, _) if self.which == Which::Masked => {
                let to = self.row(row, copy);
                self.store_masked(to, value, copy);
            }
            Effect::Store(row, _) | Effect::StoreAll(row, _) => {
                let from = self.register(value, copy);
                let to = Rm::Full(self.row(row, copy));
                self.asm.vector(code::MOVUPS_STORE, from, 0, to);
            }
            Effect::Words(_) if self.which == Which::Masked => {
                self.needs.words = true;
                let to = self.word(copy);
                self.store_masked(to, value, copy);
            }
            Effect::Words(_) => {
                self.needs.words = true;
                let from = self.register(value, copy);
                let to = Rm::Full(self.word(copy));
                self.asm.vector(code::MOVUPS_STORE, from, 0, to);
            }
            Effect::Require(_) => {
                let mask = self.register(value, copy);
                if self.asm.isa.evex() {
                    self.asm.mask_bits(Gpr::Rax, mask);
                    self.asm.flip(Gpr::Rax, 0xffff);
                } else {
                    self.asm.signs(Gpr::Rax, mask);
                    self.asm.flip(Gpr::Rax, 0xff);
                }
                self.asm.or_to(arg(offset_of!(Args, left)), Gpr::Rax);
            }
        }
        self.free(value, copy);
    }

    fn store_masked(&mut self, to: Mem, value: Value, copy: usize) {
        let from = self.register(value, copy);
        let to = Rm::Full(to);
        let mask = |bytes: usize| Mem {
            base: Gpr::R10,
            disp: (bytes * copy) as i32,
        };
        if self.asm.isa.evex() {
            self.asm.mask_load(SPARE_MASK, mask(2));
            let masked = Masked {
                by: SPARE_MASK,
                zero: false,
            };
            self.asm.vector_masked(code::MOVUPS_STORE, from, 0, to, masked);
        } else {
            self.asm
                .vector(code::MOVUPS_LOAD, SPARE, 0, Rm::Full(mask(self.size())));
            self.asm.vector(code::MASKMOVPS_STORE, from, SPARE, to);
        }
    }
}
