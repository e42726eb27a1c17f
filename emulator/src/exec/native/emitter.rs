//! The writing of code for a graph: which value is in which register when, and where in memory everything else is. The
//! instructions for each are a [`Machine`]'s.

use super::call::{Args, Emitted, Needs, PLACES, Rounding, TILE_ROWS, TILES, UNIFORMS, Which};
use super::graph::{Effect, Graph, Kind, Node, Value};
use super::isa::Isa;
use super::order::{Item, Order, operands};
use super::ranges::Ranges;
use super::shares::Shares;
use crate::exec::MAX_FRAGMENTS;
use crate::exec::lanes::{LANES, Row};
use std::mem::offset_of;

/// What goes to the stack at most, in bytes: no more than a page, for nobody looks whether there is more.
const MAX_STACK: usize = 56 * 64;

/// Values that are computed before the first round at most.
const MOST_BEFORE: u16 = 16;

/// What addresses are counted from, each in a register of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
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
pub const BASES: [(Base, usize); 6] = [
    (Base::Rows, offset_of!(Args, rows)),
    (Base::Uniforms, offset_of!(Args, uniforms)),
    (Base::Inputs, offset_of!(Args, inputs)),
    (Base::Pool, offset_of!(Args, pool)),
    (Base::Masks, offset_of!(Args, masks)),
    (Base::Words, offset_of!(Args, words)),
];

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// What it is counted from.
    pub base: Base,
    /// Bytes from there.
    pub offset: usize,
}

impl Address {
    /// The place of an argument.
    pub fn of_argument(offset: usize) -> Self {
        Self {
            base: Base::Args,
            offset,
        }
    }

    /// So many bytes behind it.
    pub fn plus(self, bytes: usize) -> Self {
        Self {
            offset: self.offset + bytes,
            ..self
        }
    }
}

/// A value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A number for each lane.
    Full(Address),
    /// One number for all lanes.
    Each(Address),
}

/// What is a machine's own: the instructions. Registers it is given are those of [`Isa::registers`], or of [`Isa::masks`]
/// where `mask` says so.
pub trait Machine: Sized {
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
    /// Goes on by so many bytes of words and of masks, to `start` as often as there are steps; then returns.
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
    fn require(&mut self, mask: u8);
    /// Computes a value; what its operands are not needed for any more is let go by the emitter.
    fn compute(emitter: &mut Emitter<'_, Self>, value: Value, kind: Kind, operands: [Value; 3], copy: usize);
}

/// Where a value is.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    register: Option<u8>,
    slot: Option<u16>,
}

/// Writes the code of a graph.
pub struct Emitter<'a, M> {
    graph: &'a Graph,
    order: &'a Order,
    which: Which,
    /// How values become halves.
    pub rounding: Rounding,
    copies: usize,
    shares: Shares,
    /// The instructions.
    pub machine: M,
    /// Number of the present item.
    at: u32,
    /// What vector registers and mask registers hold: a value and its copy.
    file: Vec<Option<(Value, usize)>>,
    masks: Vec<Option<(Value, usize)>>,
    /// Values of the present instruction.
    pinned: Vec<(Value, usize)>,
    places: Vec<Place>,
    /// Values that stay in registers behind those of the file, from before the first round on.
    residents: Vec<Value>,
    /// For each value whether it is computed before the first round, and on the stack from then on.
    before: Vec<bool>,
    pool: Vec<u32>,
    slots: u16,
    /// Those that hold nothing any more, and those that hold nothing once the present item is written.
    free_slots: Vec<u16>,
    done_slots: Vec<u16>,
    needs: Needs,
    /// What values may come to.
    pub ranges: &'a Ranges,
}

