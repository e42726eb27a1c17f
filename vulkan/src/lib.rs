//! VBC shaders on Vulkan, headless.
//!
//! From a file to a picture:
//!
//! 1. [`Context::new`] opens a device (lavapipe suffices; no display is needed).
//! 2. [`Program::new`] adapts a VBC shader to that device: it checks features and limits, rewrites the SPIR-V with
//!    [`loader::vbc::fit`], and creates layouts and modules. A shader that exceeds the device is an error that names
//!    the limit; the driver is not called.
//! 3. [`Draw`] contains everything besides the shader: vertex data, uniform bytes, the contents of each table slot,
//!    topology, pipeline state, size.
//! 4. [`render`] uploads through staging buffers, draws, and reads back. It returns a [`Submission`], a future of the
//!    [`Frame`]; [`Submission::wait`] needs no executor.
//!
//! # In your own engine
//!
//! An engine passes its own device and takes layouts and pipelines; it keeps its own buffers, descriptors and draws.
//! [`State`] has a pipeline's state in Vulkan's terms; for more, an engine creates pipelines itself from
//! [`Program::shader_stages`], [`Program::layout`] and [`Program::vertex_input`] (`examples/pipelines`).
//! This example fills a uniform by the names of its members in the file, and draws:
//!
//! ```
//! # use loader as skrymir_loader;
//! use ash::vk;
//! use skrymir_loader::{reflect::reflect, vbc};
//! use skrymir_vulkan::{Adopted, BindMode, Context, GraphicsPipeline, Program, State, Target};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # // SAFETY: an ordinary start of Vulkan.
//! # let entry = unsafe { ash::Entry::load()? };
//! # let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
//! # let info = vk::InstanceCreateInfo::default().application_info(&application);
//! # let instance = unsafe { entry.create_instance(&info, None)? };
//! # let physical = unsafe { instance.enumerate_physical_devices()? }[0];
//! // The engine's device with its enabled features:
//! let mut v12 = vk::PhysicalDeviceVulkan12Features::default().scalar_block_layout(true);
//! let mut v13 = vk::PhysicalDeviceVulkan13Features::default().dynamic_rendering(true);
//! let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
//! let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut v12).push_next(&mut v13);
//! let device = unsafe { instance.create_device(physical, &info, None)? };
//! let queue = unsafe { device.get_device_queue(0, 0) };
//! let adopted = Adopted {
//!     instance: instance.clone(),
//!     physical,
//!     device: device.clone(),
//!     queue,
//!     family: 0,
//!     allocator: None,
//!     queue_lock: Default::default(),
//!     core: Default::default(),
//!     v11: Default::default(),
//!     v12,
//!     v13,
//! };
//! // Host-visible memory for buffers, and the image to draw to.
//! # let kinds = unsafe { instance.get_physical_device_memory_properties(physical) };
//! # let memory = |needs: vk::MemoryRequirements, flags: vk::MemoryPropertyFlags| {
//! #     let fits = |kind: &u32| needs.memory_type_bits & 1 << kind != 0
//! #         && kinds.memory_types[*kind as usize].property_flags.contains(flags);
//! #     let kind = (0..kinds.memory_type_count).find(fits).expect("such memory");
//! #     let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
//! #     unsafe { device.allocate_memory(&info, None) }
//! # };
//! let buffer = |bytes: &[u8], usage: vk::BufferUsageFlags| {
//!     let info = vk::BufferCreateInfo::default().size(bytes.len() as u64).usage(usage);
//!     // ...
//! #   unsafe {
//! #   let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
//! #   let buffer = device.create_buffer(&info, None)?;
//! #   let memory = memory(device.get_buffer_memory_requirements(buffer), host)?;
//! #   device.bind_buffer_memory(buffer, memory, 0)?;
//! #   let mapped = device.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default())?.cast::<u8>();
//! #   std::ptr::copy_nonoverlapping(bytes.as_ptr(), mapped, bytes.len());
//! #   Ok::<_, vk::Result>((buffer, memory, mapped))
//! #   }
//! };
//! let format = vk::Format::R8G8B8A8_UNORM;
//! # let extent = vk::Extent2D { width: 16, height: 16 };
//! # let info = vk::ImageCreateInfo::default()
//! #     .image_type(vk::ImageType::TYPE_2D)
//! #     .format(format)
//! #     .extent(extent.into())
//! #     .mip_levels(1)
//! #     .array_layers(1)
//! #     .samples(vk::SampleCountFlags::TYPE_1)
//! #     .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC);
//! # let range = vk::ImageSubresourceRange {
//! #     aspect_mask: vk::ImageAspectFlags::COLOR,
//! #     level_count: 1,
//! #     layer_count: 1,
//! #     ..Default::default()
//! # };
//! # let (image, image_memory, view) = unsafe {
//! #     let image = device.create_image(&info, None)?;
//! #     let memory = memory(device.get_image_memory_requirements(image), vk::MemoryPropertyFlags::empty())?;
//! #     device.bind_image_memory(image, memory, 0)?;
//! #     let info = vk::ImageViewCreateInfo::default().image(image).format(format).subresource_range(range);
//! #     let view = device.create_image_view(&info.view_type(vk::ImageViewType::TYPE_2D), None)?;
//! #     (image, memory, view)
//! # };
//!
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
//! // The uniform's bytes, a member at a time.
//! let uniform = reflect(&file).uniform.expect("a uniform");
//! let mut block = vec![0u8; uniform.size as usize];
//! let mut set = |name: &str, values: &[f32]| {
//!     let member = uniform.members.iter().find(|member| member.name == name).expect(name);
//!     for (place, value) in block[member.offset as usize..].chunks_mut(4).zip(values) {
//!         place.copy_from_slice(&value.to_le_bytes());
//!     }
//! };
//! set("m4", &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
//! set("b", &[1.0, 1.0]);
//! set("d", &[1.0, 0.6, 0.2, 1.0]);
//! let (uniforms, uniform_memory, _) = buffer(&block, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
//!
//! // It is at set 1, binding 0: allocate a descriptor set of the program's layout for it.
//! let bound = program.descriptors().find(|descriptor| descriptor.set == 1).expect("the uniform");
//! assert_eq!((bound.binding, bound.kind), (0, vk::DescriptorType::UNIFORM_BUFFER));
//! let pool_sizes = [vk::DescriptorPoolSize { ty: bound.kind, descriptor_count: bound.count }];
//! let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&pool_sizes);
//! let pool = unsafe { device.create_descriptor_pool(&info, None)? };
//! let layouts = [program.set_layouts()[1]];
//! let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
//! let set = unsafe { device.allocate_descriptor_sets(&info)? }[0];
//! let whole = [vk::DescriptorBufferInfo { buffer: uniforms, offset: 0, range: vk::WHOLE_SIZE }];
//! let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(bound.kind).buffer_info(&whole);
//! unsafe { device.update_descriptor_sets(&[write], &[]) };
//!
//! // Vertices have the file's interleaved layout (`program.vertex_input`): here two floats each.
//! let corners: Vec<u8> = [-1.0f32, -1.0, 3.0, -1.0, -1.0, 3.0].iter().flat_map(|value| value.to_le_bytes()).collect();
//! let (vertices, vertex_memory, _) = buffer(&corners, vk::BufferUsageFlags::VERTEX_BUFFER)?;
//! let (read, read_memory, pixels) = buffer(&[0; 16 * 16 * 4], vk::BufferUsageFlags::TRANSFER_DST)?;
//!
//! let target = Target::Formats { colors: &[format], depth: vk::Format::UNDEFINED };
//! let pipeline = GraphicsPipeline::new(&program, &State::default(), &target, None)?;
//!
//! # let info = vk::CommandPoolCreateInfo::default();
//! # let commands_pool = unsafe { device.create_command_pool(&info, None)? };
//! # let info = vk::CommandBufferAllocateInfo::default().command_pool(commands_pool).command_buffer_count(1);
//! # let commands = unsafe { device.allocate_command_buffers(&info)? }[0];
//! # let (attachment, source) = (vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
//! # let turn = |old, new, from, to| {
//! #     let barrier = vk::ImageMemoryBarrier::default()
//! #         .old_layout(old).new_layout(new).src_access_mask(from).dst_access_mask(to).image(image).subresource_range(range);
//! #     let all = vk::PipelineStageFlags::ALL_COMMANDS;
//! #     unsafe { device.cmd_pipeline_barrier(commands, all, all, Default::default(), &[], &[], &[barrier]) };
//! # };
//! # let area = vk::Rect2D { extent, ..Default::default() };
//! # let viewport = vk::Viewport { width: 16.0, height: 16.0, max_depth: 1.0, ..Default::default() };
//! # let colors = [vk::RenderingAttachmentInfo::default()
//! #     .image_view(view)
//! #     .image_layout(attachment)
//! #     .load_op(vk::AttachmentLoadOp::CLEAR)
//! #     .store_op(vk::AttachmentStoreOp::STORE)];
//! # let rendering = vk::RenderingInfo::default().render_area(area).layer_count(1).color_attachments(&colors);
//! // In the engine's frame:
//! # unsafe {
//! # device.begin_command_buffer(commands, &Default::default())?;
//! # turn(vk::ImageLayout::UNDEFINED, attachment, vk::AccessFlags::empty(), vk::AccessFlags::COLOR_ATTACHMENT_WRITE);
//! device.cmd_begin_rendering(commands, &rendering);
//! # device.cmd_set_viewport(commands, 0, &[viewport]);
//! # device.cmd_set_scissor(commands, 0, &[area]);
//! let graphics = vk::PipelineBindPoint::GRAPHICS;
//! device.cmd_bind_pipeline(commands, graphics, pipeline.raw());
//! device.cmd_bind_descriptor_sets(commands, graphics, program.layout(), 1, &[set], &[]);
//! device.cmd_bind_vertex_buffers(commands, 0, &[vertices], &[0]);
//! device.cmd_draw(commands, 3, 1, 0, 0);
//! device.cmd_end_rendering(commands);
//! # turn(attachment, source, vk::AccessFlags::COLOR_ATTACHMENT_WRITE, vk::AccessFlags::TRANSFER_READ);
//! # let layers = vk::ImageSubresourceLayers { aspect_mask: range.aspect_mask, layer_count: 1, ..Default::default() };
//! # let region = vk::BufferImageCopy::default().image_subresource(layers).image_extent(extent.into());
//! # device.cmd_copy_image_to_buffer(commands, image, source, read, &[region]);
//! # device.end_command_buffer(commands)?;
//! # let submitted = [commands];
//! # device.queue_submit(queue, &[vk::SubmitInfo::default().command_buffers(&submitted)], vk::Fence::null())?;
//! # device.device_wait_idle()?;
//! # }
//! // The pixel in the middle has the uniform's colour:
//! let pixel = unsafe { pixels.add((8 * 16 + 8) * 4).cast::<[u8; 4]>().read() };
//! assert_eq!(pixel, [255, 153, 51, 255]);
//! # unsafe {
//! #     device.destroy_command_pool(commands_pool, None);
//! #     device.destroy_descriptor_pool(pool, None);
//! #     for (buffer, memory) in [(uniforms, uniform_memory), (vertices, vertex_memory), (read, read_memory)] {
//! #         device.destroy_buffer(buffer, None);
//! #         device.free_memory(memory, None);
//! #     }
//! # }
//! # }
//! # unsafe {
//! #     device.destroy_image_view(view, None);
//! #     device.destroy_image(image, None);
//! #     device.free_memory(image_memory, None);
//! #     device.destroy_device(None);
//! #     instance.destroy_instance(None);
//! # }
//! # Ok(())
//! # }
//! ```
//!
//! `unsafe` in this crate is for calls into Vulkan through `ash`; every block states why it is sound.

mod binder;
mod cache;
mod context;
mod draw;
mod error;
mod everything;
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
mod state;
mod submit;
mod tables;
mod texture;
mod vertex;
pub mod work;

pub use ash::vk;
pub use binder::Binder;
pub use cache::PipelineCache;
pub use context::{Adopted, Context, Options, ShaderProperties};
pub use draw::{
    Blend, ColorBlend, Compare, Cull, Depth, DepthBias, Draw, Frame, FrameTiming, Multisample, Pixels, Rasterization,
    SamplerDesc, SlotData, State, Stencil, Texels, Topology, VertexBuffers,
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
