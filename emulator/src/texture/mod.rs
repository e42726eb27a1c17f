//! Texture descriptors and sampling (docs/spec/mali/textures.md).

mod cache;
mod chain;
mod decode;
mod descriptor;
mod faces;
pub(crate) mod filter;
pub(crate) mod levels;
mod picture;
mod quirks;
pub mod texel;

use crate::fault::{Fault, FaultKind, Result};
use crate::memory::Memory;
use crate::silicon::Silicon;
use crate::thread_pool::ThreadPool;
pub use cache::TextureCache;
use chain::Chain;
pub use descriptor::{Descriptor, Layout};
use faces::{beside, cube_face, on_face};
use filter::Plain;
use levels::{Faces, Levels, Rule, Tables, half_log};
use num::lanes::{Lanes, One};
pub use picture::LevelPlace;
use std::sync::{Arc, OnceLock};
use texel::Format;
use utgard::texture::{Dimension, Wrap};

/// Texel number of a texel coordinate in a texture `size` wide; `None` is the border.
fn wrapped(wrap: Wrap, at: i64, size: u32) -> Option<u32> {
    let size = i64::from(size.max(1));
    let inside = |at: i64| at.clamp(0, size - 1) as u32;
    // Numbers of the mirror image, -1 beside 0.
    let mirrored_once = if at < 0 { -1 - at } else { at };
    match wrap {
        Wrap::Repeat => Some(at.rem_euclid(size) as u32),
        Wrap::Clamp => Some(inside(at)),
        // The texels outside are border.
        Wrap::ClampHalfBorder | Wrap::ClampBorder => (0..size).contains(&at).then_some(at as u32),
        Wrap::Mirror => {
            let at = at.rem_euclid(2 * size);
            Some((if at >= size { 2 * size - 1 - at } else { at }) as u32)
        }
        Wrap::MirrorOnceClamp => Some(inside(mirrored_once)),
        Wrap::MirrorOnceHalfBorder | Wrap::MirrorOnceBorder => (mirrored_once < size).then_some(mirrored_once as u32),
    }
}

/// Clamping of the coordinate itself, before filtering: half borders go half a texel past the edge at most.
fn clamped(wrap: Wrap, at: f32, size: f32) -> f32 {
    match wrap {
        Wrap::ClampHalfBorder => at.clamp(0.0, size),
        Wrap::MirrorOnceHalfBorder => at.clamp(-size, size),
        Wrap::Repeat
        | Wrap::Clamp
        | Wrap::ClampBorder
        | Wrap::Mirror
        | Wrap::MirrorOnceClamp
        | Wrap::MirrorOnceBorder => at,
    }
}

/// How the level is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lod {
    /// Added to what the neighbours' coordinates say.
    Bias(f32),
    /// The level itself.
    Level(f32),
}

/// A level's texels.
#[derive(Debug)]
struct Level<'a> {
    number: usize,
    memory: &'a Memory,
    address: u32,
    /// Bytes from the address on, as far as there is memory and the level goes.
    length: u32,
    /// Those bytes, where they can be borrowed.
    borrowed: Option<&'a [u8]>,
    /// Those bytes of shared memory, copied when first needed.
    copied: OnceLock<Arc<Vec<u8>>>,
    /// Width, height, depth in texels.
    size: [u32; 3],
    /// Bytes of a face or slice.
    layer: u32,
}

impl Level<'_> {
    /// Width and height of a layer as words, which may have a border.
    fn stored(&self, border: bool) -> [usize; 2] {
        [self.size[0], self.size[1]].map(|size| size as usize + if border { 2 } else { 0 })
    }

    fn data(&self) -> &[u8] {
        match self.borrowed {
            Some(bytes) => bytes,
            None => self.copied(Vec::new(), None),
        }
    }

    /// Those bytes of shared memory, copied into some room if they are not yet.
    fn copied(&self, room: Vec<u8>, pool: Option<&ThreadPool>) -> &Arc<Vec<u8>> {
        let copy = || Arc::new(self.memory.copy(self.address, self.length, room, pool));
        self.copied.get_or_init(copy)
    }

    /// A copy of its bytes: the one that texels are decoded from, where there is one.
    fn copy(&self, room: Vec<u8>, pool: Option<&ThreadPool>) -> Arc<Vec<u8>> {
        match self.borrowed {
            Some(_) => Arc::new(self.memory.copy(self.address, self.length, room, pool)),
            None => self.copied(room, pool).clone(),
        }
    }
}

