//! Whole tiles in memory's order, and the pictures that take them as they are (docs/spec/mali/frame.md, section 2).

use super::buffer::{Colors, PIXELS, SIDE, Tile, place};
use crate::gpu::frame::Frame;
use crate::memory::Sink;
use crate::simd::{FetchFor, Found, dispatch};
use crate::texture::texel::u_order;
use num::lanes::Lanes;
use utgard::frame::{PixelFormat, TargetLayout, WriteBackSource};

/// A word with its lowest and its third byte exchanged.
#[inline(always)]
pub(crate) fn swapped(word: u32) -> u32 {
    word & 0xff00_ff00 | word >> 16 & 0xff | (word & 0xff) << 16
}

/// For each quad in memory's order its number in the tile. In memory the quad's lower row goes backwards.
static QUADS: [u8; PIXELS / 4] = {
    let mut quads = [0; PIXELS / 4];
    let mut number = 0;
    while number < PIXELS {
        let [column, row] = place(number);
        quads[u_order(column, row) as usize / 4] = (number / 4) as u8;
        number += 4;
    }
    quads
};

/// A tile's pixels in memory's order.
#[inline(always)]
pub(crate) fn tiled<T: Copy>(pixels: &[T; PIXELS], mut put: impl FnMut(usize, [T; 4])) {
    let four = pixels.as_chunks::<4>().0;
    for (at, quad) in QUADS.iter().enumerate() {
        let [a, b, c, d] = four[usize::from(*quad) % four.len()];
        put(at, [a, b, d, c]);
    }
}

/// A frame's only picture, if it is tiled and its pixels are a tile's words, which is the most common case: where whole tiles
/// go, and how, computed once for all.
#[derive(Clone, Copy)]
pub(crate) struct TiledTarget {
    address: u32,
    pitch: u32,
    /// Columns and rows of tiles that are completely in the picture.
    whole: [u32; 2],
    swap: bool,
}

impl TiledTarget {
    /// Bytes of a tile.
    const BYTES: usize = 4 * PIXELS;

    /// A frame's, if it has such a picture.
    pub(crate) fn of(frame: &Frame) -> Option<Self> {
        let [unit] = frame.write_backs[..] else { return None };
        let is_color = unit.source == WriteBackSource::Color && unit.planes == 0;
        let is_words = unit.format == PixelFormat::B8G8R8A8 && !unit.reverse;
        (is_color && is_words && unit.layout == TargetLayout::Tiled).then_some(Self {
            address: unit.address,
            pitch: unit.pitch,
            whole: [frame.width / SIDE, frame.height / SIDE],
            swap: unit.swap,
        })
    }

    /// The address of the tile in a column and row of tiles, which is prefetched; nothing where it is not whole.
    #[inline]
    pub(crate) fn expect(&self, [column, row]: [u32; 2], to: &Sink<'_, '_>) -> Option<u32> {
        if column >= self.whole[0] || row >= self.whole[1] {
            return None;
        }
        let tile = row.wrapping_mul(self.pitch).wrapping_add(column);
        let address = self.address.wrapping_add(tile.wrapping_mul(Self::BYTES as u32));
        to.expect(address, Self::BYTES, FetchFor::LaterWrite);
        Some(address)
    }

    /// Stores a tile; false where its colours are not words of the picture.
    #[inline]
    pub(crate) fn put(&self, tile: &Tile, address: u32, to: &mut Sink<'_, '_>) -> bool {
        let Colors::Bytes(words) = &tile.color else {
            return false;
        };
        match words.first_chunk() {
            Some(words) if tile.samples == 1 => self.put_words(words, address, to),
            _ => false,
        }
    }

    /// The same of a tile's words.
    #[inline]
    pub(crate) fn put_words(&self, words: &[u32; PIXELS], address: u32, to: &mut Sink<'_, '_>) -> bool {
        let swap = !self.swap;
        to.fill(address, Self::BYTES, |out| {
            if let Some(out) = out.first_chunk_mut() {
                in_memory_order(words, out, swap);
            }
        })
    }
}

/// A tile's words in memory's order, red and blue exchanged or not.
pub(crate) fn in_memory_order(words: &[u32; PIXELS], out: &mut [u8; 4 * PIXELS], swap: bool) {
    dispatch!(tiled_words(words: &[u32; PIXELS], out: &mut [u8; 4 * PIXELS], swap: bool) -> (), Found::best());
}

/// [`tiled`] of words as bytes, red and blue exchanged or not.
#[inline(always)]
#[expect(clippy::extra_unused_type_parameters, reason = "it says what this is compiled for")]
fn tiled_words<L: Lanes>(words: &[u32; PIXELS], out: &mut [u8; 4 * PIXELS], swap: bool) {
    // A loop for each, without a branch inside.
    match swap {
        true => tiled_blocks(words, out, swapped),
        false => tiled_blocks(words, out, |word| word),
    }
}

/// Words of four quads by four quads, which are two rows of the tile's, and in memory one behind the other.
#[inline(always)]
fn tiled_blocks(words: &[u32; PIXELS], out: &mut [u8; 4 * PIXELS], of: impl Fn(u32) -> u32) {
    let pairs = words.as_chunks::<8>().0;
    let blocks = out.as_chunks_mut::<64>().0;
    for (block, quad) in blocks.iter_mut().zip(QUADS.iter().step_by(4)) {
        let upper = usize::from(*quad) / 2 % pairs.len();
        // The row of quads below.
        let (upper, lower) = (&pairs[upper], &pairs[(upper + 4) % pairs.len()]);
        let in_order: [u32; 16] = std::array::from_fn(|at| match at {
            0..8 => upper[IN_BLOCK[at]],
            _ => lower[IN_BLOCK[at]],
        });
        for (bytes, word) in block.as_chunks_mut::<4>().0.iter_mut().zip(in_order) {
            *bytes = of(word).to_le_bytes();
        }
    }
}

/// Which of two quads' words is where in a block's half: of the upper two, and of the lower two, which go backwards.
const IN_BLOCK: [usize; 16] = [0, 1, 3, 2, 4, 5, 7, 6, 4, 5, 7, 6, 0, 1, 3, 2];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Level;

    /// Words of a tile lie in memory as its pixels do, on vector units of any width.
    #[test]
    fn words_are_in_order() {
        let words: [u32; PIXELS] = std::array::from_fn(|at| 0x0102_0305u32.wrapping_mul(at as u32));
        let levels = [Level::Portable, Level::Avx2];
        for (level, swap) in levels.into_iter().flat_map(|level| [(level, false), (level, true)]) {
            let (mut out, words, found) = ([0; 4 * PIXELS], &words, Found::at_most(level));
            let into = &mut out;
            dispatch!(tiled_words(words: &[u32; PIXELS], into: &mut [u8; 4 * PIXELS], swap: bool) -> (), found);
            for (at, word) in words.iter().enumerate() {
                let [column, row] = place(at);
                let wanted = if swap { swapped(*word) } else { *word };
                let at = u_order(column, row) as usize;
                assert_eq!(
                    out.as_chunks::<4>().0[at],
                    wanted.to_le_bytes(),
                    "{level:?} {column} {row}"
                );
            }
        }
    }
}
