//! Random programs and what varies of them without changing what they draw.

use crate::common;
use crate::run::{Tally, check, fragment_colors, random_scalars, vertex_outputs};
use emulator::exec::inputs::Plane;
use skrymir_compiler::{Compiled, Stage};

/// What changes of a program and not of its picture.
const VARIANTS: [&str; 3] = ["dead code", "a loop around it", "branches the other way round"];

/// Around the parts of a branch, until it is known which way round it is written.
const IF: char = '\u{1}';
const THEN: char = '\u{2}';
const ELSE: char = '\u{3}';
const END: char = '\u{4}';

/// A text with its branches written, up to the end of the part at hand.
fn branches(rest: &mut std::str::Chars<'_>, swapped: bool) -> String {
    let mut out = String::new();
    while let Some(next) = rest.next() {
        match next {
            IF => {
                let [condition, a, b] = std::array::from_fn(|_| branches(rest, swapped));
                out += &match swapped {
                    false => format!("if ({condition} > 0.0) {{ {a} }} else {{ {b} }}"),
                    true => format!("if (!({condition} > 0.0)) {{ {b} }} else {{ {a} }}"),
                };
            }
            THEN | ELSE | END => return out,
            other => out.push(other),
        }
    }
    out
}

/// Random expressions over what is in scope.
struct Generator {
    random: fastrand::Rng,
}

impl Generator {
    fn float(&mut self, depth: u32) -> String {
        if depth == 0 || self.random.u8(0..6) == 0 {
            return match self.random.u8(0..6) {
                0 => format!("{:?}", self.random.i32(-16..=16) as f32 / 8.0),
                1 => format!("v.{}", ["x", "y", "z", "w"][self.random.usize(0..4)]),
                2 => "k".to_owned(),
                3 => format!("u.{}", ["x", "y", "z"][self.random.usize(0..3)]),
                4 => format!("t.{}", ["x", "y", "z", "w"][self.random.usize(0..4)]),
                _ => "f".to_owned(),
            };
        }
        let next = depth - 1;
        match self.random.u8(0..12) {
            0 | 1 => format!("({} + {})", self.float(next), self.float(next)),
            2 => format!("({} - {})", self.float(next), self.float(next)),
            3 | 4 => format!("({} * {})", self.float(next), self.float(next)),
            5 => format!("min({}, {})", self.float(next), self.float(next)),
            6 => format!("clamp({}, 0.0, 1.0)", self.float(next)),
            7 => format!(
                "({} > {} ? {} : {})",
                self.float(next),
                self.float(next),
                self.float(next),
                self.float(next)
            ),
            8 => format!("dot({}, {})", self.vector(next), self.vector(next)),
            9 => format!("sin({})", self.float(next)),
            10 => format!("abs({})", self.float(next)),
            _ => format!("sqrt(abs({}) + 0.5)", self.float(next)),
        }
    }

    fn vector(&mut self, depth: u32) -> String {
        if depth == 0 || self.random.u8(0..5) == 0 {
            return ["v", "t", "v.wzyx", "t.xxyy", "vec4(u, k)"][self.random.usize(0..5)].to_owned();
        }
        let next = depth - 1;
        match self.random.u8(0..8) {
            0 => format!("({} + {})", self.vector(next), self.vector(next)),
            1 => format!("({} * {})", self.vector(next), self.vector(next)),
            2 => format!("({} * {})", self.vector(next), self.float(next)),
            3 => format!(
                "mix({}, {}, {})",
                self.vector(next),
                self.vector(next),
                self.float(next)
            ),
            4 => format!(
                "vec4({}, {}, {}.zw)",
                self.float(next),
                self.float(next),
                self.vector(next)
            ),
            5 => format!("max({}, {})", self.vector(next), self.vector(next)),
            6 => format!("fract({})", self.vector(next)),
            _ => format!("clamp({}, -2.0, 2.0)", self.vector(next)),
        }
    }

    fn statement(&mut self, depth: u32) -> String {
        match self.random.u8(0..7) {
            0 | 1 => format!("t = clamp({}, -4.0, 4.0);", self.vector(3)),
            2 => format!("f = clamp({}, -4.0, 4.0);", self.float(3)),
            3 => format!(
                "t.{} = {};",
                ["xy", "zw", "yx"][self.random.usize(0..3)],
                ["v.zw", "t.yx", "vec2(f, k)"][self.random.usize(0..3)]
            ),
            4 if depth > 0 => {
                let (condition, a, b) = (self.float(2), self.block(depth - 1), self.block(depth - 1));
                format!("{IF}{condition}{THEN}{a}{ELSE}{b}{END}")
            }
            5 if depth > 0 => {
                let (trips, body) = (self.random.u8(1..40), self.block(depth - 1));
                format!("for (int i = 0; i < {trips}; i++) {{ {body} if (f > 3.0) break; }}")
            }
            _ => format!("f += clamp({}, -1.0, 1.0);", self.float(2)),
        }
    }

