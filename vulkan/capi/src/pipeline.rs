//! Pipelines for the caller's targets.

use crate::border::{Failure, Result, border, destroy, given, list, put_object, slice};
use crate::program::Program;
use ash::vk;
use vulkan::{
    ColorBlend, Compare, Cull, Depth, DepthBias, GraphicsPipeline, Multisample, Rasterization, State, Stencil, Target,
    Topology,
};

/// A blend mode.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blend {
    /// Replaces the destination.
    None = 0,
    /// Source over.
    Alpha = 1,
    /// Source over with premultiplied alpha.
    Premultiplied = 2,
    /// Sum.
    Additive = 3,
    /// Product.
    Multiply = 4,
}

/// The layout of vertices in buffers.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VertexBuffers {
    /// All inputs that the file declares, in one buffer at binding 0.
    Interleaved = 0,
    /// Each input that the code reads, tightly packed in its own buffer.
    Separate = 1,
}

/// Parameters of a pipeline. Zero is a good default for all except topology and target. Viewport and scissor are
/// dynamic. A state that needs a feature which the device lacks is SKRYMIR_RESULT_UNSUPPORTED.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PipelineInfo {
    /// Primitive topology.
    pub topology: vk::PrimitiveTopology,
    /// Control points per patch; for patches only.
    pub patch_control_points: u32,
    /// Culled faces: none, front or back.
    pub cull_mode: vk::CullModeFlags,
    /// A SkrymirBlend, for all non-integer targets.
    pub blend: u32,
    /// A SkrymirVertexBuffers.
    pub vertex_buffers: u32,
    /// Whether depth is tested.
    pub depth_test: vk::Bool32,
    /// Whether passing fragments write their depth.
    pub depth_write: vk::Bool32,
    /// The depth comparison.
    pub depth_compare: vk::CompareOp,
    /// The render pass; VK_NULL_HANDLE for dynamic rendering, which must be enabled on the device.
    pub render_pass: vk::RenderPass,
    /// The subpass of the render pass.
    pub subpass: u32,
    /// Number of colour attachments of the subpass, or of the rendering.
    pub color_count: u32,
    /// Their formats, for dynamic rendering.
    pub color_formats: *const vk::Format,
    /// The depth attachment's format, for dynamic rendering; VK_FORMAT_UNDEFINED if there is none.
    pub depth_format: vk::Format,
    /// The stencil attachment's format, for dynamic rendering; VK_FORMAT_UNDEFINED if there is none, or with a stencil test
    /// if it is the depth attachment's.
    pub stencil_format: vk::Format,
    /// Polygons as areas, lines or points.
    pub polygon_mode: vk::PolygonMode,
    /// Winding of front-facing triangles.
    pub front_face: vk::FrontFace,
    /// Width of lines; 0 is 1.
    pub line_width: f32,
    /// Whether depths beyond the viewport's are clamped instead of clipped.
    pub depth_clamp: vk::Bool32,
    /// Whether depths are biased.
    pub depth_bias: vk::Bool32,
    /// Units of the depth format.
    pub depth_bias_constant_factor: f32,
    /// Limit of the bias, 0 for none.
    pub depth_bias_clamp: f32,
    /// Factor of the polygon's slope.
    pub depth_bias_slope_factor: f32,
    /// Whether the stencil is tested.
    pub stencil_test: vk::Bool32,
    /// The stencil test of front-facing polygons, points and lines.
    pub stencil_front: vk::StencilOpState,
    /// The stencil test of back-facing polygons.
    pub stencil_back: vk::StencilOpState,
    /// Samples per pixel; 0 is 1.
    pub samples: vk::SampleCountFlags,
    /// Two words of the sample mask; NULL for all samples.
    pub sample_mask: *const vk::SampleMask,
    /// Whether samples are shaded on their own.
    pub sample_shading: vk::Bool32,
    /// The least share of samples that are.
    pub min_sample_shading: f32,
    /// Whether alpha decides how many samples are covered.
    pub alpha_to_coverage: vk::Bool32,
    /// Whether alpha is then 1.
    pub alpha_to_one: vk::Bool32,
    /// Number of states in `blend_attachments`.
    pub blend_attachment_count: u32,
    /// Blending and write masks of targets by location; those beyond have `blend`.
    pub blend_attachments: *const vk::PipelineColorBlendAttachmentState,
    /// Constants of the blend factors.
    pub blend_constants: [f32; 4],
    /// Whether bits are combined instead of blending.
    pub logic_op_enable: vk::Bool32,
    /// The operation.
    pub logic_op: vk::LogicOp,
    /// Number of dynamic states.
    pub dynamic_state_count: u32,
    /// Dynamic states besides viewport and scissor: those of Vulkan 1.0, and on a device of Vulkan 1.3 those of 1.3.
    pub dynamic_states: *const vk::DynamicState,
}

/// Vulkan's pipeline; the name [`Pipeline`] is ours.
pub type VkPipeline = vk::Pipeline;

/// A graphics pipeline on the caller's device.
pub struct Pipeline(GraphicsPipeline);

