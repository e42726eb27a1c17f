//! The PP job's frame registers and write-back units (docs/spec/mali/frame.md; docs/spec/mali/kernel.md, section 5).

use super::fault::{Fault, FaultKind, Result};
use crate::exec::Orientation;

/// Words of a Mali-400's PP frame as the kernel interface has it.
pub const FRAME_WORDS: usize = 68;

/// A write-back unit: what of the tile goes where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteBack {
    /// 0 off, 1 depth and stencil, 2 colour.
    pub source: u32,
    /// Address of the target.
    pub address: u32,
    /// Pixel format's number.
    pub format: u32,
    /// Down-sampling, log2 of the factor, along x and y.
    pub downsample: [u32; 2],
    /// 0 linear, 1 whole-image u-order, 2 tiles of 16x16 in u-order.
    pub layout: u32,
    /// Linear: bytes of a row / 8; tiled: tiles of a row.
    pub pitch: u32,
    /// Exchange red and blue.
    pub swap: bool,
    /// Components in the opposite order.
    pub reverse: bool,
    /// Fields of fewer than eight bits are rounded by an ordered pattern.
    pub dither: bool,
    /// Which samples are stored on their own, a bit each; none: the average of all.
    pub planes: u32,
    /// Bytes from one sample's picture to the next.
    pub plane_pitch: u32,
}

/// The frame registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Sixteen bits a channel instead of eight.
    pub half_float: bool,
    /// Depth all pixels begin with, 24 bits.
    pub clear_depth: u32,
    /// Stencil all pixels begin with.
    pub clear_stencil: u8,
    /// Colour of each sample to begin with: eight bits a channel, red lowest; with sixteen bits two words for all.
    pub clear_color: [u32; 4],
    /// Pixels that are there.
    pub width: u32,
    /// Rows that are there.
    pub height: u32,
    /// Directions.
    pub orientation: Orientation,
    /// The write-back units that are on.
    pub write_backs: Vec<WriteBack>,
    /// Each PP's list of tiles.
    pub lists: Vec<u32>,
    /// Registers with bits nobody knows: number and value.
    pub unknown: Vec<(usize, u32)>,
}

impl Frame {
    /// Takes the frame of a Mali-400 PP job apart: registers, number of PPs, write-back units, lists, stacks.
    ///
    /// # Errors
    /// When words are missing, or the number of PPs is none that exists.
    pub fn parse(words: &[u32]) -> Result<Self> {
        let fail = |message: String| Err(Fault::new(FaultKind::State, message));
        if words.len() < FRAME_WORDS - 4 {
            return fail(format!("a PP frame of {} words", words.len()));
        }
        let pps = words[23] as usize;
        // Eight are a Mali-450's; its frame is otherwise the same once the lists are in one place.
        if !(1..=8).contains(&pps) {
            return fail(format!("a PP frame for {pps} PPs"));
        }
        let scaling = words[21];
        let flip = scaling >> 10 & 1 == 1;
        let half_pixels = |word: u32| word as f32 / 2.0;
        Ok(Self {
            half_float: words[3] & 1 == 1,
            clear_depth: words[4] & 0x00ff_ffff,
            clear_stencil: words[5] as u8,
            clear_color: [words[6], words[7], words[8], words[9]],
            width: (words[10] & 0x3fff) + 1,
            height: (words[11] & 0x3fff) + 1,
            orientation: Orientation {
                x: half_pixels(words[16]),
                y: if flip { half_pixels(words[17]) } else { 0.5 },
                flip,
                flip_derivative: scaling >> 11 & 1 == 1,
            },
            write_backs: words[24..60]
                .chunks_exact(12)
                .map(write_back)
                .filter(|unit| unit.source != 0)
                .collect(),
            lists: words[60..60 + pps.min(words.len() - 60)].to_vec(),
            unknown: unknown(words),
        })
    }
}

fn write_back(words: &[u32]) -> WriteBack {
    WriteBack {
        source: words[0],
        address: words[1],
        format: words[2],
        downsample: [words[3] >> 8 & 3, words[3] >> 12 & 7],
        layout: words[4],
        pitch: words[5],
        swap: words[6] >> 2 & 1 == 1,
        reverse: words[6] >> 3 & 1 == 1,
        dither: words[6] >> 4 & 1 == 1,
        planes: words[7] & 15,
        plane_pitch: words[8],
    }
}

/// Registers that differ from every value with a known meaning.
fn unknown(words: &[u32]) -> Vec<(usize, u32)> {
    let known = |at: usize, word: u32| match at {
        2 | 14 | 15 => word == 0,
        3 => word & !0x23 == 0,
        18 => word == 0x77,
        19 => word == 1,
        21 => word & !0x0077_0f0f == 0,
        _ => true,
    };
    words
        .iter()
        .take(23)
        .copied()
        .enumerate()
        .filter(|(at, word)| !known(*at, *word))
        .chain(unknown_of_units(words))
        .collect()
}

/// What write-back units that are on ask for and nobody does: byte orders, down-sampling, tests.
fn unknown_of_units(words: &[u32]) -> impl Iterator<Item = (usize, u32)> {
    let units = (24..words.len().min(60)).step_by(12).filter(|first| words[*first] != 0);
    let left = |first: usize| {
        let bits = [(3, 0x7300), (6, !0x1c), (9, !0)];
        bits.map(|(at, mask)| (first + at, words.get(first + at).map_or(0, |word| word & mask)))
    };
    units.flat_map(left).filter(|(_, bits)| *bits != 0)
}
