//! Textures of several levels whose every level can be sampled the short way ([`Plain`]): the level and its blending, for
//! one lane or many.

use super::filter::{Plain, mix};
use super::{Descriptor, Texture};
use num::lanes::{Lanes, QuadLanes};
use num::math;

/// Levels, the first of which is the largest.
pub(crate) struct Levels<'a> {
    texture: &'a Texture<'a>,
    /// Highest level's number.
    last: f32,
}

/// How the level is chosen from what coordinates and program say, the same for all fragments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rule {
    /// Lowest and highest level.
    range: [f32; 2],
    /// Taken away.
    less: f32,
    /// Levels are blended.
    blends: bool,
}

impl Rule {
    pub fn of(descriptor: &Descriptor) -> Self {
        let [low, high] = descriptor.lod;
        // Mesa adds a half where the texture is made smaller by nearest texels, unless all its filters are nearest, and
        // then passes conformance tests on hardware with every filter; so the hardware must take that half away ([I]).
        let (smaller, larger) = (descriptor.nearest[0], descriptor.nearest[1]);
        let all_nearest = smaller && larger && !descriptor.mip_linear && low != high;
        Self {
            range: descriptor.lod,
            less: if smaller && !all_nearest { 0.5 } else { 0.0 },
            blends: descriptor.mip_linear,
        }
    }

    /// The level by which the filter is chosen.
    #[inline(always)]
    pub fn level<L: Lanes>(&self, level: L::V) -> L::V {
        L::sub(level, L::splat(self.less))
    }

    /// The first of the levels that are looked at, and the part of the next, of a level from [`Rule::level`].
    #[inline(always)]
    pub fn chosen<L: Lanes>(&self, level: L::V) -> (L::V, L::V) {
        let [low, high] = self.range;
        let clamped = L::min(L::max(level, L::splat(low)), L::splat(high));
        // Levels count in sixteenths, and what is between two is the upper one: so the sixteenth that Mesa takes away
        // where all filters are nearest makes levels change just behind the half, as OpenGL wants, and not before it.
        let up = L::neg(L::floor(L::neg(L::mul(clamped, L::splat(16.0)))));
        let clamped = L::mul(up, L::splat(1.0 / 16.0));
        let base = L::floor(L::add(clamped, L::splat(if self.blends { 0.0 } else { 0.5 })));
        (base, L::sub(clamped, base))
    }
}

impl<'a> Levels<'a> {
    /// The levels of a texture; nothing where one of them cannot be sampled the short way.
    pub fn new(texture: &'a Texture<'a>) -> Option<Self> {
        let last = texture.levels.len().checked_sub(1)? as f32;
        Some(Self { texture, last })
    }

    /// Coordinates in texels of the largest level.
    #[inline(always)]
    fn texels<L: Lanes>(&self, s: L::V, t: L::V) -> [L::V; 2] {
        let [width, height] = self.texture.scale();
        [L::mul(s, L::splat(width)), L::mul(t, L::splat(height))]
    }

    /// The level at which a step to the neighbouring pixel is a texel, for the lanes of each quad.
    #[inline(always)]
    pub fn implicit<L: QuadLanes>(&self, s: L::V, t: L::V) -> L::V {
        let [x, y] = self.texels::<L>(s, t);
        let corner = [L::upper(L::left(x)), L::upper(L::left(y))];
        let right = squared::<L>([L::upper(L::right(x)), L::upper(L::right(y))], corner);
        let below = squared::<L>([L::lower(L::left(x)), L::lower(L::left(y))], corner);
        half_log::<L>(L::max(right, below))
    }

    /// Samples lanes at a level, which bias and all that are in. The mask tells for which lanes this is the colour; the
    /// others are too far outside.
    #[inline(always)]
    pub fn sample<L: Lanes>(&self, s: L::V, t: L::V, level: L::V) -> Option<([L::V; 4], L::M)> {
        self.sample_at::<L>(self.texels::<L>(s, t), None, level)
    }

    /// The same of a cube, in directions.
    #[inline(always)]
    pub fn sample_cube<L: Lanes>(&self, faces: &Faces<L>, level: L::V) -> Option<([L::V; 4], L::M)> {
        let [s, t] = faces.on(faces.direction);
        self.sample_at::<L>(self.texels::<L>(s, t), Some(faces.number), level)
    }

    /// Each fragment's level in a cube: it sees its neighbours on the plane of its own face.
    #[inline(always)]
    pub fn implicit_cube<L: QuadLanes>(&self, faces: &Faces<L>) -> L::V {
        let [x, y, z] = faces.direction;
        let place = |direction: [L::V; 3]| {
            let [s, t] = faces.on(direction);
            self.texels::<L>(s, t)
        };
        let corner = place([L::upper(L::left(x)), L::upper(L::left(y)), L::upper(L::left(z))]);
        let right = place([L::upper(L::right(x)), L::upper(L::right(y)), L::upper(L::right(z))]);
        let below = place([L::lower(L::left(x)), L::lower(L::left(y)), L::lower(L::left(z))]);
        half_log::<L>(L::max(squared::<L>(right, corner), squared::<L>(below, corner)))
    }

