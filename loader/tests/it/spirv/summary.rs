//! The summary of a module has the types and sizes that its declarations have.

use loader::spirv::{Grammar, asm, summary};

const HEAD: &str = "OpCapability Shader\nOpExtension \"SPV_KHR_16bit_storage\"\n%glsl = OpExtInstImport \"GLSL.std.450\"\n\
    OpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %main \"main\" %b_in %a_in %front %colour\n\
    OpExecutionMode %main OriginUpperLeft\nOpEntryPoint GLCompute %work \"work\"\nOpExecutionMode %work LocalSize 4 2 1\n\
    OpName %block \"Block\"\nOpName %rows \"Rows\"\nOpName %named \"named\"\nOpName %a_in \"a_in\"\nOpName %size \"size\"\n\
    OpDecorate %a_in Location 1\nOpDecorate %b_in Location 0\nOpDecorate %front BuiltIn FrontFacing\n\
    OpDecorate %colour Location 0\nOpMemberDecorate %block 0 Offset 0\nOpMemberDecorate %block 1 Offset 16\n\
    OpMemberDecorate %block 1 MatrixStride 16\nOpMemberDecorate %block 1 ColMajor\nOpMemberDecorate %block 2 Offset 64\n\
    OpDecorate %three_floats ArrayStride 16\nOpMemberDecorate %rows 0 Offset 16\nOpMemberDecorate %rows 0 MatrixStride 16\n\
    OpMemberDecorate %rows 0 RowMajor\nOpDecorate %yes SpecId 3\nOpDecorate %size SpecId 5\n";

const TYPES: &str = "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%bool = OpTypeBool\n%float = OpTypeFloat 32\n\
    %double = OpTypeFloat 64\n%half = OpTypeFloat 16\n%int = OpTypeInt 32 1\n%uint = OpTypeInt 32 0\n%v2 = OpTypeVector %float 2\n\
    %v4 = OpTypeVector %float 4\n%iv3 = OpTypeVector %int 3\n%uv2 = OpTypeVector %uint 2\n%bv2 = OpTypeVector %bool 2\n\
    %dv2 = OpTypeVector %double 2\n%hv4 = OpTypeVector %half 4\n%m3x2 = OpTypeMatrix %v2 3\n%m2 = OpTypeMatrix %v2 2\n\
    %three = OpConstant %uint 3\n%yes = OpSpecConstantTrue %bool\n%no = OpSpecConstantFalse %bool\n%size = OpSpecConstant %uint 7\n\
    %sizes = OpSpecConstantComposite %uv2 %size %size\n%three_floats = OpTypeArray %float %three\n%some = OpTypeArray %v4 %size\n\
    %block = OpTypeStruct %v4 %m3x2 %three_floats\n%rows = OpTypeStruct %m3x2\n%plain = OpTypeStruct %float\n%runtime = OpTypeRuntimeArray %block\n";

/// A variable of each type, in a binding of its number, behind some declarations; with the type's text and its bytes.
const BINDINGS: &[(&str, &str, &str, Option<u32>)] = &[
    ("", "%block", "struct Block", Some(112)),
    ("", "%rows", "struct Rows", Some(48)),
    ("", "%runtime", "struct Block[]", Some(112)),
    ("", "%plain", "struct", Some(4)),
    ("%s = OpTypeSampler", "%s", "sampler", None),
    (
        "%i0 = OpTypeImage %float 2D 0 0 0 1 Unknown\n%t0 = OpTypeSampledImage %i0",
        "%t0",
        "sampler2D",
        None,
    ),
    (
        "%i1 = OpTypeImage %float 2D 1 0 0 1 Unknown\n%t1 = OpTypeSampledImage %i1",
        "%t1",
        "sampler2DShadow",
        None,
    ),
    (
        "%i2 = OpTypeImage %float 2D 1 1 0 1 Unknown\n%t2 = OpTypeSampledImage %i2",
        "%t2",
        "sampler2DArrayShadow",
        None,
    ),
    (
        "%i3 = OpTypeImage %int 2D 0 0 1 1 Unknown\n%t3 = OpTypeSampledImage %i3",
        "%t3",
        "isampler2DMS",
        None,
    ),
    (
        "%i4 = OpTypeImage %uint Cube 0 0 0 1 Unknown\n%t4 = OpTypeSampledImage %i4",
        "%t4",
        "usamplerCube",
        None,
    ),
    ("", "%i4", "utextureCube", None),
    ("", "%i1", "texture2D", None),
    (
        "%i5 = OpTypeImage %float 3D 0 0 0 2 Rgba8",
        "%i5",
        "image3D rgba8",
        None,
    ),
    (
        "%i6 = OpTypeImage %float Buffer 0 0 0 2 Unknown",
        "%i6",
        "imageBuffer",
        None,
    ),
    (
        "%i7 = OpTypeImage %float SubpassData 0 0 0 2 Unknown",
        "%i7",
        "subpassInput",
        None,
    ),
    (
        "%i8 = OpTypeImage %int SubpassData 0 0 1 2 Unknown",
        "%i8",
        "isubpassInputMS",
        None,
    ),
    (
        "%world = OpTypeAccelerationStructureKHR",
        "%world",
        "AccelerationStructureKHR",
        None,
    ),
    ("%four = OpTypeArray %t0 %three", "%four", "sampler2D[3]", None),
    ("%any = OpTypeArray %t0 %size", "%any", "sampler2D[spec]", None),
];

