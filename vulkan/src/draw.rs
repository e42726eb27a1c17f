//! The inputs of a draw besides the shader: plain data, no Vulkan objects.

use crate::texture::{Dim, TexelFormat, at_level};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// How vertices form primitives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Topology {
    /// One point per vertex.
    Points,
    /// A line per two vertices.
    Lines,
    /// One connected line.
    LineStrip,
    /// A line per four vertices: the line's ends are the second and third.
    LinesAdjacency,
    /// A triangle per six vertices: its corners are the first, third and fifth.
    TrianglesAdjacency,
    /// A triangle per three vertices.
    #[default]
    Triangles,
    /// Each vertex after the second forms a triangle with the two before it.
    TriangleStrip,
    /// All triangles share the first vertex.
    TriangleFan,
    /// Patches of this many control points, for tessellation.
    Patches(u32),
}

/// A blend mode.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "kebab-case")]
pub enum Blend {
    /// Replaces the destination.
    #[default]
    None,
    /// Source over: `rgb * a + old * (1 - a)`.
    Alpha,
    /// Source over with premultiplied alpha.
    Premultiplied,
    /// Sum.
    Additive,
    /// Product.
    Multiply,
}

/// A comparison of a fragment's value with the stored one.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // the names are the operators
pub enum Compare {
    Never,
    #[default]
    Less,
    Equal,
    LessOrEqual,
    Greater,
    NotEqual,
    GreaterOrEqual,
    Always,
}

/// Depth testing with a 32-bit float buffer.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Depth {
    /// The comparison.
    pub compare: Compare,
    /// Whether passing fragments write their depth.
    pub write: bool,
    /// The clear value of the buffer, in [0, 1].
    pub clear: f32,
}

impl Default for Depth {
    fn default() -> Self {
        Self {
            compare: Compare::Less,
            write: true,
            clear: 1.0,
        }
    }
}

/// Culled faces; counter-clockwise triangles are front-facing.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // the names say it
pub enum Cull {
    #[default]
    None,
    Front,
    Back,
}

/// Filtering and wrapping of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SamplerDesc {
    /// Interpolate between texels (integer textures never do).
    pub linear: bool,
    /// Repeat beyond the edge instead of clamping to it.
    pub repeat: bool,
}

impl Default for SamplerDesc {
    fn default() -> Self {
        Self {
            linear: false,
            repeat: true,
        }
    }
}

/// An image's texels, tightly packed: x fastest, then y, z, layer, level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texels {
    /// Shape.
    pub dim: Dim,
    /// Format of a texel.
    pub format: TexelFormat,
    /// Width, height, depth; unused dimensions are 1.
    pub extent: [u32; 3],
    /// Layers; 6 for a cube, 1 if it is not an array.
    pub layers: u32,
    /// Mip levels, each half the size of the previous one, rounded down, at least 1; 1 for the base level only.
    pub levels: u32,
    /// `extent[0] * extent[1] * extent[2] * layers` texels of the first level, followed by the other levels.
    pub bytes: Vec<u8>,
}

impl Texels {
    /// Texels in all layers and levels; `None` on overflow, or if there are more levels than possible.
    pub fn count(&self) -> Option<u64> {
        let level = |level: u32| {
            let [width, height, depth] = self.extent.map(|size| u64::from(at_level(size, level)));
            let planes = u64::from(self.layers).checked_mul(depth)?;
            planes.checked_mul(width)?.checked_mul(height)
        };
        let levels = Some(self.levels).filter(|levels| *levels <= u32::BITS)?;
        (0..levels).try_fold(0u64, |all, number| all.checked_add(level(number)?))
    }
}

/// Contents of a slot of VBC's tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlotData {
    /// For samplers and storage images (those ignore the sampler).
    Image(Texels, SamplerDesc),
    /// For read-only and read-write buffers: bytes in scalar layout.
    Buffer(Vec<u8>),
    /// For texel buffers.
    Texels {
        /// Format of a texel.
        format: TexelFormat,
        /// Whole texels.
        bytes: Vec<u8>,
    },
}

/// Pipeline state that is not in the shader file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct State {
    /// Primitive topology.
    pub topology: Topology,
    /// Culling.
    pub cull: Cull,
    /// Blending of every non-integer target.
    pub blend: Blend,
    /// Depth test; `None` to disable it.
    pub depth: Option<Depth>,
    /// The layout of vertices in buffers.
    pub vertex_buffers: VertexBuffers,
}

/// The layout of vertices in buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum VertexBuffers {
    /// All inputs that the file declares, in one buffer at binding 0, with the layout of
    /// [`loader::reflect::VertexLayout`] and of the `Vertex` struct of `skrymir reflect --rust`.
    #[default]
    Interleaved,
    /// Each input that the code reads, tightly packed in its own buffer: bindings in the order of
    /// [`Program::inputs`](crate::Program::inputs).
    Separate,
}

