//! 128 bits of an ARM processor.

use num::lanes::{Lanes, QuadLanes};
use std::arch::aarch64::*;
use std::arch::asm;

/// Four lanes of 128 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon;

/// The bit that a lane has in a mask.
const EACH: [u32; 4] = [1, 2, 4, 8];

/// The nearest halves; no intrinsic of stable Rust has them.
#[inline(always)]
fn to_halves(a: float32x4_t) -> uint16x4_t {
    let halves;
    // SAFETY: every processor of 64 bits has the instruction; it touches these two registers only.
    unsafe {
        asm!("fcvtn {0:v}.4h, {1:v}.4s", out(vreg) halves, in(vreg) a,
            options(pure, nomem, nostack, preserves_flags));
    }
    halves
}

/// The values of halves.
#[inline(always)]
fn from_halves(halves: uint16x4_t) -> float32x4_t {
    let a;
    // SAFETY: as in `to_halves`.
    unsafe {
        asm!("fcvtl {0:v}.4s, {1:v}.4h", out(vreg) a, in(vreg) halves,
            options(pure, nomem, nostack, preserves_flags));
    }
    a
}

impl Lanes for Neon {
    const COUNT: usize = 4;
    type V = float32x4_t;
    type M = uint32x4_t;

    #[inline(always)]
    fn load(row: &[f32]) -> float32x4_t {
        let row: &[f32; 4] = row[..4].try_into().expect("four lanes");
        // SAFETY: every processor of 64 bits has the instruction; four floats are there, unaligned is fine.
        unsafe { vld1q_f32(row.as_ptr()) }
    }
    #[inline(always)]
    fn store(row: &mut [f32], value: float32x4_t) {
        let row: &mut [f32; 4] = (&mut row[..4]).try_into().expect("four lanes");
        // SAFETY: as in `load`.
        unsafe { vst1q_f32(row.as_mut_ptr(), value) }
    }
    #[inline(always)]
    fn lookup(table: &[f32; 16], at: float32x4_t) -> float32x4_t {
        let mut numbers = [0.0; 4];
        Self::store(&mut numbers, at);
        Self::load(&numbers.map(|at| table[at as usize & 15]))
    }
    #[inline(always)]
    fn texels(words: &[u32], start: float32x4_t, at: float32x4_t) -> [float32x4_t; 4] {
        assert!(!words.is_empty());
        let last = words.len().min(1 << 30) as u32 - 1;
        let mut texels = [0; 4];
        // SAFETY: every processor of 64 bits has the instructions; four words are there to be written.
        unsafe {
            let at = vaddq_u32(vcvtq_u32_f32(start), vcvtq_u32_f32(at));
            vst1q_u32(texels.as_mut_ptr(), vminq_u32(at, vdupq_n_u32(last)));
        }
        // SAFETY: no number is above the last word's.
        let texels = texels.map(|at| unsafe { *words.get_unchecked(at as usize) });
        // SAFETY: as above; four words are there to be read.
        unsafe {
            let texel = vld1q_u32(texels.as_ptr());
            let byte = vdupq_n_u32(0xff);
            [
                vcvtq_f32_u32(vandq_u32(texel, byte)),
                vcvtq_f32_u32(vandq_u32(vshrq_n_u32::<8>(texel), byte)),
                vcvtq_f32_u32(vandq_u32(vshrq_n_u32::<16>(texel), byte)),
                vcvtq_f32_u32(vshrq_n_u32::<24>(texel)),
            ]
        }
    }
    forward! {
        splat(value: f32) -> float32x4_t = vdupq_n_f32(value);
        add(a: float32x4_t, b: float32x4_t) -> float32x4_t = vaddq_f32(a, b);
        sub(a: float32x4_t, b: float32x4_t) -> float32x4_t = vsubq_f32(a, b);
        mul(a: float32x4_t, b: float32x4_t) -> float32x4_t = vmulq_f32(a, b);
        div(a: float32x4_t, b: float32x4_t) -> float32x4_t = vdivq_f32(a, b);
        sqrt(a: float32x4_t) -> float32x4_t = vsqrtq_f32(a);
        floor(a: float32x4_t) -> float32x4_t = vrndmq_f32(a);
        trunc(a: float32x4_t) -> float32x4_t = vrndq_f32(a);
        abs(a: float32x4_t) -> float32x4_t = vabsq_f32(a);
        neg(a: float32x4_t) -> float32x4_t = vnegq_f32(a);
        // Not `vminq` and `vmaxq`: they give NaN where either is NaN.
        min(a: float32x4_t, b: float32x4_t) -> float32x4_t = vbslq_f32(vcltq_f32(a, b), a, b);
        max(a: float32x4_t, b: float32x4_t) -> float32x4_t = vbslq_f32(vcgtq_f32(a, b), a, b);
        gt(a: float32x4_t, b: float32x4_t) -> uint32x4_t = vcgtq_f32(a, b);
        ge(a: float32x4_t, b: float32x4_t) -> uint32x4_t = vcgeq_f32(a, b);
        eq(a: float32x4_t, b: float32x4_t) -> uint32x4_t = vceqq_f32(a, b);
        ne(a: float32x4_t, b: float32x4_t) -> uint32x4_t = vmvnq_u32(vceqq_f32(a, b));
        select(mask: uint32x4_t, a: float32x4_t, b: float32x4_t) -> float32x4_t = vbslq_f32(mask, a, b);
        mask(bits: u32) -> uint32x4_t = vtstq_u32(vdupq_n_u32(bits), vld1q_u32(EACH.as_ptr()));
        bits(mask: uint32x4_t) -> u32 = vaddvq_u32(vandq_u32(mask, vld1q_u32(EACH.as_ptr())));
        round_half(a: float32x4_t) -> float32x4_t = {
            let halves = to_halves(a);
            // Without an exponent it is zero or a denormal.
            from_halves(vand_u16(halves, vtst_u16(halves, vdup_n_u16(0x7c00))))
        };
        power(exponent: float32x4_t) -> float32x4_t = {
            let biased = vaddq_s32(vcvtq_s32_f32(exponent), vdupq_n_s32(127));
            vreinterpretq_f32_s32(vshlq_n_s32::<23>(biased))
        };
        split(a: float32x4_t) -> (float32x4_t, float32x4_t) = {
            let bits = vreinterpretq_u32_f32(a);
            let exponent = vcvtq_f32_u32(vshrq_n_u32::<23>(bits));
            let mantissa = vandq_u32(bits, vdupq_n_u32(0x007f_ffff));
            let mantissa = vorrq_u32(mantissa, vdupq_n_u32(0x3f80_0000));
            (vsubq_f32(exponent, vdupq_n_f32(127.0)), vreinterpretq_f32_u32(mantissa))
        };
    }
}

impl QuadLanes for Neon {
    forward! {
        left(a: float32x4_t) -> float32x4_t = vtrn1q_f32(a, a);
        right(a: float32x4_t) -> float32x4_t = vtrn2q_f32(a, a);
        upper(a: float32x4_t) -> float32x4_t = vcombine_f32(vget_low_f32(a), vget_low_f32(a));
        lower(a: float32x4_t) -> float32x4_t = vcombine_f32(vget_high_f32(a), vget_high_f32(a));
    }
}
