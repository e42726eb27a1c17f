//! Registers and spill slots: which value is in which register when, and where on the stack everything else is.
//!
//! The emitter walks the schedule and reports its position ([`RegisterAllocator::begin`], [`RegisterAllocator::end`]).
//! In between it looks up where values are ([`RegisterAllocator::register_of`], [`RegisterAllocator::slot_of`]) and allocates: the
//! value whose next use is furthest away is evicted, and where it has to be kept the emitter gets a [`Spill`] to write first.

use crate::analysis::schedule::{Schedule, operands};
use crate::analysis::uniformity::Uniformity;
use crate::graph::{Graph, Node, Value};
use crate::isa::Isa;

/// A value, and which of the rows side by side.
type Held = (Value, usize);

/// Where a value is.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    register: Option<u8>,
    slot: Option<u16>,
}

/// What has to go to the stack before its register is used for something else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spill {
    pub register: u8,
    pub is_mask: bool,
    pub slot: u16,
}

/// Gives values registers and spill slots.
pub(crate) struct RegisterAllocator<'a> {
    graph: &'a Graph,
    schedule: &'a Schedule,
    uniformity: Uniformity,
    copies: usize,
    /// Number of the present item.
    at: u32,
    /// What vector registers and mask registers hold.
    registers: Vec<Option<Held>>,
    masks: Vec<Option<Held>>,
    /// Values of the present instruction: their registers stay.
    pinned: Vec<Held>,
    places: Vec<Place>,
    /// Values that stay in the registers behind the others, from before the first round on.
    constants: Vec<Value>,
    /// For each value whether it is computed before the first round, and on the stack from then on.
    hoisted: Vec<bool>,
    spill_slots: u16,
    /// Those that hold nothing any more, and those that hold nothing once the present item is written.
    free_slots: Vec<u16>,
    done_slots: Vec<u16>,
}

impl<'a> RegisterAllocator<'a> {
    /// All registers are free but those of pinned constants.
    pub(super) fn new(
        graph: &'a Graph,
        schedule: &'a Schedule,
        uniformity: Uniformity,
        isa: Isa,
        copies: usize,
    ) -> Self {
        let constants = schedule.pinned_constants(graph, isa, copies);
        Self {
            graph,
            schedule,
            uniformity,
            copies,
            at: 0,
            registers: vec![None; isa.registers() - constants.len()],
            masks: vec![None; isa.masks()],
            pinned: Vec::new(),
            places: vec![Place::default(); graph.nodes.len() * copies],
            constants,
            hoisted: vec![false; graph.nodes.len()],
            spill_slots: 0,
            free_slots: Vec::new(),
            done_slots: Vec::new(),
        }
    }

    /// An item of the schedule is next.
    pub(super) fn begin(&mut self, at: usize) {
        self.at = at as u32;
    }

    /// The present item is written.
    pub(super) fn end(&mut self) {
        self.pinned.clear();
        self.free_slots.append(&mut self.done_slots);
    }

    /// How many spill slots are used at most.
    pub(super) fn spill_slots(&self) -> u16 {
        self.spill_slots
    }

    /// Values that stay in registers, each with its register.
    pub(super) fn constants(&self) -> Vec<(Value, u8)> {
        let registers = (self.registers.len()..).map(|register| register as u8);
        self.constants.iter().copied().zip(registers).collect()
    }

    /// Whether a value is computed before the first round.
    pub(super) fn is_hoisted(&self, value: Value) -> bool {
        self.hoisted[value as usize]
    }

    /// Whether a value may be computed before the first round: it is the same in all lanes, and what it is computed of is there.
    pub(super) fn may_hoist(&self, value: Value) -> bool {
        let is_there = |value: Value| self.node(value).is_leaf() || self.is_hoisted(value);
        self.uniformity.is_of_all_lanes(value) && !self.in_mask(value) && operands(self.node(value)).all(is_there)
    }

    /// A value that was computed before the first round is on the stack from now on.
    #[must_use]
    pub(super) fn hoist(&mut self, value: Value) -> Option<Spill> {
        self.hoisted[value as usize] = true;
        let register = self.place(value, 0).register?;
        self.evict(register, false)
    }

    /// Evicts all vector registers: every round begins as the others do.
    #[must_use]
    pub(super) fn evict_all(&mut self) -> Vec<Spill> {
        (0..self.registers.len())
            .filter_map(|register| self.evict(register as u8, false))
            .collect()
    }

    fn node(&self, value: Value) -> Node {
        self.graph.nodes[value as usize]
    }

    /// The copy whose register and slot a copy has.
    pub(super) fn own(&self, value: Value, copy: usize) -> usize {
        self.uniformity.first(value, copy)
    }

    /// Whether nothing that is still to be written uses a value.
    pub(super) fn ends(&self, value: Value, copy: usize) -> bool {
        let uses = &self.schedule.uses[value as usize];
        uses.last().is_none_or(|last| *last <= self.at) && self.uniformity.is_last(value, copy)
    }

    fn place(&mut self, value: Value, copy: usize) -> &mut Place {
        let copy = self.own(value, copy);
        &mut self.places[value as usize * self.copies + copy]
    }

    /// Number of the item that uses a value next, the present one included: another copy may be waiting.
    fn use_from_here(&self, value: Value) -> u32 {
        let uses = &self.schedule.uses[value as usize];
        uses.get(uses.partition_point(|at| *at < self.at))
            .copied()
            .unwrap_or(u32::MAX)
    }

