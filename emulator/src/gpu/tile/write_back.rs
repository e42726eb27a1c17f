//! Tiles to memory, in every format and layout (docs/spec/mali/frame.md, section 2).

use super::buffer::{Colors, PIXELS, SIDE, Tile, in_tile, place};
use super::tiled_target::{in_memory_order, swapped, tiled};
use crate::fault::{Fault, FaultKind, Result};
use crate::gpu::binning::tile_list::ListedTile;
use crate::gpu::frame::{Frame, WriteBack};
use crate::memory::{Memory, Sink};
use crate::simd::FetchFor;
use crate::texture::texel::u_order;
use crate::thread_pool::ThreadPool;
use num::half;
use std::sync::LazyLock;
use utgard::field::Code;
use utgard::frame::{PixelFormat, TargetLayout, WriteBackSource};

/// Bytes of a pixel of a format.
///
/// # Errors
/// An unknown format.
#[inline]
pub fn format_bytes(format: PixelFormat) -> Result<u32> {
    format.bytes().ok_or_else(|| unknown_format(format))
}

#[cold]
fn unknown_format(format: PixelFormat) -> Fault {
    Fault::new(FaultKind::State, format!("pixel format {:#x}", format.code()))
}

/// A piece of bytes that go to memory.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Number of its tile: pieces are written in that order.
    tile: usize,
    address: u32,
    /// Where in the bytes it is.
    start: usize,
    length: u32,
}

impl Run {
    /// Where it is among its worker's bytes.
    fn bytes(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.length as usize
    }
}

/// Bytes that go to memory, in pieces.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// Those up to [`Runs::used`] are valid; the others are allocated for later pieces.
    bytes: Vec<u8>,
    used: usize,
    runs: Vec<Run>,
}

impl Runs {
    /// Removes all pieces, but keeps the allocation.
    pub fn clear(&mut self) {
        self.used = 0;
        self.runs.clear();
    }

    /// Writes all pieces where they go; none are left.
    pub(crate) fn hand_over(&mut self, to: &mut Sink<'_, '_>) {
        for run in &self.runs {
            to.put(run.address, &self.bytes[run.bytes()]);
        }
        self.clear();
    }

    /// A piece of `length` bytes, to be filled.
    fn piece(&mut self, tile: usize, address: u32, length: usize) -> &mut [u8] {
        let start = self.used;
        self.used += length;
        if self.bytes.len() < self.used {
            self.bytes.resize(self.used.next_power_of_two(), 0);
        }
        self.runs.push(Run {
            tile,
            address,
            start,
            length: length as u32,
        });
        &mut self.bytes[start..self.used]
    }
}

/// Writes the pieces of all workers, in the order of the tiles' numbers, with all threads.
///
/// # Errors
/// When a piece is in no buffer object.
pub fn write(workers: &[Runs], memory: &mut Memory, pool: Option<&ThreadPool>) -> Result<()> {
    let mut pieces = Vec::with_capacity(workers.iter().map(|worker| worker.runs.len()).sum());
    for worker in workers {
        pieces.extend(worker.runs.iter().map(|run| (run, &worker.bytes)));
    }
    pieces.sort_by_key(|(run, _)| run.tile);
    let pieces: Vec<(u32, &[u8])> = pieces
        .iter()
        .map(|(run, bytes)| (run.address, &bytes[run.bytes()]))
        .collect();
    memory.write_pieces(&pieces, pool)
}

/// Encodes a finished tile, the `number`th, for memory: in pieces for later, or at once where there is a target that
/// takes it.
///
/// # Errors
/// An unknown format or layout.
pub(crate) fn encode(
    frame: &Frame,
    unit: &WriteBack,
    tile: &Tile,
    number: usize,
    runs: &mut Runs,
    mut target: Option<&mut Sink<'_, '_>>,
) -> Result<()> {
    let bytes = format_bytes(unit.format)?;
    let mut plane = |sample| {
        let picture = Plane {
            frame,
            unit,
            tile,
            sample,
            bytes,
            number,
        };
        picture.encode(runs, target.as_deref_mut())
    };
    if unit.planes == 0 {
        plane(None)?;
    }
    (0..4)
        .filter(|sample| unit.planes >> sample & 1 == 1)
        .try_for_each(|sample| plane(Some(sample)))
}

