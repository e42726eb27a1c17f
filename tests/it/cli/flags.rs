//! Every flag of every verb, with every kind of file: a flag changes what is printed or written, or it is an error.
//!
//! The verbs and flags are those of clap's own description. A flag is tried by comparing two commands that differ in it
//! alone. A flag that says how something is done, not what, is in [`UNSEEN`], for the kinds that have a use for it.

use crate::common;
use skrymir::loader;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Verbs with a test of their own, below and of all topics.
const OTHER_VERBS: [&str; 2] = ["gles", "help"];

/// Verbs that read no file, and their arguments.
const FILELESS: [(&str, &[&str]); 5] = [
    ("dap", &[]),
    ("devices", &[]),
    ("schema", &["run"]),
    ("completions", &["bash"]),
    ("man", &[]),
];

/// Flags of all verbs that say how much is said, and hidden ones.
const OTHER_FLAGS: [&str; 5] = ["quiet", "verbose", "help", "version", "lines"];

/// Flags with which a command does not end.
const ENDLESS: [&str; 3] = ["watch", "serve", "view"];

/// Every kind of file.
const KINDS: [&str; 19] = [
    "glsl",
    "essl",
    "wgsl",
    "hlsl",
    "compute",
    "spirv",
    "vbc",
    "mbs",
    "program",
    "gp",
    "pp",
    "sksl",
    "sl",
    "recording",
    "script",
    "scene",
    "spvasm",
    "s0",
    "png",
];

/// Kinds that are drawn on a Vulkan device.
const DRAWN: &[&str] = &["glsl", "essl", "wgsl", "hlsl", "spirv", "vbc", "sksl"];

/// Kinds that run on a Vulkan device.
const RUN: &[&str] = &[
    "glsl", "essl", "wgsl", "hlsl", "spirv", "vbc", "sksl", "compute", "script",
];

/// Kinds that are pairs for the emulator.
const PAIRS: &[&str] = &["glsl", "essl", "wgsl", "hlsl", "spirv", "vbc", "sksl", "mbs", "program"];

/// Files that verbs take.
const TAKEN: &[(&str, &[&str])] = &[
    ("info", &["spirv", "vbc", "mbs", "gp", "pp", "sksl", "sl", "recording"]),
    ("check", &["spirv", "vbc", "mbs", "gp", "pp", "sksl", "sl", "recording"]),
    ("rewrite", &["vbc", "mbs", "gp", "pp", "sksl", "sl", "recording"]),
    ("dis", &["spirv", "vbc", "mbs", "gp", "pp", "sksl", "sl"]),
    ("as", &["program", "s0", "spvasm"]),
    ("run", RUN),
    ("run", &["mbs", "program", "sl"]),
    ("compile", DRAWN),
    (
        "convert",
        &[
            "glsl",
            "essl",
            "wgsl",
            "hlsl",
            "compute",
            "spirv",
            "vbc",
            "mbs",
            "program",
            "gp",
            "pp",
            "sksl",
            "recording",
        ],
    ),
    ("pack", DRAWN),
    ("reflect", &["vbc"]),
    ("draw", &["glsl", "essl", "hlsl", "spirv", "vbc", "mbs", "program"]),
    ("replay", &["recording"]),
    ("diff", &["recording"]),
    ("trim", &["recording"]),
    ("inspect", &["recording"]),
    ("compare", &["png"]),
    ("grammar", &["small"]),
    ("dap", &["none"]),
    ("devices", &["none"]),
    ("schema", &["none"]),
    ("completions", &["none"]),
    ("man", &["none"]),
];

