//! The engine without the library: a device, targets with four samples, a frame.

use ash::vk;
use skrymir_vulkan::{Adopted, Context};
use std::error::Error;

pub const SIZE: u32 = 256;
pub const SAMPLES: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;

const COLOR: vk::Format = vk::Format::R8G8B8A8_UNORM;
const EXTENT: vk::Extent2D = vk::Extent2D {
    width: SIZE,
    height: SIZE,
};
const AREA: vk::Rect2D = vk::Rect2D {
    offset: vk::Offset2D { x: 0, y: 0 },
    extent: EXTENT,
};

/// Instance, device and queue.
pub struct Engine {
    pub device: ash::Device,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    queue: vk::Queue,
    _entry: ash::Entry,
}

/// The features that the device is created with.
fn features() -> (
    vk::PhysicalDeviceVulkan12Features<'static>,
    vk::PhysicalDeviceVulkan13Features<'static>,
) {
    let v12 = vk::PhysicalDeviceVulkan12Features::default().scalar_block_layout(true);
    (
        v12,
        vk::PhysicalDeviceVulkan13Features::default().dynamic_rendering(true),
    )
}

impl Engine {
    pub fn new() -> Result<Self, Box<dyn Error>> {
        // SAFETY: an ordinary start of Vulkan.
        unsafe {
            let entry = ash::Entry::load()?;
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
            let info = vk::InstanceCreateInfo::default().application_info(&application);
            let instance = entry.create_instance(&info, None)?;
            let devices = instance.enumerate_physical_devices()?;
            let physical = *devices.first().ok_or("no Vulkan device")?;
            let (mut v12, mut v13) = features();
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .push_next(&mut v12)
                .push_next(&mut v13);
            let device = instance.create_device(physical, &info, None)?;
            let queue = device.get_device_queue(0, 0);
            Ok(Self {
                device,
                instance,
                physical,
                queue,
                _entry: entry,
            })
        }
    }

    /// The device, for the library.
    ///
    /// # Safety
    /// The engine outlives the context, and all that is created from it.
    pub unsafe fn adopt(&self) -> skrymir_vulkan::Result<Context> {
        let (v12, v13) = features();
        let adopted = Adopted {
            instance: self.instance.clone(),
            physical: self.physical,
            device: self.device.clone(),
            queue: self.queue,
            family: 0,
            allocator: None,
            queue_lock: Default::default(),
            core: Default::default(),
            v11: Default::default(),
            v12,
            v13,
        };
        // SAFETY: the handles belong together, and the features are the device's; the caller guarantees the rest.
        unsafe { Context::adopt(adopted) }
    }

    fn allocate(
        &self,
        needs: vk::MemoryRequirements,
        flags: vk::MemoryPropertyFlags,
    ) -> Result<vk::DeviceMemory, Box<dyn Error>> {
        // SAFETY: queries, and one allocation.
        unsafe {
            let kinds = self.instance.get_physical_device_memory_properties(self.physical);
            let fits = |kind: &u32| {
                let has = kinds.memory_types[*kind as usize].property_flags;
                needs.memory_type_bits & 1 << kind != 0 && has.contains(flags)
            };
            let kind = (0..kinds.memory_type_count).find(fits).ok_or("no such memory")?;
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(kind);
            Ok(self.device.allocate_memory(&info, None)?)
        }
    }

