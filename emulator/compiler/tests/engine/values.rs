//! Operators and functions of the shading languages against the formulas of their specifications: what a program
//! computes by the compiler's own form, and on the scalar engine, is what the text says.

use crate::run::{Tally, fragment_colors, random_scalars, vertex, vertex_bounds, vertex_outputs, well_formed};
use emulator::exec::inputs::Plane;
use skrymir_compiler::interp::Bounded;
use skrymir_compiler::ir::Output;
use skrymir_compiler::{Compiled, Input, Options, compile};
use translate::{ShaderStage, Source};

type Vec4 = [f64; 4];
/// An expression of `a` and `b`, vectors of four numbers from -2 to 2, or of `i` and `j`, eight times these as integers;
/// what it is; and how far it may be from that, in parts of it.
type Row = (&'static str, fn(Vec4, Vec4) -> Vec4, f64);

/// What is as exact as the hardware's numbers.
const EXACT: f64 = 2e-6;
/// What is computed by a polynomial, or by a logarithm.
const NEAR: f64 = 5e-5;

fn each(a: Vec4, f: impl Fn(f64) -> f64) -> Vec4 {
    a.map(f)
}

fn both(a: Vec4, b: Vec4, f: impl Fn(f64, f64) -> f64) -> Vec4 {
    std::array::from_fn(|at| f(a[at], b[at]))
}

/// A number in all components, or a truth.
fn all(value: impl Into<f64>) -> Vec4 {
    [value.into(); 4]
}

fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn length(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// The integers of a vector.
fn whole(a: Vec4) -> [i64; 4] {
    a.map(|a| (a * 8.0).trunc() as i64)
}

/// The integers of a vector, for bodies: none hangs on the last bit of a number.
fn near(a: Vec4) -> [i64; 4] {
    a.map(|a| (a * 8.0 + 0.1).floor() as i64)
}

fn integers(a: Vec4, b: Vec4, f: impl Fn(i64, i64) -> i64) -> Vec4 {
    let (i, j) = (whole(a), whole(b));
    std::array::from_fn(|at| f(i[at], j[at]) as f64)
}

/// The determinant of a matrix of columns.
fn determinant<const N: usize>(m: [[f64; N]; N]) -> f64 {
    fn minor(m: &[Vec<f64>]) -> f64 {
        let Some((first, rest)) = m.split_first() else {
            return 1.0;
        };
        let without = |row: usize| -> Vec<Vec<f64>> {
            let column = |column: &Vec<f64>| {
                let kept = column.iter().enumerate().filter(|(at, _)| *at != row);
                kept.map(|(_, value)| *value).collect()
            };
            rest.iter().map(column).collect()
        };
        let sign = |row: usize| if row.is_multiple_of(2) { 1.0 } else { -1.0 };
        let term = |(row, value): (usize, &f64)| sign(row) * value * minor(&without(row));
        first.iter().enumerate().map(term).sum()
    }
    minor(&m.map(|column| column.to_vec()))
}

/// Rows in WGSL.
const WGSL: &[Row] = &[
    ("a + b", |a, b| both(a, b, |a, b| a + b), EXACT),
    ("a - b", |a, b| both(a, b, |a, b| a - b), EXACT),
    ("a * b", |a, b| both(a, b, |a, b| a * b), EXACT),
    (
        "a / (abs(b) + 0.5)",
        |a, b| both(a, b, |a, b| a / (b.abs() + 0.5)),
        EXACT,
    ),
    ("a % vec4f(0.75)", |a, _| each(a, |a| a % 0.75), EXACT),
    (
        "a % (abs(b) + 0.375)",
        |a, b| both(a, b, |a, b| a % (b.abs() + 0.375)),
        EXACT,
    ),
    ("-a", |a, _| each(a, |a| -a), EXACT),
    (
        "select(vec4f(), vec4f(1.0), a < b)",
        |a, b| both(a, b, |a, b| truth(a < b)),
        0.0,
    ),
    (
        "select(vec4f(), vec4f(1.0), a <= b)",
        |a, b| both(a, b, |a, b| truth(a <= b)),
        0.0,
    ),
    (
        "select(vec4f(), vec4f(1.0), a > b)",
        |a, b| both(a, b, |a, b| truth(a > b)),
        0.0,
    ),
    (
        "select(vec4f(), vec4f(1.0), a >= b)",
        |a, b| both(a, b, |a, b| truth(a >= b)),
        0.0,
    ),
    (
        "select(vec4f(), vec4f(1.0), i == j)",
        |a, b| integers(a, b, |i, j| i64::from(i == j)),
        0.0,
    ),
    (
        "select(vec4f(), vec4f(1.0), i != j)",
        |a, b| integers(a, b, |i, j| i64::from(i != j)),
        0.0,
    ),
    (
        "select(a, b, a.x < b.x && a.y < b.y)",
        |a, b| if a[0] < b[0] && a[1] < b[1] { b } else { a },
        0.0,
    ),
    (
        "select(a, b, a.x < b.x || a.y < b.y)",
        |a, b| if a[0] < b[0] || a[1] < b[1] { b } else { a },
        0.0,
    ),
    (
        "select(a, b, !(a.x < b.x))",
        |a, b| if a[0] < b[0] { a } else { b },
        0.0,
    ),
    (
        "select(a, b, (a.x < b.x) != (a.y < b.y))",
        |a, b| if (a[0] < b[0]) == (a[1] < b[1]) { a } else { b },
        0.0,
    ),
    (
        "select(a, b, (a.x < b.x) & (a.y < b.y))",
        |a, b| if a[0] < b[0] && a[1] < b[1] { b } else { a },
        0.0,
    ),
    (
        "select(a, b, (a.x < b.x) | (a.y < b.y))",
        |a, b| if a[0] < b[0] || a[1] < b[1] { b } else { a },
        0.0,
    ),
    (
        "select(a, b, all(a < b + 1.0))",
        |a, b| if (0..4).all(|n| a[n] < b[n] + 1.0) { b } else { a },
        0.0,
    ),
    (
        "select(a, b, any(a < b - 1.0))",
        |a, b| if (0..4).any(|n| a[n] < b[n] - 1.0) { b } else { a },
        0.0,
    ),
    ("select(a, b, a < b)", |a, b| both(a, b, f64::max), 0.0),
    ("abs(a)", |a, _| each(a, f64::abs), 0.0),
    ("min(a, b)", |a, b| both(a, b, f64::min), 0.0),
    ("max(a, b)", |a, b| both(a, b, f64::max), 0.0),
    (
        "clamp(a, vec4f(-0.5), abs(b))",
        |a, b| both(a, b, |a, b| a.max(-0.5).min(b.abs())),
        0.0,
    ),
    ("saturate(a)", |a, _| each(a, |a| a.clamp(0.0, 1.0)), 0.0),
    (
        "sign(a)",
        |a, _| each(a, |a| if a == 0.0 { 0.0 } else { a.signum() }),
        0.0,
    ),
    ("floor(a)", |a, _| each(a, f64::floor), 0.0),
    ("ceil(a)", |a, _| each(a, f64::ceil), 0.0),
    ("trunc(a)", |a, _| each(a, f64::trunc), 0.0),
    ("fract(a)", |a, _| each(a, |a| a - a.floor()), EXACT),
    ("round(a)", |a, _| each(a, f64::round_ties_even), 0.0),
    (
        "round(vec4f(i) * 0.5)",
        |a, _| whole(a).map(|i| (i as f64 * 0.5).round_ties_even()),
        0.0,
    ),
    ("step(a, b)", |a, b| both(a, b, |edge, x| truth(x >= edge)), 0.0),
    (
        "mix(a, b, vec4f(0.25))",
        |a, b| both(a, b, |a, b| a * 0.75 + b * 0.25),
        EXACT,
    ),
    ("mix(a, b, b)", |a, b| both(a, b, |a, b| a * (1.0 - b) + b * b), EXACT),
    (
        "smoothstep(vec4f(-1.0), abs(b) + 0.5, a)",
        |a, b| {
            both(a, b, |a, b| {
                let t = ((a + 1.0) / (b.abs() + 1.5)).clamp(0.0, 1.0);
                t * t * (3.0 - 2.0 * t)
            })
        },
        EXACT,
    ),
    (
        "fma(a, b, a.wzyx)",
        |a, b| std::array::from_fn(|n| a[n] * b[n] + a[3 - n]),
        EXACT,
    ),
    ("sqrt(abs(a))", |a, _| each(a, |a| a.abs().sqrt()), EXACT),
    (
        "inverseSqrt(abs(a) + 0.25)",
        |a, _| each(a, |a| 1.0 / (a.abs() + 0.25).sqrt()),
        EXACT,
    ),
    ("exp(a)", |a, _| each(a, f64::exp), NEAR),
    ("exp2(a)", |a, _| each(a, f64::exp2), NEAR),
    ("log(abs(a) + 0.25)", |a, _| each(a, |a| (a.abs() + 0.25).ln()), NEAR),
    ("log2(abs(a) + 0.25)", |a, _| each(a, |a| (a.abs() + 0.25).log2()), NEAR),
    (
        "pow(abs(a) + 0.25, b)",
        |a, b| both(a, b, |a, b| (a.abs() + 0.25).powf(b)),
        NEAR,
    ),
    ("pow(abs(a) + 0.25, vec4f(0.0))", |_, _| all(1.0), 0.0),
    (
        "pow(abs(a) + 0.25, vec4f(1.0))",
        |a, _| each(a, |a| a.abs() + 0.25),
        EXACT,
    ),
    (
        "pow(abs(a) + 0.25, vec4f(2.0))",
        |a, _| each(a, |a| (a.abs() + 0.25).powi(2)),
        EXACT,
    ),
    (
        "pow(abs(a) + 0.25, vec4f(3.0))",
        |a, _| each(a, |a| (a.abs() + 0.25).powi(3)),
        EXACT,
    ),
    (
        "pow(abs(a) + 0.25, vec4f(4.0))",
        |a, _| each(a, |a| (a.abs() + 0.25).powi(4)),
        EXACT,
    ),
    (
        "pow(abs(a) + 0.25, vec4f(0.5))",
        |a, _| each(a, |a| (a.abs() + 0.25).sqrt()),
        EXACT,
    ),
    (
        "pow(abs(a) + 0.25, vec4f(2.5))",
        |a, _| each(a, |a| (a.abs() + 0.25).powf(2.5)),
        NEAR,
    ),
    ("sin(a)", |a, _| each(a, f64::sin), NEAR),
    ("cos(a)", |a, _| each(a, f64::cos), NEAR),
    ("tan(a * 0.5)", |a, _| each(a, |a| (a * 0.5).tan()), NEAR),
    ("asin(a * 0.5)", |a, _| each(a, |a| (a * 0.5).asin()), NEAR),
    ("acos(a * 0.5)", |a, _| each(a, |a| (a * 0.5).acos()), NEAR),
    ("atan(a)", |a, _| each(a, f64::atan), NEAR),
    (
        "atan2(a, b + vec4f(0.015625))",
        |a, b| both(a, b, |a, b| a.atan2(b + 0.015625)),
        NEAR,
    ),
    ("sinh(a)", |a, _| each(a, f64::sinh), NEAR),
    ("cosh(a)", |a, _| each(a, f64::cosh), NEAR),
    ("tanh(a)", |a, _| each(a, f64::tanh), NEAR),
    ("asinh(abs(a))", |a, _| each(a, |a| a.abs().asinh()), NEAR),
    ("acosh(abs(a) + 1.0)", |a, _| each(a, |a| (a.abs() + 1.0).acosh()), NEAR),
    ("atanh(a * 0.25)", |a, _| each(a, |a| (a * 0.25).atanh()), NEAR),
    ("radians(a)", |a, _| each(a, f64::to_radians), EXACT),
    ("degrees(a)", |a, _| each(a, f64::to_degrees), EXACT),
    ("vec4f(dot(a, b))", |a, b| all(dot(&a, &b)), EXACT),
    ("vec4f(dot(a.xy, b.zw))", |a, b| all(dot(&a[..2], &b[2..])), EXACT),
    ("vec4f(length(a))", |a, _| all(length(&a)), EXACT),
    ("vec4f(length(a.x))", |a, _| all(a[0].abs()), EXACT),
    (
        "vec4f(distance(a, b))",
        |a, b| all(length(&both(a, b, |a, b| a - b))),
        EXACT,
    ),
    ("vec4f(distance(a.x, b.x))", |a, b| all((a[0] - b[0]).abs()), EXACT),
    (
        "normalize(a + vec4f(0.0, 0.0, 0.0, 3.0))",
        |mut a, _| {
            a[3] += 3.0;
            each(a, |value| value / length(&a))
        },
        EXACT,
    ),
    (
        "vec4f(cross(a.xyz, b.xyz), 1.0)",
        |a, b| {
            let part = |n: usize, m: usize| a[n] * b[m] - a[m] * b[n];
            [part(1, 2), part(2, 0), part(0, 1), 1.0]
        },
        EXACT,
    ),
    (
        "faceForward(a, b, a.wzyx)",
        |a, b| {
            let turned: Vec4 = std::array::from_fn(|n| a[3 - n]);
            if dot(&b, &turned) < 0.0 { a } else { each(a, |a| -a) }
        },
        EXACT,
    ),
    (
        "reflect(a, b)",
        |a, b| both(a, b, |i, n| i - 2.0 * dot(&a, &b) * n),
        EXACT,
    ),
    (
        "refract(a * 0.25, vec4f(0.0, 1.0, 0.0, 0.0), 0.75)",
        |a, _| {
            let (n, ratio, i) = ([0.0, 1.0, 0.0, 0.0], 0.75, each(a, |a| a * 0.25));
            let k = 1.0 - ratio * ratio * (1.0 - dot(&n, &i).powi(2));
            both(i, n, |i, normal| ratio * i - (ratio * a[1] * 0.25 + k.sqrt()) * normal)
        },
        EXACT,
    ),
    // All is reflected.
    (
        "refract(a * 0.25, vec4f(0.0, 1.0, 0.0, 0.0), 4.0 + b.x)",
        |a, b| {
            let k = 1.0 - (4.0 + b[0]).powi(2) * (1.0 - (a[1] * 0.25).powi(2));
            assert!(k < 0.0);
            all(0.0)
        },
        EXACT,
    ),
    (
        "vec4f(i / (abs(j) + 1))",
        |a, b| integers(a, b, |i, j| i / (j.abs() + 1)),
        0.0,
    ),
    (
        "vec4f(i / (-abs(j) - 1))",
        |a, b| integers(a, b, |i, j| i / (-j.abs() - 1)),
        0.0,
    ),
    (
        "vec4f(i % (abs(j) + 1))",
        |a, b| integers(a, b, |i, j| i % (j.abs() + 1)),
        0.0,
    ),
    (
        "vec4f(i % (-abs(j) - 1))",
        |a, b| integers(a, b, |i, j| i % (-j.abs() - 1)),
        0.0,
    ),
    (
        "vec4f(i / 3 + i % 3 * 100)",
        |a, _| integers(a, a, |i, _| i / 3 + i % 3 * 100),
        0.0,
    ),
    ("vec4f(i * j - i)", |a, b| integers(a, b, |i, j| i * j - i), 0.0),
    (
        "vec4f((i + 32) & vec4i(6))",
        |a, _| integers(a, a, |i, _| (i + 32) & 6),
        0.0,
    ),
    (
        "vec4f((i + 32) & vec4i(7))",
        |a, _| integers(a, a, |i, _| (i + 32) & 7),
        0.0,
    ),
    (
        "vec4f(vec4i(12) & (i + 32))",
        |a, _| integers(a, a, |i, _| (i + 32) & 12),
        0.0,
    ),
    ("vec4f(i & vec4i(6))", |a, _| integers(a, a, |i, _| i & 6), 0.0),
    ("vec4f(i << vec4u(3))", |a, _| integers(a, a, |i, _| i << 3), 0.0),
    ("vec4f(i >> vec4u(2))", |a, _| integers(a, a, |i, _| i >> 2), 0.0),
    ("vec4f(i >> vec4u(0))", |a, _| integers(a, a, |i, _| i), 0.0),
    (
        "vec4f(min(i, j) + 100 * max(i, j))",
        |a, b| integers(a, b, |i, j| i.min(j) + 100 * i.max(j)),
        0.0,
    ),
    (
        "vec4f(clamp(i, vec4i(-3), vec4i(5)))",
        |a, _| integers(a, a, |i, _| i.clamp(-3, 5)),
        0.0,
    ),
    (
        "vec4f(abs(i) + 100 * sign(i))",
        |a, _| integers(a, a, |i, _| i.abs() + 100 * i.signum()),
        0.0,
    ),
    ("vec4f(vec4i(a * 100.0))", |a, _| each(a, |a| (a * 100.0).trunc()), 0.0),
    (
        "vec4f(vec4<bool>(i)) + vec4f(vec4<bool>(a)) * 2.0",
        |a, _| both(a, whole(a).map(|i| truth(i != 0)), |a, i| i + 2.0 * truth(a != 0.0)),
        0.0,
    ),
    (
        "a.yxwz + b.xxyy",
        |a, b| [a[1] + b[0], a[0] + b[0], a[3] + b[1], a[2] + b[1]],
        EXACT,
    ),
    ("vec4f(a[i.x & 3])", |a, _| all(a[(whole(a)[0] & 3) as usize]), EXACT),
    (
        "vec4f(array(1.0, 2.0, 4.0, a.y)[i.x & 3])",
        |a, _| all([1.0, 2.0, 4.0, a[1]][(whole(a)[0] & 3) as usize]),
        EXACT,
    ),
    (
        "mat4x4f(a, b, a.wzyx, b.yxwz) * b",
        |a, b| std::array::from_fn(|n| a[n] * b[0] + b[n] * b[1] + a[3 - n] * b[2] + b[n ^ 1] * b[3]),
        EXACT,
    ),
    (
        "b * mat4x4f(a, b, a.wzyx, b.yxwz)",
        |a, b| {
            let turned: Vec4 = std::array::from_fn(|n| a[3 - n]);
            [
                dot(&a, &b),
                dot(&b, &b),
                dot(&turned, &b),
                dot(&[b[1], b[0], b[3], b[2]], &b),
            ]
        },
        EXACT,
    ),
    (
        "mat2x4f(a, b) * a.zw",
        |a, b| std::array::from_fn(|n| a[n] * a[2] + b[n] * a[3]),
        EXACT,
    ),
    (
        "vec4f(a * mat2x4f(a, b), b * mat2x4f(b, a))",
        |a, b| [dot(&a, &a), dot(&a, &b), dot(&b, &b), dot(&a, &b)],
        EXACT,
    ),
    // Columns of a product: (2 columns, 4 rows) by (3 columns, 2 rows).
    (
        "(mat2x4f(a, b) * mat3x2f(a.xy, b.xy, a.zw))[2]",
        |a, b| std::array::from_fn(|n| a[n] * a[2] + b[n] * a[3]),
        EXACT,
    ),
    (
        "(mat2x4f(a, b) * mat3x2f(a.xy, b.xy, a.zw)) * b.xyz",
        |a, b| {
            let column = |x: f64, y: f64, n: usize| a[n] * x + b[n] * y;
            std::array::from_fn(|n| {
                column(a[0], a[1], n) * b[0] + column(b[0], b[1], n) * b[1] + column(a[2], a[3], n) * b[2]
            })
        },
        EXACT,
    ),
    (
        "vec4f(transpose(mat2x3f(a.xyz, b.xyz))[1], transpose(mat2x3f(a.xyz, b.xyz))[2])",
        |a, b| [a[1], b[1], a[2], b[2]],
        EXACT,
    ),
    (
        "vec4f(determinant(mat2x2f(a.xy, a.zw)))",
        |a, _| all(determinant([[a[0], a[1]], [a[2], a[3]]])),
        EXACT,
    ),
    (
        "vec4f(determinant(mat3x3f(a.xyz, b.xyz, a.wzy)))",
        |a, b| {
            all(determinant([
                [a[0], a[1], a[2]],
                [b[0], b[1], b[2]],
                [a[3], a[2], a[1]],
            ]))
        },
        EXACT,
    ),
    (
        "vec4f(determinant(mat4x4f(a, b, a.wxyz, b.zxyw)))",
        |a, b| {
            let (c, d) = ([a[3], a[0], a[1], a[2]], [b[2], b[0], b[1], b[3]]);
            all(determinant([a, b, c, d]))
        },
        EXACT,
    ),
];

/// Bodies of functions in WGSL, of `a`, `b`, `i` and `j`.
const BODIES: &[Row] = &[
    (
        "var o = vec4f(); switch i.x & 3 { case 0: { o = a; } case 1, 2: { o = b; } default: { o = a + b; } } return o;",
        |a, b| match near(a)[0] & 3 {
            0 => a,
            1 | 2 => b,
            _ => both(a, b, |a, b| a + b),
        },
        EXACT,
    ),
    (
        "switch i.x & 3 { default: { return a; } case 2: { return b; } }",
        |a, b| if near(a)[0] & 3 == 2 { b } else { a },
        0.0,
    ),
    (
        "var o = a; switch 2 { case 1: { o = b; } case 2: { o = b * 2.0; if i.x > 0 { break; } o = b * 3.0; } default: { } } return o;",
        |a, b| each(b, |b| if near(a)[0] > 0 { b * 2.0 } else { b * 3.0 }),
        EXACT,
    ),
    (
        "var o = a; for (var n = 0; n < 6; n++) { switch n { case 1: { continue; } case 4: { o = -o; } default: { } } o += b; } return o;",
        |a, b| both(a, b, |a, b| -(a + 3.0 * b) + 2.0 * b),
        EXACT,
    ),
    (
        "var o = 0.0; var n = 0; loop { if n == 3 { n += 2; continue; } o += a.x; continuing { n++; break if n > 7; } } return vec4f(o, f32(n), a.x, 1.0);",
        |a, _| [5.0 * a[0], 8.0, a[0], 1.0],
        EXACT,
    ),
    (
        "var o = 0.0; var n = i.x & 7; while n > 0 { n--; if n == 2 { continue; } o += 1.0; } return vec4f(o);",
        |a, _| {
            let n = near(a)[0] & 7;
            all((n - i64::from(n > 2)) as f64)
        },
        0.0,
    ),
    (
        "for (var n = 0; n < 40; n++) { for (var m = 0; m < 40; m++) { if n * 8 + m == (i.x & 31) { return vec4f(f32(n), f32(m), a.y, b.x); } } } return vec4f();",
        |a, b| {
            let wanted = near(a)[0] & 31;
            // All of the first row that comes to it.
            [0.0, wanted as f64, a[1], b[0]]
        },
        EXACT,
    ),
    (
        "var o = a; o[i.x & 3] = 5.0; o[j.y & 3] += b.x; return o;",
        |a, b| {
            let mut o = a;
            o[(near(a)[0] & 3) as usize] = 5.0;
            o[(near(b)[1] & 3) as usize] += b[0];
            o
        },
        EXACT,
    ),
    (
        "var m = array<vec2f, 3>(a.xy, a.zw, b.xy); m[i.x & 1] = b.zw; m[j.x & 1][i.y & 1] = 7.0; return vec4f(m[0], m[1]) + m[2].xyxy;",
        |a, b| {
            let mut m = [[a[0], a[1]], [a[2], a[3]]];
            m[(near(a)[0] & 1) as usize] = [b[2], b[3]];
            m[(near(b)[0] & 1) as usize][(near(a)[1] & 1) as usize] = 7.0;
            [m[0][0] + b[0], m[0][1] + b[1], m[1][0] + b[0], m[1][1] + b[1]]
        },
        EXACT,
    ),
    (
        "var m = mat4x4f(a, b, a.wzyx, b.wzyx); m[i.x & 3] = vec4f(1.0, 2.0, 3.0, 4.0); m[j.x & 3][i.y & 3] = 9.0; return m[0] + m[1] * 2.0 + m[2] * 4.0 + m[i.z & 3];",
        |a, b| {
            let turned = |v: Vec4| -> Vec4 { std::array::from_fn(|n| v[3 - n]) };
            let mut m = [a, b, turned(a), turned(b)];
            let at = |value: i64| (value & 3) as usize;
            m[at(near(a)[0])] = [1.0, 2.0, 3.0, 4.0];
            m[at(near(b)[0])][at(near(a)[1])] = 9.0;
            std::array::from_fn(|n| m[0][n] + m[1][n] * 2.0 + m[2][n] * 4.0 + m[at(near(a)[2])][n])
        },
        EXACT,
    ),
    (
        "var l = array<f32, 7>(); for (var n = 0; n < 7; n++) { l[n] = a.x * f32(n); } l[i.y & 3] = b.x; l[(j.y & 3) + 1] += 2.0; return vec4f(l[0], l[1], l[(i.z & 3) + 2], l[6]);",
        |a, b| {
            let mut l: [f64; 7] = std::array::from_fn(|n| a[0] * n as f64);
            l[(near(a)[1] & 3) as usize] = b[0];
            l[(near(b)[1] & 3) as usize + 1] += 2.0;
            [l[0], l[1], l[(near(a)[2] & 3) as usize + 2], l[6]]
        },
        EXACT,
    ),
    (
        "var l = array<array<vec2f, 3>, 2>(); for (var n = 0; n < 3; n++) { l[0][n] = a.xy * f32(n); l[1][n] = a.zw + f32(n); } l[i.x & 1][j.x & 1] = b.xy; l[j.y & 1][2][i.y & 1] = 3.5; return vec4f(l[0][0] + l[0][2], l[1][j.z & 1] + l[1][2]);",
        |a, b| {
            let mut l: [[[f64; 2]; 3]; 2] = [
                std::array::from_fn(|n| [a[0] * n as f64, a[1] * n as f64]),
                std::array::from_fn(|n| [a[2] + n as f64, a[3] + n as f64]),
            ];
            let bit = |value: i64| (value & 1) as usize;
            l[bit(near(a)[0])][bit(near(b)[0])] = [b[0], b[1]];
            l[bit(near(b)[1])][2][bit(near(a)[1])] = 3.5;
            let part = |at: usize| l[0][0][at] + l[0][2][at];
            let other = |at: usize| l[1][bit(near(b)[2])][at] + l[1][2][at];
            [part(0), part(1), other(0), other(1)]
        },
        EXACT,
    ),
    (
        "var s = S(a.x, b.xy, array<f32, 3>(1.0, 2.0, a.y)); s.l[i.x & 1] = b.w; s.v.y += 1.0; let t = s; s.x = 8.0; return vec4f(t.x + s.x, t.v, t.l[0] + t.l[1] * 2.0 + t.l[2]);",
        |a, b| {
            let mut l = [1.0, 2.0];
            l[(near(a)[0] & 1) as usize] = b[3];
            [a[0] + 8.0, b[0], b[1] + 1.0, l[0] + l[1] * 2.0 + a[1]]
        },
        EXACT,
    ),
    (
        "var o = a; turn(&o, b.x); turn(&o, 1.0); return o;",
        |a, b| [a[0] + b[0], a[1] + 1.0, a[2], a[3]],
        EXACT,
    ),
    (
        "kept[1] = a.x; kept[i.x & 3] = b.y; let n = count(); let m = count(); return vec4f(kept[1], kept[i.x & 3], n, m);",
        |a, b| {
            let at = near(a)[0] & 3;
            [if at == 1 { b[1] } else { a[0] }, b[1], 1.0, 2.0]
        },
        EXACT,
    ),
    (
        "let both = a.x > 0.0 && count() > 0.5; let either = b.x > 0.0 || count() > 5.0; return vec4f(f32(both), f32(either), count(), a.x);",
        |a, b| {
            let calls = truth(a[0] > 0.0) + truth(b[0] <= 0.0);
            [truth(a[0] > 0.0), truth(b[0] > 0.0), calls + 1.0, a[0]]
        },
        EXACT,
    ),
    (
        "return (mat2x2f(a.xy, a.zw) * 2.0 + mat2x2f(b.xy, b.zw) - mat2x2f(1.0, 2.0, 3.0, 4.0))[i.x & 1].xyxy * vec4f(1.0, 1.0, 0.5, 2.0);",
        |a, b| {
            let m: Vec4 = std::array::from_fn(|n| a[n] * 2.0 + b[n] - (n as f64 + 1.0));
            let at = 2 * (near(a)[0] & 1) as usize;
            [m[at], m[at + 1], m[at] * 0.5, m[at + 1] * 2.0]
        },
        EXACT,
    ),
    // What is known only when the loop has been walked.
    (
        "var n = 12; var m = 5; for (var q = 0; q < 2; q++) { n = (n | 3) ^ m; m = m + q; } return vec4f(f32(n), f32(n & m), f32(n << 2u), f32(n >> 1u));",
        |_, _| [14.0, 6.0, 56.0, 7.0],
        0.0,
    ),
    (
        "const MASK = (12 | 3) ^ 5; const FAR = (1 << 4u) >> 2u; return vec4f(f32(MASK), f32(FAR), f32(MASK & 6), f32(-7 / 2 + -7 % 4));",
        |_, _| [10.0, 4.0, 2.0, -6.0],
        0.0,
    ),
];

/// Functions that WGSL lacks, in GLSL 4.
#[cfg(feature = "glslang")]
const GLSL: &[Row] = &[
    (
        "vec4(inverse(mat2(a.x + 3.0, a.y, a.z, a.w + 3.0))[0], inverse(mat2(a.x + 3.0, a.y, a.z, a.w + 3.0))[1])",
        |a, _| {
            let m = [[a[0] + 3.0, a[1]], [a[2], a[3] + 3.0]];
            let scale = 1.0 / determinant(m);
            [m[1][1] * scale, -m[0][1] * scale, -m[1][0] * scale, m[0][0] * scale]
        },
        NEAR,
    ),
    // A matrix times its inverse.
    (
        "vec4((mat3(vec3(5.0), a.xyz, b.xyz) + mat3(4.0)) * (inverse(mat3(vec3(5.0), a.xyz, b.xyz) + mat3(4.0)) * b.yzw), 1.0)",
        |_, b| [b[1], b[2], b[3], 1.0],
        1e-3,
    ),
    (
        "(mat4(a, b, a.wzyx, b) * 0.25 + mat4(4.0)) * (inverse(mat4(a, b, a.wzyx, b) * 0.25 + mat4(4.0)) * b)",
        |_, b| b,
        1e-3,
    ),
    (
        "vec4(outerProduct(a.xy, b.zw)[0], outerProduct(a.xy, b.zw)[1])",
        |a, b| [a[0] * b[2], a[1] * b[2], a[0] * b[3], a[1] * b[3]],
        EXACT,
    ),
    (
        "roundEven(a * 2.0)",
        |a, _| each(a, |a| (a * 2.0).round_ties_even()),
        0.0,
    ),
    ("mod(a, 0.75)", |a, _| each(a, |a| a - 0.75 * (a / 0.75).floor()), EXACT),
    (
        "mod(a, abs(b) + 0.5)",
        |a, b| both(a, b, |a, b| a - (b.abs() + 0.5) * (a / (b.abs() + 0.5)).floor()),
        EXACT,
    ),
    (
        "vec4(any(lessThan(a, b)), all(lessThan(a, b)), not(lessThan(a, b)).xy)",
        |a, b| {
            let less: [bool; 4] = std::array::from_fn(|n| a[n] < b[n]);
            [less.contains(&true), !less.contains(&false), !less[0], !less[1]].map(truth)
        },
        0.0,
    ),
    ("mix(a, b, lessThan(a, b))", |a, b| both(a, b, f64::max), 0.0),
    (
        "vec4((a.x < b.x) ^^ (a.y < b.y))",
        |a, b| all(truth((a[0] < b[0]) != (a[1] < b[1]))),
        0.0,
    ),
];

/// The varying of a vertex program for some attributes, by the compiler's own form, with its bounds.
fn computed(compiled: &Compiled, attributes: &[f32]) -> Option<[Bounded; 4]> {
    let outputs = vertex_bounds(compiled, &[], attributes)?;
    let first = compiled.shader.interface.varyings.first()?.first;
    let of = |at: u32| outputs.get(&Output::Varying(first + at)).copied();
    Some([of(0)?, of(1)?, of(2)?, of(3)?])
}

/// Compares a row at random places, and the program with the compiler's form.
fn compare(row: &Row, name: &str, text: &str, tally: &mut Tally) {
    const PLACES: u64 = 24;
    let (expression, want, tolerance) = row;
    let source = Source::new(name, text.as_bytes())
        .expect("a source")
        .stage(ShaderStage::Vertex);
    let compiled = compile(Input::Source(&source), &Options::default())
        .unwrap_or_else(|error| panic!("{expression}: {}", error.render(name, text)));
    well_formed(expression, &compiled.program);
    let mut certain = 0;
    for seed in 0..PLACES {
        let attributes = random_scalars(&mut fastrand::Rng::with_seed(seed), 8);
        let vector = |at: usize| -> Vec4 { std::array::from_fn(|n| f64::from(attributes[at + n])) };
        let want = want(vector(0), vector(4));
        let have = computed(&compiled, &attributes).expect(expression);
        for (have, want) in have.into_iter().zip(want).filter(|(have, _)| have.error.is_finite()) {
            let bound = f64::from(have.error) + tolerance * want.abs().max(1.0);
            let difference = (f64::from(have.value) - want).abs();
            assert!(
                difference <= bound,
                "{expression} of {attributes:?}: {} where {want} is wanted, within {bound}",
                have.value
            );
            certain += 1;
        }
    }
    assert!(certain >= PLACES * 2, "{expression}: {certain} results have a bound");
    for seed in 0..4 {
        vertex(expression, &compiled, seed, tally);
    }
}

/// What the bodies call and keep.
const FUNCTIONS: &str = "struct S { x: f32, v: vec2f, l: array<f32, 3> }
    var<private> kept: array<f32, 4>; var<private> calls = 0.0;
    fn turn(p: ptr<function, vec4f>, by: f32) { (*p).x += by; *p = (*p).yxzw; }
    fn count() -> f32 { calls += 1.0; return calls; }";

/// A row as a program of a stage.
fn wgsl(row: &Row, stage: ShaderStage) -> String {
    let is_body = row.0.contains("return");
    let numbers = match is_body {
        true => "let i = vec4i(floor(a * 8.0 + 0.1)); let j = vec4i(floor(b * 8.0 + 0.1));",
        false => "let i = vec4i(a * 8.0); let j = vec4i(b * 8.0);",
    };
    let expression = if is_body { "body(a, b, i, j)" } else { row.0 };
    let functions = match is_body {
        true => format!(
            "{FUNCTIONS} fn body(a: vec4f, b: vec4f, i: vec4i, j: vec4i) -> vec4f {{ {} }}",
            row.0
        ),
        false => String::new(),
    };
    match stage {
        ShaderStage::Vertex => format!(
            "{functions} struct Out {{ @builtin(position) p: vec4f, @location(0) o: vec4f }}
             @vertex fn main(@location(0) a: vec4f, @location(1) b: vec4f) -> Out {{
               {numbers}
               return Out(vec4f(0.0, 0.0, 0.0, 1.0), {expression}); }}"
        ),
        _ => format!(
            "{functions} @fragment fn main(@location(0) a: vec4f, @location(1) b: vec4f) -> @location(0) vec4f {{
               {numbers}
               return {expression}; }}"
        ),
    }
}

