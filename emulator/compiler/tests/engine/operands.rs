//! Operations with operands of every kind, in both stages: what comes from outside, uniforms of one vec4 and of several,
//! constants, results, each with its signs.

use crate::run::{Tally, check};
use skrymir_compiler::Stage;

/// Operations, `A`, `B` and `C` being operands.
const OPERATIONS: [&str; 20] = [
    "A + B",
    "A - B",
    "A * B",
    "min(A, B)",
    "max(A, B)",
    "max(A, 0.0)",
    "clamp(A * B, 0.0, 1.0)",
    "float(int(A * 4.0 + 0.3))",
    "(A < B ? C : B)",
    "(A >= B ? B : C)",
    "(A == B ? C : A)",
    "(A != B ? A : C)",
    "(A > 0.25 && B > 0.25 || C > 0.5 ? 1.0 : 0.25)",
    "((A > B) ^^ (B > C) ? 0.5 : 0.75)",
    "dot(vec3(A, B, C), vec3(1.0, B, A))",
    "dot(vec4(A, B, C, A), vec4(B, C, 1.0, A))",
    "dot(vec2(A, B), vec2(C, A))",
    "(A * B + C)",
    "sqrt(abs(A)) * B",
    "fract(A + 0.3) + B",
];

/// Operands; `q` is what comes from outside.
const OPERANDS: [&str; 12] = [
    "q.x",
    "q.w",
    "k.y",
    "h.z",
    "0.5",
    "-1.5",
    "-q.y",
    "abs(q.z)",
    "-abs(q.x)",
    "-k.x",
    "abs(h.w)",
    "(q.x * q.y)",
];

/// Each operation with each pair of operands; the third goes round. Four stand in a program, which is what is put
/// together to vectors where it can be.
#[test]
fn operations_take_operands_of_every_kind() {
    let mut tally = [Tally::default(), Tally::default()];
    let mut programs = 0;
    for (number, operation) in OPERATIONS.iter().enumerate() {
        let pairs = (0..OPERANDS.len()).flat_map(|a| (0..OPERANDS.len()).map(move |b| (a, b)));
        let expressions: Vec<String> = pairs
            .map(|(a, b)| {
                let c = (a + 2 * b + number) % OPERANDS.len();
                let of = |letter: char| match letter {
                    'A' => OPERANDS[a].to_owned(),
                    'B' => OPERANDS[b].to_owned(),
                    'C' => OPERANDS[c].to_owned(),
                    other => other.to_string(),
                };
                operation.chars().map(of).collect()
            })
            .collect();
        // Two neighbours, and two from elsewhere.
        let half = expressions.len() / 2;
        for at in (number % 2..half).step_by(2 * crate::common::quick_step(6)) {
            let of = |place: usize| &expressions[place % expressions.len()];
            let value = format!(
                "vec4({}, {}, {}, {})",
                of(at),
                of(at + 1),
                of(at + half),
                of(at + half + 13)
            );
            for (stage, tally) in [Stage::Vertex, Stage::Fragment].into_iter().zip(&mut tally) {
                let text = match stage {
                    Stage::Vertex => format!(
                        "attribute vec4 q; uniform vec4 k; uniform vec4 h; varying vec4 o;
                         void main() {{ gl_Position = vec4(0.0, 0.0, 0.0, 1.0); o = {value}; }}"
                    ),
                    Stage::Fragment => format!(
                        "precision mediump float; varying vec4 q; uniform vec4 k; uniform vec4 h;
                         void main() {{ gl_FragColor = {value}; }}"
                    ),
                };
                check(&value, &text, stage, tally);
                programs += 1;
            }
        }
    }
    let [vertex, fragment] = tally;
    println!(
        "{programs} programs: {} numbers of vertices, {} of fragments, {} without a bound",
        vertex.compared,
        fragment.compared,
        vertex.unsure + fragment.unsure
    );
    assert!(vertex.compared > 10 * vertex.unsure && fragment.compared > 2 * fragment.unsure);
}

/// Constants of an instruction stand in two fields of four: operands that share some of them, in every number.
#[test]
fn constants_share_the_fields_of_an_instruction() {
    let mut tally = Tally::default();
    let vector = |numbers: &[f32]| {
        let numbers: Vec<String> = numbers.iter().map(|number| format!("{number:?}")).collect();
        format!("vec4({})", numbers.join(", "))
    };
    let first = [1.5, 0.25, -2.0, 0.75];
    for shared in 0..=4 {
        for turn in 0..4 {
            let second: Vec<f32> = (0..4)
                .map(|at| {
                    if at < shared {
                        first[(at + turn) % 4]
                    } else {
                        0.125 * (at as f32 + 3.0)
                    }
                })
                .collect();
            let (a, b) = (vector(&first), vector(&second));
            for value in [
                format!("q * {a} + {b}"),
                format!("q * {b} + {a}"),
                format!("min(q * {a}, {b})"),
                format!("vec4(dot(q * {a}, {b}))"),
                format!("q * {a} + q.wzyx * {b}"),
                format!("(q.x < {:?} ? {a} : {b})", second[turn]),
                format!("(q.x == {:?} ? q * {b} : {a})", first[turn]),
            ] {
                let text =
                    format!("precision mediump float; varying vec4 q; void main() {{ gl_FragColor = {value}; }}");
                check(&value, &text, Stage::Fragment, &mut tally);
            }
        }
    }
    assert!(
        tally.compared > 20 * tally.unsure,
        "{} {}",
        tally.compared,
        tally.unsure
    );
}
