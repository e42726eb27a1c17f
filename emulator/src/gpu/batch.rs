//! Fragments of a primitive brought into the tile many at a time: what [`Tile::put`] does one by one, which is the
//! specification.

use super::raster::sample_offset;
use super::state::{State, Stencil};
use super::tile::{Colors, SIDE, Tile, alpha_reaches, compares, coverage_of, reloaded, steps, within};
use crate::blend::{Blending, unit};
use crate::exec::inputs::{Inputs, Plane};
use crate::exec::{Fragments, MAX_FRAGMENTS, MAX_QUADS, Quad};
use crate::simd::{Found, dispatch};
use crate::texture::texel::u_order;
use num::lanes::QuadLanes;
use utgard::state::{Compare, StencilOp};

/// Fragments of a quad from its first one, in the tile's order.
const QUAD: [usize; 4] = [0, 1, 3, 2];

/// A row of numbers, one for each fragment.
type Row = [f32; MAX_FRAGMENTS];

static ONES: Row = [1.0; MAX_FRAGMENTS];
static ZEROS: Row = [0.0; MAX_FRAGMENTS];

/// Fragments of one primitive on their way into the tile.
pub struct Batch<'a> {
    /// Their draw's state.
    pub state: &'a State,
    /// Their quads.
    pub quads: &'a [Quad],
    /// Samples that are covered of each pixel of each quad.
    pub samples: &'a [[u8; 4]],
    /// What their program made.
    pub fragments: &'a Fragments,
    /// Their primitive.
    pub inputs: &'a Inputs,
    /// Polygon offset, in the depth buffer's steps.
    pub offset: f64,
}

/// Room that batches need for a while.
#[derive(Clone, Debug)]
pub struct Room {
    have: [Row; 4],
    blended: [Row; 4],
    bytes: [u32; MAX_FRAGMENTS],
    wide: [u64; MAX_FRAGMENTS],
    depths: [u32; MAX_FRAGMENTS],
    /// Depth and stencil that come back into the tile.
    reloaded: [u32; MAX_FRAGMENTS],
    /// Places of the fragments, from where their planes have their base.
    places: [Row; 2],
    tested: Tested,
}

/// Fragments on their way through the tests: a byte each, 1 for those that are still there.
#[derive(Clone, Debug)]
struct Tested {
    arrived: Lanes,
    /// The stencil test passed.
    fits: Lanes,
    /// And the depth test.
    passed: Lanes,
    /// What the tile has.
    depths: [u32; MAX_FRAGMENTS],
    stencils: Lanes,
    /// What the stencils become after one of the outcomes.
    new: Lanes,
}

/// A byte for each fragment.
type Lanes = [u8; MAX_FRAGMENTS];

impl Default for Tested {
    fn default() -> Self {
        Self {
            arrived: [0; MAX_FRAGMENTS],
            fits: [0; MAX_FRAGMENTS],
            passed: [0; MAX_FRAGMENTS],
            depths: [0; MAX_FRAGMENTS],
            stencils: [0; MAX_FRAGMENTS],
            new: [0; MAX_FRAGMENTS],
        }
    }
}

impl Default for Room {
    fn default() -> Self {
        Self {
            have: [ZEROS; 4],
            blended: [ZEROS; 4],
            bytes: [0; MAX_FRAGMENTS],
            wide: [0; MAX_FRAGMENTS],
            depths: [0; MAX_FRAGMENTS],
            reloaded: [0; MAX_FRAGMENTS],
            places: [ZEROS; 2],
            tested: Tested::default(),
        }
    }
}

/// Live fragments of each quad, a bit each.
type Live = [u8; MAX_QUADS];

