//! Fragments of a primitive brought into the tile many at a time: what [`Tile::put`] does one by one, which is the
//! specification.

use super::access::{self, Batch, Lanes, Row, Spots, spread};
use super::buffer::{Colors, Tile, coverage_of};
use super::fragment_tests::{Passed, Tested};
use crate::blend::{Blending, unit};
use crate::exec::{MAX_FRAGMENTS, Quad, Quads};
use crate::simd::{Found, dispatch};
use num::lanes::QuadLanes;

static ONES: Row = [1.0; MAX_FRAGMENTS];
static ZEROS: Row = [0.0; MAX_FRAGMENTS];

/// Room that batches need for a while.
#[derive(Clone, Debug)]
pub struct Room {
    have: [Row; 4],
    blended: [Row; 4],
    bytes: [u32; MAX_FRAGMENTS],
    wide: [u64; MAX_FRAGMENTS],
    /// Fragments whose alpha passed.
    live: Lanes,
    tested: Tested,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            have: [ZEROS; 4],
            blended: [ZEROS; 4],
            bytes: [0; MAX_FRAGMENTS],
            wide: [0; MAX_FRAGMENTS],
            live: [0; MAX_FRAGMENTS],
            tested: Tested::default(),
        }
    }
}

impl Batch<'_> {
    /// Takes fragments out of which a sample is not covered: by the shape, the state's mask, and alpha as coverage.
    fn cover(&self, sample: usize, arrived: &mut Lanes) {
        let state = self.state;
        let alphas = self.fragments.color[3].as_chunks::<4>().0;
        let rows = arrived.as_chunks_mut::<4>().0.iter_mut().zip(alphas).enumerate();
        for (quad, (arrived, alphas)) in rows.take(self.quads.count()) {
            let samples = self.samples.get(quad).unwrap_or(&[15; 4]);
            for lane in 0..4 {
                let of_alpha = match state.alpha_to_coverage {
                    true => coverage_of(alphas[lane]),
                    false => 15,
                };
                arrived[lane] &= (samples[lane] & state.sample_mask & of_alpha) >> sample & 1;
            }
        }
    }
}

impl Tile {
    /// Tests the live fragments of a batch and blends them.
    pub fn put_batch(&mut self, batch: &Batch<'_>, room: &mut Room) {
        let (state, fragments) = (batch.state, batch.fragments);
        if !batch.tested {
            spread(fragments.live.iter().copied(), &mut room.tested.arrived);
            batch.test_alpha(&mut room.tested);
            room.live = room.tested.arrived;
            batch.reload(&mut room.tested);
        }
        let mut color = fragments.color.each_ref();
        if state.alpha_to_one {
            color[3] = &ONES;
        }
        let covers = state.blending.covers() || fragments.has_words;
        if covers && !fragments.has_words {
            self.quantise(color, batch.count(), &mut room.bytes, &mut room.wide);
        }
        let some = self.samples > 1 || state.alpha_to_coverage || state.sample_mask != 15;
        for sample in 0..self.samples {
            let spots = batch.spots(self.samples, sample);
            if !batch.tested {
                room.tested.arrived = room.live;
                if some {
                    batch.cover(sample, &mut room.tested.arrived);
                }
                self.pass(batch, spots, &mut room.tested);
            }
            if state.blending.write_mask == 0 {
                continue;
            }
            if !covers {
                self.blend(batch, color, spots, room);
            }
            let (words, passed) = (
                if fragments.has_words {
                    &fragments.words
                } else {
                    &room.bytes
                },
                &room.tested.passed,
            );
            match &mut self.color {
                Colors::Bytes(tile) => spots.scatter_words(tile, passed, words),
                Colors::Wide(tile) => spots.scatter(tile, passed, &room.wide),
            }
        }
    }

    /// [`Tile::put_batch`] of words of a whole tile whose fragments are all live, in a state that
    /// [has words](crate::gpu::state::State::takes_words).
    pub fn put_live_words(&mut self, batch: &Batch<'_>, room: &mut Room) {
        if batch.tested || !self.put_whole(batch, &mut room.tested) {
            self.put_batch(batch, room);
        }
    }

    /// Finds which of the fragments that arrived pass the tests there are.
    fn pass(&mut self, batch: &Batch<'_>, spots: Spots<'_>, tested: &mut Tested) {
        if batch.is_tested() {
            self.test(batch, spots, tested);
        } else {
            tested.passed = tested.arrived;
        }
    }

    /// Tests fragments before their colours are known, which the tests of [their state](State::takes_words) do not ask for,
    /// in a tile of one sample. The colours of those that pass come by [`Tile::put_batch`].
    pub(crate) fn test_early(&mut self, batch: &Batch<'_>, room: &mut Room) -> Passed {
        let tested = &mut room.tested;
        match batch.quads {
            Quads::Tile(_) => tested.arrived = [1; MAX_FRAGMENTS],
            Quads::Some(quads) => spread(quads.iter().map(|quad| quad.live), &mut tested.arrived),
        }
        self.pass(batch, batch.spots(1, 0), tested);
        Passed::of(&tested.passed, batch.count())
    }

    /// Puts words of fragments that no test takes out, in a tile of one sample and a byte a channel.
    pub fn put_words(&mut self, quads: Quads<'_>, words: &[u32; MAX_FRAGMENTS]) {
        let Colors::Bytes(tile) = &mut self.color else {
            return;
        };
        match (quads, tile.first_chunk_mut()) {
            (Quads::Tile(_), Some(tile)) => *tile = *words,
            (Quads::Tile(_), None) => {}
            (Quads::Some(quads), _) => access::put_live(quads, tile, words),
        }
    }

