//! From the compiler's own form to what the vertex processor's units do.

use super::across::{self, signed};
use super::node::{Arg, Id, Kind, Node};
use super::{Inputs, Outputs};
use crate::edges;
use crate::error::{Error, Result};
use crate::ir::{Block, Function, Input, Op, Output, Span, Term, Value};
use std::collections::{HashMap, HashSet};
use utgard::gp::{AccOp, ComplexOp, Component, PassOp};

/// A block of nodes.
#[derive(Default)]
pub(super) struct Selected {
    pub nodes: Vec<Node>,
    /// For each node those behind it, with the instructions between.
    pub after: Vec<Vec<(Id, usize)>>,
    /// Register components that hold what other blocks need.
    pub reserved: HashSet<u32>,
    /// Block that the last instruction goes to when the pass unit's result is not zero.
    pub branch: Option<usize>,
}

pub(super) struct Program {
    pub blocks: Vec<Selected>,
    pub constants: Vec<(u32, Vec<f32>)>,
    pub space: u32,
    /// Floats of the memory that hold what found no registers.
    pub temporaries: std::ops::Range<u32>,
}

struct Select<'a> {
    function: &'a Function,
    inputs: &'a Inputs<'a>,
    outputs: &'a Outputs,
    home: HashMap<Value, Block>,
    /// Where values live that several blocks need: a register component or a float of the memory.
    global: HashMap<Value, Arg>,
    constants: Constants,
    block: Selected,
    here: HashMap<Value, Arg>,
    current: Block,
}

/// Numbers that lie behind the uniforms.
struct Constants {
    first: u32,
    /// Floats from there on; those of the viewport's limits come in a vec4 of their own.
    floats: Vec<f32>,
}

impl Constants {
    fn float(&mut self, number: f32) -> u32 {
        let have = self.floats.iter().position(|float| float.to_bits() == number.to_bits());
        let at = have.unwrap_or_else(|| {
            self.floats.push(number);
            self.floats.len() - 1
        });
        self.first + at as u32
    }

    /// Two numbers at the beginning of a vec4.
    fn pair(&mut self, low: f32, high: f32) -> u32 {
        let found = (0..self.floats.len().saturating_sub(1))
            .step_by(4)
            .find(|at| self.floats[*at] == low && self.floats[*at + 1] == high);
        let at = found.unwrap_or_else(|| {
            while !(self.first as usize + self.floats.len()).is_multiple_of(4) {
                self.floats.push(0.0);
            }
            self.floats.extend([low, high]);
            self.floats.len() - 2
        });
        self.first + at as u32
    }
}

/// Selects nodes for a program; `registers` are the components that may hold what several blocks need.
pub(super) fn select(function: &Function, inputs: &Inputs<'_>, outputs: &Outputs, registers: u32) -> Result<Program> {
    let order = function.order();
    let mut home = HashMap::new();
    for block in &order {
        for value in &function.block(*block).insts {
            home.insert(*value, *block);
        }
    }
    let temporaries = inputs.free.next_multiple_of(4);
    let (global, reserved, count) = across::across(function, &order, &home, registers, temporaries);
    let mut select = Select {
        function,
        inputs,
        outputs,
        home,
        global,
        constants: Constants {
            first: (temporaries + count).next_multiple_of(4),
            floats: Vec::new(),
        },
        block: Selected::default(),
        here: HashMap::new(),
        current: order[0],
    };
    let numbers: HashMap<Block, usize> = order.iter().enumerate().map(|(at, block)| (*block, at)).collect();
    let mut named: HashMap<Value, Vec<(u32, u32)>> = HashMap::new();
    for (value, local, component) in &function.assigned {
        named.entry(*value).or_default().push((*local, *component));
    }
    let mut blocks = Vec::new();
    for (at, block) in order.iter().enumerate() {
        select.current = *block;
        select.here.clear();
        select.block = Selected {
            reserved: reserved[at].clone(),
            ..Selected::default()
        };
        for value in &function.block(*block).insts {
            let span = function.inst(*value).span;
            select
                .instruction(*value)
                .map_err(|error| error.at(crate::ir::range(span)))?;
            if let (Some(named), Some(Arg::Node(id))) = (named.get(value), select.here.get(value)) {
                select.block.nodes[*id].named = named.clone();
            }
        }
        select.keep_globals(*block);
        select.end(*block, at, &numbers);
        let mut done = std::mem::take(&mut select.block);
        order_nodes(&mut done);
        blocks.push(done);
    }
    let constants = select.constants;
    let space = constants.first + constants.floats.len() as u32;
    if space > 304 * 4 {
        return Err(Error::unsupported(format!(
            "{space} floats of uniforms and constants: there are {}",
            304 * 4
        )));
    }
    let chunks = constants.floats.chunks(4).enumerate();
    let constants = chunks
        .map(|(at, floats)| (constants.first + 4 * at as u32, floats.to_vec()))
        .collect();
    Ok(Program {
        blocks,
        constants,
        space: space.next_multiple_of(4),
        temporaries: temporaries..temporaries + count,
    })
}