impl Batch<'_> {
    /// Fragments whose alpha passes its test.
    fn past_alpha(&self, room: &mut Room) -> Live {
        let (mut live, state) = (self.fragments.live, self.state);
        if state.alpha_compare != Compare::Always {
            let (alphas, passed, count) = (&self.fragments.color[3], &mut room.tested.passed, self.count());
            dispatch!(alphas_all(state: &State, alphas: &Row, count: usize, passed: &mut Lanes) -> (), Found::best());
            keep(&mut live, passed);
        }
        live
    }

    /// Fragments of which a sample is covered: by the shape, the state's mask, and alpha as coverage.
    fn covered(&self, mut live: Live, sample: usize) -> Live {
        let state = self.state;
        let alphas = self.fragments.color[3].as_chunks::<4>().0;
        let rows = live.iter_mut().zip(self.samples).zip(alphas);
        for ((live, samples), alphas) in rows.take(self.quads.len()) {
            let of_alpha = |lane: usize| match state.alpha_to_coverage {
                true => coverage_of(alphas[lane]),
                false => 15,
            };
            let covered = |lane: usize| (samples[lane] & state.sample_mask & of_alpha(lane)) >> sample & 1 == 1;
            *live &= bits([covered(0), covered(1), covered(2), covered(3)]);
        }
        live
    }

    /// How many fragments there are, live or not.
    fn count(&self) -> usize {
        4 * self.quads.len().min(MAX_QUADS)
    }

    /// The stencil of the side that is seen lets everything pass and stays as it is.
    fn ignores_stencil(&self) -> bool {
        let face = &self.state.stencil[usize::from(!self.inputs.front)];
        face.compare == Compare::Always && face.operations[1..] == [StencilOp::Keep; 2]
    }
}

/// Bits of some yeses and noes.
#[inline]
fn bits(lanes: [bool; 4]) -> u8 {
    let [a, b, c, d] = lanes;
    u8::from(a) | u8::from(b) << 1 | u8::from(c) << 2 | u8::from(d) << 3
}

/// Which outcomes of a comparison pass: less, equal, greater.
#[derive(Clone, Copy)]
struct Passes([bool; 3]);

impl Passes {
    fn of(compare: Compare) -> Self {
        Self([(0, 1), (1, 1), (2, 1)].map(|(a, b)| compares(compare, a, b)))
    }

    #[inline(always)]
    fn one<T: PartialOrd>(self, a: &T, b: &T) -> bool {
        let Self([less, equal, greater]) = self;
        less & (a < b) | equal & (a == b) | greater & (a > b)
    }
}

/// Of which samples something is done: how many a pixel has, and which.
#[derive(Clone, Copy)]
struct Stride {
    samples: usize,
    sample: usize,
}

impl Stride {
    /// What a row of the tile has of a quad's four fragments.
    #[inline]
    fn four<T: Copy>(self, row: &[T], first: usize) -> Option<[T; 4]> {
        if self.samples == 1 {
            let [a, b, c, d] = *row.get(first..)?.first_chunk::<4>()?;
            return Some([a, b, d, c]);
        }
        let row = row.get(first * self.samples..(first + 4) * self.samples)?;
        let at = |lane: usize| row[QUAD[lane] * self.samples + self.sample];
        Some([at(0), at(1), at(2), at(3)])
    }

    /// Puts what a quad's live fragments have into a row of the tile.
    #[inline]
    fn put<T: Copy>(self, row: &mut [T], first: usize, live: u8, [a, b, c, d]: [T; 4]) {
        if self.samples == 1
            && live == 15
            && let Some(four) = row.get_mut(first..).and_then(|row| row.first_chunk_mut::<4>())
        {
            *four = [a, b, d, c];
            return;
        }
        for (lane, value) in [a, b, c, d].into_iter().enumerate() {
            let at = (first + QUAD[lane]) * self.samples + self.sample;
            if live >> lane & 1 == 1
                && let Some(slot) = row.get_mut(at)
            {
                *slot = value;
            }
        }
    }
}