/// Flags without an effect that is seen, by verb, and the kinds that they are for.
const UNSEEN: &[(&str, &str, &[&str])] = &[
    // Nothing is a terminal here.
    ("dis", "no-color", &["spirv", "vbc"]),
    // The default.
    ("reflect", "json", &["vbc"]),
    // Words are written as they were read, as the file is that they are in.
    ("rewrite", "pp", &["mbs", "sl"]),
    // These programs need no other combination.
    (
        "compile",
        "conservative",
        &["glsl", "essl", "wgsl", "hlsl", "spirv", "vbc", "sksl"],
    ),
    // Pictures are the same in every way of making them.
    ("draw", "engine", PAIRS),
    ("draw", "threads", PAIRS),
    ("draw", "no-fast-paths", PAIRS),
    ("draw", "silicon", PAIRS),
    ("replay", "threads", &["recording"]),
    ("replay", "no-fast-paths", &["recording"]),
    ("replay", "silicon", &["recording"]),
    // The script holds by way of every language.
    ("run", "through", &["script"]),
    ("run", "bind", DRAWN),
    ("run", "timeout", RUN),
    ("run", "unchecked", RUN),
    ("run", "validation", RUN),
];

/// The values of a flag that takes one, and flags that it needs beside it.
fn value(verb: &str, flag: &str, kind: &str) -> (Vec<&'static str>, Vec<&'static str>) {
    let alone = |value| (Vec::new(), vec![value]);
    match (verb, flag) {
        (_, "as") if kind == "sl" => alone("vbc"),
        (_, "as") => alone("sl"),
        (_, "extract") => alone("inside"),
        (_, "output") => alone("other.out"),
        (_, "grammar") => alone("broken.grammar.json"),
        (_, "target-env") => alone("spv1.0"),
        ("dis", "stage") => alone("vert"),
        ("convert", "stage") if kind == "gp" => alone("frag"),
        ("compile" | "convert", "stage") => alone("vert"),
        (_, "entry" | "module") => alone("nothing"),
        (_, "define") => alone("RED"),
        (_, "include") => (vec!["-D", "PART"], vec!["parts"]),
        (_, "constant") => alone("scale=0.5"),
        (_, "size") => alone("8x8"),
        (_, "vertices") => alone("1"),
        (_, "scene") => alone("scene.toml"),
        (_, "set") => alone("tint=0,0,0,1"),
        (_, "time") => alone("0.5"),
        ("inspect", "frames") => (vec!["--pixel", "1,1"], vec!["7"]),
        (_, "frames") => alone("2"),
        (_, "rate") => (vec!["--frames", "2"], vec!["10"]),
        (_, "device") => alone("nonsense"),
        ("run", "bind") => alone("lowered"),
        ("convert", "bind") => alone("1.0=2.5"),
        (_, "read") => alone("0=read.bin"),
        (_, "timeout") => alone("1000"),
        ("trim", "expect") => (vec!["--shrink", "--pixel", "1,1"], vec!["ff0000"]),
        (_, "expect") => alone("other.png"),
        ("compare", "tolerance") => alone("255"),
        ("compare", "allow") => (vec!["--tolerance", "0"], vec!["100"]),
        (_, "tolerance") => (vec!["--expect", "other.png"], vec!["255"]),
        (_, "allow") => (vec!["--expect", "other.png"], vec!["100"]),
        (_, "diff") => (vec!["--expect", "other.png"], vec!["difference.png"]),
        (_, "dispatch") => alone("3"),
        (_, "local-size") => (vec!["--dispatch", "1"], vec!["2"]),
        (_, "cache") => alone("cached"),
        (_, "fuel") => alone("1"),
        (_, "filter") => alone("zzz"),
        (_, "keep") => alone("kept"),
        (_, "junit") => alone("verdicts.xml"),
        (_, "through") => alone("naga"),
        (_, "profile") if verb == "convert" => (vec!["--to", "glsl"], vec!["es310"]),
        (_, "shader-model") => (vec!["--to", "hlsl", "--json"], vec!["67"]),
        (_, "metal-version") => (vec!["--to", "msl", "--json"], vec!["3.0"]),
        (_, "rename") => alone("tint=colour"),
        (_, "rename-entry") => alone("other"),
        (_, "depth") => alone("to-gl"),
        (_, "viewport") => alone("nothing"),
        (_, "job") => (vec!["--draw", "0"], vec!["1"]),
        (_, "draw") => (vec!["--job", "0"], vec!["1"]),
        (_, "to") => alone("msl"),
        (_, "vert" | "frag" | "tesc" | "tese" | "geom") => alone("missing.spv"),
        (_, "names") => alone("names.toml"),
        (_, "record") => alone("record.trace"),
        ("draw", "engine") => alone("wide"),
        (_, "engine") => alone("vulkan"),
        (_, "threads") => alone("1"),
        (_, "silicon") => alone("zero-wins"),
        (_, "trace") => alone("steps.txt"),
        (_, "watch-pixel") => alone("1,1"),
        (_, "lcov") => alone("cover.info"),
        (_, "jobs") => alone("0"),
        ("inspect", "pixel") => alone("1,1"),
        (_, "pixel") => (vec!["--shrink"], vec!["1,1"]),
        (_, "against") => (vec!["--shrink", "--pixel", "1,1"], vec!["wide"]),
        (_, "tries") => (vec!["--shrink", "--pixel", "1,1"], vec!["1"]),
        (_, "generate") => alone("made.grammar"),
        ("man", "folder") => alone("pages"),
        _ => panic!("{verb} --{flag}: a flag that this test has no value for"),
    }
}

