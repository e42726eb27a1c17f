//! Frames of jobs: the registers that a driver submits for the geometry and the pixel processor, and the write-back
//! units (docs/spec/mali/frame.md; docs/spec/mali/kernel.md, section 5).

use crate::field::{Aligned, Code, codes};
use crate::stream::{BeginTile, EndOfTiles, RunBlock, TileCommand};
use crate::words::{Place, words};

words! {
    /// A geometry job: the addresses of its two streams, and a heap for growing lists.
    pub struct GpFrame, 6 words {
        /// First command of the vertex stream.
        vertex_start: u32, 0, 0, 32;
        /// End of the vertex stream.
        vertex_end: u32, 1, 0, 32;
        /// First command of the polygon list stream.
        list_start: u32, 2, 0, 32;
        /// End of the polygon list stream.
        list_end: u32, 3, 0, 32;
        /// Start of the heap for lists that outgrow their blocks.
        heap_start: u32, 4, 0, 32;
        /// End of the heap.
        heap_end: u32, 5, 0, 32;
    }
}

words! {
    /// The registers of a pixel job, and the number of processors that share it.
    pub struct PpRegisters, 24 words {
        /// Tile list; the kernel sets it for each processor.
        tile_list: u32, 0, 0, 32;
        /// Render state of the clear program.
        clear_state: u32, 1, 0, 32;
        /// Sixteen bits per channel instead of eight.
        half_float: bool, 3, 0, 1;
        /// Set in every frame.
        active: bool, 3, 1, 1;
        /// Set by older drivers for displayed pictures.
        on_screen: bool, 3, 5, 1;
        /// Clear depth.
        clear_depth: u32, 4, 0, 24;
        /// Bits that older drivers leave above the depth.
        clear_depth_high: u8, 4, 24, 8;
        /// Clear stencil.
        clear_stencil: u32, 5, 0, 32;
        /// Clear colour of the first sample; with sixteen bits per channel, two words for all samples.
        clear_color_0: u32, 6, 0, 32;
        /// Clear colour of the second sample.
        clear_color_1: u32, 7, 0, 32;
        /// Clear colour of the third sample.
        clear_color_2: u32, 8, 0, 32;
        /// Clear colour of the fourth sample.
        clear_color_3: u32, 9, 0, 32;
        /// Last column.
        right: u16, 10, 0, 14;
        /// First column within its tile, and unknown bits.
        left: u32, 10, 14, 18;
        /// Last row.
        bottom: u16, 11, 0, 14;
        /// Unknown bits above it.
        bottom_high: u32, 11, 14, 18;
        /// Stack of fragment programs; the kernel sets it for each processor.
        stack: u32, 12, 0, 32;
        /// Size of the stack, and its start.
        stack_size: u32, 13, 0, 32;
        /// Added to `gl_FragCoord.x`, in half pixels.
        origin_x: u32, 16, 0, 32;
        /// Origin of rows that count upwards, in half pixels.
        origin_y: u32, 17, 0, 32;
        /// 127 minus the number of subpixel bits.
        subpixel: u32, 18, 0, 32;
        /// Rule for pixels on the edge of a triangle.
        tie_break: u32, 19, 0, 32;
        /// Layout of the polygon list blocks, as in the binning stream.
        blocks: u32, 20, 0, 32;
        /// Meaning unknown; in every frame.
        scale_enables: u8, 21, 0, 4;
        /// Points have their origin at the bottom.
        flip_points: bool, 21, 8, 1;
        /// The dither pattern begins at the bottom.
        flip_dither: bool, 21, 9, 1;
        /// Rows of `gl_FragCoord` count upwards.
        flip_rows: bool, 21, 10, 1;
        /// `dFdy` is the upper row's first operand plus the lower row's second.
        flip_derivative: bool, 21, 11, 1;
        /// Down-scaling by columns, power of two.
        scale_x: u8, 21, 16, 3;
        /// Down-scaling by rows, power of two.
        scale_y: u8, 21, 20, 3;
        /// Bits of the tile's channels.
        channel_bits: u32, 22, 0, 32;
        /// Processors that share the job, each with its own list.
        processors: u32, 23, 0, 32;
    }
}

codes! {
    /// The part of the tile that a write-back unit stores.
    pub open enum WriteBackSource, 8 bits {
        /// None.
        Off = 0, "nothing";
        /// Depth and stencil.
        DepthStencil = 1, "depth and stencil";
        /// Colour.
        Color = 2, "colour";
    }
}

codes! {
    /// Memory layout of a target.
    pub open enum TargetLayout, 8 bits {
        /// Row by row.
        Linear = 0, "linear";
        /// The whole picture in u-order.
        UOrder = 1, "one image in u-order";
        /// Tiles of 16x16 pixels, each in u-order.
        Tiled = 2, "tiled";
    }
}