impl Tile {
    /// Tests the live fragments of a batch and blends them.
    pub fn put_batch(&mut self, batch: &Batch<'_>, room: &mut Room) {
        let (state, fragments) = (batch.state, batch.fragments);
        let passed = batch.past_alpha(room);
        let mut color = fragments.color.each_ref();
        if state.alpha_to_one {
            color[3] = &ONES;
        }
        let count = batch.count();
        let covers = state.blending.covers() || fragments.has_words;
        if covers && !fragments.has_words {
            self.quantise(color, count, &mut room.bytes, &mut room.wide);
        }
        let some = self.samples > 1 || state.alpha_to_coverage || state.sample_mask != 15;
        let tests = state.uses_depth() || !batch.ignores_stencil();
        if state.packed_depth {
            batch.reloaded(&mut room.reloaded);
        }
        for sample in 0..self.samples {
            let stride = Stride {
                samples: self.samples,
                sample,
            };
            let mut live = if some { batch.covered(passed, sample) } else { passed };
            if tests {
                self.test(batch, stride, &mut live, room);
            }
            if state.blending.write_mask == 0 {
                continue;
            }
            if !covers {
                self.blend(batch, color, stride, room);
            }
            let words = match fragments.has_words {
                true => &fragments.words,
                false => &room.bytes,
            };
            match &mut self.color {
                Colors::Bytes(tile) => scatter(tile, batch.quads, &live, words, stride),
                Colors::Wide(tile) => scatter(tile, batch.quads, &live, &room.wide, stride),
            }
        }
    }

    /// The words the tile has where the fragments of a batch are, for what blends words. One sample, a byte a channel.
    pub fn words(&self, quads: &[Quad], into: &mut [u32; MAX_FRAGMENTS]) {
        let stride = Stride { samples: 1, sample: 0 };
        if let Colors::Bytes(tile) = &self.color {
            collect(tile, quads, into, stride);
        }
    }

    /// Takes fragments that fail the tests of stencil and depth out of the live ones, and stores both of the others.
    fn test(&mut self, batch: &Batch<'_>, stride: Stride, live: &mut Live, room: &mut Room) {
        let (state, count, quads) = (batch.state, batch.count(), batch.quads);
        let (uses_depth, uses_stencil) = (state.uses_depth(), !batch.ignores_stencil());
        let face = &state.stencil[usize::from(!batch.inputs.front)];
        spread(live, count, &mut room.tested.arrived);
        room.tested.fits = room.tested.arrived;
        if uses_stencil {
            collect(&self.stencil, quads, &mut room.tested.stencils, stride);
            let tested = &mut room.tested;
            dispatch!(fit_all(face: &Stencil, count: usize, tested: &mut Tested) -> (), Found::best());
        }
        room.tested.passed = room.tested.fits;
        if uses_depth {
            batch.depths(stride, room);
            collect(&self.depth, quads, &mut room.tested.depths, stride);
            let (tested, depths) = (&mut room.tested, &room.depths);
            let nearer = Passes::of(state.depth_compare);
            dispatch!(
                near_all(
                    nearer: Passes,
                    depths: &[u32; MAX_FRAGMENTS],
                    count: usize,
                    tested: &mut Tested,
                ) -> (),
                Found::best()
            );
            if state.depth_write {
                store(&mut self.depth, quads, &room.tested.depths, stride);
            }
        }
        if uses_stencil {
            let (tested, packed) = (&mut room.tested, state.packed_depth.then_some(&room.reloaded));
            dispatch!(
                update_all(
                    face: &Stencil,
                    packed: Option<&[u32; MAX_FRAGMENTS]>,
                    count: usize,
                    tested: &mut Tested,
                ) -> (),
                Found::best()
            );
            store(&mut self.stencil, quads, &room.tested.stencils, stride);
        }
        keep(live, &room.tested.passed);
    }

