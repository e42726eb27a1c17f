//! The writing of code for a graph, item by item of its schedule. Registers and spill slots are the
//! [allocator's](super::regalloc), instructions a [`Machine`]'s.

use super::constants::ConstantPool;
use super::regalloc::{RegisterAllocator, Spill};
use crate::analysis::ranges::Ranges;
use crate::analysis::schedule::{Item, Schedule};
use crate::analysis::uniformity::Uniformity;
use crate::call::{Args, Emitted, MAX_TEXTURES, Mode, Needs, Rounding, TILE_LANES, TILE_ROWS, TILES, UNIFORMS, Which};
use crate::graph::{Effect, Graph, Kind, Node, Value};
use crate::isa::Isa;
use num::rows::{LANES, Row};
use std::mem::offset_of;

/// Largest stack frame, in bytes: at most a page, because frames are not probed.
const MAX_STACK: usize = 56 * 64;

/// Values that are computed before the first round at most.
const MOST_HOISTED: u16 = 16;

/// What addresses are counted from, each in a register of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Args,
    Rows,
    Uniforms,
    Inputs,
    Pool,
    Masks,
    Words,
    Stack,
}

/// Bases that are arguments, and where they are among them.
pub(crate) const BASES: [(Base, usize); 6] = [
    (Base::Rows, offset_of!(Args, rows)),
    (Base::Uniforms, offset_of!(Args, uniforms)),
    (Base::Inputs, offset_of!(Args, inputs)),
    (Base::Pool, offset_of!(Args, pool)),
    (Base::Masks, offset_of!(Args, masks)),
    (Base::Words, offset_of!(Args, words)),
];

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// What it is counted from.
    pub base: Base,
    /// Bytes from there.
    pub offset: usize,
}

impl Address {
    /// The place of an argument.
    pub(crate) fn of_argument(offset: usize) -> Self {
        Self {
            base: Base::Args,
            offset,
        }
    }

    /// This many bytes behind it.
    pub(crate) fn plus(self, bytes: usize) -> Self {
        Self {
            offset: self.offset + bytes,
            ..self
        }
    }
}

/// A value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A number for each lane.
    Full(Address),
    /// One number for all lanes.
    Each(Address),
}

/// What is a machine's own: the instructions. Registers it is given are those of [`Isa::registers`], or of [`Isa::masks`]
/// where `mask` says so.
pub(crate) trait Machine: Sized {
    /// Words of a constant in memory: one, or four, one for each lane.
    const CONSTANT: usize;
    /// What is between the instructions and the constants.
    const PADDING: u8;

    /// Nothing is written yet.
    fn of(isa: Isa) -> Self;
    /// What may be used.
    fn isa(&self) -> Isa;
    /// The bytes written so far.
    fn bytes(&mut self) -> &mut Vec<u8>;
    /// Makes room on the stack, how much is not known yet, and brings arguments to registers.
    fn begin(emitter: &mut Emitter<'_, Self>);
    /// Says how many bytes there are on the stack: a multiple of 64.
    fn frame(&mut self, bytes: usize);
    /// Advances by these bytes of words and of masks, jumps to `start` once per step, then returns.
    fn end(&mut self, words: usize, masks: usize, start: usize);
    /// A constant without memory, where there is a way.
    fn constant(&mut self, to: u8, bits: u32) -> bool;
    /// A register from memory.
    fn load_from(&mut self, to: u8, mask: bool, from: Found);
    /// A register to memory.
    fn store_to(&mut self, to: Address, from: u8, mask: bool);
    /// The same for the lanes of the mask at `by`.
    fn store_some(&mut self, to: Address, from: u8, by: Address);
    /// Takes note of lanes where a mask does not hold.
    fn guard(&mut self, mask: u8);
    /// Computes a value; what its operands are not needed for any more is let go by the emitter.
    fn compute(emitter: &mut Emitter<'_, Self>, value: Value, kind: Kind, operands: [Value; 3], copy: usize);
}

/// A graph, and what was found about it.
#[derive(Clone, Copy)]
pub(crate) struct Analysis<'a> {
    pub graph: &'a Graph,
    pub schedule: &'a Schedule,
    pub ranges: &'a Ranges,
}

/// Writes the code of a graph.
pub(crate) struct Emitter<'a, M> {
    graph: &'a Graph,
    schedule: &'a Schedule,
    which: Which,
    /// How values become halves.
    pub rounding: Rounding,
    copies: usize,
    /// The instructions.
    pub machine: M,
    allocator: RegisterAllocator<'a>,
    constants: ConstantPool,
    needs: Needs,
    /// What values may come to.
    pub ranges: &'a Ranges,
}

