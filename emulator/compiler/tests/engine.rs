//! Compiled programs on the emulator's scalar engine against the interpreter of the compiler's own form, within the bound
//! that the interpreter computes for each program.
#![allow(missing_docs)]

use emulator::exec::inputs::{Inputs, Plane};
use emulator::exec::scalar::Scalar;
use emulator::exec::{
    Engine, FragmentContext, FragmentProgram, Fragments, Orientation, Quad, VertexBatch, VertexProgram,
};
use loader::mbs::{Mbs, Program, Symbol, SymbolType};
use skrymir_compiler::interface::Variable;
use skrymir_compiler::interp::{self, Bounded, Given, HALF, SINGLE};
use skrymir_compiler::ir::{Input as Scalars, Output};
use skrymir_compiler::{Compiled, Input, Options, Stage, compile};
use std::collections::HashMap;
use utgard::{gp, shader, stats};

/// Where a variable's scalars lie, by its symbol.
fn places(variable: &Variable, symbols: &[Symbol]) -> Option<Vec<usize>> {
    let symbol = symbols
        .iter()
        .find(|symbol| symbol.name == variable.name.as_bytes() && symbol.is_used())?;
    let mut places = Vec::new();
    for element in 0..variable.entries.max(1) {
        for column in 0..variable.columns {
            for row in 0..variable.rows {
                let step = match symbol.kind {
                    SymbolType::MATRIX => u32::from(symbol.stride) / u32::from(symbol.components),
                    _ => 0,
                };
                let at = u32::from(symbol.offset) + element * u32::from(symbol.stride) + column * step + row;
                places.push(at as usize);
            }
        }
    }
    Some(places)
}

/// The program passes every check there is for files of its kind, and comes back from its text.
fn well_formed(name: &str, program: &Program) {
    let findings = stats::stats(program).findings;
    assert!(findings.is_empty(), "{name}: {findings:?}");
    let mbs = Mbs::of(std::slice::from_ref(program));
    let text = shader::disassemble(&mbs).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(shader::assemble(&text).expect("text").write(), mbs.write(), "{name}");
    assert_eq!(
        Mbs::read(&mbs.write()).expect("bytes").programs().expect("programs")[0],
        *program,
        "{name}"
    );
}

fn random_scalars(random: &mut fastrand::Rng, count: usize) -> Vec<f32> {
    // Numbers that fp16 holds exactly, so that inputs are the same on both sides.
    (0..count).map(|_| (random.i32(-64..=64) as f32) / 32.0).collect()
}

fn uniform_values(compiled: &Compiled, values: &[f32], floats: &mut Vec<f32>) {
    let symbols = compiled.program.uniforms.as_deref().unwrap_or_default();
    for variable in &compiled.shader.interface.uniforms {
        for (number, at) in places(variable, symbols).unwrap_or_default().into_iter().enumerate() {
            if floats.len() <= at {
                floats.resize(at + 4, 0.0);
            }
            floats[at] = values[variable.first as usize + number];
        }
    }
}

fn scalars_of(variables: &[Variable]) -> usize {
    variables
        .last()
        .map_or(0, |last| (last.first + last.scalars()) as usize)
}

/// What came of a comparison: numbers compared, and those whose bound was no bound.
#[derive(Default)]
struct Tally {
    compared: u32,
    unsure: u32,
}

impl Tally {
    fn compare(&mut self, what: &str, have: f32, want: Bounded) {
        if !want.error.is_finite() || !want.value.is_finite() {
            self.unsure += 1;
            return;
        }
        self.compared += 1;
        assert!(
            (have - want.value).abs() <= want.error,
            "{what}: {have} where {} is wanted, within {}",
            want.value,
            want.error
        );
    }
}

