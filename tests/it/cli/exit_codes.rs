//! Exit codes of every verb: 0 success, 1 the input is at fault, 2 the command line or the system is; and no flag is
//! ignored silently.

use crate::common;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn skrymir(args: &[&str]) -> Output {
    let tool = Command::new(env!("CARGO_BIN_EXE_skrymir")).args(args).output();
    tool.expect("the tool runs")
}

/// Asserts the exit code, and that a failure has a message.
fn expect(code: i32, args: &[&str]) -> String {
    let output = skrymir(args);
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
    assert!(code == 0 || !text.is_empty(), "{args:?} prints no message");
    text
}

/// Valid and damaged files of every format, in a folder.
struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new() -> Self {
        let files = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let vbc = std::fs::read(common::data("vbc/triangle.vbc")).unwrap();
        files.put("good.vbc", &vbc);
        files.put("bad.vbc", &vbc[..vbc.len() / 2]);
        let text = std::fs::read_to_string(common::data("spirv/numbers.spvasm")).unwrap();
        files.put("good.spvasm", text.as_bytes());
        files.put("bad.spvasm", b"OpNonsense\n");
        expect(0, &["as", &files.path("good.spvasm"), "-o", &files.path("good.spv")]);
        let words = std::fs::read(files.path("good.spv")).unwrap();
        files.put("bad.spv", &words[..words.len() - 3]);
        files.put("good.vert.s", include_bytes!("../../../examples/mali/triangle.vert.s"));
        files.put("good.frag.s", include_bytes!("../../../examples/mali/triangle.frag.s"));
        expect(0, &["as", &files.path("good.frag.s"), "-o", &files.path("good.mbs")]);
        let mbs = std::fs::read(files.path("good.mbs")).unwrap();
        files.put("bad.mbs", &mbs[..mbs.len() / 2]);
        files.put("good.s0", include_bytes!("../../data/sl/hello.s0"));
        expect(0, &["as", &files.path("good.s0"), "-o", &files.path("good.sl")]);
        files.put("loop.s0", include_bytes!("../../data/sl/errors/fuel.s0"));
        expect(0, &["as", &files.path("loop.s0"), "-o", &files.path("loop.sl")]);
        let sl = std::fs::read(files.path("good.sl")).unwrap();
        files.put("bad.sl", &sl[..sl.len() / 2]);
        let sksl = loader::sksl::write(&crate::sksl::samples::tinted_wave()).unwrap();
        files.put("good.sksl", &sksl);
        files.put("bad.sksl", &sksl[..sksl.len() - 1]);
        files.put("nothing", b"nothing known");
        files.put(
            "good.wgsl",
            b"@fragment fn fs() -> @location(0) vec4<f32> { return vec4<f32>(1.0); }",
        );
        files.put(
            "bad.wgsl",
            b"@fragment fn fs() -> @location(0) vec4<f32> {\n    return nonsense;\n}",
        );
        files.put("good.json", br#"{"magic_number":"0x07230203","major_version":1,"minor_version":6,"revision":1,"instructions":[],"operand_kinds":[]}"#);
        files.put("bad.json", b"{");
        files
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.folder.path().join(name), bytes).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

#[test]
fn every_verb_and_cause() {
    let files = Files::new();
    let at = |name: &str| files.path(name);
    let out = at("out");
    for format in ["vbc", "mbs", "sl", "sksl"] {
        let (good, bad) = (at(&format!("good.{format}")), at(&format!("bad.{format}")));
        expect(0, &["info", &good]);
        expect(1, &["info", &bad]);
        expect(2, &["info", &at("missing")]);
        expect(0, &["rewrite", &good, "-o", &out]);
        expect(1, &["rewrite", &bad, "-o", &out]);
        expect(2, &["rewrite", &good, "-o", &at("no/such/folder")]);
    }
    for format in ["vbc", "mbs", "sl", "sksl", "spv"] {
        let (good, bad) = (at(&format!("good.{format}")), at(&format!("bad.{format}")));
        expect(0, &["check", &good]);
        expect(1, &["check", &bad]);
        let stage: &[&str] = if format == "vbc" { &["--stage", "frag"] } else { &[] };
        expect(0, &[&["dis", &good], stage].concat());
        expect(1, &[&["dis", &bad], stage].concat());
    }
    expect(1, &["info", &at("nothing")]);
    expect(1, &["check", &at("nothing")]);
    expect(1, &["run", &at("nothing")]);
    expect(1, &["as", &at("bad.spvasm"), "-o", &out]);
    expect(1, &["as", &at("nothing"), "-o", &out]);
    expect(2, &["as", &at("missing"), "-o", &out]);
    expect(0, &["run", &at("good.sl")]);
    expect(1, &["run", &at("loop.sl"), "--fuel", "1000"]);
    expect(1, &["run", &at("bad.vbc"), "-o", &out]);
    expect(2, &["run", &at("good.vbc"), "-o", &out, "--device", "no such device"]);
    expect(0, &["convert", &at("good.wgsl"), "--to", "glsl"]);
    let text = expect(1, &["convert", &at("bad.wgsl"), "--to", "glsl"]);
    assert!(text.contains("bad.wgsl:2:12") && text.contains("nonsense"), "{text}");
    expect(2, &["convert", &at("good.wgsl"), "--to", "spirv"]);
    expect(2, &["convert", &at("missing"), "--to", "wgsl"]);
    expect(0, &["grammar", &at("good.json")]);
    expect(1, &["grammar", &at("bad.json")]);
    expect(2, &["grammar", &at("missing")]);
    expect(
        1,
        &[
            "pack",
            "--vert",
            &at("bad.wgsl"),
            "--frag",
            &at("good.wgsl"),
            "-o",
            &out,
        ],
    );
    expect(
        2,
        &["pack", "--vert", &at("missing"), "--frag", &at("good.wgsl"), "-o", &out],
    );
    expect(0, &["reflect", &at("good.vbc")]);
    expect(1, &["reflect", &at("bad.vbc")]);
    expect(2, &["reflect", &at("missing")]);
    let pair = [at("good.vert.s"), at("good.frag.s")];
    expect(0, &["draw", &pair[0], &pair[1], "-o", &at("a.png")]);
    expect(1, &["draw", &pair[1], &pair[0], "-o", &at("a.png")]);
    expect(2, &["draw", &pair[0], &at("missing"), "-o", &at("a.png")]);
    expect(0, &["draw", &pair[0], &pair[1], "--record", &at("a.trace")]);
    expect(0, &["replay", &at("a.trace"), "-o", &at("b.png")]);
    expect(1, &["replay", &at("nothing"), "-o", &at("b.png")]);
    expect(2, &["replay", &at("missing"), "-o", &at("b.png")]);
    expect(0, &["compare", &at("a.png"), &at("b.png")]);
    expect(0, &["draw", &pair[0], &pair[1], "-o", &at("c.png"), "--size", "8x8"]);
    expect(1, &["compare", &at("a.png"), &at("c.png")]);
    expect(2, &["compare", &at("a.png"), &at("missing")]);
    expect(2, &["gles", "--pps", "5", "--", "true"]);
    expect(2, &["nonsense"]);
}

#[test]
fn a_flag_that_a_format_lacks_is_an_error() {
    let files = Files::new();
    let at = |name: &str| files.path(name);
    let refused = |args: &[&str], formats: &str| {
        let text = expect(2, args);
        assert!(text.contains(&format!("it is for {formats}\n")), "{args:?}: {text}");
    };
    let drawn = "vbc, spirv, sksl, source";
    refused(&["run", &at("good.sl"), "--expect", "a.png"], drawn);
    refused(&["run", &at("good.sl"), "-o", "x.png"], drawn);
    refused(&["run", &at("good.sl"), "--size", "8x8"], drawn);
    refused(&["run", &at("good.vbc"), "-o", "x.png", "--trace"], "sl");
    refused(&["run", &at("good.vbc"), "-o", "x.png", "--fuel", "9"], "sl");
    refused(
        &["run", &at("good.sksl"), "-o", "x.png", "--watch"],
        "vbc, spirv, source",
    );
    refused(&["dis", &at("good.sl"), "--tree"], "mbs, sksl");
    refused(&["dis", &at("good.spv"), "--locations"], "sl");
    refused(&["dis", &at("good.spv"), "--stage", "vert"], "vbc");
    refused(&["dis", &at("good.mbs"), "--raw-id"], "vbc, spirv");
    refused(&["rewrite", &at("good.mbs"), "-o", "x", "--canonical"], "sl");
    refused(&["as", &at("good.s0"), "-o", "x", "--exact"], "spirv");
    refused(&["check", &at("good.sl"), "--grammar", "g.json"], "vbc, spirv");
    for alone in [
        &["run", &at("good.vbc"), "-o", "x.png", "--tolerance", "3"][..],
        &["run", &at("good.vbc"), "-o", "x.png", "--cache", "a", "--no-cache"],
        &["replay", "a.trace", "--profile", "--engine", "wide"],
        &["dis", &at("good.vbc")],
    ] {
        expect(2, alone);
    }
    assert!(!Path::new("x.png").exists() && !Path::new("x").exists());
}

#[test]
fn check_continues_and_exits_with_the_worst_result() {
    let files = Files::new();
    let at = |name: &str| files.path(name);
    let text = expect(2, &["check", &at("missing"), &at("bad.sl"), &at("good.sl")]);
    assert!(
        text.contains("cannot read") && text.contains("bad.sl: sl: invalid"),
        "{text}"
    );
    assert!(text.contains("good.sl: sl: valid"), "{text}");
    expect(1, &["check", &at("bad.sl"), &at("good.sl")]);
    // A flag that applies to at least one of the files is accepted.
    expect(
        1,
        &["check", &at("good.sl"), &at("good.spv"), "--grammar", &at("bad.json")],
    );
}

#[test]
fn unknown_keys_of_scenes_are_errors() {
    let files = Files::new();
    let pair = [files.path("good.vert.s"), files.path("good.frag.s")];
    let scene = |text: &str| {
        files.put("scene.toml", text.as_bytes());
        let (scene, out) = (files.path("scene.toml"), files.path("scene.png"));
        expect(2, &["draw", &pair[0], &pair[1], "--scene", &scene, "-o", &out])
    };
    assert!(scene("[slots.pictur]\nfill = [1, 0, 0, 1]").contains("pictur"));
    assert!(scene("instances = 2").contains("instances"));
    assert!(scene("target = \"rgba32f\"").contains("target"));
    assert!(scene("[uniform]\nnosuch = [1]").contains("nosuch"));
    assert!(scene("vertexes = 3").contains("vertexes"));
}

#[test]
fn a_picture_is_written_completely_or_not_at_all() {
    let files = Files::new();
    let pair = [files.path("good.vert.s"), files.path("good.frag.s")];
    let full = Path::new("/dev/full");
    if full.exists() {
        let text = expect(2, &["draw", &pair[0], &pair[1], "-o", "/dev/full"]);
        assert!(text.contains("/dev/full"), "{text}");
        expect(2, &["rewrite", &files.path("good.sl"), "-o", "/dev/full"]);
    }
    // An existing file is kept if nothing can be written beside it, and no temporary file is left.
    let folder = files.folder.path().join("pictures");
    std::fs::create_dir(&folder).unwrap();
    let out = folder.join("a.png").display().to_string();
    expect(0, &["draw", &pair[0], &pair[1], "-o", &out]);
    let first = std::fs::read(&out).unwrap();
    expect(0, &["draw", &pair[0], &pair[1], "-o", &out]);
    assert_eq!(std::fs::read(&out).unwrap(), first);
    let names: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .map(|e| e.path())
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

/// Runs the tool with a file size limit of 0, as on a full disk; standard error goes to `log`, or is captured.
#[cfg(unix)]
fn on_a_full_disk(args: &[&str], log: Option<&Path>) -> Output {
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        "trap '' XFSZ; ulimit -f 0; exec \"$@\"",
        "sh",
        env!("CARGO_BIN_EXE_skrymir"),
    ]);
    shell.args(args);
    if let Some(log) = log {
        shell.stderr(std::fs::File::create(log).unwrap());
    }
    shell.output().expect("a shell")
}

