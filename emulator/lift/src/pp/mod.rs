//! Converts a fragment program's instructions to values.
//!
//! The units of an instruction run in a fixed order and read the results of earlier ones: constants, texels and
//! uniforms are valid for one instruction, products reach the adders before rounding. Registers store fp16.

mod blocks;
mod loads;

use crate::interface::Interface;
use crate::ssa::{BlockId, Builder, End, Function, Gather, Input, Lane, Level, Op, Relation, Variable};
use crate::{Error, Options};
use blocks::{Leaves, blocks};
use std::collections::HashMap;
use utgard::field::Code;
use utgard::pp::ops::Origin;
use utgard::pp::{
    AccOp, Alignment, Branch, Combine, Condition, Constant, Form, Instruction, LevelOfDetail, Load, LoadSource,
    Modifier, MulOp, Register, Sampler, Scalar, ScalarFunction, ScalarSource, ScalarUnit, Store, StoreTarget, Varying,
    VaryingKind, VectorFunction, VectorSource, VectorUnit, flow,
};

/// Variables of temporaries, by float; register variables have lower numbers.
const TEMPORARIES: Variable = 1 << 20;
/// The middle of the program's memory, where float 0 of its temporaries is stored.
const MIDDLE: i32 = crate::emit::MEMORY as i32 / 2;

fn variable(register: Register, component: usize) -> Variable {
    4 * register.index() as u32 + component as u32
}

struct Front<'a> {
    builder: Builder,
    interface: &'a Interface,
    inputs: HashMap<(Input, u8), u32>,
    block: BlockId,
    /// Word of the current instruction.
    word: u32,
    exact: bool,
    /// Whether the program counts rows upwards but the target downwards.
    against: bool,
    /// Whether some temporary's index is computed, which puts all of them in memory.
    addressed: bool,
    /// The bias of the next instruction, where that one reads it before the present one has written it.
    early_bias: Option<Lane>,
    /// Constants, texel and uniform of the instruction.
    pipeline: [[Lane; 4]; 4],
    vec_mul: [Lane; 4],
    float_mul: Lane,
}

/// Lifts a fragment program. Its results are the colour and, if written, the depth.
pub(crate) fn lift(words: &[u32], interface: &Interface, options: &Options) -> Result<Function, Error> {
    let (instructions, wrong) = flow::instructions(words);
    if instructions.is_empty() {
        return Err(Error::code(
            0,
            wrong.map_or("no instructions".to_owned(), |wrong| wrong.message),
        ));
    }
    let blocks = blocks(&instructions)?;
    let exit = blocks.len();
    let mut edges: Vec<Vec<BlockId>> = blocks.iter().map(|block| block.next(exit)).collect();
    edges.push(Vec::new());
    let mut builder = Builder::new(&edges);
    let zero = builder.number(0.0);
    let addressed = instructions.iter().any(|(_, i)| {
        i.load
            .is_some_and(|unit| unit.source == LoadSource::Temporary && unit.offset().is_some())
            || i.store
                .is_some_and(|unit| !unit.reads_tile() && unit.offset().is_some())
    });
    let early_biases = flow::early_biases(&instructions);
    let mut front = Front {
        builder,
        interface,
        inputs: HashMap::new(),
        block: 0,
        word: 0,
        exact: options.exact,
        against: options.convention.rows_down && options.convention.height.is_some(),
        addressed,
        early_bias: None,
        pipeline: [[zero; 4]; 4],
        vec_mul: [zero; 4],
        float_mul: zero,
    };
    for (number, block) in blocks.iter().enumerate() {
        front.block = number;
        let mut truth = None;
        for (word, i) in &instructions[block.first..block.end] {
            front.word = *word;
            let bias = front.early_bias.take();
            let late = early_biases.iter().find(|bias| bias.written_at == *word);
            front.early_bias = late.map(|bias| front.scalar(bias.register));
            truth = front.instruction(i, bias)?;
        }
        let end = match (block.leaves, truth) {
            (Leaves::Ends, _) => End::Jump(exit),
            (Leaves::Discards, _) => End::Discard,
            (Leaves::Goes(to), _) => End::Jump(to),
            (Leaves::Branches(to, on), Some(truth)) => End::Branch(truth, to, on.unwrap_or(exit)),
            (Leaves::Branches(_, on), None) => End::Jump(on.unwrap_or(exit)),
        };
        front.builder.end(number, end);
    }
    front.block = exit;
    let mut results = vec![front.register(Register(interface.color_register), 4)];
    if let Some(depth) = interface.depth_register {
        results.push(front.register(Register(depth), 1));
    }
    front.builder.end(exit, End::Exit);
    Ok(front.builder.finish(results))
}

