//! Passes keep what a module computes: every module of these tables runs before and behind each pass, and leaves the same
//! outputs and buffers.

use super::machine::{Machine, Results};
use loader::ErrorKind;
use loader::spirv::transform::{PASSES, Pass, bounded, for_hlsl, for_wgsl, narrow_exponents, with_signs};
use loader::spirv::{parse, print, specialize, validate};
use std::collections::BTreeSet;

const MORE: [(&str, Pass); 6] = [
    ("bounded", bounded),
    ("signs", with_signs),
    ("hlsl", for_hlsl),
    ("wgsl", for_wgsl),
    ("exponents", narrow_exponents),
    ("specialized", specialize),
];

/// The versions that modules are tried as. From 1.4 on entry points list all variables.
const VERSIONS: [u32; 2] = [0x0001_0300, 0x0001_0500];

/// The passes that change a module, which runs as before behind each of them.
fn changed_by(name: &str, text: &str) -> BTreeSet<&'static str> {
    changed_in(&VERSIONS, name, text)
}

fn changed_in(versions: &[u32], name: &str, text: &str) -> BTreeSet<&'static str> {
    let mut changing = BTreeSet::new();
    for version in versions.iter().copied() {
        let text = text.replace("{interface}", &interface(text, version));
        let mut words = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        words[1] = version;
        let report = validate(&words);
        assert!(report.is_valid(), "{name}: {report:?}\n{text}");
        let want = Machine::new(&words).run();
        for (pass, apply) in PASSES.iter().chain(&MORE) {
            let after = match apply(&words) {
                Ok(after) => after,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Unsupported, "{name}, {pass}: {error}");
                    continue;
                }
            };
            if after == words {
                continue;
            }
            changing.insert(*pass);
            let shown = || format!("{text}\n=> {}", print(&after).unwrap());
            let report = validate(&after);
            assert!(report.is_valid(), "{name}, {pass}: {report:?}\n{}", shown());
            let machine = Machine::new(&after);
            same(&want, &machine.run(), &format!("{name}, {pass}"), &shown);
            if !["flat", "wgsl"].contains(pass) {
                let before = Machine::new(&words).interpolation();
                assert_eq!(machine.interpolation(), before, "{name}, {pass}\n{}", shown());
            }
        }
    }
    changing
}

/// The global variables that an entry point of this version lists.
fn interface(text: &str, version: u32) -> String {
    let head = text.split(" = OpFunction ").next().unwrap_or(text);
    let variables = head.lines().filter_map(|line| line.split_once(" = OpVariable "));
    let listed = variables
        .filter(|(_, of)| version >= 0x0001_0400 || [" Input", " Output"].iter().any(|class| of.contains(class)));
    listed.map(|(id, _)| id.trim()).collect::<Vec<_>>().join(" ")
}

fn same(want: &Results, have: &Results, what: &str, shown: &dyn Fn() -> String) {
    assert_eq!(want.killed, have.killed, "{what}\n{}", shown());
    assert_eq!(want.outputs, have.outputs, "{what}\n{}", shown());
    for (place, want) in &want.buffers {
        let have = have.buffers.get(place).unwrap_or(want);
        let differs: Vec<_> = (0..want.len()).filter(|at| want[*at] != have[*at]).collect();
        let first = differs.first().map(|at| (at, want[*at], have[*at]));
        assert!(
            differs.is_empty(),
            "{what}: buffer {place:?} at {differs:?}, {first:?}\n{}",
            shown()
        );
    }
}

/// A compute shader of eight invocations. `n` is an invocation's number, `x0` to `x3` are numbers from a buffer; `out N v`
/// leaves an unsigned number.
fn compute(capabilities: &str, annotations: &str, declarations: &str, code: &str) -> String {
    let numbers = |name: &str, ty: &str, all: std::ops::RangeInclusive<u32>| -> String {
        let one = |at: u32| format!("%{name}{at} = OpConstant %{ty} {at}\n");
        all.map(one).collect()
    };
    let mut body = String::new();
    for (at, line) in code.lines().enumerate() {
        match line.trim().strip_prefix("out ").and_then(|rest| rest.split_once(' ')) {
            Some((number, value)) => {
                body += &format!("%out_at{at} = OpIAdd %uint %first %u{number}\n");
                body += &format!("%out{at} = OpAccessChain %to_out %o %u0 %out_at{at}\nOpStore %out{at} {value}\n");
            }
            None => body += &format!("{line}\n"),
        }
    }
    let loads: String = (0..4)
        .map(|at| format!("%in{at} = OpAccessChain %to_out %in %u0 %u{at}\n%x{at} = OpLoad %uint %in{at}\n"))
        .collect();
    let (functions, variables) = match body.split_once("FUNCTIONS\n") {
        Some((body, functions)) => (functions.to_owned(), body.to_owned()),
        None => (String::new(), body),
    };
    let (variables, body): (Vec<&str>, Vec<&str>) = variables.lines().partition(|line| line.contains(" = OpVariable "));
    format!(
        "OpCapability Shader\n{capabilities}\n%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint GLCompute %main \"main\" {{interface}}\nOpExecutionMode %main LocalSize 8 1 1\n\
         OpDecorate %number BuiltIn LocalInvocationIndex\nOpDecorate %words ArrayStride 4\nOpDecorate %block Block\n\
         OpMemberDecorate %block 0 Offset 0\nOpDecorate %o DescriptorSet 0\nOpDecorate %o Binding 0\n\
         OpDecorate %in DescriptorSet 0\nOpDecorate %in Binding 1\n{annotations}\n%void = OpTypeVoid\n\
         %fn = OpTypeFunction %void\n%bool = OpTypeBool\n%uint = OpTypeInt 32 0\n%int = OpTypeInt 32 1\n\
         %float = OpTypeFloat 32\n%uvec2 = OpTypeVector %uint 2\n%ivec2 = OpTypeVector %int 2\n\
         %vec2 = OpTypeVector %float 2\n%uvec3 = OpTypeVector %uint 3\n%vec3 = OpTypeVector %float 3\n\
         %bvec2 = OpTypeVector %bool 2\n%uvec4 = OpTypeVector %uint 4\n%vec4 = OpTypeVector %float 4\n{}{}{}\
         %u96 = OpConstant %uint 96\n%true = OpConstantTrue %bool\n%false = OpConstantFalse %bool\n\
         %words = OpTypeArray %uint %u96\n%block = OpTypeStruct %words\n%to_block = OpTypePointer StorageBuffer %block\n\
         %to_out = OpTypePointer StorageBuffer %uint\n%o = OpVariable %to_block StorageBuffer\n\
         %in = OpVariable %to_block StorageBuffer\n%to_number = OpTypePointer Input %uint\n\
         %number = OpVariable %to_number Input\n%number_fn = OpTypeFunction %uint\n%local = OpTypePointer Function %uint\n{declarations}\n\
         %main = OpFunction %void None %fn\n%start = OpLabel\n{}\n%n = OpLoad %uint %number\n\
         %first = OpIMul %uint %n %u8\n{loads}{}\nOpReturn\nOpFunctionEnd\n{functions}",
        numbers("u", "uint", 0..=16),
        numbers("i", "int", 0..=9),
        numbers("f", "float", 0..=4),
        variables.join("\n"),
        body.join("\n"),
    )
}

/// Runs a table: the module's name, the passes that change it at least, and what [`compute`] takes.
fn keep(rows: &[(&str, &[&str], [&str; 4])]) {
    for (name, passes, [capabilities, annotations, declarations, code]) in rows {
        let changing = changed_by(name, &compute(capabilities, annotations, declarations, code));
        for pass in *passes {
            assert!(
                changing.contains(pass),
                "{name} is not changed by {pass}, but by {changing:?}"
            );
        }
    }
}

