//! Primitive assembly of many triangles at a time: those that need no clipping, which are nearly all, are culled side by
//! side, and their bounds in tiles are computed so, too.

use super::entries::Entry;
use super::geometry::{Rules, Vertex, area, is_inside, is_seen, triangle};
use crate::exec::places::SIDE;
use crate::gpu::primitives::Bounds;
use crate::gpu::primitives::{Piece, Primitive};
use crate::gpu::vectors::turn;
use crate::simd::{Found, dispatch};
use num::lanes::QuadLanes;

/// How far inside a pixel's sides its outermost samples are, and a little less, for corners are moved to the nearest part
/// of a pixel before anything is covered.
const MARGIN: f32 = 0.12;

/// A coordinate beyond all pixels.
const FURTHEST: f32 = (1 << 22) as f32;

/// First and last pixel along an axis that corners may touch within bounds; nothing where the first is behind the last.
#[inline(always)]
fn span([a, b, c]: [f32; 3], [first, last]: [u32; 2]) -> [u32; 2] {
    let low = f32::INFINITY.min(a).min(b).min(c);
    let high = f32::NEG_INFINITY.max(a).max(b).max(c);
    // The first pixel whose last sample is not in front of it all, and the last whose first one is not behind.
    let first = first.max(up(low - (1.0 - MARGIN)));
    // Where even the first pixel is beyond, the range is empty.
    let nothing = u32::from(high <= MARGIN).wrapping_neg();
    [
        first | nothing,
        last.min(up(high - MARGIN).saturating_sub(1)) & !nothing,
    ]
}

/// A coordinate rounded up, clamped to 0 and [`FURTHEST`]; 0 for NaN.
/// Added to a large number, the nearest integer is in the lowest bits: unlike a call or a conversion
/// that is vectorised.
#[inline(always)]
fn up(value: f32) -> u32 {
    const LARGE: f32 = (1 << 23) as f32;
    let value = if value > 0.0 { value } else { 0.0 };
    let value = if value < FURTHEST { value } else { FURTHEST };
    let large = value + LARGE;
    (large.to_bits() - LARGE.to_bits()) + u32::from(value > large - LARGE)
}

/// The entry of a primitive in the lists of the tiles that it may touch within bounds.
pub(crate) fn entry(number: u32, shape: &[[f32; 2]; 3], bounds: Bounds) -> Option<Entry> {
    let axis = |axis: usize| span(shape.map(|corner| corner[axis]), [bounds.min[axis], bounds.max[axis]]);
    let [columns, rows] = [axis(0), axis(1)];
    (columns[0] <= columns[1] && rows[0] <= rows[1]).then(|| {
        let tiles = |x: u32, y: u32| [tile(x), tile(y)];
        Entry {
            primitive: number,
            first: tiles(columns[0], rows[0]),
            last: tiles(columns[1], rows[1]),
        }
    })
}

/// Column or row of the tile that a pixel is in. Tiles are numbered in bytes everywhere.
#[inline(always)]
fn tile(pixel: u32) -> u8 {
    (pixel / SIDE).min(255) as u8
}

/// Triangles of a block.
pub(super) const BLOCK: usize = 32;

/// Some triangles of a draw, as a structure of arrays.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Positions of each corner.
    corners: [[[f32; 4]; BLOCK]; 3],
    /// The same, a row for each component.
    positions: [[[f32; BLOCK]; 4]; 3],
    slots: [[u32; 3]; BLOCK],
    count: usize,
    area: [f64; BLOCK],
    /// No corner has to be clipped away.
    is_whole: [bool; BLOCK],
    /// The triangle has an area and is not culled, or that is unknown.
    is_wanted: [bool; BLOCK],
    /// First and last column, and row, that may be touched; an empty range where none is.
    spans: [[[u32; BLOCK]; 2]; 2],
}

