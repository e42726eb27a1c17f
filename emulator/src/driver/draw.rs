//! What is drawn, and why it cannot be.

use crate::fault::Fault;
use loader::mbs::Program;
use utgard::state::{Compare, StencilOp};
use utgard::stream::PrimitiveMode;

/// Why a draw cannot be made, or ended early; one machine word wide.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<ErrorKind>);

/// What went wrong with a draw.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The programs do not fit each other, or what they are given does not fit them.
    #[error("mali: {0}")]
    Link(String),
    /// A job faulted.
    #[error("{0}")]
    Fault(#[from] Fault),
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// The fault of the job, if it came to one.
    pub fn fault(&self) -> Option<&Fault> {
        match self.kind() {
            ErrorKind::Fault(fault) => Some(fault),
            ErrorKind::Link(_) => None,
        }
    }
}

impl<E> From<E> for Error
where
    ErrorKind: From<E>,
{
    fn from(error: E) -> Self {
        Self(Box::new(error.into()))
    }
}

/// Result of the driver.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A texture's texels, red, green, blue and alpha, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Width in texels, 1 to 4096.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Four bytes a texel; six faces one behind the other for a cube map.
    pub rgba: Vec<u8>,
    /// Blend neighbouring texels.
    pub linear: bool,
    /// Repeat outside, else the edge goes on.
    pub repeat: bool,
}

/// Depth testing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depth {
    /// Comparison of a fragment's depth with what is there.
    pub compare: Compare,
    /// Depths of fragments that pass are kept.
    pub write: bool,
}

/// Stencil testing of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stencil {
    /// Comparison of the reference with the stencil.
    pub compare: Compare,
    /// Operation if the comparison fails.
    pub fail: StencilOp,
    /// Operation if the depth test fails.
    pub depth_fail: StencilOp,
    /// Operation if both pass.
    pub pass: StencilOp,
    /// Reference.
    pub reference: u8,
    /// Bits that are compared.
    pub mask: u8,
    /// Bits that are written.
    pub write_mask: u8,
}

/// Contents of the targets before a draw, in place of clear values; rows from the top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Red, green, blue and alpha of each pixel.
    pub rgba: Vec<u8>,
    /// Depth in bits 23-0 and stencil in bits 31-24 of each pixel; empty for the clear values.
    pub depth_stencil: Vec<u32>,
}

/// How colours meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blend {
    /// The fragment's.
    #[default]
    None,
    /// By the fragment's alpha.
    Alpha,
    /// As above, colours multiplied already.
    Premultiplied,
    /// Sum.
    Additive,
    /// Product.
    Multiply,
}

/// Culled side; the front turns counter-clockwise where the y axis points up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cull {
    /// None.
    #[default]
    None,
    /// The front.
    Front,
    /// The back.
    Back,
}

/// A draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw<'a> {
    /// Vertex program.
    pub vertex: &'a Program,
    /// Fragment program.
    pub fragment: &'a Program,
    /// Width and height of the picture in pixels, 1 to 4096.
    pub size: [u32; 2],
    /// Colour the picture begins with.
    pub clear: [f32; 4],
    /// Depth it begins with.
    pub clear_depth: f32,
    /// What primitives the vertices make.
    pub mode: PrimitiveMode,
    /// Vertices.
    pub count: u32,
    /// Which vertices, where they are not drawn in order.
    pub indices: Option<Vec<u16>>,
    /// Attributes by name, four numbers a vertex.
    pub attributes: Vec<(String, Vec<[f32; 4]>)>,
    /// Uniforms of both programs by name: elements one behind the other, matrices column by column.
    pub uniforms: Vec<(String, Vec<f32>)>,
    /// Textures by the sampler's name.
    pub textures: Vec<(String, Image)>,
    /// Stencil it begins with.
    pub clear_stencil: u8,
    /// What the targets hold before the draw, if not the clear values.
    pub before: Option<Contents>,
    /// Write depth and stencil to memory, too.
    pub keep_depth: bool,
    /// Depth testing, if any.
    pub depth: Option<Depth>,
    /// Stencil testing of the front and the back, if any; the front is that of [`Cull`].
    pub stencil: Option<[Stencil; 2]>,
    /// How colours meet.
    pub blend: Blend,
    /// Culled side.
    pub cull: Cull,
}

impl<'a> Draw<'a> {
    /// Three vertices as a triangle, with nothing given yet.
    pub fn new(vertex: &'a Program, fragment: &'a Program, size: [u32; 2]) -> Self {
        Self {
            vertex,
            fragment,
            size,
            clear: [0.0, 0.0, 0.0, 1.0],
            clear_depth: 1.0,
            mode: PrimitiveMode::Triangles,
            count: 3,
            indices: None,
            attributes: Vec::new(),
            uniforms: Vec::new(),
            textures: Vec::new(),
            clear_stencil: 0,
            before: None,
            keep_depth: false,
            depth: None,
            stencil: None,
            blend: Blend::None,
            cull: Cull::None,
        }
    }
}

/// A picture: width, height, and red, green, blue and alpha of every pixel, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Four bytes a pixel.
    pub rgba: Vec<u8>,
}