#[test]
fn switches_keep_their_ways() {
    keep(&[
        (
            "a case falls into the next",
            &["fall-through", "wgsl"],
            [
                "",
                "",
                "",
                "%r = OpVariable %local Function
OpStore %r %x0
OpSelectionMerge %behind None
OpSwitch %n %other 0 %zero 1 %one 2 %two 5 %behind
%zero = OpLabel
OpStore %r %u7
OpBranch %one
%one = OpLabel
%a = OpLoad %uint %r
%b = OpIAdd %uint %a %u5
OpStore %r %b
OpBranch %behind
%two = OpLabel
OpStore %r %u9
OpBranch %behind
%other = OpLabel
OpBranch %behind
%behind = OpLabel
%v = OpLoad %uint %r
out 0 %v",
            ],
        ),
        (
            "three cases fall through, with phis",
            &["fall-through", "wgsl"],
            [
                "",
                "",
                "",
                "OpSelectionMerge %behind None
OpSwitch %n %other 0 %zero 1 %one 2 %two 3 %three
%zero = OpLabel
%z = OpIMul %uint %x0 %u3
OpBranch %one
%one = OpLabel
%a = OpPhi %uint %x1 %start %z %zero
%b = OpIAdd %uint %a %u5
OpBranch %two
%two = OpLabel
%c = OpPhi %uint %x2 %start %b %one
%d = OpIMul %uint %c %u2
OpBranch %behind
%three = OpLabel
OpBranch %behind
%other = OpLabel
%e = OpIAdd %uint %n %u4
OpBranch %behind
%behind = OpLabel
%v = OpPhi %uint %d %two %u6 %three %e %other
out 0 %v",
            ],
        ),
        (
            "a case falls into a branch, whose value is used behind the switch",
            &["fall-through", "wgsl"],
            [
                "",
                "",
                "",
                "OpSelectionMerge %behind None
OpSwitch %n %behind 1 %one 2 %two 6 %two
%one = OpLabel
OpBranch %two
%two = OpLabel
%a = OpPhi %uint %x3 %start %x1 %one
%is = OpUGreaterThan %bool %n %u1
OpSelectionMerge %joined None
OpBranchConditional %is %yes %no
%yes = OpLabel
%b = OpIAdd %uint %a %u1
OpBranch %joined
%no = OpLabel
%c = OpIMul %uint %a %u2
OpBranch %joined
%joined = OpLabel
%d = OpPhi %uint %b %yes %c %no
OpBranch %behind
%behind = OpLabel
%v = OpPhi %uint %u1 %start %d %joined
out 0 %v
out 1 %x0",
            ],
        ),
        (
            "the default falls into a case",
            &["fall-through", "wgsl"],
            [
                "",
                "",
                "",
                "OpSelectionMerge %behind None
OpSwitch %n %other 3 %three
%other = OpLabel
%a = OpIAdd %uint %n %u1
OpBranch %three
%three = OpLabel
%b = OpPhi %uint %u9 %start %a %other
OpBranch %behind
%behind = OpLabel
out 0 %b",
            ],
        ),
        (
            "a case leaves the loop",
            &["exits", "wgsl"],
            [
                "",
                "",
                "",
                "OpBranch %head
%head = OpLabel
%k = OpPhi %uint %u0 %start %next %again
%s = OpPhi %uint %x0 %start %t %again
OpLoopMerge %behind %again None
OpBranch %body
%body = OpLabel
%m = OpIAdd %uint %k %n
OpSelectionMerge %merge None
OpSwitch %m %other 6 %six 9 %nine
%six = OpLabel
OpBranch %behind
%nine = OpLabel
%p = OpIAdd %uint %s %u2
OpBranch %merge
%other = OpLabel
%q = OpIAdd %uint %s %u1
OpBranch %merge
%merge = OpLabel
%t = OpPhi %uint %p %nine %q %other
OpBranch %again
%again = OpLabel
%next = OpIAdd %uint %k %u1
%more = OpULessThan %bool %next %u9
OpBranchConditional %more %head %behind
%behind = OpLabel
%v = OpPhi %uint %s %six %t %again
out 0 %v
out 1 %k",
            ],
        ),
        (
            "cases leave the loop or the switch",
            &["exits", "wgsl"],
            [
                "",
                "",
                "",
                "OpBranch %head
%head = OpLabel
%k = OpPhi %uint %u0 %start %next %again
OpLoopMerge %behind %again None
OpBranch %body
%body = OpLabel
%m = OpIAdd %uint %k %n
OpSelectionMerge %merge None
OpSwitch %m %other 5 %five 7 %seven
%five = OpLabel
%is = OpUGreaterThan %bool %n %u2
OpBranchConditional %is %behind %merge
%seven = OpLabel
%was = OpULessThan %bool %n %u6
OpBranchConditional %was %merge %behind
%other = OpLabel
OpBranch %merge
%merge = OpLabel
%t = OpPhi %uint %u1 %five %u2 %seven %u3 %other
OpBranch %again
%again = OpLabel
%next = OpIAdd %uint %k %t
%more = OpULessThan %bool %next %u15
OpBranchConditional %more %head %behind
%behind = OpLabel
%v = OpPhi %uint %u4 %five %u5 %seven %t %again
out 0 %v
out 1 %k",
            ],
        ),
        (
            "a switch in a switch leaves the loop",
            &["exits", "wgsl"],
            [
                "",
                "",
                "",
                "OpBranch %head
%head = OpLabel
%k = OpPhi %uint %n %start %next %again
OpLoopMerge %behind %again None
OpBranch %body
%body = OpLabel
OpSelectionMerge %merge None
OpSwitch %k %other 4 %four 6 %six
%four = OpLabel
OpSelectionMerge %inner None
OpSwitch %n %five 1 %one 2 %inner
%one = OpLabel
OpBranch %behind
%five = OpLabel
%a = OpIMul %uint %n %u3
OpBranch %inner
%inner = OpLabel
%b = OpPhi %uint %u1 %four %a %five
OpBranch %merge
%six = OpLabel
OpBranch %again
%other = OpLabel
OpBranch %merge
%merge = OpLabel
%t = OpPhi %uint %b %inner %u2 %other
out 1 %t
OpBranch %again
%again = OpLabel
%next = OpIAdd %uint %k %u1
%more = OpULessThan %bool %next %u12
OpBranchConditional %more %head %behind
%behind = OpLabel
%v = OpPhi %uint %u7 %one %next %again
out 0 %v",
            ],
        ),
        (
            "nothing leaves or falls",
            &[],
            [
                "",
                "",
                "",
                "OpSelectionMerge %behind None
OpSwitch %n %other 1 %one
%one = OpLabel
OpBranch %behind
%other = OpLabel
OpBranch %behind
%behind = OpLabel
%v = OpPhi %uint %u4 %one %u5 %other
out 0 %v",
            ],
        ),
    ]);
}

/// Constants that lengths of arrays depend on are folded; others move into the functions that use them.
#[test]
fn operations_of_specialisation_constants_keep_their_values() {
    let binary = [
        "IAdd",
        "ISub",
        "IMul",
        "UDiv",
        "UMod",
        "SDiv",
        "SRem",
        "ShiftLeftLogical",
        "ShiftRightLogical",
        "ShiftRightArithmetic",
        "BitwiseAnd",
        "BitwiseOr",
        "BitwiseXor",
    ];
    let compared = [
        "IEqual",
        "INotEqual",
        "UGreaterThan",
        "SGreaterThan",
        "ULessThan",
        "SLessThan",
        "UGreaterThanEqual",
        "SLessThanEqual",
    ];
    let logical = ["LogicalAnd", "LogicalOr", "LogicalEqual"];
    let numbers = [
        (13u32, 3u32),
        (3, 13),
        (5, 5),
        (0xffff_fff3, 2),
        (2, 0xffff_fffd),
        (1, 31),
        (0, 7),
    ];
    let annotations = "OpDecorate %a SpecId 1\nOpDecorate %b SpecId 2\nOpDecorate %t SpecId 3";
    for is_length in [false, true] {
        for (a, b) in numbers {
            let (mut declarations, mut code) = (
                format!(
                    "%a = OpSpecConstant %uint {a}\n%b = OpSpecConstant %uint {b}\n%t = OpSpecConstantTrue %bool\n\
                     %f = OpSpecConstantFalse %bool\n"
                ),
                "%sum0 = OpIAdd %uint %n %u0\n".to_owned(),
            );
            let (mut at, mut sum) = (0, 0);
            let mut add = |value: String, ty: &str, declarations: &mut String, code: &mut String| {
                at += 1;
                *declarations += &format!("%v{at} = OpSpecConstantOp %{ty} {value}\n");
                let number = match ty {
                    "bool" => {
                        *declarations += &format!("%w{at} = OpSpecConstantOp %uint Select %v{at} %u3 %u5\n");
                        format!("%w{at}")
                    }
                    _ => format!("%v{at}"),
                };
                // The length is a small number whatever the value is.
                if is_length {
                    *declarations += &format!(
                        "%k{at} = OpSpecConstantOp %uint BitwiseAnd {number} %u3\n\
                         %l{at} = OpSpecConstantOp %uint IAdd %k{at} %u1\n%array{at} = OpTypeArray %uint %l{at}\n\
                         %to_array{at} = OpTypePointer Private %array{at}\n"
                    );
                }
                let bits = (at * 5) % 27;
                *code += &format!("%turned{at} = OpIMul %uint {number} %u{}\n", 1 + bits % 16);
                *code += &format!("%sum{} = OpIAdd %uint %sum{sum} %turned{at}\n", sum + 1);
                sum += 1;
            };
            // Longer shifts have no value.
            for name in binary.into_iter().filter(|name| b < 32 || !name.starts_with("Shift")) {
                add(format!("{name} %a %b"), "uint", &mut declarations, &mut code);
            }
            // Of comparisons with equality no length is computed.
            for name in &compared[..if is_length { 6 } else { 8 }] {
                add(format!("{name} %a %b"), "bool", &mut declarations, &mut code);
            }
            for name in &logical[..if is_length { 2 } else { 3 }] {
                add(format!("{name} %t %f"), "bool", &mut declarations, &mut code);
            }
            for value in ["Not %a", "SNegate %a"] {
                add(value.to_owned(), "uint", &mut declarations, &mut code);
            }
            for value in ["LogicalNot %t", "LogicalNot %f"] {
                add(value.to_owned(), "bool", &mut declarations, &mut code);
            }
            for value in ["Select %t %a %b", "Select %f %a %b"] {
                add(value.to_owned(), "uint", &mut declarations, &mut code);
            }
            code += &format!("out 0 %sum{sum}\n");
            let changing = changed_by("operations", &compute("", annotations, &declarations, &code));
            assert!(changing.contains("spec-constants"), "{changing:?}");
        }
    }
    keep(&[
        (
            "vectors of specialisation constants",
            &["spec-constants", "wgsl"],
            [
                "",
                "OpDecorate %a SpecId 1",
                "%a = OpSpecConstant %uint 4\n%both = OpSpecConstantComposite %uvec2 %a %u7\n\
              %twice = OpSpecConstantOp %uvec2 IAdd %both %both\n%one = OpSpecConstantOp %uint CompositeExtract %twice 1",
                "%w = OpCompositeExtract %uint %twice 0\nout 0 %w\nout 1 %one\n%h = OpFunctionCall %uint %helper\nout 2 %h\n\
              FUNCTIONS\n%helper = OpFunction %uint None %number_fn\n%helper_start = OpLabel\n\
              %hv = OpCompositeExtract %uint %twice 1\nOpReturnValue %hv\nOpFunctionEnd\n",
            ],
        ),
        (
            "the first value of a variable",
            &["spec-constants", "wgsl"],
            [
                "",
                "OpDecorate %a SpecId 1",
                "%a = OpSpecConstant %uint 4\n%b = OpSpecConstantOp %uint IMul %a %u3\n\
              %to_private = OpTypePointer Private %uint\n%cell = OpVariable %to_private Private %b",
                "%v = OpLoad %uint %cell\nout 0 %v\nout 1 %a",
            ],
        ),
    ]);
}

