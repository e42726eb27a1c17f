//! Texture descriptors and sampling (docs/spec/mali/textures.md).

mod descriptor;
pub(crate) mod filter;
mod kept;
pub(crate) mod levels;
mod picture;
pub mod texel;

use crate::fault::{Fault, FaultKind, Result};
use crate::memory::Memory;
pub use descriptor::{Descriptor, Layout};
use filter::Plain;
pub use kept::Kept;
use kept::{Decoded, Key};
use levels::{Faces, Levels, Rule, half_log};
use num::lanes::One;
pub use picture::LevelPlace;
use std::sync::{Arc, OnceLock};
use texel::Format;
use utgard::texture::{Dimension, TexelFormat, Wrap};

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
    memory: &'a Memory,
    address: u32,
    /// Bytes from the address on, as far as there is memory and the level goes.
    length: u32,
    /// Those bytes, where they can be borrowed.
    borrowed: Option<&'a [u8]>,
    /// Those bytes of shared memory, copied when first needed.
    copied: OnceLock<Vec<u8>>,
    /// Width, height, depth in texels.
    size: [u32; 3],
    /// Bytes of a face or slice.
    layer: u32,
    /// The level as red, green, blue, alpha of a byte each, row by row and face by face, made when first needed.
    colors: OnceLock<Option<Arc<Vec<u32>>>>,
}

impl Level<'_> {
    fn data(&self) -> &[u8] {
        let copy = || self.memory.bytes_up_to(self.address, self.length).into_owned();
        match self.borrowed {
            Some(bytes) => bytes,
            None => self.copied.get_or_init(copy),
        }
    }
}

