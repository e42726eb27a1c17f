//! Command streams: of vertices, of polygon lists, and the lists of tiles (docs/spec/mali/streams.md). A command is a
//! value and an operation, 64 bits; the operation's upper bits say what it is.

use crate::field::{Aligned, Code, codes};
use crate::words::{commands, words};

commands! {
    /// A command of the vertex stream.
    pub enum VertexCommand {
        /// Runs vertices.
        RunVertices([0, 0xf000_0000] = [0, 0]) {
            /// Vertices come by indices.
            indexed: bool, 0, 0, 1;
            /// How many.
            count: u32, 0, 24, 24;
        }
        /// Says how long the program is.
        ProgramInfo([0, 0xf000_ffff] = [0, 0x1000_0040]) {
            /// Instructions less one.
            last: u16, 0, 10, 10;
            /// The last instruction that reads attributes, a hint.
            prefetch: u16, 0, 20, 12;
        }
        /// Always 3; meaning unknown.
        Register41([0, 0xf000_ffff] = [0, 0x1000_0041]) {
            /// 3.
            value: u32, 0, 0, 32;
        }
        /// Says how many attributes and outputs a vertex has.
        Counts([0, 0xf000_ffff] = [0, 0x1000_0042]) {
            /// Outputs less one.
            outputs: u8, 0, 8, 8;
            /// Attributes less one.
            attributes: u8, 0, 24, 8;
        }
        /// Says where attributes are.
        Attributes([0, 0xf000_ffff] = [0, 0x2000_0000]) {
            /// Address of the specifications.
            address: u32, 0, 0, 32;
            /// Their words.
            words: u16, 1, 16, 12;
        }
        /// Says where outputs go.
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
            /// How many vec4s.
            vec4s: u16, 1, 16, 12;
        }
        /// Loads a program.
        Program([0, 0xf000_0000] = [0, 0x4000_0000]) {
            /// Its address.
            address: u32, 0, 0, 32;
            /// Its instructions.
            instructions: u16, 1, 16, 12;
        }
        /// Keeps step with the polygon list builder.
        VertexSemaphore([0, 0xf000_0000] = [0, 0x5000_0000]) {
            /// Which step: [`semaphore`].
            value: u32, 0, 0, 32;
        }
        /// Behind each draw.
        Flush([0, 0xf000_0000] = [0, 0x6000_0000]) {
        }
        /// The stream goes on elsewhere.
        VertexJump([0, 0xf000_0000] = [0, 0xf000_0000]) {
            /// Where.
            address: u32, 0, 0, 32;
        }
    }
}

/// Values of semaphores in known streams.
pub mod semaphore {
    /// Before the vertices of a draw without indices.
    pub const VERTEX_BEGIN: u32 = 0x0002_8000;
    /// Behind that.
    pub const VERTEX_NEXT: u32 = 1;
    /// Behind the vertices of a draw without indices.
    pub const VERTEX_END: u32 = 0;
    /// Before a draw of the polygon list builder.
    pub const LIST_BEGIN: u32 = 0x0001_0002;
    /// Behind it.
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
    /// Bytes of a component, of the types that are known.
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
    /// Where an attribute comes from, or an output goes.
    pub struct VertexSpec, 2 words {
        /// Address of the first vertex's.
        address: u32, 0, 0, 32;
        /// Components less one.
        components: u8, 1, 0, 2;
        /// Type of the components.
        kind: ComponentType, 1, 2, 8;
        /// Integers are fixed-point numbers with 16 bits behind the point.
        fixed: bool, 1, 10, 1;
        /// Bytes from one vertex's to the next.
        stride: u32, 1, 11, 21;
    }
}

/// What a specification of an output means.
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
        // In outputs the type's number means what the vertices are assembled from.
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

    /// So many floats at an address.
    pub const fn floats(address: u32, components: u32, stride: u32) -> Self {
        Self {
            address,
            components: components.saturating_sub(1) as u8,
            kind: ComponentType::F32,
            fixed: false,
            stride,
        }
    }

    /// What it means for an output.
    pub fn output(&self) -> OutputKind {
        if *self == Self::position(self.address) {
            OutputKind::Position
        } else if *self == Self::point_size(self.address) {
            OutputKind::PointSize
        } else {
            OutputKind::Varying
        }
    }

    /// Number of the type, the bit for fixed-point numbers included.
    pub fn type_code(&self) -> u32 {
        self.kind.code() | u32::from(self.fixed) << 8
    }
}

