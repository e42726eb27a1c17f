//! The native engine beside the scalar one on random programs and states.

use crate::blend::{Blending, Factor};
use crate::exec::inputs::Plane;
use crate::exec::native::*;
use crate::exec::scalar::Scalar;
use crate::exec::{FragmentProgram, Orientation, Quads, VertexProgram, VertexRows};
use crate::memory::Memory;
use crate::texture::{Descriptor, Texture};
use fastrand::Rng;
use utgard::state::{Compare, Equation, FactorSource};
use utgard::texture::{self as fields, Dimension, MipFilter, TexelFormat, TexelLayout, Wrap};
use utgard::{gp, pp};

/// Numbers as bits; which NaN it is does not count.
pub(crate) fn bits(values: &[f32]) -> Vec<u32> {
    let one = |value: &f32| if value.is_nan() { f32::NAN } else { *value }.to_bits();
    values.iter().map(one).collect()
}

/// One of some values.
fn choice<T: Copy>(random: &mut Rng, of: &[T]) -> T {
    of[random.usize(..of.len())]
}

/// From -1 to 1.
fn signed(random: &mut Rng) -> f32 {
    random.f32() * 2.0 - 1.0
}

fn number(random: &mut Rng) -> f32 {
    match random.u32(..24) {
        0..3 => choice(random, &[0.0, -0.0, 1.0, -1.0, 0.5, 2.0]),
        3 => choice(
            random,
            &[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 65504.0, 1e-40, 3e-8],
        ),
        4 => f32::from_bits(random.u32(..)),
        5 => signed(random) * 1e5,
        6 => signed(random) * 1e-4,
        _ => signed(random) * 4.0,
    }
}

fn inputs(random: &mut Rng) -> Inputs {
    let mut plane = |scale: f32| Plane {
        base: number(random) * scale,
        dx: signed(random) * 0.1 * scale,
        dy: signed(random) * 0.1 * scale,
    };
    let mut inputs = Inputs {
        varyings: std::array::from_fn(|_| std::array::from_fn(|_| plane(1.0))),
        z: plane(0.1),
        point: [plane(1.0), plane(1.0)],
        origin: [3.25, -7.5],
        ..Inputs::default()
    };
    (inputs.flat, inputs.front) = (random.bool(), random.bool());
    if !inputs.flat {
        (inputs.inverse_w.base, inputs.inverse_w.dx, inputs.inverse_w.dy) = (0.5, 0.01, 0.002);
    }
    inputs
}

/// Varyings that halves are too coarse for, or too small, one primitive of four has; another one colours, which hardly change.
fn scaled(mut inputs: Inputs, random: &mut Rng) -> Inputs {
    let scale = choice(random, &[1.0, 1.0, 1.0, 1.0, 6e-5, 2e5, 0.0, 0.0]);
    if scale == 0.0 {
        for plane in inputs.varyings.as_flattened_mut() {
            plane.base = random.f32();
            (plane.dx, plane.dy) = (signed(random) * 1e-3, signed(random) * 1e-3);
        }
        return inputs;
    }
    for plane in inputs.varyings.as_flattened_mut() {
        plane.base *= scale;
        plane.dx *= scale;
        plane.dy *= scale;
    }
    inputs
}

/// Memory with texels in it.
pub(crate) fn noise(memory: &mut Memory, random: &mut Rng) {
    memory.map(0x1_0000, 0x10_0000).unwrap();
    let noise: Vec<u8> = (0..0x10_0000).map(|_| random.u32(..) as u8).collect();
    memory.write(0x1_0000, &noise).unwrap();
}

