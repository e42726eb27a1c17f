//! Lifted pairs make the same picture on a Vulkan device as on the emulator.

use super::{draw, pairs};
use crate::common;
use emulator::driver::{self, Draw};
use emulator::exec::scalar::Scalar;
use emulator::gpu::Gpu;
use lift::interface::Interface;
use loader::mbs::{Program, Stage};
use loader::trace::{Pipe, Record, Trace};
use skrymir::picture::Picture;
use skrymir::runner::lifted;
use skrymir::runner::replay;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Share of pixels with a channel more than two off.
fn off(a: &Picture, b: &Picture) -> f64 {
    assert_eq!((a.width, a.height), (b.width, b.height));
    let differs = |(a, b): (&[u8], &[u8])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 2);
    let count = a
        .rgba
        .chunks(4)
        .zip(b.rgba.chunks(4))
        .filter(|pair| differs(*pair))
        .count();
    count as f64 / f64::from(a.width * a.height)
}

fn emulated(draw: &Draw<'_>) -> Picture {
    try_emulated(draw).unwrap()
}

fn try_emulated(draw: &Draw<'_>) -> Result<Picture, driver::Error> {
    let picture = driver::draw(&mut Gpu::new(Box::new(Scalar)), draw)?;
    Ok(Picture {
        width: picture.width,
        height: picture.height,
        rgba: picture.rgba,
    })
}

#[test]
fn own_pairs_match_on_vulkan() {
    let context = common::context();
    let mut before: Option<Picture> = None;
    let mut count = 0;
    let mut look = |name: &str, draw: &Draw<'_>| {
        let want = emulated(draw);
        for exact in [true, false] {
            let have = lifted::run(context, draw, exact).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            let off = off(&have, &want);
            println!(
                "{name}, {}: {:.2} % of pixels off",
                if exact { "exact" } else { "plain" },
                off * 100.0
            );
            assert!(off <= 0.005, "{name}");
        }
        // Negative control: another pair's picture is outside the tolerance.
        if let Some(before) = before.replace(want.clone()) {
            assert!(off(&before, &want) > 0.05, "{name} is like the pair before");
        }
        count += 1;
    };
    pairs::all(&mut look);
    draw::all(&mut look);
    println!("{count} pairs, exact and plain");
    assert_eq!(count, 19);
}

