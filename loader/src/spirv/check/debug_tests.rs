//! Rules of debug information, each broken once.

use super::newer_tests::{finding, words_of};
use crate::spirv::op;

/// The name of the set, and its instructions by place, each place with a mark in [`AROUND`].
type Parts = [&'static str; 5];

const MARKS: [&str; 5] = ["SET", "DECLARED", "PARAMETER", "BODY", "NEXT"];

/// What the modules share; `@` stands for an instruction of the set.
const AROUND: &str = "OpCapability Shader\nOpCapability Int64\nOpExtension \"SPV_KHR_non_semantic_info\"\n\
                      OpExtension \"SPV_KHR_relaxed_extended_instruction\"\n%set = OpExtInstImport \"SET\"\n\
                      %std = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel Logical GLSL450\n\
                      OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n%text = OpString \"a\"\n\
                      %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%float = OpTypeFloat 32\n%uint = OpTypeInt 32 0\n\
                      %int = OpTypeInt 32 1\n%to = OpTypePointer Function %uint\n%takes = OpTypeFunction %void %to\n\
                      %n0 = OpConstant %uint 0\n%n1 = OpConstant %uint 1\n%n2 = OpConstant %uint 2\n%n3 = OpConstant %uint 3\n\
                      %n4 = OpConstant %uint 4\n%n5 = OpConstant %uint 5\n%n6 = OpConstant %uint 6\n%n32 = OpConstant %uint 32\n\
                      %signed = OpConstant %int 3\n%real = OpConstant %float 1\n%many = OpSpecConstant %uint 7\n\
                      DECLARED%other = OpFunction %void None %takes\n%given = OpFunctionParameter %to\nPARAMETER\
                      %start = OpLabel\nOpReturn\nOpFunctionEnd\n%main = OpFunction %void None %fn\n%entry = OpLabel\n\
                      %local = OpVariable %to Function\nBODYOpBranch %next\n%next = OpLabel\nNEXTOpReturn\nOpFunctionEnd\n";

const SHADER: Parts = [
    "NonSemantic.Shader.DebugInfo.100",
    "%none = @ DebugInfoNone\n%source = @ DebugSource %text %text\n%unit = @ DebugCompilationUnit %n1 %n4 %source %n2\n\
     %basic = @ DebugTypeBasic %text %n32 %n6 %n0\n%pointer = @ DebugTypePointer %basic %n0 %n0\n\
     %constant = @ DebugTypeQualifier %basic %n0\n%array = @ DebugTypeArray %basic %n4 %many %n0\n\
     %vector = @ DebugTypeVector %basic %n4\n%matrix = @ DebugTypeMatrix %vector %n4 %n0\n\
     %alias = @ DebugTypedef %text %basic %source %n1 %n1 %unit\n\
     %enum = @ DebugTypeEnum %text %none %source %n1 %n1 %unit %n32 %n0 %signed %text\n\
     %member = @ DebugTypeMember %text %matrix %source %n1 %n1 %n0 %n32 %n0\n\
     %composite = @ DebugTypeComposite %text %n1 %source %n1 %n1 %unit %text %n32 %n0 %member\n\
     %base = @ DebugTypeInheritance %composite %n0 %n32 %n0\n%type = @ DebugTypeFunction %n0 %void %array\n\
     %declared = @ DebugFunctionDeclaration %text %type %source %n1 %n1 %composite %text %n0\n\
     %function = @ DebugFunction %text %type %source %n1 %n1 %composite %text %n0 %n1 %declared\n\
     %block = @ DebugLexicalBlock %source %n1 %n1 %function %text\n%inlined = @ DebugInlinedAt %n1 %block\n\
     %variable = @ DebugLocalVariable %text %basic %source %n1 %n1 %block %n0 %n1\n\
     %global = @ DebugGlobalVariable %text %basic %source %n1 %n1 %unit %text %n4 %n0\n\
     %sized = @ DebugTypeArray %basic %global\n%plus = @ DebugOperation %n3 %n4\n%value = @ DebugExpression %plus\n\
     %start_of = @ DebugEntryPoint %function %unit %text %text\n\
     %own = OpExtInstWithForwardRefsKHR %void %set DebugTypeFunction %n0 %void %later\n\
     %later = @ DebugTypePointer %basic %n0 %n0\n",
    "%in = @ DebugDeclare %variable %given %value\n",
    "%of = @ DebugFunctionDefinition %function %main\n%scope = @ DebugScope %block %inlined\n\
     %line = @ DebugLine %source %n1 %n1 %n2 %n3\n%is = @ DebugDeclare %variable %local %value %signed\n\
     %set_to = @ DebugValue %variable %n1 %value %signed %global\n%no_line = @ DebugNoLine\n%no_scope = @ DebugNoScope\n",
    "",
];

const OPEN_CL: Parts = [
    "OpenCL.DebugInfo.100",
    "%none = @ DebugInfoNone\n%source = @ DebugSource %text\n%unit = @ DebugCompilationUnit 1 4 %source GLSL\n\
     %basic = @ DebugTypeBasic %text %n32 Unsigned\n%vector = @ DebugTypeVector %basic 4\n\
     %array = @ DebugTypeArray %vector %n4\n%type = @ DebugTypeFunction FlagIsPublic %void\n\
     %composite = @ DebugTypeComposite %text Structure %source 1 1 %unit %text %n32 FlagIsPublic %method %member\n\
     %member = @ DebugTypeMember %text %array %source 1 1 %composite %n0 %n32 FlagIsPublic\n\
     %method = @ DebugFunction %text %type %source 1 1 %composite %text FlagIsPublic 1 %main\n\
     %base = @ DebugTypeInheritance %composite %composite %n0 %n32 FlagIsPublic\n\
     %parameter = @ DebugTypeTemplateParameter %text %basic %n4 %source 1 1\n\
     %template = @ DebugTypeTemplate %composite %parameter\n\
     %variable = @ DebugLocalVariable %text %parameter %source 1 1 %method FlagIsLocal 1\n\
     %plus = @ DebugOperation PlusUconst 4\n%value = @ DebugExpression %plus\n",
    "",
    "%is = @ DebugDeclare %variable %local %value\n",
    "%scope = @ DebugScope %method\n",
];

fn module(parts: Parts) -> String {
    let marked = MARKS.iter().zip(parts);
    marked.fold(AROUND.to_owned(), |text, (mark, part)| text.replacen(mark, part, 1))
}

fn found(text: &str) -> Option<String> {
    finding(&words_of(&text.replace('@', "OpExtInst %void %set")))
}

/// A module, a replacement, and a part of the expected finding.
const ROWS: &[(Parts, &str, &str, &str)] = &[
    (SHADER, "DebugSource %text %text", "DebugSource %void %text", "File, %"),
    (SHADER, "DebugSource %text %text", "DebugSource %text %n1", "Text, %"),
    (SHADER, "%n1 %n4 %source %n2", "%signed %n4 %source %n2", "Version, %"),
    (
        SHADER,
        "%n1 %n4 %source %n2",
        "%n1 %n4 %text %n2",
        "is not a DebugSource",
    ),
    (SHADER, "%n1 %n4 %source %n2", "%n1 %n4 %source %many", "Language, %"),
    (
        SHADER,
        "DebugTypeBasic %text %n32",
        "DebugTypeBasic %text %source",
        "Size, %",
    ),
    (
        SHADER,
        "DebugTypePointer %basic %n0 %n0\n%constant",
        "DebugTypePointer %unit %n0 %n0\n%constant",
        "is not a debug type",
    ),
    (
        SHADER,
        "DebugTypeQualifier %basic",
        "DebugTypeQualifier %source",
        "is not a debug type",
    ),
    (
        SHADER,
        "DebugTypeArray %basic %n4",
        "DebugTypeArray %basic %real",
        "Component Count",
    ),
    (
        SHADER,
        "DebugTypeArray %basic %global",
        "DebugTypeArray %basic %unit",
        "Component Count",
    ),
    (
        SHADER,
        "DebugTypeBasic %text %n32 %n6",
        "DebugTypeBasic %text %n32 %n4",
        "Component Count",
    ),
    (
        SHADER,
        "DebugTypeVector %basic %n4",
        "DebugTypeVector %basic %n5",
        "1 to 4",
    ),
    (
        SHADER,
        "DebugTypeVector %basic %n4",
        "DebugTypeVector %array %n4",
        "is not a DebugTypeBasic",
    ),
    (
        SHADER,
        "DebugTypeMatrix %vector %n4",
        "DebugTypeMatrix %vector %n0",
        "1 to 4",
    ),
    (
        SHADER,
        "DebugTypeMatrix %vector %n4",
        "DebugTypeMatrix %basic %n4",
        "is not a DebugTypeVector",
    ),
    (
        SHADER,
        "%unit %n32 %n0 %signed %text",
        "%unit %n0 %n0 %signed %text",
        "not positive",
    ),
    (
        SHADER,
        "%unit %n32 %n0 %signed %text",
        "%unit %n32 %n0 %text %text",
        "Value, %",
    ),
    (
        SHADER,
        "%unit %n32 %n0 %signed %text",
        "%unit %n32 %n0 %signed %n0",
        "Name, %",
    ),
    (
        SHADER,
        "%unit %text %n32 %n0 %member",
        "%unit %text %n32 %n0 %basic",
        "Members, %",
    ),
    (
        SHADER,
        "%unit %text %n32 %n0 %member",
        "%source %text %n32 %n0 %member",
        "is not a lexical scope",
    ),
    (
        SHADER,
        "DebugTypeComposite %text %n1",
        "DebugTypeComposite %text %n2",
        "neither a class nor a structure",
    ),
    (
        SHADER,
        "DebugTypeInheritance %composite",
        "DebugTypeInheritance %basic",
        "is not a DebugTypeComposite",
    ),
    (SHADER, "%void %array", "%unit %array", "Return Type, %"),
    (SHADER, "%void %array", "%void %void", "Parameter Types, %"),
    (
        SHADER,
        "%text %n0 %n1 %declared",
        "%text %n0 %n1 %unit",
        "is not a DebugFunctionDeclaration",
    ),
    (
        SHADER,
        "DebugFunction %text %type",
        "DebugFunction %text %basic",
        "is not a DebugTypeFunction",
    ),
    (
        SHADER,
        "DebugInlinedAt %n1 %block",
        "DebugInlinedAt %n1 %basic",
        "is not a lexical scope",
    ),
    (
        SHADER,
        "%unit %text %n4 %n0",
        "%unit %text %text %n0",
        "is not a variable or a constant",
    ),
    (
        SHADER,
        "DebugOperation %n3 %n4",
        "DebugOperation %n3 %real",
        "is not a constant 32-bit",
    ),
    (
        SHADER,
        "DebugExpression %plus",
        "DebugExpression %unit",
        "is not a DebugOperation",
    ),
    (
        SHADER,
        "DebugEntryPoint %function %unit",
        "DebugEntryPoint %function %source",
        "Compilation Unit, %",
    ),
    (
        SHADER,
        "%of = @ DebugFunctionDefinition %function %main",
        "%of = @ DebugFunctionDefinition %function %other",
        "another function",
    ),
    (
        SHADER,
        "DebugScope %block %inlined",
        "DebugScope %block %block",
        "is not a DebugInlinedAt",
    ),
    (SHADER, "%n1 %n1 %n2 %n3\n", "%n1 %n1 %n3 %n2\n", "Column End"),
    (SHADER, "%n1 %n1 %n2 %n3\n", "%n2 %n1 %n2 %n3\n", "Line End"),
    (
        SHADER,
        "%variable %local %value %signed",
        "%variable %local %value %real",
        "is not an integer",
    ),
    (
        SHADER,
        "%variable %local %value %signed",
        "%variable %n1 %value %signed",
        "is not a variable or a parameter",
    ),
    (
        SHADER,
        "%variable %n1 %value %signed %global",
        "%variable %n1 %value %signed %unit",
        "is not an integer",
    ),
    (
        SHADER,
        "%variable %n1 %value %signed %global",
        "%variable %n1 %plus %signed",
        "is not a DebugExpression",
    ),
    (
        OPEN_CL,
        "DebugTypeVector %basic 4",
        "DebugTypeVector %basic 0",
        "1 to 4",
    ),
    (
        OPEN_CL,
        "DebugTypeArray %vector %n4",
        "DebugTypeArray %vector %n0",
        "Component Count",
    ),
    (
        OPEN_CL,
        "FlagIsPublic 1 %main",
        "FlagIsPublic 1 %text",
        "is not a function",
    ),
    (
        OPEN_CL,
        "DebugTypeComposite %text Structure",
        "DebugTypeComposite %text Union",
        "neither a class",
    ),
    (
        OPEN_CL,
        "%n0 %n32 FlagIsPublic\n%method",
        "%n0 %unit FlagIsPublic\n%method",
        "Size, %",
    ),
    (
        OPEN_CL,
        "DebugTypeTemplate %composite %parameter",
        "DebugTypeTemplate %basic %parameter",
        "Target, %",
    ),
    (
        OPEN_CL,
        "DebugTypeTemplate %composite %parameter",
        "DebugTypeTemplate %composite %basic",
        "Parameters, %",
    ),
    (
        OPEN_CL,
        "@ DebugInfoNone",
        "OpExtInst %uint %set DebugInfoNone",
        "not void",
    ),
    // What is defined later.
    (
        SHADER,
        "%source %n1 %n1 %n0 %n32 %n0\n",
        "%later %n1 %n1 %n0 %n32 %n0\n",
        "before its definition",
    ),
    (
        OPEN_CL,
        "%vector = @ DebugTypeVector %basic 4",
        "%vector = @ DebugTypePointer %array Function FlagIsPublic",
        "before its definition",
    ),
    (
        SHADER,
        "DebugTypeFunction %n0 %void %later",
        "DebugTypeFunction %n0 %void",
        "has no forward reference",
    ),
    (
        SHADER,
        "%is = @ DebugDeclare %variable %local %value %signed",
        "%is = OpExtInstWithForwardRefsKHR %float %std FAbs %real",
        "only instructions of non-semantic sets",
    ),
    // Where the instructions stand.
    (
        SHADER,
        "%in = @ DebugDeclare %variable %given %value",
        "%in = @ DebugSource %text",
        "the first function",
    ),
    (
        SHADER,
        "%no_scope = @ DebugNoScope",
        "%no_scope = @ DebugInfoNone",
        "the first function",
    ),
    (
        SHADER,
        "%later =",
        "%early = @ DebugNoLine\n%later =",
        "outside a function",
    ),
    (
        SHADER,
        "OpBranch %next\n%next = OpLabel\n",
        "OpBranch %next\n%next = OpLabel\n%again = @ DebugFunctionDefinition %function %main\n",
        "first block",
    ),
    (
        OPEN_CL,
        "%value = @ DebugExpression",
        "%early = @ DebugScope %method\n%value = @ DebugExpression",
        "outside a function",
    ),
];

#[test]
fn each_rule_has_a_passing_and_a_failing_module() {
    let mut wrong = Vec::new();
    for parts in [SHADER, OPEN_CL] {
        let text = module(parts);
        wrong.extend(found(&text).map(|found| format!("a valid module is rejected: {found}")));
        let after = format!("{text}%after = @ DebugNoScope\n");
        wrong.extend(
            found(&after)
                .is_none()
                .then(|| "an instruction after the last function".to_owned()),
        );
    }
    for (parts, from, to, said) in ROWS {
        let text = module(*parts);
        assert!(text.contains(from), "{from}");
        let found = found(&text.replacen(from, to, 1));
        if found.as_ref().is_none_or(|found| !found.contains(said)) {
            wrong.push(format!("{to:?} should report {said:?}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn only_sets_without_meaning_have_instructions_of_later_revisions() {
    let later = |parts| {
        let mut words = words_of(&module(parts).replace('@', "OpExtInst %void %set"));
        // DebugInfoNone, the only instruction of five words.
        let none = words.iter().position(|word| *word == 5 << 16 | u32::from(op::EXT_INST));
        words[none.expect("an instruction") + 4] = 200;
        finding(&words)
    };
    let said = later(OPEN_CL);
    assert!(
        said.as_ref().is_some_and(|said| said.contains("no instruction 200")),
        "{said:?}"
    );
    assert_eq!(later(SHADER), None);
}
