//! The native engine beside the scalar one on random programs and states, and every instruction it makes beside
//! another crate's decoder.

use super::asm::{Asm, Gpr, Isa, Masked, Mem, Rm, code};
use super::call::Which;
use super::emit::{Copies, emit};
use super::graph::{self, Effect, Graph, Node, Notes};
use super::*;
use crate::blend::{Blending, Factor};
use crate::exec::inputs::Plane;
use crate::exec::lanes::Mask;
use crate::exec::scalar::Scalar;
use crate::exec::{FragmentProgram, Orientation, Quads};
use crate::memory::Memory;
use crate::texture::{Descriptor, Texture};
use fastrand::Rng;
use num::lanes::Lanes;
use utgard::pp;
use utgard::state::{Equation, FactorSource};
use utgard::texture::{self as fields, Dimension, MipFilter, TexelFormat, TexelLayout, Wrap};

/// Numbers as bits; which NaN it is does not count.
fn bits(values: &[f32]) -> Vec<u32> {
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

/// Textures of every short way, and some of the long one.
fn textures(memory: &mut Memory, random: &mut Rng) -> Vec<Descriptor> {
    memory.map(0x1_0000, 0x10_0000).unwrap();
    let noise: Vec<u8> = (0..0x10_0000).map(|_| random.u32(..) as u8).collect();
    memory.write(0x1_0000, &noise).unwrap();
    let mut one = |format, [width, height]: [u16; 2], levels: u8, cube, [wrap_s, wrap_t, wrap_r]: [Wrap; 3]| {
        let mip_filter = choice(random, &[MipFilter::Nearest, MipFilter::Linear]);
        let nearest = choice(random, &[false, true]);
        let head = fields::Descriptor {
            format,
            cube,
            dimension: if cube { Dimension::Three } else { Dimension::Two },
            max_lod: levels << 4,
            mip_filter,
            min_nearest: nearest,
            mag_nearest: nearest,
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
    };
    let (repeat, clamp) = (Wrap::Repeat, Wrap::Clamp);
    vec![
        one(TexelFormat::Rgba8888, [32, 20], 0, false, [repeat; 3]),
        one(TexelFormat::L8, [17, 64], 0, false, [clamp, repeat, repeat]),
        one(TexelFormat::Rgba8888, [16, 16], 4, true, [repeat; 3]),
        one(TexelFormat::Bgr565, [20, 20], 4, false, [clamp, repeat, clamp]),
        one(TexelFormat::Bgra4444, [9, 32], 0, false, [repeat, clamp, clamp]),
        one(TexelFormat::Rgba8888, [32, 19], 5, false, [repeat, clamp, clamp]),
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

/// What a painter makes of a batch, where there is one and it does not leave the batch to others: words, instructions.
fn painted(
    engine: &Native,
    context: &FragmentContext<'_>,
    inputs: &Inputs,
    quads: &[Quad],
    whole: bool,
) -> Option<(Vec<Vec<u32>>, u64)> {
    let painter = engine.painter(context, inputs.flat)?;
    let mut out = Box::<Fragments>::default();
    for (number, word) in (0..).zip(&mut out.words) {
        *word = 0x9e37_79b9u32.wrapping_mul(number + 1);
    }
    let what = match quads.first().filter(|_| whole) {
        Some(first) => Quads::Tile([first.x, first.y]),
        None => Quads::Some(quads),
    };
    let mut over = out.words;
    let done = painter.paint(context, inputs, what, &mut out);
    let count = 4 * quads.len();
    let alphas = bits(&out.color[3][..if context.wants_alpha { count } else { 0 }]);
    assert!(done || !painter.is_sure());
    if let Quads::Tile(first) = what
        && !context.wants_alpha
    {
        assert_eq!(painter.paint_over(context, inputs, first, &mut over), done);
        assert!(!done || over == out.words, "in place");
    }
    done.then(|| {
        (
            vec![out.words[..count].to_vec(), alphas],
            count as u64 * u64::from(painter.steps()),
        )
    })
}

/// Programs of random words in random states: the outcome of both engines, to the bit.
fn lockstep(seed: u64, programs: u32, limit: Level) -> (usize, usize, String) {
    let mut random = Rng::with_seed(seed);
    let mut memory = Memory::default();
    let descriptors = textures(&mut memory, &mut random);
    let textures: Vec<Texture<'_>> = descriptors
        .into_iter()
        .map(|descriptor| Texture::new(&memory, descriptor).unwrap())
        .collect();
    let engine = Native::at_most(limit);
    let (mut compared, mut at_once) = (0, 0);
    for number_of in 0..programs {
        let words = pp::random::program(&mut random, 1 + number_of as usize % 16);
        let program = FragmentProgram::read(&words).unwrap();
        for _ in 0..3 {
            let uniforms: Vec<f32> = (0..random.u32(..65)).map(|_| number(&mut random)).collect();
            let inputs = inputs(&mut random);
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
                program: &program,
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
            if let Some((words, ran)) = painted(&engine, &context, &inputs, &quads, whole) {
                assert!(context.wants_words && want.0.is_ok(), "{}", text());
                let words: Vec<Vec<u32>> = words.into_iter().map(|row| of_live(row, &want.2)).collect();
                assert_eq!((&words, ran), (&want.1, want.3), "at once: {}", text());
                at_once += words[0].len();
            }
        }
    }
    (
        compared,
        at_once,
        format!("{}: {}", engine.name(), engine.report().unwrap_or_default()),
    )
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

#[test]
fn random_programs_are_the_same_in_machine_code() {
    for limit in [Level::Avx512, Level::Avx2] {
        let (compared, at_once, report) = lockstep(seed(), programs(), limit);
        println!("{compared} fragments are scalar's to the bit, and {at_once} at once: {report}");
        assert!(compared > 100 * programs() as usize);
        // Without machine code nothing paints at once.
        let has_code = Native::at_most(limit).isa.is_some();
        assert_eq!(at_once > programs() as usize, has_code, "{at_once}");
    }
}

/// The short way to the byte of a half is the long one, denormals included.
#[test]
fn bytes_of_halves_need_no_conversion() {
    for half in (0..=0x3c00).map(num::half::to_f32) {
        let byte = half.mul_add(255.0, (1 << 23) as f32).to_bits() & 0xff;
        assert_eq!(byte, u32::from(crate::exec::unorm(half, 255.0)), "{half}");
    }
}

/// Every form with low and high registers, near and far memory, is what it is called.
#[test]
fn every_form_decodes() {
    use iced_x86::{Decoder, DecoderOptions, Formatter, NasmFormatter};
    let mut count = 0;
    for isa in [Isa::Avx512, Isa::Avx2 { fma: true }] {
        let top = if isa.evex() { 31 } else { 15 };
        let prefix = if isa.evex() { "zmm" } else { "ymm" };
        let ops = [
            (code::ADDPS, "vaddps", true),
            (code::SUBPS, "vsubps", true),
            (code::MULPS, "vmulps", true),
            (code::DIVPS, "vdivps", true),
            (code::MINPS, "vminps", true),
            (code::MAXPS, "vmaxps", true),
            (code::ANDPS, "vandps", true),
            (code::XORPS, "vxorps", true),
            (code::PADDD, "vpaddd", true),
            (code::PMINUD, "vpminud", true),
            (code::FMADD213PS, "vfmadd213ps", true),
            (code::FMADD231PS, "vfmadd231ps", true),
            (code::FMSUB213PS, "vfmsub213ps", true),
            (code::FNMADD213PS, "vfnmadd213ps", true),
            (code::PAND, if isa.evex() { "vpandd" } else { "vpand" }, true),
            (code::POR, if isa.evex() { "vpord" } else { "vpor" }, true),
            (code::SQRTPS, "vsqrtps", false),
            (code::CVTDQ2PS, "vcvtdq2ps", false),
            (code::CVTTPS2DQ, "vcvttps2dq", false),
            (code::MOVUPS_LOAD, "vmovups", false),
            (code::MOVAPS, "vmovaps", false),
        ];
        for (op, name, two) in ops {
            for (to, a, b) in [(0, 1, 2), (top, 3, 9), (5, top, top - 1), (8, 8, 8)] {
                let memory = |base: Gpr, disp: i32| Rm::Full(Mem { base, disp });
                let places = [
                    (Rm::Reg(b), format!("{prefix}{b}")),
                    (memory(Gpr::Rsi, 64), "[rsi+40h]".to_owned()),
                    (memory(Gpr::R10, -4096), "[r10-1000h]".to_owned()),
                    (memory(Gpr::Rsp, 0), "[rsp]".to_owned()),
                    (memory(Gpr::Rsp, 12345), "[rsp+3039h]".to_owned()),
                ];
                for (rm, place) in places {
                    let mut asm = Asm::new(isa);
                    asm.vector(op, to, if two { a } else { 0 }, rm);
                    let mut decoder = Decoder::with_ip(64, &asm.bytes, 0, DecoderOptions::NONE);
                    let instruction = decoder.decode();
                    let mut text = String::new();
                    NasmFormatter::new().format(&instruction, &mut text);
                    let second = if two { format!(",{prefix}{a}") } else { String::new() };
                    assert_eq!(
                        text,
                        format!("{name} {prefix}{to}{second},{place}"),
                        "{:02x?}",
                        asm.bytes
                    );
                    assert_eq!(instruction.len(), asm.bytes.len());
                    count += 1;
                }
            }
        }
    }
    println!("{count} instructions are what they should be");
}

/// The rest of the forms, by hand.
#[test]
fn special_forms_decode() {
    use iced_x86::{Decoder, DecoderOptions, Formatter, NasmFormatter};
    let wide = |f: &dyn Fn(&mut Asm)| made(Isa::Avx512, f);
    let narrow = |f: &dyn Fn(&mut Asm)| made(Isa::Avx2 { fma: true }, f);
    let far = Mem { base: Gpr::R9, disp: 8 };
    let cases = [
        (
            wide(&|a| a.vector(code::ADDPS, 17, 3, Rm::Each(far))),
            "vaddps zmm17,zmm3,[r9+8]{1to16}",
        ),
        (
            wide(&|a| a.vector(code::BROADCASTSS, 30, 0, Rm::Each(far))),
            "vbroadcastss zmm30,[r9+8]",
        ),
        (
            narrow(&|a| a.vector(code::BROADCASTSS, 12, 0, Rm::Each(far))),
            "vbroadcastss ymm12,[r9+8]",
        ),
        (
            wide(&|a| a.vector_immediate(code::CVTPS2PH, 20, 0, Rm::Reg(9), 0)),
            "vcvtps2ph ymm9,zmm20,0",
        ),
        (
            narrow(&|a| a.vector_immediate(code::CVTPS2PH, 10, 0, Rm::Reg(9), 0)),
            "vcvtps2ph xmm9,ymm10,0",
        ),
        (wide(&|a| a.test_words(7, 25, 31)), "vptestmw k7,ymm25,ymm31"),
        (wide(&|a| a.words_up_to(7, 25, 31)), "vpcmpleuw k7,ymm25,ymm31"),
        (
            wide(&|a| a.vector_immediate(code::PCMPUD, 7, 21, Rm::Each(far), 2)),
            "vpcmpleud k7,zmm21,[r9+8]{1to16}",
        ),
        (
            wide(&|a| a.vector_masked(code::CVTPH2PS, 4, 0, Rm::Reg(29), Masked { by: 7, zero: true })),
            "vcvtph2ps zmm4{k7}{z},ymm29",
        ),
        (
            wide(&|a| a.vector_immediate(code::CMPPS, 3, 17, Rm::Reg(4), 0x1e)),
            "vcmpgt_oqps k3,zmm17,zmm4",
        ),
        (
            wide(&|a| a.vector_masked(code::BLENDMPS, 18, 2, Rm::Reg(3), Masked { by: 5, zero: false })),
            "vblendmps zmm18{k5},zmm2,zmm3",
        ),
        (
            wide(&|a| {
                let masked = Masked { by: 7, zero: false };
                a.vector_masked(
                    code::MOVUPS_STORE,
                    19,
                    0,
                    Rm::Full(Mem {
                        base: Gpr::Rsi,
                        disp: 512,
                    }),
                    masked,
                );
            }),
            "vmovups [rsi+200h]{k7},zmm19",
        ),
        (
            wide(&|a| a.gather(21, Gpr::Rax, 28, 7)),
            "vpgatherdd zmm21{k7},[rax+zmm28*4]",
        ),
        (
            narrow(&|a| a.gather(11, Gpr::Rax, 12, 14)),
            "vpgatherdd ymm11,[rax+ymm12*4],ymm14",
        ),
        (wide(&|a| a.shift(18, 24, true, 23)), "vpslld zmm18,zmm24,17h"),
        (narrow(&|a| a.shift(3, 9, false, 8)), "vpsrld ymm3,ymm9,8"),
        (
            wide(&|a| a.vector_immediate(code::ROUNDPS, 1, 0, Rm::Reg(16), 9)),
            "vrndscaleps zmm1,zmm16,9",
        ),
        (
            narrow(&|a| a.vector_immediate(code::ROUNDPS, 1, 0, Rm::Reg(9), 9)),
            "vroundps ymm1,ymm9,9",
        ),
        (
            wide(&|a| a.vector_immediate(code::PERMILPS, 1, 0, Rm::Reg(20), 0x50)),
            "vpermilps zmm1,zmm20,50h",
        ),
        (
            wide(&|a| a.vector(code::PERMPS, 19, 28, Rm::Full(far))),
            "vpermps zmm19,zmm28,[r9+8]",
        ),
        (
            narrow(&|a| a.vector(code::PERMPS, 3, 12, Rm::Full(far))),
            "vpermps ymm3,ymm12,[r9+8]",
        ),
        (
            narrow(&|a| a.vector_immediate(code::BLENDVPS, 1, 2, Rm::Reg(3), 4 << 4)),
            "vblendvps ymm1,ymm2,ymm3,ymm4",
        ),
        (
            narrow(&|a| a.half_vector(code::PANDN, 14, 9, Rm::Reg(3))),
            "vpandn xmm14,xmm9,xmm3",
        ),
        (
            narrow(&|a| a.half_vector(code::PCMPEQW, 14, 9, Rm::Reg(3))),
            "vpcmpeqw xmm14,xmm9,xmm3",
        ),
        (
            narrow(&|a| a.vector(code::MASKMOVPS_STORE, 9, 14, Rm::Full(far))),
            "vmaskmovps [r9+8],ymm14,ymm9",
        ),
        (wide(&|a| a.mask_load(6, far)), "kmovw k6,[r9+8]"),
        (wide(&|a| a.mask_store(far, 6)), "kmovw [r9+8],k6"),
        (wide(&|a| a.mask_all(7)), "kxnorw k7,k7,k7"),
        (wide(&|a| a.mask_bits(Gpr::Rax, 5)), "kmovw eax,k5"),
        (narrow(&|a| a.signs(Gpr::Rax, 13)), "vmovmskps eax,ymm13"),
        (wide(&|a| a.load(Gpr::R11, far)), "mov r11,[r9+8]"),
        (wide(&|a| a.load_short(Gpr::R8, far)), "mov r8d,[r9+8]"),
        (wide(&|a| a.or_to(far, Gpr::Rax)), "or [r9+8],eax"),
        (wide(&|a| a.add(Gpr::R10, 64)), "add r10,40h"),
        (wide(&|a| a.flip(Gpr::Rax, 255)), "xor eax,0FFh"),
    ];
    for (bytes, want) in cases {
        let mut decoder = Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE);
        let instruction = decoder.decode();
        let mut text = String::new();
        NasmFormatter::new().format(&instruction, &mut text);
        assert_eq!(text, want, "{bytes:02x?}");
        assert_eq!(instruction.len(), bytes.len(), "{want}");
    }
}

fn made(isa: Isa, f: &dyn Fn(&mut Asm)) -> Vec<u8> {
    let mut asm = Asm::new(isa);
    f(&mut asm);
    asm.bytes
}

/// More values at once than there are registers, masks among them: what went to the stack comes back.
#[test]
#[cfg_attr(
    not(all(target_arch = "x86_64", unix)),
    expect(unreachable_code, unused_variables, reason = "there is no machine code to make")
)]
fn spilled_values_come_back() {
    for (limit, copies) in [(Level::Avx512, Copies::Best), (Level::Avx2, Copies::One)] {
        let Some(isa) = isa(Found::at_most(limit)) else {
            continue;
        };
        let mut graph = Graph::default();
        // With more than there is stack for nothing is made at all.
        let count: usize = if isa.evex() { 36 } else { 17 };
        let x = graph.node(Node::Row(0));
        let sum = graph::record(&mut graph, || {
            let values: Vec<_> = (0..count)
                .map(|at| Notes::mul(x, Notes::splat(at as f32 + 0.5)))
                .collect();
            let masks: Vec<_> = values
                .iter()
                .map(|value| Notes::gt(*value, Notes::splat(8.0)))
                .collect();
            let chosen: Vec<_> = values
                .iter()
                .zip(&masks)
                .map(|(value, mask)| Notes::select(*mask, *value, Notes::splat(-1.0)))
                .collect();
            chosen
                .iter()
                .rev()
                .fold(Notes::splat(0.0), |sum, value| Notes::add(sum, *value))
        });
        graph.effects.push(Effect::Store(1, sum));
        let code = super::code::Code::new(emit(&graph, isa, Which::All, copies).unwrap()).unwrap();
        let mut rows = vec![crate::exec::lanes::Row::splat(0.0); 2];
        (0..LANES).for_each(|lane| rows[0][lane] = lane as f32 / 16.0);
        let done = code.run(super::call::Call {
            rows: &mut rows,
            lanes: LANES,
            uniforms: &[],
            inputs: &Inputs::default(),
            mask: Mask::MAX,
            textures: &[],
            words: &mut [],
        });
        assert!(done);
        for (lane, have) in rows[1].iter().enumerate() {
            let x = lane as f32 / 16.0;
            let of = |at: usize| x * (at as f32 + 0.5);
            let chosen = (0..count).rev().map(|at| if of(at) > 8.0 { of(at) } else { -1.0 });
            assert_eq!(
                *have,
                chosen.fold(0.0, |sum, value| sum + value),
                "{limit:?}, lane {lane}"
            );
        }
    }
}
