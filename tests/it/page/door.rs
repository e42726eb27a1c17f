//! What JavaScript is answer is what the command line says.

use crate::common;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use wasm_door::{Recording, Scene, Shaders, files};

/// Runs the command in a folder.
pub(super) fn skrymir(folder: &Path, arguments: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(arguments)
        .current_dir(folder)
        .output();
    command.expect("the command")
}

/// What the command says went wrong, without its name.
pub(super) fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.strip_prefix("skrymir: ").unwrap_or(&text).trim_end().to_owned()
}

/// An example of the page's: its title, its texts by name, and its scene.
pub(super) type Example = (&'static str, Vec<(&'static str, String)>, String);

/// The page's examples.
pub(super) fn examples() -> Vec<Example> {
    let read = |name: &str| std::fs::read_to_string(common::root().join("docs/page/examples").join(name)).expect(name);
    let pair = |title, vertex: &str, fragment: &str, scene: &str| {
        let texts = vec![("shader.vert", read(vertex)), ("shader.frag", read(fragment))];
        (title, texts, read(scene))
    };
    vec![
        pair("Plasma (GLSL ES)", "quad.vert", "plasma.frag", "quad.toml"),
        pair("Lamp (GLSL ES)", "lamp.vert", "lamp.frag", "quad.toml"),
        pair("Water over a texture (GLSL ES)", "quad.vert", "water.frag", "quad.toml"),
        pair("Tiles (GLSL 4.50)", "tiles.vert", "tiles.frag", "tiles.toml"),
        (
            "Rings (WGSL)",
            vec![("shader.wgsl", read("rings.wgsl"))],
            read("rings.toml"),
        ),
    ]
}

