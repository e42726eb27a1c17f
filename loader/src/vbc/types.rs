//! The records of a file.
//!
//! The wiki names the enumerations without their values; the values are those of the compiler that writes the files
//! (VSL `Types.hpp`, `ShaderInfo.hpp`), confirmed by its output.

use crate::open_enum;
use std::fmt;

open_enum! {
    /// Type of a value or binding. Inputs and outputs use 2 to 4, uniform members 1 to 4, bindings 5 to 11 minus 11;
    /// the compiler defines more, which occur in no file.
    pub struct BaseType(u8) {
        VOID = 0 "void", BOOL = 1 "bool", INT = 2 "int", UINT = 3 "uint", FLOAT = 4 "float",
        SAMPLER = 5 "sampler", IMAGE = 6 "image", RO_BUFFER = 7 "robuffer", RW_BUFFER = 8 "rwbuffer",
        RO_TEXELS = 9 "rotexels", RW_TEXELS = 10 "rwtexels",
        SUBPASS_INPUT = 11 "spinput", UNIFORM = 12 "uniform", STRUCT = 13 "struct",
    }
}

open_enum! {
    /// Shape of an image or texel buffer. There are no cube arrays and no multisampled images.
    pub struct TexelRank(u8) {
        D1 = 0 "1d", D2 = 1 "2d", D3 = 2 "3d", D1_ARRAY = 3 "1darray", D2_ARRAY = 4 "2darray",
        CUBE = 5 "cube", BUFFER = 6 "buffer",
    }
}

open_enum! {
    /// How a texel's components are stored and read.
    pub struct TexelType(u8) { INT = 0 "int", UINT = 1 "uint", FLOAT = 2 "float", UNORM = 3 "unorm", SNORM = 4 "snorm" }
}

impl BaseType {
    /// Whether a binding of this type holds structs: read-only and read-write buffers.
    pub fn is_buffer(self) -> bool {
        matches!(self, Self::RO_BUFFER | Self::RW_BUFFER)
    }

    /// Whether this is a binding type.
    pub fn is_binding(self) -> bool {
        (Self::SAMPLER..=Self::RW_TEXELS).contains(&self)
    }

    /// Whether values of this type are numeric: int, uint or float.
    pub fn is_numeric(self) -> bool {
        (Self::INT..=Self::FLOAT).contains(&self)
    }
}

/// The two layouts that share magic and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Written since 2021-01-30; the one in the wiki.
    Current,
    /// Written from 2021-01-03 to 2021-01-13: wider uniform fields, other enumeration numbers.
    Legacy,
}

impl Dialect {
    /// Lower-case name for text and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Legacy => "legacy",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A stage of the graphics pipeline, in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Vertex.
    Vert,
    /// Tessellation control.
    Tesc,
    /// Tessellation evaluation.
    Tese,
    /// Geometry.
    Geom,
    /// Fragment.
    Frag,
}

impl Stage {
    /// Every stage in file order.
    pub const ALL: [Self; 5] = [Self::Vert, Self::Tesc, Self::Tese, Self::Geom, Self::Frag];

    /// Position in the header's lists, 0 to 4.
    pub fn index(self) -> usize {
        self as usize
    }

    /// The stage's bit in a [`Stages`] mask; the same bit as Vulkan's stage flag.
    pub fn bit(self) -> u16 {
        1 << self.index()
    }

    /// Short lower-case name.
    pub fn name(self) -> &'static str {
        ["vert", "tesc", "tese", "geom", "frag"][self.index()]
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A mask of stages: vert 1, tesc 2, tese 4, geom 8, frag 16. Open: other bits are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stages(pub u16);

impl Stages {
    /// No stage: declared but unused.
    pub const NONE: Self = Self(0);
    /// Vertex and fragment.
    pub const VERT_FRAG: Self = Self(1 | 16);
    /// All five stages.
    pub const ALL: Self = Self(31);

    /// Whether the stage is in the mask.
    pub fn contains(self, stage: Stage) -> bool {
        self.0 & stage.bit() != 0
    }

    /// The stages of the mask in file order; unknown bits are skipped.
    pub fn iter(self) -> impl Iterator<Item = Stage> {
        Stage::ALL.into_iter().filter(move |&stage| self.contains(stage))
    }