    fn block(&mut self, depth: u32) -> String {
        (0..self.random.u8(1..4))
            .map(|_| self.statement(depth))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// A program, and the same with each of [`VARIANTS`].
    fn program(&mut self, stage: Stage) -> [String; 4] {
        let marked = self.block(2) + &self.block(2);
        let body = branches(&mut marked.chars(), false);
        let swapped = branches(&mut marked.chars(), true);
        let (front, end) = match stage {
            Stage::Fragment => (
                "precision mediump float; varying vec4 v;",
                "gl_FragColor = t * 0.5 + f;",
            ),
            Stage::Vertex => (
                "attribute vec4 v; varying vec4 o;",
                "o = t + f; gl_Position = vec4(v.xyz, 1.0);",
            ),
        };
        let whole = |body: &str| {
            format!(
                "{front} uniform vec3 u; uniform float k;\nvoid main() {{ vec4 t = v * 0.5; float f = 0.25;\n{body}\n{end} }}"
            )
        };
        [
            whole(&body),
            whole(&format!(
                "float dead = f * 3.0; if (false) {{ t = vec4(dead); }} {body} dead += t.x;"
            )),
            whole(&format!("for (int one = 0; one < 1; one++) {{ {body} }}")),
            whole(&swapped),
        ]
    }
}

/// Calls a function with the first random programs of both stages: name, text and stage.
pub(crate) fn each(mut f: impl FnMut(&str, &str, Stage)) {
    for (stage, count) in [(Stage::Fragment, 16), (Stage::Vertex, 8)] {
        for seed in 0..count {
            let random = fastrand::Rng::with_seed(seed);
            let [text, ..] = Generator { random }.program(stage);
            f(&format!("{stage:?} random {seed}"), &text, stage);
        }
    }
}

fn random_programs(stage: Stage, count: u64) {
    let mut tally = Tally::default();
    for seed in (0..count).step_by(common::quick_step(25)) {
        let variants = Generator {
            random: fastrand::Rng::with_seed(seed),
        }
        .program(stage);
        let all: Vec<Compiled> = variants
            .iter()
            .map(|text| check(&format!("random {seed}"), text, stage, &mut tally))
            .collect();
        let bits = all.iter().map(|compiled| bits(compiled, seed)).collect::<Vec<_>>();
        for (at, what) in VARIANTS.iter().enumerate() {
            assert_eq!(bits[0], bits[at + 1], "random {seed}: {what} changes it");
        }
    }
    println!(
        "{count} programs and their variants: {} numbers compared, {} of them within less than 0.1, {} without a bound",
        tally.compared, tally.tight, tally.unsure
    );
    assert!(tally.compared > tally.unsure, "{} without a bound", tally.unsure);
}

/// What a program leaves behind, bit for bit; nothing where a fragment is discarded.
fn bits(compiled: &Compiled, seed: u64) -> Vec<Option<Vec<u32>>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let uniforms = random_scalars(&mut random, 4);
    let bits = |numbers: [f32; 4]| numbers.map(f32::to_bits).to_vec();
    if compiled.shader.stage == Stage::Vertex {
        let attributes = random_scalars(&mut random, 4);
        let outputs = vertex_outputs("variants", compiled, &uniforms, &attributes);
        return outputs.into_iter().map(|output| Some(bits(output))).collect();
    }
    let planes = [Plane {
        base: 0.5,
        dx: 0.0,
        dy: 0.03125,
    }; 4];
    let colors = fragment_colors(compiled, &uniforms, &planes);
    colors.into_iter().map(|color| color.map(bits)).collect()
}

/// Seeds of a run: `COMPILER_PROGRAMS` where it is set.
fn seeds() -> u64 {
    let asked = std::env::var("COMPILER_PROGRAMS").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(200)
}

#[test]
fn random_fragment_programs() {
    random_programs(Stage::Fragment, seeds());
}

#[test]
fn random_vertex_programs() {
    random_programs(Stage::Vertex, seeds());
}
