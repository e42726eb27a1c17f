//! The debug adapter's protocol: recorded sessions of a client are replayed message by message, and every message of
//! both sides is validated against the protocol's published schema if it is available.
//!
//! A line of `tests/data/dap/*.jsonl` is a message `to` the adapter, invalid bytes (`raw`), or a message `from` the
//! adapter (null at the end). `BLESS=1` rewrites the adapter's messages.

use crate::common;

use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The protocol's schema, if the corpus is present beside the checkout.
fn schema() -> Option<Value> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("shared");
    let path = shared.join("facts").join("dap").join("debugAdapterProtocol.json");
    let bytes = std::fs::read(path).ok()?;
    Some(serde_json::from_slice(&bytes).unwrap())
}

/// Required fields of our messages, for use without the schema.
const REQUIRED: [(&str, &[&str]); 8] = [
    ("response", &["seq", "request_seq", "success", "command"]),
    ("event", &["seq", "event"]),
    ("stopped", &["/body/reason"]),
    ("exited", &["/body/exitCode"]),
    ("threads", &["/body/threads"]),
    ("stackTrace", &["/body/stackFrames"]),
    ("evaluate", &["/body/result", "/body/variablesReference"]),
    ("variables", &["/body/variables"]),
];

/// Validates messages against the schema.
struct Judge {
    schema: Option<Value>,
    validators: HashMap<String, jsonschema::Validator>,
    judged: usize,
}

impl Judge {
    fn new() -> Self {
        Self {
            schema: schema(),
            validators: HashMap::new(),
            judged: 0,
        }
    }

    /// Errors of a message.
    fn faults(&mut self, message: &Value) -> Vec<String> {
        self.judged += 1;
        let Some(schema) = &self.schema else {
            return missing(message);
        };
        let Some(name) = definition(message) else {
            return vec![format!("of no kind: {message}")];
        };
        let known = &schema["definitions"];
        let name = if known.get(&name).is_some() {
            name
        } else {
            "ProtocolMessage".to_owned()
        };
        let validator = self.validators.entry(name.clone()).or_insert_with(|| {
            let one = json!({
                "$schema": schema["$schema"], "$ref": format!("#/definitions/{name}"), "definitions": known,
            });
            jsonschema::validator_for(&one).unwrap()
        });
        validator
            .iter_errors(message)
            .map(|error| format!("{name} {}: {error}", error.instance_path()))
            .collect()
    }
}

/// The schema's name for a kind of message.
fn definition(message: &Value) -> Option<String> {
    let kind = message["type"].as_str()?;
    let (of, ends) = match kind {
        "request" => (&message["command"], "Request"),
        "response" if message["success"] == false => return Some("ErrorResponse".to_owned()),
        "response" => (&message["command"], "Response"),
        "event" => (&message["event"], "Event"),
        _ => return None,
    };
    let name = of.as_str()?;
    Some(name[..1].to_uppercase() + &name[1..] + ends)
}

/// Required fields that a message lacks.
fn missing(message: &Value) -> Vec<String> {
    let kind = message["type"].as_str().unwrap_or_default();
    let name = message["command"]
        .as_str()
        .or(message["event"].as_str())
        .unwrap_or_default();
    let asked =
        |(of, _): &&(&str, &[&str])| *of == kind || *of == name && kind != "request" && message["success"] != false;
    let fields = REQUIRED.iter().filter(asked).flat_map(|(_, fields)| *fields);
    let pointer = |field: &str| {
        if field.starts_with('/') {
            field.to_owned()
        } else {
            format!("/{field}")
        }
    };
    let lacks = fields.filter(|field| message.pointer(&pointer(field)).is_none());
    lacks.map(|field| format!("{name} lacks {field}")).collect()
}

/// A running adapter.
struct Adapter {
    child: Child,
    messages: Receiver<Option<Value>>,
}

