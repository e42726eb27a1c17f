//! Shader sources in their usual forms, run and packed from the command line.

use std::path::Path;
use std::process::{Command, Output};

fn skrymir(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder)
        .output()
        .expect("the binary runs")
}

/// Runs a command that must end with an exit code; returns its standard error.
pub(super) fn ends(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = skrymir(folder, arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
    error
}

const FILES: [(&str, &str); 6] = [
    (
        "uv.frag",
        "#version 450\nlayout(location = 0) in vec2 uv;\nlayout(location = 0) out vec4 color;\n\
         void main() { color = vec4(uv, 0.0, 1.0); }\n",
    ),
    (
        "uv.wgsl",
        "@fragment fn main(@location(0) uv: vec2f) -> @location(0) vec4f { return vec4f(uv, 0.0, 1.0); }\n",
    ),
    (
        "both.wgsl",
        "struct Out { @builtin(position) at: vec4f, @location(0) uv: vec2f }\n\
         @vertex fn whole(@builtin(vertex_index) i: u32) -> Out {\n\
             let p = vec2f(f32(i & 1u) * 2.0, f32(i >> 1u) * 2.0);\n\
             return Out(vec4f(p.x * 2.0 - 1.0, 1.0 - p.y * 2.0, 0.0, 1.0), p);\n}\n\
         @fragment fn paint(in: Out) -> @location(0) vec4f { return vec4f(in.uv, 0.0, 1.0); }\n\
         @fragment fn other(in: Out) -> @location(0) vec4f { return vec4f(0.0, in.uv, 1.0); }\n",
    ),
    (
        "whole.vert",
        "#version 450\nlayout(location = 0) out vec2 uv;\n\
         void main() { uv = vec2(float(gl_VertexIndex & 1), float(gl_VertexIndex >> 1)) * 2.0;\n\
         gl_Position = vec4(uv * 2.0 - 1.0, 0.0, 1.0); }\n",
    ),
    (
        "stone.frag",
        "#version 450\nlayout(location = 0) in vec2 uv;\nlayout(location = 0) out vec4 color;\n\
         layout(set = 0, binding = 4) uniform sampler2D stone;\n\
         void main() { color = texture(stone, uv); }\n",
    ),
    (
        "parted.wgsl",
        "@group(0) @binding(4) var stone: texture_2d<f32>;\n@group(0) @binding(5) var how: sampler;\n\
         @fragment fn main(@location(0) uv: vec2f) -> @location(0) vec4f { return textureSample(stone, how, uv); }\n",
    ),
];

fn files() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn sources_run_unchanged() {
    let folder = files();
    let at = folder.path();
    ends(at, &["run", "uv.frag", "-o", "uv.png", "--size", "32x32"], 0);
    // The same picture for every form of the command line, and a different one for another shader. WGSL's clip space has y
    // upwards, as WebGPU's.
    for arguments in [
        &["uv.wgsl"][..],
        &["whole.vert", "uv.frag"],
        &["both.wgsl", "--entry", "paint"],
        &["both.wgsl", "--entry", "vert=whole", "--entry", "frag=paint"],
    ] {
        let more = ["--size", "32x32", "--expect", "uv.png"];
        ends(at, &[&["run"], arguments, &more].concat(), 0);
    }
    for (entry, code) in [("other", 1), ("frag=other", 1), ("missing", 1), ("pixel=paint", 2)] {
        ends(
            at,
            &[
                "run",
                "both.wgsl",
                "--entry",
                entry,
                "--size",
                "32x32",
                "--expect",
                "uv.png",
            ],
            code,
        );
    }
    let more = ["--size", "32x32", "--expect", "uv.png", "--diff", "diff.png"];
    let error = ends(at, &[&["run", "whole.vert", "stone.frag"], &more[..]].concat(), 1);
    assert!(error.contains("the picture is not uv.png"), "{error}");
    // A shader that cannot be drawn alone is reported.
    let error = ends(at, &["run", "whole.vert", "-o", "x.png"], 1);
    assert!(error.contains("a vertex stage alone"), "{error}");
    let error = ends(at, &["run", "both.wgsl", "-o", "x.png"], 1);
    assert!(error.contains("choose an entry point"), "{error}");
}

#[test]
fn sources_are_read_from_standard_input() {
    let folder = files();
    let at = folder.path();
    ends(at, &["run", "uv.frag", "-o", "uv.png", "--size", "32x32"], 0);
    let piped = |arguments: &[&str], file: &str| {
        let input = std::fs::File::open(at.join(file)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
        let output = command.args(arguments).current_dir(at).stdin(input).output().unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    };
    for file in ["uv.wgsl", "uv.frag"] {
        piped(&["run", "-", "--size", "32x32", "--expect", "uv.png"], file);
    }
    let module = piped(&["convert", "-", "--to", "glsl"], "uv.wgsl");
    assert!(String::from_utf8_lossy(&module).contains("void main()"));
    assert_eq!(
        piped(&["compile", "-", "-o", "-"], "uv.wgsl"),
        piped(&["compile", "uv.wgsl", "-o", "-"], "uv.wgsl")
    );
}

#[test]
fn combined_samplers_work() {
    let folder = files();
    let at = folder.path();
    ends(at, &["run", "stone.frag", "-o", "one.png", "--size", "32x32"], 0);
    ends(at, &["run", "parted.wgsl", "--size", "32x32", "--expect", "one.png"], 0);
    ends(
        at,
        &[
            "pack",
            "--vert",
            "whole.vert",
            "--frag",
            "stone.frag",
            "-o",
            "stone.vbc",
        ],
        0,
    );
    let info = skrymir(at, &["info", "stone.vbc"]);
    let info = String::from_utf8_lossy(&info.stdout).into_owned();
    assert!(info.contains("bind(4) sampler 2d float4"), "{info}");
    ends(at, &["run", "stone.vbc", "--size", "32x32", "--expect", "one.png"], 0);
    // Positions refer to the user's text.
    let wrong = FILES[4].1.replace("texture(stone, uv)", "texture(stone, nonsense)");
    std::fs::write(at.join("wrong.frag"), wrong).unwrap();
    let error = ends(at, &["run", "wrong.frag", "-o", "x.png"], 1);
    assert!(error.contains("wrong.frag:5:38"), "{error}");
    // A function may take a combined sampler if nothing has to be moved into tables.
    let handed = FILES[4].1.replace(
        "void main() { color = texture(stone, uv); }",
        "vec4 look(sampler2D image, vec2 at) { return texture(image, at); } void main() { color = look(stone, uv); }",
    );
    std::fs::write(at.join("handed.frag"), handed).unwrap();
    ends(at, &["compile", "handed.frag", "-o", "handed.mbs"], 0);
    ends(at, &["compile", "stone.frag", "-o", "stone.mbs"], 0);
    let code = |name: &str| std::fs::read(at.join(name)).unwrap();
    assert_eq!(code("handed.mbs"), code("stone.mbs"));
    ends(at, &["run", "handed.frag", "--size", "32x32", "--expect", "one.png"], 0);
}

const ELSEWHERE: &str = "struct Tint { color: vec4f }\n@group(0) @binding(0) var<uniform> tint: Tint;\n\
    @group(1) @binding(0) var stone: texture_2d<f32>;\n@group(1) @binding(1) var how: sampler;\n\
    fn look(image: texture_2d<f32>, s: sampler, uv: vec2f) -> vec4f { return textureSample(image, s, uv); }\n\
    @fragment fn main(@location(0) uv: vec2f) -> @location(0) vec4f { return look(stone, how, uv) * tint.color; }\n";

#[test]
fn resources_work_in_other_engines_sets() {
    let folder = files();
    let at = folder.path();
    std::fs::write(at.join("elsewhere.wgsl"), ELSEWHERE).unwrap();
    let pushed = "#version 450\nlayout(location = 0) in vec2 uv;\nlayout(location = 0) out vec4 color;\n\
        layout(push_constant) uniform Tint { vec4 tint; };\nlayout(set = 2, binding = 3) uniform sampler2D stone;\n\
        void main() { color = texture(stone, uv) * tint; }\n";
    std::fs::write(at.join("pushed.frag"), pushed).unwrap();
    std::fs::write(at.join("color.toml"), "[uniform]\ncolor = [1, 0.5, 0.25, 1]\n").unwrap();
    std::fs::write(at.join("tint.toml"), "[uniform]\ntint = [1, 0.5, 0.25, 1]\n").unwrap();
    let size = ["--size", "32x32"];
    ends(
        at,
        &[
            &["run", "elsewhere.wgsl", "--scene", "color.toml", "-o", "a.png"],
            &size[..],
        ]
        .concat(),
        0,
    );
    ends(
        at,
        &[
            &["run", "pushed.frag", "--scene", "tint.toml", "--expect", "a.png"],
            &size[..],
        ]
        .concat(),
        0,
    );
    // Negative control: without its tint the picture differs.
    ends(
        at,
        &[&["run", "pushed.frag", "--expect", "a.png"], &size[..]].concat(),
        1,
    );
    let error = ends(at, &["run", "pushed.frag", "--scene", "color.toml", "-o", "x.png"], 2);
    assert!(
        error.contains("color.toml") || error.contains("no uniform member \"color\""),
        "{error}"
    );
    // Blocks that differ are distinguished by their members.
    let other = "#version 450\nlayout(location = 0) out vec2 uv;\nlayout(set = 0, binding = 0) uniform Turn { mat4 turn; };\n\
        void main() { uv = vec2(float(gl_VertexIndex & 1), 0.0); gl_Position = turn * vec4(uv, 0.0, 1.0); }\n";
    std::fs::write(at.join("turned.vert"), other).unwrap();
    let error = ends(
        at,
        &[
            "pack",
            "--vert",
            "turned.vert",
            "--frag",
            "elsewhere.wgsl",
            "-o",
            "x.vbc",
        ],
        1,
    );
    assert!(
        error.contains("its member 0 is float4 color here and float4x4 turn"),
        "{error}"
    );
}

#[test]
fn hlsl_works_in_every_verb() {
    let folder = files();
    let at = folder.path();
    let hlsl = "cbuffer Frame : register(b0) { float4 tint; };\nTexture2D stone : register(t4); SamplerState how : register(s5);\n\
        float4 look(Texture2D image, SamplerState s, float2 uv) { return image.Sample(s, uv); }\n\
        float4 paint(float2 uv : TEXCOORD0) : SV_Target { return look(stone, how, uv) * tint; }\n";
    std::fs::write(at.join("stone.hlsl"), hlsl).unwrap();
    let run = [
        "run",
        "stone.hlsl",
        "--entry",
        "paint",
        "-o",
        "a.png",
        "--size",
        "32x32",
    ];
    let output = skrymir(at, &run);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    if error.contains("needs a compiler") {
        println!("skipped: no compiler for HLSL");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{error}");
    ends(at, &["run", "stone.frag", "--size", "32x32", "--expect", "a.png"], 0);
    let stage = ["--stage", "frag", "--entry", "paint"];
    ends(at, &[&["compile", "stone.hlsl", "-o", "a.mbs"], &stage[..]].concat(), 0);
    ends(
        at,
        &[&["convert", "stone.hlsl", "--to", "wgsl", "-o", "a.wgsl"], &stage[..]].concat(),
        0,
    );
    ends(at, &["run", "a.wgsl", "--size", "32x32", "--expect", "a.png"], 0);
    let error = ends(at, &["compile", "stone.hlsl", "--entry", "paint", "--report"], 2);
    assert!(error.contains("say --stage"), "{error}");
    std::fs::write(at.join("wrong.ps.hlsl"), hlsl.replace("* tint", "* tnit")).unwrap();
    let error = ends(at, &["compile", "wrong.ps.hlsl", "--entry", "paint", "--report"], 1);
    assert!(
        (error.contains("wrong.ps.hlsl:4:") || error.contains("line 4")) && error.contains("tnit"),
        "{error}"
    );
}

#[test]
fn files_are_named_once_and_misspellings_get_suggestions() {
    let folder = files();
    let at = folder.path();
    std::fs::write(at.join("elsewhere.wgsl"), ELSEWHERE).unwrap();
    std::fs::write(at.join("slip.toml"), "[uniform]\ncolour = [1, 1, 1, 1]\n").unwrap();
    let error = ends(at, &["run", "elsewhere.wgsl", "--scene", "slip.toml", "-o", "x.png"], 2);
    assert!(error.contains("did you mean \"color\"?"), "{error}");
    std::fs::write(at.join("broken.toml"), "[uniforms]\n").unwrap();
    let error = ends(
        at,
        &["run", "elsewhere.wgsl", "--scene", "broken.toml", "-o", "x.png"],
        2,
    );
    assert!(
        error.contains("broken.toml") && !error.contains("elsewhere.wgsl"),
        "{error}"
    );
    let error = ends(at, &["run", "whole.vert", "missing.frag", "-o", "x.png"], 2);
    assert_eq!(error.matches("missing.frag").count(), 1, "{error}");
    assert!(!error.contains("whole.vert"), "{error}");
}

#[test]
fn old_glsl_matches_opengl() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let vertex = "attribute vec4 position;\nattribute vec3 tint;\nuniform mat4 turn;\nuniform float scale;\n\
                  varying vec2 unused;\nvarying vec3 color;\n\
                  void main() { color = tint; unused = position.xy; gl_Position = turn * vec4(position.xyz * scale, 1.0); }\n";
    let fragment = "precision mediump float;\nvarying vec3 color;\nuniform float level;\n\
                    void main() { gl_FragColor = vec4(color * level, gl_FragCoord.y < 20.0 ? 0.25 : 1.0); }\n";
    std::fs::write(at.join("a.vert"), vertex).unwrap();
    std::fs::write(at.join("a.frag"), fragment).unwrap();
    // The emulator draws the compiled program; the device's picture must match.
    let pair = "[inputs]\nposition = [[-0.9, -0.9, 0, 1], [0.9, -0.5, 0, 1], [-0.2, 0.8, 0, 1]]\n\
                tint = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\n[uniform]\nscale = 0.9\nlevel = 0.8\n";
    let vulkan = pair.replace("position =", "0 =").replace("tint =", "1 =");
    std::fs::write(at.join("pair.toml"), pair).unwrap();
    std::fs::write(at.join("vulkan.toml"), vulkan).unwrap();
    let size = ["--size", "48x48"];
    ends(
        at,
        &[
            &["draw", "a.vert", "a.frag", "--scene", "pair.toml", "-o", "emulated.png"],
            &size[..],
        ]
        .concat(),
        0,
    );
    let run = ["run", "a.vert", "a.frag", "--scene", "vulkan.toml"];
    let near = ["--expect", "emulated.png", "--tolerance", "6", "--allow", "3"];
    ends(at, &[&run[..], &size, &near].concat(), 0);
    // Negative control: flipped, or with another colour, the picture differs.
    std::fs::write(
        at.join("b.vert"),
        vertex.replace("position.xyz", "vec3(position.x, -position.y, 0.0)"),
    )
    .unwrap();
    let turned = ["run", "b.vert", "a.frag", "--scene", "vulkan.toml"];
    ends(at, &[&turned[..], &size, &near].concat(), 1);
    ends(at, &["pack", "--vert", "a.vert", "--frag", "a.frag", "-o", "a.vbc"], 0);
    ends(
        at,
        &[&["run", "a.vbc", "--scene", "vulkan.toml"], &size[..], &near].concat(),
        0,
    );
}

/// Vulkan and the emulator draw one picture of sources without a scene: members of several blocks have their defaults, also
/// if two blocks have a member of one name, and WGSL's y points upwards.
#[test]
fn defaults_and_directions_are_the_same_on_every_device() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let files = [
        (
            "blocks.vert",
            "#version 450\nlayout(location = 0) in vec3 position;\nlayout(location = 0) out float level;\n\
             layout(binding = 0) uniform A { mat4 turn; vec4 offset; } a;\n\
             layout(binding = 1) uniform B { mat4 turn; vec4 level; } b;\n\
             layout(push_constant) uniform C { vec4 offset; } c;\n\
             void main() { level = b.level.x * 0.5;\n\
             gl_Position = a.turn * b.turn * vec4(position + a.offset.xyz + c.offset.xyz, 1.0); }\n",
        ),
        (
            "blocks.frag",
            "#version 450\nlayout(location = 0) in float level;\nlayout(location = 0) out vec4 color;\n\
             layout(binding = 1) uniform B { mat4 turn; vec4 level; } b;\n\
             void main() { color = vec4(level, b.level.y, 0.0, 1.0); }\n",
        ),
        (
            "triangle.wgsl",
            "@vertex fn corner(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {\n\
             return vec4f(f32(i) - 1.0, f32(i & 1u) * 2.0 - 1.0, 0.0, 1.0);\n}\n\
             @fragment fn red() -> @location(0) vec4f { return vec4f(1.0, 0.0, 0.0, 1.0); }\n",
        ),
        (
            "down.wgsl",
            "@vertex fn corner(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {\n\
             return vec4f(f32(i) - 1.0, 1.0 - f32(i & 1u) * 2.0, 0.0, 1.0);\n}\n\
             @fragment fn red() -> @location(0) vec4f { return vec4f(1.0, 0.0, 0.0, 1.0); }\n",
        ),
    ];
    for (name, text) in files {
        std::fs::write(at.join(name), text).unwrap();
    }
    let size = ["--size", "48x48"];
    let near = ["--expect", "a.png", "--tolerance", "2"];
    for (pair, emulated) in [
        (&["blocks.vert", "blocks.frag"][..], ["blocks.vert", "blocks.frag"]),
        (&["triangle.wgsl"], ["triangle.wgsl", "triangle.wgsl"]),
    ] {
        ends(at, &[&["run"], pair, &size, &["-o", "a.png"]].concat(), 0);
        ends(at, &[&["draw"], &emulated[..], &size, &near].concat(), 0);
    }
    // Negative control: the same triangle with y downwards.
    for verb in [&["run", "down.wgsl"][..], &["draw", "down.wgsl", "down.wgsl"]] {
        ends(at, &[verb, &size, &near].concat(), 1);
    }
}

#[test]
fn one_scene_makes_one_picture_on_every_device() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let vertex = "attribute vec4 position;\nattribute vec2 place;\nattribute vec3 idle;\nuniform mat4 turn;\nvarying vec2 v;\n\
                  void main() { v = place; gl_Position = turn * position; }\n";
    let fragment = "precision mediump float;\nstruct Light { vec3 color; float level; };\nuniform Light lights[2];\n\
                    uniform sampler2D stone;\nuniform int count;\nuniform bool on;\nuniform float list[3];\nvarying vec2 v;\n\
                    void main() { vec3 c = lights[1].color * lights[1].level * texture2D(stone, v).r;\n\
                    if (on) c.g += list[2] * float(count);\n gl_FragColor = vec4(c, 1.0); }\n";
    std::fs::write(at.join("a.vert"), vertex).unwrap();
    std::fs::write(at.join("a.frag"), fragment).unwrap();
    let scene = "clear = [0, 0, 0.5, 1]\n[inputs]\nidle = [1, 2, 3]\n[uniform]\n'lights[1].level' = 0.5\n\
                 list = [0, 0, 0.25]\ncount = 2\n[slots.stone]\nfill = [0.5, 0, 0, 1]\nsize = [4, 4]\n";
    std::fs::write(at.join("scene.toml"), scene).unwrap();
    let pair = ["a.vert", "a.frag", "--size", "48x48"];
    let said = |verb: &[&str], more: &[&str], code| ends(at, &[verb, &pair, more].concat(), code);
    let given = ["--scene", "scene.toml"];
    let run = ["run"];
    let device = ["run", "--device", "mali400/scalar"];
    let draw = ["draw"];
    for scene in [&[][..], &given] {
        said(&run, &[scene, &["-o", "a.png"]].concat(), 0);
        let near = [scene, &["--expect", "a.png", "--tolerance", "2"]].concat();
        said(&device, &near, 0);
        said(&draw, &near, 0);
    }
    // Negative control: every key changes the picture on every device, as do the names of the other scene.
    for (from, to) in [
        ("count = 2", "count = 1"),
        ("count = 2", "on = 0"),
        ("'lights[1].level' = 0.5", "lights_level = [0.5, 1]"),
        ("[0.5, 0, 0, 1]", "[1, 0, 0, 1]"),
        ("[0, 0, 0.5, 1]", "[0, 0, 0, 1]"),
    ] {
        std::fs::write(at.join("other.toml"), scene.replace(from, to)).unwrap();
        let other = ["--scene", "other.toml", "--expect", "a.png", "--tolerance", "2"];
        for verb in [&run[..], &device, &draw] {
            said(verb, &other, 1);
        }
        said(&run, &["--scene", "other.toml", "-o", "b.png"], 0);
        said(
            &device,
            &["--scene", "other.toml", "--expect", "b.png", "--tolerance", "2"],
            0,
        );
    }
    // A declared but unused name is a note; an unknown name is an error.
    std::fs::write(at.join("wrong.toml"), scene.replace("list =", "lust =")).unwrap();
    for verb in [&run[..], &device, &draw] {
        let error = said(verb, &["--scene", "wrong.toml", "-o", "x.png"], 2);
        assert!(error.contains("wrong.toml: "), "{error}");
        assert!(error.contains("\"lust\"; did you mean \"list\"?"), "{error}");
        assert!(error.contains("input idle: declared, and not used"), "{error}");
    }
    // An option that does not apply is rejected.
    let error = said(&device, &["-o", "x.png", "--read", "0=x"], 2);
    assert!(error.contains("--read means nothing on the device mali400"), "{error}");
    let error = ends(
        at,
        &["run", "a.vert", "a.frag", "--device", "mali400/fast", "-o", "x.png"],
        2,
    );
    assert!(error.contains("mali400/native"), "{error}");
}

