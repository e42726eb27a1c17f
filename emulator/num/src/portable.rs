//! Lanes without vector units: what runs where a processor has none that are supported, and the reference of those that are.

use super::lanes::{Lanes, One, QuadLanes};

/// Eight lanes in an array.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

const WIDTH: usize = 8;

type Eight = [f32; WIDTH];

#[inline(always)]
fn each(a: Eight, f: impl Fn(f32) -> f32) -> Eight {
    std::array::from_fn(|lane| f(a[lane]))
}

#[inline(always)]
fn both<T>(a: Eight, b: Eight, f: impl Fn(f32, f32) -> T) -> [T; WIDTH] {
    std::array::from_fn(|lane| f(a[lane], b[lane]))
}

impl Lanes for Portable {
    const COUNT: usize = WIDTH;
    type V = Eight;
    type M = [bool; WIDTH];

    #[inline(always)]
    fn splat(value: f32) -> Eight {
        [value; WIDTH]
    }
    #[inline(always)]
    fn load(row: &[f32]) -> Eight {
        std::array::from_fn(|lane| row[lane])
    }
    #[inline(always)]
    fn store(row: &mut [f32], value: Eight) {
        row[..WIDTH].copy_from_slice(&value);
    }
    #[inline(always)]
    fn add(a: Eight, b: Eight) -> Eight {
        both(a, b, One::add)
    }
    #[inline(always)]
    fn sub(a: Eight, b: Eight) -> Eight {
        both(a, b, One::sub)
    }
    #[inline(always)]
    fn mul(a: Eight, b: Eight) -> Eight {
        both(a, b, One::mul)
    }
    #[inline(always)]
    fn div(a: Eight, b: Eight) -> Eight {
        both(a, b, One::div)
    }
    #[inline(always)]
    fn sqrt(a: Eight) -> Eight {
        each(a, One::sqrt)
    }
    #[inline(always)]
    fn floor(a: Eight) -> Eight {
        each(a, One::floor)
    }
    #[inline(always)]
    fn trunc(a: Eight) -> Eight {
        each(a, One::trunc)
    }
    #[inline(always)]
    fn abs(a: Eight) -> Eight {
        each(a, One::abs)
    }
    #[inline(always)]
    fn neg(a: Eight) -> Eight {
        each(a, One::neg)
    }
    #[inline(always)]
    fn min(a: Eight, b: Eight) -> Eight {
        both(a, b, One::min)
    }
    #[inline(always)]
    fn max(a: Eight, b: Eight) -> Eight {
        both(a, b, One::max)
    }
    #[inline(always)]
    fn gt(a: Eight, b: Eight) -> Self::M {
        both(a, b, One::gt)
    }
    #[inline(always)]
    fn ge(a: Eight, b: Eight) -> Self::M {
        both(a, b, One::ge)
    }
    #[inline(always)]
    fn eq(a: Eight, b: Eight) -> Self::M {
        both(a, b, One::eq)
    }
    #[inline(always)]
    fn ne(a: Eight, b: Eight) -> Self::M {
        both(a, b, One::ne)
    }
    #[inline(always)]
    fn select(mask: Self::M, a: Eight, b: Eight) -> Eight {
        std::array::from_fn(|lane| if mask[lane] { a[lane] } else { b[lane] })
    }
    #[inline(always)]
    fn mask(bits: u32) -> Self::M {
        std::array::from_fn(|lane| bits >> lane & 1 == 1)
    }
    #[inline(always)]
    fn bits(mask: Self::M) -> u32 {
        mask.iter().enumerate().map(|(lane, yes)| u32::from(*yes) << lane).sum()
    }
    #[inline(always)]
    fn round_half(a: Eight) -> Eight {
        each(a, One::round_half)
    }
    #[inline(always)]
    fn power(exponent: Eight) -> Eight {
        each(exponent, One::power)
    }
    #[inline(always)]
    fn split(a: Eight) -> (Eight, Eight) {
        (each(a, |a| One::split(a).0), each(a, |a| One::split(a).1))
    }
    #[inline(always)]
    fn lookup(table: &[f32; 16], at: Eight) -> Eight {
        each(at, |at| One::lookup(table, at))
    }
    #[inline(always)]
    fn texels(words: &[u32], start: Eight, at: Eight) -> [Eight; 4] {
        let mut bytes = [[0.0; WIDTH]; 4];
        for (lane, (start, at)) in start.into_iter().zip(at).enumerate() {
            let texel = One::texels(words, start, at);
            for channel in 0..4 {
                bytes[channel][lane] = texel[channel];
            }
        }
        bytes
    }
}

