//! Uploads through staging buffers, and descriptor sets.

use crate::context::Inner;
use crate::draw::{Draw, SamplerDesc, SlotData, Texels};
use crate::error::{Call, Error, Result};
use crate::layout::{Bound, descriptor_type};
use crate::memory::{Buffer, Image, ImageDesc};
use crate::program::ProgramInner;
use crate::texture::Dim;
use ash::vk;
use gpu_allocator::MemoryLocation;
use loader::vbc::DescriptorKind;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Pending uploads: gathered into one staging buffer, copied before the draw.
#[derive(Default)]
pub(crate) struct Uploads {
    bytes: Vec<u8>,
    buffers: Vec<(vk::Buffer, vk::BufferCopy)>,
    images: Vec<ImageUpload>,
}

struct ImageUpload {
    raw: vk::Image,
    range: vk::ImageSubresourceRange,
    /// One region per level.
    copies: Vec<vk::BufferImageCopy>,
    layout: vk::ImageLayout,
}

impl Uploads {
    /// Image copies must start at multiples of their texel size; 16 suits all formats here.
    fn stage(&mut self, bytes: &[u8]) -> u64 {
        self.bytes.resize(self.bytes.len().next_multiple_of(16), 0);
        let offset = self.bytes.len() as u64;
        self.bytes.extend_from_slice(bytes);
        offset
    }

    /// Fills a buffer from its start.
    pub(crate) fn buffer(&mut self, buffer: &Buffer, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let src_offset = self.stage(bytes);
        self.buffers.push((
            buffer.raw,
            vk::BufferCopy {
                src_offset,
                dst_offset: 0,
                size: bytes.len() as u64,
            },
        ));
    }

    /// Fills an image, level by level in texels of `size` bytes, and leaves it in `layout`.
    pub(crate) fn image(&mut self, image: &Image, bytes: &[u8], size: usize, layout: vk::ImageLayout) {
        let mut offset = self.stage(bytes);
        let copies = (0..image.desc.levels).map(|level| {
            let copy = image.copy_level(level).buffer_offset(offset);
            let vk::Extent3D { width, height, depth } = copy.image_extent;
            let texels = [height, depth, image.desc.layers].into_iter().map(u64::from);
            offset += texels.fold(u64::from(width), |all, count| all * count) * size as u64;
            copy
        });
        let copies = copies.collect();
        self.images.push(ImageUpload {
            raw: image.raw,
            range: image.range(),
            copies,
            layout,
        });
    }

