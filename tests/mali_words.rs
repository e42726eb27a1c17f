//! The vertex instructions a real driver compiled: every word decodes and comes back, and known fields hold what the
//! driver can write.
#![allow(missing_docs)]

mod common;

use emulator::isa::gp::Instruction;

/// GP words of a listing: the lines of four words behind its first heading.
fn words(text: &str) -> Vec<[u32; 4]> {
    let lines = text.lines().skip_while(|line| !line.starts_with("# GP")).skip(1);
    let word = |part: &str| u32::from_str_radix(part, 16).ok();
    let of_line = |line: &str| {
        let words: Option<Vec<u32>> = line.split_whitespace().map(word).collect();
        words.and_then(|words| words.try_into().ok())
    };
    lines.map_while(of_line).collect()
}

#[test]
fn a_drivers_vertex_words_come_back() {
    assert_eq!(
        Instruction::decode(Instruction::NOP_WORDS).encode(),
        Instruction::NOP_WORDS
    );
    let Some(folder) = common::corpus("mali") else { return };
    let (mut files, mut count) = (0, 0);
    for path in common::files(&folder, "code.txt") {
        let words = words(&std::fs::read_to_string(&path).unwrap());
        // A program that only clears has no vertex code.
        for words in &words {
            let instruction = Instruction::decode(*words);
            assert_eq!(instruction.encode(), *words, "{}", path.display());
            let branches = instruction.branch == 1;
            assert_eq!(
                instruction.flags,
                if branches { 13 } else { 0 },
                "{}: flags",
                path.display()
            );
            assert!(
                !branches || usize::from(instruction.target()) < 512,
                "{}: target",
                path.display()
            );
        }
        files += 1;
        count += words.len();
    }
    assert!(count > 500, "only {count} instructions were found");
    println!("{count} GP instructions of {files} listings come back bit for bit");
}
