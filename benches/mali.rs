//! How fast the Mali-400's programs are decoded, on one core: `cargo bench --bench mali`.
#![allow(missing_docs)]

use divan::Bencher;
use divan::counter::ItemsCount;
use fastrand::Rng;
use utgard::{gp, pp};

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
