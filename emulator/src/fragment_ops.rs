//! What happens to a fragment behind its program, in the hardware's order: alpha test, stencil, depth, blending, conversion
//! (docs/spec/mali/state.md; docs/spec/mali/frame.md, section 3). Each rule is one function generic in [`Lanes`], run by one
//! lane, by many, and traced into machine code. [`gpu::tile`](crate::gpu::tile) applies them to the tile buffer.
//!
//! Bytes and depths are whole numbers below 2^24 here, which floats hold exactly.

use crate::blend::{Blending, unit};
use num::lanes::Lanes;
use utgard::state::{Compare, StencilOp};

/// Largest depth.
pub const MAX_DEPTH: u32 = 0x00ff_ffff;

/// Whether `a` compares so with `b`, neither of which is NaN.
#[inline(always)]
pub(crate) fn compare<L: Lanes>(how: Compare, a: L::V, b: L::V) -> L::M {
    match how {
        Compare::Never => L::ne(b, b),
        Compare::Less => L::gt(b, a),
        Compare::Equal => L::eq(a, b),
        Compare::LessEqual => L::ge(b, a),
        Compare::Greater => L::gt(a, b),
        Compare::NotEqual => L::ne(a, b),
        Compare::GreaterEqual => L::ge(a, b),
        Compare::Always => L::eq(b, b),
    }
}

/// A channel as it is stored: clamped to 0 and 1, NaN as 0, to the nearest; `one` is what 1.0 becomes.
#[inline(always)]
pub(crate) fn quantise<L: Lanes>(value: L::V, one: f32) -> L::V {
    L::floor(scaled::<L>(value, one))
}

/// The number whose whole part is [what is stored](quantise), for callers that truncate.
#[inline(always)]
pub(crate) fn scaled<L: Lanes>(value: L::V, one: f32) -> L::V {
    let value = L::min(L::max(value, L::splat(0.0)), L::splat(1.0));
    L::add(L::mul(value, L::splat(one)), L::splat(0.5))
}

/// Whether alpha passes its test. Both sides have eight bits: what piglit draws with alpha equal to the reference passes on
/// hardware, for values that are not the same as halves (docs/spec/mali/state.md).
#[inline(always)]
pub(crate) fn alpha_passes<L: Lanes>(how: Compare, reference: u8, alpha: L::V) -> L::M {
    compare::<L>(how, quantise::<L>(alpha, 255.0), L::splat(f32::from(reference)))
}

/// Samples that an alpha covers: a quarter each ([?]: which ones is not known).
pub(crate) fn alpha_coverage(alpha: f32) -> u8 {
    [0, 1, 9, 11, 15][(alpha.clamp(0.0, 1.0) * 4.0 + 0.5) as usize]
}

/// A depth from 0 to 1 in the buffer's steps; nothing is rounded.
#[inline(always)]
pub fn steps(depth: f32) -> f64 {
    f64::from(depth) * f64::from(MAX_DEPTH)
}

/// A depth as the buffer has it, within a range in steps; NaN is the lowest.
#[inline(always)]
pub(crate) fn quantise_depth([low, high]: [f64; 2], depth: f64) -> u32 {
    let depth = if depth > low { depth } else { low };
    let depth = if depth < high { depth } else { high };
    // To the nearest, halves up, without a call: a double of this size has no bits for a fraction, so its lowest bits are
    // the nearest whole number, the even one of two. A remainder of a half says that this was the lower one.
    const LARGE: f64 = (1u64 << 52) as f64;
    let large = depth + LARGE;
    (large.to_bits() as u32).wrapping_add(u32::from(depth - (large - LARGE) >= 0.5))
}

/// Depth and stencil that a colour loads back into the tile. Our own packing: a byte a channel, as the reload format gives it.
#[inline(always)]
pub(crate) fn reloaded<L: Lanes>(color: [L::V; 4]) -> [L::V; 2] {
    let [high, middle, low, stencil] = color;
    let (high, middle) = (quantise::<L>(high, 255.0), quantise::<L>(middle, 255.0));
    let upper = L::add(L::mul(high, L::splat(65536.0)), L::mul(middle, L::splat(256.0)));
    [L::add(upper, quantise::<L>(low, 255.0)), quantise::<L>(stencil, 255.0)]
}

