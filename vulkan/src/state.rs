//! Pipeline state in Vulkan's structures, checked against the device, because drivers do not check.

use crate::context::Inner;
use crate::draw::{Blend, ColorBlend, Cull, Multisample, Rasterization, State, Stencil, Topology};
use crate::error::{Error, Result};
use crate::program::{Output, ProgramInner};
use ash::vk;
use loader::vbc::{Primitive, TexelType};

/// Dynamic states of Vulkan 1.0.
const DYNAMIC: [vk::DynamicState; 9] = [
    vk::DynamicState::VIEWPORT,
    vk::DynamicState::SCISSOR,
    vk::DynamicState::LINE_WIDTH,
    vk::DynamicState::DEPTH_BIAS,
    vk::DynamicState::BLEND_CONSTANTS,
    vk::DynamicState::DEPTH_BOUNDS,
    vk::DynamicState::STENCIL_COMPARE_MASK,
    vk::DynamicState::STENCIL_WRITE_MASK,
    vk::DynamicState::STENCIL_REFERENCE,
];

/// Dynamic states that Vulkan 1.3 adds.
const DYNAMIC_1_3: [vk::DynamicState; 15] = [
    vk::DynamicState::CULL_MODE,
    vk::DynamicState::FRONT_FACE,
    vk::DynamicState::PRIMITIVE_TOPOLOGY,
    vk::DynamicState::VIEWPORT_WITH_COUNT,
    vk::DynamicState::SCISSOR_WITH_COUNT,
    vk::DynamicState::VERTEX_INPUT_BINDING_STRIDE,
    vk::DynamicState::DEPTH_TEST_ENABLE,
    vk::DynamicState::DEPTH_WRITE_ENABLE,
    vk::DynamicState::DEPTH_COMPARE_OP,
    vk::DynamicState::DEPTH_BOUNDS_TEST_ENABLE,
    vk::DynamicState::STENCIL_TEST_ENABLE,
    vk::DynamicState::STENCIL_OP,
    vk::DynamicState::RASTERIZER_DISCARD_ENABLE,
    vk::DynamicState::DEPTH_BIAS_ENABLE,
    vk::DynamicState::PRIMITIVE_RESTART_ENABLE,
];

/// Fails with `what` unless the device has a feature.
fn need(feature: vk::Bool32, name: &str, what: &str) -> Result<()> {
    match feature != vk::FALSE {
        true => Ok(()),
        false => Err(Error::unsupported(format!("{what}: the device lacks {name}"))),
    }
}

/// Fails unless an enumerant is one of Vulkan 1.0's, which count from 0 to `last`.
fn known(what: &str, number: i32, last: i32) -> Result<()> {
    match (0..=last).contains(&number) {
        true => Ok(()),
        false => Err(Error::unsupported(format!("{what} {number}"))),
    }
}