/// Creates a pipeline. The program may be destroyed first.
///
/// # Safety
/// `program` is valid; `info` is NULL, or its pointers and handles belong to the program's device; `pipeline` points to
/// writable memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_pipeline_create(
    program: *const Program,
    info: *const PipelineInfo,
    pipeline: *mut *mut Pipeline,
) -> Result {
    border(|| {
        // SAFETY: guaranteed by the caller.
        let (program, info) = unsafe { (given(program, "program")?, given(info, "info")?) };
        // SAFETY: guaranteed by the caller.
        let state = unsafe { state(info) }?;
        let colors = info.color_count as usize;
        let target = match info.render_pass == vk::RenderPass::null() {
            false => Target::Pass {
                pass: info.render_pass,
                subpass: info.subpass,
                colors,
            },
            true => {
                // SAFETY: guaranteed by the caller.
                let colors = unsafe { slice(info.color_formats, colors, "color_formats") }?;
                match info.stencil_format {
                    vk::Format::UNDEFINED => Target::Formats {
                        colors,
                        depth: info.depth_format,
                    },
                    stencil => Target::Rendering(
                        vk::PipelineRenderingCreateInfo::default()
                            .color_attachment_formats(colors)
                            .depth_attachment_format(info.depth_format)
                            .stencil_attachment_format(stencil),
                    ),
                }
            }
        };
        // SAFETY: guaranteed by the caller.
        unsafe {
            put_object(pipeline, "pipeline", || {
                Ok(Pipeline(GraphicsPipeline::new(&program.0, &state, &target, None)?))
            })
        }
    })
}

/// The pipeline, for vkCmdBindPipeline; VK_NULL_HANDLE for NULL.
///
/// # Safety
/// NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_pipeline_handle(pipeline: *const Pipeline) -> VkPipeline {
    // SAFETY: guaranteed by the caller.
    unsafe { pipeline.as_ref() }.map_or_else(vk::Pipeline::null, |pipeline| pipeline.0.raw())
}

/// Destroys a pipeline.
///
/// # Safety
/// NULL, or valid, not used by another thread, and not used by pending work of the device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_pipeline_destroy(pipeline: *mut Pipeline) {
    // SAFETY: guaranteed by the caller.
    unsafe { destroy(pipeline) }
}

/// The vertex input of a pipeline with a given SkrymirVertexBuffers: two lists, returned as Vulkan does. Either is
/// skipped if its count is NULL.
///
/// # Safety
/// `program` is valid; a count is NULL or points to a number, and its list is NULL or has space for as many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_program_vertex_input(
    program: *const Program,
    vertex_buffers: u32,
    binding_count: *mut u32,
    bindings: *mut vk::VertexInputBindingDescription,
    attribute_count: *mut u32,
    attributes: *mut vk::VertexInputAttributeDescription,
) -> Result {
    border(|| {
        // SAFETY: guaranteed by the caller.
        let program = unsafe { given(program, "program") }?;
        let input = program.0.vertex_input(buffers(vertex_buffers)?);
        if !binding_count.is_null() {
            // SAFETY: guaranteed by the caller.
            unsafe { list(&input.bindings, binding_count, bindings, "vertex bindings") }?;
        }
        if !attribute_count.is_null() {
            // SAFETY: guaranteed by the caller.
            unsafe { list(&input.attributes, attribute_count, attributes, "vertex attributes") }?;
        }
        Ok(())
    })
}

/// # Safety
/// The pointers are valid for as many elements as their counts say.
pub(crate) unsafe fn state(info: &PipelineInfo) -> std::result::Result<State, Failure> {
    let count = info.dynamic_state_count as usize;
    // SAFETY: guaranteed by the caller.
    let dynamic = unsafe { slice(info.dynamic_states, count, "dynamic_states") }?;
    Ok(State {
        topology: topology(info)?,
        cull: cull(info.cull_mode)?,
        rasterization: Rasterization {
            polygon_mode: info.polygon_mode,
            front_face: info.front_face,
            line_width: if info.line_width == 0.0 { 1.0 } else { info.line_width },
            depth_clamp: info.depth_clamp != vk::FALSE,
            depth_bias: (info.depth_bias != vk::FALSE).then_some(DepthBias {
                constant_factor: info.depth_bias_constant_factor,
                clamp: info.depth_bias_clamp,
                slope_factor: info.depth_bias_slope_factor,
            }),
        },
        // SAFETY: guaranteed by the caller.
        multisample: unsafe { multisample(info) }?,
        depth: depth(info)?,
        stencil: (info.stencil_test != vk::FALSE).then_some(Stencil {
            front: info.stencil_front,
            back: info.stencil_back,
            clear: 0,
        }),
        blend: blend(info.blend)?,
        // SAFETY: guaranteed by the caller.
        color_blend: unsafe { color_blend(info) }?,
        dynamic: dynamic.to_vec(),
        vertex_buffers: buffers(info.vertex_buffers)?,
    })
}

