//! Packing: sources give the bytes and the picture of the compiler's file.

use crate::common;

use loader::vbc::pack::{Names, pack};
use loader::vbc::{self, Model, Stage};
use skrymir::harness::{self, Settings};
use skrymir::picture::Picture;
use skrymir::scene::Scene;
use std::path::Path;
use std::process::Command;

/// SPIR-V by glslang; `None` where it is not installed.
fn glslang(path: &Path, folder: &Path) -> Option<Vec<u32>> {
    let out = folder.join("out.spv");
    let output = Command::new("glslangValidator")
        .args(["-V", "--target-env", "vulkan1.2", "-o"])
        .args([&out, path])
        .output()
        .ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let bytes = std::fs::read(out).unwrap();
    Some(
        bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect(),
    )
}

/// A file's bytes from the table sizes to the code: its whole reflection.
fn reflection(bytes: &[u8]) -> Vec<u8> {
    let start = vbc::read(bytes).unwrap().code(Stage::Vert).unwrap().offset();
    bytes[15..start as usize].to_vec()
}

fn picture(bytes: &[u8]) -> Picture {
    let drawn = harness::load(common::context(), bytes, Settings::default())
        .and_then(|loaded| loaded.draw(&Scene::default(), &[], None))
        .unwrap();
    assert_eq!(common::context().messages(), [""; 0], "validation messages");
    Picture::of(&drawn.frame.targets[0])
}

/// The same shader in GLSL with ordinary descriptors gives the compiler's reflection, byte for byte, and its picture.
#[test]
fn equivalent_glsl_gives_the_same_bytes_and_picture() {
    let folder = tempfile::tempdir().unwrap();
    let sources = common::files(&common::data("vbc/glsl"), "vert");
    let mut same = 0;
    for path in &sources {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let (Some(vert), Some(frag)) = (
            glslang(path, folder.path()),
            glslang(&path.with_extension("frag"), folder.path()),
        ) else {
            println!("glslangValidator is not installed");
            return;
        };
        let model = pack(&[(Stage::Vert, vert), (Stage::Frag, frag)], &Names::default()).unwrap();
        let bytes = vbc::write(&model).unwrap();
        let report = vbc::check(&bytes);
        assert!(report.is_valid(), "{name}: {:#?}", report.diagnostics);
        let original = std::fs::read(common::data(&format!("vbc/{name}.vbc"))).unwrap();
        assert_eq!(reflection(&bytes), reflection(&original), "{name}");
        assert_eq!(picture(&bytes), picture(&original), "{name}: the picture");
        same += 1;
    }
    println!("{same} shaders in GLSL have the compiler's reflection bytes and picture");
    assert!(same >= 10);
}

const WGSL: &str = "
struct Look { mvp: mat4x4<f32>, tint: vec3<f32>, power: f32 }
@group(1) @binding(0) var<uniform> look: Look;
@group(0) @binding(3) var image: texture_2d<f32>;
@group(0) @binding(7) var filtering: sampler;
struct Vertex { @builtin(position) position: vec4<f32>, @location(0) uv: vec2<f32> }
@vertex fn vert(@location(0) p: vec3<f32>, @location(1) uv: vec2<f32>) -> Vertex {
    return Vertex(look.mvp * vec4<f32>(p, 1.0), uv);
}
@fragment fn frag(v: Vertex) -> @location(0) vec4<f32> {
    return vec4<f32>(textureSample(image, filtering, v.uv).rgb * look.tint * look.power, 1.0);
}";

fn wgsl(source: &str) -> anyhow::Result<Model> {
    let module = naga::front::wgsl::parse_str(source)?;
    let stages = [
        (
            Stage::Vert,
            translate::to_spirv(module.clone(), naga::ShaderStage::Vertex)?,
        ),
        (Stage::Frag, translate::to_spirv(module, naga::ShaderStage::Fragment)?),
    ];
    Ok(pack(&stages, &Names::default())?)
}

#[test]
fn wgsl_with_separate_samplers_packs_and_draws() {
    let model = wgsl(WGSL).unwrap();
    let uniform = model.uniform.as_ref().unwrap();
    let members: Vec<_> = uniform
        .members
        .iter()
        .map(|m| (String::from_utf8_lossy(&m.name).into_owned(), m.offset))
        .collect();
    assert_eq!(
        members,
        [("mvp".to_owned(), 0), ("tint".to_owned(), 64), ("power".to_owned(), 76)]
    );
    assert_eq!((uniform.size, model.bindings.len(), model.bindings[0].slot), (80, 1, 3));
    let bytes = vbc::write(&model).unwrap();
    let scene = Scene::parse(
        "[inputs]\n0 = [[-3, -3, 0], [3, -3, 0], [0, 3, 0]]\n[uniform]\ntint = [0.5, 1, 0.25]\npower = 0.5\n[slots.3]\nfill = [1, 0.6, 0.8, 1]",
        Path::new(""),
    )
    .unwrap();
    let drawn = harness::draw(common::context(), &bytes, &scene).unwrap();
    assert_eq!(common::context().messages(), [""; 0], "validation messages");
    let [r, g, b, a] = Picture::of(&drawn.frame.targets[0]).at(128, 128);
    let near = |have: u8, want: f64| (f64::from(have) - want * 255.0).abs() <= 1.0;
    assert!(
        near(r, 0.25) && near(g, 0.3) && near(b, 0.1) && a == 255,
        "{r} {g} {b} {a}"
    );
}

