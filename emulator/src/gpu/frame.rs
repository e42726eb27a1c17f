//! A PP job's frame as the tiles use it: the fields of [`PpFrame`] as numbers and rules.

use crate::exec::Orientation;
use crate::fault::{Fault, FaultKind, Result};
use utgard::frame::{
    LISTS, PP_FRAME_WORDS, PROCESSORS_450, PixelFormat, PpFrame, PpRegisters, STACKS, TargetLayout, WriteBackSource,
    WriteBackUnit,
};

/// Words of a Mali-400's PP frame as the kernel interface has it.
pub const FRAME_WORDS: usize = PP_FRAME_WORDS;

/// A write-back unit: what of the tile goes where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteBack {
    /// What of the tile.
    pub source: WriteBackSource,
    /// Address of the target.
    pub address: u32,
    /// Pixel format.
    pub format: PixelFormat,
    /// Down-sampling, log2 of the factor, along x and y.
    pub downsample: [u32; 2],
    /// How the target lies in memory.
    pub layout: TargetLayout,
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
    /// Registers with undocumented bits: number and value.
    pub unknown: Vec<(usize, u32)>,
}

impl Frame {
    /// How many pixels are there.
    pub fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// All samples begin with one colour.
    pub fn begins_alike(&self) -> bool {
        self.half_float || self.clear_color == [self.clear_color[0]; 4]
    }

    /// Takes the frame of a Mali-400 PP job apart: registers, number of PPs, write-back units, lists, stacks.
    ///
    /// # Errors
    /// When words are missing, or the number of PPs is none that exists.
    pub fn parse(words: &[u32]) -> Result<Self> {
        let fail = |message: String| Err(Fault::new(FaultKind::State, message));
        if words.len() < STACKS {
            return fail(format!("a PP frame of {} words", words.len()));
        }
        let frame = PpFrame::from_words(words);
        let registers = &frame.registers;
        // More than four are a Mali-450's; its frame is otherwise the same once the lists are in one place.
        if !(1..=PROCESSORS_450 as u32).contains(&registers.processors) {
            return fail(format!("a PP frame for {} PPs", registers.processors));
        }
        let half_pixels = |word: u32| word as f32 / 2.0;
        Ok(Self {
            half_float: registers.half_float,
            clear_depth: registers.clear_depth,
            clear_stencil: registers.clear_stencil as u8,
            clear_color: [
                registers.clear_color_0,
                registers.clear_color_1,
                registers.clear_color_2,
                registers.clear_color_3,
            ],
            width: u32::from(registers.right) + 1,
            height: u32::from(registers.bottom) + 1,
            orientation: Orientation {
                x: half_pixels(registers.origin_x),
                y: if registers.flip_rows {
                    half_pixels(registers.origin_y)
                } else {
                    0.5
                },
                flip: registers.flip_rows,
                flip_derivative: registers.flip_derivative,
            },
            write_backs: frame
                .write_backs
                .iter()
                .filter(|unit| unit.source != WriteBackSource::Off)
                .map(write_back)
                .collect(),
            unknown: unknown(words, &frame),
            lists: frame.lists,
        })
    }
}

fn write_back(unit: &WriteBackUnit) -> WriteBack {
    WriteBack {
        source: unit.source,
        address: unit.address,
        format: unit.format,
        downsample: [unit.downsample_x, unit.downsample_y].map(u32::from),
        layout: unit.layout,
        pitch: unit.pitch,
        swap: unit.swap,
        reverse: unit.reverse,
        dither: unit.dither,
        planes: unit.planes.into(),
        plane_pitch: unit.plane_pitch,
    }
}

/// Undocumented bits, and documented ones without an implementation: other sub-pixels, other edges, down-sampling.
fn unknown(words: &[u32], frame: &PpFrame) -> Vec<(usize, u32)> {
    let mut unknown = PpFrame::undocumented(&words[..LISTS]);
    let mut unusual = |name: &str, value: u32, usual: u32| {
        if value != usual {
            let place = PpRegisters::PLACES.iter().find(|place| place.name == name);
            unknown.extend(place.map(|place| (place.word, value)));
        }
    };
    unusual("subpixel", frame.registers.subpixel, SUBPIXEL);
    unusual("tie_break", frame.registers.tie_break, TIE_BREAK);
    for (number, unit) in frame.write_backs.iter().enumerate() {
        if unit.source == WriteBackSource::Off || (unit.downsample_x, unit.downsample_y) == (0, 0) {
            continue;
        }
        let place = WriteBackUnit::PLACES.iter().find(|place| place.name == "downsample_x");
        let first = PpRegisters::WORDS + number * WriteBackUnit::WORDS;
        let bits = u32::from(unit.downsample_x) << 8 | u32::from(unit.downsample_y) << 12;
        unknown.extend(place.map(|place| (first + place.word, bits)));
    }
    unknown.sort_unstable();
    unknown
}

/// The register of sub-pixels for eight bits behind the point, as every driver has it.
pub const SUBPIXEL: u32 = 127 - 8;

/// Which pixels on an edge belong to a triangle: as every driver has it.
pub const TIE_BREAK: u32 = 1;
