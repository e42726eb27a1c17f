//! Instructions of GLSL.std.450 and OpenCL.std with operands that fit and with some that do not.

use super::extended_tables::{Family, GLSL, OPENCL};
use super::{Grammar, TargetEnv, validate_for};
use crate::spirv::asm::{Options, assemble};

/// A fragment shader with a value of each type, called like the type.
const SHADER: &str = "OpCapability Shader\nOpCapability Float16\nOpCapability Float64\nOpCapability Int16\nOpCapability Int64\n\
    OpCapability InterpolationFunction\nOpCapability CooperativeVectorNV\nOpExtension \"SPV_NV_cooperative_vector\"\n\
    OpExtension \"SPV_EXTRA\"\n%set = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel Logical GLSL450\n\
    OpEntryPoint Fragment %main \"main\" %in %p_float %p_uint %p_u2 %p_short\nOpExecutionMode %main OriginUpperLeft\nOpDecorate %in Location 0\n\
    %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%bool = OpTypeBool\n%int = OpTypeInt 32 1\n%uint = OpTypeInt 32 0\n\
    %short = OpTypeInt 16 0\n%long = OpTypeInt 64 0\n%half = OpTypeFloat 16\n%float = OpTypeFloat 32\n%double = OpTypeFloat 64\n\
    %u2 = OpTypeVector %uint 2\n%u3 = OpTypeVector %uint 3\n%l2 = OpTypeVector %long 2\n%f2 = OpTypeVector %float 2\n\
    %f3 = OpTypeVector %float 3\n%f4 = OpTypeVector %float 4\n%d2 = OpTypeVector %double 2\n%d4 = OpTypeVector %double 4\n\
    %m22 = OpTypeMatrix %f2 2\n%m23 = OpTypeMatrix %f2 3\n%many = OpConstant %uint 5\n\
    %cf = OpTypeCooperativeVectorNV %float %many\n%cu = OpTypeCooperativeVectorNV %uint %many\n\
    %float_float = OpTypeStruct %float %float\n%float_uint = OpTypeStruct %float %uint\n%float_u2 = OpTypeStruct %float %u2\n\
    %float_short = OpTypeStruct %float %short\n%three = OpTypeStruct %float %float %float\n%uints = OpTypeStruct %uint %uint\n\
    %to_float = OpTypePointer Private %float\n%to_uint = OpTypePointer Private %uint\n%to_u2 = OpTypePointer Private %u2\n\
    %to_short = OpTypePointer Private %short\n%to_in = OpTypePointer Input %float\n\
    %p_float = OpVariable %to_float Private\n%p_uint = OpVariable %to_uint Private\n%p_u2 = OpVariable %to_u2 Private\n\
    %p_short = OpVariable %to_short Private\n%in = OpVariable %to_in Input\n";

/// A kernel's functions, likewise.
const KERNEL: &str = "OpCapability Kernel\nOpCapability Addresses\nOpCapability Linkage\nOpCapability Vector16\n\
    OpCapability Float16\nOpCapability Float64\nOpCapability Int8\nOpCapability Int16\nOpCapability Int64\n\
    OpCapability UntypedPointersKHR\nOpExtension \"SPV_KHR_untyped_pointers\"\nOpExtension \"SPV_EXTRA\"\n\
    %set = OpExtInstImport \"OpenCL.std\"\nOpMemoryModel Physical64 OpenCL\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
    %bool = OpTypeBool\n%char = OpTypeInt 8 0\n%short = OpTypeInt 16 0\n%uint = OpTypeInt 32 0\n%long = OpTypeInt 64 0\n\
    %half = OpTypeFloat 16\n%float = OpTypeFloat 32\n%double = OpTypeFloat 64\n%u2 = OpTypeVector %uint 2\n\
    %u4 = OpTypeVector %uint 4\n%l2 = OpTypeVector %long 2\n%l4 = OpTypeVector %long 4\n%f2 = OpTypeVector %float 2\n\
    %f3 = OpTypeVector %float 3\n%f4 = OpTypeVector %float 4\n%f8 = OpTypeVector %float 8\n%d2 = OpTypeVector %double 2\n\
    %d4 = OpTypeVector %double 4\n%length = OpConstant %uint 4\n%chars = OpTypeArray %char %length\n\
    %strings = OpTypePointer UniformConstant %chars\n%globals = OpTypePointer CrossWorkgroup %chars\n\
    %to_float = OpTypePointer Function %float\n%to_uint = OpTypePointer Function %uint\n%to_u2 = OpTypePointer Function %u2\n\
    %to_half = OpTypePointer Workgroup %half\n%to_constant = OpTypePointer UniformConstant %float\n\
    %to_half_constant = OpTypePointer UniformConstant %half\n%to_global = OpTypePointer CrossWorkgroup %float\n\
    %to_image = OpTypePointer Image %float\n%to_bool = OpTypePointer CrossWorkgroup %bool\n\
    %untyped = OpTypeUntypedPointerKHR Function\n";

