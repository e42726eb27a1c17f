//! The fast engine gives what the plain one gives, bit for bit, for random programs and data; both survive programs
//! that make no sense.

use emulator::exec::inputs::{Inputs, Plane};
use emulator::exec::native::Native;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use emulator::exec::{
    Engine, FragmentContext, FragmentProgram, Fragments, Orientation, Quad, VertexBatch, VertexProgram,
};
use emulator::gpu::memory::Memory;
use emulator::gpu::texture::{Descriptor, Texture};
use emulator::simd::Level;
use fastrand::Rng;
use utgard::{gp, pp};

fn engines() -> [Box<dyn Engine>; 5] {
    [
        Box::new(Wide::default()),
        Box::new(Wide::at_most(Level::Avx2)),
        Box::new(Wide::at_most(Level::Portable)),
        Box::new(Native::default()),
        Box::new(Native::at_most(Level::Avx2)),
    ]
}

/// Numbers as bits; which NaN it is does not count.
fn bits(values: &[f32]) -> Vec<u32> {
    values
        .iter()
        .map(|value| {
            if value.is_nan() {
                f32::NAN.to_bits()
            } else {
                value.to_bits()
            }
        })
        .collect()
}

fn number(random: &mut Rng) -> f32 {
    match random.u32(..12) {
        0 => random.choice([0.0, -0.0, 1.0, -1.0, 0.5, 2.0]).unwrap(),
        1 => (random.f32() * 2.0 - 1.0) * 1e5,
        _ => (random.f32() * 2.0 - 1.0) * 4.0,
    }
}

fn vec4s(random: &mut Rng, count: usize) -> Vec<[f32; 4]> {
    (0..count).map(|_| std::array::from_fn(|_| number(random))).collect()
}

