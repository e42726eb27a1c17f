//! The tile buffer: 16x16 pixels of one or four samples, with colour, depth and stencil; tests and blending
//! (docs/spec/mali/frame.md, section 3; docs/spec/mali/state.md).

use crate::exec::unorm;
use crate::gpu::frame::Frame;
use crate::gpu::state::{State, Stencil};
use num::lanes::One;
use utgard::state::StencilOp;

pub use crate::exec::places::SIDE;

/// Pixels of a tile.
pub const PIXELS: usize = 256;

/// Largest depth.
pub const MAX_DEPTH: u32 = 0x00ff_ffff;

/// A tile in work.
#[derive(Clone, Debug, Default)]
pub struct Tile {
    /// Column and row of its first pixel.
    pub origin: [u32; 2],
    /// Samples of a pixel: 1 or 4. One stands for four that are the same so far.
    pub samples: usize,
    /// Channel value of 1.0: 255, or 65535 with sixteen bits.
    pub one: f32,
    /// Colour of every sample, pixel after pixel in the order of [`in_tile`].
    pub color: Colors,
    /// Depth of every sample, in the same order; nothing where no draw and no picture has to do with it.
    pub depth: Vec<u32>,
    /// Stencil of every sample, as depth.
    pub stencil: Vec<u8>,
}

/// What became of a sample of a fragment that came to the tile, in the order of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The fragment's alpha failed its test.
    Alpha,
    /// The sample is not covered: by the shape, the state's mask, or alpha as coverage.
    Uncovered,
    /// The stencil test failed.
    Stencil,
    /// The depth test failed.
    Depth,
    /// It passed: blended, and stored as far as the channels' mask lets it.
    Passed,
}

/// What the tile has of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Channels, 0 to [`Tile::one`].
    pub color: [u16; 4],
    /// Depth in the buffer's steps.
    pub depth: u32,
    /// Stencil.
    pub stencil: u8,
}

/// Colours of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Colors {
    /// A byte a channel, red lowest.
    Bytes(Vec<u32>),
    /// Sixteen bits a channel, red lowest.
    Wide(Vec<u64>),
}

impl Default for Colors {
    fn default() -> Self {
        Self::Bytes(Vec::new())
    }
}

impl Colors {
    /// The channels of a sample.
    #[inline]
    pub fn get(&self, at: usize) -> [u16; 4] {
        match self {
            Self::Bytes(words) => words[at].to_le_bytes().map(u16::from),
            Self::Wide(words) => channels(words[at]),
        }
    }

    /// Sets the channels of a sample.
    #[inline]
    pub fn set(&mut self, at: usize, channels: [u16; 4]) {
        match self {
            Self::Bytes(words) => words[at] = u32::from_le_bytes(channels.map(|channel| channel as u8)),
            Self::Wide(words) => words[at] = packed(channels),
        }
    }

    /// Makes all samples one of a pixel's, one after the other.
    pub(crate) fn clear(&mut self, wide: bool, samples: usize, sample: impl Fn(usize) -> u64) {
        let count = PIXELS * samples;
        match self {
            Self::Bytes(words) if !wide => {
                fill(words, count, byte_channels(sample(0)));
                if samples > 1 {
                    let pixels = words.chunks_exact_mut(samples);
                    pixels.for_each(|pixel| {
                        (0..)
                            .zip(pixel)
                            .for_each(|(at, word)| *word = byte_channels(sample(at)))
                    });
                }
            }
            Self::Wide(words) if wide => {
                fill(words, count, sample(0));
                if samples > 1 {
                    let pixels = words.chunks_exact_mut(samples);
                    pixels.for_each(|pixel| (0..).zip(pixel).for_each(|(at, word)| *word = sample(at)));
                }
            }
            _ => {
                *self = if wide { Self::Wide(Vec::new()) } else { Self::default() };
                self.clear(wide, samples, sample);
            }
        }
    }
}

/// A colour of sixteen bits a channel whose channels are bytes, a byte each.
#[inline]
fn byte_channels(color: u64) -> u32 {
    let pairs = (color | color >> 8) & 0x0000_ffff_0000_ffff;
    (pairs | pairs >> 16) as u32
}

/// Number of a pixel in its tile: quad after quad, row by row, and the four of a quad as fragments go, so that what a whole
/// tile's fragments come to is the tile.
#[inline]
pub const fn in_tile(x: u32, y: u32) -> usize {
    let (x, y) = (x % SIDE, y % SIDE);
    ((y / 2 * (SIDE / 2) + x / 2) * 4 + y % 2 * 2 + x % 2) as usize
}

/// Column and row of a pixel of a tile by its number, the inverse of [`in_tile`].
pub const fn place(number: usize) -> [u32; 2] {
    let (quad, lane) = (number as u32 / 4, number as u32 % 4);
    let across = SIDE / 2;
    [quad % across * 2 + lane % 2, quad / across * 2 + lane / 2]
}

