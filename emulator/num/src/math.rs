//! Operations that a Mali-400 may implement in several ways: minimum and maximum, booleans, and the transcendental
//! units (docs/spec/mali/numbers.md, section 6: the exact results of silicon are unknown). All engines use these, for
//! one lane or many, so that they agree bit for bit.

use super::lanes::Lanes;
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI, SQRT_2};

/// 1.0 or 0.0.
#[inline(always)]
pub fn truth<L: Lanes>(mask: L::M) -> L::V {
    L::select(mask, L::splat(1.0), L::splat(0.0))
}

/// Clamps to 0 and 1; NaN becomes 0 (\[?\]).
#[inline(always)]
pub fn saturate<L: Lanes>(value: L::V) -> L::V {
    L::min(L::max(value, L::splat(0.0)), L::splat(1.0))
}

/// -1.0, 0.0 or 1.0; NaN gives 0.0 (\[?\]).
#[inline(always)]
pub fn sign<L: Lanes>(value: L::V) -> L::V {
    let zero = L::splat(0.0);
    L::sub(truth::<L>(L::gt(value, zero)), truth::<L>(L::gt(zero, value)))
}

/// The fractional part, from 0 to 1.
#[inline(always)]
pub fn fract<L: Lanes>(value: L::V) -> L::V {
    L::sub(value, L::floor(value))
}

/// Rounds up.
#[inline(always)]
pub fn ceil<L: Lanes>(value: L::V) -> L::V {
    L::neg(L::floor(L::neg(value)))
}

/// 1 / x; IEEE for 0 and infinity (\[?\]).
#[inline(always)]
pub fn rcp<L: Lanes>(value: L::V) -> L::V {
    L::div(L::splat(1.0), value)
}

/// 1 / sqrt(x); IEEE for special values (\[?\]).
#[inline(always)]
pub fn rsqrt<L: Lanes>(value: L::V) -> L::V {
    L::div(L::splat(1.0), L::sqrt(value))
}

/// A polynomial, highest coefficient first.
#[inline(always)]
fn polynomial<L: Lanes, const N: usize>(x: L::V, coefficients: [f32; N]) -> L::V {
    let mut sum = L::splat(coefficients[0]);
    let mut at = 1;
    while at < N {
        sum = L::add(L::mul(sum, x), L::splat(coefficients[at]));
        at += 1;
    }
    sum
}

/// 2 to the power of x, within 3 units in the last place; overflow gives infinity, underflow zero.
#[inline(always)]
pub fn exp2<L: Lanes>(x: L::V) -> L::V {
    let inside = L::min(L::max(x, L::splat(-152.0)), L::splat(129.0));
    let whole = L::floor(L::add(inside, L::splat(0.5)));
    let rest = L::sub(inside, whole);
    // The Taylor series of 2^r: ln(2)^n / n!, exact to 2e-8 for r up to a half.
    let series = [
        1.525_273_4e-5,
        1.540_353_1e-4,
        1.333_355_8e-3,
        9.618_129e-3,
        5.550_411e-2,
        2.402_265e-1,
        6.931_472e-1,
        1.0,
    ];
    let mantissa = polynomial::<L, 8>(rest, series);
    // In two steps, because 2^129 and 2^-149 are not normal numbers.
    let first = L::floor(L::mul(whole, L::splat(0.5)));
    let result = L::mul(L::mul(mantissa, L::power(first)), L::power(L::sub(whole, first)));
    L::select(L::ne(x, x), x, result)
}

/// The logarithm to base 2, within 3e-7 relative and, near 1, absolute error; -infinity for 0, NaN for negatives.
#[inline(always)]
pub fn log2<L: Lanes>(x: L::V) -> L::V {
    let zero = L::splat(0.0);
    let infinity = L::splat(f32::INFINITY);
    // Denormals are scaled up.
    let tiny = L::gt(L::splat(f32::MIN_POSITIVE), x);
    let scaled = L::select(tiny, L::mul(x, L::splat(8_388_608.0)), x);
    let (mut exponent, mut mantissa) = L::split(scaled);
    exponent = L::sub(exponent, L::select(tiny, L::splat(23.0), zero));
    let high = L::gt(mantissa, L::splat(std::f32::consts::SQRT_2));
    mantissa = L::select(high, L::mul(mantissa, L::splat(0.5)), mantissa);
    exponent = L::add(exponent, truth::<L>(high));
    // log2(m) = 2 / ln 2 * atanh((m - 1) / (m + 1))
    let one = L::splat(1.0);
    let s = L::div(L::sub(mantissa, one), L::add(mantissa, one));
    let squared = L::mul(s, s);
    let series = [0.320_598_9, 0.412_198_58, 0.577_078_04, 0.961_796_7, 2.885_39];
    let result = L::add(exponent, L::mul(s, polynomial::<L, 5>(squared, series)));
    let result = L::select(L::eq(x, zero), L::neg(infinity), result);
    let result = L::select(L::eq(x, infinity), infinity, result);
    L::select(L::ge(x, zero), result, L::splat(f32::NAN))
}

