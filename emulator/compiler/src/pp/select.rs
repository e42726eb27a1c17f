//! From the compiler's own form to what the fragment processor's units do.

use super::node::{Cond, Coord, End, Kind, LoadAt, MOVE, Node, NodeBlock, Nodes, Operand, Src, Tex, VaryingLoad};
use crate::edges;
use crate::error::{Error, Result};
use crate::interface::Interface;
use crate::ir::{Block, Function, Input, Inst, Lod, Op, Output, Span, Term, Value};
use crate::layout::Table;
use std::collections::HashMap;

pub(super) struct Select<'a> {
    function: &'a Function,
    interface: &'a Interface,
    uniforms: &'a Table,
    varyings: &'a Table,
    uses: Vec<u32>,
    nodes: Nodes,
    cells: HashMap<Value, u32>,
    /// Cells of look-ups by value and lane.
    block: Vec<Node>,
    /// Where in the block a value's node is, while its result may still be changed by a modifier.
    at: HashMap<Value, usize>,
    memory_floats: u32,
    /// Movements of whole operands into the block, by source.
    home: HashMap<Value, Block>,
    copied: HashMap<(usize, Src, bool, bool), u32>,
    number: usize,
}

/// An operand with its uniform, if it is one: the vec4's number.
#[derive(Clone, Debug)]
struct Raw {
    operand: Operand,
    uniform: Option<i32>,
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
    Ok(select.nodes)
}