impl Adapter {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_skrymir"))
            .arg("dap")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            loop {
                let message = read(&mut output);
                let last = message.is_none();
                if sender.send(message).is_err() || last {
                    return;
                }
            }
        });
        Self { child, messages }
    }

    fn send(&mut self, bytes: &[u8]) {
        let input = self.child.stdin.as_mut().unwrap();
        // The adapter may have exited already; the reply shows it.
        let _ = input.write_all(bytes).and_then(|()| input.flush());
    }

    /// The next message; `None` at the end.
    fn next(&self) -> Option<Value> {
        let next = self.messages.recv_timeout(Duration::from_secs(120));
        next.expect("the adapter answers")
    }

    /// Closes its input; returns its exit code.
    fn end(mut self) -> i32 {
        drop(self.child.stdin.take());
        while matches!(self.messages.recv_timeout(Duration::from_secs(120)), Ok(Some(_))) {}
        self.child.wait().unwrap().code().expect("it was not killed")
    }
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let (mut header, mut blank) = (String::new(), String::new());
    output.read_line(&mut header).ok()?;
    let length = header.strip_prefix("Content-Length: ")?.trim().parse().ok()?;
    output.read_line(&mut blank).ok()?;
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Replaces the paths of folders in a text by their names, or the reverse.
fn placed(text: &str, folders: &[(&str, String)], to_names: bool) -> String {
    folders
        .iter()
        .fold(text.to_owned(), |text, (name, folder)| match to_names {
            true => text.replace(folder, name),
            false => text.replace(name, folder),
        })
}

/// Replays a session; returns the exit code.
fn play(name: &str, judge: &mut Judge, by_registers: bool) -> i32 {
    let work = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        ("${DATA}", common::data("dap").display().to_string()),
        ("${EXAMPLES}", root.join("examples/mali").display().to_string()),
        ("${WORK}", work.path().display().to_string()),
    ];
    let trace = work.path().join("triangle.trace");
    record(&trace);
    if by_registers {
        let (jobs, _) = super::board::by_registers(&std::fs::read(&trace).unwrap());
        std::fs::write(&trace, jobs).unwrap();
    }
    let path = common::data("dap").join(format!("{name}.jsonl"));
    let script = std::fs::read_to_string(&path).unwrap();
    let bless = std::env::var_os("BLESS").is_some();
    let (mut adapter, mut blessed) = (Adapter::start(), String::new());
    for (at, line) in script.lines().enumerate() {
        let mut one: Value = serde_json::from_str(line).unwrap();
        let place = format!("{name}.jsonl, line {}", at + 1);
        if let Some(bytes) = one["raw"].as_str() {
            adapter.send(bytes.as_bytes());
        } else if let Some(message) = one.get("to") {
            let message: Value = serde_json::from_str(&placed(&message.to_string(), &folders, false)).unwrap();
            // Deliberately invalid input is not a message of the protocol.
            if name != "wrong" {
                assert_eq!(judge.faults(&message), [""; 0], "{place}");
            }
            adapter.send(&framed(&message));
        } else {
            if one["from"].is_null() {
                drop(adapter.child.stdin.take());
            }
            let got = adapter.next();
            if let Some(message) = &got {
                assert_eq!(judge.faults(message), [""; 0], "{place}");
            }
            let got = got.map_or("null".to_owned(), |message| {
                placed(&message.to_string(), &folders, true)
            });
            let got: Value = serde_json::from_str(&got).unwrap();
            assert!(
                bless || got == one["from"],
                "{place}:\n{got:#}\nis not\n{:#}",
                one["from"]
            );
            one["from"] = got;
        }
        blessed += &format!("{one}\n");
    }
    if bless {
        std::fs::write(&path, blessed).unwrap();
    }
    adapter.end()
}

/// A recording of the triangle.
fn record(path: &Path) {
    let example = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mali").join(name);
    let done = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(["draw", "--size", "32x32", "--record"])
        .args([path, &example("triangle.vert.s"), &example("triangle.frag.s")])
        .status();
    assert!(done.unwrap().success());
}

#[test]
fn recorded_sessions_play_again() {
    let mut judge = Judge::new();
    let ends: Vec<i32> = ["source", "recording", "fault", "wrong"]
        .map(|name| play(name, &mut judge, false))
        .into();
    // Only a client whose messages cannot be separated is an error.
    assert_eq!(ends, [0, 0, 0, 1]);
    // A recording of the device on a bus can be stepped like any other.
    assert_eq!(play("recording", &mut judge, true), 0);
    let against = if judge.schema.is_some() {
        "the schema"
    } else {
        "a list of fields"
    };
    println!("{} messages held against {against}", judge.judged);
    assert!(judge.judged > 200);
}

#[test]
fn the_validator_finds_errors() {
    let mut judge = Judge::new();
    let good = json!({
        "seq": 1, "type": "event", "event": "stopped", "body": { "reason": "step", "threadId": 1 },
    });
    assert_eq!(judge.faults(&good), [""; 0]);
    let mut bad = good.clone();
    bad["body"].as_object_mut().unwrap().remove("reason");
    assert_eq!(judge.faults(&bad).len(), 1);
    let mut bad = good;
    bad.as_object_mut().unwrap().remove("seq");
    assert!(!judge.faults(&bad).is_empty());
}