impl QuadLanes for Portable {
    #[inline(always)]
    fn left(a: Eight) -> Eight {
        std::array::from_fn(|lane| a[lane & !1])
    }
    #[inline(always)]
    fn right(a: Eight) -> Eight {
        std::array::from_fn(|lane| a[lane | 1])
    }
    #[inline(always)]
    fn upper(a: Eight) -> Eight {
        std::array::from_fn(|lane| a[lane & !2])
    }
    #[inline(always)]
    fn lower(a: Eight) -> Eight {
        std::array::from_fn(|lane| a[lane | 2])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_bits() {
        for bits in [0u32, 1, 0x80, 0xa5, 0xff] {
            assert_eq!(Portable::bits(Portable::mask(bits)), bits);
        }
    }

    /// Every lane computes what [`One`] does with its numbers.
    #[test]
    fn lanes_are_single_ones() {
        const A: Eight = [2.5, -2.5, 0.375, 100.25, -1.0, 0.0, 7.0, f32::NAN];
        const B: Eight = [2.5, 1.5, -8.0, 100.5, f32::NAN, -0.0, 3.0, 1.0];
        const AT: Eight = [0.0, 15.0, 3.0, 1.0, 2.0, 14.0, 7.0, 8.0];
        let bits = |row: Eight| row.map(f32::to_bits);
        let same = |name: &str, have: Eight, wanted: Eight| assert_eq!(bits(have), bits(wanted), "{name}");
        let of = |f: fn(f32) -> f32| -> Eight { std::array::from_fn(|lane| f(A[lane])) };
        let of_two = |f: fn(f32, f32) -> f32| -> Eight { std::array::from_fn(|lane| f(A[lane], B[lane])) };
        same("splat", Portable::splat(2.5), [2.5; WIDTH]);
        same("load", Portable::load(&A), A);
        let mut row = [0.0; WIDTH];
        Portable::store(&mut row, A);
        same("store", row, A);
        same("sqrt", Portable::sqrt(AT), AT.map(f32::sqrt));
        same("floor", Portable::floor(A), of(One::floor));
        same("trunc", Portable::trunc(A), of(One::trunc));
        same("abs", Portable::abs(A), of(One::abs));
        same("neg", Portable::neg(A), of(One::neg));
        same("round_half", Portable::round_half(A), of(One::round_half));
        same("power", Portable::power(AT), AT.map(One::power));
        same("add", Portable::add(A, B), of_two(One::add));
        same("sub", Portable::sub(A, B), of_two(One::sub));
        same("mul", Portable::mul(A, B), of_two(One::mul));
        same("div", Portable::div(A, B), of_two(One::div));
        same("min", Portable::min(A, B), of_two(One::min));
        same("max", Portable::max(A, B), of_two(One::max));
        let mask = Portable::mask(0b1010_0101);
        same(
            "select",
            Portable::select(mask, A, B),
            [A[0], B[1], A[2], B[3], B[4], A[5], B[6], A[7]],
        );
        let compared = |f: fn(f32, f32) -> bool| -> [bool; WIDTH] { std::array::from_fn(|lane| f(A[lane], B[lane])) };
        assert_eq!(Portable::gt(A, B), compared(One::gt));
        assert_eq!(Portable::ge(A, B), compared(One::ge));
        assert_eq!(Portable::eq(A, B), compared(One::eq));
        assert_eq!(Portable::ne(A, B), compared(One::ne));
        let (exponents, mantissas) = Portable::split([1.0, 2.0, 3.0, 10.0, 0.375, 0.25, 8.0, 5.0]);
        same("split", exponents, [0.0, 1.0, 1.0, 3.0, -2.0, -2.0, 3.0, 2.0]);
        same("split", mantissas, [1.0, 1.0, 1.5, 1.25, 1.5, 1.0, 1.0, 1.25]);
        let table = std::array::from_fn(|at| at as f32 + 0.5);
        same("lookup", Portable::lookup(&table, AT), AT.map(|at| at + 0.5));
        let words: [u32; 16] = std::array::from_fn(|at| 0x0302_0100 + 0x0404_0404 * at as u32);
        let texels = Portable::texels(&words, [1.0; WIDTH], AT.map(|at| at.min(14.0)));
        for (channel, row) in texels.into_iter().enumerate() {
            same("texels", row, AT.map(|at| 4.0 * (at.min(14.0) + 1.0) + channel as f32));
        }
    }

    #[test]
    fn quads_are_two_by_two() {
        let lanes = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        assert_eq!(Portable::left(lanes), [0.0, 0.0, 2.0, 2.0, 4.0, 4.0, 6.0, 6.0]);
        assert_eq!(Portable::right(lanes), [1.0, 1.0, 3.0, 3.0, 5.0, 5.0, 7.0, 7.0]);
        assert_eq!(Portable::upper(lanes), [0.0, 1.0, 0.0, 1.0, 4.0, 5.0, 4.0, 5.0]);
        assert_eq!(Portable::lower(lanes), [2.0, 3.0, 2.0, 3.0, 6.0, 7.0, 6.0, 7.0]);
    }
}
