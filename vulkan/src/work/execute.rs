//! Runs a [`Work`] on the device.

use super::device::{Device, DeviceImage};
use super::objects::Objects;
use super::resources::{ImageData, Resource};
use super::{Attachment, Command, Graphics, Stage, Task, Work, descriptors, needs};
use crate::context::{Context, Inner};
use crate::error::{Call, Error, Result};
use crate::memory::{Buffer, Image, ImageDesc};
use crate::pipeline::{Recipe, Target};
use crate::submit::submit;
use crate::vertex::VertexInput;
use ash::vk;
use gpu_allocator::MemoryLocation;
use loader::spirv::{ModuleIndex, Node, class, decoration, op};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Everything a submission uses until it completes; fields drop in this order.
struct Job {
    objects: Objects,
    sets: Vec<vk::DescriptorSet>,
    dynamic: Vec<u32>,
    device: Device,
    /// Texels to upload; read-back texels have the same offsets in `read`.
    staging: Buffer,
    read: Buffer,
}

/// The written resources, and the device's time if it was measured.
type Written = (Vec<(usize, Resource)>, Option<Duration>);

/// Runs a pipeline once: uploads the data, waits for the device, and reads back what may have been written. Returns the
/// device's time if [`Work::timed`] is set and the device has timestamps.
///
/// # Errors
/// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) where the device lacks something,
/// [`ErrorKind::Data`](crate::ErrorKind::Data) where the data do not fit each other,
/// [`ErrorKind::Timeout`](crate::ErrorKind::Timeout), and what the device says.
pub fn execute(context: &Context, work: &Work<'_>, resources: &mut [Resource]) -> Result<Option<Duration>> {
    let inner = &context.inner;
    check(inner, work)?;
    work.stages.iter().try_for_each(|stage| needs::check(context, stage))?;
    let mut objects = Objects::new(inner);
    let (device, texels) = upload(inner, work, resources)?;
    descriptors::layouts(&mut objects, work)?;
    let (sets, dynamic) = descriptors::sets(&mut objects, work, &device)?;
    if work.timed {
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(2);
        // SAFETY: a valid create info.
        objects.queries = unsafe { inner.device.create_query_pool(&info, None) }.call("vkCreateQueryPool")?;
    }
    match &work.task {
        Task::Compute(_) => compute_pipeline(&mut objects, work)?,
        Task::Graphics(graphics) => graphics_pipeline(&mut objects, work, graphics, &device, resources)?,
    }
    let (to, size) = (vk::BufferUsageFlags::TRANSFER_DST, texels.len() as u64);
    let job = Arc::new(Job {
        objects,
        sets,
        dynamic,
        device,
        staging: Buffer::staging(inner, "texels", &texels)?,
        read: Buffer::new(inner, "texels read back", size, to, MemoryLocation::GpuToCpu)?,
    });
    let finishing = job.clone();
    // Read-back data replace the host's; sizes and formats stay.
    let shapes: BTreeMap<usize, Resource> = job.device.written(resources);
    let submission = submit(
        inner,
        |commands| {
            record(&job, work, commands);
            Ok(())
        },
        move || read(&finishing, shapes),
    );
    drop(job);
    let (written, time) = submission?.wait()?;
    for (index, resource) in written {
        resources[index] = resource;
    }
    Ok(time)
}

/// Checks the device's limits before any object is created.
fn check(context: &Inner, work: &Work<'_>) -> Result<()> {
    let limits = &context.limits;
    match &work.task {
        Task::Compute(groups) => {
            let most = limits.max_compute_work_group_count;
            if groups.iter().zip(most).any(|(count, most)| *count > most) {
                return Err(Error::unsupported(format!(
                    "{groups:?} work groups, the device has {most:?}"
                )));
            }
        }
        Task::Graphics(graphics) => {
            let [width, height] = graphics.size;
            if width > limits.max_framebuffer_width || height > limits.max_framebuffer_height {
                return Err(Error::unsupported(format!("a framebuffer of {width}x{height}")));
            }
            if graphics.colors.len() > limits.max_color_attachments as usize {
                return Err(Error::unsupported(format!(
                    "{} colour attachments",
                    graphics.colors.len()
                )));
            }
            for vertices in &graphics.vertices {
                let format = vertices.format;
                let feature = vk::FormatFeatureFlags::VERTEX_BUFFER;
                if !context.format_properties(format).buffer_features.contains(feature) {
                    return Err(Error::unsupported(format!("vertices of {format:?}")));
                }
                if vertices.location >= limits.max_vertex_input_attributes
                    || vertices.stride > limits.max_vertex_input_binding_stride
                {
                    return Err(Error::unsupported(format!(
                        "vertex attribute {} of {} bytes",
                        vertices.location, vertices.stride
                    )));
                }
            }
        }
    }
    Ok(())
}

