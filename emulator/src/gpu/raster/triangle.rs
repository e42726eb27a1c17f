//! Which samples of a tile a triangle covers, by its [`edge`]s.

use super::edge::{self, ONE, SAMPLES};
use crate::exec::places::SIDE;
use crate::exec::{MAX_QUADS, Quad, Quads};
use crate::gpu::primitives::Bounds;
use crate::gpu::primitives::Primitive;
use crate::simd::{Found, dispatch};
use num::lanes::QuadLanes;
use std::cmp::Ordering;

/// Largest coordinate of a corner, in parts of a pixel, so that a pixel's 20 bits times a side's 39 stay in 64.
const FAR_CORNER: u64 = 1 << 38;

/// Sides further away from a pixel than this are clamped.
const FAR_SIDE: i128 = 1 << 61;

/// Below this, products of two need no more than 64 bits, nor do they come near [`FAR_SIDE`].
const NEAR: u64 = 1 << 29;

/// A side of a triangle: positive inside, zero on it.
#[derive(Clone, Copy, Debug, Default)]
struct Edge {
    dx: i64,
    dy: i64,
    base: i64,
}

impl Edge {
    /// A side whose numbers are at the picture's first corner.
    #[inline]
    fn near([dx, dy, base]: [i64; 3]) -> Self {
        Self { dx, dy, base }
    }

    /// The same of corners that may be far away.
    fn far([dx, dy, base]: [i128; 3]) -> Self {
        Self {
            dx: dx as i64,
            dy: dy as i64,
            // Steps over the picture sum up to less than this, so a side that is cut off here passes none of its pixels.
            base: base.clamp(-FAR_SIDE, FAR_SIDE) as i64,
        }
    }

    fn at(&self, x: i64, y: i64) -> i64 {
        self.dx * x + self.dy * y + self.base
    }

    /// Largest and smallest value in the square of a tile.
    fn range(&self, x: i64, y: i64, side: i64) -> (i64, i64) {
        let corner = self.at(x, y);
        let (dx, dy) = (self.dx * side, self.dy * side);
        (corner + dx.min(0) + dy.min(0), corner + dx.max(0) + dy.max(0))
    }
}

/// A triangle set up for its tiles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    edges: [Edge; 3],
    /// Bounds of what it covers.
    bounds: Bounds,
}

/// The relation of a shape to a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// It covers nothing of it.
    Nothing,
    /// It may cover some of it.
    Some,
    /// It covers all of it.
    All,
}

/// The coverage of a tile.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coverage {
    /// All of the tile is covered: its first pixel. [`Coverage::list`] lists the quads on demand.
    whole: Option<[u32; 2]>,
    /// Covered quads, at most [`MAX_QUADS`].
    pub quads: Vec<Quad>,
    /// Samples of each pixel of each quad, where they are kept apart; else all samples of covered pixels.
    pub samples: Vec<[u8; 4]>,
}

impl Coverage {
    /// Removes all coverage.
    pub(crate) fn clear(&mut self) {
        self.whole = None;
        self.quads.clear();
        self.samples.clear();
    }

    /// Whether anything is covered.
    pub(crate) fn is_empty(&self) -> bool {
        self.whole.is_none() && self.quads.is_empty()
    }

    /// The covered quads.
    pub(crate) fn covered(&self) -> Quads<'_> {
        self.whole.map_or(Quads::Some(&self.quads), Quads::Tile)
    }

    /// Some of a pixel's samples are covered, and others are not.
    pub(crate) fn tells_samples_apart(&self) -> bool {
        self.samples.iter().flatten().any(|samples| ![0, 15].contains(samples))
    }

    /// Lists the quads of a whole tile, row by row.
    pub(crate) fn list(&mut self) {
        let Some([left, top]) = self.whole.filter(|_| self.quads.is_empty()) else {
            return;
        };
        let quads = (0..MAX_QUADS as u32).map(|number| Quad {
            x: left + number % (SIDE / 2) * 2,
            y: top + number / (SIDE / 2) * 2,
            live: 15,
        });
        self.quads.extend(quads);
    }

    /// The number of covered pixels.
    pub(crate) fn fragments(&self) -> u64 {
        if self.whole.is_some() {
            return 4 * MAX_QUADS as u64;
        }
        self.quads.iter().map(|quad| u64::from(quad.live.count_ones())).sum()
    }
}