#[test]
fn loose_uniforms_become_members_of_one_block() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let fragment = "precision mediump float;\nstruct Light { vec3 color; float level; };\n\
        uniform Light lights[2];\nuniform mat2 turns[2];\nuniform float list[3];\nuniform bool on;\nuniform bvec2 both;\nuniform mat2 spin;\n\
        void main() {\n    vec3 c = lights[0].color * lights[0].level + lights[1].color * lights[1].level;\n\
        c.xy = turns[1] * c.xy + spin * vec2(list[0], list[2]);\n    if (on) c.z += list[1];\n\
        if (both.x || !both.y) c = vec3(0.0);\n    gl_FragColor = vec4(c, 1.0);\n}\n";
    std::fs::write(at.join("lit.frag"), fragment).unwrap();
    let vulkan = "[uniform]\nlights_color = [[0.5, 0, 0], [0, 0.5, 0.25]]\nlights_level = [0.5, 1]\n\
        turns = [1, 0, 0, 1, 0, 1, 1, 0]\nlist = [0.25, 0.125, 0.5]\non = 1\nboth = [0, 1]\nspin = [0, 0.25, 0.5, 0]\n";
    std::fs::write(at.join("lit.toml"), vulkan).unwrap();
    // Values of the formulas: c = (0.25, 0.5, 0.25); swapped (0.5, 0.25), plus (0.5 * 0.5, 0.25 * 0.25), plus 0.125.
    let plain = |z: f32| {
        format!(
            "#version 450\nlayout(location = 0) out vec4 color;\nvoid main() {{ color = vec4(0.75, 0.3125, {z}, 1.0); }}\n"
        )
    };
    std::fs::write(at.join("plain.frag"), plain(0.375)).unwrap();
    std::fs::write(at.join("off.frag"), plain(0.25)).unwrap();
    let size = ["--size", "16x16"];
    ends(
        at,
        &[&["run", "lit.frag", "--scene", "lit.toml", "-o", "a.png"], &size[..]].concat(),
        0,
    );
    let near = ["--expect", "a.png", "--tolerance", "1"];
    ends(at, &[&["run", "plain.frag"], &size[..], &near].concat(), 0);
    ends(at, &[&["run", "off.frag"], &size[..], &near].concat(), 1);
    std::fs::write(at.join("off.toml"), vulkan.replace("on = 1", "on = 0")).unwrap();
    ends(
        at,
        &[&["run", "lit.frag", "--scene", "off.toml", "-o", "a.png"], &size[..]].concat(),
        0,
    );
    ends(at, &[&["run", "off.frag"], &size[..], &near].concat(), 0);
    std::fs::write(
        at.join("huge.frag"),
        "precision mediump float;\nuniform vec4 a[2000];\nvoid main() { gl_FragColor = a[1]; }\n",
    )
    .unwrap();
    let error = ends(at, &["run", "huge.frag", "-o", "x.png"], 1);
    assert!(error.contains("the uniform a"), "{error}");
    let twice = "precision mediump float;\nstruct L { float k; };\nuniform L a;\nuniform float a_k;\nvoid main() { gl_FragColor = vec4(a.k + a_k); }\n";
    std::fs::write(at.join("twice.frag"), twice).unwrap();
    let error = ends(at, &["run", "twice.frag", "-o", "x.png"], 1);
    assert!(error.contains("both have the member a_k"), "{error}");
}