/// A texture's levels are sampled by level, blended if the filter is linear, and as many as the scene has.
#[test]
fn levels_of_a_texture_are_sampled() {
    let source = "struct V { @builtin(position) at: vec4<f32>, @location(0) uv: vec2<f32> }
@group(0) @binding(3) var image: texture_2d<f32>;
@group(0) @binding(7) var filtering: sampler;
@vertex fn vert(@location(0) p: vec2<f32>) -> V { return V(vec4<f32>(p, 0.0, 1.0), p * 0.5 + 0.5); }
@fragment fn frag(v: V) -> @location(0) vec4<f32> {
    return textureSampleLevel(image, filtering, vec2<f32>(0.5), floor(v.uv.x * 4.0) * 0.5);
}";
    let bytes = vbc::write(&wgsl(source).unwrap()).unwrap();
    // A red, a green and a blue level.
    let texels: Vec<&str> = [(8, "1, 0, 0, 1"), (2, "0, 1, 0, 1"), (1, "0, 0, 1, 1")]
        .iter()
        .flat_map(|(count, texel)| (0..*count).map(|_| *texel))
        .collect();
    let texels = format!("texels = [{}]\nsize = [4, 2]", texels.join(", "));
    let draw = |slot: &str| {
        let text = format!("size = [4, 1]\n[inputs]\n0 = [[-1, -1], [3, -1], [-1, 3]]\n[slots.3]\n{slot}");
        let scene = Scene::parse(&text, Path::new("")).unwrap();
        harness::draw(common::context(), &bytes, &scene)
    };
    let drawn = draw(&format!("{texels}\nlevels = 3\nfilter = \"linear\"")).unwrap();
    assert_eq!(common::context().messages(), [""; 0], "validation messages");
    let picture = Picture::of(&drawn.frame.targets[0]);
    for (x, want) in [[255, 0, 0], [128, 128, 0], [0, 255, 0], [0, 128, 128]]
        .iter()
        .enumerate()
    {
        let have = picture.at(x as u32, 0);
        let near = have.iter().zip(want).all(|(have, want)| have.abs_diff(*want) <= 2);
        assert!(near, "column {x}: {have:?}");
    }
    let refused = |slot: &str, why: &str| {
        let error = draw(slot).map(drop).expect_err(why).to_string();
        assert!(error.contains(why), "{error}");
    };
    refused(
        &format!("{texels}\nlevels = 2"),
        "11 texels are given, the image has 10",
    );
    let white = "fill = [1, 1, 1, 1]\nsize = [4, 2]";
    refused(&format!("{white}\nlevels = 4"), "1 to 3 levels, not 4");
    refused(&format!("{white}\nlevels = 99"), "more than 67108864 texels");
    refused("image = \"none.png\"\nlevels = 2", "levels need texels or a fill");
}

#[test]
fn unrepresentable_shaders_are_rejected_with_a_reason() {
    let refused = |source: &str, why: &str| {
        let error = wgsl(source).map(drop).expect_err(why).to_string();
        assert!(error.contains(why), "{error}");
    };
    refused(
        &WGSL
            .replace(
                "@location(0) vec4<f32> {\n    return vec4<f32>(",
                "@location(0) vec3<f32> {\n    return (",
            )
            .replace(", 1.0);\n}", ");\n}")
            .replace("look.mvp * vec4<f32>(p)", "look.mvp * vec4<f32>(p, 1.0)"),
        "outputs have one, two or four",
    );
    let nested = WGSL.replace(
        "struct Look {",
        "struct Inner { a: f32, b: f32 }\nstruct Look { inner: Inner,",
    );
    let uniform = wgsl(&nested).unwrap().uniform.unwrap();
    let names: Vec<&[u8]> = uniform.members.iter().map(|member| member.name.as_slice()).collect();
    assert_eq!(names[..2], [b"inner.a", b"inner.b"]);
    let two = WGSL
        .replace(
            "struct Vertex",
            "@group(0) @binding(8) var other: sampler;\nstruct Vertex",
        )
        .replace(
            "textureSample(image, filtering, v.uv).rgb",
            "textureSample(image, filtering, v.uv).rgb * textureSample(image, other, v.uv).rgb",
        );
    refused(&two, "two samplers");
}

#[test]
fn resources_are_moved_to_the_formats_bindings() {
    let plain = wgsl(WGSL).unwrap();
    assert_eq!(wgsl(&WGSL.replace("group(1)", "group(3)")).unwrap(), plain);
    let slots = |model: &Model| model.bindings.iter().map(|binding| binding.slot).collect::<Vec<_>>();
    assert_eq!(slots(&plain), [3]);
    assert_eq!(slots(&wgsl(&WGSL.replace("binding(3)", "binding(32)")).unwrap()), [0]);
}

#[test]
fn the_command_packs_and_names() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a.wgsl"), WGSL).unwrap();
    std::fs::write(
        at("names.toml"),
        "uniform = [\"camera\"]\ntables = { samplers = 16 }\n[unused-inputs]\n5 = \"int2[3]\"",
    )
    .unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(["pack", "--vert"])
        .args([
            &at("a.wgsl"),
            Path::new("--frag"),
            &at("a.wgsl"),
            Path::new("--names"),
            &at("names.toml"),
        ])
        .args([Path::new("-o"), &at("a.vbc")])
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let bytes = std::fs::read(at("a.vbc")).unwrap();
    let model = vbc::read(&bytes).unwrap().to_model();
    assert_eq!(
        (model.tables.samplers, model.inputs.len(), model.inputs[2].array),
        (16, 3, 3)
    );
    let members = &model.uniform.unwrap().members;
    assert_eq!(
        (&members[0].name[..], &members[1].name[..]),
        (&b"camera"[..], &b"tint"[..])
    );
    std::fs::write(at("bad.wgsl"), "fn nonsense(").unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args([
            Path::new("pack"),
            Path::new("--vert"),
            &at("bad.wgsl"),
            Path::new("--frag"),
            &at("bad.wgsl"),
            Path::new("-o"),
            &at("b.vbc"),
        ])
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1));
}
