//! Rows on the processor's vector units: 512 bits, 256 bits, and a portable form. Every operation gives each lane the
//! bits [`One`](num::lanes::One) gives.
//!
//! The types of lanes stay inside the crate, and only [`dispatch!`] names them: it takes a [`Found`], which can be had
//! only by asking the processor, and calls functions that are compiled for what was found.

use num::half;
use num::lanes::{Lanes, QuadLanes};

/// What the processor can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// No vector units that are known here.
    Portable,
    /// 256 bits, with fp16 conversion.
    Avx2,
    /// 512 bits.
    Avx512,
}

/// A level that this processor was found to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found(Level);

impl Found {
    /// The best there is.
    pub fn best() -> Self {
        Self(level())
    }

    /// The best there is, but none better than a limit.
    pub fn at_most(limit: Level) -> Self {
        Self(level().min(limit))
    }

    /// The level.
    pub fn level(self) -> Level {
        self.0
    }
}

/// The best level of this processor.
pub fn level() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        let foundation = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
        if foundation && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl") {
            return Level::Avx512;
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("f16c") {
            return Level::Avx2;
        }
    }
    Level::Portable
}

/// Whether the processor has fused products of 256 bits.
pub(crate) fn has_fma() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Eight lanes in an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

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
        both(a, b, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn max(a: Eight, b: Eight) -> Eight {
        both(a, b, |a, b| if a > b { a } else { b })
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
        each(exponent, num::lanes::One::power)
    }
    #[inline(always)]
    fn split(a: Eight) -> (Eight, Eight) {
        (
            each(a, |a| num::lanes::One::split(a).0),
            each(a, |a| num::lanes::One::split(a).1),
        )
    }
    #[inline(always)]
    fn texels(words: &[u32], at: Eight) -> [Eight; 4] {
        let mut bytes = [[0.0; WIDTH]; 4];
        for (lane, at) in at.into_iter().enumerate() {
            let texel = num::lanes::One::texels(words, at);
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

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Lanes, QuadLanes};
    use std::arch::x86_64::*;

    /// Eight lanes of 256 bits.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Avx2;

    /// Sixteen lanes of 512 bits.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Avx512;

    /// Forwards operations to intrinsics.
    macro_rules! forward {
        ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty = $body:expr;)*) => {$(
            #[inline(always)]
            fn $name($($arg: $type),*) -> $out {
                // SAFETY: the token is only used where the processor was asked for these instructions (see the
                // module), and they work on values.
                unsafe { $body }
            }
        )*};
    }

    impl Lanes for Avx2 {
        const COUNT: usize = 8;
        type V = __m256;
        type M = __m256;

        #[inline(always)]
        fn load(row: &[f32]) -> __m256 {
            let row: &[f32; 8] = row[..8].try_into().expect("eight lanes");
            // SAFETY: the processor has the instruction (see the module); eight floats are there, unaligned is fine.
            unsafe { _mm256_loadu_ps(row.as_ptr()) }
        }
        #[inline(always)]
        fn store(row: &mut [f32], value: __m256) {
            let row: &mut [f32; 8] = (&mut row[..8]).try_into().expect("eight lanes");
            // SAFETY: as in `load`.
            unsafe { _mm256_storeu_ps(row.as_mut_ptr(), value) }
        }
        #[inline(always)]
        fn texels(words: &[u32], at: __m256) -> [__m256; 4] {
            assert!(!words.is_empty());
            let last = words.len().min(1 << 30) as i32 - 1;
            // SAFETY: the processor has the instructions (see the module); numbers are made to be at most the last word's,
            // as numbers without a sign, so what is read is within `words`.
            unsafe {
                let at = _mm256_min_epu32(_mm256_cvttps_epi32(at), _mm256_set1_epi32(last));
                let texel = _mm256_i32gather_epi32::<4>(words.as_ptr().cast(), at);
                let byte = _mm256_set1_epi32(0xff);
                [
                    _mm256_cvtepi32_ps(_mm256_and_si256(texel, byte)),
                    _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32::<8>(texel), byte)),
                    _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32::<16>(texel), byte)),
                    _mm256_cvtepi32_ps(_mm256_srli_epi32::<24>(texel)),
                ]
            }
        }
        forward! {
            splat(value: f32) -> __m256 = _mm256_set1_ps(value);
            add(a: __m256, b: __m256) -> __m256 = _mm256_add_ps(a, b);
            sub(a: __m256, b: __m256) -> __m256 = _mm256_sub_ps(a, b);
            mul(a: __m256, b: __m256) -> __m256 = _mm256_mul_ps(a, b);
            div(a: __m256, b: __m256) -> __m256 = _mm256_div_ps(a, b);
            sqrt(a: __m256) -> __m256 = _mm256_sqrt_ps(a);
            floor(a: __m256) -> __m256 = _mm256_floor_ps(a);
            trunc(a: __m256) -> __m256 = _mm256_round_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(a);
            abs(a: __m256) -> __m256 = _mm256_andnot_ps(_mm256_set1_ps(-0.0), a);
            neg(a: __m256) -> __m256 = _mm256_xor_ps(_mm256_set1_ps(-0.0), a);
            min(a: __m256, b: __m256) -> __m256 = _mm256_min_ps(a, b);
            max(a: __m256, b: __m256) -> __m256 = _mm256_max_ps(a, b);
            gt(a: __m256, b: __m256) -> __m256 = _mm256_cmp_ps::<_CMP_GT_OQ>(a, b);
            ge(a: __m256, b: __m256) -> __m256 = _mm256_cmp_ps::<_CMP_GE_OQ>(a, b);
            eq(a: __m256, b: __m256) -> __m256 = _mm256_cmp_ps::<_CMP_EQ_OQ>(a, b);
            ne(a: __m256, b: __m256) -> __m256 = _mm256_cmp_ps::<_CMP_NEQ_UQ>(a, b);
            select(mask: __m256, a: __m256, b: __m256) -> __m256 = _mm256_blendv_ps(b, a, mask);
            mask(bits: u32) -> __m256 = {
                let each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
                let set = _mm256_and_si256(_mm256_set1_epi32(bits as i32), each);
                _mm256_castsi256_ps(_mm256_cmpeq_epi32(set, each))
            };
            bits(mask: __m256) -> u32 = _mm256_movemask_ps(mask) as u32;
            round_half(a: __m256) -> __m256 = {
                let half = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(a);
                // Without an exponent it is zero or a denormal.
                let exponent = _mm_and_si128(half, _mm_set1_epi16(0x7c00));
                let gone = _mm_cmpeq_epi16(exponent, _mm_setzero_si128());
                _mm256_cvtph_ps(_mm_andnot_si128(gone, half))
            };
            power(exponent: __m256) -> __m256 = {
                let biased = _mm256_add_epi32(_mm256_cvttps_epi32(exponent), _mm256_set1_epi32(127));
                _mm256_castsi256_ps(_mm256_slli_epi32::<23>(biased))
            };
            split(a: __m256) -> (__m256, __m256) = {
                let bits = _mm256_castps_si256(a);
                let exponent = _mm256_cvtepi32_ps(_mm256_srli_epi32::<23>(bits));
                let mantissa = _mm256_and_si256(bits, _mm256_set1_epi32(0x007f_ffff));
                let mantissa = _mm256_or_si256(mantissa, _mm256_set1_epi32(0x3f80_0000));
                (_mm256_sub_ps(exponent, _mm256_set1_ps(127.0)), _mm256_castsi256_ps(mantissa))
            };
        }
    }

    impl QuadLanes for Avx2 {
        forward! {
            left(a: __m256) -> __m256 = _mm256_permute_ps::<0b10_10_00_00>(a);
            right(a: __m256) -> __m256 = _mm256_permute_ps::<0b11_11_01_01>(a);
            upper(a: __m256) -> __m256 = _mm256_permute_ps::<0b01_00_01_00>(a);
            lower(a: __m256) -> __m256 = _mm256_permute_ps::<0b11_10_11_10>(a);
        }
    }

    impl Lanes for Avx512 {
        const COUNT: usize = 16;
        type V = __m512;
        type M = __mmask16;

        #[inline(always)]
        fn load(row: &[f32]) -> __m512 {
            let row: &[f32; 16] = row[..16].try_into().expect("sixteen lanes");
            // SAFETY: the processor has the instruction (see the module); sixteen floats are there, unaligned is fine.
            unsafe { _mm512_loadu_ps(row.as_ptr()) }
        }
        #[inline(always)]
        fn store(row: &mut [f32], value: __m512) {
            let row: &mut [f32; 16] = (&mut row[..16]).try_into().expect("sixteen lanes");
            // SAFETY: as in `load`.
            unsafe { _mm512_storeu_ps(row.as_mut_ptr(), value) }
        }
        #[inline(always)]
        fn texels(words: &[u32], at: __m512) -> [__m512; 4] {
            assert!(!words.is_empty());
            let last = words.len().min(1 << 30) as i32 - 1;
            // SAFETY: as for 256 bits.
            unsafe {
                let at = _mm512_min_epu32(_mm512_cvttps_epi32(at), _mm512_set1_epi32(last));
                let texel = _mm512_i32gather_epi32::<4>(at, words.as_ptr().cast());
                let byte = _mm512_set1_epi32(0xff);
                [
                    _mm512_cvtepi32_ps(_mm512_and_si512(texel, byte)),
                    _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32::<8>(texel), byte)),
                    _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32::<16>(texel), byte)),
                    _mm512_cvtepi32_ps(_mm512_srli_epi32::<24>(texel)),
                ]
            }
        }
        forward! {
            splat(value: f32) -> __m512 = _mm512_set1_ps(value);
            add(a: __m512, b: __m512) -> __m512 = _mm512_add_ps(a, b);
            sub(a: __m512, b: __m512) -> __m512 = _mm512_sub_ps(a, b);
            mul(a: __m512, b: __m512) -> __m512 = _mm512_mul_ps(a, b);
            div(a: __m512, b: __m512) -> __m512 = _mm512_div_ps(a, b);
            sqrt(a: __m512) -> __m512 = _mm512_sqrt_ps(a);
            floor(a: __m512) -> __m512 = _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(a);
            trunc(a: __m512) -> __m512 = _mm512_roundscale_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(a);
            abs(a: __m512) -> __m512 = _mm512_andnot_ps(_mm512_set1_ps(-0.0), a);
            neg(a: __m512) -> __m512 = _mm512_xor_ps(_mm512_set1_ps(-0.0), a);
            min(a: __m512, b: __m512) -> __m512 = _mm512_min_ps(a, b);
            max(a: __m512, b: __m512) -> __m512 = _mm512_max_ps(a, b);
            gt(a: __m512, b: __m512) -> __mmask16 = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b);
            ge(a: __m512, b: __m512) -> __mmask16 = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(a, b);
            eq(a: __m512, b: __m512) -> __mmask16 = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b);
            ne(a: __m512, b: __m512) -> __mmask16 = _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(a, b);
            select(mask: __mmask16, a: __m512, b: __m512) -> __m512 = _mm512_mask_blend_ps(mask, b, a);
            round_half(a: __m512) -> __m512 = {
                let half = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(a);
                // Without an exponent it is zero or a denormal.
                _mm512_maskz_cvtph_ps(_mm256_test_epi16_mask(half, _mm256_set1_epi16(0x7c00)), half)
            };
            power(exponent: __m512) -> __m512 = {
                let biased = _mm512_add_epi32(_mm512_cvttps_epi32(exponent), _mm512_set1_epi32(127));
                _mm512_castsi512_ps(_mm512_slli_epi32::<23>(biased))
            };
            split(a: __m512) -> (__m512, __m512) = {
                let bits = _mm512_castps_si512(a);
                let exponent = _mm512_cvtepi32_ps(_mm512_srli_epi32::<23>(bits));
                let mantissa = _mm512_and_si512(bits, _mm512_set1_epi32(0x007f_ffff));
                let mantissa = _mm512_or_si512(mantissa, _mm512_set1_epi32(0x3f80_0000));
                (_mm512_sub_ps(exponent, _mm512_set1_ps(127.0)), _mm512_castsi512_ps(mantissa))
            };
        }
        #[inline(always)]
        fn mask(bits: u32) -> __mmask16 {
            bits as __mmask16
        }
        #[inline(always)]
        fn bits(mask: __mmask16) -> u32 {
            u32::from(mask)
        }
    }

    impl QuadLanes for Avx512 {
        forward! {
            left(a: __m512) -> __m512 = _mm512_permute_ps::<0b10_10_00_00>(a);
            right(a: __m512) -> __m512 = _mm512_permute_ps::<0b11_11_01_01>(a);
            upper(a: __m512) -> __m512 = _mm512_permute_ps::<0b01_00_01_00>(a);
            lower(a: __m512) -> __m512 = _mm512_permute_ps::<0b11_10_11_10>(a);
        }
    }
}