impl Select<'_> {
    fn node(&mut self, kind: Kind, args: Vec<Arg>, span: Span) -> Arg {
        self.block.nodes.push(Node {
            kind,
            args,
            span,
            named: Vec::new(),
        });
        Arg::Node(self.block.nodes.len() - 1)
    }

    /// A value as an operand, its signs left out.
    fn plain(&mut self, value: Value) -> Arg {
        if let Some(arg) = self.here.get(&value) {
            return *arg;
        }
        match self.function.inst(value).op {
            Op::Const(bits) => Arg::Memory(self.constants.float(f32::from_bits(bits))),
            Op::Uniform(slot) => Arg::Memory(self.inputs.uniforms.places[slot as usize]),
            Op::Input(Input::Attribute(slot)) => Arg::Attribute(self.inputs.attributes.places[slot as usize]),
            _ => self.global.get(&value).copied().unwrap_or(Arg::Register(0)),
        }
    }

    /// A value as an operand that takes no sign.
    fn operand(&mut self, value: Value, span: Span) -> Arg {
        let (inner, negative) = signed(self.function, value);
        if let Some(number) = self.function.constant(inner).filter(|_| negative) {
            return Arg::Memory(self.constants.float(-number));
        }
        let arg = self.plain(inner);
        if negative {
            let zero = Arg::Memory(self.constants.float(1.0));
            return self.node(Kind::Mul(true), vec![arg, zero], span);
        }
        arg
    }

    fn acc(&mut self, op: AccOp, args: &[Value], swaps: bool, span: Span) -> Arg {
        let mut signs = [false; 2];
        let mut operands = Vec::new();
        for (at, value) in args.iter().enumerate() {
            let (inner, negative) = signed(self.function, *value);
            signs[at] = negative;
            operands.push(self.plain(inner));
        }
        self.node(Kind::Acc(op, signs, swaps), operands, span)
    }

    fn instruction(&mut self, value: Value) -> Result<()> {
        let inst = self.function.inst(value).clone();
        let (args, span) = (inst.args.as_slice(), inst.span);
        let arg = match inst.op {
            Op::Const(_) | Op::Uniform(_) | Op::Input(_) | Op::Neg | Op::Phi => return Ok(()),
            Op::Add => self.acc(AccOp::Add, args, true, span),
            Op::Floor => self.acc(AccOp::Floor, args, false, span),
            Op::Sign => self.acc(AccOp::Sign, args, false, span),
            Op::Ge => self.acc(AccOp::Ge, args, false, span),
            Op::Lt => self.acc(AccOp::Lt, args, false, span),
            Op::Min => self.acc(AccOp::Min, args, true, span),
            Op::Max => self.acc(AccOp::Max, args, true, span),
            Op::Mul => {
                let ((a, x), (b, y)) = (signed(self.function, args[0]), signed(self.function, args[1]));
                let operands = vec![self.plain(a), self.plain(b)];
                self.node(Kind::Mul(x != y), operands, span)
            }
            Op::Select => {
                let operands = args.iter().map(|arg| self.operand(*arg, span)).collect();
                self.node(Kind::Select, operands, span)
            }
            Op::Copy => self.operand(args[0], span),
            Op::Exp2 => {
                let operand = self.operand(args[0], span);
                let step = self.node(Kind::Step(PassOp::PreExp2), vec![operand], span);
                self.node(Kind::Function(ComplexOp::Exp2), vec![step], span)
            }
            Op::Log2 => {
                let operand = self.operand(args[0], span);
                let function = self.node(Kind::Function(ComplexOp::Log2), vec![operand], span);
                self.node(Kind::Step(PassOp::PostLog2), vec![function], span)
            }
            Op::Rsqrt => {
                let operand = self.operand(args[0], span);
                self.node(Kind::Function(ComplexOp::Rsqrt), vec![operand], span)
            }
            Op::Rcp => {
                let operand = self.operand(args[0], span);
                self.node(Kind::Function(ComplexOp::Rcp), vec![operand], span)
            }
            Op::Load(_) | Op::Store(_) => {
                return Err(Error::unsupported(
                    "a variable of more than 64 elements with an index that is not known, in a vertex program",
                ));
            }
            other => return Err(Error::unsupported(format!("{other:?} in a vertex program"))),
        };
        self.here.insert(value, arg);
        Ok(())
    }

    /// Stores what other blocks need of this one.
    fn keep_globals(&mut self, block: Block) {
        let here = |value: Value| self.home.get(&value) == Some(&block) && self.function.inst(value).op != Op::Phi;
        let globals = self.global.iter().filter(|(value, _)| here(**value));
        let mut kept: Vec<(Value, Arg)> = globals.map(|(value, place)| (*value, *place)).collect();
        kept.sort_by_key(|(value, _)| *value);
        for (value, place) in kept {
            let arg = self.plain(value);
            self.keep(arg, place, self.function.inst(value).span);
        }
        let mut stores = Vec::new();
        for (phi, value) in edges::copies(self.function, block) {
            let Some(place) = self.global.get(&phi).copied() else {
                continue;
            };
            let span = self.function.inst(phi).span;
            let arg = self.operand(value, span);
            if arg != place {
                stores.push((arg, place, span));
            }
        }
        // A place that is overwritten and read by another copy is read first.
        let targets: HashSet<Arg> = stores.iter().map(|(_, place, _)| *place).collect();
        for (arg, _, span) in &mut stores {
            if targets.contains(arg) {
                *arg = self.node(Kind::Move, vec![*arg], *span);
            }
        }
        for (arg, place, span) in stores {
            self.keep(arg, place, span);
        }
    }

    fn keep(&mut self, arg: Arg, place: Arg, span: Span) {
        let component = |float: u32| Component::ALL[float as usize % 4];
        match place {
            Arg::Memory(float) => {
                // The memory's load brings the address: the value must be on its way already.
                let arg = match arg {
                    Arg::Memory(_) => self.node(Kind::Move, vec![arg], span),
                    arg => arg,
                };
                let address = Arg::Memory(self.constants.float((float / 4) as f32));
                self.node(Kind::Spill(float / 4, component(float)), vec![arg, address], span);
            }
            Arg::Register(float) => {
                self.node(Kind::Keep((float / 4) as u16, component(float)), vec![arg], span);
            }
            Arg::Node(_) | Arg::Attribute(_) => {}
        }
    }

    fn end(&mut self, block: Block, at: usize, numbers: &HashMap<Block, usize>) {
        match self.function.block(block).term {
            Term::Jump(to) if numbers[&to] != at + 1 => {
                let one = Arg::Memory(self.constants.float(1.0));
                self.node(Kind::Branch, vec![one], None);
                self.block.branch = Some(numbers[&to]);
            }
            Term::Branch(value, then, other) => {
                let span = self.function.inst(value).span;
                let (then, other) = (numbers[&then], numbers[&other]);
                let (arg, to) = if then == at + 1 {
                    (self.inverted(value, span), other)
                } else {
                    (self.operand(value, span), then)
                };
                self.node(Kind::Branch, vec![arg], span);
                self.block.branch = Some(to);
            }
            Term::End => self.outputs(),
            _ => {}
        }
    }

    fn inverted(&mut self, value: Value, span: Span) -> Arg {
        let inst = self.function.inst(value).clone();
        match inst.op {
            Op::Ge if self.here.contains_key(&value) => self.acc(AccOp::Lt, &inst.args, false, span),
            Op::Lt if self.here.contains_key(&value) => self.acc(AccOp::Ge, &inst.args, false, span),
            _ => {
                let (arg, one) = (self.operand(value, span), Arg::Memory(self.constants.float(1.0)));
                self.node(Kind::Acc(AccOp::Add, [true, false], true), vec![arg, one], span)
            }
        }
    }

    fn output(&mut self, wanted: Output) -> Option<Value> {
        let outputs = &self.function.outputs;
        outputs
            .iter()
            .find(|(output, _)| *output == wanted)
            .map(|(_, value)| *value)
    }

    /// Position with the viewport's transform, point size with its limits, varyings.
    fn outputs(&mut self) {
        let number = self.outputs.position;
        if let Some(w) = self.output(Output::Position(3)) {
            let span = self.function.inst(w).span;
            let inverse = match self.function.constant(w) {
                Some(w) => Arg::Memory(self.constants.float((1.0 / w).clamp(-1e10, 1e10))),
                None => {
                    let w = self.operand(w, span);
                    let inverse = self.node(Kind::Function(ComplexOp::Rcp), vec![w], span);
                    let limits = self.constants.pair(-1e10, 1e10);
                    self.node(Kind::Clamp(limits / 4), vec![inverse], span)
                }
            };
            let one = matches!(inverse, Arg::Memory(_)) && self.function.constant(w) == Some(1.0);
            for component in [Component::X, Component::Y, Component::Z] {
                let Some(value) = self.output(Output::Position(component.index() as u8)) else {
                    continue;
                };
                let scale = Arg::Memory(self.inputs.viewport + component.index() as u32);
                let offset = Arg::Memory(self.inputs.viewport + 4 + component.index() as u32);
                if self.function.constant(value) == Some(0.0) {
                    // In the middle, whatever w is.
                    self.node(Kind::Output(number, component), vec![offset], span);
                    continue;
                }
                let arg = self.operand(value, span);
                let scaled = self.node(Kind::Mul(false), vec![arg, scale], span);
                let divided = if one {
                    scaled
                } else {
                    self.node(Kind::Mul(false), vec![scaled, inverse], span)
                };
                let moved = self.node(Kind::Acc(AccOp::Add, [false; 2], true), vec![divided, offset], span);
                self.node(Kind::Output(number, component), vec![moved], span);
            }
            self.node(Kind::Output(number, Component::W), vec![inverse], span);
        }
        if let Some(size) = self.output(Output::PointSize) {
            let span = self.function.inst(size).span;
            let arg = self.operand(size, span);
            let (low, high) = (self.inputs.point_size, self.inputs.point_size + 1);
            let above = self.node(
                Kind::Acc(AccOp::Max, [false; 2], true),
                vec![arg, Arg::Memory(low)],
                span,
            );
            let below = self.node(
                Kind::Acc(AccOp::Min, [false; 2], true),
                vec![above, Arg::Memory(high)],
                span,
            );
            self.node(Kind::Output(self.outputs.point_size, Component::X), vec![below], span);
        }
        for (output, value) in self.function.outputs.clone() {
            let Output::Varying(slot) = output else { continue };
            let Some((number, component)) = self.outputs.varyings.get(slot as usize).copied() else {
                continue;
            };
            let span = self.function.inst(value).span;
            let arg = self.operand(value, span);
            self.node(
                Kind::Output(number, Component::ALL[usize::from(component) % 4]),
                vec![arg],
                span,
            );
        }
    }
}

