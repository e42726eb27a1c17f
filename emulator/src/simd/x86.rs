//! 256 and 512 bits of x86.

use super::FetchFor;
use num::lanes::{Lanes, QuadLanes};
use std::arch::x86_64::*;

/// Brings bytes into a cache.
#[inline]
pub(super) fn fetch(bytes: &[u8], what_for: FetchFor) {
    match what_for {
        FetchFor::Write => fetch_lines::<_MM_HINT_ET0>(bytes),
        FetchFor::LaterWrite => fetch_lines::<_MM_HINT_T1>(bytes),
        FetchFor::Read => fetch_lines::<_MM_HINT_T0>(bytes),
    }
}

#[inline]
fn fetch_lines<const HINT: i32>(bytes: &[u8]) {
    for line in bytes.chunks(64) {
        // SAFETY: it changes nothing that a program can see, wherever it points.
        unsafe { _mm_prefetch::<HINT>(line.as_ptr().cast()) };
    }
}

/// Eight lanes of 256 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2;

/// Sixteen lanes of 512 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512;

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
    fn lookup(table: &[f32; 16], at: __m256) -> __m256 {
        let (low, high) = (Self::load(&table[..8]), Self::load(&table[8..]));
        // SAFETY: the processor has the instructions (see the module).
        unsafe {
            let at = _mm256_cvttps_epi32(at);
            // Numbers from 8 on have a bit that becomes the sign.
            let is_high = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(at));
            let (low, high) = (_mm256_permutevar8x32_ps(low, at), _mm256_permutevar8x32_ps(high, at));
            _mm256_blendv_ps(low, high, is_high)
        }
    }
    #[inline(always)]
    fn texels(words: &[u32], start: __m256, at: __m256) -> [__m256; 4] {
        assert!(!words.is_empty());
        let last = words.len().min(1 << 30) as i32 - 1;
        // SAFETY: the processor has the instructions (see the module); numbers are made to be at most the last word's,
        // as numbers without a sign, so what is read is within `words`.
        unsafe {
            let at = _mm256_add_epi32(_mm256_cvttps_epi32(start), _mm256_cvttps_epi32(at));
            let at = _mm256_min_epu32(at, _mm256_set1_epi32(last));
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
            // Without an exponent it is zero or a denormal, and takes the sign of nothing.
            let exponent = _mm_and_si128(half, _mm_set1_epi16(0x7c00));
            _mm256_cvtph_ps(_mm_sign_epi16(half, exponent))
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
    fn lookup(table: &[f32; 16], at: __m512) -> __m512 {
        let table = Self::load(table);
        // SAFETY: the processor has the instructions (see the module).
        unsafe { _mm512_permutexvar_ps(_mm512_cvttps_epi32(at), table) }
    }
    #[inline(always)]
    fn texels(words: &[u32], start: __m512, at: __m512) -> [__m512; 4] {
        assert!(!words.is_empty());
        let last = words.len().min(1 << 30) as i32 - 1;
        // SAFETY: as for 256 bits.
        unsafe {
            let at = _mm512_add_epi32(_mm512_cvttps_epi32(start), _mm512_cvttps_epi32(at));
            let at = _mm512_min_epu32(at, _mm512_set1_epi32(last));
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