/// A texture that can be sampled.
#[derive(Debug)]
pub struct Texture<'a> {
    /// What the descriptor says.
    pub descriptor: Descriptor,
    format: Option<Format>,
    levels: Vec<Level<'a>>,
    /// Two-dimensional or a cube, with one filter, repeated or clamped.
    simple: bool,
    /// One level is sampled.
    one_level: bool,
    /// The numbers that 1.0 is in [`Level::colors`], of each channel.
    ones: [u8; 4],
    /// Levels from earlier jobs.
    kept: Option<&'a Kept>,
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
        Ok(Self {
            simple: Plain::fits(&descriptor),
            descriptor,
            format,
            levels,
            one_level,
            ones: whole.map_or([255; 4], |whole| whole.ones),
            kept: None,
        })
    }

    /// Where levels that can be sampled begin in memory.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = u32> {
        self.levels.iter().map(|level| level.address)
    }

    /// With levels that earlier jobs decoded, as far as they are still what is in memory.
    #[must_use]
    pub fn with_kept(mut self, kept: &'a Kept) -> Self {
        self.kept = Some(kept);
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
                    (_, false) => self.sample_far(coordinates[lane]),
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
            let [s, t, r, _] = coordinates[lane];
            let found = short.as_ref().and_then(|levels| match self.descriptor.cube {
                true => levels.sample_cube::<One>(&Faces::of([s, t, r]), level),
                false => levels.sample::<One>(s, t, level),
            });
            match found {
                Some((color, true)) => color,
                _ => self.sample_at(&places[lane], level),
            }
        })
    }

    /// The short way to sample one of several levels, or a cube, where there is one.
    pub(crate) fn short_levels(&self, cube: bool) -> Option<Levels<'_>> {
        let fits = self.descriptor.cube || !self.one_level && !cube;
        (self.simple && fits).then(|| Levels::new(self))?
    }

    /// The short way for one of the levels, and its size in texels of the largest.
    fn plain_level(&self, number: usize) -> Option<(Plain<'_>, [f32; 2])> {
        let level = self.levels.get(number)?;
        let colors = level.colors.get_or_init(|| self.colors(level)).as_ref()?;
        let [width, height, _] = level.size;
        let plain = Plain::new(&self.descriptor, [width, height], self.ones, colors)?;
        Some((plain, [0, 1].map(|axis| self.ratio(level, axis))))
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
        if !self.simple || !self.one_level || cube || self.descriptor.cube {
            return None;
        }
        let colors = self.levels[0].colors.get_or_init(|| self.colors(&self.levels[0]));
        let [width, height, _] = self.descriptor.size;
        Plain::new(&self.descriptor, [width, height], self.ones, colors.as_ref()?)
    }

    /// The colour where the short way does not reach.
    pub(crate) fn sample_far(&self, coordinates: [f32; 4]) -> [f32; 4] {
        self.sample_at(&self.place(coordinates, false), 0.0)
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
        let [width, height] = self.scale();
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

    /// Texels of a coordinate's unit.
    fn scale(&self) -> [f32; 2] {
        let [width, height, _] = self.descriptor.size.map(|size| size as f32);
        if self.descriptor.unnormalised {
            [1.0; 2]
        } else {
            [width, height]
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
                0.0
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
        let texel = |dx: i64, dy: i64| self.texel(level, left as i64 + dx, top as i64 + dy, layer);
        let upper = mix(texel(0, 0), texel(1, 0), x - left);
        let lower = mix(texel(0, 1), texel(1, 1), x - left);
        mix(upper, lower, y - top)
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
            && let Some(colors) = level.colors.get_or_init(|| self.colors(level))
        {
            let row = layer as usize * level.size[1] as usize + y as usize;
            let at = row * level.size[0] as usize + x as usize;
            let parts = |color: &u32| {
                let channels = color.to_le_bytes();
                [0, 1, 2, 3].map(|at: usize| f32::from(channels[at]) / f32::from(self.ones[at]))
            };
            return colors.get(at).map_or(BLACK, parts);
        }
        self.decode(level, x, y, layer).unwrap_or(BLACK)
    }

    /// The first layer, or all faces, of a level whose channels are whole numbers of a byte at most, in rows: from an earlier
    /// job, where its bytes are still the same.
    fn colors(&self, level: &Level<'_>) -> Option<Arc<Vec<u32>>> {
        let format = self.format?;
        let compressed = format.code == texel::ETC1;
        if !compressed {
            texel::decode_whole(format.code, false, &[0; 4])?;
        }
        // A size nobody checked is at most what the level's memory has room for.
        let [width, height, _] = level.size;
        let faces = self.descriptor.faces();
        if u64::from(width) * u64::from(height) * u64::from(faces) > u64::from(level.length) * 2 {
            return None;
        }
        let all_colors = || {
            (0..faces)
                .flat_map(|face| self.all_colors(level, &format, face))
                .collect()
        };
        let Some(kept) = self.kept else {
            return Some(Arc::new(all_colors()));
        };
        let key = Key {
            address: level.address,
            length: level.length,
            format: format.code,
            swap: self.descriptor.swap,
            layout: self.descriptor.layout,
            size: [width, height],
            faces,
        };
        let same = |decoded: &Arc<Decoded>| level.memory.equals(level.address, &decoded.bytes);
        if let Some(decoded) = kept.get(&key).filter(same) {
            return Some(decoded.colors.clone());
        }
        let colors = Arc::new(all_colors());
        let decoded = Decoded {
            bytes: level.data().to_vec(),
            colors: colors.clone(),
        };
        kept.put(key, decoded);
        Some(colors)
    }

    /// The texels of a layer of a level.
    fn all_colors(&self, level: &Level<'_>, format: &Format, layer: u32) -> Vec<u32> {
        let bytes = |color: [f32; 4]| color.map(|channel| (channel * 255.0).round() as u8);
        let [width, height, _] = level.size;
        let start = level.layer as usize * layer as usize;
        let (data, swap) = (level.data().get(start..).unwrap_or_default(), self.descriptor.swap);
        let black = u32::from_le_bytes([0, 0, 0, self.ones[3]]);
        let rows = Rows {
            layout: self.descriptor.layout,
            data,
            size: [width, height],
            black,
        };
        // A loop of its own for every format.
        macro_rules! by_format {
            ($($bytes:literal: $($name:ident)*;)*) => {
                match format.code {
                    $($(TexelFormat::$name => rows.all::<$bytes>(|bytes| {
                        texel::decode_whole(TexelFormat::$name, swap, &bytes)
                            .map_or(black, |whole| u32::from_le_bytes(whole.channels))
                    }),)*)*
                    _ => (0..height)
                        .flat_map(|y| (0..width).map(move |x| (x, y)))
                        .map(|(x, y)| self.decode(level, x, y, layer).map_or(black, |color| u32::from_le_bytes(bytes(color))))
                        .collect(),
                }
            };
        }
        by_format! {
            1: L8 A8 I8;
            2: L8A8 Bgr565 Bgra5551 Bgra4444;
            3: Rgb888;
            4: Rgba8888 Rgbx8888 Z24S8;
        }
    }

    fn decode(&self, level: &Level<'_>, x: u32, y: u32, layer: u32) -> Option<[f32; 4]> {
        let format = self.format?;
        let base = u64::from(level.layer) * u64::from(layer);
        let (column, row) = if format.code == texel::ETC1 {
            (x / 4, y / 4)
        } else {
            (x, y)
        };
        let offset = base + offset(self.descriptor.layout, &format, level.size[0], column, row);
        let start = usize::try_from(offset).ok()?;
        let bytes = level.data().get(start..start.checked_add(format.bytes as usize)?)?;
        if format.code == texel::ETC1 {
            return Some(texel::decode_etc1(bytes.try_into().ok()?, x % 4, y % 4));
        }
        texel::decode(format.code, self.descriptor.swap, bytes)
    }
}

/// Texels to be decoded row by row.
struct Rows<'a> {
    layout: Layout,
    data: &'a [u8],
    /// Width and height.
    size: [u32; 2],
    /// What is outside the data.
    black: u32,
}

