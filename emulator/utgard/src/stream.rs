//! Command streams of vertices and polygon lists, and tile lists (docs/spec/mali/streams.md). A command is 64 bits, a
//! value and an operation; the operation's upper bits select the command.

use crate::field::{Aligned, Code, codes};
use crate::words::{commands, words};

commands! {
    /// A command of the vertex stream.
    pub enum VertexCommand {
        /// Runs vertices.
        RunVertices([0, 0xf000_0000] = [0, 0]) {
            /// Whether vertices are indexed.
            indexed: bool, 0, 0, 1;
            /// Number of vertices.
            count: u32, 0, 24, 24;
        }
        /// Length of the program.
        ProgramInfo([0, 0xf000_ffff] = [0, 0x1000_0040]) {
            /// Instructions minus one.
            last: u16, 0, 10, 10;
            /// The last instruction that reads attributes, a hint.
            prefetch: u16, 0, 20, 12;
        }
        /// Always 3; meaning unknown.
        Register41([0, 0xf000_ffff] = [0, 0x1000_0041]) {
            /// 3.
            value: u32, 0, 0, 32;
        }
        /// Number of attributes and outputs per vertex.
        Counts([0, 0xf000_ffff] = [0, 0x1000_0042]) {
            /// Outputs minus one.
            outputs: u8, 0, 8, 8;
            /// Attributes minus one.
            attributes: u8, 0, 24, 8;
        }
        /// Specifications of the attributes.
        Attributes([0, 0xf000_ffff] = [0, 0x2000_0000]) {
            /// Address of the specifications.
            address: u32, 0, 0, 32;
            /// Their words.
            words: u16, 1, 16, 12;
        }
        /// Specifications of the outputs.
        Outputs([0, 0xf000_ffff] = [0, 0x2000_0008]) {
            /// Address of the specifications.
            address: u32, 0, 0, 32;
            /// Their words.
            words: u16, 1, 16, 12;
        }
        /// Loads uniforms and constants.
        Uniforms([0, 0xf000_0000] = [0, 0x3000_0000]) {
            /// Their address.
            address: u32, 0, 0, 32;
            /// Number of vec4s.
            vec4s: u16, 1, 16, 12;
        }
        /// Loads a program.
        Program([0, 0xf000_0000] = [0, 0x4000_0000]) {
            /// Its address.
            address: u32, 0, 0, 32;
            /// Its instructions.
            instructions: u16, 1, 16, 12;
        }
        /// Synchronises with the polygon list builder.
        VertexSemaphore([0, 0xf000_0000] = [0, 0x5000_0000]) {
            /// The step: [`semaphore`].
            value: u32, 0, 0, 32;
        }
        /// After each draw.
        Flush([0, 0xf000_0000] = [0, 0x6000_0000]) {
        }
        /// Continues the stream at another address.
        VertexJump([0, 0xf000_0000] = [0, 0xf000_0000]) {
            /// The address.
            address: u32, 0, 0, 32;
        }
    }
}

/// Values of semaphores in known streams.
pub mod semaphore {
    /// Before the vertices of a draw without indices.
    pub const VERTEX_BEGIN: u32 = 0x0002_8000;
    /// After that.
    pub const VERTEX_NEXT: u32 = 1;
    /// After the vertices of a draw without indices.
    pub const VERTEX_END: u32 = 0;
    /// Before a draw of the polygon list builder.
    pub const LIST_BEGIN: u32 = 0x0001_0002;
    /// After it.
    pub const LIST_END: u32 = 0x0001_0001;
}

/// The value of [`Register41`] in every known stream.
pub const REGISTER_41: u32 = 3;

codes! {
    /// The type of an attribute's or an output's components.
    pub open enum ComponentType, 8 bits {
        /// Float.
        F32 = 0x0, "float";
        /// Integer, 32 bits.
        I32 = 0x1, "int";
        /// Unsigned integer, 32 bits.
        U32 = 0x2, "uint";
        /// Half.
        F16 = 0x3, "half";
        /// Integer, 16 bits.
        I16 = 0x4, "short";
        /// Unsigned integer, 16 bits.
        U16 = 0x5, "ushort";
        /// Integer, 8 bits.
        I8 = 0x6, "byte";
        /// Unsigned integer, 8 bits.
        U8 = 0x7, "ubyte";
        /// Signed normalised, 8 bits.
        Snorm8 = 0x8, "snorm8";
        /// Normalised, 8 bits.
        Unorm8 = 0x9, "unorm8";
        /// Signed normalised, 16 bits.
        Snorm16 = 0xa, "snorm16";
        /// Normalised, 16 bits.
        Unorm16 = 0xb, "unorm16";
        /// Signed normalised, 32 bits.
        Snorm32 = 0xd, "snorm32";
        /// Normalised, 32 bits.
        Unorm32 = 0xe, "unorm32";
    }
}

