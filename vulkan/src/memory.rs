//! Buffers and images with their memory.

use crate::context::Inner;
use crate::error::{Call, Error, Result};
use crate::texture::at_level;
use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};
use std::sync::Arc;

/// A buffer and its memory, freed on drop.
pub(crate) struct Buffer {
    pub raw: vk::Buffer,
    pub size: u64,
    allocation: Option<Allocation>,
    context: Arc<Inner>,
}

impl Buffer {
    /// A buffer of `size` bytes (at least 4, because Vulkan does not allow empty buffers).
    pub(crate) fn new(
        context: &Arc<Inner>,
        name: &str,
        size: u64,
        usage: vk::BufferUsageFlags,
        location: MemoryLocation,
    ) -> Result<Self> {
        let size = size.max(4);
        let info = vk::BufferCreateInfo::default()
            .size(size)
            .usage(usage)
            .sharing_mode(vk::SharingMode::EXCLUSIVE);
        // SAFETY: a valid create info; the requirements belong to the new buffer.
        let (raw, requirements) = unsafe {
            let raw = context.device.create_buffer(&info, None).call("vkCreateBuffer")?;
            (raw, context.device.get_buffer_memory_requirements(raw))
        };
        let mut buffer = Self {
            raw,
            size,
            allocation: None,
            context: context.clone(),
        };
        let allocation = allocate(context, name, requirements, location, true)?;
        // SAFETY: the memory was allocated for these requirements and is bound once.
        unsafe {
            context
                .device
                .bind_buffer_memory(raw, allocation.memory(), allocation.offset())
        }
        .call("vkBindBufferMemory")?;
        buffer.allocation = Some(allocation);
        context.name(raw, name);
        Ok(buffer)
    }

    /// A host-visible buffer filled with `bytes`.
    pub(crate) fn staging(context: &Arc<Inner>, name: &str, bytes: &[u8]) -> Result<Self> {
        let usage = vk::BufferUsageFlags::TRANSFER_SRC;
        let mut buffer = Self::new(context, name, bytes.len() as u64, usage, MemoryLocation::CpuToGpu)?;
        buffer.fill(bytes)?;
        Ok(buffer)
    }