/// Sends requests, and waits for the last one's reply, for an event, or for the end.
fn talk(adapter: &mut Adapter, sequence: &mut u64, requests: &[(&str, Value)], until: &str) -> Value {
    for (command, arguments) in requests {
        *sequence += 1;
        let request = json!({ "seq": *sequence, "type": "request", "command": command, "arguments": arguments });
        adapter.send(&framed(&request));
    }
    loop {
        let message = adapter.next().expect("an answer");
        let ends = !until.is_empty() && message["event"] == "terminated";
        if ends || message["event"] == until || message["request_seq"] == *sequence && until.is_empty() {
            return message;
        }
    }
}

/// The values of a fragment stepped to its end equal the plain engine's.
#[test]
fn stepped_fragments_are_the_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let data = |name: &str| common::data("dap").join(name).display().to_string();
    let picture = folder.path().join("a.png");
    let drawn = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args([
            "draw",
            &data("lit.vert"),
            &data("lit.frag"),
            "--size",
            "32x32",
            "--engine",
            "scalar",
            "-o",
        ])
        .arg(&picture)
        .status();
    assert!(drawn.unwrap().success());
    let picture = skrymir::picture::Picture::load(&picture).unwrap();
    for (x, y) in [(16, 16), (12, 20), (15, 4), (20, 27)] {
        let (mut adapter, mut at) = (Adapter::start(), 0);
        let launch = json!({
            "vertex": data("lit.vert"), "fragment": data("lit.frag"), "size": [32, 32], "pixel": [x, y], "stopOnEntry": true,
        });
        let begin = [
            ("initialize", json!({ "adapterID": "skrymir" })),
            ("launch", launch),
            ("configurationDone", json!({})),
        ];
        talk(&mut adapter, &mut at, &begin, "stopped");
        let thread = 1 + (x & 1) + 2 * (y & 1);
        let frame = |adapter: &mut Adapter, at: &mut u64| {
            let asked = [("stackTrace", json!({ "threadId": thread }))];
            let reply = talk(adapter, at, &asked, "");
            reply["body"]["stackFrames"][0]["name"].as_str().unwrap().to_owned()
        };
        let mut steps = 0;
        while !frame(&mut adapter, &mut at).ends_with("ended") {
            let step = [("next", json!({ "threadId": thread, "granularity": "instruction" }))];
            talk(&mut adapter, &mut at, &step, "stopped");
            steps += 1;
        }
        let channel = |letter: char, adapter: &mut Adapter, at: &mut u64| -> u8 {
            let asked = json!({ "expression": format!("$0.{letter}"), "frameId": thread });
            let reply = talk(adapter, at, &[("evaluate", asked)], "");
            let text = reply["body"]["result"].as_str().unwrap().to_owned();
            let value: f32 = text.split(' ').next().unwrap().parse().unwrap();
            (value.clamp(0.0, 1.0) * 255.0).round() as u8
        };
        let color = ['x', 'y', 'z', 'w'].map(|letter| channel(letter, &mut adapter, &mut at));
        assert_eq!(color, picture.at(x, y), "{x},{y}");
        assert!(steps >= 3, "{steps}");
        assert_eq!(adapter.end(), 0);
    }
}

/// A pair with a function, local variables, a matrix and a structure, all of which have names.
const NAMED: [&str; 2] = [
    "attribute vec4 position;
attribute vec3 color;
uniform mat4 turn;
varying vec3 tint;

void main() {
    vec4 turned = turn * position;
    gl_Position = turned;
    tint = color * 0.5;
}
",
    "precision mediump float;
varying vec3 tint;
uniform float bright;
uniform vec3 lamp;

float power(vec3 light) {
    float sum = light.x * lamp.x + light.y * lamp.y;
    return sqrt(sum) + bright;
}

void main() {
    vec3 light = tint * bright;
    float strong = power(light.zyx);
    gl_FragColor = vec4(light * strong, 1.0);
}
",
];

/// The names and values that a thread's frame shows, by scope.
fn shown(adapter: &mut Adapter, at: &mut u64, frame: u64) -> HashMap<String, Vec<(String, String)>> {
    let scopes = talk(adapter, at, &[("scopes", json!({ "frameId": frame }))], "");
    let mut all = HashMap::new();
    for scope in scopes["body"]["scopes"].as_array().unwrap() {
        let asked = json!({ "variablesReference": scope["variablesReference"] });
        let reply = talk(adapter, at, &[("variables", asked)], "");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let rows = reply["body"]["variables"].as_array().unwrap().iter();
        let rows = rows.map(|row| (text(&row["name"]), text(&row["value"]))).collect();
        all.insert(text(&scope["name"]), rows);
    }
    all
}

