//! One shader on every engine: `compare --engines` and its parts.

use crate::common;

use emulator::exec::inputs::Inputs;
use emulator::exec::scalar::Scalar;
use emulator::exec::{Delegate, Engine, FragmentContext, FragmentProgram, Fragments, Quad};
use emulator::fault::Result;
use loader::mbs::Program;
use skrymir::picture::Picture;
use skrymir::runner::engines::{Drawn, Part, Row, Subject, Verdict, blame, judge};
use skrymir::runner::mali::Pair;
use skrymir::scene::Scene;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;
use utgard::pp::MulOp;

/// Half floats and eight bits: the allowed difference of a channel on one pixel in a hundred.
const TOLERANCE: u8 = 6;
const ALLOWED: f64 = 1.0;

fn scene() -> Scene {
    Scene {
        size: Some([64, 64]),
        ..Scene::default()
    }
}

/// Draws each file on every engine; returns the number that the emulator drew, and all rows with a picture.
fn agree(files: &[(PathBuf, Option<PathBuf>)]) -> (usize, usize) {
    let (mut emulated, mut pictures, mut bad) = (0, 0, Vec::new());
    for (first, second) in files {
        let subject = match Subject::load(first, second.as_deref()) {
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
fn vbc_files_match_on_every_engine() {
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
    // Shaders of 65,000 words take a device's compiler minutes.
    all.retain(|(path, _)| std::fs::metadata(path).is_ok_and(|file| file.len() < 1 << 17));
    let (emulated, pictures) = agree(&all);
    println!("{} files: {emulated} fit the emulator, {pictures} pictures", all.len());
    assert!(emulated >= 20 && pictures >= 200, "{emulated} {pictures}");
}

#[test]
fn skia_programs_match_on_every_engine() {
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
fn mali_pairs_match_on_every_engine() {
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
        part: if *exact { Part::Engine } else { Part::Lifted },
    };
    pictures.iter().map(row).collect()
}

#[test]
fn a_different_picture_is_reported() {
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
    // An engine of the emulator must match in every bit, regardless of the tolerance.
    assert!(matches!(&verdicts[1], Verdict::Differs(found) if found.worst_at == [3, 0]));
    assert!(matches!(verdicts[2], Verdict::Same(_)));
    assert!(matches!(verdicts[3], Verdict::Within(_)) && matches!(verdicts[4], Verdict::Within(_)));
    assert!(matches!(&verdicts[5], Verdict::Differs(found) if found.differing == 2));
    assert!(matches!(judge(&rows, 6, 24.0)[4], Verdict::Differs(_)));
}

/// Rows for the parts of the chain, each with the red of its four pixels.
fn chain(pictures: &[(Part, [u8; 4])]) -> Vec<Row> {
    let rows = pictures.iter().map(|(part, reds)| {
        let row = rows(&[("row", *reds, *part == Part::Engine)]).remove(0);
        Row { part: *part, ..row }
    });
    rows.collect()
}

#[test]
fn a_difference_is_attributed_to_its_part_of_the_chain() {
    let (good, bad) = ([10; 4], [90; 4]);
    let blamed = |pictures: &[(Part, [u8; 4])]| {
        let rows = chain(pictures);
        let verdicts = judge(&rows, 2, 0.0);
        let blamed = blame(&rows, &verdicts, 2, 0.0);
        let parts: Vec<String> = blamed
            .iter()
            .map(|line| line.split(':').next().unwrap_or_default().to_owned())
            .collect();
        (parts.join(" "), verdicts.iter().any(Verdict::is_bad))
    };
    let all = [
        (Part::Engine, good),
        (Part::Engine, good),
        (Part::Source, good),
        (Part::Witness, good),
        (Part::Written, good),
        (Part::HalfSteps, good),
        (Part::Lifted, good),
    ];
    assert_eq!(blamed(&all), (String::new(), false));
    for (at, part) in [(1, "engine"), (4, "writer"), (6, "lifting"), (3, "front end")] {
        let mut rows = all;
        rows[at].1 = bad;
        // Half steps explain a difference of the emulator, not of a second front end, nor of a writer.
        rows[5].1 = if at == 4 || at == 3 { [40; 4] } else { good };
        assert_eq!(blamed(&rows), (part.to_owned(), true), "{at}");
    }
    // The source, with every front end, differs from our programs' picture: the compiler is at fault.
    let mut rows = all;
    rows[2..=5].iter_mut().for_each(|row| row.1 = bad);
    assert_eq!(blamed(&rows), ("compiler".to_owned(), true));
    // With half precision steps it is equal: the difference is precision.
    rows[5].1 = good;
    assert_eq!(blamed(&rows), (String::new(), false));
}

/// A fragment program with its first vector product times eight: an operator that a compiler, an engine or lifting got
/// wrong. Nothing for a program without such a product.
fn with_a_fault(program: &Program) -> Option<Program> {
    let (instructions, _) = utgard::pp::flow::instructions(&program.code);
    let (at, instruction) = instructions.into_iter().find_map(|(at, mut instruction)| {
        let unit = instruction.vec_mul.as_mut()?;
        (unit.op == MulOp::Mul).then(|| unit.op = MulOp::MulX8)?;
        Some((at as usize, instruction))
    })?;
    let mut words = Vec::new();
    instruction.encode(&mut words);
    let mut faulty = program.clone();
    faulty.code[at..at + words.len()].copy_from_slice(&words);
    Some(faulty)
}

/// The scalar engine with a fault: it runs another fragment program than it is given.
struct Faulty(FragmentProgram);

impl Delegate for Faulty {
    fn engine(&self) -> &dyn Engine {
        &Scalar
    }

    fn fragments(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: &[Quad],
        out: &mut Fragments,
    ) -> Result<()> {
        let program = &self.0;
        let context = FragmentContext { program, ..*context };
        self.engine().fragments(&context, inputs, quads, out)
    }
}

/// Whether a fault in the compiler, in an engine and in lifting is attributed to each; nothing where none can be planted.
fn faults_found(subject: &mut Subject) -> Option<[bool; 3]> {
    let pair = subject.pair_mut()?;
    let faulty = Pair {
        fragment: with_a_fault(&pair.fragment)?,
        ..pair.clone()
    };
    let is_blamed = |rows: &[Row], part: &str| {
        let verdicts = judge(rows, TOLERANCE, ALLOWED);
        let blamed = blame(rows, &verdicts, TOLERANCE, ALLOWED);
        blamed.iter().any(|line| line.starts_with(part))
    };
    let engines: [(&str, Box<dyn Engine>); 2] = [
        ("scalar", Box::new(Scalar)),
        (
            "faulty",
            Box::new(Faulty(FragmentProgram::read(&faulty.fragment.code).ok()?)),
        ),
    ];
    let in_engine = is_blamed(&subject.draw_on(engines, &scene(), Some("none")), "engine:");
    subject.lift_instead(faulty.clone());
    let in_lifting = is_blamed(&subject.draw(&scene(), None), "lifting:");
    *subject.pair_mut()? = faulty;
    let in_compiler = is_blamed(&subject.draw(&scene(), None), "compiler:");
    Some([in_compiler, in_engine, in_lifting])
}

/// Pairs of the field that are compared.
const SHARE: usize = 24;

/// Some fragments have 0 times infinity, and GLSL leaves `min` and `max` of that undefined.
const NOT_A_NUMBER: &str = "fsr__shaders__fsr-pass0.vert";

/// A tenth of its pixels differ, and half steps do not explain them: open.
const OPEN: &str = "handheld__shaders__lcd1x_psp.vert";

#[test]
fn field_shaders_match_on_every_engine_and_planted_faults_are_found() {
    let Some(folder) = common::corpus("field") else { return };
    let all = common::files(&folder.join("retro"), "vert");
    let step = all.len() / SHARE;
    let (mut compared, mut by_precision, mut found, mut planted) = (0, 0, [0; 3], 0);
    let mut bad = Vec::new();
    for vertex in all.into_iter().step_by(step) {
        let fragment = vertex.with_extension("frag");
        let Ok(mut subject) = Subject::load(&vertex, Some(&fragment)) else {
            continue;
        };
        let rows = subject.draw(&scene(), None);
        let verdicts = judge(&rows, TOLERANCE, ALLOWED);
        if rows.iter().filter(|row| matches!(row.drawn, Drawn::Picture(_))).count() < 5 {
            continue;
        }
        compared += 1;
        by_precision += usize::from(verdicts.iter().any(|verdict| matches!(verdict, Verdict::Precision(_))));
        let blamed = blame(&rows, &verdicts, TOLERANCE, ALLOWED);
        // Two front ends may fold constants differently: this is reported, but is not an error.
        let (front_ends, ours): (Vec<String>, Vec<String>) =
            blamed.into_iter().partition(|line| line.starts_with("front end:"));
        front_ends
            .iter()
            .for_each(|line| println!("{}: {line}", vertex.display()));
        if !ours.is_empty() && ![NOT_A_NUMBER, OPEN].iter().any(|known| vertex.ends_with(known)) {
            bad.push(format!("{}: {ours:?}", vertex.display()));
        }
        if let Some(blamed) = faults_found(&mut subject) {
            planted += 1;
            found
                .iter_mut()
                .zip(blamed)
                .for_each(|(sum, one)| *sum += usize::from(one));
        }
    }
    let [compiler, engine, lifting] = found;
    println!("{compared} pairs compared, {by_precision} differ by precision");
    println!("of {planted} planted faults found: compiler {compiler}, engine {engine}, lifting {lifting}");
    assert!(compared >= SHARE / 2 && planted >= 4, "{compared} {planted}");
    assert!(bad.is_empty(), "{bad:#?}");
    // Not every product affects the picture.
    assert!(found.iter().all(|found| 3 * found >= planted), "{found:?} of {planted}");
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
fn the_table_has_one_line_per_engine() {
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
fn the_json_has_every_row() {
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
