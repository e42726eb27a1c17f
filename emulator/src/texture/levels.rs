//! Textures of several levels that can be sampled the short way ([`filter`](super::filter)): the level and its blending, for
//! one lane or many, each lane at a level of its own.

use super::Descriptor;
use super::filter::{Filter, MOST_TEXELS, Texels, mix};
use num::lanes::{Lanes, QuadLanes};
use num::math;
use utgard::pp::LevelOfDetail;

/// Levels that are sampled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Levels<'a> {
    form: Form,
    tables: &'a Tables,
}

/// How levels are sampled, whatever their texels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Form {
    /// Width and height of the largest level, from which those of the others follow.
    size: [u32; 2],
    /// Highest level's number.
    last: f32,
    /// Texels of the largest level in a coordinate's unit.
    scale: [f32; 2],
    bias: f32,
    cube: bool,
    rule: Rule,
    filter: Filter,
}

/// Levels at most.
const MOST_LEVELS: usize = 16;

/// Facts about each level. The smallest one's texels come first, and the largest one's last: a look-up into
/// small ones does not need large ones.
#[derive(Debug)]
pub(super) struct Tables {
    /// Width and height, with borders of faces; the last column's and row's numbers and one by the size, without.
    size: [[f32; MOST_LEVELS]; 2],
    last: [[f32; MOST_LEVELS]; 2],
    inverse: [[f32; MOST_LEVELS]; 2],
    /// Texels of this level to those of the largest.
    ratio: [[f32; MOST_LEVELS]; 2],
    /// Texels of a face, with its border.
    area: [f32; MOST_LEVELS],
    /// Number of the first texel.
    start: [f32; MOST_LEVELS],
}

impl Tables {
    /// Those of levels of these sizes, the largest first; nothing where texels cannot be counted in floats, or there are
    /// none.
    pub(super) fn new(descriptor: &Descriptor, sizes: &[[u32; 2]]) -> Option<Box<Self>> {
        let border = if descriptor.blends_faces() { 2 } else { 0 };
        let stored = |size: [u32; 2]| size.map(|size| u64::from(size) + border);
        let area = |size: [u32; 2]| stored(size).iter().product::<u64>();
        let count = |size: &[u32; 2]| area(*size) * u64::from(descriptor.faces());
        let fits = sizes.iter().all(|size| (1..=MOST_TEXELS).contains(&count(size)));
        if !fits || sizes.is_empty() || sizes.len() > MOST_LEVELS {
            return None;
        }
        // Levels that are not there are like the last one.
        let size = |number: usize| sizes[number.min(sizes.len() - 1)];
        let of = |number: usize| size(number).map(|size| size as f32);
        let by_axis =
            |f: &dyn Fn(usize, usize) -> f32| [0, 1].map(|axis| std::array::from_fn(|number| f(number, axis)));
        Some(Box::new(Self {
            size: by_axis(&|number, axis| stored(size(number))[axis] as f32),
            last: by_axis(&|number, axis| of(number)[axis] - 1.0),
            inverse: by_axis(&|number, axis| 1.0 / of(number)[axis]),
            ratio: by_axis(&|number, axis| of(number)[axis] / (descriptor.size[axis].max(1) as f32)),
            area: std::array::from_fn(|number| area(size(number)) as f32),
            start: std::array::from_fn(|number| sizes.iter().skip(number + 1).map(count).sum::<u64>() as f32),
        }))
    }
}

/// Which level lanes want.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted<V> {
    /// The one their coordinates say.
    Implicit,
    /// That one plus a bias.
    Bias(V),
    /// This one.
    Level(V),
}

impl<V> Wanted<V> {
    /// The level of an instruction with an operand.
    pub(crate) fn of(level: LevelOfDetail, given: V) -> Self {
        match level {
            LevelOfDetail::Explicit(_) => Self::Level(given),
            LevelOfDetail::Bias(_) => Self::Bias(given),
            LevelOfDetail::Implicit => Self::Implicit,
        }
    }
}

