//! Text and grammars: errors have their places, samples print as kept.

use super::instances::{PRELUDE, grammar, instance, options, round_trip};
use crate::common;

use loader::spirv::{asm, dis, grammar as tables};
use std::path::Path;

/// The built-in grammar is from newer headers than most machines have; common entries must have the same names.
#[test]
fn built_in_tables_hold_those_of_the_headers() {
    let folder = Path::new("/usr/include/spirv/unified1");
    if !folder.is_dir() {
        println!("spirv-headers is not installed: the tables are not compared");
        return;
    }
    let mut files: Vec<(String, String)> = common::files(folder, "json")
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    files.retain(|(name, _)| name.ends_with(".grammar.json"));
    let (core, _) = tables::read_json(&files.iter().find(|f| f.0.contains("core")).unwrap().1, None).unwrap();
    let ours = tables::Grammar::builtin();
    for row in &core.instructions {
        let number = ours.row_named(&row.opname).map(|row| row.opcode);
        assert_eq!(number, Some(row.opcode), "{}", row.opname);
    }
    for kind in &core.operand_kinds {
        for row in &kind.enumerants {
            let number = ours.number(&kind.kind, &row.enumerant);
            assert_eq!(number, row.value.value(), "{} {}", kind.kind, row.enumerant);
        }
    }
    for (name, text) in &files {
        let (model, report) = tables::read_json(text, Some(&core).filter(|_| !name.contains("core"))).unwrap();
        assert!(report.is_valid(), "{name}: {report:?}");
        // The model keeps every member of the file.
        let again = serde_json::to_value(&model).unwrap();
        let original: serde_json::Value = serde_json::from_str(text).unwrap();
        let rows = |v: &serde_json::Value| v["instructions"].as_array().unwrap().len();
        assert_eq!(rows(&again), rows(&original), "{name}");
    }
}