/// Functions, local variables, varyings and uniforms of a source have their names.
#[test]
fn names_of_the_source_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["a.vert", "a.frag"].map(|name| folder.path().join(name));
    for (file, text) in files.iter().zip(NAMED) {
        std::fs::write(file, text).unwrap();
    }
    let scene = folder.path().join("scene.json");
    std::fs::write(&scene, r#"{"uniform": {"bright": 0.5, "lamp": [1, 0.5, 0]}}"#).unwrap();
    let launch = json!({
        "vertex": files[0], "fragment": files[1], "scene": scene, "size": [32, 32], "pixel": [16, 16], "stopOnEntry": true,
    });
    let begin = [
        ("initialize", json!({ "adapterID": "skrymir" })),
        ("launch", launch.clone()),
        ("configurationDone", json!({})),
    ];
    let (mut adapter, mut at) = (Adapter::start(), 0);
    talk(&mut adapter, &mut at, &begin, "stopped");
    let (mut functions, mut seen) = (Vec::new(), HashMap::new());
    let names = loop {
        let reply = talk(&mut adapter, &mut at, &[("stackTrace", json!({ "threadId": 1 }))], "");
        let frames = reply["body"]["stackFrames"].as_array().unwrap().clone();
        let name = |frame: &Value| frame["name"].as_str().unwrap().split(',').next().unwrap().to_owned();
        let stack: Vec<String> = frames.iter().map(name).collect();
        functions.extend(stack.first().cloned());
        if stack == ["power", "main"] {
            // The line of the call, with the caller's names.
            assert_eq!(frames[1]["line"], 13, "{frames:?}");
            let outer = shown(&mut adapter, &mut at, frames[1]["id"].as_u64().unwrap());
            seen.extend(outer.get("Locals of the source").cloned().into_iter().flatten());
        }
        let names = shown(&mut adapter, &mut at, 1);
        seen.extend(names.get("Locals of the source").cloned().into_iter().flatten());
        if frames[0]["name"].as_str().unwrap().ends_with("ended") {
            break names;
        }
        let step = [("next", json!({ "threadId": 1, "granularity": "instruction" }))];
        talk(&mut adapter, &mut at, &step, "stopped");
    };
    assert!(
        functions.contains(&"power".to_owned()) && functions.contains(&"main".to_owned()),
        "{functions:?}"
    );
    let of = |scope: &str| names[scope].iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(of("Varyings of the source"), ["tint"]);
    assert_eq!(
        of("Uniforms of the source")
            .iter()
            .filter(|name| ["bright", "lamp"].contains(&name.as_str()))
            .count(),
        2
    );
    for local in ["light", "strong", "sum"] {
        assert!(seen.keys().any(|name| name == local), "{local}: {seen:?}");
    }
    // Values are those of the source's formulas: light = tint * bright.
    let mut number = |expression: &str| -> Vec<f32> {
        let asked = [("evaluate", json!({ "expression": expression, "frameId": 1 }))];
        let reply = talk(&mut adapter, &mut at, &asked, "");
        let text = reply["body"]["result"]
            .as_str()
            .unwrap_or_else(|| panic!("{expression}: {reply}"))
            .to_owned();
        text.split(", ")
            .map(|one| one.split(' ').next().unwrap().parse().unwrap())
            .collect()
    };
    let (light, wanted, strong) = (number("light"), number("tint * bright"), number("strong")[0]);
    assert_eq!((light.len(), number("bright")), (3, vec![0.5]));
    assert!(
        light.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-2),
        "{light:?} {wanted:?}"
    );
    let power = (light[2] + light[1] * 0.5).sqrt() + 0.5;
    assert!((strong - power).abs() < 1e-2, "{strong} {power}");
    assert_eq!(adapter.end(), 0);
}

