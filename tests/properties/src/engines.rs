//! Every engine matches the scalar one, bit for bit, for any program and state.
//!
//! A case is a seed, which generates the state, and words, which are the program; without words the seed generates one.

use crate::programs::without_addresses;
use crate::{programs, words_of};
use emulator::exec::inputs::{Inputs, Plane};
use emulator::exec::native::Native;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use emulator::exec::{
    Engine, FragmentContext, FragmentProgram, Fragments, Orientation, Quad, VertexBatch, VertexProgram, VertexRows,
};
use emulator::memory::Memory;
use emulator::simd::Level;
use emulator::texture::{Descriptor, Texture};
use fastrand::Rng;
use std::sync::OnceLock;
use utgard::{gp, pp};

/// The engines that are compared with the scalar one.
pub fn others() -> [Box<dyn Engine>; 5] {
    [
        Box::<Wide>::default(),
        Box::new(Wide::at_most(Level::Avx2)),
        Box::new(Wide::at_most(Level::Portable)),
        Box::<Native>::default(),
        Box::new(Native::at_most(Level::Avx2)),
    ]
}

/// Numbers as bits, with one pattern for all NaNs.
pub fn bits(values: &[f32]) -> Vec<u32> {
    let one = |value: &f32| {
        if value.is_nan() {
            f32::NAN.to_bits()
        } else {
            value.to_bits()
        }
    };
    values.iter().map(one).collect()
}

fn number(random: &mut Rng) -> f32 {
    match random.u32(..16) {
        0 => random.choice([0.0, -0.0, 1.0, -1.0, 0.5, 2.0]).unwrap_or_default(),
        1 => (random.f32() * 2.0 - 1.0) * 1e5,
        2 => f32::from_bits(random.u32(..)),
        3 => random
            .choice([f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-40, -6e-8, 65_520.0])
            .unwrap_or_default(),
        _ => (random.f32() * 2.0 - 1.0) * 4.0,
    }
}

fn vec4s(random: &mut Rng, count: usize) -> Vec<[f32; 4]> {
    (0..count).map(|_| std::array::from_fn(|_| number(random))).collect()
}

/// The seed of an input, and the following words.
pub(crate) fn split(bytes: &[u8]) -> (Rng, Vec<u32>) {
    let (seed, rest) = bytes.split_at(bytes.len().min(8));
    let seed = seed.iter().fold(0, |seed, byte| seed << 8 | u64::from(*byte));
    (Rng::with_seed(seed), words_of(rest))
}

/// A vertex program has the same outputs and counts with every engine.
pub fn vertices(bytes: &[u8]) {
    let (mut random, words) = split(bytes);
    let program = match words.len() {
        0..4 => {
            let length = 1 + random.usize(..24);
            let mut program = if random.bool() {
                programs::vertex(&mut random, length)
            } else {
                gp::random::program(&mut random, length)
            };
            // Programs without addresses take the fast path.
            if random.u32(..4) != 0 {
                program.iter_mut().for_each(without_addresses);
            }
            program
        }
        _ => {
            let words = words.chunks_exact(4).take(64);
            words
                .map(|w| gp::Instruction::decode([w[0], w[1], w[2], w[3]]))
                .collect()
        }
    };
    compare_vertices(program, &mut random, 40);
}

/// Runs a program over at most `most` random vertices with every engine; returns the number of completed vertices.
pub fn compare_vertices(program: Vec<gp::Instruction>, random: &mut Rng, most: usize) -> usize {
    let program = VertexProgram::new(program);
    let (uniforms, count) = (vec4s(random, 304), 1 + random.usize(..most));
    let attributes = VertexRows::of(&vec4s(random, count * 3), 3, 5);
    let run = |engine: &dyn Engine| {
        let mut rows = attributes.clone();
        let mut batch = VertexBatch {
            program: &program,
            uniforms: &uniforms,
            vertices: count,
            rows: &mut rows,
            instructions: 0,
        };
        let result = engine.vertices(&mut batch);
        let instructions = batch.instructions;
        let outputs: Vec<[f32; 4]> = (0..count).flat_map(|vertex| rows.outputs_of(vertex)).collect();
        (result, instructions, bits(outputs.as_flattened()))
    };
    let want = run(&Scalar);
    for engine in others() {
        let have = run(engine.as_ref());
        let words: Vec<[u32; 4]> = program.instructions.iter().map(gp::Instruction::encode).collect();
        let text = || gp::disassemble(&words, gp::Options::default());
        assert_eq!(have.0, want.0, "{}\n{}", engine.name(), text());
        if want.0.is_err() {
            continue;
        }
        assert_eq!(have.1, want.1, "{}: instructions\n{}", engine.name(), text());
        if let Some(at) = (0..have.2.len()).find(|at| have.2[*at] != want.2[*at]) {
            let (vertex, output, component) = (at / 20, at % 20 / 4, at % 4);
            let [have, want] = [have.2[at], want.2[at]].map(f32::from_bits);
            let name = engine.name();
            panic!(
                "{name}: vertex {vertex}, v{output}.{component}: {have} is not {want}\n{}",
                text()
            );
        }
    }
    if want.0.is_ok() { count } else { 0 }
}

