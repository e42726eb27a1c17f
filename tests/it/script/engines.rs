//! Scripts on engines other than Vulkan, and scripts written from draws.

use crate::common::data;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program's exit code and output for these arguments.
fn skrymir(arguments: &[&str], paths: &[&Path]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(arguments)
        .args(paths)
        .output()
        .expect("the binary runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text)
}

/// A script for a Mali-400: it paints a corner over a colour, which is a parameter.
fn corner(folder: &Path, red: u8) -> PathBuf {
    let path = folder.join(format!("corner{red}.amber"));
    let text = format!(
        "#!amber
SHADER vertex through PASSTHROUGH
SHADER fragment painted GLSL
#version 450
layout(push_constant) uniform Block {{ vec4 tint; }};
layout(location = 0) out vec4 color;
void main() {{ color = tint; }}
END
BUFFER tint DATA_TYPE vec4<float> DATA 1 0 0 1 END
BUFFER picture FORMAT B8G8R8A8_UNORM
PIPELINE graphics draw
  ATTACH through
  ATTACH painted
  FRAMEBUFFER_SIZE 16 8
  BIND BUFFER tint AS push_constant
  BIND BUFFER picture AS color LOCATION 0
END
CLEAR_COLOR draw 0 0 255 255
CLEAR draw
RUN draw DRAW_RECT POS 0 0 SIZE 4 2
EXPECT picture IDX 0 0 SIZE 4 2 EQ_RGBA {red} 0 0 255
EXPECT picture IDX 4 0 SIZE 12 2 EQ_RGBA 0 0 255 255
EXPECT picture IDX 0 2 SIZE 16 6 EQ_RGBA 0 0 255 255
"
    );
    std::fs::write(&path, text).expect("written");
    path
}

#[test]
fn a_mali_runs_supported_scripts() {
    let folder = tempfile::tempdir().expect("a folder");
    for device in ["mali400", "mali400/wide", "mali400/scalar"] {
        let (code, said) = skrymir(&["run", "--device", device], &[&corner(folder.path(), 255)]);
        assert_eq!(code, Some(0), "{device}: {said}");
        assert!(said.contains(": holds") && said.contains("1 right"), "{device}: {said}");
        let (code, said) = skrymir(&["run", "--device", device], &[&corner(folder.path(), 250)]);
        assert!(
            code == Some(1) && said.contains("wanted R 0.9804"),
            "{device}: {code:?} {said}"
        );
    }
    let compute = data("script/run/compute.amber");
    let (code, said) = skrymir(&["run", "--device", "mali400"], &[&compute]);
    assert!(
        code == Some(0) && said.contains("no compute shaders"),
        "{code:?} {said}"
    );
}

/// The same script with its rectangle half transparent, twice and beside itself.
fn blended(folder: &Path, twice: u8) -> PathBuf {
    let path = folder.join(format!("blended{twice}.amber"));
    let text = std::fs::read_to_string(corner(folder, 255)).expect("a script");
    let (head, _) = text.split_once("RUN draw").expect("a draw");
    let factors = "  BLEND
    SRC_COLOR_FACTOR src_alpha
    DST_COLOR_FACTOR one_minus_src_alpha
    SRC_ALPHA_FACTOR one
    DST_ALPHA_FACTOR one_minus_src_alpha
  END
";
    let head = head.replace("DATA 1 0 0 1 END", "DATA 1 0 0 0.5 END");
    let head = head.replace("  FRAMEBUFFER_SIZE", &format!("{factors}  FRAMEBUFFER_SIZE"));
    let text = format!(
        "{head}RUN draw DRAW_RECT POS 0 0 SIZE 4 2
RUN draw DRAW_RECT POS 2 0 SIZE 4 2
EXPECT picture IDX 0 0 SIZE 2 2 TOLERANCE 2 EQ_RGBA 128 0 128 255
EXPECT picture IDX 2 0 SIZE 2 2 TOLERANCE 2 EQ_RGBA {twice} 0 64 255
EXPECT picture IDX 4 0 SIZE 2 2 TOLERANCE 2 EQ_RGBA 128 0 128 255
EXPECT picture IDX 6 0 SIZE 10 8 EQ_RGBA 0 0 255 255
"
    );
    std::fs::write(&path, text).expect("written");
    path
}

#[test]
fn a_mali_blends_as_others_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, said) = skrymir(&["run", "--engines"], &[&blended(folder.path(), 191)]);
    assert_eq!(code, Some(0), "{said}");
    let mali = said.lines().find(|line| line.starts_with("mali400/scalar"));
    assert!(mali.is_some_and(|line| line.contains(" 1 right, ")), "{said}");
    let (code, said) = skrymir(&["run", "--device", "mali400"], &[&blended(folder.path(), 180)]);
    assert!(code == Some(1) && said.contains("pixel 2, 0"), "{code:?} {said}");
}

