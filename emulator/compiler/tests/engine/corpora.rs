//! Programs of others.

use crate::run::{Tally, check, fragment, vertex, well_formed};
use skrymir_compiler::{Input, Options, Stage, compile, glsl_es};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The corpus of GLES 2 programs: right, and no longer than what Mesa's compiler makes of them.
#[test]
fn corpus() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/glsl-es");
    let Ok(table) = std::fs::read_to_string(folder.join("lima.tsv")) else {
        println!("corpus glsl-es: not here");
        return;
    };
    let mut tally = Tally::default();
    let (mut programs, mut totals) = (0, [[0u32; 2]; 2]);
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        for (ending, stage, column) in [("vert", Stage::Vertex, 1), ("frag", Stage::Fragment, 5)] {
            let name = format!("{}.{ending}", fields[0]);
            let text = std::fs::read_to_string(folder.join(&name)).expect("a program");
            let compiled = check(&name, &text, stage, &mut tally);
            programs += 1;
            if let Ok(mesa) = fields[column].parse::<u32>() {
                let total = &mut totals[usize::from(stage == Stage::Fragment)];
                total[0] += mesa;
                total[1] += compiled.report.instructions;
            }
        }
    }
    let [vertex, fragment] = totals;
    println!(
        "{programs} programs; Mesa and we: vertex {vertex:?}, fragment {fragment:?}; {} numbers",
        tally.compared
    );
    assert!(vertex[1] <= vertex[0], "{vertex:?}");
    assert!(10 * fragment[1] <= 7 * fragment[0], "{fragment:?}");
}

/// Every file of a folder and those below.
fn files(folder: &std::path::Path, all: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => files(&path, all),
            false => all.push(path),
        }
    }
}

/// What came of a corpus.
#[derive(Default)]
struct Count {
    compiled: u32,
    refused: HashMap<String, u32>,
    wrong: Vec<String>,
    slowest: (Duration, String),
    tally: Tally,
}

impl Count {
    /// One stage of a file: compiled it is right, and what is refused is refused with words.
    fn stage(&mut self, name: &str, input: Input<'_>) {
        let begun = Instant::now();
        let compiled = compile(input, &Options::default());
        let took = begun.elapsed();
        if took > self.slowest.0 {
            self.slowest = (took, name.to_owned());
        }
        let program = match compiled {
            Ok(program) => program,
            Err(error) => {
                assert!(!error.message().is_empty(), "{name}");
                *self.refused.entry(reason(error.message())).or_default() += 1;
                return;
            }
        };
        self.compiled += 1;
        let tally = &mut self.tally;
        let run = std::panic::AssertUnwindSafe(|| {
            well_formed(name, &program.program);
            match program.shader.stage {
                Stage::Vertex => vertex(name, &program, 1, tally),
                Stage::Fragment => fragment(name, &program, 1, tally),
            }
        });
        if std::panic::catch_unwind(run).is_err() {
            self.wrong.push(name.to_owned());
        }
    }

    fn print(self, corpus: &str, files: usize) {
        println!(
            "corpus {corpus}: {files} files, {} stages compiled, {} wrong, {} numbers, {} without a bound, longest {:?} ({})",
            self.compiled,
            self.wrong.len(),
            self.tally.compared,
            self.tally.unsure,
            self.slowest.0,
            self.slowest.1
        );
        let mut why: Vec<_> = self.refused.into_iter().collect();
        why.sort_by_key(|(why, count)| (std::cmp::Reverse(*count), why.clone()));
        why.iter()
            .for_each(|(why, count)| println!("  {count:6} refused: {why}"));
        assert!(self.wrong.is_empty(), "{:?}", self.wrong);
    }
}

/// A refusal without the numbers and names in it, so that equal ones are counted together.
fn reason(message: &str) -> String {
    let words = message.split(' ').take(9);
    let plain = words.map(|word| {
        if word.contains(|c: char| c.is_ascii_digit() || "[](){}".contains(c)) {
            "…"
        } else {
            word
        }
    });
    plain.collect::<Vec<_>>().join(" ")
}

/// All files of a corpus with an ending, all their stages.
fn foreign(folder: &str, ending: &str, stages: &[translate::ShaderStage], least: u32) {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let mut all = Vec::new();
    files(&corpus.join(folder), &mut all);
    all.retain(|path| path.extension().is_some_and(|have| have == ending));
    all.sort();
    let mut count = Count::default();
    for path in &all {
        let (bytes, name) = (std::fs::read(path).expect("a file"), path.to_string_lossy());
        let Ok(source) = translate::Source::new(&name, &bytes) else {
            *count.refused.entry("not recognised".to_owned()).or_default() += 1;
            continue;
        };
        for stage in stages {
            let source = source.stage(*stage);
            let stage = match stage {
                translate::ShaderStage::Vertex => Stage::Vertex,
                _ => Stage::Fragment,
            };
            match std::str::from_utf8(&bytes) {
                Ok(text) if source.language == translate::Language::Glsl && glsl_es::recognises(text) => {
                    count.stage(&name, Input::GlslEs(text, stage));
                }
                _ => count.stage(&name, Input::Source(&source)),
            }
        }
    }
    assert!(all.is_empty() || count.compiled >= least, "{}", count.compiled);
    count.print(folder, all.len());
}

const BOTH: [translate::ShaderStage; 2] = [translate::ShaderStage::Vertex, translate::ShaderStage::Fragment];

#[test]
fn vbc_stages() {
    foreign("vbc", "vbc", &BOTH, 60);
}

#[test]
fn sksl_programs() {
    foreign("sksl", "bin", &BOTH[1..], 100);
}

#[test]
fn spirv_modules() {
    foreign("spirv", "spv", &BOTH, 10);
}

#[test]
fn gles_programs_of_recordings() {
    foreign("mali", "vert", &BOTH[..1], 10);
    foreign("mali", "frag", &BOTH[1..], 10);
}