/// Flags that a flag without a value needs beside it.
fn beside(verb: &str, flag: &str) -> Vec<&'static str> {
    match (verb, flag) {
        ("convert", "no-check") => vec!["--json"],
        ("trim", "shrink") => vec!["--pixel", "1,1"],
        // Where the script is unsupported.
        ("run", "strict") => vec!["--device", "mali400"],
        _ => vec![],
    }
}

/// A file's arguments for a verb: each with the flag that it is of, if it is one.
fn command(verb: &str, kind: &str, file: &str) -> Vec<(Option<&'static str>, Vec<String>)> {
    let own = |text: &str| vec![text.to_owned()];
    let flag = |name: &'static str, arguments: &[&str]| {
        (
            Some(name),
            arguments.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>(),
        )
    };
    if let Some((_, arguments)) = FILELESS.iter().find(|(fileless, _)| *fileless == verb) {
        return arguments.iter().map(|one| (None, own(one))).collect();
    }
    let mut all = match verb {
        "pack" => vec![
            flag("vert", &["--vert", "INPUT/whole.vert"]),
            (Some("frag"), vec!["--frag".to_owned(), file.to_owned()]),
        ],
        "draw" if kind == "essl" => vec![(None, vec!["INPUT/old.vert".to_owned(), file.to_owned()])],
        "draw" if ["glsl", "hlsl", "spirv"].contains(&kind) => {
            vec![(None, vec!["INPUT/whole.vert".to_owned(), file.to_owned()])]
        }
        "diff" => vec![(None, vec![file.to_owned(), file.to_owned()])],
        "compare" => vec![
            (None, vec![file.to_owned(), "INPUT/other.png".to_owned()]),
            flag("tolerance", &["--tolerance", "255"]),
        ],
        _ => vec![(None, own(file))],
    };
    match (verb, kind) {
        ("info" | "check" | "dis" | "rewrite" | "convert", "gp") => all.push(flag("gp", &["--gp"])),
        ("info" | "check" | "dis" | "rewrite" | "convert", "pp") => all.push(flag("pp", &["--pp"])),
        _ => {}
    }
    match (verb, kind) {
        ("dis" | "convert", "vbc") | ("convert", "mbs" | "program") => all.push(flag("stage", &["--stage", "frag"])),
        ("compile", "spirv" | "vbc") => all.push(flag("stage", &["--stage", "frag"])),
        ("convert", "recording") => {
            all.push(flag("job", &["--job", "0"]));
            all.push(flag("draw", &["--draw", "0"]));
            all.push(flag("stage", &["--stage", "frag"]));
        }
        ("run", "compute") => {
            all.push(flag("dispatch", &["--dispatch", "1"]));
            all.push(flag("read", &["--read", "1=to.bin", "--read", "2=picture.bin"]));
        }
        ("run", "sl" | "script") => {}
        ("run" | "draw", _) => {
            all.push(flag("size", &["--size", "4x4"]));
            all.push(flag("output", &["-o", "out.png"]));
        }
        _ => {}
    }
    match verb {
        "convert" => all.push(flag("to", &["--to", "wgsl"])),
        "rewrite" | "as" | "compile" | "pack" | "trim" => all.push(flag("output", &["-o", "made.out"])),
        "replay" => all.push(flag("output", &["-o", "out.png"])),
        "inspect" => all.push(flag("output", &["-o", "page.html"])),
        _ => {}
    }
    all
}

