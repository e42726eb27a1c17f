//! Expressions: what each is as scalars.

use super::place::{self, Place, scalars};
use super::{Ev, Frame, Front, Note, Stop, Walk, is_whole};
use crate::error::{Error, Result};
use crate::interface::Stage;
use crate::ir::{Op, Value};
use naga::{BinaryOperator, Expression, Handle, Literal, RelationalFunction, ScalarKind, TypeInner, UnaryOperator};

impl<'a> Front<'a> {
    /// An expression, known already or evaluated now.
    pub(super) fn value(&mut self, frame: &mut Frame<'a>, handle: Handle<Expression>) -> Walk<Ev> {
        if let Some(have) = frame.values.get(&handle) {
            return Ok(have.clone());
        }
        self.evaluate(frame, handle)
    }

    /// An expression's scalars.
    pub(super) fn flat(&mut self, frame: &mut Frame<'a>, handle: Handle<Expression>) -> Walk<Vec<Value>> {
        match self.value(frame, handle)? {
            Ev::Flat(values) => Ok(values.into_iter().map(|value| self.b.resolve(value)).collect()),
            _ => Err(Error::unsupported("a pointer or texture as a value").into()),
        }
    }

    /// An expression of one scalar.
    pub(super) fn scalar(&mut self, frame: &mut Frame<'a>, handle: Handle<Expression>) -> Walk<Value> {
        let values = self.flat(frame, handle)?;
        values
            .first()
            .copied()
            .ok_or_else(|| Error::invalid("nothing where a number is").into())
    }

    pub(super) fn place(&mut self, frame: &mut Frame<'a>, handle: Handle<Expression>) -> Walk<Place> {
        match self.value(frame, handle)? {
            Ev::Place(place) => Ok(place),
            _ => Err(Error::unsupported("a store through something that is no variable").into()),
        }
    }

    pub(super) fn evaluate(&mut self, frame: &mut Frame<'a>, handle: Handle<Expression>) -> Walk<Ev> {
        let span = self.span(frame, handle);
        let (saved_span, saved_tag) = (self.b.span, self.b.tag);
        if let Some(span) = &span {
            self.b.span = crate::ir::span(Some(span.clone()), self.b.call);
        }
        self.b.tag = self.b.fresh_tag();
        let value = self.expression(frame, handle).map_err(|stop| match stop {
            Stop::Error(error) => Stop::Error(error.at(span)),
            other => other,
        });
        (self.b.span, self.b.tag) = (saved_span, saved_tag);
        value
    }