codes! {
    /// A format of a target's pixels.
    pub open enum PixelFormat, 8 bits {
        /// Sixteen bits: 5 blue, 6 green, 5 red.
        B5G6R5 = 0x0, "B5G6R5";
        /// Sixteen bits: 5 blue, 5 green, 5 red, 1 alpha.
        B5G5R5A1 = 0x1, "B5G5R5A1";
        /// Sixteen bits: 4 each.
        B4G4R4A4 = 0x2, "B4G4R4A4";
        /// A byte per channel.
        B8G8R8A8 = 0x3, "B8G8R8A8";
        /// A byte.
        B8 = 0x4, "B8";
        /// Two bytes.
        G8B8 = 0x5, "G8B8";
        /// Four halves.
        Rgba16F = 0x6, "RGBA16F";
        /// A half.
        R16F = 0x7, "R16F";
        /// Two halves.
        Rg16F = 0x8, "RG16F";
        /// Stencil.
        S8 = 0xd, "S8";
        /// Depth, 16 bits.
        Z16 = 0xe, "Z16";
        /// Depth, 24 bits, and stencil.
        Z24S8 = 0xf, "Z24S8";
    }
}

impl PixelFormat {
    /// Bytes per pixel of known formats.
    pub const fn bytes(self) -> Option<u32> {
        Some(match self {
            Self::B8 | Self::S8 => 1,
            Self::B5G6R5 | Self::B5G5R5A1 | Self::B4G4R4A4 | Self::G8B8 | Self::R16F | Self::Z16 => 2,
            Self::B8G8R8A8 | Self::Rg16F | Self::Z24S8 => 4,
            Self::Rgba16F => 8,
            Self::Undocumented(_) => return None,
        })
    }
}

words! {
    /// A write-back unit.
    pub struct WriteBackUnit, 12 words {
        /// The stored part of the tile.
        source: WriteBackSource, 0, 0, 8;
        /// Address of the target.
        address: u32, 1, 0, 32;
        /// Format of its pixels.
        format: PixelFormat, 2, 0, 8;
        /// Down-sampling by columns, power of two.
        downsample_x: u8, 3, 8, 2;
        /// Down-sampling by rows, power of two.
        downsample_y: u8, 3, 12, 3;
        /// Memory layout of the target.
        layout: TargetLayout, 4, 0, 8;
        /// Bytes of a row in eights, or tiles of a row.
        pitch: u32, 5, 0, 32;
        /// Whether red and blue are swapped.
        swap: bool, 6, 2, 1;
        /// Whether the components are in reverse order.
        reverse: bool, 6, 3, 1;
        /// Whether channels of fewer than eight bits are dithered.
        dither: bool, 6, 4, 1;
        /// Mask of samples stored separately; 0 for the average of all.
        planes: u8, 7, 0, 4;
        /// Bytes between the samples' pictures.
        plane_pitch: u32, 8, 0, 32;
        /// Reference of the test that a write-back may depend on.
        test_reference: u32, 10, 0, 32;
        /// Comparison of that test.
        test_compare: u32, 11, 0, 32;
    }
}

/// Words of a Mali-400's PP frame in the kernel interface.
pub const PP_FRAME_WORDS: usize = 68;

/// Maximum pixel processors of a Mali-400.
const PROCESSORS_400: usize = 4;

/// Maximum pixel processors of a Mali-450; its frame differs only in their lists and stacks.
pub const PROCESSORS_450: usize = 8;

/// Write-back units of a frame.
pub const WRITE_BACKS: usize = 3;

/// Offset of the write-back units in a PP frame.
const UNITS: usize = PpRegisters::WORDS;

/// Offset of the tile lists in a Mali-400's PP frame. A Mali-450's are at the same offset, and the preceding words are
/// identical.
pub const LISTS: usize = UNITS + WRITE_BACKS * WriteBackUnit::WORDS;

/// Offset of the processors' stacks in a Mali-400's PP frame.
pub const STACKS: usize = LISTS + PROCESSORS_400;

/// A pixel job's frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PpFrame {
    /// The registers.
    pub registers: PpRegisters,
    /// The write-back units.
    pub write_backs: [WriteBackUnit; WRITE_BACKS],
    /// Each processor's list of tiles.
    pub lists: Vec<u32>,
}

impl PpFrame {
    /// Decodes a frame, with as many lists as processors if there are enough words.
    pub fn from_words(words: &[u32]) -> Self {
        let registers = PpRegisters::from_words(words);
        let behind = words.get(LISTS..).unwrap_or_default();
        let lists = behind.len().min(registers.processors as usize);
        Self {
            registers,
            write_backs: std::array::from_fn(|unit| WriteBackUnit::from_words(unit_words(words, unit))),
            lists: behind[..lists].to_vec(),
        }
    }

    /// Encodes a Mali-400's frame.
    pub fn to_words(&self) -> Vec<u32> {
        let mut words = self.registers.to_words().to_vec();
        words.extend(self.write_backs.iter().flat_map(WriteBackUnit::to_words));
        words.extend(self.lists.iter().take(PROCESSORS_400));
        words.resize(PP_FRAME_WORDS, 0);
        words
    }