/// Numbers of a tile's pixels in u-order, row by row.
static IN_TILE: [[u8; 16]; 16] = {
    let mut numbers = [[0; 16]; 16];
    let mut at = 0;
    while at < 256 {
        numbers[at / 16][at % 16] = texel::u_order(at as u32 % 16, at as u32 / 16) as u8;
        at += 1;
    }
    numbers
};

impl Rows<'_> {
    /// All of them, of `N` bytes each.
    #[inline(always)]
    fn all<const N: usize>(&self, decode: impl Fn([u8; N]) -> u32) -> Vec<u32> {
        let [width, height] = self.size.map(|size| size as usize);
        let texels = self.data.as_chunks::<N>().0;
        let mut colors = vec![self.black; width * height];
        for (y, row) in colors.chunks_exact_mut(width.max(1)).enumerate() {
            match self.layout {
                Layout::Linear { stride } => {
                    let bytes = self.data.get(y * stride as usize..).unwrap_or_default();
                    for (color, texel) in row.iter_mut().zip(bytes.as_chunks::<N>().0) {
                        *color = decode(*texel);
                    }
                }
                Layout::Tiled => {
                    let tiles = texels.chunks(256).skip(y / 16 * width.div_ceil(16));
                    let order = &IN_TILE[y % 16];
                    for (row, tile) in row.chunks_mut(16).zip(tiles) {
                        match tile.first_chunk::<256>() {
                            Some(tile) => {
                                for (color, at) in row.iter_mut().zip(order) {
                                    *color = decode(tile[usize::from(*at)]);
                                }
                            }
                            None => {
                                for (color, at) in row.iter_mut().zip(order) {
                                    *color = tile.get(usize::from(*at)).map_or(self.black, |texel| decode(*texel));
                                }
                            }
                        }
                    }
                }
            }
        }
        colors
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

/// Byte of a texel (a block of a compressed format) within its layer.
fn offset(layout: Layout, format: &Format, width: u32, x: u32, y: u32) -> u64 {
    match layout {
        Layout::Linear { stride } => u64::from(y) * u64::from(stride) + u64::from(x * format.bytes),
        // Compressed: a tile is 4x4 blocks, also 16x16 texels, numbered by the low bits of the order.
        Layout::Tiled if format.code == texel::ETC1 => {
            let tile = u64::from(y / 4) * u64::from(width.div_ceil(16)) + u64::from(x / 4);
            (tile * 16 + u64::from(texel::u_order(x & 3, y & 3))) * u64::from(format.bytes)
        }
        Layout::Tiled => {
            let tile = u64::from(y / 16) * u64::from(width.div_ceil(16)) + u64::from(x / 16);
            (tile * 256 + u64::from(texel::u_order(x, y))) * u64::from(format.bytes)
        }
    }
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
        memory,
        address,
        length: there,
        borrowed: memory.borrow(address, there),
        copied: OnceLock::new(),
        size,
        layer,
        colors: OnceLock::new(),
    })
}

