//! Operations a processor does not have, made of those it has.

use crate::error::{Error, Result};
use crate::interface::Stage;
use crate::ir::{Function, Inst, Op, Value};
use crate::opt::fold;

/// Makes every operation one that the stage's processor has.
///
/// # Errors
/// When there is no way.
pub fn lower(function: &mut Function, stage: Stage) -> Result<()> {
    for block in function.block_ids() {
        let old = std::mem::take(&mut function.blocks[block.0 as usize].insts);
        let mut lowering = Lowering {
            function,
            out: Vec::with_capacity(old.len()),
            like: Value(0),
        };
        for value in old {
            lowering.like = value;
            lowering.instruction(value, stage)?;
        }
        let out = lowering.out;
        function.blocks[block.0 as usize].insts = out;
    }
    Ok(())
}

struct Lowering<'a> {
    function: &'a mut Function,
    out: Vec<Value>,
    /// The instruction that is lowered: place and tag of what it becomes.
    like: Value,
}

impl Lowering<'_> {
    fn number(&mut self, value: f32) -> Value {
        self.function.add(Inst {
            op: Op::Const(value.to_bits()),
            args: Vec::new(),
            span: None,
            tag: 0,
        })
    }

    fn op(&mut self, op: Op, args: &[Value]) -> Value {
        match fold::simplify(self.function, op, args) {
            Some(fold::To::Number(number)) => return self.number(number),
            Some(fold::To::Value(value)) => return value,
            _ => {}
        }
        let like = self.function.inst(self.like);
        let inst = Inst {
            op,
            args: args.to_vec(),
            span: like.span,
            tag: 0,
        };
        let value = self.function.add(inst);
        self.out.push(value);
        value
    }

    /// The instruction becomes another one.
    fn becomes(&mut self, value: Value, op: Op, args: &[Value]) {
        let inst = &mut self.function.values[value.0 as usize];
        (inst.op, inst.args) = (op, args.to_vec());
        self.out.push(value);
    }

    fn instruction(&mut self, value: Value, stage: Stage) -> Result<()> {
        let inst = self.function.inst(value).clone();
        let args = inst.args.as_slice();
        match stage {
            Stage::Fragment => self.fragment(value, inst.op, args),
            Stage::Vertex => self.vertex(value, inst.op, args)?,
        }
        Ok(())
    }

    fn fragment(&mut self, value: Value, op: Op, args: &[Value]) {
        if op == Op::Sign {
            let zero = self.number(0.0);
            let (above, below) = (self.op(Op::Lt, &[zero, args[0]]), self.op(Op::Lt, &[args[0], zero]));
            let negative = self.op(Op::Neg, &[below]);
            self.becomes(value, Op::Add, &[above, negative]);
        } else {
            self.out.push(value);
        }
    }

    fn vertex(&mut self, value: Value, op: Op, args: &[Value]) -> Result<()> {
        match op {
            Op::Sum => {
                let mut sum = args[0];
                for arg in &args[1..args.len() - 1] {
                    sum = self.op(Op::Add, &[sum, *arg]);
                }
                self.becomes(value, Op::Add, &[sum, args[args.len() - 1]]);
            }
            Op::Sqrt => {
                let inverse = self.op(Op::Rsqrt, args);
                self.becomes(value, Op::Rcp, &[inverse]);
            }
            Op::Abs => {
                let negative = self.op(Op::Neg, args);
                self.becomes(value, Op::Max, &[args[0], negative]);
            }
            Op::Sat => {
                let (zero, one) = (self.number(0.0), self.number(1.0));
                let above = self.op(Op::Max, &[args[0], zero]);
                self.becomes(value, Op::Min, &[above, one]);
            }
            Op::Ceil => {
                let negative = self.op(Op::Neg, args);
                let floor = self.op(Op::Floor, &[negative]);
                self.becomes(value, Op::Neg, &[floor]);
            }
            Op::Fract => {
                let floor = self.op(Op::Floor, args);
                let negative = self.op(Op::Neg, &[floor]);
                self.becomes(value, Op::Add, &[args[0], negative]);
            }
            Op::Trunc => {
                let negative = self.op(Op::Neg, args);
                let positive = self.op(Op::Max, &[args[0], negative]);
                let (floor, sign) = (self.op(Op::Floor, &[positive]), self.op(Op::Sign, args));
                self.becomes(value, Op::Mul, &[floor, sign]);
            }
            Op::Eq => {
                let (a, b) = (self.op(Op::Ge, args), self.op(Op::Ge, &[args[1], args[0]]));
                self.becomes(value, Op::Min, &[a, b]);
            }
            Op::Ne | Op::Xor => {
                let (a, b) = (self.op(Op::Lt, args), self.op(Op::Lt, &[args[1], args[0]]));
                self.becomes(value, Op::Max, &[a, b]);
            }
            Op::And => self.becomes(value, Op::Min, args),
            Op::Or => self.becomes(value, Op::Max, args),
            Op::Not => {
                let (one, negative) = (self.number(1.0), self.op(Op::Neg, args));
                self.becomes(value, Op::Add, &[one, negative]);
            }
            Op::Sin | Op::Cos => self.wave(value, op, args[0]),
            Op::UniformAt { base, stride, count } => self.ladder(value, base, stride, count, args[0]),
            Op::Texture { .. } | Op::Ddx | Op::Ddy => return Err(Error::unsupported("a look-up in a vertex program")),
            _ => self.out.push(value),
        }
        Ok(())
    }

    /// The cosine of a turn is the sine of what is left to a quarter; there a polynomial is near enough.
    fn wave(&mut self, value: Value, op: Op, turns: Value) {
        let quarter = self.number(0.25);
        let turns = if op == Op::Sin {
            let back = self.number(-0.25);
            self.op(Op::Add, &[turns, back])
        } else {
            turns
        };
        let half = self.number(0.5);
        let moved = self.op(Op::Add, &[turns, half]);
        let floor = self.op(Op::Floor, &[moved]);
        let negative = self.op(Op::Neg, &[floor]);
        let rest = self.op(Op::Add, &[turns, negative]);
        let negative = self.op(Op::Neg, &[rest]);
        let distance = self.op(Op::Max, &[rest, negative]);
        let negative = self.op(Op::Neg, &[distance]);
        let x = self.op(Op::Add, &[quarter, negative]);
        let square = self.op(Op::Mul, &[x, x]);
        let series = [42.058_694, -76.705_86, 81.605_25, -41.341_7, std::f32::consts::TAU];
        let mut sum = self.number(-15.094_643);
        for coefficient in series {
            let product = self.op(Op::Mul, &[sum, square]);
            let coefficient = self.number(coefficient);
            sum = self.op(Op::Add, &[product, coefficient]);
        }
        self.becomes(value, Op::Mul, &[sum, x]);
    }

    /// One of several uniforms by an index: selects, half of them at each step.
    fn ladder(&mut self, value: Value, base: u32, stride: u32, count: u32, index: Value) {
        let mut elements: Vec<Value> = Vec::new();
        for at in 0..count {
            elements.push(self.op(Op::Uniform(base + at * stride), &[]));
        }
        let result = self.half_ladder(&elements, 0, index);
        self.becomes(value, Op::Copy, &[result]);
    }

    fn half_ladder(&mut self, elements: &[Value], first: u32, index: Value) -> Value {
        if let [only] = elements {
            return *only;
        }
        let middle = elements.len() / 2;
        let low = self.half_ladder(&elements[..middle], first, index);
        let high = self.half_ladder(&elements[middle..], first + middle as u32, index);
        let border = self.number((first + middle as u32) as f32 - 0.5);
        let below = self.op(Op::Lt, &[index, border]);
        self.op(Op::Select, &[below, low, high])
    }
}