const SHADER_TYPES: &str = "bool int uint short long half float double u2 u3 l2 f2 f3 f4 d2 d4 m22 m23 cf cu";
const KERNEL_TYPES: &str = "bool char short uint long half float double u2 u4 l2 l4 f2 f3 f4 f8 d2 d4 strings globals to_float \
                            to_uint to_u2 to_half to_constant to_half_constant to_global to_image to_bool untyped";

/// A set with each instruction and its operands, the type of the result first; a row has one that is valid and some that
/// are not. A type stands for a value of it.
type Row = (&'static str, &'static [&'static str]);

const OF_SHADER: &[Row] = &[
    (
        "f2 Fract f2",
        &["f2 Fract f3", "uint Fract uint", "cf Fract cf", "m22 Fract m22"],
    ),
    ("double FMix double double double", &["double FMix double double float"]),
    (
        "cf FMax cf cf",
        &["cf FMax cf float", "cu FMax cu cu", "bool FMax bool bool"],
    ),
    ("half Sin half", &["double Sin double", "half Sin float"]),
    ("cf Exp cf", &["double Exp double", "d2 Exp d2"]),
    (
        "int SAbs uint",
        &["int SAbs long", "float SAbs float", "u2 SAbs u3", "cu SAbs cu"],
    ),
    (
        "cu UMin cu cu",
        &["cu UMin cu uint", "uint UMin uint float", "cf UMin cf cf"],
    ),
    ("long FindILsb long", &["long FindILsb uint"]),
    ("u2 FindUMsb u2", &["long FindUMsb long", "l2 FindUMsb l2"]),
    (
        "float Determinant m22",
        &[
            "float Determinant m23",
            "double Determinant m22",
            "float Determinant f2",
        ],
    ),
    (
        "m22 MatrixInverse m22",
        &["m23 MatrixInverse m23", "m22 MatrixInverse m23", "f2 MatrixInverse f2"],
    ),
    (
        "float Modf float p_float",
        &[
            "float Modf float p_uint",
            "float Modf float float",
            "f2 Modf f2 p_float",
        ],
    ),
    (
        "float_float ModfStruct float",
        &[
            "float_float ModfStruct double",
            "float_uint ModfStruct float",
            "three ModfStruct float",
            "uints ModfStruct uint",
            "f2 ModfStruct float",
        ],
    ),
    (
        "float Frexp float p_uint",
        &[
            "float Frexp float p_float",
            "float Frexp float p_u2",
            "f2 Frexp f2 p_uint",
        ],
    ),
    (
        "float_uint FrexpStruct float",
        &[
            "float_float FrexpStruct float",
            "float_u2 FrexpStruct float",
            "float_short FrexpStruct float",
        ],
    ),
    ("f2 Ldexp f2 l2", &["f2 Ldexp f2 uint", "f2 Ldexp f2 f2"]),
    (
        "uint PackSnorm4x8 f4",
        &["uint PackSnorm4x8 f2", "long PackSnorm4x8 f4", "uint PackSnorm4x8 d4"],
    ),
    (
        "int PackHalf2x16 f2",
        &["int PackHalf2x16 f4", "float PackHalf2x16 f2", "int PackHalf2x16 u2"],
    ),
    (
        "double PackDouble2x32 u2",
        &[
            "double PackDouble2x32 f2",
            "float PackDouble2x32 u2",
            "double PackDouble2x32 long",
        ],
    ),
    (
        "f4 UnpackUnorm4x8 uint",
        &[
            "f2 UnpackUnorm4x8 uint",
            "d4 UnpackUnorm4x8 uint",
            "f4 UnpackUnorm4x8 long",
        ],
    ),
    (
        "f2 UnpackUnorm2x16 uint",
        &[
            "f4 UnpackUnorm2x16 uint",
            "u2 UnpackUnorm2x16 uint",
            "f2 UnpackUnorm2x16 float",
        ],
    ),
    (
        "u2 UnpackDouble2x32 double",
        &["l2 UnpackDouble2x32 double", "u2 UnpackDouble2x32 long"],
    ),
    (
        "float Length f3",
        &["float Length d2", "f3 Length f3", "float Length u2"],
    ),
    (
        "float Distance f3 f3",
        &["float Distance f3 f2", "float Distance d2 d2"],
    ),
    ("f3 Cross f3 f3", &["f4 Cross f4 f4", "f3 Cross f3 f4"]),
    (
        "f3 Refract f3 f3 half",
        &["f3 Refract f3 f3 f3", "f3 Refract f3 f3 uint", "f3 Refract f3 f2 half"],
    ),
    (
        "float InterpolateAtCentroid in",
        &[
            "float InterpolateAtCentroid p_float",
            "float InterpolateAtCentroid float",
        ],
    ),
    (
        "float InterpolateAtSample in uint",
        &[
            "float InterpolateAtSample in float",
            "float InterpolateAtSample in long",
        ],
    ),
    (
        "float InterpolateAtOffset in f2",
        &["float InterpolateAtOffset in f3", "float InterpolateAtOffset in d2"],
    ),
    (
        "uint UClamp uint uint uint",
        &["uint UClamp uint uint float", "uint IMix uint uint uint"],
    ),
];

const OF_KERNEL: &[Row] = &[
    (
        "f8 sqrt f8",
        &["float sqrt uint", "uint sqrt uint", "float sqrt double"],
    ),
    (
        "float fmin float float",
        &["float fmin float double", "float fmin f2 float"],
    ),
    ("half native_powr half half", &["half native_powr half float"]),
    (
        "float sincos float to_float",
        &[
            "float sincos float to_uint",
            "float sincos float to_constant",
            "float sincos float float",
        ],
    ),
    ("float fract float untyped", &["double fract double to_float"]),
    ("u2 ilogb d2", &["l2 ilogb d2", "u2 ilogb f3", "u2 ilogb u2"]),
    (
        "f2 frexp f2 to_u2",
        &[
            "f2 frexp f2 to_uint",
            "float frexp float to_float",
            "uint frexp float to_uint",
        ],
    ),
    (
        "float remquo float float to_uint",
        &["float remquo float double to_uint", "float remquo float float float"],
    ),
    (
        "f2 rootn f2 u2",
        &["f2 rootn f2 l2", "f2 rootn f2 uint", "f2 rootn f2 f2"],
    ),
    (
        "double nan long",
        &["double nan uint", "double nan l2", "double nan double"],
    ),
    (
        "u4 popcount u4",
        &["u4 popcount l4", "float popcount uint", "f2 popcount f2"],
    ),
    (
        "l2 u_upsample u2 u2",
        &[
            "l2 u_upsample l2 l2",
            "long u_upsample uint short",
            "l2 u_upsample uint uint",
            "char u_upsample char char",
        ],
    ),
    (
        "uint s_mad24 uint uint uint",
        &["long s_mad24 long long long", "uint s_mad24 uint uint long"],
    ),
    (
        "f4 cross f4 f4",
        &["f2 cross f2 f2", "f8 cross f8 f8", "f3 cross f3 f4"],
    ),
    (
        "float distance f4 f4",
        &["float distance f8 f8", "float distance f4 f3", "f4 distance f4 f4"],
    ),
    (
        "double length d4",
        &["double length f4", "float length f8", "uint length u2"],
    ),
    (
        "f4 normalize f4",
        &["f8 normalize f8", "f4 normalize f3", "u4 normalize u4"],
    ),
    (
        "u2 bitselect u2 u2 u2",
        &["u2 bitselect u2 u2 f2", "bool bitselect bool bool bool"],
    ),
    (
        "f2 select f2 f2 u2",
        &["f2 select f2 f2 f2", "f2 select f2 f2 l2", "f2 select f2 f2 uint"],
    ),
    (
        "f4 vloadn long to_constant 4",
        &[
            "f4 vloadn uint to_constant 4",
            "f4 vloadn long to_constant 3",
            "f4 vloadn long to_uint 4",
            "f4 vloadn long to_image 4",
            "float vloadn long to_constant 1",
        ],
    ),
    (
        "void vstoren f4 long to_float",
        &[
            "float vstoren f4 long to_float",
            "void vstoren f4 long to_constant",
            "void vstoren u4 long to_float",
            "void vstoren float long to_float",
        ],
    ),
    (
        "float vload_half long to_half_constant",
        &["uint vload_half long to_half", "float vload_half long to_float"],
    ),
    (
        "f8 vload_halfn long to_half 8",
        &["f8 vload_halfn long to_half 4", "float vload_halfn long to_half 1"],
    ),
    (
        "void vstore_half_r double long to_half RTE",
        &[
            "void vstore_half_r half long to_half RTE",
            "void vstore_half_r f2 long to_half RTE",
            "void vstore_half_r float long to_half_constant RTE",
        ],
    ),
    (
        "void vstorea_halfn f4 long to_half",
        &[
            "void vstorea_halfn float long to_half",
            "void vstorea_halfn f4 uint to_half",
            "void vstorea_halfn f4 long to_float",
        ],
    ),
    (
        "f2 shuffle f4 u2",
        &[
            "f2 shuffle f4 u4",
            "f2 shuffle f4 l2",
            "f2 shuffle f3 u2",
            "d2 shuffle f4 l2",
            "f3 shuffle f4 u2",
        ],
    ),
    (
        "f4 shuffle2 f2 f2 u4",
        &["f4 shuffle2 f2 f4 u4", "f4 shuffle2 f2 f2 f4"],
    ),
    (
        "uint printf strings float f2",
        &["long printf strings", "uint printf globals", "uint printf to_constant"],
    ),
    (
        "void prefetch to_global long",
        &[
            "void prefetch to_constant long",
            "void prefetch to_global uint",
            "void prefetch to_bool long",
            "uint prefetch to_global long",
        ],
    ),
];

/// A module with one instruction.
fn module(head: &str, types: &str, instruction: &str) -> String {
    let mut text = head.to_owned();
    let types: Vec<&str> = types.split_whitespace().collect();
    for ty in &types {
        text += &format!("%x_{ty} = OpUndef %{ty}\n");
    }
    let words: Vec<&str> = instruction.split(' ').collect();
    let mut operands = String::new();
    for word in &words[2..] {
        if types.contains(word) {
            operands += &format!(" %x_{word}");
        } else if text.contains(&format!("%{word} = ")) {
            operands += &format!(" %{word}");
        } else {
            operands += &format!(" {word}");
        }
    }
    let (ty, name) = (words[0], words[1]);
    text + &format!(
        "%main = OpFunction %void None %fn\n%entry = OpLabel\n%result = OpExtInst %{ty} %set {name}{operands}\nOpReturn\n\
         OpFunctionEnd\n"
    )
}

/// All findings.
fn findings(text: &str) -> String {
    let grammar = Grammar::builtin();
    let mut words = assemble(grammar, text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    words[1] = 0x10600;
    let report = validate_for(grammar, &words, TargetEnv::UNIVERSAL);
    report.diagnostics.iter().map(|found| format!("{found}\n")).collect()
}

#[test]
fn operands_and_results_fit_their_instruction() {
    let mut wrong = Vec::new();
    let both = [(SHADER, SHADER_TYPES, OF_SHADER), (KERNEL, KERNEL_TYPES, OF_KERNEL)];
    for (head, types, rows) in both {
        for (valid, invalid) in rows {
            let found = findings(&module(head, types, valid));
            if !found.is_empty() {
                wrong.push(format!("{valid} is rejected: {found}"));
            }
            for instruction in *invalid {
                let name = instruction.split(' ').nth(1).unwrap_or_default();
                let found = findings(&module(head, types, instruction));
                if !found.contains(&format!("{name}: ")) {
                    wrong.push(format!("{instruction} is accepted: {found}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn extensions_allow_further_types() {
    let rows = [
        (
            SHADER,
            SHADER_TYPES,
            "float Frexp float p_short",
            "SPV_AMD_gpu_shader_int16",
        ),
        (
            SHADER,
            SHADER_TYPES,
            "float_short FrexpStruct float",
            "SPV_AMD_gpu_shader_int16",
        ),
        (
            KERNEL,
            KERNEL_TYPES,
            "uint printf globals",
            "SPV_EXT_relaxed_printf_string_address_space",
        ),
    ];
    for (head, types, instruction, extension) in rows {
        let text = module(head, types, instruction);
        assert_ne!(findings(&text), "", "{instruction}");
        assert_eq!(findings(&text.replace("SPV_EXTRA", extension)), "", "{instruction}");
    }
}

#[test]
fn addresses_have_the_size_of_the_addressing_model() {
    let text = module(KERNEL, KERNEL_TYPES, "float vload_half uint to_half");
    assert!(findings(&text).contains("offset is no integer as wide as an address"));
    assert_eq!(findings(&text.replace("Physical64", "Physical32")), "");
}

#[test]
fn only_fragment_shaders_interpolate() {
    let text = module(SHADER, SHADER_TYPES, "float InterpolateAtCentroid in");
    let vertex = text.replace("Fragment %main", "Vertex %main");
    let vertex = vertex.replace("OpExecutionMode %main OriginUpperLeft\n", "");
    assert!(
        findings(&vertex).contains("is not of execution model 0"),
        "{}",
        findings(&vertex)
    );
}

#[test]
fn messages_name_the_operand_and_what_it_is_not() {
    let rows = [
        ("f2 Fract f3", "Fract: x is not of the same type"),
        (
            "double Sin double",
            "Sin: the result is no 16-bit or 32-bit float scalar or vector",
        ),
        (
            "u2 SAbs u3",
            "SAbs: x is no integer scalar or vector with as many components, as wide",
        ),
        (
            "float Distance f3 f2",
            "Distance: p1 is not of the first operand's type",
        ),
        ("f4 Cross f4 f4", "Cross: the result is no float vector of 3 components"),
        (
            "uint IMix uint uint uint",
            "IMix: the result is that of an instruction which the set no longer has",
        ),
    ];
    for (instruction, said) in rows {
        let found = findings(&module(SHADER, SHADER_TYPES, instruction));
        assert!(found.contains(said), "{found}");
    }
}

#[test]
fn each_instruction_is_in_one_family() {
    for (set, families) in [("GLSL.std.450", GLSL), ("OpenCL.std", OPENCL)] {
        let names = |family: &'static Family| family.names.split(' ');
        let mut known: Vec<&str> = families.iter().flat_map(names).collect();
        let grammar = Grammar::builtin();
        let rows = grammar.sets[grammar.set(set).unwrap()].rows();
        let mut all: Vec<&str> = rows.iter().map(|row| &*row.name).collect();
        known.sort_unstable();
        all.sort_unstable();
        assert_eq!(known, all, "{set}");
    }
}
