//! Tiles to memory, in every format and layout (facts/mali/pp-frame.md, 2).

use super::fault::{Fault, FaultKind, Result};
use super::frame::{Frame, WriteBack};
use super::memory::Memory;
use super::texel::u_order;
use super::tile::{SIDE, Tile};
use crate::num::half;

/// A pixel format: number, name, bytes.
const FORMATS: [(u32, &str, u32); 12] = [
    (0x0, "B5G6R5", 2),
    (0x1, "B5G5R5A1", 2),
    (0x2, "B4G4R4A4", 2),
    (0x3, "B8G8R8A8", 4),
    (0x4, "B8", 1),
    (0x5, "G8B8", 2),
    (0x6, "RGBA16F", 8),
    (0x7, "R16F", 2),
    (0x8, "RG16F", 4),
    (0xd, "S8", 1),
    (0xe, "Z16", 2),
    (0xf, "Z24S8", 4),
];

/// Where each pixel of a tile lies in u-order, row by row.
static U_ORDER: [u8; 256] = {
    let mut order = [0; 256];
    let mut at = 0;
    while at < 256 {
        order[at] = u_order(at as u32 % SIDE, at as u32 / SIDE) as u8;
        at += 1;
    }
    order
};

/// Name of a pixel format.
pub fn format_name(code: u32) -> &'static str {
    FORMATS.iter().find(|row| row.0 == code).map_or("unknown", |row| row.1)
}

/// Bytes of a pixel of a format.
///
/// # Errors
/// A format nobody knows.
pub fn format_bytes(code: u32) -> Result<u32> {
    let row = FORMATS.iter().find(|row| row.0 == code);
    row.map(|row| row.2)
        .ok_or_else(|| Fault::new(FaultKind::State, format!("pixel format {code:#x}")))
}

/// Bytes that go to memory: some number of runs one behind the other.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    bytes: Vec<u8>,
    /// Address and length of each run.
    runs: Vec<(u32, u32)>,
}

impl Runs {
    /// Writes the runs.
    ///
    /// # Errors
    /// When a run is in no buffer object.
    pub fn write(&self, memory: &mut Memory) -> Result<()> {
        let mut at = 0;
        for (address, length) in &self.runs {
            let end = at + *length as usize;
            memory.write(*address, &self.bytes[at..end])?;
            at = end;
        }
        Ok(())
    }
}

/// What a finished tile puts into memory.
///
/// # Errors
/// A format or layout nobody knows.
pub fn encode(frame: &Frame, unit: &WriteBack, tile: &Tile) -> Result<Runs> {
    let bytes = format_bytes(unit.format)?;
    let mut runs = Runs::default();
    if unit.planes == 0 {
        plane(frame, unit, tile, None, bytes, &mut runs)?;
    }
    for number in (0..4).filter(|plane| unit.planes >> plane & 1 == 1) {
        plane(frame, unit, tile, Some(number), bytes, &mut runs)?;
    }
    Ok(runs)
}

/// The picture of one sample, or of their average.
fn plane(
    frame: &Frame,
    unit: &WriteBack,
    tile: &Tile,
    sample: Option<usize>,
    bytes: u32,
    runs: &mut Runs,
) -> Result<()> {
    let [left, top] = tile.origin;
    let (columns, rows) = (
        frame.width.saturating_sub(left).min(SIDE),
        frame.height.saturating_sub(top).min(SIDE),
    );
    let address = unit.address.wrapping_add(sample.unwrap_or(0) as u32 * unit.plane_pitch);
    let of_tile = sample.map(|sample| sample.min(tile.samples - 1));
    let value = |column: u32, row: u32| pixel(unit, tile, (row * SIDE + column) as usize, of_tile).to_le_bytes();
    let whole = unit.layout == 2 && columns == SIDE && rows == SIDE;
    // By far the most pictures: eight bits a channel, one sample.
    let bytes_as_they_are = unit.format == 3 && unit.source == 2 && tile.samples == 1 && tile.one == 255.0;
    if whole && bytes_as_they_are && !unit.reverse {
        let start = runs.bytes.len();
        runs.bytes.resize(start + 1024, 0);
        let order = if unit.swap { [0, 1, 2, 3] } else { [2, 1, 0, 3] };
        for (pixel, to) in tile.color.iter().zip(&U_ORDER) {
            let at = start + 4 * usize::from(*to);
            runs.bytes[at..at + 4].copy_from_slice(&order.map(|channel| pixel[channel] as u8));
        }
        runs.runs
            .push((address.wrapping_add(offset(unit, bytes, left, top)?), 1024));
        return Ok(());
    }
    if whole {
        let start = runs.bytes.len();
        runs.bytes.resize(start + (256 * bytes) as usize, 0);
        for (row, column) in (0..SIDE).flat_map(|row| (0..SIDE).map(move |column| (row, column))) {
            let at = start + (u_order(column, row) * bytes) as usize;
            runs.bytes[at..at + bytes as usize].copy_from_slice(&value(column, row)[..bytes as usize]);
        }
        runs.runs
            .push((address.wrapping_add(offset(unit, bytes, left, top)?), 256 * bytes));
        return Ok(());
    }
    for row in 0..rows {
        // Rows of a linear picture are in one piece, those of a tile are not.
        let step = if unit.layout == 0 { columns } else { 1 };
        for column in (0..columns).step_by(step.max(1) as usize) {
            for pixel in column..column + step {
                runs.bytes.extend_from_slice(&value(pixel, row)[..bytes as usize]);
            }
            let at = offset(unit, bytes, left + column, top + row)?;
            runs.runs.push((address.wrapping_add(at), step * bytes));
        }
    }
    Ok(())
}