/// The colours of four fragments.
fn fragment_colors(compiled: &Compiled, uniforms: &[f32], planes: &[Plane]) -> [Option<[f32; 4]>; 4] {
    let program = FragmentProgram::read(&compiled.program.code).expect("a program");
    let mut floats = Vec::new();
    uniform_values(compiled, uniforms, &mut floats);
    let mut inputs = Inputs::default();
    let symbols = compiled.program.varyings.as_deref().unwrap_or_default();
    for variable in &compiled.shader.interface.varyings {
        for (number, at) in places(variable, symbols).unwrap_or_default().into_iter().enumerate() {
            inputs.varyings[at / 4][at % 4] = planes[variable.first as usize + number];
        }
    }
    let context = FragmentContext {
        wants_words: false,
        program: &program,
        uniforms: &floats,
        textures: &[],
        color_register: 0,
        second_register: None,
        depth_register: None,
        orientation: Orientation {
            x: 0.5,
            y: 63.5,
            flip: true,
            flip_derivative: true,
        },
        tile: None,
    };
    let mut out = Fragments::default();
    let quad = Quad { x: 10, y: 20, live: 15 };
    Scalar
        .fragments(&context, &inputs, &[quad], &mut out)
        .expect("no fault");
    std::array::from_fn(|lane| {
        let live = out.live[0] >> lane & 1 == 1;
        live.then(|| std::array::from_fn(|channel| out.color[channel][lane]))
    })
}

fn fragment(name: &str, compiled: &Compiled, seed: u64, tally: &mut Tally) {
    let mut random = fastrand::Rng::with_seed(seed);
    let uniforms = random_scalars(&mut random, scalars_of(&compiled.shader.interface.uniforms));
    let planes: Vec<Plane> = (0..scalars_of(&compiled.shader.interface.varyings))
        .map(|_| Plane {
            base: random.i32(-32..=32) as f32 / 32.0,
            dx: random.i32(-2..=2) as f32 / 64.0,
            dy: random.i32(-2..=2) as f32 / 64.0,
        })
        .collect();
    let position = |lane: usize| (10 + (lane & 1) as u32, 20 + (lane >> 1) as u32);
    let input = |lane: usize, input: Scalars| {
        let (column, row) = position(lane);
        match input {
            Scalars::Varying(slot) => planes[slot as usize].at(column as f32 + 0.5, row as f32 + 0.5),
            Scalars::FragCoord(0) => column as f32 + 0.5,
            Scalars::FragCoord(1) => 63.5 - row as f32,
            Scalars::FragCoord(2) => 0.0,
            Scalars::FrontFacing | Scalars::FragCoord(_) => 1.0,
            _ => 0.0,
        }
    };
    let given = Given {
        uniforms: &uniforms,
        input: &input,
        sampler: &|_, _, _, _| [[0.0, 0.0, 0.0, 1.0]; 4],
        rounding: HALF,
        budget: 100_000,
    };
    let Some(wanted) = interp::run(&compiled.shader.function, &given) else {
        return;
    };
    let have = fragment_colors(compiled, &uniforms, &planes);
    for (lane, (have, want)) in have.into_iter().zip(wanted).enumerate() {
        match (have, want) {
            (Some(have), Some(want)) => {
                for (channel, have) in have.into_iter().enumerate() {
                    if let Some(want) = want.get(&Output::Color(channel as u8)) {
                        tally.compare(&format!("{name}: fragment {lane}, channel {channel}"), have, *want);
                    }
                }
            }
            (None, None) => tally.compared += 1,
            (None, Some(want)) if want.values().any(|bounded| bounded.error.is_finite()) => {
                panic!("{name}: fragment {lane} is discarded");
            }
            (Some(_), None) => panic!("{name}: fragment {lane} is not discarded"),
            _ => tally.unsure += 1,
        }
    }
}

