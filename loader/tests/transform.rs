//! Passes over modules: the output is valid, and contains the expected instructions.

use skrymir_loader::spirv::{
    for_wgsl, parse, print, split_interface,
    transform::{for_hlsl, narrow_exponents},
    validate, with_signs,
};

/// The text of a module after a pass; both are valid.
fn after(text: &str, pass: fn(&[u32]) -> skrymir_loader::Result<Vec<u32>>) -> String {
    let valid = |words: &[u32]| {
        let report = validate(words);
        assert!(report.is_valid(), "{report:?}\n{}", print(words).unwrap());
    };
    let words = parse(text).unwrap();
    valid(&words);
    let changed = pass(&words).unwrap();
    valid(&changed);
    assert_eq!(pass(&changed).unwrap(), changed, "the pass is idempotent");
    print(&changed).unwrap()
}

/// The text of a compute shader.
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
    let out = after(&text, for_wgsl);
    assert!(out.contains("OpTypeStruct %float %uint %uint %uint"), "{out}");
    // Each access chain and the extract have one more index.
    let indices = |line: &str| line.split_whitespace().count();
    let chains: Vec<usize> = out
        .lines()
        .filter(|line| line.contains("Chain %_ptr_Uniform_float"))
        .map(indices)
        .collect();
    assert_eq!(chains, [8, 7], "{out}");
    assert!(
        out.lines()
            .any(|line| line.contains("OpCompositeExtract") && line.ends_with(" 1 0")),
        "{out}"
    );
}

#[test]
fn matrices_keep_their_layout_in_padded_elements() {
    let text = |major: &str, stride: u32| {
        compute(
            "",
            " %var",
            "OpExecutionMode %main LocalSize 1 1 1",
            &format!(
                "OpDecorate %inner ArrayStride 48
OpDecorate %outer ArrayStride 144
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 0 {major}
OpMemberDecorate %block 0 MatrixStride {stride}
OpDecorate %var DescriptorSet 0
OpDecorate %var Binding 0
%void = OpTypeVoid
%type = OpTypeFunction %void
%float = OpTypeFloat 32
%column = OpTypeVector %float 3
%matrix = OpTypeMatrix %column 2
%uint = OpTypeInt 32 0
%one = OpConstant %uint 1
%three = OpConstant %uint 3
%inner = OpTypeArray %matrix %three
%outer = OpTypeArray %inner %three
%block = OpTypeStruct %outer
%to_block = OpTypePointer Uniform %block
%to_column = OpTypePointer Uniform %column
%none = OpConstant %uint 0
%var = OpVariable %to_block Uniform
%main = OpFunction %void None %type
%start = OpLabel
%place = OpAccessChain %to_column %var %none %one %one %one
%value = OpLoad %column %place
OpReturn
OpFunctionEnd
"
            ),
        )
    };
    let padded = after(&text("ColMajor", 16), for_wgsl);
    assert!(
        padded.contains("OpTypeStruct %mat2v3float %uint %uint %uint %uint"),
        "{padded}"
    );
    let strides = |text: &str, stride: u32| text.matches(&format!(" 0 MatrixStride {stride}\n")).count();
    assert_eq!(strides(&padded, 16), 1, "{padded}");
    // Rows, and columns further apart, make another size.
    for (major, stride) in [("RowMajor", 16), ("ColMajor", 24)] {
        let kept = after(&text(major, stride), for_wgsl);
        assert_eq!(strides(&kept, stride), 1, "{kept}");
        assert!(!kept.contains("OpTypeStruct %mat2v3float"), "{kept}");
    }
}

#[test]
fn fetches_have_levels_and_sizes_are_numbers_in_wgsl() {
    let text = "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %image
OpExecutionModeId %main LocalSizeId %two %one %one
%file = OpString \"a.comp\"
OpDecorate %image DescriptorSet 0
OpDecorate %image Binding 0
OpLine %file 1 1
%void = OpTypeVoid
%type = OpTypeFunction %void
%uint = OpTypeInt 32 0
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%uvec2 = OpTypeVector %uint 2
%float = OpTypeFloat 32
%vec4 = OpTypeVector %float 4
%plain = OpTypeImage %float 2D 0 0 0 1 Unknown
%to_plain = OpTypePointer UniformConstant %plain
OpLine %file 2 1
%image = OpVariable %to_plain UniformConstant
%main = OpFunction %void None %type
%label = OpLabel
%at = OpCompositeConstruct %uvec2 %one %two
%read = OpLoad %plain %image
OpLine %file 3 1
%a = OpImageFetch %vec4 %read %at
%b = OpImageFetch %vec4 %read %at Lod %one
OpReturn
OpFunctionEnd
";
    let mut words = parse(text).unwrap();
    words[1] = 0x0001_0400;
    let out = after(&print(&words).unwrap(), for_wgsl);
    assert!(out.contains("OpExecutionMode %1 LocalSize 2 1 1"), "{out}");
    assert_eq!(out.matches("OpLine").count(), 1, "{out}");
    assert!(out.contains(" Lod %int_0\n") && out.contains(" Lod %uint_1\n"), "{out}");
    assert_eq!(out.matches("OpBitcast %v2int").count(), 2, "{out}");
}

