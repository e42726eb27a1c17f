//! Verbs, exit codes, standard output and standard error.

use crate::common;

use std::path::Path;
use std::process::{Command, Output};

fn skrymir(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(arguments)
        .output()
        .expect("the binary runs")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it was not killed")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a readable path")
}

#[test]
fn run_draws_and_compare_judges() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b, diff) = (
        folder.path().join("a.png"),
        folder.path().join("b.png"),
        folder.path().join("diff.png"),
    );
    let file = common::data("vbc/triangle.vbc");
    let output = skrymir(&["run", path(&file), "-o", path(&a), "--size", "64x48", "--no-cache"]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("64x48"));
    let output = skrymir(&[
        "run",
        path(&file),
        "-o",
        path(&b),
        "--size",
        "64x48",
        "--no-cache",
        "--vertices",
        "6",
    ]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));

    let same = skrymir(&["compare", path(&a), path(&a)]);
    assert_eq!((code(&same), text(&same.stdout).starts_with("same:")), (0, true));
    let different = skrymir(&["compare", path(&a), path(&b), "-o", path(&diff)]);
    assert_eq!(
        (code(&different), text(&different.stdout).starts_with("different:")),
        (1, true)
    );
    assert!(diff.is_file());
    let missing = skrymir(&["compare", path(&a), "no-such.png"]);
    assert_eq!(code(&missing), 2, "a file that cannot be read is trouble");
}

#[test]
fn a_picture_is_compared_with_the_expected_one() {
    let folder = tempfile::tempdir().unwrap();
    let (wanted, diff) = (folder.path().join("wanted.png"), folder.path().join("diff.png"));
    let file = common::data("vbc/triangle.vbc");
    let draw = |more: &[&str]| skrymir(&[&["run", path(&file), "--no-cache", "--size", "32x32"], more].concat());
    assert_eq!(code(&draw(&["-o", path(&wanted)])), 0);
    let same = draw(&["--expect", path(&wanted), "--diff", path(&diff)]);
    assert_eq!((code(&same), diff.exists()), (0, false), "{}", text(&same.stderr));
    let different = draw(&["--vertices", "6", "--expect", path(&wanted), "--diff", path(&diff)]);
    assert_eq!(
        (code(&different), diff.exists()),
        (1, true),
        "{}",
        text(&different.stderr)
    );
    let tolerated = draw(&["--vertices", "6", "--expect", path(&wanted), "--tolerance", "255"]);
    assert_eq!(code(&tolerated), 0);
}

#[test]
fn timing_names_its_parts() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.png");
    let output = skrymir(&[
        "run",
        path(&common::data("vbc/triangle.vbc")),
        "--no-cache",
        "--timing",
        "-o",
        path(&out),
    ]);
    let said = text(&output.stdout);
    assert!(
        ["load", "layout", "pipeline", "draw", "read-back"]
            .iter()
            .all(|part| said.contains(part)),
        "{said}"
    );
}

#[test]
fn invalid_code_is_not_passed_to_a_driver() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("bad.vbc"), folder.path().join("out.png"));
    let bytes = std::fs::read(common::data("vbc/triangle.vbc")).unwrap();
    let mut model = loader::vbc::read(&bytes).unwrap().to_model();
    model.inputs[1].dims[0] = 2; // the code reads three components
    std::fs::write(&file, loader::vbc::write(&model).unwrap()).unwrap();
    let output = skrymir(&["run", path(&file), "-o", path(&out), "--no-cache"]);
    assert_eq!((code(&output), out.exists()), (1, false));
    assert!(text(&output.stderr).contains("input-type"), "{}", text(&output.stderr));
}

#[test]
fn a_scene_takes_effect_and_its_errors_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (scene, out) = (folder.path().join("scene.toml"), folder.path().join("out.png"));
    let file = common::data("vbc/triangle.vbc");
    std::fs::write(
        &scene,
        "size = [8, 8]\nclear = [1, 0, 0, 1]\n[inputs]\n0 = [[-3, -3], [-3, -3], [-3, -3]]",
    )
    .unwrap();
    let output = skrymir(&[
        "run",
        path(&file),
        "-o",
        path(&out),
        "--scene",
        path(&scene),
        "--no-cache",
    ]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    assert_eq!(
        skrymir::picture::Picture::load(&out).unwrap().rgba,
        [255, 0, 0, 255].repeat(64)
    );

    std::fs::write(&scene, "[uniform]\nnosuch = 1").unwrap();
    let output = skrymir(&[
        "run",
        path(&file),
        "-o",
        path(&out),
        "--scene",
        path(&scene),
        "--no-cache",
    ]);
    assert_eq!(code(&output), 2);
    assert!(text(&output.stderr).contains("nosuch"), "{}", text(&output.stderr));
}