/// What must come behind what, and how many instructions on.
fn order_nodes(block: &mut Selected) {
    dead_nodes(block);
    let mut after: Vec<Vec<(Id, usize)>> = vec![Vec::new(); block.nodes.len()];
    for (id, node) in block.nodes.iter().enumerate() {
        for arg in &node.args {
            if let Arg::Node(from) = arg {
                let distance = match block.nodes[*from].kind {
                    Kind::Function(_) => 3,
                    _ => 1,
                };
                let store = matches!(node.kind, Kind::Output(..) | Kind::Keep(..) | Kind::Spill(..));
                let distance = if store && distance == 1 { 0 } else { distance };
                after[*from].push((id, distance));
            }
        }
        if let Some(place) = node.overwrites() {
            for (other, reader) in block.nodes.iter().enumerate() {
                if other != id && reader.args.contains(&place) {
                    after[other].push((id, 0));
                }
            }
        }
    }
    if let Some(branch) = block.nodes.iter().position(|node| node.kind == Kind::Branch) {
        for (id, next) in after.iter_mut().enumerate() {
            if id != branch && !next.iter().any(|(to, _)| *to == branch) {
                next.push((branch, 0));
            }
        }
    }
    block.after = after;
}

/// Removes nodes without readers.
fn dead_nodes(block: &mut Selected) {
    let mut live = vec![false; block.nodes.len()];
    for id in (0..block.nodes.len()).rev() {
        let node = &block.nodes[id];
        if matches!(
            node.kind,
            Kind::Output(..) | Kind::Keep(..) | Kind::Spill(..) | Kind::Branch
        ) {
            live[id] = true;
        }
        if live[id] {
            for arg in &node.args {
                if let Arg::Node(from) = arg {
                    live[*from] = true;
                }
            }
        }
    }
    let mut moved = Vec::new();
    let mut next = 0;
    for alive in &live {
        moved.push(next);
        next += usize::from(*alive);
    }
    let mut at = 0;
    block.nodes.retain(|_| {
        at += 1;
        live[at - 1]
    });
    for node in &mut block.nodes {
        for arg in &mut node.args {
            if let Arg::Node(from) = arg {
                *from = moved[*from];
            }
        }
    }
}