#[test]
fn depth_and_stencil_stay_between_draws() {
    let script = data("script/run/depth_stays.amber");
    let (code, said) = skrymir(&["run", "--engines"], &[&script]);
    assert_eq!(code, Some(0), "{said}");
    for engine in ["mali400/native", "mali400/wide", "mali400/scalar"] {
        let row = said.lines().find(|line| line.starts_with(engine));
        assert!(row.is_some_and(|line| line.contains(" 1 right, ")), "{said}");
    }
    // Negative control: a clear in between.
    let folder = tempfile::tempdir().expect("a folder");
    let cleared = folder.path().join("cleared.amber");
    let text = std::fs::read_to_string(&script).expect("a script");
    let text = text.replace("RUN same", "CLEAR_DEPTH nearer 0.9\nCLEAR nearer\nRUN same");
    std::fs::write(&cleared, text).expect("written");
    let (code, said) = skrymir(&["run", "--device", "mali400"], &[&cleared]);
    assert_eq!(code, Some(1), "{said}");
}

/// A use that does not end costs its limit, and the next script runs.
#[test]
fn a_use_ends_at_its_time_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let quick = corner(folder.path(), 255);
    let slow = folder.path().join("a_slow.amber");
    let text = std::fs::read_to_string(&quick).expect("a script");
    // As a half, a counter does not get beyond 2048, and a fragment has its own limit of instructions.
    let text = text.replace(
        "color = tint;",
        "float x = gl_FragCoord.x; for (float i = 0.0; i < 2000.0 * tint.x; i += 1.0) x = sin(x + i); color = vec4(x);",
    );
    let text = text.replace("FRAMEBUFFER_SIZE 16 8", "FRAMEBUFFER_SIZE 1024 1024");
    let text = text.replace("SIZE 4 2\nEXPECT", "SIZE 1024 1024\nEXPECT");
    std::fs::write(&slow, text).expect("written");
    let arguments = ["run", "--device", "mali400/scalar", "--timeout", "1"];
    let (code, said) = skrymir(&arguments, &[&slow, &quick]);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(code, Some(1), "{said}");
    assert!(lines[0].ends_with("did not respond within 2 s"), "{said}");
    assert!(lines[1].ends_with("corner255.amber: holds"), "{said}");
}

#[test]
fn each_engine_has_a_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let (script, compute) = (corner(folder.path(), 255), data("script/run/compute.amber"));
    let (code, said) = skrymir(&["run", "--engines", "--json"], &[&script, &compute]);
    assert_eq!(code, Some(0), "{said}");
    let document: Value = serde_json::from_str(&said).expect("a document");
    let engines = document["engines"].as_array().expect("engines");
    let names: Vec<&str> = engines.iter().filter_map(|one| one["engine"].as_str()).collect();
    assert!(names.contains(&"mali400/scalar"), "{names:?}");
    assert!(names.iter().any(|name| name.ends_with(", through naga")), "{names:?}");
    for engine in engines {
        assert_eq!(engine["scripts"][0]["verdict"], "holds", "{engine:#}");
        // Neither a Mali-400 nor naga supports this script.
        let name = engine["engine"].as_str().expect("a name");
        let plain = !name.starts_with("mali") && !name.ends_with(", through naga");
        let wanted = if plain { "holds" } else { "unsupported" };
        assert_eq!(engine["scripts"][1]["verdict"], wanted, "{engine:#}");
    }
    assert_eq!(document["disagree"], Value::Array(Vec::new()));
    let (code, said) = skrymir(&["run", "--engines", "--device", "mali400/wide"], &[&script]);
    assert!(
        code == Some(0) && said.contains("mali400/wide  1 right"),
        "{code:?} {said}"
    );
}

