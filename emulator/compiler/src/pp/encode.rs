//! From packed nodes and their registers to machine words.

use super::alloc::Places;
use super::node::{Cell, Cond, Coord, End, Kind, LoadAt, Node, Nodes, Operand, Src, VaryingLoad};
use super::schedule::{Scheduled, Unit, Word, half_of, scalar_factor};
use crate::error::{Error, Result};
use crate::ir::Span;
use std::collections::{HashMap, HashSet};
use utgard::field::{Code, Fields};
use utgard::pp::{
    Branch, Combine, Constant, FloatAcc, FloatMul, Form, Instruction, Load, Register, Sampler, Store, Swizzle, Varying,
    VecAcc, VecMul, VectorSource,
};

/// The machine words, and for each instruction its place in the source.
pub(super) struct Encoded {
    pub words: Vec<u32>,
    pub spans: Vec<Vec<Span>>,
    pub instructions: Vec<Instruction>,
}

struct Encoder<'a> {
    places: &'a Places,
    forwarded: &'a HashSet<Cell>,
    /// Positions of what is handed on without a register, in the instruction at hand.
    positions: HashMap<Cell, u32>,
    constants: [Vec<u16>; 2],
}

/// A field's value by its number.
fn c<T: Code>(number: u32) -> T {
    T::from_code(number)
}

const CONST0: u32 = 12;
const TEXTURE: u32 = 14;
const UNIFORM: u32 = 15;

/// Encodes a program.
pub(super) fn encode(
    nodes: &Nodes,
    schedule: &[Scheduled],
    places: &Places,
    forwarded: &HashSet<Cell>,
) -> Result<Encoded> {
    let mut code: Vec<Instruction> = Vec::new();
    let mut spans: Vec<Vec<Span>> = Vec::new();
    let mut starts = Vec::new();
    // Instructions that jump, with the block they go to.
    let mut jumps: Vec<(usize, usize)> = Vec::new();
    for (at, (block, scheduled)) in nodes.blocks.iter().zip(schedule).enumerate() {
        starts.push(code.len());
        for word in &scheduled.words {
            let mut encoder = Encoder {
                places,
                forwarded,
                positions: HashMap::new(),
                constants: word.constants.clone(),
            };
            code.push(encoder.word(&block.nodes, word)?);
            spans.push(word.nodes.iter().map(|(node, _)| block.nodes[*node].span).collect());
        }
        let empty = |code: &mut Vec<Instruction>, spans: &mut Vec<Vec<Span>>| {
            code.push(idle());
            spans.push(Vec::new());
        };
        match &block.end {
            End::Stop | End::Discard => {
                if scheduled.words.is_empty() {
                    empty(&mut code, &mut spans);
                }
                let Some(last) = code.last_mut() else { continue };
                last.control.stop = c(1);
                if block.end == End::Discard {
                    last.branch = Some(Branch::discard());
                }
            }
            End::Jump(to) if *to == at + 1 => {}
            End::Jump(to) => {
                let taken = code.len() > starts[at] && code.last().is_some_and(|last| last.branch.is_none());
                if !taken {
                    empty(&mut code, &mut spans);
                }
                jumps.push((code.len() - 1, *to));
                set_branch(&mut code, always());
            }
            End::Branch {
                a,
                b,
                condition,
                then,
                other,
            } => {
                let constants = scheduled
                    .words
                    .last()
                    .map(|word| word.constants.clone())
                    .unwrap_or_default();
                let encoder = Encoder {
                    places,
                    forwarded,
                    positions: HashMap::new(),
                    constants,
                };
                // Falling through to the first way needs the opposite condition.
                let (condition, to) = if *then == at + 1 {
                    (7 - condition, *other)
                } else {
                    (*condition, *then)
                };
                let branch = Branch {
                    a: c(encoder.scalar(*a)?),
                    b: c(encoder.scalar(*b)?),
                    condition: c(condition),
                    ..Branch::default()
                };
                set_branch(&mut code, branch);
                jumps.push((code.len() - 1, to));
                if *then != at + 1 && *other != at + 1 {
                    empty(&mut code, &mut spans);
                    set_branch(&mut code, always());
                    jumps.push((code.len() - 1, *other));
                }
            }
        }
    }
    starts.push(code.len());
    finish(code, spans, &starts, &jumps)
}

