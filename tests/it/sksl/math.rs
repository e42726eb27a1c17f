//! Operators and builtin functions of the SkSL interpreter, from their definitions.

use super::value::{Class, Num, Outcome, Value, unknown};
use loader::sksl::Operator;

/// Applies a function to every component.
pub(super) fn map(value: &Value, f: impl Fn(Num) -> Num) -> Outcome<Value> {
    match value {
        Value::Nums { columns, rows, all } => Ok(Value::Nums {
            columns: *columns,
            rows: *rows,
            all: all.iter().map(|n| f(*n)).collect(),
        }),
        _ => unknown("an operator on something without components"),
    }
}

/// Applies a function componentwise; a scalar combines with every component of the other.
fn zip(a: &Value, b: &Value, f: impl Fn(Num, Num) -> Num) -> Outcome<Value> {
    let (x, y) = (a.nums()?, b.nums()?);
    match (x.len(), y.len()) {
        (1, _) => map(b, |n| f(x[0], n)),
        (_, 1) => map(a, |n| f(n, y[0])),
        (n, m) if n == m => {
            let mut made = a.clone();
            if let Value::Nums { all, .. } = &mut made {
                for (slot, (x, y)) in all.iter_mut().zip(x.iter().zip(y)) {
                    *slot = f(*x, *y);
                }
            }
            Ok(made)
        }
        _ => unknown("operands of different sizes"),
    }
}

fn binary(a: Num, op: Operator, b: Num) -> Num {
    let float = a.class() == Class::Float || b.class() == Class::Float;
    match (a, b) {
        (Num::U(a), b) if !float => unsigned(a, op, b),
        (a, Num::U(b)) if !float => match a.to(Class::Uint) {
            Num::U(a) => unsigned(a, op, Num::U(b)),
            other => other,
        },
        (Num::I(a), b) if !float => match b.to(Class::Int) {
            Num::I(b) => signed(a, op, b),
            other => other,
        },
        (a, b) => {
            let (a, b) = (a.float(), b.float());
            match op {
                Operator::PLUS => Num::F(a + b),
                Operator::MINUS => Num::F(a - b),
                Operator::STAR => Num::F(a * b),
                Operator::SLASH => Num::F(a / b),
                Operator::LT => Num::B(a < b),
                Operator::GT => Num::B(a > b),
                Operator::LE => Num::B(a <= b),
                _ => Num::B(a >= b),
            }
        }
    }
}

fn signed(a: i32, op: Operator, b: i32) -> Num {
    Num::I(match op {
        Operator::PLUS => a.wrapping_add(b),
        Operator::MINUS => a.wrapping_sub(b),
        Operator::STAR => a.wrapping_mul(b),
        Operator::SLASH => a.checked_div(b).unwrap_or(0),
        Operator::PERCENT => a.checked_rem(b).unwrap_or(0),
        Operator::SHL => a.wrapping_shl(b as u32),
        Operator::SHR => a.wrapping_shr(b as u32),
        Operator::BIT_AND => a & b,
        Operator::BIT_OR => a | b,
        Operator::BIT_XOR => a ^ b,
        Operator::LT => return Num::B(a < b),
        Operator::GT => return Num::B(a > b),
        Operator::LE => return Num::B(a <= b),
        _ => return Num::B(a >= b),
    })
}

fn unsigned(a: u32, op: Operator, b: Num) -> Num {
    let Num::U(b) = b.to(Class::Uint) else { return b };
    Num::U(match op {
        Operator::PLUS => a.wrapping_add(b),
        Operator::MINUS => a.wrapping_sub(b),
        Operator::STAR => a.wrapping_mul(b),
        Operator::SLASH => a.checked_div(b).unwrap_or(0),
        Operator::PERCENT => a.checked_rem(b).unwrap_or(0),
        Operator::SHL => a.wrapping_shl(b),
        Operator::SHR => a.wrapping_shr(b),
        Operator::BIT_AND => a & b,
        Operator::BIT_OR => a | b,
        Operator::BIT_XOR => a ^ b,
        Operator::LT => return Num::B(a < b),
        Operator::GT => return Num::B(a > b),
        Operator::LE => return Num::B(a <= b),
        _ => return Num::B(a >= b),
    })
}