/// The inputs, in a folder.
struct Inputs(tempfile::TempDir);

impl Inputs {
    fn make() -> Self {
        let inputs = Self(tempfile::tempdir().unwrap());
        for (name, text) in TEXTS {
            inputs.put(name, text.as_bytes());
        }
        std::fs::create_dir(inputs.path("parts")).unwrap();
        inputs.put("parts/part.glsl", b"const float part = 0.25;\n");
        let data = |name: &str| std::fs::read(common::data(name)).unwrap();
        inputs.put(
            "sksl.bin",
            &loader::sksl::write(&crate::sksl::samples::effect()).unwrap(),
        );
        inputs.put("s0.s0", &data("sl/hello.s0"));
        let mali = |name: &str| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mali").join(name);
            std::fs::read_to_string(path).unwrap()
        };
        let pair = mali("triangle.vert.s") + &mali("triangle.frag.s");
        inputs.put("program.s", pair.as_bytes());
        for (arguments, output) in [
            (&["as", "program.s"][..], "mbs.mbs"),
            (&["as", "program.s", "--gp"], "gp.bin"),
            (&["as", "program.s", "--pp"], "pp.bin"),
            (&["as", "s0.s0"], "plain.sl"),
            (&["convert", "glsl.frag", "--to", "spirv"], "spirv.spv"),
            (&["pack", "--vert", "whole.vert", "--frag", "glsl.frag"], "vbc.vbc"),
            (&["draw", "program.s", "--size", "4x4"], "png.png"),
            (&["draw", "old.vert", "white.frag", "--size", "4x4"], "other.png"),
        ] {
            inputs.made(&[arguments, &["-o", output]].concat());
        }
        let plain = std::fs::read(inputs.path("plain.sl")).unwrap();
        let mut library = loader::sl::read(&plain).unwrap();
        library.constants.push(b"unused".into());
        inputs.put("sl.sl", &loader::sl::write(&library).unwrap());
        inputs.made(&["draw", "program.s", "--size", "4x4", "--record", "recording.trace"]);
        inputs
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    fn made(&self, arguments: &[&str]) {
        let output = Command::new(env!("CARGO_BIN_EXE_skrymir"))
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
    }

    /// The file of a kind.
    fn file(&self, kind: &str) -> String {
        let files = std::fs::read_dir(self.0.path())
            .unwrap()
            .flatten()
            .map(|entry| entry.path());
        let mut named =
            files.filter(|path| path.file_name().unwrap().to_string_lossy().split('.').next() == Some(kind));
        named
            .next()
            .unwrap_or_else(|| panic!("no {kind}"))
            .display()
            .to_string()
    }
}

