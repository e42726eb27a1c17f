//! From the compiler's own form to what the vertex processor's units do.

use super::node::{Arg, Id, Kind, Node};
use super::{Inputs, Outputs};
use crate::edges;
use crate::error::{Error, Result};
use crate::ir::{Block, Function, Input, Op, Output, Span, Term, Value};
use crate::opt::fold;
use std::collections::{HashMap, HashSet};

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
}

struct Select<'a> {
    function: &'a Function,
    inputs: &'a Inputs<'a>,
    outputs: &'a Outputs,
    home: HashMap<Value, Block>,
    /// Components of values that several blocks need.
    global: HashMap<Value, u32>,
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

/// Selects nodes for a program.
pub(super) fn select(function: &Function, inputs: &Inputs<'_>, outputs: &Outputs) -> Result<Program> {
    let order = function.order();
    let mut home = HashMap::new();
    for block in &order {
        for value in &function.block(*block).insts {
            home.insert(*value, *block);
        }
    }
    let (global, reserved) = across(function, &order, &home)?;
    let mut select = Select {
        function,
        inputs,
        outputs,
        home,
        global,
        constants: Constants {
            first: inputs.free.next_multiple_of(4),
            floats: Vec::new(),
        },
        block: Selected::default(),
        here: HashMap::new(),
        current: order[0],
    };
    let numbers: HashMap<Block, usize> = order.iter().enumerate().map(|(at, block)| (*block, at)).collect();
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
    })
}

/// A value through its signs: what is negated.
fn signed(function: &Function, mut value: Value) -> (Value, bool) {
    let mut negative = false;
    while function.inst(value).op == Op::Neg {
        value = function.inst(value).args[0];
        negative = !negative;
    }
    (value, negative)
}

/// Whether a value is at hand everywhere without a register.
fn is_leaf(op: Op) -> bool {
    matches!(op, Op::Const(_) | Op::Uniform(_) | Op::Input(_))
}

type Components = (HashMap<Value, u32>, Vec<HashSet<u32>>);

/// Register components for values that are read in other blocks than their own, and for phis.
fn across(function: &Function, order: &[Block], home: &HashMap<Value, Block>) -> Result<Components> {
    let number: HashMap<Block, usize> = order.iter().enumerate().map(|(at, block)| (*block, at)).collect();
    let count = order.len();
    let mut uses: Vec<HashSet<Value>> = vec![HashSet::new(); count];
    let mut wanted: HashSet<Value> = HashSet::new();
    let mut look = |at: usize, value: Value| {
        let (value, _) = signed(function, value);
        let inst = function.inst(value);
        if is_leaf(inst.op) {
            return;
        }
        if home.get(&value) != Some(&order[at]) || inst.op == Op::Phi {
            uses[at].insert(value);
            wanted.insert(value);
        }
    };
    for (at, block) in order.iter().enumerate() {
        for value in &function.block(*block).insts {
            let inst = function.inst(*value);
            if inst.op != Op::Phi {
                inst.args.iter().for_each(|arg| look(at, *arg));
            } else {
                look(at, *value);
            }
        }
        edges::copies(function, *block)
            .iter()
            .for_each(|(_, value)| look(at, *value));
        match function.block(*block).term {
            Term::Branch(value, ..) => look(at, value),
            Term::End => function.outputs.iter().for_each(|(_, value)| look(at, *value)),
            _ => {}
        }
    }
    // Live behind each block; a phi's register is written at the ends of the blocks in front.
    let mut live: Vec<HashSet<Value>> = vec![HashSet::new(); count];
    loop {
        let mut changed = false;
        for at in (0..count).rev() {
            for next in function.successors(order[at]) {
                let to = number[&next];
                let mut incoming: HashSet<Value> = live[to].iter().chain(&uses[to]).copied().collect();
                incoming.retain(|value| home.get(value) != Some(&next) || function.inst(*value).op == Op::Phi);
                let phis = incoming
                    .iter()
                    .filter(|value| home.get(*value) == Some(&next))
                    .copied()
                    .collect::<Vec<_>>();
                for value in incoming {
                    changed |= live[at].insert(value);
                }
                let _ = phis;
            }
        }
        if !changed {
            break;
        }
    }
    // A phi is not alive in front of the blocks that write it: what came in through its own block ends there.
    let mut busy: Vec<HashSet<u32>> = vec![HashSet::new(); count];
    let mut global = HashMap::new();
    let mut all: Vec<Value> = wanted.into_iter().collect();
    all.sort();
    for value in all {
        let there =
            |at: usize| uses[at].contains(&value) || live[at].contains(&value) || home.get(&value) == Some(&order[at]);
        let blocks: Vec<usize> = (0..count).filter(|at| there(*at)).collect();
        let component = (0..64u32).find(|component| blocks.iter().all(|at| !busy[*at].contains(component)));
        let component = component.ok_or_else(|| Error::limit("a vertex program whose numbers find no registers"))?;
        for at in blocks {
            busy[at].insert(component);
        }
        global.insert(value, component);
    }
    Ok((global, busy))
}