impl<'a, M: Machine> Emitter<'a, M> {
    /// Code for this number of rows of lanes side by side; nothing is written yet.
    pub(crate) fn new(analysis: Analysis<'a>, mode: Mode, copies: usize) -> Self {
        let Analysis {
            graph,
            schedule,
            ranges,
        } = analysis;
        let Mode { isa, which, rounding } = mode;
        let uniformity = Uniformity::new(graph, isa, which, copies);
        Self {
            graph,
            schedule,
            which,
            rounding,
            copies,
            machine: M::of(isa),
            allocator: RegisterAllocator::new(graph, schedule, uniformity, isa, copies),
            constants: ConstantPool::default(),
            needs: Needs::default(),
            ranges,
        }
    }

    /// Bytes of a vector register.
    fn size(&self) -> usize {
        4 * self.machine.isa().lanes()
    }

    /// Bytes on the stack, a multiple of 64.
    fn stack(&self) -> usize {
        (usize::from(self.allocator.spill_slots()) * self.size()).next_multiple_of(64)
    }

    /// Writes it; nothing where the stack would not do.
    pub(crate) fn finish(mut self) -> Option<Emitted> {
        self.function();
        (self.stack() <= MAX_STACK).then(|| self.done())
    }

    fn function(&mut self) {
        M::begin(self);
        for (value, register) in self.allocator.constants() {
            self.reload(value, 0, register);
        }
        self.hoist();
        let start = self.machine.bytes().len();
        let schedule = self.schedule;
        for (at, item) in schedule.items.iter().enumerate() {
            self.allocator.begin(at);
            for copy in 0..self.copies {
                match *item {
                    Item::Compute(value) if self.allocator.is_hoisted(value) => {}
                    Item::Compute(value) => self.compute(value, copy),
                    Item::Effect(effect) => self.effect(effect, copy),
                }
                self.allocator.end();
            }
        }
        let (words, masks) = (self.size(), self.machine.isa().mask_bytes());
        self.machine.end(words * self.copies, masks * self.copies, start);
    }

    /// Computes before the first round what is the same in all lanes of a whole tile, as far as there is room for it.
    fn hoist(&mut self) {
        // One row alone has no room to spare.
        if self.copies == 1 || self.which != Which::Tile {
            return;
        }
        let schedule = self.schedule;
        for (at, item) in schedule.items.iter().enumerate() {
            let Item::Compute(value) = *item else { continue };
            let is_gather = matches!(self.node(value), Node::Op(Kind::Gather(_), _));
            if self.allocator.spill_slots() == MOST_HOISTED || is_gather || !self.allocator.may_hoist(value) {
                continue;
            }
            self.allocator.begin(at);
            self.compute(value, 0);
            self.allocator.end();
            let spill = self.allocator.hoist(value);
            self.spill(spill);
        }
        let spills = self.allocator.evict_all();
        spills.into_iter().for_each(|spill| self.spill(Some(spill)));
    }

    /// Writes what has to go to the stack.
    fn spill(&mut self, spill: Option<Spill>) {
        if let Some(Spill {
            register,
            is_mask,
            slot,
        }) = spill
        {
            let to = self.slot(slot);
            self.machine.store_to(to, register, is_mask);
        }
    }

    fn done(mut self) -> Emitted {
        let (frame, isa) = (self.stack(), self.machine.isa());
        self.machine.frame(frame);
        let mut bytes = std::mem::take(self.machine.bytes());
        let pool = bytes.len().next_multiple_of(64);
        bytes.resize(pool, M::PADDING);
        bytes.extend(self.constants.bytes());
        Emitted {
            bytes,
            isa,
            pool,
            lanes: self.copies * isa.lanes(),
            most: if self.which == Which::Tile {
                TILES * TILE_LANES
            } else {
                LANES
            },
            mask_lanes: self.which == Which::Masked && isa.masks() == 0,
            needs: self.needs,
        }
    }