pub(crate) fn topology(topology: Topology) -> vk::PrimitiveTopology {
    match topology {
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

/// Checks the topology against the shader and the device.
pub(crate) fn check_topology(program: &ProgramInner, topology: Topology) -> Result<()> {
    let given = primitive(topology);
    if let Some(wanted) = program.primitive.filter(|wanted| *wanted != given) {
        return Err(Error::data(format!(
            "the shader requires {wanted}, the topology has {given}"
        )));
    }
    match topology {
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

/// Rasterisation; what is dynamic is not checked.
pub(crate) fn rasterization(
    context: &Inner,
    state: &State,
) -> Result<vk::PipelineRasterizationStateCreateInfo<'static>> {
    let core = &context.features.core;
    let is_dynamic = |one| state.dynamic.contains(&one);
    let Rasterization {
        polygon_mode,
        front_face,
        line_width,
        depth_clamp,
        depth_bias,
    } = state.rasterization;
    known("polygon mode", polygon_mode.as_raw(), vk::PolygonMode::POINT.as_raw())?;
    known("front face", front_face.as_raw(), vk::FrontFace::CLOCKWISE.as_raw())?;
    if polygon_mode != vk::PolygonMode::FILL {
        let what = "polygons as lines or points";
        need(core.fill_mode_non_solid, "fillModeNonSolid", what)?;
    }
    if line_width != 1.0 && !is_dynamic(vk::DynamicState::LINE_WIDTH) {
        need(core.wide_lines, "wideLines", &format!("lines of width {line_width}"))?;
        let [least, most] = context.limits.line_width_range;
        if !(least..=most).contains(&line_width) {
            let message = format!("lines of width {line_width}, the device has {least} to {most}");
            return Err(Error::unsupported(message));
        }
    }
    if depth_clamp {
        need(core.depth_clamp, "depthClamp", "clamped depths")?;
    }
    let bias = depth_bias.unwrap_or_default();
    if bias.clamp != 0.0 && !is_dynamic(vk::DynamicState::DEPTH_BIAS) {
        need(core.depth_bias_clamp, "depthBiasClamp", "a limit of depth bias")?;
    }
    Ok(vk::PipelineRasterizationStateCreateInfo::default()
        .polygon_mode(polygon_mode)
        .cull_mode(match state.cull {
            Cull::None => vk::CullModeFlags::NONE,
            Cull::Front => vk::CullModeFlags::FRONT,
            Cull::Back => vk::CullModeFlags::BACK,
        })
        .front_face(front_face)
        .depth_clamp_enable(depth_clamp)
        .depth_bias_enable(depth_bias.is_some())
        .depth_bias_constant_factor(bias.constant_factor)
        .depth_bias_clamp(bias.clamp)
        .depth_bias_slope_factor(bias.slope_factor)
        .line_width(line_width))
}

/// Multisampling in Vulkan's structure; `mask` has the words of the sample mask. `colors` tells whether there is a
/// colour attachment.
pub(crate) fn multisample<'a>(
    context: &Inner,
    state: &State,
    colors: bool,
    mask: &'a [vk::SampleMask; 2],
) -> Result<vk::PipelineMultisampleStateCreateInfo<'a>> {
    let core = &context.features.core;
    let Multisample {
        samples,
        min_sample_shading,
        alpha_to_coverage,
        alpha_to_one,
        ..
    } = state.multisample;
    let limits = &context.limits;
    let all = vk::SampleCountFlags::from_raw(0x7f);
    let of = |present: bool, counts| if present { counts } else { all };
    let counts = of(colors, limits.framebuffer_color_sample_counts)
        & of(state.depth.is_some(), limits.framebuffer_depth_sample_counts)
        & of(state.stencil.is_some(), limits.framebuffer_stencil_sample_counts);
    if !samples.as_raw().is_power_of_two() || !all.contains(samples) {
        return Err(Error::data(format!("{samples:?} is not one number of samples")));
    }
    if !counts.contains(samples) {
        let message = format!("{} samples, the device has {counts:?}", samples.as_raw());
        return Err(Error::unsupported(message));
    }
    if let Some(share) = min_sample_shading {
        need(core.sample_rate_shading, "sampleRateShading", "shading of samples")?;
        if !(0.0..=1.0).contains(&share) {
            return Err(Error::data(format!("shading of {share} of the samples; it is 0 to 1")));
        }
    }
    if alpha_to_one {
        need(core.alpha_to_one, "alphaToOne", "alpha to one")?;
    }
    Ok(vk::PipelineMultisampleStateCreateInfo::default()
        .rasterization_samples(samples)
        .sample_shading_enable(min_sample_shading.is_some())
        .min_sample_shading(min_sample_shading.unwrap_or(0.0))
        .sample_mask(mask)
        .alpha_to_coverage_enable(alpha_to_coverage)
        .alpha_to_one_enable(alpha_to_one))
}

/// A sample mask in Vulkan's words.
pub(crate) fn sample_mask(mask: u64) -> [vk::SampleMask; 2] {
    [mask as u32, (mask >> 32) as u32]
}

/// Depth and stencil tests.
pub(crate) fn depth_stencil(state: &State) -> Result<vk::PipelineDepthStencilStateCreateInfo<'static>> {
    let mut info = vk::PipelineDepthStencilStateCreateInfo::default();
    if let Some(depth) = state.depth {
        info = info
            .depth_test_enable(true)
            .depth_write_enable(depth.write)
            .depth_compare_op(depth.compare.into());
    }
    if let Some(Stencil { front, back, .. }) = state.stencil {
        for face in [front, back] {
            known("comparison", face.compare_op.as_raw(), vk::CompareOp::ALWAYS.as_raw())?;
            for op in [face.fail_op, face.pass_op, face.depth_fail_op] {
                known(
                    "stencil operation",
                    op.as_raw(),
                    vk::StencilOp::DECREMENT_AND_WRAP.as_raw(),
                )?;
            }
        }
        info = info.stencil_test_enable(true).front(front).back(back);
    }
    Ok(info)
}

