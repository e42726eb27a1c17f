//! Built-in functions in terms of what the units have.

use super::{Frame, Front, Walk};
use crate::error::Error;
use crate::interface::Stage;
use crate::ir::{Op, Value};
use naga::{Expression, Handle, MathFunction};
use std::f32::consts::{FRAC_1_PI, LN_2, LOG2_E, PI};

impl<'a> Front<'a> {
    /// The sum of products.
    pub(super) fn dot(&mut self, a: &[Value], b: &[Value]) -> Value {
        let (tag, fresh) = (self.b.tag, self.b.fresh_tag());
        self.b.tag = fresh;
        let products: Vec<Value> = a.iter().zip(b).map(|(a, b)| self.b.op(Op::Mul, &[*a, *b])).collect();
        self.b.tag = self.b.fresh_tag();
        let sum = self.b.op(Op::Sum, &products);
        self.b.tag = tag;
        sum
    }

    /// Applies an operation with a known number as its last argument.
    fn with(&mut self, op: Op, value: Value, number: f32) -> Value {
        let number = self.b.number(number);
        self.b.op(op, &[value, number])
    }

    fn each(&mut self, values: &[Value], mut f: impl FnMut(&mut Self, Value) -> Value) -> Vec<Value> {
        self.b.tag = self.b.fresh_tag();
        values.iter().map(|value| f(self, *value)).collect()
    }

    fn each2(&mut self, a: &[Value], b: &[Value], mut f: impl FnMut(&mut Self, Value, Value) -> Value) -> Vec<Value> {
        self.b.tag = self.b.fresh_tag();
        let at = |values: &[Value], at: usize| values[at.min(values.len() - 1)];
        (0..a.len().max(b.len())).map(|n| f(self, at(a, n), at(b, n))).collect()
    }

    fn op2(&mut self, op: Op, a: &[Value], b: &[Value]) -> Vec<Value> {
        self.each2(a, b, |front, a, b| front.b.op(op, &[a, b]))
    }

    fn op1(&mut self, op: Op, a: &[Value]) -> Vec<Value> {
        self.each(a, |front, a| front.b.op(op, &[a]))
    }

    fn scaled_by(&mut self, values: &[Value], factor: f32) -> Vec<Value> {
        self.each(values, |front, value| front.with(Op::Mul, value, factor))
    }

    fn difference(&mut self, a: &[Value], b: &[Value]) -> Vec<Value> {
        self.each2(a, b, |front, a, b| front.subtract(a, b))
    }

    fn length(&mut self, a: &[Value]) -> Value {
        if let [only] = a {
            return self.b.op(Op::Abs, &[*only]);
        }
        let squared = self.dot(a, a);
        self.b.op(Op::Sqrt, &[squared])
    }

    /// a power of e or 2 and so on: a polynomial, highest coefficient first.
    fn polynomial(&mut self, x: Value, coefficients: &[f32]) -> Value {
        let mut sum = self.b.number(coefficients[0]);
        for coefficient in &coefficients[1..] {
            let product = self.b.op(Op::Mul, &[sum, x]);
            sum = self.with(Op::Add, product, *coefficient);
        }
        sum
    }

    fn power(&mut self, base: Value, exponent: Value) -> Value {
        match self.b.known(exponent) {
            Some(0.0) => return self.b.number(1.0),
            Some(1.0) => return base,
            Some(2.0) => return self.b.op(Op::Mul, &[base, base]),
            Some(3.0) => {
                let square = self.b.op(Op::Mul, &[base, base]);
                return self.b.op(Op::Mul, &[square, base]);
            }
            Some(4.0) => {
                let square = self.b.op(Op::Mul, &[base, base]);
                return self.b.op(Op::Mul, &[square, square]);
            }
            Some(0.5) => return self.b.op(Op::Sqrt, &[base]),
            _ => {}
        }
        let logarithm = self.b.op(Op::Log2, &[base]);
        let product = self.b.op(Op::Mul, &[logarithm, exponent]);
        self.b.op(Op::Exp2, &[product])
    }

    fn exponential(&mut self, value: Value) -> Value {
        let scaled = self.with(Op::Mul, value, LOG2_E);
        self.b.op(Op::Exp2, &[scaled])
    }