#[test]
fn pictures_are_compared_with_expected_ones() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let example = |name: &str| format!("{}/examples/mali/{name}", env!("CARGO_MANIFEST_DIR"));
    let (vertex, fragment) = (example("triangle.vert.s"), example("triangle.frag.s"));
    let pair = ["draw", &vertex, &fragment, "--size", "32x32"];
    ends(at, &[&pair[..], &["-o", "a.png", "--record", "a.trace"]].concat(), 0);
    ends(at, &[&pair[..], &["--expect", "a.png"]].concat(), 0);
    ends(at, &["replay", "a.trace", "--expect", "a.png"], 0);
    std::fs::write(at.join("red.toml"), "clear = [1, 0, 0, 1]\n").unwrap();
    let other = [&pair[..], &["--scene", "red.toml"]].concat();
    let error = ends(at, &[&other[..], &["--expect", "a.png"]].concat(), 1);
    assert!(
        error.contains("see a.diff.png") && at.join("a.diff.png").is_file(),
        "{error}"
    );
    ends(at, &[&other[..], &["--expect", "a.png", "--allow", "100"]].concat(), 0);
    ends(
        at,
        &[&other[..], &["--expect", "a.png", "--tolerance", "255"]].concat(),
        0,
    );
    ends(at, &[&other[..], &["-o", "red.png"]].concat(), 0);
    ends(at, &["replay", "a.trace", "--expect", "red.png", "--diff", "d.png"], 1);
    ends(at, &["replay", "a.trace", "--allow", "5", "-o", "x.png"], 2);
}