/// How an image is used.
#[derive(Clone, Copy, Default)]
struct Usage {
    flags: vk::ImageUsageFlags,
    layout: vk::ImageLayout,
    written: bool,
}

/// What each image is used for.
fn usages(work: &Work<'_>) -> BTreeMap<usize, Usage> {
    use vk::{DescriptorType as T, ImageLayout as L, ImageUsageFlags as U};
    let mut all: BTreeMap<usize, Usage> = BTreeMap::new();
    let mut use_as = |index: usize, flags: U, layout: L, written: bool| {
        let usage = all.entry(index).or_default();
        let one = usage.flags.is_empty() || usage.layout == layout;
        usage.layout = if one { layout } else { L::GENERAL };
        usage.flags |= flags;
        usage.written |= written;
    };
    for binding in &work.bindings {
        let (flags, layout, written) = match binding.kind {
            T::STORAGE_IMAGE => (U::STORAGE, L::GENERAL, true),
            T::SAMPLED_IMAGE | T::COMBINED_IMAGE_SAMPLER => (U::SAMPLED, L::SHADER_READ_ONLY_OPTIMAL, false),
            _ => continue,
        };
        for index in binding.elements.iter().filter_map(|element| element.resource) {
            use_as(index, flags, layout, written);
        }
    }
    if let Task::Graphics(graphics) = &work.task {
        let colors = graphics.colors.iter().chain(&graphics.resolves).flatten();
        colors.for_each(|one| use_as(one.resource, U::COLOR_ATTACHMENT, L::COLOR_ATTACHMENT_OPTIMAL, true));
        if let Some(one) = &graphics.depth {
            use_as(
                one.resource,
                U::DEPTH_STENCIL_ATTACHMENT,
                L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
                true,
            );
        }
    }
    all
}

/// What each buffer is used for.
fn buffer_usages(work: &Work<'_>) -> BTreeMap<usize, vk::BufferUsageFlags> {
    use vk::{BufferUsageFlags as U, DescriptorType as T};
    let mut all: BTreeMap<usize, U> = BTreeMap::new();
    let mut use_as = |index: usize, flags: U| *all.entry(index).or_default() |= flags;
    for binding in &work.bindings {
        let flags = match binding.kind {
            T::UNIFORM_BUFFER | T::UNIFORM_BUFFER_DYNAMIC => U::UNIFORM_BUFFER,
            T::STORAGE_BUFFER | T::STORAGE_BUFFER_DYNAMIC => U::STORAGE_BUFFER,
            T::UNIFORM_TEXEL_BUFFER => U::UNIFORM_TEXEL_BUFFER,
            T::STORAGE_TEXEL_BUFFER => U::STORAGE_TEXEL_BUFFER,
            _ => continue,
        };
        let used = binding.elements.iter().filter_map(|element| element.resource);
        used.for_each(|index| use_as(index, flags));
    }
    if let Task::Graphics(graphics) = &work.task {
        let vertices = graphics.vertices.iter();
        vertices.for_each(|vertices| use_as(vertices.resource, U::VERTEX_BUFFER));
        if let Some((index, _)) = graphics.indices {
            use_as(index, U::INDEX_BUFFER);
        }
    }
    all
}

/// The feature of formats that each usage needs.
const NEEDS: [(vk::ImageUsageFlags, vk::FormatFeatureFlags); 4] = [
    (vk::ImageUsageFlags::STORAGE, vk::FormatFeatureFlags::STORAGE_IMAGE),
    (vk::ImageUsageFlags::SAMPLED, vk::FormatFeatureFlags::SAMPLED_IMAGE),
    (
        vk::ImageUsageFlags::COLOR_ATTACHMENT,
        vk::FormatFeatureFlags::COLOR_ATTACHMENT,
    ),
    (
        vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT,
    ),
];