const TEXTS: [(&str, &str); 14] = [
    (
        "glsl.frag",
        "#version 450\nlayout(set = 1, binding = 0) uniform Values { vec4 tint; float time; };\n\
         layout(location = 0) out vec4 color;\n\
         #ifdef PART\n#include \"part.glsl\"\n#else\nconst float part = 0.5;\n#endif\n\
         #ifdef RED\nconst vec4 red = vec4(1.0, 0.0, 0.0, 1.0);\n#else\nconst vec4 red = vec4(1.0);\n#endif\n\
         void main() { color = red * tint * part + vec4(time); }\n",
    ),
    (
        "essl.frag",
        "precision mediump float;\nuniform vec4 tint;\nuniform float time;\n\
         #ifdef PART\n#include \"part.glsl\"\n#else\nconst float part = 0.5;\n#endif\n\
         #ifdef RED\nconst vec4 red = vec4(1.0, 0.0, 0.0, 1.0);\n#else\nconst vec4 red = vec4(1.0);\n#endif\n\
         void main() { gl_FragColor = red * tint * part + vec4(time); }\n",
    ),
    (
        "wgsl.wgsl",
        "override scale: f32 = 1.0;\nstruct Values { tint: vec4f, time: f32 }\n\
         @group(1) @binding(0) var<uniform> values: Values;\n\
         @fragment fn main() -> @location(0) vec4f { return values.tint * scale * 0.5 + vec4f(values.time); }\n",
    ),
    (
        "hlsl.frag.hlsl",
        "cbuffer Values : register(b0) { float4 tint; float time; };\n\
         #ifdef PART\n#include \"part.glsl\"\n#else\nstatic const float part = 0.5;\n#endif\n\
         #ifdef RED\nstatic const float4 red = float4(1, 0, 0, 1);\n#else\nstatic const float4 red = 1;\n#endif\n\
         float4 main() : SV_Target { return red * tint * part + time; }\n",
    ),
    (
        "compute.comp",
        "#version 450\nlayout(local_size_x = 1) in;\nlayout(constant_id = 3) const uint scale = 1;\n\
         layout(binding = 0) uniform Values { float tint; float time; };\n\
         layout(binding = 1) buffer To { float to[]; };\nlayout(binding = 2, rgba8) uniform writeonly image2D picture;\n\
         #ifdef PART\n#include \"part.glsl\"\n#else\nconst float part = 0.5;\n#endif\n\
         #ifdef RED\nconst float red = 2.0;\n#else\nconst float red = 1.0;\n#endif\n\
         void main() { to[gl_GlobalInvocationID.x] = part * red * tint * float(scale) + time;\n\
         imageStore(picture, ivec2(gl_WorkGroupID.x, 0), vec4(0.5)); }\n",
    ),
    (
        "spvasm.spvasm",
        "; SPIR-V\n; Version: 1.3\n; Generator: Khronos; 7\n; Bound: 90\n; Schema: 0\n\
         OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n%80 = OpTypeVoid\n%70 = OpTypeFunction %80\n",
    ),
    (
        "whole.vert",
        "#version 450\n#ifdef PART\n#include \"part.glsl\"\n#else\nconst float part = 4.0;\n#endif\n\
         #ifdef RED\nconst float red = 0.5;\n#else\nconst float red = 1.0;\n#endif\n\
         void main() { vec2 uv = vec2(float(gl_VertexIndex & 1), float(gl_VertexIndex >> 1));\n\
         gl_Position = vec4(uv * part * red - 1.0, 0.0, 1.0); }\n",
    ),
    (
        "old.vert",
        "attribute vec4 position;\nvoid main() { gl_Position = position; }\n",
    ),
    ("white.frag", "void main() { gl_FragColor = vec4(1.0); }\n"),
    ("scene.toml", "vertices = 1\n"),
    ("names.toml", "uniform = [\"a\", \"b\"]\n"),
    ("broken.grammar.json", "{ \"instructions\": 3 }\n"),
    (
        "script.amber",
        "#!amber\nSHADER compute fill GLSL\n#version 450\nlayout(local_size_x = 1) in;\n\
         layout(set = 0, binding = 0) buffer Out { int value; };\nvoid main() { value = 3; }\nEND\n\
         BUFFER out DATA_TYPE int32 DATA 0 END\nPIPELINE compute p\n  ATTACH fill\n\
         \x20 BIND BUFFER out AS storage DESCRIPTOR_SET 0 BINDING 0\nEND\nRUN p 1 1 1\nEXPECT out IDX 0 EQ 3\n",
    ),
    (
        "small.grammar.json",
        "{\"revision\": 3, \"instructions\": [{\"opname\": \"Twice\", \"opcode\": 1, \"operands\": [{\"kind\": \"IdRef\"}]}]}\n",
    ),
];

