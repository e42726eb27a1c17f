//! A vector of numbers that are processed together: the SIMD operations that engines need.
//!
//! One lane ([`One`]) is the scalar reference; the wide forms give the same bits in every lane. Multiplications and
//! additions are never fused, because fusing would make the forms differ.

use super::half;

/// A number of lanes. All functions are static: the type is a token for the processor's features.
pub trait Lanes: Copy {
    /// Number of lanes.
    const COUNT: usize;
    /// A number for every lane.
    type V: Copy;
    /// A boolean for every lane.
    type M: Copy;

    /// The same number everywhere.
    fn splat(value: f32) -> Self::V;
    /// Loads the first [`Lanes::COUNT`] numbers of a slice, which has at least as many.
    fn load(row: &[f32]) -> Self::V;
    /// Stores to the first [`Lanes::COUNT`] numbers of a slice, which has at least as many.
    fn store(row: &mut [f32], value: Self::V);
    /// a + b
    fn add(a: Self::V, b: Self::V) -> Self::V;
    /// a - b
    fn sub(a: Self::V, b: Self::V) -> Self::V;
    /// a * b
    fn mul(a: Self::V, b: Self::V) -> Self::V;
    /// a / b
    fn div(a: Self::V, b: Self::V) -> Self::V;
    /// The correctly rounded square root.
    fn sqrt(a: Self::V) -> Self::V;
    /// Rounds down.
    fn floor(a: Self::V) -> Self::V;
    /// Rounds towards zero.
    fn trunc(a: Self::V) -> Self::V;
    /// Without the sign bit.
    fn abs(a: Self::V) -> Self::V;
    /// With the sign bit flipped.
    fn neg(a: Self::V) -> Self::V;
    /// a < b ? a : b
    fn min(a: Self::V, b: Self::V) -> Self::V;
    /// a > b ? a : b
    fn max(a: Self::V, b: Self::V) -> Self::V;
    /// a > b, false with NaN.
    fn gt(a: Self::V, b: Self::V) -> Self::M;
    /// a >= b, false with NaN.
    fn ge(a: Self::V, b: Self::V) -> Self::M;
    /// a == b, false with NaN.
    fn eq(a: Self::V, b: Self::V) -> Self::M;
    /// a != b, true with NaN.
    fn ne(a: Self::V, b: Self::V) -> Self::M;
    /// `a` where the mask is set, `b` elsewhere.
    fn select(mask: Self::M, a: Self::V, b: Self::V) -> Self::V;
    /// The mask with these bits, lane 0 in the lowest.
    fn mask(bits: u32) -> Self::M;
    /// The bits of a mask.
    fn bits(mask: Self::M) -> u32;
    /// The nearest fp16 numbers, ties to even.
    fn round_half(a: Self::V) -> Self::V;
    /// 2 to the power of an integer from -126 to 127.
    fn power(exponent: Self::V) -> Self::V;
    /// Splits positive normal numbers into integer exponent and mantissa from 1 to 2.
    fn split(a: Self::V) -> (Self::V, Self::V);
    /// Table entries at integer indices 0 to 15; other indices give an unspecified entry.
    fn lookup(table: &[f32; 16], at: Self::V) -> Self::V;
    /// The four bytes, lowest first, of the words at integer indices `at` + `start`; an index out of range reads an
    /// unspecified word. There is at least one word.
    fn texels(words: &[u32], start: Self::V, at: Self::V) -> [Self::V; 4];
}

/// Whether `a` is NaN, tested on its bits: for "a < b ? a : b" with a constant the compiler selects an ARM instruction
/// that returns NaN, not `b`, if `a` is a signalling NaN. x86 has the exact operation.
#[inline(always)]
fn is_nan_here(a: f32) -> bool {
    cfg!(not(target_arch = "x86_64")) && a.to_bits() & 0x7fff_ffff > 0x7f80_0000
}

/// A single lane.
#[derive(Clone, Copy, Debug)]
pub struct One;

impl Lanes for One {
    const COUNT: usize = 1;
    type V = f32;
    type M = bool;

    #[inline(always)]
    fn splat(value: f32) -> f32 {
        value
    }
    #[inline(always)]
    fn load(row: &[f32]) -> f32 {
        row[0]
    }
    #[inline(always)]
    fn store(row: &mut [f32], value: f32) {
        row[0] = value;
    }
    #[inline(always)]
    fn add(a: f32, b: f32) -> f32 {
        a + b
    }
    #[inline(always)]
    fn sub(a: f32, b: f32) -> f32 {
        a - b
    }
    #[inline(always)]
    fn mul(a: f32, b: f32) -> f32 {
        a * b
    }
    #[inline(always)]
    fn div(a: f32, b: f32) -> f32 {
        a / b
    }
    #[inline(always)]
    fn sqrt(a: f32) -> f32 {
        a.sqrt()
    }
    #[inline(always)]
    fn floor(a: f32) -> f32 {
        a.floor()
    }
    #[inline(always)]
    fn trunc(a: f32) -> f32 {
        a.trunc()
    }
    #[inline(always)]
    fn abs(a: f32) -> f32 {
        a.abs()
    }
    #[inline(always)]
    fn neg(a: f32) -> f32 {
        -a
    }
    #[inline(always)]
    fn min(a: f32, b: f32) -> f32 {
        if a < b && !is_nan_here(a) { a } else { b }
    }
    #[inline(always)]
    fn max(a: f32, b: f32) -> f32 {
        if a > b && !is_nan_here(a) { a } else { b }
    }
    #[inline(always)]
    fn gt(a: f32, b: f32) -> bool {
        a > b
    }
    #[inline(always)]
    fn ge(a: f32, b: f32) -> bool {
        a >= b
    }
    #[inline(always)]
    fn eq(a: f32, b: f32) -> bool {
        a == b
    }
    #[inline(always)]
    fn ne(a: f32, b: f32) -> bool {
        a != b
    }
    #[inline(always)]
    fn select(mask: bool, a: f32, b: f32) -> f32 {
        if mask { a } else { b }
    }
    #[inline(always)]
    fn mask(bits: u32) -> bool {
        bits & 1 == 1
    }
    #[inline(always)]
    fn bits(mask: bool) -> u32 {
        u32::from(mask)
    }
    #[inline(always)]
    fn round_half(a: f32) -> f32 {
        half::round(a)
    }
    #[inline(always)]
    fn power(exponent: f32) -> f32 {
        f32::from_bits(((exponent as i32 + 127) as u32) << 23)
    }
    #[inline(always)]
    fn split(a: f32) -> (f32, f32) {
        let bits = a.to_bits();
        let mantissa = f32::from_bits(bits & 0x007f_ffff | 0x3f80_0000);
        ((bits >> 23) as f32 - 127.0, mantissa)
    }
    #[inline(always)]
    fn lookup(table: &[f32; 16], at: f32) -> f32 {
        table[at as usize & 15]
    }
    #[inline(always)]
    fn texels(words: &[u32], start: f32, at: f32) -> [f32; 4] {
        let at = (start as usize).saturating_add(at as usize);
        let [red, green, blue, alpha] = words[at.min(words.len() - 1)].to_le_bytes();
        [f32::from(red), f32::from(green), f32::from(blue), f32::from(alpha)]
    }
}

