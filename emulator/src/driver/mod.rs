//! A small driver of our own: links a vertex and a fragment program, writes the command streams, render states and
//! descriptors a real driver would, and submits them through the same door.
//!
//! What it writes is what docs/spec/mali/streams.md and docs/spec/mali/frame.md found in a real driver's jobs.

mod encode;
pub mod link;

use crate::gpu::fault::Fault;
use crate::gpu::{GeometryStats, Gpu, pixel::PixelStats};
use link::Linked;
use loader::mbs::Program;
use std::fmt;
use utgard::frame::GpFrame;
pub use utgard::state::Compare;
pub use utgard::stream::PrimitiveMode;

/// Why a draw cannot be made, or ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The programs do not fit each other, or what they are given does not fit them.
    Link(String),
    /// A job faulted.
    Fault(Fault),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(message) => write!(f, "mali: {message}"),
            Self::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
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
    /// Depth testing, if any.
    pub depth: Option<Depth>,
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
            depth: None,
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

/// A draw whose memory is written: it can be submitted, more than once.
pub struct Prepared {
    gp_frame: [u32; crate::gpu::GP_FRAME_WORDS],
    pp_frame: Vec<u32>,
    /// Address of the vertices' outputs, and bytes from one vertex to the next.
    pub outputs: (u32, u32),
    /// How the programs were put together.
    pub linked: Linked,
}

/// Links a draw and writes everything it needs into the GPU's memory, which must have nothing of the driver's in it.
///
/// # Errors
/// When the programs do not fit, something they need is not given, or there is no room.
pub fn prepare(gpu: &mut Gpu, draw: &Draw<'_>) -> Result<Prepared> {
    let linked = link::link(draw)?;
    encode::encode(gpu, draw, linked)
}

impl Prepared {
    /// The frames of the geometry and of the pixel job, as the kernel interface has them.
    pub fn frames(&self) -> (&[u32], &[u32]) {
        (&self.gp_frame, &self.pp_frame)
    }

    /// Runs both jobs.
    ///
    /// # Errors
    /// The fault of one.
    pub fn submit(&self, gpu: &mut Gpu) -> Result<(GeometryStats, PixelStats)> {
        let geometry = gpu.run_gp(&self.gp_frame)?;
        let pixels = gpu.run_pp(&self.pp_frame)?;
        Ok((geometry, pixels))
    }

    /// Runs the vertices of the geometry job, without building lists.
    ///
    /// # Errors
    /// The fault of the job.
    pub fn run_vertices(&self, gpu: &mut Gpu) -> Result<GeometryStats> {
        let all = GpFrame::from_words(&self.gp_frame);
        let vertices = GpFrame {
            vertex_start: all.vertex_start,
            vertex_end: all.vertex_end,
            ..GpFrame::default()
        };
        Ok(gpu.run_gp(&vertices.to_words())?)
    }

    /// The picture of the last submission.
    ///
    /// # Errors
    /// When the target's memory is gone.
    pub fn picture(&self, gpu: &Gpu) -> Result<Picture> {
        let frame = crate::gpu::frame::Frame::parse(&self.pp_frame)?;
        let (width, height, rgba) = crate::gpu::write_back::read(&gpu.memory, &frame, &frame.write_backs[0])?;
        Ok(Picture { width, height, rgba })
    }

    /// A vertex's output of the last submission: the position as the program stored it (window, 1/w).
    ///
    /// # Errors
    /// When there is no such vertex.
    pub fn position(&self, gpu: &Gpu, vertex: u32) -> Result<[f32; 4]> {
        let words = gpu.memory.words(self.linked.positions.wrapping_add(16 * vertex), 4)?;
        Ok([words[0], words[1], words[2], words[3]].map(f32::from_bits))
    }

    /// Floats of a vertex's varyings of the last submission, from float number `first` of the fragment program on.
    ///
    /// # Errors
    /// When there is no such vertex.
    pub fn varying(&self, gpu: &Gpu, vertex: u32, first: u32, count: u32) -> Result<Vec<f32>> {
        let (base, stride) = self.outputs;
        let words = gpu
            .memory
            .words(base.wrapping_add(stride * vertex + 4 * first), count)?;
        Ok(words.into_iter().map(f32::from_bits).collect())
    }
}

/// Draws: links, submits, reads the picture.
///
/// # Errors
/// As [`prepare`] and [`Prepared::submit`].
pub fn draw(gpu: &mut Gpu, draw: &Draw<'_>) -> Result<Picture> {
    let prepared = prepare(gpu, draw)?;
    prepared.submit(gpu)?;
    prepared.picture(gpu)
}