fn always() -> Branch {
    Branch {
        condition: c(7),
        ..Branch::default()
    }
}

fn set_branch(code: &mut [Instruction], branch: Branch) {
    if let Some(last) = code.last_mut() {
        last.branch = Some(branch);
    }
}

/// An instruction that changes nothing: a constant moved nowhere.
fn idle() -> Instruction {
    Instruction {
        float_mul: Some(FloatMul {
            a: c(CONST0 << 2),
            b: c(CONST0 << 2),
            op: c(31),
            write: c(0),
            ..FloatMul::default()
        }),
        const0: Some(Constant::default()),
        ..Instruction::default()
    }
}

/// Branch targets in words, lengths of what comes next.
fn finish(
    mut code: Vec<Instruction>,
    spans: Vec<Vec<Span>>,
    starts: &[usize],
    jumps: &[(usize, usize)],
) -> Result<Encoded> {
    let mut offsets = vec![0i64];
    for instruction in &code {
        let last = offsets.last().copied().unwrap_or(0);
        offsets.push(last + i64::from(instruction.words()));
    }
    for (from, block) in jumps {
        let target = starts[*block];
        let distance = offsets[target] - offsets[*from];
        if !(-(1 << 26)..1 << 26).contains(&distance) {
            return Err(Error::limit("a program whose branches do not reach"));
        }
        let length = code.get(target).map_or(0, Instruction::words);
        if let Some(branch) = &mut code[*from].branch {
            branch.target = c((distance as i32 as u32) & 0x07ff_ffff);
            branch.target_length = c(length & 31);
        }
    }
    let lengths: Vec<u32> = code.iter().map(Instruction::words).collect();
    let mut words = Vec::new();
    for (at, instruction) in code.iter_mut().enumerate() {
        if let Some(next) = lengths.get(at + 1) {
            instruction.control.next_length = c(*next);
            instruction.control.prefetch = c(1);
        }
        instruction.encode(&mut words);
    }
    Ok(Encoded {
        words,
        spans,
        instructions: code,
    })
}

fn missing() -> Error {
    Error::invalid("the compiler lost a register")
}

