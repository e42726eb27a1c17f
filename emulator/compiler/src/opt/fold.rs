//! What an operation is when its arguments are known, and the algebraic rows.

use crate::ir::{Function, Op, Value};
use num::lanes::One;
use num::math;

/// What an operation turns into.
#[derive(Clone, Debug, PartialEq)]
pub enum To {
    /// A number.
    Number(f32),
    /// A value that is there.
    Value(Value),
    /// Another operation.
    Inst(Op, Vec<Value>),
}

/// An operation of numbers, by the rules the hardware's units follow.
pub fn compute(op: Op, args: &[f32]) -> Option<f32> {
    let truth = math::truth::<One>;
    let a = args.first().copied().unwrap_or_default();
    let b = args.get(1).copied().unwrap_or_default();
    Some(match op {
        Op::Const(bits) => f32::from_bits(bits),
        Op::Add => a + b,
        Op::Mul => a * b,
        Op::Sum => args.iter().copied().reduce(|sum, next| sum + next)?,
        Op::Neg => -a,
        Op::Abs => a.abs(),
        Op::Sat => math::saturate::<One>(a),
        Op::Min => {
            if a < b {
                a
            } else {
                b
            }
        }
        Op::Max => {
            if a > b {
                a
            } else {
                b
            }
        }
        Op::Floor => a.floor(),
        Op::Ceil => math::ceil::<One>(a),
        Op::Fract => math::fract::<One>(a),
        Op::Trunc => a.trunc(),
        Op::Sign => math::sign::<One>(a),
        Op::Rcp => math::rcp::<One>(a),
        Op::Rsqrt => math::rsqrt::<One>(a),
        Op::Sqrt => a.sqrt(),
        Op::Exp2 => math::exp2::<One>(a),
        Op::Log2 => math::log2::<One>(a),
        Op::Sin => math::sin_turns::<One>(a),
        Op::Cos => math::cos_turns::<One>(a),
        Op::Lt => truth(a < b),
        Op::Ge => truth(a >= b),
        Op::Eq => truth(a == b),
        Op::Ne => truth(a != b),
        Op::Not => truth(a == 0.0),
        Op::And => truth((a != 0.0) & (b != 0.0)),
        Op::Or => truth((a != 0.0) | (b != 0.0)),
        Op::Xor => truth((a != 0.0) ^ (b != 0.0)),
        Op::Select => {
            if a != 0.0 {
                b
            } else {
                args.get(2).copied()?
            }
        }
        Op::Copy => a,
        _ => return None,
    })
}

/// Whether the value is 0.0 or 1.0 for sure.
pub fn is_truth(function: &Function, value: Value) -> bool {
    match function.inst(value).op {
        Op::Lt | Op::Ge | Op::Eq | Op::Ne | Op::Not | Op::And | Op::Or | Op::Xor => true,
        Op::Const(bits) => bits == 0 || f32::from_bits(bits) == 1.0,
        _ => false,
    }
}

/// An operation made simpler, or nothing.
pub fn simplify(function: &Function, op: Op, args: &[Value]) -> Option<To> {
    if op == Op::Phi || op.is_memory() || matches!(op, Op::Const(_) | Op::Copy) {
        return None;
    }
    let numbers: Option<Vec<f32>> = args.iter().map(|arg| function.constant(*arg)).collect();
    if let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty())
        && let Some(number) = compute(op, &numbers)
    {
        return Some(To::Number(number));
    }
    match op {
        Op::Ddx | Op::Ddy if function.constant(args[0]).is_some() => Some(To::Number(0.0)),
        Op::UniformAt { base, stride, count } => {
            let index = function.constant(args[0])?.clamp(0.0, count.saturating_sub(1) as f32) as u32;
            Some(To::Inst(Op::Uniform(base + stride * index), Vec::new()))
        }
        _ => row(function, op, args),
    }
}