#[test]
fn watching_repeats_the_command() {
    let folder = files();
    let at = folder.path();
    let mut child = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args([
            "pack",
            "--vert",
            "whole.vert",
            "--frag",
            "uv.frag",
            "-o",
            "a.vbc",
            "--watch",
            "--quiet",
        ])
        .current_dir(at)
        .spawn()
        .unwrap();
    let until = |wanted: &dyn Fn(&[u8]) -> bool| {
        let start = std::time::Instant::now();
        while !std::fs::read(at.join("a.vbc")).is_ok_and(|bytes| wanted(&bytes)) {
            assert!(start.elapsed().as_secs() < 60, "nothing was packed");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        std::fs::read(at.join("a.vbc")).unwrap()
    };
    let first = until(&|_| true);
    std::fs::write(at.join("uv.frag"), FILES[0].1.replace("0.0, 1.0", "0.5, 1.0")).unwrap();
    until(&|bytes| bytes != first);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// `-D`, `-I` and `#include` in every verb that takes sources; where they do not apply they are errors.
#[test]
fn names_and_folders_are_given_to_every_verb() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let write = |name: &str, text: &str| std::fs::write(at.join(name), text).unwrap();
    std::fs::create_dir(at.join("lib")).unwrap();
    write("lib/tint.glsl", "vec4 tint() {\n  return vec4(TINT, 1.0);\n}\n");
    let body = "#include <tint.glsl>\n";
    write(
        "es.frag",
        &format!("precision mediump float;\n{body}void main() {{ gl_FragColor = tint(); }}\n"),
    );
    write("es.vert", "attribute vec4 p;\nvoid main() { gl_Position = p; }\n");
    write(
        "new.frag",
        &format!("#version 450\n{body}layout(location = 0) out vec4 c;\nvoid main() {{ c = tint(); }}\n"),
    );
    write(
        "new.hlsl",
        "#include \"lib/tint.hlsl\"\nfloat4 main() : SV_Target { return float4(TINT, SCALE); }\n",
    );
    write("lib/tint.hlsl", "#define SCALE 1.0\n");
    let verbs: [(&[&str], &[&str]); 3] = [
        (&["compile"], &["-o", "x.mbs", "--stage", "frag"]),
        (&["convert"], &["--to", "spirv", "-o", "x.spv", "--stage", "frag"]),
        (&["run"], &["-o", "x.png", "--size", "8x8"]),
    ];
    for (verb, rest) in verbs {
        for (file, value) in [
            ("es.frag", "TINT=vec3(0.5)"),
            ("new.frag", "TINT=vec3(0.5)"),
            ("new.hlsl", "TINT=float3(0.5, 0.5, 0.5)"),
        ] {
            ends(at, &[verb, &[file, "-D", value, "-I", "lib"], rest].concat(), 0);
        }
        let error = ends(at, &[verb, &["new.frag", "-I", "lib"], rest].concat(), 1);
        assert!(error.contains("lib/tint.glsl:2:15"), "{error}");
        let error = ends(at, &[verb, &["es.frag", "-I", "lib"], rest].concat(), 1);
        assert!(error.contains("lib/tint.glsl:2:15"), "{error}");
    }
    let both = ["-D", "TINT=vec3(0.5)", "-I", "lib"];
    ends(
        at,
        &[&["draw", "es.vert", "es.frag", "-o", "x.png"], &both[..]].concat(),
        0,
    );
    let pack = ["pack", "--vert", "es.vert", "--frag", "es.frag", "-o", "x.vbc"];
    ends(at, &[&pack[..], &both[..]].concat(), 0);
    write(
        "a.wgsl",
        "@fragment fn f() -> @location(0) vec4f { return vec4f(1.0); }\n",
    );
    let error = ends(at, &["compile", "a.wgsl", "-D", "A", "--report"], 2);
    assert!(error.contains("-D and -I are for"), "{error}");
    ends(at, &["compile", "es.vert", "-D", "1A", "--report"], 2);
}

#[test]
fn strings_that_a_shader_prints_are_packed() {
    let folder = tempfile::tempdir().unwrap();
    let text = "#version 450\n#extension GL_EXT_debug_printf : enable\nlayout(location = 0) out vec4 o;\n\
                void main() { debugPrintfEXT(\"at %v2f\", gl_FragCoord.xy); o = vec4(1.0); }\n";
    std::fs::write(folder.path().join("says.frag"), text).unwrap();
    let vertex = "#version 450\nvoid main() { gl_Position = vec4(0.0); }\n";
    std::fs::write(folder.path().join("still.vert"), vertex).unwrap();
    ends(
        folder.path(),
        &["pack", "--vert", "still.vert", "--frag", "says.frag", "-o", "x.vbc"],
        0,
    );
    let text = skrymir(folder.path(), &["dis", "x.vbc", "--stage", "frag"]).stdout;
    assert!(String::from_utf8_lossy(&text).contains("at %v2f"));
    ends(folder.path(), &["check", "x.vbc"], 0);
}

#[test]
fn a_pair_the_wrong_way_round_is_put_right() {
    let folder = files();
    let (right, wrong) = (folder.path().join("right.png"), folder.path().join("wrong.png"));
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "a.vert",
        "attribute vec4 a; varying vec2 v; void main() { v = a.xy; gl_Position = a; }\n",
    );
    write(
        "a.frag",
        "precision mediump float; varying vec2 v; void main() { gl_FragColor = vec4(v, 0.0, 1.0); }\n",
    );
    for verb in ["run", "draw"] {
        let right_way = [verb, "a.vert", "a.frag", "-o", "right.png"];
        assert!(!ends(folder.path(), &right_way, 0).contains("note:"));
        let said = ends(folder.path(), &[verb, "a.frag", "a.vert", "-o", "wrong.png"], 0);
        assert!(said.contains("note: a.vert is the vertex stage"), "{said}");
        assert_eq!(std::fs::read(&right).unwrap(), std::fs::read(&wrong).unwrap(), "{verb}");
    }
}