    /// Blends colours with those of a sample, into the room's words.
    fn blend(&self, batch: &Batch<'_>, color: [&Row; 4], stride: Stride, room: &mut Room) {
        let Room {
            have,
            blended,
            bytes,
            wide,
            ..
        } = room;
        let count = batch.count();
        match &self.color {
            Colors::Bytes(tile) => {
                collect(tile, batch.quads, bytes, stride);
                dispatch!(unpack_bytes(bytes: &[u32; MAX_FRAGMENTS], count: usize, have: &mut [Row; 4]) -> (), Found::best());
            }
            Colors::Wide(tile) => {
                collect(tile, batch.quads, wide, stride);
                let words = &*wide;
                dispatch!(unpack_wide(words: &[u64; MAX_FRAGMENTS], count: usize, have: &mut [Row; 4]) -> (), Found::best());
            }
        }
        let blending = &batch.state.blending;
        let second = match blending.uses_second() {
            true => batch.fragments.second.each_ref(),
            false => [&ZEROS; 4],
        };
        let one = self.one;
        dispatch!(
            blend_all(
                blending: &Blending,
                color: [&Row; 4],
                second: [&Row; 4],
                have: &[Row; 4],
                one: f32,
                count: usize,
                blended: &mut [Row; 4],
            ) -> (),
            Found::best()
        );
        self.quantise(blended.each_ref(), count, bytes, wide);
    }

    /// Colours as the tile has them, into words of one kind.
    fn quantise(
        &self,
        color: [&Row; 4],
        count: usize,
        bytes: &mut [u32; MAX_FRAGMENTS],
        words: &mut [u64; MAX_FRAGMENTS],
    ) {
        let one = self.one;
        match self.color {
            Colors::Bytes(_) => {
                dispatch!(quantise_bytes(color: [&Row; 4], count: usize, bytes: &mut [u32; MAX_FRAGMENTS]) -> (), Found::best());
            }
            Colors::Wide(_) => {
                dispatch!(quantise_wide(color: [&Row; 4], one: f32, count: usize, words: &mut [u64; MAX_FRAGMENTS]) -> (), Found::best());
            }
        }
    }
}

impl Batch<'_> {
    /// Depth, and stencil in the lowest byte, that the fragments' colours bring back.
    fn reloaded(&self, into: &mut [u32; MAX_FRAGMENTS]) {
        let count = self.count();
        let [red, green, blue, alpha] = &self.fragments.color;
        for (at, into) in into.iter_mut().enumerate().take(count) {
            let [depth, stencil] = reloaded([red[at], green[at], blue[at], alpha[at]]);
            *into = depth << 8 | stencil;
        }
    }

    /// Depths of a sample of every fragment as the tile has them.
    fn depths(&self, stride: Stride, room: &mut Room) {
        let Room {
            depths: into,
            reloaded,
            places: [columns, rows],
            ..
        } = room;
        let range = self.state.depth_range.map(steps);
        let count = self.count();
        if self.state.packed_depth {
            for (into, reloaded) in into.iter_mut().zip(&*reloaded).take(count) {
                *into = within(range, f64::from(reloaded >> 8));
            }
            return;
        }
        if self.state.depth_register.is_some() {
            for (into, depth) in into.iter_mut().zip(&self.fragments.depth).take(count) {
                *into = within(range, steps(*depth));
            }
            return;
        }
        let beside = match stride.samples {
            1 => [0.0; 2],
            _ => sample_offset(stride.sample),
        };
        let fours = columns
            .as_chunks_mut::<4>()
            .0
            .iter_mut()
            .zip(rows.as_chunks_mut::<4>().0);
        for (quad, (columns, rows)) in self.quads.iter().zip(fours) {
            let ([left, top], [right, bottom]) = (
                self.inputs.offset(quad.x, quad.y),
                self.inputs.offset(quad.x + 1, quad.y + 1),
            );
            let ([left, right], [top, bottom]) = (
                [left + beside[0], right + beside[0]],
                [top + beside[1], bottom + beside[1]],
            );
            *columns = [left, right, left, right];
            *rows = [top, top, bottom, bottom];
        }
        let (places, plane, offset) = ([&*columns, &*rows], &self.inputs.z, self.offset);
        dispatch!(
            depths_all(
                places: [&Row; 2],
                plane: &Plane,
                offset: f64,
                range: [f64; 2],
                count: usize,
                into: &mut [u32; MAX_FRAGMENTS],
            ) -> (),
            Found::best()
        );
    }
}