/// Where lanes look.
pub(crate) struct Look<L: Lanes> {
    /// Coordinates in texels of the largest level.
    at: [L::V; 2],
    /// Number of a cube's face.
    face: Option<L::V>,
    /// The level that is wanted, with bias and all.
    pub level: L::V,
    /// The texture is made smaller: the one filter counts, not the other.
    smaller: L::M,
    /// The first level that is looked at, and the next.
    pub first: L::V,
    second: L::V,
    /// The part of the next.
    weight: L::V,
    /// The next one counts.
    pub blends: L::M,
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
    pub(super) fn of(descriptor: &Descriptor) -> Self {
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
    pub(super) fn level<L: Lanes>(&self, level: L::V) -> L::V {
        L::sub(level, L::splat(self.less))
    }

    /// The first of the levels that are looked at, and the part of the next, of a level from [`Rule::level`].
    #[inline(always)]
    pub(super) fn chosen<L: Lanes>(&self, level: L::V) -> (L::V, L::V) {
        let [low, high] = self.range;
        let clamped = L::min(L::max(level, L::splat(low)), L::splat(high));
        // Levels count in sixteenths, and what is between two is the upper one: so the sixteenth that Mesa takes away
        // where all filters are nearest makes levels change just behind the half, as OpenGL requires, and not before it.
        let up = L::neg(L::floor(L::neg(L::mul(clamped, L::splat(16.0)))));
        let clamped = L::mul(up, L::splat(1.0 / 16.0));
        let base = L::floor(L::add(clamped, L::splat(if self.blends { 0.0 } else { 0.5 })));
        (base, L::sub(clamped, base))
    }
}

impl<'a> Levels<'a> {
    /// The levels of a texture of fitting descriptor.
    pub(super) fn new(descriptor: &Descriptor, count: usize, ones: [u8; 4], tables: &'a Tables) -> Self {
        let [width, height, _] = descriptor.size;
        let form = Form {
            size: [width, height],
            last: count.saturating_sub(1) as f32,
            scale: descriptor.scale(),
            bias: descriptor.lod_bias,
            cube: descriptor.cube,
            rule: Rule::of(descriptor),
            filter: Filter::of(descriptor, ones),
        };
        Self { form, tables }
    }

    /// How they are sampled.
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Some lanes may look at two levels.
    pub(crate) fn may_blend(&self) -> bool {
        self.form.rule.blends
    }

    /// Where lanes of quads look, by coordinates or directions.
    #[inline(always)]
    pub(crate) fn look<L: QuadLanes>(&self, [s, t, r]: [L::V; 3], wanted: Wanted<L::V>) -> Look<L> {
        let faces = match self.form.cube {
            true => Some(Faces::<L>::of([s, t, r])),
            false => None,
        };
        let level = match wanted {
            Wanted::Level(level) => level,
            Wanted::Implicit => self.implicit::<L>([s, t], &faces),
            Wanted::Bias(bias) => L::add(self.implicit::<L>([s, t], &faces), bias),
        };
        self.look_at::<L>([s, t], &faces, L::add(level, L::splat(self.form.bias)))
    }

    /// Where lanes look at a level that bias and all are in.
    #[inline(always)]
    pub(crate) fn look_at<L: Lanes>(&self, [s, t]: [L::V; 2], faces: &Option<Faces<L>>, level: L::V) -> Look<L> {
        let rule = &self.form.rule;
        let by_rule = rule.level::<L>(level);
        let (base, weight) = rule.chosen::<L>(by_rule);
        let (none, last) = (L::splat(0.0), L::splat(self.form.last));
        let first = L::min(L::max(base, none), last);
        let second = L::min(L::add(first, L::splat(1.0)), last);
        let [s, t] = match faces {
            Some(faces) => faces.on(faces.direction),
            None => [s, t],
        };
        Look {
            at: self.texels::<L>([s, t]),
            face: faces.as_ref().map(|faces| faces.number),
            level,
            // False for NaN.
            smaller: L::gt(by_rule, none),
            first,
            second,
            weight,
            blends: L::gt(L::select(L::ne(second, first), weight, none), none),
        }
    }

