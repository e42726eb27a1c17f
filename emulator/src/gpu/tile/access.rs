//! Gathers the tile buffer's values at the fragments of quads, and scatters them back.

use super::in_tile;
use crate::exec::{MAX_FRAGMENTS, MAX_QUADS, Quad, Quads};

/// Fragments of a chunk.
pub(super) const STEP: usize = 16;

/// Quads of a chunk.
pub(super) const QUADS: usize = STEP / 4;

/// Live fragments of each quad of a batch, a bit each.
pub(crate) type Live = [u8; MAX_QUADS];

/// The bits of a chunk's fragments.
#[inline(always)]
pub(super) fn bits(live: &Live, number: usize) -> u32 {
    let [a, b, c, d] = live.as_chunks::<QUADS>().0[number].map(|bits| u32::from(bits & 15));
    a | b << 4 | c << 8 | d << 12
}

/// Sets the bits of a chunk's fragments.
#[inline(always)]
pub(super) fn set_bits(live: &mut Live, number: usize, bits: u32) {
    let of_quad = |quad: u32| (bits >> (4 * quad)) as u8 & 15;
    live.as_chunks_mut::<QUADS>().0[number] = [of_quad(0), of_quad(1), of_quad(2), of_quad(3)];
}

/// Four quads that follow each other in a batch: where they are in the tile.
#[derive(Clone, Copy)]
pub(super) struct Chunk {
    /// Number of each one's first pixel. Missing quads have another's, and no live fragment.
    first: [usize; QUADS],
    /// They follow each other in the tile.
    is_row: bool,
}

impl Chunk {
    /// A batch's chunk.
    #[inline(always)]
    pub(super) fn of(quads: Quads<'_>, number: usize) -> Self {
        let at = QUADS * number;
        match quads {
            Quads::Tile(_) => Self {
                first: [4 * at, 4 * at + 4, 4 * at + 8, 4 * at + 12],
                is_row: true,
            },
            Quads::Some(quads) => {
                let mut first = [0; QUADS];
                for (first, quad) in first.iter_mut().zip(quads.iter().skip(at)) {
                    *first = first_of(quad);
                }
                Self { first, is_row: false }
            }
        }
    }

    /// Reads a sample of the fragments from a row of the tile.
    #[inline(always)]
    pub(super) fn read<T: Copy + Default>(&self, row: &[T], samples: usize, sample: usize) -> [T; STEP] {
        let mut all = [T::default(); STEP];
        if samples == 1 {
            if self.is_row
                && let Some(row) = row.get(self.first[0]..).and_then(|row| row.first_chunk())
            {
                return *row;
            }
            for (four, first) in all.as_chunks_mut::<4>().0.iter_mut().zip(self.first) {
                if let Some(have) = row.get(first..).and_then(|row| row.first_chunk()) {
                    *four = *have;
                }
            }
            return all;
        }
        for (four, first) in all.as_chunks_mut::<4>().0.iter_mut().zip(self.first) {
            for (lane, value) in four.iter_mut().enumerate() {
                if let Some(have) = row.get((first + lane) * samples + sample) {
                    *value = *have;
                }
            }
        }
        all
    }

    /// Writes a sample of the live fragments to a row of the tile.
    #[inline(always)]
    pub(super) fn write<T: Copy + Default>(
        &self,
        row: &mut [T],
        samples: usize,
        sample: usize,
        live: u32,
        values: &[T; STEP],
    ) {
        if samples == 1
            && self.is_row
            && live == 0xffff
            && let Some(row) = row.get_mut(self.first[0]..).and_then(|row| row.first_chunk_mut())
        {
            *row = *values;
            return;
        }
        for (quad, (first, four)) in self.first.into_iter().zip(values.as_chunks::<4>().0).enumerate() {
            let live = live >> (4 * quad) & 15;
            if samples == 1
                && let Some(row) = row.get_mut(first..).and_then(|row| row.first_chunk_mut::<4>())
            {
                for lane in 0..4 {
                    row[lane] = if live >> lane & 1 == 1 { four[lane] } else { row[lane] };
                }
                continue;
            }
            for (lane, value) in four.iter().enumerate() {
                if live >> lane & 1 == 1
                    && let Some(slot) = row.get_mut((first + lane) * samples + sample)
                {
                    *slot = *value;
                }
            }
        }
    }
}

/// All bits set for the live fragments of a quad.
static LIVE: [[u32; 4]; 16] = {
    let mut masks = [[0; 4]; 16];
    let mut at = 0;
    while at < 64 {
        masks[at / 4][at % 4] = if (at / 4) >> (at % 4) & 1 == 1 { u32::MAX } else { 0 };
        at += 1;
    }
    masks
};

/// Writes values of the live fragments of quads to a row of a tile of one sample.
pub(crate) fn put_live(quads: &[Quad], row: &mut [u32], values: &[u32; MAX_FRAGMENTS]) {
    for (quad, values) in quads.iter().zip(values.as_chunks::<4>().0) {
        put_quad(quad, row, values);
    }
}

/// The same for quads by their numbers in the tile, each with its live fragments.
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

#[inline]
fn put_quad(quad: &Quad, row: &mut [u32], values: &[u32; 4]) {
    let Some(four) = row.get_mut(first_of(quad)..).and_then(|row| row.first_chunk_mut::<4>()) else {
        return;
    };
    put_four(quad.live, four, values);
}

#[inline(always)]
fn put_four(live: u8, four: &mut [u32; 4], values: &[u32; 4]) {
    // The most common case.
    if live == 15 {
        return *four = *values;
    }
    let live = &LIVE[usize::from(live & 15)];
    for lane in 0..4 {
        four[lane] = values[lane] & live[lane] | four[lane] & !live[lane];
    }
}

/// Number of a quad's first pixel in its tile.
#[inline]
fn first_of(quad: &Quad) -> usize {
    in_tile(quad.x, quad.y)
}