/// A texture in that memory, of any filters.
pub(crate) fn texture(
    random: &mut Rng,
    format: TexelFormat,
    [width, height]: [u16; 2],
    levels: u8,
    cube: bool,
    [wrap_s, wrap_t, wrap_r]: [Wrap; 3],
) -> Descriptor {
    let mip_filter = choice(random, &[MipFilter::Nearest, MipFilter::Linear]);
    let nearest = choice(random, &[false, true]);
    // Where the texture is made larger.
    let other = nearest ^ (!cube && random.u32(..3) == 0);
    let head = fields::Descriptor {
        format,
        cube,
        dimension: if cube { Dimension::Three } else { Dimension::Two },
        max_lod: levels << 4,
        mip_filter,
        min_nearest: nearest,
        mag_nearest: other,
        wrap_s,
        wrap_t,
        wrap_r,
        width,
        height,
        depth: 1,
        layout: TexelLayout::Tiled,
        ..fields::Descriptor::default()
    };
    let mut words = head.to_words().to_vec();
    words.resize(16, 0);
    (0..8).for_each(|level| fields::set_level(&mut words, level, 0x1_0000 + 0x1000 * level as u32));
    Descriptor::parse(&words)
}

/// Textures of every short way, and some of the long one.
fn textures(memory: &mut Memory, random: &mut Rng) -> Vec<Descriptor> {
    noise(memory, random);
    let mut one = |format, size, levels, cube, wrap| texture(random, format, size, levels, cube, wrap);
    let (repeat, clamp, mirror) = (Wrap::Repeat, Wrap::Clamp, Wrap::Mirror);
    vec![
        one(TexelFormat::Rgba8888, [32, 20], 0, false, [repeat; 3]),
        one(TexelFormat::L8, [17, 64], 0, false, [clamp, mirror, repeat]),
        one(TexelFormat::Rgba8888, [16, 16], 4, true, [repeat; 3]),
        one(TexelFormat::Bgr565, [20, 20], 4, false, [clamp, repeat, clamp]),
        one(TexelFormat::Bgra4444, [9, 32], 0, false, [repeat, clamp, clamp]),
        one(
            TexelFormat::Rgba8888,
            [32, 19],
            5,
            false,
            [Wrap::MirrorOnceClamp, clamp, clamp],
        ),
        one(TexelFormat::Rgba8888, [16, 16], 4, true, [repeat; 3]),
    ]
}

fn blending(random: &mut Rng) -> Blending {
    let mut factor = || Factor {
        source: choice(random, FactorSource::ALL),
        complement: random.bool(),
        alpha: random.bool(),
    };
    let (color, alpha) = ([factor(), factor()], [factor(), factor()]);
    Blending {
        constant: [0.25, 0.5, 1.0, 0.75],
        equations: [choice(random, Equation::ALL), choice(random, Equation::ALL)],
        color,
        alpha,
        write_mask: random.u32(..16),
        alpha_test: random.bool().then(|| (choice(random, &Compare::ALL), random.u8(..))),
    }
}

/// What is not there any more has no word.
fn of_live(mut words: Vec<u32>, live: &[u8]) -> Vec<u32> {
    for (at, word) in words.iter_mut().enumerate() {
        if live[at / 4] >> (at % 4) & 1 == 0 {
            *word = 0;
        }
    }
    words
}

/// What an engine makes of a batch: outcome, rows, live ones, instructions.
type Outcome = (Result<()>, Vec<Vec<u32>>, Vec<u8>, u64);

fn outcome(engine: &dyn Engine, context: &FragmentContext<'_>, inputs: &Inputs, quads: &[Quad]) -> Outcome {
    let mut out = Box::<Fragments>::default();
    for (number, word) in (0..).zip(&mut out.destination) {
        *word = 0x9e37_79b9u32.wrapping_mul(number + 1);
    }
    let result = engine.fragments(context, inputs, quads, &mut out);
    let count = 4 * quads.len();
    let rows = if result.is_err() {
        Vec::new()
    } else if context.wants_words {
        let word = |at: usize| {
            if out.has_words {
                out.words[at]
            } else {
                context.word(out.color.each_ref().map(|row| row[at]), out.destination[at])
            }
        };
        let alphas = bits(&out.color[3][..if context.wants_alpha { count } else { 0 }]);
        let words = (0..count).map(word).collect();
        vec![of_live(words, &out.live), of_live(alphas, &out.live)]
    } else {
        let rows = out.color.iter().chain(&out.second).chain([&out.depth]);
        rows.map(|row| bits(&row[..count])).collect()
    };
    (result, rows, out.live[..quads.len()].to_vec(), out.instructions)
}