/// What a command prints and writes; nothing of one that does not end.
#[derive(Clone, PartialEq, Eq)]
struct Effect {
    code: Option<i32>,
    printed: [Vec<u8>; 2],
    files: BTreeMap<String, Vec<u8>>,
}

/// Inputs that flags name.
const BESIDE: [&str; 5] = [
    "parts/part.glsl",
    "broken.grammar.json",
    "scene.toml",
    "names.toml",
    "other.png",
];

/// Runs a command in a folder of its own, with copies of the inputs that flags name.
fn effect(inputs: &Inputs, arguments: &[String], endless: bool) -> Effect {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    std::fs::create_dir(place("parts")).unwrap();
    for name in BESIDE {
        std::fs::copy(inputs.path(name), place(name)).unwrap();
    }
    let root = inputs.0.path().display().to_string();
    let arguments = arguments.iter().map(|argument| argument.replace("INPUT", &root));
    let (out, err) = (place(".out"), place(".err"));
    let to = |path: &Path| Stdio::from(std::fs::File::create(path).unwrap());
    let mut child = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(arguments)
        .current_dir(folder.path())
        .env("XDG_CACHE_HOME", place("cache"))
        .env("HOME", folder.path())
        .stdin(Stdio::null())
        .stdout(to(&out))
        .stderr(to(&err))
        .spawn()
        .unwrap();
    let start = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        if endless && start.elapsed() > Duration::from_secs(2) {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let printed = [&out, &err].map(|path| without_times(&std::fs::read(path).unwrap()));
    let mut files = BTreeMap::new();
    gather(folder.path(), folder.path(), &mut files);
    Effect { code, printed, files }
}

/// What is printed, without a script's time and memory, which differ from run to run.
fn without_times(printed: &[u8]) -> Vec<u8> {
    let lines = printed.split_inclusive(|byte| *byte == b'\n').map(|line| {
        let text = String::from_utf8_lossy(line);
        match text.split_once(" in ").filter(|_| text.ends_with(" MiB a process\n")) {
            Some((counts, _)) => counts.as_bytes().to_vec(),
            None => line.to_vec(),
        }
    });
    lines.flatten().collect()
}

/// The files of a folder, without those that begin with a dot.
fn gather(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let name = path.strip_prefix(root).unwrap().display().to_string();
        if kind.is_dir() {
            gather(root, &path, files);
        } else if kind.is_file() && !name.starts_with('.') {
            // The contents of the pipeline cache are the driver's, and may differ each time.
            let bytes = if name.starts_with("cache/") {
                Vec::new()
            } else {
                std::fs::read(&path).unwrap()
            };
            files.insert(name, bytes);
        }
    }
}

/// A flag to try.
struct Trial {
    verb: &'static str,
    kind: &'static str,
    flag: String,
    /// Commands without the flag and with it: with what it needs beside it, and without.
    pairs: Vec<[Vec<String>; 2]>,
}

/// The flags of a verb with a kind of file.
fn trials(verb: &'static str, flags: &[(String, bool)], kind: &'static str, file: &str) -> Vec<Trial> {
    let base = command(verb, kind, file);
    let trial = |(flag, takes): &(String, bool)| {
        let (companions, values) = match takes {
            true => value(verb, flag, kind),
            false => (beside(verb, flag), Vec::new()),
        };
        let pair = |companions: &[&str]| {
            // A flag replaces itself, and its companions those of the command.
            let replaced = |name: &str| companions.iter().any(|one| one.strip_prefix("--") == Some(name));
            let is_kept = |name: &Option<&str>| name.is_none_or(|name| name != flag && !replaced(name));
            let kept = base.iter().filter(|(name, _)| is_kept(name));
            let mut without = vec![verb.to_owned()];
            without.extend(kept.flat_map(|(_, arguments)| arguments.clone()));
            without.extend(companions.iter().map(|one| (*one).to_owned()));
            let mut with = without.clone();
            with.push(format!("--{flag}"));
            with.extend(values.iter().map(|one| (*one).to_owned()));
            [without, with]
        };
        let mut pairs = vec![pair(&companions)];
        if !companions.is_empty() {
            pairs.push(pair(&[]));
        }
        Trial {
            verb,
            kind,
            flag: flag.clone(),
            pairs,
        }
    };
    flags.iter().map(trial).collect()
}