/// A fragment that comes to the tile.
#[derive(Clone, Copy, Debug)]
pub struct Incoming {
    /// Pixel of the tile, by its number.
    pub pixel: usize,
    /// Samples that are covered, a bit each.
    pub coverage: u8,
    /// Colour.
    pub color: [f32; 4],
    /// Second colour, for factors that use it.
    pub second: [f32; 4],
    /// Depth of each sample, in the buffer's steps.
    pub depth: [f64; 4],
    /// The front is seen.
    pub front: bool,
    /// Stencil that replaces the tile's, to reload it.
    pub stencil: Option<u8>,
}

/// A depth from 0 to 1 in the buffer's steps; nothing is rounded.
pub fn steps(depth: f32) -> f64 {
    f64::from(depth) * f64::from(MAX_DEPTH)
}

/// Whether alpha passes its test. Both sides have eight bits: what piglit draws with alpha equal to the reference passes on
/// hardware, for values that are not the same as halves (docs/spec/mali/state.md).
#[inline]
fn passes_alpha(state: &State, alpha: f32) -> bool {
    let [reached, beyond] = alpha_reaches(alpha, f32::from(state.alpha_reference));
    // More than the reference is 2, as much is 1.
    state.alpha_compare.holds(u8::from(reached) + u8::from(beyond), 1)
}

/// Whether an alpha of eight bits is as much as a reference, and whether it is more.
#[inline(always)]
pub(crate) fn alpha_reaches(alpha: f32, reference: f32) -> [bool; 2] {
    // What is no number is nothing. A byte is at least a whole number when what it is the floor of is.
    let inside = if alpha > 0.0 { alpha } else { 0.0 };
    let inside = if inside < 1.0 { inside } else { 1.0 };
    let value = inside * 255.0 + 0.5;
    [value >= reference, value >= reference + 1.0]
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
    /// Begins another tile, all but its colours cleared; `depth`: somebody asks for depth or stencil. Whether there is room
    /// for colours, so that who covers all of them need not have them cleared.
    pub fn begin(&mut self, frame: &Frame, samples: usize, depth: bool, column: u32, row: u32) -> bool {
        self.origin = [column * SIDE, row * SIDE];
        self.samples = samples;
        self.one = if frame.half_float { 65535.0 } else { 255.0 };
        let count = if depth { PIXELS * samples } else { 0 };
        fill(&mut self.depth, count, frame.clear_depth);
        fill(&mut self.stencil, count, frame.clear_stencil);
        match &self.color {
            Colors::Bytes(words) => !frame.half_float && words.len() == PIXELS * samples,
            Colors::Wide(_) => false,
        }
    }

    /// Clears the colours.
    pub fn clear(&mut self, frame: &Frame) {
        let [a, b, c, d] = frame.clear_color;
        let sample = |sample: usize| match frame.half_float {
            true => u64::from(a) | u64::from(b) << 32,
            false => packed([a, b, c, d][sample].to_le_bytes().map(u16::from)),
        };
        self.color.clear(frame.half_float, self.samples, sample);
    }

    /// Makes a tile of one sample one of four.
    pub fn split(&mut self) {
        const SAMPLES: usize = 4;
        fn four<T: Copy>(row: &mut Vec<T>) {
            *row = row.iter().flat_map(|value| [*value; SAMPLES]).collect();
        }
        match &mut self.color {
            Colors::Bytes(words) => four(words),
            Colors::Wide(words) => four(words),
        }
        four(&mut self.depth);
        four(&mut self.stencil);
        self.samples = SAMPLES;
    }

    /// Colour and depth of a pixel's first sample, 0 to 1.
    pub fn read(&self, pixel: usize) -> ([f32; 4], f32) {
        let at = pixel * self.samples;
        let color = self.color.get(at).map(|channel| f32::from(channel) / self.one);
        let depth = self.depth.get(at).copied().unwrap_or(0);
        (color, depth as f32 / MAX_DEPTH as f32)
    }

    /// What is stored of a pixel's sample; depth and stencil are zero where nobody asked for them.
    pub fn stored(&self, pixel: usize, sample: usize) -> Stored {
        let at = pixel * self.samples + sample;
        Stored {
            color: self.color.get(at),
            depth: self.depth.get(at).copied().unwrap_or(0),
            stencil: self.stencil.get(at).copied().unwrap_or(0),
        }
    }

    /// Tests a fragment and blends it.
    pub fn put(&mut self, state: &State, fragment: &Incoming) {
        self.put_telling(state, fragment, |_, _| {});
    }

    /// Tests a fragment and blends it; `tell` hears what became of each sample.
    pub fn put_telling(&mut self, state: &State, fragment: &Incoming, mut tell: impl FnMut(usize, Verdict)) {
        let alpha = fragment.color[3];
        if !passes_alpha(state, alpha) {
            (0..self.samples).for_each(|sample| tell(sample, Verdict::Alpha));
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
                let at = fragment.pixel * self.samples + sample;
                tell(sample, self.put_sample(state, fragment, at, sample, color));
            } else {
                tell(sample, Verdict::Uncovered);
            }
        }
    }

    #[inline]
    fn put_sample(&mut self, state: &State, fragment: &Incoming, at: usize, sample: usize, color: [f32; 4]) -> Verdict {
        let face = &state.stencil[usize::from(!fragment.front)];
        let depth = stored_depth(state, fragment.depth[sample]);
        let have = self.stencil[at];
        if !face.compare.holds(face.reference & face.mask, have & face.mask) {
            self.stencil[at] = updated(face, 0, have, fragment.stencil);
            return Verdict::Stencil;
        }
        if !state.depth_compare.holds(depth, self.depth[at]) {
            self.stencil[at] = updated(face, 1, have, fragment.stencil);
            return Verdict::Depth;
        }
        self.stencil[at] = updated(face, 2, have, fragment.stencil);
        if state.depth_write {
            self.depth[at] = depth;
        }
        let mut have = self.color.get(at);
        let destination = have.map(|channel| f32::from(channel) / self.one);
        let blended = state.blending.blend::<One>(color, fragment.second, destination);
        for (channel, value) in blended.into_iter().enumerate() {
            if state.blending.writes(channel) {
                have[channel] = unorm(value, self.one);
            }
        }
        self.color.set(at, have);
        Verdict::Passed
    }
}