    #[inline(always)]
    fn sample_at<L: Lanes>(&self, at: [L::V; 2], face: Option<L::V>, level: L::V) -> Option<([L::V; 4], L::M)> {
        let rule = Rule::of(&self.texture.descriptor);
        let (base, weight) = rule.chosen::<L>(rule.level::<L>(level));
        let (none, last) = (L::splat(0.0), L::splat(self.last));
        let first = L::min(L::max(base, none), last);
        let second = L::min(L::add(first, L::splat(1.0)), last);
        let blends = L::select(L::ne(second, first), weight, L::splat(0.0));
        let blends = L::gt(blends, L::splat(0.0));
        let all = L::bits(L::eq(first, first));
        let (mut color, mut near) = self.each::<L>(at, face, first, all)?;
        let some = if rule.blends { L::bits(blends) } else { 0 };
        if some != 0 {
            let (other, other_near) = self.each::<L>(at, face, second, some)?;
            let mixed = mix::<L>(color, other, weight);
            color = chosen::<L>(blends, mixed, color);
            near = L::select(blends, L::min(near, other_near), near);
        }
        Some((color, L::gt(near, L::splat(0.0))))
    }

    /// Samples every wanted lane at its level; neighbours nearly always have the same. With 1 where it is the colour.
    #[inline(always)]
    fn each<L: Lanes>(
        &self,
        [x, y]: [L::V; 2],
        face: Option<L::V>,
        level: L::V,
        mut wanted: u32,
    ) -> Option<([L::V; 4], L::V)> {
        let none = L::splat(0.0);
        let (mut color, mut near) = ([none; 4], none);
        let mut numbers = [0.0; 16];
        L::store(&mut numbers, level);
        while wanted != 0 {
            let number = numbers[wanted.trailing_zeros() as usize & 15];
            let (plain, [across, down]): (Plain<'_>, _) = self.texture.plain_level(number as usize)?;
            let here = L::eq(level, L::splat(number));
            let (found, found_near) = plain.at::<L>(L::mul(x, L::splat(across)), L::mul(y, L::splat(down)), face);
            color = chosen::<L>(here, found, color);
            near = L::select(here, L::select(found_near, L::splat(1.0), none), near);
            wanted &= !L::bits(here);
        }
        Some((color, near))
    }
}

/// The faces of a cube that lanes look at: [`cube_face`](super::cube_face) and [`on_face`](super::on_face), many at a time.
pub(crate) struct Faces<L: Lanes> {
    direction: [L::V; 3],
    /// Numbers of the faces.
    number: L::V,
    /// The face is across y; or x, where it is not.
    across: [L::M; 2],
    /// It is on the positive side.
    positive: L::M,
}

impl<L: Lanes> Faces<L> {
    /// The faces of directions.
    #[inline(always)]
    pub fn of([x, y, z]: [L::V; 3]) -> Self {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let (ax, ay, az) = (L::abs(x), L::abs(y), L::abs(z));
        let over_x = L::select(L::ge(ay, ax), one, zero);
        let across_y = L::gt(L::select(L::ge(ay, az), over_x, zero), zero);
        let across_x = L::ge(ax, az);
        let longest = L::select(across_y, y, L::select(across_x, x, z));
        let positive = L::ge(longest, zero);
        let pair = L::select(across_y, L::splat(2.0), L::select(across_x, zero, L::splat(4.0)));
        Self {
            direction: [x, y, z],
            number: L::select(positive, pair, L::add(pair, one)),
            across: [across_y, across_x],
            positive,
        }
    }

    /// Where directions meet the planes of these faces.
    #[inline(always)]
    fn on(&self, [x, y, z]: [L::V; 3]) -> [L::V; 2] {
        let ([across_y, across_x], positive) = (self.across, self.positive);
        let (nx, ny, nz) = (L::neg(x), L::neg(y), L::neg(z));
        let side = L::select(across_x, L::select(positive, nz, z), L::select(positive, x, nx));
        let s = L::select(across_y, x, side);
        let t = L::select(across_y, L::select(positive, z, nz), ny);
        let front = L::select(across_y, y, L::select(across_x, x, z));
        let back = L::select(across_y, ny, L::select(across_x, nx, nz));
        let major = L::select(positive, front, back);
        [Self::part(s, major), Self::part(t, major)]
    }

    #[inline(always)]
    fn part(value: L::V, major: L::V) -> L::V {
        L::mul(L::add(L::div(value, major), L::splat(1.0)), L::splat(0.5))
    }
}

/// The level of the longest step, squared.
#[inline(always)]
pub(super) fn half_log<L: Lanes>(longest: L::V) -> L::V {
    L::mul(L::splat(0.5), math::log2::<L>(longest))
}

/// The square of a step.
#[inline(always)]
fn squared<L: Lanes>(a: [L::V; 2], b: [L::V; 2]) -> L::V {
    let [dx, dy] = [L::sub(a[0], b[0]), L::sub(a[1], b[1])];
    L::add(L::mul(dx, dx), L::mul(dy, dy))
}

/// One colour or the other. These are functions and not closures, which are not made for the vector units.
#[inline(always)]
fn chosen<L: Lanes>(mask: L::M, [a, b, c, d]: [L::V; 4], [e, f, g, h]: [L::V; 4]) -> [L::V; 4] {
    [
        L::select(mask, a, e),
        L::select(mask, b, f),
        L::select(mask, c, g),
        L::select(mask, d, h),
    ]
}