/// Inputs of a primitive, in perspective or not.
fn inputs(random: &mut Rng) -> Inputs {
    let mut plane = |scale: f32| Plane {
        base: number(random) * scale,
        dx: (random.f32() * 2.0 - 1.0) * 0.1 * scale,
        dy: (random.f32() * 2.0 - 1.0) * 0.1 * scale,
    };
    let varyings = std::array::from_fn(|_| std::array::from_fn(|_| plane(1.0)));
    let mut inputs = Inputs {
        varyings,
        z: plane(0.1),
        point: [plane(1.0), plane(1.0)],
        ..Inputs::default()
    };
    inputs.flat = random.bool();
    inputs.front = random.bool();
    if !inputs.flat {
        inputs.inverse_w = Plane {
            base: 0.5,
            dx: 0.01,
            dy: 0.002,
        };
    }
    inputs
}

/// Address of the textures.
const TEXELS: u32 = 0x1_0000;

/// Memory full of noise, for textures.
fn noise() -> &'static Memory {
    static MEMORY: OnceLock<Memory> = OnceLock::new();
    MEMORY.get_or_init(|| {
        let mut memory = Memory::default();
        memory.map(TEXELS, 0x10_0000).expect("room");
        let mut random = Rng::with_seed(1);
        let noise: Vec<u8> = (0..0x10_0000).map(|_| random.u8(..)).collect();
        memory.write(TEXELS, &noise).expect("memory");
        memory
    })
}

/// A descriptor of a square texture with random filters, wraps and bias.
fn texture(format: u32, size: u32, cube: bool, random: &mut Rng) -> Descriptor {
    let mut words = [0u32; 16];
    let mut put = |at: u32, width: u32, value: u32| {
        for bit in (0..width).filter(|bit| value >> bit & 1 == 1) {
            words[((at + bit) / 32) as usize] |= 1 << ((at + bit) % 32);
        }
    };
    put(0, 6, format);
    put(41, 1, cube.into());
    put(42, 2, if cube { 2 } else { 1 });
    put(52, 8, 4 << 4);
    put(73, 2, 3 * random.u32(..2));
    put(75, 2, random.u32(..4));
    put(77, 9, random.u32(..));
    put(86, 13, size);
    put(99, 13, size);
    put(112, 13, 1);
    put(6 * 32 + 13, 2, 3);
    (0..8).for_each(|level| put(222 + 26 * level, 26, (TEXELS + 0x1000 * level) >> 6));
    Descriptor::parse(&words)
}

/// A fragment program has the same colours, depths, survivors and counts with every engine.
pub fn fragments(bytes: &[u8]) {
    let (mut random, mut words) = split(bytes);
    if words.is_empty() {
        let length = 1 + random.usize(..16);
        words = if random.bool() {
            programs::fragment(&mut random, length).1
        } else {
            pp::random::program(&mut random, length)
        };
    }
    words.truncate(256);
    compare_fragments(&words, &mut random);
}

/// Runs a program over random quads with every engine; returns the fragments compared, and the quads that lost some.
pub fn compare_fragments(words: &[u32], random: &mut Rng) -> (usize, usize) {
    let Ok(program) = FragmentProgram::read(words) else {
        return (0, 0);
    };
    let descriptors = [
        texture(0x16, 32, false, random),
        texture(0x0e, 20, false, random),
        texture(0x16, 16, true, random),
    ];
    let textures = descriptors.map(|descriptor| Texture::new(noise(), descriptor).expect("a texture"));
    let uniforms: Vec<f32> = (0..64).map(|_| number(random)).collect();
    let inputs = inputs(random);
    let quads: Vec<Quad> = (0..1 + random.u32(..64))
        .map(|at| Quad {
            x: 2 * (at % 8),
            y: 2 * (at / 8),
            live: 1 + random.u8(..15),
        })
        .collect();
    let tile = |x: u32, y: u32| ([x as f32 / 16.0, y as f32 / 16.0, 0.25, 1.0], 0.5);
    let context = FragmentContext {
        uniforms: &uniforms,
        textures: &textures,
        color_register: random.usize(..6),
        second_register: (random.u32(..4) == 0).then_some(2),
        depth_register: (random.u32(..4) == 0).then_some(1),
        tile: Some(&tile),
        orientation: Orientation {
            x: 0.5,
            y: 63.5,
            flip: random.bool(),
            flip_derivative: random.bool(),
        },
        ..FragmentContext::new(&program)
    };
    let run = |engine: &dyn Engine| {
        let mut out = Box::<Fragments>::default();
        let result = engine.fragments(&context, &inputs, &quads, &mut out);
        let rows = out.color.iter().chain(&out.second).chain([&out.depth]);
        let rows: Vec<Vec<u32>> = rows.map(|row| bits(&row[..4 * quads.len()])).collect();
        (result, rows, out.live)
    };
    let want = run(&Scalar);
    let text = || pp::disassemble(words, pp::Options::default());
    for engine in others() {
        let (have, name) = (run(engine.as_ref()), engine.name());
        assert_eq!(have.0, want.0, "{name}\n{}", text());
        if want.0.is_err() {
            continue;
        }
        assert_eq!(have.2, want.2, "{name}: survivors\n{}", text());
        for (channel, (have, want)) in have.1.iter().zip(&want.1).enumerate() {
            if let Some(at) = (0..have.len()).find(|at| have[*at] != want[*at]) {
                let [have, want] = [have[at], want[at]].map(f32::from_bits);
                panic!(
                    "{name}: channel {channel}, fragment {at}: {have} is not {want}\n{}",
                    text()
                );
            }
        }
    }
    let gone = quads
        .iter()
        .zip(want.2)
        .filter(|(quad, live)| quad.live != *live)
        .count();
    (4 * quads.len(), gone)
}
