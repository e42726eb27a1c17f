//! Texels of levels as words: decoded row by row, or found where an earlier job left them.

use super::cache::{Decoded, Key};
use super::faces::beside;
use super::{Layout, Level, Texture, texel};
use crate::memory::Seen;
use crate::thread_pool::ThreadPool;
use std::ops::Range;
use std::sync::Arc;
use texel::Format;
use utgard::texture::TexelFormat;

impl Texture<'_> {
    /// The first layer, or all faces with the borders that they have, of the levels from `first` on, whose channels are whole
    /// numbers of a byte at most, in rows: from an earlier job, where their bytes are still the same. Smaller ones may be there.
    /// Threads that are nowhere else help.
    pub(super) fn decoded(
        &self,
        first: usize,
        have: Option<(usize, &[u32])>,
        pool: Option<&ThreadPool>,
    ) -> Option<Arc<Vec<u32>>> {
        let format = self.format.filter(|_| self.has_words)?;
        let levels = self.levels.get(first..self.chain.len())?;
        let faces = self.descriptor.faces();
        // An unchecked size is at most what the level's memory has room for.
        let fits = |level: &Level<'_>| {
            let [width, height, _] = level.size;
            u64::from(width) * u64::from(height) * u64::from(faces) <= u64::from(level.length) * 2
        };
        let largest = levels.first().filter(|_| levels.iter().all(fits))?;
        let all_colors = |room| {
            let (there, texels) = have.unwrap_or((self.chain.len(), &[]));
            Arc::new(self.colors(&levels[..there - first], texels, room, &format, pool))
        };
        let Some(cache) = self.cache else {
            return Some(all_colors(Vec::new()));
        };
        let key = Key {
            address: largest.address,
            length: largest.length,
            format: format.code,
            swap: self.descriptor.swap,
            layout: self.descriptor.layout,
            size: [largest.size[0], largest.size[1]],
            faces,
            border: self.border,
            levels: levels.len(),
        };
        let same = |decoded: &Arc<Decoded>| {
            let pairs = levels.iter().zip(&decoded.bytes);
            decoded.bytes.len() == levels.len()
                && pairs.into_iter().all(|(level, seen)| {
                    level.address == seen.address()
                        && level.length as usize == seen.len()
                        && seen.is_still(level.memory, pool)
                })
        };
        if let Some(decoded) = cache.get(&key).filter(same) {
            return Some(decoded.colors.clone());
        }
        // Where textures are written again and again, what was made of them before is room for what is made now.
        let (mut rooms, room) = cache.take(&key).map(Decoded::into_room).unwrap_or_default();
        rooms.resize_with(levels.len(), Vec::new);
        // What others may write meanwhile is looked at once.
        let bytes: Vec<Seen> = levels
            .iter()
            .zip(rooms)
            .map(|(level, room)| Seen::new(level.memory, level.address, level.copy(room, pool)))
            .collect();
        let colors = all_colors(room);
        let decoded = Decoded {
            bytes,
            colors: colors.clone(),
        };
        cache.put(key, decoded);
        Some(colors)
    }

    /// Texels of levels, the largest first, behind those of the smaller ones that are there, in some room.
    fn colors(
        &self,
        levels: &[Level<'_>],
        smaller: &[u32],
        room: Vec<u32>,
        format: &Format,
        pool: Option<&ThreadPool>,
    ) -> Vec<u32> {
        let faces = self.descriptor.faces() as usize;
        let area = |level: &Level<'_>| level.stored(self.border).into_iter().product::<usize>();
        let count: usize = levels.iter().map(|level| faces * area(level)).sum();
        let mut colors = match room.capacity() {
            // Where it comes from the system it is zero already.
            0 => vec![0; smaller.len() + count],
            _ => room,
        };
        colors.resize(smaller.len() + count, 0);
        let (before, mut behind) = colors.split_at_mut(smaller.len());
        before.copy_from_slice(smaller);
        let mut bands = Vec::new();
        for level in levels.iter().rev() {
            for layer in 0..self.descriptor.faces() {
                let (texels, rest) = std::mem::take(&mut behind).split_at_mut(area(level));
                behind = rest;
                let [width, _] = level.stored(self.border);
                let rows = (BAND / width).next_multiple_of(16).max(16);
                let texels = texels.chunks_mut(rows * width).enumerate();
                bands.extend(texels.map(|(number, texels)| Band {
                    layer: (level, layer),
                    first: number * rows,
                    texels,
                }));
            }
        }
        let decode = |band| self.band_colors(band, format);
        match pool.filter(|_| bands.len() > 1) {
            Some(pool) => pool.each(bands.into_iter(), decode),
            None => bands.into_iter().for_each(decode),
        }
        let mut rest = &mut colors[smaller.len()..];
        for level in levels.iter().rev().filter(|_| self.border) {
            let (texels, behind) = rest.split_at_mut(faces * area(level));
            rest = behind;
            add_borders(texels, level.size[0]);
        }
        colors
    }

    /// What is outside memory, as a word.
    fn black(&self) -> u32 {
        u32::from_le_bytes([0, 0, 0, self.ones[3]])
    }

    /// The texels of a band; those of the border are still black.
    fn band_colors(&self, band: Band<'_>, format: &Format) {
        let Band { layer, first, texels } = band;
        let ([stride, _], border) = (layer.0.stored(self.border), usize::from(self.border));
        texels.fill(self.black());
        // The level's own rows begin behind the border's, and texels behind its own in each.
        let end = (first + texels.len() / stride).min(border + layer.0.size[1] as usize);
        let rows = first.max(border)..end;
        let start = (rows.start - first) * stride + border;
        let rows = rows.start - border..rows.end.saturating_sub(border);
        self.layer_colors(
            texels.get_mut(start..).unwrap_or_default(),
            (stride, rows),
            layer,
            format,
        );
    }

    /// The texels of rows of a layer of a level over black ones, rows a stride apart.
    fn layer_colors(
        &self,
        colors: &mut [u32],
        (stride, which): (usize, Range<usize>),
        (level, layer): (&Level<'_>, u32),
        format: &Format,
    ) {
        let black = self.black();
        let bytes = |color: [f32; 4]| color.map(|channel| (channel * 255.0).round() as u8);
        let width = level.size[0];
        let start = level.layer as usize * layer as usize;
        let (data, swap) = (level.data().get(start..).unwrap_or_default(), self.descriptor.swap);
        let rows = Rows {
            layout: self.descriptor.layout,
            data,
            width: width as usize,
            which: which.clone(),
            stride,
            black,
        };
        // A loop of its own for every format.
        macro_rules! by_format {
            ($($bytes:literal: $($name:ident)*;)*) => {
                match format.code {
                    $($(TexelFormat::$name => rows.all::<$bytes>(colors, |bytes| {
                        texel::decode_whole(TexelFormat::$name, swap, &bytes)
                            .map_or(black, |whole| u32::from_le_bytes(whole.channels))
                    }),)*)*
                    _ => {
                        for (y, row) in which.zip(colors.chunks_mut(stride)) {
                            for (x, to) in (0..width).zip(row) {
                                let color = self.decode(level, x, y as u32, layer);
                                *to = color.map_or(black, |color| u32::from_le_bytes(bytes(color)));
                            }
                        }
                    }
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

    /// One texel, where there is memory.
    pub(super) fn decode(&self, level: &Level<'_>, x: u32, y: u32, layer: u32) -> Option<[f32; 4]> {
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

/// Puts around each face of a cube, of `side` texels a side, those of the faces beside it.
fn add_borders(texels: &mut [u32], side: u32) {
    let (stride, end) = (side as usize + 2, i64::from(side));
    let last = end - 1;
    let number = |face: u32, [x, y]: [i64; 2]| {
        let row = face as usize * stride + (y + 1) as usize;
        row * stride + (x + 1) as usize
    };
    for face in 0..6 {
        let source = |at| {
            let (face, texel) = beside([side; 2], at, face);
            number(face, texel.map(i64::from))
        };
        for corner in [[-1, -1], [end, -1], [-1, end], [end, end]] {
            texels[number(face, corner)] = texels[source(corner)];
        }
        for [first, last] in [
            [[0, -1], [last, -1]],
            [[0, end], [last, end]],
            [[-1, 0], [-1, last]],
            [[end, 0], [end, last]],
        ] {
            // Those of an edge follow one another on the face beside it, too, one way or the other.
            let edge = |[first, last]: [usize; 2]| {
                let step = (last as isize - first as isize) / (side as isize - 1).max(1);
                (0..side as isize).map(move |at| first.wrapping_add_signed(at * step))
            };
            let border = edge([number(face, first), number(face, last)]);
            for (to, from) in border.zip(edge([source(first), source(last)])) {
                texels[to] = texels[from];
            }
        }
    }
}

/// Texels that a thread decodes at a time, about.
const BAND: usize = 1 << 13;

/// Rows of a layer of a level that are decoded together, the `first` and those behind it, with the border that it has.
struct Band<'a> {
    layer: (&'a Level<'a>, u32),
    first: usize,
    texels: &'a mut [u32],
}

/// Texels to be decoded row by row.
struct Rows<'a> {
    layout: Layout,
    data: &'a [u8],
    width: usize,
    /// The rows.
    which: Range<usize>,
    /// Texels from row to row where they go.
    stride: usize,
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
    fn all<const N: usize>(&self, colors: &mut [u32], decode: impl Fn([u8; N]) -> u32) {
        let width = self.width;
        let texels = self.data.as_chunks::<N>().0;
        for (y, row) in self.which.clone().zip(colors.chunks_mut(self.stride)) {
            let row = &mut row[..width];
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
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use crate::texture::{BLACK, Descriptor, TextureCache};
    use utgard::texture::Dimension;

    /// Levels decoded row by row are what their texels are one by one, also where memory ends before they do, and the borders
    /// of a cube's faces are texels of the others; and what is kept of them is as good as new, until their bytes change.
    #[test]
    fn whole_levels_are_their_texels() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut bordered = 0;
        let formats = (0..64).filter_map(|code| texel::by_code(utgard::field::Code::from_code(code)));
        for format in formats {
            let sizes = [
                ([37, 21, 1], false),
                ([16, 16, 1], false),
                ([19, 7, 1], true),
                ([5, 5, 1], true),
            ];
            for (size, linear) in sizes {
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
                    (descriptor.cube, descriptor.dimension) = (random.bool(), Dimension::Two);
                    descriptor.nearest = [random.bool(); 2];
                    let cache = TextureCache::default();
                    for round in 0..3 {
                        let texture = || Texture::new(&memory, descriptor.clone()).unwrap().with_cache(&cache);
                        let (texture, another) = (texture(), texture());
                        let level = &texture.levels[0];
                        let Some(colors) = texture.texels_from(0) else { continue };
                        let faces = descriptor.faces();
                        let border = i64::from(texture.border);
                        let [width, height] = [size[0], size[1]].map(i64::from);
                        let rows = (0..faces).flat_map(|face| (-border..height + border).map(move |y| (face, y)));
                        let places = rows.flat_map(|(face, y)| (-border..width + border).map(move |x| (x, y, face)));
                        assert_eq!(
                            colors.len() as u32,
                            faces * ((width + 2 * border) * (height + 2 * border)) as u32
                        );
                        bordered += usize::from(texture.border);
                        for ((x, y, face), color) in places.zip(colors) {
                            let inside = (0..width).contains(&x) && (0..height).contains(&y);
                            let (face, [x, y]) = match inside {
                                true => (face, [x as u32, y as u32]),
                                false => beside([size[0], size[1]], [x, y], face),
                            };
                            let channels = color.to_le_bytes();
                            let have = [0, 1, 2, 3].map(|at| f32::from(channels[at]) / f32::from(texture.ones[at]));
                            let want = texture.decode(level, x, y, face).unwrap_or(BLACK);
                            assert_eq!(have, want, "{} {layout:?} {x} {y}, {round}", format.name);
                        }
                        assert!(std::ptr::eq(another.texels_from(0).unwrap(), colors), "it is kept");
                        drop((texture, another));
                        memory.write(0x10000 + random.u32(..64), &[random.u8(..)]).unwrap();
                    }
                }
            }
        }
        assert!(bordered > 10);
    }

    /// Whatever level is requested first, each one's words are its texels; larger levels are decoded only on request,
    /// and all of them are kept for the next job.
    #[test]
    fn levels_come_as_they_are_wanted() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut memory = Memory::default();
        memory.map(0x10000, 0x10000).unwrap();
        let bytes: Vec<u8> = (0..0x10000).map(|_| random.u8(..)).collect();
        memory.write(0x10000, &bytes).unwrap();
        let mut descriptor = Descriptor::parse(&[]);
        (descriptor.format, descriptor.size) = (TexelFormat::Rgba8888, [40, 24, 1]);
        (descriptor.layout, descriptor.lod) = (Layout::Tiled, [0.0, 5.0]);
        for (number, address) in descriptor.levels.iter_mut().enumerate() {
            *address = 0x10000 + 0x2000 * (number as u32 % 6);
        }
        let cache = TextureCache::default();
        for round in 0..20 {
            let texture = Texture::new(&memory, descriptor.clone()).unwrap().with_cache(&cache);
            assert!(texture.texels_ready().is_none());
            let mut largest = 6;
            for _ in 0..4 {
                let number = random.usize(..6);
                largest = largest.min(number);
                let texels = texture.texels_from(number).unwrap();
                assert_eq!(texture.texels_ready().map(|(number, _)| number), Some(largest));
                for number in largest..6 {
                    let level = &texture.levels[number];
                    let [width, height, _] = level.size;
                    let have = texture.chain.level(number, texels).unwrap();
                    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
                    let want: Vec<[f32; 4]> = places.map(|(x, y)| texture.decode(level, x, y, 0).unwrap()).collect();
                    let parts = |word: &u32| word.to_le_bytes().map(|channel| f32::from(channel) / 255.0);
                    assert_eq!(have.iter().map(parts).collect::<Vec<_>>(), want, "{round}, {number}");
                }
            }
            drop(texture);
            memory.write(0x10000 + random.u32(..0xc000), &[random.u8(..)]).unwrap();
        }
    }

    /// Many threads make the same texels as one, of every format, with borders and without, also where memory ends before they
    /// do; without a request they decode only the wanted ones.
    #[test]
    fn threads_decode_the_same_together() {
        let mut random = fastrand::Rng::with_seed(7);
        let pool = ThreadPool::new(3).unwrap();
        let mut memory = Memory::default();
        // Of the last rows there is nothing.
        memory.map(0x10_0000, 0x24_0000).unwrap();
        let bytes: Vec<u8> = (0..0x24_0000).map(|_| random.u8(..)).collect();
        memory.write(0x10_0000, &bytes).unwrap();
        let (mut prepared, mut bordered) = (0, 0);
        let formats = (0..64).filter_map(|code| texel::by_code(utgard::field::Code::from_code(code)));
        for format in formats {
            for (size, levels, cube) in [([300, 290], 1, false), ([517, 129], 4, false), ([150, 150], 1, true)] {
                let mut descriptor = Descriptor::parse(&[]);
                (descriptor.format, descriptor.size, descriptor.cube) = (format.code, [size[0], size[1], 1], cube);
                (descriptor.layout, descriptor.dimension) = (Layout::Tiled, Dimension::Two);
                (descriptor.lod, descriptor.nearest) = ([0.0, levels as f32 - 1.0], [false; 2]);
                if random.bool() {
                    descriptor.layout = Layout::Linear { stride: 4 * 528 };
                }
                for (number, address) in descriptor.levels.iter_mut().enumerate() {
                    *address = 0x24_0000 + 0x4_0000 * (number as u32 % 4);
                }
                let cache = TextureCache::default();
                let new = || Texture::new(&memory, descriptor.clone()).unwrap();
                let [alone, together, few] = [new(), new().with_cache(&cache), new()];
                together.prepare(u64::MAX, &pool);
                // What may not be wanted is decoded on demand.
                few.prepare(1, &pool);
                assert_eq!(
                    few.texels_ready().is_some(),
                    together.texels_ready().is_some() && few.chain.len() == 1
                );
                let Some((largest, texels)) = together.texels_ready() else {
                    continue;
                };
                (prepared, bordered) = (prepared + 1, bordered + usize::from(together.border));
                assert!(
                    largest == 0 && texels == alone.texels_from(0).unwrap(),
                    "{} {size:?} {:?}",
                    format.name,
                    descriptor.layout
                );
                let again = new().with_cache(&cache);
                again.prepare(u64::MAX, &pool);
                assert!(std::ptr::eq(again.texels_ready().unwrap().1, texels), "it is kept");
            }
        }
        assert!(prepared > 20 && bordered > 5, "{prepared} {bordered}");
    }
}