    /// Records all copies, and makes them visible to the stages that read them; the returned buffer must outlive the
    /// submission.
    pub(crate) fn record(
        &self,
        context: &Arc<Inner>,
        commands: vk::CommandBuffer,
        readers: vk::PipelineStageFlags,
    ) -> Result<Buffer> {
        let staging = Buffer::staging(context, "staging", &self.bytes)?;
        let barrier = |upload: &ImageUpload, from: vk::ImageLayout, to: vk::ImageLayout| {
            vk::ImageMemoryBarrier::default()
                .old_layout(from)
                .new_layout(to)
                .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .image(upload.raw)
                .subresource_range(upload.range)
        };
        let (none, target) = (vk::ImageLayout::UNDEFINED, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
        let before: Vec<_> = self
            .images
            .iter()
            .map(|upload| barrier(upload, none, target).dst_access_mask(vk::AccessFlags::TRANSFER_WRITE))
            .collect();
        let shader = vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE;
        let reads = vk::AccessFlags::VERTEX_ATTRIBUTE_READ | vk::AccessFlags::UNIFORM_READ | shader;
        let image_reads = |layout| match layout {
            vk::ImageLayout::GENERAL => shader,
            _ => vk::AccessFlags::SHADER_READ | vk::AccessFlags::INPUT_ATTACHMENT_READ,
        };
        let after: Vec<_> = self
            .images
            .iter()
            .map(|upload| {
                barrier(upload, target, upload.layout)
                    .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                    .dst_access_mask(image_reads(upload.layout))
            })
            .collect();
        let memory = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(reads);
        let device = &context.device;
        let stages = (
            vk::PipelineStageFlags::TRANSFER,
            vk::PipelineStageFlags::VERTEX_INPUT | readers,
        );
        let flags = vk::DependencyFlags::empty();
        // SAFETY: recording is open; every handle belongs to this device and lives until the submission is done.
        unsafe {
            let top = vk::PipelineStageFlags::TOP_OF_PIPE;
            if !before.is_empty() {
                device.cmd_pipeline_barrier(commands, top, stages.0, flags, &[], &[], &before);
            }
            for (buffer, copy) in &self.buffers {
                device.cmd_copy_buffer(commands, staging.raw, *buffer, &[*copy]);
            }
            for upload in &self.images {
                device.cmd_copy_buffer_to_image(commands, staging.raw, upload.raw, target, &upload.copies);
            }
            device.cmd_pipeline_barrier(commands, stages.0, stages.1, flags, &[memory], &[], &after);
        }
        Ok(staging)
    }
}

/// The device objects of one table slot.
pub(crate) enum SlotResource {
    Image {
        image: Image,
        sampler: Option<Sampler>,
        layout: vk::ImageLayout,
    },
    Buffer(Buffer),
    Texels {
        buffer: Buffer,
        view: BufferView,
    },
}

/// A sampler, destroyed on drop.
pub(crate) struct Sampler(vk::Sampler, Arc<Inner>);

impl Sampler {
    /// The sampler.
    pub(crate) fn raw(&self) -> vk::Sampler {
        self.0
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        // SAFETY: the owner waits for the device first.
        unsafe { self.1.device.destroy_sampler(self.0, None) };
    }
}

/// A texel buffer view, destroyed on drop.
pub(crate) struct BufferView(vk::BufferView, Arc<Inner>);

impl Drop for BufferView {
    fn drop(&mut self) {
        // SAFETY: the owner waits for the device first.
        unsafe { self.1.device.destroy_buffer_view(self.0, None) };
    }
}

/// Descriptor sets and the objects they reference.
pub(crate) struct Bindings {
    pub sets: Vec<vk::DescriptorSet>,
    pub slots: BTreeMap<u8, SlotResource>,
    /// 16-bit table index of each slot, two per word, as the code reads them; empty in lowered mode.
    pub push: Vec<u8>,
    pool: vk::DescriptorPool,
    _uniform: Option<Buffer>,
    context: Arc<Inner>,
}

impl Bindings {
    pub(crate) fn new(program: &ProgramInner, draw: &Draw, inputs: &[Image], uploads: &mut Uploads) -> Result<Self> {
        let context = &program.context;
        let mut bindings = Self {
            sets: Vec::new(),
            slots: BTreeMap::new(),
            push: vec![0; program.push.map_or(0, |push| push.size as usize)],
            pool: vk::DescriptorPool::null(),
            _uniform: None,
            context: context.clone(),
        };
        for bound in program.bound.values() {
            for slot in &bound.slots {
                let data = draw.slots.get(slot);
                let data = data.ok_or_else(|| Error::data(format!("slot {slot} is used but has no data")))?;
                let place = |error: Error| error.within(format!("slot {slot}"));
                let made = slot_resource(context, *slot, bound.resource.kind, data, uploads).map_err(place)?;
                bindings.slots.insert(*slot, made);
            }
        }
        bindings._uniform = uniform(program, draw, uploads)?;
        bindings.allocate(program)?;
        bindings.write(program, inputs);
        Ok(bindings)
    }

    fn allocate(&mut self, program: &ProgramInner) -> Result<()> {
        if program.layouts.sets.is_empty() {
            return Ok(());
        }
        let mut sizes: BTreeMap<vk::DescriptorType, u32> = BTreeMap::new();
        for bound in program.bound.values() {
            *sizes.entry(descriptor_type(bound.resource.kind)).or_default() += bound.resource.count;
        }
        // A pool needs at least one size, even if all sets are empty.
        sizes.entry(vk::DescriptorType::UNIFORM_BUFFER).or_insert(1);
        let size = |(ty, descriptor_count): (&vk::DescriptorType, &u32)| vk::DescriptorPoolSize {
            ty: *ty,
            descriptor_count: *descriptor_count,
        };
        let sizes: Vec<_> = sizes.iter().map(size).collect();
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(program.layouts.sets.len() as u32)
            .pool_sizes(&sizes);
        // SAFETY: plain creation; the sets are allocated from layouts that outlive them.
        unsafe {
            let device = &self.context.device;
            self.pool = device
                .create_descriptor_pool(&info, None)
                .call("vkCreateDescriptorPool")?;
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(self.pool)
                .set_layouts(&program.layouts.sets);
            self.sets = device
                .allocate_descriptor_sets(&info)
                .call("vkAllocateDescriptorSets")?;
        }
        Ok(())
    }

