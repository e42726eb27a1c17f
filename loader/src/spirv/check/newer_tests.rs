//! Rules of built-in variables, meshes, layouts and variable pointers, each broken once; renumbered ids.

use super::validate_for;
use crate::Severity;
use crate::spirv::asm::{Options, assemble};
use crate::spirv::grammar::Shape;
use crate::spirv::operand::{Context, operands};
use crate::spirv::{Grammar, HEADER_WORDS, TargetEnv, instructions};

const VERTEX: &str = "OpCapability Shader\nOpCapability GroupNonUniform\nOpMemoryModel Logical GLSL450\nOpEntryPoint Vertex %main \"main\" %index %out\n\
                      OpDecorate %index BuiltIn VertexIndex\nOpDecorate %block Block\nOpMemberDecorate %block 0 BuiltIn Position\n\
                      OpMemberDecorate %block 1 BuiltIn PointSize\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
                      %int = OpTypeInt 32 1\n%float = OpTypeFloat 32\n%v4 = OpTypeVector %float 4\n\
                      %block = OpTypeStruct %v4 %float\n%to_int = OpTypePointer Input %int\n%to_block = OpTypePointer Output %block\n\
                      %index = OpVariable %to_int Input\n%out = OpVariable %to_block Output\n\
                      %main = OpFunction %void None %fn\n%entry = OpLabel\nOpReturn\nOpFunctionEnd\n";

const MESH: &str = "OpCapability MeshShadingEXT\nOpExtension \"SPV_EXT_mesh_shader\"\nOpMemoryModel Logical GLSL450\n\
                    OpEntryPoint MeshEXT %main \"main\" %indices %layer %colour\nOpExecutionMode %main LocalSize 1 1 1\n\
                    OpExecutionMode %main OutputVertices 3\nOpExecutionMode %main OutputPrimitivesEXT 2\n\
                    OpExecutionMode %main OutputTrianglesEXT\nOpDecorate %indices BuiltIn PrimitiveTriangleIndicesEXT\n\
                    OpDecorate %layer BuiltIn Layer\nOpDecorate %layer PerPrimitiveEXT\nOpDecorate %colour Location 0\n\
                    %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%float = OpTypeFloat 32\n\
                    %u3 = OpTypeVector %uint 3\n%v4 = OpTypeVector %float 4\n%two = OpConstant %uint 2\n%three = OpConstant %uint 3\n\
                    %some_u3 = OpTypeArray %u3 %two\n%some_uint = OpTypeArray %uint %two\n%some_v4 = OpTypeArray %v4 %three\n\
                    %to_u3 = OpTypePointer Output %some_u3\n%to_uint = OpTypePointer Output %some_uint\n\
                    %to_v4 = OpTypePointer Output %some_v4\n%to_one = OpTypePointer Output %v4\n\
                    %indices = OpVariable %to_u3 Output\n%layer = OpVariable %to_uint Output\n%colour = OpVariable %to_v4 Output\n\
                    %main = OpFunction %void None %fn\n%entry = OpLabel\nOpSetMeshOutputsEXT %three %two\n\
                    %at = OpAccessChain %to_one %colour %two\nOpReturn\nOpFunctionEnd\n";

const BUFFER: &str = "OpCapability Shader\nOpCapability VariablePointersStorageBuffer\nOpMemoryModel Logical GLSL450\n\
                      OpEntryPoint GLCompute %main \"main\" %one %two %held\nOpExecutionMode %main LocalSize 1 1 1\n\
                      OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\nOpMemberDecorate %block 1 Offset 16\n\
                      OpMemberDecorate %inner 0 Offset 0\nOpMemberDecorate %inner 1 Offset 4\nOpDecorate %one DescriptorSet 0\n\
                      OpDecorate %one Binding 0\nOpDecorate %two DescriptorSet 0\nOpDecorate %two Binding 1\n%void = OpTypeVoid\n\
                      %fn = OpTypeFunction %void\n%float = OpTypeFloat 32\n%bool = OpTypeBool\n%yes = OpConstantTrue %bool\n\
                      %v2 = OpTypeVector %float 2\n%inner = OpTypeStruct %float %v2\n%plain = OpTypeStruct %float %v2\n\
                      %block = OpTypeStruct %float %inner\n%to_block = OpTypePointer StorageBuffer %block\n\
                      %to_plain = OpTypePointer Private %plain\n%to_inner = OpTypePointer Private %inner\n\
                      %one = OpVariable %to_block StorageBuffer\n%two = OpVariable %to_block StorageBuffer\n\
                      %held = OpVariable %to_plain Private\n%main = OpFunction %void None %fn\n%entry = OpLabel\n\
                      %chosen = OpSelect %to_block %yes %one %one\nOpReturn\nOpFunctionEnd\n";

