//! Buffers and images on the device.

use super::objects::Objects;
use super::resources::Resource;
use crate::error::{Call, Error, Result};
use crate::memory::{Buffer, Image};
use ash::vk;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The resources of one use of a pipeline on the device.
pub(super) struct Device {
    pub buffers: BTreeMap<usize, Buffer>,
    pub images: BTreeMap<usize, DeviceImage>,
}

/// An image on the device, with the regions by which its texels are copied.
pub(super) struct DeviceImage {
    pub image: Arc<Image>,
    /// The layout for shaders and render passes.
    pub layout: vk::ImageLayout,
    /// Whether an earlier use created it.
    pub old: bool,
    /// Whether shaders or passes may write to it.
    pub written: bool,
    /// Regions of the staging buffer: the aspect, where it begins, and its levels.
    pub copies: Vec<vk::BufferImageCopy>,
}

impl Device {
    /// A buffer.
    pub(super) fn buffer(&self, index: usize) -> Result<&Buffer> {
        self.buffers
            .get(&index)
            .ok_or_else(|| Error::data("an image is bound as a buffer"))
    }

    /// The layout of an image for shaders.
    pub(super) fn layout(&self, index: usize) -> vk::ImageLayout {
        self.images
            .get(&index)
            .map_or(vk::ImageLayout::UNDEFINED, |image| image.layout)
    }

    /// A view of an image from a level on; of that level only if `one`.
    pub(super) fn view(&self, objects: &mut Objects, index: usize, level: u32, one: bool) -> Result<vk::ImageView> {
        let image = self
            .images
            .get(&index)
            .ok_or_else(|| Error::data("a buffer is bound as an image"))?;
        let desc = &image.image.desc;
        if level >= desc.levels {
            return Err(Error::data(format!(
                "level {level} of an image that has {}",
                desc.levels
            )));
        }
        let mut range = image.image.range();
        range.base_mip_level = level;
        range.level_count = if one { 1 } else { desc.levels - level };
        let attached = [vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL].contains(&image.layout);
        // Shaders read the depth aspect of depth-stencil images.
        if !attached && range.aspect_mask.contains(vk::ImageAspectFlags::DEPTH) {
            range.aspect_mask = vk::ImageAspectFlags::DEPTH;
        }
        let info = vk::ImageViewCreateInfo::default()
            .image(image.image.raw)
            .view_type(desc.view)
            .format(desc.format)
            .subresource_range(range);
        // SAFETY: the image has memory, and the range is within it.
        let view = unsafe { objects.context.device.create_image_view(&info, None) }.call("vkCreateImageView")?;
        objects.views.push(view);
        Ok(view)
    }

    /// Copies of the resources that the device may have written.
    pub(super) fn written(&self, resources: &[Resource]) -> BTreeMap<usize, Resource> {
        let images = self
            .images
            .iter()
            .filter(|(_, image)| image.written)
            .map(|(index, _)| *index);
        let all = self.buffers.keys().copied().chain(images);
        all.filter_map(|index| Some((index, resources.get(index)?.clone())))
            .collect()
    }
}
