//! The tile buffer: 16x16 pixels of one or four samples, with colour, depth and stencil; tests and blending
//! (facts/mali/pp-frame.md, 3 and 4).

use super::frame::Frame;
use super::state::{Factor, State, Stencil};
use crate::exec::{Fragments, MAX_FRAGMENTS, MAX_QUADS, Quad};
use crate::num::lanes::QuadLanes;
use crate::num::simd::{dispatch, level};

/// Pixels of a tile's side.
pub const SIDE: u32 = 16;

/// Pixels of a tile.
pub const PIXELS: usize = 256;

/// Largest depth.
pub const MAX_DEPTH: u32 = 0x00ff_ffff;

/// A tile in work.
pub struct Tile {
    /// Column and row of its first pixel.
    pub origin: [u32; 2],
    /// Samples of a pixel: 1 or 4. One stands for four that are always the same.
    pub samples: usize,
    /// Channel value of 1.0: 255, or 65535 with sixteen bits.
    pub one: f32,
    /// Red, green, blue, alpha of every sample, pixel after pixel.
    pub color: Vec<[u16; 4]>,
    /// Depth of every sample.
    pub depth: Vec<u32>,
    /// Stencil of every sample.
    pub stencil: Vec<u8>,
}

/// A fragment that comes to the tile.
#[derive(Clone, Copy, Debug)]
pub struct Incoming {
    /// Pixel of the tile, row by row.
    pub pixel: usize,
    /// Samples that are covered, a bit each.
    pub coverage: u8,
    /// Colour.
    pub color: [f32; 4],
    /// Depth of each sample, 0 to 1.
    pub depth: [f32; 4],
    /// The front is seen.
    pub front: bool,
    /// Stencil that replaces the tile's, to reload it.
    pub stencil: Option<u8>,
}

/// A comparison by its number: never, less, equal, less or equal, greater, not equal, greater or equal, always.
pub fn compares<T: PartialOrd>(compare: u32, a: T, b: T) -> bool {
    match compare & 7 {
        0 => false,
        1 => a < b,
        2 => a == b,
        3 => a <= b,
        4 => a > b,
        5 => a != b,
        6 => a >= b,
        _ => true,
    }
}

impl Tile {
    /// A cleared tile.
    pub fn new(frame: &Frame, samples: usize, column: u32, row: u32) -> Self {
        let [a, b, c, d] = frame.clear_color;
        let halves = |low: u32, high: u32| [low as u16, (low >> 16) as u16, high as u16, (high >> 16) as u16];
        let sample = |sample: usize| match frame.half_float {
            true => halves(a, b),
            false => [a, b, c, d][sample].to_le_bytes().map(u16::from),
        };
        let mut color = vec![sample(0); PIXELS * samples];
        for (at, color) in color.iter_mut().enumerate().filter(|_| samples > 1) {
            *color = sample(at % samples);
        }
        Self {
            origin: [column * SIDE, row * SIDE],
            samples,
            one: if frame.half_float { 65535.0 } else { 255.0 },
            color,
            depth: vec![frame.clear_depth; PIXELS * samples],
            stencil: vec![frame.clear_stencil; PIXELS * samples],
        }
    }

    /// Stores the live fragments of a batch whose state neither tests nor blends.
    pub fn put_plain(&mut self, quads: &[Quad], fragments: &Fragments) {
        let (one, count) = (self.one, 4 * quads.len().min(MAX_QUADS));
        let color = &fragments.color;
        let mut channels = [[0u16; MAX_FRAGMENTS]; 4];
        let into = &mut channels;
        dispatch!(quantise(color: &[[f32; MAX_FRAGMENTS]; 4], one: f32, count: usize, into: &mut [[u16; MAX_FRAGMENTS]; 4]) -> (), level());
        for (number, quad) in quads.iter().enumerate() {
            let live = fragments.live[number];
            let first = ((quad.y % SIDE) * SIDE + quad.x % SIDE) as usize;
            for lane in 0..4 {
                if live >> lane & 1 == 1 {
                    let at = 4 * number + lane;
                    let pixel = first + (lane & 1) + (lane >> 1) * SIDE as usize;
                    self.color[pixel] = [channels[0][at], channels[1][at], channels[2][at], channels[3][at]];
                }
            }
        }
    }

    /// Colour and depth of a pixel's first sample, 0 to 1.
    pub fn read(&self, pixel: usize) -> ([f32; 4], f32) {
        let at = pixel * self.samples;
        let color = self.color[at].map(|channel| f32::from(channel) / self.one);
        (color, self.depth[at] as f32 / MAX_DEPTH as f32)
    }

    /// Tests a fragment and blends it.
    pub fn put(&mut self, state: &State, fragment: &Incoming) {
        let alpha = fragment.color[3];
        if !compares(state.alpha_compare, alpha, state.alpha_reference) {
            return;
        }
        let mut color = fragment.color;
        let mut coverage = fragment.coverage & state.sample_mask;
        if state.alpha_to_coverage {
            coverage &= coverage_of(alpha);
        }
        if state.alpha_to_one {
            color[3] = 1.0;
        }
        for sample in 0..self.samples {
            if coverage >> sample & 1 == 1 {
                self.put_sample(state, fragment, fragment.pixel * self.samples + sample, sample, color);
            }
        }
    }