#[test]
fn chains_of_pointers_keep_what_they_point_to() {
    let declarations = "%pair = OpTypeStruct %uvec4 %words\n%to_pair = OpTypePointer Function %pair\n\
                        %to_quad = OpTypePointer Function %uvec4\n%to_words = OpTypePointer Function %words";
    keep(&[
        (
            "chains that other blocks use",
            &["chains", "wgsl"],
            [
                "",
                "",
                declarations,
                "%p = OpVariable %to_pair Function
%quad = OpAccessChain %to_quad %p %u0
%y = OpAccessChain %local %quad %u1
%all = OpAccessChain %to_words %p %u1
%even = OpBitwiseAnd %uint %n %u1
%is = OpIEqual %bool %even %u0
OpSelectionMerge %behind None
OpBranchConditional %is %yes %no
%yes = OpLabel
OpStore %y %x1
%own = OpAccessChain %local %all %n
OpStore %own %x2
%sum = OpLoad %uint %y
%more = OpIAdd %uint %sum %n
OpStore %y %more
OpBranch %behind
%no = OpLabel
OpStore %y %n
%same = OpAccessChain %local %all %n
OpStore %same %u4
OpBranch %behind
%behind = OpLabel
%v = OpLoad %uint %y
%there = OpAccessChain %local %all %n
%w = OpLoad %uint %there
%again = OpLoad %uint %y
out 0 %v
out 1 %w
out 2 %again",
            ],
        ),
        (
            "chains in a loop",
            &["chains", "wgsl"],
            [
                "",
                "",
                declarations,
                "%p = OpVariable %to_pair Function
%all = OpAccessChain %to_words %p %u1
%at = OpAccessChain %local %all %n
OpStore %at %x0
OpBranch %head
%head = OpLabel
%k = OpPhi %uint %u0 %start %next %again
OpLoopMerge %behind %again None
OpBranch %body
%body = OpLabel
%a = OpLoad %uint %at
%b = OpIAdd %uint %a %k
OpStore %at %b
OpBranch %again
%again = OpLabel
%next = OpIAdd %uint %k %u1
%more = OpULessThan %bool %next %u5
OpBranchConditional %more %head %behind
%behind = OpLabel
%v = OpLoad %uint %at
out 0 %v",
            ],
        ),
    ]);
}

#[test]
fn selections_of_vectors_by_one_truth_keep_their_results() {
    let code = "%nf = OpConvertUToF %float %n
%is_three = OpIEqual %bool %n %u3
%a = OpCompositeConstruct %vec3 %nf %f1 %f2
%b = OpCompositeConstruct %vec3 %f3 %nf %f4
%chosen = OpSelect %vec3 %is_three %a %b
%y = OpCompositeExtract %float %chosen 1
%y_bits = OpBitcast %uint %y
out 0 %y_bits";
    let changing = changed_in(&[0x0001_0500], "a selection", &compute("", "", "", code));
    assert!(changing.contains("operations"), "{changing:?}");
}

#[test]
fn operations_that_are_spelled_out_keep_their_results() {
    let int = "%ipair = OpTypeStruct %int %int\n%upair = OpTypeStruct %uint %uint\n%upairs = OpTypeStruct %uvec2 %uvec2\n\
               %ipairs = OpTypeStruct %ivec2 %ivec2\n%c = OpConstant %uint 0x12345678\n%d = OpConstant %uint 0x9abcdef1";
    keep(&[
        (
            "products of twice as many bits",
            &["operations", "hlsl", "wgsl"],
            [
                "",
                "",
                int,
                "%m = OpIMul %uint %n %c
%a = OpIAdd %uint %m %x0
%k = OpIMul %uint %n %n
%l = OpIMul %uint %k %c
%b = OpISub %uint %d %l
%ab = OpUMulExtended %upair %a %b
%low = OpCompositeExtract %uint %ab 0
%high = OpCompositeExtract %uint %ab 1
%ia = OpBitcast %int %a
%ib = OpBitcast %int %b
%iab = OpSMulExtended %ipair %ia %ib
%ilow = OpCompositeExtract %int %iab 0
%ihigh = OpCompositeExtract %int %iab 1
%ilow_bits = OpBitcast %uint %ilow
%ihigh_bits = OpBitcast %uint %ihigh
%va = OpCompositeConstruct %uvec2 %a %b
%vb = OpCompositeConstruct %uvec2 %d %a
%vab = OpUMulExtended %upairs %va %vb
%vhigh = OpCompositeExtract %uvec2 %vab 1
%vx = OpCompositeExtract %uint %vhigh 0
%vy = OpCompositeExtract %uint %vhigh 1
%iva = OpBitcast %ivec2 %va
%ivb = OpBitcast %ivec2 %vb
%ivab = OpSMulExtended %ipairs %iva %ivb
%ivy = OpCompositeExtract %int %ivab 1 1
%ivy_bits = OpBitcast %uint %ivy
out 0 %low
out 1 %high
out 2 %ilow_bits
out 3 %ihigh_bits
out 4 %vx
out 5 %vy
out 6 %ivy_bits",
            ],
        ),
        (
            "carries and borrows",
            &["operations", "hlsl", "wgsl"],
            [
                "",
                "",
                int,
                "%m = OpIMul %uint %n %c
%a = OpIAdd %uint %m %d
%is_one = OpIEqual %bool %n %u1
%b = OpSelect %uint %is_one %a %d
%sum = OpIAddCarry %upair %a %b
%sum_low = OpCompositeExtract %uint %sum 0
%carry = OpCompositeExtract %uint %sum 1
%rest = OpISubBorrow %upair %a %b
%rest_low = OpCompositeExtract %uint %rest 0
%borrow = OpCompositeExtract %uint %rest 1
%va = OpCompositeConstruct %uvec2 %a %c
%vb = OpCompositeConstruct %uvec2 %c %a
%sums = OpIAddCarry %upairs %va %vb
%rests = OpISubBorrow %upairs %va %vb
%carry_y = OpCompositeExtract %uint %sums 1 1
%borrow_x = OpCompositeExtract %uint %rests 1 0
%borrow_y = OpCompositeExtract %uint %rests 1 1
out 0 %sum_low
out 1 %carry
out 2 %rest_low
out 3 %borrow
out 4 %carry_y
out 5 %borrow_x
out 6 %borrow_y",
            ],
        ),
        (
            "scalars where WGSL has vectors",
            &["operations", "wgsl"],
            [
                "",
                "",
                "%matrix = OpTypeMatrix %vec3 2\n%half = OpConstant %float 0.5\n%minus = OpConstant %float -2",
                "%nf = OpConvertUToF %float %n
%ray = OpFMul %float %nf %minus
%scaled = OpFMul %float %nf %half
%is_three = OpIEqual %bool %n %u3
%normal = OpSelect %float %is_three %minus %half
%reflected = OpExtInst %float %glsl Reflect %ray %normal
%refracted = OpExtInst %float %glsl Refract %ray %normal %half
%lost = OpExtInst %float %glsl Refract %half %half %nf
%faced = OpExtInst %float %glsl FaceForward %scaled %ray %normal
%a = OpCompositeConstruct %vec3 %ray %scaled %nf
%b = OpCompositeConstruct %vec2 %scaled %ray
%product = OpOuterProduct %matrix %a %b
%cell = OpCompositeExtract %float %product 0 2
%last = OpCompositeExtract %float %product 1 1
%reflected_bits = OpBitcast %uint %reflected
%refracted_bits = OpBitcast %uint %refracted
%lost_bits = OpBitcast %uint %lost
%faced_bits = OpBitcast %uint %faced
%cell_bits = OpBitcast %uint %cell
%last_bits = OpBitcast %uint %last
out 0 %reflected_bits
out 1 %refracted_bits
out 2 %faced_bits
out 3 %cell_bits
out 4 %last_bits
out 5 %lost_bits",
            ],
        ),
        (
            "bits of the other signedness",
            &["signs"],
            [
                "",
                "",
                "%c = OpConstant %uint 0x12345678",
                "%m = OpIMul %uint %n %c
%i = OpBitcast %int %m
%count = OpBitCount %uint %i
%lowest = OpExtInst %uint %glsl FindILsb %i
out 0 %count
out 1 %lowest",
            ],
        ),
        (
            "no numbers, signs, whole parts",
            &["operations", "hlsl", "wgsl"],
            [
                "",
                "",
                "%modf = OpTypeStruct %float %float\n%to_float = OpTypePointer Function %float\n%quarter = OpConstant %float 0.25\n\
              %nan = OpConstant %float 0x1.8p+128",
                "%nf = OpConvertUToF %float %n
%part = OpFMul %float %nf %quarter
%a = OpFSub %float %part %f1
%is_three = OpIEqual %bool %n %u3
%b = OpSelect %float %is_three %nan %a
%is = OpIsNan %bool %b
%truth = OpSelect %uint %is %u1 %u0
%sign = OpExtInst %float %glsl Normalize %a
%sign_bits = OpBitcast %uint %sign
%both = OpExtInst %modf %glsl ModfStruct %a
%rest = OpCompositeExtract %float %both 0
%whole = OpCompositeExtract %float %both 1
%rest_bits = OpBitcast %uint %rest
%whole_bits = OpBitcast %uint %whole
out 0 %truth
out 1 %sign_bits
out 2 %rest_bits
out 3 %whole_bits",
            ],
        ),
        (
            "powers of two beyond the range of floats",
            &["hlsl"],
            [
                "",
                "",
                "%scale = OpConstant %int 41\n%middle = OpConstant %int 150",
                "%in_row = OpBitcast %int %n
%steps = OpIMul %int %in_row %scale
%exponent = OpISub %int %steps %middle
%ldexp = OpExtInst %float %glsl Ldexp %f3 %exponent
%bits = OpBitcast %uint %ldexp
%fv = OpCompositeConstruct %vec2 %f1 %f3
%ev = OpCompositeConstruct %ivec2 %exponent %i3
%lv = OpExtInst %vec2 %glsl Ldexp %fv %ev
%l0 = OpCompositeExtract %float %lv 0
%l1 = OpCompositeExtract %float %lv 1
%b0 = OpBitcast %uint %l0
%b1 = OpBitcast %uint %l1
out 0 %bits
out 1 %b0
out 2 %b1",
            ],
        ),
        (
            "exponents of 64 bits",
            &["exponents"],
            [
                "OpCapability Int64",
                "",
                "%long = OpTypeInt 64 1\n%ulong = OpTypeInt 64 0\n%big = OpConstant %long 4294967299\n\
              %low = OpConstant %long -4294967299\n%five = OpConstant %long 5\n%ubig = OpConstant %ulong 7\n\
              %long2 = OpTypeVector %long 2\n%both = OpConstantComposite %long2 %five %low",
                "%a = OpExtInst %float %glsl Ldexp %f3 %five
%b = OpExtInst %float %glsl Ldexp %f3 %big
%c = OpExtInst %float %glsl Ldexp %f3 %ubig
%f13 = OpCompositeConstruct %vec2 %f1 %f3
%d = OpExtInst %vec2 %glsl Ldexp %f13 %both
%d0 = OpCompositeExtract %float %d 0
%d1 = OpCompositeExtract %float %d 1
%a_bits = OpBitcast %uint %a
%b_bits = OpBitcast %uint %b
%c_bits = OpBitcast %uint %c
%d0_bits = OpBitcast %uint %d0
%d1_bits = OpBitcast %uint %d1
out 0 %a_bits
out 1 %b_bits
out 2 %c_bits
out 3 %d0_bits
out 4 %d1_bits",
            ],
        ),
    ]);
}

