//! The inputs of a draw besides the shader: plain data, no Vulkan objects.

use crate::error::{Error, Result};
use crate::texture::{Dim, TexelFormat, at_level};
use ash::vk;
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

impl From<Blend> for vk::PipelineColorBlendAttachmentState {
    /// The mode's factors; all components are written.
    fn from(blend: Blend) -> Self {
        use vk::BlendFactor as F;
        let (source, destination, source_alpha) = match blend {
            Blend::None => (F::ONE, F::ZERO, F::ONE),
            Blend::Alpha => (F::SRC_ALPHA, F::ONE_MINUS_SRC_ALPHA, F::ONE),
            Blend::Premultiplied => (F::ONE, F::ONE_MINUS_SRC_ALPHA, F::ONE),
            Blend::Additive => (F::ONE, F::ONE, F::ONE),
            Blend::Multiply => (F::DST_COLOR, F::ZERO, F::DST_ALPHA),
        };
        Self::default()
            .blend_enable(blend != Blend::None)
            .src_color_blend_factor(source)
            .dst_color_blend_factor(destination)
            .color_blend_op(vk::BlendOp::ADD)
            .src_alpha_blend_factor(source_alpha)
            .dst_alpha_blend_factor(destination)
            .alpha_blend_op(vk::BlendOp::ADD)
            .color_write_mask(vk::ColorComponentFlags::RGBA)
    }
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

impl From<Compare> for vk::CompareOp {
    fn from(compare: Compare) -> Self {
        match compare {
            Compare::Never => Self::NEVER,
            Compare::Less => Self::LESS,
            Compare::Equal => Self::EQUAL,
            Compare::LessOrEqual => Self::LESS_OR_EQUAL,
            Compare::Greater => Self::GREATER,
            Compare::NotEqual => Self::NOT_EQUAL,
            Compare::GreaterOrEqual => Self::GREATER_OR_EQUAL,
            Compare::Always => Self::ALWAYS,
        }
    }
}

/// Depth testing: with a 32-bit float buffer, or one of at least 24 bits where there is a stencil.
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

/// Rasterisation, besides culling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rasterization {
    /// Polygons as areas, lines or points; all but areas need `fillModeNonSolid`.
    pub polygon_mode: vk::PolygonMode,
    /// Winding of front-facing triangles.
    pub front_face: vk::FrontFace,
    /// Width of lines in pixels; all but 1 need `wideLines`.
    pub line_width: f32,
    /// Whether depths beyond the viewport's are clamped instead of clipped; needs `depthClamp`.
    pub depth_clamp: bool,
    /// What is added to depths; `None` for nothing.
    pub depth_bias: Option<DepthBias>,
}

impl Default for Rasterization {
    /// Filled polygons, counter-clockwise front faces, lines of one pixel.
    fn default() -> Self {
        Self {
            polygon_mode: vk::PolygonMode::FILL,
            front_face: vk::FrontFace::COUNTER_CLOCKWISE,
            line_width: 1.0,
            depth_clamp: false,
            depth_bias: None,
        }
    }
}

/// What is added to a polygon's depths: `constant_factor` units of the depth format, and `slope_factor` times the slope.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DepthBias {
    /// Units of the depth format.
    pub constant_factor: f32,
    /// Limit of the sum, 0 for none; others need `depthBiasClamp`.
    pub clamp: f32,
    /// Factor of the polygon's largest slope of depth.
    pub slope_factor: f32,
}

/// The stencil test.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stencil {
    /// Front-facing polygons, points and lines.
    pub front: vk::StencilOpState,
    /// Back-facing polygons.
    pub back: vk::StencilOpState,
    /// The clear value of the buffer, in its low 8 bits.
    pub clear: u32,
}

/// Multisampling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Multisample {
    /// Samples per pixel.
    pub samples: vk::SampleCountFlags,
    /// The least share of samples that are shaded on their own, in [0, 1]; needs `sampleRateShading`.
    pub min_sample_shading: Option<f32>,
    /// Samples that are written, a bit each.
    pub sample_mask: u64,
    /// Whether the alpha of the first output decides how many samples are covered.
    pub alpha_to_coverage: bool,
    /// Whether the alpha of the first output is then 1; needs `alphaToOne`.
    pub alpha_to_one: bool,
}

impl Default for Multisample {
    /// One sample per pixel.
    fn default() -> Self {
        Self {
            samples: vk::SampleCountFlags::TYPE_1,
            min_sample_shading: None,
            sample_mask: u64::MAX,
            alpha_to_coverage: false,
            alpha_to_one: false,
        }
    }
}

/// Blending beyond [`Blend`]: by factors, per target.
#[derive(Clone, Debug, Default)]
pub struct ColorBlend {
    /// Factors, operations and write mask of targets by location, instead of [`State::blend`]. Different targets need
    /// `independentBlend`. Outputs that the code does not write are not written.
    pub attachments: BTreeMap<u8, vk::PipelineColorBlendAttachmentState>,
    /// The constants of `CONSTANT_COLOR` and its kin.
    pub constants: [f32; 4],
    /// Operation on the bits of targets that are not float, instead of blending; needs `logicOp`.
    pub logic_op: Option<vk::LogicOp>,
}

