//! Time from a VBC file's bytes to a validated view with its requirements, beside rspirv's parse of the same words.
//! First the table, then divan's figures for our own samples.

use loader::vbc::{self, Stage};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time budget of a file.
const BUDGET: Duration = Duration::from_micros(50);

fn main() {
    table();
    divan::main();
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The corpus if it is present, and our own samples.
fn files() -> Vec<PathBuf> {
    let folders = [root().join("../shared/corpus/vbc"), root().join("tests/data")];
    let entries = folders
        .iter()
        .filter_map(|folder| folder.read_dir().ok())
        .flatten()
        .flatten();
    let mut files: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "vbc"))
        .collect();
    files.sort();
    files
}

/// Reads, validates, and computes the device requirements.
fn load(bytes: &[u8]) -> usize {
    let file = vbc::read(bytes).expect("a readable file");
    let (report, needs) = (vbc::validate(&file), vbc::requirements(&file));
    report.diagnostics.len() + needs.features.len()
}

fn code(bytes: &[u8]) -> Vec<Vec<u32>> {
    let file = vbc::read(bytes).expect("a readable file");
    Stage::ALL
        .iter()
        .filter_map(|&stage| Some(file.code(stage)?.words()))
        .collect()
}

fn rspirv(code: &[Vec<u32>]) -> usize {
    let parse = |words: &Vec<u32>| rspirv::dr::load_words(words).map_or(0, |module| module.functions.len());
    code.iter().map(parse).sum()
}

/// Median of the times of many runs.
fn median(mut run: impl FnMut() -> usize) -> Duration {
    let mut times: Vec<_> = (0..101)
        .map(|_| {
            let start = Instant::now();
            black_box(run());
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

fn table() {
    println!(
        "{:42} {:>7} {:>10} {:>10}",
        "file (microseconds, median of 101)", "words", "skrymir", "rspirv"
    );
    let (mut within, mut slowest) = (0, Duration::ZERO);
    let files = files();
    for path in &files {
        let bytes = std::fs::read(path).expect("a readable file");
        let code = code(&bytes);
        let (ours, theirs) = (median(|| load(black_box(&bytes))), median(|| rspirv(black_box(&code))));
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let words: usize = code.iter().map(Vec::len).sum();
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        println!("{name:42} {words:>7} {:>10.2} {:>10.2}", micros(ours), micros(theirs));
        within += usize::from(ours < BUDGET);
        slowest = slowest.max(ours);
    }
    println!(
        "{within} of {} files under {BUDGET:?}; the slowest takes {slowest:?}\n",
        files.len()
    );
}

const SAMPLES: [&str; 3] = ["minimal", "everything", "legacy"];

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(root().join("tests/data").join(name).with_extension("vbc")).expect("a sample of the repository")
}

#[divan::bench(args = SAMPLES)]
fn skrymir_load_validate_requirements(bencher: divan::Bencher, name: &str) {
    let bytes = sample(name);
    bencher.bench_local(|| load(black_box(&bytes)));
}

#[divan::bench(args = SAMPLES)]
fn rspirv_parse(bencher: divan::Bencher, name: &str) {
    let code = code(&sample(name));
    bencher.bench_local(|| rspirv(black_box(&code)));
}

#[divan::bench(args = SAMPLES)]
fn skrymir_write(bencher: divan::Bencher, name: &str) {
    let model = vbc::read(&sample(name)).expect("a readable file").to_model();
    bencher.bench_local(|| vbc::write(black_box(&model)));
}