fn vertex(name: &str, compiled: &Compiled, seed: u64, tally: &mut Tally) {
    let mut random = fastrand::Rng::with_seed(seed);
    let interface = &compiled.shader.interface;
    let uniforms = random_scalars(&mut random, scalars_of(&interface.uniforms));
    let attributes = random_scalars(&mut random, scalars_of(&interface.attributes));
    let symbols = compiled.program.uniforms.as_deref().unwrap_or_default();
    let mut floats = vec![0.0; compiled.program.uniform_space.next_multiple_of(4) as usize];
    let viewport = [32.0, -24.0, 0.5, 0.0, 32.0, 24.0, 0.5, 0.0];
    for symbol in symbols.iter().filter(|symbol| symbol.is_used()) {
        let at = usize::from(symbol.offset);
        let mut put = |values: &[f32]| floats[at..at + values.len()].copy_from_slice(values);
        match symbol.name.as_slice() {
            b"gl_mali_ViewportTransform" => put(&viewport),
            b"gl_mali_PointSizeParameters" => put(&[1.0, 100.0, 1.0, 0.0]),
            _ => {
                if let Some(initial) = &symbol.initial {
                    put(&initial.iter().map(|bits| f32::from_bits(*bits)).collect::<Vec<_>>());
                }
            }
        }
    }
    uniform_values(compiled, &uniforms, &mut floats);
    let mut streams = vec![[0.0, 0.0, 0.0, 1.0]; 16];
    let table = compiled.program.attributes.as_deref().unwrap_or_default();
    for variable in &interface.attributes {
        for (number, at) in places(variable, table).unwrap_or_default().into_iter().enumerate() {
            streams[at / 4][at % 4] = attributes[variable.first as usize + number];
        }
    }
    let code = shader::instructions(&compiled.program.code);
    let program = VertexProgram::new(code.into_iter().map(gp::Instruction::decode).collect());
    let memory: Vec<[f32; 4]> = floats
        .chunks(4)
        .map(|vector| std::array::from_fn(|at| vector.get(at).copied().unwrap_or(0.0)))
        .collect();
    let mut outputs = vec![[0.0; 4]; 16];
    let mut batch = VertexBatch {
        program: &program,
        uniforms: &memory,
        attribute_count: 16,
        attributes: &streams,
        output_count: 16,
        outputs: &mut outputs,
        instructions: 0,
    };
    Scalar.vertices(&mut batch).unwrap_or_else(|fault| {
        panic!("{name}: {fault:?}");
    });
    let input = |_: usize, input: Scalars| match input {
        Scalars::Attribute(slot) => attributes[slot as usize],
        _ => 0.0,
    };
    let given = Given {
        uniforms: &uniforms,
        input: &input,
        sampler: &|_, _, _, _| [[0.0; 4]; 4],
        rounding: SINGLE,
        budget: 100_000,
    };
    let Some([Some(wanted), ..]) = interp::run(&compiled.shader.function, &given) else {
        return;
    };
    let varyings = compiled.program.varyings.as_deref().unwrap_or_default();
    for variable in &interface.varyings {
        let Some(symbol) = varyings.iter().find(|symbol| symbol.name == variable.name.as_bytes()) else {
            continue;
        };
        for number in 0..variable.scalars() {
            let (column, row) = (number / variable.rows, number % variable.rows);
            let have = outputs[usize::from(symbol.offset) / 4 + column as usize][row as usize];
            if let Some(want) = wanted.get(&Output::Varying(variable.first + number)) {
                tally.compare(&format!("{name}: {} component {number}", variable.name), have, *want);
            }
        }
    }
    position(name, &wanted, &viewport, &outputs[0], tally);
}

fn position(name: &str, wanted: &HashMap<Output, Bounded>, viewport: &[f32; 8], have: &[f32; 4], tally: &mut Tally) {
    let get = |component: u8| wanted.get(&Output::Position(component)).copied();
    let Some(w) = get(3).filter(|w| w.value.abs() > 1e-3) else {
        return;
    };
    for component in 0..3u8 {
        let Some(clip) = get(component) else { continue };
        let (scale, offset) = (viewport[usize::from(component)], viewport[4 + usize::from(component)]);
        let value = clip.value / w.value * scale + offset;
        let relative = w.error / w.value.abs() + 4e-6;
        let error = (clip.error / w.value.abs() + (clip.value / w.value).abs() * relative) * scale.abs()
            + (value.abs() + offset.abs()) * 1e-6;
        tally.compare(
            &format!("{name}: position {component}"),
            have[usize::from(component)],
            Bounded { value, error },
        );
    }
}

