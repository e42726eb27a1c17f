//! Render pass, framebuffer and graphics pipeline of one draw.

use crate::cache::PipelineCache;
use crate::context::Inner;
use crate::draw::{Draw, State, Topology};
use crate::error::{Call, Error, Result};
use crate::memory::Image;
use crate::program::{Output, Program, ProgramInner};
use crate::state;
use crate::texture::aspects;
use crate::vertex::VertexInput;
use ash::vk;
use std::sync::Arc;

/// The attachments in render pass order: targets, depth, subpass inputs, and where multisampled targets are resolved to.
pub(crate) struct Attachments<'a> {
    pub targets: &'a [(Output, Image)],
    pub depth: Option<&'a Image>,
    pub inputs: &'a [Image],
    pub resolves: &'a [(Output, Image)],
}

impl<'a> Attachments<'a> {
    fn images(&self) -> impl Iterator<Item = &'a Image> {
        self.targets
            .iter()
            .map(|(_, image)| image)
            .chain(self.depth)
            .chain(self.inputs)
            .chain(self.resolves.iter().map(|(_, image)| image))
    }
}

/// Render pass, framebuffer and pipeline; destroyed on drop.
pub(crate) struct Pipeline {
    pub pass: vk::RenderPass,
    pub framebuffer: vk::Framebuffer,
    pub raw: vk::Pipeline,
    context: Arc<Inner>,
}

impl Pipeline {
    pub(crate) fn new(
        program: &ProgramInner,
        draw: &Draw,
        attachments: &Attachments<'_>,
        cache: Option<&PipelineCache>,
    ) -> Result<Self> {
        let context = &program.context;
        let mut pipeline = Self {
            pass: render_pass(context, attachments)?,
            framebuffer: vk::Framebuffer::null(),
            raw: vk::Pipeline::null(),
            context: context.clone(),
        };
        let views: Vec<_> = attachments.images().map(|image| image.view).collect();
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pipeline.pass)
            .attachments(&views)
            .width(draw.size[0])
            .height(draw.size[1])
            .layers(1);
        // SAFETY: the views have the pass's formats and the draw's size.
        let framebuffer = unsafe { context.device.create_framebuffer(&info, None) };
        pipeline.framebuffer = framebuffer.call("vkCreateFramebuffer")?;
        let pass = Target::Pass {
            pass: pipeline.pass,
            subpass: 0,
            colors: color_count(&program.outputs),
        };
        pipeline.raw = graphics_pipeline(program, &draw.state(), &pass, cache)?;
        context.name(pipeline.raw, "draw");
        Ok(pipeline)
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: the owner waits for the device first; null handles are ignored.
        unsafe {
            self.context.device.destroy_pipeline(self.raw, None);
            self.context.device.destroy_framebuffer(self.framebuffer, None);
            self.context.device.destroy_render_pass(self.pass, None);
        }
    }
}

fn description(
    image: &Image,
    load: vk::AttachmentLoadOp,
    from: vk::ImageLayout,
    to: vk::ImageLayout,
) -> vk::AttachmentDescription {
    vk::AttachmentDescription::default()
        .format(image.desc.format)
        .samples(image.desc.samples)
        .load_op(load)
        .store_op(vk::AttachmentStoreOp::STORE)
        .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
        .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
        .initial_layout(from)
        .final_layout(to)
}

