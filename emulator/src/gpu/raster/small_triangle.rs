//! What small triangles cover: what [`Shape`](super::triangle::Shape) says, the short way, for those of which a mesh has many.

use super::edge::{self, ONE};
use super::triangle::{Coverage, Part, cover_part};
use crate::exec::places::SIDE;
use crate::gpu::primitives::Bounds;
use crate::simd::{Found, dispatch};

/// Parts of a pixel.
pub(crate) const PARTS: i32 = ONE as i32;

/// Largest coordinate in parts of a pixel.
const FURTHEST: f32 = (1 << 22) as f32;

/// Few tiles are touched: no more than two each way.
#[inline]
pub(crate) fn is_small(shape: &[[f32; 2]; 3]) -> bool {
    let [[ax, ay], [bx, by], [cx, cy]] = *shape;
    let extent = |a: f32, b: f32, c: f32| a.max(b).max(c) - a.min(b).min(c);
    extent(ax, bx, cx) < SIDE as f32 && extent(ay, by, cy) < SIDE as f32
}

/// A coordinate in parts of a pixel, if it is [near](is_near).
#[inline(always)]
pub(crate) fn snap(at: f32) -> i32 {
    edge::snap(at) as i32
}

/// A coordinate is a number and not far away.
#[inline(always)]
pub(crate) fn is_near(at: f32) -> bool {
    (at * PARTS as f32).abs() < FURTHEST
}

/// First and last pixel along an axis that have a sample between the corners, and are within bounds; corners in parts of a
/// pixel, and all counted from the tile's first pixel.
#[inline(always)]
pub(crate) fn span(corners: [i32; 3], [first, last]: [i32; 2]) -> [i32; 2] {
    let [low, high] = edge::pixels_between(corners);
    [low.max(first).max(0), high.min(last).min(SIDE as i32 - 1)]
}

/// A side's change per column and row, and its value in the middle of a pixel, in parts: what is not negative is inside.
#[inline(always)]
pub(crate) fn side(a: [i32; 2], b: [i32; 2], pixel: [i32; 2]) -> [f32; 3] {
    let middle = [pixel[0] * PARTS + PARTS / 2, pixel[1] * PARTS + PARTS / 2];
    let [dx, dy, value] = edge::side(a, b, middle);
    [dx as f32, dy as f32, (value >> PARTS.trailing_zeros()) as f32]
}

/// Finds what a [small](is_small) triangle covers of the tile whose first pixel is `origin`, by the middles of pixels; false
/// where it is not near enough for that.
pub(crate) fn cover(shape: &[[f32; 2]; 3], bounds: Bounds, origin: [u32; 2], coverage: &mut Coverage) -> bool {
    if !shape.as_flattened().iter().all(|at| is_near(*at)) {
        return false;
    }
    coverage.clear();
    let origin = origin.map(|at| at as i32);
    let [a, b, c] = shape.map(|[x, y]| [snap(x) - PARTS * origin[0], snap(y) - PARTS * origin[1]]);
    // Pixels of the tile, counted from its first one, that have a sample in the corners' box.
    let [mut min, mut first, mut last] = [[0; 2]; 3];
    for axis in 0..2 {
        let within = [bounds.min[axis], bounds.max[axis]].map(|at| at as i32 - origin[axis]);
        [min[axis], last[axis]] = span([a[axis], b[axis], c[axis]], within);
        first[axis] = min[axis] & !1;
        if min[axis] > last[axis] {
            return true;
        }
    }
    let turn = edge::area([a, b, c]);
    if turn == 0 {
        return true;
    }
    let [b, c] = if turn > 0 { [b, c] } else { [c, b] };
    let edges = &[side(a, b, first), side(b, c, first), side(c, a, first)];
    let of_picture = |at: [i32; 2]| [(at[0] + origin[0]) as u32, (at[1] + origin[1]) as u32];
    let part = &Part {
        first: of_picture(first),
        last: of_picture(last),
        bounds: Bounds {
            min: of_picture(min),
            max: of_picture(last),
        },
    };
    dispatch!(cover_part(edges: &[[f32; 3]; 3], part: &Part, coverage: &mut Coverage) -> (), Found::best());
    true
}

#[cfg(test)]
mod tests {
    use super::super::triangle::Shape;
    use super::*;
    use crate::gpu::primitives::Primitive;
    use fastrand::Rng;

    /// The short way covers what shapes do, whatever cuts them, on sides through the middles of pixels and elsewhere.
    #[test]
    fn small_triangles_are_shapes() {
        let mut random = Rng::with_seed(4);
        let (mut fragments, mut far) = (0, 0);
        for round in 0..40_000 {
            let origin = [[0, 0], [16, 32], [4080, 4080]][random.usize(..3)];
            let coarse = [1.0, 2.0, 256.0, 512.0, 1e9][random.usize(..5)];
            let size = [2.0, 5.0, 15.9][random.usize(..3)];
            let start = [0, 1].map(|axis: usize| origin[axis] as f32 - 20.0 + 40.0 * random.f32());
            let mut shape = [0; 3]
                .map(|_| [0, 1].map(|axis: usize| ((start[axis] + size * random.f32()) * coarse).round() / coarse));
            if round % 50 == 0 {
                shape[random.usize(..3)][random.usize(..2)] =
                    [f32::NAN, f32::INFINITY, 1e30, -20_000.0][random.usize(..4)];
            }
            if !is_small(&shape) {
                continue;
            }
            let bounds = Bounds {
                min: origin.map(|at| at + random.u32(..4)),
                max: origin.map(|at| at + random.u32(4..40)),
            };
            let [mut have, mut wanted] = [Coverage::default(), Coverage::default()];
            if !cover(&shape, bounds, origin, &mut have) {
                far += 1;
                continue;
            }
            if let Some(shape) = Shape::new(&Primitive::covering(shape, [0; 3], 0), bounds) {
                shape.cover(origin, false, &mut wanted);
            }
            assert_eq!(have.quads, wanted.quads, "{shape:?} {bounds:?} {origin:?}");
            fragments += have.fragments();
        }
        assert!(fragments > 20_000 && far > 100, "{fragments} {far}");
    }
}