/// Runs work for every item, on all processors.
fn each<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(item);
                }
            });
        }
    });
}

#[test]
fn every_flag_has_an_effect_or_is_an_error() {
    let inputs = Inputs::make();
    let cli = skrymir::command::description();
    let mut all = Vec::new();
    for command in cli.get_subcommands() {
        let verb: &'static str = command.get_name().to_owned().leak();
        if OTHER_VERBS.contains(&verb) {
            continue;
        }
        let flags = command.get_arguments().filter_map(|argument| {
            let name = argument.get_long()?.to_owned();
            (!OTHER_FLAGS.contains(&&*name)).then(|| (name, argument.get_action().takes_values()))
        });
        let flags: Vec<(String, bool)> = flags.collect();
        let is_fileless = FILELESS.iter().any(|(fileless, _)| *fileless == verb);
        assert!(!flags.is_empty() || is_fileless, "{verb}");
        let kinds: &[&str] = match verb {
            "grammar" => &["small"],
            _ if is_fileless => &["none"],
            _ => &KINDS,
        };
        for kind in kinds {
            let file = if is_fileless { String::new() } else { inputs.file(kind) };
            all.push((
                verb,
                *kind,
                self::command(verb, kind, &file),
                trials(verb, &flags, kind, &file),
            ));
        }
    }
    // A verb that refuses a file does so with every flag.
    let taken = Mutex::new(BTreeSet::new());
    each(&all, |(verb, kind, base, _)| {
        let arguments: Vec<String> = std::iter::once((*verb).to_owned())
            .chain(base.iter().flat_map(|(_, arguments)| arguments.clone()))
            .collect();
        if effect(&inputs, &arguments, false).code == Some(0) {
            taken.lock().unwrap().insert((*verb, *kind));
        }
    });
    let taken = taken.into_inner().unwrap();
    let is_unseen = |trial: &&Trial| {
        let mut unseen = UNSEEN.iter();
        unseen.any(|(verb, flag, kinds)| (*verb, *flag) == (trial.verb, &*trial.flag) && kinds.contains(&trial.kind))
    };
    let trials: Vec<&Trial> = all
        .iter()
        .filter(|(verb, kind, ..)| taken.contains(&(*verb, *kind)))
        .flat_map(|(_, _, _, trials)| trials)
        .filter(|trial| !is_unseen(trial))
        .collect();
    let bases: BTreeSet<&Vec<String>> = trials
        .iter()
        .flat_map(|trial| &trial.pairs)
        .map(|[without, _]| without)
        .collect();
    let bases: Vec<&Vec<String>> = bases.into_iter().collect();
    let without = Mutex::new(BTreeMap::new());
    each(&bases, |arguments| {
        let effect = effect(&inputs, arguments, false);
        without.lock().unwrap().insert((*arguments).clone(), effect);
    });
    let without = without.into_inner().unwrap();
    // A command that fails without the flag says nothing of it: then it is tried without what it needs.
    let silent = Mutex::new(Vec::new());
    each(&trials, |trial| {
        let endless = ENDLESS.contains(&&*trial.flag);
        let differs = |[bare, with]: &[Vec<String>; 2]| effect(&inputs, with, endless) != without[bare];
        let said = match &trial.pairs[..] {
            [pair, alone] if without[&pair[0]].code != Some(0) => differs(pair) || differs(alone),
            [pair, ..] => differs(pair),
            [] => false,
        };
        if !said {
            silent
                .lock()
                .unwrap()
                .push(format!("{} --{} {}", trial.verb, trial.flag, trial.kind));
        }
    });
    let found = silent.into_inner().unwrap();
    println!("{} flags tried with {} commands", trials.len(), bases.len());
    assert!(found.is_empty(), "flags without an effect: {found:#?}");
    let missing: Vec<_> = TAKEN
        .iter()
        .filter(|(verb, kinds)| kinds.iter().any(|kind| !taken.contains(&(*verb, *kind))))
        .collect();
    assert!(
        missing.is_empty(),
        "verbs refuse files that are theirs: {missing:?}; taken are {taken:?}"
    );
}