impl Select<'_> {
    fn node(&mut self, kind: Kind, args: Vec<Arg>, span: Span) -> Arg {
        self.block.nodes.push(Node { kind, args, span });
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
            _ => Arg::Register(self.global.get(&value).copied().unwrap_or(0)),
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

    fn acc(&mut self, op: u16, args: &[Value], swaps: bool, span: Span) -> Arg {
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
            Op::Add => self.acc(0, args, true, span),
            Op::Floor => self.acc(1, args, false, span),
            Op::Sign => self.acc(2, args, false, span),
            Op::Ge => self.acc(4, args, false, span),
            Op::Lt => self.acc(5, args, false, span),
            Op::Min => self.acc(6, args, true, span),
            Op::Max => self.acc(7, args, true, span),
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
                let step = self.node(Kind::Step(4), vec![operand], span);
                self.node(Kind::Function(2), vec![step], span)
            }
            Op::Log2 => {
                let operand = self.operand(args[0], span);
                let function = self.node(Kind::Function(3), vec![operand], span);
                self.node(Kind::Step(5), vec![function], span)
            }
            Op::Rsqrt => {
                let operand = self.operand(args[0], span);
                self.node(Kind::Function(4), vec![operand], span)
            }
            Op::Rcp => {
                let operand = self.operand(args[0], span);
                self.node(Kind::Function(5), vec![operand], span)
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
        let mut kept: Vec<(Value, u32)> = self
            .global
            .iter()
            .filter(|(value, _)| self.home.get(*value) == Some(&block) && self.function.inst(**value).op != Op::Phi)
            .map(|(value, component)| (*value, *component))
            .collect();
        kept.sort();
        for (value, component) in kept {
            let arg = self.plain(value);
            self.keep(arg, component, self.function.inst(value).span);
        }
        let copies = edges::copies(self.function, block);
        let mut stores = Vec::new();
        for (phi, value) in copies {
            let Some(component) = self.global.get(&phi).copied() else {
                continue;
            };
            let span = self.function.inst(phi).span;
            let arg = self.operand(value, span);
            if arg != Arg::Register(component) {
                stores.push((arg, component, span));
            }
        }
        // A register that is overwritten and read by another copy is read first.
        let targets: HashSet<u32> = stores.iter().map(|(_, component, _)| *component).collect();
        for (arg, _, span) in &mut stores {
            if let Arg::Register(component) = arg
                && targets.contains(component)
            {
                *arg = self.node(Kind::Move, vec![*arg], *span);
            }
        }
        for (arg, component, span) in stores {
            self.keep(arg, component, span);
        }
    }

    fn keep(&mut self, arg: Arg, component: u32, span: Span) {
        let kind = Kind::Keep((component / 4) as u16, (component % 4) as u8);
        self.node(kind, vec![arg], span);
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
            Op::Ge if self.here.contains_key(&value) => self.acc(5, &inst.args, false, span),
            Op::Lt if self.here.contains_key(&value) => self.acc(4, &inst.args, false, span),
            _ => {
                let (arg, one) = (self.operand(value, span), Arg::Memory(self.constants.float(1.0)));
                self.node(Kind::Acc(0, [true, false], true), vec![arg, one], span)
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
                    let inverse = self.node(Kind::Function(5), vec![w], span);
                    let limits = self.constants.pair(-1e10, 1e10);
                    self.node(Kind::Clamp(limits / 4), vec![inverse], span)
                }
            };
            let one = matches!(inverse, Arg::Memory(_)) && self.function.constant(w) == Some(1.0);
            for component in 0..3u8 {
                let Some(value) = self.output(Output::Position(component)) else {
                    continue;
                };
                let arg = self.operand(value, span);
                let scale = Arg::Memory(self.inputs.viewport + u32::from(component));
                let offset = Arg::Memory(self.inputs.viewport + 4 + u32::from(component));
                let scaled = self.node(Kind::Mul(false), vec![arg, scale], span);
                let divided = if one {
                    scaled
                } else {
                    self.node(Kind::Mul(false), vec![scaled, inverse], span)
                };
                let moved = self.node(Kind::Acc(0, [false; 2], true), vec![divided, offset], span);
                self.node(Kind::Output(number, component), vec![moved], span);
            }
            self.node(Kind::Output(number, 3), vec![inverse], span);
        }
        if let Some(size) = self.output(Output::PointSize) {
            let span = self.function.inst(size).span;
            let arg = self.operand(size, span);
            let (low, high) = (self.inputs.point_size, self.inputs.point_size + 1);
            let above = self.node(Kind::Acc(7, [false; 2], true), vec![arg, Arg::Memory(low)], span);
            let below = self.node(Kind::Acc(6, [false; 2], true), vec![above, Arg::Memory(high)], span);
            self.node(Kind::Output(self.outputs.point_size, 0), vec![below], span);
        }
        for (output, value) in self.function.outputs.clone() {
            let Output::Varying(slot) = output else { continue };
            let Some((number, component)) = self.outputs.varyings.get(slot as usize).copied() else {
                continue;
            };
            let span = self.function.inst(value).span;
            let arg = self.operand(value, span);
            self.node(Kind::Output(number, component), vec![arg], span);
        }
    }
}

/// What must come behind what, and how many instructions on.
fn order_nodes(block: &mut Selected) {
    let _ = fold::is_truth;
    dead_nodes(block);
    let mut after: Vec<Vec<(Id, usize)>> = vec![Vec::new(); block.nodes.len()];
    for (id, node) in block.nodes.iter().enumerate() {
        for arg in &node.args {
            if let Arg::Node(from) = arg {
                let distance = match block.nodes[*from].kind {
                    Kind::Function(_) => 3,
                    _ => 1,
                };
                let store = matches!(node.kind, Kind::Output(..) | Kind::Keep(..));
                let distance = if store && distance == 1 { 0 } else { distance };
                after[*from].push((id, distance));
            }
        }
        if let Kind::Keep(register, component) = node.kind {
            let place = Arg::Register(u32::from(register) * 4 + u32::from(component));
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

/// Takes out nodes that nobody reads.
fn dead_nodes(block: &mut Selected) {
    let mut live = vec![false; block.nodes.len()];
    for id in (0..block.nodes.len()).rev() {
        let node = &block.nodes[id];
        if matches!(node.kind, Kind::Output(..) | Kind::Keep(..) | Kind::Branch) {
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
