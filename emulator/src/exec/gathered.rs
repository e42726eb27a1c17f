//! Quads of several primitives, for a program that runs once for all of them.

use super::inputs::ManyInputs;
use super::lanes::LANES;
use super::{FragmentContext, Fragments, Quad};
use num::lanes::Lanes;

/// Quads that a [`Gatherer`] takes at most.
pub const MAX_GATHERED: usize = LANES / 4;

/// Quads that tables have room for at a time.
const TABLE: usize = 16;

/// For each fragment of a table's quads the quad's number, and how many columns and rows it is from the quad's first.
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

/// Quads, and which primitive each is of.
#[derive(Clone, Debug)]
pub struct GatheredQuads {
    count: usize,
    quads: [Quad; MAX_GATHERED],
    /// Columns and rows of the quads' first fragments, and numbers of primitives.
    tables: [[[f32; TABLE]; MAX_GATHERED / TABLE]; 3],
}

impl Default for GatheredQuads {
    fn default() -> Self {
        Self {
            count: 0,
            quads: [Quad::default(); MAX_GATHERED],
            tables: [[[0.0; TABLE]; MAX_GATHERED / TABLE]; 3],
        }
    }
}

impl GatheredQuads {
    /// Forgets all behind the first so many.
    #[inline]
    pub fn cut(&mut self, count: usize) {
        self.count = self.count.min(count);
    }

    /// Adds a quad of a primitive, by its number among those that are side by side; false where there is no room.
    #[inline(always)]
    pub fn push(&mut self, quad: Quad, of: usize) -> bool {
        let at = self.count;
        if at >= MAX_GATHERED {
            return false;
        }
        self.quads[at] = quad;
        let [columns, rows, primitives] = &mut self.tables;
        columns[at / TABLE][at % TABLE] = quad.x as f32;
        rows[at / TABLE][at % TABLE] = quad.y as f32;
        primitives[at / TABLE][at % TABLE] = of as f32;
        self.count += 1;
        true
    }

    /// The quads.
    #[inline]
    pub fn quads(&self) -> &[Quad] {
        &self.quads[..self.count]
    }

    /// Has what is behind the last quad, up to so many, be that one again.
    pub fn pad(&mut self, quads: usize) {
        let Some(last) = self.count.checked_sub(1) else { return };
        for table in &mut self.tables {
            let table = table.as_flattened_mut();
            let one = table[last];
            table[last..quads.clamp(last, MAX_GATHERED)].fill(one);
        }
    }

    /// Columns and rows of the middles of some fragments' pixels, those from `at` on, and the numbers of their primitives.
    #[inline(always)]
    pub fn fragments<L: Lanes>(&self, at: usize) -> [L::V; 3] {
        let (table, at) = (at / (4 * TABLE), at % (4 * TABLE));
        let quad = L::load(&FRAGMENTS[0][at..]);
        let [columns, rows, primitives] = &self.tables;
        let place = |table: &[f32; TABLE], from: &[f32]| {
            let first = L::add(L::lookup(table, quad), L::splat(0.5));
            L::add(first, L::load(from))
        };
        [
            place(&columns[table], &FRAGMENTS[1][at..]),
            place(&rows[table], &FRAGMENTS[2][at..]),
            L::lookup(&primitives[table], quad),
        ]
    }
}

/// What a [`Painter`](super::Painter) is for fragments of one primitive, for those of many.
pub trait Gatherer: Send + Sync {
    /// Instructions that each fragment runs.
    fn steps(&self) -> u32;

    /// It asks for depth or for 1/w, even where primitives are flat.
    fn reads_depth(&self) -> bool;

    /// Makes words of quads, as [`Painter::paint`](super::Painter::paint) does.
    fn paint(
        &self,
        context: &FragmentContext<'_>,
        inputs: &ManyInputs,
        quads: &mut GatheredQuads,
        out: &mut Fragments,
    ) -> bool;
}
