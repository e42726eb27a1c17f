//! Passes that say a module in another way: what comes out is valid by our rules, and has what it is to have.

use skrymir_loader::spirv::{Grammar, for_wgsl, parse, print, split_interface, validate};

/// The text of a module behind a pass; both are valid.
fn behind(text: &str, pass: fn(&[u32]) -> skrymir_loader::Result<Vec<u32>>) -> String {
    let valid = |words: &[u32]| {
        let report = validate(Grammar::builtin(), words);
        assert!(report.is_valid(), "{report:?}\n{}", print(words).unwrap());
    };
    let words = parse(text).unwrap();
    valid(&words);
    let changed = pass(&words).unwrap();
    valid(&changed);
    assert_eq!(pass(&changed).unwrap(), changed, "a second time changes nothing");
    print(&changed).unwrap()
}

/// What compute shaders of this page begin with, behind the capability `Shader`.
fn compute(capabilities: &str, interface: &str, modes: &str, rest: &str) -> String {
    format!(
        "OpCapability Shader\n{capabilities}OpMemoryModel Logical GLSL450\n\
         OpEntryPoint GLCompute %main \"main\"{interface}\n{modes}\n{rest}"
    )
}

#[test]
fn elements_are_padded_to_their_stride() {
    let text = compute(
        "",
        " %var",
        "OpExecutionMode %main LocalSize 1 1 1",
        "OpDecorate %array ArrayStride 16
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %var DescriptorSet 0
OpDecorate %var Binding 0
%void = OpTypeVoid
%type = OpTypeFunction %void
%float = OpTypeFloat 32
%int = OpTypeInt 32 1
%zero = OpConstant %int 0
%two = OpConstant %int 2
%uint = OpTypeInt 32 0
%three = OpConstant %uint 3
%array = OpTypeArray %float %three
%block = OpTypeStruct %array
%to_block = OpTypePointer Uniform %block
%to_array = OpTypePointer Uniform %array
%to_float = OpTypePointer Uniform %float
%var = OpVariable %to_block Uniform
%main = OpFunction %void None %type
%start = OpLabel
%one_step = OpAccessChain %to_float %var %zero %two
%a = OpLoad %float %one_step
%way = OpAccessChain %to_array %var %zero
%two_steps = OpAccessChain %to_float %way %two
%whole = OpLoad %array %way
%b = OpCompositeExtract %float %whole 1
OpReturn
OpFunctionEnd
",
    );
    let told = behind(&text, for_wgsl);
    assert!(told.contains("OpTypeStruct %float %uint %uint %uint"), "{told}");
    // Both ways by pointers have one index more, and so has the one by value.
    let indices = |line: &str| line.split_whitespace().count();
    let chains: Vec<usize> = told
        .lines()
        .filter(|line| line.contains("Chain %_ptr_Uniform_float"))
        .map(indices)
        .collect();
    assert_eq!(chains, [8, 7], "{told}");
    assert!(
        told.lines()
            .any(|line| line.contains("OpCompositeExtract") && line.ends_with(" 1 0")),
        "{told}"
    );
}

#[test]
fn a_lane_is_elected_by_comparison() {
    let text = compute(
        "OpCapability GroupNonUniform\n",
        "",
        "OpExecutionMode %main LocalSize 8 1 1",
        "%void = OpTypeVoid
%type = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%scope = OpConstant %uint 3
%main = OpFunction %void None %type
%start = OpLabel
%elected = OpGroupNonUniformElect %bool %scope
OpReturn
OpFunctionEnd
",
    );
    let mut words = parse(&text).unwrap();
    words[1] = 0x0001_0300;
    let told = print(&for_wgsl(&words).unwrap()).unwrap();
    assert!(!told.contains("NonUniformElect"), "{told}");
    assert!(
        told.contains("OpGroupNonUniformBroadcastFirst") && told.contains("OpIEqual"),
        "{told}"
    );
    assert!(told.contains("BuiltIn SubgroupLocalInvocationId"), "{told}");
    let changed = for_wgsl(&words).unwrap();
    let report = validate(Grammar::builtin(), &changed);
    assert!(report.is_valid(), "{report:?}");
}