    /// Puts those of a whole tile's words that quads are live in, as [`Tile::put_words`].
    pub fn put_some_words(&mut self, quads: &[Quad], words: &[u32; MAX_FRAGMENTS]) {
        if let Colors::Bytes(tile) = &mut self.color {
            access::put_live_of(quads, tile, words);
        }
    }

    /// The words the tile has, of one sample and a byte a channel.
    pub fn bytes(&mut self) -> Option<&mut [u32; MAX_FRAGMENTS]> {
        match &mut self.color {
            Colors::Bytes(tile) if self.samples == 1 => tile.first_chunk_mut(),
            _ => None,
        }
    }

    /// The words the tile has where the fragments of a batch are, for what blends words. One sample, a byte a channel.
    pub fn words(&self, quads: Quads<'_>, into: &mut [u32; MAX_FRAGMENTS]) {
        let spots = Spots {
            quads,
            samples: 1,
            sample: 0,
        };
        if let Colors::Bytes(tile) = &self.color {
            spots.collect(tile, into);
        }
    }

    /// Blends colours with those of a sample, into the room's words.
    fn blend(&self, batch: &Batch<'_>, color: [&Row; 4], spots: Spots<'_>, room: &mut Room) {
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
                spots.collect(tile, bytes);
                dispatch!(unpack_bytes(bytes: &[u32; MAX_FRAGMENTS], count: usize, have: &mut [Row; 4]) -> (), Found::best());
            }
            Colors::Wide(tile) => {
                spots.collect(tile, wide);
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
    for (step, into) in into
        .as_chunks_mut::<MOST>()
        .0
        .iter_mut()
        .enumerate()
        .take(count.div_ceil(MOST))
    {
        let [red, green, blue, alpha] = whole_channels::<L>(color, 255.0, step * MOST);
        for lane in 0..MOST {
            let low = red[lane].to_bits() & 0xff | (green[lane].to_bits() & 0xff) << 8;
            into[lane] = low | (blue[lane].to_bits() & 0xff) << 16 | alpha[lane].to_bits() << 24;
        }
    }
}

/// Colours of a batch as they are stored in sixteen bits; what [`unorm`](crate::exec::unorm) does, many at a time.
#[inline(always)]
fn quantise_wide<L: QuadLanes>(color: [&Row; 4], one: f32, count: usize, into: &mut [u64; MAX_FRAGMENTS]) {
    for (step, into) in into
        .as_chunks_mut::<MOST>()
        .0
        .iter_mut()
        .enumerate()
        .take(count.div_ceil(MOST))
    {
        let [red, green, blue, alpha] = whole_channels::<L>(color, one, step * MOST);
        for lane in 0..MOST {
            let low = red[lane].to_bits() & 0xffff | green[lane].to_bits() << 16;
            let high = blue[lane].to_bits() & 0xffff | alpha[lane].to_bits() << 16;
            into[lane] = u64::from(low) | u64::from(high) << 32;
        }
    }
}

/// Fragments at a time: lanes of the widest row, so that nothing is left over and everything is as wide as it can be.
const MOST: usize = 16;

/// Channels of the fragments from `at` on, from 0 to `one`, as whole numbers in the last bits of floats.
#[inline(always)]
fn whole_channels<L: QuadLanes>(color: [&Row; 4], one: f32, at: usize) -> [[f32; MOST]; 4] {
    let mut whole = [[0.0f32; MOST]; 4];
    let mut channel = 0;
    while channel < 4 {
        let mut lane = 0;
        while lane < MOST {
            // Zero in front: what is no number becomes the second operand.
            let value = L::load(&color[channel][at + lane..]);
            let value = L::min(L::max(value, L::splat(0.0)), L::splat(1.0));
            let rounded = L::floor(L::add(L::mul(value, L::splat(one)), L::splat(0.5)));
            // Behind 2^23 the last bits are the whole number.
            L::store(&mut whole[channel][lane..], L::add(rounded, L::splat(8_388_608.0)));
            lane += L::COUNT;
        }
        channel += 1;
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::super::buffer::{in_tile, reloaded, steps, within};
    use super::*;
    use crate::blend::Factor;
    use crate::exec::inputs::{Inputs, Plane};
    use crate::exec::{Fragments, Quad, unorm};
    use crate::gpu::raster::edge::sample_offset;
    use crate::gpu::state::State;
    use crate::gpu::state::Stencil;
    use crate::gpu::tile::{Incoming, MAX_DEPTH, PIXELS};
    use fastrand::Rng;
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
                        let [depth, stencil] = reloaded(incoming.color);
                        (incoming.depth, incoming.stencil) = ([f64::from(depth); 4], Some(stencil as u8));
                    }
                    wanted.put(&state, &incoming);
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
                tested: false,
                inputs: &inputs,
                offset,
                depths: None,
            };
            tile.put_batch(&batch, &mut room);
            assert_eq!(tile.color, wanted.color, "{round}: {state:?}");
            assert_eq!(tile.depth, wanted.depth, "{round}: {state:?}");
            assert_eq!(tile.stencil, wanted.stencil, "{round}: {state:?}");
        }
    }

    /// Words of whole tiles are put as their colours are one by one.
    #[test]
    fn whole_tiles_are_put_as_ever() {
        let mut random = Rng::with_seed(12);
        let mut room = Room::default();
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
                    wanted.put(&state, &incoming);
                }
            }
            let batch = Batch {
                state: &state,
                quads: Quads::Tile([32, 48]),
                samples: &[],
                fragments: &fragments,
                tested: false,
                inputs: &inputs,
                offset: 0.0,
                depths: None,
            };
            if state.stencil[usize::from(!inputs.front)].counts_past_mask {
                assert!(!tile.put_whole(&batch, &mut room.tested));
                continue;
            }
            assert!(tile.put_whole(&batch, &mut room.tested));
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