    fn expression(&mut self, frame: &mut Frame<'a>, handle: Handle<Expression>) -> Walk<Ev> {
        self.budget()?;
        let function = frame.function;
        let values = match function.expressions[handle] {
            Expression::Literal(literal) => vec![self.literal(literal)?],
            Expression::Constant(constant) => self.constant_expression(self.module.constants[constant].init)?,
            Expression::Override(_) => return Err(Error::unsupported("constants that are given later").into()),
            Expression::ZeroValue(ty) => vec![self.b.number(0.0); scalars(self.module, ty)? as usize],
            Expression::Compose { ref components, .. } => {
                let mut values = Vec::new();
                for component in components {
                    values.extend(self.flat(frame, *component)?);
                }
                values
            }
            Expression::Splat { size, value } => vec![self.scalar(frame, value)?; size as usize],
            Expression::Swizzle { size, vector, pattern } => {
                let values = self.flat(frame, vector)?;
                pattern[..size as usize].iter().map(|at| values[*at as usize]).collect()
            }
            Expression::Access { base, index } => return self.access(frame, base, index),
            Expression::AccessIndex { base, index } => return self.access_index(frame, base, index),
            Expression::FunctionArgument(number) => {
                let argument = frame.arguments.get(number as usize).cloned();
                return argument.ok_or_else(|| Error::invalid("an argument that is not there").into());
            }
            Expression::GlobalVariable(global) => return self.global_value(global),
            Expression::LocalVariable(local) => {
                let place = frame.locals.get(&local).cloned();
                return place
                    .map(Ev::Place)
                    .ok_or_else(|| Error::invalid("a variable that is not there").into());
            }
            Expression::Load { pointer } => {
                let count = place::inner_scalars(self.module, self.inner(frame, pointer))?;
                let place = self.place(frame, pointer)?;
                self.load(&place, count)?
            }
            Expression::CallResult(_) => {
                let result = frame.results.get(&handle).cloned();
                return result.ok_or_else(|| Error::invalid("a call's result before the call").into());
            }
            Expression::Unary { op, expr } => self.unary(frame, op, expr)?,
            Expression::Binary { op, left, right } => self.binary(frame, op, left, right)?,
            Expression::Select {
                condition,
                accept,
                reject,
            } => {
                let condition = self.flat(frame, condition)?;
                let (accept, reject) = (self.flat(frame, accept)?, self.flat(frame, reject)?);
                let values = accept.into_iter().zip(reject).enumerate();
                let select = |(at, (a, b)): (usize, (Value, Value))| {
                    let condition = condition[at.min(condition.len() - 1)];
                    self.b.op(Op::Select, &[condition, a, b])
                };
                values.map(select).collect()
            }
            Expression::Derivative { axis, expr, .. } => self.derivative(frame, axis, expr)?,
            Expression::Relational { fun, argument } => self.relational(frame, fun, argument)?,
            Expression::Math {
                fun,
                arg,
                arg1,
                arg2,
                arg3,
            } => self.math(frame, fun, [Some(arg), arg1, arg2, arg3])?,
            Expression::As { expr, kind, convert } => self.convert(frame, expr, kind, convert)?,
            Expression::ImageSample { .. } => self.sample(frame, &function.expressions[handle])?,
            Expression::ImageLoad { .. } => return Err(Error::unsupported("reading texels by number").into()),
            Expression::ImageQuery { .. } => return Err(Error::unsupported("asking for a texture's size").into()),
            Expression::ArrayLength(_) => return Err(Error::unsupported("arrays whose length is not known").into()),
            _ => return Err(Error::unsupported("an expression that this hardware has nothing for").into()),
        };
        Ok(Ev::Flat(values))
    }

    fn global_value(&mut self, global: Handle<naga::GlobalVariable>) -> Walk<Ev> {
        if let Some(place) = self.globals.get(&global) {
            return Ok(Ev::Place(place.clone()));
        }
        let variable = &self.module.global_variables[global];
        if let Some(name) = self.not_interpolated(variable) {
            return Err(Error::unsupported(format!("flat interpolation of {name}")).into());
        }
        match self.module.types[variable.ty].inner {
            TypeInner::Image { .. } if !self.units.contains_key(&global) => {
                Err(Error::unsupported("a texture that is neither two-dimensional nor a cube map").into())
            }
            TypeInner::Image { .. } | TypeInner::Sampler { .. } => Ok(Ev::Handle(global)),
            _ => {
                let space = match variable.space {
                    naga::AddressSpace::Storage { .. } => "storage buffers",
                    naga::AddressSpace::WorkGroup => "memory that a work group shares",
                    _ => "variables in memory that shaders of this hardware do not have",
                };
                Err(Error::unsupported(space).into())
            }
        }
    }

    /// Whole numbers that fp16 and fp32 hold exactly.
    fn exact(&self) -> f64 {
        match self.stage {
            Stage::Vertex => 16_777_216.0,
            Stage::Fragment => 2048.0,
        }
    }

    /// Refuses a whole number that leaves the exact range, and notes one that is near its end.
    fn exact_whole(&mut self, value: f64) -> Result<()> {
        let (size, exact) = (value.abs(), self.exact());
        // The largest numbers of a type stand for "none" and "all" in generated code.
        if size <= exact / 2.0 || size >= 2_147_483_000.0 {
            return Ok(());
        }
        if size > exact {
            return Err(Error::unsupported(format!(
                "the integer {value} leaves the range that is exact here, {exact}"
            )));
        }
        let note = Note {
            message: format!("the integer {value} is near the end of what is exact here, {exact}"),
            span: self.b.span,
        };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
        Ok(())
    }