    fn write(&mut self, program: &ProgramInner, inputs: &[Image]) {
        let mut push = std::mem::take(&mut self.push);
        for bound in program.bound.values() {
            match bound.resource.kind {
                DescriptorKind::UniformBuffer => self.write_uniform(bound),
                DescriptorKind::InputAttachment => self.write_input(bound, inputs),
                _ => {
                    for (element, slot) in bound.slots.iter().enumerate() {
                        self.write_slot(bound, *slot, element as u32);
                        let at = usize::from(*slot) * 2;
                        if let Some(index) = push.get_mut(at..at + 2) {
                            index.copy_from_slice(&(element as u16).to_le_bytes());
                        }
                    }
                }
            }
        }
        self.push = push;
    }

    fn write_uniform(&self, bound: &Bound) {
        let Some(uniform) = &self._uniform else { return };
        let info = [vk::DescriptorBufferInfo::default()
            .buffer(uniform.raw)
            .range(uniform.size)];
        self.update(bound, 0, |write| write.buffer_info(&info));
    }

    fn write_input(&self, bound: &Bound, inputs: &[Image]) {
        let Some(image) = inputs.get(bound.resource.binding as usize) else {
            return;
        };
        let info = [vk::DescriptorImageInfo::default()
            .image_view(image.view)
            .image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL)];
        self.update(bound, 0, |write| write.image_info(&info));
    }

    fn write_slot(&self, bound: &Bound, slot: u8, element: u32) {
        match &self.slots[&slot] {
            SlotResource::Image { image, sampler, layout } => {
                let sampler = sampler.as_ref().map_or(vk::Sampler::null(), |sampler| sampler.0);
                let info = [vk::DescriptorImageInfo {
                    sampler,
                    image_view: image.view,
                    image_layout: *layout,
                }];
                self.update(bound, element, |write| write.image_info(&info));
            }
            SlotResource::Buffer(buffer) => {
                let info = [vk::DescriptorBufferInfo::default()
                    .buffer(buffer.raw)
                    .range(buffer.size)];
                self.update(bound, element, |write| write.buffer_info(&info));
            }
            SlotResource::Texels { view, .. } => {
                let views = [view.0];
                self.update(bound, element, |write| write.texel_buffer_view(&views));
            }
        }
    }

    fn update<'a>(
        &self,
        bound: &Bound,
        element: u32,
        fill: impl FnOnce(vk::WriteDescriptorSet<'a>) -> vk::WriteDescriptorSet<'a>,
    ) {
        let write = vk::WriteDescriptorSet::default()
            .dst_set(self.sets[bound.resource.set as usize])
            .dst_binding(bound.resource.binding)
            .dst_array_element(element)
            .descriptor_type(descriptor_type(bound.resource.kind));
        // SAFETY: set, binding and element belong to the layout that the set was allocated with; the resource is alive.
        unsafe { self.context.device.update_descriptor_sets(&[fill(write)], &[]) };
    }
}

impl Drop for Bindings {
    fn drop(&mut self) {
        // SAFETY: the owner waits for the device first; null is ignored.
        unsafe { self.context.device.destroy_descriptor_pool(self.pool, None) };
    }
}

/// The uniform's buffer, if a stage uses it.
fn uniform(program: &ProgramInner, draw: &Draw, uploads: &mut Uploads) -> Result<Option<Buffer>> {
    if !program
        .bound
        .values()
        .any(|bound| bound.resource.kind == DescriptorKind::UniformBuffer)
    {
        return Ok(None);
    }
    let size = program.uniform_size as usize;
    if draw.uniform.len() < size {
        return Err(Error::data(format!(
            "the uniform has {size} bytes, but {} are given",
            draw.uniform.len()
        )));
    }
    if size as u64 > u64::from(program.context.limits.max_uniform_buffer_range) {
        return Err(Error::unsupported(format!("a uniform of {size} bytes")));
    }
    let usage = vk::BufferUsageFlags::UNIFORM_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
    // Some compilers round block sizes up to 16 bytes; the tail is never read.
    let padded = size.next_multiple_of(16) as u64;
    let buffer = Buffer::new(&program.context, "uniform", padded, usage, MemoryLocation::GpuOnly)?;
    uploads.buffer(&buffer, &draw.uniform[..size]);
    Ok(Some(buffer))
}

