//! Stencil tests of scenes: the same picture on Vulkan and on every engine of the emulator.

use skrymir::picture::Picture;
use std::path::Path;
use std::process::{Command, Output};

const VERTEX: &str = "attribute vec4 position;\nattribute vec4 color;\nvarying vec4 v_color;\n\
                      void main() { v_color = color; gl_Position = position; }\n";

const FRAGMENT: &str = "precision mediump float;\nvarying vec4 v_color;\nvoid main() { gl_FragColor = v_color; }\n";

/// Left, bottom, right, top, depth, colour, and whether the front is seen.
type Rectangle = ([f32; 4], f32, [f32; 4], bool);

/// Rectangles in the order in which they are drawn: three that overlap each other, the last from behind.
const RECTANGLES: [Rectangle; 4] = [
    ([-1.0, -1.0, 0.5, 0.5], 0.5, [1.0, 0.0, 0.0, 1.0], true),
    ([-0.5, -0.5, 1.0, 1.0], 0.25, [0.0, 1.0, 0.0, 1.0], true),
    ([-0.25, -1.0, 0.25, 1.0], 0.75, [0.0, 0.0, 1.0, 1.0], true),
    ([-0.75, -0.75, 0.75, 0.75], 0.25, [1.0, 1.0, 0.0, 1.0], false),
];

/// Stencil states of scenes, and what is beside them.
const STATES: [&str; 8] = [
    "stencil = { front = { compare = 'equal', pass = 'increment-and-clamp' } }",
    "stencil = { front = { compare = 'not-equal', reference = 3, pass = 'replace' } }",
    "stencil = { front = { pass = 'replace', reference = 5 }, back = { compare = 'less', reference = 4, pass = 'zero' } }",
    "stencil = { front = { pass = 'increment-and-wrap' }, back = { compare = 'greater', reference = 1 }, clear = 254 }",
    "depth = {}\nstencil = { front = { depth-fail = 'invert' }, back = { compare = 'equal', reference = 255 } }",
    "stencil = { front = { compare = 'greater-or-equal', reference = 2, fail = 'decrement-and-clamp', pass = 'increment-and-clamp' }, clear = 2 }",
    "stencil = { front = { compare = 'equal', compare-mask = 1, reference = 4, pass = 'increment-and-wrap', write-mask = 254 }, clear = 7 }",
    "stencil = { front = { compare = 'less-or-equal', reference = 15, pass = 'replace', write-mask = 3 }, back = { compare = 'never' }, clear = 240 }",
];

/// A scene of the rectangles with a state.
fn scene(state: &str) -> String {
    let (mut positions, mut colors) = (Vec::new(), Vec::new());
    for ([left, bottom, right, top], depth, color, is_front) in RECTANGLES {
        let corners = [
            [left, bottom],
            [right, bottom],
            [right, top],
            [left, bottom],
            [right, top],
            [left, top],
        ];
        let order = if is_front {
            [0, 1, 2, 3, 4, 5]
        } else {
            [0, 2, 1, 3, 5, 4]
        };
        for [x, y] in order.map(|at| corners[at]) {
            positions.push([x, y, depth, 1.0]);
            colors.push(color);
        }
    }
    let count = positions.len();
    format!("size = [32, 32]\nvertices = {count}\n{state}\n[inputs]\nposition = {positions:?}\ncolor = {colors:?}\n")
}

fn run(folder: &Path, state: &str, device: &[&str]) -> Output {
    std::fs::write(folder.join("scene.toml"), scene(state)).unwrap();
    let fixed = ["run", "a.vert", "a.frag", "--scene", "scene.toml", "-o", "out.png"];
    Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args([&fixed, device].concat())
        .current_dir(folder)
        .output()
        .expect("the binary runs")
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.vert"), VERTEX).unwrap();
    std::fs::write(folder.path().join("a.frag"), FRAGMENT).unwrap();
    folder
}

#[test]
fn a_stencil_is_the_same_everywhere() {
    let folder = folder();
    let picture = |state: &str, device: &[&str]| {
        let output = run(folder.path(), state, device);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{device:?} {state}: {error}");
        Picture::load(&folder.path().join("out.png")).unwrap()
    };
    let plain = picture("", &[]);
    for state in STATES {
        let wanted = picture(state, &[]);
        for engine in ["mali400/scalar", "mali400/wide", "mali400/native"] {
            assert!(picture(state, &["--device", engine]) == wanted, "{engine}: {state}");
        }
        assert!(wanted != plain, "{state} changes nothing");
    }
}

#[test]
fn a_mali_does_not_count_in_parts() {
    let folder = folder();
    let state = "stencil = { front = { pass = 'increment-and-wrap', write-mask = 5 } }";
    assert!(run(folder.path(), state, &[]).status.success(), "Vulkan does");
    let output = run(folder.path(), state, &["--device", "mali400"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("scene.toml") && error.contains("0x05"), "{error}");
}