impl Front<'_> {
    fn unknown(&self, what: impl std::fmt::Display) -> Error {
        Error::unsupported(self.word, what.to_string())
    }

    fn vector(&mut self, op: Op, args: Vec<Gather>, width: usize) -> Vec<Lane> {
        let value = self.builder.push(self.block, op, args, width as u8);
        (0..width as u8).map(|lane| Lane { value, lane }).collect()
    }

    fn push(&mut self, op: Op, args: &[Lane]) -> Lane {
        let args = args.iter().map(|lane| vec![*lane]).collect();
        self.vector(op, args, 1)[0]
    }

    fn number(&mut self, value: f32) -> Lane {
        self.builder.number(value)
    }

    /// An input's components.
    fn input(&mut self, input: Input, width: u8) -> Vec<Lane> {
        let value = match self.inputs.get(&(input, width)) {
            Some(value) => *value,
            None => self.builder.push(0, Op::Input(input), Vec::new(), width),
        };
        self.inputs.insert((input, width), value);
        (0..width).map(|lane| Lane { value, lane }).collect()
    }

    fn component(&mut self, register: Register, component: usize) -> Lane {
        match register.index().checked_sub(Register::CONST0.index()) {
            Some(at) => self.pipeline[at][component],
            None => self.builder.read(self.block, variable(register, component)),
        }
    }

    fn register(&mut self, register: Register, components: usize) -> Vec<Lane> {
        (0..components).map(|at| self.component(register, at)).collect()
    }

    /// Writes components of a register, as fp16; `lanes` has all four.
    fn write(&mut self, register: Register, mask: u32, lanes: &[Lane; 4]) {
        if register.is_pipeline() {
            return;
        }
        let written: Vec<usize> = (0..4).filter(|at| mask >> at & 1 == 1).collect();
        let mut values: Vec<Lane> = written.iter().map(|at| lanes[*at]).collect();
        if self.exact && !values.is_empty() {
            let width = values.len();
            values = self.vector(Op::Half, vec![values], width);
        }
        for (component, value) in written.into_iter().zip(values) {
            self.builder.write(self.block, variable(register, component), value);
        }
    }

    fn write_scalar(&mut self, unit: &ScalarUnit, value: Lane) {
        if unit.write {
            self.write(
                unit.destination.register(),
                1 << unit.destination.component(),
                &[value; 4],
            );
        }
    }

    fn modified(&mut self, mut lanes: Vec<Lane>, absolute: bool, negate: bool) -> Vec<Lane> {
        let width = lanes.len();
        if absolute {
            lanes = self.vector(Op::Abs, vec![lanes], width);
        }
        if negate {
            lanes = self.vector(Op::Neg, vec![lanes], width);
        }
        lanes
    }

    fn scalar(&mut self, scalar: Scalar) -> Lane {
        self.component(scalar.register(), scalar.component())
    }

    fn source(&mut self, source: ScalarSource) -> Lane {
        let lane = self.scalar(source.scalar);
        self.modified(vec![lane], source.absolute, source.negate)[0]
    }

    /// Components of an operand, for the given components of the result.
    fn operand(&mut self, source: &VectorSource, wanted: &[usize], product: Option<[Lane; 4]>) -> Vec<Lane> {
        let lanes = wanted.iter().map(|at| {
            let component = source.swizzle.index(*at);
            match product {
                Some(product) => product[component],
                None => self.component(source.register, component),
            }
        });
        let lanes = lanes.collect();
        self.modified(lanes, source.absolute, source.negate)
    }

    fn outcome(&mut self, lanes: Vec<Lane>, modifier: Modifier) -> Vec<Lane> {
        let width = lanes.len();
        match modifier {
            Modifier::None => lanes,
            Modifier::Saturate => self.vector(Op::Saturate, vec![lanes], width),
            Modifier::Integer => self.vector(Op::Trunc, vec![lanes], width),
            Modifier::Positive => {
                let zero = vec![self.number(0.0); width];
                self.vector(Op::Max, vec![lanes, zero], width)
            }
        }
    }

    fn compare(&mut self, relation: Relation, a: Vec<Lane>, b: Vec<Lane>) -> Vec<Lane> {
        let width = a.len();
        let truths = self.vector(Op::Compare(relation), vec![a, b], width);
        self.vector(Op::Truth, vec![truths], width)
    }

    fn is_true(&mut self, lanes: Vec<Lane>) -> Vec<Lane> {
        let width = lanes.len();
        let zero = vec![self.number(0.0); width];
        self.vector(Op::Compare(Relation::NotEqual), vec![lanes, zero], width)
    }

    /// Lifts an instruction; returns its branch condition, if any. `early_bias` is its bias, if it is read early.
    fn instruction(&mut self, i: &Instruction, early_bias: Option<Lane>) -> Result<Option<Lane>, Error> {
        let zero = self.number(0.0);
        self.pipeline = [[zero; 4]; 4];
        (self.vec_mul, self.float_mul) = ([zero; 4], zero);
        for (at, constant) in [i.const0, i.const1].into_iter().enumerate() {
            if let Some(constant) = constant {
                self.pipeline[at] = self.halves(&constant);
            }
        }
        let coordinates = match &i.varying {
            Some(unit) => self.varying(unit)?,
            None => [zero; 4],
        };
        if let Some(unit) = &i.sampler {
            self.sample(unit, &coordinates, early_bias)?;
        }
        if let Some(unit) = &i.load {
            self.load(unit)?;
        }
        self.multiply(i)?;
        self.accumulate(i)?;
        if let Some(unit) = &i.combine {
            self.combine(unit)?;
        }
        if let Some(unit) = &i.store {
            self.store(unit)?;
        }
        Ok(i.branch.and_then(|branch| self.condition(&branch)))
    }

    fn halves(&mut self, constant: &Constant) -> [Lane; 4] {
        constant.halves().map(|half| self.number(num::half::to_f32(half)))
    }

    fn condition(&mut self, branch: &Branch) -> Option<Lane> {
        let (a, b) = (self.scalar(branch.a), self.scalar(branch.b));
        let (relation, a, b) = match branch.condition {
            Condition::Eq => (Relation::Equal, a, b),
            Condition::Lt => (Relation::Less, a, b),
            Condition::Le => (Relation::LessEqual, a, b),
            Condition::Gt => (Relation::Less, b, a),
            Condition::Ge => (Relation::LessEqual, b, a),
            Condition::Never | Condition::Always => return None,
            Condition::Ne => {
                // Less or greater, because NaN does not compare as unequal here.
                let (less, greater) = (
                    self.push(Op::Compare(Relation::Less), &[a, b]),
                    self.push(Op::Compare(Relation::Less), &[b, a]),
                );
                return Some(self.push(Op::Or, &[less, greater]));
            }
        };
        Some(self.push(Op::Compare(relation), &[a, b]))
    }

    fn multiply(&mut self, i: &Instruction) -> Result<(), Error> {
        let vector = i.vec_mul.map(|unit| (unit.op, unit.unit()));
        let scalar = i.float_mul.map(|unit| (unit.op, unit.unit()));
        let forwarded = i.vec_acc.is_some_and(|unit| unit.a_is_mul);
        let mut results: (Option<[Lane; 4]>, Option<Lane>) = (None, None);
        if let Some((op, unit)) = &vector {
            let wanted = wanted(if forwarded { 15 } else { unit.mask });
            if !wanted.is_empty() {
                let a = self.operand(&unit.a, &wanted, None);
                let b = self.operand(&unit.b, &wanted, None);
                let value = self.product(*op, a, b)?;
                let value = self.outcome(value, unit.modifier);
                results.0 = Some(self.spread(&wanted, &value));
            }
        }
        if let Some((op, unit)) = &scalar {
            let (a, b) = (self.source(unit.a), self.source(unit.b));
            let value = self.product(*op, vec![a], vec![b])?;
            results.1 = Some(self.outcome(value, unit.modifier)[0]);
        }
        if let (Some((_, unit)), Some(value)) = (vector, results.0) {
            self.vec_mul = value;
            self.write(unit.destination, unit.mask, &value);
        }
        if let (Some((_, unit)), Some(value)) = (scalar, results.1) {
            self.float_mul = value;
            self.write_scalar(&unit, value);
        }
        Ok(())
    }

    /// Values of some components, expanded to all four.
    fn spread(&mut self, wanted: &[usize], value: &[Lane]) -> [Lane; 4] {
        let mut lanes = [self.number(0.0); 4];
        wanted.iter().zip(value).for_each(|(at, lane)| lanes[*at] = *lane);
        lanes
    }

    fn product(&mut self, op: MulOp, a: Vec<Lane>, b: Vec<Lane>) -> Result<Vec<Lane>, Error> {
        let width = a.len();
        if let Some(scale) = op.scale() {
            let product = self.vector(Op::Mul, vec![a, b], width);
            if scale == 1.0 {
                return Ok(product);
            }
            let scale = vec![self.number(scale); width];
            return Ok(self.vector(Op::Mul, vec![product, scale], width));
        }
        let logic = |front: &mut Self, op, a, b| {
            let (a, b) = (front.is_true(a), front.is_true(b));
            let truths = front.vector(op, vec![a, b], width);
            front.vector(Op::Truth, vec![truths], width)
        };
        Ok(match op {
            MulOp::Not => {
                let zero = vec![self.number(0.0); width];
                self.compare(Relation::Equal, a, zero)
            }
            MulOp::And => logic(self, Op::And, a, b),
            MulOp::Or => logic(self, Op::Or, a, b),
            MulOp::Xor => logic(self, Op::Xor, a, b),
            MulOp::Ne => self.compare(Relation::NotEqual, a, b),
            MulOp::Gt => self.compare(Relation::Less, b, a),
            MulOp::Ge => self.compare(Relation::LessEqual, b, a),
            MulOp::Eq => self.compare(Relation::Equal, a, b),
            MulOp::Min => self.vector(Op::Min, vec![a, b], width),
            MulOp::Max => self.vector(Op::Max, vec![a, b], width),
            MulOp::Mov => a,
            _ => return Err(self.unknown(format!("multiplier operation {} is not known", op.code()))),
        })
    }

    /// Both adders read before either writes.
    fn accumulate(&mut self, i: &Instruction) -> Result<(), Error> {
        let mut vector: Option<(VectorUnit, [Lane; 4])> = None;
        if let Some(acc) = i.vec_acc {
            let unit = acc.unit();
            let product = acc.a_is_mul.then_some(self.vec_mul);
            let value = match acc.op {
                AccOp::Sum3 | AccOp::Sum4 => {
                    let a = self.operand(
                        &unit.a,
                        if acc.op == AccOp::Sum3 {
                            &[0, 1, 2]
                        } else {
                            &[0, 1, 2, 3]
                        },
                        product,
                    );
                    vec![self.total(&a); 4]
                }
                op => {
                    let wanted = wanted(unit.mask);
                    let a = self.operand(&unit.a, &wanted, product);
                    let b = self.operand(&unit.b, &wanted, None);
                    let value = if wanted.is_empty() { a } else { self.added(op, a, b)? };
                    self.spread(&wanted, &value).to_vec()
                }
            };
            let value = four(&value);
            let wanted = wanted(unit.mask);
            let lanes = wanted.iter().map(|at| value[*at]).collect();
            let lanes = self.outcome(lanes, unit.modifier);
            vector = Some((unit, self.spread(&wanted, &lanes)));
        }
        let mut scalar: Option<(ScalarUnit, Lane)> = None;
        if let Some(acc) = i.float_acc {
            let unit = acc.unit();
            let a = if acc.a_is_mul {
                self.modified(vec![self.float_mul], unit.a.absolute, unit.a.negate)[0]
            } else {
                self.source(unit.a)
            };
            let b = self.source(unit.b);
            let value = self.added(acc.op, vec![a], vec![b])?;
            scalar = Some((unit, self.outcome(value, unit.modifier)[0]));
        }
        if let Some((unit, value)) = vector {
            self.write(unit.destination, unit.mask, &value);
        }
        if let Some((unit, value)) = scalar {
            self.write_scalar(&unit, value);
        }
        Ok(())
    }

    /// The sum of three or four numbers, in the hardware's order.
    fn total(&mut self, lanes: &[Lane]) -> Lane {
        match *lanes {
            [x, y, z] => {
                let behind = self.push(Op::Add, &[y, z]);
                self.push(Op::Add, &[x, behind])
            }
            [x, y, z, w] => {
                let (front, behind) = (self.push(Op::Add, &[x, y]), self.push(Op::Add, &[z, w]));
                self.push(Op::Add, &[front, behind])
            }
            _ => self.number(0.0),
        }
    }

    fn added(&mut self, op: AccOp, a: Vec<Lane>, b: Vec<Lane>) -> Result<Vec<Lane>, Error> {
        let width = a.len();
        Ok(match op {
            AccOp::Add => self.vector(Op::Add, vec![a, b], width),
            AccOp::Fract => self.vector(Op::Fract, vec![a], width),
            AccOp::Ne => self.compare(Relation::NotEqual, a, b),
            AccOp::Gt => self.compare(Relation::Less, b, a),
            AccOp::Ge => self.compare(Relation::LessEqual, b, a),
            AccOp::Eq => self.compare(Relation::Equal, a, b),
            AccOp::Floor => self.vector(Op::Floor, vec![a], width),
            AccOp::Ceil => self.vector(Op::Ceil, vec![a], width),
            AccOp::Min => self.vector(Op::Min, vec![a, b], width),
            AccOp::Max => self.vector(Op::Max, vec![a, b], width),
            AccOp::DFdx => self.derivative(Op::DerivativeX, a, b)?,
            AccOp::DFdy => self.derivative(Op::DerivativeY, a, b)?,
            AccOp::Select => {
                let truth = self.is_true(vec![self.float_mul])[0];
                self.vector(Op::Select, vec![vec![truth; width], a, b], width)
            }
            AccOp::Mov => a,
            AccOp::Sum3 | AccOp::Sum4 | AccOp::Undocumented(_) => {
                return Err(self.unknown(format!("adder operation {} is not known", op.code())));
            }
        })
    }

    /// One pixel's first operand plus its neighbour's second: a difference, because the second is the negated first.
    fn derivative(&mut self, op: Op, a: Vec<Lane>, b: Vec<Lane>) -> Result<Vec<Lane>, Error> {
        let width = a.len();
        if !self.are_opposite(&a, &b) {
            return Err(self.unknown("a derivative of two different values"));
        }
        let flipped = op == Op::DerivativeY && self.against;
        let value = self.vector(op, vec![a], width);
        Ok(if flipped {
            self.vector(Op::Neg, vec![value], width)
        } else {
            value
        })
    }

    fn are_opposite(&self, a: &[Lane], b: &[Lane]) -> bool {
        let negated = |lane: Lane| {
            let node = self.builder.function.node(lane.value);
            (node.op == Op::Neg).then(|| node.args[0][usize::from(lane.lane)])
        };
        let constant = |lane: Lane| self.builder.function.constant(lane);
        a.iter().zip(b).all(|(a, b)| {
            negated(*b) == Some(*a)
                || negated(*a) == Some(*b)
                || constant(*a).zip(constant(*b)).is_some_and(|(a, b)| a == -b)
        })
    }

    fn combine(&mut self, unit: &Combine) -> Result<(), Error> {
        let a = self.source(unit.a_source());
        let (register, mask) = unit.destination_vector();
        let value = match unit.form() {
            Form::Scalar(op) => self.function(op, a)?,
            // The first part of an arc tangent yields the angle, the second passes it on.
            Form::AtanPart2(b) => self.operand(&b, &[0], None)[0],
            Form::Scale(b) => {
                let wanted = wanted(mask);
                let b = self.operand(&b, &wanted, None);
                let width = b.len();
                if width > 0 {
                    let product = self.vector(Op::Mul, vec![vec![a; width], b], width);
                    let product = self.spread(&wanted, &product);
                    self.write(register, mask, &product);
                }
                return Ok(());
            }
            Form::Vector(op) => {
                let angle = match op {
                    VectorFunction::AtanPart1 => self.push(Op::Atan, &[a]),
                    VectorFunction::Atan2Part1 => {
                        let b = self.source(unit.b_source());
                        self.push(Op::Atan2, &[a, b])
                    }
                    VectorFunction::Undocumented(op) => {
                        return Err(self.unknown(format!("combine operation {op} is not known")));
                    }
                };
                let (zero, one) = (self.number(0.0), self.number(1.0));
                self.write(register, mask, &[angle, one, zero, zero]);
                return Ok(());
            }
        };
        let value = self.outcome(vec![value], unit.modifier)[0];
        self.write(
            unit.destination.register(),
            1 << unit.destination.component(),
            &[value; 4],
        );
        Ok(())
    }

    fn function(&mut self, op: ScalarFunction, a: Lane) -> Result<Lane, Error> {
        let op = match op {
            ScalarFunction::Mov => return Ok(a),
            ScalarFunction::Rcp => Op::Rcp,
            ScalarFunction::Sqrt => Op::Sqrt,
            ScalarFunction::Rsqrt => Op::Rsqrt,
            ScalarFunction::Exp2 => Op::Exp2,
            ScalarFunction::Log2 => Op::Log2,
            ScalarFunction::Sin => Op::SinTurns,
            ScalarFunction::Cos => Op::CosTurns,
            ScalarFunction::Undocumented(op) => {
                return Err(self.unknown(format!("combine operation {op} is not known")));
            }
        };
        Ok(self.push(op, &[a]))
    }
}

fn wanted(mask: u32) -> Vec<usize> {
    (0..4).filter(|at| mask >> at & 1 == 1).collect()
}

fn four(lanes: &[Lane]) -> [Lane; 4] {
    std::array::from_fn(|at| lanes[at])
}
