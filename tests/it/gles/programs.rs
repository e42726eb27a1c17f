//! OpenGL ES 2 programs on Mesa's unmodified driver for the Mali-400, on the emulator.
//!
//! They need Debian's arm64 packages, which are fetched once, and the tools to build and run ARM programs
//! (`tests/setup.sh` installs them). If these are missing the tests are skipped with a message, or fail with
//! `SKRYMIR_NEED_GLES` set, as in `tests/run.sh`.

use super::support::{built, driver, gles, native, program, text};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

#[test]
fn every_pixel_is_right() {
    let Some(driver) = driver() else { return };
    let program = program(driver, "gles");
    for (options, name) in [
        (&[][..], "Mali400"),
        (&["--pps", "4"], "Mali400"),
        (&["--mali450", "--pps", "6"], "Mali450"),
    ] {
        let output = gles(options, &program, &[]);
        let text = text(&output);
        println!("{options:?}: {text}");
        assert!(output.status.success(), "{text}");
        let first = format!("{name}, OpenGL ES 2.0 Mesa 22.3.6, 19 configurations\n");
        assert!(text.starts_with(&first), "{text}");
        assert!(
            text.ends_with("242 checks, 0 failed\n"),
            "no job faults, nothing is unknown: {text}"
        );
    }
}

#[test]
fn a_wrong_pixel_is_noticed() {
    let Some(driver) = driver() else { return };
    let output = gles(&[], &program(driver, "gles"), &["wrong"]);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("FAIL wrong on purpose: pixel 3, 3 is 0 0 0 255 instead of 0 9 0 255"),
        "{text}"
    );
}

/// The programs for boards run here, on both GPUs with the same results.
#[test]
fn board_programs_print_their_numbers() {
    let Some(driver) = driver() else { return };
    let wanted = [
        (
            "stencil",
            42,
            "0xcc over 0x55 with mask 0x3c: draw 0x4d, clear 0x4d, front 0x4d, back 0xd4\n",
        ),
        ("lines", 14, "a bent strip\n"),
        ("clip", 64, "+1.9 +1.9 +1.9, +1.7 +1.7 +1.7: "),
        ("specials", 31, "vertex 1/0: 255 255 0 255\n"),
        ("levels", 53, "texture2D(picture, at.xy, at.z): 0 40 80 120 160\n"),
    ];
    for (name, lines, line) in wanted {
        let program = built(driver, "board", name);
        let run = |options: &[&str]| {
            let output = gles(options, &program, &[]);
            let text = text(&output);
            assert!(output.status.success() && text.contains(line), "{name}: {text}");
            // After the name of the machine.
            text.split_once('\n').expect("a first line").1.to_owned()
        };
        let numbers = run(&[]);
        assert_eq!(numbers.lines().count(), lines, "{name}: {numbers}");
        assert_eq!(numbers, run(&["--mali450"]), "{name}: a Mali-450 differs");
    }
}

/// Each silicon switch changes the output of the program that is meant to decide it.
#[test]
fn board_programs_tell_switches_apart() {
    let Some(driver) = driver() else { return };
    for (name, switch, without, with) in [
        (
            "stencil",
            "stencil-counts-within-mask",
            "increment with mask 0x02: 0000-0000 0x01-0x03 0x03-0x05",
            "increment with mask 0x02: 0000-0000 0x01-0x03 0x03-0x01",
        ),
        ("specials", "zero-wins", "vertex 0 / 0: 0 0", "vertex 0 / 0: 255 0 255"),
        (
            "specials",
            "halves-have-no-infinity",
            "fragment 0 * (1/0): 0 0",
            "fragment 0 * (1/0): 255 0 255",
        ),
        (
            "specials",
            "numbers-win",
            "vertex max(3, 0/0): 0 0",
            "vertex max(3, 0/0): 255 0 255",
        ),
        (
            "specials",
            "reciprocals-towards-zero",
            "fragment ceil(100 / 100) - 1: 255 0 0",
            "fragment ceil(100 / 100) - 1: 255 0 255",
        ),
        ("levels", "bias-after-varying", "at.z): 0 40 80", "at.z): 40 80 120"),
        (
            "levels",
            "one-bias-per-quad",
            "in a quad: 40 120 40 120",
            "in a quad: 40 40 40 40",
        ),
        (
            "clip",
            "opposite-corners-drop",
            "",
            "+1.9 +1.9 +1.9, -1.7 -1.7 -1.7: 0 pixels",
        ),
    ] {
        let program = built(driver, "board", name);
        let run = |options: &[&str]| text(&gles(options, &program, &[]));
        let (plain, supposed) = (run(&[]), run(&["--silicon", switch]));
        assert!(plain.contains(without) && !plain.contains(with), "{name}: {plain}");
        assert!(supposed.contains(with), "{name} with {switch}: {supposed}");
    }
}