    fn turns(&mut self, op: Op, values: &[Value]) -> Vec<Value> {
        let turns = self.scaled_by(values, 0.5 * FRAC_1_PI);
        self.op1(op, &turns)
    }

    /// Arc cosine of what is not negative (a polynomial of Hastings').
    fn arc_cosine_positive(&mut self, x: Value) -> Value {
        let series = [
            -0.001_262_491_1,
            0.006_670_09,
            -0.017_088_126,
            0.030_891_88,
            -0.050_174_305,
            0.088_978_99,
            -0.214_598_8,
            std::f32::consts::FRAC_PI_2,
        ];
        let polynomial = self.polynomial(x, &series);
        let one = self.b.number(1.0);
        let rest = self.subtract(one, x);
        let root = self.b.op(Op::Sqrt, &[rest]);
        self.b.op(Op::Mul, &[root, polynomial])
    }

    fn arc_cosine(&mut self, x: Value) -> Value {
        let positive = self.b.op(Op::Abs, &[x]);
        let angle = self.arc_cosine_positive(positive);
        let pi = self.b.number(PI);
        let other = self.subtract(pi, angle);
        let zero = self.b.number(0.0);
        let negative = self.b.op(Op::Lt, &[x, zero]);
        self.b.op(Op::Select, &[negative, other, angle])
    }

    fn arc_sine(&mut self, x: Value) -> Value {
        let angle = self.arc_cosine(x);
        let quarter = self.b.number(PI / 2.0);
        self.subtract(quarter, angle)
    }

    /// Arc tangent of y/x for numbers that are not negative, from 0 to a quarter turn.
    fn arc_tangent_positive(&mut self, y: Value, x: Value) -> Value {
        let (low, high) = (self.b.op(Op::Min, &[x, y]), self.b.op(Op::Max, &[x, y]));
        let ratio = self.divide(low, high);
        let square = self.b.op(Op::Mul, &[ratio, ratio]);
        let series = [
            -0.011_719_135,
            0.052_647_35,
            -0.116_432_87,
            0.193_543_46,
            -0.332_623_47,
            0.999_977_3,
        ];
        let polynomial = self.polynomial(square, &series);
        let angle = self.b.op(Op::Mul, &[polynomial, ratio]);
        let quarter = self.b.number(PI / 2.0);
        let other = self.subtract(quarter, angle);
        let steep = self.b.op(Op::Lt, &[x, y]);
        self.b.op(Op::Select, &[steep, other, angle])
    }

    /// The nearest whole number; halves go to the even one.
    fn round(&mut self, x: Value) -> Value {
        let (below, part) = (self.b.op(Op::Floor, &[x]), self.b.op(Op::Fract, &[x]));
        let half_below = self.with(Op::Mul, below, 0.5);
        let half_odd = self.b.op(Op::Fract, &[half_below]);
        let odd = self.with(Op::Mul, half_odd, 2.0);
        let half = self.b.number(0.5);
        let (above, tie) = (self.b.op(Op::Lt, &[half, part]), self.b.op(Op::Eq, &[part, half]));
        let step = self.b.op(Op::Select, &[tie, odd, above]);
        self.b.op(Op::Add, &[below, step])
    }

    fn signed(&mut self, angle: Value, by: Value) -> Value {
        let negative = self.b.op(Op::Neg, &[angle]);
        let zero = self.b.number(0.0);
        let below = self.b.op(Op::Lt, &[by, zero]);
        self.b.op(Op::Select, &[below, negative, angle])
    }

    fn arc_tangent(&mut self, y: Value) -> Value {
        let (positive, one) = (self.b.op(Op::Abs, &[y]), self.b.number(1.0));
        let angle = self.arc_tangent_positive(positive, one);
        self.signed(angle, y)
    }

    fn arc_tangent2(&mut self, y: Value, x: Value) -> Value {
        let (y_abs, x_abs) = (self.b.op(Op::Abs, &[y]), self.b.op(Op::Abs, &[x]));
        let angle = self.arc_tangent_positive(y_abs, x_abs);
        let pi = self.b.number(PI);
        let other = self.subtract(pi, angle);
        let zero = self.b.number(0.0);
        let left = self.b.op(Op::Lt, &[x, zero]);
        let angle = self.b.op(Op::Select, &[left, other, angle]);
        self.signed(angle, y)
    }

