//! Quads of several primitives, for a program that runs once for all of them.

use super::inputs::ManyInputs;
use super::lanes::LANES;
use super::{FragmentContext, Fragments, MAX_QUADS, Quad};
use num::lanes::Lanes;

/// Quads that a [`QuadBatcher`] takes at most.
pub const MAX_BATCHED: usize = LANES / 4;

/// Quads of one table.
const TABLE: usize = 16;

/// For each fragment of a table's quads: the quad's number, and the fragment's column and row in the quad.
static FRAGMENTS: [[f32; 4 * TABLE]; 3] = {
    let mut fragments = [[0.0; 4 * TABLE]; 3];
    let mut at = 0;
    while at < 4 * TABLE {
        fragments[0][at] = (at / 4) as f32;
        fragments[1][at] = (at % 2) as f32;
        fragments[2][at] = (at % 4 / 2) as f32;
        at += 1;
    }
    fragments
};

/// Bit offsets in a quad's word: its number in the tile, and its primitive's; live fragments are the lowest bits.
const NUMBER: u32 = 4;
const PRIMITIVE: u32 = 16;

/// Quads of a tile, and which primitive each is of.
#[derive(Clone, Debug)]
pub struct BatchedQuads {
    count: usize,
    /// The tile's first pixel.
    origin: [u32; 2],
    /// Each quad packed in one word: there are many, and few are unpacked completely.
    words: [u32; MAX_BATCHED],
    /// The first of them as quads, unpacked on demand.
    quads: [Quad; MAX_BATCHED],
    listed: usize,
    /// Columns and rows of the quads' first fragments, and numbers of primitives.
    tables: [[[f32; TABLE]; MAX_BATCHED / TABLE]; 3],
}

impl Default for BatchedQuads {
    fn default() -> Self {
        Self {
            count: 0,
            origin: [0; 2],
            words: [0; MAX_BATCHED],
            quads: [Quad::default(); MAX_BATCHED],
            listed: 0,
            tables: [[[0.0; TABLE]; MAX_BATCHED / TABLE]; 3],
        }
    }
}

impl BatchedQuads {
    /// Removes all, and begins with those of the tile whose first pixel is `origin`.
    #[inline]
    pub fn begin(&mut self, origin: [u32; 2]) {
        self.origin = origin;
        self.cut(0);
    }

    /// Keeps the first `count` quads.
    #[inline]
    pub fn cut(&mut self, count: usize) {
        self.count = self.count.min(count);
        self.listed = self.listed.min(count);
    }

    /// Adds quads of a primitive, each by its number in the tile, row by row, and what is live of it; `of` is the primitive's
    /// number among those that are side by side. False where there is no room for all.
    #[inline(always)]
    pub fn add(&mut self, quads: impl Iterator<Item = (u32, u32)>, of: usize) -> bool {
        let (mut count, of) = (self.count, (of as u32) << PRIMITIVE);
        for (number, live) in quads {
            let Some(word) = self.words.get_mut(count) else {
                return false;
            };
            *word = live | number << NUMBER | of;
            count += 1;
        }
        self.count = count;
        true
    }

    /// How many there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    #[inline]
    fn words(&self) -> &[u32] {
        &self.words[..self.count]
    }

    /// Each quad's number in the tile, and what is live of it.
    #[inline]
    pub fn places(&self) -> impl Iterator<Item = (usize, u8)> {
        let words = self.words().iter();
        words.map(|word| ((word >> NUMBER) as usize % MAX_QUADS, *word as u8 & 15))
    }

    /// The number of a quad's primitive.
    #[inline]
    pub fn primitive(&self, quad: usize) -> usize {
        (self.words[quad] >> PRIMITIVE) as usize
    }

    /// How many fragments are live.
    pub fn fragments(&self) -> u64 {
        let live = |word: u32| (word & 1) + (word >> 1 & 1) + (word >> 2 & 1) + (word >> 3 & 1);
        self.words().iter().map(|word| u64::from(live(*word))).sum()
    }

    /// The quads.
    pub fn quads(&mut self) -> &[Quad] {
        let quads = &mut self.quads[..self.count];
        for (quad, word) in quads.iter_mut().zip(&self.words).skip(self.listed) {
            let [x, y] = first_pixel(self.origin, *word);
            let live = *word as u8 & 15;
            *quad = Quad { x, y, live };
        }
        self.listed = self.count;
        &self.quads[..self.count]
    }

    /// Repeats the last quad until there are `quads`.
    pub fn pad(&mut self, quads: usize) {
        let Some(last) = self.count.checked_sub(1) else { return };
        let word = self.words[last];
        self.words[last..quads.clamp(last, MAX_BATCHED)].fill(word);
    }

    /// Unpacks the table of [`BatchedQuads::at`]. A plain loop, which is vectorised.
    #[inline(always)]
    pub fn place(&mut self) {
        let [columns, rows, primitives] = &mut self.tables;
        let (columns, rows) = (columns.as_flattened_mut(), rows.as_flattened_mut());
        let primitives = primitives.as_flattened_mut();
        for at in 0..MAX_BATCHED {
            let [x, y] = first_pixel(self.origin, self.words[at]);
            columns[at] = x as i32 as f32;
            rows[at] = y as i32 as f32;
            primitives[at] = (self.words[at] >> PRIMITIVE) as i32 as f32;
        }
    }

    /// Columns and rows of the middles of some fragments' pixels, those from `at` on, and the numbers of their primitives.
    #[inline(always)]
    pub fn at<L: Lanes>(&self, at: usize) -> [L::V; 3] {
        let (table, at) = (at / (4 * TABLE), at % (4 * TABLE));
        let quad = L::load(&FRAGMENTS[0][at..]);
        let [columns, rows, primitives] = &self.tables;
        [
            middle::<L>(&columns[table], quad, &FRAGMENTS[1][at..]),
            middle::<L>(&rows[table], quad, &FRAGMENTS[2][at..]),
            L::lookup(&primitives[table], quad),
        ]
    }
}

/// Columns or rows of the middles of pixels, from those of their quads in a table and the offset in the quad.
#[inline(always)]
fn middle<L: Lanes>(table: &[f32; TABLE], quad: L::V, from_first: &[f32]) -> L::V {
    let first = L::add(L::lookup(table, quad), L::splat(0.5));
    L::add(first, L::load(from_first))
}

/// The first pixel of a quad in the tile whose own is `origin`.
#[inline(always)]
fn first_pixel(origin: [u32; 2], word: u32) -> [u32; 2] {
    let number = word >> NUMBER & (MAX_QUADS as u32 - 1);
    [origin[0] + number % 8 * 2, origin[1] + number / 8 * 2]
}

/// A [`FragmentKernel`](super::FragmentKernel) for fragments of many primitives.
pub trait QuadBatcher: Send + Sync {
    /// Instructions that each fragment runs.
    fn instruction_count(&self) -> u32;

    /// It reads depth or 1/w, even where primitives are flat.
    fn reads_depth(&self) -> bool;

    /// Computes words of quads, as [`FragmentKernel::paint`](super::FragmentKernel::paint) does.
    fn paint(
        &self,
        context: &FragmentContext<'_>,
        inputs: &ManyInputs,
        quads: &mut BatchedQuads,
        out: &mut Fragments,
    ) -> bool;
}