#[test]
fn operations_of_the_other_signedness_keep_their_results() {
    // Operands and results of each type: `u` unsigned, `s` signed.
    let two = [
        "UDiv",
        "SDiv",
        "UMod",
        "SRem",
        "ShiftRightLogical",
        "ShiftRightArithmetic",
    ];
    let compared = [
        "UGreaterThan",
        "SGreaterThan",
        "UGreaterThanEqual",
        "SGreaterThanEqual",
        "ULessThan",
        "SLessThan",
        "ULessThanEqual",
        "SLessThanEqual",
    ];
    let extended = [
        "UMin", "SMin", "UMax", "SMax", "UClamp", "SClamp", "SAbs", "FindSMsb", "FindUMsb",
    ];
    let declarations = "%middle = OpConstant %uint 0xfffffffc\n%three = OpConstant %uint 3";
    for (ty, vector, of) in [("uint", "uvec2", "u"), ("int", "ivec2", "i")] {
        let mut code = format!(
            "%back = OpIAdd %uint %n %middle\n%a = OpBitcast %{ty} %back\n%b = OpBitcast %{ty} %three\n\
             %va = OpCompositeConstruct %{vector} %a %b\n%vb = OpCompositeConstruct %{vector} %b %b\n%sum0 = OpIAdd %uint %n %u0\n"
        );
        let mut sum = 0;
        let mut add = |name: &str, result: &str, of: &str, code: &mut String| {
            let at = sum;
            *code += &format!("%r{at} = {}\n", of.replace("NAME", name));
            let number = match result {
                "bool" => {
                    *code += &format!("%t{at} = OpSelect %uint %r{at} %u1 %u2\n");
                    format!("%t{at}")
                }
                "vector" => {
                    *code += &format!(
                        "%c{at} = OpCompositeExtract %{ty} %r{at} 0\n%d{at} = OpCompositeExtract %{ty} %r{at} 1\n\
                         %e{at} = OpISub %{ty} %c{at} %d{at}\n%t{at} = OpBitcast %uint %e{at}\n"
                    );
                    format!("%t{at}")
                }
                _ => {
                    *code += &format!("%t{at} = OpBitcast %uint %r{at}\n");
                    format!("%t{at}")
                }
            };
            *code += &format!(
                "%turned{at} = OpIMul %uint {number} %u{}\n%sum{} = OpIAdd %uint %sum{at} %turned{at}\n",
                1 + at % 16,
                at + 1
            );
            sum += 1;
        };
        // These are of unsigned numbers only.
        let unsigned = |name: &str| ["UDiv", "UMod", "ConvertFToU"].contains(&name);
        for name in two.into_iter().filter(|name| ty == "uint" || !unsigned(name)) {
            add(name, "one", &format!("OpNAME %{ty} %a %b"), &mut code);
            add(name, "vector", &format!("OpNAME %{vector} %va %vb"), &mut code);
        }
        for name in compared {
            add(name, "bool", "OpNAME %bool %a %b", &mut code);
        }
        add("SNegate", "one", &format!("OpNAME %{ty} %a"), &mut code);
        for name in ["BitFieldSExtract", "BitFieldUExtract"] {
            add(name, "one", &format!("OpNAME %{ty} %a %u1 %u4"), &mut code);
        }
        for name in ["ConvertUToF", "ConvertSToF"] {
            add(name, "one", "OpNAME %float %a", &mut code);
        }
        for name in ["ConvertFToU", "ConvertFToS"]
            .into_iter()
            .filter(|name| ty == "uint" || !unsigned(name))
        {
            add(name, "one", &format!("OpNAME %{ty} %f3"), &mut code);
        }
        for name in extended {
            let count = if name.ends_with("Clamp") {
                3
            } else if name.starts_with(['S', 'F']) && !["SMin", "SMax"].contains(&name) {
                1
            } else {
                2
            };
            let operands = ["%a", "%b", &format!("%{of}5")][..count].join(" ");
            add(
                name,
                "one",
                &format!("OpExtInst %{ty} %glsl NAME {operands}"),
                &mut code,
            );
        }
        code += &format!("out 0 %sum{sum}\n");
        // The specification lets these take any signedness, but for the operations of floats.
        let changing = changed_by(ty, &compute("", "", declarations, &code));
        assert!(changing.contains("signs"), "{changing:?}");
    }
}

