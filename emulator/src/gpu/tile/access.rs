//! Fragments of a primitive many at a time, and where they are in the tile: what the tile has there, and back.

use super::buffer::in_tile;
use super::tile_tests;
use crate::exec::inputs::Inputs;
use crate::exec::{Fragments, MAX_FRAGMENTS, Quad, Quads};
use crate::gpu::state::State;

/// A row of numbers, one for each fragment.
pub(crate) type Row = [f32; MAX_FRAGMENTS];

/// Fragments of one primitive on their way into the tile.
pub struct Batch<'a> {
    /// Their draw's state.
    pub state: &'a State,
    /// Their quads.
    pub quads: Quads<'a>,
    /// Samples that are covered of each pixel of each quad; all of those that are not listed.
    pub samples: &'a [[u8; 4]],
    /// What their program made.
    pub fragments: &'a Fragments,
    /// They have been through [`Tile::test_early`], with the same room.
    pub tested: bool,
    /// Their primitive.
    pub inputs: &'a Inputs,
    /// Polygon offset, in the depth buffer's steps.
    pub offset: f64,
    /// Depths as the tile has them, where the fragments are of several primitives.
    pub depths: Option<&'a [u32; MAX_FRAGMENTS]>,
}

impl Batch<'_> {
    /// How many fragments there are, live or not.
    pub(crate) fn count(&self) -> usize {
        4 * self.quads.count()
    }

    pub(crate) fn spots(&self, samples: usize, sample: usize) -> Spots<'_> {
        Spots {
            quads: self.quads,
            samples,
            sample,
        }
    }
}

/// A byte for each fragment of a batch: 1 for those that something is about.
pub(crate) type Lanes = [u8; MAX_FRAGMENTS];

/// One sample of each fragment of some quads.
#[derive(Clone, Copy)]
pub(crate) struct Spots<'a> {
    pub quads: Quads<'a>,
    /// Samples of a pixel, and which one it is.
    pub samples: usize,
    pub sample: usize,
}

impl Spots<'_> {
    /// A row of the tile that is the batch's, fragment by fragment.
    fn whole<'b, T>(&self, row: &'b mut [T]) -> Option<&'b mut [T; MAX_FRAGMENTS]> {
        match self.quads {
            Quads::Tile(_) if self.samples == 1 => row.first_chunk_mut(),
            _ => None,
        }
    }

    /// Calls `f` with each quad's number and that of its first pixel in the tile.
    #[inline(always)]
    fn each(&self, mut f: impl FnMut(usize, usize)) {
        match self.quads {
            Quads::Tile(_) => (0..MAX_FRAGMENTS / 4).for_each(|number| f(number, 4 * number)),
            Quads::Some(quads) => {
                let quads = quads.iter().take(MAX_FRAGMENTS / 4).enumerate();
                quads.for_each(|(number, quad)| f(number, first_of(quad)));
            }
        }
    }

    /// What a row of the tile has.
    pub fn collect<T: Copy>(&self, row: &[T], into: &mut [T; MAX_FRAGMENTS]) {
        if let (Quads::Tile(_), 1, Some(row)) = (self.quads, self.samples, row.first_chunk()) {
            *into = *row;
            return;
        }
        let fours = into.as_chunks_mut::<4>().0;
        self.each(|number, first| {
            if let Some(have) = self.four(row, first) {
                fours[number] = have;
            }
        });
    }

    /// Puts what all fragments have into a row of the tile.
    pub fn store<T: Copy>(&self, row: &mut [T], values: &[T; MAX_FRAGMENTS]) {
        if let Some(row) = self.whole(row) {
            *row = *values;
            return;
        }
        let fours = values.as_chunks::<4>().0;
        self.each(|number, first| self.put(row, first, [1; 4], fours[number]));
    }

    /// Puts what some fragments have into a row of the tile.
    pub fn scatter<T: Copy>(&self, row: &mut [T], live: &Lanes, values: &[T; MAX_FRAGMENTS]) {
        if let Some(row) = self.whole(row) {
            if *live == [1; MAX_FRAGMENTS] {
                *row = *values;
                return;
            }
            for ((slot, live), value) in row.iter_mut().zip(live).zip(values) {
                if *live == 1 {
                    *slot = *value;
                }
            }
            return;
        }
        let (fours, live) = (values.as_chunks::<4>().0, live.as_chunks::<4>().0);
        self.each(|number, first| self.put(row, first, live[number], fours[number]));
    }

    /// [`Spots::scatter`] of words.
    pub fn scatter_words(&self, row: &mut [u32], live: &Lanes, words: &[u32; MAX_FRAGMENTS]) {
        match self.whole(row) {
            Some(row) => tile_tests::choose(row, live, words),
            None => self.scatter(row, live, words),
        }
    }

    /// What a row of the tile has of a quad's four fragments.
    #[inline]
    fn four<T: Copy>(self, row: &[T], first: usize) -> Option<[T; 4]> {
        if self.samples == 1 {
            return row.get(first..)?.first_chunk::<4>().copied();
        }
        let row = row.get(first * self.samples..(first + 4) * self.samples)?;
        let at = |lane: usize| row[lane * self.samples + self.sample];
        Some([at(0), at(1), at(2), at(3)])
    }

    /// Puts what a quad's live fragments have into a row of the tile.
    #[inline]
    fn put<T: Copy>(self, row: &mut [T], first: usize, live: [u8; 4], values: [T; 4]) {
        if self.samples == 1
            && live == [1; 4]
            && let Some(four) = row.get_mut(first..).and_then(|row| row.first_chunk_mut::<4>())
        {
            *four = values;
            return;
        }
        for (lane, value) in values.into_iter().enumerate() {
            let at = (first + lane) * self.samples + self.sample;
            if live[lane] == 1
                && let Some(slot) = row.get_mut(at)
            {
                *slot = value;
            }
        }
    }
}

