//! Damaged MBS files yield errors or findings, never a panic, and memory use is bounded by the file's size.

use crate::common;

use fastrand::Rng;
use loader::mbs::{Mbs, validate};
use utgard::{shader, stats};

fn files() -> Vec<Vec<u8>> {
    let sample = |name: &str| {
        let path = common::data("mali").join(name).with_extension("s");
        shader::assemble(&std::fs::read_to_string(path).unwrap())
            .unwrap()
            .write()
    };
    let mut files = vec![sample("every_gp"), sample("every_pp")];
    if let Some(folder) = common::corpus("mbs") {
        files.extend(
            common::files(&folder, "mbs")
                .iter()
                .map(|path| std::fs::read(path).unwrap()),
        );
    }
    files
}

/// Runs every operation on a file; returns whether it can be read.
fn use_all(bytes: &[u8]) -> bool {
    let Ok(mbs) = Mbs::read(bytes) else { return false };
    assert_eq!(mbs.write(), bytes, "bytes are lost");
    validate(&mbs);
    for program in mbs.programs().unwrap_or_default() {
        stats::stats(&program);
    }
    if let Ok(text) = shader::disassemble(&mbs) {
        assert_eq!(shader::assemble(&text).unwrap().write(), bytes, "{text}");
    }
    true
}

#[test]
fn every_truncation_is_an_error() {
    let mut count = 0;
    for file in files() {
        for end in 0..file.len() {
            assert!(!use_all(&file[..end]), "{end} of {} bytes are read", file.len());
            count += 1;
        }
    }
    println!("{count} truncations are errors");
}

#[test]
fn changed_bytes_never_panic() {
    let (mut random, mut read, mut all) = (Rng::with_seed(9), 0, 0);
    for file in files() {
        for _ in 0..4_000 / common::quick_step(20) {
            let mut bytes = file.clone();
            for _ in 0..=random.u32(..3) {
                let at = random.u32(..bytes.len() as u32) as usize;
                bytes[at] = if random.bool() {
                    random.u32(..) as u8
                } else {
                    bytes[at] ^ 1 << random.u32(..8)
                };
            }
            read += usize::from(use_all(&bytes));
            all += 1;
        }
    }
    println!("{all} changed files, {read} can be read and come back");
}

#[test]
fn nesting_of_chunks_is_bounded() {
    let mut bytes = Vec::new();
    for depth in 0..10_000u32 {
        bytes.extend_from_slice(b"MBS1");
        bytes.extend_from_slice(&(8 * (9_999 - depth)).to_le_bytes());
    }
    assert!(use_all(&bytes));
}