#[test]
fn bad_files_exit_with_one_and_usage_with_two() {
    let folder = tempfile::tempdir().unwrap();
    let (cut, out) = (folder.path().join("cut.vbc"), folder.path().join("out"));
    let bytes = std::fs::read(common::data("vbc/triangle.vbc")).unwrap();
    std::fs::write(&cut, &bytes[..40]).unwrap();
    for arguments in [
        &["info", path(&cut)][..],
        &["check", path(&cut)],
        &["rewrite", path(&cut), "-o", path(&out)],
        &["run", path(&cut), "-o", path(&out), "--no-cache"],
    ] {
        let output = skrymir(arguments);
        assert_eq!(code(&output), 1, "{arguments:?}");
        let said = text(&output.stderr) + &text(&output.stdout);
        assert!(
            said.contains("vbc") && said.contains("at offset 0x"),
            "{arguments:?} says {said}"
        );
    }
    assert_eq!(code(&skrymir(&["info", "no-such-file"])), 2);
    assert_eq!(code(&skrymir(&["nonsense"])), 2);
    assert_eq!(
        code(&skrymir(&["run", path(&common::data("vbc/triangle.vbc"))])),
        2,
        "no -o"
    );
    std::fs::write(&cut, b"something else").unwrap();
    assert_eq!(code(&skrymir(&["info", path(&cut)])), 1);
}

#[test]
fn rewrite_returns_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.vbc");
    for file in common::files(&common::data("vbc"), "vbc") {
        let output = skrymir(&["rewrite", path(&file), "-o", path(&out)]);
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        assert_eq!(
            std::fs::read(&file).unwrap(),
            std::fs::read(&out).unwrap(),
            "{}",
            file.display()
        );
    }
}

#[test]
fn devices_can_be_chosen() {
    let listed = skrymir(&["devices", "--json"]);
    assert_eq!(code(&listed), 0);
    let rows: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let name = rows[0]["name"].as_str().expect("a device; lavapipe will do");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.png");
    let file = common::data("vbc/triangle.vbc");
    for device in ["0", &name[..4].to_uppercase()] {
        let output = skrymir(&["run", path(&file), "-o", path(&out), "--device", device, "--no-cache"]);
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    }
    let output = skrymir(&[
        "run",
        path(&file),
        "-o",
        path(&out),
        "--device",
        "no such device",
        "--no-cache",
    ]);
    assert_eq!(code(&output), 2);
    assert!(
        text(&output.stderr).contains(name),
        "the choices are named: {}",
        text(&output.stderr)
    );
}

#[test]
fn the_pipeline_cache_survives_damage() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, out) = (folder.path().join("cache"), folder.path().join("out.png"));
    let file = common::data("vbc/triangle.vbc");
    let run = || skrymir(&["run", path(&file), "-o", path(&out), "--cache", path(&cache)]);
    let first = run();
    assert_eq!(code(&first), 0, "{}", text(&first.stderr));
    let kept = common::files(&cache, "bin");
    assert_eq!(kept.len(), 1);
    assert!(run().stderr.is_empty(), "a good cache is used without a word");
    let mut bytes = std::fs::read(&kept[0]).unwrap();
    *bytes.last_mut().unwrap() ^= 0x55;
    std::fs::write(&kept[0], bytes).unwrap();
    let output = run();
    assert_eq!(code(&output), 0);
    assert!(
        text(&output.stderr).contains("ignored: corrupt"),
        "{}",
        text(&output.stderr)
    );
    assert!(run().stderr.is_empty(), "the damaged file was replaced");
}

/// Old caches go from the user's folder; one that is named may hold anything.
#[test]
fn old_pipeline_caches_go_from_the_users_folder_alone() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.png");
    let file = common::data("vbc/triangle.vbc");
    for (name, more, left) in [("skrymir/pipelines", false, 256), ("named", true, 261)] {
        let cache = folder.path().join(name);
        std::fs::create_dir_all(&cache).unwrap();
        for number in 0..260 {
            std::fs::write(cache.join(format!("{number}.bin")), "other").unwrap();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
        command.args(["run", path(&file), "-o", path(&out)]);
        command.env("XDG_CACHE_HOME", folder.path());
        if more {
            command.args(["--cache", path(&cache)]);
        }
        assert!(command.status().unwrap().success());
        assert_eq!(common::files(&cache, "bin").len(), left, "{name}");
    }
}

/// An error of a scene names the scene; differences without an output are in the working folder, not beside the expected
/// picture.
#[test]
fn errors_and_differences_are_where_they_belong() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("references")).unwrap();
    std::fs::create_dir(at("here")).unwrap();
    std::fs::write(at("here/scene.toml"), "[uniform]\nnothing = 1\n").unwrap();
    let file = common::data("vbc/triangle.vbc").display().to_string();
    let ran = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_skrymir"))
            .args(["run", &file, "--no-cache", "--size", "8x8"])
            .args(arguments)
            .current_dir(at("here"))
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (code, error) = ran(&["--scene", "scene.toml", "-o", "a.png"]);
    assert_eq!(code, Some(2), "{error}");
    assert!(error.starts_with("skrymir: scene.toml: "), "{error}");
    let wrong = skrymir::picture::Picture {
        width: 8,
        height: 8,
        rgba: vec![7; 256],
    };
    std::fs::write(at("references/a.png"), wrong.to_png().unwrap()).unwrap();
    let (code, error) = ran(&["--expect", "../references/a.png"]);
    assert_eq!(code, Some(1), "{error}");
    assert!(
        error.contains("see a.diff.png") && at("here/a.diff.png").is_file(),
        "{error}"
    );
    assert!(!at("references/a.diff.png").exists());
}