/// Makes every resource that the work uses, and gathers the texels to be copied.
fn upload(context: &Arc<Inner>, work: &Work<'_>, resources: &[Resource]) -> Result<(Device, Vec<u8>)> {
    let (usages, buffer_usages) = (usages(work), buffer_usages(work));
    let mut used: Vec<usize> = usages.keys().copied().collect();
    let elements = work.bindings.iter().flat_map(|binding| &binding.elements);
    used.extend(elements.filter_map(|element| element.resource));
    if let Task::Graphics(graphics) = &work.task {
        used.extend(graphics.vertices.iter().map(|vertices| vertices.resource));
        used.extend(graphics.indices.map(|(index, _)| index));
    }
    used.sort_unstable();
    used.dedup();
    let (mut buffers, mut images, mut texels) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for index in used {
        let resource = resources
            .get(index)
            .ok_or_else(|| Error::data(format!("no resource {index}")))?;
        match (resource, usages.get(&index)) {
            (Resource::Buffer(bytes), None) => {
                let usage = buffer_usages.get(&index).copied().unwrap_or_default();
                let size = bytes.len() as u64;
                let mut buffer = Buffer::new(context, "buffer", size, usage, MemoryLocation::GpuToCpu)?;
                buffer.fill(bytes)?;
                buffers.insert(index, buffer);
            }
            (Resource::Image(data), Some(usage)) => {
                images.insert(index, upload_image(context, data, *usage, &mut texels)?);
            }
            (Resource::Buffer(_), Some(_)) => return Err(Error::data("a buffer is used as an image")),
            (Resource::Image(_), None) => return Err(Error::data("an image is used as a buffer")),
        }
    }
    Ok((Device { buffers, images }, texels))
}

fn upload_image(context: &Arc<Inner>, data: &ImageData, usage: Usage, texels: &mut Vec<u8>) -> Result<DeviceImage> {
    let features = context.format_properties(data.format).optimal_tiling_features;
    for (flag, feature) in NEEDS {
        if usage.flags.contains(flag) && !features.contains(feature) {
            return Err(Error::unsupported(format!(
                "images of {:?} as {feature:?}",
                data.format
            )));
        }
    }
    let mut flags = usage.flags;
    if data.samples > 1 {
        // It stays, and later uses may be others.
        let storage = context.everything.features.get("shaderStorageImageMultisample") == Some(&true);
        let possible = |(flag, feature): &&(vk::ImageUsageFlags, vk::FormatFeatureFlags)| {
            features.contains(*feature) && (storage || *flag != vk::ImageUsageFlags::STORAGE)
        };
        flags = NEEDS.iter().filter(possible).fold(flags, |all, (flag, _)| all | *flag);
    } else {
        flags |= vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    }
    let [width, height, depth] = data.size;
    let view = match data.dimension {
        vk::ImageType::TYPE_1D => vk::ImageViewType::TYPE_1D,
        vk::ImageType::TYPE_3D => vk::ImageViewType::TYPE_3D,
        _ => vk::ImageViewType::TYPE_2D,
    };
    let aspect = data
        .planes
        .iter()
        .fold(vk::ImageAspectFlags::empty(), |all, plane| all | plane.aspect);
    let desc = ImageDesc {
        kind: data.dimension,
        view,
        format: data.format,
        extent: vk::Extent3D { width, height, depth },
        layers: 1,
        levels: data.levels,
        samples: vk::SampleCountFlags::from_raw(data.samples),
        usage: flags,
        aspect,
    };
    desc.check(context)?;
    let old = data.kept.is_some();
    let image = match &data.kept {
        Some(kept) => kept.clone(),
        None => Arc::new(Image::new(context, "image", desc)?),
    };
    let mut copies = Vec::new();
    if data.samples == 1 {
        for plane in &data.planes {
            texels.resize(texels.len().next_multiple_of(16), 0);
            let mut offset = texels.len();
            texels.extend_from_slice(&plane.bytes);
            for level in 0..data.levels {
                let mut copy = image.copy_level(level).buffer_offset(offset as u64);
                copy.image_subresource.aspect_mask = plane.aspect;
                copies.push(copy);
                offset += data.texels(level) * plane.texel;
            }
        }
    }
    Ok(DeviceImage {
        image,
        layout: usage.layout,
        old,
        written: usage.written,
        copies,
    })
}

/// Modules of the stages with their entry points and constants, for as long as a pipeline is made.
struct Stages {
    entries: Vec<CString>,
    constants: Vec<(Vec<vk::SpecializationMapEntry>, Vec<u8>)>,
    sizes: Vec<u32>,
}