#[test]
fn elections_compare_lanes() {
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
    let out = print(&for_wgsl(&words).unwrap()).unwrap();
    assert!(!out.contains("NonUniformElect"), "{out}");
    assert!(
        out.contains("OpGroupNonUniformBroadcastFirst") && out.contains("OpIEqual"),
        "{out}"
    );
    assert!(out.contains("BuiltIn SubgroupLocalInvocationId"), "{out}");
    let changed = for_wgsl(&words).unwrap();
    let report = validate(&changed);
    assert!(report.is_valid(), "{report:?}");
}

#[test]
fn workgroups_with_subgroup_ids_have_one_dimension() {
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
    assert!(validate(&words).is_valid());
    let changed = for_wgsl(&words).unwrap();
    let out = print(&changed).unwrap();
    let report = validate(&changed);
    assert!(report.is_valid(), "{report:?}\n{out}");
    assert!(out.contains("LocalSize 24 1 1"), "{out}");
    assert!(
        out.contains("BuiltIn LocalInvocationIndex") && out.contains("BuiltIn WorkgroupId"),
        "{out}"
    );
    assert!(!out.contains("BuiltIn GlobalInvocationId"), "{out}");
}

#[test]
fn blocks_and_arrays_between_stages_are_split() {
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
    let out = after(text, split_interface);
    for location in [1, 2, 3, 4, 5] {
        assert_eq!(out.matches(&format!("Location {location}\n")).count(), 1, "{out}");
    }
    assert_eq!(out.matches(" Flat\n").count(), 1, "{out}");
    // One input part is loaded and one output part stored per location.
    assert_eq!(out.matches("OpStore").count(), 1 + 1 + 3, "{out}");
}

#[test]
fn integers_are_flat_and_terminations_are_kills() {
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
    assert!(after(vertex, for_wgsl).contains(" Flat\n"));
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
    let out = after(fragment, for_wgsl);
    assert!(out.contains("OpKill") && !out.contains("terminate"), "{out}");
}

#[test]
fn lengths_of_arrays_are_constants_and_other_operations_move_into_functions() {
    let text = compute(
        "",
        "",
        "OpExecutionMode %main LocalSize 1 1 1",
        "OpDecorate %length SpecId 1
OpDecorate %scale SpecId 2
%void = OpTypeVoid
%type = OpTypeFunction %void
%uint = OpTypeInt 32 0
%two = OpConstant %uint 2
%length = OpSpecConstant %uint 3
%scale = OpSpecConstant %uint 5
%twice = OpSpecConstantOp %uint IMul %length %two
%scaled = OpSpecConstantOp %uint IAdd %scale %two
%array = OpTypeArray %uint %twice
%to_array = OpTypePointer Function %array
%to_uint = OpTypePointer Function %uint
%main = OpFunction %void None %type
%start = OpLabel
%var = OpVariable %to_array Function
%at = OpAccessChain %to_uint %var %two
OpStore %at %scaled
OpReturn
OpFunctionEnd
",
    );
    let out = after(&text, for_wgsl);
    assert!(!out.contains("OpSpecConstantOp") && !out.contains("SpecId 1"), "{out}");
    assert!(out.contains("SpecId 2") && out.contains("OpConstant %uint 6"), "{out}");
    let function = out.split_once("OpFunction ").expect("a function").1;
    assert!(function.contains("OpIAdd"), "{out}");
}

#[test]
fn branches_out_of_a_switch_end_at_its_merge_block() {
    let text = compute(
        "",
        "",
        "OpExecutionMode %main LocalSize 1 1 1",
        "%void = OpTypeVoid
%type = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%main = OpFunction %void None %type
%start = OpLabel
OpBranch %head
%head = OpLabel
%n = OpPhi %uint %zero %start %next %again
OpLoopMerge %behind %again None
OpBranch %body
%body = OpLabel
OpSelectionMerge %merge None
OpSwitch %n %other 1 %leaves
%leaves = OpLabel
OpBranch %behind
%other = OpLabel
%sum = OpIAdd %uint %n %one
OpBranch %merge
%merge = OpLabel
OpBranch %again
%again = OpLabel
%next = OpIAdd %uint %sum %one
OpBranch %head
%behind = OpLabel
OpReturn
OpFunctionEnd
",
    );
    let out = after(&text, for_wgsl);
    // The switch's only other case has a value that is used after it.
    assert!(out.contains("OpStore") && out.contains("OpLoad"), "{out}");
    let choice = out.lines().filter(|line| line.contains("OpBranchConditional")).count();
    assert_eq!(choice, 1, "{out}");
}