impl Shape {
    /// The shape of a primitive, if it covers anything at all.
    pub(crate) fn new(primitive: &Primitive, bounds: Bounds) -> Option<Self> {
        let mut shape = Self::default();
        shape.set(primitive, bounds).then_some(shape)
    }

    /// Becomes the shape of a primitive; false if that covers nothing.
    pub(crate) fn set(&mut self, primitive: &Primitive, bounds: Bounds) -> bool {
        let corners = primitive.shape().map(|corner| corner.map(edge::snap));
        let furthest = corners
            .iter()
            .flatten()
            .fold(0, |most: u64, at| most.max(at.unsigned_abs()));
        if furthest > FAR_CORNER {
            return false;
        }
        let is_near = furthest < NEAR / 2;
        let far = |corner: [i64; 2]| corner.map(i128::from);
        let turn = match is_near {
            true => edge::area(corners).cmp(&0),
            false => edge::area(corners.map(far)).cmp(&0),
        };
        let [a, b, c] = match turn {
            Ordering::Equal => return false,
            Ordering::Less => [corners[0], corners[2], corners[1]],
            Ordering::Greater => corners,
        };
        let [columns, rows] =
            [0, 1].map(|axis: usize| edge::pixels_between([a[axis], b[axis], c[axis]]).map(|at| at.max(0) as u32));
        self.bounds = Bounds {
            min: [bounds.min[0].max(columns[0]), bounds.min[1].max(rows[0])],
            max: [bounds.max[0].min(columns[1]), bounds.max[1].min(rows[1])],
        };
        let sides = [(a, b), (b, c), (c, a)];
        self.edges = match is_near {
            true => sides.map(|(a, b)| Edge::near(edge::side(a, b, [0; 2]))),
            false => sides.map(|(a, b)| Edge::far(edge::side(far(a), far(b), [0; 2]))),
        };
        true
    }

    /// The relation of the shape to the tile whose first pixel is `origin`.
    pub(crate) fn part(&self, origin: [u32; 2]) -> Part {
        let Bounds { min, max } = self.bounds;
        let last = origin.map(|first| first + SIDE - 1);
        if (0..2).any(|axis| min[axis] > last[axis].min(max[axis]) || max[axis] < origin[axis]) {
            return Part::Nothing;
        }
        let is_within = (0..2).all(|axis| min[axis] <= origin[axis] && max[axis] >= last[axis]);
        match self.reaches(origin) {
            None => Part::Nothing,
            Some(true) if is_within => Part::All,
            Some(_) => Part::Some,
        }
    }

    /// Whether the shape, regardless of its bounds, covers anything of a pixel.
    pub(crate) fn touches(&self, x: u32, y: u32, multisample: bool) -> bool {
        self.pixel(x, y, multisample) != 0
    }

    /// The coverage of the tile whose first pixel is `origin`.
    pub(crate) fn cover(&self, origin: [u32; 2], multisample: bool, coverage: &mut Coverage) {
        coverage.clear();
        let Bounds { min, max } = self.bounds;
        let last = origin.map(|first| first + SIDE - 1);
        match self.part(origin) {
            Part::Nothing => return,
            Part::All => {
                coverage.whole = Some(origin);
                return;
            }
            Part::Some => {}
        }
        let part = Window {
            first: [min[0].max(origin[0]) & !1, min[1].max(origin[1]) & !1],
            last: [max[0].min(last[0]), max[1].min(last[1])],
            bounds: self.bounds,
        };
        let part = &part;
        if !multisample && let Some(edges) = &self.small_edges(part.first, [ONE / 2; 2]) {
            dispatch!(cover_part(edges: &[[f32; 3]; 3], part: &Window, coverage: &mut Coverage) -> (), Found::best());
            return;
        }
        if multisample && let Some(edges) = &self.small_edges_of_samples(part.first) {
            dispatch!(cover_samples(edges: &[[[f32; 3]; 3]; 4], part: &Window, coverage: &mut Coverage) -> (), Found::best());
            return;
        }
        let Window { first, last, .. } = part;
        for row in (first[1]..=last[1]).step_by(2) {
            if multisample {
                self.row_samples(row, [first[0], last[0]], coverage);
            } else {
                self.row(row, [first[0], last[0]], coverage);
            }
        }
    }