    /// Fills a host-visible buffer from its start.
    pub(crate) fn fill(&mut self, bytes: &[u8]) -> Result<()> {
        let mapped = self.allocation.as_mut().and_then(Allocation::mapped_slice_mut);
        let mapped = mapped.ok_or_else(|| Error::memory("host-visible memory is not mapped"))?;
        mapped[..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    /// The bytes of a host-visible buffer; the device must be done with it.
    pub(crate) fn bytes(&self) -> Result<&[u8]> {
        let mapped = self.allocation.as_ref().and_then(Allocation::mapped_slice);
        Ok(&mapped.ok_or_else(|| Error::memory("read-back memory is not mapped"))?[..self.size as usize])
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the owner waits for the device before dropping objects in use.
        unsafe { self.context.device.destroy_buffer(self.raw, None) };
        free(&self.context, self.allocation.take());
    }
}

/// Parameters of an image.
#[derive(Clone, Copy)]
pub(crate) struct ImageDesc {
    pub kind: vk::ImageType,
    pub view: vk::ImageViewType,
    pub format: vk::Format,
    pub extent: vk::Extent3D,
    pub layers: u32,
    pub levels: u32,
    pub samples: vk::SampleCountFlags,
    pub usage: vk::ImageUsageFlags,
    pub aspect: vk::ImageAspectFlags,
}

impl ImageDesc {
    /// A single-layer colour image, for render targets and input attachments.
    pub(crate) fn flat(format: vk::Format, size: [u32; 2], usage: vk::ImageUsageFlags) -> Self {
        Self {
            kind: vk::ImageType::TYPE_2D,
            view: vk::ImageViewType::TYPE_2D,
            format,
            extent: vk::Extent3D {
                width: size[0],
                height: size[1],
                depth: 1,
            },
            layers: 1,
            levels: 1,
            samples: vk::SampleCountFlags::TYPE_1,
            usage,
            aspect: vk::ImageAspectFlags::COLOR,
        }
    }

    /// Checks that the device supports such an image.
    pub(crate) fn check(&self, context: &Inner) -> Result<()> {
        let info = vk::ImageCreateInfo::default()
            .image_type(self.kind)
            .format(self.format)
            .extent(self.extent)
            .mip_levels(self.levels)
            .samples(self.samples)
            .usage(self.usage);
        context.check_image(&info)
    }
}

/// An image with its memory and a view of all of it, freed on drop.
pub(crate) struct Image {
    pub raw: vk::Image,
    pub view: vk::ImageView,
    pub desc: ImageDesc,
    allocation: Option<Allocation>,
    context: Arc<Inner>,
}

impl Image {
    /// An image in device memory.
    pub(crate) fn new(context: &Arc<Inner>, name: &str, desc: ImageDesc) -> Result<Self> {
        let cube = matches!(desc.view, vk::ImageViewType::CUBE);
        let info = vk::ImageCreateInfo::default()
            .flags(if cube {
                vk::ImageCreateFlags::CUBE_COMPATIBLE
            } else {
                vk::ImageCreateFlags::empty()
            })
            .image_type(desc.kind)
            .format(desc.format)
            .extent(desc.extent)
            .mip_levels(desc.levels)
            .array_layers(desc.layers)
            .samples(desc.samples)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(desc.usage)
            .sharing_mode(vk::SharingMode::EXCLUSIVE);
        // SAFETY: a valid create info; the requirements belong to the new image.
        let (raw, requirements) = unsafe {
            let raw = context.device.create_image(&info, None).call("vkCreateImage")?;
            (raw, context.device.get_image_memory_requirements(raw))
        };
        let view = vk::ImageView::null();
        let mut image = Self {
            raw,
            view,
            desc,
            allocation: None,
            context: context.clone(),
        };
        let allocation = allocate(context, name, requirements, MemoryLocation::GpuOnly, false)?;
        // SAFETY: the memory was allocated for these requirements and is bound once.
        unsafe {
            context
                .device
                .bind_image_memory(raw, allocation.memory(), allocation.offset())
        }
        .call("vkBindImageMemory")?;
        image.allocation = Some(allocation);
        let info = vk::ImageViewCreateInfo::default()
            .image(raw)
            .view_type(desc.view)
            .format(desc.format)
            .subresource_range(image.range());
        // SAFETY: the image has memory and the range covers it exactly.
        image.view = unsafe { context.device.create_image_view(&info, None) }.call("vkCreateImageView")?;
        context.name(raw, name);
        context.name(image.view, name);
        Ok(image)
    }

    /// The whole image.
    pub(crate) fn range(&self) -> vk::ImageSubresourceRange {
        vk::ImageSubresourceRange {
            aspect_mask: self.desc.aspect,
            base_mip_level: 0,
            level_count: self.desc.levels,
            base_array_layer: 0,
            layer_count: self.desc.layers,
        }
    }

    /// The copy region of the whole base level, to or from a tightly packed buffer.
    pub(crate) fn copy(&self) -> vk::BufferImageCopy {
        self.copy_level(0)
    }

    /// The same for any level.
    pub(crate) fn copy_level(&self, level: u32) -> vk::BufferImageCopy {
        let layers = vk::ImageSubresourceLayers {
            aspect_mask: self.desc.aspect,
            mip_level: level,
            base_array_layer: 0,
            layer_count: self.desc.layers,
        };
        vk::BufferImageCopy::default()
            .image_subresource(layers)
            .image_extent(level_extent(self.desc.extent, level))
    }
}

/// An image's extent at one of its levels.
fn level_extent(extent: vk::Extent3D, level: u32) -> vk::Extent3D {
    let [width, height, depth] = [extent.width, extent.height, extent.depth].map(|size| at_level(size, level));
    vk::Extent3D { width, height, depth }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: the owner waits for the device before dropping objects in use; a null view is ignored.
        unsafe {
            self.context.device.destroy_image_view(self.view, None);
            self.context.device.destroy_image(self.raw, None);
        }
        free(&self.context, self.allocation.take());
    }
}

fn allocate(
    context: &Inner,
    name: &str,
    requirements: vk::MemoryRequirements,
    location: MemoryLocation,
    linear: bool,
) -> Result<Allocation> {
    let allocation_scheme = AllocationScheme::GpuAllocatorManaged;
    let desc = AllocationCreateDesc {
        name,
        requirements,
        location,
        linear,
        allocation_scheme,
    };
    let mut allocator = context.allocator().lock().expect("no panic while allocating");
    allocator
        .allocate(&desc)
        .map_err(|error| Error::memory(format!("{name}: {error}")))
}

fn free(context: &Inner, allocation: Option<Allocation>) {
    if let (Some(allocation), Ok(mut allocator)) = (allocation, context.allocator().lock()) {
        // Only fails for an allocation of another allocator.
        let _ = allocator.free(allocation);
    }
}