    fn compute(&mut self, value: Value, copy: usize) {
        if let Node::Op(kind, operands) = self.node(value) {
            if let Kind::Gather(texture) = kind {
                self.gathers(texture);
            }
            if self.allocator.own(value, copy) == copy {
                M::compute(self, value, kind, operands, copy);
            }
            self.allocator.release(value, copy);
        }
    }

    /// Words of a texture, or uniforms, are read by computed indices.
    fn gathers(&mut self, texture: u8) {
        assert!(texture <= UNIFORMS, "texture {texture}");
        if texture == UNIFORMS {
            self.needs.any_uniform = true;
            return;
        }
        let (textures, number) = (&mut self.needs.textures, usize::from(texture));
        if textures.len() <= number {
            textures.resize(number + 1, false);
        }
        textures[number] = true;
    }

    fn effect(&mut self, effect: Effect, copy: usize) {
        let value = effect.value();
        let masked = self.which == Which::Masked && !matches!(effect, Effect::StoreAll(..));
        match effect {
            Effect::Store(row, _) | Effect::StoreAll(row, _) => {
                let to = self.row(row, copy);
                self.write(to, value, copy, masked);
            }
            Effect::Words(_) => {
                let to = self.word(copy);
                self.write(to, value, copy, masked);
            }
            Effect::Guard(_) => {
                let mask = self.register(value, copy);
                self.machine.guard(mask);
            }
        }
        self.allocator.free(value, copy);
    }

    fn write(&mut self, to: Address, value: Value, copy: usize, masked: bool) {
        let from = self.register(value, copy);
        if let Some(by) = self.mask(copy).filter(|_| masked) {
            self.machine.store_some(to, from, by);
        } else {
            self.machine.store_to(to, from, false);
        }
    }

    /// Place of the mask of lanes that are written, if not all are.
    pub(crate) fn mask(&self, copy: usize) -> Option<Address> {
        (self.which == Which::Masked).then(|| Address {
            base: Base::Masks,
            offset: copy * self.machine.isa().mask_bytes(),
        })
    }

    /// Offset of words among the constants, aligned to their count.
    fn pooled(&mut self, words: &[u32], step: usize) -> Address {
        Address {
            base: Base::Pool,
            offset: self.constants.place(words, step),
        }
    }

    /// Place of words, where a register may be loaded from.
    pub(crate) fn words(&mut self, words: &[u32]) -> Address {
        self.pooled(words, M::CONSTANT)
    }

    /// Place of eight words of the same, where a register may be loaded from.
    pub(crate) fn eight(&mut self, word: u32) -> Address {
        self.pooled(&[word; 8], 8)
    }

    /// Place of a constant.
    pub(crate) fn constant(&mut self, bits: u32) -> Found {
        match M::CONSTANT {
            1 => Found::Each(self.pooled(&[bits], 1)),
            count => Found::Full(self.pooled(&[bits; 4][..count], count)),
        }
    }

    /// Place of a table.
    pub(crate) fn table(&mut self, number: u8) -> Address {
        self.words(&self.graph.tables[usize::from(number)])
    }

    /// Place of a row's lanes.
    fn row(&mut self, row: u16, copy: usize) -> Address {
        let places = self.graph.places().unwrap_or_default();
        let place = || places.iter().position(|place| *place == row);
        let (row, rows) = match self.which {
            Which::Tile => (TILE_ROWS * place().unwrap_or(places.len()), TILE_ROWS),
            Which::All | Which::Masked => (usize::from(row), 1),
        };
        self.needs.rows = self.needs.rows.max(row + rows);
        Address {
            base: Base::Rows,
            offset: row * size_of::<Row>() + copy * self.size(),
        }
    }

    /// Place of the lanes' words.
    fn word(&mut self, copy: usize) -> Address {
        self.needs.words = true;
        Address {
            base: Base::Words,
            offset: copy * self.size(),
        }
    }

