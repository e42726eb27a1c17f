//! One use of any pipeline, as plain data: shaders, descriptors, and a dispatch or draws.
//!
//! [`execute`] creates all objects, runs the work, and reads back what the device may have written. Between two uses all data
//! are in host memory, except multisampled images, which cannot be copied and stay on the device.

mod descriptors;
mod device;
mod execute;
mod needs;
mod objects;
mod resources;

pub use crate::texture::aspects;
pub use execute::execute;
pub use resources::{ImageData, Plane, Resource};

use ash::vk;

/// One use of a pipeline.
#[derive(Clone, Debug)]
pub struct Work<'a> {
    /// Its shaders.
    pub stages: Vec<Stage<'a>>,
    /// Their descriptors.
    pub bindings: Vec<Binding>,
    /// Push constants, for all stages.
    pub push: &'a [u8],
    /// The dispatch or the draws.
    pub task: Task,
    /// Whether the device measures the time.
    pub timed: bool,
}

/// A shader of a pipeline.
#[derive(Clone, Debug)]
pub struct Stage<'a> {
    /// Its stage.
    pub stage: vk::ShaderStageFlags,
    /// Its module.
    pub words: &'a [u32],
    /// Its entry point.
    pub entry: &'a str,
    /// Values of specialisation constants by number.
    pub constants: Vec<(u32, [u8; 4])>,
    /// Subgroups have all their invocations.
    pub full_subgroups: bool,
    /// Subgroups may differ in size.
    pub varying_subgroups: bool,
    /// Subgroups have this size.
    pub subgroup_size: Option<u32>,
}

/// A descriptor and its elements.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The set.
    pub set: u32,
    /// The binding.
    pub binding: u32,
    /// Its type.
    pub kind: vk::DescriptorType,
    /// Its elements.
    pub elements: Vec<Element>,
}

/// An element of a descriptor; fields that its type does not use have their default.
#[derive(Clone, Debug, Default)]
pub struct Element {
    /// The resource.
    pub resource: Option<usize>,
    /// The sampler.
    pub sampler: Option<Sampler>,
    /// The first level of an image.
    pub level: u32,
    /// The first byte of a buffer.
    pub offset: u64,
    /// The number of bytes; the rest of the buffer by default.
    pub range: Option<u64>,
    /// The dynamic offset, which is added to `offset`.
    pub dynamic: u32,
    /// The format of a texel buffer.
    pub format: vk::Format,
}

/// A sampler.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // named as Vulkan names them
pub struct Sampler {
    pub mag: vk::Filter,
    pub min: vk::Filter,
    pub address: [vk::SamplerAddressMode; 3],
    pub border: vk::BorderColor,
    pub lod: [f32; 2],
    pub unnormalized: bool,
    pub compare: Option<vk::CompareOp>,
}

/// A dispatch, or clears and draws.
#[derive(Clone, Debug)]
pub enum Task {
    /// The number of work groups.
    Compute([u32; 3]),
    /// Clears and draws in a framebuffer.
    Graphics(Box<Graphics>),
}

/// Clears and draws in a framebuffer.
#[derive(Clone, Debug)]
pub struct Graphics {
    /// Width and height of the framebuffer.
    pub size: [u32; 2],
    /// The viewport.
    pub viewport: vk::Viewport,
    /// Colour attachments by location.
    pub colors: Vec<Option<Attachment>>,
    /// Resolve attachments of multisampled colours, by location.
    pub resolves: Vec<Option<Attachment>>,
    /// The depth and stencil attachment.
    pub depth: Option<Attachment>,
    /// Fixed-function state.
    pub state: Raster,
    /// Vertex attributes.
    pub vertices: Vec<Vertices>,
    /// The index buffer and the type of its indices.
    pub indices: Option<(usize, vk::IndexType)>,
    /// Clears and draws in order.
    pub commands: Vec<Command>,
}

/// A level of an image as an attachment.
#[derive(Clone, Copy, Debug)]
pub struct Attachment {
    /// The resource.
    pub resource: usize,
    /// The level.
    pub level: u32,
}

/// Fixed-function state, in Vulkan's enumerants.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // named as Vulkan names them
pub struct Raster {
    pub topology: vk::PrimitiveTopology,
    pub restart: bool,
    pub patch_points: u32,
    pub polygon: vk::PolygonMode,
    pub cull: vk::CullModeFlags,
    pub front: vk::FrontFace,
    pub depth_clamp: bool,
    pub discard: bool,
    /// Constant, clamp, slope.
    pub bias: Option<[f32; 3]>,
    pub line_width: f32,
    pub depth_test: bool,
    pub depth_write: bool,
    pub depth_compare: vk::CompareOp,
    pub depth_bounds: Option<[f32; 2]>,
    /// Front and back.
    pub stencil: Option<[vk::StencilOpState; 2]>,
    /// The same for all colours.
    pub blend: vk::PipelineColorBlendAttachmentState,
    pub logic: Option<vk::LogicOp>,
}

impl Default for Raster {
    fn default() -> Self {
        Self {
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            restart: false,
            patch_points: 3,
            polygon: vk::PolygonMode::FILL,
            cull: vk::CullModeFlags::NONE,
            front: vk::FrontFace::COUNTER_CLOCKWISE,
            depth_clamp: false,
            discard: false,
            bias: None,
            line_width: 1.0,
            depth_test: false,
            depth_write: false,
            depth_compare: vk::CompareOp::LESS,
            depth_bounds: None,
            stencil: None,
            blend: vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA),
            logic: None,
        }
    }
}

/// A vertex attribute with a buffer of its own.
#[derive(Clone, Copy, Debug)]
pub struct Vertices {
    /// The location.
    pub location: u32,
    /// The resource.
    pub resource: usize,
    /// The first byte.
    pub offset: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// The format.
    pub format: vk::Format,
    /// Whether it advances per instance.
    pub per_instance: bool,
}

/// A clear or a draw.
#[derive(Clone, Copy, Debug)]
pub enum Command {
    /// Clears all attachments.
    Clear {
        /// The value of all colours.
        color: [f32; 4],
        /// The depth.
        depth: f32,
        /// The stencil.
        stencil: u32,
    },
    /// A draw.
    Draw {
        /// Whether it uses the index buffer.
        indexed: bool,
        /// The first vertex or index.
        first: u32,
        /// How many.
        count: u32,
        /// The first instance.
        first_instance: u32,
        /// How many.
        instances: u32,
    },
}
