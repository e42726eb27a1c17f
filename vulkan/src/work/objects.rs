//! Objects of Vulkan that go when they are dropped.

use crate::context::Inner;
use ash::vk;
use std::sync::Arc;

/// Everything made for one use that is no buffer and no image; destroyed on drop.
pub(super) struct Objects {
    pub modules: Vec<vk::ShaderModule>,
    pub samplers: Vec<vk::Sampler>,
    pub views: Vec<vk::ImageView>,
    pub texel_views: Vec<vk::BufferView>,
    pub set_layouts: Vec<vk::DescriptorSetLayout>,
    pub pool: vk::DescriptorPool,
    pub layout: vk::PipelineLayout,
    pub pass: vk::RenderPass,
    pub framebuffer: vk::Framebuffer,
    pub pipeline: vk::Pipeline,
    pub queries: vk::QueryPool,
    pub context: Arc<Inner>,
}

impl Objects {
    pub(super) fn new(context: &Arc<Inner>) -> Self {
        Self {
            modules: Vec::new(),
            samplers: Vec::new(),
            views: Vec::new(),
            texel_views: Vec::new(),
            set_layouts: Vec::new(),
            pool: vk::DescriptorPool::null(),
            layout: vk::PipelineLayout::null(),
            pass: vk::RenderPass::null(),
            framebuffer: vk::Framebuffer::null(),
            pipeline: vk::Pipeline::null(),
            queries: vk::QueryPool::null(),
            context: context.clone(),
        }
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        let device = &self.context.device;
        // SAFETY: the owner waits for the device first, or leaks; all were made from this device, and null is ignored.
        unsafe {
            device.destroy_query_pool(self.queries, None);
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_framebuffer(self.framebuffer, None);
            device.destroy_render_pass(self.pass, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_pool(self.pool, None);
            self.set_layouts
                .drain(..)
                .for_each(|one| device.destroy_descriptor_set_layout(one, None));
            self.texel_views
                .drain(..)
                .for_each(|one| device.destroy_buffer_view(one, None));
            self.views
                .drain(..)
                .for_each(|one| device.destroy_image_view(one, None));
            self.samplers
                .drain(..)
                .for_each(|one| device.destroy_sampler(one, None));
            self.modules
                .drain(..)
                .for_each(|one| device.destroy_shader_module(one, None));
        }
    }
}