/// Programs of a recording get the names of MBS with their symbols, or of sources.
#[test]
fn symbols_name_the_programs_of_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let data = |name: &str| common::data("dap").join(name).display().to_string();
    let run = |arguments: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_skrymir"))
            .args(arguments)
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
    };
    run(&[
        "draw",
        &data("lit.vert"),
        &data("lit.frag"),
        "--size",
        "32x32",
        "--record",
        &at("lit.trace"),
    ]);
    run(&["compile", &data("lit.frag"), "-o", &at("lit.mbs")]);
    for (symbols, has_lines) in [
        (json!([]), false),
        (json!(["lit.mbs"]), false),
        (json!([data("lit.frag")]), true),
    ] {
        let launch = json!({
            "program": "lit.trace", "symbols": symbols, "cwd": folder.path(), "pixel": [16, 16], "stopOnEntry": true,
        });
        let begin = [
            ("initialize", json!({ "adapterID": "skrymir" })),
            ("launch", launch),
            ("configurationDone", json!({})),
        ];
        let (mut adapter, mut sequence) = (Adapter::start(), 0);
        talk(&mut adapter, &mut sequence, &begin, "stopped");
        let names = shown(&mut adapter, &mut sequence, 1);
        let is_named = symbols != json!([]);
        assert_eq!(
            names.contains_key("Varyings of the source"),
            is_named,
            "{symbols}: {names:?}"
        );
        if is_named {
            assert!(
                names["Uniforms of the source"].iter().any(|(name, _)| name == "bright"),
                "{names:?}"
            );
        }
        let reply = talk(
            &mut adapter,
            &mut sequence,
            &[("stackTrace", json!({ "threadId": 1 }))],
            "",
        );
        assert_eq!(
            reply["body"]["stackFrames"][0]["source"]["path"].is_string(),
            has_lines,
            "{reply}"
        );
        assert_eq!(adapter.end(), 0);
    }
}

/// A running program can be paused, and ends with the client.
#[test]
fn a_run_can_be_paused_and_given_up() {
    let data = |name: &str| common::data("dap").join(name).display().to_string();
    let mut adapter = Adapter::start();
    let launch = json!({ "vertex": data("lit.vert"), "fragment": data("lit.frag"), "size": [512, 512] });
    let requests = [
        ("initialize", json!({ "adapterID": "skrymir" })),
        ("launch", launch),
        ("configurationDone", json!({})),
        ("pause", json!({ "threadId": 1 })),
    ];
    for (at, (command, arguments)) in requests.into_iter().enumerate() {
        let request = json!({ "seq": at + 1, "type": "request", "command": command, "arguments": arguments });
        adapter.send(&framed(&request));
    }
    let stopped = loop {
        let message = adapter.next().expect("a stop");
        assert_ne!(message["event"], "terminated", "it was paused before its end");
        if message["event"] == "stopped" {
            break message;
        }
    };
    assert_eq!(stopped["body"]["reason"], "pause");
    // The client continues and disconnects.
    let request = json!({ "seq": 9, "type": "request", "command": "continue", "arguments": { "threadId": 1 } });
    adapter.send(&framed(&request));
    assert_eq!(adapter.end(), 0);
}

/// Recordings of a real driver can be stepped forwards and backwards.
#[test]
fn recordings_of_a_real_driver_can_be_stepped() {
    let Some(folder) = common::corpus("mali") else { return };
    let mut judge = Judge::new();
    let files = common::recordings(&folder);
    for path in &files {
        let (mut adapter, mut at) = (Adapter::start(), 0);
        let begin = [
            ("initialize", json!({ "adapterID": "skrymir" })),
            ("launch", json!({ "program": path, "stopOnEntry": true })),
            ("configurationDone", json!({})),
        ];
        // A job that only clears has no programs to step through.
        let begun = talk(&mut adapter, &mut at, &begin, "stopped");
        if begun["event"] == "terminated" {
            assert_eq!((adapter.end(), path.file_stem()), (0, Some("ff_clear_only".as_ref())));
            continue;
        }
        let place = |adapter: &mut Adapter, at: &mut u64, judge: &mut Judge| {
            let reply = talk(adapter, at, &[("stackTrace", json!({ "threadId": 1 }))], "");
            assert_eq!(judge.faults(&reply), [""; 0], "{}", path.display());
            reply["body"]["stackFrames"][0]["instructionPointerReference"].clone()
        };
        let first = place(&mut adapter, &mut at, &mut judge);
        let step = [("next", json!({ "threadId": 1, "granularity": "instruction" }))];
        talk(&mut adapter, &mut at, &step, "stopped");
        let second = place(&mut adapter, &mut at, &mut judge);
        assert_ne!(first, second, "{}", path.display());
        talk(
            &mut adapter,
            &mut at,
            &[("stepBack", json!({ "threadId": 1 }))],
            "stopped",
        );
        assert_eq!(first, place(&mut adapter, &mut at, &mut judge), "{}", path.display());
        let scopes = talk(&mut adapter, &mut at, &[("scopes", json!({ "frameId": 1 }))], "");
        assert_eq!(judge.faults(&scopes), [""; 0], "{}", path.display());
        assert_eq!(adapter.end(), 0);
    }
    println!("{} recordings stepped there and back", files.len());
}