    fn hyperbolic(&mut self, fun: MathFunction, value: Value) -> Value {
        let up = self.exponential(value);
        let down = self.b.op(Op::Rcp, &[up]);
        let (sum, difference) = (self.b.op(Op::Add, &[up, down]), self.subtract(up, down));
        match fun {
            MathFunction::Sinh => self.with(Op::Mul, difference, 0.5),
            MathFunction::Cosh => self.with(Op::Mul, sum, 0.5),
            _ => self.divide(difference, sum),
        }
    }

    fn reflect(&mut self, incident: &[Value], normal: &[Value]) -> Vec<Value> {
        let dot = self.dot(normal, incident);
        let double = self.with(Op::Mul, dot, 2.0);
        let along = self.op2(Op::Mul, normal, &[double]);
        self.difference(incident, &along)
    }

    fn refract(&mut self, incident: &[Value], normal: &[Value], ratio: Value) -> Vec<Value> {
        let dot = self.dot(normal, incident);
        let square = self.b.op(Op::Mul, &[dot, dot]);
        let one = self.b.number(1.0);
        let sine = self.subtract(one, square);
        let ratio_squared = self.b.op(Op::Mul, &[ratio, ratio]);
        let scaled = self.b.op(Op::Mul, &[ratio_squared, sine]);
        let k = self.subtract(one, scaled);
        let zero = self.b.number(0.0);
        let clamped = self.b.op(Op::Max, &[k, zero]);
        let root = self.b.op(Op::Sqrt, &[clamped]);
        let product = self.b.op(Op::Mul, &[ratio, dot]);
        let factor = self.b.op(Op::Add, &[product, root]);
        let (a, b) = (
            self.op2(Op::Mul, incident, &[ratio]),
            self.op2(Op::Mul, normal, &[factor]),
        );
        let bent = self.difference(&a, &b);
        let total = self.b.op(Op::Lt, &[k, zero]);
        self.each(&bent, |front, value| front.b.op(Op::Select, &[total, zero, value]))
    }

    fn mix(&mut self, a: &[Value], b: &[Value], t: &[Value]) -> Vec<Value> {
        let way = self.difference(b, a);
        let scaled = self.op2(Op::Mul, &way, t);
        self.op2(Op::Add, a, &scaled)
    }

    fn smooth_step(&mut self, low: &[Value], high: &[Value], x: &[Value]) -> Vec<Value> {
        let (way, width) = (self.difference(x, low), self.difference(high, low));
        let inverse = self.op1(Op::Rcp, &width);
        let ratio = self.op2(Op::Mul, &way, &inverse);
        let t = self.op1(Op::Sat, &ratio);
        let negative = self.each(&t, |front, t| front.with(Op::Mul, t, -2.0));
        let rest = self.each(&negative, |front, t| front.with(Op::Add, t, 3.0));
        let square = self.op2(Op::Mul, &t, &t);
        self.op2(Op::Mul, &square, &rest)
    }