#[test]
fn close_elements_are_words_of_vectors_in_uniform_buffers() {
    let text = compute(
        "",
        "",
        "OpExecutionMode %main LocalSize 1 1 1",
        "OpDecorate %array ArrayStride 12
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %var DescriptorSet 0
OpDecorate %var Binding 0
%void = OpTypeVoid
%type = OpTypeFunction %void
%float = OpTypeFloat 32
%vec3 = OpTypeVector %float 3
%uint = OpTypeInt 32 0
%zero = OpConstant %uint 0
%two = OpConstant %uint 2
%four = OpConstant %uint 4
%array = OpTypeArray %vec3 %four
%block = OpTypeStruct %array
%to_block = OpTypePointer Uniform %block
%to_vec3 = OpTypePointer Uniform %vec3
%var = OpVariable %to_block Uniform
%main = OpFunction %void None %type
%start = OpLabel
%element = OpAccessChain %to_vec3 %var %zero %two
%whole = OpLoad %vec3 %element
OpReturn
OpFunctionEnd
",
    );
    let out = print(&for_wgsl(&parse(&text).unwrap()).unwrap()).unwrap();
    assert!(
        out.contains("ArrayStride 16") && out.contains("OpTypeVector %float 4"),
        "{out}"
    );
    assert_eq!(out.matches("OpLoad %float").count(), 3, "{out}");
    assert!(out.contains("OpCompositeConstruct %v3float"), "{out}");
}

#[test]
fn operations_get_operands_of_their_signedness() {
    let text = compute(
        "",
        " %cell",
        "OpExecutionMode %main LocalSize 1 1 1",
        "%void = OpTypeVoid
%type = OpTypeFunction %void
%int = OpTypeInt 32 1
%uint = OpTypeInt 32 0
%pointer = OpTypePointer Private %int
%cell = OpVariable %pointer Private
%main = OpFunction %void None %type
%label = OpLabel
%a = OpLoad %int %cell
%q = OpShiftRightLogical %int %a %a
%s = OpSDiv %int %q %a
OpStore %cell %s
OpReturn
OpFunctionEnd
",
    );
    let after = after(&text, with_signs);
    assert_eq!(
        after.matches("OpBitcast").count(),
        2,
        "an operand and the result:\n{after}"
    );
    assert!(after.contains("OpShiftRightLogical %uint"), "{after}");
}

#[test]
fn atomic_comparisons_of_the_other_signedness_are_unsupported() {
    let text = compute(
        "",
        "",
        "OpExecutionMode %main LocalSize 1 1 1",
        "%void = OpTypeVoid
%type = OpTypeFunction %void
%uint = OpTypeInt 32 0
%one = OpConstant %uint 1
%none = OpConstant %uint 0
%pointer = OpTypePointer Workgroup %uint
%cell = OpVariable %pointer Workgroup
%main = OpFunction %void None %type
%label = OpLabel
%old = OpAtomicSMax %uint %cell %one %none %one
OpReturn
OpFunctionEnd
",
    );
    let error = with_signs(&parse(&text).unwrap()).unwrap_err();
    assert_eq!(error.kind(), skrymir_loader::ErrorKind::Unsupported);
    assert!(
        error
            .to_string()
            .contains("OpAtomicSMax in memory of unsigned integers (at offset 0x"),
        "{error}"
    );
    let same = text.replace("SMax", "UMax");
    assert!(with_signs(&parse(&same).unwrap()).is_ok());
}

#[test]
fn early_tests_with_effects_are_unsupported() {
    let fragment = |modes: &str, code: &str| {
        format!(
            "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main \"main\"
OpExecutionMode %main OriginUpperLeft
{modes}%void = OpTypeVoid
%type = OpTypeFunction %void
%main = OpFunction %void None %type
%label = OpLabel
{code}
OpFunctionEnd
"
        )
    };
    let early = "OpExecutionMode %main EarlyFragmentTests\n";
    let outcome = |text: String| for_wgsl(&parse(&text).unwrap()).map_err(|error| error.to_string());
    assert!(outcome(fragment("", "OpKill")).is_ok());
    assert!(outcome(fragment(early, "OpReturn")).is_ok());
    let error = outcome(fragment(early, "OpKill")).unwrap_err();
    assert!(
        error.contains("EarlyFragmentTests of a shader that discards fragments (at offset 0x"),
        "{error}"
    );
}

