//! Scripts on a device: right expectations hold and wrong ones fail.

use crate::common::{corpus, data, files};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The exit code and output of `skrymir run` with these arguments.
fn run(arguments: &[&str], paths: &[&Path]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
    let output = command
        .arg("run")
        .args(arguments)
        .args(paths)
        .output()
        .expect("the binary runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text)
}

/// The rows of `--json`.
fn rows(arguments: &[&str], paths: &[&Path]) -> Vec<Value> {
    let (_, text) = run(&[&["--json"][..], arguments].concat(), paths);
    let document: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    document["scripts"].as_array().expect("rows").clone()
}

#[test]
fn right_expectations_hold_and_wrong_ones_fail() {
    let rows = rows(&["--validation"], &[&data("script/run")]);
    assert_eq!(rows.len(), files(&data("script/run"), "").len());
    for row in rows {
        let file = row["file"].as_str().expect("a file");
        let wanted = match file {
            _ if file.contains(".expect_fail.") => "fails",
            _ if file.ends_with("opencl.amber") => "unsupported",
            _ => "holds",
        };
        assert_eq!(row["verdict"], wanted, "{row:#}");
        assert_eq!(row["validation"], Value::Array(Vec::new()), "{row:#}");
        // A failure names its line.
        assert_eq!(row["line"].is_u64(), wanted == "fails", "{row:#}");
    }
}

#[test]
fn exit_codes_tell_failures_from_usage_errors() {
    let folder = data("script/run");
    assert_eq!(run(&["--filter", "compute.amber"], &[&folder]).0, Some(0));
    assert_eq!(run(&["--filter", "opencl"], &[&folder]).0, Some(0));
    assert_eq!(run(&["--filter", "opencl", "--strict"], &[&folder]).0, Some(1));
    assert_eq!(run(&["--filter", "no such script"], &[&folder]).0, Some(2));
    let text = std::fs::read_to_string(folder.join("compute.amber")).expect("a sample");
    let copies = tempfile::tempdir().expect("a folder");
    let copy = copies.path().join("copy.amber");
    std::fs::write(&copy, text.replace("EXPECT two IDX 0 EQ 42", "EXPECT two IDX 0 EQ 43")).expect("written");
    let keep = copies.path().join("kept");
    let junit = copies.path().join("report.xml");
    let (folder, report) = (keep.to_string_lossy(), junit.to_string_lossy());
    let (code, said) = run(&["--keep", &folder, "--junit", &report], &[&copy]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("line 44: two: byte 0"), "{said}");
    assert!(said.contains("wanted EQ 43, found 42"), "{said}");
    let report = std::fs::read_to_string(&junit).expect("a report");
    assert!(
        report.contains("failures=\"1\"") && report.contains("found 42"),
        "{report}"
    );
    let kept = files(&keep, "bin");
    let two = kept.iter().find(|path| path.ends_with("two.bin")).expect("the buffer");
    assert_eq!(std::fs::read(two).expect("bytes"), 42u32.to_le_bytes());
}

#[test]
fn field_scripts_have_their_expected_results() {
    let Some(folder) = corpus("amber") else { return };
    // A subset that takes seconds; `skrymir run` of the folder runs all.
    let parts = [
        "amber/compute",
        "amber/draw_tri",
        "expect_fail",
        "cts/depth",
        "cts/graphicsfuzz/cov-a",
    ];
    let (mut count, mut wrong) = (0, 0);
    for part in parts {
        for row in rows(&["--filter", part], &[&folder]) {
            count += 1;
            if row["right"] != true && row["verdict"] != "unsupported" {
                wrong += 1;
                println!("wrong: {row:#}");
            }
        }
    }
    println!("{count} scripts ran, {wrong} wrong");
    assert!(count > 40 && wrong == 0, "{wrong} of {count}");
}
