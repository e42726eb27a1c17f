//! Fragments of a primitive brought into the tile, sixteen at a time: everything that happens to them in one pass from the tile
//! and back. What each step does is in [`fragment_ops`](crate::fragment_ops).

use super::access::{self, Chunk, Live, QUADS, STEP};
use super::{Colors, Tile};
use crate::exec::inputs::Inputs;
use crate::exec::{Fragments, MAX_FRAGMENTS, Quad, Quads, Samples, places};
use crate::fragment_ops::{
    DepthStencil, Tests, alpha_coverage, alpha_passes, blended, quantise, quantise_depth, reloaded, steps,
};
use crate::gpu::raster::edge::sample_offset;
use crate::gpu::state::State;
use crate::simd::{Found, dispatch};
use num::lanes::QuadLanes;

/// A number for each fragment of a chunk.
type Row = [f32; STEP];

/// Fragments of one primitive on their way into the tile.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a> {
    /// Their draw's state.
    pub state: &'a State,
    /// Their quads.
    pub quads: Quads<'a>,
    /// Samples that are covered of each pixel of each quad; all of those that are not listed.
    pub samples: &'a [[u8; 4]],
    /// What their program made.
    pub fragments: &'a Fragments,
    /// Their primitive.
    pub inputs: &'a Inputs,
    /// Polygon offset, in the depth buffer's steps.
    pub offset: f64,
    /// Depths as the tile has them, where the fragments are of several primitives.
    pub depths: Option<&'a [u32; MAX_FRAGMENTS]>,
}

/// Which fragments of a batch pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    /// None of them.
    None,
    /// Some.
    Some,
    /// All of a tile's.
    All,
}

/// What a pass over a batch does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// Blending of what passed tests that came first.
    Colors,
    /// All of it.
    All,
}

/// What the depths of a primitive's fragments are computed from.
#[derive(Clone, Copy)]
pub(crate) struct DepthPlane<'a> {
    /// The primitive.
    pub inputs: &'a Inputs,
    /// Polygon offset, in the depth buffer's steps.
    pub offset: f64,
}

impl DepthPlane<'_> {
    /// The depth at a distance from the primitive's origin, as the tile has it.
    #[inline(always)]
    fn at(&self, range: [f64; 2], column: f32, row: f32) -> u32 {
        quantise_depth(range, steps(self.inputs.z.at(column, row)) + self.offset)
    }
}

impl Batch<'_> {
    /// Samples that are covered of a chunk's fragments: by the shape, the state's mask, and alpha as coverage.
    #[inline(always)]
    fn covered(&self, number: usize, alphas: &Row) -> [u8; STEP] {
        let state = self.state;
        let mut covered = [state.sample_mask; STEP];
        for quad in 0..QUADS {
            if let Some(samples) = self.samples.get(QUADS * number + quad) {
                for lane in 0..4 {
                    covered[4 * quad + lane] &= samples[lane];
                }
            }
        }
        if state.alpha_to_coverage {
            for lane in 0..STEP {
                covered[lane] &= alpha_coverage(alphas[lane]);
            }
        }
        covered
    }

    /// Depths of a chunk's fragments as the tile has them; `beside` is where the sample is, from the pixel's middle.
    #[inline(always)]
    fn depths<L: QuadLanes>(&self, number: usize, [right, below]: [f32; 2]) -> Row {
        let (from, mut depths) = (STEP * number, [0.0; STEP]);
        let range = self.state.depth_range.map(steps);
        if self.state.depth_register.is_some() {
            for (depth, own) in depths.iter_mut().zip(&self.fragments.depth[from..]) {
                *depth = quantise_depth(range, steps(*own)) as i32 as f32;
            }
            return depths;
        }
        if let Some(known) = self.depths {
            for lane in 0..STEP {
                depths[lane] = known[from + lane] as i32 as f32;
            }
            return depths;
        }
        let plane = DepthPlane {
            inputs: self.inputs,
            offset: self.offset,
        };
        primitive_depths::<L>(range, plane, self.quads, number, [right, below])
    }
}

/// Depths that a primitive has where a chunk's fragments are, as the tile has them.
#[inline(always)]
fn primitive_depths<L: QuadLanes>(
    range: [f64; 2],
    plane: DepthPlane<'_>,
    quads: Quads<'_>,
    number: usize,
    [right, below]: [f32; 2],
) -> Row {
    let (from, mut depths) = (STEP * number, [0.0; STEP]);
    let DepthPlane { inputs, offset } = plane;
    let (z, origin) = (&inputs.z, inputs.origin);
    if (z.dx, z.dy) == (0.0, 0.0) {
        // What the sums below come to wherever a fragment is.
        return [quantise_depth(range, steps(z.base) + offset) as i32 as f32; STEP];
    }
    let (mut columns, mut rows) = ([0.0; STEP], [0.0; STEP]);
    match quads {
        Quads::Tile(first) => places::of_tile::<L>(places::middle(first), from, origin, [&mut columns, &mut rows]),
        Quads::Some(quads) => {
            let quads = &quads[QUADS * number..quads.len().min(QUADS * (number + 1))];
            places::of_quads(quads, inputs, [&mut columns, &mut rows]);
        }
    }
    for lane in 0..STEP {
        depths[lane] = plane.at(range, columns[lane] + right, rows[lane] + below) as i32 as f32;
    }
    depths
}

