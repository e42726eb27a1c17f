//! A bare render target on a context's device, for tests and benches that record their own draws.

use ash::vk;
use vulkan::Context;

pub(super) const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// Image, vertex buffer, and what a frame is recorded with; freed on drop.
pub(super) struct Canvas {
    context: Context,
    size: u32,
    image: vk::Image,
    view: vk::ImageView,
    vertices: vk::Buffer,
    memory: vk::DeviceMemory,
    pool: vk::CommandPool,
    fence: vk::Fence,
}

impl Canvas {
    /// A square target, and a vertex buffer of these bytes. Every memory type of lavapipe is host-visible, so type 0 is
    /// used.
    pub(super) fn new(context: &Context, size: u32, vertices: &[u8]) -> Self {
        let device = context.device();
        // SAFETY: creates objects; all of them are freed in `drop`.
        unsafe {
            let info = vk::ImageCreateInfo::default()
                .image_type(vk::ImageType::TYPE_2D)
                .format(FORMAT)
                .extent(vk::Extent3D {
                    width: size,
                    height: size,
                    depth: 1,
                })
                .mip_levels(1)
                .array_layers(1)
                .samples(vk::SampleCountFlags::TYPE_1)
                .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT);
            let image = device.create_image(&info, None).unwrap();
            let info = vk::BufferCreateInfo::default()
                .size(vertices.len() as u64)
                .usage(vk::BufferUsageFlags::VERTEX_BUFFER);
            let buffer = device.create_buffer(&info, None).unwrap();
            // One allocation for both, like an engine's allocator: the buffer follows the image.
            let needs = [
                device.get_image_memory_requirements(image),
                device.get_buffer_memory_requirements(buffer),
            ];
            let offset = needs[0].size.next_multiple_of(needs[1].alignment.max(256));
            let block = (offset + needs[1].size).max(4 << 20);
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(block)
                .memory_type_index(0);
            let memory = device.allocate_memory(&info, None).unwrap();
            device.bind_image_memory(image, memory, 0).unwrap();
            device.bind_buffer_memory(buffer, memory, offset).unwrap();
            let mapped = device
                .map_memory(memory, offset, needs[1].size, vk::MemoryMapFlags::empty())
                .unwrap();
            std::ptr::copy_nonoverlapping(vertices.as_ptr(), mapped.cast(), vertices.len());
            device.unmap_memory(memory);
            let info = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(FORMAT)
                .subresource_range(RANGE);
            let info_pool = vk::CommandPoolCreateInfo::default().queue_family_index(context.queue().1);
            Self {
                size,
                image,
                view: device.create_image_view(&info, None).unwrap(),
                vertices: buffer,
                memory,
                pool: device.create_command_pool(&info_pool, None).unwrap(),
                fence: device.create_fence(&Default::default(), None).unwrap(),
                context: context.clone(),
            }
        }
    }

    /// Records one frame, runs it and waits.
    pub(super) fn frame(&self, record: impl FnOnce(vk::CommandBuffer)) {
        let device = self.context.device();
        let extent = vk::Extent2D {
            width: self.size,
            height: self.size,
        };
        let area = vk::Rect2D {
            offset: Default::default(),
            extent,
        };
        let size = self.size as f32;
        let viewport = vk::Viewport {
            x: 0.0,
            y: 0.0,
            width: size,
            height: size,
            min_depth: 0.0,
            max_depth: 1.0,
        };
        let attachment = [vk::RenderingAttachmentInfo::default()
            .image_view(self.view)
            .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let rendering = vk::RenderingInfo::default()
            .render_area(area)
            .layer_count(1)
            .color_attachments(&attachment);
        let barrier = vk::ImageMemoryBarrier::default()
            .new_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
            .dst_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(self.image)
            .subresource_range(RANGE);
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .command_buffer_count(1);
        // SAFETY: one command buffer of this canvas's pool, waited for before the pool is reset.
        unsafe {
            let commands = device.allocate_command_buffers(&info).unwrap()[0];
            let once = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            device.begin_command_buffer(commands, &once).unwrap();
            let stage = vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT;
            device.cmd_pipeline_barrier(
                commands,
                stage,
                stage,
                vk::DependencyFlags::empty(),
                &[],
                &[],
                &[barrier],
            );
            device.cmd_begin_rendering(commands, &rendering);
            device.cmd_set_viewport(commands, 0, &[viewport]);
            device.cmd_set_scissor(commands, 0, &[area]);
            device.cmd_bind_vertex_buffers(commands, 0, &[self.vertices], &[0]);
            record(commands);
            device.cmd_end_rendering(commands);
            device.end_command_buffer(commands).unwrap();
            let buffers = [commands];
            let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
            device
                .queue_submit(self.context.queue().0, &submit, self.fence)
                .unwrap();
            device.wait_for_fences(&[self.fence], true, u64::MAX).unwrap();
            device.reset_fences(&[self.fence]).unwrap();
            device.free_command_buffers(self.pool, &buffers);
        }
    }
}

const RANGE: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

impl Drop for Canvas {
    fn drop(&mut self) {
        let device = self.context.device();
        // SAFETY: every frame was waited for.
        unsafe {
            device.destroy_fence(self.fence, None);
            device.destroy_command_pool(self.pool, None);
            device.destroy_image_view(self.view, None);
            device.destroy_image(self.image, None);
            device.destroy_buffer(self.vertices, None);
            device.free_memory(self.memory, None);
        }
    }
}