/// All bits of the fragments that a quad's four bits say are live.
static LIVE: [[u32; 4]; 16] = {
    let mut masks = [[0; 4]; 16];
    let mut at = 0;
    while at < 64 {
        masks[at / 4][at % 4] = if (at / 4) >> (at % 4) & 1 == 1 { u32::MAX } else { 0 };
        at += 1;
    }
    masks
};

/// Puts what the live fragments of quads have into a row of a tile of one sample.
pub(crate) fn put_live(quads: &[Quad], row: &mut [u32], values: &[u32; MAX_FRAGMENTS]) {
    for (quad, values) in quads.iter().zip(values.as_chunks::<4>().0) {
        put_quad(quad, row, values);
    }
}

/// The same of quads by their numbers in the tile, with what is live of each.
pub(crate) fn put_live_at(
    quads: impl Iterator<Item = (usize, u8)>,
    row: &mut [u32; MAX_FRAGMENTS],
    values: &[u32; MAX_FRAGMENTS],
) {
    let fours = row.as_chunks_mut::<4>().0;
    for ((number, live), values) in quads.zip(values.as_chunks::<4>().0) {
        put_four(live, &mut fours[number], values);
    }
}

/// The same of values that are those of all of the tile.
pub(crate) fn put_live_of(quads: &[Quad], row: &mut [u32], values: &[u32; MAX_FRAGMENTS]) {
    for quad in quads {
        put_quad(quad, row, &values.as_chunks::<4>().0[first_of(quad) / 4]);
    }
}

#[inline]
fn put_quad(quad: &Quad, row: &mut [u32], values: &[u32; 4]) {
    let Some(four) = row.get_mut(first_of(quad)..).and_then(|row| row.first_chunk_mut::<4>()) else {
        return;
    };
    put_four(quad.live, four, values);
}

#[inline(always)]
fn put_four(live: u8, four: &mut [u32; 4], values: &[u32; 4]) {
    // As most are.
    if live == 15 {
        return *four = *values;
    }
    let live = &LIVE[usize::from(live & 15)];
    for lane in 0..4 {
        four[lane] = values[lane] & live[lane] | four[lane] & !live[lane];
    }
}

/// A byte for each fragment from a bit for each, four of a quad.
pub(crate) fn spread(live: impl Iterator<Item = u8>, into: &mut Lanes) {
    for (live, four) in live.zip(into.as_chunks_mut::<4>().0) {
        *four = (u32::from(live & 15).wrapping_mul(0x0020_4081) & 0x0101_0101).to_le_bytes();
    }
}

/// Number of a quad's first pixel in its tile.
#[inline]
fn first_of(quad: &Quad) -> usize {
    in_tile(quad.x, quad.y)
}