/// Where a picture lies in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub address: u32,
    pub length: u32,
    /// Bytes of parts that contain whole pieces of [`encode`].
    pub part: usize,
}

/// Where a picture lies in memory, if no two tiles write the same bytes.
pub(crate) fn extent(frame: &Frame, unit: &WriteBack) -> Option<Extent> {
    let (bytes, width, height) = (format_bytes(unit.format).ok()?, frame.width, frame.height);
    let (length, part) = match unit.layout {
        TargetLayout::Linear => {
            let pitch = u64::from(unit.pitch) * 8;
            let row = u64::from(width) * u64::from(bytes);
            let length = pitch * u64::from(height.checked_sub(1)?) + row;
            (length, (row <= pitch).then_some(pitch)?)
        }
        TargetLayout::Tiled => {
            let [columns, rows] = [width, height].map(|pixels| u64::from(pixels.div_ceil(SIDE)));
            let tile = PIXELS as u64 * u64::from(bytes);
            let tiles = u64::from(unit.pitch) * rows.checked_sub(1)? + columns;
            // A worker takes some tiles of a row at a time.
            (tiles * tile, (columns <= u64::from(unit.pitch)).then_some(8 * tile)?)
        }
        _ => return None,
    };
    let length = u32::try_from(length).ok().filter(|length| *length > 0)?;
    unit.address.checked_add(length)?;
    Some(Extent {
        address: unit.address,
        length,
        part: usize::try_from(part).ok()?,
    })
}

/// Where the tiles of each of a job's chunks lie in memory: their address and how many bytes they take, which are all of
/// the tiles and no others' where the addresses rise. Nothing of pictures that are not in tiles.
pub(crate) fn chunks(unit: &WriteBack, tiles: &[ListedTile], chunk: usize) -> Vec<(u32, usize)> {
    let Some(bytes) = unit.format.bytes().filter(|_| unit.layout == TargetLayout::Tiled) else {
        return Vec::new();
    };
    let address = |((row, column), _): &ListedTile| {
        let tile = row.wrapping_mul(unit.pitch).wrapping_add(*column);
        unit.address.wrapping_add(tile.wrapping_mul(PIXELS as u32 * bytes))
    };
    let piece = |tiles: &[ListedTile]| {
        let (first, last) = (address(&tiles[0]), address(&tiles[tiles.len() - 1]));
        (first, last.wrapping_sub(first) as usize + PIXELS * bytes as usize)
    };
    tiles.chunks(chunk).map(piece).collect()
}

/// Says that a tile with this first pixel is going to be written.
pub(crate) fn expect(frame: &Frame, unit: &WriteBack, [left, top]: [u32; 2], to: &Sink<'_, '_>) {
    let Some(bytes) = unit.format.bytes() else { return };
    let (pieces, length) = match unit.layout {
        TargetLayout::Linear => (frame.height.saturating_sub(top).min(SIDE), SIDE),
        _ => (1, SIDE * SIDE),
    };
    for row in 0..pieces {
        if let Ok(at) = offset(unit, bytes, left, top + row) {
            to.expect(
                unit.address.wrapping_add(at),
                (length * bytes) as usize,
                FetchFor::LaterWrite,
            );
        }
    }
}

/// A tile's part of a picture: of one sample, or of the average of all.
struct Plane<'a> {
    frame: &'a Frame,
    unit: &'a WriteBack,
    tile: &'a Tile,
    sample: Option<usize>,
    bytes: u32,
    number: usize,
}

