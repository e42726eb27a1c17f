//! The short way to sample: textures of eight bits a channel, two-dimensional or cubes, without a border around them. Most
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
    form: Form,
}

/// How such a texture is sampled, whatever its texels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Form {
    /// Width and height in texels.
    size: [f32; 2],
    /// Texels of a coordinate's unit.
    scale: [f32; 2],
    filter: Filter,
}

/// How texels become a colour, whatever the texture's size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Filter {
    around: [Around; 2],
    /// Sizes are powers of two: coordinates are divided by them without a rounding.
    powers: [bool; 2],
    /// The nearest texel counts, where the texture is made smaller and where it is made larger.
    pub nearest: [bool; 2],
    /// Faces have a border of the texels beside them, so that nothing is outside.
    border: bool,
    /// The numbers that 1.0 is, of each channel.
    ones: [u8; 4],
}

/// How coordinates outside the texture are brought inside: as [`Wrap`] has it, where that needs no border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    Repeat,
    Clamp,
    Mirror,
    MirrorOnce,
}

impl Around {
    fn of(wrap: Wrap) -> Option<Self> {
        match wrap {
            Wrap::Repeat => Some(Self::Repeat),
            Wrap::Clamp => Some(Self::Clamp),
            Wrap::Mirror => Some(Self::Mirror),
            Wrap::MirrorOnceClamp => Some(Self::MirrorOnce),
            Wrap::ClampHalfBorder | Wrap::ClampBorder | Wrap::MirrorOnceHalfBorder | Wrap::MirrorOnceBorder => None,
        }
    }
}

/// The texels that lanes look at.
pub(super) struct Texels<L: Lanes> {
    /// Width and height, with the border if there is one.
    pub size: [L::V; 2],
    /// The last column's and row's numbers.
    pub last: [L::V; 2],
    /// One by the size.
    pub inverse: [L::V; 2],
    /// Number of the first one.
    pub start: L::V,
    /// Number of the cube's face, and texels of a face.
    pub face: Option<L::V>,
    pub area: L::V,
}

impl<'a> Plain<'a> {
    /// How it is sampled.
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Whether textures like this one go the short way.
    pub(crate) fn fits(descriptor: &Descriptor) -> bool {
        let [width, height, depth] = descriptor.size;
        let flat = descriptor.dimension != Dimension::One && depth <= 1 && width > 0 && height > 0;
        let wraps = descriptor.wrap.iter().all(|wrap| Around::of(*wrap).is_some());
        // There are no cubes of other faces.
        let square = !descriptor.blends_faces() || width == height;
        flat && wraps && square && (!descriptor.cube || one_filter(descriptor))
    }

    /// The only level of a fitting descriptor's texture, where one filter is all there are; `None` where texels are missing, or
    /// more than can be counted in a float.
    pub(crate) fn new(descriptor: &Descriptor, ones: [u8; 4], colors: &'a [u32]) -> Option<Self> {
        let [width, height, _] = descriptor.size;
        let texels = u64::from(width) * u64::from(height);
        if !one_filter(descriptor) || texels == 0 || texels > MOST_TEXELS || colors.len() as u64 != texels {
            return None;
        }
        let size = [width as f32, height as f32];
        let form = Form {
            size,
            scale: descriptor.scale(),
            filter: Filter::of(descriptor, ones),
        };
        Some(Self { colors, form })
    }

    /// Samples lanes at s and t. The mask tells for which lanes this is the colour; the others are too far outside.
    #[inline(always)]
    pub(crate) fn sample<L: Lanes>(&self, s: L::V, t: L::V) -> ([L::V; 4], L::M) {
        let Form { size, scale, filter } = &self.form;
        let texels = Texels {
            size: [L::splat(size[0]), L::splat(size[1])],
            last: [L::splat(size[0] - 1.0), L::splat(size[1] - 1.0)],
            inverse: [L::splat(1.0 / size[0]), L::splat(1.0 / size[1])],
            start: L::splat(0.0),
            face: None,
            area: L::splat(0.0),
        };
        let (x, y) = (L::mul(s, L::splat(scale[0])), L::mul(t, L::splat(scale[1])));
        filter.at::<L>(self.colors, &texels, x, y, filter.nearest[0])
    }
}