    /// Where a leaf is.
    fn leaf(&mut self, node: Node, copy: usize) -> Found {
        match node {
            Node::Const(bits) => self.constant(bits),
            Node::Uniform(at) => {
                self.needs.uniforms = self.needs.uniforms.max(usize::from(at) + 1);
                Found::Each(Address {
                    base: Base::Uniforms,
                    offset: 4 * usize::from(at),
                })
            }
            Node::Input(offset) => {
                self.needs.inputs = self.needs.inputs.max(usize::from(offset) + size_of::<f32>());
                Found::Each(Address {
                    base: Base::Inputs,
                    offset: offset.into(),
                })
            }
            Node::Largest(texture) => {
                assert!(usize::from(texture) < MAX_TEXTURES, "texture {texture}");
                let offset = offset_of!(Args, largest) + 4 * usize::from(texture);
                Found::Each(Address::of_argument(offset))
            }
            Node::Row(row) => Found::Full(self.row(row, copy)),
            // Words are written last, where the destination is.
            Node::Destination => Found::Full(self.word(copy)),
            Node::Op(..) => unreachable!("not a leaf"),
        }
    }

    fn slot(&self, slot: u16) -> Address {
        Address {
            base: Base::Stack,
            offset: self.size() * usize::from(slot),
        }
    }

    /// What a value is computed of.
    pub(crate) fn node(&self, value: Value) -> Node {
        self.graph.nodes[value as usize]
    }

    /// Whether nothing that is still to be written uses a value.
    pub(crate) fn ends(&self, value: Value, copy: usize) -> bool {
        self.allocator.ends(value, copy)
    }

    /// Whether a value is a mask that mask registers hold.
    pub(crate) fn in_mask(&self, value: Value) -> bool {
        self.allocator.in_mask(value)
    }

    /// A register for a value of the present item; another value may have to make room.
    pub(crate) fn alloc(&mut self, value: Value, copy: usize) -> u8 {
        let (register, spill) = self.allocator.alloc(value, copy);
        self.spill(spill);
        register
    }

    /// The register of a result that no operand is needed for any more once it is written.
    pub(crate) fn result(&mut self, value: Value, copy: usize) -> u8 {
        let (register, spill) = self.allocator.result(value, copy);
        self.spill(spill);
        register
    }

    /// A scratch register. No other register may be allocated or reloaded while it is in use.
    pub(crate) fn spare(&mut self) -> u8 {
        let (register, spill) = self.allocator.spare();
        self.spill(spill);
        register
    }

    /// Room for a register on the stack while the present item is written.
    pub(crate) fn scratch(&mut self) -> Address {
        let slot = self.allocator.scratch();
        self.slot(slot)
    }

    /// The register a value is in, if it is in any.
    pub(crate) fn held(&mut self, value: Value, copy: usize) -> Option<u8> {
        self.allocator.register_of(value, copy)
    }

    /// Whether a value that is in memory is used again, and a register is free.
    pub(crate) fn is_worth_a_register(&self, value: Value, copy: usize) -> bool {
        self.allocator.is_worth_a_register(value, copy)
    }

    /// Whether a value is in a register that is not used again.
    pub(crate) fn dies(&mut self, value: Value, copy: usize) -> bool {
        self.allocator.dies(value, copy)
    }

    /// The register of a value that is done with holds another.
    pub(crate) fn rename(&mut self, old: Value, new: Value, copy: usize) {
        self.allocator.rename(old, new, copy);
    }

    /// The register a value is in, or is reloaded into.
    pub(crate) fn register(&mut self, value: Value, copy: usize) -> u8 {
        if let Some(register) = self.held(value, copy) {
            self.allocator.pin(value, copy);
            return register;
        }
        let register = self.alloc(value, copy);
        self.reload(value, copy, register);
        register
    }

    /// Loads a value into a register.
    fn reload(&mut self, value: Value, copy: usize, register: u8) {
        if let Node::Const(bits) = self.node(value)
            && self.machine.constant(register, bits)
        {
            return;
        }
        let from = self.locate(value, copy);
        let mask = self.in_mask(value);
        self.machine.load_from(register, mask, from);
    }

    /// Where in memory a value is.
    pub(crate) fn locate(&mut self, value: Value, copy: usize) -> Found {
        match (self.node(value), self.allocator.slot_of(value, copy)) {
            (Node::Op(..), Some(slot)) => Found::Full(self.slot(slot)),
            (Node::Op(..), None) => unreachable!("a value is used before it is there"),
            (leaf, _) => self.leaf(leaf, copy),
        }
    }
}
