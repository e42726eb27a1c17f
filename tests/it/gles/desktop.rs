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
    if !rustix::process::geteuid().is_root() {
        eprintln!("NOT TESTED, Debian's compositor takes a display as root only");
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