impl Plane<'_> {
    fn encode(&self, runs: &mut Runs, target: Option<&mut Sink<'_, '_>>) -> Result<()> {
        let (unit, bytes) = (self.unit, self.bytes);
        let [left, top] = self.tile.origin;
        let (columns, rows) = (
            self.frame.width.saturating_sub(left).min(SIDE),
            self.frame.height.saturating_sub(top).min(SIDE),
        );
        let address = unit
            .address
            .wrapping_add(self.sample.unwrap_or(0) as u32 * unit.plane_pitch);
        let step = bytes as usize;
        if unit.layout == TargetLayout::Tiled && columns == SIDE && rows == SIDE {
            let address = address.wrapping_add(offset(unit, bytes, left, top)?);
            let length = step * PIXELS;
            if !target.is_some_and(|target| target.fill(address, length, |out| self.whole(out))) {
                self.whole(runs.piece(self.number, address, length));
            }
            return Ok(());
        }
        let tile = self.pixels();
        for row in 0..rows {
            let pixels: [u64; SIDE as usize] = std::array::from_fn(|column| tile[in_tile(column as u32, row)]);
            // Rows of a linear picture are in one piece, those of a tile are not.
            let together = if unit.layout == TargetLayout::Linear {
                columns
            } else {
                1
            };
            for column in (0..columns).step_by(together.max(1) as usize) {
                let at = address.wrapping_add(offset(unit, bytes, left + column, top + row)?);
                let pixels = &pixels[column as usize..(column + together) as usize];
                put(runs.piece(self.number, at, step * pixels.len()), step, pixels);
            }
        }
        Ok(())
    }

    /// All of the tile, in memory's order.
    fn whole(&self, out: &mut [u8]) {
        if !self.words(out) {
            let mut pixels = [0; PIXELS];
            tiled(&self.pixels(), |at, quad| {
                pixels[4 * at..4 * at + 4].copy_from_slice(&quad)
            });
            put(out, self.bytes as usize, &pixels);
        }
    }

    fn pixel(&self, column: u32, row: u32) -> u64 {
        let sample = self.sample.map(|sample| sample.min(self.tile.samples - 1));
        pixel(self.unit, self.tile, [column, row], sample)
    }

    /// The tile's pixels where they are its words, by far the most pictures; false where they are not.
    fn words(&self, out: &mut [u8]) -> bool {
        let Colors::Bytes(words) = &self.tile.color else {
            return false;
        };
        let is_bytes = self.unit.format == PixelFormat::B8G8R8A8 && !self.unit.reverse;
        if self.tile.samples != 1 || !is_bytes || self.unit.source != WriteBackSource::Color {
            return false;
        }
        let Some(words) = words.first_chunk::<PIXELS>() else {
            return false;
        };
        let Some(out) = out.first_chunk_mut() else {
            return false;
        };
        in_memory_order(words, out, !self.unit.swap);
        true
    }

    /// All pixels of the tile, in its order: what [`pixel`] says of each, which is the specification.
    fn pixels(&self) -> [u64; PIXELS] {
        let (unit, tile) = (self.unit, self.tile);
        let one_by_one = || {
            std::array::from_fn(|at| {
                let [column, row] = place(at);
                self.pixel(column, row)
            })
        };
        // What a sample's words are in: one after the other, or every fourth.
        let sample = self.sample.map_or(0, |sample| sample.min(tile.samples - 1));
        let mut pixels = [0; PIXELS];
        if unit.source == WriteBackSource::DepthStencil {
            let samples = tile.depth.iter().zip(&tile.stencil);
            let set = |(pixel, (depth, stencil)): (&mut u64, (&u32, &u8))| {
                *pixel = depth_bits(unit.format, *depth, *stencil);
            };
            // Steps of one would be steps all the same.
            match tile.samples {
                1 => pixels.iter_mut().zip(samples).for_each(set),
                many => pixels.iter_mut().zip(samples.skip(sample).step_by(many)).for_each(set),
            }
            return pixels;
        }
        let Colors::Bytes(words) = &tile.color else {
            return one_by_one();
        };
        let mean = tile.samples == 4 && self.sample.is_none();
        let is_bytes = unit.format == PixelFormat::B8G8R8A8 && !unit.reverse;
        if mean && is_bytes {
            let means = &*MEANS;
            for (pixel, four) in pixels.iter_mut().zip(words.as_chunks::<4>().0) {
                let mean = self::mean(*four, means);
                *pixel = u64::from(if unit.swap { mean } else { swapped(mean) });
            }
        } else if mean {
            return one_by_one();
        } else if is_bytes {
            let words = words.iter().skip(sample).step_by(tile.samples);
            for (pixel, word) in pixels.iter_mut().zip(words) {
                *pixel = u64::from(if unit.swap { *word } else { swapped(*word) });
            }
        } else if let Some(fields) = Fields::of(unit) {
            let words = words.iter().skip(sample).step_by(tile.samples);
            for ((pixel, word), threshold) in pixels.iter_mut().zip(words).zip(&*THRESHOLDS) {
                *pixel = fields.pack(*word, if unit.dither { *threshold } else { 0 });
            }
        } else {
            return one_by_one();
        }
        pixels
    }
}