codes! {
    /// What primitives a draw is of.
    pub open enum PrimitiveMode, 5 bits {
        /// Points.
        Points = 0, "points";
        /// Lines.
        Lines = 1, "lines";
        /// Lines, each from the end of the one before, and back to the first.
        LineLoop = 2, "line loop";
        /// Lines, each from the end of the one before.
        LineStrip = 3, "line strip";
        /// Triangles.
        Triangles = 4, "triangles";
        /// Triangles, each with the last two vertices of the one before.
        TriangleStrip = 5, "triangle strip";
        /// Triangles that share the first vertex.
        TriangleFan = 6, "triangle fan";
        /// Quadrilaterals, of four vertices each.
        Quads = 7, "quads";
        /// Quadrilaterals, each with the last two vertices of the one before.
        QuadStrip = 8, "quad strip";
        /// One polygon, whose triangles share the first vertex.
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
            /// First vertex, or the least index.
            start: u32, 0, 0, 24;
            /// How many vertices.
            count: u32, 0, 24, 24;
            /// What primitives.
            mode: PrimitiveMode, 1, 16, 5;
            /// Vertices come by indices.
            indexed: bool, 1, 21, 1;
        }
        /// Positions of a draw by indices.
        Positions([0, 0xffff_ffff] = [0, 0x1000_0100]) {
            /// Their address.
            address: u32, 0, 0, 32;
        }
        /// Indices.
        Indices([0, 0xffff_ffff] = [0, 0x1000_0101]) {
            /// Their address.
            address: u32, 0, 0, 32;
        }
        /// Sizes of the points of a draw by indices.
        PointSizes([0, 0xffff_ffff] = [0, 0x1000_0102]) {
            /// Their address.
            address: u32, 0, 0, 32;
        }
        /// Where lists that outgrow their blocks go on, in older drivers.
        HeapStart([0, 0xffff_ffff] = [0, 0x1000_0103]) {
            /// Address.
            address: u32, 0, 0, 32;
        }
        /// End of that room.
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
            /// Rows less one.
            rows: u8, 0, 8, 8;
            /// Columns less one.
            columns: u8, 0, 24, 8;
        }
        /// Always 0; meaning unknown.
        Register10A([0, 0xffff_ffff] = [0, 0x1000_010a]) {
            /// 0.
            value: u32, 0, 0, 32;
        }
        /// How primitives are made.
        PrimitiveSetup([0, 0xffff_ffff] = [0, 0x1000_010b]) {
            /// Bytes of a block of lists: power of two, less seven.
            block_size: u8, 0, 8, 2;
            /// Indices of 16 bits.
            indices_16: bool, 0, 10, 1;
            /// Indices of 32 bits.
            indices_32: bool, 0, 11, 1;
            /// Points have the size of [`PointSize`].
            fixed_size: bool, 0, 12, 1;
            /// Vertices come from a program.
            from_program: bool, 0, 13, 1;
            /// Triangles that turn clockwise in the picture's rows are left out.
            cull_clockwise: bool, 0, 17, 1;
            /// Triangles that turn counter-clockwise are left out.
            cull_counter_clockwise: bool, 0, 18, 1;
        }
        /// Blocks of lists in tiles.
        BlockShape([0, 0xffff_ffff] = [0, 0x1000_010c]) {
            /// Power of two of its columns.
            shift_x: u8, 0, 0, 4;
            /// Power of two of its rows.
            shift_y: u8, 0, 16, 4;
            /// The lesser of the two, at most 2.
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
        /// Where the blocks of lists are.
        BlockTable([0, 0xf000_0000] = [0, 0x2800_0000]) {
            /// Address of their addresses.
            address: u32, 0, 0, 32;
            /// How many, less one.
            last: u16, 1, 0, 16;
        }
        /// Blocks a row.
        BlockWidth([0, 0xf000_0000] = [0, 0x3000_0000]) {
            /// Blocks.
            blocks: u32, 0, 0, 32;
        }
        /// End of the stream.
        End([0, 0xf000_0000] = [0, 0x5000_0000]) {
        }
        /// Keeps step with the vertices.
        ListSemaphore([0, 0xf000_0000] = [0, 0x6000_0000]) {
            /// Which step: [`semaphore`].
            value: u32, 0, 0, 32;
        }
        /// Pixels that may be drawn, the last ones included.
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
        /// What draws are made with.
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
        /// Waits, in older drivers.
        Barrier([0, 0xf000_0000] = [0, 0xd000_0000]) {
        }
        /// The stream goes on elsewhere.
        ListJump([0, 0xf000_0000] = [0, 0xf000_0000]) {
            /// Where.
            address: u32, 0, 0, 32;
        }
    }
}

commands! {
    /// A command of a list of tiles.
    pub enum TileCommand {
        /// What follows is of a tile.
        BeginTile([0, 0xff00_0000] = [0, 0xb800_0000]) {
            /// Column of tiles.
            column: u8, 1, 0, 8;
            /// Row of tiles.
            row: u8, 1, 8, 8;
        }
        /// Runs a block of lists.
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
    fn commands_are_what_drivers_write() {
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
    fn every_word_is_some_command() {
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
    fn outputs_are_told_apart() {
        assert_eq!(VertexSpec::position(64).to_words(), [64, 0x8020]);
        assert_eq!(VertexSpec::point_size(64).to_words(), [64, 0x2021]);
        assert_eq!(VertexSpec::floats(64, 2, 32).to_words(), [64, 0x10001]);
        assert_eq!(VertexSpec::from_words(&[0, 0x2021]).output(), OutputKind::PointSize);
        assert_eq!(VertexSpec::from_words(&[0, 0x10003]).output(), OutputKind::Varying);
    }
}