#[test]
fn stores_of_arrays_to_buffers_are_stores_of_elements() {
    let text = compute(
        "",
        " %var",
        "OpExecutionMode %main LocalSize 1 1 1",
        "OpDecorate %inner ArrayStride 4
OpDecorate %outer ArrayStride 12
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %var DescriptorSet 0
OpDecorate %var Binding 0
%void = OpTypeVoid
%type = OpTypeFunction %void
%uint = OpTypeInt 32 0
%two = OpConstant %uint 2
%three = OpConstant %uint 3
%none = OpConstant %uint 0
%inner = OpTypeArray %uint %three
%outer = OpTypeArray %inner %two
%block = OpTypeStruct %outer
%pointer = OpTypePointer StorageBuffer %block
%to_outer = OpTypePointer StorageBuffer %outer
%zeros = OpConstantNull %outer
%var = OpVariable %pointer StorageBuffer
%main = OpFunction %void None %type
%label = OpLabel
%place = OpAccessChain %to_outer %var %none
OpStore %place %zeros
OpReturn
OpFunctionEnd
",
    );
    let changed = after(&text, for_hlsl);
    assert_eq!(changed.matches("OpStore").count(), 6, "{changed}");
    assert_eq!(changed.matches("OpCompositeExtract").count(), 8, "{changed}");
    // A copy is a load and such stores; each half keeps its own memory operands.
    for (operands, loaded, stored) in [
        ("", "", ""),
        (" Volatile", " Volatile", " Volatile"),
        (" Aligned 4 Volatile|Aligned 8", " Volatile|Aligned 8", " Aligned 4"),
    ] {
        let local = "%local = OpTypePointer Function %outer\n%main = ";
        let text = text.replace("%main = ", local);
        let text = text.replace(
            "%label = OpLabel\n",
            "%label = OpLabel\n%source = OpVariable %local Function\n",
        );
        let copy = text.replace(
            "OpStore %place %zeros",
            &format!("OpCopyMemory %place %source{operands}"),
        );
        let mut words = parse(&copy).unwrap();
        words[1] = 0x0001_0400;
        let changed = after(&print(&words).unwrap(), for_hlsl);
        assert!(!changed.contains("OpCopyMemory"), "{changed}");
        // What is behind the two or three operands.
        let access = |name: &str, operands: usize| -> Vec<String> {
            let lines = changed.lines().filter(|line| line.contains(name));
            let behind = lines.map(|line| {
                line.split_whitespace()
                    .skip_while(|word| *word != name)
                    .skip(1 + operands)
            });
            behind
                .map(|words| words.map(|word| format!(" {word}")).collect())
                .collect()
        };
        assert_eq!(access("OpLoad", 2), [loaded], "{changed}");
        assert_eq!(access("OpStore", 2), [stored; 6], "{changed}");
    }
}

#[test]
fn exponents_have_32_bits() {
    let text = |integers: &str, count: u32| {
        let all = ["%exponent", "%exponent", "%exponent"][..count as usize].join(" ");
        let values = ["%one", "%one", "%one"][..count as usize].join(" ");
        compute(
            "OpCapability Int64\n",
            "",
            "OpExecutionMode %main LocalSize 1 1 1",
            &format!(
                "%void = OpTypeVoid
%type = OpTypeFunction %void
%float = OpTypeFloat 32
%integer = OpTypeInt {integers}
%floats = OpTypeVector %float {count}
%integers = OpTypeVector %integer {count}
%one = OpConstant %float 1
%exponent = OpConstant %integer 4294967297
%ones = OpConstantComposite %floats {values}
%exponents = OpConstantComposite %integers {all}
%main = OpFunction %void None %type
%label = OpLabel
%scalar = OpExtInst %float %glsl Ldexp %one %exponent
%vector = OpExtInst %floats %glsl Ldexp %ones %exponents
OpReturn
OpFunctionEnd
"
            ),
        )
        .replace(
            "OpMemoryModel",
            "%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel",
        )
    };
    for (integers, casts) in [("64 1", 0), ("64 0", 2)] {
        let after = after(&text(integers, 3), narrow_exponents);
        assert_eq!(after.matches("SClamp").count(), 2, "{after}");
        assert_eq!(after.matches("OpSConvert").count(), 2, "{after}");
        assert_eq!(after.matches("OpBitcast").count(), casts, "{after}");
    }
}
