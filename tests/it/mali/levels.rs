//! Which level of a texture is sampled, with which filter, as on hardware under Mesa's driver.

use emulator::memory::Memory;
use emulator::texture::{Descriptor, Layout, Lod, Texture};
use utgard::texture::{Dimension, TexelFormat, Wrap};

const BASE: u32 = 0x10_0000;
/// Levels of a texture of 16 texels.
const LEVELS: usize = 5;
/// Bytes between levels: six faces of a tile each.
const PITCH: u32 = 6 * 1024;

/// Each level has one red, 50 apart; columns of level 0 alternate in green.
pub(super) fn memory() -> Memory {
    let mut memory = Memory::default();
    memory.map(BASE, 0x1_0000).unwrap();
    for level in 0..LEVELS {
        for face in 0..6u32 {
            for texel in 0..256u32 {
                // Odd columns: in u-order the lowest bit is x ^ y, the next one y.
                let odd = (texel ^ texel >> 1) & 1 == 1;
                let green = if level == 0 && odd { 255 } else { 0 };
                let at = BASE + level as u32 * PITCH + face * 1024 + 4 * texel;
                memory.write(at, &[50 * level as u8, green, face as u8, 255]).unwrap();
            }
        }
    }
    memory
}

pub(super) fn descriptor(nearest: [bool; 2], mip_linear: bool, bias: f32, cube: bool) -> Descriptor {
    Descriptor {
        format: TexelFormat::Rgba8888,
        swap: true,
        unnormalised: false,
        cube,
        dimension: if cube { Dimension::Three } else { Dimension::Two },
        lod: [0.0, 4.0],
        lod_bias: bias,
        mip_linear,
        nearest,
        wrap: [Wrap::Repeat; 3],
        size: [16, 16, 1],
        border: [0.0; 4],
        layout: Layout::Tiled,
        levels: std::array::from_fn(|level| BASE + level as u32 * PITCH),
        unknown: Vec::new(),
    }
}

/// The level that is sampled for a step of a number of texels.
pub(super) fn level(texture: &Texture<'_>, lod: f32) -> f32 {
    let step = lod.exp2() / 16.0;
    let at = |x: f32, y: f32| [0.3 + x * step, 0.3 + y * step, 0.0, 0.0];
    let quad = [at(0.0, 0.0), at(1.0, 0.0), at(0.0, 1.0), at(1.0, 1.0)];
    let texels = texture.sample(&quad, &[Lod::Bias(0.0); 4], false);
    texels[0][0] * 255.0 / 50.0
}

/// If all filters are nearest, Mesa subtracts a sixteenth, and levels change just above the half.
#[test]
fn levels_change_behind_the_half() {
    let memory = memory();
    let texture = Texture::new(&memory, descriptor([true, true], false, -1.0 / 16.0, false)).unwrap();
    for whole in 0..4 {
        for (part, wanted) in [(0.0, 0), (0.3, 0), (0.49, 0), (0.51, 1), (0.53, 1), (0.9, 1)] {
            let have = level(&texture, whole as f32 + part);
            assert!(
                (have - (whole + wanted) as f32).abs() < 0.01,
                "{whole} + {part}: {have}"
            );
        }
    }
    // Negative control: without that sixteenth they change below it.
    let texture = Texture::new(&memory, descriptor([true, true], false, 0.0, false)).unwrap();
    assert!((level(&texture, 1.49) - 2.0).abs() < 0.01);
}

/// Blended levels are at most a sixteenth above the exact value, and never below it.
#[test]
fn blended_levels_count_in_sixteenths() {
    let memory = memory();
    for (nearest, bias) in [([false, false], 0.0), ([true, false], 0.5), ([true, true], 0.5)] {
        let texture = Texture::new(&memory, descriptor(nearest, true, bias, false)).unwrap();
        for step in 1..388 {
            let lod = step as f32 / 97.0;
            let above = level(&texture, lod) - lod;
            assert!((-0.001..0.0635).contains(&above), "{nearest:?} {lod}: {above}");
        }
    }
}

/// The filter changes at level 0, even if Mesa adds a half for nearest.
#[test]
fn filters_change_at_level_zero() {
    let memory = memory();
    let texture = Texture::new(&memory, descriptor([true, false], false, 0.5, false)).unwrap();
    // On the border between two columns the blended colour is the mean.
    let green = |lod: f32| {
        let step = lod.exp2() / 16.0;
        let at = |x: f32, y: f32| [0.5 + x * step, 0.28 + y * step, 0.0, 0.0];
        let quad = [at(0.0, 0.0), at(1.0, 0.0), at(0.0, 1.0), at(1.0, 1.0)];
        texture.sample(&quad, &[Lod::Bias(0.0); 4], false)[0][1]
    };
    for lod in [0.05, 0.1, 0.3, 0.45] {
        assert_eq!(green(lod), 0.0, "nearest at {lod}");
    }
    for lod in [-0.05, -0.3, -2.0] {
        assert!((green(lod) - 0.5).abs() < 0.01, "blended at {lod}");
    }
}

/// Fragments beside the border of a cube's face have the level of those in its middle.
#[test]
fn faces_of_a_cube_do_not_mix() {
    let memory = memory();
    let texture = Texture::new(&memory, descriptor([true, true], false, -1.0 / 16.0, true)).unwrap();
    for lod in [0.0f32, 0.9, 2.0, 2.9] {
        // A face is 2 wide and 16 texels.
        let step = lod.exp2() / 8.0;
        // Each face's direction with one axis across its right or lower border.
        type Direction = fn(f32, f32) -> [f32; 4];
        let looks: [Direction; 6] = [
            |s, t| [1.0, t, s, 0.0],
            |s, t| [-1.0, s, t, 0.0],
            |s, t| [s, 1.0, t, 0.0],
            |s, t| [t, -1.0, s, 0.0],
            |s, t| [s, t, 1.0, 0.0],
            |s, t| [t, s, -1.0, 0.0],
        ];
        for (face, look) in looks.iter().enumerate() {
            let middle = (1.0 - 0.5 * step).min(0.97);
            let quad = [
                look(middle, -0.45),
                look(middle + step, -0.45),
                look(middle, step - 0.45),
                look(middle + step, step - 0.45),
            ];
            let texels = texture.sample(&quad, &[Lod::Bias(0.0); 4], true);
            let faces = texels.map(|texel| (texel[2] * 255.0).round() as usize);
            assert!(faces[0] == face && faces[1] != face, "{lod}: {faces:?} of {face}");
            for lane in [0, 2] {
                let have = texels[lane][0] * 255.0 / 50.0;
                assert!((have - lod.round()).abs() < 0.01, "{lod}, face {face}: {have}");
            }
        }
    }
}
