//! VBC shaders on Vulkan, headless.
//!
//! The way of a picture:
//!
//! 1. [`Context::new`] opens a device (lavapipe will do; no display is needed).
//! 2. [`Program::new`] makes a VBC shader fit that device: features and limits are checked first, then the SPIR-V is
//!    rewritten by [`loader::vbc::fit`], then layouts and modules are created. A shader the device cannot hold is an
//!    error that names the limit; the driver is not asked.
//! 3. [`Draw`] says everything the shader does not: vertex data, uniform bytes, what is in each table slot, topology,
//!    blend, depth, size.
//! 4. [`render`] uploads through staging, draws, reads back. It returns a [`Submission`], a future of the [`Frame`].
//!
//! # In an engine of one's own
//!
//! An engine with a device of its own hands it over, and takes layouts and pipelines; buffers, descriptors and draws stay
//! its own. Here with a uniform, filled by the names that the file has for its members:
//!
//! ```
//! use ash::vk;
//! use loader::{reflect::reflect, vbc};
//! use skrymir_vulkan::{Adopted, BindMode, Context, GraphicsPipeline, Program, State, Target, VertexBuffers};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # // SAFETY: an ordinary start of Vulkan.
//! # let entry = unsafe { ash::Entry::load()? };
//! # let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
//! # let info = vk::InstanceCreateInfo::default().application_info(&application);
//! # let instance = unsafe { entry.create_instance(&info, None)? };
//! # let physical = unsafe { instance.enumerate_physical_devices()? }[0];
//! // The engine's device, and what it switched on:
//! let mut v12 = vk::PhysicalDeviceVulkan12Features::default().scalar_block_layout(true);
//! let mut v13 = vk::PhysicalDeviceVulkan13Features::default().dynamic_rendering(true);
//! let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
//! let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut v12).push_next(&mut v13);
//! let device = unsafe { instance.create_device(physical, &info, None)? };
//! let adopted = Adopted {
//!     instance: instance.clone(),
//!     physical,
//!     device: device.clone(),
//!     queue: unsafe { device.get_device_queue(0, 0) },
//!     family: 0,
//!     allocator: None,
//!     queue_lock: Default::default(),
//!     core: Default::default(),
//!     v11: Default::default(),
//!     v12,
//!     v13,
//! };
//! # let path = "../tests/data/vbc/uniform_members.vbc";
//! # {
//! // SAFETY: the handles belong together, and outlive what is made from them.
//! let context = unsafe { Context::adopt(adopted)? };
//!
//! let bytes = std::fs::read(path)?;
//! let file = vbc::read(&bytes)?;
//! vbc::validate(&file).accept(vbc::FORMAT)?;
//! let program = Program::new(&context, &file, BindMode::Lowered)?;
//!
//! // The uniform's bytes, a member at a time; they go into a buffer at set 1, binding 0.
//! let uniform = reflect(&file).uniform.expect("a uniform");
//! let mut block = vec![0u8; uniform.size as usize];
//! let member = uniform.members.iter().find(|member| member.name == "d").expect("float4 d");
//! for (place, value) in block[member.offset as usize..].chunks_mut(4).zip([1.0f32, 0.5, 0.25, 1.0]) {
//!     place.copy_from_slice(&value.to_le_bytes());
//! }
//! let bound = program.descriptors().find(|descriptor| descriptor.set == 1).expect("the uniform");
//! assert_eq!((bound.binding, bound.kind), (0, vk::DescriptorType::UNIFORM_BUFFER));
//! let layouts = [program.set_layouts()[1]]; // for vkAllocateDescriptorSets
//! # let pool_sizes = [vk::DescriptorPoolSize { ty: bound.kind, descriptor_count: bound.count }];
//! # let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&pool_sizes);
//! # let pool = unsafe { device.create_descriptor_pool(&info, None)? };
//! let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
//! let set = unsafe { device.allocate_descriptor_sets(&info)? }[0]; // for vkCmdBindDescriptorSets, with program.layout()
//! # assert_ne!(set, vk::DescriptorSet::null());
//!
//! // Vertices lie as the file's interleaved layout says; program.vertex_input() has strides and offsets.
//! let target = Target::Formats { colors: &[vk::Format::R8G8B8A8_UNORM], depth: vk::Format::UNDEFINED };
//! let pipeline = GraphicsPipeline::new(&program, &State::default(), &target, None)?; // for vkCmdBindPipeline: .raw()
//! # assert_ne!(pipeline.raw(), vk::Pipeline::null());
//! # assert_eq!(program.vertex_input(VertexBuffers::Interleaved).bindings.len(), 1);
//! # unsafe { device.destroy_descriptor_pool(pool, None) };
//! # }
//! # unsafe { device.destroy_device(None); instance.destroy_instance(None) };
//! # Ok(())
//! # }
//! ```
//!
//! `unsafe` in this crate is calls into Vulkan through `ash`; every block says why the call is sound.

mod binder;
mod cache;
mod context;
mod draw;
mod error;
mod features;
mod image;
mod instance;
mod layout;
mod memory;
mod pipeline;
mod program;
mod readback;
mod record;
mod render;
mod submit;
mod tables;
mod texture;
mod vertex;

pub use binder::Binder;
pub use cache::PipelineCache;
pub use context::{Adopted, Context, Options};
pub use draw::{
    Blend, Compare, Cull, Depth, Draw, Frame, FrameTiming, Pixels, SamplerDesc, SlotData, State, Texels, Topology,
    VertexBuffers,
};
pub use error::{Error, ErrorKind, Result};
pub use image::Texture;
pub use instance::{DeviceInfo, Validation, devices};
pub use pipeline::{GraphicsPipeline, Target};
pub use program::{BindMode, Descriptor, Output, Program, Validator};
pub use render::render;
pub use submit::Submission;
pub use tables::{Handle, TableResource, Tables};
pub use texture::{Dim, TexelFormat};
pub use vertex::{Input, VertexInput};
