//! Coverage of small triangles in a tile: many at a time, each in a window of its own.

use super::edge;
use super::small_triangle::{self, PARTS};
use crate::exec::Quad;
use crate::exec::inputs::MANY;
use crate::exec::places::SIDE;
use crate::simd::{Found, dispatch};
use num::lanes::QuadLanes;

/// Pixels of a window's side. A window begins with a quad, and contains all that its triangle covers of the tile.
pub(crate) const WINDOW: usize = 8;

/// Quads of a window's side.
pub(crate) const ACROSS: usize = WINDOW / 2;

/// A number of each triangle.
pub(crate) type Each<T> = [T; MANY];

/// Positions of triangles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Corners {
    /// Columns and rows of each corner.
    pub places: [[Each<f32>; 2]; 3],
    /// Depths, and 1/w.
    pub depths: [[Each<f32>; 2]; 3],
    /// First and last column, first and last row that may be touched.
    pub bounds: [[i32; 2]; 2],
}

/// The windows of triangles in a tile.
#[derive(Clone, Debug, Default)]
pub(crate) struct SmallTriangleMasks {
    /// Column and row of the first pixel within bounds, counted from the tile's, and of the last.
    first: [Each<i32>; 2],
    last: [Each<i32>; 2],
    /// All bits set for triangles that may cover something; and for those without a window.
    touches: Each<i32>,
    unknown: Each<i32>,
    /// Each side's change per column and row, and its value at the window's first pixel.
    sides: [[Each<f32>; 3]; 3],
    /// For each row of quads the bits of their covered fragments.
    rows: [Each<f32>; ACROSS],
    /// Coverage: a bit for each fragment of the upper two rows of quads, and of the lower two.
    live: [Each<u32>; 2],
    /// All bits set for triangles that have one w.
    flat: Each<i32>,
}

/// Covered quads of a window: each one's number in the tile, and its live fragments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MaskedQuads {
    /// Column and row of the window's first quad.
    first: [u32; 2],
    /// A bit for each fragment that is still to come.
    live: u64,
}

/// SmallTriangleMasks that have all of a tile, and those of a row.
const WHOLE: usize = (SIDE / WINDOW as u32).pow(2) as usize;
const WHOLE_ACROSS: u32 = SIDE / WINDOW as u32;

impl MaskedQuads {
    /// Quads of a tile.
    pub(crate) fn of(quads: &[Quad]) -> [Self; WHOLE] {
        let across = ACROSS as u32;
        let first = |window: u32| [window % WHOLE_ACROSS * across, window / WHOLE_ACROSS * across];
        let mut masks = [0, 1, 2, 3].map(|window| Self {
            first: first(window),
            live: 0,
        });
        for quad in quads {
            let [x, y] = [quad.x % SIDE / 2, quad.y % SIDE / 2];
            let window = &mut masks[(y / across * WHOLE_ACROSS + x / across) as usize];
            window.live |= u64::from(quad.live & 15) << (4 * (y % across * across + x % across));
        }
        masks
    }

    /// The tile's row of quads that the window's first one is in, and the fragments of this row and the next ones: a bit for
    /// each, quad by quad.
    #[inline(always)]
    pub(crate) fn rows(self) -> (usize, [u32; ACROSS]) {
        let row = |number: u32| (self.live >> (16 * number)) as u32 & 0xffff;
        let rows = [row(0), row(1), row(2), row(3)];
        let [column, first] = self.first;
        (
            first as usize,
            [
                rows[0] << (4 * column),
                rows[1] << (4 * column),
                rows[2] << (4 * column),
                rows[3] << (4 * column),
            ],
        )
    }
}

impl Iterator for MaskedQuads {
    type Item = (u32, u32);

    #[inline]
    fn next(&mut self) -> Option<(u32, u32)> {
        if self.live == 0 {
            return None;
        }
        let at = self.live.trailing_zeros() / 4;
        let live = (self.live >> (4 * at)) as u32 & 15;
        self.live &= !(15 << (4 * at));
        let [column, row] = self.first;
        // A row of the tile has twice as many.
        Some((column + row * SIDE / 2 + at + at / ACROSS as u32 * ACROSS as u32, live))
    }
}

impl SmallTriangleMasks {
    /// Computes the windows of triangles in the tile whose first pixel is `origin`, and their coverage.
    pub(crate) fn find(&mut self, corners: &Corners, origin: [u32; 2]) {
        let (origin, masks) = (origin.map(|at| at as i32), self);
        dispatch!(
            cover_all(corners: &Corners, origin: [i32; 2], masks: &mut SmallTriangleMasks) -> (),
            Found::best()
        );
    }

