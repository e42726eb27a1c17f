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