impl Encoder<'_> {
    fn word(&mut self, nodes: &[Node], word: &Word) -> Result<Instruction> {
        for (at, unit) in &word.nodes {
            if matches!(unit, Unit::VecMul | Unit::FloatMul) {
                for (position, cell) in nodes[*at].dst.iter().enumerate() {
                    if self.forwarded.contains(cell) {
                        self.positions.insert(*cell, position as u32);
                    }
                }
            }
        }
        let mut i = Instruction::default();
        for (at, unit) in &word.nodes {
            let node = &nodes[*at];
            if let Some(tex) = &node.tex {
                i.control.sync = c(1);
                i.varying = Some(self.coordinates(&tex.coord)?);
                let mut sampler = Sampler {
                    kind: c(if tex.cube { 31 } else { 0 }),
                    index: c(tex.unit),
                    constant: c(Sampler::CONSTANT),
                    ..Sampler::default()
                };
                if let Some((cell, explicit)) = tex.lod {
                    sampler.lod = c(self.scalar(Src::Cell(cell))?);
                    sampler.lod_enable = c(1);
                    sampler.explicit_lod = c(u32::from(explicit));
                }
                i.sampler = Some(sampler);
            }
            // Derivatives look at the neighbours, as look-ups do.
            if matches!(node.kind, Kind::Alu { acc: Some(20 | 21), .. }) {
                i.control.sync = c(1);
            }
            self.node(node, *unit, &mut i)?;
        }
        if let Some(load) = word.load {
            i.load = Some(self.load(load)?);
        }
        let field = |halves: &[u16]| {
            let at = |lane: usize| halves.get(lane).copied().unwrap_or(0);
            (!halves.is_empty()).then(|| Constant {
                x: at(0),
                y: at(1),
                z: at(2),
                w: at(3),
            })
        };
        i.const0 = field(&self.constants[0]);
        i.const1 = field(&self.constants[1]);
        Ok(i)
    }

    fn load(&self, load: LoadAt) -> Result<Load> {
        Ok(Load {
            source: c(if load.temporary { 3 } else { 0 }),
            alignment: c(load.alignment),
            offset: c(load.offset.map_or(Ok(0), |cell| self.scalar(Src::Cell(cell)))?),
            offset_enable: c(u32::from(load.offset.is_some())),
            index: c((load.index as u32) & 0xffff),
            ..Load::default()
        })
    }

    fn varying(&self, load: VaryingLoad) -> Varying {
        Varying {
            kind: c(load.kind),
            alignment: c(load.alignment),
            register: c(15),
            index: c(load.index),
            destination: c(15),
            ..Varying::default()
        }
    }

    fn coordinates(&self, coord: &Coord) -> Result<Varying> {
        Ok(match coord {
            Coord::Varying(load) => self.varying(*load),
            Coord::Register(operand) => {
                let (register, swizzle) = self.vector(operand, |at| at)?;
                Varying {
                    kind: c(if operand.comps.len() == 3 { 9 } else { 4 }),
                    register: c(register),
                    negate: c(u32::from(operand.negate)),
                    absolute: c(u32::from(operand.absolute)),
                    component: c(swizzle & 3),
                    index: c(swizzle >> 2),
                    destination: c(15),
                    ..Varying::default()
                }
            }
        })
    }

    /// Register and lane of a source.
    fn place(&self, src: Src) -> Result<(u32, u32)> {
        Ok(match src {
            Src::Cell(cell) => {
                if let Some(position) = self.positions.get(&cell) {
                    return Ok((u32::MAX, *position));
                }
                let (register, lane) = self.places.get(&cell).ok_or_else(missing)?;
                (u32::from(*register), u32::from(*lane))
            }
            Src::Load(lane) => (UNIFORM, u32::from(lane)),
            Src::Tex(lane) => (TEXTURE, u32::from(lane)),
            Src::Const(bits) => {
                let half = half_of(bits);
                let found = self.constants.iter().enumerate().find_map(|(field, halves)| {
                    let lane = halves.iter().position(|have| *have == half)?;
                    Some((CONST0 + field as u32, lane as u32))
                });
                found.ok_or_else(missing)?
            }
        })
    }

    fn scalar(&self, src: Src) -> Result<u32> {
        let (register, lane) = self.place(src)?;
        Ok((register & 15) << 2 | lane)
    }

    /// Register and swizzle of an operand whose component n is wanted at a position.
    fn vector(&self, operand: &Operand, position: impl Fn(usize) -> usize) -> Result<(u32, u32)> {
        let constant = operand.comps.iter().all(|src| matches!(src, Src::Const(_)));
        let place = |src: &Src| -> Result<(u32, u32)> {
            let Src::Const(bits) = src else { return self.place(*src) };
            if !constant {
                return Err(missing());
            }
            // All constants of an operand are in one field.
            let wanted: Vec<u16> = operand
                .comps
                .iter()
                .filter_map(|src| {
                    if let Src::Const(bits) = src {
                        Some(half_of(*bits))
                    } else {
                        None
                    }
                })
                .collect();
            let field = self
                .constants
                .iter()
                .position(|field| wanted.iter().all(|half| field.contains(half)))
                .ok_or_else(missing)?;
            let lane = self.constants[field].iter().position(|half| *half == half_of(*bits));
            Ok((CONST0 + field as u32, lane.ok_or_else(missing)? as u32))
        };
        let mut swizzle = 0;
        let (register, first) = place(&operand.comps[0])?;
        for at in 0..4 {
            swizzle |= first << (2 * at);
        }
        for (at, src) in operand.comps.iter().enumerate() {
            let (other, lane) = place(src)?;
            if other != register {
                return Err(missing());
            }
            let to = position(at);
            swizzle = swizzle & !(3 << (2 * to)) | lane << (2 * to);
        }
        Ok((register, swizzle))
    }

    /// Register, mask and the lane of each component of what a node writes; position n for what is handed on.
    fn target(&self, node: &Node) -> Result<(u32, u32, Vec<usize>)> {
        if node.dst.iter().all(|cell| self.forwarded.contains(cell)) {
            return Ok((0, 0, (0..node.dst.len()).collect()));
        }
        let mut mask = 0;
        let mut lanes = Vec::new();
        let mut register = None;
        for cell in &node.dst {
            let (at, lane) = self.places.get(cell).ok_or_else(missing)?;
            if register.is_some_and(|register| register != *at) {
                return Err(missing());
            }
            register = Some(*at);
            mask |= 1 << lane;
            lanes.push(usize::from(*lane));
        }
        Ok((u32::from(register.unwrap_or(0)), mask, lanes))
    }

    fn node(&self, node: &Node, unit: Unit, i: &mut Instruction) -> Result<()> {
        if let Kind::Select(cond) = &node.kind {
            i.float_mul = Some(self.condition(cond)?);
        }
        match unit {
            Unit::Varying => {
                let Kind::Varying(load) = node.kind else {
                    return Err(missing());
                };
                let (register, mask, _) = self.target(node)?;
                i.varying = Some(Varying {
                    destination: c(register),
                    mask: c(mask),
                    ..self.varying(load)
                });
            }
            Unit::VecMul => {
                let Kind::Alu { mul: Some(op), .. } = node.kind else {
                    return Err(missing());
                };
                i.vec_mul = Some(self.vec_mul(node, op)?);
            }
            Unit::FloatMul => {
                let Kind::Alu { mul: Some(op), .. } = node.kind else {
                    return Err(missing());
                };
                i.float_mul = Some(self.float_mul(node, op)?);
            }
            Unit::VecAcc => {
                let unit = self.vec_mul(node, accumulated(node)?)?;
                let from_mul = self.reads_forwarded(&node.src[0]);
                let mut acc = VecAcc::from_bits(unit.to_bits());
                if from_mul {
                    (acc.a, acc.a_is_mul) = (c(0), c(1));
                }
                i.vec_acc = Some(acc);
            }
            Unit::FloatAcc => {
                let unit = self.float_mul(node, accumulated(node)?)?;
                let mut acc = FloatAcc::from_bits(unit.to_bits());
                if self.reads_forwarded(&node.src[0]) {
                    (acc.a, acc.a_is_mul) = (c(0), c(1));
                }
                i.float_acc = Some(acc);
            }
            Unit::Combine => i.combine = Some(self.combine(node)?),
            Unit::Store => {
                let Kind::Store { index, offset } = node.kind else {
                    return Err(missing());
                };
                i.store = Some(Store {
                    target: c(3),
                    source: c(self.scalar(node.src[0].comps[0])?),
                    alignment: c(0),
                    offset: c(offset.map_or(Ok(0), |cell| self.scalar(Src::Cell(cell)))?),
                    offset_enable: c(u32::from(offset.is_some())),
                    index: c((index as u32) & 0xffff),
                    ..Store::default()
                });
            }
        }
        Ok(())
    }

    fn reads_forwarded(&self, operand: &Operand) -> bool {
        operand
            .comps
            .iter()
            .all(|src| matches!(src, Src::Cell(cell) if self.positions.contains_key(cell)))
    }

    fn condition(&self, cond: &Cond) -> Result<FloatMul> {
        let (op, a, b) = match cond {
            Cond::Value(operand) => (31, operand, operand),
            Cond::Compare(op, a, b) => (*op, a, b),
        };
        Ok(FloatMul {
            a: c(self.scalar(a.comps[0])?),
            a_absolute: c(u32::from(a.absolute)),
            a_negate: c(u32::from(a.negate)),
            b: c(self.scalar(b.comps[0])?),
            b_absolute: c(u32::from(b.absolute)),
            b_negate: c(u32::from(b.negate)),
            op: c(op),
            ..FloatMul::default()
        })
    }

    fn vec_mul(&self, node: &Node, op: u32) -> Result<VecMul> {
        let (register, mask, lanes) = self.target(node)?;
        let sum = node.kind == Kind::Sum;
        let position = |at: usize| if sum { at } else { lanes[at] };
        let a = &node.src[0];
        let b = node.src.get(1).unwrap_or(a);
        let (a_register, a_swizzle) = self.vector(a, position)?;
        let (b_register, b_swizzle) = self.vector(b, position)?;
        Ok(VecMul {
            a: c(a_register & 15),
            a_swizzle: c(a_swizzle),
            a_absolute: c(u32::from(a.absolute)),
            a_negate: c(u32::from(a.negate)),
            b: c(if b_register == u32::MAX { 0 } else { b_register }),
            b_swizzle: c(b_swizzle),
            b_absolute: c(u32::from(b.absolute)),
            b_negate: c(u32::from(b.negate)),
            destination: c(register),
            mask: c(mask),
            modifier: c(node.modifier),
            op: c(op),
        })
    }

    fn float_mul(&self, node: &Node, op: u32) -> Result<FloatMul> {
        let (register, mask, lanes) = self.target(node)?;
        let a = &node.src[0];
        let b = node.src.get(1).unwrap_or(a);
        Ok(FloatMul {
            a: c(self.scalar(a.comps[0])?),
            a_absolute: c(u32::from(a.absolute)),
            a_negate: c(u32::from(a.negate)),
            b: c(self.scalar(b.comps[0])?),
            b_absolute: c(u32::from(b.absolute)),
            b_negate: c(u32::from(b.negate)),
            destination: c(register << 2 | lanes[0] as u32 & 3),
            write: c(u32::from(mask != 0)),
            modifier: c(node.modifier),
            op: c(op),
        })
    }

    fn combine(&self, node: &Node) -> Result<Combine> {
        let (register, mask, lanes) = self.target(node)?;
        let mut combine = Combine::default();
        let factor = scalar_factor(node);
        let a = &node.src[factor.unwrap_or(0)];
        combine.a = c(self.scalar(a.comps[0])?);
        combine.a_absolute = c(u32::from(a.absolute));
        combine.a_negate = c(u32::from(a.negate));
        let scalar = |combine: &mut Combine, op: u32| {
            combine.op = c(op);
            combine.modifier = c(node.modifier);
            combine.destination = c(register << 2 | lanes[0] as u32);
        };
        match (&node.kind, factor) {
            (Kind::Function(op), _) => scalar(&mut combine, *op),
            (_, Some(factor)) => {
                let (b, swizzle) = self.vector(&node.src[1 - factor], |at| lanes[at])?;
                (combine.vector, combine.b_enable) = (c(1), c(1));
                combine.set_form(Form::Scale(VectorSource {
                    register: Register(b as u8),
                    swizzle: Swizzle(swizzle as u8),
                    ..VectorSource::default()
                }));
                combine.set_destination_vector(Register(register as u8), mask);
            }
            _ => scalar(&mut combine, 1),
        }
        Ok(combine)
    }
}

/// The adder's operation of a node.
fn accumulated(node: &Node) -> Result<u32> {
    Ok(match &node.kind {
        Kind::Alu { acc: Some(op), .. } => *op,
        Kind::Sum if node.src[0].comps.len() == 3 => 16,
        Kind::Sum => 17,
        Kind::Select(_) => 23,
        _ => return Err(missing()),
    })
}
