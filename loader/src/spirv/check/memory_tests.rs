//! Untyped pointers, raw chains, atomics, image processing and tile images: valid modules, each broken by a change.

use super::validate_for;
use crate::Severity;
use crate::spirv::asm::{Options, assemble};
use crate::spirv::{Grammar, TargetEnv};

/// A replacement in a valid module, and a part of the expected finding.
pub(super) type Row = (&'static str, &'static str, &'static str);

/// The findings of one severity.
fn findings(text: &str, env: TargetEnv, severity: Severity) -> Option<String> {
    let options = Options {
        version: Some(env.version()),
        ..Options::default()
    };
    let words = assemble(Grammar::builtin(), text, options).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let report = validate_for(Grammar::builtin(), &words, env);
    let found = report.diagnostics.iter().filter(|found| found.severity == severity);
    let all: String = found.map(|found| format!("{found}\n")).collect();
    (!all.is_empty()).then_some(all)
}

fn finding(text: &str, env: TargetEnv) -> Option<String> {
    findings(text, env, Severity::Error)
}

/// The module is valid, and each replacement makes it invalid.
pub(super) fn broken_by(text: &str, env: &str, rows: &[Row]) {
    let env = TargetEnv::named(env).expect("a known environment");
    assert_eq!(finding(text, env), None, "{text}");
    let mut wrong = Vec::new();
    for (from, to, said) in rows {
        assert!(text.contains(from), "{from}");
        let found = finding(&text.replacen(from, to, 1), env);
        if found.as_ref().is_none_or(|found| !found.contains(said)) {
            wrong.push(format!("{to:?} should report {said:?}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

const UNTYPED: &str = "OpCapability Shader\nOpCapability UntypedPointersKHR\nOpCapability VariablePointers\n\
                       OpExtension \"SPV_KHR_untyped_pointers\"\nOpMemoryModel Logical GLSL450\n\
                       OpEntryPoint GLCompute %main \"main\" %buffer %other\nOpExecutionMode %main LocalSize 1 1 1\n\
                       OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\nOpMemberDecorate %block 1 Offset 16\n\
                       OpDecorate %many ArrayStride 4\nOpDecorate %buffer DescriptorSet 0\nOpDecorate %buffer Binding 0\n\
                       OpDecorate %other DescriptorSet 0\nOpDecorate %other Binding 1\n%void = OpTypeVoid\n\
                       %fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%float = OpTypeFloat 32\n%bool = OpTypeBool\n\
                       %zero = OpConstant %uint 0\n%one = OpConstant %uint 1\n%two = OpConstant %uint 2\n\
                       %half = OpConstant %float 0.5\n%many = OpTypeRuntimeArray %uint\n%block = OpTypeStruct %uint %many\n\
                       %to = OpTypeUntypedPointerKHR StorageBuffer\n%to_uniform = OpTypeUntypedPointerKHR Uniform\n\
                       %to_uint = OpTypePointer StorageBuffer %uint\n%to_block = OpTypePointer StorageBuffer %block\n\
                       %buffer = OpUntypedVariableKHR %to StorageBuffer %block\n\
                       %other = OpVariable %to_block StorageBuffer\n%main = OpFunction %void None %fn\n%entry = OpLabel\n\
                       %at = OpUntypedAccessChainKHR %to %block %buffer %one %two\n\
                       %typed = OpAccessChain %to_uint %other %zero\n\
                       %next = OpUntypedPtrAccessChainKHR %to %many %at %one %zero\n\
                       %length = OpUntypedArrayLengthKHR %uint %block %buffer 1\n%x = OpLoad %float %at\n\
                       OpStore %at %half\nOpCopyMemory %at %typed\nOpCopyMemorySized %at %next %two\n\
                       %same = OpPtrEqual %bool %at %typed\n%old = OpAtomicIAdd %uint %at %one %zero %two\nOpReturn\n\
                       OpFunctionEnd\n";

#[test]
fn untyped_pointers() {
    // A copy of two bytes needs small numbers.
    let text = UNTYPED.replacen("%next %two", "%next %four", 1);
    let text = text.replacen(
        "%half = OpC",
        "%four = OpConstant %uint 4\n%six = OpConstant %uint 6\n%half = OpC",
        1,
    );
    broken_by(
        &text,
        "vulkan1.3",
        &[
            ("%to StorageBuffer %block", "%to StorageBuffer", "has a data type"),
            ("%to StorageBuffer %block", "%to StorageBuffer %zero", "not a type"),
            (
                "%to StorageBuffer %block",
                "%to_uniform StorageBuffer %block",
                "storage class",
            ),
            ("OpDecorate %block Block\n", "", "must be a Block"),
            ("%block 1 Offset 16", "%block 1 Offset 2", "offset"),
            ("%to %block %buffer %one", "%to %zero %buffer %one", "step through"),
            ("%to %block %buffer %one", "%to %to_uint %buffer %one", "step through"),
            (
                "%to %block %buffer %one",
                "%to %block %buffer %two",
                "reaches no member",
            ),
            (
                "%at = OpUntypedAccessChainKHR %to ",
                "%at = OpUntypedAccessChainKHR %to_uniform ",
                "base's storage class",
            ),
            ("%to %many %at %one", "%to %many %at %half", "the element is not"),
            ("%block %buffer 1", "%block %buffer 0", "last member"),
            ("%block %buffer 1", "%block %other 1", "untyped pointer"),
            (
                "%at %typed\nOpCopyMemorySized",
                "%at %next\nOpCopyMemorySized",
                "tells the type",
            ),
            ("%next %four", "%next %six", "less than 4 bytes"),
            (
                "%uint %at %one %zero %two",
                "%uint %at %one %zero %half",
                "not of the type",
            ),
            (
                "OpTypeUntypedPointerKHR Uniform",
                "OpTypeUntypedPointerKHR Private",
                "explicit layout",
            ),
        ],
    );
}

const CHAINS: &str = "OpCapability Shader\nOpCapability Addresses\nOpCapability Int64\nOpCapability RawAccessChainsNV\n\
                      OpExtension \"SPV_NV_raw_access_chains\"\nOpMemoryModel Logical GLSL450\n\
                      OpEntryPoint GLCompute %main \"main\" %buffer\nOpExecutionMode %main LocalSize 1 1 1\n\
                      OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\nOpDecorate %buffer DescriptorSet 0\n\
                      OpDecorate %buffer Binding 0\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n\
                      %long = OpTypeInt 64 0\n%float = OpTypeFloat 32\n%v4 = OpTypeVector %float 4\n\
                      %zero = OpConstant %uint 0\n%sixteen = OpConstant %uint 16\n%wide = OpConstant %long 16\n\
                      %x = OpConstant %float 1\n%block = OpTypeStruct %v4\n%to_block = OpTypePointer StorageBuffer %block\n\
                      %to_v4 = OpTypePointer StorageBuffer %v4\n%to_float = OpTypePointer StorageBuffer %float\n\
                      %buffer = OpVariable %to_block StorageBuffer\n%main = OpFunction %void None %fn\n%entry = OpLabel\n\
                      %sum = OpIAdd %uint %sixteen %zero\n\
                      %raw = OpRawAccessChainNV %to_v4 %buffer %sixteen %zero %zero RobustnessPerElementNV\n\
                      %held = OpLoad %v4 %raw\n%part = OpInBoundsPtrAccessChain %to_float %raw %zero %zero\nOpReturn\n\
                      OpFunctionEnd\n";

#[test]
fn raw_and_element_chains() {
    const RAW: &str = "%to_v4 %buffer %sixteen %zero %zero RobustnessPerElementNV";
    broken_by(
        CHAINS,
        "spv1.6",
        &[
            (RAW, "%to_v4 %buffer %sum %zero %zero", "not an OpConstant"),
            (RAW, "%to_v4 %buffer %x %zero %zero", "not an integer"),
            (RAW, "%to_v4 %buffer %sixteen %wide %zero", "not a 32-bit integer"),
            (RAW, "%to_v4 %buffer %sixteen %zero %wide", "not a 32-bit integer"),
            (RAW, "%to_block %buffer %sixteen %zero %zero", "array, matrix or struct"),
            (RAW, "%v4 %buffer %sixteen %zero %zero", "not a typed pointer"),
            (
                RAW,
                "%to_v4 %buffer %zero %zero %zero RobustnessPerElementNV",
                "a stride above 0",
            ),
            (
                RAW,
                "%to_v4 %buffer %sixteen %zero %zero RobustnessPerElementNV|RobustnessPerComponentNV",
                "per component or per element",
            ),
            ("%raw %zero %zero\n", "%raw %zero %zero %zero\n", "reaches no member"),
            ("%raw %zero %zero\n", "%raw %x %zero\n", "the element is not"),
            (
                "%raw %zero %zero\n",
                "%raw %zero\n",
                "not a pointer to the indexed type",
            ),
        ],
    );
}

const KERNEL: &str = "OpCapability Kernel\nOpCapability Linkage\nOpCapability Addresses\nOpCapability Int64\n\
                      OpCapability NamedBarrier\nOpMemoryModel Physical64 OpenCL\n%void = OpTypeVoid\n\
                      %fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%long = OpTypeInt 64 0\n%bool = OpTypeBool\n\
                      %one = OpConstant %uint 1\n%release = OpConstant %uint 260\n%acquire = OpConstant %uint 258\n\
                      %both = OpConstant %uint 262\n%wide = OpConstant %long 1\n%barrier = OpTypeNamedBarrier\n\
                      %to_uint = OpTypePointer Workgroup %uint\n%to_long = OpTypePointer Workgroup %long\n\
                      %flag = OpVariable %to_uint Workgroup\n%no_flag = OpVariable %to_long Workgroup\n\
                      %main = OpFunction %void None %fn\n%entry = OpLabel\n%set = OpAtomicFlagTestAndSet %bool %flag %one %acquire\n\
                      OpAtomicFlagClear %flag %one %release\n%named = OpNamedBarrierInitialize %barrier %one\n\
                      OpMemoryNamedBarrier %named %one %acquire\nOpReturn\nOpFunctionEnd\n";

#[test]
fn flags_and_named_barriers() {
    broken_by(
        KERNEL,
        "spv1.6",
        &[
            ("%bool %flag", "%uint %flag", "no type this opcode has"),
            ("%bool %flag", "%bool %no_flag", "64 bits need"),
            ("%bool %flag", "%bool %one", "needs a pointer"),
            ("%flag %one %acquire", "%flag %wide %acquire", "not a 32-bit integer"),
            ("%flag %one %acquire", "%flag %one %wide", "not a 32-bit integer"),
            ("%flag %one %release", "%flag %one %acquire", "no acquire semantics"),
            ("%barrier %one", "%barrier %wide", "not a 32-bit integer"),
            ("Initialize %barrier", "Initialize %uint", "not an OpTypeNamedBarrier"),
            ("Barrier %named", "Barrier %flag", "not an OpTypeNamedBarrier"),
            ("%named %one %acquire", "%named %wide %acquire", "not a 32-bit integer"),
            ("%named %one %acquire", "%named %one %both", "at most one memory order"),
        ],
    );
}

const FLOATS: &str = "OpCapability Shader\nOpCapability Float16\nOpCapability AtomicFloat16AddEXT\n\
                      OpCapability AtomicFloat16VectorNV\nOpExtension \"SPV_EXT_shader_atomic_float16_add\"\n\
                      OpExtension \"SPV_NV_shader_atomic_fp16_vector\"\nOpMemoryModel Logical GLSL450\n\
                      OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n%void = OpTypeVoid\n\
                      %fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%half = OpTypeFloat 16\n%v2 = OpTypeVector %half 2\n\
                      %one = OpConstant %uint 1\n%none = OpConstant %uint 0\n%x = OpConstant %half 1\n\
                      %xx = OpConstantComposite %v2 %x %x\n%to_half = OpTypePointer Workgroup %half\n\
                      %to_v2 = OpTypePointer Workgroup %v2\n%a = OpVariable %to_half Workgroup\n\
                      %b = OpVariable %to_v2 Workgroup\n%main = OpFunction %void None %fn\n%entry = OpLabel\n\
                      %c = OpAtomicFAddEXT %half %a %one %none %x\n%d = OpAtomicFMinEXT %v2 %b %one %none %xx\n\
                      %e = OpAtomicExchange %v2 %b %one %none %xx\nOpReturn\nOpFunctionEnd\n";

#[test]
fn atomics_of_16_bit_floats() {
    broken_by(
        FLOATS,
        "spv1.3",
        &[
            (
                "OpExtension \"SPV_EXT_shader_atomic_float16_add\"\n",
                "",
                "SPV_EXT_shader_atomic_float16_add",
            ),
            ("OpCapability AtomicFloat16AddEXT\n", "", "floats of this width"),
            ("OpCapability AtomicFloat16VectorNV\n", "", "AtomicFloat16VectorNV"),
            (
                "%v2 %b %one %none %xx\n%e",
                "%v2 %b %one %none %x\n%e",
                "not of the type",
            ),
        ],
    );
}

const PROCESSING: &str = "OpCapability Shader\nOpCapability TextureBlockMatchQCOM\nOpCapability TextureBlockMatch2QCOM\n\
                          OpCapability TextureSampleWeightedQCOM\nOpExtension \"SPV_QCOM_image_processing\"\n\
                          OpExtension \"SPV_QCOM_image_processing2\"\nOpMemoryModel Logical GLSL450\n\
                          OpEntryPoint Fragment %main \"main\" %matched %weights %plain %sampler %plain_sampler\n\
                          OpExecutionMode %main OriginUpperLeft\nOpDecorate %matched DescriptorSet 0\n\
                          OpDecorate %matched Binding 0\nOpDecorate %weights DescriptorSet 0\nOpDecorate %weights Binding 1\n\
                          OpDecorate %plain DescriptorSet 0\nOpDecorate %plain Binding 2\n\
                          OpDecorate %sampler DescriptorSet 0\nOpDecorate %sampler Binding 3\n\
                          OpDecorate %plain_sampler DescriptorSet 0\nOpDecorate %plain_sampler Binding 4\n\
                          OpDecorate %matched BlockMatchTextureQCOM\nOpDecorate %sampler BlockMatchSamplerQCOM\n\
                          OpDecorate %weights WeightTextureQCOM\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
                          %uint = OpTypeInt 32 0\n%float = OpTypeFloat 32\n%v2 = OpTypeVector %float 2\n\
                          %v4 = OpTypeVector %float 4\n%u2 = OpTypeVector %uint 2\n%zero = OpConstant %uint 0\n\
                          %x = OpConstant %float 0\n%place = OpConstantComposite %v2 %x %x\n\
                          %pair = OpConstantComposite %u2 %zero %zero\n%image = OpTypeImage %float 2D 0 0 0 1 Unknown\n\
                          %layers = OpTypeImage %float 2D 0 1 0 1 Unknown\n%sampled = OpTypeSampledImage %image\n\
                          %sampled_layers = OpTypeSampledImage %layers\n%of_sampler = OpTypeSampler\n\
                          %to_image = OpTypePointer UniformConstant %image\n\
                          %to_weights = OpTypePointer UniformConstant %sampled_layers\n\
                          %to_sampler = OpTypePointer UniformConstant %of_sampler\n\
                          %matched = OpVariable %to_image UniformConstant\n%plain = OpVariable %to_image UniformConstant\n\
                          %weights = OpVariable %to_weights UniformConstant\n\
                          %sampler = OpVariable %to_sampler UniformConstant\n\
                          %plain_sampler = OpVariable %to_sampler UniformConstant\n%main = OpFunction %void None %fn\n\
                          %entry = OpLabel\n%a = OpLoad %image %matched\n%s = OpLoad %of_sampler %sampler\n\
                          %p = OpLoad %image %plain\n%q = OpLoad %of_sampler %plain_sampler\n\
                          %w = OpLoad %sampled_layers %weights\n%both = OpSampledImage %sampled %a %s\n\
                          %other = OpSampledImage %sampled %p %q\n\
                          %block = OpImageBlockMatchSSDQCOM %v4 %both %pair %both %pair %pair\n\
                          %window = OpImageBlockMatchWindowSADQCOM %v4 %both %pair %both %pair %pair\n\
                          %weighted = OpImageSampleWeightedQCOM %v4 %other %place %w\n\
                          %texel = OpImageSampleImplicitLod %v4 %other %place\nOpReturn\nOpFunctionEnd\n";

#[test]
fn textures_of_image_processing() {
    broken_by(
        PROCESSING,
        "spv1.4",
        &[
            (
                "OpDecorate %matched BlockMatchTextureQCOM\n",
                "",
                "decoration BlockMatchTextureQCOM",
            ),
            (
                "OpDecorate %sampler BlockMatchSamplerQCOM\n",
                "",
                "decoration BlockMatchSamplerQCOM",
            ),
            (
                "OpDecorate %weights WeightTextureQCOM\n",
                "",
                "decoration WeightTextureQCOM",
            ),
            (
                "SSDQCOM %v4 %both %pair %both",
                "SSDQCOM %v4 %both %pair %other",
                "needs the",
            ),
            ("Lod %v4 %other", "Lod %v4 %both", "for that only"),
        ],
    );
}

const TILE: &str = "OpCapability Shader\nOpCapability TileImageColorReadAccessEXT\nOpExtension \"SPV_EXT_shader_tile_image\"\n\
                    OpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %main \"main\"\nOpExecutionMode %main OriginUpperLeft\n\
                    OpDecorate %tile Location 0\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%float = OpTypeFloat 32\n\
                    %uint = OpTypeInt 32 0\n%zero = OpConstant %uint 0\n%v2 = OpTypeVector %uint 2\n%v4 = OpTypeVector %float 4\n\
                    %place = OpConstantComposite %v2 %zero %zero\n%image = OpTypeImage %float TileImageDataEXT 0 0 0 2 Unknown\n\
                    %to_image = OpTypePointer TileImageEXT %image\n%tile = OpVariable %to_image TileImageEXT\n\
                    %main = OpFunction %void None %fn\n%entry = OpLabel\n%a = OpLoad %image %tile\n\
                    %x = OpColorAttachmentReadEXT %v4 %tile\nOpReturn\nOpFunctionEnd\n";

#[test]
fn tile_images() {
    let plain = "a tile image has a sampled type";
    let read = "%x = OpColorAttachmentReadEXT %v4 %tile";
    broken_by(
        TILE,
        "spv1.3",
        &[
            ("OpTypeImage %float", "OpTypeImage %void", plain),
            ("EXT 0 0 0 2 Unknown", "EXT 1 0 0 2 Unknown", plain),
            ("EXT 0 0 0 2 Unknown", "EXT 0 1 0 2 Unknown", plain),
            ("EXT 0 0 0 2 Unknown", "EXT 0 0 0 1 Unknown", plain),
            ("EXT 0 0 0 2 Unknown", "EXT 0 0 0 2 Rgba32f", plain),
            (read, "%x = OpImageRead %v4 %a %place", "reads of its own"),
        ],
    );
}

const BARRIERS: &str = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
                        OpExecutionMode %main LocalSize 1 1 1\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
                        %uint = OpTypeInt 32 0\n%none = OpConstant %uint 0\n%two = OpConstant %uint 2\n\
                        %workgroup = OpConstant %uint 264\n%order = OpConstant %uint 8\n%main = OpFunction %void None %fn\n\
                        %entry = OpLabel\nOpControlBarrier %two %two %none\nOpControlBarrier %two %two %workgroup\nOpReturn\n\
                        OpFunctionEnd\n";

#[test]
fn barriers_of_vulkan_name_memory() {
    broken_by(
        BARRIERS,
        "vulkan1.2",
        &[("%two %two %workgroup", "%two %two %order", "names a kind of memory")],
    );
}

#[test]
fn specialization_takes_no_types() {
    let text = BARRIERS.replacen(
        "%main = OpF",
        "%sum = OpSpecConstantOp %uint IAdd %two %two\n%main = OpF",
        1,
    );
    broken_by(
        &text,
        "spv1.6",
        &[("IAdd %two %two", "IAdd %two %uint", "is a type, where a value")],
    );
}

const VARIABLE: &str = "OpCapability Shader\nOpCapability VariablePointersStorageBuffer\nOpMemoryModel Logical GLSL450\n\
                        OpEntryPoint GLCompute %main \"main\" %one %two\nOpExecutionMode %main LocalSize 1 1 1\n\
                        OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\nOpDecorate %one DescriptorSet 0\n\
                        OpDecorate %one Binding 0\nOpDecorate %two DescriptorSet 0\nOpDecorate %two Binding 1\n\
                        %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%float = OpTypeFloat 32\n%bool = OpTypeBool\n\
                        %yes = OpConstantTrue %bool\n%block = OpTypeStruct %float\n\
                        %to_block = OpTypePointer StorageBuffer %block\n%to_float = OpTypePointer Workgroup %float\n\
                        %null = OpConstantNull %to_block\n%one = OpVariable %to_block StorageBuffer\n\
                        %two = OpVariable %to_block StorageBuffer\n%main = OpFunction %void None %fn\n%entry = OpLabel\n\
                        %chosen = OpSelect %to_block %yes %one %one\nOpReturn\nOpFunctionEnd\n";

#[test]
fn choices_of_pointers_that_other_validators_accept_are_warnings() {
    let env = TargetEnv::named("vulkan1.3").expect("a known environment");
    assert_eq!(findings(VARIABLE, env, Severity::Warning), None);
    for (from, to, said) in [
        (
            "%yes %one %one",
            "%yes %one %two",
            "need the capability VariablePointers",
        ),
        ("Null %to_block", "Null %to_float", "needs variable pointers"),
    ] {
        let text = VARIABLE.replacen(from, to, 1);
        assert_eq!(finding(&text, env), None, "{to}");
        let found = findings(&text, env, Severity::Warning);
        assert!(found.as_ref().is_some_and(|found| found.contains(said)), "{found:?}");
    }
}
