//! The JSON of every verb, validated against the published schemas.

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

/// The JSON output of a command that must succeed.
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

/// The lines of a JSON file, each validated against a schema.
pub(crate) fn lines(verb: &str, path: &Path) -> Vec<Value> {
    let validator = schema(verb);
    let text = std::fs::read_to_string(path).expect("a file");
    let values: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line"))
        .collect();
    values.iter().for_each(|value| holds(&validator, value));
    // Negative control: a job without its time is invalid.
    let mut broken = values[0].clone();
    broken.as_object_mut().expect("an object").remove("milliseconds");
    assert!(!validator.is_valid(&broken));
    values
}

/// A command's output, validated against a schema.
pub(crate) fn kept(verb: &str, arguments: &[&str]) -> Value {
    let output = document(arguments);
    holds(&schema(verb), &output);
    output
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
fn replay_matches_its_schema() {
    let folder = tempfile::tempdir().unwrap();
    let trace = recorded(folder.path());
    let validator = schema("replay");
    let output = document(&[
        "replay",
        &trace,
        "--stats",
        "--dump",
        "--profile",
        "--watch-pixel",
        "16,16",
        "--json",
    ]);
    holds(&validator, &output);
    let jobs = output["jobs"].as_array().unwrap();
    assert_eq!(
        (jobs.len(), &jobs[0]["vertices"], &jobs[1]["queue"]),
        (2, &json!(3), &json!("pp"))
    );
    let draws = output["dump"][0]["list_stream"].as_array().unwrap().iter();
    let draws: Vec<&Value> = draws.filter(|one| one["command"] == "DrawPrimitives").collect();
    assert_eq!((draws.len(), &draws[0]["fields"]["count"]), (1, &json!(3)));
    assert_eq!(output["profile"][0]["cycles"], 111);
    let fragments = output["pixel"]["fragments"].as_array().unwrap();
    assert_eq!(fragments.len(), 1);
    let steps = fragments[0]["steps"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["next"], Value::Null);
    // The tile has the colour in bytes.
    let painted = |name: &str| -> Vec<f64> {
        let all = fragments[0]["painted"][name].as_array().unwrap().iter();
        all.map(|value| (value.as_f64().unwrap() * 255.0).round()).collect()
    };
    assert_eq!(painted("color"), painted("after"));
    // Each flag alone, and the negative control: an extra field and a missing name are found.
    for one in ["--stats", "--dump", "--profile"] {
        holds(&validator, &document(&["replay", &trace, one, "--json"]));
    }
    let mut wrong = output.clone();
    wrong["jobs"][0]["queue"] = "ap".into();
    assert!(!validator.is_valid(&wrong));
    let mut wrong = output;
    wrong["pixel"].as_object_mut().unwrap().remove("x");
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn recordings_of_a_real_driver_match_the_schema() {
    let Some(folder) = common::corpus("mali") else { return };
    let validator = schema("replay");
    let files = common::recordings(&folder);
    for path in files.iter().step_by(6) {
        let path = path.display().to_string();
        let output = document(&["replay", &path, "--stats", "--dump", "--watch-pixel", "20,20", "--json"]);
        holds(&validator, &output);
    }
    println!("{} recordings keep to the schema", files.iter().step_by(6).count());
}

#[test]
fn draw_and_run_match_their_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let (vertex, fragment) = (example("triangle.vert.s"), example("triangle.frag.s"));
    let output = document(&[
        "draw",
        &vertex,
        &fragment,
        "--profile",
        "--watch-pixel",
        "100,100",
        "--json",
    ]);
    holds(&schema("draw"), &output);
    assert_eq!(output["profile"][0]["stage"], "vertex");
    let picture = folder.path().join("a.png").display().to_string();
    let file = common::data("vbc/triangle.vbc").display().to_string();
    let output = document(&[
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
    holds(&schema("run"), &output);
    assert_eq!(
        (&output["pictures"][0]["file"], &output["pictures"][0]["width"]),
        (&json!(picture), &json!(32))
    );
    assert!(output["milliseconds"]["draw"].as_f64().unwrap() > 0.0);
    schema("reflect");
}

/// A command's JSON output, regardless of its exit code.
fn json_of(arguments: &[&str]) -> Value {
    let output = skrymir(arguments);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

#[test]
fn every_format_matches_its_schema() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let data = |name: &str| common::data(name).display().to_string();
    let made = [
        ("mali/every_pp.s", "pp.mbs", None),
        ("mali/every_gp.s", "gp.bin", Some("--gp")),
        ("mali/every_pp.s", "pp.bin", Some("--pp")),
        ("spirv/numbers.spvasm", "numbers.spv", None),
        ("sl/hello.s0", "hello.sl", None),
    ];
    for (source, file, flag) in made {
        let (source, file) = (data(source), path(file));
        let arguments: Vec<&str> = ["as", &source, "-o", &file].into_iter().chain(flag).collect();
        assert_eq!(skrymir(&arguments).status.code(), Some(0), "{arguments:?}");
    }
    let trace = recorded(folder.path());
    let mut files: Vec<(String, Option<&str>)> = ["everything.vbc", "legacy.vbc", "vbc/subpass.vbc"]
        .map(data)
        .map(|file| (file, None))
        .into();
    files.extend(["pp.mbs", "numbers.spv", "hello.sl"].map(path).map(|file| (file, None)));
    files.extend([
        (path("gp.bin"), Some("--gp")),
        (path("pp.bin"), Some("--pp")),
        (trace, None),
    ]);
    let (info, check) = (schema("info"), schema("check"));
    for (file, flag) in &files {
        let with = |verb| -> Vec<&str> { [verb, file.as_str(), "--json"].into_iter().chain(*flag).collect() };
        holds(&info, &json_of(&with("info")));
        holds(&check, &json_of(&with("check")));
    }
    holds(&schema("dis"), &json_of(&["dis", &path("hello.sl"), "--json"]));
    let broken = path("broken.vbc");
    std::fs::write(&broken, &std::fs::read(data("minimal.vbc")).unwrap()[..40]).unwrap();
    holds(&check, &json_of(&["check", &broken, &data("minimal.vbc"), "--json"]));
    // Negative control: missing and extra fields are found.
    let mut wrong = json_of(&["info", &files[0].0, "--json"]);
    wrong["format"] = "spirv".into();
    assert!(!info.is_valid(&wrong));
    let mut wrong = json_of(&["check", &files[0].0, "--json"]);
    wrong[0]["verdict"] = "fine".into();
    assert!(!check.is_valid(&wrong));
}

#[test]
fn real_files_match_the_schemas() {
    let (info, check) = (schema("info"), schema("check"));
    let dis = schema("dis");
    let mut count = 0;
    for (kind, step) in [
        ("vbc", 9),
        ("mbs", 1),
        ("spirv", 40),
        ("sl", 2),
        ("sksl", 60),
        ("mali", 12),
    ] {
        let Some(folder) = common::corpus(kind) else { continue };
        for file in common::files(&folder, "").iter().step_by(step) {
            let file = file.display().to_string();
            if skrymir(&["info", &file]).status.code() != Some(0) {
                continue;
            }
            holds(&info, &json_of(&["info", &file, "--json"]));
            holds(&check, &json_of(&["check", &file, "--json"]));
            if kind == "sksl" {
                holds(&dis, &json_of(&["dis", &file, "--json"]));
            }
            count += 1;
        }
    }
    println!("{count} real files keep to the schemas");
}

#[test]
fn the_other_reports_match_their_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (vertex, fragment) = (example("triangle.vert.s"), example("triangle.frag.s"));
    let trace = recorded(folder.path());
    for (name, scene) in [("a", ""), ("b", "clear = [1, 0, 0, 1]\n")] {
        std::fs::write(path("scene.toml"), scene).unwrap();
        let (out, scene) = (path(&format!("{name}.png")), path("scene.toml"));
        let arguments = [
            "draw", &vertex, &fragment, "--size", "32x32", "--scene", &scene, "-o", &out,
        ];
        assert_eq!(skrymir(&arguments).status.code(), Some(0));
    }
    let compare = schema("compare");
    holds(
        &compare,
        &json_of(&["compare", &path("a.png"), &path("b.png"), "--json"]),
    );
    holds(
        &compare,
        &json_of(&["compare", &path("a.png"), &path("a.png"), "--json"]),
    );
    let engines = json_of(&["compare", "--engines", &vertex, &fragment, "--size", "32x32", "--json"]);
    holds(&compare, &engines);
    let mut wrong = engines;
    wrong["engines"][0]["verdict"] = "fine".into();
    assert!(!compare.is_valid(&wrong));
    holds(&schema("devices"), &json_of(&["devices", "--json"]));
    let trim = schema("trim");
    holds(&trim, &json_of(&["trim", &trace, "-o", &path("small.trace"), "--json"]));
    let shrink = ["--shrink", "--pixel", "16,16"];
    holds(
        &trim,
        &json_of(&[&["trim", &trace, "-o", &path("small.trace"), "--json"][..], &shrink].concat()),
    );
    let wgsl = common::data("spirv/minimal.wgsl").display().to_string();
    let report = ["compile", &wgsl, "--stage", "frag", "--report", "--json"];
    let compiled = skrymir(&report);
    assert_eq!(
        compiled.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    holds(&schema("compile"), &json_of(&report));
    let converted = [
        "convert",
        &wgsl,
        "--stage",
        "frag",
        "--to",
        "msl",
        "-o",
        &path("a.metal"),
        "--json",
    ];
    holds(&schema("convert"), &json_of(&converted));
    let module = path("sampled.frag");
    let text = "#version 450\nlayout(set = 1, binding = 2) uniform sampler2D image;\nlayout(location = 0) out vec4 tint;\n\
                void main() { tint = texture(image, vec2(0.5)); }\n";
    std::fs::write(&module, text).unwrap();
    for to in ["glsl", "hlsl", "msl"] {
        let converted = ["convert", &module, "--to", to, "-o", &path("a.out"), "--json"];
        holds(&schema("convert"), &json_of(&converted));
    }
    let grammar = path("small.grammar.json");
    std::fs::write(
        &grammar,
        r#"{"revision": 3, "instructions": [{"opname": "Twice", "opcode": 1, "operands": [{"kind": "IdRef"}]}]}"#,
    )
    .unwrap();
    holds(&schema("grammar"), &json_of(&["grammar", &grammar, "--json"]));
}

#[test]
fn json_alone_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let data = |name: &str| common::data(name).display().to_string();
    let trace = recorded(folder.path());
    let (vertex, fragment) = (example("triangle.vert.s"), example("triangle.frag.s"));
    let picture = json!({ "file": path("a.png"), "width": 32, "height": 32, "output": 0 });

    let replayed = kept("replay", &["replay", &trace, "--json"]);
    assert_eq!(replayed["jobs"].as_array().unwrap().len(), 2);
    assert_eq!(replayed.get("picture"), None);
    let replayed = kept("replay", &["replay", &trace, "-o", &path("a.png"), "--json"]);
    assert_eq!(replayed["picture"], picture);
    let draw = ["draw", &vertex, &fragment, "--size", "32x32", "--json"];
    assert_eq!(kept("draw", &draw)["picture"]["file"], Value::Null);
    assert_eq!(
        kept("draw", &[&draw[..], &["-o", &path("a.png")]].concat())["picture"],
        picture
    );
    let run = ["run", &vertex, &fragment, "--size", "32x32", "--json"];
    assert_eq!(kept("run", &run)["pictures"][0]["width"], 32);
    let run = [
        "run",
        &data("vbc/triangle.vbc"),
        "--no-cache",
        "--size",
        "32x32",
        "--json",
    ];
    assert_eq!(kept("run", &run)["pictures"][0]["height"], 32);
    let out = path("a.png");
    let run = [&run[..], &["-o", &out]].concat();
    assert_eq!(kept("run", &run)["pictures"], json!([picture]));

    let wgsl = data("spirv/minimal.wgsl");
    let compiled = kept("compile", &["compile", &wgsl, "--stage", "frag", "--json"]);
    assert!(compiled["instructions"].as_u64().unwrap() > 0);
    let converted = kept(
        "convert",
        &["convert", &wgsl, "--stage", "frag", "--to", "msl", "--json"],
    );
    assert_eq!(converted[0]["output"], Value::Null);
    assert!(converted[0]["text"].as_str().unwrap().contains("fragment"));

    let made = path("made.vbc");
    let [vert, frag] = ["made.vert", "made.frag"].map(&path);
    std::fs::write(&vert, "#version 450\nvoid main() { gl_Position = vec4(0.0); }\n").unwrap();
    let text = "#version 450\nlayout(location = 0) out vec4 tint;\nvoid main() { tint = vec4(1.0); }\n";
    std::fs::write(&frag, text).unwrap();
    let packed = kept(
        "pack",
        &["pack", "--vert", &vert, "--frag", &frag, "-o", &made, "--json"],
    );
    assert_eq!(packed["stages"], json!(["vert", "frag"]));
    assert_eq!(packed["bytes"], std::fs::metadata(&made).unwrap().len());
    let again = kept("rewrite", &["rewrite", &made, "-o", &path("again.vbc"), "--json"]);
    assert_eq!((&again["format"], &again["unchanged"]), (&json!("vbc"), &json!(true)));

    let inspected = kept("inspect", &["inspect", &trace, "--json"]);
    let length = |key: &str| inspected[key].as_array().unwrap().len();
    assert_eq!((length("frames"), length("jobs")), (1, 2));
    assert_eq!(
        (&inspected["jobs"][1]["size"], &inspected["output"]),
        (&json!([32, 32]), &Value::Null)
    );
    let page = path("page.html");
    let inspected = kept("inspect", &["inspect", &trace, "--pixel", "1,1", "-o", &page, "--json"]);
    assert_eq!(inspected["output"], page);

    for arguments in [
        &["replay", &trace, "--trace", "-", "--json"][..],
        &["draw", &vertex, &fragment, "-o", "-", "--json"],
        &["rewrite", &made, "-o", "-", "--json"],
        &["inspect", &trace, "--pixel", "1,1", "--json"],
        &["schema", "nonsense"],
    ] {
        assert_eq!(skrymir(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn compute_shaders_print_their_resources() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let shader = path("count.comp");
    let text = "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 1) buffer To { uint to[4]; };\n\
                layout(binding = 2, rgba8) uniform writeonly image2D picture;\n\
                void main() { uint at = gl_GlobalInvocationID.x; to[at] = at + 1;\n\
                imageStore(picture, ivec2(at, 0), vec4(1.0)); }\n";
    std::fs::write(&shader, text).unwrap();
    let run = ["run", &shader, "--dispatch", "4", "--size", "4x2", "--json"];
    let output = kept("run-compute", &run);
    let resource = |at: usize| output["resources"][at].clone();
    assert_eq!(
        resource(0),
        json!({ "set": 0, "binding": 1, "kind": "buffer", "bytes": 16, "size": null, "files": [],
                "contents": "01000000020000000300000004000000" })
    );
    assert_eq!(
        (&resource(1)["kind"], &resource(1)["size"]),
        (&json!("image"), &json!([4, 2, 1]))
    );
    assert_eq!(output["milliseconds"], Value::Null);
    let (to, all) = (path("to.bin"), path("all"));
    let read = format!("1={to}");
    let output = kept(
        "run-compute",
        &[&run[..], &["--read", &read, "--keep", &all, "--timing"]].concat(),
    );
    let kept_at = |name: &str| Path::new(&all).join(name).display().to_string();
    assert_eq!(output["resources"][0]["files"], json!([to, kept_at("0.1.bin")]));
    assert_eq!(
        output["resources"][1]["files"],
        json!([kept_at("0.2.bin"), kept_at("0.2.png")])
    );
    assert!(output["milliseconds"].as_f64().is_some());
    assert_eq!(std::fs::read(&to).unwrap().len(), 16);
    let engines = kept("run-compute", &[&run[..], &["--engines"]].concat());
    assert_eq!(
        (&engines["same"], &engines["engines"][0]["verdict"]),
        (&json!(true), &json!("reference"))
    );
    let mut wrong = engines;
    wrong["engines"][0]["verdict"] = "fine".into();
    assert!(!schema("run-compute").is_valid(&wrong));
    assert_eq!(skrymir(&[&run[..], &["--read", "1=-"]].concat()).status.code(), Some(2));
}

#[test]
fn register_traces_match_the_schema_of_replay() {
    let folder = tempfile::tempdir().unwrap();
    let trace = recorded(folder.path());
    let (_, text) = super::board::by_registers(&std::fs::read(&trace).unwrap());
    std::fs::write(&trace, &text).unwrap();
    let output = kept("replay", &["replay", &trace, "--json"]);
    assert_eq!((&output["as_recorded"], output.get("events")), (&json!(true), None));
    assert!(output["counts"]["job_bytes"].as_u64().unwrap() > 0);
    let output = kept("replay", &["replay", &trace, "--dump", "--json"]);
    let events = output["events"].as_array().unwrap();
    let text_of = |event: &Value| event["text"].as_str().unwrap().to_owned();
    assert!(events.iter().map(text_of).any(|text| text.contains("start_plbu")));
    std::fs::write(&trace, text.replacen("R 0030 = 00000003", "R 0030 = 00000001", 1)).unwrap();
    assert_eq!(skrymir(&["replay", &trace, "--json"]).status.code(), Some(1));
    let output = json_of(&["replay", &trace, "--json"]);
    let validator = schema("replay");
    holds(&validator, &output);
    assert_eq!(
        (&output["as_recorded"], &output["counts"]),
        (&json!(false), &Value::Null)
    );
    assert!(output["difference"]["found"].as_str().unwrap().contains("00000003"));
    let mut wrong = output;
    wrong["difference"]["line"] = 0.into();
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn instructions_match_the_schema_of_dis() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let data = |name: &str| common::data(name).display().to_string();
    for (source, file, flag) in [
        ("spirv/numbers.spvasm", "numbers.spv", None),
        ("mali/every_gp.s", "gp.mbs", None),
        ("mali/every_pp.s", "pp.mbs", None),
        ("mali/every_gp.s", "gp.bin", Some("--gp")),
        ("mali/every_pp.s", "pp.bin", Some("--pp")),
    ] {
        let (source, file) = (data(source), path(file));
        let arguments: Vec<&str> = ["as", &source, "-o", &file].into_iter().chain(flag).collect();
        assert_eq!(skrymir(&arguments).status.code(), Some(0), "{arguments:?}");
    }
    let texts = |of: &Value| -> Vec<String> {
        let all = of.as_array().unwrap().iter();
        all.map(|one| one["text"].as_str().unwrap().to_owned()).collect()
    };
    // The lines are those of the text.
    let lines = |arguments: &[&str]| -> Vec<String> {
        let text = String::from_utf8(skrymir(arguments).stdout).unwrap();
        text.lines().map(str::to_owned).collect()
    };
    let plain = ["--no-header", "--no-indent"];
    let module = kept("dis", &["dis", &path("numbers.spv"), "--json"]);
    let text = lines(&[&["dis", &path("numbers.spv")][..], &plain].concat());
    assert_eq!(texts(&module["instructions"]), text);
    assert_eq!(module["instructions"][0]["offset"], 20);

    let file = data("everything.vbc");
    let stages = kept("dis", &["dis", &file, "--json"]);
    let stage = kept("dis", &["dis", &file, "--stage", "frag", "--json"]);
    let frag = stages["stages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["stage"] == "frag");
    assert_eq!(frag, Some(&stage["stages"][0]));
    let text = lines(&[&["dis", &file, "--stage", "frag"][..], &plain].concat());
    assert_eq!(texts(&stage["stages"][0]["instructions"]), text);

    for (file, stage) in [("gp.mbs", "vertex"), ("pp.mbs", "fragment")] {
        let program = kept("dis", &["dis", &path(file), "--json"]);
        assert_eq!(program["programs"][0]["stage"], stage);
        assert_eq!(program["chunk"]["name"], "MBS1");
        let bare = file.replace("mbs", "bin");
        let flag = format!("--{}", &file[..2]);
        let words = kept("dis", &["dis", &path(&bare), &flag, "--json"]);
        assert_eq!(words["programs"], program["programs"]);
        // Negative control: a program without its stage is invalid.
        let mut wrong = words;
        wrong["programs"][0].as_object_mut().unwrap().remove("stage");
        assert!(!schema("dis").is_valid(&wrong));
    }
}