fn slot_resource(
    context: &Arc<Inner>,
    slot: u8,
    kind: DescriptorKind,
    data: &SlotData,
    uploads: &mut Uploads,
) -> Result<SlotResource> {
    match (kind, data) {
        (DescriptorKind::CombinedImageSampler, SlotData::Image(texels, sampler)) => {
            let image = upload_image(
                context,
                &format!("slot {slot}"),
                texels,
                Use::Sampled(*sampler),
                uploads,
            )?;
            let sampler = Some(create_sampler(context, *sampler)?);
            Ok(SlotResource::Image {
                image,
                sampler,
                layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
            })
        }
        (DescriptorKind::StorageImage, SlotData::Image(texels, _)) => {
            let image = upload_image(context, &format!("slot {slot}"), texels, Use::Storage, uploads)?;
            Ok(SlotResource::Image {
                image,
                sampler: None,
                layout: vk::ImageLayout::GENERAL,
            })
        }
        (DescriptorKind::StorageBuffer, SlotData::Buffer(bytes)) => {
            let usage = vk::BufferUsageFlags::STORAGE_BUFFER
                | vk::BufferUsageFlags::TRANSFER_DST
                | vk::BufferUsageFlags::TRANSFER_SRC;
            Ok(SlotResource::Buffer(filled_buffer(
                context, slot, bytes, usage, uploads,
            )?))
        }
        (
            DescriptorKind::UniformTexelBuffer | DescriptorKind::StorageTexelBuffer,
            SlotData::Texels { format, bytes },
        ) => {
            let storage = kind == DescriptorKind::StorageTexelBuffer;
            let (usage, feature) = match storage {
                true => (
                    vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER,
                    vk::FormatFeatureFlags::STORAGE_TEXEL_BUFFER,
                ),
                false => (
                    vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER,
                    vk::FormatFeatureFlags::UNIFORM_TEXEL_BUFFER,
                ),
            };
            if !context
                .format_properties(format.vk()?)
                .buffer_features
                .contains(feature)
            {
                return Err(Error::unsupported(format!("texel buffers of {:?}", format.vk()?)));
            }
            if bytes.is_empty() || bytes.len() % format.size() != 0 {
                return Err(Error::data(format!(
                    "{} bytes are not whole texels of {}",
                    bytes.len(),
                    format.size()
                )));
            }
            let usage = usage | vk::BufferUsageFlags::TRANSFER_DST | vk::BufferUsageFlags::TRANSFER_SRC;
            let buffer = filled_buffer(context, slot, bytes, usage, uploads)?;
            let info = vk::BufferViewCreateInfo::default()
                .buffer(buffer.raw)
                .format(format.vk()?)
                .range(bytes.len() as u64);
            // SAFETY: the buffer has memory and the usage, and its bytes are whole texels of the format.
            let view = unsafe { context.device.create_buffer_view(&info, None) }.call("vkCreateBufferView")?;
            Ok(SlotResource::Texels {
                buffer,
                view: BufferView(view, context.clone()),
            })
        }
        (kind, _) => Err(Error::data(format!("the shader has a {kind:?} there"))),
    }
}

fn filled_buffer(
    context: &Arc<Inner>,
    slot: u8,
    bytes: &[u8],
    usage: vk::BufferUsageFlags,
    uploads: &mut Uploads,
) -> Result<Buffer> {
    let name = format!("slot {slot}");
    let buffer = Buffer::new(context, &name, bytes.len() as u64, usage, MemoryLocation::GpuOnly)?;
    uploads.buffer(&buffer, bytes);
    Ok(buffer)
}

pub(crate) fn create_sampler(context: &Arc<Inner>, desc: SamplerDesc) -> Result<Sampler> {
    check_sampler(context, &desc)?;
    let [u, v, w] = desc.address_modes;
    let info = vk::SamplerCreateInfo::default()
        .mag_filter(desc.mag_filter)
        .min_filter(desc.min_filter)
        .mipmap_mode(desc.mipmap_mode)
        .mip_lod_bias(desc.mip_lod_bias)
        .min_lod(desc.min_lod)
        .max_lod(desc.max_lod)
        .address_mode_u(u)
        .address_mode_v(v)
        .address_mode_w(w)
        .border_color(desc.border_color)
        .anisotropy_enable(desc.max_anisotropy.is_some())
        .max_anisotropy(desc.max_anisotropy.unwrap_or(1.0))
        .compare_enable(desc.compare.is_some())
        .compare_op(desc.compare.unwrap_or_default())
        .unnormalized_coordinates(desc.unnormalized_coordinates);
    // SAFETY: a create info that was checked against the device.
    let sampler = unsafe { context.device.create_sampler(&info, None) }.call("vkCreateSampler")?;
    Ok(Sampler(sampler, context.clone()))
}