#[test]
#[cfg(unix)]
fn a_full_disk_is_reported_and_leaves_nothing() {
    let files = Files::new();
    let at = |name: &str| files.path(name);
    let pair = [at("good.vert.s"), at("good.frag.s")];
    let (picture, trace) = (at("good.png"), at("good.trace"));
    expect(0, &["draw", &pair[0], &pair[1], "-o", &picture, "--record", &trace]);
    std::fs::create_dir(files.path("full")).unwrap();
    let out = at("full/out");
    let png = at("full/out.png");
    let grammar = at("grammar.json");
    std::fs::write(&grammar, properties::spirv::GRAMMAR).unwrap();
    let verbs: [&[&str]; 16] = [
        &["as", &at("good.spvasm"), "-o", &out],
        &["as", &at("good.s0"), "-o", &out],
        &["as", &pair[1], "-o", &out],
        &["dis", &at("good.spv"), "-o", &out],
        &["dis", &at("good.mbs"), "-o", &out],
        &["rewrite", &at("good.sl"), "-o", &out],
        &["rewrite", &at("good.vbc"), "-o", &out],
        &["convert", &at("good.sksl"), "--to", "wgsl", "-o", &out],
        &["compile", &at("good.wgsl"), "-o", &out],
        &["draw", &pair[0], &pair[1], "-o", &png],
        &["draw", &pair[0], &pair[1], "--record", &out],
        &["draw", &pair[0], &pair[1], "--trace", &out],
        &["draw", &pair[0], &pair[1], "--lcov", &out],
        &["replay", &trace, "-o", &png],
        &["replay", &trace, "--trace", &out],
        &["compare", &picture, &picture, "-o", &png],
    ];
    for args in verbs {
        let output = on_a_full_disk(args, None);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(
            text.contains("cannot write") && text.contains("full/out"),
            "{args:?}: {text}"
        );
        let left: Vec<_> = std::fs::read_dir(at("full")).unwrap().flatten().collect();
        assert!(left.is_empty(), "{args:?}: {left:?}");
        // Nor does a panic report that the message itself cannot be written.
        let log = files.folder.path().join("log");
        assert_eq!(
            on_a_full_disk(args, Some(&log)).status.code(),
            Some(2),
            "{args:?}, a full log"
        );
    }
    // The same with enough space.
    for args in verbs {
        expect(0, args);
    }
}

