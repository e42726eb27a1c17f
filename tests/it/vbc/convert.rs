//! Every stage of every VBC file to WGSL and GLSL: it is written, or rejected with the name of what naga cannot
//! express.

use crate::common;

use loader::vbc::{self, Stage};
use std::collections::BTreeMap;
use translate::{Error, ErrorKind, Language, Options, ShaderStage, Source, Target};

/// Features that naga lacks, by a part of its message; no other reason may stop a stage of a valid file.
const LIMITS: [&str; 11] = [
    // Buffers of texels, and subpass inputs.
    "unsupported image dimension %5",
    "unsupported image dimension %6",
    // Packed matrices of three rows, and members that are aligned only in scalar layout.
    "unsupported matrix stride",
    "Alignment requirements for address space",
    // Vertex inputs that are matrices or arrays.
    "Only numeric scalars and vectors are allowed",
    // Built-ins of other types, and of other languages.
    "Built-in type for DrawIndex is invalid",
    "Unsupported builtin value: Point",
    // Integer textures with samplers.
    "Unable to operate on image class Sampled",
    // Storage images of cubes, which it takes for arrays of faces; arrays of one-dimensional textures in WGSL.
    "does not match dimension Cube",
    "`texture_1d_array`",
    // Stages that naga does not support.
    "no such stage",
];

/// Our own samples and the corpus.
fn files() -> Vec<(String, Vec<u8>)> {
    let folders = [Some(common::data("vbc")), common::corpus("vbc")];
    let paths = folders.iter().flatten().flat_map(|folder| common::files(folder, "vbc"));
    let name = |path: &std::path::Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    paths.map(|path| (name(&path), std::fs::read(path).unwrap())).collect()
}

fn source(bytes: &[u8], stage: Stage) -> Source<'_> {
    let stage = match stage {
        Stage::Vert => ShaderStage::Vertex,
        Stage::Frag => ShaderStage::Fragment,
        // naga has no other stages; a request for them fails because they are not in the file.
        _ => ShaderStage::Compute,
    };
    let (language, stage, entry) = (Language::Vbc, Some(stage), None);
    Source {
        bytes,
        language,
        stage,
        entry,
        any_layout: false,
        y_up: false,
        settings: translate::frontend::Settings::NONE,
        path: std::path::Path::new(""),
    }
}

fn written(bytes: &[u8], stage: Stage, to: Target) -> Result<Vec<u8>, Error> {
    translate::write(&translate::read(&source(bytes, stage))?, to, &Options::default())
}

#[test]
fn every_stage_is_written_or_refused_by_name() {
    let files = files();
    let mut table: BTreeMap<(String, &str), Vec<String>> = BTreeMap::new();
    let (mut stages, mut unknown) = (0, Vec::new());
    for (name, bytes) in &files {
        let file = vbc::read(bytes).unwrap();
        for stage in Stage::ALL.into_iter().filter(|stage| file.code(*stage).is_some()) {
            stages += 1;
            for to in [Target::Wgsl, Target::Glsl] {
                let outcome = match written(bytes, stage, to) {
                    Ok(text) => {
                        assert!(!text.is_empty());
                        "written"
                    }
                    Err(error) => {
                        let said = error.to_string();
                        let panicked = matches!(error.kind(), ErrorKind::Panicked { .. });
                        let known = LIMITS.into_iter().find(|limit| said.contains(limit));
                        if known.is_none() || panicked {
                            unknown.push(format!("{name}.{stage} to {to}: {said}"));
                        }
                        known.unwrap_or("for another reason")
                    }
                };
                table
                    .entry((to.to_string(), outcome))
                    .or_default()
                    .push(format!("{name}.{stage}"));
            }
        }
    }
    println!("{} files, {stages} stages", files.len());
    for ((to, outcome), who) in &table {
        println!("{to:5} {:3} {outcome}: {}", who.len(), who.join(" "));
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    let done = |to: &str| table[&(to.to_owned(), "written")].len();
    println!("wgsl {} and glsl {} of {stages} stages", done("wgsl"), done("glsl"));
    let least = if common::corpus("vbc").is_some() {
        [95, 100]
    } else {
        [14, 15]
    };
    assert!(done("wgsl") >= least[0] && done("glsl") >= least[1], "{table:#?}");
}

/// A texture and a sampler of WGSL are packed as one descriptor, and split again.
#[test]
fn packed_textures_convert_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    std::fs::write(
        file("a.wgsl"),
        "@group(0) @binding(0) var picture: texture_2d<f32>;\n\
         @group(0) @binding(1) var smooth_: sampler;\n\
         @vertex fn vs(@location(0) at: vec2<f32>) -> @builtin(position) vec4<f32> { return vec4(at, 0.0, 1.0); }\n\
         @fragment fn fs(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {\n\
         return textureSample(picture, smooth_, at.xy / 64.0); }\n",
    )
    .unwrap();
    let skrymir = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_skrymir"));
        let output = command.current_dir(folder.path()).args(args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    };
    skrymir(&["pack", "--vert", "a.wgsl", "--frag", "a.wgsl", "-o", "a.vbc"]);
    let text = skrymir(&["convert", "a.vbc", "--stage", "frag", "--to", "wgsl"]);
    assert!(text.contains("texture_2d<f32>") && text.contains(": sampler"), "{text}");
    assert!(text.contains("textureSample("), "{text}");
    // Our rules and, if it is installed, spirv-val accept the split code.
    let bytes = std::fs::read(file("a.vbc")).unwrap();
    let words = vbc::read(&bytes).unwrap().code(Stage::Frag).unwrap().words();
    let split = loader::spirv::split_samplers(&words).unwrap();
    assert_ne!(split, words);
    let report = loader::spirv::validate(&split);
    assert!(report.is_valid(), "{report:?}");
    if let Some(verdict) = translate::validate::spirv_val::validate(&split) {
        verdict.unwrap();
    }
    for to in ["glsl", "msl", "hlsl"] {
        assert!(!skrymir(&["convert", "a.vbc", "--stage", "frag", "--to", to]).is_empty());
    }
}

/// glslang passes samplers to functions as pointers; and a value loaded in one block may be used in another.
#[test]
fn samplers_in_functions_and_other_blocks_are_split() {
    let text = std::fs::read_to_string(common::data("spirv/sampler_function.spvasm")).unwrap();
    let grammar = loader::spirv::Grammar::builtin();
    let words = loader::spirv::asm::assemble(grammar, &text, Default::default()).unwrap();
    assert!(loader::spirv::validate(&words).is_valid());
    let split = loader::spirv::split_samplers(&words).unwrap();
    let report = loader::spirv::validate(&split);
    assert!(report.is_valid(), "{report:?}");
    if let Some(verdict) = translate::validate::spirv_val::validate_as(&split, &[]) {
        verdict.unwrap();
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let source = Source::new("a.spv", &bytes).unwrap();
    let shader = translate::read(&source).unwrap();
    for to in [Target::Wgsl, Target::Glsl] {
        let text = translate::write(&shader, to, &Options::default()).unwrap();
        assert!(String::from_utf8_lossy(&text).contains("texture"));
    }
}
