//! A use of any pipeline, as plain data: shaders, what they see, what is drawn or computed.
//!
//! [`execute`] makes everything anew, runs it, and brings back what the device may have written. Between two uses all data
//! are the host's, except images of several samples, which cannot be copied and stay on the device.

mod descriptors;
mod device;
mod execute;
mod needs;
mod objects;
mod resources;

pub use execute::execute;
pub use resources::{ImageData, Plane, Resource, aspects};

use ash::vk;

/// One use of a pipeline.
#[derive(Clone, Debug)]
pub struct Work<'a> {
    /// Its shaders.
    pub stages: Vec<Stage<'a>>,
    /// What they see.
    pub bindings: Vec<Binding>,
    /// Push constants, for all stages.
    pub push: &'a [u8],
    /// What it does.
    pub task: Task,
    /// Whether the device takes the time.
    pub timed: bool,
}

/// A shader of a pipeline.
#[derive(Clone, Debug)]
pub struct Stage<'a> {
    /// Which.
    pub stage: vk::ShaderStageFlags,
    /// Its module.
    pub words: &'a [u32],
    /// Its entry point.
    pub entry: &'a str,
    /// Constants that get values, by their numbers.
    pub constants: Vec<(u32, [u8; 4])>,
    /// Subgroups have all their invocations.
    pub full_subgroups: bool,
    /// Subgroups may differ in size.
    pub varying_subgroups: bool,
    /// Subgroups have this size.
    pub subgroup_size: Option<u32>,
}

/// A descriptor and what is in it.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The set.
    pub set: u32,
    /// The binding.
    pub binding: u32,
    /// What it is.
    pub kind: vk::DescriptorType,
    /// Its elements.
    pub elements: Vec<Element>,
}

/// An element of a descriptor; what its kind has no use for is left as it is by default.
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
    /// How many bytes; the rest where nothing is said.
    pub range: Option<u64>,
    /// The offset of a dynamic buffer, which is added.
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

/// What a pipeline does.
#[derive(Clone, Debug)]
pub enum Task {
    /// So many work groups.
    Compute([u32; 3]),
    /// Clears and draws.
    Graphics(Box<Graphics>),
}

/// Clears and draws into some images.
#[derive(Clone, Debug)]
pub struct Graphics {
    /// Width and height of the framebuffer.
    pub size: [u32; 2],
    /// The part that is drawn to.
    pub viewport: vk::Viewport,
    /// Colours by location.
    pub colors: Vec<Option<Attachment>>,
    /// Where colours of several samples are resolved to, by location.
    pub resolves: Vec<Option<Attachment>>,
    /// Depth and stencil.
    pub depth: Option<Attachment>,
    /// How primitives become pixels.
    pub state: Raster,
    /// Vertices.
    pub vertices: Vec<Vertices>,
    /// Indices: the resource and their type.
    pub indices: Option<(usize, vk::IndexType)>,
    /// What is done, in this order.
    pub commands: Vec<Command>,
}

/// A level of an image that is drawn to.
#[derive(Clone, Copy, Debug)]
pub struct Attachment {
    /// The resource.
    pub resource: usize,
    /// The level.
    pub level: u32,
}

/// How primitives become pixels; Vulkan's own numbers throughout.
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
    /// Of all colours alike.
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
    /// Bytes from one to the next.
    pub stride: u32,
    /// The format.
    pub format: vk::Format,
    /// Whether it moves on with instances instead of vertices.
    pub per_instance: bool,
}

/// What is done in a framebuffer.
#[derive(Clone, Copy, Debug)]
pub enum Command {
    /// All of it gets these values.
    Clear {
        /// For all colours.
        color: [f32; 4],
        /// For depth.
        depth: f32,
        /// For stencil.
        stencil: u32,
    },
    /// A draw.
    Draw {
        /// Whether by indices.
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
