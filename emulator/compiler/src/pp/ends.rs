//! Ends of blocks: copies into phis, branches, the colour.

use super::node::{End, Node, Operand, Src};
use super::select::{Raw, Select};
use crate::edges;
use crate::ir::{Block, Op, Output, Span, Term, Value};
use std::collections::HashMap;
use utgard::pp::Condition;

impl Select<'_> {
    /// Copies into the phis behind a block, all at once: what is overwritten before it is read is saved first.
    pub(super) fn phi_copies(&mut self, block: Block) {
        let copies = edges::copies(self.function, block);
        let targets: Vec<u32> = copies.iter().map(|(phi, _)| self.cell(*phi)).collect();
        let mut moves: Vec<(u32, Raw, Span, u32)> = Vec::new();
        for ((phi, value), target) in copies.iter().zip(&targets) {
            let raw = self.raw(*value);
            if raw.operand == Operand::one(Src::Cell(*target)) {
                continue;
            }
            let tag = self.inst(*phi).tag;
            moves.push((*target, raw, self.inst(*value).span, 0x4000_0000 | tag));
        }
        while !moves.is_empty() {
            let read_by_others = |at: usize| {
                let target = Src::Cell(moves[at].0);
                moves
                    .iter()
                    .enumerate()
                    .any(|(other, (_, raw, ..))| other != at && raw.operand.comps[0] == target)
            };
            match (0..moves.len()).find(|at| !read_by_others(*at)) {
                Some(at) => {
                    let (target, raw, span, tag) = moves.remove(at);
                    self.mov(target, raw, span, tag);
                }
                None => {
                    // A circle: one of its values is kept aside.
                    let (target, span) = (moves[0].0, moves[0].2);
                    let saved = self.nodes.cell();
                    self.block
                        .push(Node::mov(vec![saved], Operand::one(Src::Cell(target)), span));
                    for (_, raw, ..) in &mut moves {
                        if raw.operand.comps[0] == Src::Cell(target) {
                            raw.operand.comps[0] = Src::Cell(saved);
                        }
                    }
                }
            }
        }
    }

    pub(super) fn end(&mut self, block: Block, numbers: &HashMap<Block, usize>) -> End {
        match self.function.block(block).term {
            Term::Jump(to) => End::Jump(numbers[&to]),
            Term::Branch(value, then, other) => {
                let (then, other) = (numbers[&then], numbers[&other]);
                let inst = self.inst(value).clone();
                let single = self.uses[value.0 as usize] == 1;
                let condition = match inst.op {
                    Op::Lt => Some(Condition::Lt),
                    Op::Ge => Some(Condition::Ge),
                    Op::Eq => Some(Condition::Eq),
                    Op::Ne => Some(Condition::Ne),
                    _ => None,
                };
                if let Some(condition) = condition.filter(|_| single) {
                    // The comparison's own node is dead then.
                    let (a, b) = (self.branch_operand(inst.args[0]), self.branch_operand(inst.args[1]));
                    return End::Branch {
                        a,
                        b,
                        condition,
                        then,
                        other,
                    };
                }
                let a = self.branch_operand(value);
                End::Branch {
                    a,
                    b: Src::Const(0),
                    condition: Condition::Ne,
                    then,
                    other,
                }
            }
            Term::Discard => End::Discard,
            Term::End | Term::Open => {
                self.outputs();
                End::Stop
            }
        }
    }

    pub(super) fn branch_operand(&mut self, value: Value) -> Src {
        match self.function.constant(value) {
            Some(number) => Src::Const(number.to_bits()),
            None => Src::Cell(self.in_cell(value, None)),
        }
    }

    /// The colour, moved to register 0.
    pub(super) fn outputs(&mut self) {
        let outputs = self.function.outputs.clone();
        let color = |wanted: u8| outputs.iter().find(|(output, _)| *output == Output::Color(wanted));
        for lane in 0..4u8 {
            let cell = self.nodes.cell();
            self.nodes.lanes.insert(cell, lane);
            self.nodes.outputs.push(cell);
            let raw = match color(lane) {
                Some((_, value)) => self.raw(*value),
                None => Raw {
                    operand: Operand::one(Src::Const(if lane == 3 { 1.0f32.to_bits() } else { 0 })),
                    uniform: None,
                },
            };
            let span = color(lane).and_then(|(_, value)| self.inst(*value).span);
            self.mov(cell, raw, span, 0x2000_0000);
        }
    }
}