/// Checks a sampler against the device, and by the rules of unnormalised coordinates.
fn check_sampler(context: &Inner, desc: &SamplerDesc) -> Result<()> {
    use vk::SamplerAddressMode as A;
    let lacks = |what: String| Err(Error::unsupported(format!("samplers: {what}")));
    if [desc.mag_filter, desc.min_filter]
        .iter()
        .any(|filter| filter.as_raw() > vk::Filter::LINEAR.as_raw())
    {
        return lacks(format!("filters {:?} and {:?}", desc.mag_filter, desc.min_filter));
    }
    for mode in desc.address_modes {
        if mode.as_raw() > A::MIRROR_CLAMP_TO_EDGE.as_raw() {
            return lacks(format!("address mode {mode:?}"));
        }
        if mode == A::MIRROR_CLAMP_TO_EDGE && !context.features.v12.mirror_clamp_to_edge {
            return lacks("the device lacks samplerMirrorClampToEdge".into());
        }
    }
    if desc.border_color.as_raw() > vk::BorderColor::INT_OPAQUE_WHITE.as_raw() {
        return lacks(format!("border {:?}", desc.border_color));
    }
    let most = context.limits.max_sampler_lod_bias;
    if !desc.mip_lod_bias.is_finite() || desc.mip_lod_bias.abs() > most {
        return lacks(format!("a bias of {} levels, the device has {most}", desc.mip_lod_bias));
    }
    if desc.min_lod.is_nan() || desc.max_lod.is_nan() || desc.min_lod > desc.max_lod {
        return Err(Error::data(format!("levels from {} to {}", desc.min_lod, desc.max_lod)));
    }
    if let Some(anisotropy) = desc.max_anisotropy {
        let most = context.limits.max_sampler_anisotropy;
        if context.features.core.sampler_anisotropy == vk::FALSE {
            return lacks("the device lacks samplerAnisotropy".into());
        }
        if !(1.0..=most).contains(&anisotropy) {
            return lacks(format!("anisotropy {anisotropy}, the device has 1 to {most}"));
        }
    }
    if let Some(op) = desc.compare.filter(|op| op.as_raw() > vk::CompareOp::ALWAYS.as_raw()) {
        return lacks(format!("comparison {op:?}"));
    }
    let clamps = |mode: &A| [A::CLAMP_TO_EDGE, A::CLAMP_TO_BORDER].contains(mode);
    let fits = desc.mag_filter == desc.min_filter
        && desc.mipmap_mode == vk::SamplerMipmapMode::NEAREST
        && (desc.min_lod, desc.max_lod) == (0.0, 0.0)
        && desc.address_modes[..2].iter().all(clamps)
        && desc.max_anisotropy.is_none()
        && desc.compare.is_none();
    if desc.unnormalized_coordinates && !fits {
        return Err(Error::data(
            "unnormalised coordinates: one filter, nearest level 0, clamped x and y, no anisotropy and comparison",
        ));
    }
    Ok(())
}

/// The use of an uploaded image.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    Sampled(SamplerDesc),
    Storage,
    Input,
}