/// What a kernel makes of a batch, where there is one and it does not leave the batch to others: words, instructions, and
/// whether the program has turns.
fn painted(
    engine: &Native,
    context: &FragmentContext<'_>,
    inputs: &Inputs,
    quads: &[Quad],
    whole: bool,
) -> Option<(Vec<Vec<u32>>, u64, bool)> {
    let kernel = engine.kernel(context, inputs.flat)?;
    let mut out = Box::<Fragments>::default();
    for (number, word) in (0..).zip(&mut out.words) {
        *word = 0x9e37_79b9u32.wrapping_mul(number + 1);
    }
    let what = match quads.first().filter(|_| whole) {
        Some(first) => Quads::Tile([first.x, first.y]),
        None => Quads::Some(quads),
    };
    let mut over = out.words;
    let ran = kernel.paint(context, inputs, what, &mut out);
    let done = ran.is_some();
    assert!(
        ran.is_none_or(
            |ran| ran == kernel.instruction_count() || kernel.has_turns() && ran < kernel.instruction_count()
        )
    );
    let count = 4 * quads.len();
    let alphas = bits(&out.color[3][..if context.wants_alpha { count } else { 0 }]);
    assert!(done || !kernel.is_infallible());
    if let Quads::Tile(first) = what
        && !context.wants_alpha
    {
        // And tiles in front of it and behind it, as they would be by themselves.
        let mut beside = [over; 6];
        let [column, row] = first;
        for (number, tile) in beside.iter_mut().enumerate().filter(|(number, _)| *number != 2) {
            let first = [column + 16 * number as u32 - 32, row];
            kernel.shade_in_place(context, inputs, first, std::slice::from_mut(tile));
        }
        let mut all = [over; 6];
        let all_done = kernel
            .shade_in_place(context, inputs, [column - 32, row], &mut all)
            .is_some();
        let over_ran = kernel.shade_in_place(context, inputs, first, std::slice::from_mut(&mut over));
        assert_eq!(over_ran, ran);
        assert!(!done || over == out.words, "in place");
        beside[2] = over;
        assert!(!all_done || all == beside, "tiles beside each other");
        assert!(all_done || !kernel.is_infallible());
    }
    ran.map(|ran| {
        let words = vec![out.words[..count].to_vec(), alphas];
        (words, count as u64 * u64::from(ran), kernel.has_turns())
    })
}

/// Makes a program, which has a number.
type Make = dyn Fn(&mut Rng, u32) -> Vec<u32>;

/// Programs of all there is.
fn anything(random: &mut Rng, number: u32) -> Vec<u32> {
    pp::random::program(random, 1 + number as usize % 16)
}

/// Programs of products and sums alone, of what registers got before, in every register.
fn sums(random: &mut Rng, _: u32) -> Vec<u32> {
    let mut text = "load.v $0 0\n".to_owned();
    for register in 1..12 {
        let mut before = || random.u32(..register);
        let (a, b) = (before(), before());
        let c = signed(random);
        text += &format!("mul.v0 ${a} ${b}, add.v1 ${register} ^v0 ^const0, const0 {c} {c} 0 {c}\n");
    }
    pp::assemble(&(text + "stop\n")).unwrap()
}