#[test]
fn vertices_agree() {
    let mut random = Rng::with_seed(11);
    let mut compared = 0;
    for round in 0..600 {
        let length = 1 + random.u32(..24) as usize;
        let mut instructions = gp::random::program(&mut random, length);
        // Programs without addresses take the fast way.
        if round % 4 != 0 {
            for i in &mut instructions {
                i.load_offset = gp::LoadOffset::Nothing;
                i.store0_temporary = false;
                if i.complex_op.row().addresses {
                    i.complex_op = gp::ComplexOp::Mov;
                }
            }
        }
        let program = VertexProgram::new(instructions);
        let (uniforms, count) = (vec4s(&mut random, 304), 1 + random.u32(..300) as usize);
        let attributes = vec4s(&mut random, count * 3);
        let run = |engine: &dyn Engine| {
            let mut outputs = vec![[0.0; 4]; count * 5];
            let result = engine.vertices(&mut VertexBatch {
                program: &program,
                uniforms: &uniforms,
                attribute_count: 3,
                attributes: &attributes,
                output_count: 5,
                outputs: &mut outputs,
                instructions: 0,
            });
            (result, bits(outputs.as_flattened()))
        };
        let want = run(&Scalar);
        for engine in engines() {
            let have = run(&*engine);
            assert_eq!(have.0, want.0, "{}", engine.name());
            let words: Vec<[u32; 4]> = program.instructions.iter().map(gp::Instruction::encode).collect();
            if let Some(at) = (0..have.1.len()).find(|at| have.1[*at] != want.1[*at]) {
                let [have, want] = [have.1[at], want.1[at]].map(f32::from_bits);
                let text = gp::disassemble(&words, gp::Options::default());
                panic!(
                    "{}: vertex {}, v{}.{}: {have} is not {want}
{text}",
                    engine.name(),
                    at / 20,
                    at % 20 / 4,
                    at % 4
                );
            }
        }
        compared += usize::from(want.0.is_ok()) * count;
    }
    println!("{compared} random vertices are the same from six engines");
    assert!(compared > 50_000);
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

/// Some memory with three textures in it.
fn textures(memory: &mut Memory, random: &mut Rng) -> Vec<Descriptor> {
    memory.map(0x1_0000, 0x10_0000).unwrap();
    let noise: Vec<u8> = (0..0x10_0000).map(|_| random.u32(..) as u8).collect();
    memory.write(0x1_0000, &noise).unwrap();
    let one = |format: u8, size: u32, cube: bool, random: &mut Rng| {
        let mut words = [0u32; 16];
        let mut put = |at: u32, width: u32, value: u32| {
            for bit in (0..width).filter(|bit| value >> bit & 1 == 1) {
                words[((at + bit) / 32) as usize] |= 1 << ((at + bit) % 32);
            }
        };
        put(0, 6, format.into());
        put(41, 1, cube.into());
        put(42, 2, if cube { 2 } else { 1 });
        put(52, 8, 4 << 4);
        put(73, 2, random.choice([0, 3]).unwrap());
        put(75, 2, random.u32(..4));
        put(77, 9, random.u32(..));
        put(86, 13, size);
        put(99, 13, size);
        put(112, 13, 1);
        put(6 * 32 + 13, 2, 3);
        (0..8).for_each(|level| put(222 + 26 * level, 26, (0x1_0000 + 0x1000 * level) >> 6));
        Descriptor::parse(&words)
    };
    vec![
        one(0x16, 32, false, random),
        one(0x0e, 20, false, random),
        one(0x16, 16, true, random),
    ]
}

const ORIENTATION: Orientation = Orientation {
    x: 0.5,
    y: 63.5,
    flip: true,
    flip_derivative: true,
};

#[test]
fn fragments_agree() {
    let mut random = Rng::with_seed(12);
    let mut memory = Memory::default();
    let descriptors = textures(&mut memory, &mut random);
    let textures: Vec<Texture<'_>> = descriptors
        .into_iter()
        .map(|d| Texture::new(&memory, d).unwrap())
        .collect();
    let (mut compared, mut gone) = (0, 0);
    for _ in 0..1_500 {
        let words = pp::random::program(&mut random, 1 + (compared % 16));
        let program = FragmentProgram::read(&words).unwrap();
        let uniforms: Vec<f32> = (0..64).map(|_| number(&mut random)).collect();
        let inputs = inputs(&mut random);
        let quads: Vec<Quad> = (0..1 + random.u32(..64))
            .map(|at| Quad {
                x: 2 * (at % 8),
                y: 2 * (at / 8),
                live: 1 + random.u32(..15) as u8,
            })
            .collect();
        let tile = |x: u32, y: u32| ([x as f32 / 16.0, y as f32 / 16.0, 0.25, 1.0], 0.5);
        let context = FragmentContext {
            program: &program,
            uniforms: &uniforms,
            textures: &textures,
            color_register: random.u32(..6) as usize,
            second_register: (random.u32(..4) == 0).then_some(2),
            depth_register: (random.u32(..4) == 0).then_some(1),
            orientation: ORIENTATION,
            tile: Some(&tile),
            wants_words: false,
        };
        let run = |engine: &dyn Engine| {
            let mut out = Box::<Fragments>::default();
            let result = engine.fragments(&context, &inputs, &quads, &mut out);
            let count = 4 * quads.len();
            let rows: Vec<Vec<u32>> = out
                .color
                .iter()
                .chain(&out.second)
                .chain([&out.depth])
                .map(|row| bits(&row[..count]))
                .collect();
            (result, rows, out.live)
        };
        let want = run(&Scalar);
        for engine in engines() {
            let have = run(&*engine);
            let text = || pp::disassemble(&words, pp::Options::default());
            assert_eq!(have.0, want.0, "{}\n{}", engine.name(), text());
            assert_eq!(have.2, want.2, "{}\n{}", engine.name(), text());
            for (channel, (have, want)) in have.1.iter().zip(&want.1).enumerate() {
                if let Some(at) = (0..have.len()).find(|at| have[*at] != want[*at]) {
                    let [have, want] = [have[at], want[at]].map(f32::from_bits);
                    panic!(
                        "{}: channel {channel}, fragment {at}: {have} is not {want}\n{}",
                        engine.name(),
                        text()
                    );
                }
            }
        }
        compared += 4 * quads.len();
        gone += quads
            .iter()
            .zip(want.2)
            .filter(|(quad, live)| quad.live != *live)
            .count();
    }
    println!("{compared} random fragments are the same from six engines; {gone} quads lost some");
    assert!(compared > 100_000 && gone > 100);
}

/// One program, two frames: what a fragment gets of its place and of derivatives is the frame's.
#[test]
fn a_program_meets_another_orientation() {
    let text = "load.v $0 gl_FragCoord\ndFdy.v1 $2 -$0 $0, sync\nmov.v1 $1 $0, stop";
    let words = pp::assemble(text).unwrap_or_else(|error| panic!("{error}"));
    let program = FragmentProgram::read(&words).unwrap();
    let quads = [Quad { x: 4, y: 6, live: 15 }];
    let mut pictures = Vec::new();
    for flip in [false, true, false, true] {
        let orientation = Orientation {
            y: if flip { 63.5 } else { 0.5 },
            flip,
            flip_derivative: flip,
            ..ORIENTATION
        };
        let context = FragmentContext {
            program: &program,
            uniforms: &[],
            textures: &[],
            color_register: 0,
            second_register: Some(2),
            depth_register: None,
            orientation,
            tile: None,
            wants_words: false,
        };
        let run = |engine: &dyn Engine| {
            let mut out = Box::<Fragments>::default();
            engine
                .fragments(&context, &Inputs::default(), &quads, &mut out)
                .unwrap();
            [out.color, out.second].map(|rows| rows.map(|row| bits(&row[..4])))
        };
        let want = run(&Scalar);
        for engine in engines() {
            assert_eq!(run(&*engine), want, "{}, flipped: {flip}", engine.name());
        }
        pictures.push(want);
    }
    assert_ne!(pictures[0], pictures[1], "orientation does not show in this program");
}

#[test]
fn words_that_make_no_sense_end_in_a_fault_or_not_at_all() {
    let mut random = Rng::with_seed(13);
    let (inputs, mut faults) = (Inputs::default(), 0);
    let quads = [Quad { x: 0, y: 0, live: 15 }];
    for _ in 0..3_000 {
        // Broken control words would be all there is: lengths are made right.
        let mut words = Vec::new();
        for _ in 0..1 + random.u32(..5) {
            let units = random.u32(..) & 0xfff;
            let length = pp::words_of_units(units);
            words.push(random.u32(..) & !0x7_ffbf | units << 7 | length | u32::from(random.u32(..4) == 0) << 5);
            words.extend((1..length).map(|_| random.u32(..)));
        }
        let Ok(program) = FragmentProgram::read(&words) else {
            continue;
        };
        let context = FragmentContext {
            program: &program,
            uniforms: &[1.0, 2.0],
            textures: &[],
            color_register: 15,
            second_register: None,
            depth_register: Some(15),
            orientation: ORIENTATION,
            tile: None,
            wants_words: false,
        };
        for engine in [&Scalar as &dyn Engine, &Wide::default(), &Native::default()] {
            faults += usize::from(
                engine
                    .fragments(&context, &inputs, &quads, &mut Box::default())
                    .is_err(),
            );
        }
        let instructions = (0..8)
            .map(|_| gp::Instruction::decode(std::array::from_fn(|_| random.u32(..))))
            .collect();
        let program = VertexProgram::new(instructions);
        for engine in [&Scalar as &dyn Engine, &Wide::default(), &Native::default()] {
            let result = engine.vertices(&mut VertexBatch {
                program: &program,
                uniforms: &[[1.0; 4]],
                attribute_count: 1,
                attributes: &[[1.0; 4]],
                output_count: 1,
                outputs: &mut [[0.0; 4]],
                instructions: 0,
            });
            faults += usize::from(result.is_err());
        }
    }
    println!("{faults} faults");
    assert!(faults > 1_000);
}

#[test]
fn loops_without_end_are_stopped() {
    let words = pp::assemble("again: mov.v1 $0 $1, branch again\n mov.v1 $0 $1, stop").unwrap();
    let program = FragmentProgram::read(&words).unwrap();
    let context = FragmentContext {
        program: &program,
        uniforms: &[],
        textures: &[],
        color_register: 0,
        second_register: None,
        depth_register: None,
        orientation: ORIENTATION,
        tile: None,
        wants_words: false,
    };
    let quads = [Quad { x: 0, y: 0, live: 15 }];
    let vertex = gp::assemble("again: mov.p _ t[0].x, branch again").unwrap();
    let vertex = VertexProgram::new(vertex.into_iter().map(gp::Instruction::decode).collect());
    for engine in [&Scalar as &dyn Engine, &Wide::default(), &Native::default()] {
        let fault = engine
            .fragments(&context, &Inputs::default(), &quads, &mut Box::default())
            .unwrap_err();
        assert!(fault.to_string().contains("budget spent"), "{fault}");
        let fault = engine
            .vertices(&mut VertexBatch {
                program: &vertex,
                uniforms: &[[1.0; 4]],
                attribute_count: 1,
                attributes: &[[0.0; 4]],
                output_count: 1,
                outputs: &mut [[0.0; 4]],
                instructions: 0,
            })
            .unwrap_err();
        assert!(
            fault.to_string().contains("budget spent") && fault.pc == Some(0),
            "{fault}"
        );
    }
}
