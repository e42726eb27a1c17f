//! One shader on every engine: `compare --engines`, and what it stands on.

use crate::common;

use skrymir::engines::{Drawn, Row, Subject, Verdict, judge};
use skrymir::picture::Picture;
use skrymir::scene::Scene;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// Half floats and eight bits: a channel may be this far off on one pixel in a hundred.
const TOLERANCE: u8 = 6;
const ALLOWED: f64 = 1.0;

fn scene() -> Scene {
    Scene {
        size: Some([64, 64]),
        ..Scene::default()
    }
}

/// Draws each file on every engine; how many files the emulator drew, and all rows with a picture.
fn agree(files: &[(PathBuf, Option<PathBuf>)]) -> (usize, usize) {
    let (mut emulated, mut pictures, mut bad) = (0, 0, Vec::new());
    for (first, second) in files {
        let subject = match Subject::load(first, second.as_deref(), &Default::default()) {
            Ok(subject) => subject,
            Err(error) => {
                println!("{}: {error}", first.display());
                continue;
            }
        };
        let rows = subject.draw(&scene(), None);
        for (row, verdict) in rows.iter().zip(judge(&rows, TOLERANCE, ALLOWED)) {
            let is_picture = matches!(row.drawn, Drawn::Picture(_));
            pictures += usize::from(is_picture);
            emulated += usize::from(is_picture && row.engine == "emulator, scalar");
            if verdict.is_bad() {
                bad.push(format!("{} on {}: {verdict:?}", first.display(), row.engine));
            }
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
    (emulated, pictures)
}

fn alone(path: PathBuf) -> (PathBuf, Option<PathBuf>) {
    (path, None)
}

#[test]
fn vbc_files_look_the_same_on_every_engine() {
    let own: Vec<_> = common::files(&common::data("vbc"), "vbc")
        .into_iter()
        .map(alone)
        .collect();
    let (emulated, pictures) = agree(&own);
    println!(
        "{} own files: {emulated} fit the emulator, {pictures} pictures",
        own.len()
    );
    assert!(emulated >= 7 && pictures >= 7 * 5, "{emulated} {pictures}");
    let Some(folder) = common::corpus("vbc") else { return };
    let mut all: Vec<_> = common::files(&folder, "vbc").into_iter().map(alone).collect();
    // Shaders of 65,000 words keep a device's compiler busy for minutes.
    all.retain(|(path, _)| std::fs::metadata(path).is_ok_and(|file| file.len() < 1 << 17));
    let (emulated, pictures) = agree(&all);
    println!("{} files: {emulated} fit the emulator, {pictures} pictures", all.len());
    assert!(emulated >= 20 && pictures >= 200, "{emulated} {pictures}");
}

#[test]
fn skia_programs_look_the_same_on_every_engine() {
    let Some(folder) = common::corpus("sksl") else { return };
    let all = common::files(&folder.join("programs"), "bin");
    let some: Vec<_> = all.into_iter().step_by(12).map(alone).collect();
    let (emulated, pictures) = agree(&some);
    println!(
        "{} programs: {emulated} fit the emulator, {pictures} pictures",
        some.len()
    );
    assert!(emulated * 4 >= some.len() * 3, "{emulated} of {}", some.len());
}

#[test]
fn mali_pairs_look_the_same_on_every_engine() {
    let Some(folder) = common::corpus("mbs") else { return };
    let pair = |vertex: &str, fragment: &str| (folder.join(vertex), Some(folder.join(fragment)));
    let pairs = [
        pair("ssvb_cube_vertex.libmali.mbs", "ssvb_cube_fragment.libmali.mbs"),
        pair("ssvb_mvp_vertex.libmali.mbs", "limare_clear_fragment.ogt.mbs"),
    ];
    let (emulated, pictures) = agree(&pairs);
    assert!(emulated == 2 && pictures >= 8, "{pictures}");
}

/// Pictures of 4 x 1 pixels, one for each engine.
fn rows(pictures: &[(&str, [u8; 4], bool)]) -> Vec<Row> {
    let row = |(engine, reds, exact): &(&str, [u8; 4], bool)| Row {
        engine: (*engine).to_owned(),
        drawn: Drawn::Picture(Picture {
            width: 4,
            height: 1,
            rgba: reds.iter().flat_map(|red| [*red, 0, 0, 255]).collect(),
        }),
        time: Duration::ZERO,
        exact: *exact,
    };
    pictures.iter().map(row).collect()
}

#[test]
fn a_picture_that_differs_is_told() {
    let rows = rows(&[
        ("scalar", [10, 10, 10, 10], true),
        ("wide", [10, 10, 10, 11], true),
        ("same", [10, 10, 10, 10], false),
        ("near", [16, 10, 10, 10], false),
        ("one off", [17, 10, 10, 10], false),
        ("two off", [17, 10, 10, 99], false),
    ]);
    let verdicts = judge(&rows, 6, 25.0);
    assert_eq!(verdicts[0], Verdict::Reference);
    // An engine of the emulator owes every bit, whatever is allowed to others.
    assert!(matches!(&verdicts[1], Verdict::Differs(found) if found.worst_at == [3, 0]));
    assert!(matches!(verdicts[2], Verdict::Same(_)));
    assert!(matches!(verdicts[3], Verdict::Within(_)) && matches!(verdicts[4], Verdict::Within(_)));
    assert!(matches!(&verdicts[5], Verdict::Differs(found) if found.differing == 2));
    assert!(matches!(judge(&rows, 6, 24.0)[4], Verdict::Differs(_)));
}

fn compare(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
    command
        .arg("compare")
        .args(arguments)
        .output()
        .expect("the command runs")
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a readable path")
}

#[test]
fn the_table_has_a_line_an_engine() {
    let file = common::data("vbc/textured.vbc");
    let output = compare(&[
        "--engines",
        path(&file),
        "--size",
        "32x32",
        "--tolerance",
        "6",
        "--allow",
        "1",
    ]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    for engine in [
        "emulator, scalar",
        "emulator, wide",
        "emulator, native",
        "lowered",
        "through wgsl",
        "lifted",
    ] {
        assert!(text.lines().any(|line| line.contains(engine)), "{engine} in {text}");
    }
    assert!(text.contains("the reference") && text.contains("same"), "{text}");
}

#[test]
fn programs_can_read_it() {
    let file = common::data("vbc/triangle.vbc");
    let folder = tempfile::tempdir().expect("a folder");
    let diff = folder.path().join("diff.png");
    let output = compare(&["--engines", path(&file), "--size", "32x32", "--json", "-o", path(&diff)]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["same"], true, "{value:#}");
    let rows = value["engines"].as_array().expect("rows");
    assert_eq!(
        (rows[0]["verdict"].as_str(), rows[0]["exact"].as_bool()),
        (Some("reference"), Some(true))
    );
    assert!(
        rows.iter()
            .all(|row| row["milliseconds"].as_f64().is_some_and(|time| time >= 0.0))
    );
    assert_eq!(Picture::load(&diff).expect("a picture").width, 32);
}

#[test]
fn one_engine_alone_is_no_verdict() {
    // A Mali-400 has no texel buffers, and neither has naga.
    let output = compare(&["--engines", path(&common::data("vbc/rotexels.vbc"))]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("nothing to compare"), "{text}");
}

#[test]
fn flags_for_engines_need_them() {
    let (a, b) = (common::data("vbc/triangle.vbc"), common::data("vbc/textured.vbc"));
    for flag in [["--scene", "x.toml"], ["--size", "8x8"], ["--device", "x"]] {
        let output = compare(&[&[path(&a), path(&b)], &flag[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{flag:?}");
    }
    assert_eq!(compare(&[path(&a)]).status.code(), Some(2), "one picture is not two");
    assert_eq!(compare(&[path(&a), path(&b), "--allow", "101"]).status.code(), Some(2));
}