/// The sine of x turns (2 pi x), within 2e-7; NaN for infinity.
#[inline(always)]
pub fn sin_turns<L: Lanes>(x: L::V) -> L::V {
    let turn = L::sub(x, L::floor(L::add(x, L::splat(0.5))));
    // Beyond a quarter turn the sine decreases again.
    let half = L::select(L::gt(turn, L::splat(0.0)), L::splat(0.5), L::splat(-0.5));
    let far = L::gt(L::abs(turn), L::splat(0.25));
    let r = L::select(far, L::sub(half, turn), turn);
    let series = [
        -15.094_643,
        42.058_694,
        -76.705_86,
        81.605_25,
        -41.341_7,
        std::f32::consts::TAU,
    ];
    L::mul(r, polynomial::<L, 6>(L::mul(r, r), series))
}

/// The cosine of x turns (2 pi x).
#[inline(always)]
pub fn cos_turns<L: Lanes>(x: L::V) -> L::V {
    sin_turns::<L>(L::add(x, L::splat(0.25)))
}

/// The angle whose tangent is x, within 3e-7 relative error; plus or minus a right angle for infinities.
#[inline(always)]
pub fn atan<L: Lanes>(x: L::V) -> L::V {
    atan2::<L>(x, L::splat(1.0))
}

/// The angle of the point (x, y), from -pi to pi, within 3e-7 relative error; zeros and infinities as in IEEE 754.
#[inline(always)]
pub fn atan2<L: Lanes>(y: L::V, x: L::V) -> L::V {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let (ax, ay) = (L::abs(x), L::abs(y));
    let over = L::gt(ay, ax);
    let (short, long) = (L::select(over, ax, ay), L::select(over, ay, ax));
    // Two infinities have ratio 1, and two zeros angle 0.
    let same = L::select(L::eq(long, zero), zero, one);
    let angle = first_eighth::<L>(L::select(L::eq(short, long), same, L::div(short, long)));
    let angle = L::select(over, L::sub(L::splat(FRAC_PI_2), angle), angle);
    let angle = L::select(is_minus::<L>(x), L::sub(L::splat(PI), angle), angle);
    L::select(is_minus::<L>(y), L::neg(angle), angle)
}

/// Whether the sign bit is set, also of zero; false for NaN.
#[inline(always)]
fn is_minus<L: Lanes>(x: L::V) -> L::M {
    let zero = L::splat(0.0);
    L::gt(zero, L::select(L::eq(x, zero), rcp::<L>(x), x))
}

