//! The arithmetic of both processors where switches suppose another than is assumed (docs/spec/open-questions.md).

use crate::silicon::{Silicon, Switch};
use num::half;
use num::lanes::One;
use num::math;

/// The arithmetic of hardware.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    zero_wins: bool,
    no_infinity: bool,
    numbers_win: bool,
    cut_reciprocals: bool,
}

/// From here on halves are infinite or NaN.
const FIRST_INFINITE: f32 = 65536.0;

/// The largest half where none is infinite.
const LARGEST: f32 = 131_008.0;

impl Numbers {
    pub(super) fn new(silicon: Silicon) -> Self {
        Self {
            zero_wins: silicon.has(Switch::ZeroWins),
            no_infinity: silicon.has(Switch::HalvesHaveNoInfinity),
            numbers_win: silicon.has(Switch::NumbersWin),
            cut_reciprocals: silicon.has(Switch::ReciprocalsTowardsZero),
        }
    }

    pub(super) fn product(self, a: f32, b: f32) -> f32 {
        let zero = self.zero_wins && (a == 0.0 || b == 0.0);
        if zero { 0.0 } else { a * b }
    }

    pub(super) fn minimum(self, a: f32, b: f32) -> f32 {
        if a < b || self.only_number(a, b) { a } else { b }
    }

    pub(super) fn maximum(self, a: f32, b: f32) -> f32 {
        if a > b || self.only_number(a, b) { a } else { b }
    }

    /// The first of two wins for being a number.
    fn only_number(self, a: f32, b: f32) -> bool {
        self.numbers_win && !a.is_nan() && b.is_nan()
    }

    /// A value as a register of a fragment holds it.
    pub(super) fn half(self, value: f32) -> f32 {
        if self.no_infinity && (value.is_nan() || value.abs() >= FIRST_INFINITE) {
            // Steps of 64; NaN has the highest exponent, too.
            let magnitude = if value.is_nan() {
                LARGEST
            } else {
                value.abs().min(LARGEST)
            };
            return ((magnitude / 64.0).round_ties_even() * 64.0).copysign(value);
        }
        match half::round(value) {
            // Nearer to the smallest of those than to the largest below.
            infinite if self.no_infinity && infinite.is_infinite() => FIRST_INFINITE.copysign(value),
            value => value,
        }
    }

    /// A half of memory or of the program, as others made a float of it.
    pub(super) fn loaded(self, value: f32) -> f32 {
        if !self.no_infinity || value.is_finite() {
            return value;
        }
        let mantissa = value.to_bits() >> 13 & 0x3ff;
        (FIRST_INFINITE + 64.0 * mantissa as f32).copysign(value)
    }

    /// The reciprocal in a fragment's program.
    pub(super) fn reciprocal(self, value: f32) -> f32 {
        let exact = math::rcp::<One>(value);
        let nearest = half::round(exact);
        if !self.cut_reciprocals || nearest.abs() <= exact.abs() || !nearest.is_finite() {
            return exact;
        }
        let below = half::from_f32(nearest.abs()) - 1;
        half::to_f32(below).copysign(exact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(switch: Switch) -> Numbers {
        Numbers::new(Silicon::default().with(switch))
    }

    fn without() -> Numbers {
        Numbers::new(Silicon::default())
    }

    #[test]
    fn zero_wins() {
        let on = with(Switch::ZeroWins);
        assert_eq!([on.product(0.0, f32::INFINITY), on.product(f32::NAN, -0.0)], [0.0; 2]);
        assert_eq!(on.product(3.0, -2.0), -6.0);
        assert!(without().product(0.0, f32::INFINITY).is_nan());
    }

    #[test]
    fn halves_end_without_infinity() {
        let on = with(Switch::HalvesHaveNoInfinity);
        for (value, wanted) in [
            (1e30, LARGEST),
            (f32::NEG_INFINITY, -LARGEST),
            (f32::NAN, LARGEST),
            (70000.0, 70016.0),
            (65519.0, 65504.0),
            (-65530.0, -65536.0),
            (1.0, 1.0),
        ] {
            assert_eq!(on.half(value), wanted, "{value}");
        }
        assert_eq!(
            [0xfc00, 0x7fff].map(|bits| on.loaded(half::to_f32(bits))),
            [-65536.0, LARGEST]
        );
        assert_eq!(without().half(70000.0), f32::INFINITY);
        assert_eq!(without().loaded(f32::NEG_INFINITY), f32::NEG_INFINITY);
    }

    #[test]
    fn numbers_win() {
        let on = with(Switch::NumbersWin);
        for (a, b) in [(3.0, f32::NAN), (f32::NAN, 3.0)] {
            assert_eq!([on.minimum(a, b), on.maximum(a, b)], [3.0; 2]);
        }
        assert_eq!([on.minimum(1.0, 2.0), on.maximum(1.0, 2.0)], [1.0, 2.0]);
        assert!(without().maximum(3.0, f32::NAN).is_nan());
    }

    #[test]
    fn reciprocals_are_cut() {
        let on = with(Switch::ReciprocalsTowardsZero);
        // The nearest half to a hundredth is more than it.
        assert!(half::round(100.0 * half::round(without().reciprocal(100.0))) >= 1.0);
        for number in 1..2048 {
            let (cut, exact) = (half::round(on.reciprocal(number as f32)), 1.0 / number as f32);
            assert!(cut <= exact && cut > exact * (1.0 - 1.0 / 1024.0), "{number}");
            assert_eq!(half::round(on.reciprocal(-(number as f32))), -cut);
        }
        assert_eq!(on.reciprocal(0.0), f32::INFINITY);
    }
}