fn check(name: &str, text: &str, stage: Stage, tally: &mut Tally) -> Compiled {
    let compiled = compile(Input::GlslEs(text, stage), &Options::default())
        .unwrap_or_else(|error| panic!("{}\n{text}", error.render(name, text)));
    well_formed(name, &compiled.program);
    for seed in 0..4 {
        match stage {
            Stage::Vertex => vertex(name, &compiled, seed, tally),
            Stage::Fragment => fragment(name, &compiled, seed, tally),
        }
    }
    let conservative = compile(Input::GlslEs(text, stage), &Options { conservative: true }).expect("conservative");
    well_formed(name, &conservative.program);
    if stage == Stage::Fragment {
        fragment(name, &conservative, 9, tally);
    }
    compiled
}

const FRAGMENTS: &[(&str, &str)] = &[
    ("constant", "void main() { gl_FragColor = vec4(0.25, 0.5, 0.75, 1.0); }"),
    ("varying", "varying vec4 c; void main() { gl_FragColor = c; }"),
    (
        "parts",
        "varying vec2 a; varying float b; uniform float k; void main() { gl_FragColor = vec4(a.yx, b, k); }",
    ),
    (
        "mix",
        "uniform vec3 a; uniform vec3 b; varying vec2 uv; void main() { gl_FragColor = vec4(mix(a, b, uv.x * uv.y), 1.0); }",
    ),
    (
        "branch",
        "varying vec2 v; uniform float k; void main() { vec4 c = vec4(v, 0.0, 1.0);
           if (v.x > k) { c.xy = c.yx * 2.0; c.z = sin(v.y); } else if (v.y < 0.0) discard; else { c.w = exp2(v.x); }
           gl_FragColor = c; }",
    ),
    (
        "loop",
        "uniform float n; varying vec2 v; void main() { vec2 s = v; float c = 0.0;
           for (int i = 0; i < 50; i++) { if (float(i) >= abs(n) * 3.0) break; s = s.yx * 0.5 + 0.25; c += 1.0; }
           gl_FragColor = vec4(s, c * 0.125, 1.0); }",
    ),
    (
        "array",
        "uniform float k[8]; varying float v; void main() { float a[6]; for (int i = 0; i < 6; i++) a[i] = k[i] * 0.5;
           int j = int(abs(v) * 4.0); a[j] = 2.0; gl_FragColor = vec4(a[0], a[1], a[5 - j], k[j + 1]); }",
    ),
    (
        "normal",
        "varying vec3 n; uniform vec3 l; void main() { float d = max(dot(normalize(n), normalize(l)), 0.0);
           gl_FragColor = vec4(vec3(d), 1.0); }",
    ),
    (
        "matrix",
        "uniform mat3 m; varying vec3 v; void main() { gl_FragColor = vec4(m * v, (v * m).x); }",
    ),
    (
        "derivative",
        "varying vec2 v; void main() { gl_FragColor = vec4(dFdx(v.x), dFdy(v.y), fwidth(v.x), 1.0); }",
    ),
    (
        "texture",
        "uniform sampler2D s; varying vec2 v; void main() { gl_FragColor = texture2D(s, v * 2.0) + texture2D(s, v); }",
    ),
    (
        "call",
        "varying vec2 v; float f(float x, inout float y) { y += x; if (x > 0.0) return y * 2.0; return y - 1.0; }
           void main() { float y = v.y; float a = f(v.x, y); gl_FragColor = vec4(a, y, f(-v.x, y), y); }",
    ),
    (
        "integers",
        "varying vec2 v; void main() { int a = int(v.x * 40.0); int b = a / 3; gl_FragColor = vec4(a - b * 3, b, a, 1); }",
    ),
];

