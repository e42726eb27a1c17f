//! Rules with a table of changes to a valid module: each change, and what is said of it.

use super::newer_tests::{finding, words_of};

/// A module, a replacement, and a part of the expected finding; nothing is expected of an empty one.
type Row = (&'static str, &'static str, &'static str);

#[track_caller]
fn rows(text: &str, rows: &[Row]) {
    assert_eq!(finding(&words_of(text)), None, "{text}");
    let mut wrong = Vec::new();
    for (from, to, said) in rows {
        assert!(text.contains(from), "{from}");
        let found = finding(&words_of(&text.replacen(from, to, 1))).unwrap_or_default();
        if !found.contains(said) || said.is_empty() != found.is_empty() {
            wrong.push(format!("{to:?} should report {said:?}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

const GROUPS: &str = "OpCapability Shader\nOpCapability GroupNonUniform\nOpCapability GroupNonUniformVote\n\
     OpCapability GroupNonUniformBallot\nOpCapability GroupNonUniformShuffle\nOpCapability GroupNonUniformShuffleRelative\n\
     OpCapability GroupNonUniformArithmetic\nOpCapability GroupNonUniformClustered\nOpCapability GroupNonUniformQuad\n\
     OpCapability GroupNonUniformPartitionedNV\nOpExtension \"SPV_NV_shader_subgroup_partitioned\"\n\
     OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
     %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%bool = OpTypeBool\n%uint = OpTypeInt 32 0\n%int = OpTypeInt 32 1\n\
     %float = OpTypeFloat 32\n%u2 = OpTypeVector %uint 2\n%u4 = OpTypeVector %uint 4\n%i4 = OpTypeVector %int 4\n\
     %yes = OpConstantTrue %bool\n%group = OpConstant %uint 3\n%four = OpConstant %uint 4\n%minus = OpConstant %int -1\n\
     %one = OpConstant %float 1\n%pair = OpConstantNull %u2\n%mask = OpConstantNull %u4\n%signed = OpConstantNull %i4\n\
     %main = OpFunction %void None %fn\n%entry = OpLabel\n%elect = OpGroupNonUniformElect %bool %group\n\
     %all = OpGroupNonUniformAll %bool %group %yes\n%equal = OpGroupNonUniformAllEqual %bool %group %one\n\
     %cast = OpGroupNonUniformBroadcast %float %group %one %four\n%first = OpGroupNonUniformBroadcastFirst %u2 %group %pair\n\
     %ballot = OpGroupNonUniformBallot %u4 %group %yes\n%inverse = OpGroupNonUniformInverseBallot %bool %group %mask\n\
     %bit = OpGroupNonUniformBallotBitExtract %bool %group %mask %four\n\
     %count = OpGroupNonUniformBallotBitCount %uint %group Reduce %mask\n\
     %least = OpGroupNonUniformBallotFindLSB %uint %group %mask\n%moved = OpGroupNonUniformShuffleXor %float %group %one %four\n\
     %sum = OpGroupNonUniformIAdd %uint %group Reduce %four\n%product = OpGroupNonUniformFMul %float %group InclusiveScan %one\n\
     %small = OpGroupNonUniformUMin %uint %group ClusteredReduce %four %four\n\
     %logic = OpGroupNonUniformLogicalOr %bool %group Reduce %yes\n\
     %part = OpGroupNonUniformIAdd %uint %group PartitionedReduceNV %four %mask\n\
     %quad = OpGroupNonUniformQuadBroadcast %float %group %one %four\n%held = OpGroupNonUniformPartitionNV %u4 %one\n\
     OpReturn\nOpFunctionEnd\n";

#[test]
fn group_operations_have_the_types_of_their_rows() {
    rows(
        GROUPS,
        &[
            ("Elect %bool", "Elect %uint", "the result is not a boolean"),
            ("%group %yes\n%equal", "%group %four\n%equal", "is not a boolean"),
            ("AllEqual %bool", "AllEqual %float", "the result is not a boolean"),
            (
                "Broadcast %float %group %one %four",
                "Broadcast %uint %group %one %four",
                "is not of the result's type",
            ),
            (
                "Broadcast %float %group %one %four",
                "Broadcast %float %group %one %minus",
                "is not an unsigned integer",
            ),
            ("Ballot %u4", "Ballot %i4", "the result is not four unsigned integers"),
            (
                "InverseBallot %bool %group %mask",
                "InverseBallot %bool %group %signed",
                "is not four unsigned integers",
            ),
            (
                "%mask %four\n%count",
                "%mask %one\n%count",
                "is not an unsigned integer",
            ),
            (
                "BitCount %uint",
                "BitCount %float",
                "the result is not an unsigned integer",
            ),
            ("Reduce %mask", "ClusteredReduce %mask", "Vulkan counts by"),
            (
                "FindLSB %uint %group %mask",
                "FindLSB %uint %group %pair",
                "is not four unsigned integers",
            ),
            ("%one %four\n%sum", "%one %minus\n%sum", "is not an unsigned integer"),
            (
                "IAdd %uint %group Reduce %four",
                "IAdd %float %group Reduce %one",
                "the result is not an integer",
            ),
            ("IAdd %uint %group Reduce %four", "IAdd %int %group Reduce %minus", ""),
            (
                "FMul %float %group InclusiveScan %one",
                "FMul %uint %group InclusiveScan %four",
                "the result is not a float",
            ),
            (
                "UMin %uint %group ClusteredReduce %four",
                "UMin %int %group ClusteredReduce %minus",
                "the result is not an unsigned",
            ),
            (
                "ClusteredReduce %four %four",
                "ClusteredReduce %four",
                "needs the size of a cluster",
            ),
            (
                "ClusteredReduce %four %four",
                "ClusteredReduce %four %sum",
                "the cluster's size is not a constant",
            ),
            (
                "UMin %uint %group ClusteredReduce %four",
                "UMin %uint %group ClusteredReduce %minus",
                "",
            ),
            (
                "UMin %uint %group ClusteredReduce %four",
                "UMin %uint %group ClusteredReduce %one",
                "is not of the result's type",
            ),
            (
                "IAdd %uint %group Reduce %four",
                "IAdd %uint %group Reduce %minus",
                "is not of the result's type",
            ),
            (
                "LogicalOr %bool %group Reduce %yes",
                "LogicalOr %uint %group Reduce %four",
                "the result is not a boolean",
            ),
            ("%four %mask\n", "%four\n", "needs a ballot"),
            ("%four %mask\n", "%four %signed\n", ""),
            ("%four %mask\n", "%four %pair\n", "is not four integers"),
            (
                "PartitionNV %u4",
                "PartitionNV %u2",
                "the result is not four unsigned integers",
            ),
        ],
    );
}

const FRAGMENT: &str = "OpCapability Shader\nOpCapability FragmentDensityEXT\nOpCapability ShaderSMBuiltinsNV\n\
     OpExtension \"SPV_EXT_fragment_invocation_density\"\nOpExtension \"SPV_NV_shader_sm_builtins\"\n\
     OpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %main \"main\" %size %unit %depth %held\n\
     OpExecutionMode %main OriginUpperLeft\nOpExecutionMode %main DepthReplacing\nOpDecorate %size BuiltIn FragSizeEXT\n\
     OpDecorate %size Flat\nOpDecorate %unit BuiltIn SMIDNV\nOpDecorate %unit Flat\nOpDecorate %depth BuiltIn FragDepth\n\
     %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%float = OpTypeFloat 32\n\
     %u2 = OpTypeVector %uint 2\n%to_u2 = OpTypePointer Input %u2\n%to_uint = OpTypePointer Input %uint\n\
     %to_float = OpTypePointer Output %float\n%own = OpTypePointer Private %float\n%size = OpVariable %to_u2 Input\n\
     %unit = OpVariable %to_uint Input\n%depth = OpVariable %to_float Output\n%held = OpVariable %own Private\n\
     %one = OpConstant %float 1\n%main = OpFunction %void None %fn\n%entry = OpLabel\nOpStore %held %one\n\
     OpStore %depth %one\nOpReturn\n\
     OpFunctionEnd\n";

#[test]
fn built_in_variables_have_their_types_modes_and_storage() {
    rows(
        FRAGMENT,
        &[
            (
                "to_u2 = OpTypePointer Input %u2",
                "to_u2 = OpTypePointer Input %uint",
                "FragSizeEXT: has another type",
            ),
            (
                "to_uint = OpTypePointer Input %uint",
                "to_uint = OpTypePointer Input %float",
                "SMIDNV: has another type",
            ),
            (
                "OpExecutionMode %main DepthReplacing\n",
                "",
                "needs the execution mode DepthReplacing",
            ),
            (
                "BuiltIn FragSizeEXT\n",
                "BuiltIn FragSizeEXT\nOpDecorate %size Location 0\n",
                "has no location",
            ),
            (
                "%depth BuiltIn FragDepth\n",
                "%depth BuiltIn FragDepth\nOpDecorate %held BuiltIn FragCoord\n",
                "FragCoord: the execution model has none in this storage class",
            ),
            // A warning.
            (
                "DepthReplacing\n",
                "DepthReplacing\nOpExecutionMode %main DepthReplacing\n",
                "",
            ),
        ],
    );
}

const VERTEX: &str = "OpCapability Shader\nOpCapability ShaderLayer\nOpMemoryModel Logical GLSL450\n\
     OpEntryPoint Vertex %main \"main\" %layer\nOpDecorate %layer BuiltIn Layer\n%void = OpTypeVoid\n\
     %fn = OpTypeFunction %void\n%int = OpTypeInt 32 1\n%to = OpTypePointer Output %int\n%layer = OpVariable %to Output\n\
     %main = OpFunction %void None %fn\n%entry = OpLabel\nOpReturn\nOpFunctionEnd\n";

#[test]
fn a_vertex_shader_has_a_layer_by_a_capability() {
    rows(
        VERTEX,
        &[
            (
                "OpCapability ShaderLayer\n",
                "OpCapability Geometry\n",
                "need a capability to write it",
            ),
            (
                "OpCapability ShaderLayer\n",
                "OpCapability ShaderViewportIndex\nOpCapability Geometry\n",
                "need a capability",
            ),
        ],
    );
}

const COMPUTE: &str = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\" %shared\n\
     OpDecorate %size BuiltIn WorkgroupSize\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n\
     %u2 = OpTypeVector %uint 2\n%u3 = OpTypeVector %uint 3\n%float = OpTypeFloat 32\n%to = OpTypePointer Workgroup %uint\n\
     %shared = OpVariable %to Workgroup\n%two = OpConstant %uint 2\n%semantics = OpConstant %uint 264\n\
     %size = OpConstantComposite %u3 %two %two %two\n%main = OpFunction %void None %fn\n%entry = OpLabel\n\
     %x = OpCompositeExtract %uint %size 0\nOpControlBarrier %two %two %semantics\n%call = OpFunctionCall %void %helper\n\
     OpReturn\nOpFunctionEnd\n%helper = OpFunction %void None %fn\n%body = OpLabel\n\
     %old = OpAtomicIAdd %uint %shared %two %semantics %two\nOpReturn\nOpFunctionEnd\n";

#[test]
fn workgroups_belong_to_models_that_have_them() {
    rows(
        COMPUTE,
        &[
            ("%u3 %two %two %two", "%u2 %two %two", "WorkgroupSize is not three"),
            ("GLCompute", "Vertex", "the execution model has no WorkgroupSize"),
            ("GLCompute", "Vertex", "the storage class Workgroup"),
            ("GLCompute", "Vertex", "is not of execution model 0"),
            ("%call = OpFunctionCall %void %helper\n", "", ""),
            (
                "%body = OpLabel\n",
                "%body = OpLabel\n%again = OpFunctionCall %void %helper\n",
                "call each other in a cycle",
            ),
            ("OpControlBarrier %two %two %semantics\n", "", ""),
        ],
    );
}

const BLOCKS: &str = "OpCapability Shader\nOpCapability WorkgroupMemoryExplicitLayoutKHR\n\
     OpExtension \"SPV_KHR_workgroup_memory_explicit_layout\"\nOpMemoryModel Logical GLSL450\n\
     OpEntryPoint GLCompute %main \"main\" %a %b\nOpExecutionMode %main LocalSize 1 1 1\nOpDecorate %block Block\n\
     OpMemberDecorate %block 0 Offset 0\nOpDecorate %a Aliased\nOpDecorate %b Aliased\n%void = OpTypeVoid\n\
     %fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%block = OpTypeStruct %uint\n%to = OpTypePointer Workgroup %block\n\
     %to_word = OpTypePointer Workgroup %uint\n%a = OpVariable %to Workgroup\n%b = OpVariable %to Workgroup\n\
     %main = OpFunction %void None %fn\n%entry = OpLabel\nOpReturn\nOpFunctionEnd\n";

#[test]
fn blocks_of_a_workgroup_have_a_layout_and_alias() {
    rows(
        BLOCKS,
        &[
            (
                "OpDecorate %b Aliased\n",
                "",
                "several blocks of a workgroup are Aliased",
            ),
            (
                "%b = OpVariable %to ",
                "%b = OpVariable %to_word ",
                "are blocks, or none is",
            ),
            ("Offset 0", "Offset 1", "is not aligned to 4"),
            ("OpMemberDecorate %block 0 Offset 0\n", "", "has no Offset"),
        ],
    );
}

const RAYS: &str = "OpCapability RayTracingKHR\nOpExtension \"SPV_KHR_ray_tracing\"\nOpMemoryModel Logical GLSL450\n\
     OpEntryPoint ClosestHitKHR %main \"main\" %payload %hit\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
     %float = OpTypeFloat 32\n%to_payload = OpTypePointer IncomingRayPayloadKHR %float\n\
     %to_hit = OpTypePointer HitAttributeKHR %float\n%payload = OpVariable %to_payload IncomingRayPayloadKHR\n\
     %hit = OpVariable %to_hit HitAttributeKHR\n%main = OpFunction %void None %fn\n%entry = OpLabel\n\
     %x = OpLoad %float %hit\nOpStore %payload %x\nOpReturn\nOpFunctionEnd\n";

#[test]
fn storage_classes_of_rays_belong_to_their_models() {
    rows(
        RAYS,
        &[
            ("ClosestHitKHR", "MissKHR", "the storage class HitAttributeKHR"),
            (
                "ClosestHitKHR",
                "RayGenerationKHR",
                "the storage class IncomingRayPayloadKHR",
            ),
            ("ClosestHitKHR", "AnyHitKHR", ""),
        ],
    );
}

const JOINS: &str = "OpCapability Shader\nOpExtension \"SPV_KHR_maximal_reconvergence\"\nOpMemoryModel Logical GLSL450\n\
     OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
     OpExecutionMode %main MaximallyReconvergesKHR\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%bool = OpTypeBool\n\
     %yes = OpConstantTrue %bool\n%main = OpFunction %void None %fn\n%entry = OpLabel\n%call = OpFunctionCall %void %helper\n\
     OpReturn\nOpFunctionEnd\n%helper = OpFunction %void None %fn\n%body = OpLabel\nOpSelectionMerge %join None\n\
     OpBranchConditional %yes %left %right\n%left = OpLabel\nOpSelectionMerge %inner None\n\
     OpBranchConditional %yes %case %inner\n%case = OpLabel\nOpBranch %inner\n%inner = OpLabel\nOpBranch %join\n\
     %right = OpLabel\nOpBranch %join\n%join = OpLabel\nOpReturn\nOpFunctionEnd\n";

#[test]
fn maximal_reconvergence_limits_where_blocks_join() {
    rows(
        JOINS,
        &[
            (
                "OpSelectionMerge %inner None\nOpBranchConditional %yes %case %inner",
                "OpBranch %case",
                "",
            ),
            // %inner ends both ways, and only %join merges.
            (
                "OpSelectionMerge %inner None\nOpBranchConditional %yes %case %inner\n%case = OpLabel\nOpBranch %inner\n\
                 %inner = OpLabel\nOpBranch %join\n%right = OpLabel\nOpBranch %join\n%join = OpLabel\nOpReturn",
                "OpBranch %inner\n%right = OpLabel\nOpBranch %inner\n%inner = OpLabel\nOpBranch %join\n%join = OpLabel\nOpReturn",
                "several blocks branch here",
            ),
        ],
    );
}

const FAST: &str = "OpCapability Shader\nOpCapability FloatControls2\nOpExtension \"SPV_KHR_float_controls2\"\n\
     OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
     OpExecutionModeId %main FPFastMathDefault %float %bits\nOpDecorate %sum FPFastMathMode AllowContract|AllowReassoc|AllowTransform\n\
     %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%float = OpTypeFloat 32\n%uint = OpTypeInt 32 0\n\
     %bits = OpConstant %uint 0x70000\n%one = OpConstant %float 1\n%main = OpFunction %void None %fn\n%entry = OpLabel\n\
     %sum = OpFAdd %float %one %one\nOpReturn\nOpFunctionEnd\n";

#[test]
fn fast_math_has_bits_that_belong_together() {
    rows(
        FAST,
        &[
            (
                "AllowContract|AllowReassoc|AllowTransform",
                "AllowReassoc|AllowTransform",
                "AllowTransform needs",
            ),
            (
                "FPFastMathMode AllowContract|AllowReassoc|AllowTransform",
                "NoContraction",
                "excludes the decorations",
            ),
            (
                "AllowContract|AllowReassoc|AllowTransform",
                "Fast",
                "excludes the decorations",
            ),
            ("FPFastMathDefault %float", "FPFastMathDefault %uint", "is not a float"),
            ("%uint 0x70000", "%uint 0x40000", "AllowTransform needs"),
            ("%uint 0x70000", "%uint 16", "are not those of a default"),
            (
                "%float %bits\n",
                "%float %bits\nOpExecutionModeId %main FPFastMathDefault %float %bits\n",
                "the mode twice",
            ),
            ("OpConstant %uint", "OpSpecConstant %uint", "are not a constant"),
        ],
    );
}

#[test]
fn more_than_the_universal_limits_is_an_error() {
    let head = "OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n%void = OpTypeVoid\n\
                %uint = OpTypeInt 32 0\n%fn = OpTypeFunction %void\n";
    let says = |text: String, part: &str| {
        let found = finding(&words_of(&text)).unwrap_or_default();
        assert!(
            found.contains(part) && part.is_empty() == found.is_empty(),
            "{part}: {found}"
        );
    };
    let parameters = |count: usize| format!("{head}%many = OpTypeFunction %void{}\n", " %uint".repeat(count));
    says(parameters(255), "");
    says(parameters(256), "255 parameters");
    let nested = |count: usize| {
        let mut text = format!("{head}%s0 = OpTypeStruct %uint\n");
        for n in 1..count {
            text += &format!("%s{n} = OpTypeStruct %uint %s{}\n", n - 1);
        }
        text
    };
    says(nested(255), "");
    says(nested(256), "255 deep");
    let globals = |count: usize| {
        let variables: String = (0..count)
            .map(|n| format!("%v{n} = OpVariable %to Private\n"))
            .collect();
        format!("{head}%to = OpTypePointer Private %uint\n{variables}")
    };
    says(globals(65535), "");
    says(globals(65536), "65535 variables");
    let constructs = |count: usize| {
        let mut text = format!(
            "{head}%bool = OpTypeBool\n%yes = OpConstantTrue %bool\n%f = OpFunction %void None %fn\n%b0 = OpLabel\n"
        );
        for n in 0..count {
            text += &format!(
                "OpSelectionMerge %m{n} None\nOpBranchConditional %yes %b{} %m{n}\n%b{0} = OpLabel\n",
                n + 1
            );
        }
        for n in (0..count).rev() {
            text += &format!("OpBranch %m{n}\n%m{n} = OpLabel\n");
        }
        text + "OpReturn\nOpFunctionEnd\n"
    };
    says(constructs(1023), "");
    says(constructs(1024), "1023 constructs");
}
