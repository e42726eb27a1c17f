//! Speed of decoding and lifting Mali-400 programs, on one core: `cargo bench --bench mali`.
#![allow(missing_docs)]

use divan::Bencher;
use divan::counter::ItemsCount;
use fastrand::Rng;
use loader::mbs::{Mbs, Program, Stage};
use std::path::Path;
use utgard::{gp, pp, shader};

fn main() {
    divan::main();
}

const COUNT: usize = 10_000;

/// Vertex instructions; an item is an instruction.
#[divan::bench]
fn decode_gp(bencher: Bencher) {
    let mut random = Rng::with_seed(1);
    let words: Vec<[u32; 4]> = (0..COUNT)
        .map(|_| gp::random::instruction(&mut random, false).encode())
        .collect();
    bencher.counter(ItemsCount::new(COUNT)).bench(|| {
        for words in divan::black_box(&words) {
            divan::black_box(gp::Instruction::decode(*words));
        }
    });
}

/// Fragment instructions, most of several units; an item is an instruction.
#[divan::bench]
fn decode_pp(bencher: Bencher) {
    let words = pp::random::program(&mut Rng::with_seed(1), COUNT);
    bencher.counter(ItemsCount::new(COUNT)).bench(|| {
        let mut at = 0;
        while let Ok(instruction) = pp::Instruction::decode(&divan::black_box(&words)[at..]) {
            at += instruction.words() as usize;
            divan::black_box(&instruction);
        }
        assert_eq!(at, words.len());
    });
}

/// A program of a file.
#[derive(Clone, Debug)]
struct Sample {
    name: String,
    program: Program,
}

impl std::fmt::Display for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// The programs of the samples, and the longest of each stage of the corpus' MBS files if it is present.
fn samples() -> Vec<Sample> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    let mut folders = vec![root.join("tests/data/mali"), root.join("../shared/corpus/mbs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(bytes) = std::fs::read(&path) else { continue };
            let text = std::str::from_utf8(&bytes).ok().filter(|text| shader::recognises(text));
            let file = match text {
                Some(text) => shader::assemble(text).ok(),
                None => Mbs::read(&bytes).ok(),
            };
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let programs = file.and_then(|file| file.programs().ok()).unwrap_or_default();
            all.extend(programs.into_iter().map(|program| Sample {
                name: format!("{name}, {:?}, {} words", program.stage, program.code.len()),
                program,
            }));
        }
    }
    // Samples of every instruction include some of unknown meaning.
    all.retain(|sample| lift_one(&sample.program, true).is_ok());
    all.sort_by_key(|sample| std::cmp::Reverse(sample.program.code.len()));
    let longest = |stage| all.iter().filter(move |sample| sample.program.stage == stage).take(4);
    longest(Stage::Vertex)
        .chain(longest(Stage::Fragment))
        .cloned()
        .collect()
}

/// Lifts a program to a validated module with the hardware's arithmetic.
#[divan::bench(args = samples())]
fn lift_exact(bencher: Bencher, sample: &Sample) {
    lifted(bencher, sample, true);
}

/// Lifts a program to a validated module in readable form.
#[divan::bench(args = samples())]
fn lift_plain(bencher: Bencher, sample: &Sample) {
    lifted(bencher, sample, false);
}

fn lifted(bencher: Bencher, sample: &Sample, exact: bool) {
    bencher.bench(|| lift_one(divan::black_box(&sample.program), exact).expect("a program that is lifted"));
}

fn lift_one(program: &Program, exact: bool) -> Result<translate::Shader, lift::Error> {
    let convention = lift::Convention {
        rows_down: true,
        height: None,
    };
    let options = lift::Options {
        exact,
        convention,
        viewport: None,
    };
    lift::lift(program.stage, &program.code, &lift::interface(program), &options)
}