    /// The bits that are not stages.
    pub fn unknown(self) -> u16 {
        self.0 & !Self::ALL.0
    }
}

impl FromIterator<Stage> for Stages {
    fn from_iter<I: IntoIterator<Item = Stage>>(stages: I) -> Self {
        Self(stages.into_iter().fold(0, |mask, stage| mask | stage.bit()))
    }
}

impl fmt::Display for Stages {
    /// `vert|frag`; unknown bits as a hexadecimal number; `none` for an empty mask.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("none");
        }
        let mut bar = "";
        for stage in self.iter() {
            write!(f, "{bar}{stage}")?;
            bar = "|";
        }
        match self.unknown() {
            0 => Ok(()),
            bits => write!(f, "{bar}{bits:#x}"),
        }
    }
}

/// Entries of the five binding tables; the code's descriptor arrays have exactly these lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tables {
    /// Combined image samplers: set 0, binding 0.
    pub samplers: u16,
    /// Storage images: set 0, binding 1.
    pub images: u16,
    /// Read-only and read-write storage buffers: set 0, binding 2.
    pub buffers: u16,
    /// Uniform texel buffers: set 0, binding 3.
    pub rotexels: u16,
    /// Storage texel buffers: set 0, binding 4.
    pub rwtexels: u16,
}

impl Default for Tables {
    /// The compiler's defaults, and the only sizes that the engine accepts.
    fn default() -> Self {
        Self {
            samplers: 8192,
            images: 128,
            buffers: 512,
            rotexels: 128,
            rwtexels: 128,
        }
    }
}

impl Tables {
    /// Sizes in file order, which is also the order of the bindings in set 0.
    pub fn sizes(&self) -> [u16; 5] {
        [self.samplers, self.images, self.buffers, self.rotexels, self.rwtexels]
    }

    /// Tables of these sizes, in file order.
    pub fn from_sizes([samplers, images, buffers, rotexels, rwtexels]: [u16; 5]) -> Self {
        Self {
            samplers,
            images,
            buffers,
            rotexels,
            rwtexels,
        }
    }

    /// Names of the tables, in file order.
    pub const NAMES: [&'static str; 5] = ["samplers", "images", "buffers", "rotexels", "rwtexels"];

    /// The table that a binding type takes its entry from (index in [`Tables::sizes`], binding in set 0).
    pub fn index_of(base: BaseType) -> Option<usize> {
        match base {
            BaseType::SAMPLER => Some(0),
            BaseType::IMAGE => Some(1),
            BaseType::RO_BUFFER | BaseType::RW_BUFFER => Some(2),
            BaseType::RO_TEXELS => Some(3),
            BaseType::RW_TEXELS => Some(4),
            _ => None,
        }
    }
}

/// A vertex input or fragment output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variable {
    /// First location; for an output, the attachment index.
    pub location: u8,
    /// Component type: int, uint or float.
    pub base: BaseType,
    /// Rows (the length of a vector), then columns. A scalar is `[1, 1]`, VSL's `float2x3` (2 columns) `[3, 2]`.
    pub dims: [u8; 2],
    /// Elements of an array; 1 if it is not an array.
    pub array: u8,
}

impl Variable {
    /// Number of consecutive locations: one per column of each element.
    pub fn locations(&self) -> u32 {
        u32::from(self.dims[1]) * u32::from(self.array)
    }
}

/// What a binding slot refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// Slot, 0 to 31: its table index is the 16-bit push constant at byte `2 * slot`.
    pub slot: u8,
    /// Kind of binding: sampler, image, buffers or texel buffers.
    pub base: BaseType,
    /// Stages whose source uses it; may be empty.
    pub stages: Stages,
    /// Element size or texel format.
    pub shape: Shape,
}

/// The part of a [`Binding`] that depends on its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Read-only and read-write buffers.
    Buffer {
        /// Bytes of one struct; also the array's stride.
        size: u16,
    },
    /// Every other kind, known or not.
    Texel {
        /// Shape of the image; [`TexelRank::BUFFER`] for texel buffers.
        rank: TexelRank,
        /// Type of the components.
        texel: TexelType,
        /// Bytes of one component.
        size: u8,
        /// Components of a texel: 1, 2 or 4.
        components: u8,
    },
}

/// A subpass input; its attachment index is its position in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubpassInput {
    /// Type of the components: int, uint or float.
    pub texel: TexelType,
    /// Components of a texel; the compiler supports only 4.
    pub components: u8,
}
