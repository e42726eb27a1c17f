//! VBC files the project makes itself, for visitors without one and for tests.

use crate::error::Result;
use loader::vbc::pack::Names;
use loader::vbc::{self, Stage};
use translate::Source;

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
pub fn triangle() -> Result<Vec<u8>> {
    let source = Source::new("triangle.wgsl", TRIANGLE.as_bytes())?;
    let stage = |stage| Ok::<_, translate::Error>((stage, translate::compile(&source, stage)?));
    let stages = [stage(Stage::Vert)?, stage(Stage::Frag)?];
    Ok(vbc::write(&vbc::pack::pack(&stages, &Names::default())?)?)
}
