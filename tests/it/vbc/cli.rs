//! Verbs on VBC files, with their exit codes.

use crate::common;

use std::path::Path;
use std::process::{Command, Output};

fn skrymir(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(args)
        .output()
        .expect("the program runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn info_prints_text_and_json() {
    let file = common::data("everything.vbc");
    let text = skrymir(&["info", path(&file)]);
    assert_eq!(text.status.code(), Some(0));
    assert!(stdout(&text).contains("\nin(1) float3x4\n"), "{}", stdout(&text));
    assert!(
        stdout(&text).contains("\nneeds scalarBlockLayout for the binding in slot 3\n"),
        "{}",
        stdout(&text)
    );
    let json = skrymir(&["info", "--json", path(&file)]);
    assert_eq!(json.status.code(), Some(0));
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["uniform"]["members"][2]["base"], "bool");
    assert_eq!(json["tables"]["rwtexels"], 3);
}

#[test]
fn rewrite_keeps_good_files_and_repairs_others() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.vbc");
    let expected = std::fs::read(common::data("everything.vbc")).unwrap();
    for name in ["everything.vbc", "legacy.vbc", "raw_subpass.vbc"] {
        let done = skrymir(&["rewrite", path(&common::data(name)), "-o", path(&out)]);
        assert_eq!(done.status.code(), Some(0), "{name}");
        assert!(std::fs::read(&out).unwrap() == expected, "{name}");
    }
}

#[test]
fn check_accepts_good_and_rejects_bad_files() {
    let folder = tempfile::tempdir().unwrap();
    let good = common::data("everything.vbc");
    let done = skrymir(&["check", path(&good), path(&common::data("legacy.vbc"))]);
    assert_eq!(done.status.code(), Some(0), "{}", stdout(&done));
    let mut bytes = std::fs::read(&good).unwrap();
    bytes.push(0);
    let bad = folder.path().join("bad.vbc");
    std::fs::write(&bad, &bytes).unwrap();
    let done = skrymir(&["check", path(&good), path(&bad)]);
    assert_eq!(done.status.code(), Some(1));
    assert!(
        stdout(&done).contains("error[trailing-bytes]: 1 bytes behind the last stage"),
        "{}",
        stdout(&done)
    );
    std::fs::write(&bad, &bytes[..100]).unwrap();
    assert_eq!(skrymir(&["info", path(&bad)]).status.code(), Some(1));
    assert_eq!(skrymir(&["check", path(&bad)]).status.code(), Some(1));
    assert_eq!(skrymir(&["info", "no such file"]).status.code(), Some(2));
}

/// A stage that our rules call invalid makes the file invalid.
#[test]
fn check_judges_the_code_of_stages() {
    let folder = tempfile::tempdir().unwrap();
    let (good, bad) = (common::data("vbc/triangle.vbc"), folder.path().join("bad.vbc"));
    let bytes = std::fs::read(&good).unwrap();
    let mut model = loader::vbc::read(&bytes).unwrap().to_model();
    let code = model.code_mut(loader::vbc::Stage::Frag);
    // A second OpTypeFloat 32 with its own id.
    let at = code
        .windows(3)
        .position(|words| words[0] == 3 << 16 | 22 && words[2] == 32)
        .unwrap();
    let id = code[3];
    code[3] += 1;
    code.splice(at + 3..at + 3, [3 << 16 | 22, id, 32]);
    std::fs::write(&bad, loader::vbc::write(&model).unwrap()).unwrap();
    assert_eq!(skrymir(&["check", path(&good)]).status.code(), Some(0));
    let done = skrymir(&["check", path(&bad)]);
    assert_eq!(done.status.code(), Some(1), "{}", stdout(&done));
    assert!(stdout(&done).contains("bad.vbc: vbc: invalid"), "{}", stdout(&done));
}

/// States that only Vulkan's pipelines have change the picture of `run`; devices and formats without them refuse them by
/// name.
#[test]
fn states_of_pipelines_are_vulkans() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    };
    let samples = file("samples.toml", "samples = 4\n");
    let (triangle, textured) = (common::data("vbc/triangle.vbc"), common::data("vbc/textured.vbc"));
    let picture = |more: &[&str]| {
        let out = folder.path().join("out.png");
        let mut arguments = vec!["run", path(&triangle), "-o", path(&out)];
        arguments.extend(more);
        let done = skrymir(&arguments);
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        std::fs::read(&out).unwrap()
    };
    assert!(
        picture(&["--scene", path(&samples)]) != picture(&[]),
        "the same picture"
    );
    let mirrored = file("mirrored.toml", "[slots.0]\nwrap = \"mirror\"\n");
    let masked = file("masked.toml", "[targets.0]\nwrite-mask = \"r\"\n");
    let bordered = file("bordered.toml", "[slots.0]\nuints = [1]\nborder = \"opaque-black\"\n");
    let compute = file(
        "c.comp",
        "#version 450\nlayout(set = 0, binding = 0) buffer B { uint x; };\nvoid main() { x = 1; }\n",
    );
    let out = folder.path().join("none");
    let mali = ["--device", "mali400", "-o"];
    let buffer = format!("0={}", path(&out));
    let rows: [(&str, &Path, &Path, &[&str], &str); 5] = [
        ("run", &triangle, &samples, &mali, "samples is not set up by the driver"),
        ("run", &triangle, &masked, &mali, "targets is not set up by the driver"),
        ("run", &textured, &mirrored, &mali, "wrap is not set up by the driver"),
        (
            "run",
            &compute,
            &samples,
            &["--dispatch", "1,1,1", "--read", &buffer, "--keep"],
            "samples means nothing to a compute shader",
        ),
        (
            "run",
            &compute,
            &bordered,
            &["--dispatch", "1,1,1", "--read", &buffer, "--keep"],
            "border for a compute shader",
        ),
    ];
    for (verb, shader, scene, more, words) in rows {
        let mut arguments = vec![verb, path(shader), "--scene", path(scene)];
        arguments.extend(more);
        arguments.push(path(&out));
        let done = skrymir(&arguments);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.code() != Some(0) && said.contains(words), "{words}: {said}");
        assert!(!out.exists(), "{words}");
    }
    let draw = ["draw.vert", "draw.frag"].map(|name| common::data("amber").join(name));
    let script = folder.path().join("draw.amber");
    let files = [
        "convert",
        "--to",
        "amber",
        "-o",
        path(&script),
        path(&masked),
        path(&draw[0]),
        path(&draw[1]),
    ];
    let done = skrymir(&files);
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(
        done.status.code() != Some(0) && said.contains("AmberScript has no words for write-mask"),
        "{said}"
    );
}