/// One subpass: targets, or what they are resolved to, end as transfer sources; subpass inputs are already filled and stay
/// read-only.
fn render_pass(context: &Inner, attachments: &Attachments<'_>) -> Result<vk::RenderPass> {
    let mut descriptions = Vec::new();
    let last = attachments
        .targets
        .iter()
        .map(|(output, _)| output.location)
        .max()
        .unwrap_or(0);
    let unused = vk::AttachmentReference::default().attachment(vk::ATTACHMENT_UNUSED);
    let mut colors = vec![unused; usize::from(last) + 1];
    let drawn = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
    let (from, copied) = (vk::ImageLayout::UNDEFINED, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
    let end = if attachments.resolves.is_empty() { copied } else { drawn };
    for (output, image) in attachments.targets {
        colors[usize::from(output.location)] = vk::AttachmentReference {
            attachment: descriptions.len() as u32,
            layout: drawn,
        };
        let store = match attachments.resolves.is_empty() {
            true => vk::AttachmentStoreOp::STORE,
            false => vk::AttachmentStoreOp::DONT_CARE,
        };
        descriptions.push(description(image, vk::AttachmentLoadOp::CLEAR, from, end).store_op(store));
    }
    let depth = attachments.depth.map(|image| {
        let layout = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
        let attachment = descriptions.len() as u32;
        let load = vk::AttachmentLoadOp::CLEAR;
        // It is not read afterwards.
        let store = vk::AttachmentStoreOp::DONT_CARE;
        let whole = description(image, load, from, layout)
            .stencil_load_op(load)
            .store_op(store);
        descriptions.push(whole);
        vk::AttachmentReference { attachment, layout }
    });
    let layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
    let mut inputs = Vec::new();
    for image in attachments.inputs {
        inputs.push(vk::AttachmentReference {
            attachment: descriptions.len() as u32,
            layout,
        });
        descriptions.push(description(image, vk::AttachmentLoadOp::LOAD, layout, layout));
    }
    let mut resolves = vec![unused; colors.len()];
    for (output, image) in attachments.resolves {
        resolves[usize::from(output.location)] = vk::AttachmentReference {
            attachment: descriptions.len() as u32,
            layout: drawn,
        };
        descriptions.push(description(image, vk::AttachmentLoadOp::DONT_CARE, from, copied));
    }
    let mut subpass = vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colors)
        .input_attachments(&inputs);
    if let Some(depth) = &depth {
        subpass = subpass.depth_stencil_attachment(depth);
    }
    if !attachments.resolves.is_empty() {
        subpass = subpass.resolve_attachments(&resolves);
    }
    // A copy reads the targets right after the pass.
    let after = vk::SubpassDependency::default()
        .src_subpass(0)
        .dst_subpass(vk::SUBPASS_EXTERNAL)
        .src_stage_mask(vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT)
        .src_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags::TRANSFER)
        .dst_access_mask(vk::AccessFlags::TRANSFER_READ);
    // Subpass inputs were just uploaded and transitioned; the pass loads them as attachments.
    let before = vk::SubpassDependency::default()
        .src_subpass(vk::SUBPASS_EXTERNAL)
        .dst_subpass(0)
        .src_stage_mask(vk::PipelineStageFlags::TRANSFER | vk::PipelineStageFlags::FRAGMENT_SHADER)
        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT | vk::PipelineStageFlags::FRAGMENT_SHADER)
        .dst_access_mask(
            vk::AccessFlags::COLOR_ATTACHMENT_READ
                | vk::AccessFlags::COLOR_ATTACHMENT_WRITE
                | vk::AccessFlags::INPUT_ATTACHMENT_READ,
        );
    let (subpasses, dependencies) = ([subpass], [after, before]);
    let used = if attachments.inputs.is_empty() {
        &dependencies[..1]
    } else {
        &dependencies
    };
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&descriptions)
        .subpasses(&subpasses)
        .dependencies(used);
    // SAFETY: references are to the descriptions above.
    unsafe { context.device.create_render_pass(&info, None) }.call("vkCreateRenderPass")
}

/// Interleaved vertices may exceed the device's stride limit; a single input never does.
fn check_vertex_size(program: &ProgramInner, input: &VertexInput) -> Result<()> {
    let limits = &program.context.limits;
    let stride = input.bindings.iter().map(|binding| binding.stride).max().unwrap_or(0);
    let offset = input.attributes.iter().map(|attribute| attribute.offset).max();
    if stride > limits.max_vertex_input_binding_stride || offset.unwrap_or(0) > limits.max_vertex_input_attribute_offset
    {
        let most = limits.max_vertex_input_binding_stride;
        let message = format!("vertices of {stride} bytes, the device's limit is {most}");
        return Err(Error::unsupported(message));
    }
    Ok(())
}

/// The target of an engine's pipeline.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// A subpass of a render pass, with a number of colour attachments.
    Pass {
        /// The render pass.
        pass: vk::RenderPass,
        /// The subpass.
        subpass: u32,
        /// Its colour attachments.
        colors: usize,
    },
    /// Dynamic rendering (Vulkan 1.3) into attachments of these formats.
    Formats {
        /// Colour attachments by location.
        colors: &'a [vk::Format],
        /// Depth attachment; `UNDEFINED` for none. With [`State::stencil`] it is the stencil attachment too.
        depth: vk::Format,
    },
    /// Dynamic rendering (Vulkan 1.3) into what Vulkan's structure describes: a stencil attachment of its own, views.
    Rendering(vk::PipelineRenderingCreateInfo<'a>),
}

