//! Verbs on SkSL binaries, with their exit codes.

use super::samples;

use loader::sksl::{self, Tree};
use skrymir::picture::Picture;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        text(path.to_str().unwrap().as_bytes())
    }

    fn tree(&self, name: &str, tree: &Tree) -> String {
        self.put(name, &sksl::write(tree).unwrap())
    }

    fn out(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }
}

fn skrymir(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(arguments)
        .output()
        .expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs with an expected exit code; returns standard output, or standard error after a failure.
fn expect(code: i32, arguments: &[&str]) -> String {
    let output = skrymir(arguments);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{out}\n{err}");
    if code == 0 { out } else { out + &err }
}

#[test]
fn info_and_dis_show_a_program() {
    let desk = Desk::new();
    let file = desk.tree("effect.sksl.bin", &samples::effect());
    let info = expect(0, &["info", &file]);
    assert!(info.starts_with("SkSL binary version 11: runtime-shader"), "{info}");
    assert!(
        info.contains("functions:\n  half4 main(float2 p)\nglobals:\n  uniform half4 tint\n"),
        "{info}"
    );
    let json: serde_json::Value = serde_json::from_str(&expect(0, &["info", "--json", &file])).unwrap();
    assert_eq!((&json["version"], &json["functions"][0]), (&11.into(), &"main".into()));

    let printed = "#version 100\nuniform half4 tint;half4 main(float2 p) {\n\
                   return (half4(half2((p * 0.125)), 1.0, 1.0) * tint);\n}\n";
    assert_eq!(expect(0, &["dis", &file]), printed);
    let tree = expect(0, &["dis", "--tree", &file]);
    assert!(tree.starts_with("000000  version = 11\n"), "{tree}");
    assert!(
        tree.contains("FunctionDefinition") && tree.contains("name = \"tint\""),
        "{tree}"
    );
    let json: serde_json::Value = serde_json::from_str(&expect(0, &["dis", "--json", &file])).unwrap();
    assert!(
        json.as_array().unwrap().iter().any(|node| node["node"] == "Program"),
        "{json}"
    );
    let out = desk.out("out.txt");
    assert_eq!(expect(0, &["dis", &file, "-o", &out]), "");
    assert_eq!(std::fs::read_to_string(out).unwrap(), printed);
}

#[test]
fn rewrite_gives_the_same_bytes() {
    let desk = Desk::new();
    for tree in [samples::effect(), samples::vertex(), samples::fragment(true, true)] {
        let (file, out) = (desk.tree("a.sksl.bin", &tree), desk.out("b.sksl.bin"));
        expect(0, &["rewrite", &file, "-o", &out]);
        assert!(std::fs::read(&file).unwrap() == std::fs::read(&out).unwrap());
    }
}

#[test]
fn check_accepts_good_and_rejects_bad_files() {
    let desk = Desk::new();
    let all = [
        samples::effect(),
        samples::filter(),
        samples::fragment(false, true),
        samples::fragment(true, false),
        samples::vertex(),
        samples::generic(),
        samples::linear(),
    ];
    let mut arguments = vec!["check".to_owned()];
    arguments.extend(
        all.iter()
            .enumerate()
            .map(|(i, tree)| desk.tree(&format!("{i}.bin"), tree)),
    );
    expect(0, &arguments.iter().map(String::as_str).collect::<Vec<_>>());

    let good = sksl::write(&samples::effect()).unwrap();
    // Replaces a type's name by another of the same length.
    let at = good.windows(5).position(|w| w == b"half2").unwrap();
    let mut bad = good.clone();
    bad[at + 4] = b'3';
    let file = desk.put("bad.bin", &bad);
    let said = expect(1, &["check", &file]);
    assert!(
        said.contains("error[constructor]: function main:") && said.contains("at offset 0x"),
        "{said}"
    );
    let cut = desk.put("cut.bin", &good[..good.len() - 3]);
    for verb in ["check", "info", "dis"] {
        let said = expect(1, &[verb, &cut]);
        assert!(
            said.contains("past end of file") && said.contains("offset 0x"),
            "{verb}: {said}"
        );
    }
    let out = desk.out("out.bin");
    expect(1, &["rewrite", &cut, "-o", &out]);
    assert!(!Path::new(&out).exists());
    let mut old = good.clone();
    old[0] = 10;
    let said = expect(1, &["check", &desk.put("old.bin", &old)]);
    assert!(said.contains("unsupported") && said.contains("version 10"), "{said}");
    let mut tail = good;
    tail.push(0);
    let said = expect(1, &["check", &desk.put("tail.bin", &tail)]);
    assert!(said.contains("1 bytes after the end"), "{said}");
}

#[test]
fn convert_writes_every_language() {
    let desk = Desk::new();
    let effect = desk.tree("effect.bin", &samples::effect());
    let programs = [
        effect.clone(),
        desk.tree("filter.bin", &samples::filter()),
        desk.tree("fragment.bin", &samples::fragment(true, true)),
        desk.tree("vertex.bin", &samples::vertex()),
        desk.tree("generic.bin", &samples::generic()),
        desk.tree("child.bin", &samples::child()),
    ];
    for program in &programs {
        for (language, word) in [
            ("wgsl", "fn main("),
            ("glsl", "void main("),
            ("msl", "metal"),
            ("hlsl", "main("),
        ] {
            let said = expect(0, &["convert", program, "--to", language]);
            assert!(said.contains(word), "{program}: {said}");
        }
        let out = desk.out("out.spv");
        expect(0, &["convert", program, "--to", "spirv", "-o", &out]);
        let words: Vec<u32> = std::fs::read(&out)
            .unwrap()
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(words[0], 0x0723_0203);
        assert!(!matches!(
            translate::validate::spirv_val::validate(&words),
            Some(Err(_))
        ));
    }
    assert!(expect(0, &["convert", &programs[3], "--to", "wgsl"]).contains("@vertex"));
    assert!(expect(0, &["convert", &effect, "--to", "wgsl"]).contains("tint: vec4<f32>"));
    assert!(expect(2, &["convert", &effect, "--to", "spirv"]).contains("name a file with -o"));
    let linear = desk.tree("linear.bin", &samples::linear());
    assert!(expect(0, &["convert", &linear, "--to", "wgsl"]).contains("0.04045"));
}

#[test]
fn run_draws_effects() {
    let desk = Desk::new();
    let (out, scene) = (
        desk.out("out.png"),
        desk.put("scene.toml", b"[uniform]\ntint = [1.0, 0.5, 0.25, 1.0]\n"),
    );
    let effect = desk.tree("effect.bin", &samples::effect());
    expect(
        0,
        &[
            "run",
            &effect,
            "-o",
            &out,
            "--size",
            "8x8",
            "--scene",
            &scene,
            "--no-cache",
        ],
    );
    let picture = Picture::load(Path::new(&out)).unwrap();
    for (x, y) in [(0, 0), (7, 0), (3, 5), (7, 7)] {
        let share = |n: u32| (f64::from(n) + 0.5) / 8.0 * 255.0;
        let wanted = [share(x), share(y) * 0.5, 255.0 * 0.25, 255.0];
        for (ours, wanted) in picture.at(x, y).into_iter().zip(wanted) {
            assert!(
                (f64::from(ours) - wanted).abs() <= 1.0,
                "{x},{y}: {:?}",
                picture.at(x, y)
            );
        }
    }
    // Without a scene uniforms are 1.
    expect(0, &["run", &effect, "-o", &out, "--size", "8x8", "--no-cache"]);
    assert_eq!(Picture::load(Path::new(&out)).unwrap().at(0, 0)[2], 255);
    // A filter's input is a uniform.
    let scene = desk.put("filter.toml", b"[uniform]\nsk_Color = [1.0, 0.0, 0.0, 1.0]\n");
    let filter = desk.tree("filter.bin", &samples::filter());
    expect(
        0,
        &[
            "run",
            &filter,
            "-o",
            &out,
            "--size",
            "4x4",
            "--scene",
            &scene,
            "--no-cache",
        ],
    );
    assert_eq!(Picture::load(Path::new(&out)).unwrap().at(1, 2), [0, 0, 255, 255]);

    // A sampler is a slot.
    let scene = b"[uniform]\ncolor = [1, 1, 0, 1]\n[slots.0]\ntexels = [0, 1, 0, 1]\nsize = [1, 1]\n";
    let (scene, sampled) = (
        desk.put("slot.toml", scene),
        desk.tree("sampled.bin", &samples::fragment(false, true)),
    );
    expect(
        0,
        &[
            "run",
            &sampled,
            "-o",
            &out,
            "--size",
            "4x4",
            "--scene",
            &scene,
            "--no-cache",
        ],
    );
    assert_eq!(Picture::load(Path::new(&out)).unwrap().at(3, 0), [0, 255, 0, 255]);

    let said = expect(1, &["run", &desk.tree("vertex.bin", &samples::vertex()), "-o", &out]);
    assert!(said.contains("needs a fragment stage"), "{said}");
    let said = expect(
        1,
        &[
            "run",
            &desk.tree("input.bin", &samples::fragment(true, false)),
            "-o",
            &out,
        ],
    );
    assert!(said.contains("input color"), "{said}");
}

#[test]
fn pack_joins_two_programs() {
    let desk = Desk::new();
    let vertex = desk.tree("vertex.bin", &samples::vertex());
    let fragment = desk.tree("fragment.bin", &samples::fragment(true, false));
    let (file, out) = (desk.out("both.vbc"), desk.out("out.png"));
    expect(0, &["pack", "--vert", &vertex, "--frag", &fragment, "-o", &file]);
    expect(0, &["check", &file]);
    let info = expect(0, &["info", &file]);
    assert!(info.contains("in(0) float2") && info.contains("in(1) float4"), "{info}");
    // A triangle that covers the picture, in one colour.
    let scene = b"[inputs]\n0 = [[-1, -1], [3, -1], [-1, 3]]\n1 = [[0, 1, 0, 1], [0, 1, 0, 1], [0, 1, 0, 1]]\n";
    let scene = desk.put("scene.toml", scene);
    expect(
        0,
        &[
            "run",
            &file,
            "-o",
            &out,
            "--size",
            "4x4",
            "--scene",
            &scene,
            "--no-cache",
        ],
    );
    assert_eq!(Picture::load(Path::new(&out)).unwrap().at(2, 1), [0, 255, 0, 255]);
    // The same in pixels of a picture of 4x4: x / 2 - 1 is clip space, and so is y.
    let pixels = desk.tree("pixels.bin", &samples::vertex_in_pixels());
    expect(0, &["pack", "--vert", &pixels, "--frag", &fragment, "-o", &file]);
    let scene = b"[uniform]\nsk_RTAdjust = [0.5, -1, 0.5, -1]\n[inputs]\n0 = [[0, 0], [4, 0], [0, 4]]\n\
                  1 = [[0, 1, 0, 1], [0, 1, 0, 1], [0, 1, 0, 1]]\n";
    let scene = desk.put("pixels.toml", scene);
    expect(
        0,
        &[
            "run",
            &file,
            "-o",
            &out,
            "--size",
            "4x4",
            "--scene",
            &scene,
            "--no-cache",
        ],
    );
    let picture = Picture::load(Path::new(&out)).unwrap();
    for (x, y) in (0..4).flat_map(|y| (0..4).map(move |x| (x, y))) {
        // On the diagonal itself either is correct.
        if x + y != 3 {
            assert_eq!(picture.at(x, y)[1] == 255, x + y < 3, "{x},{y}");
        }
    }

    let said = expect(1, &["pack", "--vert", &fragment, "--frag", &vertex, "-o", &file]);
    assert!(said.contains("as vert stage"), "{said}");

    let drawn = desk.out("drawn.vbc");
    let effect = desk.tree("effect.bin", &samples::effect());
    expect(0, &["convert", &effect, "--to", "vbc", "-o", &drawn]);
    expect(0, &["check", &drawn]);
}