impl<'a, M: Machine> Emitter<'a, M> {
    /// Nothing is written yet. `which` and `copies` as for [`super::emit::emit`].
    pub fn new(
        (graph, order, ranges): (&'a Graph, &'a Order, &'a Ranges),
        isa: Isa,
        (which, rounding): (Which, Rounding),
        copies: usize,
    ) -> Self {
        let residents = order.residents(graph, isa, copies);
        let shares = Shares::new(graph, isa, which, copies);
        Self {
            graph,
            order,
            which,
            rounding,
            copies,
            machine: M::of(isa),
            at: 0,
            file: vec![None; isa.registers() - residents.len()],
            masks: vec![None; isa.masks()],
            pinned: Vec::new(),
            places: vec![Place::default(); graph.nodes.len() * copies],
            residents,
            before: vec![false; graph.nodes.len()],
            pool: Vec::new(),
            slots: 0,
            free_slots: Vec::new(),
            done_slots: Vec::new(),
            needs: Needs {
                textures: graph.textures.clone(),
                ..Needs::default()
            },
            ranges,
            shares,
        }
    }

    /// Bytes of a vector register.
    fn size(&self) -> usize {
        4 * self.machine.isa().lanes()
    }

    /// Bytes on the stack, a multiple of 64.
    fn stack(&self) -> usize {
        (usize::from(self.slots) * self.size()).next_multiple_of(64)
    }

    /// Writes it; nothing where the stack would not do.
    pub fn finish(mut self) -> Option<Emitted> {
        self.function();
        (self.stack() <= MAX_STACK).then(|| self.done())
    }

    fn function(&mut self) {
        M::begin(self);
        for number in 0..self.residents.len() {
            self.bring(self.residents[number], 0, (self.file.len() + number) as u8);
        }
        self.compute_before();
        let start = self.machine.bytes().len();
        let order = self.order;
        for (at, item) in order.items.iter().enumerate() {
            self.at = at as u32;
            for copy in 0..self.copies {
                match *item {
                    Item::Compute(value) if self.before[value as usize] => {}
                    Item::Compute(value) => self.compute(value, copy),
                    Item::Effect(effect) => self.effect(effect, copy),
                }
                self.pinned.clear();
                self.free_slots.append(&mut self.done_slots);
            }
        }
        let (words, masks) = (self.size(), self.machine.isa().mask_bytes());
        self.machine.end(words * self.copies, masks * self.copies, start);
    }

    /// Computes what is the same in all lanes of a whole tile, as far as there is room for it.
    fn compute_before(&mut self) {
        // One row alone has no room to spare.
        if self.copies == 1 || self.which != Which::Tile {
            return;
        }
        let order = self.order;
        for (at, item) in order.items.iter().enumerate() {
            let Item::Compute(value) = *item else { continue };
            if self.slots == MOST_BEFORE || !self.may_be_before(value) {
                continue;
            }
            self.at = at as u32;
            self.compute(value, 0);
            self.pinned.clear();
            self.free_slots.append(&mut self.done_slots);
            self.before[value as usize] = true;
            if let Some(register) = self.place(value, 0).register {
                self.evict(register, false);
            }
        }
        // Every round begins as the others do.
        (0..self.file.len()).for_each(|register| self.evict(register as u8, false));
    }

    /// Whether a value may be computed before the first round: it is the same in all lanes, and what it is computed of is there.
    fn may_be_before(&self, value: Value) -> bool {
        let is_there = |value: Value| self.node(value).is_leaf() || self.before[value as usize];
        let is_gathered = matches!(self.node(value), Node::Op(Kind::Gather(_), _));
        self.shares.is_of_all_lanes(value)
            && !is_gathered
            && !self.in_mask(value)
            && operands(self.node(value)).all(is_there)
    }

    fn done(mut self) -> Emitted {
        let (frame, isa) = (self.stack(), self.machine.isa());
        self.machine.frame(frame);
        let mut bytes = std::mem::take(self.machine.bytes());
        let pool = bytes.len().next_multiple_of(64);
        bytes.resize(pool, M::PADDING);
        bytes.extend(self.pool.iter().flat_map(|word| word.to_le_bytes()));
        Emitted {
            bytes,
            pool,
            lanes: self.copies * isa.lanes(),
            most: if self.which == Which::Tile {
                TILES * MAX_FRAGMENTS
            } else {
                LANES
            },
            mask_lanes: self.which == Which::Masked && isa.masks() == 0,
            needs: self.needs,
        }
    }

    fn compute(&mut self, value: Value, copy: usize) {
        if let Node::Op(kind, operands) = self.node(value) {
            self.needs.any_uniform |= kind == Kind::Gather(UNIFORMS);
            if self.own(value, copy) == copy {
                M::compute(self, value, kind, operands, copy);
            }
            self.release(value, copy);
        }
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
            Effect::Done(_) => {}
            Effect::Require(_) => {
                let mask = self.register(value, copy);
                self.machine.require(mask);
            }
        }
        self.free(value, copy);
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
    pub fn mask(&self, copy: usize) -> Option<Address> {
        (self.which == Which::Masked).then(|| Address {
            base: Base::Masks,
            offset: copy * self.machine.isa().mask_bytes(),
        })
    }

    /// Place of numbers of lanes, counted from the rows as a round has them, in a row and those behind it; so many rows are
    /// looked at, and the one behind them.
    pub fn lanes_of_row(&mut self, (row, count): (u16, u16), copy: usize) -> Address {
        self.needs.rows = self.needs.rows.max(usize::from(row) + usize::from(count) + 1);
        let lanes = self.machine.isa().lanes();
        let first = usize::from(row) * LANES + copy * lanes;
        let numbers: Vec<u32> = (first..first + lanes).map(|number| number as u32).collect();
        self.words(&numbers)
    }

    /// Place of words among the constants, at a multiple of so many.
    fn pooled(&mut self, words: &[u32], step: usize) -> Address {
        let have = (0..self.pool.len())
            .step_by(step)
            .find(|at| self.pool[*at..].starts_with(words));
        let at = have.unwrap_or_else(|| {
            let end = self.pool.len().next_multiple_of(step);
            self.pool.resize(end, 0);
            self.pool.extend_from_slice(words);
            end
        });
        Address {
            base: Base::Pool,
            offset: 4 * at,
        }
    }

    /// Place of words, where a register may be loaded from.
    pub fn words(&mut self, words: &[u32]) -> Address {
        self.pooled(words, M::CONSTANT)
    }

    /// Place of eight words of the same, where a register may be loaded from.
    pub fn eight(&mut self, word: u32) -> Address {
        self.pooled(&[word; 8], 8)
    }

    /// Place of a constant.
    pub fn constant(&mut self, bits: u32) -> Found {
        match M::CONSTANT {
            1 => Found::Each(self.pooled(&[bits], 1)),
            count => Found::Full(self.pooled(&[bits; 4][..count], count)),
        }
    }

    /// Place of a table.
    pub fn table(&mut self, number: u8) -> Address {
        self.words(&self.graph.tables[usize::from(number)])
    }

    /// Place of a row's lanes.
    fn row(&mut self, row: u16, copy: usize) -> Address {
        let place = || PLACES.iter().position(|place| *place == row);
        let (row, rows) = match self.which {
            Which::Tile => (TILE_ROWS * place().unwrap_or(PLACES.len()), TILE_ROWS),
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
            Node::Input(offset) => Found::Each(Address {
                base: Base::Inputs,
                offset: offset.into(),
            }),
            Node::Largest(texture) => {
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
    pub fn node(&self, value: Value) -> Node {
        self.graph.nodes[value as usize]
    }

    /// The copy whose register and slot a copy has.
    fn own(&self, value: Value, copy: usize) -> usize {
        self.shares.first(value, copy)
    }

    /// Whether nothing that is still to be written uses a value.
    pub fn ends(&self, value: Value, copy: usize) -> bool {
        self.next_use(value).is_none() && self.shares.is_last(value, copy)
    }

    fn place(&mut self, value: Value, copy: usize) -> &mut Place {
        let copy = self.own(value, copy);
        &mut self.places[value as usize * self.copies + copy]
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

    /// Whether a value is a mask that mask registers hold.
    pub fn in_mask(&self, value: Value) -> bool {
        !self.masks.is_empty() && matches!(self.node(value), Node::Op(kind, _) if kind.is_mask())
    }

    /// A register for a value of the present item; another value may have to make room.
    pub fn take(&mut self, value: Value, copy: usize) -> u8 {
        let (mask, own) = (self.in_mask(value), self.own(value, copy));
        // Mask register 0 means no mask.
        let first = usize::from(mask);
        let file = if mask { &self.masks } else { &self.file };
        let free = (first..file.len()).find(|at| file[*at].is_none());
        let register = free.unwrap_or_else(|| {
            let unpinned = |at: &usize| file[*at].is_some_and(|held| !self.pinned.contains(&held));
            let last_used = |at: &usize| match file[*at] {
                // What is used more often goes once and stays there.
                Some((value, _)) => (self.use_from_here(value), self.order.uses[value as usize].len()),
                None => (u32::MAX, 0),
            };
            let furthest = (first..file.len()).filter(unpinned).max_by_key(last_used);
            furthest.unwrap_or(first)
        });
        self.evict(register as u8, mask);
        let file = if mask { &mut self.masks } else { &mut self.file };
        file[register] = Some((value, own));
        self.place(value, copy).register = Some(register as u8);
        self.pinned.push((value, own));
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
        let slot = self.free_slot();
        self.place(value, copy).slot = Some(slot);
        let to = self.slot(slot);
        self.machine.store_to(to, register, mask);
    }

    fn free_slot(&mut self) -> u16 {
        self.free_slots.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        })
    }

    /// Room for a register on the stack while the present item is written.
    pub fn scratch(&mut self) -> Address {
        let slot = self.free_slot();
        self.done_slots.push(slot);
        self.slot(slot)
    }

    /// The register a value is in, if it is in any.
    pub fn held(&mut self, value: Value, copy: usize) -> Option<u8> {
        let resident = self.residents.iter().position(|resident| *resident == value);
        let behind = resident.map(|number| (self.file.len() + number) as u8);
        behind.or(self.place(value, copy).register)
    }

    /// Whether a value that is in memory is used again, and there is a register that nobody has.
    pub fn is_worth_a_register(&self, value: Value, copy: usize) -> bool {
        !self.ends(value, copy) && self.file.contains(&None)
    }

    /// The register a value is in, or is brought to.
    pub fn register(&mut self, value: Value, copy: usize) -> u8 {
        if let Some(register) = self.held(value, copy) {
            let own = self.own(value, copy);
            self.pinned.push((value, own));
            return register;
        }
        let register = self.take(value, copy);
        self.bring(value, copy, register);
        register
    }

    /// Brings a value to a register.
    fn bring(&mut self, value: Value, copy: usize, register: u8) {
        if let Node::Const(bits) = self.node(value)
            && self.machine.constant(register, bits)
        {
            return;
        }
        let from = self.found(value, copy);
        let mask = self.in_mask(value);
        self.machine.load_from(register, mask, from);
    }

    /// Where in memory a value is.
    pub fn found(&mut self, value: Value, copy: usize) -> Found {
        match (self.node(value), self.place(value, copy).slot) {
            (Node::Op(..), Some(slot)) => Found::Full(self.slot(slot)),
            (Node::Op(..), None) => unreachable!("a value is used before it is there"),
            (leaf, _) => self.leaf(leaf, copy),
        }
    }

    /// The register of a result that no operand is needed for any more once it is written: operands that are used for the
    /// last time make room for it.
    pub fn result(&mut self, value: Value, copy: usize) -> u8 {
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
        if !self.ends(value, copy) {
            return;
        }
        let mask = self.in_mask(value);
        // An instruction that is still to be written may read it.
        if !self.before[value as usize] {
            let slot = self.place(value, copy).slot.take();
            self.done_slots.extend(slot);
        }
        if let Some(register) = self.place(value, copy).register.take() {
            let file = if mask { &mut self.masks } else { &mut self.file };
            file[usize::from(register)] = None;
        }
    }

    /// Whether a value is in a register that nobody looks at again.
    pub fn dies(&mut self, value: Value, copy: usize) -> bool {
        self.ends(value, copy) && self.place(value, copy).register.is_some()
    }

    /// The register of a value that is done with holds another.
    pub fn rename(&mut self, old: Value, new: Value, copy: usize) {
        let register = self.place(old, copy).register.take();
        self.place(new, copy).register = register;
        if let Some(register) = register {
            self.file[usize::from(register)] = Some((new, self.own(new, copy)));
        }
    }

    /// A register for a moment: nothing that is asked for before it is done with may be brought to another.
    pub fn spare(&mut self) -> u8 {
        let free = self.file.iter().position(Option::is_none);
        let register = free.unwrap_or_else(|| {
            let unpinned = |at: &usize| self.file[*at].is_some_and(|held| !self.pinned.contains(&held));
            (0..self.file.len()).find(unpinned).unwrap_or(0)
        });
        self.evict(register as u8, false);
        register as u8
    }
}