/// Depths of a plane; a plain loop, which becomes as wide as what it is compiled for.
#[inline(always)]
fn depths_all<L: QuadLanes>(
    [columns, rows]: [&Row; 2],
    plane: &Plane,
    offset: f64,
    range: [f64; 2],
    count: usize,
    into: &mut [u32; MAX_FRAGMENTS],
) {
    let mut at = 0;
    while at < count.min(MAX_FRAGMENTS) {
        for at in at..(at + L::COUNT).min(MAX_FRAGMENTS) {
            into[at] = within(range, steps(plane.at(columns[at], rows[at])) + offset);
        }
        at += L::COUNT;
    }
}

/// Takes fragments that did not pass out of the live ones.
fn keep(live: &mut Live, passed: &Lanes) {
    for (live, four) in live.iter_mut().zip(passed.as_chunks::<4>().0) {
        // The lowest bits of four bytes, side by side.
        *live &= (u32::from_le_bytes(*four).wrapping_mul(0x0102_0408) >> 24) as u8 & 15;
    }
}

/// A byte for each fragment: whether it is live.
fn spread(live: &Live, count: usize, into: &mut Lanes) {
    for (live, four) in live.iter().zip(into.as_chunks_mut::<4>().0).take(count / 4) {
        *four = (u32::from(*live).wrapping_mul(0x0020_4081) & 0x0101_0101).to_le_bytes();
    }
}

/// Finds what passes the alpha test.
#[inline(always)]
fn alphas_all<L: QuadLanes>(state: &State, alphas: &Row, count: usize, passed: &mut Lanes) {
    let Passes([less, equal, greater]) = Passes::of(state.alpha_compare);
    let reference = f32::from(state.alpha_reference);
    let mut at = 0;
    while at < count.min(MAX_FRAGMENTS) {
        for at in at..(at + L::COUNT).min(MAX_FRAGMENTS) {
            let [reached, beyond] = alpha_reaches(alphas[at], reference);
            passed[at] = u8::from(less & !reached | equal & reached & !beyond | greater & beyond);
        }
        at += L::COUNT;
    }
}

/// Finds what passes the stencil test; a plain loop, as all of these.
#[inline(always)]
fn fit_all<L: QuadLanes>(face: &Stencil, count: usize, tested: &mut Tested) {
    let (fits, reference) = (Passes::of(face.compare), face.reference & face.mask);
    let mut at = 0;
    while at < count.min(MAX_FRAGMENTS) {
        for at in at..(at + L::COUNT).min(MAX_FRAGMENTS) {
            let have = tested.stencils[at] & face.mask;
            tested.fits[at] = tested.arrived[at] & u8::from(fits.one(&reference, &have));
        }
        at += L::COUNT;
    }
}

/// Finds what passes the depth test, and what the tile has then.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "iterators are not made for the vector units")]
fn near_all<L: QuadLanes>(nearer: Passes, depths: &[u32; MAX_FRAGMENTS], count: usize, tested: &mut Tested) {
    let mut at = 0;
    while at < count.min(MAX_FRAGMENTS) {
        for at in at..(at + L::COUNT).min(MAX_FRAGMENTS) {
            let have = tested.depths[at];
            let passes = u32::from(tested.fits[at]) & u32::from(nearer.one(&depths[at], &have));
            tested.passed[at] = passes as u8;
            tested.depths[at] = if passes == 1 { depths[at] } else { have };
        }
        at += L::COUNT;
    }
}

/// Stencils after each of the outcomes, [`updated`](super::tile::updated).
#[inline(always)]
#[expect(clippy::extra_unused_type_parameters, reason = "it says what this is compiled for")]
fn update_all<L: QuadLanes>(face: &Stencil, packed: Option<&[u32; MAX_FRAGMENTS]>, count: usize, tested: &mut Tested) {
    let old = tested.stencils;
    for outcome in 0..3 {
        if face.operations[outcome] == StencilOp::Keep {
            continue;
        }
        new_all(face, outcome, packed, &old, &mut tested.new);
        for at in 0..count.min(MAX_FRAGMENTS) {
            let (arrived, fits, passed) = (tested.arrived[at], tested.fits[at], tested.passed[at]);
            let mine = [arrived & !fits, fits & !passed, passed][outcome] & 1;
            tested.stencils[at] = if mine == 1 { tested.new[at] } else { tested.stencils[at] };
        }
    }
}

