//! Registers of the PP, and the operands and destination common to vector and scalar units.

use super::ops::Modifier;
use crate::field::byte_codes;
use crate::vector::{Component, Swizzle};
use std::fmt;

/// A vec4 register: twelve general-purpose ones, and four pipeline registers that are valid for one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register(pub u8);

/// Names of the pipeline registers in text, from [`Register::CONST0`] on.
const PIPELINE: [&str; 4] = ["^const0", "^const1", "^texture", "^uniform"];

impl Register {
    /// The first constants.
    pub const CONST0: Self = Self(12);
    /// The second constants.
    pub const CONST1: Self = Self(13);
    /// The sampler's result.
    pub const TEXTURE: Self = Self(14);
    /// The load's result.
    pub const UNIFORM: Self = Self(15);
    /// In the varying unit: no write, or no offset.
    pub const NONE: Self = Self(15);

    /// Number of registers, including pipeline registers.
    pub const COUNT: usize = 16;

    /// The constants.
    pub const CONSTANTS: [Self; 2] = [Self::CONST0, Self::CONST1];

    /// Its number, below [`Register::COUNT`].
    #[inline(always)]
    pub const fn index(self) -> usize {
        (self.0 & 15) as usize
    }

    /// Whether it is a pipeline register: valid for one instruction and read-only.
    #[inline(always)]
    pub const fn is_pipeline(self) -> bool {
        self.0 >= Self::CONST0.0
    }

    /// The register with this name in text.
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some(at) = PIPELINE.iter().position(|row| *row == name) {
            return Some(Self(Self::CONST0.0 + at as u8));
        }
        let number = crate::text::number(name.strip_prefix('$')?)?;
        let register = u8::try_from(number).ok().map(Self)?;
        (!register.is_pipeline()).then_some(register)
    }

    /// One of its components.
    pub const fn component(self, component: Component) -> Scalar {
        Scalar(self.0 << 2 | component as u8)
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.checked_sub(Self::CONST0.0) {
            Some(at) => f.write_str(PIPELINE[usize::from(at & 3)]),
            None => write!(f, "${}", self.0),
        }
    }
}

byte_codes!(Register);

/// A component of a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scalar(pub u8);

impl Scalar {
    /// The register.
    #[inline(always)]
    pub const fn register(self) -> Register {
        Register(self.0 >> 2 & 15)
    }

    /// Index of the component in it.
    #[inline(always)]
    pub const fn component(self) -> usize {
        (self.0 & 3) as usize
    }

    /// The scalar `count` places further.
    pub const fn behind(self, count: u32) -> Self {
        Self(self.0 + count as u8)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.register(), Component::ALL[self.component()].letter())
    }
}

byte_codes!(Scalar);

/// An operand of a vector unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct VectorSource {
    /// The register.
    pub register: Register,
    /// Order of its components.
    pub swizzle: Swizzle,
    /// Whether the absolute value is taken.
    pub absolute: bool,
    /// Whether it is negated, after that.
    pub negate: bool,
}

/// Fields common to the vector units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct VectorUnit {
    /// First operand.
    pub a: VectorSource,
    /// Second operand.
    pub b: VectorSource,
    /// Destination register.
    pub destination: Register,
    /// Write mask.
    pub mask: u32,
    /// Modifier of the result.
    pub modifier: Modifier,
}

/// An operand of a scalar unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScalarSource {
    /// The scalar register.
    pub scalar: Scalar,
    /// Whether the absolute value is taken.
    pub absolute: bool,
    /// Whether it is negated, after that.
    pub negate: bool,
}

/// Fields common to the scalar units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScalarUnit {
    /// First operand.
    pub a: ScalarSource,
    /// Second operand.
    pub b: ScalarSource,
    /// Destination of the result.
    pub destination: Scalar,
    /// Whether it is written.
    pub write: bool,
    /// Modifier of the result.
    pub modifier: Modifier,
}
