//! The verbs share their front ends: if one verb accepts a shader, another rejects it only for a limit of its output, and
//! all verbs reject an invalid shader.

use crate::common;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One in this many, all if `SKRYMIR_FIELD` is set.
const SAMPLE: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Taken,
    /// A limit of the device, the language or the hardware.
    Unsupported,
    /// The text violates its language's rules.
    Invalid,
    /// The command line is incomplete, such as for a file with several entry points.
    Asked,
}

/// A verb's verdict on a fragment shader, and the error line.
fn verdict(verb: &str, file: &Path, folder: &Path) -> (Verdict, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
    command.arg(verb).arg(file);
    match verb {
        "run" => command.args(["--size", "16x16", "-o"]).arg(folder.join("x.png")),
        "convert" => command
            .args(["--stage", "frag", "--to", "spirv", "-o"])
            .arg(folder.join("x.spv")),
        _ => command.args(["--stage", "frag", "--report"]),
    };
    let output = command.output().expect("the binary runs");
    let text = String::from_utf8_lossy(&output.stderr);
    let why = text.lines().find(|line| line.starts_with("skrymir: ")).unwrap_or("");
    let verdict = match (output.status.code(), why) {
        (Some(0), _) => Verdict::Taken,
        (_, why) if why.contains("choose an entry point") => Verdict::Asked,
        (_, why) if why.contains("unsupported") || why.contains(" lacks ") => Verdict::Unsupported,
        (Some(1), _) => Verdict::Invalid,
        (code, why) => panic!("{verb} {}: {code:?}: {why}", file.display()),
    };
    (verdict, why.to_owned())
}

/// The language of a file, and its version.
fn language(file: &Path, text: &str) -> String {
    if file.extension().is_some_and(|ext| ext == "wgsl") {
        return "WGSL".to_owned();
    }
    let words = text.lines().map(|line| line.replacen('#', "# ", 1));
    let version = words
        .map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .find(|words| words.len() > 2 && words[0] == "#" && words[1] == "version");
    match version.as_deref() {
        None => "GLSL ES 100".to_owned(),
        Some([_, _, number, profile, ..]) if profile == "es" => format!("GLSL ES {number}"),
        Some([_, _, number, ..]) if number == "100" => "GLSL ES 100".to_owned(),
        Some([_, _, number, ..]) => format!("GLSL {number}"),
        Some(_) => unreachable!(),
    }
}

fn sources() -> Vec<PathBuf> {
    let own = common::files(&common::data("vbc/glsl"), "frag");
    let Some(field) = common::corpus("field") else {
        return own;
    };
    let all = [
        ("retro", "frag", SAMPLE),
        ("samples", "frag", SAMPLE / 5),
        ("wgsl", "wgsl", SAMPLE / 5),
    ];
    let some = all.iter().flat_map(|(folder, ext, sample)| {
        let files = common::files(&field.join(folder), ext);
        files.into_iter().step_by(common::field_step(*sample))
    });
    own.into_iter().chain(some).collect()
}