#[test]
fn a_picture_of_another_format_is_refused_by_name() {
    let folder = files();
    // Before anything else is looked at: none of these files exists.
    for arguments in [
        &["run", "missing.frag", "-o", "x.jpg"][..],
        &[
            "run",
            "missing.frag",
            "-o",
            "x.png",
            "--expect",
            "y.png",
            "--diff",
            "x.jpg",
        ],
        &["draw", "missing.vert", "missing.frag", "-o", "x.jpg"],
        &["replay", "missing.trace", "-o", "x.jpg"],
        &["compare", "missing.png", "missing.png", "-o", "x.jpg"],
    ] {
        let said = ends(folder.path(), arguments, 2);
        assert!(said.contains("PNG, not as jpg"), "{arguments:?}: {said}");
    }
    let said = ends(folder.path(), &["run", "missing.frag", "-o", "x.png"], 2);
    assert!(said.contains("missing.frag"), "the control: {said}");
    let quiet = skrymir(folder.path(), &["-q", "run", "uv.frag", "-o", "x.png"]);
    assert!(quiet.status.success() && quiet.stdout.is_empty());
}

#[test]
fn entry_points_of_modules_and_hlsl_are_selected() {
    let folder = files();
    let at = folder.path();
    let picture = |name: &str| std::fs::read(at.join(name)).unwrap();
    for (entry, name) in [("paint", "paint.spv"), ("other", "other.spv")] {
        ends(
            at,
            &["convert", "both.wgsl", "--to", "spirv", "--entry", entry, "-o", name],
            0,
        );
    }
    let text = "float4 main(float4 at : SV_Position) : SV_Target { return 1; }\n\
                float4 dark(float4 at : SV_Position) : SV_Target { return 0.25; }\n";
    std::fs::write(at.join("two.frag.hlsl"), text).unwrap();
    for (first, second) in [
        (
            &["run", "other.spv", "--entry", "other"][..],
            &["run", "both.wgsl", "--entry", "frag=other"][..],
        ),
        (
            &["run", "two.frag.hlsl", "--entry", "dark"],
            &["run", "two.frag.hlsl", "--entry", "frag=dark"],
        ),
    ] {
        let size = |name| ["--size", "8x8", "-o", name];
        ends(at, &[first, &size("first.png")].concat(), 0);
        ends(at, &[second, &size("second.png")].concat(), 0);
        assert_eq!(picture("first.png"), picture("second.png"), "{first:?}");
    }
    // Negative control: the other function of the text is another picture.
    ends(at, &["run", "two.frag.hlsl", "--size", "8x8", "-o", "first.png"], 0);
    assert_ne!(picture("first.png"), picture("second.png"));
    for (file, entry) in [("paint.spv", "other"), ("two.frag.hlsl", "bright")] {
        ends(at, &["run", file, "--entry", entry, "-o", "none.png"], 1);
    }
}
