//! fp16, the format of the PP's registers, constants, uniforms and temporaries (docs/spec/mali/pp.md, section 16).

/// Rounds to the nearest half, ties to even. Overflow gives infinity; NaN keeps the top of its payload, as x86's
/// conversion does, so that engines with hardware conversion agree. The hardware's rounding is unknown (\[?\] in
/// docs/spec/mali/numbers.md, section 1).
#[inline]
pub fn from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return sign | 0x7e00 | (magnitude >> 13 & 0x3ff) as u16;
    }
    // 65520 and up round to infinity.
    if magnitude >= 0x477f_f000 {
        return sign | 0x7c00;
    }
    if magnitude < 0x3880_0000 {
        // Below the smallest normal half: adding a number with the same last place rounds correctly.
        let shifted = f32::from_bits(magnitude) + 0.5;
        return sign | (shifted.to_bits() - 0.5f32.to_bits()) as u16;
    }
    let odd = magnitude >> 13 & 1;
    sign | ((magnitude - 0x3800_0000 + 0xfff + odd) >> 13) as u16
}

/// The smallest denormal half; not by `powi`, whose last bit depends on the platform.
const LAST_PLACE: f32 = 1.0 / (1 << 24) as f32;

/// The exact value of a half; a signalling NaN is quietened, as by x86's conversion.
#[inline]
pub fn to_f32(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let (exponent, mantissa) = (u32::from(half >> 10 & 0x1f), u32::from(half & 0x3ff));
    match (exponent, mantissa) {
        (0, _) => f32::from_bits(sign | (mantissa as f32 * LAST_PLACE).to_bits()),
        (0x1f, 0) => f32::from_bits(sign | 0x7f80_0000),
        (0x1f, _) => f32::from_bits(sign | 0x7fc0_0000 | mantissa << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | mantissa << 13),
    }
}

/// The smallest magnitude that a register stores: the smallest normal half.
pub const SMALLEST: f32 = 6.103_515_6e-5;

/// A value as a register stores it: the nearest half, with denormals flushed to zero.
///
/// This is inferred from Mesa's runs of piglit on a Mali-450 (\[I\]), where programs pass tests of built-in functions
/// that compare squared errors with squared tolerances, which depends on denormals. Of 177 such programs
/// (`tests/piglit.sh --precision`), 163 have the hardware's verdict, and none fails that passes on hardware; with
/// denormals these figures are 136 and 36. Truncation instead of rounding would raise the first to 172, but make four
/// programs fail that pass on hardware. What silicon does is open.
#[inline]
pub fn round(value: f32) -> f32 {
    let half = to_f32(from_f32(value));
    // In this order, NaN is kept.
    if half.abs() < SMALLEST { 0.0 } else { half }
}

/// A half as text that parses to the same half: six decimals, more if needed, or the bits if it is not finite.
pub fn to_text(half: u16) -> String {
    let value = to_f32(half);
    if !value.is_finite() {
        return format!("{half:#06x}");
    }
    let short = format!("{value:.6}");
    if from_text(&short) == Some(half) {
        short
    } else {
        format!("{value:e}")
    }
}

/// Parses a half: a decimal number, rounded to nearest, or `0x` and bits.
pub fn from_text(text: &str) -> Option<u16> {
    match text.strip_prefix("0x") {
        Some(bits) => u16::from_str_radix(bits, 16).ok(),
        None if text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) =>
        {
            text.parse().ok().map(from_f32)
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every number; a sample of each exponent under Miri, which is a thousand times slower.
    const STEP: usize = if cfg!(miri) { 101 } else { 1 };

    #[test]
    fn every_half_round_trips() {
        for half in (0..=u16::MAX).step_by(STEP) {
            let value = to_f32(half);
            let quiet = if value.is_nan() { half | 0x200 } else { half };
            assert_eq!(from_f32(value), quiet, "{half:#06x}");
            assert_eq!(from_text(&to_text(half)), Some(half), "{half:#06x}: {}", to_text(half));
        }
    }

    #[test]
    fn rounds_to_the_nearest_even() {
        // Between neighbouring halves: the midpoint rounds to even, anything else to the nearer one.
        for low in (0..0x7bffu16).step_by(STEP) {
            let (a, b) = (f64::from(to_f32(low)), f64::from(to_f32(low + 1)));
            let middle = ((a + b) / 2.0) as f32;
            let even = if low & 1 == 0 { low } else { low + 1 };
            assert_eq!(from_f32(middle), even, "{low:#06x}");
            assert_eq!(from_f32(f32::from_bits(middle.to_bits() - 1)), low, "{low:#06x}");
            assert_eq!(from_f32(f32::from_bits(middle.to_bits() + 1)), low + 1, "{low:#06x}");
            assert_eq!(from_f32(-middle), even | 0x8000);
        }
        assert_eq!(
            [from_f32(65519.996), from_f32(65520.0), from_f32(-1e30)],
            [0x7bff, 0x7c00, 0xfc00]
        );
    }

    #[test]
    fn registers_have_no_denormals() {
        for half in (0..=u16::MAX).step_by(STEP) {
            let (value, round) = (to_f32(half), round(to_f32(half)));
            match half >> 10 & 0x1f {
                0 => assert_eq!(round.to_bits(), 0, "{half:#06x}"),
                _ => assert!(round == value || value.is_nan() && round.is_nan(), "{half:#06x}"),
            }
        }
        assert_eq!(round(SMALLEST * 0.9999), SMALLEST, "rounded first");
    }

    #[test]
    fn texts() {
        assert_eq!(to_text(0x1490), "0.001114");
        assert_eq!(to_text(from_f32(50.0)), "50.000000");
        assert_eq!(
            [from_text("inf"), from_text("nan"), from_text(""), from_text("x")],
            [None; 4]
        );
    }
}
