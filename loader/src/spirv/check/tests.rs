//! Modules that break exactly one rule, each beside one that does not.

use super::validate;
use crate::spirv::Grammar;
use crate::spirv::asm::{Options, assemble};

/// A shader with one entry point: what precedes the types, the declarations, the body.
fn shader(head: &str, declarations: &str, body: &str) -> String {
    format!(
        "OpCapability Shader\n{head}\n%void = OpTypeVoid\n%main_type = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n\
         %int = OpTypeInt 32 1\n%float = OpTypeFloat 32\n%bool = OpTypeBool\n%v2 = OpTypeVector %float 2\n\
         %v3 = OpTypeVector %float 3\n%v4 = OpTypeVector %float 4\n%u2 = OpTypeVector %uint 2\n%zero = OpConstant %uint 0\n\
         %one = OpConstant %uint 1\n%half = OpConstant %float 0.5\n%half2 = OpConstantComposite %v2 %half %half\n\
         %half3 = OpConstantComposite %v3 %half %half %half\n{declarations}\n%main = OpFunction %void None %main_type\n\
         %entry = OpLabel\n{body}\nOpReturn\nOpFunctionEnd\n"
    )
}

const PLAIN: &str =
    "OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1";
const FRAGMENT: &str = "OpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %main \"main\"\n\
                        OpExecutionMode %main OriginUpperLeft";

