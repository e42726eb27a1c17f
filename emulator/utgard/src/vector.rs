//! Components of vectors, and swizzles.

use crate::field::{byte_codes, codes};
use crate::text::COMPONENTS;

codes! {
    /// A component of a vector.
    pub complete enum Component, 2 bits {
        /// The first.
        X = 0, "x";
        /// The second.
        Y = 1, "y";
        /// The third.
        Z = 2, "z";
        /// The fourth.
        W = 3, "w";
    }
}

impl Component {
    /// Its index in a vector.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its letter.
    pub const fn letter(self) -> char {
        COMPONENTS[self as usize]
    }
}

/// A swizzle: the operand component that each component of an operation reads, two bits each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Swizzle(pub u8);

impl Swizzle {
    /// Every component reads its own.
    pub const IDENTITY: Self = Self(0b11_10_01_00);

    /// The components read by x, y, z and w.
    pub const fn new([x, y, z, w]: [Component; 4]) -> Self {
        Self(x as u8 | (y as u8) << 2 | (z as u8) << 4 | (w as u8) << 6)
    }

    /// All components read the same one.
    pub const fn splat(component: Component) -> Self {
        Self::new([component; 4])
    }

    /// The component read by a component (0 to 3), as an index.
    #[inline(always)]
    pub const fn index(self, component: usize) -> usize {
        (self.0 >> (2 * component) & 3) as usize
    }

    /// The four letters.
    pub fn letters(self) -> String {
        (0..4).map(|component| COMPONENTS[self.index(component)]).collect()
    }

    /// Operand components that are read for a mask of the operation's components.
    pub fn through(self, mask: u32) -> u32 {
        let read = (0..4).filter(|component| mask >> component & 1 == 1);
        read.fold(0, |read, component| read | 1 << self.index(component))
    }
}

byte_codes!(Swizzle);
