//! Uniforms on the command line: values by name, the time, sequences of pictures.

use skrymir::picture::Picture;
use std::path::Path;
use std::process::{Command, Output};

fn skrymir(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(arguments)
        .output()
        .expect("the binary runs")
}

/// The red, green and blue in the middle of a picture.
fn colour(path: &Path) -> [u8; 3] {
    let [red, green, blue, _] = Picture::load(path).unwrap().at(8, 8);
    [red, green, blue]
}

const PULSE: &str = "precision mediump float;\nuniform vec3 tint;\nuniform float u_time;\n\
                     void main() { gl_FragColor = vec4(tint * u_time, 1.0); }\n";

const WHOLE: &str = "attribute vec4 position;\nvoid main() { gl_Position = position; }\n";

/// A command that draws a fragment stage, with arguments, into a file.
fn drawn(verb: &[&str], source: &str, arguments: &[&str], output: &Path) -> Output {
    let vertex = Path::new(source).with_extension("vert");
    std::fs::write(&vertex, WHOLE).unwrap();
    let (vertex, output) = (vertex.display().to_string(), output.display().to_string());
    let fixed = [&vertex, source, "--size", "16x16", "-o", &output];
    skrymir(&[verb, &fixed[..], arguments].concat())
}

#[test]
fn uniforms_and_the_time_are_set_on_every_device() {
    let folder = tempfile::tempdir().unwrap();
    let [source, out, scene] = ["pulse.frag", "out.png", "scene.toml"].map(|name| folder.path().join(name));
    std::fs::write(&source, PULSE).unwrap();
    std::fs::write(&scene, "[uniform]\ntint = [0, 0, 1]\nu_time = 1\n").unwrap();
    let (source, scene) = (source.display().to_string(), scene.display().to_string());
    for verb in [&["run"][..], &["run", "--device", "mali400"], &["draw"]] {
        let picture = |arguments: &[&str]| {
            let output = drawn(verb, &source, arguments, &out);
            let error = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{verb:?} {arguments:?}: {error}");
            colour(&out)
        };
        // Without values: the defaults, where times are 0.
        assert_eq!(picture(&[]), [0, 0, 0]);
        assert_eq!(picture(&["--time", "1"]), [255, 255, 255]);
        assert_eq!(picture(&["--set", "tint=1,0,0", "--time", "0.4"]), [102, 0, 0]);
        // They override the scene.
        assert_eq!(picture(&["--scene", &scene]), [0, 0, 255]);
        let both = ["--scene", &scene, "--set", "tint=0,1,0", "--set", "u_time=0.2"];
        assert_eq!(picture(&both), [0, 51, 0]);
    }
}

#[test]
fn a_sequence_is_a_picture_for_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("pulse.frag"), PULSE).unwrap();
    let source = path("pulse.frag").display().to_string();
    for verb in [&["run"][..], &["run", "--device", "mali400"], &["draw"]] {
        let sequence = ["--set", "tint=1,1,1", "--frames", "3", "--rate", "5", "--time", "0.2"];
        let output = drawn(verb, &source, &sequence, &path("out.png"));
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{verb:?}: {error}");
        let reds: Vec<u8> = (0..3)
            .map(|number| colour(&path(&format!("out{number:05}.png")))[0])
            .collect();
        assert_eq!(reds, [51, 102, 153], "{verb:?}");
        assert!(!path("out.png").exists() && !path("out00003.png").exists());
    }
}

#[test]
fn values_that_no_uniform_takes_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let [source, still, out] = ["pulse.frag", "still.frag", "out.png"].map(|name| folder.path().join(name));
    std::fs::write(&source, PULSE).unwrap();
    std::fs::write(&still, "void main() { gl_FragColor = vec4(1.0); }\n").unwrap();
    let (source, still) = (source.display().to_string(), still.display().to_string());
    for (source, arguments, expected) in [
        (&source, &["--set", "tin=1,0,0"][..], "no uniform member \"tin\""),
        (&source, &["--set", "tint=1,0"], "takes 3 numbers, 2 are given"),
        (&source, &["--set", "tint"], "NAME=NUMBERS"),
        (&source, &["--rate", "30"], "--frames"),
        (&source, &["--frames", "0"], "0 is not in"),
        (&still, &["--time", "1"], "no uniform for the time"),
        (&still, &["--frames", "2"], "no uniform for the time"),
    ] {
        for verb in ["run", "draw"] {
            let output = drawn(&[verb], source, arguments, &out);
            let error = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{verb} {arguments:?}: {error}");
            assert!(error.contains(expected), "{verb} {arguments:?}: {error}");
        }
    }
    let output = skrymir(&["run", &source, "-o", "-", "--frames", "2"]);
    assert_eq!(output.status.code(), Some(2));
}