    /// Whether all of a tile is inside of all sides; nothing where it is outside of one.
    fn reaches(&self, origin: [u32; 2]) -> Option<bool> {
        let [left, top] = origin.map(|at| i64::from(at) * ONE);
        let mut inside = true;
        for edge in &self.edges {
            let (low, high) = edge.range(left, top, i64::from(SIDE) * ONE);
            if high < 0 {
                return None;
            }
            inside &= low >= 0;
        }
        Some(inside)
    }

    /// [`Shape::small_edges`] at each sample of a pixel.
    fn small_edges_of_samples(&self, first: [u32; 2]) -> Option<[[[f32; 3]; 3]; 4]> {
        let [a, b, c, d] = SAMPLES;
        Some([
            self.small_edges(first, a)?,
            self.small_edges(first, b)?,
            self.small_edges(first, c)?,
            self.small_edges(first, d)?,
        ])
    }

    /// The sides' changes per column and row, and their values at a place in a pixel, in parts that are exact in single
    /// precision all over a tile; nothing where they would not be.
    #[inline]
    fn small_edges(&self, first: [u32; 2], place: [i64; 2]) -> Option<[[f32; 3]; 3]> {
        let [x, y] = [
            i64::from(first[0]) * ONE + place[0],
            i64::from(first[1]) * ONE + place[1],
        ];
        let mut edges = [[0.0; 3]; 3];
        for (into, edge) in edges.iter_mut().zip(&self.edges) {
            if edge.dx.unsigned_abs() > SMALL_STEP || edge.dy.unsigned_abs() > SMALL_STEP {
                return None;
            }
            // Positions are whole multiples of a pixel's part, so the side depends on whole multiples only.
            let start = edge.at(x, y).div_euclid(ONE).clamp(-FAR_START, FAR_START);
            *into = [edge.dx as f32, edge.dy as f32, start as f32];
        }
        Some(edges)
    }

    /// The quads of two rows, from a column to another, by the middles of their pixels.
    fn row(&self, row: u32, [first, last]: [u32; 2], coverage: &mut Coverage) {
        let Bounds { min, max } = self.bounds;
        let inside = |axis: usize, at: u32| u8::from(at >= min[axis] && at <= max[axis]);
        let upper_lower = (inside(1, row) * 0b0011) | (inside(1, row + 1) * 0b1100);
        let (x, y) = (i64::from(first) * ONE + ONE / 2, i64::from(row) * ONE + ONE / 2);
        let mut corner = self.edges.map(|edge| edge.at(x, y));
        for column in (first..=last).step_by(2) {
            // A pixel is outside where a side is negative: the sign of all three or-ed.
            let (mut upper, mut lower, mut right, mut both) = (0, 0, 0, 0);
            for (corner, edge) in corner.iter_mut().zip(&self.edges) {
                let (dx, dy) = (edge.dx * ONE, edge.dy * ONE);
                upper |= *corner;
                right |= *corner + dx;
                lower |= *corner + dy;
                both |= *corner + dx + dy;
                *corner += 2 * dx;
            }
            let left_right = (inside(0, column) * 0b0101) | (inside(0, column + 1) * 0b1010);
            let pixel = |side: i64, lane: u8| u8::from(side >= 0) << lane;
            let live =
                (pixel(upper, 0) | pixel(right, 1) | pixel(lower, 2) | pixel(both, 3)) & left_right & upper_lower;
            if live != 0 && coverage.quads.len() < MAX_QUADS {
                coverage.quads.push(Quad {
                    x: column,
                    y: row,
                    live,
                });
            }
        }
    }

    /// The same with four samples of each pixel.
    fn row_samples(&self, row: u32, [first, last]: [u32; 2], coverage: &mut Coverage) {
        let Bounds { min, max } = self.bounds;
        for column in (first..=last).step_by(2) {
            let samples = std::array::from_fn(|lane| {
                let (x, y) = (column + (lane as u32 & 1), row + (lane as u32 >> 1));
                let out = x < min[0] || x > max[0] || y < min[1] || y > max[1];
                if out { 0 } else { self.pixel(x, y, true) }
            });
            let live = (0..4).map(|lane| u8::from(samples[lane] != 0) << lane).sum();
            if live != 0 && coverage.quads.len() < MAX_QUADS {
                coverage.quads.push(Quad {
                    x: column,
                    y: row,
                    live,
                });
                coverage.samples.push(samples);
            }
        }
    }