/// The blending of an output: what its location has, else the mode of all. Integers do not blend; what the code does not
/// write keeps its value.
pub(crate) fn attachment(blend: Blend, own: &ColorBlend, output: Output) -> vk::PipelineColorBlendAttachmentState {
    let state = own.attachments.get(&output.location);
    let state = state.copied().unwrap_or_else(|| blend.into());
    let blends = state.blend_enable != vk::FALSE && output.class == TexelType::FLOAT && output.written;
    let mask = match output.written {
        true => state.color_write_mask,
        false => vk::ColorComponentFlags::empty(),
    };
    state.blend_enable(blends).color_write_mask(mask)
}

/// The blending of `colors` attachments; those without an output are not written.
pub(crate) fn attachments(
    program: &ProgramInner,
    state: &State,
    colors: usize,
) -> Result<Vec<vk::PipelineColorBlendAttachmentState>> {
    let core = &program.context.features.core;
    for (location, given) in &state.color_blend.attachments {
        let place = |error: Error| error.within(format!("output {location}"));
        check_attachment(given).map_err(place)?;
    }
    if let Some(op) = state.color_blend.logic_op {
        known("logical operation", op.as_raw(), vk::LogicOp::SET.as_raw())?;
        need(core.logic_op, "logicOp", "a logical operation")?;
    }
    let mut blends = vec![vk::PipelineColorBlendAttachmentState::default(); colors];
    for output in &program.outputs {
        if let Some(place) = blends.get_mut(usize::from(output.location)) {
            *place = attachment(state.blend, &state.color_blend, *output);
        }
    }
    let differ = |pair: &[vk::PipelineColorBlendAttachmentState]| raw(&pair[0]) != raw(&pair[1]);
    if !state.color_blend.attachments.is_empty() && blends.windows(2).any(differ) {
        need(
            core.independent_blend,
            "independentBlend",
            "targets that blend differently",
        )?;
    }
    Ok(blends)
}

/// The members of an attachment's state, for comparison.
fn raw(state: &vk::PipelineColorBlendAttachmentState) -> [i64; 8] {
    let factor = |factor: vk::BlendFactor| i64::from(factor.as_raw());
    let op = |op: vk::BlendOp| i64::from(op.as_raw());
    [
        i64::from(state.blend_enable),
        factor(state.src_color_blend_factor),
        factor(state.dst_color_blend_factor),
        op(state.color_blend_op),
        factor(state.src_alpha_blend_factor),
        factor(state.dst_alpha_blend_factor),
        op(state.alpha_blend_op),
        i64::from(state.color_write_mask.as_raw()),
    ]
}

fn check_attachment(state: &vk::PipelineColorBlendAttachmentState) -> Result<()> {
    let factors = [
        state.src_color_blend_factor,
        state.dst_color_blend_factor,
        state.src_alpha_blend_factor,
        state.dst_alpha_blend_factor,
    ];
    for factor in factors {
        // A VBC has one output per location, so there is no second source.
        known(
            "blend factor",
            factor.as_raw(),
            vk::BlendFactor::SRC_ALPHA_SATURATE.as_raw(),
        )?;
    }
    for op in [state.color_blend_op, state.alpha_blend_op] {
        known("blend operation", op.as_raw(), vk::BlendOp::MAX.as_raw())?;
    }
    let mask = state.color_write_mask;
    match vk::ColorComponentFlags::RGBA.contains(mask) {
        true => Ok(()),
        false => Err(Error::data(format!("write mask {mask:?}"))),
    }
}

/// The dynamic states of a pipeline: viewport and scissor, and those of the state.
pub(crate) fn dynamic(context: &Inner, state: &State) -> Result<Vec<vk::DynamicState>> {
    let mut all = Vec::new();
    let with_count = [
        (vk::DynamicState::VIEWPORT, vk::DynamicState::VIEWPORT_WITH_COUNT),
        (vk::DynamicState::SCISSOR, vk::DynamicState::SCISSOR_WITH_COUNT),
    ];
    for (fixed, counted) in with_count {
        if !state.dynamic.contains(&counted) {
            all.push(fixed);
        }
    }
    for one in &state.dynamic {
        let has =
            DYNAMIC.contains(one) || context.properties.api_version >= vk::API_VERSION_1_3 && DYNAMIC_1_3.contains(one);
        if !has {
            return Err(Error::unsupported(format!("dynamic state {one:?}")));
        }
        let counted = with_count.iter().find(|(fixed, _)| fixed == one);
        if counted.is_some_and(|(_, counted)| state.dynamic.contains(counted)) {
            return Err(Error::data(format!("{one:?} is dynamic with and without its count")));
        }
        if !all.contains(one) {
            all.push(*one);
        }
    }
    Ok(all)
}
