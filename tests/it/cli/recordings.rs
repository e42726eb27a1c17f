//! `diff` and `trim` of recordings.

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

fn skrymir(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(arguments)
        .output()
        .expect("the binary runs")
}

/// The exit code and the output.
pub(super) fn ran(arguments: &[&str]) -> (i32, String) {
    let output = skrymir(arguments);
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code().expect("it was not killed"), text)
}

pub(super) fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mali").join(name);
    path.display().to_string()
}

/// Records the triangle with a scene and a fragment program, in a folder.
pub(super) fn record(folder: &Path, name: &str, fragment: &str, scene: &str) -> String {
    let [trace, file] = ["trace", "toml"].map(|ext| folder.join(format!("{name}.{ext}")).display().to_string());
    std::fs::write(&file, scene).unwrap();
    let vertex = example("triangle.vert.s");
    let (code, text) = ran(&[
        "draw", &vertex, fragment, "--scene", &file, "--size", "32x32", "--record", &trace,
    ]);
    assert_eq!(code, 0, "{text}");
    trace
}

const TWICE: &str = ".fragment\n.varying vec4 tint\nload.v $0 0, mul.v0 $0 $0 ^const0.xxxx, const0 0.5, stop\n";

#[test]
fn diff_finds_the_first_difference() {
    let folder = tempfile::tempdir().unwrap();
    let fragment = example("triangle.frag.s");
    let plain = record(folder.path(), "plain", &fragment, "");
    let again = record(folder.path(), "again", &fragment, "");
    assert_eq!(ran(&["diff", &plain, &again]), (0, "same: 2 jobs\n".to_owned()));

    // A field of the state, by name; the picture differs too.
    let blended = record(folder.path(), "blended", &fragment, "blend = \"additive\"\n");
    let (code, text) = ran(&["diff", &plain, &blended]);
    assert_eq!(code, 1, "{text}");
    assert!(text.starts_with("job 0, draw 0: RenderState."), "{text}");

    // Another program: the first instruction and pixel that differ.
    let other = folder.path().join("other.s").display().to_string();
    std::fs::write(&other, TWICE).unwrap();
    let other = record(folder.path(), "other", &other, "");
    let output = skrymir(&["diff", &plain, &other, "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let schema = skrymir(&["schema", "diff"]).stdout;
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    assert!(
        jsonschema::validator_for(&schema).unwrap().is_valid(&found),
        "{found:#}"
    );
    assert_eq!((&found["same"], &found["pixel"]["job"]), (&json!(false), &json!(1)));
    assert_eq!(found["pixel"]["step"]["fragment"], 0);
    assert_ne!(found["pixel"]["step"]["texts"][0], found["pixel"]["step"]["texts"][1]);

    for broken in [
        &["diff", &plain, &example("triangle.frag.s")][..],
        &["diff", &plain, "nowhere.trace"],
    ] {
        let (code, text) = ran(broken);
        assert!(code > 0 && text.contains(broken[2]), "{code}: {text}");
    }
    assert_eq!(ran(&["diff", &plain, &again, "--engine", "vulkan"]).0, 2);
}

#[test]
fn trim_keeps_what_the_picture_needs() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let trace = record(folder.path(), "plain", &example("triangle.frag.s"), "");
    let (small, a, b) = (at("small.trace"), at("a.png"), at("b.png"));
    let (code, text) = ran(&["trim", &trace, "--jobs", "1..1", "-o", &small]);
    assert_eq!(code, 0, "{text}");
    // A pixel job also keeps the geometry job that built its lists.
    assert!(text.contains("jobs 0 1,"), "{text}");
    let sizes = [&trace, &small].map(|path| std::fs::metadata(path).unwrap().len());
    assert!(sizes[1] < sizes[0], "{sizes:?}");
    assert_eq!(ran(&["replay", &trace, "-o", &a]).0, 0);
    assert_eq!(ran(&["replay", &small, "-o", &b]).0, 0);
    assert_eq!(ran(&["compare", &a, &b]).0, 0);

    let (code, text) = ran(&["trim", &trace, "--jobs", "3..5", "-o", &at("none.trace")]);
    assert!(
        code == 1 && text.contains("plain.trace") && text.contains("0..1"),
        "{code}: {text}"
    );
    assert_eq!(ran(&["trim", &trace, "--jobs", "5..3", "-o", &small]).0, 2);
    assert_eq!(ran(&["trim", &trace, "--jobs", "x", "-o", &small]).0, 2);
    assert!(!Path::new(&at("none.trace")).exists());
}

/// Two triangles; the second covers part of the first.
const TWO: &str = "[inputs]\n\
    position = [[-0.9, -0.9, 0, 1], [0, -0.9, 0, 1], [-0.9, 0, 0, 1], [-1, -1, 0, 1], [1, -1, 0, 1], [0, 1, 0, 1]]\n\
    color = [[1, 0, 0, 1], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0, 1, 0, 1], [0, 1, 0, 1]]\n";

#[test]
fn shrink_keeps_the_wrong_pixel() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let trace = record(folder.path(), "two", &example("triangle.frag.s"), TWO);
    let small = at("small.trace");
    let (code, text) = ran(&["trim", &trace, "--shrink", "--pixel", "16,8", "-o", &small]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("2 jobs, 1 draws, 2 primitives to 2 jobs, 1 draws, 1 primitives"),
        "{text}"
    );
    let pixel = |trace: &str| {
        let picture = at("a.png");
        assert_eq!(ran(&["replay", trace, "-o", &picture]).0, 0);
        let picture = skrymir::picture::Picture::load(picture.as_ref()).unwrap();
        (picture.at(16, 8), picture.at(4, 28))
    };
    let (before, after) = (pixel(&trace), pixel(&small));
    assert_eq!(before.0, after.0, "the pixel keeps its colour");
    assert!(std::fs::metadata(&small).unwrap().len() < std::fs::metadata(&trace).unwrap().len());

    // A pixel that differs from the expected one is wrong; an equal one is not.
    let color = before.0.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let shrink = ["trim", &trace, "--shrink", "--pixel", "16,8", "-o", &small];
    let (code, text) = ran(&[&shrink[..], &["--expect", &color]].concat());
    assert!(code == 1 && text.contains("nothing is wrong"), "{code}: {text}");
    assert_eq!(ran(&[&shrink[..], &["--expect", "123456"]].concat()).0, 0);
    let (code, text) = ran(&[&shrink[..], &["--against", "wide"]].concat());
    assert!(code == 1 && text.contains("nothing is wrong"), "{code}: {text}");
    let (code, text) = ran(&[&shrink[..], &["--tries", "2"]].concat());
    assert!(code == 0 && text.contains("--tries is spent"), "{code}: {text}");
    assert_eq!(ran(&["trim", &trace, "--shrink", "--pixel", "99,8", "-o", &small]).0, 2);
    assert_eq!(ran(&["trim", &trace, "--shrink", "-o", &small]).0, 2);
    assert_eq!(ran(&["trim", &trace, "--pixel", "1,1", "-o", &small]).0, 2);
}