/// What `gles` can do: the arguments, the flags that have a use for it, and whether it has a device of its own.
const GLES: [(&[&str], &[&str], bool); 5] = [
    (&["--list", "nowhere"], &["list", "json"], false),
    (&["--serve", "nowhere"], &["serve", "root"], true),
    (&["--join", "nowhere"], &["join", "root", "compile", "timeout"], false),
    (
        &["--desktop"],
        &[
            "desktop",
            "screenshot",
            "after",
            "when-shown",
            "timeout",
            "package",
            "size",
        ],
        true,
    ),
    (&[], &["root", "compile", "timeout", "frames", "view"], true),
];

/// Flags of `gles` for a device of its own.
const GLES_DEVICE: [&str; 14] = [
    "memory",
    "record",
    "dump-frames",
    "stats",
    "report",
    "dump",
    "pps",
    "mali450",
    "engine",
    "silicon",
    "threads",
    "no-fast-paths",
    "frames",
    "view",
];

/// A value of a flag of `gles` that takes one.
fn gles_value(flag: &str) -> &'static str {
    match flag {
        "size" => "64x64",
        "seat" => "seat7",
        "engine" => "wide",
        "silicon" => "zero-wins",
        "memory" | "pps" | "threads" | "after" | "timeout" | "rate" => "2",
        _ => "value",
    }
}

#[test]
#[cfg(target_os = "linux")]
fn every_flag_of_gles_has_a_use_or_is_an_error() {
    let cli = skrymir::command::description();
    let flags = cli.find_subcommand("gles").unwrap().get_arguments();
    let flags: Vec<(String, bool)> = flags
        .filter_map(|flag| Some((flag.get_long()?.to_owned(), flag.get_action().takes_values())))
        .filter(|(flag, _)| !OTHER_FLAGS.contains(&flag.as_str()))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let mut trials = Vec::new();
    for (mode, taken, has_device) in GLES {
        let is_taken = |flag: &str| taken.contains(&flag) || has_device && GLES_DEVICE.contains(&flag);
        // Flags of other modes make another mode of the command.
        let is_mode = |flag: &str| ["list", "serve", "join", "desktop"].contains(&flag);
        for (flag, takes) in flags.iter().filter(|(flag, _)| !is_taken(flag) && !is_mode(flag)) {
            let mut arguments: Vec<String> = ["gles"].iter().chain(mode).map(|one| (*one).to_owned()).collect();
            arguments.push(format!("--{flag}"));
            arguments.extend(takes.then(|| gles_value(flag).to_owned()));
            if !["--list", "--serve"].iter().any(|alone| mode.contains(alone)) {
                arguments.extend(["--", "true"].map(str::to_owned));
            }
            trials.push(arguments);
        }
    }
    let wrong = Mutex::new(Vec::new());
    each(&trials, |arguments| {
        let output = Command::new(env!("CARGO_BIN_EXE_skrymir"))
            .args(arguments)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        let flag = arguments.iter().rfind(|one| one.starts_with("--") && *one != "--");
        let names = flag.is_some_and(|flag| error.contains(flag.as_str()));
        if output.status.code() != Some(2) || !names {
            wrong
                .lock()
                .unwrap()
                .push(format!("{arguments:?}: {:?} {error}", output.status.code()));
        }
    });
    println!("{} flags of gles are refused", trials.len());
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "something was written"
    );
    // Negative control: every flag has a use somewhere.
    let is_used = |flag: &str| {
        GLES_DEVICE.contains(&flag)
            || ["rate", "seat"].contains(&flag)
            || GLES.iter().any(|(_, taken, _)| taken.contains(&flag))
    };
    let unused: Vec<_> = flags.iter().filter(|(flag, _)| !is_used(flag)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}