#[test]
fn grammar_faults_have_json_paths() {
    let base = r#"{"magic_number":"0x07230203","major_version":1,"minor_version":6,"revision":1,"instructions":[
        {"opname":"OpX","opcode":1,"operands":[{"kind":"IdRef"},{"kind":"M"}],"capabilities":["A"]}],
        "operand_kinds":[{"category":"Id","kind":"IdRef"},{"category":"BitEnum","kind":"M","enumerants":[{"enumerant":"None","value":"0x0"}]},
        {"category":"Composite","kind":"Pair","bases":["IdRef","IdRef"]},
        {"category":"ValueEnum","kind":"Capability","enumerants":[{"enumerant":"A","value":0,"version":"1.0","provisional":true}]}]}"#;
    let (model, report) = tables::read_json(base, None).unwrap();
    assert!(report.diagnostics.is_empty(), "{report:?}");
    assert!(
        model.operand_kinds[3].enumerants[0]
            .needs
            .rest
            .contains_key("provisional")
    );
    for (from, to, rule, path) in [
        ("0x07230203", "0x07230204", "magic-number", "$.magic_number"),
        (
            r#"{"kind":"IdRef"},"#,
            r#"{"kind":"IdRaf"},"#,
            "unknown-kind",
            "$.instructions[0].operands[0].kind",
        ),
        (
            r#"{"kind":"IdRef"},"#,
            r#"{"kind":"IdRef","quantifier":"+"},"#,
            "quantifier",
            "$.instructions[0].operands[0].quantifier",
        ),
        (
            r#"{"kind":"IdRef"},"#,
            r#"{"kind":"IdRef","quantifier":"?"},"#,
            "quantifier-order",
            "$.instructions[0].operands[1]",
        ),
        (
            r#"["A"]"#,
            r#"["B"]"#,
            "unknown-capability",
            "$.instructions[0].capabilities[0]",
        ),
        (
            r#""0x0""#,
            r#""0x3""#,
            "mask-bits",
            "$.operand_kinds[1].enumerants[0].value",
        ),
        (
            r#""0x0""#,
            r#""zero""#,
            "value",
            "$.operand_kinds[1].enumerants[0].value",
        ),
        (
            r#"["IdRef","IdRef"]"#,
            r#"["IdRef","Pair"]"#,
            "nested-composite",
            "$.operand_kinds[2].bases[1]",
        ),
        (r#"["IdRef","IdRef"]"#, "[]", "no-bases", "$.operand_kinds[2]"),
        ("BitEnum", "BitEnums", "category", "$.operand_kinds[1].category"),
        (
            r#""version":"1.0""#,
            r#""version":"one""#,
            "version",
            "$.operand_kinds[3].enumerants[0].version",
        ),
        (r#""opname":"OpX""#, r#""opname":"X""#, "op-prefix", "$.instructions[0]"),
    ] {
        assert!(base.contains(from));
        let (_, report) = tables::read_json(&base.replacen(from, to, 1), None).unwrap();
        assert!(
            report.diagnostics.iter().any(|d| d.rule == rule && d.place == path),
            "{rule} {path}: {report:?}"
        );
    }
    let error = tables::read_json(&base.replace(r#""opcode":1"#, r#""opcode":"one""#), None).unwrap_err();
    assert!(error.to_string().contains("$.instructions[0].opcode"), "{error}");
}

#[test]
fn errors_point_at_the_place() {
    let text = "OpCapability Shader\n%1 = OpTypeInt 32 0\n%2 = OpVariable %1 Inputs\n";
    let error = asm::assemble(grammar(), text, Default::default()).unwrap_err();
    assert_eq!((error.line, error.column), (3, 20));
    assert_eq!(error.message, "OpVariable: expected StorageClass, found `Inputs`");
    let shown = error.render(text, "a.spvasm");
    assert!(
        shown.contains("--> a.spvasm:3:20") && shown.contains("^^^^^^"),
        "{shown}"
    );
    for (text, at, part) in [
        ("OpNop 1", (1, 7), "no further operand"),
        ("%1 = OpNop", (1, 1), "no result"),
        ("OpTypeVoid", (1, 1), "has a result"),
        ("OpCapability", (1, 1), "expected Capability"),
        ("OpFoo", (1, 1), "is not an opcode"),
        ("%1 OpTypeVoid", (1, 4), "expected `=`"),
        ("OpName %1 abc", (1, 11), "string in quotation marks"),
        (
            "%1 = OpTypeInt 8 1\n%2 = OpConstant %1 128",
            (2, 20),
            "8-bit signed integer",
        ),
    ] {
        let error = asm::assemble(grammar(), text, Default::default()).unwrap_err();
        assert_eq!((error.line, error.column), at, "{text}: {error}");
        assert!(error.message.contains(part), "{error}");
    }
}

/// Our own assembly samples print as the texts beside them (`BLESS=1` rewrites them).
#[test]
fn samples_print_as_kept() {
    for path in common::files(&common::data("spirv"), "spvasm") {
        let text = std::fs::read_to_string(&path).unwrap();
        let words = asm::assemble(grammar(), &text, Default::default()).unwrap();
        let printed = dis::disassemble(grammar(), &words, options(&["--comment", "--offsets"])).unwrap();
        let kept = path.with_extension("dis");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&kept, &printed).unwrap();
        }
        assert_eq!(printed, std::fs::read_to_string(&kept).unwrap(), "{}", kept.display());
        assert_eq!(round_trip(&kept.display().to_string(), &words), None);
    }
}

/// One instruction of every opcode, with every enumerant of every kind, comes back from its text.
#[test]
fn every_opcode_and_enumerant_comes_back() {
    let mut words = PRELUDE.to_vec();
    for row in grammar().rows() {
        let kinds = row.operands.iter().filter_map(|operand| grammar().kind(operand.kind));
        let most = kinds.map(|kind| kind.enumerants().len()).max().unwrap_or(1).max(1);
        for choice in (0..most).step_by(common::quick_step(7)) {
            words.extend(instance(row, choice));
        }
    }
    assert_eq!(round_trip("every opcode", &words), None);
}

/// A long name with many uses does not exhaust memory.
#[test]
fn long_names_are_bounded() {
    let mut text = format!("OpName %x \"{}\"\n", "n".repeat(200_000));
    text += &format!("%t = OpTypeStruct{}\n", " %x".repeat(60_000));
    let words = asm::assemble(grammar(), &text, Default::default()).unwrap();
    let error = dis::disassemble(grammar(), &words, options(&[])).unwrap_err();
    assert_eq!(error.kind(), loader::ErrorKind::Unsupported, "{error}");
    assert!(dis::disassemble(grammar(), &words, options(&["--raw-id"])).is_ok());
    // Every array names its element twice: names that double stop at the budget.
    let mut text = String::from("%1 = OpTypeVoid\n");
    (2..400).for_each(|n| text += &format!("%{n} = OpTypeArray %{} %{}\n", n - 1, n - 1));
    let words = asm::assemble(grammar(), &text, Default::default()).unwrap();
    match dis::disassemble(grammar(), &words, options(&[])) {
        Ok(text) => assert!(text.len() < words.len() * 4 * 64 + (1 << 20)),
        Err(error) => assert_eq!(error.kind(), loader::ErrorKind::Unsupported, "{error}"),
    }
}

/// Whatever ids are called, each has a name of its own in the text.
#[test]
fn names_are_distinct() {
    let names = [
        "3", "4", "_3", "uint", "float", "void", "", "a", "a_0", "a b", "int", "v2float", "main", "1",
    ];
    let mut random = fastrand::Rng::with_seed(11);
    for _ in 0..300 {
        let mut any = || names[random.usize(..names.len())];
        let named = [1, 2, 3, 5, 7]
            .map(|id| format!("OpName %{id} \"{}\"\n", any()))
            .concat();
        let text = format!(
            "OpCapability Shader\nOpMemoryModel Logical GLSL450\n{named}%1 = OpTypeVoid\n%2 = OpTypeInt 32 0\n\
             %3 = OpTypeFloat 32\n%4 = OpTypeVector %3 2\n%5 = OpTypeVector %3 3\n%6 = OpConstant %2 4\n%7 = OpConstant %3 1\n\
             %8 = OpTypeFunction %1\n%9 = OpFunction %1 None %8\n%10 = OpLabel\nOpReturn\nOpFunctionEnd\n"
        );
        let keep = asm::Options {
            preserve_numeric_ids: true,
            ..Default::default()
        };
        let words = asm::assemble(grammar(), &text, keep).unwrap();
        let printed = dis::disassemble(grammar(), &words, options(&["--no-header"])).unwrap();
        let results = printed
            .lines()
            .filter_map(|line| line.split_once(" = "))
            .map(|(id, _)| id.trim());
        let distinct: std::collections::BTreeSet<&str> = results.clone().collect();
        assert_eq!(distinct.len(), 10, "{named}\n{printed}");
        // The text has the same instructions.
        let again = asm::assemble(grammar(), &printed, Default::default()).unwrap();
        assert_eq!(again.len(), words.len(), "{printed}");
    }
}

/// An error's place is the token that is wrong.
#[test]
fn errors_are_at_their_tokens() {
    let rows = [
        ("OpCapability Shader\n  OpNothing %a\n", "OpNothing"),
        ("OpCapability Shadow\n", "Shadow"),
        ("%a = OpTypeInt 32 x\n", "x"),
        ("%a = OpTypeInt 32 0 ; a comment\n  %b = OpConstant %a 1 2 3\n", "2"),
        ("%a OpTypeVoid\n", "OpTypeVoid"),
        ("OpTypeVoid\n", "OpTypeVoid"),
        ("OpMemoryModel Logical\nOpNop\n", "OpMemoryModel"),
        ("%f = OpTypeFloat 32\n%c = OpConstant %f 1.0.0\n", "1.0.0"),
        ("OpName %a name\n", "name"),
    ];
    for (text, token) in rows {
        let error = asm::assemble(grammar(), text, Default::default()).unwrap_err();
        let at = text.rfind(token).unwrap();
        let line = text[..at].matches('\n').count();
        let column = at - text[..at].rfind('\n').map_or(0, |end| end + 1);
        assert_eq!((error.line, error.column), (line + 1, column + 1), "{text}{error}");
        let shown = error.render(text, "s");
        assert_eq!(shown.matches('^').count(), token.len(), "{shown}");
    }
}