impl Stages {
    fn new(objects: &mut Objects, stages: &[Stage<'_>]) -> Result<Self> {
        let mut this = Self {
            entries: Vec::new(),
            constants: Vec::new(),
            sizes: Vec::new(),
        };
        for stage in stages {
            let info = vk::ShaderModuleCreateInfo::default().code(stage.words);
            // SAFETY: the words were validated as SPIR-V, or come from a caller who asked for them as they are.
            let module = unsafe { objects.context.device.create_shader_module(&info, None) };
            objects.modules.push(module.call("vkCreateShaderModule")?);
            let entry = CString::new(stage.entry).map_err(|_| Error::data("an entry point with a NUL in its name"))?;
            this.entries.push(entry);
            let entry = |(at, (id, _)): (usize, &(u32, [u8; 4]))| vk::SpecializationMapEntry {
                constant_id: *id,
                offset: at as u32 * 4,
                size: 4,
            };
            let entries = stage.constants.iter().enumerate().map(entry).collect();
            let bytes = stage.constants.iter().flat_map(|(_, bytes)| *bytes).collect();
            this.constants.push((entries, bytes));
            this.sizes.push(stage.subgroup_size.unwrap_or(0));
        }
        Ok(this)
    }

    /// Calls `make` with the stages as Vulkan takes them.
    fn with<T>(
        &self,
        objects: &Objects,
        stages: &[Stage<'_>],
        make: impl FnOnce(&[vk::PipelineShaderStageCreateInfo<'_>]) -> Result<T>,
    ) -> Result<T> {
        let constants: Vec<_> = self
            .constants
            .iter()
            .map(|(entries, bytes)| vk::SpecializationInfo::default().map_entries(entries).data(bytes))
            .collect();
        let mut sizes: Vec<_> = self
            .sizes
            .iter()
            .map(|size| vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default().required_subgroup_size(*size))
            .collect();
        let mut all = Vec::new();
        for (at, (stage, size)) in stages.iter().zip(&mut sizes).enumerate() {
            let mut flags = vk::PipelineShaderStageCreateFlags::empty();
            if stage.full_subgroups {
                flags |= vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS;
            }
            if stage.varying_subgroups {
                flags |= vk::PipelineShaderStageCreateFlags::ALLOW_VARYING_SUBGROUP_SIZE;
            }
            let mut info = vk::PipelineShaderStageCreateInfo::default()
                .flags(flags)
                .stage(stage.stage)
                .module(objects.modules[at])
                .name(&self.entries[at])
                .specialization_info(&constants[at]);
            if stage.subgroup_size.is_some() {
                info = info.push_next(size);
            }
            all.push(info);
        }
        make(&all)
    }
}

fn compute_pipeline(objects: &mut Objects, work: &Work<'_>) -> Result<()> {
    let stages = Stages::new(objects, &work.stages)?;
    objects.pipeline = stages.with(objects, &work.stages, |stages| {
        let [stage] = stages else {
            return Err(Error::data("a compute pipeline has one shader"));
        };
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(*stage)
            .layout(objects.layout);
        let device = &objects.context.device;
        // SAFETY: module and layout are alive, and belong together.
        match unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) } {
            Ok(pipelines) => Ok(pipelines[0]),
            Err((_, result)) => Err(result).call("vkCreateComputePipelines"),
        }
    })?;
    Ok(())
}

/// The attachments of a pass in their order: colours, resolves, depth.
fn attachments(graphics: &Graphics) -> Vec<Attachment> {
    let colors = graphics.colors.iter().chain(&graphics.resolves);
    colors.chain([&graphics.depth]).flatten().copied().collect()
}

fn image_of(resources: &[Resource], index: usize) -> Result<&ImageData> {
    match resources.get(index) {
        Some(Resource::Image(image)) => Ok(image),
        _ => Err(Error::data("a buffer is drawn to")),
    }
}

/// One subpass; everything stays in the layout that it is in.
fn render_pass(
    context: &Inner,
    graphics: &Graphics,
    device: &Device,
    resources: &[Resource],
) -> Result<vk::RenderPass> {
    let mut descriptions = Vec::new();
    let unused = vk::AttachmentReference::default().attachment(vk::ATTACHMENT_UNUSED);
    let mut reference = |attachment: &Option<Attachment>| {
        let Some(one) = attachment else { return Ok(unused) };
        let image = image_of(resources, one.resource)?;
        let layout = device.layout(one.resource);
        let description = vk::AttachmentDescription::default()
            .format(image.format)
            .samples(vk::SampleCountFlags::from_raw(image.samples))
            .load_op(vk::AttachmentLoadOp::LOAD)
            .store_op(vk::AttachmentStoreOp::STORE)
            .stencil_load_op(vk::AttachmentLoadOp::LOAD)
            .stencil_store_op(vk::AttachmentStoreOp::STORE)
            .initial_layout(layout)
            .final_layout(layout);
        descriptions.push(description);
        let attachment = descriptions.len() as u32 - 1;
        Ok::<_, Error>(vk::AttachmentReference { attachment, layout })
    };
    let colors = graphics.colors.iter().map(&mut reference).collect::<Result<Vec<_>>>()?;
    let resolves = graphics
        .resolves
        .iter()
        .map(&mut reference)
        .collect::<Result<Vec<_>>>()?;
    let depth = reference(&graphics.depth)?;
    let mut subpass = vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colors);
    if !resolves.is_empty() {
        subpass = subpass.resolve_attachments(&resolves);
    }
    if graphics.depth.is_some() {
        subpass = subpass.depth_stencil_attachment(&depth);
    }
    let subpasses = [subpass];
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&descriptions)
        .subpasses(&subpasses);
    // SAFETY: references are into the descriptions just made.
    unsafe { context.device.create_render_pass(&info, None) }.call("vkCreateRenderPass")
}

