//! Edge functions: where corners are snapped to, which side of a triangle a sample is on, and which triangle owns a side's samples
//! (docs/spec/mali/streams.md, section 3). Every triangle goes through these, small ones sixteen at a time.

use std::ops::{Add, Mul, Neg, Shr, Sub};

/// Parts of a pixel.
pub(crate) const ONE: i64 = 1 << ONE_BITS;
const ONE_BITS: u32 = 8;

/// Places of the four samples, in parts of a pixel: a rotated grid ([?]: what the hardware has is not public).
pub(super) const SAMPLES: [[i64; 2]; 4] = [[96, 32], [224, 96], [32, 160], [160, 224]];

/// The first and the last place a sample has on either axis.
const OUTERMOST: [i16; 2] = [32, 224];

/// Where planes of depth are read: the sample's distance from the pixel's centre, in pixels.
pub(crate) fn sample_offset(sample: usize) -> [f32; 2] {
    SAMPLES[sample].map(|at| (at - ONE / 2) as f32 / ONE as f32)
}

/// Whole numbers that edges are computed with: 32 bits are enough for small triangles, 64 for those whose corners are near,
/// 128 for all.
pub(crate) trait Whole:
    Copy
    + Ord
    + From<bool>
    + From<i16>
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Shr<u32, Output = Self>
{
}

impl Whole for i32 {}
impl Whole for i64 {}
impl Whole for i128 {}

/// A coordinate in parts of a pixel: to the nearest, halves away from zero, without a branch or a call; NaN is 0. What is
/// further away than any corner may be stays so.
#[inline(always)]
pub(crate) fn snap(at: f32) -> i64 {
    const FURTHEST: f64 = (1u64 << 50) as f64;
    let value = f64::from(at) * ONE as f64;
    let value = if value.is_nan() { 0.0 } else { value };
    let value = if value > -FURTHEST { value } else { -FURTHEST };
    let value = if value < FURTHEST { value } else { FURTHEST };
    // A double of this size has no bits for a fraction: the difference of such doubles' bits is the nearest whole number, of
    // two that are as near the even one.
    const LARGE: f64 = 1.5 * (1u64 << 52) as f64;
    let large = value + LARGE;
    let rest = value - (large - LARGE);
    let away = i64::from((rest == 0.5) & (value > 0.0)) - i64::from((rest == -0.5) & (value < 0.0));
    (large.to_bits() as i64) - (LARGE.to_bits() as i64) + away
}

/// The top-left rule: whether samples on the side with this direction belong to a triangle that turns clockwise in the
/// picture's rows. Those on a top or a left side do.
#[inline(always)]
fn is_owned<T: Whole>(run: T, rise: T) -> bool {
    let zero = T::from(false);
    (rise == zero) & (run > zero) | (rise < zero)
}

/// Twice the area of a triangle: positive where it turns clockwise in the picture's rows.
#[inline(always)]
pub(crate) fn area<T: Whole>([a, b, c]: [[T; 2]; 3]) -> T {
    (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
}

/// The side from `a` to `b` of a triangle that turns clockwise: its change per column and row, and its value at a place. What
/// is not negative is inside.
#[inline(always)]
pub(crate) fn side<T: Whole>(a: [T; 2], b: [T; 2], at: [T; 2]) -> [T; 3] {
    let (run, rise) = (b[0] - a[0], b[1] - a[1]);
    let value = run * (at[1] - a[1]) - rise * (at[0] - a[0]) - T::from(!is_owned(run, rise));
    [-rise, run, value]
}

/// First and last pixel along an axis that have a sample between corners, in parts of a pixel.
#[inline(always)]
pub(crate) fn pixels_between<T: Whole>([a, b, c]: [T; 3]) -> [T; 2] {
    let one = T::from(1i16 << ONE_BITS);
    let low = a.min(b).min(c) + (one - T::from(true) - T::from(OUTERMOST[1]));
    let high = a.max(b).max(c) - T::from(OUTERMOST[0]);
    [low >> ONE_BITS, high >> ONE_BITS]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapping_is_rounding() {
        let halves = (-2000..2000).map(|at| at as f32 / 512.0);
        let near = halves.flat_map(|value| [value, value.next_up(), value.next_down()]);
        let odd = [f32::NAN, 0.0, -0.0, 1e6, -1e6, 3e8, 16_383.998, 1e12, -1e12];
        for at in near.chain(odd) {
            assert_eq!(snap(at), (f64::from(at) * 256.0).round() as i64, "{at}");
        }
        for at in [f32::INFINITY, f32::NEG_INFINITY, 1e30] {
            assert_eq!(snap(at).unsigned_abs(), 1 << 50, "{at}");
        }
    }
}
