//! Walking and printing SPIR-V, beside rspirv and spirv-dis.
//!
//! One large module repeats the function bodies of all compiled samples, so that the process' start is a small part of
//! spirv-dis's time; throughput is bytes of SPIR-V per second.

#[allow(dead_code)] // the tests use the rest
#[path = "../tests/it/files.rs"]
mod common;
#[allow(dead_code)] // the tests use the rest
#[path = "../tests/it/spirv/module_text.rs"]
mod modules;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use rspirv::binary::Disassemble;
use skrymir::loader::spirv::{Bytes, Grammar, dis, instructions, op};
use std::sync::LazyLock;
use std::time::Instant;

/// A module of about 16 MiB: one sample's declarations, and its functions many times with new ids.
static LARGE: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let all = modules::compiled(folder.path());
    let sample = all
        .iter()
        .find(|s| s.name.starts_with("loops.frag"))
        .or(all.first())
        .expect("a sample");
    repeat(&sample.words, 4 << 20)
});

fn repeat(words: &[u32], wanted: usize) -> Vec<u32> {
    let grammar = Grammar::builtin();
    let first = instructions(words)
        .flatten()
        .find(|i| i.opcode == op::FUNCTION)
        .map_or(words.len(), |i| i.position);
    let (head, body) = words.split_at(first);
    let mut out = words.to_vec();
    let mut bound = words[3];
    let context = skrymir::loader::spirv::operand::Context::new(words);
    let walk: Vec<_> = instructions(words)
        .flatten()
        .filter(|i| i.position >= head.len())
        .collect();
    let defined: std::collections::HashSet<u32> = walk
        .iter()
        .filter_map(|i| {
            let row = grammar.row(i.opcode).filter(|r| r.has_result)?;
            i.words.get(1 + usize::from(row.has_type)).copied()
        })
        .collect();
    // Positions of the body's own ids; every copy moves them beyond the last.
    let mut places = Vec::new();
    for i in &walk {
        for operand in skrymir::loader::spirv::operand::operands(grammar, &context, grammar.row(i.opcode), i).flatten()
        {
            use skrymir::loader::spirv::grammar::Shape;
            if matches!(operand.shape, Shape::Id | Shape::Result) && defined.contains(&operand.words[0]) {
                places.push(i.position - head.len() + operand.at);
            }
        }
    }
    while out.len() < wanted && bound < 4_000_000 {
        let mut copy = body.to_vec();
        places.iter().for_each(|at| copy[*at] += bound);
        out.extend(copy);
        bound += words[3];
    }
    out[3] = bound;
    out
}

fn main() {
    ratios();
    divan::main();
}

/// The figures side by side, the best of several runs each.
fn ratios() {
    let words = &*LARGE;
    let megabytes = words.len() as f64 * 4e-6;
    let best = |runs: usize, work: &mut dyn FnMut()| {
        (0..runs)
            .map(|_| {
                let start = Instant::now();
                work();
                start.elapsed().as_secs_f64()
            })
            .fold(f64::MAX, f64::min)
    };
    let walk = best(10, &mut || {
        black_box(walked(words));
    });
    let friendly = best(5, &mut || drop(black_box(printed(words, false))));
    let raw = best(5, &mut || drop(black_box(printed(words, true))));
    let rspirv = best(2, &mut || {
        drop(black_box(rspirv::dr::load_words(words).map(|m| m.disassemble())))
    });
    println!("module of {megabytes:.1} MB");
    println!("walk                {:9.1} MB/s", megabytes / walk);
    for (order, bytes) in [("little", modules::bytes(words)), ("big", big(words))] {
        let walk = best(10, &mut || {
            black_box(walked_bytes(&bytes));
        });
        println!("walk, bytes {order:7} {:9.1} MB/s", megabytes / walk);
    }
    println!("dis, names          {:9.1} MB/s", megabytes / friendly);
    println!("dis, raw ids        {:9.1} MB/s", megabytes / raw);
    println!(
        "rspirv load and dis {:9.1} MB/s: ours is {:.1} times as fast (raw ids), {:.1} (names)",
        megabytes / rspirv,
        rspirv / raw,
        rspirv / friendly
    );
    if modules::installed("spirv-dis") {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, out) = (folder.path().join("large.spv"), folder.path().join("large.txt"));
        std::fs::write(&file, modules::bytes(words)).expect("a file");
        for (flags, ours) in [(&["-o"][..], friendly), (&["--raw-id", "-o"][..], raw)] {
            let theirs = best(2, &mut || drop(modules::tool("spirv-dis", flags, &[&out, &file])));
            println!(
                "spirv-dis {:9} {:9.1} MB/s: ours is {:.1} times as fast",
                flags[0].trim_start_matches("-o"),
                megabytes / theirs,
                theirs / ours
            );
            let same = std::fs::read_to_string(&out).expect("text") == printed(words, flags.len() > 1);
            println!("texts identical: {same}");
        }
    }
}

fn walked(words: &[u32]) -> u32 {
    instructions(words)
        .flatten()
        .fold(0, |sum, i| sum.wrapping_add(u32::from(i.opcode)))
}

fn walked_bytes(bytes: &[u8]) -> u32 {
    Bytes::new(bytes)
        .expect("a module")
        .instructions()
        .flatten()
        .fold(0, |sum, i| sum.wrapping_add(u32::from(i.opcode)))
}

fn big(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn printed(words: &[u32], raw_id: bool) -> String {
    dis::disassemble(
        Grammar::builtin(),
        words,
        dis::Options {
            raw_id,
            ..Default::default()
        },
    )
    .expect("a module")
}

#[divan::bench]
fn walk(bencher: Bencher) {
    bencher
        .counter(BytesCount::new(LARGE.len() * 4))
        .bench(|| walked(black_box(&LARGE)));
}

#[divan::bench]
fn walk_bytes(bencher: Bencher) {
    let bytes = modules::bytes(&LARGE);
    bencher
        .counter(BytesCount::new(bytes.len()))
        .bench_local(|| walked_bytes(black_box(&bytes)));
}

#[divan::bench(sample_count = 5)]
fn dis_names(bencher: Bencher) {
    bencher
        .counter(BytesCount::new(LARGE.len() * 4))
        .bench(|| printed(black_box(&LARGE), false));
}

#[divan::bench(sample_count = 5)]
fn dis_raw(bencher: Bencher) {
    bencher
        .counter(BytesCount::new(LARGE.len() * 4))
        .bench(|| printed(black_box(&LARGE), true));
}