/// What stencils become by an operation.
#[inline(always)]
fn new_all(face: &Stencil, outcome: usize, packed: Option<&[u32; MAX_FRAGMENTS]>, old: &Lanes, new: &mut Lanes) {
    // A loop for each operation, with nothing to choose inside.
    macro_rules! each {
        (|$have:ident, $at:ident| $new:expr) => {
            for $at in 0..MAX_FRAGMENTS {
                let $have = old[$at];
                new[$at] = $have & !face.write_mask | $new & face.write_mask;
            }
        };
    }
    match (face.operations[outcome], packed) {
        (StencilOp::Keep, _) => *new = *old,
        (StencilOp::Replace, Some(packed)) => each!(|have, at| packed[at] as u8),
        (StencilOp::Replace, None) => each!(|have, at| face.reference),
        (StencilOp::Zero, _) => each!(|have, at| 0),
        (StencilOp::Invert, _) => each!(|have, at| !have),
        (StencilOp::IncrementWrap, _) => each!(|have, at| have.wrapping_add(1)),
        (StencilOp::DecrementWrap, _) => each!(|have, at| have.wrapping_sub(1)),
        (StencilOp::Increment, _) => each!(|have, at| have.saturating_add(1)),
        (StencilOp::Decrement, _) => each!(|have, at| have.saturating_sub(1)),
    }
}

/// Puts what all fragments of a batch have into the tile.
fn store<T: Copy>(tile: &mut [T], quads: &[Quad], values: &[T; MAX_FRAGMENTS], stride: Stride) {
    for (quad, values) in quads.iter().zip(values.as_chunks::<4>().0) {
        stride.put(tile, first_of(quad), 15, *values);
    }
}

/// Puts the colours of a batch where they belong, those of live fragments.
fn scatter<T: Copy>(tile: &mut [T], quads: &[Quad], live: &Live, colors: &[T; MAX_FRAGMENTS], stride: Stride) {
    let fours = colors.as_chunks::<4>().0;
    // As many quads as a tile has are a tile's, row by row.
    if stride.samples == 1
        && quads.len() == MAX_QUADS
        && *live == [15; MAX_QUADS]
        && let Some(tile) = tile.first_chunk_mut::<MAX_FRAGMENTS>()
    {
        let into = tile.as_chunks_mut::<4>().0;
        for (first, [a, b, c, d]) in WHOLE.iter().zip(fours) {
            into[usize::from(first & 63)] = [*a, *b, *d, *c];
        }
        return;
    }
    for ((quad, live), colors) in quads.iter().zip(live).zip(fours) {
        stride.put(tile, first_of(quad), *live, *colors);
    }
}

/// What the tile has where the fragments of a batch are.
fn collect<T: Copy>(tile: &[T], quads: &[Quad], into: &mut [T; MAX_FRAGMENTS], stride: Stride) {
    for (quad, into) in quads.iter().zip(into.as_chunks_mut::<4>().0) {
        if let Some(have) = stride.four(tile, first_of(quad)) {
            *into = have;
        }
    }
}

/// Where the quads of a tile are, row by row, in the tile's order.
static WHOLE: [u8; MAX_QUADS] = {
    let mut all = [0; MAX_QUADS];
    let mut number = 0;
    while number < MAX_QUADS {
        let (column, row) = (number as u32 % (SIDE / 2), number as u32 / (SIDE / 2));
        all[number] = (u_order(2 * column, 2 * row) / 4) as u8;
        number += 1;
    }
    all
};

/// Number of a quad's first pixel in its tile.
#[inline]
fn first_of(quad: &Quad) -> usize {
    usize::from(WHOLE[(quad.y & 14) as usize * 4 + (quad.x & 14) as usize / 2]) * 4
}