#[test]
fn fragment_programs() {
    let mut tally = Tally::default();
    for (name, text) in FRAGMENTS {
        check(
            name,
            &format!("precision mediump float;\n{text}"),
            Stage::Fragment,
            &mut tally,
        );
    }
    println!("{} numbers compared, {} without a bound", tally.compared, tally.unsure);
    assert!(tally.compared > 500);
}

const VERTICES: &[(&str, &str)] = &[
    ("plain", "attribute vec4 p; void main() { gl_Position = p; }"),
    (
        "mvp",
        "uniform mat4 m; attribute vec4 p; attribute vec2 t; varying vec2 v; void main() { gl_Position = m * p; v = t; }",
    ),
    (
        "lit",
        "uniform mat4 m; uniform mat3 n; attribute vec3 p; attribute vec3 q; varying vec4 c; void main() {
           vec3 a = normalize(n * q); float d = max(dot(a, normalize(vec3(1.0, 2.0, 4.0) - p)), 0.0);
           c = vec4(d, d, d, 1.0); gl_Position = m * vec4(p, 1.0); gl_PointSize = d * 4.0; }",
    ),
    (
        "functions",
        "attribute vec4 p; varying vec4 a; varying vec4 b; void main() { gl_Position = p;
           a = vec4(sin(p.x), cos(p.y), exp2(p.z), log2(abs(p.w) + 0.5));
           b = vec4(floor(p.x), fract(p.y), sign(p.z), p.w > 0.0 ? sqrt(p.w) : -1.0); }",
    ),
    (
        "loop",
        "attribute vec4 p; uniform float n; varying vec4 v; void main() { vec4 s = p; float c = 0.0;
           for (int i = 0; i < 3000; i++) { if (c >= abs(n) * 4.0) break; s = s.yzwx * 0.5 + p; c += 1.0; }
           gl_Position = vec4(p.xyz, 1.0); v = s; }",
    ),
    (
        "index",
        "attribute vec2 p; uniform vec4 k[12]; varying vec4 v; void main() { gl_Position = vec4(p, 0.0, 1.0);
           v = k[int(abs(p.x) * 5.0)]; }",
    ),
];

#[test]
fn vertex_programs() {
    let mut tally = Tally::default();
    for (name, text) in VERTICES {
        check(name, text, Stage::Vertex, &mut tally);
    }
    println!("{} numbers compared, {} without a bound", tally.compared, tally.unsure);
    assert!(tally.compared > 100);
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
                format!("if ({condition} > 0.0) {{ {a} }} else {{ {b} }}")
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

    /// A body, with what varies of it: dead code, loops of one turn around it.
    fn program(&mut self, stage: Stage) -> [String; 3] {
        let body = self.block(2) + &self.block(2);
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
        ]
    }
}

fn random_programs(stage: Stage, count: u64) {
    let mut tally = Tally::default();
    for seed in 0..count {
        let variants = Generator {
            random: fastrand::Rng::with_seed(seed),
        }
        .program(stage);
        let all: Vec<Compiled> = variants
            .iter()
            .map(|text| check(&format!("random {seed}"), text, stage, &mut tally))
            .collect();
        if stage == Stage::Fragment {
            let uniforms = random_scalars(&mut fastrand::Rng::with_seed(seed), 4);
            let planes = [Plane {
                base: 0.5,
                dx: 0.0,
                dy: 0.03125,
            }; 4];
            let colors: Vec<_> = all
                .iter()
                .map(|compiled| fragment_colors(compiled, &uniforms, &planes))
                .collect();
            assert_eq!(
                format!("{:?}", colors[0]),
                format!("{:?}", colors[1]),
                "random {seed}: dead code changes it"
            );
        }
    }
    println!(
        "{count} programs and their variants: {} numbers compared, {} without a bound",
        tally.compared, tally.unsure
    );
    assert!(tally.compared > 2 * count as u32);
}

