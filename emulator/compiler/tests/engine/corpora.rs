//! Programs of others.

use crate::common;
use crate::run::{Tally, check, fragment, vertex, well_formed};
use skrymir_compiler::{Input, Options, Stage, compile, glsl_es};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where the tests run once per mutant, one of this number of files is compiled.
const SAMPLE: usize = 25;

/// Programs and instructions of one stage: how many are no longer than Mesa's, what both make in all.
#[derive(Debug, Default)]
struct Lengths {
    programs: u32,
    no_longer: u32,
    mesa: u32,
    ours: u32,
}

impl Lengths {
    fn add(&mut self, mesa: u32, ours: u32) {
        self.programs += 1;
        self.no_longer += u32::from(ours <= mesa);
        self.mesa += mesa;
        self.ours += ours;
    }
}

/// Instructions that Mesa's driver compiled for the two programs of a recording, as its code is listed.
fn recorded(listing: &str) -> [usize; 2] {
    let (vertex, fragment) = listing.split_once("# PP").unwrap_or((listing, ""));
    [vertex, fragment].map(|part| part.lines().skip(1).take_while(|line| !line.is_empty()).count())
}

/// GLES 2 programs for which Mesa's figures are there: right, and no longer than what its compiler makes of them.
#[test]
fn lengths_beside_mesa() {
    let mut tally = Tally::default();
    let mut stages = [Lengths::default(), Lengths::default()];
    let mut one = |path: PathBuf, mesa: u32| {
        let stage = match path.extension().is_some_and(|ending| ending == "vert") {
            true => Stage::Vertex,
            false => Stage::Fragment,
        };
        let text = std::fs::read_to_string(&path).expect("a program");
        let compiled = check(&path.to_string_lossy(), &text, stage, &mut tally);
        if mesa > 0 {
            stages[usize::from(stage == Stage::Fragment)].add(mesa, compiled.report.instructions);
        }
    };
    let folder = common::corpus("glsl-es").unwrap_or_default();
    let table = std::fs::read_to_string(folder.join("lima.tsv")).unwrap_or_default();
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    for line in lines.step_by(common::quick_step(SAMPLE)) {
        let fields: Vec<&str> = line.split('\t').collect();
        for (ending, column) in [("vert", 1), ("frag", 5)] {
            let mesa = fields[column].parse().unwrap_or(0);
            one(folder.join(format!("{}.{ending}", fields[0])), mesa);
        }
    }
    let mut listings = Vec::new();
    files(&common::corpus("mali").unwrap_or_default(), &mut listings);
    listings.retain(|path| path.to_string_lossy().ends_with(".code.txt"));
    listings.sort();
    for listing in listings.iter().step_by(common::quick_step(SAMPLE)) {
        let counts = recorded(&std::fs::read_to_string(listing).expect("a listing"));
        for (ending, mesa) in ["vert", "frag"].into_iter().zip(counts) {
            let path = listing.with_extension("").with_extension(ending);
            if path.exists() {
                one(path, mesa as u32);
            }
        }
    }
    let [vertex, fragment] = stages;
    println!(
        "corpora glsl-es and mali: {vertex:?}, {fragment:?}; {} numbers",
        tally.compared
    );
    assert!(vertex.ours <= vertex.mesa, "{vertex:?}");
    assert!(100 * vertex.no_longer >= 85 * vertex.programs, "{vertex:?}");
    assert!(10 * fragment.ours <= 7 * fragment.mesa, "{fragment:?}");
    assert!(100 * fragment.no_longer >= 95 * fragment.programs, "{fragment:?}");
}

/// Programs whose length other compilers are known for: 39 and 40 for the first, 15 for the second.
#[test]
fn known_lengths() {
    let lit = "attribute vec3 position, normal; attribute vec2 coordinate; uniform mat4 view, whole; uniform mat3 turn;
        varying vec4 shade; varying vec2 place; void main() {
        vec4 seen = view * vec4(position, 1.0); vec3 light = normalize(vec3(2.0, 2.0, 20.0) - seen.xyz / seen.w);
        shade = vec4(vec3(max(dot(turn * normal, light), 0.0)), 1.0); place = coordinate;
        gl_Position = whole * vec4(position, 1.0); }";
    let plain = "attribute vec4 position; uniform mat4 whole; void main() { gl_Position = whole * position; }";
    let mut tally = Tally::default();
    for (name, text, most) in [("lit cube", lit, 40), ("plain", plain, 15)] {
        let length = check(name, text, Stage::Vertex, &mut tally).report.instructions;
        println!("{name}: {length} instructions");
        assert!(length <= most, "{name}: {length}");
    }
}

/// Every file of a folder and those below.
fn files(folder: &Path, all: &mut Vec<PathBuf>) {
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
    let mut all = Vec::new();
    files(&common::corpus(folder).unwrap_or_default(), &mut all);
    all.retain(|path| path.extension().is_some_and(|have| have == ending));
    all.sort();
    let (step, mut count) = (common::quick_step(SAMPLE), Count::default());
    for path in all.iter().step_by(step) {
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
    let least = if step > 1 { 0 } else { least };
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