impl Select<'_> {
    fn cell(&mut self, value: Value) -> u32 {
        if let Some(cell) = self.cells.get(&value) {
            return *cell;
        }
        let cell = self.nodes.cell();
        self.cells.insert(value, cell);
        cell
    }

    fn inst(&self, value: Value) -> &Inst {
        self.function.inst(value)
    }

    /// A value as an operand: through signs, to a constant, a uniform or a cell.
    fn raw(&mut self, value: Value) -> Raw {
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
    fn in_cell(&mut self, value: Value, span: Span) -> u32 {
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
        let key = match raw.uniform {
            Some(index) => Src::Const((index as u32) << 2 | 0x8000_0000 | lane_of(&raw.operand)),
            None => raw.operand.comps[0],
        };
        let key = (self.number, key, raw.operand.negate, raw.operand.absolute);
        if raw.uniform.is_none()
            && let Some(cell) = self.copied.get(&key)
        {
            return *cell;
        }
        let cell = self.nodes.cell();
        self.copied.insert(key, cell);
        self.mov(cell, raw, span, 0);
        cell
    }

    fn mov(&mut self, cell: u32, raw: Raw, span: Span, tag: u32) {
        let mut node = Node::mov(vec![cell], raw.operand, span);
        node.load = raw.uniform.map(uniform_load);
        node.tag = tag;
        self.block.push(node);
    }

    /// Operands of one node: only one vec4 of uniforms comes with it, others are moved to cells in front.
    fn operands(&mut self, values: &[Value], span: Span, load: &mut Option<LoadAt>) -> Vec<Operand> {
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

    fn push(&mut self, value: Value, kind: Kind, args: &[Value]) {
        let (span, tag) = (self.inst(value).span, self.inst(value).tag);
        let mut load = None;
        let src = self.operands(args, span, &mut load);
        let dst = vec![self.cell(value)];
        self.at.insert(value, self.block.len());
        self.block.push(Node {
            kind,
            dst,
            src,
            modifier: 0,
            load,
            tex: None,
            tag,
            order: 0,
            span,
        });
    }

    fn alu(&mut self, value: Value, mul: Option<u32>, acc: Option<u32>, args: &[Value]) {
        self.push(value, Kind::Alu { mul, acc }, args);
    }

    /// A modifier on what the only argument's node leaves, or a move with it.
    fn modified(&mut self, value: Value, arg: Value, modifier: u32) {
        let node = self.at.get(&arg).copied();
        if let Some(at) = node.filter(|_| self.uses[arg.0 as usize] == 1) {
            let node = &self.block[at];
            let fits = matches!(
                node.kind,
                Kind::Alu { .. } | Kind::Sum | Kind::Select(_) | Kind::Function(_)
            );
            if fits && node.modifier == 0 && node.dst == [self.cells[&arg]] {
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

    fn instruction(&mut self, value: Value) -> Result<()> {
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
            Op::Add => self.alu(value, None, Some(0), args),
            Op::Mul => self.alu(value, Some(0), None, args),
            Op::Min => self.alu(value, Some(16), Some(14), args),
            Op::Max => match (self.function.constant(args[0]), self.function.constant(args[1])) {
                (Some(0.0), _) => self.modified(value, args[1], 2),
                (_, Some(0.0)) => self.modified(value, args[0], 2),
                _ => self.alu(value, Some(17), Some(15), args),
            },
            Op::Sum => self.sum(value),
            Op::Sat => self.modified(value, args[0], 1),
            Op::Trunc => self.modified(value, args[0], 3),
            Op::Floor => self.alu(value, None, Some(12), &[args[0], args[0]]),
            Op::Ceil => self.alu(value, None, Some(13), &[args[0], args[0]]),
            Op::Fract => self.alu(value, None, Some(4), &[args[0], args[0]]),
            Op::Copy => self.push(value, MOVE, args),
            Op::Rcp => self.push(value, Kind::Function(0), args),
            Op::Sqrt => self.push(value, Kind::Function(2), args),
            Op::Rsqrt => self.push(value, Kind::Function(3), args),
            Op::Exp2 => self.push(value, Kind::Function(4), args),
            Op::Log2 => self.push(value, Kind::Function(5), args),
            Op::Sin => self.push(value, Kind::Function(6), args),
            Op::Cos => self.push(value, Kind::Function(7), args),
            Op::Lt => self.alu(value, Some(13), Some(9), &[args[1], args[0]]),
            Op::Ge => self.alu(value, Some(14), Some(10), args),
            Op::Eq => self.alu(value, Some(15), Some(11), args),
            Op::Ne => self.alu(value, Some(12), Some(8), args),
            Op::Not => self.alu(value, Some(8), None, &[args[0], args[0]]),
            Op::And => self.alu(value, Some(9), None, args),
            Op::Or => self.alu(value, Some(10), None, args),
            Op::Xor => self.alu(value, Some(11), None, args),
            Op::Select => self.selection(value),
            Op::Ddx | Op::Ddy => {
                self.alu(
                    value,
                    None,
                    Some(if inst.op == Op::Ddx { 20 } else { 21 }),
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
                    alignment: 0,
                    offset,
                });
                self.block.push(node);
            }
            Op::Store(place) => {
                let index = place as i32 - self.memory_floats as i32;
                let offset = self.offset(args[0], inst.span);
                let (index, offset) = fold_offset(index, offset);
                let cell = self.in_cell(args[1], inst.span);
                self.block.push(Node {
                    kind: Kind::Store { index, offset },
                    dst: Vec::new(),
                    src: vec![Operand::one(Src::Cell(cell))],
                    modifier: 0,
                    load: None,
                    tex: None,
                    tag: 0,
                    order: 0,
                    span: inst.span,
                });
            }
            Op::Sign => return Err(Error::unsupported("sign that was not lowered")),
        }
        Ok(())
    }

    fn offset(&mut self, value: Value, span: Span) -> Offset {
        match self.function.constant(value) {
            Some(number) => Offset::Known(number as i32),
            None => Offset::Cell(self.in_cell(value, span)),
        }
    }

    fn sum(&mut self, value: Value) {
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
                kind: Kind::Sum,
                dst: vec![cell],
                src: vec![Operand {
                    comps: cells,
                    negate: signs.0,
                    absolute: signs.1,
                }],
                modifier: 0,
                load: None,
                tex: None,
                tag,
                order: 0,
                span,
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
                    acc: Some(0),
                },
                dst: vec![to],
                src,
                modifier: 0,
                load,
                tex: None,
                tag: 0,
                order: 0,
                span,
            });
            sum = Some(to);
        }
    }

    fn selection(&mut self, value: Value) {
        let inst = self.inst(value).clone();
        let (condition, span) = (inst.args[0], inst.span);
        let compare = self.inst(condition).clone();
        let code = match compare.op {
            Op::Lt => Some((13, true)),
            Op::Ge => Some((14, false)),
            Op::Eq => Some((15, false)),
            Op::Ne => Some((12, false)),
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
            modifier: 0,
            load,
            tex: None,
            tag: inst.tag,
            order: 0,
            span,
        });
    }

    fn input(&mut self, value: Value, input: Input) {
        let inst = self.inst(value);
        let (span, tag) = (inst.span, inst.tag);
        if self.uses[value.0 as usize] == 0 {
            return;
        }
        let (load, lane) = match input {
            Input::Varying(slot) => {
                let place = self.varyings.places[slot as usize];
                let variable = self
                    .interface
                    .varyings
                    .iter()
                    .rfind(|variable| variable.first <= slot)
                    .map_or(1, |variable| variable.rows);
                varying_load(place, variable)
            }
            Input::FragCoord(component) => (special(11), component),
            Input::PointCoord(component) => (special(12), component),
            Input::FrontFacing => (special(13), 0),
            Input::Attribute(_) => return,
        };
        let cell = self.cell(value);
        self.nodes.lanes.insert(cell, lane);
        self.block.push(Node {
            kind: Kind::Varying(load),
            dst: vec![cell],
            src: Vec::new(),
            modifier: 0,
            load: None,
            tex: None,
            tag,
            order: 0,
            span,
        });
    }

    fn uniform_at(&mut self, value: Value, base: u32, stride: u32, count: u32) -> Result<()> {
        let inst = self.inst(value).clone();
        let (place, step) = self
            .uniforms
            .stride(base, stride, count)
            .ok_or_else(|| Error::unsupported("an index into uniforms that do not lie evenly"))?;
        let (alignment, unit) = match step {
            0 | 4.. if step % 4 == 0 => (2, 4),
            2 => (1, 2),
            _ => (0, 1),
        };
        let factor = step / unit;
        let mut offset = self.in_cell(inst.args[0], inst.span);
        if factor > 1 {
            let scaled = self.nodes.cell();
            self.block.push(Node {
                kind: Kind::Alu {
                    mul: Some(0),
                    acc: None,
                },
                dst: vec![scaled],
                src: vec![
                    Operand::one(Src::Cell(offset)),
                    Operand::one(Src::Const((factor as f32).to_bits())),
                ],
                modifier: 0,
                load: None,
                tex: None,
                tag: 0,
                order: 0,
                span: inst.span,
            });
            offset = scaled;
        }
        let cell = self.cell(value);
        let lane = place % unit;
        let mut node = Node::mov(vec![cell], Operand::one(Src::Load(lane as u8)), inst.span);
        node.tag = inst.tag;
        node.load = Some(LoadAt {
            temporary: false,
            index: (place / unit) as i32,
            alignment,
            offset: (step > 0).then_some(offset),
        });
        self.block.push(node);
        Ok(())
    }

    /// A look-up and a move of the lanes that somebody wants.
    fn texture(&mut self, value: Value) -> Result<()> {
        let inst = self.inst(value).clone();
        let Op::Texture { unit, cube, lod } = inst.op else {
            return Ok(());
        };
        let count = if cube { 3 } else { 2 };
        let coord = match self.direct(&inst.args[..count], cube) {
            Some(load) => Coord::Varying(load),
            None => Coord::Register(self.coordinates(&inst.args[..count], inst.span)),
        };
        let lod = match lod {
            Lod::Implicit => None,
            Lod::Bias => Some((self.in_cell(inst.args[count], inst.span), false)),
            Lod::Explicit => Some((self.in_cell(inst.args[count], inst.span), true)),
        };
        let home = self.home.get(&value).copied();
        let lanes: Vec<(Value, u8)> = (0..self.function.values.len() as u32)
            .map(Value)
            .filter_map(|lane| match self.function.inst(lane).op {
                Op::Lane(number)
                    if self.function.inst(lane).args[0] == value
                        && self.uses[lane.0 as usize] > 0
                        && self.home.contains_key(&lane) =>
                {
                    Some((lane, number))
                }
                _ => None,
            })
            .collect();
        debug_assert!(home.is_some());
        if lanes.is_empty() {
            return Ok(());
        }
        let dst = lanes.iter().map(|(lane, _)| self.cell(*lane)).collect();
        let comps = lanes.iter().map(|(_, number)| Src::Tex(*number)).collect();
        let operand = Operand {
            comps,
            negate: false,
            absolute: false,
        };
        let mut node = Node::mov(dst, operand, inst.span);
        node.tex = Some(Tex { unit, cube, coord, lod });
        self.block.push(node);
        Ok(())
    }

    /// Coordinates that the varying unit can hand to the sampler itself: a varying, or one divided by its last component.
    fn direct(&self, args: &[Value], cube: bool) -> Option<VaryingLoad> {
        let slot = |value: Value| match self.function.inst(value).op {
            Op::Input(Input::Varying(slot)) => Some(slot),
            _ => None,
        };
        let rows = |slot: u32| {
            let variable = self.interface.varyings.iter().rfind(|variable| variable.first <= slot);
            variable.map_or(1, |variable| variable.rows)
        };
        let start = |slots: &[u32]| {
            let places: Vec<u32> = slots.iter().map(|slot| self.varyings.places[*slot as usize]).collect();
            places
                .windows(2)
                .all(|pair| pair[1] == pair[0] + 1)
                .then_some(places[0])
        };
        if let Some(slots) = args.iter().map(|arg| slot(*arg)).collect::<Option<Vec<u32>>>() {
            let place = start(&slots)?;
            let kind = if cube { 8 } else { 0 };
            return match (cube, place % 4, rows(slots[0])) {
                (_, 0, 3..) => Some(VaryingLoad {
                    kind,
                    index: place / 4,
                    alignment: 3,
                }),
                (false, 0 | 2, _) => Some(VaryingLoad {
                    kind,
                    index: place / 2,
                    alignment: 1,
                }),
                _ => None,
            };
        }
        if cube {
            return None;
        }
        // x * (1 / w), y * (1 / w)
        let product = |value: Value| {
            let inst = self.function.inst(value);
            (inst.op == Op::Mul).then_some(())?;
            let inverse = |value: Value| {
                let inst = self.function.inst(value);
                (inst.op == Op::Rcp).then(|| slot(inst.args[0])).flatten()
            };
            match (
                slot(inst.args[0]),
                inverse(inst.args[1]),
                slot(inst.args[1]),
                inverse(inst.args[0]),
            ) {
                (Some(a), Some(w), ..) | (_, _, Some(a), Some(w)) => Some((a, w)),
                _ => None,
            }
        };
        let ((x, w), (y, other)) = (product(args[0])?, product(args[1])?);
        let place = start(&[x, y])?;
        let last = self.varyings.places[w as usize];
        let kind = match last.checked_sub(place)? {
            2 => 2,
            3 => 3,
            _ => return None,
        };
        (w == other && place % 4 == 0).then_some(VaryingLoad {
            kind,
            index: place / 4,
            alignment: 3,
        })
    }

    /// Coordinates in a register: cells of one, all with the same signs.
    fn coordinates(&mut self, args: &[Value], span: Span) -> Operand {
        let raws: Vec<Raw> = args.iter().map(|arg| self.raw(*arg)).collect();
        let signs = |raw: &Raw| (raw.operand.negate, raw.operand.absolute);
        let plain = raws.iter().all(|raw| {
            signs(raw) == signs(&raws[0]) && raw.uniform.is_none() && matches!(raw.operand.comps[0], Src::Cell(_))
        });
        if plain {
            return Operand {
                comps: raws.iter().map(|raw| raw.operand.comps[0]).collect(),
                negate: raws[0].operand.negate,
                absolute: raws[0].operand.absolute,
            };
        }
        let comps = args.iter().map(|arg| Src::Cell(self.in_cell(*arg, span))).collect();
        Operand {
            comps,
            negate: false,
            absolute: false,
        }
    }

    /// Copies into the phis behind a block, all at once: what is overwritten before it is read is saved first.
    fn phi_copies(&mut self, block: Block) {
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

    fn end(&mut self, block: Block, numbers: &HashMap<Block, usize>) -> End {
        match self.function.block(block).term {
            Term::Jump(to) => End::Jump(numbers[&to]),
            Term::Branch(value, then, other) => {
                let (then, other) = (numbers[&then], numbers[&other]);
                let inst = self.inst(value).clone();
                let single = self.uses[value.0 as usize] == 1;
                let condition = match inst.op {
                    Op::Lt => Some(4),
                    Op::Ge => Some(3),
                    Op::Eq => Some(2),
                    Op::Ne => Some(5),
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
                    condition: 5,
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

    fn branch_operand(&mut self, value: Value) -> Src {
        match self.function.constant(value) {
            Some(number) => Src::Const(number.to_bits()),
            None => Src::Cell(self.in_cell(value, None)),
        }
    }

    /// The colour, moved to register 0.
    fn outputs(&mut self) {
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

enum Offset {
    Known(i32),
    Cell(u32),
}

fn fold_offset(index: i32, offset: Offset) -> (i32, Option<u32>) {
    match offset {
        Offset::Known(number) => (index + number, None),
        Offset::Cell(cell) => (index, Some(cell)),
    }
}

fn lane_of(operand: &Operand) -> u32 {
    match operand.comps[0] {
        Src::Load(lane) => u32::from(lane),
        _ => 0,
    }
}

fn uniform_load(index: i32) -> LoadAt {
    LoadAt {
        temporary: false,
        index,
        alignment: 2,
        offset: None,
    }
}

fn special(kind: u32) -> VaryingLoad {
    VaryingLoad {
        kind,
        index: 0,
        alignment: 3,
    }
}

/// The load that brings a float of the varyings, and its lane.
fn varying_load(place: u32, rows: u32) -> (VaryingLoad, u8) {
    let (alignment, unit) = match rows {
        1 => (0, 1),
        2 => (1, 2),
        _ => (3, 4),
    };
    let load = VaryingLoad {
        kind: 0,
        index: place / unit,
        alignment,
    };
    (load, (place % unit) as u8)
}