impl Target<'_> {
    /// The number of colour attachments.
    fn colors(&self) -> usize {
        match self {
            Self::Pass { colors, .. } => *colors,
            Self::Formats { colors, .. } => colors.len(),
            Self::Rendering(info) => info.color_attachment_count as usize,
        }
    }

    /// Checks it against the device and the state.
    fn check(&self, context: &Inner, state: &State, blends: &[vk::PipelineColorBlendAttachmentState]) -> Result<()> {
        let stencil = match self {
            Self::Pass { .. } => return Ok(()),
            _ if !context.features.dynamic_rendering => return Err(Error::unsupported("dynamic rendering")),
            Self::Formats { colors, depth } => {
                for (format, blend) in colors.iter().zip(blends) {
                    let has = context.format_properties(*format).optimal_tiling_features;
                    if blend.blend_enable != vk::FALSE && !has.contains(vk::FormatFeatureFlags::COLOR_ATTACHMENT_BLEND)
                    {
                        return Err(Error::unsupported(format!("blending in {format:?}")));
                    }
                }
                *depth
            }
            Self::Rendering(info) => info.stencil_attachment_format,
        };
        if state.stencil.is_some() && !has_stencil(stencil) {
            return Err(Error::data(format!("a stencil test in {stencil:?}")));
        }
        Ok(())
    }
}

/// Whether a format has a stencil.
fn has_stencil(format: vk::Format) -> bool {
    let stencil = |(aspect, _): &(vk::ImageAspectFlags, usize)| *aspect == vk::ImageAspectFlags::STENCIL;
    aspects(format, 0).iter().any(stencil)
}

/// A graphics pipeline for an engine's own targets, destroyed on drop. Viewport and scissor are dynamic, and what
/// [`State::dynamic`] lists. Vertices are laid out as in [`State::vertex_buffers`].
///
/// Pipelines can be created on several threads at once, with one cache.
pub struct GraphicsPipeline {
    raw: vk::Pipeline,
    program: Program,
}

impl GraphicsPipeline {
    /// Creates the pipeline.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if state and shader are inconsistent,
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the device lacks dynamic rendering, or a feature that the
    /// state needs.
    pub fn new(program: &Program, state: &State, target: &Target<'_>, cache: Option<&PipelineCache>) -> Result<Self> {
        let raw = graphics_pipeline(&program.inner, state, target, cache)?;
        Ok(Self {
            raw,
            program: program.clone(),
        })
    }

    /// The pipeline, for binding.
    pub fn raw(&self) -> vk::Pipeline {
        self.raw
    }

    /// Its program.
    pub fn program(&self) -> &Program {
        &self.program
    }
}

impl Drop for GraphicsPipeline {
    fn drop(&mut self) {
        // SAFETY: the engine has waited for draws that use the pipeline, as for any Vulkan object.
        unsafe { self.program.inner.context.device.destroy_pipeline(self.raw, None) };
    }
}

/// Number of colour attachments for a program's outputs: one past the highest location.
fn color_count(outputs: &[Output]) -> usize {
    outputs
        .iter()
        .map(|output| usize::from(output.location) + 1)
        .max()
        .unwrap_or(0)
}

fn graphics_pipeline(
    program: &ProgramInner,
    draw: &State,
    target: &Target<'_>,
    cache: Option<&PipelineCache>,
) -> Result<vk::Pipeline> {
    let context = &program.context;
    state::check_topology(program, draw.topology)?;
    let stages: Vec<_> = program.stage_infos().collect();
    let input = VertexInput::new(&program.inputs, program.vertex_stride, draw.vertex_buffers);
    check_vertex_size(program, &input)?;
    let blends = state::attachments(program, draw, target.colors())?;
    target.check(context, draw, &blends)?;
    let patch_points = match draw.topology {
        Topology::Patches(points) => Some(points),
        _ => None,
    };
    let mask = state::sample_mask(draw.multisample.sample_mask);
    let recipe = Recipe {
        stages: &stages,
        input: &input,
        assembly: vk::PipelineInputAssemblyStateCreateInfo::default().topology(state::topology(draw.topology)),
        patch_points,
        raster: state::rasterization(context, draw)?,
        multisample: state::multisample(context, draw, target.colors() > 0, &mask)?,
        depth: state::depth_stencil(draw)?,
        logic: draw.color_blend.logic_op,
        blends: &blends,
        blend_constants: draw.color_blend.constants,
        dynamic: &state::dynamic(context, draw)?,
        layout: program.layouts.pipeline,
    };
    recipe.create(context, target, cache)
}

