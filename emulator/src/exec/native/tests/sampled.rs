//! Textures as every engine samples them, beside the scalar one.

use crate::exec::FragmentProgram;
use crate::exec::inputs::Plane;
use crate::exec::native::tests::lockstep::{bits, levels, noise, texture};
use crate::exec::native::*;
use crate::exec::scalar::Scalar;
use crate::memory::Memory;
use crate::texture::Texture;
use fastrand::Rng;
use utgard::pp;
use utgard::texture::{TexelFormat, Wrap};

/// A coordinate or a part of a direction: where texels and faces meet, nothing that is a place, or anything.
fn base(random: &mut Rng) -> f32 {
    const SPECIAL: [f32; 12] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        0.25,
        -0.999_999_94,
        2.0,
        1e7,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    match random.u32(..3) {
        0 => SPECIAL[random.usize(..SPECIAL.len())],
        _ => random.f32() * 4.0 - 2.0,
    }
}

/// Colours of a tile's fragments, or the fault.
fn colors(engine: &dyn Engine, context: &FragmentContext<'_>, inputs: &Inputs) -> Vec<Vec<u32>> {
    let tile = |at: u32| Quad {
        x: 2 * (at % 8),
        y: 2 * (at / 8),
        live: 15,
    };
    let quads: Vec<Quad> = (0..64).map(tile).collect();
    let mut out = Box::<Fragments>::default();
    engine.fragments(context, inputs, &quads, &mut out).unwrap();
    out.color.iter().map(|row| bits(row)).collect()
}

/// Flat textures and cubes of any size, wrap, filter and levels, where coordinates are any, and most of them where
/// something meets.
#[test]
fn random_textures_are_sampled_the_same_everywhere() {
    let mut random = Rng::with_seed(7);
    let mut memory = Memory::default();
    noise(&mut memory, &mut random);
    let engines: Vec<Native> = levels().into_iter().map(Native::at_most).collect();
    let (mut cubes, mut others) = (0, 0);
    for round in 0..400 {
        let cube = random.bool();
        let sizes = [1, 2, 3, 8, 16, 17, 32, random.u16(1..=40)];
        let [width, height] = [(); 2].map(|()| sizes[random.usize(..sizes.len())]);
        // Few cubes are none.
        let size = [width, if cube && random.u32(..8) > 0 { width } else { height }];
        let formats = [TexelFormat::Rgba8888, TexelFormat::Bgr565, TexelFormat::L8];
        let format = formats[random.usize(..3)];
        let wraps = [Wrap::Repeat, Wrap::Clamp, Wrap::Mirror, Wrap::MirrorOnceClamp];
        let wrap = [(); 3].map(|()| wraps[random.usize(..4)]);
        let count = [0, 0, 3, 5][random.usize(..4)];
        let descriptor = texture(&mut random, format, size, count, cube, wrap);
        let one = Texture::new(&memory, descriptor.clone()).unwrap();
        // Faces that are no squares have no borders.
        assert!(size[0] != size[1] || one.plain(cube).is_some() || one.short_levels(cube).is_some());
        let look = match (cube, random.bool()) {
            (true, _) => "load.v ^discard. cube(0), texld.cube 0, mov.v1 $1 ^texture, sync, stop",
            (false, true) => "load.v ^discard.xy 0.xy, texld 0, mov.v1 $1 ^texture, sync, stop",
            (false, false) => {
                "load.v $0.x 1.x\nload.v ^discard.xy 0.xy, texld.l 0 $0.x, mov.v1 $1 ^texture, sync, stop"
            }
        };
        let words = pp::assemble(look).unwrap();
        let program = FragmentProgram::read(&words).unwrap();
        let context = FragmentContext {
            textures: &[one],
            color_register: 1,
            ..FragmentContext::new(&program)
        };
        for _ in 0..4 {
            let mut inputs = Inputs::default();
            for plane in inputs.varyings.iter_mut().take(2).flatten() {
                // Steps of parts of a texel, of none, or of many.
                let mut step = || [0.0, 1.0 / 32.0, 0.125, random.f32() - 0.5][random.usize(..4)];
                let [dx, dy] = [step(), step()];
                *plane = Plane {
                    base: base(&mut random),
                    dx,
                    dy,
                };
            }
            let want = colors(&Scalar, &context, &inputs);
            let wide = colors(&Wide::default(), &context, &inputs);
            assert_eq!(wide, want, "{round}, wide: {descriptor:?} {:?}", inputs.varyings[0]);
            for engine in &engines {
                let have = colors(engine, &context, &inputs);
                let name = engine.name();
                assert_eq!(have, want, "{round}, {name}: {descriptor:?} {:?}", inputs.varyings[0]);
            }
            *(if cube { &mut cubes } else { &mut others }) += 256;
        }
    }
    println!("{cubes} fragments with cubes and {others} with other textures are scalar's to the bit");
    assert!(cubes > 100_000 && others > 100_000);
}
