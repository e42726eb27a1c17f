//! Which types the operands and results of arithmetic have, by the SPIR-V specification: every operation with every
//! combination of a few types.

use loader::spirv::{parse, validate};

/// A type: its name, the kind of its scalars, bits, and components or columns.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Type {
    name: &'static str,
    /// `u` and `s` are integers, `f` floats, `b` truth values; `m` is a matrix.
    kind: char,
    bits: u32,
    count: u32,
    rows: u32,
}

const fn of(name: &'static str, kind: char, bits: u32, count: u32) -> Type {
    Type {
        name,
        kind,
        bits,
        count,
        rows: 1,
    }
}

const TYPES: [Type; 13] = [
    of("uint", 'u', 32, 1),
    of("int", 's', 32, 1),
    of("float", 'f', 32, 1),
    of("bool", 'b', 1, 1),
    of("uvec2", 'u', 32, 2),
    of("ivec2", 's', 32, 2),
    of("vec2", 'f', 32, 2),
    of("vec3", 'f', 32, 3),
    of("bvec2", 'b', 1, 2),
    of("long", 's', 64, 1),
    of("double", 'f', 64, 1),
    Type {
        name: "mat23",
        kind: 'm',
        bits: 32,
        count: 2,
        rows: 3,
    },
    Type {
        name: "mat32",
        kind: 'm',
        bits: 32,
        count: 3,
        rows: 2,
    },
];

/// Whether an instruction of a result and operands is valid.
fn is_valid(instruction: &str, result: Type, operands: &[Type]) -> bool {
    let values: Vec<String> = operands.iter().map(|ty| format!("%a_{}", ty.name)).collect();
    let nulls: String = TYPES
        .iter()
        .map(|ty| format!("%a_{0} = OpConstantNull %{0}\n", ty.name))
        .collect();
    let text = format!(
        "OpCapability Shader\nOpCapability Int64\nOpCapability Float64\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint Fragment %main \"main\"\nOpExecutionMode %main OriginUpperLeft\n%void = OpTypeVoid\n\
         %fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%int = OpTypeInt 32 1\n%float = OpTypeFloat 32\n%bool = OpTypeBool\n\
         %uvec2 = OpTypeVector %uint 2\n%ivec2 = OpTypeVector %int 2\n%vec2 = OpTypeVector %float 2\n%vec3 = OpTypeVector %float 3\n\
         %bvec2 = OpTypeVector %bool 2\n%long = OpTypeInt 64 1\n%double = OpTypeFloat 64\n%mat23 = OpTypeMatrix %vec3 2\n\
         %mat32 = OpTypeMatrix %vec2 3\n{nulls}%main = OpFunction %void None %fn\n%start = OpLabel\n\
         %r = Op{instruction} %{} {}\nOpReturn\nOpFunctionEnd\n",
        result.name,
        values.join(" ")
    );
    let mut words = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    words[1] = 0x0001_0300;
    validate(&words).is_valid()
}

fn int(ty: Type) -> bool {
    matches!(ty.kind, 'u' | 's')
}

/// Scalars or vectors of as many components.
fn like(a: Type, b: Type) -> bool {
    a.count == b.count && a.kind != 'm' && b.kind != 'm'
}

fn alike(a: Type, b: Type) -> bool {
    like(a, b) && a.bits == b.bits
}

type Rule = fn(Type, Type, Type) -> bool;