/// Statements that leave results of some types, eight a module: the type, and the instruction without its result.
fn results_of(
    name: &str,
    passes: &[&str],
    [capabilities, annotations, declarations, front]: [&str; 4],
    all: &[(&str, String)],
) {
    for (number, chunk) in all.chunks(8).enumerate() {
        let mut code = format!("{front}\n");
        for (at, (ty, instruction)) in chunk.iter().enumerate() {
            let (opcode, operands) = instruction.split_once(' ').unwrap_or((instruction, ""));
            code += &format!("%r{at} = {opcode} %{ty} {operands}\n");
            code += &match *ty {
                "uint" => format!("out {at} %r{at}\n"),
                "bool" => format!("%s{at} = OpSelect %uint %r{at} %u1 %u2\nout {at} %s{at}\n"),
                "bvec2" => format!(
                    "%b{at} = OpCompositeExtract %bool %r{at} 0\n%c{at} = OpCompositeExtract %bool %r{at} 1\n\
                     %d{at} = OpSelect %uint %b{at} %u1 %u2\n%e{at} = OpSelect %uint %c{at} %u3 %d{at}\nout {at} %e{at}\n"
                ),
                "uvec2" | "uvec4" => format!(
                    "%b{at} = OpCompositeExtract %uint %r{at} 0\n%c{at} = OpCompositeExtract %uint %r{at} 1\n\
                     %d{at} = OpIMul %uint %b{at} %u13\n%e{at} = OpIAdd %uint %c{at} %d{at}\nout {at} %e{at}\n"
                ),
                _ => format!("%s{at} = OpBitcast %uint %r{at}\nout {at} %s{at}\n"),
            };
        }
        let what = format!(
            "{name} {number}: {:?}",
            chunk.iter().map(|one| &one.1).collect::<Vec<_>>()
        );
        let changing = changed_in(
            &VERSIONS[number % 2..][..1],
            &what,
            &compute(capabilities, annotations, declarations, &code),
        );
        for pass in passes {
            assert!(changing.contains(pass), "{what}: not by {pass}, but by {changing:?}");
        }
    }
}

const SUBGROUPS: &str = "OpCapability GroupNonUniform\nOpCapability GroupNonUniformVote\n\
    OpCapability GroupNonUniformArithmetic\nOpCapability GroupNonUniformBallot\nOpCapability GroupNonUniformShuffle\n\
    OpCapability GroupNonUniformShuffleRelative\nOpCapability GroupNonUniformClustered\nOpCapability GroupNonUniformQuad";

/// Numbers, truths and vectors that differ from lane to lane.
const LANES: &str = "%n5 = OpIMul %uint %n %u5\n%n53 = OpIAdd %uint %n5 %u3\n%k = OpBitwiseAnd %uint %n53 %u7\n\
    %s = OpISub %int %i3 %n\n%f = OpConvertUToF %float %k\n%odd = OpBitwiseAnd %uint %k %u1\n%t = OpIEqual %bool %odd %u0\n\
    %q = OpUGreaterThan %bool %n %u2\n%last = OpISub %uint %u7 %n\n%kv = OpCompositeConstruct %uvec2 %k %n53\n\
    %tv = OpCompositeConstruct %bvec2 %t %q\n%same = OpULessThan %bool %n %u9\n%fv = OpCompositeConstruct %vec2 %f %f2";

const MASKS: &str =
    "%mask = OpConstantComposite %uvec4 %bits %u0 %u0 %u0\n%wide = OpConstantComposite %uvec4 %more %u5 %u0 %u1";
const BITS: &str = "%bits = OpConstant %uint 0xa4\n%more = OpConstant %uint 0xffa5";

#[test]
fn subgroup_operations_keep_their_results() {
    let declarations = format!("{BITS}\n{MASKS}");
    let front = [SUBGROUPS, "", declarations.as_str(), LANES];
    let row = |ty: &'static str, text: &str| (ty, format!("OpGroupNonUniform{text}"));
    let simple = [
        row("bool", "Elect %u3"),
        row("bool", "All %u3 %t"),
        row("bool", "All %u3 %same"),
        row("bool", "Any %u3 %t"),
        row("bool", "AllEqual %u3 %k"),
        row("bool", "AllEqual %u3 %x0"),
        row("bool", "AllEqual %u3 %t"),
        row("bool", "AllEqual %u3 %same"),
        row("bool", "AllEqual %u3 %kv"),
        row("bool", "AllEqual %u3 %tv"),
        row("bool", "AllEqual %u3 %f"),
        row("bool", "AllEqual %u3 %fv"),
        row("uint", "Broadcast %u3 %k %u3"),
        row("bool", "Broadcast %u3 %t %u3"),
        row("bool", "Broadcast %u3 %q %u1"),
        row("bvec2", "Broadcast %u3 %tv %u2"),
        row("uint", "BroadcastFirst %u3 %k"),
        row("bool", "BroadcastFirst %u3 %t"),
        row("uvec4", "Ballot %u3 %t"),
        row("bool", "InverseBallot %u3 %mask"),
        row("bool", "BallotBitExtract %u3 %mask %last"),
        row("bool", "BallotBitExtract %u3 %mask %u5"),
        row("uint", "BallotBitCount %u3 Reduce %wide"),
        row("uint", "BallotBitCount %u3 InclusiveScan %wide"),
        row("uint", "BallotBitCount %u3 ExclusiveScan %mask"),
        row("uint", "BallotFindLSB %u3 %mask"),
        row("uint", "BallotFindMSB %u3 %mask"),
        row("uint", "Shuffle %u3 %k %last"),
        row("bool", "Shuffle %u3 %t %last"),
        row("bvec2", "Shuffle %u3 %tv %last"),
        row("bool", "ShuffleXor %u3 %t %u3"),
        row("bool", "ShuffleUp %u3 %t %u0"),
        row("bool", "ShuffleDown %u3 %q %u0"),
        row("uint", "QuadBroadcast %u3 %k %u2"),
        row("bool", "QuadBroadcast %u3 %t %u1"),
        row("bool", "QuadSwap %u3 %t %u0"),
        row("bool", "QuadSwap %u3 %q %u1"),
        row("bool", "QuadSwap %u3 %t %u2"),
        row("uint", "QuadSwap %u3 %k %u2"),
        row("bool", "Elect %u3"),
    ];
    results_of("simple", &["subgroups", "wgsl"], front, &simple);
    let joins = [
        ("uint", "IAdd", "%k"),
        ("uint", "IMul", "%k"),
        ("uint", "UMin", "%n53"),
        ("uint", "UMax", "%k"),
        ("int", "SMin", "%s"),
        ("int", "SMax", "%s"),
        ("int", "IAdd", "%s"),
        ("float", "FAdd", "%f"),
        ("float", "FMul", "%f"),
        ("float", "FMin", "%f"),
        ("float", "FMax", "%f"),
        ("uint", "BitwiseAnd", "%n53"),
        ("uint", "BitwiseOr", "%k"),
        ("uint", "BitwiseXor", "%n53"),
        ("bool", "LogicalAnd", "%t"),
        ("bool", "LogicalOr", "%q"),
        ("bool", "LogicalXor", "%t"),
        ("uvec2", "IAdd", "%kv"),
        ("uvec2", "UMin", "%kv"),
        ("uvec2", "BitwiseXor", "%kv"),
        ("bvec2", "LogicalXor", "%tv"),
    ];
    let mut all = Vec::new();
    for (ty, join, value) in joins {
        for way in [
            "Reduce VALUE",
            "InclusiveScan VALUE",
            "ExclusiveScan VALUE",
            "ClusteredReduce VALUE %u4",
            "ClusteredReduce VALUE %u2",
            "ClusteredReduce VALUE %u1",
            "ClusteredReduce VALUE %u8",
        ] {
            all.push(row(ty, &format!("{join} %u3 {}", way.replace("VALUE", value))));
        }
    }
    results_of("joined", &["subgroups"], front, &all);
    // Only some lanes take part.
    let inside =
        format!("{LANES}\nOpSelectionMerge %behind None\nOpBranchConditional %q %inside %behind\n%inside = OpLabel");
    for (ty, join, value) in joins.into_iter().filter(|(ty, ..)| *ty == "uint") {
        let mut code = format!("{inside}\n");
        for (at, way) in ["Reduce", "InclusiveScan", "ExclusiveScan"].into_iter().enumerate() {
            code += &format!("%r{at} = OpGroupNonUniform{join} %{ty} %u3 {way} {value}\nout {at} %r{at}\n");
        }
        code += "%e = OpGroupNonUniformElect %bool %u3\n%es = OpSelect %uint %e %u1 %u2\nout 3 %es\nOpBranch %behind\n%behind = OpLabel\n";
        changed_by(join, &compute(SUBGROUPS, "", &declarations, &code));
    }
}