/// Whether a texture is filtered the same way where it is made smaller and where it is made larger.
pub(super) fn one_filter(descriptor: &Descriptor) -> bool {
    descriptor.nearest[0] == descriptor.nearest[1]
}

/// Texels of a level at most: they are counted in floats.
pub(super) const MOST_TEXELS: u64 = 1 << 24;

impl Filter {
    /// A fitting descriptor's.
    pub(super) fn of(descriptor: &Descriptor, ones: [u8; 4]) -> Self {
        Self {
            around: [0, 1].map(|axis: usize| Around::of(descriptor.wrap[axis]).unwrap_or(Around::Clamp)),
            // Of levels, half as large each, then all are.
            powers: [0, 1].map(|axis: usize| descriptor.size[axis].is_power_of_two()),
            nearest: descriptor.nearest,
            border: descriptor.blends_faces(),
            ones,
        }
    }

    /// The colour at texels x and y, of the nearest one or between four. The mask tells for which lanes this is the colour; the
    /// others are too far outside.
    #[inline(always)]
    pub(super) fn at<L: Lanes>(
        &self,
        colors: &[u32],
        texels: &Texels<L>,
        x: L::V,
        y: L::V,
        nearest: bool,
    ) -> ([L::V; 4], L::M) {
        let larger = L::max(L::abs(x), L::abs(y));
        // Every comparison with NaN is false.
        let near = L::gt(L::splat(FAR), L::select(L::eq(x, x), larger, L::splat(f32::INFINITY)));
        if nearest {
            let column = self.wrap::<L>(texels, 0, L::floor(x));
            let row = self.wrap::<L>(texels, 1, L::floor(y));
            let texel = L::texels(colors, texels.start, L::add(texels.row(row), column));
            return (self.parts::<L>(texel), near);
        }
        let half = L::splat(0.5);
        let (x, y) = (L::sub(x, half), L::sub(y, half));
        let (left, top) = (L::floor(x), L::floor(y));
        let (along, down) = (L::sub(x, left), L::sub(y, top));
        let (columns, [top, bottom]) = if self.border {
            // The border is column and row 0, so each has the number of the one behind it.
            let one = L::splat(1.0);
            let (right, row) = (L::add(left, one), texels.row(L::add(top, one)));
            ([right, L::add(right, one)], [row, L::add(row, texels.size[0])])
        } else {
            let [top, bottom] = self.wrap_two::<L>(texels, 1, top);
            (
                self.wrap_two::<L>(texels, 0, left),
                [texels.row(top), texels.row(bottom)],
            )
        };
        let upper = texels.two(colors, top, columns, along);
        let lower = texels.two(colors, bottom, columns, along);
        (self.parts::<L>(mix::<L>(upper, lower, down)), near)
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
    fn wrap<L: Lanes>(&self, texels: &Texels<L>, axis: usize, at: L::V) -> L::V {
        let (zero, last) = (L::splat(0.0), texels.last[axis]);
        match self.around[axis] {
            Around::Clamp => L::min(L::max(at, zero), last),
            // The mirror image's number -1 is 0.
            Around::MirrorOnce => {
                let mirrored = L::select(L::gt(zero, at), L::sub(L::neg(at), L::splat(1.0)), at);
                L::min(mirrored, last)
            }
            Around::Repeat | Around::Mirror => self.seen::<L>(texels, axis, self.remainder::<L>(texels, axis, at)),
        }
    }

    /// The texels of a whole coordinate on an axis and of the next one.
    #[inline(always)]
    fn wrap_two<L: Lanes>(&self, texels: &Texels<L>, axis: usize, at: L::V) -> [L::V; 2] {
        let one = L::splat(1.0);
        match self.around[axis] {
            Around::Clamp | Around::MirrorOnce => [
                self.wrap::<L>(texels, axis, at),
                self.wrap::<L>(texels, axis, L::add(at, one)),
            ],
            Around::Repeat | Around::Mirror => {
                let first = self.remainder::<L>(texels, axis, at);
                let next = L::add(first, one);
                let period = self.period::<L>(texels, axis);
                let next = L::select(L::ge(next, period), L::splat(0.0), next);
                [self.seen::<L>(texels, axis, first), self.seen::<L>(texels, axis, next)]
            }
        }
    }

    /// Texels after which everything is as before.
    #[inline(always)]
    fn period<L: Lanes>(&self, texels: &Texels<L>, axis: usize) -> L::V {
        let size = texels.size[axis];
        match self.around[axis] {
            Around::Mirror => L::add(size, size),
            _ => size,
        }
    }

    /// What is left of a whole coordinate by the period, from 0 on.
    #[inline(always)]
    fn remainder<L: Lanes>(&self, texels: &Texels<L>, axis: usize, at: L::V) -> L::V {
        let (period, inverse) = (self.period::<L>(texels, axis), texels.inverse[axis]);
        let inverse = match self.around[axis] {
            Around::Mirror => L::mul(inverse, L::splat(0.5)),
            _ => inverse,
        };
        let rest = L::sub(at, L::mul(L::floor(L::mul(at, inverse)), period));
        if self.powers[axis] {
            return rest;
        }
        // The quotient is at most one off.
        let rest = L::select(L::gt(L::splat(0.0), rest), L::add(rest, period), rest);
        L::select(L::ge(rest, period), L::sub(rest, period), rest)
    }

    /// The texel that a [remainder](Self::remainder) is.
    #[inline(always)]
    fn seen<L: Lanes>(&self, texels: &Texels<L>, axis: usize, rest: L::V) -> L::V {
        match self.around[axis] {
            Around::Mirror => {
                let last = L::sub(self.period::<L>(texels, axis), L::splat(1.0));
                L::select(L::ge(rest, texels.size[axis]), L::sub(last, rest), rest)
            }
            _ => rest,
        }
    }
}

impl<L: Lanes> Texels<L> {
    /// Number of a row's first texel: whole numbers, and never too large for a float.
    #[inline(always)]
    fn row(&self, row: L::V) -> L::V {
        let first = L::mul(row, self.size[0]);
        match self.face {
            Some(face) => L::add(first, L::mul(face, self.area)),
            None => first,
        }
    }