    /// Samples of a pixel that are covered.
    fn pixel(&self, x: u32, y: u32, multisample: bool) -> u8 {
        let (x, y) = (i64::from(x) * ONE, i64::from(y) * ONE);
        let covers = |[dx, dy]: [i64; 2]| self.edges.iter().all(|edge| edge.at(x + dx, y + dy) >= 0);
        if !multisample {
            return if covers([ONE / 2; 2]) { 15 } else { 0 };
        }
        (0..4).map(|sample| u8::from(covers(SAMPLES[sample])) << sample).sum()
    }
}

/// Changes per pixel up to this, and values further away than [`FAR_START`] cut off, keep sums over a tile's 16 pixels each
/// way exact in single precision, or at least on the right side of zero.
const SMALL_STEP: u64 = 1 << 18;
const FAR_START: i64 = 1 << 24;

/// A part of a tile, from its first pixel, which is a quad's, to its last; covered is what is within bounds.
struct Window {
    first: [u32; 2],
    last: [u32; 2],
    bounds: Bounds,
}

impl Window {
    /// Lanes of quads side by side in two rows of pixels that are within bounds.
    #[inline(always)]
    fn within(&self, row: u32) -> u32 {
        let mut all = 0;
        for (row, lanes) in (row..).zip(UPPER_LOWER) {
            if row >= self.bounds.min[1] && row <= self.last[1] {
                all |= lanes;
            }
        }
        all
    }
}

/// Lanes of the upper and the lower fragments of quads side by side.
const UPPER_LOWER: [u32; 2] = [0x3333_3333, 0xcccc_cccc];

/// Columns and rows of the fragments of four quads side by side.
static FOUR_QUADS: [[f32; 16]; 2] = [
    [
        0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 2.0, 3.0, 4.0, 5.0, 4.0, 5.0, 6.0, 7.0, 6.0, 7.0,
    ],
    [
        0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0,
    ],
];

/// What [`Shape::row`] does, some quads at a time: `edges` are the sides' changes per column and row, and their values at the
/// part's first pixel.
#[inline(always)]
fn cover_part<L: QuadLanes>(edges: &[[f32; 3]; 3], part: &Window, coverage: &mut Coverage) {
    let Window { first, last, bounds } = part;
    let (columns, rows) = (L::load(&FOUR_QUADS[0]), L::load(&FOUR_QUADS[1]));
    let across = (L::COUNT / 2) as u32;
    // All lanes, as they are inside of large ones.
    let all = (1 << L::COUNT) - 1;
    let side = |edge: [f32; 3]| {
        let along = L::add(L::mul(L::splat(edge[0]), columns), L::mul(L::splat(edge[1]), rows));
        L::add(along, L::splat(edge[2]))
    };
    let sides = [side(edges[0]), side(edges[1]), side(edges[2])];
    let mut row = first[1];
    while row <= last[1] {
        let rows_within = part.within(row);
        let below = (row - first[1]) as f32;
        let mut column = first[0];
        while column <= last[0] {
            let right = (column - first[0]) as f32;
            let value = |at: usize| {
                let beside = edges[at][0] * right + edges[at][1] * below;
                L::add(sides[at], L::splat(beside))
            };
            let least = L::min(L::min(value(0), value(1)), value(2));
            let mut live = L::bits(L::ge(least, L::splat(0.0))) & rows_within;
            if column < bounds.min[0] || column + across > last[0] + 1 {
                let here = L::add(columns, L::splat(column as f32));
                let (min, max) = (L::splat(bounds.min[0] as f32), L::splat(last[0] as f32));
                live &= L::bits(L::ge(here, min)) & L::bits(L::ge(max, here));
            }
            let count = L::COUNT / 4;
            if live == all && coverage.quads.len() + count <= MAX_QUADS {
                let quad = |at: u32| Quad {
                    x: column + at * 2,
                    y: row,
                    live: 15,
                };
                let quads = [quad(0), quad(1), quad(2), quad(3)];
                coverage.quads.extend_from_slice(&quads[..count.min(4)]);
                live = 0;
            }
            let mut at = 0;
            while live != 0 && coverage.quads.len() < MAX_QUADS {
                if live & 15 != 0 {
                    coverage.quads.push(Quad {
                        x: column + at * 2,
                        y: row,
                        live: (live & 15) as u8,
                    });
                }
                (live, at) = (live >> 4, at + 1);
            }
            column += across;
        }
        row += 2;
    }
}