/// Face of a direction, as OpenGL numbers them. Where two axes are as long, y comes before x before z (\[?\]: what
/// hardware does is not known; the recorded pictures agree with y before x).
fn cube_face([x, y, z, _]: [f32; 4]) -> u32 {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    if ay >= ax && ay >= az {
        if y >= 0.0 { 2 } else { 3 }
    } else if ax >= az {
        if x >= 0.0 { 0 } else { 1 }
    } else if z >= 0.0 {
        4
    } else {
        5
    }
}

/// Where a direction meets the plane of a face; the face itself is from 0 to 1.
fn on_face([x, y, z, _]: [f32; 4], face: u32) -> [f32; 2] {
    let (s, t, major) = match face {
        0 => (-z, -y, x),
        1 => (z, -y, -x),
        2 => (x, z, y),
        3 => (x, -z, -y),
        4 => (x, -y, z),
        _ => (-x, -y, -z),
    };
    [s, t].map(|v| (v / major + 1.0) * 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
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

    /// Levels decoded row by row are what their texels are one by one, also where memory ends before they do; and what is
    /// kept of them is as good as new, until their bytes change.
    #[test]
    fn whole_levels_are_their_texels() {
        let mut random = fastrand::Rng::with_seed(3);
        let formats = (0..64).filter_map(|code| texel::by_code(utgard::field::Code::from_code(code)));
        for format in formats {
            for (size, linear) in [([37, 21, 1], false), ([16, 16, 1], false), ([19, 7, 1], true)] {
                for pages in [1, 4] {
                    let mut memory = Memory::default();
                    memory.map(0x10000, pages * 4096).unwrap();
                    let bytes: Vec<u8> = (0..pages * 4096).map(|_| random.u8(..)).collect();
                    memory.write(0x10000, &bytes).unwrap();
                    let layout = if linear {
                        Layout::Linear { stride: 80 }
                    } else {
                        Layout::Tiled
                    };
                    let mut descriptor = Descriptor::parse(&[]);
                    (descriptor.format, descriptor.size, descriptor.layout) = (format.code, size, layout);
                    (descriptor.levels[0], descriptor.swap) = (0x10000, random.bool());
                    descriptor.cube = random.bool();
                    let kept = Kept::default();
                    for round in 0..3 {
                        let texture = Texture::new(&memory, descriptor.clone()).unwrap().with_kept(&kept);
                        let level = &texture.levels[0];
                        let Some(colors) = texture.colors(level) else { continue };
                        let faces = descriptor.faces();
                        let rows = (0..faces).flat_map(|face| (0..size[1]).map(move |y| (face, y)));
                        let places = rows.flat_map(|(face, y)| (0..size[0]).map(move |x| (x, y, face)));
                        assert_eq!(colors.len() as u32, size[0] * size[1] * faces);
                        for ((x, y, face), color) in places.zip(&*colors) {
                            let channels = color.to_le_bytes();
                            let have = [0, 1, 2, 3].map(|at| f32::from(channels[at]) / f32::from(texture.ones[at]));
                            let want = texture.decode(level, x, y, face).unwrap_or(BLACK);
                            assert_eq!(have, want, "{} {layout:?} {x} {y}, {round}", format.name);
                        }
                        let again = texture.colors(level).unwrap();
                        assert!(Arc::ptr_eq(&again, &colors), "it is kept");
                        drop((colors, again));
                        memory.write(0x10000 + random.u32(..64), &[random.u8(..)]).unwrap();
                    }
                }
            }
        }
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

    #[test]
    fn faces() {
        let look = |direction| (cube_face(direction), on_face(direction, cube_face(direction)));
        assert_eq!(look([1.0, 0.0, 0.0, 0.0]), (0, [0.5, 0.5]));
        assert_eq!(look([0.0, -2.0, 1.0, 0.0]), (3, [0.5, 0.25]));
        assert_eq!(look([-2.0, 0.0, 1.0, 0.0]), (1, [0.75, 0.5]));
        assert_eq!(look([0.0, 0.0, -1.0, 0.0]), (5, [0.5, 0.5]));
        // A direction beside the face it is asked for.
        assert_eq!(on_face([1.0, 0.0, -1.5, 0.0], 0), [1.25, 0.5]);
    }
}