/// Lanes that are the fragments of quads: (x, y), (x+1, y), (x, y+1), (x+1, y+1).
pub trait QuadLanes: Lanes {
    /// Each row's left fragment, in both lanes.
    fn left(a: Self::V) -> Self::V;
    /// Each row's right fragment, in both lanes.
    fn right(a: Self::V) -> Self::V;
    /// Each column's upper fragment, in both lanes.
    fn upper(a: Self::V) -> Self::V;
    /// Each column's lower fragment, in both lanes.
    fn lower(a: Self::V) -> Self::V;
}

#[cfg(test)]
mod tests {
    use super::{Lanes, One};

    /// The operations of one lane on numbers that tell each from its neighbours.
    #[test]
    fn one_lane_computes_what_it_says() {
        let two = [
            ("add", One::add(3.0, 0.5), 3.5),
            ("sub", One::sub(3.0, 0.5), 2.5),
            ("mul", One::mul(3.0, 0.5), 1.5),
            ("div", One::div(3.0, 0.5), 6.0),
            ("min", One::min(3.0, 0.5), 0.5),
            ("min", One::min(0.5, 3.0), 0.5),
            ("max", One::max(3.0, 0.5), 3.0),
            ("max", One::max(0.5, 3.0), 3.0),
            // The second where they cannot be ordered.
            ("min", One::min(f32::NAN, 2.0), 2.0),
            ("max", One::max(f32::NAN, 2.0), 2.0),
            // And where they are equal, as zeros of different signs are.
            ("min", One::min(0.0, -0.0), -0.0),
            ("max", One::max(-0.0, 0.0), 0.0),
            ("select", One::select(true, 3.0, 0.5), 3.0),
            ("select", One::select(false, 3.0, 0.5), 0.5),
        ];
        let one = [
            ("splat", One::splat(2.5), 2.5),
            ("load", One::load(&[2.5, 3.5]), 2.5),
            ("sqrt", One::sqrt(6.25), 2.5),
            ("floor", One::floor(-2.5), -3.0),
            ("trunc", One::trunc(-2.5), -2.0),
            ("abs", One::abs(-2.5), 2.5),
            ("neg", One::neg(-2.5), 2.5),
            ("round_half", One::round_half(2049.0), 2048.0),
            ("power", One::power(-126.0), f32::MIN_POSITIVE),
            ("power", One::power(127.0), 1.701_411_8e38),
        ];
        for (name, have, wanted) in one.into_iter().chain(two) {
            assert_eq!(have.to_bits(), f32::to_bits(wanted), "{name}: {have}");
        }
        let mut row = [0.0; 2];
        One::store(&mut row, 2.5);
        assert_eq!(row, [2.5, 0.0]);
        assert_eq!(One::split(10.0), (3.0, 1.25));
        assert_eq!(One::split(0.375), (-2.0, 1.5));
    }

    #[test]
    fn one_lane_compares() {
        let with = |other: f32| {
            [
                One::gt(2.0, other),
                One::ge(2.0, other),
                One::eq(2.0, other),
                One::ne(2.0, other),
            ]
        };
        assert_eq!(with(1.0), [true, true, false, true]);
        assert_eq!(with(2.0), [false, true, true, false]);
        assert_eq!(with(3.0), [false, false, false, true]);
        assert_eq!(with(f32::NAN), [false, false, false, true]);
        assert_eq!([0, 1, 2, 3].map(One::mask), [false, true, false, true]);
        assert_eq!([false, true].map(One::bits), [0, 1]);
    }

    #[test]
    fn one_lane_reads_tables() {
        let table = std::array::from_fn(|at| at as f32 + 0.5);
        assert_eq!([0.0, 7.0, 15.0].map(|at| One::lookup(&table, at)), [0.5, 7.5, 15.5]);
        let words = [0x0403_0201, 0x0807_0605, 0xfcfd_feff];
        assert_eq!(One::texels(&words, 0.0, 1.0), [5.0, 6.0, 7.0, 8.0]);
        assert_eq!(One::texels(&words, 1.0, 1.0), [255.0, 254.0, 253.0, 252.0]);
        // Past the end, the last.
        assert_eq!(One::texels(&words, 2.0, 9.0), [255.0, 254.0, 253.0, 252.0]);
    }
}
