//! What small triangles cover: what [`Shape`](super::triangle::Shape) says, the short way, for those of which a mesh has many.

use super::edge::{self, ONE};
use crate::exec::places::SIDE;

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
