//! Blending: what a fragment's colour and the tile's come to (docs/spec/mali/state.md). One formula, for one fragment, for
//! many, and for machine code.

use num::lanes::Lanes;
use utgard::state::{Compare, Equation, FactorSource};

/// A blend factor: what is multiplied, one minus it, or its alpha.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Factor {
    /// What is multiplied.
    pub source: FactorSource,
    /// One minus it (of zero: one).
    pub complement: bool,
    /// Its alpha for all channels.
    pub alpha: bool,
}

impl Factor {
    /// Multiplies by one, whichever channel it is of.
    fn is_one(&self) -> bool {
        self.source == FactorSource::Zero && self.complement
    }

    /// Multiplies by zero.
    fn is_zero(&self) -> bool {
        self.source == FactorSource::Zero && !self.complement
    }
}

/// How a draw's colours meet those of the tile.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Blending {
    /// The constant: red, green, blue, alpha.
    pub constant: [f32; 4],
    /// How colours meet, and how alphas do.
    pub equations: [Equation; 2],
    /// Factors of colour: source, destination.
    pub color: [Factor; 2],
    /// Factors of alpha.
    pub alpha: [Factor; 2],
    /// Channels that are written, red lowest.
    pub write_mask: u32,
    /// The alpha test, where it is the only one and kernels run it: what a fragment's alpha, as a byte, has to be
    /// beside a number. Others stay out.
    pub alpha_test: Option<(Compare, u8)>,
}

impl Blending {
    /// Colours replace what is there, and alphas do, where they are written.
    pub fn replaces(&self) -> [bool; 2] {
        let replaces = |equation, [source, destination]: &[Factor; 2]| {
            equation == Equation::Add && source.is_one() && destination.is_zero()
        };
        let [color, alpha] = self.equations;
        [replaces(color, &self.color), replaces(alpha, &self.alpha)]
    }

    /// What the tile has does not matter.
    pub fn covers(&self) -> bool {
        self.replaces() == [true; 2] && self.write_mask == 15
    }

    /// Whether a second colour is needed.
    pub fn uses_second(&self) -> bool {
        let mut factors = self.color.iter().chain(&self.alpha);
        factors.any(|factor| factor.source == FactorSource::Second)
    }

    /// Whether a channel is written.
    pub fn writes(&self, channel: usize) -> bool {
        self.write_mask >> channel & 1 == 1
    }

    /// The blended colour, not yet clamped; incoming colours are, NaN to 0.
    #[inline(always)]
    pub fn blend<L: Lanes>(&self, source: [L::V; 4], second: [L::V; 4], destination: [L::V; 4]) -> [L::V; 4] {
        let colors = Operands::<L> {
            source: clamped::<L>(source),
            second: clamped::<L>(second),
            destination,
        };
        [
            self.channel::<L>(0, &colors),
            self.channel::<L>(1, &colors),
            self.channel::<L>(2, &colors),
            self.channel::<L>(3, &colors),
        ]
    }

    #[inline(always)]
    fn channel<L: Lanes>(&self, channel: usize, colors: &Operands<L>) -> L::V {
        let (factors, equation) = match channel {
            3 => (self.alpha, self.equations[1]),
            _ => (self.color, self.equations[0]),
        };
        let destination = colors.destination[channel];
        let s = L::mul(colors.source[channel], self.factor::<L>(factors[0], channel, colors));
        let d = L::mul(destination, self.factor::<L>(factors[1], channel, colors));
        match equation {
            Equation::Subtract => L::sub(s, d),
            Equation::ReverseSubtract => L::sub(d, s),
            // Minimum and maximum really are of the weighted sum and the destination.
            Equation::Min => L::min(L::add(s, d), destination),
            Equation::Max => L::max(L::add(s, d), destination),
            Equation::Add | Equation::Undocumented(_) => L::add(s, d),
        }
    }

    #[inline(always)]
    fn factor<L: Lanes>(&self, factor: Factor, channel: usize, colors: &Operands<L>) -> L::V {
        let at = if factor.alpha { 3 } else { channel };
        let one = L::splat(1.0);
        let value = match factor.source {
            FactorSource::Source => colors.source[at],
            FactorSource::Destination => colors.destination[at],
            FactorSource::Constant => L::splat(self.constant[at]),
            FactorSource::Saturate | FactorSource::OldSaturate if channel < 3 => {
                L::min(colors.source[3], L::sub(one, colors.destination[3]))
            }
            FactorSource::Saturate | FactorSource::OldSaturate => one,
            FactorSource::Second => colors.second[at],
            FactorSource::Zero | FactorSource::Undocumented(_) => L::splat(0.0),
        };
        if factor.complement { L::sub(one, value) } else { value }
    }
}

/// Channels clamped to 0 and 1, NaN to 0. Functions, because closures are not compiled for the vector units.
#[inline(always)]
fn clamped<L: Lanes>([a, b, c, d]: [L::V; 4]) -> [L::V; 4] {
    [clamp::<L>(a), clamp::<L>(b), clamp::<L>(c), clamp::<L>(d)]
}

#[inline(always)]
fn clamp<L: Lanes>(value: L::V) -> L::V {
    L::min(L::max(value, L::splat(0.0)), L::splat(1.0))
}

/// Colours a blend factor may take: incoming, second incoming, the tile's.
struct Operands<L: Lanes> {
    source: [L::V; 4],
    second: [L::V; 4],
    destination: [L::V; 4],
}

/// A whole number from 0 to `one`, which is one less than a power of two, divided by it: the correctly rounded quotient without a division. The
/// first product is exact, and the second so small that its rounding does not show; a test looks at all of them.
#[inline(always)]
pub fn unit<L: Lanes>(whole: L::V, one: f32) -> L::V {
    let power = 1.0 / (one + 1.0);
    let rest = (1.0 / f64::from(one) - f64::from(power)) as f32;
    L::add(L::mul(whole, L::splat(power)), L::mul(whole, L::splat(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use num::lanes::One;

    #[test]
    fn whole_numbers_are_divided_exactly() {
        for one in [1u16, 15, 31, 63, 255, 65535] {
            let most = f32::from(one);
            for whole in (0..=one).map(f32::from) {
                assert_eq!(
                    unit::<One>(whole, most).to_bits(),
                    (whole / most).to_bits(),
                    "{whole} / {most}"
                );
            }
        }
    }
}
