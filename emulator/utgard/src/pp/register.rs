//! Registers of the PP, and what the vector and the scalar units have in common: two operands and a destination.

use super::ops::Modifier;
use crate::field::byte_codes;
use crate::vector::{Component, Swizzle};
use std::fmt;

/// A vec4 register: twelve that programs keep values in, and four of the pipeline that belong to one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register(pub u8);

/// Names of the pipeline's registers in texts, from [`Register::CONST0`] on.
const PIPELINE: [&str; 4] = ["^const0", "^const1", "^texture", "^uniform"];

impl Register {
    /// The first constants.
    pub const CONST0: Self = Self(12);
    /// The second constants.
    pub const CONST1: Self = Self(13);
    /// The sampler's result.
    pub const TEXTURE: Self = Self(14);
    /// What the load brought.
    pub const UNIFORM: Self = Self(15);
    /// In the varying unit: nothing is written, or no offset is added.
    pub const NONE: Self = Self(15);

    /// Registers there are, those of the pipeline included.
    pub const COUNT: usize = 16;

    /// The constants.
    pub const CONSTANTS: [Self; 2] = [Self::CONST0, Self::CONST1];

    /// Number of it, below [`Register::COUNT`].
    #[inline(always)]
    pub const fn index(self) -> usize {
        (self.0 & 15) as usize
    }

    /// It belongs to the pipeline: it lasts for one instruction and cannot be written.
    #[inline(always)]
    pub const fn is_pipeline(self) -> bool {
        self.0 >= Self::CONST0.0
    }

    /// The register of a name in texts.
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

    /// Place of the component in it.
    #[inline(always)]
    pub const fn component(self) -> usize {
        (self.0 & 3) as usize
    }

    /// The scalars from this one on.
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
    /// How its components are mixed.
    pub swizzle: Swizzle,
    /// Its absolute value.
    pub absolute: bool,
    /// Negated, after that.
    pub negate: bool,
}

/// What the vector units have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct VectorUnit {
    /// First operand.
    pub a: VectorSource,
    /// Second operand.
    pub b: VectorSource,
    /// Register that is written.
    pub destination: Register,
    /// Components that are written.
    pub mask: u32,
    /// What is done to the result.
    pub modifier: Modifier,
}

/// An operand of a scalar unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScalarSource {
    /// The scalar register.
    pub scalar: Scalar,
    /// Its absolute value.
    pub absolute: bool,
    /// Negated, after that.
    pub negate: bool,
}

/// What the scalar units have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScalarUnit {
    /// First operand.
    pub a: ScalarSource,
    /// Second operand.
    pub b: ScalarSource,
    /// Scalar register of the result.
    pub destination: Scalar,
    /// Whether it is written.
    pub write: bool,
    /// What is done to the result.
    pub modifier: Modifier,
}