fn graphics_pipeline(
    objects: &mut Objects,
    work: &Work<'_>,
    graphics: &Graphics,
    device: &Device,
    resources: &[Resource],
) -> Result<()> {
    let context = objects.context.clone();
    objects.pass = render_pass(&context, graphics, device, resources)?;
    let mut views = Vec::new();
    for one in attachments(graphics) {
        views.push(device.view(objects, one.resource, one.level, true)?);
        let size = image_of(resources, one.resource)?.level_size(one.level);
        if size[0] < graphics.size[0] || size[1] < graphics.size[1] {
            return Err(Error::data(format!(
                "a framebuffer of {:?} is larger than an attachment of it",
                graphics.size
            )));
        }
    }
    let info = vk::FramebufferCreateInfo::default()
        .render_pass(objects.pass)
        .attachments(&views)
        .width(graphics.size[0])
        .height(graphics.size[1])
        .layers(1);
    // SAFETY: the views are of the pass's formats, and at least as large.
    objects.framebuffer = unsafe { context.device.create_framebuffer(&info, None) }.call("vkCreateFramebuffer")?;
    if !graphics
        .commands
        .iter()
        .any(|command| matches!(command, Command::Draw { .. }))
    {
        // To clear takes none.
        return Ok(());
    }
    let stages = Stages::new(objects, &work.stages)?;
    let read = inputs(&work.stages);
    let input = vertex_input(graphics, &read);
    let state = &graphics.state;
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
        .topology(state.topology)
        .primitive_restart_enable(state.restart);
    let bias = state.bias.unwrap_or_default();
    let raster = vk::PipelineRasterizationStateCreateInfo::default()
        .polygon_mode(state.polygon)
        .cull_mode(state.cull)
        .front_face(state.front)
        .depth_clamp_enable(state.depth_clamp)
        .rasterizer_discard_enable(state.discard)
        .depth_bias_enable(state.bias.is_some())
        .depth_bias_constant_factor(bias[0])
        .depth_bias_clamp(bias[1])
        .depth_bias_slope_factor(bias[2])
        .line_width(state.line_width);
    let [front, back] = state.stencil.unwrap_or_default();
    let [least, most] = state.depth_bounds.unwrap_or([0.0, 1.0]);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(state.depth_test)
        .depth_write_enable(state.depth_write)
        .depth_compare_op(state.depth_compare)
        .depth_bounds_test_enable(state.depth_bounds.is_some())
        .min_depth_bounds(least)
        .max_depth_bounds(most)
        .stencil_test_enable(state.stencil.is_some())
        .front(front)
        .back(back);
    let drawn = attachments(graphics);
    let samples = match drawn.first() {
        Some(first) => image_of(resources, first.resource)?.samples,
        None => 1,
    };
    let blends = graphics
        .colors
        .iter()
        .map(|color| blend(&context, color, state.blend, resources));
    let blends = blends.collect::<Result<Vec<_>>>()?;
    let tessellated = state.topology == vk::PrimitiveTopology::PATCH_LIST;
    objects.pipeline = stages.with(objects, &work.stages, |stages| {
        let recipe = Recipe {
            stages,
            input: &input,
            assembly,
            patch_points: tessellated.then_some(state.patch_points),
            raster,
            multisample: vk::PipelineMultisampleStateCreateInfo::default()
                .rasterization_samples(vk::SampleCountFlags::from_raw(samples)),
            depth,
            logic: state.logic,
            blends: &blends,
            blend_constants: [0.0; 4],
            dynamic: &[vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR],
            layout: objects.layout,
        };
        let target = Target::Pass {
            pass: objects.pass,
            subpass: 0,
            colors: graphics.colors.len(),
        };
        recipe.create(&context, &target, None)
    })?;
    Ok(())
}

