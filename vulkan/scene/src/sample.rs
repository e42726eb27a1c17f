//! Sample VBC files, for users without one and for tests.

use crate::error::{Error, Result};
use loader::spirv::{Grammar, asm};
use loader::vbc::pack::{Names, pack};
use loader::vbc::{self, Stage};

/// The vertex stage of the triangle: passes position and colour through.
const VERTEX: &str = r#"; Version: 1.5
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint Vertex %vert "main" %position %color %gl_Position %passed
               OpName %vert "vert"
               OpName %position "position"
               OpName %color "color"
               OpDecorate %position Location 0
               OpDecorate %color Location 1
               OpDecorate %gl_Position BuiltIn Position
               OpDecorate %passed Location 0
       %void = OpTypeVoid
   %function = OpTypeFunction %void
      %float = OpTypeFloat 32
    %v2float = OpTypeVector %float 2
    %v3float = OpTypeVector %float 3
    %v4float = OpTypeVector %float 4
 %in_v2float = OpTypePointer Input %v2float
 %in_v3float = OpTypePointer Input %v3float
%out_v3float = OpTypePointer Output %v3float
%out_v4float = OpTypePointer Output %v4float
   %position = OpVariable %in_v2float Input
      %color = OpVariable %in_v3float Input
%gl_Position = OpVariable %out_v4float Output
     %passed = OpVariable %out_v3float Output
    %float_0 = OpConstant %float 0
    %float_1 = OpConstant %float 1
       %vert = OpFunction %void None %function
      %start = OpLabel
         %xy = OpLoad %v2float %position
       %xyzw = OpCompositeConstruct %v4float %xy %float_0 %float_1
               OpStore %gl_Position %xyzw
        %rgb = OpLoad %v3float %color
               OpStore %passed %rgb
               OpReturn
               OpFunctionEnd
"#;

/// The fragment stage: the colour, opaque.
const FRAGMENT: &str = r#"; Version: 1.5
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint Fragment %frag "main" %color %target
               OpExecutionMode %frag OriginUpperLeft
               OpName %frag "frag"
               OpDecorate %color Location 0
               OpDecorate %target Location 0
       %void = OpTypeVoid
   %function = OpTypeFunction %void
      %float = OpTypeFloat 32
    %v3float = OpTypeVector %float 3
    %v4float = OpTypeVector %float 4
 %in_v3float = OpTypePointer Input %v3float
%out_v4float = OpTypePointer Output %v4float
      %color = OpVariable %in_v3float Input
     %target = OpVariable %out_v4float Output
    %float_1 = OpConstant %float 1
       %frag = OpFunction %void None %function
      %start = OpLabel
        %rgb = OpLoad %v3float %color
       %rgba = OpCompositeConstruct %v4float %rgb %float_1
               OpStore %target %rgba
               OpReturn
               OpFunctionEnd
"#;

/// A triangle with one colour per corner: `in(0) float2` position, `in(1) float3` colour, `out(0) float4`.
///
/// # Errors
/// Only if the loader cannot assemble the sample, which is a bug.
pub fn triangle() -> Result<Vec<u8>> {
    // The version is in the text: VBC accepts up to 1.5.
    let options = asm::Options {
        exact: true,
        ..asm::Options::default()
    };
    let assemble = |text| asm::assemble(Grammar::builtin(), text, options).map_err(Error::input);
    let stage = |stage, text| Ok::<_, Error>((stage, assemble(text)?));
    let stages = [stage(Stage::Vert, VERTEX)?, stage(Stage::Frag, FRAGMENT)?];
    Ok(vbc::write(&pack(&stages, &Names::default())?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_triangle_is_valid() {
        let report = vbc::check(&triangle().unwrap());
        assert!(report.diagnostics.is_empty(), "{:?}", report.diagnostics);
    }
}