impl ComponentType {
    /// Size of a component in bytes, for known types.
    pub const fn bytes(self) -> Option<u32> {
        Some(match self {
            Self::F32 | Self::I32 | Self::U32 | Self::Snorm32 | Self::Unorm32 => 4,
            Self::F16 | Self::I16 | Self::U16 | Self::Snorm16 | Self::Unorm16 => 2,
            Self::I8 | Self::U8 | Self::Snorm8 | Self::Unorm8 => 1,
            Self::Undocumented(_) => return None,
        })
    }
}

words! {
    /// Memory layout of an attribute or an output.
    pub struct VertexSpec, 2 words {
        /// Address of the first vertex's value.
        address: u32, 0, 0, 32;
        /// Components minus one.
        components: u8, 1, 0, 2;
        /// Type of the components.
        kind: ComponentType, 1, 2, 8;
        /// Integers are fixed-point numbers with 16 fractional bits.
        fixed: bool, 1, 10, 1;
        /// Stride in bytes.
        stride: u32, 1, 11, 21;
    }
}

/// The meaning of an output's specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// `gl_Position`, four floats.
    Position,
    /// `gl_PointSize`, a float.
    PointSize,
    /// A varying.
    Varying,
}

impl VertexSpec {
    /// The specification of `gl_Position` at an address.
    pub const fn position(address: u32) -> Self {
        // In outputs the type's number selects what the vertex is assembled from.
        Self {
            address,
            components: 0,
            kind: ComponentType::Snorm8,
            fixed: false,
            stride: 16,
        }
    }

    /// The specification of `gl_PointSize` at an address.
    pub const fn point_size(address: u32) -> Self {
        Self {
            components: 1,
            stride: 4,
            ..Self::position(address)
        }
    }

    /// A specification of floats at an address.
    pub const fn floats(address: u32, components: u32, stride: u32) -> Self {
        Self {
            address,
            components: components.saturating_sub(1) as u8,
            kind: ComponentType::F32,
            fixed: false,
            stride,
        }
    }

    /// Its meaning for an output.
    pub fn output(&self) -> OutputKind {
        if *self == Self::position(self.address) {
            OutputKind::Position
        } else if *self == Self::point_size(self.address) {
            OutputKind::PointSize
        } else {
            OutputKind::Varying
        }
    }

    /// The type's number, including the fixed-point bit.
    pub fn type_code(&self) -> u32 {
        self.kind.code() | u32::from(self.fixed) << 8
    }
}

codes! {
    /// Primitive type of a draw.
    pub open enum PrimitiveMode, 5 bits {
        /// Points.
        Points = 0, "points";
        /// Lines.
        Lines = 1, "lines";
        /// Connected lines, back to the first vertex.
        LineLoop = 2, "line loop";
        /// Connected lines.
        LineStrip = 3, "line strip";
        /// Triangles.
        Triangles = 4, "triangles";
        /// Triangles that each share two vertices with the previous one.
        TriangleStrip = 5, "triangle strip";
        /// Triangles that share the first vertex.
        TriangleFan = 6, "triangle fan";
        /// Quads, four vertices each.
        Quads = 7, "quads";
        /// Quads that each share two vertices with the previous one.
        QuadStrip = 8, "quad strip";
        /// One polygon; its triangles share the first vertex.
        Polygon = 9, "polygon";
        /// Rectangles: right top, left top, left bottom.
        Rectangle = 15, "rectangle";
    }
}

