//! Programs with windows under Debian's compositor. The packages (100 MB) are fetched once, so these tests run if that
//! was done (`examples/desktop.sh`), or with `SKRYMIR_NEED_DESKTOP` set.

use super::support::{fetched, text};
use skrymir::picture::Picture;
use std::path::Path;
use std::process::{Command, Output};

fn desktop(options: &[&str], program: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
    command
        .args(["gles", "--desktop"])
        .args(options)
        .arg("--")
        .args(program);
    command.output().expect("the command runs")
}

/// Number of pixels within the tolerance of a colour, per channel.
fn count(picture: &Picture, color: [u8; 3], tolerance: u8) -> usize {
    let near = |pixel: &&[u8]| pixel.iter().zip(color).all(|(a, b)| a.abs_diff(b) <= tolerance);
    picture.rgba.chunks_exact(4).filter(near).count()
}

/// A picture of the desktop with a program after a number of seconds.
fn picture(folder: &Path, program: &[&str], seconds: &str) -> Picture {
    let path = folder.join("picture.png");
    let output = desktop(
        &[
            "--size",
            "400x300",
            "--screenshot",
            path.to_str().expect("a plain name"),
            "--after",
            seconds,
        ],
        program,
    );
    // A picture of a desktop without a window is written, and is an error.
    let text = text(&output);
    let is_empty = output.status.code() == Some(2) && text.contains("no window is on the desktop");
    assert!(output.status.success() || is_empty, "{text}");
    assert!(is_empty || program[0] != "sleep", "{text}");
    Picture::load(&path).expect("a picture")
}

/// Number of pixels of the desktop's colour that a program covers in the end; a busy machine takes longer.
fn covered(folder: &Path, program: &[&str], wanted: usize) -> usize {
    let none = count(&picture(folder, &["sleep", "600"], "3"), BLUE, 2);
    assert!(none > 400 * 250, "the empty desktop has its colour: {none}");
    let mut covered = 0;
    for seconds in ["8", "25", "75"] {
        covered = none.saturating_sub(count(&picture(folder, program, seconds), BLUE, 2));
        if covered >= wanted {
            break;
        }
    }
    covered
}

/// The desktop's colour.
const BLUE: [u8; 3] = [0x20, 0x40, 0x60];

#[test]
fn windows_are_seen() {
    if !fetched("weston") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let covered = covered(folder.path(), &["weston-simple-egl"], 10_000);
    assert!(covered >= 10_000, "a window of 250 x 250 is there: {covered}");
}

#[test]
fn a_client_that_is_killed_leaves_the_desktop() {
    if !fetched("weston") {
        return;
    }
    // The first client dies during its frames; the second still gets its window.
    let folder = tempfile::tempdir().expect("a folder");
    let script = "weston-simple-egl & sleep 3; kill -9 $!; sleep 1; exec weston-simple-egl";
    let covered = covered(folder.path(), &["sh", "-c", script], 10_000);
    assert!(covered >= 10_000, "a window of 250 x 250 is there: {covered}");
}

/// The compositor on the session's display: its pictures are written, and one has a window.
#[test]
fn the_compositor_takes_the_display() {
    if !fetched("weston") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().to_str().expect("a plain name");
    let last = |seconds: &str| -> Picture {
        let options = ["--size", "400x300", "--frames", place, "--timeout", seconds];
        let output = desktop(&options, &["weston-simple-egl"]);
        assert_eq!(output.status.code(), Some(124), "{}", text(&output));
        let names = std::fs::read_dir(place)
            .expect("a folder")
            .flatten()
            .map(|entry| entry.path());
        Picture::load(&names.max().expect("a picture")).expect("a picture")
    };
    // A busy machine takes longer.
    let is_there = |seconds| {
        let picture = last(seconds);
        let (blue, pixels) = (count(&picture, BLUE, 2), 400 * 300);
        blue > pixels / 4 && pixels - blue > 250 * 250
    };
    assert!(["8", "25", "75"].into_iter().any(is_there), "no window on the desktop");
}

/// Debian's compositor takes a display as root only: its backend of displays, and nothing else, sees that user.
#[test]
fn a_backend_of_displays_runs_as_root() {
    let work = tempfile::tempdir().expect("a folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gles/user.c");
    let build = |name: &str, options: &[&str]| {
        let to = work.path().join(name);
        let compiler = Command::new("cc")
            .args(options)
            .arg("-o")
            .arg(&to)
            .arg(&source)
            .status();
        assert!(compiler.expect("a C compiler").success());
        to
    };
    let program = build("user", &["-O1"]);
    let users = |library: &str, own: &str| {
        let library = build(library, &["-O1", "-shared", "-fPIC", "-DBACKEND"]);
        let mut command = match rustix::process::geteuid().is_root() {
            false => Command::new(env!("CARGO_BIN_EXE_skrymir")),
            // As another user, with a folder of that user.
            true => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
                command.arg(env!("CARGO_BIN_EXE_skrymir"));
                let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
                std::fs::set_permissions(work.path(), open).expect("permissions");
                command
            }
        };
        let output = command
            .args(["gles", "--"])
            .args([&program, &library])
            .env("HOME", work.path())
            .env("XDG_CACHE_HOME", work.path())
            .env("TMPDIR", work.path())
            .current_dir(work.path())
            .output()
            .expect("the command runs");
        assert!(text(&output).contains(own), "{}", text(&output));
        text(&output)
    };
    let user = match rustix::process::geteuid() {
        root if root.is_root() => 65534,
        user => user.as_raw(),
    };
    let own = format!("program {user}, real {user}");
    assert!(users("drm-backend.so", &own).contains("backend 0,"));
    // The control: another library.
    assert!(users("other-backend.so", &own).contains(&format!("backend {user},")));
}
