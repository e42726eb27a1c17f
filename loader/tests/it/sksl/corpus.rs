//! Every file of Skia's encoder: read to the last byte, printed as Skia prints it, written back byte for byte.

use super::{random_program, samples};
use crate::common;

use loader::sksl;
use std::path::PathBuf;

/// Version-11 files of the corpus, excluding two that predate the version word.
fn binaries() -> Vec<PathBuf> {
    let Some(folder) = common::corpus("sksl") else {
        return Vec::new();
    };
    let mut found = common::files(&folder, "bin");
    found.retain(|path| !path.to_string_lossy().contains(".v"));
    found
}

#[test]
fn every_file_reads_prints_and_writes_back() {
    let (mut printed, mut modules, mut wrong) = (0, 0, Vec::new());
    let all = binaries();
    for path in &all {
        let bytes = std::fs::read(path).unwrap();
        assert!(sksl::detect(&bytes), "{}: not recognised", path.display());
        let tree = sksl::read(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        if sksl::write(&tree).as_ref() != Ok(&bytes) {
            wrong.push(format!("{}: other bytes", path.display()));
        }
        assert!(sksl::to_tree_text(&bytes).unwrap().ends_with('\n'));
        assert!(sksl::to_json(&bytes).unwrap().is_array());
        let Ok(text) = std::fs::read_to_string(path.with_extension("txt")) else {
            assert_eq!(
                tree.header,
                sksl::Header::Module,
                "{}: no text beside it",
                path.display()
            );
            modules += 1;
            continue;
        };
        printed += 1;
        let ours = sksl::print(&tree).unwrap();
        if ours != text {
            wrong.push(format!("{}\n--- ours\n{ours}\n--- Skia's\n{text}", path.display()));
        }
    }
    println!(
        "sksl: {} files read and written, {printed} printed, {modules} modules",
        all.len()
    );
    wrong.sort_by_key(String::len);
    for text in wrong.iter().take(3) {
        println!("{text}");
    }
    assert!(wrong.is_empty(), "{} files differ", wrong.len());
}

#[test]
fn own_sample_round_trips() {
    let tree = samples::tinted_wave();
    let bytes = sksl::write(&tree).unwrap();
    assert!(sksl::detect(&bytes));
    let again = sksl::read(&bytes).unwrap();
    let text = "#version 100\nuniform half4 tint;half4 main(float2 p) {\nreturn (tint * half(sin(p).x));\n}\n";
    assert_eq!(sksl::print(&again).unwrap(), text);
    assert_eq!(sksl::write(&again).unwrap(), bytes);
    assert!(sksl::to_tree_text(&bytes).unwrap().contains("Swizzle"));
    let report = sksl::check(&bytes);
    assert!(report.diagnostics.is_empty(), "{report:?}");
}

#[test]
fn random_programs_round_trip() {
    for seed in 1..=200 {
        let tree = random_program::program(seed);
        let bytes = sksl::write(&tree).unwrap();
        let again = sksl::read(&bytes).unwrap_or_else(|e| panic!("{seed}: {e}"));
        assert_eq!(sksl::print(&again).unwrap(), sksl::print(&tree).unwrap(), "{seed}");
        assert!(sksl::write(&again).as_ref() == Ok(&bytes), "{seed}");
        let report = sksl::check(&bytes);
        assert!(report.diagnostics.is_empty(), "{seed}: {report:?}");
    }
}

#[test]
fn other_versions_and_foreign_bytes_have_distinct_errors() {
    let mut bytes = sksl::write(&samples::tinted_wave()).unwrap();
    bytes[0] = 10;
    assert!(sksl::detect(&bytes));
    let error = sksl::read(&bytes).unwrap_err();
    assert_eq!(error.kind(), loader::ErrorKind::Unsupported);
    assert!(error.to_string().contains("version 10"), "{error}");
    bytes[0] = 21;
    assert!(!sksl::detect(&bytes));
    for foreign in [
        &b"\x07\x23\x02\x03"[..],
        b"\x03\0\0\0abc",
        b"\x01\0\x02\0\x09ab",
        b"MBS1\0\0",
        b"",
    ] {
        assert!(!sksl::detect(foreign), "{foreign:?}");
    }
}

#[test]
fn unrepresentable_values_are_rejected_by_name() {
    use sksl::*;
    let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
    let main = b.function("half4", "main", &[]);
    let nops: Vec<_> = (0..256).map(|_| b.statement(Statement::Nop)).collect();
    let error = write(&b.define(main, &nops).finish()).unwrap_err().to_string();
    assert!(error.contains("256 statements in a block"), "{error}");

    let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
    let orphan = b.variable("float", "orphan", Modifiers::default(), Storage::LOCAL);
    let main = b.function("half4", "main", &[]);
    let read = b.read(orphan);
    let value = b.statement(Statement::Return(Some(read)));
    let error = write(&b.define(main, &[value]).finish()).unwrap_err().to_string();
    assert!(error.contains("orphan is named before it is written"), "{error}");

    let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
    b.uniform("half4", &"x".repeat(256));
    assert!(
        write(&b.finish())
            .unwrap_err()
            .to_string()
            .contains("string of 256 bytes")
    );
}

#[test]
fn check_accepts_every_file() {
    let all = binaries();
    let mut refused = Vec::new();
    for path in &all {
        let report = sksl::check(&std::fs::read(path).unwrap());
        if let Some(first) = report.diagnostics.first() {
            refused.push(format!("{}: {first}", path.file_name().unwrap().to_string_lossy()));
        }
    }
    println!("sksl: {} of {} files accepted", all.len() - refused.len(), all.len());
    for text in refused.iter().take(40) {
        println!("{text}");
    }
    assert!(refused.is_empty());
}