/// A program as SPIR-V that spirv-val accepts.
fn is_valid(name: &str, interface: &Interface, program: &Program, exact: bool) {
    let options = lift::Options {
        exact,
        convention: lift::Convention {
            rows_down: true,
            height: None,
        },
        viewport: None,
    };
    let shader =
        lift::lift(program.stage, &program.code, interface, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
    let bytes = translate::write(&shader, translate::Target::Spirv, &Default::default())
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let words = loader::spirv::to_words(&bytes).expect("whole words");
    let verdict = translate::validate::spirv_val::validate(&words);
    assert!(!matches!(verdict, Some(Err(_))), "{name}: {verdict:?}");
    // WGSL has no built-in for the position within a point.
    if let Err(error) = translate::write(&shader, translate::Target::Wgsl, &Default::default()) {
        let text = error.to_string();
        assert!(error.is_unsupported() && text.contains("PointCoord"), "{name}: {text}");
    }
}

/// Numbers of a recording's geometry jobs.
fn geometry_jobs(trace: &Trace<'_>) -> Vec<usize> {
    let submits = trace.records.iter().filter_map(|(_, record)| match record {
        Record::Submit { pipe, .. } => Some(*pipe),
        _ => None,
    });
    let jobs = submits.enumerate().filter(|(_, pipe)| *pipe == Pipe::Gp);
    jobs.map(|(job, _)| job).collect()
}

#[test]
fn programs_of_recordings_are_lifted() {
    let Some(folder) = common::corpus("mali") else { return };
    let (mut seen, mut draws) = (BTreeSet::new(), 0);
    for path in common::files(&folder, "trace") {
        let bytes = std::fs::read(&path).expect("a readable file");
        let trace = Trace::read(&bytes).expect("a recording");
        for job in geometry_jobs(&trace) {
            let found = replay::draws(&trace, job).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            draws += found.len();
            for (number, draw) in found.into_iter().enumerate() {
                for stage in [Stage::Vertex, Stage::Fragment] {
                    let Some((interface, program)) = draw.program(stage) else {
                        continue;
                    };
                    if seen.insert((stage == Stage::Vertex, program.code.clone())) {
                        let name = format!("{}, job {job}, draw {number}, {stage:?}", path.display());
                        is_valid(&name, &interface, &program, true);
                        is_valid(&name, &interface, &program, false);
                    }
                }
            }
        }
    }
    println!(
        "{draws} draws with {} programs, each lifted exactly and for reading",
        seen.len()
    );
    assert!(draws >= 500 && seen.len() >= 60, "{draws} {}", seen.len());
}

/// The draws of the recordings, each alone with its vertices and uniforms: lifted, on Vulkan, they match the scalar
/// engine.
#[test]
fn programs_of_recordings_look_the_same_on_vulkan() {
    let Some(folder) = common::corpus("mali") else { return };
    let context = common::context();
    let (mut seen, mut pictures, mut silent) = (BTreeSet::new(), Vec::<(String, Picture)>::new(), BTreeMap::new());
    let (mut same, mut noticed, mut wrong) = (0, 0, Vec::new());
    for path in common::files(&folder, "trace") {
        let bytes = std::fs::read(&path).expect("a readable file");
        let trace = Trace::read(&bytes).expect("a recording");
        for job in geometry_jobs(&trace) {
            let found = replay::draws_given(&trace, job).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            for (number, (draw, given)) in found.into_iter().enumerate() {
                if !seen.insert((draw.0.vertex.clone(), draw.0.fragment.clone())) {
                    continue;
                }
                let name = format!("{}, job {job}, draw {number}", path.display());
                let Some(pair) = given.and_then(|given| draw.pair(given)) else {
                    *silent
                        .entry("no vertex program, or no viewport in its uniforms".to_owned())
                        .or_insert(0) += 1;
                    continue;
                };
                let draw = pair.draw([64, 64]);
                let want = match try_emulated(&draw) {
                    Ok(picture) => picture,
                    Err(error) => {
                        *silent.entry(error.to_string()).or_insert(0) += 1;
                        continue;
                    }
                };
                let have = lifted::run(context, &draw, true).unwrap_or_else(|error| panic!("{name}: {error:#}"));
                let share = off(&have, &want);
                if share > 0.005 {
                    let first = want.rgba.chunks(4).zip(have.rgba.chunks(4)).enumerate();
                    let first = first.filter(|(_, (a, b))| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 2));
                    let first: Vec<_> = first
                        .map(|(at, pair)| format!("{},{}: {:?}", at % 64, at / 64, pair))
                        .take(4)
                        .collect();
                    wrong.push(format!(
                        "{name}: {:.2} % of pixels off, {}",
                        share * 100.0,
                        first.join("; ")
                    ));
                    continue;
                }
                same += 1;
                // Negative control: another program's picture is outside the tolerance.
                noticed += usize::from(pictures.last().is_some_and(|(_, before)| off(&have, before) > 0.005));
                pictures.push((name, want));
            }
        }
    }
    println!(
        "{same} pairs of programs paint the same, {noticed} of them not what the one before paints, {} do not",
        wrong.len()
    );
    wrong.iter().for_each(|line| println!("    {line}"));
    silent
        .iter()
        .for_each(|(why, count)| println!("{count:5}  not drawn: {why}"));
    assert!(wrong.is_empty());
    assert!(same >= 20 && noticed * 2 >= same, "{same} {noticed}");
}

/// A program extracted from a recording on the command line equals the one that its draw runs.
#[test]
fn a_recorded_draw_is_converted() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("job.trace");
    let mut text = None;
    pairs::all(|_, draw| {
        if text.is_none() {
            let mut gpu = Gpu::new(Box::new(Scalar));
            let prepared = driver::prepare(&mut gpu, draw).expect("a draw");
            let trace = skrymir::runner::mali::recording(&gpu.memory, &prepared);
            std::fs::write(&place, trace).expect("a file");
            text = Some(draw.fragment.code.clone());
        }
    });
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skrymir"));
        command.arg("convert").arg(&place).args(arguments);
        command.output().expect("the command runs")
    };
    let cut = ["--job", "0", "--draw", "0", "--to", "wgsl"];
    for stage in ["vert", "frag"] {
        let output = run(&[&cut[..], &["--stage", stage]].concat());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(
            text.contains(if stage == "vert" { "@vertex" } else { "@fragment" }),
            "{text}"
        );
    }
    let bytes = std::fs::read(&place).expect("the recording");
    let draws = replay::draws(&Trace::read(&bytes).expect("a recording"), 0).expect("its draws");
    assert_eq!((draws.len(), Some(&draws[0].0.fragment)), (1, text.as_ref()));
    for (wrong, code) in [
        (vec!["--to", "wgsl"], 2),
        (cut.to_vec(), 2),
        (vec!["--job", "0", "--draw", "7", "--stage", "vert", "--to", "wgsl"], 1),
        (vec!["--job", "1", "--draw", "0", "--stage", "vert", "--to", "wgsl"], 1),
        (vec!["--job", "9", "--draw", "0", "--stage", "vert", "--to", "wgsl"], 1),
    ] {
        let output = run(&wrong);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{wrong:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
