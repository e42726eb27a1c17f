//! Compute shaders without a script, in every language: the results equal the shader's function of the scene.

use crate::common::data;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `skrymir run` of a compute shader of `tests/data/compute` on the scene beside it, with validation: the exit code,
/// the output, and the values of slot 2.
fn run(file: &Path, scene: &str, more: &[&str]) -> (Option<i32>, String, Vec<f32>) {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out.bin");
    let output = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .arg("run")
        .arg(file)
        .arg("--scene")
        .arg(shader(scene))
        .arg("--read")
        .arg(format!("2={}", out.display()))
        .arg("--validation")
        .args(more)
        .output()
        .expect("the binary runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let bytes = std::fs::read(&out).unwrap_or_default();
    let numbers = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    (output.status.code(), said, numbers.take(8).collect())
}

fn shader(name: &str) -> PathBuf {
    data("compute").join(name)
}

/// The scene's values times a factor, plus a constant.
fn products(factor: f32, more: f32) -> Vec<f32> {
    (1..=8u8).map(|number| f32::from(number) * factor + more).collect()
}

#[test]
fn every_language_computes_the_same() {
    let cases = [
        ("scale.comp", "picture.toml", &[][..], 0.0),
        ("scale.comp", "picture.toml", &["--constant", "3=100"], 100.0),
        ("scale.comp", "picture.toml", &["--constant", "EXTRA=7"], 7.0),
        ("scale.wgsl", "scale.toml", &[], 0.0),
        ("scale.wgsl", "scale.toml", &["--constant", "extra=0.5"], 0.5),
        ("scale.hlsl", "scale.toml", &["--entry", "scale"], 0.0),
    ];
    for (file, scene, more, extra) in cases {
        let arguments = [&["--dispatch", "2"][..], more].concat();
        let (code, said, found) = run(&shader(file), scene, &arguments);
        assert_eq!(
            (code, found),
            (Some(0), products(3.0, extra)),
            "{file} {arguments:?}: {said}"
        );
    }
}

#[test]
fn groups_have_the_requested_size() {
    let with = |more: &[&str]| run(&shader("scale.comp"), "picture.toml", more);
    // One group of four leaves the other half unchanged.
    let half = [products(3.0, 0.0)[..4].to_vec(), vec![0.0; 4]].concat();
    assert_eq!(with(&["--dispatch", "1"]).2, half);
    let (code, said, found) = with(&["--dispatch", "1", "--local-size", "8"]);
    assert_eq!((code, found), (Some(0), products(3.0, 0.0)), "{said}");
    let (_, _, found) = run(
        &shader("scale.wgsl"),
        "scale.toml",
        &["--dispatch", "1", "--local-size", "8"],
    );
    assert_eq!(found, products(3.0, 0.0));
}

#[test]
fn modules_and_images_are_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let (module, picture) = (folder.path().join("scale.spv"), folder.path().join("out.png"));
    let converted = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(["convert", "--to", "spirv", "-o"])
        .arg(&module)
        .arg(shader("scale.wgsl"))
        .status();
    assert!(converted.expect("the binary runs").success());
    let (code, said, found) = run(&module, "scale.toml", &["--dispatch", "2"]);
    assert_eq!((code, found), (Some(0), products(3.0, 0.0)), "{said}");
    let read = format!("3={}", picture.display());
    run(
        &shader("scale.comp"),
        "picture.toml",
        &["--dispatch", "1", "--read", &read],
    );
    let picture = skrymir::picture::Picture::load(&picture).expect("a picture");
    // One group paints its texel, the other keeps the scene's.
    assert_eq!((picture.width, picture.height), (2, 1));
    assert_eq!(picture.rgba, [255, 128, 0, 255, 0, 0, 0, 0]);
}

/// `skrymir run` with these arguments: the exit code, what is printed and what is said.
fn skrymir(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
    let output = command.arg("run").args(arguments).output().expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn every_engine_leaves_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, scene) = (shader("scale.comp"), shader("picture.toml"));
    let (file, scene) = (file.to_string_lossy(), scene.to_string_lossy());
    let arguments = |file: &str| -> (Option<i32>, String, String) {
        skrymir(&[file, "--scene", &scene, "--dispatch", "2", "--engines"])
    };
    let (code, table, said) = arguments(&file);
    assert_eq!(code, Some(0), "{table}{said}");
    let rows: Vec<&str> = table.lines().collect();
    assert!(rows[0].contains("ran, "), "{table}");
    let mali = rows
        .iter()
        .find(|row| row.starts_with("mali400/scalar"))
        .expect("a row");
    assert!(
        mali.ends_with("unsupported: a Mali-400 has no compute shaders"),
        "{table}"
    );
    let wgsl = shader("scale.wgsl");
    let (wgsl, scene) = (wgsl.to_string_lossy(), shader("scale.toml"));
    let scene = scene.to_string_lossy();
    let (code, table, said) = skrymir(&[&wgsl, "--scene", &scene, "--dispatch", "2", "--engines"]);
    assert_eq!(code, Some(0), "{table}{said}");
    let naga = table.lines().find(|row| row.contains("through naga")).expect("a row");
    assert!(naga.ends_with("the same"), "{table}");
    // All that a shader leaves, and by way of a language.
    for way in ["naga", "glsl", "hlsl", "wgsl"] {
        let keep = folder.path().join(way);
        let keep = keep.to_string_lossy();
        let (code, _, said) = skrymir(&[
            &wgsl,
            "--scene",
            &scene,
            "--dispatch",
            "2",
            "--keep",
            &keep,
            "--through",
            way,
        ]);
        assert_eq!(code, Some(0), "{way}: {said}");
        let bytes = std::fs::read(Path::new(&*keep).join("0.2.bin")).expect("a buffer");
        let numbers = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        assert_eq!(numbers.take(8).collect::<Vec<_>>(), products(3.0, 0.0), "{way}");
    }
}

#[test]
fn errors_are_reported() {
    let cases: [(&[&str], &str); 5] = [
        (&[], "--dispatch X,Y,Z"),
        (&["--dispatch", "0"], "one to three numbers from 1 on"),
        (
            &["--dispatch", "2", "-o", "a.png"],
            "-o means nothing to a compute shader",
        ),
        (
            &["--dispatch", "2", "--constant", "5=1"],
            "the shader has no constant 5; it has 3",
        ),
        (&["--dispatch", "2", "--read", "9=x"], "no buffer or image 9"),
    ];
    for (more, wanted) in cases {
        let (code, said, _) = run(&shader("scale.comp"), "picture.toml", more);
        assert!(code == Some(2) && said.contains(wanted), "{more:?}: {code:?} {said}");
    }
    for flag in [&["--engines"][..], &["--keep", "x"], &["--through", "naga"]] {
        let fragment = data("amber").join("draw.frag").to_string_lossy().into_owned();
        let (code, _, said) = skrymir(&[&[fragment.as_str()][..], flag].concat());
        assert!(
            code == Some(2) && said.contains("is for compute shaders"),
            "{flag:?}: {code:?} {said}"
        );
    }
    let (code, said, _) = run(&shader("scale.wgsl"), "picture.toml", &["--dispatch", "2"]);
    assert!(code != Some(0) && said.contains("no slot 3"), "{code:?} {said}");
}