/// What [`Shape::row_samples`] does, some quads at a time: `edges` are for each sample what [`cover_part`] has for the middle.
#[inline(always)]
fn cover_samples<L: QuadLanes>(edges: &[[[f32; 3]; 3]; 4], part: &Window, coverage: &mut Coverage) {
    let Window { first, last, bounds } = part;
    let (columns, rows) = (L::load(&FOUR_QUADS[0]), L::load(&FOUR_QUADS[1]));
    let across = (L::COUNT / 2) as u32;
    let side = |edge: [f32; 3]| L::add(L::mul(L::splat(edge[0]), columns), L::mul(L::splat(edge[1]), rows));
    // Samples differ in the sides' start only.
    let sides = [side(edges[0][0]), side(edges[0][1]), side(edges[0][2])];
    let mut row = first[1];
    while row <= last[1] {
        let rows_within = part.within(row);
        let below = (row - first[1]) as f32;
        let mut column = first[0];
        while column <= last[0] {
            let right = (column - first[0]) as f32;
            let here = L::add(columns, L::splat(column as f32));
            let (min, max) = (L::splat(bounds.min[0] as f32), L::splat(last[0] as f32));
            let wanted = L::bits(L::ge(here, min)) & L::bits(L::ge(max, here)) & rows_within;
            let mut covered = [0; 4];
            for sample in 0..4 {
                let value = |at: usize| {
                    let [across, down, start] = edges[sample][at];
                    L::add(sides[at], L::splat(across * right + down * below + start))
                };
                let least = L::min(L::min(value(0), value(1)), value(2));
                covered[sample] = L::bits(L::ge(least, L::splat(0.0))) & wanted;
            }
            put_samples(covered, [column, row], coverage);
            column += across;
        }
        row += 2;
    }
}

