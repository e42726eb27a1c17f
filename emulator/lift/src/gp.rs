//! Converts a vertex program's instructions to values.
//!
//! The pipeline results of an instruction (of its units and of its first port's load) are readable by the next two.
//! Within a block they are known values; across blocks they are variables like the registers.

use crate::interface::Interface;
use crate::ssa::{BlockId, Builder, End, Function, Gather, Input, Lane, Op, Relation, Variable};
use crate::{Error, Options};
use std::collections::HashMap;
use utgard::gp::{
    AccOp, Age, ComplexOp, Instruction, LoadOffset, MulOp, Operand, PassOp, Product, Source, Stored, Target, UNITS,
    Unit,
};

const RESULTS: [Variable; 2] = [64, 70];
const PORT0_BEFORE: Variable = 76;
const ADDRESSES: Variable = 80;
const OUTPUTS: Variable = 84;
/// Outputs that can be stored to.
const OUTPUT_COUNT: u32 = 16;

fn register(number: u16, component: usize) -> Variable {
    4 * u32::from(number & 15) + component as u32
}

/// The pipeline results of an instruction, as far as known in this block.
#[derive(Clone, Copy)]
enum Left {
    /// The instruction is in another block, this many instructions back.
    Elsewhere(usize),
    /// Its results by unit, and its first port's load (an attribute, or the register's components at that time).
    Here([Option<Lane>; 6], [Option<Lane>; 4]),
}

struct Front<'a> {
    builder: Builder,
    interface: &'a Interface,
    program: &'a [Instruction],
    /// Values of inputs and uniforms, by float.
    inputs: HashMap<Input, Lane>,
    left: [Left; 2],
    block: BlockId,
    /// Whether the program stores temporaries.
    stores: bool,
    /// The viewport, if the caller provides it.
    viewport: Option<[f32; 8]>,
}

fn unknown(at: usize, what: String) -> Error {
    Error::unsupported(at as u32, format!("{what} is not known"))
}

/// The first instruction of each block, in order.
fn leaders(program: &[Instruction]) -> Vec<usize> {
    let mut first = vec![false; program.len() + 1];
    first[0] = true;
    for (at, i) in program.iter().enumerate().filter(|(_, i)| i.branch) {
        first[at + 1] = true;
        first[usize::from(i.target()).min(program.len())] = true;
    }
    (0..program.len()).filter(|at| first[*at]).collect()
}

/// Lifts a vertex program. Its results are the position in clip space, the point size if there is one, and the outputs
/// of the interface.
pub(crate) fn lift(program: &[Instruction], interface: &Interface, options: &Options) -> Result<Function, Error> {
    if program.is_empty() {
        return Err(Error::code(0, "no instructions".to_owned()));
    }
    let leaders = leaders(program);
    let exit = leaders.len();
    let block_of = |at: usize| leaders.binary_search(&at).unwrap_or(exit);
    let mut edges = Vec::new();
    for (number, first) in leaders.iter().enumerate() {
        let end = leaders.get(number + 1).copied().unwrap_or(program.len());
        let last = &program[end - 1];
        debug_assert!(*first < end);
        let mut next = vec![block_of(end)];
        if last.branch {
            next.push(block_of(usize::from(last.target())));
        }
        edges.push(next);
    }
    edges.push(Vec::new());
    let mut front = Front {
        builder: Builder::new(&edges),
        interface,
        program,
        inputs: HashMap::new(),
        left: [Left::Elsewhere(0), Left::Elsewhere(1)],
        block: 0,
        stores: program.iter().any(Instruction::stores_temporaries),
        viewport: options.viewport,
    };
    for (number, first) in leaders.iter().enumerate() {
        let end = leaders.get(number + 1).copied().unwrap_or(program.len());
        front.block = number;
        front.block(*first..end, &edges[number])?;
    }
    front.block = exit;
    let results = front.results(options)?;
    front.builder.end(exit, End::Exit);
    Ok(front.builder.finish(results))
}