/// So many of a value, in the room there is.
fn fill<T: Copy>(into: &mut Vec<T>, count: usize, value: T) {
    into.clear();
    into.resize(count, value);
}

/// A depth as the tile has it, within the state's range.
#[inline]
pub fn stored_depth(state: &State, depth: f64) -> u32 {
    within(state.depth_range.map(steps), depth)
}

/// A depth as the tile has it, within a range in steps; what is no number is the lowest.
#[inline]
pub(crate) fn within([low, high]: [f64; 2], depth: f64) -> u32 {
    let depth = if depth > low { depth } else { low };
    let depth = if depth < high { depth } else { high };
    // To the nearest, halves up: what `round` does of numbers that are not negative, without a call. Beside a number this
    // large there is no room for what is behind the point, so it is the nearest whole number's lowest bits; of two that are
    // as near it may be the lower.
    const LARGE: f64 = (1u64 << 52) as f64;
    let large = depth + LARGE;
    (large.to_bits() as u32).wrapping_add(u32::from(depth - (large - LARGE) >= 0.5))
}

/// Depth and stencil that a colour brings back into the tile. Our own packing: a byte a channel, as the reload format gives
/// it.
pub(crate) fn reloaded(color: [f32; 4]) -> [u32; 2] {
    // To the nearest, without a call.
    let byte = |channel: f32| {
        let value = channel * 255.0;
        let whole = value as u32;
        whole.saturating_add(u32::from(value - whole as f32 >= 0.5)).min(255)
    };
    let [high, middle, low, stencil] = color.map(byte);
    [high << 16 | middle << 8 | low, stencil]
}

/// Samples that an alpha covers: a quarter each ([?]: which ones is not known).
pub(crate) fn coverage_of(alpha: f32) -> u8 {
    [0, 1, 9, 11, 15][(alpha.clamp(0.0, 1.0) * 4.0 + 0.5) as usize]
}

/// The stencil after an outcome: 0 stencil failed, 1 depth failed, 2 passed.
pub(crate) fn updated(face: &Stencil, outcome: usize, have: u8, replacement: Option<u8>) -> u8 {
    let new = match face.operations[outcome] {
        StencilOp::Keep => have,
        StencilOp::Replace => replacement.unwrap_or(face.reference),
        StencilOp::Zero => 0,
        StencilOp::Invert => !have,
        StencilOp::IncrementWrap => have.wrapping_add(1),
        StencilOp::DecrementWrap => have.wrapping_sub(1),
        StencilOp::Increment => have.saturating_add(1),
        StencilOp::Decrement => have.saturating_sub(1),
    };
    let mask = face.written_bits(outcome, have);
    have & !mask | new & mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use utgard::state::Compare;

    #[test]
    fn alpha_is_a_byte_when_it_is_tested() {
        let halves = (0..0x3c00_u16).map(num::half::to_f32);
        let alphas: Vec<f32> = halves.chain([1.0, 1.5, f32::INFINITY, -0.0, -1.0, f32::NAN]).collect();
        for alpha_compare in Compare::ALL {
            for alpha_reference in 0..=255 {
                let state = State {
                    alpha_compare,
                    alpha_reference,
                    ..State::default()
                };
                for alpha in &alphas {
                    let byte = (alpha.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
                    let wanted = alpha_compare.holds(byte, alpha_reference);
                    assert_eq!(
                        passes_alpha(&state, *alpha),
                        wanted,
                        "{alpha} {alpha_compare:?} {alpha_reference}"
                    );
                }
            }
        }
    }
}