/// The low `bytes` bytes of each pixel.
fn put(out: &mut [u8], bytes: usize, pixels: &[u64]) {
    match bytes {
        4 => (out.as_chunks_mut::<4>().0.iter_mut().zip(pixels))
            .for_each(|(slot, pixel)| *slot = (*pixel as u32).to_le_bytes()),
        2 => (out.as_chunks_mut::<2>().0.iter_mut().zip(pixels))
            .for_each(|(slot, pixel)| *slot = (*pixel as u16).to_le_bytes()),
        _ => (out.chunks_mut(bytes.max(1)).zip(pixels))
            .for_each(|(slot, pixel)| slot.copy_from_slice(&pixel.to_le_bytes()[..slot.len()])),
    }
}

/// Thresholds by which fields are rounded: the first is that of pictures without dithering.
const ALL_THRESHOLDS: usize = 17;

/// For each pixel of a tile in its order, which threshold is its own.
static THRESHOLDS: LazyLock<[u8; PIXELS]> = LazyLock::new(|| {
    std::array::from_fn(|at| {
        let [column, row] = place(at);
        1 + (row % 4 * 4 + column % 4) as u8
    })
});

/// What each byte becomes in fields of one to eight bits, by threshold: [`unorm`] of what it is a part of 255.
static ROUNDED: LazyLock<Vec<[[u8; 256]; ALL_THRESHOLDS]>> = LazyLock::new(|| {
    let of = |bits: u32, at: usize, byte: usize| {
        let threshold = match at.checked_sub(1) {
            Some(at) if bits < 8 => threshold([at as u32 % 4, at as u32 / 4]),
            _ => 0.5,
        };
        unorm(byte as f32 / 255.0, bits, threshold) as u8
    };
    let table = |bits: u32| std::array::from_fn(|at| std::array::from_fn(|byte| of(bits, at, byte)));
    (0..=8).map(table).collect()
});

