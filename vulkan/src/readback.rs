//! Copies results from device memory to plain bytes.

use crate::context::Inner;
use crate::draw::{Draw, Frame, Pixels};
use crate::error::{Error, Result};
use crate::memory::{Buffer, Image};
use crate::program::Output;
use crate::record::SlotResource;
use crate::texture::TexelFormat;
use ash::vk;
use gpu_allocator::MemoryLocation;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Host-visible buffers for copies of targets and slots.
pub(crate) struct Readback {
    targets: Vec<(Output, TexelFormat, Buffer)>,
    slots: BTreeMap<u8, (Buffer, usize)>,
    size: [u32; 2],
}

impl Readback {
    pub(crate) fn new(
        context: &Arc<Inner>,
        draw: &Draw,
        targets: &[(Output, Image)],
        slots: &BTreeMap<u8, SlotResource>,
    ) -> Result<Self> {
        let host = |name: &str, size: usize| {
            let usage = vk::BufferUsageFlags::TRANSFER_DST;
            Buffer::new(context, name, size as u64, usage, MemoryLocation::GpuToCpu)
        };
        let mut this = Self {
            targets: Vec::new(),
            slots: BTreeMap::new(),
            size: draw.size,
        };
        for (output, _) in targets {
            let format = output.format(draw.target);
            let bytes = draw.size[0] as usize * draw.size[1] as usize * format.size();
            this.targets.push((*output, format, host("read-back", bytes)?));
        }
        for slot in &draw.read_slots {
            let resource = slots.get(slot);
            let resource =
                resource.ok_or_else(|| Error::data(format!("slot {slot} is not used and cannot be read")))?;
            let bytes = match (resource, draw.slots.get(slot)) {
                (
                    SlotResource::Image {
                        layout: vk::ImageLayout::GENERAL,
                        ..
                    },
                    Some(crate::SlotData::Image(texels, _)),
                ) => texels.bytes.len(),
                (SlotResource::Buffer(_), Some(crate::SlotData::Buffer(bytes))) => bytes.len(),
                (SlotResource::Texels { .. }, Some(crate::SlotData::Texels { bytes, .. })) => bytes.len(),
                _ => {
                    return Err(Error::data(format!(
                        "slot {slot} is not writable, so it is not read back"
                    )));
                }
            };
            this.slots.insert(*slot, (host("slot read-back", bytes)?, bytes));
        }
        Ok(this)
    }

    /// Records the copies; targets are already transfer sources, shader writes are made visible here.
    pub(crate) fn record(
        &self,
        context: &Inner,
        commands: vk::CommandBuffer,
        targets: &[(Output, Image)],
        slots: &BTreeMap<u8, SlotResource>,
        writers: vk::PipelineStageFlags,
    ) {
        let device = &context.device;
        let source = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        let written = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ);
        let images: Vec<_> = self.slots.keys().filter_map(|slot| to_source(&slots[slot])).collect();
        let to_host = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ);
        let transfer = vk::PipelineStageFlags::TRANSFER;
        let flags = vk::DependencyFlags::empty();
        // SAFETY: recording is open; sources and targets have equal size and live until the submission is done.
        unsafe {
            for ((_, image), (_, _, buffer)) in targets.iter().zip(&self.targets) {
                device.cmd_copy_image_to_buffer(commands, image.raw, source, buffer.raw, &[image.copy()]);
            }
            if !self.slots.is_empty() {
                device.cmd_pipeline_barrier(commands, writers, transfer, flags, &[written], &[], &images);
            }
            for (slot, (buffer, bytes)) in &self.slots {
                match &slots[slot] {
                    SlotResource::Image { image, .. } => {
                        device.cmd_copy_image_to_buffer(commands, image.raw, source, buffer.raw, &[image.copy()]);
                    }
                    SlotResource::Buffer(from) | SlotResource::Texels { buffer: from, .. } => {
                        let copy = vk::BufferCopy {
                            src_offset: 0,
                            dst_offset: 0,
                            size: *bytes as u64,
                        };
                        device.cmd_copy_buffer(commands, from.raw, buffer.raw, &[copy]);
                    }
                }
            }
            let host = vk::PipelineStageFlags::HOST;
            device.cmd_pipeline_barrier(commands, transfer, host, flags, &[to_host], &[], &[]);
        }
    }

    /// The bytes, once the device is done.
    pub(crate) fn frame(&self) -> Result<Frame> {
        let mut frame = Frame::default();
        for (output, format, buffer) in &self.targets {
            let count = self.size[0] as usize * self.size[1] as usize * format.size();
            let bytes = buffer.bytes()?[..count].to_vec();
            frame.targets.push(Pixels {
                location: output.location,
                size: self.size,
                format: *format,
                bytes,
            });
        }
        for (slot, (buffer, bytes)) in &self.slots {
            frame.slots.insert(*slot, buffer.bytes()?[..*bytes].to_vec());
        }
        Ok(frame)
    }
}

/// The barrier that turns a written storage image into a transfer source; `None` for buffers.
fn to_source(resource: &SlotResource) -> Option<vk::ImageMemoryBarrier<'static>> {
    let SlotResource::Image { image, layout, .. } = resource else {
        return None;
    };
    Some(
        vk::ImageMemoryBarrier::default()
            .old_layout(*layout)
            .new_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(image.raw)
            .subresource_range(image.range()),
    )
}