/// The algebraic rows: pattern, result. None of them changes a finite result.
fn row(function: &Function, op: Op, args: &[Value]) -> Option<To> {
    let number = |at: usize| args.get(at).and_then(|arg| function.constant(*arg));
    let is = |at: usize, wanted: f32| number(at) == Some(wanted);
    let inner = |at: usize, op: Op| {
        let inst = function.inst(args[at]);
        (inst.op == op).then(|| inst.args.clone())
    };
    let value = |at: usize| Some(To::Value(args[at]));
    let inst = |op: Op, args: &[Value]| Some(To::Inst(op, args.to_vec()));
    match op {
        Op::Add if is(0, 0.0) => value(1),
        Op::Add if is(1, 0.0) => value(0),
        Op::Add => match (inner(0, Op::Neg), inner(1, Op::Neg)) {
            // x + -x
            (Some(a), _) if a[0] == args[1] => Some(To::Number(0.0)),
            (_, Some(b)) if b[0] == args[0] => Some(To::Number(0.0)),
            _ => None,
        },
        Op::Mul if is(0, 1.0) => value(1),
        Op::Mul if is(1, 1.0) => value(0),
        Op::Mul if is(0, 0.0) || is(1, 0.0) => Some(To::Number(0.0)),
        Op::Mul if is(0, -1.0) => inst(Op::Neg, &args[1..]),
        Op::Mul if is(1, -1.0) => inst(Op::Neg, &args[..1]),
        Op::Mul => match (inner(0, Op::Neg), inner(1, Op::Neg)) {
            (Some(a), Some(b)) => inst(Op::Mul, &[a[0], b[0]]),
            _ => None,
        },
        Op::Sum => sum(function, args),
        Op::Neg => inner(0, Op::Neg).map(|inner| To::Value(inner[0])),
        Op::Abs => match (inner(0, Op::Neg), inner(0, Op::Abs)) {
            (Some(inner), _) => inst(Op::Abs, &inner),
            (_, Some(_)) => value(0),
            _ if matches!(function.inst(args[0]).op, Op::Sqrt | Op::Exp2 | Op::Sat | Op::Fract) => value(0),
            _ => None,
        },
        Op::Sat if inner(0, Op::Sat).is_some() || is_truth(function, args[0]) => value(0),
        Op::Floor | Op::Ceil | Op::Trunc if is_whole(function, args[0]) => value(0),
        // A clamp to 0 and 1, either way round.
        Op::Min if is(1, 1.0) => clamp(function, args[0], Op::Max, 0.0),
        Op::Min if is(0, 1.0) => clamp(function, args[1], Op::Max, 0.0),
        Op::Max if is(1, 0.0) => clamp(function, args[0], Op::Min, 1.0),
        Op::Max if is(0, 0.0) => clamp(function, args[1], Op::Min, 1.0),
        Op::Min | Op::Max if args[0] == args[1] => value(0),
        Op::Rcp => inner(0, Op::Rcp)
            .map(|inner| To::Value(inner[0]))
            .or_else(|| inner(0, Op::Sqrt).map(|inner| To::Inst(Op::Rsqrt, inner))),
        Op::Not => not(function, args[0]),
        Op::And if is(0, 0.0) || is(1, 0.0) => Some(To::Number(0.0)),
        Op::And if number(0).is_some() => value(1),
        Op::And if number(1).is_some() => value(0),
        Op::Or if is(0, 0.0) => value(1),
        Op::Or if is(1, 0.0) => value(0),
        Op::Or if number(0).is_some() || number(1).is_some() => Some(To::Number(1.0)),
        Op::And | Op::Or if args[0] == args[1] => value(0),
        Op::Ne if is(1, 0.0) && is_truth(function, args[0]) => value(0),
        Op::Eq if is(1, 0.0) && is_truth(function, args[0]) => inst(Op::Not, &args[..1]),
        Op::Select if number(0).is_some() => value(if is(0, 0.0) { 2 } else { 1 }),
        Op::Select if args[1] == args[2] => value(1),
        Op::Select if is(1, 1.0) && is(2, 0.0) && is_truth(function, args[0]) => value(0),
        Op::Select if is(1, 0.0) && is(2, 1.0) => inst(Op::Not, &args[..1]),
        // What is computed only where it is asked for: `a && b`, `a || b`.
        Op::Select if (is(2, 0.0) || args[2] == args[0]) && is_truth(function, args[1]) => inst(Op::And, &args[..2]),
        Op::Select
            if (is(1, 1.0) || args[1] == args[0]) && is_truth(function, args[0]) && is_truth(function, args[2]) =>
        {
            inst(Op::Or, &[args[0], args[2]])
        }
        Op::Select => inner(0, Op::Not).and_then(|inner| inst(Op::Select, &[inner[0], args[2], args[1]])),
        _ => None,
    }
}

/// A sum without its zeros.
fn sum(function: &Function, args: &[Value]) -> Option<To> {
    let rest: Vec<Value> = args
        .iter()
        .copied()
        .filter(|arg| function.constant(*arg) != Some(0.0))
        .collect();
    match rest[..] {
        [] => Some(To::Number(0.0)),
        [only] => Some(To::Value(only)),
        [_, _] => Some(To::Inst(Op::Add, rest)),
        _ if rest.len() < args.len() => Some(To::Inst(Op::Sum, rest)),
        _ => None,
    }
}

fn clamp(function: &Function, value: Value, op: Op, limit: f32) -> Option<To> {
    let inner = function.inst(value);
    if inner.op != op {
        return None;
    }
    let rest = match [function.constant(inner.args[0]), function.constant(inner.args[1])] {
        [Some(number), _] if number == limit => inner.args[1],
        [_, Some(number)] if number == limit => inner.args[0],
        _ => return None,
    };
    Some(To::Inst(Op::Sat, vec![rest]))
}

fn not(function: &Function, value: Value) -> Option<To> {
    let inner = function.inst(value);
    let opposite = match inner.op {
        Op::Lt => Op::Ge,
        Op::Ge => Op::Lt,
        Op::Eq => Op::Ne,
        Op::Ne => Op::Eq,
        Op::Not if is_truth(function, inner.args[0]) => return Some(To::Value(inner.args[0])),
        _ => return None,
    };
    Some(To::Inst(opposite, inner.args.clone()))
}

/// Whether the value is a whole number for sure.
fn is_whole(function: &Function, value: Value) -> bool {
    matches!(function.inst(value).op, Op::Floor | Op::Ceil | Op::Trunc | Op::Sign)
        || is_truth(function, value)
        || function.constant(value).is_some_and(|number| number == number.trunc())
}
