//! Translations: the command's output, and whether they keep the module's meaning. A script runs with its shader
//! translated and read again.

use crate::common::{corpus, data, is_whole_field};
use script::run::Verdict;
use serde_json::Value;
use skrymir::loader::spirv;
use skrymir::runner::script::RoundTrip as Way;
use skrymir::runner::script::{Compiler, Through};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use translate::{Options, Source, Target};

/// The languages that a shader is read again from.
const WAYS: [Way; 3] = [Way::Glsl, Way::Hlsl, Way::Wgsl];

#[test]
fn a_wrong_translation_is_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sum.amber");
    std::fs::write(
        &path,
        "#!amber
SHADER compute sum GLSL
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Numbers { float a; float b; float c; } numbers;
void main() { numbers.c = numbers.a + numbers.b; }
END
BUFFER numbers DATA_TYPE float DATA
 3.0 4.0 0.0
END
PIPELINE compute all
  ATTACH sum
  BIND BUFFER numbers AS storage DESCRIPTOR_SET 0 BINDING 0
END
RUN all 1 1 1
EXPECT numbers IDX 8 EQ 7.0
",
    )
    .expect("a script");
    let text = std::fs::read_to_string(&path).expect("a script");
    let script = script::parse(&text).expect("a script");
    // Its own: what the validation layer says of one test's shaders is no other test's.
    let context = &vulkan::Context::new(&vulkan::Options::default()).expect("a device");
    for way in WAYS {
        let right = Through::new(Compiler, way);
        let wrong = Through {
            change: |text| text.replacen(" + ", " - ", 1),
            ..right
        };
        let verdict = |through: &Through<Compiler>| script::run::run(context, through, &script, &path).verdict;
        assert_eq!(verdict(&right), Verdict::Holds, "{way}");
        assert!(
            matches!(verdict(&wrong), Verdict::Fails(..)),
            "{way}: {:?}",
            verdict(&wrong)
        );
    }
}

/// What became of scripts whose shaders went through a language.
#[derive(Debug, Default)]
struct Counts {
    same: usize,
    /// The script holds, and a buffer has other bytes.
    other_bytes: Vec<String>,
    refused: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

/// Verdicts and reasons of scripts that the command runs, in processes of their own: a driver that ends one is a verdict.
fn verdicts(folder: &Path, keep: &Path, more: &[&str]) -> BTreeMap<String, (String, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(["run", "--json", "--keep"])
        .args([keep, folder])
        .args(more)
        .output()
        .expect("the binary runs");
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let rows = document["scripts"].as_array().expect("rows").iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    rows.map(|row| (text(&row["file"]), (text(&row["verdict"]), text(&row["reason"]))))
        .collect()
}

/// Runs the scripts of a folder as they are, and by way of each language.
fn counts(folder: &Path) -> BTreeMap<String, Counts> {
    let kept = tempfile::tempdir().expect("a folder");
    let keep = |name: &str| kept.path().join(name);
    let before = verdicts(folder, &keep("before"), &[]);
    let mut all = BTreeMap::new();
    for way in WAYS {
        let name = way.to_string();
        let after = verdicts(folder, &keep(&name), &["--through", &name]);
        let mut counts = Counts::default();
        for (file, (verdict, _)) in &before {
            if verdict != "holds" {
                continue;
            }
            let (verdict, reason) = &after[file];
            let bytes = |name: &str| buffers(&keep(name).join(file.trim_start_matches('/')));
            match verdict.as_str() {
                "unsupported" => {
                    let why: String = reason.chars().filter(|c| !c.is_ascii_digit()).take(90).collect();
                    *counts.refused.entry(why).or_default() += 1;
                }
                "holds" if bytes("before") == bytes(&name) => counts.same += 1,
                "holds" => counts.other_bytes.push(file.clone()),
                _ => counts.wrong.push(format!("{file}: {verdict}: {reason}")),
            }
        }
        all.insert(name, counts);
    }
    all
}

/// What a script's buffers held.
fn buffers(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    // A script without buffers has no folder.
    if !folder.is_dir() {
        return BTreeMap::new();
    }
    let files = crate::common::files(folder, "bin").into_iter();
    files
        .map(|path| (path.clone(), std::fs::read(&path).expect("a file")))
        .map(|(path, bytes)| (path.file_name().map(PathBuf::from).expect("a name"), bytes))
        .collect()
}

/// Scripts that another language changes: the language, a part of the path, and why.
const KNOWN: &[(&str, &str, &str)] = &[
    (
        "hlsl",
        "run/bounded.amber",
        "a buffer is one array of words in HLSL, and indices of the translation are bounded by its ends",
    ),
    (
        "hlsl",
        "mul_extended/signed_32bit.amber",
        "GetDimensions of a ByteAddressBuffer counts bytes, and glslang's counts words",
    ),
];

fn known(way: &str, file: &str) -> Option<&'static str> {
    let found = KNOWN.iter().find(|(of, part, _)| *of == way && file.contains(part));
    found.map(|(_, _, why)| *why)
}

#[test]
fn translations_of_scripts_mean_the_same() {
    let all = counts(&data("script/run"));
    for (way, counts) in &all {
        let unknown = counts.wrong.iter().chain(&counts.other_bytes);
        let unknown: Vec<&String> = unknown.filter(|file| known(way, file).is_none()).collect();
        assert!(unknown.is_empty(), "{way}: {unknown:?}");
    }
    assert!(all["glsl"].same >= 4 && all["wgsl"].same >= 2, "{all:#?}");
}