/// Texels that are worth more than one thread.
const MANY_TEXELS: usize = 1 << 14;

/// A texture that can be sampled.
#[derive(Debug)]
pub struct Texture<'a> {
    /// What the descriptor says.
    pub descriptor: Descriptor,
    format: Option<Format>,
    levels: Vec<Level<'a>>,
    /// Its texels can be words of four bytes.
    has_words: bool,
    /// They can, and it is two-dimensional or a cube, without a border.
    simple: bool,
    /// In those words every face of a cube has a border: a texel of the faces beside it all around.
    border: bool,
    /// Levels that are sampled as red, green, blue, alpha of a byte each, row by row and face by face.
    chain: Chain,
    /// What there is to know of them where they go the short way.
    tables: OnceLock<Option<Box<Tables>>>,
    /// The numbers that 1.0 is in those words, of each channel.
    ones: [u8; 4],
    /// Levels from earlier jobs.
    cache: Option<&'a TextureCache>,
    /// The hardware that samples it.
    silicon: Silicon,
}

impl<'a> Texture<'a> {
    /// The texture of a descriptor; a missing one (format 0 and all others that are unknown) samples as black.
    ///
    /// # Errors
    /// When a level that can be sampled is in no buffer object.
    pub fn new(memory: &'a Memory, descriptor: Descriptor) -> Result<Self> {
        let format = texel::by_code(descriptor.format);
        let mut levels = Vec::new();
        if let Some(format) = format {
            for number in 0..descriptor.level_count() {
                levels.push(level(memory, &descriptor, &format, number)?);
            }
        }
        let one_level = levels.len() == 1 || (levels.len() > 1 && descriptor.lod == [0.0, 0.0]);
        let whole = format.and_then(|format| texel::decode_whole(format.code, false, &[0; 4]));
        let sampled = if one_level { 1 } else { levels.len() };
        let faces = descriptor.faces() as usize;
        let has_words = whole.is_some() || format.is_some_and(|format| format.code == texel::ETC1);
        let simple = has_words && Plain::fits(&descriptor);
        let border = simple && descriptor.blends_faces();
        let texels = |level: &Level<'_>| {
            let [width, height] = level.stored(border);
            width * height * faces
        };
        Ok(Self {
            has_words,
            simple,
            border,
            chain: Chain::new(levels[..sampled].iter().map(texels)),
            tables: OnceLock::new(),
            descriptor,
            format,
            levels,
            ones: whole.map_or([255; 4], |whole| whole.ones),
            cache: None,
            silicon: Silicon::default(),
        })
    }

    /// Where levels that can be sampled begin in memory.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = u32> {
        self.levels.iter().map(|level| level.address)
    }

    /// With levels that earlier jobs decoded, as far as they are still what is in memory.
    #[must_use]
    pub fn with_cache(mut self, cache: &'a TextureCache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Samples for the four fragments of a quad: coordinates and level choice of each.
    pub fn sample(&self, coordinates: &[[f32; 4]; 4], lods: &[Lod; 4], cube: bool) -> [[f32; 4]; 4] {
        if self.levels.is_empty() {
            return [[0.0, 0.0, 0.0, 1.0]; 4];
        }
        if let Some(plain) = self.plain(cube) {
            return std::array::from_fn(|lane| {
                let [s, t, ..] = coordinates[lane];
                match plain.sample::<One>(s, t) {
                    (color, true) => color,
                    (_, false) => self.sample_far_level(coordinates[lane], 0.0),
                }
            });
        }
        let places: [Place; 4] = std::array::from_fn(|lane| self.place(coordinates[lane], cube));
        let implicit = self.implicit_levels(coordinates, &places);
        let short = self.short_levels(cube);
        std::array::from_fn(|lane| {
            let level = match lods[lane] {
                Lod::Level(level) => level,
                Lod::Bias(bias) => implicit[lane] + bias,
            };
            let level = level + self.descriptor.lod_bias;
            match short.and_then(|levels| self.sample_short(levels, coordinates[lane], level)) {
                Some(color) => color,
                None => self.sample_at(&places[lane], level),
            }
        })
    }

    /// A colour the short way, where it is near enough.
    fn sample_short(&self, levels: Levels<'_>, [s, t, r, _]: [f32; 4], level: f32) -> Option<[f32; 4]> {
        let faces = self.descriptor.cube.then(|| Faces::of([s, t, r]));
        let look = levels.look_at::<One>([s, t], &faces, level);
        let texels = self.texels_from(look.first as usize)?;
        let (color, near) = levels.colors::<One>(texels, &look, levels.may_blend() && look.blends);
        near.then_some(color)
    }

    /// The short way to sample one of several levels, or a cube, where there is one.
    pub(crate) fn short_levels(&self, cube: bool) -> Option<Levels<'_>> {
        let has_levels = self.chain.len() > 1 || !filter::one_filter(&self.descriptor);
        let fits = self.descriptor.cube || has_levels && !cube;
        if !self.simple || !fits {
            return None;
        }
        let sizes = || -> Vec<[u32; 2]> {
            let sampled = self.levels.iter().take(self.chain.len());
            sampled.map(|level| [level.size[0], level.size[1]]).collect()
        };
        let tables = self.tables.get_or_init(|| Tables::new(&self.descriptor, &sizes()));
        let count = self.chain.len();
        Some(Levels::new(&self.descriptor, count, self.ones, tables.as_deref()?))
    }

    /// Levels from some on that can be sampled at once: the largest one's number, and the texels.
    pub(crate) fn texels_ready(&self) -> Option<(usize, &[u32])> {
        self.chain.ready()
    }

    /// Texels of the levels that lanes look at first, and of all smaller ones.
    #[inline(always)]
    pub(crate) fn texels_for<L: Lanes>(&self, first: L::V) -> Option<&[u32]> {
        if let Some((largest, texels)) = self.chain.ready()
            && L::bits(L::gt(L::splat(largest as f32), first)) == 0
        {
            return Some(texels);
        }
        let mut numbers = [f32::MAX; 16];
        L::store(&mut numbers, first);
        self.texels_from(numbers.into_iter().fold(f32::MAX, f32::min) as usize)
    }

    /// Texels of a level and all smaller ones, as words.
    #[inline]
    fn texels_from(&self, first: usize) -> Option<&[u32]> {
        self.chain.from(first, |have| self.decoded(first, have, None))
    }

    /// Makes texels of all levels ready with all threads, where that is worth their while: of one level they are wanted, of
    /// several perhaps never read, so that this is done for no more than `most` of them.
    pub(crate) fn prepare(&self, most: u64, pool: &ThreadPool) {
        let count = self.chain.count(0);
        let is_wanted = self.chain.len() == 1 || count as u64 <= most;
        if self.simple && is_wanted && count >= MANY_TEXELS {
            self.chain.from(0, |have| self.decoded(0, have, Some(pool)));
        }
    }

    /// A level's size by what the descriptor says of the largest: sizes are rounded, so coordinates are scaled by what
    /// they are.
    fn ratio(&self, level: &Level<'_>, axis: usize) -> f32 {
        level.size[axis] as f32 / (self.descriptor.size[axis].max(1) as f32)
    }

    /// The colour of a level where the short way does not reach.
    pub(crate) fn sample_far_level(&self, coordinates: [f32; 4], level: f32) -> [f32; 4] {
        self.sample_at(&self.place(coordinates, false), level)
    }

    /// The short way to sample, where there is one.
    pub(crate) fn plain(&self, cube: bool) -> Option<Plain<'_>> {
        let one = self.chain.len() == 1 && filter::one_filter(&self.descriptor);
        if !self.simple || !one || cube || self.descriptor.cube {
            return None;
        }
        Plain::new(&self.descriptor, self.ones, self.texels_from(0)?)
    }

    /// Coordinates in texels of level 0, and the face.
    fn place(&self, coordinates: [f32; 4], cube: bool) -> Place {
        if cube || self.descriptor.cube {
            return self.place_on_face(coordinates, cube_face(coordinates));
        }
        let [s, t, r, _] = coordinates;
        self.scaled(0, [s, t, r])
    }

    /// Coordinates of a direction on the plane of a face, also where it leaves the face.
    fn place_on_face(&self, direction: [f32; 4], face: u32) -> Place {
        let [s, t] = on_face(direction, face);
        self.scaled(face, [s, t, 0.0])
    }

    fn scaled(&self, face: u32, coordinates: [f32; 3]) -> Place {
        let [width, height] = self.descriptor.scale();
        let depth = if self.descriptor.unnormalised {
            1.0
        } else {
            self.descriptor.size[2] as f32
        };
        let [s, t, r] = coordinates;
        Place {
            face,
            texel: [s * width, t * height, r * depth],
        }
    }

    /// Each fragment's level. Where a quad looks at several faces of a cube, every fragment sees its neighbours on the
    /// plane of its own face: coordinates of different faces have nothing to do with each other.
    fn implicit_levels(&self, coordinates: &[[f32; 4]; 4], places: &[Place; 4]) -> [f32; 4] {
        if places.iter().all(|place| place.face == places[0].face) {
            return [self.implicit_level(places); 4];
        }
        places.map(|place| self.implicit_level(&coordinates.map(|at| self.place_on_face(at, place.face))))
    }

    /// The level at which a step to the neighbouring pixel is a texel.
    fn implicit_level(&self, places: &[Place; 4]) -> f32 {
        let three =
            self.descriptor.dimension == Dimension::Three && !self.descriptor.cube && self.descriptor.size[2] > 1;
        let one = self.descriptor.dimension == Dimension::One;
        let squared = |a: &Place, b: &Place| {
            let d = |axis: usize| a.texel[axis] - b.texel[axis];
            let plane = d(0) * d(0) + if one { 0.0 } else { d(1) * d(1) };
            plane + if three { d(2) * d(2) } else { 0.0 }
        };
        let steps = (squared(&places[1], &places[0]), squared(&places[2], &places[0]));
        let longest = if steps.0 > steps.1 { steps.0 } else { steps.1 };
        half_log::<One>(longest)
    }

    fn sample_at(&self, place: &Place, level: f32) -> [f32; 4] {
        let descriptor = &self.descriptor;
        let rule = Rule::of(descriptor);
        let level = rule.level::<One>(level);
        // One filter gives way to the other at level 0, whichever they are.
        let nearest = descriptor.nearest[usize::from(level.is_nan() || level <= 0.0)];
        let (base, weight) = rule.chosen::<One>(level);
        let weight = self.level_weight(weight);
        let first = (base.max(0.0) as usize).min(self.levels.len() - 1);
        let color = self.filtered(place, first, nearest);
        let second = (first + 1).min(self.levels.len() - 1);
        if !descriptor.mip_linear || weight <= 0.0 || second == first {
            return color;
        }
        mix(color, self.filtered(place, second, nearest), weight)
    }

    fn filtered(&self, place: &Place, number: usize, nearest: bool) -> [f32; 4] {
        let level = &self.levels[number];
        let descriptor = &self.descriptor;
        let at: [f32; 3] = std::array::from_fn(|axis| {
            let size = level.size[axis] as f32;
            let scaled = place.texel[axis] * self.ratio(level, axis);
            let scaled = if scaled.is_finite() {
                scaled.clamp(-1e9, 1e9)
            } else {
                self.not_finite(scaled)
            };
            clamped(descriptor.wrap[axis], scaled, size)
        });
        let layer = if descriptor.cube {
            place.face
        } else {
            match wrapped(descriptor.wrap[2], at[2].floor() as i64, level.size[2]) {
                Some(slice) => slice,
                // A volume has a border before and behind it, too.
                None => return descriptor.border,
            }
        };
        if nearest {
            return self.texel(level, at[0].floor() as i64, at[1].floor() as i64, layer);
        }
        let (x, y) = (at[0] - 0.5, at[1] - 0.5);
        let (left, top) = (x.floor(), y.floor());
        let joins = self.joins();
        let texel = |dx: i64, dy: i64| {
            let [x, y] = [left as i64 + dx, top as i64 + dy];
            match joins {
                true => self.joined(level, [x, y], layer),
                false => self.texel(level, x, y, layer),
            }
        };
        let (along, down) = (
            self.texel_weight(x - left, 0, place),
            self.texel_weight(y - top, 1, place),
        );
        let upper = mix(texel(0, 0), texel(1, 0), along);
        let lower = mix(texel(0, 1), texel(1, 1), along);
        mix(upper, lower, down)
    }

    /// A texel of a cube's face, or of the one beside it where it is outside, whatever the wrap mode.
    fn joined(&self, level: &Level<'_>, at: [i64; 2], face: u32) -> [f32; 4] {
        let [width, height, _] = level.size;
        let inside = |at: i64, size: u32| (0..i64::from(size)).contains(&at);
        let (face, [x, y]) = match inside(at[0], width) && inside(at[1], height) {
            true => (face, at.map(|at| at as u32)),
            false => beside([width, height], at, face),
        };
        self.fetch(level, x, y, face)
    }

    fn texel(&self, level: &Level<'_>, x: i64, y: i64, layer: u32) -> [f32; 4] {
        let [s, t, _] = self.descriptor.wrap;
        match (wrapped(s, x, level.size[0]), wrapped(t, y, level.size[1])) {
            (Some(x), Some(y)) => self.fetch(level, x, y, layer),
            _ => self.descriptor.border,
        }
    }

    /// Bytes of a level that can be sampled, as far as there is memory.
    pub fn level_bytes(&self, number: usize) -> Option<&[u8]> {
        self.levels.get(number).map(Level::data)
    }

    /// A texel of a level; what lies outside memory is black.
    fn fetch(&self, level: &Level<'_>, x: u32, y: u32, layer: u32) -> [f32; 4] {
        if layer < self.descriptor.faces()
            && let Some(texels) = self.texels_from(level.number)
            && let Some(colors) = self.chain.level(level.number, texels)
        {
            let ([width, height], first) = (level.stored(self.border), usize::from(self.border));
            let row = layer as usize * height + y as usize + first;
            let at = row * width + x as usize + first;
            let parts = |color: &u32| {
                let channels = color.to_le_bytes();
                [0, 1, 2, 3].map(|at: usize| f32::from(channels[at]) / f32::from(self.ones[at]))
            };
            return colors.get(at).map_or(BLACK, parts);
        }
        self.decode(level, x, y, layer).unwrap_or(BLACK)
    }
}