    /// The colours where lanes look, of two levels or the first; all texels of those levels are there. The mask tells for
    /// which lanes this is the colour; the others are too far outside.
    #[inline(always)]
    pub(crate) fn colors<L: Lanes>(&self, texels: &[u32], look: &Look<L>, two: bool) -> ([L::V; 4], L::M) {
        let (color, near) = self.level::<L>(texels, look, look.first);
        if !two {
            return (color, near);
        }
        let (other, other_near) = self.level::<L>(texels, look, look.second);
        let color = chosen::<L>(look.blends, mix::<L>(color, other, look.weight), color);
        let (yes, no) = (L::splat(1.0), L::splat(0.0));
        let near = L::select(near, yes, no);
        let both = L::select(other_near, near, no);
        (color, L::gt(L::select(look.blends, both, near), no))
    }

    /// The colours of a level each.
    #[inline(always)]
    fn level<L: Lanes>(&self, colors: &[u32], look: &Look<L>, level: L::V) -> ([L::V; 4], L::M) {
        let tables = self.tables;
        let texels = Texels {
            size: [L::lookup(&tables.size[0], level), L::lookup(&tables.size[1], level)],
            last: [L::lookup(&tables.last[0], level), L::lookup(&tables.last[1], level)],
            inverse: [
                L::lookup(&tables.inverse[0], level),
                L::lookup(&tables.inverse[1], level),
            ],
            start: L::lookup(&tables.start, level),
            face: look.face,
            area: L::lookup(&tables.area, level),
        };
        let x = L::mul(look.at[0], L::lookup(&tables.ratio[0], level));
        let y = L::mul(look.at[1], L::lookup(&tables.ratio[1], level));
        let filter = &self.form.filter;
        let [smaller, larger] = filter.nearest;
        let (color, near) = filter.at::<L>(colors, &texels, x, y, larger);
        if smaller == larger {
            return (color, near);
        }
        let (other, _) = filter.at::<L>(colors, &texels, x, y, smaller);
        (chosen::<L>(look.smaller, other, color), near)
    }

    /// Coordinates in texels of the largest level.
    #[inline(always)]
    fn texels<L: Lanes>(&self, [s, t]: [L::V; 2]) -> [L::V; 2] {
        let [width, height] = self.form.scale;
        [L::mul(s, L::splat(width)), L::mul(t, L::splat(height))]
    }

    /// The level at which a step to the neighbouring pixel is a texel: for the lanes of each quad, or each fragment's of a
    /// cube, whose derivatives are on the plane of its own face.
    #[inline(always)]
    fn implicit<L: QuadLanes>(&self, place: [L::V; 2], faces: &Option<Faces<L>>) -> L::V {
        let [corner, right, below] = match faces {
            None => {
                let [x, y] = self.texels::<L>(place);
                [
                    [L::upper(L::left(x)), L::upper(L::left(y))],
                    [L::upper(L::right(x)), L::upper(L::right(y))],
                    [L::lower(L::left(x)), L::lower(L::left(y))],
                ]
            }
            Some(faces) => {
                let [x, y, z] = faces.direction;
                let corner = [L::upper(L::left(x)), L::upper(L::left(y)), L::upper(L::left(z))];
                let right = [L::upper(L::right(x)), L::upper(L::right(y)), L::upper(L::right(z))];
                let below = [L::lower(L::left(x)), L::lower(L::left(y)), L::lower(L::left(z))];
                [
                    self.texels::<L>(faces.on(corner)),
                    self.texels::<L>(faces.on(right)),
                    self.texels::<L>(faces.on(below)),
                ]
            }
        };
        half_log::<L>(L::max(squared::<L>(right, corner), squared::<L>(below, corner)))
    }
}

/// The faces of a cube that lanes look at: [`cube_face`](super::faces::cube_face) and [`on_face`](super::faces::on_face), many at a time.
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
    pub(crate) fn of([x, y, z]: [L::V; 3]) -> Self {
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