#[test]
fn the_device_behaves_like_the_kernels() {
    let native = native("device");
    let arm = driver().map(|driver| program(driver, "device"));
    for program in [Some(native), arm].into_iter().flatten() {
        for options in [&[][..], &["--mali450"]] {
            let output = gles(options, &program, &[]);
            let text = text(&output);
            assert!(
                output.status.success() && text.contains("140 checks, 0 failed"),
                "{program:?} {options:?}: {text}"
            );
        }
    }
}

#[test]
fn threads_and_processes_draw_at_the_same_time() {
    let Some(driver) = driver() else { return };
    let output = gles(&["--stats"], &program(driver, "many"), &[]);
    let text = text(&output);
    assert!(
        output.status.success() && text.contains("12 checks, 0 failed"),
        "{text}"
    );
    // Each process has one, and that of the killed process was closed too.
    let closed = text.lines().filter(|line| line.contains(" GP jobs in ")).count();
    assert_eq!(closed, 4, "{text}");
}

#[test]
fn recordings_are_replayed() {
    let Some(driver) = driver() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().to_str().expect("a plain name");
    for options in [&[][..], &["--mali450"]] {
        let report = folder.path().join("report.jsonl");
        let more = ["--report", report.to_str().expect("a plain name")];
        let options = [
            &["--record", place, "--dump-frames", place, "--stats"],
            &more[..],
            options,
        ]
        .concat();
        let output = gles(&options, &program(driver, "frames"), &["20"]);
        let text = text(&output);
        assert!(output.status.success(), "{text}");
        assert!(text.contains("device 0: 20 GP jobs in "), "{text}");
        let lines = crate::cli::json::lines("gles", &report);
        let jobs = |processor: &str| lines.iter().filter(|line| line["processor"] == *processor).count();
        let sums: Vec<_> = lines.iter().filter(|line| line.get("job").is_none()).collect();
        assert_eq!(
            (jobs("GP"), jobs("PP"), sums.len(), &sums[0]["gp_jobs"]),
            (20, 20, 1, &20.into())
        );
        // The engine's report on its programs is in both.
        let engine = sums[0]["engine"].as_str().expect("a name");
        let report = sums[0]["engine_report"].as_str();
        assert_eq!(report.is_some(), engine.starts_with("native ("), "{report:?}");
        if let Some(report) = report {
            assert!(
                report.contains("left to the wide engine") && text.contains(&format!("engine {engine}: {report}")),
                "{text}"
            );
        }
        let bytes = std::fs::read(folder.path().join("device0.trace")).expect("a recording");
        let trace = skrymir::loader::trace::Trace::read(&bytes).expect("a good recording");
        let replay = skrymir::runner::replay::replay(&trace, Box::new(skrymir::emulator::exec::scalar::Scalar), 1);
        let replay = replay.expect("it runs again");
        assert_eq!(replay.jobs.len(), 40);
        let picture = replay.picture().expect("a picture");
        let dumped = skrymir::picture::Picture::load(&folder.path().join("device0-job00039.png")).expect("a dump");
        assert_eq!(picture, dumped);
        assert_eq!(picture.rgba[..4], [20 + 64, 20, 20, 20]);
    }
}

/// Private memory and shared memory (buffer objects) of a process in KiB, and its open descriptors.
fn resident(process: u32) -> [u64; 3] {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("a process");
    let number = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).expect("its memory");
        line.split_whitespace()
            .nth(1)
            .and_then(|number| number.parse().ok())
            .expect("a number")
    };
    let open = std::fs::read_dir(format!("/proc/{process}/fd"))
        .expect("its descriptors")
        .count();
    [number("RssAnon:"), number("RssShmem:"), open as u64]
}

/// The only child of a process.
fn child_of(process: u32) -> u32 {
    let children = |task: &Path| std::fs::read_to_string(task.join("children")).unwrap_or_default();
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).expect("its threads");
    let all: String = tasks.flatten().map(|task| children(&task.path())).collect();
    all.split_whitespace()
        .next()
        .and_then(|child| child.parse().ok())
        .expect("a child")
}