fn finding(text: &str) -> Option<String> {
    let mut words = assemble(Grammar::builtin(), text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    words[1] = 0x10300;
    let report = validate(&words);
    (!report.is_valid()).then(|| report.diagnostics.iter().map(|d| format!("{d}\n")).collect())
}

/// Each row: a name, a module's parts, and a replacement that breaks it with a part of the expected finding.
#[test]
fn each_rule_is_broken_once_and_kept_once() {
    const QUERY: &str = "OpCapability RayQueryKHR\nOpExtension \"SPV_KHR_ray_query\"\nOpMemoryModel Logical GLSL450\n\
                         OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1";
    const QUERY_TYPES: &str = "%scene = OpTypeAccelerationStructureKHR\n%query = OpTypeRayQueryKHR\n\
                               %to_scene = OpTypePointer UniformConstant %scene\n%to_query = OpTypePointer Private %query\n\
                               %world = OpVariable %to_scene UniformConstant\n%ray = OpVariable %to_query Private";
    const TRACE: &str = "%s = OpLoad %scene %world\n\
                         OpRayQueryInitializeKHR %ray %s %zero %zero %half3 %half %half3 %half";
    const IMAGE: &str = "%image = OpTypeImage %float 2D 0 0 0 1 Unknown\n%sampled = OpTypeSampledImage %image\n\
                         %to_sampled = OpTypePointer UniformConstant %sampled\n%tex = OpVariable %to_sampled UniformConstant";
    const INTERLOCK: &str = "OpCapability FragmentShaderPixelInterlockEXT\nOpExtension \"SPV_EXT_fragment_shader_interlock\"\n\
                             OpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %main \"main\"\n\
                             OpExecutionMode %main OriginUpperLeft\nOpExecutionMode %main PixelInterlockOrderedEXT";
    const BUFFERS: &str = "OpCapability PhysicalStorageBufferAddresses\nOpExtension \"SPV_KHR_physical_storage_buffer\"\n\
                           OpMemoryModel PhysicalStorageBuffer64 GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
                           OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %held RestrictPointer\nOpDecorate %block Block\n\
                           OpMemberDecorate %block 0 Offset 0";
    const BUFFER_TYPES: &str = "OpTypeForwardPointer %to_block PhysicalStorageBuffer\n%block = OpTypeStruct %uint\n\
                                %to_block = OpTypePointer PhysicalStorageBuffer %block\n\
                                %to_held = OpTypePointer Function %to_block";
    const QUADS: &str = "OpCapability GroupNonUniformVote\nOpCapability QuadControlKHR\nOpExtension \"SPV_KHR_quad_control\"\n\
                         OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 4 1 1";
    let rows: &[(&str, [&str; 3], &str, &str, &str)] = &[
        (
            "votes in a quad, which have no scope",
            [
                QUADS,
                "%yes = OpConstantTrue %bool",
                "%all = OpGroupNonUniformQuadAllKHR %bool %yes",
            ],
            "%bool %yes",
            "%bool %one",
            "is not a boolean",
        ),
        (
            "ray origin",
            [QUERY, QUERY_TYPES, TRACE],
            "%half3 %half %half3 %half",
            "%half %half %half3 %half",
            "operand 4",
        ),
        (
            "ray flags",
            [QUERY, QUERY_TYPES, TRACE],
            "%s %zero",
            "%s %half",
            "operand 2",
        ),
        (
            "no query",
            [QUERY, QUERY_TYPES, TRACE],
            "KHR %ray %s",
            "KHR %world %s",
            "operand 0",
        ),
        (
            "carry",
            [
                PLAIN,
                "%pair = OpTypeStruct %uint %uint",
                "%x = OpIAddCarry %pair %zero %one",
            ],
            "OpTypeStruct %uint %uint",
            "OpTypeStruct %uint %int",
            "OpIAddCarry",
        ),
        (
            "wide product",
            [
                PLAIN,
                "%pair = OpTypeStruct %uint %uint",
                "%x = OpUMulExtended %pair %zero %one",
            ],
            "%pair %zero %one",
            "%u2 %zero %one",
            "OpUMulExtended",
        ),
        (
            "least level",
            [
                FRAGMENT,
                IMAGE,
                "%s = OpLoad %sampled %tex\n%x = OpImageSampleImplicitLod %v4 %s %half2 Bias %half",
            ],
            "Bias %half",
            "Bias %one",
            "Bias",
        ),
        (
            "gathered type",
            [
                FRAGMENT,
                IMAGE,
                "%s = OpLoad %sampled %tex\n%x = OpImageGather %v4 %s %half2 %zero",
            ],
            "OpImageGather %v4",
            "OpImageGather %v3",
            "OpImageGather",
        ),
        (
            "interlock",
            [
                INTERLOCK,
                "",
                "OpBeginInvocationInterlockEXT\nOpEndInvocationInterlockEXT",
            ],
            "OpExecutionMode %main PixelInterlockOrderedEXT",
            "",
            "interlock",
        ),
        (
            "two interlocks",
            [
                INTERLOCK,
                "",
                "OpBeginInvocationInterlockEXT\nOpEndInvocationInterlockEXT",
            ],
            "OpExecutionMode %main PixelInterlockOrderedEXT",
            "OpExecutionMode %main PixelInterlockOrderedEXT\nOpExecutionMode %main PixelInterlockUnorderedEXT",
            "interlock",
        ),
        (
            "pointer to a buffer",
            [BUFFERS, BUFFER_TYPES, "%held = OpVariable %to_held Function"],
            "OpDecorate %held RestrictPointer",
            "OpDecorate %held RelaxedPrecision",
            "RestrictPointer",
        ),
        (
            "forward pointer's class",
            [BUFFERS, BUFFER_TYPES, "%held = OpVariable %to_held Function"],
            "OpTypeForwardPointer %to_block PhysicalStorageBuffer",
            "OpTypeForwardPointer %to_block Function",
            "another storage class",
        ),
        (
            "function type as a type",
            [PLAIN, "", "%x = OpUndef %float"],
            "OpUndef %float",
            "OpUndef %main_type",
            "function type",
        ),
        (
            "type as a value",
            [PLAIN, "", "%x = OpFAdd %float %half %half"],
            "%float %half %half",
            "%float %half %float",
            "is a type",
        ),
        (
            "name in the wrong section",
            [FRAGMENT, "", ""],
            "%void = OpTypeVoid",
            "%void = OpTypeVoid\nOpName %void \"void\"",
            "section",
        ),
        (
            "narrow case",
            [
                "OpCapability Int16\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
                 OpExecutionMode %main LocalSize 1 1 1",
                "%short = OpTypeInt 16 0\n%s = OpConstant %short 7",
                "OpSelectionMerge %end None\nOpSwitch %s %end 3 %end\n%end = OpLabel",
            ],
            "OpSwitch %s %end 3 %end",
            "!0x000500fb %s %end !0x10003 %end",
            "not its sign",
        ),
        (
            "order of memory",
            [
                PLAIN,
                "%order = OpConstant %uint 264",
                "OpControlBarrier %two %two %order",
            ],
            "%order = OpConstant %uint 264",
            "%order = OpConstant %uint 268",
            "at most one memory order",
        ),
        (
            "pointer in a variable",
            [
                PLAIN,
                "%to_float = OpTypePointer Function %float",
                "%x = OpVariable %to_float Function",
            ],
            "OpTypePointer Function %float",
            "OpTypePointer Function %to_uint",
            "variable pointers",
        ),
    ];
    let mut wrong = Vec::new();
    for (name, [head, declarations, body], from, to, said) in rows {
        let declarations =
            format!("%two = OpConstant %uint 2\n%to_uint = OpTypePointer Function %uint\n{declarations}");
        let good = shader(head, &declarations, body);
        assert!(good.contains(from), "{name}: {from}");
        let broken = finding(&good.replacen(from, to, 1));
        if let Some(found) = finding(&good) {
            wrong.push(format!("{name}: a valid module is rejected: {found}"));
        }
        if broken.as_ref().is_none_or(|found| !found.contains(said)) {
            wrong.push(format!("{name}: {broken:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The words of a 64-bit case are not ids, whatever their values.
#[test]
fn words_of_a_wide_switch_are_not_ids() {
    for high in 0..64_u64 {
        let body = format!(
            "OpSelectionMerge %end None\nOpSwitch %wide %end {} %case\n%case = OpLabel\nOpBranch %end\n%end = OpLabel",
            high << 32
        );
        let declarations = "%ulong = OpTypeInt 64 0\n%wide = OpConstant %ulong 1\n\
                            %other = OpFunction %void None %main_type\n%first = OpLabel\n\
                            %sum = OpIAdd %uint %one %one\nOpReturn\nOpFunctionEnd";
        let text = shader(&format!("OpCapability Int64\n{PLAIN}"), declarations, &body);
        assert_eq!(finding(&text), None, "{high}");
    }
}
