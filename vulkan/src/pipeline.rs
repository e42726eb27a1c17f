//! Render pass, framebuffer and graphics pipeline of one draw.

use crate::cache::PipelineCache;
use crate::context::Inner;
use crate::draw::{Blend, Compare, Cull, Draw, State, Topology};
use crate::error::{Call, Error, Result};
use crate::memory::Image;
use crate::program::{Output, Program, ProgramInner};
use crate::vertex::VertexInput;
use ash::vk;
use loader::vbc::Primitive;
use std::sync::Arc;

/// Format of depth buffers; every Vulkan device has it as an attachment.
pub(crate) const DEPTH_FORMAT: vk::Format = vk::Format::D32_SFLOAT;

/// The attachments in render pass order: targets, depth, subpass inputs.
pub(crate) struct Attachments<'a> {
    pub targets: &'a [(Output, Image)],
    pub depth: Option<&'a Image>,
    pub inputs: &'a [Image],
}

impl<'a> Attachments<'a> {
    fn images(&self) -> impl Iterator<Item = &'a Image> {
        self.targets
            .iter()
            .map(|(_, image)| image)
            .chain(self.depth)
            .chain(self.inputs)
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
    pub fn new(
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
    format: vk::Format,
    load: vk::AttachmentLoadOp,
    from: vk::ImageLayout,
    to: vk::ImageLayout,
) -> vk::AttachmentDescription {
    vk::AttachmentDescription::default()
        .format(format)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(load)
        .store_op(vk::AttachmentStoreOp::STORE)
        .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
        .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
        .initial_layout(from)
        .final_layout(to)
}

/// One subpass: targets end as transfer sources; subpass inputs are already filled and stay read-only.
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
    for (output, image) in attachments.targets {
        colors[usize::from(output.location)] = vk::AttachmentReference {
            attachment: descriptions.len() as u32,
            layout: vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
        };
        let (from, to) = (vk::ImageLayout::UNDEFINED, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
        descriptions.push(description(image.desc.format, vk::AttachmentLoadOp::CLEAR, from, to));
    }
    let depth = attachments.depth.map(|image| {
        let layout = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
        let attachment = descriptions.len() as u32;
        let load = vk::AttachmentLoadOp::CLEAR;
        descriptions.push(description(image.desc.format, load, vk::ImageLayout::UNDEFINED, layout));
        vk::AttachmentReference { attachment, layout }
    });
    let layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
    let mut inputs = Vec::new();
    for image in attachments.inputs {
        inputs.push(vk::AttachmentReference {
            attachment: descriptions.len() as u32,
            layout,
        });
        descriptions.push(description(
            image.desc.format,
            vk::AttachmentLoadOp::LOAD,
            layout,
            layout,
        ));
    }
    let mut subpass = vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colors)
        .input_attachments(&inputs);
    if let Some(depth) = &depth {
        subpass = subpass.depth_stencil_attachment(depth);
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

fn topology(state: &State) -> vk::PrimitiveTopology {
    match state.topology {
        Topology::Points => vk::PrimitiveTopology::POINT_LIST,
        Topology::Lines => vk::PrimitiveTopology::LINE_LIST,
        Topology::LineStrip => vk::PrimitiveTopology::LINE_STRIP,
        Topology::LinesAdjacency => vk::PrimitiveTopology::LINE_LIST_WITH_ADJACENCY,
        Topology::TrianglesAdjacency => vk::PrimitiveTopology::TRIANGLE_LIST_WITH_ADJACENCY,
        Topology::Triangles => vk::PrimitiveTopology::TRIANGLE_LIST,
        Topology::TriangleStrip => vk::PrimitiveTopology::TRIANGLE_STRIP,
        Topology::TriangleFan => vk::PrimitiveTopology::TRIANGLE_FAN,
        Topology::Patches(_) => vk::PrimitiveTopology::PATCH_LIST,
    }
}

fn blend(blend: Blend, output: Output) -> vk::PipelineColorBlendAttachmentState {
    use vk::BlendFactor as F;
    let (source, destination, source_alpha) = match blend {
        Blend::None => (F::ONE, F::ZERO, F::ONE),
        Blend::Alpha => (F::SRC_ALPHA, F::ONE_MINUS_SRC_ALPHA, F::ONE),
        Blend::Premultiplied => (F::ONE, F::ONE_MINUS_SRC_ALPHA, F::ONE),
        Blend::Additive => (F::ONE, F::ONE, F::ONE),
        Blend::Multiply => (F::DST_COLOR, F::ZERO, F::DST_ALPHA),
    };
    let integer = output.class != loader::vbc::TexelType::FLOAT;
    let mask = if output.written {
        vk::ColorComponentFlags::RGBA
    } else {
        vk::ColorComponentFlags::empty()
    };
    vk::PipelineColorBlendAttachmentState::default()
        .blend_enable(blend != Blend::None && !integer && output.written)
        .src_color_blend_factor(source)
        .dst_color_blend_factor(destination)
        .color_blend_op(vk::BlendOp::ADD)
        .src_alpha_blend_factor(source_alpha)
        .dst_alpha_blend_factor(destination)
        .alpha_blend_op(vk::BlendOp::ADD)
        .color_write_mask(mask)
}

fn compare(compare: Compare) -> vk::CompareOp {
    match compare {
        Compare::Never => vk::CompareOp::NEVER,
        Compare::Less => vk::CompareOp::LESS,
        Compare::Equal => vk::CompareOp::EQUAL,
        Compare::LessOrEqual => vk::CompareOp::LESS_OR_EQUAL,
        Compare::Greater => vk::CompareOp::GREATER,
        Compare::NotEqual => vk::CompareOp::NOT_EQUAL,
        Compare::GreaterOrEqual => vk::CompareOp::GREATER_OR_EQUAL,
        Compare::Always => vk::CompareOp::ALWAYS,
    }
}

/// The primitive type of a topology.
fn primitive(topology: Topology) -> Primitive {
    match topology {
        Topology::Points => Primitive::Points,
        Topology::Lines | Topology::LineStrip => Primitive::Lines,
        Topology::LinesAdjacency => Primitive::LinesAdjacency,
        Topology::TrianglesAdjacency => Primitive::TrianglesAdjacency,
        Topology::Triangles | Topology::TriangleStrip | Topology::TriangleFan => Primitive::Triangles,
        Topology::Patches(_) => Primitive::Patches,
    }
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

fn check_topology(program: &ProgramInner, draw: &State) -> Result<()> {
    let given = primitive(draw.topology);
    if let Some(wanted) = program.primitive.filter(|wanted| *wanted != given) {
        return Err(Error::data(format!(
            "the shader requires {wanted}, the topology has {given}"
        )));
    }
    match draw.topology {
        Topology::Patches(_) if program.primitive.is_none() => Err(Error::data("patches without tessellation stages")),
        Topology::LinesAdjacency | Topology::TrianglesAdjacency
            if program.context.features.core.geometry_shader == 0 =>
        {
            Err(Error::unsupported("adjacency without geometry shaders"))
        }
        Topology::Patches(points) => {
            let most = program.context.limits.max_tessellation_patch_size;
            let message = format!("patches of {points} control points, the device has 1 to {most}");
            if (1..=most).contains(&points) {
                Ok(())
            } else {
                Err(Error::unsupported(message))
            }
        }
        _ => Ok(()),
    }
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
        /// Depth attachment; `UNDEFINED` for none.
        depth: vk::Format,
    },
}

/// A graphics pipeline for an engine's own targets, destroyed on drop. Viewport and scissor are dynamic. Vertices are
/// laid out as in [`State::vertex_buffers`].
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
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the device lacks dynamic rendering.
    pub fn new(program: &Program, state: &State, target: &Target<'_>, cache: Option<&PipelineCache>) -> Result<Self> {
        let dynamic = program.inner.context.features.dynamic_rendering;
        if matches!(target, Target::Formats { .. }) && !dynamic {
            return Err(Error::unsupported("dynamic rendering"));
        }
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
    check_topology(program, draw)?;
    let stage = |(stage, module): &(vk::ShaderStageFlags, vk::ShaderModule)| {
        vk::PipelineShaderStageCreateInfo::default()
            .stage(*stage)
            .module(*module)
            .name(c"main")
    };
    let stages: Vec<_> = program.stages.iter().map(stage).collect();
    let input = VertexInput::new(&program.inputs, program.vertex_stride, draw.vertex_buffers);
    check_vertex_size(program, &input)?;
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(topology(draw));
    let raster = vk::PipelineRasterizationStateCreateInfo::default()
        .polygon_mode(vk::PolygonMode::FILL)
        .cull_mode(match draw.cull {
            Cull::None => vk::CullModeFlags::NONE,
            Cull::Front => vk::CullModeFlags::FRONT,
            Cull::Back => vk::CullModeFlags::BACK,
        })
        .front_face(vk::FrontFace::COUNTER_CLOCKWISE)
        .line_width(1.0);
    let depth = draw
        .depth
        .map_or_else(vk::PipelineDepthStencilStateCreateInfo::default, |depth| {
            vk::PipelineDepthStencilStateCreateInfo::default()
                .depth_test_enable(true)
                .depth_write_enable(depth.write)
                .depth_compare_op(compare(depth.compare))
        });
    let colors = match target {
        Target::Pass { colors, .. } => *colors,
        Target::Formats { colors, .. } => colors.len(),
    };
    let mut blends = vec![vk::PipelineColorBlendAttachmentState::default(); colors];
    for output in &program.outputs {
        if let Some(place) = blends.get_mut(usize::from(output.location)) {
            *place = blend(draw.blend, *output);
        }
    }
    let patch_points = match draw.topology {
        Topology::Patches(points) => Some(points),
        _ => None,
    };
    let recipe = Recipe {
        stages: &stages,
        input: &input,
        assembly,
        patch_points,
        raster,
        samples: vk::SampleCountFlags::TYPE_1,
        depth,
        logic: None,
        blends: &blends,
        layout: program.layouts.pipeline,
    };
    recipe.create(&program.context, target, cache)
}

/// The inputs of a graphics pipeline; viewport and scissor are dynamic.
pub(crate) struct Recipe<'a> {
    pub stages: &'a [vk::PipelineShaderStageCreateInfo<'a>],
    pub input: &'a VertexInput,
    pub assembly: vk::PipelineInputAssemblyStateCreateInfo<'a>,
    /// Control points per patch, with tessellation.
    pub patch_points: Option<u32>,
    pub raster: vk::PipelineRasterizationStateCreateInfo<'a>,
    pub samples: vk::SampleCountFlags,
    pub depth: vk::PipelineDepthStencilStateCreateInfo<'a>,
    pub logic: Option<vk::LogicOp>,
    pub blends: &'a [vk::PipelineColorBlendAttachmentState],
    pub layout: vk::PipelineLayout,
}

impl Recipe<'_> {
    /// Creates the pipeline for a target; the recipe was checked against the device.
    pub fn create(&self, context: &Inner, target: &Target<'_>, cache: Option<&PipelineCache>) -> Result<vk::Pipeline> {
        let vertex = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&self.input.bindings)
            .vertex_attribute_descriptions(&self.input.attributes);
        let viewport = vk::PipelineViewportStateCreateInfo::default()
            .viewport_count(1)
            .scissor_count(1);
        let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(self.samples);
        let mut blends = vk::PipelineColorBlendStateCreateInfo::default().attachments(self.blends);
        if let Some(operation) = self.logic {
            blends = blends.logic_op_enable(true).logic_op(operation);
        }
        let dynamic = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
        let points = self.patch_points.unwrap_or(1);
        let tessellation = vk::PipelineTessellationStateCreateInfo::default().patch_control_points(points);
        let mut info = vk::GraphicsPipelineCreateInfo::default()
            .stages(self.stages)
            .vertex_input_state(&vertex)
            .input_assembly_state(&self.assembly)
            .viewport_state(&viewport)
            .rasterization_state(&self.raster)
            .multisample_state(&samples)
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