/// `frames`, which waits for a line after every hundred frames.
fn start(program: &Path, frames: &str) -> (Child, BufReader<ChildStdout>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
    command.args(["gles", "--"]).arg(program).args([frames, "wait"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let out = BufReader::new(child.stdout.take().expect("its output"));
    (child, out)
}

fn next_line(out: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    out.read_line(&mut line).expect("a line");
    line
}

#[test]
fn memory_is_flat_over_a_thousand_frames() {
    let Some(driver) = driver() else { return };
    // A hundred thousand frames take a quarter of an hour: SKRYMIR_FRAMES=100000.
    let frames = std::env::var("SKRYMIR_FRAMES").map_or(1000, |frames| frames.parse().expect("a number of frames"));
    let (mut server, mut out) = start(&program(driver, "frames"), &frames.to_string());
    let mut input = server.stdin.take().expect("its input");
    let mut sizes = Vec::new();
    for hundred in 1..=frames / 100 {
        assert_eq!(next_line(&mut out), format!("frame {hundred}00\n"));
        sizes.push([resident(server.id()), resident(child_of(server.id()))]);
        input.write_all(b"go\n").expect("it reads");
    }
    assert_eq!(next_line(&mut out), format!("{} checks, 0 failed\n", frames / 10));
    assert!(server.wait().expect("it ends").success());
    println!("own KiB, shared KiB, descriptors of server and program after every hundred frames: {sizes:?}");
    // Of a thousand frames from the second hundred on, of more the second half: allocators and the driver's pools
    // settle first. A leak of 700 bytes per frame is detected.
    let settled = if sizes.len() > 10 { sizes.len() / 2 } else { 1 };
    for side in 0..2 {
        let ([own, shared, open], [own_last, shared_last, open_last]) =
            (sizes[settled][side], sizes[sizes.len() - 1][side]);
        assert!(own_last <= own + 512, "own memory grows: {sizes:?}");
        // The driver keeps one more buffer whenever more frames are in flight than before; a leak of a descriptor in
        // twenty frames is detected.
        assert!(open_last <= open + 40, "more and more descriptors: {sizes:?}");
        // The driver suballocates buffers of 1 MiB and touches their pages one by one.
        assert!(shared_last <= shared + 1024, "objects' memory grows: {sizes:?}");
    }
}

#[test]
fn two_at_once_and_one_killed() {
    let Some(driver) = driver() else { return };
    let program = program(driver, "frames");
    let (mut victim, mut victims) = start(&program, "100000");
    let (mut other, mut others) = start(&program, "300");
    let mut feed = other.stdin.take().expect("its input");
    let mut to_victim = victim.stdin.take().expect("its input");
    assert_eq!(next_line(&mut victims), "frame 100\n");
    assert_eq!(next_line(&mut others), "frame 100\n");
    to_victim.write_all(b"go\n").expect("it reads");
    std::thread::sleep(std::time::Duration::from_millis(30));
    // The program dies during a frame; the command reports it and leaves nothing behind.
    let process = victim.id();
    let killed = Command::new("kill")
        .args(["-9", &child_of(process).to_string()])
        .status();
    assert!(killed.expect("kill runs").success());
    assert_eq!(victim.wait().expect("it ends").code(), Some(128 + 9));
    let left = std::fs::read_dir(std::env::temp_dir()).expect("a folder").flatten();
    let of_victim = format!("skrymir-gles-{process}-");
    let left = left
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&of_victim))
        .count();
    assert_eq!(left, 0, "files are left");
    feed.write_all(b"go\ngo\ngo\n").expect("it reads");
    assert_eq!(next_line(&mut others), "frame 200\n");
    assert_eq!(next_line(&mut others), "frame 300\n");
    assert_eq!(next_line(&mut others), "30 checks, 0 failed\n");
    assert!(other.wait().expect("it ends").success());
}

#[test]
fn a_program_that_would_draw_without_the_gpu_is_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    // A program that does nothing, with the name of a library appended to its file.
    let program = folder.path().join("draws");
    let mut bytes = std::fs::read("/bin/true").expect("a program");
    bytes.extend(b"\0libEGL.so.1\0");
    std::fs::write(&program, bytes).expect("a copy");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, executable).expect("it may run");
    let run = || {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_skrymir"));
        command
            .args(["gles", "--"])
            .arg(&program)
            .env("LIBGL_DRIVERS_PATH", folder.path());
        command.output().expect("the command runs")
    };
    let refused = run();
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(text(&refused).contains("lima_dri.so") && text(&refused).contains("LIBGL_DRIVERS_PATH"));
    std::fs::write(folder.path().join("lima_dri.so"), "").expect("a driver");
    if driver().is_some() {
        let taken = run();
        assert!(taken.status.success(), "{}", text(&taken));
    }
}