/// # Safety
/// See [`state`].
unsafe fn multisample(info: &PipelineInfo) -> std::result::Result<Multisample, Failure> {
    let default = Multisample::default();
    let sample_mask = match info.sample_mask.is_null() {
        true => default.sample_mask,
        false => {
            // SAFETY: guaranteed by the caller.
            let words = unsafe { slice(info.sample_mask, 2, "sample_mask") }?;
            u64::from(words[0]) | u64::from(words[1]) << 32
        }
    };
    Ok(Multisample {
        samples: match info.samples.is_empty() {
            true => default.samples,
            false => info.samples,
        },
        min_sample_shading: (info.sample_shading != vk::FALSE).then_some(info.min_sample_shading),
        sample_mask,
        alpha_to_coverage: info.alpha_to_coverage != vk::FALSE,
        alpha_to_one: info.alpha_to_one != vk::FALSE,
    })
}

/// # Safety
/// See [`state`].
unsafe fn color_blend(info: &PipelineInfo) -> std::result::Result<ColorBlend, Failure> {
    let count = info.blend_attachment_count as usize;
    // SAFETY: guaranteed by the caller.
    let attachments = unsafe { slice(info.blend_attachments, count, "blend_attachments") }?;
    Ok(ColorBlend {
        attachments: (0..=u8::MAX).zip(attachments.iter().copied()).collect(),
        constants: info.blend_constants,
        logic_op: (info.logic_op_enable != vk::FALSE).then_some(info.logic_op),
    })
}

fn unknown<T>(what: &str, number: impl std::fmt::Debug) -> std::result::Result<T, Failure> {
    Err(Failure::argument(format!("{what} {number:?} is unknown")))
}

fn topology(info: &PipelineInfo) -> std::result::Result<Topology, Failure> {
    use vk::PrimitiveTopology as Theirs;
    Ok(match info.topology {
        Theirs::POINT_LIST => Topology::Points,
        Theirs::LINE_LIST => Topology::Lines,
        Theirs::LINE_STRIP => Topology::LineStrip,
        Theirs::LINE_LIST_WITH_ADJACENCY => Topology::LinesAdjacency,
        Theirs::TRIANGLE_LIST_WITH_ADJACENCY => Topology::TrianglesAdjacency,
        Theirs::TRIANGLE_LIST => Topology::Triangles,
        Theirs::TRIANGLE_STRIP => Topology::TriangleStrip,
        Theirs::TRIANGLE_FAN => Topology::TriangleFan,
        Theirs::PATCH_LIST => Topology::Patches(info.patch_control_points),
        other => return unknown("topology", other),
    })
}

fn cull(mode: vk::CullModeFlags) -> std::result::Result<Cull, Failure> {
    Ok(match mode {
        vk::CullModeFlags::NONE => Cull::None,
        vk::CullModeFlags::FRONT => Cull::Front,
        vk::CullModeFlags::BACK => Cull::Back,
        other => return unknown("cull_mode", other),
    })
}

fn blend(number: u32) -> std::result::Result<vulkan::Blend, Failure> {
    let known = [
        (Blend::None, vulkan::Blend::None),
        (Blend::Alpha, vulkan::Blend::Alpha),
        (Blend::Premultiplied, vulkan::Blend::Premultiplied),
        (Blend::Additive, vulkan::Blend::Additive),
        (Blend::Multiply, vulkan::Blend::Multiply),
    ];
    let found = known.into_iter().find(|(ours, _)| *ours as u32 == number);
    found.map_or_else(|| unknown("blend", number), |(_, blend)| Ok(blend))
}

fn buffers(number: u32) -> std::result::Result<vulkan::VertexBuffers, Failure> {
    match number {
        _ if number == VertexBuffers::Interleaved as u32 => Ok(vulkan::VertexBuffers::Interleaved),
        _ if number == VertexBuffers::Separate as u32 => Ok(vulkan::VertexBuffers::Separate),
        _ => unknown("vertex_buffers", number),
    }
}

fn depth(info: &PipelineInfo) -> std::result::Result<Option<Depth>, Failure> {
    if info.depth_test == vk::FALSE {
        return match info.depth_write == vk::FALSE {
            true => Ok(None),
            false => Err(Failure::argument("depth_write without depth_test")),
        };
    }
    let compare = match info.depth_compare {
        vk::CompareOp::NEVER => Compare::Never,
        vk::CompareOp::LESS => Compare::Less,
        vk::CompareOp::EQUAL => Compare::Equal,
        vk::CompareOp::LESS_OR_EQUAL => Compare::LessOrEqual,
        vk::CompareOp::GREATER => Compare::Greater,
        vk::CompareOp::NOT_EQUAL => Compare::NotEqual,
        vk::CompareOp::GREATER_OR_EQUAL => Compare::GreaterOrEqual,
        vk::CompareOp::ALWAYS => Compare::Always,
        other => return unknown("depth_compare", other),
    };
    Ok(Some(Depth {
        compare,
        write: info.depth_write != vk::FALSE,
        // The caller chooses the clear value.
        clear: 1.0,
    }))
}