    pub(super) fn math(
        &mut self,
        frame: &mut Frame<'a>,
        fun: MathFunction,
        handles: [Option<Handle<Expression>>; 4],
    ) -> Walk<Vec<Value>> {
        let mut args: [Vec<Value>; 4] = Default::default();
        for (values, handle) in args.iter_mut().zip(handles) {
            if let Some(handle) = handle {
                *values = self.flat(frame, handle)?;
            }
        }
        let [a, b, c, _] = &args;
        let zero = self.b.number(0.0);
        let one = self.b.number(1.0);
        use MathFunction as F;
        Ok(match fun {
            F::Abs => self.op1(Op::Abs, a),
            F::Min => self.op2(Op::Min, a, b),
            F::Max => self.op2(Op::Max, a, b),
            F::Clamp => {
                let above = self.op2(Op::Max, a, b);
                self.op2(Op::Min, &above, c)
            }
            F::Saturate => self.op1(Op::Sat, a),
            F::Sin => self.turns(Op::Sin, a),
            F::Cos => self.turns(Op::Cos, a),
            F::Tan => {
                let (sine, cosine) = (self.turns(Op::Sin, a), self.turns(Op::Cos, a));
                self.each2(&sine, &cosine, Self::divide)
            }
            F::Sinh | F::Cosh | F::Tanh => self.each(a, |front, a| front.hyperbolic(fun, a)),
            F::Acos => self.each(a, Self::arc_cosine),
            F::Asin => self.each(a, Self::arc_sine),
            F::Atan => self.each(a, Self::arc_tangent),
            F::Atan2 => self.each2(a, b, Self::arc_tangent2),
            F::Asinh | F::Acosh => {
                let offset = if fun == F::Asinh { 1.0 } else { -1.0 };
                self.each(a, |front, x| {
                    let square = front.b.op(Op::Mul, &[x, x]);
                    let moved = front.with(Op::Add, square, offset);
                    let root = front.b.op(Op::Sqrt, &[moved]);
                    let sum = front.b.op(Op::Add, &[x, root]);
                    let logarithm = front.b.op(Op::Log2, &[sum]);
                    front.with(Op::Mul, logarithm, LN_2)
                })
            }
            F::Atanh => self.each(a, |front, x| {
                let (up, down) = (front.b.op(Op::Add, &[one, x]), front.subtract(one, x));
                let ratio = front.divide(up, down);
                let logarithm = front.b.op(Op::Log2, &[ratio]);
                front.with(Op::Mul, logarithm, 0.5 * LN_2)
            }),
            F::Radians => self.scaled_by(a, PI / 180.0),
            F::Degrees => self.scaled_by(a, 180.0 * FRAC_1_PI),
            F::Ceil => self.op1(Op::Ceil, a),
            F::Floor => self.op1(Op::Floor, a),
            F::Round => self.each(a, Self::round),
            F::Fract => self.op1(Op::Fract, a),
            F::Trunc => self.op1(Op::Trunc, a),
            F::Exp => self.each(a, Self::exponential),
            F::Exp2 => self.op1(Op::Exp2, a),
            F::Log => {
                let logarithm = self.op1(Op::Log2, a);
                self.scaled_by(&logarithm, LN_2)
            }
            F::Log2 => self.op1(Op::Log2, a),
            F::Pow => self.each2(a, b, Self::power),
            F::Dot => vec![self.dot(a, b)],
            F::Outer => b.iter().flat_map(|b| self.op2(Op::Mul, a, &[*b])).collect(),
            F::Cross => {
                let turned = |v: &[Value]| [v[1], v[2], v[0]];
                let turned2 = |v: &[Value]| [v[2], v[0], v[1]];
                let first = self.op2(Op::Mul, &turned(a), &turned2(b));
                let second = self.op2(Op::Mul, &turned2(a), &turned(b));
                self.difference(&first, &second)
            }
            F::Distance => {
                let way = self.difference(a, b);
                vec![self.length(&way)]
            }
            F::Length => vec![self.length(a)],
            F::Normalize => {
                if a.len() == 1 {
                    return Ok(self.op1(Op::Sign, a));
                }
                let squared = self.dot(a, a);
                let scale = self.b.op(Op::Rsqrt, &[squared]);
                self.op2(Op::Mul, a, &[scale])
            }
            F::FaceForward => {
                let dot = self.dot(c, b);
                let towards = self.b.op(Op::Lt, &[dot, zero]);
                self.each(a, |front, a| {
                    let negative = front.b.op(Op::Neg, &[a]);
                    front.b.op(Op::Select, &[towards, a, negative])
                })
            }
            F::Reflect => self.reflect(a, b),
            F::Refract => self.refract(a, b, c[0]),
            F::Sign => self.op1(Op::Sign, a),
            F::Fma => {
                let product = self.op2(Op::Mul, a, b);
                self.op2(Op::Add, &product, c)
            }
            F::Mix => self.mix(a, b, c),
            F::Step => self.each2(a, b, |front, edge, x| front.b.op(Op::Ge, &[x, edge])),
            F::SmoothStep => self.smooth_step(a, b, c),
            F::Sqrt => self.op1(Op::Sqrt, a),
            F::InverseSqrt => self.op1(Op::Rsqrt, a),
            F::Inverse | F::Transpose | F::Determinant => match handles[0] {
                Some(arg) => self.matrix_function(frame, fun, arg, a)?,
                None => return Err(Error::invalid("a matrix is wanted").into()),
            },
            F::QuantizeToF16 if self.stage == Stage::Fragment => a.clone(),
            other => return Err(Error::unsupported(format!("the function {other:?}")).into()),
        })
    }
}