/// Channels of words as floats; a plain loop, which becomes as wide as what it is compiled for.
#[inline(always)]
fn unpack_bytes<L: QuadLanes>(words: &[u32; MAX_FRAGMENTS], count: usize, [red, green, blue, alpha]: &mut [Row; 4]) {
    let mut at = 0;
    while at < count.min(MAX_FRAGMENTS) {
        for at in at..(at + L::COUNT).min(MAX_FRAGMENTS) {
            red[at] = (words[at] & 0xff) as f32;
            green[at] = (words[at] >> 8 & 0xff) as f32;
            blue[at] = (words[at] >> 16 & 0xff) as f32;
            alpha[at] = (words[at] >> 24) as f32;
        }
        at += L::COUNT;
    }
}

/// The same of sixteen bits a channel.
#[inline(always)]
fn unpack_wide<L: QuadLanes>(words: &[u64; MAX_FRAGMENTS], count: usize, [red, green, blue, alpha]: &mut [Row; 4]) {
    let mut at = 0;
    while at < count.min(MAX_FRAGMENTS) {
        for at in at..(at + L::COUNT).min(MAX_FRAGMENTS) {
            red[at] = (words[at] & 0xffff) as f32;
            green[at] = (words[at] >> 16 & 0xffff) as f32;
            blue[at] = (words[at] >> 32 & 0xffff) as f32;
            alpha[at] = (words[at] >> 48) as f32;
        }
        at += L::COUNT;
    }
}

/// Blends a batch with what the tile has, channels from 0 to `one`; those that are not written stay.
#[inline(always)]
fn blend_all<L: QuadLanes>(
    blending: &Blending,
    color: [&Row; 4],
    second: [&Row; 4],
    have: &[Row; 4],
    one: f32,
    count: usize,
    blended: &mut [Row; 4],
) {
    let mut at = 0;
    while at < count {
        let tile = load::<L>(have.each_ref(), at);
        let [red, green, blue, alpha] = tile;
        let tile = [
            unit::<L>(red, one),
            unit::<L>(green, one),
            unit::<L>(blue, one),
            unit::<L>(alpha, one),
        ];
        let result = blending.blend::<L>(load::<L>(color, at), load::<L>(second, at), tile);
        let mut channel = 0;
        while channel < 4 {
            // A channel that stays is stored again as it was: dividing and multiplying give the number back.
            let value = if blending.writes(channel) {
                result[channel]
            } else {
                tile[channel]
            };
            L::store(&mut blended[channel][at..], value);
            channel += 1;
        }
        at += L::COUNT;
    }
}

/// Four rows from a fragment on.
#[inline(always)]
fn load<L: QuadLanes>([a, b, c, d]: [&Row; 4], at: usize) -> [L::V; 4] {
    [
        L::load(&a[at..]),
        L::load(&b[at..]),
        L::load(&c[at..]),
        L::load(&d[at..]),
    ]
}

/// Colours of a batch as bytes; what [`unorm`](crate::exec::unorm) does, many at a time.
#[inline(always)]
fn quantise_bytes<L: QuadLanes>(color: [&Row; 4], count: usize, into: &mut [u32; MAX_FRAGMENTS]) {
    let mut at = 0;
    while at < count {
        let [red, green, blue, alpha] = whole_channels::<L>(color, 255.0, at);
        let mut lane = 0;
        while lane < L::COUNT {
            let low = red[lane].to_bits() & 0xff | (green[lane].to_bits() & 0xff) << 8;
            into[at + lane] = low | (blue[lane].to_bits() & 0xff) << 16 | alpha[lane].to_bits() << 24;
            lane += 1;
        }
        at += L::COUNT;
    }
}