/// Byte of a pixel from its picture's address.
///
/// # Errors
/// A layout nobody knows.
pub fn offset(unit: &WriteBack, bytes: u32, x: u32, y: u32) -> Result<u32> {
    match unit.layout {
        0 => Ok(y.wrapping_mul(unit.pitch.wrapping_mul(8)).wrapping_add(x * bytes)),
        2 => {
            let tile = (y / SIDE).wrapping_mul(unit.pitch).wrapping_add(x / SIDE);
            Ok(tile.wrapping_mul(256).wrapping_add(u_order(x, y)).wrapping_mul(bytes))
        }
        layout => Err(Fault::new(FaultKind::State, format!("write-back layout {layout}"))),
    }
}

/// One pixel's bits: of a sample, or the average of all.
fn pixel(unit: &WriteBack, tile: &Tile, pixel: usize, sample: Option<usize>) -> u64 {
    let first = pixel * tile.samples;
    if unit.source == 1 {
        let at = first + sample.unwrap_or(0);
        let (depth, stencil) = (tile.depth[at], tile.stencil[at]);
        return match unit.format {
            0xd => u64::from(stencil),
            0xe => u64::from(depth >> 8),
            _ => u64::from(depth) | u64::from(stencil) << 24,
        };
    }
    let color = match sample {
        Some(sample) => tile.color[first + sample].map(f32::from),
        None => average(&tile.color[first..first + tile.samples]),
    };
    pack(unit, color.map(|channel| channel / tile.one))
}

fn average(samples: &[[u16; 4]]) -> [f32; 4] {
    std::array::from_fn(|channel| {
        let sum: u32 = samples.iter().map(|sample| u32::from(sample[channel])).sum();
        sum as f32 / samples.len() as f32
    })
}

fn pack(unit: &WriteBack, [red, green, blue, alpha]: [f32; 4]) -> u64 {
    let (first, third) = if unit.swap { (red, blue) } else { (blue, red) };
    // The component order from the lowest bits up; reversed it is alpha first.
    let mut order = [first, green, third, alpha];
    if unit.reverse {
        order.reverse();
    }
    let unorm = |value: f32, bits: u32| (f64::from(value) * f64::from((1u32 << bits) - 1)).round() as u64;
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
        0x0 => fields([5, 6, 5, 0]),
        0x1 => fields([5, 5, 5, 1]),
        0x2 => fields([4; 4]),
        0x4 => fields([8, 0, 0, 0]),
        0x5 => fields([8, 8, 0, 0]),
        0x6 => halves(4),
        0x7 => halves(1),
        0x8 => halves(2),
        _ => fields([8; 4]),
    }
}

/// A picture as it lies in memory: width, height, red, green, blue and alpha from the first row on.
///
/// # Errors
/// When the target is no colour, or not all of it is in a buffer object.
pub fn read(memory: &Memory, frame: &Frame, unit: &WriteBack) -> Result<(u32, u32, Vec<u8>)> {
    let bytes = format_bytes(unit.format)?;
    if unit.source != 2 {
        return Err(Fault::new(FaultKind::State, "the target is no colour"));
    }
    let mut rgba = Vec::new();
    for y in 0..frame.height {
        for x in 0..frame.width {
            let data = memory.bytes(unit.address.wrapping_add(offset(unit, bytes, x, y)?), bytes)?;
            let bits = data.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
            rgba.extend(unpack(unit, bits).map(|channel| (channel.clamp(0.0, 1.0) * 255.0).round() as u8));
        }
    }
    Ok((frame.width, frame.height, rgba))
}

/// The inverse of [`pack`]; channels a format lacks are 0, alpha 1.
fn unpack(unit: &WriteBack, bits: u64) -> [f32; 4] {
    let widths = match unit.format {
        0x0 => [5, 6, 5, 0],
        0x1 => [5, 5, 5, 1],
        0x2 => [4; 4],
        0x4 => [8, 0, 0, 0],
        0x5 => [8, 8, 0, 0],
        0x6..=0x8 => {
            let count = [4, 1, 2][unit.format as usize - 6];
            let half = |at: usize| half::to_f32((bits >> (16 * at)) as u16);
            let missing = [0.0, 0.0, 0.0, 1.0];
            return std::array::from_fn(|at| if at < count { half(at) } else { missing[at] });
        }
        _ => [8; 4],
    };
    let mut shift = 0;
    let mut order: [Option<f32>; 4] = widths.map(|width| {
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