/// What is where there is nothing.
const BLACK: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// A place to sample.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    face: u32,
    /// In texels of level 0.
    texel: [f32; 3],
}

fn mix(a: [f32; 4], b: [f32; 4], weight: f32) -> [f32; 4] {
    std::array::from_fn(|channel| a[channel] + (b[channel] - a[channel]) * weight)
}

fn level<'a>(memory: &'a Memory, descriptor: &Descriptor, format: &Format, number: usize) -> Result<Level<'a>> {
    let size = descriptor.size.map(|size| (size >> number).max(1));
    let [width, height, depth] = size;
    let layer = match descriptor.layout {
        Layout::Linear { stride } => stride * height,
        Layout::Tiled => {
            let tiles = width.div_ceil(16) * height.div_ceil(16);
            tiles * format.bytes * if format.code == texel::ETC1 { 16 } else { 256 }
        }
    };
    let layers = if descriptor.cube { 6 } else { depth };
    let address = descriptor.levels[number];
    let length = u32::try_from(u64::from(layer) * u64::from(layers)).unwrap_or(u32::MAX);
    let there = memory.length_up_to(address, length);
    if there == 0 && length > 0 {
        let what = format!("level {number} of a {} texture is in no buffer object", format.name);
        return Err(Fault::new(FaultKind::Unmapped, what).at(address));
    }
    Ok(Level {
        number,
        memory,
        address,
        length: there,
        borrowed: memory.borrow(address, there),
        copied: OnceLock::new(),
        size,
        layer,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::silicon::Switch;
    use utgard::texture::TexelFormat;

    #[test]
    fn wraps() {
        let all = |code: usize| -> Vec<Option<u32>> { (-5..9).map(|at| wrapped(Wrap::ALL[code], at, 4)).collect() };
        let numbers = |text: &str| -> Vec<Option<u32>> { text.chars().map(|c| c.to_digit(10)).collect() };
        assert_eq!(all(0), numbers("30123012301230"));
        assert_eq!(all(1), numbers("00000012333333"));
        assert_eq!(all(3), numbers("-----0123-----"));
        assert_eq!(all(4), numbers("33210012332100"));
        assert_eq!(all(5), numbers("33210012333333"));
        assert_eq!(all(7), numbers("-32100123-----"));
    }

    #[test]
    fn a_recorded_descriptor_reads_as_the_facts_say() {
        let mut words = [0x96, 0x0600_0400, 0x1000_0600, 0x0001_0200, 0, 0, 0x6000, 0xc0fd_ef30];
        let d = Descriptor::parse(&words);
        assert_eq!((d.format, d.swap), (TexelFormat::Rgba8888, true));
        assert_eq!((d.size, d.dimension), ([64, 64, 1], Dimension::Two));
        assert_eq!(
            (d.lod, d.mip_linear, d.layout, d.level_count()),
            ([0.0, 6.0], true, Layout::Tiled, 7)
        );
        assert!(d.unknown.is_empty());
        words[0] |= 1 << 31;
        assert_eq!(Descriptor::parse(&words).unknown, [(0, 1 << 31)]);
    }

    /// Where a texture that goes the short way is blended from, and how: the long way says the same, but for rounding.
    #[test]
    fn the_short_way_is_the_long_way() {
        let mut random = fastrand::Rng::with_seed(9);
        let mut memory = Memory::default();
        memory.map(0x10000, 0x20000).unwrap();
        let bytes: Vec<u8> = (0..0x20000).map(|_| random.u8(..)).collect();
        memory.write(0x10000, &bytes).unwrap();
        let mut borders = 0;
        for _ in 0..200 {
            let side = [1, 2, 5, 16, 33][random.usize(..5)];
            let mut descriptor = Descriptor::parse(&[]);
            (descriptor.format, descriptor.layout) = (TexelFormat::Rgba8888, Layout::Tiled);
            (descriptor.cube, descriptor.dimension) = (random.bool(), Dimension::Two);
            (descriptor.size, descriptor.lod) = ([side, side, 1], [0.0, 4.0]);
            (descriptor.nearest, descriptor.mip_linear) = ([random.u32(..4) == 0; 2], random.bool());
            descriptor.nearest[1] ^= !descriptor.cube && random.u32(..4) == 0;
            descriptor.wrap = [[Wrap::Repeat, Wrap::Clamp, Wrap::Mirror, Wrap::MirrorOnceClamp][random.usize(..4)]; 3];
            descriptor.levels = std::array::from_fn(|level| 0x10000 + 0x1000 * level as u32);
            let texture = || Texture::new(&memory, descriptor.clone()).unwrap();
            let (short, mut long, mut apart) = (texture(), texture(), texture());
            assert!(short.short_levels(false).is_some() || short.plain(false).is_some());
            long.simple = false;
            apart.simple = false;
            apart.silicon = Silicon::from_switches(&[Switch::CubeFacesApart]);
            for _ in 0..50 {
                let mut part = || [random.f32() * 2.0 - 1.0, 1.0, -0.999, 0.0][random.usize(..4)];
                let quad = [(); 4].map(|()| [part(), part(), part(), 0.0]);
                let lods = [Lod::Level(random.f32() * 5.0 - 1.0); 4];
                let [short, long, apart] = [&short, &long, &apart].map(|texture| texture.sample(&quad, &lods, false));
                let far = |a: &[[f32; 4]; 4], b: &[[f32; 4]; 4]| {
                    let pairs = a.as_flattened().iter().zip(b.as_flattened());
                    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) > 1e-5
                };
                assert!(!far(&short, &long), "{descriptor:?}, {quad:?}: {short:?}, {long:?}");
                borders += usize::from(far(&short, &apart));
            }
        }
        // Negative control: what the faces beside have to do with it is seen.
        assert!(borders > 500, "{borders}");
    }
}