#[test]
fn workgroups_with_subgroups_stand_in_a_row() {
    let text = compute(
        "OpCapability GroupNonUniform\n",
        " %lane %place",
        "OpExecutionMode %main LocalSize 4 3 2",
        "OpDecorate %lane BuiltIn SubgroupLocalInvocationId
OpDecorate %place BuiltIn GlobalInvocationId
%void = OpTypeVoid
%type = OpTypeFunction %void
%uint = OpTypeInt 32 0
%uvec3 = OpTypeVector %uint 3
%to_uint = OpTypePointer Input %uint
%to_uvec3 = OpTypePointer Input %uvec3
%lane = OpVariable %to_uint Input
%place = OpVariable %to_uvec3 Input
%zero = OpConstant %uint 0
%main = OpFunction %void None %type
%start = OpLabel
%n = OpLoad %uint %lane
%at = OpAccessChain %to_uint %place %zero
%x = OpLoad %uint %at
OpReturn
OpFunctionEnd
",
    );
    let mut words = parse(&text).unwrap();
    words[1] = 0x0001_0300;
    assert!(validate(Grammar::builtin(), &words).is_valid());
    let changed = for_wgsl(&words).unwrap();
    let told = print(&changed).unwrap();
    let report = validate(Grammar::builtin(), &changed);
    assert!(report.is_valid(), "{report:?}\n{told}");
    assert!(told.contains("LocalSize 24 1 1"), "{told}");
    assert!(
        told.contains("BuiltIn LocalInvocationIndex") && told.contains("BuiltIn WorkgroupId"),
        "{told}"
    );
    assert!(!told.contains("BuiltIn GlobalInvocationId"), "{told}");
}

#[test]
fn blocks_and_arrays_between_stages_are_taken_apart() {
    let text = "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main \"main\" %in %out
OpDecorate %in Location 1
OpDecorate %block Block
OpMemberDecorate %block 0 Location 3
OpMemberDecorate %block 1 Location 5
OpMemberDecorate %block 1 Flat
%void = OpTypeVoid
%type = OpTypeFunction %void
%float = OpTypeFloat 32
%vec4 = OpTypeVector %float 4
%uint = OpTypeInt 32 0
%two = OpConstant %uint 2
%array = OpTypeArray %vec4 %two
%block = OpTypeStruct %array %uint
%to_in = OpTypePointer Input %array
%to_out = OpTypePointer Output %block
%to_part = OpTypePointer Output %vec4
%in_part = OpTypePointer Input %vec4
%in = OpVariable %to_in Input
%out = OpVariable %to_out Output
%int = OpTypeInt 32 1
%zero = OpConstant %int 0
%one = OpConstant %int 1
%main = OpFunction %void None %type
%start = OpLabel
%from = OpAccessChain %in_part %in %one
%value = OpLoad %vec4 %from
%to = OpAccessChain %to_part %out %zero %one
OpStore %to %value
OpReturn
OpFunctionEnd
";
    let told = behind(text, split_interface);
    for location in [1, 2, 3, 4, 5] {
        assert_eq!(told.matches(&format!("Location {location}\n")).count(), 1, "{told}");
    }
    assert_eq!(told.matches(" Flat\n").count(), 1, "{told}");
    // One part of an input is loaded, one of an output stored, for each location.
    assert_eq!(told.matches("OpStore").count(), 1 + 1 + 3, "{told}");
}

#[test]
fn integers_are_flat_and_an_invocation_ends_by_kill() {
    let vertex = "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main \"main\" %out
OpDecorate %out Location 0
%void = OpTypeVoid
%type = OpTypeFunction %void
%uint = OpTypeInt 32 0
%to_out = OpTypePointer Output %uint
%out = OpVariable %to_out Output
%main = OpFunction %void None %type
%start = OpLabel
OpReturn
OpFunctionEnd
";
    assert!(behind(vertex, for_wgsl).contains(" Flat\n"));
    let fragment = "OpCapability Shader
OpExtension \"SPV_KHR_terminate_invocation\"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main \"main\"
OpExecutionMode %main OriginUpperLeft
%void = OpTypeVoid
%type = OpTypeFunction %void
%main = OpFunction %void None %type
%start = OpLabel
OpTerminateInvocation
OpFunctionEnd
";
    let told = behind(fragment, for_wgsl);
    assert!(told.contains("OpKill") && !told.contains("terminate"), "{told}");
}