    /// A mapped buffer.
    fn buffer(&self, size: usize, usage: vk::BufferUsageFlags) -> Result<Buffer, Box<dyn Error>> {
        let info = vk::BufferCreateInfo::default().size(size as u64).usage(usage);
        let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        // SAFETY: the memory is host-visible, and bound once.
        unsafe {
            let raw = self.device.create_buffer(&info, None)?;
            let memory = self.allocate(self.device.get_buffer_memory_requirements(raw), host)?;
            self.device.bind_buffer_memory(raw, memory, 0)?;
            let mapped = self.device.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default())?;
            Ok(Buffer {
                raw,
                memory,
                mapped: mapped.cast(),
            })
        }
    }

    fn image(
        &self,
        format: vk::Format,
        samples: vk::SampleCountFlags,
        usage: vk::ImageUsageFlags,
        aspect: vk::ImageAspectFlags,
    ) -> Result<Image, Box<dyn Error>> {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(EXTENT.into())
            .mip_levels(1)
            .array_layers(1)
            .samples(samples)
            .usage(usage);
        let range = vk::ImageSubresourceRange {
            aspect_mask: aspect,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        };
        // SAFETY: the memory is bound once; the view is of all of the image.
        unsafe {
            let raw = self.device.create_image(&info, None)?;
            let needs = self.device.get_image_memory_requirements(raw);
            let memory = self.allocate(needs, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
            self.device.bind_image_memory(raw, memory, 0)?;
            let info = vk::ImageViewCreateInfo::default()
                .image(raw)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(format)
                .subresource_range(range);
            Ok(Image {
                raw,
                memory,
                view: self.device.create_image_view(&info, None)?,
                range,
            })
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // SAFETY: everything created from the device is destroyed by then.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

struct Buffer {
    raw: vk::Buffer,
    memory: vk::DeviceMemory,
    mapped: *mut u8,
}

struct Image {
    raw: vk::Image,
    memory: vk::DeviceMemory,
    view: vk::ImageView,
    range: vk::ImageSubresourceRange,
}

/// Colours and stencil of four samples, and the picture that the colours are resolved to.
pub struct Targets {
    color: Image,
    stencil: Image,
    picture: Image,
    stencil_format: vk::Format,
}

impl Targets {
    pub fn new(engine: &Engine) -> Result<Self, Box<dyn Error>> {
        // A device has one of these two.
        let formats = [vk::Format::D32_SFLOAT_S8_UINT, vk::Format::D24_UNORM_S8_UINT];
        let has = |format: &vk::Format| {
            // SAFETY: the physical device belongs to the instance.
            let properties = unsafe {
                engine
                    .instance
                    .get_physical_device_format_properties(engine.physical, *format)
            };
            let attachment = vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT;
            properties.optimal_tiling_features.contains(attachment)
        };
        let stencil_format = formats.into_iter().find(has).ok_or("no stencil")?;
        let attachment = vk::ImageUsageFlags::COLOR_ATTACHMENT;
        let stencil = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
        Ok(Self {
            color: engine.image(COLOR, SAMPLES, attachment, vk::ImageAspectFlags::COLOR)?,
            stencil: engine.image(
                stencil_format,
                SAMPLES,
                vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
                stencil,
            )?,
            picture: engine.image(
                COLOR,
                vk::SampleCountFlags::TYPE_1,
                attachment | vk::ImageUsageFlags::TRANSFER_SRC,
                vk::ImageAspectFlags::COLOR,
            )?,
            stencil_format,
        })
    }

    pub fn color_format(&self) -> vk::Format {
        COLOR
    }

    pub fn stencil_format(&self) -> vk::Format {
        self.stencil_format
    }

    /// Clears, records, resolves, and returns the picture's pixels.
    pub fn draw(
        &self,
        engine: &Engine,
        vertices: &[u8],
        record: impl FnOnce(vk::CommandBuffer),
    ) -> Result<Vec<u8>, Box<dyn Error>> {
        let device = &engine.device;
        let vertex = engine.buffer(vertices.len(), vk::BufferUsageFlags::VERTEX_BUFFER)?;
        let size = (SIZE * SIZE * 4) as usize;
        let read = engine.buffer(size, vk::BufferUsageFlags::TRANSFER_DST)?;
        let drawn = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
        let tested = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
        let clear = vk::ClearColorValue {
            float32: [0.1, 0.1, 0.1, 1.0],
        };
        let colors = [vk::RenderingAttachmentInfo::default()
            .image_view(self.color.view)
            .image_layout(drawn)
            .resolve_mode(vk::ResolveModeFlags::AVERAGE)
            .resolve_image_view(self.picture.view)
            .resolve_image_layout(drawn)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::DONT_CARE)
            .clear_value(vk::ClearValue { color: clear })];
        let stencil = vk::RenderingAttachmentInfo::default()
            .image_view(self.stencil.view)
            .image_layout(tested)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::DONT_CARE);
        let rendering = vk::RenderingInfo::default()
            .render_area(AREA)
            .layer_count(1)
            .color_attachments(&colors)
            .stencil_attachment(&stencil);
        let viewport = vk::Viewport {
            width: SIZE as f32,
            height: SIZE as f32,
            max_depth: 1.0,
            ..Default::default()
        };
        let layers = vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            layer_count: 1,
            ..Default::default()
        };
        let copy = vk::BufferImageCopy::default()
            .image_subresource(layers)
            .image_extent(EXTENT.into());
        // SAFETY: one command buffer, which is waited for before anything is destroyed; the copies fit their buffers.
        unsafe {
            std::ptr::copy_nonoverlapping(vertices.as_ptr(), vertex.mapped, vertices.len());
            let pool = device.create_command_pool(&Default::default(), None)?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?[0];
            device.begin_command_buffer(commands, &Default::default())?;
            let undefined = vk::ImageLayout::UNDEFINED;
            let write = vk::AccessFlags::COLOR_ATTACHMENT_WRITE;
            for image in [&self.color, &self.picture] {
                turn(
                    device,
                    commands,
                    image,
                    undefined,
                    drawn,
                    (vk::AccessFlags::empty(), write),
                );
            }
            let stencil_write =
                vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_READ | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE;
            let tests = (vk::AccessFlags::empty(), stencil_write);
            turn(device, commands, &self.stencil, undefined, tested, tests);
            device.cmd_begin_rendering(commands, &rendering);
            device.cmd_set_viewport(commands, 0, &[viewport]);
            device.cmd_set_scissor(commands, 0, &[AREA]);
            device.cmd_bind_vertex_buffers(commands, 0, &[vertex.raw], &[0]);
            record(commands);
            device.cmd_end_rendering(commands);
            let source = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            let reads = (write, vk::AccessFlags::TRANSFER_READ);
            turn(device, commands, &self.picture, drawn, source, reads);
            device.cmd_copy_image_to_buffer(commands, self.picture.raw, source, read.raw, &[copy]);
            device.end_command_buffer(commands)?;
            let buffers = [commands];
            let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
            device.queue_submit(engine.queue, &submit, vk::Fence::null())?;
            device.queue_wait_idle(engine.queue)?;
            let pixels = std::slice::from_raw_parts(read.mapped, size).to_vec();
            device.destroy_command_pool(pool, None);
            for buffer in [vertex, read] {
                device.destroy_buffer(buffer.raw, None);
                device.free_memory(buffer.memory, None);
            }
            Ok(pixels)
        }
    }

    pub fn destroy(self, engine: &Engine) {
        for image in [self.color, self.stencil, self.picture] {
            // SAFETY: the device is idle.
            unsafe {
                engine.device.destroy_image_view(image.view, None);
                engine.device.destroy_image(image.raw, None);
                engine.device.free_memory(image.memory, None);
            }
        }
    }
}

/// A barrier from one layout to another.
fn turn(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    image: &Image,
    from: vk::ImageLayout,
    to: vk::ImageLayout,
    (before, after): (vk::AccessFlags, vk::AccessFlags),
) {
    let barrier = vk::ImageMemoryBarrier::default()
        .old_layout(from)
        .new_layout(to)
        .src_access_mask(before)
        .dst_access_mask(after)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image.raw)
        .subresource_range(image.range);
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    // SAFETY: recording is open.
    unsafe { device.cmd_pipeline_barrier(commands, all, all, Default::default(), &[], &[], &[barrier]) };
}
