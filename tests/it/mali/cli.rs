//! Verbs on Mali-400 programs, with their exit codes.

use crate::common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn skrymir(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(args)
        .output()
        .expect("the program runs")
}

/// The output of a command that must succeed.
fn printed(args: &[&str]) -> String {
    let output = skrymir(args);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// The exit code and message of a command that must fail.
fn refused(args: &[&str]) -> (i32, String) {
    let output = skrymir(args);
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code().expect("it was not killed"), text)
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mali").join(name)
}

/// The two triangle programs, assembled into a folder.
fn assembled(folder: &Path) -> [PathBuf; 2] {
    ["triangle.vert", "triangle.frag"].map(|name| {
        let out = folder.join(format!("{name}.mbs"));
        printed(&["as", path(&example(&format!("{name}.s"))), "-o", path(&out)]);
        out
    })
}

#[test]
fn info_prints_symbols_units_and_cycles() {
    let folder = tempfile::tempdir().unwrap();
    let [vertex, fragment] = assembled(folder.path());
    let text = printed(&["info", path(&vertex)]);
    for part in [
        "vertex program for Mali-400 GP",
        "transform at 0 (size 4, stride 16)",
        "gl_mali_ViewportTransform at 16",
        "position at 0",
        "cycles: shortest path 37, longest path 37",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let json = printed(&["info", "--json", path(&fragment)]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let program = &json["programs"][0];
    assert_eq!(program["instructions"], 1, "{json:#}");
    assert_eq!(program["varyings"][0]["name"], "tint", "{json:#}");
}

#[test]
fn text_and_file_are_the_same_program() {
    let folder = tempfile::tempdir().unwrap();
    for mbs in assembled(folder.path()) {
        let (text, again) = (folder.path().join("again.s"), folder.path().join("again.mbs"));
        printed(&["dis", path(&mbs), "-o", path(&text)]);
        printed(&["as", path(&text), "-o", path(&again)]);
        assert!(std::fs::read(&again).unwrap() == std::fs::read(&mbs).unwrap());
        printed(&["rewrite", path(&mbs), "-o", path(&again)]);
        assert!(std::fs::read(&again).unwrap() == std::fs::read(&mbs).unwrap());
        printed(&["check", path(&mbs)]);
    }
}

#[test]
fn bare_words_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let (words, text, again) = (
        folder.path().join("words"),
        folder.path().join("text.s"),
        folder.path().join("again"),
    );
    for (flag, sample) in [("--gp", "mali/every_gp.s"), ("--pp", "mali/every_pp.s")] {
        printed(&["as", flag, path(&common::data(sample)), "-o", path(&words)]);
        printed(&["dis", flag, path(&words), "-o", path(&text)]);
        printed(&["as", flag, path(&text), "-o", path(&again)]);
        let bytes = std::fs::read(&words).unwrap();
        assert!(bytes.len() > 100 && bytes == std::fs::read(&again).unwrap(), "{flag}");
    }
}

#[test]
fn errors_point_into_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let (bad, out) = (folder.path().join("bad.s"), folder.path().join("out.mbs"));
    std::fs::write(&bad, ".fragment\n    add.v $0 $1 $2\n    sub.v $0 $1 $2, stop\n").unwrap();
    let (code, said) = refused(&["as", path(&bad), "-o", path(&out)]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains(":2:5") && said.contains('^'), "{said}");
    assert!(!out.exists());
}

#[test]
fn check_names_the_broken_rule() {
    let folder = tempfile::tempdir().unwrap();
    let [vertex, _] = assembled(folder.path());
    let mut bytes = std::fs::read(&vertex).unwrap();
    let bad = folder.path().join("bad.mbs");
    bytes.truncate(bytes.len() - 4);
    std::fs::write(&bad, &bytes).unwrap();
    let (code, said) = refused(&["check", path(&bad)]);
    assert_eq!(code, 1);
    assert!(said.contains("mbs") && said.contains("offset"), "{said}");
    let (text, jump) = (folder.path().join("jump.s"), folder.path().join("jump.mbs"));
    let far = ".vertex\n.varying vec4 gl_Position\n    mov.a0 v0.x a0.x, jump 40\n";
    std::fs::write(&text, far).unwrap();
    let (code, said) = match refused(&["as", path(&text), "-o", path(&jump)]) {
        (0, _) => refused(&["check", path(&jump)]),
        refusal => refusal,
    };
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("40"), "{said}");
}