impl Front<'_> {
    fn push(&mut self, op: Op, args: &[Lane]) -> Lane {
        let args: Vec<Gather> = args.iter().map(|lane| vec![*lane]).collect();
        let value = self.builder.push(self.block, op, args, 1);
        Lane { value, lane: 0 }
    }

    fn number(&mut self, value: f32) -> Lane {
        self.builder.number(value)
    }

    fn read(&mut self, variable: Variable) -> Lane {
        self.builder.read(self.block, variable)
    }

    fn block(&mut self, range: std::ops::Range<usize>, next: &[BlockId]) -> Result<(), Error> {
        self.left = [Left::Elsewhere(0), Left::Elsewhere(1)];
        let mut pass = None;
        for at in range.clone() {
            pass = self.instruction(at)?;
        }
        self.keep();
        let end = match (next, pass) {
            ([on, taken], Some(pass)) => {
                let truth = self.is_true(pass);
                End::Branch(truth, *taken, *on)
            }
            // A branch whose condition comes from an idle unit is never taken.
            ([on, ..], _) => End::Jump(*on),
            ([], _) => End::Exit,
        };
        self.builder.end(self.block, end);
        Ok(())
    }

    /// Stores the last two instructions' pipeline results for the following blocks.
    fn keep(&mut self) {
        for (age, variables) in RESULTS.into_iter().enumerate() {
            for unit in 0..UNITS.len() {
                let lane = self.result(unit, age);
                self.builder.write(self.block, variables + unit as u32, lane);
            }
        }
        for component in 0..4 {
            let lane = self.port0_before(component);
            self.builder.write(self.block, PORT0_BEFORE + component as u32, lane);
        }
    }

    fn result(&mut self, unit: usize, age: usize) -> Lane {
        match self.left[age] {
            Left::Here(results, _) => results[unit].unwrap_or_else(|| self.number(0.0)),
            Left::Elsewhere(back) => self.read(RESULTS[back.min(1)] + unit as u32),
        }
    }

    fn port0_before(&mut self, component: usize) -> Lane {
        match self.left[0] {
            Left::Here(_, port) => port[component].unwrap_or_else(|| self.number(0.0)),
            Left::Elsewhere(_) => self.read(PORT0_BEFORE + component as u32),
        }
    }

    fn input(&mut self, input: Input) -> Lane {
        if let Some(lane) = self.inputs.get(&input) {
            return *lane;
        }
        let value = self.builder.push(0, Op::Input(input), Vec::new(), 1);
        let lane = Lane { value, lane: 0 };
        self.inputs.insert(input, lane);
        lane
    }

    /// A component of an attribute; missing ones are 0, or 1 as the fourth.
    fn attribute(&mut self, number: u32, component: u8) -> Lane {
        let attribute = self.interface.inputs.iter().find(|input| input.float == 4 * number);
        let components = attribute.map_or(0, |attribute| attribute.components);
        if component >= components {
            return self.number(if component == 3 { 1.0 } else { 0.0 });
        }
        let input = Input::Stage(4 * number);
        let value = match self.inputs.get(&input) {
            Some(lane) => lane.value,
            None => self.builder.push(0, Op::Input(input), Vec::new(), components),
        };
        self.inputs.insert(input, Lane { value, lane: 0 });
        Lane { value, lane: component }
    }

    fn uniform(&mut self, float: u32) -> Lane {
        let own = self.interface.viewport.and_then(|first| float.checked_sub(first));
        if let (Some(viewport), Some(at @ 0..8)) = (self.viewport, own) {
            return self.number(viewport[at as usize]);
        }
        match self.interface.constant(float) {
            Some(value) => self.number(value),
            None => self.input(Input::Uniform(float)),
        }
    }

    fn port0(&mut self, i: &Instruction, component: usize) -> Lane {
        if i.register0_is_attribute {
            self.attribute(u32::from(i.register0_address), component as u8)
        } else {
            self.read(register(i.register0_address, component))
        }
    }

    fn memory(&mut self, i: &Instruction, component: usize) -> Lane {
        let float = 4 * u32::from(i.load_address) + component as u32;
        let offset = match i.load_offset {
            LoadOffset::Nothing | LoadOffset::Undocumented(_) => None,
            LoadOffset::Address0 | LoadOffset::Address1 | LoadOffset::Address2 | LoadOffset::Address3 => {
                i.load_offset.register()
            }
        };
        // Temporaries follow the uniforms.
        let temporary = self.stores && float >= self.interface.uniform_floats;
        let Some(address) = offset else {
            if temporary {
                let at = self.number(float as f32);
                return self.push(Op::Load, &[at]);
            }
            return self.uniform(float);
        };
        let address = self.read(ADDRESSES + address as u32);
        let (four, base) = (self.number(4.0), self.number(float as f32));
        let scaled = self.push(Op::Mul, &[address, four]);
        let at = self.push(Op::Add, &[scaled, base]);
        self.push(
            if temporary {
                Op::Load
            } else {
                Op::Input(Input::UniformAt)
            },
            &[at],
        )
    }

    fn source(&mut self, at: usize, source: Source) -> Result<Lane, Error> {
        let i = &self.program[at];
        Ok(match source {
            Source::Port0(component) => self.port0(i, component.index()),
            Source::Port1(component) => self.read(register(i.register1_address, component.index())),
            Source::Memory(component) => self.memory(i, component.index()),
            Source::Result(unit, Age::One) => self.result(unit.index(), 0),
            Source::Result(unit, Age::Two) => self.result(unit.index(), 1),
            Source::Port0Before(component) => self.port0_before(component.index()),
            Source::Idle => self.number(0.0),
            Source::Undocumented(code) => return Err(unknown(at, format!("source {code}"))),
        })
    }

    /// Appends one instruction to the block; returns the pass unit's result, if any.
    fn instruction(&mut self, at: usize) -> Result<Option<Lane>, Error> {
        let i = &self.program[at];
        let mut results = [None; 6];
        for (unit, sum) in [Unit::Acc0, Unit::Acc1].into_iter().zip(i.sums()) {
            let Some(sum) = sum else { continue };
            let a = self.source(at, sum.a)?;
            let a = self.negated(a, sum.a_negate);
            let b = match sum.b {
                Operand::Identity => self.number(0.0),
                Operand::Source(source) => self.source(at, source)?,
            };
            let b = self.negated(b, sum.b_negate);
            results[unit.index()] = Some(self.sum(at, i.acc_op, a, b)?);
        }
        let [mul0, mul1] = self.products(at, i)?;
        (results[Unit::Mul0.index()], results[Unit::Mul1.index()]) = (mul0, mul1);
        if i.complex_source.is_used() {
            let value = self.source(at, i.complex_source)?;
            results[Unit::Complex.index()] = Some(self.complex(i.complex_op, value));
        }
        if i.pass_source.is_used() {
            let value = self.source(at, i.pass_source)?;
            results[Unit::Pass.index()] = Some(self.pass(at, i, value)?);
        }
        self.addresses(i, &results);
        let mut port0 = [None; 4];
        for (component, lane) in port0.iter_mut().enumerate() {
            *lane = Some(self.port0(i, component));
        }
        self.store(at, i, &results)?;
        self.left = [
            Left::Here(results, port0),
            match self.left[0] {
                Left::Elsewhere(back) => Left::Elsewhere(back),
                here => here,
            },
        ];
        Ok(results[Unit::Pass.index()])
    }

    fn negated(&mut self, value: Lane, negate: bool) -> Lane {
        if negate { self.push(Op::Neg, &[value]) } else { value }
    }

    fn compare(&mut self, relation: Relation, a: Lane, b: Lane) -> Lane {
        let truth = self.push(Op::Compare(relation), &[a, b]);
        self.push(Op::Truth, &[truth])
    }

    /// Whether a number is not zero.
    fn is_true(&mut self, value: Lane) -> Lane {
        let node = self.builder.function.node(value.value);
        if node.op == Op::Truth {
            return node.args[0][0];
        }
        let zero = self.number(0.0);
        self.push(Op::Compare(Relation::NotEqual), &[value, zero])
    }

    fn sum(&mut self, at: usize, op: AccOp, a: Lane, b: Lane) -> Result<Lane, Error> {
        Ok(match op {
            AccOp::Add => self.push(Op::Add, &[a, b]),
            AccOp::Floor => self.push(Op::Floor, &[a]),
            AccOp::Sign => self.push(Op::Sign, &[a]),
            AccOp::Ge => self.compare(Relation::LessEqual, b, a),
            AccOp::Lt => self.compare(Relation::Less, a, b),
            AccOp::Min => self.push(Op::Min, &[a, b]),
            AccOp::Max => self.push(Op::Max, &[a, b]),
            AccOp::Undocumented(op) => return Err(unknown(at, format!("adder operation {op}"))),
        })
    }

    fn product(&mut self, at: usize, product: Option<Product>) -> Result<Option<Lane>, Error> {
        let Some(product) = product else { return Ok(None) };
        let a = self.source(at, product.a)?;
        let value = match product.b {
            Operand::Identity => a,
            Operand::Source(b) => {
                let b = self.source(at, b)?;
                self.push(Op::Mul, &[a, b])
            }
        };
        Ok(Some(self.negated(value, product.negate)))
    }

    fn products(&mut self, at: usize, i: &Instruction) -> Result<[Option<Lane>; 2], Error> {
        let [first, second] = i.products();
        let busy = first.is_some();
        Ok(match i.mul_op {
            MulOp::Mul => [self.product(at, first)?, self.product(at, second)?],
            // The complex unit's result is already final, so its helper is ignored, and the last step passes it on.
            MulOp::Complex2 => {
                let helper = if busy {
                    let (a, b) = (self.source(at, i.mul0_a)?, self.source(at, i.mul0_b)?);
                    Some(self.push(Op::Mul, &[a, b]))
                } else {
                    None
                };
                [helper, self.product(at, second)?]
            }
            MulOp::Undocumented(op) => return Err(unknown(at, format!("multiplier operation {op}"))),
            _ if !busy => [None; 2],
            MulOp::Complex1 => [Some(self.source(at, i.mul0_a)?), None],
            MulOp::Select => {
                let condition = self.source(at, i.mul0_b)?;
                let (yes, no) = (self.source(at, i.mul1_a)?, self.source(at, i.mul0_a)?);
                let truth = self.is_true(condition);
                [Some(self.push(Op::Select, &[truth, yes, no])), None]
            }
        })
    }

    fn complex(&mut self, op: ComplexOp, value: Lane) -> Lane {
        match op {
            ComplexOp::Exp2 => self.push(Op::Exp2, &[value]),
            ComplexOp::Log2 => self.push(Op::Log2, &[value]),
            ComplexOp::Rsqrt => self.push(Op::Rsqrt, &[value]),
            ComplexOp::Rcp => self.push(Op::Rcp, &[value]),
            ComplexOp::Mov
            | ComplexOp::TempAddressPair
            | ComplexOp::TempStoreAddress
            | ComplexOp::TempLoadAddress1
            | ComplexOp::TempLoadAddress2
            | ComplexOp::TempLoadAddress3 => value,
            ComplexOp::Undocumented(_) => self.number(0.0),
        }
    }

    fn pass(&mut self, at: usize, i: &Instruction, value: Lane) -> Result<Lane, Error> {
        Ok(match i.pass_op {
            PassOp::Mov | PassOp::PreExp2 | PassOp::PostLog2 => value,
            PassOp::Clamp => {
                let (low, high) = (self.memory(i, 0), self.memory(i, 1));
                let above = self.push(Op::Max, &[value, low]);
                self.push(Op::Min, &[above, high])
            }
            PassOp::Undocumented(op) => return Err(unknown(at, format!("pass operation {op}"))),
        })
    }

    fn addresses(&mut self, i: &Instruction, results: &[Option<Lane>; 6]) {
        let registers: &[(u32, Unit)] = match i.complex_op {
            ComplexOp::TempAddressPair => &[(0, Unit::Pass), (1, Unit::Pass)],
            ComplexOp::TempStoreAddress => &[(0, Unit::Complex)],
            ComplexOp::TempLoadAddress1 => &[(1, Unit::Complex)],
            ComplexOp::TempLoadAddress2 => &[(2, Unit::Complex)],
            ComplexOp::TempLoadAddress3 => &[(3, Unit::Complex)],
            _ => &[],
        };
        if !i.complex_source.is_used() {
            return;
        }
        for (register, unit) in registers {
            let value = results[unit.index()].unwrap_or_else(|| self.builder.number(0.0));
            let whole = self.push(Op::Trunc, &[value]);
            self.builder.write(self.block, ADDRESSES + register, whole);
        }
    }

    fn store(&mut self, at: usize, i: &Instruction, results: &[Option<Lane>; 6]) -> Result<(), Error> {
        for (component, (stored, target)) in i.stores().into_iter().enumerate() {
            let value = match stored {
                Stored::Nothing => continue,
                Stored::Undocumented(code) => return Err(unknown(at, format!("store source {code}"))),
                Stored::Unit(unit) => results[unit.index()].unwrap_or_else(|| self.builder.number(0.0)),
            };
            match target {
                Target::Register(number) => self.builder.write(self.block, register(number, component), value),
                Target::Varying(number) => {
                    let output = OUTPUTS + 4 * u32::from(number) + component as u32;
                    self.builder.write(self.block, output, value);
                }
                Target::Temporary => {
                    let address = self.read(ADDRESSES);
                    let (four, component) = (self.number(4.0), self.number(component as f32));
                    let scaled = self.push(Op::Mul, &[address, four]);
                    let place = self.push(Op::Add, &[scaled, component]);
                    self.push(Op::Store, &[place, value]);
                }
            }
        }
        Ok(())
    }

    // Results.

    fn output(&mut self, float: u32, components: u8) -> Gather {
        let floats = float..float + u32::from(components);
        let outputs = floats.map(|float| self.read(OUTPUTS + float.min(4 * OUTPUT_COUNT - 1)));
        outputs.collect()
    }

    fn results(&mut self, options: &Options) -> Result<Vec<Gather>, Error> {
        let Some(position) = self.interface.position else {
            return Err(Error::interface("the program has no gl_Position".to_owned()));
        };
        let window = self.output(position, 4);
        let mut results = vec![self.clip(&window, options)?];
        if let Some(size) = self.interface.point_size {
            results.push(self.output(size, 1));
        }
        for output in &self.interface.outputs {
            results.push(self.output(output.float, output.components));
        }
        Ok(results)
    }

    /// Converts a position in the window, followed by 1/w, to clip space: the value it was computed from, or the
    /// inverse transform.
    fn clip(&mut self, window: &[Lane], options: &Options) -> Result<Gather, Error> {
        if let Some(clip) = self.before_viewport(window) {
            return Ok(clip);
        }
        let scale: [Lane; 8] = match (options.viewport, self.interface.viewport) {
            (Some(viewport), _) => viewport.map(|value| self.number(value)),
            (None, Some(float)) => std::array::from_fn(|at| self.uniform(float + at as u32)),
            (None, None) if self.interface.in_window => return Ok(window.to_vec()),
            (None, None) => {
                let message =
                    "where the viewport's scale and offset are is not known, and the position does not show it";
                return Err(Error::interface(message.to_owned()));
            }
        };
        let w = self.push(Op::Rcp, &[window[3]]);
        let mut clip: Gather = (0..2)
            .map(|at| {
                let offset = self.push(Op::Neg, &[scale[4 + at]]);
                let moved = self.push(Op::Add, &[window[at], offset]);
                let normal = self.push(Op::Div, &[moved, scale[at]]);
                self.push(Op::Mul, &[normal, w])
            })
            .collect();
        clip.push(self.push(Op::Mul, &[window[2], w]));
        clip.push(w);
        Ok(clip)
    }

    /// The operands of a sum or product.
    fn operands(&self, lane: Lane, op: Op) -> Option<[Lane; 2]> {
        let node = self.builder.function.node(lane.value);
        (node.op == op).then(|| [node.args[0][0], node.args[1][0]])
    }

    /// The factors of a product of products.
    fn factors(&self, lane: Lane) -> Vec<Lane> {
        match self.operands(lane, Op::Mul) {
            Some([a, b]) => {
                let mut factors = self.factors(a);
                factors.extend(self.factors(b));
                factors
            }
            None => vec![lane],
        }
    }

    fn is_uniform(&self, lane: Lane) -> bool {
        matches!(
            self.builder.function.node(lane.value).op,
            Op::Input(Input::Uniform(_)) | Op::Constant(_)
        )
    }

    /// Matches `x`, `y`, `z` and `w` of `x * r * scale + offset` with `r` = 1 / `w`, in any order: the forms that
    /// compilers generate for positions.
    fn before_viewport(&mut self, window: &[Lane]) -> Option<Gather> {
        let mut divided = Vec::new();
        for lane in &window[..3] {
            let sum = self.operands(*lane, Op::Add)?;
            let product = *sum.iter().find(|lane| !self.is_uniform(**lane))?;
            sum.iter().find(|lane| self.is_uniform(**lane))?;
            let factors = self.factors(product);
            let scale = factors.iter().position(|lane| self.is_uniform(*lane))?;
            let mut others = factors;
            others.remove(scale);
            divided.push(<[Lane; 2]>::try_from(others).ok()?);
        }
        let [x, y, z] = divided.as_slice() else { return None };
        let inverse = *x.iter().find(|lane| y.contains(lane) && z.contains(lane))?;
        let other = |pair: &[Lane; 2]| if pair[0] == inverse { pair[1] } else { pair[0] };
        let (x, y, z) = (other(x), other(y), other(z));
        let w = self.reciprocal_of(inverse)?;
        // The window's depth ranges from 0 to 1, OpenGL's from -1.
        let (half, sum) = (self.number(0.5), self.push(Op::Add, &[z, w]));
        let z = self.push(Op::Mul, &[sum, half]);
        Some(vec![x, y, z, w])
    }

    /// The divisor if a value is a reciprocal, looking through clamps.
    fn reciprocal_of(&self, mut lane: Lane) -> Option<Lane> {
        loop {
            let node = self.builder.function.node(lane.value);
            match node.op {
                Op::Rcp => return Some(node.args[0][0]),
                Op::Min | Op::Max => {
                    lane = *node
                        .args
                        .iter()
                        .map(|arg| &arg[0])
                        .find(|lane| !self.is_uniform(**lane))?;
                }
                _ => return None,
            }
        }
    }
}
