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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Inst;
    use std::collections::HashMap;

    const OPS: &[(&str, Op)] = &[
        ("add", Op::Add),
        ("mul", Op::Mul),
        ("sum", Op::Sum),
        ("neg", Op::Neg),
        ("abs", Op::Abs),
        ("sat", Op::Sat),
        ("min", Op::Min),
        ("max", Op::Max),
        ("floor", Op::Floor),
        ("ceil", Op::Ceil),
        ("fract", Op::Fract),
        ("trunc", Op::Trunc),
        ("sign", Op::Sign),
        ("rcp", Op::Rcp),
        ("rsqrt", Op::Rsqrt),
        ("sqrt", Op::Sqrt),
        ("exp2", Op::Exp2),
        ("log2", Op::Log2),
        ("sin", Op::Sin),
        ("cos", Op::Cos),
        ("lt", Op::Lt),
        ("ge", Op::Ge),
        ("eq", Op::Eq),
        ("ne", Op::Ne),
        ("not", Op::Not),
        ("and", Op::And),
        ("or", Op::Or),
        ("xor", Op::Xor),
        ("select", Op::Select),
        ("ddx", Op::Ddx),
        ("ddy", Op::Ddy),
        ("load", Op::Load(0)),
        ("copy", Op::Copy),
        // Elements of 2 scalars from scalar 10 on.
        (
            "at",
            Op::UniformAt {
                base: 10,
                stride: 2,
                count: 4,
            },
        ),
    ];

    fn op(name: &str) -> Op {
        let found = OPS.iter().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("{name}")).1
    }

    /// Values by their texts: `add(x, 1)` of uniforms x, y and z and numbers.
    #[derive(Default)]
    struct Texts {
        function: Function,
        values: HashMap<String, Value>,
    }

    impl Texts {
        fn value(&mut self, text: &str) -> Value {
            if let Some(known) = self.values.get(text) {
                return *known;
            }
            let (op, args) = self.operation(text);
            let value = self.function.add(Inst {
                op,
                args,
                span: None,
                tag: 0,
            });
            self.values.insert(text.to_owned(), value);
            value
        }

        fn operation(&mut self, text: &str) -> (Op, Vec<Value>) {
            let Some((name, rest)) = text.split_once('(') else {
                let leaf = match text {
                    "x" => Op::Uniform(0),
                    "y" => Op::Uniform(1),
                    "z" => Op::Uniform(2),
                    number => Op::Const(number.parse::<f32>().expect(text).to_bits()),
                };
                return (leaf, Vec::new());
            };
            let (mut args, mut depth, mut start) = (Vec::new(), 0, 0);
            let inside = rest.strip_suffix(')').expect(text);
            for (at, c) in inside.char_indices().chain([(inside.len(), ',')]) {
                match c {
                    '(' => depth += 1,
                    ')' => depth -= 1,
                    ',' if depth == 0 => {
                        args.push(self.value(&inside[start..at]));
                        start = at + 1;
                    }
                    _ => {}
                }
            }
            (op(name), args)
        }

        fn text(&self, value: Value) -> &str {
            let of = |(_, known): &(&String, &Value)| **known == value;
            self.values.iter().find(of).expect("a value of a text").0
        }

        /// What an operation becomes, as text; empty if it stays.
        fn simple(&mut self, text: &str) -> String {
            let (op, args) = self.operation(text);
            match simplify(&self.function, op, &args) {
                None => String::new(),
                Some(To::Number(number)) => number.to_string(),
                Some(To::Value(value)) => self.text(value).to_owned(),
                Some(To::Inst(Op::Uniform(scalar), _)) => format!("uniform {scalar}"),
                Some(To::Inst(op, args)) => {
                    let name = OPS.iter().find(|(_, known)| *known == op).expect("a name").0;
                    let args: Vec<&str> = args.iter().map(|arg| self.text(*arg)).collect();
                    format!("{name}({})", args.join(","))
                }
            }
        }
    }

    #[test]
    fn operations_become_simpler_by_the_rows() {
        for (text, simple) in [
            ("add(0,x)", "x"),
            ("add(x,0)", "x"),
            ("add(neg(x),x)", "0"),
            ("add(x,neg(x))", "0"),
            ("add(x,neg(y))", ""),
            ("add(neg(y),x)", ""),
            ("add(x,1)", ""),
            ("mul(1,x)", "x"),
            ("mul(x,1)", "x"),
            ("mul(0,x)", "0"),
            ("mul(x,0)", "0"),
            ("mul(-1,x)", "neg(x)"),
            ("mul(x,-1)", "neg(x)"),
            ("mul(neg(x),neg(y))", "mul(x,y)"),
            ("mul(neg(x),y)", ""),
            ("mul(x,2)", ""),
            ("sum(0,x,0)", "x"),
            ("sum(x,0,y)", "add(x,y)"),
            ("sum(x,y,z,0)", "sum(x,y,z)"),
            ("sum(x,y,z)", ""),
            ("sum(1,2,4)", "7"),
            ("neg(neg(x))", "x"),
            ("neg(x)", ""),
            ("abs(neg(x))", "abs(x)"),
            ("abs(abs(x))", "abs(x)"),
            ("abs(sqrt(x))", "sqrt(x)"),
            ("abs(exp2(x))", "exp2(x)"),
            ("abs(sat(x))", "sat(x)"),
            ("abs(fract(x))", "fract(x)"),
            ("abs(floor(x))", ""),
            ("abs(x)", ""),
            ("sat(sat(x))", "sat(x)"),
            ("sat(lt(x,y))", "lt(x,y)"),
            ("sat(x)", ""),
            ("floor(floor(x))", "floor(x)"),
            ("ceil(trunc(x))", "trunc(x)"),
            ("trunc(sign(x))", "sign(x)"),
            ("floor(ceil(x))", "ceil(x)"),
            ("floor(ne(x,y))", "ne(x,y)"),
            ("floor(x)", ""),
            ("ceil(fract(x))", ""),
            ("min(max(x,0),1)", "sat(x)"),
            ("min(1,max(0,x))", "sat(x)"),
            ("max(min(x,1),0)", "sat(x)"),
            ("max(0,min(1,x))", "sat(x)"),
            ("min(max(x,0.5),1)", ""),
            ("min(max(x,0),2)", ""),
            ("max(min(x,1),0.5)", ""),
            ("min(min(x,0),1)", ""),
            ("min(x,1)", ""),
            ("min(x,x)", "x"),
            ("max(x,x)", "x"),
            ("max(x,y)", ""),
            ("rcp(rcp(x))", "x"),
            ("rcp(sqrt(x))", "rsqrt(x)"),
            ("rcp(x)", ""),
            ("not(lt(x,y))", "ge(x,y)"),
            ("not(ge(x,y))", "lt(x,y)"),
            ("not(eq(x,y))", "ne(x,y)"),
            ("not(ne(x,y))", "eq(x,y)"),
            ("not(not(lt(x,y)))", "lt(x,y)"),
            ("not(not(x))", ""),
            ("not(x)", ""),
            ("and(0,x)", "0"),
            ("and(x,0)", "0"),
            ("and(1,x)", "x"),
            ("and(x,1)", "x"),
            ("and(x,x)", "x"),
            ("and(x,y)", ""),
            ("or(0,x)", "x"),
            ("or(x,0)", "x"),
            ("or(1,x)", "1"),
            ("or(x,1)", "1"),
            ("or(x,x)", "x"),
            ("or(x,y)", ""),
            ("xor(x,x)", ""),
            ("ne(lt(x,y),0)", "lt(x,y)"),
            ("ne(lt(x,y),1)", ""),
            ("ne(x,0)", ""),
            ("eq(lt(x,y),0)", "not(lt(x,y))"),
            ("eq(lt(x,y),1)", ""),
            ("eq(x,0)", ""),
            ("select(0,x,y)", "y"),
            ("select(1,x,y)", "x"),
            ("select(x,y,y)", "y"),
            ("select(lt(x,y),1,0)", "lt(x,y)"),
            ("select(x,1,0)", "and(x,1)"),
            ("select(x,0,1)", "not(x)"),
            ("select(x,0,2)", ""),
            ("select(x,lt(y,z),0)", "and(x,lt(y,z))"),
            ("select(x,lt(y,z),x)", "and(x,lt(y,z))"),
            ("select(x,y,0)", ""),
            ("select(lt(x,y),1,ge(x,z))", "or(lt(x,y),ge(x,z))"),
            ("select(lt(x,y),lt(x,y),ge(x,z))", "or(lt(x,y),ge(x,z))"),
            ("select(x,1,lt(y,z))", ""),
            ("select(lt(x,y),1,z)", ""),
            ("select(not(x),y,z)", "select(x,z,y)"),
            ("select(x,y,z)", ""),
            ("ddx(3)", "0"),
            ("ddy(3)", "0"),
            ("ddx(x)", ""),
            ("at(2)", "uniform 14"),
            ("at(9)", "uniform 16"),
            ("at(-1)", "uniform 10"),
            ("at(x)", ""),
            // These stay where they are.
            ("load(0)", ""),
            ("copy(3)", ""),
        ] {
            assert_eq!(Texts::default().simple(text), simple, "{text}");
        }
    }

    #[test]
    fn operations_of_numbers_are_computed() {
        for (text, number) in [
            ("add(1.5,-2)", -0.5),
            ("mul(1.5,-2)", -3.0),
            ("sum(1,2,4)", 7.0),
            ("neg(2)", -2.0),
            ("abs(-2)", 2.0),
            ("sat(-2)", 0.0),
            ("sat(2)", 1.0),
            ("sat(0.25)", 0.25),
            ("min(1,2)", 1.0),
            ("min(2,1)", 1.0),
            ("max(1,2)", 2.0),
            ("max(2,1)", 2.0),
            ("floor(-1.25)", -2.0),
            ("ceil(-1.25)", -1.0),
            ("fract(-1.25)", 0.75),
            ("trunc(-1.25)", -1.0),
            ("sign(-3)", -1.0),
            ("sign(0)", 0.0),
            ("rcp(4)", 0.25),
            ("rsqrt(4)", 0.5),
            ("sqrt(4)", 2.0),
            ("exp2(3)", 8.0),
            ("log2(8)", 3.0),
            ("sin(0.25)", 1.0),
            ("cos(0.5)", -1.0),
            ("lt(1,2)", 1.0),
            ("lt(1,1)", 0.0),
            ("ge(1,1)", 1.0),
            ("ge(1,2)", 0.0),
            ("eq(1,1)", 1.0),
            ("eq(1,2)", 0.0),
            ("ne(1,2)", 1.0),
            ("ne(1,1)", 0.0),
            ("not(0)", 1.0),
            ("not(2)", 0.0),
            ("and(2,3)", 1.0),
            ("and(2,0)", 0.0),
            ("or(0,3)", 1.0),
            ("or(0,0)", 0.0),
            ("xor(2,3)", 0.0),
            ("xor(2,0)", 1.0),
            ("select(2,3,4)", 3.0),
            ("select(0,3,4)", 4.0),
        ] {
            let have: f32 = Texts::default().simple(text).parse().expect(text);
            assert!((have - number).abs() <= 1e-6 * number.abs(), "{text}: {have}");
        }
        assert_eq!(compute(Op::Copy, &[3.0]), Some(3.0));
        assert_eq!(compute(Op::Load(0), &[0.0]), None);
    }

    #[test]
    fn truths_are_comparisons_and_their_numbers() {
        let mut texts = Texts::default();
        for (text, is) in [
            ("lt(x,y)", true),
            ("ge(x,y)", true),
            ("eq(x,y)", true),
            ("ne(x,y)", true),
            ("not(x)", true),
            ("and(x,y)", true),
            ("or(x,y)", true),
            ("xor(x,y)", true),
            ("0", true),
            ("1", true),
            ("0.5", false),
            ("x", false),
            ("sat(x)", false),
        ] {
            let value = texts.value(text);
            assert_eq!(is_truth(&texts.function, value), is, "{text}");
        }
    }
}