impl Draw {
    /// The pipeline state of the draw.
    pub fn state(&self) -> State {
        State {
            topology: self.topology,
            cull: self.cull,
            blend: self.blend,
            depth: self.depth,
            vertex_buffers: VertexBuffers::Separate,
        }
    }
}

/// One draw to new render targets.
#[derive(Clone, Debug)]
pub struct Draw {
    /// Width and height of the picture.
    pub size: [u32; 2],
    /// Vertices.
    pub vertices: u32,
    /// Instances.
    pub instances: u32,
    /// Number of repetitions of the draw.
    pub draws: u32,
    /// Primitive topology.
    pub topology: Topology,
    /// Culling.
    pub cull: Cull,
    /// Blending of every non-integer target.
    pub blend: Blend,
    /// Depth test; `None` to disable it.
    pub depth: Option<Depth>,
    /// Clear value of targets; integer targets truncate.
    pub clear: [f32; 4],
    /// Format of float targets with four components: [`TexelFormat::RGBA8`] or [`TexelFormat::RGBA32F`].
    pub target: TexelFormat,
    /// Bytes of each vertex input by location, tightly packed per vertex.
    pub vertex_data: BTreeMap<u8, Vec<u8>>,
    /// Bytes of the uniform block in scalar layout.
    pub uniform: Vec<u8>,
    /// Contents of the table slots that the shader uses.
    pub slots: BTreeMap<u8, SlotData>,
    /// Texels of each subpass input in order; 2D, of the picture's size.
    pub subpass: Vec<Texels>,
    /// Slots to read back after the draw.
    pub read_slots: Vec<u8>,
}

impl Default for Draw {
    /// Three vertices of one triangle on opaque black, 256x256, without data.
    fn default() -> Self {
        Self {
            size: [256, 256],
            vertices: 3,
            instances: 1,
            draws: 1,
            topology: Topology::default(),
            cull: Cull::default(),
            blend: Blend::default(),
            depth: None,
            clear: [0.0, 0.0, 0.0, 1.0],
            target: TexelFormat::RGBA8,
            vertex_data: BTreeMap::new(),
            uniform: Vec::new(),
            slots: BTreeMap::new(),
            subpass: Vec::new(),
            read_slots: Vec::new(),
        }
    }
}

/// One render target read back; row 0 is y = -1 in Vulkan's clip space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Output location.
    pub location: u8,
    /// Width and height.
    pub size: [u32; 2],
    /// Format of a pixel.
    pub format: TexelFormat,
    /// Rows from the top, tightly packed.
    pub bytes: Vec<u8>,
}

impl Pixels {
    /// One pixel as numbers: normalised targets in [0, 1], integers unchanged.
    ///
    /// # Panics
    /// If the pixel is outside the picture.
    pub fn at(&self, x: u32, y: u32) -> [f64; 4] {
        assert!(x < self.size[0] && y < self.size[1], "pixel outside the picture");
        let index = (y as usize * self.size[0] as usize + x as usize) * self.format.size();
        self.format.decode(&self.bytes[index..])
    }

    /// The pixels as RGBA8 rows: floats in [0, 1] scale to 255, integers clamp to 0..=255, missing components are 0
    /// and a missing alpha is opaque.
    pub fn to_rgba8(&self) -> Vec<u8> {
        if self.format == TexelFormat::RGBA8 {
            return self.bytes.clone();
        }
        let (integer, opaque) = (self.format.is_integer(), self.format.components < 4);
        let mut rgba = Vec::with_capacity(self.bytes.len() / self.format.size() * 4);
        for pixel in self.bytes.chunks_exact(self.format.size()) {
            let mut values = self.format.decode(pixel);
            if !integer {
                values = values.map(|v| v * 255.0);
            }
            if opaque {
                values[3] = 255.0;
            }
            rgba.extend(values.map(|v| v.round().clamp(0.0, 255.0) as u8));
        }
        rgba
    }
}

/// Durations of the parts of a draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameTiming {
    /// Creating buffers, images and descriptor sets.
    pub resources: Duration,
    /// Creating render pass and pipeline.
    pub pipeline: Duration,
    /// Recording, and from submission until the device is done.
    pub draw: Duration,
    /// Copying the results to plain bytes.
    pub read_back: Duration,
}

/// The result of a draw.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// The render targets by ascending location; at least one.
    pub targets: Vec<Pixels>,
    /// Bytes of the slots in [`Draw::read_slots`], after the draw.
    pub slots: BTreeMap<u8, Vec<u8>>,
    /// Durations.
    pub timing: FrameTiming,
}