/// `a op b` with the products of matrices.
pub(super) fn arithmetic(a: &Value, op: Operator, b: &Value) -> Outcome<Value> {
    if op == Operator::STAR
        && let (
            Value::Nums {
                columns: c1,
                rows: r1,
                all: x,
            },
            Value::Nums {
                columns: c2,
                rows: r2,
                all: y,
            },
        ) = (a, b)
        && x.len() > 1
        && y.len() > 1
        && (*c1 > 1 || *c2 > 1)
    {
        // A vector on the left is a row.
        let (c1, r1) = if *c1 == 1 { (*r1, 1) } else { (*c1, *r1) };
        let (c2, r2) = (*c2, *r2);
        if c1 != r2 {
            return unknown("a product of matrices that do not fit");
        }
        let mut all = Vec::new();
        for column in 0..c2 {
            for row in 0..r1 {
                let terms = (0..c1).map(|k| x[k * r1 + row].float() * y[column * r2 + k].float());
                all.push(Num::F(terms.sum()));
            }
        }
        // A row times a matrix is a vector again.
        return Ok(match r1 {
            1 => Value::vector(all),
            _ => Value::Nums {
                columns: c2,
                rows: r1,
                all,
            },
        });
    }
    zip(a, b, |x, y| binary(x, op, y))
}