const REFLECTED: &str = "OpCapability Shader\nOpExtension \"SPV_KHR_non_semantic_info\"\n\
                         %set = OpExtInstImport \"NonSemantic.ClspvReflection.5\"\n\
                         %twin = OpExtInstImport \"NonSemantic.ClspvReflection.5\"\nOpMemoryModel Logical GLSL450\n\
                         OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n%name = OpString \"main\"\n\
                         %other = OpString \"other\"\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n\
                         %zero = OpConstant %uint 0\n%main = OpFunction %void None %fn\n%entry = OpLabel\nOpReturn\nOpFunctionEnd\n\
                         %kernel = OpExtInst %void %set Kernel %main %name %zero %zero %name\n\
                         %same = OpExtInst %void %twin Kernel %main %name\n\
                         %info = OpExtInst %void %set ArgumentInfo %name\n\
                         %required = OpExtInst %void %set PropertyRequiredWorkgroupSize %kernel %zero %zero %zero\n\
                         %argument = OpExtInst %void %set ArgumentStorageBuffer %kernel %zero %zero %zero %info\n\
                         %print = OpExtInst %void %set PrintfInfo %zero %name %zero %zero\n";

/// A module, a replacement, and a part of the expected finding.
const ROWS: &[(&str, &str, &str, &str)] = &[
    (
        VERTEX,
        "BuiltIn VertexIndex",
        "BuiltIn FragCoord",
        "FragCoord: the execution model",
    ),
    (
        VERTEX,
        "%to_int = OpTypePointer Input %int",
        "%to_int = OpTypePointer Input %float",
        "another type",
    ),
    (
        VERTEX,
        "1 BuiltIn PointSize",
        "1 BuiltIn Position",
        "Position: has another type",
    ),
    (
        VERTEX,
        "1 BuiltIn PointSize",
        "1 BuiltIn SubgroupSize",
        "not a member of a struct",
    ),
    (
        MESH,
        "%some_uint = OpTypeArray %uint %two",
        "%some_uint = OpTypeArray %uint %three",
        "OutputPrimitivesEXT is 2",
    ),
    (
        MESH,
        "OpDecorate %layer PerPrimitiveEXT\n",
        "",
        "must be PerPrimitiveEXT",
    ),
    (
        MESH,
        "OutputTrianglesEXT",
        "OutputLinesEXT",
        "the entry point has other primitives",
    ),
    (
        MESH,
        "OpSetMeshOutputsEXT %three %two",
        "OpSetMeshOutputsEXT %three %three",
        "3 is more than 2",
    ),
    (
        MESH,
        "%colour %two\n",
        "%colour %two\n%read = OpLoad %v4 %at\n",
        "reads none of its outputs",
    ),
    (
        BUFFER,
        "OpCapability VariablePointersStorageBuffer\n",
        "",
        "needs variable pointers",
    ),
    (BUFFER, "%block 1 Offset 16", "%block 1 Offset 8", "straddles 16 bytes"),
    (
        BUFFER,
        "%held = OpVariable %to_plain",
        "%held = OpVariable %to_inner",
        "explicit layout",
    ),
    (REFLECTED, "Reflection.5", "Reflection.0", "unknown version"),
    (REFLECTED, "Reflection.5", "Reflection.4", "two operands"),
    (REFLECTED, "%main %name", "%main %other", "not the entry point's"),
    (
        REFLECTED,
        "PropertyRequiredWorkgroupSize %kernel",
        "PropertyRequiredWorkgroupSize %main",
        "Kernel, ",
    ),
    (
        REFLECTED,
        "ArgumentStorageBuffer %kernel",
        "ArgumentStorageBuffer %required",
        "Decl, ",
    ),
    (
        REFLECTED,
        "%kernel %zero",
        "%kernel %name",
        "has the wrong type for this instruction",
    ),
    (
        REFLECTED,
        "PropertyRequiredWorkgroupSize %kernel",
        "NormalizedSamplerMaskPushConstant %kernel",
        "is of version 6, not of 5",
    ),
    (
        REFLECTED,
        "%required = OpExtInst %void",
        "%required = OpExtInst %uint",
        "the result type is not void",
    ),
    (REFLECTED, "Buffer %kernel", "Buffer %same", "Decl, %"),
    (REFLECTED, "%zero %info", "%zero %kernel", "ArgInfo, %"),
    (
        REFLECTED,
        "PrintfInfo %zero %name %zero %zero",
        "PrintfInfo %zero %name %zero %name",
        "ArgumentSizes, %",
    ),
    (
        BUFFER,
        "LocalSize 1 1 1",
        "LocalSize 1 0 1",
        "the workgroup size is zero",
    ),
    (BUFFER, "OpExecutionMode %main LocalSize 1 1 1\n", "", "needs LocalSize"),
    (
        MESH,
        "%to_uint = OpTypePointer Output %some_uint",
        "%to_uint = OpTypePointer Output %uint",
        "an output of a mesh shader is an array",
    ),
];