#[test]
fn interfaces_and_sizes_are_those_of_the_declarations() {
    let mut text = HEAD.to_owned();
    for at in 0..BINDINGS.len() {
        // From the last to the first: the summary sorts them.
        text += &format!(
            "OpDecorate %var{at} DescriptorSet {}\nOpDecorate %var{at} Binding {}\n",
            at / 10,
            at % 10
        );
    }
    text += TYPES;
    for (at, (more, ty, ..)) in BINDINGS.iter().enumerate() {
        text += &format!("{more}\n%to{at} = OpTypePointer UniformConstant {ty}\n");
    }
    for at in (0..BINDINGS.len()).rev() {
        text += &format!("%var{at} = OpVariable %to{at} UniformConstant\n");
    }
    text += "%to_push = OpTypePointer PushConstant %rows\n%named = OpVariable %to_push PushConstant\n";
    for (name, class, ty) in [
        ("a_in", "Input", "%dv2"),
        ("b_in", "Input", "%iv3"),
        ("front", "Input", "%bool"),
        ("colour", "Output", "%m2"),
    ] {
        text += &format!("%to_{name} = OpTypePointer {class} {ty}\n%{name} = OpVariable %to_{name} {class}\n");
    }
    for name in ["main", "work"] {
        text += &format!("%{name} = OpFunction %void None %fn\n%in_{name} = OpLabel\nOpReturn\nOpFunctionEnd\n");
    }
    let words = asm::assemble(Grammar::builtin(), &text, Default::default()).unwrap();
    let have = summary(&words).unwrap();
    assert_eq!((have.words, have.bound, have.functions), (words.len(), words[3], 2));
    assert_eq!(have.capabilities, ["Shader"]);
    assert_eq!(have.extensions, ["SPV_KHR_16bit_storage", "GLSL.std.450"]);
    let bindings: Vec<_> = have
        .bindings
        .iter()
        .map(|row| (row.set.unwrap() * 10 + row.binding.unwrap(), row.ty.as_str(), row.bytes))
        .collect();
    let wanted: Vec<_> = (0u32..).zip(BINDINGS).map(|(at, row)| (at, row.2, row.3)).collect();
    assert_eq!(bindings, wanted);
    assert_eq!(have.bindings[0].name.as_deref(), Some("Block"));
    assert!(have.bindings.iter().all(|row| row.class == "UniformConstant"));
    let push = &have.push_constants[..];
    assert_eq!(
        (push.len(), push[0].bytes, push[0].name.as_deref(), push[0].set),
        (1, Some(48), Some("named"), None)
    );
    let constants: Vec<_> = have
        .spec_constants
        .iter()
        .map(|row| (row.id, row.ty.as_str(), row.name.as_deref(), row.default))
        .collect();
    assert_eq!(
        constants,
        [
            (Some(3), "bool", None, Some(1)),
            (None, "bool", None, Some(0)),
            (Some(5), "uint", Some("size"), Some(7)),
            (None, "uvec2", None, None)
        ]
    );
    let [main, work] = &have.entry_points[..] else {
        panic!("{have:?}")
    };
    assert_eq!((main.model.as_str(), main.name.as_str()), ("Fragment", "main"));
    assert_eq!(
        (&main.modes[..], &work.modes[..]),
        (&["OriginUpperLeft".to_owned()][..], &["LocalSize 4 2 1".to_owned()][..])
    );
    let inputs: Vec<_> = main
        .inputs
        .iter()
        .map(|input| {
            (
                input.location,
                input.built_in.as_deref(),
                input.ty.as_str(),
                input.name.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        inputs,
        [
            (Some(0), None, "ivec3", None),
            (Some(1), None, "dvec2", Some("a_in")),
            (None, Some("FrontFacing"), "bool", None)
        ]
    );
    assert_eq!(
        (main.outputs.len(), main.outputs[0].ty.as_str(), work.inputs.len()),
        (1, "mat2", 0)
    );
}