/// Programs of random words in random states: the outcome of both engines, to the bit. How many fragments were compared, how
/// many of them were drawn at once, and how many of these along one way through a program that branches.
fn lockstep(seed: u64, (programs, states): (u32, u32), limit: Level, make: &Make) -> ([usize; 3], String) {
    let mut random = Rng::with_seed(seed);
    let mut scales = Rng::with_seed(!seed);
    let mut memory = Memory::default();
    let descriptors = textures(&mut memory, &mut random);
    let textures: Vec<Texture<'_>> = descriptors
        .into_iter()
        .map(|descriptor| Texture::new(&memory, descriptor).unwrap())
        .collect();
    let engine = Native::at_most(limit);
    let [mut compared, mut at_once, mut turned] = [0; 3];
    for number_of in 0..programs {
        let words = make(&mut random, number_of);
        let program = FragmentProgram::read(&words).unwrap();
        for _ in 0..states {
            let uniforms: Vec<f32> = (0..random.u32(..65)).map(|_| number(&mut random)).collect();
            let inputs = scaled(inputs(&mut random), &mut scales);
            let whole = random.bool();
            let quads: Vec<Quad> = (0..if whole { 64 } else { 1 + random.u32(..64) })
                .map(|at| Quad {
                    x: 32 + 2 * (at % 8),
                    y: 16 + 2 * (at / 8),
                    live: if whole { 15 } else { 1 + random.u32(..15) as u8 },
                })
                .collect();
            let wants_words = random.bool();
            let blending = Some(blending(&mut random)).filter(|_| wants_words && random.bool());
            let tile = |x: u32, y: u32| ([x as f32 / 16.0, y as f32 / 16.0, 0.25, 1.0], 0.5);
            let context = FragmentContext {
                uniforms: &uniforms,
                textures: &textures[random.usize(..textures.len())..],
                color_register: random.u32(..16) as usize,
                second_register: (random.u32(..4) == 0).then_some(2),
                depth_register: (random.u32(..4) == 0).then_some(1),
                orientation: Orientation {
                    x: 0.5,
                    y: 63.5,
                    flip: random.bool(),
                    flip_derivative: random.bool(),
                },
                tile: Some(&tile),
                wants_words,
                wants_alpha: wants_words && random.bool(),
                blending: blending.as_ref(),
                ..FragmentContext::new(&program)
            };
            let want = outcome(&Scalar, &context, &inputs, &quads);
            let have = outcome(&engine, &context, &inputs, &quads);
            let text = || {
                let words = if context.wants_words { "words" } else { "floats" };
                format!(
                    "seed {seed}, program {number_of}, {words}\n{}",
                    pp::disassemble(&words_of(&program), pp::Options::default())
                )
            };
            assert_eq!((&have.0, &have.2, have.3), (&want.0, &want.2, want.3), "{}", text());
            for (row, (have, want)) in have.1.iter().zip(&want.1).enumerate() {
                if let Some(at) = (0..have.len()).find(|at| have[*at] != want[*at]) {
                    panic!(
                        "row {row}, fragment {at}: {:#x} is not {:#x}\n{}",
                        have[at],
                        want[at],
                        text()
                    );
                }
            }
            compared += 4 * quads.len();
            if let Some((words, ran, has_turns)) = painted(&engine, &context, &inputs, &quads, whole) {
                assert!(context.wants_words && want.0.is_ok(), "{}", text());
                let words: Vec<Vec<u32>> = words.into_iter().map(|row| of_live(row, &want.2)).collect();
                assert_eq!((&words, ran), (&want.1, want.3), "at once: {}", text());
                at_once += words[0].len();
                turned += words[0].len() * usize::from(has_turns);
            }
        }
    }
    let report = format!("{}: {}", engine.name(), engine.report().unwrap_or_default());
    ([compared, at_once, turned], report)
}

fn words_of(program: &FragmentProgram) -> Vec<u32> {
    program.words.clone()
}