#[test]
fn verbs_take_the_same_sources() {
    const VERBS: [&str; 3] = ["run", "convert", "compile"];
    let folder = tempfile::tempdir().expect("a folder");
    let (mut table, mut reasons, mut wrong) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for file in sources() {
        // The verbs need a fragment stage; a WGSL file may have none.
        let bytes = std::fs::read(&file).expect("a readable file");
        let text = String::from_utf8_lossy(&bytes);
        if file.extension().is_some_and(|ext| ext == "wgsl") && !text.contains("@fragment") {
            continue;
        }
        let language = language(&file, &text);
        let verdicts = VERBS.map(|verb| verdict(verb, &file, folder.path()));
        for (verb, (verdict, why)) in VERBS.iter().zip(&verdicts) {
            *table.entry((language.clone(), *verb, *verdict)).or_insert(0) += 1;
            if *verdict == Verdict::Unsupported {
                let reason = why.rsplit("unsupported: ").next().unwrap_or(why).to_owned();
                *reasons.entry((*verb, reason)).or_insert(0) += 1;
            }
        }
        let any = |wanted| verdicts.iter().any(|(verdict, _)| *verdict == wanted);
        if any(Verdict::Invalid) && (any(Verdict::Taken) || any(Verdict::Unsupported)) {
            wrong.push((file, verdicts));
        }
    }
    for ((language, verb, verdict), count) in &table {
        println!("{language:12} {verb:8} {verdict:?}: {count}");
    }
    for ((verb, reason), count) in &reasons {
        println!("{verb:8} {count:4} unsupported: {reason}");
    }
    assert!(table.keys().any(|(_, _, verdict)| *verdict == Verdict::Taken));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn mali_programs_become_glsl_with_the_names_of_their_symbols() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let ran = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_skrymir")).args(arguments).output();
        let output = output.expect("the binary runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {error}");
    };
    let (vertex, fragment) = (path("a.vert"), path("a.frag"));
    let text = "attribute vec4 position;\nattribute vec2 texcoord;\nuniform mat4 transform;\nvarying vec2 uv;\n\
                void main() { gl_Position = transform * position; uv = texcoord; }\n";
    std::fs::write(&vertex, text).expect("written");
    let text = "precision mediump float;\nuniform sampler2D in_texture;\nuniform vec4 tint;\nvarying vec2 uv;\n\
                void main() { gl_FragColor = texture2D(in_texture, uv) * tint; }\n";
    std::fs::write(&fragment, text).expect("written");
    for (source, name) in [(&vertex, "made.vert"), (&fragment, "made.frag")] {
        let (program, made) = (path("a.mbs"), path(name));
        ran(&["compile", source, "-o", &program]);
        for profile in ["es300", "core450"] {
            ran(&["convert", &program, "--to", "glsl", "--profile", profile, "-o", &made]);
            let text = std::fs::read_to_string(&made).expect("a text");
            assert!(text.contains(" vec2 uv;") && !text.contains("_group_"), "{text}");
        }
        ran(&["convert", &program, "--to", "glsl", "--profile", "es100", "-o", &made]);
    }
    let [made_vertex, made_fragment] = ["made.vert", "made.frag"].map(|name| {
        let text = std::fs::read_to_string(path(name)).expect("a text");
        assert!(text.starts_with("#version 100\n"), "{text}");
        text
    });
    for line in [
        "attribute vec2 texcoord;",
        "uniform mat4 transform;",
        "varying vec2 uv;",
    ] {
        assert!(made_vertex.contains(line), "{line} is not in\n{made_vertex}");
    }
    for line in [
        "uniform highp sampler2D in_texture;",
        "uniform vec4 tint;",
        "varying vec2 uv;",
    ] {
        assert!(made_fragment.contains(line), "{line} is not in\n{made_fragment}");
    }
    // It draws what it drew before.
    let scene = path("scene.toml");
    let text = "size = [16, 16]\n[uniform]\ntint = [1.0, 0.5, 0.25, 1.0]\n[slots.0]\nfill = [0.5, 1.0, 1.0, 1.0]\nsize = [2, 2]\n";
    std::fs::write(&scene, text).expect("written");
    let (first, second) = (path("first.png"), path("second.png"));
    ran(&["draw", &vertex, &fragment, "--scene", &scene, "-o", &first]);
    let expected = ["--expect", &first, "--tolerance", "1"];
    ran(&[
        &["draw", &vertex, &path("made.frag"), "--scene", &scene, "-o", &second][..],
        &expected,
    ]
    .concat());
}

#[test]
fn every_verb_takes_constants_of_wgsl_with_and_without_a_default() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (shader, picture, spirv) = (path("a.wgsl"), path("a.png"), path("a.spv"));
    let text = |value: &str| {
        format!(
            "override scale: f32{value};\n@vertex fn v(@location(0) at: vec4f) -> @builtin(position) vec4f {{ return at; }}\n\
             @fragment fn f() -> @location(0) vec4f {{ return vec4f(scale); }}\n"
        )
    };
    let verbs: [&[&str]; 4] = [
        &["run", "--size", "4x4", "-o", &picture],
        &["draw", "--size", "4x4", "-o", &picture],
        &["compile", "--stage", "frag", "--report"],
        &["convert", "--stage", "frag", "--to", "spirv", "-o", &spirv],
    ];
    let ran = |verb: &[&str], more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
        command.arg(verb[0]).arg(&shader).args(&verb[1..]).args(more);
        let output = command.output().expect("the binary runs");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    for (value, more, code) in [
        (" = 0.5", &[][..], 0),
        ("", &["--constant", "scale=0.5"], 0),
        ("", &[], 1),
    ] {
        std::fs::write(&shader, text(value)).expect("written");
        for verb in verbs {
            let (found, error) = ran(verb, more);
            assert_eq!(found, Some(code), "{verb:?} {more:?}: {error}");
            assert!(
                code == 0 || error.contains("the constant scale has no default"),
                "{verb:?}: {error}"
            );
        }
    }
}