/// For each set of four bits the numbers of four bits under it.
static MASKED: [[f32; 16]; 16] = {
    let mut table = [[0.0; 16]; 16];
    let mut at = 0;
    while at < 256 {
        table[at / 16][at % 16] = ((at / 16) & (at % 16)) as f32;
        at += 1;
    }
    table
};

/// The bits of a byte under a mask.
#[inline(always)]
fn masked<L: Lanes>(value: L::V, mask: u8) -> L::V {
    match mask {
        0 => L::splat(0.0),
        u8::MAX => value,
        _ => {
            let sixteen = L::splat(16.0);
            let high = L::floor(L::mul(value, L::splat(1.0 / 16.0)));
            let low = L::sub(value, L::mul(high, sixteen));
            let high = L::lookup(&MASKED[usize::from(mask >> 4)], high);
            L::add(L::mul(high, sixteen), L::lookup(&MASKED[usize::from(mask & 15)], low))
        }
    }
}

/// `new` under a mask, `old` elsewhere.
#[inline(always)]
fn merged<L: Lanes>(new: L::V, old: L::V, mask: u8) -> L::V {
    match mask {
        0 => old,
        u8::MAX => new,
        _ => L::add(masked::<L>(new, mask), masked::<L>(old, !mask)),
    }
}

/// How one face's pixels meet the stencil.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stencil {
    /// Comparison of the reference with the stencil.
    pub compare: Compare,
    /// What is done when the comparison fails, when depth fails, and when both pass.
    pub operations: [StencilOp; 3],
    /// Reference.
    pub reference: u8,
    /// Bits that are compared.
    pub mask: u8,
    /// Bits that are written.
    pub write_mask: u8,
    /// Incrementing and decrementing write bits beyond the mask (docs/spec/open-questions.md).
    pub counts_past_mask: bool,
}

impl Stencil {
    /// It lets everything pass and stays as it is.
    pub(crate) fn is_ignored(&self) -> bool {
        self.compare == Compare::Always && self.operations[1..] == [StencilOp::Keep; 2]
    }

    /// The write mask's bits from the lowest one to the highest there is.
    fn mask_and_above(&self) -> u8 {
        self.write_mask | self.write_mask.wrapping_neg()
    }

    /// Whether some operation counts, and there are bits beyond the mask to count to.
    pub(crate) fn can_count_past(&self) -> bool {
        let counts = |operation: &StencilOp| match operation {
            StencilOp::Increment | StencilOp::Decrement | StencilOp::IncrementWrap | StencilOp::DecrementWrap => true,
            StencilOp::Keep | StencilOp::Replace | StencilOp::Zero | StencilOp::Invert => false,
        };
        self.mask_and_above() != self.write_mask && self.operations.iter().any(counts)
    }

    /// The stencil after an outcome: 0 stencil failed, 1 depth failed, 2 passed; `replacement` is what a reload brings.
    #[inline(always)]
    fn updated<L: Lanes>(&self, outcome: usize, have: L::V, replacement: Option<L::V>) -> L::V {
        let [zero, one, most] = [L::splat(0.0), L::splat(1.0), L::splat(255.0)];
        let operation = self.operations[outcome];
        let new = match operation {
            StencilOp::Keep => have,
            StencilOp::Replace => replacement.unwrap_or(L::splat(f32::from(self.reference))),
            StencilOp::Zero => zero,
            StencilOp::Invert => L::sub(most, have),
            StencilOp::Increment => L::min(L::add(have, one), most),
            StencilOp::Decrement => L::max(L::sub(have, one), zero),
            StencilOp::IncrementWrap => L::select(L::eq(have, most), zero, L::add(have, one)),
            StencilOp::DecrementWrap => L::select(L::eq(have, zero), most, L::sub(have, one)),
        };
        let written = merged::<L>(new, have, self.write_mask);
        if !self.counts_past_mask {
            return written;
        }
        let past = merged::<L>(new, have, self.mask_and_above());
        match operation {
            StencilOp::Increment | StencilOp::Decrement => past,
            StencilOp::IncrementWrap => L::select(L::eq(have, most), written, past),
            StencilOp::DecrementWrap => L::select(L::eq(have, zero), written, past),
            StencilOp::Keep | StencilOp::Replace | StencilOp::Zero | StencilOp::Invert => written,
        }
    }
}

