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
#[derive(Clone, Debug, Default)]
pub struct Tile {
    /// Column and row of its first pixel.
    pub origin: [u32; 2],
    /// Samples of a pixel: 1 or 4. One stands for four that are always the same.
    pub samples: usize,
    /// Channel value of 1.0: 255, or 65535 with sixteen bits.
    pub one: f32,
    /// Red, green, blue, alpha of every sample, pixel after pixel: sixteen bits each, red lowest.
    pub color: Vec<u64>,
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
    /// Second colour, for factors that use it.
    pub second: [f32; 4],
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

/// A colour as the tile has it.
pub fn packed(channels: [u16; 4]) -> u64 {
    let [red, green, blue, alpha] = channels.map(u64::from);
    red | green << 16 | blue << 32 | alpha << 48
}

/// The channels of a colour of the tile.
pub fn channels(packed: u64) -> [u16; 4] {
    [
        packed as u16,
        (packed >> 16) as u16,
        (packed >> 32) as u16,
        (packed >> 48) as u16,
    ]
}

impl Tile {
    /// Begins another tile, cleared.
    pub fn begin(&mut self, frame: &Frame, samples: usize, column: u32, row: u32) {
        let [a, b, c, d] = frame.clear_color;
        let sample = |sample: usize| match frame.half_float {
            true => u64::from(a) | u64::from(b) << 32,
            false => packed([a, b, c, d][sample].to_le_bytes().map(u16::from)),
        };
        self.origin = [column * SIDE, row * SIDE];
        self.samples = samples;
        self.one = if frame.half_float { 65535.0 } else { 255.0 };
        fill(&mut self.color, PIXELS * samples, sample(0));
        for (at, color) in self.color.iter_mut().enumerate().filter(|_| samples > 1) {
            *color = sample(at % samples);
        }
        fill(&mut self.depth, PIXELS * samples, frame.clear_depth);
        fill(&mut self.stencil, PIXELS * samples, frame.clear_stencil);
    }

    /// Stores the live fragments of a batch whose state neither tests nor blends.
    pub fn put_plain(&mut self, quads: &[Quad], fragments: &Fragments) {
        let (one, count) = (self.one, 4 * quads.len().min(MAX_QUADS));
        let color = &fragments.color;
        let mut colors = [0u64; MAX_FRAGMENTS];
        let into = &mut colors;
        dispatch!(quantise(color: &[[f32; MAX_FRAGMENTS]; 4], one: f32, count: usize, into: &mut [u64; MAX_FRAGMENTS]) -> (), level());
        let (pairs, _) = colors.as_chunks::<4>();
        for ((quad, live), [a, b, c, d]) in quads.iter().zip(&fragments.live).zip(pairs) {
            let first = ((quad.y % SIDE) * SIDE + quad.x % SIDE) as usize;
            let Some(two_rows) = self.color.get_mut(first..first + SIDE as usize + 2) else {
                continue;
            };
            for (lane, (at, color)) in [(0, a), (1, b), (16, c), (17, d)].into_iter().enumerate() {
                if live >> lane & 1 == 1 {
                    two_rows[at] = *color;
                }
            }
        }
    }

    /// Colour and depth of a pixel's first sample, 0 to 1.
    pub fn read(&self, pixel: usize) -> ([f32; 4], f32) {
        let at = pixel * self.samples;
        let color = channels(self.color[at]).map(|channel| f32::from(channel) / self.one);
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
        let mut have = channels(self.color[at]);
        let destination = have.map(|channel| f32::from(channel) / self.one);
        let blended = blend(state, color, fragment.second, destination);
        for (channel, value) in blended.into_iter().enumerate() {
            if state.write_mask >> channel & 1 == 1 {
                have[channel] = unorm(value, self.one);
            }
        }
        self.color[at] = packed(have);
    }
}

/// So many of a value, in the room there is.
fn fill<T: Copy>(into: &mut Vec<T>, count: usize, value: T) {
    into.clear();
    into.resize(count, value);
}

/// Colours of a batch as they are stored; what [`unorm`] does, many at a time.
#[inline(always)]
fn quantise<L: QuadLanes>(color: &[[f32; MAX_FRAGMENTS]; 4], one: f32, count: usize, into: &mut [u64; MAX_FRAGMENTS]) {
    let mut whole = [[0.0f32; MAX_FRAGMENTS]; 4];
    let mut channel = 0;
    while channel < 4 {
        let (row, whole) = (&color[channel], &mut whole[channel]);
        let mut at = 0;
        while at < count {
            // Zero in front: what is no number becomes the second operand.
            let value = L::min(L::max(L::load(&row[at..]), L::splat(0.0)), L::splat(1.0));
            let rounded = L::floor(L::add(L::mul(value, L::splat(one)), L::splat(0.5)));
            // Behind 2^23 the last bits are the whole number.
            L::store(&mut whole[at..], L::add(rounded, L::splat(8_388_608.0)));
            at += L::COUNT;
        }
        channel += 1;
    }
    let [red, green, blue, alpha] = &whole;
    let mut at = 0;
    while at < count {
        let low = red[at].to_bits() & 0xffff | green[at].to_bits() << 16;
        let high = blue[at].to_bits() & 0xffff | alpha[at].to_bits() << 16;
        into[at] = u64::from(low) | u64::from(high) << 32;
        at += 1;
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

/// Colours a blend factor may take: incoming, second incoming, the tile's, constant.
struct Colors {
    source: [f32; 4],
    second: [f32; 4],
    destination: [f32; 4],
    constant: [f32; 4],
}

fn factor_of(factor: Factor, channel: usize, colors: &Colors) -> f32 {
    let at = if factor.alpha { 3 } else { channel };
    let value = match factor.source {
        0 => colors.source[at],
        1 => colors.destination[at],
        2 => colors.constant[at],
        4 | 7 if channel < 3 => colors.source[3].min(1.0 - colors.destination[3]),
        4 | 7 => 1.0,
        5 => colors.second[at],
        _ => 0.0,
    };
    if factor.complement { 1.0 - value } else { value }
}

fn blend(state: &State, source: [f32; 4], second: [f32; 4], destination: [f32; 4]) -> [f32; 4] {
    let clamp = |channel: f32| {
        let above = if channel > 0.0 { channel } else { 0.0 };
        if above < 1.0 { above } else { 1.0 }
    };
    let (source, constant) = (source.map(clamp), state.blend_constant);
    let colors = Colors {
        source,
        second: second.map(clamp),
        destination,
        constant,
    };
    std::array::from_fn(|channel| {
        let (factors, equation) = match channel {
            3 => (state.alpha_factors, state.blend_equation[1]),
            _ => (state.color_factors, state.blend_equation[0]),
        };
        let of = |factor| factor_of(factor, channel, &colors);
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