    /// The same of results that are known already.
    fn exact_results(&mut self, values: &[Value]) -> Result<()> {
        for value in values {
            if let Some(known) = self.b.known(*value) {
                self.exact_whole(f64::from(known))?;
            }
        }
        Ok(())
    }

    pub(super) fn literal(&mut self, literal: Literal) -> Walk<Value> {
        let mut whole = |value: f64| {
            self.exact_whole(value)?;
            Ok::<f32, Error>(value as f32)
        };
        let value = match literal {
            Literal::F64(value) | Literal::AbstractFloat(value) => value as f32,
            Literal::F32(value) => value,
            Literal::F16(value) => value.to_f32(),
            Literal::U16(value) => whole(value.into())?,
            Literal::I16(value) => whole(value.into())?,
            Literal::U32(value) => whole(value.into())?,
            Literal::I32(value) => whole(value.into())?,
            Literal::U64(value) => whole(value as f64)?,
            Literal::I64(value) | Literal::AbstractInt(value) => whole(value as f64)?,
            Literal::Bool(value) => f32::from(u8::from(value)),
        };
        Ok(self.b.number(value))
    }

    /// An expression of constants.
    pub(super) fn constant_expression(&mut self, handle: Handle<Expression>) -> Walk<Vec<Value>> {
        self.budget()?;
        Ok(match self.module.global_expressions[handle] {
            Expression::Literal(literal) => vec![self.literal(literal)?],
            Expression::Constant(constant) => self.constant_expression(self.module.constants[constant].init)?,
            Expression::ZeroValue(ty) => vec![self.b.number(0.0); scalars(self.module, ty)? as usize],
            Expression::Compose { ref components, .. } => {
                let mut values = Vec::new();
                for component in components {
                    values.extend(self.constant_expression(*component)?);
                }
                values
            }
            Expression::Splat { size, value } => vec![self.constant_expression(value)?[0]; size as usize],
            _ => return Err(Error::unsupported("a constant that is not known").into()),
        })
    }

    /// What scalars a type is made of.
    pub(super) fn kind(&self, frame: &Frame<'a>, handle: Handle<Expression>) -> ScalarKind {
        match self.inner(frame, handle) {
            TypeInner::Scalar(scalar)
            | TypeInner::Vector { scalar, .. }
            | TypeInner::Matrix { scalar, .. }
            | TypeInner::ValuePointer { scalar, .. } => scalar.kind,
            _ => ScalarKind::Float,
        }
    }

    fn unary(&mut self, frame: &mut Frame<'a>, op: UnaryOperator, expr: Handle<Expression>) -> Walk<Vec<Value>> {
        let values = self.flat(frame, expr)?;
        let op = match op {
            UnaryOperator::Negate => Op::Neg,
            UnaryOperator::LogicalNot => Op::Not,
            UnaryOperator::BitwiseNot => return Err(Error::unsupported("bit operations (~)").into()),
        };
        Ok(values.into_iter().map(|value| self.b.op(op, &[value])).collect())
    }

    fn binary(
        &mut self,
        frame: &mut Frame<'a>,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Walk<Vec<Value>> {
        if op == BinaryOperator::Multiply
            && let Some(product) = self.matrix_product(frame, left, right)?
        {
            return Ok(product);
        }
        let kind = self.kind(frame, left);
        let (a, b) = (self.flat(frame, left)?, self.flat(frame, right)?);
        let count = a.len().max(b.len());
        let mut values = Vec::with_capacity(count);
        for at in 0..count {
            let (a, b) = (a[at.min(a.len() - 1)], b[at.min(b.len() - 1)]);
            values.push(self.scalar_binary(op, kind, a, b)?);
        }
        if is_whole(kind) {
            self.exact_results(&values)?;
        }
        Ok(values)
    }