/// How a colour is blended: not at all, where its format does not blend.
fn blend(
    context: &Inner,
    color: &Option<Attachment>,
    state: vk::PipelineColorBlendAttachmentState,
    resources: &[Resource],
) -> Result<vk::PipelineColorBlendAttachmentState> {
    let Some(color) = color else { return Ok(state) };
    let format = image_of(resources, color.resource)?.format;
    let features = context.format_properties(format).optimal_tiling_features;
    if state.blend_enable != 0 && !features.contains(vk::FormatFeatureFlags::COLOR_ATTACHMENT_BLEND) {
        return Err(Error::unsupported(format!("blending in {format:?}")));
    }
    Ok(state)
}

/// The locations that a vertex shader reads.
fn inputs(stages: &[Stage<'_>]) -> Vec<Range<u32>> {
    let vertex = stages.iter().find(|stage| stage.stage == vk::ShaderStageFlags::VERTEX);
    let Some(module) = vertex.and_then(|stage| ModuleIndex::new(stage.words).ok()) else {
        return Vec::new();
    };
    let variables = module.variables().filter(|node| node.operand(2) == Some(class::INPUT));
    let range = |node: Node<'_>| {
        let first = module.decoration(node.operand(1)?, decoration::LOCATION)?;
        let mut ty = module.pointee(node.operand(0)?)?;
        let mut count = 1u32;
        while let Some((element, length)) = module.array(ty) {
            (ty, count) = (element, count.saturating_mul(length));
        }
        if let Some([_, column, columns]) = module.operands(ty, op::TYPE_MATRIX) {
            (ty, count) = (column, count.saturating_mul(columns));
        }
        // More than two numbers of 64 bits have two locations.
        if let Some([_, number, 3 | 4]) = module.operands(ty, op::TYPE_VECTOR)
            && let Some([_, 64]) = module.operands(number, op::TYPE_FLOAT)
        {
            count = count.saturating_mul(2);
        }
        Some(first..first.saturating_add(count))
    };
    variables.filter_map(range).collect()
}

/// A buffer for each attribute that the shader reads.
fn vertex_input(graphics: &Graphics, read: &[Range<u32>]) -> VertexInput {
    let described = |(at, vertices): (usize, &super::Vertices)| {
        let binding = vk::VertexInputBindingDescription {
            binding: at as u32,
            stride: vertices.stride,
            input_rate: match vertices.per_instance {
                true => vk::VertexInputRate::INSTANCE,
                false => vk::VertexInputRate::VERTEX,
            },
        };
        let attribute = vk::VertexInputAttributeDescription {
            location: vertices.location,
            binding: at as u32,
            format: vertices.format,
            offset: 0,
        };
        (binding, attribute)
    };
    let is_read =
        |(_, vertices): &(usize, &super::Vertices)| read.iter().any(|range| range.contains(&vertices.location));
    let (bindings, attributes) = graphics
        .vertices
        .iter()
        .enumerate()
        .filter(is_read)
        .map(described)
        .unzip();
    VertexInput { bindings, attributes }
}

fn barrier(image: &DeviceImage, from: vk::ImageLayout, to: vk::ImageLayout) -> vk::ImageMemoryBarrier<'static> {
    let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    vk::ImageMemoryBarrier::default()
        .old_layout(from)
        .new_layout(to)
        .src_access_mask(all)
        .dst_access_mask(all)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image.image.raw)
        .subresource_range(image.image.range())
}

