//! Hot reload: a watcher's behaviour when its files change, and the output of `run --watch`.

use crate::common;

use skrymir::harness::Settings;
use skrymir::picture::Picture;
use skrymir::sample;
use skrymir::watch::{Event, Watcher};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

fn drawn(event: Event) -> Picture {
    match event {
        Event::Drawn(drawn) => Picture::of(&drawn.frame.targets[0]),
        other => panic!("expected a picture, there is {other:?}"),
    }
}

#[test]
fn a_bad_change_keeps_the_last_good_pipeline() {
    let folder = tempfile::tempdir().unwrap();
    let (file, scene) = (folder.path().join("a.vbc"), folder.path().join("a.toml"));
    let fullscreen = std::fs::read(common::data("vbc/fullscreen.vbc")).unwrap();
    std::fs::write(&file, &fullscreen).unwrap();
    std::fs::write(&scene, "size = [16, 16]").unwrap();
    let settings = Settings::default();
    let mut watcher = Watcher::new(common::context(), &file, Some(&scene), settings, None, |scene| scene);
    let first = drawn(watcher.look());
    assert!(matches!(watcher.look(), Event::Same));

    std::fs::write(&file, &fullscreen[..fullscreen.len() - 3]).unwrap();
    match watcher.look() {
        Event::Kept(why) => assert!(why.contains("vbc"), "{why}"),
        other => panic!("a cut file gives {other:?}"),
    }
    assert!(matches!(watcher.look(), Event::Same), "an error is reported once");

    // The scene still works with the previous pipeline.
    std::fs::write(&scene, "size = [16, 16]\n# touched").unwrap();
    assert_eq!(drawn(watcher.look()), first);
    std::fs::write(&scene, "size = \"large\"").unwrap();
    assert!(matches!(watcher.look(), Event::Kept(_)));

    std::fs::write(&scene, "size = [16, 16]").unwrap();
    std::fs::write(&file, sample::triangle().unwrap()).unwrap();
    let other = drawn(watcher.look());
    assert_ne!(other, first, "the new file is drawn");
    std::fs::remove_file(&file).unwrap();
    assert!(
        matches!(watcher.look(), Event::Same),
        "a file in the middle of being replaced is waited for"
    );
}

#[test]
fn the_command_redraws() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("a.vbc"), folder.path().join("out.png"));
    std::fs::write(&file, sample::triangle().unwrap()).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(["run", "--watch", "--no-cache", "--size", "16x16", "-o"])
        .args([&out, &file])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let first = Picture::load(&out).unwrap();
    std::fs::copy(common::data("vbc/fullscreen.vbc"), &file).unwrap();
    lines.next().unwrap().unwrap();
    assert_ne!(Picture::load(&out).unwrap(), first);
    child.kill().unwrap();
    child.wait().unwrap();
}