    fn scalar_binary(&mut self, op: BinaryOperator, kind: ScalarKind, a: Value, b: Value) -> Walk<Value> {
        let whole = is_whole(kind);
        Ok(match op {
            BinaryOperator::Add => self.b.op(Op::Add, &[a, b]),
            BinaryOperator::Subtract => self.subtract(a, b),
            BinaryOperator::Multiply => self.b.op(Op::Mul, &[a, b]),
            BinaryOperator::Divide if whole => self.whole_division(a, b).0,
            BinaryOperator::Divide => self.divide(a, b),
            BinaryOperator::Modulo if whole => self.whole_division(a, b).1,
            BinaryOperator::Modulo => {
                let quotient = self.divide(a, b);
                let whole = self.b.op(Op::Trunc, &[quotient]);
                let product = self.b.op(Op::Mul, &[b, whole]);
                self.subtract(a, product)
            }
            BinaryOperator::Equal => self.b.op(Op::Eq, &[a, b]),
            BinaryOperator::NotEqual => self.b.op(Op::Ne, &[a, b]),
            BinaryOperator::Less => self.b.op(Op::Lt, &[a, b]),
            BinaryOperator::GreaterEqual => self.b.op(Op::Ge, &[a, b]),
            BinaryOperator::Greater => self.b.op(Op::Lt, &[b, a]),
            BinaryOperator::LessEqual => self.b.op(Op::Ge, &[b, a]),
            BinaryOperator::LogicalAnd => self.b.op(Op::And, &[a, b]),
            BinaryOperator::LogicalOr => self.b.op(Op::Or, &[a, b]),
            BinaryOperator::And if kind == ScalarKind::Bool => self.b.op(Op::And, &[a, b]),
            BinaryOperator::InclusiveOr if kind == ScalarKind::Bool => self.b.op(Op::Or, &[a, b]),
            BinaryOperator::ExclusiveOr if kind == ScalarKind::Bool => self.b.op(Op::Xor, &[a, b]),
            _ => return self.bits(op, a, b),
        })
    }

    /// a - b
    pub(super) fn subtract(&mut self, a: Value, b: Value) -> Value {
        let negative = self.b.op(Op::Neg, &[b]);
        self.b.op(Op::Add, &[a, negative])
    }

    /// a / b; known divisors become factors.
    pub(super) fn divide(&mut self, a: Value, b: Value) -> Value {
        let inverse = self.b.op(Op::Rcp, &[b]);
        self.b.op(Op::Mul, &[a, inverse])
    }

    fn relational(
        &mut self,
        frame: &mut Frame<'a>,
        fun: RelationalFunction,
        argument: Handle<Expression>,
    ) -> Walk<Vec<Value>> {
        let values = self.flat(frame, argument)?;
        Ok(match fun {
            RelationalFunction::All | RelationalFunction::Any => {
                let op = if fun == RelationalFunction::All {
                    Op::And
                } else {
                    Op::Or
                };
                let joined = values.into_iter().reduce(|a, b| self.b.op(op, &[a, b]));
                joined.into_iter().collect()
            }
            RelationalFunction::IsNan => values
                .into_iter()
                .map(|value| self.b.op(Op::Ne, &[value, value]))
                .collect(),
            RelationalFunction::IsInf => return Err(Error::unsupported("isinf").into()),
        })
    }

    fn convert(
        &mut self,
        frame: &mut Frame<'a>,
        expr: Handle<Expression>,
        kind: ScalarKind,
        convert: Option<naga::Bytes>,
    ) -> Walk<Vec<Value>> {
        let from = self.kind(frame, expr);
        let values = self.flat(frame, expr)?;
        let whole = is_whole;
        if convert.is_none() && from != kind && !(whole(from) && whole(kind)) {
            return Err(Error::unsupported("bits of a number taken as those of another kind").into());
        }
        let zero = self.b.number(0.0);
        let op = |front: &mut Self, value: Value| match (from, kind) {
            (from, to) if from == to || from == ScalarKind::Bool => value,
            (_, ScalarKind::Bool) => front.b.op(Op::Ne, &[value, zero]),
            (ScalarKind::Float | ScalarKind::AbstractFloat, to) if whole(to) => front.b.op(Op::Trunc, &[value]),
            _ => value,
        };
        let values: Vec<Value> = values.into_iter().map(|value| op(self, value)).collect();
        if whole(kind) {
            self.exact_results(&values)?;
        }
        Ok(values)
    }
}