/// Compares every combination of a result and two operands, or one if `count` is 1.
fn compare(names: &[&str], count: usize, rule: Rule) {
    let mut wrong = Vec::new();
    for name in names {
        let mut valid = 0;
        for result in TYPES {
            for a in TYPES {
                for b in if count == 1 { &TYPES[..1] } else { &TYPES[..] } {
                    let (have, want) = (is_valid(name, result, &[a, *b][..count]), rule(result, a, *b));
                    valid += u32::from(want);
                    if have != want {
                        wrong.push(format!("{} = {name} {} {}: {have}", result.name, a.name, b.name));
                    }
                }
            }
        }
        assert!(valid > 0, "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn integers_are_of_one_size() {
    let names = [
        "IAdd",
        "ISub",
        "IMul",
        "SDiv",
        "SRem",
        "SMod",
        "BitwiseAnd",
        "BitwiseOr",
        "BitwiseXor",
    ];
    compare(&names, 2, |r, a, b| {
        [r, a, b].into_iter().all(|ty| int(ty) && alike(ty, r))
    });
    compare(&["UDiv", "UMod"], 2, |r, a, b| r.kind == 'u' && a == r && b == r);
    // The number of bits is of any size.
    compare(
        &["ShiftLeftLogical", "ShiftRightLogical", "ShiftRightArithmetic"],
        2,
        |r, a, b| int(r) && int(a) && int(b) && alike(r, a) && like(r, b),
    );
    compare(&["Not", "SNegate"], 1, |r, a, _| int(r) && int(a) && alike(r, a));
    let names = ["IEqual", "UGreaterThan", "SGreaterThan", "ULessThanEqual", "SLessThan"];
    compare(&names, 2, |r, a, b| {
        r.kind == 'b' && int(a) && int(b) && alike(a, b) && like(r, a)
    });
}

#[test]
fn floats_are_of_one_type() {
    let names = ["FAdd", "FSub", "FMul", "FDiv", "FRem", "FMod"];
    compare(&names, 2, |r, a, b| r.kind == 'f' && a == r && b == r);
    compare(&["FNegate"], 1, |r, a, _| r.kind == 'f' && a == r);
    let names = ["FOrdEqual", "FUnordLessThan", "FOrdGreaterThanEqual"];
    compare(&names, 2, |r, a, b| {
        r.kind == 'b' && a.kind == 'f' && a == b && like(r, a)
    });
    compare(&["IsNan", "IsInf"], 1, |r, a, _| {
        r.kind == 'b' && a.kind == 'f' && like(r, a)
    });
    compare(&["DPdx", "Fwidth"], 1, |r, a, _| {
        r.kind == 'f' && r.bits == 32 && a == r
    });
    compare(&["QuantizeToF16"], 1, |r, a, _| r.kind == 'f' && r.bits == 32 && a == r);
    compare(&["Dot"], 2, |r, a, b| {
        r.kind == 'f' && r.count == 1 && a.kind == 'f' && a.count > 1 && a == b && a.bits == r.bits
    });
}

#[test]
fn truths_are_of_one_type() {
    let names = ["LogicalAnd", "LogicalOr", "LogicalEqual", "LogicalNotEqual"];
    compare(&names, 2, |r, a, b| r.kind == 'b' && a == r && b == r);
    compare(&["LogicalNot"], 1, |r, a, _| r.kind == 'b' && a == r);
    compare(&["Any", "All"], 1, |r, a, _| {
        r.kind == 'b' && r.count == 1 && a.kind == 'b' && a.count > 1
    });
    for result in TYPES.into_iter().filter(|ty| ty.kind != 'm') {
        for condition in TYPES {
            for value in TYPES {
                let want = condition.kind == 'b' && like(condition, result) && value == result;
                let have = is_valid("Select", result, &[condition, value, value]);
                assert_eq!(have, want, "{} of {} and {}", result.name, condition.name, value.name);
            }
        }
    }
}

#[test]
fn conversions_keep_the_number_of_components() {
    compare(&["ConvertFToU"], 1, |r, a, _| {
        r.kind == 'u' && a.kind == 'f' && like(r, a)
    });
    compare(&["ConvertFToS"], 1, |r, a, _| int(r) && a.kind == 'f' && like(r, a));
    compare(&["ConvertSToF", "ConvertUToF"], 1, |r, a, _| {
        r.kind == 'f' && int(a) && like(r, a)
    });
    compare(&["UConvert"], 1, |r, a, _| {
        r.kind == 'u' && int(a) && like(r, a) && r.bits != a.bits
    });
    compare(&["SConvert"], 1, |r, a, _| {
        int(r) && int(a) && like(r, a) && r.bits != a.bits
    });
    compare(&["FConvert"], 1, |r, a, _| {
        r.kind == 'f' && a.kind == 'f' && like(r, a) && r.bits != a.bits
    });
    let number = |ty: Type| matches!(ty.kind, 'u' | 's' | 'f');
    for result in TYPES {
        for a in TYPES.into_iter().filter(|a| *a != result) {
            let want = number(result) && number(a) && result.bits * result.count == a.bits * a.count;
            assert_eq!(is_valid("Bitcast", result, &[a]), want, "{} of {}", result.name, a.name);
        }
    }
}

#[test]
fn matrices_have_rows_and_columns() {
    fn is(ty: Type, count: u32) -> bool {
        ty.kind == 'f' && ty.bits == 32 && ty.count == count
    }
    compare(&["VectorTimesScalar"], 2, |r, a, b| {
        r.kind == 'f' && r.count > 1 && a == r && is(b, 1)
    });
    compare(&["MatrixTimesScalar"], 2, |r, a, b| r.kind == 'm' && a == r && is(b, 1));
    compare(&["MatrixTimesVector"], 2, |r, a, b| {
        a.kind == 'm' && is(r, a.rows) && is(b, a.count)
    });
    compare(&["VectorTimesMatrix"], 2, |r, a, b| {
        b.kind == 'm' && is(r, b.count) && is(a, b.rows)
    });
    compare(&["Transpose"], 1, |r, a, _| {
        r.kind == 'm' && a.kind == 'm' && (r.count, r.rows) == (a.rows, a.count)
    });
    compare(&["OuterProduct"], 2, |r, a, b| {
        r.kind == 'm' && is(a, r.rows) && is(b, r.count)
    });
}

/// Pointers of kernels become generic ones and come back: of three storage classes, to the same type.
#[test]
fn generic_pointers_keep_what_they_point_to() {
    const POINTERS: [(&str, &str); 8] = [
        ("Workgroup", "uint"),
        ("CrossWorkgroup", "uint"),
        ("Function", "uint"),
        ("UniformConstant", "uint"),
        ("Generic", "uint"),
        ("Generic", "float"),
        ("Workgroup", "float"),
        ("Function", "float"),
    ];
    let name = |(class, pointee): (&str, &str)| format!("%{class}_{pointee}");
    let is_valid = |instruction: &str, result: (&str, &str), operand: (&str, &str), more: &str| {
        let types: String = POINTERS
            .iter()
            .map(|one| format!("{} = OpTypePointer {} %{}\n", name(*one), one.0, one.1))
            .collect();
        let text = format!(
            "OpCapability Kernel\nOpCapability Addresses\nOpCapability GenericPointer\nOpCapability Linkage\n\
             OpMemoryModel Physical32 OpenCL\n%void = OpTypeVoid\n%uint = OpTypeInt 32 0\n%float = OpTypeFloat 32\n{types}\
             %fn = OpTypeFunction %void {1}\n%f = OpFunction %void None %fn\n%p = OpFunctionParameter {1}\n%start = OpLabel\n\
             %r = Op{instruction} {0} %p {more}\nOpReturn\nOpFunctionEnd\n",
            name(result),
            name(operand)
        );
        let mut words = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        words[1] = 0x0001_0000;
        validate(&words).is_valid()
    };
    let own = |(class, _): (&str, &str)| matches!(class, "Workgroup" | "CrossWorkgroup" | "Function");
    let generic = |(class, _): (&str, &str)| class == "Generic";
    let mut wrong = Vec::new();
    for a in POINTERS {
        for b in POINTERS {
            let same = a.1 == b.1;
            let mut check = |instruction: &str, more: &str, want: bool| {
                if is_valid(instruction, a, b, more) != want {
                    wrong.push(format!("{} = {instruction} {} {more}: wanted {want}", name(a), name(b)));
                }
            };
            check("PtrCastToGeneric", "", generic(a) && own(b) && same);
            check("GenericCastToPtr", "", own(a) && generic(b) && same);
            check("GenericCastToPtrExplicit", a.0, own(a) && generic(b) && same);
            check(
                "GenericCastToPtrExplicit",
                "Workgroup",
                a.0 == "Workgroup" && generic(b) && same,
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
