//! From the compiler's own form to what the fragment processor's units do.

use super::node::{Cond, Kind, LoadAt, MOVE, Node, NodeBlock, Nodes, Operand, Src};
use crate::error::{Error, Result};
use crate::interface::Interface;
use crate::ir::{Block, Function, Inst, Op, Span, Value};
use crate::layout::Table;
use std::collections::HashMap;
use utgard::pp::{AccOp, Alignment, Modifier, MulOp, ScalarFunction};

pub(super) struct Select<'a> {
    pub function: &'a Function,
    pub interface: &'a Interface,
    pub uniforms: &'a Table,
    pub varyings: &'a Table,
    pub uses: Vec<u32>,
    pub nodes: Nodes,
    pub cells: HashMap<Value, u32>,
    /// Cells of look-ups by value and lane.
    pub block: Vec<Node>,
    /// Where in the block a value's node is, while its result may still be changed by a modifier.
    pub at: HashMap<Value, usize>,
    pub memory_floats: u32,
    /// Movements of whole operands into the block, by source.
    pub home: HashMap<Value, Block>,
    pub copied: HashMap<(usize, Src, bool, bool), u32>,
    pub number: usize,
}

/// An operand with its uniform, if it is one: the vec4's number.
#[derive(Clone, Debug)]
pub(super) struct Raw {
    pub operand: Operand,
    pub uniform: Option<i32>,
}

/// Selects nodes for a program.
pub(super) fn select(function: &Function, interface: &Interface, uniforms: &Table, varyings: &Table) -> Result<Nodes> {
    let order = function.order();
    let mut home = HashMap::new();
    for block in &order {
        for value in &function.block(*block).insts {
            home.insert(*value, *block);
        }
    }
    let memory_floats = function.memory.next_multiple_of(4);
    let mut select = Select {
        function,
        interface,
        uniforms,
        varyings,
        uses: function.uses(),
        nodes: Nodes {
            temporaries: memory_floats,
            ..Nodes::default()
        },
        cells: HashMap::new(),
        block: Vec::new(),
        at: HashMap::new(),
        memory_floats,
        home,
        copied: HashMap::new(),
        number: 0,
    };
    let numbers: HashMap<Block, usize> = order.iter().enumerate().map(|(at, block)| (*block, at)).collect();
    for (number, block) in order.iter().enumerate() {
        select.number = number;
        select.at.clear();
        for value in &function.block(*block).insts {
            let span = function.inst(*value).span;
            select
                .instruction(*value)
                .map_err(|error| error.at(crate::ir::range(span)))?;
        }
        select.phi_copies(*block);
        let end = select.end(*block, &numbers);
        let nodes = std::mem::take(&mut select.block);
        select.nodes.blocks.push(NodeBlock { nodes, end });
    }
    select.name();
    Ok(select.nodes)
}