/// Adds quads side by side, by the fragments that each sample covers.
fn put_samples(mut covered: [u32; 4], [mut x, y]: [u32; 2], coverage: &mut Coverage) {
    while covered != [0; 4] && coverage.quads.len() < MAX_QUADS {
        let live = ((covered[0] | covered[1] | covered[2] | covered[3]) & 15) as u8;
        if live != 0 {
            let mut samples = [0; 4];
            for (sample, covered) in covered.iter().enumerate() {
                for (lane, samples) in samples.iter_mut().enumerate() {
                    *samples |= ((covered >> lane & 1) as u8) << sample;
                }
            }
            coverage.quads.push(Quad { x, y, live });
            coverage.samples.push(samples);
        }
        for covered in &mut covered {
            *covered >>= 4;
        }
        x += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Bounds = Bounds {
        min: [0, 0],
        max: [4095, 4095],
    };

    fn pixels(shape: [[f32; 2]; 3]) -> Vec<[u32; 2]> {
        let mut coverage = Coverage::default();
        let Some(shape) = Shape::new(&Primitive::covering(shape, [0; 3], 0), ALL) else {
            return Vec::new();
        };
        shape.cover([0, 0], false, &mut coverage);
        coverage.list();
        let lanes = |quad: &Quad| {
            let quad = *quad;
            (0..4)
                .filter(move |lane| quad.live >> lane & 1 == 1)
                .map(move |lane| [quad.x + (lane & 1), quad.y + (lane >> 1)])
        };
        coverage.quads.iter().flat_map(lanes).collect()
    }

    #[test]
    fn neighbours_share_no_pixel_and_leave_none() {
        // Triangles around a point, whose sides go through pixel centres.
        let middle = [8.5, 8.5];
        let around = [
            [0.5, 0.5],
            [8.5, 0.5],
            [15.5, 0.5],
            [15.5, 8.5],
            [15.5, 15.5],
            [8.5, 15.5],
            [0.5, 15.5],
            [0.5, 8.5],
        ];
        let mut counts = [[0; 16]; 16];
        for at in 0..8 {
            for [x, y] in pixels([middle, around[at], around[(at + 1) % 8]]) {
                counts[y as usize][x as usize] += 1;
            }
        }
        for (y, row) in counts.iter().enumerate() {
            for (x, count) in row.iter().enumerate() {
                let inside = x < 15 && y < 15;
                assert_eq!(*count, u32::from(inside), "{x} {y}");
            }
        }
    }

    /// The diagonal of a square that reaches millions of pixels beyond the picture is no seam.
    #[test]
    fn far_corners_keep_their_sides() {
        for far in [2e3f32, 2e6, 5e8] {
            let [a, b, c, d] = [
                [far, 1.1 * far],
                [-far, 0.9 * far],
                [-far, -1.1 * far],
                [far, -0.9 * far],
            ];
            let mut have = [pixels([a, b, c]), pixels([a, c, d])].concat();
            assert_eq!(have.len(), 256, "{far}");
            have.sort_unstable();
            have.dedup();
            assert_eq!(have.len(), 256, "{far}: pixels are drawn twice");
        }
        // Corners beyond the largest coordinate are dropped, not wrapped around.
        assert!(pixels([[2e9, 0.0], [0.0, 2e9], [-2e9, -2e9]]).is_empty());
    }

    /// Quads row by row cover what pixels for themselves do, and their samples, within bounds that cut them.
    #[test]
    fn rows_cover_what_pixels_do() {
        let mut random = fastrand::Rng::with_seed(3);
        let (mut found, mut some) = (0, 0);
        for _ in 0..2000 {
            let far = [1.0, 1.0, 8.0, 60.0, 600.0][random.usize(..5)];
            let origin = [[0, 0], [16, 32]][random.usize(..2)];
            let shape =
                [0; 3].map(|_| [0, 1].map(|axis: usize| origin[axis] as f32 + (random.f32() * 40.0 - 16.0) * far));
            let bounds = Bounds {
                min: origin.map(|at| at + random.u32(..6)),
                max: origin.map(|at| at + random.u32(8..40)),
            };
            let Some(shape) = Shape::new(&Primitive::covering(shape, [0; 3], 0), bounds) else {
                continue;
            };
            let mut coverage = Coverage::default();
            shape.cover(origin, false, &mut coverage);
            match shape.part(origin) {
                Part::Nothing => assert!(coverage.is_empty()),
                Part::Some => assert!(coverage.whole.is_none()),
                Part::All => assert!(coverage.whole.is_some()),
            }
            coverage.list();
            for (y, x) in (0..16).flat_map(|y| (0..16).map(move |x| (origin[1] + y, origin[0] + x))) {
                let quad = coverage.quads.iter().find(|quad| (quad.x, quad.y) == (x & !1, y & !1));
                let covered = quad.is_some_and(|quad| quad.live >> (x & 1 | (y & 1) << 1) & 1 == 1);
                let inside = (0..2).all(|axis| (bounds.min[axis]..=bounds.max[axis]).contains(&[x, y][axis]));
                assert_eq!(covered, inside && shape.touches(x, y, false), "{x} {y} {shape:?}");
                found += u32::from(covered);
            }
            shape.cover(origin, true, &mut coverage);
            let is_whole = coverage.whole.is_some();
            for (y, x) in (0..16).flat_map(|y| (0..16).map(move |x| (origin[1] + y, origin[0] + x))) {
                let mut quads = coverage.quads.iter().zip(&coverage.samples);
                let quad = quads.find(|(quad, _)| (quad.x, quad.y) == (x & !1, y & !1));
                let lane = (x & 1 | (y & 1) << 1) as usize;
                let samples = quad.map_or(if is_whole { 15 } else { 0 }, |(_, samples)| samples[lane]);
                let live = quad.map_or(is_whole, |(quad, _)| quad.live >> lane & 1 == 1);
                let inside = (0..2).all(|axis| (bounds.min[axis]..=bounds.max[axis]).contains(&[x, y][axis]));
                let want = if inside { shape.pixel(x, y, true) } else { 0 };
                assert_eq!((samples, live), (want, want != 0), "{x} {y} {shape:?}");
                some += u32::from(![0, 15].contains(&want));
            }
        }
        assert!(found > 50_000 && some > 5_000, "{found} {some}");
    }
}
