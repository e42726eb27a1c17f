//! Lanes without vector units: what runs where a processor has none that are supported, and the reference of those that are.

use super::half;
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
        both(a, b, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(a: Eight, b: Eight) -> Eight {
        both(a, b, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(a: Eight, b: Eight) -> Eight {
        both(a, b, |a, b| a * b)
    }
    #[inline(always)]
    fn div(a: Eight, b: Eight) -> Eight {
        both(a, b, |a, b| a / b)
    }
    #[inline(always)]
    fn sqrt(a: Eight) -> Eight {
        each(a, f32::sqrt)
    }
    #[inline(always)]
    fn floor(a: Eight) -> Eight {
        each(a, f32::floor)
    }
    #[inline(always)]
    fn trunc(a: Eight) -> Eight {
        each(a, f32::trunc)
    }
    #[inline(always)]
    fn abs(a: Eight) -> Eight {
        each(a, f32::abs)
    }
    #[inline(always)]
    fn neg(a: Eight) -> Eight {
        each(a, |a| -a)
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
        both(a, b, |a, b| a > b)
    }
    #[inline(always)]
    fn ge(a: Eight, b: Eight) -> Self::M {
        both(a, b, |a, b| a >= b)
    }
    #[inline(always)]
    fn eq(a: Eight, b: Eight) -> Self::M {
        both(a, b, |a, b| a == b)
    }
    #[inline(always)]
    fn ne(a: Eight, b: Eight) -> Self::M {
        both(a, b, |a, b| a != b)
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
        each(a, half::round)
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
}