/// Depths of the fragments of quads as a tile of one sample has them, in a state that takes them from the primitive.
pub(crate) fn depths_of(state: &State, plane: DepthPlane<'_>, quads: &[Quad], into: &mut [u32]) {
    let range = state.depth_range.map(steps);
    for (quad, into) in quads.iter().zip(into.as_chunks_mut::<4>().0) {
        let [columns, rows] = places::of_quad(quad, plane.inputs);
        *into = std::array::from_fn(|lane| plane.at(range, columns[lane], rows[lane]));
    }
}

impl Tile {
    /// Tests the live fragments of a batch and blends them.
    pub(crate) fn put_batch(&mut self, batch: &Batch<'_>) {
        self.run(batch, Pass::All, &batch.fragments.live);
    }

    /// Tests fragments before their colours are known, which the tests of [their state](State::takes_words) do not ask for,
    /// in a tile of one sample; `passed` are those that pass. Their colours come by [`Tile::put_tested`].
    pub(crate) fn test_early(&mut self, batch: &Batch<'_>, passed: &mut Live) -> Passed {
        *passed = batch.quads.live();
        let (tile, live) = (self, &mut *passed);
        dispatch!(test_all(tile: &mut Tile, batch: &Batch<'_>, live: &mut Live) -> (), Found::best());
        if *passed == [15; _] {
            Passed::All
        } else if *passed == [0; _] {
            Passed::None
        } else {
            Passed::Some
        }
    }

    /// Blends fragments that passed [`Tile::test_early`].
    pub(crate) fn put_tested(&mut self, batch: &Batch<'_>, passed: &Live) {
        self.run(batch, Pass::Colors, passed);
    }

    fn run(&mut self, batch: &Batch<'_>, pass: Pass, live: &Live) {
        let tile = self;
        dispatch!(run_all(tile: &mut Tile, batch: &Batch<'_>, pass: Pass, live: &Live) -> (), Found::best());
    }

    /// What the tests of a primitive's fragments go by, in a tile of one sample.
    pub(crate) fn samples(&self, state: &State, plane: DepthPlane<'_>, quads: Quads<'_>, into: &mut Samples) {
        let tile = self;
        dispatch!(
            load_samples(tile: &Tile, state: &State, plane: DepthPlane<'_>, quads: Quads<'_>, into: &mut Samples) -> (),
            Found::best()
        );
    }

    /// Puts depth and stencil of live fragments.
    pub(crate) fn put_samples(&mut self, quads: Quads<'_>, after: &[[f32; MAX_FRAGMENTS]; 2]) {
        let (live, [depths, stencils]) = (quads.live(), after);
        for number in 0..quads.count().div_ceil(QUADS) {
            let (chunk, bits, from) = (Chunk::of(quads, number), access::bits(&live, number), STEP * number);
            let depths = whole(row(depths, from));
            chunk.write(&mut self.depth, 1, 0, bits, &depths);
            let stencils = whole(row(stencils, from)).map(|stencil| stencil as u8);
            chunk.write(&mut self.stencil, 1, 0, bits, &stencils);
        }
    }

    /// Puts words of fragments that no test takes out, in a tile of one sample and a byte a channel.
    pub(crate) fn put_words(&mut self, quads: Quads<'_>, words: &[u32; MAX_FRAGMENTS]) {
        let Some(tile) = self.bytes() else { return };
        match quads {
            Quads::Tile(_) => *tile = *words,
            Quads::Some(quads) => access::put_live(quads, tile, words),
        }
    }

    /// The words the tile has, of one sample and a byte a channel.
    pub(crate) fn bytes(&mut self) -> Option<&mut [u32; MAX_FRAGMENTS]> {
        match &mut self.color {
            Colors::Bytes(tile) if self.samples == 1 => tile.first_chunk_mut(),
            _ => None,
        }
    }

    /// The words the tile has where the fragments of a batch are, for what blends words. One sample, a byte a channel.
    pub(crate) fn words(&self, quads: Quads<'_>, into: &mut [u32; MAX_FRAGMENTS]) {
        let Colors::Bytes(tile) = &self.color else { return };
        let chunks = into.as_chunks_mut().0.iter_mut().enumerate();
        for (number, into) in chunks.take(quads.count().div_ceil(QUADS)) {
            *into = Chunk::of(quads, number).read(tile, 1, 0);
        }
    }
}

/// Loads what the tests of a primitive's fragments go by.
#[inline(always)]
fn load_samples<L: QuadLanes>(tile: &Tile, state: &State, plane: DepthPlane<'_>, quads: Quads<'_>, into: &mut Samples) {
    let (uses_depth, range, live) = (state.uses_depth(), state.depth_range.map(steps), quads.live());
    let [depths, stencils] = &mut into.tile;
    for number in 0..quads.count().div_ceil(QUADS) {
        let (chunk, bits) = (Chunk::of(quads, number), access::bits(&live, number));
        if uses_depth {
            *chunk_mut(&mut into.depth, number) = primitive_depths::<L>(range, plane, quads, number, [0.0; 2]);
        }
        *chunk_mut(depths, number) = chunk.read(&tile.depth, 1, 0).map(|depth| depth as i32 as f32);
        *chunk_mut(stencils, number) = chunk.read(&tile.stencil, 1, 0).map(f32::from);
        *chunk_mut(&mut into.arrived, number) = std::array::from_fn(|lane| (bits >> lane & 1) as i32 as f32);
    }
}

/// The bits of a chunk's live fragments; nothing is live behind the last quad.
#[inline(always)]
fn live_bits(batch: &Batch<'_>, live: &Live, number: usize) -> u32 {
    let quads = (batch.quads.count() - QUADS * number).min(QUADS);
    access::bits(live, number) & ((1u32 << (4 * quads)) - 1)
}

/// Tests stencil and depth of a batch in a tile of one sample; `live` says which fragments there are, and afterwards which
/// passed.
#[inline(always)]
fn test_all<L: QuadLanes>(tile: &mut Tile, batch: &Batch<'_>, live: &mut Live) {
    let tests = batch.state.tests(batch.inputs.front);
    if tests.is_empty() {
        return;
    }
    let mut number = 0;
    while QUADS * number < batch.quads.count() {
        let bits = live_bits(batch, live, number);
        let passed = match bits {
            0 => 0,
            _ => test::<L>(tile, batch, &tests, (&Chunk::of(batch.quads, number), number), 0, bits),
        };
        access::set_bits(live, number, passed);
        number += 1;
    }
}

/// Takes the live fragments of a batch through the tests and the blending.
#[inline(always)]
fn run_all<L: QuadLanes>(tile: &mut Tile, batch: &Batch<'_>, pass: Pass, live: &Live) {
    let (state, fragments) = (batch.state, batch.fragments);
    let has_words = fragments.has_words;
    // What makes words may have tested alphas.
    let tests_alpha = pass == Pass::All
        && state.alpha_compare != utgard::state::Compare::Always
        && !(has_words && state.blending.alpha_test.is_some());
    let some_samples = tile.samples > 1 || state.alpha_to_coverage || state.sample_mask != 15;
    let tests = state.tests(batch.inputs.front);
    let (is_tested, paints) = (pass == Pass::All && !tests.is_empty(), state.blending.write_mask != 0);
    let mut number = 0;
    while QUADS * number < batch.quads.count() {
        let from = STEP * number;
        let mut bits = live_bits(batch, live, number);
        if tests_alpha {
            bits &= test_alpha::<L>(state, row(&fragments.color[3], from));
        }
        if bits == 0 {
            number += 1;
            continue;
        }
        let chunk = Chunk::of(batch.quads, number);
        let covered = match some_samples && pass == Pass::All {
            true => batch.covered(number, row(&fragments.color[3], from)),
            false => [15; STEP],
        };
        let mut sample = 0;
        while sample < tile.samples {
            let mut passed = bits;
            if some_samples {
                for (lane, covered) in covered.iter().enumerate() {
                    passed &= !(u32::from(!*covered >> sample & 1) << lane);
                }
            }
            if is_tested {
                passed = test::<L>(tile, batch, &tests, (&chunk, number), sample, passed);
            }
            if paints && passed != 0 {
                match &mut tile.color {
                    Colors::Bytes(row) => {
                        let words = match has_words {
                            true => *chunk_of(&fragments.words, from),
                            false => paint::<L, u32>(batch, from, &chunk.read(row, tile.samples, sample), tile.one),
                        };
                        chunk.write(row, tile.samples, sample, passed, &words);
                    }
                    Colors::Wide(row) => {
                        let words = paint::<L, u64>(batch, from, &chunk.read(row, tile.samples, sample), tile.one);
                        chunk.write(row, tile.samples, sample, passed, &words);
                    }
                }
            }
            sample += 1;
        }
        number += 1;
    }
}

/// A chunk of a row, by its number.
#[inline(always)]
fn chunk_mut(row: &mut [f32; MAX_FRAGMENTS], number: usize) -> &mut Row {
    &mut row.as_chunks_mut().0[number]
}

/// A chunk of a row.
#[inline(always)]
fn chunk_of<T>(row: &[T; MAX_FRAGMENTS], from: usize) -> &[T; STEP] {
    &row.as_chunks().0[from / STEP]
}

#[inline(always)]
fn row(row: &[f32; MAX_FRAGMENTS], from: usize) -> &Row {
    chunk_of(row, from)
}

/// Fragments whose alpha passes its test.
#[inline(always)]
fn test_alpha<L: QuadLanes>(state: &State, alphas: &Row) -> u32 {
    let (mut bits, mut at) = (0, 0);
    while at < STEP {
        let passes = alpha_passes::<L>(state.alpha_compare, state.alpha_reference, L::load(&alphas[at..]));
        bits |= L::bits(passes) << at;
        at += L::COUNT;
    }
    bits
}

/// Tests stencil and depth of a sample of a chunk's fragments, and stores what the tile has then; those that pass.
#[inline(always)]
fn test<L: QuadLanes>(
    tile: &mut Tile,
    batch: &Batch<'_>,
    tests: &Tests<'_>,
    (chunk, number): (&Chunk, usize),
    sample: usize,
    arrived: u32,
) -> u32 {
    let samples = tile.samples;
    let (mut depths, mut stencils) = ([0.0; STEP], [0.0; STEP]);
    let (mut incoming, mut replacements) = ([0.0; STEP], [0.0; STEP]);
    let is_reload = batch.state.packed_depth;
    if is_reload {
        reload::<L>(batch, STEP * number, [&mut incoming, &mut replacements]);
    }
    if tests.depth.is_some() {
        depths = chunk
            .read(&tile.depth, samples, sample)
            .map(|depth| depth as i32 as f32);
        if !is_reload {
            let beside = if samples == 1 { [0.0; 2] } else { sample_offset(sample) };
            incoming = batch.depths::<L>(number, beside);
        }
    }
    if tests.stencil.is_some() {
        stencils = chunk.read(&tile.stencil, samples, sample).map(f32::from);
    }
    let (mut passed, mut at) = (0, 0);
    let lanes = ((1u64 << L::COUNT) - 1) as u32;
    while at < STEP {
        let mut have = DepthStencil {
            depth: L::load(&depths[at..]),
            stencil: L::load(&stencils[at..]),
        };
        let replacement = if is_reload {
            Some(L::load(&replacements[at..]))
        } else {
            None
        };
        let outcome = tests.run::<L>(
            L::mask(arrived >> at & lanes),
            L::load(&incoming[at..]),
            replacement,
            &mut have,
        );
        passed |= L::bits(outcome.passed) << at;
        L::store(&mut depths[at..], have.depth);
        L::store(&mut stencils[at..], have.stencil);
        at += L::COUNT;
    }
    if let Some((_, true)) = tests.depth {
        chunk.write(&mut tile.depth, samples, sample, arrived, &whole(&depths));
    }
    if tests.stencil.is_some() {
        let stencils = whole(&stencils).map(|stencil| stencil as u8);
        chunk.write(&mut tile.stencil, samples, sample, arrived, &stencils);
    }
    passed
}

/// Numbers from 0 to 2^24 - 1 as integers. Casts check each lane for numbers that integers lack, one after the other.
#[inline(always)]
fn whole(row: &Row) -> [u32; STEP] {
    // From here on a float's last bits are the whole number.
    const LARGE: f32 = (1 << 23) as f32;
    let mut all = [0; STEP];
    for lane in 0..STEP {
        let is_large = row[lane] >= LARGE;
        let bits = (if is_large { row[lane] } else { row[lane] + LARGE }).to_bits();
        all[lane] = bits & 0x7f_ffff | u32::from(is_large) << 23;
    }
    all
}

/// Depths and stencils that colours load back into the tile, within the state's range of depths.
#[inline(always)]
fn reload<L: QuadLanes>(batch: &Batch<'_>, from: usize, [depths, stencils]: [&mut Row; 2]) {
    let range = batch.state.depth_range.map(steps);
    let mut at = 0;
    while at < STEP {
        let [depth, stencil] = reloaded::<L>(load::<L>(batch.fragments.color.each_ref(), from + at));
        L::store(&mut depths[at..], depth);
        L::store(&mut stencils[at..], stencil);
        at += L::COUNT;
    }
    for depth in depths {
        *depth = quantise_depth(range, f64::from(*depth)) as i32 as f32;
    }
}

/// The channels of a stored colour.
trait Word: Copy + Default {
    /// A channel, red first.
    fn channel(self, number: usize) -> u32;
    /// A colour of channels.
    fn of(channels: [u32; 4]) -> Self;
}

impl Word for u32 {
    #[inline(always)]
    fn channel(self, number: usize) -> u32 {
        self >> (8 * number) & 0xff
    }

    #[inline(always)]
    fn of([red, green, blue, alpha]: [u32; 4]) -> Self {
        red | green << 8 | blue << 16 | alpha << 24
    }
}

impl Word for u64 {
    #[inline(always)]
    fn channel(self, number: usize) -> u32 {
        (self >> (16 * number)) as u32 & 0xffff
    }

    #[inline(always)]
    fn of([red, green, blue, alpha]: [u32; 4]) -> Self {
        u64::from(red | green << 16) | u64::from(blue | alpha << 16) << 32
    }
}

/// The stored colours that a chunk's colours and those the tile has come to.
#[inline(always)]
fn paint<L: QuadLanes, W: Word>(batch: &Batch<'_>, from: usize, have: &[W; STEP], one: f32) -> [W; STEP] {
    let blending = &batch.state.blending;
    let (mut channels, covers) = ([[0.0; STEP]; 4], blending.covers());
    if !covers {
        for (number, row) in channels.iter_mut().enumerate() {
            for lane in 0..STEP {
                row[lane] = have[lane].channel(number) as i32 as f32;
            }
        }
    }
    let mut at = 0;
    while at < STEP {
        let mut color = load::<L>(batch.fragments.color.each_ref(), from + at);
        if batch.state.alpha_to_one {
            color[3] = L::splat(1.0);
        }
        let [red, green, blue, alpha] = color;
        let stored = match covers {
            true => [
                quantise::<L>(red, one),
                quantise::<L>(green, one),
                quantise::<L>(blue, one),
                quantise::<L>(alpha, one),
            ],
            false => {
                let second = match blending.uses_second() {
                    true => load::<L>(batch.fragments.second.each_ref(), from + at),
                    false => [L::splat(0.0); 4],
                };
                let have = [
                    L::load(&channels[0][at..]),
                    L::load(&channels[1][at..]),
                    L::load(&channels[2][at..]),
                    L::load(&channels[3][at..]),
                ];
                blended::<L>(blending, color, second, have, one)
            }
        };
        let mut channel = 0;
        while channel < 4 {
            // Above 2^23 a float's last bits are the whole number.
            L::store(
                &mut channels[channel][at..],
                L::add(stored[channel], L::splat(8_388_608.0)),
            );
            channel += 1;
        }
        at += L::COUNT;
    }
    let mut words = [W::default(); STEP];
    for lane in 0..STEP {
        let bits = |channel: usize| channels[channel][lane].to_bits() & 0xffff;
        words[lane] = W::of([bits(0), bits(1), bits(2), bits(3)]);
    }
    words
}

/// Four rows from a fragment on.
#[inline(always)]
fn load<L: QuadLanes>([a, b, c, d]: [&[f32; MAX_FRAGMENTS]; 4], at: usize) -> [L::V; 4] {
    [
        L::load(&a[at..]),
        L::load(&b[at..]),
        L::load(&c[at..]),
        L::load(&d[at..]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blend::{Blending, Factor};
    use crate::exec::inputs::Plane;
    use crate::exec::native::Native;
    use crate::exec::scalar::Scalar;
    use crate::exec::{Engine, FragmentContext, FragmentProgram, LateTests, MAX_QUADS, Orientation, unorm};
    use crate::gpu::state::Stencil;
    use crate::gpu::tile::in_tile;
    use crate::gpu::tile::reference::{self, reloaded};
    use crate::gpu::tile::{Incoming, MAX_DEPTH, PIXELS};
    use crate::simd::Level;
    use fastrand::Rng;
    use utgard::pp;
    use utgard::state::{Compare, Equation, FactorSource, StencilOp};

    /// Colours replace what is there.
    fn replacing() -> Blending {
        let factor = |complement| Factor {
            source: FactorSource::Zero,
            complement,
            alpha: false,
        };
        let factors = [factor(true), factor(false)];
        let blending = Blending {
            equations: [Equation::Add; 2],
            color: factors,
            alpha: factors,
            write_mask: 15,
            ..Blending::default()
        };
        assert!(blending.covers());
        blending
    }

    fn blending(random: &mut Rng) -> Blending {
        let mut factor = || Factor {
            source: FactorSource::ALL[random.usize(..FactorSource::ALL.len())],
            complement: random.bool(),
            alpha: random.bool(),
        };
        let (color, alpha) = ([factor(), factor()], [factor(), factor()]);
        let mut equation = || Equation::ALL[random.usize(..Equation::ALL.len())];
        let equations = [equation(), equation()];
        if random.u32(..4) == 0 {
            return Blending {
                write_mask: if random.bool() { 15 } else { 0 },
                ..replacing()
            };
        }
        Blending {
            constant: [0.25, 0.5, 1.0, 0.75],
            equations,
            color,
            alpha,
            write_mask: random.u32(..16),
            alpha_test: None,
        }
    }

    fn state(random: &mut Rng, samples: usize) -> State {
        let blending = blending(random);
        let operation = |random: &mut Rng| StencilOp::ALL[random.usize(..StencilOp::ALL.len())];
        let mut compare = |often: u32| match random.u32(..often) {
            0 => Compare::ALL[random.usize(..8)],
            _ => Compare::Always,
        };
        let (alpha_compare, depth_compare) = (compare(3), compare(2));
        let compares = [compare(2), compare(2)];
        let stencil = compares.map(|compare| Stencil {
            compare,
            operations: match random.u32(..3) {
                0 => [StencilOp::Keep; 3],
                _ => std::array::from_fn(|_| operation(random)),
            },
            reference: random.u8(..),
            mask: random.u8(..),
            write_mask: random.u8(..),
            counts_past_mask: random.u32(..4) == 0,
        });
        State {
            blending,
            alpha_compare,
            alpha_reference: 102,
            depth_compare,
            depth_write: random.bool(),
            depth_register: random.bool().then_some(1),
            packed_depth: random.u32(..4) == 0,
            depth_range: [0.1, 0.9],
            stencil,
            multisample: samples > 1,
            alpha_to_coverage: random.u32(..3) == 0,
            alpha_to_one: random.u32(..3) == 0,
            sample_mask: if random.bool() { 15 } else { random.u8(..16) },
            ..State::default()
        }
    }

    fn tile(random: &mut Rng, samples: usize, wide: bool) -> Tile {
        let mut tile = Tile {
            samples,
            one: if wide { 65535.0 } else { 255.0 },
            ..Tile::default()
        };
        let most = tile.one as u32 + 1;
        tile.color.clear(wide, samples, |_| 0);
        for at in 0..PIXELS * samples {
            tile.color.set(at, std::array::from_fn(|_| random.u32(..most) as u16));
        }
        tile.depth = (0..PIXELS * samples).map(|_| random.u32(..=MAX_DEPTH)).collect();
        tile.stencil = (0..PIXELS * samples).map(|_| random.u8(..)).collect();
        tile
    }

    fn fragments(random: &mut Rng) -> Fragments {
        let mut fragments = Fragments::default();
        for row in fragments.color.iter_mut().chain(&mut fragments.second) {
            row.fill_with(|| match random.u32(..20) {
                0 => f32::NAN,
                1 => f32::INFINITY,
                2 => 0.4,
                _ => (random.f32() * 2.0 - 1.0) * 1.5,
            });
        }
        fragments.live.fill_with(|| random.u8(..16));
        fragments.depth.fill_with(|| random.f32() * 1.2 - 0.1);
        fragments
    }

    /// Batches come to what their fragments come to one by one, in a text of its own.
    #[test]
    fn batched_writes_match_single_ones() {
        let mut random = Rng::with_seed(11);
        for round in 0..1500 {
            let samples = if round % 3 == 0 { 4 } else { 1 };
            let state = state(&mut random, samples);
            let mut tile = tile(&mut random, samples, round % 5 == 0);
            let fragments = fragments(&mut random);
            let whole = random.bool();
            let quads: Vec<Quad> = (0..64)
                .filter(|_| whole || random.u32(..4) > 0)
                .map(|number| Quad {
                    x: 32 + number % 8 * 2,
                    y: 48 + number / 8 * 2,
                    live: 15,
                })
                .collect();
            let covered: Vec<[u8; 4]> = (0..64).map(|_| std::array::from_fn(|_| random.u8(..16))).collect();
            let covered = if samples == 1 { vec![[15; 4]; 64] } else { covered };
            let offset = f64::from(random.u32(..5)) - 2.0;
            let mut number = || random.f32() * 0.02 - 0.01;
            let inputs = Inputs {
                origin: [3.25, -7.5],
                z: Plane {
                    base: 0.4,
                    dx: number(),
                    dy: number(),
                },
                front: random.bool(),
                ..Inputs::default()
            };
            let of_program = state.depth_register.is_some();
            let depth = |fragment: usize, x, y, sample| {
                if of_program {
                    return steps(fragments.depth[fragment]);
                }
                let [dx, dy] = inputs.offset(x, y);
                let [sx, sy] = if samples == 1 { [0.0; 2] } else { sample_offset(sample) };
                steps(inputs.z.at(dx + sx, dy + sy)) + offset
            };
            let mut wanted = tile.clone();
            for (number, quad) in quads.iter().enumerate() {
                for lane in (0..4usize).filter(|lane| fragments.live[number] >> lane & 1 == 1) {
                    let (x, y) = (quad.x + (lane as u32 & 1), quad.y + (lane as u32 >> 1));
                    let fragment = 4 * number + lane;
                    let mut incoming = Incoming {
                        pixel: in_tile(x, y),
                        coverage: covered[number][lane],
                        color: fragments.color.each_ref().map(|row| row[fragment]),
                        second: fragments.second.each_ref().map(|row| row[fragment]),
                        depth: [0, 1, 2, 3].map(|sample| depth(fragment, x, y, sample)),
                        front: inputs.front,
                        stencil: None,
                    };
                    if state.packed_depth {
                        let (depth, stencil) = reloaded(incoming.color);
                        (incoming.depth, incoming.stencil) = ([f64::from(depth); 4], Some(stencil));
                    }
                    reference::put(&mut wanted, &state, &incoming);
                }
            }
            let batch = Batch {
                state: &state,
                quads: if whole {
                    Quads::Tile([32, 48])
                } else {
                    Quads::Some(&quads)
                },
                samples: &covered,
                fragments: &fragments,
                inputs: &inputs,
                offset,
                depths: None,
            };
            tile.put_batch(&batch);
            assert_eq!(tile.color, wanted.color, "{round}: {state:?}");
            assert_eq!(tile.depth, wanted.depth, "{round}: {state:?}");
            assert_eq!(tile.stencil, wanted.stencil, "{round}: {state:?}");
        }
    }

    /// Words of whole tiles come to what their colours come to one by one.
    #[test]
    fn words_of_whole_tiles_match_single_colours() {
        let mut random = Rng::with_seed(12);
        let quads: Vec<Quad> = (0..64)
            .map(|number| Quad {
                x: 32 + number % 8 * 2,
                y: 48 + number / 8 * 2,
                live: 15,
            })
            .collect();
        for round in 0..1000 {
            let state = State {
                blending: replacing(),
                packed_depth: false,
                depth_register: None,
                alpha_to_coverage: false,
                alpha_to_one: false,
                sample_mask: 15,
                ..state(&mut random, 1)
            };
            assert!(state.takes_words());
            let mut tile = tile(&mut random, 1, false);
            let mut fragments = fragments(&mut random);
            (fragments.has_words, fragments.live) = (true, [15; 64]);
            for at in 0..MAX_FRAGMENTS {
                let bytes = fragments.color.each_ref().map(|row| unorm(row[at], 255.0) as u8);
                fragments.words[at] = u32::from_le_bytes(bytes);
            }
            let inputs = Inputs {
                origin: [3.25, -7.5],
                z: Plane {
                    base: 0.4,
                    dx: random.f32() * 0.02 - 0.01,
                    dy: 0.004,
                },
                front: random.bool(),
                ..Inputs::default()
            };
            let mut wanted = tile.clone();
            for (number, quad) in quads.iter().enumerate() {
                for lane in 0..4 {
                    let (x, y) = (quad.x + (lane as u32 & 1), quad.y + (lane as u32 >> 1));
                    let [dx, dy] = inputs.offset(x, y);
                    let incoming = Incoming {
                        pixel: in_tile(x, y),
                        coverage: 15,
                        color: fragments.color.each_ref().map(|row| row[4 * number + lane]),
                        second: [0.0; 4],
                        depth: [steps(inputs.z.at(dx, dy)); 4],
                        front: inputs.front,
                        stencil: None,
                    };
                    reference::put(&mut wanted, &state, &incoming);
                }
            }
            let batch = Batch {
                state: &state,
                quads: Quads::Tile([32, 48]),
                samples: &[],
                fragments: &fragments,
                inputs: &inputs,
                offset: 0.0,
                depths: None,
            };
            // Tests that come first change nothing, where alphas have none.
            if state.alpha_compare == Compare::Always {
                let (mut early, mut passed) = (tile.clone(), [0; MAX_QUADS]);
                early.test_early(&batch, &mut passed);
                early.put_tested(&batch, &passed);
                assert_eq!(early.color, wanted.color, "{round}: {state:?}");
                assert_eq!(
                    (early.depth, early.stencil),
                    (wanted.depth.clone(), wanted.stencil.clone())
                );
            }
            tile.put_batch(&batch);
            assert_eq!(tile.color, wanted.color, "{round}: {state:?}");
            assert_eq!(tile.depth, wanted.depth, "{round}: {state:?}");
            assert_eq!(tile.stencil, wanted.stencil, "{round}: {state:?}");
        }
    }

    /// Tests in machine code, behind a program, come to what single fragments come to.
    #[test]
    fn tests_in_kernels_match_single_ones() {
        let mut random = Rng::with_seed(13);
        let program = pp::assemble("load.v $1 0\nmov.v1 $1 $1, stop\n").unwrap();
        let program = FragmentProgram::read(&program).unwrap();
        let (mut passed, mut failed) = (0, 0);
        for level in [Level::Avx512, Level::Avx2] {
            let engine = Native::at_most(level);
            if !engine.is_there() {
                continue;
            }
            for round in 0..300 {
                let state = State {
                    packed_depth: false,
                    depth_register: None,
                    alpha_to_coverage: false,
                    alpha_to_one: false,
                    sample_mask: 15,
                    ..state(&mut random, 1)
                };
                if state.blending.uses_second() {
                    continue;
                }
                let stencil = state.stencil[0];
                let state = State {
                    stencil: [stencil; 2],
                    ..state
                };
                let mut plane = |base: f32, step: f32| Plane {
                    base: random.f32() * base,
                    dx: (random.f32() - 0.5) * step,
                    dy: (random.f32() - 0.5) * step,
                };
                let inputs = Inputs {
                    origin: [3.25, -7.5],
                    z: plane(0.9, 0.01),
                    varyings: std::array::from_fn(|_| std::array::from_fn(|_| plane(1.2, 0.05))),
                    ..Inputs::default()
                };
                let context = FragmentContext {
                    color_register: 1,
                    wants_words: true,
                    blending: Some(&state.blending).filter(|blending| !blending.covers()),
                    tests: Some(LateTests {
                        alpha: (state.alpha_compare != Compare::Always)
                            .then_some((state.alpha_compare, state.alpha_reference)),
                        stencil: state.stencil_of(true).copied(),
                        depth: state.uses_depth().then_some((state.depth_compare, state.depth_write)),
                    }),
                    orientation: Orientation {
                        x: 0.0,
                        y: 0.0,
                        flip: false,
                        flip_derivative: false,
                    },
                    ..FragmentContext::new(&program)
                };
                let is_whole = round % 4 == 0;
                let mut quads: Vec<Quad> = (0..64)
                    .map(|number| Quad {
                        x: 32 + number % 8 * 2,
                        y: 48 + number / 8 * 2,
                        live: if is_whole { 15 } else { random.u8(..16) },
                    })
                    .collect();
                quads.retain(|quad| quad.live != 0);
                let listed = match is_whole {
                    true => Quads::Tile([32, 48]),
                    false => Quads::Some(&quads),
                };
                let mut tile = tile(&mut random, 1, false);
                let mut wanted = tile.clone();
                let mut colors = Fragments::default();
                let floats = FragmentContext {
                    wants_words: false,
                    blending: None,
                    tests: None,
                    ..context
                };
                Scalar.fragments(&floats, &inputs, &quads, &mut colors).unwrap();
                for (number, quad) in quads.iter().enumerate() {
                    for lane in (0..4usize).filter(|lane| quad.live >> lane & 1 == 1) {
                        let (x, y) = (quad.x + (lane as u32 & 1), quad.y + (lane as u32 >> 1));
                        let [dx, dy] = inputs.offset(x, y);
                        let incoming = Incoming {
                            pixel: in_tile(x, y),
                            coverage: 15,
                            color: colors.color.each_ref().map(|row| row[4 * number + lane]),
                            second: [0.0; 4],
                            depth: [steps(inputs.z.at(dx, dy)) + 1.0; 4],
                            front: true,
                            stencil: None,
                        };
                        let before = wanted.color.get(incoming.pixel);
                        reference::put(&mut wanted, &state, &incoming);
                        let is_same = wanted.color.get(incoming.pixel) == before;
                        *(if is_same { &mut failed } else { &mut passed }) += 1;
                    }
                }
                let mut out = Fragments::default();
                tile.words(listed, &mut out.words);
                let plane = DepthPlane {
                    inputs: &inputs,
                    offset: 1.0,
                };
                tile.samples(&state, plane, listed, &mut out.samples);
                let kernel = engine.kernel(&context, true).expect("a kernel");
                let ran = kernel.paint(&context, &inputs, listed, &mut out);
                assert!(ran.is_some());
                tile.put_samples(listed, &out.samples.after);
                if state.blending.write_mask != 0 {
                    tile.put_words(listed, &out.words);
                }
                assert_eq!(tile.color, wanted.color, "{level:?} {round}: {state:?}");
                assert_eq!(tile.depth, wanted.depth, "{level:?} {round}: {state:?}");
                assert_eq!(tile.stencil, wanted.stencil, "{level:?} {round}: {state:?}");
            }
        }
        println!("{passed} fragments change what the tile has, {failed} do not");
        assert!(Native::default().is_there() == (passed.min(failed) > 5_000));
    }
}