/// Creates an image from texels, after checking shape, size and the device's support of the format.
pub(crate) fn upload_image(
    context: &Arc<Inner>,
    name: &str,
    texels: &Texels,
    purpose: Use,
    uploads: &mut Uploads,
) -> Result<Image> {
    check_texels(texels, &context.limits)?;
    if texels.levels > 1 && !matches!(purpose, Use::Sampled(_)) {
        return Err(Error::data("only images that are sampled have levels"));
    }
    let (format, aspect) = match purpose {
        Use::Sampled(SamplerDesc { compare: Some(_), .. }) => (depths(texels)?, vk::ImageAspectFlags::DEPTH),
        _ => (texels.format.vk()?, vk::ImageAspectFlags::COLOR),
    };
    let (usage, needed, layout) = match purpose {
        Use::Sampled(sampler) => {
            let linear = vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR;
            let interpolates = [sampler.mag_filter, sampler.min_filter].contains(&vk::Filter::LINEAR)
                || sampler.mipmap_mode == vk::SamplerMipmapMode::LINEAR;
            let filter = if interpolates {
                linear
            } else {
                vk::FormatFeatureFlags::empty()
            };
            let needed = vk::FormatFeatureFlags::SAMPLED_IMAGE | filter;
            (
                vk::ImageUsageFlags::SAMPLED,
                needed,
                vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
            )
        }
        Use::Storage => (
            vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC,
            vk::FormatFeatureFlags::STORAGE_IMAGE,
            vk::ImageLayout::GENERAL,
        ),
        Use::Input => (
            vk::ImageUsageFlags::INPUT_ATTACHMENT,
            vk::FormatFeatureFlags::COLOR_ATTACHMENT,
            vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        ),
    };
    if !context
        .format_properties(format)
        .optimal_tiling_features
        .contains(needed)
    {
        return Err(Error::unsupported(format!("images of {format:?} as {needed:?}")));
    }
    let (kind, view) = texels.dim.vk();
    let [width, height, depth] = texels.extent;
    let desc = ImageDesc {
        kind,
        view,
        format,
        extent: vk::Extent3D { width, height, depth },
        layers: texels.layers,
        levels: texels.levels,
        samples: vk::SampleCountFlags::TYPE_1,
        usage: usage | vk::ImageUsageFlags::TRANSFER_DST,
        aspect,
    };
    let image = Image::new(context, name, desc)?;
    uploads.image(&image, &texels.bytes, texels.format.size(), layout);
    Ok(image)
}

/// The format of an image that a sampler compares with; its texels are depths.
fn depths(texels: &Texels) -> Result<vk::Format> {
    let format = texels.format.depth().ok_or_else(|| {
        Error::data(format!(
            "a sampler that compares needs texels of one 32-bit float or one normalised 16-bit number, not {:?}",
            texels.format
        ))
    })?;
    let mut all = texels.bytes.chunks_exact(texels.format.size());
    match all.find(|texel| !(0.0..=1.0).contains(&texels.format.decode(texel)[0])) {
        None => Ok(format),
        Some(texel) => Err(Error::data(format!(
            "a depth of {}; depths are 0 to 1",
            texels.format.decode(texel)[0]
        ))),
    }
}

fn check_texels(texels: &Texels, limits: &vk::PhysicalDeviceLimits) -> Result<()> {
    let [width, height, depth] = texels.extent;
    let shape_holds = match texels.dim {
        Dim::D1 => height == 1 && depth == 1 && texels.layers == 1,
        Dim::D1Array => height == 1 && depth == 1,
        Dim::D2 => depth == 1 && texels.layers == 1,
        Dim::D2Array => depth == 1,
        Dim::D3 => texels.layers == 1,
        Dim::Cube => width == height && depth == 1 && texels.layers == 6,
    };
    let shape = format!(
        "{:?} image of {width}x{height}x{depth} with {} layers",
        texels.dim, texels.layers
    );
    if !shape_holds || width.min(height).min(depth).min(texels.layers) == 0 {
        return Err(Error::data(format!("invalid image: {shape}")));
    }
    let most = match texels.dim {
        Dim::D1 | Dim::D1Array => limits.max_image_dimension1_d,
        Dim::D2 | Dim::D2Array => limits.max_image_dimension2_d,
        Dim::D3 => limits.max_image_dimension3_d,
        Dim::Cube => limits.max_image_dimension_cube,
    };
    if width.max(height).max(depth) > most || texels.layers > limits.max_image_array_layers {
        return Err(Error::unsupported(format!("a {shape}; the device holds {most}")));
    }
    let most = 32 - width.max(height).max(depth).leading_zeros();
    if !(1..=most).contains(&texels.levels) {
        return Err(Error::data(format!(
            "a {shape} has 1 to {most} levels, not {}",
            texels.levels
        )));
    }
    let wanted = texels
        .count()
        .and_then(|count| count.checked_mul(texels.format.size() as u64));
    if wanted != Some(texels.bytes.len() as u64) {
        return Err(Error::data(format!(
            "a {shape} does not take {} bytes",
            texels.bytes.len()
        )));
    }
    Ok(())
}