impl Select<'_> {
    /// Says which results are values of local variables.
    fn name(&mut self) {
        let mut named: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
        for (value, local, component) in &self.function.assigned {
            // What several ways lead to has several makers.
            if let Some(cell) = self.cells.get(value).filter(|_| self.inst(*value).op != Op::Phi) {
                named.entry(*cell).or_default().push((*local, *component));
            }
        }
        for node in self.nodes.blocks.iter_mut().flat_map(|block| &mut block.nodes) {
            for (at, cell) in node.dst.iter().enumerate() {
                let of = named.get(cell).into_iter().flatten();
                node.named.extend(of.map(|(local, component)| (at, *local, *component)));
            }
        }
    }

    pub(super) fn cell(&mut self, value: Value) -> u32 {
        if let Some(cell) = self.cells.get(&value) {
            return *cell;
        }
        let cell = self.nodes.cell();
        self.cells.insert(value, cell);
        cell
    }

    pub(super) fn inst(&self, value: Value) -> &Inst {
        self.function.inst(value)
    }

    /// A value as an operand: through signs, to a constant, a uniform or a cell.
    pub(super) fn raw(&mut self, value: Value) -> Raw {
        let (mut at, mut negate, mut absolute) = (value, false, false);
        loop {
            let inst = self.function.inst(at);
            match inst.op {
                Op::Neg if !absolute => negate = !negate,
                Op::Neg => {}
                Op::Abs => absolute = true,
                _ => break,
            }
            at = inst.args[0];
        }
        let (src, uniform) = match self.function.inst(at).op {
            Op::Const(bits) => {
                let number = f32::from_bits(bits);
                let number = if absolute { number.abs() } else { number };
                let number = if negate { -number } else { number };
                (negate, absolute) = (false, false);
                (Src::Const(number.to_bits()), None)
            }
            Op::Uniform(slot) => {
                let place = self.uniforms.places[slot as usize];
                (Src::Load((place % 4) as u8), Some((place / 4) as i32))
            }
            _ => (Src::Cell(self.cell(at)), None),
        };
        Raw {
            operand: Operand {
                comps: vec![src],
                negate,
                absolute,
            },
            uniform,
        }
    }

    /// A value in a cell of its own, moved there if it is in none.
    pub(super) fn in_cell(&mut self, value: Value, span: Span) -> u32 {
        let raw = self.raw(value);
        if let Operand {
            comps,
            negate: false,
            absolute: false,
        } = &raw.operand
            && let Src::Cell(cell) = comps[0]
        {
            return cell;
        }
        // A uniform comes with the load of its move, which is cheap to do again.
        let operand = &raw.operand;
        let key = (self.number, operand.comps[0], operand.negate, operand.absolute);
        let is_shared = raw.uniform.is_none();
        if let Some(cell) = self.copied.get(&key).filter(|_| is_shared) {
            return *cell;
        }
        let cell = self.nodes.cell();
        if is_shared {
            self.copied.insert(key, cell);
        }
        self.mov(cell, raw, span, 0);
        cell
    }

    pub(super) fn mov(&mut self, cell: u32, raw: Raw, span: Span, tag: u32) {
        let mut node = Node::mov(vec![cell], raw.operand, span);
        node.load = raw.uniform.map(uniform_load);
        node.tag = tag;
        self.block.push(node);
    }

    /// Operands of one node: only one vec4 of uniforms comes with it, others are moved to cells in front.
    pub(super) fn operands(&mut self, values: &[Value], span: Span, load: &mut Option<LoadAt>) -> Vec<Operand> {
        let raws: Vec<Raw> = values.iter().map(|value| self.raw(*value)).collect();
        let mut operands = Vec::new();
        for raw in raws {
            let Some(index) = raw.uniform else {
                operands.push(raw.operand);
                continue;
            };
            match load {
                Some(have) if *have != uniform_load(index) => {
                    let cell = self.nodes.cell();
                    let (negate, absolute) = (raw.operand.negate, raw.operand.absolute);
                    let plain = Raw {
                        operand: Operand::one(raw.operand.comps[0]),
                        uniform: raw.uniform,
                    };
                    self.mov(cell, plain, span, 0x8000_0000 | index as u32);
                    operands.push(Operand {
                        comps: vec![Src::Cell(cell)],
                        negate,
                        absolute,
                    });
                }
                _ => {
                    *load = Some(uniform_load(index));
                    operands.push(raw.operand);
                }
            }
        }
        operands
    }

    pub(super) fn push(&mut self, value: Value, kind: Kind, args: &[Value]) {
        let (span, tag) = (self.inst(value).span, self.inst(value).tag);
        let mut load = None;
        let src = self.operands(args, span, &mut load);
        let dst = vec![self.cell(value)];
        self.at.insert(value, self.block.len());
        self.block.push(Node {
            kind,
            dst,
            src,
            modifier: Modifier::None,
            load,
            tex: None,
            tag,
            order: 0,
            span,
            named: Vec::new(),
        });
    }

    pub(super) fn alu(&mut self, value: Value, mul: Option<MulOp>, acc: Option<AccOp>, args: &[Value]) {
        self.push(value, Kind::Alu { mul, acc }, args);
    }

    /// A modifier on what the only argument's node leaves, or a move with it.
    pub(super) fn modified(&mut self, value: Value, arg: Value, modifier: Modifier) {
        let node = self.at.get(&arg).copied();
        if let Some(at) = node.filter(|_| self.uses[arg.0 as usize] == 1) {
            let node = &self.block[at];
            let fits = matches!(
                node.kind,
                Kind::Alu { .. } | Kind::Sum | Kind::Select(_) | Kind::Function(_)
            );
            if fits && node.modifier == Modifier::None && node.dst == [self.cells[&arg]] {
                let (cell, tag) = (self.cell(value), self.inst(value).tag);
                let node = &mut self.block[at];
                (node.modifier, node.dst, node.tag) = (modifier, vec![cell], tag);
                self.at.insert(value, at);
                return;
            }
        }
        self.push(value, MOVE, &[arg]);
        if let Some(node) = self.block.last_mut() {
            node.modifier = modifier;
        }
    }

    pub(super) fn instruction(&mut self, value: Value) -> Result<()> {
        let inst = self.function.inst(value);
        let args = inst.args.as_slice();
        match inst.op {
            Op::Const(_) | Op::Uniform(_) | Op::Neg | Op::Abs | Op::Phi | Op::Texture { .. } => {
                if let Op::Texture { .. } = inst.op {
                    self.texture(value)?;
                }
            }
            Op::Lane(_) => {}
            Op::Input(input) => self.input(value, input),
            Op::UniformAt { base, stride, count } => self.uniform_at(value, base, stride, count)?,
            Op::Add => self.alu(value, None, Some(AccOp::Add), args),
            Op::Mul => self.alu(value, Some(MulOp::Mul), None, args),
            Op::Min => self.alu(value, Some(MulOp::Min), Some(AccOp::Min), args),
            Op::Max => match (self.function.constant(args[0]), self.function.constant(args[1])) {
                (Some(0.0), _) => self.modified(value, args[1], Modifier::Positive),
                (_, Some(0.0)) => self.modified(value, args[0], Modifier::Positive),
                _ => self.alu(value, Some(MulOp::Max), Some(AccOp::Max), args),
            },
            Op::Sum => self.sum(value),
            Op::Sat => self.modified(value, args[0], Modifier::Saturate),
            Op::Trunc => self.modified(value, args[0], Modifier::Integer),
            Op::Floor => self.alu(value, None, Some(AccOp::Floor), &[args[0], args[0]]),
            Op::Ceil => self.alu(value, None, Some(AccOp::Ceil), &[args[0], args[0]]),
            Op::Fract => self.alu(value, None, Some(AccOp::Fract), &[args[0], args[0]]),
            Op::Copy => self.push(value, MOVE, args),
            Op::Rcp => self.push(value, Kind::Function(ScalarFunction::Rcp), args),
            Op::Sqrt => self.push(value, Kind::Function(ScalarFunction::Sqrt), args),
            Op::Rsqrt => self.push(value, Kind::Function(ScalarFunction::Rsqrt), args),
            Op::Exp2 => self.push(value, Kind::Function(ScalarFunction::Exp2), args),
            Op::Log2 => self.push(value, Kind::Function(ScalarFunction::Log2), args),
            Op::Sin => self.push(value, Kind::Function(ScalarFunction::Sin), args),
            Op::Cos => self.push(value, Kind::Function(ScalarFunction::Cos), args),
            Op::Lt => self.alu(value, Some(MulOp::Gt), Some(AccOp::Gt), &[args[1], args[0]]),
            Op::Ge => self.alu(value, Some(MulOp::Ge), Some(AccOp::Ge), args),
            Op::Eq => self.alu(value, Some(MulOp::Eq), Some(AccOp::Eq), args),
            Op::Ne => self.alu(value, Some(MulOp::Ne), Some(AccOp::Ne), args),
            Op::Not => self.alu(value, Some(MulOp::Not), None, &[args[0], args[0]]),
            Op::And => self.alu(value, Some(MulOp::And), None, args),
            Op::Or => self.alu(value, Some(MulOp::Or), None, args),
            Op::Xor => self.alu(value, Some(MulOp::Xor), None, args),
            Op::Select => self.selection(value),
            Op::Ddx | Op::Ddy => {
                self.alu(
                    value,
                    None,
                    Some(if inst.op == Op::Ddx { AccOp::DFdx } else { AccOp::DFdy }),
                    &[args[0], args[0]],
                );
                if let Some(node) = self.block.last_mut() {
                    node.src[1].negate = !node.src[1].negate;
                }
            }
            Op::Load(place) => {
                let index = place as i32 - self.memory_floats as i32;
                let offset = self.offset(args[0], inst.span);
                let (index, offset) = fold_offset(index, offset);
                let cell = self.cell(value);
                let mut node = Node::mov(vec![cell], Operand::one(Src::Load(0)), inst.span);
                node.load = Some(LoadAt {
                    temporary: true,
                    index,
                    alignment: Alignment::Float,
                    offset,
                });
                self.block.push(node);
            }
            Op::Store(place) => {
                let index = place as i32 - self.memory_floats as i32;
                let offset = self.offset(args[0], inst.span);
                let (index, offset) = fold_offset(index, offset);
                let cell = self.in_cell(args[1], inst.span);
                self.block.push(Node::new(
                    Kind::Store { index, offset },
                    Vec::new(),
                    vec![Operand::one(Src::Cell(cell))],
                    inst.span,
                ));
            }
            Op::Sign => return Err(Error::unsupported("sign that was not lowered")),
        }
        Ok(())
    }

    pub(super) fn offset(&mut self, value: Value, span: Span) -> Offset {
        match self.function.constant(value) {
            Some(number) => Offset::Known(number as i32),
            None => Offset::Cell(self.in_cell(value, span)),
        }
    }

    pub(super) fn sum(&mut self, value: Value) {
        let args = self.inst(value).args.clone();
        let span = self.inst(value).span;
        let raws: Vec<Raw> = args.iter().map(|arg| self.raw(*arg)).collect();
        let signs = (raws[0].operand.negate, raws[0].operand.absolute);
        let cells: Vec<Src> = raws.iter().map(|raw| raw.operand.comps[0]).collect();
        let plain = raws.iter().all(|raw| {
            raw.uniform.is_none()
                && (raw.operand.negate, raw.operand.absolute) == signs
                && matches!(raw.operand.comps[0], Src::Cell(_))
        });
        let cell = self.cell(value);
        let tag = self.inst(value).tag;
        if plain {
            self.at.insert(value, self.block.len());
            self.block.push(Node {
                tag,
                ..Node::new(
                    Kind::Sum,
                    vec![cell],
                    vec![Operand {
                        comps: cells,
                        negate: signs.0,
                        absolute: signs.1,
                    }],
                    span,
                )
            });
            return;
        }
        // Sources of several kinds: one addition after the other.
        let mut sum: Option<u32> = None;
        let mut args = args.into_iter();
        let first = args.next();
        for (at, arg) in args.enumerate() {
            let mut load = None;
            let mut src = match (sum, first) {
                (None, Some(first)) => self.operands(&[first, arg], span, &mut load),
                _ => self.operands(&[arg], span, &mut load),
            };
            if let Some(cell) = sum {
                src.push(Operand::one(Src::Cell(cell)));
            }
            let to = if at + 2 == self.inst(value).args.len() {
                cell
            } else {
                self.nodes.cell()
            };
            self.block.push(Node {
                kind: Kind::Alu {
                    mul: None,
                    acc: Some(AccOp::Add),
                },
                dst: vec![to],
                src,
                modifier: Modifier::None,
                load,
                tex: None,
                tag: 0,
                order: 0,
                span,
                named: Vec::new(),
            });
            sum = Some(to);
        }
    }

    pub(super) fn selection(&mut self, value: Value) {
        let inst = self.inst(value).clone();
        let (condition, span) = (inst.args[0], inst.span);
        let compare = self.inst(condition).clone();
        let code = match compare.op {
            Op::Lt => Some((MulOp::Gt, true)),
            Op::Ge => Some((MulOp::Ge, false)),
            Op::Eq => Some((MulOp::Eq, false)),
            Op::Ne => Some((MulOp::Ne, false)),
            _ => None,
        };
        let mut load = None;
        let mut src = self.operands(&inst.args[1..], span, &mut load);
        let cond = match code.filter(|_| self.uses[condition.0 as usize] == 1) {
            Some((code, swap)) => {
                let mut sides = self.operands(&compare.args, span, &mut load);
                if swap {
                    sides.swap(0, 1);
                }
                let b = sides.pop().unwrap_or_else(|| Operand::one(Src::Const(0)));
                let a = sides.pop().unwrap_or_else(|| Operand::one(Src::Const(0)));
                Cond::Compare(code, a, b)
            }
            None => {
                let mut operand = self.operands(&[condition], span, &mut load);
                Cond::Value(operand.remove(0))
            }
        };
        let cell = self.cell(value);
        self.at.insert(value, self.block.len());
        self.block.push(Node {
            kind: Kind::Select(cond),
            dst: vec![cell],
            src: std::mem::take(&mut src),
            modifier: Modifier::None,
            load,
            tex: None,
            tag: inst.tag,
            order: 0,
            span,
            named: Vec::new(),
        });
    }
}

/// What is added to an index.
pub(super) enum Offset {
    Known(i32),
    Cell(u32),
}

fn fold_offset(index: i32, offset: Offset) -> (i32, Option<u32>) {
    match offset {
        Offset::Known(number) => (index + number, None),
        Offset::Cell(cell) => (index, Some(cell)),
    }
}

fn uniform_load(index: i32) -> LoadAt {
    LoadAt {
        temporary: false,
        index,
        alignment: Alignment::Vec4,
        offset: None,
    }
}
