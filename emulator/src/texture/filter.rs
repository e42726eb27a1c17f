//! The short way to sample: textures of one level and eight bits a channel, two-dimensional, repeated or clamped. Most
//! are. One rule for one lane or many, so engines agree bit for bit.

use super::descriptor::Descriptor;
use crate::blend::unit;
use num::lanes::Lanes;
use utgard::texture::{Dimension, Wrap};

/// Coordinates up to here are exact in all that is done with them: whole numbers, halves, and remainders.
const FAR: f32 = 4_194_304.0;

/// A level of such a texture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain<'a> {
    /// Red, green, blue, alpha of each texel from the lowest byte up, row by row; there are as many as the size says.
    colors: &'a [u32],
    /// Width and height in texels.
    size: [f32; 2],
    /// Texels of a coordinate's unit.
    scale: [f32; 2],
    clamp: [bool; 2],
    nearest: bool,
    /// The numbers that 1.0 is, of each channel.
    ones: [u8; 4],
}

/// How such a texture is sampled, whatever its texels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Form {
    size: [f32; 2],
    scale: [f32; 2],
    clamp: [bool; 2],
    nearest: bool,
    ones: [u8; 4],
}

impl<'a> Plain<'a> {
    /// How it is sampled.
    pub fn form(&self) -> Form {
        Form {
            size: self.size,
            scale: self.scale,
            clamp: self.clamp,
            nearest: self.nearest,
            ones: self.ones,
        }
    }