    /// Bits of a frame that are in no row, except those of disabled units: word index and bits.
    pub fn undocumented(words: &[u32]) -> Vec<(usize, u32)> {
        let registers = &words[..words.len().min(PpRegisters::WORDS)];
        let mut bits = PpRegisters::undocumented(registers);
        for number in 0..WRITE_BACKS {
            let unit = unit_words(words, number);
            if unit
                .first()
                .is_some_and(|source| *source != WriteBackSource::Off.code())
            {
                let first = UNITS + number * WriteBackUnit::WORDS;
                let own = WriteBackUnit::undocumented(unit).into_iter();
                bits.extend(own.map(|(at, bits)| (first + at, bits)));
            }
        }
        bits
    }
}

fn unit_words(words: &[u32], unit: usize) -> &[u32] {
    let first = UNITS + unit * WriteBackUnit::WORDS;
    let behind = words.get(first..).unwrap_or_default();
    &behind[..behind.len().min(WriteBackUnit::WORDS)]
}

words! {
    /// The words of a Mali-450's PP frame in place of a Mali-400's lists.
    pub struct Lists450, 10 words {
        /// Whether the hardware makes the lists.
        makes_lists: bool, 0, 0, 1;
        /// Zero.
        padding: u32, 1, 0, 32;
        /// Address of the polygon lists' blocks, or the first processor's list.
        base: u32, 2, 0, 32;
        /// Columns of tiles minus one.
        columns: u8, 3, 0, 8;
        /// Rows of tiles minus one.
        rows: u8, 3, 16, 8;
        /// Log2 of a block's tile columns.
        shift_x: u8, 4, 0, 4;
        /// Log2 of a block's tile rows.
        shift_y: u8, 4, 16, 4;
        /// Log2 of a block's bytes, minus seven.
        block_size: u8, 4, 28, 2;
    }
}

impl Lists450 {
    /// Bytes of a block of polygon lists.
    pub const fn block_bytes(&self) -> u32 {
        128 << self.block_size
    }

    /// The tile list that the hardware makes: place and block of each tile, then the end.
    pub fn tiles(&self) -> Vec<TileCommand> {
        let [columns, rows] = [self.columns, self.rows].map(|last| u32::from(last) + 1);
        let width = columns.div_ceil(1 << self.shift_x);
        let mut list = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                let block = (row >> self.shift_y) * width + (column >> self.shift_x);
                let begin = BeginTile {
                    column: column as u8,
                    row: row as u8,
                };
                let run = RunBlock {
                    block: Aligned(self.base.wrapping_add(block.wrapping_mul(self.block_bytes()))),
                };
                list.push(begin.into());
                list.push(run.into());
            }
        }
        list.push(EndOfTiles {}.into());
        list
    }
}

/// Offset of [`Lists450`] in a Mali-450's PP frame.
pub const LISTS_450: usize = LISTS;

/// Offset of the processors' lists in a Mali-450's PP frame, if the hardware does not make them.
pub const PROCESSOR_LISTS_450: usize = LISTS + 2;

/// Version registers of the processors: product, major and minor number.
pub mod version {
    /// A Mali-400's geometry processor.
    pub const GP_400: u32 = 0x0b07_0101;
    /// A Mali-450's geometry processor.
    pub const GP_450: u32 = 0x0d07_0000;
    /// A Mali-400's pixel processors.
    pub const PP_400: u32 = 0xcd07_0101;
    /// A Mali-450's pixel processors.
    pub const PP_450: u32 = 0xcf07_0000;
}

/// Words of [`PpRegisters`] that are hardware registers: the last exists only in the kernel interface.
pub const PP_REGISTERS: usize = PROCESSORS.word;

/// The word with the number of processors that share a job.
pub const PROCESSORS: Place = PpRegisters::PLACES[PpRegisters::PLACES.len() - 1];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::places_are_apart;

    #[test]
    fn frames_match_the_kernel_interface() {
        places_are_apart(PpRegisters::PLACES, PpRegisters::WORDS);
        places_are_apart(WriteBackUnit::PLACES, WriteBackUnit::WORDS);
        places_are_apart(GpFrame::PLACES, GpFrame::WORDS);
        places_are_apart(Lists450::PLACES, Lists450::WORDS);
        assert_eq!((LISTS, STACKS, PROCESSORS.name), (60, 64, "processors"));
        let mut frame = PpFrame::default();
        (frame.registers.processors, frame.lists) = (2, vec![0x1000, 0x2000]);
        frame.write_backs[0].source = WriteBackSource::Color;
        let words = frame.to_words();
        assert_eq!(words.len(), PP_FRAME_WORDS);
        assert_eq!(PpFrame::from_words(&words), frame);
        assert!(PpFrame::undocumented(&words).is_empty());
    }

    #[test]
    fn bits_in_no_row_are_reported() {
        let mut words = vec![0; PP_FRAME_WORDS];
        (words[3], words[14], words[24], words[33], words[36 + 9]) = (4, 8, 2, 1, 1);
        // The second unit is disabled.
        assert_eq!(PpFrame::undocumented(&words), [(3, 4), (14, 8), (33, 1)]);
    }
}