#[test]
fn a_draw_becomes_a_script_that_passes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("draw.amber");
    let files = ["draw.toml", "draw.vert", "draw.frag"].map(|name| data("amber").join(name));
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let (code, said) = skrymir(&["convert", "--to", "amber", "-o", &path.to_string_lossy()], &files);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = skrymir(&["run", "--validation"], &[&path]);
    assert!(code == Some(0) && said.contains(": holds"), "{code:?} {said}");
    // Cleared to another colour it fails.
    let text = std::fs::read_to_string(&path).expect("a script");
    let other = text.replace("CLEAR_COLOR draw 0 0", "CLEAR_COLOR draw 30 0");
    assert_ne!(text, other);
    std::fs::write(&path, other).expect("written");
    let (code, said) = skrymir(&["run"], &[&path]);
    assert!(
        code == Some(1) && said.contains("root mean square error"),
        "{code:?} {said}"
    );
    let (code, said) = skrymir(&["convert", "--to", "wgsl"], &files);
    assert!(
        code == Some(2) && said.contains("several files are written to a folder"),
        "{code:?} {said}"
    );
}

/// A pair of shaders and a scene of one triangle at depth 0.5, with keys.
fn scene_with(folder: &Path, keys: &str) -> [PathBuf; 3] {
    let files = [
        (
            "a.toml",
            format!(
                "size = [16, 16]\nclear = [0, 0.25, 0, 1]\n{keys}\n[inputs]\n\
                 position = [[0, -0.8, 0.5], [0.8, 0.8, 0.5], [-0.8, 0.8, 0.5]]\n[slots.image]\nfill = [1, 0.5, 1, 1]\n"
            ),
        ),
        (
            "a.vert",
            "#version 450\nlayout(location = 0) in vec3 position;\nlayout(location = 0) out vec2 uv;\n\
             layout(set = 0, binding = 1) uniform Numbers { float depth; };\n\
             void main() { uv = position.xy * 2.0; gl_Position = vec4(position.xy, position.z * depth, 1.0); }\n"
                .to_owned(),
        ),
        (
            "a.frag",
            "#version 450\nlayout(location = 0) in vec2 uv;\nlayout(location = 0) out vec4 color;\n\
             layout(set = 0, binding = 0) uniform sampler2D image;\nvoid main() { color = texture(image, uv); }\n"
                .to_owned(),
        ),
    ];
    files.map(|(name, text)| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("written");
        path
    })
}

/// Every state that AmberScript has words for is written, and without them the picture is another.
#[test]
fn states_of_a_draw_are_written_or_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("draw.amber");
    let convert = |keys: &str| {
        let files = scene_with(folder.path(), keys);
        let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        skrymir(&["convert", "--to", "amber", "-o", &path.to_string_lossy()], &files)
    };
    for (keys, words, other) in [
        ("polygon-mode = 'line'", "POLYGON_MODE line", "POLYGON_MODE fill"),
        ("samples = 4", "AS resolve\n", "AS color LOCATION 1\n"),
        (
            "stencil = { front = { compare = 'equal', reference = 1, compare-mask = 3 }, clear = 5 }",
            "CLEAR_STENCIL draw 5",
            "CLEAR_STENCIL draw 4",
        ),
        (
            "stencil = { front = { compare = 'never' }, back = { fail = 'increment-and-wrap' } }",
            "COMPARE_OP always",
            "COMPARE_OP never",
        ),
        (
            "depth = { clear = 0.5 }\ndepth-bias = { constant = -16 }",
            "BIAS constant -16.0",
            "BIAS constant 16.0",
        ),
        ("depth-clamp = true\n[uniform]\ndepth = 3", "CLAMP on", "CLAMP off"),
        (
            "targets.0 = { src-color-factor = 'one-minus-dst-color', color-op = 'reverse-subtract' }",
            "COLOR_OP reverse_substract",
            "COLOR_OP add",
        ),
        (
            "blend = 'additive'\ntargets.0 = { clear = [0.5, 0.5, 0.5, 1] }",
            "DST_COLOR_FACTOR one",
            "DST_COLOR_FACTOR zero",
        ),
    ] {
        let (code, said) = convert(keys);
        assert_eq!(code, Some(0), "{keys}: {said}");
        let text = std::fs::read_to_string(&path).expect("a script");
        assert!(text.contains(words), "{keys}: {text}");
        let (code, said) = skrymir(&["run", "--validation"], &[&path]);
        assert!(code == Some(0) && said.contains(": holds"), "{keys}: {code:?} {said}");
        std::fs::write(&path, text.replace(words, other)).expect("written");
        let (code, said) = skrymir(&["run"], &[&path]);
        assert_eq!(code, Some(1), "{keys}: the negative control holds: {said}");
    }
    for (keys, named) in [
        ("front-face = 'clockwise'", "front-face"),
        ("line-width = 1", "line-width"),
        ("samples = 4\nsample-shading = 1", "sample-shading"),
        ("samples = 4\nsample-mask = 3", "sample-mask"),
        ("samples = 4\nalpha-to-coverage = true", "alpha-to-coverage"),
        ("alpha-to-one = true", "alpha-to-one"),
        ("blend-constants = [1, 0, 0, 1]", "blend-constants"),
        ("logic-op = 'xor'", "logic-op"),
        ("targets.0 = { write-mask = 'rg' }", "write-mask"),
    ] {
        let (code, said) = convert(keys);
        assert_ne!(code, Some(0), "{keys}");
        assert!(
            said.contains(&format!("AmberScript has no words for {named}")),
            "{keys}: {said}"
        );
    }
}