/// A full memory barrier with image layout transitions.
fn between(context: &Inner, commands: vk::CommandBuffer, images: &[vk::ImageMemoryBarrier<'_>]) {
    let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let memory = [vk::MemoryBarrier::default().src_access_mask(all).dst_access_mask(all)];
    let stages = vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST;
    // SAFETY: recording is open outside of a pass; the images are alive until the submission is through.
    unsafe {
        let flags = vk::DependencyFlags::empty();
        context
            .device
            .cmd_pipeline_barrier(commands, stages, stages, flags, &memory, &[], images);
    }
}

fn record(job: &Job, work: &Work<'_>, commands: vk::CommandBuffer) {
    use vk::ImageLayout as L;
    let context = &job.objects.context;
    let device = &context.device;
    let images = || job.device.images.values();
    let copied = || images().filter(|image| !image.copies.is_empty());
    let barriers: Vec<_> = copied()
        .map(|image| barrier(image, L::UNDEFINED, L::TRANSFER_DST_OPTIMAL))
        .collect();
    between(context, commands, &barriers);
    for image in copied() {
        // SAFETY: recording is open; the regions are within the staging buffer, which has the texels.
        unsafe {
            let to = L::TRANSFER_DST_OPTIMAL;
            device.cmd_copy_buffer_to_image(commands, job.staging.raw, image.image.raw, to, &image.copies);
        }
    }
    let before = |image: &DeviceImage| match (image.copies.is_empty(), image.old) {
        (false, _) => L::TRANSFER_DST_OPTIMAL,
        (true, true) => L::GENERAL,
        (true, false) => L::UNDEFINED,
    };
    let barriers: Vec<_> = images()
        .map(|image| barrier(image, before(image), image.layout))
        .collect();
    between(context, commands, &barriers);
    let clock = |at: u32| {
        if job.objects.queries != vk::QueryPool::null() {
            // SAFETY: recording is open; the pool has two queries, reset before the first.
            unsafe {
                if at == 0 {
                    device.cmd_reset_query_pool(commands, job.objects.queries, 0, 2);
                }
                let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
                device.cmd_write_timestamp(commands, stage, job.objects.queries, at);
            }
        }
    };
    clock(0);
    record_task(job, work, commands);
    clock(1);
    let after = |image: &DeviceImage| match image.copies.is_empty() {
        true => L::GENERAL,
        false => L::TRANSFER_SRC_OPTIMAL,
    };
    let barriers: Vec<_> = images()
        .map(|image| barrier(image, image.layout, after(image)))
        .collect();
    between(context, commands, &barriers);
    for image in copied().filter(|image| image.written) {
        // SAFETY: as above, into a buffer of the same size.
        unsafe {
            let from = L::TRANSFER_SRC_OPTIMAL;
            device.cmd_copy_image_to_buffer(commands, image.image.raw, from, job.read.raw, &image.copies);
        }
    }
    between(context, commands, &[]);
}

fn record_task(job: &Job, work: &Work<'_>, commands: vk::CommandBuffer) {
    let objects = &job.objects;
    let device = &objects.context.device;
    let point = match work.task {
        Task::Compute(_) => vk::PipelineBindPoint::COMPUTE,
        Task::Graphics(_) => vk::PipelineBindPoint::GRAPHICS,
    };
    // SAFETY: recording is open; pipeline, layout, sets and constants were made for each other.
    unsafe {
        if objects.pipeline != vk::Pipeline::null() {
            device.cmd_bind_pipeline(commands, point, objects.pipeline);
        }
        if !job.sets.is_empty() {
            device.cmd_bind_descriptor_sets(commands, point, objects.layout, 0, &job.sets, &job.dynamic);
        }
        if !work.push.is_empty() {
            let stages = work
                .stages
                .iter()
                .fold(vk::ShaderStageFlags::empty(), |all, one| all | one.stage);
            device.cmd_push_constants(commands, objects.layout, stages, 0, work.push);
        }
    }
    match &work.task {
        // SAFETY: as above; the counts are within the limits.
        Task::Compute([x, y, z]) => unsafe { device.cmd_dispatch(commands, *x, *y, *z) },
        Task::Graphics(graphics) => record_graphics(job, graphics, commands),
    }
}

fn record_graphics(job: &Job, graphics: &Graphics, commands: vk::CommandBuffer) {
    let objects = &job.objects;
    let device = &objects.context.device;
    let [width, height] = graphics.size;
    let area = vk::Rect2D {
        offset: vk::Offset2D::default(),
        extent: vk::Extent2D { width, height },
    };
    let begin = vk::RenderPassBeginInfo::default()
        .render_pass(objects.pass)
        .framebuffer(objects.framebuffer)
        .render_area(area);
    let buffers = graphics
        .vertices
        .iter()
        .filter_map(|one| Some((job.device.buffers.get(&one.resource)?, one)));
    let (raw, offsets): (Vec<_>, Vec<_>) = buffers.map(|(buffer, one)| (buffer.raw, u64::from(one.offset))).unzip();
    // SAFETY: recording is open; what is bound is alive, and draws read within what robust access lets them.
    unsafe {
        if !raw.is_empty() {
            device.cmd_bind_vertex_buffers(commands, 0, &raw, &offsets);
        }
        if let Some((index, kind)) = graphics.indices
            && let Some(buffer) = job.device.buffers.get(&index)
        {
            device.cmd_bind_index_buffer(commands, buffer.raw, 0, kind);
        }
        device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
        device.cmd_set_viewport(commands, 0, &[graphics.viewport]);
        device.cmd_set_scissor(commands, 0, &[area]);
        for command in &graphics.commands {
            match *command {
                Command::Clear { color, depth, stencil } => {
                    let clears = clears(job, graphics, color, depth, stencil);
                    let rect = vk::ClearRect {
                        rect: area,
                        base_array_layer: 0,
                        layer_count: 1,
                    };
                    if !clears.is_empty() {
                        device.cmd_clear_attachments(commands, &clears, &[rect]);
                    }
                }
                Command::Draw {
                    indexed,
                    first,
                    count,
                    first_instance,
                    instances,
                } => match indexed {
                    true => device.cmd_draw_indexed(commands, count, instances, first, 0, first_instance),
                    false => device.cmd_draw(commands, count, instances, first, first_instance),
                },
            }
        }
        device.cmd_end_render_pass(commands);
    }
}

fn clears(job: &Job, graphics: &Graphics, color: [f32; 4], depth: f32, stencil: u32) -> Vec<vk::ClearAttachment> {
    let mut all = Vec::new();
    for (at, attachment) in graphics.colors.iter().enumerate() {
        let Some(image) = attachment.and_then(|one| job.device.images.get(&one.resource)) else {
            continue;
        };
        all.push(vk::ClearAttachment {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            color_attachment: at as u32,
            clear_value: vk::ClearValue {
                color: clear_color(image.image.desc.format, color),
            },
        });
    }
    if let Some(image) = graphics.depth.and_then(|one| job.device.images.get(&one.resource)) {
        all.push(vk::ClearAttachment {
            aspect_mask: image.image.desc.aspect,
            color_attachment: 0,
            clear_value: vk::ClearValue {
                depth_stencil: vk::ClearDepthStencilValue { depth, stencil },
            },
        });
    }
    all
}

/// A colour as a format takes it: whole numbers for integers.
fn clear_color(format: vk::Format, color: [f32; 4]) -> vk::ClearColorValue {
    let name = format!("{format:?}");
    if name.contains("UINT") {
        return vk::ClearColorValue {
            uint32: color.map(|value| value as u32),
        };
    }
    if name.contains("SINT") {
        return vk::ClearColorValue {
            int32: color.map(|value| value as i32),
        };
    }
    vk::ClearColorValue { float32: color }
}

/// Reads back what the device wrote into resources of the host's sizes and formats.
fn read(job: &Job, shapes: BTreeMap<usize, Resource>) -> Result<Written> {
    let texels = job.read.bytes()?;
    let mut all = Vec::new();
    for (index, mut resource) in shapes {
        match &mut resource {
            Resource::Buffer(bytes) => {
                if let Some(buffer) = job.device.buffers.get(&index) {
                    let length = bytes.len();
                    bytes.copy_from_slice(&buffer.bytes()?[..length]);
                }
            }
            Resource::Image(data) => {
                let Some(image) = job.device.images.get(&index) else {
                    continue;
                };
                if data.samples > 1 {
                    data.kept = Some(image.image.clone());
                }
                for plane in &mut data.planes {
                    let first = image
                        .copies
                        .iter()
                        .find(|copy| copy.image_subresource.aspect_mask == plane.aspect);
                    if let Some(first) = first {
                        let (start, length) = (first.buffer_offset as usize, plane.bytes.len());
                        plane.bytes.copy_from_slice(&texels[start..start + length]);
                    }
                }
            }
        }
        all.push((index, resource));
    }
    Ok((all, time(job)?))
}

/// The time between the two timestamps.
fn time(job: &Job) -> Result<Option<Duration>> {
    let context = &job.objects.context;
    if job.objects.queries == vk::QueryPool::null() {
        return Ok(None);
    }
    let mut ticks = [0u64; 2];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
    // SAFETY: the submission that wrote both queries is through.
    unsafe {
        context
            .device
            .get_query_pool_results(job.objects.queries, 0, &mut ticks, flags)
    }
    .call("vkGetQueryPoolResults")?;
    let nanoseconds = ticks[1].saturating_sub(ticks[0]) as f64 * f64::from(context.limits.timestamp_period);
    Ok(Some(Duration::from_nanos(nanoseconds as u64)))
}