/// The tests of stencil and depth, for the side of primitives that is seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tests<'a> {
    /// The stencil, unless it does not matter.
    pub stencil: Option<&'a Stencil>,
    /// How depths are compared, and whether they are written, if they matter.
    pub depth: Option<(Compare, bool)>,
}

/// Depth and stencil of samples: what the buffer has, or what comes to it.
#[derive(Clone, Copy)]
pub(crate) struct DepthStencil<V> {
    pub depth: V,
    pub stencil: V,
}

/// Which of the samples that arrived failed where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome<M> {
    pub depth_failed: M,
    pub passed: M,
}

/// Where both masks hold.
#[inline(always)]
pub(crate) fn both<L: Lanes>(a: L::M, b: L::M) -> L::M {
    let [zero, one] = [L::splat(0.0), L::splat(1.0)];
    L::ne(L::select(a, L::select(b, one, zero), zero), zero)
}

/// Where the first mask holds and the second does not.
#[inline(always)]
fn without<L: Lanes>(a: L::M, b: L::M) -> L::M {
    let [zero, one] = [L::splat(0.0), L::splat(1.0)];
    L::ne(L::select(b, zero, L::select(a, one, zero)), zero)
}

impl Tests<'_> {
    /// Whether there is anything to test.
    pub(crate) fn is_empty(&self) -> bool {
        self.stencil.is_none() && self.depth.is_none()
    }

    /// Tests the samples that arrived, and updates what the buffer has.
    #[inline(always)]
    pub(crate) fn run<L: Lanes>(
        &self,
        arrived: L::M,
        depth: L::V,
        replacement: Option<L::V>,
        have: &mut DepthStencil<L::V>,
    ) -> Outcome<L::M> {
        let old = have.stencil;
        let fits = match self.stencil {
            Some(face) => {
                let reference = L::splat(f32::from(face.reference & face.mask));
                both::<L>(
                    arrived,
                    compare::<L>(face.compare, reference, masked::<L>(old, face.mask)),
                )
            }
            None => arrived,
        };
        let passed = match self.depth {
            Some((how, _)) => both::<L>(fits, compare::<L>(how, depth, have.depth)),
            None => fits,
        };
        if let Some((_, true)) = self.depth {
            have.depth = L::select(passed, depth, have.depth);
        }
        let depth_failed = without::<L>(fits, passed);
        if let Some(face) = self.stencil {
            let lanes = [without::<L>(arrived, fits), depth_failed, passed];
            let mut number = 0;
            while number < 3 {
                if face.operations[number] != StencilOp::Keep {
                    let new = face.updated::<L>(number, old, replacement);
                    have.stencil = L::select(lanes[number], new, have.stencil);
                }
                number += 1;
            }
        }
        Outcome { depth_failed, passed }
    }
}

/// The tests that kernels run behind a program that decides on them: alpha, stencil and depth, the same on both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateTests {
    /// How alpha is compared, and with what.
    pub alpha: Option<(Compare, u8)>,
    /// The stencil, unless it does not matter.
    pub stencil: Option<Stencil>,
    /// How depths are compared, and whether they are written, if they matter.
    pub depth: Option<(Compare, bool)>,
}

impl LateTests {
    /// The tests of stencil and depth.
    pub(crate) fn tests(&self) -> Tests<'_> {
        Tests {
            stencil: self.stencil.as_ref(),
            depth: self.depth,
        }
    }
}