#[test]
fn translations_of_the_field_mean_the_same() {
    if !is_whole_field() {
        return;
    }
    let Some(folder) = corpus("amber") else { return };
    let mut unknown = Vec::new();
    for (way, counts) in counts(&folder) {
        let refused: usize = counts.refused.values().sum();
        println!(
            "{way}: {} the same, {} hold with other bytes, {refused} refused, {} wrong",
            counts.same,
            counts.other_bytes.len(),
            counts.wrong.len()
        );
        for (why, count) in &counts.refused {
            println!("{count:5} {why}");
        }
        for file in counts.other_bytes.iter().chain(&counts.wrong) {
            match known(&way, file) {
                Some(why) => println!("      {file}: {why}"),
                None => unknown.push(format!("{way}: {file}")),
            }
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

/// Runs the command; its exit status, what it printed and what it said.
fn skrymir(args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_skrymir")).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn several_files_go_into_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let spread = "#version 450\nlayout(set = 1, binding = 0) uniform B { float x[3]; } numbers;\n\
                  layout(set = 0, binding = 0) uniform sampler2D image;\nlayout(location = 0) out vec4 tint;\n\
                  void main() { tint = vec4(numbers.x[2]) * texture(image, vec2(0.5)); }\n";
    std::fs::write(at("spread.frag"), spread).unwrap();
    std::fs::write(at("broken.frag"), "#version 450\nvoid main() { x; }\n").unwrap();
    for (to, ending, has) in [
        ("glsl", "glsl", "float x[3]"),
        ("msl", "metal", "float4 x[3]"),
        ("hlsl", "hlsl", "float numbers_x[3] : packoffset(c0)"),
        ("wgsl", "wgsl", "array<"),
    ] {
        let out = at(to);
        let (code, table, said) = skrymir(&[
            "convert",
            &at("spread.frag"),
            &at("broken.frag"),
            "--to",
            to,
            "-o",
            &out,
        ]);
        assert_eq!(code, Some(1), "{table}{said}");
        assert!(
            table.contains("1 of 2 files written") && table.contains("broken.frag: refused: "),
            "{table}"
        );
        let text = std::fs::read_to_string(Path::new(&out).join(format!("spread.frag.{ending}"))).unwrap();
        assert!(text.contains(has), "{to}: {text}");
    }
    let (code, json, said) = skrymir(&[
        "convert",
        &at("spread.frag"),
        "--to",
        "msl",
        "-o",
        &at("a.metal"),
        "--json",
    ]);
    assert_eq!(code, Some(0), "{said}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["writer"], "SPIRV-Cross");
    assert_eq!(json[0]["check"], "not checked: no checker reads this text");
    let resources = json[0]["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 2, "{resources:?}");
    let image = resources
        .iter()
        .find(|one| one["kind"] == "combined-image-sampler")
        .unwrap();
    assert_eq!(image["written"]["at"], serde_json::json!(["texture(0)", "sampler(0)"]));
    // There are no sets; the second of the two at binding 0 is a buffer, which is counted separately.
    let (_, json, _) = skrymir(&[
        "convert",
        &at("spread.frag"),
        "--to",
        "glsl",
        "-o",
        &at("a.glsl"),
        "--json",
    ]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["check"], "checked by glslang");
    // The same file twice, several without a folder, and a check that does not exist.
    let twice = skrymir(&[
        "convert",
        &at("spread.frag"),
        &at("spread.frag"),
        "--to",
        "msl",
        "-o",
        &at("m"),
    ]);
    assert_eq!(twice.0, Some(2), "{}", twice.2);
    assert_eq!(skrymir(&["convert", &at("a"), &at("b"), "--to", "msl"]).0, Some(2));
    assert_eq!(
        skrymir(&["convert", &at("spread.frag"), "--to", "msl", "--no-check"]).0,
        Some(2)
    );
    assert_eq!(
        skrymir(&["convert", &at("spread.frag"), "--to", "glsl", "--no-check"]).0,
        Some(0)
    );
}

/// A fault of naga's that scripts of the field showed (`cov-val-cfg-case-fallthrough`). Where this fails naga is mended, and
/// the sample can go.
#[test]
fn naga_writes_a_loop_for_a_case_of_two_numbers_that_falls_through() {
    let text = std::fs::read_to_string(data("naga/case_of_two.spvasm")).expect("a sample");
    let words = spirv::parse(&text).expect("a module");
    assert!(spirv::validate(&words).is_valid());
    let bytes = spirv::write(&words).unwrap();
    let source = Source::new("a.spv", &bytes).expect("a module");
    // What it reads is right: its validator takes it, and its writer of MSL has the two numbers and what they fall into.
    let shader = translate::read(&source).expect("naga reads it");
    let msl = translate::write(&shader, Target::Msl, &Options::default()).expect("naga writes it");
    let msl = String::from_utf8(msl).expect("a text");
    let cases: Vec<&str> = msl
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("case "))
        .collect();
    assert_eq!(cases, ["case 3:", "case 2: {", "case 4: {"], "{msl}");
    let written = translate::write(&shader, Target::Spirv, &Options::default()).expect("words");
    let written = spirv::read(&written).expect("words");
    let report = spirv::validate(&written);
    let first = report.diagnostics.first().map(ToString::to_string).unwrap_or_default();
    assert!(first.contains("which is not a loop header"), "{report:?}");
    // With the cases taken apart first there is nothing to go wrong.
    let apart = spirv::write(&spirv::for_wgsl(&words).expect("a module")).unwrap();
    let source = Source::new("a.spv", &apart).expect("a module");
    let shader = translate::read(&source).expect("naga reads it");
    let written = translate::write(&shader, Target::Spirv, &Options::default()).expect("words");
    assert!(spirv::validate(&spirv::read(&written).expect("words")).is_valid());
}
