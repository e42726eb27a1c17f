//! Observing Mali-400 programs: executed instructions with operands and results, and errors found.

use crate::common;

use emulator::exec::Engine;
use emulator::exec::observed::{Observed, Report, Tell};
use emulator::exec::scalar::Scalar;
use loader::trace::Trace;
use skrymir::picture::Picture;
use skrymir::runner::mali::{self, Pair};
use skrymir::runner::replay::replay;
use skrymir::scene::Scene;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

/// A writer whose contents can be read.
#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mali").join(name)
}

/// The triangle of the examples with another fragment program, observed.
fn watched(fragment: &str, tell: Tell) -> (Picture, Report, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.s");
    std::fs::write(&path, fragment).unwrap();
    let pair = Pair::load(&example("triangle.vert.s"), &path).unwrap();
    let text = Text::default();
    let engine = Observed::new(tell, Box::new(text.clone()));
    let scene = Scene {
        size: Some([64, 64]),
        ..Scene::default()
    };
    let picture = mali::draw(&pair, &scene, Box::new(engine.clone()), 1).unwrap();
    let plain = mali::draw(&pair, &scene, Box::new(Scalar), 1).unwrap();
    assert!(picture == plain, "watching changes the picture");
    let report = engine.report().unwrap();
    let text = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
    (picture, report, text)
}

const CLEAN: &str = ".fragment\n.varying vec4 tint\nload.v $0 0, mov.v1 $1.x $0.x\nmov.v1 $1.yzw $0, stop\n";

#[test]
fn uninitialised_values_are_found() {
    let (_, report, _) = watched(CLEAN, Tell::Nothing);
    assert_eq!(report.findings(), [""; 0]);
    let cases = [
        ("mov.v1 $0.xy $1.zw", "reads $1.zw, which was not written"),
        ("mul.s0 $0.x $0.x $3.y", "reads $3.y, which was not written"),
        ("load.u 3, mov.v1 $0 ^uniform", "there is no uniform 12"),
        (
            "load.t -1, mov.v1 $0 ^uniform",
            "reads temporary -4, which was not written",
        ),
        ("load.v $0 40", "there is no varying component 160"),
        (
            "load.v ^discard.xy 0.xy, texld.b 0 $0.x, mov.v1 $0 ^texture, sync",
            "reads $0.x before the instruction in front has written it",
        ),
    ];
    for (line, message) in cases {
        let text = format!(".fragment\n.varying vec4 tint\n.stack 1 1\nload.v $0 0\n{line}\nmov.v1 $0 $0, stop\n");
        let (_, report, _) = watched(&text, Tell::Nothing);
        let found = report.findings();
        let at_place = report
            .findings
            .iter()
            .any(|finding| finding.message == message && finding.address > 0);
        assert!(at_place, "{line}: {found:?}");
        assert!(found.iter().all(|line| line.starts_with("fragment1, at ")), "{found:?}");
    }
    println!("{} kinds of reads that cannot be right are found", cases.len());
}

#[test]
fn every_instruction_is_counted() {
    // Left of the middle the loop's body runs, right of it it does not.
    let text = ".fragment\n.varying vec4 tint\nload.v $0 0\nbranch.gt $0.x ^const0.x right, const0 0.5\n\
                mov.v1 $0.z ^const0.x, const0 1.0\nright: mov.v1 $1 $0, stop\n";
    let (_, report, _) = watched(text, Tell::Nothing);
    assert_eq!(report.programs.len(), 2, "a vertex and a fragment program");
    let vertex = &report.programs[0];
    assert!(
        vertex.lines.iter().all(|line| line.hits == 3),
        "a triangle has three vertices"
    );
    assert_eq!(vertex.cycles(), 3 * vertex.lines.len() as u64);
    let fragment = &report.programs[1];
    let hits: Vec<u64> = fragment.lines.iter().map(|line| line.hits).collect();
    assert_eq!(hits.len(), 4);
    assert!(
        hits[0] == hits[1] && hits[0] == hits[3] && 0 < hits[2] && hits[2] < hits[0],
        "{hits:?}"
    );
    assert_eq!(fragment.lines[1].ways, Some([hits[2], hits[0] - hits[2]]));
    let lcov = report.lcov(|name| format!("/listings/{name}.s"));
    let expected = format!(
        "SF:/listings/fragment1.s\nBRDA:2,0,0,{on}\nBRDA:2,0,1,{taken}\nBRF:2\nBRH:2\n\
         DA:1,{all}\nDA:2,{all}\nDA:3,{on}\nDA:4,{all}\nLF:4\nLH:4\nend_of_record\n",
        on = hits[2],
        taken = hits[0] - hits[2],
        all = hits[0],
    );
    assert!(lcov.ends_with(&expected), "{lcov}");
    // The listing's rows equal the coverage's.
    assert!(
        fragment.listing().lines().nth(2).unwrap().contains("mov.v1 $0.z"),
        "{}",
        fragment.listing()
    );
    assert!(report.profile().contains("fragment1: "), "{}", report.profile());
}