/// Runs a generic function with the best lanes of this processor, compiled for them.
///
/// `$body` is a function generic in [`QuadLanes`]; the arguments are its own. `$found` is a [`Found`].
macro_rules! dispatch {
    ($body:ident($($arg:ident: $type:ty),* $(,)?) -> $out:ty, $found:expr) => {{
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
        fn wide($($arg: $type),*) -> $out {
            $body::<$crate::simd::Avx512>($($arg),*)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,f16c")]
        fn middle($($arg: $type),*) -> $out {
            $body::<$crate::simd::Avx2>($($arg),*)
        }
        let found: $crate::simd::Found = $found;
        match found.level() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor was found to have it, for there is no other way to such a value.
            $crate::simd::Level::Avx512 => unsafe { wide($($arg),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            $crate::simd::Level::Avx2 => unsafe { middle($($arg),*) },
            _ => $body::<$crate::simd::Portable>($($arg),*),
        }
    }};
}

pub(crate) use dispatch;

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use num::lanes::One;
    use num::math;

    /// Every operation on a row, as bits.
    #[inline(always)]
    fn all<L: QuadLanes>(a: &[f32; 16], b: &[f32; 16]) -> Vec<[u32; 16]> {
        let mut out = Vec::new();
        type Binary<V> = fn(V, V) -> V;
        let binary: [Binary<L::V>; 8] = [
            L::add,
            L::sub,
            L::mul,
            L::div,
            L::min,
            L::max,
            |a, b| math::truth::<L>(L::gt(a, b)),
            |a, b| {
                L::select(
                    L::ne(a, b),
                    L::select(L::ge(a, b), a, L::neg(b)),
                    math::truth::<L>(L::eq(a, b)),
                )
            },
        ];
        let unary: [fn(L::V) -> L::V; 16] = [
            L::sqrt,
            L::floor,
            L::trunc,
            L::abs,
            L::neg,
            L::round_half,
            math::exp2::<L>,
            math::log2::<L>,
            math::sin_turns::<L>,
            math::cos_turns::<L>,
            math::saturate::<L>,
            math::sign::<L>,
            L::left,
            L::right,
            L::upper,
            L::lower,
        ];
        let mut row = |f: &dyn Fn(L::V, L::V) -> L::V| {
            let mut result = [0.0; 16];
            for at in (0..16).step_by(L::COUNT) {
                L::store(&mut result[at..], f(L::load(&a[at..]), L::load(&b[at..])));
            }
            out.push(result.map(f32::to_bits));
        };
        binary.iter().for_each(|f| row(f));
        unary.iter().for_each(|f| row(&|a, _| f(a)));
        let words: [u32; 7] = std::array::from_fn(|at| a[at].to_bits() ^ at as u32);
        for channel in 0..4 {
            row(&|a, _| L::texels(&words, L::min(L::floor(L::abs(a)), L::splat(6.0)))[channel]);
        }
        out
    }

    #[test]
    fn every_form_gives_the_same_bits() {
        let mut random = Rng::with_seed(7);
        // Miri is a thousand times as slow.
        for _ in 0..if cfg!(miri) { 20 } else { 20_000 } {
            let mut value = || match random.u32(..8) {
                0 => f32::from_bits(random.u32(..)),
                1 => random
                    .choice([
                        0.0,
                        -0.0,
                        1.0,
                        f32::INFINITY,
                        f32::NEG_INFINITY,
                        f32::NAN,
                        65520.0,
                        6e-8,
                        1e-40,
                    ])
                    .unwrap(),
                _ => (random.f32() * 2.0 - 1.0) * random.choice([1.0, 100.0, 70_000.0, 1e-5]).unwrap(),
            };
            let pair: [[f32; 16]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| value()));
            let [a, b] = &pair;
            let portable = all::<Portable>(a, b);
            // NaN's bits are nobody's promise.
            let plain = |rows: &[[u32; 16]]| -> Vec<[u32; 16]> {
                let clean = |bits: u32| {
                    if f32::from_bits(bits).is_nan() {
                        0x7fc0_0000
                    } else {
                        bits
                    }
                };
                rows.iter().map(|row| row.map(clean)).collect()
            };
            for found in [Level::Avx2, Level::Avx512].map(Found::at_most) {
                let rows = dispatch!(all(a: &[f32; 16], b: &[f32; 16]) -> Vec<[u32; 16]>, found);
                assert_eq!(plain(&rows), plain(&portable), "{found:?} {a:?} {b:?}");
            }
            assert_eq!(math::exp2::<One>(a[0]).to_bits(), portable[14][0]);
        }
    }

    #[test]
    fn masks_are_bits() {
        for bits in [0u32, 1, 0x80, 0xa5, 0xff] {
            assert_eq!(Portable::bits(Portable::mask(bits)), bits);
        }
    }
}
