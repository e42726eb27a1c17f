//! The tile buffer: 16x16 pixels of one or four samples, with colour, depth and stencil; tests and blending
//! (docs/spec/mali/frame.md, section 3; docs/spec/mali/state.md).

use super::frame::Frame;
use super::state::{Factor, State, Stencil};
use crate::exec::{Fragments, MAX_FRAGMENTS, MAX_QUADS, Quad, unorm};
use crate::simd::{Found, dispatch};
use crate::texture::texel::u_order;
use num::lanes::{Lanes, One, QuadLanes};
use utgard::state::{Compare, Equation, FactorSource, StencilOp};

/// Pixels of a tile's side.
pub const SIDE: u32 = 16;

/// Pixels of a tile.
pub const PIXELS: usize = 256;

/// Fragments of a quad from its first one, in the tile's order.
const QUAD: [usize; 4] = [0, 1, 3, 2];

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
    /// Colour of every sample, pixel after pixel in the order memory has them ([`u_order`]).
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
    fn clear(&mut self, wide: bool, samples: usize, sample: impl Fn(usize) -> u64) {
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

/// Number of a pixel in its tile.
#[inline]
pub fn in_tile(x: u32, y: u32) -> usize {
    u_order(x, y) as usize
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

/// Whether a comparison holds.
pub fn compares<T: PartialOrd>(compare: Compare, a: T, b: T) -> bool {
    match compare {
        Compare::Never => false,
        Compare::Less => a < b,
        Compare::Equal => a == b,
        Compare::LessEqual => a <= b,
        Compare::Greater => a > b,
        Compare::NotEqual => a != b,
        Compare::GreaterEqual => a >= b,
        Compare::Always => true,
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
    /// Begins another tile, cleared; `depth`: somebody asks for depth or stencil.
    pub fn begin(&mut self, frame: &Frame, samples: usize, depth: bool, column: u32, row: u32) {
        let [a, b, c, d] = frame.clear_color;
        let sample = |sample: usize| match frame.half_float {
            true => u64::from(a) | u64::from(b) << 32,
            false => packed([a, b, c, d][sample].to_le_bytes().map(u16::from)),
        };
        self.origin = [column * SIDE, row * SIDE];
        self.samples = samples;
        self.one = if frame.half_float { 65535.0 } else { 255.0 };
        self.color.clear(frame.half_float, samples, sample);
        let count = if depth { PIXELS * samples } else { 0 };
        fill(&mut self.depth, count, frame.clear_depth);
        fill(&mut self.stencil, count, frame.clear_stencil);
    }

    /// Stores the live fragments of a batch whose state neither tests nor blends.
    pub fn put_plain(&mut self, quads: &[Quad], fragments: &Fragments) {
        if fragments.has_words
            && let Colors::Bytes(tile) = &mut self.color
        {
            return scatter(tile, quads, &fragments.live, &fragments.words);
        }
        self.put_colors(quads, &fragments.live, &fragments.color);
    }

    /// Stores colours of live fragments.
    fn put_colors(&mut self, quads: &[Quad], live: &[u8; MAX_QUADS], color: &[[f32; MAX_FRAGMENTS]; 4]) {
        let (one, count) = (self.one, 4 * quads.len().min(MAX_QUADS));
        match &mut self.color {
            Colors::Bytes(tile) => {
                let mut colors = [0u32; MAX_FRAGMENTS];
                let into = &mut colors;
                dispatch!(quantise_bytes(color: &[[f32; MAX_FRAGMENTS]; 4], count: usize, into: &mut [u32; MAX_FRAGMENTS]) -> (), Found::best());
                scatter(tile, quads, live, &colors);
            }
            Colors::Wide(tile) => {
                let mut colors = [0u64; MAX_FRAGMENTS];
                let into = &mut colors;
                dispatch!(quantise(color: &[[f32; MAX_FRAGMENTS]; 4], one: f32, count: usize, into: &mut [u64; MAX_FRAGMENTS]) -> (), Found::best());
                scatter(tile, quads, live, &colors);
            }
        }
    }

    /// Tests the live fragments of a batch by depth and blends them, for states that are simple; what [`Tile::put`]
    /// does, many at a time. `depth` gives a pixel's depth in steps.
    pub fn put_simple(
        &mut self,
        state: &State,
        quads: &[Quad],
        fragments: &Fragments,
        depth: impl Fn(u32, u32) -> f64,
    ) {
        let quads = &quads[..quads.len().min(MAX_QUADS)];
        let mut live = fragments.live;
        if state.uses_depth() {
            self.test_depths(state, quads, &mut live, depth);
        }
        let (color, count) = (&fragments.color, 4 * quads.len());
        let mut have = [[0.0f32; MAX_FRAGMENTS]; 4];
        let mut into = [[0.0f32; MAX_FRAGMENTS]; 4];
        let (have, blended) = (&mut have, &mut into);
        match &self.color {
            Colors::Bytes(tile) => destinations(tile, quads, have, |word| word.to_le_bytes().map(f32::from)),
            Colors::Wide(tile) => destinations(tile, quads, have, |word| channels(word).map(f32::from)),
        }
        let one = self.one;
        dispatch!(
            blend_all(
                state: &State,
                color: &[[f32; MAX_FRAGMENTS]; 4],
                have: &mut [[f32; MAX_FRAGMENTS]; 4],
                one: f32,
                count: usize,
                blended: &mut [[f32; MAX_FRAGMENTS]; 4],
            ) -> (),
            Found::best()
        );
        self.put_colors(quads, &live, &into);
    }

    /// Takes fragments that fail the depth test out of the live ones, and stores the depth of the others.
    fn test_depths(
        &mut self,
        state: &State,
        quads: &[Quad],
        live: &mut [u8; MAX_QUADS],
        depth: impl Fn(u32, u32) -> f64,
    ) {
        for (quad, live) in quads.iter().zip(live) {
            let first = first_of(quad);
            let tested = *live;
            for (lane, at) in QUAD.into_iter().enumerate().filter(|(lane, _)| tested >> lane & 1 == 1) {
                let (x, y) = (quad.x + (lane as u32 & 1), quad.y + (lane as u32 >> 1));
                let depth = stored_depth(state, depth(x, y));
                let Some(have) = self.depth.get_mut(first + at) else {
                    continue;
                };
                if !compares(state.depth_compare, depth, *have) {
                    *live &= !(1 << lane);
                } else if state.depth_write {
                    *have = depth;
                }
            }
        }
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
        if !compares(state.alpha_compare, alpha, state.alpha_reference) {
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
        if !compares(face.compare, face.reference & face.mask, have & face.mask) {
            self.stencil[at] = updated(face, 0, have, fragment.stencil);
            return Verdict::Stencil;
        }
        if !compares(state.depth_compare, depth, self.depth[at]) {
            self.stencil[at] = updated(face, 1, have, fragment.stencil);
            return Verdict::Depth;
        }
        self.stencil[at] = updated(face, 2, have, fragment.stencil);
        if state.depth_write {
            self.depth[at] = depth;
        }
        let mut have = self.color.get(at);
        let destination = have.map(|channel| f32::from(channel) / self.one);
        let blended = blend::<One>(state, color, fragment.second, destination);
        for (channel, value) in blended.into_iter().enumerate() {
            if state.write_mask >> channel & 1 == 1 {
                have[channel] = unorm(value, self.one);
            }
        }
        self.color.set(at, have);
        Verdict::Passed
    }
}

/// Puts the colours of a batch where they belong, those of live fragments.
fn scatter<T: Copy>(tile: &mut [T], quads: &[Quad], live: &[u8; MAX_QUADS], colors: &[T; MAX_FRAGMENTS]) {
    let (fours, _) = colors.as_chunks::<4>();
    for ((quad, live), [a, b, c, d]) in quads.iter().zip(live).zip(fours) {
        let first = first_of(quad);
        let Some([first, second, third, fourth]) = tile.get_mut(first..first + 4) else {
            continue;
        };
        if *live == 15 {
            (*first, *second, *third, *fourth) = (*a, *b, *d, *c);
            continue;
        }
        for (lane, (slot, color)) in [(first, a), (second, b), (fourth, c), (third, d)]
            .into_iter()
            .enumerate()
        {
            if live >> lane & 1 == 1 {
                *slot = *color;
            }
        }
    }
}

/// What the tile has where the fragments of a batch are.
fn destinations<T: Copy>(
    tile: &[T],
    quads: &[Quad],
    have: &mut [[f32; MAX_FRAGMENTS]; 4],
    channels: impl Fn(T) -> [f32; 4],
) {
    for (number, quad) in quads.iter().enumerate() {
        let first = first_of(quad);
        let Some(four) = tile.get(first..first + 4) else {
            continue;
        };
        for (lane, at) in QUAD.into_iter().enumerate() {
            for (row, channel) in have.iter_mut().zip(channels(four[at])) {
                row[4 * number + lane] = channel;
            }
        }
    }
}

/// So many of a value, in the room there is.
fn fill<T: Copy>(into: &mut Vec<T>, count: usize, value: T) {
    into.clear();
    into.resize(count, value);
}

/// Number of a quad's first pixel in its tile.
#[inline]
fn first_of(quad: &Quad) -> usize {
    in_tile(quad.x, quad.y)
}

/// A depth as the tile has it, within the state's range.
#[inline]
pub fn stored_depth(state: &State, depth: f64) -> u32 {
    let [low, high] = state.depth_range.map(steps);
    let depth = if depth > low { depth } else { low };
    let depth = if depth < high { depth } else { high };
    depth.round() as u32
}

/// Blends a batch with what the tile has, channels from 0 to `one`; those that are not written stay.
#[inline(always)]
fn blend_all<L: QuadLanes>(
    state: &State,
    color: &[[f32; MAX_FRAGMENTS]; 4],
    have: &mut [[f32; MAX_FRAGMENTS]; 4],
    one: f32,
    count: usize,
    blended: &mut [[f32; MAX_FRAGMENTS]; 4],
) {
    let none = [L::splat(0.0); 4];
    let ones = L::splat(one);
    let mut at = 0;
    while at < count {
        let [d0, d1, d2, d3] = &*have;
        let tile = [
            L::div(L::load(&d0[at..]), ones),
            L::div(L::load(&d1[at..]), ones),
            L::div(L::load(&d2[at..]), ones),
            L::div(L::load(&d3[at..]), ones),
        ];
        let [c0, c1, c2, c3] = color;
        let source = [
            L::load(&c0[at..]),
            L::load(&c1[at..]),
            L::load(&c2[at..]),
            L::load(&c3[at..]),
        ];
        let result = blend::<L>(state, source, none, tile);
        let mut channel = 0;
        while channel < 4 {
            // A channel that stays is stored again as it was: dividing and multiplying give the number back.
            let written = state.write_mask >> channel & 1 == 1;
            let value = if written { result[channel] } else { tile[channel] };
            L::store(&mut blended[channel][at..], value);
            channel += 1;
        }
        at += L::COUNT;
    }
}

/// Colours of a batch as bytes; what [`unorm`] does, many at a time.
#[inline(always)]
fn quantise_bytes<L: QuadLanes>(color: &[[f32; MAX_FRAGMENTS]; 4], count: usize, into: &mut [u32; MAX_FRAGMENTS]) {
    let mut whole = [[0.0f32; MAX_FRAGMENTS]; 4];
    whole_channels::<L>(color, 255.0, count, &mut whole);
    let [red, green, blue, alpha] = &whole;
    let mut at = 0;
    while at < count {
        let low = red[at].to_bits() & 0xff | (green[at].to_bits() & 0xff) << 8;
        into[at] = low | (blue[at].to_bits() & 0xff) << 16 | alpha[at].to_bits() << 24;
        at += 1;
    }
}

/// Colours of a batch as they are stored; what [`unorm`] does, many at a time.
#[inline(always)]
fn quantise<L: QuadLanes>(color: &[[f32; MAX_FRAGMENTS]; 4], one: f32, count: usize, into: &mut [u64; MAX_FRAGMENTS]) {
    let mut whole = [[0.0f32; MAX_FRAGMENTS]; 4];
    whole_channels::<L>(color, one, count, &mut whole);
    let [red, green, blue, alpha] = &whole;
    let mut at = 0;
    while at < count {
        let low = red[at].to_bits() & 0xffff | green[at].to_bits() << 16;
        let high = blue[at].to_bits() & 0xffff | alpha[at].to_bits() << 16;
        into[at] = u64::from(low) | u64::from(high) << 32;
        at += 1;
    }
}

/// Channels from 0 to `one`, as whole numbers in the last bits of floats.
#[inline(always)]
fn whole_channels<L: QuadLanes>(
    color: &[[f32; MAX_FRAGMENTS]; 4],
    one: f32,
    count: usize,
    whole: &mut [[f32; MAX_FRAGMENTS]; 4],
) {
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
}

/// Samples that an alpha covers: a quarter each ([?]: which ones is not known).
fn coverage_of(alpha: f32) -> u8 {
    [0, 1, 9, 11, 15][(alpha.clamp(0.0, 1.0) * 4.0 + 0.5) as usize]
}

/// The stencil after an outcome: 0 stencil failed, 1 depth failed, 2 passed.
fn updated(face: &Stencil, outcome: usize, have: u8, replacement: Option<u8>) -> u8 {
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
    have & !face.write_mask | new & face.write_mask
}

/// Colours a blend factor may take: incoming, second incoming, the tile's.
struct Operands<L: Lanes> {
    source: [L::V; 4],
    second: [L::V; 4],
    destination: [L::V; 4],
}

#[inline(always)]
fn factor_of<L: Lanes>(factor: Factor, channel: usize, state: &State, colors: &Operands<L>) -> L::V {
    let at = if factor.alpha { 3 } else { channel };
    let one = L::splat(1.0);
    let value = match factor.source {
        FactorSource::Source => colors.source[at],
        FactorSource::Destination => colors.destination[at],
        FactorSource::Constant => L::splat(state.blend_constant[at]),
        FactorSource::Saturate | FactorSource::OldSaturate if channel < 3 => {
            L::min(colors.source[3], L::sub(one, colors.destination[3]))
        }
        FactorSource::Saturate | FactorSource::OldSaturate => one,
        FactorSource::Second => colors.second[at],
        FactorSource::Zero | FactorSource::Undocumented(_) => L::splat(0.0),
    };
    if factor.complement { L::sub(one, value) } else { value }
}

#[inline(always)]
fn blend_channel<L: Lanes>(state: &State, channel: usize, colors: &Operands<L>) -> L::V {
    let (factors, equation) = match channel {
        3 => (state.alpha_factors, state.blend_equation[1]),
        _ => (state.color_factors, state.blend_equation[0]),
    };
    let destination = colors.destination[channel];
    let s = L::mul(
        colors.source[channel],
        factor_of::<L>(factors[0], channel, state, colors),
    );
    let d = L::mul(destination, factor_of::<L>(factors[1], channel, state, colors));
    match equation {
        Equation::Subtract => L::sub(s, d),
        Equation::ReverseSubtract => L::sub(d, s),
        // Minimum and maximum really are of the weighted sum and the destination.
        Equation::Min => L::min(L::add(s, d), destination),
        Equation::Max => L::max(L::add(s, d), destination),
        Equation::Add | Equation::Undocumented(_) => L::add(s, d),
    }
}

/// The blended colour, not yet clamped; incoming colours are, what is no number as 0.
#[inline(always)]
fn blend<L: Lanes>(state: &State, source: [L::V; 4], second: [L::V; 4], destination: [L::V; 4]) -> [L::V; 4] {
    let clamp = |value: L::V| L::min(L::max(value, L::splat(0.0)), L::splat(1.0));
    let clamped = |[a, b, c, d]: [L::V; 4]| [clamp(a), clamp(b), clamp(c), clamp(d)];
    let colors = Operands::<L> {
        source: clamped(source),
        second: clamped(second),
        destination,
    };
    [
        blend_channel::<L>(state, 0, &colors),
        blend_channel::<L>(state, 1, &colors),
        blend_channel::<L>(state, 2, &colors),
        blend_channel::<L>(state, 3, &colors),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    fn simple_state(random: &mut Rng) -> State {
        let mut factor = || Factor {
            source: FactorSource::ALL[random.usize(..5)],
            complement: random.u32(..2) == 0,
            alpha: random.u32(..2) == 0,
        };
        let (color_factors, alpha_factors) = ([factor(), factor()], [factor(), factor()]);
        let mut equation = || Equation::ALL[random.usize(..Equation::ALL.len())];
        let ignored = Stencil {
            compare: Compare::Always,
            ..Stencil::default()
        };
        State {
            blend_equation: [equation(), equation()],
            color_factors,
            alpha_factors,
            blend_constant: [0.25, 0.5, 1.0, 0.75],
            write_mask: random.u32(..16),
            depth_compare: Compare::ALL[random.usize(..8)],
            depth_write: random.u32(..2) == 0,
            depth_range: [0.1, 0.9],
            stencil: [ignored; 2],
            alpha_compare: Compare::Always,
            sample_mask: 15,
            ..State::default()
        }
    }

    /// The many-at-a-time way does what the plain way does, which is the specification.
    #[test]
    fn simple_states_are_put_as_ever() {
        let mut random = Rng::with_seed(11);
        for round in 0..300 {
            let state = simple_state(&mut random);
            assert!(state.is_simple());
            let mut tile = Tile {
                samples: 1,
                one: if round % 3 == 0 { 65535.0 } else { 255.0 },
                stencil: vec![0; PIXELS],
                ..Tile::default()
            };
            let most = tile.one as u32 + 1;
            tile.color.clear(tile.one > 255.0, 1, |_| 0);
            for pixel in 0..PIXELS {
                tile.color
                    .set(pixel, std::array::from_fn(|_| random.u32(..most) as u16));
            }
            tile.depth = (0..PIXELS).map(|_| random.u32(..=MAX_DEPTH)).collect();
            let mut fragments = Fragments::default();
            for row in &mut fragments.color {
                row.fill_with(|| match random.u32(..20) {
                    0 => f32::NAN,
                    1 => f32::INFINITY,
                    _ => (random.f32() * 2.0 - 1.0) * 1.5,
                });
            }
            fragments.live.fill_with(|| random.u32(..16) as u8);
            let quads: Vec<Quad> = (0..64)
                .filter(|_| random.u32(..4) > 0)
                .map(|number| Quad {
                    x: 32 + number % 8 * 2,
                    y: 48 + number / 8 * 2,
                    live: 15,
                })
                .collect();
            let depth = |x: u32, y: u32| steps(((x * 37 + y * 91) % 101) as f32 / 100.0);
            let mut wanted = tile.clone();
            for (number, quad) in quads.iter().enumerate() {
                for lane in (0..4).filter(|lane| fragments.live[number] >> lane & 1 == 1) {
                    let (x, y) = (quad.x + (lane & 1), quad.y + (lane >> 1));
                    let at = 4 * number + lane as usize;
                    wanted.put(
                        &state,
                        &Incoming {
                            pixel: in_tile(x, y),
                            coverage: 15,
                            color: std::array::from_fn(|channel| fragments.color[channel][at]),
                            second: [0.0; 4],
                            depth: [depth(x, y); 4],
                            front: true,
                            stencil: None,
                        },
                    );
                }
            }
            tile.put_simple(&state, &quads, &fragments, depth);
            assert_eq!(tile.color, wanted.color, "{state:?}");
            assert_eq!(tile.depth, wanted.depth, "{state:?}");
        }
    }
}