commands! {
    /// A command of the polygon list builder's stream.
    pub enum ListCommand {
        /// Draws primitives.
        DrawPrimitives([0, 0xf000_0000] = [0, 0]) {
            /// First vertex, or the minimum index.
            start: u32, 0, 0, 24;
            /// Number of vertices.
            count: u32, 0, 24, 24;
            /// Primitive type.
            mode: PrimitiveMode, 1, 16, 5;
            /// Whether vertices are indexed.
            indexed: bool, 1, 21, 1;
        }
        /// Positions of an indexed draw.
        Positions([0, 0xffff_ffff] = [0, 0x1000_0100]) {
            /// Their address.
            address: u32, 0, 0, 32;
        }
        /// Indices.
        Indices([0, 0xffff_ffff] = [0, 0x1000_0101]) {
            /// Their address.
            address: u32, 0, 0, 32;
        }
        /// Point sizes of an indexed draw.
        PointSizes([0, 0xffff_ffff] = [0, 0x1000_0102]) {
            /// Their address.
            address: u32, 0, 0, 32;
        }
        /// Start of the heap for lists that outgrow their blocks, in older drivers.
        HeapStart([0, 0xffff_ffff] = [0, 0x1000_0103]) {
            /// Address.
            address: u32, 0, 0, 32;
        }
        /// End of the heap.
        HeapEnd([0, 0xffff_ffff] = [0, 0x1000_0104]) {
            /// Address.
            address: u32, 0, 0, 32;
        }
        /// Top of the viewport.
        ViewportTop([0, 0xffff_ffff] = [0, 0x1000_0105]) {
            /// In pixels.
            edge: f32, 0, 0, 32;
        }
        /// Bottom of the viewport.
        ViewportBottom([0, 0xffff_ffff] = [0, 0x1000_0106]) {
            /// In pixels.
            edge: f32, 0, 0, 32;
        }
        /// Left edge of the viewport.
        ViewportLeft([0, 0xffff_ffff] = [0, 0x1000_0107]) {
            /// In pixels.
            edge: f32, 0, 0, 32;
        }
        /// Right edge of the viewport.
        ViewportRight([0, 0xffff_ffff] = [0, 0x1000_0108]) {
            /// In pixels.
            edge: f32, 0, 0, 32;
        }
        /// Size of the picture in tiles.
        TileCounts([0, 0xffff_ffff] = [0, 0x1000_0109]) {
            /// Rows minus one.
            rows: u8, 0, 8, 8;
            /// Columns minus one.
            columns: u8, 0, 24, 8;
        }
        /// Always 0; meaning unknown.
        Register10A([0, 0xffff_ffff] = [0, 0x1000_010a]) {
            /// 0.
            value: u32, 0, 0, 32;
        }
        /// Setup of primitives.
        PrimitiveSetup([0, 0xffff_ffff] = [0, 0x1000_010b]) {
            /// Log2 of a list block's bytes, minus seven.
            block_size: u8, 0, 8, 2;
            /// Indices of 16 bits.
            indices_16: bool, 0, 10, 1;
            /// Indices of 32 bits.
            indices_32: bool, 0, 11, 1;
            /// Points have the size of [`PointSize`].
            fixed_size: bool, 0, 12, 1;
            /// Whether vertices come from a program.
            from_program: bool, 0, 13, 1;
            /// Whether triangles that are clockwise in the picture's rows are culled.
            cull_clockwise: bool, 0, 17, 1;
            /// Whether counter-clockwise triangles are culled.
            cull_counter_clockwise: bool, 0, 18, 1;
        }
        /// Size of a list block in tiles.
        BlockShape([0, 0xffff_ffff] = [0, 0x1000_010c]) {
            /// Log2 of its columns.
            shift_x: u8, 0, 0, 4;
            /// Log2 of its rows.
            shift_y: u8, 0, 16, 4;
            /// The minimum of the two, at most 2.
            least: u8, 0, 28, 4;
        }
        /// Size of points, or width of lines.
        PointSize([0, 0xffff_ffff] = [0, 0x1000_010d]) {
            /// In pixels.
            size: f32, 0, 0, 32;
        }
        /// Depth of the near plane.
        Near([0, 0xffff_ffff] = [0, 0x1000_010e]) {
            /// 0 to 1.
            depth: f32, 0, 0, 32;
        }
        /// Depth of the far plane.
        Far([0, 0xffff_ffff] = [0, 0x1000_010f]) {
            /// 0 to 1.
            depth: f32, 0, 0, 32;
        }
        /// Table of list blocks.
        BlockTable([0, 0xf000_0000] = [0, 0x2800_0000]) {
            /// Address of their addresses.
            address: u32, 0, 0, 32;
            /// Number of blocks minus one.
            last: u16, 1, 0, 16;
        }
        /// Blocks per row.
        BlockWidth([0, 0xf000_0000] = [0, 0x3000_0000]) {
            /// Blocks.
            blocks: u32, 0, 0, 32;
        }
        /// End of the stream.
        End([0, 0xf000_0000] = [0, 0x5000_0000]) {
        }
        /// Synchronises with the vertex stream.
        ListSemaphore([0, 0xf000_0000] = [0, 0x6000_0000]) {
            /// The step: [`semaphore`].
            value: u32, 0, 0, 32;
        }
        /// Rectangle of pixels that may be drawn, inclusive.
        Scissor([0, 0xf000_0000] = [0, 0x7000_0000]) {
            /// First row.
            top: u16, 0, 0, 15;
            /// Last row.
            bottom: u16, 0, 15, 15;
            /// First column.
            left: u16, 0, 30, 15;
            /// Last column.
            right: u16, 1, 13, 15;
        }
        /// State of the following draws.
        BindState([0, 0xf000_0000] = [0, 0x8000_0000]) {
            /// Address of the render state.
            state: u32, 0, 0, 32;
            /// Address of the positions.
            positions: Aligned<4>, 1, 0, 28;
        }
        /// Stores registers across frames, in older drivers.
        StoreRegister([0, 0xf000_0000] = [0, 0x9000_0000]) {
            /// Address.
            address: u32, 0, 0, 32;
            /// Which register.
            register: u32, 1, 0, 28;
        }
        /// Loads registers across frames, in older drivers.
        LoadRegister([0, 0xf000_0000] = [0, 0xa000_0000]) {
            /// Address.
            address: u32, 0, 0, 32;
            /// Which register.
            register: u32, 1, 0, 28;
        }
        /// A barrier, in older drivers.
        Barrier([0, 0xf000_0000] = [0, 0xd000_0000]) {
        }
        /// Continues the stream at another address.
        ListJump([0, 0xf000_0000] = [0, 0xf000_0000]) {
            /// The address.
            address: u32, 0, 0, 32;
        }
    }
}