/// The angle whose tangent is t, from 0 to 1.
#[inline(always)]
fn first_eighth<L: Lanes>(t: L::V) -> L::V {
    // Beyond the tangent of a sixteenth of a turn, the distance to an eighth is used.
    let far = L::gt(t, L::splat(SQRT_2 - 1.0));
    let one = L::splat(1.0);
    let u = L::select(far, L::div(L::sub(t, one), L::add(t, one)), t);
    let squared = L::mul(u, u);
    // Through the Chebyshev nodes of atan(u) / u by u^2.
    let series = [-0.060_263_053, 0.105_698_29, -0.142_395_33, 0.199_981_83, -0.333_333_07];
    let angle = L::add(u, L::mul(L::mul(u, squared), polynomial::<L, 5>(squared, series)));
    L::select(far, L::add(L::splat(FRAC_PI_4), angle), angle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::One;
    use fastrand::Rng;

    /// Numbers tried; fewer under Miri, which is a thousand times slower.
    const ROUNDS: usize = if cfg!(miri) { 200 } else { 200_000 };

    #[test]
    fn exp2_is_close() {
        let mut random = Rng::with_seed(1);
        for _ in 0..ROUNDS {
            let x = (random.f32() * 2.0 - 1.0) * 126.0;
            let (have, want) = (f64::from(exp2::<One>(x)), f64::from(x).exp2());
            assert!((have / want - 1.0).abs() < 4e-7, "{x}: {have} {want}");
        }
        assert_eq!(
            [
                exp2::<One>(0.0),
                exp2::<One>(-3.0),
                exp2::<One>(200.0),
                exp2::<One>(-200.0)
            ],
            [1.0, 0.125, f32::INFINITY, 0.0]
        );
        assert_eq!(
            [
                exp2::<One>(f32::INFINITY),
                exp2::<One>(f32::NEG_INFINITY),
                exp2::<One>(-149.0)
            ],
            [f32::INFINITY, 0.0, 1e-45]
        );
        assert!(exp2::<One>(f32::NAN).is_nan());
    }

    #[test]
    fn log2_is_close() {
        let mut random = Rng::with_seed(2);
        for _ in 0..ROUNDS {
            let x = f32::from_bits(random.u32(..) & 0x7fff_ffff);
            if !x.is_finite() || x == 0.0 {
                continue;
            }
            let (have, want) = (f64::from(log2::<One>(x)), f64::from(x).log2());
            assert!((have - want).abs() < 3e-7 * want.abs().max(1.0), "{x}: {have} {want}");
        }
        assert_eq!(
            [log2::<One>(1.0), log2::<One>(8.0), log2::<One>(0.0), log2::<One>(-0.0)],
            [0.0, 3.0, f32::NEG_INFINITY, f32::NEG_INFINITY]
        );
        assert_eq!(log2::<One>(f32::INFINITY), f32::INFINITY);
        assert!(log2::<One>(-1.0).is_nan() && log2::<One>(f32::NAN).is_nan());
    }

    #[test]
    fn sine_and_cosine_are_close() {
        let mut random = Rng::with_seed(3);
        for _ in 0..ROUNDS {
            let x = (random.f32() * 2.0 - 1.0) * 4.0;
            let angle = f64::from(x) * std::f64::consts::TAU;
            assert!((f64::from(sin_turns::<One>(x)) - angle.sin()).abs() < 4e-7, "{x}");
            assert!((f64::from(cos_turns::<One>(x)) - angle.cos()).abs() < 2e-6, "{x}");
        }
        assert!(sin_turns::<One>(f32::INFINITY).is_nan());
    }

    #[test]
    fn angles_are_close() {
        let mut random = Rng::with_seed(4);
        for round in 0..ROUNDS {
            let mut number = || match round % 2 {
                0 => f32::from_bits(random.u32(..)),
                _ => (random.f32() * 2.0 - 1.0) * 4.0,
            };
            let (y, x) = (number(), number());
            let near = |have: f32, want: f64| (f64::from(have) - want).abs() <= 3e-7 * want.abs() + 1e-44;
            if y.is_finite() && x.is_finite() {
                let have = [atan::<One>(x), atan2::<One>(y, x)];
                let want = [f64::from(x).atan(), f64::from(y).atan2(f64::from(x))];
                assert!(
                    near(have[0], want[0]) && near(have[1], want[1]),
                    "{y} {x}: {have:?} {want:?}"
                );
            }
        }
        let special = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            2.5,
            -0.25,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
        ];
        for y in special {
            let same = |have: f32, want: f32| {
                have.is_nan() && want.is_nan()
                    || (have - want).abs() <= 3e-7 && have.is_sign_negative() == want.is_sign_negative()
            };
            assert!(same(atan::<One>(y), y.atan()), "{y}");
            for x in special {
                // Miri's own function gives a number for NaN and 0.
                let want = match y.is_nan() || x.is_nan() {
                    true => f32::NAN,
                    false => y.atan2(x),
                };
                assert!(same(atan2::<One>(y, x), want), "{y} {x}: {}", atan2::<One>(y, x));
            }
        }
    }

    #[test]
    fn special_values() {
        assert_eq!(
            [saturate::<One>(f32::NAN), saturate::<One>(2.0), saturate::<One>(-1.0)],
            [0.0, 1.0, 0.0]
        );
        assert_eq!(
            [sign::<One>(-3.0), sign::<One>(0.0), sign::<One>(f32::NAN)],
            [-1.0, 0.0, 0.0]
        );
        assert_eq!(
            [rcp::<One>(0.0), rsqrt::<One>(0.0), ceil::<One>(1.2)],
            [f32::INFINITY, f32::INFINITY, 2.0]
        );
        assert_eq!(fract::<One>(-0.25), 0.75);
    }

    /// Detects platform differences: signalling NaN, denormals, fused products.
    #[test]
    fn numbers_are_the_same_on_every_machine() {
        let functions: [fn(f32) -> f32; 14] = [
            exp2::<One>,
            log2::<One>,
            sin_turns::<One>,
            cos_turns::<One>,
            saturate::<One>,
            sign::<One>,
            fract::<One>,
            ceil::<One>,
            rcp::<One>,
            rsqrt::<One>,
            One::round_half,
            |x| One::max(One::min(x, 3.0), -3.0),
            atan::<One>,
            |x| atan2::<One>(x, 0.75 - x),
        ];
        let mut random = Rng::with_seed(11);
        let mut sums = [0u32; 14];
        for at in 0..if cfg!(miri) { 100 } else { 100_000 } {
            // Every second number has a magnitude typical of programs.
            let bits = random.u32(..);
            let x = match at % 2 {
                0 => f32::from_bits(bits),
                _ => f32::from_bits(bits & 0x83ff_ffff | 0x3c00_0000),
            };
            for (sum, function) in sums.iter_mut().zip(functions) {
                let y = function(std::hint::black_box(x));
                // NaN payloads are ignored.
                let bits = if y.is_nan() { f32::NAN } else { y }.to_bits();
                *sum = sum.rotate_left(5).wrapping_mul(0x9e37_79b1) ^ bits;
            }
        }
        if !cfg!(miri) {
            let sums = sums.map(|sum| format!("{sum:08x}"));
            assert_eq!(
                sums.join(" "),
                "85f24ada 0ae1003e 9bea20b2 68b101d0 a2e1a643 2379d67d 0a26c6bb b291d9f7 3ef8df67 f2f60362 af8b1d03 c6287061 d3b8e0e9 75c6879b"
            );
        }
    }
}
