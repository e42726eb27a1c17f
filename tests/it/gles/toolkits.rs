//! Other projects' programs with windows or full screen: each starts, shows a known picture, and ends. Debian's
//! packages (100 MB) are fetched once, so a program is tested if that was done, or with `SKRYMIR_NEED_DESKTOP` set.

use super::support::{driver, fetched, program, text};
use skrymir::picture::Picture;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Whether a pixel has the program's colour.
type Own = fn([u8; 3]) -> bool;

/// Colours within two of each other per channel.
fn near(pixel: [u8; 3], color: [u8; 3]) -> bool {
    pixel.iter().zip(color).all(|(a, b)| a.abs_diff(b) <= 2)
}

/// Greens of the window of Qt's example, whose light changes.
fn green([red, green, blue]: [u8; 3]) -> bool {
    blue <= 2 && green >= 60 && (10 * i32::from(red) - 4 * i32::from(green)).abs() <= 20
}

/// Pixels of a colour; `flipped`: in the picture with red and blue swapped.
fn count(picture: &Picture, own: Own, flipped: bool) -> usize {
    let flip = if flipped { 0x80 } else { 0 };
    let pixels = picture.rgba.as_chunks::<4>().0.iter();
    pixels
        .filter(|[red, green, blue, _]| own([red ^ flip, green ^ flip, blue ^ flip]))
        .count()
}

/// Runs the command with a program, with an open standard input.
fn run(options: &[&str], program: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
    command.arg("gles").args(options).arg("--").args(program);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command runs");
    let open = child.stdin.take();
    let output = child.wait_with_output().expect("the command ends");
    drop(open);
    output
}

/// The pictures in a folder, in order.
fn pictures(folder: &Path) -> Vec<Picture> {
    let names = std::fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<_> = names.map(|entry| entry.path()).collect();
    names.sort();
    names
        .iter()
        .map(|name| Picture::load(name).expect("a picture"))
        .collect()
}

/// Asserts that a picture of a program on a bare screen of 640x480 has a number of pixels of a colour.
fn shows(set: &str, options: &[&str], program: &[&str], own: Own, pixels: std::ops::Range<usize>) {
    if !fetched(set) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().to_str().expect("a plain name");
    let mut all = vec!["--size", "640x480", "--frames", place];
    all.extend(options);
    let output = run(&all, program);
    let ends = if options.contains(&"--timeout") {
        Some(124)
    } else {
        Some(0)
    };
    assert_eq!(output.status.code(), ends, "{program:?}: {}", text(&output));
    let counts = |flipped| -> Vec<usize> {
        let pictures = pictures(folder.path());
        pictures.iter().map(|one| count(one, own, flipped)).collect()
    };
    let seen = |counts: &[usize]| counts.iter().any(|count| pixels.contains(count));
    let counts = (counts(false), counts(true));
    assert!(
        seen(&counts.0),
        "{program:?}: none of {:?} pixels in {pixels:?}",
        counts.0
    );
    assert!(!seen(&counts.1), "{program:?}: every colour would do: {:?}", counts.1);
}

#[test]
fn kmscube_shows_its_cube() {
    let grey: Own = |pixel| near(pixel, [128; 3]);
    shows("kmscube", &[], &["kmscube", "-c", "20"], grey, 200_000..300_000);
    shows("kmscube", &[], &["kmscube", "-A", "-c", "20"], grey, 200_000..300_000);
}

#[test]
fn glmark2_shows_its_horse() {
    let scene = ["glmark2-es2-drm", "-b", "build:duration=1"];
    shows(
        "glmark2-es2-drm",
        &[],
        &scene,
        |pixel| near(pixel, [0; 3]),
        200_000..300_000,
    );
}

#[test]
fn sdl_shows_a_colour() {
    if !fetched("libsdl2-2.0-0") || !fetched("kmscube") {
        return;
    }
    // The packages include a program; the root folder then serves ours.
    let first = run(
        &["--frames", "-", "--package", "libsdl2-2.0-0"],
        &["kmscube", "-c", "1"],
    );
    assert!(first.status.success(), "{}", text(&first));
    let Some(driver) = driver() else { return };
    let own = program(driver, "sdl");
    let cache = skrymir::gles::cache().expect("a folder");
    let root = cache.join("desktop/root");
    let root = root.to_str().expect("a plain name");
    let own = own.to_str().expect("a plain name");
    let all = 640 * 480;
    shows(
        "libsdl2-2.0-0",
        &["--root", root],
        &[own],
        |pixel| near(pixel, [204, 51, 102]),
        all - 1000..all + 1,
    );
}

#[test]
fn qt_shows_its_window_on_a_bare_screen() {
    let options = ["--timeout", "20"];
    shows("qtbase5-examples", &options, &["hellowindow"], green, 10_000..200_000);
}

/// Number of windows on the desktop with enough pixels of a colour.
#[test]
fn toolkits_show_their_windows() {
    let programs: [(&str, &[&str], Own); 3] = [
        ("gtk-3-examples", &["gtk3-widget-factory"], |pixel| {
            near(pixel, [0xf6, 0xf5, 0xf4])
        }),
        ("qtbase5-examples", &["hellowindow"], green),
        (
            "glmark2-es2-wayland",
            &["glmark2-es2-wayland", "-s", "300x200", "-b", "build:duration=1000"],
            |pixel| near(pixel, [0; 3]),
        ),
    ];
    for (set, program, own) in programs {
        if !fetched(set) || !fetched("weston") {
            continue;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("picture.png");
        // A busy machine takes longer.
        let is_there = |seconds: &&str| {
            let path = path.to_str().expect("a plain name");
            let options = [
                "--desktop",
                "--size",
                "640x480",
                "--screenshot",
                path,
                "--after",
                seconds,
            ];
            let output = run(&options, program);
            assert!(output.status.success(), "{}", text(&output));
            let picture = Picture::load(Path::new(path)).expect("a picture");
            count(&picture, own, false) >= 5_000 && count(&picture, own, true) < 5_000
        };
        assert!(["15", "60", "120"].iter().any(is_there), "no window of {program:?}");
    }
}