    /// Two texels of a row, blended.
    #[inline(always)]
    fn two(&self, colors: &[u32], row: L::V, columns: [L::V; 2], weight: L::V) -> [L::V; 4] {
        let first = L::texels(colors, self.start, L::add(row, columns[0]));
        let second = L::texels(colors, self.start, L::add(row, columns[1]));
        mix::<L>(first, second, weight)
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
            let filter = |around: Around| Filter {
                around: [around; 2],
                powers: [size.is_power_of_two(); 2],
                nearest: [true; 2],
                border: false,
                ones: [255; 4],
            };
            let texels = Texels::<One> {
                size: [size as f32; 2],
                last: [size as f32 - 1.0; 2],
                inverse: [1.0 / size as f32; 2],
                start: 0.0,
                face: None,
                area: 0.0,
            };
            let near = -3000..3000_i32;
            let far = (4_190_000..4_194_304).flat_map(|at| [at, -at]);
            for at in near.chain(far) {
                for wrap in Wrap::ALL {
                    let Some(around) = Around::of(wrap) else { continue };
                    let texel = |at: i64| super::super::wrapped(wrap, at, size).expect("no border") as f32;
                    let want = [texel(at.into()), texel(i64::from(at) + 1)];
                    let have = filter(around).wrap::<One>(&texels, 0, at as f32);
                    assert_eq!(have, want[0], "{at} in {size}, {wrap:?}");
                    let have = filter(around).wrap_two::<One>(&texels, 0, at as f32);
                    assert_eq!(have, want, "{at} in {size} and the next, {wrap:?}");
                }
            }
        }
    }
}