fn environment() -> TargetEnv {
    TargetEnv::named("vulkan1.3").expect("a known environment")
}

pub(super) fn words_of(text: &str) -> Vec<u32> {
    let options = Options {
        version: Some(environment().version()),
        ..Options::default()
    };
    assemble(Grammar::builtin(), text, options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The errors that Vulkan's rules find.
pub(super) fn finding(words: &[u32]) -> Option<String> {
    let report = validate_for(Grammar::builtin(), words, environment());
    let errors = report
        .diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error);
    let all: String = errors.map(|found| format!("{found}\n")).collect();
    (!all.is_empty()).then_some(all)
}

#[test]
fn each_rule_has_a_passing_and_a_failing_module() {
    let mut wrong = Vec::new();
    for (text, from, to, said) in ROWS {
        assert!(text.contains(from), "{from}");
        if let Some(found) = finding(&words_of(text)) {
            wrong.push(format!("a valid module is rejected: {found}"));
        }
        let found = finding(&words_of(&text.replacen(from, to, 1)));
        if found.as_ref().is_none_or(|found| !found.contains(said)) {
            wrong.push(format!("{to:?} should report {said:?}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Modules that an extension or a newer rule allows, and the text whose removal makes each invalid.
const ALLOWED: &[(&str, &str)] = &[
    (
        "OpCapability Shader\nOpExtension \"SPV_AMD_gpu_shader_half_float_fetch\"\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n%void = OpTypeVoid\n\
         %fn = OpTypeFunction %void\n%half = OpTypeFloat 16\n%main = OpFunction %void None %fn\n%entry = OpLabel\nOpReturn\n\
         OpFunctionEnd\n",
        "OpExtension \"SPV_AMD_gpu_shader_half_float_fetch\"\n",
    ),
    (
        "OpCapability Shader\nOpExtension \"SPV_VALIDATOR_ignore_type_decl_unique\"\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n%void = OpTypeVoid\n%again = OpTypeVoid\n\
         %fn = OpTypeFunction %void\n%main = OpFunction %void None %fn\n%entry = OpLabel\nOpReturn\nOpFunctionEnd\n",
        "OpExtension \"SPV_VALIDATOR_ignore_type_decl_unique\"\n",
    ),
    (
        "OpCapability Geometry\nOpCapability GeometryStreams\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint Geometry %main \"main\" %a %b\nOpExecutionMode %main Triangles\nOpExecutionMode %main Invocations 1\n\
         OpExecutionMode %main OutputPoints\nOpExecutionMode %main OutputVertices 1\nOpDecorate %a Location 1\n\
         OpDecorate %a Stream 0\nOpDecorate %b Location 1\nOpDecorate %b Stream 1\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
         %float = OpTypeFloat 32\n%to = OpTypePointer Output %float\n%a = OpVariable %to Output\n%b = OpVariable %to Output\n\
         %main = OpFunction %void None %fn\n%entry = OpLabel\nOpReturn\nOpFunctionEnd\n",
        "OpDecorate %b Stream 1\n",
    ),
    (
        "OpCapability Tessellation\nOpMemoryModel Logical GLSL450\nOpEntryPoint TessellationEvaluation %main \"main\" %a\n\
         OpExecutionMode %main Triangles\nOpExecutionMode %main SpacingEqual\nOpExecutionMode %main VertexOrderCcw\n\
         OpDecorate %a Location 1\nOpDecorate %a Component 2\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
         %float = OpTypeFloat 32\n%v2 = OpTypeVector %float 2\n%uint = OpTypeInt 32 0\n%two = OpConstant %uint 2\n\
         %many = OpConstant %uint 32\n%pair = OpTypeArray %v2 %two\n%all = OpTypeArray %pair %many\n\
         %to = OpTypePointer Input %all\n%a = OpVariable %to Input\n%main = OpFunction %void None %fn\n%entry = OpLabel\nOpReturn\n\
         OpFunctionEnd\n",
        "OpDecorate %a Location 1\n",
    ),
];

#[test]
fn what_extensions_and_newer_rules_allow_is_valid() {
    for (text, needed) in ALLOWED {
        assert_eq!(finding(&words_of(text)), None, "{text}");
        let without = text.replacen(needed, "", 1);
        assert_ne!(finding(&words_of(&without)), None, "without {needed}");
    }
}

#[test]
fn floats_with_a_sign_or_beyond_their_type_are_as_spirv_as_has_them() {
    let half = |value: &str| {
        let text = format!(
            "OpCapability Shader\nOpMemoryModel Logical GLSL450\n%h = OpTypeFloat 16\n%c = OpConstant %h {value}\n"
        );
        words_of(&text).last().copied()
    };
    assert_eq!(half("0xaaaa8p0"), Some(0x7c00));
    assert_eq!(half("-0x1p+200"), Some(0xfc00));
    assert_eq!(half("+1.5"), half("1.5"));
    assert_eq!(half("0x1.8p+16"), Some(0x7e00));
}

/// The module with all ids renumbered.
fn renumbered(words: &[u32], random: &mut fastrand::Rng) -> Vec<u32> {
    let grammar = Grammar::builtin();
    let mut numbers: Vec<u32> = (1..words[3]).collect();
    random.shuffle(&mut numbers);
    let mut out = words[..HEADER_WORDS].to_vec();
    let mut context = Context::new(words);
    for instruction in instructions(words).flatten() {
        let row = grammar.row(instruction.opcode);
        context.note(grammar, row, &instruction);
        let mut copy = instruction.words.to_vec();
        for operand in operands(grammar, &context, row, &instruction).flatten() {
            if matches!(operand.shape, Shape::Id | Shape::ResultType | Shape::Result) {
                copy[operand.at] = numbers[operand.words[0] as usize - 1];
            }
        }
        out.extend(copy);
    }
    out
}

/// Two entry points with separate variables, and literals equal to other ids.
const TWO: &str = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint Vertex %first \"first\" %give\n\
                   OpEntryPoint Fragment %second \"second\" %take\nOpExecutionMode %second OriginUpperLeft\n\
                   OpDecorate %give Location 0\nOpDecorate %take Location 0\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
                   %uint = OpTypeInt 32 0\n%float = OpTypeFloat 32\n%v3 = OpTypeVector %float 3\n%three = OpConstant %uint 3\n\
                   %one = OpConstant %float 1\n%white = OpConstantComposite %v3 %one %one %one\n\
                   %to_give = OpTypePointer Output %v3\n%to_take = OpTypePointer Input %v3\n%give = OpVariable %to_give Output\n\
                   %take = OpVariable %to_take Input\n%first = OpFunction %void None %fn\n%a = OpLabel\n\
                   OpStore %give %white\nOpReturn\nOpFunctionEnd\n%second = OpFunction %void None %fn\n%b = OpLabel\n\
                   %x = OpLoad %v3 %take\n%y = OpVectorShuffle %v3 %x %x 5 4 3\n%z = OpCompositeExtract %float %y 2\nOpReturn\n\
                   OpFunctionEnd\n";

#[test]
fn verdicts_do_not_depend_on_id_numbers() {
    let mut random = fastrand::Rng::with_seed(3);
    for text in [VERTEX, MESH, BUFFER, REFLECTED, TWO] {
        let words = words_of(text);
        assert_eq!(finding(&words), None, "{text}");
        for _ in 0..200 {
            let other = renumbered(&words, &mut random);
            let found = finding(&other);
            assert_eq!(found, None, "{}", crate::spirv::print(&other).unwrap());
        }
    }
    // Broken modules remain broken when renumbered.
    for (text, from, to, _) in ROWS {
        let other = renumbered(&words_of(&text.replacen(from, to, 1)), &mut random);
        assert!(finding(&other).is_some(), "{to:?}");
    }
}