/// The channels that a colour and those of the tile come to, whole numbers from 0 to `one`. Channels that are not written stay.
#[inline(always)]
pub(crate) fn blended<L: Lanes>(
    blending: &Blending,
    color: [L::V; 4],
    second: [L::V; 4],
    have: [L::V; 4],
    one: f32,
) -> [L::V; 4] {
    let [red, green, blue, alpha] = have;
    let tile = [
        unit::<L>(red, one),
        unit::<L>(green, one),
        unit::<L>(blue, one),
        unit::<L>(alpha, one),
    ];
    let mut channels = blending.blend::<L>(color, second, tile);
    let mut channel = 0;
    while channel < 4 {
        channels[channel] = match blending.writes(channel) {
            true => quantise::<L>(channels[channel], one),
            false => have[channel],
        };
        channel += 1;
    }
    channels
}

#[cfg(test)]
mod tests {
    use super::*;
    use num::lanes::One;

    #[test]
    fn alpha_is_a_byte_when_it_is_tested() {
        let halves = (0..0x3c00_u16).map(num::half::to_f32);
        let alphas: Vec<f32> = halves.chain([1.0, 1.5, f32::INFINITY, -0.0, -1.0, f32::NAN]).collect();
        for how in Compare::ALL {
            for reference in 0..=255 {
                for alpha in &alphas {
                    let byte = (alpha.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
                    let have = alpha_passes::<One>(how, reference, *alpha);
                    assert_eq!(have, how.holds(byte, reference), "{alpha} {how:?} {reference}");
                }
            }
        }
    }

    #[test]
    fn masks_take_bits() {
        for mask in 0..=u8::MAX {
            for value in 0..=u8::MAX {
                assert_eq!(masked::<One>(f32::from(value), mask), f32::from(value & mask));
                let other = value.wrapping_mul(37);
                let wanted = value & mask | other & !mask;
                assert_eq!(
                    merged::<One>(f32::from(value), f32::from(other), mask),
                    f32::from(wanted)
                );
            }
        }
    }

    #[test]
    fn counting_goes_past_the_mask_where_it_is_supposed_to() {
        for (operation, mask, before, within, past) in [
            (StencilOp::Increment, 0x02, 3, 1, 5),
            (StencilOp::Increment, 0x04, 7, 3, 11),
            (StencilOp::Decrement, 0x02, 4, 6, 2),
            (StencilOp::Increment, 0x02, 255, 255, 255),
            (StencilOp::IncrementWrap, 0x02, 3, 1, 5),
            (StencilOp::IncrementWrap, 0x02, 255, 0xfd, 0xfd),
            (StencilOp::DecrementWrap, 0x02, 0, 2, 2),
            (StencilOp::Invert, 0x02, 3, 1, 1),
            (StencilOp::Increment, 0x00, 3, 3, 3),
            (StencilOp::Increment, 0xfe, 3, 5, 5),
        ] {
            let have = [false, true].map(|counts_past_mask| {
                let face = Stencil {
                    operations: [operation; 3],
                    write_mask: mask,
                    counts_past_mask,
                    ..Stencil::default()
                };
                face.updated::<One>(2, before as f32, None)
            });
            assert_eq!(
                have,
                [within, past].map(|value| value as f32),
                "{operation:?} {before} {mask:#x}"
            );
        }
    }

    /// Rounding without a call is rounding.
    #[test]
    fn depths_are_rounded_to_the_nearest() {
        let mut random = fastrand::Rng::with_seed(5);
        for round in 0..100_000 {
            let whole = f64::from(random.u32(..1 << 24));
            let depth = match round % 4 {
                0 => whole + 0.5,
                1 => (whole + 0.5).next_down(),
                2 => (whole - 0.5).max(0.0),
                _ => whole + random.f64(),
            };
            assert_eq!(quantise_depth([0.0, 1e9], depth), depth.round() as u32, "{depth}");
        }
        assert_eq!(quantise_depth([0.0, 1e9], 0.5f64.next_down()), 0);
        assert_eq!(quantise_depth([3.0, 7.0], f64::NAN), 3);
    }
}
