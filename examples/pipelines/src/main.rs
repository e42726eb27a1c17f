//! An engine draws a triangle through a stencil, with four samples per pixel: the first pipeline is the library's, the
//! second is created here from the program's shader stages and layout.
//!
//! ```text
//! cargo run [OUT.ppm]
//! ```

mod engine;

use ash::vk;
use engine::{Engine, SAMPLES, SIZE, Targets};
use skrymir_loader::vbc;
use skrymir_vulkan::{
    BindMode, ColorBlend, GraphicsPipeline, Multisample, Program, State, Stencil, Target, VertexBuffers,
};
use std::error::Error;

/// `in(0) float2` position, `in(1) float3` colour.
const SHADER: &[u8] = include_bytes!("../../../tests/data/vbc/triangle.vbc");

/// The mask, and what is seen through it: a triangle over all of the picture.
const VERTICES: [[f32; 5]; 6] = [
    [0.0, -0.8, 0.0, 0.0, 0.0],
    [0.8, 0.8, 0.0, 0.0, 0.0],
    [-0.8, 0.8, 0.0, 0.0, 0.0],
    [-1.0, -1.0, 1.0, 0.0, 0.0],
    [3.0, -1.0, -1.0, 2.0, 0.0],
    [-1.0, 3.0, -1.0, 0.0, 2.0],
];

fn face(pass: vk::StencilOp, compare: vk::CompareOp) -> vk::StencilOpState {
    vk::StencilOpState {
        fail_op: vk::StencilOp::KEEP,
        pass_op: pass,
        depth_fail_op: vk::StencilOp::KEEP,
        compare_op: compare,
        compare_mask: 0xff,
        write_mask: 0xff,
        reference: 1,
    }
}

/// The library's pipeline: the stencil becomes the reference, which the command buffer sets; no colour is written.
fn mask(program: &Program, rendering: vk::PipelineRenderingCreateInfo<'_>) -> skrymir_vulkan::Result<GraphicsPipeline> {
    let replace = face(vk::StencilOp::REPLACE, vk::CompareOp::ALWAYS);
    let unwritten = vk::PipelineColorBlendAttachmentState::default();
    let state = State {
        stencil: Some(Stencil {
            front: replace,
            back: replace,
            clear: 0,
        }),
        multisample: Multisample {
            samples: SAMPLES,
            ..Multisample::default()
        },
        color_blend: ColorBlend {
            attachments: [(0, unwritten)].into(),
            ..ColorBlend::default()
        },
        dynamic: vec![vk::DynamicState::STENCIL_REFERENCE],
        ..State::default()
    };
    GraphicsPipeline::new(program, &state, &Target::Rendering(rendering), None)
}

/// The engine's own pipeline, of the program's stages, vertex input and layout: it draws where the stencil is 1.
fn seen(
    device: &ash::Device,
    program: &Program,
    mut rendering: vk::PipelineRenderingCreateInfo<'_>,
) -> Result<vk::Pipeline, vk::Result> {
    let stages: Vec<_> = program.shader_stages().collect();
    let input = program.vertex_input(VertexBuffers::Interleaved);
    let vertex = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&input.bindings)
        .vertex_attribute_descriptions(&input.attributes);
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewport = vk::PipelineViewportStateCreateInfo::default()
        .viewport_count(1)
        .scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(SAMPLES);
    let equal = face(vk::StencilOp::KEEP, vk::CompareOp::EQUAL);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .stencil_test_enable(true)
        .front(equal)
        .back(equal);
    let written = [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&written);
    let dynamic = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&vertex)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .depth_stencil_state(&depth)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(program.layout())
        .push_next(&mut rendering);
    // SAFETY: modules and layout live as long as the program; the device has dynamic rendering.
    let made = unsafe { device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
    made.map(|made| made[0]).map_err(|(_, result)| result)
}

fn main() -> Result<(), Box<dyn Error>> {
    let output = std::env::args_os().nth(1).unwrap_or_else(|| "pipelines.ppm".into());
    let engine = Engine::new()?;
    let targets = Targets::new(&engine)?;
    let pixels = {
        // SAFETY: the engine's handles belong together, and outlive the context and the program.
        let context = unsafe { engine.adopt() }?;
        let file = vbc::read(SHADER)?;
        vbc::validate(&file).accept(vbc::FORMAT)?;
        let program = Program::new(&context, &file, BindMode::Lowered)?;
        let colors = [targets.color_format()];
        let rendering = vk::PipelineRenderingCreateInfo::default()
            .color_attachment_formats(&colors)
            .stencil_attachment_format(targets.stencil_format());
        let mask = mask(&program, rendering)?;
        let seen = seen(&engine.device, &program, rendering)?;
        let bytes: Vec<u8> = VERTICES
            .iter()
            .flatten()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        let pixels = targets.draw(&engine, &bytes, |commands| {
            // SAFETY: the command buffer is recording inside of the engine's rendering.
            unsafe {
                let device = &engine.device;
                device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, mask.raw());
                device.cmd_set_stencil_reference(commands, vk::StencilFaceFlags::FRONT_AND_BACK, 1);
                device.cmd_draw(commands, 3, 1, 0, 0);
                device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, seen);
                device.cmd_draw(commands, 3, 1, 3, 0);
            }
        })?;
        // SAFETY: the device is idle.
        unsafe { engine.device.destroy_pipeline(seen, None) };
        pixels
    };
    targets.destroy(&engine);
    let mut file = format!("P6\n{SIZE} {SIZE}\n255\n").into_bytes();
    file.extend(pixels.as_chunks::<4>().0.iter().flat_map(|pixel| &pixel[..3]));
    std::fs::write(&output, file)?;
    println!("picture: {}", std::path::absolute(&output)?.display());
    Ok(())
}