fn floats(value: &Value) -> Outcome<Vec<f32>> {
    Ok(value.nums()?.iter().map(|n| n.float()).collect())
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn each(value: &Value, f: impl Fn(f32) -> f32) -> Outcome<Value> {
    map(value, |n| Num::F(f(n.float())))
}

fn pairs(a: &Value, b: &Value, f: impl Fn(f32, f32) -> f32) -> Outcome<Value> {
    zip(a, b, |x, y| Num::F(f(x.float(), y.float())))
}

fn scaled(value: &[f32], by: f32) -> Vec<f32> {
    value.iter().map(|x| x * by).collect()
}

fn clamp(x: f32, low: f32, high: f32) -> f32 {
    x.max(low).min(high)
}

/// Calls a builtin function with these arguments.
pub(super) fn function(name: &str, all: &[Value]) -> Outcome<Value> {
    let whole = all
        .first()
        .is_some_and(|v| v.nums().is_ok_and(|n| n.iter().all(|n| n.class() != Class::Float)));
    match all {
        [a] => one(name, a, whole),
        [a, b] => two(name, a, b, whole),
        [a, b, c] => three(name, a, b, c),
        _ => unknown(format!("the function {name}")),
    }
}

fn one(name: &str, a: &Value, whole: bool) -> Outcome<Value> {
    let bits = |f: fn(u32) -> Num| {
        map(a, |n| {
            f(match n {
                Num::F(x) => x.to_bits(),
                Num::I(x) => x as u32,
                Num::U(x) => x,
                Num::B(x) => x.into(),
            })
        })
    };
    match name {
        "abs" if whole => map(a, |n| match n {
            Num::I(x) => Num::I(x.wrapping_abs()),
            other => other,
        }),
        "sign" if whole => map(a, |n| match n {
            Num::I(x) => Num::I(x.signum()),
            other => other,
        }),
        "abs" => each(a, f32::abs),
        "sign" => each(a, |x| if x == 0.0 { 0.0 } else { x.signum() }),
        "radians" => each(a, f32::to_radians),
        "degrees" => each(a, f32::to_degrees),
        "sin" => each(a, f32::sin),
        "cos" => each(a, f32::cos),
        "tan" => each(a, f32::tan),
        "asin" => each(a, f32::asin),
        "acos" => each(a, f32::acos),
        "atan" => each(a, f32::atan),
        "sinh" => each(a, f32::sinh),
        "cosh" => each(a, f32::cosh),
        "tanh" => each(a, f32::tanh),
        "asinh" => each(a, f32::asinh),
        "acosh" => each(a, f32::acosh),
        "atanh" => each(a, f32::atanh),
        "exp" => each(a, f32::exp),
        "exp2" => each(a, f32::exp2),
        "log" => each(a, f32::ln),
        "log2" => each(a, f32::log2),
        "sqrt" => each(a, f32::sqrt),
        "inversesqrt" => each(a, |x| 1.0 / x.sqrt()),
        "floor" => each(a, f32::floor),
        "ceil" => each(a, f32::ceil),
        "fract" => each(a, |x| x - x.floor()),
        "trunc" => each(a, f32::trunc),
        // `round` may round a half either way; both are exact elsewhere.
        "round" | "roundEven" => each(a, f32::round_ties_even),
        "saturate" => each(a, |x| clamp(x, 0.0, 1.0)),
        "isnan" => unknown("isnan: a device may take everything for a number, and lavapipe does"),
        "isinf" => map(a, |n| Num::B(n.float().is_infinite())),
        "not" => map(a, |n| Num::B(!n.truth())),
        "any" => Ok(Value::vector(vec![Num::B(a.nums()?.iter().any(|n| n.truth()))])),
        "all" => Ok(Value::vector(vec![Num::B(a.nums()?.iter().all(|n| n.truth()))])),
        "floatBitsToInt" => bits(|b| Num::I(b as i32)),
        "floatBitsToUint" => bits(Num::U),
        "intBitsToFloat" | "uintBitsToFloat" => bits(|b| Num::F(f32::from_bits(b))),
        "length" => {
            let a = floats(a)?;
            Ok(Value::floats(&[dot(&a, &a).sqrt()]))
        }
        "normalize" => {
            let all = floats(a)?;
            Ok(Value::floats(&scaled(&all, 1.0 / dot(&all, &all).sqrt())))
        }
        "unpremul" => {
            let c = floats(a)?;
            let by = 1.0 / c[3].max(0.0001);
            Ok(Value::floats(&[c[0] * by, c[1] * by, c[2] * by, c[3]]))
        }
        "transpose" => match a {
            Value::Nums { columns, rows, all } => Ok(Value::Nums {
                columns: *rows,
                rows: *columns,
                all: (0..all.len())
                    .map(|i| all[(i % columns) * rows + i / columns])
                    .collect(),
            }),
            _ => unknown("transpose of no matrix"),
        },
        "determinant" => {
            let (n, m) = square(a)?;
            Ok(Value::floats(&[determinant(n, &m)]))
        }
        "inverse" => inverse(a),
        "bitCount" => bits(|b| Num::I(b.count_ones() as i32)),
        "findLSB" => bits(|b| Num::I(if b == 0 { -1 } else { b.trailing_zeros() as i32 })),
        // For a negative number, the highest bit that is not set.
        "findMSB" => map(a, |n| {
            let b = match n {
                Num::I(x) if x < 0 => !x as u32,
                Num::I(x) => x as u32,
                Num::U(x) => x,
                _ => 0,
            };
            Num::I(31 - b.leading_zeros() as i32)
        }),
        "unpackUnorm2x16" => match a.nums()? {
            [Num::U(word)] => {
                let half = |x: u32| (x & 0xFFFF) as f32 / 65535.0;
                Ok(Value::floats(&[half(*word), half(word >> 16)]))
            }
            _ => unknown("unpackUnorm2x16 of another type"),
        },
        "packUnorm2x16" => {
            let c = floats(a)?;
            let word = |x: f32| (clamp(x, 0.0, 1.0) * 65535.0).round_ties_even() as u32;
            Ok(Value::vector(vec![Num::U(word(c[0]) | word(c[1]) << 16)]))
        }
        _ => unknown(format!("the function {name}")),
    }
}

fn two(name: &str, a: &Value, b: &Value, whole: bool) -> Outcome<Value> {
    let compare = |op| zip(a, b, |x, y| binary(x, op, y));
    match name {
        "atan" => pairs(a, b, f32::atan2),
        "pow" => pairs(a, b, f32::powf),
        "mod" => pairs(a, b, |x, y| x - y * (x / y).floor()),
        "min" if whole => zip(a, b, |x, y| if binary(y, Operator::LT, x).truth() { y } else { x }),
        "max" if whole => zip(a, b, |x, y| if binary(x, Operator::LT, y).truth() { y } else { x }),
        "min" => pairs(a, b, f32::min),
        "max" => pairs(a, b, f32::max),
        "step" => pairs(a, b, |edge, x| if x < edge { 0.0 } else { 1.0 }),
        "ldexp" => pairs(a, b, |x, e| x * e.exp2()),
        "dot" => Ok(Value::floats(&[dot(&floats(a)?, &floats(b)?)])),
        "distance" => {
            let d: Vec<f32> = floats(a)?.iter().zip(floats(b)?).map(|(a, b)| a - b).collect();
            Ok(Value::floats(&[dot(&d, &d).sqrt()]))
        }
        "cross" => match (&floats(a)?[..], &floats(b)?[..]) {
            ([a, b, c], [x, y, z]) => Ok(Value::floats(&[b * z - c * y, c * x - a * z, a * y - b * x])),
            _ => unknown("cross of other vectors"),
        },
        "reflect" => {
            let (i, n) = (floats(a)?, floats(b)?);
            let d = 2.0 * dot(&n, &i);
            Ok(Value::floats(
                &i.iter().zip(&n).map(|(i, n)| i - d * n).collect::<Vec<_>>(),
            ))
        }
        "lessThan" => compare(Operator::LT),
        "lessThanEqual" => compare(Operator::LE),
        "greaterThan" => compare(Operator::GT),
        "greaterThanEqual" => compare(Operator::GE),
        "equal" => zip(a, b, |x, y| Num::B(x.float() == y.float())),
        "notEqual" => zip(a, b, |x, y| Num::B(x.float() != y.float())),
        "matrixCompMult" => pairs(a, b, |x, y| x * y),
        "outerProduct" => {
            let (a, b) = (floats(a)?, floats(b)?);
            let products = b.iter().flat_map(|y| a.iter().map(move |x| Num::F(x * y)));
            Ok(Value::Nums {
                columns: b.len(),
                rows: a.len(),
                all: products.collect(),
            })
        }
        _ => unknown(format!("the function {name}")),
    }
}

fn three(name: &str, a: &Value, b: &Value, c: &Value) -> Outcome<Value> {
    match name {
        "clamp" => two("min", &two("max", a, b, is_whole(a))?, c, is_whole(a)),
        "mix" if c.nums()?[0].class() == Class::Bool => {
            let chosen = a.nums()?.iter().zip(b.nums()?).zip(c.nums()?);
            Ok(Value::vector(
                chosen.map(|((a, b), c)| if c.truth() { *b } else { *a }).collect(),
            ))
        }
        "mix" => {
            let rest = each(c, |t| 1.0 - t)?;
            let (x, y) = (arithmetic(a, Operator::STAR, &rest)?, arithmetic(b, Operator::STAR, c)?);
            arithmetic(&x, Operator::PLUS, &y)
        }
        "fma" => arithmetic(&arithmetic(a, Operator::STAR, b)?, Operator::PLUS, c),
        "smoothstep" => {
            let (x, width) = (arithmetic(c, Operator::MINUS, a)?, arithmetic(b, Operator::MINUS, a)?);
            each(&arithmetic(&x, Operator::SLASH, &width)?, |t| {
                let t = clamp(t, 0.0, 1.0);
                t * t * (3.0 - 2.0 * t)
            })
        }
        "faceforward" => {
            let (n, i, reference) = (floats(a)?, floats(b)?, floats(c)?);
            let sign = if dot(&reference, &i) < 0.0 { 1.0 } else { -1.0 };
            Ok(Value::floats(&scaled(&n, sign)))
        }
        "refract" => {
            let (i, n, eta) = (floats(a)?, floats(b)?, floats(c)?[0]);
            let d = dot(&n, &i);
            let k = 1.0 - eta * eta * (1.0 - d * d);
            let bent = i.iter().zip(&n).map(|(i, n)| eta * i - (eta * d + k.sqrt()) * n);
            Ok(Value::floats(&if k < 0.0 {
                vec![0.0; i.len()]
            } else {
                bent.collect::<Vec<_>>()
            }))
        }
        _ => unknown(format!("the function {name}")),
    }
}

fn is_whole(a: &Value) -> bool {
    a.nums().is_ok_and(|all| all.iter().all(|n| n.class() != Class::Float))
}

fn square(a: &Value) -> Outcome<(usize, Vec<f32>)> {
    match a {
        Value::Nums { columns, rows, .. } if columns == rows => Ok((*rows, floats(a)?)),
        _ => unknown("a matrix that is not square"),
    }
}

/// Removes a column and a row.
fn minor(n: usize, m: &[f32], column: usize, row: usize) -> Vec<f32> {
    let kept = (0..n * n).filter(|i| i / n != column && i % n != row);
    kept.map(|i| m[i]).collect()
}

fn determinant(n: usize, m: &[f32]) -> f32 {
    if n == 1 {
        return m[0];
    }
    let signs = [1.0, -1.0];
    (0..n)
        .map(|c| signs[c % 2] * m[c * n] * determinant(n - 1, &minor(n, m, c, 0)))
        .sum()
}

/// Cofactors over the determinant.
fn inverse(a: &Value) -> Outcome<Value> {
    let (n, m) = square(a)?;
    let whole = determinant(n, &m);
    let cell = |i: usize| {
        let (column, row) = (i / n, i % n);
        let sign = if (column + row) % 2 == 0 { 1.0 } else { -1.0 };
        Num::F(sign * determinant(n - 1, &minor(n, &m, row, column)) / whole)
    };
    Ok(Value::Nums {
        columns: n,
        rows: n,
        all: (0..n * n).map(cell).collect(),
    })
}
