//! The tile buffer: 16x16 pixels of one or four samples, with colour, depth and stencil
//! (docs/spec/mali/frame.md, section 3; docs/spec/mali/state.md).

use crate::fragment_ops::{DepthStencil, Outcome, alpha_coverage, alpha_passes, blended, quantise_depth};
use crate::gpu::frame::Frame;
use crate::gpu::state::State;
use num::lanes::One;

pub use crate::exec::places::SIDE;
pub use crate::fragment_ops::{MAX_DEPTH, steps};

/// Pixels of a tile.
pub const PIXELS: usize = 256;

/// The tile that is being drawn.
#[derive(Clone, Debug, Default)]
pub struct Tile {
    /// Column and row of its first pixel.
    pub origin: [u32; 2],
    /// Samples of a pixel: 1 or 4. One stands for four that are equal so far.
    pub samples: usize,
    /// Channel value of 1.0: 255, or 65535 with sixteen bits.
    pub one: f32,
    /// Colour of every sample, pixel after pixel in the order of [`in_tile`].
    pub color: Colors,
    /// Depth of every sample, in the same order; empty if no draw and no picture uses it.
    pub depth: Vec<u32>,
    /// Stencil of every sample, as depth.
    pub stencil: Vec<u8>,
}

/// The outcome of a fragment's sample, in the order of the tests.
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
    /// It passed: it was blended, and stored under the channels' mask.
    Passed,
}

/// A stored sample.
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

    /// Sets all pixels; `sample` is the colour of each of their samples.
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

/// Narrows a colour of sixteen bits a channel, whose channels are bytes, to a byte a channel.
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

/// A fragment to be tested and blended.
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
    /// The primitive is front-facing.
    pub front: bool,
    /// A stencil value that replaces the tile's, for reloads.
    pub stencil: Option<u8>,
}

/// A colour as the tile stores it.
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
    /// Begins another tile, all but its colours cleared; `depth`: depth or stencil are used. Returns whether there is room
    /// for colours: a caller that covers all of them need not clear them.
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

    /// Changes a tile of one sample to four.
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

    /// What is stored of a pixel's sample; depth and stencil are zero where no unit stores them.
    pub fn stored(&self, pixel: usize, sample: usize) -> Stored {
        let at = pixel * self.samples + sample;
        Stored {
            color: self.color.get(at),
            depth: self.depth.get(at).copied().unwrap_or(0),
            stencil: self.stencil.get(at).copied().unwrap_or(0),
        }
    }

    /// Tests and blends a fragment on one lane; `tell` gets the outcome of each sample.
    pub(crate) fn put_one(&mut self, state: &State, fragment: &Incoming, mut tell: impl FnMut(usize, Verdict)) {
        let mut color = fragment.color;
        if !alpha_passes::<One>(state.alpha_compare, state.alpha_reference, color[3]) {
            (0..self.samples).for_each(|sample| tell(sample, Verdict::Alpha));
            return;
        }
        let mut coverage = fragment.coverage & state.sample_mask;
        if state.alpha_to_coverage {
            coverage &= alpha_coverage(color[3]);
        }
        if state.alpha_to_one {
            color[3] = 1.0;
        }
        let tests = state.tests(fragment.front);
        for sample in 0..self.samples {
            if coverage >> sample & 1 == 0 {
                tell(sample, Verdict::Uncovered);
                continue;
            }
            let at = fragment.pixel * self.samples + sample;
            let mut have = DepthStencil {
                depth: self.depth[at] as f32,
                stencil: f32::from(self.stencil[at]),
            };
            let depth = stored_depth(state, fragment.depth[sample]) as f32;
            let outcome = tests.run::<One>(true, depth, fragment.stencil.map(f32::from), &mut have);
            (self.depth[at], self.stencil[at]) = (have.depth as u32, have.stencil as u8);
            if outcome.passed {
                let have = self.color.get(at).map(f32::from);
                let channels = blended::<One>(&state.blending, color, fragment.second, have, self.one);
                self.color.set(at, channels.map(|channel| channel as u16));
            }
            tell(sample, outcome.into());
        }
    }
}

impl From<Outcome<bool>> for Verdict {
    fn from(outcome: Outcome<bool>) -> Self {
        if outcome.passed {
            Self::Passed
        } else if outcome.depth_failed {
            Self::Depth
        } else {
            Self::Stencil
        }
    }
}

/// Fills a vector with `count` copies of a value; its allocation is reused.
fn fill<T: Copy>(into: &mut Vec<T>, count: usize, value: T) {
    into.clear();
    into.resize(count, value);
}

/// A depth as the tile stores it, clamped to the state's range.
#[inline]
pub fn stored_depth(state: &State, depth: f64) -> u32 {
    quantise_depth(state.depth_range.map(steps), depth)
}
