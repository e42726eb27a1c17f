//! Compute shaders without a script, in every language: what comes back is what the shader makes of the scene.

use crate::common::data;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `skrymir run` of a compute shader of `tests/data/compute` on a scene beside it, validated: the exit code, what is said,
/// and the numbers of slot 2.
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

/// The numbers of the scene times a factor, and something more.
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
fn groups_have_the_size_that_is_asked_for() {
    let with = |more: &[&str]| run(&shader("scale.comp"), "picture.toml", more);
    // One group of four leaves the other half as it was.
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
fn modules_and_pictures_come_back() {
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
    // One group painted its texel, the other is as the scene has it.
    assert_eq!((picture.width, picture.height), (2, 1));
    assert_eq!(picture.rgba, [255, 128, 0, 255, 0, 0, 0, 0]);
}

#[test]
fn mistakes_are_told() {
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
    let (code, said, _) = run(&shader("scale.wgsl"), "picture.toml", &["--dispatch", "2"]);
    assert!(code != Some(0) && said.contains("no slot 3"), "{code:?} {said}");
}