#[test]
fn a_trace_stops_with_its_reader() {
    let files = Files::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(["run", &files.path("loop.sl"), "--trace"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    // Limited only by the fuel of a thousand million invocations, each of which prints.
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(
            std::time::Instant::now() < end,
            "the program still runs without a reader"
        );
        std::thread::sleep(std::time::Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(2));
}

#[test]
fn standard_streams_are_files_too() {
    let files = Files::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(["rewrite", "-", "-o", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let bytes = std::fs::read(files.path("good.sl")).unwrap();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, bytes);
}

#[test]
fn the_smallest_sksl_program_is_one() {
    let files = Files::new();
    let tree = loader::sksl::Builder::new(loader::sksl::ProgramKind::RUNTIME_SHADER).finish();
    let bytes = loader::sksl::write(&tree).unwrap();
    assert_eq!(bytes[2..4], [0, 0], "a program without strings");
    files.put("empty.sksl", &bytes);
    let text = expect(0, &["info", &files.path("empty.sksl")]);
    assert!(text.contains("SkSL binary version 11"), "{text}");
    expect(0, &["check", &files.path("empty.sksl")]);
    expect(0, &["rewrite", &files.path("empty.sksl"), "-o", &files.path("again")]);
    assert_eq!(std::fs::read(files.path("again")).unwrap(), bytes);
}