/// Where a format with whole fields has the bytes of a word.
struct Fields {
    /// For each field from the lowest on: which byte of the word it is, its bits, and where it begins.
    fields: [(usize, &'static [[u8; 256]; ALL_THRESHOLDS], u32); 4],
}

impl Fields {
    /// Of a picture's format; nothing for floats.
    fn of(unit: &WriteBack) -> Option<Self> {
        if matches!(
            unit.format,
            PixelFormat::Rgba16F | PixelFormat::R16F | PixelFormat::Rg16F
        ) {
            return None;
        }
        let mut order = if unit.swap { [0, 1, 2, 3] } else { [2, 1, 0, 3] };
        if unit.reverse {
            order.reverse();
        }
        let (widths, mut shift) = (widths(unit.format), 0);
        let fields = [0, 1, 2, 3].map(|at| {
            let field = (order[at], &ROUNDED[widths[at] as usize], shift);
            shift += widths[at];
            field
        });
        Some(Self { fields })
    }

    fn pack(&self, word: u32, threshold: u8) -> u64 {
        let bytes = word.to_le_bytes();
        let field = |(byte, rounded, shift): (usize, &[[u8; 256]; ALL_THRESHOLDS], u32)| {
            u64::from(rounded[usize::from(threshold)][usize::from(bytes[byte])]) << shift
        };
        let [a, b, c, d] = self.fields;
        field(a) | field(b) | field(c) | field(d)
    }
}

/// Byte of a pixel from its picture's address.
///
/// # Errors
/// An unknown layout.
#[inline]
pub fn offset(unit: &WriteBack, bytes: u32, x: u32, y: u32) -> Result<u32> {
    match unit.layout {
        TargetLayout::Linear => Ok(y.wrapping_mul(unit.pitch.wrapping_mul(8)).wrapping_add(x * bytes)),
        TargetLayout::Tiled => {
            let tile = (y / SIDE).wrapping_mul(unit.pitch).wrapping_add(x / SIDE);
            Ok(tile.wrapping_mul(256).wrapping_add(u_order(x, y)).wrapping_mul(bytes))
        }
        TargetLayout::UOrder | TargetLayout::Undocumented(_) => Err(unknown_layout(unit)),
    }
}

#[cold]
fn unknown_layout(unit: &WriteBack) -> Fault {
    let message = format!("write-back layout {}", unit.layout.code());
    Fault::new(FaultKind::State, message)
}

/// One pixel's bits: of a sample, or the average of all.
fn pixel(unit: &WriteBack, tile: &Tile, [column, row]: [u32; 2], sample: Option<usize>) -> u64 {
    let first = in_tile(column, row) * tile.samples;
    if unit.source == WriteBackSource::DepthStencil {
        let at = first + sample.unwrap_or(0);
        return depth_bits(unit.format, tile.depth[at], tile.stencil[at]);
    }
    let color = match sample {
        Some(sample) => tile.color.get(first + sample).map(f32::from),
        None => average(tile, first),
    };
    let threshold = if unit.dither { threshold([column, row]) } else { 0.5 };
    pack(unit, color.map(|channel| channel / tile.one), threshold)
}

/// Depth and stencil as a format has them.
fn depth_bits(format: PixelFormat, depth: u32, stencil: u8) -> u64 {
    match format {
        PixelFormat::S8 => u64::from(stencil),
        PixelFormat::Z16 => u64::from(depth >> 8),
        _ => u64::from(depth) | u64::from(stencil) << 24,
    }
}

/// From where on a field is rounded up at a pixel: Bayer's matrix of four by four ([I]: that hardware dithers in order is
/// known, its matrix is not).
fn threshold([column, row]: [u32; 2]) -> f64 {
    const BAYER: [[u8; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
    1.0 - (f64::from(BAYER[row as usize % 4][column as usize % 4]) + 0.5) / 16.0
}

/// The mean of a pixel's samples, of which the `first` is given.
fn average(tile: &Tile, first: usize) -> [f32; 4] {
    let mut sums = [0u32; 4];
    for sample in first..first + tile.samples {
        let channels = tile.color.get(sample);
        sums = std::array::from_fn(|channel| sums[channel] + u32::from(channels[channel]));
    }
    sums.map(|sum| sum as f32 / tile.samples as f32)
}

/// A value from 0 to 1 as a field of `bits` bits, rounded up from the threshold on.
fn unorm(value: f32, bits: u32, threshold: f64) -> u64 {
    let scaled = f64::from(value) * f64::from((1u32 << bits) - 1);
    let whole = scaled as u64;
    whole + u64::from(scaled - whole as f64 >= threshold)
}

/// The byte that the mean of four bytes becomes, by their sum.
static MEANS: LazyLock<[u8; 4 * 255 + 1]> = LazyLock::new(|| {
    let mean = |sum: usize| sum as f32 / 4.0 / 255.0;
    std::array::from_fn(|sum| unorm(mean(sum), 8, 0.5) as u8)
});

/// The bytes of the mean of four words, what [`average`] and [`pack`] make of them.
#[inline]
fn mean([a, b, c, d]: [u32; 4], means: &[u8; 4 * 255 + 1]) -> u32 {
    // Sums of ten bits in sixteen.
    let even = (a & 0xff_00ff) + (b & 0xff_00ff) + (c & 0xff_00ff) + (d & 0xff_00ff);
    let odd = (a >> 8 & 0xff_00ff) + (b >> 8 & 0xff_00ff) + (c >> 8 & 0xff_00ff) + (d >> 8 & 0xff_00ff);
    let byte = |sum: u32| means[(sum & 0x3ff).min(4 * 255) as usize];
    u32::from_le_bytes([byte(even), byte(odd), byte(even >> 16), byte(odd >> 16)])
}

/// A colour as a format has it; fields of fewer than eight bits are rounded up from the threshold on.
fn pack(unit: &WriteBack, [red, green, blue, alpha]: [f32; 4], threshold: f64) -> u64 {
    let (first, third) = if unit.swap { (red, blue) } else { (blue, red) };
    // The component order from the lowest bits up; reversed it is alpha first.
    let mut order = [first, green, third, alpha];
    if unit.reverse {
        order.reverse();
    }
    let unorm = |value: f32, bits: u32| unorm(value, bits, if bits < 8 { threshold } else { 0.5 });
    let fields = |widths: [u32; 4]| {
        let mut shift = 0;
        order.iter().zip(widths).fold(0, |bits, (value, width)| {
            let field = if width == 0 { 0 } else { unorm(*value, width) << shift };
            shift += width;
            bits | field
        })
    };
    let halves = |count: usize| {
        let values = [red, green, blue, alpha].into_iter().take(count).enumerate();
        values.fold(0, |bits, (at, value)| {
            bits | u64::from(half::from_f32(value)) << (16 * at)
        })
    };
    match unit.format {
        PixelFormat::Rgba16F => halves(4),
        PixelFormat::R16F => halves(1),
        PixelFormat::Rg16F => halves(2),
        format => fields(widths(format)),
    }
}

/// Bits of a format's fields from the lowest on; depth and stencil as if they were bytes.
fn widths(format: PixelFormat) -> [u32; 4] {
    match format {
        PixelFormat::B5G6R5 => [5, 6, 5, 0],
        PixelFormat::B5G5R5A1 => [5, 5, 5, 1],
        PixelFormat::B4G4R4A4 => [4; 4],
        PixelFormat::B8 => [8, 0, 0, 0],
        PixelFormat::G8B8 => [8, 8, 0, 0],
        PixelFormat::B8G8R8A8
        | PixelFormat::Rgba16F
        | PixelFormat::R16F
        | PixelFormat::Rg16F
        | PixelFormat::S8
        | PixelFormat::Z16
        | PixelFormat::Z24S8
        | PixelFormat::Undocumented(_) => [8; 4],
    }
}

/// A picture as it lies in memory: width, height, red, green, blue and alpha from the first row on.
///
/// # Errors
/// When the target is no colour, or not all of it is in a buffer object.
pub fn read(memory: &Memory, frame: &Frame, unit: &WriteBack) -> Result<(u32, u32, Vec<u8>)> {
    let bytes = format_bytes(unit.format)?;
    if unit.source != WriteBackSource::Color {
        return Err(Fault::new(FaultKind::State, "the target is no colour"));
    }
    let mut rgba = Vec::new();
    let mut texel = [0; 8];
    let data = &mut texel[..bytes as usize];
    for y in 0..frame.height {
        for x in 0..frame.width {
            memory.read(unit.address.wrapping_add(offset(unit, bytes, x, y)?), data)?;
            let bits = data.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
            rgba.extend(unpack(unit, bits).map(|channel| (channel.clamp(0.0, 1.0) * 255.0).round() as u8));
        }
    }
    Ok((frame.width, frame.height, rgba))
}

/// The words of a depth and stencil target, row by row.
///
/// # Errors
/// When its memory is gone, or its format is another one.
pub fn read_depth_stencil(memory: &Memory, frame: &Frame, unit: &WriteBack) -> Result<Vec<u32>> {
    if unit.format != PixelFormat::Z24S8 {
        return Err(Fault::new(
            FaultKind::State,
            "the target has no words of depth and stencil",
        ));
    }
    let mut words = Vec::new();
    for y in 0..frame.height {
        for x in 0..frame.width {
            let mut word = [0; 4];
            memory.read(unit.address.wrapping_add(offset(unit, 4, x, y)?), &mut word)?;
            words.push(u32::from_le_bytes(word));
        }
    }
    Ok(words)
}

/// The inverse of [`pack`]; channels a format lacks are 0, alpha 1.
fn unpack(unit: &WriteBack, bits: u64) -> [f32; 4] {
    let halves = match unit.format {
        PixelFormat::Rgba16F => Some(4),
        PixelFormat::R16F => Some(1),
        PixelFormat::Rg16F => Some(2),
        _ => None,
    };
    if let Some(count) = halves {
        let half = |at: usize| half::to_f32((bits >> (16 * at)) as u16);
        let missing = [0.0, 0.0, 0.0, 1.0];
        return std::array::from_fn(|at| if at < count { half(at) } else { missing[at] });
    }
    let mut shift = 0;
    let mut order: [Option<f32>; 4] = widths(unit.format).map(|width| {
        let field = bits >> shift & ((1 << width) - 1);
        shift += width;
        (width > 0).then(|| field as f32 / ((1u64 << width) - 1) as f32)
    });
    if unit.reverse {
        order.reverse();
    }
    let [first, green, third, alpha] = order;
    let (red, blue) = if unit.swap { (first, third) } else { (third, first) };
    [
        red.unwrap_or(0.0),
        green.unwrap_or(0.0),
        blue.unwrap_or(0.0),
        alpha.unwrap_or(1.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A whole tile is what its pixels are one by one, in every format.
    #[test]
    fn tiles_are_their_pixels() {
        let mut random = fastrand::Rng::with_seed(9);
        // A frame of one PP.
        let mut words = [0; 64];
        words[23] = 1;
        let frame = Frame::parse(&words).unwrap();
        for round in 0..3_000 {
            let samples = if random.bool() { 4 } else { 1 };
            let wide = random.u32(..8) == 0;
            let count = samples * PIXELS;
            let tile = Tile {
                samples,
                one: if wide { 65535.0 } else { 255.0 },
                color: match wide {
                    true => Colors::Wide((0..count).map(|_| random.u64(..)).collect()),
                    false => Colors::Bytes((0..count).map(|_| random.u32(..)).collect()),
                },
                depth: (0..count).map(|_| random.u32(..1 << 24)).collect(),
                stencil: (0..count).map(|_| random.u8(..)).collect(),
                ..Tile::default()
            };
            let format = PixelFormat::ALL[random.usize(..PixelFormat::ALL.len())];
            let unit = WriteBack {
                source: match random.u32(..4) {
                    0 => WriteBackSource::DepthStencil,
                    _ => WriteBackSource::Color,
                },
                format,
                swap: random.bool(),
                reverse: random.bool(),
                dither: random.bool(),
                ..WriteBack::default()
            };
            let plane = Plane {
                frame: &frame,
                unit: &unit,
                tile: &tile,
                sample: random.bool().then(|| random.usize(..4)),
                bytes: format_bytes(format).unwrap(),
                number: 0,
            };
            for (at, have) in plane.pixels().into_iter().enumerate() {
                let [column, row] = place(at);
                assert_eq!(have, plane.pixel(column, row), "{round}: {at} {unit:?}");
            }
        }
    }

    #[test]
    fn dithering_keeps_the_mean() {
        let plain = WriteBack {
            source: WriteBackSource::Color,
            format: PixelFormat::B5G6R5,
            ..WriteBack::default()
        };
        let dithered = WriteBack { dither: true, ..plain };
        let mut tile = Tile::default();
        (tile.samples, tile.one) = (1, 255.0);
        // 100 of 255 is 12.16 of 31 for red and blue, and 24.7 of 63 for green.
        tile.color = Colors::Bytes(vec![u32::from_le_bytes([100, 100, 100, 255]); 256]);
        let of = |unit: &WriteBack| -> Vec<u64> { (0..256).map(|at| pixel(unit, &tile, place(at), None)).collect() };
        assert!(of(&plain).iter().all(|bits| *bits == 12 | 25 << 5 | 12 << 11));
        let bits = of(&dithered);
        let mean = |shift: u32, mask: u64| bits.iter().map(|bits| bits >> shift & mask).sum::<u64>() as f64 / 256.0;
        assert!((mean(11, 31) - 100.0 / 255.0 * 31.0).abs() < 1.0 / 16.0);
        assert!((mean(5, 63) - 100.0 / 255.0 * 63.0).abs() < 1.0 / 16.0);
        // What a format holds exactly stays.
        tile.color = Colors::Bytes(vec![u32::from_le_bytes([255, 0, 255, 255]); 256]);
        assert!((0..256).all(|at| pixel(&dithered, &tile, place(at), None) == 31 | 31 << 11));
    }

    #[test]
    fn numbers_of_pixels_come_back() {
        for at in 0..PIXELS {
            let [column, row] = place(at);
            assert_eq!(in_tile(column, row), at);
        }
    }
}