/// A sampler in Vulkan's terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplerDesc {
    /// Filter of magnified textures.
    pub mag_filter: vk::Filter,
    /// Filter of minified textures.
    pub min_filter: vk::Filter,
    /// Filter between levels.
    pub mipmap_mode: vk::SamplerMipmapMode,
    /// What lies beyond the edges, along x, y and z; `MIRROR_CLAMP_TO_EDGE` needs `samplerMirrorClampToEdge`.
    pub address_modes: [vk::SamplerAddressMode; 3],
    /// The texel beyond edges of `CLAMP_TO_BORDER`.
    pub border_color: vk::BorderColor,
    /// What is added to the level.
    pub mip_lod_bias: f32,
    /// The least level.
    pub min_lod: f32,
    /// The greatest level.
    pub max_lod: f32,
    /// The most samples along the steeper direction; needs `samplerAnisotropy`.
    pub max_anisotropy: Option<f32>,
    /// Whether coordinates count texels.
    pub unnormalized_coordinates: bool,
    /// The comparison of the shader's value with a texel, for look-ups that compare; the image is then one of depths
    /// ([`TexelFormat::depth`](crate::TexelFormat::depth)).
    pub compare: Option<vk::CompareOp>,
}

impl Default for SamplerDesc {
    /// Nearest, repeating, all levels.
    fn default() -> Self {
        Self::new(vk::Filter::NEAREST, vk::SamplerAddressMode::REPEAT)
    }
}

impl SamplerDesc {
    /// One filter everywhere, between levels too, and one address mode along all axes.
    pub fn new(filter: vk::Filter, address_mode: vk::SamplerAddressMode) -> Self {
        Self {
            mag_filter: filter,
            min_filter: filter,
            mipmap_mode: match filter {
                vk::Filter::NEAREST => vk::SamplerMipmapMode::NEAREST,
                _ => vk::SamplerMipmapMode::LINEAR,
            },
            address_modes: [address_mode; 3],
            border_color: vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
            mip_lod_bias: 0.0,
            min_lod: 0.0,
            max_lod: vk::LOD_CLAMP_NONE,
            max_anisotropy: None,
            unnormalized_coordinates: false,
            compare: None,
        }
    }
}

impl TryFrom<&vk::SamplerCreateInfo<'_>> for SamplerDesc {
    type Error = Error;

    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) for flags and extensions.
    fn try_from(info: &vk::SamplerCreateInfo<'_>) -> Result<Self> {
        if !info.flags.is_empty() || !info.p_next.is_null() {
            return Err(Error::data("a sampler with flags or extensions"));
        }
        Ok(Self {
            mag_filter: info.mag_filter,
            min_filter: info.min_filter,
            mipmap_mode: info.mipmap_mode,
            address_modes: [info.address_mode_u, info.address_mode_v, info.address_mode_w],
            border_color: info.border_color,
            mip_lod_bias: info.mip_lod_bias,
            min_lod: info.min_lod,
            max_lod: info.max_lod,
            max_anisotropy: (info.anisotropy_enable != vk::FALSE).then_some(info.max_anisotropy),
            unnormalized_coordinates: info.unnormalized_coordinates != vk::FALSE,
            compare: (info.compare_enable != vk::FALSE).then_some(info.compare_op),
        })
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
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Primitive topology.
    pub topology: Topology,
    /// Culling.
    pub cull: Cull,
    /// Rasterisation, besides culling.
    pub rasterization: Rasterization,
    /// Multisampling.
    pub multisample: Multisample,
    /// Depth test; `None` to disable it.
    pub depth: Option<Depth>,
    /// Stencil test; `None` to disable it.
    pub stencil: Option<Stencil>,
    /// Blending of every non-integer target.
    pub blend: Blend,
    /// Blending by factors, and write masks.
    pub color_blend: ColorBlend,
    /// What the command buffer sets, besides viewport and scissor: any dynamic state of Vulkan 1.0, and on devices of
    /// Vulkan 1.3 those that are part of it.
    pub dynamic: Vec<vk::DynamicState>,
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
    /// Draws with this state, except its dynamic states and vertex buffers, which only pipelines have.
    pub fn set_state(&mut self, state: &State) {
        let State {
            topology,
            cull,
            rasterization,
            multisample,
            depth,
            stencil,
            blend,
            color_blend,
            dynamic: _,
            vertex_buffers: _,
        } = state.clone();
        (self.topology, self.cull, self.rasterization) = (topology, cull, rasterization);
        (self.multisample, self.depth, self.stencil) = (multisample, depth, stencil);
        (self.blend, self.color_blend) = (blend, color_blend);
    }

    /// The pipeline state of the draw.
    pub fn state(&self) -> State {
        State {
            topology: self.topology,
            cull: self.cull,
            rasterization: self.rasterization,
            multisample: self.multisample,
            depth: self.depth,
            stencil: self.stencil,
            blend: self.blend,
            color_blend: self.color_blend.clone(),
            dynamic: Vec::new(),
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
    /// Rasterisation, besides culling.
    pub rasterization: Rasterization,
    /// Multisampling; the picture is the resolved one.
    pub multisample: Multisample,
    /// Depth test; `None` to disable it.
    pub depth: Option<Depth>,
    /// Stencil test; `None` to disable it.
    pub stencil: Option<Stencil>,
    /// Blending of every non-integer target.
    pub blend: Blend,
    /// Blending by factors, and write masks.
    pub color_blend: ColorBlend,
    /// Clear value of targets; integer targets truncate.
    pub clear: [f32; 4],
    /// Clear values of targets by location, instead of `clear`.
    pub clears: BTreeMap<u8, [f32; 4]>,
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
            rasterization: Rasterization::default(),
            multisample: Multisample::default(),
            depth: None,
            stencil: None,
            blend: Blend::default(),
            color_blend: ColorBlend::default(),
            clear: [0.0, 0.0, 0.0, 1.0],
            clears: BTreeMap::new(),
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
