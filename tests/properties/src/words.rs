//! Bare instruction words of both processors, and their texts.

use crate::words_of;
use emulator::exec::FragmentProgram;
use utgard::{gp, pp};

/// Any words of the GP round-trip through their text, and the verifier returns.
pub fn gp(bytes: &[u8]) {
    let words = words_of(bytes);
    let words: Vec<[u32; gp::WORDS]> = words.chunks_exact(4).map(|w| [w[0], w[1], w[2], w[3]]).collect();
    let text = gp::disassemble(&words, gp::Options::default());
    let again = gp::assemble(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(again == words, "other words come back\n{text}");
    let program: Vec<gp::Instruction> = words.into_iter().map(gp::Instruction::decode).collect();
    gp::flow::verify(&program);
}

/// Any words of the PP round-trip through their text; the verifier and the decoder return.
pub fn pp(bytes: &[u8]) {
    let words = words_of(bytes);
    let text = pp::disassemble(&words, pp::Options::default());
    let again = pp::assemble(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(again == words, "other words come back\n{text}");
    pp::flow::verify(&words, None);
    let _ = FragmentProgram::read(&words);
}

/// Any text is a program of the GP or an error with a place in it.
pub fn gp_text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match gp::assemble(text) {
        Ok(words) => {
            let printed = gp::disassemble(&words, gp::Options::default());
            assert!(
                gp::assemble(&printed).as_ref() == Ok(&words),
                "other words come back\n{printed}"
            );
        }
        Err(error) => drop(error.render(text, "fuzz.gp")),
    }
}

/// Any text is a program of the PP or an error with a place in it.
pub fn pp_text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match pp::assemble(text) {
        Ok(words) => {
            let printed = pp::disassemble(&words, pp::Options::default());
            assert!(
                pp::assemble(&printed).as_ref() == Ok(&words),
                "other words come back\n{printed}"
            );
        }
        Err(error) => drop(error.render(text, "fuzz.pp")),
    }
}

/// Initial words and texts: random programs of the tables' rows.
pub fn seeds(name: &str) -> Vec<Vec<u8>> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut seeds = Vec::new();
    for length in [1, 4, 12] {
        let vertex = gp::random::program(&mut random, length);
        let vertex: Vec<[u32; gp::WORDS]> = vertex.iter().map(gp::Instruction::encode).collect();
        let fragment = pp::random::program(&mut random, length);
        seeds.push(match name {
            "gp_words" => vertex.concat().iter().flat_map(|word| word.to_le_bytes()).collect(),
            "pp_words" => fragment.iter().flat_map(|word| word.to_le_bytes()).collect(),
            "gp_assemble" => gp::disassemble(&vertex, gp::Options::default()).into_bytes(),
            _ => pp::disassemble(&fragment, pp::Options::default()).into_bytes(),
        });
    }
    seeds
}