    /// Whether a triangle has no window: it is not small.
    pub(crate) fn is_unknown(&self, at: usize) -> bool {
        self.unknown[at] != 0
    }

    /// Whether a triangle has one w.
    #[inline]
    pub(crate) fn is_flat(&self, at: usize) -> bool {
        self.flat[at] != 0
    }

    /// All bits set for those that have one w.
    pub(crate) fn flat(&self) -> &Each<i32> {
        &self.flat
    }

    /// The quads that a triangle covers of the tile.
    #[inline]
    pub(crate) fn quads(&self, at: usize) -> MaskedQuads {
        let first = |axis: usize| self.first[axis][at] as u32 % SIDE / 2;
        MaskedQuads {
            first: [first(0), first(1)],
            live: self.live(at),
        }
    }

    /// Columns and rows of the largest window.
    #[inline(always)]
    fn extent(&self) -> [usize; 2] {
        let ([left, top], [right, bottom]) = (&self.first, &self.last);
        [along(&self.touches, [left, right]), along(&self.touches, [top, bottom])]
    }

    /// A bit for each fragment that a triangle covers.
    #[inline]
    pub(crate) fn live(&self, at: usize) -> u64 {
        u64::from(self.live[0][at]) | u64::from(self.live[1][at]) << 32
    }
}

/// Pixels of the largest of some windows along an axis.
#[inline(always)]
fn along(touches: &Each<i32>, [first, last]: [&Each<i32>; 2]) -> usize {
    let mut most = 0;
    for at in 0..MANY {
        most = most.max((last[at] - (first[at] & !1)) & touches[at]);
    }
    (most as usize + 1).min(WINDOW)
}

/// All bits, or none.
#[inline(always)]
fn all(yes: bool) -> i32 {
    -i32::from(yes)
}

/// Computes windows and coverage.
#[inline(always)]
fn cover_all<L: QuadLanes>(corners: &Corners, origin: [i32; 2], masks: &mut SmallTriangleMasks) {
    find_windows(corners, origin, masks);
    fill_windows::<L>(masks);
    cut_windows(masks);
    find_flat(&corners.depths, &mut masks.flat);
}

/// A plain loop, which is vectorised.
#[inline(always)]
fn find_windows(corners: &Corners, origin: [i32; 2], masks: &mut SmallTriangleMasks) {
    let [a, b, c] = &corners.places;
    let within = |axis: usize| corners.bounds[axis].map(|end| end - origin[axis]);
    let [columns, rows] = [within(0), within(1)];
    for at in 0..MANY {
        let shape = [[a[0][at], a[1][at]], [b[0][at], b[1][at]], [c[0][at], c[1][at]]];
        let is_near = |[x, y]: [f32; 2]| small_triangle::is_near(x) & small_triangle::is_near(y);
        let is_small = small_triangle::is_small(&shape) & is_near(shape[0]) & is_near(shape[1]) & is_near(shape[2]);
        // Unused lanes must not overflow.
        let only = |[x, y]: [i32; 2], which: i32| [x & which, y & which];
        let corner = |[x, y]: [f32; 2]| {
            let [x, y] = only([small_triangle::snap(x), small_triangle::snap(y)], all(is_small));
            [x - PARTS * origin[0], y - PARTS * origin[1]]
        };
        let [a, b, c] = [corner(shape[0]), corner(shape[1]), corner(shape[2])];
        let across = small_triangle::span([a[0], b[0], c[0]], columns);
        let down = small_triangle::span([a[1], b[1], c[1]], rows);
        let is_there = (across[0] <= across[1]) & (down[0] <= down[1]);
        let fits = (across[1] - (across[0] & !1) < WINDOW as i32) & (down[1] - (down[0] & !1) < WINDOW as i32);
        let wanted = all(is_small & is_there & fits);
        let [a, b, c] = [only(a, wanted), only(b, wanted), only(c, wanted)];
        let turn = edge::area([a, b, c]);
        let clockwise = all(turn > 0);
        let chosen = |b: i32, c: i32| b & clockwise | c & !clockwise;
        let (b, c) = (
            [chosen(b[0], c[0]), chosen(b[1], c[1])],
            [chosen(c[0], b[0]), chosen(c[1], b[1])],
        );
        let first = only([across[0] & !1, down[0] & !1], wanted);
        for (number, (from, to)) in [(a, b), (b, c), (c, a)].into_iter().enumerate() {
            let [dx, dy, value] = small_triangle::side(from, to, first);
            masks.sides[number][0][at] = dx;
            masks.sides[number][1][at] = dy;
            masks.sides[number][2][at] = value;
        }
        (masks.first[0][at], masks.first[1][at]) = (across[0], down[0]);
        (masks.last[0][at], masks.last[1][at]) = (across[1], down[1]);
        masks.touches[at] = wanted & all(turn != 0);
        masks.unknown[at] = all(!is_small | is_there & !fits);
    }
}