fn programs() -> u32 {
    std::env::var("NATIVE_PROGRAMS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(3_000)
}

fn seed() -> u64 {
    std::env::var("NATIVE_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(41)
}

/// What may be used here, the best first.
pub(crate) fn levels() -> Vec<Level> {
    let mut levels = [Level::Avx512, Level::Avx2]
        .map(|limit| Found::at_most(limit).level())
        .to_vec();
    levels.dedup();
    levels
}

#[test]
fn random_programs_are_the_same_in_machine_code() {
    for limit in levels() {
        let ([compared, at_once, turned], report) = lockstep(seed(), (programs(), 3), limit, &anything);
        println!(
            "{compared} fragments are scalar's to the bit, {at_once} at once, {turned} of them with branches: {report}"
        );
        assert!(compared > 100 * programs() as usize);
        // Without machine code nothing draws at once.
        let has_code = Native::at_most(limit).isa.is_some();
        assert_eq!(at_once > programs() as usize, has_code, "{at_once}");
    }
}

#[test]
fn failed_speculation_changes_nothing() {
    for limit in levels() {
        let ([.., at_once, _], report) = lockstep(seed(), (programs() / 20, 24), limit, &sums);
        println!("{at_once} fragments are scalar's to the bit at once: {report}");
        let has_code = Native::at_most(limit).isa.is_some();
        assert_eq!(at_once > 0, has_code, "{at_once}");
    }
}

/// The short way to the byte of a half is the long one, denormals included; so is the way back.
#[test]
fn bytes_of_halves_need_no_conversion() {
    for half in (0..=0x3c00).map(num::half::to_f32) {
        let byte = half.mul_add(255.0, (1 << 23) as f32).to_bits() & 0xff;
        assert_eq!(byte, u32::from(crate::exec::unorm(half, 255.0)), "{half}");
    }
    for byte in (0u8..=255).map(f32::from) {
        let exact = byte / 256.0;
        assert_eq!(exact.mul_add(1.0 / 255.0, exact), byte / 255.0, "{byte}");
    }
}

/// What an engine makes of vertices: outcome, outputs, instructions.
fn vertices(
    engine: &dyn Engine,
    program: &VertexProgram,
    uniforms: &[[f32; 4]],
    attributes: &VertexRows,
    count: usize,
) -> (Result<()>, Vec<u32>, u64) {
    let mut rows = attributes.clone();
    let mut batch = VertexBatch {
        program,
        uniforms,
        vertices: count,
        rows: &mut rows,
        instructions: 0,
    };
    let result = engine.vertices(&mut batch);
    let instructions = batch.instructions;
    let values: Vec<f32> = (0..count)
        .flat_map(|vertex| rows.outputs_of(vertex))
        .flatten()
        .collect();
    (result, bits(&values), instructions)
}

#[test]
fn random_vertex_programs_are_the_same_in_machine_code() {
    let mut random = Rng::with_seed(seed());
    for level in levels() {
        let engine = Native::at_most(level);
        let mut compared = 0;
        for number_of in 0..programs() / 2 {
            let mut program = gp::random::program(&mut random, 1 + number_of as usize % 24);
            for instruction in &mut program {
                // Programs with addresses are the wide engine's.
                instruction.load_offset = gp::LoadOffset::Nothing;
                instruction.store0_temporary = false;
                if instruction.complex_op.row().addresses {
                    instruction.complex_op = gp::ComplexOp::Mov;
                }
            }
            let words: Vec<[u32; 4]> = program.iter().map(gp::Instruction::encode).collect();
            let program = VertexProgram::new(program);
            let mut vec4s = |count| -> Vec<[f32; 4]> {
                let one = |_| std::array::from_fn(|_| number(&mut random));
                (0..count).map(one).collect()
            };
            let (uniforms, attributes) = (vec4s(304), vec4s(3 * 128));
            let count = 1 + random.usize(..128);
            let attributes = VertexRows::of(&attributes, 3, 5);
            let want = vertices(&Scalar, &program, &uniforms, &attributes, count);
            let have = vertices(&engine, &program, &uniforms, &attributes, count);
            let text = || gp::disassemble(&words, gp::Options::default());
            assert_eq!(have.0, want.0, "program {number_of}\n{}", text());
            if want.0.is_ok() {
                assert_eq!((have.1, have.2), (want.1, want.2), "program {number_of}\n{}", text());
                compared += count;
            }
        }
        let (name, report) = (engine.name(), engine.report().unwrap_or_default());
        println!("{compared} vertices are scalar's to the bit: {name}: {report}");
        assert!(compared > programs() as usize);
    }
}

#[test]
fn without_vector_units_there_is_no_code() {
    assert!(!Native::at_most(Level::Portable).is_there());
    assert_eq!(
        Native::default().is_there(),
        Isa::best().is_some() && Found::best().level() > Level::Portable
    );
}