impl Default for Block {
    fn default() -> Self {
        Self {
            corners: [[[0.0; 4]; BLOCK]; 3],
            positions: [[[0.0; BLOCK]; 4]; 3],
            slots: [[0; 3]; BLOCK],
            count: 0,
            area: [0.0; BLOCK],
            is_whole: [false; BLOCK],
            is_wanted: [false; BLOCK],
            spans: [[[0; BLOCK]; 2]; 2],
        }
    }
}

impl Block {
    /// Removes the triangles.
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a triangle by its vertices' slots and positions, while there is room.
    #[inline(always)]
    pub(super) fn push(&mut self, slots: [u32; 3], positions: [[f32; 4]; 3]) {
        let at = self.count;
        if at >= BLOCK {
            return;
        }
        let [a, b, c] = &mut self.corners;
        self.slots[at] = slots;
        [a[at], b[at], c[at]] = positions;
        self.count += 1;
    }

    /// Makes the primitives of the triangles: what [`build`](super::geometry::build) does of each. Entries of those that may
    /// touch something within bounds go to `touching`, by their number in the piece.
    pub(super) fn build(&mut self, rules: &Rules, bounds: Bounds, out: &mut Piece, touching: &mut Vec<Entry>) {
        let block = &mut *self;
        dispatch!(judge(block: &mut Block, rules: &Rules, bounds: Bounds) -> (), Found::best());
        for at in 0..self.count {
            if !self.is_wanted[at] {
                continue;
            }
            let number = out.len();
            if !self.is_whole[at] {
                self.clip(at, rules, out);
                let made = (number as u32..).zip(&out[number..]);
                touching.extend(made.filter_map(|(number, made)| entry(number, &made.shape(), bounds)));
                continue;
            }
            let is_ccw = self.area[at] < 0.0;
            let [a, b, c] = &self.corners;
            out.push(Primitive::of_vertices(
                [a[at], b[at], c[at]],
                self.slots[at],
                rules.draw,
                is_ccw,
            ));
            let [[left, right], [top, bottom]] = self.spans.each_ref().map(|axis| [axis[0][at], axis[1][at]]);
            if left <= right && top <= bottom {
                touching.push(Entry {
                    primitive: number as u32,
                    first: [tile(left), tile(top)],
                    last: [tile(right), tile(bottom)],
                });
            }
        }
    }

    #[cold]
    fn clip(&self, at: usize, rules: &Rules, out: &mut Piece) {
        let vertex = |corner: usize| Vertex {
            position: self.corners[corner][at],
            slot: self.slots[at][corner],
            size: 0.0,
        };
        triangle([&vertex(0), &vertex(1), &vertex(2)], rules, out);
    }
}

/// Finds which triangles are whole, how large they are, which of them are worth a second look, and what they may touch as they
/// are before anything is clipped. Plain loops, which are vectorised.
#[inline(always)]
#[expect(clippy::extra_unused_type_parameters, reason = "it says what this is compiled for")]
fn judge<L: QuadLanes>(block: &mut Block, rules: &Rules, bounds: Bounds) {
    for (vectors, rows) in block.corners.iter().zip(&mut block.positions) {
        turn(vectors, rows.each_mut());
    }
    let [a, b, c] = &block.positions;
    for at in 0..BLOCK {
        block.area[at] = area([[a[0][at], a[1][at]], [b[0][at], b[1][at]], [c[0][at], c[1][at]]]);
    }
    for at in 0..BLOCK {
        block.is_whole[at] = is_inside([a[0][at], a[1][at], a[2][at], a[3][at]], rules.depth)
            & is_inside([b[0][at], b[1][at], b[2][at], b[3][at]], rules.depth)
            & is_inside([c[0][at], c[1][at], c[2][at], c[3][at]], rules.depth);
    }
    for at in 0..BLOCK {
        block.is_wanted[at] = !block.is_whole[at] | is_seen(block.area[at], rules.cull);
    }
    for axis in 0..2 {
        let ends = [bounds.min[axis], bounds.max[axis]];
        let [first, last] = &mut block.spans[axis];
        for at in 0..BLOCK {
            [first[at], last[at]] = span([a[axis][at], b[axis][at], c[axis][at]], ends);
        }
    }
}
