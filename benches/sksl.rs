//! Speed of reading and writing SkSL binaries, on one core.
//!
//! Over the corpus of real files if it is present, else over our own program; throughput counts the files' bytes.
#![allow(missing_docs)]

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use loader::sksl;
use std::path::Path;

fn main() {
    divan::main();
}

fn files() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/sksl");
    let mut found = Vec::new();
    for folder in ["", "programs", "programs_dropped", "programs_undecodable"] {
        let entries = std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
        let binaries = entries.filter(|entry| entry.path().extension().is_some_and(|e| e == "bin"));
        found.extend(binaries.filter_map(|entry| std::fs::read(entry.path()).ok()));
    }
    found.retain(|bytes| sksl::read(bytes).is_ok());
    if found.is_empty() {
        found.push(own());
    }
    found
}

/// A long expression, for a checkout without the corpus.
fn own() -> Vec<u8> {
    let mut b = sksl::Builder::new(sksl::ProgramKind::RUNTIME_SHADER);
    let main = b.function("half4", "main", &[]);
    let mut sum = b.float("half", 1.0);
    for _ in 0..200 {
        let one = b.float("half", 1.0);
        sum = b.binary(sum, sksl::Operator::PLUS, one);
    }
    let splat = b.construct(sksl::Command::CONSTRUCTOR_SPLAT, "half4", &[sum]);
    let value = b.statement(sksl::Statement::Return(Some(splat)));
    sksl::write(&b.define(main, &[value]).finish()).expect("a writable program")
}

#[divan::bench]
fn decode(bencher: Bencher) {
    let files = files();
    let bytes: usize = files.iter().map(Vec::len).sum();
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        for file in &files {
            black_box(sksl::read(black_box(file)).expect("a readable file"));
        }
    });
}

#[divan::bench]
fn encode(bencher: Bencher) {
    let files = files();
    let bytes: usize = files.iter().map(Vec::len).sum();
    let trees: Vec<_> = files
        .iter()
        .map(|file| sksl::read(file).expect("a readable file"))
        .collect();
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        for tree in &trees {
            black_box(sksl::write(black_box(tree)).expect("a writable tree"));
        }
    });
}
