//! VBC files: every file of the corpus loads, is valid, writes again, and prints what an independent reader found.

use crate::common;

use loader::vbc::{self, Dialect, Model, Stage};
use serde_json::Value;
use std::path::PathBuf;

/// Our own samples; the last two have to be salvaged.
const OWN: [&str; 5] = [
    "minimal.vbc",
    "everything.vbc",
    "five_stages.vbc",
    "legacy.vbc",
    "raw_subpass.vbc",
];

/// Every file to test: our own samples, and the corpus if it is present.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut paths: Vec<_> = OWN.map(common::data).into();
    paths.extend(
        common::corpus("vbc")
            .iter()
            .flat_map(|folder| common::files(folder, "vbc")),
    );
    let name = |path: &PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    paths
        .iter()
        .map(|path| (name(path), std::fs::read(path).unwrap()))
        .collect()
}

/// Whether the file has the current dialect and needs no salvage.
fn is_well_formed(file: &vbc::Vbc) -> bool {
    file.dialect() == Dialect::Current && file.diagnostics().is_empty()
}

#[test]
fn every_file_loads_and_writes_again() {
    let (mut same, mut salvaged, mut refused) = (0, 0, 0);
    let files = files();
    for (name, bytes) in &files {
        let file = vbc::read(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let model = file.to_model();
        match vbc::write(&model) {
            Ok(written) if is_well_formed(&file) => {
                assert_eq!(&written, bytes, "{name}");
                same += 1;
            }
            Ok(written) => {
                let again = vbc::read(&written).unwrap();
                assert!(is_well_formed(&again), "{name}");
                assert_eq!(again.to_model(), model, "{name}");
                salvaged += 1;
            }
            // The true word count does not fit; the writer names the stage and the reason.
            Err(error) => {
                assert!(
                    file.diagnostics().iter().any(|d| d.rule == "word-count-overflow"),
                    "{name}: {error}"
                );
                assert!(
                    Stage::ALL.iter().any(|stage| error.place() == stage.name()),
                    "{name}: {error}"
                );
                refused += 1;
            }
        }
    }
    println!(
        "{} files load; {same} write the same bytes, {salvaged} salvaged ones the same facts, {refused} refused",
        files.len()
    );
    let expected = match common::corpus("vbc") {
        Some(_) => (5 + 57, 3 + 50, 2 + 6, 1),
        None => (5, 3, 2, 0),
    };
    assert_eq!((files.len(), same, salvaged, refused), expected);
}

#[test]
fn an_empty_model_writes_and_reads() {
    let written = vbc::write(&Model::default()).unwrap();
    assert_eq!(written.len(), 43);
    assert_eq!(vbc::read(&written).unwrap().to_model(), Model::default());
}

#[test]
fn every_file_is_valid() {
    let files = files();
    let mut rules = std::collections::BTreeMap::<_, usize>::new();
    for (name, bytes) in &files {
        let report = vbc::check(bytes);
        assert!(report.is_valid(), "{name}: {:#?}", report.diagnostics);
        for diagnostic in &report.diagnostics {
            *rules.entry(diagnostic.rule).or_default() += 1;
        }
    }
    println!("{} files valid; findings that are not errors: {rules:?}", files.len());
}

#[test]
fn info_holds_what_an_independent_reader_found() {
    let Some(folder) = common::corpus("vbc") else { return };
    let (mut whole, mut facts) = (0, 0);
    for path in common::files(&folder, "json") {
        let name = path.display();
        let expected: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let bytes = std::fs::read(path.with_extension("vbc")).unwrap();
        let shown = serde_json::to_value(vbc::summary(&vbc::read(&bytes).unwrap()).unwrap()).unwrap();
        if let Some(expected) = expected.get("expect") {
            contains(&format!("{name}"), &shown, &respell(expected));
            facts += 1;
        } else {
            contains(&format!("{name}"), &shown, &expected);
            whole += 1;
        }
    }
    println!("info --json holds the JSON of {whole} files and the expected facts of {facts}");
    assert_eq!((whole, facts), (51, 6));
}

#[test]
fn the_comparison_sees_differences() {
    let expected = serde_json::json!({ "inputs": [{ "location": 0, "base": "float" }] });
    contains("same", &expected, &expected);
    for other in [
        serde_json::json!({ "inputs": [{ "location": 1, "base": "float" }] }),
        serde_json::json!({ "inputs": [{ "location": 0 }] }),
        serde_json::json!({ "inputs": [] }),
        serde_json::json!({}),
    ] {
        assert!(
            std::panic::catch_unwind(|| contains("other", &other, &expected)).is_err(),
            "{other}"
        );
    }
}

/// Whether `shown` has every key and value of `expected`, except the independent reader's remarks on its own reading of
/// 48-byte records, which it shows raw.
fn contains(place: &str, shown: &Value, expected: &Value) {
    match (shown, expected) {
        (_, Value::Object(expected)) if expected.contains_key("raw") => {}
        (Value::Object(shown), Value::Object(expected)) => {
            for (key, expected) in expected.iter().filter(|(key, _)| *key != "subpass_record_bytes") {
                let place = format!("{place}.{key}");
                let shown = shown.get(key).unwrap_or_else(|| panic!("{place} is missing"));
                contains(&place, shown, expected);
            }
        }
        (Value::Array(shown), Value::Array(expected)) => {
            assert_eq!(shown.len(), expected.len(), "{place}");
            for (i, (shown, expected)) in std::iter::zip(shown, expected).enumerate() {
                contains(&format!("{place}[{i}]"), shown, expected);
            }
        }
        _ => assert_eq!(shown, expected, "{place}"),
    }
}

/// Facts that come from a shader's source, in the spelling of the other files.
fn respell(expected: &Value) -> Value {
    match expected {
        Value::Object(object) => {
            let key = |key: &str| match key {
                "comps" | "texel_comps" => "components".to_owned(),
                key => key.to_owned(),
            };
            let value = |key: &str, value: &Value| match (key, value) {
                ("base" | "texel" | "rank", Value::String(name)) => Value::String(match name.as_str() {
                    "Signed" => "int".to_owned(),
                    "Unsigned" => "uint".to_owned(),
                    name => name.to_lowercase(),
                }),
                _ => respell(value),
            };
            Value::Object(object.iter().map(|(k, v)| (key(k), value(k, v))).collect())
        }
        Value::Array(array) => Value::Array(array.iter().map(respell).collect()),
        value => value.clone(),
    }
}
