//! Translations: what the command tells of them, and whether they still mean what the module means. A script runs with its
//! shader translated and read again.

use script::run::{Code, Compile, CompileError, Text, Verdict};
use skrymir::loader::spirv;
use skrymir::scripts::Compiler;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use translate::frontend::{self, Dialect, Settings};
use translate::{Options, ShaderStage, Source, Target};

/// The shaders of scripts by way of another language.
struct Through {
    target: Target,
    /// Has one operation of the text changed, as a control.
    wrong: bool,
    /// Why shaders did not come through.
    refused: Mutex<Option<String>>,
}

impl Through {
    fn new(target: Target) -> Self {
        Self {
            target,
            wrong: false,
            refused: Mutex::default(),
        }
    }

    /// The shader translated, and the translation as SPIR-V.
    fn translated(&self, code: &Code, stage: ShaderStage) -> Result<Code, translate::Error> {
        let bytes = spirv::write(&code.words);
        let source = Source::new("script.spv", &bytes)?.stage(stage).entry(&code.entry);
        let options = Options {
            vulkan: self.target == Target::Glsl,
            ..Options::default()
        };
        let written = translate::translate(&source, self.target, &options)?;
        let mut text = String::from_utf8(written.bytes).expect("a text");
        if self.wrong {
            text = text.replacen(" + ", " - ", 1);
        }
        let read = |dialect| {
            let glslang = frontend::Stage::of_naga(stage).expect("a stage of glslang");
            let entry = Some(code.entry.as_str()).filter(|_| dialect == Dialect::Hlsl);
            let text = frontend::Text {
                entry,
                ..frontend::Text::new(&text, Path::new("written"), dialect, glslang, Settings::NONE)
            };
            frontend::spirv(&text).map(|module| module.words)
        };
        let words = match self.target {
            Target::Glsl => read(Dialect::Glsl)?,
            Target::Hlsl => read(Dialect::Hlsl)?,
            _ => {
                let source = Source::new("written.wgsl", text.as_bytes())?.stage(stage);
                translate::to_spirv(translate::read(&source)?.fixed(&[])?.module, stage)?
            }
        };
        Ok(Code {
            words,
            entry: "main".to_owned(),
        })
    }
}

impl Compile for Through {
    fn compile(&self, text: &Text<'_>) -> Result<Code, CompileError> {
        let code = Compiler.compile(text)?;
        let stage = match text.stage {
            script::Stage::Vertex => ShaderStage::Vertex,
            script::Stage::Fragment => ShaderStage::Fragment,
            script::Stage::Compute => ShaderStage::Compute,
            other => return Err(CompileError::Unsupported(format!("{other} shaders"))),
        };
        self.translated(&code, stage).map_err(|error| {
            let told = error.to_string();
            *self.refused.lock().expect("a lock") = Some(told.clone());
            CompileError::Unsupported(told)
        })
    }
}

/// What became of scripts in one language.
#[derive(Debug, Default)]
struct Counts {
    same: usize,
    /// The script holds, and a buffer has other bytes.
    other_bytes: Vec<String>,
    refused: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

/// Runs scripts with their shaders as they are, and by way of each language.
fn counts(scripts: &[std::path::PathBuf], targets: &[Target], wrong: bool) -> BTreeMap<String, Counts> {
    // Its own: what the validation layer says of one test's shaders is no other test's.
    let context = &vulkan::Context::new(&vulkan::Options::default()).expect("a device");
    let mut all: BTreeMap<String, Counts> = BTreeMap::new();
    for path in scripts {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let Ok(script) = std::fs::read_to_string(path)
            .map_err(drop)
            .and_then(|text| script::parse(&text).map_err(drop))
        else {
            continue;
        };
        let before = script::run::run(context, &Compiler, &script, path);
        if before.verdict != Verdict::Holds {
            continue;
        }
        for target in targets {
            let through = Through {
                wrong,
                ..Through::new(*target)
            };
            let after = script::run::run(context, &through, &script, path);
            let counts = all.entry(target.to_string()).or_default();
            let refused = through.refused.into_inner().expect("a lock");
            let bytes = |report: &script::run::Report| -> BTreeMap<String, Vec<u8>> {
                let kept = report.kept.iter();
                kept.map(|kept| (kept.name.clone(), kept.bytes.clone())).collect()
            };
            match (&after.verdict, refused) {
                (Verdict::Unsupported(_), Some(why)) => {
                    let why: String = why.chars().filter(|c| !c.is_ascii_digit()).take(90).collect();
                    *counts.refused.entry(why).or_default() += 1;
                }
                (Verdict::Holds, _) if bytes(&before) == bytes(&after) => counts.same += 1,
                (Verdict::Holds, _) => counts.other_bytes.push(name.clone()),
                (verdict, _) => counts
                    .wrong
                    .push(format!("{name}: {}", verdict.reason().unwrap_or_default())),
            }
        }
    }
    all
}

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
    let targets = [Target::Glsl, Target::Hlsl, Target::Wgsl];
    let right = counts(std::slice::from_ref(&path), &targets, false);
    let wrong = counts(&[path], &targets, true);
    for target in targets {
        let name = target.to_string();
        assert_eq!(right[&name].same, 1, "{:?}", right[&name]);
        assert_eq!(wrong[&name].wrong.len(), 1, "{:?}", wrong[&name]);
    }
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
    assert_eq!(json[0]["check"], "not checked: nobody here reads it");
    let resources = json[0]["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 2, "{resources:?}");
    let image = resources
        .iter()
        .find(|one| one["kind"] == "combined-image-sampler")
        .unwrap();
    assert_eq!(image["written"]["at"], serde_json::json!(["texture(0)", "sampler(0)"]));
    // Sets are no more; the second of the two at binding 0 is a buffer, which is counted by itself.
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
    // One file twice, several without a folder, and a check that nobody does.
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