    /// The texels, as many as the size says.
    pub fn texels(&self) -> &'a [u32] {
        self.colors
    }

    /// Whether textures like this one go the short way.
    pub fn fits(descriptor: &Descriptor) -> bool {
        let [width, height, depth] = descriptor.size;
        let flat = descriptor.dimension != Dimension::One && depth <= 1 && width > 0 && height > 0;
        let wraps = descriptor
            .wrap
            .iter()
            .all(|wrap| matches!(wrap, Wrap::Repeat | Wrap::Clamp));
        flat && wraps && descriptor.nearest[0] == descriptor.nearest[1]
    }

    /// A level of so many faces of a fitting descriptor's texture; `None` where texels are missing, or more than can be
    /// counted in a float.
    pub fn new(descriptor: &Descriptor, [width, height]: [u32; 2], ones: [u8; 4], colors: &'a [u32]) -> Option<Self> {
        let texels = u64::from(width) * u64::from(height) * u64::from(descriptor.faces());
        if texels == 0 || texels > 1 << 24 || colors.len() as u64 != texels {
            return None;
        }
        let size = [width as f32, height as f32];
        Some(Self {
            colors,
            size,
            scale: if descriptor.unnormalised { [1.0; 2] } else { size },
            clamp: [0, 1].map(|axis: usize| descriptor.wrap[axis] == Wrap::Clamp),
            nearest: descriptor.nearest[0],
            ones,
        })
    }

    /// Samples lanes at s and t. The mask tells for which lanes this is the colour; the others are too far outside.
    #[inline(always)]
    pub fn sample<L: Lanes>(&self, s: L::V, t: L::V) -> ([L::V; 4], L::M) {
        self.at::<L>(
            L::mul(s, L::splat(self.scale[0])),
            L::mul(t, L::splat(self.scale[1])),
            None,
        )
    }

    /// The same at texels x and y, of faces by their numbers.
    #[inline(always)]
    pub fn at<L: Lanes>(&self, x: L::V, y: L::V, face: Option<L::V>) -> ([L::V; 4], L::M) {
        let larger = L::max(L::abs(x), L::abs(y));
        // What is no number is greater than nothing, on either side.
        let near = L::gt(L::splat(FAR), L::select(L::eq(x, x), larger, L::splat(f32::INFINITY)));
        if self.nearest {
            let (column, row) = (self.wrap::<L>(0, L::floor(x)), self.wrap::<L>(1, L::floor(y)));
            let texel = L::texels(self.colors, L::add(self.start::<L>(row, face), column));
            return (self.parts::<L>(texel), near);
        }
        let half = L::splat(0.5);
        let (x, y) = (L::sub(x, half), L::sub(y, half));
        let (left, top) = (L::floor(x), L::floor(y));
        let (right, bottom) = (L::add(left, L::splat(1.0)), L::add(top, L::splat(1.0)));
        let (along, down) = (L::sub(x, left), L::sub(y, top));
        let columns = (self.wrap::<L>(0, left), self.wrap::<L>(0, right));
        let (top, bottom) = (self.wrap::<L>(1, top), self.wrap::<L>(1, bottom));
        let upper = self.two::<L>(self.start::<L>(top, face), columns, along);
        let lower = self.two::<L>(self.start::<L>(bottom, face), columns, along);
        (self.parts::<L>(mix::<L>(upper, lower, down)), near)
    }

    /// Number of a row's first texel: whole numbers, and never too large for a float.
    #[inline(always)]
    fn start<L: Lanes>(&self, row: L::V, face: Option<L::V>) -> L::V {
        let start = L::mul(row, L::splat(self.size[0]));
        match face {
            Some(face) => L::add(start, L::mul(face, L::splat(self.size[0] * self.size[1]))),
            None => start,
        }
    }

    /// Two texels of a row, blended.
    #[inline(always)]
    fn two<L: Lanes>(&self, row: L::V, columns: (L::V, L::V), weight: L::V) -> [L::V; 4] {
        let first = L::texels(self.colors, L::add(row, columns.0));
        let second = L::texels(self.colors, L::add(row, columns.1));
        mix::<L>(first, second, weight)
    }

    /// Channels, or what is between them, as parts of their ones.
    #[inline(always)]
    fn parts<L: Lanes>(&self, [red, green, blue, alpha]: [L::V; 4]) -> [L::V; 4] {
        let [r, g, b, a] = self.ones.map(f32::from);
        [
            unit::<L>(red, r),
            unit::<L>(green, g),
            unit::<L>(blue, b),
            unit::<L>(alpha, a),
        ]
    }

    /// The texel of a whole coordinate on an axis.
    #[inline(always)]
    fn wrap<L: Lanes>(&self, axis: usize, at: L::V) -> L::V {
        let (zero, size) = (L::splat(0.0), L::splat(self.size[axis]));
        if self.clamp[axis] {
            return L::min(L::max(at, zero), L::splat(self.size[axis] - 1.0));
        }
        // The quotient is at most one off.
        let around = L::floor(L::mul(at, L::splat(1.0 / self.size[axis])));
        let rest = L::sub(at, L::mul(around, size));
        let rest = L::select(L::gt(zero, rest), L::add(rest, size), rest);
        L::select(L::ge(rest, size), L::sub(rest, size), rest)
    }
}

#[inline(always)]
pub(super) fn mix<L: Lanes>(a: [L::V; 4], b: [L::V; 4], weight: L::V) -> [L::V; 4] {
    let one = |a: L::V, b: L::V| L::add(a, L::mul(L::sub(b, a), weight));
    [one(a[0], b[0]), one(a[1], b[1]), one(a[2], b[2]), one(a[3], b[3])]
}

#[cfg(test)]
mod tests {
    use super::*;
    use num::lanes::One;

    #[test]
    fn whole_coordinates_wrap() {
        for size in [1u32, 2, 3, 7, 64, 100, 255, 4096] {
            let mut plain = Plain {
                colors: &[],
                size: [size as f32; 2],
                scale: [1.0; 2],
                clamp: [false, true],
                nearest: true,
                ones: [255; 4],
            };
            let near = -3000..3000_i32;
            let far = (4_190_000..4_194_304).flat_map(|at| [at, -at]);
            for at in near.chain(far) {
                let want = at.rem_euclid(size as i32) as f32;
                assert_eq!(plain.wrap::<One>(0, at as f32), want, "{at} in {size}");
                assert_eq!(plain.wrap::<One>(1, at as f32), at.clamp(0, size as i32 - 1) as f32);
            }
            plain.clamp = [true; 2];
            assert_eq!(plain.wrap::<One>(0, -5.0), 0.0);
        }
    }
}
