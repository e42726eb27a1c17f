//! A compiled program on the scalar engine, and in the interpreter of the compiler's own form, with the same inputs.

use crate::rules;
use emulator::exec::inputs::{Inputs, Plane};
use emulator::exec::scalar::Scalar;
use emulator::exec::{
    Engine, FragmentContext, FragmentProgram, Fragments, Orientation, Quad, VertexBatch, VertexProgram, VertexRows,
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
pub(crate) fn well_formed(name: &str, program: &Program) {
    if let Some(what) = rules::broken(program) {
        panic!("{name}: {what}");
    }
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

pub(crate) fn random_scalars(random: &mut fastrand::Rng, count: usize) -> Vec<f32> {
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

pub(crate) fn scalars_of(variables: &[Variable]) -> usize {
    variables
        .last()
        .map_or(0, |last| (last.first + last.scalars()) as usize)
}

/// What came of a comparison: numbers compared, and those whose bound was no bound.
#[derive(Default)]
pub(crate) struct Tally {
    pub compared: u32,
    /// Of those, the ones whose bound is less than a tenth.
    pub tight: u32,
    pub unsure: u32,
}

impl Tally {
    pub(crate) fn compare(&mut self, what: &str, have: f32, want: Bounded) {
        if !want.error.is_finite() || !want.value.is_finite() {
            self.unsure += 1;
            return;
        }
        self.compared += 1;
        self.tight += u32::from(want.error < 0.1);
        assert!(
            (have - want.value).abs() <= want.error,
            "{what}: {have} where {} is wanted, within {}",
            want.value,
            want.error
        );
    }
}

/// The colours of four fragments.
pub(crate) fn fragment_colors(compiled: &Compiled, uniforms: &[f32], planes: &[Plane]) -> [Option<[f32; 4]>; 4] {
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
        uniforms: &floats,
        orientation: Orientation {
            x: 0.5,
            y: 63.5,
            flip: true,
            flip_derivative: true,
        },
        ..FragmentContext::new(&program)
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

pub(crate) fn fragment(name: &str, compiled: &Compiled, seed: u64, tally: &mut Tally) {
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
            (None, None) => {
                tally.compared += 1;
                tally.tight += 1;
            }
            (None, Some(want)) if want.values().any(|bounded| bounded.error.is_finite()) => {
                panic!("{name}: fragment {lane} is discarded");
            }
            (Some(_), None) => panic!("{name}: fragment {lane} is not discarded"),
            _ => tally.unsure += 1,
        }
    }
}

/// What the vertices of a test see of the window: scale and offset.
pub(crate) const VIEWPORT: [f32; 8] = [32.0, -24.0, 0.5, 0.0, 32.0, 24.0, 0.5, 0.0];

/// The outputs of a vertex.
pub(crate) fn vertex_outputs(name: &str, compiled: &Compiled, uniforms: &[f32], attributes: &[f32]) -> Vec<[f32; 4]> {
    let interface = &compiled.shader.interface;
    let symbols = compiled.program.uniforms.as_deref().unwrap_or_default();
    let mut floats = vec![0.0; compiled.program.uniform_space.next_multiple_of(4) as usize];
    for symbol in symbols.iter().filter(|symbol| symbol.is_used()) {
        let at = usize::from(symbol.offset);
        let mut put = |values: &[f32]| floats[at..at + values.len()].copy_from_slice(values);
        match symbol.name.as_slice() {
            b"gl_mali_ViewportTransform" => put(&VIEWPORT),
            b"gl_mali_PointSizeParameters" => put(&[1.0, 100.0, 1.0, 0.0]),
            _ => {
                if let Some(initial) = &symbol.initial {
                    put(&initial.iter().map(|bits| f32::from_bits(*bits)).collect::<Vec<_>>());
                }
            }
        }
    }
    uniform_values(compiled, uniforms, &mut floats);
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
    let mut rows = VertexRows::of(&streams, 16, 16);
    let mut batch = VertexBatch {
        program: &program,
        uniforms: &memory,
        vertices: 1,
        rows: &mut rows,
        instructions: 0,
    };
    Scalar.vertices(&mut batch).unwrap_or_else(|fault| {
        panic!("{name}: {fault:?}");
    });
    rows.outputs_of(0).collect()
}

/// The outputs of a vertex by the compiler's own form, with their bounds; `None` if it does not end, or has none.
pub(crate) fn vertex_bounds(
    compiled: &Compiled,
    uniforms: &[f32],
    attributes: &[f32],
) -> Option<HashMap<Output, Bounded>> {
    let input = |_: usize, input: Scalars| match input {
        Scalars::Attribute(slot) => attributes[slot as usize],
        _ => 0.0,
    };
    let given = Given {
        uniforms,
        input: &input,
        sampler: &|_, _, _, _| [[0.0; 4]; 4],
        rounding: SINGLE,
        budget: 100_000,
    };
    let [outputs, ..] = interp::run(&compiled.shader.function, &given)?;
    outputs
}

pub(crate) fn vertex(name: &str, compiled: &Compiled, seed: u64, tally: &mut Tally) {
    let mut random = fastrand::Rng::with_seed(seed);
    let interface = &compiled.shader.interface;
    let uniforms = random_scalars(&mut random, scalars_of(&interface.uniforms));
    let attributes = random_scalars(&mut random, scalars_of(&interface.attributes));
    let outputs = vertex_outputs(name, compiled, &uniforms, &attributes);
    let Some(wanted) = vertex_bounds(compiled, &uniforms, &attributes) else {
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
    position(name, &wanted, &VIEWPORT, &outputs[0], tally);
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

pub(crate) fn check(name: &str, text: &str, stage: Stage, tally: &mut Tally) -> Compiled {
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