/// Colours of a batch as they are stored in sixteen bits; what [`unorm`](crate::exec::unorm) does, many at a time.
#[inline(always)]
fn quantise_wide<L: QuadLanes>(color: [&Row; 4], one: f32, count: usize, into: &mut [u64; MAX_FRAGMENTS]) {
    let mut at = 0;
    while at < count {
        let [red, green, blue, alpha] = whole_channels::<L>(color, one, at);
        let mut lane = 0;
        while lane < L::COUNT {
            let low = red[lane].to_bits() & 0xffff | green[lane].to_bits() << 16;
            let high = blue[lane].to_bits() & 0xffff | alpha[lane].to_bits() << 16;
            into[at + lane] = u64::from(low) | u64::from(high) << 32;
            lane += 1;
        }
        at += L::COUNT;
    }
}

/// Lanes of the widest row.
const MOST: usize = 16;

/// Channels of the fragments from `at` on, from 0 to `one`, as whole numbers in the last bits of floats.
#[inline(always)]
fn whole_channels<L: QuadLanes>(color: [&Row; 4], one: f32, at: usize) -> [[f32; MOST]; 4] {
    let mut whole = [[0.0f32; MOST]; 4];
    let mut channel = 0;
    while channel < 4 {
        // Zero in front: what is no number becomes the second operand.
        let value = L::min(L::max(L::load(&color[channel][at..]), L::splat(0.0)), L::splat(1.0));
        let rounded = L::floor(L::add(L::mul(value, L::splat(one)), L::splat(0.5)));
        // Behind 2^23 the last bits are the whole number.
        L::store(&mut whole[channel], L::add(rounded, L::splat(8_388_608.0)));
        channel += 1;
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::super::tile::in_tile;
    use super::*;
    use crate::blend::Factor;
    use crate::gpu::state::Stencil;
    use crate::gpu::tile::{Incoming, MAX_DEPTH, PIXELS};
    use fastrand::Rng;
    use utgard::state::{Equation, FactorSource};

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
            let one = |complement| Factor {
                complement,
                ..Factor::default()
            };
            return Blending {
                color: [one(true), one(false)],
                alpha: [one(true), one(false)],
                write_mask: if random.bool() { 15 } else { 0 },
                ..Blending::default()
            };
        }
        Blending {
            constant: [0.25, 0.5, 1.0, 0.75],
            equations,
            color,
            alpha,
            write_mask: random.u32(..16),
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

    /// The many-at-a-time way does what the plain way does, which is the specification.
    #[test]
    fn batches_are_put_as_ever() {
        let mut random = Rng::with_seed(11);
        let mut room = Room::default();
        for round in 0..1500 {
            let samples = if round % 3 == 0 { 4 } else { 1 };
            let state = state(&mut random, samples);
            let mut tile = tile(&mut random, samples, round % 5 == 0);
            let fragments = fragments(&mut random);
            let quads: Vec<Quad> = (0..64)
                .filter(|_| random.u32(..4) > 0)
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
                        let [depth, stencil] = reloaded(incoming.color);
                        (incoming.depth, incoming.stencil) = ([f64::from(depth); 4], Some(stencil as u8));
                    }
                    wanted.put(&state, &incoming);
                }
            }
            let batch = Batch {
                state: &state,
                quads: &quads,
                samples: &covered,
                fragments: &fragments,
                inputs: &inputs,
                offset,
            };
            tile.put_batch(&batch, &mut room);
            assert_eq!(tile.color, wanted.color, "{round}: {state:?}");
            assert_eq!(tile.depth, wanted.depth, "{round}: {state:?}");
            assert_eq!(tile.stencil, wanted.stencil, "{round}: {state:?}");
        }
    }

    /// Rounding without a call is rounding.
    #[test]
    fn depths_are_rounded_to_the_nearest() {
        let mut random = Rng::with_seed(5);
        for round in 0..100_000 {
            let whole = f64::from(random.u32(..1 << 24));
            let depth = match round % 4 {
                0 => whole + 0.5,
                1 => (whole + 0.5).next_down(),
                2 => (whole - 0.5).max(0.0),
                _ => whole + random.f64(),
            };
            assert_eq!(within([0.0, 1e9], depth), depth.round() as u32, "{depth}");
        }
        assert_eq!(within([0.0, 1e9], 0.5f64.next_down()), 0);
        assert_eq!(within([3.0, 7.0], f64::NAN), 3);
    }
}