/// The inputs of a graphics pipeline.
pub(crate) struct Recipe<'a> {
    pub stages: &'a [vk::PipelineShaderStageCreateInfo<'a>],
    pub input: &'a VertexInput,
    pub assembly: vk::PipelineInputAssemblyStateCreateInfo<'a>,
    /// Control points per patch, with tessellation.
    pub patch_points: Option<u32>,
    pub raster: vk::PipelineRasterizationStateCreateInfo<'a>,
    pub multisample: vk::PipelineMultisampleStateCreateInfo<'a>,
    pub depth: vk::PipelineDepthStencilStateCreateInfo<'a>,
    pub logic: Option<vk::LogicOp>,
    pub blends: &'a [vk::PipelineColorBlendAttachmentState],
    pub blend_constants: [f32; 4],
    /// Viewport and scissor, with or without their count, among them.
    pub dynamic: &'a [vk::DynamicState],
    pub layout: vk::PipelineLayout,
}

impl Recipe<'_> {
    /// Creates the pipeline for a target; the recipe was checked against the device.
    pub(crate) fn create(
        &self,
        context: &Inner,
        target: &Target<'_>,
        cache: Option<&PipelineCache>,
    ) -> Result<vk::Pipeline> {
        let vertex = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&self.input.bindings)
            .vertex_attribute_descriptions(&self.input.attributes);
        let viewport = vk::PipelineViewportStateCreateInfo::default()
            .viewport_count(self.dynamic.contains(&vk::DynamicState::VIEWPORT).into())
            .scissor_count(self.dynamic.contains(&vk::DynamicState::SCISSOR).into());
        let mut blends = vk::PipelineColorBlendStateCreateInfo::default()
            .attachments(self.blends)
            .blend_constants(self.blend_constants);
        if let Some(operation) = self.logic {
            blends = blends.logic_op_enable(true).logic_op(operation);
        }
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(self.dynamic);
        let points = self.patch_points.unwrap_or(1);
        let tessellation = vk::PipelineTessellationStateCreateInfo::default().patch_control_points(points);
        let mut info = vk::GraphicsPipelineCreateInfo::default()
            .stages(self.stages)
            .vertex_input_state(&vertex)
            .input_assembly_state(&self.assembly)
            .viewport_state(&viewport)
            .rasterization_state(&self.raster)
            .multisample_state(&self.multisample)
            .depth_stencil_state(&self.depth)
            .color_blend_state(&blends)
            .dynamic_state(&dynamic)
            .layout(self.layout);
        let mut rendering = vk::PipelineRenderingCreateInfo::default();
        match target {
            Target::Pass { pass, subpass, .. } => info = info.render_pass(*pass).subpass(*subpass),
            Target::Formats { colors, depth } => {
                rendering = rendering
                    .color_attachment_formats(colors)
                    .depth_attachment_format(*depth);
                if self.depth.stencil_test_enable != vk::FALSE {
                    rendering = rendering.stencil_attachment_format(*depth);
                }
                info = info.push_next(&mut rendering);
            }
            Target::Rendering(given) => {
                rendering = *given;
                info = info.push_next(&mut rendering);
            }
        }
        if self.patch_points.is_some() {
            info = info.tessellation_state(&tessellation);
        }
        let cache = cache.map_or(vk::PipelineCache::null(), |cache| cache.raw);
        // SAFETY: modules, layout and pass are valid and compatible; limits and features were checked.
        match unsafe { context.device.create_graphics_pipelines(cache, &[info], None) } {
            Ok(pipelines) => Ok(pipelines[0]),
            Err((_, result)) => Err(result).call("vkCreateGraphicsPipelines"),
        }
    }
}