commands! {
    /// A command of a tile list.
    pub enum TileCommand {
        /// Begins a tile.
        BeginTile([0, 0xff00_0000] = [0, 0xb800_0000]) {
            /// Column of tiles.
            column: u8, 1, 0, 8;
            /// Row of tiles.
            row: u8, 1, 8, 8;
        }
        /// Runs a list block.
        RunBlock([0xe000_0000, 0xff00_0000] = [0xe000_0002, 0xb000_0000]) {
            /// Address of the block.
            block: Aligned<5>, 0, 2, 27;
        }
        /// End of the list.
        EndOfTiles([0, 0xff00_0000] = [0, 0xbc00_0000]) {
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_match_those_of_drivers() {
        let draw = DrawPrimitives {
            start: 5,
            count: 0x0001_2345,
            mode: PrimitiveMode::Triangles,
            indexed: true,
        };
        assert_eq!(ListCommand::from(draw).encode(), [0x4500_0005, 0x0024_0123]);
        assert_eq!(ListCommand::decode([0x4500_0005, 0x0024_0123]), draw.into());
        let scissor = Scissor {
            top: 1,
            bottom: 63,
            left: 7,
            right: 99,
        };
        let words = ListCommand::from(scissor).encode();
        assert_eq!(words, [3 << 30 | 63 << 15 | 1, 0x7000_0001 | 99 << 13]);
        assert_eq!(ListCommand::decode(words), scissor.into());
        let run = RunBlock { block: Aligned(0x4200) };
        assert_eq!(
            TileCommand::from(run).encode(),
            [0xe000_0002 | 0x4200 >> 3, 0xb000_0000]
        );
        let info = ProgramInfo { last: 9, prefetch: 4 };
        assert_eq!(VertexCommand::from(info).encode(), [4 << 20 | 9 << 10, 0x1000_0040]);
    }

    #[test]
    fn every_word_decodes() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..100_000 {
            let words = [random.u32(..), random.u32(..)];
            let lost = ListCommand::undocumented(words);
            let again = ListCommand::decode(words).encode();
            for (at, (word, again)) in words.iter().zip(again).enumerate() {
                let bits = lost
                    .iter()
                    .find(|(number, _)| *number == at)
                    .map_or(0, |(_, bits)| *bits);
                assert_eq!(word & !again, bits, "{words:x?}");
            }
            let _ = (VertexCommand::undocumented(words), TileCommand::undocumented(words));
        }
    }

    #[test]
    fn outputs_are_distinguished() {
        assert_eq!(VertexSpec::position(64).to_words(), [64, 0x8020]);
        assert_eq!(VertexSpec::point_size(64).to_words(), [64, 0x2021]);
        assert_eq!(VertexSpec::floats(64, 2, 32).to_words(), [64, 0x10001]);
        assert_eq!(VertexSpec::from_words(&[0, 0x2021]).output(), OutputKind::PointSize);
        assert_eq!(VertexSpec::from_words(&[0, 0x10003]).output(), OutputKind::Varying);
    }
}