    /// Whether a value is a mask that mask registers hold.
    pub(super) fn in_mask(&self, value: Value) -> bool {
        !self.masks.is_empty() && matches!(self.node(value), Node::Op(kind, _) if kind.is_mask())
    }

    fn file(&mut self, is_mask: bool) -> &mut Vec<Option<Held>> {
        if is_mask { &mut self.masks } else { &mut self.registers }
    }

    /// A register for a value of the present item; another value may have to make room.
    #[must_use]
    pub(super) fn alloc(&mut self, value: Value, copy: usize) -> (u8, Option<Spill>) {
        let (is_mask, own) = (self.in_mask(value), self.own(value, copy));
        // Mask register 0 means no mask.
        let first = usize::from(is_mask);
        let file = if is_mask { &self.masks } else { &self.registers };
        let free = (first..file.len()).find(|at| file[*at].is_none());
        let register = free.unwrap_or_else(|| {
            let unpinned = |at: &usize| file[*at].is_some_and(|held| !self.pinned.contains(&held));
            let last_used = |at: &usize| match file[*at] {
                // What is used more often is spilled once and stays there.
                Some((value, _)) => (self.use_from_here(value), self.schedule.uses[value as usize].len()),
                None => (u32::MAX, 0),
            };
            let furthest = (first..file.len()).filter(unpinned).max_by_key(last_used);
            furthest.unwrap_or(first)
        });
        let spill = self.evict(register as u8, is_mask);
        self.file(is_mask)[register] = Some((value, own));
        self.place(value, copy).register = Some(register as u8);
        self.pinned.push((value, own));
        (register as u8, spill)
    }

    /// What a register holds goes to the stack if it is used again and cannot be had elsewhere.
    fn evict(&mut self, register: u8, is_mask: bool) -> Option<Spill> {
        let (value, copy) = self.file(is_mask)[usize::from(register)].take()?;
        self.place(value, copy).register = None;
        let used = self.use_from_here(value) != u32::MAX;
        if self.node(value).is_leaf() || self.place(value, copy).slot.is_some() || !used {
            return None;
        }
        let slot = self.free_slot();
        self.place(value, copy).slot = Some(slot);
        Some(Spill {
            register,
            is_mask,
            slot,
        })
    }

    fn free_slot(&mut self) -> u16 {
        self.free_slots.pop().unwrap_or_else(|| {
            self.spill_slots += 1;
            self.spill_slots - 1
        })
    }

    /// A slot while the present item is written.
    pub(super) fn scratch(&mut self) -> u16 {
        let slot = self.free_slot();
        self.done_slots.push(slot);
        slot
    }

    /// The register a value is in, if it is in any.
    pub(super) fn register_of(&mut self, value: Value, copy: usize) -> Option<u8> {
        let constant = self.constants.iter().position(|constant| *constant == value);
        let behind = constant.map(|number| (self.registers.len() + number) as u8);
        behind.or(self.place(value, copy).register)
    }

    /// The slot a value is in, if it was spilled.
    pub(super) fn slot_of(&mut self, value: Value, copy: usize) -> Option<u16> {
        self.place(value, copy).slot
    }

    /// A value's register stays while the present item is written.
    pub(super) fn pin(&mut self, value: Value, copy: usize) {
        let own = self.own(value, copy);
        self.pinned.push((value, own));
    }

    /// Whether a value that is in memory is used again, and a register is free.
    pub(super) fn is_worth_a_register(&self, value: Value, copy: usize) -> bool {
        !self.ends(value, copy) && self.registers.contains(&None)
    }

    /// The register of a result that no operand is needed for any more once it is written: operands that are used for the
    /// last time make room for it.
    #[must_use]
    pub(super) fn result(&mut self, value: Value, copy: usize) -> (u8, Option<Spill>) {
        self.release(value, copy);
        self.pinned.clear();
        self.alloc(value, copy)
    }

    /// Frees the registers of a value's operands that are not used any more.
    pub(super) fn release(&mut self, value: Value, copy: usize) {
        for operand in operands(self.node(value)) {
            self.free(operand, copy);
        }
    }

    /// Frees a value's register if it is not used any more.
    pub(super) fn free(&mut self, value: Value, copy: usize) {
        if !self.ends(value, copy) {
            return;
        }
        let is_mask = self.in_mask(value);
        // An instruction that is still to be written may read it.
        if !self.is_hoisted(value) {
            let slot = self.place(value, copy).slot.take();
            self.done_slots.extend(slot);
        }
        if let Some(register) = self.place(value, copy).register.take() {
            self.file(is_mask)[usize::from(register)] = None;
        }
    }

    /// Whether a value is in a register that is not used again.
    pub(super) fn dies(&mut self, value: Value, copy: usize) -> bool {
        self.ends(value, copy) && self.place(value, copy).register.is_some()
    }

    /// The register of a value that is done with holds another.
    pub(super) fn rename(&mut self, old: Value, new: Value, copy: usize) {
        let register = self.place(old, copy).register.take();
        self.place(new, copy).register = register;
        if let Some(register) = register {
            self.registers[usize::from(register)] = Some((new, self.own(new, copy)));
        }
    }

    /// A scratch register. No other register may be allocated or reloaded while it is in use.
    #[must_use]
    pub(super) fn spare(&mut self) -> (u8, Option<Spill>) {
        let free = self.registers.iter().position(Option::is_none);
        let register = free.unwrap_or_else(|| {
            let unpinned = |at: &usize| self.registers[*at].is_some_and(|held| !self.pinned.contains(&held));
            (0..self.registers.len()).find(unpinned).unwrap_or(0)
        });
        (register as u8, self.evict(register as u8, false))
    }
}