#[test]
fn subgroup_operations_of_extensions_keep_their_results() {
    let declarations = format!("{BITS}\n{MASKS}");
    let with = |more: &str| format!("{SUBGROUPS}\n{more}");
    let rotate = with("OpCapability GroupNonUniformRotateKHR\nOpExtension \"SPV_KHR_subgroup_rotate\"");
    let row = |ty: &'static str, text: &str| (ty, text.to_owned());
    results_of(
        "rotations",
        &["subgroups", "wgsl"],
        [&rotate, "", &declarations, LANES],
        &[
            row("uint", "OpGroupNonUniformRotateKHR %u3 %k %u3"),
            row("uint", "OpGroupNonUniformRotateKHR %u3 %k %u1 %u4"),
            row("float", "OpGroupNonUniformRotateKHR %u3 %f %x0 %u2"),
        ],
    );
    let older = with(
        "OpCapability SubgroupBallotKHR\nOpCapability SubgroupVoteKHR\nOpExtension \"SPV_KHR_shader_ballot\"\n\
         OpExtension \"SPV_KHR_subgroup_vote\"",
    );
    results_of(
        "older",
        &["subgroups", "wgsl"],
        [&older, "", &declarations, LANES],
        &[
            row("uvec4", "OpSubgroupBallotKHR %t"),
            row("uint", "OpSubgroupFirstInvocationKHR %k"),
            row("bool", "OpSubgroupAllKHR %t"),
            row("bool", "OpSubgroupAnyKHR %t"),
            row("bool", "OpSubgroupAllKHR %same"),
            row("bool", "OpSubgroupAllEqualKHR %same"),
            row("bool", "OpSubgroupAllEqualKHR %t"),
            row("uint", "OpSubgroupReadInvocationKHR %k %last"),
        ],
    );
    let quads = with("OpCapability QuadControlKHR\nOpExtension \"SPV_KHR_quad_control\"");
    results_of(
        "votes in a quad",
        &["subgroups"],
        [&quads, "", &declarations, LANES],
        &[
            row("bool", "OpGroupNonUniformQuadAllKHR %t"),
            row("bool", "OpGroupNonUniformQuadAnyKHR %t"),
            row("bool", "OpGroupNonUniformQuadAnyKHR %q"),
            row("bool", "OpGroupNonUniformQuadAllKHR %same"),
        ],
    );
    // The masks of lanes.
    let names = ["Eq", "Ge", "Gt", "Le", "Lt"];
    let annotations: String = names
        .map(|name| format!("OpDecorate %{name} BuiltIn Subgroup{name}Mask\n"))
        .concat();
    let variables: String = names
        .map(|name| format!("%{name} = OpVariable %to_mask Input\n"))
        .concat();
    let declarations =
        format!("%to_mask = OpTypePointer Input %uvec4\n%to_part = OpTypePointer Input %uint\n{variables}");
    let mut code = String::new();
    for (at, name) in names.into_iter().enumerate() {
        code +=
            &format!("%v{at} = OpLoad %uvec4 %{name}\n%w{at} = OpCompositeExtract %uint %v{at} 0\nout {at} %w{at}\n");
    }
    code += "%part = OpAccessChain %to_part %Gt %u0\n%p = OpLoad %uint %part\nout 5 %p\n";
    let changing = changed_by("masks", &compute(SUBGROUPS, &annotations, &declarations, &code));
    assert!(changing.contains("subgroups"), "{changing:?}");
}

#[test]
fn workgroups_in_a_row_keep_their_places() {
    let text = |size: &str, used: &[&str]| {
        let built_ins = [
            ("local", "LocalInvocationId", "to_uvec3"),
            ("global", "GlobalInvocationId", "to_uvec3"),
            ("group", "WorkgroupId", "to_uvec3"),
            ("index", "LocalInvocationIndex", "to_uint"),
        ];
        let of = |f: &dyn Fn(&(&str, &str, &str)) -> String| -> String {
            built_ins.iter().filter(|one| used.contains(&one.0)).map(f).collect()
        };
        let annotations = of(&|(name, built_in, _)| format!("OpDecorate %{name} BuiltIn {built_in}\n"));
        let variables = of(&|(name, _, ty)| format!("%{name} = OpVariable %{ty} Input\n"));
        let mut code = "%n = OpLoad %uint %lane\n%first = OpIMul %uint %n %u4\n".to_owned();
        let mut sum = "%n".to_owned();
        let mut add = |value: String, code: &mut String| {
            let at = code.len();
            *code += &format!("%a{at} = OpIMul %uint {sum} %u31\n%b{at} = OpIAdd %uint %a{at} {value}\n");
            sum = format!("%b{at}");
        };
        for name in ["local", "global", "group"].iter().filter(|name| used.contains(*name)) {
            code += &format!(
                "%v_{name} = OpLoad %uvec3 %{name}\n%c_{name} = OpAccessChain %to_uint %{name} %u1\n%y_{name} = OpLoad %uint %c_{name}\n"
            );
            add(format!("%y_{name}"), &mut code);
            for part in 0..3 {
                code += &format!("%p_{name}{part} = OpCompositeExtract %uint %v_{name} {part}\n");
                add(format!("%p_{name}{part}"), &mut code);
            }
        }
        if used.contains(&"index") {
            code += "%i = OpLoad %uint %index\n";
            add("%i".to_owned(), &mut code);
        }
        format!(
            "OpCapability Shader\nOpCapability GroupNonUniform\nOpMemoryModel Logical GLSL450\n\
             OpEntryPoint GLCompute %main \"main\" {{interface}}\nOpExecutionMode %main LocalSize {size}\n\
             OpDecorate %lane BuiltIn SubgroupLocalInvocationId\n{annotations}OpDecorate %words ArrayStride 4\n\
             OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\nOpDecorate %o DescriptorSet 0\nOpDecorate %o Binding 0\n\
             %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%uvec3 = OpTypeVector %uint 3\n\
             %u0 = OpConstant %uint 0\n%u1 = OpConstant %uint 1\n%u4 = OpConstant %uint 4\n%u31 = OpConstant %uint 31\n\
             %u96 = OpConstant %uint 96\n%words = OpTypeArray %uint %u96\n%block = OpTypeStruct %words\n\
             %to_block = OpTypePointer StorageBuffer %block\n%to_word = OpTypePointer StorageBuffer %uint\n\
             %to_uint = OpTypePointer Input %uint\n%to_uvec3 = OpTypePointer Input %uvec3\n%lane = OpVariable %to_uint Input\n\
             {variables}%o = OpVariable %to_block StorageBuffer\n%main = OpFunction %void None %fn\n%start = OpLabel\n{code}\
             %at = OpAccessChain %to_word %o %u0 %first\nOpStore %at {sum}\nOpReturn\nOpFunctionEnd\n"
        )
    };
    let rows: [&[&str]; 6] = [
        &[],
        &["local"],
        &["global"],
        &["local", "global"],
        &["local", "global", "group", "index"],
        &["index", "group"],
    ];
    for size in ["4 3 2", "2 2 1", "1 1 8", "3 1 4", "1 5 1"] {
        for used in rows {
            let changing = changed_by(&format!("{size} {used:?}"), &text(size, used));
            assert!(
                changing.contains("workgroups-in-a-row"),
                "{size} {used:?}: {changing:?}"
            );
        }
    }
    for used in rows {
        assert!(!changed_by("a row", &text("8 1 1", used)).contains("workgroups-in-a-row"));
    }
}

/// A compute shader with another buffer, `b`, at binding 2: its class, its type `%t` with the decorations, and code.
fn buffered(class: &str, annotations: &str, types: &str, code: &str) -> String {
    let annotations = format!(
        "OpDecorate %b DescriptorSet 0\nOpDecorate %b Binding 2\nOpDecorate %t Block\nOpMemberDecorate %t 0 Offset 0\n{annotations}"
    );
    let declarations = format!(
        "%to_t = OpTypePointer {class} %t\n%to_uint = OpTypePointer {class} %uint\n%b = OpVariable %to_t {class}\n"
    );
    let declarations = format!("{types}\n{declarations}");
    compute("", &annotations, &declarations, code)
}