/// Texts and a scene in a folder, and the arguments of `draw` for them.
pub(super) fn written(folder: &Path, texts: &[(&'static str, String)], scene: &str) -> Vec<&'static str> {
    for (name, text) in texts {
        std::fs::write(folder.join(name), text).unwrap();
    }
    std::fs::write(folder.join("scene.toml"), scene).unwrap();
    let mut arguments = vec!["draw"];
    arguments.extend(texts.iter().map(|(name, _)| *name));
    arguments.extend(["--scene", "scene.toml"]);
    arguments
}

/// The picture that the command draws.
pub(super) fn drawn(folder: &Path, texts: &[(&'static str, String)], scene: &str) -> skrymir::picture::Picture {
    let mut arguments = written(folder, texts, scene);
    arguments.extend(["-o", "out.png"]);
    let output = skrymir(folder, &arguments);
    assert!(output.status.success(), "{}", said(&output));
    skrymir::picture::Picture::load(&folder.join("out.png")).unwrap()
}

fn shaders(texts: &[(&'static str, String)]) -> Shaders {
    let text = |at: usize| texts.get(at).map(|(name, text)| (*name, text.as_str()));
    Shaders::new(text(0).unwrap(), text(1))
}

#[test]
fn examples_are_what_the_command_makes_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut before = Vec::new();
    for (title, texts, scene) in examples() {
        let made = shaders(&texts);
        let picture = made.draw(&Scene::new(&scene).unwrap()).unwrap();
        assert!(picture == drawn(folder, &texts, &scene), "{title}: another picture");
        // The control: no two examples look the same.
        assert!(!before.contains(&picture.rgba), "{title}");
        before.push(picture.rgba);
        // The listing, instruction by instruction and as text, and the report.
        for (stage, program) in [("vert", &made.vertex), ("frag", &made.fragment)] {
            let program = program.as_ref().unwrap();
            let file = texts
                .iter()
                .find(|(name, _)| name.ends_with(stage))
                .unwrap_or(&texts[0])
                .0;
            let output = skrymir(folder, &["compile", file, "--stage", stage, "--text"]);
            assert_eq!(program.text, String::from_utf8_lossy(&output.stdout), "{title}");
            let output = skrymir(folder, &["compile", file, "--stage", stage, "--report", "--json"]);
            let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(serde_json::to_value(&program.report).unwrap(), report, "{title}");
            assert_eq!(program.rows.len(), program.instructions as usize);
            for row in &program.rows {
                for part in row.cells.values().flat_map(|text| text.split(", ")) {
                    assert!(program.text.contains(part), "{title}: {part}");
                }
            }
            assert!(
                stage == "vert" || program.rows.iter().any(|row| !row.lines.is_empty()),
                "{title}: no lines"
            );
            assert!(
                program
                    .limits
                    .iter()
                    .all(|limit| limit.used <= limit.most && limit.most > 0)
            );
            let units: Vec<_> = program.rows.iter().flat_map(|row| row.cells.keys()).collect();
            assert!(
                units.iter().all(|unit| program.units.contains(unit)),
                "{title}: {units:?}"
            );
        }
    }
}

#[test]
fn uniforms_textures_and_a_trace_are_those_of_a_scene_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_, texts, scene) = examples().swap_remove(2);
    let made = shaders(&texts);
    let inputs = made.inputs().unwrap();
    let names: Vec<&str> = inputs.uniforms.iter().map(|uniform| uniform.name.as_str()).collect();
    assert_eq!(
        (names, inputs.samplers[0].name.as_str()),
        (vec!["height", "time"], "stone")
    );
    assert_eq!(inputs.uniforms[1].value, [0.0], "time begins at nothing");

    let stone = skrymir::picture::Picture {
        width: 8,
        height: 4,
        rgba: (0..8 * 4 * 4)
            .map(|at| (at * 37 % 256) as u8 | if at % 4 == 3 { 255 } else { 0 })
            .collect(),
    };
    let png = stone.to_png().unwrap();
    std::fs::write(folder.join("stone.png"), &png).unwrap();
    let mut given = Scene::new(&scene).unwrap();
    let plain = made.draw(&given).unwrap();
    given.set_uniform("time", &[0.75]);
    given.set_uniform("height", &[2.0]);
    given.set_texture("stone", &png).unwrap();
    given.set_size([64, 64]);
    let said_so = scene.replace("[256, 256]", "[64, 64]")
        + "\n[uniform]\ntime = 0.75\nheight = 2\n[slots.stone]\nimage = \"stone.png\"\n";
    let wanted = drawn(folder, &texts, &said_so);
    assert!(made.draw(&given).unwrap() == wanted, "another picture");
    assert_ne!(plain.at(7, 9), wanted.at(7, 9), "the control");
    assert!(
        given
            .set_texture("stone", b"no picture")
            .unwrap_err()
            .message
            .starts_with("stone.png: ")
    );

    // The fragments at a pixel.
    let mut arguments = written(folder, &texts, &said_so);
    arguments.extend(["--watch-pixel", "31,7", "--json"]);
    let output = skrymir(folder, &arguments);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut trace = serde_json::Value::Object(made.trace(&given, (31, 7)).unwrap());
    // Programs are counted as they were watched, and here the vertex program is not.
    for part in ["steps", "painted"] {
        assert_eq!(
            trace["pixel"]["fragments"][0][part],
            answer["pixel"]["fragments"][0][part]
        );
    }
    let color = wanted.at(31, 7);
    let after = &trace["pixel"]["fragments"][0]["painted"]["after"];
    for (channel, byte) in color.into_iter().enumerate() {
        assert_eq!((after[channel].as_f64().unwrap() * 255.0).round(), f64::from(byte));
    }
    // The control: another pixel did something else.
    trace = serde_json::Value::Object(made.trace(&given, (30, 7)).unwrap());
    assert_ne!(
        trace["pixel"]["fragments"][0]["steps"],
        answer["pixel"]["fragments"][0]["steps"]
    );

    // The draw as a recording, and the history of a pixel in it.
    let recording = made.record(&given).unwrap();
    let output = {
        let mut arguments = written(folder, &texts, &said_so);
        arguments.extend(["--record", "job.trace"]);
        skrymir(folder, &arguments)
    };
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        recording == std::fs::read(folder.join("job.trace")).unwrap(),
        "another recording"
    );
    let opened = Recording::new("job.trace", recording).unwrap();
    assert!(opened.page().contains("\"live\":\"parent\""));
    let history = opened.history(1, [31, 7]).unwrap().unwrap();
    assert!(
        history.contains("Pixel 31, 7") && history.contains("written"),
        "{history}"
    );
    assert_eq!(opened.history(1, [64, 7]), Ok(None));
    assert_eq!(opened.history(0, [1, 1]), Ok(None));
}

/// What is wrong is answer in the command's words, with the place.
#[test]
fn refusals_are_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let vertex = "attribute vec4 position; void main() { gl_Position = position; }".to_owned();
    let broken = [
        (
            "shader.frag",
            "precision mediump float;\nvoid main() {\n  gl_FragColor = vec4(x);\n}",
            Some(3),
        ),
        (
            "shader.frag",
            "precision mediump float;\nuniform float a[4];\nvoid main() { gl_FragData[1] = vec4(a[0]); }",
            Some(3),
        ),
        ("shader.frag", "void main() {", None),
    ];
    for (name, text, line) in broken {
        let texts = [("shader.vert", vertex.clone()), (name, text.to_owned())];
        let refusal = shaders(&texts).fragment.unwrap_err();
        let mut arguments = written(folder, &texts, "");
        arguments.extend(["-o", "out.png"]);
        let output = skrymir(folder, &arguments);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(refusal.message, said(&output));
        if line.is_some() {
            assert_eq!(refusal.line, line, "{}", refusal.message);
        }
    }
    let wrong = Scene::new("sise = 3").unwrap_err();
    assert!(wrong.message.contains("sise"), "{wrong}");
    // What fits no shader is answer of the scene, and names what was meant.
    let texts = [
        ("shader.vert", vertex),
        ("shader.frag", "void main() { gl_FragColor = vec4(1.0); }".to_owned()),
    ];
    let scene = "[inputs]\npositoin = [[1, 2, 3, 4]]\n";
    let refusal = shaders(&texts).draw(&Scene::new(scene).unwrap()).unwrap_err();
    let mut arguments = written(folder, &texts, scene);
    arguments.extend(["-o", "out.png"]);
    // The command has a file to name; the page has its scene in a text box.
    let expected = format!("scene.toml: {}", refusal.message);
    assert_eq!(expected, said(&skrymir(folder, &arguments)));
}

/// Files of every format: what each verb says.
#[test]
fn files_get_the_text_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut counted = 0;
    for path in sound() {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        std::fs::write(folder.join(name), &bytes).unwrap();
        let text = |arguments: &[&str]| {
            let output = skrymir(folder, arguments);
            match output.status.success() {
                true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
                false => Err(said(&output)),
            }
        };
        assert_eq!(
            files::info(name, &bytes, None)
                .map(|answer| answer.text)
                .map_err(|no| no.message),
            text(&["info", name])
        );
        let checked = files::check(name, &bytes, None).unwrap();
        assert_eq!(checked.text, text(&["check", name]).unwrap_or_default(), "{name}");
        let stage = (files::format(&bytes) == Some("vbc")).then_some("frag");
        let mut arguments = vec!["dis", name];
        arguments.extend(stage.iter().flat_map(|stage| ["--stage", stage]));
        assert_eq!(
            files::dis(name, &bytes, None, stage).map_err(|no| no.message),
            text(&arguments),
            "{name}"
        );
        for to in ["glsl", "wgsl"] {
            let mut arguments = vec!["convert", name, "--to", to];
            arguments.extend(stage.iter().flat_map(|stage| ["--stage", stage]));
            let written = files::convert(name, &bytes, None, to, stage);
            let written = written
                .map(|bytes| String::from_utf8(bytes).unwrap())
                .map_err(|no| no.message);
            assert_eq!(written, text(&arguments), "{name} to {to}");
        }
        counted += 1;
    }
    assert!(counted > 10, "{counted}");
    // Text to bytes and back.
    let text = std::fs::read_to_string(common::data("mali/every_pp.s")).unwrap();
    let bytes = files::assemble("every_pp.s", &text).unwrap();
    let again = files::dis("every_pp.mbs", &bytes, None, None).unwrap();
    assert_eq!(files::assemble("again.s", &again).unwrap(), bytes);
    let refusal = files::assemble("a.s", ".fragment\n    frob $0 $1\n").unwrap_err();
    assert_eq!(
        (refusal.line, refusal.file.as_deref()),
        (Some(2), Some("a.s")),
        "{refusal}"
    );
}

/// A stage of a VBC is replaced, and nothing else.
#[test]
fn a_stage_of_a_vbc_is_replaced() {
    let bytes = std::fs::read(common::data("vbc/textured.vbc")).unwrap();
    assert_eq!(files::stages("a.vbc", &bytes).unwrap(), ["vert", "frag"]);
    let text = |bytes: &[u8], stage: &str| files::dis("a.vbc", bytes, None, Some(stage)).unwrap();
    let edited = text(&bytes, "frag").replacen("OpReturn", "OpNop\nOpReturn", 1);
    let module = files::assemble("a.spvasm", &edited).unwrap();
    let changed = files::with_stage("a.vbc", &bytes, "frag", &module).unwrap();
    assert!(text(&changed, "frag").contains("OpNop") && text(&changed, "vert") == text(&bytes, "vert"));
    let [before, after] = [&bytes, &changed].map(|bytes| loader::vbc::read(bytes).unwrap().to_model());
    assert_eq!((before.inputs, before.bindings), (after.inputs, after.bindings));
    let refused = |bytes: &[u8], stage: &str, module: &[u8]| {
        files::with_stage("a.vbc", bytes, stage, module).unwrap_err().message
    };
    assert_eq!(refused(&bytes, "tesc", &module), "a.vbc: vbc: no stage tesc");
    assert!(refused(&bytes, "frag", b"no module").starts_with("a.vbc: spirv: "));
    assert!(refused(&module, "frag", &module).starts_with("a.vbc: vbc: "));
}

/// Sound files of our own that are no text.
fn sound() -> Vec<PathBuf> {
    common::files(&common::data(""), "vbc")
}