/// Which fragments of a row of quads are in the upper row of pixels: the bit of each, and of the one below it.
const BITS: [[f32; 2]; WINDOW] = {
    let mut bits = [[0.0; 2]; WINDOW];
    let mut column = 0;
    while column < WINDOW {
        let upper = 4 * (column / 2) + column % 2;
        bits[column] = [(1u32 << upper) as f32, (1u32 << (upper + 2)) as f32];
        column += 1;
    }
    bits
};

/// Evaluates the edges at the pixels of the largest window; the sums are exact.
#[inline(always)]
fn fill_windows<L: QuadLanes>(masks: &mut SmallTriangleMasks) {
    let [columns, rows] = masks.extent();
    let (sides, bits) = (&masks.sides, &BITS[..columns]);
    let mut at = 0;
    while at < MANY {
        let load = |number: usize| {
            let [a, b, c] = sides;
            [
                L::load(&a[number][at..]),
                L::load(&b[number][at..]),
                L::load(&c[number][at..]),
            ]
        };
        let [right, below, mut start] = [load(0), load(1), load(2)];
        let step =
            |from: [L::V; 3], by: [L::V; 3]| [L::add(from[0], by[0]), L::add(from[1], by[1]), L::add(from[2], by[2])];
        let is_inside = |[a, b, c]: [L::V; 3]| L::ge(L::min(L::min(a, b), c), L::splat(0.0));
        for row in &mut masks.rows[..rows.div_ceil(2)] {
            let (mut upper, mut lower) = (start, step(start, below));
            start = step(lower, below);
            let mut found = L::splat(0.0);
            for [of_upper, of_lower] in bits {
                let bit = |inside: L::M, bit: f32| L::select(inside, L::splat(bit), L::splat(0.0));
                found = L::add(found, bit(is_inside(upper), *of_upper));
                found = L::add(found, bit(is_inside(lower), *of_lower));
                (upper, lower) = (step(upper, right), step(lower, right));
            }
            L::store(&mut row[at..], found);
        }
        at += L::COUNT;
    }
}

/// Clips coverage to the bounds.
#[inline(always)]
fn cut_windows(masks: &mut SmallTriangleMasks) {
    for at in 0..MANY {
        let wanted = masks.touches[at] as u32;
        let (odd_column, odd_row) = (masks.first[0][at] as u32 & 1, masks.first[1][at] as u32 & 1);
        let last_column = (masks.last[0][at] - (masks.first[0][at] & !1)) as u32 & 7;
        let last_row = (masks.last[1][at] - (masks.first[1][at] & !1)) as u32 & 7;
        // An odd first column leaves the right half of the first quad, an even last one the left half of the last quad.
        let shift = 4 * (last_column / 2);
        let columns = ((1u32 << shift) - 1) | ((5 + (last_column & 1) * 10) << shift);
        let columns = columns & !(odd_column * 5) & wanted;
        let row = |quad: u32, row: f32| {
            let rows = (u32::from(2 * quad <= last_row) * 0x3333) | (u32::from(2 * quad < last_row) * 0xcccc);
            // Added to a number this large, an integer is in a float's last bits.
            (row + (1 << 23) as f32).to_bits() & rows & columns
        };
        let [a, b, c, d] = &masks.rows;
        let first = row(0, a[at]) & !(odd_row * 0x3333);
        masks.live[0][at] = first | row(1, b[at]) << 16;
        masks.live[1][at] = row(2, c[at]) | row(3, d[at]) << 16;
    }
}

#[inline(always)]
fn find_flat(depths: &[[Each<f32>; 2]; 3], flat: &mut Each<i32>) {
    let [[_, a], [_, b], [_, c]] = depths;
    for at in 0..MANY {
        flat[at] = all((a[at] == b[at]) & (a[at] == c[at]));
    }
}