#[test]
fn a_pixel_has_its_complete_history() {
    let (picture, _, text) = watched(CLEAN, Tell::Pixel(31, 40));
    let at = 4 * (40 * 64 + 31);
    let color: Vec<String> = picture.rgba[at..at + 4]
        .iter()
        .map(|byte| (f32::from(*byte) / 255.0).to_string())
        .collect();
    assert!(text.starts_with("pixel 31,40, fragment1"), "{text}");
    assert!(text.contains("\n        reads $0.x ("), "{text}");
    assert!(text.contains("\n        ends\n"), "{text}");
    // The tile's final value equals the picture's pixel.
    assert!(text.ends_with(&format!("has ({})\n", color.join(", "))), "{text}");
    assert!(!text.contains("pixel 30,40"));
    let (_, _, everything) = watched(CLEAN, Tell::Everything);
    assert!(everything.contains("vertex 0, vertex0\n") && everything.contains("vertex 2, vertex0\n"));
    assert!(everything.contains("pixel 30,40"));
    let (_, _, nothing) = watched(CLEAN, Tell::Nothing);
    assert_eq!(nothing, "");
}

/// Operands are the values that units read, even if an earlier unit of the instruction wrote them.
#[test]
fn operands_are_those_of_the_unit() {
    let text = ".fragment\n.varying vec4 tint\nload.v $0 0, mul.s0 $0.x ^const0.x ^const0.y, \
                add.s1 $0.x $0.x ^const0.x, const0 2.0 4.0\nmov.v1 $0 $0, stop\n";
    let (_, _, output) = watched(text, Tell::Pixel(31, 40));
    let line = output.lines().find(|line| line.contains("reads")).unwrap();
    assert!(
        line.contains("^const0.x (2), ^const0.y (4), $0.x (8), ^const0.x (2)"),
        "{output}"
    );
}

#[test]
fn recordings_of_a_real_driver_have_no_findings() {
    let Some(folder) = common::corpus("mali") else { return };
    let (mut count, mut instructions) = (0, 0);
    for path in common::recordings(&folder) {
        let bytes = std::fs::read(&path).unwrap();
        let trace = Trace::read(&bytes).unwrap();
        let engine = Observed::new(Tell::Nothing, Box::new(std::io::sink()));
        let pictures = [Box::new(engine.clone()) as Box<dyn Engine>, Box::new(Scalar)]
            .map(|engine| replay(&trace, engine, 1).unwrap().picture().unwrap());
        assert!(pictures[0] == pictures[1], "{}", path.display());
        let report = engine.report().unwrap();
        assert_eq!(report.findings(), [""; 0], "{}", path.display());
        instructions += report.programs.iter().map(|program| program.cycles()).sum::<u64>();
        count += 1;
    }
    println!("{count} recordings watched, {instructions} instructions, no findings");
    assert!(count >= 72 && instructions > 1_000_000);
}

#[test]
fn the_command_line_observes() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let [vertex, fragment] = ["triangle.vert.s", "triangle.frag.s"].map(|name| example(name).display().to_string());
    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_skrymir"))
            .args(["draw", &vertex, &fragment, "--size", "32x32"])
            .args(args)
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{error}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run(&["--watch-pixel", "16,16"]).contains("pixel 16,16, fragment1"));
    assert!(run(&["--profile"]).contains("vertex0: 111 cycles at least"));
    assert!(run(&["--trace", "-"]).contains("vertex 1, vertex0"));
    let (trace, info) = (file("trace.txt"), file("cover.info"));
    assert_eq!(run(&["--trace", &trace, "--lcov", &info]), "");
    assert!(std::fs::read_to_string(trace).unwrap().contains("vertex 1, vertex0"));
    // Coverage refers to the texts that the programs are assembled from; executed instructions have lines.
    let info = std::fs::read_to_string(info).unwrap();
    let text = std::fs::read_to_string(&fragment).unwrap();
    let line = 1 + text.lines().position(|line| line.contains("load.v")).unwrap();
    assert!(info.contains(&format!("SF:{vertex}\n")), "{info}");
    let of_fragment = info.split("SF:").find(|part| part.starts_with(&fragment)).unwrap();
    let hits = of_fragment
        .lines()
        .find_map(|row| row.strip_prefix(&format!("DA:{line},")))
        .unwrap();
    assert!(hits.parse::<u64>().unwrap() > 0, "{info}");
}
