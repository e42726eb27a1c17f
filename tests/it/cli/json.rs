//! The JSON that runners print, as a user asks for it, held against the published schemas.

use crate::common;

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

fn skrymir(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(arguments)
        .output()
        .expect("the binary runs")
}

/// What a command that must succeed printed, as JSON.
fn document(arguments: &[&str]) -> Value {
    let output = skrymir(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {error}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

fn schema(verb: &str) -> jsonschema::Validator {
    let schema = document(&["schema", verb]);
    jsonschema::draft202012::meta::validate(&schema).unwrap_or_else(|error| panic!("{verb}: {error}"));
    jsonschema::validator_for(&schema).unwrap()
}

fn holds(validator: &jsonschema::Validator, document: &Value) {
    let found: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mali").join(name);
    path.display().to_string()
}

/// A recording of the triangle, in a folder.
fn recorded(folder: &Path) -> String {
    let path = folder.join("triangle.trace").display().to_string();
    let output = skrymir(&[
        "draw",
        &example("triangle.vert.s"),
        &example("triangle.frag.s"),
        "--size",
        "32x32",
        "--record",
        &path,
    ]);
    assert_eq!(output.status.code(), Some(0));
    path
}

#[test]
fn replay_keeps_to_its_schema() {
    let folder = tempfile::tempdir().unwrap();
    let trace = recorded(folder.path());
    let validator = schema("replay");
    let told = document(&[
        "replay",
        &trace,
        "--stats",
        "--dump",
        "--profile",
        "--watch-pixel",
        "16,16",
        "--json",
    ]);
    holds(&validator, &told);
    let jobs = told["jobs"].as_array().unwrap();
    assert_eq!(
        (jobs.len(), &jobs[0]["vertices"], &jobs[1]["queue"]),
        (2, &json!(3), &json!("pp"))
    );
    let draws = told["dump"][0]["list_stream"].as_array().unwrap().iter();
    let draws: Vec<&Value> = draws.filter(|one| one["command"] == "DrawPrimitives").collect();
    assert_eq!((draws.len(), &draws[0]["fields"]["count"]), (1, &json!(3)));
    assert_eq!(told["profile"][0]["cycles"], 111);
    let fragments = told["pixel"]["fragments"].as_array().unwrap();
    assert_eq!(fragments.len(), 1);
    let steps = fragments[0]["steps"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["next"], Value::Null);
    // The tile has the colour in bytes.
    let painted = |name: &str| -> Vec<f64> {
        let all = fragments[0]["painted"][name].as_array().unwrap().iter();
        all.map(|value| (value.as_f64().unwrap() * 255.0).round()).collect()
    };
    assert_eq!(painted("color"), painted("after"));
    // Each alone, and the negative control: a field too many and a name that is missing are found.
    for one in ["--stats", "--dump", "--profile"] {
        holds(&validator, &document(&["replay", &trace, one, "--json"]));
    }
    let mut wrong = told.clone();
    wrong["jobs"][0]["queue"] = "ap".into();
    assert!(!validator.is_valid(&wrong));
    let mut wrong = told;
    wrong["pixel"].as_object_mut().unwrap().remove("x");
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn recordings_of_a_real_driver_keep_to_the_schema() {
    let Some(folder) = common::corpus("mali") else { return };
    let validator = schema("replay");
    let files = common::recordings(&folder);
    for path in files.iter().step_by(6) {
        let path = path.display().to_string();
        let told = document(&["replay", &path, "--stats", "--dump", "--watch-pixel", "20,20", "--json"]);
        holds(&validator, &told);
    }
    println!("{} recordings keep to the schema", files.iter().step_by(6).count());
}

#[test]
fn draw_and_run_keep_to_their_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let (vertex, fragment) = (example("triangle.vert.s"), example("triangle.frag.s"));
    let told = document(&[
        "draw",
        &vertex,
        &fragment,
        "--profile",
        "--watch-pixel",
        "100,100",
        "--json",
    ]);
    holds(&schema("draw"), &told);
    assert_eq!(told["profile"][0]["stage"], "vertex");
    let picture = folder.path().join("a.png").display().to_string();
    let file = common::data("vbc/triangle.vbc").display().to_string();
    let told = document(&[
        "run",
        &file,
        "-o",
        &picture,
        "--no-cache",
        "--size",
        "32x16",
        "--timing",
        "--json",
    ]);
    holds(&schema("run"), &told);
    assert_eq!(
        (&told["pictures"][0]["file"], &told["pictures"][0]["width"]),
        (&json!(picture), &json!(32))
    );
    assert!(told["milliseconds"]["draw"].as_f64().unwrap() > 0.0);
    schema("reflect");
}

#[test]
fn json_of_nothing_is_a_mistake() {
    let folder = tempfile::tempdir().unwrap();
    let trace = recorded(folder.path());
    let picture = folder.path().join("a.png").display().to_string();
    for arguments in [
        &["replay", &trace, "-o", &picture, "--json"][..],
        &["replay", &trace, "--trace", "-", "--json"],
        &[
            "draw",
            &example("triangle.vert.s"),
            &example("triangle.frag.s"),
            "-o",
            &picture,
            "--json",
        ],
        &["run", "a.vbc", "-o", &picture, "--json"],
        &["schema", "nonsense"],
    ] {
        assert_eq!(skrymir(arguments).status.code(), Some(2), "{arguments:?}");
    }
}