#[test]
fn random_fragment_programs() {
    random_programs(Stage::Fragment, 150);
}

#[test]
fn random_vertex_programs() {
    random_programs(Stage::Vertex, 150);
}

/// More numbers at once than there are registers: across a loop, and inside one block.
#[test]
fn vertex_programs_spill() {
    let mut tally = Tally::default();
    let lines = |from: u32, to: u32, line: &dyn Fn(u32) -> String| (from..to).map(line).collect::<Vec<_>>().join("\n");
    let values = lines(0, 18, &|at| format!("vec4 x{at} = v * {at}.5 + 0.25;"));
    let sum = lines(0, 18, &|at| format!("s += x{at} * s.yzwx * 0.015625;"));
    let front = "attribute vec4 v; varying vec4 o; uniform float k;";
    let across = format!(
        "{front} void main() {{ {values} vec4 s = v;
           for (int i = 0; i < 3; i++) {{ if (float(i) >= k * 8.0) break; {sum} }}
           o = s; gl_Position = vec4(v.xyz, 1.0); }}"
    );
    let inside = format!("{front} void main() {{ {values} vec4 s = v; {sum} o = s; gl_Position = vec4(v.xyz, 1.0); }}");
    for (name, text) in [("across", &across), ("inside", &inside)] {
        let compiled = check(name, text, Stage::Vertex, &mut tally);
        println!("{name}: {} instructions", compiled.report.instructions);
    }
    assert!(tally.compared > 30, "{}", tally.compared);
}

/// What the hardware has nothing for is refused by name and place.
#[test]
fn refusals() {
    let refused = |text: &str, stage: Stage| {
        let error = compile(Input::GlslEs(text, stage), &Options::default()).expect_err(text);
        (error.message().to_owned(), error.span())
    };
    let text = "uniform sampler2D s; attribute vec2 p; void main() {\n gl_Position = texture2D(s, p); }";
    let (message, span) = refused(text, Stage::Vertex);
    assert!(message.contains("textures in a vertex program"), "{message}");
    assert_eq!(span.map(|span| text[..span.start].matches('\n').count()), Some(1));
    let (message, _) = refused("void main() { gl_FragData[1] = vec4(1.0); }", Stage::Fragment);
    assert!(message.contains("several colour outputs"), "{message}");
    let (message, _) = refused(
        "precision mediump float; void main() { int a = 100000; gl_FragColor = vec4(a); }",
        Stage::Fragment,
    );
    assert!(message.contains("100000"), "{message}");
    let (message, _) = refused("void main() { gl_FragColor = nothing; }", Stage::Fragment);
    assert!(message.contains("nothing"), "{message}");
}

/// The corpus of GLES 2 programs: right, and no longer than what Mesa's compiler makes of them.
#[test]
fn corpus() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/glsl-es");
    let Ok(table) = std::fs::read_to_string(folder.join("lima.tsv")) else {
        println!("corpus glsl-es: not here");
        return;
    };
    let mut tally = Tally::default();
    let (mut programs, mut totals) = (0, [[0u32; 2]; 2]);
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        for (ending, stage, column) in [("vert", Stage::Vertex, 1), ("frag", Stage::Fragment, 5)] {
            let name = format!("{}.{ending}", fields[0]);
            let text = std::fs::read_to_string(folder.join(&name)).expect("a program");
            let compiled = check(&name, &text, stage, &mut tally);
            programs += 1;
            if let Ok(mesa) = fields[column].parse::<u32>() {
                let total = &mut totals[usize::from(stage == Stage::Fragment)];
                total[0] += mesa;
                total[1] += compiled.report.instructions;
            }
        }
    }
    let [vertex, fragment] = totals;
    println!(
        "{programs} programs; Mesa and we: vertex {vertex:?}, fragment {fragment:?}; {} numbers",
        tally.compared
    );
    assert!(vertex[1] <= vertex[0], "{vertex:?}");
    assert!(10 * fragment[1] <= 7 * fragment[0], "{fragment:?}");
}