#[test]
fn silicon_switches_are_selected_by_name() {
    let [vertex, fragment] = ["triangle.vert.s", "triangle.frag.s"].map(example);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.png");
    let draw = ["draw", path(&vertex), path(&fragment), "-o", path(&out)];
    printed(&[&draw[..], &["--silicon", "zero-wins,cube-faces-apart"]].concat());
    let help = printed(&["replay", "--help"]);
    assert!(
        help.contains("a product with zero is zero, in both processors"),
        "{help}"
    );
    for (more, said) in [
        (&["--silicon", "zero"][..], "infinity-is-texel-zero"),
        (&["--silicon", "zero-wins", "--engine", "vulkan"], "it changes nothing"),
    ] {
        let (code, text) = refused(&[&draw[..], more].concat());
        assert!(code == 2 && text.contains(said), "{more:?}: {code} {text}");
    }
    let (code, text) = refused(&["gles", "--list", path(folder.path()), "--silicon", "zero-wins"]);
    assert!(code == 2 && text.contains("cannot be used with"), "{code} {text}");
}

#[test]
fn draws_records_and_replays() {
    let folder = tempfile::tempdir().unwrap();
    let [vertex, fragment] = assembled(folder.path());
    let at = |name: &str| folder.path().join(name);
    let (drawn, traced, again) = (at("drawn.png"), at("a.trace"), at("again.png"));
    let pair = [path(&vertex), path(&fragment)];
    let done = |more: &[&str]| printed(&[&["draw"], &pair[..], more].concat());
    done(&["-o", path(&drawn), "--record", path(&traced), "--size", "64x48"]);
    let stats = printed(&["replay", path(&traced), "-o", path(&again), "--stats"]);
    assert!(stats.contains("3 vertices, 1 triangles"), "{stats}");
    printed(&["compare", path(&drawn), path(&again)]);
    for engine in ["scalar", "wide"] {
        printed(&[
            "replay",
            path(&traced),
            "-o",
            path(&again),
            "--engine",
            engine,
            "--threads",
            "3",
        ]);
        printed(&["compare", path(&drawn), path(&again)]);
    }
    let dump = printed(&["replay", path(&traced), "--dump"]);
    for part in [
        "vertex stream",
        "6 vec4s of uniforms",
        "mul.m0",
        "load.v",
        "colour = source * 1 + destination * 0",
        "write-back of colour",
    ] {
        assert!(dump.contains(part), "{part} is not in\n{dump}");
    }

    // Another scene makes another picture, and the comparison detects it.
    let scene = at("scene.toml");
    std::fs::write(&scene, "clear = [1, 0, 0, 1]\n").unwrap();
    done(&["-o", path(&again), "--scene", path(&scene), "--size", "64x48"]);
    assert_eq!(refused(&["compare", path(&drawn), path(&again)]).0, 1);

    std::fs::write(&scene, "[inputs]\nnormal = [[0, 0, 1]]\n").unwrap();
    let args = [&["draw"], &pair[..], &["-o", path(&again), "--scene", path(&scene)]].concat();
    let (code, said) = refused(&args);
    assert_eq!(code, 2);
    assert!(said.contains("no vertex input normal"), "{said}");

    let mut bytes = std::fs::read(&traced).unwrap();
    bytes.truncate(bytes.len() - 10);
    std::fs::write(&traced, &bytes).unwrap();
    let (code, said) = refused(&["replay", path(&traced), "-o", path(&again)]);
    assert_eq!(code, 1);
    assert!(said.contains("trace") && said.contains("offset"), "{said}");
}

#[test]
fn the_viewport_of_bare_words_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let bare = folder.path().join("bare.s");
    let moves = "mov.a0 v0.x a0.x, mov.a1 v0.y a0.y, mov.m0 v0.z a0.z, mov.m1 v0.w a0.w";
    std::fs::write(&bare, format!(".vertex\n    {moves}\n")).unwrap();
    let converted = |more: &[&str]| {
        let output = skrymir(&[&["convert", path(&bare), "--to", "wgsl"], more].concat());
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    // Nothing says where the viewport is: what comes out is what the program computes.
    let (code, text, note) = converted(&[]);
    assert_eq!(code, Some(0), "{note}");
    assert!(note.contains("note[window]"), "{note}");
    assert!(!text.contains("uniforms"), "{text}");
    // (window - offset) / scale, and all of it divided by 1/w.
    for number in [4, 7] {
        for more in [&[][..], &["--exact"]] {
            let number = number.to_string();
            let (code, text, note) = converted(&[&["--viewport", &number], more].concat());
            assert_eq!((code, note.as_str()), (Some(0), ""), "{more:?}");
            let [scale, offset] = [0, 1].map(|more| format!("uniforms.t[{}]", number.parse::<u32>().unwrap() + more));
            assert!(text.contains(&scale) && text.contains(&offset), "{text}");
            assert!(text.contains("attribute0_.x - "), "{text}");
        }
    }
    let (code, _, said) = converted(&["--viewport", "900"]);
    assert!(code == Some(2) && said.contains("no uniform 900"), "{code:?} {said}");
    let (code, said) = refused(&[
        "convert",
        path(&example("triangle.frag.s")),
        "--to",
        "wgsl",
        "--viewport",
        "4",
    ]);
    assert!(
        code == 2 && said.contains("for Mali-400 vertex programs"),
        "{code} {said}"
    );
}