/// Calls a function with the programs of all rows: name and source.
pub(crate) fn each_operation(mut f: impl FnMut(&str, &Source<'_>)) {
    for stage in [ShaderStage::Vertex, ShaderStage::Fragment] {
        for row in WGSL.iter().chain(BODIES) {
            let text = wgsl(row, stage);
            let source = Source::new("row.wgsl", text.as_bytes()).expect("a source");
            f(&format!("{stage:?} {}", row.0), &source.stage(stage));
        }
    }
}

#[test]
fn wgsl_computes_what_it_says() {
    let mut tally = Tally::default();
    for row in WGSL {
        compare(row, "row.wgsl", &wgsl(row, ShaderStage::Vertex), &mut tally);
    }
    println!("{} rows of WGSL, {} numbers compared", WGSL.len(), tally.compared);
}

/// Whether a number that a processor computed is a row's; `tolerance` is in parts of it.
fn is_near(have: f32, want: f64, tolerance: f64) -> bool {
    (f64::from(have) - want).abs() <= tolerance * want.abs().max(1.0)
}

/// Bodies on the scalar engine: where a choice hangs on equal numbers, results have no bounds.
#[test]
fn bodies_compute_what_they_say() {
    for row in BODIES {
        let text = wgsl(row, ShaderStage::Vertex);
        let source = Source::new("row.wgsl", text.as_bytes()).expect("a source");
        let input = source.stage(ShaderStage::Vertex);
        let compiled = compile(Input::Source(&input), &Options::default()).expect(row.0);
        for seed in 0..48 {
            let attributes = random_scalars(&mut fastrand::Rng::with_seed(seed), 8);
            let vector = |at: usize| -> Vec4 { std::array::from_fn(|n| f64::from(attributes[at + n])) };
            let want = (row.1)(vector(0), vector(4));
            let have = vertex_outputs(row.0, &compiled, &[], &attributes)[1];
            let near = have.into_iter().zip(want).all(|(have, want)| is_near(have, want, NEAR));
            assert!(near, "{} of {attributes:?}: {have:?} for {want:?}", row.0);
        }
    }
}

/// The fragment processor has units of its own for most operations.
#[test]
fn fragments_compute_what_they_say() {
    // Numbers of eleven bits.
    const HALF: f64 = 0.02;
    for row in WGSL.iter().chain(BODIES) {
        let text = wgsl(row, ShaderStage::Fragment);
        let source = Source::new("row.wgsl", text.as_bytes()).expect("a source");
        let input = source.stage(ShaderStage::Fragment);
        for conservative in [false, true] {
            let compiled = compile(Input::Source(&input), &Options { conservative }).expect(row.0);
            well_formed(row.0, &compiled.program);
            for seed in 0..8 {
                let numbers = random_scalars(&mut fastrand::Rng::with_seed(seed), 8);
                let planes: Vec<Plane> = numbers
                    .iter()
                    .map(|base| Plane {
                        base: *base,
                        dx: 0.0,
                        dy: 0.0,
                    })
                    .collect();
                let vector = |at: usize| -> Vec4 { std::array::from_fn(|n| f64::from(numbers[at + n])) };
                let want = (row.1)(vector(0), vector(4));
                for have in fragment_colors(&compiled, &[], &planes) {
                    let have = have.expect("a colour");
                    let near = have.into_iter().zip(want).all(|(have, want)| is_near(have, want, HALF));
                    assert!(near, "{} of {numbers:?}: {have:?} for {want:?}", row.0);
                }
            }
        }
    }
}

#[cfg(feature = "glslang")]
#[test]
fn glsl_computes_what_it_says() {
    let mut tally = Tally::default();
    for row in GLSL {
        let text = format!(
            "#version 450\nlayout(location = 0) in vec4 a; layout(location = 1) in vec4 b;
             layout(location = 0) out vec4 o;\nvoid main() {{ o = {}; gl_Position = vec4(0.0, 0.0, 0.0, 1.0); }}",
            row.0
        );
        compare(row, "row.vert", &text, &mut tally);
    }
    println!("{} rows of GLSL, {} numbers compared", GLSL.len(), tally.compared);
}
