//! What silicon may do where it is not known: each explanation that is left, of verdicts on which hardware and this emulator
//! differ, as a named switch (docs/spec/open-questions.md), and what was assumed before one explanation was left, as the way
//! back. All of them are off by default.

use std::str::FromStr;

/// What a switch changes, and so what cannot go a faster way while it is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What programs compute.
    Programs,
    /// What programs sample.
    Textures,
    /// What is around the programs.
    Pipeline,
}

/// Expands the table of switches.
macro_rules! switches {
    ($($variant:ident = $name:literal, $part:ident, $what:literal;)*) => {
        /// Something that silicon may do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Switch {
            $(#[doc = $what] $variant,)*
        }

        impl Switch {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its name, as on the command line.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// What hardware does, where it is right.
            pub const fn what(self) -> &'static str {
                match self {
                    $(Self::$variant => $what,)*
                }
            }

            /// What it changes.
            pub const fn part(self) -> Part {
                match self {
                    $(Self::$variant => Part::$part,)*
                }
            }
        }
    };
}

switches! {
    StencilCountsWithinMask = "stencil-counts-within-mask", Pipeline,
        "incrementing and decrementing a stencil writes the bits of the write mask and no others";
    InfinityIsTexelZero = "infinity-is-texel-zero", Textures,
        "a texture coordinate that is infinite looks at texel 0, as one that is no number";
    ZeroWins = "zero-wins", Programs,
        "a product with zero is zero, in both processors";
    HalvesHaveNoInfinity = "halves-have-no-infinity", Programs,
        "the halves of fragment programs end at 131008, with neither infinities nor what is no number";
    NumbersWin = "numbers-win", Programs,
        "least and greatest give the operand that is a number, in both processors";
    ReciprocalsTowardsZero = "reciprocals-towards-zero", Programs,
        "reciprocals of fragment programs are rounded towards zero";
    BiasAfterVarying = "bias-after-varying", Programs,
        "a flat texture's bias is what the varying unit of the instruction in front has written";
    OneBiasPerQuad = "one-bias-per-quad", Programs,
        "the four fragments of a quad look at a flat texture with the first one's bias";
    EightLevelWeights = "eight-level-weights", Textures,
        "there are eight steps between two levels that are blended, not sixteen";
    SixteenTexelWeights = "sixteen-texel-weights", Textures,
        "coordinates outside 0 to 1 that are clamped or mirrored have sixteen steps between two texels that are blended";
    EightBitTexelWeights = "eight-bit-texel-weights", Textures,
        "there are 256 steps between two texels that are blended, and what lies between two is the lower one";
    CubeFacesApart = "cube-faces-apart", Textures,
        "a cube's texels are blended with others of their own face, as the wrap mode says";
    OppositeCornersDrop = "opposite-corners-drop", Pipeline,
        "a triangle with two corners beyond opposite corners of the clip volume is not drawn";
}

/// The switches that are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Silicon(u32);

impl Silicon {
    /// With these switches on.
    pub const fn from_switches(switches: &[Switch]) -> Self {
        let (mut silicon, mut at) = (Self(0), 0);
        while at < switches.len() {
            silicon = silicon.with(switches[at]);
            at += 1;
        }
        silicon
    }

    /// With a switch on.
    #[must_use]
    pub const fn with(self, switch: Switch) -> Self {
        Self(self.0 | 1 << switch as u32)
    }

    /// Whether a switch is on.
    #[inline]
    pub const fn has(self, switch: Switch) -> bool {
        self.0 >> switch as u32 & 1 == 1
    }

    /// Whether a switch of a part is on.
    pub fn changes(self, part: Part) -> bool {
        Switch::ALL
            .iter()
            .any(|switch| self.has(*switch) && switch.part() == part)
    }
}

/// A name that no switch has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no switch {0:?}; there are {names}", names = names())]
pub struct UnknownSwitch(Box<str>);

/// All switches, in a line.
fn names() -> String {
    let names: Vec<&str> = Switch::ALL.iter().map(|switch| switch.name()).collect();
    names.join(", ")
}

impl FromStr for Switch {
    type Err = UnknownSwitch;

    fn from_str(name: &str) -> Result<Self, UnknownSwitch> {
        let found = Self::ALL.iter().find(|switch| switch.name() == name);
        found.copied().ok_or_else(|| UnknownSwitch(name.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_found_by_their_names() {
        for switch in Switch::ALL {
            assert_eq!(switch.name().parse(), Ok(*switch));
            let silicon = Silicon::default().with(*switch);
            assert!(silicon.has(*switch) && silicon.changes(switch.part()));
            assert!(Switch::ALL.iter().all(|other| other == switch || !silicon.has(*other)));
        }
        assert_eq!(Silicon::default(), Silicon::from_switches(&[]));
        let error = "more".parse::<Switch>().unwrap_err().to_string();
        assert!(error.contains("\"more\"") && error.contains("zero-wins, halves-have-no-infinity"));
    }
}
