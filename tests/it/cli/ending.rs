//! Commands that end early: by a timeout, by a signal, by a closed pipe. They end soon and leave nothing behind.

use crate::common;

use loader::spirv::{Grammar, asm};
use loader::vbc::{self, BaseType, Model, Stage, Variable};
use rustix::process::{Pid, Signal, kill_process};
use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Maximum time of an immediate end, on a busy machine.
const SOON: Duration = Duration::from_secs(20);

/// A fragment program of a chain of sines of the given length: lavapipe's compiler takes minutes over 10,000 of them.
fn sines(count: usize) -> Vec<u8> {
    let mut text = String::from(
        "OpCapability Shader\n%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint Fragment %main \"main\" %place %color\nOpExecutionMode %main OriginUpperLeft\n\
         OpDecorate %place BuiltIn FragCoord\nOpDecorate %color Location 0\n%void = OpTypeVoid\n\
         %nothing = OpTypeFunction %void\n%float = OpTypeFloat 32\n%v4 = OpTypeVector %float 4\n\
         %in = OpTypePointer Input %v4\n%out = OpTypePointer Output %v4\n%place = OpVariable %in Input\n\
         %color = OpVariable %out Output\n%main = OpFunction %void None %nothing\n%b = OpLabel\n%s0 = OpLoad %v4 %place\n",
    );
    for at in 0..count {
        writeln!(text, "%s{} = OpExtInst %v4 %glsl Sin %s{at}", at + 1).unwrap();
    }
    writeln!(text, "OpStore %color %s{count}\nOpReturn\nOpFunctionEnd").unwrap();
    let mut words = asm::assemble(Grammar::builtin(), &text, Default::default()).unwrap();
    words[1] = 0x0001_0500;
    let triangle = std::fs::read(common::data("vbc/fullscreen.vbc")).unwrap();
    let mut model: Model = vbc::read(&triangle).unwrap().to_model();
    model.outputs = vec![Variable {
        location: 0,
        base: BaseType::FLOAT,
        dims: [4, 1],
        array: 1,
    }];
    *model.code_mut(Stage::Frag) = words;
    vbc::write(&model).unwrap()
}

/// The command, with its own folders for temporary files and its cache.
fn skrymir(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
    for (name, inside) in [("TMPDIR", "tmp"), ("XDG_CACHE_HOME", "cache")] {
        std::fs::create_dir_all(folder.join(inside)).unwrap();
        command.env(name, folder.join(inside));
    }
    // The driver's cache is not part of the test.
    command.env("MESA_SHADER_CACHE_DISABLE", "true");
    command.current_dir(folder).stderr(Stdio::piped());
    command
}

/// The exit code; fails if the command does not end.
fn ended(child: &mut Child, within: Duration) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > within {
            child.kill().unwrap();
            panic!("still running after {within:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn said(child: &mut Child) -> String {
    std::io::read_to_string(child.stderr.take().unwrap()).unwrap()
}

/// Names of all files and folders below a folder.
fn inside(folder: &Path) -> Vec<String> {
    let names = common::files(folder, "");
    names.iter().map(|path| path.display().to_string()).collect()
}

#[test]
fn timeout_ends_a_shader_that_compiles_for_minutes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("long.vbc"), sines(10_000)).unwrap();
    let start = Instant::now();
    let arguments = ["run", "long.vbc", "-o", "a.png", "--size", "8x8", "--timeout", "2"];
    let mut child = skrymir(folder.path()).args(arguments).spawn().unwrap();
    let status = ended(&mut child, Duration::from_secs(2) + SOON);
    let said = said(&mut child);
    println!("{:?}: {status}, {said}", start.elapsed());
    assert_eq!(status.code(), Some(2), "{said}");
    assert!(said.contains("long.vbc took longer than 2 s (--timeout)"), "{said}");
    assert!(start.elapsed() >= Duration::from_secs(2));
    assert_eq!(
        inside(folder.path()),
        [folder.path().join("long.vbc").display().to_string()]
    );
    // Negative control: a quick drawing makes its picture within the same time.
    std::fs::write(folder.path().join("short.vbc"), sines(3)).unwrap();
    let arguments = ["run", "short.vbc", "-o", "a.png", "--size", "8x8", "--timeout", "60"];
    let mut child = skrymir(folder.path()).args(arguments).spawn().unwrap();
    assert_eq!(ended(&mut child, Duration::from_secs(60)).code(), Some(0));
    assert!(folder.path().join("a.png").is_file());
}

#[test]
fn a_signal_ends_a_drawing_and_leaves_nothing() {
    for signal in [Signal::INT, Signal::TERM] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("long.vbc"), sines(10_000)).unwrap();
        let arguments = ["run", "long.vbc", "-o", "a.png", "--size", "8x8"];
        let mut child = skrymir(folder.path()).args(arguments).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(2));
        assert!(child.try_wait().unwrap().is_none(), "{}", said(&mut child));
        let start = Instant::now();
        kill_process(Pid::from_child(&child), signal).unwrap();
        let status = ended(&mut child, SOON);
        println!("{signal:?}: {:?}, {status}", start.elapsed());
        assert_eq!(status.signal(), Some(signal.as_raw()), "{}", said(&mut child));
        assert_eq!(
            inside(folder.path()),
            [folder.path().join("long.vbc").display().to_string()]
        );
    }
}

/// The program that `gles` runs ends with it, and its server's folder is removed.
#[test]
fn a_signal_ends_a_program_under_gles() {
    if which::which("cc").is_err() {
        println!("no C compiler: `skrymir gles` cannot be tested");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = "echo $$; exec sleep 600";
    let mut child = skrymir(folder.path())
        .args(["gles", "--", "/bin/sh", "-c", script])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let process: i32 = line.trim().parse().unwrap_or_else(|_| panic!("{}", said(&mut child)));
    assert!(Path::new(&format!("/proc/{process}")).exists());
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(ended(&mut child, SOON).code(), Some(130));
    assert!(
        !Path::new(&format!("/proc/{process}")).exists(),
        "the program still runs"
    );
    assert_eq!(inside(&folder.path().join("tmp")), [""; 0]);
}

/// An endless Swanson SL program prints until its reader closes the pipe.
#[test]
fn a_trace_ends_with_its_reader() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    put("loop.s0", LOOP);
    let assembled = skrymir(folder.path())
        .args(["as", "loop.s0", "-o", "loop.slib"])
        .output()
        .unwrap();
    assert!(
        assembled.status.success(),
        "{}",
        String::from_utf8_lossy(&assembled.stderr)
    );
    let mut child = skrymir(folder.path())
        .args(["run", "loop.slib", "--trace", "--fuel", "1000000000000"])
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    for _ in 0..10 {
        assert!(!lines.next().unwrap().unwrap().is_empty());
    }
    assert!(child.try_wait().unwrap().is_none(), "it runs for ever");
    drop(lines);
    assert_eq!(ended(&mut child, SOON).code(), Some(2));
}

const LOOP: &str = include_str!("../../data/sl/errors/fuel.s0");