/// Samplers are written with their edges, filters and comparison.
#[test]
fn samplers_of_a_draw_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("draw.amber");
    let files = scene_with(folder.path(), "");
    let plain = std::fs::read_to_string(&files[0]).expect("a scene");
    let shadow = std::fs::read_to_string(&files[2])
        .expect("a shader")
        .replace("sampler2D image", "sampler2DShadow image")
        .replace("texture(image, uv)", "vec4(texture(image, vec3(uv, 0.5)))");
    for (slot, words, other) in [
        (
            "wrap = 'border'\nborder = 'opaque-white'",
            "float_opaque_white",
            "float_opaque_black",
        ),
        (
            "wrap-x = 'clamp'",
            "ADDRESS_MODE_U clamp_to_edge",
            "ADDRESS_MODE_U repeat",
        ),
        (
            "filter = 'linear'\nmin-filter = 'linear'",
            "MAG_FILTER linear MIN_FILTER linear",
            "MAG_FILTER nearest MIN_FILTER nearest",
        ),
        ("compare = 'less'", "COMPARE_OP less", "COMPARE_OP greater"),
    ] {
        let compares = slot.starts_with("compare");
        let texels = if compares {
            "[0.25, 0.75]"
        } else {
            "[1, 0, 0, 1, 0, 0, 1, 1]"
        };
        let scene = plain.replace(
            "fill = [1, 0.5, 1, 1]",
            &format!("size = [2, 1]\ntexels = {texels}\n{slot}"),
        );
        std::fs::write(&files[0], scene).expect("written");
        if compares {
            std::fs::write(&files[2], &shadow).expect("written");
        }
        let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        let (code, said) = skrymir(&["convert", "--to", "amber", "-o", &path.to_string_lossy()], &files);
        assert_eq!(code, Some(0), "{slot}: {said}");
        let text = std::fs::read_to_string(&path).expect("a script");
        assert!(text.contains(words), "{slot}: {text}");
        let (code, said) = skrymir(&["run", "--validation"], &[&path]);
        assert!(code == Some(0) && said.contains(": holds"), "{slot}: {code:?} {said}");
        std::fs::write(&path, text.replace(words, other)).expect("written");
        let (code, said) = skrymir(&["run"], &[&path]);
        assert_eq!(code, Some(1), "{slot}: the negative control holds: {said}");
    }
    let scene = plain.replace("fill = [1, 0.5, 1, 1]", "lod-bias = 1");
    std::fs::write(&files[0], scene).expect("written");
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let (code, said) = skrymir(&["convert", "--to", "amber", "-o", &path.to_string_lossy()], &files);
    assert!(code != Some(0) && said.contains("lod-bias"), "{code:?} {said}");
}