    fn put_sample(&mut self, state: &State, fragment: &Incoming, at: usize, sample: usize, color: [f32; 4]) {
        let face = &state.stencil[usize::from(!fragment.front)];
        let [low, high] = state.depth_range;
        let mut depth = fragment.depth[sample];
        depth = if depth > low { depth } else { low };
        depth = if depth < high { depth } else { high };
        let depth = (f64::from(depth) * f64::from(MAX_DEPTH)).round() as u32;
        let have = self.stencil[at];
        if !compares(face.compare, face.reference & face.mask, have & face.mask) {
            self.stencil[at] = updated(face, 0, have, fragment.stencil);
            return;
        }
        if !compares(state.depth_compare, depth, self.depth[at]) {
            self.stencil[at] = updated(face, 1, have, fragment.stencil);
            return;
        }
        self.stencil[at] = updated(face, 2, have, fragment.stencil);
        if state.depth_write {
            self.depth[at] = depth;
        }
        let destination = self.color[at].map(|channel| f32::from(channel) / self.one);
        let blended = blend(state, color, destination);
        for (channel, value) in blended.into_iter().enumerate() {
            if state.write_mask >> channel & 1 == 1 {
                self.color[at][channel] = unorm(value, self.one);
            }
        }
    }
}

/// Channels of a batch as they are stored; what [`unorm`] does, many at a time.
#[inline(always)]
fn quantise<L: QuadLanes>(
    color: &[[f32; MAX_FRAGMENTS]; 4],
    one: f32,
    count: usize,
    into: &mut [[u16; MAX_FRAGMENTS]; 4],
) {
    let mut channel = 0;
    while channel < 4 {
        let (row, into) = (&color[channel], &mut into[channel]);
        let mut clamped = [0.0f32; MAX_FRAGMENTS];
        let mut at = 0;
        while at < count {
            // Zero in front: what is no number becomes the second operand.
            let value = L::min(L::max(L::load(&row[at..]), L::splat(0.0)), L::splat(1.0));
            let rounded = L::floor(L::add(L::mul(value, L::splat(one)), L::splat(0.5)));
            // Behind 2^23 the last bits are the whole number.
            L::store(&mut clamped[at..], L::add(rounded, L::splat(8_388_608.0)));
            at += L::COUNT;
        }
        let mut at = 0;
        while at < count {
            into[at] = clamped[at].to_bits() as u16;
            at += 1;
        }
        channel += 1;
    }
}

/// A channel as it is stored: clamped to 0 and 1, NaN as 0, to the nearest.
#[inline]
pub fn unorm(value: f32, one: f32) -> u16 {
    let value = if value > 0.0 { value } else { 0.0 };
    let value = if value < 1.0 { value } else { 1.0 };
    (value * one + 0.5) as u16
}

/// Samples that an alpha covers: a quarter each ([?]: which ones is not known).
fn coverage_of(alpha: f32) -> u8 {
    [0, 1, 9, 11, 15][(alpha.clamp(0.0, 1.0) * 4.0 + 0.5) as usize]
}

/// The stencil after an outcome: 0 stencil failed, 1 depth failed, 2 passed.
fn updated(face: &Stencil, outcome: usize, have: u8, replacement: Option<u8>) -> u8 {
    let new = match face.operations[outcome] {
        0 => have,
        1 => replacement.unwrap_or(face.reference),
        2 => 0,
        3 => !have,
        4 => have.wrapping_add(1),
        5 => have.wrapping_sub(1),
        6 => have.saturating_add(1),
        _ => have.saturating_sub(1),
    };
    have & !face.write_mask | new & face.write_mask
}

fn factor_of(factor: Factor, channel: usize, source: [f32; 4], destination: [f32; 4], constant: [f32; 4]) -> f32 {
    let at = if factor.alpha { 3 } else { channel };
    let value = match factor.source {
        0 => source[at],
        1 => destination[at],
        2 => constant[at],
        4 | 7 if channel < 3 => source[3].min(1.0 - destination[3]),
        4 | 7 => 1.0,
        // A second colour is not followed yet: it counts as the first.
        5 => source[at],
        _ => 0.0,
    };
    if factor.complement { 1.0 - value } else { value }
}

fn blend(state: &State, source: [f32; 4], destination: [f32; 4]) -> [f32; 4] {
    let source = source.map(|channel| {
        let above = if channel > 0.0 { channel } else { 0.0 };
        if above < 1.0 { above } else { 1.0 }
    });
    std::array::from_fn(|channel| {
        let (factors, equation) = match channel {
            3 => (state.alpha_factors, state.blend_equation[1]),
            _ => (state.color_factors, state.blend_equation[0]),
        };
        let of = |factor| factor_of(factor, channel, source, destination, state.blend_constant);
        let (s, d) = (source[channel] * of(factors[0]), destination[channel] * of(factors[1]));
        match equation {
            0 => s - d,
            1 => d - s,
            // Minimum and maximum really are of the weighted sum and the destination.
            4 => (s + d).min(destination[channel]),
            5 => (s + d).max(destination[channel]),
            _ => s + d,
        }
    })
}