#[test]
fn arrays_in_buffers_keep_their_places() {
    // An array's element and stride, and what changes it: WGSL's strides are those of the elements, in uniform buffers
    // multiples of 16.
    let rows: &[(&str, &str, u32, &str)] = &[
        ("Uniform", "uint", 4, "close-arrays"),
        ("Uniform", "uint", 8, "close-arrays"),
        ("Uniform", "uint", 12, "close-arrays"),
        ("Uniform", "uint", 16, "strides"),
        ("Uniform", "uint", 32, "strides"),
        ("Uniform", "uvec2", 8, "close-arrays"),
        ("Uniform", "uvec2", 16, "strides"),
        ("Uniform", "uvec3", 12, "close-arrays"),
        ("Uniform", "uvec3", 16, ""),
        ("Uniform", "uvec3", 32, "strides"),
        ("Uniform", "uvec4", 16, ""),
        ("Uniform", "uvec4", 32, "strides"),
        ("StorageBuffer", "uint", 4, ""),
        ("StorageBuffer", "uint", 8, "strides"),
        ("StorageBuffer", "uint", 20, "strides"),
        ("StorageBuffer", "uvec2", 8, ""),
        ("StorageBuffer", "uvec2", 12, "strides"),
        ("StorageBuffer", "uvec2", 16, "strides"),
        ("StorageBuffer", "uvec3", 12, "close-arrays"),
        ("StorageBuffer", "uvec3", 16, ""),
        ("StorageBuffer", "uvec3", 20, "strides"),
        ("StorageBuffer", "uvec3", 32, "strides"),
        ("StorageBuffer", "uvec4", 16, ""),
        ("StorageBuffer", "uvec4", 48, "strides"),
    ];
    for (class, element, stride, pass) in rows {
        let count = match *element {
            "uint" => 1,
            other => other[4..].parse::<u32>().expect("a count"),
        };
        let annotations = format!("OpDecorate %array ArrayStride {stride}");
        let types = format!(
            "%array = OpTypeArray %{element} %u8\n%t = OpTypeStruct %array\n%to_element = OpTypePointer {class} %{element}\n\
             %to_array = OpTypePointer {class} %array"
        );
        // The number's own element, a constant one, a part of either; by a signed index; through a pointer to the array.
        let mut code = "%in_row = OpBitcast %int %n\n%e0 = OpAccessChain %to_element %b %u0 %n\n%e1 = OpAccessChain %to_element %b %i0 %i3\n\
                        %e2 = OpAccessChain %to_element %b %u0 %in_row\n%a = OpAccessChain %to_array %b %u0\n%e3 = OpAccessChain %to_element %a %u5\n".to_owned();
        for at in 0..4 {
            code += &format!("%v{at} = OpLoad %{element} %e{at}\n");
            match count {
                1 => code += &format!("out {at} %v{at}\n"),
                _ => {
                    let part = (at + 1) % count;
                    code += &format!(
                        "%p{at} = OpCompositeExtract %uint %v{at} {part}\n%l{at} = OpCompositeExtract %uint %v{at} {}\n",
                        count - 1
                    );
                    code += &format!(
                        "%m{at} = OpIMul %uint %p{at} %u13\n%s{at} = OpIAdd %uint %m{at} %l{at}\nout {at} %s{at}\n"
                    );
                }
            }
        }
        if count > 1 {
            code += "%low = OpBitwiseAnd %uint %n %u1\n%q0 = OpAccessChain %to_uint %b %u0 %n %u1\n%w0 = OpLoad %uint %q0\nout 4 %w0\n\
                     %q1 = OpAccessChain %to_uint %b %u0 %u6 %low\n%w1 = OpLoad %uint %q1\nout 5 %w1\n\
                     %q2 = OpAccessChain %to_uint %e0 %low\n%w2 = OpLoad %uint %q2\nout 6 %w2\n";
        }
        if *class == "StorageBuffer" {
            match count {
                1 => code += "%sum = OpIAdd %uint %v0 %x1\nOpStore %e0 %sum\n",
                _ => {
                    code += &format!(
                        "%sum = OpIAdd %{element} %v0 %v0\nOpStore %e0 %sum\n%q3 = OpAccessChain %to_uint %b %u0 %n %u1\nOpStore %q3 %x2\n"
                    )
                }
            }
        }
        let what = format!("{element} every {stride} bytes in {class}");
        let changing = changed_by(&what, &buffered(class, &annotations, &types, &code));
        let changes = |wanted: &str| changing.contains(wanted);
        let any = changes("close-arrays") || changes("strides");
        assert!(
            if pass.is_empty() { !any } else { changes(pass) },
            "{what}: {pass}, {changing:?}"
        );
        assert_eq!(changes("wgsl"), !pass.is_empty(), "{what}: {changing:?}");
    }
}

#[test]
fn nested_arrays_in_buffers_keep_their_places() {
    type Row<'a> = (&'a str, &'a [&'a str], &'a str, &'a str, &'a str, &'a str);
    let rows: &[Row<'_>] = &[
        (
            "arrays of padded arrays",
            &["strides", "wgsl", "bounded"],
            "StorageBuffer",
            "OpDecorate %inner ArrayStride 8\nOpDecorate %outer ArrayStride 24",
            "%inner = OpTypeArray %uint %u3\n%outer = OpTypeArray %inner %u8\n%t = OpTypeStruct %outer\n\
             %to_inner = OpTypePointer StorageBuffer %inner",
            "%p = OpAccessChain %to_uint %b %u0 %n %u2\n%v = OpLoad %uint %p\nout 0 %v\n\
             %i = OpAccessChain %to_inner %b %u0 %n\n%q = OpAccessChain %to_uint %i %u1\n%w = OpLoad %uint %q\nout 1 %w\n\
             %l = OpLoad %inner %i\n%e = OpCompositeExtract %uint %l 2\nout 2 %e\nOpStore %q %x0",
        ),
        (
            "arrays of structs with padding behind",
            &["bounded"],
            "StorageBuffer",
            "OpDecorate %all ArrayStride 32\nOpMemberDecorate %one 0 Offset 0\nOpMemberDecorate %one 1 Offset 16",
            "%one = OpTypeStruct %uvec3 %uint\n%all = OpTypeArray %one %u8\n%t = OpTypeStruct %all",
            "%p = OpAccessChain %to_uint %b %u0 %u2 %u0 %u2\n%v = OpLoad %uint %p\nout 0 %v\n\
             %q = OpAccessChain %to_uint %b %u0 %n %u1\n%w = OpLoad %uint %q\nout 1 %w\nOpStore %q %v",
        ),
        (
            "arrays of structs with wide strides",
            &["strides", "wgsl"],
            "StorageBuffer",
            "OpDecorate %all ArrayStride 40\nOpMemberDecorate %one 0 Offset 0\nOpMemberDecorate %one 1 Offset 8",
            "%one = OpTypeStruct %uvec2 %uint\n%all = OpTypeArray %one %u8\n%t = OpTypeStruct %all\n\
             %to_one = OpTypePointer StorageBuffer %one",
            "%o1 = OpAccessChain %to_one %b %u0 %n\n%whole = OpLoad %one %o1\n%v = OpCompositeExtract %uint %whole 0 1\n\
             %w = OpCompositeExtract %uint %whole 1\nout 0 %v\nout 1 %w\n%part = OpAccessChain %to_uint %o1 %u0 %u0\n\
             OpStore %part %w\n%k = OpLoad %uint %part\nout 2 %k",
        ),
        (
            "a member behind a padded array",
            &["strides", "wgsl"],
            "StorageBuffer",
            "OpDecorate %all ArrayStride 12\nOpMemberDecorate %t 1 Offset 100",
            "%all = OpTypeArray %uint %u8\n%t = OpTypeStruct %all %uint",
            "%p = OpAccessChain %to_uint %b %u0 %n\n%v = OpLoad %uint %p\nout 0 %v\n\
             %q = OpAccessChain %to_uint %b %u1\n%w = OpLoad %uint %q\nout 1 %w\nOpStore %p %w",
        ),
        (
            "runtime arrays",
            &["strides", "wgsl", "bounded"],
            "StorageBuffer",
            "OpDecorate %all ArrayStride 8\nOpMemberDecorate %t 1 Offset 16",
            "%all = OpTypeRuntimeArray %uint\n%t = OpTypeStruct %uvec4 %all",
            "%p = OpAccessChain %to_uint %b %u1 %n\n%v = OpLoad %uint %p\nout 0 %v\nOpStore %p %x3\n\
             %l = OpArrayLength %uint %b 1\nout 1 %l\n%c = OpAccessChain %to_uint %b %u0 %u2\n%w = OpLoad %uint %c\nout 2 %w",
        ),
        (
            "runtime arrays of close vectors",
            &["close-arrays", "wgsl"],
            "StorageBuffer",
            "OpDecorate %all ArrayStride 12",
            "%all = OpTypeRuntimeArray %uvec3\n%t = OpTypeStruct %all\n%to_v = OpTypePointer StorageBuffer %uvec3",
            "%p = OpAccessChain %to_v %b %u0 %n\n%v = OpLoad %uvec3 %p\n%y = OpCompositeExtract %uint %v 1\nout 0 %y\n\
             %r = OpVectorShuffle %uvec3 %v %v 2 0 1\nOpStore %p %r",
        ),
        (
            "indices that are bounded",
            &["bounded"],
            "StorageBuffer",
            "OpDecorate %all ArrayStride 4\nOpMemberDecorate %t 1 Offset 32\nOpDecorate %more ArrayStride 16",
            "%all = OpTypeArray %uint %u8\n%more = OpTypeRuntimeArray %uvec4\n%t = OpTypeStruct %all %more",
            "%in_row = OpBitcast %int %n\n%p = OpAccessChain %to_uint %b %u0 %in_row\n%v = OpLoad %uint %p\nout 0 %v\n\
             %q = OpAccessChain %to_uint %b %u1 %n %i2\n%low = OpBitwiseAnd %uint %n %u3\n%w = OpLoad %uint %q\nout 1 %w\n\
             %r = OpInBoundsAccessChain %to_uint %b %u1 %in_row %low\n%z = OpLoad %uint %r\nout 2 %z",
        ),
        (
            "arrays that are stored as a whole",
            &["hlsl"],
            "StorageBuffer",
            "OpDecorate %inner ArrayStride 4\nOpDecorate %outer ArrayStride 12",
            "%inner = OpTypeArray %uint %u3\n%outer = OpTypeArray %inner %u2\n%t = OpTypeStruct %outer\n\
             %to_outer = OpTypePointer StorageBuffer %outer\n%one = OpConstantComposite %inner %u4 %u5 %u6\n\
             %two = OpConstantComposite %inner %u7 %u8 %u9\n%both = OpConstantComposite %outer %one %two",
            "%p = OpAccessChain %to_outer %b %u0\nOpStore %p %both\n%q = OpAccessChain %to_uint %b %u0 %u1 %u2\n\
             %v = OpLoad %uint %q\nout 0 %v",
        ),
        (
            "matrices by columns and rows",
            &["strides", "wgsl"],
            "Uniform",
            "OpMemberDecorate %t 0 ColMajor\nOpMemberDecorate %t 0 MatrixStride 16\nOpMemberDecorate %t 1 Offset 64\n\
             OpMemberDecorate %t 1 RowMajor\nOpMemberDecorate %t 1 MatrixStride 16\nOpMemberDecorate %t 2 Offset 128\n\
             OpDecorate %all ArrayStride 16",
            "%m = OpTypeMatrix %vec3 3\n%all = OpTypeArray %float %u8\n%t = OpTypeStruct %m %m %all\n%to_float = OpTypePointer Uniform %float",
            "%p = OpAccessChain %to_float %b %u0 %u2 %u1\n%v = OpLoad %float %p\n%vb = OpBitcast %uint %v\nout 0 %vb\n\
             %q = OpAccessChain %to_float %b %u1 %u2 %u1\n%w = OpLoad %float %q\n%wb = OpBitcast %uint %w\nout 1 %wb\n\
             %r = OpAccessChain %to_float %b %u2 %n\n%z = OpLoad %float %r\n%zb = OpBitcast %uint %z\nout 2 %zb",
        ),
    ];
    for (name, passes, class, annotations, types, code) in rows {
        let changing = changed_by(name, &buffered(class, annotations, types, code));
        for pass in *passes {
            assert!(
                changing.contains(pass),
                "{name} is not changed by {pass}, but by {changing:?}"
            );
        }
    }
}

