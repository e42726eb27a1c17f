//! Recordings compared and trimmed, as a user types it.

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

fn skrymir(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(arguments)
        .output()
        .expect("the binary runs")
}

/// The exit code, and what was printed.
fn ran(arguments: &[&str]) -> (i32, String) {
    let output = skrymir(arguments);
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code().expect("it was not killed"), text)
}

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mali").join(name);
    path.display().to_string()
}

/// Records the triangle with a scene and a fragment program, in a folder.
fn record(folder: &Path, name: &str, fragment: &str, scene: &str) -> String {
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
fn diff_tells_where_recordings_part() {
    let folder = tempfile::tempdir().unwrap();
    let fragment = example("triangle.frag.s");
    let plain = record(folder.path(), "plain", &fragment, "");
    let again = record(folder.path(), "again", &fragment, "");
    assert_eq!(ran(&["diff", &plain, &again]), (0, "same: 2 jobs\n".to_owned()));

    // A field of the state, by its name; the picture is another too.
    let blended = record(folder.path(), "blended", &fragment, "blend = \"additive\"\n");
    let (code, text) = ran(&["diff", &plain, &blended]);
    assert_eq!(code, 1, "{text}");
    assert!(text.starts_with("job 0, draw 0: RenderState."), "{text}");

    // Another program: the instruction and the pixel at which they part.
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
fn trim_keeps_what_gives_the_picture() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let trace = record(folder.path(), "plain", &example("triangle.frag.s"), "");
    let (small, a, b) = (at("small.trace"), at("a.png"), at("b.png"));
    let (code, text) = ran(&["trim", &trace, "--jobs", "1..1", "-o", &small]);
    assert_eq!(code, 0, "{text}");
    // The pixel job takes the geometry job along that built its lists.
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
