//! VBC files the project makes itself, for visitors without one and for tests.

use loader::vbc::{self, BaseType, Model, Stage, Tables, Variable};

/// Stages of the triangle in WGSL; naga's WGSL front end makes the SPIR-V.
const TRIANGLE: &str = "
struct Vertex {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec3<f32>,
}

@vertex
fn vert(@location(0) position: vec2<f32>, @location(1) color: vec3<f32>) -> Vertex {
    return Vertex(vec4<f32>(position, 0.0, 1.0), color);
}

@fragment
fn frag(vertex: Vertex) -> @location(0) vec4<f32> {
    return vec4<f32>(vertex.color, 1.0);
}
";

/// A triangle with a colour at each corner: `in(0) float2` position, `in(1) float3` colour, `out(0) float4`.
///
/// # Errors
/// None in practice: only if naga could no longer translate the sample.
pub fn triangle() -> anyhow::Result<Vec<u8>> {
    let numbers = |location, rows| Variable {
        location,
        base: BaseType::FLOAT,
        dims: [rows, 1],
        array: 1,
    };
    let mut model = Model {
        tables: Tables::default(),
        inputs: vec![numbers(0, 2), numbers(1, 3)],
        outputs: vec![numbers(0, 4)],
        ..Model::default()
    };
    *model.code_mut(Stage::Vert) = compile(naga::ShaderStage::Vertex, "vert")?;
    *model.code_mut(Stage::Frag) = compile(naga::ShaderStage::Fragment, "frag")?;
    Ok(vbc::write(&model)?)
}

/// One entry point of [`TRIANGLE`] as a module whose entry point is `main`, as VBC has it.
fn compile(stage: naga::ShaderStage, entry: &str) -> anyhow::Result<Vec<u32>> {
    let mut module = naga::front::wgsl::parse_str(TRIANGLE)?;
    module.entry_points.retain(|found| found.name == entry);
    module.entry_points[0].name = "main".into();
    let mut validator =
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty());
    let info = validator.validate(&module)?;
    let options = naga::back::spv::Options {
        lang_version: (1, 5),
        // VBC keeps Vulkan's clip space as it is.
        flags: naga::back::spv::WriterFlags::empty(),
        ..Default::default()
    };
    let pipeline = naga::back::spv::PipelineOptions {
        shader_stage: stage,
        entry_point: "main".into(),
    };
    Ok(naga::back::spv::write_vec(&module, &info, &options, Some(&pipeline))?)
}