/// A vertex or fragment shader with inputs and outputs: their decorations and types, and code.
fn stage(fragment: bool, annotations: &str, types: &str, code: &str) -> String {
    let (model, mode) = match fragment {
        true => ("Fragment", "OpExecutionMode %main OriginUpperLeft\n"),
        false => ("Vertex", ""),
    };
    format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint {model} %main \"main\" {{interface}}\n{mode}{annotations}\n\
         %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%bool = OpTypeBool\n%uint = OpTypeInt 32 0\n%int = OpTypeInt 32 1\n\
         %float = OpTypeFloat 32\n%vec2 = OpTypeVector %float 2\n%vec3 = OpTypeVector %float 3\n%vec4 = OpTypeVector %float 4\n\
         %uvec2 = OpTypeVector %uint 2\n%u0 = OpConstant %uint 0\n%u1 = OpConstant %uint 1\n%u2 = OpConstant %uint 2\n\
         %u3 = OpConstant %uint 3\n%f0 = OpConstant %float 0\n%f1 = OpConstant %float 1\n%f2 = OpConstant %float 2\n{types}\n\
         %main = OpFunction %void None %fn\n%start = OpLabel\n{code}\nOpReturn\nOpFunctionEnd\n"
    )
}

#[test]
fn inputs_and_outputs_keep_their_locations() {
    // Name, changing pass, whether a fragment shader, decorations, types, code.
    let rows: &[(&str, &str, bool, &str, &str, &str)] = &[
        (
            "arrays, element by element",
            "interface",
            false,
            "OpDecorate %in Location 2\nOpDecorate %out Location 1",
            "%array = OpTypeArray %vec3 %u3\n%to_in = OpTypePointer Input %array\n%to_out = OpTypePointer Output %array\n\
             %in_part = OpTypePointer Input %vec3\n%out_part = OpTypePointer Output %vec3\n%in = OpVariable %to_in Input\n\
             %out = OpVariable %to_out Output",
            "%a = OpAccessChain %in_part %in %u0\n%b = OpAccessChain %in_part %in %u2\n%va = OpLoad %vec3 %a\n%vb = OpLoad %vec3 %b\n\
             %x = OpAccessChain %out_part %out %u1\n%y = OpAccessChain %out_part %out %u0\nOpStore %x %va\nOpStore %y %vb",
        ),
        (
            "matrices as a whole",
            "interface",
            false,
            "OpDecorate %in Location 0\nOpDecorate %out Location 4",
            "%mat = OpTypeMatrix %vec2 3\n%to_in = OpTypePointer Input %mat\n%to_out = OpTypePointer Output %mat\n\
             %in = OpVariable %to_in Input\n%out = OpVariable %to_out Output",
            "%m = OpLoad %mat %in\nOpStore %out %m",
        ),
        (
            "blocks with locations of members, and without",
            "interface",
            true,
            "OpDecorate %b Block\nOpMemberDecorate %b 0 Location 3\nOpMemberDecorate %b 1 Location 7\nOpMemberDecorate %b 1 Flat\n\
             OpDecorate %out Location 0\nOpDecorate %c Block\nOpDecorate %more Location 9\nOpMemberDecorate %c 0 Centroid\nOpDecorate %more NoPerspective",
            "%pair = OpTypeArray %vec4 %u2\n%b = OpTypeStruct %pair %uint\n%c = OpTypeStruct %vec4 %vec4\n%to_b = OpTypePointer Input %b\n\
             %to_c = OpTypePointer Input %c\n%to_u = OpTypePointer Input %uint\n%to_v = OpTypePointer Input %vec4\n\
             %to_out = OpTypePointer Output %vec4\n%in = OpVariable %to_b Input\n%more = OpVariable %to_c Input\n%out = OpVariable %to_out Output",
            "%p = OpAccessChain %to_v %in %u0 %u1\n%v = OpLoad %vec4 %p\n%q = OpAccessChain %to_u %in %u1\n%n = OpLoad %uint %q\n\
             %f = OpBitcast %float %n\n%r = OpAccessChain %to_v %more %u1\n%w = OpLoad %vec4 %r\n%z = OpCompositeExtract %float %w 2\n\
             %all = OpCompositeInsert %vec4 %f %v 0\n%every = OpCompositeInsert %vec4 %z %all 3\nOpStore %out %every",
        ),
        (
            "outputs of two returns",
            "interface",
            false,
            "OpDecorate %in Location 0\nOpDecorate %out Location 1\nOpDecorate %position BuiltIn Position",
            "%array = OpTypeArray %float %u2\n%to_in = OpTypePointer Input %uint\n%to_out = OpTypePointer Output %array\n\
             %part = OpTypePointer Output %float\n%to_position = OpTypePointer Output %vec4\n%in = OpVariable %to_in Input\n\
             %out = OpVariable %to_out Output\n%position = OpVariable %to_position Output\n%zero = OpConstantNull %array",
            "%n = OpLoad %uint %in\n%is = OpIEqual %bool %n %u2\nOpStore %out %zero\n%p = OpAccessChain %part %out %u1\n\
             OpSelectionMerge %behind None\nOpBranchConditional %is %yes %behind\n%yes = OpLabel\nOpStore %p %f1\nOpReturn\n\
             %behind = OpLabel\nOpStore %p %f2\n%f = OpBitcast %float %n\n%v = OpCompositeConstruct %vec4 %f %f %f1 %f2\nOpStore %position %v",
        ),
        (
            "integers are flat",
            "flat",
            false,
            "OpDecorate %in Location 0\nOpDecorate %out Location 1\nOpDecorate %more Location 2",
            "%to_in = OpTypePointer Input %uvec2\n%to_out = OpTypePointer Output %uvec2\n%to_more = OpTypePointer Output %int\n\
             %in = OpVariable %to_in Input\n%out = OpVariable %to_out Output\n%more = OpVariable %to_more Output",
            "%v = OpLoad %uvec2 %in\nOpStore %out %v\n%x = OpCompositeExtract %uint %v 1\n%i = OpBitcast %int %x\nOpStore %more %i",
        ),
    ];
    for (name, pass, fragment, annotations, types, code) in rows {
        let changing = changed_by(name, &stage(*fragment, annotations, types, code));
        assert!(changing.contains(pass), "{name}: {changing:?}");
    }
    // What stays as it is: vectors, blocks of built-ins, what has a component.
    let rows: &[(&str, &str, &str, &str)] = &[
        (
            "vectors",
            "OpDecorate %in Location 0\nOpDecorate %out Location 1",
            "%to_in = OpTypePointer Input %vec4\n%to_out = OpTypePointer Output %vec4\n%in = OpVariable %to_in Input\n%out = OpVariable %to_out Output",
            "%v = OpLoad %vec4 %in\nOpStore %out %v",
        ),
        (
            "built-ins",
            "OpDecorate %b Block\nOpMemberDecorate %b 0 BuiltIn Position\nOpMemberDecorate %b 1 BuiltIn PointSize\nOpDecorate %in Location 0",
            "%b = OpTypeStruct %vec4 %float\n%to_b = OpTypePointer Output %b\n%to_v = OpTypePointer Output %vec4\n\
             %to_in = OpTypePointer Input %vec4\n%in = OpVariable %to_in Input\n%out = OpVariable %to_b Output",
            "%v = OpLoad %vec4 %in\n%p = OpAccessChain %to_v %out %u0\nOpStore %p %v",
        ),
    ];
    for (name, annotations, types, code) in rows {
        let changing = changed_by(name, &stage(false, annotations, types, code));
        assert!(
            !changing.contains("interface") && !changing.contains("flat"),
            "{name}: {changing:?}"
        );
    }
}
