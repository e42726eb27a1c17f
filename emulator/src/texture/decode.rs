//! Texels of levels as words: decoded row by row, or found where an earlier job left them.

use super::faces::beside;
use super::kept::{Decoded, Key};
use super::{Layout, Level, Texture, texel};
use crate::memory::Seen;
use std::sync::Arc;
use texel::Format;
use utgard::texture::TexelFormat;

impl Texture<'_> {
    /// The first layer, or all faces with the borders that they have, of the levels from `first` on, whose channels are whole
    /// numbers of a byte at most, in rows: from an earlier job, where their bytes are still the same. Smaller ones may be there.
    pub(super) fn decoded(&self, first: usize, have: Option<(usize, &[u32])>) -> Option<Arc<Vec<u32>>> {
        let format = self.format.filter(|_| self.has_words)?;
        let levels = self.levels.get(first..self.chain.len())?;
        let faces = self.descriptor.faces();
        // A size nobody checked is at most what the level's memory has room for.
        let fits = |level: &Level<'_>| {
            let [width, height, _] = level.size;
            u64::from(width) * u64::from(height) * u64::from(faces) <= u64::from(level.length) * 2
        };
        let largest = levels.first().filter(|_| levels.iter().all(fits))?;
        let all_colors = || {
            let (there, texels) = have.unwrap_or((self.chain.len(), &[]));
            let mut colors = Vec::with_capacity(self.chain.count(first));
            colors.extend_from_slice(texels);
            for level in levels.iter().take(there - first).rev() {
                self.add_colors(&mut colors, level, &format);
            }
            Arc::new(colors)
        };
        let Some(kept) = self.kept else {
            return Some(all_colors());
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
                        && seen.is_still(level.memory)
                })
        };
        if let Some(decoded) = kept.get(&key).filter(same) {
            return Some(decoded.colors.clone());
        }
        let colors = all_colors();
        let bytes = levels
            .iter()
            .map(|level| Seen::new(level.memory, level.address, level.data().to_vec()));
        let decoded = Decoded {
            bytes: bytes.collect(),
            colors: colors.clone(),
        };
        kept.put(key, decoded);
        Some(colors)
    }

    /// Adds the texels of a level: the first layer, or all faces.
    fn add_colors(&self, colors: &mut Vec<u32>, level: &Level<'_>, format: &Format) {
        let [width, height] = level.stored(self.border);
        let (start, area) = (colors.len(), width * height);
        colors.resize(start + area * self.descriptor.faces() as usize, self.black());
        // Behind a row and a texel of the border.
        let inside = if self.border { width + 1 } else { 0 };
        for (layer, texels) in (0..).zip(colors[start..].chunks_exact_mut(area)) {
            self.layer_colors(&mut texels[inside..], width, (level, layer), format);
        }
        if self.border {
            add_borders(&mut colors[start..], level.size[0]);
        }
    }

    /// What is outside memory, as a word.
    fn black(&self) -> u32 {
        u32::from_le_bytes([0, 0, 0, self.ones[3]])
    }

    /// The texels of a layer of a level over black ones, each row so many behind the one before.
    fn layer_colors(&self, colors: &mut [u32], stride: usize, (level, layer): (&Level<'_>, u32), format: &Format) {
        let black = self.black();
        let bytes = |color: [f32; 4]| color.map(|channel| (channel * 255.0).round() as u8);
        let [width, height, _] = level.size;
        let start = level.layer as usize * layer as usize;
        let (data, swap) = (level.data().get(start..).unwrap_or_default(), self.descriptor.swap);
        let rows = Rows {
            layout: self.descriptor.layout,
            data,
            size: [width, height],
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
                        for (y, row) in (0..height).zip(colors.chunks_mut(stride)) {
                            for (x, to) in (0..width).zip(row) {
                                *to = self.decode(level, x, y, layer).map_or(black, |color| u32::from_le_bytes(bytes(color)));
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

/// Puts around each face of a cube, of so many texels a side, those of the faces beside it.
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

/// Texels to be decoded row by row.
struct Rows<'a> {
    layout: Layout,
    data: &'a [u8],
    /// Width and height.
    size: [u32; 2],
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
        let [width, height] = self.size.map(|size| size as usize);
        let texels = self.data.as_chunks::<N>().0;
        for (y, row) in colors.chunks_mut(self.stride).take(height).enumerate() {
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
    use crate::texture::{BLACK, Descriptor, Kept};
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
                    let kept = Kept::default();
                    for round in 0..3 {
                        let texture = || Texture::new(&memory, descriptor.clone()).unwrap().with_kept(&kept);
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

    /// Whatever level is asked for first, each one's words are its texels; larger levels are there only if they were asked
    /// for, and all of them are kept for the next job.
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
        let kept = Kept::default();
        for round in 0..20 {
            let texture = Texture::new(&memory, descriptor.clone()).unwrap().with_kept(&kept);
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
}
